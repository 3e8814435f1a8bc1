//! Axes of the memory of a tile in a layout: the axis of the tile that each gets its index from.
//!
//! Blocks within blocks are groups: of neighbours that one instruction takes.

use crate::numbers::ceil_div;
use crate::staged_layout::{StagedLayout, Step};
use mdh_algebra::layout::bounded;

/// Meaning of the index of one axis of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Counts {
    /// The indices of an axis of the tile.
    All,
    /// The blocks of an axis, of that many indices each.
    Blocks(i64),
    /// The indices within a block, of which there are that many.
    Inside(i64),
    /// The groups of `size` indices within a block of `block` indices.
    Groups {
        /// The indices of a block.
        block: i64,
        /// The indices of a group.
        size: i64,
    },
    /// The indices within a group, of which there are that many.
    Within(i64),
}

/// An axis of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryAxis {
    /// The tile's axis.
    pub of: usize,
    /// Its index.
    pub counts: Counts,
    /// Elements at its end that are not used.
    pub unused: i64,
}

/// Returns the axes of memory of a tile with that many axes, or the mistake of the layout.
pub fn axes(layout: &StagedLayout, rank: usize) -> Result<Vec<MemoryAxis>, String> {
    let mut axes: Vec<MemoryAxis> = (0..rank)
        .map(|of| MemoryAxis {
            of,
            counts: Counts::All,
            unused: 0,
        })
        .collect();
    for step in &layout.steps {
        axes = match step {
            Step::Permuted(order) => order.iter().map(|n| axes[n - 1].clone()).collect(),
            Step::Blocked(sizes) => blocked(&axes, sizes)?,
            // The memory's own affair.
            Step::Algebra(_) => axes,
            Step::Padded(more) => {
                let pairs = axes.into_iter().zip(more);
                pairs
                    .map(|(axis, more)| MemoryAxis {
                        unused: axis.unused + more,
                        ..axis
                    })
                    .collect()
            }
        };
    }
    Ok(axes)
}

/// The axes of memory of a tile whose first axes count the cores that it was staged for before:
/// these are as they are, and have one index each, so that memory needs none of them.
pub fn own_axes(layout: &StagedLayout, rank: usize, own: usize) -> Result<Vec<MemoryAxis>, String> {
    let cores = rank.saturating_sub(own);
    let mut axes = axes(layout, rank - cores)?;
    axes.iter_mut().for_each(|axis| axis.of += cores);
    Ok(axes)
}

/// Returns whether memory with these axes lies in blocks.
pub fn is_blocked(axes: &[MemoryAxis]) -> bool {
    axes.iter().any(|axis| axis.counts != Counts::All)
}

/// Returns the algebra's layout of memory with these axes, for a tile of known extents: under it, a
/// blocked tile has one index for each of its axes, and is accessed like any other tile.
pub fn bricks(axes: &[MemoryAxis], tile: &[Option<i64>]) -> Result<StagedLayout, String> {
    // The axes of memory in the order of the tile's, those that count the most first.
    let depth = |axis: &MemoryAxis| match axis.counts {
        Counts::All | Counts::Blocks(_) => 0,
        Counts::Inside(_) | Counts::Groups { .. } => 1,
        Counts::Within(_) => 2,
    };
    let mut order: Vec<usize> = (0..axes.len()).collect();
    order.sort_by_key(|n| (axes[*n].of, depth(&axes[*n])));
    let (mut extents, mut whole): (Vec<i64>, Vec<i64>) = (Vec::new(), Vec::new());
    for n in &order {
        let axis = &axes[*n];
        let is_inner = depth(axis) > 0;
        if is_inner && axis.unused != 0 {
            return Err("'padded' after 'blocked', within blocks: expected full blocks".into());
        }
        let extent = match axis.counts {
            Counts::Inside(size) | Counts::Within(size) => size,
            Counts::Groups { block, size } => block / size,
            Counts::All | Counts::Blocks(_) => {
                let points = tile[axis.of];
                let points = points.ok_or("expected tiles of known sizes, since it has blocks")?;
                let size = match axis.counts {
                    Counts::Blocks(size) => size,
                    _ => 1,
                };
                (ceil_div(points, size) + axis.unused).max(1)
            }
        };
        extents.push(extent);
        match whole.last_mut() {
            Some(last) if is_inner => *last *= extent,
            _ => whole.push(extent),
        }
    }
    let place = |n: usize| order.iter().position(|at| *at == n).map_or(0, |at| at + 1);
    let order: Vec<usize> = (0..axes.len()).map(place).collect();
    let text = format!("OrderBy(RegP({extents:?},{order:?})).GroupBy({whole:?})");
    let layout = bounded::parse(&text).map_err(|error| error.to_string())?;
    Ok(StagedLayout::step(Step::Algebra(layout.into())))
}

