//! The loops of one computation as data: the nest, the tile that is reached in it, and their cores,
//! memory and producers.

use mdh_dialect::ops;
use std::cell::Cell;

use mdh_algebra::affine::Expr;
use mdh_algebra::computation::{Combine, Computation};
use mdh_dialect::ir::Val;
use mdh_dialect::parts::{Bound, Dim, Parts};
use mdh_schedule::Count;
use mdh_schedule::legality::{MemoryAxis, is_cyclic};
use mdh_schedule::reach::Need;

use crate::llvm::lower_to_loops::grid::Grid;
use crate::support::buffers::value;
use crate::support::builder::{Builder, known};
use crate::support::conditions::Conditions;
use crate::support::scheduled::{Deferred, Loop, Scheduled};

/// Everything about a scheduled loop nest that does not change from loop to loop.
pub struct ScheduledNest<'c, 'p> {
    /// The computation.
    pub of: &'p Scheduled<'c>,
    /// Its loops.
    pub loops: &'p [Loop],
    /// Position of its leaf.
    pub leaf: usize,
    /// The loops before this one are emitted, those from it on are left to the tiles.
    pub stop: usize,
    /// The loop whose parts are combined after an outer one (R1).
    pub deferred: Option<Deferred>,
    /// Before all loops: where buffers are allocated.
    pub outside: Builder<'c>,
    /// Buffers allocated there, to be freed after all loops.
    pub buffers: Cell<Vec<Val<'c>>>,
    /// The computations inside of its loops.
    pub producers: &'p [Producer<'c>],
    /// Conditions on indices that its points contribute under.
    pub conditions: Conditions,
}

/// A tile: the part of the computation that one iteration of the loops around it does.
#[derive(Clone)]
pub struct Tile<'c> {
    /// The computation with the tile's bounds.
    pub parts: Parts<'c>,
    /// Combine operator of each dimension here.
    pub combine: Vec<Combine>,
    /// The most points it has in each dimension, as values from before all loops.
    pub most: Vec<Val<'c>>,
    /// The indices from its first to its last point at most, in dimensions whose points lie in groups
    /// with gaps: as values from before all loops.
    pub spans: Vec<Option<Val<'c>>>,
    /// The parallel loops around it.
    pub cores: Vec<Core<'c>>,
    /// Of a machine whose cores have memory of their own: the cores around it, outermost first.
    pub owners: Vec<Owner<'c>>,
    /// The numbers of the parts of loops that have been opened in an order of their own.
    pub numbers: Vec<(usize, Val<'c>)>,
    /// Condition that the parts of those that are open are there, where others follow directly.
    pub is_there: Option<Val<'c>>,
    /// For each input, how many of the cores around have a copy of their own.
    pub private: Vec<usize>,
    /// Inputs in blocked layouts, whose block is chosen once the tile lies within one.
    pub stored: Vec<Option<Stored<'c>>>,
    /// The dimensions that have been split and carry, in this order.
    pub carried: Vec<usize>,
    /// Partial results of the parts of a level that has not been split yet.
    pub deferred: Option<Slices<'c>>,
    /// Results of producers for a tile around it.
    pub fused: Vec<Temporary<'c>>,
    /// Tiles of inputs that are prefetched.
    pub arrived: Vec<Arrived<'c>>,
    /// True if all of its points meet the conditions.
    pub meets_conditions: bool,
}

