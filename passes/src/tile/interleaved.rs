//! Interleaved parts: those of an outer layer inside of those of an inner one, in one dimension.
//!
//! ```mlir
//! mdh.compute (i = 20) ..
//!   // L1 {i: *}, L2 {i: 2}, register {i: 3}, in the order [L2.i, L1.i, register.i]
//! // becomes
//! scf.for %i = %c0 to %c6 step %c3 {              // L2.i: its two parts of 3 in the first 6 points
//!   scf.for %j = %i to %c20 step %c6 {            // L1.i: that part of each 6 points
//!     %end = arith.minsi (%j + 3), %c20
//!     mdh.compute (i = %j to %end) .. // register {i: 3}
//!   }
//! }
//! ```
//!
//! The tiles of the outer loop here are points in groups with gaps, `i = %i to 20 step 6 width 3`, which
//! is a domain as any other. A tile is one as long as the levels that are not opened yet are neighbours,
//! but for one gap.

use mdh_algebra::computation::{Combine, Dimension};
use mdh_dialect::ir::{Errors, Val};
use mdh_dialect::parts::Dim;

use super::nest::{Nest, Tile, bound, ceil_div};
use super::steps::Steps;
use crate::buffers::value;
use crate::builder::Builder;
use crate::lower::grid::Grid;
use crate::scheduled::{Loop, Scheduled};

/// The loops of a dimension, in the order of its layers, and when each is opened.
struct Levels {
    /// Positions among all loops.
    positions: Vec<usize>,
}

/// What is left of a dimension's loops, where those up to a position are open: positions among all
/// loops, outer layers first.
pub struct Left {
    /// Those with others inside that are open: of these, groups lie apart.
    pub apart: Vec<usize>,
    /// Those inside of all that are open: they make a group.
    pub group: Vec<usize>,
}

impl Levels {
    fn of(loops: &[Loop], d: usize) -> Self {
        let mut positions: Vec<usize> = (0..loops.len())
            .filter(|n| loops[*n].level.dimension == d)
            .collect();
        positions.sort_by_key(|n| loops[*n].level.layer);
        Levels { positions }
    }

    fn is_interleaved(&self) -> bool {
        !self.positions.is_sorted()
    }

    /// What is left behind a position; `None` if there are gaps of several sizes.
    fn left(&self, position: usize) -> Option<Left> {
        let is_left = |n: &usize| *n > position;
        let inside = self
            .positions
            .iter()
            .rev()
            .take_while(|n| is_left(n))
            .count();
        let (outer, group) = self.positions.split_at(self.positions.len() - inside);
        let first = outer.iter().position(is_left);
        let apart = first.map_or(&[][..], |first| &outer[first..]);
        let end = apart.iter().take_while(|n| is_left(n)).count();
        let is_even = !apart[end..].iter().any(is_left);
        is_even.then(|| Left {
            apart: apart[..end].to_vec(),
            group: group.to_vec(),
        })
    }
}

/// Whether a dimension has interleaved parts.
pub fn is_in(loops: &[Loop], d: usize) -> bool {
    Levels::of(loops, d).is_interleaved()
}

/// What is left of a dimension whose loops up to a position are open.
pub fn left(loops: &[Loop], d: usize, position: usize) -> Left {
    let left = Levels::of(loops, d).left(position);
    left.unwrap_or_else(|| panic!("gaps of several sizes in dimension {d} are refused"))
}

/// The first loop such that no loop from it on is of a layer outside of an open one's.
pub fn end(loops: &[Loop]) -> usize {
    let is_inverse = |n: &usize| {
        let outer = loops[..*n].iter();
        let level = loops[*n].level;
        outer
            .filter(|l| l.level.dimension == level.dimension)
            .any(|l| l.level.layer > level.layer)
    };
    (0..loops.len()).rev().find(is_inverse).map_or(0, |n| n + 1)
}

/// What is not followed of interleaved parts.
pub fn findings(of: &Scheduled, loops: &[Loop], found: &mut Errors) {
    for (d, dimension) in of.computation.dimensions.iter().enumerate() {
        let levels = Levels::of(loops, d);
        let why = match levels.is_interleaved() {
            true => refusal(of, dimension, &levels),
            false => None,
        };
        if let Some(why) = why {
            let own = loops.iter().filter(|l| l.level.dimension == d);
            let names: Vec<String> = own
                .map(|l| format!("'{}'", of.total.name(l.level)))
                .collect();
            found.push(format!(
                "has a schedule with interleaved parts, in the order {}: {why}",
                names.join(", ")
            ));
        }
    }
}

fn refusal(of: &Scheduled, dimension: &Dimension, levels: &Levels) -> Option<&'static str> {
    if matches!(dimension.combine, Combine::Ps(_)) {
        return Some("expected the outer layers of a prefix-sum's dimension outside");
    }
    let operator = of.computation.operator();
    if dimension.combine.is_pw() && operator.is_some_and(|operator| !operator.is_commutative()) {
        return Some(
            "expected the outer layers outside in a dimension that an operator combines which is \
             not commutative",
        );
    }
    let is_dense = dimension.step.is_some() && dimension.step == dimension.width;
    if !is_dense && dimension.width != Some(1) {
        return Some("expected a dimension whose points are at equal distances");
    }
    for position in &levels.positions {
        let Some(left) = levels.left(*position) else {
            return Some(
                "expected gaps of one size: no level between two others that are inside of it",
            );
        };
        // Points at equal distances, in groups with gaps, are no domain.
        if !is_dense && !left.apart.is_empty() && !left.group.is_empty() {
            return Some("expected neighbours, or loops inside of which single points are left");
        }
    }
    None
}

