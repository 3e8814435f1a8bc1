//! Scalar functions: random code that is defined for all arguments.
//!
//! Divisors and shift amounts are constants, floats are brought near 0 before functions that
//! grow fast and before they become integers, and loops count to small numbers.

use std::cell::RefCell;
use std::sync::Arc;

use mdh_algebra::code::{CmpfPredicate, CmpiPredicate, Code, Op, Register};
use mdh_algebra::scalar::{Scalar, ScalarType};

use super::types;
use crate::builder::CodeBuilder;
use crate::choices::Choices;

use ScalarType::{I1, I32, I64, Index};

/// Values that scalar code can use besides its arguments.
pub struct Scope<'a> {
    /// Number of dimensions of which it may ask the index.
    pub rank: usize,
    /// Functions that it may call; more are added.
    pub callees: &'a mut Vec<Arc<Code>>,
    /// The neutral element of the operator that combines its results, if there is one.
    pub neutral: Option<Vec<Scalar>>,
}

/// Code from these arguments to these results.
pub fn function(
    c: &mut Choices,
    scope: &mut Scope,
    inputs: &[ScalarType],
    results: &[ScalarType],
) -> Code {
    let neutral = scope.neutral.clone();
    let neutral = neutral.filter(|_| scope.rank > 0 && c.chance("condition", 25));
    let simple = match &neutral {
        Some(_) => 0,
        None => c.weighted("simple", &[78, 14, 8]),
    };
    if simple == 1 && inputs == results {
        return Code::identity(inputs);
    }
    if let (2, [a, b], [r]) = (simple, inputs, results)
        && a == b
        && b == r
    {
        let op = pick_binary(c, *a);
        return Code::single(op, *a);
    }
    let mut writer = Writer {
        code: CodeBuilder::new(inputs),
        pool: (0..inputs.len()).collect(),
    };
    let count = c.below("operations", 7);
    for n in 0..count {
        c.scope(format!("op{n}"), |c| {
            if c.keep() {
                let register = writer.operation(c, scope);
                writer.pool.push(register);
            }
        });
    }
    let result = |(n, ty): (usize, &ScalarType)| {
        c.scope(format!("result{n}"), |c| {
            match c.chance("index", 8) && scope.rank > 0 {
                true => {
                    let dimension = c.below("dimension", scope.rank as u64) as usize;
                    let index = writer.code.index(dimension);
                    writer.code.convert(index, *ty)
                }
                false => writer.operand_of(c, "from", *ty),
            }
        })
    };
    let mut yields: Vec<Register> = results.iter().enumerate().map(result).collect();
    if let Some(neutral) = neutral {
        yields = under_condition(c, &mut writer.code, scope.rank, &yields, &neutral);
    }
    writer.code.finish(&yields)
}

/// Values where conditions on indices hold, and others elsewhere, most often the neutral element.
pub fn under_condition(
    c: &mut Choices,
    code: &mut CodeBuilder,
    rank: usize,
    values: &[Register],
    neutral: &[Scalar],
) -> Vec<Register> {
    let mut condition = conditions(c, code, rank);
    let is_excluded = c.chance("excluded", 30);
    let is_neutral = c.chance("neutral", 85);
    let is_branch = c.chance("branch", 25);
    let pairs = values.iter().zip(neutral).enumerate();
    pairs
        .map(|(n, (value, neutral))| {
            let other = c.scope(format!("of{n}"), |c| {
                let is_there = n > 0 && c.chance("other", 20);
                is_there.then(|| conditions(c, code, rank))
            });
            condition = other.unwrap_or(condition);
            let elsewhere = match is_neutral {
                true => code.constant(*neutral),
                false => code.number_of(neutral.ty, 1),
            };
            let [then, otherwise] = match is_excluded {
                true => [elsewhere, *value],
                false => [*value, elsewhere],
            };
            match is_branch {
                true => code.conditional(condition, |_| vec![then], |_| vec![otherwise])[0],
                false => code.select(condition, then, otherwise),
            }
        })
        .collect()
}

/// Some comparisons of indices, of which all hold, or one.
fn conditions(c: &mut Choices, code: &mut CodeBuilder, rank: usize) -> Register {
    let mut condition = comparison(c, code, rank);
    for n in 0..c.weighted("further", &[60, 35, 5]) {
        let other = c.scope(format!("further{n}"), |c| comparison(c, code, rank));
        let op = if c.chance("both", 80) {
            Op::Andi
        } else {
            Op::Ori
        };
        condition = code.same(op, &[condition, other]);
    }
    condition
}

