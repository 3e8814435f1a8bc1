//! Tiles within the blocks of a staged input's layout.

use mdh_algebra::affine::{Expr, Linear};
use mdh_dialect::ir::{Errors, Val};
use mdh_dialect::ops;
use mdh_dialect::parts::Bound;

use super::layout::{Counts, MemoryAxis};
use super::nest::{ScheduledNest, Tile, bound, lower};
use crate::support::builder::{Builder, known};

/// Chooses the block of each blocked input that a tile lies within.
pub fn choose_blocks<'c>(
    nest: &ScheduledNest<'c, '_>,
    builder: &mut Builder<'c>,
    position: usize,
    tile: &mut Tile<'c>,
) -> Result<(), Errors> {
    (0..tile.parts.inputs.len()).try_for_each(|n| choose_block(nest, builder, position, tile, n))
}

/// Chooses the block of an input that a tile lies within, if it is blocked.
pub fn choose_block<'c>(
    nest: &ScheduledNest<'c, '_>,
    builder: &mut Builder<'c>,
    position: usize,
    tile: &mut Tile<'c>,
    n: usize,
) -> Result<(), Errors> {
    let Some(stored) = tile.stored[n].take() else {
        return Ok(());
    };
    let mut input = tile.parts.inputs[n].clone();
    let cores = input.origin.clone();
    let mut access: Vec<Expr> = cores.iter().map(|_| Expr::Const(0)).collect();
    let mut origin = cores;
    for (axis, from) in stored.axes.iter().zip(&stored.from) {
        let expr = &stored.access[axis.of];
        let first = stored.first[axis.of];
        let (index, start) = match &axis.counts {
            Counts::All => (expr.clone(), bound(first)),
            Counts::Within(size) => ((expr.clone() + -from).modulo(*size), Bound::Static(0)),
            counts @ (Counts::Blocks(size)
            | Counts::Inside(size)
            | Counts::Groups { block: size, .. }) => {
                let block = Block {
                    name: &input.name,
                    first,
                    size: *size,
                    index: expr,
                };
                let offset = block.offset_of(nest, builder, position, tile)?;
                block.access(builder, offset, counts, *from)
            }
        };
        access.push(index);
        origin.push(start);
    }
    input.accesses = vec![access];
    input.origin = origin;
    tile.parts.inputs[n] = input;
    Ok(())
}

/// Blocks along an axis of a staged tile.
struct Block<'c, 'a> {
    /// The input's name.
    name: &'a str,
    /// First index of the staged tile.
    first: Val<'c>,
    /// The indices of a block.
    size: i64,
    /// The index along the axis that is accessed.
    index: &'a Expr,
}

impl<'c> Block<'c, '_> {
    /// The index along an axis of memory and its origin, for a tile at an offset from the start of the staged one;
    /// groups are counted from an index on.
    fn access(
        &self,
        builder: &mut Builder<'c>,
        offset: Val<'c>,
        counts: &Counts,
        from: i64,
    ) -> (Expr, Bound<'c>) {
        let size = builder.index(self.size);
        let number = builder.binary(ops::arith::DIVUI, offset, size);
        if matches!(counts, Counts::Blocks(_)) {
            let zero = builder.index(0);
            let start = builder.binary(ops::arith::SUBI, zero, number);
            return (Expr::Const(0), bound(start));
        }
        let skipped = builder.binary(ops::arith::MULI, number, size);
        let start = builder.binary(ops::arith::ADDI, self.first, skipped);
        let Counts::Groups { size, .. } = counts else {
            return (self.index.clone(), bound(start));
        };
        let group = (self.index.clone() + -from).floor_div(*size);
        let (from, size) = (builder.index(from), builder.index(*size));
        let distance = builder.binary(ops::arith::SUBI, start, from);
        let start = builder.binary(ops::arith::FLOORDIVSI, distance, size);
        (group, bound(start))
    }

    /// Returns the distance of a tile from the start of the staged one: it must not leave its block.
    fn offset_of(
        &self,
        nest: &ScheduledNest<'c, '_>,
        builder: &mut Builder<'c>,
        position: usize,
        tile: &Tile<'c>,
    ) -> Result<Val<'c>, Errors> {
        let form = self.index.linear(tile.parts.dims.len());
        let moved: Vec<(usize, i64)> = form.iter().flat_map(Linear::terms).collect();
        let (name, size) = (self.name, self.size);
        let refuse = |found: String| {
            let level = match position < nest.loops.len() {
                true => format!("the tiles of {}", nest.level_name(position)),
                false => nest.level_name(position),
            };
            vec![format!(
                "has a schedule that stores '{name}' in blocks of {size}, but {level} read {found} of \
                 them: expected a tile size that divides the block's"
            )]
        };
        let (Some(form), [] | [(_, 1)]) = (form, &moved[..]) else {
            return Err(refuse(format!("several ({} dimensions)", moved.len())));
        };
        let mut start = builder.index(form.constant);
        let mut points = Some(1);
        if let Some((d, _)) = moved.first() {
            let first = lower(builder, tile, *d);
            start = builder.binary(ops::arith::ADDI, first, start);
            // In indices: a strided domain has gaps between points.
            points = known(nest.span_of(tile, *d));
        }
        let offset = builder.binary(ops::arith::SUBI, start, self.first);
        // A tile that is the whole staged region starts where its only block does.
        let divides = |points: i64| points > 0 && size % points == 0;
        let is_whole = |points: i64| points <= size && known(offset) == Some(0);
        if points.is_none_or(|points| !divides(points) && !is_whole(points)) {
            let amount = points.map_or("a dynamic number".into(), |n| n.to_string());
            return Err(refuse(amount));
        }
        Ok(offset)
    }
}

/// The index from which the groups of each axis are counted: tiles must start where groups do.
pub fn group_starts(
    nest: &ScheduledNest,
    position: usize,
    axes: &[MemoryAxis],
    access: &[Expr],
) -> Result<Vec<i64>, String> {
    let start = |axis: &MemoryAxis| {
        let (Counts::Groups { size, .. } | Counts::Within(size)) = axis.counts else {
            return Ok(0);
        };
        let form = access[axis.of].linear(nest.of.parts.dims.len());
        let form = form.ok_or("expected a linear access to what is stored in groups")?;
        let moved: Vec<(usize, i64)> = form.terms().collect();
        let d = match moved[..] {
            [] => return Ok(form.constant),
            [(d, 1)] => d,
            _ => return Err("expected groups along one dimension, from index to index".into()),
        };
        let dim = &nest.of.parts.dims[d];
        let lower = dim
            .lower
            .known()
            .filter(|_| dim.width.known() == dim.step.known());
        let lower = lower.ok_or("expected groups from a known index on, without gaps")?;
        for of in nest.loops[..position]
            .iter()
            .filter(|of| of.level.dimension == d)
        {
            let points = nest.of.known_points_of(of.level);
            if points.is_none_or(|points| points % size != 0) {
                let amount = points.map_or("a dynamic number of".into(), |n| n.to_string());
                return Err(format!(
                    "its tiles have {amount} points, expected a multiple of the {size} of a group"
                ));
            }
        }
        Ok(lower + form.constant)
    };
    axes.iter().map(start).collect()
}
