//! The cheapest launch of many.
//!
//! Candidates differ in what becomes of gaps, in whether dimensions stay or are folded, and in the
//! sizes of blocks. Each is priced by what its threads do: a warp pays for all its lanes, whatever
//! becomes of them, for the operations of an index, and for the sectors of memory that its lanes
//! read where neighbours of the innermost dimension are neighbours in memory. That is not assumed
//! of a shape but counted, on the lanes of some warps. The numbers below are a warp's throughput
//! in lane operations on current devices, rounded; they rank candidates and say nothing of time.

use super::super::chain::Mapping;
use super::super::device::Device;
use super::super::launch::Launch;
use super::super::space::GridAxis;
use super::{Gaps, by_density, dense, folded, tiles, up_to};
use crate::domain::Grid;
use crate::index::{Expr, IndexProgram, Interval, Name, normal, simplify};

/// Cost of the body for each lane, besides the index and its memory.
const BODY: f64 = 4.0;
/// Cost of reading one sector.
const SECTOR: f64 = 128.0;
/// Elements of a sector of 32 bytes, if they have 4.
const ELEMENTS: i64 = 8;
/// Cost of starting a block.
const START: f64 = 128.0;
/// So many blocks run at a time, and all wait for the last one: large blocks end late.
const AT_ONCE: f64 = 100.0;
/// Smaller blocks leave a multiprocessor half empty: it has places for so many threads a block.
const RESIDENT: f64 = 64.0;
/// Assumed value of a size of which nothing is known.
const TYPICAL: i64 = 4096;

/// The cheapest launch for a space.
pub(super) fn cheapest(original: &Mapping, device: &Device) -> Result<Launch, String> {
    let rank = original.original().rank();
    if rank == 0 {
        return Launch::new(original.clone(), 0, device);
    }
    let choices: [fn(&GridAxis) -> Gaps; 3] = [by_density, |_| Gaps::Prune, |_| Gaps::Compress];
    let mut best: Option<(f64, Launch)> = None;
    let mut refused = None;
    let mut prefixes: Vec<Mapping> = Vec::new();
    for gaps in choices {
        let prefix = dense(original, gaps)?;
        if prefixes.iter().any(|p| p.chain() == prefix.chain()) {
            continue;
        }
        for (chain, threads) in shapes(&prefix, device) {
            let mapping = prefix.then(&chain).map_err(|e| e.message)?;
            match Launch::new(mapping, threads, device) {
                Err(why) => refused = refused.or(Some(why)),
                Ok(launch) => {
                    let price = price(&launch);
                    if best.as_ref().is_none_or(|(least, _)| price < *least) {
                        best = Some((price, launch));
                    }
                }
            }
        }
        prefixes.push(prefix);
    }
    let nothing = || refused.unwrap_or_else(|| "found no launch".to_string());
    best.map(|(_, launch)| launch).ok_or_else(nothing)
}

/// Chains that end in blocks and threads. Of equal prices the first one is taken.
fn shapes(prefix: &Mapping, device: &Device) -> Vec<(Vec<super::Step>, usize)> {
    let sizes = prefix.mapped().sizes();
    let rank = sizes.len();
    let powers = |from: u64| {
        (0..11)
            .map(move |k| from << k)
            .filter_map(|n| i64::try_from(n).ok())
    };
    let threads = i64::try_from(device.threads).unwrap_or(i64::MAX);
    let fits = |n: &i64| *n <= threads;
    let wide: Vec<i64> = powers(device.warp).take_while(fits).collect();
    let whole = sizes.last().and_then(|d| up_to(d, device.threads));
    let columns = wide.iter().map(|x| Some(*x));
    let columns: Vec<Option<i64>> = columns.chain(whole.map(|_| None)).collect();
    let mut shapes = Vec::new();
    for x in columns {
        let rows = threads / x.or(whole).unwrap_or(1).max(1);
        let rows: Vec<i64> = match rank {
            1 => vec![1],
            _ => powers(1).take_while(|y| *y <= rows).collect(),
        };
        shapes.extend(rows.into_iter().map(|y| tiles(rank, x, y)));
    }
    if rank > 1 {
        shapes.extend(wide.iter().map(|b| folded(rank, *b)));
    }
    shapes
}

