//! Transposition: inputs whose neighbours in memory lie along another dimension than those of the
//! outputs.
//!
//! A block of as many points in both dimensions as a vector has lanes is read row by row, and
//! transposed in registers. Around it, blocks of some rows and columns use what the caches bring:
//! whole lines of what is written, and long rows of what is read, which are prefetched.

use super::facts::Facts;
use super::views::{Motion, View, Views};
use crate::asm::facts::LINE;
use mdh_algebra::computation::Combine;

/// Bytes that are written next to each other before the next row.
const WRITTEN: i64 = 128;
/// Bytes that are read next to each other before the next row.
const READ: i64 = 1024;

/// The dimension along which inputs are read that lanes along `d` would read alone, if all of
/// them are and the block spills no registers.
pub fn transposed(views: &Views, facts: &Facts, d: usize, lanes: i64) -> Option<usize> {
    let is_long = |d: usize| views.points[d].is_none_or(|n| n >= lanes);
    let is_plain = views.combine.iter().all(|c| *c == Combine::Cc) && is_long(d);
    let motion = |view: &View, d: usize| views.motion(view, d);
    let is_written = |view: &View| view.bytes.is_some() && motion(view, d) == Motion::Next;
    let mut outputs = views.all.iter().filter(|v| v.is_output);
    let alone: Vec<&View> = (views.all.iter())
        .filter(|v| !v.is_output && v.axes.is_some())
        .filter(|v| matches!(motion(v, d), Motion::Axis(_) | Motion::Other))
        .collect();
    let fits = lanes > 1
        && lanes & (lanes - 1) == 0
        && lanes.saturating_mul(alone.len() as i64) <= facts.registers;
    if alone.is_empty() || !is_plain || !fits || !outputs.all(is_written) {
        return None;
    }
    let is_read = |at: &usize| {
        alone
            .iter()
            .all(|v| v.bytes.is_some() && motion(v, *at) == Motion::Next)
    };
    (0..views.points.len()).find(|at| *at != d && is_long(*at) && is_read(at))
}

/// Number of lanes along a dimension: fewer than a vector holds where no more can be transposed.
pub fn lanes(views: &Views, facts: &Facts, d: usize, count: i64) -> i64 {
    let fewer = count.min(facts.registers);
    match transposed(views, facts, d, fewer) {
        Some(_) => fewer,
        None => count,
    }
}

/// Blocks that are done one after the other, along the lanes and along the dimension that is read
/// along: by layer, outermost first, how many.
pub fn tiles(
    views: &Views,
    lane: usize,
    read: usize,
    lanes: i64,
) -> Vec<(&'static str, usize, i64)> {
    // Vectors that make up a line are written one right after the other.
    let written = views.all.iter().filter(|v| v.is_output);
    let bytes = written.filter_map(|v| v.bytes).min().unwrap_or(1);
    let line = (LINE / (lanes * bytes)).max(1);
    let blocks = |d: usize, points: i64| {
        let size = views.size(d);
        (size / points + i64::from(size % points != 0)).max(1)
    };
    let parts = |bytes: i64, points: i64| bytes / (points * views.widest);
    let loops = [
        (
            "L2",
            lane,
            parts(WRITTEN, lanes * line).clamp(1, blocks(lane, lanes * line)),
        ),
        ("L2", read, parts(READ, lanes).clamp(1, blocks(read, lanes))),
        ("L1", lane, line.min(blocks(lane, lanes))),
    ];
    loops.into_iter().filter(|(.., parts)| *parts > 1).collect()
}
