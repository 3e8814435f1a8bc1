//! The order of a network with many factors: two at a time, those next whose product is smallest beside the two (Gray,
//! Kourtis, Hyper-optimized tensor network contraction, Quantum 5, 2021; the `greedy` of opt_einsum).
//!
//! What no other factor and not the result needs of a loop is summed at once, of single factors first. Candidates are
//! pairs with a common loop; what has none in common is multiplied last, as one product.

use std::cmp::Ordering;
use std::collections::{BTreeSet, BinaryHeap};

use super::order::{Choice, Network, Products};
use super::{Loop, Loops};

/// So many factors and results at most are multiplied in one step.
const MOST_IN_STEP: usize = 16;

/// The steps that contract a network, in order; the last one gives the whole.
pub(super) fn choose(network: &Network) -> Vec<Choice> {
    let mut greedy = Greedy::new(network);
    for number in 0..network.factors.len() {
        if let Some(factor) = greedy.take(number) {
            let factor = greedy.settled(factor);
            greedy.put(factor);
        }
    }
    while let Some(Candidate { pair: [a, b], .. }) = greedy.candidates.pop() {
        if greedy.products[a].is_none() || greedy.products[b].is_none() {
            continue;
        }
        let pair: Vec<PartialProduct> = [a, b].iter().filter_map(|n| greedy.take(*n)).collect();
        let product = greedy.settled(joined(pair));
        greedy.put(product);
    }
    greedy.finish()
}

/// A product of factors and results that is not stored yet, or one of them.
struct PartialProduct {
    factors: Vec<usize>,
    results: Vec<usize>,
    loops: Loops,
}

impl PartialProduct {
    fn count(&self) -> usize {
        self.factors.len() + self.results.len()
    }
}

/// The product of several.
fn joined(products: impl IntoIterator<Item = PartialProduct>) -> PartialProduct {
    let mut whole = PartialProduct {
        factors: Vec::new(),
        results: Vec::new(),
        loops: Loops::new(),
    };
    for mut product in products {
        whole.factors.append(&mut product.factors);
        whole.results.append(&mut product.results);
        whole.loops.append(&mut product.loops);
    }
    whole
}

/// Two products that may be multiplied next; the first in a heap is the one of the least cost.
#[derive(PartialEq)]
struct Candidate {
    cost: f64,
    pair: [usize; 2],
}

impl Eq for Candidate {}

impl Ord for Candidate {
    fn cmp(&self, other: &Candidate) -> Ordering {
        let by_cost = other.cost.total_cmp(&self.cost);
        by_cost.then_with(|| other.pair.cmp(&self.pair))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Candidate) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

struct Greedy<'a> {
    network: &'a Network<'a>,
    /// All that there ever were; none in the place of those that are part of another one.
    products: Vec<Option<PartialProduct>>,
    /// For each loop, the products that have it.
    users: Vec<BTreeSet<usize>>,
    candidates: BinaryHeap<Candidate>,
    choices: Vec<Choice>,
}

impl<'a> Greedy<'a> {
    /// Each factor is a product, of which no pairs are candidates yet.
    fn new(network: &'a Network<'a>) -> Greedy<'a> {
        let mut users = vec![BTreeSet::new(); network.sizes.len()];
        let mut products = Vec::new();
        for (number, factor) in network.factors.iter().enumerate() {
            for l in &factor.loops {
                users[*l].insert(number);
            }
            products.push(Some(PartialProduct {
                factors: vec![number],
                results: Vec::new(),
                loops: factor.loops.clone(),
            }));
        }
        Greedy {
            network,
            products,
            users,
            candidates: BinaryHeap::new(),
            choices: Vec::new(),
        }
    }

    /// Takes a product out.
    fn take(&mut self, number: usize) -> Option<PartialProduct> {
        let product = self.products[number].take()?;
        for l in &product.loops {
            self.users[*l].remove(&number);
        }
        Some(product)
    }

    /// Puts a product in, and each pair with one that has a loop in common.
    fn put(&mut self, product: PartialProduct) {
        let number = self.products.len();
        let users = product.loops.iter().flat_map(|l| &self.users[*l]);
        let partners: BTreeSet<usize> = users.copied().collect();
        for l in &product.loops {
            self.users[*l].insert(number);
        }
        self.products.push(Some(product));
        for partner in partners {
            let pair = [partner, number];
            let cost = self.cost(pair);
            self.candidates.push(Candidate { cost, pair });
        }
    }

    /// The elements of the product of a pair, less those of the two.
    fn cost(&self, pair: [usize; 2]) -> f64 {
        let [Some(a), Some(b)] = pair.map(|number| self.products[number].as_ref()) else {
            return f64::INFINITY;
        };
        let is_kept = |l: &&Loop| {
            let users = self.users[**l].iter();
            self.network.outside.contains(l) || users.filter(|n| !pair.contains(n)).count() > 0
        };
        let needed = a.loops.union(&b.loops).filter(is_kept);
        self.points(needed) - self.points(a.loops.iter()) - self.points(b.loops.iter())
    }

    fn points<'l>(&self, loops: impl Iterator<Item = &'l Loop>) -> f64 {
        loops.map(|l| self.network.sizes[*l] as f64).product()
    }

    /// A product that was taken out, stored if something is summed, or if it is to be stored.
    fn settled(&mut self, product: PartialProduct) -> PartialProduct {
        let is_kept = |l: &&Loop| self.network.outside.contains(l) || !self.users[**l].is_empty();
        let needed: Loops = product.loops.iter().filter(is_kept).copied().collect();
        let count = product.count();
        let is_product = count > 1 && self.network.products == Products::Stored;
        match needed != product.loops || is_product || count >= MOST_IN_STEP {
            true => self.stored(product, needed),
            false => product,
        }
    }

    fn stored(&mut self, product: PartialProduct, kept: Loops) -> PartialProduct {
        self.choices.push(Choice {
            factors: product.factors,
            results: product.results,
            kept: kept.clone(),
        });
        PartialProduct {
            factors: Vec::new(),
            results: vec![self.choices.len() - 1],
            loops: kept,
        }
    }

    /// Multiplies what is left, which has no loops in common, the smallest first.
    fn finish(mut self) -> Vec<Choice> {
        let mut left: Vec<PartialProduct> = self.products.drain(..).flatten().collect();
        left.sort_by(|a, b| {
            let [a, b] = [a, b].map(|product| self.points(product.loops.iter()));
            a.total_cmp(&b)
        });
        while left.iter().map(PartialProduct::count).sum::<usize>() > MOST_IN_STEP && left.len() > 1
        {
            let mut count = 0;
            let within = left.iter().take_while(|product| {
                count += product.count();
                count <= MOST_IN_STEP
            });
            let some = within.count().max(2);
            let some = left.drain(..some);
            let product = joined(some);
            let loops = product.loops.clone();
            let product = self.stored(product, loops);
            left.insert(0, product);
        }
        let whole = joined(left);
        if !(whole.factors.is_empty() && whole.results.len() == 1) {
            let loops = &whole.loops & self.network.outside;
            self.stored(whole, loops);
        }
        self.choices
    }
}
