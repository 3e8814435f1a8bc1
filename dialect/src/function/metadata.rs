//! `memref.extract_strided_metadata`: the memory under a memref, and where in it the elements lie.
//!
//! Types say it, or the operations that made the memref: a subview of strides `s` takes every `s`-th
//! element of what it is a part of.

use mdh_algebra::affine::Expr;
use mdh_algebra::code::Op as ScalarOp;
use mdh_algebra::program::{Index, SliceOperands, Statement, ValueId};
use melior::ir::ValueLike;

use super::translator::Translator;
use crate::index_function;
use crate::ir::{self, Op, Val};
use crate::ops;
use crate::types;

/// The place of a memref's first element in its memory, and the steps along each axis.
struct ElementPlace {
    offset: Index,
    strides: Vec<Index>,
}

impl<'c> Translator<'c> {
    /// `memref.extract_strided_metadata`
    pub(super) fn metadata(
        &mut self,
        op: Op<'c>,
        statements: &mut Vec<Statement>,
    ) -> Result<(), String> {
        let memref = ir::operand(op, 0).ok_or("has no operand")?;
        let ty = types::buffer_type(memref.r#type()).ok_or("has an operand of an unknown type")?;
        let id = self.id(memref)?;
        self.expect_dense(id)?;
        let place = self.place(op, memref, statements)?;
        self.base(op, id, statements)?;
        let sizes = self.sizes(op, (id, &ty.shape), statements);
        let numbers = [place.offset].into_iter().chain(sizes).chain(place.strides);
        for (n, number) in numbers.enumerate() {
            let result = ir::result(op, n + 1).ok_or("has too few results")?;
            let number = self.as_value(op, number, statements);
            self.name(result, number);
        }
        Ok(())
    }

    /// The memory under a memref, as its first element. There is none in empty memory; casts need none.
    fn base(
        &mut self,
        op: Op<'c>,
        memref: ValueId,
        statements: &mut Vec<Statement>,
    ) -> Result<(), String> {
        let base = ir::result(op, 0).ok_or("has no result")?;
        let is_cast = |user: &Op| ir::name_of(*user) == ops::memref::REINTERPRET_CAST;
        if ir::users(base).iter().all(is_cast) {
            self.name(base, memref);
            return Ok(());
        }
        let result = self.result(op)?;
        self.shares(result, memref);
        let of_memory = Statement::Reinterpret {
            result,
            memref,
            offset: Index::Known(0),
            sizes: Vec::new(),
            strides: Vec::new(),
        };
        self.put(op, statements, of_memory);
        Ok(())
    }

    /// Finds where the elements of a memref lie: where its type does not say it, by what made it.
    fn place(
        &mut self,
        op: Op<'c>,
        memref: Val<'c>,
        statements: &mut Vec<Statement>,
    ) -> Result<ElementPlace, String> {
        let unknown = || {
            format!(
                "asks where the elements of a memref of type {} lie, which the oracle does not know: \
                 expected a type that says it, or a subview, cast, transposition or reinterpretation of \
                 memory of the function",
                memref.r#type()
            )
        };
        let (offset, strides) = types::strides(memref.r#type()).ok_or_else(unknown)?;
        let known: Option<Vec<Index>> = strides.iter().map(|s| s.map(Index::Known)).collect();
        if let (Some(offset), Some(strides)) = (offset, known) {
            let offset = Index::Known(offset);
            return Ok(ElementPlace { offset, strides });
        }
        if !super::memory::is_strided(memref) {
            let strides = self.row_major(op, memref, statements)?;
            let offset = Index::Known(0);
            return Ok(ElementPlace { offset, strides });
        }
        let made = ir::defining_op(memref).ok_or_else(unknown)?;
        let source = ir::operand(made, 0).ok_or_else(unknown)?;
        match ir::name_of(made) {
            ops::memref::CAST | ops::memref::MEMORY_SPACE_CAST | ops::memref::ASSUME_ALIGNMENT => {
                self.place(op, source, statements)
            }
            ops::memref::REINTERPRET_CAST => {
                let mut next = 1;
                let offsets = self.numbers(made, "static_offsets", &mut next)?;
                self.numbers(made, "static_sizes", &mut next)?;
                let strides = self.numbers(made, "static_strides", &mut next)?;
                let offset = offsets.first().copied().unwrap_or(Index::Known(0));
                Ok(ElementPlace { offset, strides })
            }
            ops::memref::TRANSPOSE => {
                let ElementPlace { offset, strides } = self.place(op, source, statements)?;
                let map = ir::attribute(made, "permutation").and_then(index_function::from_map);
                let axes = map.unwrap_or_default().into_iter().map(|expr| match expr {
                    Expr::Dim(axis) => strides.get(axis).copied(),
                    _ => None,
                });
                let strides: Option<Vec<Index>> = axes.collect();
                let strides = strides.ok_or_else(unknown)?;
                Ok(ElementPlace { offset, strides })
            }
            ops::memref::SUBVIEW => {
                let whole = self.place(op, source, statements)?;
                let slice = self.operands(made, source, memref, 1)?;
                Ok(self.within(op, &whole, &slice, statements))
            }
            _ => Err(unknown()),
        }
    }

    /// Finds where the elements of a slice lie.
    fn within(
        &mut self,
        op: Op<'c>,
        whole: &ElementPlace,
        slice: &SliceOperands,
        statements: &mut Vec<Statement>,
    ) -> ElementPlace {
        let mut offset = whole.offset;
        for (first, stride) in slice.offsets.iter().zip(&whole.strides) {
            let more = self.product(op, [*first, *stride], statements);
            offset = self.sum(op, [offset, more], statements);
        }
        let strides = slice.kept.iter().map(|axis| {
            let both = [slice.strides[*axis], whole.strides[*axis]];
            self.product(op, both, statements)
        });
        let strides = strides.collect();
        ElementPlace { offset, strides }
    }

    /// The strides of elements that lie one after the other.
    pub(super) fn row_major(
        &mut self,
        op: Op<'c>,
        memref: Val<'c>,
        statements: &mut Vec<Statement>,
    ) -> Result<Vec<Index>, String> {
        let ty = types::buffer_type(memref.r#type()).ok_or("has a memref of an unknown type")?;
        let id = self.id(memref)?;
        let sizes = self.sizes(op, (id, &ty.shape), statements);
        Ok(self.dense(op, &sizes, statements))
    }

    /// The strides of elements of these sizes that lie one after the other.
    pub(super) fn dense(
        &mut self,
        op: Op<'c>,
        sizes: &[Index],
        statements: &mut Vec<Statement>,
    ) -> Vec<Index> {
        let mut strides = vec![Index::Known(1); sizes.len()];
        for axis in (1..sizes.len()).rev() {
            strides[axis - 1] = self.product(op, [strides[axis], sizes[axis]], statements);
        }
        strides
    }

    fn product(
        &mut self,
        op: Op<'c>,
        factors: [Index; 2],
        statements: &mut Vec<Statement>,
    ) -> Index {
        match factors {
            [Index::Known(1), other] | [other, Index::Known(1)] => other,
            both => self.made(op, ScalarOp::Muli, both, statements),
        }
    }

    fn sum(&mut self, op: Op<'c>, terms: [Index; 2], statements: &mut Vec<Statement>) -> Index {
        match terms {
            [Index::Known(0), other] | [other, Index::Known(0)] => other,
            both => self.made(op, ScalarOp::Addi, both, statements),
        }
    }

    fn made(
        &mut self,
        op: Op<'c>,
        scalar_op: ScalarOp,
        operands: [Index; 2],
        statements: &mut Vec<Statement>,
    ) -> Index {
        let operands = operands.map(|number| self.as_value(op, number, statements));
        Index::Value(self.operate(op, scalar_op, operands, statements))
    }

    /// A number as a value of the program.
    pub(super) fn as_value(
        &mut self,
        op: Op<'c>,
        number: Index,
        statements: &mut Vec<Statement>,
    ) -> ValueId {
        match number {
            Index::Known(number) => self.index(op, number, statements),
            Index::Value(value) => value,
        }
    }
}
