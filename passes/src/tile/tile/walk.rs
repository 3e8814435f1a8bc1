//! The walk through the loops of one computation, which emits them.

use mdh_algebra::computation::Combine;
use mdh_dialect::ir::{Errors, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::parts::{Bound, Dim, Threads};
use mdh_dialect::{schedule, write};
use melior::ir::Type;

use super::align;
use super::blocks;
use super::cores;
use super::cyclic::Cyclic;
use super::empty::{emptiness, neutral};
use super::fused;
use super::nest::{Core, Memory, ScheduledNest, Tile, bound};
use super::order::Order;
use super::owner;
use super::pipeline::{self, Iterations};
use super::residual::{self, residual};
use super::steps::{Part, Steps};
use super::{narrow, promote, results, scalar, scan, split, stage};
use crate::llvm::lower_to_loops::grid::Grid;
use crate::support::buffers::{self};
use crate::support::builder::{Builder, known};
use crate::support::kernels;
use crate::support::names;
use crate::support::region;
use crate::support::scheduled::Loop;

/// The parts of a loop's level in a tile.
pub struct LevelParts<'t, 'c> {
    /// Position of the loop.
    pub position: usize,
    /// The loop.
    pub tile_loop: Loop,
    /// The tile.
    pub tile: &'t Tile<'c>,
    /// Points of a part, unless it ends with the tile.
    size: Val<'c>,
    /// The most parts.
    most: Val<'c>,
    /// The bounds of the loop.
    pub grid: Grid<'c>,
    /// The step from one part to the next.
    pub steps: Steps<'c>,
    cyclic: Option<Cyclic<'c>>,
    /// True if none ends with the tile.
    is_whole: bool,
}

impl<'c> LevelParts<'_, 'c> {
    /// Returns the tile of a part.
    fn tile_of(
        &self,
        nest: &ScheduledNest<'c, '_>,
        builder: &mut Builder<'c>,
        part: Part<'c>,
    ) -> Tile<'c> {
        let d = self.tile_loop.level.dimension;
        let mut inner = self.tile.clone();
        if let Some(cyclic) = &self.cyclic {
            cyclic.enter(nest, builder, &mut inner, part.index);
            return inner;
        }
        let end = builder.binary(ops::arith::ADDI, part.index, self.steps.reach(self.size));
        let end = match self.is_whole {
            true => end,
            false => builder.binary(ops::arith::MINSI, end, self.grid.upper),
        };
        inner.parts.dims[d] = Dim {
            lower: bound(part.index),
            upper: bound(end),
            ..self.steps.tile(&self.tile.parts.dims[d])
        };
        inner.most[d] = self.size;
        inner
    }
}

