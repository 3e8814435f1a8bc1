//! Accumulation under conditions: `m ? acc + x : acc` is `acc + (m ? x : -0.0)`, bit for bit, where the
//! condition does not depend on what is accumulated; so are branches. `truncf(extf(acc) + extf(x))` is
//! `acc + x`; other terms of the wider type, products too, stay as they are written.

use std::collections::{HashMap, HashSet};

use super::chains::{Step, keep_used};
use super::narrow::{Made, is_narrow};
use super::uses;
use crate::code::{Block, Code, Instruction, Register};
use crate::op::Op;
use crate::operator::Builtin;
use crate::scalar::{Scalar, ScalarType};

/// The same code with conditions on what is combined with the outputs, whose arguments begin with `first`.
pub(super) fn lift(code: &Code, first: usize) -> Code {
    let mut lifted = code.clone();
    let mut masks = Masks {
        dependent: (first..code.inputs.len()).collect(),
        uses: uses(code),
        types: code.inputs.iter().copied().enumerate().collect(),
        extended: HashMap::new(),
        constants: HashMap::new(),
        registers: code.registers,
    };
    masks.block(&mut lifted.body);
    lifted.registers = masks.registers;
    keep_used(&mut lifted);
    lifted
}

struct Masks {
    dependent: HashSet<Register>,
    uses: HashMap<Register, usize>,
    types: HashMap<Register, ScalarType>,
    /// The values that are others of a narrower type.
    extended: HashMap<Register, Register>,
    constants: HashMap<Register, Scalar>,
    registers: usize,
}

/// The operator and the base of steps that two values take, or one of them from the other.
struct Common {
    operator: Builtin,
    base: Register,
    ty: ScalarType,
    steps: [Option<Step>; 2],
}

impl Masks {
    fn block(&mut self, block: &mut Block) {
        for mut one in std::mem::take(&mut block.instructions) {
            if let Instruction::If {
                then, otherwise, ..
            } = &mut one
            {
                self.block(then);
                self.block(otherwise);
            }
            let mut is_dependent = false;
            one.uses(&mut |register| is_dependent |= self.dependent.contains(&register));
            let results = one.results().to_vec();
            self.note(&one);
            match one {
                Instruction::Apply {
                    op: Op::Select,
                    operands,
                    result,
                    ty,
                } if is_dependent => self.select(block, &operands, result, ty),
                Instruction::Apply {
                    op: Op::Truncf,
                    operands,
                    result,
                    ty,
                } if is_dependent => self.round(block, operands[0], (result, ty)),
                Instruction::If { .. } if is_dependent => self.branches(block, one),
                other => block.instructions.push(other),
            }
            if is_dependent {
                self.dependent.extend(results);
            }
        }
    }

    /// Keeps what is known of a result.
    fn note(&mut self, one: &Instruction) {
        match one {
            Instruction::Constant { result, value } => {
                self.constants.insert(*result, *value);
            }
            Instruction::Apply {
                op,
                operands,
                ty,
                result,
            } => {
                self.types.insert(*result, *ty);
                if *op == Op::Extf {
                    self.extended.insert(*result, operands[0]);
                }
            }
            _ => {}
        }
    }

    /// Sums in an accumulator's own type what is rounded to it afterwards.
    fn round(&mut self, block: &mut Block, wide: Register, (result, ty): (Register, ScalarType)) {
        let step = self.step(block, wide);
        let step = step.filter(|step| self.is_narrow_term(block, step, ty));
        let Some((step, base)) =
            step.and_then(|step| self.narrow(step.base, ty).map(|base| (step, base)))
        else {
            block.instructions.push(truncated(wide, result, ty));
            return;
        };
        let term = step.leave_term(block);
        if self.uses.get(&step.base) == Some(&1) {
            block
                .instructions
                .retain(|one| one.results() != [step.base]);
        }
        let term = self.narrow(term, ty).unwrap_or_else(|| {
            let rounded = self.register();
            block.instructions.push(truncated(term, rounded, ty));
            rounded
        });
        block.instructions.push(Instruction::Apply {
            result,
            op: step.operator.op(),
            operands: vec![base, term],
            ty,
        });
    }

    /// The number of a narrower type that a value is.
    fn narrow(&self, wide: Register, ty: ScalarType) -> Option<Register> {
        let narrower = self.extended.get(&wide).copied();
        narrower.filter(|narrower| self.types.get(narrower) == Some(&ty))
    }

    fn is_narrow_term(&self, block: &Block, step: &Step, ty: ScalarType) -> bool {
        let term = match &step.term {
            Ok(term) => *term,
            Err((Op::Negf, of)) => of[0],
            Err(_) => return false,
        };
        is_narrow(term, ty, &|value| self.made(block, value))
    }

