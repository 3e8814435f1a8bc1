//! Index spaces: grids, and what is normalised or dense of them.

use super::conditions::Conditions;
use crate::domain::Grid;
use crate::index::{Expr, Facts, normal};

/// One dimension `(l, u, t, w)`: all `i` with `l <= i < u` and `(i - l) mod t < w`.
#[derive(Clone, Debug, PartialEq)]
pub struct GridAxis {
    /// The first index.
    pub lower: Expr,
    /// One past the last candidate; nothing is in the dimension if it is not above `lower`.
    pub upper: Expr,
    /// The period, 1 or more.
    pub step: Expr,
    /// Number of indices at the start of each period that count: 1 to `step`.
    pub width: Expr,
}

/// A grid: one [`GridAxis`] for each dimension, outermost first. Without dimensions it has one point.
#[derive(Clone, Debug, PartialEq)]
pub struct Space {
    /// The dimensions.
    pub axes: Vec<GridAxis>,
}

/// Shape that a space is known to have; the later, the more general.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SpaceKind {
    /// No more than a grid.
    Grid,
    /// `L = 0`.
    Normalised,
    /// `L = 0` and `T = W`.
    Dense,
}

impl GridAxis {
    /// `0 <= i < upper`.
    pub fn dense(upper: impl Into<Expr>) -> GridAxis {
        GridAxis {
            lower: Expr::constant(0),
            upper: upper.into(),
            step: Expr::constant(1),
            width: Expr::constant(1),
        }
    }

    /// Returns whether every index from `lower` to `upper` counts.
    pub fn is_full(&self, facts: &Facts) -> bool {
        same(facts, &self.step, &self.width)
    }

    /// Returns the length of its range: `max(u - l, 0)`.
    pub fn span(&self, facts: &Facts) -> Expr {
        known(facts, (&self.upper - &self.lower).max(0))
    }

    /// Returns the number of its points: `(s / t) * w + min(s mod t, w)` of its span `s`.
    pub fn count(&self, facts: &Facts) -> Expr {
        let span = self.span(facts);
        if self.is_full(facts) {
            return span;
        }
        let (t, w) = (&self.step, &self.width);
        known(facts, &span / t * w + (&span % t).min(w))
    }

    /// The conditions under which an index is in it; what always holds is left out.
    fn contains(&self, facts: &Facts, i: &Expr) -> Vec<Expr> {
        let mut conditions = vec![self.lower.le(i), i.lt(&self.upper)];
        if !self.is_full(facts) {
            conditions.push(((i - &self.lower) % &self.step).lt(&self.width));
        }
        conditions
    }

    fn number(&self) -> Option<Grid> {
        let [l, u, t, w] = [&self.lower, &self.upper, &self.step, &self.width];
        Grid::new(
            l.as_constant()?,
            u.as_constant()?,
            t.as_constant()?,
            w.as_constant()?,
        )
    }
}

impl Space {
    /// A space of these sizes, from 0 on and without gaps.
    pub fn dense<T: Into<Expr> + Clone>(sizes: &[T]) -> Space {
        let axes = sizes.iter().cloned().map(GridAxis::dense);
        Space {
            axes: axes.collect(),
        }
    }

    /// A space of numbers.
    pub fn of_grids(grids: &[Grid]) -> Space {
        let axis = |grid: &Grid| GridAxis {
            lower: grid.lower.into(),
            upper: grid.upper.into(),
            step: grid.step.into(),
            width: grid.width.into(),
        };
        Space {
            axes: grids.iter().map(axis).collect(),
        }
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.axes.len()
    }

    /// Returns the shape that it is known to have.
    pub fn kind(&self, facts: &Facts) -> SpaceKind {
        let zero = Expr::constant(0);
        match &self.axes {
            axes if !axes.iter().all(|a| same(facts, &a.lower, &zero)) => SpaceKind::Grid,
            axes if !axes.iter().all(|a| a.is_full(facts)) => SpaceKind::Normalised,
            _ => SpaceKind::Dense,
        }
    }

    /// Returns the number of its points.
    pub fn count(&self, facts: &Facts) -> Expr {
        let counts: Vec<Expr> = self.axes.iter().map(|a| a.count(facts)).collect();
        known(facts, Expr::product(&counts))
    }

    /// 1 for an index that is in it, else 0.
    pub fn contains(&self, facts: &Facts, index: &[Expr]) -> Expr {
        let axes = self.axes.iter().zip(index);
        let conditions = axes.flat_map(|(axis, i)| axis.contains(facts, i));
        conditions
            .reduce(|both, next| both.and(next))
            .unwrap_or(Expr::constant(1))
    }

    /// Its dimensions in numbers, unless there are symbols.
    pub fn numbers(&self) -> Option<Vec<Grid>> {
        self.axes.iter().map(GridAxis::number).collect()
    }

    /// The upper bounds: the sizes, if it is dense.
    pub fn sizes(&self) -> Vec<Expr> {
        self.axes.iter().map(|a| a.upper.clone()).collect()
    }

    /// The same with values for symbols.
    pub fn bound(&self, value: &dyn Fn(&str) -> Option<Expr>) -> Space {
        let axis = |a: &GridAxis| GridAxis {
            lower: a.lower.substitute(value),
            upper: a.upper.substitute(value),
            step: a.step.substitute(value),
            width: a.width.substitute(value),
        };
        Space {
            axes: self.axes.iter().map(axis).collect(),
        }
    }

    /// Returns whether every dimension has `1 <= W <= T`.
    pub(super) fn check(&self, conditions: &mut Conditions) -> Result<(), String> {
        let unit = Expr::constant(1);
        for (d, axis) in self.axes.iter().enumerate() {
            let (step, width) = (&axis.step, &axis.width);
            if !conditions.hold(unit.le(step)) {
                return Err(format!(
                    "found the step {step} in dimension {d}, expected 1 or more"
                ));
            }
            if !conditions.hold(unit.le(width)) {
                return Err(format!(
                    "found the width {width} in dimension {d}, expected 1 or more"
                ));
            }
            if !conditions.hold(width.le(step)) {
                return Err(format!(
                    "found the width {width} in dimension {d}, expected at most its step {step}"
                ));
            }
        }
        Ok(())
    }
}

/// Returns whether both are proved to be equal.
fn same(facts: &Facts, a: &Expr, b: &Expr) -> bool {
    match (a.as_constant(), b.as_constant()) {
        (Some(a), Some(b)) => a == b,
        _ => normal::equal(facts, a, b),
    }
}

/// In fewer operations, by what is known of symbols.
pub(super) fn known(facts: &Facts, e: Expr) -> Expr {
    match e.as_constant() {
        Some(_) => e,
        None => normal::normal(facts, &e),
    }
}
