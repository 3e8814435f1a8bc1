//! Intervals of integers, and what sums, products and quotients make of them.
//!
//! Every function is an outer bound: the result holds all values that the operation has for
//! operands in the intervals. Ends beyond [`INFINITE`] are infinite.

/// All integers from `min` to `max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Interval {
    /// No value is below.
    pub min: i128,
    /// No value is above.
    pub max: i128,
}

/// As good as infinite: larger than any 64-bit number, small enough to add two of them.
pub const INFINITE: i128 = 1 << 100;

impl Interval {
    /// All integers.
    pub const ALL: Interval = Interval {
        min: -INFINITE,
        max: INFINITE,
    };

    /// One value.
    pub fn exactly(value: i64) -> Interval {
        Interval::new(value.into(), value.into())
    }

    /// From `min` on.
    pub fn from(min: i64) -> Interval {
        Interval::new(min.into(), INFINITE)
    }

    /// From `min` to `max`, both included.
    pub fn new(min: i128, max: i128) -> Interval {
        Interval {
            min: min.clamp(-INFINITE, INFINITE),
            max: max.clamp(-INFINITE, INFINITE),
        }
    }

    /// The value, if there is only one.
    pub fn constant(self) -> Option<i64> {
        let value = i64::try_from(self.min).ok();
        value.filter(|_| self.min == self.max)
    }

    /// Returns whether the value is in it.
    pub fn contains(self, value: i64) -> bool {
        (self.min..=self.max).contains(&value.into())
    }

    /// Returns what lies in both; `None` if nothing does.
    pub fn meet(self, other: Interval) -> Option<Interval> {
        let (min, max) = (self.min.max(other.min), self.max.min(other.max));
        (min <= max).then_some(Interval { min, max })
    }

    /// The smallest that has both in it.
    pub fn join(self, other: Interval) -> Interval {
        Interval::new(self.min.min(other.min), self.max.max(other.max))
    }

    /// The integer square roots.
    pub fn isqrt(self) -> Interval {
        let root = |v: i128| if v >= INFINITE { v } else { v.max(0).isqrt() };
        Interval::new(root(self.min), root(self.max))
    }

    /// The sums.
    pub fn plus(self, other: Interval) -> Interval {
        Interval::new(self.min + other.min, self.max + other.max)
    }

    /// The differences.
    pub fn minus(self, other: Interval) -> Interval {
        Interval::new(self.min - other.max, self.max - other.min)
    }

    /// The products.
    pub fn times(self, other: Interval) -> Interval {
        Interval::of_corners(self, other, times)
    }

    /// The quotients, rounded down; divisors count from 1.
    pub fn divided(self, by: Interval) -> Interval {
        Interval::of_corners(self, by.positive(), divide)
    }

    /// Their remainders.
    pub fn modulo(self, by: Interval) -> Interval {
        let b = by.positive();
        if self.min >= 0 && self.max < b.min {
            return self;
        }
        if b.min == b.max && divide(self.min, b.min) == divide(self.max, b.min) {
            let start = divide(self.min, b.min) * b.min;
            return Interval::new(self.min - start, self.max - start);
        }
        let rest = b.max - 1;
        Interval::new(
            0,
            if self.min >= 0 {
                rest.min(self.max)
            } else {
                rest
            },
        )
    }

    fn positive(self) -> Interval {
        Interval::new(self.min.max(1), self.max.max(1))
    }

    fn of_corners(a: Interval, b: Interval, f: fn(i128, i128) -> i128) -> Interval {
        let corners = [
            f(a.min, b.min),
            f(a.min, b.max),
            f(a.max, b.min),
            f(a.max, b.max),
        ];
        let min = corners.iter().copied().fold(INFINITE, i128::min);
        let max = corners.iter().copied().fold(-INFINITE, i128::max);
        Interval::new(min, max)
    }
}

fn times(a: i128, b: i128) -> i128 {
    let sign = a.signum() * b.signum();
    a.checked_mul(b).unwrap_or(sign * INFINITE)
}

/// Floor division, where infinite divided by something finite is infinite.
fn divide(a: i128, b: i128) -> i128 {
    match a.abs() >= INFINITE {
        true if b < INFINITE => a,
        _ => a.div_euclid(b),
    }
}
