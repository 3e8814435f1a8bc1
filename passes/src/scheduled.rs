//! What the lowering of schedules asks of a scheduled computation.

use mdh_algebra::asm::{Asm, LANES, MATRIX};
use mdh_algebra::computation::{Combine, Computation};
use mdh_algebra::schedule::{Count, Level, OutputPlan, Schedule, Total};
use mdh_dialect::ir::{Errors, Op};
use mdh_dialect::parts::Parts;
use mdh_dialect::translate::{self, Depth};
use mdh_dialect::{read, schedule};

use crate::tile::interleaved;

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
    pub total: Total,
}

/// A loop that a schedule asks for: a level of more than one part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loop {
    /// Which.
    pub level: Level,
    /// How many parts it has.
    pub count: Count,
    /// How it combines.
    pub combine: Combine,
    /// Whether its parts are computed at the same time.
    pub is_parallel: bool,
}

impl<'c> Scheduled<'c> {
    /// Reads it; `None` if it has no schedule.
    pub fn read(op: Op<'c>) -> Result<Option<Self>, Errors> {
        let Some(schedule) = schedule::read(op)? else {
            return Ok(None);
        };
        let computation = translate::compute(op, Depth::Signatures)?;
        let name = schedule.asm.as_deref().unwrap_or("cpu");
        let Some(asm) = Asm::builtin(name) else {
            let known: Vec<String> = Asm::builtins().into_iter().map(|asm| asm.name).collect();
            let known = known.join(", ");
            return Err(vec![format!(
                "has a schedule for ASM '{name}': expected one of {known}"
            )]);
        };
        let total = Total::new(&schedule, &computation, &asm);
        let total = total.map_err(|found| -> Errors {
            found.iter().map(|finding| finding.to_string()).collect()
        })?;
        Ok(Some(Scheduled {
            op,
            parts: read::compute(op)?,
            computation,
            schedule,
            total,
        }))
    }

    /// The same for tiles that have at most so many points in each dimension for which that is
    /// given, `None` if it is known at run time only: its schedule is then that of a tile.
    pub fn for_tiles(mut self, most: &[Option<Option<i64>>]) -> Result<Self, Errors> {
        self.schedule.compute_at = None;
        for (d, most) in most.iter().enumerate() {
            let Some(most) = *most else {
                continue;
            };
            let own = &mut self.computation.dimensions[d];
            (own.lower, own.upper) = (Some(0), most);
            (own.step, own.width) = (Some(1), Some(1));
        }
        let total = Total::new(&self.schedule, &self.computation, &self.total.asm);
        self.total = total.map_err(|found| -> Errors {
            let found = found.iter();
            found
                .map(|f| format!("has a schedule that, of its tiles, breaks {f}"))
                .collect()
        })?;
        Ok(self)
    }

    /// The most points that a part of the loop at a position has in each dimension, as far as that
    /// is known.
    pub fn points_inside(&self, loops: &[Loop], position: usize) -> Vec<Option<i64>> {
        let points = |d: usize| {
            let all = self.computation.dimensions[d].count();
            let mut cuts = loops[..=position].iter().rev();
            let Some(cut) = cuts.find(|l| l.level.dimension == d) else {
                return all;
            };
            let inner = &self.total.counts[cut.level.layer + 1..];
            let counts = inner.iter().map(|row| match row[d] {
                Count::Known(count) => Some(count.max(1)),
                Count::Dynamic { .. } => None,
            });
            let size = counts.product::<Option<i64>>()?;
            Some(all.map_or(size, |all| all.min(size)))
        };
        (0..self.computation.dimensions.len()).map(points).collect()
    }

    /// The dimensions of unknown size whose part counts are all written, and the points that these
    /// cover: the run must not have more.
    pub fn covers(&self) -> Vec<(usize, i64)> {
        let total = &self.total;
        let open = (0..total.points.len()).filter(|d| total.points[*d].is_none());
        let covered = open.map(|d| {
            let mut counts = total.counts.iter().map(|row| row[d].known());
            let points = counts.try_fold(1, |all: i64, count| Some(all.saturating_mul(count?)))?;
            Some((d, points))
        });
        covered.flatten().collect()
    }

    /// The loops of the de-composition, outermost first.
    pub fn loops(&self) -> Vec<Loop> {
        let phase = &self.total.decompose;
        let levels = phase
            .order
            .iter()
            .filter(|l| !self.total.count(**l).is_one());
        levels
            .map(|level| Loop {
                level: *level,
                count: self.total.count(*level),
                combine: self.computation.dimensions[level.dimension].combine,
                // What a warp computes at once is a block of each of its threads.
                is_parallel: self.total.is_parallel(phase, *level) && self.layer(*level) != MATRIX,
            })
            .collect()
    }

