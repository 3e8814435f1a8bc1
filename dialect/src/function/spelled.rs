//! `linalg.generic` as the loops that it stands for, where a nest of the algebra does not say it: its
//! body reads tensors, or its operands share memory, so that the order of its points matters.

use mdh_algebra::affine::Expr;
use mdh_algebra::code::Op as ScalarOp;
use mdh_algebra::program::{Body, For, Statement, ValueId};
use mdh_algebra::scalar::{Scalar, ScalarType};
use melior::ir::ValueLike;
use melior::ir::operation::OperationLike;

use super::translator::{Translator, Unknown};
use crate::code::{arguments, captured};
use crate::ir::{self, Op, Val};
use crate::loop_index;
use crate::ops;
use crate::structured::{Operand, Structured};
use crate::types::{self, BufferKind};

/// Returns whether each of so many loops is an axis of an operand by itself, so that no two points share an element.
fn is_apart(operand: &Operand, rank: usize) -> bool {
    (0..rank).all(|d| operand.map.contains(&Expr::Dim(d)))
}

impl<'c> Translator<'c> {
    /// Returns whether a generic is to be read as loops.
    pub(super) fn is_spelled_out(&self, structured: &Structured<'c>) -> bool {
        if self.reads_elsewhere(structured) {
            return true;
        }
        let op = structured.op;
        let operands: Vec<&Operand> = structured.operands().collect();
        let inputs = structured.inputs.len();
        let shared = |a: usize, b: usize| {
            let (out, other) = (operands[a], operands[b]);
            let ids = self.id(out.value).ok().zip(self.id(other.value).ok());
            // An element is read where it is written: once, by the only point that has it.
            let is_same = out.value == other.value && out.map == other.map;
            let is_same = is_same && b < inputs && is_apart(out, structured.rank);
            !is_same && ids.is_some_and(|(a, b)| self.may_share(a, b))
        };
        let is_memref = |n: usize| {
            let ty = types::buffer_type(operands[n].value.r#type());
            ty.is_some_and(|ty| ty.kind == BufferKind::MemRef)
        };
        let arguments = arguments(structured.body);
        // Of an input that the body does not use only the shape is read.
        let is_read = |n: usize| n >= inputs || arguments.get(n).is_some_and(|a| ir::has_uses(*a));
        let mut outputs = (inputs..operands.len()).filter(|n| is_memref(*n));
        let loads = ir::find_all(op, &[ops::memref::LOAD]).into_iter();
        let loaded: Vec<Val> = loads.filter_map(|load| ir::operand(load, 0)).collect();
        let is_loaded = |out: usize| {
            let mut memories = loaded.iter().map(|value| self.id(*value));
            let written = self.id(operands[out].value);
            memories.any(|id| match (&written, id) {
                (Ok(written), Ok(id)) => self.may_share(*written, id),
                _ => true,
            })
        };
        outputs.any(|out| {
            if is_loaded(out) {
                return true;
            }
            let mut rest = (0..operands.len()).filter(|other| *other != out && is_read(*other));
            rest.any(|other| shared(out, other))
        })
    }

    /// Returns whether a body uses tensors in any way but as views of its loops.
    fn reads_elsewhere(&self, structured: &Structured<'c>) -> bool {
        let (op, extents) = (structured.op, structured.extents());
        let mut read = captured(ir::region(op, 0));
        read.retain(|v| types::scalar_type(v.r#type()).is_none());
        let uses = |other: &Op<'c>| other.operands().any(|v| read.contains(&ir::value(v)));
        let is_view = |other: Op<'c>| {
            let has_index = loop_index::extraction(other, &extents).is_some();
            // What a tensor is made of when it is asked for may have changed in memory by then.
            let is_settled = ir::name_of(other) != ops::memref::LOAD || op.result_count() == 0;
            has_index && is_settled && loop_index::is_in_branches(other, Some(op))
        };
        let mut inside = ir::all(op).into_iter().filter(|other| *other != op);
        inside.any(|other| uses(&other) && !is_view(other))
    }

    /// Puts the loops of a generic. A tensor that it makes is memory while they run.
    pub(super) fn spelled_out(
        &mut self,
        structured: &Structured<'c>,
        statements: &mut Vec<Statement>,
    ) -> Result<(), Unknown<'c>> {
        let op = structured.op;
        let here = |message: String| Unknown { op, message };
        let operands: Vec<Val<'c>> = structured.operands().map(|o| o.value).collect();
        let mut places = self.ids(&operands).map_err(here)?;
        let inputs = structured.inputs.len();
        self.as_memory(op, &operands, (&mut places, inputs), statements)
            .map_err(here)?;
        let bounds = self.bounds(structured, statements).map_err(here)?;
        let zero = self.index(op, 0, statements);
        let one = self.index(op, 1, statements);
        let indices: Vec<ValueId> = bounds.iter().map(|_| self.fresh()).collect();
        // A loop has its origin before those of what it holds.
        for _ in &bounds {
            self.origins.push(self.instead.unwrap_or(op));
        }
        let mut inner = Vec::new();
        let accessed = self.loads(structured, &places, &indices, &mut inner);
        let outer = std::mem::replace(&mut self.nest, indices.clone());
        let body = self.block(structured.body);
        self.nest = outer;
        let body = body?;
        inner.extend(body.statements);
        for (n, value) in body.yields.into_iter().enumerate() {
            let store = Statement::Store {
                result: places[inputs + n],
                value,
                tensor: places[inputs + n],
                indices: accessed[inputs + n].clone(),
            };
            self.put(op, &mut inner, store);
        }
        let loops = bounds.into_iter().zip(indices).collect();
        statements.extend(loops_around(inner, [zero, one], loops));
        Ok(())
    }

    /// Puts the loads of the elements that a body takes. Returns the index of each operand's element.
    fn loads(
        &mut self,
        structured: &Structured<'c>,
        places: &[ValueId],
        indices: &[ValueId],
        inner: &mut Vec<Statement>,
    ) -> Vec<Vec<ValueId>> {
        let op = structured.op;
        let mut accessed = Vec::new();
        let arguments = arguments(structured.body);
        for ((operand, tensor), argument) in structured.operands().zip(places).zip(arguments) {
            let place: Vec<ValueId> = operand
                .map
                .iter()
                .map(|expr| self.expression(op, expr, indices, inner))
                .collect();
            let ty = types::buffer_type(argument.r#type());
            let is_scalar = operand.value.r#type() == argument.r#type() && ty.is_some();
            if is_scalar {
                self.name(argument, *tensor);
            } else {
                let load = Statement::Load {
                    result: self.define(argument),
                    tensor: *tensor,
                    indices: place.clone(),
                };
                self.put(op, inner, load);
            }
            accessed.push(place);
        }
        accessed
    }

    /// Gives each tensor that is written memory of its own, which is the result then.
    fn as_memory(
        &mut self,
        op: Op<'c>,
        operands: &[Val<'c>],
        (places, inputs): (&mut [ValueId], usize),
        statements: &mut Vec<Statement>,
    ) -> Result<(), String> {
        let mut results = op
            .results()
            .map(ir::value)
            .collect::<Vec<Val<'c>>>()
            .into_iter();
        for (n, operand) in operands.iter().enumerate().skip(inputs) {
            let ty =
                types::buffer_type(operand.r#type()).ok_or("has an output of no known type")?;
            if ty.kind != BufferKind::Tensor {
                continue;
            }
            let result = results.next().ok_or("has too few results")?;
            let copy = Statement::Cast {
                result: self.define(result),
                tensor: places[n],
                shape: ty.shape,
            };
            places[n] = self.id(result)?;
            self.put(op, statements, copy);
        }
        Ok(())
    }

    /// Puts what says how long each loop is: an axis that it alone is the index of.
    fn bounds(
        &mut self,
        structured: &Structured<'c>,
        statements: &mut Vec<Statement>,
    ) -> Result<Vec<ValueId>, String> {
        let mut bounds = Vec::new();
        for d in 0..structured.rank {
            let (value, axis) = structured.axis(d).ok_or_else(|| {
                format!("has a loop, of number {d}, of which no operand says how long it is")
            })?;
            let tensor = self.id(value)?;
            bounds.push(self.extent(structured.op, (tensor, axis), statements));
        }
        Ok(bounds)
    }

    pub(super) fn index(
        &mut self,
        op: Op<'c>,
        value: i64,
        statements: &mut Vec<Statement>,
    ) -> ValueId {
        let result = self.fresh();
        let value = Scalar::from_i64(ScalarType::Index, value);
        self.put(op, statements, Statement::Constant { result, value });
        result
    }

    /// The value of an expression of the indices.
    pub(super) fn expression(
        &mut self,
        op: Op<'c>,
        expr: &Expr,
        indices: &[ValueId],
        statements: &mut Vec<Statement>,
    ) -> ValueId {
        let (scalar_op, a, b) = match expr {
            Expr::Dim(d) => return indices[*d],
            Expr::Const(value) => return self.index(op, *value, statements),
            Expr::Add(a, b) => (ScalarOp::Addi, a, b),
            Expr::Mul(a, b) => (ScalarOp::Muli, a, b),
            Expr::CeilDiv(a, b) => (ScalarOp::Ceildivsi, a, b),
            Expr::FloorDiv(a, b) | Expr::Mod(a, b) => (ScalarOp::Floordivsi, a, b),
        };
        let a = self.expression(op, a, indices, statements);
        let b = self.expression(op, b, indices, statements);
        let result = self.operate(op, scalar_op, [a, b], statements);
        match expr {
            // a - (a floordiv b) * b
            Expr::Mod(..) => {
                let whole = self.operate(op, ScalarOp::Muli, [result, b], statements);
                self.operate(op, ScalarOp::Subi, [a, whole], statements)
            }
            _ => result,
        }
    }

    pub(super) fn operate(
        &mut self,
        op: Op<'c>,
        scalar_op: ScalarOp,
        operands: [ValueId; 2],
        statements: &mut Vec<Statement>,
    ) -> ValueId {
        let result = self.fresh();
        let apply = Statement::Apply {
            result,
            op: scalar_op,
            operands: operands.to_vec(),
            ty: ScalarType::Index,
        };
        self.put(op, statements, apply);
        result
    }
}

/// Loops around statements from zero on, by steps of one, each up to a bound, with its index.
pub(super) fn loops_around(
    mut inner: Vec<Statement>,
    [zero, one]: [ValueId; 2],
    loops: Vec<(ValueId, ValueId)>,
) -> Vec<Statement> {
    for (upper, index) in loops.into_iter().rev() {
        inner = vec![Statement::For(Box::new(For {
            lower: zero,
            upper,
            step: one,
            index,
            initial: Vec::new(),
            carried: Vec::new(),
            body: Body {
                statements: inner,
                yields: Vec::new(),
            },
            results: Vec::new(),
        }))];
    }
    inner
}
