//! The places of a buffer's elements, and exact answers on which of them coincide.
//!
//! Element `i` of a buffer lies at `start + sum of i_d * stride_d` elements. Two elements of one
//! buffer, or one of each of two buffers, share a byte exactly if an equation
//!
//! ```text
//! sum of x_k * step_k = target        0 <= x_k < count_k
//! ```
//!
//! has a solution. Steps that fill each other's gaps become one, two are solved in closed form, and
//! of more the longest is tried out within what the others reach, up to `TRIES` times.

/// Values that are tried at most; what then is not decided counts as shared.
const TRIES: u32 = 10_000;

/// The elements of a buffer.
#[derive(Clone, Copy, Debug)]
pub struct Elements<'a> {
    /// The address of the element whose indices are all 0.
    pub start: i128,
    /// The bytes of an element.
    pub size: u64,
    /// Extent of each axis.
    pub extents: &'a [u64],
    /// The distance of neighbours along each axis, in elements.
    pub strides: &'a [i64],
}

impl Elements<'_> {
    /// The first byte and the one behind the last; `None` of no elements.
    pub fn range(&self) -> Option<(i128, i128)> {
        if self.extents.contains(&0) {
            return None;
        }
        let (mut first, mut last) = (0i128, 0i128);
        for (extent, stride) in self.extents.iter().zip(self.strides) {
            let way = i128::from(extent - 1).saturating_mul(i128::from(*stride));
            first = first.saturating_add(way.min(0));
            last = last.saturating_add(way.max(0));
        }
        let size = i128::from(self.size);
        let at = |offset: i128| offset.saturating_mul(size).saturating_add(self.start);
        Some((at(first), at(last.saturating_add(1))))
    }

    /// Returns whether all elements lie at addresses of 63 bits. The other questions are for these.
    pub fn are_addressable(&self) -> bool {
        let range = self.range();
        range.is_none_or(|(first, end)| first >= 0 && end <= i128::from(i64::MAX))
    }

    /// Returns whether no two elements are in one place.
    pub fn are_apart(&self) -> bool {
        if self.extents.contains(&0) || self.are_nested() {
            return true;
        }
        // The first axis in which two indices differ is `k`; the second index is the larger one
        // there.
        (0..self.extents.len()).all(|k| {
            let mut target = -i128::from(self.strides[k]);
            let mut terms = vec![Term::new(self.strides[k], self.extents[k] - 1)];
            for (stride, extent) in self.strides.iter().zip(self.extents).skip(k + 1) {
                terms.push(Term::new(*stride, 2 * extent - 1));
                target += i128::from(*stride) * i128::from(extent - 1);
            }
            self.extents[k] == 1 || !may_solve(terms, target)
        })
    }

    /// Returns whether each axis steps over all that the shorter steps reach: the usual case, without an
    /// equation.
    fn are_nested(&self) -> bool {
        let mut below = 0u128;
        let mut done = 0;
        let axes = || {
            self.extents
                .iter()
                .zip(self.strides)
                .filter(|(n, _)| **n > 1)
        };
        while let Some((stride, extent)) = axes()
            .map(|(n, stride)| (stride.unsigned_abs(), *n))
            .filter(|(stride, _)| u128::from(*stride) > below)
            .min()
        {
            below += u128::from(stride) * u128::from(extent - 1);
            done += 1;
        }
        done == axes().count()
    }

    /// Returns whether an element of one and an element of the other share a byte.
    pub fn overlap(&self, other: &Elements) -> bool {
        let (Some((first, end)), Some((others, others_end))) = (self.range(), other.range()) else {
            return false;
        };
        if end <= others || others_end <= first {
            return false;
        }
        // The bytes of two elements meet if the second is less than its size before the first, or
        // less than the first one's size behind it.
        let mut terms = vec![Term::new(-1, self.size + other.size - 1)];
        for (of, sign) in [(self, 1), (other, -1)] {
            let steps = of.strides.iter().zip(of.extents);
            terms.extend(steps.map(|(stride, extent)| Term {
                step: sign * i128::from(*stride) * i128::from(of.size),
                count: i128::from(*extent),
            }));
        }
        may_solve(terms, other.start - self.start - i128::from(self.size) + 1)
    }
}

/// `x * step` for an `x` from 0 to `count - 1`.
#[derive(Clone, Copy, Debug)]
struct Term {
    step: i128,
    count: i128,
}

impl Term {
    fn new(stride: i64, count: u64) -> Term {
        Term {
            step: i128::from(stride),
            count: i128::from(count),
        }
    }

    /// The largest value.
    fn reach(self) -> i128 {
        self.step * (self.count - 1)
    }
}

/// Returns whether the terms may have that sum.
fn may_solve(mut terms: Vec<Term>, mut target: i128) -> bool {
    terms.retain(|term| term.count > 1 && term.step != 0);
    for term in &mut terms {
        if term.step < 0 {
            target -= term.reach();
            term.step = -term.step;
        }
    }
    terms.sort_unstable_by_key(|term| term.step);
    let mut merged: Vec<Term> = Vec::new();
    for term in terms {
        // The sums of both are all multiples of the shorter step.
        let last = merged
            .last_mut()
            .filter(|last| term.step % last.step == 0 && term.step / last.step <= last.count);
        match last {
            Some(last) => last.count += term.reach() / last.step,
            None => merged.push(term),
        }
    }
    merged.reverse();
    search(&merged, target, &mut TRIES.clone())
}

