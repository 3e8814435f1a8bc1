//! The threads of a block, and its warps.
//!
//! A level of the layer `thread` gives parts to threads, one of the layer `warp` to warps. Where a
//! schedule has warps, the launch's first axis is the number of a thread in its warp, its *lane*, and
//! the second one the number of the warp: neighbours of a warp are neighbours, and with 32 lanes each
//! warp is one of the device's. The axes of both layers are parts of these numbers, the first one
//! innermost.
//!
//! ```mlir
//! // mdh-opt --mdh-map-kernels --canonicalize
//! func.func @f() {
//!   %x = gpu.alloc () : memref<4x32xf32>
//!   %one = arith.constant 1.0 : f32
//!   scf.forall (%i) in (4) {
//!     scf.forall (%k) in (32) {
//!       memref.store %one, %x[%i, %k] : memref<4x32xf32>
//!     } {mapping = [#gpu.thread<x>]}
//!   } {mapping = [#gpu.warp<x>]}
//!   return
//! }
//! // becomes
//! gpu.launch .. threads(%lane, %warp, %z) in (%sx = %c32, %sy = %c4, %sz = %c1) .. {
//!   memref.store %one, %x[%warp, %lane] : memref<4x32xf32>
//! ```
//!
//! Barriers are those of the block.

use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::ops;
use mdh_schedule::asm::facts;

use super::cores::{THREAD, WARP, is_block, is_cooperative, is_of_threads, parts_of};
use super::launch::{AXES, Extents};
use super::{shuffles, spmd};
use crate::support::builder::Builder;
use crate::support::parallel::{Core, FORALL};

/// The most parts that loops over threads and warps have, by axis.
pub struct Threads {
    axes: Vec<(Core, i64)>,
    /// True if those of a warp exchange what they have.
    has_exchanges: bool,
}

impl Threads {
    /// The warps of a nest of loops.
    pub fn new(nest: Op) -> Result<Threads, Errors> {
        let mut axes: Vec<(Core, i64)> = Vec::new();
        let mut shared = 1;
        for op in ir::find_all(nest, &[FORALL]) {
            if is_cooperative(op) {
                shared = spmd::shape(op).into_iter().product::<i64>().max(shared);
            }
            let core_of_op = Core::read(op).filter(|core| !is_block(core) && !is_cooperative(op));
            let Some(core) = core_of_op else {
                continue;
            };
            if !is_of_threads(&core) {
                return Err(vec![format!(
                    "gives parts to layer '{}': expected blocks, warps and threads, others are not \
                     lowered yet",
                    core.layer
                )]);
            }
            let Some(parts) = parts_of(op) else {
                return Err(vec![format!(
                    "has a number of {}s that is not known: expected one that is",
                    core.layer
                )]);
            };
            match axes.iter_mut().find(|(known, _)| *known == core) {
                Some((_, most)) => *most = parts.max(*most),
                None => axes.push((core, parts)),
            }
        }
        if axes.is_empty() && shared > 1 {
            // What all threads of a block do goes by their numbers: none has a loop of its own.
            axes.push((Core::new(THREAD, 0), shared));
        }
        axes.sort_by_key(|(core, _)| core.axis);
        let threads = Threads {
            axes,
            has_exchanges: shuffles::has_exchanges(nest),
        };
        if threads.has_exchanges && threads.lanes() > facts::WARP {
            return Err(vec![format!(
                "combines results of {} threads in registers: expected at most {}, or warps of so \
                 many",
                threads.parts(THREAD),
                facts::WARP
            )]);
        }
        Ok(threads)
    }

    /// The axes of a layer.
    fn of_layer(&self, layer: &str) -> impl Iterator<Item = &(Core, i64)> {
        let is_of_layer = move |(core, _): &&(Core, i64)| core.layer == layer;
        self.axes.iter().filter(is_of_layer)
    }

    /// Returns the number of a layer's parts.
    fn parts(&self, layer: &str) -> i64 {
        self.of_layer(layer).map(|(_, parts)| parts).product()
    }

    /// Returns the number of a block's threads.
    pub fn count(&self) -> i64 {
        self.parts(WARP) * self.lanes()
    }

    /// Returns the number of a warp's threads. If these exchange values, they are threads of one of
    /// the device's warps, which has room for several only of powers of two.
    fn lanes(&self) -> i64 {
        let parts = self.parts(THREAD);
        match self.has_exchanges && self.parts(WARP) > 1 {
            true => parts.unsigned_abs().next_power_of_two().cast_signed(),
            false => parts,
        }
    }

    /// Returns the number of indices of each axis: some loops may have fewer parts.
    pub fn extents(&self) -> Vec<(Core, i64)> {
        let mut axes = self.axes.clone();
        // Lanes that only fill a warp up have indices behind those of the last axis.
        let filled = self.lanes() - self.parts(THREAD);
        let last = axes.iter_mut().rfind(|(core, _)| core.layer == THREAD);
        last.into_iter().for_each(|(_, extent)| *extent += filled);
        axes
    }

    /// Returns the stride in lanes, and the number, of a warp's threads in each axis.
    pub fn strides(&self) -> Vec<(Core, i64, i64)> {
        let mut stride = 1;
        let cores = self.of_layer(THREAD).map(|(core, parts)| {
            let entry = (core.clone(), stride, *parts);
            stride *= parts;
            entry
        });
        cores.collect()
    }

    fn has_warps(&self) -> bool {
        self.of_layer(WARP).next().is_some()
    }

    /// Without warps, a launch has the threads' own axes.
    fn plain<'c>(&self, builder: &mut Builder<'c>) -> Result<Extents<'c>, Errors> {
        let mut extents = Extents::default();
        for (core, parts) in &self.axes {
            extents.add(core.axis, builder.index(*parts))?;
        }
        Ok(extents)
    }

    /// The extents of a launch.
    pub fn of_launch<'c>(&self, builder: &mut Builder<'c>) -> Result<[Val<'c>; AXES], Errors> {
        if !self.has_warps() {
            return Ok(self.plain(builder)?.of_launch(builder));
        }
        let extents = [self.lanes(), self.parts(WARP), 1];
        Ok(extents.map(|extent| builder.index(extent)))
    }

    /// A thread's index in each axis, from those of the launch.
    pub fn indices<'c>(
        &self,
        builder: &mut Builder<'c>,
        launch: &[Val<'c>],
    ) -> Result<Vec<(Core, Val<'c>)>, Errors> {
        if !self.has_warps() {
            let linear = self.plain(builder)?.indices(builder, launch);
            let cores = self.axes.iter().map(|(core, _)| core.clone());
            return Ok(cores
                .zip(linear.into_iter().map(|(_, index)| index))
                .collect());
        }
        let mut indices = Vec::new();
        for (layer, number) in [(THREAD, launch[0]), (WARP, launch[1])] {
            let cores: Vec<&(Core, i64)> = self.of_layer(layer).collect();
            let mut rest = number;
            for (n, (core, parts)) in cores.iter().copied().enumerate() {
                if n + 1 == cores.len() {
                    indices.push((core.clone(), rest));
                    break;
                }
                let parts = builder.index(*parts);
                indices.push((core.clone(), builder.binary(ops::arith::REMUI, rest, parts)));
                rest = builder.binary(ops::arith::DIVUI, rest, parts);
            }
        }
        Ok(indices)
    }
}
