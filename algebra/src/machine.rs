//! The interpreter of [`Code`].
//!
//! A [`Machine`] keeps its registers between runs, so that a run allocates nothing. Code that is
//! not well formed (a register out of range, a missing yield) is an error, not a panic.

use std::fmt;

use crate::arith::Undefined;
use crate::code::{Block, Code, Instruction, Op, Register};
use crate::random::{hash, sign};
use crate::scalar::{Scalar, ScalarType};

/// Reasons for which code has no result.
#[derive(Clone, Debug, PartialEq)]
pub enum EvalError {
    /// An operation is undefined for its operands.
    Undefined(Undefined),
    /// More steps than allowed: the loop does not seem to end.
    StepLimit {
        /// The permitted number.
        limit: u64,
    },
    /// An `scf.for` whose step is not positive.
    LoopStep {
        /// The step.
        step: i128,
    },
    /// The code is not well formed: whoever built it has a bug.
    Malformed(String),
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EvalError::Undefined(undefined) => undefined.fmt(f),
            EvalError::StepLimit { limit } => write!(
                f,
                "the scalar code did not end within {limit} steps; does its scf.while end?"
            ),
            EvalError::LoopStep { step } => {
                write!(f, "scf.for has step {step}, but it must be positive")
            }
            EvalError::Malformed(what) => write!(f, "bug: malformed scalar code: {what}"),
        }
    }
}

impl std::error::Error for EvalError {}

impl From<Undefined> for EvalError {
    fn from(undefined: Undefined) -> Self {
        EvalError::Undefined(undefined)
    }
}

/// Units in the last place by which a math function may be off ([`Op::is_approximate`]).
pub const MATH_ULPS: f64 = 4.0;

/// Registers and limits of running code.
#[derive(Clone, Debug)]
pub struct Machine {
    registers: Vec<Scalar>,
    /// Values on their way from yields to loop arguments, which may swap places.
    moving: Vec<Scalar>,
    steps: u64,
    limit: u64,
    noise: Option<Noise>,
}

/// Deviation of math functions from the nearest float, to learn what that does to results.
#[derive(Clone, Copy, Debug)]
pub enum Noise {
    /// All are [`MATH_ULPS`] too large.
    Up,
    /// All are [`MATH_ULPS`] too small.
    Down,
    /// Each is one or the other, depending on this number, the function and its operands:
    /// a library is wrong, but always in the same way.
    Library(u64),
}

impl Default for Machine {
    fn default() -> Self {
        Machine::new()
    }
}

const EMPTY: Scalar = Scalar {
    ty: ScalarType::I1,
    bits: 0,
};

impl Machine {
    /// Steps (instructions and loop iterations) one run may take unless told otherwise.
    pub const DEFAULT_STEP_LIMIT: u64 = 1 << 27;

    /// With the default limit.
    pub fn new() -> Self {
        Machine::with_step_limit(Self::DEFAULT_STEP_LIMIT)
    }

    /// With this limit on the steps of one run.
    pub fn with_step_limit(limit: u64) -> Self {
        Machine {
            registers: Vec::new(),
            moving: Vec::new(),
            steps: 0,
            limit,
            noise: None,
        }
    }

    /// From now on every math function is off by [`MATH_ULPS`]; with `None` they are right again.
    pub fn set_noise(&mut self, noise: Option<Noise>) {
        self.noise = noise;
    }

    /// Runs `code` at a point of the domain and stores its results.
    pub fn run(
        &mut self,
        code: &Code,
        inputs: &[Scalar],
        point: &[i64],
        results: &mut [Scalar],
    ) -> Result<(), EvalError> {
        self.steps = 0;
        self.moving.clear();
        if self.registers.len() < code.registers {
            self.registers.resize(code.registers, EMPTY);
        }
        if inputs.len() != code.inputs.len() || code.registers < inputs.len() {
            return Err(malformed("arguments", inputs.len(), code.inputs.len()));
        }
        if results.len() != code.body.yields.len() {
            return Err(malformed("results", results.len(), code.body.yields.len()));
        }
        self.registers[..inputs.len()].copy_from_slice(inputs);
        self.block(&code.body, 0, point)?;
        for (result, &register) in results.iter_mut().zip(&code.body.yields) {
            *result = self.get(0, register)?;
        }
        Ok(())
    }

