//! The evaluator: all kept points that share their `cc` indices are evaluated together.
//!
//! In a `ps` dimension the points up to each asked one form blocks, every point of the domain is
//! visited once and combined into its block, and the blocks are then scanned. Asking for all
//! points makes each block one point; asking for one makes it one long reduction.

mod store;

use std::collections::{BTreeMap, BTreeSet};

use super::element::{Element, Environment, Errors, moved};
use super::failure::Failure;
use super::fold::{Fold, State};
use super::inverse::solve;
use super::scalar_function::ScalarFunction;
use super::view::View;
use crate::arith::convert_stored;
use crate::computation::{Computation, Place};
use crate::domain::{Grid, Odometer};
use crate::random::hash;
use crate::rules;
use crate::scalar::{Scalar, ScalarType};

/// Longer lines are not evaluated for the sake of one element.
const LONGEST_LINE: f64 = 4194304.0;

/// Evaluates one computation whose sizes are all known.
pub struct Evaluator<'a> {
    computation: &'a Computation,
    grids: Vec<Grid>,
    cc: Vec<usize>,
    ps: Vec<usize>,
    /// `ps` and `pw` dimensions in order.
    combined: Vec<usize>,
    inputs: Vec<View<'a>>,
    /// Everything else, in the order of [`Computation::places`].
    others: Vec<(Place, View<'a>)>,
    scalar: ScalarFunction<'a>,
    fold: Fold<'a>,
    arguments: Vec<Element>,
    /// Of each argument where it was read: the same element deviates in the same way.
    keys: Vec<u64>,
    tuple: Vec<Element>,
    worlds: Vec<Scalar>,
    index: Vec<i64>,
}

/// A request for the combined tuple at a kept point, after the carries from number `carries` on
/// (the innermost ones).
struct Request {
    point: Vec<i64>,
    carries: usize,
}

impl<'a> Evaluator<'a> {
    /// Fails if a size is not known or a rule is violated.
    pub fn new(computation: &'a Computation, errors: Errors) -> Result<Self, Failure> {
        let Some(grids) = computation.grids() else {
            return Err(Failure::NotReady(
                "the domain's bounds are not known".into(),
            ));
        };
        let findings = rules::check(computation);
        if let Some(finding) = findings.iter().find(|f| f.rule != rules::Rule::EmptyPw) {
            return Err(Failure::NotReady(finding.message.clone()));
        }
        let rank = grids.len();
        let view = |buffer| View::new(buffer, rank);
        let inputs: Result<Vec<_>, _> = computation.inputs.iter().map(view).collect();
        let mut written = Vec::new();
        for place in computation.places() {
            if let (false, Some(buffer)) =
                (matches!(place, Place::Input(_)), computation.buffer(place))
            {
                written.push((place, View::new(buffer, rank)?));
            }
        }
        let dims = |wanted: &dyn Fn(&crate::computation::Combine) -> bool| -> Vec<usize> {
            (0..rank)
                .filter(|d| wanted(&computation.dimensions[*d].combine))
                .collect()
        };
        let zero = |ty: &ScalarType| Element::exact(Scalar::zero(*ty));
        Ok(Evaluator {
            computation,
            cc: dims(&|c| c.operator().is_none()),
            ps: dims(&|c| c.is_ps()),
            combined: dims(&|c| c.operator().is_some()),
            inputs: inputs?,
            others: written,
            scalar: ScalarFunction::new(computation, errors),
            fold: Fold::new(computation.operator(), &computation.components, errors),
            arguments: computation.scalar.inputs.iter().map(zero).collect(),
            keys: vec![0; computation.scalar.inputs.len()],
            tuple: computation.components.iter().map(zero).collect(),
            worlds: Vec::new(),
            index: Vec::new(),
            grids,
        })
    }

    fn view(&self, place: Place) -> Result<usize, Failure> {
        let position = self.others.iter().position(|(p, _)| *p == place);
        position.ok_or_else(|| Failure::NotReady(format!("bug: {place:?} is not written")))
    }

