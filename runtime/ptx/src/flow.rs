//! Control flow of a kernel: its blocks, and those that depend on a branch.
//!
//! ```text
//! body --Flow::new--> blocks and what follows them --region--> blocks between a branch and the first
//!                                                            one that all ways from it come to
//! ```
//!
//! A trap ends the whole launch: nothing comes behind it, and nothing has to wait for who takes it.

use std::collections::HashSet;
use std::ops::Range;

use crate::instruction::{Instruction, Op, Operand};

/// Blocks of instructions that run from the first to the last.
pub struct Flow {
    /// The instructions of each.
    pub blocks: Vec<Range<usize>>,
    /// Successors of each block: the fall-through, then the branch's target. The number of blocks
    /// stands for the kernel's end.
    pub next: Vec<Vec<usize>>,
    /// The first block that all ways from a block come to.
    meeting: Vec<Option<usize>>,
}

impl Flow {
    /// The control flow of a kernel.
    pub fn new(body: &[Instruction]) -> Flow {
        let ends = |op: Op| matches!(op, Op::Bra | Op::Brx | Op::Ret | Op::Trap);
        let mut starts = vec![0];
        for (n, instruction) in body.iter().enumerate() {
            starts.extend(targets(instruction));
            if ends(instruction.op) {
                starts.push(n + 1);
            }
        }
        starts.retain(|start| *start < body.len());
        starts.sort_unstable();
        starts.dedup();
        let stops = starts.iter().skip(1).copied().chain([body.len()]);
        let blocks: Vec<Range<usize>> = (starts.iter().zip(stops))
            .map(|(start, stop)| *start..stop)
            .collect();
        // One that starts behind the body is the end.
        let at = |place: usize| starts.binary_search(&place).unwrap_or(blocks.len());
        let next = blocks.iter().map(|block| {
            let Some(last) = block.clone().next_back().map(|n| &body[n]) else {
                return vec![at(block.end)];
            };
            let mut goes: Vec<usize> = targets(last).into_iter().map(at).collect();
            if last.op == Op::Ret {
                goes.push(blocks.len());
            }
            let stays = last.guard.is_some() || !ends(last.op);
            stays
                .then(|| at(block.end))
                .into_iter()
                .chain(goes)
                .collect()
        });
        let next: Vec<Vec<usize>> = next.collect();
        let meeting = meetings(&next);
        Flow {
            blocks,
            next,
            meeting,
        }
    }

    /// The blocks that some threads come to and others do not, or not as often, if they take
    /// different ways at the end of a block.
    pub fn region(&self, block: usize) -> Vec<usize> {
        let mut leaders = Vec::new();
        if self.next[block].len() < 2 {
            return leaders;
        }
        let mut left = self.next[block].clone();
        while let Some(one) = left.pop() {
            let is_out = one == self.blocks.len() || Some(one) == self.meeting[block];
            if !is_out && !leaders.contains(&one) {
                leaders.push(one);
                left.extend(&self.next[one]);
            }
        }
        leaders
    }

    /// The registers whose values at the start of each block are read, there or later.
    pub fn live(&self, body: &[Instruction]) -> Vec<Vec<u32>> {
        let count = self.blocks.len();
        let mut before = vec![Vec::new(); count];
        for (block, next) in self.next.iter().enumerate() {
            let next = next.iter().filter(|next| **next < count);
            next.for_each(|next| before[*next].push(block));
        }
        // The registers that each block reads first, and those that it defines.
        let (mut left, mut defined) = (Vec::new(), HashSet::new());
        for (block, range) in self.blocks.iter().enumerate() {
            for instruction in &body[range.clone()] {
                let reads = reads(instruction).into_iter().map(|read| (block, read));
                left.extend(reads.filter(|read| !defined.contains(read)));
                if instruction.guard.is_none() {
                    let targets = instruction.targets().into_iter();
                    defined.extend(targets.map(|target| (block, target)));
                }
            }
        }
        let (mut live, mut known) = (vec![Vec::new(); count], HashSet::new());
        while let Some((block, register)) = left.pop() {
            if known.insert((block, register)) {
                live[block].push(register);
                let before = before[block].iter().map(|block| (*block, register));
                left.extend(before.filter(|through| !defined.contains(through)));
            }
        }
        live
    }
}

