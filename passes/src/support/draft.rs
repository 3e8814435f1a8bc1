//! A computation that is to stand in the place of another one.

use mdh_algebra::affine::Expr;
use mdh_algebra::computation::Combine;
use mdh_dialect::code::arguments;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::parts::{BufferPart, Dim, Parts};
use mdh_dialect::types::{self, BufferKind};
use mdh_dialect::{read, schedule, translate, verify, write};
use melior::ir::attribute::IntegerAttribute;
use melior::ir::operation::OperationLike;
use melior::ir::{AttributeLike, Location, Region, Type, ValueLike};
use mlir_sys::*;

use crate::support::builder::Builder;
use crate::support::names;
use crate::support::region;

/// Rewriter of the IR: a pattern, whose driver must hear of changes, or a pass.
#[derive(Clone, Copy)]
pub enum Rewriter {
    /// A pattern's.
    Pattern(MlirRewriterBase),
    /// A pass changes the IR itself.
    Direct,
}

impl Rewriter {
    /// Puts a new operation before another one.
    pub fn insert<'c>(
        self,
        operation: melior::ir::operation::Operation<'c>,
        before: Op<'c>,
    ) -> Op<'c> {
        match self {
            // SAFETY: the rewriter is valid during its pattern, and takes the operation.
            Rewriter::Pattern(rewriter) => unsafe {
                mlirRewriterBaseSetInsertionPointBefore(rewriter, before.to_raw());
                ir::op_from_raw(mlirRewriterBaseInsert(rewriter, operation.into_raw()))
            },
            Rewriter::Direct => Builder::before(before).insert(operation),
        }
    }

    /// Takes an operation away; these values stand for its results.
    pub fn replace<'c>(self, op: Op<'c>, values: &[Val<'c>]) {
        match self {
            // SAFETY: the rewriter is valid during its pattern; there is one value a result.
            Rewriter::Pattern(rewriter) => unsafe {
                let raw: Vec<MlirValue> = values.iter().map(|v| v.to_raw()).collect();
                mlirRewriterBaseReplaceOpWithValues(
                    rewriter,
                    op.to_raw(),
                    raw.len() as isize,
                    raw.as_ptr(),
                );
            },
            Rewriter::Direct => {
                for (old, new) in op.results().zip(values) {
                    region::replace_all_uses(ir::value(old), *new);
                }
                region::erase(op);
            }
        }
    }
}

/// An `mdh.compute` taken apart, with copies of its regions.
pub struct Draft<'c> {
    /// The operation it is made from.
    pub op: Op<'c>,
    /// All but the regions.
    pub parts: Parts<'c>,
    /// The scalar function.
    pub scalar: Region<'c>,
    /// The operator's function; empty where it is built in.
    pub combiner: Region<'c>,
}

impl<'c> Draft<'c> {
    /// Takes an operation apart.
    pub fn new(op: Op<'c>, parts: Parts<'c>) -> Self {
        Draft {
            op,
            parts,
            scalar: region::copy(op, 0),
            combiner: region::copy(op, 1),
        }
    }

    /// Puts the computation in the place of the one it is made from, if it keeps all rules and
    /// that one has no schedule, which goes by dimensions and buffers as they are.
    /// `values` maps its results to those of the operation that goes.
    pub fn commit(
        mut self,
        rewriter: Rewriter,
        values: impl FnOnce(Op<'c>) -> Vec<Val<'c>>,
    ) -> bool {
        if schedule::has_schedule(self.op) {
            return false;
        }
        if !self.parts.combine.iter().any(|c| !ir::is_cc(*c)) {
            self.combiner = Region::new();
            self.parts.laws = Default::default();
        }
        names::make_unique(&mut self.parts);
        self.commit_scheduled(rewriter, values)
    }

    /// Puts the computation in the place of the one it is made from, with that one's schedule, which goes
    /// by dimensions and by buffers' names: they are the same ones, only numbers among them are known now,
    /// or which memory a buffer is a view of.
    pub fn commit_scheduled(
        self,
        rewriter: Rewriter,
        values: impl FnOnce(Op<'c>) -> Vec<Val<'c>>,
    ) -> bool {
        let (context, location) = (ir::context_of(self.op), self.op.location());
        let new = write::compute(context, location, &self.parts, self.scalar, self.combiner);
        region::copy_attributes(self.op, ir::op(&new));
        if schedule::has_schedule(self.op) {
            schedule::copy(self.op, ir::op(&new));
        }
        // What sizes that are known now refute must be said of the program as it was written.
        if !verify::errors(ir::op(&new)).is_empty() {
            return false;
        }
        let new = rewriter.insert(new, self.op);
        let values = values(new);
        rewriter.replace(self.op, &values);
        true
    }

    /// The same with results that stand for those of the operation one by one.
    pub fn commit_same(self, rewriter: Rewriter) -> bool {
        self.commit(rewriter, results)
    }

    /// Puts an expression over the new dimensions in the place of each old one: in all index
    /// functions and in the scalar function.
    pub fn substitute(&mut self, replacements: &[Expr]) {
        for buffer in names::buffers_mut(&mut self.parts) {
            substitute_accesses(buffer, replacements);
        }
        substitute_indices(&self.scalar, replacements);
    }

    /// Sets the inputs. `arguments[n]` is the number of the new access that the scalar function's
    /// argument `n` now takes; `None` where it is not used.
    pub fn set_inputs(&mut self, inputs: Vec<BufferPart<'c>>, arguments: &[Option<usize>]) {
        let context = ir::context_of(self.op);
        let types: Vec<Type> = inputs
            .iter()
            .flat_map(|b| b.accesses.iter().filter_map(|_| element(b.value)))
            .map(|ty| types::mlir_type(context, ty))
            .collect();
        self.parts.inputs = inputs;
        rewire(&self.scalar, &types, arguments, self.op.location());
    }
}

/// The number of a dimension's points, if it is known.
pub fn count(dim: &Dim) -> Option<i64> {
    translate::dimension(dim, Combine::Cc).count()
}

/// The type of a buffer's elements.
pub fn element(value: Val) -> Option<mdh_algebra::scalar::ScalarType> {
    types::buffer_type(value.r#type()).map(|t| t.element)
}

/// The results of an operation.
pub fn results<'c>(op: Op<'c>) -> Vec<Val<'c>> {
    op.results().map(ir::value::<'c>).collect()
}

/// The parts of an `mdh.compute`, as far as they fit together.
pub fn parts<'c>(op: Op<'c>) -> Option<Parts<'c>> {
    read::compute(op).ok()
}

