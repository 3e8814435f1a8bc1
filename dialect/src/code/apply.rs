//! Operations of arith and math into instructions: of several results one instruction each, and
//! what their flags promise before them.

use crate::ops;
use mdh_algebra::code::{CmpiPredicate, Instruction, Op as ScalarOp, Register};
use mdh_algebra::promise::Promise;
use mdh_algebra::scalar::ScalarType;
use melior::ir::ValueLike;
use melior::ir::attribute::IntegerAttribute;

use super::{Translator, operands, results, scalar_type};
use crate::ir::{self, Errors, Op};
use crate::scalar_code;

/// The operation of arith or math that an operation is, if the oracle knows it.
pub fn scalar_operation(op: Op) -> Option<ScalarOp> {
    let predicate = ir::attribute(op, "predicate")
        .and_then(|a| IntegerAttribute::try_from(a).ok())
        .map(|a| a.value());
    ScalarOp::from_mlir(ir::name_of(op), predicate)
}

/// The operations that give the first and the second result of one that has two. A carry is
/// there if the sum is less than what it is a sum of.
fn halves(name: &str) -> Option<[ScalarOp; 2]> {
    match name {
        ops::arith::ADDUI_EXTENDED => Some([ScalarOp::Addi, ScalarOp::Cmpi(CmpiPredicate::Ult)]),
        ops::arith::MULSI_EXTENDED => Some([ScalarOp::Muli, ScalarOp::Mulsihi]),
        ops::arith::MULUI_EXTENDED => Some([ScalarOp::Muli, ScalarOp::Muluihi]),
        ops::math::SINCOS => Some([ScalarOp::Sin, ScalarOp::Cos]),
        _ => None,
    }
}

/// Returns the promises of an operation's flags.
fn promises(op: Op) -> Vec<Promise> {
    let flags = ir::attribute(op, "overflowFlags").map(|flags| flags.to_string());
    let has = |flag: &str| flags.as_ref().is_some_and(|flags| flags.contains(flag));
    let promises = [
        (has("nsw"), Promise::NoSignedWrap),
        (has("nuw"), Promise::NoUnsignedWrap),
        (ir::attribute(op, "isExact").is_some(), Promise::Exact),
    ];
    let made = promises.into_iter().filter(|(is_made, _)| *is_made);
    made.map(|(_, promise)| promise).collect()
}

impl Translator {
    /// The instructions of an operation that has no region and calls nothing.
    pub(super) fn apply(&mut self, op: Op, what: &str) -> Result<Vec<Instruction>, Errors> {
        let name = ir::name_of(op);
        if let Some(mode) = scalar_code::rounding_mode(op) {
            return Err(vec![format!(
                "{what} rounds {mode} in {name}: the oracle rounds to the nearest number only"
            )]);
        }
        let operands = self.uses(&operands(op), what)?;
        let values = results(op);
        let types = values.iter().map(|v| scalar_type(v.r#type(), what));
        let types: Vec<ScalarType> = types.collect::<Result<_, _>>()?;
        if let (Some([first, second]), &[a, b]) = (halves(name), &types[..]) {
            let registers = self.define(&values);
            let of_second = match second {
                ScalarOp::Cmpi(_) => vec![registers[0], operands[0]],
                _ => operands.clone(),
            };
            return Ok(vec![
                instruction(first, registers[0], operands, a),
                instruction(second, registers[1], of_second, b),
            ]);
        }
        let (Some(scalar_op), &[ty]) = (scalar_operation(op), &types[..]) else {
            return Err(vec![format!(
                "{what} uses {name}, which the oracle does not interpret: it knows scf.if, \
                 scf.for, scf.while, func.call, mdh.index, and most of arith and math"
            )]);
        };
        let mut instructions: Vec<Instruction> = promises(op)
            .into_iter()
            .map(|promise| Instruction::Promise {
                promise,
                op: scalar_op,
                operands: operands.clone(),
                ty,
            })
            .collect();
        instructions.push(instruction(
            scalar_op,
            self.define(&values)[0],
            operands,
            ty,
        ));
        Ok(instructions)
    }
}

fn instruction(
    op: ScalarOp,
    result: Register,
    operands: Vec<Register>,
    ty: ScalarType,
) -> Instruction {
    Instruction::Apply {
        result,
        op,
        operands,
        ty,
    }
}
