//! Steps of an einsum: which operands and results each multiplies, what it sums, and what that costs.

use std::collections::BTreeSet;

use super::indices::{Access, Indices};
use super::path::Path;
use crate::plan::order::{Choice, Factor, Network, Products};
use crate::plan::{Loop, Loops, arranged};

/// A tensor that a step reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Source {
    Operand(usize),
    Step(usize),
}

/// One computation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Contraction {
    /// The loops of its result, in the order of the axes.
    pub(super) kept: Vec<Loop>,
    /// The loops that it sums over.
    pub(super) sums: Vec<Loop>,
    /// The tensors that it multiplies.
    pub(super) sources: Vec<Source>,
}

/// All steps, and what they cost.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Contractions {
    pub(super) steps: Vec<Contraction>,
    pub(super) path: Path,
}

impl Contractions {
    /// Everything at once, the operands in their order: the scalar operator may be any.
    pub(super) fn at_once(indices: &Indices) -> Contractions {
        let operands = 0..indices.operands.len();
        let choice = Choice {
            factors: operands.collect(),
            results: Vec::new(),
            kept: indices.result.iter().copied().collect(),
        };
        let mut whole = Contractions::new(indices, &[choice]);
        for step in &mut whole.steps {
            step.sources.sort_unstable();
        }
        whole
    }

    /// The order that costs least, or a good one of many operands.
    pub(super) fn cheapest(indices: &Indices) -> Contractions {
        let factor = |access: &Access| Factor {
            loops: access.loops(),
            operations: 0.0,
        };
        let factors: Vec<Factor> = indices.operands.iter().map(factor).collect();
        let outside: Loops = indices.result.iter().copied().collect();
        let network = Network {
            sizes: &indices.sizes,
            factors: &factors,
            outside: &outside,
            products: Products::Stored,
        };
        Contractions::new(indices, &network.choose())
    }

    /// The order of a path, which is one of these operands.
    pub(super) fn of_path(indices: &Indices, path: &[Vec<usize>]) -> Contractions {
        let operands = indices.operands.len();
        let mut left: Vec<(Source, Loops)> = (0..operands)
            .map(|n| (Source::Operand(n), indices.operands[n].loops()))
            .collect();
        let outside: Loops = indices.result.iter().copied().collect();
        let mut choices: Vec<Choice> = Vec::new();
        for positions in path {
            let taken = taken(&mut left, positions);
            let used = left.iter().flat_map(|(_, loops)| loops);
            let needed: Loops = used.chain(&outside).copied().collect();
            let loops: Loops = taken.iter().flat_map(|(_, loops)| loops).copied().collect();
            let mut choice = Choice {
                factors: Vec::new(),
                results: Vec::new(),
                kept: &loops & &needed,
            };
            for (source, _) in taken {
                match source {
                    Source::Operand(n) => choice.factors.push(n),
                    Source::Step(n) => choice.results.push(n),
                }
            }
            left.push((Source::Step(choices.len()), choice.kept.clone()));
            choices.push(choice);
        }
        Contractions::new(indices, &choices)
    }

    fn new(indices: &Indices, choices: &[Choice]) -> Contractions {
        let mut steps: Vec<Contraction> = Vec::new();
        let mut left: Vec<Source> = (0..indices.operands.len()).map(Source::Operand).collect();
        let mut path = Path::new();
        for (number, choice) in choices.iter().enumerate() {
            let factors = choice.factors.iter().map(|n| Source::Operand(*n));
            let results = choice.results.iter().map(|n| Source::Step(*n));
            let mut sources: Vec<Source> = factors.chain(results).collect();
            let reads: Vec<Vec<Loop>> = sources.iter().map(|s| axes(indices, &steps, *s)).collect();
            let axes_kept = match number + 1 == choices.len() {
                true => indices.result.clone(),
                false => {
                    let reads = reads.iter().map(|read| &read[..]);
                    arranged(&indices.sizes, reads, &choice.kept)
                }
            };
            let sums = summed(indices, &reads, &axes_kept);
            let positions = left.iter().enumerate().filter(|(_, s)| sources.contains(s));
            path.push(positions.map(|(n, _)| n).collect());
            left.retain(|source| !sources.contains(source));
            left.push(Source::Step(number));
            sources.sort_by_key(|source| {
                first_kept(&axes_kept, &reads, &axes(indices, &steps, *source))
            });
            steps.push(Contraction {
                kept: axes_kept,
                sums,
                sources,
            });
        }
        Contractions { steps, path }
    }

    /// The operations: for each point of a step, its products, and a sum if it sums.
    pub(super) fn flops(&self, indices: &Indices) -> f64 {
        let of_step = |step: &Contraction| {
            let products = (step.sources.len() - 1).max(1) as f64;
            let sums = f64::from(u8::from(!step.sums.is_empty()));
            points(indices, step.kept.iter().chain(&step.sums)) * (products + sums)
        };
        self.steps.iter().map(of_step).sum()
    }

    /// The elements of the largest result of a step.
    pub(super) fn largest(&self, indices: &Indices) -> f64 {
        let sizes = self
            .steps
            .iter()
            .map(|step| points(indices, step.kept.iter()));
        sizes.fold(0.0, f64::max)
    }
}

/// The loops of a tensor's axes, without those that do not depend on one.
fn axes(indices: &Indices, steps: &[Contraction], source: Source) -> Vec<Loop> {
    match source {
        Source::Operand(n) => indices.operands[n].0.iter().flatten().copied().collect(),
        Source::Step(n) => steps[n].kept.clone(),
    }
}

/// The loops that are read and not kept, in the order of the largest tensor that has some.
fn summed(indices: &Indices, reads: &[Vec<Loop>], kept: &[Loop]) -> Vec<Loop> {
    let mut reads: Vec<&Vec<Loop>> = reads.iter().collect();
    reads.sort_by(|a, b| points(indices, b.iter()).total_cmp(&points(indices, a.iter())));
    let mut sums = Vec::new();
    for l in reads.into_iter().flatten() {
        if !kept.contains(l) && !sums.contains(l) {
            sums.push(*l);
        }
    }
    sums
}

/// The axis of a result that comes first of those that a tensor has and another one has not: factors of products of
/// matrices are in the order of rows and columns.
fn first_kept(kept: &[Loop], reads: &[Vec<Loop>], own: &[Loop]) -> usize {
    let is_common = |l: &Loop| reads.iter().all(|read| read.contains(l));
    let mut axes = kept.iter();
    let first = axes.position(|l| own.contains(l) && !is_common(l));
    first.unwrap_or(kept.len())
}

/// The number of points of some loops.
fn points<'l>(indices: &Indices, loops: impl Iterator<Item = &'l Loop>) -> f64 {
    let loops: BTreeSet<Loop> = loops.copied().collect();
    loops.iter().map(|l| indices.sizes[*l] as f64).product()
}

/// Takes the elements at some positions out of a list.
fn taken<T>(list: &mut Vec<T>, positions: &[usize]) -> Vec<T> {
    let mut sorted = positions.to_vec();
    sorted.sort_unstable();
    let mut taken: Vec<T> = sorted.iter().rev().map(|n| list.remove(*n)).collect();
    taken.reverse();
    taken
}
