//! Soundness and optimality (the thesis's corollary 1 and conjecture 1) of the type system, for
//! every expression of at most [`LARGEST`] nodes over two variables of ranks 0 to 3.
//!
//! A node is a variable, a constant, parentheses, or an operation; a group of contractions is one, and
//! one function stands for all.
//! Dimensions have [`SIZE`] elements, so that most expressions have a shape and indices of different
//! names are different numbers somewhere.
//!
//! The result: no difference in either direction, in 105860 expressions. 33985 of them can be assigned
//! to `x`; 24718 of those read it, 14736 at the assigned index only.

use super::evaluate::{is_compatible, is_compatible_by_enumeration};
use super::shape::shapes;
use super::*;

/// The largest number of nodes.
const LARGEST: usize = 5;
/// The size of every dimension: the smallest for which an index can be another.
const SIZE: u64 = 2;
/// The largest rank of a variable.
const LARGEST_RANK: usize = 3;
/// The variable that is assigned.
const X: usize = 0;

/// An expression as a tree, of which larger ones are made.
#[derive(Clone)]
struct Candidate {
    value: Expression,
    rank: usize,
}

impl Candidate {
    fn leaf(node: Node, rank: usize) -> Candidate {
        let mut value = Expression::new();
        value.push(node);
        Candidate { value, rank }
    }

    fn under(&self, node: impl Fn(Id) -> Node, rank: usize) -> Candidate {
        let mut value = self.value.clone();
        value.push(node(self.value.root()));
        Candidate { value, rank }
    }

    fn with(&self, other: &Candidate, node: impl Fn(Id, Id) -> Node, rank: usize) -> Candidate {
        let mut value = self.value.clone();
        let shift = value.nodes().len();
        for node in other.value.nodes() {
            value.push(moved(node, shift));
        }
        let (left, right) = (self.value.root(), value.root());
        value.push(node(left, right));
        Candidate { value, rank }
    }
}

fn moved(node: &Node, by: usize) -> Node {
    match node.clone() {
        Node::Parenthesis(e) => Node::Parenthesis(e + by),
        Node::Product(e, f) => Node::Product(e + by, f + by),
        Node::Contraction(e, pairs) => Node::Contraction(e + by, pairs),
        Node::Transposition(e, pair) => Node::Transposition(e + by, pair),
        Node::Elementwise(operator, e, f) => Node::Elementwise(operator, e + by, f + by),
        Node::Apply(function, e) => Node::Apply(function, e + by),
        leaf => leaf,
    }
}

/// All pairs of dimensions, the smaller one first.
fn pairs(rank: usize) -> Vec<Pair> {
    let rank = rank as u64;
    (1..=rank)
        .flat_map(|m| (m + 1..=rank).map(move |n| [m, n]))
        .collect()
}

/// All groups of two and three pairs that share no dimension.
fn groups(rank: usize) -> Vec<Vec<Pair>> {
    let mut groups: Vec<Vec<Pair>> = pairs(rank).into_iter().map(|pair| vec![pair]).collect();
    let mut joined = Vec::new();
    for _ in 0..2 {
        let larger = groups.iter().flat_map(|group| {
            let last = group[group.len() - 1];
            let named: Vec<u64> = group.as_flattened().to_vec();
            let more = pairs(rank).into_iter();
            let more = more.filter(move |p| *p > last && !p.iter().any(|d| named.contains(d)));
            more.map(|pair| [&group[..], &[pair]].concat())
        });
        groups = larger.collect();
        joined.extend(groups.clone());
    }
    joined
}

fn unary(e: &Candidate) -> Vec<Candidate> {
    let mut candidates = vec![
        e.under(Node::Parenthesis, e.rank),
        e.under(|id| Node::Apply(Function::Tanh, id), e.rank),
    ];
    for pair in pairs(e.rank) {
        candidates.push(e.under(|id| Node::Contraction(id, vec![pair]), e.rank - 2));
        candidates.push(e.under(|id| Node::Transposition(id, pair), e.rank));
    }
    for group in groups(e.rank) {
        let rank = e.rank - 2 * group.len();
        candidates.push(e.under(|id| Node::Contraction(id, group.clone()), rank));
    }
    candidates
}

