//! Accumulation by comparison and selection: minima, maxima, and the first of the best tuples.
//!
//! `acc' = e > acc ? e : acc` passes over elements that are no numbers, and keeps an accumulator
//! that is none. With such elements for -inf, which is never greater, this is `maximumf(acc, e)`;
//! which of two zeros it is linalg leaves open, as it does the order. The other way round,
//! `acc > e ? acc : e`, one that is no number would replace what was found before it: then parts
//! cannot be combined, unless the comparison says that there are none.

use mdh_algebra::op::CmpfPredicate;
use mdh_algebra::operator::Builtin;
use mdh_algebra::scalar::Scalar;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::types;
use melior::ir::ValueLike;
use melior::ir::operation::OperationLike;

use crate::builder::Builder;

/// Elements that may be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// All of them: integers, or floats of which each is a number.
    Any,
    /// Numbers, of which the least one is chosen.
    Least,
    /// Numbers, of which the greatest one is chosen.
    Greatest,
}

/// An order by which two values are compared.
#[derive(Clone, Copy)]
struct Order {
    is_greater: bool,
    /// Equal values are in this order, too.
    with_equal: bool,
    /// Of integers: signed ones; of floats: no value that is no number is in it.
    is_signed: bool,
}

fn order(op: Op) -> Option<Order> {
    let number = ir::attribute(op, "predicate")?.to_string();
    let number: i64 = number.split(' ').next()?.parse().ok()?;
    // eq, ne, slt, sle, sgt, sge, ult, ule, ugt, uge
    // false, oeq, ogt, oge, olt, ole, one, ord, ueq, ugt, uge, ult, ule, une, uno, true
    let (is_greater, with_equal, is_signed) = match (ir::name_of(op), number) {
        (ops::arith::CMPI, 2..=9) => (matches!(number, 4 | 5 | 8 | 9), number % 2 == 1, number < 6),
        (ops::arith::CMPF, 2..=5 | 9..=12) => (
            matches!(number, 2 | 3 | 9 | 10),
            matches!(number, 3 | 5 | 10 | 12),
            number < 6,
        ),
        _ => return None,
    };
    Some(Order {
        is_greater,
        with_equal,
        is_signed,
    })
}

/// The way in which one of two values is chosen: by an order, as it is or the other way round.
struct Choice {
    order: Order,
    /// The greater one is chosen.
    takes_greater: bool,
    /// An element that is no number leaves the accumulator.
    skips: bool,
    /// One that equals the accumulator does.
    keeps_first: bool,
}

/// Reads `select(compared(left, right), a, b)`; `is_element` says of `a` and `left` whether it is the
/// element.
fn choice(compared: Op, is_element: bool, is_left: bool) -> Option<Choice> {
    let order = order(compared)?;
    let is_float = ir::name_of(compared) == ops::arith::CMPF;
    // Whether the comparison holds where one side is no number, and where both are equal.
    let of_unordered = is_float && !order.is_signed;
    Some(Choice {
        order,
        takes_greater: order.is_greater == (is_left == is_element),
        skips: !is_float || of_unordered != is_element || has_numbers_only(compared),
        keeps_first: order.with_equal != is_element,
    })
}

/// Returns whether an operation declares that its operands are numbers.
fn has_numbers_only(op: Op) -> bool {
    let flags = ir::attribute(op, "fastmath").map(|flags| flags.to_string());
    flags.is_some_and(|flags| flags.contains("nnan") || flags.contains("fast<fast>"))
}

fn kind(choice: &Choice, compared: Op) -> Kind {
    let is_float = ir::name_of(compared) == ops::arith::CMPF && !has_numbers_only(compared);
    match (is_float, choice.takes_greater) {
        (false, _) => Kind::Any,
        (true, true) => Kind::Greatest,
        (true, false) => Kind::Least,
    }
}

