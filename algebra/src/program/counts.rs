//! Describes how much a program computes and moves, from its computations' own maps.

use std::collections::HashMap;

use super::instance::{Bound, Instance, Work};
use crate::computation::{Buffer, Computation, Place};
use crate::domain::Grid;
use crate::oracle::nest::BoundNest;
use crate::scalar::ScalarType;
use crate::support::contributing;

impl Instance<'_> {
    /// Arithmetic operations: the scalar function's at every point that may contribute, and each combination of two
    /// tuples there. Of the points of a triangle or band it is an estimate.
    pub fn flops(&self) -> f64 {
        let amounts = self.computes.iter().map(|bound| match &bound.work {
            Work::Computation(computation) => flops(computation, contributing(computation)),
            Work::Nest(nest) => nest.points() * nest.nest.code.flops() as f64,
        });
        amounts.sum()
    }

    /// Bytes moved if every computation reads each distinct element once and writes each once.
    pub fn bytes(&self) -> f64 {
        let mut total = 0.0;
        for compute in &self.computes {
            let mut touched: HashMap<usize, f64> = HashMap::new();
            let computation = match &compute.work {
                Work::Computation(computation) => computation,
                Work::Nest(nest) => {
                    total += self.bytes_of_nest(compute, nest);
                    continue;
                }
            };
            for place in computation.places() {
                let Some(buffer) = computation.buffer(place) else {
                    continue;
                };
                let elements = distinct(computation, place, buffer);
                let bytes = elements * buffer.element.byte_width() as f64;
                match place {
                    Place::Output(_) | Place::Outgoing { .. } => total += bytes,
                    // Operands that are the same tensor share what they read.
                    Place::Input(_) | Place::Incoming { .. } => {
                        *touched.entry(compute.nodes[&place]).or_default() += bytes;
                    }
                }
            }
            for (node, bytes) in touched {
                let node = &self.nodes[node];
                let count: f64 = node.shape.iter().map(|n| *n as f64).product();
                total += bytes.min(count * node.element.byte_width() as f64);
            }
        }
        total
    }

    /// Returns how many points all computations have together: what evaluating the whole costs.
    pub fn points(&self) -> f64 {
        let points_of = |c: &Computation| counts(c, &(0..c.dimensions.len()).collect::<Vec<_>>());
        let amounts = self.computes.iter().map(|bound| match &bound.work {
            Work::Computation(computation) => points_of(computation),
            Work::Nest(nest) => nest.points(),
        });
        amounts.sum()
    }

    /// Counts what a nest reads, each tensor once, and writes.
    fn bytes_of_nest(&self, bound: &Bound, nest: &BoundNest) -> f64 {
        let inputs = nest.nest.inputs.len();
        let bytes = |operand: usize, element: ScalarType| {
            nest.elements(operand).min(nest.points()) * element.byte_width() as f64
        };
        let mut total = 0.0;
        let mut read = Vec::new();
        for (n, input) in nest.nest.inputs.iter().enumerate() {
            let node = bound.operands[n];
            if nest.uses(n) && !read.contains(&node) {
                read.push(node);
                total += bytes(n, input.element);
            }
        }
        let outputs = nest.nest.outputs.iter().enumerate();
        total
            + outputs
                .map(|(n, o)| bytes(inputs + n, o.element))
                .sum::<f64>()
    }
}

impl Computation {
    /// Arithmetic operations: the scalar function's at every point, and each combination of two
    /// tuples. None where sizes are not known.
    pub fn flops(&self) -> f64 {
        flops(self, 1.0)
    }

    /// Bytes moved if each distinct element is read or written once; none where sizes are not
    /// known.
    pub fn bytes(&self) -> f64 {
        let places = self.places().into_iter();
        let buffers = places.filter_map(|place| Some((place, self.buffer(place)?)));
        let bytes = |(place, buffer): (Place, &Buffer)| {
            distinct(self, place, buffer) * buffer.element.byte_width() as f64
        };
        buffers.map(bytes).sum()
    }
}

fn counts(computation: &Computation, dims: &[usize]) -> f64 {
    let count = |d: &usize| computation.dimensions[*d].count().unwrap_or(0) as f64;
    dims.iter().map(count).product()
}

fn flops(computation: &Computation, share: f64) -> f64 {
    let dims: Vec<usize> = (0..computation.dimensions.len()).collect();
    let kept_dims = computation.kept();
    let (points, results) = (
        share * counts(computation, &dims),
        counts(computation, &kept_dims),
    );
    if points == 0.0 {
        return 0.0;
    }
    let mut combinations = (points - results).max(0.0);
    for d in &kept_dims {
        if computation.dimensions[*d].combine.is_ps() {
            combinations += results - results / counts(computation, &[*d]);
        }
    }
    combinations += results * computation.carries.len() as f64;
    let per_combination = computation.operator().map_or(0, |o| o.flops());
    points * computation.scalar.flops() as f64 + combinations * per_combination as f64
}

/// Distinct elements that a buffer's accesses touch: exact where each axis has dimensions of its
/// own and accesses do not overlap in part, else an upper bound.
fn distinct(computation: &Computation, place: Place, buffer: &Buffer) -> f64 {
    let mut visited = match place {
        Place::Input(_) => (0..computation.dimensions.len()).collect(),
        _ => computation.kept(),
    };
    if let Place::Incoming { carry, .. } | Place::Outgoing { carry, .. } = place {
        let dimension = computation.carries[carry].dimension;
        visited.retain(|d| *d != dimension);
    }
    let Some(grids) = computation.grids() else {
        return 0.0;
    };
    if visited.iter().any(|d| grids[*d].is_empty()) {
        return 0.0;
    }
    let domain: Vec<Option<Grid>> = grids.iter().copied().map(Some).collect();
    let mut sum = 0.0;
    // Of each axis the smallest and largest index of any access.
    let mut ends: Vec<Option<(i64, i64)>> = vec![None; buffer.shape.len()];
    for access in &buffer.accesses {
        let mut product = 1.0;
        let mut used: Vec<usize> = Vec::new();
        for (axis, expr) in access.map.iter().enumerate() {
            let dims: Vec<usize> = expr.dims().into_iter().collect();
            let mut values = counts(computation, &dims);
            if let Some(range) = expr.range(&domain) {
                let origin = buffer.origin[axis].unwrap_or(0);
                let size = buffer.shape[axis].unwrap_or(0);
                let low = range.min.saturating_sub(origin).max(0);
                let high = range.max.saturating_sub(origin).min(size - 1);
                values = values.min((high - low + 1).max(0) as f64);
                let (a, b) = ends[axis].unwrap_or((low, high));
                ends[axis] = Some((a.min(low), b.max(high)));
            }
            product *= values;
            used.extend(dims);
        }
        used.sort_unstable();
        used.dedup();
        sum += f64::min(product, counts(computation, &used));
    }
    let hull: f64 = (ends.iter().flatten())
        .map(|(low, high)| (high - low + 1).max(0) as f64)
        .product();
    if buffer.accesses.is_empty() {
        0.0
    } else {
        sum.min(hull)
    }
}
