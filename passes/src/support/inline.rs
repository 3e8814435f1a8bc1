//! Copies scalar code from a region to an insertion point.

use mdh_dialect::ops;
use std::collections::HashMap;

use mdh_dialect::code::arguments;
use mdh_dialect::ir::{self, Op, Val};
use melior::ir::attribute::IntegerAttribute;
use melior::ir::operation::OperationLike;
use melior::ir::{RegionRef, Value, ValueLike};
use mlir_sys::*;

use crate::support::builder::Builder;

/// Copies a region's only block and returns the operands of its terminator, with `inputs` for its
/// arguments and `point` for the results of `mdh.index`.
pub fn inline<'c>(
    builder: &mut Builder<'c>,
    region: RegionRef<'c, 'c>,
    inputs: &[Val<'c>],
    point: &[Val<'c>],
) -> Vec<Val<'c>> {
    let Some(block) = ir::only_block(region) else {
        panic!("the verifier lets only regions of one block pass");
    };
    let mut copies: HashMap<usize, Val<'c>> = HashMap::new();
    for (argument, input) in arguments(block).into_iter().zip(inputs) {
        copies.insert(key(argument), *input);
    }
    let ops = ir::ops_of(block);
    let Some((terminator, body)) = ops.split_last() else {
        panic!("the verifier lets no empty block pass");
    };
    inline_some(builder, body, &mut copies, point);
    let yields = terminator.operands().map(|v| {
        let value = ir::value(v);
        copies.get(&key(value)).copied().unwrap_or(value)
    });
    yields.collect()
}

/// Copies some operations of scalar code, in order. `copies` maps values, by their addresses, to
/// their copies; results are added.
pub fn inline_some<'c>(
    builder: &mut Builder<'c>,
    ops: &[Op<'c>],
    copies: &mut HashMap<usize, Val<'c>>,
    point: &[Val<'c>],
) {
    for op in ops {
        if ir::name_of(*op) == ops::mdh::INDEX {
            copies.insert(key(result(*op, 0)), point[dimension(*op)]);
            continue;
        }
        // SAFETY: the clone is new and goes to the builder.
        let clone =
            unsafe { melior::ir::operation::Operation::from_raw(mlirOperationClone(op.to_raw())) };
        let clone = builder.insert(clone);
        replace(clone, copies, point);
        for i in 0..op.result_count() {
            copies.insert(key(result(*op, i)), result(clone, i));
        }
    }
}

/// Returns a value's key in maps and sets.
pub fn key(value: Val) -> usize {
    value.to_raw().ptr as usize
}

fn result<'c>(op: Op<'c>, index: usize) -> Val<'c> {
    // SAFETY: callers name a result that the operation has.
    unsafe { Value::from_raw(mlirOperationGetResult(op.to_raw(), index as isize)) }
}

fn dimension(op: Op) -> usize {
    ir::attribute(op, "dim")
        .and_then(|a| IntegerAttribute::try_from(a).ok())
        .map_or(0, |a| a.value() as usize)
}

/// Redirects the operands of a copied operation, and of those nested in it.
fn replace<'c>(op: Op<'c>, copies: &HashMap<usize, Val<'c>>, point: &[Val<'c>]) {
    for i in 0..op.operand_count() {
        // SAFETY: the number is that of an operand.
        unsafe {
            let operand = mlirOperationGetOperand(op.to_raw(), i as isize);
            if let Some(copy) = copies.get(&(operand.ptr as usize)) {
                mlirOperationSetOperand(op.to_raw(), i as isize, copy.to_raw());
            }
        }
    }
    for r in 0..op.region_count() {
        let mut block = melior::ir::RegionLike::first_block(&ir::region(op, r));
        while let Some(current) = block {
            for nested in ir::ops_of(current) {
                if ir::name_of(nested) == ops::mdh::INDEX {
                    // SAFETY: all uses are redirected before the operation goes.
                    unsafe {
                        mlirValueReplaceAllUsesOfWith(
                            result(nested, 0).to_raw(),
                            point[dimension(nested)].to_raw(),
                        );
                        mlirOperationRemoveFromParent(nested.to_raw());
                        mlirOperationDestroy(nested.to_raw());
                    }
                } else {
                    replace(nested, copies, point);
                }
            }
            block = melior::ir::BlockLike::next_in_region(&current);
        }
    }
}
