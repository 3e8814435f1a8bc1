//! Inputs that are packed: where, and in which layout.
//!
//! Lanes along an axis that is not the last one in memory would be read one by one, and a long
//! stride between the vectors of a tile costs a page each. An input that is read often is copied
//! such that each tile reads what lies next to each other. The copy is made as far out as it can
//! be: over loops that do not move along the input for nothing, over others as long as it stays
//! in the second-level cache.

use std::collections::BTreeMap;

use super::Facts;
use super::assemble::Levels;
use super::block::Block;
use super::views::{View, Views};
use crate::computation::{Combine, Computation};
use crate::schedule::{Input, Layout, LevelName, Parts, Step};

/// What the choice depends on.
pub struct Packing<'a> {
    /// The computation.
    pub computation: &'a Computation,
    /// The machine.
    pub facts: &'a Facts,
    /// Its accesses.
    pub views: &'a Views,
    /// What stays in registers.
    pub block: &'a Block,
    /// The combined dimension that is cut, and into parts of how many points.
    pub cut: Option<(usize, i64)>,
    /// The loops.
    pub levels: &'a Levels<'a>,
    /// The region that copies are in.
    pub region: &'a str,
}

impl Packing<'_> {
    /// The inputs that are packed before the loop of a level, or further out.
    pub fn inputs(&self, at: &LevelName, reasons: &mut Vec<String>) -> BTreeMap<String, Input> {
        let mut packed = BTreeMap::new();
        let Some((lane, _)) = self.block.lanes else {
            return packed;
        };
        // A block is what the innermost tiles read: with lanes of a sum, these read all of it.
        if self.views.combine[lane] != Combine::Cc {
            return packed;
        }
        let inputs = self.views.all.iter().filter(|v| !v.is_output);
        for view in inputs.filter(|v| self.views.is_packable(v, lane)) {
            let at = self.outermost(view, at);
            let Some((order, blocks)) = self.blocks(view, lane) else {
                continue;
            };
            let name = self.computation.inputs[view.buffer].name.clone();
            let is_sorted = order.windows(2).all(|pair| pair[0] < pair[1]);
            let steps = (!is_sorted).then_some(Step::Permuted(order));
            let steps = steps.into_iter().chain([Step::Blocked(blocks.clone())]);
            reasons.push(format!(
                "'{name}' is packed into blocks of {blocks:?} before '{at}': each element is read \
                 {} times",
                self.views.reuse(view)
            ));
            let mut input = Input::default();
            input.stage.insert(at.clone(), self.region.into());
            let steps = steps.collect();
            input.layout.insert(at, Layout { steps });
            packed.insert(name, input);
        }
        packed
    }

    /// The order of a packed input's axes (1-based), and the block of each: what a tile in
    /// registers reads, of all that it combines.
    fn blocks(&self, view: &View, lane: usize) -> Option<(Vec<usize>, Vec<i64>)> {
        let depth = |d: usize| match self.cut {
            Some((cut, size)) if cut == d => Some(size),
            _ => self.views.points[d],
        };
        let (mut order, mut blocks, mut lane_axis) = (Vec::new(), Vec::new(), None);
        for (axis, form) in view.axes.as_ref()?.iter().enumerate() {
            let moved = (0..form.coefficients.len()).find(|d| form.coefficients[*d] != 0);
            if moved == Some(lane) {
                lane_axis = Some(axis + 1);
                continue;
            }
            order.push(axis + 1);
            blocks.push(match moved {
                Some(d) if self.views.combine[d].is_pw() => depth(d)?,
                Some(d) => self.block.points(d),
                None => 1,
            });
        }
        order.push(lane_axis?);
        blocks.push(self.block.points(lane));
        (order.len() > 1).then_some((order, blocks))
    }

    /// The outermost level before which the copy costs no more than before the one given, or
    /// stays in the second-level cache.
    fn outermost(&self, view: &View, at: &LevelName) -> LevelName {
        let order = &self.levels.order;
        let start = order.iter().position(|level| level == at).unwrap_or(0);
        let most = self.bytes(view, start).max(self.facts.l2);
        let outer = (0..start)
            .rev()
            .take_while(|n| self.bytes(view, *n) <= most);
        order[outer.last().unwrap_or(start)].clone()
    }

    /// The bytes of what the loops from a position on read of an input.
    fn bytes(&self, view: &View, position: usize) -> i64 {
        let moves = |d: &usize| super::views::view_moves(view, *d);
        let dims = (0..self.views.points.len()).filter(moves);
        let points = dims.map(|d| self.points_inside(d, position).max(1));
        points.fold(self.views.widest, i64::saturating_mul)
    }

    /// The points of a dimension that the loops from a position on pass.
    fn points_inside(&self, d: usize, position: usize) -> i64 {
        let parts = |level: &LevelName| {
            let layers = self.levels.layers.iter();
            let mut rows = layers.filter(|(layer, _)| *layer == level.layer);
            rows.find_map(|(_, row)| row.get(&level.dimension)).copied()
        };
        let (outer, inner) = self.levels.order.split_at(position);
        let own = |levels: &[LevelName]| -> (i64, bool) {
            let levels = levels
                .iter()
                .filter(|l| l.dimension == self.levels.names[d]);
            levels
                .filter_map(parts)
                .fold((1, false), |(count, derived), parts| match parts {
                    Parts::Fixed(n) => (count * n.max(1), derived),
                    Parts::Derived => (count, true),
                })
        };
        let (cut, is_derived_outside) = own(outer);
        match is_derived_outside {
            true => own(inner).0,
            false => self.views.size(d) / cut,
        }
    }
}
