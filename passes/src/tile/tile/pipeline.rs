//! Tiles of inputs that are asked for while others are computed on (stages).
//!
//! ```mlir
//! // mdh-opt --mdh-tile --canonicalize --cse
//! func.func @f(%x: memref<128xf32>, %y: memref<64xf32>) {
//!   mdh.compute (i = 64, k = 128)
//!     out_view(y = %y[i] : memref<64xf32>)
//!     md_hom(id, (cc, pw(addf)))
//!     inp_view(x = %x[k] : memref<128xf32>)
//!     schedule(#mdh.schedule<asm = cuda,
//!       layers = [device {k: *}, block {i: *}, shared {k: 32}, thread {i: 16}],
//!       decompose = {order: [block.i, thread.i, device.k, shared.k]},
//!       inputs = {x: {stage: {shared.k: shared}, stages: 3}},
//!       outputs = {y: {combine: {device.k: register}}}>)
//!   return
//! }
//! // becomes
//! %tiles = memref.alloca() {..} : memref<3x32xf32, #mdh.memory<"shared", block>>
//! .. // two tiles are prefetched in the prologue of the loop,
//! mdh.compute (c0 = 32) .. threads(cooperative, asynchronous)
//! nvvm.cp.async.commit.group
//! mdh.compute (c0 = 32) .. threads(cooperative, asynchronous)
//! nvvm.cp.async.commit.group
//! scf.for %k = %c0 to %c128 step %c32 {
//!   nvvm.cp.async.wait.group 1
//!   %number = arith.divui %k, %c32 : index
//!   %after_next = arith.addi %number, %c2 : index
//!   %place = arith.remui %after_next, %c3 : index
//!   %later = arith.addi %k, %c64 : index
//!   %is_there = arith.cmpi slt, %later, %c128 : index
//!   scf.if %is_there {
//!     .. // and the one after the next in each iteration
//!     mdh.compute (c0 = 32) .. threads(cooperative, asynchronous)
//!   }
//!   nvvm.cp.async.commit.group
//!   ..
//!   %own = arith.remui %number, %c3 : index
//!   ..
//!   mdh.compute (i = %i to %i_end, k = %k to %k_end) .. inp_view(x = %tiles[0, k] ..
//! ```
//!
//! Each iteration has a group, be it empty, so that the last but one is that of the tile that is
//! needed. Threads wait for each other behind that wait (`mdh-map-kernels`): then all have the tile,
//! and all are done with the one whose place the next takes.

use mdh_dialect::ir::{Errors, Val};
use mdh_dialect::ops;

use super::nest::{ScheduledNest, Tile};
use super::stage::{self, Request};
use crate::gpu::copy_asynchronously::{commit, wait};
use crate::support::builder::{Builder, known};

/// The iterations of a sequential loop.
pub struct Iterations<'a, 'c> {
    /// Its bounds.
    pub bounds: [Val<'c>; 3],
    /// Its name.
    pub name: &'a str,
    /// The number and the tile of the iteration of an index.
    pub tile: &'a dyn Fn(&mut Builder<'c>, Val<'c>) -> (Val<'c>, Tile<'c>),
}

/// A sequential loop, in which inputs are staged before the loop at a position.
pub fn each<'c>(
    nest: &ScheduledNest<'c, '_>,
    builder: &mut Builder<'c>,
    position: usize,
    iterations: &Iterations<'_, 'c>,
    body: impl FnOnce(&mut Builder<'c>, Val<'c>, Tile<'c>) -> Result<(), Errors>,
) -> Result<(), Errors> {
    let (bounds, name) = (iterations.bounds, iterations.name);
    let mut result = Ok(());
    let Some(mut pipeline) = Pipeline::new(nest, position, iterations) else {
        builder.sequential(bounds, name, |builder, at| {
            let (number, tile) = (iterations.tile)(builder, at);
            result = body(builder, number, tile);
        });
        return result;
    };
    pipeline.start(builder)?;
    builder.sequential(bounds, name, |builder, at| {
        result = pipeline.ask_for_later(builder, at).and_then(|()| {
            let (number, mut tile) = (iterations.tile)(builder, at);
            let slot = pipeline.slot(builder, number);
            let slots = pipeline.slots.iter();
            tile.arrived = slots.map(|own| own.tile(builder, slot)).collect();
            body(builder, number, tile)
        });
    });
    result
}

struct Pipeline<'a, 'c, 'p> {
    nest: &'a ScheduledNest<'c, 'p>,
    position: usize,
    iterations: &'a Iterations<'a, 'c>,
    inputs: Vec<usize>,
    stages: i64,
    slots: Vec<stage::Slots<'c>>,
}

