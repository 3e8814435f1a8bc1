//! Warp-level MMA, products of matrices: the layer `mma`.
//!
//! In `thread {i: 8, j: 4}, mma {i: 2, j: 2, k: 16}` each of 32 threads has 2 x 2 sums over `k`, and all
//! of them together the 16 x 8 sums of one instruction, `mma.sync.m16n8k16` of NVIDIA's GPUs. A sum stays
//! with the thread that has it: the instruction leaves open which of its rows, columns and terms stand
//! for which points.

use super::resolved::{Level, Resolved};
use super::schedule_path::SchedulePath;
use super::violation::{Constraint, Violation, find};
use crate::asm::MATRIX;
use mdh_algebra::computation::{Access, Computation};
use mdh_algebra::mapping::axis_name;
use mdh_algebra::operator::{Builtin, Operator};
use mdh_algebra::scalar::ScalarType;

/// Parts of a dimension that is kept.
const KEPT: i64 = 2;
/// Parts of the dimension that is combined.
pub const TERMS: i64 = 16;
/// Threads in the dimensions x and y: of a warp, along columns and rows.
pub const THREADS: [i64; 2] = [4, 8];

/// Checks the levels of `mma`, if there are any.
pub(super) fn check(resolved: &Resolved, computation: &Computation, found: &mut Vec<Violation>) {
    let levels = several(resolved, MATRIX);
    if levels.is_empty() {
        return;
    }
    let is_pw = |l: &Level| computation.dimensions[l.dimension].combine.is_pw();
    let (terms, kept): (Vec<Level>, Vec<Level>) = levels.iter().partition(|l| is_pw(l));
    let messages = [
        parts(resolved, &levels, &terms, &kept),
        order(resolved, &levels),
        threads(resolved, &kept),
        columns(resolved, computation),
        types(computation),
        factors(resolved, computation, &kept),
    ];
    for message in messages.into_iter().flatten() {
        find(
            found,
            Constraint::Instruction,
            SchedulePath::layer(MATRIX),
            message,
        );
    }
}

/// The levels of more than one part that are given to a layer.
fn several(resolved: &Resolved, layer: &str) -> Vec<Level> {
    let levels = resolved.assigned(&resolved.decompose, layer).into_iter();
    levels.filter(|l| !resolved.count(*l).is_one()).collect()
}

fn text(resolved: &Resolved, levels: &[Level]) -> String {
    let texts = levels.iter().map(|l| {
        let count = resolved.count(*l).known();
        let count = count.map_or("?".into(), |n| n.to_string());
        format!("{}: {count}", resolved.dimensions[l.dimension])
    });
    format!("{{{}}}", texts.collect::<Vec<_>>().join(", "))
}

fn parts(resolved: &Resolved, levels: &[Level], terms: &[Level], kept: &[Level]) -> Option<String> {
    let all_have = |levels: &[Level], count: i64| {
        let mut counts = levels.iter().map(|l| resolved.count(*l).known());
        counts.all(|known| known == Some(count))
    };
    let is_known =
        (terms.len(), kept.len()) == (1, 2) && all_have(terms, TERMS) && all_have(kept, KEPT);
    (!is_known).then(|| {
        format!(
            "'{MATRIX}' has the parts {}, expected {KEPT} of each of two dimensions that are kept and \
             {TERMS} of one that is combined",
            text(resolved, levels)
        )
    })
}

/// Nothing is inside of what the instruction does, and all phases do it.
fn order(resolved: &Resolved, levels: &[Level]) -> Option<String> {
    let loops = resolved.decompose.order.iter();
    let loops: Vec<&Level> = loops.filter(|l| !resolved.count(**l).is_one()).collect();
    let last = &loops[loops.len().saturating_sub(levels.len())..];
    if let Some(other) = last.iter().find(|l| !levels.contains(l)) {
        return Some(format!(
            "level '{}' is inside of '{MATRIX}', expected the parts of '{MATRIX}' inside of all others",
            resolved.name(**other)
        ));
    }
    let count = resolved.nests().len();
    (count > 1).then(|| {
        format!(
            "the phases are {count} loop nests, expected 1: the same order in all of them, since \
             '{MATRIX}' evaluates and combines at once"
        )
    })
}