    /// The name of the ASM layer that a loop is given to.
    pub fn layer(&self, level: Level) -> &str {
        let to = self.total.decompose.assign[level.layer][level.dimension];
        self.total.asm.layers[to.layer].name()
    }

    /// The ASM level that a loop is given to, where it is not that of its own name: the layer, and
    /// the dimension if that is another one. To code for a CPU only the layer matters.
    pub fn place(&self, level: Level) -> Option<String> {
        let to = self.total.decompose.assign[level.layer][level.dimension];
        let layer = self.layer(level);
        if to.dimension != level.dimension {
            return Some(self.total.asm_name(to).to_string());
        }
        (self.total.layers[level.layer] != layer).then(|| layer.to_string())
    }

    /// Where the leaf starts among the loops, and what it consists of: the longest one there is; in
    /// kernels, inside of which no input is copied to memory.
    pub fn leaf(&self, loops: &[Loop]) -> (usize, Form) {
        let copies = |n: &usize| self.total.asm.has_kernels() && self.copies_at(loops, *n);
        let first = (1..loops.len()).rev().find(copies).unwrap_or(0);
        let first = first.max(interleaved::end(loops));
        let forms = (first..loops.len()).map(|start| (start, self.form(&loops[start..])));
        let mut found = forms.filter_map(|(start, form)| Some((start, form?)));
        found.next().unwrap_or((loops.len(), Form::default()))
    }

    /// Whether an input is somewhere else in memory from a loop on.
    fn copies_at(&self, loops: &[Loop], n: usize) -> bool {
        let registers = self.total.asm.position("register");
        self.total.inputs.iter().any(|input| {
            let home = |of: Loop| {
                let Level { layer, dimension } = of.level;
                (
                    input.region[layer][dimension],
                    &input.layout[layer][dimension],
                )
            };
            let (before, here) = (home(loops[n - 1]), home(loops[n]));
            before != here && Some(here.0) != registers && Some(before.0) != registers
        })
    }

    /// The leaf of these loops, outermost first; `None` if they are none: loops of `ps`
    /// dimensions come first, then those of `pw` ones, then what is unrolled, then lanes.
    fn form(&self, loops: &[Loop]) -> Option<Form> {
        let mut form = Form::default();
        for of in loops {
            let dim = of.level.dimension;
            let is_known = matches!(of.count, Count::Known(count) if count > 0);
            let layer = self.layer(of.level);
            let is_unrolled = layer == "register" && is_known;
            if let Some(lanes) = form.lanes {
                // Each lane of a result combines a few points at once.
                let is_group = layer == LANES && is_known && of.combine.is_pw();
                if !is_group || lanes.combine != Combine::Cc || form.group.is_some() {
                    return None;
                }
                form.group = Some(*of);
                continue;
            }
            if layer == MATRIX && is_known {
                form.matrix.push(*of);
                form.block.push(*of);
                continue;
            }
            if layer == LANES && is_known {
                form.lanes = Some(*of);
                continue;
            }
            let opens = form.block.is_empty() && self.stays(of.level);
            let has_loop = form.loops.iter().any(|l| l.level.dimension == dim);
            let is_inside_pw = form.loops.iter().any(|l| l.combine.is_pw());
            match of.combine {
                _ if of.is_parallel => return None,
                Combine::Pw(_) if opens && !has_loop => form.loops.push(*of),
                // Its results go to memory one by one, and only what it carries stays.
                Combine::Ps(_) if form.block.is_empty() && !has_loop && !is_inside_pw => {
                    form.loops.push(*of);
                }
                Combine::Cc | Combine::Pw(_) if is_unrolled => form.block.push(*of),
                _ => return None,
            }
        }
        // Running combinations in two dimensions need memory between them.
        let mut scanned = form.loops.iter().chain(&form.lanes);
        let first = scanned.by_ref().find(|l| l.combine.is_ps());
        let is_other = |l: &Loop| {
            l.combine.is_ps() && first.is_some_and(|f| f.level.dimension != l.level.dimension)
        };
        (!scanned.any(is_other)).then_some(form)
    }

