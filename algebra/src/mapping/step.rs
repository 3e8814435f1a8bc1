//! The seven mappings: each takes a space to the right, and an index back to the left.

use super::conditions::Conditions;
use super::space::{GridAxis, Space, SpaceKind, known};
use crate::index::{Expr, Facts};

/// One mapping (GPU index mapping, sections 2.4 to 2.10). Dimensions count from 0, outermost
/// first, as in the thesis.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Lower bounds become 0.
    ShiftLb,
    /// The gaps of these dimensions vanish.
    CompressGrid(Vec<usize>),
    /// All gaps are filled by indices that are discarded.
    PruneGrid,
    /// The last dimension becomes two, the new last one of this size, which divides it.
    SplitLast(Expr),
    /// The last two dimensions become one.
    FoldLast2,
    /// Dimension `d` of the mapped space is dimension `P[d]` of the original.
    Permute(Vec<usize>),
    /// The last upper bound becomes a multiple of this; indices beyond the old one are discarded.
    PadLast(Expr),
}

/// The original index of an index of a mapped space.
#[derive(Clone, Debug, PartialEq)]
pub struct Back {
    /// The index of the original space.
    pub index: Vec<Expr>,
    /// Conditions under which it is operative, in the order in which they are known; it is
    /// discarded if one of them is 0.
    pub exits: Vec<Expr>,
}

impl Back {
    /// 1 if the index is operative, 0 if it is discarded; `None` if none is ever discarded.
    pub fn operative(&self) -> Option<Expr> {
        let exits = self.exits.iter().cloned();
        exits.reduce(|all, one| all.and(one))
    }
}

impl Step {
    /// The name by which it is written.
    pub fn name(&self) -> &'static str {
        match self {
            Step::ShiftLb => "shift_lb",
            Step::CompressGrid(_) => "compress_grid",
            Step::PruneGrid => "prune_grid",
            Step::SplitLast(_) => "split_last",
            Step::FoldLast2 => "fold_last2",
            Step::Permute(_) => "permute",
            Step::PadLast(_) => "pad_last",
        }
    }

    /// The mapped space; which of its conditions is refuted if there is none.
    pub(super) fn space(&self, from: &Space, all: &mut Conditions) -> Result<Space, String> {
        self.check(from, all)?;
        let facts = all.facts;
        let mut axes = from.axes.clone();
        match self {
            Step::ShiftLb => axes.iter_mut().for_each(|a| {
                a.upper = a.span(facts);
                a.lower = Expr::constant(0);
            }),
            Step::CompressGrid(dims) => dims
                .iter()
                .for_each(|d| axes[*d] = GridAxis::dense(axes[*d].count(facts))),
            Step::PruneGrid => axes
                .iter_mut()
                .for_each(|a| *a = GridAxis::dense(a.span(facts))),
            // Spans, not upper bounds: two negative ones have a positive product.
            Step::SplitLast(l) => {
                let major = axes.pop().map(|a| known(facts, a.span(facts) / l));
                axes.extend(major.map(GridAxis::dense));
                axes.push(GridAxis::dense(l));
            }
            Step::FoldLast2 => {
                let last_two = axes.split_off(from.rank() - 2);
                let sizes: Vec<Expr> = last_two.iter().map(|a| a.span(facts)).collect();
                axes.push(GridAxis::dense(known(facts, Expr::product(&sizes))));
            }
            Step::Permute(order) => {
                axes = order.iter().map(|d| from.axes[*d].clone()).collect();
            }
            Step::PadLast(p) => {
                for last in axes.iter_mut().rev().take(1) {
                    last.upper = padded(facts, &last.upper, p);
                }
            }
        }
        Ok(Space { axes })
    }

    fn check(&self, from: &Space, all: &mut Conditions) -> Result<(), String> {
        let rank = from.rank();
        let (least, kind) = match self {
            Step::ShiftLb | Step::Permute(_) => (0, SpaceKind::Grid),
            Step::PadLast(_) => (1, SpaceKind::Grid),
            Step::CompressGrid(_) | Step::PruneGrid => (0, SpaceKind::Normalised),
            Step::SplitLast(_) => (1, SpaceKind::Dense),
            Step::FoldLast2 => (2, SpaceKind::Dense),
        };
        if rank < least {
            return Err(format!(
                "found a space of {rank} dimensions, expected {least} or more"
            ));
        }
        check_kind(from, kind, all)?;
        match self {
            Step::CompressGrid(dims) => check_dimensions(dims, rank),
            Step::Permute(order) => check_permutation(order, rank),
            Step::PadLast(size) | Step::SplitLast(size) => {
                if !all.hold(Expr::constant(1).le(size)) {
                    return Err(format!("found the size {size}, expected 1 or more"));
                }
                let Step::SplitLast(l) = self else {
                    return Ok(());
                };
                let last = from.axes[rank - 1].span(all.facts);
                match all.hold((&last % l).equals(0)) {
                    true => Ok(()),
                    false => Err(format!(
                        "found the last size {last}, expected a multiple of {l} (pad_last({l}) \
                         makes it one)"
                    )),
                }
            }
            Step::ShiftLb | Step::PruneGrid | Step::FoldLast2 => Ok(()),
        }
    }

    /// The index of `from` that an index of `to`, the space mapped by this, stands for.
    pub(super) fn back(&self, [from, to]: [&Space; 2], facts: &Facts, index: &[Expr]) -> Back {
        let mut exits = Vec::new();
        let mut back = index.to_vec();
        match self {
            Step::ShiftLb => {
                for (i, a) in back.iter_mut().zip(&from.axes) {
                    *i = &*i + &a.lower;
                }
            }
            Step::CompressGrid(dims) => {
                let sparse = |d: &&usize| !from.axes[**d].is_full(facts);
                for d in dims.iter().filter(sparse) {
                    let (i, t, w) = (&index[*d], &from.axes[*d].step, &from.axes[*d].width);
                    back[*d] = i / w * t + i % w;
                }
            }
            Step::PruneGrid => {
                let sparse = from.axes.iter().zip(index);
                let sparse = sparse.filter(|(a, _)| !a.is_full(facts));
                exits.extend(sparse.map(|(a, i)| (i % &a.step).lt(&a.width)));
            }
            Step::SplitLast(l) => {
                let minor = back.pop();
                let major = back.pop();
                back.extend(major.zip(minor).map(|(major, minor)| major * l + minor));
            }
            Step::FoldLast2 => {
                let minor = &from.axes[from.rank() - 1].upper;
                let folded = back.pop();
                back.extend(folded.into_iter().flat_map(|i| [&i / minor, &i % minor]));
            }
            Step::Permute(order) => {
                for (i, d) in index.iter().zip(order) {
                    back[*d] = i.clone();
                }
            }
            Step::PadLast(_) => {
                let last = from.rank() - 1;
                let (old, new) = (&from.axes[last].upper, &to.axes[last].upper);
                if old != new {
                    exits.push(index[last].lt(old));
                }
            }
        }
        Back { index: back, exits }
    }
}

