//! The loops of a schedule, and those among them that stay in registers.

use super::cyclic;
use super::refusal::{Reason, Refusal, Subject};
use crate::asm::{LANES, MATRIX};
use crate::numbers::Count;
use crate::resolved::{Level, OutputPlan};
use mdh_algebra::computation::Combine;

/// A loop that a schedule asks for: a level of more than one part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The level.
    pub level: Level,
    /// Number of parts.
    pub count: Count,
    /// Its combine operator.
    pub combine: Combine,
    /// True if its parts are computed at the same time.
    pub is_parallel: bool,
}

/// A loop whose parts are combined after an outer loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deferred {
    /// The loop over the parts.
    pub inside: usize,
    /// The loop after which they are combined.
    pub outside: usize,
}

/// The points computed in registers, from the outside in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegisterTile {
    /// Loops that carry partial results.
    pub loops: Vec<Loop>,
    /// Levels that are unrolled.
    pub block: Vec<Loop>,
    /// The level that the lanes of a vector hold.
    pub lanes: Option<Loop>,
    /// Points that each lane combines at once: neighbours of a combined dimension.
    pub group: Option<Loop>,
    /// Points of a warp-level MMA: the last levels of the block.
    pub matrix: Vec<Loop>,
}

impl Subject<'_> {
    /// The loops of the de-composition, outermost first.
    pub fn loops(&self) -> Vec<Loop> {
        let phase = &self.resolved.decompose;
        let levels = phase
            .order
            .iter()
            .filter(|l| !self.resolved.count(**l).is_one());
        levels
            .map(|level| Loop {
                level: *level,
                count: self.resolved.count(*level),
                combine: self.computation.dimensions[level.dimension].combine,
                // A warp-level MMA is a block of each of its threads.
                is_parallel: self.resolved.is_parallel(phase, *level)
                    && self.layer(*level) != MATRIX,
            })
            .collect()
    }

    /// Returns whether the loop at a position is opened together with the one around it: between the two are
    /// tiles that do not follow each other.
    pub fn is_between_tiles(&self, loops: &[Loop], position: usize) -> bool {
        let outer = position.checked_sub(1).and_then(|n| loops.get(n));
        let both = outer.zip(loops.get(position));
        both.is_some_and(|(outer, inner)| self.resolved.opens_together(outer.level, inner.level))
    }

    /// The name of the ASM layer that a loop is given to.
    pub fn layer(&self, level: Level) -> &str {
        let to = self.resolved.decompose.assign[level.layer][level.dimension];
        self.resolved.asm.layers[to.layer].name()
    }

    /// Returns the position of the leaf among the loops, and its contents: the longest one there
    /// is; in kernels, inside of which no input is copied to memory.
    pub fn leaf(&self, loops: &[Loop]) -> (usize, RegisterTile) {
        let copies = |n: &usize| {
            self.resolved.asm.has_kernels() && self.copied_at(loops, *n).next().is_some()
        };
        let first = (1..loops.len()).rev().find(copies).unwrap_or(0);
        let first = first.max(cyclic::end(loops));
        let forms = (first..loops.len()).map(|start| (start, self.form(&loops[start..])));
        let mut leaves = forms.filter_map(|(start, form)| Some((start, form?)));
        leaves
            .next()
            .unwrap_or((loops.len(), RegisterTile::default()))
    }

    /// The inputs that are somewhere else in memory from a loop on.
    pub(super) fn copied_at<'s>(
        &'s self,
        loops: &'s [Loop],
        n: usize,
    ) -> impl Iterator<Item = &'s str> {
        let registers = self.resolved.asm.position("register");
        let moved = self.resolved.inputs.iter().filter(move |input| {
            let [before, here] = [n - 1, n].map(|n| self.resolved.input_at(input, loops[n]));
            before != here && Some(here.0) != registers && Some(before.0) != registers
        });
        moved.map(|input| input.name.as_str())
    }

    /// The leaf of these loops, outermost first; `None` if they are none: loops of `ps`
    /// dimensions come first, then those of `pw` ones, then what is unrolled, then lanes.
    fn form(&self, loops: &[Loop]) -> Option<RegisterTile> {
        let mut form = RegisterTile::default();
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
            // Unrolled parts that are combined after a loop around them are no loop inside of it.
            let is_deferred = is_unrolled && self.is_after(*of, &form.loops);
            match of.combine {
                _ if of.is_parallel => return None,
                Combine::Pw(_) if opens && !has_loop && !is_deferred => form.loops.push(*of),
                // Its results go to memory one by one, and only what it carries stays.
                Combine::Ps(_)
                    if form.block.is_empty()
                        && !has_loop
                        && !is_inside_pw
                        && !self.needs_memory(of) =>
                {
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

    /// Returns whether a prefix-sum inside of another one has no place for results so far: a thread has memory
    /// of its own of known sizes only.
    fn needs_memory(&self, of: &Loop) -> bool {
        let dimensions = self.computation.dimensions.iter();
        let scans = dimensions.filter(|d| d.combine.is_ps()).count();
        self.resolved.asm.has_kernels() && scans > 1 && of.count.known().is_none()
    }

    /// Returns whether R1 combines the parts of a level after one of these loops.
    fn is_after(&self, of: Loop, loops: &[Loop]) -> bool {
        let order = &self.resolved.recompose.order;
        let place = |of: &Loop| order.iter().position(|level| *level == of.level);
        let mut sums = loops.iter().filter(|l| l.combine.is_pw());
        of.combine.is_pw() && sums.any(|l| place(&of) < place(l))
    }

    /// Returns whether results are in registers from a level on (R3).
    fn stays(&self, level: Level) -> bool {
        if self.layer(level) == "register" {
            return true;
        }
        let region = |o: &OutputPlan| o.region[level.layer][level.dimension];
        let mut regions = self
            .resolved
            .outputs
            .iter()
            .map(|o| self.resolved.asm.layers[region(o)].name());
        regions.all(|name| name == "register")
    }

    /// Finds the loop outside of a leaf whose parts R1 combines after an outer loop; refuses other
    /// orders of R1 that cannot be lowered.
    pub fn deferred(&self, loops: &[Loop], leaf: usize) -> Result<Option<Deferred>, Refusal> {
        let order = &self.resolved.recompose.order;
        let place = |inner: &Loop| order.iter().position(|level| *level == inner.level);
        let is_outside = |inside: &Loop, outside: &Loop| place(inside) < place(outside);
        let levels = self.resolved.deferred(self.computation).unwrap_or_default();
        let mut deferred = None;
        for (inside, inner) in loops.iter().enumerate() {
            if !levels.contains(&inner.level) {
                continue;
            }
            let outer = (0..inside).find(|n| is_outside(inner, &loops[*n]));
            let Some(outside) = outer.filter(|n| *n < leaf) else {
                continue;
            };
            let refuse = |why: &str| {
                let (inner, outside) = (
                    self.resolved.name(inner.level),
                    self.resolved.name(loops[outside].level),
                );
                Refusal::new(
                    Reason::Deferred,
                    format!(
                        "that combines the parts of '{inner}' outside of '{outside}' (R1): expected {why}"
                    ),
                )
            };
            if inside >= leaf {
                return Err(refuse(
                    "parts in registers or lanes to be combined with the loops in registers",
                ));
            }
            if deferred.is_some() {
                return Err(refuse("one deferred level outside of registers"));
            }
            deferred = Some(Deferred { inside, outside });
        }
        let (_, form) = self.leaf(loops);
        self.deferred_in_leaf(&loops[leaf..], &form)?;
        Ok(deferred)
    }

    /// Refuses orders of R1 that combine only some of the parts in a leaf of these loops after the loops there.
    pub(super) fn deferred_in_leaf(
        &self,
        leaf: &[Loop],
        form: &RegisterTile,
    ) -> Result<(), Refusal> {
        let order = &self.resolved.recompose.order;
        let place = |of: &Loop| order.iter().position(|level| *level == of.level);
        let is_outside = |inside: &Loop, outside: &Loop| place(inside) < place(outside);
        let sums: Vec<&Loop> = leaf.iter().filter(|l| l.combine.is_pw()).collect();
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
            return Err(Refusal::new(
                Reason::Deferred,
                "that combines some parts in registers after the loops there and some inside (R1): \
                 expected all of them after, or all inside"
                    .into(),
            ));
        }
        Ok(())
    }

    /// Returns the number of points of a level's part, in its dimension; `None` if it is not known.
    pub fn known_points_of(&self, level: Level) -> Option<i64> {
        let inner = &self.resolved.counts[level.layer + 1..];
        let counts = inner.iter().map(|row| row[level.dimension].known());
        counts.product()
    }

    /// Returns whether R1 combines unrolled parts and lanes once, after the loops of the leaf.
    pub fn is_deferred(&self, form: &RegisterTile) -> bool {
        let order = &self.resolved.recompose.order;
        let place = |of: &Loop| order.iter().position(|level| *level == of.level);
        let inside =
            (form.block.iter().chain(&form.lanes).chain(&form.group)).filter(|l| l.combine.is_pw());
        let first = inside.filter_map(place).min();
        let loops = form.loops.iter().filter(|l| l.combine.is_pw());
        let last = loops.filter_map(place).max();
        matches!((first, last), (Some(inside), Some(outside)) if inside < outside)
    }
}
