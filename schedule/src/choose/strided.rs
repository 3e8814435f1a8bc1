//! Schedules where the points of a dimension come in groups, with gaps between them, as those of
//! the partitions of a with-loop do (GPU index mapping, section 1.2): steps of `T`, of which the
//! first `W` indices are points, `1 < W < T`.
//!
//! A part of such a dimension is a number of whole groups or lies in one: so it is for cores and
//! blocks of any number of groups, and loops over groups, whose points have no gaps. Inside of one,
//! lanes go along the dimension in which most accesses go through memory one by one.

use std::collections::BTreeMap;

use super::choice::Choice;
use super::facts::Facts;
use super::views::{Motion, Views};
use crate::asm::Asm;
use crate::numbers::Parts;
use crate::numbers::ceil_div;
use crate::schedule::{Layer, LevelName, Output, Phase, Schedule};
use crate::tiles::gcd;
use mdh_algebra::computation::{Combine, Computation, Dimension};

/// Number of points of a group, in a dimension with gaps between groups.
pub fn group(dimension: &Dimension) -> Option<i64> {
    let width = dimension.width.filter(|w| *w > 1)?;
    (dimension.step != dimension.width).then_some(width)
}

/// Returns whether the parts of a dimension can be such that it is known where they start.
pub fn has_parts(dimension: &Dimension) -> bool {
    dimension.width.is_some()
}

/// The most points up to `most` that are whole groups, or divide one; `most` where there are none.
pub fn aligned(dimension: &Dimension, most: i64) -> i64 {
    match group(dimension) {
        None => most,
        Some(width) if width <= most => most / width * width,
        Some(width) => (1..=most).rev().find(|n| width % n == 0).unwrap_or(1),
    }
}

/// The schedule of a computation with such dimensions for a machine with cores and lanes.
pub fn choose(computation: &Computation, asm: &Asm, facts: &Facts) -> Option<Choice> {
    let groups: Vec<Option<i64>> = computation.dimensions.iter().map(group).collect();
    let views = Views::new(&without_gaps(computation));
    let plan = StridedLanes {
        computation,
        facts,
        views: &views,
        groups: &groups,
    };
    let lanes = plan.lanes();
    let cores = plan.cores(lanes.map(|(d, _)| d));
    // What does not keep a constraint of the machine has fewer levels.
    let candidates = [(cores, lanes), (cores, None), (None, None)];
    candidates.into_iter().find_map(|(cores, lanes)| {
        let schedule = plan.schedule(asm, cores, lanes);
        let is_legal = super::choice::objections(&schedule, computation, asm).is_empty();
        is_legal.then(|| Choice {
            schedule,
            is_transposed: false,
            reasons: plan.reasons(cores, lanes),
        })
    })
}

/// The same with points next to each other, as they are within a group: what accesses look like
/// there.
fn without_gaps(computation: &Computation) -> Computation {
    let mut dense = computation.clone();
    for dimension in &mut dense.dimensions {
        if group(dimension).is_some() {
            let end = dimension.count().zip(dimension.lower);
            dimension.upper = end.and_then(|(count, lower)| lower.checked_add(count));
            (dimension.step, dimension.width) = (Some(1), Some(1));
        }
    }
    dense
}

struct StridedLanes<'p> {
    computation: &'p Computation,
    facts: &'p Facts,
    views: &'p Views,
    groups: &'p [Option<i64>],
}