/// The minimum or maximum that a selection makes of an accumulator and an element.
pub fn of_one<'c>(
    at: Val<'c>,
    select: Op<'c>,
    users: &[Op<'c>],
) -> Option<(Builtin, Kind, Val<'c>)> {
    let [by, a, b] = [0, 1, 2].map(|n| ir::operand(select, n));
    let (by, a, b) = (by?, a?, b?);
    let compared = ir::defining_op(by)?;
    let [left, right] = [0, 1].map(|n| ir::operand(compared, n));
    let (left, right) = (left?, right?);
    let is_both = (left == a && right == b) || (left == b && right == a);
    let uses = users.iter().all(|op| *op == select || *op == compared);
    if !is_both || !uses || a == b || ir::users(by).len() != 1 {
        return None;
    }
    let choice = choice(compared, a != at, left != at).filter(|choice| choice.skips)?;
    let element = if a == at { b } else { a };
    let operator = extremum(&choice, compared);
    Some((operator, kind(&choice, compared), element))
}

/// The minimum or maximum that a choice between numbers is.
fn extremum(choice: &Choice, compared: Op) -> Builtin {
    let is_float = ir::name_of(compared) == ops::arith::CMPF;
    match (is_float, choice.takes_greater, choice.order.is_signed) {
        (true, true, _) => Builtin::Maximumf,
        (true, false, _) => Builtin::Minimumf,
        (false, true, true) => Builtin::Maxsi,
        (false, false, true) => Builtin::Minsi,
        (false, true, false) => Builtin::Maxui,
        (false, false, false) => Builtin::Minui,
    }
}

/// The minimum or maximum of two values that an operation is.
fn extremum_of(op: Op, both: [Val; 2]) -> Option<Builtin> {
    let operands: Vec<Val> = op.operands().map(ir::value).collect();
    let is_of_both = operands == both || operands == [both[1], both[0]];
    let builtin = ir::name_of(op).strip_prefix("arith.");
    builtin.and_then(Builtin::parse).filter(|_| is_of_both)
}

