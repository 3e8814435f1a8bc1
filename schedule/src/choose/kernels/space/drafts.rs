//! Meaning of configurations: the drafts of the template, with constraints that are
//! known before a schedule is made.

use super::*;
use crate::asm::AsmLayer;
use crate::choose::kernels::draft::{Draft, DraftLevel, all, fixed};
use crate::numbers::Parts;
use crate::numbers::ceil_div;
use crate::staged_layout::{StagedLayout, Step};
use crate::stages;

/// Parts of a kept dimension, and of a sum, in a product of matrices.
const OF_PRODUCT: [i64; 2] = [2, matrix::TERMS];

impl KernelSpace {
    pub(super) fn find(&self, role: Role) -> Option<usize> {
        self.roles.iter().position(|own| *own == role)
    }

    /// The position of a knob's value; 0 if there is no such knob, or not yet.
    fn at(&self, role: Role, values: &[usize]) -> usize {
        let knob = self.find(role);
        knob.and_then(|n| values.get(n)).copied().unwrap_or(0)
    }

    fn count(&self, role: Role, values: &[usize]) -> i64 {
        let knob = self.find(role).filter(|n| *n < values.len());
        let count = knob.and_then(|n| self.knobs[n].counts().get(values[n]));
        count.copied().unwrap_or(1)
    }

    fn text(&self, role: Role, values: &[usize]) -> &str {
        let knob = self.find(role).map(|n| &self.knobs[n]);
        knob.map_or("", |knob| &knob.values[self.at(role, values)])
    }

    fn shape(&self, values: &[usize]) -> Shape {
        self.shapes[values[0]]
    }

    fn cut(&self, values: &[usize]) -> Option<usize> {
        self.cuts.get(self.at(Role::Cut, values)).copied()
    }

    /// Points of a step of the sum that is cut.
    fn step(&self, values: &[usize]) -> i64 {
        let terms = match self.shape(values) {
            Shape::Products => OF_PRODUCT[1],
            _ => self.count(Role::Quad, values),
        };
        terms * self.count(Role::Depth, values)
    }

    /// Points along a dimension that one thread has at once, beside its registers.
    fn of_instruction(&self, d: usize, values: &[usize]) -> i64 {
        let is_product = self.shape(values) == Shape::Products;
        let product = self.matrix.filter(|_| is_product);
        let is_own = product.is_some_and(|[x, y, _]| d == x || d == y);
        if is_own { OF_PRODUCT[0] } else { 1 }
    }

    /// Returns whether a knob says something in a shape; if not, it has its first value.
    fn is_asked(&self, role: Role, values: &[usize]) -> bool {
        let tiles = matches!(self.shape(values), Shape::Points | Shape::Products);
        let products = self.shape(values) == Shape::Products;
        match role {
            Role::Shape => true,
            Role::Rows | Role::Warps | Role::Parts => self.shape(values) == Shape::Rows,
            Role::Split => self.shape(values) != Shape::Model,
            Role::Cut | Role::Quad | Role::X | Role::Points | Role::Inner => tiles && !products,
            Role::Tile(d) | Role::Thread(d) if products => {
                self.matrix.is_some_and(|[x, y, _]| d == x || d == y)
            }
            Role::Layout(n) => self.at(Role::Stage(n), values) == 1,
            Role::Tile(_)
            | Role::Thread(_)
            | Role::Depth
            | Role::At
            | Role::Stages
            | Role::Stage(_)
            | Role::Combine => tiles,
        }
    }

