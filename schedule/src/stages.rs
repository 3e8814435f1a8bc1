//! Tiles of inputs that are copied asynchronously, in several buffers: a pipeline.
//!
//! With `stages: 3` a block asks, while it computes on one tile, for the one after the next. The
//! loop directly around the copy goes from tile to tile, so that it must be sequential.

use super::resolved::{InputPlan, Level, Resolved};
use super::schedule_path::SchedulePath;
use super::staged_layout::{StagedLayout, Step};
use super::violation::{Constraint, Violation, find};
use mdh_algebra::computation::{Buffer, Computation};

/// The least bytes that are copied asynchronously.
const LEAST: usize = 4;

/// Checks the inputs that have stages.
pub(super) fn check(resolved: &Resolved, computation: &Computation, found: &mut Vec<Violation>) {
    let mut before: Vec<(usize, &InputPlan, i64)> = Vec::new();
    for (plan, buffer) in resolved.inputs.iter().zip(&computation.inputs) {
        let Some(stages) = plan.stages else {
            continue;
        };
        let name = &plan.name;
        let place = SchedulePath::root()
            .entry("inputs")
            .entry(name)
            .entry("stages");
        let mut refuse = |message: String| {
            find(found, Constraint::Stages, place.clone(), message);
        };
        if stages < 1 {
            refuse(format!(
                "input '{name}' has {stages} stages, expected at least 1"
            ));
            continue;
        }
        let copies = resolved.copies(plan);
        if copies.is_empty() {
            refuse(format!(
                "input '{name}' has {stages} stages, but {}",
                nowhere(resolved, plan)
            ));
        }
        for copy in &copies {
            if stages > 1 {
                not_in_loop(resolved, plan, stages, copy)
                    .into_iter()
                    .for_each(&mut refuse);
            }
            let bytes = buffer.element.byte_width();
            if !is_whole(buffer, copy.layout) {
                refuse(format!(
                    "input '{name}' lies {} in '{}', so that its elements of {bytes} bytes are \
                     copied one by one: asynchronous copies have 4, 8 or 16 bytes, expected a \
                     layout that keeps the last axis",
                    copy.layout,
                    resolved.asm.layers[copy.region].name(),
                ));
            }
            // Groups of copies that are waited for have the tiles of one iteration.
            let other = before
                .iter()
                .find(|(at, _, n)| *at == copy.position && *n != stages);
            if let Some((_, other, n)) = other {
                refuse(format!(
                    "inputs '{}' and '{name}' are staged at '{}' with {n} and {stages} stages, \
                     expected the same number",
                    other.name,
                    resolved.name(copy.level)
                ));
            }
            before.push((copy.position, plan, stages));
        }
    }
}

/// Returns whether elements of a buffer lie so that they can be copied asynchronously: each has enough bytes,
/// or those that follow each other in memory do so in the layout.
pub(super) fn is_whole(buffer: &Buffer, layout: &StagedLayout) -> bool {
    buffer.element.byte_width() >= LEAST || keeps_rows(layout, buffer.shape.len())
}

/// A cooperative copy of an input's tiles: the threads of a block make it.
pub struct Copy<'a> {
    /// Before which of the loops.
    pub position: usize,
    /// That loop's level.
    pub level: Level,
    region: usize,
    layout: &'a StagedLayout,
}

impl Resolved {
    /// The levels of more than one part in the order of de-composition: its loops.
    fn decomposition(&self) -> Vec<Level> {
        let order = self.decompose.order.iter().copied();
        order.filter(|l| !self.count(*l).is_one()).collect()
    }

    /// Finds the copies of an input to a region for which its cores can copy asynchronously.
    pub fn copies<'a>(&self, plan: &'a InputPlan) -> Vec<Copy<'a>> {
        let row_major = StagedLayout::row_major();
        let mut before = (0, &row_major);
        let mut copies = Vec::new();
        for (position, level) in self.decomposition().into_iter().enumerate() {
            let here = (
                plan.region[level.layer][level.dimension],
                &plan.layout[level.layer][level.dimension],
            );
            if here != before && before.0 == 0 && self.asm.copies_asynchronously(here.0) {
                copies.push(Copy {
                    position,
                    level,
                    region: here.0,
                    layout: here.1,
                });
            }
            before = here;
        }
        copies
    }

    /// Returns the number of buffers for tiles of an input that are copied asynchronously before
    /// the loop at a position.
    pub fn stages(&self, input: usize, position: usize) -> Option<i64> {
        let plan = &self.inputs[input];
        let is_here = self
            .copies(plan)
            .iter()
            .any(|copy| copy.position == position);
        plan.stages.filter(|_| is_here)
    }
}

