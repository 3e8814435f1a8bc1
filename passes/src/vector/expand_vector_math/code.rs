//! Arithmetic on vectors of floats and of integers as wide, in which functions are written.

use mdh_algebra::op::CmpfPredicate;
use mdh_algebra::scalar::{Scalar, ScalarType};
use mdh_dialect::ir::Val;
use mdh_dialect::ops;
use mdh_dialect::types;
use melior::ir::{Attribute, AttributeLike, Type, TypeLike, ValueLike};
use mlir_sys::mlirDenseElementsAttrSplatGet;

use crate::support::builder::Builder;

/// The floats that a function is computed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// `f32`.
    Single,
    /// `f64`.
    Double,
}

/// Emits arithmetic on vectors of one shape and one type of floats.
pub struct Code<'c, 'b> {
    /// Insertion point.
    pub builder: &'b mut Builder<'c>,
    /// Precision of the floats.
    pub precision: Precision,
    /// A vector of the shape.
    like: Type<'c>,
}

/// One of two numbers or tables, for `f32` and for `f64`.
pub struct Either<T>(pub T, pub T);

impl<'c, 'b> Code<'c, 'b> {
    /// Code on vectors of the shape of a type.
    pub fn new(builder: &'b mut Builder<'c>, precision: Precision, like: Type<'c>) -> Self {
        Code {
            builder,
            precision,
            like,
        }
    }

    /// The alternative for these floats.
    pub fn pick<T>(&self, either: Either<T>) -> T {
        match self.precision {
            Precision::Single => either.0,
            Precision::Double => either.1,
        }
    }

    /// The type of the floats.
    pub fn float(&self) -> ScalarType {
        self.pick(Either(ScalarType::F32, ScalarType::F64))
    }

    /// The type of integers of the same width.
    fn bits(&self) -> ScalarType {
        self.pick(Either(ScalarType::I32, ScalarType::I64))
    }

    /// Bits of a fraction, without the leading one.
    pub fn fraction(&self) -> i64 {
        self.pick(Either(23, 52))
    }

