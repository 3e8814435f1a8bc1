//! Convergence of threads at instructions that they execute together, and so all have to reach: the
//! lanes of a warp a product of matrices, a shuffle, a vote, a barrier of the warp; the threads of
//! a block its barrier. If some of them take another way a device computes anything, or waits for
//! ever.
//!
//! For each register, at each place of the kernel, this finds a bound of how far its values agree
//! ([`Level`]), for a block of known shape: LLVM gives values that have nothing to do with each other,
//! and the counters of a loop and of one in it, one register. What only depends on numbers of threads is known for each thread, so that `%tid.x / 32`
//! is found to be the same for a warp. What is loaded, other than arguments, may differ between lanes,
//! and so may what lanes get from each other, unless they all read one lane. A register that is
//! written where only some threads come differs between them and the others.
//!
//! A barrier of the block must stand where all threads of it come; one instruction of a warp where all
//! lanes of its mask come, and no others. Which lanes come is known behind a branch that depends on
//! the lane only if the branch depends on numbers of threads alone: a shuffle whose mask has just
//! these lanes is right there. (Lanes that come by different ways to one instruction count as
//! together only where all ways from their branch meet.)

use std::collections::HashMap;
use std::rc::Rc;

use crate::arithmetic::{combined, compare, low};
use crate::flow::Flow;
use crate::instruction::{Instruction, LANES, Op, Operand, Shuffle, Space, Special};
use crate::machine::computed;
use crate::parse::{Kernel, Module};

/// Scope in which values agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// All threads of a block.
    Block,
    /// All lanes of a warp.
    Warp,
    /// None.
    Lane,
}

/// Agreement of threads on a register's value.
#[derive(Clone, Debug, PartialEq)]
enum Uniformity {
    /// It is never written.
    Nothing,
    /// A number, the same in all threads.
    Same(u64),
    /// A number for each thread.
    Each(Rc<[u64]>),
    /// Scope in which it agrees.
    Of(Level),
}

/// A register's value at a place.
#[derive(Clone, Debug, PartialEq)]
struct Fact {
    value: Uniformity,
    /// Scope in which threads agree on having it from the same instruction.
    written: Level,
}

/// The registers that have been written.
type State = HashMap<u32, Fact>;

/// The end of a block.
#[derive(Clone, Debug)]
struct End {
    /// The value of the last instruction's predicate.
    guard: Uniformity,
    /// Scope in which threads agree on what follows.
    choice: Level,
}

/// An instruction that not all threads come to that have to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The line of the instruction.
    pub line: u32,
    /// Its name.
    pub name: String,
    /// The line of the branch, or of the instruction if it has a predicate itself; none if the
    /// instruction's mask is wrong where all lanes come.
    pub branch: Option<u32>,
    /// Threads that have to come, and no others.
    pub all: &'static str,
}

const BLOCK: &str = "all threads of a block";
const WARP: &str = "all lanes of a warp";
const MASK: &str = "the lanes of its mask";

/// Fails for a module that has such instructions, by the shapes that its kernels state.
pub fn check_module(module: &Module) -> Result<(), String> {
    let mut kernels: Vec<_> = module.kernels.iter().collect();
    kernels.sort_by_key(|(name, _)| *name);
    let mut findings = kernels.into_iter().flat_map(|(name, kernel)| {
        let checked = kernel
            .shape
            .map_or(Vec::new(), |shape| check(kernel, shape));
        checked.into_iter().map(|finding| finding.say(name))
    });
    findings.next().map_or(Ok(()), Err)
}

impl Finding {
    /// Describes the mistake of a kernel.
    pub fn say(&self, kernel: &str) -> String {
        let Finding {
            line, name, all, ..
        } = self;
        let what = if *all == BLOCK { "thread" } else { "lane" };
        let start = format!("kernel '{kernel}': line {line}: '{name}' is for {all}");
        match self.branch {
            None => format!("{start}, but others come to it"),
            Some(branch) if branch == *line => {
                format!("{start}, but its predicate depends on the {what}")
            }
            Some(branch) => {
                format!("{start}, but the branch of line {branch} to it depends on the {what}")
            }
        }
    }
}

/// The instructions of a kernel that not all threads come to that have to, in blocks of a shape.
pub fn check(kernel: &Kernel, shape: [u32; 3]) -> Vec<Finding> {
    let mut analysis = Analysis::new(kernel, shape);
    while analysis.pass() {}
    let coming = analysis.coming();
    let mut findings = Vec::new();
    for (block, range) in analysis.flow.blocks.iter().enumerate() {
        let mut state = analysis.before[block].clone();
        for instruction in &kernel.body[range.clone()] {
            findings.extend(analysis.finding(block, instruction, &state, &coming));
            analysis.write(block, instruction, &mut state);
        }
    }
    findings
}

