//! The levels of a schedule around a block.

use std::collections::BTreeMap;

use super::block::Block;
use super::choice::Choice;
use super::facts::Facts;
use super::nest::{Role, Search};
use super::traffic::Region;
use super::views::{Motion, View, Views};
use super::{bands, pack, transpose};
use crate::asm::Asm;
use crate::numbers::Parts;
use crate::schedule::{Input, Layer, LevelName, Output, Phase, Schedule};
use mdh_algebra::computation::{Combine, Computation};

/// Levels as they are collected: parts by layer, and the order.
pub struct Levels<'a> {
    /// The dimensions.
    pub names: Vec<&'a str>,
    /// Parts by layer, outermost first.
    pub layers: Vec<(&'static str, BTreeMap<String, Parts>)>,
    /// The levels, outermost first.
    pub order: Vec<LevelName>,
}

impl Levels<'_> {
    fn add(&mut self, layer: &'static str, d: usize, parts: Parts) -> LevelName {
        let name = self.names[d].to_string();
        if let Some((_, row)) = self.layers.iter_mut().find(|(l, _)| *l == layer) {
            row.insert(name.clone(), parts);
        }
        let level = LevelName::new(layer, &name);
        self.order.push(level.clone());
        level
    }
}

/// Everything around the block.
pub fn assemble(
    computation: &Computation,
    asm: &Asm,
    facts: &Facts,
    views: &Views,
    block: &Block,
    plan: &LoopNest,
) -> Choice {
    // Cores get neighbouring parts: what main memory's loops cut is cut inside of them.
    let layers = ["core", "main", "L3", "L2", "L1", "register", "simd"];
    let shared = match asm.memory("L3") {
        Some(_) => "L3",
        None => "main",
    };
    let mut levels = Levels {
        names: computation.names(),
        layers: layers.iter().map(|l| (*l, BTreeMap::new())).collect(),
        order: Vec::new(),
    };
    let mut reasons: Vec<String> = views.assumed().into_iter().collect();
    reasons.extend(block.reasons.iter().cloned());
    reasons.extend(plan.reasons.iter().cloned());
    reasons.extend(add_cores(facts, views, plan, &mut levels));
    let first = levels.order.len();
    for (layer, d, parts) in &plan.around {
        let layer = if *layer == SHARED { shared } else { *layer };
        levels.add(layer, *d, *parts);
    }
    let leaf = leaf(views, block, plan, &mut levels);
    let mut inputs = BTreeMap::new();
    for (n, before) in &plan.packed {
        let view = &views.all[*n];
        let at = &levels.order[first + before];
        let Some((input, blocks)) = packed(views, block, plan, view, (at, shared)) else {
            continue;
        };
        let name = computation.inputs[view.buffer].name.clone();
        reasons.push(format!(
            "'{name}' is packed into blocks of {blocks:?} before '{at}': each element is read {} \
             times",
            views.reuse(view)
        ));
        inputs.insert(name, input);
    }
    Choice {
        is_transposed: block.transposed.is_some(),
        schedule: finish(computation, (asm, facts), views, levels, leaf, inputs),
        reasons,
    }
}

/// Adds the levels of cores, and returns the reasons for them, or for using one core.
fn add_cores(facts: &Facts, views: &Views, plan: &LoopNest, levels: &mut Levels) -> Vec<String> {
    let mut reasons = Vec::new();
    for (d, parts) in &plan.cores {
        levels.add("core", *d, Parts::Fixed(*parts));
        let name = levels.names[*d];
        reasons.push(match *parts > facts.cores {
            true => format!(
                "{} cores share dimension '{name}' in {parts} parts, which conditions make unequal",
                facts.cores
            ),
            false => format!("{parts} cores share dimension '{name}'"),
        });
    }
    if plan.cores.is_empty() {
        reasons.extend(why_one_core(facts, views));
    }
    reasons
}

/// An input that is packed at a level, in a memory, and its blocks.
fn packed(
    views: &Views,
    block: &Block,
    plan: &LoopNest,
    view: &View,
    (at, memory): (&LevelName, &str),
) -> Option<(Input, Vec<i64>)> {
    let (order, blocks) = pack::blocks(views, block, plan.cut, view)?;
    let mut input = Input::default();
    input.stage.insert(at.clone(), memory.into());
    let groups = pack::groups(block, view, &order);
    let layout = pack::layout(order, blocks.clone(), groups);
    input.layout.insert(at.clone(), layout);
    Some((input, blocks))
}

