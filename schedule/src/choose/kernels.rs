//! Schedules of kernels: the points of a block of threads and of each thread, and the data that
//! threads share.
//!
//! The model knows a few shapes of kernels. From the maps alone it follows which of them a
//! computation can have, and the first that keeps every constraint of the machine is taken:
//! 1. *tiles*: where two inputs are read often, along different kept dimensions, a block copies
//!    tiles of them to shared memory, and each thread keeps its results in registers; where these are few blocks,
//!    several share the sums (*shared sums*), and another kernel combines what they have;
//! 2. *transposed*: what is read along another dimension than it is written along goes through
//!    shared memory, so that neighbouring threads access neighbours on both sides;
//! 3. *neighbours*: what several points of a tile read is copied to shared memory once;
//! 4. *rows*: where neighbours in memory are combined, neighbouring threads of a warp read them, and
//!    combine what they have in registers;
//! 5. *parts*: where an operator that is not commutative combines many neighbours of few rows, neighbouring threads
//!    have parts that follow each other, and what they have is combined in that order;
//! 6. *points*: each thread has its results;
//! 7. *one thread* does everything.
//!
//! Where the points of a dimension come in groups with gaps between them, only the last two are
//! possible, and the threads of a block have whole groups, or parts of one.
//!
//! The thread in axis `x` goes along the kept dimension that the most accesses follow in memory
//! (gpu index mappings, section 2: neighbouring threads access neighbours).

mod draft;
pub mod space;
mod tiles;

use std::collections::{BTreeMap, BTreeSet};

use super::choice::Choice;
use super::strided;
use super::views::{Motion, View, Views, view_moves};
use crate::asm::Asm;
use crate::asm::facts::WARP;
use crate::numbers::Parts;
use crate::staged_layout::Step;
use draft::{Draft, all, fixed};
use mdh_algebra::affine::Linear;
use mdh_algebra::computation::{Combine, Computation};
use mdh_algebra::operator::Operator;

/// Threads of a block, eight warps, if nothing else limits them.
const THREADS: i64 = 256;
/// So many threads keep a device busy.
const MANY: i64 = 1 << 14;
/// So many blocks do.
const BLOCKS: i64 = 128;
/// A copy to shared memory pays if each element of it is read that often by a tile.
const REUSE: i64 = 4;
/// A combined dimension of at most so many points is a part of each tile.
const SHORT: i64 = 16;
/// Points of a combined dimension that a thread has, where threads combine parts in order.
const EACH: i64 = 16;
/// Elements that threads access at once, where they lie in a row.
const QUAD: i64 = 4;

/// Chooses a schedule for a machine with blocks and threads; `None` where a dimension has no
/// points, and where it is not known how many of them come together.
pub fn choose(computation: &Computation, asm: &Asm) -> Option<Choice> {
    if !strided::all_have_parts(computation) {
        return None;
    }
    let shapes = match strided::has_gaps(computation) {
        true => &Model::SHAPES[Model::SHAPES.len() - 2..],
        false => &Model::SHAPES[..],
    };
    let views = Views::new(computation);
    let model = Model::new(computation, asm, &views);
    let mut reasons: Vec<String> = views.assumed().into_iter().collect();
    for (name, shape) in shapes {
        let Some(draft) = shape(&model) else {
            continue;
        };
        let reason = format!("{name}: {}", draft.reason);
        let schedule = draft.finish(&model);
        let objections = super::choice::objections(&schedule, computation, asm);
        if objections.is_empty() {
            reasons.push(reason);
            return Some(Choice {
                schedule,
                is_transposed: false,
                reasons,
            });
        }
        reasons.extend(objections.iter().map(|why| format!("not {name}: {why}")));
    }
    None
}

/// Input of the kernel shapes.
struct Model<'m> {
    computation: &'m Computation,
    asm: &'m Asm,
    views: &'m Views,
    /// Kept dimensions: the one whose neighbours are neighbours in memory first.
    kept: Vec<usize>,
    sums: Vec<usize>,
    scans: Vec<usize>,
    /// The most threads of a block.
    threads: i64,
}