struct Analysis<'a> {
    kernel: &'a Kernel,
    flow: Flow,
    shape: [u32; 3],
    /// The registers before each block whose values are read there or later.
    before: Vec<State>,
    /// Their numbers.
    live: Vec<Vec<u32>>,
    ends: Vec<End>,
    /// The blocks that depend on each branch.
    regions: Vec<Vec<usize>>,
    /// Scope in which threads agree to come to each block, and the branch that this is due to.
    control: Vec<(Level, Option<u32>)>,
}

impl<'a> Analysis<'a> {
    fn new(kernel: &'a Kernel, shape: [u32; 3]) -> Analysis<'a> {
        let flow = Flow::new(&kernel.body);
        let count = flow.blocks.len();
        let end = End {
            guard: Uniformity::Nothing,
            choice: Level::Block,
        };
        Analysis {
            kernel,
            shape,
            before: vec![State::new(); count],
            live: flow.live(&kernel.body),
            ends: vec![end; count],
            regions: (0..count).map(|block| flow.region(block)).collect(),
            control: vec![(Level::Block, None); count],
            flow,
        }
    }

    fn threads(&self) -> usize {
        self.shape.iter().map(|n| *n as usize).product()
    }

    /// Looks at all instructions once more; whether something was found.
    fn pass(&mut self) -> bool {
        let mut changes = false;
        for block in 0..self.flow.blocks.len() {
            let mut state = self.before[block].clone();
            for n in self.flow.blocks[block].clone() {
                self.write(block, &self.kernel.body[n], &mut state);
            }
            if let Some(last) = self.last(block) {
                changes |= self.end(block, last, &state);
            }
            for next in self.flow.next[block].clone() {
                let Some(before) = self.before.get(next) else {
                    continue;
                };
                let mut before = before.clone();
                for register in &self.live[next] {
                    if let Some(fact) = state.get(register) {
                        self.join(&mut before, *register, fact.clone());
                    }
                }
                changes |= before != self.before[next];
                self.before[next] = before;
            }
        }
        changes
    }

    /// Takes note of what follows a block; whether that is new.
    fn end(&mut self, block: usize, last: &Instruction, state: &State) -> bool {
        let of_number = match last.op {
            Op::Brx => self.level(&self.operand(state, &last.operands[0])),
            _ => Level::Block,
        };
        let choice = of_number.max(self.guard(state, last));
        let guard = last.guard.map(|(register, _)| value_of(state, register));
        self.ends[block] = End {
            guard: guard.unwrap_or(Uniformity::Nothing),
            choice,
        };
        let mut changes = false;
        for dependent in &self.regions[block] {
            let known = &mut self.control[*dependent];
            if choice > known.0 {
                *known = (choice, Some(last.line));
                changes = true;
            }
        }
        changes
    }

    /// The last instruction of a block.
    fn last(&self, block: usize) -> Option<&'a Instruction> {
        let range = self.flow.blocks[block].clone();
        range.last().map(|n| &self.kernel.body[n])
    }

    /// Returns the scope in which threads agree on an instruction's predicate.
    fn guard(&self, state: &State, instruction: &Instruction) -> Level {
        let guard = instruction.guard;
        guard.map_or(Level::Block, |(register, _)| {
            self.level(&value_of(state, register))
        })
    }

    fn level(&self, value: &Uniformity) -> Level {
        match value {
            Uniformity::Nothing | Uniformity::Same(_) => Level::Block,
            Uniformity::Of(level) => *level,
            Uniformity::Each(values) => {
                let agree = |warp: &[u64]| warp.iter().all(|value| *value == warp[0]);
                match values.chunks(LANES).all(agree) {
                    true => Level::Warp,
                    false => Level::Lane,
                }
            }
        }
    }

    /// Takes note of what an instruction writes.
    fn write(&self, block: usize, instruction: &Instruction, state: &mut State) {
        let written = self.guard(state, instruction).max(self.control[block].0);
        let targets = instruction.targets();
        let results = (0..targets.len()).map(|number| self.result(state, instruction, number));
        for (register, value) in targets.into_iter().zip(results.collect::<Vec<_>>()) {
            // What is known of each thread is so whenever it is written; anything else may be of
            // another iteration in other threads.
            let value = match value {
                Uniformity::Of(level) => Uniformity::Of(level.max(written)),
                known => known,
            };
            let fact = Fact { value, written };
            match instruction.guard {
                Some(_) => self.join(state, register, fact),
                None => {
                    state.insert(register, fact);
                }
            }
        }
    }

