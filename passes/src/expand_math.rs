//! `mdh-expand-math`: classifications of floats that upstream's conversions do not know.
//!
//! ```mlir
//! %r = math.isinf %x : f32
//! // becomes
//! %a = math.absf %x : f32
//! %inf = arith.constant 0x7F800000 : f32
//! %r = arith.cmpf oeq, %a, %inf : f32
//! ```
//!
//! `math.isnormal` compares with the smallest normal number too.

use mdh_algebra::scalar::{Scalar, ScalarType};
use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::pass::{Options, Pass};
use mdh_dialect::types;
use melior::ir::ValueLike;
use melior::ir::attribute::IntegerAttribute;
use melior::ir::operation::OperationLike;
use mlir_sys::{
    mlirOperationDestroy, mlirOperationRemoveFromParent, mlirValueReplaceAllUsesOfWith,
};

use crate::builder::Builder;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-expand-math",
    description: "expand math.isinf and math.isnormal on scalars to comparisons",
    operation: "builtin.module",
    options: &[],
    run,
};

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    for op in ir::find_all(module, &["math.isinf", "math.isnormal"]) {
        let (Ok(operand), Ok(result)) = (op.operand(0), op.result(0)) else {
            continue;
        };
        let (operand, result) = (ir::value(operand), ir::value(result));
        let Some(ty) = types::scalar_type(operand.r#type()) else {
            continue;
        };
        let expanded = expand(&mut Builder::before(op), ir::name_of(op), operand, ty);
        // SAFETY: all uses are redirected before the operation goes.
        unsafe {
            mlirValueReplaceAllUsesOfWith(result.to_raw(), expanded.to_raw());
            mlirOperationRemoveFromParent(op.to_raw());
            mlirOperationDestroy(op.to_raw());
        }
    }
    Ok(())
}

/// The numbers of arith's ordered comparisons.
const EQUAL: i64 = 1;
const AT_LEAST: i64 = 3;
const LESS: i64 = 4;

fn expand<'c>(builder: &mut Builder<'c>, name: &str, operand: Val<'c>, ty: ScalarType) -> Val<'c> {
    let size = builder.convert("math.absf", operand, ty);
    let infinity = builder.scalar(Scalar::from_f64(ty, f64::INFINITY));
    if name == "math.isinf" {
        return compare(builder, EQUAL, size, infinity);
    }
    let smallest = builder.scalar(Scalar::from_f64(ty, smallest_normal(ty)));
    let is_large = compare(builder, AT_LEAST, size, smallest);
    let is_finite = compare(builder, LESS, size, infinity);
    builder.binary("arith.andi", is_large, is_finite)
}

/// The smallest normal number: so many times the smallest one at all as the type has mantissas.
fn smallest_normal(ty: ScalarType) -> f64 {
    ty.min_denormal() / ty.epsilon()
}

fn compare<'c>(builder: &mut Builder<'c>, predicate: i64, lhs: Val<'c>, rhs: Val<'c>) -> Val<'c> {
    let number = IntegerAttribute::new(
        types::mlir_type(builder.context, ScalarType::I64),
        predicate,
    );
    let i1 = types::mlir_type(builder.context, ScalarType::I1);
    builder.op(
        "arith.cmpf",
        &[lhs, rhs],
        &[i1],
        &[("predicate", number.into())],
    )[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smallest_normal_numbers() {
        assert_eq!(smallest_normal(ScalarType::F16), 2f64.powi(-14));
        assert_eq!(smallest_normal(ScalarType::BF16), 2f64.powi(-126));
        assert_eq!(
            smallest_normal(ScalarType::F32),
            f64::from(f32::MIN_POSITIVE)
        );
        assert_eq!(smallest_normal(ScalarType::F64), f64::MIN_POSITIVE);
    }
}
