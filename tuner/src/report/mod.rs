//! The report of a search: one page of HTML that needs nothing else.

use mdh_compiler::html::render;
use serde::Serialize;

mod chart;

use crate::digits::shown;
use crate::error::Result;
use crate::importance::importance;
use crate::measure::{FailureKind, Outcome};
use crate::space::value::Configuration;
use crate::space::{Point, Space};
use crate::tune::{Evaluation, Tuned, is_proposal};
use chart::Look;

/// Examples of each kind of failure.
const EXAMPLES: usize = 3;
/// The most letters of an example's text.
const MOST_LETTERS: usize = 300;

/// Texts of a report, beside the evaluations: they are the caller's.
#[derive(Clone, Debug, Default)]
pub struct ReportTexts {
    /// The title: what was tuned.
    pub title: String,
    /// Facts: machine, program, sizes, seed, date.
    pub facts: Vec<(String, String)>,
    /// The unit of costs.
    pub unit: String,
    /// The share of the machine's limit that the best reaches.
    pub limit: Option<String>,
    /// The differences between the best and the default, in words.
    pub differences: Vec<String>,
    /// The values that stand beside those of the best, where the default has none of the space's.
    pub nearest: Option<Configuration>,
}

/// All that the page shows.
#[derive(Serialize)]
struct Page {
    title: String,
    facts: Vec<(String, String)>,
    headline: String,
    limit: Option<String>,
    differences: Vec<String>,
    stop: String,
    chart: String,
    parameters: Vec<ParameterRow>,
    importance: Vec<ImportanceRow>,
    techniques: Vec<TechniqueRow>,
    failures: Vec<FailureRow>,
    evaluations: usize,
    rejected: Option<String>,
    has_default: bool,
    has_pace: bool,
}

/// A parameter's values in the best and in the default.
#[derive(Serialize)]
struct ParameterRow {
    name: String,
    best: String,
    default: String,
    differs: bool,
}

/// A parameter's share of the explained variance, in percent.
#[derive(Serialize)]
struct ImportanceRow {
    name: String,
    percent: String,
    width: f64,
}

/// A technique's part in the search.
#[derive(Serialize)]
struct TechniqueRow {
    name: String,
    look: Look,
    evaluations: usize,
    bests: usize,
    least: String,
}

impl TechniqueRow {
    /// One that has made nothing yet.
    fn new(name: &str, look: Look) -> TechniqueRow {
        TechniqueRow {
            name: name.to_string(),
            look,
            evaluations: 0,
            bests: 0,
            least: String::new(),
        }
    }
}

/// A kind of failure, with examples.
#[derive(Serialize)]
struct FailureRow {
    kind: &'static str,
    count: usize,
    examples: Vec<(String, String)>,
}

/// The page as HTML.
pub fn html(space: &Space, tuned: &Tuned, texts: &ReportTexts) -> Result<String> {
    let techniques = techniques(tuned, &texts.unit);
    let series = techniques.iter();
    let series: Vec<(&str, Look)> = series.map(|row| (row.name.as_str(), row.look)).collect();
    let known: Vec<(Point, f64)> = tuned
        .evaluations
        .iter()
        .filter_map(|e| Some((space.find(&e.configuration)?, e.outcome.cost()?)))
        .collect();
    let shares = importance(space, &known)?;
    let largest = shares.first().map_or(1.0, |(_, share)| share.max(1e-9));
    let page = Page {
        title: texts.title.clone(),
        facts: texts.facts.clone(),
        headline: headline(tuned, &texts.unit),
        limit: texts.limit.clone(),
        differences: texts.differences.clone(),
        stop: tuned.stop.to_string(),
        chart: chart::svg(tuned, &texts.unit, &series),
        parameters: parameters(tuned, texts.nearest.as_ref()),
        importance: shares
            .into_iter()
            .map(|(name, share)| ImportanceRow {
                name,
                percent: format!("{:.1}", 100.0 * share),
                width: (100.0 * share / largest).round(),
            })
            .collect(),
        techniques,
        failures: failures(tuned),
        evaluations: tuned.evaluations.len(),
        rejected: tuned
            .rejections
            .as_ref()
            .map(|own| format!("{:.1} %", 100.0 * own.share())),
        has_default: tuned.default().is_some(),
        has_pace: tuned.paces.iter().any(|factor| *factor != 1.0),
    };
    render(include_str!("page.html"), &page)
}

