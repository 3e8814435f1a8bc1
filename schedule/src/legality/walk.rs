//! The loops of a schedule from the outside in, as the lowering opens them: each copy of a tile, each
//! carry and each partial result on the way is one that it has code for.
//!
//! Loops over parts of a combined dimension change what a tile writes and receives, so that whether
//! something can be done at a level depends on all levels around it.

use super::loops::{Deferred, Loop};
use super::refusal::{Reason, Refusal, Subject};
use super::staging;
use super::tile::{Carry, Core, Cut, Owner, Tile};
use mdh_algebra::computation::Combine;

/// The loops of a schedule, on the way through them.
pub(super) struct Walk<'a, 's> {
    pub of: &'s Subject<'a>,
    pub loops: &'s [Loop],
    pub leaf: usize,
    pub deferred: Option<Deferred>,
}

type Checked = Result<(), Refusal>;

/// Refusal of levels between a deferred one and the loops outside of which that is.
const BETWEEN: &str = "has parts that are computed at the same time, or is a prefix-sum, between \
                       another level and the one outside of which that is combined (R1): expected \
                       it elsewhere";

impl Walk<'_, '_> {
    /// All loops of a tile, as one nest.
    pub fn single_nest(&self) -> Checked {
        let mut tile = Tile::of_computation(self.of.computation);
        if self.needs_block() {
            let block = self.of.resolved.asm.position("block").unwrap_or(0);
            tile.owners.push(Owner {
                layer: block,
                cores: 0,
                is_even: true,
            });
        }
        self.descend(0, tile)
    }

    /// Refuses a level.
    pub fn refuse(&self, reason: Reason, of: Loop, why: &str) -> Refusal {
        let name = self.of.resolved.name(of.level);
        Refusal::new(reason, format!("whose level '{name}' {why}"))
    }

    fn descend(&self, position: usize, mut tile: Tile) -> Checked {
        if position < self.loops.len() {
            staging::inputs(self, position, &mut tile)?;
            staging::outputs(self, position, &mut tile)?;
        }
        if position == self.leaf {
            staging::scalar(self, position, &mut tile)?;
        }
        match self
            .deferred
            .filter(|deferred| deferred.outside == position)
        {
            Some(deferred) => self.combine_deferred(position, deferred, tile),
            None => self.split(position, tile),
        }
    }

    fn split(&self, position: usize, mut tile: Tile) -> Checked {
        if position == self.leaf {
            self.warps_come(position, &tile)?;
            self.leaf_combines(&tile)?;
            return staging::choose_blocks(self, position, &mut tile);
        }
        let current = self.loops[position];
        if self
            .deferred
            .is_some_and(|deferred| deferred.inside == position)
            && tile.is_deferred
        {
            return self.deferred_parts(position, tile);
        }
        match (tile.combine[current.level.dimension], current.is_parallel) {
            (Combine::Cc, _) => self.open(position, &tile),
            (Combine::Pw(_), false) => self.sum(position, tile),
            (Combine::Ps(_), false) => self.scan(position, tile),
            (Combine::Pw(_), true) => self.partial_sums(position, tile),
            (Combine::Ps(_), true) => self.partial_scans(position, tile),
        }
    }

    /// A leaf of a combination of each part, for prefix-sums of the parts: these are sums there, too.
    fn leaf_combines(&self, tile: &Tile) -> Checked {
        let combined = |of: &Loop| Loop {
            combine: tile.combine[of.level.dimension],
            ..*of
        };
        let leaf = &self.loops[self.leaf..];
        let inner: Vec<Loop> = leaf.iter().map(combined).collect();
        match inner == leaf {
            true => Ok(()),
            false => self.of.deferred_in_leaf(&inner, &self.of.leaf(&inner).1),
        }
    }

    /// The tile of a part.
    fn part(&self, position: usize, tile: &Tile) -> Result<Tile, Refusal> {
        let current = self.loops[position];
        let d = current.level.dimension;
        let mut inner = tile.clone();
        inner
            .cut(self.of, (self.loops, position))
            .map_err(|Cut { size, width }| {
                let number =
                    |v: Option<i64>| v.map_or("a dynamic number of".into(), |n| n.to_string());
                let message = format!(
                    "has parts of {} points in a dimension of width {}: expected a multiple of the \
                 width, or a divisor",
                    number(size),
                    number(width),
                );
                let is_open = size.is_none() || width.is_none();
                let refusal = self.refuse(Reason::Parts, current, &message);
                if is_open { refusal.open() } else { refusal }
            })?;
        if !current.is_parallel {
            for owner in &mut inner.owners {
                let inside = &inner.cores[owner.cores..];
                owner.is_even &= !inside.iter().any(|core| core.dim == d);
            }
            return Ok(inner);
        }
        self.goes_through_equally(position, tile)?;
        inner.cores.push(Core {
            layer: self.core_layer(current),
            dim: d,
            whole: tile.dims[d],
        });
        self.enter(current, &mut inner);
        Ok(inner)
    }