    #[inline]
    fn get(&self, base: usize, register: Register) -> Result<Scalar, EvalError> {
        match self.registers.get(base.saturating_add(register)) {
            Some(value) => Ok(*value),
            None => Err(EvalError::Malformed(format!("no register {register}"))),
        }
    }

    #[inline]
    fn set(&mut self, base: usize, register: Register, value: Scalar) -> Result<(), EvalError> {
        match self.registers.get_mut(base.saturating_add(register)) {
            Some(place) => *place = value,
            None => return Err(EvalError::Malformed(format!("no register {register}"))),
        }
        Ok(())
    }

    #[inline]
    fn step(&mut self) -> Result<(), EvalError> {
        self.steps += 1;
        if self.steps > self.limit {
            return Err(EvalError::StepLimit { limit: self.limit });
        }
        Ok(())
    }

    fn block(&mut self, block: &Block, base: usize, point: &[i64]) -> Result<(), EvalError> {
        for instruction in &block.instructions {
            self.step()?;
            match instruction {
                Instruction::Apply {
                    result,
                    op,
                    operands,
                    ty,
                } => {
                    let value = self.apply(*op, operands, *ty, base)?;
                    self.set(base, *result, value)?;
                }
                Instruction::Constant { result, value } => self.set(base, *result, *value)?,
                Instruction::Index { result, dimension } => {
                    let Some(&index) = point.get(*dimension) else {
                        let what = format!("no dimension {dimension}");
                        return Err(EvalError::Malformed(what));
                    };
                    self.set(base, *result, Scalar::from_i64(ScalarType::Index, index))?;
                }
                Instruction::Promise {
                    promise,
                    op,
                    operands,
                    ty,
                } => {
                    let values: Result<Vec<_>, _> =
                        operands.iter().map(|r| self.get(base, *r)).collect();
                    promise.hold(*op, &values?, *ty)?;
                }
                structured => self.structured(structured, base, point)?,
            }
        }
        Ok(())
    }

    #[inline]
    fn apply(
        &mut self,
        op: Op,
        operands: &[Register],
        ty: ScalarType,
        base: usize,
    ) -> Result<Scalar, EvalError> {
        let mut values = [EMPTY; 3];
        let Some(values) = values.get_mut(..operands.len()) else {
            return Err(malformed("operands", operands.len(), op.arity()));
        };
        for (value, &register) in values.iter_mut().zip(operands) {
            *value = self.get(base, register)?;
        }
        let value = op.apply(values, ty)?;
        if !op.is_approximate() {
            return Ok(value);
        }
        let ulps = match self.noise {
            None => return Ok(value),
            Some(Noise::Up) => MATH_ULPS,
            Some(Noise::Down) => -MATH_ULPS,
            Some(Noise::Library(seed)) => {
                let name = op.name().bytes().map(u64::from);
                let operands = values.iter().map(|v| v.bits);
                sign(hash([seed].into_iter().chain(name).chain(operands))) * MATH_ULPS
            }
        };
        let exact = value.as_f64();
        let moved = exact + ulps * value.ty.ulp(exact);
        Ok(Scalar::from_f64(value.ty, moved))
    }

    fn structured(
        &mut self,
        instruction: &Instruction,
        base: usize,
        point: &[i64],
    ) -> Result<(), EvalError> {
        match instruction {
            Instruction::If {
                condition,
                then,
                otherwise,
                results,
            } => {
                let taken = if self.get(base, *condition)?.is_true() {
                    then
                } else {
                    otherwise
                };
                self.block(taken, base, point)?;
                self.copy(base, &taken.yields, base, results)
            }
            Instruction::For { .. } => self.for_loop(instruction, base, point),
            Instruction::While {
                initial,
                before_arguments,
                before,
                after_arguments,
                after,
                results,
            } => {
                self.copy(base, initial, base, before_arguments)?;
                loop {
                    self.step()?;
                    self.block(before, base, point)?;
                    let Some((condition, forwarded)) = before.yields.split_first() else {
                        return Err(malformed("yields of a condition", 0, 1));
                    };
                    if !self.get(base, *condition)?.is_true() {
                        return self.copy(base, forwarded, base, results);
                    }
                    self.copy(base, forwarded, base, after_arguments)?;
                    self.block(after, base, point)?;
                    self.copy(base, &after.yields, base, before_arguments)?;
                }
            }
            Instruction::Call {
                callee,
                operands,
                results,
            } => self.call(callee, operands, results, base, point),
            _ => Err(EvalError::Malformed("not a structured instruction".into())),
        }
    }

