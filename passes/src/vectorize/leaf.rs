//! The code of a leaf: loops that carry partial results in registers, around a block of points
//! that is unrolled, each of which is a vector.

use std::collections::HashMap;

use mdh_algebra::computation::Combine;
use mdh_dialect::ir::{self, Val};
use mdh_dialect::parts::{BufferPart, CarryPart};

use super::access::Vector;
use super::fold::{Combiner, lane};
use super::lanes::{Lanes, consecutive, element, has_loops, is_vector, lifted, spread};
use crate::builder::{Builder, known};
use crate::lower::access::{read, write};
use crate::lower::fold::{Fold, Partial};
use crate::lower::grid::Grid;
use crate::scheduled::{Form, Scheduled};

/// One level that is unrolled.
struct Unrolled {
    dim: usize,
    count: i64,
    /// Points from one part to the next.
    size: i64,
}

/// A position in the block: for each dimension, points from the block's first one.
type Offsets = Vec<i64>;

/// What is done with a block of a dimension: its first index, how many points it has if it may
/// not be full, and what the loop carries.
type Body<'c, 'b> =
    dyn FnMut(&mut Builder<'c>, Val<'c>, Option<Val<'c>>, &[Val<'c>]) -> Vec<Val<'c>> + 'b;

/// Everything that is known before the code is emitted.
pub struct Leaf<'c, 'p> {
    of: &'p Scheduled<'c>,
    combiner: Combiner<'c, 'p>,
    grids: Vec<Grid<'c>>,
    /// From one point's index to the next one's, by dimension.
    steps: Vec<Val<'c>>,
    /// Dimensions with a loop, outermost first.
    loops: Vec<usize>,
    lanes: Option<(usize, i64)>,
    /// Points of the block, lanes included, by dimension.
    extents: Vec<i64>,
    /// Positions of the block by those of its kept dimensions, in order.
    positions: Vec<Vec<Offsets>>,
    /// Whether lanes and unrolled parts are combined once, after the loops (R1).
    is_late: bool,
}

/// How many points of the block there are, by dimension, where it may not be full.
type Limits<'c> = Vec<Option<Val<'c>>>;

impl<'c, 'p> Leaf<'c, 'p> {
    /// Prepares a leaf before its operation.
    ///
    /// `None` if the points of a dimension do not lie at equal distances.
    pub fn new(builder: &mut Builder<'c>, of: &'p Scheduled<'c>, form: &Form) -> Option<Self> {
        let grids: Vec<Grid> = of
            .parts
            .dims
            .iter()
            .map(|d| Grid::new(builder, d))
            .collect();
        let steps: Option<Vec<Val>> = grids.iter().map(|g| g.stride(builder)).collect();
        let steps = steps?;
        let lanes = form
            .lanes
            .map(|l| (l.level.dimension, of.parts_of(l.level)));
        let unrolled: Vec<Unrolled> = (form.block.iter())
            .map(|l| Unrolled {
                dim: l.level.dimension,
                count: of.parts_of(l.level),
                size: of.points_of(l.level),
            })
            .collect();
        let mut extents = vec![1; grids.len()];
        for (dim, count) in unrolled.iter().map(|u| (u.dim, u.count)).chain(lanes) {
            extents[dim] *= count;
        }
        let combines = |d: usize| of.computation.dimensions[d].combine;
        let mut loops: Vec<usize> = form.loops.iter().map(|l| l.level.dimension).collect();
        for (d, grid) in grids.iter().enumerate() {
            // A dimension that combines may have any number of points: none, too.
            let is_full = known(grid.count) == Some(extents[d]);
            if combines(d) != Combine::Cc && !loops.contains(&d) && !is_full {
                let at = if combines(d).is_ps() { 0 } else { loops.len() };
                loops.insert(at, d);
            }
        }
        let positions = positions(&unrolled, grids.len(), |d| combines(d) == Combine::Cc);
        Some(Leaf {
            combiner: Combiner {
                fold: Fold {
                    op: of.op,
                    computation: &of.computation,
                },
                lanes: lanes.map_or(1, |(_, count)| count),
            },
            grids,
            steps,
            is_late: of.is_late(form),
            loops,
            lanes,
            extents,
            positions,
            of,
        })
    }

