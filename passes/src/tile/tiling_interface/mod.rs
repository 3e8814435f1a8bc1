//! Upstream's tiling: answers to `transform.structured.tile_using_for` and its like about an
//! `mdh.compute`.
//!
//! ```mlir
//! // mdh-opt tiling.mlir --transform-interpreter --canonicalize --cse
//! // A product of a matrix and a vector in tiles of 8 x 4:
//! %w = scf.for %i = %c0 to %c64 step %c8 iter_args(%rows = %init) -> (tensor<64xf32>) {
//!   %sums = scf.for %k = %c0 to %c32 step %c4 iter_args(%so_far = %rows) -> (tensor<64xf32>) {
//!     %i_end = arith.addi %i, %c8 : index
//!     %k_end = arith.addi %k, %c4 : index
//!     %s = tensor.extract_slice %so_far[%i] [8] [1] : tensor<64xf32> to tensor<8xf32>
//!     %later = arith.cmpi ne, %k, %c0 : index
//!     %t = mdh.compute (i = %i to %i_end, k = %k to %k_end)
//!       out_view(w = %s[i] origin(%i) : tensor<8xf32>)
//!       md_hom(mulf, (cc, pw(addf)))
//!       inp_view(M = %M[i, k] : tensor<64x32xf32>, v = %v[k] : tensor<32xf32>)
//!       carry k (w_before = %s[i] origin(%i) : tensor<8xf32>) valid %later
//!     %next = tensor.insert_slice %t into %so_far[%i] [8] [1] : tensor<8xf32> into tensor<64xf32>
//!     scf.yield %next : tensor<64xf32>
//!   }
//! ```
//!
//! A tile's indices are the whole computation's, so that its scalar function sees the same ones;
//! slices have origins. What tiles of a dimension that combines carry out is the result itself: the
//! carry is what is there, in all tiles but the first. Nothing is taken for a neutral element.

pub mod boxes;
mod carries;
mod nothing;
mod point;
mod positions;

use mdh_algebra::computation::Computation;
use mdh_dialect::ir::{self, Op};
use mdh_dialect::parts::{Bound, BufferPart, Parts};
use mdh_dialect::tiling::{At, IndexBox, Refusal, Tiled, Tiling, slice};
use mdh_dialect::translate::{self, Depth};
use mdh_dialect::types::BufferKind;
use mdh_dialect::{marks, read, schedule, verify, write};
use melior::ir::operation::OperationLike;

use crate::support::builder::Builder;
use crate::support::draft::{self, is_kind};
use crate::support::extents::Sum;
use crate::support::names;
use crate::support::region;
use boxes::Spans;

/// Upstream's tiling of computations.
pub static TILING: Tiling = Tiling {
    is_parallel,
    domain,
    tile,
    result: positions::result,
    of_result: positions::of_result,
    point: point::point,
};

/// A computation that is tiled.
pub struct UntiledOp<'c> {
    /// Its operation.
    pub op: Op<'c>,
    /// The operation taken apart.
    pub parts: Parts<'c>,
    /// The same as data.
    pub computation: Computation,
}

impl<'c> UntiledOp<'c> {
    /// Reads a computation without a schedule.
    pub fn new(op: Op<'c>) -> Result<Self, Refusal> {
        let joined = |errors: Vec<String>| errors.join("; ");
        if schedule::has_schedule(op) {
            return Err(
                "cannot be tiled: it has a schedule, which is that of the whole computation; \
                 expected one without, of whose tiles each may have its own"
                    .into(),
            );
        }
        let (parts, computation) = translate::both(op, Depth::Signatures).map_err(joined)?;
        if let Some(output) = parts.destinations().find(|b| boxes::has_nothing(b)) {
            return Err(format!(
                "cannot be tiled: output '{}' has no elements, of which upstream takes no slices; \
                 expected it as it is",
                output.name
            ));
        }
        Ok(UntiledOp {
            op,
            parts,
            computation,
        })
    }

    /// Returns whether a dimension is concatenated.
    pub fn is_cc(&self, d: usize) -> bool {
        let combine = self.computation.dimensions[d].combine;
        !combine.is_pw() && !combine.is_ps()
    }

    /// The name of a dimension.
    pub fn dim_name(&self, d: usize) -> &str {
        &self.parts.dims[d].name
    }

    /// The destination with a result.
    fn destination(&self, result: usize) -> Option<&BufferPart<'c>> {
        let destinations = self.parts.destinations();
        let mut tensors = destinations.filter(|b| is_kind(b, BufferKind::Tensor));
        tensors.nth(result)
    }
}

