//! Scalar values without sums, from which steps are made.

use std::collections::{BTreeMap, BTreeSet};

use mdh_algebra::reuse::{Function, Operator};

use super::{Code, Loops, Read};

/// A term, by its position.
pub(super) type TermId = usize;

#[derive(Clone, Debug)]
enum TermKind {
    Read(Read),
    Constant(f64),
    Elementwise(Operator, TermId, TermId),
    Apply(Function, TermId),
}

#[derive(Clone, Debug)]
struct Term {
    form: TermKind,
    /// The loops whose indices it depends on.
    loops: Loops,
    /// Cost of computing it, in additions.
    operations: f64,
}

/// All terms of a statement, operands first.
#[derive(Debug)]
pub(super) struct Terms {
    /// The size of each loop.
    pub(super) sizes: Vec<u64>,
    terms: Vec<Term>,
}

/// A division costs about as much as so many additions.
const DIVISION: f64 = 4.0;
/// A function of the mathematical library costs about as much as so many additions.
const FUNCTION: f64 = 20.0;

impl Terms {
    pub(super) fn new(sizes: Vec<u64>) -> Terms {
        let terms = Vec::new();
        Terms { sizes, terms }
    }

    fn add(&mut self, form: TermKind, operations: f64) -> TermId {
        let loops = match &form {
            TermKind::Read(read) => read.at.iter().copied().collect(),
            TermKind::Constant(_) => Loops::new(),
            TermKind::Elementwise(_, e, f) => &self.terms[*e].loops | &self.terms[*f].loops,
            TermKind::Apply(_, e) => self.terms[*e].loops.clone(),
        };
        self.terms.push(Term {
            form,
            loops,
            operations,
        });
        self.terms.len() - 1
    }

    pub(super) fn read(&mut self, read: Read) -> TermId {
        self.add(TermKind::Read(read), 0.0)
    }

    pub(super) fn constant(&mut self, number: f64) -> TermId {
        self.add(TermKind::Constant(number), 0.0)
    }

    pub(super) fn elementwise(&mut self, operator: Operator, e: TermId, f: TermId) -> TermId {
        let cost = match operator {
            Operator::Divide => DIVISION,
            Operator::Add | Operator::Subtract | Operator::Multiply => 1.0,
        };
        let operations = cost + self.operations(e) + self.operations(f);
        self.add(TermKind::Elementwise(operator, e, f), operations)
    }

    pub(super) fn apply(&mut self, function: Function, e: TermId) -> TermId {
        let cost = match function {
            Function::Abs | Function::Relu => 1.0,
            Function::Sqrt => DIVISION,
            _ => FUNCTION,
        };
        let operations = cost + self.operations(e);
        self.add(TermKind::Apply(function, e), operations)
    }

    /// The product of some terms, from the left; 1 of none.
    pub(super) fn product(&mut self, factors: &[TermId]) -> TermId {
        let times = |e, f| self.elementwise(Operator::Multiply, e, f);
        let product = factors.iter().copied().reduce(times);
        product.unwrap_or_else(|| self.constant(1.0))
    }

    pub(super) fn loops(&self, term: TermId) -> &Loops {
        &self.terms[term].loops
    }

    pub(super) fn operations(&self, term: TermId) -> f64 {
        self.terms[term].operations
    }

    /// Returns the number of iterations of some loops.
    pub(super) fn points(&self, loops: &Loops) -> f64 {
        loops.iter().map(|l| self.sizes[*l] as f64).product()
    }

    /// The code of a term, and what it reads.
    pub(super) fn code(&self, term: TermId) -> (Vec<Read>, Vec<Code>) {
        let mut used = BTreeSet::new();
        let mut open = vec![term];
        while let Some(id) = open.pop() {
            if used.insert(id) {
                match self.terms[id].form {
                    TermKind::Elementwise(_, e, f) => open.extend([e, f]),
                    TermKind::Apply(_, e) => open.push(e),
                    TermKind::Read(_) | TermKind::Constant(_) => {}
                }
            }
        }
        // Reads in the order of the text, those of one tensor together with its first.
        let reads = used.iter().filter_map(|id| match &self.terms[*id].form {
            TermKind::Read(read) => Some(read),
            _ => None,
        });
        let (mut groups, mut first) = (Vec::<Vec<&Read>>::new(), BTreeMap::new());
        for read in reads {
            let group = *first.entry(read.source).or_insert(groups.len());
            match groups.get_mut(group) {
                Some(group) if group.contains(&read) => {}
                Some(group) => group.push(read),
                None => groups.push(vec![read]),
            }
        }
        let reads: Vec<Read> = groups.into_iter().flatten().cloned().collect();
        let positions: BTreeMap<&Read, usize> = reads.iter().zip(0..).collect();
        let mut places: BTreeMap<TermId, usize> = BTreeMap::new();
        let mut code = Vec::new();
        // Operands come before what uses them.
        for id in used {
            code.push(match &self.terms[id].form {
                TermKind::Read(read) => Code::Read(positions[read]),
                TermKind::Constant(number) => Code::Constant(*number),
                TermKind::Elementwise(operator, e, f) => {
                    Code::Elementwise(*operator, places[e], places[f])
                }
                TermKind::Apply(function, e) => Code::Apply(*function, places[e]),
            });
            places.insert(id, code.len() - 1);
        }
        (reads, code)
    }
}
