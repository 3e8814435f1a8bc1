//! The order in which a network is contracted: which factors are multiplied, summed and stored, and
//! used by which later step.
//!
//! For up to [`MOST_FACTORS`] factors this is the cheapest of all orders, by dynamic programming over
//! sets of factors (Pfeifer, Haegeman, Verstraete, Faster identification of optimal contraction
//! sequences for tensor networks, Phys. Rev. E 90, 2014). A step multiplies some factors as they are
//! and the results of at most two earlier steps; theirs are other factors. With more factors `greedy`
//! chooses.
//!
//! What a step costs is the operations at all its points, and what it stores. Only what has been
//! summed over something is stored, and single factors that would be computed repeatedly; whether
//! products are, [`Products`] says.

use super::STORED;
use super::greedy;
use super::{Loop, Loops};

/// Up to so many factors all orders are tried: of n factors, 3^n pairs of sets.
pub const MOST_FACTORS: usize = 10;

/// A factor of a network.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Factor {
    /// The loops whose indices it depends on.
    pub(crate) loops: Loops,
    /// Cost of computing it at one point, in additions.
    pub(crate) operations: f64,
}

/// Treatment of products of which nothing has been summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Products {
    /// They are computed where they are used.
    Computed,
    /// They are stored where that costs less.
    Stored,
}

/// A network: a product of factors, summed over the loops that the result has not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Network<'a> {
    /// The size of each loop.
    pub(crate) sizes: &'a [u64],
    /// The factors.
    pub(crate) factors: &'a [Factor],
    /// The loops of the result.
    pub(crate) outside: &'a Loops,
    /// Treatment of products.
    pub(crate) products: Products,
}

/// A step: what it multiplies, and which loops its result keeps.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Choice {
    /// Factors, by their positions.
    pub(crate) factors: Vec<usize>,
    /// Results of earlier steps, by their positions.
    pub(crate) results: Vec<usize>,
    /// The loops that something else needs.
    pub(crate) kept: Loops,
}

impl Network<'_> {
    /// The steps that contract it, in order; the last one gives the whole.
    pub(crate) fn choose(&self) -> Vec<Choice> {
        let loops = self.factors.iter().flat_map(|factor| &factor.loops);
        let loops: Vec<Loop> = loops.copied().collect::<Loops>().into_iter().collect();
        let is_small = self.factors.len() <= MOST_FACTORS && loops.len() <= Bits::BITS as usize;
        match is_small {
            true => Sets::new(self, loops).best(),
            false => greedy::choose(self),
        }
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
    products: Products,
}

impl Sets {
    fn new(network: &Network, loops: Vec<Loop>) -> Sets {
        let factors = network.factors;
        let bits = |set: &Loops| -> Bits {
            let places = (0..loops.len()).filter(|n| set.contains(&loops[*n]));
            places.map(|n| 1 << n).sum()
        };
        let bits_of: Vec<Bits> = factors.iter().map(|factor| bits(&factor.loops)).collect();
        let full: Set = (1 << factors.len()) - 1;
        let covered: Vec<Bits> = (0..=full)
            .map(|set| members(set).fold(0, |bits, n| bits | bits_of[n]))
            .collect();
        let outside = bits(network.outside);
        let needed = (0..=full).map(|set| covered[set] & (covered[full & !set] | outside));
        let operations = |set| members(set).map(|n| factors[n].operations).sum();
        Sets {
            sizes: loops.iter().map(|l| network.sizes[*l] as f64).collect(),
            kept: needed.collect(),
            operations: (0..=full).map(operations).collect(),
            own: covered,
            products: network.products,
            loops,
        }
    }

    fn points(&self, loops: Bits) -> f64 {
        let places = (0..self.sizes.len()).filter(|n| loops & (1 << n) != 0);
        places.map(|n| self.sizes[n]).product()
    }

    /// The cost of a step that gives the result of a set from those results and its other factors; none
    /// if it would store what may not be stored: a product, or a factor that is there.
    fn step(&self, set: Set, stored: [Set; 2]) -> Option<f64> {
        let rest = set & !(stored[0] | stored[1]);
        let loops = self.own[rest] | self.kept[stored[0]] | self.kept[stored[1]];
        let parts = rest.count_ones() + stored.iter().filter(|set| **set != 0).count() as u32;
        let is_whole = set == self.own.len() - 1;
        let is_stored = match set.count_ones() {
            1 => self.operations[set] > 0.0,
            _ => self.products == Products::Stored,
        };
        let sums = match loops == self.kept[set] {
            true if !is_whole && !is_stored => return None,
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
