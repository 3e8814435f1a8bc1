//! Motion of a computation's accesses along its dimensions.

use super::facts::{Facts, streaming_threshold};
use crate::asm::facts::LINE;
use mdh_algebra::affine::Linear;
use mdh_algebra::computation::{Buffer, Combine, Computation};
use mdh_algebra::scalar::ScalarType;

/// One access, over all dimensions.
#[derive(Clone, Debug)]
pub struct View {
    /// The buffer's number: outputs come after inputs.
    pub buffer: usize,
    /// Its index functions; `None` if they are not linear.
    pub axes: Option<Vec<Linear>>,
    /// Number of the buffer's axes without the last ones of one element: neighbours along the last of
    /// these are neighbours in memory.
    pub rank: usize,
    /// True if it is written.
    pub is_output: bool,
    /// True if it is the only access to its buffer.
    pub is_alone: bool,
    /// True if reading outside of the buffer gives a value.
    pub is_padded: bool,
    /// Bytes of an element, if vectors of them are laid out as memory is.
    pub bytes: Option<i64>,
    /// True if each row of the buffer fills whole lines of a cache.
    pub fills_lines: bool,
}

/// Rows that are stored non-temporally.
#[derive(Clone, Copy, Debug)]
pub struct StreamedRow {
    /// The dimension along them.
    pub dimension: usize,
    /// Bytes of an element.
    pub bytes: i64,
    /// True if each row begins and ends with a line of a cache.
    pub fills_lines: bool,
}

/// Motion of an access from one point of a dimension to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    /// It stays where it is.
    Still,
    /// It goes to the next element in memory.
    Next,
    /// It goes to the element before.
    Previous,
    /// It moves along the axis of that number by one, and along no other.
    Axis(usize),
    /// It moves in another way.
    Other,
}

/// All accesses, and the sizes of the dimensions.
pub struct Views {
    /// Inputs, then outputs.
    pub all: Vec<View>,
    /// The dimensions' names.
    pub names: Vec<String>,
    /// Number of points of each dimension; `None` if it is known at run time only.
    pub points: Vec<Option<i64>>,
    /// Combine operator of each dimension.
    pub combine: Vec<Combine>,
    /// True for a dimension whose points are next to each other.
    pub is_dense: Vec<bool>,
    /// True for a dimension whose first index is known.
    pub is_anchored: Vec<bool>,
    /// True if what is combined may be combined in any order.
    pub is_commutative: bool,
    /// Bytes of the largest scalar that a lane holds.
    pub widest: i64,
    /// Bytes of the smallest component.
    pub narrowest: i64,
}

/// Assumed value of a size that is not known.
pub const LARGE: i64 = 1 << 12;

impl Views {
    /// The views of a computation.
    pub fn new(computation: &Computation) -> Views {
        let rank = computation.dimensions.len();
        let mut views = Vec::new();
        let buffers = computation.inputs.iter().map(|b| (b, false));
        let buffers = buffers.chain(computation.outputs.iter().map(|b| (b, true)));
        for (n, (buffer, is_output)) in buffers.enumerate() {
            for access in &buffer.accesses {
                let forms: Option<Vec<_>> = access.map.iter().map(|e| e.linear(rank)).collect();
                views.push(View {
                    buffer: n,
                    axes: forms,
                    rank: buffer.rank_without_units(),
                    is_output,
                    is_alone: buffer.accesses.len() == 1,
                    is_padded: is_padded(buffer),
                    bytes: match buffer.element {
                        ScalarType::Index => None,
                        ty => Some(ty.byte_width() as i64),
                    },
                    fills_lines: buffer.fills_lines(LINE),
                });
            }
        }
        // Narrow floats are computed with as f32, in lanes of its width.
        let width = |ty: &ScalarType| match ty {
            ScalarType::F16 | ScalarType::BF16 => 4,
            ty => ty.byte_width().max(1) as i64,
        };
        let bytes = computation.components.iter().map(width);
        let dims = &computation.dimensions;
        Views {
            all: views,
            names: dims.iter().map(|d| d.name.clone()).collect(),
            points: dims.iter().map(|d| d.count()).collect(),
            combine: dims.iter().map(|d| d.combine).collect(),
            is_dense: dims
                .iter()
                .map(|d| d.step.is_some() && (d.step == d.width))
                .collect(),
            is_anchored: dims.iter().map(|d| d.lower.is_some()).collect(),
            is_commutative: (computation.operator()).is_none_or(|op| op.is_commutative()),
            widest: bytes.clone().max().unwrap_or(8),
            narrowest: bytes.min().unwrap_or(8),
        }
    }

    /// Returns the number of a dimension's points, assumed where it is not known.
    pub fn size(&self, d: usize) -> i64 {
        self.points[d].unwrap_or(LARGE)
    }

    /// The dimensions that combine in such a way.
    pub fn dims(&self, wanted: impl Fn(Combine) -> bool) -> Vec<usize> {
        (0..self.combine.len())
            .filter(|d| wanted(self.combine[*d]))
            .collect()
    }

    /// Describes the assumptions about sizes that are not known.
    pub fn assumed(&self) -> Option<String> {
        let is_open =
            |(name, points): (&String, &Option<i64>)| points.is_none().then(|| format!("'{name}'"));
        let open: Vec<String> = (self.names.iter().zip(&self.points))
            .filter_map(is_open)
            .collect();
        let text = format!(
            "sizes that are not known count as {LARGE} points: {}",
            open.join(", ")
        );
        (!open.is_empty()).then_some(text)
    }