    /// Evaluates elements of an output, or of a carried-out buffer, at these indices (from 0,
    /// inside the buffer's shape), as a store leaves them. Elements that are not written keep the
    /// destination's.
    pub fn elements(
        &mut self,
        environment: &mut dyn Environment,
        place: Place,
        indices: &[Vec<i64>],
    ) -> Result<Vec<Element>, Failure> {
        let view = self.view(place)?;
        let mut requests = Vec::new();
        let mut written = Vec::new();
        for index in indices {
            let writer = self.writer(view, place, index);
            written.push(writer.as_ref().map(|(component, _)| *component));
            requests.extend(writer.map(|(_, request)| request));
        }
        let mut tuples = self.tuples(environment, &requests)?.into_iter();
        let element = self.others[view].1.buffer.element;
        let mut elements = Vec::with_capacity(indices.len());
        for (index, component) in indices.iter().zip(written) {
            elements.push(match component.zip(tuples_next(component, &mut tuples)) {
                Some((component, tuple)) => stored(tuple[component], element),
                None => environment.read(place, index)?,
            });
        }
        Ok(elements)
    }

    /// Returns the component and the point that write an element.
    fn writer(&self, view: usize, place: Place, index: &[i64]) -> Option<(usize, Request)> {
        let view = &self.others[view].1;
        let global = view.global(index);
        let mut varying = self.computation.kept();
        let mut last = None;
        let mut carries = 0;
        if let Place::Outgoing { carry, .. } = place {
            let dimension = self.computation.carries[carry].dimension;
            varying.retain(|d| *d != dimension);
            carries = carry;
            last = self.ps.contains(&dimension).then_some(dimension);
        }
        for access in &view.buffer.accesses {
            let Some(mut point) = solve(&access.map, &self.grids, &varying, &global) else {
                continue;
            };
            if let Some(dimension) = last {
                // Of an empty dimension there is no last point: nothing but the carry.
                let grid = &self.grids[dimension];
                point[dimension] = grid.last().unwrap_or(grid.lower);
            }
            let component = component_of(place, access.component);
            return Some((component, Request { point, carries }));
        }
        None
    }

    /// An element of an output, with all others that cost little more: of every output, along
    /// all `ps` dimensions (unless that are very many). Each with its place and index.
    pub fn line(
        &mut self,
        environment: &mut dyn Environment,
        place: Place,
        index: &[i64],
    ) -> Result<Vec<(Place, Vec<i64>, Element)>, Failure> {
        let alone = |element| vec![(place, index.to_vec(), element)];
        let view = self.view(place)?;
        let writer = self.writer(view, place, index);
        let (Place::Output(_), Some((_, request))) = (place, writer) else {
            let elements = self.elements(environment, place, &[index.to_vec()])?;
            return Ok(elements.into_iter().flat_map(alone).collect());
        };
        let length: f64 = self
            .ps
            .iter()
            .map(|d| self.grids[*d].count() as f64)
            .product();
        let targets: Vec<Vec<i64>> = (self.ps.iter())
            .map(|d| {
                if length <= LONGEST_LINE {
                    self.grids[*d].iter().collect()
                } else {
                    vec![request.point[*d]]
                }
            })
            .collect();
        let mut point = request.point;
        let states = self.group(environment, &mut point, &targets)?;
        let mut line = Vec::new();
        let mut odometer = Odometer::new(targets.iter().map(|t| t.len() as i64).collect());
        for mut state in states {
            for ((d, target), k) in self.ps.iter().zip(&targets).zip(&odometer.numbers) {
                point[*d] = target[*k as usize];
            }
            for carry in (0..self.computation.carries.len()).rev() {
                self.carry(environment, carry, &point, &mut state)?;
            }
            let tuple = self.finish(&state)?;
            for (place, view) in &self.others {
                let output = matches!(place, Place::Output(_));
                let accesses = view.buffer.accesses.iter().enumerate().filter(|_| output);
                for (n, access) in accesses {
                    view.locate_inside(n, &point, &mut self.index)?;
                    let element = stored(tuple[access.component], view.buffer.element);
                    line.push((*place, self.index.clone(), element));
                }
            }
            odometer.advance();
        }
        Ok(line)
    }

