//! Computations in the loops of another one, tile by tile: the chain of which it is the last is one
//! nest of loops, and has one bound.

use mdh_algebra::amounts::{bytes, count};
use mdh_algebra::computation::{Buffer, Computation};
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::{read, schedule};
use mdh_schedule::asm::Asm;

use super::work;

/// The others of a chain.
#[derive(Default)]
pub struct Inside {
    /// Their names.
    pub names: Vec<String>,
    /// The inputs of the last one that they make, and that nobody else reads: never more than a
    /// tile.
    pub made: Vec<usize>,
    /// Their points.
    pub points: f64,
    /// Their operations.
    pub flops: f64,
    /// Bytes of what they read and write besides, once each.
    pub moved: f64,
    /// Descriptions of these.
    others: Vec<String>,
}

/// The memory in which a tile stays, for the model.
const TILE: &str = "L2";

impl Inside {
    /// Finds the part of `others` in the loops of a computation.
    pub fn new(op: Op, others: &[(Op, Computation)]) -> Inside {
        let Ok(own) = read::compute(op) else {
            return Inside::default();
        };
        let mut inside = Inside::default();
        let parts: Vec<_> = (others.iter())
            .filter_map(|(op, of)| Some((*op, of, read::compute(*op).ok()?)))
            .collect();
        let written: Vec<Val> = (parts.iter())
            .flat_map(|(_, _, parts)| parts.outputs.iter().map(|buffer| buffer.value))
            .collect();
        let is_member = |user: Op| user == op || parts.iter().any(|(other, ..)| *other == user);
        let is_local = |value: Val| {
            let mut users = ir::users(value).into_iter();
            let is_own = users.all(|user| is_member(user) || ir::name_of(user) == "memref.dealloc");
            written.contains(&value) && ir::block_argument(value).is_none() && is_own
        };
        let read = own.inputs.iter().enumerate();
        let made = read.filter(|(_, buffer)| is_local(buffer.value));
        inside.made = made.map(|(n, _)| n).collect();
        let mut seen: Vec<Val> = own.buffers().map(|buffer| buffer.value).collect();
        for (op, of, parts) in &parts {
            inside.names.push(schedule::name(*op));
            let points = of.dimensions.iter().map(|d| d.count().unwrap_or(0) as f64);
            inside.points += points.product::<f64>();
            inside.flops += of.flops();
            let buffers = of.inputs.iter().chain(&of.outputs);
            let values = parts.inputs.iter().chain(&parts.outputs);
            for (buffer, part) in buffers.zip(values) {
                if !is_local(part.value) && !seen.contains(&part.value) {
                    seen.push(part.value);
                    inside.move_once(buffer);
                }
            }
        }
        inside
    }

    fn move_once(&mut self, buffer: &Buffer) {
        let size = work::buffer_bytes(buffer).unwrap_or(0.0);
        self.moved += size;
        self.others.push(format!("{} {}", buffer.name, bytes(size)));
    }

    /// Bytes of a chain that are read and written once each, where its last computation has so many.
    pub fn bytes(&self, last: &Computation) -> f64 {
        let made = self.made.iter().filter_map(|n| last.inputs.get(*n));
        let made: f64 = made.filter_map(work::buffer_bytes).sum();
        (last.bytes() - made).max(0.0) + self.moved
    }

    /// Returns whether a memory is where tiles stay, or around it: results made in a tile do not
    /// come from there.
    pub fn is_outside(&self, memory: &str, asm: &Asm) -> bool {
        let names = asm.memory_names();
        let position = |name: &str| names.iter().position(|other| *other == name);
        match (position(memory), position(TILE)) {
            (Some(own), Some(tile)) => own <= tile,
            _ => false,
        }
    }

    /// The line about it.
    pub fn text(&self) -> String {
        if self.names.is_empty() {
            return String::new();
        }
        let siblings = match self.others.is_empty() {
            true => "nothing".to_string(),
            false => self.others.join(" + "),
        };
        format!(
            "  what is computed in its loops counts here: {} with {} operations, which move {siblings} \
             besides\n",
            self.names.join(", "),
            count(self.flops)
        )
    }
}
