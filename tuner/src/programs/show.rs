//! Progress of a search, and its result as text and as JSON.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use mdh_algebra::amounts;
use mdh_schedule::asm::{Asm, AsmLayer};

use super::share_of_limit::Shares;
use crate::abort_condition::Abort;
use crate::digits::{rounded, shown};
use crate::measure::FailureKind;
use crate::space::value::Configuration;
use crate::space::{Rejections, Space};
use crate::tune::{Evaluation, Standing, Tuned, Watch};

/// The unit of a program's costs: the median of calls one after the other on the same arrays.
pub const WARM_MS: &str = "ms a warm call";

/// Steps of a bar that is full.
const FULL: u64 = 1000;
/// Time between two looks at the clock.
const TICK: Duration = Duration::from_secs(1);

/// Shows how far a search is, and the best so far with the default beside it, on standard error if
/// that is a terminal. It goes with this.
pub struct Shown {
    abort: Abort,
    bar: ProgressBar,
}

impl Shown {
    /// Starts a search that this condition ends.
    pub fn start(name: &str, abort: &Abort) -> Shown {
        let bar = ProgressBar::with_draw_target(Some(FULL), ProgressDrawTarget::stderr());
        bar.set_style(style(abort));
        bar.set_prefix(name.to_string());
        bar.set_message("measuring the first");
        bar.enable_steady_tick(TICK);
        Shown {
            abort: abort.clone(),
            bar,
        }
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Watch for Shown {
    fn evaluated(&mut self, standing: &Standing) {
        let share = share(&self.abort, standing.elapsed, standing.evaluations);
        self.bar.set_position((share * FULL as f64) as u64);
        self.bar.set_message(message(standing));
    }
}

/// The line of a search: with a bar where it is known when it ends.
fn style(abort: &Abort) -> ProgressStyle {
    let limit = abort.latest().map_or(String::new(), |limit| {
        format!(" of {} s", limit.as_secs_f64().ceil())
    });
    let bar = match share(abort, Duration::from_secs(1), 1) > 0.0 {
        true => " [{bar:20}]",
        false => "",
    };
    let template = format!("{{prefix}}{bar} {{elapsed}}{limit}, {{msg}}");
    // The template is right, whatever the numbers.
    ProgressStyle::with_template(&template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ")
}

/// The part of a search that is done, up to 1, as far as that can be known: time and evaluations count.
fn share(abort: &Abort, elapsed: Duration, evaluations: u64) -> f64 {
    let share_of = |abort: &Abort| share(abort, elapsed, evaluations);
    let share: f64 = match abort {
        Abort::Duration(limit) => elapsed.as_secs_f64() / limit.as_secs_f64().max(1e-9),
        Abort::Evaluations(limit) => evaluations as f64 / (*limit).max(1) as f64,
        Abort::And(parts) => parts.iter().map(share_of).reduce(f64::min).unwrap_or(0.0),
        Abort::Or(any) => any.iter().map(share_of).fold(0.0, f64::max),
        _ => 0.0,
    };
    share.min(1.0)
}

/// The number of evaluations, the best, and the default.
fn message(standing: &Standing) -> String {
    let best = standing.best.map_or("none works yet".to_string(), |best| {
        format!("best {}", shown(best, WARM_MS))
    });
    let default = standing.default.map_or(String::new(), |default| {
        format!(", default {}", shown(default, WARM_MS))
    });
    let made = count(standing.evaluations as f64, "evaluation");
    let phase = match standing.is_confirming {
        true => "confirming the best: ",
        false => "",
    };
    format!("{phase}{made}, {best}{default}")
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
    fn how_far_it_is() {
        let second = Duration::from_secs(1);
        let (time, evaluations) = (Abort::Duration(4 * second), Abort::Evaluations(20));
        assert_eq!(share(&time, second, 10), 0.25);
        assert_eq!(share(&time, 9 * second, 10), 1.0);
        assert_eq!(share(&Abort::NoBetter(3), second, 10), 0.0);
        let either = Abort::Or(vec![time.clone(), evaluations.clone(), Abort::NoBetter(3)]);
        assert_eq!(share(&either, second, 10), 0.5);
        assert_eq!(
            share(&Abort::And(vec![time, evaluations]), second, 10),
            0.25
        );
    }

    #[test]
    fn the_best_stands_beside_the_default() {
        let standing = Standing {
            best: Some(0.25),
            default: Some(2.0),
            evaluations: 7,
            elapsed: Duration::ZERO,
            is_confirming: false,
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
        let last = Standing {
            is_confirming: true,
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
