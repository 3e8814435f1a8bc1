//! Operations on integers in the place of those on floats.

use std::cmp::Ordering;

use mdh_algebra::exact::{self, Integers};
use mdh_algebra::op::{CmpfPredicate, Op as Scalar};
use mdh_algebra::scalar::{self, ScalarType};
use mdh_dialect::code::scalar_operation;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::types;
use melior::ir::operation::OperationLike;
use melior::ir::{Type, ValueLike};

use crate::support::builder::Builder;
use crate::support::region;

/// Dialects of which all operations take integers as they take floats.
const DIALECTS: [&str; 9] = [
    "affine",
    "bufferization",
    "builtin",
    "cf",
    "func",
    "gpu",
    "memref",
    "scf",
    "tensor",
];

/// Operations of others that do.
const OTHERS: [&str; 10] = [
    ops::arith::BITCAST,
    ops::arith::CONSTANT,
    ops::arith::SELECT,
    ops::linalg::GENERIC,
    ops::linalg::YIELD,
    ops::mdh::COMBINE,
    ops::mdh::COMPUTE,
    ops::mdh::LAYOUT_VIEW,
    ops::mdh::YIELD,
    ops::ub::POISON,
];

/// The reason for which an operation with floats has no form in integers, if it has none.
pub fn refusal(op: Op) -> Option<&'static str> {
    let name = ir::name_of(op);
    let dialect = name.split('.').next().unwrap_or_default();
    if DIALECTS.contains(&dialect) || OTHERS.contains(&name) {
        let is_outside = name == ops::func::FUNC && ir::is_empty(ir::region(op, 0));
        return is_outside.then_some("a function without a body is there for floats only");
    }
    if kind(op).is_none() {
        return Some("expected arithmetic, scf, memref, tensor, mdh.compute or linalg.generic");
    }
    let is_scalar = |value: Val| types::scalar_type(value.r#type()).is_some();
    (!op.results().map(ir::value).all(is_scalar))
        .then_some("expected scalars: linalg or mdh.compute for more of them")
}

/// Kind of an operation on floats.
enum FloatOperation {
    Compare(CmpfPredicate),
    /// A conversion between floats, or of or to signed integers.
    Signed,
    /// A conversion of or to integers without a sign.
    Unsigned,
    /// A question for what no integer is, with its answer.
    Test(bool),
    /// A power, whose exponent is an integer of any width.
    Power,
    SineAndCosine,
    Function(Scalar),
}

