//! Profit of computing a chain of computations tile by tile of the last one.
//!
//! What one computation leaves for the next is not written to memory and read back, and what
//! several of them read is read once, as long as all that a tile needs stays in a cache. Points
//! that several tiles need are computed in each of them.

use std::collections::BTreeMap;

use super::views::LARGE;
use mdh_algebra::affine::Linear;
use mdh_algebra::computation::{Buffer, Computation, Dimension};

/// A computation of a chain.
pub struct Member<'a> {
    /// As a whole.
    pub whole: &'a Computation,
    /// The part of it that a tile of the last one computes.
    pub tile: &'a Computation,
    /// The memory of each of its inputs, then of its outputs, as numbers.
    pub memory: &'a [usize],
}

/// Effects of fusing a chain.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// Bytes that a tile needs.
    pub tile: i64,
    /// Bytes that need not be read and written any more.
    pub saved: i64,
    /// Number of times that each point is computed, of the member where that is the most.
    pub repeated: f64,
    /// Points of all computations in a tile.
    pub points: i64,
}

/// Estimates the effects of fusing a chain, its last member first, where `temporary` memory is for
/// a tile only.
pub fn estimate(members: &[Member], temporary: impl Fn(usize) -> bool) -> Estimate {
    let mut tile: BTreeMap<usize, i64> = BTreeMap::new();
    let mut apart: BTreeMap<usize, (i64, i64)> = BTreeMap::new();
    for member in members {
        let buffers = |computation: &Computation| -> Vec<i64> {
            let accessed = computation.inputs.iter().chain(&computation.outputs);
            accessed.map(|buffer| bytes(computation, buffer)).collect()
        };
        let (parts, wholes) = (buffers(member.tile), buffers(member.whole));
        for ((memory, part), whole) in member.memory.iter().zip(parts).zip(wholes) {
            let most = tile.entry(*memory).or_default();
            *most = part.max(*most);
            let (sum, once) = apart.entry(*memory).or_default();
            *sum = sum.saturating_add(whole);
            *once = whole.max(*once);
        }
    }
    let saved = apart
        .iter()
        .map(|(memory, (sum, once))| match temporary(*memory) {
            true => *sum,
            false => sum - once,
        });
    let tiles = members.first().map_or(1.0, |last| {
        let pairs = last.whole.dimensions.iter().zip(&last.tile.dimensions);
        let count = |(whole, part): (&Dimension, &Dimension)| {
            (size(whole) as f64 / size(part).max(1) as f64).ceil()
        };
        pairs.map(count).product::<f64>()
    });
    let repeated = members
        .iter()
        .map(|m| tiles * points(m.tile) / points(m.whole).max(1.0));
    Estimate {
        tile: tile.values().fold(0, |sum, n| sum.saturating_add(*n)),
        saved: saved.fold(0, i64::saturating_add),
        repeated: repeated.fold(1.0, f64::max),
        points: members.iter().map(|m| points(m.tile)).sum::<f64>() as i64,
    }
}

/// Returns the number of a computation's points, assumed where it is not known.
pub fn points(of: &Computation) -> f64 {
    of.dimensions.iter().map(|d| size(d) as f64).product()
}

/// Bytes of all buffers that a computation accesses.
pub fn moved(computation: &Computation) -> i64 {
    let buffers = computation.inputs.iter().chain(&computation.outputs);
    buffers.fold(0, |sum, buffer| {
        sum.saturating_add(bytes(computation, buffer))
    })
}

fn size(dimension: &Dimension) -> i64 {
    dimension.count().unwrap_or(LARGE)
}

/// Bytes of a buffer that a computation accesses.
fn bytes(of: &Computation, buffer: &Buffer) -> i64 {
    let rank = of.dimensions.len();
    let axis = |n: usize| {
        let extent = buffer.shape[n].unwrap_or(i64::MAX);
        let forms = buffer
            .accesses
            .iter()
            .map(|access| access.map[n].linear(rank));
        let forms: Option<Vec<Linear>> = forms.collect();
        let reach = |form: &Linear| {
            let moved = form
                .coefficients
                .iter()
                .zip(&of.dimensions)
                .filter(|(c, _)| **c != 0);
            moved.fold(0i64, |sum, (c, d)| {
                let steps = (size(d) - 1).max(0).saturating_mul(d.step.unwrap_or(1));
                sum.saturating_add(c.abs().saturating_mul(steps))
            })
        };
        let reached = forms.filter(|forms| !forms.is_empty()).map(|forms| {
            let constants = || forms.iter().map(|form| form.constant);
            let between = constants().max().unwrap_or(0) - constants().min().unwrap_or(0);
            let most = forms.iter().map(reach).max().unwrap_or(0);
            most.saturating_add(between).saturating_add(1)
        });
        reached.unwrap_or(LARGE).min(extent)
    };
    let elements = (0..buffer.shape.len())
        .map(axis)
        .fold(1, i64::saturating_mul);
    elements.saturating_mul(buffer.element.byte_width().max(1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mdh_algebra::affine::Expr;
    use mdh_algebra::computation::{Buffer, Combine, Dimension};
    use mdh_algebra::scalar::ScalarType::F32;

    /// `y[i, j]` of `x[i, j]` and `t[i]`, or `t[i]` of `x[i, j]`.
    fn rows(i: i64, is_sum: Combine) -> Computation {
        let (d0, d1) = (Expr::dim(0), Expr::dim(1));
        let x =
            Buffer::new("x", F32, &[Some(4096), Some(1024)]).access(0, &[d0.clone(), d1.clone()]);
        let t = Buffer::new("t", F32, &[Some(4096)]);
        let y = Buffer::new("y", F32, &[Some(4096), Some(1024)]).access(0, &[d0.clone(), d1]);
        let (inputs, outputs) = match is_sum {
            Combine::Cc => (vec![x, t.access(1, &[d0])], vec![y]),
            _ => (vec![x], vec![t.access(0, &[d0])]),
        };
        Computation {
            dimensions: vec![
                Dimension::dense("i", Some(i), Combine::Cc),
                Dimension::dense("j", Some(1024), is_sum),
            ],
            inputs,
            outputs,
            ..mdh_algebra::examples::matvec(F32, 1, 1)
        }
    }

    #[test]
    fn rows_are_read_once() {
        let (y, t) = (rows(4096, Combine::Cc), rows(4096, Combine::Pw(0)));
        let (part_y, part_t) = (rows(8, Combine::Cc), rows(8, Combine::Pw(0)));
        let members = [
            Member {
                whole: &y,
                tile: &part_y,
                memory: &[0, 1, 2],
            },
            Member {
                whole: &t,
                tile: &part_t,
                memory: &[0, 1],
            },
        ];
        let gain = estimate(&members, |memory| memory == 1);
        assert_eq!(gain.tile, 2 * 8 * 1024 * 4 + 8 * 4);
        assert_eq!(gain.saved, 4096 * 1024 * 4 + 2 * 4096 * 4);
        assert_eq!((gain.repeated, gain.points), (1.0, 2 * 8 * 1024));
    }

    #[test]
    fn halos_are_recomputed() {
        let (y, t) = (rows(4096, Combine::Cc), rows(4096, Combine::Cc));
        let (part_y, part_t) = (rows(8, Combine::Cc), rows(10, Combine::Cc));
        let members = [
            Member {
                whole: &y,
                tile: &part_y,
                memory: &[0, 1, 2],
            },
            Member {
                whole: &t,
                tile: &part_t,
                memory: &[3, 4, 0],
            },
        ];
        assert_eq!(estimate(&members, |_| false).repeated, 1.25);
    }
}
