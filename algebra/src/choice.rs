//! Operators that only compare and choose: their laws, decided.
//!
//! Code that compares components of two tuples, each with its counterpart, and yields for each of them
//! one of its two values has an outcome that depends on nothing but the order of these values. A map
//! that keeps the order of the values of a component, and maps no two to one, thus changes both sides
//! of a law alike: the law holds for all tuples if it holds for three values of each component in every
//! order, equal ones among them. Two things are in no such order: one that is no number (NaN), and of
//! two zeros, which are equal, which one it is; both are among the values that are tried. Integers that
//! are compared both with and without a sign have two orders: three values of each sign are.
//!
//! NaN agrees with NaN; but for that values agree in their bits where operators are associative. Which of two
//! equal zeros it is a reduction leaves open, as it does the order: there, -0.0 agrees with 0.0.

use std::collections::HashMap;

use crate::code::{Block, Code, Instruction, Op, Register};
use crate::laws::{Law, Violation};
use crate::machine::Machine;
use crate::op::CmpiPredicate;
use crate::scalar::{Scalar, ScalarType};

/// Tuples that one law is tried on: with more of them it is not decided.
const MOST: usize = 1 << 17;

/// An operator of this kind.
#[derive(Debug)]
pub struct Choice<'a> {
    code: &'a Code,
    components: &'a [ScalarType],
    orders: Vec<Orders>,
}

/// The orders by which a component's values are compared.
#[derive(Clone, Copy, Debug, Default)]
struct Orders {
    signed: bool,
    unsigned: bool,
    /// Of floats, in a way that a program may say is one of numbers.
    floats: bool,
}

/// A register's values: truths, those of a component, or the least or largest number of any.
#[derive(Clone, Copy, PartialEq)]
enum Class {
    Truth,
    Component(usize),
    End,
}

/// Treatment of constants that are the least or largest number of their type.
#[derive(Clone, Copy, PartialEq)]
enum Ends {
    Read,
    Refused,
}

/// Values that inputs of one class may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Among {
    /// All.
    All,
    /// Those that are numbers.
    Numbers,
}

/// Returns whether two codes on the same inputs only compare and choose, and yield the same for all of them.
/// Inputs of one class are compared with each other and chosen from; truths have no class.
pub fn are_same(a: &Code, b: &Code, classes: &[usize], among: Among) -> bool {
    let count = classes.iter().max().map_or(0, |most| most + 1);
    let mut reading = Reading {
        classes: HashMap::new(),
        orders: vec![Orders::default(); count],
        ends: Ends::Read,
    };
    let is_read = [a, b].into_iter().all(|code| {
        let class = |(n, ty): (usize, &ScalarType)| match ty {
            ScalarType::I1 => (n, Class::Truth),
            _ => (n, Class::Component(classes[n])),
        };
        reading.classes = code.inputs.iter().enumerate().map(class).collect();
        reading.block(&code.body).is_some()
    });
    let in_two = |orders: &Orders| orders.signed && orders.unsigned;
    if !is_read || a.inputs != b.inputs || reading.orders.iter().any(in_two) {
        return false;
    }
    let mut tuples: Vec<Vec<Scalar>> = vec![Vec::new()];
    for (n, ty) in a.inputs.iter().enumerate() {
        let values = values_of(*ty, reading.orders.get(classes[n]), among);
        let longer = |tuple: &Vec<Scalar>| {
            let tuple = tuple.clone();
            values
                .iter()
                .map(move |v| [&tuple[..], &[*v]].concat())
                .collect::<Vec<_>>()
        };
        if tuples.len().saturating_mul(values.len()) > MOST {
            return false;
        }
        tuples = tuples.iter().flat_map(longer).collect();
    }
    tuples.iter().all(|inputs| {
        let both = a.eval(inputs, &[]).ok().zip(b.eval(inputs, &[]).ok());
        both.is_some_and(|(left, right)| agree(&left, &right, Agree::Exactly))
    })
}

