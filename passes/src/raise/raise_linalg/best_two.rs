//! The best two by comparison and selection, with their places or without: accumulators that meet one element.
//!
//! ```text
//! (v, w), e  becomes  e > v ? (e, v) : (v, e > w ? e : w)
//! ```
//!
//! and places go the way of their values. In whatever way that is written, the algebra decides whether a body
//! does it. An element is the part `(e, least)`, where `least` is never greater than another number, and two
//! parts, of which the second is in order, make
//!
//! ```text
//! (v, w) + (c, d)  =  c > v ? (c, d > v ? d : v) : (v, c > w ? c : w)
//! ```
//!
//! which is what the loops make one after the other, the order of equal ones included, if both are in order. Those
//! that are not are put into it, so that the law holds for all; what accumulators start from has to be in order,
//! since the loops would drop the better one.
//! What is no number is never greater, and passed over; where the comparison chooses it, it has to declare that
//! there is none. The other form is
//!
//! ```text
//! (v, w), e  becomes  (e > v ? e : v, max(e > v ? v : e, w))
//! ```

use mdh_algebra::choice::{Among, are_same};
use mdh_algebra::op::CmpfPredicate;
use mdh_algebra::operator::Builtin;
use mdh_algebra::scalar::ScalarType;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::types;
use melior::ir::operation::OperationLike;
use melior::ir::{Region, ValueLike};

use super::accumulate::Body;
use super::operators::{
    Broken, Law, Own, as_code, constant, dependent, key, taken, taking, tuples,
};
use super::selection::{code_of, has_numbers_only, number};
use crate::support::builder::Builder;
use crate::support::region;

/// The accumulators and what they meet.
#[derive(Clone)]
struct Roles<'c> {
    /// The numbers of the best accumulator and of the second best one.
    values: [usize; 2],
    /// Those of their places, if there are any.
    places: Option<[usize; 2]>,
    /// The element, then its place, if it has one, then the condition under which it counts, if there is one.
    met: Vec<Val<'c>>,
    has_mask: bool,
}

/// One of the ways in which the best two are written.
#[derive(Clone, Copy)]
struct Way {
    best: Builtin,
    /// The second form.
    by_maxima: bool,
}

/// Knowledge of the order of parts.
#[derive(Clone, Copy, PartialEq)]
enum Order {
    /// All are in order: those that are not may be put into it.
    Kept,
    /// The accumulators may start with the best one behind.
    Open,
}

/// A body that takes the best two.
struct Found<'c> {
    roles: Roles<'c>,
    way: Way,
    order: Order,
    law: Law,
    /// True if an element that is no number is passed over.
    passes_over: bool,
}

