//! Dimensions that are combined in parts, but have no points.

use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::parts::{Bound, Parts};
use mdh_dialect::write;
use melior::ir::Attribute;

use super::code::cc;
use crate::llvm::lower_to_loops::grid::Grid;
use crate::support::builder::{Builder, known};
use crate::support::region;
use crate::support::scheduled::{Loop, Scheduled};

/// Emptiness of a dimension that is combined in parts: without points, there would be no part that
/// stores the empty combination.
pub enum Emptiness<'c> {
    /// No dimension is empty.
    Never,
    /// The dimension is empty.
    Always,
    /// The dimension is empty if this holds.
    If(Val<'c>),
}

/// Returns the emptiness of a computation with these loops.
pub fn emptiness<'c>(
    builder: &mut Builder<'c>,
    scheduled: &Scheduled<'c>,
    loops: &[Loop],
) -> Emptiness<'c> {
    let mut condition: Option<Val> = None;
    let is_split = |d: usize| {
        let mut of_dimension = loops.iter().filter(|l| l.level.dimension == d);
        of_dimension.any(|l| l.combine.is_pw())
    };
    let is_any_split = (0..scheduled.parts.dims.len()).any(is_split);
    // Without a neutral element a part has no result where another dimension has no points.
    let is_neutral = scheduled.computation.neutrals().is_some();
    for (d, dim) in scheduled.parts.dims.iter().enumerate() {
        let is_combined = scheduled.computation.dimensions[d].combine.is_pw();
        if !is_split(d) && (is_neutral || !is_any_split || !is_combined) {
            continue;
        }
        let count = Grid::new(builder, dim).count;
        // Some have no points whatever their steps are.
        if scheduled.computation.dimensions[d].count() == Some(0) {
            return Emptiness::Always;
        }
        match known(count) {
            Some(0) => return Emptiness::Always,
            Some(_) => {}
            None => {
                let zero = builder.index(0);
                let is_empty = builder.compare("eq", count, zero);
                condition = Some(match condition {
                    None => is_empty,
                    Some(other) => builder.binary(ops::arith::ORI, other, is_empty),
                });
            }
        }
    }
    condition.map_or(Emptiness::Never, Emptiness::If)
}

impl<'c> Emptiness<'c> {
    /// One or the other, decided at run time if need be.
    pub fn guard(
        self,
        builder: &mut Builder<'c>,
        if_empty: impl FnOnce(&mut Builder<'c>),
        otherwise: impl FnOnce(&mut Builder<'c>) -> Result<(), Errors>,
    ) -> Result<(), Errors> {
        match self {
            Emptiness::Never => otherwise(builder),
            Emptiness::Always => {
                if_empty(builder);
                Ok(())
            }
            Emptiness::If(condition) => {
                let mut result = Ok(());
                let empty = |builder: &mut Builder<'c>| {
                    if_empty(builder);
                    Vec::new()
                };
                builder.if_else(condition, &[], empty, |builder| {
                    result = otherwise(builder);
                    Vec::new()
                });
                result
            }
        }
    }
}

/// A computation without its schedule, where a dimension that is combined has no points: each result
/// is neutral, and so are prefix-sums of these, which then need no memory between each other. What
/// comes in is combined with them: then the dimension is known to have no points.
pub fn neutral<'c>(builder: &mut Builder<'c>, op: Op<'c>, parts: &Parts<'c>) {
    let mut parts = parts.clone();
    if parts.carries.is_empty() {
        let is_scan = |combine: &Attribute| ir::is_ps(*combine);
        let scans = parts.combine.iter_mut().filter(|combine| is_scan(combine));
        scans.for_each(|combine| *combine = cc(builder));
    } else {
        let mut dims = parts.dims.iter_mut().zip(&parts.combine);
        // Where another one has none, this one may have none as well.
        let empty = dims.find(|(_, combine)| ir::is_pw(**combine));
        empty.into_iter().for_each(|(dim, _)| {
            (dim.lower, dim.upper) = (Bound::Static(0), Bound::Static(0));
        });
    }
    unscheduled(builder, op, &parts);
}

/// A computation as it is without its schedule.
pub fn unscheduled<'c>(builder: &mut Builder<'c>, op: Op<'c>, parts: &Parts<'c>) {
    let (scalar, combiner) = (region::copy(op, 0), region::copy(op, 1));
    let (context, location) = (builder.context, builder.location);
    let new = write::compute(context, location, parts, scalar, combiner);
    builder.insert(new);
}
