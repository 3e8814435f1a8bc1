//! Statements as steps: loops around scalar code, whose values are summed over some of the loops. No
//! product that is contracted is ever stored.
//!
//! Below a contraction, products (`#` and `*`) and further contractions make one *network*: a sum over
//! some loops of a product of factors. Its steps are chosen by `order`: of all ways to multiply some
//! factors, sum, store, and go on with the result, the one that costs least. So the interpolation
//! `(A # B # C # u) . [[2 9] [4 8] [6 7]]` of size N takes three steps of N^4 points each, not one of
//! N^6.
//!
//! Everything else is computed element by element inside of what uses it, as it is written, unless
//! it would be computed repeatedly for the same indices.

mod greedy;
pub(crate) mod order;
mod terms;

use std::collections::BTreeSet;

use mdh_algebra::reuse::evaluate::{Index, evaluate};
use mdh_algebra::reuse::{Function, Node, Operator, Shape, Statement};

pub use order::MOST_FACTORS;
use order::{Factor, Products};
use terms::{TermId, Terms};

/// A loop of a statement, by its position in [`StatementPlan::sizes`].
pub type Loop = usize;

/// Some loops.
pub(crate) type Loops = BTreeSet<Loop>;

/// A tensor that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    /// A variable, as it was before the statement.
    Variable(usize),
    /// The result of an earlier step of the statement.
    Step(usize),
}

/// An element that is read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Read {
    /// Of which tensor.
    pub source: Source,
    /// The loop whose index stands in each dimension.
    pub at: Vec<Loop>,
}

/// Scalar code; operands are nodes before it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Code {
    /// An element, by its position in [`Step::reads`].
    Read(usize),
    /// A number.
    Constant(f64),
    /// An operator on two values.
    Elementwise(Operator, usize, usize),
    /// A function of a value.
    Apply(Function, usize),
}

/// Loops around scalar code.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The loops that are the dimensions of the result, in order.
    pub kept: Vec<Loop>,
    /// The loops that are summed over.
    pub sums: Vec<Loop>,
    /// Reads; those of one tensor stand together.
    pub reads: Vec<Read>,
    /// The code, whose last node is the value.
    pub code: Vec<Code>,
}

/// A statement as steps.
#[derive(Clone, Debug, PartialEq)]
pub struct StatementPlan {
    /// The size of each loop: first those of the result's dimensions, then those of contractions.
    pub sizes: Vec<u64>,
    /// The steps in order; the last one gives the statement's value.
    pub steps: Vec<Step>,
}

impl StatementPlan {
    /// Plans a statement whose nodes have these shapes.
    pub fn new(statement: &Statement, shapes: &[Shape]) -> StatementPlan {
        let value = &statement.value;
        let evaluation = evaluate(value, shapes);
        let result = &shapes[value.root()];
        let rank = result.rank();
        let number = |index: &Index| match *index {
            Index::Assigned(n) => n,
            Index::Summed(n) => rank + n,
        };
        let numbers = |indices: &[Index]| -> Vec<Loop> { indices.iter().map(number).collect() };
        let sizes = [&result.0[..], &evaluation.summed].concat();
        let mut planner = Planner {
            terms: Terms::new(sizes),
            steps: Vec::new(),
        };
        let is_inner = inner(statement);
        let mut networks: Vec<Network> = Vec::new();
        for (id, node) in value.nodes().iter().enumerate() {
            let mut take = |id: usize| std::mem::take(&mut networks[id]);
            let network = match *node {
                Node::Variable(variable) => {
                    let at = numbers(&evaluation.indices[id]);
                    let source = Source::Variable(variable);
                    Network::new(planner.terms.read(Read { source, at }))
                }
                Node::Constant(number) => Network::new(planner.terms.constant(number)),
                Node::Parenthesis(e) | Node::Transposition(e, _) => take(e),
                Node::Contraction(e, _) => {
                    let mut network = take(e);
                    network.sums.extend(numbers(&evaluation.sums[id]));
                    network
                }
                Node::Product(e, f) | Node::Elementwise(Operator::Multiply, e, f)
                    if is_inner[id] =>
                {
                    planner.joined(take(e), take(f))
                }
                Node::Product(e, f) => planner.elementwise(Operator::Multiply, take(e), take(f)),
                Node::Elementwise(operator, e, f) => {
                    planner.elementwise(operator, take(e), take(f))
                }
                Node::Apply(function, e) => {
                    let e = planner.value(take(e));
                    Network::new(planner.terms.apply(function, e))
                }
            };
            networks.push(network);
        }
        let whole = networks.pop().unwrap_or_default();
        let whole = planner.with_own_element(whole, statement.target);
        planner.contract(whole, (0..rank).collect());
        StatementPlan {
            sizes: planner.terms.sizes,
            steps: planner.steps,
        }
    }