fn binary(e: &Candidate, f: &Candidate) -> Vec<Candidate> {
    let mut candidates = vec![e.with(f, Node::Product, e.rank + f.rank)];
    for operator in Operator::ALL {
        let takes_scalars = match operator {
            Operator::Multiply => e.rank == 0 || f.rank == 0,
            Operator::Divide => f.rank == 0,
            Operator::Add | Operator::Subtract => false,
        };
        if e.rank == f.rank || takes_scalars {
            let node = |e, f| Node::Elementwise(operator, e, f);
            candidates.push(e.with(f, node, e.rank.max(f.rank)));
        }
    }
    candidates
}

/// All expressions that have a shape, by their number of nodes less 1.
fn expressions(context: &Context) -> Vec<Vec<Candidate>> {
    let ranks = context.variables.iter().map(|v| v.shape.rank());
    let variables = ranks.enumerate();
    let leaves = variables.map(|(v, rank)| Candidate::leaf(Node::Variable(v), rank));
    let mut leaves: Vec<Candidate> = leaves.collect();
    leaves.push(Candidate::leaf(Node::Constant(2.0), 0));
    let mut by_size = vec![leaves];
    for size in 1..LARGEST {
        let mut candidates: Vec<Candidate> = by_size[size - 1].iter().flat_map(unary).collect();
        for left in 0..size - 1 {
            let right = size - 2 - left;
            for e in &by_size[left] {
                for f in &by_size[right] {
                    candidates.extend(binary(e, f));
                }
            }
        }
        by_size.push(candidates);
    }
    by_size
}

/// (expressions, statements, those of them that mention x, compatible ones that do)
fn compare(x: usize, u: usize) -> [usize; 4] {
    let context = Context::new([("x", Shape(vec![SIZE; x])), ("u", Shape(vec![SIZE; u]))]);
    let mut counts = [0; 4];
    for candidate in expressions(&context).into_iter().flatten() {
        counts[0] += 1;
        if candidate.rank != x {
            continue;
        }
        let statement = Statement {
            target: X,
            value: candidate.value,
        };
        let shapes = shapes(&context, &statement.value).unwrap();
        let derivation = Derivation::search(&statement, &shapes);
        let by_type = derivation.is_complete();
        let by_name = is_compatible(&statement, &shapes);
        let by_number = is_compatible_by_enumeration(&context, &statement, &shapes);
        let text = || statement.text(&context);
        assert_eq!(by_type, by_name, "{}: type system, definition", text());
        assert_eq!(by_type, by_number, "{}: type system, enumeration", text());
        let checked = derivation.check(&context, &statement);
        assert_eq!(checked.is_ok(), by_type, "{}: {checked:?}", text());
        counts[1] += 1;
        if statement.value.mentions(X) {
            counts[2] += 1;
            counts[3] += usize::from(by_type);
        }
    }
    counts
}

#[test]
fn the_type_system_is_sound_and_optimal_for_all_small_expressions() {
    let mut total = [0; 4];
    for x in 0..=LARGEST_RANK {
        for u in 0..=LARGEST_RANK {
            let counts = compare(x, u);
            total = std::array::from_fn(|n| total[n] + counts[n]);
        }
    }
    let [all, statements, mentioning, compatible] = total;
    println!(
        "{all} expressions, {statements} statements, of which {mentioning} read x: {compatible} \
         compatible, {} not",
        mentioning - compatible
    );
    // Both answers are frequent: neither side can agree with the other by saying always the same.
    assert!(compatible > 1000 && mentioning - compatible > 1000);
}