/// The result in a sentence.
fn headline(tuned: &Tuned, unit: &str) -> String {
    let cost = |evaluation: &Evaluation| evaluation.outcome.cost();
    let Some(best) = tuned.best().and_then(cost) else {
        return "no configuration works".to_string();
    };
    match tuned.default().map(cost) {
        Some(Some(default)) if best > 0.0 => format!(
            "{}, the default {}: {:.2} times as fast",
            shown(best, unit),
            shown(default, unit),
            default / best
        ),
        Some(None) => format!("{}; the default fails", shown(best, unit)),
        _ => shown(best, unit),
    }
}

fn parameters(tuned: &Tuned, nearest: Option<&Configuration>) -> Vec<ParameterRow> {
    let value = |configuration: Option<&Configuration>, name: &str| {
        configuration
            .and_then(|configuration| configuration.get(name))
            .map_or(String::new(), ToString::to_string)
    };
    let best = tuned.best().map(|best| &best.configuration);
    let default = tuned.default().map(|default| &default.configuration);
    let default = nearest.filter(|_| best != default).or(default);
    let Some(any) = best.or(default) else {
        return Vec::new();
    };
    any.pairs()
        .map(|(name, _)| {
            let (best, default_value) = (value(best, name), value(default, name));
            ParameterRow {
                name: name.to_string(),
                differs: default.is_some() && best != default_value,
                best,
                default: default_value,
            }
        })
        .collect()
}

/// The techniques, in the order in which they come, with their looks, and their costs as the search
/// compares them.
fn techniques(tuned: &Tuned, unit: &str) -> Vec<TechniqueRow> {
    let mut rows: Vec<(TechniqueRow, f64)> = Vec::new();
    let mut best = f64::INFINITY;
    for (number, evaluation) in tuned.evaluations.iter().enumerate() {
        let name = &evaluation.technique;
        let place = rows.iter().position(|(row, _)| row.name == *name);
        let place = place.unwrap_or_else(|| {
            let before = rows.iter().filter(|(row, _)| is_proposal(&row.name));
            let look = match is_proposal(name) {
                true => Look::new(before.count()),
                false => Look::NEUTRAL,
            };
            rows.push((TechniqueRow::new(name, look), f64::INFINITY));
            rows.len() - 1
        });
        let (row, least) = &mut rows[place];
        row.evaluations += 1;
        let cost = tuned.compared(number).unwrap_or(f64::INFINITY);
        *least = least.min(cost);
        if cost < best {
            best = cost;
            row.bests += 1;
        }
    }
    rows.into_iter()
        .map(|(row, least)| TechniqueRow {
            least: match least.is_finite() {
                true => shown(least, unit),
                false => "nothing works".to_string(),
            },
            ..row
        })
        .collect()
}

fn failures(tuned: &Tuned) -> Vec<FailureRow> {
    let of_kind = |kind: FailureKind| {
        let failed = tuned
            .evaluations
            .iter()
            .filter_map(move |e| match &e.outcome {
                Outcome::Failed(failure) if failure.kind == kind => Some((e, failure)),
                _ => None,
            });
        let text = |text: &str| text.chars().take(MOST_LETTERS).collect::<String>();
        FailureRow {
            kind: kind.name(),
            count: failed.clone().count(),
            examples: failed
                .take(EXAMPLES)
                .map(|(e, failure)| (e.configuration.to_string(), text(&failure.text)))
                .collect(),
        }
    };
    FailureKind::ALL
        .into_iter()
        .map(of_kind)
        .filter(|row| row.count > 0)
        .collect()
}

#[cfg(test)]
mod tests;