/// Returns the cost of a launch, with symbols at their typical values.
fn price(launch: &Launch) -> f64 {
    let facts = launch.mapping().facts();
    let typical: Vec<(Name, i64)> = launch
        .mapping()
        .symbols()
        .into_iter()
        .map(|name| {
            let Interval { min, max } = facts.interval(&name);
            let value = i128::from(TYPICAL).clamp(min, max.max(min));
            (name, i64::try_from(value).unwrap_or(TYPICAL))
        })
        .collect();
    let value = |name: &str| {
        let (_, value) = typical.iter().find(|(n, _)| &**n == name)?;
        Some(Expr::constant(*value))
    };
    let number = |e: &Expr| e.substitute(&value).as_constant().unwrap_or(i64::MAX) as f64;
    let blocks: f64 = launch.blocks().iter().map(number).product();
    let threads: f64 = launch.block().iter().map(number).product();
    let warp = launch.device().warp as f64;
    let warps = (threads / warp).ceil();
    let lanes = warp * (operations(launch) + BODY);
    let of_warp = lanes + SECTOR * sectors(launch, &value);
    let room = (RESIDENT / (warps * warp)).max(1.0);
    (blocks + AT_ONCE) * (warps * of_warp * room + START)
}

/// Operations of an index and its conditions, divisions as what they cost.
fn operations(launch: &Launch) -> f64 {
    let (back, facts) = (launch.back(), launch.facts());
    let expressions = back.index.iter().chain(&back.exits);
    let expressions: Vec<Expr> = expressions.map(|e| normal::normal(&facts, e)).collect();
    simplify::cost(&facts, &IndexProgram::new(&expressions)) as f64 / 16.0
}

/// Returns the number of sectors that a warp touches: of the first warps of the first block and of
/// one in the middle, those that touch the most.
fn sectors(launch: &Launch, value: &dyn Fn(&str) -> Option<Expr>) -> f64 {
    let (original, mapped) = (launch.mapping().original(), launch.mapping().mapped());
    let (Some(grids), Some(sizes)) = (
        original.bound(value).numbers(),
        mapped.bound(value).numbers(),
    ) else {
        return 0.0;
    };
    let back = launch.back();
    let outputs = [back.index.as_slice(), &back.exits].concat();
    let outputs: Vec<Expr> = outputs.iter().map(|e| e.substitute(value)).collect();
    let program = IndexProgram::with_inputs(&launch.names(), &outputs);
    let threads = launch.block().len();
    let (blocks, block) = sizes.split_at(sizes.len() - threads);
    let middle: Vec<i64> = blocks.iter().map(|b| b.count() / 2).collect();
    let lanes = i64::try_from(launch.device().warp).unwrap_or(1);
    let sectors_of = |block_at: &[i64]| {
        let mut touched = Vec::new();
        for lane in 0..lanes.min(block.iter().map(Grid::count).product()) {
            let thread = place(block, lane);
            let Ok(values) = program.run(&[block_at, &thread].concat()) else {
                continue;
            };
            let (index, exits) = values.split_at(grids.len());
            if !exits.contains(&0) {
                touched.push(offset(&grids, index) / ELEMENTS);
            }
        }
        touched.sort_unstable();
        touched.dedup();
        touched.len()
    };
    sectors_of(&vec![0; blocks.len()]).max(sectors_of(&middle)) as f64
}

/// The place of a lane in a block, whose last dimension is the fastest.
fn place(block: &[Grid], lane: i64) -> Vec<i64> {
    let mut rest = lane;
    let mut place: Vec<i64> = block
        .iter()
        .rev()
        .map(|axis| {
            let n = axis.count().max(1);
            let at = rest % n;
            rest /= n;
            at
        })
        .collect();
    place.reverse();
    place
}

/// Returns an element's offset in a row-major array around the space.
fn offset(grids: &[Grid], index: &[i64]) -> i64 {
    grids.iter().zip(index).fold(0_i64, |flat, (grid, i)| {
        let reach = grid.upper.saturating_sub(grid.lower);
        flat.wrapping_mul(reach).wrapping_add(i - grid.lower)
    })
}