/// Points of a sum that threads of one or several warps combine.
struct Row {
    /// The sum.
    sum: usize,
    /// The number of warps.
    width: i64,
    /// True if the sum, the whole result, is cut for blocks.
    is_cut: bool,
}

/// Maker of one kernel shape.
type Shape = fn(&Model) -> Option<Draft>;

impl<'m> Model<'m> {
    const SHAPES: [(&'static str, Shape); 8] = [
        ("shared sums", |model| model.shared_sums()),
        ("tiles", |model| model.tiles()),
        ("transposed", |model| model.transposed()),
        ("neighbours", |model| model.neighbours()),
        ("rows", |model| model.rows()),
        ("parts", |model| model.parts()),
        ("points", |model| model.points()),
        ("one thread", |model| model.one_thread()),
    ];

    fn new(computation: &'m Computation, asm: &'m Asm, views: &'m Views) -> Model<'m> {
        let mut kept_dims = views.dims(|c| c == Combine::Cc);
        // Along the first one accesses go through memory one by one, results before all.
        let follows = |d: usize| -> i64 {
            let weight = |view: &View| match (views.motion(view, d), view.is_output) {
                (Motion::Next, true) => 8,
                (Motion::Next, false) => 2,
                (Motion::Still, false) => 1,
                _ => 0,
            };
            views.all.iter().map(weight).sum()
        };
        kept_dims.sort_by_key(|d| (views.size(*d) < 2, -follows(*d)));
        let limits = asm.limits.iter().filter(|limit| {
            let is_thread = |layer: &String| layer == "thread";
            limit.layers.iter().any(is_thread)
        });
        let limit = limits.map(|limit| limit.at_most).min();
        Model {
            computation,
            asm,
            views,
            kept: kept_dims,
            sums: views.dims(Combine::is_pw),
            scans: views.dims(Combine::is_ps),
            threads: limit.map_or(THREADS, |most| THREADS.min(most as i64)),
        }
    }

    fn size(&self, d: usize) -> i64 {
        self.views.size(d).max(1)
    }

    fn points_of(&self, dims: &[usize]) -> i64 {
        let sizes = dims.iter().map(|d| self.size(*d));
        sizes.fold(1, i64::saturating_mul)
    }

    /// No more parts than points, but a power of two.
    fn at_most(&self, d: usize, parts: i64) -> i64 {
        let size = self.size(d).min(parts) as u64;
        size.next_power_of_two() as i64
    }

    fn name(&self, d: usize) -> &str {
        &self.views.names[d]
    }

    /// The inputs' only accesses, which can be copied.
    fn copied(&self) -> impl Iterator<Item = &View> {
        let can = |view: &&View| !view.is_output && view.axes.is_some();
        self.views.all.iter().filter(can).filter(|v| v.is_alone)
    }

    /// Kept dimensions are blocks.
    fn blocks(&self) -> Vec<(usize, Parts)> {
        self.kept.iter().map(|d| (*d, Parts::Derived)).collect()
    }

    fn transposed(&self) -> Option<Draft> {
        if !self.sums.is_empty() || !self.scans.is_empty() || self.kept.len() < 2 {
            return None;
        }
        let x = self.kept[0];
        let reads = |w: usize| {
            let mut inputs = self.copied();
            inputs.find(|view| self.views.motion(view, w) == Motion::Next && view_moves(view, x))
        };
        let w = *self.kept[1..].iter().find(|w| reads(**w).is_some())?;
        if self.size(x) < WARP / 2 || self.size(w) < WARP / 2 {
            return None;
        }
        let view = reads(w)?;
        let rank = view.axes.as_ref()?.len();
        let mut pads = vec![0; rank];
        pads[rank - 1] = 1;
        let rows = (self.threads / WARP).clamp(1, WARP);
        Some(Draft {
            layers: vec![
                ("block", self.blocks()),
                ("thread", fixed(&[(x, WARP), (w, rows)])),
                ("register", fixed(&[(w, WARP / rows)])),
            ],
            order: [
                all("block", &self.kept),
                vec![("thread", w), ("thread", x), ("register", w)],
            ]
            .concat(),
            staged: BTreeMap::from([(view.buffer, vec![Step::Padded(pads)])]),
            stage_at: Some(("thread", w)),
            axes: vec![x, w],
            reason: format!(
                "'{}' is read along '{}' and what it gives is written along '{}': tiles of {WARP} \
                 x {WARP} go through shared memory",
                self.computation.inputs[view.buffer].name,
                self.name(w),
                self.name(x)
            ),
            ..Draft::default()
        })
    }

    fn neighbours(&self) -> Option<Draft> {
        let x = *self.kept.first()?;
        let y = self.kept.get(1).copied();
        let is_short = |d: &usize| self.views.points[*d].is_some_and(|n| n <= SHORT);
        if !self.scans.is_empty() || !self.sums.iter().all(is_short) {
            return None;
        }
        let inputs = 0..self.computation.inputs.len();
        let staged: BTreeSet<usize> = inputs.filter(|n| self.is_shared(*n, x)).collect();
        if staged.is_empty() || self.size(x) < WARP {
            return None;
        }
        let rows = self.threads / WARP;
        let (threads, each) = match y {
            Some(y) => (
                vec![(x, WARP), (y, self.at_most(y, rows))],
                vec![(y, self.at_most(y, 4 * rows) / self.at_most(y, rows))],
            ),
            None => (vec![(x, self.at_most(x, self.threads))], vec![]),
        };
        let outer: Vec<(&str, usize)> = threads.iter().rev().map(|(d, _)| ("thread", *d)).collect();
        let inner = each.iter().map(|(d, _)| ("register", *d));
        let sums = all("device", &self.sums);
        let names: Vec<String> = (staged.iter())
            .map(|n| format!("'{}'", self.computation.inputs[*n].name))
            .collect();
        Some(Draft {
            layers: vec![
                ("device", self.derived(&self.sums)),
                ("block", self.blocks()),
                ("thread", fixed(&threads)),
                ("register", fixed(&each)),
            ],
            order: (all("block", &self.kept).into_iter())
                .chain(outer.iter().copied())
                .chain(sums.iter().copied())
                .chain(inner)
                .collect(),
            staged: staged.into_iter().map(|n| (n, Vec::new())).collect(),
            stage_at: outer.first().copied(),
            sum_at: sums.first().copied(),
            axes: threads.iter().map(|(d, _)| *d).collect(),
            reason: format!(
                "what several points of a block read of {} is copied to shared memory",
                names.join(", ")
            ),
            ..Draft::default()
        })
    }

    /// Returns whether points next to each other read the same elements of an input.
    fn is_shared(&self, input: usize, x: usize) -> bool {
        let is_read = |view: &&View| !view.is_output && view.buffer == input;
        let views: Vec<&View> = self.views.all.iter().filter(is_read).collect();
        if !views.iter().all(|view| view.axes.is_some()) {
            return false;
        }
        let follows = |view: &&View| self.views.motion(view, x) == Motion::Next;
        if !views.iter().all(follows) {
            return false;
        }
        // Several accesses, or one that sums pass along an axis which kept dimensions pass, too.
        let passes = |view: &View| {
            let mut forms = view.axes.iter().flatten();
            let both =
                |dims: &[usize], form: &Linear| dims.iter().any(|d| form.coefficients[*d] != 0);
            forms.any(|form| both(&self.kept, form) && both(&self.sums, form))
        };
        views.len() as i64 >= REUSE - 1 || views.iter().any(|view| passes(view))
    }

    /// The number of accesses to inputs that go through memory one by one along a dimension.
    fn follows(&self, d: usize) -> usize {
        let inputs = self.views.all.iter().filter(|view| !view.is_output);
        let next = inputs.filter(|view| self.views.motion(view, d) == Motion::Next);
        next.count()
    }

    /// The sum that the threads of a warp can share best.
    fn row(&self) -> Option<usize> {
        let best = self.sums.iter().copied();
        let best = best.max_by_key(|d| (self.follows(*d), self.size(*d)))?;
        (self.scans.is_empty() && self.size(best) >= WARP).then_some(best)
    }

    /// Returns whether threads may exchange what they have: they exchange what lies between points, too,
    /// which nobody has written, and an operator whose code is not known here may divide by it.
    fn exchanges(&self) -> bool {
        let is_apart = |d: &usize| {
            let dimension = &self.computation.dimensions[*d];
            (dimension.step, dimension.width) != (Some(1), Some(1))
        };
        let is_user = matches!(self.computation.operator(), Some(Operator::User(_)));
        !(is_user && self.kept.iter().any(is_apart))
    }

    /// Neighbouring threads have neighbours of what is combined.
    fn rows(&self) -> Option<Draft> {
        // A row is a warp's, or where there are few of them a block's.
        let Row { sum, width, is_cut } = self.row_of_warps()?;
        let most = (self.threads / WARP).max(1);
        let rows = self
            .kept
            .first()
            .map(|y| (*y, self.at_most(*y, most / width)));
        let mut warps: Vec<(usize, i64)> = rows.into_iter().collect();
        warps.push((sum, width));
        warps.retain(|(_, n)| *n > 1);
        let rest: Vec<usize> = self.sums.iter().copied().filter(|d| *d != sum).collect();
        let (mut blocks, mut device) = (self.blocks(), self.derived(&rest));
        let mut order = all("block", &self.kept);
        let (outer, cut) = match is_cut {
            true => ("register", vec![(sum, Parts::Fixed(8))]),
            false => ("device", vec![]),
        };
        if is_cut {
            blocks.push((sum, Parts::Derived));
            order.push(("block", sum));
        } else {
            device.push((sum, Parts::Derived));
        }
        order.extend(warps.iter().map(|(d, _)| ("warp", *d)));
        let first = order.len();
        order.extend(all("device", &rest));
        order.push((outer, sum));
        let mut deferred = order[..first].to_vec();
        deferred.push(("thread", sum));
        deferred.extend(&order[first..]);
        order.push(("thread", sum));
        let among = match width {
            1 => String::new(),
            _ => format!(", and {width} warps in shared memory"),
        };
        Some(Draft {
            layers: vec![
                ("block", blocks),
                ("warp", fixed(&warps)),
                ("device", device),
                ("register", cut),
                ("thread", fixed(&[(sum, WARP)])),
            ],
            order,
            deferred: Some(deferred),
            shared_at: (width > 1).then_some(("warp", sum)),
            sum_at: Some(("thread", sum)),
            axes: vec![sum],
            reason: format!(
                "{WARP} threads of a warp read neighbours along '{}' and combine what they have at \
                 last in registers{among}",
                self.name(sum)
            ),
            ..Draft::default()
        })
    }

    /// Returns the row that warps combine; `None` where neighbouring threads have something better to do.
    fn row_of_warps(&self) -> Option<Row> {
        let sum = self.row()?;
        let points = self.points_of(&self.kept);
        let first = self.kept.first();
        let is_read_so = self.follows(sum) > first.map_or(0, |x| self.follows(*x));
        if !(is_read_so || points < MANY) || !self.exchanges() {
            return None;
        }
        let width = match points >= BLOCKS {
            true => 1,
            false => self.at_most(sum, self.threads) / WARP,
        };
        let lanes = width * WARP;
        let is_cut = points.saturating_mul(lanes) < MANY && self.size(sum) > 8 * lanes;
        Some(Row { sum, width, is_cut })
    }

    /// Neighbouring threads have parts of what is combined that follow each other, as an operator asks for whose
    /// operands must not be exchanged.
    fn parts(&self) -> Option<Draft> {
        let [first] = self.sums[..] else {
            return None;
        };
        let threads = self.at_most(first, self.threads);
        let is_ordered = !self.views.is_commutative && self.scans.is_empty();
        let is_long = threads >= WARP && self.size(first) > threads;
        let has_points = self.points_of(&self.kept) >= MANY;
        if !is_ordered || !is_long || has_points || !self.exchanges() {
            return None;
        }
        let mut blocks = self.blocks();
        blocks.push((first, Parts::Derived));
        let mut order = all("block", &self.kept);
        order.extend(["block", "thread", "register"].map(|layer| (layer, first)));
        Some(Draft {
            layers: vec![
                ("block", blocks),
                ("thread", fixed(&[(first, threads)])),
                ("register", fixed(&[(first, EACH)])),
            ],
            order,
            sum_at: Some(("register", first)),
            axes: vec![first],
            reason: format!(
                "each of {threads} threads of a block has {EACH} points along '{}' that follow those of the \
                 one before",
                self.name(first)
            ),
            ..Draft::default()
        })
    }

    fn points(&self) -> Option<Draft> {
        let (mut threads, mut rest) = (Vec::new(), self.threads);
        for d in self.kept.iter().take(3) {
            let parts = strided::aligned(&self.computation.dimensions[*d], self.at_most(*d, rest));
            rest /= (parts as u64).next_power_of_two() as i64;
            threads.push((*d, parts));
        }
        threads.retain(|(_, parts)| *parts > 1);
        if let ([], [scan]) = (&threads[..], &self.scans[..]) {
            return self.scan(*scan);
        }
        if threads.is_empty() {
            return None;
        }
        let outer: Vec<(&str, usize)> = threads.iter().rev().map(|(d, _)| ("thread", *d)).collect();
        let combined = [&self.scans[..], &self.sums[..]].concat();
        let inner = all("device", &combined);
        Some(Draft {
            layers: vec![
                ("device", self.derived(&combined)),
                ("block", self.blocks()),
                ("thread", fixed(&threads)),
            ],
            sum_at: inner.first().copied().filter(|_| self.scans.is_empty()),
            order: [all("block", &self.kept), outer, inner].concat(),
            axes: threads.iter().map(|(d, _)| *d).collect(),
            reason: format!(
                "each of {} threads of a block has results of its own",
                threads.iter().map(|(_, parts)| parts).product::<i64>()
            ),
            ..Draft::default()
        })
    }

    /// A prefix-sum that is all there is.
    fn scan(&self, d: usize) -> Option<Draft> {
        let threads = self.at_most(d, self.threads);
        let has_gaps = strided::group(&self.computation.dimensions[d]).is_some();
        if !self.sums.is_empty() || threads < WARP || has_gaps {
            return None;
        }
        Some(Draft {
            layers: vec![
                ("block", vec![(d, Parts::Derived)]),
                ("thread", fixed(&[(d, threads)])),
                ("register", fixed(&[(d, 8)])),
            ],
            order: vec![("block", d), ("thread", d), ("register", d)],
            axes: vec![d],
            reason: format!("each of {threads} threads of a block has 8 neighbours"),
            ..Draft::default()
        })
    }

    fn one_thread(&self) -> Option<Draft> {
        let dims: Vec<usize> = (0..self.views.points.len()).collect();
        Some(Draft {
            layers: vec![("device", self.derived(&dims))],
            order: all("device", &dims),
            reason: "nothing else is possible".into(),
            ..Draft::default()
        })
    }

    fn derived(&self, dims: &[usize]) -> Vec<(usize, Parts)> {
        dims.iter().map(|d| (*d, Parts::Derived)).collect()
    }
}

#[cfg(test)]
#[path = "kernels_tests.rs"]
mod tests;
