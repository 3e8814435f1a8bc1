//! Holding results against their reference.

use std::collections::BTreeSet;
use std::fmt;

use crate::domain::{Grid, points};
use crate::oracle::Element;
use crate::random::Random;
use crate::scalar::Scalar;

/// The first element that is wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    /// Its index in the array.
    pub index: Vec<i64>,
    /// The computed value.
    pub found: Scalar,
    /// The expected value, and the permitted distance from it.
    pub expected: Element,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mismatch {
            index,
            found,
            expected,
        } = self;
        write!(
            f,
            "at {index:?}: found {found}, expected {}",
            expected.value
        )?;
        if expected.error > 0.0 {
            write!(f, " within {:e}", expected.error)?;
        }
        Ok(())
    }
}

/// The outcome of comparing elements.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Comparison {
    /// Number of compared elements.
    pub points: u64,
    /// Of these, how many have no right value (never written, or the index of an arg-max between
    /// values that are as good as equal): anything passes.
    pub arbitrary: u64,
    /// Of how many the bound tells what is right from zero: see [`Element::differs_from_zero`].
    pub told: u64,
    /// Number of wrong elements.
    pub mismatches: u64,
    /// The largest difference; infinite if a finite value meets an infinity or NaN. Elements
    /// without a right value do not count.
    pub max_abs_error: f64,
    /// The largest difference relative to the expected value; infinite if that is 0 and the one
    /// found is not.
    pub max_rel_error: f64,
    /// The first wrong element.
    pub first: Option<Mismatch>,
}

impl Comparison {
    /// Returns whether all are right.
    pub fn passed(&self) -> bool {
        self.mismatches == 0
    }

    /// Returns whether zeros would pass as most elements: as elements that are never written, or
    /// that cancel where they must not.
    pub fn is_weak(&self) -> bool {
        2 * self.told < self.points
    }

    /// Compares one more element. NaN is right where NaN is expected, infinities are where the
    /// same is; `-0.0` equals `0.0`.
    pub fn add(&mut self, index: &[i64], found: Scalar, expected: Element) {
        self.points += 1;
        self.told += u64::from(expected.differs_from_zero());
        if expected.error.is_infinite() && found.ty == expected.value.ty {
            self.arbitrary += 1;
            return;
        }
        if found.same_value(expected.value) {
            return;
        }
        let (x, y) = (found.as_f64(), expected.value.as_f64());
        // Integers of 64 bits that differ may be one float.
        let off = match found.ty.is_float() || expected.value.ty.is_float() {
            true => (x - y).abs(),
            false => {
                let [x, y] = [found, expected.value].map(|value| i128::from(value.as_i64()));
                (x - y).unsigned_abs() as f64
            }
        };
        let off = if off.is_nan() { f64::INFINITY } else { off };
        self.max_abs_error = self.max_abs_error.max(off);
        let relative = off / y.abs();
        let relative = if relative.is_nan() {
            f64::INFINITY
        } else {
            relative
        };
        self.max_rel_error = self.max_rel_error.max(relative);
        // What may be larger than the largest float may be infinite.
        let overflow = x.is_infinite() && y.is_finite() && y.signum() == x.signum();
        let largest = y.abs() + expected.error;
        let right = off <= expected.error || (overflow && largest > found.ty.max_finite());
        if right && found.ty == expected.value.ty {
            return;
        }
        self.mismatches += 1;
        if self.first.is_none() {
            self.first = Some(Mismatch {
                index: index.to_vec(),
                found,
                expected,
            });
        }
    }

    /// Both together; the first wrong element stays the first.
    pub fn merge(&mut self, other: &Comparison) {
        self.points += other.points;
        self.arbitrary += other.arbitrary;
        self.told += other.told;
        self.mismatches += other.mismatches;
        self.max_abs_error = self.max_abs_error.max(other.max_abs_error);
        self.max_rel_error = self.max_rel_error.max(other.max_rel_error);
        if self.first.is_none() {
            self.first = other.first.clone();
        }
    }
}

/// Compares elements, each with its index, its found and its expected value.
pub fn compare(elements: impl IntoIterator<Item = (Vec<i64>, Scalar, Element)>) -> Comparison {
    let mut comparison = Comparison::default();
    for (index, found, expected) in elements {
        comparison.add(&index, found, expected);
    }
    comparison
}

