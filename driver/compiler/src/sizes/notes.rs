//! Inputs of which a view reads a part only, as far as sizes suggest that more was meant.

use mdh_algebra::affine::Expr;
use mdh_dialect::ir;
use mdh_dialect::parts::{Bound, Dim, Parts};
use mdh_dialect::read;

use super::{Origin, origin};
use crate::entry::Entry;
use crate::values::Tensor;

/// One line for each dimension of dynamic size along which inputs have different extents. That is
/// no error, since a view may read a part of its buffer.
pub fn different_extents(entry: &Entry, arguments: &[Tensor]) -> Vec<String> {
    let computations = ir::find_all(entry.op, &["mdh.compute"]).into_iter();
    let mut notes = Vec::new();
    for parts in computations.filter_map(|op| read::compute(op).ok()) {
        for (d, dim) in parts.dims.iter().enumerate() {
            let extents = extents(entry, arguments, &parts, d);
            let Some((_, first)) = extents.first().filter(|_| is_open(dim)) else {
                continue;
            };
            if extents.iter().any(|(_, extent)| extent != first) {
                let shown: Vec<String> = extents
                    .iter()
                    .map(|(name, extent)| format!("'{name}' has {extent}"))
                    .collect();
                notes.push(format!(
                    "dimension '{}' reads a part of an input only: along it, {}",
                    dim.name,
                    shown.join(", ")
                ));
            }
        }
    }
    notes.dedup();
    notes
}

/// Returns whether a dimension has all indices from 0 to a bound that is known at run time.
fn is_open(dim: &Dim) -> bool {
    let is_dense = dim.lower.known() == Some(0) && dim.step == dim.width;
    is_dense && matches!(dim.upper, Bound::Dynamic(_))
}

/// The arguments that are read at a dimension's index itself, and their extents there.
fn extents<'e>(
    entry: &'e Entry,
    arguments: &[Tensor],
    parts: &Parts,
    d: usize,
) -> Vec<(&'e str, i64)> {
    let mut extents = Vec::new();
    for input in parts.inputs.iter().filter(|input| input.pad.is_none()) {
        let Origin::Argument(argument) = origin(input.value) else {
            continue;
        };
        let shape = &entry.arguments[argument].ty.shape;
        for axis in (0..shape.len()).filter(|axis| shape[*axis].is_none()) {
            let is_here = |access: &Vec<Expr>| access[axis] == Expr::Dim(d);
            let is_whole = input.origin[axis].known() == Some(0);
            if is_whole && input.accesses.iter().all(is_here) && !input.accesses.is_empty() {
                let extent = (
                    entry.arguments[argument].name.as_str(),
                    arguments[argument].shape()[axis],
                );
                if !extents.contains(&extent) {
                    extents.push(extent);
                }
            }
        }
    }
    extents
}
