//! Racing: a measurement ends as soon as the candidate cannot win.
//!
//! The candidate's samples are compared with the best one's by the test of Mann and Whitney, which
//! asks for nothing but that samples of one kind are alike. It is asked after each sample, so each
//! question gets a part of the probability of error: of question k the part 6 / (pi k)^2, the sum
//! of which is 1. A candidate that is as good as the best is given up with no more than the
//! probability that was asked for, however long the race is.

use std::f64::consts::PI;

/// The usual confidence with which a candidate has lost before its measurement ends.
pub const CONFIDENCE: f64 = 0.95;

/// Decision after a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It may still win: take another sample.
    GoOn,
    /// It cannot win.
    Lost,
}

/// Decides after a sample of the candidate, whose samples are all of those so far.
pub fn decide(best: &[f64], candidate: &[f64], confidence: f64) -> Decision {
    if best.is_empty() || candidate.is_empty() {
        return Decision::GoOn;
    }
    let question = candidate.len() as f64;
    let error = (1.0 - confidence) * 6.0 / (PI * question).powi(2);
    match probability_of_so_slow(best, candidate) <= error {
        true => Decision::Lost,
        false => Decision::GoOn,
    }
}

/// The probability that a candidate like the best one has samples at least this slow: of the
/// number of pairs in which the candidate is the slower one. Equal samples speak for it.
fn probability_of_so_slow(best: &[f64], candidate: &[f64]) -> f64 {
    let pairs = candidate
        .iter()
        .map(|sample| best.iter().filter(|other| sample > other).count());
    let slower: usize = pairs.sum();
    let (m, n) = (best.len(), candidate.len());
    // Up to here the numbers of arrangements are integers that a float holds exactly.
    if m * n > 600 {
        let (m, n) = (m as f64, n as f64);
        let deviation = (m * n * (m + n + 1.0) / 12.0).sqrt();
        return upper_tail((slower as f64 - 0.5 - m * n / 2.0) / deviation);
    }
    let counts = arrangements(m, n);
    let total: f64 = counts.iter().sum();
    counts[slower..].iter().sum::<f64>() / total
}

/// The number of arrangements of m samples of one and n of the other that have 0, 1, .. m n pairs
/// in which the other is the larger: the coefficients of the Gaussian binomial, the product of
/// (1 - q^(m + i)) / (1 - q^i) for i from 1 to n.
fn arrangements(m: usize, n: usize) -> Vec<f64> {
    let last = m * n;
    let mut counts = vec![0.0; last + 1];
    counts[0] = 1.0;
    for i in 1..=n {
        for at in (m + i..=last).rev() {
            counts[at] -= counts[at - m - i];
        }
        for at in i..=last {
            counts[at] += counts[at - i];
        }
    }
    counts
}

/// The probability that a normal variable is above `z` (Abramowitz and Stegun 7.1.26, whose error
/// is below 1.5e-7; beyond 4, where that is too much, the first term of the asymptotic series).
fn upper_tail(z: f64) -> f64 {
    if z < 0.0 {
        return 1.0 - upper_tail(-z);
    }
    if z > 4.0 {
        return (-z * z / 2.0).exp() / (z * (2.0 * PI).sqrt());
    }
    let t = 1.0 / (1.0 + 0.327_591_1 * z / 2f64.sqrt());
    let coefficients = [
        0.254_829_592,
        -0.284_496_736,
        1.421_413_741,
        -1.453_152_027,
        1.061_405_429,
    ];
    let polynomial = coefficients.iter().rev().fold(0.0, |sum, c| (sum + c) * t);
    polynomial * (-z * z / 2.0).exp() / 2.0
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    use super::*;

    #[test]
    fn arrangements_are_those_of_a_listing() {
        // Two and two: aabb abab abba baab baba bbaa.
        assert_eq!(arrangements(2, 2), [1.0, 1.0, 2.0, 1.0, 1.0]);
        assert_eq!(arrangements(3, 1), [1.0; 4]);
        assert_eq!(arrangements(10, 5).iter().sum::<f64>(), 3003.0);
        let p = probability_of_so_slow(&[1.0, 2.0, 3.0], &[4.0, 5.0]);
        assert!((p - 0.1).abs() < 1e-12, "{p}");
    }

    #[test]
    fn the_normal_distribution_is_near_the_exact_one() {
        let best: Vec<f64> = (0..24).map(|n| f64::from(n) * 1.7).collect();
        let candidate: Vec<f64> = (0..25).map(|n| f64::from(n) * 2.0).collect();
        let exact = probability_of_so_slow(&best, &candidate);
        let more: Vec<f64> = candidate.iter().copied().chain([20.1]).collect();
        let normal = probability_of_so_slow(&best, &more);
        assert!((exact - normal).abs() < 0.01, "{exact} {normal}");
        for (z, p) in [
            (0.0, 0.5),
            (1.6449, 0.05),
            (-1.6449, 0.95),
            (3.0902, 0.001),
            (4.2649, 1e-5),
        ] {
            assert!(
                (upper_tail(z) / p - 1.0).abs() < 0.06,
                "{z} {}",
                upper_tail(z)
            );
        }
    }

    /// Samples as times are: a floor, and now and then something on top.
    fn sample(random: &mut Pcg64Mcg, floor: f64) -> f64 {
        let noise: f64 = random.random();
        floor
            * (1.0
                + 0.02 * noise
                + if noise > 0.9 {
                    random.random::<f64>()
                } else {
                    0.0
                })
    }

    /// The number of samples after which a candidate is given up, if it is.
    fn race(random: &mut Pcg64Mcg, floor: f64, confidence: f64) -> Option<usize> {
        let best: Vec<f64> = (0..15).map(|_| sample(random, 1.0)).collect();
        let mut candidate = Vec::new();
        for taken in 1..=15 {
            candidate.push(sample(random, floor));
            if decide(&best, &candidate, confidence) == Decision::Lost {
                return Some(taken);
            }
        }
        None
    }

    #[test]
    fn the_slow_lose_soon_and_equals_hardly_ever() {
        let mut random = Pcg64Mcg::seed_from_u64(7);
        let mut losses = |floor| {
            let races: Vec<Option<usize>> =
                (0..2000).map(|_| race(&mut random, floor, 0.95)).collect();
            let lost: Vec<usize> = races.into_iter().flatten().collect();
            (
                lost.len(),
                lost.iter().sum::<usize>() as f64 / lost.len().max(1) as f64,
            )
        };
        let (equals, _) = losses(1.0);
        assert!(equals < 100, "{equals} of 2000 at 95 %");
        let (slow, samples) = losses(2.0);
        assert!(slow > 1990 && samples < 5.0, "{slow} {samples}");
        let (little, _) = losses(1.03);
        assert!(little > 1000, "{little}");
    }

    #[test]
    fn without_a_best_there_is_no_race() {
        assert_eq!(decide(&[], &[1.0; 9], 0.5), Decision::GoOn);
        assert_eq!(decide(&[1.0; 9], &[], 0.5), Decision::GoOn);
        // Equal samples are no loss.
        assert_eq!(decide(&[1.0; 9], &[1.0; 9], 0.5), Decision::GoOn);
    }
}
