//! Threads that run a kernel, one block after the other.

mod warp;

use crate::address_space::{LOCAL, SHARED};
use crate::arithmetic::{combined, compare, four, low, mixed, one, signed, three, two};
use crate::convert::convert;
use crate::copies::{Copies, Copy};
use crate::instruction::{Instruction, Op, Operand, Space, Special, Type, Way};
use crate::memory::Memory;
use crate::parse::Kernel;

pub use crate::address_space::{CONSTANTS, WIDEST};
pub use crate::instruction::LANES;

/// Reason for which a kernel does not end well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// An access outside of memory, or one that is not aligned, in that line.
    Address(u32),
    /// A thread has done so many instructions that the kernel counts as one that does not end.
    Steps,
    /// Threads wait for others that never come, in that line.
    Stuck(u32),
    /// The kernel gave up, in that line.
    Trap(u32),
    /// An instruction that has no meaning for its type, in that line.
    Unknown(u32),
}

/// A launch.
#[derive(Debug)]
pub struct Launch<'a> {
    /// The kernel that runs.
    pub kernel: &'a Kernel,
    /// Blocks of the grid.
    pub blocks: [u32; 3],
    /// Threads of a block.
    pub threads: [u32; 3],
    /// The arguments, where [`Kernel::offsets`] says.
    pub arguments: &'a [u8],
    /// Bytes of shared memory beside the kernel's own.
    pub dynamic: usize,
    /// The device's memory.
    pub memory: &'a Memory,
    /// Instructions that a thread does at most.
    pub steps: u64,
}

/// State of a thread: running, or waiting for something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Runs,
    /// All threads of the block.
    Barrier,
    /// The lanes of its warp.
    Warp,
    Ended,
}

struct Thread {
    number: usize,
    place: [u32; 3],
    registers: Vec<u64>,
    local: Vec<u8>,
    /// The asynchronous copies that it has begun.
    copies: Copies,
    next: usize,
    steps: u64,
    state: State,
}

/// Runs all blocks.
pub fn run(launch: &Launch) -> Result<(), Failure> {
    let [x, y, z] = launch.blocks;
    for k in 0..z {
        for j in 0..y {
            for i in 0..x {
                Block::new(launch, [i, j, k]).run()?;
            }
        }
    }
    Ok(())
}

struct Block<'a> {
    launch: &'a Launch<'a>,
    place: [u32; 3],
    shared: Vec<u8>,
}