/// The levels of the leaf: where it starts, and R1's order of it if that is another one.
struct Leaf {
    /// From which level on results are in registers.
    first_sum: Option<LevelName>,
    deferred: Option<Vec<LevelName>>,
}

fn leaf(views: &Views, block: &Block, plan: &LoopNest, levels: &mut Levels) -> Leaf {
    let mut loops = Vec::new();
    for d in plan.scans.iter().chain(&plan.sums) {
        let parts = match plan.cut {
            Some((cut, size)) if cut == *d => Parts::Fixed(size / block.points(*d)),
            _ => Parts::Derived,
        };
        loops.push(levels.add("L1", *d, parts));
    }
    let start = levels.order.len();
    for d in unrolled(views, block) {
        levels.add("register", d, Parts::Fixed(block.unrolled[d]));
    }
    if let Some((d, count)) = block.lanes {
        levels.add("simd", d, Parts::Fixed(count));
    }
    if let Some((d, count)) = block.group {
        levels.add("simd", d, Parts::Fixed(count));
    }
    // Unrolled parts and lanes of a sum are combined once, after its loops, where the order of
    // what is combined is free; but for parts that share what they read.
    let is_free = views.is_commutative;
    let is_sum = |level: &LevelName| {
        let d = levels.names.iter().position(|n| *n == level.dimension);
        d.is_some_and(|d| views.combine[d].is_pw())
    };
    let shared = block.shared.map(|d| levels.names[d]);
    let inside: Vec<LevelName> = levels.order[start..]
        .iter()
        .filter(|l| is_sum(l) && shared != Some(l.dimension.as_str()))
        .filter(|l| block.group.is_none() || l.layer != "simd")
        .cloned()
        .collect();
    let sums = loops.iter().any(is_sum);
    let is_late = plan.is_late && is_free && sums && !inside.is_empty();
    let deferred: Option<Vec<LevelName>> = is_late.then(|| {
        let outside = &levels.order[..start - loops.len()];
        let rest = levels.order[start..].iter().filter(|l| !inside.contains(l));
        let scans = loops.iter().filter(|l| !is_sum(l));
        let sums = loops.iter().filter(|l| is_sum(l));
        outside
            .iter()
            .chain(scans)
            .chain(&inside)
            .chain(sums)
            .chain(rest)
            .cloned()
            .collect()
    });
    // From the first level of the leaf in the order in which it is combined. A prefix-sum writes
    // all that its loop passes; what it carries needs no memory.
    let first = start - loops.len() + plan.scans.len();
    let first = deferred.as_ref().unwrap_or(&levels.order).get(first);
    Leaf {
        first_sum: first.cloned(),
        deferred,
    }
}

/// The dimensions that are unrolled, outermost first. Those that move the same inputs are together,
/// and those with the most points are outermost: what the few inside of them read stays in
/// registers meanwhile.
fn unrolled(views: &Views, block: &Block) -> Vec<usize> {
    let moved = |d: usize| -> Vec<bool> {
        let inputs = views.all.iter().filter(|view| !view.is_output);
        inputs
            .map(|view| views.motion(view, d) != Motion::Still)
            .collect()
    };
    let mut dims: Vec<usize> = (0..block.unrolled.len())
        .filter(|d| block.unrolled[*d] > 1)
        .collect();
    let points = |d: usize| -> i64 {
        let alike = (0..block.unrolled.len()).filter(|other| moved(*other) == moved(d));
        alike.map(|other| block.unrolled[other]).product()
    };
    let rank = |d: &usize| (views.combine[*d] != Combine::Cc, -points(*d), moved(*d));
    dims.sort_by_cached_key(rank);
    dims
}

/// The layer of loops around what all cores share: L3, or main memory where there is none.
pub const SHARED: &str = "shared";