impl StridedLanes<'_> {
    /// The kept dimension along which the most accesses go through memory one by one, the results
    /// before all, and how many lanes it has.
    fn lanes(&self) -> Option<(usize, i64)> {
        let most = self.facts.vector / self.views.widest.max(1);
        let follows = |d: usize| -> i64 {
            let weight = |view: &super::views::View| match self.views.motion(view, d) {
                Motion::Next if view.is_output => 8,
                Motion::Next => 2,
                Motion::Still => 1,
                _ => -4,
            };
            self.views.all.iter().map(weight).sum()
        };
        let count = |d: usize| match self.groups[d] {
            Some(width) => gcd(width, most),
            None => most,
        };
        let kept_dims = self.views.dims(|c| c == Combine::Cc).into_iter();
        let fits = |d: &usize| count(*d) > 1 && count(*d) <= self.views.size(*d);
        let best = kept_dims.filter(fits).max_by_key(|d| follows(*d))?;
        (follows(best) > 0).then(|| (best, count(best)))
    }

    /// The kept dimension that cores share, and how many points each of them has of it at a time:
    /// whole groups, if there are some.
    fn cores(&self, lanes: Option<usize>) -> Option<(usize, Option<i64>)> {
        let sizes = (0..self.groups.len()).map(|d| self.views.size(d).max(1));
        let points = sizes.fold(1, i64::saturating_mul);
        let kept_dims = self.views.dims(|c| c == Combine::Cc).into_iter();
        let is_worth = |d: &usize| {
            let parts = ceil_div(self.views.size(*d), self.groups[*d].unwrap_or(1));
            parts >= self.facts.cores
        };
        // The outermost of those that have no lanes, if there is one.
        let best = kept_dims
            .filter(is_worth)
            .min_by_key(|d| Some(*d) == lanes)?;
        if points < self.facts.grain || self.facts.cores < 2 {
            return None;
        }
        let size = self.groups[best].map(|width| {
            let groups = ceil_div(self.views.size(best), width);
            ceil_div(groups, self.facts.cores)
        });
        Some((best, size))
    }

    /// Cores around loops over groups and other dimensions, around loops over the points of a
    /// group, around what is combined.
    fn schedule(
        &self,
        asm: &Asm,
        cores: Option<(usize, Option<i64>)>,
        lanes: Option<(usize, i64)>,
    ) -> Schedule {
        let mut levels = Levels::default();
        let names = self.computation.names();
        match cores {
            Some((d, Some(_))) => levels.add("core", names[d], Parts::Derived),
            Some((d, None)) => levels.add("core", names[d], Parts::Fixed(self.facts.cores)),
            None => {}
        }
        let kept_dims = self.views.dims(|c| c == Combine::Cc);
        let combined = [
            self.views.dims(Combine::is_ps),
            self.views.dims(Combine::is_pw),
        ]
        .concat();
        let mut first_sum = None;
        for dims in [&kept_dims, &combined] {
            if first_sum.is_none() && !combined.is_empty() && dims == &combined {
                first_sum = Some(levels.order.len());
            }
            for d in dims {
                let parts = match cores {
                    Some((shared, Some(groups))) if shared == *d => Parts::Fixed(groups),
                    _ => Parts::Derived,
                };
                levels.add("L2", names[*d], parts);
            }
            for d in dims {
                let count = lanes.filter(|(lane, _)| lane == d).map_or(1, |(_, n)| n);
                if let Some(width) = self.groups[*d] {
                    levels.add("L1", names[*d], Parts::Fixed(width / count));
                }
            }
        }
        if let Some((d, count)) = lanes {
            levels.add("simd", names[d], Parts::Fixed(count));
        }
        let has_scans = self.views.combine.iter().any(|c| c.is_ps());
        let first = first_sum.filter(|_| !has_scans);
        let first = first.and_then(|first| levels.order.get(first).cloned());
        self.finish(asm, levels, first)
    }

    fn finish(&self, asm: &Asm, levels: Levels, first_sum: Option<LevelName>) -> Schedule {
        let mut outputs = BTreeMap::new();
        if let Some(level) = first_sum.filter(|_| self.views.keeps_partial_results()) {
            for buffer in &self.computation.outputs {
                let mut output = Output::default();
                output.combine.insert(level.clone(), "register".into());
                outputs.insert(buffer.name.clone(), output);
            }
        }
        let layers = levels.layers.into_iter();
        let layers = layers.filter(|(_, parts)| !parts.is_empty());
        let layers = layers.map(|(name, parts)| Layer {
            name: name.into(),
            parts,
        });
        Schedule {
            asm: Some(asm.name.clone()),
            layers: layers.collect(),
            decompose: Phase {
                order: Some(levels.order),
                assign: BTreeMap::new(),
            },
            outputs,
            ..Schedule::default()
        }
    }

    fn reasons(
        &self,
        cores: Option<(usize, Option<i64>)>,
        lanes: Option<(usize, i64)>,
    ) -> Vec<String> {
        let name = |d: usize| &self.views.names[d];
        let groups = self.groups.iter().enumerate();
        let groups = groups.filter_map(|(d, width)| Some((d, (*width)?)));
        let mut reasons: Vec<String> = self.views.assumed().into_iter().collect();
        reasons.extend(groups.map(|(d, width)| {
            format!(
                "the points of '{}' come in groups of {width}: loops go over groups, and over the \
                 points of one",
                name(d)
            )
        }));
        reasons.push(match lanes {
            Some((d, count)) => format!("{count} lanes go along '{}'", name(d)),
            None => "no dimension has lanes".into(),
        });
        reasons.push(match cores {
            Some((d, Some(size))) => format!("cores get {size} groups of '{}' at a time", name(d)),
            Some((d, None)) => {
                let cores = self.facts.cores;
                format!("{cores} cores share dimension '{}'", name(d))
            }
            None => "one core computes all: there is too little for several threads".into(),
        });
        reasons
    }
}

/// Levels as they are collected.
#[derive(Default)]
struct Levels {
    layers: Vec<(&'static str, BTreeMap<String, Parts>)>,
    order: Vec<LevelName>,
}

impl Levels {
    fn add(&mut self, layer: &'static str, dimension: &str, parts: Parts) {
        const LAYERS: [&str; 4] = ["core", "L2", "L1", "simd"];
        if self.layers.is_empty() {
            self.layers = LAYERS.map(|layer| (layer, BTreeMap::new())).to_vec();
        }
        if let Some((_, row)) = self.layers.iter_mut().find(|(name, _)| *name == layer) {
            row.insert(dimension.into(), parts);
        }
        self.order.push(LevelName::new(layer, dimension));
    }
}

/// Returns whether each dimension has points, and it is known where parts of it start.
pub(super) fn all_have_parts(computation: &Computation) -> bool {
    let mut dimensions = computation.dimensions.iter();
    dimensions.all(|d| has_parts(d) && d.count() != Some(0))
}

/// Returns whether the points of some dimension do not lie at equal distances.
pub(super) fn has_gaps(computation: &Computation) -> bool {
    let mut groups = computation.dimensions.iter().map(group);
    groups.any(|group| group.is_some())
}
