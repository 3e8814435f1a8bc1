//! Chains of computations, computed tile by tile of the last one where that saves traffic.
//!
//! For the last computation of a chain, levels are tried from the outside in, and blocks of their
//! parts: the first at which all that a tile needs stays in the second-level cache is taken, if
//! little is computed twice. Whether a chain may be computed there is asked of the lowering
//! itself, which reads the schedules that are tried from the operations.

use mdh_dialect::ir::{Errors, Op, Val};
use mdh_dialect::schedule;
use mdh_schedule::asm::Asm;
use mdh_schedule::fusion_gain::{self, Estimate, Member};
use mdh_schedule::reach::Need;
use mdh_schedule::{Choice, ComputeAt, Facts, Layer, LevelName, Parts, Schedule};

use super::{Reading, choice_for};
use crate::support::scheduled::{Loop, Scheduled};
use crate::tile::tile::chain::{Refusal, producers_of};
use crate::tile::tile::nest::{Home, Producer};
use links::Links;

mod links;

/// A computation and the model's choice for it, if there is one.
pub type Chosen<'c> = (Op<'c>, Option<Choice>);

/// The most blocks of parts that are one tile.
const BLOCKS: i64 = 64;
/// The fewest points of all computations of a tile: its loops are to be worth their start.
const POINTS: i64 = 512;
/// Limit on how often points may be computed, on average.
const REPEATED: f64 = 1.15;

