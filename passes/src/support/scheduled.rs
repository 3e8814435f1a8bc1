//! A scheduled computation, as the lowering of schedules asks for it.

use mdh_algebra::computation::Computation;
use mdh_dialect::ir::{Errors, Op};
use mdh_dialect::parts::Parts;
use mdh_dialect::schedule;
use mdh_dialect::translate::{self, Depth};
use mdh_schedule::asm::Asm;
use mdh_schedule::legality::{self, Subject};
pub use mdh_schedule::legality::{Deferred, Loop, RegisterTile};
use mdh_schedule::{Count, Level, Resolved, Schedule};

use crate::simplify::canonicalize::constants;

/// An `mdh.compute` with its schedule.
#[derive(Clone)]
pub struct Scheduled<'c> {
    /// The operation.
    pub op: Op<'c>,
    /// Taken apart.
    pub parts: Parts<'c>,
    /// As data.
    pub computation: Computation,
    /// The schedule as it is written.
    pub schedule: Schedule,
    /// The schedule with its defaults.
    pub resolved: Resolved,
    /// Marks the computation of tiles, which may have fewer points than it says.
    pub is_of_tiles: bool,
}

impl<'c> Scheduled<'c> {
    /// Reads it; `None` if it has no schedule.
    pub fn read(op: Op<'c>) -> Result<Option<Self>, Errors> {
        let Some(schedule) = schedule::read(op)? else {
            return Ok(None);
        };
        let (mut parts, mut computation) = translate::both(op, Depth::Signatures)?;
        // Nothing need have canonicalized the operation before.
        constants::fold(&mut parts);
        for (own, dim) in computation.dimensions.iter_mut().zip(&parts.dims) {
            *own = translate::dimension(dim, own.combine);
        }
        let name = schedule.asm.as_deref().unwrap_or("cpu");
        let Some(asm) = Asm::builtin(name) else {
            let known: Vec<String> = Asm::builtins().into_iter().map(|asm| asm.name).collect();
            let known = known.join(", ");
            return Err(vec![format!(
                "has a schedule for ASM '{name}': expected one of {known}"
            )]);
        };
        let resolved = Resolved::new(&schedule, &computation, &asm);
        let resolved = resolved.map_err(|found| -> Errors {
            found.iter().map(|finding| finding.to_string()).collect()
        })?;
        Ok(Some(Scheduled {
            op,
            parts,
            computation,
            schedule,
            resolved,
            is_of_tiles: false,
        }))
    }

    /// The same for tiles that have at most so many points in each dimension for which that is
    /// given, `None` if it is known at run time only: its schedule is then that of a tile.
    pub fn for_tiles(mut self, most: &[Option<Option<i64>>]) -> Result<Self, Errors> {
        self.schedule.compute_at = None;
        self.is_of_tiles = true;
        for (d, most) in most.iter().enumerate() {
            let Some(most) = *most else {
                continue;
            };
            let dimension = &mut self.computation.dimensions[d];
            (dimension.lower, dimension.upper) = (Some(0), most);
            (dimension.step, dimension.width) = (Some(1), Some(1));
        }
        let resolved = Resolved::new(&self.schedule, &self.computation, &self.resolved.asm);
        self.resolved = resolved.map_err(|found| -> Errors {
            let reasons = found.iter();
            reasons
                .map(|f| format!("has a schedule that, of its tiles, breaks {f}"))
                .collect()
        })?;
        Ok(self)
    }

    /// The most points that a part of the loop at a position has in each dimension, as far as that
    /// is known.
    pub fn points_inside(&self, loops: &[Loop], position: usize) -> Vec<Option<i64>> {
        let points = |d: usize| {
            let whole = self.computation.dimensions[d].count();
            let mut cuts = loops[..=position].iter().rev();
            let Some(cut) = cuts.find(|l| l.level.dimension == d) else {
                return whole;
            };
            let inner = &self.resolved.counts[cut.level.layer + 1..];
            let counts = inner.iter().map(|row| match row[d] {
                Count::Known(count) => Some(count.max(1)),
                Count::Dynamic { .. } => None,
            });
            let size = counts.product::<Option<i64>>()?;
            Some(whole.map_or(size, |whole| whole.min(size)))
        };
        (0..self.computation.dimensions.len()).map(points).collect()
    }