/// A comparison of two indices, of one and a number, or of one and a sum of two.
fn comparison(c: &mut Choices, code: &mut CodeBuilder, rank: usize) -> Register {
    use CmpiPredicate::*;
    let a = code.index(c.below("first", rank as u64) as usize);
    let factor = code.number(Index, c.pick("factor", &[1, 1, 1, 2, 3, -1]));
    let a = code.same(Op::Muli, &[a, factor]);
    let mut b = match c.chance("two", 85) {
        true => code.index(c.below("second", rank as u64) as usize),
        false => code.number(Index, 0),
    };
    if c.chance("three", 20) {
        let third = code.index(c.below("third", rank as u64) as usize);
        let op = c.pick("sign", &[Op::Addi, Op::Subi]);
        b = code.same(op, &[b, third]);
    }
    let distance = code.number(Index, c.below("distance", 11) as i64 - 5);
    let b = code.same(Op::Addi, &[b, distance]);
    let predicate = c.pick("order", &[Sle, Slt, Sge, Sgt, Sle, Sge, Eq, Ne, Ult, Uge]);
    match c.chance("narrow", 15) {
        true => {
            let [a, b] = [a, b].map(|r| code.convert(r, I32));
            code.cmpi(predicate, a, b)
        }
        false => code.cmpi(predicate, a, b),
    }
}

struct Writer {
    code: CodeBuilder,
    /// Values that can be used, in the order in which they were made.
    pool: Vec<Register>,
}

fn pick_binary(c: &mut Choices, ty: ScalarType) -> Op {
    use Op::*;
    match ty.is_float() {
        true => c.pick(
            "binary",
            &[Addf, Mulf, Subf, Minimumf, Maximumf, Maxnumf, Minnumf],
        ),
        false => c.pick(
            "binary",
            &[
                Addi, Muli, Subi, Minsi, Maxsi, Minui, Maxui, Andi, Ori, Xori,
            ],
        ),
    }
}

impl Writer {
    /// Any value so far; a constant if there is none.
    fn operand(&mut self, c: &mut Choices, name: &str) -> Register {
        if self.pool.is_empty() {
            return self.constant(c);
        }
        let last = self.pool.len() - 1;
        // A second operand is any other: to be used with the first one, which is often the last.
        let often = if name == "b" { 10 } else { 50 };
        let position = match c.chance(&format!("{name} last"), often) {
            true => last,
            false => c.below(name, last as u64 + 1) as usize,
        };
        self.pool[position]
    }

    /// Any value so far, converted.
    fn operand_of(&mut self, c: &mut Choices, name: &str, ty: ScalarType) -> Register {
        let register = self.operand(c, name);
        self.code.convert(register, ty)
    }

    fn constant(&mut self, c: &mut Choices) -> Register {
        let ty = types::any(c, "constant type");
        let value = types::constant(c, ty);
        self.code.constant(value)
    }

    fn condition(&mut self, c: &mut Choices) -> Register {
        let a = self.operand(c, "a");
        let ty = self.code.ty(a);
        let b = self.operand_of(c, "b", ty);
        match ty.is_float() {
            true => {
                use CmpfPredicate::*;
                let predicates = [
                    Olt, Oeq, Ogt, Oge, Ole, One, Ord, Ueq, Ugt, Uge, Ult, Ule, Une, Uno,
                ];
                let predicate = c.pick("predicate", &predicates);
                self.code.cmpf(predicate, a, b)
            }
            false => {
                use CmpiPredicate::*;
                let predicates = [Slt, Eq, Ne, Sle, Sgt, Sge, Ult, Ule, Ugt, Uge];
                let predicate = c.pick("predicate", &predicates);
                self.code.cmpi(predicate, a, b)
            }
        }
    }

    fn binary(&mut self, c: &mut Choices) -> Register {
        let a = self.operand(c, "a");
        let ty = self.code.ty(a);
        let b = self.operand_of(c, "b", ty);
        let op = pick_binary(c, ty);
        self.code.same(op, &[a, b])
    }