    fn core_layer(&self, of: Loop) -> usize {
        self.of.resolved.decompose.assign[of.level.layer][of.level.dimension].layer
    }

    /// A core has memory of its own once a tile is inside of all loops of its layer, and of those
    /// that have no memory of their own.
    fn enter(&self, of: Loop, inner: &mut Tile) {
        let asm = &self.of.resolved.asm;
        if !asm.has_kernels() {
            return;
        }
        let is_core = |n: &usize| asm.layers[*n].core().is_some();
        let layer = self.core_layer(of);
        let first = (0..=layer).rev().take_while(is_core).last();
        let last = (layer..asm.layers.len()).take_while(is_core).last();
        let together = first.unwrap_or(layer)..last.unwrap_or(layer) + 1;
        let is_own = |l: &&Loop| l.is_parallel && together.contains(&self.core_layer(**l));
        let loops = self.loops.iter().filter(is_own).count();
        let open = inner.cores.iter();
        if open.filter(|core| together.contains(&core.layer)).count() == loops {
            inner.owners.push(Owner {
                layer: together.end - 1,
                cores: inner.cores.len(),
                is_even: true,
            });
        }
    }

    /// A loop whose parts have nothing to do with each other.
    fn open(&self, position: usize, tile: &Tile) -> Checked {
        self.descend(position + 1, self.part(position, tile)?)
    }

    /// Tiles of a `pw` dimension one after the other.
    fn sum(&self, position: usize, mut tile: Tile) -> Checked {
        let current = self.loops[position];
        if tile.has_scan_carry() {
            return self.bare(current, &tile, |tile| self.sum(position, tile));
        }
        if tile.carried.iter().any(|d| tile.combine[*d].is_pw()) {
            return self.open(position, &tile);
        }
        self.one_at_most(current, &tile)?;
        let carries_out = !tile.is_deferred && !self.holds_all(&tile);
        let dim = current.level.dimension;
        tile.carries = vec![Carry { dim, carries_out }];
        tile.carried.push(dim);
        self.open(position, &tile)
    }

    /// Returns whether the outputs hold every component in its own type.
    fn holds_all(&self, tile: &Tile) -> bool {
        let components = self.of.computation.components.iter().enumerate();
        let mut held = components.map(|(n, element)| {
            let mut outputs = tile.outputs.iter();
            outputs.any(|output| output.element == *element && output.components.contains(&n))
        });
        held.all(|held| held)
    }

    /// Parts of a `pw` dimension at the same time.
    fn partial_sums(&self, position: usize, tile: Tile) -> Checked {
        let current = self.loops[position];
        self.not_between(current, &tile)?;
        if tile.has_scan_carry() {
            return self.bare(current, &tile, |tile| self.partial_sums(position, tile));
        }
        self.one_at_most(current, &tile)?;
        self.of_parts(position, current, &tile)?;
        let mut inner = self.part(position, &tile)?;
        inner.write_slices(self.of.computation, &tile.kept(None), "partial");
        inner.carries.clear();
        inner.carried.clear();
        self.descend(position + 1, inner)
    }

    fn not_between(&self, of: Loop, tile: &Tile) -> Checked {
        match tile.is_deferred {
            true => Err(self.refuse(Reason::Deferred, of, BETWEEN)),
            false => Ok(()),
        }
    }

    /// A tile whose parts are combined by a computation of their own, which has a carry at most.
    fn one_at_most(&self, of: Loop, tile: &Tile) -> Checked {
        match tile.carries.len() {
            0 | 1 => Ok(()),
            _ => Err(self.refuse(
                Reason::Carries,
                of,
                "combines parts of a computation that has several carries: expected one at most",
            )),
        }
    }

