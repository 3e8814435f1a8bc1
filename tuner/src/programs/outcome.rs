//! The end of a search that has found nothing, as an error.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use mdh_compiler::error::{Error, ErrorKind, Result};
use mdh_compiler::output;

use super::options::TuneArguments;
use crate::measure::{FailureKind, Outcome};
use crate::space::value::Configuration;
use crate::tune::Tuned;

/// Checks: no error has ended the search. What it had by then has been shown.
pub fn expect_whole(tuned: &Tuned) -> Result<()> {
    let error = tuned.stop.error();
    error.map_or(Ok(()), |error| Err(error.clone()))
}

/// Checks: some configuration works. The kind of the error is that of the failures, where they are all of one.
pub fn expect_best(arguments: &TuneArguments, name: &str, tuned: &Tuned) -> Result<()> {
    if tuned.best().is_some() {
        return Ok(());
    }
    let out = arguments.out.as_deref();
    let out = out.map_or(String::new(), |path| {
        format!("; {} is not written", path.display())
    });
    let failures = failures(tuned);
    // The model's choice may have been measured, for comparison.
    if failures.is_empty() {
        if let Some(rejections) = tuned.rejections.as_ref().filter(|own| own.are_all()) {
            let message = format!(
                "'{name}': nothing of the search was measured: all {} configurations that were proposed \
                 break a rule of schedules{out}",
                rejections.asked
            );
            return Err(Error::input(message).help("--fix fewer parameters, or search --parts all"));
        }
        let message = format!(
            "'{name}': nothing of the search was measured ({}): expected time and evaluations for \
             one configuration{out}",
            tuned.stop
        );
        return Err(Error::input(message));
    }
    let count = match failures.len() {
        1 => "the one that was tried fails".to_string(),
        count => format!("all {count} that were tried fail"),
    };
    let message = format!("'{name}': no configuration works: {count}{out}");
    Err(Error::new(kind(&failures), message))
}

/// The kinds of a search's failures, of each configuration the first.
fn failures(tuned: &Tuned) -> Vec<FailureKind> {
    let mut known = HashSet::new();
    let kind = |of: &Outcome| match of {
        Outcome::Failed(failure) => Some(failure.kind),
        Outcome::Measured(_) => None,
    };
    let evaluations = tuned.evaluations.iter();
    let failed = evaluations.filter_map(|one| Some((one.configuration.key(), kind(&one.outcome)?)));
    let first = failed.filter_map(|(key, kind)| known.insert(key).then_some(kind));
    first.collect()
}

/// Kind of a command's failure for those of its candidates.
fn kind(failures: &[FailureKind]) -> ErrorKind {
    let is = |kind: FailureKind| failures.iter().all(|own| *own == kind);
    match () {
        () if is(FailureKind::Memory) => ErrorKind::Resources,
        () if is(FailureKind::WrongResult) => ErrorKind::Check,
        () => ErrorKind::Input,
    }
}

/// The most failures of a kind that are written.
const MOST: usize = 20;

/// Checks: a folder for failures is new, or empty. Those of two searches would be taken for one's.
pub fn expect_empty(folder: &Path) -> Result<()> {
    let made = std::fs::create_dir_all(folder);
    let entries = made.and_then(|()| std::fs::read_dir(folder));
    let mut entries = entries.map_err(|error| {
        Error::input(format!("cannot write to '{}': {error}", folder.display()))
    })?;
    match entries.next() {
        None => Ok(()),
        Some(_) => Err(Error::input(format!(
            "--failures: '{}' has files: expected a new or empty folder",
            folder.display()
        ))),
    }
}

/// Writes what failed to a folder, for a bug report: for each a file of what `--schedule` takes, as `text` says, and
/// beside it one with the reason and the parameters.
pub fn write_failures(
    folder: &Path,
    tuned: &Tuned,
    text: &dyn Fn(&Configuration) -> Option<String>,
) -> Result<()> {
    let mut counts: HashMap<FailureKind, usize> = HashMap::new();
    for one in &tuned.evaluations {
        let Outcome::Failed(failure) = &one.outcome else {
            continue;
        };
        let count = counts.entry(failure.kind).or_default();
        *count += 1;
        if *count > MOST {
            continue;
        }
        let name = format!("{}-{count}", failure.kind.name().replace(' ', "-"));
        if let Some(text) = text(&one.configuration) {
            output::write(&folder.join(format!("{name}.json")), text.as_bytes())?;
        }
        let why = format!("{failure}\n{}\n", one.configuration);
        output::write(&folder.join(format!("{name}.txt")), why.as_bytes())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::space::Rejections;
    use crate::tune::Evaluation;

    use super::*;

    fn tuned(failures: &[FailureKind]) -> Tuned {
        let evaluation = |(number, kind): (usize, &FailureKind)| Evaluation {
            number,
            configuration: Configuration::from_pairs([("n", (number as i64).into())]),
            outcome: Outcome::failed(*kind, "why"),
            technique: "random".to_string(),
            at: Duration::ZERO,
        };
        Tuned::of_evaluations(failures.iter().enumerate().map(evaluation).collect())
    }

    /// Checks: each failure has its files, by kind.
    #[test]
    fn failures_are_written() {
        let folder = tempfile::tempdir().unwrap();
        let tuned = tuned(&[FailureKind::WrongResult, FailureKind::Hang]);
        let text = |own: &Configuration| own.get("n").map(ToString::to_string);
        write_failures(folder.path(), &tuned, &text).unwrap();
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(read("wrong-result-1.txt"), "wrong result: why\nn=0\n");
        assert_eq!(
            (read("wrong-result-1.json"), read("hang-1.json")),
            ("0".into(), "1".into())
        );
    }

    #[test]
    fn the_code_is_that_of_the_failures() {
        use FailureKind::{Crash, Memory, WrongResult};
        let arguments = TuneArguments::from_words(["tune", "f.mlir", "--out", "best.json"]);
        for (failures, code, said) in [
            (
                &[Memory, Memory][..],
                4,
                "all 2 that were tried fail; best.json is not written",
            ),
            (&[WrongResult], 3, "the one that was tried fails; best.json"),
            (
                &[WrongResult, Crash],
                1,
                "'f': no configuration works: all 2",
            ),
            (
                &[],
                1,
                "nothing of the search was measured (1 evaluation was made): expected time",
            ),
        ] {
            let error = expect_best(&arguments, "f", &tuned(failures)).unwrap_err();
            assert_eq!(error.kind().exit_code(), code, "{failures:?}");
            assert!(error.message().contains(said), "{}", error.message());
        }
        let mut model = tuned(&[Crash]);
        model.evaluations[0].outcome = Outcome::of_cost(1.0);
        let error = expect_best(&arguments, "f", &model).unwrap_err();
        assert!(error.message().contains("nothing of the search"));
        let mut filtered = tuned(&[]);
        filtered.rejections = Some(Rejections {
            asked: 30,
            rejected: 30,
        });
        let error = expect_best(&arguments, "f", &filtered).unwrap_err();
        let said = "measured: all 30 configurations that were proposed break a rule of schedules; best.json";
        assert!(error.message().contains(said), "{}", error.message());
    }
}
