//! Arithmetic on constants alone, which the compiler may do in floats before there are integers.
//!
//! `0.5 + 0.25` is `0.75`, and not the sum of the integers that stand for the two: where one side of an exact check
//! has it folded and the other has not, results differ although nobody is wrong. What scalars give is folded on both
//! sides before (`sccp`); what tensors of constants and computations without inputs give is not. Small integral
//! numbers are left alone: sums and products of them are the same in floats and in integers.

use std::collections::HashMap;

use mdh_algebra::scalar::Scalar;
use mdh_dialect::code::arguments;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::parts::{CombinePart, Operators, Parts, combine_part};
use mdh_dialect::{ops, read, types};
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, BlockLike, BlockRef, RegionLike, ValueLike};

use super::{code, types as retyping};
use crate::support::region;

/// The largest magnitude of integers whose arithmetic is expected to be exact in floats of 16 bits, too.
const SMALL: f64 = 16.0;

/// Elements that are the same in every run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Constant {
    /// Small integral numbers.
    Integral,
    /// Others: different integers stand for what arithmetic makes of them.
    Fraction,
}

/// The constant values of a module, and its arithmetic on them that floats and integers do differently.
#[derive(Default)]
struct Constants<'c> {
    known: HashMap<*const std::ffi::c_void, Constant>,
    refused: Vec<Op<'c>>,
}

/// The operations on floats whose operands are all constant, and whose results differ between floats and integers.
pub fn arithmetic(module: Op<'_>) -> Vec<Op<'_>> {
    let mut constants = Constants::default();
    constants.visit_regions(module);
    constants.refused
}

impl<'c> Constants<'c> {
    fn get(&self, value: Val) -> Option<Constant> {
        self.known.get(&value.to_raw().ptr).copied()
    }

    fn set(&mut self, value: Val, constant: Option<Constant>) {
        if let Some(constant) = constant {
            self.known.insert(value.to_raw().ptr, constant);
        }
    }

    fn set_results(&mut self, op: Op<'c>, constant: Option<Constant>) {
        op.results()
            .for_each(|result| self.set(ir::value(result), constant));
    }

    /// The constant that all values are, `None` where one is none or there are no values.
    fn join(&self, values: impl Iterator<Item = Val<'c>>) -> Option<Constant> {
        let constants: Option<Vec<Constant>> = values.map(|value| self.get(value)).collect();
        constants?.into_iter().max()
    }

    fn visit_regions(&mut self, op: Op<'c>) {
        for number in 0..op.region_count() {
            let first = ir::region(op, number).first_block();
            for block in std::iter::successors(first, |block| block.next_in_region()) {
                ir::ops_of(block).into_iter().for_each(|op| self.visit(op));
            }
        }
    }

    fn visit(&mut self, op: Op<'c>) {
        match ir::name_of(op) {
            ops::arith::CONSTANT => {
                let value = ir::attribute(op, "value").and_then(class);
                self.set_results(op, value);
            }
            ops::mdh::COMPUTE => self.visit_computation(op),
            ops::linalg::GENERIC => {
                let block = ir::only_block(ir::region(op, 0));
                let elements = block.map(arguments).unwrap_or_default();
                for (element, operand) in elements.into_iter().zip(op.operands().map(ir::value)) {
                    self.set(element, self.get(operand));
                }
                self.visit_regions(op);
                let yields = block.map(region::yields).unwrap_or_default();
                for (result, value) in op.results().zip(yields) {
                    self.set(ir::value(result), self.get(value));
                }
            }
            _ if op.region_count() > 0 => self.visit_regions(op),
            _ => self.visit_plain(op),
        }
    }

    /// Operations without regions: their results are constant where all operands are.
    fn visit_plain(&mut self, op: Op<'c>) {
        let Some(operands) = self.join(op.operands().map(ir::value)) else {
            return;
        };
        let is_kept = !code::is_arithmetic(op)
            || code::is_same_in_floats(op) && operands == Constant::Integral;
        match is_kept {
            true => self.set_results(op, Some(operands)),
            // What follows from it needs no second message.
            false => self.refused.push(op),
        }
    }

    fn visit_computation(&mut self, op: Op<'c>) {
        let (Ok(parts), Some(block)) = (read::compute(op), ir::only_block(ir::region(op, 0)))
        else {
            return;
        };
        let inputs = parts.inputs.iter();
        let read = inputs.flat_map(|input| std::iter::repeat_n(input, input.accesses.len()));
        for (element, input) in arguments(block).into_iter().zip(read) {
            let elements = self.get(input.value);
            let outside = input.pad.map(class);
            let constant =
                elements.and_then(|own| outside.unwrap_or(Some(own)).map(|pad| pad.max(own)));
            self.set(element, constant);
        }
        self.visit_indices(block, &parts);
        self.visit_regions(op);
        if !parts.carries.is_empty() {
            return;
        }
        let combined = parts
            .combine
            .iter()
            .map(|combine| combination(*combine))
            .max();
        let yields: Vec<Option<Constant>> = region::yields(block)
            .into_iter()
            .map(|value| self.get(value))
            .collect();
        for (result, output) in op.results().zip(&parts.outputs) {
            let stored = output
                .components
                .iter()
                .map(|component| yields.get(*component).copied().flatten());
            let stored: Option<Vec<Constant>> = match combined {
                // An operator of the program's own may make each component of all.
                Some(Constant::Fraction) => yields.iter().copied().collect(),
                _ => stored.collect(),
            };
            let constant = stored.and_then(|stored| stored.into_iter().chain(combined).max());
            self.set(ir::value(result), constant);
        }
    }

    /// The index in a dimension of one point is a number.
    fn visit_indices(&mut self, block: BlockRef<'c, 'c>, parts: &Parts) {
        for op in ir::ops_of(block) {
            let position = ir::integer(op, "dim").filter(|_| ir::name_of(op) == ops::mdh::INDEX);
            let dim = position.and_then(|position| parts.dims.get(position as usize));
            let bounds = dim.and_then(|dim| Some((dim.lower.known()?, dim.upper.known()?)));
            if bounds.is_some_and(|(lower, upper)| upper == lower + 1) {
                self.set_results(op, Some(Constant::Integral));
            }
        }
    }
}

/// The class of combined constants: built-in operators keep small integers.
fn combination(combine: Attribute) -> Constant {
    match combine_part(combine) {
        Ok(CombinePart::Cc | CombinePart::Fold(_, Operators::Builtin(_))) => Constant::Integral,
        _ => Constant::Fraction,
    }
}

/// The class of the numbers of an attribute.
fn class(attribute: Attribute) -> Option<Constant> {
    let number = types::scalar(attribute).map(|number| vec![number]);
    let is_small = |number: &Scalar| {
        let value = number.as_f64();
        !number.ty.is_float() || value.fract() == 0.0 && value.abs() <= SMALL
    };
    Some(
        match number
            .or_else(|| retyping::elements(attribute))?
            .iter()
            .all(is_small)
        {
            true => Constant::Integral,
            false => Constant::Fraction,
        },
    )
}