/// The threads of a warp, where there are any: what is left for one thread has none.
fn threads(resolved: &Resolved, kept: &[Level]) -> Option<String> {
    let levels = several(resolved, "thread");
    if levels.is_empty() {
        return None;
    }
    let axis = |l: &Level| resolved.decompose.assign[l.layer][l.dimension].dimension;
    let counts = |l: &Level| resolved.count(*l).known();
    let is_known = levels.len() == THREADS.len()
        && (levels.iter().zip(THREADS).enumerate())
            .all(|(n, (l, count))| axis(l) == n && counts(l) == Some(count))
        && (levels.iter()).all(|l| kept.iter().any(|k| k.dimension == l.dimension));
    (!is_known).then(|| {
        let texts = levels.iter().map(|l| {
            let count = counts(l).map_or("?".into(), |n| n.to_string());
            let (name, axis) = (&resolved.dimensions[l.dimension], axis_name(axis(l)));
            format!("{count} of '{name}' in dimension '{axis}'")
        });
        format!(
            "'thread' has {}, expected {} in 'x' and {} in 'y', of the two dimensions that '{MATRIX}' \
             keeps",
            texts.collect::<Vec<_>>().join(", "),
            THREADS[0],
            THREADS[1]
        )
    })
}

/// Threads give each other columns, which they find by how far apart they are.
fn columns(resolved: &Resolved, computation: &Computation) -> Option<String> {
    let axis = |l: &Level| resolved.decompose.assign[l.layer][l.dimension].dimension;
    let levels = several(resolved, "thread");
    let column = levels.iter().find(|l| axis(l) == 0)?.dimension;
    let dimension = &computation.dimensions[column];
    let is_even = dimension.width == Some(1)
        || dimension.width.is_some() && dimension.width == dimension.step;
    (!is_even).then(|| {
        format!(
            "the columns of '{MATRIX}' are points of '{}', which lie in groups with gaps: expected points at equal \
             distances",
            resolved.dimensions[column]
        )
    })
}

fn types(computation: &Computation) -> Option<String> {
    let is_sum = matches!(&computation.operators[..],
        [Operator::Builtin(all)] if all[..] == [Builtin::Addf]);
    let inputs = computation.inputs.iter();
    let inputs: Vec<ScalarType> = inputs
        .flat_map(|input| input.accesses.iter().map(|_| input.element))
        .collect();
    let halves = [ScalarType::F16, ScalarType::BF16];
    let is_pair = matches!(inputs[..], [a, b] if a == b && halves.contains(&a));
    let is_known = is_sum && computation.components == [ScalarType::F32] && is_pair;
    let names = |types: &[ScalarType]| {
        let names: Vec<String> = types.iter().map(|ty| ty.to_string()).collect();
        names.join(", ")
    };
    (!is_known).then(|| {
        let sum = if is_sum { "sums" } else { "results" };
        format!(
            "{sum} of {} out of {}, for which '{MATRIX}' has no instruction, expected sums of f32 (addf) \
             out of two of f16 or two of bf16",
            names(&computation.components),
            names(&inputs)
        )
    })
}

/// Each of the two dimensions moves one of the two factors.
fn factors(resolved: &Resolved, computation: &Computation, kept: &[Level]) -> Option<String> {
    let [first, second] = kept else {
        return None;
    };
    let is_known = is_product(computation, [first.dimension, second.dimension]);
    (!is_known).then(|| {
        let name = |level: &Level| &resolved.dimensions[level.dimension];
        format!(
            "'{MATRIX}' keeps '{}' and '{}', expected one input that is read along the first of them \
             only, and another along the second only",
            name(first),
            name(second)
        )
    })
}

/// Returns whether each of two dimensions moves one of two factors, and that one alone.
pub fn is_product(computation: &Computation, kept: [usize; 2]) -> bool {
    let accesses = computation.inputs.iter().flat_map(|input| &input.accesses);
    let moves = |access: &Access, dimension: usize| {
        let mut axes = access.map.iter();
        axes.any(|expr| expr.dims().contains(&dimension))
    };
    let moved: Vec<[bool; 2]> = accesses
        .map(|access| kept.map(|dimension| moves(access, dimension)))
        .collect();
    matches!(
        moved[..],
        [[true, false], [false, true]] | [[false, true], [true, false]]
    )
}
