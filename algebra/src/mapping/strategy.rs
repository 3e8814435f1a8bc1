//! Strategies: choices of the chain that takes a space to a device.
//!
//! The thesis's table 3.4, with `d_0` the innermost size and blocks of fixed sizes for one and two
//! dimensions (`ceil(d / 32)` blocks, where the table has `d / 32 + 1`: one less where 32 divides):
//!
//! | rank | grid z  | grid y         | grid x         | block y | block x |
//! |------|---------|----------------|----------------|---------|---------|
//! | 1    |         |                | ceil(d_0 / 32) |         | 32      |
//! | 2    |         | ceil(d_1 / 32) | ceil(d_0 / 32) | 32      | 32      |
//! | 3    |         |                | d_2            | d_1     | d_0     |
//! | 4    |         | d_3            | d_2            | d_1     | d_0     |
//! | 5    | d_4     | d_3            | d_2            | d_1     | d_0     |

mod cost;

use super::chain::Mapping;
use super::device::Device;
use super::launch::Launch;
use super::space::{GridAxis, Space};
use super::step::Step;
use crate::index::{Expr, Facts};

/// A way of choosing a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Table 3.4, with gaps pruned as the thesis's compiler does.
    Table,
    /// The same, but dimensions of which at most half counts are compressed.
    Sparse,
    /// The cheapest of many for any rank: few threads that do nothing, neighbours in memory side by
    /// side in a warp, few operations to compute an index.
    Cost,
}

/// A launch for a space.
///
/// # Errors
/// If the strategy has none for this space and device; the message has both numbers.
pub fn choose(
    space: &Space,
    facts: &Facts,
    device: &Device,
    strategy: Strategy,
) -> Result<Launch, String> {
    let original = Mapping::new(space.clone(), vec![], facts).map_err(|e| e.message)?;
    match strategy {
        Strategy::Table => table(&dense(&original, |_| Gaps::Prune)?, device),
        Strategy::Sparse => table(&dense(&original, by_density)?, device),
        Strategy::Cost => cost::cheapest(&original, device),
    }
}

/// Treatment of a dimension's gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gaps {
    Prune,
    Compress,
}

/// Half of the indices or less, or nobody knows how many: compress, which wastes none.
fn by_density(axis: &GridAxis) -> Gaps {
    match (axis.step.as_constant(), axis.width.as_constant()) {
        (Some(t), Some(w)) if w > t / 2 => Gaps::Prune,
        _ => Gaps::Compress,
    }
}

/// The space shifted to 0 and made dense.
fn dense(original: &Mapping, gaps: impl Fn(&GridAxis) -> Gaps) -> Result<Mapping, String> {
    let (axes, facts) = (&original.original().axes, original.facts());
    let mut chain = Vec::new();
    if axes.iter().any(|a| a.lower.as_constant() != Some(0)) {
        chain.push(Step::ShiftLb);
    }
    let sparse = axes.iter().enumerate().filter(|(_, a)| !a.is_full(facts));
    let (compress, prune): (Vec<_>, Vec<_>) = sparse.partition(|(_, a)| gaps(a) == Gaps::Compress);
    if !compress.is_empty() {
        let dims = compress.into_iter().map(|(d, _)| d);
        chain.push(Step::CompressGrid(dims.collect()));
    }
    if !prune.is_empty() {
        chain.push(Step::PruneGrid);
    }
    original.then(&chain).map_err(|e| e.message)
}

/// Table 3.4.
fn table(mapping: &Mapping, device: &Device) -> Result<Launch, String> {
    let sizes = mapping.mapped().sizes();
    let by_32 = || [Step::PadLast(32.into()), Step::SplitLast(32.into())];
    let (chain, threads) = match sizes.len() {
        1 => (by_32().to_vec(), 1),
        2 => {
            let turn = Step::Permute(vec![1, 2, 0]);
            let order = Step::Permute(vec![2, 0, 3, 1]);
            let [first, last] = [by_32().to_vec(), by_32().to_vec()];
            ([first, vec![turn], last, vec![order]].concat(), 2)
        }
        3..=5 => (vec![], 2),
        rank => {
            return Err(format!(
                "table 3.4: found {rank} dimensions, expected 1 to 5 (the strategy 'cost' takes \
                 any number)"
            ));
        }
    };
    let launch = mapping.then(&chain).map_err(|e| e.message)?;
    let refused = |message: String| {
        let [.., d1, d0] = &sizes[..] else {
            return message;
        };
        format!("table 3.4, d_0 = {d0} and d_1 = {d1}: {message}")
    };
    Launch::new(launch, threads, device).map_err(refused)
}

/// Blocks of `x` times `y` threads of the last two dimensions, all further ones folded into a
/// third dimension of blocks; `None` takes the whole of the last dimension.
fn tiles(rank: usize, x: Option<i64>, y: i64) -> (Vec<Step>, usize) {
    let mut chain = Vec::new();
    let mut outer = rank.saturating_sub(2);
    if outer > 1 {
        // The last two step aside, in their order, while the outer ones are folded.
        let aside = [rank - 2, rank - 1].into_iter().chain(0..rank - 2);
        chain.push(Step::Permute(aside.collect()));
        chain.extend((1..outer).map(|_| Step::FoldLast2));
        chain.push(Step::Permute(vec![2, 0, 1]));
        outer = 1;
    }
    let cut = |size: i64| [Step::PadLast(size.into()), Step::SplitLast(size.into())];
    let outer_dims = 0..outer;
    let order =
        |rest: &[usize]| Step::Permute(outer_dims.clone().chain(rest.iter().copied()).collect());
    let o = outer;
    match (x, y) {
        (None, 1) => return (chain, 1),
        (Some(x), 1) => {
            chain.extend(cut(x));
            return (chain, 1);
        }
        // [.., d1, d0] -> [.., d0, d1] -> [.., d0, gy, by] -> [.., gy, by, d0]
        (None, y) => {
            chain.push(order(&[o + 1, o]));
            chain.extend(cut(y));
            chain.push(order(&[o + 1, o + 2, o]));
        }
        // [.., d1, gx, bx] -> [.., gx, bx, d1] -> [.., gx, bx, gy, by] -> [.., gy, gx, by, bx]
        (Some(x), y) => {
            chain.extend(cut(x));
            chain.push(order(&[o + 1, o + 2, o]));
            chain.extend(cut(y));
            chain.push(order(&[o + 2, o, o + 3, o + 1]));
        }
    }
    (chain, 2)
}

/// All dimensions folded into one, cut into blocks of so many threads.
fn folded(rank: usize, threads: i64) -> (Vec<Step>, usize) {
    let mut chain: Vec<Step> = (1..rank).map(|_| Step::FoldLast2).collect();
    chain.push(Step::PadLast(threads.into()));
    chain.push(Step::SplitLast(threads.into()));
    (chain, 1)
}

/// Returns whether a size is known to be a number up to this.
fn up_to(size: &Expr, limit: u64) -> Option<i64> {
    let size = size.as_constant().filter(|n| *n > 0)?;
    u64::try_from(size)
        .is_ok_and(|n| n <= limit)
        .then_some(size)
}
