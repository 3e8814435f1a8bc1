//! Partial results of built-in operators, with the facts for their error bounds.

use super::element::{Element, Errors};
use crate::operator::Builtin;
use crate::scalar::{Scalar, ScalarType};

/// One component's combination of `count` elements.
#[derive(Clone, Copy, Debug)]
pub(super) struct Partial {
    /// The value, of integers.
    integer: Scalar,
    /// The value, of floats.
    float: f64,
    /// Sum of the elements' own errors.
    error: f64,
    count: u64,
    /// Of finite elements: `sum |x|` of a sum, `prod max(1, |x|)` of a product.
    large: f64,
    /// `prod min(1, |x|)` of a product.
    small: f64,
}

impl Partial {
    pub(super) fn leaf(op: Builtin, element: Element) -> Partial {
        let float = element.value.as_f64();
        let size = if float.is_finite() { float.abs() } else { 0.0 };
        let product = op == Builtin::Mulf;
        Partial {
            integer: element.value,
            float,
            error: element.error,
            count: 1,
            large: if product { size.max(1.0) } else { size },
            small: if product && float.is_finite() {
                size.min(1.0)
            } else {
                1.0
            },
        }
    }

    /// `self = op(self, right)`.
    #[inline]
    pub(super) fn combine(&mut self, op: Builtin, right: &Partial) {
        self.count += right.count;
        match op {
            Builtin::Addf => {
                self.float += right.float;
                self.error += right.error;
                self.large += right.large;
            }
            Builtin::Mulf => {
                if self.error != 0.0 || right.error != 0.0 {
                    let (a, b) = (self.float.abs(), right.float.abs());
                    self.error = a * right.error + b * self.error + self.error * right.error;
                    if self.error.is_nan() {
                        self.error = f64::INFINITY;
                    }
                }
                self.float *= right.float;
                self.large *= right.large;
                self.small *= right.small;
            }
            Builtin::Minimumf | Builtin::Maximumf => {
                self.float = extremum(op, self.float, right.float);
                self.error = self.error.max(right.error);
            }
            op => {
                self.error += right.error;
                let ty = self.integer.ty;
                // Types were checked, and integer operators are defined everywhere.
                if let Ok(value) = op.op().apply(&[self.integer, right.integer], ty) {
                    self.integer = value;
                }
            }
        }
    }

    /// The combined element; its bound is that of the combine trees that `errors` allows.
    pub(super) fn finish(&self, op: Builtin, ty: ScalarType, errors: Errors) -> Element {
        if ty.is_integer() {
            return Element {
                value: self.integer,
                error: self.error,
            };
        }
        let value = Scalar::from_f64(ty, self.float);
        let rounded = value.as_f64();
        let steps = |errors: Errors| errors.steps(self.count) as f64;
        let any_order = steps(Errors::Bounded) * ty.epsilon();
        let relative = match op {
            // A product multiplies what both sides are off by, relatively: all of a tree's roundings
            // count, not those between one element and the root. In x * x they even are the same.
            Builtin::Mulf => any_order,
            // What a tree of a known depth rounds may be less than the oracle's own sum in f64 does.
            _ => {
                let of_oracle = steps(Errors::Bounded) * ScalarType::F64.epsilon() / 2.0;
                any_order.min(steps(errors) * ty.epsilon() + of_oracle)
            }
        };
        let overflows = self.count > 1 && self.large * (1.0 + ty.epsilon()) > ty.max_finite();
        let smallest_normal = ty.min_denormal() / ty.epsilon();
        let reordering = match op {
            _ if self.count == 1 => 0.0,
            Builtin::Addf if overflows => f64::INFINITY,
            Builtin::Addf if !rounded.is_finite() => 0.0,
            Builtin::Addf => relative * self.large,
            Builtin::Mulf if overflows => f64::INFINITY,
            Builtin::Mulf if !rounded.is_finite() && self.small < smallest_normal => f64::INFINITY,
            Builtin::Mulf if !rounded.is_finite() => 0.0,
            // Where intermediate products are denormal, they are off by that much absolutely,
            // and may be multiplied by all the large ones.
            Builtin::Mulf if self.small < smallest_normal => {
                relative * rounded.abs() + (self.count - 1) as f64 * ty.min_denormal() * self.large
            }
            Builtin::Mulf => relative * rounded.abs(),
            _ => 0.0,
        };
        // The error's own bound is not exact where elements had errors: rounding is added.
        let carried = match self.error {
            0.0 => 0.0,
            e => e * (1.0 + relative) + ty.ulp(rounded),
        };
        let error = carried + reordering;
        let error = if error.is_nan() { f64::INFINITY } else { error };
        Element { value, error }
    }
}

/// arith's `minimumf` and `maximumf`: NaN is propagated, -0 is below +0.
fn extremum(op: Builtin, a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        return f64::NAN;
    }
    let a_first = a < b || (a == b && a.is_sign_negative());
    if a_first == (op == Builtin::Minimumf) {
        a
    } else {
        b
    }
}
