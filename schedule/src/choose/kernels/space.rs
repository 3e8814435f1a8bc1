//! The space of a computation's schedules on a GPU: the parameters of one template, beside what the
//! model chooses.
//!
//! | knob        | decides | table 1 |
//! |-------------|---------|---------|
//! | `shape`     | the model's choice, threads with results of their own, warps that combine rows, products of matrices | 0 |
//! | `tile.d`    | points of a block | 0 |
//! | `cut`       | the sum that is cut into steps | 0 |
//! | `quad`      | points of it that a thread reads at once | 0 |
//! | `depth`     | so many of these are one step | 0 |
//! | `at`        | the place of copies: before each step, or before the threads' loops | D3 |
//! | `stages`    | buffers of a tile that is copied asynchronously | D3 |
//! | `stage.x`   | the inputs that are copied to shared memory | D3 |
//! | `layout.x`  | how they lie there | D4 |
//! | `thread.d`  | threads of a block; the rest of its points are in registers | 0 |
//! | `x`         | the dimension whose neighbours neighbouring threads have | D2 |
//! | `points`    | points of a thread: neighbours, or one from each run of the threads' | 0 |
//! | `inner`     | the loop next to the results in registers | D1 |
//! | `combine`   | the memory in which sums are combined | R3 |
//! | `split`     | blocks that share a sum | D2, R3 |
//! | `rows`, `warps`, `parts` | rows of a block, warps of a row, unrolled parts of a row | 0, D2 |
//!
//! A knob that a shape does not ask has its first value there.

mod drafts;

use super::super::knobs::{Knob, Knobs, ModelChoice, SearchedParts, draw_at_random};
use super::super::views::{View, Views, view_moves};
use super::{Model, QUAD, WARP};
use crate::asm::Asm;
use crate::check::check;
use crate::footprint::footprint;
use crate::gpu::{Gpu, refined};
use crate::matrix;
use crate::schedule::Schedule;
use crate::tiles::Span;
use mdh_algebra::affine::Linear;
use mdh_algebra::computation::Computation;
use mdh_algebra::random::Random;

/// The most points of a block.
const POINTS: i64 = 1 << 14;
/// The most points of a block along one dimension.
const ALONG: i64 = 1 << 10;
/// The most results of a thread.
const RESULTS: i64 = 64;
/// The most of them along one dimension.
const RUN: i64 = 16;
/// The most dimensions that the threads of a block share.
const SHARED: usize = 4;
/// The most points of a sum in one step.
const STEP: i64 = 64;
/// Schedules of a shape that are tried.
const TRIES: usize = 40;
/// The most blocks along the second dimension of a grid, and the others.
const GRID: i64 = 65535;
/// The most blocks that share a sum.
const SPLIT: i64 = 64;

/// Decision of a knob.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Role {
    Shape,
    Tile(usize),
    Cut,
    Quad,
    Depth,
    At,
    Stages,
    /// Of the input with this number.
    Stage(usize),
    Layout(usize),
    Thread(usize),
    X,
    Points,
    Inner,
    Combine,
    Split,
    Rows,
    Warps,
    Parts,
}

/// Kind of kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Shape {
    Model,
    Points,
    Products,
    Rows,
}

impl Shape {
    fn name(self) -> &'static str {
        match self {
            Shape::Model => "model",
            Shape::Points => "points",
            Shape::Products => "products",
            Shape::Rows => "rows",
        }
    }
}

/// The schedules of a computation on a GPU that the template has.
pub struct KernelSpace {
    computation: Computation,
    asm: Asm,
    views: Views,
    chosen: Schedule,
    shapes: Vec<Shape>,
    /// Dimensions of results, the one whose neighbours are neighbours in memory first.
    kept: Vec<usize>,
    /// Those of them whose points the threads of a block share.
    shared: Vec<usize>,
    sums: Vec<usize>,
    scans: Vec<usize>,
    /// Sums that may be cut.
    cuts: Vec<usize>,
    /// The sum of rows.
    row: Option<usize>,
    /// Inputs that can be copied.
    staged: Vec<Copied>,
    /// The columns, rows and terms of products of matrices.
    matrix: Option<[usize; 3]>,
    threads: i64,
    parts: SearchedParts,
    knobs: Vec<Knob>,
    roles: Vec<Role>,
}