/// Returns whether an operation computes with floats.
pub fn is_arithmetic(op: Op) -> bool {
    let is_float = |value: Val| types::scalar_type(value.r#type()).is_some_and(|ty| ty.is_float());
    let has_floats = op
        .operands()
        .chain(op.results().map(Into::into))
        .any(is_float);
    has_floats && kind(op).is_some()
}

/// Returns whether an operation on small integral numbers gives the same in floats and in integers.
pub fn is_same_in_floats(op: Op) -> bool {
    use mdh_algebra::op::Op::*;
    match kind(op) {
        Some(FloatOperation::Function(function)) => matches!(
            function,
            Addf | Subf
                | Negf
                | Mulf
                | Fma
                | Absf
                | Maximumf
                | Minimumf
                | Maxnumf
                | Minnumf
                | Clampf
        ),
        Some(
            FloatOperation::Compare(_)
            | FloatOperation::Signed
            | FloatOperation::Unsigned
            | FloatOperation::Test(_),
        ) => true,
        Some(FloatOperation::Power | FloatOperation::SineAndCosine) | None => false,
    }
}

fn kind(op: Op) -> Option<FloatOperation> {
    if ir::name_of(op) == ops::math::SINCOS {
        return Some(FloatOperation::SineAndCosine);
    }
    Some(match scalar_operation(op)? {
        Scalar::Cmpf(predicate) => FloatOperation::Compare(predicate),
        Scalar::Extf | Scalar::Truncf | Scalar::Sitofp | Scalar::Fptosi => FloatOperation::Signed,
        Scalar::Uitofp | Scalar::Fptoui => FloatOperation::Unsigned,
        Scalar::Isnan | Scalar::Isinf => FloatOperation::Test(false),
        Scalar::Isfinite | Scalar::Isnormal => FloatOperation::Test(true),
        Scalar::Fpowi => FloatOperation::Power,
        own if exact::is_operation(own) => FloatOperation::Function(own),
        _ => return None,
    })
}

/// Replaces an operation on floats, of which operands and results are integers by now.
pub fn replace(op: Op) {
    let operands: Vec<Val> = op.operands().map(ir::value).collect();
    let results: Vec<Val> = op.results().map(ir::value).collect();
    let is_same = ir::name_of(op) == ops::arith::BITCAST;
    let value = match kind(op) {
        _ if is_same && operands[0].r#type() == results[0].r#type() => operands[0],
        Some(kind) => code(&mut Builder::before(op), &kind, &operands, &results),
        None => return,
    };
    region::replace_all_uses(results[0], value);
    region::erase(op);
}

/// The first result, in integers; further ones are replaced.
fn code<'c>(
    builder: &mut Builder<'c>,
    kind: &FloatOperation,
    operands: &[Val<'c>],
    results: &[Val<'c>],
) -> Val<'c> {
    let x = operands[0];
    match kind {
        FloatOperation::Function(own) => function(builder, *own, operands),
        FloatOperation::Compare(predicate) => compare(builder, *predicate, x, operands[1]),
        FloatOperation::Signed => resized(builder, ops::arith::EXTSI, x, results[0].r#type()),
        FloatOperation::Unsigned => resized(builder, ops::arith::EXTUI, x, results[0].r#type()),
        FloatOperation::Test(truth) => builder.boolean(*truth),
        FloatOperation::Power => {
            let exponent = resized(builder, ops::arith::EXTSI, operands[1], x.r#type());
            function(builder, Scalar::Powf, &[x, exponent])
        }
        FloatOperation::SineAndCosine => {
            let cosine = function(builder, Scalar::Cos, operands);
            region::replace_all_uses(results[1], cosine);
            function(builder, Scalar::Sin, operands)
        }
    }
}

/// Code that computes integers of one type.
struct Emitted<'b, 'c> {
    builder: &'b mut Builder<'c>,
    ty: ScalarType,
}

impl<'c> Integers for Emitted<'_, 'c> {
    type Value = Val<'c>;

    fn bits(&self) -> u32 {
        self.ty.bit_width()
    }

    fn constant(&mut self, bits: u64) -> Val<'c> {
        self.builder
            .scalar(scalar::Scalar::from_bits(self.ty, bits))
    }

    fn apply(&mut self, op: Scalar, operands: &[Val<'c>]) -> Val<'c> {
        let ty = types::mlir_type(self.builder.context, self.ty);
        self.builder.op(op.name(), operands, &[ty], &[])[0]
    }

    fn if_equal(&mut self, [x, y]: [Val<'c>; 2], [then, otherwise]: [Val<'c>; 2]) -> Val<'c> {
        let is_equal = self.builder.compare("eq", x, y);
        self.builder.select(is_equal, then, otherwise)
    }
}

/// An operation whose operands and result are of one type.
fn function<'c>(builder: &mut Builder<'c>, own: Scalar, operands: &[Val<'c>]) -> Val<'c> {
    let ty = types::scalar_type(operands[0].r#type());
    let mut emitted = Emitted {
        builder,
        ty: ty.unwrap_or_else(|| panic!("{own} takes scalars")),
    };
    exact::operation(&mut emitted, own, operands)
        .unwrap_or_else(|| panic!("{own} is an operation of floats"))
}

/// A comparison by the order of signed integers, of which each is a number.
fn compare<'c>(
    builder: &mut Builder<'c>,
    predicate: CmpfPredicate,
    x: Val<'c>,
    y: Val<'c>,
) -> Val<'c> {
    use CmpfPredicate::*;
    let name = match predicate {
        AlwaysFalse | Uno => return builder.boolean(false),
        AlwaysTrue | Ord => return builder.boolean(true),
        Oeq | Ueq => "eq",
        One | Une => "ne",
        Olt | Ult => "slt",
        Ole | Ule => "sle",
        Ogt | Ugt => "sgt",
        Oge | Uge => "sge",
    };
    builder.compare(name, x, y)
}

/// The integer in another width: with `extension` in a larger one.
fn resized<'c>(builder: &mut Builder<'c>, extension: &str, x: Val<'c>, ty: Type<'c>) -> Val<'c> {
    let width = |ty: Type| types::scalar_type(ty).map_or(0, ScalarType::bit_width);
    let name = match width(x.r#type()).cmp(&width(ty)) {
        Ordering::Equal => return x,
        Ordering::Less => extension,
        Ordering::Greater => ops::arith::TRUNCI,
    };
    builder.op(name, &[x], &[ty], &[])[0]
}