    fn operation(&mut self, c: &mut Choices, scope: &mut Scope) -> Register {
        match c.weighted("kind", &[30, 6, 10, 8, 8, 6, 5, 4, 3, 3, 9, 8, 4]) {
            0 => self.binary(c),
            1 => self.constant(c),
            2 => {
                let condition = self.condition(c);
                let a = self.operand(c, "then");
                let ty = self.code.ty(a);
                let b = self.operand_of(c, "else", ty);
                self.code.select(condition, a, b)
            }
            3 => {
                let ty = types::any(c, "type");
                self.operand_of(c, "from", ty)
            }
            4 if scope.rank > 0 => self
                .code
                .index(c.below("dimension", scope.rank as u64) as usize),
            5 => self.condition(c),
            6 => self.branches(c),
            7 => self.for_loop(c),
            8 => self.while_loop(c),
            9 => self.call(c, scope),
            10 => self.integer(c),
            11 => self.math(c),
            _ => self.rounding(c),
        }
    }

    /// Two branches, each with an operation of its own.
    fn branches(&mut self, c: &mut Choices) -> Register {
        let condition = self.condition(c);
        let ty = types::any(c, "type");
        let pool = self.pool.clone();
        let c = RefCell::new(c);
        let branch = |code: &mut CodeBuilder, name: &str| {
            c.borrow_mut().scope(name, |c| {
                nested(code, &pool, |w| {
                    let register = w.binary(c);
                    vec![w.code.convert(register, ty)]
                })
            })
        };
        let results = self.code.conditional(
            condition,
            |code| branch(code, "then"),
            |code| branch(code, "else"),
        );
        results[0]
    }

    /// `for 0 to n { x = op(x, counter or some value) }`
    fn for_loop(&mut self, c: &mut Choices) -> Register {
        let counter = c.pick("counter", &[Index, I32, I64]);
        let trips = match c.chance("open", 40) {
            true => {
                let n = self.operand_of(c, "trips", counter);
                let five = self.code.number(counter, 5);
                self.code.same(Op::Remui, &[n, five])
            }
            false => {
                let n = c.below("count", 5) as i64;
                self.code.number(counter, n)
            }
        };
        let (zero, step) = (self.code.number(counter, 0), c.below("step", 2) as i64 + 1);
        let step = self.code.number(counter, step);
        let ty = types::any(c, "type");
        let first = self.operand_of(c, "first", ty);
        let pool = self.pool.clone();
        let results = self
            .code
            .for_loop([zero, trips, step], &[first], |code, n, carried| {
                let pool = [pool.as_slice(), &[n], carried].concat();
                nested(code, &pool, |w| {
                    let register = w.binary(c);
                    vec![w.code.convert(register, ty)]
                })
            });
        results[0]
    }

    /// `while x < limit { x = 2 x + 1 }`, of a number below 64.
    fn while_loop(&mut self, c: &mut Choices) -> Register {
        let ty = c.pick("type", &[I64, I32, Index]);
        let start = self.operand_of(c, "start", ty);
        let mask = self.code.number(ty, 63);
        let start = self.code.same(Op::Andi, &[start, mask]);
        let limit = self.code.number(ty, 1 + c.below("limit", 100) as i64);
        let unit = self.code.number(ty, 1);
        let results = self.code.while_loop(
            &[start],
            |b, x| b.cmpi(CmpiPredicate::Slt, x[0], limit),
            |b, x| {
                let twice = b.same(Op::Addi, &[x[0], x[0]]);
                vec![b.same(Op::Addi, &[twice, unit])]
            },
        );
        results[0]
    }

    fn call(&mut self, c: &mut Choices, scope: &mut Scope) -> Register {
        if scope.callees.is_empty() || c.chance("new", 50) {
            let inputs = [types::any(c, "first"), types::any(c, "second")];
            let results = [types::any(c, "result")];
            let mut inner = Scope {
                rank: 0,
                callees: scope.callees,
                neutral: None,
            };
            let code = c.scope("callee", |c| function(c, &mut inner, &inputs, &results));
            scope.callees.push(Arc::new(code));
        }
        let numbers: Vec<usize> = (0..scope.callees.len()).collect();
        let callee = Arc::clone(&scope.callees[c.pick("function", &numbers)]);
        let operand =
            |(n, ty): (usize, &ScalarType)| c.scope(n, |c| self.operand_of(c, "operand", *ty));
        let operands: Vec<Register> = callee.inputs.iter().enumerate().map(operand).collect();
        self.code.call(&callee, &operands)[0]
    }

