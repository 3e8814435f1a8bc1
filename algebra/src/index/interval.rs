//! Describes what operations make of intervals: outer bounds, as all of [`crate::integer`].

use super::Op;
pub use crate::integer::{INFINITE, Interval};

impl Interval {
    /// The values of a binary operation. Operands for which it has none do not count, so a
    /// divisor counts from 1.
    pub fn apply(op: Op, a: Interval, b: Interval) -> Interval {
        match op {
            Op::Add => a.plus(b),
            Op::Sub => a.minus(b),
            Op::Mul => a.times(b),
            Op::Div => a.divided(b),
            Op::Mod => a.modulo(b),
            Op::Min => Interval::new(a.min.min(b.min), a.max.min(b.max)),
            Op::Max => Interval::new(a.min.max(b.min), a.max.max(b.max)),
            Op::Lt => truth(a.max < b.min, a.min >= b.max),
            Op::Le => truth(a.max <= b.min, a.min > b.max),
            Op::Eq => truth(a == b && a.min == a.max, a.meet(b).is_none()),
            Op::Ne => truth(a.meet(b).is_none(), a == b && a.min == a.max),
            Op::And if a.min >= 0 || b.min >= 0 => {
                // A negative number has all high bits: it takes none from the other one.
                let limit = |x: Interval| if x.min >= 0 { x.max } else { INFINITE };
                Interval::new(0, limit(a).min(limit(b)))
            }
            Op::Or | Op::Xor if a.min >= 0 && b.min >= 0 => {
                Interval::new(0, all_bits(a.max.max(b.max)))
            }
            Op::And | Op::Or | Op::Xor => Interval::ALL,
        }
    }
}

fn truth(always: bool, never: bool) -> Interval {
    Interval::new(always.into(), (!never).into())
}

/// The largest number with as many bits.
fn all_bits(max: i128) -> i128 {
    match max >= INFINITE {
        true => max,
        false => (1_i128 << (128 - max.leading_zeros())) - 1,
    }
}
