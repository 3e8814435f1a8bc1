//! Bands: stencils whose planes exceed a cache.
//!
//! Neighbouring points of the outermost loop need some of the same elements of an input. They are
//! still in L2 if everything fits it that is read in between; if not, the next loop is cut into
//! bands for which it does. Each band reads some elements of the one before again.

use super::block::Block;
use super::facts::Facts;
use super::traffic::Region;
use super::views::Views;
use crate::numbers::ceil_div;

/// Points of a band, at least: of narrower ones too much is read twice.
const NARROWEST: i64 = 8;

/// The dimension that is cut, and of how many blocks a band is; `None` where nothing is to be
/// gained. The loops are over these dimensions, outermost first.
pub fn band(
    regions: &[Region],
    facts: &Facts,
    views: &Views,
    block: &Block,
    loops: &[usize],
) -> Option<(usize, i64)> {
    let [first, cut, ..] = loops else { return None };
    let inputs = || regions.iter().filter(|region| !region.is_output);
    if !inputs().any(|region| region.overlaps(*first) && region.moves(*cut)) {
        return None;
    }
    // One step of the outermost loop, with so many points of the next one.
    let bytes = |points: i64| -> f64 {
        let tile = |d: usize| match d {
            _ if d == *first => block.points(d),
            _ if d == *cut => points,
            _ => views.size(d),
        };
        let tile: Vec<i64> = (0..views.points.len()).map(tile).collect();
        inputs().map(|region| region.taken(&tile).bytes).sum()
    };
    let size = views.points[*cut]?;
    // The other half is for what is written, and for what is prefetched.
    let room = facts.l2 as f64 / 2.0;
    if bytes(size) <= room {
        return None;
    }
    let (mut fits, mut too_wide) = (0, size);
    while too_wide - fits > 1 {
        let width = fits + (too_wide - fits) / 2;
        match bytes(width) <= room {
            true => fits = width,
            false => too_wide = width,
        }
    }
    if fits < NARROWEST {
        return None;
    }
    // Bands of about the same width.
    let width = ceil_div(size, ceil_div(size, fits));
    Some((*cut, ceil_div(width, block.points(*cut).max(1))))
}