    /// Emits it: one version for a full block, and one for the rest where there may be any.
    pub fn emit(&self, builder: &mut Builder<'c>) {
        let kept: Vec<usize> = (0..self.grids.len())
            .filter(|d| self.combine(*d) == Combine::Cc)
            .collect();
        let mut limits: Limits = vec![None; self.grids.len()];
        let (mut full, mut some): (Option<Val>, Option<Val>) = (None, None);
        let mut is_open = false;
        for d in kept {
            let count = self.grids[d].count;
            if known(count) == Some(self.extents[d]) {
                continue;
            }
            limits[d] = Some(count);
            let (extent, zero) = (builder.index(self.extents[d]), builder.index(0));
            is_open |= known(count).is_none();
            let is_full = builder.compare("sge", count, extent);
            let is_some = builder.compare("sgt", count, zero);
            full = Some(full.map_or(is_full, |f| builder.binary("arith.andi", f, is_full)));
            some = Some(some.map_or(is_some, |s| builder.binary("arith.andi", s, is_some)));
        }
        let none: Limits = vec![None; self.grids.len()];
        match (full, some) {
            (Some(full), Some(some)) if is_open => {
                builder.if_else(
                    full,
                    &[],
                    |builder| {
                        self.version(builder, &none);
                        Vec::new()
                    },
                    |builder| {
                        builder.if_then(some, |builder| self.version(builder, &limits));
                        Vec::new()
                    },
                );
            }
            (_, Some(some)) => builder.if_then(some, |builder| self.version(builder, &limits)),
            _ => self.version(builder, &none),
        }
    }

    fn combine(&self, d: usize) -> Combine {
        self.of.computation.dimensions[d].combine
    }

    fn version(&self, builder: &mut Builder<'c>, limits: &Limits<'c>) {
        let mut base: Vec<Val> = self.grids.iter().map(|g| g.lower).collect();
        let mut limits = limits.clone();
        match self.loops.split_first() {
            Some((&d, inner)) if self.combine(d).is_ps() => {
                self.scan(builder, d, inner, &mut base, &mut limits);
            }
            _ => {
                let totals = self.totals(builder, &self.loops, &mut base, &mut limits);
                self.finish(builder, &base, &limits, totals);
            }
        }
    }

