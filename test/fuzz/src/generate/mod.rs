//! Random programs, every one of them valid.

mod back;
mod buffers;
mod domain;
mod generator;
mod maps;
mod operators;
mod producer;
mod scalar;
mod step;
mod types;
mod workloads;

use mdh_dialect::types::BufferKind;

use crate::choices::Choices;
use crate::program::RandomProgram;
use generator::{Generator, Purpose, finish};
use types::Contents;
pub use workloads::{is_product, matrices, workload};

/// The program of a seed's choices.
pub fn program(c: &mut Choices) -> RandomProgram {
    generate(c, Purpose::Run)
}

/// The same, with more of what scripts of upstream's transformations look at.
pub fn tileable(c: &mut Choices) -> RandomProgram {
    generate(c, Purpose::Tile)
}

fn generate(c: &mut Choices, purpose: Purpose) -> RandomProgram {
    let kind = match c.chance("memref", purpose.pick(30, 6)) {
        true => BufferKind::MemRef,
        false => BufferKind::Tensor,
    };
    let mut g = Generator {
        program: RandomProgram {
            seed: c.below("seed", 1 << 20),
            ..RandomProgram::default()
        },
        kind,
        is_open: c.chance("open sizes", purpose.pick(45, 55)),
        sized: false,
        odd_domains: true,
        contents: match c.weighted("contents", &[45, 35, 20]) {
            0 => None,
            1 => Some(Contents::Plain),
            _ => Some(Contents::Special),
        },
        arrays: 0,
        results: Vec::new(),
        written: Vec::new(),
        undefined: Vec::new(),
        maps: Vec::new(),
        is_last: true,
        purpose,
    };
    let count = 1 + c.weighted("steps", &purpose.pick([60, 28, 12], [35, 45, 20]));
    let mut made = 0;
    for n in 0..count {
        c.scope(format!("step{n}"), |c| {
            if c.keep() || (n + 1 == count && made == 0) {
                g.is_last = n + 1 == count;
                step::step(c, &mut g);
                made += 1;
            }
        });
    }
    finish(c, &mut g);
    g.program
}
