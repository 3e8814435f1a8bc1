//! Checks that the regions of an operation are scalar code, by the rules of
//! [`mdh_algebra::rules::scalar_code`].

use crate::ops;
use std::collections::HashSet;

use mdh_algebra::rules::scalar_code::{self as rules, Callee, EnclosingFunction, OperationRole};
use melior::ir::attribute::IntegerAttribute;
use melior::ir::operation::OperationLike;
use melior::ir::{BlockLike, RegionLike, RegionRef, ValueLike};

use crate::code::arguments;
use crate::ir::{self, Op, Val};
use crate::types;

/// Calls nested deeper than this are refused: they are followed on the stack.
const DEEPEST: usize = 500;

/// A mistake of an operation: a phrase that follows its name.
pub struct Finding<'c> {
    /// The operation.
    pub op: Op<'c>,
    /// Found, expected, and what to do.
    pub message: String,
}

/// Finds code in the regions of an operation of the dialect that is no scalar code. Callees are not
/// looked at.
pub fn check<'c>(op: Op<'c>) -> Vec<Finding<'c>> {
    let mut findings = Vec::new();
    for (region, place) in regions(op) {
        let inside = defined(region);
        for nested in body(region) {
            let message = rules::operation(ir::name_of(nested), &place)
                .or_else(|| foreign_type(nested, &inside).map(|ty| rules::value(&ty, &place)))
                .or_else(|| rounding_mode(nested).map(|mode| rules::rounding(mode, &place)));
            findings.extend(message.map(|message| Finding {
                op: nested,
                message,
            }));
        }
    }
    findings
}

/// Finds mistakes of the functions that the regions of an operation call.
pub fn calls<'c>(op: Op<'c>) -> Vec<Finding<'c>> {
    let (mut findings, mut fine) = (Vec::new(), HashSet::new());
    for (region, place) in regions(op) {
        for call in calls_of(region) {
            let mut way = Vec::new();
            if let Some(found) = callee(call, &mut way, &mut fine) {
                let shown = match found {
                    Callee::Deep(_) => 1,
                    _ => way.len(),
                };
                let way: Vec<&str> = way.iter().take(shown).map(|(name, _)| *name).collect();
                let message = rules::call(&way, &place, &found);
                findings.push(Finding { op: call, message });
            }
        }
    }
    findings
}

/// The regions of scalar code that an operation has.
fn regions<'c>(op: Op<'c>) -> Vec<(RegionRef<'c, 'c>, EnclosingFunction)> {
    let name = |op| ir::attribute(op, "sym_name").and_then(ir::text);
    match ir::name_of(op) {
        ops::mdh::COMBINE => {
            let name = name(op).unwrap_or_default().to_owned();
            vec![(ir::region(op, 0), EnclosingFunction::Operator(name))]
        }
        ops::mdh::HOM => vec![(ir::region(op, 0), EnclosingFunction::Scalar)],
        ops::mdh::COMPUTE => {
            let combiner = ir::combiner(op);
            let combiner = combiner.map(|region| (region, EnclosingFunction::Operator(label(op))));
            let scalar = (ir::region(op, 0), EnclosingFunction::Scalar);
            std::iter::once(scalar).chain(combiner).collect()
        }
        _ => Vec::new(),
    }
}

/// The label of the operator of an `mdh.compute`.
fn label(op: Op) -> String {
    let parameters = |c| ir::class_of(c).1;
    let combine = ir::array(op, "combine");
    let mut labels = combine
        .into_iter()
        .flat_map(parameters)
        .filter_map(ir::text);
    labels.next().unwrap_or_default().to_owned()
}

/// The operations of a region and those nested in them, but for the one that ends it.
fn body<'c>(region: RegionRef<'c, 'c>) -> Vec<Op<'c>> {
    let mut operations = Vec::new();
    for block in blocks(region) {
        let ops = ir::ops_of(block);
        operations.extend(ops.split_last().map_or(&[][..], |(_, body)| body));
    }
    let mut next = 0;
    while let Some(op) = operations.get(next).copied() {
        next += 1;
        // What stands in a foreign operation is its own affair.
        if rules::role(ir::name_of(op)) == OperationRole::Control {
            for r in 0..op.region_count() {
                operations.extend(blocks(ir::region(op, r)).flat_map(ir::ops_of));
            }
        }
    }
    operations
}

