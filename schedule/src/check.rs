//! Checks of schedules; every violation of a constraint is collected.

use super::resolved::Resolved;
use super::schedule_path::SchedulePath;
use super::violation::{Constraint, Violation, find};
use crate::asm::Asm;
use crate::schedule::{ComputeAt, Schedule};
use crate::{capacity, machine_rules, matrix, stages, tile_order};
use mdh_algebra::computation::Computation;

/// The total form of a schedule that keeps all constraints, or everything that it violates. What
/// depends on sizes that are not known is checked when they are: check the bound computation.
pub fn check(
    schedule: &Schedule,
    computation: &Computation,
    asm: &Asm,
) -> Result<Resolved, Vec<Violation>> {
    let resolved = Resolved::new(schedule, computation, asm)?;
    let mut violations = Vec::new();
    order_kept(&resolved, computation, &mut violations);
    tile_order::check(&resolved, computation, &mut violations);
    machine_rules::check(&resolved, computation, &mut violations);
    matrix::check(&resolved, computation, &mut violations);
    stages::check(&resolved, computation, &mut violations);
    capacity::check(&resolved, computation, &mut violations);
    if violations.is_empty() {
        return Ok(resolved);
    }
    resolved.explain_left_out(
        schedule,
        violations
            .iter_mut()
            .map(|violation| &mut violation.message),
    );
    Err(violations)
}

/// Levels of a dimension that a non-commutative operator combines are nested as their layers
/// are: then every partial result stands for neighbours.
fn order_kept(resolved: &Resolved, computation: &Computation, found: &mut Vec<Violation>) {
    let Some(operator) = computation.operator().filter(|op| !op.is_commutative()) else {
        return;
    };
    for (d, dimension) in computation.dimensions.iter().enumerate() {
        if dimension.combine.operator().is_none() {
            continue;
        }
        let order = resolved.recompose.order.iter();
        let loops = order.filter(|l| l.dimension == d && !resolved.count(**l).is_one());
        let loops: Vec<_> = loops.collect();
        for pair in loops.windows(2) {
            if pair[0].layer > pair[1].layer {
                let message = format!(
                    "'{operator}' is not commutative, but re-composition has level '{}' (layer \
                     {}) outside of '{}' (layer {}): order them as the layers are",
                    resolved.name(*pair[0]),
                    pair[0].layer + 1,
                    resolved.name(*pair[1]),
                    pair[1].layer + 1
                );
                let place = SchedulePath::root().entry("recompose").entry("order");
                find(found, Constraint::OrderKept, place, message);
            }
        }
    }
}

/// Returns whether the consumer is there and has the level, among the function's other computations.
pub fn check_compute_at(at: &ComputeAt, others: &[(&str, &Resolved)]) -> Result<(), Violation> {
    let refuse = |message| Violation {
        constraint: Constraint::ComputeAt,
        place: SchedulePath::root().entry("compute_at"),
        message,
    };
    let Some((name, consumer)) = others.iter().find(|(name, _)| *name == at.consumer) else {
        let known: Vec<_> = others.iter().map(|(name, _)| *name).collect();
        return Err(refuse(format!(
            "found no computation '{}' to compute at, expected one of {}",
            at.consumer,
            known.join(", ")
        )));
    };
    let layer = consumer.layers.contains(&at.level.layer);
    if layer && consumer.dimensions.contains(&at.level.dimension) {
        return Ok(());
    }
    Err(refuse(format!(
        "computation '{name}' has no level '{}': its layers are {}, its dimensions {}",
        at.level,
        consumer.layers.join(", "),
        consumer.dimensions.join(", ")
    )))
}
