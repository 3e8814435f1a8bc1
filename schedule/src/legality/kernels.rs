//! Launches of kernels: the parts that are blocks and threads.

use super::loops::Loop;
use super::refusal::{Reason, Refusal, Subject};
use crate::asm::MATRIX;
use crate::asm::facts::WARP;

/// Refusals of parallel loops that are no launch; `leaf` is the position of the first loop that stays in
/// registers.
pub(super) fn check(of: &Subject, loops: &[Loop], leaf: usize, found: &mut Vec<Refusal>) {
    if !of.resolved.asm.has_kernels() {
        return;
    }
    instruction(of, loops, leaf, found);
    let is_of_threads = |l: &&Loop| ["warp", "thread"].contains(&of.layer(l.level));
    for l in loops.iter().filter(|l| l.is_parallel) {
        let layer = of.layer(l.level);
        let name = of.resolved.name(l.level);
        if !["block", "warp", "thread", MATRIX].contains(&layer) {
            let message = format!(
                "whose kernel gives the parts of '{name}' to '{layer}': expected blocks, warps and \
                 threads, others are not lowered yet"
            );
            // A schedule for several devices is one, although there is no code for it yet.
            found.push(Refusal::new(Reason::Threads, message).open());
        }
        if is_of_threads(&l) && l.count.known().is_none() {
            let message = format!(
                "with as many parts of '{name}' as '{}' has points, a number that is not known before \
                 it runs: expected a number of {layer}s, and '*' in another layer",
                of.resolved.dimensions[l.level.dimension],
            );
            found.push(Refusal::new(Reason::Threads, message).open());
        }
    }
    blocks(of, loops, found);
    let exchanges = |l: &&Loop| {
        let mut outputs = of.resolved.outputs.iter();
        let is_register = |region: usize| of.resolved.asm.layers[region].name() == "register";
        of.layer(l.level) == "thread"
            && l.combine.is_pw()
            && outputs.any(|plan| is_register(of.resolved.output_at(plan, **l).0))
    };
    let threads = loops.iter().filter(|l| of.layer(l.level) == "thread");
    let lanes: Option<i64> = threads.map(|l| l.count.known()).product();
    if loops.iter().any(|l| exchanges(&l)) && lanes.is_some_and(|lanes| lanes > WARP) {
        let message = format!(
            "whose kernel combines results of {} threads in registers: expected at most {WARP}, or \
             warps of so many",
            lanes.unwrap_or_default()
        );
        found.push(Refusal::new(Reason::Threads, message));
    }
}

/// Refuses copies between the parts of a warp-level MMA: an instruction is one, and copies
/// nothing.
fn instruction(of: &Subject, loops: &[Loop], leaf: usize, found: &mut Vec<Refusal>) {
    let first = loops.iter().position(|l| of.layer(l.level) == MATRIX);
    let Some(first) = first.filter(|first| leaf > *first) else {
        return;
    };
    let inner =
        (first + 1..loops.len()).flat_map(|n| of.copied_at(loops, n).map(move |name| (n, name)));
    for (n, name) in inner {
        let message = format!(
            "that stages '{name}' at '{}', inside of '{}', whose parts one instruction of '{MATRIX}' \
             computes: expected it at '{}', or outside of that",
            of.resolved.name(loops[n].level),
            of.resolved.name(loops[first].level),
            of.resolved.name(loops[first].level),
        );
        found.push(Refusal::new(Reason::Region, message));
    }
}

/// Refuses blocks inside of loops that each block would have to go through: threads, and loops of
/// its own.
fn blocks(of: &Subject, loops: &[Loop], found: &mut Vec<Refusal>) {
    let layer = |l: &Loop| l.is_parallel.then(|| of.layer(l.level));
    let is_of_threads = |l: &Loop| matches!(layer(l), Some("warp" | "thread"));
    let is_of_blocks = |l: &Loop| layer(l) == Some("block");
    let Some(first) = loops.iter().position(is_of_blocks) else {
        return;
    };
    for (n, own) in loops.iter().enumerate().skip(first) {
        let threads = loops[..n].iter().find(|l| is_of_threads(l));
        let around = threads.or_else(|| loops[first..n].iter().find(|l| !is_of_blocks(l)));
        let Some(around) = around.filter(|_| is_of_blocks(own)) else {
            continue;
        };
        let what = match is_of_threads(around) {
            true => "whose parts are those of one block",
            false => "which each block goes through",
        };
        let message = format!(
            "whose order has '{}' inside of '{}', {what}: expected blocks outside of all loops but \
             those around all blocks",
            of.resolved.name(own.level),
            of.resolved.name(around.level),
        );
        found.push(Refusal::new(Reason::Threads, message));
    }
}
