//! Regions and layouts along the loops (D3, D4, S3 to S6, R3, R4), masks and orders of tiles.

use super::loops::{Loop, RegisterTile};
use super::refusal::{Reason, Refusal, Subject};
use crate::resolved::{InputPlan, Level, OutputPlan, PerLevel, Resolved};
use crate::schedule::TailCode;
use crate::staged_layout::StagedLayout;
use mdh_algebra::computation::Combine;

/// A place for tiles: a region, as the position of an ASM layer, and a layout.
pub type TileMemory<'a> = (usize, &'a StagedLayout);

/// The place of tiles at the end of an order.
fn last<'a>(
    resolved: &Resolved,
    order: &[Level],
    regions: &PerLevel<usize>,
    layouts: &'a PerLevel<StagedLayout>,
) -> Option<TileMemory<'a>> {
    let mut loops = order.iter().rev().filter(|l| !resolved.count(**l).is_one());
    let Level { layer, dimension } = *loops.next()?;
    Some((regions[layer][dimension], &layouts[layer][dimension]))
}

/// Returns whether values at a place are copied there for the scalar function: they pass through
/// registers anyway.
fn is_copied(resolved: &Resolved, here: TileMemory, last: Option<TileMemory>) -> bool {
    let row_major = StagedLayout::row_major();
    let is_register = resolved.asm.layers[here.0].name() == "register";
    here != last.unwrap_or((0, &row_major)) && !is_register
}

impl Resolved {
    /// The place of an input's tiles in the innermost loop (D3, D4).
    fn last_of_input<'a>(&self, plan: &'a InputPlan) -> Option<TileMemory<'a>> {
        last(self, &self.decompose.order, &plan.region, &plan.layout)
    }

    /// The place of an output's tiles in the innermost loop (R3, R4).
    fn last_of_output<'a>(&self, plan: &'a OutputPlan) -> Option<TileMemory<'a>> {
        last(self, &self.recompose.order, &plan.region, &plan.layout)
    }

    /// The place to which tiles of an input are copied for the scalar function (S3, S4), if it is not
    /// where they are.
    pub fn scalar_input<'a>(&'a self, plan: &'a InputPlan) -> Option<TileMemory<'a>> {
        let here = (plan.scalar, &plan.scalar_layout);
        is_copied(self, here, self.last_of_input(plan)).then_some(here)
    }

    /// The place to which the scalar function writes (S5, S6), if it is not where results are.
    pub fn scalar_output<'a>(&'a self, plan: &'a OutputPlan) -> Option<TileMemory<'a>> {
        let here = (plan.scalar, &plan.scalar_layout);
        is_copied(self, here, self.last_of_output(plan)).then_some(here)
    }

    /// Returns whether something is copied for the scalar function.
    pub fn copies_for_scalar(&self) -> bool {
        let (mut inputs, mut outputs) = (self.inputs.iter(), self.outputs.iter());
        inputs.any(|plan| self.scalar_input(plan).is_some())
            || outputs.any(|plan| self.scalar_output(plan).is_some())
    }

    /// The place of an input's tiles in a loop.
    pub(super) fn input_at<'a>(&self, plan: &'a InputPlan, of: Loop) -> TileMemory<'a> {
        let Level { layer, dimension } = of.level;
        (
            plan.region[layer][dimension],
            &plan.layout[layer][dimension],
        )
    }

    /// The place of an output's tiles in a loop.
    pub(super) fn output_at<'a>(&self, plan: &'a OutputPlan, of: Loop) -> TileMemory<'a> {
        let Level { layer, dimension } = of.level;
        (
            plan.region[layer][dimension],
            &plan.layout[layer][dimension],
        )
    }
}

/// Returns whether tiles are copied before the first loop: to where they are in it, or, where that is a
/// leaf, to where the scalar function has them.
pub fn is_staged(resolved: &Resolved, loops: &[Loop]) -> bool {
    let registers = resolved.asm.position("register");
    let row_major = StagedLayout::row_major();
    let is_moved = |place: TileMemory| place != (0, &row_major) && Some(place.0) != registers;
    let Some(first) = loops.first().copied() else {
        return resolved.copies_for_scalar();
    };
    let (mut inputs, mut outputs) = (resolved.inputs.iter(), resolved.outputs.iter());
    resolved.copies_for_scalar()
        || inputs.any(|plan| is_moved(resolved.input_at(plan, first)))
        || outputs.any(|plan| is_moved(resolved.output_at(plan, first)))
}

/// Refusals of what stands in a schedule for places where the lowering has no code for it; `leaf` is
/// the position of the first loop that stays in registers.
pub(super) fn check(of: &Subject, loops: &[Loop], leaf: usize, found: &mut Vec<Refusal>) {
    tails(of, &loops[leaf..], found);
    scalar_phase(of.resolved, found);
    tile_order(of, &loops[leaf..], found);
    for plan in &of.resolved.inputs {
        let homes: Vec<TileMemory> = loops
            .iter()
            .map(|l| of.resolved.input_at(plan, *l))
            .collect();
        let what = format!("that stages '{}'", plan.name);
        homes_stay(of.resolved, &what, &homes, (loops, leaf), found);
    }
    for plan in &of.resolved.outputs {
        let homes: Vec<TileMemory> = loops
            .iter()
            .map(|l| of.resolved.output_at(plan, *l))
            .collect();
        let what = format!("that combines '{}'", plan.name);
        homes_stay(of.resolved, &what, &homes, (loops, leaf), found);
    }
}

