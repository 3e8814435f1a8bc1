//! The loop along an axis, in three parts: those at the ends go to where padding is read.
//!
//! ```text
//! for k = a to b step s { tile at k }
//! // becomes
//! for k = a to first step s { tile at k, masked }
//! for k = first to last step s { tile at k }
//! for k = .. to b step s { tile at k, masked }
//! ```
//!
//! Where lanes read elements that are apart, and tiles may be computed in any order, one loop goes over those at both
//! ends, or over all tiles where another axis is left, so that there are two versions of a tile's code. A branch inside
//! of the loop would ask at each tile, and registers would have to do for both sides.

use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::marks::LEVEL;
use mdh_dialect::ops;
use mdh_dialect::parts::{Bound, CombinePart, Dim, Parts, combine_part};
use melior::ir::BlockLike;
use melior::ir::operation::OperationLike;

use super::{Body, BorderPlan, InputAxis, all_inside, either, reach, rest};
use crate::llvm::lower_to_loops::grid::{Grid, bound};
use crate::support::builder::{Builder, known};
use crate::support::inline::key;
use crate::support::region;

/// Emits the index of the tile that a loop's counter means.
type Index<'c, 'b> = dyn Fn(&mut Builder<'c>, Val<'c>) -> Val<'c> + 'b;

/// The loop right around a computation, over tiles of one dimension.
pub struct Along<'c> {
    /// The loop.
    pub of: Op<'c>,
    dim: usize,
    /// From the first index of a tile to one past its last, if it is a whole one.
    size: i64,
    /// The end of the last tile, if that need not be a whole one.
    end: Option<Val<'c>>,
    /// True if it goes along lanes, and what these read is not next to each other: rows have little in common
    /// then, and asking for each costs little.
    is_apart: bool,
}