    /// The way that a value is made; of blocks around, numbers are known, and what is extended.
    fn made(&self, block: &Block, value: Register) -> Made<Register> {
        let extended = self
            .extended
            .get(&value)
            .and_then(|extended| self.types.get(extended));
        if let Some(ty) = extended {
            return Made::Extended(*ty);
        }
        if let Some(number) = self.constants.get(&value) {
            return Made::Constant(*number);
        }
        match made_in(block, value) {
            Some(Instruction::Constant { value, .. }) => Made::Constant(*value),
            Some(Instruction::Apply { op, operands, .. }) => match op {
                Op::Select => Made::OneOf(operands[1..].to_vec()),
                Op::Negf => Made::Negated(operands[0]),
                _ => Made::Otherwise,
            },
            Some(Instruction::If {
                then,
                otherwise,
                results,
                ..
            }) => {
                let n = results.iter().position(|r| *r == value);
                n.map_or(Made::Otherwise, |n| {
                    Made::OneOf(vec![then.yields[n], otherwise.yields[n]])
                })
            }
            _ => Made::Otherwise,
        }
    }

    fn select(
        &mut self,
        block: &mut Block,
        operands: &[Register],
        result: Register,
        ty: ScalarType,
    ) {
        let mut by = operands.to_vec();
        let common = match operands {
            [m, values @ ..] if !self.dependent.contains(m) => {
                let steps = values.iter().map(|value| self.step(block, *value));
                common(values, steps.collect())
            }
            _ => None,
        };
        let chosen = if common.is_some() {
            self.register()
        } else {
            result
        };
        if let Some(common) = &common {
            for (operand, step) in by[1..].iter_mut().zip(&common.steps) {
                *operand = self.term(common, step.as_ref(), block);
            }
        }
        block.instructions.push(Instruction::Apply {
            result: chosen,
            op: Op::Select,
            operands: by,
            ty,
        });
        let further = common.map(|common| common.with(chosen, result));
        block.instructions.extend(further);
    }

    fn branches(&mut self, block: &mut Block, mut one: Instruction) {
        let mut further = Vec::new();
        if let Instruction::If {
            condition,
            then,
            otherwise,
            results,
        } = &mut one
            && !self.dependent.contains(condition)
        {
            for (n, result) in results.iter_mut().enumerate() {
                let values = [then.yields[n], otherwise.yields[n]];
                let steps = vec![self.step(then, values[0]), self.step(otherwise, values[1])];
                let Some(common) = common(&values, steps) else {
                    continue;
                };
                let blocks = [&mut *then, &mut *otherwise].into_iter();
                for (block, step) in blocks.zip(&common.steps) {
                    block.yields[n] = self.term(&common, step.as_ref(), block);
                }
                let chosen = self.register();
                further.push(common.with(chosen, *result));
                *result = chosen;
            }
        }
        block.instructions.push(one);
        block.instructions.extend(further);
    }

    fn register(&mut self) -> Register {
        self.registers += 1;
        self.registers - 1
    }

    /// The step whose result a value is, if nothing else uses it.
    fn step(&self, block: &Block, value: Register) -> Option<Step> {
        let made = block.instructions.iter().find(|i| i.results() == [value])?;
        let is_alone = self.uses.get(&value) == Some(&1);
        let step = Step::new(made, |r| self.dependent.contains(&r));
        step.filter(|_| is_alone)
    }

    /// Leaves what a step combines its base with, or the number that changes nothing, in a block.
    fn term(&mut self, common: &Common, step: Option<&Step>, block: &mut Block) -> Register {
        if let Some(step) = step {
            return step.leave_term(block);
        }
        let result = self.register();
        let neutral = match common.operator {
            // +0.0 would change -0.0.
            Builtin::Addf => Scalar::from_f64(common.ty, -0.0),
            other => other.neutral(common.ty).unwrap_or(Scalar::zero(common.ty)),
        };
        let constant = Instruction::Constant {
            result,
            value: neutral,
        };
        block.instructions.push(constant);
        result
    }
}

/// The instruction of a block, or of a branch in it, that makes a value.
fn made_in(block: &Block, value: Register) -> Option<&Instruction> {
    block.instructions.iter().find_map(|one| match one {
        one if one.results().contains(&value) => Some(one),
        Instruction::If {
            then, otherwise, ..
        } => made_in(then, value).or_else(|| made_in(otherwise, value)),
        _ => None,
    })
}

fn truncated(wide: Register, result: Register, ty: ScalarType) -> Instruction {
    Instruction::Apply {
        result,
        op: Op::Truncf,
        operands: vec![wide],
        ty,
    }
}

impl Common {
    fn with(&self, term: Register, result: Register) -> Instruction {
        Instruction::Apply {
            result,
            op: self.operator.op(),
            operands: vec![self.base, term],
            ty: self.ty,
        }
    }
}

/// The base and operator that two values have in common, of which steps may be known.
fn common(values: &[Register], steps: Vec<Option<Step>>) -> Option<Common> {
    let [a, b]: [Option<Step>; 2] = steps.try_into().ok()?;
    let key = |step: &Step| (step.operator, step.base, step.ty);
    let ((operator, base, ty), steps) = match (a, b) {
        (Some(a), Some(b)) if key(&a) == key(&b) => (key(&a), [Some(a), Some(b)]),
        (Some(a), _) if a.base == values[1] => (key(&a), [Some(a), None]),
        (_, Some(b)) if b.base == values[0] => (key(&b), [None, Some(b)]),
        _ => return None,
    };
    Some(Common {
        operator,
        base,
        ty,
        steps,
    })
}

#[cfg(test)]
#[path = "masks_tests.rs"]
mod tests;
