//! The order in which a network is contracted: which factors are multiplied, summed and stored, and
//! used by which later step.
//!
//! For up to [`MOST_FACTORS`] factors this is the cheapest of all orders, by dynamic programming over
//! sets of factors (Pfeifer, Haegeman, Verstraete, Faster identification of optimal contraction
//! sequences for tensor networks, Phys. Rev. E 90, 2014). A step multiplies some factors as they are
//! and the results of at most two earlier steps; theirs are other factors. With more factors the pair
//! with the fewest points is next.
//!
//! What a step costs is the operations at all its points, and what it stores. Only what has been
//! summed over something is stored, so that no product is, and single factors that would be
//! computed repeatedly.

use super::Loop;
use super::STORED;
use super::terms::{Loops, TermId, Terms};

/// Up to so many factors all orders are tried: of n factors, 3^n pairs of sets.
pub const MOST_FACTORS: usize = 10;
/// Up to so many factors pairs are tried; more are one step.
const MOST_FOR_PAIRS: usize = 64;

/// A step: what it multiplies, and which loops its result keeps.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Choice {
    /// Factors, by their positions.
    pub(super) factors: Vec<usize>,
    /// Results of earlier steps, by their positions.
    pub(super) results: Vec<usize>,
    /// The loops that something else needs.
    pub(super) kept: Loops,
}

/// The steps for the product of some factors, in order. `outside` are the loops that the whole
/// result has.
pub(super) fn choose(terms: &Terms, factors: &[TermId], outside: &Loops) -> Vec<Choice> {
    let mut loops: Vec<Loop> = factors
        .iter()
        .flat_map(|id| terms.loops(*id).clone())
        .collect();
    loops.sort_unstable();
    loops.dedup();
    match factors.len() {
        0..=MOST_FACTORS if loops.len() <= Bits::BITS as usize => {
            Sets::new(terms, factors, outside, loops).best()
        }
        0..=MOST_FOR_PAIRS => pairs(terms, factors, outside),
        count => vec![Choice {
            factors: (0..count).collect(),
            results: Vec::new(),
            kept: outside.clone(),
        }],
    }
}

/// A set of factors, as bits.
type Set = usize;

/// Loops as bits.
type Bits = u128;

/// The cheapest way to get the stored result of a set of factors: the sets whose results are used.
#[derive(Clone, Copy)]
struct Best {
    cost: f64,
    stored: [Set; 2],
}

/// Facts about each set of factors.
struct Sets {
    loops: Vec<Loop>,
    /// The size of each loop.
    sizes: Vec<f64>,
    /// The loops of the factors themselves.
    own: Vec<Bits>,
    /// Those of them that other factors or the whole result have.
    kept: Vec<Bits>,
    /// The operations of the factors themselves.
    operations: Vec<f64>,
}

impl Sets {
    fn new(terms: &Terms, factors: &[TermId], outside: &Loops, loops: Vec<Loop>) -> Sets {
        let bits = |set: &Loops| -> Bits {
            let places = (0..loops.len()).filter(|n| set.contains(&loops[*n]));
            places.map(|n| 1 << n).sum()
        };
        let bits_of: Vec<Bits> = factors.iter().map(|id| bits(terms.loops(*id))).collect();
        let full: Set = (1 << factors.len()) - 1;
        let covered: Vec<Bits> = (0..=full)
            .map(|set| members(set).fold(0, |bits, n| bits | bits_of[n]))
            .collect();
        let outside = bits(outside);
        let needed = (0..=full).map(|set| covered[set] & (covered[full & !set] | outside));
        let operations = |set| members(set).map(|n| terms.operations(factors[n])).sum();
        Sets {
            sizes: loops.iter().map(|l| terms.sizes[*l] as f64).collect(),
            kept: needed.collect(),
            operations: (0..=full).map(operations).collect(),
            own: covered,
            loops,
        }
    }

    fn points(&self, loops: Bits) -> f64 {
        let places = (0..self.sizes.len()).filter(|n| loops & (1 << n) != 0);
        places.map(|n| self.sizes[n]).product()
    }

    /// The cost of a step that gives the result of a set from those results and its other factors; none
    /// if it would store what has not been summed over anything, and is neither the whole nor a factor.
    fn step(&self, set: Set, stored: [Set; 2]) -> Option<f64> {
        let rest = set & !(stored[0] | stored[1]);
        let loops = self.own[rest] | self.kept[stored[0]] | self.kept[stored[1]];
        let parts = rest.count_ones() + stored.iter().filter(|set| **set != 0).count() as u32;
        let is_whole = set == self.own.len() - 1;
        let is_computed = set.count_ones() == 1 && self.operations[set] > 0.0;
        let sums = match loops == self.kept[set] {
            true if !is_whole && !is_computed => return None,
            true => 0.0,
            false => 1.0,
        };
        let operations = self.operations[rest] + f64::from(parts) - 1.0 + sums;
        Some(self.points(loops) * operations.max(1.0) + self.points(self.kept[set]) * STORED)
    }

