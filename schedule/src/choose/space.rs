//! The space of a computation's schedules on a CPU: the model's decisions as parameters, which a
//! tuner searches (MDH paper, section 5).
//!
//! | knob       | decides | table 1 |
//! |------------|---------|---------|
//! | `lanes`    | the dimension of the lanes, and of the group that one instruction combines | 0, D2 |
//! | `block.d`  | unrolled parts of a dimension | 0 |
//! | `tile.d`   | blocks of the inner one of two loops; of a sum, before the next loop around it goes on | 0 |
//! | `cores.d`  | cores that share a dimension, combined ones included | 0, D2 |
//! | `order.n`  | the loops around tiles: which of those that are left comes next | D1 |
//! | `pack.x`   | the loop before which an input is packed, if it is | D3, D4 |
//! | `combine`  | whether lanes and unrolled parts of a sum are combined once, or in each step | R1, R3 |
//! | `tails`    | the code of points that fill no tile | |
//!
//! A constraint of a knob depends on earlier knobs only, so that valid configurations can be
//! counted and drawn without visiting the others. What remains to be asked of a schedule
//! ([`ScheduleSpace::objections`]) are the checks of all schedules.

use std::collections::BTreeSet;

use super::assemble::{LoopNest, SHARED, assemble};
use super::block::{self, Block};
use super::choice::objections;
use super::facts::Facts;
use super::knobs::{Chained, Knob, Knobs, ModelChoice, SearchedParts};
use super::nest::Search;
use super::strided::{all_have_parts, has_gaps};
use super::views::Views;
use super::{pack, transpose};
use crate::asm::Asm;
use crate::numbers::Parts;
use crate::numbers::ceil_div;
use crate::schedule::{Schedule, TailCode};
use mdh_algebra::computation::{Combine, Computation};
use mdh_algebra::scalar::ScalarType;

mod chosen;
mod tiled;

use chosen::Chosen;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Role {
    Lanes,
    Block(usize),
    Tile(usize),
    Cores(usize),
    Order(usize),
    /// Of the input with this view.
    Pack(usize),
    Combine,
    Tails,
}

/// Lanes that a block may have.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Lanes {
    along: Option<(usize, i64)>,
    group: Option<(usize, i64)>,
}

impl Lanes {
    /// The points of a dimension that one instruction computes.
    fn points(&self, d: usize) -> i64 {
        let both = [self.along, self.group].into_iter().flatten();
        both.filter(|(dim, _)| *dim == d).map(|(_, n)| n).product()
    }
}

/// The schedules of a computation that the model can write down.
pub struct ScheduleSpace {
    computation: Computation,
    asm: Asm,
    facts: Facts,
    group: i64,
    parts: SearchedParts,
    views: Views,
    lanes: Vec<Lanes>,
    /// The dimensions with loops around the tiles: all but the prefix-sum of the leaf; those of sums
    /// are there if they are cut.
    around: Vec<usize>,
    knobs: Vec<Knob>,
    /// The decision of each of them.
    roles: Vec<Role>,
    /// The model's choice.
    chosen: Option<Chosen>,
    /// The same as values of the knobs, if it is a configuration.
    own: Option<Vec<usize>>,
}

impl ScheduleSpace {
    /// The space of a computation on a machine; `None` where the model chooses otherwise: on
    /// machines that are not like `cpu`, and where points come in groups with gaps between them.
    /// Arguments as those of [`super::choose_for`], and the parts of dimensions that it has.
    pub fn new(
        computation: &Computation,
        asm: &Asm,
        facts: Facts,
        group: i64,
        parts: SearchedParts,
    ) -> Option<Self> {
        if !all_have_parts(computation) || has_gaps(computation) || asm.has_kernels() {
            return None;
        }
        let views = Views::new(computation);
        let leaf = views.dims(Combine::is_ps).pop();
        let rank = views.points.len();
        let mut space = ScheduleSpace {
            computation: computation.clone(),
            asm: asm.clone(),
            facts,
            group,
            parts,
            lanes: Vec::new(),
            around: (0..rank).filter(|d| Some(*d) != leaf).collect(),
            knobs: Vec::new(),
            roles: Vec::new(),
            chosen: Chosen::new(computation, asm, facts, group, &views),
            own: None,
            views,
        };
        space.lanes = space.legal_lanes();
        space.add_knobs();
        space.own = space.values_of_choice();
        Some(space)
    }

    fn rank(&self) -> usize {
        self.views.points.len()
    }

