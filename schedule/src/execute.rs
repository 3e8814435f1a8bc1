//! Evaluates a computation as its schedule says: tiles of inputs are copied from region to
//! region where D3 and D4 say, the scalar function reads them where S3 says, and partial results
//! are combined where and when R1 says, by the definition of the combine operators.
//!
//! It is slow and strict: a point computed twice, a read of what was not staged or is staged no
//! more, and a partial result used twice are failures. What agrees with the oracle through this
//! evaluator is a schedule that means its computation.

mod staging;

use std::collections::{BTreeMap, HashMap};

use super::capacity::{Allocation, PhaseName, allocations};
use super::resolved::{Level, PhaseNest, Resolved};
use super::tiles::Tiles;
use mdh_algebra::arith::convert_stored;
use mdh_algebra::computation::{Combine, Computation};
use mdh_algebra::domain::Grid;
use mdh_algebra::machine::Machine;
use mdh_algebra::oracle::definition::{Mda, cc, ps, pw};
use mdh_algebra::oracle::{Environment, Failure};
use mdh_algebra::scalar::Scalar;

/// Result of an evaluation.
#[derive(Clone, Debug, PartialEq)]
pub struct Execution {
    /// For each output, the elements that are written, by index.
    pub outputs: Vec<BTreeMap<Vec<i64>, Scalar>>,
    /// Elements copied into each allocation of [`allocations`].
    pub copied: Vec<u64>,
    /// Applications of combine operators to tuples.
    pub combined: u64,
}

/// The result of a computation without carries, of known sizes, for the elements of inputs that
/// `environment` gives.
pub fn execute(
    computation: &Computation,
    resolved: &Resolved,
    environment: &mut dyn Environment,
) -> Result<Execution, Failure> {
    let ready = |what: &str| Failure::NotReady(what.into());
    if !computation.carries.is_empty() {
        return Err(ready("a schedule's evaluation takes no carries"));
    }
    let grids = computation
        .grids()
        .ok_or_else(|| ready("sizes are not known"))?;
    let tiles = resolved
        .tiles(&[])
        .ok_or_else(|| ready("sizes are not known"))?;
    let allocations = allocations(resolved, computation, &tiles);
    let allocations = allocations.ok_or_else(|| ready("footprints are not known"))?;
    let mut run = Run {
        computation,
        tiles,
        grids,
        environment,
        copied: vec![0; allocations.len()],
        allocations,
        staged: HashMap::new(),
        scalars: HashMap::new(),
        visited: 0,
        combined: 0,
        machine: Machine::new(),
    };
    let mut result = None;
    for nest in resolved.nests() {
        let mut parts = vec![0; nest.phase.order.len()];
        result = run.nest(&nest, 0, &mut parts)?;
    }
    let points = mdh_algebra::domain::total_points(&run.grids);
    if points != Some(run.visited) {
        let visited = run.visited;
        return Err(ready(&format!(
            "bug: {visited} points were computed of {points:?}"
        )));
    }
    let outputs = run.store(result)?;
    Ok(Execution {
        outputs,
        copied: run.copied,
        combined: run.combined,
    })
}

struct Run<'a> {
    computation: &'a Computation,
    tiles: Tiles,
    grids: Vec<Grid>,
    environment: &'a mut dyn Environment,
    allocations: Vec<Allocation>,
    copied: Vec<u64>,
    /// Tiles by allocation and the parts of its fixed levels.
    staged: HashMap<(usize, Vec<i64>), HashMap<Vec<i64>, Scalar>>,
    /// Results of the scalar function between nests, by point numbers.
    scalars: HashMap<Vec<i64>, Vec<Scalar>>,
    visited: i64,
    combined: u64,
    machine: Machine,
}