/// Advice on the place of an input with stages.
fn nowhere(resolved: &Resolved, plan: &InputPlan) -> String {
    let regions = 0..resolved.asm.layers.len();
    let is_memory = |n: &usize| resolved.asm.layers[*n].memory().is_some();
    let regions = regions.filter(|n| is_memory(n) && resolved.asm.copies_asynchronously(*n));
    let names: Vec<String> = regions
        .map(|n| format!("'{}'", resolved.asm.layers[n].name()))
        .collect();
    match &names[..] {
        [] => format!(
            "ASM '{}' has no asynchronous copies: expected none",
            resolved.asm.name
        ),
        _ => format!(
            "no tile of '{}' is copied from '{}' to {}: expected a level from which it is staged \
             there",
            plan.name,
            resolved.asm.layers[0].name(),
            names.join(" or ")
        ),
    }
}

/// Returns the reason for which the loop around a copy does not go from tile to tile.
fn not_in_loop(resolved: &Resolved, plan: &InputPlan, stages: i64, copy: &Copy) -> Option<String> {
    let what = format!(
        "input '{}' has {stages} stages and is staged at '{}'",
        plan.name,
        resolved.name(copy.level)
    );
    let nests = resolved.nests();
    if !nests.iter().any(|nest| nest.decompose && nest.scalar) {
        return Some(format!(
            "{what}, but the phases are {} loop nests: expected de-composition and the scalar \
             phase in one",
            nests.len()
        ));
    }
    let expected = "expected a loop directly outside whose parts follow each other, or 1 stage";
    // A loop of one part goes nowhere, but is one for other sizes.
    let phase = &resolved.decompose;
    let outside = phase.order.iter().take_while(|l| **l != copy.level);
    let is_loop = |l: &&Level| !resolved.count(**l).is_one() || !resolved.is_parallel(phase, **l);
    let Some(around) = outside.filter(is_loop).last().copied() else {
        return Some(format!("{what}, outside of all loops: {expected}"));
    };
    if let Some((level, threads)) = split_across_threads(resolved, copy) {
        return Some(format!(
            "{what}, inside of '{}', which each part of '{}' goes through alone: expected loops \
             that all threads go through equally, or 1 stage",
            resolved.name(level),
            resolved.name(threads)
        ));
    }
    if resolved.is_parallel(&resolved.decompose, around) {
        return Some(format!(
            "{what}, directly inside of '{}', which is parallel: {expected}",
            resolved.name(around)
        ));
    }
    let ordered = resolved.tile_order.iter().flat_map(|plan| &plan.levels);
    ordered.into_iter().any(|level| *level == around).then(|| {
        format!(
            "{what}, directly inside of '{}', whose tiles have an order of their own: {expected}",
            resolved.name(around)
        )
    })
}

/// A loop around a copy that goes through parts of what threads outside of it have, and these.
fn split_across_threads(resolved: &Resolved, copy: &Copy) -> Option<(Level, Level)> {
    let phase = &resolved.decompose;
    let mut threads: Vec<Level> = Vec::new();
    for level in &resolved.decomposition()[..copy.position] {
        let to = phase.assign[level.layer][level.dimension];
        match resolved.is_parallel(phase, *level) {
            true if to.layer > copy.region => threads.push(*level),
            true => {}
            false => {
                let thread = threads.iter().find(|l| l.dimension == level.dimension);
                if let Some(thread) = thread {
                    return Some((*level, *thread));
                }
            }
        }
    }
    None
}

/// Returns whether neighbours in a buffer of that rank are neighbours in a layout.
fn keeps_rows(layout: &StagedLayout, rank: usize) -> bool {
    let mut last = rank;
    for step in &layout.steps {
        match step {
            Step::Permuted(order) if last == rank => {
                last = order.last().copied().unwrap_or(rank);
            }
            // What these do is the lowering's question.
            Step::Permuted(_) | Step::Blocked(_) | Step::Algebra(_) => return true,
            Step::Padded(_) => {}
        }
    }
    last == rank
}