/// Values of one type that tell all orders of three apart, the least and the largest one among them.
fn values_of(ty: ScalarType, orders: Option<&Orders>, among: Among) -> Vec<Scalar> {
    let is_ordered = orders.is_some_and(|order| order.signed || order.unsigned);
    if ty.is_float() {
        let most = f64::INFINITY;
        let mut values = vec![-most, -1.0, -0.0, 0.0, 1.0, most, f64::NAN];
        values.retain(|x| among == Among::All || !x.is_nan());
        return values
            .into_iter()
            .map(|x| Scalar::from_f64(ty, x))
            .collect();
    }
    if ty == ScalarType::I1 || !is_ordered {
        let most = if ty == ScalarType::I1 { 2 } else { 3 };
        return (0..most).map(|i| Scalar::from_i64(ty, i)).collect();
    }
    let ends = least_and_largest(ty);
    let near = [-1, 0, 1].map(|i| Scalar::from_i64(ty, i)).into_iter();
    near.chain(ends).collect()
}

/// The ends of a type's signed order; those of the other one are 0 and -1.
fn least_and_largest(ty: ScalarType) -> [Scalar; 2] {
    let top = 1u64 << (ty.bit_width() - 1);
    [top, top - 1].map(|bits| Scalar::from_bits(ty, bits))
}

fn is_end(value: Scalar) -> bool {
    match value.ty.is_float() {
        true => value.as_f64().is_infinite(),
        false => least_and_largest(value.ty).contains(&value) || [0, -1].contains(&value.as_i64()),
    }
}

/// The values that components may have.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// Comparisons are of numbers only, as a program says of them.
    pub numbers: bool,
    /// Says of each component that what is combined first is a number in it.
    pub starts: &'a [bool],
}

/// The laws of an operator.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// A counter-example, if it is not associative.
    pub associative: Option<Violation>,
    /// A counter-example, if it is not commutative.
    pub commutative: Option<Violation>,
    /// A component and a number: the operator has these laws if what is no number in that component is
    /// this number instead, in all tuples but the first, which changes no result.
    pub instead: Option<(usize, f64)>,
}

/// Says of each component whether it may be no number: in the first tuple, and in the others.
#[derive(Clone)]
struct Nans {
    first: Vec<bool>,
    others: Vec<bool>,
}

/// Describes how sides are compared.
#[derive(Clone, Copy, PartialEq)]
enum Agree {
    /// Bit by bit.
    Exactly,
    /// Zeros are one number.
    AsNumbers,
}

impl<'a> Choice<'a> {
    /// Reads code on `2n` components, if it only compares and chooses.
    pub fn new(code: &'a Code) -> Option<Self> {
        let count = code.results.len();
        let components = code.inputs.get(..count)?;
        if code.inputs[count..] != *components || code.results != components || count == 0 {
            return None;
        }
        let class = |n: usize| match components[n % count] {
            ScalarType::I1 => Class::Truth,
            _ => Class::Component(n % count),
        };
        let mut reading = Reading {
            classes: (0..2 * count).map(|n| (n, class(n))).collect(),
            orders: vec![Orders::default(); count],
            ends: Ends::Refused,
        };
        reading.block(&code.body)?;
        for (n, register) in code.body.yields.iter().enumerate() {
            if reading.class(*register)? != class(n) {
                return None;
            }
        }
        let choice = Choice {
            code,
            components,
            orders: reading.orders,
        };
        let patterns = (0..count).map(|n| choice.patterns(n, 3, 1.0).len());
        let total = patterns.fold(1, usize::saturating_mul);
        (total <= MOST).then_some(choice)
    }

    /// Decides its laws.
    pub fn decide(&self, given: Given) -> Decision {
        let mut nans = self.nans(given);
        let mut associative = self.violation(Law::Associative, &nans, Agree::Exactly);
        let mut instead = None;
        if associative.is_some() && !given.numbers {
            let ways = (0..self.components.len()).flat_map(|n| self.instead(n, &nans, given));
            let way = ways.into_iter().find(|(_, _, nans)| {
                let law = self.violation(Law::Associative, nans, Agree::Exactly);
                law.is_none()
            });
            if let Some((component, number, fewer)) = way {
                (associative, nans) = (None, fewer);
                instead = Some((component, number));
            }
        }
        Decision {
            associative,
            commutative: self.violation(Law::Commutative, &nans, Agree::AsNumbers),
            instead,
        }
    }