impl<'a> Block<'a> {
    fn new(launch: &'a Launch<'a>, place: [u32; 3]) -> Block<'a> {
        // Nothing is known of it at first.
        let bytes = launch.kernel.shared + launch.dynamic;
        let shared = vec![0xcd; bytes.next_multiple_of(WIDEST)];
        Block {
            launch,
            place,
            shared,
        }
    }

    fn run(&mut self) -> Result<(), Failure> {
        let [x, y, z] = self.launch.threads;
        let mut threads = Vec::new();
        for k in 0..z {
            for j in 0..y {
                for i in 0..x {
                    threads.push(Thread {
                        number: threads.len(),
                        place: [i, j, k],
                        registers: vec![0; self.launch.kernel.registers],
                        local: vec![0xcd; self.launch.kernel.local.next_multiple_of(WIDEST)],
                        copies: Copies::default(),
                        next: 0,
                        steps: 0,
                        state: State::Runs,
                    });
                }
            }
        }
        loop {
            let mut has_run = false;
            for thread in &mut threads {
                while thread.state == State::Runs {
                    has_run = true;
                    self.step(thread)?;
                }
            }
            for warp in threads.chunks_mut(LANES) {
                has_run |= warp::exchange(self, warp)?;
            }
            if threads.iter().all(|t| t.state == State::Ended) {
                return Ok(());
            }
            if self.meet(&mut threads) {
                continue;
            }
            if !has_run {
                let mut waiting = threads.iter().filter(|t| t.state != State::Ended);
                let line = waiting.next().map_or(0, |thread| self.at(thread).line);
                return Err(Failure::Stuck(line));
            }
        }
    }

    /// Lets all threads go on that have come to one barrier; whether they have.
    fn meet(&self, threads: &mut [Thread]) -> bool {
        let mut waiting = threads.iter().filter(|t| t.state != State::Ended);
        let Some(first) = waiting.next().map(|thread| self.at(thread)) else {
            return false;
        };
        let all_wait = threads.iter().all(|thread| match thread.state {
            State::Ended => true,
            State::Barrier => self.at(thread).operands == first.operands,
            _ => false,
        });
        if all_wait {
            let waiting = threads.iter_mut().filter(|t| t.state == State::Barrier);
            waiting.for_each(|thread| thread.state = State::Runs);
        }
        all_wait
    }

    /// The instruction that a thread has begun.
    fn at(&self, thread: &Thread) -> &'a Instruction {
        &self.launch.kernel.body[thread.next - 1]
    }

    fn step(&mut self, thread: &mut Thread) -> Result<(), Failure> {
        thread.steps += 1;
        if thread.steps > self.launch.steps {
            return Err(Failure::Steps);
        }
        let kernel = self.launch.kernel;
        let Some(instruction) = kernel.body.get(thread.next) else {
            thread.state = State::Ended;
            return Ok(());
        };
        thread.next += 1;
        if let Some((register, negated)) = instruction.guard {
            let holds = thread.registers[register as usize] != 0;
            if holds == negated {
                return Ok(());
            }
        }
        let line = instruction.line;
        match instruction.op {
            Op::Bra => {
                if let Operand::Label(place) = instruction.operands[0] {
                    thread.next = place as usize;
                }
            }
            Op::Brx => {
                let number = low(self.value(thread, &instruction.operands[0]), 32) as usize;
                let targets = match &instruction.operands[1] {
                    Operand::Vector(targets) => &targets[..],
                    _ => &[],
                };
                let Some(Operand::Label(place)) = targets.get(number) else {
                    return Err(Failure::Address(line));
                };
                thread.next = *place as usize;
            }
            Op::Ret => thread.state = State::Ended,
            Op::BarSync => thread.state = State::Barrier,
            Op::WarpSync | Op::Shfl(_) | Op::Vote(_) | Op::Mma(_) => thread.state = State::Warp,
            Op::CpAsync(way) => return self.begin_copy(thread, instruction, way),
            Op::CpCommit | Op::CpWait => return self.count_copies(thread, instruction),
            Op::Fence => {}
            Op::Trap => return Err(Failure::Trap(line)),
            Op::Ld(space) => return self.load(thread, instruction, space),
            Op::St(space) => return self.store(thread, instruction, space),
            Op::Mov => return self.mov(thread, instruction),
            Op::Setp(..) => self.compare(thread, instruction),
            _ => {
                let result = self.result(thread, instruction);
                let result = result.ok_or(Failure::Unknown(line))?;
                set(thread, &instruction.operands[0], result);
            }
        }
        Ok(())
    }

    /// Computes an instruction's result.
    fn result(&self, thread: &Thread, instruction: &Instruction) -> Option<u64> {
        let ty = instruction.ty;
        let value = |n: usize| self.value(thread, &instruction.operands[n]);
        computed(instruction.op, ty, value)
    }

    fn compare(&self, thread: &mut Thread, instruction: &Instruction) {
        let Op::Setp(how, logic) = instruction.op else {
            return;
        };
        let operands = &instruction.operands;
        let value = |n: usize| self.value(thread, &operands[n]);
        let other = logic.is_some_and(|_| value(3) != 0);
        let [a, b] = compare(how, instruction.ty, value(1), value(2));
        // The second predicate is that of the upper numbers, or the opposite.
        let b = match instruction.ty.half() {
            Some(_) => b,
            None => !a,
        };
        let [a, b] = [a, b].map(|holds| u64::from(combined(logic, holds, other)));
        match operands[0] {
            Operand::Pair(first, second) => {
                thread.registers[first as usize] = a;
                thread.registers[second as usize] = b;
            }
            ref target => set(thread, target, a),
        }
    }

    fn value(&self, thread: &Thread, operand: &Operand) -> u64 {
        match operand {
            Operand::Register(number) => thread.registers[*number as usize],
            Operand::Immediate(value) => *value,
            Operand::Special(special) => u64::from(match special {
                Special::Thread(axis) => thread.place[usize::from(*axis)],
                Special::Threads(axis) => self.launch.threads[usize::from(*axis)],
                Special::Block(axis) => self.place[usize::from(*axis)],
                Special::Blocks(axis) => self.launch.blocks[usize::from(*axis)],
                Special::Lane => (thread.number % LANES) as u32,
            }),
            Operand::Address(base, offset) => self.value(thread, base).wrapping_add_signed(*offset),
            _ => 0,
        }
    }

    /// Also what puts the parts of a value together, or takes it apart.
    fn mov(&self, thread: &mut Thread, instruction: &Instruction) -> Result<(), Failure> {
        let bits = instruction.ty.bits();
        let operands = &instruction.operands;
        let value = match &operands[1] {
            Operand::Vector(parts) => {
                let width = bits / parts.len().max(1) as u32;
                let parts = parts.iter().rev();
                parts.fold(0u64, |joined, part| {
                    let part = low(self.value(thread, part), width);
                    joined.checked_shl(width).unwrap_or(0) | part
                })
            }
            other => low(self.value(thread, other), bits),
        };
        match &operands[0] {
            Operand::Vector(parts) => {
                let part_bits = bits / parts.len().max(1) as u32;
                for (n, part) in parts.iter().enumerate() {
                    set(
                        thread,
                        part,
                        low(value >> (n as u32 * part_bits), part_bits),
                    );
                }
            }
            other => set(thread, other, value),
        }
        Ok(())
    }

    /// The bytes of an access: all of a store's are the program's, of a load's the first.
    fn bytes(
        &mut self,
        thread: &mut Thread,
        instruction: &Instruction,
        space: Space,
        address: &Operand,
    ) -> Result<*mut u8, Failure> {
        let bytes = instruction.ty.bytes() * usize::from(instruction.width);
        let reach = match instruction.op {
            Op::Ld(_) => bytes.saturating_sub(WIDEST - 1).max(1),
            _ => bytes,
        };
        let address = self.value(thread, address);
        self.piece(thread, instruction.line, (space, address), [bytes, reach])
    }

    /// Bytes of memory, from an address on, of which so many have to be the program's.
    fn piece(
        &mut self,
        thread: &mut Thread,
        line: u32,
        (space, address): (Space, u64),
        [bytes, own]: [usize; 2],
    ) -> Result<*mut u8, Failure> {
        let refused = Failure::Address(line);
        let launch = self.launch;
        if !address.is_multiple_of(bytes as u64) {
            return Err(refused);
        }
        let within = |memory: &mut [u8], size: usize, address: u64| {
            let from = usize::try_from(address).unwrap_or(usize::MAX);
            let piece = memory.get_mut(from..from.saturating_add(bytes));
            let piece = piece.filter(|_| from + own <= size);
            piece.map(|piece| piece.as_mut_ptr()).ok_or(refused.clone())
        };
        let (space, address) = match space {
            Space::Generic if address >= LOCAL => (Space::Local, address - LOCAL),
            Space::Generic if address >= SHARED => (Space::Shared, address - SHARED),
            Space::Generic => (Space::Global, address),
            space => (space, address),
        };
        match space {
            Space::Global if address >= CONSTANTS => {
                let from = (address - CONSTANTS) as usize;
                let piece = launch
                    .kernel
                    .constants
                    .get(from..from.saturating_add(bytes));
                // Who writes here is refused before.
                piece.map(|piece| piece.as_ptr().cast_mut()).ok_or(refused)
            }
            Space::Shared => {
                let size = launch.kernel.shared + launch.dynamic;
                within(&mut self.shared, size, address)
            }
            Space::Local => within(&mut thread.local, launch.kernel.local, address),
            _ => match self.launch.memory.has(address as usize, own) {
                true => Ok(address as *mut u8),
                false => Err(refused),
            },
        }
    }

    /// `cp.async`: the copy is checked now.
    fn begin_copy(
        &mut self,
        thread: &mut Thread,
        instruction: &Instruction,
        way: Way,
    ) -> Result<(), Failure> {
        let (operands, line) = (&instruction.operands, instruction.line);
        let values: Vec<u64> = operands
            .iter()
            .map(|operand| self.value(thread, operand))
            .collect();
        let copy = Copy::new(&values, way).ok_or(Failure::Unknown(line))?;
        let target = (Space::Shared, copy.target as u64);
        self.piece(thread, line, target, [copy.bytes; 2])?;
        let memory = self.launch.memory;
        let is_there = copy.read == 0 || memory.has(copy.source, copy.read);
        if !is_there || !copy.source.is_multiple_of(copy.bytes) {
            return Err(Failure::Address(line));
        }
        copy.begin(&mut self.shared);
        thread.copies.begin(copy);
        Ok(())
    }

    /// `cp.async.commit_group`, `cp.async.wait_group n`, and `cp.async.wait_all`, which does both.
    fn count_copies(
        &mut self,
        thread: &mut Thread,
        instruction: &Instruction,
    ) -> Result<(), Failure> {
        let left = instruction.operands.first();
        let left = left.map(|left| self.value(thread, left) as usize);
        if left.is_none() {
            thread.copies.commit();
        }
        if instruction.op == Op::CpWait {
            for copy in thread.copies.wait(left.unwrap_or(0)) {
                // SAFETY: the bytes were there when the copy began; kernels free no memory.
                unsafe { copy.end(&mut self.shared) }
            }
        }
        Ok(())
    }

    fn load(
        &mut self,
        thread: &mut Thread,
        instruction: &Instruction,
        space: Space,
    ) -> Result<(), Failure> {
        let (ty, all) = (instruction.ty, &instruction.operands);
        let size = ty.bytes();
        let from: *const u8 = match space {
            Space::Param => {
                let offset = self.value(thread, &all[1]) as usize;
                let piece = self.launch.arguments.get(offset..offset + size);
                let piece = piece.ok_or(Failure::Address(instruction.line))?;
                piece.as_ptr()
            }
            _ => self.bytes(thread, instruction, space, &all[1])?,
        };
        let single = std::slice::from_ref(&all[0]);
        let targets = match &all[0] {
            Operand::Vector(targets) => targets,
            _ => single,
        };
        for (n, target) in targets.iter().enumerate() {
            let mut value = [0; 8];
            // SAFETY: `bytes` has seen that all elements are in memory.
            let piece = unsafe { std::slice::from_raw_parts(from.add(n * size), size) };
            value[..size].copy_from_slice(piece);
            let value = u64::from_le_bytes(value);
            let value = match ty {
                Type::S(bits) => signed(value, bits.into()) as u64,
                _ => value,
            };
            set(thread, target, value);
        }
        Ok(())
    }

    fn store(
        &mut self,
        thread: &mut Thread,
        instruction: &Instruction,
        space: Space,
    ) -> Result<(), Failure> {
        let (ty, all) = (instruction.ty, &instruction.operands);
        let size = ty.bytes();
        let single = std::slice::from_ref(&all[1]);
        let sources = match &all[1] {
            Operand::Vector(sources) => sources,
            _ => single,
        };
        let values: Vec<u64> = sources.iter().map(|one| self.value(thread, one)).collect();
        let to = self.bytes(thread, instruction, space, &all[0])?;
        if self
            .launch
            .kernel
            .constants
            .as_ptr_range()
            .contains(&to.cast_const())
        {
            return Err(Failure::Address(instruction.line));
        }
        for (n, value) in values.iter().enumerate() {
            // SAFETY: `bytes` has seen that all elements are in memory.
            let piece = unsafe { std::slice::from_raw_parts_mut(to.add(n * size), size) };
            piece.copy_from_slice(&value.to_le_bytes()[..size]);
        }
        Ok(())
    }
}

