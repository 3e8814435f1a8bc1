//! Operations that give elements other places, or make tensors of single ones.

use mdh_algebra::affine::Expr;
use mdh_algebra::code::{Block, Code, Instruction, Op as ScalarOp};
use mdh_algebra::nest::{Licence, Nest, NestAccess};
use mdh_algebra::program::{
    Index, Memory, NestOperands, Shaping, SliceOperands, Statement, ValueId,
};
use mdh_algebra::scalar::ScalarType;
use melior::ir::attribute::IntegerAttribute;
use melior::ir::operation::OperationLike;
use melior::ir::{BlockRef, ValueLike};
use std::sync::Arc;

use super::spelled::loops_around;
use super::translator::{Translator, Unknown, result_type};
use crate::code;
use crate::ir::{self, Op, Val};
use crate::ops;
use crate::types::{self, DYNAMIC};

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
                let groups = ir::axis_groups(op);
                Statement::Reshape {
                    result: self.result(op)?,
                    tensor: first,
                    shaping: Shaping::Split { extents, groups },
                    memory,
                }
            }
            ops::tensor::COLLAPSE_SHAPE | ops::memref::COLLAPSE_SHAPE => Statement::Reshape {
                result: self.result(op)?,
                tensor: first,
                shaping: Shaping::Groups(ir::axis_groups(op)),
                memory,
            },
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

    /// `tensor.reshape`, `memref.reshape`: another shape, whose extents are elements where the type does not say them.
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
        let memory = match ir::name_of(op) {
            ops::memref::RESHAPE => Memory::Shared,
            _ => Memory::Own,
        };
        if memory == Memory::Shared {
            self.shares(result, tensor);
        }
        let reshape = Statement::Reshape {
            result,
            tensor,
            shaping: Shaping::To(extents),
            memory,
        };
        self.put(op, statements, reshape);
        Ok(())
    }

    /// `tensor.pad`, with one number everywhere or with what its body makes of the index.
    pub(super) fn pad(
        &mut self,
        op: Op<'c>,
        statements: &mut Vec<Statement>,
    ) -> Result<(), Unknown<'c>> {
        let here = |message: String| Unknown { op, message };
        let block = ir::only_block(ir::region(op, 0)).ok_or_else(|| here("has no body".into()))?;
        if code::arguments(block).into_iter().any(ir::has_uses) {
            return self.pad_by_index(op, block, statements);
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

    /// A tensor of what the body makes of each index, into which the padded one is inserted.
    fn pad_by_index(
        &mut self,
        op: Op<'c>,
        block: BlockRef<'c, 'c>,
        statements: &mut Vec<Statement>,
    ) -> Result<(), Unknown<'c>> {
        let here = |message: String| Unknown { op, message };
        let mut next = 1;
        let low = self.numbers(op, "static_low", &mut next).map_err(here)?;
        let high = self.numbers(op, "static_high", &mut next).map_err(here)?;
        let tensor = ir::operand(op, 0).ok_or_else(|| here("has no operand".into()))?;
        let ty = types::buffer_type(tensor.r#type());
        let ty = ty.ok_or_else(|| here("has an operand of an unknown type".into()))?;
        let tensor = self.id(tensor).map_err(here)?;
        let sizes = self.sizes(op, (tensor, &ty.shape), statements);
        let mut made = Vec::new();
        let shape = result_type(op).map_err(here)?.shape;
        for (axis, extent) in shape.into_iter().enumerate() {
            if extent.is_some() {
                continue;
            }
            let mut whole = self.extent(op, (tensor, axis), statements);
            for more in [low[axis], high[axis]] {
                let more = match more {
                    Index::Known(number) => self.index(op, number, statements),
                    Index::Value(value) => value,
                };
                whole = self.operate(op, ScalarOp::Addi, [whole, more], statements);
            }
            made.push(whole);
        }
        let whole = self.empty_like(op, made, statements).map_err(here)?;
        self.by_index(op, block, whole, statements)?;
        let insert = Statement::Insert {
            result: self.result(op).map_err(here)?,
            part: tensor,
            tensor: whole,
            slice: SliceOperands {
                strides: vec![Index::Known(1); sizes.len()],
                kept: (0..sizes.len()).collect(),
                offsets: low,
                sizes,
            },
        };
        self.put(op, statements, insert);
        Ok(())
    }

    /// Puts loops that give each element of a tensor what a block makes of its index.
    fn by_index(
        &mut self,
        op: Op<'c>,
        block: BlockRef<'c, 'c>,
        tensor: ValueId,
        statements: &mut Vec<Statement>,
    ) -> Result<(), Unknown<'c>> {
        let here = |message: &str| Unknown {
            op,
            message: message.into(),
        };
        let bounds = [0, 1].map(|n| self.index(op, n, statements));
        let mut loops = Vec::new();
        for (axis, argument) in code::arguments(block).into_iter().enumerate() {
            let extent = self.extent(op, (tensor, axis), statements);
            loops.push((extent, self.define(argument)));
        }
        // A loop has its origin before those of what it holds.
        for _ in &loops {
            self.origins.push(self.instead.unwrap_or(op));
        }
        let body = self.block(block)?;
        let mut inner = body.statements;
        let value = body.yields.first().copied();
        let store = Statement::Store {
            result: tensor,
            value: value.ok_or_else(|| here("makes nothing of an index"))?,
            tensor,
            indices: loops.iter().map(|(_, index)| *index).collect(),
        };
        self.put(op, &mut inner, store);
        statements.extend(loops_around(inner, bounds, loops));
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

    /// `tensor.generate`: a nest that reads nothing, or loops if it reads tensors.
    pub(super) fn generate(
        &mut self,
        op: Op<'c>,
        statements: &mut Vec<Statement>,
    ) -> Result<(), Unknown<'c>> {
        let here = |message: String| Unknown { op, message };
        let reads = code::captured(ir::region(op, 0)).into_iter();
        let is_scalar = |value: Val| types::scalar_type(value.r#type()).is_some();
        let block = ir::only_block(ir::region(op, 0)).ok_or_else(|| here("has no body".into()))?;
        if reads.into_iter().all(is_scalar) {
            return self.generated(op, statements).map_err(here);
        }
        let operands: Vec<Val<'c>> = op.operands().map(ir::value).collect();
        let sizes = self.ids(&operands).map_err(here)?;
        let tensor = self.empty_like(op, sizes, statements).map_err(here)?;
        self.by_index(op, block, tensor, statements)?;
        let result = ir::result(op, 0).ok_or_else(|| here("has no result".into()))?;
        self.name(result, tensor);
        Ok(())
    }

    fn generated(&mut self, op: Op<'c>, statements: &mut Vec<Statement>) -> Result<(), String> {
        let operands: Vec<Val<'c>> = op.operands().map(ir::value).collect();
        let sizes = self.ids(&operands)?;
        let ty = result_type(op)?;
        let rank = ty.shape.len();
        let (inner, captured) = code::nest(ir::region(op, 0), rank, &[], "the body")
            .map_err(|errors| format!("cannot be evaluated: {}", errors.join("; ")))?;
        let types: Option<Vec<ScalarType>> = captured
            .iter()
            .map(|v| types::scalar_type(v.r#type()))
            .collect();
        let types = types.ok_or("bug: tensors are read in a body of numbers")?;
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
        let scalar = |element: &ScalarType| NestAccess::new(*element, Vec::new());
        let nest = Nest {
            dimensions: rank,
            inputs: types.iter().map(scalar).collect(),
            outputs: vec![NestAccess::new(
                ty.element,
                (0..rank).map(Expr::Dim).collect(),
            )],
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