/// The registers that an instruction reads; one that may not be written is read and written back.
fn reads(instruction: &Instruction) -> Vec<u32> {
    let has_result = instruction.has_result() && instruction.guard.is_none();
    let operands = instruction.operands.iter().skip(usize::from(has_result));
    let guard = instruction.guard.map(|(guard, _)| guard);
    operands.flat_map(Operand::registers).chain(guard).collect()
}

/// Returns the targets of a branch.
fn targets(instruction: &Instruction) -> Vec<usize> {
    let place = |operand: &Operand| match operand {
        Operand::Label(place) => Some(*place as usize),
        _ => None,
    };
    match (instruction.op, &instruction.operands[..]) {
        (Op::Bra, [target]) => place(target).into_iter().collect(),
        (Op::Brx, [_, Operand::Vector(targets)]) => targets.iter().filter_map(place).collect(),
        _ => Vec::new(),
    }
}

/// The immediate post-dominator of each block, by the algorithm of Cooper, Harvey and Kennedy (2001)
/// on the reversed graph; none for blocks from which there is no way to the end.
fn meetings(next: &[Vec<usize>]) -> Vec<Option<usize>> {
    let end = next.len();
    let mut before = vec![Vec::new(); end + 1];
    for (block, all) in next.iter().enumerate() {
        all.iter().for_each(|after| before[*after].push(block));
    }
    // The order in which a search from the end leaves blocks.
    let (mut order, mut rank) = (Vec::new(), vec![None; end + 1]);
    let (mut seen, mut stack) = (vec![false; end + 1], vec![(end, 0)]);
    seen[end] = true;
    while let Some((block, child)) = stack.pop() {
        match before[block].get(child) {
            None => {
                rank[block] = Some(order.len());
                order.push(block);
            }
            Some(found) => {
                stack.push((block, child + 1));
                if !seen[*found] {
                    seen[*found] = true;
                    stack.push((*found, 0));
                }
            }
        }
    }
    let mut meeting: Vec<Option<usize>> = vec![None; end + 1];
    meeting[end] = Some(end);
    let common = |meeting: &[Option<usize>], mut a: usize, mut b: usize| {
        while a != b {
            let lower = if rank[a] < rank[b] { &mut a } else { &mut b };
            *lower = meeting[*lower].unwrap_or(end);
        }
        a
    };
    loop {
        let mut changes = false;
        for block in order.iter().rev().copied().filter(|block| *block != end) {
            let known = next[block]
                .iter()
                .copied()
                .filter(|one| meeting[*one].is_some());
            let new = known.reduce(|a, b| common(&meeting, a, b));
            changes |= new != meeting[block];
            meeting[block] = new;
        }
        if !changes {
            break;
        }
    }
    meeting.truncate(end);
    meeting
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(mut blocks: Vec<usize>) -> Vec<usize> {
        blocks.sort_unstable();
        blocks
    }

    fn flow(next: Vec<Vec<usize>>) -> Flow {
        let meeting = meetings(&next);
        let blocks = (0..next.len()).map(|n| n..n + 1).collect();
        Flow {
            blocks,
            next,
            meeting,
        }
    }

    #[test]
    fn branches_meet() {
        // 0 branches to 1 and 2, which meet in 3; that is a loop, which ends in 4.
        let flow = flow(vec![vec![1, 2], vec![3], vec![3], vec![4, 3], vec![5]]);
        assert_eq!(sorted(flow.region(0)), [1, 2]);
        assert_eq!(flow.region(1), []);
        assert_eq!(flow.region(3), [3]);
    }

    #[test]
    fn ways_that_do_not_end() {
        // A trap has nothing behind it: what comes next is no region of the branch to it.
        assert_eq!(flow(vec![vec![1, 2], vec![], vec![3]]).region(0), [1]);
        // An early end, behind which the others go on alone.
        assert_eq!(flow(vec![vec![1, 2], vec![2]]).region(0), [1]);
        // A loop without an end.
        assert_eq!(sorted(flow(vec![vec![0, 1], vec![0]]).region(0)), [0, 1]);
    }
}