/// How the parts of a level lie in a tile of a dimension with interleaved parts.
pub struct Interleaved<'c> {
    /// The dimension.
    d: usize,
    /// What is left of it inside.
    left: Left,
    /// Whether that goes beyond one part: a part is then a group of each.
    is_apart: bool,
    /// From one point to the next.
    stride: Val<'c>,
    /// From one part to the next.
    span: Val<'c>,
}

impl<'c> Interleaved<'c> {
    /// That of the loop at a position; `None` if those of its dimension are in the order of its layers.
    pub fn of(nest: &Nest<'c, '_>, position: usize) -> Option<Self> {
        let of = nest.loops[position];
        let d = of.level.dimension;
        if !is_in(nest.loops, d) {
            return None;
        }
        let mut outside = nest.outside;
        let grid = Grid::new(&mut outside, &nest.of.parts.dims[d]);
        let stride = grid.stride(&mut outside);
        let stride = stride.unwrap_or_else(|| panic!("points in groups are refused"));
        let left = left(nest.loops, d, position);
        let is_outer = |n: &usize| nest.loops[*n].level.layer < of.level.layer;
        Some(Interleaved {
            d,
            is_apart: left.apart.iter().any(is_outer),
            left,
            stride,
            span: outside.binary("arith.muli", nest.size(of), stride),
        })
    }

    /// The first indices of the parts, in a tile: those of the first part of the levels outside, if
    /// these are not open.
    pub fn steps(
        &self,
        nest: &Nest<'c, '_>,
        builder: &mut Builder<'c>,
        position: usize,
        mut grid: Grid<'c>,
    ) -> (Grid<'c>, Steps<'c>) {
        if self.is_apart {
            let mut outside = nest.outside;
            let parts = nest.parts(nest.loops[position]);
            let reach = outside.binary("arith.muli", parts, self.span);
            let end = builder.binary("arith.addi", grid.lower, reach);
            grid.upper = builder.binary("arith.minsi", end, grid.upper);
        }
        (grid, Steps::Apart(self.span))
    }

    /// The tile of the part that starts at an index.
    pub fn enter(
        &self,
        nest: &Nest<'c, '_>,
        builder: &mut Builder<'c>,
        tile: &mut Tile<'c>,
        index: Val<'c>,
    ) {
        let mut outside = nest.outside;
        let points = |outside: &mut Builder<'c>, positions: &[usize]| {
            let one = outside.index(1);
            positions.iter().fold(one, |points, n| {
                let parts = nest.parts(nest.loops[*n]);
                outside.binary("arith.muli", points, parts)
            })
        };
        let (apart, group) = (&self.left.apart, &self.left.group);
        let own = &nest.of.parts.dims[self.d];
        let dim = &mut tile.parts.dims[self.d];
        dim.lower = bound(index);
        if !self.is_apart {
            let first = apart.iter().chain(group).next();
            let reach = match first.map(|n| nest.loops[*n]) {
                None => self.stride,
                Some(first) => {
                    let (parts, size) = (nest.parts(first), nest.size(first));
                    let points = outside.binary("arith.muli", parts, size);
                    outside.binary("arith.muli", points, self.stride)
                }
            };
            let upper = value(builder, dim.upper);
            let end = builder.binary("arith.addi", index, reach);
            dim.upper = bound(builder.binary("arith.minsi", end, upper));
        }
        let (groups, width) = (points(&mut outside, apart), points(&mut outside, group));
        tile.most[self.d] = outside.binary("arith.muli", groups, width);
        tile.spans[self.d] = None;
        (dim.step, dim.width) = (own.step, own.width);
        if let Some(last) = apart.last() {
            let size = nest.size(nest.loops[*last]);
            let step = outside.binary("arith.muli", size, self.stride);
            (dim.step, dim.width) = (bound(step), bound(width));
            let one = outside.index(1);
            let gaps = outside.binary("arith.subi", groups, one);
            let gaps = outside.binary("arith.muli", gaps, step);
            tile.spans[self.d] = Some(outside.binary("arith.addi", gaps, width));
        }
    }
}

/// How many parts a level has in a tile, whose dimension is that.
pub fn parts<'c>(
    nest: &Nest<'c, '_>,
    builder: &mut Builder<'c>,
    of: Loop,
    dim: &Dim<'c>,
) -> Option<Val<'c>> {
    let position = nest.loops.iter().position(|l| *l == of)?;
    let own = Interleaved::of(nest, position)?;
    let (lower, upper) = (value(builder, dim.lower), value(builder, dim.upper));
    let distance = builder.binary("arith.subi", upper, lower);
    Some(ceil_div(builder, distance, own.span))
}