/// The component by which an operator takes one of two tuples as it is: the first or last of the best
/// ones, in whatever way it is cut. That component itself may be a minimum or maximum: where an element is
/// no number, it is the result, and what is chosen beside it depends on the order, which linalg leaves open.
pub fn of_tuples<'c>(
    merging: &[Op<'c>],
    yields: &[Val<'c>],
    accumulators: &[Val<'c>],
    elements: &[Val<'c>],
) -> Option<(usize, Kind)> {
    let mut condition = None;
    let mut best = None;
    for (n, yielded) in yields.iter().enumerate() {
        let op = ir::defining_op(*yielded)?;
        let operands: Vec<Val> = op.operands().map(ir::value).collect();
        let both = [accumulators[n], elements[n]];
        if let Some(builtin) = extremum_of(op, both).filter(|_| best.is_none()) {
            best = Some((n, builtin));
            continue;
        }
        let [by, a, b] = operands[..] else {
            return None;
        };
        let is_one = ir::name_of(op) == ops::arith::SELECT
            && (both == [a, b] || both == [b, a])
            && condition
                .is_none_or(|(before, is_first)| before == by && is_first == (a == both[0]));
        if !is_one {
            return None;
        }
        condition = Some((by, a == both[0]));
    }
    let (by, is_accumulator) = condition?;
    let by = ir::defining_op(by)?;
    let (compared, kept) = guarded(by).unwrap_or((by, None));
    let sides: Vec<Val> = compared.operands().map(ir::value).collect();
    let component = (0..accumulators.len()).find(|n| {
        let pair = [accumulators[*n], elements[*n]];
        sides == pair || sides == [pair[1], pair[0]]
    })?;
    let choice = choice(compared, !is_accumulator, sides[0] == elements[component])?;
    if let Some(best) = best {
        let is_it = best == (component, extremum(&choice, compared));
        let is_plain = kept.is_none() && merging.len() == yields.len() + 1;
        return (is_it && is_plain && choice.skips).then_some((component, Kind::Any));
    }
    let kind = match kept {
        // The first one that is no number is the best of all.
        Some(kept) if kept == accumulators[component] && !choice.skips && !is_accumulator => {
            Kind::Any
        }
        Some(_) => return None,
        None => kind(&choice, compared),
    };
    // What stands for an element that is no number must not be chosen among its equals.
    let is_exact = kind == Kind::Any || choice.skips && choice.keeps_first;
    let conditions = if kept.is_some() { 3 } else { 1 };
    (is_exact && merging.len() == yields.len() + conditions).then_some((component, kind))
}

/// The rule of a choice between tuples that is associative between numbers only.
pub fn unordered<'c>(
    merging: &[Op<'c>],
    yields: &[Val<'c>],
    accumulators: &[Val<'c>],
    elements: &[Val<'c>],
) -> Option<String> {
    let compared = merging
        .iter()
        .find(|op| ir::name_of(**op) == ops::arith::CMPF)?;
    let order = order(*compared).filter(|_| !has_numbers_only(*compared))?;
    let by = ir::result(*compared, 0)?;
    let pair = |n: usize| [accumulators[n], elements[n]];
    let is_of = |found: &[Val<'c>], [a, b]: [Val<'c>; 2]| found == [a, b] || found == [b, a];
    let sides: Vec<Val> = compared.operands().map(ir::value).collect();
    let component = (0..accumulators.len()).find(|n| is_of(&sides, pair(*n)))?;
    let is_chosen = |n: usize| {
        let select = ir::defining_op(yields[n])?;
        let operands: Vec<Val> = select.operands().map(ir::value).collect();
        let is_it = ir::name_of(select) == ops::arith::SELECT && operands[0] == by;
        (is_it && is_of(&operands[1..], pair(n))).then(|| operands[1] == accumulators[n])
    };
    let is_first = is_chosen(component)?;
    if !(0..yields.len()).all(|n| is_chosen(n) == Some(is_first)) {
        return None;
    }
    let takes_greater = order.is_greater == ((sides[0] == accumulators[component]) == is_first);
    let kind = if takes_greater { "max" } else { "min" };
    let or = match yields.len() {
        1 => format!(", or take 'arith.{kind}imumf' or 'arith.{kind}numf'"),
        _ => String::new(),
    };
    Some(format!(
        "its body chooses by comparing floats in a way that is not associative where one is no number: \
         where all are numbers, put 'fastmath<nnan>' on the 'arith.cmpf'{or}"
    ))
}

/// The comparison of a condition that holds only where a value is a number, and that value:
/// `compared(..) and ord(v, v)`.
fn guarded<'c>(by: Op<'c>) -> Option<(Op<'c>, Option<Val<'c>>)> {
    if ir::name_of(by) != ops::arith::ANDI {
        return None;
    }
    let [a, b] = [0, 1].map(|n| ir::operand(by, n).and_then(ir::defining_op));
    let (a, b) = (a?, b?);
    let is_number = |op: Op<'c>| {
        let predicate = ir::attribute(op, "predicate").map(|p| p.to_string());
        let is_ordered = predicate.is_some_and(|text| text.starts_with("7 "));
        let value = ir::operand(op, 0).filter(|v| ir::operand(op, 1) == Some(*v));
        value.filter(|_| is_ordered && ir::name_of(op) == ops::arith::CMPF)
    };
    match (is_number(a), is_number(b)) {
        (None, Some(value)) => Some((a, Some(value))),
        (Some(value), None) => Some((b, Some(value))),
        _ => None,
    }
}

/// A value, or where it is no number one that is never chosen.
pub fn number<'c>(builder: &mut Builder<'c>, value: Val<'c>, kind: Kind) -> Val<'c> {
    let Some(ty) = types::scalar_type(value.r#type()) else {
        return value;
    };
    let worst = match kind {
        Kind::Any => return value,
        Kind::Least => f64::INFINITY,
        Kind::Greatest => f64::NEG_INFINITY,
    };
    if is_number(value) {
        return value;
    }
    let worst = builder.scalar(Scalar::from_f64(ty, worst));
    let is_number = builder.compare_floats(CmpfPredicate::Ord, value, value);
    builder.select(is_number, value, worst)
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
