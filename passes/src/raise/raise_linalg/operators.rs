//! Operators of accumulators: what is known of them, and the code that they are.

use std::collections::HashSet;

use mdh_algebra::operator::Builtin;
use mdh_dialect::code::arguments;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::ops;
use melior::ir::operation::OperationLike;
use melior::ir::{BlockRef, Location, Region, Type, ValueLike};

use crate::support::region;

/// The function by which accumulators are combined with elements.
pub enum Operator<'c> {
    /// A built-in one for each of them.
    Builtin(Vec<Builtin>),
    /// Code on accumulators, then elements.
    Own(Own<'c>),
}

/// An operator of its own code.
pub struct Own<'c> {
    /// The code.
    pub code: Region<'c>,
    /// A name for it.
    pub name: String,
    /// Parts may be combined.
    pub associative: Law,
    /// In any order.
    pub commutative: Law,
    /// Accumulators start from its neutral element.
    pub from_neutral: bool,
}

/// Decides by code on accumulators, then elements, and by the elements.
pub type Wanted<'a, 'c> = dyn Fn(&Region<'c>, &[Val<'c>]) -> bool + 'a;

/// Says what is known of a law.
pub enum Law {
    /// It holds.
    Holds,
    /// Nothing: no numbers were found that refute it.
    Open,
    /// It does not hold.
    Broken(Broken),
}

impl Law {
    /// Returns whether it is known to hold.
    pub fn holds(&self) -> bool {
        matches!(self, Law::Holds)
    }
}

/// A law that does not hold.
pub struct Broken {
    /// The rule that a body does not follow, with tuples that show it.
    pub rule: String,
    /// The way to follow it.
    pub expected: String,
}

/// The identity of a value.
pub fn key(value: Val) -> usize {
    value.to_raw().ptr as usize
}

/// The constant that a value is.
pub fn constant(value: Val) -> Option<Op> {
    ir::defining_op(value).filter(|op| ir::name_of(*op) == ops::arith::CONSTANT)
}

/// The values that depend on some arguments.
pub fn dependent<'c>(block: BlockRef<'c, 'c>, arguments: &[Val<'c>]) -> HashSet<usize> {
    let mut keys: HashSet<usize> = arguments.iter().map(|a| key(*a)).collect();
    for op in ir::ops_of(block) {
        if region::used_by(op)
            .into_iter()
            .any(|v| keys.contains(&key(v)))
        {
            keys.extend(op.results().map(|r| key(ir::value(r))));
        }
    }
    keys
}

/// The values that operations take from elsewhere, but for constants.
pub fn taken<'c>(by: &[Op<'c>], dependent: &HashSet<usize>) -> Vec<Val<'c>> {
    let mut taken: Vec<Val> = Vec::new();
    for value in by.iter().flat_map(|op| region::used_by(*op)) {
        let is_inside = by
            .iter()
            .any(|op| ir::defining_op(value) == Some(*op) || region::is_defined_in(value, *op));
        let is_other = !dependent.contains(&key(value)) && !taken.contains(&value);
        if constant(value).is_none() && !is_inside && is_other {
            taken.push(value);
        }
    }
    taken
}

/// Operations as code on accumulators, then elements.
pub fn as_operator<'c>(
    merging: &[Op<'c>],
    accumulators: &[Val<'c>],
    elements: &[Val<'c>],
    yields: &[Val<'c>],
) -> Option<Region<'c>> {
    let outside: Vec<Val> = accumulators.iter().chain(elements).copied().collect();
    as_code(merging, tuples(accumulators), &outside, yields)
}

/// Operations as code, in a region with these arguments for values from outside.
pub fn as_code<'c>(
    merging: &[Op<'c>],
    (code, own): (Region<'c>, Vec<Val<'c>>),
    outside: &[Val<'c>],
    yields: &[Val<'c>],
) -> Option<Region<'c>> {
    let block = region::block(&code);
    let used = merging.iter().flat_map(|op| region::used_by(*op));
    let mut constants: Vec<Op> = used
        .chain(yields.iter().copied())
        .filter_map(constant)
        .collect();
    constants.retain(|op| !merging.iter().any(|m| ir::all(*m).contains(op)));
    let mut copied: Vec<Op> = Vec::new();
    for op in constants.iter().chain(merging) {
        if !copied.contains(op) {
            copied.push(*op);
        }
    }
    let mut copies: Vec<(Val, Val)> = Vec::new();
    copies.extend(outside.iter().copied().zip(own));
    for op in &copied {
        let copy = region::append_copy(block, *op);
        let results = op.results().zip(copy.results());
        copies.extend(results.map(|(old, new)| (ir::value(old), ir::value(new))));
    }
    let find = |value: &Val<'c>| copies.iter().find(|(old, _)| old == value);
    let results: Option<Vec<Val>> = yields.iter().map(|y| Some(find(y)?.1)).collect();
    let location = merging.last().map(|op| op.location());
    let location = location.unwrap_or(Location::unknown(ir::context_of_value(*outside.first()?)));
    region::yield_from(block, location, &results?);
    for (old, new) in &copies {
        region::replace_inside(&code, *old, *new);
    }
    region::erase_dead(block);
    Some(code)
}

/// A region whose block takes accumulators, then elements, with these arguments.
pub fn tuples<'c>(accumulators: &[Val<'c>]) -> (Region<'c>, Vec<Val<'c>>) {
    taking(&[accumulators, accumulators].concat())
}

/// A region whose block takes values of the types of these, with its arguments.
pub fn taking<'c>(values: &[Val<'c>]) -> (Region<'c>, Vec<Val<'c>>) {
    let types: Vec<Type> = values.iter().map(|a| a.r#type()).collect();
    let location = Location::unknown(ir::context_of_value(values[0]));
    let code = region::with_arguments(&types, location);
    let code_arguments = arguments(region::block(&code));
    (code, code_arguments)
}

/// Puts a copy of an operator's operations behind those of other code, on these values; returns its results.
pub fn append<'c>(to: &Region<'c>, operator: &Region<'c>, given: &[Val<'c>]) -> Vec<Val<'c>> {
    let (block, from) = (region::block(to), region::block(operator));
    let mut copies: Vec<(Val, Val)> = Vec::new();
    copies.extend(arguments(from).into_iter().zip(given.iter().copied()));
    let ops = ir::ops_of(from);
    for op in &ops[..ops.len() - 1] {
        let copy = region::append_copy(block, *op);
        let results = op.results().zip(copy.results());
        copies.extend(results.map(|(old, new)| (ir::value(old), ir::value(new))));
    }
    for (old, new) in &copies {
        region::replace_inside(to, *old, *new);
    }
    let copied = |value: Val<'c>| {
        let copy = copies.iter().find(|(old, _)| *old == value);
        copy.map_or(value, |(_, new)| *new)
    };
    region::yields(from).into_iter().map(copied).collect()
}
