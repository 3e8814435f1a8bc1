//! Operators that a program says are associative: `mdh.associative` on an operation of linalg.
//!
//! What the code makes of accumulators is the operator, on tuples; it takes as many elements as there
//! are accumulators: the inputs, in the order of the outputs, or for each accumulator the one value
//! that meets it.

use std::collections::{HashMap, HashSet};

use super::chains::{dependent, keep_used};
use crate::code::{Block, Code, Instruction, Register};
use crate::operator::UserOperator;
use crate::scalar::ScalarType;

/// Says how the points that write one element may be combined, where the code itself does not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Licence {
    /// One after the other.
    #[default]
    None,
    /// Parts of them separately.
    Associative,
    /// In any order.
    Commutative,
}

/// The code of the elements, and the operator that combines accumulators with them.
pub(super) fn split(
    code: &Code,
    first: usize,
    licence: Licence,
) -> Option<(Code, Box<UserOperator>)> {
    let count = code.body.yields.len();
    let accumulated = dependent(code, first..first + count);
    let is_merging = |one: &&Instruction| one.results().iter().any(|r| accumulated.contains(r));
    let merging: Vec<&Instruction> = code.body.instructions.iter().filter(is_merging).collect();
    let taken = taken(code, &merging, &accumulated)?;
    let elements = elements(code, first, &merging, &taken)?;
    let mut terms = code.clone();
    terms.body.yields.clone_from(&elements);
    keep_used(&mut terms);
    let operator = UserOperator {
        name: "merge".into(),
        code: merge(code, first, &elements)?,
        neutral: None,
        commutative: licence == Licence::Commutative,
        associative: true,
    };
    Some((terms, Box::new(operator)))
}

/// The registers besides accumulated ones and constants that instructions take; none if one of these has blocks.
fn taken(
    code: &Code,
    merging: &[&Instruction],
    accumulated: &HashSet<Register>,
) -> Option<Vec<Register>> {
    let constants: HashSet<Register> = (code.body.instructions.iter())
        .filter_map(|one| match one {
            Instruction::Constant { result, .. } => Some(*result),
            _ => None,
        })
        .collect();
    let mut taken: Vec<Register> = Vec::new();
    for one in merging {
        let Instruction::Apply { operands, .. } = one else {
            return None;
        };
        for register in operands {
            let is_other = !accumulated.contains(register) && !constants.contains(register);
            if is_other && !taken.contains(register) {
                taken.push(*register);
            }
        }
    }
    Some(taken)
}

/// The code of the operator: from accumulators and elements to accumulators.
fn merge(code: &Code, first: usize, elements: &[Register]) -> Option<Code> {
    let count = code.body.yields.len();
    let inputs = (first..first + count).chain(elements.iter().copied());
    let mut numbers: HashMap<Register, Register> =
        inputs.enumerate().map(|(n, r)| (r, n)).collect();
    let mut instructions = Vec::new();
    let mut next = 2 * count;
    for one in &code.body.instructions {
        // An element is given, whatever it is made of.
        if one.results().iter().any(|r| numbers.contains_key(r)) {
            continue;
        }
        let Some(renumbered) = renumbered(one, &numbers, next) else {
            continue;
        };
        numbers.insert(*one.results().first()?, next);
        instructions.push(renumbered);
        next += 1;
    }
    let yields: Option<Vec<Register>> = (code.body.yields.iter())
        .map(|r| numbers.get(r).copied())
        .collect();
    let mut operator = Code {
        inputs: [&code.results[..], &code.results[..]].concat(),
        results: code.results.clone(),
        registers: next,
        body: Block {
            instructions,
            yields: yields?,
        },
    };
    keep_used(&mut operator);
    Some(operator)
}

/// An instruction on the registers of the operator, if it is one of it.
fn renumbered(
    one: &Instruction,
    numbers: &HashMap<Register, Register>,
    next: Register,
) -> Option<Instruction> {
    match one {
        Instruction::Constant { value, .. } => Some(Instruction::Constant {
            result: next,
            value: *value,
        }),
        Instruction::Apply {
            op, operands, ty, ..
        } => {
            let operands: Option<Vec<Register>> =
                operands.iter().map(|r| numbers.get(r).copied()).collect();
            Some(Instruction::Apply {
                result: next,
                op: *op,
                operands: operands?,
                ty: *ty,
            })
        }
        _ => None,
    }
}

/// Finds the element that each accumulator is combined with.
fn elements(
    code: &Code,
    first: usize,
    merging: &[&Instruction],
    taken: &[Register],
) -> Option<Vec<Register>> {
    let count = code.body.yields.len();
    let types = types(code);
    let fits = |element: &Register, n: usize| types.get(element) == code.inputs.get(first + n);
    let inputs: Vec<Register> = (0..first).collect();
    let are_inputs = taken.len() == first && taken.iter().all(|r| *r < first);
    if count == first && are_inputs && inputs.iter().enumerate().all(|(n, e)| fits(e, n)) {
        return Some(inputs);
    }
    if taken.len() != count {
        return None;
    }
    let mut elements: Vec<Register> = Vec::new();
    for n in 0..count {
        let meets = |element: &Register| {
            merging.iter().any(|instruction| {
                let mut used = Vec::new();
                instruction.uses(&mut |register| used.push(register));
                used.contains(element) && used.contains(&(first + n))
            })
        };
        let mut candidates = taken.iter().filter(|e| fits(e, n) && meets(e));
        match (candidates.next(), candidates.next()) {
            (Some(element), None) if !elements.contains(element) => elements.push(*element),
            _ => return None,
        }
    }
    Some(elements)
}

/// The types of the registers that arguments and single operations make.
fn types(code: &Code) -> HashMap<Register, ScalarType> {
    let mut types: HashMap<Register, ScalarType> =
        code.inputs.iter().copied().enumerate().collect();
    for one in &code.body.instructions {
        match one {
            Instruction::Apply { result, ty, .. } => types.insert(*result, *ty),
            Instruction::Constant { result, value } => types.insert(*result, value.ty),
            Instruction::Index { result, .. } => types.insert(*result, ScalarType::Index),
            _ => None,
        };
    }
    types
}
