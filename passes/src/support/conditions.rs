//! Affine conditions of scalar functions, as bounds of loops: indices of a dimension at which no condition
//! holds, at any point of a box, contribute nothing ([`mdh_algebra::support`]).

use std::collections::HashMap;

use mdh_algebra::computation::Computation;
use mdh_algebra::scalar::Scalar;
use mdh_algebra::support::{Condition, Support};
use mdh_dialect::code;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::translate::{self, Depth};
use mdh_dialect::types;
use melior::ir::{RegionRef, ValueLike};

use crate::support::builder::{Builder, known};
use crate::support::inline::key;
use crate::support::region;

/// The conditions of one computation.
#[derive(Clone, Debug, Default)]
pub struct Conditions {
    support: Support,
    /// Comparisons by their number in the scalar function, and what they are where all conditions hold.
    decided: Vec<(usize, bool)>,
}

/// Points of a box that conditions are asked of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Points {
    /// The conditions can hold at one of them.
    Any,
    /// They hold at all of them.
    All,
}

/// Gives the first and the last index of a box in a dimension.
pub type Ends<'c, 'e> = &'e mut dyn FnMut(&mut Builder<'c>, usize) -> [Val<'c>; 2];

impl Conditions {
    /// The conditions of an `mdh.compute`.
    pub fn new(op: Op) -> Conditions {
        let region = ir::region(op, 0);
        let asks = |op: &Op| ir::name_of(*op) == ops::mdh::INDEX;
        if !region::operations_of(region).iter().any(asks) {
            return Conditions::default();
        }
        let whole = translate::compute(op, Depth::Signatures);
        let code = code::with_registers(region, "the scalar function");
        let (Ok(computation), Ok((scalar, registers))) = (whole, code) else {
            return Conditions::default();
        };
        let support = Support::new(&Computation {
            scalar,
            ..computation
        });
        let truths: HashMap<usize, bool> = support.decided.iter().copied().collect();
        let decided = comparisons(region).into_iter().enumerate();
        let decided = decided.filter_map(|(n, value)| {
            let register = registers.get(&key(value))?;
            Some((n, *truths.get(register)?))
        });
        Conditions {
            decided: decided.collect(),
            support,
        }
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.support.is_everything()
    }

    /// Returns whether the index of a dimension decides.
    pub fn depend_on(&self, d: usize) -> bool {
        self.support.dimensions().any(|own| own == d)
    }

    /// From the first index of a dimension to one past the last, within bounds, at which points of a box
    /// meet the conditions; `ends` gives the first and the last index of the box in the other dimensions.
    pub fn bounds<'c>(
        &self,
        builder: &mut Builder<'c>,
        d: usize,
        [mut lower, mut upper]: [Val<'c>; 2],
        points: Points,
        ends: Ends<'c, '_>,
    ) -> [Val<'c>; 2] {
        let least = lower;
        for condition in &self.support.conditions {
            let rest = rest(builder, condition, Some(d), points, ends);
            let factor = condition.coefficient(d);
            let by = builder.index(factor.abs());
            let zero = builder.index(0);
            if factor > 0 {
                let negative = builder.binary(ops::arith::SUBI, zero, rest);
                let first = builder.binary(ops::arith::CEILDIVSI, negative, by);
                lower = builder.binary(ops::arith::MAXSI, lower, first);
            } else if factor < 0 {
                let last = match factor {
                    -1 => rest,
                    _ => builder.binary(ops::arith::FLOORDIVSI, rest, by),
                };
                let unit = builder.index(1);
                let end = builder.binary(ops::arith::ADDI, last, unit);
                upper = builder.binary(ops::arith::MINSI, upper, end);
            } else if known(rest).is_none_or(|rest| rest < 0) {
                let holds = builder.compare("sge", rest, zero);
                upper = builder.select(holds, upper, least);
            }
        }
        [lower, upper]
    }

    /// Returns whether all conditions hold at all points of a box.
    pub fn hold<'c>(&self, builder: &mut Builder<'c>, ends: Ends<'c, '_>) -> Val<'c> {
        let mut conjunction = builder.boolean(true);
        for condition in &self.support.conditions {
            let value = rest(builder, condition, None, Points::All, ends);
            let zero = builder.index(0);
            let holds = builder.compare("sge", value, zero);
            conjunction = builder.binary(ops::arith::ANDI, conjunction, holds);
        }
        conjunction
    }

    /// Makes the scalar function of an operation one for points at which all conditions hold: canonicalization
    /// folds what they decide.
    pub fn assume(&self, op: Op) {
        let region = ir::region(op, 0);
        let known = comparisons(region);
        let block = region::block_of(region);
        for (n, truth) in &self.decided {
            let Some(value) = known.get(*n) else { continue };
            let attribute = types::attribute(ir::context_of(op), Scalar::from_bool(*truth));
            let constant = region::constant(block, attribute, value.r#type());
            region::replace_all_uses(*value, constant);
        }
    }
}

/// The least value that a condition has at points of a box, or the greatest if it is asked of any; without a
/// dimension.
fn rest<'c>(
    builder: &mut Builder<'c>,
    condition: &Condition,
    without: Option<usize>,
    points: Points,
    ends: Ends<'c, '_>,
) -> Val<'c> {
    let mut rest = builder.index(condition.constant);
    for (d, factor) in condition.terms().filter(|(d, _)| Some(*d) != without) {
        let [first, last] = ends(builder, d);
        let end = match (factor > 0) == (points == Points::Any) {
            true => last,
            false => first,
        };
        let factor = builder.index(factor);
        let part = builder.binary(ops::arith::MULI, end, factor);
        rest = builder.binary(ops::arith::ADDI, rest, part);
    }
    rest
}

/// The comparisons of integers in scalar code, in order.
fn comparisons<'c>(region: RegionRef<'c, 'c>) -> Vec<Val<'c>> {
    let comparisons = region::operations_of(region).into_iter();
    let comparisons = comparisons.filter(|op| ir::name_of(*op) == ops::arith::CMPI);
    comparisons.filter_map(|op| ir::result(op, 0)).collect()
}
