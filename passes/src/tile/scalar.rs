//! Tiles of the leaf copied once more to where the scalar function reads and writes, where that is
//! not where tiles are (S3 to S6).
//!
//! ```mlir
//! // the scalar function reads x in L1 (permuted(2, 1)) and writes y in L1
//! mdh.compute .. out_view(%x_tile[j, i]) md_hom(id, (cc, cc)) inp_view(%x[i, j])
//! mdh.compute .. out_view(%y_tile) .. inp_view(%x_tile)
//! mdh.compute .. out_view(%y) md_hom(id, (cc, cc)) inp_view(%y_tile)
//! ```

pub use mdh_algebra::schedule::legality::Place;
use mdh_dialect::ir::Errors;

use super::nest::{Nest, Tile};
use super::results::{self, Staged};
use super::stage;
use crate::builder::Builder;

/// Gives a tile of the leaf the places of the scalar function; what it writes is to be copied to
/// where results are.
pub fn stage<'c>(
    nest: &Nest<'c, '_>,
    builder: &mut Builder<'c>,
    position: usize,
    tile: &mut Tile<'c>,
) -> Result<Vec<Staged<'c>>, Errors> {
    let total = &nest.of.total;
    for (n, plan) in total.inputs.iter().enumerate() {
        if let Some(here) = total.scalar_input(plan) {
            stage::copy(nest, builder, position, tile, n, here)?;
        }
    }
    results::give_places(nest, builder, position, tile, |name| {
        // Partial results that are in memory of their own are where the first output is.
        let all = &total.outputs;
        let plan = all.iter().find(|plan| plan.name == name).or(all.first())?;
        total.scalar_output(plan)
    })
}
