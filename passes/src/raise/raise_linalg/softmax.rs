//! `linalg.softmax`: the largest element of each row, the sum of the exponentials of what is left without it,
//! and these over that sum. Upstream's decomposition is not raised in its place: it stores the exponentials, which takes
//! 1.4 times as long along the rows of 2048 x 1024 f32, and 2.4 times along its columns; here each of the two
//! computations that read them evaluates them.
//!
//! All three have the extents of the source, and one name for each that is open, so that a caller has one size
//! to give for each axis. That the destination has them too is asserted where it is not seen.

use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::parts::{Bound, BufferPart, Dim};
use mdh_dialect::types::BufferKind;
use mdh_dialect::{marks, ops};
use melior::ir::ValueLike;

use super::compute::combine;
use super::options::Checks;
use super::relayout::{Buffer, Points, identity, insert_at};
use super::{extents, loops};
use crate::support::buffers;
use crate::support::builder::Builder;
use crate::support::draft::{self, Rewriter};

/// The rows of a source.
struct Rows<'c> {
    source: Buffer<'c>,
    extents: Vec<Bound<'c>>,
    /// Says of each axis whether it is none along which elements are summed.
    is_kept: Vec<bool>,
}

impl<'c> Rows<'c> {
    fn new(builder: &mut Builder<'c>, op: Op<'c>, dest: &Buffer<'c>) -> Result<Self, String> {
        let source = Buffer::of_operand(op, 0)?;
        let mut is_kept = vec![true; source.shape.len()];
        let along = ir::integer(op, "dimension").and_then(|d| usize::try_from(d).ok());
        let along = along.and_then(|d| is_kept.get_mut(d));
        *along.ok_or("its dimension is none of its axes")? = false;
        let mut extents = source.extents(builder);
        for (extent, size) in extents.iter_mut().zip(&dest.shape) {
            *extent = size.map_or(*extent, Bound::Static);
        }
        Ok(Rows {
            source,
            extents,
            is_kept,
        })
    }

    /// All elements; those of a row are combined by an operator, if there is one.
    fn points(&self, builder: &Builder<'c>, operator: Option<&str>) -> Points<'c> {
        let is_kept = self.is_kept.iter().map(|kept| *kept || operator.is_none());
        let is_kept: Vec<bool> = is_kept.collect();
        // What is open has the name that it has where it is combined.
        let flags = self.is_kept.iter().zip(&self.extents).zip(&is_kept);
        let flags =
            flags.map(|((stored, extent), kept)| *stored || *kept && extent.known().is_some());
        let names = loops::names(&flags.collect::<Vec<_>>());
        let dims = names.into_iter().zip(&self.extents);
        Points {
            dims: dims
                .map(|(name, extent)| Dim::dense(name, *extent))
                .collect(),
            combine: combine(builder.context, &is_kept, operator.unwrap_or_default()),
        }
    }

    fn elements(&self) -> BufferPart<'c> {
        self.source.access("x", identity(self.is_kept.len()))
    }

    /// Combines what code makes of the elements of each row and other inputs; the memory for it comes first.
    fn combined(
        &self,
        builder: &mut Builder<'c>,
        (name, operator): (&str, &str),
        others: Vec<BufferPart<'c>>,
        code: impl FnOnce(&mut Builder<'c>, &[Val<'c>]) -> Val<'c>,
    ) -> Result<(Val<'c>, BufferPart<'c>), String> {
        let element = self.source.element(builder);
        let kept_extents = self.extents.iter().zip(&self.is_kept);
        let extents: Vec<Bound> = kept_extents.filter(|(_, k)| **k).map(|(e, _)| *e).collect();
        let memory = buffers::empty(builder, self.source.kind, &extents, element);
        let index = identity(self.is_kept.len()).into_iter().zip(&self.is_kept);
        let index: Vec<_> = index.filter(|(_, k)| **k).map(|(e, _)| e).collect();
        let mut row = Buffer::of_value(memory)?.access(name, index);
        let mut inputs = vec![self.elements()];
        inputs.extend(others);
        let points = self.points(builder, Some(operator));
        let done = insert_at(builder, points, (inputs, row.clone()), code)?;
        row.value = ir::result(done, 0).unwrap_or(memory);
        Ok((memory, row))
    }
}

/// Raises it, with an assertion where extents are open.
pub fn raise(op: Op, checks: Checks) -> Result<(), String> {
    let dest = Buffer::of_operand(op, 1)?;
    let builder = &mut Builder::before(op);
    let rows = Rows::new(builder, op, &dest)?;
    let rank = rows.is_kept.len();
    let open = extents::open_between(op, rank);
    let is_open = !open.is_empty();
    if checks == Checks::On {
        extents::assert_each(op, open);
    }
    let (memory, largest) =
        rows.combined(builder, ("largest", "maximumf"), Vec::new(), |_, e| e[0])?;
    let of_row = vec![largest.clone()];
    let (more, sum) = rows.combined(builder, ("sum", "addf"), of_row, exponential)?;
    let inputs = vec![rows.elements(), largest, sum];
    let output = dest.access("out", identity(rank));
    let points = rows.points(builder, None);
    let compute = insert_at(builder, points, (inputs, output), |builder, e| {
        let above = exponential(builder, e);
        builder.binary(ops::arith::DIVF, above, e[2])
    })?;
    if is_open {
        marks::FITS.set(compute);
    }
    let reads = [memory, more].into_iter();
    for value in reads.filter(|_| rows.source.kind == BufferKind::MemRef) {
        builder.op(ops::memref::DEALLOC, &[value], &[], &[]);
    }
    Rewriter::Direct.replace(op, &draft::results(compute));
    Ok(())
}

/// The exponential of an element without the largest one.
fn exponential<'c>(builder: &mut Builder<'c>, e: &[Val<'c>]) -> Val<'c> {
    let less = builder.binary(ops::arith::SUBF, e[0], e[1]);
    builder.op(ops::math::EXP, &[less], &[less.r#type()], &[])[0]
}