    /// No lanes, those along each dimension, and those with groups; as far as there is code.
    fn legal_lanes(&self) -> Vec<Lanes> {
        let (views, facts) = (&self.views, &self.facts);
        let count = facts.vector / views.widest;
        let mut choices = vec![Lanes {
            along: None,
            group: None,
        }];
        if count < 2 || views.narrowest * count > facts.vector {
            return choices;
        }
        for d in (0..self.rank()).filter(|d| views.points[*d].is_none_or(|n| n > 1)) {
            let along = Some((d, transpose::lanes(views, facts, d, count)));
            let group = block::grouped(views, facts, along, self.group);
            let group = group.map(|d| (d, self.group));
            let grouped = group.map(|group| Lanes {
                along,
                group: Some(group),
            });
            choices.extend(grouped.into_iter().chain([Lanes { along, group: None }]));
        }
        choices.retain(|lanes| {
            let block = self.block(*lanes, vec![1; self.rank()]);
            let plan = self.loops(&block, &vec![0; self.rank()], &self.around);
            self.objections(&self.assembled(&block, &plan)).is_empty()
        });
        choices
    }

    fn add_knobs(&mut self) {
        let lanes = self.lanes.iter().map(|lanes| {
            let name = |(d, _): (usize, i64)| self.views.names[d].clone();
            match (lanes.along.map(name), lanes.group.map(name)) {
                (Some(along), Some(group)) => format!("{along} by {group}"),
                (Some(along), None) => along,
                _ => "none".into(),
            }
        });
        let lanes = lanes.collect();
        self.add("lanes", lanes, Vec::new(), "", Role::Lanes);
        let has_points = |d: &usize| self.views.points[*d].is_none_or(|n| n > 1);
        let dims: Vec<usize> = (0..self.rank()).filter(has_points).collect();
        let keeps = self.views.keeps_partial_results();
        let is_cut =
            |d: &usize| self.around.contains(d) && (keeps || !self.views.combine[*d].is_pw());
        let cut: Vec<usize> = dims.iter().copied().filter(is_cut).collect();
        for d in &dims {
            let most = self.views.size(*d);
            let counts = self.parts.unrolled().filter(|n| *n <= most);
            let before = (0..self.knobs.len()).collect();
            let why = "the results of a block fit the registers, and no vector of it is empty";
            self.add_count("block", *d, counts.collect(), before, why, Role::Block(*d));
        }
        for d in cut {
            let mut before: Vec<usize> = vec![0];
            before.extend(self.find(Role::Block(d)));
            if self.views.combine[d].is_pw() {
                let sums = |role: &Role| match role {
                    Role::Tile(other) => self.views.combine[*other].is_pw(),
                    _ => false,
                };
                before.extend((0..self.roles.len()).filter(|n| sums(&self.roles[*n])));
            }
            let counts = self.parts.blocks(self.views.size(d));
            let counts = [0].into_iter().chain(counts);
            let why =
                "of the blocks of a dimension at most one in eight is empty, and one sum is cut";
            self.add_count("tile", d, counts.collect(), before, why, Role::Tile(d));
        }
        self.add_cores(&dims);
        let first = self.knobs.len();
        for n in 0..self.around.len().saturating_sub(1) {
            let left = (0..self.around.len() - n).map(|n| n.to_string()).collect();
            let before = (first..self.knobs.len()).collect();
            self.add(&format!("order.{n}"), left, before, "", Role::Order(n));
        }
        self.add_packs();
        let sums = self.views.combine.iter().any(|c| c.is_pw());
        if sums && self.views.is_commutative {
            let values = ["late", "early"].map(String::from).to_vec();
            self.add("combine", values, Vec::new(), "", Role::Combine);
        }
        let values = ["default", "peel", "mask"].map(String::from).to_vec();
        self.add("tails", values, Vec::new(), "", Role::Tails);
    }

    fn add_cores(&mut self, dims: &[usize]) {
        let cores = self.facts.cores;
        if cores < 2 {
            return;
        }
        let is_scan = self.views.combine.iter().any(|c| c.is_ps());
        let can = |d: &usize| match self.views.combine[*d] {
            Combine::Cc => true,
            Combine::Pw(_) => !is_scan && !self.facts.is_deterministic,
            Combine::Ps(_) => self.rank() == 1 && !self.facts.is_deterministic,
        };
        let shared: Vec<usize> = dims.iter().copied().filter(can).collect();
        let first = self.knobs.len();
        for d in shared {
            let counts = self.parts.cores(cores, self.views.size(d));
            let before = (first..self.knobs.len()).collect();
            let why = "dimensions are shared by all cores, or by none";
            self.add_count("cores", d, counts, before, why, Role::Cores(d));
        }
    }

