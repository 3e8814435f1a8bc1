//! Injectivity: no element of a buffer is written twice.
//!
//! Proved as aliasing is ([`crate::reuse::alias`]): one access repeats no element at another
//! point, and two accesses do not overlap. Small domains are decided by enumeration.

use std::collections::HashMap;

use super::finding::{Obligation, Report, Rule, Subject, buffer_text};
use crate::affine::Expr;
use crate::computation::{Computation, Dimension, Place};
use crate::domain::{Grid, points, total_points};
use crate::reuse::alias::{self, Amount, DomainAxis, Role, Sharing};

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
                let dimension = computation.carries[carry].dimension;
                varying.retain(|d| *d != dimension);
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
    let domain = domain(dimensions, varying);
    let grids = grids(dimensions, varying);
    let is_known = grids.iter().all(Option::is_some);
    let mut clash = None;
    let mut repeats = |(access, map): (usize, &&[Expr])| match alias::repeats(&domain, map) {
        Sharing::InPlace | Sharing::Disjoint => false,
        Sharing::Conflict(conflict) if is_known => {
            let (read, written) = (conflict.read.1, conflict.written.1);
            clash.get_or_insert(Clash {
                index: conflict.element,
                first: (access, read.clone().min(written.clone())),
                second: (access, read.max(written)),
            });
            true
        }
        Sharing::Conflict(_) | Sharing::Unknown => true,
    };
    let is_apart = |a: usize| (0..a).all(|b| disjoint([maps[a], maps[b]], &domain));
    let never_repeats = !maps.iter().enumerate().any(&mut repeats);
    if never_repeats && (0..maps.len()).all(is_apart) {
        return Verdict::Proved;
    }
    match enumerate(maps, &grids) {
        Verdict::Unknown => clash.map_or(Verdict::Unknown, Verdict::Refuted),
        verdict => verdict,
    }
}

/// The domain of the writing view: with an index in the dimensions that vary.
fn domain(dimensions: &[Dimension], varying: &[usize]) -> Vec<DomainAxis> {
    let mut domain = alias::axes(dimensions);
    for (d, axis) in domain.iter_mut().enumerate() {
        axis.role = match varying.contains(&d) {
            true => Role::Cc,
            false => Role::Absent,
        };
    }
    domain
}

/// The grid of each dimension: of one point for those that do not vary.
fn grids(dimensions: &[Dimension], varying: &[usize]) -> Vec<Option<Grid>> {
    let grid = |(d, dimension): (usize, &Dimension)| match varying.contains(&d) {
        true => dimension.grid(),
        false => Some(Grid::dense(1)),
    };
    dimensions.iter().enumerate().map(grid).collect()
}

/// Returns whether two accesses never write the same element.
fn disjoint(maps: [&[Expr]; 2], domain: &[DomainAxis]) -> bool {
    let axes = maps[0].len().min(maps[1].len());
    let origin = vec![Amount::Known(0); axes];
    let accesses = maps.map(|map| [map[..axes].to_vec()]);
    let [a, b] = [0, 1].map(|n: usize| alias::View {
        accesses: &accesses[n],
        origin: &origin,
    });
    alias::overlap(domain, &a, &b) == Sharing::Disjoint
}

/// Looks for a clash in the whole domain if it is small, else in a corner of it. A dimension of
/// unknown size counts as one point there, which is right for linear maps only.
fn enumerate(maps: &[&[Expr]], grids: &[Option<Grid>]) -> Verdict {
    let linear = |e: &Expr| e.linear(grids.len()).is_some();
    let known = grids.iter().all(Option::is_some);
    if !known && !maps.iter().all(|m| m.iter().all(linear)) {
        return Verdict::Unknown;
    }
    let mut grids: Vec<Grid> = (grids.iter())
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
