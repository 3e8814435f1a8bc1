//! Functions into the algebra's [`Program`]: what the oracle evaluates, and what knows a
//! function's shapes before it runs.

mod bytes;
mod calls;
pub mod constants;
mod control;
mod graph;
mod memory;
mod metadata;
mod nests;
mod packs;
mod shapes;
mod slices;
mod spelled;
mod translator;
mod upstream;

use std::collections::HashMap;

use mdh_algebra::program::{
    ArgumentType, Body, CarryOperands, Compute, Placement, Program, Statement, ValueId,
};
use melior::ir::operation::OperationLike;
use melior::ir::{BlockLike, BlockRef, RegionLike, ValueLike};

use crate::code::{arguments, scalar_operation};
use crate::ir::{self, Errors, Op, Val};
use crate::layout;
use crate::ops;
use crate::parts::{BufferPart, Parts, dynamic};
use crate::read;
use crate::scalar_code::rounding_mode;
use crate::translate::{self, Depth};
use crate::types::{self, BufferKind};
use translator::{Translator, result_type, unknown};

pub use translator::Unknown;

/// A function as a program, and the operation behind each of its statements.
pub struct Translated<'c> {
    /// The program.
    pub program: Program,
    /// The operation that each statement comes from, those that one holds after it.
    pub origins: Vec<Op<'c>>,
}

/// Translates a function.
pub fn translate<'c>(function: Op<'c>, depth: Depth) -> Result<Translated<'c>, Unknown<'c>> {
    let unknown = |message: &str| Unknown {
        op: function,
        message: message.to_owned(),
    };
    let region = ir::region(function, 0);
    let Some(block) = region.first_block() else {
        return Err(unknown("is declared only: expected a function with a body"));
    };
    let mut translator = Translator {
        depth,
        ids: HashMap::new(),
        next: 0,
        program: Program::default(),
        origins: Vec::new(),
        instead: None,
        copies: Vec::new(),
        roots: HashMap::new(),
        within: HashMap::new(),
        nest: Vec::new(),
        calls: symbol_name(function).into_iter().collect(),
        globals: HashMap::new(),
        start: Vec::new(),
        strided: Vec::new(),
    };
    for argument in arguments(block) {
        let Some(ty) = types::buffer_type(argument.r#type()) else {
            return Err(unknown(&format!(
                "has an argument of type {}",
                argument.r#type()
            )));
        };
        let id = translator.define(argument);
        if memory::is_strided(argument) {
            translator.strided.push(id);
        }
        translator.program.arguments.push(match ty.kind {
            BufferKind::Scalar => ArgumentType::Scalar(ty.element),
            BufferKind::Tensor | BufferKind::MemRef => ArgumentType::Tensor {
                element: ty.element,
                shape: ty.shape,
            },
        });
    }
    let mut statements = Vec::new();
    translator.program.returns = translator.blocks(function, region, &mut statements)?;
    let (mut origins, mut all): (Vec<Op>, Vec<Statement>) = translator.start.into_iter().unzip();
    origins.extend(translator.origins);
    all.extend(statements);
    translator.program.statements = all;
    Ok(Translated {
        program: translator.program,
        origins,
    })
}

