//! Chains as parameters of a search: the loop of a later computation that one is computed in, if it
//! is (`compute_at`).
//!
//! The trees know which loops there are, that loops around them move what is computed there, that
//! what is computed there leaves cores to the consumer, that those between the two are computed
//! there, too, and that what others read behind the consumer is in no loop of a loop. Everything else is
//! asked of the lowering, as a filter.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};

use mdh_compiler::error::Result;
use mdh_dialect::ir::{self, Op};
use mdh_dialect::ops;
use mdh_schedule::{ComputeAt, Knobs, LevelName, Parts, Schedule, TileLoop};

use super::links::{Links, Movable, Read};
use super::lowering::{ChosenPlace, FormedText, Lowering};
use super::options::Fix;
use super::program::Searched;
use crate::space::constraint::Constraint;
use crate::space::parameter::Parameter;
use crate::space::value::{Configuration, Value};

/// The value of what is computed in loops of its own.
const ALONE: &str = "alone";
/// The computations, the nearest, that one may be computed in however many there are.
const CONSUMERS: usize = 2;
/// The most combinations of loops in a consumer, from which on there are no others.
const COMBINATIONS: usize = 256;
/// The most configurations, as bits, of the computations of a tree, whose number has 128.
const BITS: f64 = 110.0;

/// A loop that a computation may be computed in.
struct PlaceInLoop {
    /// Its computation, by its number among those that are searched.
    consumer: usize,
    tile: TileLoop,
    /// Its place among loops from the outside in; loops of equal ones may have any order.
    rank: (usize, usize),
    /// True if others read what is computed there behind the consumer.
    is_kept: bool,
    /// The parameter's value.
    text: String,
}

impl PlaceInLoop {
    /// Returns whether what is computed here may be read in a loop of the same consumer.
    fn may_serve(&self, reader: &PlaceInLoop) -> bool {
        self.tile.level == reader.tile.level || self.rank <= reader.rank
    }
}

/// The loops that the model chooses.
struct ChosenPlaces {
    /// Those that are values, by their numbers.
    places: Vec<Option<usize>>,
    /// True if there are no others.
    are_all: bool,
    /// All schedules that it chooses, by the names of their computations.
    schedules: Vec<(String, Schedule)>,
}

/// The chains of a program.
pub(crate) struct Fusion {
    searched: Vec<Searched>,
    /// The loops that each may be computed in.
    places: Vec<Vec<PlaceInLoop>>,
    /// For each those that read what it computes.
    readers: Vec<Vec<usize>>,
    program: FormedText,
    lowering: OnceLock<Lowering>,
    /// The loops that the model chooses.
    chosen: OnceLock<ChosenPlaces>,
}

