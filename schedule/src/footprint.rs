//! Footprint of a tile in a buffer: only the dimensions the buffer depends on count, and neighbours
//! that several accesses share count once (appendix F, buffer size reduction and memory-operation
//! minimisation).

use super::reach::Reach;
use super::tiles::{Span, gcd};
use mdh_algebra::computation::{Buffer, Computation, Dimension};

/// The box of a buffer that a tile accesses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// One for each axis of the buffer.
    pub axes: Vec<FootprintAxis>,
}

/// One axis of a footprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FootprintAxis {
    /// From the first to the last index that is accessed, both included.
    pub extent: i64,
    /// Only every `stride`-th of them is.
    pub stride: i64,
}

impl FootprintAxis {
    /// Returns the number of indices that a copy holds: those in between are left out.
    pub fn elements(&self) -> i64 {
        (self.extent - 1) / self.stride + 1
    }
}

impl Footprint {
    /// The shape of a copy.
    pub fn shape(&self) -> Vec<i64> {
        self.axes.iter().map(FootprintAxis::elements).collect()
    }

    /// The elements of a copy; saturates.
    pub fn elements(&self) -> i64 {
        self.shape()
            .iter()
            .fold(1, |product, n| product.saturating_mul(*n))
    }
}

/// The footprint of a tile whose point numbers span `spans` ([`super::Tiles::spans`]). Exact for linear index functions whose accesses differ by
/// constants (halos of stencils); with others an axis counts whole. `None` if that is not known.
pub fn footprint(computation: &Computation, buffer: &Buffer, spans: &[Span]) -> Option<Footprint> {
    let axis = |n: usize| axis(computation, buffer, n, spans);
    let axes = (0..buffer.shape.len()).map(axis).collect::<Option<_>>()?;
    Some(Footprint { axes })
}

fn axis(
    computation: &Computation,
    buffer: &Buffer,
    n: usize,
    spans: &[Span],
) -> Option<FootprintAxis> {
    let tile = translated(computation, buffer, n, spans);
    let whole = full_reach(computation, buffer, n);
    match (tile, whole) {
        (Some(tile), Some(whole)) => Some(FootprintAxis {
            extent: tile.extent.min(whole.extent),
            stride: tile.stride,
        }),
        (one, other) => one.or(other),
    }
}

/// Accesses with equal coefficients: the tile's own extent, and the halo.
fn translated(
    computation: &Computation,
    buffer: &Buffer,
    n: usize,
    spans: &[Span],
) -> Option<FootprintAxis> {
    let rank = computation.dimensions.len();
    let along = Reach::along(buffer, n, rank)?;
    let (mut extent, mut stride) = (along.halo()?, 0);
    for access in &buffer.accesses {
        stride = gcd(stride, access.map[n].linear(rank)?.constant - along.low);
    }
    for (d, c) in along.terms() {
        let (span, dimension) = (&spans[d], &computation.dimensions[d]);
        if span.reach > 0 {
            let reach = reach(dimension, span.reach)?;
            extent = extent.checked_add(c.checked_abs()?.checked_mul(reach)?)?;
            let step = match dimension.stride() {
                Some(apart) => apart.checked_mul(span.step)?,
                None => 1,
            };
            stride = gcd(stride, c.checked_mul(step)?);
        }
    }
    Some(FootprintAxis {
        extent,
        stride: stride.max(1),
    })
}

/// Returns the distance of indices whose numbers are `span` apart: `span + ceil(span / W) * (T -
/// W)` at most.
fn reach(dimension: &Dimension, span: i64) -> Option<i64> {
    let (step, width) = (dimension.step?, dimension.width?);
    let jumps = super::numbers::ceil_div(span, width.max(1));
    span.checked_add(jumps.checked_mul(step - width)?)
}

/// All that the axis' accesses reach over the whole domain.
fn full_reach(computation: &Computation, buffer: &Buffer, n: usize) -> Option<FootprintAxis> {
    let grids: Vec<_> = computation.dimensions.iter().map(|d| d.grid()).collect();
    let ranges = buffer.accesses.iter().map(|a| a.map.get(n)?.range(&grids));
    let ranges: Vec<_> = ranges.collect::<Option<_>>()?;
    let low = ranges.iter().map(|r| r.min).min()?;
    let high = ranges.iter().map(|r| r.max).max()?;
    Some(FootprintAxis {
        extent: high.checked_sub(low)?.checked_add(1)?,
        stride: 1,
    })
}
