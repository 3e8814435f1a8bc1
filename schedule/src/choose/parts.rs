//! The counts that parts of dimensions may have in a space of schedules.
//!
//! | | those of the model | all |
//! |---|---|---|
//! | unrolled parts | up to 16 whose results fit the registers | up to 64 whose results fit twice as many |
//! | blocks of a tile, on a CPU | up to 32, then steps of a sixteenth; one in eight lies outside at most | up to 256, then steps of a sixty-fourth, and divisors; any share may |
//! | cores | divisors of their number; all share a computation, or none | any of them |
//! | parts of a GPU's blocks and threads | powers of two | three times these, too, and divisors of the dimension |

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use super::knobs::SearchedParts;

/// The largest dimension whose divisors are looked for.
const DIVIDED: i64 = 1 << 24;

impl SearchedParts {
    /// Unrolled parts of a dimension.
    pub(super) fn unrolled(self) -> RangeInclusive<i64> {
        match self {
            SearchedParts::Model => 1..=16,
            SearchedParts::All => 1..=64,
        }
    }

    /// Times the registers that unrolled results may take.
    pub(super) fn registers(self) -> i64 {
        match self {
            SearchedParts::Model => 1,
            SearchedParts::All => 2,
        }
    }

    /// Blocks of a tile of a dimension that has so many, ascending: at least two, in two tiles at least.
    pub(super) fn blocks(self, size: i64) -> Vec<i64> {
        let most = size / 2;
        match self {
            SearchedParts::Model => steps(most, 16).collect(),
            SearchedParts::All => {
                let counts = steps(most, 16).chain(steps(most, 64)).chain(divisors(size));
                let counts: BTreeSet<i64> = counts.chain(2..=most.min(256)).collect();
                let counts = counts.into_iter();
                counts.filter(|n| (2..=most).contains(n)).collect()
            }
        }
    }

    /// Returns whether so many blocks may lie outside of a dimension that has `all`: one in eight.
    pub(super) fn may_waste(self, outside: i64, all: i64) -> bool {
        self == SearchedParts::All || outside <= all / 8
    }

    /// Cores that may share a dimension with so many points.
    pub(super) fn cores(self, cores: i64, size: i64) -> Vec<i64> {
        let counts = (1..=cores).filter(|n| *n <= size);
        counts
            .filter(|n| self == SearchedParts::All || cores % n == 0)
            .collect()
    }

    /// Returns whether dimensions may be shared by so many cores together, of which there are `cores`; if it
    /// `is_last`, no other dimension is.
    pub(super) fn may_share(self, shared: i64, cores: i64, is_last: bool) -> bool {
        match self {
            SearchedParts::Model => {
                cores % shared == 0 && (!is_last || shared == 1 || shared == cores)
            }
            SearchedParts::All => shared <= cores,
        }
    }

    /// Parts of a GPU's blocks and threads, from 1 to a number; `size` is that of the dimension, if they are of one.
    pub(super) fn powers(self, most: i64, size: Option<i64>) -> Vec<i64> {
        let twice = |n: &i64| n.checked_mul(2);
        let upto =
            |first: i64| std::iter::successors(Some(first), twice).take_while(|n| *n <= most);
        if self == SearchedParts::Model {
            return upto(1).collect();
        }
        let divisors = size.into_iter().flat_map(divisors);
        let divisors = divisors.filter(|n| *n <= most);
        let counts: BTreeSet<i64> = upto(1).chain(upto(3)).chain(divisors).collect();
        counts.into_iter().collect()
    }
}

/// Counts from two up to a number: all small ones, then steps of so small a part.
fn steps(most: i64, part: i64) -> impl Iterator<Item = i64> {
    let next = move |n: &i64| n.checked_add((n / part).max(1));
    std::iter::successors(Some(2), next).take_while(move |n| *n <= most)
}

/// The divisors of a number, if it is none of the largest.
fn divisors(number: i64) -> Vec<i64> {
    if number > DIVIDED {
        return Vec::new();
    }
    let small = (1..).take_while(|n| n * n <= number);
    let pairs = small.filter(|n| number % n == 0);
    pairs.flat_map(|n| [n, number / n]).collect()
}

#[cfg(test)]
mod tests {
    use super::SearchedParts::{All, Model};

    /// Checks: all have what the model has, all small counts, and every divisor.
    #[test]
    fn all_have_more() {
        for size in [1, 2, 3, 7, 100, 1000, 4096, 99991] {
            let blocks = All.blocks(size);
            assert!(blocks.is_sorted() && blocks.iter().all(|n| (2..=size / 2).contains(n)));
            assert!(
                Model.blocks(size).iter().all(|n| blocks.contains(n)),
                "{size}"
            );
            assert!(
                (2..=(size / 2).min(256)).all(|n| blocks.contains(&n)),
                "{size}"
            );
            let divides = |n: &i64| size % n == 0;
            assert!(
                (2..=size / 2).filter(divides).all(|n| blocks.contains(&n)),
                "{size}"
            );
            let powers = All.powers(1024, Some(size));
            assert!(powers.is_sorted());
            assert!(
                Model
                    .powers(1024, Some(size))
                    .iter()
                    .all(|n| powers.contains(n))
            );
            assert!(
                (1..=size.min(1024))
                    .filter(divides)
                    .all(|n| powers.contains(&n))
            );
        }
        assert_eq!(Model.powers(20, Some(10)), [1, 2, 4, 8, 16]);
        assert_eq!(All.powers(20, Some(10)), [1, 2, 3, 4, 5, 6, 8, 10, 12, 16]);
        assert_eq!(Model.cores(6, 4), [1, 2, 3]);
        assert_eq!(All.cores(6, 4), [1, 2, 3, 4]);
        assert!(Model.blocks(1 << 40).len() < 1000 && All.blocks(1 << 40).len() < 3000);
    }
}
