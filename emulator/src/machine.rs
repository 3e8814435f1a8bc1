//! Threads that run a kernel, one block after the other.

use crate::arithmetic::{compare, convert, low, one, signed, three, two};
use crate::copies::{Copies, Copy};
use crate::instruction::{Instruction, Op, Operand, Shuffle, Space, Special, Type, Way};
use crate::matrix;
use crate::memory::Memory;
use crate::parse::Kernel;

/// Where generic addresses of a block's memory start.
const SHARED: u64 = 1 << 60;
/// Where those of a thread's own start.
const LOCAL: u64 = 1 << 61;
/// Threads of a warp.
const LANES: usize = 32;

/// Why a kernel does not end well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// An access outside of memory, or one that is not aligned, in that line.
    Address(u32),
    /// A thread has done so many instructions that the kernel counts as one that does not end.
    Steps,
    /// Threads wait for others that never come.
    Stuck,
    /// The kernel gave up, in that line.
    Trap(u32),
    /// An instruction that has no meaning for its type, in that line.
    Unknown(u32),
}

/// A launch.
#[derive(Debug)]
pub struct Launch<'a> {
    /// What runs.
    pub kernel: &'a Kernel,
    /// Blocks of the grid.
    pub blocks: [u32; 3],
    /// Threads of a block.
    pub threads: [u32; 3],
    /// The arguments, one in each [`crate::parse::SLOT`].
    pub arguments: &'a [u8],
    /// Bytes of shared memory beside the kernel's own.
    pub dynamic: usize,
    /// The device's memory.
    pub memory: &'a Memory,
    /// Instructions that a thread does at most.
    pub steps: u64,
}

