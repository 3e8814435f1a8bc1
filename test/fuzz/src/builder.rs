//! Scalar code built operation by operation.

use std::sync::Arc;

use mdh_algebra::code::{
    Block, CmpfPredicate, CmpiPredicate, Code, Instruction, Op, Register, Sign,
};
use mdh_algebra::scalar::{Scalar, ScalarType};

/// A function on scalars in the making.
pub struct CodeBuilder {
    inputs: Vec<ScalarType>,
    types: Vec<ScalarType>,
    blocks: Vec<Vec<Instruction>>,
}

impl CodeBuilder {
    /// A function of these arguments, which are the first registers.
    pub fn new(inputs: &[ScalarType]) -> CodeBuilder {
        CodeBuilder {
            inputs: inputs.to_vec(),
            types: inputs.to_vec(),
            blocks: vec![Vec::new()],
        }
    }

    /// The type of a register.
    pub fn ty(&self, register: Register) -> ScalarType {
        self.types[register]
    }

    /// The function that returns these registers.
    pub fn finish(mut self, yields: &[Register]) -> Code {
        Code {
            inputs: self.inputs,
            results: yields.iter().map(|r| self.types[*r]).collect(),
            registers: self.types.len(),
            body: Block {
                instructions: self.blocks.swap_remove(0),
                yields: yields.to_vec(),
            },
        }
    }

    fn register(&mut self, ty: ScalarType) -> Register {
        self.types.push(ty);
        self.types.len() - 1
    }

    fn push(&mut self, instruction: Instruction) {
        if let Some(block) = self.blocks.last_mut() {
            block.push(instruction);
        }
    }

    /// A constant.
    pub fn constant(&mut self, value: Scalar) -> Register {
        let result = self.register(value.ty);
        self.push(Instruction::Constant { result, value });
        result
    }

    /// An integer as a constant of any type.
    pub fn number(&mut self, ty: ScalarType, number: i64) -> Register {
        self.constant(Scalar::from_i64(ty, number))
    }

    /// A float as a constant of a float type.
    pub fn float(&mut self, ty: ScalarType, number: f64) -> Register {
        self.constant(Scalar::from_f64(ty, number))
    }

    /// An integer as a constant of any type, also a float type.
    pub fn number_of(&mut self, ty: ScalarType, number: i64) -> Register {
        match ty.is_float() {
            true => self.float(ty, number as f64),
            false => self.number(ty, number),
        }
    }

    /// The index of a dimension.
    pub fn index(&mut self, dimension: usize) -> Register {
        let result = self.register(ScalarType::Index);
        self.push(Instruction::Index { result, dimension });
        result
    }

    /// An operation with a result of that type.
    pub fn apply(&mut self, op: Op, operands: &[Register], ty: ScalarType) -> Register {
        let result = self.register(ty);
        self.push(Instruction::Apply {
            result,
            op,
            operands: operands.to_vec(),
            ty,
        });
        result
    }

    /// An operation whose result has the type of its first operand.
    pub fn same(&mut self, op: Op, operands: &[Register]) -> Register {
        self.apply(op, operands, self.types[operands[0]])
    }

    /// A comparison of integers.
    pub fn cmpi(&mut self, predicate: CmpiPredicate, a: Register, b: Register) -> Register {
        self.apply(Op::Cmpi(predicate), &[a, b], ScalarType::I1)
    }

    /// A comparison of floats.
    pub fn cmpf(&mut self, predicate: CmpfPredicate, a: Register, b: Register) -> Register {
        self.apply(Op::Cmpf(predicate), &[a, b], ScalarType::I1)
    }

    /// `condition ? a : b`.
    pub fn select(&mut self, condition: Register, a: Register, b: Register) -> Register {
        self.apply(Op::Select, &[condition, a, b], self.types[a])
    }

    fn block(&mut self, part: impl FnOnce(&mut Self) -> Vec<Register>) -> Block {
        self.blocks.push(Vec::new());
        let yields = part(self);
        Block {
            instructions: self.blocks.pop().unwrap_or_default(),
            yields,
        }
    }

    fn results(&mut self, like: &[Register]) -> Vec<Register> {
        let types: Vec<_> = like.iter().map(|r| self.types[*r]).collect();
        types.into_iter().map(|ty| self.register(ty)).collect()
    }

    /// `scf.if`, whose branches yield registers of the same types.
    pub fn conditional(
        &mut self,
        condition: Register,
        then: impl FnOnce(&mut Self) -> Vec<Register>,
        otherwise: impl FnOnce(&mut Self) -> Vec<Register>,
    ) -> Vec<Register> {
        let then = self.block(then);
        let otherwise = self.block(otherwise);
        let results = self.results(&then.yields);
        self.push(Instruction::If {
            condition,
            then,
            otherwise,
            results: results.clone(),
        });
        results
    }