impl<'a, 'c, 'p> Pipeline<'a, 'c, 'p> {
    /// The inputs that are staged before the loop at a position in several stages, if there are any.
    fn new(
        nest: &'a ScheduledNest<'c, 'p>,
        position: usize,
        iterations: &'a Iterations<'a, 'c>,
    ) -> Option<Self> {
        let positions = 0..nest.of.resolved.inputs.len();
        let staged = positions.filter_map(|n| Some((n, nest.of.resolved.stages(n, position)?)));
        let staged: Vec<(usize, i64)> = staged.filter(|(_, stages)| *stages > 1).collect();
        let (_, stages) = staged.first().copied()?;
        let inputs: Vec<usize> = staged.into_iter().map(|(n, _)| n).collect();
        Some(Pipeline {
            nest,
            position,
            iterations,
            inputs,
            stages,
            slots: Vec::new(),
        })
    }

    /// The tiles of the first iterations are asked for.
    fn start(&mut self, builder: &mut Builder<'c>) -> Result<(), Errors> {
        for number in 0..self.stages - 1 {
            let at = self.later(builder, self.iterations.bounds[0], number);
            let slot = builder.index(number);
            self.ask(builder, at, slot)?;
        }
        Ok(())
    }

    /// The tile of an iteration is there, and one that is as far away as there are slots for is asked
    /// for.
    fn ask_for_later(&mut self, builder: &mut Builder<'c>, at: Val<'c>) -> Result<(), Errors> {
        wait(builder, self.stages - 2);
        let number = (self.iterations.tile)(builder, at).0;
        let ahead = builder.index(self.stages - 1);
        let number = builder.binary(ops::arith::ADDI, number, ahead);
        let slot = self.slot(builder, number);
        let at = self.later(builder, at, self.stages - 1);
        self.ask(builder, at, slot)
    }

    /// The index of so many iterations later.
    fn later(&self, builder: &mut Builder<'c>, at: Val<'c>, iterations: i64) -> Val<'c> {
        let iterations = builder.index(iterations);
        let distance = builder.binary(ops::arith::MULI, self.iterations.bounds[2], iterations);
        builder.binary(ops::arith::ADDI, at, distance)
    }

    /// The slot of the tile of an iteration.
    fn slot(&self, builder: &mut Builder<'c>, number: Val<'c>) -> Val<'c> {
        let stages = builder.index(self.stages);
        builder.binary(ops::arith::REMUI, number, stages)
    }

    /// Asks for the tiles of an iteration, if there is one.
    fn ask(&mut self, builder: &mut Builder<'c>, at: Val<'c>, slot: Val<'c>) -> Result<(), Errors> {
        let end = self.iterations.bounds[1];
        if matches!((known(at), known(end)), (Some(at), Some(end)) if at >= end) {
            commit(builder);
            return Ok(());
        }
        let is_there = builder.compare("slt", at, end);
        let mut result = Ok(());
        builder.if_then(is_there, |builder| {
            let tile = (self.iterations.tile)(builder, at).1;
            result = self.inputs.iter().try_for_each(|input| {
                let request = Request {
                    input: *input,
                    position: self.position,
                    tile: &tile,
                    stages: self.stages,
                    slot,
                };
                stage::ask(self.nest, builder, &request, &mut self.slots)
            });
        });
        commit(builder);
        result
    }
}
