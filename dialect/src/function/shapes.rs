//! Operations that give elements other places, or make tensors of single ones.

use mdh_algebra::affine::Expr;
use mdh_algebra::code::{Block, Code, Instruction};
use mdh_algebra::nest::{Licence, Nest, NestAccess};
use mdh_algebra::program::{Index, Memory, NestOperands, Shaping, Statement, ValueId};
use mdh_algebra::scalar::ScalarType;
use melior::ir::ValueLike;
use melior::ir::attribute::IntegerAttribute;
use melior::ir::operation::OperationLike;
use std::sync::Arc;

use super::slices::DYNAMIC;
use super::{Translator, Unknown, result_type};
use crate::code;
use crate::ir::{self, Op, Val};
use crate::ops;
use crate::types;

impl<'c> Translator<'c> {
    /// Numbers of which dynamic ones are operands, from number `next` on.
    pub(super) fn numbers(
        &self,
        op: Op<'c>,
        name: &str,
        next: &mut usize,
    ) -> Result<Vec<Index>, String> {
        let number = |number: i64| {
            if number != DYNAMIC {
                return Ok(Index::Known(number));
            }
            let operand = ir::operand(op, *next).ok_or("has too few operands")?;
            *next += 1;
            Ok(Index::Value(self.id(operand)?))
        };
        ir::integers(op, name).into_iter().map(number).collect()
    }

    /// `expand_shape` and `collapse_shape` of tensors and memrefs, `tensor.concat`,
    /// `tensor.from_elements`.
    pub(super) fn shape(
        &mut self,
        op: Op<'c>,
        name: &str,
        ids: &[ValueId],
    ) -> Result<Statement, String> {
        let first = *ids.first().ok_or("has no operand")?;
        let memory = match name.starts_with("memref.") {
            true => Memory::Shared,
            false => Memory::Own,
        };
        let statement = match name {
            ops::tensor::EXPAND_SHAPE | ops::memref::EXPAND_SHAPE => {
                let extents = self.numbers(op, "static_output_shape", &mut 1)?;
                Statement::Reshape {
                    result: self.result(op)?,
                    tensor: first,
                    shaping: Shaping::To(extents),
                    memory,
                }
            }
            ops::tensor::COLLAPSE_SHAPE | ops::memref::COLLAPSE_SHAPE => {
                let groups = ir::array(op, "reassociation").into_iter().map(|group| {
                    let axes = ir::elements(group).into_iter();
                    let axes = axes.flat_map(|axis| IntegerAttribute::try_from(axis).ok());
                    axes.map(|axis| axis.value() as usize).collect()
                });
                Statement::Reshape {
                    result: self.result(op)?,
                    tensor: first,
                    shaping: Shaping::Groups(groups.collect()),
                    memory,
                }
            }
            ops::tensor::CONCAT => Statement::Concat {
                result: self.result(op)?,
                axis: integer(op, "dim").unwrap_or(0) as usize,
                parts: ids.to_vec(),
            },
            _ => {
                let ty = result_type(op)?;
                let shape: Option<Vec<i64>> = ty.shape.iter().copied().collect();
                Statement::FromElements {
                    result: self.result(op)?,
                    element: ty.element,
                    shape: shape.ok_or("has a result of unknown shape")?,
                    values: ids.to_vec(),
                }
            }
        };
        if let Statement::Reshape {
            result,
            tensor,
            memory: Memory::Shared,
            ..
        } = &statement
        {
            self.shares(*result, *tensor);
        }
        Ok(statement)
    }

    /// `tensor.reshape`: another shape, whose extents are elements where the type does not say them.
    pub(super) fn reshape(
        &mut self,
        op: Op<'c>,
        statements: &mut Vec<Statement>,
    ) -> Result<(), String> {
        let operands: Vec<Val<'c>> = op.operands().map(ir::value).collect();
        let [tensor, shape] = self.ids(&operands)?[..] else {
            return Err("has other than two operands".into());
        };
        let mut extents = Vec::new();
        for (axis, size) in result_type(op)?.shape.into_iter().enumerate() {
            if let Some(size) = size {
                extents.push(Index::Known(size));
                continue;
            }
            let (axis, extent) = (self.index(op, axis as i64, statements), self.fresh());
            let load = Statement::Load {
                result: extent,
                tensor: shape,
                indices: vec![axis],
            };
            self.put(op, statements, load);
            extents.push(Index::Value(extent));
        }
        let result = self.result(op)?;
        let reshape = Statement::Reshape {
            result,
            tensor,
            shaping: Shaping::To(extents),
            memory: Memory::Own,
        };
        self.put(op, statements, reshape);
        Ok(())
    }

