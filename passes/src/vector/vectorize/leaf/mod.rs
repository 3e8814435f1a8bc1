//! The code of a leaf: loops that carry partial results in registers, around a block of points
//! that is unrolled, each of which is a vector.

mod finish;
mod group;
mod loops;
pub mod matrix;
mod points;
mod transpose;

use mdh_algebra::computation::Combine;
use mdh_dialect::ir::Val;
use mdh_dialect::ops;
use mdh_schedule::TailCode;

use super::dot::Factor;
use super::fold::Combiner;
use crate::llvm::lower_to_loops::carry;
use crate::llvm::lower_to_loops::fold::Fold;
use crate::llvm::lower_to_loops::grid::Grid;
use crate::support::builder::{Builder, known};
use crate::support::kernels::matrix::Dimensions;
use crate::support::scheduled::{RegisterTile, Scheduled};
use group::Group;
use matrix::Matrix;

/// One level that is unrolled.
struct Unrolled {
    dim: usize,
    count: i64,
    /// Points from one part to the next.
    size: i64,
}

/// A position in the block: for each dimension, points from the block's first one.
type Offsets = Vec<i64>;

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
    /// Points that an instruction combines in each lane.
    group: Option<Group>,
    /// Tile of a warp-level MMA.
    matrix: Option<Matrix<'c>>,
    /// Points of the block, lanes included, by dimension.
    extents: Vec<i64>,
    /// Positions of the block by those of its kept dimensions, in order.
    positions: Vec<Vec<Offsets>>,
    /// True if lanes and unrolled parts are combined once, after the loops (R1).
    is_deferred: bool,
}

/// Number of the block's points, by dimension, where it may not be full.
type Limits<'c> = Vec<Option<Val<'c>>>;

impl<'c, 'p> Leaf<'c, 'p> {
    /// Prepares a leaf before its operation.
    ///
    /// `None` if the points of a dimension do not lie at equal distances.
    pub fn new(
        builder: &mut Builder<'c>,
        of: &'p Scheduled<'c>,
        form: &RegisterTile,
        features: &[&str],
        product: Option<([Factor; 2], Dimensions)>,
    ) -> Option<Self> {
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
        let unrolled: Vec<Unrolled> = (form.block.iter().chain(&form.group))
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
        let loops = loops(of, form, &grids, &extents, lanes);
        let positions = positions(&unrolled, grids.len(), |d| combines(d) == Combine::Cc);
        let mut leaf = Leaf {
            combiner: Combiner {
                fold: Fold {
                    op: of.op,
                    computation: &of.computation,
                },
                lanes: lanes.map_or(1, |(_, count)| count),
            },
            grids,
            steps,
            is_deferred: of.is_deferred(form),
            loops,
            lanes,
            extents,
            group: None,
            matrix: None,
            positions,
            of,
        };
        leaf.group = leaf.group_of(form, features);
        leaf.matrix = product.and_then(|product| leaf.matrix_of(builder, form, product));
        Some(leaf)
    }

    /// Emits it: one version for a full block, and one for the rest where there may be any. At borders,
    /// which few tiles touch, lanes are masked in both.
    pub fn emit(&self, builder: &mut Builder<'c>) {
        let kept_dims: Vec<usize> = (0..self.grids.len()).filter(|d| self.is_kept(*d)).collect();
        let mut limits: Limits = vec![None; self.grids.len()];
        let (mut full, mut some): (Option<Val>, Option<Val>) = (None, None);
        let mut is_open = false;
        // A full block's code masks no more than what the schedule says, and lanes of which padding masks some anyway.
        let mut inputs = self.of.parts.inputs.iter();
        let border = inputs.find(|input| input.pad.is_some());
        let border = border.and(self.lanes).map(|(d, _)| d);
        let mut masked: Limits = vec![None; self.grids.len()];
        for d in kept_dims {
            let count = self.grids[d].count;
            if known(count) == Some(self.extents[d]) {
                continue;
            }
            limits[d] = Some(count);
            let (extent, zero) = (builder.index(self.extents[d]), builder.index(0));
            let is_some = builder.compare("sgt", count, zero);
            let name = &self.of.resolved.dimensions[d];
            let is_masked = self.of.schedule.tails.get(name) == Some(&TailCode::Mask);
            let is_full = if is_masked || border == Some(d) {
                masked[d] = Some(count);
                is_some
            } else {
                is_open |= known(count).is_none();
                builder.compare("sge", count, extent)
            };
            full = Some(full.map_or(is_full, |f| builder.binary(ops::arith::ANDI, f, is_full)));
            some = Some(some.map_or(is_some, |s| builder.binary(ops::arith::ANDI, s, is_some)));
        }
        match (full, some) {
            // All lanes of the warp come.
            _ if self.matrix.is_some() => self.version(builder, &limits),
            (Some(full), Some(some)) if is_open => {
                builder.if_else(
                    full,
                    &[],
                    |builder| {
                        self.version(builder, &masked);
                        Vec::new()
                    },
                    |builder| {
                        builder.if_then(some, |builder| self.version(builder, &limits));
                        Vec::new()
                    },
                );
            }
            (_, Some(some)) => builder.if_then(some, |builder| self.version(builder, &limits)),
            _ => self.version(builder, &masked),
        }
        for carry in &self.of.parts.carries {
            carry::pass_on(builder, &self.combiner.fold, &self.grids, carry);
        }
    }

    fn combine(&self, d: usize) -> Combine {
        self.of.computation.dimensions[d].combine
    }

    /// Returns whether a dimension's points have results of their own: in `cc` dimensions, and in `ps`
    /// ones of which a leaf has one point at most.
    fn is_kept(&self, d: usize) -> bool {
        !self.combine(d).is_pw() && !self.loops.contains(&d) || self.combine(d) == Combine::Cc
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

    fn combines_lanes(&self) -> bool {
        self.lanes.is_some_and(|(d, _)| self.combine(d).is_pw())
    }
}

/// The dimensions with a loop, outermost first: those of the form, and others whose points are
/// scanned along the lanes, or combined and more or fewer than those of the block.
fn loops(
    of: &Scheduled,
    form: &RegisterTile,
    grids: &[Grid],
    extents: &[i64],
    lanes: Option<(usize, i64)>,
) -> Vec<usize> {
    let mut loops: Vec<usize> = form.loops.iter().map(|l| l.level.dimension).collect();
    for (d, grid) in grids.iter().enumerate() {
        let combine = of.computation.dimensions[d].combine;
        // A dimension that combines may have any number of points: none, too.
        let is_full = known(grid.count) == Some(extents[d]);
        let is_scanned = combine.is_ps() && lanes.is_some_and(|(dim, _)| dim == d);
        if is_scanned && !loops.contains(&d) {
            loops.insert(0, d);
        } else if combine.is_pw() && !loops.contains(&d) && !is_full {
            loops.push(d);
        }
    }
    loops
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
            let parts_of = |offsets: &Offsets| -> Vec<Offsets> {
                let part = |n: i64| {
                    let mut offsets = offsets.clone();
                    offsets[level.dim] += n * level.size;
                    offsets
                };
                (0..level.count).map(part).collect()
            };
            all.iter().flat_map(parts_of).collect()
        })
    };
    let kept_offsets = expand(vec![vec![0; rank]], true);
    kept_offsets
        .into_iter()
        .map(|at| expand(vec![at], false))
        .collect()
}
