//! Computations that read the results of others, and what a tile of one needs of the others.

use std::collections::BTreeMap;

use mdh_algebra::computation::Computation;
use mdh_algebra::schedule::reach::{self, Link, Need};
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::{parts, schedule};
use melior::ir::BlockLike;
use melior::ir::operation::OperationLike;

use crate::program::Searched;

/// The most computations that are looked at before one in which they may be computed.
const BEFORE: usize = 16;

/// A computation of the program, as it was read.
pub(crate) type Read<'c> = (parts::Parts<'c>, Computation);

/// The computations that read the results of others.
pub(crate) struct Links<'c, 'l> {
    pub(crate) computations: &'l [Op<'c>],
    pub(crate) read: &'l [Read<'c>],
}

impl<'c> Links<'c, '_> {
    /// A computation's results: tensors, or the memory that it writes.
    fn results(&self, n: usize) -> Vec<Val<'c>> {
        let outputs = self.read[n].0.outputs.iter().enumerate();
        let result = |o| ir::result(self.computations[n], o);
        outputs
            .map(|(o, output)| result(o).unwrap_or(output.value))
            .collect()
    }

    fn reads(&self, reader: usize, results: &[Val<'c>]) -> bool {
        let mut inputs = self.read[reader].0.inputs.iter();
        inputs.any(|input| results.contains(&input.value))
    }

    /// The names of a reader's inputs that are another one's results.
    pub(crate) fn inputs(&self, reader: usize, n: usize) -> Vec<String> {
        let results = self.results(n);
        let inputs = self.read[reader].0.inputs.iter();
        let inputs = inputs.filter(|input| results.contains(&input.value));
        inputs.map(|input| input.name.clone()).collect()
    }

    /// For each computation that is searched those that read it, by their numbers.
    pub(crate) fn readers(&self, searched: &[Searched]) -> Vec<Vec<usize>> {
        let each = searched.iter().map(|one| {
            let results = self.results(one.position);
            let all = (0..searched.len()).filter(|n| searched[*n].position > one.position);
            all.filter(|n| self.reads(searched[*n].position, &results))
                .collect()
        });
        each.collect()
    }

    /// For each computation that may be computed in a consumer, as far as that shows here: the
    /// consumer's dimensions that move what a tile needs of it.
    pub(crate) fn moving(&self, consumer: usize) -> BTreeMap<usize, Vec<usize>> {
        let rank = self.read[consumer].1.dimensions.len();
        let mut known = BTreeMap::from([(consumer, reach::own(rank))]);
        let block = |n: usize| self.computations[n].block().map(|b| b.to_raw().ptr);
        let name = schedule::name(self.computations[consumer]);
        for n in (consumer.saturating_sub(BEFORE)..consumer).rev() {
            if block(n) == block(consumer)
                && let Some(needs) = self.needs(n, &known, rank)
            {
                known.insert(n, needs);
            }
            // A schedule names the next computation of a name.
            if schedule::name(self.computations[n]) == name {
                break;
            }
        }
        known.remove(&consumer);
        let moving = |needs: Vec<Need>| (0..rank).filter(|d| reach::moves(&needs, *d)).collect();
        known
            .into_iter()
            .map(|(n, needs)| (n, moving(needs)))
            .collect()
    }

    /// The needs of a tile from a computation, if all that read it are known to be computed there.
    fn needs(
        &self,
        n: usize,
        known: &BTreeMap<usize, Vec<Need>>,
        rank: usize,
    ) -> Option<Vec<Need>> {
        let (parts, computation) = &self.read[n];
        let results = self.results(n);
        let mut links = Vec::new();
        for reader in n + 1..self.computations.len() {
            if !self.reads(reader, &results) {
                continue;
            }
            let (of, needs) = (&self.read[reader], known.get(&reader)?);
            for (input, read) in of.0.inputs.iter().zip(&of.1.inputs) {
                let written = results.iter().zip(&computation.outputs);
                let written = written.filter(|(value, _)| **value == input.value);
                let reader = needs.as_slice();
                links.extend(written.map(|(_, written)| Link {
                    written,
                    read,
                    reader,
                }));
                if input.pad.is_some() && results.contains(&input.value) {
                    return None;
                }
            }
        }
        let is_read = |user: Op| self.computations.contains(&user);
        let is_tensor = ir::result(self.computations[n], 0).is_some();
        let mut users = results
            .iter()
            .filter(|_| is_tensor)
            .flat_map(|v| ir::users(*v));
        let is_movable = parts.carries.is_empty() && users.all(is_read) && !links.is_empty();
        is_movable.then(|| reach::needs(computation, &links, rank))
    }
}
