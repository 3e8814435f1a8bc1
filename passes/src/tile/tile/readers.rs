//! Readers of what a producer computes, and what a tile needs of it through them.

use mdh_dialect::parts::{Bound, BufferPart, Parts};
use mdh_dialect::schedule;
use mdh_schedule::reach::{self, Link, Need};

use crate::support::scheduled::Scheduled;

/// A computation that reads what a producer writes, and the points of it that are needed.
pub struct Reader<'c, 'p> {
    /// It.
    pub of: &'p Scheduled<'c>,
    /// The points of it that a tile of the consumer needs.
    pub needs: Vec<Need>,
}

/// The buffers, by number, that one computation writes and another one reads.
pub fn links<'p>(
    producer: &'p Scheduled,
    reader: &'p Parts,
) -> impl Iterator<Item = (usize, usize)> + 'p {
    let outputs = producer.parts.outputs.iter().enumerate();
    outputs.flat_map(|(o, output)| {
        let inputs = reader.inputs.iter().enumerate();
        let is_it = move |(_, input): &(usize, &BufferPart)| input.value == output.value;
        inputs.filter(is_it).map(move |(i, _)| (o, i))
    })
}

/// Returns what a tile of a consumer, the first of the readers, needs of a producer; a refusal if that is
/// not known, or nothing.
pub fn needs(producer: &Scheduled, readers: &[Reader], rank: usize) -> Result<Vec<Need>, String> {
    let mut reads = Vec::new();
    for reader in readers {
        for (o, i) in links(producer, &reader.of.parts) {
            let (output, input) = (&producer.parts.outputs[o], &reader.of.parts.inputs[i]);
            if input.pad.is_some() {
                return Err(format!(
                    "'{}' is read with a value outside of it: expected none, a tile does not know \
                     where its buffer ends",
                    input.name
                ));
            }
            let mut origins = output.origin.iter().chain(&input.origin);
            if origins.any(|origin| *origin != Bound::Static(0)) {
                return Err(format!("'{}' has an origin: expected 0", input.name));
            }
            reads.push(Link {
                written: &producer.computation.outputs[o],
                read: &reader.of.computation.inputs[i],
                reader: &reader.needs,
            });
        }
    }
    if reads.is_empty() {
        let name = schedule::name(readers[0].of.op);
        return Err(format!(
            "'{name}' reads none of its results: expected that it does"
        ));
    }
    Ok(reach::needs(&producer.computation, &reads, rank))
}