impl Fusion {
    /// The chains of these computations, of a program whose text is theirs; `None` if there are none.
    pub(crate) fn new<'c>(
        searched: &[Searched],
        computations: &[Op<'c>],
        read: &[Read<'c>],
        program: FormedText,
    ) -> Option<Fusion> {
        let module = ir::ancestors(*computations.first()?).last()?;
        let links = Links {
            computations,
            read,
            searched: searched.iter().map(|s| s.position).collect(),
        };
        let mut fusion = Fusion {
            places: searched.iter().map(|_| Vec::new()).collect(),
            readers: links.readers(searched),
            searched: searched.to_vec(),
            program,
            lowering: OnceLock::new(),
            chosen: OnceLock::new(),
        };
        fusion.add_places(&links);
        if fusion.places.iter().all(Vec::is_empty) {
            return None;
        }
        let operations = ir::find_all(module, &[ops::mdh::COMPUTE]);
        for entry in searched {
            let wanted = computations[entry.position];
            let position = operations.iter().position(|op| *op == wanted);
            let schedule = entry.space.default().map(|choice| choice.schedule);
            fusion.program.computations.push((position?, schedule?));
        }
        fusion.program.text = module.to_string();
        Some(fusion)
    }

    /// Adds the loops of the nearest consumers, from the last computation on, as long as the trees
    /// that they join are not too large.
    fn add_places(&mut self, links: &Links) {
        let mut bits = Bits::new(&self.searched);
        let mut group: Vec<usize> = (0..self.searched.len()).collect();
        let movable: Vec<BTreeMap<usize, Movable>> = (self.searched.iter())
            .map(|one| links.movable(one.position))
            .collect();
        for n in (0..self.searched.len()).rev() {
            let mut consumers = 0;
            for c in n + 1..self.searched.len() {
                let Some(movable) = movable[c].get(&self.searched[n].position) else {
                    continue;
                };
                let is_there = |r: &usize| *r >= c || self.at(*r, c).next().is_some();
                let mut joined = group.clone();
                let joint = joined[n];
                joined
                    .iter_mut()
                    .filter(|g| **g == joint)
                    .for_each(|g| *g = group[c]);
                let together = (0..joined.len()).filter(|one| joined[*one] == group[c]);
                let together: Vec<usize> = together.collect();
                let places = self.loops(links, (n, c), movable);
                let fits = (consumers < CONSUMERS || self.fits(n, c, places.len()))
                    && !places.is_empty()
                    && bits.fit(&self.searched, &together);
                if fits && self.readers[n].iter().all(is_there) {
                    group = joined;
                    consumers += 1;
                    self.places[n].extend(places);
                }
            }
        }
    }

    /// Returns whether a few more loops of a consumer leave the trees of all consumers small.
    fn fits(&self, n: usize, consumer: usize, more: usize) -> bool {
        let is_near =
            |p: usize, c: usize| (p, c) == (n, consumer) || self.at(p, c).next().is_some();
        let values = |p: usize| 1 + self.places[p].len() + if p == n { more } else { 0 };
        let combinations = |c: usize| -> usize {
            let near = (0..c).filter(|p| is_near(*p, c));
            near.map(values).fold(1, usize::saturating_mul)
        };
        let mut consumers = (n + 1..self.searched.len()).filter(|c| is_near(n, *c));
        consumers.all(|c| combinations(c) <= COMBINATIONS)
    }

    /// The loops of a consumer that a computation may be computed in.
    fn loops(
        &self,
        links: &Links,
        (n, consumer): (usize, usize),
        movable: &Movable,
    ) -> Vec<PlaceInLoop> {
        let reader = &self.searched[consumer];
        let inputs = links.inputs(reader.position, self.searched[n].position);
        let dimensions = &links.read[reader.position].1.dimensions;
        let levels = reader.space.chained().map(|s| s.levels(&movable.moving));
        // Those of cores are nested as dimensions stand.
        let place_of = |level: &LevelName| match rank(level) {
            0 => dimensions.iter().position(|d| d.name == level.dimension),
            _ => None,
        };
        let place = |level: LevelName| PlaceInLoop {
            consumer,
            text: format!("{}{level}", reader.prefix),
            rank: (rank(&level), place_of(&level).unwrap_or(0)),
            is_kept: movable.is_kept,
            tile: TileLoop {
                level,
                moving: movable.moving.clone(),
                inputs: inputs.clone(),
            },
        };
        levels.unwrap_or_default().into_iter().map(place).collect()
    }

    /// Those of them that are parameters.
    fn at(&self, n: usize, consumer: usize) -> impl Iterator<Item = &PlaceInLoop> {
        let places = self.places[n].iter();
        places.filter(move |place| place.consumer == consumer)
    }

    /// The name of a computation's parameter, if it has one.
    pub(crate) fn name(&self, n: usize) -> Option<String> {
        let has_places = !self.places[n].is_empty();
        has_places.then(|| format!("{}compute_at", self.searched[n].prefix))
    }

    /// The number of computations that have one.
    pub(crate) fn parameters(&self) -> usize {
        self.places.iter().filter(|own| !own.is_empty()).count()
    }

    /// Its values.
    pub(crate) fn values(&self, n: usize) -> Vec<String> {
        let places = self.places[n].iter().map(|place| place.text.clone());
        [ALONE.to_string()].into_iter().chain(places).collect()
    }

    /// The place that a value stands for: none if it is computed alone; `None` if it is no value.
    fn place(&self, n: usize, value: &Value) -> Option<Option<&PlaceInLoop>> {
        let text = value.to_string();
        if text == ALONE {
            return Some(None);
        }
        self.places[n]
            .iter()
            .find(|place| place.text == text)
            .map(Some)
    }

    /// The same of a configuration.
    fn place_in(&self, n: usize, configuration: &Configuration) -> Option<Option<&PlaceInLoop>> {
        match self.name(n) {
            Some(name) => self.place(n, configuration.get(&name)?),
            None => Some(None),
        }
    }

    /// The parameter of a computation, before those of its own schedule.
    pub(crate) fn parameter(
        self: &Arc<Self>,
        n: usize,
        fixed: &[Fix],
    ) -> Result<Option<Parameter>> {
        let Some(name) = self.name(n) else {
            return Ok(None);
        };
        let values = self.values(n).into_iter();
        let values = values.filter(|value| Fix::allow(fixed, &name, value));
        let mut parameter = Parameter::set(&name, values.map(|v| Value::from(v.as_str())))?;
        let is_before =
            |p: &usize| self.readers[*p].contains(&n) || self.at(*p, n).next().is_some();
        for p in (0..n).filter(is_before) {
            let Some(before) = self.name(p) else {
                continue;
            };
            let fusion = self.clone();
            let holds = move |values: &[&Value]| {
                let places = fusion.place(p, values[0]).zip(fusion.place(n, values[1]));
                places.is_some_and(|(before, after)| {
                    before.is_none_or(|before| fusion.agree((p, before), (n, after)))
                })
            };
            let why = "what reads a tile is computed in the same loop, or further in, or reads it whole behind that";
            let names = [before.as_str(), name.as_str()];
            parameter = parameter.constraint(Constraint::new(why, names, holds));
        }
        Ok(Some(parameter))
    }

    /// Returns whether a later computation is where one that is computed in a loop allows it.
    fn agree(
        &self,
        (p, before): (usize, &PlaceInLoop),
        (n, after): (usize, Option<&PlaceInLoop>),
    ) -> bool {
        match n.cmp(&before.consumer) {
            // What is computed in a loop has no cores, and what is kept is computed in parts of a whole.
            Ordering::Equal => after.is_none() || !before.is_kept && rank(&before.tile.level) > 0,
            Ordering::Less if self.readers[p].contains(&n) => after
                .is_some_and(|after| after.consumer == before.consumer && before.may_serve(after)),
            _ => true,
        }
    }

    /// The constraint that chains are for a knob of a computation, if they are one.
    pub(crate) fn constraint(self: &Arc<Self>, n: usize, knob: usize) -> Option<Constraint> {
        let entry = &self.searched[n];
        let is_decided = entry.space.chained()?.decides(knob);
        let is_near = |p: &usize| *p == n || self.at(*p, n).next().is_some();
        let near: Vec<usize> = (0..=n)
            .filter(|p| is_near(p) && !self.places[*p].is_empty())
            .collect();
        if near.is_empty() || !is_decided {
            return None;
        }
        let involved = entry.involved(knob);
        let positions = entry.reader(&involved);
        let names = entry.names();
        let depends: Vec<String> = near.iter().filter_map(|p| self.name(*p)).collect();
        let depends = depends.into_iter();
        let depends: Vec<String> = depends
            .chain(involved.iter().map(|k| names[*k].clone()))
            .collect();
        let numbers: Vec<HashMap<Value, Option<usize>>> =
            near.iter().map(|p| self.numbers(*p)).collect();
        let fusion = self.clone();
        let holds = move |values: &[&Value]| {
            let Some(positions) = positions(&values[near.len()..]) else {
                return false;
            };
            let place = |((p, numbers), value): ((&usize, &HashMap<_, Option<usize>>), &&Value)| {
                let at = numbers.get(*value)?;
                Some((*p, at.map(|at| &fusion.places[*p][at])))
            };
            let places = near.iter().zip(&numbers).zip(values).map(place);
            let places: Option<Vec<(usize, Option<&PlaceInLoop>)>> = places.collect();
            places.is_some_and(|places| fusion.allows(n, &places, &positions))
        };
        let why = "what is computed in a loop has that loop, is computed once, and by one core";
        Some(Constraint::new(
            why,
            depends.iter().map(String::as_str),
            holds,
        ))
    }

    /// Returns whether the last of these values of a computation's knobs leaves what is computed in its loops,
    /// and itself, where they are.
    fn allows(&self, n: usize, near: &[(usize, Option<&PlaceInLoop>)], values: &[usize]) -> bool {
        let Some(space) = self.searched[n].space.chained() else {
            return true;
        };
        let is_alone = near.iter().all(|(p, place)| *p != n || place.is_none());
        let inside = || {
            let placed = near.iter().filter_map(|(p, place)| Some((*p, (*place)?)));
            placed.filter(|(_, place)| place.consumer == n)
        };
        // Of two loops whose order is open, the one of what is read is the outer one.
        let is_served = |(p, before): (usize, &PlaceInLoop)| {
            let mut readers = inside().filter(|(r, after)| {
                self.readers[p].contains(r)
                    && before.rank == after.rank
                    && before.tile.level != after.tile.level
            });
            readers
                .all(|(_, after)| space.is_outside(values, &before.tile.level, &after.tile.level))
        };
        (is_alone || space.is_of_tile(values))
            && inside().all(|(_, place)| space.keeps(values, &place.tile))
            && inside().all(is_served)
    }

    /// The numbers of the places that values stand for.
    fn numbers(&self, n: usize) -> HashMap<Value, Option<usize>> {
        let places = self.places[n].iter().enumerate();
        let places = places.map(|(at, place)| (Value::from(place.text.as_str()), Some(at)));
        places.chain([(Value::from(ALONE), None)]).collect()
    }

    /// The condition that the trees do not know: that there is code.
    pub(crate) fn filter(self: &Arc<Self>) -> Constraint {
        let positions = 0..self.searched.len();
        let mut names: Vec<String> = positions.clone().filter_map(|n| self.name(n)).collect();
        let places = names.len();
        names.extend(positions.flat_map(|n| self.searched[n].names()));
        let (fusion, known) = (self.clone(), names.clone());
        let is_lowered = move |values: &[&Value]| {
            let is_alone = values[..places]
                .iter()
                .all(|value| value.to_string() == ALONE);
            let pairs = || {
                known
                    .iter()
                    .zip(values)
                    .map(|(n, v)| (n.as_str(), (*v).clone()))
            };
            is_alone || fusion.is_lowered(&Configuration::from_pairs(pairs()))
        };
        let why = "there is code for what is computed in loops of others";
        Constraint::new(why, names.iter().map(String::as_str), is_lowered)
    }

    /// Returns whether there is code for what a configuration computes in loops of others.
    pub(crate) fn is_lowered(&self, configuration: &Configuration) -> bool {
        let schedule = |n: usize| {
            let searched = &self.searched[n];
            let chosen = searched.space.schedule(&searched.values(configuration)?);
            self.placed(n, configuration, chosen)
        };
        let placed = (0..self.searched.len()).map(schedule);
        let Some(schedules) = placed.collect::<Option<Vec<Schedule>>>() else {
            return false;
        };
        if schedules.iter().all(|s| s.compute_at.is_none()) {
            return true;
        }
        let objections = self.lowering().objections(schedules);
        objections.is_ok_and(|objections| objections.is_empty())
    }

    /// Checks: the lowering can be asked.
    pub(crate) fn expect_lowered(&self) -> std::result::Result<(), String> {
        let schedules = self.program.computations.iter();
        let schedules = schedules.map(|(_, schedule)| schedule.clone());
        self.lowering().objections(schedules.collect()).map(|_| ())
    }

    fn lowering(&self) -> &Lowering {
        let start = || Lowering::start(self.program.clone());
        self.lowering.get_or_init(start)
    }

    /// The schedule of a computation with the place that a configuration has for it.
    pub(crate) fn placed(
        &self,
        n: usize,
        configuration: &Configuration,
        schedule: Schedule,
    ) -> Option<Schedule> {
        let place = self.place_in(n, configuration)?;
        let compute_at = place.map(|place| ComputeAt {
            consumer: self.searched[place.consumer].name.clone(),
            level: place.tile.level.clone(),
        });
        Some(Schedule {
            compute_at,
            ..schedule
        })
    }

    /// The cores that a computation has in a configuration: those of the one that it is computed in, or that one
    /// is.
    pub(crate) fn cores(&self, n: usize, configuration: &Configuration) -> Option<f64> {
        let Some(place) = self.place_in(n, configuration)? else {
            return Some(1.0);
        };
        let mut root = place.consumer;
        while let Some(place) = self.place_in(root, configuration)? {
            root = place.consumer;
        }
        let consumer = &self.searched[root];
        let schedule = consumer.space.schedule(&consumer.values(configuration)?);
        let core = schedule.layers.iter().find(|layer| layer.name == "core");
        let parts = core.into_iter().flat_map(|layer| layer.parts.values());
        let counts = parts.map(|parts| match parts {
            Parts::Fixed(n) => *n as f64,
            Parts::Derived => 1.0,
        });
        Some(counts.product())
    }

    /// The value of a place in a schedule, with the nearest values of knobs for a tile there; of none
    /// that is searched, that of what is computed alone.
    pub(crate) fn pair(
        &self,
        n: usize,
        at: Option<&ComputeAt>,
        values: &mut [usize],
    ) -> Option<(String, Value)> {
        let is_it = |place: &&PlaceInLoop| {
            let consumer = &self.searched[place.consumer].name;
            at.is_some_and(|at| at.consumer == *consumer && at.level == place.tile.level)
        };
        let place = self.places[n].iter().find(is_it);
        self.pair_of(n, place, values)
    }

    /// The same for the place that the model chooses.
    pub(crate) fn default(&self, n: usize, values: &mut [usize]) -> Option<(String, Value)> {
        let place = self.chosen().places[n].map(|at| &self.places[n][at]);
        self.pair_of(n, place, values)
    }

    /// Returns whether there are values for all loops that the model chooses.
    pub(crate) fn says_default(&self) -> bool {
        self.chosen().are_all
    }

    /// The schedule that the model chooses for a computation, if only one has that name.
    pub(crate) fn chosen_for(&self, name: &str) -> Option<&Schedule> {
        let schedules = self.chosen().schedules.iter();
        let mut named = schedules.filter(|(other, _)| other == name);
        let (_, first) = named.next()?;
        named.next().is_none().then_some(first)
    }

    fn chosen(&self) -> &ChosenPlaces {
        self.chosen.get_or_init(|| self.choose())
    }

    fn pair_of(
        &self,
        n: usize,
        place: Option<&PlaceInLoop>,
        values: &mut [usize],
    ) -> Option<(String, Value)> {
        if place.is_some() {
            make_tile(&*self.searched[n].space, values);
        }
        let text = place.map_or(ALONE, |place| place.text.as_str());
        Some((self.name(n)?, Value::from(text)))
    }

    /// The loops that the model chooses, as far as there are values for them.
    fn choose(&self) -> ChosenPlaces {
        let chosen = self.program.chosen().unwrap_or_default();
        let find = |n: usize| {
            let wanted = chosen
                .places
                .iter()
                .find(|place| place.name == self.searched[n].name)?;
            let is_it = |place: &PlaceInLoop| {
                self.searched[place.consumer].name == wanted.at.consumer
                    && place.tile.level.dimension == wanted.at.level.dimension
                    && rank(&place.tile.level) == rank_of(wanted)
            };
            self.places[n].iter().position(is_it)
        };
        let places: Vec<Option<usize>> = (0..self.searched.len()).map(find).collect();
        ChosenPlaces {
            are_all: places.iter().flatten().count() == chosen.places.len(),
            places,
            schedules: chosen.all,
        }
    }
}

/// Replaces values by the first that are those of a tile, where they are not.
fn make_tile(space: &dyn Knobs, values: &mut [usize]) {
    let Some(chained) = space.chained() else {
        return;
    };
    for n in 0..values.len() {
        let wanted = values[n];
        let rest = (0..space.knobs()[n].values.len()).filter(|at| *at != wanted);
        let taken = [wanted].into_iter().chain(rest).find(|at| {
            values[n] = *at;
            chained.is_of_tile(&values[..=n]) && space.allows(&values[..=n])
        });
        values[n] = taken.unwrap_or(wanted);
    }
}

/// The numbers of configurations of computations, as bits.
struct Bits {
    /// Those of all values of the knobs.
    most: Vec<f64>,
    /// Those that the trees have, where it was asked for.
    known: Vec<Option<f64>>,
}

impl Bits {
    fn new(searched: &[Searched]) -> Bits {
        let most = |one: &Searched| -> f64 {
            let values = one.space.knobs().iter().map(|knob| knob.values.len());
            values.map(|n| (n as f64).log2()).sum()
        };
        Bits {
            most: searched.iter().map(most).collect(),
            known: vec![None; searched.len()],
        }
    }

    /// Returns whether a tree of these is not too large.
    fn fit(&mut self, searched: &[Searched], these: &[usize]) -> bool {
        if these.iter().map(|n| self.most[*n]).sum::<f64>() <= BITS {
            return true;
        }
        let bits = these.iter().map(|n| {
            let known = self.known[*n];
            let known = known.unwrap_or_else(|| {
                searched[*n]
                    .alone()
                    .map_or(self.most[*n], |own| own.size().log2())
            });
            *self.known[*n].insert(known)
        });
        bits.sum::<f64>() <= BITS
    }
}

/// Loops of cores are outside of those around tiles, and these outside of a tile's.
fn rank(level: &LevelName) -> usize {
    match level.layer.as_str() {
        "core" => 0,
        "L2" => 2,
        _ => 1,
    }
}

/// The same of the model's loops, whose layers depend on how many there are.
fn rank_of(chosen: &ChosenPlace) -> usize {
    match chosen.parts {
        Some(Parts::Derived) if rank(&chosen.at.level) > 0 => 1,
        _ => rank(&chosen.at.level),
    }
}

#[cfg(test)]
#[path = "fusion_tests.rs"]
mod tests;