    /// Parts of a level further in, combined after the loop at a position.
    fn combine_deferred(&self, position: usize, deferred: Deferred, tile: Tile) -> Checked {
        let current = self.loops[deferred.inside];
        if tile.has_scan_carry() {
            return self.bare(current, &tile, |tile| {
                self.combine_deferred(position, deferred, tile)
            });
        }
        self.one_at_most(current, &tile)?;
        self.of_parts(position, current, &tile)?;
        let mut inner = tile;
        inner.carries.clear();
        inner.carried.clear();
        inner.is_deferred = true;
        self.split(position, inner)
    }

    fn deferred_parts(&self, position: usize, mut tile: Tile) -> Checked {
        let current = self.loops[position];
        if tile.has_scan_carry() {
            return Err(self.refuse(Reason::Deferred, current, BETWEEN));
        }
        tile.is_deferred = false;
        let mut inner = self.part(position, &tile)?;
        inner.write_slices(self.of.computation, &tile.kept(None), "partial");
        self.descend(position + 1, inner)
    }

    /// Returns whether the carries of a tile can be those of its parts in a `ps` dimension, too.
    fn follows(&self, of: Loop, tile: &Tile) -> bool {
        let d = of.level.dimension;
        let Some(own) = tile.carries.iter().position(|c| c.dim == d) else {
            return true;
        };
        let inner = &tile.carries[own + 1..];
        if tile.carried.contains(&d) {
            return !inner.iter().any(|c| tile.combine[c.dim].is_ps());
        }
        let operator = self.of.computation.operator();
        let may_swap = operator.is_none_or(|operator| operator.is_commutative());
        inner.is_empty() || may_swap && !tile.carries[own..].iter().any(|c| c.carries_out)
    }

    /// Tiles of a `ps` dimension one after the other.
    fn scan(&self, position: usize, mut tile: Tile) -> Checked {
        let current = self.loops[position];
        let dim = current.level.dimension;
        if !self.follows(current, &tile) {
            return self.bare(current, &tile, |tile| self.scan(position, tile));
        }
        if !tile.carried.contains(&dim) {
            tile.carries.retain(|carry| carry.dim != dim);
            let carries_out = true;
            tile.carries.push(Carry { dim, carries_out });
            tile.carried.push(dim);
        }
        self.open(position, &tile)
    }

    /// Parts of a `ps` dimension at the same time: the combination of each part, then each part with
    /// what those before it combine to.
    fn partial_scans(&self, position: usize, tile: Tile) -> Checked {
        let current = self.loops[position];
        let d = current.level.dimension;
        if self.is_in_registers(current)? {
            return Err(self.refuse(
                Reason::Threads,
                current,
                "combines prefix-sums in registers of threads: expected 'shared' or 'device' there",
            ));
        }
        self.not_between(current, &tile)?;
        if !self.follows(current, &tile) {
            return self.bare(current, &tile, |tile| self.partial_scans(position, tile));
        }
        let part = self.part(position, &tile)?;
        if !self.is_free(position + 1, &part) {
            let mut inner = part.clone();
            inner.write_slices(self.of.computation, &tile.kept(Some(d)), "partial");
            inner.combine[d] = Combine::Pw(0);
            inner.carries.clear();
            inner.carried.clear();
            self.descend(position + 1, inner)?;
        }
        let mut inner = part;
        let part_carry = Carry {
            dim: d,
            carries_out: false,
        };
        match inner.carries.iter().position(|carry| carry.dim == d) {
            Some(place) => inner.carries[place] = part_carry,
            None => inner.carries.push(part_carry),
        }
        inner.carried.retain(|carried| *carried != d);
        self.descend(position + 1, inner)
    }

    /// Returns whether the model, not the schedule, has the loops from a position on, where these are for a
    /// combination that the schedule does not speak of.
    fn is_free(&self, position: usize, tile: &Tile) -> bool {
        let resolved = self.of.resolved;
        let mut loops = self.loops[position.min(self.leaf)..self.leaf].iter();
        !resolved.asm.has_kernels()
            && !loops.any(|of| of.is_parallel)
            && tile.inputs.iter().all(|input| input.stored.is_none())
            && !staging::copies_from(self, position)
            && !resolved.copies_for_scalar()
    }

    /// A tile without the carries that it receives, in memory of its own.
    fn bare(&self, of: Loop, tile: &Tile, body: impl FnOnce(Tile) -> Checked) -> Checked {
        self.not_between(of, tile)?;
        let mut inner = tile.clone();
        inner.write_slices(self.of.computation, &tile.kept(None), "copy");
        inner.carries.clear();
        inner.carried.clear();
        body(inner)
    }
}
