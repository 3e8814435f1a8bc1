//! The oracle: the definition of `out_view . md_hom(f, (c_1..c_D)) . inp_view`, evaluated
//! naively on plain arrays.
//!
//! The result at a kept point `r` (the indices of `cc` and `ps` dimensions) combines the scalar
//! function's tuples of all points `p` with `p_d = r_d` in `cc`, `p_d <= r_d` in `ps` and any
//! `p_d` in `pw` dimensions. One operator combines all of them; if it is not commutative, there
//! is one combined dimension, whose order is kept. Carries then apply innermost first, each as
//! `f(carry, ..)`; what is carried out in a dimension is the last slice before outer carries.
//!
//! # What a result may differ by
//!
//! Each [`Element`] has a bound on how far a correct result may be from it (`partial.rs`; of math functions,
//! `machine.rs`).
//! - Integers: 0.
//! - The scalar function is computed in its own types, so it is exact, but for math functions,
//!   which may be off by 4 units in the last place.
//! - Built-in combinations of floats accumulate in `f64`. Where at most `d` combinations lie
//!   between an element and the result, a sum may differ by `d * eps * sum |x|` (each combination
//!   rounds once, by `eps / 2`; the other half is for the element, which a fused multiply-add does
//!   not round). `d` is `n - 1` for any order of `n` elements, and less where the combine tree is
//!   known ([`Errors::OfDepth`]); what the oracle itself rounds is added then. A product may differ
//!   by `(n - 1) * eps` relatively in any tree, extrema not at all; a sum or product that overflows
//!   in some order may be anything.
//! - A user's operator on floats is evaluated in its own types from left to right; the bound is
//!   four times the largest deviation of 16 random associations (and orders, if commutative), and
//!   of some that overflow where a sum or product does in any. What overflows from left to right,
//!   though no element is infinite, may be anything.
//! - An operator that linalg's body is, and that its program says is associative, has the same bound,
//!   and at least that of a running error analysis: what its operations round, as far as what follows
//!   passes that on.
//! - Errors of inputs (results of earlier computations) pass through the scalar function by
//!   finite differences `f(x +- e) - f(x)`, of each alone, summed up, or of all together, if that is more. Before a user's operator, each of these runs is a
//!   world of its own instead, in which every input element is at an end or within the bounds of what
//!   it may be, and a math function is off up or down, but always in the same way: equal
//!   arguments give equal values, so that true ties stay ties.
//! - An integer that differs in some of those runs (the index of an arg-max between reassociated
//!   sums that are as good as equal) has no right value: its bound is infinite, so that only the
//!   compared values are checked.
//!
//! ```
//! use mdh_algebra::affine::Expr;
//! use mdh_algebra::code::{Code, Op};
//! use mdh_algebra::computation::{Buffer, Combine, Computation, Dimension};
//! use mdh_algebra::operator::{Builtin, Operator};
//! use mdh_algebra::oracle::{Errors, Evaluator, arrays::Arrays};
//! use mdh_algebra::scalar::{Scalar, ScalarType::F32};
//!
//! // w[i] = sum_k M[i, k] * v[k]
//! let (i, k) = (Expr::dim(0), Expr::dim(1));
//! let matvec = Computation {
//!     dimensions: vec![
//!         Dimension::dense("i", Some(2), Combine::Cc),
//!         Dimension::dense("k", Some(3), Combine::Pw(0)),
//!     ],
//!     inputs: vec![
//!         Buffer::new("M", F32, &[Some(2), Some(3)]).access(0, &[i.clone(), k.clone()]),
//!         Buffer::new("v", F32, &[Some(3)]).access(1, &[k]),
//!     ],
//!     scalar: Code::single(Op::Mulf, F32),
//!     components: vec![F32],
//!     operators: vec![Operator::Builtin(vec![Builtin::Addf])],
//!     carries: vec![],
//!     outputs: vec![Buffer::new("w", F32, &[Some(2)]).access(0, &[i])],
//! };
//! // M = [[0, 1, 2], [3, 4, 5]], v = [0, 1, 2]
//! let mut arrays = Arrays::new(&matvec, |_, n| Scalar::from_f64(F32, n as f64));
//! let results = Evaluator::new(&matvec, Errors::Bounded)?.all_results(&mut arrays)?;
//! let (_, w) = &results[0];
//! assert_eq!((w[0].value.as_f64(), w[1].value.as_f64()), (5.0, 14.0));
//! // Two additions of numbers whose sizes add up to 14.
//! assert_eq!(w[1].error, 2.0 * F32.epsilon() * 14.0);
//! # Ok::<(), mdh_algebra::oracle::Failure>(())
//! ```
//!
//! [`definition`] holds a second evaluator that is the definition letter by letter; the two are
//! tested against each other.

