//! Injectivity: no element of a buffer is written twice.
//!
//! Proved by systems over the integers ([`crate::integer`]). A point of a grid is
//! `lower + step * q + r`, so each index is linear in a box of variables `q`, `r`: that of the
//! difference of two points is 0 if both are written to one element, and a solution with some
//! variable other than 0 is a pair of such points. Two accesses are apart if they do not overlap
//! ([`crate::reuse::alias`]). Small domains are decided by enumeration.

mod differences;

use std::collections::HashMap;

use self::differences::Search;
use super::{Obligation, Report, Rule, Subject, buffer_text};
use crate::affine::Expr;
use crate::computation::{Computation, Dimension, Place};
use crate::domain::{Grid, points, total_points};
use crate::integer::Form;
use crate::reuse::alias::{self, Amount, Role, Sharing};

/// Domains of up to so many points (times accesses) are enumerated.
const ENUMERATED: i64 = 1 << 16;

/// Answer about injectivity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No element is written twice.
    Proved,
    /// One is.
    Refuted(Clash),
    /// Neither could be shown.
    Unknown,
}

/// Two writes of one element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clash {
    /// The element.
    pub index: Vec<i64>,
    /// Access and point of the one.
    pub first: (usize, Vec<i64>),
    /// Access and point of the other.
    pub second: (usize, Vec<i64>),
}

pub(super) fn outputs(computation: &Computation, report: &mut Report) {
    for place in computation.places() {
        let mut varying = computation.kept();
        match place {
            Place::Output(_) => {}
            Place::Outgoing { carry, .. } => {
                let own = computation.carries[carry].dimension;
                varying.retain(|d| *d != own);
            }
            _ => continue,
        }
        let Some(buffer) = computation.buffer(place) else {
            continue;
        };
        let maps: Vec<&[Expr]> = buffer.accesses.iter().map(|a| a.map.as_slice()).collect();
        match injective(&maps, &computation.dimensions, &varying) {
            Verdict::Proved => {}
            Verdict::Unknown => report.owe(Obligation::Injective { place }),
            Verdict::Refuted(clash) => {
                let message = clash_text(computation, place, &varying, &clash);
                report.find(Rule::Injective, Subject::Buffer(place), message);
            }
        }
    }
}

fn clash_text(computation: &Computation, place: Place, varying: &[usize], clash: &Clash) -> String {
    let point = |point: &[i64]| {
        let parts = varying.iter().map(|d| {
            let name = &computation.dimensions[*d].name;
            format!("{name} = {}", point[*d])
        });
        format!("({})", parts.collect::<Vec<_>>().join(", "))
    };
    let index: Vec<_> = clash.index.iter().map(i64::to_string).collect();
    let by = if clash.first.0 == clash.second.0 {
        String::new()
    } else {
        format!(" (by accesses {} and {})", clash.first.0, clash.second.0)
    };
    format!(
        "writes {} at [{}] twice, from the points {} and {}{by}: expected each element to be \
         written by one point; use every kept dimension in the index function, or combine the \
         others by 'pw'",
        buffer_text(computation, place),
        index.join(", "),
        point(&clash.first.1),
        point(&clash.second.1),
    )
}

/// Returns whether no element is written twice by these accesses of one buffer, when the dimensions
/// `varying` run through their points (the others do not occur in the maps).
pub fn injective(maps: &[&[Expr]], dimensions: &[Dimension], varying: &[usize]) -> Verdict {
    if maps.is_empty() || varying.iter().any(|d| dimensions[*d].count() == Some(0)) {
        return Verdict::Proved;
    }
    let space = Space::new(dimensions, varying);
    let apart = |a: usize| (0..a).all(|b| disjoint([maps[a], maps[b]], dimensions, varying));
    let are_apart = (0..maps.len()).all(apart);
    let each = maps.iter().enumerate();
    let found = each.map(|(access, map)| differences::search(access, map, &space));
    let found: Vec<Search> = found.collect();
    let mut each = found.iter();
    if are_apart && each.all(|found| matches!(found, Search::Injective)) {
        return Verdict::Proved;
    }
    let clash = found.into_iter().find_map(|found| match found {
        Search::Clash(clash) => Some(clash),
        _ => None,
    });
    match enumerate(maps, &space) {
        Verdict::Unknown => clash.map_or(Verdict::Unknown, Verdict::Refuted),
        verdict => verdict,
    }
}

/// One variable of the domain: `factor * v` for `0 <= v <= span` is added to dimension `d`.
struct Variable {
    dimension: usize,
    factor: i128,
    span: Option<i128>,
}

struct Space {
    rank: usize,
    /// The grid of each dimension: of one point for those that do not vary.
    grids: Vec<Option<Grid>>,
    lower: Vec<Option<i64>>,
    variables: Vec<Variable>,
}

