//! A nest of loops around scalar code on elements: what `linalg.generic` means.
//!
//! The loops run over a box of points in lexicographic order. At each point the code takes the
//! elements of the inputs and outputs where their maps say, and what it yields is written to the
//! outputs: `out[map(p)] = code(in[map(p)], .., out[map(p)], ..)`. Unlike a
//! [`crate::computation::Computation`] a nest declares no operator: that its result is a reduction
//! which may be reordered is seen in its code ([`Nest::accumulation`]).

mod chains;
mod licence;
mod masks;
pub mod narrow;

use std::collections::{BTreeSet, HashMap};

pub use chains::Chain;
pub use licence::Licence;

use crate::affine::Expr;
use crate::code::{Code, Register};
use crate::operator::Operator;
use crate::scalar::ScalarType;

/// The loops, what they read and write, and the code.
#[derive(Clone, Debug, PartialEq)]
pub struct Nest {
    /// Says how many loops there are, the outermost first.
    pub dimensions: usize,
    /// Holds what is read.
    pub inputs: Vec<NestAccess>,
    /// Holds what is read, if the code uses it, and written.
    pub outputs: Vec<NestAccess>,
    /// Takes an element of each input, then of each output; yields one for each output.
    /// [`crate::code::Instruction::Index`] is the index of a loop.
    pub code: Code,
    /// The laws that the program grants to what the code makes of outputs.
    pub licence: Licence,
}

/// An operand of a nest.
#[derive(Clone, Debug, PartialEq)]
pub struct NestAccess {
    /// The type of its elements.
    pub element: ScalarType,
    /// One index function for each axis.
    pub map: Vec<Expr>,
    /// True if points may ask for what is outside where they do not use it.
    pub may_be_outside: bool,
}

impl NestAccess {
    /// An access that stays inside.
    pub fn new(element: ScalarType, map: Vec<Expr>) -> Self {
        NestAccess {
            element,
            map,
            may_be_outside: false,
        }
    }
}

/// Describes how the points that write one element make it.
#[derive(Clone, Debug, PartialEq)]
pub enum Accumulation {
    /// No output is read: the last point that writes an element decides.
    Last,
    /// Outputs combine, each by one operator, what they hold with terms that the code yields, which use
    /// no output: in any order, as linalg's reductions say. Those without one go in order.
    Combined(Vec<Option<Chain>>, Code),
    /// The operator, which the program says is associative, combines what the outputs hold with what
    /// the code yields.
    Licensed(Box<(Operator, Code)>),
    /// Outputs are read in any other way: the points come one after the other.
    InOrder,
}

impl Nest {
    /// Returns which arguments the code uses.
    pub fn used(&self) -> Vec<bool> {
        let uses = uses(&self.code);
        let arguments = 0..self.code.inputs.len();
        arguments
            .map(|register| uses.contains_key(&register))
            .collect()
    }

    /// The loops that all outputs have as an axis each, if there is one set of such for all: every
    /// point of these is the only one to write its elements, as far as they are concerned.
    pub fn kept(&self) -> Option<Vec<usize>> {
        let mut dims: Option<BTreeSet<usize>> = None;
        for output in &self.outputs {
            let mut axes = BTreeSet::new();
            for axis in &output.map {
                match axis {
                    Expr::Dim(d) if axes.insert(*d) => {}
                    _ => return None,
                }
            }
            if *dims.get_or_insert_with(|| axes.clone()) != axes {
                return None;
            }
        }
        dims.map(|dims| dims.into_iter().collect())
    }

    /// Returns how its outputs come about.
    pub fn accumulation(&self) -> Accumulation {
        let first = self.inputs.len();
        let used = self.used();
        if !used[first..].contains(&true) {
            return Accumulation::Last;
        }
        // What nothing needs is no second use of an accumulator.
        let mut code = self.code.clone();
        chains::keep_used(&mut code);
        let (chains, terms) = chains::split(&code, first);
        let is_chain = chains.iter().any(Option::is_some);
        if self.licence != Licence::None && chains.contains(&None) && self.code.rounds() {
            let split = licence::split(&code, first, self.licence);
            if let Some((terms, operator)) = split.filter(|_| self.kept().is_some()) {
                return Accumulation::Licensed(Box::new((Operator::User(*operator), terms)));
            }
        }
        match is_chain {
            true => Accumulation::Combined(chains, terms),
            false => Accumulation::InOrder,
        }
    }
}