    /// `scf.for`; the body gets the induction variable and what is carried.
    pub fn for_loop(
        &mut self,
        [lower, upper, step]: [Register; 3],
        initial: &[Register],
        body: impl FnOnce(&mut Self, Register, &[Register]) -> Vec<Register>,
    ) -> Vec<Register> {
        let induction = self.register(self.types[lower]);
        let arguments = self.results(initial);
        let body = self.block(|b| body(b, induction, &arguments));
        let results = self.results(initial);
        self.push(Instruction::For {
            sign: Sign::Signed,
            lower,
            upper,
            step,
            induction,
            initial: initial.to_vec(),
            arguments,
            body,
            results: results.clone(),
        });
        results
    }

    /// `scf.while` that forwards what it carries; `condition` gives an `i1`.
    pub fn while_loop(
        &mut self,
        initial: &[Register],
        condition: impl FnOnce(&mut Self, &[Register]) -> Register,
        body: impl FnOnce(&mut Self, &[Register]) -> Vec<Register>,
    ) -> Vec<Register> {
        let before_arguments = self.results(initial);
        let before = self.block(|b| {
            let condition = condition(b, &before_arguments);
            [&[condition], before_arguments.as_slice()].concat()
        });
        let after_arguments = self.results(initial);
        let after = self.block(|b| body(b, &after_arguments));
        let results = self.results(initial);
        self.push(Instruction::While {
            initial: initial.to_vec(),
            before_arguments,
            before,
            after_arguments,
            after,
            results: results.clone(),
        });
        results
    }

    /// A call.
    pub fn call(&mut self, callee: &Arc<Code>, operands: &[Register]) -> Vec<Register> {
        let types = callee.results.clone();
        let results: Vec<_> = types.into_iter().map(|ty| self.register(ty)).collect();
        self.push(Instruction::Call {
            callee: Arc::clone(callee),
            operands: operands.to_vec(),
            results: results.clone(),
        });
        results
    }

    /// A register in any other type. What does not fit is cut off or rounded; floats that become
    /// integers are first brought between -100 and 100, and NaN to 0.
    pub fn convert(&mut self, register: Register, to: ScalarType) -> Register {
        use ScalarType::{BF16, F16, F32, I1, I64, Index};
        let from = self.types[register];
        if from == to {
            return register;
        }
        match (from.is_float(), to.is_float()) {
            (true, true) => match (from, to) {
                (F16, BF16) | (BF16, F16) => {
                    let wide = self.apply(Op::Extf, &[register], F32);
                    self.apply(Op::Truncf, &[wide], to)
                }
                _ if from.bit_width() < to.bit_width() => self.apply(Op::Extf, &[register], to),
                _ => self.apply(Op::Truncf, &[register], to),
            },
            (false, true) if from == Index => {
                let integer = self.convert(register, I64);
                self.apply(Op::Sitofp, &[integer], to)
            }
            (false, true) if from == I1 => self.apply(Op::Uitofp, &[register], to),
            (false, true) => self.apply(Op::Sitofp, &[register], to),
            (true, false) if to == I1 => {
                let zero = self.float(from, 0.0);
                self.cmpf(CmpfPredicate::Ogt, register, zero)
            }
            (true, false) => {
                let tame = self.tame(register, 100.0);
                let width = if to == Index { I64 } else { to };
                let integer = self.apply(Op::Fptosi, &[tame], width);
                self.convert(integer, to)
            }
            (false, false) => self.convert_integer(register, to),
        }
    }

    fn convert_integer(&mut self, register: Register, to: ScalarType) -> Register {
        use ScalarType::{I1, Index};
        let from = self.types[register];
        if from == Index || to == Index {
            let op = if from == I1 {
                Op::IndexCastui
            } else {
                Op::IndexCast
            };
            return self.apply(op, &[register], to);
        }
        let op = match from.bit_width() < to.bit_width() {
            true if from == I1 => Op::Extui,
            true => Op::Extsi,
            false => Op::Trunci,
        };
        self.apply(op, &[register], to)
    }

    /// A float brought between `-limit` and `limit`; NaN becomes 0.
    pub fn tame(&mut self, register: Register, limit: f64) -> Register {
        let ty = self.types[register];
        let zero = self.float(ty, 0.0);
        let is_number = self.cmpf(CmpfPredicate::Ord, register, register);
        let number = self.select(is_number, register, zero);
        let (low, high) = (self.float(ty, -limit), self.float(ty, limit));
        let above = self.same(Op::Maximumf, &[number, low]);
        self.same(Op::Minimumf, &[above, high])
    }
}
