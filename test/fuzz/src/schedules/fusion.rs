//! Computations in the loops of others (`compute_at`).

use mdh_algebra::computation::Combine;
use mdh_schedule::asm::Asm;
use mdh_schedule::{ComputeAt, LevelName, Resolved, Schedule, check_compute_at};

use super::plan::ValidSchedule;
use super::targets::Target;
use super::{Style, draw, edit};
use crate::choices::Choices;

/// A schedule of a few loops outside of registers, of which the phases are one nest.
pub fn plain(c: &mut Choices, target: &Target, asm: &Asm) -> Schedule {
    let start = draw::loops(c, target, asm);
    let mut plan = ValidSchedule::new(target, asm, start);
    if c.chance("changed", 25) {
        edit::all(c, &mut plan, Style::Focused);
    }
    plan.schedule
}

/// Fuses one computation into the loop of one that comes after it.
pub fn compute_at(
    c: &mut Choices,
    targets: &[Target],
    schedules: &mut [Option<Schedule>],
    asm: &Asm,
) {
    let producer = c.below("producer", targets.len() as u64 - 1) as usize;
    let behind = (targets.len() - producer - 1) as u64;
    // What comes next reads it most often.
    let consumer = match c.chance("another", 30) {
        true => producer + 1 + c.below("consumer", behind) as usize,
        false => producer + 1,
    };
    let (Some(reader), Some(_)) = (&schedules[consumer], &schedules[producer]) else {
        return;
    };
    let consumer = &targets[consumer];
    let Ok(resolved) = Resolved::new(reader, &consumer.known, asm) else {
        return;
    };
    let order = resolved.decompose.order.iter();
    let loops: Vec<_> = order
        .filter(|level| !resolved.count(**level).is_one())
        .collect();
    let is_cc = |d: usize| consumer.known.dimensions[d].combine == Combine::Cc;
    let outer = loops.iter().take_while(|level| is_cc(level.dimension));
    // What a part of a combined dimension needs, another one mostly needs as well.
    let count = match c.chance("any level", 25) {
        true => loops.len(),
        false => outer.count(),
    };
    if count == 0 {
        return;
    }
    // What is needed mostly depends on the outermost level.
    let number = match c.chance("inside", 40) {
        true => c.below("level", count as u64) as usize,
        false => 0,
    };
    let level: LevelName = resolved.name(*loops[number]);
    let consumer = consumer.name.clone();
    let at = ComputeAt { consumer, level };
    if check_compute_at(&at, &[(&at.consumer, &resolved)]).is_ok()
        && let Some(schedule) = &mut schedules[producer]
    {
        schedule.compute_at = Some(at);
    }
}
