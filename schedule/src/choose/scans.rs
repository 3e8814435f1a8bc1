//! Prefix-sums of sums: whether the sums come first, each in memory.

use super::views::Views;
use mdh_algebra::computation::Computation;

/// The fewest points of a sum that are worth an element of memory between two computations.
const POINTS: i64 = 8;

/// Returns whether a computation is faster as two: its sums, and their prefix-sums.
///
/// Both give the same (`md_hom(f, (ps(g), pw(g))) = md_hom(id, (ps(g))) . md_hom(f, (cc, pw(g)))`)
/// where `g` commutes, or sums are innermost; and where a sum of nothing is known to be the neutral
/// element or not to be.
pub fn separates_scans(computation: &Computation) -> bool {
    let views = Views::new(computation);
    let dims = |is: fn(&usize, &Views) -> bool| -> Vec<usize> {
        (0..views.points.len()).filter(|d| is(d, &views)).collect()
    };
    let scans = dims(|d, views| views.combine[*d].is_ps());
    let sums = dims(|d, views| views.combine[*d].is_pw());
    let is_in_order = views.is_commutative || scans.last() < sums.first();
    let neutral = computation
        .operator()
        .and_then(|g| g.neutral(&computation.components));
    let has_points = |d: &usize| views.points[*d].is_some_and(|n| n > 0);
    let points = sums
        .iter()
        .map(|d| views.size(*d))
        .fold(1, i64::saturating_mul);
    !scans.is_empty()
        && is_in_order
        && (neutral.is_some() || sums.iter().all(has_points))
        && points >= POINTS
}
