//! Memory by several names: permuted, under other strides, and carried by loops and branches.

use mdh_algebra::affine::Expr;
use mdh_algebra::program::{Index, SliceOperands, Statement, ValueId};
use melior::ir::{TypeLike, ValueLike};
use mlir_sys::{mlirAffineMapIsIdentity, mlirMemRefTypeGetAffineMap, mlirTypeIsAMemRef};

use super::translator::Translator;
use crate::index_function;
use crate::ir::{self, Op, Val};
use crate::ops;
use crate::types::{self, BufferKind};

/// Stands for memory of which it is not known which it is.
const ANY: ValueId = usize::MAX;

/// Returns whether a value is memory, not what is in it.
pub(super) fn is_memref(value: Val) -> bool {
    types::buffer_type(value.r#type()).is_some_and(|ty| ty.kind == BufferKind::MemRef)
}

/// Returns whether a memref shows elements of its memory in other places than one after the other.
pub(super) fn is_strided(value: Val) -> bool {
    let raw = value.r#type().to_raw();
    // SAFETY: the type is valid, and its kind is checked before its map is read.
    unsafe { mlirTypeIsAMemRef(raw) && !mlirAffineMapIsIdentity(mlirMemRefTypeGetAffineMap(raw)) }
}

impl<'c> Translator<'c> {
    /// From now on one memref is another name of a second one.
    pub(super) fn shares(&mut self, name: ValueId, memref: ValueId) {
        let root = self.root(memref);
        self.roots.insert(name, root);
    }

    fn root(&self, memref: ValueId) -> ValueId {
        self.roots.get(&memref).copied().unwrap_or(memref)
    }

    /// Returns whether two values may show the same memory.
    pub(super) fn may_share(&self, a: ValueId, b: ValueId) -> bool {
        let roots = [a, b].map(|id| self.root(id));
        (roots[0] == roots[1] || roots.contains(&ANY)) && !self.is_apart(a, b)
    }

    /// Returns whether two names show parts of a memref, by numbers that are known, that have no element in common.
    fn is_apart(&self, a: ValueId, b: ValueId) -> bool {
        let wholes = self.wholes(b);
        let common = self.wholes(a).into_iter().find_map(|(whole, one)| {
            let (_, other) = wholes.iter().find(|(other, _)| *other == whole)?;
            Some((one, *other))
        });
        matches!(common, Some((Some(one), Some(other))) if disjoint(one, other))
    }

    /// The names that a name is a part of, the nearest first, and which part; itself without one.
    fn wholes(&self, name: ValueId) -> Vec<(ValueId, Option<&SliceOperands>)> {
        let (mut at, mut part) = (name, None);
        let mut wholes = Vec::new();
        while let Some((whole, slice)) = self.within.get(&at) {
            if slice.is_some() {
                wholes.push((at, part));
                part = slice.as_ref();
            }
            at = *whole;
        }
        wholes.push((at, part));
        wholes
    }

    /// Defines a value that is carried: memory may be any.
    pub(super) fn carried(&mut self, value: Val<'c>) -> ValueId {
        let id = self.define(value);
        if is_memref(value) {
            self.roots.insert(id, ANY);
        }
        id
    }

    /// A name for what leaves blocks: of memory, if a value of theirs is a name of some.
    pub(super) fn leaving(&mut self, value: ValueId) -> ValueId {
        let id = self.fresh();
        if self.roots.contains_key(&value) {
            self.roots.insert(id, ANY);
        }
        id
    }

    /// Values to be carried: for a memref a name of what that shows then.
    pub(super) fn carrying(
        &mut self,
        op: Op<'c>,
        values: &[Val<'c>],
        statements: &mut Vec<Statement>,
    ) -> Result<Vec<ValueId>, String> {
        let mut ids = Vec::new();
        for value in values {
            let id = self.id(*value)?;
            if !is_memref(*value) {
                ids.push(id);
                continue;
            }
            let result = self.fresh();
            self.shares(result, id);
            self.within.insert(result, (id, None));
            let alias = Statement::Alias {
                result,
                memref: id,
                slice: None,
            };
            self.put(op, statements, alias);
            ids.push(result);
        }
        Ok(ids)
    }

    /// `memref.transpose`: the whole memref, its axes in another order.
    pub(super) fn transpose(
        &mut self,
        op: Op<'c>,
        statements: &mut Vec<Statement>,
    ) -> Result<(), String> {
        let memref = ir::operand(op, 0).ok_or("has no operand")?;
        let ty = types::buffer_type(memref.r#type()).ok_or("has an operand of an unknown type")?;
        let map = ir::attribute(op, "permutation").and_then(index_function::from_map);
        let axes = map.unwrap_or_default().into_iter().map(|expr| match expr {
            Expr::Dim(axis) => Some(axis),
            _ => None,
        });
        let permutation: Option<Vec<usize>> = axes.collect();
        let id = self.id(memref)?;
        let sizes = self.sizes(op, (id, &ty.shape), statements);
        let slice = SliceOperands {
            offsets: vec![Index::Known(0); sizes.len()],
            strides: vec![Index::Known(1); sizes.len()],
            sizes,
            kept: permutation.ok_or("has no permutation of the axes")?,
        };
        let alias = self.alias(op, id, Some(slice))?;
        self.put(op, statements, alias);
        Ok(())
    }

    /// The extents of a tensor or memref.
    pub(super) fn sizes(
        &mut self,
        op: Op<'c>,
        (tensor, shape): (ValueId, &[Option<i64>]),
        statements: &mut Vec<Statement>,
    ) -> Vec<Index> {
        let mut sizes = Vec::new();
        for (axis, extent) in shape.iter().enumerate() {
            sizes.push(match extent {
                Some(extent) => Index::Known(*extent),
                None => Index::Value(self.extent(op, (tensor, axis), statements)),
            });
        }
        sizes
    }

    /// One of them, as a value.
    pub(super) fn extent(
        &mut self,
        op: Op<'c>,
        (tensor, axis): (ValueId, usize),
        statements: &mut Vec<Statement>,
    ) -> ValueId {
        let axis = self.index(op, axis as i64, statements);
        let result = self.fresh();
        let dim = Statement::Dim {
            result,
            tensor,
            axis,
        };
        self.put(op, statements, dim);
        result
    }

    /// Refuses memory of which an argument may show parts only: what lies between is not known.
    pub(super) fn expect_dense(&self, memref: ValueId) -> Result<(), String> {
        let root = self.root(memref);
        match self.strided.iter().any(|own| [*own, ANY].contains(&root)) {
            true => Err(
                "sees memory under other strides of which an argument may show parts only: expected \
                 an argument whose elements lie one after the other, or memory of the function"
                    .into(),
            ),
            false => Ok(()),
        }
    }

    /// `bufferization.to_buffer`: the memory that a tensor was read from, or memory that holds it.
    pub(super) fn buffer_of(
        &mut self,
        op: Op<'c>,
        tensor: Val<'c>,
        id: ValueId,
    ) -> Result<Statement, String> {
        let read = ir::defining_op(tensor);
        let read = read.filter(|op| ir::name_of(*op) == ops::bufferization::TO_TENSOR);
        if let Some(memref) = read.and_then(|op| ir::operand(op, 0)) {
            let memref = self.id(memref)?;
            return self.alias(op, memref, None);
        }
        let ty = types::buffer_type(tensor.r#type());
        Ok(Statement::Cast {
            result: self.result(op)?,
            tensor: id,
            shape: ty.map_or(Vec::new(), |ty| ty.shape),
        })
    }

    /// `memref.reinterpret_cast`
    pub(super) fn reinterpret(&mut self, op: Op<'c>) -> Result<Statement, String> {
        let memref = ir::operand(op, 0).ok_or("has no operand")?;
        let memref = self.id(memref)?;
        self.expect_dense(memref)?;
        let mut next = 1;
        let offsets = self.numbers(op, "static_offsets", &mut next)?;
        let sizes = self.numbers(op, "static_sizes", &mut next)?;
        let strides = self.numbers(op, "static_strides", &mut next)?;
        let result = self.result(op)?;
        self.shares(result, memref);
        Ok(Statement::Reinterpret {
            result,
            memref,
            offset: offsets.first().copied().unwrap_or(Index::Known(0)),
            sizes,
            strides,
        })
    }
}

/// Returns whether two parts of one memref have no index in common along some axis.
fn disjoint(a: &SliceOperands, b: &SliceOperands) -> bool {
    let ends = |of: &SliceOperands, axis: usize| {
        let list = [&of.offsets, &of.sizes, &of.strides];
        let [offset, size, stride] = list.map(|list| match list.get(axis) {
            Some(Index::Known(number)) => Some(*number),
            _ => None,
        });
        let last = offset?.checked_add(stride?.checked_mul(size? - 1)?)?;
        Some((offset?.min(last), offset?.max(last)))
    };
    (0..a.offsets.len()).any(|axis| match (ends(a, axis), ends(b, axis)) {
        (Some(a), Some(b)) => a.1 < b.0 || b.1 < a.0,
        _ => false,
    })
}