/// Only blocks of points in registers and lanes have code that can be masked: what is around them
/// ends where the points do.
fn tails(subject: &Subject, leaf: &[Loop], refusals: &mut Vec<Refusal>) {
    for (name, code) in &subject.schedule.tails {
        let is_named = |l: &&Loop| subject.resolved.dimensions[l.level.dimension] == *name;
        let is_kept = leaf
            .iter()
            .find(is_named)
            .is_some_and(|l| l.combine == Combine::Cc);
        if *code == TailCode::Mask && !is_kept {
            let message = format!(
                "that masks the tail of '{name}': expected a dimension that is not combined and has \
                 parts in registers or lanes, or 'peel'"
            );
            refusals.push(Refusal::new(Reason::Tail, message));
        }
    }
}

/// Tiles in registers are unrolled in the order of their indices.
fn tile_order(of: &Subject, leaf: &[Loop], found: &mut Vec<Refusal>) {
    let levels = of.resolved.tile_order.iter().flat_map(|plan| &plan.levels);
    let is_of_threads = |level: &&Level| ["warp", "thread"].contains(&of.layer(**level));
    let mut refuse = |level: &Level, why: &str| {
        let name = of.resolved.name(*level);
        let message = format!("that gives tiles of '{name}' an order of their own, which {why}");
        found.push(Refusal::new(Reason::TileOrder, message));
    };
    let mut threads = levels.clone().filter(is_of_threads);
    if let Some(level) = threads.next().filter(|_| of.resolved.asm.has_kernels()) {
        refuse(
            level,
            "are threads: expected levels of blocks, or of memory",
        );
    }
    let mut inside = levels.filter(|level| leaf.iter().any(|l| l.level == **level));
    if let Some(level) = inside.next() {
        refuse(
            level,
            "stays in registers: expected levels outside of registers",
        );
    }
}

/// S3 to S6: values pass through registers between where tiles are and the scalar function, and
/// tiles that are in registers are nowhere else.
fn scalar_phase(resolved: &Resolved, found: &mut Vec<Refusal>) {
    let row_major = StagedLayout::row_major();
    let mut check = |what: String, here: TileMemory, last: Option<TileMemory>| {
        let name = |region: usize| resolved.asm.layers[region].name();
        let is_register = |region: usize| name(region) == "register";
        let last = last.unwrap_or((0, &row_major));
        let expected = match (is_register(last.0), is_register(here.0)) {
            (true, false) => "expected 'register', where its tiles are",
            (_, true) if *here.1 != row_major => "expected no layout of registers",
            _ => return,
        };
        let message = format!(
            "whose scalar function {what} in '{}' ({}): {expected}",
            name(here.0),
            here.1,
        );
        found.push(Refusal::new(Reason::ScalarRegion, message));
    };
    for plan in &resolved.inputs {
        let what = format!("reads '{}' (S3, S4)", plan.name);
        let last = resolved.last_of_input(plan);
        check(what, (plan.scalar, &plan.scalar_layout), last);
    }
    for plan in &resolved.outputs {
        let what = format!("writes '{}' (S5, S6)", plan.name);
        let last = resolved.last_of_output(plan);
        check(what, (plan.scalar, &plan.scalar_layout), last);
    }
}

/// Once in registers, tiles stay there; inside of a leaf they are nowhere else.
fn homes_stay(
    resolved: &Resolved,
    what: &str,
    homes: &[TileMemory],
    (loops, leaf): (&[Loop], usize),
    found: &mut Vec<Refusal>,
) {
    let row_major = StagedLayout::row_major();
    let registers = resolved.asm.position("register");
    let mut before = (0, &row_major);
    for (position, (of, here)) in loops.iter().zip(homes).enumerate() {
        let changes = *here != before;
        let is_register = Some(here.0) == registers;
        let (name, region) = (resolved.name(of.level), resolved.asm.layers[here.0].name());
        let mut refuse = |expected: &str| {
            let message = format!(
                "{what} in '{region}' ({}) from '{name}' on: expected {expected}",
                here.1
            );
            found.push(Refusal::new(Reason::Region, message));
        };
        if is_register && *here.1 != row_major {
            refuse("no layout of registers");
        } else if changes && Some(before.0) == registers {
            refuse("it to stay in registers, where it is outside of that level");
        } else if changes && position > leaf && !is_register {
            refuse("'register': the level is one of those that stay in registers");
        }
        before = *here;
    }
}

/// Blocks of so many points are none of registers: each of the points is code of its own, and has a
/// byte at least.
pub(super) fn registers(of: &Subject, form: &RegisterTile, found: &mut Vec<Refusal>) {
    let levels = || form.block.iter().chain(&form.group).map(|l| l.level);
    let points = levels().fold(1i64, |all, level| {
        all.saturating_mul(of.resolved.count(level).known().unwrap_or(1))
    });
    let register = of.resolved.asm.memory("register");
    let Some(bytes) = register.and_then(|register| register.capacity) else {
        return;
    };
    if u64::try_from(points).unwrap_or_default() <= bytes {
        return;
    }
    let names: Vec<String> = levels().map(|l| of.resolved.name(l).to_string()).collect();
    let message = format!(
        "with {points} points in registers at once ({}): expected at most {bytes}, one for each byte \
         of the registers",
        names.join(", ")
    );
    found.push(Refusal::new(Reason::Registers, message));
}
