//! Expensive expressions that are evaluated again along dimensions that they do not depend on.

use std::collections::BTreeSet;
use std::mem;

use super::{Cause, Warning, name};
use mdh_algebra::code::{Block, Instruction, Op, Register};
use mdh_algebra::computation::Computation;

/// An expensive expression may be evaluated so often: as its results would have to be stored and
/// loaded again.
const REPEATED: i64 = 4;
/// Cost of an expensive operation, where an addition costs 1.
const EXPENSIVE: u64 = 16;
/// An expression is worth a warning if a point takes at most so many times what it takes.
const SHARE: u64 = 4;

/// A loop, and how often it runs if that is known.
pub(super) struct Loop {
    pub(super) dimension: usize,
    pub(super) count: Option<i64>,
}

/// Loops, outermost first, around what is unrolled and the lanes of vectors.
#[derive(Default)]
pub(super) struct CountedLoops {
    pub(super) loops: Vec<Loop>,
    pub(super) block: Vec<Loop>,
    pub(super) lanes: Vec<Loop>,
}

/// Without a schedule, loops are in the order of the dimensions.
pub(super) fn plain(computation: &Computation) -> CountedLoops {
    let dimensions = computation.dimensions.iter().enumerate();
    let loops = dimensions.map(|(dimension, d)| Loop {
        dimension,
        count: d.count(),
    });
    CountedLoops {
        loops: loops.collect(),
        ..CountedLoops::default()
    }
}

/// Expensive expressions that are evaluated again.
pub(super) fn repetitions(computation: &Computation, nest: &CountedLoops) -> Vec<Warning> {
    let point = cost(&computation.scalar.body);
    let mut said: Vec<BTreeSet<usize>> = Vec::new();
    let mut warnings = Vec::new();
    for expression in expensive(computation) {
        let Some(again) = nest.repetition(&expression) else {
            continue;
        };
        if point > SHARE * expression.cost || said.contains(&again.dimensions) {
            continue;
        }
        let list = |dimensions: &BTreeSet<usize>| {
            let names = dimensions.iter().map(|d| &computation.dimensions[*d].name);
            let names: Vec<String> = names.map(|name| format!("'{name}'")).collect();
            names.join(" and ")
        };
        let (used, unused) = (list(&expression.dimensions), list(&again.dimensions));
        warnings.push(Warning {
            cause: Cause::Repetition,
            message: format!(
                "the computation of '{}' evaluates {} {} for the same operands: it depends on \
                 {used} and not on {unused}, which is in {}; compute it before, over {used} alone, \
                 and read the result here",
                name(computation),
                expression.what,
                again
                    .times
                    .map_or("many times".into(), |n| format!("{n} times")),
                again.place,
            ),
        });
        said.push(again.dimensions);
    }
    warnings
}

/// An expression that is recomputed.
struct Again {
    dimensions: BTreeSet<usize>,
    times: Option<i64>,
    /// The loops or registers that its dimensions are in.
    place: &'static str,
}

impl CountedLoops {
    fn repetition(&self, expression: &Expression) -> Option<Again> {
        let depends = |l: &&Loop| expression.dimensions.contains(&l.dimension);
        let runs = |l: &&Loop| l.count.is_none_or(|n| n > 1);
        let again = |loops: Vec<&Loop>, place| Again {
            dimensions: loops.iter().map(|l| l.dimension).collect(),
            times: loops.iter().map(|l| l.count).product(),
            place,
        };
        let last = self.loops.iter().rposition(|l| depends(&l) && runs(&l))?;
        let (outside, inside) = self.loops.split_at(last);
        let around = outside.iter().filter(|l| !depends(l) && runs(l)).collect();
        let around = again(around, "a loop around");
        // A size that is not known may be large.
        if around.times.is_none_or(|times| times >= REPEATED) {
            return Some(around);
        }
        // One value for all lanes, and for the vectors of a block, takes as long as one for each.
        let vectors = self
            .block
            .iter()
            .chain(&inside[1..])
            .filter(|l| !depends(l));
        let vectors = vectors.map(|l| l.count).product::<Option<i64>>()?;
        let lanes = again(self.lanes.iter().collect(), "the lanes of vectors");
        let is_one = self.lanes.iter().all(|l| !depends(&l));
        let is_wide = lanes.times.is_some_and(|times| times >= REPEATED);
        (is_one && is_wide && vectors < EXPENSIVE as i64).then_some(lanes)
    }
}

/// Returns the cost of a block, where an addition costs 1.
fn cost(block: &Block) -> u64 {
    block
        .instructions
        .iter()
        .map(cost_of)
        .fold(0, u64::saturating_add)
}

/// Returns the cost of an instruction; loops run some times.
fn cost_of(instruction: &Instruction) -> u64 {
    match instruction {
        Instruction::Apply { op, .. } if op.is_expensive() => EXPENSIVE,
        Instruction::If {
            then, otherwise, ..
        } => cost(then).max(cost(otherwise)).saturating_add(1),
        Instruction::For { body, .. } => EXPENSIVE.saturating_mul(cost(body)),
        Instruction::While { before, after, .. } => {
            EXPENSIVE.saturating_mul(cost(before).saturating_add(cost(after)))
        }
        Instruction::Call { callee, .. } => cost(&callee.body),
        _ => 1,
    }
}

/// An expensive expression of a scalar function.
struct Expression {
    what: String,
    cost: u64,
    /// The dimensions that its operands depend on.
    dimensions: BTreeSet<usize>,
}

