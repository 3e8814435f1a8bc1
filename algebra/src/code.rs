//! Scalar code: the regions of scalar functions and combine operators, as data that can be
//! interpreted ([`crate::machine`]). Structured SSA over registers, after MLIR's arith, math, scf
//! and calls.

use std::collections::BTreeSet;
use std::sync::Arc;

pub use crate::op::{CmpfPredicate, CmpiPredicate, Op};
use crate::promise::Promise;
use crate::scalar::{Scalar, ScalarType};

/// A register: a number that is assigned once.
pub type Register = usize;

/// A function on scalars. Registers `0..inputs.len()` hold its arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct Code {
    /// Types of the arguments.
    pub inputs: Vec<ScalarType>,
    /// Types of the results.
    pub results: Vec<ScalarType>,
    /// Number of registers of the body, arguments included.
    pub registers: usize,
    /// The body; its block yields the results.
    pub body: Block,
}

/// Instructions in order, then the values they yield.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Block {
    /// The instructions.
    pub instructions: Vec<Instruction>,
    /// The yielded registers.
    pub yields: Vec<Register>,
}

/// One instruction.
#[derive(Clone, Debug, PartialEq)]
#[allow(
    missing_docs,
    reason = "the fields are the parts their variant's line names"
)]
pub enum Instruction {
    /// `result = value`.
    Constant { result: Register, value: Scalar },
    /// `result = index of a dimension of the point` (`mdh.index`).
    Index { result: Register, dimension: usize },
    /// `result = op(operands) : ty`; `ty` is the result's type.
    Apply {
        result: Register,
        op: Op,
        operands: Vec<Register>,
        ty: ScalarType,
    },
    /// The code has no value where `op` of these operands, of type `ty`, breaks a promise.
    Promise {
        promise: Promise,
        op: Op,
        operands: Vec<Register>,
        ty: ScalarType,
    },
    /// `scf.if`.
    If {
        condition: Register,
        then: Block,
        otherwise: Block,
        results: Vec<Register>,
    },
    /// `scf.for` (positive step); `arguments` are the body's iteration arguments.
    For {
        sign: Sign,
        lower: Register,
        upper: Register,
        step: Register,
        induction: Register,
        initial: Vec<Register>,
        arguments: Vec<Register>,
        body: Block,
        results: Vec<Register>,
    },
    /// `scf.while`: `before` yields the condition first, then the forwarded values, which are
    /// both `after`'s arguments and, when the condition is false, the results.
    While {
        initial: Vec<Register>,
        before_arguments: Vec<Register>,
        before: Block,
        after_arguments: Vec<Register>,
        after: Block,
        results: Vec<Register>,
    },
    /// `func.call`.
    Call {
        callee: Arc<Code>,
        operands: Vec<Register>,
        results: Vec<Register>,
    },
}

/// Signedness of a loop's bounds and step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// As signed numbers.
    Signed,
    /// As numbers without a sign (`scf.for unsigned`).
    Unsigned,
}

impl Sign {
    /// The value of an integer.
    pub fn value(self, integer: Scalar) -> i128 {
        match self {
            Sign::Signed => i128::from(integer.as_i64()),
            Sign::Unsigned => i128::from(integer.as_u64()),
        }
    }
}

impl Code {
    /// The function that returns its arguments.
    pub fn identity(types: &[ScalarType]) -> Code {
        Code {
            inputs: types.to_vec(),
            results: types.to_vec(),
            registers: types.len(),
            body: Block {
                instructions: Vec::new(),
                yields: (0..types.len()).collect(),
            },
        }
    }

    /// The function that is one operation of arguments of type `ty`, with a result of that type.
    pub fn single(op: Op, ty: ScalarType) -> Code {
        let arity = op.arity();
        let apply = Instruction::Apply {
            result: arity,
            op,
            operands: (0..arity).collect(),
            ty,
        };
        Code {
            inputs: vec![ty; arity],
            results: vec![ty],
            registers: arity + 1,
            body: Block {
                instructions: vec![apply],
                yields: vec![arity],
            },
        }
    }

    /// The dimensions whose index it uses, calls included.
    pub fn dimensions(&self) -> BTreeSet<usize> {
        let mut dimensions = BTreeSet::new();
        self.body.visit(&mut |instruction| {
            if let Instruction::Index { dimension, .. } = instruction {
                dimensions.insert(*dimension);
            }
        });
        dimensions
    }

    /// Returns whether some operation's result may differ between libraries ([`Op::is_approximate`]).
    pub fn is_approximate(&self) -> bool {
        self.body.applies(Op::is_approximate)
    }

    /// Returns whether some operation rounds ([`Op::rounds`]).
    pub fn rounds(&self) -> bool {
        self.body.rounds()
    }

