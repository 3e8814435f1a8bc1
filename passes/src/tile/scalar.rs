//! Tiles of the leaf copied once more to where the scalar function reads and writes, where that is
//! not where tiles are (S3 to S6).
//!
//! ```mlir
//! // the scalar function reads x in L1 (permuted(2, 1)) and writes y in L1
//! mdh.compute .. out_view(%x_tile[j, i]) md_hom(id, (cc, cc)) inp_view(%x[i, j])
//! mdh.compute .. out_view(%y_tile) .. inp_view(%x_tile)
//! mdh.compute .. out_view(%y) md_hom(id, (cc, cc)) inp_view(%y_tile)
//! ```

use mdh_algebra::schedule::{InputPlan, Layout, Level, OutputPlan, PerLevel, Total};
use mdh_dialect::ir::Errors;

use super::nest::{Nest, Tile};
use super::results::{self, Staged};
use super::stage;
use crate::builder::Builder;

/// A place for tiles: a region, as the position of an ASM layer, and a layout.
pub type Place<'a> = (usize, &'a Layout);

/// The place of tiles at the end of an order.
fn last<'a>(
    total: &Total,
    order: &[Level],
    regions: &PerLevel<usize>,
    layouts: &'a PerLevel<Layout>,
) -> Option<Place<'a>> {
    let mut loops = order.iter().rev().filter(|l| !total.count(**l).is_one());
    let Level { layer, dimension } = *loops.next()?;
    Some((regions[layer][dimension], &layouts[layer][dimension]))
}

/// Where tiles of an input are in the innermost loop (D3, D4).
pub fn last_of_input<'a>(total: &Total, plan: &'a InputPlan) -> Option<Place<'a>> {
    last(total, &total.decompose.order, &plan.region, &plan.layout)
}

/// Where tiles of an output are in the innermost loop (R3, R4).
pub fn last_of_output<'a>(total: &Total, plan: &'a OutputPlan) -> Option<Place<'a>> {
    last(total, &total.recompose.order, &plan.region, &plan.layout)
}

/// Whether what is at a place, for the scalar function, is copied there: values pass through
/// registers anyway.
fn is_copied(total: &Total, here: Place, last: Option<Place>) -> bool {
    let row_major = Layout::row_major();
    let is_register = total.asm.layers[here.0].name() == "register";
    here != last.unwrap_or((0, &row_major)) && !is_register
}

fn input<'a>(total: &'a Total, plan: &'a InputPlan) -> Option<Place<'a>> {
    let here = (plan.scalar, &plan.scalar_layout);
    is_copied(total, here, last_of_input(total, plan)).then_some(here)
}

fn output<'a>(total: &'a Total, plan: &'a OutputPlan) -> Option<Place<'a>> {
    let here = (plan.scalar, &plan.scalar_layout);
    is_copied(total, here, last_of_output(total, plan)).then_some(here)
}

/// Whether something is copied for the scalar function.
pub fn is_staged(total: &Total) -> bool {
    total.inputs.iter().any(|plan| input(total, plan).is_some())
        || total
            .outputs
            .iter()
            .any(|plan| output(total, plan).is_some())
}

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
        if let Some(here) = input(total, plan) {
            stage::copy(nest, builder, position, tile, n, here)?;
        }
    }
    results::give_places(nest, builder, position, tile, |name| {
        // Partial results that are in memory of their own are where the first output is.
        let all = &total.outputs;
        let plan = all.iter().find(|plan| plan.name == name).or(all.first())?;
        output(total, plan)
    })
}
