//! Support of a scalar function: the points at which its value may be another one than the neutral
//! element of the operator that combines it, as far as affine conditions on indices tell.
//!
//! Of `select(k <= i, a * b, 0.0)` in a sum, that are the points with `i - k >= 0`: all others
//! contribute nothing, so that loops over a combined dimension need not go there. Conditions are read
//! from comparisons of indices, their conjunctions, and the choices that they decide. What the
//! conditions of several choices have in common is a support, too, if a larger one.

use std::cell::Cell;

use crate::code::{Block, CmpiPredicate, Code, Instruction, Op, Register};
use crate::computation::{Computation, Dimension};
use crate::domain::Grid;
use crate::integer::{Form, Interval};
use crate::operator::{Builtin, Operator};
use crate::scalar::{Scalar, ScalarType};

/// An affine condition `form >= 0` on the indices of a point.
pub type Condition = Form<i64>;

/// The affine conditions that hold at each point which contributes something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Support {
    /// All of them hold at each such point. Without any, all points may contribute.
    pub conditions: Vec<Condition>,
    /// Comparisons, and what they are where all conditions hold.
    pub decided: Vec<(Register, bool)>,
    /// The reason that a constant which a comparison of indices chooses narrows nothing, if there is such a one.
    pub left: Option<Left>,
}

/// The reason that a choice by indices is none of the conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// The constant is not known to be the neutral element.
    Value,
    /// The comparison is no affine condition.
    Comparison,
}

/// Instructions that are looked at, at most: values that several choices share are looked at by each.
const STEPS: usize = 4096;

/// Points, as far as conditions tell.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Points {
    /// There are none.
    None,
    /// All conditions hold there.
    Where(Vec<Condition>),
}

impl Points {
    const ALL: Points = Points::Where(Vec::new());

    /// Those in both.
    fn meet(self, other: Points) -> Points {
        match (self, other) {
            (Points::Where(mut some), Points::Where(others)) => {
                for condition in others {
                    if !some.contains(&condition) {
                        some.push(condition);
                    }
                }
                Points::Where(some)
            }
            _ => Points::None,
        }
    }

    /// Those in either: what both have in common holds.
    fn join(self, other: Points) -> Points {
        match (self, other) {
            (Points::None, points) | (points, Points::None) => points,
            (Points::Where(some), Points::Where(others)) => {
                let weaker = |mut one: Condition| {
                    let alike = others.iter().filter(|other| is_parallel(other, &one));
                    let least = alike.map(|other| other.constant).min()?;
                    one.constant = one.constant.max(least);
                    Some(one)
                };
                Points::Where(some.into_iter().filter_map(weaker).collect())
            }
        }
    }
}

/// Returns whether two conditions differ in their constants only.
fn is_parallel(a: &Condition, b: &Condition) -> bool {
    a.terms().eq(b.terms())
}

/// Returns whether a condition holds wherever another one does.
fn implies(known: &Condition, wanted: &Condition) -> bool {
    is_parallel(known, wanted) && known.constant <= wanted.constant
}

/// The share of a computation's points at which its scalar function may give something else than the neutral element, of
/// which there is an estimate where conditions narrow them.
pub fn contributing(computation: &Computation) -> f64 {
    let support = Support::new(computation);
    match computation.grids() {
        Some(grids) if !support.is_everything() => support.share(&grids),
        _ => 1.0,
    }
}

