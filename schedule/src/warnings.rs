//! Warnings about computations and schedules that are right and slow, or compute something else than is
//! meant, mostly: each gives the cause, and advice.
//!
//! - *Registers*: the loops of a leaf carry more vectors of partial results than there are registers, or
//!   more terms of a sum are unrolled than there are, each with operands of its own.
//! - *Lanes*: a vector has so many lanes that two values fill the registers.
//! - *Unrolling*: the block of a leaf is so large that it takes long to compile, and does not stay
//!   in the cache of instructions.
//! - *Repetition*: an expensive expression is evaluated again along a dimension that it does not
//!   depend on. Compilers move it out of the loops that are inside of all loops it depends on; what
//!   is left are those around one of these, and lanes that all have the same value.
//! - *Boolean*: a sum of `i1` is their parity, and a product a conjunction.
//! - *Conditions*: a comparison of indices chooses a constant that is not the neutral element, or there is
//!   none, so that loops visit the points at which it does.

mod conditions;
mod repetitions;

use std::collections::BTreeSet;

use self::repetitions::{CountedLoops, Loop, plain, repetitions};
use super::resolved::{Level, Resolved};
use crate::asm::{Asm, LANES, MATRIX};
use crate::schedule::Schedule;
use mdh_algebra::computation::Computation;
use mdh_algebra::operator::{Builtin, Operator};
use mdh_algebra::scalar::ScalarType;

/// The most operations of a block that is unrolled.
const UNROLLED: i64 = 2000;
/// Bytes of a register that is no vector.
const SCALAR: u64 = 4;

/// Cause of slowness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Partial results, the unrolled terms of sums, or the lanes of two values exceed the registers.
    Registers,
    /// A block is unrolled that is too large.
    Unrolling,
    /// An expression is evaluated repeatedly.
    Repetition,
    /// A built-in operator of numbers combines `i1`.
    Boolean,
    /// Points are visited that a condition excludes.
    Conditions,
}

/// A warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The cause.
    pub cause: Cause,
    /// Found, and what to do: a sentence without a full stop.
    pub message: String,
}

/// The warnings about a computation with a schedule, or with plain loops, on a machine.
pub fn warnings(computation: &Computation, schedule: Option<&Schedule>, asm: &Asm) -> Vec<Warning> {
    let mut warnings = wraps(computation);
    let Some(schedule) = schedule else {
        warnings.extend(repetitions(computation, &plain(computation)));
        warnings.extend(conditions::warning(computation));
        return warnings;
    };
    let machine = schedule.asm.as_ref().filter(|name| **name != asm.name);
    let machine = machine.and_then(|name| Asm::builtin(name));
    // What cannot be understood is an error.
    let Ok(resolved) = Resolved::new(schedule, computation, machine.as_ref().unwrap_or(asm)) else {
        return warnings;
    };
    let leaf = Leaf::new(&resolved, computation);
    let registers = leaf.registers(&resolved, computation);
    warnings.extend(registers.or_else(|| leaf.wide_lanes(&resolved, computation)));
    let unrolled = leaf.unrolling(&resolved, computation);
    warnings.extend(unrolled.or_else(|| leaf.operands(&resolved, computation)));
    warnings.extend(repetitions(computation, &leaf.nest(&resolved)));
    warnings.extend(conditions::warning(computation));
    warnings
}

/// The levels of the scalar function's loops, outermost first.
struct Leaf {
    /// Loops outside of registers.
    outside: Vec<Level>,
    /// Loops that carry partial results.
    carrying: Vec<Level>,
    /// Unrolled loops.
    block: Vec<Level>,
    /// Loops over the lanes of a vector, or the threads of a warp.
    lanes: Vec<Level>,
}

impl Leaf {
    fn new(resolved: &Resolved, computation: &Computation) -> Leaf {
        let mut leaf = Leaf {
            outside: Vec::new(),
            carrying: Vec::new(),
            block: Vec::new(),
            lanes: Vec::new(),
        };
        for level in &resolved.scalar.order {
            if resolved.count(*level).is_one() {
                continue;
            }
            let to = resolved.scalar.assign[level.layer][level.dimension];
            let layer = resolved.asm.layers[to.layer].name();
            let combine = computation.dimensions[level.dimension].combine;
            let opens = leaf.block.is_empty() && leaf.lanes.is_empty();
            let has_loop = leaf.carrying.iter().any(|l| l.dimension == level.dimension);
            let stays = layer == "register" || in_registers(resolved, *level);
            match layer {
                LANES | MATRIX => leaf.lanes.push(*level),
                _ if opens && stays && combine.is_pw() && !has_loop => leaf.carrying.push(*level),
                "register" => leaf.block.push(*level),
                _ => leaf.outside.push(*level),
            }
        }
        leaf
    }

