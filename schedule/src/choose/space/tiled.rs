//! Chains in the space: the loops that other computations may be computed in, and knobs that
//! leave them.

use super::{Role, ScheduleSpace};
use crate::choose::knobs::{Chained, TileLoop};
use crate::schedule::LevelName;

/// The layer of a tile's loops.
const INNER: &str = "L2";
/// The layer of the cores' parts.
const CORE: &str = "core";

/// The layer of the loops over parts of a sum that is cut.
const CUT: &str = "main";

impl ScheduleSpace {
    /// The layer of the loops around tiles, or over parts of a sum.
    fn outer(&self, d: usize) -> &'static str {
        match self.asm.memory("L3") {
            Some(_) if !self.is_sum(d) => "L3",
            _ => CUT,
        }
    }

    fn is_sum(&self, d: usize) -> bool {
        self.views.combine[d].is_pw()
    }

    fn dimension(&self, level: &LevelName) -> Option<usize> {
        let mut names = self.views.names.iter();
        names.position(|name| *name == level.dimension)
    }

    /// Returns whether a dimension has loops around tiles, and in them, in some configuration.
    fn has_tiles(&self, d: usize) -> bool {
        self.around.contains(&d) && !self.is_sum(d) && self.views.points[d].is_none_or(|n| n > 1)
    }

    /// Returns whether a block may be as long as a dimension, which then has no loops.
    fn may_be_whole(&self, d: usize) -> bool {
        let most = self.lanes.iter().map(|lanes| lanes.points(d)).max();
        let unrolled = self.find(Role::Block(d)).map_or(1, |knob| {
            self.knobs[knob].counts().last().copied().unwrap_or(1)
        });
        unrolled.saturating_mul(most.unwrap_or(1)) >= self.views.size(d)
    }

    /// The dimensions of the loops around tiles, as far as the values decide them.
    fn order_so_far(&self, values: &[usize]) -> Vec<usize> {
        let mut left = self.around.clone();
        let digits = (0..left.len()).filter_map(|n| self.find(Role::Order(n)));
        let known = digits.filter(|knob| *knob < values.len());
        known.map(|knob| left.remove(values[knob])).collect()
    }
}

impl Chained for ScheduleSpace {
    fn levels(&self, moving: &[usize]) -> Vec<LevelName> {
        let level_names = |layer: &dyn Fn(usize) -> &'static str, has: &dyn Fn(usize) -> bool| {
            let dims = (0..self.rank()).filter(|d| moving.contains(d) && has(*d));
            dims.map(|d| LevelName::new(layer(d), &self.views.names[d]))
                .collect::<Vec<_>>()
        };
        let is_scan = |d: usize| self.views.combine[d].is_ps();
        // A sum has a loop outside of registers where it is cut.
        let has_outer = |d: usize| match self.is_sum(d) {
            true => self.find(Role::Tile(d)).is_some(),
            false => self.has_tiles(d),
        };
        // All loops around tiles are outside of those in them.
        let mut unmoved = (0..self.rank()).filter(|d| self.has_tiles(*d) && !moving.contains(d));
        let has_inner = unmoved.all(|d| self.may_be_whole(d));
        let core = level_names(&|_| CORE, &|d| {
            !is_scan(d) && self.find(Role::Cores(d)).is_some()
        });
        let outer = level_names(&|d| self.outer(d), &has_outer);
        let inner = level_names(&|_| INNER, &|d| {
            has_inner && self.has_tiles(d) && self.find(Role::Tile(d)).is_some()
        });
        [core, outer, inner].concat()
    }

    fn decides(&self, knob: usize) -> bool {
        let role = self.roles[knob];
        matches!(
            role,
            Role::Block(_) | Role::Tile(_) | Role::Cores(_) | Role::Order(_) | Role::Pack(_)
        )
    }

    fn keeps(&self, values: &[usize], at: &TileLoop) -> bool {
        let Some(d) = self.dimension(&at.level) else {
            return false;
        };
        let role = self.roles[values.len() - 1];
        let moves = |other: usize| at.moving.contains(&other);
        match (role, at.level.layer.as_str()) {
            (Role::Pack(view), _) => {
                // Before the leaf, all loops around it are outside.
                let knob = &self.knobs[values.len() - 1];
                let chosen = values.last().copied().unwrap_or(0);
                let input = &self.computation.inputs[self.views.all[view].buffer];
                chosen == 0 || chosen + 1 == knob.values.len() || !at.inputs.contains(&input.name)
            }
            (Role::Cores(x), layer) => match self.count(role, values, 1) {
                1 => x != d || layer != CORE,
                _ => moves(x),
            },
            (_, CORE) => true,
            (Role::Block(x), layer) => match self.blocks(x, values) {
                1 => x != d,
                _ => layer != INNER || moves(x) || !self.has_tiles(x),
            },
            (Role::Tile(x), layer) => match self.count(role, values, 0) {
                own if x == d && layer == INNER => own > 1,
                own if x == d && self.is_sum(d) => own > 0,
                own => layer != INNER || own == 0 || moves(x) || !self.is_sum(x),
            },
            (Role::Order(_), layer) if layer != INNER => {
                let order = self.order_so_far(values);
                order.iter().take_while(|x| **x != d).all(|x| moves(*x))
            }
            _ => true,
        }
    }

    fn is_outside(&self, values: &[usize], outer: &LevelName, inner: &LevelName) -> bool {
        if !matches!(self.roles[values.len() - 1], Role::Order(_)) {
            return true;
        }
        let ends = [outer, inner].map(|level| self.dimension(level));
        let order = self.order_so_far(values);
        let first = order.into_iter().find(|d| ends.contains(&Some(*d)));
        first.is_none() || first == ends[0]
    }

    fn is_of_tile(&self, values: &[usize]) -> bool {
        let role = self.roles[values.len() - 1];
        !matches!(role, Role::Cores(_)) || self.count(role, values, 1) == 1
    }
}
