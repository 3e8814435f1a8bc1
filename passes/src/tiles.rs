//! Carries of tiles in dimensions that combine, whoever makes them: the loops of schedules
//! ([`crate::tile`]), or upstream's tiling ([`crate::tiling_interface`]).

use mdh_algebra::scalar::ScalarType;
use mdh_dialect::ir::Val;
use mdh_dialect::ops;
use mdh_dialect::parts::BufferPart;

use crate::builder::Builder;
use crate::draft;

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
    let zero = builder.index(0);
    let is_later = builder.compare("ne", number, zero);
    match before {
        None => is_later,
        Some(before) => builder.binary(ops::arith::ORI, before, is_later),
    }
}