    fn add_packs(&mut self) {
        let block = self.block(self.lanes[0], vec![1; self.rank()]);
        let views = self.views.all.iter().enumerate().filter(|(_, view)| {
            !view.is_output
                && view.is_alone
                && pack::blocks(&self.views, &block, None, view).is_some()
        });
        let inputs: Vec<(usize, String)> = views
            .map(|(n, view)| (n, self.computation.inputs[view.buffer].name.clone()))
            .collect();
        for (n, input) in inputs {
            let before = (0..=self.around.len()).map(|n| n.to_string());
            let values = ["none".to_string()].into_iter().chain(before).collect();
            let name = format!("pack.{input}");
            self.add(&name, values, Vec::new(), "", Role::Pack(n));
        }
    }

    fn add(
        &mut self,
        name: &str,
        values: Vec<String>,
        depends_on: Vec<usize>,
        constraint: &'static str,
        role: Role,
    ) {
        self.knobs
            .push(Knob::new(name, values, depends_on, constraint));
        self.roles.push(role);
    }

    fn add_count(
        &mut self,
        what: &str,
        d: usize,
        counts: Vec<i64>,
        depends_on: Vec<usize>,
        constraint: &'static str,
        role: Role,
    ) {
        let name = format!("{what}.{}", self.views.names[d]);
        let chosen = self.chosen.as_ref().and_then(|chosen| chosen.count(role));
        let counts: BTreeSet<i64> = counts.into_iter().chain(chosen).collect();
        let values = counts.iter().map(i64::to_string).collect();
        self.add(&name, values, depends_on, constraint, role);
    }

    fn find(&self, role: Role) -> Option<usize> {
        self.roles.iter().position(|own| *own == role)
    }

    /// The number that a knob of counts has in a configuration; `missing` if there is no such knob.
    fn count(&self, role: Role, values: &[usize], missing: i64) -> i64 {
        let knob = self.find(role).filter(|n| *n < values.len());
        let count = knob.and_then(|n| self.knobs[n].counts().get(values[n]));
        count.copied().unwrap_or(missing)
    }

    /// Returns whether the results of so many unrolled parts stay in registers.
    fn fits_registers(&self, lanes: Lanes, unrolled: i64) -> bool {
        let width = |ty: &ScalarType| ty.byte_width().max(1) as i64;
        let bytes: i64 = self.computation.components.iter().map(width).sum();
        // Each lane of a prefix-sum holds what all of them add up to.
        let held = lanes.along.map_or(1, |(d, count)| {
            let times = if self.views.combine[d].is_ps() {
                count
            } else {
                1
            };
            count.saturating_mul(times)
        });
        let vector = held.saturating_mul(bytes);
        let registers = self.facts.registers.saturating_mul(self.parts.registers());
        let room = registers.saturating_mul(self.facts.vector);
        unrolled == 1 || unrolled <= registers && unrolled.saturating_mul(vector) <= room
    }

    /// The blocks of a dimension, as lanes and unrolled parts are in a configuration.
    fn blocks(&self, d: usize, values: &[usize]) -> i64 {
        let unrolled = self.count(Role::Block(d), values, 1);
        let points = unrolled.saturating_mul(self.lanes[values[0]].points(d));
        ceil_div(self.views.size(d), points.max(1)).max(1)
    }

    fn block(&self, lanes: Lanes, unrolled: Vec<i64>) -> Block {
        let (views, facts) = (&self.views, &self.facts);
        let rows = (lanes.along)
            .and_then(|(d, count)| Some((transpose::transposed(views, facts, d, count)?, count)));
        let transposed = rows.filter(|(d, count)| unrolled[*d] == *count);
        Block {
            lanes: lanes.along,
            group: lanes.group,
            shared: block::shared(views, lanes.along).filter(|d| unrolled[*d] > 1),
            transposed: transposed.map(|(d, _)| d),
            unrolled,
            reasons: Vec::new(),
        }
    }