impl<'c> Along<'c> {
    /// The loop that goes along the axes with a version of their own, if there is nothing else in it; `lanes` is
    /// the dimension of a vector's lanes.
    pub fn new(op: Op<'c>, plan: &BorderPlan<'c, '_>, lanes: usize) -> Option<Self> {
        let around = ir::parent(op).filter(|op| ir::name_of(*op) == ops::scf::FOR)?;
        let body = ir::only_block(ir::region(around, 0))?;
        let index: Val = body.argument(0).ok().map(ir::value)?;
        let is_alone = ir::ops_of(body).into_iter().all(|other| {
            let name = ir::name_of(other);
            other == op || name == ops::scf::YIELD || name.starts_with("arith.")
        });
        let dims = &plan.parts.dims;
        let is_index = |b: Bound<'c>| matches!(b, Bound::Dynamic(v) if key(v) == key(index));
        let dim = dims.iter().position(|d| is_index(d.lower))?;
        let Bound::Dynamic(upper) = dims[dim].upper else {
            return None;
        };
        let (size, end) = tile(index, upper)?;
        let (of_results, inside) = (around.results().count(), |v: Val<'c>| {
            let is_same = key(v) == key(index) || key(v) == key(upper);
            !is_same && region::is_defined_in(v, around)
        });
        let is_free = op.operands().all(|v| !inside(ir::value(v)));
        let uses = |v: Val<'c>| {
            op.operands()
                .filter(|o| key(ir::value(*o)) == key(v))
                .count()
        };
        let is_own = uses(index) == 1 && uses(upper) == 1;
        let is_dense = known_one(dims[dim].step) && known_one(dims[dim].width);
        let moves_by = |least: i64| {
            plan.inner.iter().all(|(input, axis)| {
                let forms = reach(&plan.inputs[*input], *axis, dims.len());
                forms.keys().all(|factors| factors[dim] >= least)
            })
        };
        let (is_along, is_apart) = (moves_by(1), dim == lanes && moves_by(2));
        let is_still = plan.outer.iter().all(|(input, axis)| {
            let mut accesses = plan.inputs[*input].accesses.iter();
            accesses.all(|access| !access[*axis].uses(dim))
        });
        let is_outside = end.is_none_or(|end| !region::is_defined_in(end, around));
        let is_plain = is_alone && of_results == 0 && is_free && is_own && is_dense;
        (is_plain && is_along && is_still && is_outside && !plan.inner.is_empty()).then_some(
            Along {
                of: around,
                dim,
                size,
                end,
                is_apart,
            },
        )
    }

    /// Emits the loop, with the question for the other axes outside of it.
    pub fn emit(&self, mut plan: BorderPlan<'c, '_>, body: &mut Body<'c, '_>) {
        let builder = &mut Builder::before(self.of);
        // Outside of the loop; none of its index is asked for.
        let dims = plan.parts.dims.iter().enumerate();
        plan.grids = dims
            .map(|(d, dim)| {
                let mut dim = dim.clone();
                if d == self.dim {
                    (dim.lower, dim.upper) = (Bound::Static(0), Bound::Static(1));
                }
                Grid::new(builder, &dim)
            })
            .collect();
        let plan = &plan;
        let combine = combine_part(plan.parts.combine[self.dim]);
        let is_free = combine == Ok(CombinePart::Cc) && !plan.parts.in_place && self.is_apart;
        let whole: Vec<Val> = self.of.operands().map(ir::value).collect();
        let [from, to, step] = whole[..] else {
            panic!("a loop without results has its bounds only");
        };
        let [all, masked] = [plan.inside(&[]), plan.inside(&[&plan.outer])];
        let clean = plan.inside(&[&plan.outer, &plan.inner]);
        let (inputs, outer) = (&plan.inputs, &plan.outer);
        let is_asked = !outer.is_empty();
        let inside = is_asked.then(|| all_inside(builder, inputs, &plan.grids, outer));
        let middle = |builder: &mut Builder<'c>| {
            let [first, last, after] = self.ends(builder, plan, [from, to, step]);
            let end = builder.binary(ops::arith::MINSI, first, to);
            [[from, end, step], [first, last, step], [after, to, step]]
        };
        if is_free {
            let [before, within, behind] = middle(builder);
            self.both(builder, [before, behind], inside, &all, body);
            let mut middle = |builder: &mut Builder<'c>| self.each(builder, within, &clean, body);
            return match inside {
                Some(inside) => builder.if_then(inside, middle),
                None => middle(builder),
            };
        }
        let parted = |builder: &mut Builder<'c>, body: &mut Body<'c, '_>| {
            let [before, within, behind] = middle(builder);
            self.each(builder, before, &masked, body);
            self.each(builder, within, &clean, body);
            self.each(builder, behind, &masked, body);
        };
        match inside {
            Some(inside) => either(builder, inside, body, parted, |builder, body| {
                self.each(builder, [from, to, step], &all, body);
            }),
            None => parted(builder, body),
        }
    }

    /// A loop over the tiles before the first one that lies inside, and those after the last one; over
    /// all tiles where other axes are left, which a condition tells.
    fn both(
        &self,
        builder: &mut Builder<'c>,
        ends: [[Val<'c>; 3]; 2],
        inside: Option<Val<'c>>,
        parts: &Parts<'c>,
        body: &mut Body<'c, '_>,
    ) {
        let zero = builder.index(0);
        let [[from, end, step], [after, to, _]] = ends;
        let tiles = |builder: &mut Builder<'c>, from: Val<'c>, to: Val<'c>| {
            let span = builder.binary(ops::arith::SUBI, to, from);
            let span = builder.binary(ops::arith::MAXSI, span, zero);
            builder.binary(ops::arith::CEILDIVSI, span, step)
        };
        let [mut before, mut behind] =
            [(from, end), (after, to)].map(|(from, to)| tiles(builder, from, to));
        if let Some(inside) = inside {
            let tiles_of_range = tiles(builder, from, to);
            before = builder.select(inside, before, tiles_of_range);
            behind = builder.select(inside, behind, zero);
        } else if [before, behind]
            .iter()
            .any(|count| known(*count) == Some(0))
        {
            return ends
                .into_iter()
                .for_each(|end| self.each(builder, end, parts, body));
        }
        let unit = builder.index(1);
        let sum = builder.binary(ops::arith::ADDI, before, behind);
        let index = |builder: &mut Builder<'c>, number: Val<'c>| {
            // One choice of whole indices, which LLVM does not take apart to find out what addresses have in common.
            let is_before = builder.compare("slt", number, before);
            let rest = builder.binary(ops::arith::SUBI, number, before);
            let [unit, other] = [(number, from), (rest, after)].map(|(number, start)| {
                let distance = builder.binary(ops::arith::MULI, number, step);
                builder.binary(ops::arith::ADDI, start, distance)
            });
            builder.select(is_before, unit, other)
        };
        self.tiles(builder, [zero, sum, unit], (self.end, &index), parts, body);
    }

    /// A loop over tiles by their indices, of which all may be known to be whole.
    fn each(
        &self,
        builder: &mut Builder<'c>,
        bounds: [Val<'c>; 3],
        parts: &Parts<'c>,
        body: &mut Body<'c, '_>,
    ) {
        let [first, end, step] = bounds.map(known);
        let mut to = self.end;
        if let Some(((first, end), step)) = first.zip(end).zip(step) {
            if first >= end {
                return;
            }
            let last = end - 1 - (end - 1 - first) % step.max(1);
            to = to.filter(|to| known(*to).is_none_or(|to| last + self.size > to));
        }
        self.tiles(builder, bounds, (to, &|_, index| index), parts, body);
    }

    /// A loop over tiles: up to an end where one may not be whole, each of which starts at an index.
    fn tiles(
        &self,
        builder: &mut Builder<'c>,
        bounds: [Val<'c>; 3],
        (end, index): (Option<Val<'c>>, &Index<'c, '_>),
        parts: &Parts<'c>,
        body: &mut Body<'c, '_>,
    ) {
        let mut tile = |builder: &mut Builder<'c>, counter: Val<'c>| {
            let index = index(builder, counter);
            let size = builder.index(self.size);
            let mut upper = builder.binary(ops::arith::ADDI, index, size);
            if let Some(end) = end {
                upper = builder.binary(ops::arith::MINSI, upper, end);
            }
            let mut parts = parts.clone();
            parts.dims[self.dim] = Dim {
                lower: Bound::Dynamic(index),
                upper: Bound::Dynamic(upper),
                ..parts.dims[self.dim].clone()
            };
            body(builder, &parts);
        };
        match LEVEL.text(self.of) {
            Some(level) => builder.sequential(bounds, level, tile),
            None => {
                builder.for_loop(bounds, &[], |builder, index, _| {
                    tile(builder, index);
                    Vec::new()
                });
            }
        }
    }

    /// The first tile that lies inside, the end of those that do, and the first tile after them.
    fn ends(
        &self,
        builder: &mut Builder<'c>,
        plan: &BorderPlan<'c, '_>,
        [from, to, step]: [Val<'c>; 3],
    ) -> [Val<'c>; 3] {
        let (mut first, mut last) = (from, to);
        for axis in &plan.inner {
            for [least, most] in self.limits(builder, plan, *axis) {
                first = builder.binary(ops::arith::MAXSI, first, least);
                last = builder.binary(ops::arith::MINSI, last, most);
            }
        }
        let first = on_grid(builder, first, from, step);
        let after = builder.binary(ops::arith::MAXSI, first, last);
        let after = on_grid(builder, after, first, step);
        [first, last, after]
    }

    /// The least index of a tile that lies inside of an axis, and one past the greatest: for each form
    /// of its index functions.
    fn limits(
        &self,
        builder: &mut Builder<'c>,
        plan: &BorderPlan<'c, '_>,
        (input, axis): InputAxis,
    ) -> Vec<[Val<'c>; 2]> {
        let buffer = &plan.inputs[input];
        let origin = bound(builder, buffer.origin[axis]);
        let extent = builder.dim(buffer.value, axis);
        let end = builder.binary(ops::arith::ADDI, origin, extent);
        let forms = reach(buffer, axis, plan.grids.len());
        let mut limits = Vec::new();
        for (mut factors, (least, most)) in forms {
            let factor = std::mem::replace(&mut factors[self.dim], 0);
            let by = builder.index(factor);
            let [low, high] = rest(builder, &plan.grids, &factors);
            let least = builder.index(least);
            let low = builder.binary(ops::arith::ADDI, low, least);
            let room = builder.binary(ops::arith::SUBI, origin, low);
            let first = builder.binary(ops::arith::CEILDIVSI, room, by);
            // Of the last index of a tile.
            let most = builder.index(most);
            let high = builder.binary(ops::arith::ADDI, high, most);
            let room = builder.binary(ops::arith::SUBI, end, high);
            let beyond = builder.binary(ops::arith::CEILDIVSI, room, by);
            let size = builder.index(self.size - 1);
            let last = builder.binary(ops::arith::SUBI, beyond, size);
            limits.push([first, last]);
        }
        limits
    }
}

/// The first number from another one on, in steps, that is not less than this one.
fn on_grid<'c>(builder: &mut Builder<'c>, least: Val<'c>, from: Val<'c>, step: Val<'c>) -> Val<'c> {
    let distance = builder.binary(ops::arith::SUBI, least, from);
    let steps = builder.binary(ops::arith::CEILDIVSI, distance, step);
    let distance = builder.binary(ops::arith::MULI, steps, step);
    builder.binary(ops::arith::ADDI, from, distance)
}

fn known_one(bound: Bound) -> bool {
    match bound {
        Bound::Static(number) => number == 1,
        Bound::Dynamic(value) => known(value) == Some(1),
    }
}

/// The size of the tile that begins at an index, and the end of the last one, if that may be less.
fn tile<'c>(index: Val<'c>, upper: Val<'c>) -> Option<(i64, Option<Val<'c>>)> {
    let op = ir::defining_op(upper)?;
    let (a, b) = (ir::operand(op, 0)?, ir::operand(op, 1)?);
    match ir::name_of(op) {
        ops::arith::ADDI if key(a) == key(index) => Some((known(b)?, None)),
        ops::arith::MINSI => match (tile(index, a), tile(index, b)) {
            (Some((size, None)), None) => Some((size, Some(b))),
            (None, Some((size, None))) => Some((size, Some(a))),
            _ => None,
        },
        _ => None,
    }
}
