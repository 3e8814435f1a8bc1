//! Injectivity: no element of a buffer is written twice.
//!
//! Proved by linear algebra. A point of a grid is `lower + step * q + r`, so each index is
//! linear in a box of variables `q`, `r`. Where the coefficients of an axis form a mixed radix
//! (each larger than what all smaller ones add up to), the axis determines its variables; what
//! remains is determined if the remaining matrix has full column rank. Refuted by two points.
//! Small domains are decided by enumeration, larger ones by that of the differences of points
//! that may be written to one element.

mod differences;

use std::collections::HashMap;

use self::differences::Search;
use super::{Obligation, Report, Rule, Subject, buffer_text};
use crate::affine::Expr;
use crate::computation::{Computation, Dimension, Place};
use crate::domain::{Grid, points, total_points};

/// Domains of up to so many points (times accesses) are enumerated.
const ENUMERATED: i64 = 1 << 16;

/// Describes what is known about injectivity.
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
    let views: Vec<View> = maps.iter().map(|map| View::new(map, &space)).collect();
    let apart = |a: usize| (0..a).all(|b| disjoint(maps[a], maps[b], &views[a], &views[b], &space));
    let are_apart = (0..views.len()).all(apart);
    if are_apart && views.iter().all(|v| v.is_injective(&space)) {
        return Verdict::Proved;
    }
    match enumerate(maps, &space) {
        Verdict::Unknown => compare_points(maps, &views, &space, are_apart),
        verdict => verdict,
    }
}

/// Returns what the differences of points say of each access.
fn compare_points(maps: &[&[Expr]], views: &[View], space: &Space, are_apart: bool) -> Verdict {
    let mut is_known = are_apart;
    for (access, (map, view)) in maps.iter().zip(views).enumerate() {
        if view.is_injective(space) {
            continue;
        }
        match differences::search(access, map, view, space) {
            Search::Injective => {}
            Search::Clash(clash) => return Verdict::Refuted(clash),
            Search::Unknown => is_known = false,
        }
    }
    match is_known {
        true => Verdict::Proved,
        false => Verdict::Unknown,
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

/// A linear index: its coefficient of each variable, and its constant if that is known.
struct Row {
    coefficients: Vec<i128>,
    constant: Option<i128>,
}

/// The linear part of an access; `axes` has no row for what is not linear.
struct View {
    axes: Vec<Option<Row>>,
    /// Rows that follow from two axes together.
    derived: Vec<Row>,
}

impl View {
    fn new(map: &[Expr], space: &Space) -> View {
        let mut derived = Vec::new();
        for a in map {
            for b in map {
                // From `e floordiv c` and `e mod c` follows `e`.
                if let (Expr::FloorDiv(e, c), Expr::Mod(f, d)) = (a, b)
                    && e == f
                    && c == d
                {
                    derived.extend(row(e, space));
                }
            }
        }
        let axes = map.iter().map(|e| row(e, space)).collect();
        View { axes, derived }
    }

    fn rows(&self) -> impl Iterator<Item = &Row> {
        self.axes.iter().flatten().chain(&self.derived)
    }

    fn is_injective(&self, space: &Space) -> bool {
        let mut open: Vec<usize> = (0..space.variables.len()).collect();
        loop {
            let before = open.len();
            for row in self.rows() {
                if determines(row, &open, space) {
                    open.retain(|v| row.coefficients[*v] == 0);
                }
            }
            if open.is_empty() {
                return true;
            }
            if open.len() == before {
                return self.has_full_rank(&open);
            }
        }
    }

    /// Gaussian elimination without fractions, on the columns that are not determined yet.
    fn has_full_rank(&self, open: &[usize]) -> bool {
        let select = |row: &Row| open.iter().map(|v| row.coefficients[*v]).collect();
        let mut rows: Vec<Vec<i128>> = self.rows().map(select).collect();
        for column in 0..open.len() {
            let Some(p) = (column..rows.len()).find(|r| rows[*r][column] != 0) else {
                return false;
            };
            rows.swap(column, p);
            let pivot = rows[column].clone();
            for row in rows.iter_mut().skip(column + 1) {
                let factor = row[column];
                for (x, p) in row.iter_mut().zip(&pivot) {
                    let scaled = x.checked_mul(pivot[column]);
                    let taken = p.checked_mul(factor);
                    let difference = scaled.zip(taken).and_then(|(a, b)| a.checked_sub(b));
                    let Some(difference) = difference else {
                        return false;
                    };
                    *x = difference;
                }
                shorten(row);
            }
        }
        true
    }
}

/// Divides by the common divisor, so that numbers stay small.
fn shorten(row: &mut [i128]) {
    let divisor = row.iter().fold(0, |g, x| gcd(g, *x));
    if divisor > 1 {
        row.iter_mut().for_each(|x| *x /= divisor);
    }
}

fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

fn row(e: &Expr, space: &Space) -> Option<Row> {
    let linear = e.linear(space.rank)?;
    let mut constant = Some(i128::from(linear.constant));
    for (c, lower) in linear.coefficients.iter().zip(&space.lower) {
        if *c != 0 {
            let offset = lower.map(|l| i128::from(*c) * i128::from(l));
            constant = constant
                .zip(offset)
                .and_then(|(a, b): (i128, i128)| a.checked_add(b));
        }
    }
    let coefficients = (space.variables.iter())
        .map(|v| i128::from(linear.coefficients[v.dimension]) * v.factor)
        .collect();
    Some(Row {
        coefficients,
        constant,
    })
}

/// Returns whether the row's value determines all open variables that occur in it.
fn determines(row: &Row, open: &[usize], space: &Space) -> bool {
    let mut digits: Vec<(i128, Option<i128>)> = (open.iter())
        .filter(|v| row.coefficients[**v] != 0)
        .map(|v| (row.coefficients[*v].abs(), space.variables[*v].span))
        .collect();
    // Variables of unknown span come last among equals, and nothing may follow them.
    digits.sort_by_key(|(c, span)| (*c, span.is_none()));
    let mut below = Some(0i128);
    for (c, span) in &digits {
        match below {
            Some(b) if *c > b => {}
            _ => return false,
        }
        below = below
            .zip(*span)
            .and_then(|(b, s)| c.checked_mul(s)?.checked_add(b));
    }
    !digits.is_empty()
}

/// Returns whether two accesses never write the same element.
fn disjoint(a: &[Expr], b: &[Expr], va: &View, vb: &View, space: &Space) -> bool {
    let axes = a.len().min(b.len());
    (0..axes).any(|axis| {
        let (x, y) = (a[axis].range(&space.grids), b[axis].range(&space.grids));
        let apart = x
            .zip(y)
            .is_some_and(|(x, y)| x.max < y.min || y.max < x.min);
        apart || residues_differ(va.axes[axis].as_ref(), vb.axes[axis].as_ref())
    })
}

/// `2 * i` and `2 * j + 1`: modulo the coefficients' common divisor the constants differ.
fn residues_differ(a: Option<&Row>, b: Option<&Row>) -> bool {
    let (Some(a), Some(b)) = (a, b) else {
        return false;
    };
    let (Some(p), Some(q)) = (a.constant, b.constant) else {
        return false;
    };
    let all = a.coefficients.iter().chain(&b.coefficients);
    let divisor = all.fold(0, |g, c| gcd(g, *c));
    match divisor {
        0 => p != q,
        divisor => p.rem_euclid(divisor) != q.rem_euclid(divisor),
    }
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