impl<'c> ScheduledNest<'c, '_> {
    /// Emits the loops, and frees the memory that they allocated.
    pub fn emit(&mut self, builder: &mut Builder<'c>) -> Result<(), Errors> {
        let dims = self.of.parts.dims.iter();
        let most = dims.map(|dim| Grid::new(builder, dim).count).collect();
        // Buffers are allocated here: after what the sizes are made of, before the loops.
        let mark = builder.marker();
        self.outside = Builder::before(mark);
        let tile = Tile {
            most,
            owners: owner::around(self, self.outside).into_iter().collect(),
            ..Tile::whole(self.of)
        };
        let result = match owner::needs_block(self) {
            true => owner::in_one_block(self, builder, tile),
            false => self.descend(builder, 0, tile),
        };
        region::erase(mark);
        for buffer in self.buffers.take() {
            builder.op(ops::memref::DEALLOC, &[buffer], &[], &[]);
        }
        result
    }

    /// The loops for a tile of another nest.
    pub fn emit_tile(&self, builder: &mut Builder<'c>, tile: Tile<'c>) -> Result<(), Errors> {
        let op = self.of.op;
        emptiness(builder, self.of, &self.loops[..self.stop]).guard(
            builder,
            |builder| neutral(builder, op, &tile.parts),
            |builder| self.descend(builder, 0, tile.clone()),
        )
    }

    /// The loops from `position` on.
    pub fn descend(
        &self,
        builder: &mut Builder<'c>,
        position: usize,
        mut tile: Tile<'c>,
    ) -> Result<(), Errors> {
        fused::produce(self, builder, position, &mut tile)?;
        if position < self.loops.len() {
            stage::inputs(self, builder, position, &mut tile)?;
        }
        let mut staged = match self.loops.get(position) {
            Some(_) => results::stage(self, builder, position, &mut tile)?,
            None => Vec::new(),
        };
        if position == self.leaf {
            staged.extend(scalar::stage(self, builder, position, &mut tile)?);
        }
        if let Some(deferred) = self
            .deferred
            .filter(|deferred| deferred.outside == position)
        {
            split::combine_deferred(self, builder, position, deferred, tile.clone())?;
        } else {
            self.split(builder, position, tile.clone())?;
        }
        results::join(self, builder, &tile, staged);
        Ok(())
    }

    /// The loop at `position`, or the body inside of all loops.
    pub fn split(
        &self,
        builder: &mut Builder<'c>,
        position: usize,
        tile: Tile<'c>,
    ) -> Result<(), Errors> {
        if position == self.stop {
            return self.compute(builder, position, tile);
        }
        if let Some(order) = Order::from(self, position, &tile) {
            return order.each(self, builder, position, tile);
        }
        let tile_loop = self.loops[position];
        if self
            .deferred
            .is_some_and(|deferred| deferred.inside == position)
            && tile.deferred.is_some()
        {
            return split::deferred_parts(self, builder, position, tile);
        }
        match (
            tile.combine[tile_loop.level.dimension],
            tile_loop.is_parallel,
        ) {
            (Combine::Cc, false) => align::each(self, builder, position, &tile),
            (Combine::Cc, true) => {
                self.each(builder, position, &tile, |nest, builder, _, inner| {
                    nest.descend(builder, position + 1, inner)
                })
            }
            (Combine::Pw(_), false) => split::sum(self, builder, position, tile),
            (Combine::Ps(_), false) => scan::scan(self, builder, position, tile),
            (Combine::Pw(_), true) => split::partial_sums(self, builder, position, tile),
            (Combine::Ps(_), true) => scan::partial_scans(self, builder, position, tile),
        }
    }

    /// The computation of a tile.
    fn compute(
        &self,
        builder: &mut Builder<'c>,
        position: usize,
        mut tile: Tile<'c>,
    ) -> Result<(), Errors> {
        blocks::choose_blocks(self, builder, position, &mut tile)?;
        narrow::leaf(self, builder, position, tile)
    }

    /// The computation of a tile, or of a part of one.
    pub fn leaf_tile(&self, builder: &mut Builder<'c>, position: usize, mut tile: Tile<'c>) {
        let new = self.write(builder, &mut tile);
        if tile.meets_conditions {
            self.conditions.assume(new);
        }
        if position < self.loops.len() {
            schedule::set(
                new,
                Some(&residual(self.of, self.loops, position, &tile.parts)),
            );
            kernels::matrix::mark(self.of, self.loops, new);
        }
    }

    fn write(&self, builder: &mut Builder<'c>, tile: &mut Tile<'c>) -> Op<'c> {
        names::make_unique(&mut tile.parts);
        let op = self.of.op;
        let whole = &self.of.parts.threads;
        tile.parts.threads = Threads {
            cooperative: whole.cooperative && tile.cores.is_empty(),
            asynchronous: whole.asynchronous,
            ..Threads::default()
        };
        let (scalar, combiner) = (promote::scalar(op, &tile.parts), region::copy(op, 1));
        // Proved of all of its points, it holds for these, whose bounds show less.
        tile.parts.in_place = tile.parts.reads_what_it_writes();
        let (context, location) = (builder.context, builder.location);
        let new = write::compute(context, location, &tile.parts, scalar, combiner);
        builder.insert(new)
    }

    /// The computation of a tile as the model would do it on one core; `false` if the loops from
    /// `position` on have to be kept, or the model has no answer.
    pub fn compute_freely(
        &self,
        builder: &mut Builder<'c>,
        position: usize,
        tile: &Tile<'c>,
    ) -> bool {
        let resolved = &self.of.resolved;
        let loops = &self.loops[position.min(self.stop)..self.stop];
        let is_bound = resolved.asm.has_kernels()
            || loops.iter().any(|of| of.is_parallel)
            || self.producers.iter().any(|p| p.at + 1 >= position)
            || tile.stored.iter().any(Option::is_some)
            || stage::copies_from(self, position)
            || resolved.copies_for_scalar();
        if is_bound {
            return false;
        }
        let new = self.write(builder, &mut tile.clone());
        let choice = residual::choice(self.of, new);
        match &choice {
            Some(schedule) => schedule::set(new, Some(schedule)),
            None => region::erase(new),
        }
        choice.is_some()
    }

    /// A loop over the parts of a level; the body gets the number of the part, and its tile.
    pub fn each(
        &self,
        builder: &mut Builder<'c>,
        position: usize,
        tile: &Tile<'c>,
        body: impl FnOnce(&Self, &mut Builder<'c>, Val<'c>, Tile<'c>) -> Result<(), Errors>,
    ) -> Result<(), Errors> {
        let parts = self.level_parts(builder, position, tile)?;
        if let Some((_, number)) = tile.numbers.iter().find(|(at, _)| *at == position) {
            return self.opened(builder, &parts, *number, body);
        }
        if !parts.tile_loop.is_parallel {
            return self.in_turn(builder, &parts, body);
        }
        let mut result = Ok(());
        let place = (&parts.grid, &parts.steps, parts.size);
        cores::each(
            self,
            builder,
            parts.tile_loop,
            tile,
            place,
            |builder, part| {
                result = self.part(builder, &parts, part, None, body);
            },
        );
        result
    }

    /// Returns the parts of the level of the loop at a position.
    fn level_parts<'t>(
        &self,
        builder: &mut Builder<'c>,
        position: usize,
        tile: &'t Tile<'c>,
    ) -> Result<LevelParts<'t, 'c>, Errors> {
        let tile_loop = self.loops[position];
        let d = tile_loop.level.dimension;
        let (size, most) = (self.size(tile_loop), self.count(tile_loop, tile));
        let grid = Grid::new(builder, &tile.parts.dims[d]);
        let cyclic = Cyclic::new(self, position);
        let (grid, steps) = match &cyclic {
            Some(cyclic) => cyclic.steps(self, builder, position, grid),
            None => {
                let steps = self.steps(builder, tile_loop, &grid, size)?;
                (grid, steps)
            }
        };
        // Tiles start at multiples of their size: all are full if they fill the dimension, wherever
        // those around them end.
        let points_of_all = self.points(d);
        let fills = |points: i64, size: i64| size > 0 && points % size == 0;
        let is_whole = match (known(grid.count), known(size)) {
            (_, Some(1)) => true,
            (Some(points), Some(size)) => fills(points, size),
            (None, Some(size)) => points_of_all.is_some_and(|points| fills(points, size)),
            _ => false,
        };
        let mut parts = LevelParts {
            position,
            tile_loop,
            tile,
            size,
            most,
            grid,
            steps,
            cyclic,
            is_whole,
        };
        parts.grid = narrow::iterations(self, builder, &parts);
        Ok(parts)
    }

    /// A loop over parts one after the other.
    fn in_turn(
        &self,
        builder: &mut Builder<'c>,
        parts: &LevelParts<'_, 'c>,
        body: impl FnOnce(&Self, &mut Builder<'c>, Val<'c>, Tile<'c>) -> Result<(), Errors>,
    ) -> Result<(), Errors> {
        let (grid, steps, size) = (&parts.grid, &parts.steps, parts.size);
        let name = self.name(parts.tile_loop);
        let iterations = Iterations {
            bounds: steps.bounds(builder, grid, size),
            name: &name,
            tile: &|builder, at| {
                let part = steps.at(builder, grid, size, at);
                let mut inner = parts.tile_of(self, builder, part);
                owner::step(&mut inner, parts.tile_loop.level.dimension);
                (part.number, inner)
            },
        };
        let body = |builder: &mut Builder<'c>, number: Val<'c>, inner: Tile<'c>| {
            body(self, builder, number, inner)
        };
        pipeline::each(self, builder, parts.position + 1, &iterations, body)
    }

    /// The part whose number an order of its own gives, if it is there.
    fn opened(
        &self,
        builder: &mut Builder<'c>,
        parts: &LevelParts<'_, 'c>,
        number: Val<'c>,
        body: impl FnOnce(&Self, &mut Builder<'c>, Val<'c>, Tile<'c>) -> Result<(), Errors>,
    ) -> Result<(), Errors> {
        let (part, is_there) = parts.steps.part(builder, &parts.grid, parts.size, number);
        let before = parts.tile.is_there.into_iter();
        let is_there = before.fold(is_there, |after, before| {
            builder.binary(ops::arith::ANDI, before, after)
        });
        // One branch for all of them, so that blocks inside are inside of nothing else.
        if self.opens_next(parts.position, parts.tile) {
            return self.part(builder, parts, part, Some(is_there), body);
        }
        let mut result = Ok(());
        builder.if_then(is_there, |builder| {
            result = self.part(builder, parts, part, None, body);
        });
        result
    }

    /// The body for a part, on the core whose it is if the loop is parallel. Inside, it is still to be asked
    /// whether `is_there` holds.
    fn part(
        &self,
        builder: &mut Builder<'c>,
        parts: &LevelParts<'_, 'c>,
        part: Part<'c>,
        is_there: Option<Val<'c>>,
        body: impl FnOnce(&Self, &mut Builder<'c>, Val<'c>, Tile<'c>) -> Result<(), Errors>,
    ) -> Result<(), Errors> {
        let (tile_loop, tile) = (parts.tile_loop, parts.tile);
        let d = tile_loop.level.dimension;
        let mut inner = parts.tile_of(self, builder, part);
        inner.is_there = is_there;
        if !tile_loop.is_parallel {
            owner::step(&mut inner, d);
            return body(self, builder, part.number, inner);
        }
        inner.cores.push(Core {
            number: part.number,
            count: parts.most,
            layer: self.core_layer(tile_loop),
            dim: d,
            whole: (tile.parts.dims[d].clone(), tile.most[d], tile.spans[d]),
        });
        let start = owner::enter(self, builder, tile_loop, &mut inner);
        let result = body(self, builder, part.number, inner);
        start.into_iter().for_each(region::erase);
        result
    }

    /// Returns whether the loop inside of one that is opened in an order of its own is, too, with nothing between
    /// them.
    fn opens_next(&self, position: usize, tile: &Tile) -> bool {
        let next = position + 1;
        let mut inputs = 0..tile.parts.inputs.len();
        tile.has_order_at(next)
            && !self
                .producers
                .iter()
                .any(|producer| producer.at == position)
            && !inputs.any(|n| stage::moves_to(self, n, next).is_some())
    }

    /// Returns the steps between the parts of a level.
    fn steps(
        &self,
        builder: &mut Builder<'c>,
        of: Loop,
        grid: &Grid<'c>,
        size: Val<'c>,
    ) -> Result<Steps<'c>, Errors> {
        Steps::new(builder, grid, size).ok_or_else(|| {
            let number = |v: Option<i64>| v.map_or("a dynamic number of".into(), |n| n.to_string());
            vec![format!(
                "has a schedule whose level '{}' has parts of {} points in a dimension of width \
                 {}: expected a multiple of the width, or a divisor",
                self.of.resolved.name(of.level),
                number(known(size)),
                number(known(grid.width)),
            )]
        })
    }

    /// A buffer of these extents for each core around a tile that has not its own, in a region if
    /// the schedule names one. The extents are values from before all loops.
    pub fn allocate(
        &self,
        tile: &Tile<'c>,
        extents: &[Val<'c>],
        element: Type<'c>,
        region: Option<usize>,
    ) -> Memory<'c> {
        if let Some(memory) = owner::allocate(self, tile, extents, element, region) {
            return memory;
        }
        let mut builder = self.outside;
        let cores = tile.cores.iter().map(|core| core.count);
        let extents: Vec<Bound> = cores.chain(extents.iter().copied()).map(bound).collect();
        let region = region.map(|region| self.of.resolved.asm.layers[region].name());
        let buffer = buffers::in_region(&mut builder, &extents, element, region);
        let mut buffers = self.buffers.take();
        buffers.push(buffer);
        self.buffers.set(buffers);
        Memory {
            value: buffer,
            cores: tile.cores.clone(),
            private: tile.cores.len(),
            place: builder,
        }
    }
}