impl<'c> Body<'_, 'c> {
    /// The operator on parts, if the accumulators are the best two, or these and their places.
    pub fn best_two(&mut self) -> Option<Own<'c>> {
        if ![2, 4].contains(&self.accumulators.len()) {
            return None;
        }
        let plain = self.merging(Vec::new());
        let masks = self.masked_elements(&plain);
        let best = self.found(&plain);
        let best = best.or_else(|| self.found(&self.merging(masks)))?;
        let (roles, way) = (&best.roles, best.way);
        let element = *roles.met.first()?;
        let ty = types::scalar_type(element.r#type())?;
        let least = way.best.neutral(ty)?;
        let mut builder = Builder::before(region::terminator(self.block));
        let worst = builder.scalar(least);
        let mut candidate = match roles.has_mask {
            true => builder.select(*roles.met.last()?, element, worst),
            false => element,
        };
        if best.passes_over && ty.is_float() {
            candidate = number(&mut builder, candidate, least.as_f64());
        }
        self.yields[roles.values[0]] = candidate;
        self.yields[roles.values[1]] = worst;
        for place in roles.places.iter().flatten() {
            self.yields[*place] = roles.met[1];
        }
        Some(Own {
            code: self.of_best(roles, way, best.order),
            name: "best".into(),
            associative: best.law,
            commutative: match way.by_maxima {
                true => Law::Holds,
                // Of equal ones the first stays.
                false => Law::Open,
            },
            from_neutral: false,
        })
    }

    /// The operations that depend on accumulators, and others.
    fn merging(&self, others: Vec<Op<'c>>) -> Vec<Op<'c>> {
        let dependent = dependent(self.block, self.accumulators);
        let mut ops = ir::ops_of(self.block);
        ops.pop();
        let is_own = |op: &Op| op.results().any(|r| dependent.contains(&key(ir::value(r))));
        ops.retain(|op| is_own(op) || others.contains(op));
        ops
    }

    /// Elements under a condition, as [`super::masked_choices`] makes them.
    fn masked_elements(&self, merging: &[Op<'c>]) -> Vec<Op<'c>> {
        let dependent = dependent(self.block, self.accumulators);
        let met = taken(merging, &dependent).into_iter();
        let is_masked = |op: &Op<'c>| {
            ir::name_of(*op) == ops::arith::SELECT
                && ir::operand(*op, 2).is_some_and(|other| constant(other).is_some())
        };
        let masked = met.filter_map(ir::defining_op).filter(is_masked);
        let ops = ir::ops_of(self.block);
        masked.filter(|op| ops.contains(op)).collect()
    }

    fn found(&self, merging: &[Op<'c>]) -> Option<Found<'c>> {
        let all_roles = self.roles(merging);
        let mut fitting = all_roles.into_iter().flat_map(|roles| {
            let mut ways = ways(roles.met[0]);
            ways.retain(|way| roles.places.is_none() || !way.by_maxima);
            let both = ways.into_iter().map(|way| (roles.clone(), way));
            both.collect::<Vec<_>>()
        });
        fitting.find_map(|(roles, way)| self.is_best(merging, roles, way))
    }

    /// The roles that accumulators and other values may have.
    fn roles(&self, merging: &[Op<'c>]) -> Vec<Roles<'c>> {
        let dependent = dependent(self.block, self.accumulators);
        let is_truth = |v: &Val| types::scalar_type(v.r#type()) == Some(ScalarType::I1);
        let (masks, met): (Vec<Val>, Vec<Val>) =
            taken(merging, &dependent).into_iter().partition(is_truth);
        let inside: Vec<Op> = merging.iter().flat_map(|op| ir::all(*op)).collect();
        let is_compared = |n: &usize| {
            inside.iter().any(|op| {
                [ops::arith::CMPF, ops::arith::CMPI].contains(&ir::name_of(*op))
                    && op.operands().any(|v| ir::value(v) == self.accumulators[*n])
            })
        };
        let count = self.accumulators.len();
        let (values, places): (Vec<usize>, Vec<usize>) = (0..count).partition(is_compared);
        let ([a, b], [first, rest @ ..]) = (&values[..], &met[..]) else {
            return Vec::new();
        };
        if masks.len() > 1 || rest.len() > 1 || rest.len() * 2 != places.len() {
            return Vec::new();
        }
        let orders = rest.iter().map(|second| vec![*second, *first]);
        let orders: Vec<Vec<Val>> = orders.chain([met.clone()]).collect();
        let mut steps = Vec::new();
        for values in [[*a, *b], [*b, *a]] {
            for own in &orders {
                for places in paired(&places) {
                    let roles = Roles {
                        values,
                        places,
                        met: own.iter().chain(&masks).copied().collect(),
                        has_mask: !masks.is_empty(),
                    };
                    let fits =
                        |n: &usize, met: usize| self.accumulators[*n].r#type() == own[met].r#type();
                    let mut of_place = places.iter().flatten();
                    if values.iter().all(|n| fits(n, 0)) && of_place.all(|n| fits(n, 1)) {
                        steps.push(roles);
                    }
                }
            }
        }
        steps
    }

    /// Asks the algebra whether the body does what it does to the best two.
    fn is_best(&self, merging: &[Op<'c>], roles: Roles<'c>, way: Way) -> Option<Found<'c>> {
        let outside = [self.accumulators, &roles.met[..]].concat();
        let body = as_code(merging, taking(&outside), &outside, &self.yields)?;
        let step = self.step_of(&roles, way, &outside);
        let (own, wanted) = (code_of(&body)?, code_of(&step)?);
        let count = self.accumulators.len();
        let class = |n: usize| match (&roles.places, n.checked_sub(count)) {
            (Some(places), None) => usize::from(places.contains(&n)),
            (_, met) => usize::from(met == Some(1)),
        };
        let classes: Vec<usize> = (0..outside.len()).map(class).collect();
        let same = |among| are_same(&own, &wanted, &classes, among);
        let is_open = same(Among::All);
        if !is_open && !same(Among::Numbers) {
            return None;
        }
        let is_declared = has_numbers_only(&body);
        let order = match way.by_maxima || self.start_in_order(&roles, way) {
            true => Order::Kept,
            false => Order::Open,
        };
        Some(Found {
            roles,
            way,
            order,
            law: match (is_open || is_declared, order) {
                (false, _) => between_numbers(),
                (true, Order::Open) => from_order(),
                (true, Order::Kept) => Law::Holds,
            },
            passes_over: !is_declared,
        })
    }

    /// Returns whether accumulators start from numbers of which the first is as good as the second.
    fn start_in_order(&self, roles: &Roles, way: Way) -> bool {
        let [Some(first), Some(second)] = roles.values.map(|n| self.starts[n]) else {
            return false;
        };
        let best = way.best.op().apply(&[first, second], first.ty);
        !first.is_nan() && best.is_ok_and(|best| best.same_value(first))
    }

    /// Code that takes one element, on accumulators and what they meet.
    fn step_of(&self, roles: &Roles<'c>, way: Way, outside: &[Val<'c>]) -> Region<'c> {
        let (code, given) = taking(outside);
        let (block, last) = (region::block(&code), region::terminator(self.block));
        let builder = &mut Builder::before(last).at_end(block);
        let met = &given[self.accumulators.len()..];
        let mask = met.last().copied().filter(|_| roles.has_mask);
        let [v, w] = roles.values.map(|n| given[n]);
        let is_better = |builder: &mut Builder<'c>, x: Val<'c>, y: Val<'c>| {
            let better = way.compare(builder, x, y);
            mask.map_or(better, |mask| {
                builder.binary(ops::arith::ANDI, better, mask)
            })
        };
        let is_first = is_better(builder, met[0], v);
        let mut results = given[..self.accumulators.len()].to_vec();
        results[roles.values[0]] = builder.select(is_first, met[0], v);
        if way.by_maxima {
            let lower = builder.select(is_first, v, met[0]);
            let is_second = is_better(builder, lower, w);
            results[roles.values[1]] = builder.select(is_second, lower, w);
        } else {
            let is_second = is_better(builder, met[0], w);
            let second = builder.select(is_second, met[0], w);
            results[roles.values[1]] = builder.select(is_first, v, second);
            if let Some([first, second]) = roles.places {
                let (i, j) = (given[first], given[second]);
                let other_place = builder.select(is_second, met[1], j);
                results[first] = builder.select(is_first, met[1], i);
                results[second] = builder.select(is_first, i, other_place);
            }
        }
        region::yield_from(block, last.location(), &results);
        code
    }

    /// The code that makes one part of two.
    fn of_best(&self, roles: &Roles<'c>, way: Way, order: Order) -> Region<'c> {
        let (code, mut given) = tuples(self.accumulators);
        let (block, last) = (region::block(&code), region::terminator(self.block));
        let builder = &mut Builder::before(last).at_end(block);
        let count = self.accumulators.len();
        if order == Order::Kept && !way.by_maxima {
            for part in given.chunks_mut(count) {
                put_in_order(builder, roles, way, part);
            }
        }
        let [v, w] = roles.values.map(|n| given[n]);
        let [c, d] = roles.values.map(|n| given[n + count]);
        let mut results = given[..count].to_vec();
        let is_first = way.compare(builder, c, v);
        results[roles.values[0]] = builder.select(is_first, c, v);
        if way.by_maxima {
            let lower = builder.select(is_first, v, c);
            let is_second = way.compare(builder, d, w);
            let second = builder.select(is_second, d, w);
            let is_lower = way.compare(builder, lower, second);
            results[roles.values[1]] = builder.select(is_lower, lower, second);
        } else {
            let [both, one] = [(d, v), (c, w)].map(|(x, y)| way.compare(builder, x, y));
            let mut choose = |[a, b]: [Val<'c>; 2], [x, y]: [Val<'c>; 2]| {
                let beside = builder.select(both, y, a);
                let behind = builder.select(one, x, b);
                builder.select(is_first, beside, behind)
            };
            results[roles.values[1]] = choose([v, w], [c, d]);
            if let Some(places) = roles.places {
                let values = places.map(|n| given[n]);
                let other = places.map(|n| given[n + count]);
                results[places[1]] = choose(values, other);
                results[places[0]] = builder.select(is_first, other[0], values[0]);
            }
        }
        region::yield_from(block, last.location(), &results);
        code
    }
}

/// Puts the best of a part first, if it is not: then the operator is associative on all tuples.
fn put_in_order<'c>(builder: &mut Builder<'c>, roles: &Roles<'c>, way: Way, part: &mut [Val<'c>]) {
    let [v, w] = roles.values.map(|n| part[n]);
    let is_behind = way.compare(builder, w, v);
    for [a, b] in [Some(roles.values), roles.places].into_iter().flatten() {
        let both = [part[a], part[b]];
        part[a] = builder.select(is_behind, both[1], both[0]);
        part[b] = builder.select(is_behind, both[0], both[1]);
    }
}

impl Way {
    /// `x` better than `y`.
    fn compare<'c>(self, builder: &mut Builder<'c>, x: Val<'c>, y: Val<'c>) -> Val<'c> {
        match self.best {
            Builtin::Maximumf => builder.compare_floats(CmpfPredicate::Ogt, x, y),
            Builtin::Minimumf => builder.compare_floats(CmpfPredicate::Olt, x, y),
            Builtin::Maxsi => builder.compare("sgt", x, y),
            Builtin::Minsi => builder.compare("slt", x, y),
            Builtin::Maxui => builder.compare("ugt", x, y),
            _ => builder.compare("ult", x, y),
        }
    }
}