/// Fuses those of these computations for which it pays, in the order of the program; none of them
/// has a schedule, and none has one afterwards.
pub fn fuse<'c>(
    all: &mut [Chosen<'c>],
    read: &[Reading<'c>],
    asm: &Asm,
    grain: i64,
) -> Result<(), Errors> {
    let Some(facts) = Facts::new(asm) else {
        return Ok(());
    };
    let links = Links::new(read);
    let mut alone: Vec<Option<Alone>> = vec![None; all.len()];
    let mut is_fused = vec![false; all.len()];
    let names: Vec<String> = all.iter().map(|(op, _)| schedule::name(*op)).collect();
    for last in (0..all.len()).rev() {
        // Points at unequal distances have no schedule of the model, and no tiles.
        if is_fused[last] || all[last].1.is_none() {
            continue;
        }
        let mut before = links.behind(all, last, &is_fused);
        // A schedule names the next computation of a name.
        let namesake = names[..last].iter().rposition(|name| *name == names[last]);
        before.retain(|n| namesake.is_none_or(|namesake| namesake <= *n));
        if before.is_empty() {
            continue;
        }
        for n in before.iter().chain([&last]) {
            if alone[*n].is_none() {
                alone[*n] = Some(Alone::new(all[*n].0, &read[*n], asm, &facts, grain));
            }
        }
        // Whether cores are worth it is a question of all that they compute.
        let points = |n: &usize| alone[*n].as_ref().map_or(0.0, |own| own.points);
        let sum: f64 = before.iter().chain([&last]).map(points).sum();
        let grain = (grain as f64 * points(&last) / sum.max(1.0)).max(1.0) as i64;
        let choice =
            choice_for(all[last].0, &read[last], asm, facts, grain).or(all[last].1.clone());
        let choice = choice.ok_or_else(|| vec!["has no schedule of the model's".to_string()])?;
        let mut trial = Trial::new(all, (last, choice), &before, &alone, &links);
        let outcome = trial.run(&facts);
        trial.clear();
        // Once it is computed somewhere, it does not matter where it is not.
        let mut reasons = std::mem::take(&mut trial.reasons);
        reasons.retain(|_| outcome.is_empty());
        for (n, choice) in outcome {
            is_fused[n] |= n != last;
            all[n].1 = Some(choice);
        }
        if let Some(choice) = &mut all[last].1 {
            choice.reasons.extend(reasons);
        }
    }
    Ok(())
}

/// A computation by itself, whatever chain it is in.
#[derive(Clone)]
struct Alone {
    /// The model's choice for it on one core.
    tile: Option<Choice>,
    points: f64,
    /// Bytes that it reads and writes.
    moved: i64,
}

impl Alone {
    fn new(op: Op, of: &Reading, asm: &Asm, facts: &Facts, grain: i64) -> Self {
        let one_core = Facts { cores: 1, ..*facts };
        Alone {
            tile: choice_for(op, of, asm, one_core, grain),
            points: fusion_gain::points(&of.1),
            moved: fusion_gain::moved(&of.1),
        }
    }
}

/// Schedules that are tried on the operations of a chain.
struct Trial<'c, 't> {
    last: (usize, Op<'c>, Choice),
    /// The others, in the order of the program, each with its choice on one core, and on all.
    others: Vec<(usize, Op<'c>, Choice, Choice)>,
    alone: &'t [Option<Alone>],
    links: &'t Links,
    name: String,
    reasons: Vec<String>,
}

/// The computations fused at a level, and the effects of that.
type Fused<'c> = (Vec<Op<'c>>, Vec<Producer<'c>>, Estimate);

/// The operations to fuse, and the level.
struct Found<'c> {
    schedule: Schedule,
    level: LevelName,
    fused: Vec<Op<'c>>,
    estimate: Estimate,
}

impl<'c, 't> Trial<'c, 't> {
    fn new(
        all: &[Chosen<'c>],
        (last, choice): (usize, Choice),
        before: &[usize],
        alone: &'t [Option<Alone>],
        links: &'t Links,
    ) -> Self {
        let earlier = before.iter().filter_map(|n| {
            let (op, whole) = &all[*n];
            let tile = alone[*n].as_ref()?.tile.clone()?;
            Some((*n, *op, tile, whole.clone()?))
        });
        Trial {
            last: (last, all[last].0, choice),
            others: earlier.collect(),
            alone,
            links,
            name: schedule::name(all[last].0),
            reasons: Vec::new(),
        }
    }

    /// The choices of the fused computations, with their positions.
    fn run(&mut self, facts: &Facts) -> Vec<(usize, Choice)> {
        let has_packed =
            |choice: &Choice| choice.schedule.inputs.values().any(|i| !i.stage.is_empty());
        if has_packed(&self.last.2) || self.last.2.is_transposed {
            return Vec::new();
        }
        let first = self.others.len();
        self.others
            .retain(|(_, _, tile, _)| !has_packed(tile) && !tile.is_transposed);
        if self.others.len() < first {
            self.reasons
                .push("what packs or transposes its inputs is computed before it".into());
        }
        let Some(found) = self.search(facts) else {
            return Vec::new();
        };
        let says = |level: &LevelName, estimate: &Estimate| {
            format!(
                "a tile at '{level}' needs {:.1} KiB, which stay in L2; {} KiB need not be written or \
                 read again; points are computed {:.2} times",
                estimate.tile as f64 / 1024.0,
                estimate.saved / 1024,
                estimate.repeated
            )
        };
        let mut choices = Vec::new();
        let mut names = Vec::new();
        for (n, op, tile, _) in &self.others {
            if !found.fused.contains(op) {
                continue;
            }
            names.push(format!("'{}'", schedule::name(*op)));
            let mut choice = tile.clone();
            choice.schedule.compute_at = Some(ComputeAt {
                consumer: self.name.clone(),
                level: found.level.clone(),
            });
            let text = format!(
                "computed for each tile of '{}', by the core that has the tile: ",
                self.name
            );
            choice
                .reasons
                .push(text + &says(&found.level, &found.estimate));
            choices.push((*n, choice));
        }
        let mut choice = self.last.2.clone();
        choice.schedule = found.schedule;
        let text = format!("for each tile also computes {}: ", names.join(", "));
        choice
            .reasons
            .push(text + &says(&found.level, &found.estimate));
        choices.push((self.last.0, choice));
        choices
    }

    /// The first level, from the outside in, and the smallest block of its parts that is worth it.
    fn search(&mut self, facts: &Facts) -> Option<Found<'c>> {
        if self.others.is_empty() || !self.is_large(facts) {
            return None;
        }
        let chosen = self.last.2.schedule.clone();
        let order = chosen.decompose.order.iter().flatten();
        let in_memory = order.filter(|l| !matches!(l.layer.as_str(), "register" | "simd"));
        for level in in_memory {
            let sizes = std::iter::successors(Some(1), |n| (*n < BLOCKS).then_some(n * 2));
            for (schedule, level) in sizes.map_while(|n| blocked(&chosen, level, n)) {
                let Some((fused, producers, estimate)) = self.at(&schedule, &level) else {
                    break;
                };
                let fills = producers.iter().all(is_filled);
                let kib = estimate.tile / 1024;
                let is_too_large = estimate.tile > facts.l2 / 2;
                let why = match estimate {
                    _ if is_too_large => {
                        format!("a tile would need {kib} KiB, more than half of L2")
                    }
                    Estimate { repeated, .. } if repeated > REPEATED => {
                        format!("points would be computed {repeated:.2} times")
                    }
                    _ if !fills => "blocks in registers would not fill a tile".into(),
                    Estimate { points, .. } if points < POINTS => {
                        format!("a tile would have {points} points only")
                    }
                    _ if self.is_worth_it(&schedule, &fused, &estimate, facts) => {
                        return Some(Found {
                            schedule,
                            level,
                            fused,
                            estimate,
                        });
                    }
                    _ => return None,
                };
                self.say(format!("nothing is computed at '{level}': {why}"));
                if is_too_large {
                    break;
                }
            }
        }
        None
    }

    /// Returns whether cores are called for the others, or what these leave does not stay in the caches.
    fn is_large(&mut self, facts: &Facts) -> bool {
        let alone = self.others.iter().map(|(n, ..)| self.alone[*n].as_ref());
        let moved = alone.map(|own| own.map_or(0, |own| own.moved));
        let moved = moved.fold(0, i64::saturating_add);
        let is_shared = self
            .others
            .iter()
            .any(|(_, _, _, whole)| has_cores(&whole.schedule));
        if !is_shared && moved <= facts.l2 {
            self.say("what it is made from is computed before it, and stays in the caches".into());
            return false;
        }
        true
    }

    fn say(&mut self, reason: String) {
        if !self.reasons.contains(&reason) {
            self.reasons.push(reason);
        }
    }

    /// Returns whether traffic behind the second-level cache is saved, or cores are called less often; not
    /// where fewer of them would compute.
    fn is_worth_it(
        &mut self,
        schedule: &Schedule,
        fused: &[Op],
        estimate: &Estimate,
        facts: &Facts,
    ) -> bool {
        let mut merged = self.others.iter().filter(|(_, op, ..)| fused.contains(op));
        let is_shared = merged.any(|(_, _, _, whole)| has_cores(&whole.schedule));
        let name = &self.name;
        let why = match (is_shared, has_cores(schedule)) {
            (true, false) => format!("'{name}' on one core would keep what it is made from there"),
            (false, _) if estimate.saved <= facts.l2 => {
                "what it is made from is computed before it, and stays in the caches".into()
            }
            _ => return true,
        };
        self.say(why);
        false
    }

    /// Finds the computations that can be computed at a level, and the effects of that.
    fn at(&mut self, schedule: &Schedule, level: &LevelName) -> Option<Fused<'c>> {
        schedule::set(self.last.1, Some(schedule));
        // The nearest one is read by the last alone, and what only such read as are not computed there
        // is not either: as long as they are refused, each is tried by itself.
        let mut left = self.reached(&(0..self.others.len()).collect::<Vec<_>>());
        while let Some(nearest) = left.pop() {
            match self.producers(&[nearest], level) {
                Ok(_) => {
                    left.push(nearest);
                    break;
                }
                Err((_, errors)) => self.refuse(nearest, level, &errors),
            }
            left = self.reached(&left);
        }
        while !left.is_empty() {
            match self.producers(&left, level) {
                Ok((of, loops, producers)) => {
                    let estimate = estimate(&of, &loops, &producers)?;
                    let fused = left.iter().map(|n| self.others[*n].1).collect();
                    return Some((fused, producers, estimate));
                }
                Err((op, errors)) => {
                    let refused = left.iter().position(|n| self.others[*n].1 == op)?;
                    let refused = left.remove(refused);
                    self.refuse(refused, level, &errors);
                    left = self.reached(&left);
                }
            }
        }
        None
    }

    /// Finds those of the others, in the order of the program, that the last computation reads or one
    /// of these does.
    fn reached(&self, of: &[usize]) -> Vec<usize> {
        let mut readers = vec![self.last.0];
        let mut chains = Vec::new();
        for n in of.iter().rev() {
            let number = self.others[*n].0;
            if readers
                .iter()
                .any(|reader| self.links.reads(*reader, number))
            {
                readers.push(number);
                chains.push(*n);
            }
        }
        chains.reverse();
        chains
    }

    /// Asks the lowering to compute these at a level.
    fn producers(
        &self,
        these: &[usize],
        level: &LevelName,
    ) -> Result<(Scheduled<'c>, Vec<Loop>, Vec<Producer<'c>>), Refusal<'c>> {
        for (n, (_, op, tile, _)) in self.others.iter().enumerate() {
            if !these.contains(&n) {
                schedule::set(*op, None);
                continue;
            }
            let mut schedule = tile.schedule.clone();
            schedule.compute_at = Some(ComputeAt {
                consumer: self.name.clone(),
                level: level.clone(),
            });
            schedule::set(*op, Some(&schedule));
        }
        let these = these.iter().map(|n| self.others[*n].1);
        let these: Vec<Op> = these.chain([self.last.1]).collect();
        producers_of(self.last.1, &these)
    }

    /// Remarks the reason for which one of the others is not computed at a level.
    fn refuse(&mut self, other: usize, level: &LevelName, errors: &Errors) {
        let name = schedule::name(self.others[other].1);
        let why = errors.join("; ");
        let why = why
            .split_once("(compute-at): ")
            .map_or(&*why, |(_, why)| why);
        self.say(format!("'{name}' is not computed at '{level}': {why}"));
    }

    /// Takes the schedules away that were tried.
    fn clear(&self) {
        let ops_of_others = self.others.iter().map(|(_, op, ..)| *op);
        ops_of_others
            .chain([self.last.1])
            .for_each(|op| schedule::set(op, None));
    }
}

