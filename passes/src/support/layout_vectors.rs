//! Vectors of elements that lie in a layout, for `mdh-layout-to-arith`.
//!
//! ```mlir
//! // mdh-opt --mdh-layout-to-arith
//! func.func @row(%m: memref<64xf32>, %i: index) -> vector<8xf32> {
//!   %c0 = arith.constant 0 : index
//!   %x = mdh.layout.view %m : memref<64xf32> to memref<8x8xf32, #mdh.layout<Row([8,8])>>
//!   // A row of the view, whose elements lie one after the other in memory.
//!   %v = vector.load %x[%i, %c0] : memref<8x8xf32, #mdh.layout<Row([8,8])>>, vector<8xf32>
//!   return %v : vector<8xf32>
//! }
//! // becomes
//! func.func @row(%m: memref<64xf32>, %i: index) -> vector<8xf32> {
//!   %c0 = arith.constant 0 : index
//!   %p = affine.apply affine_map<(d0, d1) -> (d0 * 8 + d1)>(%i, %c0)
//!   %v = vector.load %m[%p] : memref<64xf32>, vector<8xf32>
//!   return %v : vector<8xf32>
//! }
//! ```
//!
//! Lanes that are proved to be neighbours are a vector of the memory itself, for each row of a vector of
//! several dimensions; otherwise each lane accesses its own element.

use mdh_algebra::affine::Expr;
use mdh_algebra::layout::runs::Run;
use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::{index_function, layout, types};
use melior::ir::attribute::DenseI64ArrayAttribute;
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, Type, TypeLike, ValueLike};
use mlir_sys::{mlirTypeIsAVector, mlirVectorTypeGet, mlirVectorTypeIsScalable};

use crate::llvm::lower_to_loops::access::{load, store};
use crate::support::builder::Builder;
use crate::support::residue::residue;

/// The operations that access several elements at once, and have code here.
pub const NAMES: [&str; 6] = [
    ops::vector::LOAD,
    ops::vector::STORE,
    ops::vector::MASKEDLOAD,
    ops::vector::MASKEDSTORE,
    ops::vector::TRANSFER_READ,
    ops::vector::TRANSFER_WRITE,
];

/// Code for the place of indices.
type IndexMap<'a, 'c> = dyn Fn(&mut Builder<'c>, &[Val<'c>]) -> Result<Vec<Val<'c>>, Errors> + 'a;

/// A view of memory.
pub struct View<'a, 'c> {
    /// The memory.
    pub memory: Val<'c>,
    /// The type of the view.
    pub ty: Type<'c>,
    /// The place in the memory of an index of the view.
    pub place: &'a IndexMap<'a, 'c>,
}

/// An operation's access.
struct Access<'c> {
    /// The index of the first lane.
    index: Vec<Val<'c>>,
    /// The type of all lanes.
    ty: Type<'c>,
    /// The sizes of the vector.
    sizes: Vec<i64>,
    /// The axis of the view along which each dimension of the vector goes; `None` if it stays.
    axes: Vec<Option<usize>>,
    /// True for a dimension of the vector that may leave the view.
    is_open: Vec<bool>,
    /// The lanes that are accessed; `None` for all.
    mask: Option<Val<'c>>,
    /// Values of the lanes that are not read: a vector, or a number for all.
    rest: Option<Val<'c>>,
    /// The stored value; `None` for reads.
    value: Option<Val<'c>>,
}

/// Code for an operation on a view, and its results.
pub fn lowered<'c>(op: Op<'c>, view: &View<'_, 'c>) -> Result<Vec<Val<'c>>, Errors> {
    let access = Access::new(op, view)?;
    let mut builder = Builder::before(op);
    match access.is_run(view) {
        true => access.in_rows(&mut builder, view),
        false => access.in_lanes(&mut builder, view),
    }
}

