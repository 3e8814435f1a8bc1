//! The nearest schedule that is legal, of one that is not: help for who writes schedules by hand.
//!
//! A change adds, takes away or shortens one entry of a schedule, and costs the more the more of what is written it
//! takes away. Of changes after which the first mistake is gone, the cheapest ones are followed first, until no mistake
//! is left.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use mdh_schedule::asm::Asm;
use mdh_schedule::{Layer, LevelName, Parts, Phase, Schedule};

use mdh_dialect::schedule;

/// The most that changes cost together: what is further away is no help.
const MOST: u32 = 8;
/// The most schedules that are looked at.
const LOOKED_AT: usize = 2000;

/// A change costs so much if it adds what is left out,
const ADDED: u32 = 1;
/// if it takes away one entry,
const TAKEN: u32 = 2;
/// and if it takes away several.
const SEVERAL: u32 = 4;

/// Finds the nearest schedule without a mistake, for a computation of these dimensions; `mistakes` are the messages
/// about a schedule. None if there is none that is near.
pub fn nearest(
    plan: &Schedule,
    dimensions: &[&str],
    mistakes: &dyn Fn(&Schedule) -> Vec<String>,
) -> Option<Schedule> {
    let mut open = BinaryHeap::from([Reverse((0, 0))]);
    let mut plans = vec![(plan.clone(), mistakes(plan))];
    let mut seen = BTreeSet::from([plan.to_json()]);
    while let Some(Reverse((cost, number))) = open.pop() {
        let (plan, wrong) = plans[number].clone();
        let Some(first) = wrong.first() else {
            return Some(plan);
        };
        for (price, changed) in changes(&plan, dimensions) {
            let cost = cost + price;
            if cost > MOST || !seen.insert(changed.to_json()) {
                continue;
            }
            if seen.len() > LOOKED_AT {
                return None;
            }
            let left = mistakes(&changed);
            if !left.contains(first) {
                open.push(Reverse((cost, plans.len())));
                plans.push((changed, left));
            }
        }
    }
    None
}

/// All schedules that one change makes of another one, with its cost.
fn changes(plan: &Schedule, dimensions: &[&str]) -> Vec<(u32, Schedule)> {
    let mut changes = Changes {
        plan,
        made: Vec::new(),
    };
    changes.loops(dimensions);
    changes.orders(dimensions);
    changes.counts();
    changes.buffers();
    changes.rest();
    changes.made
}

struct Changes<'p> {
    plan: &'p Schedule,
    made: Vec<(u32, Schedule)>,
}

