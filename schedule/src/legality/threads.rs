//! Results that threads combine in registers (R3), and loops that not all of them go through equally.

use super::loops::Loop;
use super::refusal::{Reason, Refusal};
use super::tile::Tile;
use super::walk::Walk;
use crate::asm::MATRIX;
use crate::resolved::OutputPlan;

impl Walk<'_, '_> {
    /// Returns whether the parts of a level are threads, whose results the schedule combines in registers: for
    /// all outputs or for none, since their tuples are combined.
    pub(super) fn is_in_registers(&self, of: Loop) -> Result<bool, Refusal> {
        let resolved = self.of.resolved;
        if !resolved.asm.has_kernels() || self.of.layer(of.level) != "thread" {
            return Ok(false);
        }
        let is_register = |plan: &&OutputPlan| {
            let (region, _) = resolved.output_at(plan, of);
            resolved.asm.layers[region].name() == "register"
        };
        let count = resolved.outputs.iter().filter(is_register).count();
        if count > 0 && count < resolved.outputs.len() {
            return Err(self.refuse(
                Reason::Threads,
                of,
                "combines some outputs in registers of threads and others elsewhere: expected one \
                 region for all outputs, whose tuples are combined together",
            ));
        }
        Ok(count > 0)
    }

    /// Returns whether parts are threads', but there are no blocks of these: a level of one part has no loop.
    pub(super) fn needs_block(&self) -> bool {
        let is_block = |of: &Loop| of.is_parallel && self.of.layer(of.level) == "block";
        self.of.resolved.asm.has_kernels()
            && self.loops.iter().any(|of| of.is_parallel)
            && !self.loops.iter().any(is_block)
    }

    /// The innermost loop around a tile that not all threads of a block go through equally: one of them
    /// has other parts of its dimension.
    pub(super) fn unequal(&self, position: usize, tile: &Tile) -> Option<Loop> {
        let layers = &self.of.resolved.asm.layers;
        let mut owners = tile.owners.iter();
        let block = owners.find(|owner| layers[owner.layer].name() == "block")?;
        let cores = tile.cores[block.cores..].iter();
        let cut: Vec<usize> = cores.map(|core| core.dim).collect();
        let mut outside = self.loops[..position].iter().rev();
        let sequential = outside.find(|l| !l.is_parallel && cut.contains(&l.level.dimension));
        sequential.copied().filter(|_| !block.is_even)
    }

    /// Threads inside of a loop wait for each other in each iteration, so that all of a block go through
    /// it equally; but not where each of them adds to what it has in registers.
    pub(super) fn goes_through_equally(&self, position: usize, tile: &Tile) -> Result<(), Refusal> {
        let current = self.loops[position];
        let Some(unequal) = self
            .unequal(position, tile)
            .filter(|_| self.is_of_threads(&current))
        else {
            return Ok(());
        };
        let is_deferred = self
            .deferred
            .is_some_and(|deferred| deferred.inside == position);
        if is_deferred && self.is_in_registers(current)? {
            return Ok(());
        }
        Err(self.refuse(Reason::Threads, current, &self.waits_in(unequal)))
    }

    /// Returns whether the parts of a level are threads of a block, or warps of them.
    pub(super) fn is_of_threads(&self, of: &Loop) -> bool {
        of.is_parallel && ["warp", "thread"].contains(&self.of.layer(of.level))
    }

    /// Returns the message about threads that wait for each other in a loop.
    pub(super) fn waits_in(&self, unequal: Loop) -> String {
        let name = self.of.resolved.name(unequal.level);
        format!(
            "has threads inside of '{name}', in which they wait for each other, but that not all of \
             them go through equally: expected '{name}' inside of the loops over threads, or in a \
             dimension that threads do not share"
        )
    }

    /// Refuses products of matrices in a loop that not all threads go through equally: those of a warp
    /// have to be there at once.
    pub(super) fn warps_come(&self, position: usize, tile: &Tile) -> Result<(), Refusal> {
        let matrix = self.loops.iter().find(|l| self.of.layer(l.level) == MATRIX);
        match matrix.zip(self.unequal(position, tile)) {
            Some((own, unequal)) => {
                Err(self.refuse(Reason::Threads, *own, &self.waits_in(unequal)))
            }
            None => Ok(()),
        }
    }

    /// Memory for what each part of a level gives, which is needed before the loop at a position.
    pub(super) fn of_parts(
        &self,
        position: usize,
        current: Loop,
        tile: &Tile,
    ) -> Result<(), Refusal> {
        if !self.is_in_registers(current)? {
            return Ok(());
        }
        let is_deferred = self.loops[position] != current;
        for inner in self.loops[position..]
            .iter()
            .filter(|inner| **inner != current)
        {
            let layer = self.of.layer(inner.level);
            let is_combined =
                !is_deferred && inner.combine.is_pw() && self.is_in_registers(*inner)?;
            if inner.is_parallel && ["warp", "thread"].contains(&layer) && !is_combined {
                let name = self.of.resolved.name(inner.level);
                return Err(self.refuse(
                    Reason::Threads,
                    current,
                    &format!(
                        "combines results in registers of threads outside of '{name}', whose parts \
                         each thread would need: expected it inside of all other levels of warps and \
                         threads"
                    ),
                ));
            }
        }
        let layers = &self.of.resolved.asm.layers;
        let mut owners = tile.owners.iter();
        let is_in_block = owners.any(|owner| layers[owner.layer].name() == "block");
        let kept_dims = tile.kept(None);
        let spans = kept_dims
            .iter()
            .map(|d| tile.span_of(self.of.computation, *d));
        let is_known = spans.collect::<Vec<_>>().iter().all(Option::is_some);
        if is_in_block && is_known {
            return Ok(());
        }
        let refusal = self.refuse(
            Reason::Threads,
            current,
            "combines results in registers of threads that have a number of them which is not known, \
             or are in no block: expected tiles of known sizes, in blocks",
        );
        Err(if is_in_block { refusal.open() } else { refusal })
    }
}