impl<'c> Tile<'c> {
    /// The tile of all points of a computation, without their numbers ([`Tile::most`]).
    pub fn whole(of: &Scheduled<'c>) -> Tile<'c> {
        let dimensions = of.computation.dimensions.iter();
        Tile {
            parts: of.parts.clone(),
            combine: dimensions.map(|dimension| dimension.combine).collect(),
            most: Vec::new(),
            spans: vec![None; of.parts.dims.len()],
            cores: Vec::new(),
            owners: Vec::new(),
            numbers: Vec::new(),
            is_there: None,
            private: vec![0; of.parts.inputs.len()],
            stored: of.parts.inputs.iter().map(|_| None).collect(),
            carried: Vec::new(),
            deferred: None,
            fused: Vec::new(),
            arrived: Vec::new(),
            meets_conditions: false,
        }
    }

    /// Returns whether the loop at a position has been opened in an order of its own.
    pub fn has_order_at(&self, position: usize) -> bool {
        self.numbers.iter().any(|(at, _)| *at == position)
    }
}

impl<'c> ScheduledNest<'c, '_> {
    /// Returns the number of points of a loop's part, in its dimension: from before all loops.
    pub fn size(&self, of: Loop) -> Val<'c> {
        let mut builder = self.outside;
        let (resolved, dimension) = (&self.of.resolved, of.level.dimension);
        let mut size = builder.index(1);
        for layer in of.level.layer + 1..resolved.layers.len() {
            // Parts of an empty dimension have a size, too: loops step by it.
            let count = match resolved.counts[layer][dimension] {
                Count::Known(count) => builder.index(count.max(1)),
                Count::Dynamic { divisor } => {
                    let points = Grid::new(&mut builder, &self.of.parts.dims[dimension]).count;
                    let (divisor, one) = (builder.index(divisor), builder.index(1));
                    let count = ceil_div(&mut builder, points, divisor);
                    builder.binary(ops::arith::MAXSI, count, one)
                }
            };
            size = builder.binary(ops::arith::MULI, size, count);
        }
        size
    }

    /// Returns the number of a level's parts in each part of the levels around it: from before all
    /// loops.
    pub fn parts(&self, of: Loop) -> Val<'c> {
        let mut builder = self.outside;
        match of.count {
            Count::Known(count) => builder.index(count),
            Count::Dynamic { divisor } => {
                let dim = &self.of.parts.dims[of.level.dimension];
                let points = Grid::new(&mut builder, dim).count;
                let divisor = builder.index(divisor);
                ceil_div(&mut builder, points, divisor)
            }
        }
    }

    /// Returns the number of points of a dimension of which tiles start at multiples of their size:
    /// those of a computation that is computed where another one needs it start and end anywhere.
    pub fn points(&self, d: usize) -> Option<i64> {
        let is_alone = self.of.schedule.compute_at.is_none() && !self.of.is_of_tiles;
        let dimension = self.of.computation.dimensions.get(d);
        dimension
            .filter(|_| is_alone)
            .and_then(|dimension| dimension.count())
    }

    /// Returns an upper bound of the number of a loop's parts: from before all loops.
    pub fn count(&self, of: Loop, tile: &Tile<'c>) -> Val<'c> {
        let mut builder = self.outside;
        let d = of.level.dimension;
        let points = match is_cyclic(self.loops, d) {
            true => Grid::new(&mut builder, &self.of.parts.dims[d]).count,
            false => tile.most[d],
        };
        let size = self.size(of);
        let (count, most) = (ceil_div(&mut builder, points, size), self.parts(of));
        builder.binary(ops::arith::MINSI, count, most)
    }

    /// Returns the name of the tile of the loop at a position, or of the points inside of all
    /// loops.
    pub fn level_name(&self, position: usize) -> String {
        match self.loops.get(position) {
            Some(of) => format!("'{}'", self.of.resolved.name(of.level)),
            None => "its points".into(),
        }
    }

    /// A loop's name: its level, and the level that it is given to if that is another layer.
    pub fn name(&self, of: Loop) -> String {
        let name = self.of.resolved.name(of.level);
        match self.of.place(of.level) {
            Some(place) => format!("{name} on {place}"),
            None => name.to_string(),
        }
    }

    /// The layer of the machine whose cores the parts of a loop are given to.
    pub fn core_layer(&self, of: Loop) -> usize {
        self.of.resolved.decompose.assign[of.level.layer][of.level.dimension].layer
    }

    /// Returns an upper bound of the indices that the points of a tile span in a dimension: from
    /// before all loops.
    pub fn span_of(&self, tile: &Tile<'c>, d: usize) -> Val<'c> {
        if let Some(span) = tile.spans[d] {
            return span;
        }
        let mut builder = self.outside;
        let grid = Grid::new(&mut builder, &self.of.parts.dims[d]);
        let stride = grid.stride(&mut builder).unwrap_or(grid.step);
        if known(stride) == Some(1) {
            return tile.most[d];
        }
        builder.binary(ops::arith::MULI, tile.most[d], stride)
    }
}

/// A computation whose tiles are computed where their consumer needs them.
pub struct Producer<'c> {
    /// The computation with its schedule for a tile.
    pub of: Scheduled<'c>,
    /// The same with all of its points.
    pub whole: Computation,
    /// Its own loops, where those of a leaf start, and what is deferred.
    pub loops: Vec<Loop>,
    /// Position of its leaf.
    pub leaf: usize,
    /// Its deferred reduction.
    pub deferred: Option<Deferred>,
    /// The consumer's loop in which it is computed.
    pub at: usize,
    /// The points that a tile needs.
    pub needs: Vec<Need>,
    /// Clipping of each dimension in which a tile's needs might lie outside of its domain.
    pub clips: Vec<Clip>,
    /// The memory of each output.
    pub homes: Vec<Home>,
    /// The computations inside of its own loops.
    pub producers: Vec<Producer<'c>>,
}

/// Clipping of a tile's needs in a dimension to the points that there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clip {
    /// None: all points are there.
    Inside,
    /// At both ends: some points may not be there.
    AtEnds,
}

