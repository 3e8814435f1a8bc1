//! A computation as data: `out_view . md_hom(f, (c_1..c_D)) . inp_view` over a domain.
//!
//! Sizes that are not known yet are `None`; [`crate::rules`] proves or refutes what it can with
//! them and says what is left to be checked once they are known.

use crate::affine::Expr;
use crate::code::Code;
use crate::domain::{Grid, stride};
use crate::operator::Operator;
use crate::scalar::{Scalar, ScalarType};

/// A size, bound or offset: `None` where it is known at run time only.
pub type Extent = Option<i64>;

/// Combine operator of a dimension (MDH paper, section 2.1 and appendix B.9). The number is the
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

/// Values that a tile receives from, and hands to, its neighbour in one split dimension.
///
/// The result is `f(carry, tile)`. Carries apply in reverse order of [`Computation::carries`]:
/// the last one is innermost. What is carried out is the last slice in `dimension` after the
/// carries of this and all inner dimensions, before those of outer ones.
///
/// Each buffer has one access; it belongs to the component of its position, whatever the
/// access's own `component` says.
#[derive(Clone, Debug, PartialEq)]
pub struct Carry {
    /// The `pw` or `ps` dimension that is split.
    pub dimension: usize,
    /// One buffer for each tuple component, in the combine type.
    pub incoming: Vec<Buffer>,
    /// True if an `i1` operand says whether there is a carry at all (else there always is).
    pub has_valid_bit: bool,
    /// Destinations of the next tile's carry: none, or one buffer for each component.
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

/// One of a computation's buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// [`Computation::inputs`] of that number.
    Input(usize),
    /// [`Computation::outputs`] of that number.
    Output(usize),
    /// A buffer that a carry is received from.
    Incoming {
        /// Position in [`Computation::carries`].
        carry: usize,
        /// Position in [`Carry::incoming`].
        component: usize,
    },
    /// A buffer that a carry is carried out to.
    Outgoing {
        /// Position in [`Computation::carries`].
        carry: usize,
        /// Position in [`Carry::outgoing`].
        component: usize,
    },
}

impl Combine {
    /// The operator's position, of `pw` and `ps`.
    pub fn operator(self) -> Option<usize> {
        match self {
            Combine::Cc => None,
            Combine::Pw(operator) | Combine::Ps(operator) => Some(operator),
        }
    }

    /// Returns whether the dimension shrinks to `{0}`.
    pub fn is_pw(self) -> bool {
        matches!(self, Combine::Pw(_))
    }

    /// Returns whether the dimension is a prefix-sum.
    pub fn is_ps(self) -> bool {
        matches!(self, Combine::Ps(_))
    }
}

impl Dimension {
    /// `name = 0..count`.
    pub fn dense(name: &str, count: Extent, combine: Combine) -> Dimension {
        Dimension {
            name: name.into(),
            lower: Some(0),
            upper: count,
            step: Some(1),
            width: Some(1),
            combine,
        }
    }

    /// Returns whether each index between its bounds is known to be a point.
    pub fn is_dense(&self) -> bool {
        self.step.is_some() && self.step == self.width
    }

    /// Returns the distance between its points, where that is always the same, and known.
    pub fn stride(&self) -> Extent {
        stride(self.step, self.width)
    }

    /// Its grid, where that is known and well formed.
    pub fn grid(&self) -> Option<Grid> {
        Grid::new(self.lower?, self.upper?, self.step?, self.width?)
    }

    /// Returns the number of its points: that there are none needs only its bounds.
    pub fn count(&self) -> Extent {
        if self.upper? <= self.lower? {
            return Some(0);
        }
        Some(self.grid()?.count())
    }
}

impl Buffer {
    /// A buffer with its origin at 0 and no access yet.
    pub fn new(name: &str, element: ScalarType, shape: &[Extent]) -> Buffer {
        Buffer {
            name: name.into(),
            element,
            shape: shape.to_vec(),
            origin: vec![Some(0); shape.len()],
            accesses: Vec::new(),
            pad: None,
        }
    }