pub mod arrays;
pub mod definition;
mod fold;
mod group;
mod inverse;
pub(crate) mod nest;
mod partial;
mod running;
mod scalar_function;
mod view;

use std::fmt;

pub use group::Evaluator;

use crate::computation::Place;
use crate::laws::Violation;
use crate::machine::{EvalError, MATH_ULPS};
use crate::op::Op;
use crate::random::{Random, hash, sign};
use crate::scalar::{Scalar, ScalarType};

/// A value, and how far a correct result may be from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Element {
    /// The value.
    pub value: Scalar,
    /// The bound, not negative; infinite where anything is right.
    pub error: f64,
}

impl Element {
    /// A value that must be met exactly.
    pub fn exact(value: Scalar) -> Self {
        Element { value, error: 0.0 }
    }

    /// An element that was never written: anything is right.
    pub fn undefined(ty: ScalarType) -> Self {
        Element {
            value: Scalar::zero(ty),
            error: f64::INFINITY,
        }
    }

    /// Returns whether a comparison tells it from zero by far: its bound is at most an eighth of it.
    pub fn differs_from_zero(&self) -> bool {
        let size = self.value.as_f64().abs();
        self.error.is_finite() && (size.is_nan() || size > 0.0 && 8.0 * self.error <= size)
    }

    /// Applies an operation to elements: its value, and how far it moves where each operand goes to
    /// an end of its interval, and where a math function is off.
    pub fn of_operation(
        op: Op,
        operands: &[Element],
        ty: ScalarType,
    ) -> Result<Element, crate::arith::Undefined> {
        let mut values: Vec<Scalar> = operands.iter().map(|o| o.value).collect();
        let value = op.apply(&values, ty)?;
        let mut error = match op.is_approximate() {
            true => MATH_ULPS * ty.ulp(value.as_f64()),
            false => 0.0,
        };
        for (n, operand) in operands.iter().enumerate().filter(|(_, o)| o.error > 0.0) {
            let mut worst: f64 = match operand.is_arbitrary() {
                true => f64::INFINITY,
                false => 0.0,
            };
            for end in [operand.error, -operand.error] {
                let moved = operand.value.as_f64() + end;
                values[n] = Scalar::from_f64(operand.value.ty, moved);
                let moved = op.apply(&values, ty);
                worst = worst.max(moved.map_or(f64::INFINITY, |m| distance(m, value)));
            }
            values[n] = operand.value;
            error += worst;
        }
        Ok(Element { value, error })
    }

    /// Applies an operation as [`Element::of_operation`] does, and adds what it rounds.
    pub(crate) fn rounded(
        op: Op,
        operands: &[Element],
        ty: ScalarType,
    ) -> Result<Element, crate::arith::Undefined> {
        let mut element = Element::of_operation(op, operands, ty)?;
        // What moves by less than half a unit may be rounded to the next number all the same.
        if op.rounds() && element.value.ty.is_float() {
            element.error += element.value.ty.ulp(element.value.as_f64());
        }
        Ok(element)
    }

    /// Returns whether it may be anything: an integer with an error, or a float without a bound.
    fn is_arbitrary(&self) -> bool {
        self.error > 0.0 && (self.value.ty.is_integer() || !self.error.is_finite())
    }
}

