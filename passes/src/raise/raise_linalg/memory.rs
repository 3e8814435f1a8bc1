//! Memory that operands share under different names.
//!
//! What one of them writes another may read. A computation has points in no order, so that memory under
//! one name is left to its own rules, and under several is refused unless these are seen to be apart.

use std::collections::HashMap;

use mdh_dialect::code::arguments;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::structured::Structured;
use mdh_dialect::types::{self, BufferKind};
use mdh_dialect::{marks, memory, ops};
use melior::ir::operation::OperationLike;
use melior::ir::{RegionLike, ValueLike};

use crate::support::buffers::SLICE;

/// The source of memory.
#[derive(PartialEq)]
enum Origin<'c> {
    /// It is made here, or an argument of a function without `mdh.may_alias`: different ones are different
    /// memory.
    Own(Val<'c>),
    /// A global variable.
    Global(String),
    /// Anything else, which may be any of these.
    Unknown,
}

fn origin(value: Val) -> Origin {
    let Some(op) = ir::defining_op(value) else {
        return match function_of(value).is_some_and(|of| !marks::MAY_ALIAS.is_on(of)) {
            true => Origin::Own(value),
            false => Origin::Unknown,
        };
    };
    match ir::name_of(op) {
        ops::memref::ALLOC | ops::memref::ALLOCA => Origin::Own(value),
        ops::memref::GET_GLOBAL => {
            let name = ir::attribute(op, "name").map(|name| name.to_string());
            Origin::Global(name.unwrap_or_default())
        }
        _ => memory::viewed(value).map_or(Origin::Unknown, origin),
    }
}

/// The function of which a value is an argument: a block behind the first has what branches pass.
fn function_of(value: Val) -> Option<Op> {
    let argument = ir::block_argument(value)?;
    let first = ir::region(argument.of, 0).first_block()?;
    let is_own = arguments(first).get(argument.number) == Some(&value);
    (is_own && ir::name_of(argument.of) == ops::func::FUNC).then_some(argument.of)
}

/// Returns whether two memrefs may have memory in common.
pub fn may_overlap(a: Val, b: Val) -> bool {
    if a == b {
        return true;
    }
    let (of_a, of_b) = (origin(a), origin(b));
    let same = of_a == of_b || of_a == Origin::Unknown || of_b == Origin::Unknown;
    same && !are_apart(a, b)
}

/// The symbol in an attribute.
fn symbol(op: Op, attribute: &str) -> Option<String> {
    let name = ir::attribute(op, attribute)?;
    ir::symbol(name).or(ir::text(name)).map(str::to_owned)
}

/// Marks the functions that are given memory twice, by a call or by one of their callers' callers, or a
/// global variable that they name, and those that are called through a value.
pub fn mark_aliasing(module: Op) {
    let functions = ir::find_all(module, &[ops::func::FUNC]).into_iter();
    let mut open: Vec<(Option<String>, Op)> = functions
        .filter(|function| !marks::MAY_ALIAS.is_on(*function))
        .map(|function| (symbol(function, "sym_name"), function))
        .collect();
    let taken = ir::find_all(module, &[ops::func::CONSTANT]).into_iter();
    let taken: Vec<_> = taken.map(|op| symbol(op, "value")).collect();
    let calls = ir::find_all(module, &[ops::func::CALL]).into_iter();
    let mut calls_of: HashMap<Option<String>, Vec<Op>> = HashMap::new();
    for call in calls {
        calls_of
            .entry(symbol(call, "callee"))
            .or_default()
            .push(call);
    }
    // A caller that may be given memory twice may pass it on.
    loop {
        let before = open.len();
        open.retain(|(name, function)| {
            let calls = calls_of.get(name).map_or(&[][..], Vec::as_slice);
            let names_globals = || !ir::find_all(*function, &[ops::memref::GET_GLOBAL]).is_empty();
            let is_called = |of: Op| calls_of.contains_key(&symbol(of, "sym_name"));
            let is_given = |call: &Op| {
                is_given_twice(*call) || is_given_global(*call, is_called) && names_globals()
            };
            let may_alias = taken.contains(name) || calls.iter().any(is_given);
            if may_alias {
                marks::MAY_ALIAS.set(*function);
            }
            !may_alias
        });
        if open.len() == before {
            return;
        }
    }
}

fn memrefs<'c>(call: Op<'c>) -> Vec<Val<'c>> {
    let is_memref = |value: &Val| {
        let ty = types::buffer_type(value.r#type());
        ty.is_none_or(|ty| ty.kind == BufferKind::MemRef)
    };
    call.operands().map(ir::value).filter(is_memref).collect()
}

/// Returns whether a memref of a call may be a global variable: also one that the caller was given.
fn is_given_global(call: Op, is_called: impl Fn(Op) -> bool) -> bool {
    memrefs(call).into_iter().any(|value| match origin(value) {
        Origin::Own(own) => function_of(own).is_some_and(&is_called),
        Origin::Global(_) | Origin::Unknown => true,
    })
}

