//! Operations that give elements of tensors other places, and are no views of computations that read them.
//!
//! A slice, a padded or a joined tensor that is a result, or that somebody else reads, is one in memory: a
//! computation writes it, on all cores, and what computes the elements becomes one with it. Elements that
//! are put into another tensor are written there: `mdh-simplify` lets what computes them do so.

use mdh_algebra::affine::Expr;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::marks;
use mdh_dialect::ops;
use mdh_dialect::parts::{Bound, BufferPart};
use mdh_dialect::space;
use mdh_dialect::types::{BufferKind, DYNAMIC};
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, ValueLike};

use super::memory::may_overlap;
use super::relayout::{Buffer, identity, insert};
use super::{body, compute};
use crate::support::buffers;
use crate::support::buffers::{PAD, SLICE, listed};
use crate::support::builder::Builder;
use crate::support::extents::Sum;
use crate::support::plain_pads;
use crate::support::region::{self, Marker};

/// The operations, from those that make one tensor of several on.
const NAMES: [&str; 6] = [
    ops::memref::COPY,
    ops::tensor::GENERATE,
    ops::tensor::CONCAT,
    ops::tensor::INSERT_SLICE,
    ops::tensor::PAD,
    ops::tensor::EXTRACT_SLICE,
];

/// Those that are loops over elements, on one core, where they stay.
const LOOPS: [&str; 3] = [ops::tensor::GENERATE, ops::tensor::CONCAT, ops::tensor::PAD];

/// Raises those that a computation is better for: others stay upstream's.
pub fn raise(module: Op) {
    for op in ir::find_all(module, &NAMES).into_iter().rev() {
        // Slices in loops are those of tiles that somebody has made, and are no copies.
        let around = ir::parent(op).map_or("", ir::name_of);
        if around != ops::func::FUNC {
            if !is_view(op) {
                say_stays(
                    op,
                    &format!("it is inside of '{around}': expected it in the function's own block"),
                );
            }
            continue;
        }
        let op = match cuts_off(op) {
            true => plain_pads::plain(op).unwrap_or(op),
            false => op,
        };
        let first = Marker::before(op);
        let raised = match ir::name_of(op) {
            ops::memref::COPY => memory(op),
            ops::tensor::GENERATE => generated(op),
            ops::tensor::CONCAT => concat(op),
            ops::tensor::INSERT_SLICE if is_copied(op) => inserted(op),
            ops::tensor::PAD if is_view(op) => continue,
            ops::tensor::PAD if padding(op).is_none() => pad_by_indices(op),
            ops::tensor::PAD => pad(op),
            ops::tensor::EXTRACT_SLICE if is_returned(op) => slice(op),
            _ => continue,
        };
        if let Err(rule) = raised {
            say_stays(op, &rule);
            first.erase_since(op);
        }
    }
}

/// Says of an operation that is loops over elements why it stays: others stay copies of memory.
fn say_stays(op: Op, rule: &str) {
    let name = ir::name_of(op);
    if LOOPS.contains(&name) {
        ir::remark_at(op, &format!("'{name}' op stays as it is: {rule}"));
    }
}

/// Returns whether a tensor is padded for none but computations, which see through it.
fn is_view(op: Op) -> bool {
    ir::name_of(op) == ops::tensor::PAD && padding(op).is_some() && !is_read_elsewhere(op)
}

fn users<'c>(op: Op<'c>) -> Vec<Op<'c>> {
    op.results().flat_map(|r| ir::users(ir::value(r))).collect()
}

/// Returns whether something needs a padded tensor in memory: a computation that knows it by numbers sees
/// through it.
fn is_read_elsewhere(op: Op) -> bool {
    let is_known = !ir::integers(op, "static_low").contains(&DYNAMIC);
    let of_compute = |user: &Op| ir::name_of(*user) == ops::mdh::COMPUTE;
    !is_known || !users(op).iter().all(of_compute)
}

