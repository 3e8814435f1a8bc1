//! Combine operators on tuples whose components may have lanes, and which may be absent.

use mdh_algebra::operator::Operator;
use mdh_dialect::ir::{self, Val};
use mdh_dialect::ops;
use melior::ir::attribute::DenseI64ArrayAttribute;
use melior::ir::{Attribute, Type};

use super::lanes::{Lanes, element, is_vector, lifted, select, spread, vector_type};
use crate::llvm::lower_to_loops::fold::{Fold, Partial};
use crate::support::builder::Builder;

/// The operator's function in a leaf.
pub struct Combiner<'c, 'p> {
    /// The operator, and what is there before anything is combined.
    pub fold: Fold<'c, 'p>,
    /// Number of lanes of vectors.
    pub lanes: i64,
}

impl<'c> Combiner<'c, '_> {
    /// The tuple before anything has been combined, in every lane if it has lanes.
    pub fn nothing(&self, builder: &mut Builder<'c>, has_lanes: bool) -> Partial<'c> {
        let mut nothing = self.fold.nothing(builder);
        if has_lanes {
            for value in nothing.values.iter_mut().chain(&mut nothing.valid) {
                *value = spread(builder, *value, self.lanes);
            }
        }
        nothing
    }

    /// `f(left, right)`.
    pub fn apply(
        &self,
        builder: &mut Builder<'c>,
        left: &[Val<'c>],
        right: &[Val<'c>],
    ) -> Vec<Val<'c>> {
        let Some(Operator::Builtin(operators)) = self.fold.computation.operators.first() else {
            let code = Lanes {
                count: self.lanes,
                point: &[],
                present: None,
                contract: false,
            };
            let arguments: Vec<Val> = left.iter().chain(right).copied().collect();
            return code.inline(builder, ir::region(self.fold.op, 1), &arguments);
        };
        let mut results = Vec::new();
        for ((a, b), operator) in left.iter().zip(right).zip(operators) {
            let name = format!("arith.{}", operator.name());
            let ty = element(*a);
            let mut attributes = Vec::new();
            if matches!(operator.name(), "addf" | "mulf") {
                let flags = Attribute::parse(builder.context, "#arith.fastmath<reassoc,contract>");
                attributes.extend(flags.map(|flags| ("fastmath", flags)));
            }
            results.extend(lifted(
                builder,
                &name,
                &[*a, *b],
                &[ty],
                &attributes,
                self.lanes,
            ));
        }
        results
    }

    /// `f(left, right)` where either may be absent, lane by lane.
    pub fn combine(
        &self,
        builder: &mut Builder<'c>,
        left: &Partial<'c>,
        right: &Partial<'c>,
    ) -> Partial<'c> {
        let mut values = self.apply(builder, &left.values, &right.values);
        for (n, value) in values.iter_mut().enumerate() {
            if let Some(valid) = left.valid {
                *value = select(builder, valid, *value, right.values[n], self.lanes);
            }
            if let Some(valid) = right.valid {
                *value = select(builder, valid, *value, left.values[n], self.lanes);
            }
        }
        let valid = match (left.valid, right.valid) {
            (Some(a), Some(b)) => {
                let ty = element(a);
                Some(lifted(builder, ops::arith::ORI, &[a, b], &[ty], &[], self.lanes)[0])
            }
            _ => None,
        };
        Partial { values, valid }
    }

    /// Returns whether the order in which tuples are combined is free.
    pub fn is_commutative(&self) -> bool {
        let operator = self.fold.computation.operators.first();
        operator.is_none_or(|operator| operator.is_commutative())
    }

    /// One tuple from those of all lanes: the lower half's with the upper half's where the order
    /// is free, neighbours where it counts.
    ///
    /// Halves are what a machine takes apart at no cost. Sums of neighbours become `vhaddps` on
    /// x86, which has half of the registers and takes them for the loop before it as well.
    pub fn across(&self, builder: &mut Builder<'c>, tuple: &Partial<'c>) -> Partial<'c> {
        let (mut tuple, mut count) = (tuple.clone(), self.lanes);
        let is_free = self.is_commutative();
        while count > 1 {
            let half = count / 2;
            let (stride, second) = if is_free { (1, half) } else { (2, 1) };
            let pick = |builder: &mut Builder<'c>, first: i64| {
                let chosen: Vec<i64> = (0..half).map(|n| stride * n + first).collect();
                map(&tuple, |v| shuffle(builder, v, v, &chosen))
            };
            let halves = Combiner {
                fold: Fold { ..self.fold },
                lanes: half,
            };
            let rest = (count % 2 == 1).then(|| map(&tuple, |v| lane(builder, v, count - 1)));
            let (left, right) = (pick(builder, 0), pick(builder, second));
            tuple = halves.combine(builder, &left, &right);
            if let Some(rest) = rest {
                // An odd number of lanes: the last one joins at the end.
                let first = halves.across(builder, &tuple);
                let scalar = Combiner {
                    fold: Fold { ..self.fold },
                    lanes: 1,
                };
                return scalar.combine(builder, &first, &rest);
            }
            count = half;
        }
        map(&tuple, |v| lane(builder, v, 0))
    }

    /// In each lane the combination of all lanes up to it, in their order.
    pub fn scanned(&self, builder: &mut Builder<'c>, tuple: &Partial<'c>) -> Partial<'c> {
        let (mut tuple, mut distance) = (tuple.clone(), 1);
        while distance < self.lanes {
            let moved: Vec<i64> = (0..self.lanes).map(|n| (n - distance).max(0)).collect();
            let before = map(&tuple, |v| shuffle(builder, v, v, &moved));
            let both = self.combine(builder, &before, &tuple);
            let is_there: Vec<bool> = (0..self.lanes).map(|n| n >= distance).collect();
            let is_there = mask(builder, &is_there);
            let pairs = both.pack().into_iter().zip(tuple.pack());
            let values: Vec<Val> = pairs
                .map(|(new, old)| select(builder, is_there, new, old, self.lanes))
                .collect();
            tuple = tuple.unpack(&values);
            distance *= 2;
        }
        tuple
    }
}

