//! Instructions that the lanes of a warp execute together.

use super::{Block, Failure, State, Thread, set};
use crate::arithmetic::low;
use crate::instruction::{LANES, Op, Operand, Shuffle, Vote};
use crate::matrix;

/// Value that a lane gets of one that does not take part: nothing that is known.
const NOTHING: u64 = 0xcdcd_cdcd;

/// Lets lanes go on whose instruction all the others of its mask have come to, or have ended before;
/// whether there were any.
pub(super) fn exchange(block: &Block, warp: &mut [Thread]) -> Result<bool, Failure> {
    let mut has_run = false;
    for lane in 0..warp.len() {
        if warp[lane].state != State::Warp {
            continue;
        }
        let mask = mask(block, &warp[lane]);
        let place = warp[lane].next;
        let is_in = |n: usize| mask >> n & 1 == 1;
        let takes_part: Vec<bool> = (0..warp.len())
            .map(|n| {
                let thread = &warp[n];
                let is_there = thread.state == State::Warp && thread.next == place;
                is_there && is_in(n) && self::mask(block, thread) == mask
            })
            .collect();
        let is_awaited = |n: usize| is_in(n) && warp[n].state != State::Ended;
        let are_all = (0..warp.len()).all(|n| takes_part[n] || !is_awaited(n));
        if !takes_part[lane] || !are_all {
            continue;
        }
        if !execute(block, warp, &takes_part, lane)? {
            continue;
        }
        has_run = true;
        for (thread, _) in warp
            .iter_mut()
            .zip(&takes_part)
            .filter(|(_, takes)| **takes)
        {
            thread.state = State::Runs;
        }
    }
    Ok(has_run)
}

/// The lanes that an instruction waits for.
fn mask(block: &Block, thread: &Thread) -> u64 {
    let instruction = block.at(thread);
    let operand = match instruction.op {
        Op::Shfl(_) => 4,
        Op::Vote(_) => 2,
        Op::WarpSync => 0,
        _ => return low(u64::MAX, 32),
    };
    low(block.value(thread, &instruction.operands[operand]), 32)
}

/// Does what an instruction says; false if more lanes are needed.
fn execute(
    block: &Block,
    warp: &mut [Thread],
    takes_part: &[bool],
    first: usize,
) -> Result<bool, Failure> {
    match block.at(&warp[first]).op {
        Op::Mma(_) if takes_part.iter().filter(|takes| **takes).count() < LANES => Ok(false),
        Op::Mma(_) => multiply(block, warp).map(|()| true),
        Op::Shfl(how) => {
            shuffle(block, warp, takes_part, how);
            Ok(true)
        }
        Op::Vote(how) => {
            vote(block, warp, takes_part, how);
            Ok(true)
        }
        _ => Ok(true),
    }
}

fn shuffle(block: &Block, warp: &mut [Thread], takes_part: &[bool], how: Shuffle) {
    let operand = |thread: &Thread, n: usize| block.value(thread, &block.at(thread).operands[n]);
    let given: Vec<u64> = (warp.iter().zip(takes_part))
        .map(|(thread, takes)| if *takes { operand(thread, 1) } else { NOTHING })
        .collect();
    for (lane, _) in takes_part.iter().enumerate().filter(|(_, takes)| **takes) {
        let [b, c] = [2, 3].map(|n| operand(&warp[lane], n));
        let (clamp, mask) = (c & 31, (c >> 8) & 31);
        let number = lane as u64;
        let (first, last) = (number & mask, (number & mask) | (clamp & !mask));
        let (source, is_there) = match how {
            Shuffle::Up => (number.wrapping_sub(b), number >= b && number - b >= last),
            Shuffle::Down => (number + b, number + b <= last),
            Shuffle::Butterfly => (number ^ b, (number ^ b) <= last),
            Shuffle::Index => (first | (b & !mask), (first | (b & !mask)) <= last),
        };
        let source = if is_there { source as usize } else { lane };
        let value = low(given.get(source).copied().unwrap_or(NOTHING), 32);
        match &block.at(&warp[lane]).operands[0] {
            Operand::Pair(register, predicate) => {
                warp[lane].registers[*register as usize] = value;
                warp[lane].registers[*predicate as usize] = u64::from(is_there);
            }
            other => set(&mut warp[lane], other, value),
        }
    }
}

fn vote(block: &Block, warp: &mut [Thread], takes_part: &[bool], how: Vote) {
    let votes = (warp.iter().zip(takes_part).enumerate()).filter(|(_, (_, takes))| **takes);
    let votes: Vec<(usize, bool)> = votes
        .map(|(lane, (thread, _))| {
            let operand = &block.at(thread).operands[1];
            (lane, block.value(thread, operand) != 0)
        })
        .collect();
    let agree = |wanted: bool| votes.iter().all(|(_, vote)| *vote == wanted);
    let result = match how {
        Vote::All => u64::from(agree(true)),
        Vote::Any => u64::from(!agree(false)),
        Vote::Uniform => u64::from(agree(true) || agree(false)),
        Vote::Ballot => (votes.iter()).fold(0, |all, (lane, vote)| all | u64::from(*vote) << lane),
    };
    for (lane, _) in votes {
        let target = &block.at(&warp[lane]).operands[0];
        set(&mut warp[lane], target, result);
    }
}

/// A product of matrices, to which all lanes of the warp have come.
fn multiply(block: &Block, warp: &mut [Thread]) -> Result<(), Failure> {
    let instruction = block.at(&warp[0]);
    let Op::Mma(factor) = instruction.op else {
        return Ok(());
    };
    let fragment = |thread: &Thread, n: usize| -> Vec<u64> {
        match &instruction.operands[n] {
            Operand::Vector(parts) => parts.iter().map(|p| block.value(thread, p)).collect(),
            other => vec![block.value(thread, other)],
        }
    };
    let [a, b, c] = [1, 2, 3].map(|n| warp.iter().map(|t| fragment(t, n)).collect::<Vec<_>>());
    let sums = matrix::multiply(factor, &a, &b, &c);
    let sums = sums.ok_or(Failure::Unknown(instruction.line))?;
    for (thread, sums) in warp.iter_mut().zip(sums) {
        if let Operand::Vector(targets) = &instruction.operands[0] {
            for (target, sum) in targets.iter().zip(sums) {
                set(thread, target, sum);
            }
        }
    }
    Ok(())
}
