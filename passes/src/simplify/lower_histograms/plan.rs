//! Decisions of the lowering about a histogram, in words and numbers, for explanations of a
//! program.

use mdh_dialect::ir::Op;

use super::{COPIES, COPIES_BYTES, Lowering, Shared, form};
use crate::support::builder::known;
use crate::support::deterministic;

/// Decisions about a histogram.
pub struct HistogramPlan {
    /// The dimension that counts the bins; along all others lie values, or histograms.
    pub bins: usize,
    /// Number of cores that get parts, where sizes decide it.
    pub cores: Option<i64>,
    /// Decisions and their reasons.
    pub reasons: Vec<String>,
}

/// Returns the decisions about a histogram on a machine with so many cores, where `grain` values
/// are a thread's minimal work, and their reasons; nothing for other computations. The lowering
/// itself is asked: the sizes and the memory that it would need stay in front of the operation, in
/// a program that is not to be compiled any more.
pub fn plan(op: Op, cores: i64, grain: i64) -> Option<HistogramPlan> {
    let form_of_op = form::recognise(op).ok()?;
    let mut types = form_of_op.computation.components.iter();
    let is_alone = types.any(|ty| ty.is_float()) && deterministic::is_wanted(op);
    let cores = if is_alone { 1 } else { cores };
    let lowering = Lowering::new(&form_of_op, cores, grain);
    Some(HistogramPlan {
        bins: form_of_op.bins,
        cores: known(lowering.parts),
        reasons: reasons(&lowering, is_alone, [cores, grain]),
    })
}

fn reasons(lowering: &Lowering, is_alone: bool, [cores, grain]: [i64; 2]) -> Vec<String> {
    let form = lowering.of;
    let bins = form.computation.dimensions[form.bins].count();
    let bins = bins.map_or(String::new(), |n| format!("{n} "));
    let name = |d: usize| &form.computation.dimensions[d].name;
    let what = match lowering.shared {
        Shared::Values(d) => format!(
            "the values along '{}', and {bins}bins of their own, which are combined in the end",
            name(d)
        ),
        Shared::Histograms(d) => format!("the histograms along '{}'", name(d)),
    };
    let mut reasons = vec![
        "each value updates the bin that it falls into: no value is held against all bins"
            .to_string(),
    ];
    reasons.push(match known(lowering.parts) {
        _ if is_alone => "one core: the order of what is combined is to be the same for any number".into(),
        Some(1) if cores > 1 => format!(
            "one core: from {grain} values on, and from as many as there are bins, another one would \
             be worth it"
        ),
        Some(1) => "one core: there is no other".into(),
        Some(parts) => format!("{parts} cores get parts of {what}"),
        None => format!(
            "up to {cores} cores get parts of {what}: one for every {grain} values, or for as many as \
             there are bins"
        ),
    });
    reasons.push(match known(lowering.copies) {
        Some(1) => format!(
            "a part has one row of bins: {COPIES}, of which neighbours would update one each, need an \
             operator that commutes, {COPIES_BYTES} bytes or less, and many more values than bins"
        ),
        Some(copies) => format!(
            "a part has {copies} rows of bins, of which neighbours update one each: an update need \
             not wait for the one before"
        ),
        None => format!(
            "a part has {COPIES} rows of bins where they need {COPIES_BYTES} bytes or less and there \
             are many more values than bins, else one"
        ),
    });
    reasons.push(match lowering.lanes {
        1 => "one value is counted at a time".into(),
        lanes => format!("the bins of {lanes} values are found at once"),
    });
    reasons
}