    /// The loops around a block: those of `order` around tiles of so many blocks, then those over
    /// the blocks of a tile.
    fn loops(&self, block: &Block, tiles: &[i64], order: &[usize]) -> LoopNest {
        let views = &self.views;
        let is_sum = |d: usize| views.combine[d].is_pw();
        let has_loop = |d: usize| views.points[d].is_none_or(|n| n > block.points(d));
        let outer = order.iter().copied().filter(|d| match is_sum(*d) {
            true => tiles[*d] > 0,
            false => has_loop(*d),
        });
        let outer = outer.map(|d| match is_sum(d) {
            true => ("main", d, Parts::Derived),
            false => (SHARED, d, Parts::Derived),
        });
        let tiled = |d: &usize| !is_sum(*d) && tiles[*d] > 1 && has_loop(*d);
        let inner = order.iter().copied().filter(tiled);
        let inner = inner.map(|d| ("L2", d, Parts::Fixed(tiles[d])));
        let cut = (0..tiles.len()).find(|d| is_sum(*d) && tiles[*d] > 0);
        LoopNest {
            cycles: None,
            cores: Vec::new(),
            around: outer.chain(inner).collect(),
            cut: cut.map(|d| (d, tiles[d] * block.points(d))),
            packed: Vec::new(),
            scans: views.dims(Combine::is_ps).pop().into_iter().collect(),
            sums: views.dims(Combine::is_pw),
            is_late: true,
            reasons: Vec::new(),
        }
    }

    fn assembled(&self, block: &Block, plan: &LoopNest) -> Schedule {
        let (computation, facts) = (&self.computation, &self.facts);
        assemble(computation, &self.asm, facts, &self.views, block, plan).schedule
    }

    /// The position in the loops around the leaf, and its own, of the first that stands where the
    /// one with a number would; `None` if there are no loops.
    fn before(
        &self,
        block: &Block,
        plan: &LoopNest,
        order: &[usize],
        before: usize,
    ) -> Option<usize> {
        let outside = &order[..before.min(order.len())];
        let outer = plan.around.iter().filter(|(layer, ..)| *layer != "L2");
        let at = match before < order.len() {
            true => outer.filter(|(_, d, _)| outside.contains(d)).count(),
            false => plan.around.len(),
        };
        let has_leaf = !plan.sums.is_empty() || !plan.scans.is_empty() || block.lanes.is_some();
        (has_leaf || at < plan.around.len()).then_some(at)
    }

    /// The dimensions of the loops around tiles, outermost first.
    fn order(&self, values: &[usize]) -> Vec<usize> {
        let mut left = self.around.clone();
        let mut order = Vec::new();
        for n in 0..self.around.len() {
            let next = self.find(Role::Order(n)).map_or(0, |knob| values[knob]);
            order.push(left.remove(next));
        }
        order
    }

    /// The block of a configuration, and the loops around it.
    fn plan(&self, values: &[usize]) -> (Block, LoopNest) {
        let counts = |role: fn(usize) -> Role, missing: i64| -> Vec<i64> {
            (0..self.rank())
                .map(|d| self.count(role(d), values, missing))
                .collect()
        };
        let block = self.block(self.lanes[values[0]], counts(Role::Block, 1));
        let order = self.order(values);
        let mut plan = self.loops(&block, &counts(Role::Tile, 0), &order);
        let cores = counts(Role::Cores, 1).into_iter().enumerate();
        plan.cores = cores.filter(|(_, n)| *n > 1).collect();
        // Where some unrolled parts add to the same results, all do.
        let sums = self.views.dims(Combine::is_pw);
        let mut unshared = sums.iter().filter(|d| Some(**d) != block.shared);
        let is_mixed = block.shared.is_some() && unshared.any(|d| block.points(*d) > 1);
        plan.is_late = !is_mixed && !self.has(values, Role::Combine, "early");
        for n in 0..self.views.all.len() {
            let before = self
                .find(Role::Pack(n))
                .and_then(|knob| values[knob].checked_sub(1));
            if let Some(before) = before {
                plan.packed
                    .extend(self.before(&block, &plan, &order, before).map(|at| (n, at)));
            }
        }
        (block, plan)
    }

    /// Returns whether a knob has that value in a configuration.
    fn has(&self, values: &[usize], role: Role, text: &str) -> bool {
        let knob = self.find(role);
        knob.is_some_and(|n| self.knobs[n].values[values[n]] == text)
    }

    /// Replaces the last value by the nearest that is allowed.
    fn repair(&self, values: &mut Vec<usize>) {
        let Some(wanted) = values.pop() else {
            return;
        };
        let mut order: Vec<usize> = (0..self.knobs[values.len()].values.len()).collect();
        order.sort_by_key(|n| n.abs_diff(wanted));
        let is_allowed = |n: &usize| {
            let mut trial = values.clone();
            trial.push(*n);
            self.allows(&trial)
        };
        let allowed = order.into_iter().find(is_allowed).unwrap_or(wanted);
        values.push(allowed);
    }
}