/// The element at one end or the other of what it may be, or anywhere between, depending on its key and the
/// world: what is made of it may round by its last digits, which are the same at both ends.
fn moved(element: Element, key: u64, world: u64) -> Scalar {
    if element.error == 0.0 || element.is_arbitrary() {
        return element.value;
    }
    let bits = hash([world, key]);
    let way = match world / 4 % 2 {
        0 => sign(bits),
        _ => Random::new(bits).signed_unit(),
    };
    let off = element.error * way;
    Scalar::from_f64(element.value.ty, element.value.as_f64() + off)
}

/// The error bounds that are computed: a user's operator costs 16 times as much with any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Errors {
    /// All bounds are 0 and mean nothing.
    Ignored,
    /// Bounds for any order and association of combinations.
    Bounded,
    /// Bounds for combine trees of at most this depth: so many combinations lie between an element
    /// and the result. `mdh_schedule::Resolved::depth` is the depth that a schedule has.
    OfDepth(u64),
}

impl Errors {
    /// The most combinations of built-in operators between an element and a result of `count`.
    fn steps(self, count: u64) -> u64 {
        let any = count.saturating_sub(1);
        match self {
            Errors::Ignored | Errors::Bounded => any,
            Errors::OfDepth(depth) => any.min(depth),
        }
    }
}

/// Elements that a computation reads.
pub trait Environment {
    /// The element of a buffer at an index of its own (from 0, inside its shape): of inputs and
    /// carries, and what stood in an output before.
    fn read(&mut self, place: Place, index: &[i64]) -> Result<Element, Failure>;

    /// The valid bit of a carry that has one.
    fn valid(&mut self, carry: usize) -> Result<bool, Failure>;
}

/// Reasons for which there is no result.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// The scalar function or an operator has none.
    Code {
        /// The operator's name or the point.
        place: String,
        /// The error.
        error: EvalError,
    },
    /// An operator does not have a law that the program says it has, on what it combines here.
    Law(Box<Violation>),
    /// An empty `pw` dimension without neutral element and carry.
    EmptyPw {
        /// The dimension's name.
        dimension: String,
    },
    /// An access outside its buffer.
    Outside {
        /// The buffer's name.
        buffer: String,
        /// The index, from 0; `None` if it does not fit 64 bits.
        index: Option<Vec<i64>>,
        /// The buffer's shape.
        shape: Vec<i64>,
    },
    /// Sizes are not known, or the computation is not well defined.
    NotReady(String),
    /// The environment cannot read.
    Environment(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Code { place, error } => write!(f, "{place}: {error}"),
            Failure::Law(violation) => write!(f, "{violation}"),
            Failure::EmptyPw { dimension } => write!(
                f,
                "dimension '{dimension}' is empty, its operator has no neutral element and there \
                 is no carry: expected at least one point, or 'neutral(...)' on the operator"
            ),
            Failure::Outside {
                buffer,
                index,
                shape,
            } => {
                write!(f, "'{buffer}' of shape {shape:?} is accessed at ")?;
                match index {
                    Some(index) => write!(f, "{index:?}"),
                    None => f.write_str("an index that does not fit 64 bits"),
                }
            }
            Failure::NotReady(what) | Failure::Environment(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for Failure {}

/// `(i = 3, k = 4)`.
fn point_text(names: &[&str], point: &[i64]) -> String {
    if names.len() < point.len() {
        return format!("the point {point:?}");
    }
    let parts: Vec<_> = (names.iter().zip(point))
        .map(|(name, index)| format!("{name} = {index}"))
        .collect();
    format!("({})", parts.join(", "))
}

/// Returns the distance of two results: infinite if they are different integers, or only one of
/// them is finite.
fn distance(a: Scalar, b: Scalar) -> f64 {
    if a.same_value(b) {
        return 0.0;
    }
    let difference = (a.as_f64() - b.as_f64()).abs();
    if a.ty.is_float() && difference.is_finite() {
        difference
    } else {
        f64::INFINITY
    }
}

#[cfg(test)]
#[path = "oracle/tests.rs"]
mod tests;