    /// The loop outside of a leaf whose parts R1 combines after an outer loop; what cannot be
    /// followed of R1 otherwise.
    pub fn late(&self, loops: &[Loop], leaf: usize) -> Result<Option<Late>, Errors> {
        let order = &self.total.recompose.order;
        let place = |of: &Loop| order.iter().position(|level| *level == of.level);
        let is_outside = |inside: &Loop, outside: &Loop| place(inside) < place(outside);
        let levels = self.total.late(&self.computation).unwrap_or_default();
        let mut found = None;
        for (inside, of) in loops.iter().enumerate() {
            if !levels.contains(&of.level) {
                continue;
            }
            let outer = (0..inside).find(|n| is_outside(of, &loops[*n]));
            let Some(outside) = outer.filter(|n| *n < leaf) else {
                continue;
            };
            let refuse = |why: &str| {
                vec![format!(
                    "has a schedule that combines the parts of '{}' outside of '{}' (R1): \
                     expected {why}",
                    self.total.name(of.level),
                    self.total.name(loops[outside].level)
                )]
            };
            if inside >= leaf {
                return Err(refuse(
                    "parts in registers or lanes to be combined with the loops in registers",
                ));
            }
            if found.is_some() {
                return Err(refuse(
                    "one level outside of registers that is combined late",
                ));
            }
            found = Some(Late { inside, outside });
        }
        let sums: Vec<&Loop> = loops[leaf..].iter().filter(|l| l.combine.is_pw()).collect();
        let (_, form) = self.leaf(loops);
        let (carried, parts): (Vec<&Loop>, Vec<&Loop>) =
            sums.into_iter().partition(|l| form.loops.contains(l));
        let pairs = || {
            carried
                .iter()
                .flat_map(|c| parts.iter().map(move |p| (*p, *c)))
        };
        let (some, all) = (
            pairs().any(|(part, carried)| is_outside(part, carried)),
            pairs().all(|(part, carried)| is_outside(part, carried)),
        );
        if some && !all {
            return Err(vec![
                "has a schedule that combines some parts in registers after the loops there and \
                 some inside (R1): expected all of them after, or all inside"
                    .into(),
            ]);
        }
        Ok(found)
    }

    /// How many parts a level of a leaf has.
    pub fn parts_of(&self, level: Level) -> i64 {
        match self.total.count(level) {
            Count::Known(count) => count,
            Count::Dynamic { .. } => panic!("{} is a loop", self.total.name(level)),
        }
    }

    /// How many points a part of a level of a leaf has, in its dimension.
    pub fn points_of(&self, level: Level) -> i64 {
        let points = self.known_points_of(level);
        points.unwrap_or_else(|| panic!("{} has loops inside", self.total.name(level)))
    }

    /// How many points a part of a level has, in its dimension; `None` if that is not known.
    pub fn known_points_of(&self, level: Level) -> Option<i64> {
        let inner = &self.total.counts[level.layer + 1..];
        let counts = inner.iter().map(|row| match row[level.dimension] {
            Count::Known(count) => Some(count),
            Count::Dynamic { .. } => None,
        });
        counts.product()
    }

    /// Whether R1 combines unrolled parts and lanes once, after the loops of the leaf.
    pub fn is_late(&self, form: &Form) -> bool {
        let order = &self.total.recompose.order;
        let place = |of: &Loop| order.iter().position(|level| *level == of.level);
        let inside =
            (form.block.iter().chain(&form.lanes).chain(&form.group)).filter(|l| l.combine.is_pw());
        let first = inside.filter_map(place).min();
        let loops = form.loops.iter().filter(|l| l.combine.is_pw());
        let last = loops.filter_map(place).max();
        matches!((first, last), (Some(inside), Some(outside)) if inside < outside)
    }

    /// Whether results are in registers from a level on (R3).
    fn stays(&self, level: Level) -> bool {
        if self.layer(level) == "register" {
            return true;
        }
        let region = |o: &OutputPlan| o.region[level.layer][level.dimension];
        let mut regions = self
            .total
            .outputs
            .iter()
            .map(|o| self.total.asm.layers[region(o)].name());
        regions.all(|name| name == "register")
    }
}

/// A loop whose parts are combined after an outer loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Late {
    /// The loop over the parts.
    pub inside: usize,
    /// The loop after which they are combined.
    pub outside: usize,
}

/// What is computed in registers, from the outside in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Form {
    /// Loops that carry partial results.
    pub loops: Vec<Loop>,
    /// What is unrolled.
    pub block: Vec<Loop>,
    /// What the lanes of a vector hold.
    pub lanes: Option<Loop>,
    /// What each lane combines at once: neighbouring points of a combined dimension.
    pub group: Option<Loop>,
    /// What the threads of a warp compute at once: the last levels of the block.
    pub matrix: Vec<Loop>,
}
