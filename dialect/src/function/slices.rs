//! Slices of tensors and memrefs into the algebra's.

use crate::ops;
use mdh_algebra::program::{Index, SliceOperands, Statement, ValueId};
use melior::ir::ValueLike;
use melior::ir::operation::OperationLike;

use super::translator::Translator;
use crate::ir::{self, Op, Val};
use crate::types::{self, DYNAMIC};

impl<'c> Translator<'c> {
    /// `tensor.extract_slice`, `tensor.insert_slice`, `memref.subview`, `memref.cast` and the like.
    pub(super) fn slice(
        &mut self,
        op: Op<'c>,
        name: &str,
        operands: &[Val<'c>],
    ) -> Result<Statement, String> {
        let ids = self.ids(operands)?;
        let (&first, &last) = (operands.first().zip(operands.last())).ok_or("has no operand")?;
        Ok(match name {
            ops::tensor::INSERT_SLICE => {
                let whole = operands.get(1).copied().unwrap_or(last);
                let slice = self.operands(op, whole, first, 2)?;
                Statement::Insert {
                    result: self.result(op)?,
                    part: ids[0],
                    tensor: self.id(whole)?,
                    slice,
                }
            }
            ops::tensor::EXTRACT_SLICE => {
                let slice = self.operands(op, first, only_result(op)?, 1)?;
                Statement::Slice {
                    result: self.result(op)?,
                    tensor: ids[0],
                    slice,
                }
            }
            ops::memref::SUBVIEW => {
                let slice = Some(self.operands(op, first, only_result(op)?, 1)?);
                self.alias(op, ids[0], slice)?
            }
            _ => self.alias(op, ids[0], None)?,
        })
    }

    /// Another name of a memref.
    pub(super) fn alias(
        &mut self,
        op: Op<'c>,
        memref: ValueId,
        slice: Option<SliceOperands>,
    ) -> Result<Statement, String> {
        let result = self.result(op)?;
        self.shares(result, memref);
        self.within.insert(result, (memref, slice.clone()));
        Ok(Statement::Alias {
            result,
            memref,
            slice,
        })
    }

    /// The offsets, sizes and strides; dynamic ones are operands, from number `next` on.
    pub(super) fn operands(
        &self,
        op: Op<'c>,
        whole: Val<'c>,
        part: Val<'c>,
        mut next: usize,
    ) -> Result<SliceOperands, String> {
        let mut numbers = Vec::new();
        for name in ["static_offsets", "static_sizes", "static_strides"] {
            let mut list = Vec::new();
            for number in ir::integers(op, name) {
                list.push(if number == DYNAMIC {
                    let operand = op.operand(next).map_err(|_| "has too few operands")?;
                    next += 1;
                    Index::Value(self.id(ir::value(operand))?)
                } else {
                    Index::Known(number)
                });
            }
            numbers.push(list);
        }
        let strides = numbers.pop().unwrap_or_default();
        let sizes = numbers.pop().unwrap_or_default();
        let shapes = [whole, part].map(|v| types::buffer_type(v.r#type()).map(|t| t.shape));
        let [Some(whole), Some(part)] = shapes else {
            return Err("has operands of unknown types".into());
        };
        let axes = kept(&sizes, &part);
        if sizes.len() != whole.len() || axes.len() != part.len() {
            return Err("has a part whose axes are not those of its sizes".into());
        }
        Ok(SliceOperands {
            offsets: numbers.pop().unwrap_or_default(),
            sizes,
            strides,
            kept: axes,
        })
    }
}

/// The axes that a part of this shape has: of those of size 1, the first ones that do not fit
/// are dropped, as the dialects of MLIR have it.
fn kept(sizes: &[Index], part: &[Option<i64>]) -> Vec<usize> {
    let mut axes: Vec<usize> = Vec::new();
    for (axis, size) in sizes.iter().enumerate() {
        let extent = part.get(axes.len());
        let fits = extent.is_some_and(|extent| match (size, extent) {
            (Index::Known(size), Some(extent)) => size == extent,
            (Index::Known(1), None) => false,
            _ => true,
        });
        if fits || *size != Index::Known(1) {
            axes.push(axis);
        }
    }
    axes
}

fn only_result<'c>(op: Op<'c>) -> Result<Val<'c>, String> {
    let result = op.result(0).map_err(|_| "has no result".to_owned())?;
    Ok(ir::value(result))
}
