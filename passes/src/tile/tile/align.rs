//! Rows that begin anywhere in a line of a cache.
//!
//! ```mlir
//! // mdh-opt --mdh-tile --canonicalize --cse
//! func.func @f(%x: memref<131072x254xf32>, %y: memref<131072x254xf32>) {
//!   mdh.compute (i = 131072, j = 254)
//!     out_view(y = %y[i, j] : memref<131072x254xf32>)
//!     md_hom(id, (cc, cc))
//!     inp_view(x = %x[i, j] : memref<131072x254xf32>)
//!     schedule(#mdh.schedule<asm = cpu, layers = [L1 {i: *, j: *}, simd {j: 16}]>)
//!   return
//! }
//! // becomes
//! scf.for %i = %c0 to %c131072 step %c1 {
//!   .. // %line is the first index of the row whose element begins a line
//!   %is_some = arith.cmpi sgt, %line, %c0 : index
//!   scf.if %is_some {
//!     mdh.compute (i = %i to %next, j = %line) ..
//!   }
//!   scf.for %j = %line to %c254 step %c16 {
//!     ..
//!     mdh.compute (i = %i to %next, j = %j to %end) ..
//!   } {mdh.level = "L1.j"}
//! } {mdh.level = "L1.i"}
//! ```
//!
//! Then all full tiles write whole lines, which can be stored non-temporally ([`stream`]). This is for
//! computations that combine nothing, whose output is large enough for that, and whose rows are no
//! whole lines.

use mdh_algebra::affine::Expr;
use mdh_algebra::computation::Combine;
use mdh_dialect::ir::{Errors, Val};
use mdh_dialect::ops;
use mdh_dialect::parts::{Bound, BufferPart, Dim};
use mdh_dialect::types;
use mdh_schedule::Count;
use mdh_schedule::asm::facts::LINE;
use melior::ir::ValueLike;

use super::nest::{ScheduledNest, Tile, bound};
use super::{cyclic, stage};
use crate::llvm::lower_to_loops::access::place;
use crate::llvm::lower_to_loops::grid;
use crate::support::builder::{Builder, known};
use crate::vector::vectorize::stream;

/// The last loop of a nest, over a dimension that is kept.
pub fn each<'c>(
    nest: &ScheduledNest<'c, '_>,
    builder: &mut Builder<'c>,
    position: usize,
    tile: &Tile<'c>,
) -> Result<(), Errors> {
    let inside = |nest: &ScheduledNest<'c, '_>, builder: &mut Builder<'c>, inner: Tile<'c>| {
        nest.descend(builder, position + 1, inner)
    };
    let Some((output, width)) = streamed(nest, position, tile) else {
        return nest.each(builder, position, tile, |nest, builder, _, inner| {
            inside(nest, builder, inner)
        });
    };
    let tile_loop = nest.loops[position];
    let d = tile_loop.level.dimension;
    let (lower, upper) = (tile.parts.dims[d].lower, tile.parts.dims[d].upper);
    let (first, end) = (grid::bound(builder, lower), grid::bound(builder, upper));
    let point: Vec<Val> = (tile.parts.dims.iter())
        .map(|dim| grid::bound(builder, dim.lower))
        .collect();
    let place = place(builder, output, 0, &point);
    let Some(rest) = stream::rest(builder, output.value, &place, LINE) else {
        panic!("'{}' lies where its type says", output.name);
    };
    // What is left of the line that the row begins in.
    let (all, last, width) = (
        builder.index(LINE),
        builder.index(LINE - 1),
        builder.index(width),
    );
    let left = builder.binary(ops::arith::SUBI, all, rest);
    let left = builder.binary(ops::arith::ANDI, left, last);
    let left = builder.binary(ops::arith::DIVUI, left, width);
    let line = builder.binary(ops::arith::ADDI, first, left);
    let line = builder.binary(ops::arith::MINSI, line, end);
    let mut head = tile.clone();
    head.parts.dims[d].upper = bound(line);
    head.most[d] = nest.size(tile_loop);
    let is_some = builder.compare("slt", first, line);
    let mut result = Ok(());
    builder.if_then(is_some, |builder| result = inside(nest, builder, head));
    result?;
    let mut lines = tile.clone();
    lines.parts.dims[d].lower = bound(line);
    nest.each(builder, position, &lines, |nest, builder, _, inner| {
        inside(nest, builder, inner)
    })
}

/// The output whose rows the loop at `position` writes non-temporally, and the bytes of its
/// elements; `None` where its tiles cannot begin with lines, or do anyway.
fn streamed<'t, 'c>(
    nest: &ScheduledNest<'c, '_>,
    position: usize,
    tile: &'t Tile<'c>,
) -> Option<(&'t BufferPart<'c>, i64)> {
    let tile_loop = nest.loops[position];
    let resolved = &nest.of.resolved;
    let is_plain = position + 1 == nest.stop
        && !resolved.asm.has_kernels()
        && tile.combine.iter().all(|combine| *combine == Combine::Cc)
        && tile.deferred.is_none()
        && nest.producers.is_empty()
        && !cyclic::is_in(nest.loops, tile_loop.level.dimension)
        && !stage::copies_from(nest, position)
        && !resolved.copies_for_scalar();
    let d = tile_loop.level.dimension;
    let Dim { step, width, .. } = &tile.parts.dims[d];
    let unit = Bound::Static(1);
    // Rows of a block begin anywhere in their lines, each elsewhere.
    let is_row = (resolved.counts[tile_loop.level.layer + 1..].iter())
        .all(|counts| (0..counts.len()).all(|e| e == d || counts[e] == Count::Known(1)));
    if !is_plain || !is_row || (*step, *width) != (unit, unit) {
        return None;
    }
    let (points, least) = (known(nest.size(tile_loop))?, stream::least(&resolved.asm)?);
    let rows = |output: &'t BufferPart<'c>| {
        let [access] = &output.accesses[..] else {
            return None;
        };
        let (row, outer) = access.split_last()?;
        let form = row.linear(tile.parts.dims.len())?;
        let is_row = form.coefficients[d] == 1 && !outer.iter().any(|e| moves(e, d));
        let ty = output.value.r#type();
        let is_read = tile
            .parts
            .inputs
            .iter()
            .any(|input| input.value == output.value);
        let width = types::buffer_type(ty)?.element.byte_width() as i64;
        let fills = points.checked_mul(width)? % LINE == 0;
        let is_open = !stream::fills_lines(ty, points);
        (is_row && fills && is_open && !is_read && stream::is_large(ty, least))
            .then_some((output, width))
    };
    tile.parts.outputs.iter().find_map(rows)
}

fn moves(expr: &Expr, d: usize) -> bool {
    expr.dims().contains(&d)
}