impl Changes<'_> {
    fn make(&mut self, cost: u32, change: impl FnOnce(&mut Schedule)) {
        let mut changed = self.plan.clone();
        change(&mut changed);
        self.made.push((cost, changed));
    }

    /// Leaves what is left of a dimension to a loop, where the outermost layer would take it.
    fn loops(&mut self, dimensions: &[&str]) {
        let machine = schedule::machine_of(self.plan).and_then(|name| Asm::builtin(&name));
        let (Some(machine), Some(first)) = (machine, self.plan.layers.first()) else {
            return;
        };
        let name = machine.layers[0].name();
        let is_first = first.name == name;
        if !is_first && self.plan.layers.iter().any(|layer| layer.name == name) {
            return;
        }
        for dimension in left_out(self.plan, dimensions) {
            self.make(ADDED, |plan| {
                if !is_first {
                    let parts = Default::default();
                    let name = name.to_string();
                    plan.layers.insert(0, Layer { name, parts });
                }
                let parts = &mut plan.layers[0].parts;
                parts.insert(dimension.to_string(), Parts::Derived);
                for order in phases(plan).filter_map(|phase| phase.order.as_mut()) {
                    let level = LevelName::new(name, dimension);
                    if !order.contains(&level) {
                        order.insert(0, level);
                    }
                }
            });
        }
    }

    /// Adds levels that an order lacks where their layers stand, takes away one that it has, or takes the order away.
    fn orders(&mut self, dimensions: &[&str]) {
        let (left, written) = levels(self.plan, dimensions);
        for n in 0..PHASES {
            let phase = phases(&mut self.plan.clone()).nth(n).cloned();
            let Some(order) = phase.and_then(|phase| phase.order) else {
                continue;
            };
            let whole = completed(&order, &written, &self.plan.layers);
            self.make(ADDED, |plan| set_order(plan, n, Some(whole.clone())));
            // That an outer layer takes what is left out is seldom meant.
            let whole = completed(&whole, &left, &self.plan.layers);
            self.make(SEVERAL, |plan| set_order(plan, n, Some(whole)));
            for item in 0..order.len() {
                let mut shorter = order.clone();
                shorter.remove(item);
                self.make(TAKEN, |plan| set_order(plan, n, Some(shorter)));
            }
            self.make(SEVERAL, |plan| set_order(plan, n, None));
        }
    }

    /// Changes counts of parts, and takes layers away.
    fn counts(&mut self) {
        for (n, layer) in self.plan.layers.iter().enumerate() {
            for (dimension, parts) in &layer.parts {
                if n == 0 && *parts != Parts::Derived {
                    self.make(ADDED, |plan| {
                        plan.layers[n]
                            .parts
                            .insert(dimension.clone(), Parts::Derived);
                    });
                }
                self.make(TAKEN, |plan| {
                    plan.layers[n].parts.remove(dimension);
                });
                let Parts::Fixed(mut count) = *parts else {
                    continue;
                };
                while count > 2 {
                    count /= 2;
                    self.make(TAKEN, |plan| {
                        let parts = &mut plan.layers[n].parts;
                        parts.insert(dimension.clone(), Parts::Fixed(count));
                    });
                }
            }
            self.make(SEVERAL, |plan| {
                plan.layers.remove(n);
            });
        }
    }

    /// Takes away regions and layouts of buffers.
    fn buffers(&mut self) {
        for (name, input) in &self.plan.inputs {
            let mut entries: Vec<mdh_schedule::Input> = Vec::new();
            for level in input.stage.keys().chain(input.layout.keys()) {
                let mut without = input.clone();
                without.stage.remove(level);
                without.layout.remove(level);
                entries.push(without);
            }
            entries.push(mdh_schedule::Input {
                stages: None,
                ..input.clone()
            });
            entries.push(mdh_schedule::Input {
                scalar: None,
                scalar_layout: None,
                ..input.clone()
            });
            for changed in entries {
                self.make(TAKEN, |plan| {
                    plan.inputs.insert(name.clone(), changed);
                });
            }
            self.make(SEVERAL, |plan| {
                plan.inputs.remove(name);
            });
        }
        for (name, output) in &self.plan.outputs {
            let mut entries: Vec<mdh_schedule::Output> = Vec::new();
            for level in output.combine.keys().chain(output.layout.keys()) {
                let mut without = output.clone();
                without.combine.remove(level);
                without.layout.remove(level);
                entries.push(without);
            }
            entries.push(mdh_schedule::Output {
                scalar: None,
                scalar_layout: None,
                ..output.clone()
            });
            for changed in entries {
                self.make(TAKEN, |plan| {
                    plan.outputs.insert(name.clone(), changed);
                });
            }
            self.make(SEVERAL, |plan| {
                plan.outputs.remove(name);
            });
        }
    }

    /// Takes away what stands once in a schedule.
    fn rest(&mut self) {
        self.make(TAKEN, |plan| plan.asm = None);
        self.make(TAKEN, |plan| plan.compute_at = None);
        self.make(TAKEN, |plan| plan.tile_order = None);
        for dimension in self.plan.tails.keys() {
            self.make(TAKEN, |plan| {
                plan.tails.remove(dimension);
            });
        }
        for n in 0..PHASES {
            self.make(TAKEN, |plan| {
                phases(plan)
                    .skip(n)
                    .take(1)
                    .for_each(|phase| phase.assign.clear());
            });
        }
    }
}

/// So many phases has a schedule.
const PHASES: usize = 3;

fn phases(plan: &mut Schedule) -> impl Iterator<Item = &mut Phase> {
    let phases: [&mut Phase; PHASES] = [&mut plan.decompose, &mut plan.scalar, &mut plan.recompose];
    phases.into_iter()
}