    /// A loop over the blocks of a dimension, the last of which may not be full.
    fn blocks(
        &self,
        builder: &mut Builder<'c>,
        d: usize,
        carried: &[Val<'c>],
        body: &mut Body<'c, '_>,
    ) -> Vec<Val<'c>> {
        let grid = &self.grids[d];
        let extent = builder.index(self.extents[d]);
        let rest = builder.binary("arith.remsi", grid.count, extent);
        let whole = builder.binary("arith.subi", grid.count, rest);
        let span = builder.binary("arith.muli", whole, self.steps[d]);
        let end = builder.binary("arith.addi", grid.lower, span);
        let step = builder.binary("arith.muli", extent, self.steps[d]);
        let results = builder.for_loop(
            [grid.lower, end, step],
            carried,
            |builder, index, carried| body(builder, index, None, carried),
        );
        if self.extents[d] == 1 || known(rest) == Some(0) {
            return results;
        }
        let zero = builder.index(0);
        let is_there = builder.compare("sgt", rest, zero);
        let types: Vec<_> = results.iter().map(melior::ir::ValueLike::r#type).collect();
        builder.if_else(
            is_there,
            &types,
            |builder| body(builder, end, Some(rest), &results),
            |_| results.clone(),
        )
    }

    /// The running combination over a `ps` dimension; every block is finished.
    fn scan(
        &self,
        builder: &mut Builder<'c>,
        d: usize,
        inner: &[usize],
        base: &mut Vec<Val<'c>>,
        limits: &mut Limits<'c>,
    ) {
        let across = self.lanes.is_some_and(|(dim, _)| dim == d);
        let has_lanes = self.lanes.is_some() && !across && !self.combines_lanes();
        let nothing = self.combiner.nothing(builder, has_lanes);
        let width = nothing.pack().len();
        let start: Vec<Val> = self.positions.iter().flat_map(|_| nothing.pack()).collect();
        self.blocks(builder, d, &start, &mut |builder, index, rest, carried| {
            base[d] = index;
            limits[d] = rest;
            let tiles = self.totals(builder, inner, base, limits);
            let mut prefixes = Vec::new();
            let mut next = Vec::new();
            for (before, tile) in carried.chunks(width).zip(tiles) {
                let before = nothing.unpack(before);
                let tile = if across {
                    let tile = self.with_lanes(builder, tile);
                    self.combiner.scanned(builder, &tile)
                } else {
                    tile
                };
                let prefix = self.combiner.combine(builder, &before, &tile);
                let last = if across {
                    super::fold::map(&prefix, |v| lane(builder, v, self.combiner.lanes - 1))
                } else {
                    prefix.clone()
                };
                let last = last.kept_valid(&nothing, builder);
                next.extend(self.shaped(builder, last, has_lanes).pack());
                prefixes.push(prefix);
            }
            self.finish(builder, base, limits, prefixes);
            next
        });
        limits[d] = None;
    }

    fn with_lanes(&self, builder: &mut Builder<'c>, tuple: Partial<'c>) -> Partial<'c> {
        super::fold::map(&tuple, |v| spread(builder, v, self.combiner.lanes))
    }