    /// The tuples at kept points; those that share their `cc` indices are evaluated together.
    fn tuples(
        &mut self,
        environment: &mut dyn Environment,
        requests: &[Request],
    ) -> Result<Vec<Vec<Element>>, Failure> {
        let mut groups: BTreeMap<Vec<i64>, Vec<usize>> = BTreeMap::new();
        for (n, request) in requests.iter().enumerate() {
            let cc = self.cc.iter().map(|d| request.point[*d]).collect();
            groups.entry(cc).or_default().push(n);
        }
        let mut tuples = vec![Vec::new(); requests.len()];
        for members in groups.values() {
            let targets: Vec<Vec<i64>> = (self.ps.iter())
                .map(|d| {
                    let asked = members.iter().map(|n| requests[*n].point[*d]);
                    let asked: BTreeSet<i64> = asked.collect();
                    let grid = self.grids[*d];
                    asked
                        .into_iter()
                        .filter(|i| grid.number(*i).is_some())
                        .collect()
                })
                .collect();
            let mut point = requests[members[0]].point.clone();
            let states = self.group(environment, &mut point, &targets)?;
            for &n in members {
                let request = &requests[n];
                let flat = (self.ps.iter().zip(&targets)).try_fold(0, |flat, (d, target)| {
                    let at = target.binary_search(&request.point[*d]).ok()?;
                    Some(flat * target.len() + at)
                });
                let mut state = flat.map_or(State::Absent, |f| states[f].clone());
                let innermost = match flat {
                    Some(_) => self.computation.carries.len(),
                    None => request.carries + 1,
                };
                for carry in (request.carries..innermost).rev() {
                    self.carry(environment, carry, &request.point, &mut state)?;
                }
                tuples[n] = self.finish(&state)?;
            }
        }
        Ok(tuples)
    }

    /// The states at the product of `targets`, in row-major order, before any carry. `point`
    /// holds the `cc` indices.
    fn group(
        &mut self,
        environment: &mut dyn Environment,
        point: &mut [i64],
        targets: &[Vec<i64>],
    ) -> Result<Vec<State>, Failure> {
        let blocks: usize = targets.iter().map(Vec::len).product();
        let mut states = vec![State::Absent; blocks];
        if blocks == 0 {
            return Ok(states);
        }
        // For each combined dimension and point number: what its block adds to the position.
        let mut tables: Vec<Option<Vec<usize>>> = Vec::new();
        let mut counts = Vec::new();
        let mut stride = blocks;
        for d in &self.combined {
            let grid = self.grids[*d];
            let Some(axis) = self.ps.iter().position(|p| p == d) else {
                tables.push(None);
                counts.push(grid.count());
                continue;
            };
            let target = &targets[axis];
            stride /= target.len();
            let table = block_table(&grid, target, stride);
            counts.push(table.len() as i64);
            tables.push(Some(table));
        }
        let mut odometer = Odometer::new(counts);
        let mut changed = 0;
        while odometer.current().is_some() {
            for n in changed..self.combined.len() {
                let d = self.combined[n];
                point[d] = self.grids[d].point(odometer.numbers[n]);
            }
            let offsets = tables.iter().zip(&odometer.numbers);
            let block: usize = offsets
                .map(|(table, k)| table.as_ref().map_or(0, |t| t[*k as usize]))
                .sum();
            self.point_tuple(environment, point)?;
            self.fold
                .push(&mut states[block], &self.tuple, &self.worlds)?;
            match odometer.advance() {
                Some(position) => changed = position,
                None => break,
            }
        }
        for axis in 0..targets.len() {
            self.scan_axis(&mut states, targets, axis)?;
        }
        // Indices of dimensions that shrank are 0.
        for d in &self.combined {
            if !self.ps.contains(d) {
                point[*d] = 0;
            }
        }
        Ok(states)
    }

    fn scan_axis(
        &mut self,
        states: &mut [State],
        targets: &[Vec<i64>],
        axis: usize,
    ) -> Result<(), Failure> {
        let length = targets[axis].len();
        let inner: usize = targets[axis + 1..].iter().map(Vec::len).product();
        let mut line = Vec::with_capacity(length);
        for start in 0..states.len() / length {
            let first = (start / inner) * inner * length + start % inner;
            let take = |n| first + n * inner;
            line.clear();
            line.extend(
                (0..length).map(|n| std::mem::replace(&mut states[take(n)], State::Absent)),
            );
            self.fold.scan(&mut line)?;
            for (n, state) in line.drain(..).enumerate() {
                states[take(n)] = state;
            }
        }
        Ok(())
    }