impl Run<'_> {
    /// The loops from a position on; the partial result of what they cover, if the nest combines.
    fn nest(
        &mut self,
        nest: &PhaseNest,
        position: usize,
        parts: &mut Vec<i64>,
    ) -> Result<Option<Mda>, Failure> {
        if nest.decompose {
            self.stage(nest, position, parts)?;
        }
        let result = match nest.phase.order.get(position) {
            None => self.leaf(nest, parts)?,
            Some(level) => {
                let level = *level;
                let mut sum: Option<Mda> = None;
                for part in 0..self.tiles.count(level) {
                    parts[position] = part;
                    let next = self.nest(nest, position + 1, parts)?;
                    sum = match (sum, next) {
                        (Some(sum), Some(next)) => Some(self.combine(level, &sum, &next)?),
                        (first, other) => first.or(other),
                    };
                }
                parts[position] = 0;
                sum
            }
        };
        if nest.decompose && nest.scalar {
            let here = |a: &Allocation| a.phase == PhaseName::Decompose && a.position == position;
            let ended: Vec<bool> = self.allocations.iter().map(here).collect();
            self.staged.retain(|(n, _), _| !ended[*n]);
        }
        Ok(result)
    }

    fn combine(&mut self, level: Level, a: &Mda, b: &Mda) -> Result<Mda, Failure> {
        let d = level.dimension;
        let combine = self.computation.dimensions[d].combine;
        let operator = combine.operator().map(|n| &self.computation.operators[n]);
        let (machine, combined) = (&mut self.machine, &mut self.combined);
        let mut f = |x: &[Scalar], y: &[Scalar]| -> Result<Vec<Scalar>, Failure> {
            let mut result = x.to_vec();
            if let Some(operator) = operator {
                *combined += 1;
                let applied = operator.apply(machine, x, y, &mut result, &mut Vec::new());
                applied.map_err(|error| Failure::Code {
                    place: operator.to_string(),
                    error,
                })?;
            }
            Ok(result)
        };
        match combine {
            Combine::Cc => Ok(cc(d, a, b)),
            Combine::Pw(_) => pw(a, b, &mut f),
            Combine::Ps(_) => ps(d, a, b, &mut f),
        }
    }

    /// The numbers of the point that parts stand for, if it is one.
    fn numbers(&self, nest: &PhaseNest, parts: &[i64]) -> Option<Vec<i64>> {
        let mut numbers = vec![0; self.grids.len()];
        for (level, part) in nest.phase.order.iter().zip(parts) {
            numbers[level.dimension] += part * self.tiles.size(*level);
        }
        let inside = numbers
            .iter()
            .zip(&self.tiles.points)
            .all(|(n, points)| n < points);
        inside.then_some(numbers)
    }

    fn leaf(&mut self, nest: &PhaseNest, parts: &[i64]) -> Result<Option<Mda>, Failure> {
        let Some(numbers) = self.numbers(nest, parts) else {
            return Ok(None);
        };
        if nest.scalar {
            let tuple = self.scalar(&numbers)?;
            self.visited += 1;
            if self.scalars.insert(numbers.clone(), tuple).is_some() {
                return Err(Failure::NotReady(format!(
                    "bug: {numbers:?} is computed twice"
                )));
            }
        }
        if !nest.recompose {
            return Ok(None);
        }
        let tuple = self.scalars.remove(&numbers);
        let missing = || Failure::NotReady(format!("bug: {numbers:?} is not computed"));
        let tuple = tuple.ok_or_else(missing)?;
        let dimensions = self.computation.dimensions.iter().zip(&numbers);
        let index = dimensions.map(|(d, n)| if d.combine.is_pw() { 0 } else { *n });
        let index: Vec<i64> = index.collect();
        Ok(Some(Mda {
            sets: index.iter().map(|n| vec![*n]).collect(),
            values: BTreeMap::from([(index, tuple)]),
        }))
    }

    fn point(&self, numbers: &[i64]) -> Vec<i64> {
        let pairs = self.grids.iter().zip(numbers);
        pairs.map(|(grid, n)| grid.point(*n)).collect()
    }

    /// The index of an access to an input, and whether it is inside.
    fn index(&self, input: usize, access: usize, point: &[i64]) -> Option<(Vec<i64>, bool)> {
        let buffer = &self.computation.inputs[input];
        let map = buffer.accesses[access].map.iter().zip(&buffer.origin);
        let index: Option<Vec<i64>> = map
            .map(|(e, origin)| e.eval(point)?.checked_sub((*origin)?))
            .collect();
        let index = index?;
        let inside = index
            .iter()
            .zip(&buffer.shape)
            .all(|(i, n)| 0 <= *i && Some(*i) < *n);
        Some((index, inside))
    }

    fn scalar(&mut self, numbers: &[i64]) -> Result<Vec<Scalar>, Failure> {
        let point = self.point(numbers);
        let mut arguments: Vec<(usize, Scalar)> = Vec::new();
        for input in 0..self.computation.inputs.len() {
            // S3's own copy is read at once, so what it is copied from is read here.
            let from = self.tiles_of(input).last().copied();
            for access in 0..self.computation.inputs[input].accesses.len() {
                let component = self.computation.inputs[input].accesses[access].component;
                let value = self.read(input, access, from, &point, numbers)?;
                arguments.push((component, value));
            }
        }
        arguments.sort_by_key(|(component, _)| *component);
        let arguments: Vec<Scalar> = arguments.into_iter().map(|(_, v)| v).collect();
        let tuple = self.computation.scalar.eval(&arguments, &point);
        tuple.map_err(|error| Failure::Code {
            place: format!("{point:?}"),
            error,
        })
    }

    fn store(&mut self, result: Option<Mda>) -> Result<Vec<BTreeMap<Vec<i64>, Scalar>>, Failure> {
        let mut outputs = vec![BTreeMap::new(); self.computation.outputs.len()];
        let values = match result {
            Some(mda) => mda.values,
            None => self.empty()?,
        };
        for (numbers, tuple) in values {
            let point = self.point(&numbers);
            for (output, buffer) in outputs.iter_mut().zip(&self.computation.outputs) {
                for access in &buffer.accesses {
                    let map = access.map.iter().zip(&buffer.origin);
                    let index: Option<Vec<i64>> = map
                        .map(|(e, origin)| e.eval(&point)?.checked_sub((*origin)?))
                        .collect();
                    let value = tuple.get(access.component);
                    let value = value.and_then(|v| convert_stored(*v, buffer.element));
                    if let (Some(index), Some(value)) = (index, value) {
                        output.insert(index, value);
                    }
                }
            }
        }
        Ok(outputs)
    }

    /// Nothing was computed: results that remain are neutral elements.
    fn empty(&mut self) -> Result<BTreeMap<Vec<i64>, Vec<Scalar>>, Failure> {
        let dimensions = &self.computation.dimensions;
        let mut values = BTreeMap::new();
        let empty = dimensions.iter().zip(&self.grids);
        let empty = empty
            .clone()
            .find(|(d, grid)| d.combine.is_pw() && grid.is_empty());
        let Some((dimension, _)) = empty else {
            return Ok(values);
        };
        let counts = dimensions
            .iter()
            .zip(&self.grids)
            .map(|(d, grid)| match d.combine {
                Combine::Pw(_) => Grid::dense(1),
                _ => Grid::dense(grid.count()),
            });
        let counts: Vec<Grid> = counts.collect();
        let operator = self.computation.operator();
        let neutral = operator.and_then(|op| op.neutral(&self.computation.components));
        for numbers in mdh_algebra::domain::points(&counts) {
            let tuple = neutral.clone().ok_or_else(|| Failure::EmptyPw {
                dimension: dimension.name.clone(),
            })?;
            values.insert(numbers, tuple);
        }
        Ok(values)
    }
}