    pub(super) fn is_allowed(&self, values: &[usize]) -> bool {
        let Some(role) = values.len().checked_sub(1).map(|n| self.roles[n]) else {
            return true;
        };
        if !self.is_asked(role, values) {
            return values.last() == Some(&0);
        }
        let is_product = self.shape(values) == Shape::Products;
        let is_scan = |d: &usize| self.computation.dimensions[*d].combine.is_ps();
        match role {
            Role::Tile(d) => self.fits_tile(d, is_product, values),
            Role::Quad | Role::Depth => {
                let most = self.cut(values).map_or(1, |d| self.views.size(d));
                let step = self.step(values);
                step <= STEP && step < 2 * most
            }
            Role::At => self.text(role, values) == "step" || !is_product,
            Role::Stages => self.at(role, values) == 0 || self.text(Role::At, values) == "step",
            Role::Stage(_) => self.at(role, values) == 0 || self.fits_shared(values),
            Role::Thread(d) => self.fits_threads(d, values),
            Role::X => self.fits_axes(values),
            // The parts of a prefix-sum follow each other.
            Role::Points => self.at(role, values) == 0 || !self.shared.iter().any(is_scan),
            // Elements that do not follow each other there are copied one by one.
            Role::Layout(n) => {
                let input = &self.computation.inputs[n];
                let staged = self.staged.iter().find(|staged| staged.input == n);
                let steps = staged.map_or(Vec::new(), |staged| self.layout(staged, values));
                self.at(Role::Stages, values) == 0
                    || stages::is_whole(input, &StagedLayout { steps })
            }
            Role::Split => {
                let row = self.row.filter(|_| self.shape(values) == Shape::Rows);
                let most = row.or(self.cut(values)).map_or(1, |d| self.views.size(d));
                let count = self.count(role, values);
                count <= most && (count == 1 || self.fits_grid(values))
            }
            Role::Warps => {
                let warps = self.count(Role::Rows, values) * self.count(role, values);
                warps * WARP <= self.threads
            }
            Role::Parts => {
                let row = self.row.map_or(1, |d| self.views.size(d));
                let points = self.count(Role::Warps, values) * self.count(role, values) * WARP;
                points < 2 * row
            }
            _ => true,
        }
    }

    /// A tile has not too many points, and those of a warp's products of matrices.
    fn fits_tile(&self, d: usize, is_product: bool, values: &[usize]) -> bool {
        let least = match (is_product, self.matrix) {
            (true, Some([x, ..])) if x == d => OF_PRODUCT[0] * matrix::THREADS[0],
            (true, Some(_)) => OF_PRODUCT[0] * matrix::THREADS[1],
            _ => 1,
        };
        let sizes = self
            .shared
            .iter()
            .map(|d| self.count(Role::Tile(*d), values));
        let is_last = self.shared.last() == Some(&d);
        self.count(Role::Tile(d), values) % least == 0
            && sizes.product::<i64>() <= POINTS
            && (!is_last || self.fits_grid(values))
    }

    /// The grid, which is longest in x, has not too many blocks along its other dimensions.
    fn fits_grid(&self, values: &[usize]) -> bool {
        let split = self.count(Role::Split, values);
        let row = self.row.filter(|_| self.shape(values) == Shape::Rows);
        let cut = row.or(self.cut(values)).filter(|_| split > 1);
        let mut blocks: Vec<usize> = self.kept.iter().copied().chain(cut).collect();
        blocks.sort_by_key(|d| std::cmp::Reverse(self.views.size(*d).max(1)));
        let along = |d: &usize| {
            if Some(*d) == cut {
                return split;
            }
            let tile = self.count(Role::Tile(*d), values);
            ceil_div(self.views.size(*d).max(1), tile)
        };
        let second = blocks.get(1).map_or(1, along);
        let farther = blocks.iter().skip(2).map(along);
        second <= GRID && farther.fold(1, i64::saturating_mul) <= GRID
    }

    /// The threads along dimensions so far divide tiles, and leave registers for their results.
    fn fits_threads(&self, last: usize, values: &[usize]) -> bool {
        let (mut threads, mut results, mut several) = (1, 1, 0);
        let mut left = 1;
        let mut is_behind = false;
        for d in &self.shared {
            let tile = self.count(Role::Tile(*d), values);
            if is_behind {
                left *= tile;
                continue;
            }
            is_behind = *d == last;
            let count = self.count(Role::Thread(*d), values);
            let unit = match (self.of_instruction(*d, values), self.matrix) {
                (1, _) => 1,
                (_, Some([x, ..])) if x == *d => matrix::THREADS[0],
                _ => matrix::THREADS[1],
            };
            let per_thread = tile / count;
            let is_whole = tile % count == 0
                && count % unit == 0
                && per_thread % self.of_instruction(*d, values) == 0;
            if !is_whole || per_thread > RUN {
                return false;
            }
            several += i64::from(count > 1);
            (threads, results) = (threads * count, results * per_thread);
        }
        let points: i64 = self
            .shared
            .iter()
            .map(|d| self.count(Role::Tile(*d), values))
            .product();
        threads <= self.threads
            && results <= RESULTS
            && several <= 3
            && threads * left >= points.min(WARP)
    }

