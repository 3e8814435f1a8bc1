//! Accumulation by comparison and selection: minima, maxima, and the best of tuples.
//!
//! Code that only compares and chooses has laws that the algebra decides ([`mdh_algebra::choice`]), in
//! whatever way it is written. `e > acc ? e : acc` passes over elements that are no numbers, and keeps an
//! accumulator that is none. With such elements for -inf, which is never greater, this is
//! `maximumf(acc, e)`; which of two zeros it is linalg leaves open, as it does the order. The other way
//! round, `acc > e ? acc : e`, one that is no number would replace what was found before it: then parts
//! cannot be combined, unless the comparison says that there are none.

use mdh_algebra::choice::{Choice, Decision, Given};
use mdh_algebra::code::Code;
use mdh_algebra::laws::Violation;
use mdh_algebra::op::CmpfPredicate;
use mdh_algebra::operator::Builtin;
use mdh_algebra::scalar::Scalar;
use mdh_dialect::code;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::types;
use melior::ir::{Region, RegionLike, RegionRef, ValueLike};

use super::operators::{Broken, Law};
use super::steps::Family;
use crate::support::builder::Builder;
use crate::support::region;

/// An operator that only compares and chooses.
pub struct Chosen {
    /// Parts may be combined.
    pub associative: Law,
    /// In any order.
    pub commutative: Law,
    /// The component in which elements that are no numbers have to be this one instead.
    pub instead: Option<(usize, f64)>,
    /// The tuple that accumulators start from changes no other one.
    pub from_neutral: bool,
}

/// Code of an operator, as the algebra has it.
pub fn code_of(operator: &Region) -> Option<Code> {
    // SAFETY: only lifetimes change, see `ir::Op`.
    let region = unsafe { RegionRef::from_raw(operator.to_raw()) };
    code::code(region, "the operator").ok()
}

/// The digest of an operator's code, on accumulators, then elements.
pub fn digest(operator: &Region) -> Option<String> {
    let code = format!("{:?}", code_of(operator)?);
    // FNV-1a.
    let hash = code.bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    Some(format!("{hash:016x}"))
}

/// Returns whether all comparisons of floats declare that their operands are numbers.
pub fn has_numbers_only(operator: &Region) -> bool {
    let mut compared = region::operations(operator);
    compared.retain(|op| ir::name_of(*op) == ops::arith::CMPF);
    !compared.is_empty() && compared.into_iter().all(declares_numbers)
}

/// Returns whether an operation on floats declares that its operands and its result are numbers.
pub fn declares_numbers(op: Op) -> bool {
    let flags = ir::attribute(op, "fastmath").map(|flags| flags.to_string());
    flags.is_some_and(|flags| flags.contains("nnan") || flags.contains("math<fast>"))
}

fn starts(from: &[Option<Scalar>]) -> Vec<bool> {
    let number = |from: &Option<Scalar>| from.is_some_and(|number| !number.is_nan());
    from.iter().map(number).collect()
}

/// The operator that code on one accumulator, then one element, is, with the number that it takes for
/// an element that is none.
pub fn operation(operator: &Region, from: Option<Scalar>) -> Option<(Family, Option<f64>)> {
    let code = code_of(operator)?;
    let given = Given {
        numbers: has_numbers_only(operator),
        starts: &starts(&[from]),
    };
    let (op, instead) = Choice::new(&code)?.operation(given)?;
    let named = [ops::arith::MAXNUMF, ops::arith::MINNUMF];
    let named = named.into_iter().find(|name| *name == op.name());
    let builtin = Builtin::all().find(|o| o.op() == op);
    let family = builtin.map(Family::Builtin).or(named.map(Family::Named));
    Some((family?, instead))
}

/// The rule that only numbers follow, for an operator that is an operation between these, if any.
fn between_numbers_only(found: &Violation, operation: Option<&str>) -> Broken {
    let or = match operation {
        Some(ops::arith::MAXIMUMF) => ", or take 'arith.maximumf' or 'arith.maxnumf'",
        Some(_) => ", or take 'arith.minimumf' or 'arith.minnumf'",
        None => ", or 'mdh.associative' on the operation",
    };
    Broken {
        rule: format!(
            "its body chooses by comparing floats in a way that is not associative where one is no \
             number, {}",
            found.example()
        ),
        expected: format!("where all are numbers, put 'fastmath<nnan>' on each 'arith.cmpf'{or}"),
    }
}