/// The loops of a nest, and their purposes.
pub struct LoopNest {
    /// The cycles that were counted, where loops were searched for.
    pub cycles: Option<f64>,
    /// The dimensions that cores share, and into how many parts.
    pub cores: Vec<(usize, i64)>,
    /// The loops between those of the cores and the leaf's, outermost first.
    pub around: Vec<(&'static str, usize, Parts)>,
    /// The combined dimension that is cut, and into parts of how many points.
    pub cut: Option<(usize, i64)>,
    /// Inputs that are packed (positions of their views), and before which of these loops, or the
    /// leaf's first one.
    pub packed: Vec<(usize, usize)>,
    /// The prefix-sum that is a loop of the leaf.
    pub scans: Vec<usize>,
    /// The combined dimensions, which are the leaf's loops.
    pub sums: Vec<usize>,
    /// True if unrolled parts and lanes of a sum are combined after its loops, where they may be.
    pub is_late: bool,
    /// Reasons for the choice.
    pub reasons: Vec<String>,
}

impl LoopNest {
    /// The loops around a block.
    pub fn new(computation: &Computation, facts: &Facts, views: &Views, block: &Block) -> LoopNest {
        let (mut scans, sums) = (views.dims(Combine::is_ps), views.dims(Combine::is_pw));
        let is_streamed = (block.lanes).is_some_and(|(lane, _)| views.is_streamed(lane, facts.l2));
        let mut plan = LoopNest {
            cycles: None,
            cores: Vec::new(),
            around: Vec::new(),
            cut: None,
            packed: Vec::new(),
            scans: Vec::new(),
            sums: sums.clone(),
            is_late: true,
            reasons: Vec::new(),
        };
        let cores = cores(facts, views, block, &sums, &scans);
        if !sums.is_empty() && scans.is_empty() && !is_streamed {
            plan.search(&Search::new(computation, facts, views, block), &cores);
            return plan;
        }
        // Of several prefix-sums only one is a loop in registers, and it is the innermost.
        let last = scans.pop();
        let outer = scans.into_iter().map(|d| (SHARED, d, Parts::Derived));
        plan.around.extend(outer);
        plan.scans.extend(last);
        let shared = cores.first().map(|d| (*d, facts.cores));
        plan.cores = shared.into_iter().collect();
        if is_streamed {
            plan.stream(computation, views, block);
        }
        let has_lanes = |d: usize| block.lanes.is_some_and(|(dim, _)| dim == d);
        let is_there = |d: &usize| views.points[*d].is_none_or(|n| n > block.points(*d));
        let kept_dims = views.dims(|c| c == Combine::Cc);
        let (columns, mut inner): (Vec<usize>, Vec<usize>) =
            kept_dims.into_iter().partition(|d| has_lanes(*d));
        inner.retain(is_there);
        inner.extend(&columns);
        if let (Some(lane), Some(rows)) = (columns.first(), block.transposed) {
            // Rows that are read go on where the block before ended.
            inner.retain(|d| *d != rows);
            inner.extend(Some(rows).filter(is_there));
            let loops = inner.iter().map(|d| (SHARED, *d, Parts::Derived));
            plan.around.extend(loops);
            let tiles = transpose::tiles(views, *lane, rows, block.points(*lane));
            let tiles =
                (tiles.into_iter()).map(|(layer, d, parts)| (layer, d, Parts::Fixed(parts)));
            plan.around.extend(tiles);
        } else {
            plan.map(computation, facts, views, block, &inner);
        }
        plan
    }

    /// Loops over kept dimensions; in bands, where the next points of the first one need what a
    /// cache has lost by then.
    fn map(
        &mut self,
        computation: &Computation,
        facts: &Facts,
        views: &Views,
        block: &Block,
        inner: &[usize],
    ) {
        let band = bands::band(&Region::all(computation), facts, views, block, inner);
        if let Some((d, blocks)) = band {
            self.around.push((SHARED, d, Parts::Derived));
            self.reasons.push(format!(
                "'{}' is cut into bands of {} points, of which L2 holds what the next points of \
                 '{}' need",
                computation.dimensions[d].name,
                blocks * block.points(d),
                computation.dimensions[inner[0]].name
            ));
        }
        let parts = |d: &usize| match band {
            Some((cut, blocks)) if cut == *d => Parts::Fixed(blocks),
            _ => Parts::Derived,
        };
        let loops = inner.iter().map(|d| ("L2", *d, parts(d)));
        self.around.extend(loops);
    }

    /// Whole rows one after the other are prefetched; each few of them add to the results.
    fn stream(&mut self, computation: &Computation, views: &Views, block: &Block) {
        let Some(d) = self.sums.first().copied() else {
            return;
        };
        let is_long = views.points[d].is_none_or(|n| n > 2 * ROWS);
        if is_long && block.unrolled[d] == 1 && views.keeps_partial_results() {
            self.cut = Some((d, ROWS));
            self.around.push(("main", d, Parts::Derived));
            self.reasons.push(format!(
                "'{}' is cut into parts of {ROWS}: all columns of so many rows are read before the \
                 next ones",
                computation.dimensions[d].name
            ));
        }
    }

