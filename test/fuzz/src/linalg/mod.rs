//! Random programs of linalg as text: what `mdh-raise-linalg` makes of them is run and held against
//! the definition, which reads them as they are written, and so is what upstream's own lowering makes.
//!
//! | module    | what is in it                                             |
//! |-----------|-----------------------------------------------------------|
//! | `maker`   | the function in the making, and its tensors and memrefs     |
//! | `generic` | operations with maps: operands, loops and destinations     |
//! | `body`    | their scalar code, and how it accumulates                  |
//! | `extracted` | elements that they take from tensors by themselves       |
//! | `shapes`  | what stands between them: slices, padding, other shapes; other names of memrefs |
//! | `named`   | named operations: products, arithmetic, packing            |
//! | `windows` | convolutions and poolings                                  |
//! | `masks`   | accumulation under conditions and in wider types            |
//! | `calls`   | functions that are called                                  |
//! | `types`   | types of elements                                          |

mod body;
mod calls;
mod extracted;
pub(crate) mod generic;
mod maker;
mod masks;
pub(crate) mod named;
pub(crate) mod shapes;
pub(crate) mod types;
mod windows;

use crate::choices::Choices;
use crate::text::RunnableProgram;

pub(crate) use maker::{ArrayValue, Maker};

/// A program of choices.
pub fn program(c: &mut Choices) -> RunnableProgram {
    let memory = c.chance("memory", 25);
    let weights = types::ELEMENTS.map(|(_, weight)| weight);
    let (element, _) = types::ELEMENTS[c.weighted("element", &weights)];
    let mut maker = Maker {
        memory,
        element,
        ..Maker::default()
    };
    let count = 1 + c.below("statements", 4);
    for n in 0..count {
        c.scope(format!("s{n}"), |c| {
            if !c.keep() && n > 0 {
                return;
            }
            match c.weighted("what", &[42, 27, 22, 9]) {
                1 if !maker.values.is_empty() => shapes::add(c, &mut maker),
                2 => named::add(c, &mut maker),
                3 if !maker.values.is_empty() => calls::add(c, &mut maker),
                _ => generic::add(c, &mut maker),
            }
        });
    }
    let seed = c.below("seed", 1000);
    let is_compared = c.chance("compared", 30);
    RunnableProgram {
        seed,
        inputs: std::mem::take(&mut maker.inputs),
        is_compared,
        is_contradictory: maker.is_contradictory,
        text: finish(maker),
        ..RunnableProgram::default()
    }
}

/// The function with all values that nothing takes further as results.
fn finish(mut maker: Maker) -> String {
    let mut results = Vec::new();
    if !maker.memory {
        let values = maker.values.clone();
        results = values.iter().map(|value| maker.known(value)).collect();
    }
    maker.function(&results)
}