    /// The most operations that round between an argument and a result; `None` where loops have some.
    pub fn roundings(&self) -> Option<u64> {
        let mut depths = vec![0; self.registers];
        self.body.roundings(&mut depths)
    }

    /// Returns whether it has loops whose iterations no constants say: [`Code::flops`] counts one.
    pub fn has_open_loops(&self) -> bool {
        self.body.has_open_loops()
    }

    /// Returns whether it has loops, or operations that are expensive ([`Op::is_expensive`]).
    pub fn is_expensive(&self) -> bool {
        let mut expensive = false;
        self.body.visit(&mut |instruction| {
            expensive |= match instruction {
                Instruction::Apply { op, .. } => op.is_expensive(),
                Instruction::For { .. } | Instruction::While { .. } => true,
                _ => false,
            };
        });
        expensive
    }

    /// Returns the number of instructions, those of nested blocks and callees included.
    pub fn instructions(&self) -> usize {
        let mut count = 0;
        self.body.visit(&mut |_| count += 1);
        count
    }

    /// Arithmetic operations of one call. Of two branches the larger counts; a loop's body
    /// counts as often as its constant bounds say, else once.
    pub fn flops(&self) -> u64 {
        self.body.flops()
    }
}

impl Instruction {
    /// Calls `see` on every register that it uses, and that its blocks use or yield.
    pub(crate) fn uses(&self, see: &mut dyn FnMut(Register)) {
        match self {
            Instruction::Constant { .. } | Instruction::Index { .. } => {}
            Instruction::Apply { operands, .. }
            | Instruction::Promise { operands, .. }
            | Instruction::Call { operands, .. } => operands.iter().for_each(|r| see(*r)),
            Instruction::If {
                condition,
                then,
                otherwise,
                ..
            } => {
                see(*condition);
                then.uses(see);
                otherwise.uses(see);
            }
            Instruction::For {
                lower,
                upper,
                step,
                initial,
                body,
                ..
            } => {
                [lower, upper, step].into_iter().for_each(|r| see(*r));
                initial.iter().for_each(|r| see(*r));
                body.uses(see);
            }
            Instruction::While {
                initial,
                before,
                after,
                ..
            } => {
                initial.iter().for_each(|r| see(*r));
                before.uses(see);
                after.uses(see);
            }
        }
    }

    /// The registers that it assigns, but for those of its blocks.
    pub(crate) fn results(&self) -> &[Register] {
        match self {
            Instruction::Constant { result, .. }
            | Instruction::Index { result, .. }
            | Instruction::Apply { result, .. } => std::slice::from_ref(result),
            Instruction::Promise { .. } => &[],
            Instruction::If { results, .. }
            | Instruction::For { results, .. }
            | Instruction::While { results, .. }
            | Instruction::Call { results, .. } => results,
        }
    }
}

impl Block {
    /// Calls `see` on every instruction, those of nested blocks and callees included.
    fn visit(&self, see: &mut impl FnMut(&Instruction)) {
        for instruction in &self.instructions {
            see(instruction);
            match instruction {
                Instruction::If {
                    then, otherwise, ..
                } => {
                    then.visit(see);
                    otherwise.visit(see);
                }
                Instruction::For { body, .. } => body.visit(see),
                Instruction::While { before, after, .. } => {
                    before.visit(see);
                    after.visit(see);
                }
                Instruction::Call { callee, .. } => callee.body.visit(see),
                _ => {}
            }
        }
    }

    /// Calls `see` on every register that an instruction uses or a block yields.
    pub(crate) fn uses(&self, see: &mut dyn FnMut(Register)) {
        for instruction in &self.instructions {
            instruction.uses(see);
        }
        self.yields.iter().for_each(|r| see(*r));
    }

    fn flops(&self) -> u64 {
        let mut flops = 0u64;
        for instruction in &self.instructions {
            let more = match instruction {
                Instruction::Apply { op, .. } => op.flops(),
                Instruction::If {
                    then, otherwise, ..
                } => then.flops().max(otherwise.flops()),
                Instruction::For {
                    sign,
                    lower,
                    upper,
                    step,
                    body,
                    ..
                } => {
                    let trips = self.trips(*sign, [*lower, *upper, *step]).unwrap_or(1);
                    body.flops().saturating_mul(trips)
                }
                Instruction::While { before, after, .. } => before.flops() + after.flops(),
                Instruction::Call { callee, .. } => callee.flops(),
                Instruction::Constant { .. }
                | Instruction::Index { .. }
                | Instruction::Promise { .. } => 0,
            };
            flops = flops.saturating_add(more);
        }
        flops
    }

    fn rounds(&self) -> bool {
        self.applies(Op::rounds)
    }

    fn applies(&self, wanted: fn(Op) -> bool) -> bool {
        let mut applied = false;
        self.visit(&mut |instruction| {
            if let Instruction::Apply { op, .. } = instruction {
                applied |= wanted(*op);
            }
        });
        applied
    }

