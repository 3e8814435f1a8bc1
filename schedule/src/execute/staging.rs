//! D3: tiles of inputs, copied from one region to the next, and read by the scalar function.

use super::Run;
use crate::capacity::{Allocation, PhaseName};
use crate::resolved::PhaseNest;
use mdh_algebra::computation::Place;
use mdh_algebra::oracle::Failure;
use mdh_algebra::scalar::Scalar;

impl Run<'_> {
    /// An input's allocations in de-composition, outermost first.
    pub(super) fn tiles_of(&self, input: usize) -> Vec<usize> {
        let allocations = self.allocations.iter().enumerate();
        let is_tile =
            |a: &Allocation| a.place == Place::Input(input) && a.phase == PhaseName::Decompose;
        allocations
            .filter(|(_, a)| is_tile(a))
            .map(|(n, _)| n)
            .collect()
    }

    pub(super) fn read(
        &mut self,
        input: usize,
        access: usize,
        from: Option<usize>,
        point: &[i64],
        numbers: &[i64],
    ) -> Result<Scalar, Failure> {
        let buffer = &self.computation.inputs[input];
        let outside = |index| Failure::Outside {
            buffer: buffer.name.clone(),
            index,
            shape: buffer.shape.iter().map(|n| n.unwrap_or(0)).collect(),
        };
        let (index, inside) = self
            .index(input, access, point)
            .ok_or_else(|| outside(None))?;
        match (inside, buffer.pad) {
            (true, _) => {}
            (false, Some(pad)) => return Ok(pad),
            (false, None) => return Err(outside(Some(index))),
        }
        let Some(from) = from else {
            let element = self.environment.read(Place::Input(input), &index)?;
            return Ok(element.value);
        };
        let tile = self.staged.get(&(from, self.key(from, numbers)));
        let value = tile.and_then(|tile| tile.get(&index));
        let name = &buffer.name;
        let missing = || Failure::NotReady(format!("bug: '{name}' {index:?} is not staged"));
        value.copied().ok_or_else(missing)
    }

    /// Returns the tile of an allocation to which a point belongs.
    fn key(&self, allocation: usize, numbers: &[i64]) -> Vec<i64> {
        let fixed = self.allocations[allocation].fixed.iter();
        fixed
            .map(|level| self.tiles.part(*level, numbers[level.dimension]))
            .collect()
    }

    /// Fills the tiles that are made before the loop of a position.
    pub(super) fn stage(
        &mut self,
        nest: &PhaseNest,
        position: usize,
        parts: &[i64],
    ) -> Result<(), Failure> {
        for input in 0..self.computation.inputs.len() {
            let chain = self.tiles_of(input);
            for (k, allocation) in chain.iter().enumerate() {
                if self.allocations[*allocation].position == position {
                    let from = k.checked_sub(1).map(|k| chain[k]);
                    let mut parts = parts.to_vec();
                    self.fill(nest, (input, *allocation, from), position, &mut parts)?;
                }
            }
        }
        Ok(())
    }

    fn fill(
        &mut self,
        nest: &PhaseNest,
        (input, to, from): (usize, usize, Option<usize>),
        position: usize,
        parts: &mut Vec<i64>,
    ) -> Result<(), Failure> {
        if let Some(level) = nest.phase.order.get(position) {
            for part in 0..self.tiles.count(*level) {
                parts[position] = part;
                self.fill(nest, (input, to, from), position + 1, parts)?;
            }
            parts[position] = 0;
            return Ok(());
        }
        let Some(numbers) = self.numbers(nest, parts) else {
            return Ok(());
        };
        let point = self.point(&numbers);
        for access in 0..self.computation.inputs[input].accesses.len() {
            let Some((index, true)) = self.index(input, access, &point) else {
                continue;
            };
            let key = (to, self.key(to, &numbers));
            if self
                .staged
                .get(&key)
                .is_some_and(|tile| tile.contains_key(&index))
            {
                continue;
            }
            let value = self.read(input, access, from, &point, &numbers)?;
            let tile = self.staged.entry(key).or_default();
            tile.insert(index, value);
            self.copied[to] += 1;
            let most = self.allocations[to].shape.iter().product::<i64>();
            if tile.len() as i64 > most {
                let name = &self.computation.inputs[input].name;
                let message = format!("bug: a tile of '{name}' has more than {most} elements");
                return Err(Failure::NotReady(message));
            }
        }
        Ok(())
    }
}