impl Support {
    /// The support of a computation's scalar function, whose code is there. There are conditions only
    /// where its operator has a neutral element.
    pub fn new(computation: &Computation) -> Support {
        let reader = Reader::new(&computation.scalar, &computation.dimensions);
        let operator = computation.operator();
        let neutral = operator.and_then(|operator| operator.neutral(&computation.components));
        let is_sum = |n: usize| match operator {
            Some(Operator::Builtin(builtins)) => builtins.get(n) == Some(&Builtin::Addf),
            _ => false,
        };
        let yields = &computation.scalar.body.yields;
        let points = match (operator, &neutral) {
            // Of signatures there is no code.
            (Some(_), Some(neutral)) if yields.len() == neutral.len() => {
                let pairs = yields.iter().zip(neutral).enumerate();
                pairs.fold(Points::None, |joined, (n, (value, neutral))| {
                    let sought = Neutral {
                        value: *neutral,
                        is_sum: is_sum(n),
                    };
                    joined.join(reader.support(*value, &sought))
                })
            }
            _ => Points::ALL,
        };
        let conditions = match points {
            Points::None => vec![Form::constant(-1)],
            Points::Where(forms) => forms,
        };
        let conditions: Vec<Condition> = conditions
            .into_iter()
            .filter(|condition| !reader.always_holds(condition))
            .collect();
        let mut support = Support {
            decided: Vec::new(),
            left: None,
            conditions,
        };
        support.decided = reader.decided(&support);
        support.left = operator.and_then(|_| reader.other_choice(&support));
        support
    }

    /// Returns whether it says nothing: all points may contribute.
    pub fn is_everything(&self) -> bool {
        self.conditions.is_empty()
    }

    /// The dimensions whose indices decide.
    pub fn dimensions(&self) -> impl Iterator<Item = usize> + '_ {
        self.conditions
            .iter()
            .flat_map(|c| c.terms().map(|(d, _)| d))
    }

    /// Returns an estimate of the share of a box's points that lie in it: of a sample of so many along
    /// each dimension that decides.
    pub fn share(&self, grids: &[Grid]) -> f64 {
        let mut dims: Vec<usize> = self.dimensions().collect();
        dims.sort_unstable();
        dims.dedup();
        let along: i64 = match dims.len() {
            0..=2 => 32,
            3 => 16,
            _ => 4,
        };
        let mut point: Vec<i64> = grids.iter().map(|grid| grid.lower).collect();
        let total = along.pow(dims.len().min(6) as u32);
        let mut inside = 0;
        for sample in 0..total {
            let mut rest = sample;
            for d in dims.iter().take(6) {
                let grid = &grids[*d];
                let span = (grid.upper.saturating_sub(grid.lower)).max(1);
                let at = (2 * (rest % along) + 1).saturating_mul(span) / (2 * along);
                point[*d] = grid.lower.saturating_add(at);
                rest /= along;
            }
            let holds = |c: &Condition| c.eval(&point).is_some_and(|value| value >= 0);
            inside += i64::from(self.conditions.iter().all(holds));
        }
        inside as f64 / total as f64
    }

    fn implies(&self, wanted: &Condition) -> bool {
        self.conditions.iter().any(|known| implies(known, wanted))
    }
}

/// The neutral element that is looked for.
struct Neutral {
    value: Scalar,
    /// True of a sum of floats, which -0.0 changes no more than 0.0.
    is_sum: bool,
}

impl Neutral {
    fn is(&self, value: Scalar) -> bool {
        value == self.value || self.is_sum && value.ty == self.value.ty && value.as_f64() == 0.0
    }

    fn is_zero(&self) -> bool {
        self.value.same_value(Scalar::zero(self.value.ty))
    }
}

struct Reader<'a> {
    /// The instruction that makes a register, with those of branches.
    made: Vec<Option<&'a Instruction>>,
    dimensions: &'a [Dimension],
    steps: Cell<usize>,
}