/// Memory of a producer's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// Memory for one tile: nobody else reads it.
    Tile,
    /// The output's own memory, part by part.
    Whole,
}

/// Memory for a tile of a producer's result.
#[derive(Clone)]
pub struct Temporary<'c> {
    /// The buffer that it stands for.
    pub of: Val<'c>,
    pub memory: Val<'c>,
    /// First index of each core's memory.
    pub cores: Vec<Bound<'c>>,
    /// The first index of the tile in each axis of the buffer.
    pub first: Vec<Bound<'c>>,
    /// Padding of the memory to whole lines.
    pub padding: LinePadding,
}

/// Axis of memory that is padded to whole lines, so that cores write different ones.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum LinePadding {
    OwnAxis,
    LastAxis,
}

/// A staged tile whose blocks are not chosen yet.
#[derive(Clone)]
pub struct Stored<'c> {
    /// The axes of memory.
    pub axes: Vec<MemoryAxis>,
    /// The index from which the groups of each of them are counted, where it counts groups.
    pub from: Vec<i64>,
    /// The first index of the tile in each of its axes.
    pub first: Vec<Val<'c>>,
    /// The access that the tile was made for.
    pub access: Vec<Expr>,
}

/// A core with memory of its own, around a tile.
#[derive(Clone)]
pub struct Owner<'c> {
    /// Its layer.
    pub layer: usize,
    /// Position where its memory is allocated.
    pub start: Builder<'c>,
    /// Number of loops around the tile that are around it, its own among them.
    pub cores: usize,
    /// True if those inside of it go through the same iterations of the loops around the tile.
    pub is_even: bool,
}

/// Buffers for a slice of the tuple, one for each component.
#[derive(Clone)]
pub struct Slices<'c> {
    pub values: Vec<Val<'c>>,
    /// The dimensions that it holds.
    pub dims: Vec<usize>,
    /// First index of each core's slices, of each component, then the first point of each
    /// dimension.
    pub cores: Vec<Vec<Bound<'c>>>,
    pub origin: Vec<Bound<'c>>,
    /// True if each thread has slices of its own, whatever part it does.
    pub is_own: bool,
}

/// A tile of an input that was prefetched before the iteration that needs it.
#[derive(Clone)]
pub struct Arrived<'c> {
    /// Number of the input.
    pub input: usize,
    /// Its memory, among that of others.
    pub memory: Val<'c>,
    /// whose axes in front of the tile's have these origins.
    pub outer: Vec<Bound<'c>>,
    /// Number of cores around that have one of their own.
    pub private: usize,
}

/// A parallel loop around a tile.
#[derive(Clone)]
pub struct Core<'c> {
    /// The number of the part.
    pub number: Val<'c>,
    /// Number of parts: from before all loops.
    pub count: Val<'c>,
    /// The layer of the machine that has them.
    pub layer: usize,
    /// The dimension that is cut.
    pub dim: usize,
    /// That dimension before it is cut, its most points and what they span.
    pub whole: (Dim<'c>, Val<'c>, Option<Val<'c>>),
}

/// Memory that tiles use, with an axis for each of some cores before its own.
pub struct Memory<'c> {
    /// The buffer.
    pub value: Val<'c>,
    /// The cores that have a part of it.
    pub cores: Vec<Core<'c>>,
    /// Number of cores around a tile that have one of their own.
    pub private: usize,
    /// Behind where it is taken.
    pub place: Builder<'c>,
}

impl<'c> Memory<'c> {
    /// For each axis of a core, the origin with which index 0 is the core's own.
    pub fn origins(&self, builder: &mut Builder<'c>) -> Vec<Bound<'c>> {
        let zero = builder.index(0);
        let levels = self.cores.iter();
        levels
            .map(|core| bound(builder.binary(ops::arith::SUBI, zero, core.number)))
            .collect()
    }
}

/// `ceil(points / size)`, of non-negative numbers.
pub fn ceil_div<'c>(builder: &mut Builder<'c>, points: Val<'c>, size: Val<'c>) -> Val<'c> {
    if let (Some(points), Some(size)) = (known(points), known(size).filter(|size| *size > 0)) {
        return builder.index(points / size + i64::from(points % size != 0));
    }
    let ty = builder.index_type();
    builder.op(ops::arith::CEILDIVSI, &[points, size], &[ty], &[])[0]
}

/// A value as a bound.
pub fn bound(value: Val<'_>) -> Bound<'_> {
    match known(value) {
        Some(number) => Bound::Static(number),
        None => Bound::Dynamic(value),
    }
}

/// The first index of a tile in a dimension.
pub fn lower<'c>(builder: &mut Builder<'c>, tile: &Tile<'c>, d: usize) -> Val<'c> {
    value(builder, tile.parts.dims[d].lower)
}
