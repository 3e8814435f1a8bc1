//! Extents of buffers that are seen under other shapes: the extent of an axis is the product of those that it
//! is split into.

use mdh_dialect::ir::{self, Val};
use mdh_dialect::ops;
use mdh_dialect::parts::Bound;

use super::computed::Fit;
use super::origin::{extent, size_operand};
use super::{Origin, Solver};
use crate::carried;

/// An axis of a buffer.
type BufferAxis<'c> = (Val<'c>, usize);

/// An axis, and those that it is split into.
struct Split<'c> {
    whole: BufferAxis<'c>,
    parts: Vec<BufferAxis<'c>>,
}

/// The reshapes that `expand_shape` and `collapse_shape` are.
const EXPAND: [&str; 2] = [ops::tensor::EXPAND_SHAPE, ops::memref::EXPAND_SHAPE];
const COLLAPSE: [&str; 2] = [ops::tensor::COLLAPSE_SHAPE, ops::memref::COLLAPSE_SHAPE];

/// Returns the splits that a reshape makes, in the order of the joined axes.
fn splits<'c>(buffer: Val<'c>) -> Option<Vec<Split<'c>>> {
    let op = ir::defining_op(buffer)?;
    let source = ir::operand(op, 0)?;
    let (joined, split) = match ir::name_of(op) {
        name if EXPAND.contains(&name) => (source, buffer),
        name if COLLAPSE.contains(&name) => (buffer, source),
        _ => return None,
    };
    let groups = ir::axis_groups(op).into_iter().enumerate();
    let splits = groups.map(|(number, group)| Split {
        whole: (joined, number),
        parts: group.into_iter().map(|axis| (split, axis)).collect(),
    });
    Some(splits.collect())
}

/// Returns the axes that an axis of a reshape's result is joined of.
fn joined_of<'c>((buffer, axis): BufferAxis<'c>) -> Option<Vec<BufferAxis<'c>>> {
    let mut splits = splits(buffer)?.into_iter();
    let split = splits.find(|split| split.whole == (buffer, axis))?;
    Some(split.parts)
}

impl<'c> Solver<'_, 'c> {
    /// The extent of a buffer along an axis, as far as at most so many operations lead back to sizes.
    pub(super) fn extent(&self, buffer: Val<'c>, axis: usize, steps: usize) -> Option<i64> {
        let buffer = carried::first(buffer);
        match extent(buffer, axis) {
            Origin::Argument(argument) => return self.sizes.scalars[argument],
            Origin::Extent { argument, axis } => return self.sizes.shapes[argument][axis],
            Origin::Constant(number) => return Some(number),
            Origin::Other => {}
        }
        let steps = steps.checked_sub(1)?;
        if let Some(value) = size_operand(buffer, axis) {
            return self.followed(Bound::Dynamic(value), steps);
        }
        self.product(&joined_of((buffer, axis))?, steps)
    }

    fn product(&self, parts: &[BufferAxis<'c>], steps: usize) -> Option<i64> {
        let mut sizes = parts
            .iter()
            .map(|(of, axis)| self.extent(*of, *axis, steps));
        sizes.try_fold(1i64, |product, size| product.checked_mul(size?))
    }

    /// The one size that is not known of those that an extent is made of, and what it has to be.
    pub(super) fn inverse_extent(
        &self,
        (buffer, axis): BufferAxis<'c>,
        size: i64,
        fit: Fit,
        steps: usize,
    ) -> Option<(Origin, i64)> {
        let buffer = carried::first(buffer);
        if size < 0 || self.extent(buffer, axis, steps).is_some() {
            return None;
        }
        let steps = steps.checked_sub(1)?;
        match extent(buffer, axis) {
            Origin::Other => {}
            from => return Some((from, size)),
        }
        if let Some(value) = size_operand(buffer, axis) {
            return self.inverse(value, size, fit, steps);
        }
        let parts = joined_of((buffer, axis))?.into_iter();
        let is_known = |(of, axis): &BufferAxis<'c>| self.extent(*of, *axis, steps).is_some();
        let (known, open): (Vec<BufferAxis>, Vec<BufferAxis>) = parts.partition(is_known);
        let [part] = open[..] else {
            return None;
        };
        let size = fit.quotient(size, self.product(&known, steps)?)?;
        self.inverse_extent(part, size, fit, steps)
    }

    /// Learns an extent of an argument that is split into known ones. Whether there was one.
    pub(super) fn learn_split(&mut self, steps: usize) -> bool {
        for op in ir::find_all(self.entry.sized, &EXPAND) {
            let splits = ir::result(op, 0).and_then(splits).unwrap_or_default();
            for Split { whole, parts } in splits {
                let size = self.product(&parts, steps);
                let inverse =
                    size.and_then(|size| self.inverse_extent(whole, size, Fit::Exact, steps));
                if inverse.is_some_and(|(from, size)| self.take(from, size)) {
                    return true;
                }
            }
        }
        false
    }

    /// Gives an axis the extent 1 that is joined with others of which none is known: any product is as good
    /// as the others. Whether there was one.
    pub(super) fn settle_joined(&mut self, steps: usize) -> bool {
        for op in ir::find_all(self.entry.sized, &COLLAPSE) {
            let splits = ir::result(op, 0).and_then(splits).unwrap_or_default();
            for Split { parts, .. } in splits {
                let is_open =
                    |(of, axis): &&BufferAxis<'c>| self.extent(*of, *axis, steps).is_none();
                let Some(last) = parts.iter().skip(1).rfind(is_open) else {
                    continue;
                };
                let inverse = self.inverse_extent(*last, 1, Fit::Exact, steps);
                if inverse.is_some_and(|(from, size)| self.take(from, size)) {
                    return true;
                }
            }
        }
        false
    }

    /// Returns the sizes that an extent is made of, by at most so many reshapes.
    pub(super) fn sources(&self, (buffer, axis): BufferAxis<'c>, steps: usize) -> Vec<Origin> {
        let buffer = carried::first(buffer);
        let from = extent(buffer, axis);
        match (from, joined_of((buffer, axis)), steps.checked_sub(1)) {
            (Origin::Other, Some(parts), Some(steps)) => {
                let parts = parts.into_iter();
                parts.flat_map(|part| self.sources(part, steps)).collect()
            }
            (from, ..) => vec![from],
        }
    }
}
