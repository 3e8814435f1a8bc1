//! Accumulators that built-in operators alone take further: `acc + a - b`, `max(acc, a)`, and the same under
//! conditions.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::{masks, uses};
use crate::code::{Block, Code, Instruction, Register};
use crate::op::Op;
use crate::operator::Builtin;
use crate::scalar::ScalarType;

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
pub(super) fn split(code: &Code, first: usize) -> (Vec<Option<Chain>>, Code) {
    let outputs = code.body.yields.len();
    let code = &masks::lift(code, first);
    let mut are_chains = vec![true; outputs];
    loop {
        let mut terms = code.clone();
        terms.body.yields.clear();
        let mut chains = Vec::new();
        for (output, is_chain) in are_chains.iter().enumerate() {
            let made = is_chain
                .then(|| chain(code, &terms, (first + output, output)))
                .flatten();
            chains.push(made.map(|(operator, body, yielded)| {
                terms.body.instructions = body.body.instructions;
                let start = terms.body.yields.len();
                terms.body.yields.extend(yielded);
                Chain {
                    operator,
                    terms: start..terms.body.yields.len(),
                }
            }));
        }
        // Of others' accumulators a term may depend where these are no chains.
        let dependent = dependent(&terms, first..first + outputs);
        let is_free = |chain: &Chain| {
            let mut yielded = terms.body.yields[chain.terms.clone()].iter();
            yielded.all(|term| !dependent.contains(term))
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
fn types(chains: &[Option<Chain>], code: &Code) -> Vec<ScalarType> {
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
    let mut used = Vec::new();
    for instruction in code.body.instructions.drain(..).rev() {
        if instruction.results().iter().any(|r| needed.contains(r)) {
            instruction.uses(&mut |register| {
                needed.insert(register);
            });
            used.push(instruction);
        }
    }
    used.reverse();
    code.body.instructions = used;
}

/// The operator of an output that links of one operator alone lead to from its accumulator; the code
/// in which their terms are made, and these.
fn chain(
    source: &Code,
    terms: &Code,
    (accumulator, output): (Register, usize),
) -> Option<(Builtin, Code, Vec<Register>)> {
    let uses: HashMap<Register, usize> = uses(source);
    let yielded = *source.body.yields.get(output)?;
    let (mut at, mut found) = (accumulator, None);
    let mut code = terms.clone();
    let mut elements = Vec::new();
    while at != yielded {
        // Nothing else is made of it.
        if uses.get(&at) != Some(&1) {
            return None;
        }
        let (operator, result) = link(&mut code, at, &mut elements)?;
        if *found.get_or_insert(operator) != operator {
            return None;
        }
        at = result;
    }
    (uses.get(&yielded) == Some(&1)).then_some((found?, code, elements))
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
    let step = Step::new(&code.body.instructions[at], |r| r == accumulator)?;
    terms.push(step.leave_term(&mut code.body));
    Some((step.operator, step.result))
}

/// An operation that takes what is accumulated further.
pub(super) struct Step {
    pub(super) operator: Builtin,
    pub(super) base: Register,
    pub(super) result: Register,
    pub(super) ty: ScalarType,
    /// The value that it is combined with, or an operation that makes it.
    pub(super) term: Result<Register, (Op, Vec<Register>)>,
}

impl Step {
    /// Reads an operation of which one operand is accumulated.
    pub(super) fn new(one: &Instruction, is: impl Fn(Register) -> bool) -> Option<Step> {
        let Instruction::Apply {
            op,
            operands,
            ty,
            result,
        } = one
        else {
            return None;
        };
        let builtin = |op: Op| Builtin::all().find(|o| o.op() == op);
        let (operator, base, term) = match (*op, &operands[..]) {
            // The product is rounded here, of which the bound of a sum knows.
            (Op::Fma, &[a, b, c]) => (Builtin::Addf, c, Err((Op::Mulf, vec![a, b]))),
            // x - t = x + -t
            (Op::Subf, &[x, t]) => (Builtin::Addf, x, Err((Op::Negf, vec![t]))),
            (op, &[a, b]) if is(a) => (builtin(op)?, a, Ok(b)),
            (op, &[b, a]) => (builtin(op)?, a, Ok(b)),
            _ => return None,
        };
        let is_free = match &term {
            Ok(term) => !is(*term),
            Err((_, of)) => !of.iter().any(|r| is(*r)),
        };
        (is(base) && is_free).then_some(Step {
            operator,
            base,
            result: *result,
            ty: *ty,
            term,
        })
    }

    /// Leaves the term, which this returns, in its place in a block.
    pub(super) fn leave_term(&self, block: &mut Block) -> Register {
        let is_it = |one: &Instruction| one.results() == [self.result];
        let at = block.instructions.iter().position(is_it);
        match (&self.term, at) {
            (Ok(term), at) => {
                at.map(|at| block.instructions.remove(at));
                *term
            }
            (Err((op, operands)), at) => {
                let made = Instruction::Apply {
                    result: self.result,
                    op: *op,
                    operands: operands.clone(),
                    ty: self.ty,
                };
                at.map(|at| std::mem::replace(&mut block.instructions[at], made));
                self.result
            }
        }
    }
}