/// Returns the expensive expressions of a computation's scalar function, in order.
fn expensive(computation: &Computation) -> Vec<Expression> {
    let code = &computation.scalar;
    let mut walk = Walk {
        dimensions: vec![BTreeSet::new(); code.registers],
        constants: BTreeSet::new(),
        defined: BTreeSet::new(),
        found: Vec::new(),
    };
    let accesses = computation.inputs.iter().flat_map(|input| &input.accesses);
    for access in accesses {
        if let Some(dimensions) = walk.dimensions.get_mut(access.component) {
            dimensions.extend(access.map.iter().flat_map(|index| index.dims()));
        }
    }
    walk.block(&code.body, &BTreeSet::new());
    walk.found
}

/// Facts about registers on the way through a function.
struct Walk {
    dimensions: Vec<BTreeSet<usize>>,
    constants: BTreeSet<Register>,
    /// Registers defined since a loop began, with what they depend on.
    defined: BTreeSet<usize>,
    found: Vec<Expression>,
}

impl Walk {
    fn of_registers(&self, registers: &[Register]) -> BTreeSet<usize> {
        let sets = registers.iter().filter_map(|r| self.dimensions.get(*r));
        sets.flatten().copied().collect()
    }

    fn define(&mut self, registers: &[Register], dimensions: &BTreeSet<usize>) {
        self.defined.extend(dimensions);
        for register in registers {
            if let Some(own) = self.dimensions.get_mut(*register) {
                own.extend(dimensions);
            }
        }
    }

    fn expensive(&mut self, what: String, cost: u64, dimensions: &BTreeSet<usize>) {
        self.found.push(Expression {
            what,
            cost,
            dimensions: dimensions.clone(),
        });
    }

    /// `around` are the dimensions that decide whether the block runs.
    fn block(&mut self, block: &Block, around: &BTreeSet<usize>) {
        for instruction in &block.instructions {
            self.instruction(instruction, around);
        }
    }

    fn instruction(&mut self, instruction: &Instruction, around: &BTreeSet<usize>) {
        match instruction {
            Instruction::Constant { result, .. } => {
                self.constants.insert(*result);
            }
            Instruction::Index { result, dimension } => {
                self.define(&[*result], &BTreeSet::from([*dimension]));
            }
            Instruction::Apply {
                result,
                op,
                operands,
                ..
            } => {
                let depends: BTreeSet<usize> = &self.of_registers(operands) | around;
                if op.is_expensive() && !self.divides_by_constant(*op, operands) {
                    self.expensive(format!("'{}'", op.name()), EXPENSIVE, &depends);
                }
                self.define(&[*result], &depends);
            }
            Instruction::Promise { .. } => {}
            Instruction::If {
                condition,
                then,
                otherwise,
                results,
            } => {
                let decides: BTreeSet<usize> = &self.of_registers(&[*condition]) | around;
                self.block(then, &decides);
                self.block(otherwise, &decides);
                let yields = [&then.yields[..], &otherwise.yields].concat();
                self.define(results, &(&self.of_registers(&yields) | &decides));
            }
            Instruction::Call {
                callee,
                operands,
                results,
            } => {
                let depends: BTreeSet<usize> =
                    &(&self.of_registers(operands) | &callee.dimensions()) | around;
                if callee.is_expensive() {
                    let cost = cost(&callee.body);
                    self.expensive("a function that it calls".into(), cost, &depends);
                }
                self.define(results, &depends);
            }
            Instruction::For { .. } | Instruction::While { .. } => self.looped(instruction, around),
        }
    }

    /// A loop, which is one expression.
    fn looped(&mut self, instruction: &Instruction, around: &BTreeSet<usize>) {
        let (depends, results) = match instruction {
            Instruction::For {
                lower,
                upper,
                step,
                induction,
                initial,
                arguments,
                body,
                results,
                ..
            } => {
                let from = [&initial[..], &[*lower, *upper, *step]].concat();
                let into = [&arguments[..], &[*induction]].concat();
                (self.repeated(&from, &into, &[body], around), results)
            }
            Instruction::While {
                initial,
                before_arguments,
                before,
                after_arguments,
                after,
                results,
            } => {
                let into = [&before_arguments[..], after_arguments].concat();
                (
                    self.repeated(initial, &into, &[before, after], around),
                    results,
                )
            }
            _ => return,
        };
        self.expensive("a loop".into(), cost_of(instruction), &depends);
        self.define(results, &depends);
    }

    /// A loop is one expression: what it depends on is all that is used in it.
    fn repeated(
        &mut self,
        from: &[Register],
        into: &[Register],
        bodies: &[&Block],
        around: &BTreeSet<usize>,
    ) -> BTreeSet<usize> {
        let start: BTreeSet<usize> = &self.of_registers(from) | around;
        let before = (mem::take(&mut self.found), mem::take(&mut self.defined));
        self.define(into, &start);
        for body in bodies {
            self.block(body, &start);
        }
        let inside = mem::take(&mut self.defined);
        (self.found, self.defined) = before;
        &start | &inside
    }

    /// Returns whether an integer is divided by a constant, which takes a multiplication.
    fn divides_by_constant(&self, op: Op, operands: &[Register]) -> bool {
        let is_constant = operands.get(1).is_some_and(|r| self.constants.contains(r));
        is_constant && op.is_integer_division()
    }
}