/// What a thread waits for.
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
    /// Those that it has begun.
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
        let shared = vec![0xcd; launch.kernel.shared + launch.dynamic];
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
                        local: vec![0xcd; self.launch.kernel.local],
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
                let all_wait = warp
                    .iter()
                    .all(|t| matches!(t.state, State::Warp | State::Ended));
                if all_wait && warp.iter().any(|t| t.state == State::Warp) {
                    has_run = true;
                    self.exchange(warp)?;
                }
            }
            if threads.iter().all(|t| t.state == State::Ended) {
                return Ok(());
            }
            let waits = |t: &Thread| matches!(t.state, State::Barrier | State::Ended);
            if threads.iter().all(waits) {
                for thread in threads.iter_mut().filter(|t| t.state == State::Barrier) {
                    thread.state = State::Runs;
                }
            } else if !has_run {
                return Err(Failure::Stuck);
            }
        }
    }

    /// What the lanes of a warp do together.
    fn exchange(&self, warp: &mut [Thread]) -> Result<(), Failure> {
        let kernel = self.launch.kernel;
        let at: Vec<Option<&Instruction>> = warp
            .iter()
            .map(|t| (t.state == State::Warp).then(|| &kernel.body[t.next - 1]))
            .collect();
        if let Some(factor) = at.iter().flatten().find_map(|i| match i.op {
            Op::Mma(factor) => Some(factor),
            _ => None,
        }) {
            return self.multiply(warp, &at, factor);
        }
        let given: Vec<u64> = warp
            .iter()
            .zip(&at)
            .map(|(thread, instruction)| match instruction {
                Some(i) if matches!(i.op, Op::Shfl(_)) => self.value(thread, &i.operands[1]),
                _ => 0,
            })
            .collect();
        for (lane, instruction) in at.into_iter().enumerate() {
            let Some(instruction) = instruction else {
                continue;
            };
            warp[lane].state = State::Runs;
            let Op::Shfl(how) = instruction.op else {
                continue;
            };
            let [b, c] = [2, 3].map(|n| self.value(&warp[lane], &instruction.operands[n]));
            let (clamp, mask) = (c & 31, (c >> 8) & 31);
            let own = lane as u64;
            let (first, last) = (own & mask, (own & mask) | (clamp & !mask));
            let (source, is_there) = match how {
                Shuffle::Up => (own.wrapping_sub(b), own >= b && own - b >= last),
                Shuffle::Down => (own + b, own + b <= last),
                Shuffle::Butterfly => (own ^ b, (own ^ b) <= last),
                Shuffle::Index => (first | (b & !mask), (first | (b & !mask)) <= last),
            };
            let source = if is_there { source as usize } else { lane };
            let value = given.get(source).copied().unwrap_or(given[lane]);
            match &instruction.operands[0] {
                Operand::Pair(register, predicate) => {
                    warp[lane].registers[*register as usize] = value;
                    warp[lane].registers[*predicate as usize] = u64::from(is_there);
                }
                other => set(&mut warp[lane], other, value),
            }
        }
        Ok(())
    }

    /// A product of matrices, for which all lanes of the warp have to be at the same instruction.
    fn multiply(
        &self,
        warp: &mut [Thread],
        at: &[Option<&Instruction>],
        factor: Type,
    ) -> Result<(), Failure> {
        let (Some(Some(instruction)), LANES) = (at.first(), at.len()) else {
            return Err(Failure::Stuck);
        };
        if at.iter().any(|other| *other != Some(instruction)) {
            return Err(Failure::Stuck);
        }
        let fragment = |thread: &Thread, n: usize| -> Vec<u64> {
            match &instruction.operands[n] {
                Operand::Vector(parts) => parts.iter().map(|p| self.value(thread, p)).collect(),
                other => vec![self.value(thread, other)],
            }
        };
        let [a, b, c] = [1, 2, 3].map(|n| warp.iter().map(|t| fragment(t, n)).collect::<Vec<_>>());
        let sums = matrix::multiply(factor, &a, &b, &c);
        let sums = sums.ok_or(Failure::Unknown(instruction.line))?;
        for (thread, sums) in warp.iter_mut().zip(sums) {
            thread.state = State::Runs;
            if let Operand::Vector(targets) = &instruction.operands[0] {
                for (target, sum) in targets.iter().zip(sums) {
                    set(thread, target, sum);
                }
            }
        }
        Ok(())
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
        let ty = instruction.ty;
        let all = &instruction.operands;
        let line = instruction.line;
        let value = |n: usize| low(self.value(thread, &all[n]), ty.bits());
        let unknown = || Failure::Unknown(line);
        let result = match instruction.op {
            Op::Bra => {
                if let Operand::Label(place) = all[0] {
                    thread.next = place as usize;
                }
                return Ok(());
            }
            Op::Ret => {
                thread.state = State::Ended;
                return Ok(());
            }
            Op::BarSync => {
                thread.state = State::Barrier;
                return Ok(());
            }
            Op::WarpSync | Op::Shfl(_) | Op::Mma(_) => {
                thread.state = State::Warp;
                return Ok(());
            }
            Op::CpAsync(way) => return self.begin_copy(thread, instruction, way),
            Op::CpCommit | Op::CpWait => return self.count_copies(thread, instruction),
            Op::Fence => return Ok(()),
            Op::Trap => return Err(Failure::Trap(line)),
            Op::Ld(space) => return self.load(thread, instruction, space),
            Op::St(space) => return self.store(thread, instruction, space),
            Op::Mov => return self.mov(thread, instruction),
            Op::Setp(how) => u64::from(compare(how, ty, value(1), value(2))),
            Op::Selp => match self.value(thread, &all[3]) {
                0 => value(2),
                _ => value(1),
            },
            Op::Cvt {
                from,
                rounding,
                saturates,
            } => {
                let old = low(self.value(thread, &all[1]), from.bits());
                let new = convert(ty, from, rounding, saturates, old);
                new.ok_or_else(unknown)?
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
                match from_generic {
                    true => value(1).wrapping_sub(base),
                    false => value(1).wrapping_add(base),
                }
            }
            // Shifts and fields are told of in 32 bits.
            op @ (Op::Shl | Op::Shr) => {
                let by = self.value(thread, &all[2]);
                two(op, ty, value(1), by).ok_or_else(unknown)?
            }
            op @ Op::Bfe => {
                let [b, c] = [2, 3].map(|n| self.value(thread, &all[n]));
                three(op, ty, value(1), b, c).ok_or_else(unknown)?
            }
            op @ Op::Mad(crate::instruction::Part::Wide) => {
                let c = self.value(thread, &all[3]);
                three(op, ty, value(1), value(2), c).ok_or_else(unknown)?
            }
            op => {
                let done = match all.len() {
                    2 => one(op, ty, value(1)),
                    3 => two(op, ty, value(1), value(2)),
                    4 => three(op, ty, value(1), value(2), value(3)),
                    _ => None,
                };
                done.ok_or_else(unknown)?
            }
        };
        set(thread, &all[0], result);
        Ok(())
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
        let all = &instruction.operands;
        let value = match &all[1] {
            Operand::Vector(parts) => {
                let each = bits / parts.len().max(1) as u32;
                let parts = parts.iter().rev();
                parts.fold(0u64, |all, part| {
                    let part = low(self.value(thread, part), each);
                    all.checked_shl(each).unwrap_or(0) | part
                })
            }
            other => low(self.value(thread, other), bits),
        };
        match &all[0] {
            Operand::Vector(parts) => {
                let each = bits / parts.len().max(1) as u32;
                for (n, part) in parts.iter().enumerate() {
                    set(thread, part, low(value >> (n as u32 * each), each));
                }
            }
            other => set(thread, other, value),
        }
        Ok(())
    }

    /// The bytes of an access.
    fn bytes(
        &mut self,
        thread: &mut Thread,
        instruction: &Instruction,
        space: Space,
        address: &Operand,
    ) -> Result<*mut u8, Failure> {
        let bytes = instruction.ty.bytes() * usize::from(instruction.width);
        let address = self.value(thread, address);
        self.piece(thread, instruction.line, (space, address), bytes)
    }

    /// Bytes of memory, from an address on.
    fn piece(
        &mut self,
        thread: &mut Thread,
        line: u32,
        (space, address): (Space, u64),
        bytes: usize,
    ) -> Result<*mut u8, Failure> {
        let refused = Failure::Address(line);
        if !address.is_multiple_of(bytes as u64) {
            return Err(refused);
        }
        let within = |memory: &mut [u8], address: u64| {
            let from = usize::try_from(address).unwrap_or(usize::MAX);
            let piece = memory.get_mut(from..from.saturating_add(bytes));
            piece.map(|piece| piece.as_mut_ptr()).ok_or(refused.clone())
        };
        let (space, address) = match space {
            Space::Generic if address >= LOCAL => (Space::Local, address - LOCAL),
            Space::Generic if address >= SHARED => (Space::Shared, address - SHARED),
            Space::Generic => (Space::Global, address),
            space => (space, address),
        };
        match space {
            Space::Shared => within(&mut self.shared, address),
            Space::Local => within(&mut thread.local, address),
            _ => match self.launch.memory.has(address as usize, bytes) {
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
        let (all, line) = (&instruction.operands, instruction.line);
        let all: Vec<u64> = all.iter().map(|one| self.value(thread, one)).collect();
        let copy = Copy::of(&all, way).ok_or(Failure::Unknown(line))?;
        let target = (Space::Shared, copy.target as u64);
        self.piece(thread, line, target, copy.bytes)?;
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
        let each = ty.bytes();
        let from: *const u8 = match space {
            Space::Param => {
                let offset = self.value(thread, &all[1]) as usize;
                let piece = self.launch.arguments.get(offset..offset + each);
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
            let piece = unsafe { std::slice::from_raw_parts(from.add(n * each), each) };
            value[..each].copy_from_slice(piece);
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
        let each = ty.bytes();
        let single = std::slice::from_ref(&all[1]);
        let sources = match &all[1] {
            Operand::Vector(sources) => sources,
            _ => single,
        };
        let values: Vec<u64> = sources.iter().map(|one| self.value(thread, one)).collect();
        let to = self.bytes(thread, instruction, space, &all[0])?;
        for (n, value) in values.iter().enumerate() {
            // SAFETY: `bytes` has seen that all elements are in memory.
            let piece = unsafe { std::slice::from_raw_parts_mut(to.add(n * each), each) };
            piece.copy_from_slice(&value.to_le_bytes()[..each]);
        }
        Ok(())
    }
}

fn set(thread: &mut Thread, target: &Operand, value: u64) {
    if let Operand::Register(number) = target {
        thread.registers[*number as usize] = value;
    }
}
