//! Effects of code on memory.

use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::memory::{self, root};
use mdh_dialect::ops;
use mdh_dialect::read;
use mdh_dialect::space::Space;
use melior::ir::ValueLike;
use melior::ir::operation::OperationLike;

use super::cores::THREAD;
use crate::gpu::copy_asynchronously;
use crate::tile::tile::memory::{is_memory, overlap};

/// The buffers that code reads and writes.
#[derive(Clone, Default)]
pub struct Effects<'c> {
    reads: Vec<Val<'c>>,
    writes: Vec<Val<'c>>,
    /// Memory that asynchronous copies write until the threads wait for them.
    arriving: Vec<Val<'c>>,
}

impl<'c> Effects<'c> {
    /// Effects of an operation, with those in its regions.
    pub fn new(op: Op<'c>) -> Effects<'c> {
        let mut effects = Effects::default();
        for op in ir::all(op) {
            effects.add(op);
        }
        effects
    }

    fn add(&mut self, op: Op<'c>) {
        if let Some(parts) = read_compute(op) {
            let received = parts.carries.iter().flat_map(|carry| &carry.incoming);
            let read = parts.inputs.iter().chain(received);
            self.reads.extend(read.map(|buffer| buffer.value));
            let written = match copy_asynchronously::is_marked(op) {
                true => &mut self.arriving,
                false => &mut self.writes,
            };
            written.extend(parts.destinations().map(|b| b.value));
            return;
        }
        let operands = op.operands().map(ir::value);
        match ir::name_of(op) {
            ops::memref::LOAD | ops::vector::LOAD => self.reads.extend(operands.take(1)),
            name if is_harmless(name) => {}
            // Whatever it is, it may do both to all memory that it uses.
            _ => {
                let operands: Vec<Val> = operands.filter(|value| is_memory(*value)).collect();
                self.reads.extend(&operands);
                self.writes.extend(operands);
            }
        }
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.writes.is_empty() && self.arriving.is_empty()
    }

    /// Returns whether threads must wait between these and other ones: what each of them has alone, no other
    /// one sees. What arrives later is waited for where it is needed.
    pub fn conflict(&self, other: &Effects<'c>) -> bool {
        let shared = |all: &[Val<'c>]| -> Vec<Val<'c>> {
            let places = all.iter().copied();
            places.filter(|value| !is_own(*value)).collect()
        };
        let (reads, writes) = (shared(&self.reads), shared(&self.writes));
        let arriving = [&other.writes[..], &other.arriving].concat();
        overlap(&writes, &other.reads) || overlap(&writes, &arriving) || overlap(&reads, &arriving)
    }
}

/// Returns whether each thread has some memory of its own.
fn is_own(memory: Val) -> bool {
    let space = Space::new(root(memory).r#type());
    space.and_then(|space| space.owner) == Some(THREAD)
}

fn read_compute<'c>(op: Op<'c>) -> Option<mdh_dialect::parts::Parts<'c>> {
    let is_compute = ir::name_of(op) == ops::mdh::COMPUTE;
    is_compute.then(|| read::compute(op).ok()).flatten()
}

/// Returns whether operations of a name only compute, allocate memory, see it in another way, or contain
/// others.
fn is_harmless(name: &str) -> bool {
    let dialects = ["arith.", "math.", "index.", "affine.", "scf.", "gpu."];
    dialects.iter().any(|dialect| name.starts_with(dialect))
        || memory::is_view(name)
        || name.starts_with(ops::memref::ALLOC)
        || matches!(name, ops::memref::DIM | ops::mdh::YIELD)
}

/// Returns whether code stores something.
pub fn has_effects(op: Op) -> bool {
    !Effects::new(op).is_empty()
}

/// Returns whether a value is another one in each thread, if these are: the numbers of the thread, and
/// what is made of them.
pub fn depends_on<'c>(value: Val<'c>, threads: &[Val<'c>]) -> bool {
    let (mut seen, mut open) = (Vec::new(), vec![value]);
    while let Some(value) = open.pop() {
        if threads.contains(&value) {
            return true;
        }
        if seen.contains(&value) {
            continue;
        }
        seen.push(value);
        let made_of = match ir::block_argument(value) {
            // The index of a loop is made of its bounds.
            Some(argument) if ir::name_of(argument.of) == ops::scf::FOR => Some(argument.of),
            Some(_) => None,
            None => ir::defining_op(value),
        };
        if let Some(op) = made_of {
            open.extend(op.operands().map(ir::value));
        }
    }
    false
}