/// Every component of a tuple, and its valid bit, changed in the same way.
pub fn map<'c>(tuple: &Partial<'c>, mut change: impl FnMut(Val<'c>) -> Val<'c>) -> Partial<'c> {
    let packed: Vec<Val> = tuple.pack().into_iter().map(&mut change).collect();
    tuple.unpack(&packed)
}

/// One lane of a vector; a scalar is the same in all.
pub fn lane<'c>(builder: &mut Builder<'c>, value: Val<'c>, number: i64) -> Val<'c> {
    if !is_vector(value) {
        return value;
    }
    let position = DenseI64ArrayAttribute::new(builder.context, &[number]).into();
    let ty = element(value);
    builder.op(
        ops::vector::EXTRACT,
        &[value],
        &[ty],
        &[("static_position", position)],
    )[0]
}

/// The lanes with these numbers, of two vectors one after the other.
pub fn shuffle<'c>(builder: &mut Builder<'c>, a: Val<'c>, b: Val<'c>, chosen: &[i64]) -> Val<'c> {
    let numbers = DenseI64ArrayAttribute::new(builder.context, chosen).into();
    let ty = vector_type(element(a), chosen.len() as i64);
    builder.op(ops::vector::SHUFFLE, &[a, b], &[ty], &[("mask", numbers)])[0]
}

/// A constant mask.
fn mask<'c>(builder: &mut Builder<'c>, lanes: &[bool]) -> Val<'c> {
    let ty = vector_type(
        Type::parse(builder.context, "i1").unwrap_or_else(|| panic!("i1")),
        lanes.len() as i64,
    );
    let bits: Vec<&str> = lanes
        .iter()
        .map(|b| if *b { "true" } else { "false" })
        .collect();
    let text = format!("dense<[{}]> : {ty}", bits.join(", "));
    let attribute = Attribute::parse(builder.context, &text);
    builder.constant(
        attribute.unwrap_or_else(|| panic!("{text} is an attribute")),
        ty,
    )
}
