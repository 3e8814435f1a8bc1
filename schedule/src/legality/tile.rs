//! A tile that goes through the loops, with the facts about it: its known sizes, its accesses, and
//! the memory it can have.

use super::axes::MemoryAxis;
use super::cyclic;
use super::loops::Loop;
use super::refusal::Subject;
use crate::numbers::Count;
use crate::reach::Reach;
use mdh_algebra::affine::Expr;
use mdh_algebra::computation::{Combine, Computation, Extent};
use mdh_algebra::domain::stride;
use mdh_algebra::scalar::ScalarType;

/// A dimension of a tile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dim {
    /// The first index, where it is that of the whole computation and known.
    pub lower: Extent,
    /// The number of loops that have been opened over it: tiles with the same one start together.
    pub opened: usize,
    pub step: Extent,
    pub width: Extent,
    /// The most points that it has.
    pub most: Extent,
    /// The indices from its first to its last point, where points lie in groups with gaps.
    pub span: Option<Extent>,
}

/// A parallel loop around a tile.
#[derive(Clone, Debug)]
pub(super) struct Core {
    /// The machine's layer.
    pub layer: usize,
    /// The dimension that it cuts,
    pub dim: usize,
    /// as it is before.
    pub whole: Dim,
}

/// A core with memory of its own, around a tile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owner {
    pub layer: usize,
    /// Number of loops around the tile that are around it.
    pub cores: usize,
    /// True if those inside of it go through the same iterations of the loops around the tile.
    pub is_even: bool,
}

/// A staged tile in blocks that are not chosen yet.
#[derive(Clone, Debug)]
pub(super) struct Stored {
    pub axes: Vec<MemoryAxis>,
    /// The tile's dimensions where it was staged.
    pub dims: Vec<Dim>,
}

/// A buffer as a tile accesses it, without the axes that it has for cores.
#[derive(Clone, Debug)]
pub(super) struct Access {
    pub name: String,
    pub element: ScalarType,
    pub rank: usize,
    pub maps: Vec<Vec<Expr>>,
    /// The tuple component of each map, of an output.
    pub components: Vec<usize>,
    /// Number of cores around that have a copy of their own.
    pub private: usize,
    pub stored: Option<Stored>,
}

/// Carry that a tile receives in a dimension.
#[derive(Clone, Copy, Debug)]
pub(super) struct Carry {
    pub dim: usize,
    /// True if it carries something out.
    pub carries_out: bool,
}

/// A tile of a computation.
#[derive(Clone, Debug)]
pub(super) struct Tile {
    pub dims: Vec<Dim>,
    pub combine: Vec<Combine>,
    pub cores: Vec<Core>,
    pub owners: Vec<Owner>,
    pub inputs: Vec<Access>,
    pub outputs: Vec<Access>,
    pub carries: Vec<Carry>,
    /// The dimensions that have been split and carry.
    pub carried: Vec<usize>,
    /// True if it has partial results of the parts of a level that has not been split yet.
    pub is_deferred: bool,
}

impl Tile {
    /// All of a computation.
    pub fn of_computation(of: &Computation) -> Tile {
        let dims = of.dimensions.iter().map(|d| Dim {
            lower: d.lower,
            opened: 0,
            step: d.step,
            width: d.width,
            most: d.count(),
            span: None,
        });
        let access = |buffer: &mdh_algebra::computation::Buffer| Access {
            name: buffer.name.clone(),
            element: buffer.element,
            rank: buffer.shape.len(),
            maps: buffer.accesses.iter().map(|a| a.map.clone()).collect(),
            components: buffer.accesses.iter().map(|a| a.component).collect(),
            private: 0,
            stored: None,
        };
        let carries = of.carries.iter().map(|carry| Carry {
            dim: carry.dimension,
            carries_out: !carry.outgoing.is_empty(),
        });
        Tile {
            dims: dims.collect(),
            combine: of.dimensions.iter().map(|d| d.combine).collect(),
            cores: Vec::new(),
            owners: Vec::new(),
            inputs: of.inputs.iter().map(access).collect(),
            outputs: of.outputs.iter().map(access).collect(),
            carries: carries.collect(),
            carried: Vec::new(),
            is_deferred: false,
        }
    }

    /// The dimensions that it keeps.
    pub fn kept(&self, but: Option<usize>) -> Vec<usize> {
        let dims = 0..self.dims.len();
        dims.filter(|d| !self.combine[*d].is_pw() && Some(*d) != but)
            .collect()
    }

    /// Returns whether it receives something in a prefix-sum, which its parts must not receive again.
    pub fn has_scan_carry(&self) -> bool {
        let mut carries = self.carries.iter();
        carries.any(|carry| self.combine[carry.dim].is_ps())
    }

    /// The results, in memory with an element for each point of some dimensions, of each component.
    pub fn write_slices(&mut self, of: &Computation, dims: &[usize], prefix: &str) {
        let components = of.components.iter().enumerate();
        let slices = components.map(|(n, element)| Access {
            name: format!("{prefix}_{n}"),
            element: *element,
            rank: dims.len(),
            maps: vec![dims.iter().map(|d| Expr::Dim(*d)).collect()],
            components: vec![n],
            private: 0,
            stored: None,
        });
        self.outputs = slices.collect();
    }

