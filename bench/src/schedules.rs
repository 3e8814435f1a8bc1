//! The schedules that are measured: that of ours, and others beside it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::ours;
use super::protocol::Task;
use super::workloads::{self, Case};
use crate::options::{BenchArguments, GivenSchedule};
use mdh_compiler::error::{Error, Result, say};
use mdh_compiler::host::Host;
use mdh_compiler::select::function;
use mdh_compiler::tuned::{Choice, Found, Machine, Taken, Wanted};
use mdh_compiler::{compile, output};
use mdh_dialect::context;

/// Name of ours.
pub const OURS: &str = "mdh";

/// Name of those that were tuned.
const TUNED: &str = "tuned";

/// The schedules of a command line, those that were tuned too.
pub struct Given {
    /// All of them.
    pub all: Vec<GivenSchedule>,
    /// Facts about those that were tuned, by case.
    pub tuned: BTreeMap<String, Taken>,
    /// The files of those that were tuned, as long as they are measured.
    files: Option<tempfile::TempDir>,
}

impl Given {
    /// Returns whether a file's schedule was tuned: it is for the sizes of its case alone.
    pub fn is_tuned(&self, file: &Path) -> bool {
        let folder = self.files.as_ref().map(tempfile::TempDir::path);
        folder.is_some_and(|folder| file.starts_with(folder))
    }
}

/// The schedules that a command is given, and says which were tuned.
pub fn given(host: &Host, command: &BenchArguments, cases: &[Case]) -> Result<Given> {
    let mut given = command.schedule.clone();
    let Some(folder) = &command.tuned else {
        return Ok(Given {
            all: given,
            tuned: BTreeMap::new(),
            files: None,
        });
    };
    if command.device.is_gpu() {
        return Err(Error::usage("--tuned is for --device cpu").help(
            "`mdh tune WORKLOAD --import RESULTS.json --out S.json` writes the best of a GPU, which \
             --schedule takes",
        ));
    }
    let files = tempfile::tempdir();
    let files = files.map_err(|e| Error::of_system(format!("no temporary folder: {e}")))?;
    mdh_passes::register_all();
    let mut taken = BTreeMap::new();
    for (number, case) in cases.iter().enumerate() {
        let tuned = tuned(host, folder.clone(), case)?;
        say(&format!("note: {}: {}\n", case.name(), tuned.taken.note));
        taken.insert(case.name(), tuned.taken);
        // What the model chooses is ours, and is measured anyway.
        if let Choice::Kept(schedules) = tuned.choice {
            let file = files.path().join(format!("{number}.json"));
            output::write(&file, schedules.to_json().as_bytes())?;
            given.push(GivenSchedule {
                workload: Some(case.name()),
                name: Some(TUNED.to_string()),
                file,
            });
        }
    }
    Ok(Given {
        all: given,
        tuned: taken,
        files: Some(files),
    })
}

fn tuned(host: &Host, folder: Option<PathBuf>, case: &Case) -> Result<Found> {
    let task = Task::closed(case)?;
    let source = task.source()?;
    let context = context::program_context();
    let formed = ours::formed(&context, &source, task.entry.as_deref(), None)?;
    let module = compile::operation(&formed.module);
    let wanted = Wanted::new(host, folder, Machine::processor(host))?;
    wanted.nearest(function(module, &formed.function)?)
}

/// Refuses schedules that no case has, and two of one name.
///
/// # Errors
/// With the workloads that are measured, if one is for none of these; with both files, if a case has two of
/// one name.
pub fn check(given: &[GivenSchedule], cases: &[Case]) -> Result<()> {
    for schedule in given {
        if let Some(workload) = &schedule.workload {
            require_measured(workload, cases)?;
        }
        if schedule.name.as_deref() == Some(OURS) {
            return Err(Error::usage(format!(
                "found a schedule with the name '{OURS}', which is that of ours: expected another \
                 name, or none"
            )));
        }
    }
    for case in cases {
        let mut earlier: Vec<&GivenSchedule> = Vec::new();
        for schedule in given_for(given, case) {
            if let Some(other) = earlier.iter().find(|other| other.name == schedule.name) {
                let what = match &schedule.name {
                    Some(name) => format!("the name '{name}'"),
                    None => "no name".to_string(),
                };
                return Err(Error::usage(format!(
                    "found two schedules with {what} for {}, '{}' and '{}': expected one",
                    case.name(),
                    other.file.display(),
                    schedule.file.display()
                ))
                .help("--schedule NAME=FILE measures another one beside ours"));
            }
            earlier.push(schedule);
        }
    }
    Ok(())
}