    /// Takes note of a value that a register may have, too.
    fn join(&self, state: &mut State, register: u32, other: Fact) {
        let Some(own) = state.get_mut(&register) else {
            state.insert(register, other);
            return;
        };
        own.written = own.written.max(other.written);
        if own.value != other.value {
            let levels = [self.level(&own.value), self.level(&other.value)];
            own.value = Uniformity::Of(levels[0].max(levels[1]).max(own.written));
        }
    }

    /// Returns the facts about a result, by its number.
    fn result(&self, state: &State, instruction: &Instruction, number: usize) -> Uniformity {
        let operands = &instruction.operands;
        let values = operands.iter().skip(1).map(|one| self.operand(state, one));
        let values: Vec<Uniformity> = values.collect();
        let most = values.iter().map(|value| self.level(value)).max();
        let most = most.unwrap_or(Level::Block);
        let ty = instruction.ty;
        match instruction.op {
            Op::Ld(Space::Param) => Uniformity::Of(most),
            Op::Ld(_) | Op::Mma(_) => Uniformity::Of(Level::Lane),
            Op::Vote(_) => Uniformity::Of(Level::Warp),
            Op::Shfl(Shuffle::Index) if number == 0 && self.level(&values[1]) <= Level::Warp => {
                // Of the whole warp, and not of parts of it.
                match values[2] {
                    Uniformity::Same(31) => Uniformity::Of(Level::Warp),
                    _ => Uniformity::Of(Level::Lane),
                }
            }
            Op::Shfl(_) => Uniformity::Of(Level::Lane),
            Op::Mov if matches!(operands[..], [Operand::Register(_), ref from] if !matches!(from, Operand::Vector(_))) => {
                self.map(&values, most, |value| Some(low(value(0), ty.bits())))
            }
            Op::Mov => Uniformity::Of(most),
            Op::Setp(how, logic) => self.map(&values, most, |value| {
                let other = logic.is_some_and(|_| value(2) != 0);
                let [a, b] = compare(how, ty, value(0), value(1));
                let holds = match (number, ty.half()) {
                    (0, _) => a,
                    (_, Some(_)) => b,
                    (_, None) => !a,
                };
                Some(u64::from(combined(logic, holds, other)))
            }),
            op => self.map(&values, most, |value| computed(op, ty, |n| value(n - 1))),
        }
    }

    /// A function of values, thread by thread where these are known.
    fn map(
        &self,
        values: &[Uniformity],
        most: Level,
        function: impl Fn(&dyn Fn(usize) -> u64) -> Option<u64>,
    ) -> Uniformity {
        let are_known =
            |value: &Uniformity| matches!(value, Uniformity::Same(_) | Uniformity::Each(_));
        if !values.iter().all(are_known) {
            return Uniformity::Of(most);
        }
        let of_thread = |thread: usize| {
            function(&|n| match values.get(n) {
                Some(Uniformity::Same(value)) => *value,
                Some(Uniformity::Each(values)) => values[thread],
                _ => 0,
            })
        };
        let is_same = values
            .iter()
            .all(|value| matches!(value, Uniformity::Same(_)));
        let count = if is_same { 1 } else { self.threads() };
        match (0..count).map(of_thread).collect::<Option<Vec<u64>>>() {
            None => Uniformity::Of(most),
            Some(found) if found.iter().all(|value| *value == found[0]) => {
                Uniformity::Same(found[0])
            }
            Some(found) => Uniformity::Each(found.into()),
        }
    }

    fn operand(&self, state: &State, operand: &Operand) -> Uniformity {
        match operand {
            Operand::Register(number) => value_of(state, *number),
            Operand::Immediate(value) => Uniformity::Same(*value),
            Operand::Special(special) => self.special(*special),
            Operand::Vector(parts) => {
                let levels = parts.iter();
                let levels = levels.map(|part| self.level(&self.operand(state, part)));
                Uniformity::Of(levels.max().unwrap_or(Level::Block))
            }
            Operand::Address(base, _) => Uniformity::Of(self.level(&self.operand(state, base))),
            Operand::Label(_) | Operand::Nothing => Uniformity::Of(Level::Block),
            Operand::Pair(..) => Uniformity::Of(Level::Lane),
        }
    }