    /// The most indices that accesses to a buffer reach, by axis; `None` where they do not move in
    /// step.
    pub fn extent(&self, buffer: &Access) -> Option<Vec<Extent>> {
        (0..buffer.rank)
            .map(|axis| self.extent_of(buffer, axis))
            .collect()
    }

    fn extent_of(&self, buffer: &Access, axis: usize) -> Option<Extent> {
        let reach = Reach::in_step(buffer.maps.iter().map(|map| &map[axis]), self.dims.len())?;
        let mut length = Some(reach.halo()?);
        for (d, coefficient) in reach.terms() {
            let dim = &self.dims[d];
            // One point has no next one, whatever the distance to that is.
            if dim.most == Some(1) {
                continue;
            }
            let stride = match dim.span {
                Some(_) => 1,
                None => stride(dim.step, dim.width)?,
            };
            let more = dim.span.unwrap_or(dim.most);
            let scale = stride.checked_mul(coefficient.abs());
            let more = more.zip(scale);
            let more = more.and_then(|(n, scale)| (n - 1).checked_mul(scale));
            length = length.zip(more).and_then(|(a, b)| a.checked_add(b));
        }
        Some(length)
    }

    /// Returns an upper bound of the indices that its points span in a dimension.
    pub fn span_of(&self, computation: &Computation, d: usize) -> Extent {
        let dim = &self.dims[d];
        if let Some(span) = dim.span {
            return span;
        }
        let axis = &computation.dimensions[d];
        let stride = if axis.is_dense() { Some(1) } else { axis.step };
        dim.most?.checked_mul(stride?)
    }

    /// Opens a loop: its tiles have so many points.
    pub fn cut(&mut self, of: &Subject, (loops, position): (&[Loop], usize)) -> Result<(), Cut> {
        let level = loops[position].level;
        let d = level.dimension;
        let size = of.size(level);
        if cyclic::is_in(loops, d) {
            self.cycle(of, loops, position);
        } else {
            self.dims[d].enter(size)?;
            self.dims[d].most = size;
        }
        self.dims[d].opened += 1;
        self.dims[d].lower = None;
        Ok(())
    }

    fn cycle(&mut self, subject: &Subject, loops: &[Loop], position: usize) {
        let d = loops[position].level.dimension;
        let Some(left) = cyclic::left(loops, d, position) else {
            return;
        };
        let points = |positions: &[usize]| {
            let parts = positions.iter().map(|n| subject.parts(loops[*n]));
            parts.product::<Option<i64>>()
        };
        let axis = &subject.computation.dimensions[d];
        let stride = if axis.is_dense() { Some(1) } else { axis.step };
        let (groups, width) = (points(&left.apart), points(&left.group));
        let dim = &mut self.dims[d];
        dim.most = groups.zip(width).map(|(a, b)| a.saturating_mul(b));
        (dim.step, dim.width, dim.span) = (axis.step, axis.width, None);
        if let Some(last) = left.apart.last() {
            let size = subject.size(loops[*last].level);
            dim.step = size.zip(stride).map(|(a, b)| a.saturating_mul(b));
            dim.width = width;
            let gaps = groups.zip(dim.step).map(|(n, step)| (n - 1) * step);
            dim.span = Some(gaps.zip(width).map(|(a, b)| a + b));
        }
    }
}

/// A level whose parts are no parts of groups: their points, and those of a group.
pub(super) struct Cut {
    pub size: Extent,
    pub width: Extent,
}

impl Dim {
    /// Parts of so many points: where these lie in groups, whole groups or parts of one.
    fn enter(&mut self, size: Extent) -> Result<(), Cut> {
        let is_dense = self.step.is_some() && self.step == self.width;
        if is_dense || self.width == Some(1) {
            return Ok(());
        }
        let is_within = match (size, self.width) {
            (Some(1), _) => true,
            (Some(points), Some(width)) if points > 0 && width % points == 0 => true,
            (Some(points), Some(width)) if width > 0 && points % width == 0 => false,
            (size, width) => return Err(Cut { size, width }),
        };
        if is_within {
            (self.step, self.width) = (Some(1), Some(1));
        }
        Ok(())
    }
}

impl Subject<'_> {
    /// Returns the number of points of a level's part; parts of an empty dimension have a size,
    /// too.
    pub(super) fn size(&self, level: crate::Level) -> Extent {
        let inner = &self.resolved.counts[level.layer + 1..];
        let points = self.computation.dimensions[level.dimension].count();
        let counts = inner.iter().map(|row| match row[level.dimension] {
            Count::Known(count) => Some(count.max(1)),
            count => Some(count.for_points(points)?.max(1)),
        });
        counts.product()
    }

    /// Returns the number of a loop's parts, in each part of the levels around it.
    fn parts(&self, of: Loop) -> Extent {
        let points = self.computation.dimensions[of.level.dimension].count();
        of.count.for_points(points)
    }
}