/// `ceil(u / p) * p`.
fn padded(facts: &Facts, u: &Expr, p: &Expr) -> Expr {
    if known(facts, (u % p).equals(0)).as_constant() == Some(1) {
        return u.clone();
    }
    known(facts, (u + &(p - 1)) / p * p)
}

fn check_kind(space: &Space, kind: SpaceKind, all: &mut Conditions) -> Result<(), String> {
    for (d, axis) in space.axes.iter().enumerate() {
        let lower = &axis.lower;
        if kind >= SpaceKind::Normalised && !all.hold(lower.equals(0)) {
            return Err(format!(
                "found the lower bound {lower} in dimension {d}, expected 0 (shift_lb makes it 0)"
            ));
        }
        let (step, width) = (&axis.step, &axis.width);
        if kind >= SpaceKind::Dense && !all.hold(step.equals(width)) {
            return Err(format!(
                "found step {step} and width {width} in dimension {d}, expected a dense space \
                 (compress_grid or prune_grid makes it one)"
            ));
        }
    }
    Ok(())
}

fn check_dimensions(dims: &[usize], rank: usize) -> Result<(), String> {
    for (n, d) in dims.iter().enumerate() {
        if *d >= rank {
            return Err(format!(
                "found dimension {d} of a space of {rank} dimensions, expected less than {rank}"
            ));
        }
        if dims[..n].contains(d) {
            return Err(format!("found dimension {d} twice, expected it once"));
        }
    }
    Ok(())
}

fn check_permutation(order: &[usize], rank: usize) -> Result<(), String> {
    if order.len() != rank {
        return Err(format!(
            "found a permutation of {} dimensions, expected {rank}",
            order.len()
        ));
    }
    match (0..rank).find(|d| !order.contains(d)) {
        Some(d) => Err(format!(
            "the permutation lacks {d}, expected each of 0 to {} once",
            rank - 1
        )),
        None => Ok(()),
    }
}