    fn nest(&self, resolved: &Resolved) -> CountedLoops {
        let counted = |level: &Level| Loop {
            dimension: level.dimension,
            count: resolved
                .count(*level)
                .for_points(resolved.points[level.dimension]),
        };
        CountedLoops {
            loops: self
                .outside
                .iter()
                .chain(&self.carrying)
                .map(counted)
                .collect(),
            block: self.block.iter().map(counted).collect(),
            lanes: self.lanes.iter().map(counted).collect(),
        }
    }

    /// The vectors that the loops carry are more than the registers.
    fn registers(&self, resolved: &Resolved, computation: &Computation) -> Option<Warning> {
        let carried = self
            .carrying
            .iter()
            .map(|l| l.dimension)
            .collect::<Vec<_>>();
        let carried = carried.first()?;
        let is_kept = |l: &&Level| !computation.dimensions[l.dimension].combine.is_pw();
        let points = product(
            resolved,
            self.block.iter().chain(&self.lanes).filter(is_kept),
        );
        let (needed, capacity) = (self.results(resolved, computation), capacity(resolved)?);
        if needed <= capacity {
            return None;
        }
        let message = format!(
            "the computation of '{}' carries {} in {needed} registers through its loop over '{}' \
             ({}), and the machine has {capacity}: the others are stored and loaded for each of its \
             points; fewer parts in 'register' fit",
            name(computation),
            count(points, "partial result"),
            resolved.dimensions[*carried],
            text(
                resolved,
                self.block.iter().chain(&self.lanes).filter(is_kept)
            )
        );
        let cause = Cause::Registers;
        Some(Warning { cause, message })
    }

    /// A value and what is added to it are more vectors than there are registers.
    fn wide_lanes(&self, resolved: &Resolved, computation: &Computation) -> Option<Warning> {
        resolved.asm.vector()?;
        let layer = |level: &Level| {
            let place = resolved.scalar.assign[level.layer][level.dimension];
            resolved.asm.layers[place.layer].name()
        };
        if self.lanes.iter().any(|level| layer(level) != LANES) {
            return None;
        }
        let read = computation.inputs.iter().map(|input| input.element);
        let types = computation.components.iter().copied().chain(read);
        let widest = types.max_by_key(|ty| ty.byte_width())?;
        let (bytes, lanes) = (widest.byte_width(), product(resolved, &self.lanes));
        let vectors = self.vectors_of_value(resolved, widest, &|_| true);
        let capacity = capacity(resolved)?;
        if vectors.saturating_mul(2) <= capacity {
            return None;
        }
        let message = format!(
            "the computation of '{}' has {lanes} lanes ({}): a value of {bytes} bytes takes {vectors} vectors in \
             them, and the machine has {capacity} registers: values are stored and loaded again between \
             operations; fewer lanes in 'simd', in a loop, fit",
            name(computation),
            text(resolved, &self.lanes)
        );
        let cause = Cause::Registers;
        Some(Warning { cause, message })
    }

    /// More terms of a sum are unrolled than there are registers, each with operands of its own.
    fn operands(&self, resolved: &Resolved, computation: &Computation) -> Option<Warning> {
        let is_summed = |l: &&Level| computation.dimensions[l.dimension].combine.is_pw();
        let terms = product(resolved, self.block.iter().filter(is_summed));
        let results = self.results(resolved, computation);
        let accesses = computation.inputs.iter();
        let accesses =
            accesses.flat_map(|input| input.accesses.iter().map(move |own| (input, own)));
        let operands = accesses.map(|(input, access)| {
            let dimensions: BTreeSet<usize> = access.map.iter().flat_map(|e| e.dims()).collect();
            let depends = |l: &&Level| dimensions.contains(&l.dimension);
            // What all lanes have is an operand in memory.
            match self.lanes.is_empty() || self.lanes.iter().any(|l| depends(&l)) {
                true => self.vectors(resolved, input.element, &depends),
                false => 0,
            }
        });
        let operands = operands.fold(0, u64::saturating_add);
        let capacity = capacity(resolved)?;
        if terms <= capacity {
            return None;
        }
        let message = format!(
            "the computation of '{}' unrolls {terms} terms of its sums ({}), whose operands take \
             {operands} vectors beside {results} of results, and the machine has {capacity} registers: \
             that takes longer to compile than a loop, and no less to run; move parts from 'register' \
             to a layer outside of it, which become loops",
            name(computation),
            text(resolved, self.block.iter().filter(is_summed))
        );
        let cause = Cause::Registers;
        Some(Warning { cause, message })
    }