fn has_cores(of: &Schedule) -> bool {
    of.layers.iter().any(|layer| layer.name == "core")
}

/// Returns whether the block that stays in registers fits the tiles without much of a rest, or with the one
/// that it has anyway, where tiles are as long as their dimension.
fn is_filled(producer: &Producer) -> bool {
    let (resolved, of) = (&producer.of.resolved, &producer.of.computation);
    let is_cut = |d: usize| {
        let points = producer.whole.dimensions[d].count();
        points.is_none() || points != of.dimensions[d].count()
    };
    let rows = resolved.layers.iter().zip(&resolved.counts);
    let in_registers = rows.filter(|(name, _)| matches!(name.as_str(), "register" | "simd"));
    let in_registers: Vec<_> = in_registers.map(|(_, row)| row).collect();
    let fits = |(d, need): (usize, &Need)| {
        let counts = in_registers.iter().map(|row| row[d].known().unwrap_or(1));
        let block: i64 = counts.product();
        let points = of.dimensions[d].count().unwrap_or(i64::MAX);
        *need == Need::Whole || points % block == 0 || points >= 4 * block || !is_cut(d)
    };
    producer.needs.iter().enumerate().all(fits)
}

/// Estimates the effects of computing these at their loops.
fn estimate<'c>(
    of: &Scheduled<'c>,
    loops: &[Loop],
    producers: &[Producer<'c>],
) -> Option<Estimate> {
    let at = producers.iter().map(|p| p.at).max()?;
    let mut tile = of.computation.clone();
    for (dimension, points) in tile.dimensions.iter_mut().zip(of.points_inside(loops, at)) {
        let Some(points) = points else {
            continue;
        };
        let stride = match dimension.step == dimension.width {
            true => 1,
            false => dimension.step.unwrap_or(1),
        };
        dimension.lower = Some(0);
        dimension.upper = Some((points - 1) * stride + 1);
    }
    let mut values: Vec<Val<'c>> = Vec::new();
    let numbers_of_op = numbers(&of.parts, &mut values);
    let mut temporary = Vec::new();
    let mut rest = Vec::new();
    for producer in producers {
        let memory = numbers(&producer.of.parts, &mut values);
        let stored = memory[producer.of.parts.inputs.len()..]
            .iter()
            .zip(&producer.homes);
        temporary.extend(
            stored
                .filter(|(_, home)| **home == Home::Tile)
                .map(|(n, _)| *n),
        );
        rest.push(memory);
    }
    let mut members = vec![Member {
        whole: &of.computation,
        tile: &tile,
        memory: &numbers_of_op,
    }];
    members.extend(
        producers
            .iter()
            .zip(&rest)
            .map(|(producer, memory)| Member {
                whole: &producer.whole,
                tile: &producer.of.computation,
                memory,
            }),
    );
    Some(fusion_gain::estimate(&members, |memory| {
        temporary.contains(&memory)
    }))
}

