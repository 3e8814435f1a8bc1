//! Tiles of the leaf copied once more to where the scalar function reads and writes, where that is
//! not where tiles are (S3 to S6).
//!
//! ```mlir
//! // mdh-opt --mdh-tile --canonicalize --cse
//! func.func @f(%x: memref<64x64xf32>, %y: memref<64x64xf32>) {
//!   mdh.compute (i = 64, j = 64)
//!     out_view(y = %y[i, j] : memref<64x64xf32>)
//!     md_hom((%a: f32) {
//!       %e = math.exp %a : f32
//!       mdh.yield %e : f32
//!     }, (cc, cc))
//!     inp_view(x = %x[i, j] : memref<64x64xf32>)
//!     schedule(#mdh.schedule<asm = cpu, layers = [L1 {i: *}, register {i: 8, j: 64}],
//!       inputs = {x: {scalar: L1, scalar_layout: permuted(2, 1)}}, outputs = {y: {scalar: L1}}>)
//!   return
//! }
//! // becomes
//! mdh.compute (c0 = 64, c1 = 8)
//!   out_view(to = %x_tile[c0, c1] : memref<64x8xf32, #mdh.memory<"L1">>)
//!   md_hom(id, (cc, cc))
//!   inp_view(from = %x[c1, c0] ..
//! mdh.compute (i = %i to %last, j = 64)
//!   out_view(y = %y_tile[i, j] origin(%i, 0) : memref<8x64xf32, #mdh.memory<"L1">>)
//!   ..
//!   inp_view(x = %x_tile[j, i] origin(0, %i) : memref<64x8xf32, #mdh.memory<"L1">>)
//! ..
//! %from = memref.collapse_shape %y_tile [[0, 1]]
//!   : memref<8x64xf32, #mdh.memory<"L1">> into memref<512xf32, #mdh.memory<"L1">>
//! ..
//!   out_view(to = %to[i] : memref<4096xf32>)
//!   md_hom(id, (cc))
//!   inp_view(from = %from[i] ..
//! ```

use mdh_dialect::ir::Errors;
pub use mdh_schedule::legality::TileMemory;

use super::nest::{ScheduledNest, Tile};
use super::results::{self, Staged};
use super::stage;
use crate::support::builder::Builder;

/// Gives a tile of the leaf the memory of the scalar function; results are to be copied from there.
pub fn stage<'c>(
    nest: &ScheduledNest<'c, '_>,
    builder: &mut Builder<'c>,
    position: usize,
    tile: &mut Tile<'c>,
) -> Result<Vec<Staged<'c>>, Errors> {
    let resolved = &nest.of.resolved;
    for (n, plan) in resolved.inputs.iter().enumerate() {
        if let Some(here) = resolved.scalar_input(plan) {
            stage::copy(nest, builder, position, tile, n, here)?;
        }
    }
    results::give_places(nest, builder, position, tile, |name| {
        // Partial results that are in memory of their own are where the first output is.
        let outputs = &resolved.outputs;
        let plan = outputs
            .iter()
            .find(|plan| plan.name == name)
            .or(outputs.first())?;
        resolved.scalar_output(plan)
    })
}
