//! Tiles in an order of their own: one loop over their number, whose inverse layout gives their
//! indices.
//!
//! ```mlir
//! // mdh-opt --mdh-tile --canonicalize --cse
//! func.func @f(%x: memref<64x64xf32>, %y: memref<64x64xf32>) {
//!   mdh.compute (i = 64, j = 64)
//!     out_view(y = %y[i, j] : memref<64x64xf32>)
//!     md_hom(id, (cc, cc))
//!     inp_view(x = %x[i, j] : memref<64x64xf32>)
//!     schedule(#mdh.schedule<asm = cpu, layers = [core {i: 8, j: 8}, register {i: 8, j: 8}],
//!       tile_order = {levels: [core.i, core.j], layout: "GenP([8,8],hilbert)"}>)
//!   return
//! }
//! // becomes
//! scf.forall (%t) in (64) {
//!   .. // %part_i and %part_j: the layout's inverse at %t
//!   %i = arith.muli %part_i, %c8 : index
//!   %has_i = arith.cmpi slt, %i, %c64 : index
//!   ..
//!   %is_there = arith.andi %has_i, %has_j : i1
//!   scf.if %is_there {
//!     ..
//!     mdh.compute (i = %i to %i_end, j = %j to %j_end) .. // the tile of these parts
//! ```

use mdh_algebra::index::Expr;
use mdh_algebra::index::emit::Function;
use mdh_algebra::index::simplify::simplify;
use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_schedule::TilePlan;

use super::nest::{ScheduledNest, Tile};
use crate::support::builder::Builder;
use crate::support::indices::{self, IndexDialect};
use crate::support::kernels;
use crate::support::scheduled::Loop;

/// Loops whose tiles have an order.
pub struct Order<'a> {
    plan: &'a TilePlan,
    /// The loops: the levels of the plan that have more than one part.
    loops: &'a [Loop],
}

impl<'a> Order<'a> {
    /// The order of the loops from a position on, if they have one and have not been opened.
    pub fn from<'c>(
        nest: &'a ScheduledNest<'c, '_>,
        position: usize,
        tile: &Tile<'c>,
    ) -> Option<Order<'a>> {
        let plan = nest.of.resolved.ordered_tiles()?;
        let resolved = &nest.of.resolved;
        let levels: Vec<_> = plan
            .levels
            .iter()
            .filter(|level| !resolved.count(**level).is_one())
            .collect();
        let loops = nest.loops[..nest.stop].get(position..position + levels.len())?;
        let is_it =
            !levels.is_empty() && loops.iter().zip(levels).all(|(l, level)| l.level == *level);
        let is_open = tile.has_order_at(position);
        (is_it && !is_open).then_some(Order { plan, loops })
    }

    /// One loop over the numbers of the tiles.
    pub fn each<'c>(
        &self,
        nest: &ScheduledNest<'c, '_>,
        builder: &mut Builder<'c>,
        position: usize,
        tile: Tile<'c>,
    ) -> Result<(), Errors> {
        let names: Vec<String> = self.loops.iter().map(|of| nest.name(*of)).collect();
        let size = self.plan.layout.size().as_constant().unwrap_or(1);
        let bounds = [0, size, 1].map(|bound| builder.index(bound));
        let mut result = Ok(());
        let run = |builder: &mut Builder<'c>, number: Val<'c>| {
            result = self.parts(nest, builder, number).and_then(|numbers| {
                let mut tile = tile;
                let positions = position..;
                tile.numbers.extend(positions.zip(numbers));
                nest.split(builder, position, tile)
            });
        };
        let name = names.join(", ");
        match self.loops.iter().find(|of| of.is_parallel) {
            Some(of) => {
                let core = kernels::core(nest.of, *of);
                let op = builder.forall(bounds, &core, &name, run);
                kernels::keep_cooperative(nest.of.op, op);
            }
            None => builder.sequential(bounds, &name, run),
        }
        result
    }

    /// The number of the part of each loop, for a tile.
    fn parts<'c>(
        &self,
        nest: &ScheduledNest<'c, '_>,
        builder: &mut Builder<'c>,
        number: Val<'c>,
    ) -> Result<Vec<Val<'c>>, Errors> {
        let layout = &self.plan.layout;
        let inputs = [layout.offset_name()];
        let facts = layout.facts_of_offset(&inputs[0]);
        let whole = layout.whole_index(&layout.inv(&Expr::symbol(&inputs[0])));
        let outputs = simplify(&facts, &whole);
        let function = Function {
            name: "tile_order",
            inputs: &inputs,
            outputs: &outputs,
            facts: &facts,
        };
        let module = module_of(nest.of.op);
        let numbers = indices::build(builder, module, &function, &[number], IndexDialect::Arith);
        let numbers = numbers.map_err(|e| vec![format!("has an order of tiles: {e}")])?;
        let levels = self.plan.levels.iter().zip(numbers);
        let is_loop = |level| self.loops.iter().any(|l| l.level == level);
        Ok(levels
            .filter(|(level, _)| is_loop(**level))
            .map(|(_, number)| number)
            .collect())
    }
}

fn module_of(op: Op<'_>) -> Op<'_> {
    let outer = ir::ancestors(op);
    outer.last().unwrap_or(op)
}