    /// The sizes of some loops, in order.
    pub fn shape(&self, loops: &[Loop]) -> Shape {
        Shape(loops.iter().map(|l| self.sizes[*l]).collect())
    }
}

/// Finds the nodes below a contraction with nothing but products, contractions, transpositions and
/// parentheses between: they are of its network.
fn inner(statement: &Statement) -> Vec<bool> {
    let value = &statement.value;
    let mut is_inner = vec![false; value.nodes().len()];
    for id in (0..is_inner.len()).rev() {
        let node = value.node(id);
        let is_passed_on = match node {
            Node::Contraction(..) => true,
            Node::Parenthesis(_)
            | Node::Transposition(..)
            | Node::Product(..)
            | Node::Elementwise(Operator::Multiply, ..) => is_inner[id],
            _ => false,
        };
        for operand in node.operands() {
            is_inner[operand] = is_passed_on;
        }
    }
    is_inner
}

/// A product of factors, summed over some loops.
#[derive(Clone, Debug, Default)]
struct Network {
    factors: Vec<TermId>,
    sums: Vec<Loop>,
}

impl Network {
    fn new(term: TermId) -> Network {
        Network {
            factors: vec![term],
            sums: Vec::new(),
        }
    }
}

struct Planner {
    terms: Terms,
    steps: Vec<Step>,
}

impl Planner {
    /// The product of two networks. Of networks with too many factors to try all orders, what is
    /// contracted already is a step of its own.
    fn joined(&mut self, mut left: Network, mut right: Network) -> Network {
        if left.factors.len() + right.factors.len() > MOST_FACTORS {
            for network in [&mut left, &mut right] {
                if !network.sums.is_empty() && network.factors.len() > 1 {
                    *network = Network::new(self.value(std::mem::take(network)));
                }
            }
        }
        left.factors.append(&mut right.factors);
        left.sums.append(&mut right.sums);
        left
    }

    /// A network that multiplies elements of the variable that is assigned last, where the sums do not
    /// need them: `sum over k of x[i] f(i, k) = x[i] (sum over k of f(i, k))`. The last step sums nothing then,
    /// and may write where it reads.
    fn with_own_element(&mut self, network: Network, target: usize) -> Network {
        let is_own = |id: &TermId| {
            let (reads, _) = self.terms.code(*id);
            let mut loops = self.terms.loops(*id).iter();
            reads
                .iter()
                .any(|read| read.source == Source::Variable(target))
                && !loops.any(|l| network.sums.contains(l))
        };
        let (mut own, others): (Vec<_>, Vec<_>) = network.factors.iter().copied().partition(is_own);
        if own.is_empty() || others.is_empty() || network.sums.is_empty() {
            return network;
        }
        own.push(self.value(Network {
            factors: others,
            sums: network.sums,
        }));
        Network {
            factors: own,
            sums: Vec::new(),
        }
    }

    /// An operator on two values.
    fn elementwise(&mut self, operator: Operator, left: Network, right: Network) -> Network {
        let operands = [self.value(left), self.value(right)];
        let loops: Loops = operands
            .iter()
            .flat_map(|id| self.terms.loops(*id).clone())
            .collect();
        let points = self.terms.points(&loops);
        let [left, right] = operands.map(|operand| {
            let inner = self.terms.points(self.terms.loops(operand));
            let again = self.terms.operations(operand) * (points - inner);
            match again > inner * STORED {
                true => self.stored(operand),
                false => operand,
            }
        });
        Network::new(self.terms.elementwise(operator, left, right))
    }

    /// A network as a term; what is summed over is stored.
    fn value(&mut self, network: Network) -> TermId {
        if let ([factor], true) = (&network.factors[..], network.sums.is_empty()) {
            return *factor;
        }
        let loops = network
            .factors
            .iter()
            .flat_map(|id| self.terms.loops(*id).clone());
        let kept_loops: Loops = loops.filter(|l| !network.sums.contains(l)).collect();
        let step = self.contract(network, kept_loops.iter().copied().collect());
        self.result(step)
    }