    /// The operation that an operator on one component is, with the number that it takes instead of what is
    /// no number, as in a [`Decision`].
    pub fn operation(&self, given: Given) -> Option<(Op, Option<f64>)> {
        let [ty] = self.components else {
            return None;
        };
        let operations: &[Op] = match ty {
            ScalarType::I1 => &[Op::Andi, Op::Ori, Op::Xori],
            _ if ty.is_float() => &[Op::Maximumf, Op::Minimumf, Op::Maxnumf, Op::Minnumf],
            _ => &[Op::Maxsi, Op::Minsi, Op::Maxui, Op::Minui],
        };
        let nans = self.nans(given);
        // The operation may compare in another order than this does.
        let both = Orders {
            signed: true,
            unsigned: true,
            ..self.orders[0]
        };
        let whole = Choice {
            orders: vec![both],
            ..*self
        };
        let pairs = whole.pairs(&nans);
        let is = |op: Op, number: Option<f64>| {
            pairs.iter().all(|[a, e]| {
                let taken = number.filter(|_| e[0].is_nan());
                let taken = taken.map_or(e[0], |number| Scalar::from_f64(*ty, number));
                let result = op.apply(&[a[0], taken], *ty).ok();
                self.apply(a, e)
                    .zip(result)
                    .is_some_and(|(f, result)| agree(&f, &[result], Agree::AsNumbers))
            })
        };
        let numbers: &[Option<f64>] = match ty.is_float() {
            true => &[None, Some(f64::NEG_INFINITY), Some(f64::INFINITY)],
            false => &[None],
        };
        let mut ways = numbers
            .iter()
            .flat_map(|n| operations.iter().map(|op| (*op, *n)));
        ways.find(|(op, number)| is(*op, *number))
    }

    /// Returns whether a tuple changes no other one, on both sides.
    pub fn is_neutral(&self, tuple: &[Scalar], given: Given) -> bool {
        let mut tuples: Vec<Vec<Scalar>> = vec![Vec::new()];
        let nans = self.nans(given);
        for (n, element) in tuple.iter().enumerate() {
            let mut values = self.values(n, f64::INFINITY);
            if !element.ty.is_float() {
                // Below and above it in both orders.
                let half = 1u64 << (element.ty.bit_width() - 1);
                let ends =
                    [0, half - 1, half, u64::MAX].map(|bits| Scalar::from_bits(element.ty, bits));
                values = ends.to_vec();
            }
            values.push(*element);
            values.retain(|v| nans.others[n] || !v.is_nan());
            let longer = |tuple: &Vec<Scalar>| {
                let tuple = tuple.clone();
                let more = values.iter().map(move |v| [&tuple[..], &[*v]].concat());
                more.collect::<Vec<_>>()
            };
            tuples = tuples.iter().flat_map(longer).collect();
        }
        tuple.len() == self.components.len()
            && tuples.iter().all(|other| {
                let both = [self.apply(tuple, other), self.apply(other, tuple)];
                let same =
                    |f: Option<Vec<Scalar>>| f.is_some_and(|f| agree(&f, other, Agree::Exactly));
                both.into_iter().all(same)
            })
    }

    fn nans(&self, given: Given) -> Nans {
        let components = self.components.iter().zip(&self.orders);
        let may = components.map(|(ty, orders)| ty.is_float() && !(given.numbers && orders.floats));
        let possible: Vec<bool> = may.collect();
        Nans {
            first: possible.clone(),
            others: possible,
        }
    }

    /// The numbers that may stand in a component for what is no number, with what may be one then.
    fn instead(&self, component: usize, nans: &Nans, given: Given) -> Vec<(usize, f64, Nans)> {
        if !nans.others[component] {
            return Vec::new();
        }
        let is_exact = |number: &f64| {
            let number = Scalar::from_f64(self.components[component], *number);
            self.pairs(nans).into_iter().all(|[a, e]| {
                let mut other = e.clone();
                other[component] = number;
                let both = self.apply(&a, &e).zip(self.apply(&a, &other));
                !e[component].is_nan() || both.is_some_and(|(x, y)| agree(&x, &y, Agree::Exactly))
            })
        };
        let mut fewer = nans.clone();
        fewer.others[component] = false;
        fewer.first[component] = !given.starts.get(component).is_some_and(|starts| *starts);
        let ends = [f64::NEG_INFINITY, f64::INFINITY]
            .into_iter()
            .filter(is_exact);
        ends.map(|number| (component, number, fewer.clone()))
            .collect()
    }

