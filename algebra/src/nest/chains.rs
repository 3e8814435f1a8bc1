//! Accumulators that built-in operators alone take further: `acc + a - b`, `max(acc, a)`.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::uses;
use crate::code::{Code, Instruction, Register};
use crate::op::Op;
use crate::operator::Builtin;

/// The operator by which an output combines what it holds with terms that use no output.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// The operator.
    pub operator: Builtin,
    /// The terms, among what the code of all of them yields.
    pub terms: Range<usize>,
}

/// The chains of the outputs, whose arguments begin with `first`, and the code of their terms; none
/// for an output that is made in any other way.
pub(super) fn of(code: &Code, first: usize) -> (Vec<Option<Chain>>, Code) {
    let outputs = code.body.yields.len();
    let mut are_chains = vec![true; outputs];
    loop {
        let mut terms = code.clone();
        terms.body.yields.clear();
        let mut chains = Vec::new();
        for output in 0..outputs {
            let made = are_chains[output]
                .then(|| chain(code, &terms, (first + output, output)))
                .flatten();
            chains.push(made.map(|(operator, body, own)| {
                terms.body.instructions = body.body.instructions;
                let start = terms.body.yields.len();
                terms.body.yields.extend(own);
                Chain {
                    operator,
                    terms: start..terms.body.yields.len(),
                }
            }));
        }
        // Of others' accumulators a term may depend where these are no chains.
        let dependent = dependent(&terms, first..first + outputs);
        let is_free = |chain: &Chain| {
            let mut own = terms.body.yields[chain.terms.clone()].iter();
            own.all(|term| !dependent.contains(term))
        };
        let next: Vec<bool> = chains
            .iter()
            .map(|c| c.as_ref().is_some_and(is_free))
            .collect();
        let is_settled = chains.iter().map(Option::is_some).eq(next.iter().copied());
        if is_settled {
            terms.results = types(&chains, code);
            keep_used(&mut terms);
            return (chains, terms);
        }
        are_chains = next;
    }
}

/// The types of the terms: those of their outputs.
fn types(chains: &[Option<Chain>], code: &Code) -> Vec<crate::scalar::ScalarType> {
    let outputs = chains.iter().zip(&code.results);
    let terms = outputs.flat_map(|(chain, ty)| {
        let count = chain.as_ref().map_or(0, |chain| chain.terms.len());
        std::iter::repeat_n(*ty, count)
    });
    terms.collect()
}

/// The registers that depend on some.
pub(super) fn dependent(code: &Code, on: Range<Register>) -> HashSet<Register> {
    let mut dependent: HashSet<Register> = on.collect();
    for instruction in &code.body.instructions {
        let mut is_one = false;
        instruction.uses(&mut |register| is_one |= dependent.contains(&register));
        if is_one {
            dependent.extend(instruction.results());
        }
    }
    dependent
}

/// Leaves out the instructions that nothing yielded needs: what has no value there is not asked for.
pub(super) fn keep_used(code: &mut Code) {
    let mut needed: HashSet<Register> = code.body.yields.iter().copied().collect();
    let mut kept = Vec::new();
    for instruction in code.body.instructions.drain(..).rev() {
        if instruction.results().iter().any(|r| needed.contains(r)) {
            instruction.uses(&mut |register| {
                needed.insert(register);
            });
            kept.push(instruction);
        }
    }
    kept.reverse();
    code.body.instructions = kept;
}

/// The operator of an output that links of one operator alone lead to from its accumulator; the code
/// in which their terms are made, and these.
fn chain(
    of: &Code,
    terms: &Code,
    (accumulator, output): (Register, usize),
) -> Option<(Builtin, Code, Vec<Register>)> {
    let uses: HashMap<Register, usize> = uses(of);
    let yielded = *of.body.yields.get(output)?;
    let (mut at, mut found) = (accumulator, None);
    let mut code = terms.clone();
    let mut own = Vec::new();
    while at != yielded {
        // Nothing else is made of it.
        if uses.get(&at) != Some(&1) {
            return None;
        }
        let (operator, result) = link(&mut code, at, &mut own)?;
        if *found.get_or_insert(operator) != operator {
            return None;
        }
        at = result;
    }
    (uses.get(&yielded) == Some(&1)).then_some((found?, code, own))
}

/// Takes the instruction that an accumulator meets a term in out of the code, which makes the term.
fn link(
    code: &mut Code,
    accumulator: Register,
    terms: &mut Vec<Register>,
) -> Option<(Builtin, Register)> {
    let of_accumulator = |instruction: &Instruction| match instruction {
        Instruction::Apply { operands, .. } => operands.contains(&accumulator),
        _ => false,
    };
    let at = code.body.instructions.iter().position(of_accumulator)?;
    let Instruction::Apply {
        op,
        operands,
        ty,
        result,
    } = code.body.instructions[at].clone()
    else {
        return None;
    };
    let one = |op, operands| Instruction::Apply {
        result,
        op,
        operands,
        ty,
    };
    let (operator, term) = match (op, &operands[..]) {
        // The product is rounded here, of which the bound of a sum knows.
        (Op::Fma, &[a, b, c]) if c == accumulator => {
            code.body.instructions[at] = one(Op::Mulf, vec![a, b]);
            terms.push(result);
            return Some((Builtin::Addf, result));
        }
        // x - t = x + -t
        (Op::Subf, &[x, t]) if x == accumulator => {
            code.body.instructions[at] = one(Op::Negf, vec![t]);
            terms.push(result);
            return Some((Builtin::Addf, result));
        }
        (op, &[a, b]) if a == accumulator => (Builtin::all().find(|o| o.op() == op)?, b),
        (op, &[a, b]) if b == accumulator => (Builtin::all().find(|o| o.op() == op)?, a),
        _ => return None,
    };
    code.body.instructions.remove(at);
    terms.push(term);
    Some((operator, result))
}
