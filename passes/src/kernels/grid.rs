//! Which parts a schedule may give to blocks, warps and threads.

use mdh_algebra::schedule::Count;
use mdh_dialect::ir::Errors;

use super::{BLOCK, THREAD, WARP};
use crate::scheduled::{Loop, Scheduled};

/// What is not followed: numbers of threads that are not known, and loops around blocks that each
/// block would have to go through.
pub fn findings(of: &Scheduled, loops: &[Loop], found: &mut Errors) {
    if !of.total.asm.has_kernels() {
        return;
    }
    let layer = |l: &Loop| l.is_parallel.then(|| of.layer(l.level));
    let is_of_threads = |l: &Loop| [Some(WARP), Some(THREAD)].contains(&layer(l));
    let is_of_blocks = |l: &Loop| layer(l) == Some(BLOCK);
    for (n, own) in loops.iter().enumerate() {
        let name = of.total.name(own.level);
        if is_of_threads(own) && matches!(own.count, Count::Dynamic { .. }) {
            found.push(format!(
                "has a schedule with as many parts of '{name}' as '{}' has points, a number that is not \
                 known before it runs: expected a number of {}s, and '*' in another layer",
                of.total.dimensions[own.level.dimension],
                of.layer(own.level),
            ));
        }
        let first = loops.iter().position(is_of_blocks);
        let outer = &loops[first.unwrap_or(n).min(n)..n];
        let threads = loops[..n].iter().find(|l| is_of_threads(l));
        let around = threads.or_else(|| outer.iter().find(|l| !is_of_blocks(l)));
        if let Some(around) = around.filter(|_| is_of_blocks(own)) {
            let what = match is_of_threads(around) {
                true => "whose parts are those of one block",
                false => "which each block goes through",
            };
            found.push(format!(
                "has a schedule whose order has '{name}' inside of '{}', {what}: expected blocks \
                 outside of all loops but those around all blocks",
                of.total.name(around.level),
            ));
        }
    }
}
