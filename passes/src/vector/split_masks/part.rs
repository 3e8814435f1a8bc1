//! Lanes of a mask, computed for themselves.
//!
//! What a mask is made of is made for the part, rather than for all lanes, of which the part is
//! then taken: so it is seen to hold nowhere where it does. LLVM 22 otherwise finds that out when
//! it has chosen instructions already, and takes such a mask for one that need not be kept.

use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::types;
use melior::Context;
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, Type, ValueLike};

use super::lanes;
use crate::support::builder::Builder;
use crate::support::captured::{attribute, parse};

/// Operations whose result's lanes are made from the same lanes of their operands.
const LANE_BY_LANE: [&str; 7] = [
    ops::arith::ANDI,
    ops::arith::ORI,
    ops::arith::XORI,
    ops::arith::ADDI,
    ops::arith::SUBI,
    ops::arith::MULI,
    ops::arith::CMPI,
];

/// Depth to which a mask's definition is followed.
const DEPTH: usize = 8;

/// So many lanes of a vector with one axis, from this one on.
pub fn part<'c>(builder: &mut Builder<'c>, vector: Val<'c>, from: i64, count: i64) -> Val<'c> {
    remade(builder, vector, (from, count), DEPTH)
        .unwrap_or_else(|| slice(builder, vector, from, count))
}

/// The lanes of a vector that is there.
pub fn slice<'c>(builder: &mut Builder<'c>, vector: Val<'c>, from: i64, count: i64) -> Val<'c> {
    let context = builder.context;
    let place = [
        ("offsets", attribute(context, &format!("[{from}]"))),
        ("sizes", attribute(context, &format!("[{count}]"))),
        ("strides", attribute(context, "[1]")),
    ];
    let ty = narrowed(context, vector.r#type(), count);
    builder.op(ops::vector::EXTRACT_STRIDED_SLICE, &[vector], &[ty], &place)[0]
}

/// The vector's type with `count` lanes.
pub fn narrowed<'c>(context: &'c Context, ty: Type<'c>, count: i64) -> Type<'c> {
    let (_, element) = lanes(ty).unwrap_or_else(|| panic!("{ty} is a vector with one axis"));
    parse(context, &format!("vector<{count}x{element}>"))
}

fn remade<'c>(
    builder: &mut Builder<'c>,
    vector: Val<'c>,
    (from, count): (i64, i64),
    depth: usize,
) -> Option<Val<'c>> {
    let op = ir::defining_op(vector).filter(|_| depth > 0)?;
    let ty = narrowed(builder.context, vector.r#type(), count);
    let operands: Vec<Val<'c>> = op.operands().map(ir::value).collect();
    match (ir::name_of(op), &operands[..]) {
        (ops::vector::BROADCAST, [scalar]) => {
            types::scalar_type(scalar.r#type())?;
            Some(builder.op(ops::vector::BROADCAST, &[*scalar], &[ty], &[])[0])
        }
        (ops::vector::CREATE_MASK, [held]) => {
            let from = builder.index(from);
            let held = builder.binary(ops::arith::SUBI, *held, from);
            Some(builder.op(ops::vector::CREATE_MASK, &[held], &[ty], &[])[0])
        }
        (ops::vector::STEP, []) => {
            let first = builder.op(ops::vector::STEP, &[], &[ty], &[])[0];
            if from == 0 {
                return Some(first);
            }
            let from = builder.index(from);
            let from = builder.op(ops::vector::BROADCAST, &[from], &[ty], &[])[0];
            Some(builder.binary(ops::arith::ADDI, first, from))
        }
        (name, [_, _]) if LANE_BY_LANE.contains(&name) => {
            let mut pieces = operands.iter().map(|operand| {
                let piece = remade(builder, *operand, (from, count), depth - 1);
                piece.unwrap_or_else(|| slice(builder, *operand, from, count))
            });
            let sides = [pieces.next()?, pieces.next()?];
            let attributes = kept(op);
            Some(builder.op(name, &sides, &[ty], &attributes)[0])
        }
        _ => None,
    }
}

/// Returns the attribute with a comparison's predicate.
fn kept<'c>(op: Op<'c>) -> Vec<(&'static str, Attribute<'c>)> {
    let predicate = ir::attribute(op, "predicate");
    predicate
        .map(|own| ("predicate", own))
        .into_iter()
        .collect()
}