    /// `tensor.pad` with one number everywhere.
    pub(super) fn pad(
        &mut self,
        op: Op<'c>,
        statements: &mut Vec<Statement>,
    ) -> Result<(), Unknown<'c>> {
        let here = |message: String| Unknown { op, message };
        let block = ir::only_block(ir::region(op, 0)).ok_or_else(|| here("has no body".into()))?;
        for argument in code::arguments(block) {
            if ir::has_uses(argument) {
                return Err(here(
                    "pads with a value that depends on the index, which the oracle does not follow: \
                     expected the same everywhere; write a linalg.generic with linalg.index"
                        .into(),
                ));
            }
        }
        let body = self.block(block)?;
        statements.extend(body.statements);
        let value = *body
            .yields
            .first()
            .ok_or_else(|| here("pads with nothing".into()))?;
        let mut next = 1;
        let low = self.numbers(op, "static_low", &mut next).map_err(here)?;
        let high = self.numbers(op, "static_high", &mut next).map_err(here)?;
        let tensor = ir::operand(op, 0).ok_or_else(|| here("has no operand".into()))?;
        let tensor = self.id(tensor).map_err(here)?;
        let result = self.result(op).map_err(here)?;
        self.put(
            op,
            statements,
            Statement::Pad {
                result,
                tensor,
                value,
                low,
                high,
            },
        );
        Ok(())
    }

    /// `tensor.splat`
    pub(super) fn splat(
        &mut self,
        op: Op<'c>,
        statements: &mut Vec<Statement>,
    ) -> Result<(), String> {
        let operands: Vec<Val<'c>> = op.operands().map(ir::value).collect();
        let mut ids = self.ids(&operands)?;
        let value = ids.remove(0);
        let tensor = self.empty_like(op, ids, statements)?;
        let result = self.result(op)?;
        self.put(
            op,
            statements,
            Statement::Fill {
                result,
                value,
                tensor,
            },
        );
        Ok(())
    }

    /// `tensor.generate`: a nest that reads nothing.
    pub(super) fn generate(
        &mut self,
        op: Op<'c>,
        statements: &mut Vec<Statement>,
    ) -> Result<(), String> {
        let operands: Vec<Val<'c>> = op.operands().map(ir::value).collect();
        let sizes = self.ids(&operands)?;
        let ty = result_type(op)?;
        let rank = ty.shape.len();
        let (inner, captured) = code::nest(ir::region(op, 0), rank, "the body")
            .map_err(|errors| format!("cannot be evaluated: {}", errors.join("; ")))?;
        let types: Option<Vec<ScalarType>> = captured
            .iter()
            .map(|v| types::scalar_type(v.r#type()))
            .collect();
        let types = types.ok_or(
            "reads tensors in its body, which the oracle does not follow: \
                                 expected numbers from outside",
        )?;
        let outer = captured.len();
        let index = |d| Instruction::Index {
            result: outer + 1 + d,
            dimension: d,
        };
        let mut instructions: Vec<Instruction> = (0..rank).map(index).collect();
        let made = outer + 1 + rank;
        instructions.push(Instruction::Call {
            callee: Arc::new(inner),
            operands: (outer + 1..made).chain(0..outer).collect(),
            results: vec![made],
        });
        let mut inputs = types.clone();
        inputs.push(ty.element);
        let code = Code {
            inputs,
            results: vec![ty.element],
            registers: made + 1,
            body: Block {
                instructions,
                yields: vec![made],
            },
        };
        let scalar = |element: &ScalarType| NestAccess {
            element: *element,
            map: Vec::new(),
        };
        let nest = Nest {
            dimensions: rank,
            inputs: types.iter().map(scalar).collect(),
            outputs: vec![NestAccess {
                element: ty.element,
                map: (0..rank).map(Expr::Dim).collect(),
            }],
            code,
            licence: Licence::None,
        };
        let inputs = self.ids(&captured)?;
        let tensor = self.empty_like(op, sizes, statements)?;
        let results = vec![self.result(op)?];
        let statement = Statement::Nest(Box::new(NestOperands {
            nest,
            inputs,
            outputs: vec![tensor],
            results,
        }));
        self.put(op, statements, statement);
        Ok(())
    }

    /// A tensor of the type of an operation's result that holds nothing yet.
    fn empty_like(
        &mut self,
        op: Op<'c>,
        sizes: Vec<ValueId>,
        statements: &mut Vec<Statement>,
    ) -> Result<ValueId, String> {
        let ty = result_type(op)?;
        let result = self.fresh();
        self.put(
            op,
            statements,
            Statement::Empty {
                result,
                element: ty.element,
                shape: ty.shape,
                sizes,
            },
        );
        Ok(result)
    }
}

/// The number of an attribute.
pub(super) fn integer(op: Op, name: &str) -> Option<i64> {
    let attribute = ir::attribute(op, name)?;
    Some(IntegerAttribute::try_from(attribute).ok()?.value())
}
