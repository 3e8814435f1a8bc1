//! Progress of a search, and its result as text and as JSON.

use std::time::Duration;

use mdh_algebra::amounts;
use mdh_compiler::progress::{Progress, Reader};
use mdh_compiler::source::is_file_name;
use mdh_schedule::asm::{Asm, AsmLayer};

use super::share_of_limit::Shares;
use crate::abort_condition::Abort;
use crate::digits::{rounded, shown};
use crate::measure::FailureKind;
use crate::space::value::Configuration;
use crate::space::{Rejections, Space};
use crate::tune::{Evaluation, Phase, Standing, Tuned, Watch};

/// The unit of a program's costs: the median of calls one after the other on the same arrays.
pub const WARM_MS: &str = "ms a warm call";

/// Shows how far a search is, and the best so far with the default beside it. It goes with this.
pub struct Shown {
    evaluations: Option<u64>,
    progress: Progress,
}

impl Shown {
    /// Starts to show a search that this condition ends; so much of its time has passed.
    pub fn start(name: &str, abort: &Abort, passed: Duration, reader: Reader) -> Shown {
        // Of a file's path, which may be longer than a line, the last part.
        let short = match is_file_name(name) {
            true => name.rsplit('/').next().unwrap_or(name),
            false => name,
        };
        let progress = Progress::start(reader, &format!("tuning {short}"));
        if let Some(limit) = abort.latest() {
            progress.limit(limit, passed);
        }
        progress.part("measuring the first");
        Shown {
            evaluations: abort.most_evaluations(),
            progress,
        }
    }
}

impl Watch for Shown {
    fn stands(&mut self, standing: &Standing) {
        if let Some(most) = self.evaluations {
            let made = standing.evaluations.min(most);
            self.progress.share(made, most, "evaluations");
        }
        self.progress.part(&message(standing));
    }
}

/// The number of evaluations, the best, the default, and the end of the search, which confirms the best.
fn message(standing: &Standing) -> String {
    let best = standing.best.map_or("none works yet".to_string(), |best| {
        format!("best {}", shown(best, WARM_MS))
    });
    let default = standing.default.map_or(String::new(), |default| {
        format!(", default {}", shown(default, WARM_MS))
    });
    let made = count(standing.evaluations as f64, "evaluation");
    let (phase, last) = match standing.phase {
        Phase::Confirming => ("confirming the best: ", String::new()),
        Phase::Searching { confirmation } if confirmation.is_zero() => ("", String::new()),
        Phase::Searching { confirmation } => {
            let seconds = confirmation.as_secs_f64().ceil();
            (
                "",
                format!(", the last {seconds} s are to confirm the best"),
            )
        }
    };
    format!("{phase}{made}, {best}{default}{last}")
}

/// The number of configurations, about where there are many.
pub(crate) fn configurations(space: &Space) -> String {
    count(space.size(), "configuration")
}

/// So many of something.
fn count(number: f64, noun: &str) -> String {
    match number {
        1.0 => format!("1 {noun}"),
        number if number < 1e6 => format!("{number} {noun}s"),
        number => format!("{number:.2e} {noun}s"),
    }
}

