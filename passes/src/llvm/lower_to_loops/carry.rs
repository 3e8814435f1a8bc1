//! Carries of a computation's code: received from the part before, and carried out to the next one.

use mdh_algebra::computation::Combine;
use mdh_dialect::parts::{BufferPart, CarryPart};
use melior::ir::{Type, ValueLike};

use super::access::{read, write};
use super::fold::{Fold, Partial};
use super::grid::Grid;
use crate::support::builder::{Builder, known};
use crate::support::kernels;
use mdh_dialect::ir::Val;

/// `f(carry, total)` at a point.
pub fn carried<'c>(
    builder: &mut Builder<'c>,
    fold: &Fold<'c, '_>,
    carry: &CarryPart<'c>,
    point: &[Val<'c>],
    total: &Partial<'c>,
) -> Partial<'c> {
    let types: Vec<Type> = total.values.iter().map(|v| v.r#type()).collect();
    let values = kernels::read_valid(builder, fold.op, carry.valid, &types, |builder| {
        let buffers = carry.incoming.iter();
        buffers.map(|b| read(builder, b, 0, point)).collect()
    });
    let incoming = Partial {
        values,
        valid: carry.valid,
    };
    fold.combine(builder, &incoming, total)
}

/// Carries out the received carry of an empty `ps` dimension, which has no last slice.
pub fn pass_on<'c>(
    builder: &mut Builder<'c>,
    fold: &Fold<'c, '_>,
    grids: &[Grid<'c>],
    carry: &CarryPart<'c>,
) {
    let combine = |d: usize| fold.computation.dimensions[d].combine;
    let grid = &grids[carry.dim];
    let is_there = known(grid.count).is_some_and(|count| count > 0);
    if carry.outgoing.is_empty() || !combine(carry.dim).is_ps() || is_there {
        return;
    }
    let rest = (0..grids.len()).filter(|d| *d != carry.dim && !combine(*d).is_pw());
    let mut rest: Vec<usize> = rest.collect();
    rest.sort_by_key(|d| combine(*d) != Combine::Cc);
    let mut point: Vec<Val> = grids.iter().map(|grid| grid.lower).collect();
    let zero = builder.index(0);
    let is_empty = builder.compare("eq", grid.count, zero);
    builder.if_then(is_empty, |builder| {
        each_point(builder, grids, &rest, &mut point, &|builder, point| {
            let nothing = fold.nothing(builder);
            let total = carried(builder, fold, carry, point, &nothing);
            store_all(builder, &carry.outgoing, point, &total);
        });
    });
}

/// Loops over the points of some dimensions.
fn each_point<'c>(
    builder: &mut Builder<'c>,
    grids: &[Grid<'c>],
    dims: &[usize],
    point: &mut Vec<Val<'c>>,
    body: &dyn Fn(&mut Builder<'c>, &[Val<'c>]),
) {
    let Some((dim, inner)) = dims.split_first() else {
        return body(builder, point);
    };
    grids[*dim].each(builder, &[], |builder, index, _| {
        point[*dim] = index;
        each_point(builder, grids, inner, point, body);
        Vec::new()
    });
}

/// Stores a tuple, one component in each buffer.
pub fn store_all<'c>(
    builder: &mut Builder<'c>,
    buffers: &[BufferPart<'c>],
    point: &[Val<'c>],
    total: &Partial<'c>,
) {
    for (buffer, value) in buffers.iter().zip(&total.values) {
        write(builder, buffer, 0, *value, point);
    }
}
