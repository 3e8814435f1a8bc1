//! The levels of a schedule around a block.

use std::collections::BTreeMap;

use super::block::Block;
use super::pack::Packing;
use super::views::Views;
use super::{Choice, Facts, turn};
use crate::asm::Asm;
use crate::computation::{Combine, Computation};
use crate::schedule::{Input, Layer, LevelName, Output, Parts, Phase, Schedule};

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
    let mut reasons = block.reasons.clone();
    let plan = Plan::new(facts, views, block);
    if let Some(d) = plan.cores {
        levels.add("core", d, Parts::Fixed(facts.cores));
        reasons.push(format!(
            "{} cores share dimension '{}'",
            facts.cores, levels.names[d]
        ));
    } else {
        reasons.push("one core: too little to share, or nothing that can be shared".into());
    }
    for d in &plan.outer {
        levels.add(shared, *d, Parts::Derived);
    }
    if let Some((d, size)) = plan.cut {
        levels.add("main", d, Parts::Derived);
        let is_streamed = (block.lanes).is_some_and(|(lane, _)| views.is_streamed(lane, facts.l2));
        let why = match is_streamed {
            true => "all columns of so many rows are read before the next ones",
            false => "what they read for a block stays in L2",
        };
        reasons.push(format!(
            "'{}' is cut into parts of {size}: {why}",
            levels.names[d]
        ));
    }
    let mut staged_at = None;
    if let Some((d, tiles)) = plan.rows {
        staged_at = Some(levels.add(shared, d, Parts::Derived));
        if let Some(d) = plan.columns {
            levels.add("L1", d, Parts::Derived);
        }
        levels.add("L2", d, Parts::Fixed(tiles));
    } else if block.turned.is_some() {
        for d in &plan.inner {
            levels.add(shared, *d, Parts::Derived);
        }
        for (layer, d, parts) in &plan.tiles {
            levels.add(layer, *d, Parts::Fixed(*parts));
        }
    } else {
        for d in &plan.inner {
            let level = levels.add("L2", *d, Parts::Derived);
            staged_at.get_or_insert(level);
        }
    }
    let leaf = leaf(views, block, &plan, &mut levels);
    let packing = Packing {
        computation,
        facts,
        views,
        block,
        cut: plan.cut,
        levels: &levels,
        region: shared,
    };
    let packed = staged_at.map_or(BTreeMap::new(), |at| packing.inputs(&at, &mut reasons));
    Choice {
        is_transposed: block.turned.is_some(),
        schedule: finish(computation, asm, views, levels, leaf, packed),
        reasons,
    }
}

/// The levels of the leaf: where it starts, and R1's order of it if that is another one.
struct Leaf {
    /// From which level on results are in registers.
    first_sum: Option<LevelName>,
    late: Option<Vec<LevelName>>,
}