    /// Returns the motion of an access in a dimension.
    pub fn motion(&self, view: &View, d: usize) -> Motion {
        let Some(axes) = &view.axes else {
            return Motion::Other;
        };
        let moved: Vec<usize> = (0..axes.len())
            .filter(|a| axes[*a].coefficients[d] != 0)
            .collect();
        match moved[..] {
            [] => Motion::Still,
            [axis] if axes[axis].coefficients[d] == 1 && self.is_dense[d] => {
                if axis + 1 == view.rank {
                    Motion::Next
                } else {
                    Motion::Axis(axis)
                }
            }
            [axis]
                if axes[axis].coefficients[d] == -1
                    && self.is_dense[d]
                    && axis + 1 == view.rank =>
            {
                Motion::Previous
            }
            _ => Motion::Other,
        }
    }

    /// The last axis of an output that moves with a dimension: the larger, the closer together are
    /// the stores.
    pub fn written_axis(&self, d: usize) -> Option<usize> {
        let outputs = self.all.iter().filter(|v| v.is_output);
        let axis = |view: &View| {
            let axes = view.axes.as_ref()?;
            axes.iter().rposition(|form| form.coefficients[d] != 0)
        };
        outputs.filter_map(axis).min()
    }

    /// The rows of an output that is larger than the caches.
    pub fn streamed_row(&self, facts: &Facts) -> Option<StreamedRow> {
        let points = (0..self.points.len()).map(|d| self.size(d).max(1));
        let points = points.fold(1, i64::saturating_mul);
        let bytes = |view: &View| view.bytes.filter(|_| view.is_output);
        let is_past = |bytes: &i64| points.saturating_mul(*bytes) >= streaming_threshold(facts.l3);
        let mut views = self.all.iter();
        let (view, bytes) = views.find_map(|view| Some((view, bytes(view).filter(is_past)?)))?;
        let last = view.axes.as_ref()?.get(view.rank.checked_sub(1)?)?;
        Some(StreamedRow {
            dimension: last.coefficients.iter().position(|c| *c != 0)?,
            bytes,
            fills_lines: view.fills_lines,
        })
    }

    /// Returns the number of times that each element is read through an access, all in all.
    pub fn reuse(&self, view: &View) -> i64 {
        let still = (0..self.points.len()).filter(|d| self.motion(view, *d) == Motion::Still);
        still
            .map(|d| self.size(d).max(1))
            .fold(1, i64::saturating_mul)
    }

    /// Returns whether one dimension is combined, and lanes along a kept one read elements that are read
    /// once, row by row, from behind a cache of so many bytes.
    pub fn is_streamed(&self, lane: usize, cache: i64) -> bool {
        let sums = self.combine.iter().filter(|c| c.is_pw()).count();
        let scans = self.combine.iter().any(|c| c.is_ps());
        let points = (0..self.points.len()).map(|d| self.size(d).max(1));
        let bytes = points.fold(self.widest, i64::saturating_mul);
        if self.combine[lane] != Combine::Cc || sums != 1 || scans || bytes <= cache {
            return false;
        }
        let is_plain = |form: &Linear| form.coefficients.iter().filter(|c| **c != 0).count() <= 1;
        let is_once = |view: &View| {
            let mut axes = view.axes.iter().flatten();
            self.motion(view, lane) == Motion::Next && self.reuse(view) == 1 && axes.all(is_plain)
        };
        let moving = self.all.iter().filter(|v| !v.is_output);
        let moving: Vec<&View> = moving.filter(|v| view_moves(v, lane)).collect();
        !moving.is_empty() && moving.into_iter().all(is_once)
    }

    /// Returns whether partial results can be where results are, so that a combined dimension can be cut:
    /// no buffer holds two components of a result.
    pub fn keeps_partial_results(&self) -> bool {
        self.all.iter().filter(|v| v.is_output).all(|v| v.is_alone)
    }

    /// Returns whether an input can be packed: it moves along each axis with one dimension at most.
    pub fn can_be_packed(&self, view: &View) -> bool {
        let Some(axes) = &view.axes else {
            return false;
        };
        let plain = |form: &Linear| {
            let moved: Vec<&i64> = form.coefficients.iter().filter(|c| **c != 0).collect();
            matches!(moved[..], [] | [1])
        };
        let mut moved = (0..self.points.len()).filter(|d| view_moves(view, *d));
        let is_plain = axes.iter().all(plain) && moved.all(|d| self.is_dense[d]);
        is_plain && view.is_alone && !view.is_output && !view.is_padded
    }

    /// Returns whether it pays to pack an input for lanes along a dimension: along that it moves along one
    /// axis, and its elements are read often.
    pub fn is_packable(&self, view: &View, d: usize) -> bool {
        let moves = matches!(self.motion(view, d), Motion::Next | Motion::Axis(_));
        moves && self.can_be_packed(view) && self.reuse(view) >= REUSE
    }
}

/// A copy pays if each element of it is read that often.
const REUSE: i64 = 8;

/// Returns whether an access depends on a dimension.
pub fn view_moves(view: &View, d: usize) -> bool {
    match &view.axes {
        None => true,
        Some(axes) => axes.iter().any(|form| form.coefficients[d] != 0),
    }
}

fn is_padded(buffer: &Buffer) -> bool {
    buffer.pad.is_some()
}