/// Reads all of them, and gives each to the programs that it is for.
///
/// # Errors
/// With the first one that is no schedule, or not of its program: nothing is measured then.
pub fn hold(given: &Given, cases: &[Case]) -> Result<()> {
    for case in cases {
        for schedule in given_for(&given.all, case) {
            let task = match given.is_tuned(&schedule.file) {
                true => Task::closed(case)?,
                false => Task::new(case)?,
            };
            ours::check_schedule(&task, &schedule.file)?;
        }
    }
    Ok(())
}

/// Refuses a workload that is none of those that are measured.
fn require_measured(workload: &str, cases: &[Case]) -> Result<()> {
    if cases.iter().any(|case| workloads::is_meant(case, workload)) {
        return Ok(());
    }
    let mut measured: Vec<&str> = cases.iter().map(|case| case.workload.as_str()).collect();
    measured.dedup();
    Err(Error::usage(format!(
        "found a schedule for '{workload}', which is not measured: expected one of {}",
        measured.join(", ")
    ))
    .help("`mdh bench --list` lists all workloads"))
}

/// The file with the schedule that ours has instead of the model's.
pub fn own(given: &[GivenSchedule], case: &Case) -> Option<String> {
    let mut unnamed = given_for(given, case).filter(|schedule| schedule.name.is_none());
    unnamed.next().map(|s| s.file.display().to_string())
}

/// Names and files of the schedules that are measured beside ours.
pub fn beside(given: &[GivenSchedule], case: &Case) -> Vec<(String, String)> {
    let named = given_for(given, case).filter_map(|s| Some((s.name.clone()?, s)));
    named
        .map(|(name, s)| (name, s.file.display().to_string()))
        .collect()
}

fn given_for<'g>(
    given: &'g [GivenSchedule],
    case: &Case,
) -> impl Iterator<Item = &'g GivenSchedule> {
    let is_for = |s: &&GivenSchedule| {
        s.workload
            .as_ref()
            .is_none_or(|w| workloads::is_meant(case, w))
    };
    given.iter().filter(is_for)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::{Scale, all};

    fn given(texts: &[&str]) -> Vec<GivenSchedule> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    fn cases(names: &[&str]) -> Vec<Case> {
        let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
        workloads::select(all(Scale::Full).unwrap(), &names).unwrap()
    }

    #[test]
    fn each_case_has_its_own() {
        let cases = cases(&["transpose", "matmul/10x500x64"]);
        let (matmul, transpose) = (&cases[0], &cases[1]);
        let listed = given(&["a.json", "matmul:z=b.json", "matmul/10x500x64:y=c.json"]);
        check(&listed, &cases).unwrap();
        assert_eq!(own(&listed, transpose), Some("a.json".to_string()));
        assert_eq!(beside(&listed, transpose), []);
        let named = [("z", "b.json"), ("y", "c.json")];
        assert_eq!(
            beside(&listed, matmul),
            named.map(|(name, file)| (name.to_string(), file.to_string()))
        );
    }

    #[test]
    fn what_is_wrong() {
        let wrong = |texts: &[&str]| check(&given(texts), &cases(&["matmul"])).unwrap_err();
        let messages = [
            wrong(&["transpose:z=b.json"]),
            wrong(&["mdh=b.json"]),
            wrong(&["z=a.json", "matmul/10x500x64:z=b.json"]),
            wrong(&["a.json", "b.json"]),
        ];
        insta::assert_snapshot!(messages.map(|error| error.to_string()).join("\n"));
    }
}
