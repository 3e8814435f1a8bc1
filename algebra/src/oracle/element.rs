//! Elements: values with how far a correct result may be from them, and where a computation reads them.

use super::failure::Failure;
use crate::computation::Place;
use crate::machine::MATH_ULPS;
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
    pub(super) fn is_arbitrary(&self) -> bool {
        self.error > 0.0 && (self.value.ty.is_integer() || !self.error.is_finite())
    }
}

/// The element at one end or the other of what it may be, or anywhere between, depending on its key and the
/// world: what is made of it may round by its last digits, which are the same at both ends.
pub(super) fn moved(element: Element, key: u64, world: u64) -> Scalar {
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
    pub(super) fn steps(self, count: u64) -> u64 {
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

/// Returns the distance of two results: infinite if they are different integers, or only one of
/// them is finite.
pub(super) fn distance(a: Scalar, b: Scalar) -> f64 {
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