    /// A term as the result of a step.
    fn stored(&mut self, term: TermId) -> TermId {
        let kept_loops = self.terms.loops(term).iter().copied().collect();
        let step = self.step(term, kept_loops);
        self.result(step)
    }

    /// The result of a step.
    fn result(&mut self, step: usize) -> TermId {
        let (source, at) = (Source::Step(step), self.steps[step].kept.clone());
        self.terms.read(Read { source, at })
    }

    /// Adds the steps that contract a network, and says which one gives its value.
    fn contract(&mut self, network: Network, kept: Vec<Loop>) -> usize {
        let factors = self.merged(network.factors);
        let outside: Loops = kept.iter().copied().collect();
        let known = |id: &TermId| Factor {
            loops: self.terms.loops(*id).clone(),
            operations: self.terms.operations(*id),
        };
        let known: Vec<Factor> = factors.iter().map(known).collect();
        let network = order::Network {
            sizes: &self.terms.sizes,
            factors: &known,
            outside: &outside,
            products: Products::Computed,
        };
        let choices = network.choose();
        let mut results: Vec<TermId> = Vec::new();
        for (number, choice) in choices.iter().enumerate() {
            let direct = choice.factors.iter().map(|n| factors[*n]);
            let before = choice.results.iter().map(|n| results[*n]);
            let parts: Vec<TermId> = direct.chain(before).collect();
            let product = self.terms.product(&parts);
            if number + 1 == choices.len() {
                return self.step(product, kept);
            }
            let step = self.step(product, self.arranged(product, &choice.kept));
            results.push(self.result(step));
        }
        panic!("the last step gives the whole")
    }

    /// The loops that a step keeps in the order in which its result is stored.
    fn arranged(&self, term: TermId, kept: &Loops) -> Vec<Loop> {
        let (reads, _) = self.terms.code(term);
        let reads = reads.iter().map(|read| &read.at[..]);
        arranged(&self.terms.sizes, reads, kept)
    }

    /// Factors with the same loops as one.
    fn merged(&mut self, factors: Vec<TermId>) -> Vec<TermId> {
        let mut groups: Vec<Vec<TermId>> = Vec::new();
        let mut known = std::collections::BTreeMap::new();
        for factor in factors {
            let next = groups.len();
            let group = *known
                .entry(self.terms.loops(factor).clone())
                .or_insert(next);
            if group == next {
                groups.push(Vec::new());
            }
            groups[group].push(factor);
        }
        groups
            .iter()
            .map(|group| self.terms.product(group))
            .collect()
    }

    /// Adds a step that gives a term for these loops, summed over all others.
    fn step(&mut self, term: TermId, kept: Vec<Loop>) -> usize {
        let sums = self.terms.loops(term).iter().copied();
        let sums = sums.filter(|l| !kept.contains(l)).collect();
        let (reads, code) = self.terms.code(term);
        self.steps.push(Step {
            kept,
            sums,
            reads,
            code,
        });
        self.steps.len() - 1
    }
}

/// The loops that a step keeps in the order in which its result is stored: that of the largest tensor that it reads,
/// at these loops, new ones in the place of the first that is summed over. So what lies next to each other stays so, and
/// the next sum over another dimension reads neighbours.
pub(crate) fn arranged<'a>(
    sizes: &[u64],
    reads: impl Iterator<Item = &'a [Loop]>,
    kept: &Loops,
) -> Vec<Loop> {
    let points = |at: &&[Loop]| -> f64 {
        let loops: Loops = at.iter().copied().collect();
        loops.iter().map(|l| sizes[*l] as f64).product()
    };
    let largest = reads.max_by(|a, b| points(a).total_cmp(&points(b)));
    let largest = largest.unwrap_or_default();
    let mut new: Vec<Loop> = kept.iter().copied().collect();
    new.retain(|l| !largest.contains(l));
    let mut order = Vec::new();
    for l in largest {
        if !kept.contains(l) {
            order.append(&mut new);
        } else if !order.contains(l) {
            order.push(*l);
        }
    }
    order.append(&mut new);
    order
}

/// To store an element and to read it again costs as much as so many operations.
const STORED: f64 = 2.0;