fn leaf(views: &Views, block: &Block, plan: &Plan, levels: &mut Levels) -> Leaf {
    let mut loops = Vec::new();
    for d in plan.scans.iter().chain(&plan.sums) {
        let parts = match plan.cut {
            Some((cut, size)) if cut == *d => Parts::Fixed(size / block.points(*d)),
            _ => Parts::Derived,
        };
        loops.push(levels.add("L1", *d, parts));
    }
    let start = levels.order.len();
    for d in (0..block.unrolled.len()).filter(|d| block.unrolled[*d] > 1) {
        levels.add("register", d, Parts::Fixed(block.unrolled[d]));
    }
    if let Some((d, count)) = block.lanes {
        levels.add("simd", d, Parts::Fixed(count));
    }
    // Unrolled parts and lanes of a sum are combined once, after its loops: where the order of
    // what is combined is free.
    let is_free = views.is_commutative;
    let is_sum = |level: &LevelName| {
        let d = levels.names.iter().position(|n| *n == level.dimension);
        d.is_some_and(|d| views.combine[d].is_pw())
    };
    let inside: Vec<LevelName> = levels.order[start..]
        .iter()
        .filter(|l| is_sum(l))
        .cloned()
        .collect();
    let sums = loops.iter().any(is_sum);
    let late: Option<Vec<LevelName>> = (is_free && sums && !inside.is_empty()).then(|| {
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
    let first = late.as_ref().unwrap_or(&levels.order).get(first);
    Leaf {
        first_sum: first.cloned(),
        late,
    }
}

/// Which dimension is what.
struct Plan {
    cores: Option<usize>,
    /// Kept dimensions that are neither rows nor columns of a product.
    outer: Vec<usize>,
    /// The combined dimension that is cut, and into parts of how many points.
    cut: Option<(usize, i64)>,
    /// The rows of a product, and how many tiles of them stay in L2.
    rows: Option<(usize, i64)>,
    /// Its columns: those of the lanes.
    columns: Option<usize>,
    /// Kept dimensions of anything but a product, outermost first.
    inner: Vec<usize>,
    /// Of what is transposed, how many blocks are done one after the other, by layer and
    /// dimension.
    tiles: Vec<(&'static str, usize, i64)>,
    scans: Vec<usize>,
    sums: Vec<usize>,
}

impl Plan {
    fn new(facts: &Facts, views: &Views, block: &Block) -> Plan {
        let rank = views.points.len();
        let of = |wanted: fn(Combine) -> bool| -> Vec<usize> {
            (0..rank).filter(|d| wanted(views.combine[*d])).collect()
        };
        let (mut scans, sums) = (of(Combine::is_ps), of(Combine::is_pw));
        let kept = of(|c| c == Combine::Cc);
        let has_lanes = |d: usize| block.lanes.is_some_and(|(dim, _)| dim == d);
        // Of several prefix-sums only one is a loop in registers, and it is the innermost.
        let outer_scans: Vec<usize> = match scans.pop() {
            Some(last) => std::mem::replace(&mut scans, vec![last]),
            None => Vec::new(),
        };
        let is_row = |d: &usize| block.unrolled[*d] > 1 && !has_lanes(*d);
        let row = kept
            .iter()
            .copied()
            .filter(is_row)
            .max_by_key(|d| views.size(*d));
        let column = block.lanes.map(|(d, _)| d).filter(|d| kept.contains(d));
        let is_product = !sums.is_empty() && scans.is_empty();
        let (row, column) = if is_product {
            (row, column)
        } else {
            (None, column)
        };
        let (mut outer, mut inner): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
        for d in kept {
            let is_inner = Some(d) == row || Some(d) == column;
            let is_there = views.points[d].is_none_or(|n| n > block.points(d));
            if row.is_some() && !is_inner && is_there {
                outer.push(d);
            } else if row.is_none() && !has_lanes(d) && is_there {
                inner.push(d);
            }
        }
        outer.extend(outer_scans);
        inner.extend(column.filter(|_| row.is_none()));
        let tiles = match (column, block.turned) {
            (Some(lane), Some(rows)) => {
                // Rows that are read go on where the block before ended.
                inner.retain(|d| *d != rows);
                inner.extend(
                    views.points[rows]
                        .is_none_or(|n| n > block.points(rows))
                        .then_some(rows),
                );
                turn::tiles(views, lane, rows, block.points(lane))
            }
            _ => Vec::new(),
        };
        let cores = cores(facts, views, block, &sums, &scans);
        let cut = cut(facts, views, block, &sums);
        let rows = row.map(|d| {
            let depth: i64 = sums
                .iter()
                .map(|s| cut.filter(|c| c.0 == *s).map_or(views.size(*s), |c| c.1))
                .product();
            let bytes = block.unrolled[d] * depth.max(1) * views.widest;
            (d, (facts.l2 / 2 / bytes.max(1)).clamp(1, 64))
        });
        Plan {
            cores,
            outer,
            cut,
            rows,
            columns: column,
            inner,
            tiles,
            scans,
            sums,
        }
    }
}

/// Rows that are read once before what they add to is left.
const ROWS: i64 = 16;

/// Cuts the largest combined dimension where a column of the block would not stay in L2, or where
/// all columns of a row had better be read before the next row.
fn cut(facts: &Facts, views: &Views, block: &Block, sums: &[usize]) -> Option<(usize, i64)> {
    let (lane, _) = block.lanes?;
    if views.is_streamed(lane, facts.l2) {
        // Whole rows one after the other are fetched ahead; each few of them add to the results.
        let d = *sums.first()?;
        let is_long = views.points[d].is_none_or(|n| n > 2 * ROWS);
        return (is_long && block.unrolled[d] == 1).then_some((d, ROWS));
    }
    let is_shared = views
        .all
        .iter()
        .any(|v| !v.is_output && views.reuse(v) >= 32);
    if views.combine[lane] != Combine::Cc || !is_shared {
        return None;
    }
    let d = *sums.iter().max_by_key(|d| views.size(**d))?;
    let others: i64 = sums
        .iter()
        .filter(|s| **s != d)
        .map(|s| views.size(*s).max(1))
        .product();
    let column = block.points(lane) * views.widest * others;
    let most = (facts.l2 / 8 / column.max(1)).max(16);
    // A power of two: parts of equal length where the size is one.
    let size = 1 << most.ilog2();
    (views.points[d].is_none_or(|n| n > 2 * size)).then_some((d, size))
}

fn cores(
    facts: &Facts,
    views: &Views,
    block: &Block,
    sums: &[usize],
    scans: &[usize],
) -> Option<usize> {
    let points = (0..views.points.len())
        .map(|d| views.size(d))
        .fold(1, i64::saturating_mul);
    if facts.cores < 2 || points < facts.share {
        return None;
    }
    let fits = |d: &usize| views.size(*d) >= facts.cores * block.points(*d);
    let kept: Vec<usize> = (0..views.points.len())
        .filter(|d| views.combine[*d] == Combine::Cc)
        .collect();
    // A split between columns leaves each core a packed input of its own.
    let is_packed = |d: &usize| {
        block.lanes.is_some_and(|(dim, _)| dim == *d)
            && views
                .all
                .iter()
                .any(|v| !v.is_output && views.is_packable(v, *d))
    };
    let whole = |d: &usize| views.size(*d) >= 4 * facts.cores * block.points(*d);
    (kept.iter().copied().find(|d| is_packed(d) && whole(d)))
        .or_else(|| kept.iter().copied().find(whole))
        .or_else(|| kept.iter().copied().find(fits))
        .or_else(|| sums.iter().copied().filter(|_| scans.is_empty()).find(fits))
        .or_else(|| only_scan(views).filter(fits))
}

/// The prefix-sum of a computation that combines in no other dimension, and keeps none.
fn only_scan(views: &Views) -> Option<usize> {
    (views.combine.len() == 1 && views.combine[0].is_ps()).then_some(0)
}

fn finish(
    computation: &Computation,
    asm: &Asm,
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
            order: leaf.late,
            assign: BTreeMap::new(),
        },
        inputs,
        outputs,
        ..Schedule::default()
    }
}