impl KernelSpace {
    /// The space of a computation on a machine with blocks and threads; `None` where the model has
    /// no choice, or points come in groups with gaps between them.
    pub fn new(computation: &Computation, asm: &Asm, parts: SearchedParts) -> Option<KernelSpace> {
        if crate::choose::strided::has_gaps(computation) || !asm.has_kernels() {
            return None;
        }
        let chosen = super::choose(computation, asm)?.schedule;
        let views = Views::new(computation);
        let model = Model::new(computation, asm, &views);
        let limits = asm.limits.iter().map(|limit| limit.at_most as i64).min();
        let (kept_dims, sums, scans) =
            (model.kept.clone(), model.sums.clone(), model.scans.clone());
        let can_exchange = scans.is_empty() && model.exchanges();
        let row = model.row().filter(|_| can_exchange);
        let staged =
            (0..computation.inputs.len()).filter_map(|n| Copied::new(computation, &views, n));
        let kept_dims = match (&kept_dims[..], &scans[..], &sums[..]) {
            // A prefix-sum that is all there is.
            ([], [scan], []) => vec![*scan],
            _ => kept_dims,
        };
        let is_large = |d: &usize| views.size(*d) > 1;
        let shared = kept_dims
            .iter()
            .copied()
            .filter(is_large)
            .take(SHARED)
            .collect();
        let is_cut = |d: &usize| is_large(d) && scans.is_empty();
        let mut cuts: Vec<usize> = sums.iter().copied().filter(is_cut).collect();
        cuts.sort_by_key(|d| std::cmp::Reverse(views.size(*d)));
        let mut space = KernelSpace {
            computation: computation.clone(),
            asm: asm.clone(),
            chosen,
            shapes: vec![Shape::Model],
            shared,
            cuts,
            kept: kept_dims,
            sums,
            scans,
            row,
            staged: staged.collect(),
            matrix: None,
            threads: limits.unwrap_or(1024),
            parts,
            knobs: Vec::new(),
            roles: Vec::new(),
            views,
        };
        space.matrix = space.product();
        let possible = [Shape::Points, Shape::Products, Shape::Rows];
        let possible = possible.into_iter().filter(|shape| space.has(*shape));
        let possible: Vec<Shape> = possible.collect();
        space.shapes.extend(possible);
        space.add_knobs();
        space.keep_legal();
        Some(space)
    }

    /// Returns whether a computation has what a shape is about.
    fn has(&self, shape: Shape) -> bool {
        match shape {
            Shape::Model => true,
            Shape::Points => !self.shared.is_empty(),
            Shape::Products => self.matrix.is_some(),
            Shape::Rows => self.row.is_some(),
        }
    }

    /// The columns, rows and terms of products of matrices: those that the last access of both factors
    /// moves along.
    fn product(&self) -> Option<[usize; 3]> {
        let x = *self.shared.first()?;
        let moves = |d: usize, not: usize| {
            let mut inputs = self.views.all.iter().filter(|view| !view.is_output);
            inputs.any(|view| view_moves(view, d) && !view_moves(view, not))
        };
        let y = self.shared[1..].iter().copied();
        let y = y.filter(|y| moves(*y, x) && moves(x, *y));
        let y = y.max_by_key(|y| self.views.size(*y))?;
        Some([x, y, *self.cuts.first()?])
    }

