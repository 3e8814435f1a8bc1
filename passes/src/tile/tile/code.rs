//! Computations that a nest needs besides the one it is made from: copies and combinations.

use mdh_algebra::scalar::ScalarType;
use mdh_dialect::ir::{self, Op};
use mdh_dialect::ops;
use mdh_dialect::parts::Parts;
use mdh_dialect::types;
use mdh_dialect::write;
use melior::ir::{Attribute, Region, Type};

use crate::support::builder::Builder;
use crate::support::region;

/// `cc`.
pub fn cc<'c>(builder: &Builder<'c>) -> Attribute<'c> {
    Attribute::parse(builder.context, "#mdh.cc").unwrap_or_else(|| panic!("#mdh.cc parses"))
}

/// The region that yields its arguments.
pub fn identity<'c>(builder: &Builder<'c>, types: &[Type<'c>]) -> Region<'c> {
    builder.region(types, ops::mdh::YIELD, |_, arguments| arguments.to_vec())
}

/// The types of a computation's components.
pub fn component_types<'c>(builder: &Builder<'c>, components: &[ScalarType]) -> Vec<Type<'c>> {
    let types = components.iter();
    types
        .map(|ty| types::mlir_type(builder.context, *ty))
        .collect()
}

/// A computation that stores its inputs, combined as `parts` says, by `op`'s operator.
pub fn combination<'c>(
    builder: &mut Builder<'c>,
    op: Op<'c>,
    parts: &Parts<'c>,
    types: &[Type<'c>],
) -> Op<'c> {
    let scalar = identity(builder, types);
    stored(builder, op, parts, scalar)
}

/// A computation that stores the results of a scalar function of its inputs, combined as `parts`
/// says, by `op`'s operator.
pub fn stored<'c>(
    builder: &mut Builder<'c>,
    op: Op<'c>,
    parts: &Parts<'c>,
    scalar: Region<'c>,
) -> Op<'c> {
    let is_cc = |c: &Attribute| ir::is_cc(*c);
    let mut parts = parts.clone();
    crate::support::names::make_unique(&mut parts);
    let combiner = if parts.combine.iter().all(is_cc) {
        parts.laws = Default::default();
        Region::new()
    } else {
        region::copy(op, 1)
    };
    let new = write::compute(builder.context, builder.location, &parts, scalar, combiner);
    builder.insert(new)
}