/// Returns whether two memrefs of a call may have memory in common.
fn is_given_twice(call: Op) -> bool {
    let given = memrefs(call);
    let mut pairs = (0..given.len()).flat_map(|n| (0..n).map(move |m| (m, n)));
    pairs.any(|(m, n)| may_overlap(given[m], given[n]))
}

/// Returns whether two subviews of one memref have an axis in which they do not meet.
fn are_apart(a: Val, b: Val) -> bool {
    let view = |value| {
        let made = ir::defining_op(uncast(value));
        made.filter(|op| ir::name_of(*op) == ops::memref::SUBVIEW)
    };
    let (Some(a), Some(b)) = (view(a), view(b)) else {
        return false;
    };
    if ir::operand(a, 0) != ir::operand(b, 0) {
        return false;
    }
    let mut axes = ranges(a).into_iter().zip(ranges(b));
    axes.any(|(a, b)| matches!((a, b), (Some((a, b)), Some((c, d))) if b < c || d < a))
}

/// The memref under another type.
fn uncast(value: Val) -> Val {
    let cast = ir::defining_op(value).filter(|op| ir::name_of(*op) == ops::memref::CAST);
    cast.and_then(|op| ir::operand(op, 0)).map_or(value, uncast)
}

/// The first and last index of a subview in each axis, where they are known.
fn ranges(op: Op) -> Vec<Option<(i64, i64)>> {
    let [offsets, sizes, strides] = SLICE.map(|name| ir::integers(op, name));
    let axes = offsets.into_iter().zip(sizes).zip(strides);
    let known = |((offset, size), stride): ((i64, i64), i64)| {
        let bounds = [offset, size, stride];
        let is_known = bounds.iter().all(|n| *n >= 0);
        is_known.then(|| (offset, offset + (size - 1) * stride))
    };
    axes.map(known).collect()
}

/// The reason why different arguments may be the same memory, as an addition to a remark.
fn given_twice(memory: Val) -> &'static str {
    let argument =
        ir::block_argument(memory).filter(|argument| marks::MAY_ALIAS.is_on(argument.of));
    argument.map_or("", |_| {
        " ('mdh.may_alias' is on the function: a call gives it memory twice, or it is written there)"
    })
}

/// Refuses a destination of which several indices are one element: points in no order would write it.
fn check_elements(memory: Val) -> Result<(), String> {
    for value in std::iter::successors(Some(memory), |value| cast_from(*value)) {
        let ty = value.r#type();
        let (Some((_, strides)), Some(buffer)) = (types::strides(ty), types::buffer_type(ty))
        else {
            continue;
        };
        let axes = strides.iter().zip(&buffer.shape).enumerate();
        let mut steps: Vec<(usize, Option<i64>, Option<i64>)> = axes
            .map(|(axis, (stride, size))| (axis, stride.map(i64::abs), *size))
            .filter(|(.., size)| !matches!(size, Some(0 | 1)))
            .collect();
        steps.sort_by_key(|(_, stride, _)| *stride);
        // The last index that the smaller strides reach, as long as it is known.
        let mut reached = Some(0);
        for (axis, stride, size) in steps {
            let Some(stride) = stride else { continue };
            if stride == 0 || reached.is_some_and(|reached| stride <= reached) {
                return Err(format!(
                    "its destination has the stride {stride} in axis {axis}, so that several indices \
                     are one element, and what that holds depends on the order of its loops: expected \
                     memory with an element for each index"
                ));
            }
            let way = size.and_then(|size| stride.checked_mul(size - 1));
            reached = reached.zip(way).and_then(|(a, b)| a.checked_add(b));
        }
    }
    Ok(())
}

/// The memref that another one is with a type that says less or more.
fn cast_from(value: Val) -> Option<Val> {
    let casts = [
        ops::memref::CAST,
        ops::memref::MEMORY_SPACE_CAST,
        ops::memref::ASSUME_ALIGNMENT,
    ];
    let op = ir::defining_op(value).filter(|op| casts.contains(&ir::name_of(*op)))?;
    ir::operand(op, 0)
}

/// Refuses a destination whose memory another operand has under another name.
pub fn check(of: &Structured) -> Result<(), String> {
    let operands: Vec<Val> = of.operands().map(|operand| operand.value).collect();
    check_apart(&operands, &operands[of.inputs.len()..])
}

/// The same for destinations among any operands.
pub fn check_apart(operands: &[Val], destinations: &[Val]) -> Result<(), String> {
    let is_memory = |value: &&Val| {
        let ty = types::buffer_type(value.r#type());
        ty.is_some_and(|ty| ty.kind == BufferKind::MemRef)
    };
    for destination in destinations.iter().filter(is_memory) {
        check_elements(*destination)?;
        let meets = |other: &Val| {
            is_memory(&other) && other != destination && may_overlap(*other, *destination)
        };
        if let Some(number) = operands.iter().position(meets) {
            return Err(format!(
                "a destination may share memory with operand {number}, so that what it makes depends on \
                 the order of its loops: expected memory of its own, or the same memref{}",
                given_twice(*destination)
            ));
        }
    }
    Ok(())
}