impl Space {
    fn new(dimensions: &[Dimension], varying: &[usize]) -> Space {
        let mut space = Space {
            rank: dimensions.len(),
            grids: vec![Some(Grid::dense(1)); dimensions.len()],
            lower: vec![Some(0); dimensions.len()],
            variables: Vec::new(),
        };
        for &d in varying {
            let dimension = &dimensions[d];
            space.grids[d] = dimension.grid();
            space.lower[d] = dimension.lower;
            space.add(d, dimension);
        }
        space
    }

    fn add(&mut self, dimension: usize, of: &Dimension) {
        let mut add = |factor: i64, span: Option<i64>| {
            if span != Some(0) {
                self.variables.push(Variable {
                    dimension,
                    factor: i128::from(factor),
                    span: span.map(i128::from),
                });
            }
        };
        match (of.grid(), of.step, of.width) {
            (Some(grid), _, _) if grid.step == grid.width => add(1, Some(grid.count() - 1)),
            (Some(grid), _, _) => {
                let last = grid.last().unwrap_or(grid.lower);
                let span = i128::from(last) - i128::from(grid.lower);
                let periods = i64::try_from(span / i128::from(grid.step)).ok();
                add(grid.step, periods);
                let rest = i64::try_from(span).map_or(grid.width - 1, |s| s.min(grid.width - 1));
                add(1, Some(rest));
            }
            (None, Some(step), Some(1)) if step >= 1 => add(step, None),
            _ => add(1, None),
        }
    }
}

/// Returns the coefficients of indices in the variables: of each axis, `None` for an index that is
/// not linear, and of what follows from two axes together.
fn rows(map: &[Expr], space: &Space) -> Vec<Option<Form>> {
    let mut rows: Vec<Option<Form>> = map.iter().map(|e| row(e, space)).collect();
    for a in map {
        for b in map {
            // From `e floordiv c` and `e mod c` follows `e`.
            if let (Expr::FloorDiv(e, c), Expr::Mod(f, d)) = (a, b)
                && e == f
                && c == d
            {
                rows.push(row(e, space));
            }
        }
    }
    rows
}

fn row(e: &Expr, space: &Space) -> Option<Form> {
    let linear = e.linear(space.rank)?;
    let variables = space.variables.iter();
    let coefficients = variables.map(|v| i128::from(linear.coefficients[v.dimension]) * v.factor);
    Some(Form::linear(coefficients.collect()))
}

/// Returns whether two accesses never write the same element.
fn disjoint(maps: [&[Expr]; 2], dimensions: &[Dimension], varying: &[usize]) -> bool {
    let mut domain = alias::axes(dimensions);
    for (d, axis) in domain.iter_mut().enumerate() {
        axis.role = match varying.contains(&d) {
            true => Role::Cc,
            false => Role::Absent,
        };
    }
    let axes = maps[0].len().min(maps[1].len());
    let origin = vec![Amount::Known(0); axes];
    let accesses = maps.map(|map| [map[..axes].to_vec()]);
    let [a, b] = [0, 1].map(|n: usize| alias::View {
        accesses: &accesses[n],
        origin: &origin,
    });
    alias::overlap(&domain, &a, &b) == Sharing::Disjoint
}

/// Looks for a clash in the whole domain if it is small, else in a corner of it. A dimension of
/// unknown size counts as one point there, which is right for linear maps only.
fn enumerate(maps: &[&[Expr]], space: &Space) -> Verdict {
    let linear = |e: &Expr| e.linear(space.rank).is_some();
    let known = space.grids.iter().all(Option::is_some);
    if !known && !maps.iter().all(|m| m.iter().all(linear)) {
        return Verdict::Unknown;
    }
    let mut grids: Vec<Grid> = (space.grids.iter())
        .map(|g| g.unwrap_or(Grid::dense(1)))
        .collect();
    let budget = (ENUMERATED / maps.len().max(1) as i64).max(1);
    let total = total_points(&grids);
    let whole = known && total.is_some_and(|n| n <= budget);
    if !whole {
        shrink(&mut grids, budget);
    }
    let mut seen: HashMap<Vec<i64>, (usize, Vec<i64>)> = HashMap::new();
    for point in points(&grids) {
        for (access, map) in maps.iter().enumerate() {
            let Some(index) = map
                .iter()
                .map(|e| e.eval(&point))
                .collect::<Option<Vec<_>>>()
            else {
                return Verdict::Unknown;
            };
            if let Some(first) = seen.get(&index) {
                return Verdict::Refuted(Clash {
                    first: first.clone(),
                    second: (access, point),
                    index,
                });
            }
            seen.insert(index, (access, point.clone()));
        }
    }
    if whole {
        Verdict::Proved
    } else {
        Verdict::Unknown
    }
}

/// Cuts the longest dimensions until the box has at most `budget` points.
fn shrink(grids: &mut [Grid], budget: i64) {
    while total_points(grids).is_none_or(|n| n > budget) {
        let Some(longest) = grids.iter_mut().max_by_key(|g| g.count()) else {
            return;
        };
        let half = (longest.count() / 2).max(1);
        longest.upper = longest.point(half - 1) + 1;
    }
}

#[cfg(test)]
#[path = "injectivity_tests.rs"]
mod tests;
