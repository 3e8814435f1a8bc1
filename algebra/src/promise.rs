//! Promises made by flags of integer operations: `overflow<nsw, nuw>` and `exact`.
//!
//! An operation that breaks its promise has no value, as a division by zero has none.

use crate::arith::Undefined;
use crate::op::Op;
use crate::scalar::{Scalar, ScalarType};

/// A promise about the operands of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// `overflow<nsw>`: the result is that of signed numbers, none of which is too large.
    NoSignedWrap,
    /// `overflow<nuw>`: the same of numbers without a sign.
    NoUnsignedWrap,
    /// `exact`: a division leaves no rest, a shift to the right shifts only zeros out.
    Exact,
}

impl Promise {
    /// Fails if an operation with a result of type `ty` breaks it.
    pub fn hold(self, op: Op, operands: &[Scalar], ty: ScalarType) -> Result<(), Undefined> {
        let is_kept = match (self, operands) {
            (Promise::NoSignedWrap, _) => no_signed_wrap(op, operands, ty),
            (Promise::NoUnsignedWrap, _) => no_unsigned_wrap(op, operands, ty),
            (Promise::Exact, [x, y]) => is_exact(op, *x, *y),
            (Promise::Exact, _) => true,
        };
        let reason = match self {
            Promise::NoSignedWrap => "it overflows as a signed number, but has the flag nsw",
            Promise::NoUnsignedWrap => {
                "it overflows as a number without a sign, but has the flag nuw"
            }
            Promise::Exact => "it is not exact, but has the flag exact",
        };
        match is_kept {
            true => Ok(()),
            false => Err(Undefined {
                op,
                operands: operands.to_vec(),
                reason,
            }),
        }
    }
}

/// A shift by the width or more has no value anyway.
fn shift(y: Scalar) -> Option<u32> {
    (y.bits < u64::from(y.ty.bit_width())).then_some(y.bits as u32)
}

fn no_signed_wrap(op: Op, operands: &[Scalar], ty: ScalarType) -> bool {
    let value = |x: &Scalar| i128::from(x.as_i64());
    let result = match (op, operands) {
        (Op::Addi, [x, y]) => value(x) + value(y),
        (Op::Subi, [x, y]) => value(x) - value(y),
        (Op::Muli, [x, y]) => value(x) * value(y),
        (Op::Shli, [x, y]) => shift(*y).map_or(0, |y| value(x) << y),
        (Op::Trunci, [x]) => value(x),
        _ => return true,
    };
    let half = 1i128 << (ty.bit_width() - 1);
    (-half..half).contains(&result)
}

fn no_unsigned_wrap(op: Op, operands: &[Scalar], ty: ScalarType) -> bool {
    let value = |x: &Scalar| u128::from(x.as_u64());
    let result = match (op, operands) {
        (Op::Addi, [x, y]) => value(x) + value(y),
        (Op::Subi, [x, y]) => return value(x) >= value(y),
        (Op::Muli, [x, y]) => value(x) * value(y),
        (Op::Shli, [x, y]) => shift(*y).map_or(0, |y| value(x) << y),
        (Op::Trunci, [x]) => value(x),
        _ => return true,
    };
    result <= u128::from(ty.mask())
}

fn is_exact(op: Op, x: Scalar, y: Scalar) -> bool {
    match op {
        Op::Divsi => y.bits == 0 || i128::from(x.as_i64()) % i128::from(y.as_i64()) == 0,
        Op::Divui => y.bits == 0 || x.bits.is_multiple_of(y.bits),
        Op::Shrsi | Op::Shrui => shift(y).is_none_or(|y| (x.bits >> y) << y == x.bits),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ScalarType::{I8, I32};

    /// Against the definition, over all pairs of `i8`.
    #[test]
    fn promises_exhaustively() {
        for a in -128i64..128 {
            for b in -128i64..128 {
                let operands = [Scalar::from_i64(I8, a), Scalar::from_i64(I8, b)];
                let is_kept = |promise: Promise, op| promise.hold(op, &operands, I8).is_ok();
                let (u, v) = (a & 0xff, b & 0xff);
                let signed = [(Op::Addi, a + b), (Op::Subi, a - b), (Op::Muli, a * b)];
                for (op, result) in signed {
                    let fits = (-128..128).contains(&result);
                    assert_eq!(is_kept(Promise::NoSignedWrap, op), fits, "{op} {a} {b}");
                }
                let unsigned = [(Op::Addi, u + v), (Op::Subi, u - v), (Op::Muli, u * v)];
                for (op, result) in unsigned {
                    let fits = (0..256).contains(&result);
                    assert_eq!(is_kept(Promise::NoUnsignedWrap, op), fits, "{op} {u} {v}");
                }
                assert_eq!(is_kept(Promise::Exact, Op::Divsi), b == 0 || a % b == 0);
                assert_eq!(is_kept(Promise::Exact, Op::Divui), v == 0 || u % v == 0);
                let lost = (0..8).contains(&b) && u % (1 << b.clamp(0, 7)) != 0;
                assert_eq!(is_kept(Promise::Exact, Op::Shrui), !lost);
                if (0..8).contains(&b) {
                    let fits = (-128..128).contains(&(a << b));
                    assert_eq!(is_kept(Promise::NoSignedWrap, Op::Shli), fits);
                    assert_eq!(is_kept(Promise::NoUnsignedWrap, Op::Shli), u << b < 256);
                }
            }
        }
    }

    #[test]
    fn cut_off_numbers() {
        let cut = |promise: Promise, v| promise.hold(Op::Trunci, &[Scalar::from_i64(I32, v)], I8);
        assert!(
            cut(Promise::NoSignedWrap, -128).is_ok() && cut(Promise::NoSignedWrap, 128).is_err()
        );
        assert!(cut(Promise::NoUnsignedWrap, 255).is_ok());
        assert_eq!(
            cut(Promise::NoUnsignedWrap, -1).unwrap_err().to_string(),
            "arith.trunci(-1 : i32) has no defined result: it overflows as a number without a \
             sign, but has the flag nuw"
        );
    }
}