/// The laws of code on accumulators, then elements, if it only compares and chooses.
pub fn laws(operator: &Region, from: &[Option<Scalar>]) -> Option<Chosen> {
    let code = code_of(operator)?;
    let choice = Choice::new(&code)?;
    let given = Given {
        numbers: has_numbers_only(operator),
        starts: &starts(from),
    };
    let numbers = Given {
        numbers: true,
        ..given
    };
    let decision = choice.decide(given);
    let start: Option<Vec<Scalar>> = from.iter().copied().collect();
    let from_neutral = start.is_some_and(|start| choice.is_neutral(&start, given));
    let between_numbers = choice.decide(numbers);
    let Decision { instead, .. } = decision;
    Some(Chosen {
        associative: match decision.associative {
            None => Law::Holds,
            Some(found) if between_numbers.associative.is_none() => {
                let operation = choice.operation(numbers).map(|(op, _)| op.name());
                Law::Broken(between_numbers_only(&found, operation))
            }
            Some(found) => Law::Broken(Broken {
                rule: format!(
                    "its body chooses by an operator that is not associative, {}",
                    found.example()
                ),
                expected: "expected one whose parts can be combined, such as the first of the best"
                    .into(),
            }),
        },
        commutative: match decision.commutative {
            None => Law::Holds,
            Some(found) => Law::Broken(Broken {
                rule: format!(
                    "its body accumulates over several loops by an operator that is not commutative, {}",
                    found.example()
                ),
                expected: match between_numbers.commutative {
                    None => "expected 'fastmath<nnan>' on each 'arith.cmpf', where all are numbers",
                    Some(_) => {
                        "expected one loop, or that what is chosen does not depend on the order"
                    }
                }
                .into(),
            }),
        },
        instead,
        from_neutral,
    })
}

/// The laws of code that is made of an operator's own, of which these are known: between numbers, where the
/// operator has none but numbers to choose from.
pub fn laws_between(
    code: &Region,
    own: &Region,
    (chosen, from): (&Chosen, &[Option<Scalar>]),
) -> Option<Decision> {
    let code = code_of(code)?;
    let mut floats = (0..from.len()).filter(|n| code.inputs[*n].is_float());
    let numbers = match chosen.instead {
        // What is none has been replaced by a number, but for what is there before.
        Some((n, _)) => {
            let only = floats.next() == Some(n) && floats.next().is_none();
            (only && starts(from)[n]).then_some(true)?
        }
        None => has_numbers_only(own),
    };
    let given = Given {
        numbers,
        starts: &starts(from),
    };
    Some(Choice::new(&code)?.decide(given)).filter(|laws| laws.instead.is_none())
}

/// A value, or where it is no number another one.
pub fn number<'c>(builder: &mut Builder<'c>, value: Val<'c>, instead: f64) -> Val<'c> {
    let Some(ty) = types::scalar_type(value.r#type()).filter(|_| !is_number(value)) else {
        return value;
    };
    let instead = builder.scalar(Scalar::from_f64(ty, instead));
    let is_number = builder.compare_floats(CmpfPredicate::Ord, value, value);
    builder.select(is_number, value, instead)
}

/// Returns whether a value is `ord(v, v) ? v : c` for a constant `c`: a number, as this makes it.
fn is_number(value: Val) -> bool {
    let select = ir::defining_op(value).filter(|op| ir::name_of(*op) == ops::arith::SELECT);
    let parts = select.and_then(|op| {
        let [by, chosen, other] = [0, 1, 2].map(|n| ir::operand(op, n));
        Some((ir::defining_op(by?)?, chosen?, ir::defining_op(other?)?))
    });
    parts.is_some_and(|(by, chosen, other)| {
        let number = ir::attribute(other, "value").and_then(types::scalar);
        let is_ordered = ir::name_of(by) == ops::arith::CMPF
            && ir::attribute(by, "predicate").is_some_and(|p| p.to_string().starts_with("7 "));
        is_ordered
            && [0, 1].iter().all(|n| ir::operand(by, *n) == Some(chosen))
            && ir::name_of(other) == ops::arith::CONSTANT
            && number.is_some_and(|number| !number.as_f64().is_nan())
    })
}
