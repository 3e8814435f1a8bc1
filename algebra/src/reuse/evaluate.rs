//! The elements that an expression reads when it is evaluated at an index (thesis, figure 5,
//! `eval_Γ`), and so the definition of compatible statements: in names of indices, and by
//! enumeration of numbers.

use std::collections::BTreeSet;
use std::fmt;

use super::expression::{Expression, Id, Node, Operator};
use super::shape::{Shape, place};
use super::statement::{Context, Statement};

/// An index by name: all that is known of it is how it came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Index {
    /// The index in that dimension (from 0) of the element that is assigned; `i1`, `i2`, ..
    Assigned(usize),
    /// The index that a contraction sums over; `k1`, `k2`, ..
    Summed(usize),
}

impl fmt::Display for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Index::Assigned(n) => write!(f, "i{}", n + 1),
            Index::Summed(n) => write!(f, "k{}", n + 1),
        }
    }
}

/// `(i1, k1)`.
pub fn tuple(indices: &[Index]) -> String {
    let indices: Vec<String> = indices.iter().map(Index::to_string).collect();
    format!("({})", indices.join(", "))
}

/// The index `(i1, .., ik)` of an element that is assigned.
pub fn assigned(rank: usize) -> Vec<Index> {
    (0..rank).map(Index::Assigned).collect()
}

/// An expression evaluated at an index: where every node of it is evaluated.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// The index of each node.
    pub indices: Vec<Vec<Index>>,
    /// The number of values of each index that is summed over.
    pub summed: Vec<u64>,
    /// For each node, the indices that it sums over.
    pub sums: Vec<Vec<Index>>,
}

/// A variable that is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// Its node of the expression.
    pub node: Id,
    /// The variable's position in the [`Context`].
    pub variable: usize,
    /// The index that it is read at.
    pub at: Vec<Index>,
}

/// Evaluates an expression, whose nodes have these shapes, at `(i1, .., ik)`.
pub fn evaluate(value: &Expression, shapes: &[Shape]) -> Evaluation {
    let count = value.nodes().len();
    let mut evaluation = Evaluation {
        indices: vec![Vec::new(); count],
        summed: Vec::new(),
        sums: vec![Vec::new(); count],
    };
    evaluation.indices[value.root()] = assigned(shapes[value.root()].rank());
    for id in (0..count).rev() {
        if let Node::Contraction(e, pairs) = value.node(id) {
            for [m, _] in pairs {
                let index = Index::Summed(evaluation.summed.len());
                evaluation.sums[id].push(index);
                evaluation.summed.push(shapes[*e].0[place(*m)]);
            }
        }
        let at = std::mem::take(&mut evaluation.indices[id]);
        for (operand, at) in operands_at(value.node(id), &at, shapes, &evaluation.sums[id]) {
            evaluation.indices[operand] = at;
        }
        evaluation.indices[id] = at;
    }
    evaluation
}

impl Evaluation {
    /// Every variable that is read, in the order of the text.
    pub fn reads(&self, value: &Expression) -> Vec<Read> {
        let nodes = value.nodes().iter().enumerate();
        let reads = nodes.filter_map(|(node, what)| match what {
            Node::Variable(variable) => Some(Read {
                node,
                variable: *variable,
                at: self.indices[node].clone(),
            }),
            _ => None,
        });
        reads.collect()
    }
}

/// Definition 2, word for word: every read of the variable that is assigned is at the index that
/// is assigned. Sizes do not count: indices of other names are other indices.
pub fn is_compatible(statement: &Statement, shapes: &[Shape]) -> bool {
    let value = &statement.value;
    let index = assigned(shapes[value.root()].rank());
    let reads = evaluate(value, shapes).reads(value);
    let mut of_target = reads.iter().filter(|r| r.variable == statement.target);
    of_target.all(|read| read.at == index)
}

/// Definition 2 by enumeration: for every element that is assigned, every element of the same
/// variable that is read. With sizes of at least 2 it agrees with [`is_compatible`]; with smaller
/// ones, indices of other names may still be the same number.
pub fn is_compatible_by_enumeration(
    context: &Context,
    statement: &Statement,
    shapes: &[Shape],
) -> bool {
    let mut elements = points(&context.shape(statement.target).0);
    elements.all(|at| {
        let reads = reads_at(&statement.value, shapes, &at);
        let mut of_target = reads.iter().filter(|(v, _)| *v == statement.target);
        of_target.all(|(_, index)| *index == at)
    })
}

/// The elements that are read when an expression is evaluated at an index (from 0).
pub fn reads_at(value: &Expression, shapes: &[Shape], at: &[u64]) -> BTreeSet<(usize, Vec<u64>)> {
    let mut reads = BTreeSet::new();
    let mut open = vec![(value.root(), at.to_vec())];
    while let Some((id, at)) = open.pop() {
        match value.node(id) {
            Node::Variable(variable) => {
                reads.insert((*variable, at));
            }
            node @ Node::Contraction(e, pairs) => {
                let sizes: Vec<u64> = pairs.iter().map(|p| shapes[*e].0[place(p[0])]).collect();
                for sums in points(&sizes) {
                    open.extend(operands_at(node, &at, shapes, &sums));
                }
            }
            node => open.extend(operands_at(node, &at, shapes, &[])),
        }
    }
    reads
}

/// All indices of a tensor, the last dimension fastest.
pub fn points(sizes: &[u64]) -> impl Iterator<Item = Vec<u64>> + use<> {
    let sizes = sizes.to_vec();
    let first = (!sizes.contains(&0)).then(|| vec![0; sizes.len()]);
    std::iter::successors(first, move |index: &Vec<u64>| {
        let mut next = index.clone();
        let last = (0..sizes.len()).rev().find(|&d| next[d] + 1 < sizes[d])?;
        next[last] += 1;
        next[last + 1..].fill(0);
        Some(next)
    })
}

/// Figure 5: where the operands of a node are evaluated when the node is at an index, for one
/// value of each index that it sums over.
fn operands_at<I: Clone>(node: &Node, at: &[I], shapes: &[Shape], sums: &[I]) -> Vec<(Id, Vec<I>)> {
    let whole = |id: Id| (id, at.to_vec());
    match node {
        Node::Variable(_) | Node::Constant(_) => Vec::new(),
        Node::Parenthesis(e) | Node::Apply(_, e) => vec![whole(*e)],
        Node::Product(e, f) => {
            let (left, right) = at.split_at(shapes[*e].rank());
            vec![(*e, left.to_vec()), (*f, right.to_vec())]
        }
        Node::Contraction(e, pairs) => {
            let (mut rest, rank) = (at.iter(), shapes[*e].rank());
            let inner =
                (1..=rank as u64).map(|n| match pairs.iter().position(|pair| pair.contains(&n)) {
                    Some(pair) => Some(sums[pair].clone()),
                    None => rest.next().cloned(),
                });
            vec![(*e, inner.flatten().collect())]
        }
        Node::Transposition(e, [m, n]) => {
            let mut inner = at.to_vec();
            inner.swap(place(*m), place(*n));
            vec![(*e, inner)]
        }
        Node::Elementwise(operator, e, f) => {
            let scalar = |id: Id| (id, Vec::new());
            match (operator, shapes[*e].is_scalar(), shapes[*f].is_scalar()) {
                (Operator::Multiply, true, false) => vec![scalar(*e), whole(*f)],
                (Operator::Multiply | Operator::Divide, false, true) => vec![whole(*e), scalar(*f)],
                _ => vec![whole(*e), whole(*f)],
            }
        }
    }
}