impl Knobs for ScheduleSpace {
    fn knobs(&self) -> &[Knob] {
        &self.knobs
    }

    fn allows(&self, values: &[usize]) -> bool {
        let Some(last) = values.len().checked_sub(1) else {
            return true;
        };
        let role = self.roles[last];
        // Constraints leave out what is seldom good, but nothing that the model takes.
        let is_own = |n: &usize| {
            self.own
                .as_ref()
                .is_some_and(|model| model[*n] == values[*n])
        };
        if is_own(&last) && self.knobs[last].depends_on.iter().all(is_own) {
            return true;
        }
        let product = |roles: &dyn Fn(&Role) -> bool| -> i64 {
            let decided = self.roles[..values.len()].iter();
            decided
                .filter(|role| roles(role))
                .map(|role| self.count(*role, values, 1))
                .fold(1, i64::saturating_mul)
        };
        match role {
            Role::Block(d) => {
                let lanes = self.lanes[values[0]];
                let count = self.count(role, values, 1);
                let scale = lanes.points(d);
                let unrolled = product(&|role| matches!(role, Role::Block(_)));
                self.fits_registers(lanes, unrolled)
                    && (count == 1 || (count - 1).saturating_mul(scale) < self.views.size(d))
            }
            Role::Tile(d) => match self.count(role, values, 0) {
                0 => true,
                count => {
                    let is_other_cut = |other: &Role| match *other {
                        Role::Tile(k) if k != d && self.views.combine[k].is_pw() => {
                            self.count(*other, values, 0) > 0
                        }
                        _ => false,
                    };
                    let blocks = self.blocks(d, values);
                    let padded = ceil_div(blocks, count).saturating_mul(count);
                    let sums = self.views.combine[d].is_pw();
                    count < blocks
                        && self.parts.may_waste(padded - blocks, blocks)
                        && !(sums && self.roles[..values.len()].iter().any(is_other_cut))
                }
            },
            Role::Cores(_) => {
                let shared = product(&|role| matches!(role, Role::Cores(_)));
                let is_last =
                    !matches!(self.roles.get(values.len()).copied(), Some(Role::Cores(_)));
                self.parts.may_share(shared, self.facts.cores, is_last)
            }
            Role::Lanes | Role::Order(_) | Role::Pack(_) | Role::Combine | Role::Tails => true,
        }
    }

    fn schedule(&self, values: &[usize]) -> Schedule {
        let (block, plan) = self.plan(values);
        let is = |text: &str| self.has(values, Role::Tails, text);
        let mut schedule = self.assembled(&block, &plan);
        // What is switched off are lanes and unrolled parts of results.
        let is_unrolled = |d: &usize| self.views.combine[*d] == Combine::Cc && block.points(*d) > 1;
        let (all, unrolled) = (0..self.rank(), (0..self.rank()).filter(is_unrolled));
        let (code, dims): (_, Vec<usize>) = match () {
            () if is("peel") => (TailCode::Peel, all.collect()),
            () if is("mask") => (TailCode::Mask, unrolled.collect()),
            () => return schedule,
        };
        let tails = dims
            .into_iter()
            .map(|d| (self.views.names[d].clone(), code));
        schedule.tails = tails.collect();
        schedule
    }

    fn objections(&self, schedule: &Schedule) -> Vec<String> {
        objections(schedule, &self.computation, &self.asm)
    }

    fn chained(&self) -> Option<&dyn Chained> {
        Some(self)
    }

    fn cycles(&self, values: &[usize]) -> Option<f64> {
        // Of prefix-sums the model counts nothing.
        if self.views.combine.iter().any(|c| c.is_ps()) {
            return None;
        }
        let (block, plan) = self.plan(values);
        let search = Search::new(&self.computation, &self.facts, &self.views, &block);
        Some(search.count(&plan))
    }

    fn default(&self) -> Option<ModelChoice> {
        let chosen = self.chosen.as_ref()?;
        let nearest = || {
            let wanted = self.wanted(chosen).into_iter();
            wanted.fold(Vec::new(), |mut values, wanted| {
                values.push(wanted);
                self.repair(&mut values);
                values
            })
        };
        Some(ModelChoice {
            values: self.own.clone().unwrap_or_else(nearest),
            is_exact: self.own.is_some(),
            schedule: chosen.schedule.clone(),
        })
    }
}

#[cfg(test)]
#[path = "space_tests.rs"]
mod tests;