/// Returns whether a tensor is padded here, and loses elements by negative padding: a slice of it is padded instead,
/// since lost elements have no place to be written to.
fn cuts_off(op: Op) -> bool {
    let is_cut = || {
        let mut counts = PAD.map(|name| ir::integers(op, name)).into_iter().flatten();
        counts.any(|count| count < 0 && count != DYNAMIC)
    };
    ir::name_of(op) == ops::tensor::PAD
        && (padding(op).is_none() || (is_read_elsewhere(op) && is_cut()))
}

/// Returns whether a slice is a result, for which it is copied.
fn is_returned(op: Op) -> bool {
    users(op)
        .iter()
        .any(|user| ir::name_of(*user) == ops::func::RETURN)
}

/// Returns whether what is inserted is copied there: it is, but for what accumulates in a slice of where
/// it goes.
fn is_copied(op: Op) -> bool {
    let source = ir::operand(op, 0).and_then(ir::defining_op);
    source.is_none_or(|source| match ir::name_of(source) {
        ops::mdh::COMPUTE => {
            let parts = crate::support::draft::parts(source);
            parts.is_some_and(|parts| parts.carries.is_empty() && parts.outputs.len() == 1)
        }
        name => name.starts_with("arith.") || name.starts_with("tensor."),
    })
}

/// Copies memory, on all cores, unless it is the same.
fn memory<'c>(op: Op<'c>) -> Result<(), String> {
    let (source, dest) = (Buffer::of_operand(op, 0)?, Buffer::of_operand(op, 1)?);
    let is_here = |buffer: &Buffer| {
        let ty = buffer.value.r#type();
        space::within(ty, None) == ty
    };
    if !is_here(&source) || !is_here(&dest) {
        return Err("it copies from one memory to another".into());
    }
    if may_overlap(source.value, dest.value) {
        return Err("it may copy to where it copies from".into());
    }
    let builder = &mut Builder::before(op);
    let axes = || identity(dest.shape.len());
    let read = source.access("in", axes());
    let code = |_: &mut Builder<'c>, elements: &[Val<'c>]| elements[0];
    let output = dest.access("out", axes());
    insert(builder, &dest, vec![read], output, code)?;
    region::erase(op);
    Ok(())
}

/// Computes each element from its indices.
fn generated(op: Op) -> Result<(), String> {
    body::check(op)?;
    let old = ir::result(op, 0).ok_or("it has no result")?;
    let buffer = Buffer::of_value(old)?;
    let mut sizes = op.operands().map(ir::value);
    let builder = &mut Builder::before(op);
    let extents = buffer.shape.iter().map(|size| match size {
        Some(size) => Some(Bound::Static(*size)),
        None => sizes.next().map(Bound::Dynamic),
    });
    let extents: Option<Vec<Bound>> = extents.collect();
    let dest = empty(
        builder,
        &buffer,
        &extents.ok_or("it has fewer sizes than axes")?,
    )?;
    let scalar = region::copy(op, 0);
    let compute = compute::of_indices(builder, &dest, scalar)?;
    let value = ir::result(compute, 0).ok_or("it has no result")?;
    result(builder, op, value)
}

/// The result with these extents, before it is filled.
fn empty<'c>(
    builder: &mut Builder<'c>,
    of: &Buffer<'c>,
    extents: &[Bound<'c>],
) -> Result<Buffer<'c>, String> {
    let element = of.element(builder);
    let value = buffers::empty(builder, BufferKind::Tensor, extents, element);
    Buffer::of_value(value)
}

/// Puts what an operation is now in its place, by a cast where its type says other sizes.
fn result<'c>(builder: &mut Builder<'c>, op: Op<'c>, value: Val<'c>) -> Result<(), String> {
    let old = ir::result(op, 0).ok_or("it has no result")?;
    let value = match value.r#type() == old.r#type() {
        true => value,
        false => builder.op(ops::tensor::CAST, &[value], &[old.r#type()], &[])[0],
    };
    region::replace_all_uses(old, value);
    region::erase(op);
    Ok(())
}

/// The constant that a tensor is padded with, if it is one.
fn padding<'c>(op: Op<'c>) -> Option<Attribute<'c>> {
    let yields = region::yields(ir::only_block(ir::region(op, 0))?);
    let constant = ir::defining_op(*yields.first()?)?;
    match ir::name_of(constant) {
        ops::arith::CONSTANT => ir::attribute(constant, "value"),
        _ => None,
    }
}