/// The result, for people.
pub fn text(name: &str, space: &Space, tuned: &Tuned, differences: &[String]) -> String {
    let repeated = match tuned.repeated() {
        0 => String::new(),
        count => format!(
            "; {count} more measured again, {:.1} s in the end to confirm the best",
            tuned.confirmation.as_secs_f64()
        ),
    };
    let mut lines = vec![format!(
        "{name}: {} of {} in {:.1} s, {} of before; ended: {}{repeated}",
        count(tuned.searched() as f64, "evaluation"),
        configurations(space),
        tuned.elapsed.as_secs_f64(),
        tuned.resumed,
        tuned.stop
    )];
    let cost = |of: Option<&Evaluation>| of.and_then(|e| e.outcome.cost());
    if let Some(default) = cost(tuned.default()) {
        lines.push(format!("  default  {}", shown(default, WARM_MS)));
    }
    match tuned.best() {
        Some(best) => {
            let ratio = cost(tuned.default()).zip(best.outcome.cost());
            let ratio =
                ratio.map(|(default, best)| format!(", {:.2} times as fast", default / best));
            lines.push(format!(
                "  best     {}{}, by {}",
                shown(best.outcome.cost().unwrap_or(f64::NAN), WARM_MS),
                ratio.unwrap_or_default(),
                tuned.proposed_by(best)
            ));
        }
        None => lines.push("  no configuration works".to_string()),
    }
    lines.extend(differences.iter().map(|line| format!("    {line}")));
    for (kind, count, example) in failures(tuned) {
        lines.push(format!("  {count} {}: {example}", kind.name()));
    }
    if let Some(rejections) = &tuned.rejections {
        lines.push(format!(
            "  {:.0} % of what was proposed breaks a rule",
            rejections.share() * 100.0
        ));
    }
    lines.join("\n") + "\n"
}

/// Failures by kind: how many, and the first one's text.
fn failures(tuned: &Tuned) -> Vec<(FailureKind, usize, String)> {
    let failed = |kind: FailureKind| {
        let failures = tuned.evaluations.iter().filter_map(|e| match &e.outcome {
            crate::measure::Outcome::Failed(failure) => Some(failure),
            crate::measure::Outcome::Measured(_) => None,
        });
        let mut matching = failures.filter(|failure| failure.kind == kind);
        let first = matching.next()?;
        let line = first.text.lines().next().unwrap_or_default().to_string();
        Some((kind, matching.count() + 1, line))
    };
    FailureKind::ALL.into_iter().filter_map(failed).collect()
}

/// A machine in words.
pub fn machine(asm: &Asm) -> String {
    let part = |layer: &AsmLayer| {
        let bytes = |bytes: Option<u64>| bytes.map(|n| format!(" {}", amounts::bytes(n as f64)));
        let (count, size, features) = match layer {
            AsmLayer::Memory(memory) => (None, bytes(memory.capacity), &[][..]),
            AsmLayer::Core(core) => (core.count, bytes(core.width), &core.features[..]),
        };
        let count = count.map_or(String::new(), |n| format!("{n} x "));
        let features: Vec<String> = features
            .iter()
            .map(|feature| format!(" {feature}"))
            .collect();
        format!(
            "{count}{}{}{}",
            layer.name(),
            size.unwrap_or_default(),
            features.concat()
        )
    };
    let parts: Vec<String> = asm.layers.iter().map(part).collect();
    format!("{}: {}", asm.name, parts.join(", "))
}

/// The parameters in which the best differs from the default, or what is the nearest to it, with what they decide.
pub fn differences(tuned: &Tuned, nearest: Option<&Configuration>) -> Vec<String> {
    let (Some(best), Some(default)) = (tuned.best(), tuned.default()) else {
        let best = tuned.best().map(|best| best.configuration.to_string());
        return best.into_iter().collect();
    };
    let default = nearest.unwrap_or(&default.configuration);
    let pairs = best.configuration.pairs();
    let differ = pairs.filter_map(|(name, value)| {
        let before = default.get(name)?;
        let meaning = mdh_schedule::meaning(name);
        let meaning = meaning.map_or(String::new(), |text| format!(" ({text})"));
        (before != value).then(|| format!("{name}: {before} -> {value}{meaning}"))
    });
    differ.collect()
}