fn set_order(plan: &mut Schedule, phase: usize, order: Option<Vec<LevelName>>) {
    if let Some(phase) = phases(plan).nth(phase) {
        phase.order = order;
    }
}

/// The dimensions of which the outermost layer that is written takes what the others leave.
fn left_out<'d>(plan: &Schedule, dimensions: &[&'d str]) -> Vec<&'d str> {
    let Some(first) = plan.layers.first() else {
        return Vec::new();
    };
    let is_left = |dimension: &&&str| {
        let is_derived = |layer: &Layer| layer.parts.get(**dimension) == Some(&Parts::Derived);
        !first.parts.contains_key(**dimension) && !plan.layers.iter().any(is_derived)
    };
    dimensions.iter().filter(is_left).copied().collect()
}

/// The levels of more than one part: those that take what is left, and those that are written.
fn levels(plan: &Schedule, dimensions: &[&str]) -> (Vec<LevelName>, Vec<LevelName>) {
    let written = plan.layers.iter().flat_map(|layer| {
        let several = layer.parts.iter().filter(|(_, n)| **n != Parts::Fixed(1));
        several.map(|(dimension, _)| LevelName::new(&layer.name, dimension))
    });
    let left = left_out(plan, dimensions).into_iter();
    let left = left.map(|dimension| LevelName::new(&plan.layers[0].name, dimension));
    (left.collect(), written.collect())
}

/// An order with all levels, each that it lacks in front of those of layers inside of its own.
fn completed(order: &[LevelName], levels: &[LevelName], layers: &[Layer]) -> Vec<LevelName> {
    let place = |level: &LevelName| layers.iter().position(|layer| layer.name == level.layer);
    let mut whole = order.to_vec();
    for level in levels {
        if !whole.contains(level) {
            let inside = whole.iter().position(|other| place(other) > place(level));
            whole.insert(inside.unwrap_or(whole.len()), level.clone());
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Schedule {
        text.parse().unwrap()
    }

    /// A rule for tests: cores have no parts of `j`, whoever gave them any.
    fn cores_have_no_j(plan: &Schedule) -> Vec<String> {
        let (left, written) = levels(plan, &["i", "j"]);
        let is_wrong = [left, written]
            .concat()
            .contains(&LevelName::new("core", "j"));
        is_wrong.then(|| "core.j".to_string()).into_iter().collect()
    }

    #[test]
    fn what_is_left_out_becomes_a_loop() {
        let plan = read(
            "#mdh.schedule<asm = cpu, layers = [core {i: 2}, simd {j: 16}], \
             decompose = {order: [core.i, simd.j]}>",
        );
        let near = nearest(&plan, &["i", "j"], &cores_have_no_j).unwrap();
        let expected = read(
            "#mdh.schedule<asm = cpu, layers = [main {j: *}, core {i: 2}, simd {j: 16}], \
             decompose = {order: [main.j, core.i, simd.j]}>",
        );
        assert_eq!(near, expected);
    }

    #[test]
    fn what_is_written_is_taken_away_where_nothing_is_added() {
        let plan = read("#mdh.schedule<asm = cpu, layers = [main {j: *}, core {i: 2, j: 4}]>");
        let near = nearest(&plan, &["i", "j"], &cores_have_no_j).unwrap();
        let expected = read("#mdh.schedule<asm = cpu, layers = [main {j: *}, core {i: 2}]>");
        assert_eq!(near, expected);
        assert_eq!(
            nearest(&plan, &["i", "j"], &|_| vec!["no".to_string()]),
            None
        );
    }

    #[test]
    fn levels_that_an_order_lacks_stand_where_their_layers_do() {
        let plan = read(
            "#mdh.schedule<layers = [main {i: *}, core {j: 2}, L1 {k: 4}], \
             decompose = {order: [main.i, L1.k]}>",
        );
        let order = plan.decompose.order.clone().unwrap();
        let (left, written) = levels(&plan, &["i", "j", "k"]);
        let whole = completed(&order, &[left, written].concat(), &plan.layers);
        let names: Vec<String> = whole.iter().map(LevelName::to_string).collect();
        assert_eq!(names, ["main.i", "main.j", "main.k", "core.j", "L1.k"]);
    }
}
