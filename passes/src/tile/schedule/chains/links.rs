//! Computations that read the results of others, looked up once for all of them.

use std::collections::{BinaryHeap, HashMap};

use mdh_dialect::ir::Op;
use mdh_dialect::parts::BufferPart;
use melior::ir::operation::OperationLike;

use super::{Chosen, Reading};
use crate::support::inline::key;

/// The most computations that are tried to be computed at one: what is further away is computed before
/// in any case, or at one of these.
const MOST: usize = 16;

/// Reads and writes of computations, by their positions in the order of the program.
pub struct Links {
    reads: Vec<Vec<usize>>,
    writes: Vec<Vec<usize>>,
    /// The writers of a value, in the order of the program.
    writers: HashMap<usize, Vec<usize>>,
}

impl Links {
    /// Looks up the links of some computations.
    pub fn new(all: &[Reading]) -> Links {
        let mut links = Links {
            reads: Vec::new(),
            writes: Vec::new(),
            writers: HashMap::new(),
        };
        for (n, (parts, _)) in all.iter().enumerate() {
            let keys = |buffers: &[BufferPart]| -> Vec<usize> {
                buffers.iter().map(|b| key(b.value)).collect()
            };
            links.reads.push(keys(&parts.inputs));
            links.writes.push(keys(&parts.outputs));
            for value in &links.writes[n] {
                let writers = links.writers.entry(*value).or_default();
                if writers.last() != Some(&n) {
                    writers.push(n);
                }
            }
        }
        links
    }

    /// Returns whether a computation reads the result of another one.
    pub fn reads(&self, reader: usize, writer: usize) -> bool {
        let writes = &self.writes[writer];
        self.reads[reader]
            .iter()
            .any(|value| writes.contains(value))
    }

    /// The computations behind which another one is the last of a chain, in the order of the program:
    /// those in its block that it reads, and those that these read, as far as the model has something
    /// for them; the nearest, where there are many.
    pub fn behind(&self, all: &[Chosen], last: usize, is_fused: &[bool]) -> Vec<usize> {
        let block = |op: Op| {
            op.block()
                .map(|block| melior::ir::BlockLike::to_raw(&block).ptr)
        };
        let block_of_last = block(all[last].0);
        let mut open = BinaryHeap::new();
        self.open(last, &mut open);
        let (mut found, mut inspected) = (Vec::new(), last);
        while let Some((n, value)) = open.pop() {
            open.extend(self.writer(value, n));
            // One that writes several values of these comes several times.
            if n == inspected {
                continue;
            }
            inspected = n;
            if block(all[n].0) == block_of_last && !is_fused[n] && all[n].1.is_some() {
                self.open(n, &mut open);
                found.push(n);
                if found.len() == MOST {
                    break;
                }
            }
        }
        found.reverse();
        found
    }

    /// Those that last write what a computation reads, before it.
    fn open(&self, reader: usize, open: &mut BinaryHeap<(usize, usize)>) {
        let reads = self.reads[reader].iter();
        open.extend(reads.filter_map(|value| self.writer(*value, reader)));
    }

    /// Returns the last writer of a value before another one.
    fn writer(&self, value: usize, before: usize) -> Option<(usize, usize)> {
        let writers = self.writers.get(&value)?;
        let position = writers.partition_point(|writer| *writer < before);
        Some((*writers.get(position.checked_sub(1)?)?, value))
    }
}
