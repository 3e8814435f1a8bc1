//! Operations of the dialect `index` as those of `arith` on the type index, which mean the same: what is asked
//! of code is then asked of one dialect.
//!
//! `tosa-to-linalg` computes with them in the bodies of `linalg.generic`, as in a Fourier transform.

use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::ops;
use melior::ir::ValueLike;
use melior::ir::operation::OperationLike;

use crate::support::builder::Builder;
use crate::support::region;

/// Replaces those in an operation.
pub fn replace(root: Op) {
    for op in ir::all(root) {
        let Some(name) = ir::name_of(op).strip_prefix("index.") else {
            continue;
        };
        if let Some((old, new)) = ir::result(op, 0).zip(arith(op, name)) {
            region::replace_all_uses(old, new);
            region::erase(op);
        }
    }
}

/// The value that an operation of that name in the dialect makes, by `arith`; none of an unknown one.
fn arith<'c>(op: Op<'c>, name: &str) -> Option<Val<'c>> {
    let mut builder = Builder::before(op);
    let result = [ir::result(op, 0)?.r#type()];
    let operands: Vec<Val> = op.operands().map(ir::value).collect();
    let same = match name {
        "add" => ops::arith::ADDI,
        "and" => ops::arith::ANDI,
        "casts" => ops::arith::INDEX_CAST,
        "castu" => ops::arith::INDEX_CASTUI,
        "ceildivs" => ops::arith::CEILDIVSI,
        "ceildivu" => ops::arith::CEILDIVUI,
        "divs" => ops::arith::DIVSI,
        "divu" => ops::arith::DIVUI,
        "floordivs" => ops::arith::FLOORDIVSI,
        "maxs" => ops::arith::MAXSI,
        "maxu" => ops::arith::MAXUI,
        "mins" => ops::arith::MINSI,
        "minu" => ops::arith::MINUI,
        "mul" => ops::arith::MULI,
        "or" => ops::arith::ORI,
        "rems" => ops::arith::REMSI,
        "remu" => ops::arith::REMUI,
        "shl" => ops::arith::SHLI,
        "shrs" => ops::arith::SHRSI,
        "shru" => ops::arith::SHRUI,
        "sub" => ops::arith::SUBI,
        "xor" => ops::arith::XORI,
        "constant" | "bool.constant" => {
            return Some(builder.constant(ir::attribute(op, "value")?, result[0]));
        }
        "cmp" => {
            let predicate = ir::attribute(op, "pred")?.to_string();
            let predicate = predicate
                .split(['(', ')', '<', '>', ' '])
                .rfind(|word| !word.is_empty())?;
            let [left, right] = operands[..] else {
                return None;
            };
            return Some(builder.compare(predicate, left, right));
        }
        _ => return None,
    };
    Some(builder.op(same, &operands, &result, &[])[0])
}
