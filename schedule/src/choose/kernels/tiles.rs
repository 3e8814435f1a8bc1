//! The shape *tiles*: a block copies tiles of two inputs to shared memory, and each of its threads
//! keeps the results of a few points in registers.

use std::collections::BTreeMap;

use super::draft::{Draft, all, fixed};
use super::{BLOCKS, Model, QUAD, REUSE};
use crate::choose::views::{View, view_moves};
use crate::numbers::Parts;
use crate::numbers::ceil_div;
use crate::staged_layout::Step;

/// The fewest steps of a block's part of a sum: what others do of it takes longer than another kernel.
const STEPS: i64 = 16;

/// Dimensions of the tiles of a block.
#[derive(Clone, Copy)]
struct TileDimensions {
    /// The first kept dimension, along which threads are neighbours.
    x: usize,
    /// The other kept dimension.
    y: usize,
    /// The sum that is cut into the parts that are copied at a time.
    cut: usize,
}

/// Sizes of the tiles of a block, in points.
#[derive(Clone, Copy)]
struct TileSizes {
    /// Threads along `x` and `y`.
    threads: [i64; 2],
    /// Points of each of them there.
    points: [i64; 2],
    /// Points of the sum that a thread reads at once.
    quad: i64,
    /// The number of these in a tile.
    depth: i64,
}