    fn apply(&self, x: &[Scalar], y: &[Scalar]) -> Option<Vec<Scalar>> {
        self.code.eval(&[x, y].concat(), &[]).ok()
    }

    /// A counter-example to a law.
    fn violation(&self, law: Law, nans: &Nans, how: Agree) -> Option<Violation> {
        let count = if law == Law::Associative { 3 } else { 2 };
        let mut machine = Machine::new();
        let mut f = |x: &[Scalar], y: &[Scalar]| {
            let mut result = x.to_vec();
            let run = machine.run(self.code, &[x, y].concat(), &[], &mut result);
            run.is_ok().then_some(result)
        };
        self.tuples(count, 1.0, nans)
            .into_iter()
            .find_map(|tuples| {
                let sides = match &tuples[..] {
                    [x, y, z] => {
                        let left = f(x, y).and_then(|xy| f(&xy, z));
                        left.zip(f(y, z).and_then(|yz| f(x, &yz)))
                    }
                    [x, y] => f(x, y).zip(f(y, x)),
                    _ => None,
                };
                let (left, right) = sides?;
                (!agree(&left, &right, how)).then(|| Violation {
                    law,
                    operator: String::new(),
                    tuples,
                    left,
                    right,
                })
            })
    }

    /// All pairs of which the second one is an element, with infinities.
    fn pairs(&self, nans: &Nans) -> Vec<[Vec<Scalar>; 2]> {
        let tuples = self.tuples(2, f64::INFINITY, nans).into_iter();
        tuples.filter_map(|pair| pair.try_into().ok()).collect()
    }

    /// All that several tuples may be, as far as orders tell them apart.
    fn tuples(&self, count: usize, most: f64, nans: &Nans) -> Vec<Vec<Vec<Scalar>>> {
        let mut partial: Vec<Vec<Vec<Scalar>>> = vec![vec![Vec::new(); count]];
        for n in 0..self.components.len() {
            let mut patterns = self.patterns(n, count, most);
            patterns.retain(|values| {
                let mut numbered = values.iter().enumerate();
                numbered.all(|(t, v)| {
                    !v.is_nan() || [nans.first[n], nans.others[n]][usize::from(t > 0)]
                })
            });
            let longer = |tuples: &Vec<Vec<Scalar>>| {
                let more = patterns.iter().map(|values| {
                    let both = tuples.iter().zip(values);
                    let extended = both.map(|(tuple, value)| [&tuple[..], &[*value]].concat());
                    extended.collect()
                });
                more.collect::<Vec<_>>()
            };
            partial = partial.iter().flat_map(longer).collect();
        }
        partial
    }

    /// All that several values of a component may be.
    fn patterns(&self, component: usize, count: usize, most: f64) -> Vec<Vec<Scalar>> {
        let values = self.values(component, most);
        let mut partial: Vec<Vec<usize>> = vec![Vec::new()];
        for _ in 0..count {
            let longer = |pattern: &Vec<usize>| {
                let pattern = pattern.clone();
                let more = (0..values.len()).map(move |value| [&pattern[..], &[value]].concat());
                more.collect::<Vec<_>>()
            };
            partial = partial.iter().flat_map(longer).collect();
        }
        // In a single order the lowest values tell all.
        let is_lowest = |pattern: &Vec<usize>| {
            let most = pattern.iter().copied().max().unwrap_or_default();
            (0..most).all(|value| pattern.contains(&value))
        };
        if self.is_ordered_once(component) {
            partial.retain(is_lowest);
        }
        let values_at =
            |pattern: Vec<usize>| pattern.into_iter().map(|value| values[value]).collect();
        partial.into_iter().map(values_at).collect()
    }

    fn is_ordered_once(&self, component: usize) -> bool {
        let (ty, orders) = (self.components[component], self.orders[component]);
        ty.is_integer() && ty != ScalarType::I1 && !(orders.signed && orders.unsigned)
    }