impl<'c> Access<'c> {
    fn new(op: Op<'c>, view: &View<'_, 'c>) -> Result<Self, Errors> {
        let name = ir::name_of(op);
        let operands: Vec<Val> = op.operands().map(ir::value).collect();
        let rank = types::buffer_type(view.ty).map_or(0, |ty| ty.shape.len());
        let stored = [ops::vector::STORE, ops::vector::TRANSFER_WRITE];
        let first = usize::from(stored.contains(&name));
        let index = operands[first + 1..first + 1 + rank].to_vec();
        let after = &operands[first + 1 + rank..];
        let (mask, rest, value) = match (name, after) {
            (ops::vector::STORE, _) => (None, None, Some(operands[0])),
            (ops::vector::TRANSFER_WRITE, after) => {
                (after.first().copied(), None, Some(operands[0]))
            }
            (ops::vector::MASKEDLOAD, [mask, rest]) => (Some(*mask), Some(*rest), None),
            (ops::vector::MASKEDSTORE, [mask, value]) => (Some(*mask), None, Some(*value)),
            (ops::vector::TRANSFER_READ, [rest, mask @ ..]) => {
                (mask.first().copied(), Some(*rest), None)
            }
            _ => (None, None, None),
        };
        let ty = match value {
            Some(value) => value.r#type(),
            None => ir::value(op.result(0).map_err(|e| vec![e.to_string()])?).r#type(),
        };
        let sizes = fixed_sizes(ty).ok_or_else(|| {
            vec![format!(
                "accesses {ty} in a layout: expected a vector of a known number of lanes"
            )]
        })?;
        let minor = (0..sizes.len()).map(|d| (rank + d).checked_sub(sizes.len()));
        let minor: Vec<Option<usize>> = minor.collect();
        let axes = match ir::attribute(op, "permutation_map") {
            Some(map) => axes(map).ok_or_else(|| {
                vec!["has a map that is no permutation of axes of a layout".to_string()]
            })?,
            None => minor.clone(),
        };
        if mask.is_some() && axes != minor {
            return Err(vec![
                "has a mask, and goes along other axes of a layout than the last ones in order: \
                 expected one of both; transpose the vector"
                    .into(),
            ]);
        }
        let inside = ir::array(op, "in_bounds");
        let is_open =
            (0..sizes.len()).map(|d| inside.get(d).is_some_and(|a| a.to_string() == "false"));
        Ok(Access {
            index,
            ty,
            is_open: is_open.collect(),
            sizes,
            axes,
            mask,
            rest,
            value,
        })
    }

    /// Returns whether the lanes of each row are proved to be neighbours in memory.
    fn is_run(&self, view: &View<'_, 'c>) -> bool {
        let last = self.index.len() - 1;
        let (Some(count), Some(Some(axis))) = (self.sizes.last(), self.axes.last()) else {
            return false;
        };
        let is_plain = self.mask.is_none() && !self.is_open.contains(&true);
        if !is_plain || *axis != last || self.axes[..self.axes.len() - 1].contains(&Some(last)) {
            return false;
        }
        let is_run = |run| layout::is_run(view.ty, last, run);
        is_run(Run::Whole)
            || is_run(Run::Blocks(*count)) && residue(self.index[last], *count) == Some(0)
    }

    /// The index of a lane, by its position in the first dimensions of the vector.
    fn at(&self, builder: &mut Builder<'c>, lane: &[i64]) -> Vec<Val<'c>> {
        let mut index = self.index.clone();
        for (axis, n) in self.axes.iter().zip(lane) {
            if let Some(axis) = axis.filter(|_| *n != 0) {
                let distance = builder.index(*n);
                index[axis] = builder.binary(ops::arith::ADDI, index[axis], distance);
            }
        }
        index
    }

    /// Each row as a vector of the memory.
    fn in_rows(
        &self,
        builder: &mut Builder<'c>,
        view: &View<'_, 'c>,
    ) -> Result<Vec<Val<'c>>, Errors> {
        let (count, outer) = match self.sizes.split_last() {
            Some((count, outer)) => (*count, outer),
            None => return Ok(Vec::new()),
        };
        // SAFETY: the element type is a scalar's, and the number positive.
        let row = unsafe {
            let element = types::element(self.ty).to_raw();
            Type::from_raw(mlirVectorTypeGet(1, &count, element))
        };
        let mut loads = Vec::new();
        for lane in positions(outer) {
            let index = self.at(builder, &lane);
            let mut operands = vec![view.memory];
            operands.extend((view.place)(builder, &index)?);
            if let Some(value) = self.value {
                operands.insert(0, part(builder, value, &lane, row));
                builder.op(ops::vector::STORE, &operands, &[], &[]);
                continue;
            }
            let value = builder.op(ops::vector::LOAD, &operands, &[row], &[])[0];
            if outer.is_empty() {
                return Ok(vec![value]);
            }
            let element = types::element(self.ty);
            loads.extend((0..count).map(|n| part(builder, value, &[n], element)));
        }
        Ok(self.vector_of(builder, &loads))
    }