    /// The vectors of the results of a block.
    fn results(&self, resolved: &Resolved, computation: &Computation) -> u64 {
        let is_kept = |l: &&Level| !computation.dimensions[l.dimension].combine.is_pw();
        let types = computation.components.iter();
        let vectors = types.map(|ty| self.vectors(resolved, *ty, &is_kept));
        vectors.fold(0, u64::saturating_add)
    }

    /// The vectors of what a block has for each point of some of its levels.
    fn vectors(
        &self,
        resolved: &Resolved,
        ty: ScalarType,
        depends: &dyn Fn(&&Level) -> bool,
    ) -> u64 {
        let points = product(resolved, self.block.iter().filter(depends));
        points.saturating_mul(self.vectors_of_value(resolved, ty, depends))
    }

    /// The vectors of one value, with its lanes along some of the levels.
    fn vectors_of_value(
        &self,
        resolved: &Resolved,
        ty: ScalarType,
        depends: &dyn Fn(&&Level) -> bool,
    ) -> u64 {
        let register = resolved.asm.vector().unwrap_or(SCALAR);
        let lanes = product(resolved, self.lanes.iter().filter(depends));
        (ty.byte_width() as u64)
            .saturating_mul(lanes)
            .div_ceil(register)
    }

    /// The block is large.
    fn unrolling(&self, resolved: &Resolved, computation: &Computation) -> Option<Warning> {
        let copies = product(resolved, &self.block) as i64;
        let accesses = computation.inputs.iter().map(|input| input.accesses.len());
        let operations = computation.scalar.instructions() + accesses.sum::<usize>();
        let operations = copies.saturating_mul(1 + operations as i64);
        if copies == 1 || operations <= UNROLLED {
            return None;
        }
        let message = format!(
            "the computation of '{}' is unrolled {copies} times, to some {operations} operations \
             ({}), expected at most {UNROLLED}: that takes long to compile, and longer to run than \
             a loop; move parts from 'register' to a layer outside of it, which become loops",
            name(computation),
            text(resolved, &self.block)
        );
        let cause = Cause::Unrolling;
        Some(Warning { cause, message })
    }
}

/// The vectors that the registers hold.
fn capacity(resolved: &Resolved) -> Option<u64> {
    let register = resolved.asm.vector().unwrap_or(SCALAR);
    Some(resolved.asm.memory("register")?.capacity? / register)
}

/// Returns whether results are in registers from a level on.
fn in_registers(resolved: &Resolved, level: Level) -> bool {
    let region = |output: &super::OutputPlan| output.region[level.layer][level.dimension];
    let mut regions = resolved.outputs.iter().map(region);
    regions.all(|region| resolved.asm.layers[region].name() == "register")
}

fn product<'l>(resolved: &Resolved, levels: impl IntoIterator<Item = &'l Level>) -> u64 {
    let counts = levels
        .into_iter()
        .map(|l| resolved.count(*l).known().unwrap_or(1));
    counts.fold(1, |all, count| all.saturating_mul(count.max(1) as u64))
}

/// `register.i: 8, simd.i: 4`.
fn text<'l>(resolved: &Resolved, levels: impl IntoIterator<Item = &'l Level>) -> String {
    let texts = levels.into_iter().map(|level| {
        let count = resolved.count(*level).known();
        let count = count.map_or("?".into(), |n| n.to_string());
        format!("{}: {count}", resolved.name(*level))
    });
    texts.collect::<Vec<_>>().join(", ")
}

fn name(computation: &Computation) -> &str {
    let first = computation.outputs.first();
    first.map_or("", |output| output.name.as_str())
}

fn count(number: u64, what: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{number} {what}{s}")
}

/// Sums and products of `i1`.
fn wraps(computation: &Computation) -> Vec<Warning> {
    let operators = computation
        .operators
        .iter()
        .filter_map(|operator| match operator {
            Operator::Builtin(all) => Some(all.iter().zip(&computation.components)),
            Operator::User(_) => None,
        });
    let mut warnings: Vec<Warning> = Vec::new();
    for (op, _) in operators.flatten().filter(|(_, ty)| **ty == ScalarType::I1) {
        let (same, why) = match op {
            Builtin::Addi => (Builtin::Xori, "1 + 1 is 0"),
            Builtin::Muli => (Builtin::Andi, "1 * 1 is 1"),
            _ => continue,
        };
        let message = format!(
            "the computation of '{}' combines i1 by '{op}', which is '{same}' there ({why}): write \
             '{same}' if that is meant, or widen the elements in the scalar function \
             (arith.extui %a : i1 to i32)",
            name(computation)
        );
        let warning = Warning {
            cause: Cause::Boolean,
            message,
        };
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }
    warnings
}

#[cfg(test)]
mod tests;