    /// The third axis of a block's threads, which has what is beyond it too, has not too many.
    fn fits_axes(&self, values: &[usize]) -> bool {
        let threads = self.asm.layer("thread").and_then(AsmLayer::core);
        let most = threads.and_then(|core| core.extents.get(2)).copied();
        let beyond = self.axes(values).into_iter().skip(2);
        let threads: i64 = beyond
            .map(|d| self.count(Role::Thread(d), values))
            .product();
        most.is_none_or(|most| threads <= most as i64)
    }

    /// The dimensions of the axes of a block's threads.
    fn axes(&self, values: &[usize]) -> Vec<usize> {
        let first = match self.shape(values) {
            Shape::Products => self.shared[0],
            _ => self.shared[self.at(Role::X, values)],
        };
        let rest = self.shared.iter().copied().filter(|d| *d != first);
        [first].into_iter().chain(rest).collect()
    }

    /// Points of a dimension that a tile in shared memory has.
    fn of_copy(&self, d: usize, values: &[usize]) -> i64 {
        let at_step = self.text(Role::At, values) == "step";
        match self.cut(values) {
            _ if self.shared.contains(&d) => self.count(Role::Tile(d), values),
            Some(cut) if cut == d && at_step => self.step(values),
            _ if at_step || self.kept.contains(&d) => 1,
            _ => self.views.size(d),
        }
    }

    /// Shared memory holds the tiles of inputs that are copied so far, however they lie there.
    fn fits_shared(&self, values: &[usize]) -> bool {
        let at_step = self.text(Role::At, values) == "step";
        if at_step && self.count(Role::Depth, values) < 2 {
            return false;
        }
        let stages = self.at(Role::Stages, values) as i64 + 1;
        let bytes = |copied: &Copied| {
            let elements = self.room(copied, values);
            let width = self.computation.inputs[copied.input].element.byte_width() as i64;
            elements.saturating_mul(width).saturating_mul(stages)
        };
        let copied = self.staged.iter();
        let copied = copied.filter(|own| self.at(Role::Stage(own.input), values) == 1);
        let bytes = copied.map(bytes).fold(0, i64::saturating_add);
        let shared = self.asm.memory("shared").and_then(|memory| memory.capacity);
        shared.is_none_or(|most| bytes <= most as i64)
    }

    /// Elements of memory for a tile in any of the layouts that it may have, since these are decided later:
    /// with rows along the shorter of the axes that may be the last one, and padded.
    fn room(&self, copied: &Copied, values: &[usize]) -> i64 {
        let tile = copied.tile(|d| self.of_copy(d, values));
        let elements = tile.iter().fold(1, |all: i64, n| all.saturating_mul(*n));
        let row = match &tile[..] {
            [_, .., last] => *last,
            _ => return elements,
        };
        let row = self
            .axis(&copied.view)
            .map_or(row, |axis| row.min(tile[axis]));
        elements.saturating_add((elements / row.max(QUAD)).saturating_mul(QUAD))
    }

    /// The axis of an input along which results move, if the last one is another.
    pub(super) fn axis(&self, view: &View) -> Option<usize> {
        let axes = view.axes.as_deref()?;
        let moves = |form: &Linear| self.kept.iter().any(|d| form.coefficients[*d] != 0);
        let axis = axes.iter().rposition(moves)?;
        (axis + 1 < axes.len()).then_some(axis)
    }

