//! Cyclic (non-nested) tiling: loops over the parts of an outer layer inside of those of an inner
//! one, in one dimension.
//!
//! A tile of such a dimension is points in groups with gaps, `i = %i to 20 step 6 width 3`. It is one
//! as long as the levels that are not opened yet are neighbours, but for one gap.

use super::loops::Loop;
use super::refusal::{Reason, Refusal, Subject};
use mdh_algebra::computation::Dimension;

/// The loops of a dimension, in the order of its layers, and when each is opened.
struct Levels {
    /// Positions among all loops.
    positions: Vec<usize>,
}

/// The loops of a dimension that are left, where those up to a position are open: positions among
/// all loops, outer layers first.
#[derive(Clone, Debug)]
pub struct Left {
    /// Those with others inside that are open: of these, groups are strided.
    pub apart: Vec<usize>,
    /// Those inside of all that are open: they make a group.
    pub group: Vec<usize>,
}

impl Levels {
    fn new(loops: &[Loop], d: usize) -> Self {
        let mut positions: Vec<usize> = (0..loops.len())
            .filter(|n| loops[*n].level.dimension == d)
            .collect();
        positions.sort_by_key(|n| loops[*n].level.layer);
        Levels { positions }
    }

    fn is_cyclic(&self) -> bool {
        !self.positions.is_sorted()
    }

    /// The levels left behind a position; `None` if there are gaps of several sizes.
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

/// Returns whether a dimension has cyclic parts.
pub fn is_in(loops: &[Loop], d: usize) -> bool {
    Levels::new(loops, d).is_cyclic()
}

/// The levels left of a dimension whose loops up to a position are open; `None` where there are gaps
/// of several sizes, which are refused.
pub fn left(loops: &[Loop], d: usize, position: usize) -> Option<Left> {
    Levels::new(loops, d).left(position)
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

/// Refusals of cyclic parts.
pub(super) fn check(subject: &Subject, loops: &[Loop], refusals: &mut Vec<Refusal>) {
    for (d, dimension) in subject.computation.dimensions.iter().enumerate() {
        let levels = Levels::new(loops, d);
        let why = match levels.is_cyclic() {
            true => refusal(subject, dimension, &levels),
            false => None,
        };
        if let Some(why) = why {
            let along = loops.iter().filter(|l| l.level.dimension == d);
            let names: Vec<String> = along
                .map(|l| format!("'{}'", subject.resolved.name(l.level)))
                .collect();
            let message = format!(
                "with cyclic parts, in the order {}: {why}",
                names.join(", ")
            );
            refusals.push(Refusal::new(Reason::Cyclic, message));
        }
    }
}

fn refusal(of: &Subject, dimension: &Dimension, levels: &Levels) -> Option<&'static str> {
    if dimension.combine.is_ps() {
        return Some("expected the outer layers of a prefix-sum's dimension outside");
    }
    let operator = of.computation.operator();
    if dimension.combine.is_pw() && operator.is_some_and(|operator| !operator.is_commutative()) {
        return Some(
            "expected the outer layers outside in a dimension that an operator combines which is \
             not commutative",
        );
    }
    let is_dense = dimension.is_dense();
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
