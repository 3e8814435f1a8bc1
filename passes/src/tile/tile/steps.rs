//! Starts of the parts of a level.
//!
//! Parts are so many points each. Where these lie at equal distances, or parts are whole periods,
//! so do the parts; parts that divide the points of a period do not, but each lies in one, without
//! gaps. A part of one point ends behind it, where the distance to the next one is not known.

use mdh_dialect::ir::Val;
use mdh_dialect::ops;
use mdh_dialect::parts::{Bound, Dim};

use super::nest::ceil_div;
use crate::llvm::lower_to_loops::grid::Grid;
use crate::support::builder::{Builder, known};

/// Step from one part to the next.
pub enum Steps<'c> {
    /// So many indices.
    Strided(Val<'c>),
    /// So many indices, from point to point.
    Points(Val<'c>),
    /// The number of points of a part: parts lie within periods.
    Within,
}

/// A part of a level.
#[derive(Clone, Copy)]
pub struct Part<'c> {
    /// Its number.
    pub number: Val<'c>,
    /// Its first index.
    pub index: Val<'c>,
}

impl<'c> Steps<'c> {
    /// The steps of parts with so many points; `None` if parts have parts of periods, as far as is
    /// known.
    pub fn new(builder: &mut Builder<'c>, grid: &Grid<'c>, size: Val<'c>) -> Option<Self> {
        if let Some(stride) = grid.stride(builder) {
            if known(size) == Some(1) && known(stride).is_none() {
                return Some(Steps::Points(stride));
            }
            return Some(Steps::Strided(builder.binary(
                ops::arith::MULI,
                size,
                stride,
            )));
        }
        match (known(size), known(grid.width)) {
            (Some(1), _) => Some(Steps::Within),
            (Some(points), Some(width)) if points > 0 && width % points == 0 => Some(Steps::Within),
            (Some(points), Some(width)) if width > 0 && points % width == 0 => {
                let periods = builder.binary(ops::arith::DIVSI, size, grid.width);
                let span = builder.binary(ops::arith::MULI, periods, grid.step);
                Some(Steps::Strided(span))
            }
            _ => None,
        }
    }

    /// From the first index of a part to its end, if it is full.
    pub fn reach(&self, size: Val<'c>) -> Val<'c> {
        match self {
            Steps::Strided(span) => *span,
            Steps::Points(_) | Steps::Within => size,
        }
    }

    /// The dimension of a part, but for its bounds.
    pub fn tile(&self, dim: &Dim<'c>) -> Dim<'c> {
        match self {
            Steps::Strided(_) | Steps::Points(_) => dim.clone(),
            Steps::Within => Dim {
                step: Bound::Static(1),
                width: Bound::Static(1),
                ..dim.clone()
            },
        }
    }

    /// The bounds of a loop over the parts.
    pub fn bounds(
        &self,
        builder: &mut Builder<'c>,
        grid: &Grid<'c>,
        size: Val<'c>,
    ) -> [Val<'c>; 3] {
        match self {
            Steps::Strided(span) | Steps::Points(span) => [grid.lower, grid.upper, *span],
            Steps::Within => {
                let count = ceil_div(builder, grid.count, size);
                [builder.index(0), count, builder.index(1)]
            }
        }
    }

    /// The part of an iteration of that loop.
    pub fn at(
        &self,
        builder: &mut Builder<'c>,
        grid: &Grid<'c>,
        size: Val<'c>,
        at: Val<'c>,
    ) -> Part<'c> {
        match self {
            Steps::Strided(span) | Steps::Points(span) => {
                let distance = builder.binary(ops::arith::SUBI, at, grid.lower);
                let number = builder.binary(ops::arith::DIVUI, distance, *span);
                Part { number, index: at }
            }
            Steps::Within => self.part(builder, grid, size, at).0,
        }
    }

    /// The part with a number, and whether there is one.
    pub fn part(
        &self,
        builder: &mut Builder<'c>,
        grid: &Grid<'c>,
        size: Val<'c>,
        number: Val<'c>,
    ) -> (Part<'c>, Val<'c>) {
        match self {
            Steps::Strided(span) | Steps::Points(span) => {
                let distance = builder.binary(ops::arith::MULI, number, *span);
                let index = builder.binary(ops::arith::ADDI, grid.lower, distance);
                let is_there = builder.compare("slt", index, grid.upper);
                (Part { number, index }, is_there)
            }
            Steps::Within => {
                let points = builder.binary(ops::arith::MULI, number, size);
                let index = grid.point(builder, points);
                let is_there = builder.compare("slt", points, grid.count);
                (Part { number, index }, is_there)
            }
        }
    }
}
