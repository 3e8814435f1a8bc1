//! An operation with linalg's interface taken apart: its operands with their index functions, and its loops.
//!
//! Raising, the way back to linalg and the oracle read such operations here.

use mdh_algebra::affine::Expr;
use mdh_algebra::scalar::Scalar;
use melior::ir::attribute::Attribute;
use melior::ir::operation::OperationLike;
use melior::ir::{BlockRef, ValueLike};
use mlir_sys::mlirLinalgGetIndexingMapsAttribute;

use crate::code::arguments;
use crate::index_function;
use crate::ir::{self, Op, Val};
use crate::ops;
use crate::types::{self, BufferKind};

/// An input or a destination.
#[derive(Clone)]
pub struct Operand<'c> {
    /// The tensor, memref or scalar.
    pub value: Val<'c>,
    /// Its indexing map.
    pub map: Vec<Expr>,
    /// The number of its argument in the body, if it has one.
    pub argument: Option<usize>,
    /// The value read where an index is outside, if one may be.
    pub outside: Option<Scalar>,
}

/// An operation with linalg's interface: named ones have the same parts as `linalg.generic`.
pub struct Structured<'c> {
    /// The operation.
    pub op: Op<'c>,
    /// Inputs.
    pub inputs: Vec<Operand<'c>>,
    /// Destinations.
    pub outputs: Vec<Operand<'c>>,
    /// The number of its loops.
    pub rank: usize,
    /// Its scalar code: an argument for each operand that it may read.
    pub body: BlockRef<'c, 'c>,
}

/// The indexing maps of an operation with linalg's interface.
pub fn maps<'c>(op: Op<'c>) -> Option<Vec<Attribute<'c>>> {
    // SAFETY: the operation is valid; what has no such interface has a null attribute.
    let raw = unsafe { mlirLinalgGetIndexingMapsAttribute(op.to_raw()) };
    if raw.ptr.is_null() {
        return None;
    }
    // SAFETY: the attribute is valid, and lives in the context.
    Some(ir::elements(unsafe { Attribute::from_raw(raw) }))
}

/// Returns whether an operation has linalg's interface.
pub fn is_structured(op: Op) -> bool {
    ir::name_of(op).starts_with("linalg.") && maps(op).is_some()
}

/// The number of destinations, which are the last operands.
fn destinations(op: Op) -> usize {
    match ir::integers(op, "operandSegmentSizes")[..] {
        // Of destinations that are memrefs there is no result.
        [_, outputs] => usize::try_from(outputs).unwrap_or_default(),
        _ if op.result_count() > 0 => op.result_count(),
        _ if ir::name_of(op) == ops::linalg::REDUCE => op.operand_count() / 2,
        _ => 1,
    }
}

impl<'c> Structured<'c> {
    /// Reads an operation. The error says what it is not: no nest of loops, or one whose parts have no form here.
    pub fn read(op: Op<'c>) -> Result<Self, String> {
        let maps = maps(op).ok_or_else(|| {
            format!(
                "'{}' has no indexing maps, so that it is no loop nest",
                ir::name_of(op)
            )
        })?;
        let body = ir::only_block(ir::region(op, 0)).ok_or("its body is not one block")?;
        let count = arguments(body).len();
        let rank = maps.first().map_or(0, |map| index_function::num_dims(*map));
        let mut operands = Vec::new();
        for (n, (value, map)) in op.operands().map(ir::value).zip(&maps).enumerate() {
            let map = index_function::from_map(*map).ok_or_else(|| {
                format!("operand {n} is indexed by {map}: expected a map without symbols")
            })?;
            operands.push(Operand {
                value,
                map,
                argument: (n < count).then_some(n),
                outside: None,
            });
        }
        let first = operands.len().checked_sub(destinations(op));
        let outputs = operands.split_off(first.ok_or("it has fewer operands than results")?);
        Ok(Structured {
            op,
            inputs: operands,
            outputs,
            rank,
            body,
        })
    }

    /// All operands, in their order.
    pub fn operands(&self) -> impl Iterator<Item = &Operand<'c>> {
        self.inputs.iter().chain(&self.outputs)
    }

    /// Tensors or memrefs, if its operands are all of one kind.
    pub fn kind(&self) -> Result<BufferKind, String> {
        let mut reason = None;
        for operand in self.operands() {
            let ty = operand.value.r#type();
            let Some(buffer) = types::buffer_type(ty) else {
                return Err(format!(
                    "an operand has the type {ty}: expected a scalar, or a ranked tensor without encoding, or memref, of \
                     i1 to i64, index, f16, bf16, f32 or f64"
                ));
            };
            if buffer.kind == BufferKind::Scalar {
                continue;
            }
            if reason.is_some_and(|kind| kind != buffer.kind) {
                return Err("some operands are tensors and some memrefs: expected one kind".into());
            }
            reason = Some(buffer.kind);
        }
        reason.ok_or_else(|| "it has no tensor or memref".into())
    }

    /// The number of iterations of each loop, where the shape of an operand tells it.
    pub fn extents(&self) -> Vec<Option<i64>> {
        let mut extents = vec![None; self.rank];
        for operand in self.operands() {
            let shape = types::buffer_type(operand.value.r#type()).map(|ty| ty.shape);
            for (expr, size) in operand.map.iter().zip(shape.unwrap_or_default()) {
                if let Expr::Dim(d) = expr {
                    extents[*d] = extents[*d].or(size);
                }
            }
        }
        extents
    }

    /// The first operand, and the axis of it, that a loop alone indexes.
    pub fn axis(&self, d: usize) -> Option<(Val<'c>, usize)> {
        self.operands().find_map(|operand| {
            let axis = operand.map.iter().position(|expr| *expr == Expr::Dim(d))?;
            Some((operand.value, axis))
        })
    }

    /// The dimensions that an output's map uses.
    pub fn kept(&self, output: &Operand) -> Vec<bool> {
        let uses = |d| output.map.iter().any(|expr| expr.uses(d));
        (0..self.rank).map(uses).collect()
    }
}
