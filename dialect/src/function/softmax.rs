//! `linalg.softmax`, as upstream decomposes it: the maximum along an axis, the exponentials of what is
//! left of each element, their sum, and the quotients.

use mdh_algebra::affine::Expr;
use mdh_algebra::code::{Block, Code, Instruction, Op as ScalarOp};
use mdh_algebra::nest::{Licence, Nest, NestAccess};
use mdh_algebra::program::{NestOperands, Statement, ValueId};
use mdh_algebra::scalar::{Scalar, ScalarType};
use melior::ir::ValueLike;
use melior::ir::operation::OperationLike;

use super::Translator;
use super::shapes::integer;
use crate::ir::{self, Op, Val};
use crate::types::{self, BufferKind};

impl<'c> Translator<'c> {
    pub(super) fn softmax(
        &mut self,
        op: Op<'c>,
        statements: &mut Vec<Statement>,
    ) -> Result<(), String> {
        let operands: Vec<Val<'c>> = op.operands().map(ir::value).collect();
        let [input, output] = operands[..] else {
            return Err("has other than two operands".into());
        };
        let ty = types::buffer_type(input.r#type()).ok_or("has an input of an unknown type")?;
        let (rank, element) = (ty.shape.len(), ty.element);
        let axis = integer(op, "dimension").unwrap_or(0) as usize;
        let (x, y) = (self.id(input)?, self.id(output)?);
        let is_tensor =
            types::buffer_type(output.r#type()).is_some_and(|t| t.kind == BufferKind::Tensor);
        let result = match is_tensor {
            true => self.result(op)?,
            false => y,
        };
        let all: Vec<Expr> = (0..rank).map(Expr::Dim).collect();
        let mut kept = all.clone();
        kept.remove(axis);
        // What has the extents of the input but for the axis, along which there may be none.
        let sizes = self.extents(op, x, axis, rank, statements);
        let row = self.fresh();
        let of_row = Statement::Empty {
            result: row,
            element,
            shape: vec![None; sizes.len()],
            sizes,
        };
        self.put(op, statements, of_row);
        let low = Scalar::from_f64(element, f64::NEG_INFINITY);
        let mut nest = |own: &mut Self, start, code, inputs: &[(ValueId, &Vec<Expr>)], out| {
            let (tensor, map, result): (ValueId, &Vec<Expr>, Option<ValueId>) = out;
            let started = own.started(op, tensor, start, statements);
            let result = result.unwrap_or_else(|| own.fresh());
            let access = |map: &Vec<Expr>| NestAccess::new(element, map.clone());
            let statement = Statement::Nest(Box::new(NestOperands {
                nest: Nest {
                    dimensions: rank,
                    inputs: inputs.iter().map(|(_, map)| access(map)).collect(),
                    outputs: vec![access(map)],
                    code,
                    licence: Licence::None,
                },
                inputs: inputs.iter().map(|(id, _)| *id).collect(),
                outputs: vec![started],
                results: vec![result],
            }));
            own.put(op, statements, statement);
            result
        };
        let code = |inputs: usize, rows: &[(ScalarOp, &[usize])]| chain(element, inputs, rows);
        let maximum = code(2, &[(ScalarOp::Maximumf, &[0, 1])]);
        let largest = nest(self, Some(low), maximum, &[(x, &all)], (row, &kept, None));
        let shifted = code(3, &[(ScalarOp::Subf, &[0, 1]), (ScalarOp::Exp, &[3])]);
        let inputs = [(x, &all), (largest, &kept)];
        let powers = nest(self, None, shifted, &inputs, (x, &all, None));
        let sum = code(2, &[(ScalarOp::Addf, &[0, 1])]);
        let zero = Some(Scalar::zero(element));
        let sums = nest(self, zero, sum, &[(powers, &all)], (row, &kept, None));
        let quotient = code(3, &[(ScalarOp::Divf, &[0, 1])]);
        let inputs = [(powers, &all), (sums, &kept)];
        nest(self, None, quotient, &inputs, (y, &all, Some(result)));
        Ok(())
    }

    /// The extents of a tensor, but for an axis.
    fn extents(
        &mut self,
        op: Op<'c>,
        tensor: ValueId,
        axis: usize,
        rank: usize,
        statements: &mut Vec<Statement>,
    ) -> Vec<ValueId> {
        let mut sizes = Vec::new();
        for other in (0..rank).filter(|other| *other != axis) {
            let axis = self.index(op, other as i64, statements);
            let result = self.fresh();
            let dim = Statement::Dim {
                result,
                tensor,
                axis,
            };
            self.put(op, statements, dim);
            sizes.push(result);
        }
        sizes
    }

    /// A tensor's shape filled with a number, or the tensor itself.
    fn started(
        &mut self,
        op: Op<'c>,
        tensor: ValueId,
        start: Option<Scalar>,
        statements: &mut Vec<Statement>,
    ) -> ValueId {
        let Some(value) = start else { return tensor };
        let (number, result) = (self.fresh(), self.fresh());
        let constant = Statement::Constant {
            result: number,
            value,
        };
        self.put(op, statements, constant);
        let fill = Statement::Fill {
            result,
            value: number,
            tensor,
        };
        self.put(op, statements, fill);
        result
    }
}

/// Operations on earlier registers, of which the last one is the result.
fn chain(ty: ScalarType, inputs: usize, rows: &[(ScalarOp, &[usize])]) -> Code {
    let instructions = rows.iter().enumerate();
    let instructions = instructions.map(|(n, (op, operands))| Instruction::Apply {
        result: inputs + n,
        op: *op,
        operands: operands.to_vec(),
        ty,
    });
    let registers = inputs + rows.len();
    Code {
        inputs: vec![ty; inputs],
        results: vec![ty],
        registers,
        body: Block {
            instructions: instructions.collect(),
            yields: vec![registers - 1],
        },
    }
}