    fn for_loop(
        &mut self,
        instruction: &Instruction,
        base: usize,
        point: &[i64],
    ) -> Result<(), EvalError> {
        let Instruction::For {
            sign,
            lower,
            upper,
            step,
            induction,
            initial,
            arguments,
            body,
            results,
        } = instruction
        else {
            return Err(EvalError::Malformed("not a loop".into()));
        };
        let first = self.get(base, *lower)?;
        let upper = sign.value(self.get(base, *upper)?);
        let step = sign.value(self.get(base, *step)?);
        if step <= 0 {
            return Err(EvalError::LoopStep { step });
        }
        self.copy(base, initial, base, arguments)?;
        let mut i = sign.value(first);
        while i < upper {
            self.step()?;
            self.set(base, *induction, Scalar::from_bits(first.ty, i as u64))?;
            self.block(body, base, point)?;
            self.copy(base, &body.yields, base, arguments)?;
            i += step;
        }
        self.copy(base, arguments, base, results)
    }

    fn call(
        &mut self,
        callee: &Code,
        operands: &[Register],
        results: &[Register],
        base: usize,
        point: &[i64],
    ) -> Result<(), EvalError> {
        if operands.len() != callee.inputs.len() {
            let (found, expected) = (operands.len(), callee.inputs.len());
            return Err(malformed("arguments of a call", found, expected));
        }
        let caller_end = self.registers.len();
        self.registers
            .resize(caller_end + callee.registers.max(operands.len()), EMPTY);
        for (n, &operand) in operands.iter().enumerate() {
            self.registers[caller_end + n] = self.get(base, operand)?;
        }
        self.block(&callee.body, caller_end, point)?;
        self.copy(caller_end, &callee.body.yields, base, results)?;
        self.registers.truncate(caller_end);
        Ok(())
    }

    /// Copies registers of one frame to those of another, all at once.
    fn copy(
        &mut self,
        from_base: usize,
        from: &[Register],
        to_base: usize,
        to: &[Register],
    ) -> Result<(), EvalError> {
        if from.len() != to.len() {
            return Err(malformed("yielded values", from.len(), to.len()));
        }
        let start = self.moving.len();
        for &register in from {
            let value = self.get(from_base, register)?;
            self.moving.push(value);
        }
        for (n, &register) in to.iter().enumerate() {
            self.set(to_base, register, self.moving[start + n])?;
        }
        self.moving.truncate(start);
        Ok(())
    }
}

fn malformed(what: &str, found: usize, expected: usize) -> EvalError {
    EvalError::Malformed(format!("{found} {what} where {expected} are expected"))
}

impl Code {
    /// Evaluates it at a point of the domain; a [`Machine`] is faster for many points.
    ///
    /// ```
    /// use mdh_algebra::code::{Code, Op};
    /// use mdh_algebra::scalar::{Scalar, ScalarType};
    /// let mulf = Code::single(Op::Mulf, ScalarType::F32);
    /// let x = |v| Scalar::from_f64(ScalarType::F32, v);
    /// assert_eq!(mulf.eval(&[x(2.0), x(3.5)], &[]).unwrap(), [x(7.0)]);
    /// ```
    pub fn eval(&self, inputs: &[Scalar], point: &[i64]) -> Result<Vec<Scalar>, EvalError> {
        let mut results = vec![EMPTY; self.body.yields.len()];
        Machine::new().run(self, inputs, point, &mut results)?;
        Ok(results)
    }
}

#[cfg(test)]
#[path = "machine_tests.rs"]
mod tests;