/// About `count` different indices of a tensor of this shape, sorted: corners, points on borders,
/// and random ones. All of them if there are no more than `count`; none of an empty tensor.
pub fn sample_points(shape: &[i64], seed: u64, count: usize) -> Vec<Vec<i64>> {
    let total = shape.iter().map(|n| (*n).max(0) as f64).product::<f64>();
    if total <= count as f64 {
        let grids: Vec<Grid> = shape.iter().map(|n| Grid::dense(*n)).collect();
        return points(&grids).collect();
    }
    let mut random = Random::new(seed);
    let mut chosen = BTreeSet::new();
    // Corners, as many as half of the points allow.
    let corners = 1u64.checked_shl(shape.len() as u32).unwrap_or(u64::MAX);
    for corner in 0..corners.min(count as u64 / 2) {
        let bits = (0..).map(|d| corner.checked_shr(d).unwrap_or(0) & 1);
        let ends = shape.iter().zip(bits);
        chosen.insert(
            ends.map(|(n, bit)| if bit == 1 { n - 1 } else { 0 })
                .collect(),
        );
    }
    for attempt in 0..4 * count {
        if chosen.len() >= count {
            break;
        }
        let mut index: Vec<i64> = shape
            .iter()
            .map(|n| random.below(*n as u64) as i64)
            .collect();
        // Every third one is on a border.
        if attempt % 3 == 0 && !shape.is_empty() {
            let d = random.below(shape.len() as u64) as usize;
            index[d] = if random.below(2) == 0 {
                0
            } else {
                shape[d] - 1
            };
        }
        chosen.insert(index);
    }
    chosen.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::ScalarType::{self, F32, I32};

    fn one(found: f64, expected: f64, error: f64, ty: ScalarType) -> Comparison {
        let value = Scalar::from_f64(ty, expected);
        let element = Element { value, error };
        compare([(vec![3], Scalar::from_f64(ty, found), element)])
    }

    #[test]
    fn bounds_decide() {
        assert!(one(1.0, 1.0, 0.0, F32).passed());
        assert!(one(1.25, 1.0, 0.5, F32).passed());
        let wrong = one(2.0, 1.0, 0.5, F32);
        assert!(!wrong.passed());
        assert_eq!((wrong.max_abs_error, wrong.max_rel_error), (1.0, 1.0));
        let text = wrong.first.unwrap().to_string();
        assert_eq!(text, "at [3]: found 2.0, expected 1.0 within 5e-1");
        assert!(!one(2.0, 1.0, 0.0, I32).passed());
        let [found, value] = [i64::MIN, i64::MIN + 1].map(|n| Scalar::from_i64(ScalarType::I64, n));
        let last_bit = Element { value, error: 0.0 };
        assert!(!compare([(vec![0], found, last_bit)]).passed());
    }

    /// No multiple of 0 is another number: the relative error is infinite, and never 0.
    #[test]
    fn nothing_was_expected() {
        let wrong = one(4.0, 0.0, 0.0, I32);
        assert_eq!(
            (wrong.max_abs_error, wrong.max_rel_error),
            (4.0, f64::INFINITY)
        );
        assert_eq!(one(1e-9, 0.0, 1e-8, F32).max_rel_error, f64::INFINITY);
        assert_eq!(one(-0.0, 0.0, 0.0, F32).max_rel_error, 0.0);
        assert_eq!(
            one(1.0, f64::INFINITY, 0.0, F32).max_rel_error,
            f64::INFINITY
        );
    }

    #[test]
    fn nan_and_infinities() {
        let (nan, inf) = (f64::NAN, f64::INFINITY);
        assert!(one(nan, nan, 0.0, F32).passed());
        assert!(one(inf, inf, 0.0, F32).passed());
        assert!(!one(inf, -inf, 1.0, F32).passed());
        assert!(!one(nan, 1.0, 1.0, F32).passed());
        assert!(!one(1.0, nan, 1.0, F32).passed());
        assert!(!one(inf, 1.0, 1.0, F32).passed());
        assert!(one(-0.0, 0.0, 0.0, F32).passed());
        assert!(one(inf, 3.4e38, 1e37, F32).passed(), "may overflow");
        let arbitrary = one(nan, 1.0, inf, F32);
        assert!(arbitrary.passed() && arbitrary.arbitrary == 1);
    }

    /// A bound that is as large as the value says nothing.
    #[test]
    fn zeros_are_told_by_bounds_below_an_eighth() {
        let told = |value, error, ty| one(value, value, error, ty).told;
        assert_eq!(told(8.0, 1.0, F32), 1);
        assert_eq!(told(-8.0, 1.0, F32), 1);
        assert_eq!(told(8.0, 1.1, F32), 0);
        assert_eq!(told(1.0, f64::INFINITY, F32), 0);
        assert_eq!(told(0.0, 0.0, F32), 0);
        assert_eq!((told(3.0, 0.0, I32), told(0.0, 0.0, I32)), (1, 0));
        assert_eq!(told(f64::NAN, 0.0, F32), 1);
        let mut merged = one(8.0, 8.0, 1.0, F32);
        assert!(!merged.is_weak());
        merged.merge(&one(8.0, 8.0, 2.0, F32));
        assert!(!merged.is_weak());
        merged.merge(&one(8.0, 8.0, 2.0, F32));
        assert!(merged.is_weak());
        assert!(!Comparison::default().is_weak());
    }

    #[test]
    fn merging_keeps_the_first() {
        let mut merged = one(1.0, 1.0, 0.0, F32);
        merged.merge(&one(5.0, 1.0, 0.0, F32));
        merged.merge(&one(9.0, 1.0, 0.0, F32));
        assert_eq!(
            (merged.points, merged.mismatches, merged.max_abs_error),
            (3, 2, 8.0)
        );
        assert_eq!(merged.first.unwrap().found.as_f64(), 5.0);
    }

    #[test]
    fn samples() {
        assert_eq!(sample_points(&[2, 2], 0, 10).len(), 4);
        assert_eq!(sample_points(&[], 0, 10), [Vec::<i64>::new()]);
        assert_eq!(sample_points(&[0, 5], 0, 10).len(), 0);
        let some = sample_points(&[1000, 1 << 40], 7, 50);
        assert_eq!(some.len(), 50);
        assert!(some.contains(&vec![0, 0]) && some.contains(&vec![999, (1 << 40) - 1]));
        assert!(some.iter().all(|p| p[0] < 1000 && p[1] < 1 << 40));
        assert_eq!(some, sample_points(&[1000, 1 << 40], 7, 50));
        assert!(sample_points(&[3; 70], 1, 20).len() == 20);
    }
}