/// The ways in which elements of a type may be the best.
fn ways(element: Val) -> Vec<Way> {
    let is_float = types::scalar_type(element.r#type()).is_some_and(|ty| ty.is_float());
    let best: &[Builtin] = match is_float {
        true => &[Builtin::Maximumf, Builtin::Minimumf],
        false => &[
            Builtin::Maxsi,
            Builtin::Minsi,
            Builtin::Maxui,
            Builtin::Minui,
        ],
    };
    let both = [false, true].into_iter();
    both.flat_map(|by_maxima| {
        best.iter().map(move |best| Way {
            best: *best,
            by_maxima,
        })
    })
    .collect()
}

/// The places of the best one and of the second best one.
fn paired(places: &[usize]) -> Vec<Option<[usize; 2]>> {
    match places {
        [a, b] => vec![Some([*a, *b]), Some([*b, *a])],
        _ => vec![None],
    }
}

/// The law that holds where accumulators start in order.
fn from_order() -> Law {
    Law::Broken(Broken {
        rule: "its body takes the best two, of which what is there before may have the best one behind".into(),
        expected: "expected both to start from a number, as 'linalg.fill' gives them, or 'mdh.associative' on the \
                   operation"
            .into(),
    })
}

/// The law that holds where all elements are numbers.
fn between_numbers() -> Law {
    Law::Broken(Broken {
        rule: "its body takes the best two by comparing floats in a way that chooses what is no number".into(),
        expected: "where all are numbers, put 'fastmath<nnan>' on each 'arith.cmpf', or 'mdh.associative' on \
                   the operation"
            .into(),
    })
}