    /// The dimensions of unknown size whose part counts are all written, and the points that these
    /// cover: the run must not have more.
    pub fn covers(&self) -> Vec<(usize, i64)> {
        let resolved = &self.resolved;
        let open = (0..resolved.points.len()).filter(|d| resolved.points[*d].is_none());
        let covered = open.map(|d| {
            let mut counts = resolved.counts.iter().map(|row| row[d].known());
            let points = counts.try_fold(1, |all: i64, count| Some(all.saturating_mul(count?)))?;
            Some((d, points))
        });
        covered.flatten().collect()
    }

    /// The computation and its schedule, as data.
    pub fn subject(&self) -> Subject<'_> {
        Subject {
            computation: &self.computation,
            schedule: &self.schedule,
            resolved: &self.resolved,
        }
    }

    /// The loops of the de-composition, outermost first.
    pub fn loops(&self) -> Vec<Loop> {
        self.subject().loops()
    }

    /// The name of the ASM layer that a loop is given to.
    pub fn layer(&self, level: Level) -> &str {
        let to = self.resolved.decompose.assign[level.layer][level.dimension];
        self.resolved.asm.layers[to.layer].name()
    }

    /// The ASM level that a loop is given to, where it is not that of its own name: the layer, and
    /// the dimension if that is another one. To code for a CPU only the layer matters.
    pub fn place(&self, level: Level) -> Option<String> {
        let to = self.resolved.decompose.assign[level.layer][level.dimension];
        let layer = self.layer(level);
        if to.dimension != level.dimension {
            return Some(self.resolved.asm_name(to).to_string());
        }
        (self.resolved.layers[level.layer] != layer).then(|| layer.to_string())
    }

    /// Returns the position of the leaf among the loops, and its contents.
    pub fn leaf(&self, loops: &[Loop]) -> (usize, RegisterTile) {
        self.subject().leaf(loops)
    }

    /// The loop outside of a leaf whose parts R1 combines after an outer loop.
    pub fn deferred(&self, loops: &[Loop], leaf: usize) -> Result<Option<Deferred>, Errors> {
        let deferred = self.subject().deferred(loops, leaf);
        deferred.map_err(|refusal| vec![schedule::refused(&refusal)])
    }

    /// Describes the parts of the schedule that there is no code for.
    pub fn refusals(&self) -> Errors {
        let refusals = legality::check(&self.subject()).err().unwrap_or_default();
        refusals.iter().map(schedule::refused).collect()
    }

    /// Returns the number of parts of a leaf's level.
    pub fn parts_of(&self, level: Level) -> i64 {
        match self.resolved.count(level) {
            Count::Known(count) => count,
            Count::Dynamic { .. } => panic!("{} is a loop", self.resolved.name(level)),
        }
    }

    /// Returns the number of points of a part of a leaf's level, in its dimension.
    pub fn points_of(&self, level: Level) -> i64 {
        let points = self.known_points_of(level);
        points.unwrap_or_else(|| panic!("{} has loops inside", self.resolved.name(level)))
    }

    /// Returns the number of points of a part of a level, in its dimension; `None` if it is not
    /// known.
    pub fn known_points_of(&self, level: Level) -> Option<i64> {
        self.subject().known_points_of(level)
    }

    /// Returns whether R1 combines unrolled parts and lanes once, after the loops of the leaf.
    pub fn is_deferred(&self, form: &RegisterTile) -> bool {
        self.subject().is_deferred(form)
    }
}