impl<'c> Translator<'c> {
    fn block(&mut self, block: BlockRef<'c, 'c>) -> Result<Body, Unknown<'c>> {
        let mut body = Body::default();
        for op in ir::ops_of(block) {
            let unknown = |message| Unknown { op, message };
            match ir::name_of(op) {
                ops::scf::YIELD
                | ops::scf::CONDITION
                | ops::cf::BR
                | ops::cf::COND_BR
                | ops::cf::SWITCH => {
                    let values: Vec<Val<'c>> = op.operands().map(ir::value).collect();
                    let carried = self.carrying(op, &values, &mut body.statements);
                    body.yields = carried.map_err(unknown)?;
                }
                ops::func::RETURN if is_one_of_several(block) => {
                    let values: Vec<Val<'c>> = op.operands().map(ir::value).collect();
                    let carried = self.carrying(op, &values, &mut body.statements);
                    body.yields = carried.map_err(unknown)?;
                }
                ops::func::RETURN
                | ops::scf::REDUCE_RETURN
                | ops::linalg::YIELD
                | ops::tensor::YIELD => {
                    let values: Vec<Val<'c>> = op.operands().map(ir::value).collect();
                    body.yields = self.ids(&values).map_err(unknown)?;
                }
                // Neither has a value; what is asserted is checked before a program is evaluated.
                ops::memref::DEALLOC | ops::cf::ASSERT => {}
                // What is inserted there is a part of the loop.
                ops::scf::FORALL_IN_PARALLEL | ops::scf::REDUCE => {}
                _ => self.operation(op, &mut body.statements)?,
            }
        }
        Ok(body)
    }

    /// Puts the statements of an operation; what one holds has its origin after it.
    fn operation(
        &mut self,
        op: Op<'c>,
        statements: &mut Vec<Statement>,
    ) -> Result<(), Unknown<'c>> {
        let unknown = |message| Unknown { op, message };
        match ir::name_of(op) {
            ops::tensor::PAD => return self.pad(op, statements),
            ops::tensor::SPLAT => return self.splat(op, statements).map_err(unknown),
            ops::tensor::RESHAPE | ops::memref::RESHAPE => {
                return self.reshape(op, statements).map_err(unknown);
            }
            ops::memref::VIEW => return self.view(op, statements).map_err(unknown),
            ops::memref::EXTRACT_STRIDED_METADATA => {
                return self.metadata(op, statements).map_err(unknown);
            }
            ops::memref::ALLOC | ops::memref::ALLOCA if bytes::seen_as(op).is_some() => {
                return self.arena(op, statements).map_err(unknown);
            }
            ops::tensor::GENERATE => return self.generate(op, statements),
            ops::func::CALL => return self.call(op, statements),
            ops::memref::GET_GLOBAL => return self.global(op).map_err(unknown),
            ops::memref::TRANSPOSE => return self.transpose(op, statements).map_err(unknown),
            ops::scf::EXECUTE_REGION => return self.executed(op, statements),
            ops::scf::INDEX_SWITCH => return self.index_switch(op, statements),
            ops::arith::SELECT if ir::result(op, 0).is_some_and(memory::is_memref) => {
                return self.selected(op, statements).map_err(unknown);
            }
            ops::linalg::GENERIC => return self.generic(op, statements),
            ops::linalg::INDEX => return self.loop_index(op).map_err(unknown),
            ops::linalg::PACK | ops::linalg::UNPACK => {
                return self.pack(op, statements).map_err(unknown);
            }
            _ if upstream::is_rewritten(op) => return self.rewritten(op, statements),
            _ => {}
        }
        let initial = match ir::name_of(op) {
            ops::scf::FOR => op.operands().skip(3).map(ir::value).collect(),
            ops::scf::WHILE => op.operands().map(ir::value).collect(),
            _ => Vec::new(),
        };
        let initial = self.carrying(op, &initial, statements).map_err(unknown)?;
        self.origins.push(self.instead.unwrap_or(op));
        statements.push(match ir::name_of(op) {
            ops::scf::FOR => self.for_loop(op, initial)?,
            ops::scf::FORALL => self.forall(op)?,
            ops::scf::PARALLEL => self.parallel(op)?,
            ops::scf::WHILE => self.while_loop(op, initial)?,
            ops::scf::IF => self.branch(op)?,
            _ => self.statement(op).map_err(unknown)?,
        });
        Ok(())
    }

    /// `linalg.index`, which is the index of a loop.
    fn loop_index(&mut self, op: Op<'c>) -> Result<(), String> {
        let number = shapes::integer(op, "dim").and_then(|d| usize::try_from(d).ok());
        let index = number.and_then(|d| self.nest.get(d).copied());
        let index = index.ok_or("is not in a loop of linalg")?;
        self.name(ir::result(op, 0).ok_or("has no result")?, index);
        Ok(())
    }

    fn statement(&mut self, op: Op<'c>) -> Result<Statement, String> {
        let operands: Vec<Val<'c>> = op.operands().map(ir::value).collect();
        Ok(match ir::name_of(op) {
            ops::arith::CONSTANT => self.constant(op)?,
            ops::mdh::COMPUTE => Statement::Compute(Box::new(self.compute(op)?)),
            name if layout::OPERATIONS.contains(&name) => self.layout(op)?,
            name if name.starts_with("tensor.")
                || name.starts_with("memref.")
                || name.starts_with("bufferization.")
                || name == ops::linalg::FILL =>
            {
                self.buffer(op, name, &operands)?
            }
            _ => self.apply(op, &operands)?,
        })
    }

    fn layout(&mut self, op: Op<'c>) -> Result<Statement, String> {
        let question = layout::read(op).map_err(|errors| errors.join("; "))?;
        let sizes = question.sizes.iter();
        Ok(Statement::Layout(Box::new(Placement {
            operands: self.ids(&question.operands)?,
            sizes: sizes
                .map(|(name, value)| Ok((name.clone(), self.id(*value)?)))
                .collect::<Result<_, String>>()?,
            results: op.results().map(|r| self.define(ir::value(r))).collect(),
            layout: question.layout,
            asked: question.asked,
        })))
    }

    /// An operation on whole tensors or memrefs.
    fn buffer(
        &mut self,
        op: Op<'c>,
        name: &str,
        operands: &[Val<'c>],
    ) -> Result<Statement, String> {
        let ids = self.ids(operands)?;
        Ok(match (name, &ids[..]) {
            (ops::tensor::DIM | ops::memref::DIM, &[tensor, axis]) => Statement::Dim {
                result: self.result(op)?,
                tensor,
                axis,
            },
            (ops::bufferization::ALLOC_TENSOR, _) => self.allocation(op, &ids)?,
            (ops::tensor::EMPTY | ops::memref::ALLOC | ops::memref::ALLOCA, _) => {
                self.empty(op, ids)?
            }
            (
                ops::tensor::EXTRACT_SLICE
                | ops::tensor::INSERT_SLICE
                | ops::memref::SUBVIEW
                | ops::memref::CAST
                | ops::memref::MEMORY_SPACE_CAST
                | ops::memref::ASSUME_ALIGNMENT,
                _,
            ) => self.slice(op, name, operands)?,
            (
                ops::tensor::EXTRACT | ops::memref::LOAD | ops::tensor::INSERT | ops::memref::STORE,
                _,
            ) => self.element(op, name, &ids)?,
            (
                ops::tensor::EXPAND_SHAPE
                | ops::tensor::COLLAPSE_SHAPE
                | ops::tensor::CONCAT
                | ops::tensor::FROM_ELEMENTS
                | ops::memref::EXPAND_SHAPE
                | ops::memref::COLLAPSE_SHAPE,
                _,
            ) => self.shape(op, name, &ids)?,
            (ops::memref::REINTERPRET_CAST, _) => self.reinterpret(op)?,
            _ => self.contents(op, name, operands)?,
        })
    }

    /// An operation that gives all elements of a tensor or memref at once: those of another one, or a value.
    fn contents(
        &mut self,
        op: Op<'c>,
        name: &str,
        operands: &[Val<'c>],
    ) -> Result<Statement, String> {
        let ids = self.ids(operands)?;
        Ok(match (name, &ids[..]) {
            // Nothing else writes the memory of a tensor: that of a memref is what it holds now.
            (ops::tensor::CAST | ops::bufferization::TO_TENSOR, &[tensor]) => Statement::Cast {
                shape: result_type(op)?.shape,
                result: self.result(op)?,
                tensor,
            },
            (
                ops::memref::COPY | ops::bufferization::MATERIALIZE_IN_DESTINATION,
                &[tensor, destination],
            ) => {
                let ty = types::buffer_type(operands[1].r#type());
                Statement::Cast {
                    // What a memref holds after a copy is what the source holds now.
                    result: self.result_or(op, destination)?,
                    tensor,
                    shape: ty.map_or(Vec::new(), |t| t.shape),
                }
            }
            (ops::bufferization::TO_BUFFER, &[tensor]) => {
                self.buffer_of(op, operands[0], tensor)?
            }
            (ops::linalg::FILL, &[value, tensor]) => Statement::Fill {
                result: self.result_or(op, tensor)?,
                value,
                tensor,
            },
            _ => return Err(unknown()),
        })
    }

    /// The result of an operation, or where there is none the memref that it writes.
    fn result_or(&mut self, op: Op<'c>, memref: ValueId) -> Result<ValueId, String> {
        match op.result_count() {
            0 => Ok(memref),
            _ => self.result(op),
        }
    }

    /// New memory of these sizes.
    fn empty(&mut self, op: Op<'c>, sizes: Vec<ValueId>) -> Result<Statement, String> {
        let ty = result_type(op)?;
        let (element, shape) = (ty.element, ty.shape);
        Ok(Statement::Empty {
            result: self.result(op)?,
            element,
            shape,
            sizes,
        })
    }

    /// A new tensor: of some sizes, or a copy. Its operands are the sizes, what is copied, and how
    /// much there may be of it.
    fn allocation(&mut self, op: Op<'c>, operands: &[ValueId]) -> Result<Statement, String> {
        let counts = ir::integers(op, "operandSegmentSizes");
        let sizes = counts.first().map_or(0, |count| *count as usize);
        if counts.get(1).copied() != Some(1) {
            return self.empty(op, operands[..sizes].to_vec());
        }
        Ok(Statement::Cast {
            shape: result_type(op)?.shape,
            result: self.result(op)?,
            tensor: operands[sizes],
        })
    }

    /// An operation on one element of a tensor or memref.
    fn element(
        &mut self,
        op: Op<'c>,
        name: &str,
        operands: &[ValueId],
    ) -> Result<Statement, String> {
        Ok(match (name, operands) {
            (ops::tensor::EXTRACT | ops::memref::LOAD, [tensor, indices @ ..]) => Statement::Load {
                result: self.result(op)?,
                tensor: *tensor,
                indices: indices.to_vec(),
            },
            (_, [value, tensor, indices @ ..]) => Statement::Store {
                result: match name {
                    ops::memref::STORE => *tensor,
                    _ => self.result(op)?,
                },
                value: *value,
                tensor: *tensor,
                indices: indices.to_vec(),
            },
            _ => return Err("has too few operands".into()),
        })
    }

    fn apply(&mut self, op: Op<'c>, operands: &[Val<'c>]) -> Result<Statement, String> {
        if let Some(mode) = rounding_mode(op) {
            return Err(format!(
                "rounds {mode}: the oracle rounds to the nearest number only"
            ));
        }
        let scalar_op = scalar_operation(op).filter(|_| op.result_count() == 1);
        let ty = op
            .result(0)
            .ok()
            .and_then(|r| types::scalar_type(ir::value(r).r#type()));
        let (Some(scalar_op), Some(ty)) = (scalar_op, ty) else {
            return Err(unknown());
        };
        let operands = self.ids(operands)?;
        Ok(Statement::Apply {
            result: self.result(op)?,
            op: scalar_op,
            operands,
            ty,
        })
    }

    fn compute(&mut self, op: Op<'c>) -> Result<Compute, String> {
        let join = |errors: Errors| errors.join("; ");
        let parts = read::compute(op).map_err(join)?;
        let computation = translate::compute(op, self.depth).map_err(join)?;
        let mut carries = Vec::new();
        for carry in &parts.carries {
            carries.push(CarryOperands {
                incoming: self.buffers(&carry.incoming)?,
                valid: carry.valid.map(|valid| self.id(valid)).transpose()?,
                outgoing: self.buffers(&carry.outgoing)?,
            });
        }
        let compute = Compute {
            computation,
            inputs: self.buffers(&parts.inputs)?,
            outputs: self.buffers(&parts.outputs)?,
            carries,
            bounds: self.ids(&parts.dynamic_bounds())?,
            origins: self.ids(&origins(&parts))?,
            results: Vec::new(),
        };
        let mut results = Vec::new();
        let mut tensors = op.results();
        for buffer in parts.destinations() {
            let is_tensor = types::buffer_type(buffer.value.r#type())
                .is_some_and(|t| t.kind == BufferKind::Tensor);
            results.push(match is_tensor.then(|| tensors.next()).flatten() {
                Some(result) => self.define(ir::value(result)),
                None => self.id(buffer.value)?,
            });
        }
        Ok(Compute { results, ..compute })
    }

    fn buffers(&self, buffers: &[BufferPart<'c>]) -> Result<Vec<ValueId>, String> {
        buffers.iter().map(|b| self.id(b.value)).collect()
    }
}

/// The name of a function.
fn symbol_name(function: Op<'_>) -> Option<&str> {
    ir::attribute(function, "sym_name").and_then(ir::text)
}

/// Returns whether a block is one of several in its region.
fn is_one_of_several(block: BlockRef) -> bool {
    let region = block.parent_region();
    region.is_some_and(|region| ir::only_block(region).is_none())
}

/// Unknown origins in the order in which [`mdh_algebra::computation::Computation::places`] lists
/// the buffers.
fn origins<'c>(parts: &Parts<'c>) -> Vec<Val<'c>> {
    let carried = parts
        .carries
        .iter()
        .flat_map(|carry| carry.incoming.iter().chain(&carry.outgoing));
    let buffers = parts.inputs.iter().chain(&parts.outputs).chain(carried);
    dynamic(buffers.flat_map(|b| b.origin.iter().copied()))
}

#[cfg(test)]
mod tests;