/// The memory of inputs, then of outputs, as positions among all values.
fn numbers<'c>(parts: &mdh_dialect::parts::Parts<'c>, values: &mut Vec<Val<'c>>) -> Vec<usize> {
    let mut number = |value: Val<'c>| {
        let position = values.iter().position(|v| *v == value);
        position.unwrap_or_else(|| {
            values.push(value);
            values.len() - 1
        })
    };
    let buffers = parts.inputs.iter().chain(&parts.outputs);
    buffers.map(|buffer| number(buffer.value)).collect()
}

/// A schedule in which so many parts of a level are one part of a level around them; the level
/// whose parts are tiles.
fn blocked(own: &Schedule, level: &LevelName, blocks: i64) -> Option<(Schedule, LevelName)> {
    if blocks == 1 {
        return Some((own.clone(), level.clone()));
    }
    const LAYERS: [&str; 4] = ["main", "L3", "L2", "L1"];
    let inner = LAYERS.iter().position(|name| *name == level.layer)?;
    let has = |name: &str| {
        let layer = own.layers.iter().find(|layer| layer.name == name);
        layer.is_some_and(|layer| layer.parts.contains_key(&level.dimension))
    };
    let outer = LAYERS[..inner].iter().rev().find(|name| !has(name))?;
    let mut schedule = own.clone();
    let cut = schedule
        .layers
        .iter_mut()
        .find(|layer| layer.name == level.layer)?;
    let parts = cut.parts.get_mut(&level.dimension)?;
    if *parts != Parts::Derived {
        return None;
    }
    *parts = Parts::Fixed(blocks);
    if !schedule.layers.iter().any(|layer| layer.name == *outer) {
        // Before the first memory that is further in.
        let is_further_in = |layer: &Layer| {
            let mut inner_layers = LAYERS.iter().skip_while(|name| *name != outer);
            inner_layers.any(|name| *name == layer.name)
        };
        let place = schedule.layers.iter().position(is_further_in)?;
        let layer = Layer {
            name: (*outer).into(),
            parts: Default::default(),
        };
        schedule.layers.insert(place, layer);
    }
    let row = schedule
        .layers
        .iter_mut()
        .find(|layer| layer.name == *outer)?;
    row.parts.insert(level.dimension.clone(), Parts::Derived);
    let around = LevelName::new(outer, &level.dimension);
    let phases = [
        &mut schedule.decompose,
        &mut schedule.scalar,
        &mut schedule.recompose,
    ];
    for order in phases.into_iter().filter_map(|phase| phase.order.as_mut()) {
        let at = order.iter().position(|l| l == level)?;
        order.insert(at, around.clone());
    }
    Some((schedule, around))
}