/// Elements that a layout of the algebra needs for a tile of these extents, or the reason why it
/// cannot hold one.
pub fn elements(layout: &StagedLayout, extents: &[Option<i64>]) -> Result<i64, String> {
    let known: Option<Vec<i64>> = extents.iter().copied().collect();
    let known = known.ok_or_else(|| {
        format!("expected tiles of known sizes, since those of the layout '{layout}' are")
    })?;
    match layout.fits(&known) {
        Ok(()) => Ok(layout.elements(&known)),
        Err(sizes) => Err(format!(
            "its tiles have {known:?} elements, and the layout '{layout}' sizes of {sizes:?}: \
             expected as many or more"
        )),
    }
}

fn blocked(axes: &[MemoryAxis], sizes: &[i64]) -> Result<Vec<MemoryAxis>, String> {
    if axes.iter().any(|a| matches!(a.counts, Counts::Inside(_))) {
        return grouped(axes, sizes);
    }
    if axes
        .iter()
        .any(|a| a.counts != Counts::All || a.unused != 0)
    {
        return Err("'blocked' after 'blocked' or 'padded': expected it before them".into());
    }
    let with = |counts: fn(i64) -> Counts| {
        let pairs = axes.iter().zip(sizes);
        pairs.map(move |(axis, size)| MemoryAxis {
            counts: counts(*size),
            ..axis.clone()
        })
    };
    Ok(with(Counts::Blocks).chain(with(Counts::Inside)).collect())
}

/// Blocks in blocks: of what is within them only, and with no axis for blocks of one.
fn grouped(axes: &[MemoryAxis], sizes: &[i64]) -> Result<Vec<MemoryAxis>, String> {
    let (mut outer, mut inner) = (Vec::new(), Vec::new());
    for (axis, size) in axes.iter().zip(sizes.iter().copied()) {
        let with = |counts| MemoryAxis {
            counts,
            ..axis.clone()
        };
        match axis.counts {
            _ if size == 1 => outer.push(axis.clone()),
            Counts::Inside(block) if axis.unused == 0 && block % size == 0 => {
                outer.push(with(Counts::Groups { block, size }));
                inner.push(with(Counts::Within(size)));
            }
            Counts::Inside(block) => {
                return Err(format!(
                    "'blocked' by {size} within blocks of {block}: expected a size that divides \
                     the block's"
                ));
            }
            _ => {
                return Err(format!(
                    "'blocked' by {size} after 'blocked', of an axis that counts blocks: expected \
                     a size of 1, but for axes within blocks"
                ));
            }
        }
    }
    Ok(outer.into_iter().chain(inner).collect())
}

impl MemoryAxis {
    /// Its extent for a tile of these extents, where that is known.
    pub(super) fn extent(&self, tile: &[Option<i64>]) -> Option<i64> {
        let length = match self.counts {
            Counts::All => tile[self.of]?,
            Counts::Inside(size) | Counts::Within(size) => size,
            Counts::Groups { block, size } => block / size,
            Counts::Blocks(size) => ceil_div(tile[self.of]?, size),
        };
        Some(length + self.unused)
    }
}