    fn values(&self, component: usize, most: f64) -> Vec<Scalar> {
        let ty = self.components[component];
        let integers = |numbers: &[i64]| numbers.iter().map(|i| Scalar::from_i64(ty, *i)).collect();
        match ty {
            ScalarType::I1 => integers(&[0, 1]),
            _ if ty.is_float() => {
                let special = [0.0, most, f64::NAN, -most, -0.0];
                special.map(|x| Scalar::from_f64(ty, x)).to_vec()
            }
            _ if self.is_ordered_once(component) => integers(&[0, 1, 2]),
            _ => integers(&[0, 1, 2, -1, -2, -3]),
        }
    }
}

/// Follows the values of components through code.
struct Reading {
    classes: HashMap<Register, Class>,
    orders: Vec<Orders>,
    ends: Ends,
}

impl Reading {
    fn class(&self, register: Register) -> Option<Class> {
        self.classes.get(&register).copied()
    }

    fn block(&mut self, block: &Block) -> Option<()> {
        block.instructions.iter().try_for_each(|one| self.one(one))
    }

    fn one(&mut self, instruction: &Instruction) -> Option<()> {
        match instruction {
            Instruction::Constant { result, value } if value.ty == ScalarType::I1 => {
                self.classes.insert(*result, Class::Truth);
            }
            Instruction::Constant { result, value }
                if self.ends == Ends::Read && is_end(*value) =>
            {
                self.classes.insert(*result, Class::End);
            }
            Instruction::Apply {
                result,
                op,
                operands,
                ..
            } => {
                let class = self.applied(*op, operands)?;
                self.classes.insert(*result, class);
            }
            Instruction::If {
                condition,
                then,
                otherwise,
                results,
            } => {
                (self.class(*condition)? == Class::Truth).then_some(())?;
                self.block(then)?;
                self.block(otherwise)?;
                for (n, result) in results.iter().enumerate() {
                    let class = self.common(&[then.yields[n], otherwise.yields[n]])?;
                    self.classes.insert(*result, class);
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// The class that all of some registers have, but for ends, which are in any.
    fn common(&self, registers: &[Register]) -> Option<Class> {
        let classes: Option<Vec<Class>> = registers.iter().map(|r| self.class(*r)).collect();
        let classes = classes?;
        let known = classes.iter().find(|class| **class != Class::End);
        let class = *known.or(classes.first())?;
        classes
            .iter()
            .all(|other| [class, Class::End].contains(other))
            .then_some(class)
    }

    fn applied(&mut self, op: Op, operands: &[Register]) -> Option<Class> {
        use CmpiPredicate::{Eq, Ne, Sge, Sgt, Sle, Slt};
        let values = match op {
            Op::Select => operands.get(1..)?,
            _ => operands,
        };
        let class = self.common(values)?;
        let signed = match op {
            Op::Cmpi(Eq | Ne) | Op::Cmpf(_) | Op::Select => None,
            Op::Cmpi(predicate) => Some(matches!(predicate, Slt | Sle | Sgt | Sge)),
            Op::Maxsi | Op::Minsi => Some(true),
            Op::Maxui | Op::Minui => Some(false),
            Op::Maximumf | Op::Minimumf | Op::Maxnumf | Op::Minnumf => None,
            Op::Andi | Op::Ori | Op::Xori if class == Class::Truth => None,
            _ => return None,
        };
        if op == Op::Select && self.class(operands[0])? != Class::Truth {
            return None;
        }
        if let Class::Component(n) = class {
            self.orders[n].signed |= signed == Some(true);
            self.orders[n].unsigned |= signed == Some(false);
            self.orders[n].floats |= matches!(op, Op::Cmpf(_));
        }
        match op {
            Op::Cmpf(_) | Op::Cmpi(_) => Some(Class::Truth),
            _ => Some(class),
        }
    }
}

fn agree(left: &[Scalar], right: &[Scalar], how: Agree) -> bool {
    let nan = |(a, b): (&Scalar, &Scalar)| a.is_nan() && b.is_nan();
    let mut both = left.iter().zip(right);
    match how {
        Agree::AsNumbers => both.all(|(a, b)| a.same_value(*b)),
        Agree::Exactly => both.all(|(a, b)| a == b || nan((a, b))),
    }
}

#[cfg(test)]
#[path = "choice_tests.rs"]
mod tests;
