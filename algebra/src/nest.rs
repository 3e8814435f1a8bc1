//! A nest of loops around scalar code on elements: what `linalg.generic` means.
//!
//! The loops run over a box of points in lexicographic order. At each point the code takes the
//! elements of the inputs and outputs where their maps say, and what it yields is written to the
//! outputs: `out[map(p)] = code(in[map(p)], .., out[map(p)], ..)`. Unlike a
//! [`crate::computation::Computation`] a nest declares no operator: that its result is a reduction
//! which may be reordered is seen in its code ([`Nest::accumulation`]).

use std::collections::{BTreeSet, HashMap};

use crate::affine::Expr;
use crate::code::{Code, Instruction, Register};
use crate::op::Op;
use crate::operator::Builtin;
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
    /// [`Instruction::Index`] is the index of a loop.
    pub code: Code,
}

/// An operand of a nest.
#[derive(Clone, Debug, PartialEq)]
pub struct NestAccess {
    /// The type of its elements.
    pub element: ScalarType,
    /// One index function for each axis.
    pub map: Vec<Expr>,
}

/// Describes how the points that write one element make it.
#[derive(Clone, Debug, PartialEq)]
pub enum Accumulation {
    /// No output is read: the last point that writes an element decides.
    Last,
    /// Each output combines, by one of these, what it holds with what the code yields, which uses no
    /// output: in any order, as linalg's reductions say.
    Combined(Vec<Builtin>, Code),
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
        let mut kept: Option<BTreeSet<usize>> = None;
        for output in &self.outputs {
            let mut own = BTreeSet::new();
            for axis in &output.map {
                match axis {
                    Expr::Dim(d) if own.insert(*d) => {}
                    _ => return None,
                }
            }
            if *kept.get_or_insert_with(|| own.clone()) != own {
                return None;
            }
        }
        kept.map(|kept| kept.into_iter().collect())
    }

    /// Returns how its outputs come about.
    pub fn accumulation(&self) -> Accumulation {
        let first = self.inputs.len();
        let used = self.used();
        if !used[first..].contains(&true) {
            return Accumulation::Last;
        }
        let uses = uses(&self.code);
        let mut code = self.code.clone();
        let mut operators = Vec::new();
        for output in 0..self.outputs.len() {
            match combined(&mut code, &uses, (first + output, output)) {
                Some(operator) => operators.push(operator),
                None => return Accumulation::InOrder,
            }
        }
        Accumulation::Combined(operators, code)
    }
}

/// Returns how often each register is used, yields included.
fn uses(code: &Code) -> HashMap<Register, usize> {
    let mut uses = HashMap::new();
    code.body
        .uses(&mut |register| *uses.entry(register).or_default() += 1);
    uses
}

/// The operator of an output whose code is `operator(accumulator, term)`, with nothing else made of
/// either the accumulator or the combination; the code yields the term then.
fn combined(
    code: &mut Code,
    uses: &HashMap<Register, usize>,
    (accumulator, output): (Register, usize),
) -> Option<Builtin> {
    let yielded = *code.body.yields.get(output)?;
    if uses.get(&accumulator) != Some(&1) || uses.get(&yielded) != Some(&1) {
        return None;
    }
    let at = code.body.instructions.iter().position(
        |instruction| matches!(instruction, Instruction::Apply { result, .. } if *result == yielded),
    )?;
    let Instruction::Apply {
        op, operands, ty, ..
    } = code.body.instructions[at].clone()
    else {
        return None;
    };
    let one = |op, operands| Instruction::Apply {
        result: yielded,
        op,
        operands,
        ty,
    };
    let (operator, term) = match (op, &operands[..]) {
        // The product is rounded here, of which the bound of a sum knows.
        (Op::Fma, &[a, b, c]) if c == accumulator => {
            code.body.instructions[at] = one(Op::Mulf, vec![a, b]);
            return Some(Builtin::Addf);
        }
        // x - t = x + -t
        (Op::Subf, &[x, t]) if x == accumulator => {
            code.body.instructions[at] = one(Op::Negf, vec![t]);
            return Some(Builtin::Addf);
        }
        (op, &[a, b]) if a == accumulator => (Builtin::all().find(|o| o.op() == op)?, b),
        (op, &[a, b]) if b == accumulator => (Builtin::all().find(|o| o.op() == op)?, a),
        _ => return None,
    };
    code.body.instructions.remove(at);
    code.body.yields[output] = term;
    Some(operator)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::{d, straight};
    use ScalarType::{F32, I32};

    fn nest(maps: [&[Expr]; 2], rows: &[(Op, &[Register], ScalarType)], yields: usize) -> Nest {
        let access = |map: &[Expr]| NestAccess {
            element: F32,
            map: map.to_vec(),
        };
        Nest {
            dimensions: 2,
            inputs: vec![access(maps[0])],
            outputs: vec![access(maps[1])],
            code: straight(&[F32, F32], rows, &[yields], &[F32]),
        }
    }

    #[test]
    fn kept_loops_are_axes_of_all_outputs() {
        let of = |map: &[Expr]| nest([&[d(0), d(1)], map], &[], 0).kept();
        assert_eq!(of(&[d(1)]), Some(vec![1]));
        assert_eq!(of(&[d(1), d(0)]), Some(vec![0, 1]));
        assert_eq!(of(&[]), Some(vec![]));
        for odd in [vec![d(0), d(0)], vec![d(0) + d(1)], vec![Expr::Const(0)]] {
            assert_eq!(of(&odd), None);
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
        let of = |rows: &[(Op, &[Register], ScalarType)], yields| {
            nest([&[d(0), d(1)], &[d(0)]], rows, yields).accumulation()
        };
        let operators = |accumulation| match accumulation {
            Accumulation::Combined(operators, code) => Some((operators, code.body.yields)),
            _ => None,
        };
        assert_eq!(of(&[], 0), Accumulation::Last);
        assert_eq!(
            operators(of(&[(Op::Mulf, &[0, 0], F32), (Op::Addf, &[1, 2], F32)], 3)),
            Some((vec![Builtin::Addf], vec![2]))
        );
        assert_eq!(
            operators(of(&[(Op::Maximumf, &[0, 1], F32)], 2)),
            Some((vec![Builtin::Maximumf], vec![0]))
        );
        assert_eq!(
            operators(of(&[(Op::Subf, &[1, 0], F32)], 2)),
            Some((vec![Builtin::Addf], vec![2]))
        );
        assert_eq!(
            operators(of(&[(Op::Fma, &[0, 0, 1], F32)], 2)),
            Some((vec![Builtin::Addf], vec![2]))
        );
        for other in [
            of(&[(Op::Subf, &[0, 1], F32)], 2),
            of(&[(Op::Addf, &[1, 1], F32)], 2),
            of(&[(Op::Mulf, &[0, 1], F32), (Op::Addf, &[1, 2], F32)], 3),
            of(&[(Op::Addf, &[0, 1], F32), (Op::Negf, &[2], F32)], 3),
            of(&[(Op::Divf, &[1, 0], F32)], 2),
            of(&[], 1),
        ] {
            assert_eq!(other, Accumulation::InOrder);
        }
    }

    #[test]
    fn what_the_code_does_not_use_is_known() {
        let of = nest([&[d(0), d(1)], &[d(0)]], &[(Op::Negf, &[0], F32)], 2);
        assert_eq!(of.used(), [true, false]);
        let of = nest([&[d(0), d(1)], &[d(0)]], &[(Op::Addi, &[1, 1], I32)], 2);
        assert_eq!(of.used(), [false, true]);
    }
}