    fn special(&self, special: Special) -> Uniformity {
        let [x, y, _] = self.shape.map(|n| n as usize);
        let index_of = |thread: usize| match special {
            Special::Thread(0) => thread % x,
            Special::Thread(1) => thread / x % y,
            Special::Thread(_) => thread / (x * y),
            _ => thread % LANES,
        };
        match special {
            Special::Block(_) | Special::Blocks(_) => Uniformity::Of(Level::Block),
            Special::Threads(axis) => Uniformity::Same(self.shape[usize::from(axis)].into()),
            Special::Thread(_) | Special::Lane => {
                let values: Vec<u64> = (0..self.threads()).map(|n| index_of(n) as u64).collect();
                match values.iter().all(|value| *value == values[0]) {
                    true => Uniformity::Same(values[0]),
                    false => Uniformity::Each(values.into()),
                }
            }
        }
    }

    /// The threads that may come to each block.
    fn coming(&self) -> Vec<Vec<bool>> {
        let count = self.flow.blocks.len();
        let mut coming = vec![vec![false; self.threads()]; count];
        coming
            .first_mut()
            .into_iter()
            .for_each(|all| all.fill(true));
        let mut left = vec![0];
        while let Some(block) = left.pop().filter(|block| *block < count) {
            let ways = self.flow.next[block].iter().copied().enumerate();
            for (way, next) in ways.filter(|(_, next)| *next < count) {
                let mut changes = false;
                let from = coming[block].clone();
                for (thread, comes) in coming[next].iter_mut().enumerate() {
                    let takes = self.takes(block, way, thread);
                    if from[thread] && takes && !*comes {
                        *comes = true;
                        changes = true;
                    }
                }
                if changes {
                    left.push(next);
                }
            }
        }
        coming
    }

    /// Returns whether a thread may take a way behind the last instruction of a block: 0 goes on, 1 follows
    /// the branch.
    fn takes(&self, block: usize, way: usize, thread: usize) -> bool {
        let last = self.last(block);
        let last = last.filter(|last| matches!(last.op, Op::Bra | Op::Ret));
        let Some((_, is_negated)) = last.and_then(|last| last.guard) else {
            return true;
        };
        let holds = match &self.ends[block].guard {
            Uniformity::Same(value) => *value != 0,
            Uniformity::Each(values) => values[thread] != 0,
            _ => return true,
        };
        (holds != is_negated) == (way == 1)
    }

    /// Finds the mistake of an instruction.
    fn finding(
        &self,
        block: usize,
        instruction: &Instruction,
        state: &State,
        coming: &[Vec<bool>],
    ) -> Option<Finding> {
        let (control, branch) = self.control[block];
        let guard = self.guard(state, instruction);
        let (level, branch) = match guard > control {
            true => (guard, Some(instruction.line)),
            false => (control, branch),
        };
        let (mask, all) = match instruction.op {
            Op::BarSync => (None, BLOCK),
            Op::Mma(_) => (None, WARP),
            Op::Shfl(_) => (Some(4), MASK),
            Op::Vote(_) => (Some(2), MASK),
            Op::WarpSync => (Some(0), MASK),
            _ => return None,
        };
        let is_right = match mask.map(|n| self.operand(state, &instruction.operands[n])) {
            None if all == BLOCK => level == Level::Block,
            Some(Uniformity::Same(mask)) => {
                let is_known = instruction.guard.is_none() && self.is_known(block);
                (level <= Level::Warp || is_known) && are_just(&coming[block], mask)
            }
            _ => level <= Level::Warp,
        };
        let branch = branch.filter(|_| level > Level::Warp || all == BLOCK);
        (!is_right).then(|| Finding {
            line: instruction.line,
            name: instruction.name.clone(),
            branch,
            all,
        })
    }

    /// Returns whether all branches to a block that depend on the lane depend on numbers of threads alone.
    fn is_known(&self, block: usize) -> bool {
        let mut branches = (0..self.regions.len()).filter(|b| self.regions[*b].contains(&block));
        branches.all(|branch| {
            let Some(last) = self.last(branch) else {
                return true;
            };
            let End { guard, choice } = &self.ends[branch];
            let is_counted = matches!(guard, Uniformity::Each(_)) && last.op != Op::Brx;
            is_counted || *choice <= Level::Warp
        })
    }
}

/// A register's value.
fn value_of(state: &State, register: u32) -> Uniformity {
    let fact = state.get(&register);
    fact.map_or(Uniformity::Nothing, |fact| fact.value.clone())
}

/// Returns whether of each warp just the lanes of a mask come, or none.
fn are_just(coming: &[bool], mask: u64) -> bool {
    coming.chunks(LANES).all(|warp| {
        let lanes = warp.iter().enumerate();
        let mut agree = lanes.map(|(lane, comes)| *comes == (mask >> lane & 1 == 1));
        !warp.contains(&true) || agree.all(|agrees| agrees)
    })
}

#[cfg(test)]
#[path = "uniformity_tests.rs"]
mod tests;