    fn vector(&self, ty: ScalarType) -> Type<'c> {
        types::with_lanes_of(self.like, types::mlir_type(self.builder.context, ty))
    }

    fn splat(&mut self, value: Scalar) -> Val<'c> {
        let ty = self.vector(value.ty);
        let element = types::attribute(self.builder.context, value);
        // SAFETY: the type is a vector of elements of the attribute's type.
        let splat = unsafe {
            Attribute::from_raw(mlirDenseElementsAttrSplatGet(ty.to_raw(), element.to_raw()))
        };
        self.builder.constant(splat, ty)
    }

    /// A constant float.
    pub fn number(&mut self, value: f64) -> Val<'c> {
        self.splat(Scalar::from_f64(self.float(), value))
    }

    /// A constant integer.
    pub fn integer(&mut self, value: i64) -> Val<'c> {
        self.splat(Scalar::from_i64(self.bits(), value))
    }

    /// An operation whose result has the type of its operands.
    pub fn op(&mut self, name: &str, operands: &[Val<'c>]) -> Val<'c> {
        let ty = operands[0].r#type();
        self.builder.op(name, operands, &[ty], &[])[0]
    }

    /// `a + b`.
    pub fn add(&mut self, a: Val<'c>, b: Val<'c>) -> Val<'c> {
        self.op(ops::arith::ADDF, &[a, b])
    }

    /// `a - b`.
    pub fn sub(&mut self, a: Val<'c>, b: Val<'c>) -> Val<'c> {
        self.op(ops::arith::SUBF, &[a, b])
    }

    /// `a * b`.
    pub fn mul(&mut self, a: Val<'c>, b: Val<'c>) -> Val<'c> {
        self.op(ops::arith::MULF, &[a, b])
    }

    /// `a / b`.
    pub fn div(&mut self, a: Val<'c>, b: Val<'c>) -> Val<'c> {
        self.op(ops::arith::DIVF, &[a, b])
    }

    /// `a * b + c`, rounded once.
    pub fn fma(&mut self, a: Val<'c>, b: Val<'c>, c: Val<'c>) -> Val<'c> {
        self.op(ops::math::FMA, &[a, b, c])
    }

    /// `a * b + c` with a constant `b`.
    pub fn fma_by(&mut self, a: Val<'c>, b: f64, c: Val<'c>) -> Val<'c> {
        let b = self.number(b);
        self.fma(a, b, c)
    }

    /// `|x|`.
    pub fn abs(&mut self, x: Val<'c>) -> Val<'c> {
        self.op(ops::math::ABSF, &[x])
    }

    /// `|size|` with the sign of another one.
    pub fn copysign(&mut self, size: Val<'c>, sign: Val<'c>) -> Val<'c> {
        self.op(ops::math::COPYSIGN, &[size, sign])
    }

    /// Returns whether a comparison of floats holds, lane by lane.
    pub fn compare(&mut self, predicate: CmpfPredicate, a: Val<'c>, b: Val<'c>) -> Val<'c> {
        self.builder.compare_floats(predicate, a, b)
    }

    /// `a < b`; not so if one of them is NaN.
    pub fn less(&mut self, a: Val<'c>, b: f64) -> Val<'c> {
        let b = self.number(b);
        self.compare(CmpfPredicate::Olt, a, b)
    }

    /// `a > b`; not so if one of them is NaN.
    pub fn greater(&mut self, a: Val<'c>, b: f64) -> Val<'c> {
        let b = self.number(b);
        self.compare(CmpfPredicate::Ogt, a, b)
    }

    /// `a = b`.
    pub fn equals(&mut self, a: Val<'c>, b: f64) -> Val<'c> {
        let b = self.number(b);
        self.compare(CmpfPredicate::Oeq, a, b)
    }

    /// `condition ? then : otherwise`, lane by lane.
    pub fn select(&mut self, condition: Val<'c>, then: Val<'c>, otherwise: Val<'c>) -> Val<'c> {
        self.builder.select(condition, then, otherwise)
    }

    /// `x`, or the nearer end of the range; NaN stays.
    pub fn clamp(&mut self, x: Val<'c>, low: f64, high: f64) -> Val<'c> {
        let is_less = self.less(x, low);
        let least = self.number(low);
        let x = self.select(is_less, least, x);
        self.at_most(x, high)
    }

    /// `x`, or `high` if that is less; NaN stays.
    pub fn at_most(&mut self, x: Val<'c>, high: f64) -> Val<'c> {
        let is_greater = self.greater(x, high);
        let most = self.number(high);
        self.select(is_greater, most, x)
    }

    /// The polynomial with these coefficients, that of the highest power first.
    pub fn polynomial(&mut self, x: Val<'c>, coefficients: &[f64]) -> Val<'c> {
        let Some((first, rest)) = coefficients.split_first() else {
            return self.number(0.0);
        };
        let mut sum = self.number(*first);
        for coefficient in rest {
            let coefficient = self.number(*coefficient);
            sum = self.fma(sum, x, coefficient);
        }
        sum
    }

    /// The bits of floats as integers.
    pub fn bits_of(&mut self, x: Val<'c>) -> Val<'c> {
        let ty = self.vector(self.bits());
        self.builder.op(ops::arith::BITCAST, &[x], &[ty], &[])[0]
    }

    /// The floats with these bits.
    pub fn float_of_bits(&mut self, bits: Val<'c>) -> Val<'c> {
        let ty = self.vector(self.float());
        self.builder.op(ops::arith::BITCAST, &[bits], &[ty], &[])[0]
    }

    /// An integer shifted by a number of bits.
    pub fn shifted(&mut self, name: &str, n: Val<'c>, bits: i64) -> Val<'c> {
        let bits = self.integer(bits);
        self.op(name, &[n, bits])
    }

    /// The lower and the upper half of the product of two integers without signs.
    pub fn extended_product(&mut self, a: Val<'c>, b: Val<'c>) -> (Val<'c>, Val<'c>) {
        let ty = a.r#type();
        let halves = (self.builder).op(ops::arith::MULUI_EXTENDED, &[a, b], &[ty, ty], &[]);
        (halves[0], halves[1])
    }

    /// A float so large that its unit is 1: what is added to it is rounded to an integer, which
    /// then stands in the lowest bits.
    fn shift(&self) -> f64 {
        1.5 * 2f64.powi(self.fraction() as i32)
    }

    fn shift_bits(&self) -> i64 {
        Scalar::from_f64(self.float(), self.shift()).bits as i64
    }

    /// `x * factor`, rounded to an integer, as a float and as an integer. Its size is less than
    /// half the largest fraction; NaN gives NaN and any integer.
    pub fn rounded(&mut self, x: Val<'c>, factor: f64) -> (Val<'c>, Val<'c>) {
        let shift = self.number(self.shift());
        let moved = self.fma_by(x, factor, shift);
        let float = self.sub(moved, shift);
        let bits = self.bits_of(moved);
        let shift = self.integer(self.shift_bits());
        (float, self.op(ops::arith::SUBI, &[bits, shift]))
    }

    /// An integer of a small size as a float.
    pub fn float_of(&mut self, integer: Val<'c>) -> Val<'c> {
        let shift = self.integer(self.shift_bits());
        let bits = self.op(ops::arith::ADDI, &[integer, shift]);
        let moved = self.float_of_bits(bits);
        let shift = self.number(self.shift());
        self.sub(moved, shift)
    }

    /// `2^n` for an `n` that is the exponent of a normal number.
    pub fn power_of_two(&mut self, n: Val<'c>) -> Val<'c> {
        let (bias, width) = (self.pick(Either(127, 1023)), self.fraction());
        let bias = self.integer(bias);
        let width = self.integer(width);
        let exponent = self.op(ops::arith::ADDI, &[n, bias]);
        let bits = self.op(ops::arith::SHLI, &[exponent, width]);
        self.float_of_bits(bits)
    }

    /// `x * 2^n` for an `n` within twice the range of exponents: it may overflow, and is rounded
    /// once where it is too small for a normal number.
    pub fn scaled(&mut self, x: Val<'c>, n: Val<'c>) -> Val<'c> {
        let unit = self.integer(1);
        let half = self.op(ops::arith::SHRSI, &[n, unit]);
        let rest = self.op(ops::arith::SUBI, &[n, half]);
        let (half, rest) = (self.power_of_two(half), self.power_of_two(rest));
        let x = self.mul(x, half);
        self.mul(x, rest)
    }
}