impl<'a> Reader<'a> {
    fn new(code: &'a Code, dimensions: &'a [Dimension]) -> Reader<'a> {
        let mut reader = Reader {
            made: vec![None; code.registers],
            dimensions,
            steps: Cell::new(STEPS),
        };
        reader.note(&code.body);
        reader
    }

    fn note(&mut self, block: &'a Block) {
        for one in &block.instructions {
            for result in one.results() {
                if let Some(place) = self.made.get_mut(*result) {
                    *place = Some(one);
                }
            }
            if let Instruction::If {
                then, otherwise, ..
            } = one
            {
                self.note(then);
                self.note(otherwise);
            }
        }
    }

    /// The instruction that makes a register, as long as there are steps left.
    fn made(&self, register: Register) -> Option<&'a Instruction> {
        let left = self.steps.get().checked_sub(1)?;
        self.steps.set(left);
        *self.made.get(register)?
    }

    fn constant(&self, register: Register) -> Option<Scalar> {
        match self.made(register)? {
            Instruction::Constant { value, .. } => Some(*value),
            _ => None,
        }
    }

    /// The points at which a value may be another one than the neutral element.
    fn support(&self, value: Register, neutral: &Neutral) -> Points {
        let support_of = |r: Register| self.support(r, neutral);
        match self.made(value) {
            Some(Instruction::Constant { value, .. }) if neutral.is(*value) => Points::None,
            Some(Instruction::Apply { op, operands, .. }) => match (op, &operands[..]) {
                (Op::Select, [c, a, b]) => self.chosen(*c, support_of(*a), support_of(*b)),
                (Op::Muli | Op::Andi, [a, b]) if neutral.is_zero() => {
                    support_of(*a).meet(support_of(*b))
                }
                (Op::Extsi | Op::Extui | Op::Extf | Op::Sitofp | Op::Uitofp, [narrow])
                    if neutral.is_zero() =>
                {
                    self.extended(*narrow, neutral)
                }
                (Op::Cmpi(_), _) => self.when(value, !neutral.value.is_true()),
                _ => Points::ALL,
            },
            Some(Instruction::If {
                condition,
                then,
                otherwise,
                results,
            }) => {
                let Some(n) = results.iter().position(|r| *r == value) else {
                    return Points::ALL;
                };
                self.chosen(
                    *condition,
                    support_of(then.yields[n]),
                    support_of(otherwise.yields[n]),
                )
            }
            _ => Points::ALL,
        }
    }

    /// The support of a number whose extension counts, where zero is neutral.
    fn extended(&self, of: Register, neutral: &Neutral) -> Points {
        let ty = match self.made(of) {
            Some(Instruction::Apply { ty, .. }) => *ty,
            Some(Instruction::If { then, results, .. }) => {
                let n = results.iter().position(|r| *r == of);
                let constant = n.and_then(|n| self.constant(then.yields[n]));
                match constant {
                    Some(constant) => constant.ty,
                    None => return Points::ALL,
                }
            }
            _ => return Points::ALL,
        };
        let narrow = Neutral {
            value: Scalar::zero(ty),
            is_sum: neutral.is_sum && ty.is_float(),
        };
        self.support(of, &narrow)
    }

    /// The points of either of two values, of which a condition chooses one.
    fn chosen(&self, condition: Register, then: Points, otherwise: Points) -> Points {
        let side = |points: Points, truth: bool| match points {
            Points::None => Points::None,
            points => self.when(condition, truth).meet(points),
        };
        side(then, true).join(side(otherwise, false))
    }

    /// The points at which a condition may be true, or false.
    fn when(&self, condition: Register, truth: bool) -> Points {
        match self.made(condition) {
            Some(Instruction::Constant { value, .. }) => match value.is_true() == truth {
                true => Points::ALL,
                false => Points::None,
            },
            Some(Instruction::Apply { op, operands, .. }) => match (op, &operands[..]) {
                (Op::Cmpi(predicate), [a, b]) => {
                    let exact = self.compared(*predicate, truth, *a, *b);
                    exact.map_or(Points::ALL, Points::Where)
                }
                (Op::Andi | Op::Ori, [a, b]) => {
                    let (a, b) = (self.when(*a, truth), self.when(*b, truth));
                    match (*op == Op::Andi) == truth {
                        true => a.meet(b),
                        false => a.join(b),
                    }
                }
                (Op::Xori, [a, b]) => match (self.constant(*a), self.constant(*b)) {
                    (_, Some(flips)) => self.when(*a, truth != flips.is_true()),
                    (Some(flips), _) => self.when(*b, truth != flips.is_true()),
                    _ => Points::ALL,
                },
                (Op::Select, [c, a, b]) => {
                    self.chosen(*c, self.when(*a, truth), self.when(*b, truth))
                }
                _ => Points::ALL,
            },
            Some(Instruction::If {
                condition: decides,
                then,
                otherwise,
                results,
            }) => match results.iter().position(|r| *r == condition) {
                Some(n) => {
                    let [a, b] = [then, otherwise].map(|block| self.when(block.yields[n], truth));
                    self.chosen(*decides, a, b)
                }
                None => Points::ALL,
            },
            _ => Points::ALL,
        }
    }

    /// The conditions that hold exactly where a comparison is true, or false; `None` where there are
    /// none such.
    fn compared(
        &self,
        predicate: CmpiPredicate,
        truth: bool,
        a: Register,
        b: Register,
    ) -> Option<Vec<Condition>> {
        use CmpiPredicate::*;
        let (a, b) = (self.affine(a)?, self.affine(b)?);
        let at_least = |x: &Condition, y: &Condition| x.plus(-1, y);
        let more = |x: &Condition, y: &Condition| at_least(x, y)?.plus(1, &Form::constant(-1));
        let predicate = match (predicate, truth) {
            (predicate, true) => predicate,
            (Eq, false) => Ne,
            (Ne, false) => Eq,
            (Slt, false) => Sge,
            (Sge, false) => Slt,
            (Sle, false) => Sgt,
            (Sgt, false) => Sle,
            (Ult, false) => Uge,
            (Uge, false) => Ult,
            (Ule, false) => Ugt,
            (Ugt, false) => Ule,
        };
        // Below a number that is not negative is nothing that is.
        let counts = |x: &Condition| x.as_constant().is_some_and(|number| number >= 0);
        let conditions = match predicate {
            Eq => [at_least(&a, &b)?, at_least(&b, &a)?].to_vec(),
            Slt => vec![more(&b, &a)?],
            Sle => vec![at_least(&b, &a)?],
            Sgt => vec![more(&a, &b)?],
            Sge => vec![at_least(&a, &b)?],
            Ult if counts(&b) => vec![more(&b, &a)?, a],
            Ule if counts(&b) => vec![at_least(&b, &a)?, a],
            Ugt if counts(&a) => vec![more(&a, &b)?, b],
            Uge if counts(&a) => vec![at_least(&a, &b)?, b],
            Ne | Ult | Ule | Ugt | Uge => return None,
        };
        Some(conditions)
    }

    /// A number as a form of the indices, where its type holds all values of that. Of sizes that are not
    /// known, those of 64 bits do.
    fn affine(&self, register: Register) -> Option<Condition> {
        match self.made(register)? {
            Instruction::Index { dimension, .. } => Some(Form::variable(*dimension)),
            Instruction::Constant { value, .. } if !value.ty.is_float() => {
                Some(Form::constant(value.as_i64()))
            }
            Instruction::Apply {
                op, operands, ty, ..
            } => {
                let form = match (op, &operands[..]) {
                    (Op::Addi, [a, b]) => self.affine(*a)?.add(1, &self.affine(*b)?),
                    (Op::Subi, [a, b]) => self.affine(*a)?.add(-1, &self.affine(*b)?),
                    (Op::Muli, [a, b]) => {
                        let (a, b) = (self.affine(*a)?, self.affine(*b)?);
                        match (a.as_constant(), b.as_constant()) {
                            (_, Some(factor)) => a.times(factor),
                            (Some(factor), _) => b.times(factor),
                            _ => None,
                        }
                    }
                    (Op::Shli, [of, by]) => {
                        let by = u32::try_from(self.affine(*by)?.as_constant()?).ok()?;
                        self.affine(*of)?
                            .times(1i64.checked_shl(by).filter(|by| *by > 0)?)
                    }
                    (Op::IndexCast | Op::Extsi | Op::Trunci, [of]) => self.affine(*of),
                    (Op::IndexCastui | Op::Extui, [of]) => {
                        let form = self.affine(*of);
                        form.filter(|form| self.values(form).is_some_and(|all| all.min >= 0))
                    }
                    _ => None,
                };
                form.filter(|form| self.fits(form, *ty))
            }
            _ => None,
        }
    }

    fn fits(&self, form: &Condition, ty: ScalarType) -> bool {
        let bits = ty.bit_width();
        let most = (1i128 << (bits - 1)) - 1;
        match self.values(form) {
            Some(values) => values.min >= -most - 1 && values.max <= most,
            None => bits == 64,
        }
    }

    /// The values of a form, where its dimensions are known.
    fn values(&self, form: &Condition) -> Option<Interval> {
        let mut range = Interval::exactly(form.constant);
        for (d, factor) in form.terms() {
            let dimension = self.dimensions.get(d)?;
            let (lower, upper) = (dimension.lower?, dimension.upper?);
            let indices = Interval::new(lower.into(), i128::from(upper) - 1);
            range = range.plus(indices.times(Interval::exactly(factor)));
        }
        Some(range)
    }

    fn always_holds(&self, condition: &Condition) -> bool {
        let values = self.values(condition);
        values.is_some_and(|values| values.min >= 0)
    }

    fn comparisons(&self) -> impl Iterator<Item = (Register, CmpiPredicate, [Register; 2])> + '_ {
        self.made
            .iter()
            .enumerate()
            .filter_map(|(r, made)| match made {
                Some(Instruction::Apply {
                    op: Op::Cmpi(predicate),
                    operands,
                    ..
                }) => Some((r, *predicate, [operands[0], operands[1]])),
                _ => None,
            })
    }

    /// The comparisons that a support decides.
    fn decided(&self, support: &Support) -> Vec<(Register, bool)> {
        if support.is_everything() {
            return Vec::new();
        }
        self.steps.set(STEPS);
        let holds = |all: Vec<Condition>| {
            all.iter()
                .all(|c| support.implies(c) || self.always_holds(c))
        };
        let decided = |(register, predicate, [a, b]): (Register, CmpiPredicate, [Register; 2])| {
            let is = |truth| self.compared(predicate, truth, a, b).is_some_and(holds);
            [true, false]
                .into_iter()
                .find(|truth| is(*truth))
                .map(|truth| (register, truth))
        };
        self.comparisons().filter_map(decided).collect()
    }

    /// The reason that the support does not know a constant which a comparison of indices chooses, if there is one.
    fn other_choice(&self, support: &Support) -> Option<Left> {
        self.steps.set(STEPS);
        let is_constant = |r: Register| self.constant(r).is_some();
        let choices = self.made.iter().flatten().filter_map(|made| match made {
            Instruction::Apply {
                op: Op::Select,
                operands,
                ..
            } => operands[1..]
                .iter()
                .any(|r| is_constant(*r))
                .then_some(operands[0]),
            Instruction::If {
                condition,
                then,
                otherwise,
                ..
            } => (then.yields.iter().chain(&otherwise.yields))
                .any(|r| is_constant(*r))
                .then_some(*condition),
            _ => None,
        });
        let holds = |c: &Condition| support.implies(c) || self.always_holds(c);
        let mut kinds = choices.filter_map(|condition| {
            let sides = [true, false].map(|truth| self.when(condition, truth));
            let is_known = |points: &Points| match points {
                Points::None => true,
                Points::Where(forms) => !forms.is_empty() && forms.iter().all(holds),
            };
            let is_affine = |points: &Points| match points {
                Points::None => false,
                Points::Where(forms) => forms.iter().any(|c| c.as_constant().is_none()),
            };
            match self.indices(condition) {
                _ if sides.iter().any(is_known) => None,
                _ if sides.iter().any(is_affine) => Some(Left::Value),
                Some(true) => Some(Left::Comparison),
                _ => None,
            }
        });
        kinds.next()
    }

    /// Returns whether indices are part of a number that depends on nothing but them and constants.
    fn indices(&self, register: Register) -> Option<bool> {
        match self.made(register)? {
            Instruction::Index { .. } => Some(true),
            Instruction::Constant { .. } => Some(false),
            Instruction::Apply { operands, .. } => {
                operands.iter().try_fold(false, |found, operand| {
                    Some(self.indices(*operand)? | found)
                })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
#[path = "support_tests.rs"]
mod tests;