fn is_parallel(op: Op) -> Vec<bool> {
    let Ok(parts) = read::compute(op) else {
        return Vec::new();
    };
    let is_cc = |combine: &melior::ir::Attribute| ir::is_cc(*combine);
    parts.combine.iter().map(is_cc).collect()
}

fn domain<'c>(op: Op<'c>, at: At<'c>) -> Result<IndexBox<'c>, Refusal> {
    let parts = read::compute(op).map_err(|errors| errors.join("; "))?;
    let mut builder = Builder::at(at, op);
    let dims = parts.dims.iter();
    Ok(IndexBox {
        offsets: dims.clone().map(|_| Bound::Static(0)).collect(),
        sizes: dims.map(|d| boxes::periods(&mut builder, d)).collect(),
    })
}

/// A tile, as it is built.
pub struct Tile<'c, 'w> {
    /// The whole computation.
    pub untiled: &'w UntiledOp<'c>,
    /// The place of all that is built.
    pub at: At<'c>,
    /// Builds there.
    pub builder: Builder<'c>,
    /// The indices of the tile.
    pub spans: Spans<'c>,
    /// The slices that it takes, as far as they are built.
    pub slices: Vec<Op<'c>>,
}

fn tile<'c>(op: Op<'c>, at: At<'c>, part: &IndexBox<'c>) -> Result<Tiled<'c>, Refusal> {
    let untiled = UntiledOp::new(op)?;
    let mut tile = Tile {
        builder: Builder::at(at, op),
        spans: Spans::new(&untiled.parts, part)?,
        untiled: &untiled,
        at,
        slices: Vec::new(),
    };
    let parts = tile.parts()?;
    let [scalar, combiner] = [0, 1].map(|n| region::copy(op, n));
    let new = write::compute(ir::context_of(op), op.location(), &parts, scalar, combiner);
    region::copy_attributes(op, ir::op(&new));
    if let Some(finding) = verify::errors(ir::op(&new)).first() {
        return Err(format!(
            "cannot be tiled like this: its tile {}",
            finding.message
        ));
    }
    let op = tile.builder.insert(new);
    let mut destinations = untiled.parts.destinations();
    let is_of_forall = (0..parts.dims.len()).any(|d| boxes::is_of_forall(tile.spans.offset(d)));
    if is_of_forall && destinations.any(|destination| !tile.is_fusible(destination)) {
        marks::PARTLY_WRITTEN.set(op);
    }
    Ok(Tiled {
        op,
        slices: tile.slices,
    })
}

impl<'c> Tile<'c, '_> {
    /// The computation of the tile; slices come before it.
    fn parts(&mut self) -> Result<Parts<'c>, Refusal> {
        carries::check(self.untiled, &self.spans)?;
        let mut parts = self.untiled.parts.clone();
        parts.dims = self.spans.dims(&mut self.builder, &parts.dims)?;
        for input in &mut parts.inputs {
            *input = self.sliced(input)?;
        }
        let carries = parts.carries.iter_mut();
        let outgoing = carries.flat_map(|carry| carry.outgoing.iter_mut());
        for output in parts.outputs.iter_mut().chain(outgoing) {
            // What makes the destination is fused by the slices that upstream is told of.
            let (told, is_fusible) = (self.slices.len(), self.is_fusible(output));
            *output = self.sliced(output)?;
            if !is_fusible {
                self.slices.truncate(told);
            }
        }
        self.set_carries(&mut parts)?;
        names::make_unique(&mut parts);
        Ok(parts)
    }

    /// Returns whether what makes a destination can be computed in the tiles: not where loops carry it, and a tile
    /// finds there what others have left.
    fn is_fusible(&self, destination: &BufferPart<'c>) -> bool {
        carries::start(destination.value) == destination.value
            || positions::are_alone(self.untiled, &self.spans, destination)
    }

    /// A buffer as far as the tile accesses it.
    pub fn sliced(&mut self, buffer: &BufferPart<'c>) -> Result<BufferPart<'c>, Refusal> {
        let mut sliced = buffer.clone();
        let Some(part) = self.spans.part(&mut self.builder, buffer)? else {
            return Ok(sliced);
        };
        for (origin, offset) in sliced.origin.iter_mut().zip(&part.offsets) {
            let sum = Sum::of_bound(*origin).plus(&Sum::of_bound(*offset), 1);
            *origin = sum.ok_or_else(boxes::too_large)?.bound(&mut self.builder);
        }
        let slice = slice(self.at, self.untiled.op, buffer.value, &part);
        sliced.value = draft::results(slice)[0];
        self.slices.push(slice);
        Ok(sliced)
    }
}
