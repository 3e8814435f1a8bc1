//! What of a schedule the lowering follows: everything else is refused by name, not ignored.

use mdh_algebra::computation::Combine;
use mdh_algebra::schedule::{Layout, Level, PerLevel, TailCode, Total};
use mdh_dialect::ir::Errors;

use super::interleaved;
use super::scalar::{self, Place};
use crate::kernels;
use crate::scheduled::{Loop, Scheduled};

/// What is written in a schedule but not followed; `leaf` is the position of the first loop that
/// stays in registers.
pub fn findings(of: &Scheduled, loops: &[Loop], leaf: usize) -> Errors {
    let mut found = Errors::new();
    if of.total.nests().len() > 1 && of.total.late(&of.computation).is_none() {
        found.push(
            "has a schedule whose phases are separate loop nests: run mdh-split-phases first"
                .into(),
        );
    }
    interleaved::findings(of, loops, &mut found);
    tails(of, &loops[leaf..], &mut found);
    scalar_phase(of, &mut found);
    tile_order(of, &loops[leaf..], &mut found);
    for plan in &of.total.inputs {
        let homes = Homes {
            of,
            what: format!("stages '{}'", plan.name),
            region: &plan.region,
            layout: &plan.layout,
        };
        homes.check(loops, leaf, &mut found);
    }
    for plan in &of.total.outputs {
        let homes = Homes {
            of,
            what: format!("combines '{}'", plan.name),
            region: &plan.region,
            layout: &plan.layout,
        };
        homes.check(loops, leaf, &mut found);
    }
    found
}

/// Only blocks of points in registers and lanes have code that can be masked: what is around them
/// ends where the points do.
fn tails(of: &Scheduled, leaf: &[Loop], found: &mut Errors) {
    for (name, code) in &of.schedule.tails {
        let own = |l: &&Loop| of.total.dimensions[l.level.dimension] == *name;
        let is_kept = leaf
            .iter()
            .find(own)
            .is_some_and(|l| l.combine == Combine::Cc);
        if *code == TailCode::Mask && !is_kept {
            found.push(format!(
                "has a schedule that masks the tail of '{name}': expected a dimension that is not \
                 combined and has parts in registers or lanes, or 'peel'"
            ));
        }
    }
}

/// What stays in registers is unrolled in the order of its indices.
fn tile_order(of: &Scheduled, leaf: &[Loop], found: &mut Errors) {
    let levels = of.total.tile_order.iter().flat_map(|plan| &plan.levels);
    let assign = &of.total.decompose.assign;
    let asm = &of.total.asm;
    let layer = |level: &Level| asm.layers[assign[level.layer][level.dimension].layer].name();
    let is_of_threads = |level: &&Level| [kernels::WARP, kernels::THREAD].contains(&layer(level));
    let mut threads = levels.clone().filter(is_of_threads);
    if let Some(level) = threads.next().filter(|_| asm.has_kernels()) {
        found.push(format!(
            "has a schedule that gives tiles of '{}' an order of their own, which are threads: \
             expected levels of blocks, or of memory",
            of.total.name(*level)
        ));
    }
    let mut inside = levels.filter(|level| leaf.iter().any(|l| l.level == **level));
    if let Some(level) = inside.next() {
        found.push(format!(
            "has a schedule that gives tiles of '{}' an order of their own, which stays in \
             registers: expected levels outside of registers",
            of.total.name(*level)
        ));
    }
}

/// S3 to S6: values pass through registers between where tiles are and the scalar function, and
/// tiles that are in registers are nowhere else.
fn scalar_phase(of: &Scheduled, found: &mut Errors) {
    let total = &of.total;
    let row_major = Layout::row_major();
    let mut check = |what: String, here: Place, last: Option<Place>| {
        let name = |region: usize| total.asm.layers[region].name();
        let is_register = |region: usize| name(region) == "register";
        let last = last.unwrap_or((0, &row_major));
        let expected = match (is_register(last.0), is_register(here.0)) {
            (true, false) => "expected 'register', where its tiles are",
            (_, true) if *here.1 != row_major => "expected no layout of registers",
            _ => return,
        };
        found.push(format!(
            "has a schedule whose scalar function {what} in '{}' ({}): {expected}",
            name(here.0),
            here.1,
        ));
    };
    for plan in &total.inputs {
        let what = format!("reads '{}' (S3, S4)", plan.name);
        let last = scalar::last_of_input(total, plan);
        check(what, (plan.scalar, &plan.scalar_layout), last);
    }
    for plan in &total.outputs {
        let what = format!("writes '{}' (S5, S6)", plan.name);
        let last = scalar::last_of_output(total, plan);
        check(what, (plan.scalar, &plan.scalar_layout), last);
    }
}

/// Whether tiles are copied before the first loop: to where they are in it, or, where that is a
/// leaf, to where the scalar function has them.
pub fn is_staged(of: &Scheduled, loops: &[Loop]) -> bool {
    let total = &of.total;
    let registers = total.asm.position("register");
    let row_major = Layout::row_major();
    let is_moved = |region: &PerLevel<usize>, layout: &PerLevel<Layout>| {
        loops.first().is_some_and(|first| {
            let Level { layer, dimension } = first.level;
            let region = region[layer][dimension];
            (region, &layout[layer][dimension]) != (0, &row_major) && Some(region) != registers
        })
    };
    let (inputs, outputs) = (total.inputs.iter(), total.outputs.iter());
    scalar::is_staged(total)
        || inputs
            .map(|p| (&p.region, &p.layout))
            .any(|(r, l)| is_moved(r, l))
        || outputs
            .map(|p| (&p.region, &p.layout))
            .any(|(r, l)| is_moved(r, l))
}

/// Where a buffer's tiles are, by level.
struct Homes<'a, 'c> {
    of: &'a Scheduled<'c>,
    what: String,
    region: &'a PerLevel<usize>,
    layout: &'a PerLevel<Layout>,
}

impl Homes<'_, '_> {
    /// Once in registers, tiles stay there; inside of a leaf they are nowhere else.
    fn check(&self, loops: &[Loop], leaf: usize, found: &mut Errors) {
        let total: &Total = &self.of.total;
        let row_major = Layout::row_major();
        let registers = total.asm.position("register");
        let mut before = (0, &row_major);
        for (position, l) in loops.iter().enumerate() {
            let Level { layer, dimension } = l.level;
            let here = (
                self.region[layer][dimension],
                &self.layout[layer][dimension],
            );
            let changes = here != before;
            let is_register = Some(here.0) == registers;
            let (name, region) = (total.name(l.level), total.asm.layers[here.0].name());
            let mut refuse = |expected: &str| {
                found.push(format!(
                    "has a schedule that {} in '{region}' ({}) from '{name}' on: expected \
                     {expected}",
                    self.what, here.1
                ));
            };
            if is_register && *here.1 != row_major {
                refuse("no layout of registers");
            } else if changes && Some(before.0) == registers {
                refuse("it to stay in registers, where it is outside of that level");
            } else if changes && position > leaf && !is_register {
                refuse("'register': the level is one of those that stay in registers");
            }
            before = here;
        }
    }
}
