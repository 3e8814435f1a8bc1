//! Progress of a search, and its result as text and as JSON.

use mdh_compiler::progress::Progress;
use mdh_tuner::measure::FailureKind;
use mdh_tuner::space::Space;
use mdh_tuner::tune::{Evaluation, Standing, Tuned, Watch};

/// Shows the best so far, with the default beside it.
pub struct Shown {
    name: String,
    unit: &'static str,
    progress: Progress,
}

impl Shown {
    /// Starts.
    pub fn start(name: &str, unit: &'static str) -> Shown {
        Shown {
            name: name.to_string(),
            unit,
            progress: Progress::start(&format!("{name}: measuring the first")),
        }
    }

    /// Ends.
    pub fn finish(self) {
        drop(self.progress);
    }
}

impl Watch for Shown {
    fn evaluated(&mut self, standing: &Standing<'_>) {
        let cost = |of: Option<&Evaluation>| of.and_then(|e| e.outcome.cost());
        let best = cost(standing.best).map_or("none works yet".to_string(), |best| {
            format!("best {}", number(best, self.unit))
        });
        let default = cost(standing.default).map_or(String::new(), |default| {
            format!(", default {}", number(default, self.unit))
        });
        self.progress.step(&format!(
            "{}: {} evaluations, {best}{default}",
            self.name, standing.evaluations
        ));
    }
}

/// A cost with three or four digits.
pub(crate) fn number(cost: f64, unit: &str) -> String {
    let digits = 3 - (cost.abs().max(1e-9).log10().floor() as i64).clamp(-6, 3);
    format!("{cost:.*} {unit}", digits as usize)
        .trim_end()
        .to_string()
}

/// The number of configurations, about where there are many.
pub(crate) fn size(space: &Space) -> String {
    match space.size() {
        size if size < 1e6 => format!("{size}"),
        size => format!("{size:.2e}"),
    }
}

/// The technique that proposed a configuration, which may have been measured again since.
fn proposed_by<'t>(tuned: &'t Tuned, best: &'t Evaluation) -> &'t str {
    let mut all = tuned.evaluations.iter();
    let first = all.find(|e| e.configuration == best.configuration);
    &first.unwrap_or(best).technique
}

/// The result, for people.
pub fn text(name: &str, unit: &str, space: &Space, tuned: &Tuned) -> String {
    let mut lines = vec![format!(
        "{name}: {} evaluations of {} configurations in {:.1} s, {} of before; ended: {}",
        tuned.evaluations.len() - tuned.resumed,
        size(space),
        tuned.elapsed.as_secs_f64(),
        tuned.resumed,
        tuned.stop
    )];
    let cost = |of: Option<&Evaluation>| of.and_then(|e| e.outcome.cost());
    if let Some(default) = cost(tuned.default()) {
        lines.push(format!("  default  {}", number(default, unit)));
    }
    match tuned.best() {
        Some(best) => {
            let ratio = cost(tuned.default()).zip(best.outcome.cost());
            let ratio =
                ratio.map(|(default, best)| format!(", {:.2} times as fast", default / best));
            lines.push(format!(
                "  best     {}{}, by {}",
                number(best.outcome.cost().unwrap_or(f64::NAN), unit),
                ratio.unwrap_or_default(),
                proposed_by(tuned, best)
            ));
        }
        None => lines.push("  no configuration works".to_string()),
    }
    lines.extend(
        differences(tuned)
            .into_iter()
            .map(|line| format!("    {line}")),
    );
    for (kind, count, example) in failures(tuned) {
        lines.push(format!("  {count} {}: {example}", kind.name()));
    }
    if let Some(share) = tuned.rejected {
        lines.push(format!(
            "  {:.0} % of what was proposed breaks a rule",
            share * 100.0
        ));
    }
    lines.join("\n") + "\n"
}

/// Failures by kind: how many, and the first one's text.
fn failures(tuned: &Tuned) -> Vec<(FailureKind, usize, String)> {
    let failed = |kind: FailureKind| {
        let all = tuned.evaluations.iter().filter_map(|e| match &e.outcome {
            mdh_tuner::measure::Outcome::Failed(failure) => Some(failure),
            mdh_tuner::measure::Outcome::Measured(_) => None,
        });
        let mut own = all.filter(|failure| failure.kind == kind);
        let first = own.next()?;
        let line = first.text.lines().next().unwrap_or_default().to_string();
        Some((kind, own.count() + 1, line))
    };
    FailureKind::ALL.into_iter().filter_map(failed).collect()
}

/// The parameters in which the best differs from the default.
pub fn differences(tuned: &Tuned) -> Vec<String> {
    let (Some(best), Some(default)) = (tuned.best(), tuned.default()) else {
        let best = tuned.best().map(|best| best.configuration.to_string());
        return best.into_iter().collect();
    };
    let pairs = best.configuration.pairs();
    let differ = pairs.filter_map(|(name, value)| {
        let before = default.configuration.get(name)?;
        (before != value).then(|| format!("{name}: {before} -> {value}"))
    });
    differ.collect()
}

/// The result on one line of JSON.
pub fn json(name: &str, space: &Space, tuned: &Tuned) -> String {
    let one = |of: Option<&Evaluation>| {
        of.map(|e| {
            serde_json::json!({
                "cost": e.outcome.cost(),
                "configuration": e.configuration.to_json(),
                "by": proposed_by(tuned, e),
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
        "evaluations": tuned.evaluations.len() - tuned.resumed,
        "resumed": tuned.resumed,
        "seconds": tuned.elapsed.as_secs_f64(),
        "stop": tuned.stop.to_string(),
        "default": one(tuned.default()),
        "best": one(tuned.best()),
        "failures": failures,
        "rejected": tuned.rejected,
    });
    format!("{line}\n")
}