    /// The most of them on the way to a value that it yields, where the registers before have these numbers.
    fn roundings(&self, depths: &mut [u64]) -> Option<u64> {
        for instruction in &self.instructions {
            let mut before = 0;
            instruction.uses(&mut |register| before = depths[register].max(before));
            let after = match instruction {
                Instruction::Apply { op, .. } => before + u64::from(op.rounds()),
                Instruction::Call { callee, .. } => before + callee.roundings()?,
                Instruction::If {
                    then, otherwise, ..
                } => {
                    let then = then.roundings(depths)?;
                    otherwise.roundings(depths)?.max(then).max(before)
                }
                Instruction::For { body, .. } if body.rounds() => return None,
                Instruction::While { before, after, .. } if before.rounds() || after.rounds() => {
                    return None;
                }
                _ => before,
            };
            for result in instruction.results() {
                depths[*result] = after;
            }
        }
        let yielded = self.yields.iter().map(|register| depths[*register]);
        Some(yielded.max().unwrap_or(0))
    }

    fn has_open_loops(&self) -> bool {
        self.instructions
            .iter()
            .any(|instruction| match instruction {
                Instruction::While { .. } => true,
                Instruction::For {
                    sign,
                    lower,
                    upper,
                    step,
                    body,
                    ..
                } => {
                    let trips = self.trips(*sign, [*lower, *upper, *step]);
                    trips.is_none() || body.has_open_loops()
                }
                Instruction::If {
                    then, otherwise, ..
                } => then.has_open_loops() || otherwise.has_open_loops(),
                Instruction::Call { callee, .. } => callee.has_open_loops(),
                _ => false,
            })
    }

    /// Returns the trip count of a loop whose bounds are constants of this very block.
    fn trips(&self, sign: Sign, bounds: [Register; 3]) -> Option<u64> {
        let constant = |register| {
            self.instructions.iter().find_map(|i| match i {
                Instruction::Constant { result, value } if *result == register => {
                    Some(sign.value(*value))
                }
                _ => None,
            })
        };
        let [lower, upper, step] = bounds.map(constant);
        let (lower, upper, step) = (lower?, upper?, step?);
        if upper <= lower || step <= 0 {
            return Some(0);
        }
        let span = upper.abs_diff(lower);
        u64::try_from(span.div_ceil(step.unsigned_abs())).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums of the arguments and of what is made of them, one after the other.
    fn sums(inputs: usize, of: &[[Register; 2]], yields: &[Register]) -> Code {
        let apply = |(n, operands): (usize, &[Register; 2])| Instruction::Apply {
            result: inputs + n,
            op: Op::Addf,
            operands: operands.to_vec(),
            ty: ScalarType::F32,
        };
        Code {
            inputs: vec![ScalarType::F32; inputs],
            results: vec![ScalarType::F32; yields.len()],
            registers: inputs + of.len(),
            body: Block {
                instructions: of.iter().enumerate().map(apply).collect(),
                yields: yields.to_vec(),
            },
        }
    }

    #[test]
    fn roundings_are_those_of_the_longest_way() {
        assert_eq!(Code::identity(&[ScalarType::F32]).roundings(), Some(0));
        assert_eq!(
            Code::single(Op::Maxnumf, ScalarType::F32).roundings(),
            Some(0)
        );
        // Two sums beside each other, and one of three terms.
        assert_eq!(sums(4, &[[0, 2], [1, 3]], &[4, 5]).roundings(), Some(1));
        let mut code = sums(4, &[[0, 2], [4, 3], [1, 3]], &[5, 6]);
        assert_eq!(code.roundings(), Some(2));
        // What nothing yields is on no way.
        code.body.yields = vec![4, 6];
        assert_eq!(code.roundings(), Some(1));
        // A call adds its own.
        let call = Instruction::Call {
            callee: Arc::new(sums(2, &[[0, 1], [2, 1]], &[3])),
            operands: vec![4, 5],
            results: vec![7],
        };
        code.registers += 1;
        code.body.instructions.push(call);
        code.body.yields = vec![7];
        assert_eq!(code.roundings(), Some(4));
    }

    #[test]
    fn roundings_of_loops_are_not_known() {
        let mut code = sums(2, &[[0, 1]], &[2]);
        let body = std::mem::take(&mut code.body);
        let looped = |body: Block| Instruction::For {
            sign: Sign::Signed,
            lower: 0,
            upper: 0,
            step: 0,
            induction: 1,
            initial: vec![],
            arguments: vec![],
            body,
            results: vec![],
        };
        code.body = Block {
            instructions: vec![looped(body)],
            yields: vec![0],
        };
        assert_eq!(code.roundings(), None);
        code.body.instructions = vec![looped(Block::default())];
        assert_eq!(code.roundings(), Some(0));
    }
}
