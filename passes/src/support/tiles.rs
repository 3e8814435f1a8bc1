//! Carries of tiles in dimensions that combine, whoever makes them: the loops of schedules
//! ([`crate::tile::tile`]), or upstream's tiling ([`crate::tile::tiling_interface`]).

use mdh_algebra::scalar::ScalarType;
use mdh_dialect::ir::{self, Val};
use mdh_dialect::ops;
use mdh_dialect::parts::BufferPart;

use crate::support::builder::Builder;
use crate::support::draft;

/// The output, and its access, that keeps a component of this type as it is: the result so far is there.
pub fn stored(outputs: &[BufferPart], component: usize, ty: ScalarType) -> Option<(usize, usize)> {
    outputs.iter().enumerate().find_map(|(n, output)| {
        let access = output.components.iter().position(|c| *c == component)?;
        (draft::element(output.value) == Some(ty)).then_some((n, access))
    })
}

/// The elements of an access of an output, as a carry that a tile receives.
pub fn so_far<'c>(output: &BufferPart<'c>, access: usize, name: String) -> BufferPart<'c> {
    BufferPart {
        accesses: vec![output.accesses[access].clone()],
        components: vec![],
        name,
        pad: None,
        ..output.clone()
    }
}

/// Returns whether something is carried: to all tiles but the first, or to all if there was something
/// before.
pub fn after_first<'c>(
    builder: &mut Builder<'c>,
    number: Val<'c>,
    before: Option<Val<'c>>,
) -> Val<'c> {
    let is_later = match quotient(number) {
        // The first tile is that of the indices below the divisor.
        Some((index, size)) => builder.compare("uge", index, size),
        None => {
            let zero = builder.index(0);
            builder.compare("ne", number, zero)
        }
    };
    match before {
        None => is_later,
        Some(before) => builder.binary(ops::arith::ORI, before, is_later),
    }
}

/// Returns what an unsigned quotient divides by what.
fn quotient<'c>(value: Val<'c>) -> Option<(Val<'c>, Val<'c>)> {
    let op = ir::defining_op(value).filter(|op| ir::name_of(*op) == ops::arith::DIVUI)?;
    Some((ir::operand(op, 0)?, ir::operand(op, 1)?))
}