    /// Shifts, divisions and bit counts.
    fn integer(&mut self, c: &mut Choices) -> Register {
        use Op::*;
        let ty = types::integer(c, "type");
        let a = self.operand_of(c, "a", ty);
        let operations = [
            Divsi, Divui, Remsi, Remui, Floordivsi, Ceildivsi, Ceildivui, Shli, Shrsi, Shrui, Absi,
            Ctpop, Ctlz, Cttz,
        ];
        let op = c.pick("op", &operations);
        match op {
            Divui | Remui | Ceildivui => {
                let divisor = self.code.number(ty, 1 + c.below("divisor", 7) as i64);
                self.code.same(op, &[a, divisor])
            }
            Divsi | Remsi | Floordivsi | Ceildivsi => {
                // Not -1, which the smallest number cannot be divided by.
                let divisor = c.pick("signed divisor", &[2, 3, 1, 7, -2, -3, -7]);
                let divisor = self.code.number(ty, divisor);
                self.code.same(op, &[a, divisor])
            }
            Shli | Shrsi | Shrui => {
                let amount = c.below("amount", u64::from(ty.bit_width())) as i64;
                let amount = self.code.number(ty, amount);
                self.code.same(op, &[a, amount])
            }
            _ => {
                // math's functions of integers are not for index.
                let ty = if ty == Index { I64 } else { ty };
                let a = self.code.convert(a, ty);
                self.code.same(op, &[a])
            }
        }
    }

    /// Functions of floats.
    fn math(&mut self, c: &mut Choices) -> Register {
        use Op::*;
        let ty = types::float(c, "type");
        let a = self.operand_of(c, "a", ty);
        let unit = |code: &mut CodeBuilder| code.float(ty, 1.0);
        match c.weighted("function", &[10, 14, 8, 6, 6, 4, 4]) {
            0 => {
                let op = c.pick("exact", &[Negf, Absf]);
                self.code.same(op, &[a])
            }
            1 => {
                let functions = [
                    Exp, Exp2, Expm1, Sin, Cos, Tanh, Erf, Atan, Sinh, Cosh, Asinh, Cbrt, Tan, Erfc,
                ];
                let op = c.pick("any", &functions);
                let a = self.code.tame(a, if op == Tan { 1.0 } else { 4.0 });
                self.code.same(op, &[a])
            }
            2 => {
                let op = c.pick("positive", &[Sqrt, Log, Log2, Log10, Log1p, Rsqrt, Acosh]);
                let a = self.code.tame(a, 100.0);
                let size = self.code.same(Absf, &[a]);
                let unit = unit(&mut self.code);
                let size = self.code.same(Addf, &[size, unit]);
                self.code.same(op, &[size])
            }
            3 => {
                let b = self.operand_of(c, "b", ty);
                let size = self.code.same(Absf, &[b]);
                let unit = unit(&mut self.code);
                let size = self.code.same(Addf, &[size, unit]);
                let op = c.pick("division", &[Divf, Remf]);
                self.code.same(op, &[a, size])
            }
            4 => {
                let b = self.operand_of(c, "b", ty);
                let d = self.operand_of(c, "c", ty);
                self.code.same(Fma, &[a, b, d])
            }
            5 => {
                let b = self.operand_of(c, "b", ty);
                self.code.same(Copysign, &[a, b])
            }
            _ => {
                let a = self.code.tame(a, 0.75);
                let op = c.pick("near 0", &[Asin, Acos, Atanh, Fpowi]);
                match op {
                    Fpowi => {
                        let power = self.code.number(I32, c.below("power", 4) as i64);
                        self.code.apply(op, &[a, power], ty)
                    }
                    _ => self.code.same(op, &[a]),
                }
            }
        }
    }

    /// Roundings and kinds of floats.
    fn rounding(&mut self, c: &mut Choices) -> Register {
        use Op::*;
        let ty = types::float(c, "type");
        let a = self.operand_of(c, "a", ty);
        let operations = [
            Floor, Ceil, Round, Roundeven, Trunc, Isnan, Isinf, Isfinite, Isnormal,
        ];
        let op = c.pick("op", &operations);
        match op {
            Isnan | Isinf | Isfinite | Isnormal => self.code.apply(op, &[a], I1),
            _ => self.code.same(op, &[a]),
        }
    }
}

/// Runs a part of the generator in a nested block, where more values can be used.
fn nested<R>(code: &mut CodeBuilder, pool: &[Register], part: impl FnOnce(&mut Writer) -> R) -> R {
    let mut writer = Writer {
        code: std::mem::replace(code, CodeBuilder::new(&[])),
        pool: pool.to_vec(),
    };
    let result = part(&mut writer);
    *code = writer.code;
    result
}

/// A constant of a type, for values that programs define outside of scalar code.
pub fn outside(c: &mut Choices) -> Scalar {
    let ty = types::any(c, "type");
    types::constant(c, ty)
}
