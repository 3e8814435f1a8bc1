//! Statements as the language defines them (thesis, section 2.1): each operation gives a whole tensor.
//! Slow, with all products stored: what plans and compiled code are held against.

use mdh_algebra::reuse::evaluate::points;
use mdh_algebra::reuse::{Node, Shape};

use crate::check::{Assignment, CheckedProgram};
use crate::plan::{Code, Loop, Source, StatementPlan};

/// A tensor's elements, the last dimension fastest.
pub type Elements = Vec<f64>;

/// Runs all statements; of each variable, its value before and after.
pub fn run(program: &CheckedProgram, values: &mut [Elements]) {
    for assignment in &program.statements {
        values[assignment.statement.target] = value(assignment, values);
    }
}

/// The value of a statement's expression.
pub fn value(assignment: &Assignment, values: &[Elements]) -> Elements {
    let shapes = &assignment.shapes;
    let mut nodes: Vec<Elements> = Vec::new();
    for (id, node) in assignment.statement.value.nodes().iter().enumerate() {
        let tensor = |id: usize| Tensor {
            shape: &shapes[id],
            elements: &nodes[id],
        };
        let places = points(&shapes[id].0);
        let value: Elements = match node {
            Node::Variable(variable) => values[*variable].clone(),
            Node::Constant(number) => vec![*number],
            Node::Parenthesis(e) => nodes[*e].clone(),
            Node::Apply(function, e) => nodes[*e].iter().map(|x| function.value(*x)).collect(),
            Node::Product(e, f) => {
                let pairs = nodes[*e]
                    .iter()
                    .flat_map(|a| nodes[*f].iter().map(move |b| a * b));
                pairs.collect()
            }
            Node::Transposition(e, [m, n]) => {
                let exchanged = places.map(|mut at| {
                    at.swap(*m as usize - 1, *n as usize - 1);
                    tensor(*e).at(&at)
                });
                exchanged.collect()
            }
            Node::Contraction(e, pairs) => {
                places.map(|at| tensor(*e).diagonals(pairs, &at)).collect()
            }
            Node::Elementwise(operator, e, f) => {
                let (e, f) = (tensor(*e), tensor(*f));
                places
                    .map(|at| operator.value(e.at_or_scalar(&at), f.at_or_scalar(&at)))
                    .collect()
            }
        };
        nodes.push(value);
    }
    nodes.pop().unwrap_or_default()
}

#[derive(Clone, Copy)]
struct Tensor<'t> {
    shape: &'t Shape,
    elements: &'t [f64],
}

impl Tensor<'_> {
    fn at(&self, index: &[u64]) -> f64 {
        let dimensions = self.shape.0.iter().zip(index);
        let place = dimensions.fold(0, |place, (size, i)| place * size + i);
        self.elements[place as usize]
    }

    fn at_or_scalar(&self, index: &[u64]) -> f64 {
        match self.shape.is_scalar() {
            true => self.elements[0],
            false => self.at(index),
        }
    }

    /// The sum over the diagonals of pairs of dimensions; `at` is the index in the others.
    fn diagonals(&self, pairs: &[[u64; 2]], at: &[u64]) -> f64 {
        let sizes = pairs.iter().map(|pair| self.shape.0[pair[0] as usize - 1]);
        let sizes: Vec<u64> = sizes.collect();
        let index = |sums: &[u64]| -> Vec<u64> {
            let mut rest = at.iter().copied();
            let dimensions = (1..=self.shape.rank() as u64).map(|d| {
                let pair = pairs.iter().position(|pair| pair.contains(&d));
                pair.map_or_else(|| rest.next().unwrap_or(0), |pair| sums[pair])
            });
            dimensions.collect()
        };
        points(&sizes).map(|sums| self.at(&index(&sums))).sum()
    }
}

/// Runs a plan on the values of the variables: the value of its statement.
pub fn run_plan(plan: &StatementPlan, program: &CheckedProgram, values: &[Elements]) -> Elements {
    let mut results: Vec<(Shape, Elements)> = Vec::new();
    for step in &plan.steps {
        let loops: Vec<Loop> = step.kept.iter().chain(&step.sums).copied().collect();
        let element = |at: &[u64]| {
            let place = |l: &Loop| loops.iter().position(|own| own == l).map_or(0, |n| at[n]);
            let reads = step.reads.iter().map(|read| {
                let index: Vec<u64> = read.at.iter().map(place).collect();
                let (shape, elements) = match read.source {
                    Source::Variable(v) => (program.context.shape(v), &values[v]),
                    Source::Step(n) => (&results[n].0, &results[n].1),
                };
                Tensor { shape, elements }.at(&index)
            });
            evaluate(&step.code, &reads.collect::<Vec<f64>>())
        };
        let (kept, sums) = (plan.shape(&step.kept), plan.shape(&step.sums));
        let elements = points(&kept.0).map(|at| {
            let sums = points(&sums.0);
            sums.map(|sums| element(&[&at[..], &sums[..]].concat()))
                .sum()
        });
        let elements = elements.collect();
        results.push((kept, elements));
    }
    results
        .pop()
        .map(|(_, elements)| elements)
        .unwrap_or_default()
}

fn evaluate(code: &[Code], reads: &[f64]) -> f64 {
    let mut values: Vec<f64> = Vec::new();
    for node in code {
        values.push(match node {
            Code::Read(n) => reads[*n],
            Code::Constant(number) => *number,
            Code::Elementwise(operator, e, f) => operator.value(values[*e], values[*f]),
            Code::Apply(function, e) => function.value(values[*e]),
        });
    }
    values.pop().unwrap_or(f64::NAN)
}
