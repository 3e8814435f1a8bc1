//! Computations that read the results of others, and what a tile of one needs of the others.

use std::collections::BTreeMap;

use mdh_algebra::computation::Computation;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::{ops, parts, schedule};
use mdh_schedule::reach::{self, Link, Need};
use melior::ir::BlockLike;
use melior::ir::operation::OperationLike;

use super::program::Searched;

/// The most computations that are looked at before one in which they may be computed.
const BEFORE: usize = 16;

/// A computation of the program, as it was read.
pub(crate) type Read<'c> = (parts::Parts<'c>, Computation);

/// A computation that may be computed in loops of a consumer.
pub(crate) struct Movable {
    /// The consumer's dimensions that move what a tile needs of it.
    pub(crate) moving: Vec<usize>,
    /// True if more than tiles read its results, which stay in memory as a whole.
    pub(crate) is_kept: bool,
}

/// The computations that read the results of others.
pub(crate) struct Links<'c, 'l> {
    pub(crate) computations: &'l [Op<'c>],
    pub(crate) read: &'l [Read<'c>],
    /// Those whose schedules are searched, by their positions.
    pub(crate) searched: Vec<usize>,
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
        let readers = searched.iter().map(|entry| {
            let results = self.results(entry.position);
            let behind = (0..searched.len()).filter(|n| searched[*n].position > entry.position);
            behind
                .filter(|n| self.reads(searched[*n].position, &results))
                .collect()
        });
        readers.collect()
    }

    /// The computations that may be computed in a consumer, as far as that shows here.
    pub(crate) fn movable(&self, consumer: usize) -> BTreeMap<usize, Movable> {
        let rank = self.read[consumer].1.dimensions.len();
        let mut known = BTreeMap::from([(consumer, reach::own(rank))]);
        let mut movable = BTreeMap::new();
        let block = |n: usize| self.computations[n].block().map(|b| b.to_raw().ptr);
        let name = schedule::name(self.computations[consumer]);
        for n in (consumer.saturating_sub(BEFORE)..consumer).rev() {
            if block(n) == block(consumer)
                && self.searched.contains(&n)
                && let Some(needs) = self.needs(n, consumer, &known)
                && let Some(is_kept) = self.is_kept(n, consumer, &needs)
            {
                let moving = (0..rank).filter(|d| reach::moves(&needs, *d)).collect();
                movable.insert(n, Movable { moving, is_kept });
                known.insert(n, needs);
            }
            // A schedule names the next computation of a name.
            if schedule::name(self.computations[n]) == name {
                break;
            }
        }
        movable
    }

    /// The needs of a consumer's tile from a computation, if all that read it before the consumer are known to
    /// be computed there.
    fn needs(
        &self,
        n: usize,
        consumer: usize,
        known: &BTreeMap<usize, Vec<Need>>,
    ) -> Option<Vec<Need>> {
        let (parts, computation) = &self.read[n];
        let results = self.results(n);
        let mut links = Vec::new();
        for reader in n + 1..=consumer {
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
        let rank = self.read[consumer].1.dimensions.len();
        let is_movable = parts.carries.is_empty() && !links.is_empty();
        is_movable.then(|| reach::needs(computation, &links, rank))
    }

    /// Returns whether somebody else than a consumer and those before it uses what a computation leaves;
    /// `None` if that forbids to compute it there: each point of it is to be computed once, before these do.
    fn is_kept(&self, n: usize, consumer: usize, needs: &[Need]) -> Option<bool> {
        let results = self.results(n);
        let is_tensor = ir::result(self.computations[n], 0).is_some();
        let is_part = |user: &Op<'c>| self.computations[n..=consumer].contains(user);
        let users = results.iter().flat_map(|value| ir::users(*value));
        let mut outside =
            users.filter(|user| !is_part(user) && ir::name_of(*user) != ops::memref::DEALLOC);
        let is_kept = match is_tensor {
            true => {
                let outside: Vec<Op> = outside.collect();
                if !outside.iter().all(|user| self.is_behind(*user, consumer)) {
                    return None;
                }
                !outside.is_empty()
            }
            false => {
                let stored = &self.read[consumer].0.outputs;
                let is_own = |value: &Val<'c>| {
                    let op = ir::defining_op(*value);
                    op.is_some_and(|op| ir::name_of(op) == ops::memref::ALLOC)
                        || stored.iter().any(|output| output.value == *value)
                };
                outside.next().is_some() || !results.iter().all(is_own)
            }
        };
        let (producer, reader) = (&self.read[n].1, &self.read[consumer].1);
        (!is_kept || reach::is_partition(producer, needs, reader)).then_some(is_kept)
    }

    /// Returns whether an operation is behind a computation, or in something that is.
    fn is_behind(&self, op: Op<'c>, n: usize) -> bool {
        let next = |op: &Op<'c>| op.next_in_block().map(|op| ir::op(&op));
        let mut behind = std::iter::successors(next(&self.computations[n]), next);
        behind.any(|own| ir::ancestors(op).any(|around| around == own))
    }
}