    /// Each lane on its own.
    fn in_lanes(
        &self,
        builder: &mut Builder<'c>,
        view: &View<'_, 'c>,
    ) -> Result<Vec<Val<'c>>, Errors> {
        let element = types::element(self.ty);
        let mut stores = Vec::new();
        let mut errors = Errors::new();
        for lane in positions(&self.sizes) {
            let index = self.at(builder, &lane);
            let condition = self.condition(builder, view, &lane, &index);
            let mut access = |builder: &mut Builder<'c>| -> Vec<Val<'c>> {
                let place = match (view.place)(builder, &index) {
                    Ok(place) => place,
                    Err(wrong) => {
                        errors = wrong;
                        index.clone()
                    }
                };
                match self.value {
                    None => vec![load(builder, view.memory, &place)],
                    Some(value) => {
                        let value = part(builder, value, &lane, element);
                        store(builder, value, view.memory, &place);
                        Vec::new()
                    }
                }
            };
            let rest = |builder: &mut Builder<'c>| self.rest(builder, &lane, element);
            match (condition, self.value) {
                (None, _) => stores.extend(access(builder)),
                (Some(condition), Some(_)) => builder.if_then(condition, |builder| {
                    access(builder);
                }),
                (Some(condition), None) => {
                    let either = builder.if_else(condition, &[element], access, |builder| {
                        rest(builder).into_iter().collect()
                    });
                    stores.extend(either);
                }
            }
            if !errors.is_empty() {
                return Err(errors);
            }
        }
        Ok(self.vector_of(builder, &stores))
    }

    /// The result, of its elements in order; none for what is stored.
    fn vector_of(&self, builder: &mut Builder<'c>, elements: &[Val<'c>]) -> Vec<Val<'c>> {
        match self.value {
            Some(_) => Vec::new(),
            None => builder.op(ops::vector::FROM_ELEMENTS, elements, &[self.ty], &[]),
        }
    }

    /// Returns whether a lane is accessed; `None` if it always is.
    fn condition(
        &self,
        builder: &mut Builder<'c>,
        view: &View<'_, 'c>,
        lane: &[i64],
        index: &[Val<'c>],
    ) -> Option<Val<'c>> {
        let i1 = types::mlir_type(builder.context, mdh_algebra::scalar::ScalarType::I1);
        let mut conditions: Vec<Val> = Vec::new();
        conditions.extend(self.mask.map(|mask| part(builder, mask, lane, i1)));
        for (axis, _) in self
            .axes
            .iter()
            .zip(&self.is_open)
            .filter(|(_, open)| **open)
        {
            let Some(axis) = *axis else {
                continue;
            };
            let sizes = types::buffer_type(view.ty).map(|ty| ty.shape);
            let known = sizes.and_then(|sizes| sizes.get(axis).copied().flatten());
            let size = match known {
                Some(size) => builder.index(size),
                // An axis before those of the layout is the memory's own.
                None => builder.dim(view.memory, axis),
            };
            // Unsigned: what is negative is beyond every size too.
            conditions.push(builder.compare("ult", index[axis], size));
        }
        let conjuncts = conditions.into_iter();
        conjuncts.reduce(|a, b| builder.binary(ops::arith::ANDI, a, b))
    }

    /// Returns the value of a lane that is not read.
    fn rest(&self, builder: &mut Builder<'c>, lane: &[i64], element: Type<'c>) -> Option<Val<'c>> {
        let rest = self.rest?;
        Some(match rest.r#type() == element {
            true => rest,
            false => part(builder, rest, lane, element),
        })
    }
}

/// The sizes of a vector; `None` if they depend on the machine.
fn fixed_sizes(ty: Type) -> Option<Vec<i64>> {
    // SAFETY: the type is valid, and its kind is checked before it is asked.
    unsafe {
        let raw = ty.to_raw();
        if !mlirTypeIsAVector(raw) || mlirVectorTypeIsScalable(raw) {
            return None;
        }
    }
    Some(types::sizes(ty))
}

/// The axis of each result of a permutation map; `None` for a constant.
fn axes(map: Attribute) -> Option<Vec<Option<usize>>> {
    let exprs = index_function::from_map(map)?;
    let axis = |expr: &Expr| match expr {
        Expr::Dim(d) => Some(Some(*d)),
        Expr::Const(_) => Some(None),
        _ => None,
    };
    exprs.iter().map(axis).collect()
}

/// The positions in a box of these sizes, those of the last dimension next to each other.
fn positions(sizes: &[i64]) -> Vec<Vec<i64>> {
    let mut offsets = vec![Vec::new()];
    for size in sizes {
        let longer = offsets.iter().flat_map(|position: &Vec<i64>| {
            (0..*size).map(move |n| position.iter().copied().chain([n]).collect())
        });
        offsets = longer.collect();
    }
    offsets
}

/// A row or an element of a vector.
fn part<'c>(builder: &mut Builder<'c>, of: Val<'c>, at: &[i64], ty: Type<'c>) -> Val<'c> {
    if of.r#type() == ty {
        return of;
    }
    let at = DenseI64ArrayAttribute::new(builder.context, at).into();
    builder.op(
        ops::vector::EXTRACT,
        &[of],
        &[ty],
        &[("static_position", at)],
    )[0]
}