    /// The scalar function's tuple at a point, left in `self.tuple`.
    #[inline]
    fn point_tuple(
        &mut self,
        environment: &mut dyn Environment,
        point: &[i64],
    ) -> Result<(), Failure> {
        for (n, view) in self.inputs.iter().enumerate() {
            for (a, access) in view.buffer.accesses.iter().enumerate() {
                let inside = view.locate(a, point, &mut self.index)?;
                let element = match view.buffer.pad {
                    _ if inside => environment.read(Place::Input(n), &self.index)?,
                    Some(pad) => Element::exact(pad),
                    None => return Err(view.outside(Some(self.index.clone()))),
                };
                self.arguments[access.component] = element;
                if element.error > 0.0 {
                    self.keys[access.component] = key(n, &self.index);
                }
            }
        }
        match self.fold.worlds() {
            0 => self.scalar.run(&self.arguments, point, &mut self.tuple),
            count => self.scalar.run_in_worlds(
                &self.arguments,
                &self.keys,
                point,
                &mut self.tuple,
                (count, &mut self.worlds),
            ),
        }
    }

    /// `state = f(carry, state)`, if the carry is there.
    fn carry(
        &mut self,
        environment: &mut dyn Environment,
        carry: usize,
        point: &[i64],
        state: &mut State,
    ) -> Result<(), Failure> {
        if self.computation.carries[carry].has_valid_bit && !environment.valid(carry)? {
            return Ok(());
        }
        let mut tuple = Vec::with_capacity(self.tuple.len());
        let mut keys = Vec::with_capacity(self.tuple.len());
        for component in 0..self.computation.components.len() {
            let place = Place::Incoming { carry, component };
            let view = self.view(place)?;
            self.others[view]
                .1
                .locate_inside(0, point, &mut self.index)?;
            tuple.push(environment.read(place, &self.index)?);
            keys.push(key(usize::MAX - view, &self.index));
        }
        let worlds: Vec<Scalar> = (0..self.fold.worlds() as u64)
            .flat_map(|world| {
                let elements = tuple.iter().zip(&keys);
                elements.map(move |(e, key)| moved(*e, *key, world))
            })
            .collect();
        let mut left = State::Absent;
        self.fold.push(&mut left, &tuple, &worlds)?;
        self.fold.join(&left, state)
    }

    /// The combined tuple: of nothing, the neutral element.
    fn finish(&mut self, state: &State) -> Result<Vec<Element>, Failure> {
        if let Some(tuple) = self.fold.finish(state) {
            return Ok(tuple);
        }
        let computation = self.computation;
        let neutral = computation
            .operator()
            .and_then(|o| o.neutral(&computation.components));
        if let Some(neutral) = neutral {
            return Ok(neutral.into_iter().map(Element::exact).collect());
        }
        let empty = (self.combined.iter()).find(|d| self.grids[**d].is_empty());
        let name = empty.map(|d| computation.dimensions[*d].name.clone());
        Err(Failure::EmptyPw {
            dimension: name.unwrap_or_default(),
        })
    }
}

/// Carries have a buffer for each component, by position.
fn component_of(place: Place, of_access: usize) -> usize {
    match place {
        Place::Incoming { component, .. } | Place::Outgoing { component, .. } => component,
        Place::Input(_) | Place::Output(_) => of_access,
    }
}

/// Returns a key that tells one element of the environment from all others.
fn key(buffer: usize, index: &[i64]) -> u64 {
    let index = index.iter().map(|i| *i as u64);
    hash([buffer as u64].into_iter().chain(index))
}

fn tuples_next<T>(written: Option<usize>, tuples: &mut impl Iterator<Item = T>) -> Option<T> {
    written.and_then(|_| tuples.next())
}

/// For the number of each point up to the last target: the position of the first target that is
/// not before it, times `stride`.
fn block_table(grid: &Grid, targets: &[i64], stride: usize) -> Vec<usize> {
    let mut table = Vec::new();
    for (block, target) in targets.iter().enumerate() {
        let end = grid.number(*target).map_or(0, |k| k as usize + 1);
        if end > table.len() {
            table.resize(end, block * stride);
        }
    }
    table
}

/// An element converted to the type it is stored as.
fn stored(element: Element, ty: ScalarType) -> Element {
    let value = convert_stored(element.value, ty).unwrap_or(Scalar::zero(ty));
    // What is off by less than it takes to round elsewhere may still do so.
    let error = if element.error == 0.0 || element.value.ty == ty {
        element.error
    } else {
        element.error + ty.ulp(value.as_f64())
    };
    Element { value, error }
}
