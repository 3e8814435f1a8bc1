//! Pairs of floats whose sum is a number, to about twice the digits of one: the second is at most
//! about a unit in the last place of the first.

use mdh_dialect::ir::Val;
use mdh_dialect::ops;

use super::code::Code;

/// `high + low`.
#[derive(Clone, Copy)]
pub struct Pair<'c> {
    /// The float next to the number.
    pub high: Val<'c>,
    /// The rest of it.
    pub low: Val<'c>,
}

impl<'c> Code<'c, '_> {
    /// `a + b` without an error (Knuth's TwoSum).
    pub fn two_sum(&mut self, a: Val<'c>, b: Val<'c>) -> Pair<'c> {
        let high = self.add(a, b);
        let of_b = self.sub(high, a);
        let of_a = self.sub(high, of_b);
        let (lost_of_a, lost_of_b) = (self.sub(a, of_a), self.sub(b, of_b));
        let low = self.add(lost_of_a, lost_of_b);
        Pair { high, low }
    }

    /// `a + b` without an error, if `a` is 0 or not smaller than `b` (Dekker's FastTwoSum).
    pub fn ordered_sum(&mut self, a: Val<'c>, b: Val<'c>) -> Pair<'c> {
        let high = self.add(a, b);
        let of_b = self.sub(high, a);
        let low = self.sub(b, of_b);
        Pair { high, low }
    }

    /// `a b` without an error, unless it is too large or too small.
    pub fn two_product(&mut self, a: Val<'c>, b: Val<'c>) -> Pair<'c> {
        let high = self.mul(a, b);
        let opposite = self.op(ops::arith::NEGF, &[high]);
        let low = self.fma(a, b, opposite);
        Pair { high, low }
    }

    /// `a b`.
    pub fn pair_product(&mut self, a: Pair<'c>, b: Pair<'c>) -> Pair<'c> {
        let Pair { high, low } = self.two_product(a.high, b.high);
        let low = self.fma(a.low, b.high, low);
        let low = self.fma(a.high, b.low, low);
        self.ordered_sum(high, low)
    }

    /// `a + b`, for an `a` that is not much smaller than `b`.
    pub fn pair_sum(&mut self, a: Pair<'c>, b: Pair<'c>) -> Pair<'c> {
        let sum = self.two_sum(a.high, b.high);
        let lows = self.add(a.low, b.low);
        let low = self.add(sum.low, lows);
        self.ordered_sum(sum.high, low)
    }

    /// A constant in two parts.
    pub fn pair(&mut self, [high, low]: [f64; 2]) -> Pair<'c> {
        let (high, low) = (self.number(high), self.number(low));
        Pair { high, low }
    }
}