/// The numbers of elements before the axes of a padded tensor, and that tensor before it is filled.
fn around<'c>(
    builder: &mut Builder<'c>,
    op: Op<'c>,
    source: &Buffer<'c>,
) -> Result<(Vec<Bound<'c>>, Buffer<'c>), String> {
    let [low, high] = listed(op, 1, PAD).ok_or("it has fewer operands")?;
    let mut extents = Vec::new();
    for (axis, (low, high)) in low.iter().zip(&high).enumerate() {
        let size = Sum::of_axis(source.value, axis).plus(&Sum::of_bound(*low), 1);
        let size = size.and_then(|size| size.plus(&Sum::of_bound(*high), 1));
        extents.push(
            size.ok_or("its size leaves the 64-bit range")?
                .bound(builder),
        );
    }
    let dest = empty(builder, source, &extents)?;
    Ok((low, dest))
}

/// Reads `x[i - low]`, and the padding outside.
fn pad(op: Op) -> Result<(), String> {
    let source = Buffer::of_operand(op, 0)?;
    let number = padding(op).ok_or("what it is padded with is no constant")?;
    let builder = &mut Builder::before(op);
    let (low, dest) = around(builder, op, &source)?;
    let rank = low.len();
    let mut read = source.access("in", identity(rank));
    read.pad = Some(number);
    read.origin = low;
    let copy = copied(builder, &dest, read, dest.access("out", identity(rank)))?;
    if let Some(compute) = ir::defining_op(copy) {
        marks::FITS.set(compute);
    }
    result(builder, op, copy)
}

/// Computes the padding of each place from its indices, and writes the source over it.
fn pad_by_indices(op: Op) -> Result<(), String> {
    body::check(op)?;
    let source = Buffer::of_operand(op, 0)?;
    let builder = &mut Builder::before(op);
    let (low, dest) = around(builder, op, &source)?;
    let compute = compute::of_indices(builder, &dest, region::copy(op, 0))?;
    let padding = ir::result(compute, 0).ok_or("it has no result")?;
    let padding = Buffer::of_value(padding)?;
    let axes = low.into_iter().enumerate();
    let part = TensorSlice {
        axes: axes.map(|(axis, low)| (low, 1, Some(axis))).collect(),
        sizes: Vec::new(),
    };
    let output = part.access(builder, &padding, "out")?;
    let read = source.access("in", identity(source.shape.len()));
    let copy = copied(builder, &source, read, output)?;
    result(builder, op, copy)
}

/// Copies elements over the axes of a buffer.
fn copied<'c>(
    builder: &mut Builder<'c>,
    over: &Buffer<'c>,
    read: BufferPart<'c>,
    output: BufferPart<'c>,
) -> Result<Val<'c>, String> {
    let code = |_: &mut Builder<'c>, elements: &[Val<'c>]| elements[0];
    let compute = insert(builder, over, vec![read], output, code)?;
    ir::result(compute, 0).ok_or_else(|| "it has no result".into())
}

/// A part of a tensor: along each of its axes an offset, a stride, and the axis of the part, if that has one.
struct TensorSlice<'c> {
    axes: Vec<(Bound<'c>, i64, Option<usize>)>,
    sizes: Vec<Bound<'c>>,
}

impl<'c> TensorSlice<'c> {
    fn new(op: Op<'c>, first: usize, rank: usize) -> Result<Self, String> {
        let [offsets, sizes, strides] = listed(op, first, SLICE).ok_or("it has fewer operands")?;
        let dropped = sizes.len().checked_sub(rank).ok_or("it adds axes")?;
        let is_one = |size: &Bound| *size == Bound::Static(1);
        if dropped != 0 && sizes.iter().filter(|size| is_one(size)).count() != dropped {
            return Err("it is not seen which axis of one index it does without".into());
        }
        let mut free = 0..rank;
        let mut part = TensorSlice {
            axes: Vec::new(),
            sizes: Vec::new(),
        };
        for ((offset, size), stride) in offsets.into_iter().zip(sizes).zip(strides) {
            let stride = stride.known();
            let stride = stride.ok_or("a stride of it is known at run time only")?;
            let axis = match dropped != 0 && is_one(&size) {
                true => None,
                false => free.next(),
            };
            part.sizes.extend(axis.map(|_| size));
            part.axes.push((offset, stride, axis));
        }
        Ok(part)
    }