/// The same of positive steps, the longest first.
fn search(terms: &[Term], target: i128, tries: &mut u32) -> bool {
    let reach: i128 = terms.iter().map(|term| term.reach()).sum();
    let divisor = terms
        .iter()
        .fold(0, |divisor, term| gcd(divisor, term.step));
    if target < 0 || target > reach || divisor != 0 && target % divisor != 0 {
        return false;
    }
    let [first, rest @ ..] = terms else {
        return true; // 0 is in reach only
    };
    let behind = reach - first.reach();
    let least = (target - behind + first.step - 1).max(0) / first.step;
    let most = (target / first.step).min(first.count - 1);
    match rest {
        [] => true,
        [second] => {
            // first.step * x = target, modulo second.step
            let (a, m) = (first.step / divisor, second.step / divisor);
            let x = target / divisor % m * inverse(a, m) % m;
            let next = least + (x - least).rem_euclid(m);
            next <= most
        }
        _ => (least..=most).any(|x| {
            *tries = tries.saturating_sub(1);
            *tries == 0 || search(rest, target - x * first.step, tries)
        }),
    }
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The inverse of `a` modulo `m`, which have no common divisor.
fn inverse(a: i128, m: i128) -> i128 {
    let (mut r, mut next) = (m, a % m);
    let (mut t, mut factor) = (0i128, 1i128);
    while next != 0 {
        let quotient = r / next;
        (r, next) = (next, r - quotient * next);
        (t, factor) = (factor, t - quotient * factor);
    }
    t.rem_euclid(m)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    type Shape = Vec<(u64, i64)>;

    fn split(shape: &[(u64, i64)]) -> (Vec<u64>, Vec<i64>) {
        shape.iter().copied().unzip()
    }

    /// The bytes of each element, one by one.
    fn elements(start: i128, size: u64, shape: &[(u64, i64)]) -> Vec<Vec<i128>> {
        let mut offsets = vec![0i128];
        for (extent, stride) in shape {
            let along = |o: &i128| -> Vec<i128> {
                let steps = 0..i128::from(*extent);
                steps.map(|i| o + i * i128::from(*stride)).collect()
            };
            offsets = offsets.iter().flat_map(along).collect();
        }
        let bytes = |o: i128| {
            let first = start + o * i128::from(size);
            (first..first + i128::from(size)).collect()
        };
        offsets.into_iter().map(bytes).collect()
    }

    fn shapes() -> impl Strategy<Value = Shape> {
        prop::collection::vec((0..5u64, -13..14i64), 0..5)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn elements_are_apart_exactly_if_all_places_differ(shape in shapes()) {
            let (extents, strides) = split(&shape);
            let layout = Elements { start: 1000, size: 1, extents: &extents, strides: &strides };
            let places = elements(1000, 1, &shape);
            let different: HashSet<_> = places.iter().collect();
            prop_assert_eq!(layout.are_apart(), places.len() == different.len());
        }

        #[test]
        fn buffers_overlap_exactly_if_they_share_a_byte(
            a in shapes(), b in shapes(), distance in -60..60i128, sizes in 0..9usize
        ) {
            let (size, other) = ([1, 2, 4][sizes % 3], [1, 4, 8][sizes / 3]);
            let ((ea, sa), (eb, sb)) = (split(&a), split(&b));
            let first = Elements { start: 1000, size, extents: &ea, strides: &sa };
            let start = 1000 + distance;
            let two = Elements { start, size: other, extents: &eb, strides: &sb };
            let bytes: HashSet<i128> = elements(1000, size, &a).into_iter().flatten().collect();
            let mut addresses = elements(start, other, &b).into_iter().flatten();
            prop_assert_eq!(first.overlap(&two), addresses.any(|byte| bytes.contains(&byte)));
        }
    }

    #[test]
    fn large_buffers_are_decided_too() {
        let apart = |shape: &[(u64, i64)]| {
            let (extents, strides) = split(shape);
            let elements = Elements {
                start: 0,
                size: 4,
                extents: &extents,
                strides: &strides,
            };
            elements.are_addressable() && elements.are_apart()
        };
        assert!(apart(&[(1 << 20, 1 << 20), (1 << 20, 1)]));
        assert!(!apart(&[(1 << 20, (1 << 20) - 1), (1 << 20, 1)]));
        // 3 i + 2 j = 3 i' + 2 j' needs i - i' to be even.
        assert!(apart(&[(2, 3), (1 << 40, 2)]));
        assert!(!apart(&[(3, 3), (1 << 40, 2)]));
        assert!(!apart(&[(4, 0)]));
        assert!(!apart(&[(2, i64::MAX)]));
        assert!(apart(&[(1, i64::MIN), (3, 1)]));
    }

    #[test]
    fn columns_of_one_matrix_are_apart() {
        let columns = |at: i128| Elements {
            start: 4096 + 4 * at,
            size: 4,
            extents: &[1 << 30, 3],
            strides: &[8, 1],
        };
        assert!(!columns(0).overlap(&columns(3)));
        assert!(columns(0).overlap(&columns(2)));
        assert!(columns(0).overlap(&columns(7)));
        assert!(!columns(0).overlap(&columns(5)));
    }
}
