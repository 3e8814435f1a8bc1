//! Grids, numbers of points, and empty dimensions.

use super::finding::{Obligation, Report, Rule, Subject};
use crate::computation::{Computation, Dimension, Extent};

pub(super) fn grids(computation: &Computation, report: &mut Report) {
    for (d, dimension) in computation.dimensions.iter().enumerate() {
        grid(d, dimension, report);
    }
    let counts: Vec<_> = computation.dimensions.iter().map(|d| d.count()).collect();
    // Beyond that a number of points is not exact.
    let is_far = report.findings.iter().any(|f| f.rule == Rule::Distance);
    if counts.contains(&Some(0)) || is_far {
        return;
    }
    let known = counts.iter().flatten();
    if known
        .copied()
        .try_fold(1i64, |n, c| n.checked_mul(c))
        .is_none()
    {
        let sizes: Vec<_> = counts.iter().map(|c| size_text(*c)).collect();
        report.find(
            Rule::Points,
            Subject::Computation,
            format!(
                "has a domain of {} points, which is more than 2^63 - 1: expected smaller bounds",
                sizes.join(" x ")
            ),
        );
    } else if counts.contains(&None) {
        report.owe(Obligation::Points);
    }
}

fn size_text(count: Option<i64>) -> String {
    count.map_or("?".into(), |c| c.to_string())
}

fn grid(d: usize, dimension: &Dimension, report: &mut Report) {
    let Dimension {
        name, step, width, ..
    } = dimension;
    for message in steps(name, *step, *width) {
        report.find(Rule::Grid, Subject::Dimension(d), message);
    }
    if let Some(message) = distance(dimension) {
        report.find(Rule::Distance, Subject::Dimension(d), message);
    }
    if width.is_none_or(|width| width >= 1) && (width.is_none() || step.is_none()) {
        report.owe(Obligation::Grid { dimension: d });
    }
}

/// Bounds are subtracted from each other in 64 bits.
fn distance(dimension: &Dimension) -> Option<String> {
    let (lower, upper) = (dimension.lower?, dimension.upper?);
    let is_right = upper <= lower || upper.checked_sub(lower).is_some();
    (!is_right).then(|| {
        format!(
            "has the bounds {lower} and {upper} in dimension '{}', which are more than 2^63 - 1 \
             apart: expected bounds that are closer to each other",
            dimension.name
        )
    })
}

/// Checks the step and the width of a dimension, as far as they are known: phrases that follow the
/// name of what has the dimension.
pub fn steps(name: &str, step: Extent, width: Extent) -> Vec<String> {
    let mut wrong = Vec::new();
    if let Some(step) = step.filter(|s| *s < 1) {
        wrong.push(format!(
            "has step {step} in dimension '{name}': expected at least 1"
        ));
    }
    match (width, step) {
        (Some(width), _) if width < 1 => wrong.push(format!(
            "has width {width} in dimension '{name}': expected at least 1"
        )),
        (Some(width), Some(step)) if step >= 1 && width > step => wrong.push(format!(
            "has width {width} and step {step} in dimension '{name}': expected a width of at \
             most the step"
        )),
        _ => {}
    }
    wrong
}

/// An empty `pw` dimension gives the carry, else the neutral element, else an error. The same
/// goes for what an empty `ps` dimension carries out.
pub(super) fn empty_pw(computation: &Computation, report: &mut Report) {
    let always_carried = computation.carries.iter().any(|c| !c.has_valid_bit);
    let stores = computation.outputs.iter().any(|b| !b.accesses.is_empty())
        || computation.carries.iter().any(|c| !c.outgoing.is_empty());
    if always_carried || !stores {
        return;
    }
    for (d, dimension) in computation.dimensions.iter().enumerate() {
        let carries_out = computation
            .carries
            .iter()
            .any(|c| c.dimension == d && !c.outgoing.is_empty());
        let Some(operator) = dimension.combine.operator() else {
            continue;
        };
        if !dimension.combine.is_pw() && !carries_out {
            continue;
        }
        let Some(operator) = computation.operators.get(operator) else {
            continue;
        };
        if operator.neutral(&computation.components).is_some() {
            continue;
        }
        // Somewhere a result is expected: all other kept dimensions have points.
        let mut rest = computation.kept();
        rest.retain(|k| *k != d);
        let counts = rest.iter().map(|k| computation.dimensions[*k].count());
        let counts: Vec<_> = counts.collect();
        if counts.contains(&Some(0)) {
            continue;
        }
        match dimension.count() {
            Some(0) if !counts.contains(&None) && computation.carries.is_empty() => report.find(
                Rule::EmptyPw,
                Subject::Dimension(d),
                format!(
                    "combines no points in dimension '{}' ({} to {}) by '{operator}', which has \
                     no neutral element: expected at least one point, a carry that is always \
                     there, or 'neutral(...)' on the operator",
                    dimension.name,
                    size_text(dimension.lower),
                    size_text(dimension.upper),
                ),
            ),
            Some(0) | None => report.owe(Obligation::EmptyPw { dimension: d }),
            Some(_) => {}
        }
    }
}