    /// Removes shapes that cannot be lowered, judged by a sample of their schedules.
    fn keep_legal(&mut self) {
        let legal = |shape: &usize| {
            let mut random = Random::new(0);
            let mut tries =
                (0..TRIES).filter_map(|_| draw_at_random(self, vec![*shape], &mut random));
            tries.any(|values| self.objections(&self.schedule(&values)).is_empty())
        };
        let legal_shapes: Vec<usize> = (0..self.shapes.len()).filter(legal).collect();
        self.shapes = legal_shapes.iter().map(|n| self.shapes[*n]).collect();
        (self.knobs, self.roles) = (Vec::new(), Vec::new());
        self.add_knobs();
    }

    fn add_knobs(&mut self) {
        let shapes = self.shapes.iter().map(|shape| shape.name().to_string());
        let shapes = shapes.collect();
        self.add("shape", shapes, &[], "", Role::Shape);
        self.add_tiles();
        self.add_steps();
        self.add_stages();
        self.add_threads();
        self.add_rows();
    }

    fn add_tiles(&mut self) {
        let mut before = vec![0];
        for d in self.shared.clone() {
            let counts = self.along(d);
            let why = "a block has not too many points";
            let knob = self.add_count(&self.named("tile", d), counts, &before, why, Role::Tile(d));
            before.push(knob);
        }
    }

    fn add_steps(&mut self) {
        if self.cuts.is_empty() {
            return;
        }
        let names = |dims: &[usize]| dims.iter().map(|d| self.views.names[*d].clone()).collect();
        let most = self
            .cuts
            .iter()
            .map(|d| self.views.size(*d))
            .max()
            .unwrap_or(1);
        let most = (most.min(STEP) as u64).next_power_of_two() as i64;
        let cut = self.add("cut", names(&self.cuts), &[0], "a shape has it", Role::Cut);
        let tiles = self.shared.iter().filter_map(|d| self.find(Role::Tile(*d)));
        let before: Vec<usize> = [0].into_iter().chain(tiles).chain([cut]).collect();
        let why = "each block has a part of the sum, and there are not too many";
        self.add_count(
            "split",
            self.parts.powers(SPLIT, None),
            &before,
            why,
            Role::Split,
        );
        let why = "a step has not too many points, nor more than the sum";
        let quads = SearchedParts::Model.powers(most.min(2 * QUAD), None);
        let quad = self.add_count("quad", quads, &[0, cut], why, Role::Quad);
        let depths = self.parts.powers(most, None);
        self.add_count("depth", depths, &[0, cut, quad], why, Role::Depth);
    }

    fn add_stages(&mut self) {
        if self.staged.is_empty() || self.shared.is_empty() {
            return;
        }
        let texts = |raw: &[&str]| raw.iter().map(|text| text.to_string()).collect::<Vec<_>>();
        // All so far: tiles and steps. Blocks that share a sum have steps of their own.
        let split = self.find(Role::Split);
        let mut before: Vec<usize> = (0..self.knobs.len())
            .filter(|n| Some(*n) != split)
            .collect();
        let depth = self.find(Role::Depth);
        let places = if depth.is_some() {
            &["step", "threads"][..]
        } else {
            &["threads"]
        };
        let steps: Vec<usize> = [0].into_iter().chain(depth).collect();
        let why = "a step has several parts";
        let at = self.add("at", texts(places), &steps, why, Role::At);
        before.push(at);
        if depth.is_some() {
            let counts = texts(&["1", "2", "3", "4"]);
            let why = "only what is copied before each step has stages";
            before.push(self.add("stages", counts, &[0, at], why, Role::Stages));
        }
        for n in 0..self.staged.len() {
            let n = self.staged[n].input;
            let name = format!("stage.{}", self.computation.inputs[n].name);
            let why = "shared memory holds the tiles";
            let values = texts(&["no", "yes"]);
            let knob = self.add(&name, values, &before, why, Role::Stage(n));
            before.push(knob);
        }
        for Copied { input: n, view, .. } in self.staged.clone() {
            let Some(stage) = self.find(Role::Stage(n)) else {
                continue;
            };
            let rank = view.axes.as_ref().map_or(0, Vec::len);
            let layouts = ["plain", "padded by 1", "padded by 4", "turned"];
            let values = match rank {
                0 | 1 => &layouts[..1],
                _ if self.axis(&view).is_some() => &layouts[..],
                _ => &layouts[..3],
            };
            let name = format!("layout.{}", self.computation.inputs[n].name);
            let why = "it is in shared memory, and can be copied there";
            let before: Vec<usize> = ([0].into_iter().chain(self.find(Role::Stages)))
                .chain([stage])
                .collect();
            self.add(&name, texts(values), &before, why, Role::Layout(n));
        }
    }