    fn search(&mut self, search: &Search, cores: &[usize]) {
        let (nest, tried) = search.best(cores);
        self.reasons.push(search.reason(&nest, tried));
        self.cycles = Some(nest.cycles.total());
        self.cores = nest.cores;
        self.cut = nest.cut;
        let loops = nest.loops.iter().filter_map(|(role, each)| {
            let (layer, parts) = match role {
                Role::Outer => (SHARED, Parts::Derived),
                Role::Cut => ("main", Parts::Derived),
                Role::Last => ("L1", Parts::Derived),
                Role::Inner => ("L2", Parts::Fixed(each.trips)),
                Role::Sum => return None,
            };
            Some((layer, each.dimension, parts))
        });
        self.around.extend(loops);
        self.packed = nest.packed;
    }
}

/// Rows that are read once before what they add to is left.
const ROWS: i64 = 16;

/// The dimensions that cores can share: kept ones first, then one that is combined, whose parts
/// are to be combined in the end.
fn cores(
    facts: &Facts,
    views: &Views,
    block: &Block,
    sums: &[usize],
    scans: &[usize],
) -> Vec<usize> {
    if facts.cores < 2 || points(facts, views) < facts.grain {
        return Vec::new();
    }
    let fits = |d: &usize| views.size(*d) >= facts.cores * block.points(*d);
    let whole = |d: &usize| views.size(*d) >= 4 * facts.cores * block.points(*d);
    let mut kept_dims: Vec<usize> = (0..views.points.len())
        .filter(|d| views.combine[*d] == Combine::Cc && fits(d))
        .collect();
    // Parts of equal size are easier to have of many blocks.
    kept_dims.sort_by_key(|d| !whole(d));
    let sum = sums.iter().copied().filter(|_| scans.is_empty()).find(fits);
    let combined = sum.or_else(|| only_scan(views).filter(fits));
    let combined = combined.filter(|_| !facts.is_deterministic);
    kept_dims.into_iter().chain(combined).collect()
}

/// The points that there are to share. What is known at run time only may be large, and a loop over
/// few parts costs little.
fn points(facts: &Facts, views: &Views) -> i64 {
    let points = (0..views.points.len()).map(|d| views.points[d].unwrap_or(facts.grain));
    points.fold(1, i64::saturating_mul)
}

/// Returns the reason for using one core; nothing where there is no other core to share with.
fn why_one_core(facts: &Facts, views: &Views) -> Option<String> {
    let points = points(facts, views);
    match points < facts.grain {
        _ if facts.cores < 2 => None,
        true => Some(format!(
            "one core: {points} points, and from {} on they are worth a thread",
            facts.grain
        )),
        false => Some(format!(
            "one core: no dimension that may be shared has a block for each of {} cores",
            facts.cores
        )),
    }
}

/// The prefix-sum of a computation that combines in no other dimension, and keeps none.
fn only_scan(views: &Views) -> Option<usize> {
    (views.combine.len() == 1 && views.combine[0].is_ps()).then_some(0)
}

fn finish(
    computation: &Computation,
    (asm, facts): (&Asm, &Facts),
    views: &Views,
    levels: Levels,
    leaf: Leaf,
    inputs: BTreeMap<String, Input>,
) -> Schedule {
    let sums = (0..views.points.len()).any(|d| views.combine[d] != Combine::Cc);
    let mut outputs = BTreeMap::new();
    for buffer in computation.outputs.iter().filter(|_| sums) {
        if let Some(first) = &leaf.first_sum {
            let mut output = Output::default();
            output.combine.insert(first.clone(), "register".into());
            outputs.insert(buffer.name.clone(), output);
        }
    }
    let layers = levels
        .layers
        .into_iter()
        .filter(|(_, parts)| !parts.is_empty());
    Schedule {
        asm: Some(asm.name.clone()),
        deterministic: facts.is_deterministic.then_some(true),
        layers: layers
            .map(|(name, parts)| Layer {
                name: name.into(),
                parts,
            })
            .collect(),
        decompose: Phase {
            order: Some(levels.order),
            assign: BTreeMap::new(),
        },
        recompose: Phase {
            order: leaf.deferred,
            assign: BTreeMap::new(),
        },
        inputs,
        outputs,
        ..Schedule::default()
    }
}
