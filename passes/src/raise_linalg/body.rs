//! The one thing that the body of an operation may do: compute.

use mdh_dialect::ir::{self, Op};
use mdh_dialect::ops;
use melior::ir::operation::OperationLike;

/// Refuses bodies that read or write memory, or call what might.
pub fn check(op: Op) -> Result<(), String> {
    inside(op, &mut Vec::new())
}

fn inside<'c>(op: Op<'c>, called: &mut Vec<Op<'c>>) -> Result<(), String> {
    for other in ir::all(op).into_iter().filter(|other| *other != op) {
        let name = ir::name_of(other);
        let own = [
            ops::linalg::YIELD,
            ops::linalg::INDEX,
            ops::func::RETURN,
            ops::tensor::YIELD,
        ];
        match name {
            _ if name.starts_with("arith.") || name.starts_with("math.") => {}
            _ if name.starts_with("scf.") || own.contains(&name) => {}
            ops::func::CALL => call(other, called)?,
            _ => {
                return Err(format!(
                    "its body has '{name}': expected numbers that are computed by operations of arith \
                     and math, scf.if, scf.for, scf.while, or calls of functions of these"
                ));
            }
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
            inside(function, called)
        }
        None => Err(format!(
            "its body calls @{}, which has no body here and might do anything: expected a function \
             that only computes",
            callee.unwrap_or_default()
        )),
    }
}
