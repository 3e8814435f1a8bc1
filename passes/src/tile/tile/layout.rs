//! Layouts of staged tiles, and of memory between computations: the source of the index of each
//! axis of memory. Blocks within blocks are groups: of neighbours that one instruction takes.

use mdh_algebra::affine::Expr;
use mdh_algebra::layout as algebra;
use mdh_dialect::ir::Val;
use mdh_dialect::ops;
use mdh_dialect::parts::{BufferPart, Dim};
use mdh_dialect::{layout, types};
use mdh_schedule::StagedLayout;
pub use mdh_schedule::legality::{
    Counts, MemoryAxis, axes, bricks, elements, is_blocked, own_axes,
};
use melior::ir::Type;

use super::nest::bound;
use crate::support::buffers::{self, value};
use crate::support::builder::Builder;

/// Memory with an element for each point of some of the dimensions `all`, one axis for each in this
/// order, in a region if one is named; the caller frees it.
pub fn memory<'c>(
    builder: &mut Builder<'c>,
    name: &str,
    all: &[Dim<'c>],
    dims: &[usize],
    axes: &[MemoryAxis],
    element: Type<'c>,
    region: Option<&str>,
) -> BufferPart<'c> {
    let (mut extents, mut access, mut origin) = (Vec::new(), Vec::new(), Vec::new());
    for axis in axes {
        let d = dims[axis.of];
        let (lower, upper) = (value(builder, all[d].lower), value(builder, all[d].upper));
        let (length, zero) = (
            builder.binary(ops::arith::SUBI, upper, lower),
            builder.index(0),
        );
        let length = builder.binary(ops::arith::MAXSI, length, zero);
        let unused = builder.index(axis.unused);
        extents.push(bound(builder.binary(ops::arith::ADDI, length, unused)));
        access.push(Expr::Dim(d));
        origin.push(bound(lower));
    }
    let memory = buffers::in_region(builder, &extents, element, region);
    BufferPart::accessed(name, memory, access, origin)
}

/// The same in a layout of the algebra: the memory to be freed, and its view.
pub fn laid_out<'c>(
    builder: &mut Builder<'c>,
    name: &str,
    all: &[Dim<'c>],
    dims: &[usize],
    layout: &StagedLayout,
    element: Type<'c>,
    region: Option<&str>,
) -> Result<(Val<'c>, BufferPart<'c>), String> {
    let size = elements(layout, &extents(all, dims))?;
    let size = bound(builder.index(size));
    let memory = buffers::in_region(builder, &[size], element, region);
    let algebra = layout.algebra().ok_or("expected a layout of the algebra")?;
    let view = view(builder, memory, &[], algebra, element);
    let access = dims.iter().map(|d| Expr::Dim(*d)).collect();
    let origin = dims.iter().map(|d| all[*d].lower).collect();
    Ok((memory, BufferPart::accessed(name, view, access, origin)))
}

/// Returns the number of indices of some of the dimensions `all`, where it is known.
pub fn extents(all: &[Dim], dims: &[usize]) -> Vec<Option<i64>> {
    let extent = |d: &usize| {
        let (lower, upper) = (all[*d].lower.known()?, all[*d].upper.known()?);
        Some((upper - lower).max(0))
    };
    dims.iter().map(extent).collect()
}

/// Memory under the indices of a layout; `outer` are the numbers of tiles along the outer axes.
pub fn view<'c>(
    builder: &mut Builder<'c>,
    memory: Val<'c>,
    outer: &[Option<i64>],
    layout: &algebra::Layout,
    element: Type<'c>,
) -> Val<'c> {
    let outer: Vec<i64> = outer.iter().map(|n| n.unwrap_or(types::DYNAMIC)).collect();
    let ty = layout::view_type(&outer, layout, element);
    let ty = ty.unwrap_or_else(|| panic!("'{layout}' is the layout of a type"));
    builder.op(layout::VIEW, &[memory], &[ty], &[])[0]
}

/// Returns the length of an axis of memory for a tile of these extents.
pub fn extent<'c>(axis: &MemoryAxis, builder: &mut Builder<'c>, tile: &[Val<'c>]) -> Val<'c> {
    let length = match axis.counts {
        Counts::All => tile[axis.of],
        Counts::Inside(size) | Counts::Within(size) => builder.index(size),
        Counts::Groups { block, size } => builder.index(block / size),
        Counts::Blocks(size) => {
            let size = builder.index(size);
            super::nest::ceil_div(builder, tile[axis.of], size)
        }
    };
    let unused = builder.index(axis.unused);
    builder.binary(ops::arith::ADDI, length, unused)
}
