//! Running error analysis: scalar code on values that may be off, with what its results may be off.

use super::element::{Element, distance};
use crate::code::{Block, Code, Instruction, Op, Register};
use crate::scalar::{Scalar, ScalarType};

/// Registers that hold values with what they may be off.
#[derive(Default)]
pub(super) struct Running {
    registers: Vec<Element>,
}

impl Running {
    /// The results, or nothing if the code has none for these values, loops, or asks for a point.
    pub(super) fn run(&mut self, code: &Code, inputs: &[Element]) -> Option<Vec<Element>> {
        self.registers.clear();
        self.registers.extend_from_slice(inputs);
        let none = Element::exact(Scalar::zero(ScalarType::I1));
        self.registers.resize(code.registers, none);
        self.block(&code.body)
    }

    fn block(&mut self, block: &Block) -> Option<Vec<Element>> {
        for instruction in &block.instructions {
            match instruction {
                Instruction::Constant { result, value } => {
                    *self.registers.get_mut(*result)? = Element::exact(*value);
                }
                Instruction::Apply {
                    result,
                    op,
                    operands,
                    ty,
                } => {
                    let element = operation(*op, &self.elements(operands)?, *ty)?;
                    *self.registers.get_mut(*result)? = element;
                }
                Instruction::If {
                    condition,
                    then,
                    otherwise,
                    results,
                } => {
                    let by = *self.registers.get(*condition)?;
                    let (taken, other) = match by.value.is_true() {
                        true => (then, otherwise),
                        false => (otherwise, then),
                    };
                    let mut values = self.block(taken)?;
                    if by.error > 0.0 {
                        let alternatives = self.block(other)?;
                        for (value, other) in values.iter_mut().zip(alternatives) {
                            *value = either(*value, other);
                        }
                    }
                    for (result, value) in results.iter().zip(values) {
                        *self.registers.get_mut(*result)? = value;
                    }
                }
                Instruction::Call {
                    callee,
                    operands,
                    results,
                } => {
                    let values = Running::default().run(callee, &self.elements(operands)?)?;
                    for (result, value) in results.iter().zip(values) {
                        *self.registers.get_mut(*result)? = value;
                    }
                }
                Instruction::Index { .. }
                | Instruction::Promise { .. }
                | Instruction::For { .. }
                | Instruction::While { .. } => return None,
            }
        }
        self.elements(&block.yields)
    }

    fn elements(&self, registers: &[Register]) -> Option<Vec<Element>> {
        let elements = registers.iter().map(|r| self.registers.get(*r).copied());
        elements.collect()
    }
}

/// One operation: what it makes of how far its operands are off, and what it rounds.
fn operation(op: Op, operands: &[Element], ty: ScalarType) -> Option<Element> {
    match (op, operands) {
        (Op::Select, [by, a, b]) if by.error > 0.0 => Some(match by.value.is_true() {
            true => either(*a, *b),
            false => either(*b, *a),
        }),
        (Op::Cmpf(_), [a, b]) => {
            let values = [a.value, b.value];
            let apart = (a.value.as_f64() - b.value.as_f64()).abs();
            let off = a.error + b.error;
            let is_open = off > 0.0 && apart <= off;
            let error = if is_open { f64::INFINITY } else { 0.0 };
            let value = op.apply(&values, ty).ok()?;
            Some(Element { value, error })
        }
        _ => Element::rounded(op, operands, ty).ok(),
    }
}

/// An element that may be another one as well.
fn either(taken: Element, other: Element) -> Element {
    let off = distance(taken.value, other.value) + other.error;
    Element {
        value: taken.value,
        error: taken.error.max(off),
    }
}
