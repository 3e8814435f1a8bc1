//! A forest of regression trees, with how far its trees disagree.
//!
//! The trees are smartcore's. Each is a forest of one there, since the disagreement of trees, which
//! tells where little is known, is not given of a larger one.

use smartcore::ensemble::random_forest_regressor::{
    RandomForestRegressor, RandomForestRegressorParameters,
};
use smartcore::linalg::basic::matrix::DenseMatrix;

use crate::error::{Error, Result};

type OneTree = RandomForestRegressor<f64, f64, DenseMatrix<f64>, Vec<f64>>;

/// A forest of regression trees.
pub(crate) struct Forest {
    trees: Vec<OneTree>,
}

/// A prediction: mean and standard deviation of what the trees say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Prediction {
    pub(crate) mean: f64,
    pub(crate) deviation: f64,
}

impl Forest {
    /// A forest that has learned the targets of these rows, all of one length, at least one.
    pub(crate) fn fit(
        rows: &[Vec<f64>],
        targets: &[f64],
        count: usize,
        seed: u64,
    ) -> Result<Forest> {
        let features = rows.first().map_or(0, Vec::len);
        let matrix = matrix(rows)?;
        let targets = targets.to_vec();
        let tree = |n: usize| {
            let parameters = RandomForestRegressorParameters::default()
                .with_n_trees(1)
                .with_m((2 * features).div_ceil(3).max(1))
                .with_min_samples_leaf(1)
                .with_min_samples_split(3)
                .with_seed(seed.wrapping_add(n as u64));
            OneTree::fit(&matrix, &targets, parameters).map_err(failed)
        };
        Ok(Forest {
            trees: (0..count.max(1)).map(tree).collect::<Result<_>>()?,
        })
    }

    /// Predictions for rows.
    pub(crate) fn predict(&self, rows: &[Vec<f64>]) -> Result<Vec<Prediction>> {
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let matrix = matrix(rows)?;
        let (mut sums, mut squares) = (vec![0.0; rows.len()], vec![0.0; rows.len()]);
        for tree in &self.trees {
            let said = tree.predict(&matrix).map_err(failed)?;
            for (row, said) in said.into_iter().enumerate() {
                sums[row] += said;
                squares[row] += said * said;
            }
        }
        let n = self.trees.len() as f64;
        let both = sums.iter().zip(&squares);
        Ok(both
            .map(|(sum, square)| {
                let mean = sum / n;
                Prediction {
                    mean,
                    deviation: (square / n - mean * mean).max(0.0).sqrt(),
                }
            })
            .collect())
    }

    /// The share of the variance that each feature's splits take away, on average; the sum is 1,
    /// or 0 if there is nothing to explain.
    pub(crate) fn importance(&self) -> Result<Vec<f64>> {
        let mut sums: Vec<f64> = Vec::new();
        for tree in &self.trees {
            let shares = tree.compute_feature_importances().map_err(failed)?;
            sums.resize(shares.len(), 0.0);
            for (sum, share) in sums.iter_mut().zip(shares) {
                *sum += if share.is_finite() { share } else { 0.0 };
            }
        }
        let total: f64 = sums.iter().sum();
        Ok(sums
            .into_iter()
            .map(|sum| if total > 0.0 { sum / total } else { 0.0 })
            .collect())
    }
}

fn matrix(rows: &[Vec<f64>]) -> Result<DenseMatrix<f64>> {
    DenseMatrix::from_2d_vec(&rows.to_vec()).map_err(failed)
}

fn failed(error: smartcore::error::Failed) -> Error {
    Error::bug(format!("the forest: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> (Vec<Vec<f64>>, Vec<f64>) {
        let rows: Vec<Vec<f64>> = (0..60)
            .map(|n| vec![f64::from(n % 10), f64::from(n / 10), f64::from((n * 7) % 3)])
            .collect();
        let targets = rows.iter().map(|row| 10.0 * row[0] + row[1]).collect();
        (rows, targets)
    }

    #[test]
    fn a_forest_learns_and_says_what_matters() {
        let (rows, targets) = rows();
        let forest = Forest::fit(&rows, &targets, 20, 3).unwrap();
        let said = forest.predict(&rows).unwrap();
        let error: f64 = said
            .iter()
            .zip(&targets)
            .map(|(p, t)| (p.mean - t).powi(2))
            .sum();
        assert!((error / 60.0).sqrt() < 5.0, "{error}");
        assert!(said.iter().any(|p| p.deviation > 0.0));
        let shares = forest.importance().unwrap();
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        assert!(shares[0] > 0.8 && shares[2] < 0.05, "{shares:?}");
    }

    #[test]
    fn a_seed_decides() {
        let (rows, targets) = rows();
        let predicted = |seed| {
            Forest::fit(&rows, &targets, 5, seed)
                .unwrap()
                .predict(&rows)
                .unwrap()
        };
        assert_eq!(predicted(1), predicted(1));
        assert_ne!(predicted(1), predicted(2));
        assert_eq!(predicted(1).len(), 60);
    }

    #[test]
    fn one_row_is_enough() {
        let forest = Forest::fit(&[vec![1.0]], &[5.0], 3, 0).unwrap();
        assert_eq!(forest.predict(&[vec![9.0]]).unwrap()[0].mean, 5.0);
        assert_eq!(forest.importance().unwrap(), [0.0]);
    }
}