    fn layout(&self, own: &Copied, values: &[usize]) -> Vec<Step> {
        let rank = own.axes.len();
        let padded = |by: i64| {
            let mut pads = vec![0; rank];
            pads[rank - 1] = by;
            Step::Padded(pads)
        };
        match (
            self.text(Role::Layout(own.input), values),
            self.axis(&own.view),
        ) {
            ("padded by 1", _) => vec![padded(1)],
            ("padded by 4", _) => vec![padded(QUAD)],
            ("turned", Some(axis)) => {
                let mut order: Vec<usize> = (1..=rank).filter(|a| *a != axis + 1).collect();
                order.push(axis + 1);
                vec![Step::Permuted(order), padded(QUAD)]
            }
            _ => Vec::new(),
        }
    }

    /// The draft of a configuration; `None` for the model's choice.
    pub(super) fn draft(&self, values: &[usize]) -> Option<Draft> {
        match self.shape(values) {
            Shape::Model => None,
            Shape::Rows => Some(self.rows(values)),
            Shape::Points | Shape::Products => Some(self.points(values)),
        }
    }

    /// Sums, the one that is cut last.
    fn outer(&self, cut: Option<usize>) -> Vec<usize> {
        let outer = self.sums.iter().chain(&self.scans);
        let outer = outer
            .copied()
            .filter(|d| Some(*d) != cut && !self.kept.contains(d));
        outer.chain(cut).collect()
    }

    fn derived(dims: &[usize]) -> Vec<(usize, Parts)> {
        dims.iter().map(|d| (*d, Parts::Derived)).collect()
    }

    fn points(&self, values: &[usize]) -> Draft {
        let cut = self.cut(values);
        let axes = self.axes(values);
        let threads: Vec<(usize, i64)> = axes
            .iter()
            .map(|d| (*d, self.count(Role::Thread(*d), values)))
            .collect();
        let per_thread: Vec<(usize, i64)> = threads
            .iter()
            .map(|(d, n)| {
                let points = self.count(Role::Tile(*d), values) / n;
                (*d, points / self.of_instruction(*d, values))
            })
            .collect();
        let outer = self.outer(cut);
        let mut draft = Draft::default();
        self.add_loops(&mut draft, values, [&threads, &per_thread], &outer);
        let has_sums = self.scans.is_empty() && !self.sums.is_empty();
        if has_sums && self.text(Role::Combine, values) == "register" {
            draft.sum_at = outer.first().map(|d| ("device", *d));
        }
        for copied in &self.staged {
            if self.at(Role::Stage(copied.input), values) == 1 {
                draft
                    .staged
                    .insert(copied.input, self.layout(copied, values));
            }
        }
        if !draft.staged.is_empty() {
            let stages = self.at(Role::Stages, values) as i64;
            draft.stages = (stages > 0).then_some(stages + 1);
            draft.stage_at = match (self.text(Role::At, values), cut) {
                ("step", Some(cut)) => Some(("shared", cut)),
                _ => draft
                    .order
                    .iter()
                    .copied()
                    .find(|(layer, _)| *layer == "thread"),
            };
        }
        draft.axes = axes;
        draft
    }

    /// Layers and loops of threads with results of their own.
    fn add_loops(
        &self,
        draft: &mut Draft,
        values: &[usize],
        [threads, each]: [&[(usize, i64)]; 2],
        outer: &[usize],
    ) {
        let cut = self.cut(values);
        let product = self
            .matrix
            .filter(|_| self.shape(values) == Shape::Products);
        let split = self.count(Role::Split, values);
        let mut blocks = Self::derived(&self.kept);
        draft.order = all("block", &self.kept);
        if let Some(cut) = cut.filter(|_| split > 1) {
            blocks.push((cut, Parts::Fixed(split)));
            draft.order.push(("block", cut));
        }
        let [warps, threads] = match product {
            Some([x, y, _]) => in_warps(threads, [x, y]),
            None => [Vec::new(), threads.to_vec()],
        };
        let mut in_threads = divided(&threads);
        if in_threads.is_empty() {
            in_threads.extend(threads.first().map(|(d, _)| *d));
        }
        draft.order.extend(all("warp", &divided(&warps)));
        draft.order.extend(all("thread", &in_threads));
        draft.order.extend(all("device", outer));
        let mut steps = Vec::new();
        if let Some(cut) = cut {
            steps = fixed(&[(cut, self.count(Role::Depth, values))]);
            draft.order.push(("shared", cut));
        }
        let (registers, inner) = self.registers(values, each);
        draft.order.extend(inner);
        let mut layers = vec![
            ("device", Self::derived(outer)),
            ("block", blocks),
            ("warp", fixed(&warps)),
            ("shared", steps),
            ("thread", fixed(&threads)),
            ("register", registers),
        ];
        if self.text(Role::Points, values) == "apart" {
            layers.swap(4, 5);
        }
        if let Some([x, y, k]) = product {
            let [kept, terms] = OF_PRODUCT;
            layers.push(("mma", fixed(&[(y, kept), (x, kept), (k, terms)])));
            draft.order.extend(all("mma", &[y, x, k]));
        }
        draft.layers = layers;
    }