impl Model<'_> {
    /// The same where there are few blocks: several share a long sum.
    pub(super) fn shared_sums(&self) -> Option<Draft> {
        let mut draft = self.tiles()?;
        let parts = |d: usize| {
            let is_inner = |layer: &str| !matches!(layer, "device" | "block");
            let inner = draft.layers.iter().filter(|(layer, _)| is_inner(layer));
            let counts = inner
                .flat_map(|(_, parts)| parts)
                .filter(|(of, _)| *of == d);
            let counts = counts.map(|(_, parts)| match parts {
                Parts::Fixed(n) => *n,
                Parts::Derived => 1,
            });
            counts.product::<i64>()
        };
        let (_, cut) = draft.stage_at?;
        let along = self.kept.iter().map(|d| ceil_div(self.size(*d), parts(*d)));
        let blocks = along.fold(1, i64::saturating_mul);
        let steps = ceil_div(self.size(cut), parts(cut));
        let split = (BLOCKS / blocks).min(steps / STEPS);
        if split < 2 {
            return None;
        }
        let split = 1 << split.ilog2();
        let block = draft
            .layers
            .iter_mut()
            .find(|(layer, _)| *layer == "block")?;
        block.1.push((cut, Parts::Fixed(split)));
        let inside = draft
            .order
            .iter()
            .position(|(layer, _)| *layer != "block")?;
        draft.order.insert(inside, ("block", cut));
        draft.reason += &format!(", and {split} blocks share a sum");
        Some(draft)
    }

    /// A block copies tiles of two inputs to shared memory; `None` where there are no two, or tiles are too small.
    pub(super) fn tiles(&self) -> Option<Draft> {
        if self.sums.is_empty() || !self.scans.is_empty() || self.kept.len() < 2 {
            return None;
        }
        let dims = self.tile_dimensions()?;
        let sizes = self.tile_sizes(dims)?;
        let TileDimensions { x, y, cut } = dims;
        let (threads, points) = (sizes.threads, sizes.points);
        // Long sums are cut outermost, short ones are inside of them.
        let mut outer = self.sums.clone();
        outer.sort_by_key(|k| *k == cut);
        let mut order = all("block", &self.kept);
        order.extend([("thread", y), ("thread", x)]);
        let first = order.len();
        order.extend(all("device", &outer));
        let sum_at = order.get(first).copied();
        order.push(("shared", cut));
        order.extend([("register", y), ("register", x), ("register", cut)]);
        Some(Draft {
            layers: vec![
                ("device", self.derived(&self.sums)),
                ("block", self.blocks()),
                ("shared", fixed(&[(cut, sizes.depth)])),
                ("thread", fixed(&[(x, threads[0]), (y, threads[1])])),
                (
                    "register",
                    fixed(&[(y, points[1]), (x, points[0]), (cut, sizes.quad)]),
                ),
            ],
            order,
            sum_at,
            staged: self.staged_tiles(dims)?,
            stage_at: Some(("shared", cut)),
            axes: vec![x, y],
            reason: self.reason_of_tiles(dims, sizes),
            ..Draft::default()
        })
    }

    /// Returns the dimensions of tiles, if each of two inputs moves along one of two kept dimensions that the
    /// other does not move along, and both along a sum.
    fn tile_dimensions(&self) -> Option<TileDimensions> {
        let x = self.kept[0];
        let along = |d: usize, not: usize| {
            let mut inputs = self.copied();
            inputs.find(|view| view_moves(view, d) && !view_moves(view, not))
        };
        // The other dimension of a tile is one of many points, along which other inputs move.
        let can = |y: &&usize| {
            **y != x
                && self.size(**y) >= REUSE
                && along(x, **y).is_some()
                && along(**y, x).is_some()
        };
        let y = *self
            .kept
            .iter()
            .filter(can)
            .max_by_key(|y| self.size(**y))?;
        if self.size(x) < REUSE {
            return None;
        }
        let (of_x, of_y) = (along(x, y)?, along(y, x)?);
        // What is cut into parts is what both depend on.
        let both = |k: &&usize| view_moves(of_x, **k) && view_moves(of_y, **k);
        let cut = *self
            .sums
            .iter()
            .filter(both)
            .max_by_key(|k| self.size(**k))?;
        Some(TileDimensions { x, y, cut })
    }

    /// Returns the sizes of tiles; `None` where sums or tiles are so small that they are not worth a copy.
    fn tile_sizes(&self, dims: TileDimensions) -> Option<TileSizes> {
        let TileDimensions { x, y, cut } = dims;
        let mut threads = [self.at_most(x, 16), self.at_most(y, 16)];
        let register = |d: usize, threads: i64, most: i64| {
            self.at_most(d, threads * most).div_euclid(threads).max(1)
        };
        let mut points = [register(x, threads[0], 4), register(y, threads[1], 8)];
        let is_rest = |d: &usize| *d != x && *d != y;
        let rest: Vec<usize> = self.kept.iter().copied().filter(is_rest).collect();
        // Few large blocks leave a device idle, and many threads hide what smaller tiles wait for.
        let blocks = |threads: [i64; 2], points: [i64; 2]| {
            let along = |n: usize, d: usize| ceil_div(self.size(d), threads[n] * points[n]);
            along(0, x)
                .saturating_mul(along(1, y))
                .saturating_mul(self.points_of(&rest))
        };
        while blocks(threads, points) < BLOCKS && points[0] * points[1] > 4 {
            let n = usize::from(points[1] > points[0] || points[0] == 1);
            points[n] /= 2;
        }
        while threads[0] * threads[1] < 64 && points[0] * points[1] > 4 {
            let n = usize::from(self.size(y) > threads[1] * points[1] || points[0] == 1);
            if points[n] == 1 {
                break;
            }
            (threads[n], points[n]) = (threads[n] * 2, points[n] / 2);
        }
        // In registers: what lies in a row of an input that is read along what is cut.
        let most = self.at_most(cut, 4 * QUAD);
        let quad = if most >= 2 * QUAD { QUAD } else { 1 };
        let depth = most / quad;
        let is_small = depth < 2 || points[0] * points[1] * quad == 1;
        (!is_small).then_some(TileSizes {
            threads,
            points,
            quad,
            depth,
        })
    }

    /// Returns the inputs of which a thread reads several points at once, with the layouts of their tiles in
    /// shared memory; `None` if there are not two.
    fn staged_tiles(&self, dims: TileDimensions) -> Option<BTreeMap<usize, Vec<Step>>> {
        let TileDimensions { x, y, cut } = dims;
        let mut staged = BTreeMap::new();
        for view in self.copied() {
            let along = match (view_moves(view, x), view_moves(view, y)) {
                (true, false) => x,
                (false, true) => y,
                _ => continue,
            };
            if view_moves(view, cut) {
                staged.insert(view.buffer, self.in_rows(view, [along, cut]));
            }
        }
        (staged.len() >= 2).then_some(staged)
    }

    fn reason_of_tiles(&self, dims: TileDimensions, sizes: TileSizes) -> String {
        let TileSizes {
            threads, points, ..
        } = sizes;
        format!(
            "blocks of {} x {} points of '{}' and '{}' read {} points of '{}' at a time \
             from shared memory, each thread has {} x {} results in registers",
            threads[1] * points[1],
            threads[0] * points[0],
            self.name(dims.y),
            self.name(dims.x),
            sizes.depth * sizes.quad,
            self.name(dims.cut),
            points[1],
            points[0]
        )
    }

    /// Layout of a tile in shared memory: the last axis is one along which a thread reads several
    /// points, as it is in the buffer if that can be. Rows that neighbouring threads read are a few
    /// banks apart.
    fn in_rows(&self, view: &View, [kept, cut]: [usize; 2]) -> Vec<Step> {
        let axes = view.axes.as_deref().unwrap_or_default();
        let Some(last) = axes.last() else {
            return Vec::new();
        };
        if last.coefficients[kept] != 0 {
            return Vec::new();
        }
        let mut pads = vec![0; axes.len()];
        pads[axes.len() - 1] = QUAD;
        let padded = Step::Padded(pads);
        let axis = axes.iter().rposition(|form| form.coefficients[kept] != 0);
        match axis {
            Some(axis) if last.coefficients[cut] == 0 => {
                let mut order: Vec<usize> = (1..=axes.len()).filter(|a| *a != axis + 1).collect();
                order.push(axis + 1);
                vec![Step::Permuted(order), padded]
            }
            _ => vec![padded],
        }
    }
}
