//! The one thing that the body of an operation may do: compute, of what its operands and views hold.

use mdh_dialect::code::arguments;
use mdh_dialect::ir::{self, Op};
use mdh_dialect::loop_index;
use mdh_dialect::ops;
use mdh_dialect::structured::Structured;
use mdh_dialect::types;
use melior::ir::operation::OperationLike;
use melior::ir::{BlockRef, ValueLike};

use super::loops::Loops;
use super::memory;
use crate::support::region;

/// Refuses bodies that read or write memory, or call what might.
pub fn check(op: Op) -> Result<(), String> {
    inside(op, &refused, &mut Vec::new())
}

/// The same for bodies that may take elements from views too.
pub fn check_views(of: &Structured) -> Result<(), String> {
    let loops = Loops::new(of, &of.outputs[0]);
    let kind = of.kind()?;
    let view = |op: Op| {
        let from = ir::operand(op, 0).and_then(|from| types::buffer_type(from.r#type()));
        if ir::name_of(op) == ops::memref::LOAD && from.is_none_or(|from| from.kind != kind) {
            return refused(op);
        }
        let has_index = loop_index::extraction(op, &loops.extents).is_some();
        let is_view = has_index && loop_index::is_in_branches(op, Some(of.op));
        let refusal = || loop_index::refusal(op, of.op, &loops.extents);
        if is_view { Ok(()) } else { Err(refusal()) }
    };
    inside(of.op, &view, &mut Vec::new())?;
    let loads = ir::find_all(of.op, &[ops::memref::LOAD]).into_iter();
    for loaded in loads.filter_map(|load| ir::operand(load, 0)) {
        let shared = of
            .outputs
            .iter()
            .position(|o| memory::may_overlap(o.value, loaded));
        if let Some(n) = shared {
            return Err(format!(
                "its body loads from memory that destination {n} may share, so that what it makes depends on \
                 the order of its loops: expected memory of its own"
            ));
        }
    }
    Ok(())
}

fn refused(op: Op) -> Result<(), String> {
    Err(format!(
        "its body has '{}': expected numbers that are computed by operations of arith and math, scf.if, \
         scf.for, scf.while, or calls of functions of these",
        ir::name_of(op)
    ))
}

/// Returns whether each destination of a group accumulates by one `math.fma`.
pub fn accumulates_fused(of: &Structured, group: &[usize]) -> bool {
    let Some(block) = ir::only_block(ir::region(of.op, 0)) else {
        return false;
    };
    let arguments = arguments(block);
    let yields = region::yields(block);
    group.iter().all(|n| {
        let fused = ir::defining_op(yields[*n]).filter(|op| ir::name_of(*op) == ops::math::FMA);
        let accumulator = of.outputs[*n].argument.map(|n| arguments[n]);
        fused.is_some_and(|op| ir::operand(op, 2) == accumulator)
    })
}

/// Refuses a body that uses what another destination accumulates while it does.
pub fn check_others(of: &Structured, group: &[usize], block: BlockRef) -> Result<(), String> {
    let arguments = arguments(block);
    for (n, output) in of.outputs.iter().enumerate() {
        let is_used = output.argument.is_some_and(|n| ir::has_uses(arguments[n]));
        if is_used && !group.contains(&n) && of.kept(output).contains(&false) {
            return Err(format!(
                "its body uses for another destination what destination {n} holds so far: expected \
                 it to use what is complete, in an operation of its own"
            ));
        }
    }
    Ok(())
}

fn inside<'c>(
    op: Op<'c>,
    view: &dyn Fn(Op<'c>) -> Result<(), String>,
    called: &mut Vec<Op<'c>>,
) -> Result<(), String> {
    for other in ir::all(op).into_iter().filter(|other| *other != op) {
        let name = ir::name_of(other);
        let known = [
            ops::linalg::YIELD,
            ops::linalg::INDEX,
            ops::func::RETURN,
            ops::tensor::YIELD,
        ];
        match name {
            _ if name.starts_with("arith.") || name.starts_with("math.") => {}
            _ if name.starts_with("scf.") || known.contains(&name) => {}
            ops::func::CALL => call(other, called)?,
            ops::tensor::EXTRACT | ops::memref::LOAD => view(other)?,
            _ => refused(other)?,
        }
    }
    Ok(())
}

fn call<'c>(op: Op<'c>, called: &mut Vec<Op<'c>>) -> Result<(), String> {
    let callee = ir::attribute(op, "callee").and_then(ir::symbol);
    let function = callee.and_then(|name| ir::lookup_symbol(op, name));
    let with_body = function.filter(|f| f.region_count() > 0);
    match with_body.filter(|f| ir::only_block(ir::region(*f, 0)).is_some()) {
        Some(function) if called.contains(&function) => Ok(()),
        Some(function) => {
            called.push(function);
            inside(function, &refused, called)
        }
        None => Err(format!(
            "its body calls @{}, which has no body here and might do anything: expected a function \
             that only computes",
            callee.unwrap_or_default()
        )),
    }
}