    /// Smaller numbers first: subsets have smaller ones.
    fn best(&self) -> Vec<Choice> {
        let full: Set = self.own.len() - 1;
        let mut best: Vec<Option<Best>> = vec![None; full + 1];
        for set in 1..=full {
            let mut cheapest: Option<Best> = None;
            let mut attempt = |before: f64, stored: [Set; 2]| {
                let cost = self.step(set, stored).map(|cost| before + cost);
                let is_better = |cost: f64| cheapest.is_none_or(|best| cost < best.cost);
                if let Some(cost) = cost.filter(|cost| is_better(*cost)) {
                    cheapest = Some(Best { cost, stored });
                }
            };
            attempt(0.0, [0, 0]);
            let mut part = (set - 1) & set;
            while part > 0 {
                let rest = set & !part;
                if let Some(first) = best[part] {
                    attempt(first.cost, [part, 0]);
                    // Each pair is tried once.
                    if let Some(other) = best[rest].filter(|_| part < rest) {
                        attempt(first.cost + other.cost, [part, rest]);
                    }
                }
                part = (part - 1) & set;
            }
            best[set] = cheapest;
        }
        self.choices(&best)
    }

    /// The steps that the best way to the whole result takes.
    fn choices(&self, best: &[Option<Best>]) -> Vec<Choice> {
        let stored = |set: Set| best[set].map_or([0, 0], |best| best.stored);
        let (mut open, mut sets) = (vec![best.len() - 1], Vec::new());
        while let Some(set) = open.pop() {
            sets.push(set);
            open.extend(stored(set).into_iter().filter(|set| *set != 0));
        }
        sets.sort_unstable();
        let choice = |set: &Set| {
            let [a, b] = stored(*set);
            let before = [a, b].into_iter().filter(|set| *set != 0);
            let kept_loops = (0..self.loops.len()).filter(|n| self.kept[*set] & (1 << n) != 0);
            Choice {
                factors: members(set & !(a | b)).collect(),
                results: before
                    .filter_map(|set| sets.binary_search(&set).ok())
                    .collect(),
                kept: kept_loops.map(|n| self.loops[n]).collect(),
            }
        };
        sets.iter().map(choice).collect()
    }
}

/// The factors of a set.
fn members(set: Set) -> impl Iterator<Item = usize> {
    (0..Set::BITS as usize).filter(move |n| set & (1 << n) != 0)
}

/// A product of factors, and its loops.
struct PartialProduct {
    factors: Vec<usize>,
    results: Vec<usize>,
    loops: Loops,
}

/// The pair with the fewest points first; what it need not keep is summed over at once.
fn pairs(terms: &Terms, factors: &[TermId], outside: &Loops) -> Vec<Choice> {
    let parts = factors.iter().enumerate().map(|(n, id)| PartialProduct {
        factors: vec![n],
        results: Vec::new(),
        loops: terms.loops(*id).clone(),
    });
    let mut parts: Vec<PartialProduct> = parts.collect();
    let mut choices = Vec::new();
    let mut reduce = |part: PartialProduct, others: &[PartialProduct]| {
        let is_needed =
            |l: &&Loop| outside.contains(l) || others.iter().any(|other| other.loops.contains(l));
        let needed: Loops = part.loops.iter().filter(is_needed).copied().collect();
        if needed == part.loops && !others.is_empty() {
            return part;
        }
        choices.push(Choice {
            factors: part.factors,
            results: part.results,
            kept: needed.clone(),
        });
        PartialProduct {
            factors: Vec::new(),
            results: vec![choices.len() - 1],
            loops: needed,
        }
    };
    while parts.len() > 1 {
        let cost = |&(a, b): &(usize, usize)| terms.points(&(&parts[a].loops | &parts[b].loops));
        let pairs = (0..parts.len()).flat_map(|a| (a + 1..parts.len()).map(move |b| (a, b)));
        let cheapest = pairs.min_by(|x, y| cost(x).total_cmp(&cost(y)));
        let (a, b) = cheapest.unwrap_or((0, 1));
        let (mut right, mut left) = (parts.remove(b), parts.remove(a));
        left.factors.append(&mut right.factors);
        left.results.append(&mut right.results);
        left.loops.append(&mut right.loops);
        let part = reduce(left, &parts);
        parts.push(part);
    }
    choices
}