    /// An access to the tensor by indices of the part.
    fn access(
        &self,
        builder: &mut Builder<'c>,
        tensor: &Buffer<'c>,
        name: &str,
    ) -> Result<BufferPart<'c>, String> {
        let mut index = Vec::new();
        let mut origin = Vec::new();
        for (offset, stride, axis) in &self.axes {
            let way = axis.map_or(Expr::Const(0), |axis| Expr::Dim(axis) * *stride);
            index.push(way + offset.known().unwrap_or(0));
            let back = match offset {
                Bound::Static(_) => Sum::number(0),
                open => Sum::number(0)
                    .plus(&Sum::of_bound(*open), -1)
                    .ok_or("an offset leaves the 64-bit range")?,
            };
            origin.push(back.bound(builder));
        }
        let mut part = tensor.access(name, index);
        part.origin = origin;
        Ok(part)
    }
}

/// Copies the elements of a slice.
fn slice(op: Op) -> Result<(), String> {
    let source = Buffer::of_operand(op, 0)?;
    let rank = ir::result(op, 0).and_then(|r| Buffer::of_value(r).ok());
    let rank = rank.map_or(0, |buffer| buffer.shape.len());
    let part = TensorSlice::new(op, 1, rank)?;
    let builder = &mut Builder::before(op);
    let dest = empty(builder, &source, &part.sizes)?;
    let read = part.access(builder, &source, "in")?;
    let copy = copied(builder, &dest, read, dest.access("out", identity(rank)))?;
    result(builder, op, copy)
}

/// Writes elements into a part of a tensor.
fn inserted(op: Op) -> Result<(), String> {
    let (source, dest) = (Buffer::of_operand(op, 0)?, Buffer::of_operand(op, 1)?);
    let part = TensorSlice::new(op, 2, source.shape.len())?;
    let builder = &mut Builder::before(op);
    let output = part.access(builder, &dest, "out")?;
    let read = source.access("in", identity(source.shape.len()));
    let value = copied(builder, &source, read, output)?;
    result(builder, op, value)
}

/// Writes tensors one behind the other.
fn concat(op: Op) -> Result<(), String> {
    let along = ir::integer(op, "dim").and_then(|dim| usize::try_from(dim).ok());
    let along = along.ok_or("its dimension is none of its axes")?;
    let sources: Result<Vec<Buffer>, String> = (0..op.operand_count())
        .map(|n| Buffer::of_operand(op, n))
        .collect();
    let sources = sources?;
    let first = sources.first().ok_or("it joins no tensors")?;
    let builder = &mut Builder::before(op);
    let mut starts = vec![Sum::number(0)];
    for source in &sources {
        let next = starts[starts.len() - 1].plus(&Sum::of_axis(source.value, along), 1);
        starts.push(next.ok_or("its size leaves the 64-bit range")?);
    }
    let end = starts.pop().unwrap_or_else(|| Sum::number(0));
    let extents: Vec<Bound> = (0..first.shape.len())
        .map(|axis| match axis == along {
            true => end.bound(builder),
            false => Sum::of_axis(first.value, axis).bound(builder),
        })
        .collect();
    let mut dest = empty(builder, first, &extents)?;
    for (source, start) in sources.iter().zip(starts) {
        let mut output = dest.access("out", identity(extents.len()));
        match start.known() {
            Some(start) => output.accesses[0][along] = Expr::Dim(along) + start,
            None => {
                let back = Sum::number(0).plus(&start, -1);
                let back = back.ok_or("an offset leaves the 64-bit range")?;
                output.origin[along] = back.bound(builder);
            }
        }
        let read = source.access("in", identity(extents.len()));
        dest = Buffer::of_value(copied(builder, source, read, output)?)?;
    }
    result(builder, op, dest.value)
}
