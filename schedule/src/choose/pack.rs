//! Packed inputs: their layout.
//!
//! Lanes along an axis that is not the last one in memory would be read one by one, and a long
//! stride between what a tile reads costs a page each. An input that is read often is copied such
//! that each tile reads what lies next to each other: outermost what no loop around the block
//! passes, then what is combined, then the rows of the block, then its lanes.

use super::block::Block;
use super::views::{View, Views};
use crate::numbers::ceil_div;
use crate::staged_layout::{StagedLayout, Step};
use mdh_algebra::computation::Combine;

/// Chooses the order of a packed input's axes (1-based), and the block of each: the elements that a
/// tile in registers reads, of all that it combines. `None` if it cannot be packed, or nothing
/// would change.
pub fn blocks(
    views: &Views,
    block: &Block,
    cut: Option<(usize, i64)>,
    view: &View,
) -> Option<(Vec<usize>, Vec<i64>)> {
    if !views.can_be_packed(view) {
        return None;
    }
    let depth = |d: usize| match cut {
        Some((cut, size)) if cut == d => Some(size),
        _ => views.points[d],
    };
    // Whole groups.
    let whole = |d: usize, size: i64| match block.group {
        Some((dim, count)) if dim == d => ceil_div(size, count) * count,
        _ => size,
    };
    let lane = block.lanes.map(|(d, _)| d);
    let mut axes: Vec<(usize, usize, i64)> = Vec::new();
    for (axis, form) in view.axes.as_ref()?.iter().enumerate() {
        let moved = (0..form.coefficients.len()).find(|d| form.coefficients[*d] != 0);
        let (place, size) = match moved {
            Some(d) if Some(d) == lane && views.combine[d] == Combine::Cc => (3, block.points(d)),
            Some(d) if Some(d) == lane => (3, depth(d)?),
            Some(d) if views.combine[d].is_pw() => (1, whole(d, depth(d)?)),
            Some(d) if block.points(d) > 1 => (2, block.points(d)),
            _ => (0, 1),
        };
        axes.push((place, axis + 1, size));
    }
    axes.sort();
    let order: Vec<usize> = axes.iter().map(|(_, axis, _)| *axis).collect();
    let sizes = axes.iter().map(|(.., size)| *size).collect();
    (order.len() > 1).then_some((order, sizes))
}

/// The blocks within blocks of the axes in this order: the points of a group are next to each
/// other. `None` if there are none.
pub fn groups(block: &Block, view: &View, order: &[usize]) -> Option<Vec<i64>> {
    let (d, count) = block.group?;
    let axes = view.axes.as_ref()?;
    let size = |axis: &usize| match axes[axis - 1].coefficients[d] {
        0 => 1,
        _ => count,
    };
    let sizes: Vec<i64> = order.iter().map(size).collect();
    let outer = order.iter().map(|_| 1);
    sizes
        .contains(&count)
        .then(|| outer.chain(sizes.iter().copied()).collect())
}

/// A copy's layout.
pub fn layout(order: Vec<usize>, blocks: Vec<i64>, groups: Option<Vec<i64>>) -> StagedLayout {
    let is_sorted = order.windows(2).all(|pair| pair[0] < pair[1]);
    let permuted = (!is_sorted).then_some(Step::Permuted(order));
    StagedLayout {
        steps: permuted
            .into_iter()
            .chain([Step::Blocked(blocks)])
            .chain(groups.map(Step::Blocked))
            .collect(),
    }
}