    fn add_threads(&mut self) {
        let mut before = vec![0];
        before.extend(self.shared.iter().filter_map(|d| self.find(Role::Tile(*d))));
        for d in self.shared.clone() {
            let counts = self.along(d);
            let why = "a block has warps of threads, and a thread not too many results";
            let name = self.named("thread", d);
            let knob = self.add_count(&name, counts, &before, why, Role::Thread(d));
            before.push(knob);
        }
        let texts = |all: &[&str]| all.iter().map(|text| text.to_string()).collect::<Vec<_>>();
        if self.shared.len() > 1 {
            let names = self
                .shared
                .iter()
                .take(3)
                .map(|d| self.views.names[*d].clone());
            let names = names.collect();
            let threads = self
                .shared
                .iter()
                .filter_map(|d| self.find(Role::Thread(*d)));
            let before: Vec<usize> = [0].into_iter().chain(threads).collect();
            let why = "the third axis has not too many threads";
            self.add("x", names, &before, why, Role::X);
        }
        let why = "a shape has it";
        if !self.shared.is_empty() {
            let values = texts(&["neighbours", "apart"]);
            let why = "parts of a prefix-sum are neighbours";
            self.add("points", values, &[0], why, Role::Points);
        }
        if !self.cuts.is_empty() {
            self.add("inner", texts(&["sum", "results"]), &[0], why, Role::Inner);
            self.add(
                "combine",
                texts(&["register", "device"]),
                &[0],
                why,
                Role::Combine,
            );
        }
    }

    fn add_rows(&mut self) {
        let Some(row) = self.row.filter(|_| self.shapes.contains(&Shape::Rows)) else {
            return;
        };
        let warps = self.parts.powers((self.threads / WARP).max(1), None);
        let mut before = vec![0];
        let why = "a block has not too many warps";
        if let Some(d) = self.shared.first() {
            let most = self.views.size(*d);
            let rows: Vec<i64> = warps.iter().copied().filter(|n| *n <= most).collect();
            before.push(self.add_count("rows", rows, &before, why, Role::Rows));
        }
        let most = self.views.size(row) / WARP;
        let warps: Vec<i64> = warps.into_iter().filter(|n| *n <= most).collect();
        before.push(self.add_count("warps", warps, &before, why, Role::Warps));
        let warps = before.last().copied().unwrap_or(0);
        let why = "a row has so many points";
        self.add_count(
            "parts",
            self.parts.powers(16, None),
            &[0, warps],
            why,
            Role::Parts,
        );
    }

    /// Points and threads of a block along a dimension.
    fn along(&self, d: usize) -> Vec<i64> {
        let size = self.views.size(d);
        let most = (size.min(ALONG) as u64).next_power_of_two() as i64;
        self.parts.powers(most, Some(size))
    }

    fn named(&self, what: &str, d: usize) -> String {
        format!("{what}.{}", self.views.names[d])
    }

    fn add(
        &mut self,
        name: &str,
        values: Vec<String>,
        depends_on: &[usize],
        constraint: &'static str,
        role: Role,
    ) -> usize {
        let knob = Knob::new(name, values, depends_on.to_vec(), constraint);
        self.knobs.push(knob);
        self.roles.push(role);
        self.knobs.len() - 1
    }