fn set(thread: &mut Thread, target: &Operand, value: u64) {
    if let Operand::Register(number) = target {
        thread.registers[*number as usize] = value;
    }
}

/// Computes an operation on operands, of which it has as many as it needs; none if it makes no
/// value, or more than one.
pub fn computed(op: Op, ty: Type, value: impl Fn(usize) -> u64) -> Option<u64> {
    match op {
        Op::One(op) => one(op, ty, value(1)),
        Op::Two(op) => two(op, ty, value(1), value(2)),
        Op::Three(op) => three(op, ty, value(1), value(2), value(3)),
        Op::Four(op) => four(op, ty, [1, 2, 3, 4].map(value)),
        Op::Mixed(op, from) => mixed(op, [ty, from], value),
        Op::Selp => Some(low(
            if value(3) == 0 { value(2) } else { value(1) },
            ty.bits(),
        )),
        Op::Cvt(how) => convert(ty, how, value(1)),
        Op::CvtPair(how) => {
            let half = ty.half()?;
            let [upper, lower] = [1, 2].map(|n| convert(half, how, value(n)));
            Some(lower? | upper? << 16)
        }
        Op::Cvta {
            space,
            from_generic,
        } => {
            let base = match space {
                Space::Shared => SHARED,
                Space::Local => LOCAL,
                _ => 0,
            };
            Some(match from_generic {
                true => value(1).wrapping_sub(base),
                false => value(1).wrapping_add(base),
            })
        }
        _ => None,
    }
}

#[cfg(test)]
#[path = "machine_tests.rs"]
mod tests;
