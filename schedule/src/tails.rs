//! Code for points that do not fill a tile: as it is written, and where it is not.

use std::collections::BTreeMap;

use super::names::{Names, Spot};
use super::numbers::Count;
use super::resolved::PerLevel;
use super::schedule_path::SchedulePath;
use crate::schedule::TailCode;

impl Names<'_> {
    /// Default: the first two dimensions that may have a tail are peeled, others masked.
    pub(super) fn tails(
        &mut self,
        written: &BTreeMap<String, TailCode>,
        counts: &PerLevel<Count>,
        points: &[Option<i64>],
    ) -> Vec<TailCode> {
        for name in written.keys() {
            let spot = Spot {
                text: "tails".into(),
                place: SchedulePath::root().entry("tails").entry(name).name(),
            };
            self.dimension(name, &spot);
        }
        let mut peeled = 0;
        let mut tails = Vec::new();
        for (d, name) in self.dimensions.iter().enumerate() {
            let mut covered = counts.iter().map(|row| row[d].for_points(points[d]));
            let covered = covered.try_fold(1i64, |p, n| Some(p.saturating_mul(n?)));
            let even = covered.is_some() && covered == points[d];
            let code = match written.get(name) {
                Some(code) => *code,
                None if even || peeled < 2 => TailCode::Peel,
                None => TailCode::Mask,
            };
            peeled += usize::from(!even && code == TailCode::Peel);
            tails.push(code);
        }
        tails
    }
}