/// The result on one line of JSON.
pub fn json(name: &str, space: &Space, tuned: &Tuned, limit: Option<&Shares>) -> String {
    let entry = |evaluation: Option<&Evaluation>| {
        evaluation.map(|e| {
            serde_json::json!({
                "cost": e.outcome.cost().map(rounded),
                "configuration": e.configuration.to_json(),
                "by": tuned.proposed_by(e),
            })
        })
    };
    let failures: serde_json::Map<String, serde_json::Value> = failures(tuned)
        .into_iter()
        .map(|(kind, count, _)| (kind.name().to_string(), count.into()))
        .collect();
    let line = serde_json::json!({
        "name": name,
        "size": space.size(),
        "evaluations": tuned.searched(),
        "repeated": tuned.repeated(),
        "resumed": tuned.resumed,
        "seconds": tuned.elapsed.as_secs_f64(),
        "confirmation_seconds": tuned.confirmation.as_secs_f64(),
        "stop": tuned.stop.to_string(),
        "default": entry(tuned.default()),
        "best": entry(tuned.best()),
        "failures": failures,
        "rejected": tuned.rejections.as_ref().map(Rejections::share),
        "limit": limit,
    });
    format!("{line}\n")
}

#[cfg(test)]
mod tests {
    use crate::measure::Outcome;
    use crate::report::ReportTexts;
    use crate::space::parameter::Parameter;

    use super::*;

    #[test]
    fn the_best_stands_beside_the_default() {
        let standing = Standing {
            best: Some(0.25),
            default: Some(2.0),
            evaluations: 7,
            phase: Phase::Searching {
                confirmation: Duration::ZERO,
            },
        };
        let text = message(&standing);
        assert_eq!(
            text,
            "7 evaluations, best 0.2500 ms a warm call, default 2.000 ms a warm call"
        );
        let first = Standing {
            best: None,
            default: None,
            ..standing
        };
        assert_eq!(message(&first), "7 evaluations, none works yet");
        let alone = Standing {
            evaluations: 1,
            ..first
        };
        assert_eq!(message(&alone), "1 evaluation, none works yet");
        let soon = Standing {
            phase: Phase::Searching {
                confirmation: Duration::from_millis(7100),
            },
            ..alone
        };
        let text = "1 evaluation, none works yet, the last 8 s are to confirm the best";
        assert_eq!(message(&soon), text);
        let last = Standing {
            phase: Phase::Confirming,
            best: Some(0.25),
            ..alone
        };
        let text = "confirming the best: 1 evaluation, best 0.2500 ms a warm call";
        assert_eq!(message(&last), text);
    }

    /// Checks: what was measured before is by who proposed it then, and what is measured again is counted apart.
    #[test]
    fn counts_and_origins() {
        let n = Parameter::set("n", 1..=8).unwrap();
        let space = Space::builder().parameter(n).build().unwrap();
        let evaluation = |number: usize, n: i64, technique: &str| Evaluation {
            number,
            configuration: Configuration::from_pairs([("n", n.into())]),
            outcome: Outcome::of_cost(n as f64 * 0.288_741),
            technique: technique.to_string(),
            at: Duration::ZERO,
        };
        let tuned = Tuned {
            resumed: 1,
            best: Some(2),
            ..Tuned::of_evaluations(vec![
                evaluation(0, 2, "pattern"),
                evaluation(1, 5, "random"),
                evaluation(2, 2, "confirmed"),
            ])
        };
        let shown = text("f", &space, &tuned, &[]);
        let first = "f: 1 evaluation of 8 configurations in 0.0 s, 1 of before; ended: \
                     1 evaluation was made; 1 more measured again, 0.0 s in the end to confirm the best\n";
        assert!(shown.starts_with(first), "{shown}");
        assert!(
            shown.contains("  best     0.5775 ms a warm call, by pattern\n"),
            "{shown}"
        );
        let line = json("f", &space, &tuned, None);
        let line: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(
            (&line["evaluations"], &line["repeated"]),
            (&1.into(), &1.into())
        );
        assert_eq!(line["best"]["by"], "pattern");
        // The same digits everywhere.
        assert_eq!(line["best"]["cost"].to_string(), "0.5775");
        let texts = ReportTexts {
            unit: "ms".to_string(),
            ..ReportTexts::default()
        };
        let page = crate::report::html(&space, &tuned, &texts).unwrap();
        assert!(page.contains("0.5775 ms"), "{page}");
    }
}