    /// Parts of a thread's own results, and of the sum that is cut, with the loops over them.
    fn registers(
        &self,
        values: &[usize],
        each: &[(usize, i64)],
    ) -> (Vec<(usize, Parts)>, Vec<DraftLevel>) {
        let mut registers = fixed(each);
        let mut inner = all("register", &divided(each));
        let quad = self.count(Role::Quad, values);
        if let Some(cut) = self.cut(values).filter(|_| quad > 1) {
            registers.push((cut, Parts::Fixed(quad)));
            let at = match self.text(Role::Inner, values) {
                "results" => 0,
                _ => inner.len(),
            };
            inner.insert(at, ("register", cut));
        }
        (registers, inner)
    }

    fn rows(&self, values: &[usize]) -> Draft {
        let row = self.row.unwrap_or(0);
        let (rows, warps) = (
            self.count(Role::Rows, values),
            self.count(Role::Warps, values),
        );
        let mut of_block: Vec<(usize, i64)> = self
            .shared
            .first()
            .map(|d| (*d, rows))
            .into_iter()
            .collect();
        of_block.push((row, warps));
        of_block.retain(|(_, n)| *n > 1);
        let split = self.count(Role::Split, values);
        let parts = self.count(Role::Parts, values);
        let outer = self.outer(Some(row));
        let mut blocks = Self::derived(&self.kept);
        let mut order = all("block", &self.kept);
        if split > 1 {
            blocks.push((row, Parts::Fixed(split)));
            order.push(("block", row));
        }
        order.extend(of_block.iter().map(|(d, _)| ("warp", *d)));
        let first = order.len();
        order.extend(all("device", &outer));
        if parts > 1 {
            order.push(("register", row));
        }
        let sums = order[first..].to_vec();
        let mut deferred = order[..first].to_vec();
        order.push(("thread", row));
        deferred.push(("thread", row));
        deferred.extend(sums);
        let unrolled = [(row, parts)].into_iter().filter(|(_, n)| *n > 1);
        Draft {
            layers: vec![
                ("block", blocks),
                ("warp", fixed(&of_block)),
                ("device", Self::derived(&outer)),
                ("register", fixed(&unrolled.collect::<Vec<_>>())),
                ("thread", fixed(&[(row, WARP)])),
            ],
            order,
            deferred: Some(deferred),
            shared_at: (warps > 1).then_some(("warp", row)),
            sum_at: Some(("thread", row)),
            axes: vec![row],
            ..Draft::default()
        }
    }
}

/// Splits the threads of a product of matrices: the warps by dimension, and the threads of each.
fn in_warps(threads: &[(usize, i64)], [x, y]: [usize; 2]) -> [Vec<(usize, i64)>; 2] {
    let per_warp = [(x, matrix::THREADS[0]), (y, matrix::THREADS[1])];
    let in_warp = |d: usize| {
        per_warp
            .iter()
            .find(|(o, _)| *o == d)
            .map_or(1, |(_, n)| *n)
    };
    let warps = threads.iter().map(|(d, n)| (*d, n / in_warp(*d))).collect();
    [warps, per_warp.to_vec()]
}

/// The dimensions of more than one part, the last one first.
fn divided(parts: &[(usize, i64)]) -> Vec<usize> {
    let several = parts.iter().rev().filter(|(_, n)| *n > 1);
    several.map(|(d, _)| *d).collect()
}