    /// The tuple as a loop carries it.
    fn shaped(
        &self,
        builder: &mut Builder<'c>,
        tuple: Partial<'c>,
        has_lanes: bool,
    ) -> Partial<'c> {
        if has_lanes {
            self.with_lanes(builder, tuple)
        } else {
            tuple
        }
    }

    /// For each kept position of the block, the combination over the loops given and the block's
    /// `pw` dimensions.
    fn totals(
        &self,
        builder: &mut Builder<'c>,
        loops: &[usize],
        base: &mut Vec<Val<'c>>,
        limits: &mut Limits<'c>,
    ) -> Vec<Partial<'c>> {
        if loops.is_empty() {
            let values = self.evaluate(builder, base, limits);
            return values
                .into_iter()
                .map(|v| self.joined(builder, v))
                .collect();
        }
        let across = self.combines_lanes();
        let has_lanes = self.lanes.is_some() && (self.is_late || !across);
        let nothing = self.combiner.nothing(builder, has_lanes);
        let width = nothing.pack().len();
        let many = |n: usize| {
            if self.is_late {
                self.positions[n].len()
            } else {
                1
            }
        };
        let count: usize = (0..self.positions.len()).map(many).sum();
        let start: Vec<Val> = (0..count).flat_map(|_| nothing.pack()).collect();
        let sums = self.sums(builder, loops, base, limits, &start, &nothing);
        let mut sums = sums.chunks(width).map(|packed| nothing.unpack(packed));
        if !self.is_late {
            return sums.collect();
        }
        let mut totals = Vec::new();
        for n in 0..self.positions.len() {
            let group: Vec<Partial> = sums.by_ref().take(many(n)).collect();
            totals.push(self.joined(builder, group));
        }
        totals
    }

    fn sums(
        &self,
        builder: &mut Builder<'c>,
        loops: &[usize],
        base: &mut Vec<Val<'c>>,
        limits: &mut Limits<'c>,
        carried: &[Val<'c>],
        nothing: &Partial<'c>,
    ) -> Vec<Val<'c>> {
        let Some((&d, inner)) = loops.split_first() else {
            let width = nothing.pack().len();
            let mut sums = carried.chunks(width).map(|packed| nothing.unpack(packed));
            let mut next = Vec::new();
            for group in self.evaluate(builder, base, limits) {
                let group = if self.is_late {
                    group
                } else {
                    vec![self.joined(builder, group)]
                };
                for tile in group {
                    let Some(sum) = sums.next() else { break };
                    let sum = self.combiner.combine(builder, &sum, &tile);
                    let has_lanes = nothing.values.iter().any(|v| is_vector(*v));
                    let sum = sum.kept_valid(nothing, builder);
                    next.extend(self.shaped(builder, sum, has_lanes).pack());
                }
            }
            return next;
        };
        let results = self.blocks(builder, d, carried, &mut |builder, index, rest, carried| {
            base[d] = index;
            limits[d] = rest;
            self.sums(builder, inner, base, limits, carried, nothing)
        });
        base[d] = self.grids[d].lower;
        limits[d] = None;
        results
    }

    fn combines_lanes(&self) -> bool {
        self.lanes.is_some_and(|(d, _)| self.combine(d).is_pw())
    }

    /// The unrolled parts of a kept position combined in order, and their lanes.
    fn joined(&self, builder: &mut Builder<'c>, group: Vec<Partial<'c>>) -> Partial<'c> {
        let mut parts = group.into_iter();
        let Some(mut sum) = parts.next() else {
            panic!("a block has at least one position");
        };
        for part in parts {
            sum = self.combiner.combine(builder, &sum, &part);
        }
        if !self.combines_lanes() {
            return sum;
        }
        let sum = self.with_lanes(builder, sum);
        self.combiner.across(builder, &sum)
    }

    /// The values at every position of the block: those of each kept position together.
    fn evaluate(
        &self,
        builder: &mut Builder<'c>,
        base: &[Val<'c>],
        limits: &Limits<'c>,
    ) -> Vec<Vec<Partial<'c>>> {
        let mut loaded = Loaded::new();
        let mut values = Vec::new();
        for group in &self.positions {
            let mut parts = Vec::new();
            for offsets in group {
                parts.push(self.point(builder, base, limits, offsets, &mut loaded));
            }
            values.push(parts);
        }
        values
    }

    /// The scalar function at one position.
    fn point(
        &self,
        builder: &mut Builder<'c>,
        base: &[Val<'c>],
        limits: &Limits<'c>,
        offsets: &[i64],
        loaded: &mut Loaded<'c>,
    ) -> Partial<'c> {
        let first = self.first_lane(builder, base, limits, offsets);
        let vector = self.vector(builder, limits, offsets);
        let mut inputs = Vec::new();
        for (b, buffer) in self.of.parts.inputs.iter().enumerate() {
            for access in 0..buffer.accesses.len() {
                let moves = |d: usize| {
                    buffer.accesses[access]
                        .iter()
                        .any(|e| e.dims().contains(&d))
                };
                let at = (0..offsets.len()).map(|d| if moves(d) { offsets[d] } else { 0 });
                let value =
                    *loaded
                        .entry((b, access, at.collect()))
                        .or_insert_with(|| match &vector {
                            None => read(builder, buffer, access, &first),
                            Some(vector) => vector.read(builder, buffer, access, &first),
                        });
                inputs.push(value);
            }
        }
        let mut point = first;
        if let (Some((d, count)), true) = (self.lanes, self.asks_for_indices()) {
            point[d] = consecutive(builder, point[d], self.steps[d], count);
        }
        let scalar = ir::region(self.of.op, 0);
        let masked = vector.as_ref().filter(|_| has_loops(scalar));
        let code = Lanes {
            count: self.combiner.lanes,
            point: &point,
            present: masked.and_then(|vector| vector.mask(builder)),
            contract: self.of.computation.operators.iter().any(|o| o.is_sum()),
        };
        let values = code.inline(builder, scalar, &inputs);
        Partial {
            values,
            valid: self.is_there(builder, limits, offsets, |d| self.combine(d) != Combine::Cc),
        }
    }

    fn asks_for_indices(&self) -> bool {
        let ops = crate::region::operations_of(ir::region(self.of.op, 0));
        ops.into_iter().any(|op| ir::name_of(op) == "mdh.index")
    }

    /// The indices of a position's first lane; what is not there is read where something is.
    fn first_lane(
        &self,
        builder: &mut Builder<'c>,
        base: &[Val<'c>],
        limits: &Limits<'c>,
        offsets: &[i64],
    ) -> Vec<Val<'c>> {
        let mut point = base.to_vec();
        for d in 0..point.len() {
            let mut offset = builder.index(offsets[d]);
            let has_lanes = self.lanes.is_some_and(|(dim, _)| dim == d);
            if let (Some(limit), false) = (limits[d], has_lanes) {
                let one = builder.index(1);
                let last = builder.binary("arith.subi", limit, one);
                offset = builder.binary("arith.minsi", offset, last);
            }
            let distance = builder.binary("arith.muli", offset, self.steps[d]);
            point[d] = builder.binary("arith.addi", point[d], distance);
        }
        point
    }

    fn vector(
        &self,
        builder: &mut Builder<'c>,
        limits: &Limits<'c>,
        offsets: &[i64],
    ) -> Option<Vector<'c>> {
        let (dim, count) = self.lanes?;
        let limit = limits[dim].map(|limit| {
            let offset = builder.index(offsets[dim]);
            builder.binary("arith.subi", limit, offset)
        });
        Some(Vector {
            dim,
            count,
            step: self.steps[dim],
            limit,
        })
    }

    /// Whether a position has a point, as far as the dimensions that count decide; for each lane
    /// if one of them has lanes.
    fn is_there(
        &self,
        builder: &mut Builder<'c>,
        limits: &Limits<'c>,
        offsets: &[i64],
        counts: impl Fn(usize) -> bool,
    ) -> Option<Val<'c>> {
        let mut there: Option<Val> = None;
        for (d, limit) in limits.iter().enumerate() {
            let Some(limit) = limit else { continue };
            if !counts(d) {
                continue;
            }
            let fits = if self.lanes.is_some_and(|(dim, _)| dim == d) {
                self.vector(builder, limits, offsets)?.mask(builder)?
            } else {
                let offset = builder.index(offsets[d]);
                builder.compare("slt", offset, *limit)
            };
            there = Some(match there {
                None => fits,
                Some(there) => self.both(builder, there, fits),
            });
        }
        there
    }

    fn both(&self, builder: &mut Builder<'c>, a: Val<'c>, b: Val<'c>) -> Val<'c> {
        let ty = element(a);
        lifted(
            builder,
            "arith.andi",
            &[a, b],
            &[ty],
            &[],
            self.combiner.lanes,
        )[0]
    }

    /// Applies the carries, innermost first, and stores the results of a block.
    fn finish(
        &self,
        builder: &mut Builder<'c>,
        base: &[Val<'c>],
        limits: &Limits<'c>,
        totals: Vec<Partial<'c>>,
    ) {
        for (group, tile) in self.positions.iter().zip(totals) {
            let offsets = &group[0];
            let point = self.first_lane(builder, base, limits, offsets);
            let vector = self.vector(builder, limits, offsets);
            let vector = vector.filter(|_| !self.combines_lanes());
            // Single positions are guarded as a whole, lanes are masked.
            let has_lanes = |d: usize| self.lanes.is_some_and(|(dim, _)| dim == d);
            let is_guarded = |d: usize| !self.combine(d).is_pw() && !has_lanes(d);
            let guard = self.is_there(builder, limits, offsets, is_guarded);
            let body = |builder: &mut Builder<'c>| {
                let mut total = tile.clone();
                for carry in self.of.parts.carries.iter().rev() {
                    total = self.carried(builder, carry, vector.as_ref(), &point, &total);
                    self.hand_on(builder, carry, vector.as_ref(), &point, &total);
                }
                for buffer in &self.of.parts.outputs {
                    for (access, component) in buffer.components.iter().enumerate() {
                        let value = total.values[*component];
                        store(
                            builder,
                            buffer,
                            access,
                            value,
                            vector.as_ref(),
                            &point,
                            total.valid,
                        );
                    }
                }
            };
            match guard {
                None => body(builder),
                Some(guard) => builder.if_then(guard, body),
            }
        }
    }

    /// `f(carry, total)`.
    fn carried(
        &self,
        builder: &mut Builder<'c>,
        carry: &CarryPart<'c>,
        vector: Option<&Vector<'c>>,
        point: &[Val<'c>],
        total: &Partial<'c>,
    ) -> Partial<'c> {
        let mut values = Vec::new();
        for buffer in &carry.incoming {
            values.push(match vector {
                None => read(builder, buffer, 0, point),
                Some(vector) => vector.read(builder, buffer, 0, point),
            });
        }
        let incoming = Partial {
            values,
            valid: carry.valid,
        };
        self.combiner.combine(builder, &incoming, total)
    }

    /// Stores the carry of the next tile: at the last point of a `ps` dimension.
    fn hand_on(
        &self,
        builder: &mut Builder<'c>,
        carry: &CarryPart<'c>,
        vector: Option<&Vector<'c>>,
        point: &[Val<'c>],
        total: &Partial<'c>,
    ) {
        if carry.outgoing.is_empty() {
            return;
        }
        let pairs = || carry.outgoing.iter().zip(&total.values);
        if !self.combine(carry.dim).is_ps() {
            for (buffer, value) in pairs() {
                store(builder, buffer, 0, *value, vector, point, total.valid);
            }
            return;
        }
        let one = builder.index(1);
        let last = builder.binary("arith.subi", self.grids[carry.dim].count, one);
        let last = self.grids[carry.dim].point(builder, last);
        let Some(vector) = vector.filter(|v| v.dim == carry.dim) else {
            let is_last = builder.compare("eq", point[carry.dim], last);
            return builder.if_then(is_last, |builder| {
                for (buffer, value) in pairs() {
                    store(builder, buffer, 0, *value, vector, point, total.valid);
                }
            });
        };
        for n in 0..vector.count {
            let number = builder.index(n);
            let distance = builder.binary("arith.muli", number, vector.step);
            let index = builder.binary("arith.addi", point[carry.dim], distance);
            let is_last = builder.compare("eq", index, last);
            builder.if_then(is_last, |builder| {
                for (buffer, value) in pairs() {
                    let value = lane(builder, *value, n);
                    let valid = total.valid.map(|v| lane(builder, v, n));
                    store(builder, buffer, 0, value, None, point, valid);
                }
            });
        }
    }
}

/// What has been read already in a block: by buffer, access and offsets.
type Loaded<'c> = HashMap<(usize, usize, Offsets), Val<'c>>;

fn store<'c>(
    builder: &mut Builder<'c>,
    buffer: &BufferPart<'c>,
    access: usize,
    value: Val<'c>,
    vector: Option<&Vector<'c>>,
    point: &[Val<'c>],
    valid: Option<Val<'c>>,
) {
    match (vector, valid) {
        (Some(vector), _) => vector.write(builder, buffer, access, value, point, valid),
        (None, None) => write(builder, buffer, access, value, point),
        (None, Some(valid)) => {
            builder.if_then(valid, |builder| {
                write(builder, buffer, access, value, point)
            });
        }
    }
}

/// The positions of a block, in the order of its levels: grouped by those of the dimensions that
/// are kept.
fn positions(
    unrolled: &[Unrolled],
    rank: usize,
    is_kept: impl Fn(usize) -> bool,
) -> Vec<Vec<Offsets>> {
    let expand = |all: Vec<Offsets>, kept: bool| {
        let levels = unrolled.iter().filter(|u| is_kept(u.dim) == kept);
        levels.fold(all, |all, level| {
            let each = |offsets: &Offsets| -> Vec<Offsets> {
                let part = |n: i64| {
                    let mut offsets = offsets.clone();
                    offsets[level.dim] += n * level.size;
                    offsets
                };
                (0..level.count).map(part).collect()
            };
            all.iter().flat_map(each).collect()
        })
    };
    let kept = expand(vec![vec![0; rank]], true);
    kept.into_iter().map(|at| expand(vec![at], false)).collect()
}