/// Returns how often each register is used, yields included.
fn uses(code: &Code) -> HashMap<Register, usize> {
    let mut uses = HashMap::new();
    code.body
        .uses(&mut |register| *uses.entry(register).or_default() += 1);
    uses
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::{d, straight};
    use crate::op::Op;
    use crate::operator::Builtin;
    use ScalarType::{F32, I32};

    fn nest(maps: [&[Expr]; 2], rows: &[(Op, &[Register], ScalarType)], yields: usize) -> Nest {
        let access = |map: &[Expr]| NestAccess::new(F32, map.to_vec());
        Nest {
            dimensions: 2,
            inputs: vec![access(maps[0])],
            outputs: vec![access(maps[1])],
            code: straight(&[F32, F32], rows, &[yields], &[F32]),
            licence: Licence::None,
        }
    }

    #[test]
    fn kept_loops_are_axes_of_all_outputs() {
        let kept_by = |map: &[Expr]| nest([&[d(0), d(1)], map], &[], 0).kept();
        assert_eq!(kept_by(&[d(1)]), Some(vec![1]));
        assert_eq!(kept_by(&[d(1), d(0)]), Some(vec![0, 1]));
        assert_eq!(kept_by(&[]), Some(vec![]));
        for odd in [vec![d(0), d(0)], vec![d(0) + d(1)], vec![Expr::Const(0)]] {
            assert_eq!(kept_by(&odd), None);
        }
        let mut two = nest([&[d(0), d(1)], &[d(0)]], &[], 0);
        two.outputs.push(two.outputs[0].clone());
        assert_eq!(two.kept(), Some(vec![0]));
        two.outputs[1].map = vec![d(1)];
        assert_eq!(two.kept(), None);
    }

    /// Checks: reductions are seen where, and only where, the accumulator has no other use.
    #[test]
    fn reductions_are_known_by_their_code() {
        let reduction = |rows: &[(Op, &[Register], ScalarType)], yields| {
            nest([&[d(0), d(1)], &[d(0)]], rows, yields).accumulation()
        };
        let operators = |accumulation| match accumulation {
            Accumulation::Combined(chains, code) => {
                let operators = chains.into_iter().map(|chain| chain.map(|c| c.operator));
                Some((operators.collect::<Option<Vec<_>>>()?, code.body.yields))
            }
            _ => None,
        };
        assert_eq!(reduction(&[], 0), Accumulation::Last);
        assert_eq!(
            operators(reduction(
                &[(Op::Mulf, &[0, 0], F32), (Op::Addf, &[1, 2], F32)],
                3
            )),
            Some((vec![Builtin::Addf], vec![2]))
        );
        assert_eq!(
            operators(reduction(&[(Op::Maximumf, &[0, 1], F32)], 2)),
            Some((vec![Builtin::Maximumf], vec![0]))
        );
        assert_eq!(
            operators(reduction(&[(Op::Subf, &[1, 0], F32)], 2)),
            Some((vec![Builtin::Addf], vec![2]))
        );
        assert_eq!(
            operators(reduction(&[(Op::Fma, &[0, 0, 1], F32)], 2)),
            Some((vec![Builtin::Addf], vec![2]))
        );
        // Of the two sums nothing needs the first one.
        let fma = (Op::Fma, &[0, 0, 1][..], F32);
        assert_eq!(
            operators(reduction(&[fma, fma], 3)),
            Some((vec![Builtin::Addf], vec![3]))
        );
        // acc - x + x is the sum of -x and x.
        assert_eq!(
            operators(reduction(
                &[(Op::Subf, &[1, 0], F32), (Op::Addf, &[0, 2], F32)],
                3
            )),
            Some((vec![Builtin::Addf], vec![2, 0]))
        );
        for other in [
            reduction(&[(Op::Subf, &[1, 0], F32), (Op::Mulf, &[0, 2], F32)], 3),
            reduction(&[(Op::Subf, &[0, 1], F32)], 2),
            reduction(&[(Op::Addf, &[1, 1], F32)], 2),
            reduction(&[(Op::Mulf, &[0, 1], F32), (Op::Addf, &[1, 2], F32)], 3),
            reduction(&[(Op::Addf, &[0, 1], F32), (Op::Negf, &[2], F32)], 3),
            reduction(&[(Op::Divf, &[1, 0], F32)], 2),
            reduction(&[], 1),
        ] {
            assert_eq!(other, Accumulation::InOrder);
        }
    }

    /// Checks: outputs that combine are told from those beside them that do not, unless their terms use
    /// what these accumulate.
    #[test]
    fn outputs_combine_each_by_itself() {
        let combined = |term: Register, divided: Register| {
            let rows: [(Op, &[Register], ScalarType); 2] =
                [(Op::Addf, &[1, term], F32), (Op::Divf, &[2, divided], F32)];
            let mut reduction = nest([&[d(0), d(1)], &[d(0)]], &[], 0);
            reduction.outputs.push(reduction.outputs[0].clone());
            reduction.code = straight(&[F32; 3], &rows, &[3, 4], &[F32; 2]);
            match reduction.accumulation() {
                Accumulation::Combined(chains, code) => {
                    Some((chains[0].is_some(), chains[1].is_some(), code))
                }
                _ => None,
            }
        };
        let (first, second, code) = combined(0, 0).expect("one is a sum");
        assert_eq!((first, second), (true, false));
        // What is not asked for is not computed.
        assert_eq!(
            (code.body.yields, code.body.instructions),
            (vec![0], vec![])
        );
        assert_eq!(combined(2, 0), None);
    }

    /// Checks: an operator that is said to be associative is told from its elements, where it rounds.
    #[test]
    fn licensed_operators_are_taken_out_of_their_code() {
        // log(exp(acc) + exp(-x)), without what overflows.
        let rows: [(Op, &[Register], ScalarType); 9] = [
            (Op::Negf, &[0], F32),
            (Op::Maximumf, &[1, 2], F32),
            (Op::Subf, &[1, 3], F32),
            (Op::Subf, &[2, 3], F32),
            (Op::Exp, &[4], F32),
            (Op::Exp, &[5], F32),
            (Op::Addf, &[6, 7], F32),
            (Op::Log, &[8], F32),
            (Op::Addf, &[3, 9], F32),
        ];
        let mut reduction = nest([&[d(0), d(1)], &[d(0)]], &rows, 10);
        assert_eq!(reduction.accumulation(), Accumulation::InOrder);
        reduction.licence = Licence::Associative;
        let Accumulation::Licensed(licensed) = reduction.accumulation() else {
            panic!("it is licensed");
        };
        let (Operator::User(user), terms) = *licensed else {
            panic!("it is the program's own");
        };
        assert_eq!(terms.body.yields, [2]);
        assert_eq!(terms.body.instructions.len(), 1);
        assert_eq!(user.code.body.instructions.len(), 8);
        assert!(user.associative && !user.commutative);
        // exp(x) meets no accumulator.
        let rows: [(Op, &[Register], ScalarType); 4] = [
            (Op::Exp, &[0], F32),
            (Op::Exp, &[1], F32),
            (Op::Addf, &[3, 2], F32),
            (Op::Log, &[4], F32),
        ];
        let mut reduction = nest([&[d(0), d(1)], &[d(0)]], &rows, 5);
        reduction.licence = Licence::Associative;
        assert_eq!(reduction.accumulation(), Accumulation::InOrder);
    }

    #[test]
    fn what_the_code_does_not_use_is_known() {
        let reduction = nest([&[d(0), d(1)], &[d(0)]], &[(Op::Negf, &[0], F32)], 2);
        assert_eq!(reduction.used(), [true, false]);
        let reduction = nest([&[d(0), d(1)], &[d(0)]], &[(Op::Addi, &[1, 1], I32)], 2);
        assert_eq!(reduction.used(), [false, true]);
    }
}
