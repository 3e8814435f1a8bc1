//! Pairs of points that one access writes to one element.
//!
//! Two points are, if the index function is 0 on their difference. That is a system for each
//! variable: one of the two points is behind the other one there. If it has no solution, the
//! variable is 0 in those that are left.

use super::{Clash, Space, rows};
use crate::affine::Expr;
use crate::integer::{Answer, Form, System};

/// Outcome of a search.
pub(super) enum Search {
    /// No two points differ by a vector that is mapped to 0.
    Injective,
    /// Two do.
    Clash(Clash),
    /// Something is not linear or not known, or there are too many vectors.
    Unknown,
}

/// Looks for two points from which one access writes the same element.
pub(super) fn search(access: usize, map: &[Expr], space: &Space) -> Search {
    let mut rows: Vec<Form> = rows(map, space).into_iter().flatten().collect();
    // What moves an index most first: that it is 0 helps with the others, as digits of a number do.
    let weight = |v: usize| rows.iter().map(|row| row.of(v).unsigned_abs()).max();
    let mut open: Vec<usize> = (0..space.variables.len()).collect();
    open.sort_by_key(|v| std::cmp::Reverse(weight(*v)));
    while !open.is_empty() {
        let mut left = Vec::new();
        for variable in &open {
            let system = space.differences(&rows, *variable);
            match system.map_or(Answer::Unknown, |system| system.solve()) {
                Answer::None => rows.push(Form::variable(*variable)),
                Answer::Unknown => left.push(*variable),
                Answer::Solution(found) => match space.clash(access, map, &found) {
                    Some(clash) => return Search::Clash(clash),
                    None => left.push(*variable),
                },
            }
        }
        if left.len() == open.len() {
            return Search::Unknown;
        }
        open = left;
    }
    Search::Injective
}

impl Space {
    /// The differences of two points on which all rows are 0, of which one is behind in a variable;
    /// `None` if numbers are too large.
    fn differences(&self, rows: &[Form], behind: usize) -> Option<System> {
        let mut system = System::default();
        let mut forms = Vec::new();
        for variable in &self.variables {
            let form = system.variable();
            if let Some(span) = variable.span {
                system.between(-span, &form, span)?;
            }
            forms.push(form);
        }
        // In a period that is cut off not all points of the box are there.
        for (d, grid) in self.grids.iter().enumerate() {
            let of = self.variables.iter().zip(&forms);
            let own: Vec<_> = of.filter(|(v, _)| v.dimension == d).collect();
            if let (Some(grid), [_, _]) = (grid, &own[..]) {
                let mut own = own.iter();
                let distance =
                    own.try_fold(Form::default(), |sum, (v, form)| sum.plus(v.factor, form))?;
                let span = i128::from(grid.last()?) - i128::from(grid.lower);
                system.between(-span, &distance, span)?;
            }
        }
        rows.iter().for_each(|row| system.zero(row.clone()));
        system.not_negative(forms[behind].plus(-1, &Form::constant(1))?);
        Some(system)
    }

    /// The smallest two points with a difference, if they are there and written to one element.
    fn clash(&self, access: usize, map: &[Expr], differences: &[i128]) -> Option<Clash> {
        let end = |sign: i128| {
            let values: Vec<i128> = differences.iter().map(|d| (sign * d).max(0)).collect();
            self.point(&values)
        };
        let (one, other) = (end(-1)?, end(1)?);
        let (first, second) = (one.clone().min(other.clone()), one.max(other));
        let element =
            |point: &[i64]| -> Option<Vec<i64>> { map.iter().map(|e| e.eval(point)).collect() };
        let index = element(&first)?;
        (element(&second)? == index).then_some(Clash {
            index,
            first: (access, first),
            second: (access, second),
        })
    }

    /// The point with these values of the variables, if it is one of the domain.
    fn point(&self, values: &[i128]) -> Option<Vec<i64>> {
        let lower = self.lower.iter().map(|l| l.map(i128::from));
        let mut point: Vec<i128> = lower.collect::<Option<_>>()?;
        for (variable, value) in self.variables.iter().zip(values) {
            point[variable.dimension] += variable.factor * value;
        }
        let point = point.into_iter().map(|i| i64::try_from(i).ok());
        let point: Vec<i64> = point.collect::<Option<_>>()?;
        let mut pairs = self.grids.iter().zip(&point);
        let is_there = pairs.all(|(grid, i)| grid.is_some_and(|grid| grid.number(*i).is_some()));
        is_there.then_some(point)
    }
}