fn blocks<'c>(region: RegionRef<'c, 'c>) -> impl Iterator<Item = melior::ir::BlockRef<'c, 'c>> {
    std::iter::successors(region.first_block(), |block| block.next_in_region())
}

/// The values that a region and what it holds define.
fn defined(region: RegionRef) -> HashSet<usize> {
    let mut values: Vec<Val> = blocks(region).flat_map(arguments).collect();
    for op in body(region) {
        values.extend(op.results().map(ir::value));
        for r in 0..op.region_count() {
            values.extend(blocks(ir::region(op, r)).flat_map(arguments));
        }
    }
    values
        .into_iter()
        .map(|v| v.to_raw().ptr as usize)
        .collect()
}

/// The first type among an operation's results and what it uses from outside of `inside` that is
/// not a number's. (What is defined inside is said of the operation that defines it.)
fn foreign_type(op: Op, inside: &HashSet<usize>) -> Option<String> {
    let is_outside = |v: &Val| !inside.contains(&(v.to_raw().ptr as usize));
    let used = op.operands().map(ir::value).filter(is_outside);
    let mut values = op.results().map(ir::value).chain(used);
    let value = values.find(|v| types::scalar_type(v.r#type()).is_none())?;
    Some(value.r#type().to_string())
}

/// Returns an operation's rounding mode, if it is another one than to nearest even. What upstream
/// makes of the others rounds like all other code all the same.
pub fn rounding_mode(op: Op) -> Option<&'static str> {
    const MODES: [&str; 5] = [
        "to_nearest_even",
        "downward",
        "upward",
        "toward_zero",
        "to_nearest_away",
    ];
    let mode = ir::attribute(op, "roundingmode")?;
    let mode = IntegerAttribute::try_from(mode).ok()?.value();
    let name = usize::try_from(mode).ok().and_then(|m| MODES.get(m));
    let name = name.copied().unwrap_or("in an unknown way");
    (mode != 0).then_some(name)
}

fn calls_of<'c>(region: RegionRef<'c, 'c>) -> impl Iterator<Item = Op<'c>> {
    let ops = body(region).into_iter();
    ops.filter(|op| rules::role(ir::name_of(*op)) == OperationRole::Call)
}

/// The function that an operation calls, if the symbol is there and has a body.
fn function<'c>(call: Op<'c>) -> Option<(&'c str, Op<'c>)> {
    let name = ir::attribute(call, "callee").and_then(ir::symbol)?;
    let function = ir::lookup_symbol(call, name)?;
    let has_body =
        ir::name_of(function) == ops::func::FUNC && ir::region(function, 0).first_block().is_some();
    has_body.then_some((name, function))
}

/// Returns the reason for which a callee is none for scalar code; `way` are the functions down to
/// the one that it is about, and `fine` those that are known to be right.
fn callee<'c>(
    call: Op<'c>,
    way: &mut Vec<(&'c str, Op<'c>)>,
    fine: &mut HashSet<usize>,
) -> Option<Callee> {
    // A function without a body is taken at its word; a missing one is the call's own error.
    let (name, function) = function(call)?;
    let key = function.to_raw().ptr as usize;
    if fine.contains(&key) {
        return None;
    }
    if way
        .iter()
        .any(|(_, on)| on.to_raw().ptr == function.to_raw().ptr)
    {
        return Some(Callee::Recurses(name.to_owned()));
    }
    if way.len() == DEEPEST {
        return Some(Callee::Deep(DEEPEST));
    }
    way.push((name, function));
    let region = ir::region(function, 0);
    if ir::only_block(region).is_none() {
        return Some(Callee::Branches);
    }
    let place = EnclosingFunction::Callee(name.to_owned());
    let inside = HashSet::new();
    for op in body(region) {
        let operation = ir::name_of(op);
        if rules::operation(operation, &place).is_some() {
            return Some(Callee::Holds(operation.to_owned()));
        }
        if let Some(ty) = foreign_type(op, &inside) {
            return Some(Callee::Value(ty));
        }
        if let Some(mode) = rounding_mode(op) {
            return Some(Callee::Rounds(operation.to_owned(), mode));
        }
        if rules::role(operation) == OperationRole::Call
            && let Some(found) = callee(op, way, fine)
        {
            return Some(found);
        }
    }
    way.pop();
    fine.insert(key);
    None
}
