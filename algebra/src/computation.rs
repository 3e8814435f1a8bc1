//! A computation as data: `out_view . md_hom(f, (c_1..c_D)) . inp_view` over a domain.
//!
//! Sizes that are not known yet are `None`; [`crate::rules`] proves or refutes what it can with
//! them and says what is left to be checked once they are known.

use crate::affine::Expr;
use crate::code::Code;
use crate::operator::Operator;
use crate::scalar::{Scalar, ScalarType};

/// A size, bound or offset: `None` where it is known at run time only.
pub type Extent = Option<i64>;

/// How a dimension is combined (MDH paper, section 2.1 and appendix B.9). The number is the
/// operator's position in [`Computation::operators`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Combine {
    /// Concatenation: the dimension is kept.
    Cc,
    /// Point-wise combination: the dimension shrinks to `{0}`.
    Pw(usize),
    /// Prefix-sum: the dimension is kept, each point holds the combination up to itself.
    Ps(usize),
}

/// One dimension of the domain: all `i` with `lower <= i < upper` and
/// `(i - lower) mod step < width` (GPU index mapping, section 2.1).
#[derive(Clone, Debug, PartialEq)]
pub struct Dimension {
    /// The name by which schedules and messages refer to it.
    pub name: String,
    /// First index (any sign).
    pub lower: Extent,
    /// One past the last candidate index.
    pub upper: Extent,
    /// Period of the grid, at least 1.
    pub step: Extent,
    /// Points at the start of each period, between 1 and `step`.
    pub width: Extent,
    /// Its combine operator.
    pub combine: Combine,
}

/// A buffer and the accesses a view makes to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    /// The name by which schedules and messages refer to it.
    pub name: String,
    /// Type of its elements.
    pub element: ScalarType,
    /// Extent of each of its dimensions; empty for a scalar.
    pub shape: Vec<Extent>,
    /// The global index of its first element in each dimension: subtracted from every access.
    pub origin: Vec<Extent>,
    /// The accesses, in the order of the tuple's components.
    pub accesses: Vec<Access>,
    /// The value read outside the buffer (inputs only).
    pub pad: Option<Scalar>,
}

/// One access: an index function from the domain's (global) indices to (global) buffer indices.
#[derive(Clone, Debug, PartialEq)]
pub struct Access {
    /// One expression for each dimension of the buffer.
    pub map: Vec<Expr>,
    /// The tuple component it reads into or is written from.
    pub component: usize,
}

/// What a tile receives from, and hands to, its neighbour in one split dimension.
///
/// The result is `f(carry, tile)`. Carries apply in reverse order of [`Computation::carries`]:
/// the last one is innermost. What is handed on is the last slice in `dimension` after the
/// carries of this and all inner dimensions, before those of outer ones.
#[derive(Clone, Debug, PartialEq)]
pub struct Carry {
    /// The `pw` or `ps` dimension that is split.
    pub dimension: usize,
    /// One buffer for each tuple component, in the combine type.
    pub incoming: Vec<Buffer>,
    /// Whether an `i1` operand says if there is a carry at all (else there always is).
    pub has_valid_bit: bool,
    /// Where the carry of the next tile is written: empty, or one buffer for each component.
    pub outgoing: Vec<Buffer>,
}

/// `out_view . md_hom(scalar, combine) . inp_view`.
#[derive(Clone, Debug, PartialEq)]
pub struct Computation {
    /// The domain, one entry for each dimension of the MDA.
    pub dimensions: Vec<Dimension>,
    /// `inp_view`: component `k` of the scalar function's input is the access with that number.
    pub inputs: Vec<Buffer>,
    /// The scalar function: one input for each access of `inputs`, one result for each
    /// component.
    pub scalar: Code,
    /// Types of the combined tuple's components.
    pub components: Vec<ScalarType>,
    /// The combine operators that `dimensions` refer to.
    pub operators: Vec<Operator>,
    /// Partial results of neighbours, outermost split dimension first.
    pub carries: Vec<Carry>,
    /// `out_view`; a component without an access is not stored.
    pub outputs: Vec<Buffer>,
}