    fn add_count(
        &mut self,
        name: &str,
        counts: Vec<i64>,
        depends_on: &[usize],
        constraint: &'static str,
        role: Role,
    ) -> usize {
        let values = counts.iter().map(i64::to_string).collect();
        self.add(name, values, depends_on, constraint, role)
    }
}

/// An input of which tiles can be copied: all of its accesses are linear.
#[derive(Clone)]
struct Copied {
    input: usize,
    /// Its first access.
    view: View,
    /// Its axes.
    axes: Vec<CopiedAxis>,
}

/// One of its axes.
#[derive(Clone)]
struct CopiedAxis {
    /// The extent of what one point reads, halos included, and of what all of them read.
    extents: [i64; 2],
    /// The dimensions that move along it, and how far from one point to the next.
    moving: Vec<(usize, i64)>,
}

impl Copied {
    fn new(computation: &Computation, views: &Views, input: usize) -> Option<Copied> {
        let is_own = |view: &&View| !view.is_output && view.buffer == input;
        let mut accesses = views.all.iter().filter(is_own);
        let view = accesses.next()?.clone();
        let forms = view.axes.as_ref()?;
        if !accesses.all(|view| view.axes.is_some()) {
            return None;
        }
        let rank = computation.dimensions.len();
        let extents = |points: &dyn Fn(usize) -> i64| {
            let reach = |d| points(d).max(1) - 1;
            let spans = (0..rank).map(|d| Span {
                reach: reach(d),
                step: 1,
            });
            let spans: Vec<Span> = spans.collect();
            Some(footprint(computation, &computation.inputs[input], &spans)?.shape())
        };
        let point = extents(&|_| 1)?;
        let whole = extents(&|d| views.size(d))?;
        let axis = |(form, extents): (&Linear, [i64; 2])| {
            let terms = form
                .coefficients
                .iter()
                .enumerate()
                .filter(|(_, c)| **c != 0);
            let step = |d: usize| computation.dimensions[d].step.unwrap_or(1);
            let moving = terms.map(|(d, c)| (d, c.abs().saturating_mul(step(d))));
            CopiedAxis {
                extents,
                moving: moving.collect(),
            }
        };
        let both = point.into_iter().zip(whole).map(|(lo, hi)| [lo, hi]);
        let axes = forms.iter().zip(both).map(axis).collect();
        Some(Copied { input, view, axes })
    }

    /// The shape of a tile with so many points along each dimension.
    fn tile(&self, points: impl Fn(usize) -> i64) -> Vec<i64> {
        let extent = |axis: &CopiedAxis| {
            let [one, all] = axis.extents;
            let moved = axis
                .moving
                .iter()
                .map(|(d, by)| by.saturating_mul(points(*d) - 1));
            moved.fold(one, i64::saturating_add).min(all)
        };
        self.axes.iter().map(extent).collect()
    }
}

impl Knobs for KernelSpace {
    fn knobs(&self) -> &[Knob] {
        &self.knobs
    }

    fn allows(&self, values: &[usize]) -> bool {
        self.is_allowed(values)
    }

    fn schedule(&self, values: &[usize]) -> Schedule {
        let model = Model::new(&self.computation, &self.asm, &self.views);
        let draft = self.draft(values);
        draft.map_or_else(|| self.chosen.clone(), |draft| draft.finish(&model))
    }

    fn objections(&self, schedule: &Schedule) -> Vec<String> {
        crate::choose::choice::objections(schedule, &self.computation, &self.asm)
    }

    fn default(&self) -> Option<ModelChoice> {
        Some(ModelChoice {
            values: vec![0; self.knobs.len()],
            is_exact: true,
            schedule: self.chosen.clone(),
        })
    }

    fn estimate(&self, schedule: &Schedule, gpu: &Gpu) -> Option<f64> {
        let resolved = check(schedule, &self.computation, &self.asm).ok()?;
        refined(&resolved, &self.computation, gpu)
    }
}

#[cfg(test)]
#[path = "space_tests.rs"]
mod tests;
