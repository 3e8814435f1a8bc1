//! Medians and their confidence intervals: order statistics, which assume nothing of how times are
//! distributed.

/// A median with its 99 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Median {
    /// The median.
    pub value: f64,
    /// Between which two samples the true median lies, with a probability of at least 99 %;
    /// `None` if there are too few samples to say.
    pub interval: Option<(f64, f64)>,
}

impl Median {
    /// The median of samples, of which there is at least one.
    pub fn new(samples: &[f64]) -> Median {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (middle, last) = (sorted.len() / 2, sorted.len().saturating_sub(1));
        let at = |n: usize| sorted.get(n).copied().unwrap_or(f64::NAN);
        let interval = rank(sorted.len()).map(|low| (at(low), at(last - low)));
        Median {
            value: (at(last - middle) + at(middle)) / 2.0,
            interval,
        }
    }

    /// Half the width of the interval, as a fraction of the median.
    pub fn spread(&self) -> Option<f64> {
        self.interval
            .map(|(low, high)| (high - low) / 2.0 / self.value)
    }
}

/// The largest `r` for which samples number `r` and `n - 1 - r` (in order, from 0) enclose the
/// median with 99 %: fewer than `r + 1` of `n` fair coins show heads in at most 0.5 % of all cases.
fn rank(n: usize) -> Option<usize> {
    let mut term = 0.5f64.powi(i32::try_from(n).unwrap_or(i32::MAX));
    if term == 0.0 {
        // Beyond a thousand samples the binomial distribution is a normal one.
        let r = (n as f64 / 2.0 - 2.576 * (n as f64).sqrt() / 2.0).floor();
        return Some(r as usize);
    }
    let mut below = 0.0;
    let mut best = None;
    for r in 0..n / 2 {
        below += term;
        if below > 0.005 {
            break;
        }
        best = Some(r);
        term *= (n - r) as f64 / (r + 1) as f64;
    }
    best
}

/// The geometric mean of positive numbers; `None` of none.
pub fn geometric_mean(numbers: impl IntoIterator<Item = f64>) -> Option<f64> {
    let logarithms: Vec<f64> = numbers.into_iter().map(f64::ln).collect();
    let sum: f64 = logarithms.iter().sum();
    (!logarithms.is_empty()).then(|| (sum / logarithms.len() as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_those_of_the_tables() {
        // Nonparametric tables (Conover, "Practical nonparametric statistics", A3), from 0 here.
        let ranks = [
            (7, None),
            (8, Some(0)),
            (11, Some(0)),
            (12, Some(1)),
            (20, Some(3)),
            (50, Some(15)),
        ];
        for (n, expected) in ranks {
            assert_eq!(rank(n), expected, "{n}");
        }
        let (exact, normal) = (rank(1000).unwrap(), 500.0 - 2.576 * 1000f64.sqrt() / 2.0);
        assert!((exact as f64 - normal).abs() <= 1.5, "{exact} {normal}");
        assert!(rank(2000).unwrap() > 900);
    }

    #[test]
    fn medians() {
        let few = Median::new(&[3.0, 1.0, 2.0, 10.0]);
        assert_eq!((few.value, few.interval, few.spread()), (2.5, None, None));
        let samples: Vec<f64> = (0..12).map(|n| f64::from((n * 5) % 12)).collect();
        let median = Median::new(&samples);
        assert_eq!((median.value, median.interval), (5.5, Some((1.0, 10.0))));
    }

    #[test]
    fn means() {
        assert_eq!(geometric_mean([]), None);
        assert!((geometric_mean([2.0, 8.0]).unwrap() - 4.0).abs() < 1e-12);
    }
}