    /// The same with one more access.
    pub fn access(mut self, component: usize, map: &[Expr]) -> Buffer {
        let map = map.to_vec();
        self.accesses.push(Access { map, component });
        self
    }

    /// The same with a value outside.
    pub fn padded(mut self, pad: Scalar) -> Buffer {
        self.pad = Some(pad);
        self
    }

    /// Number of its dimensions without the last ones of one element: neighbours along the last of
    /// these are neighbours in memory.
    pub fn rank_without_units(&self) -> usize {
        rank_without_units(&self.shape)
    }

    /// Returns whether each row, neighbours along the last of these, fills whole lines of so many bytes
    /// where the first one begins with a line.
    pub fn fills_lines(&self, line: i64) -> bool {
        let last = self.rank_without_units().checked_sub(1);
        let elements = last.and_then(|last| self.shape[last]);
        let width = self.element.byte_width() as i64;
        let bytes = elements.and_then(|elements| elements.checked_mul(width));
        bytes.is_some_and(|bytes| bytes % line == 0)
    }
}

/// Number of axes of a shape without the last ones of one element; all where each has one.
pub fn rank_without_units(shape: &[Extent]) -> usize {
    let last = shape.iter().rposition(|extent| *extent != Some(1));
    last.map_or(shape.len(), |last| last + 1)
}

impl Computation {
    /// The dimensions' names, for printing index functions.
    pub fn names(&self) -> Vec<&str> {
        self.dimensions.iter().map(|d| d.name.as_str()).collect()
    }

    /// The dimensions' grids, if all are known and well formed.
    pub fn grids(&self) -> Option<Vec<Grid>> {
        self.dimensions.iter().map(Dimension::grid).collect()
    }

    /// The dimensions that the result keeps: `cc` and `ps` ones.
    pub fn kept(&self) -> Vec<usize> {
        let is_kept = |d: &usize| !self.dimensions[*d].combine.is_pw();
        (0..self.dimensions.len()).filter(is_kept).collect()
    }

    /// The one operator of all combined dimensions, if there are any; the rules see to it that
    /// there is only one.
    pub fn operator(&self) -> Option<&Operator> {
        let mut combined = self.dimensions.iter().filter_map(|d| d.combine.operator());
        self.operators.get(combined.next()?)
    }

    /// The neutral tuple of each operator, if all have one.
    pub fn neutrals(&self) -> Option<Vec<Vec<Scalar>>> {
        let operators = self.operators.iter();
        operators.map(|o| o.neutral(&self.components)).collect()
    }

    /// All buffers: inputs, outputs, then of each carry the incoming and the outgoing ones.
    pub fn places(&self) -> Vec<Place> {
        let mut places: Vec<Place> = (0..self.inputs.len()).map(Place::Input).collect();
        places.extend((0..self.outputs.len()).map(Place::Output));
        for (carry, c) in self.carries.iter().enumerate() {
            let incoming = 0..c.incoming.len();
            places.extend(incoming.map(|component| Place::Incoming { carry, component }));
            let outgoing = 0..c.outgoing.len();
            places.extend(outgoing.map(|component| Place::Outgoing { carry, component }));
        }
        places
    }

    /// The buffer in a place, if there is one.
    pub fn buffer(&self, place: Place) -> Option<&Buffer> {
        match place {
            Place::Input(n) => self.inputs.get(n),
            Place::Output(n) => self.outputs.get(n),
            Place::Incoming { carry, component } => {
                self.carries.get(carry)?.incoming.get(component)
            }
            Place::Outgoing { carry, component } => {
                self.carries.get(carry)?.outgoing.get(component)
            }
        }
    }

    pub(crate) fn buffer_mut(&mut self, place: Place) -> Option<&mut Buffer> {
        match place {
            Place::Input(n) => self.inputs.get_mut(n),
            Place::Output(n) => self.outputs.get_mut(n),
            Place::Incoming { carry, component } => {
                self.carries.get_mut(carry)?.incoming.get_mut(component)
            }
            Place::Outgoing { carry, component } => {
                self.carries.get_mut(carry)?.outgoing.get_mut(component)
            }
        }
    }
}
