//! The definition of md_hom letter by letter: MDAs as functions from index sets, combine
//! operators on them, and the homomorphism property applied at arbitrary splits.
//!
//! For small sizes only: it is what the evaluator is tested against. It combines floats in
//! their own type, so tests use integers.

use std::collections::BTreeMap;

use super::failure::Failure;
use crate::computation::{Combine, Computation, Place};
use crate::machine::Machine;
use crate::operator::Operator;
use crate::random::Random;
use crate::scalar::Scalar;

/// A multi-dimensional array: an index set for each dimension, and a tuple at each of their
/// product's points.
#[derive(Clone, Debug, PartialEq)]
pub struct Mda {
    /// The index sets, each ascending.
    pub sets: Vec<Vec<i64>>,
    /// The values.
    pub values: BTreeMap<Vec<i64>, Vec<Scalar>>,
}

type Apply<'a> = dyn FnMut(&[Scalar], &[Scalar]) -> Result<Vec<Scalar>, Failure> + 'a;

fn union(p: &[i64], q: &[i64]) -> Vec<i64> {
    let mut both: Vec<i64> = p.iter().chain(q).copied().collect();
    both.sort_unstable();
    both
}

/// `cc`: the values of both.
pub fn cc(d: usize, a: &Mda, b: &Mda) -> Mda {
    let mut both = a.clone();
    both.sets[d] = union(&a.sets[d], &b.sets[d]);
    both.values.extend(b.values.clone());
    both
}

/// `pw(f)`: both have `{0}` in dimension `d`.
pub fn pw(a: &Mda, b: &Mda, f: &mut Apply) -> Result<Mda, Failure> {
    let mut result = a.clone();
    for (index, value) in &mut result.values {
        *value = f(value, &b.values[index])?;
    }
    Ok(result)
}

/// `ps(f)`: at `i_d` in P, `f(a[i], b[.. max{q in Q, q <= i_d} ..])`; at `i_d` in Q,
/// `f(a[.. max{p in P, p <= i_d} ..], b[i])`; a term that does not exist is left out.
pub fn ps(d: usize, a: &Mda, b: &Mda, f: &mut Apply) -> Result<Mda, Failure> {
    let below = |set: &[i64], i: i64| set.iter().copied().filter(|x| *x <= i).max();
    let at = |mda: &Mda, index: &[i64], i: Option<i64>| {
        let mut index = index.to_vec();
        index[d] = i?;
        Some(mda.values[&index].clone())
    };
    let mut result = cc(d, a, b);
    for (index, value) in &mut result.values {
        let left = at(a, index, below(&a.sets[d], index[d]));
        let right = at(b, index, below(&b.sets[d], index[d]));
        *value = match (left, right) {
            (Some(left), Some(right)) => f(&left, &right)?,
            (one, other) => one.or(other).unwrap_or_default(),
        };
    }
    Ok(result)
}

/// `md_hom`'s result over non-empty index sets, without carries and views out: splits dimensions at
/// random (a non-commutative operator's into the indices before and those after) until single
/// points remain. `read(input, index)` gives elements of inputs.
pub fn md_hom(
    computation: &Computation,
    read: &mut dyn FnMut(Place, &[i64]) -> Scalar,
    random: &mut Random,
) -> Result<Mda, Failure> {
    let grids = computation.grids().unwrap_or_default();
    let sets = grids.iter().map(|g| g.iter().collect()).collect();
    split(computation, sets, read, random)
}

fn split(
    computation: &Computation,
    sets: Vec<Vec<i64>>,
    read: &mut dyn FnMut(Place, &[i64]) -> Scalar,
    random: &mut Random,
) -> Result<Mda, Failure> {
    let long: Vec<usize> = (0..sets.len()).filter(|d| sets[*d].len() > 1).collect();
    if long.is_empty() {
        return single(computation, sets, read);
    }
    let d = long[random.below(long.len() as u64) as usize];
    let (mut p, mut q) = (Vec::new(), Vec::new());
    let combine = computation.dimensions[d].combine;
    let operator = combine.operator().map(|n| &computation.operators[n]);
    if operator.is_none_or(Operator::is_commutative) {
        for i in &sets[d] {
            if random.below(2) == 0 { &mut p } else { &mut q }.push(*i);
        }
    }
    if p.is_empty() || q.is_empty() {
        let cut = 1 + random.below(sets[d].len() as u64 - 1) as usize;
        p = sets[d][..cut].to_vec();
        q = sets[d][cut..].to_vec();
    }
    let mut part = |set: Vec<i64>, random: &mut Random| {
        let mut sets = sets.clone();
        sets[d] = set;
        split(computation, sets, read, random)
    };
    let (a, b) = (part(p, random)?, part(q, random)?);
    let mut machine = Machine::new();
    let mut f = |x: &[Scalar], y: &[Scalar]| -> Result<Vec<Scalar>, Failure> {
        let mut result = x.to_vec();
        if let Some(operator) = operator {
            let applied = operator.apply(&mut machine, x, y, &mut result, &mut Vec::new());
            applied.map_err(|error| Failure::Code {
                place: operator.to_string(),
                error,
            })?;
        }
        Ok(result)
    };
    match combine {
        Combine::Cc => Ok(cc(d, &a, &b)),
        Combine::Pw(_) => pw(&a, &b, &mut f),
        Combine::Ps(_) => ps(d, &a, &b, &mut f),
    }
}

/// The scalar function at one point; `pw` dimensions have `{0}` there.
fn single(
    computation: &Computation,
    mut sets: Vec<Vec<i64>>,
    read: &mut dyn FnMut(Place, &[i64]) -> Scalar,
) -> Result<Mda, Failure> {
    let point: Vec<i64> = sets.iter().map(|s| s[0]).collect();
    let mut arguments: Vec<(usize, Scalar)> = Vec::new();
    for (n, buffer) in computation.inputs.iter().enumerate() {
        for access in &buffer.accesses {
            let parts = access.map.iter().zip(&buffer.origin);
            let index: Vec<i64> = parts
                .map(|(e, o)| e.eval(&point).unwrap_or(i64::MAX) - o.unwrap_or(0))
                .collect();
            let extents = index.iter().zip(&buffer.shape);
            let inside = extents.clone().all(|(i, n)| 0 <= *i && Some(*i) < *n);
            let value = match buffer.pad {
                Some(pad) if !inside => pad,
                _ => read(Place::Input(n), &index),
            };
            arguments.push((access.component, value));
        }
    }
    arguments.sort_by_key(|(component, _)| *component);
    let arguments: Vec<Scalar> = arguments.into_iter().map(|(_, v)| v).collect();
    let tuple = computation.scalar.eval(&arguments, &point);
    let tuple = tuple.map_err(|error| Failure::Code {
        place: format!("{point:?}"),
        error,
    })?;
    for (set, dimension) in sets.iter_mut().zip(&computation.dimensions) {
        if dimension.combine.is_pw() {
            *set = vec![0];
        }
    }
    let index: Vec<i64> = sets.iter().map(|s| s[0]).collect();
    Ok(Mda {
        sets,
        values: BTreeMap::from([(index, tuple)]),
    })
}