/// For each destination, the number of its result if it has one.
pub fn result_numbers(parts: &Parts) -> Vec<Option<usize>> {
    let mut next = 0;
    let mut number = |b: &BufferPart| {
        is_kind(b, BufferKind::Tensor).then(|| {
            next += 1;
            next - 1
        })
    };
    parts.destinations().map(&mut number).collect()
}

/// Returns whether a buffer is of this kind.
pub fn is_kind(buffer: &BufferPart, kind: BufferKind) -> bool {
    types::buffer_type(buffer.value.r#type()).is_some_and(|t| t.kind == kind)
}

/// Puts an expression in the place of each dimension in a buffer's index functions.
pub fn substitute_accesses(buffer: &mut BufferPart, replacements: &[Expr]) {
    for expr in buffer.accesses.iter_mut().flatten() {
        *expr = substituted(expr, replacements);
    }
}

/// An index function of others, as a sum if it is one: `3 - (3 - i)` is `i`.
pub fn substituted(expr: &Expr, replacements: &[Expr]) -> Expr {
    let expr = expr.substitute(replacements);
    let rank = expr.dims().last().map_or(0, |d| d + 1);
    expr.linear(rank).map_or(expr, |form| form.to_expr())
}

/// Puts an expression in the place of each dimension that a scalar function asks for.
pub fn substitute_indices(scalar: &Region, replacements: &[Expr]) {
    for op in region::operations(scalar) {
        if ir::name_of(op) != ops::mdh::INDEX {
            continue;
        }
        let dim = ir::attribute(op, "dim").and_then(|a| IntegerAttribute::try_from(a).ok());
        let Some(expr) = dim.and_then(|d| replacements.get(d.value() as usize)) else {
            continue;
        };
        let mut builder = Builder::before(op);
        let value = index_value(&mut builder, expr);
        for result in results(op) {
            region::replace_all_uses(result, value);
        }
        region::erase(op);
    }
}

/// An index function at the point that a scalar function is at.
pub fn index_value<'c>(builder: &mut Builder<'c>, expr: &Expr) -> Val<'c> {
    let used = expr.dims();
    let point: Vec<Val> = used.iter().map(|d| point_index(builder, *d)).collect();
    let rank = used.last().map_or(0, |d| d + 1);
    let place = |d: usize| Expr::Dim(used.iter().position(|u| *u == d).unwrap_or(0));
    let places: Vec<Expr> = (0..rank).map(place).collect();
    builder.affine(&expr.substitute(&places), &point)
}

/// The index of a point in a dimension, in a scalar function.
pub fn point_index<'c>(builder: &mut Builder<'c>, dim: usize) -> Val<'c> {
    let i64_type = types::mlir_type(builder.context, mdh_algebra::scalar::ScalarType::I64);
    let attribute = IntegerAttribute::new(i64_type, dim as i64).into();
    builder.op(
        ops::mdh::INDEX,
        &[],
        &[builder.index_type()],
        &[("dim", attribute)],
    )[0]
}

/// Gives a scalar function other arguments: the old one with number `n` becomes the new one with
/// number `targets[n]`; one without a target must be unused.
fn rewire(scalar: &Region, types: &[Type], targets: &[Option<usize>], location: Location) {
    let block = region::block(scalar);
    let old = arguments(block);
    let new: Vec<Val> = types
        .iter()
        .map(|ty| region::add_argument(block, *ty, location))
        .collect();
    for (argument, target) in old.iter().zip(targets) {
        if let Some(target) = target {
            region::replace_all_uses(*argument, new[*target]);
        }
    }
    for number in (0..old.len()).rev() {
        // SAFETY: nothing uses the argument any more.
        unsafe { mlirBlockEraseArgument(melior::ir::BlockLike::to_raw(&block), number as u32) }
    }
}

/// Returns whether an attribute is the same as another one.
pub fn same(a: Option<melior::ir::Attribute>, b: Option<melior::ir::Attribute>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.to_raw().ptr == b.to_raw().ptr,
        (None, None) => true,
        _ => false,
    }
}
