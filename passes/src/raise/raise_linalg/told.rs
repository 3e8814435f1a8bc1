//! The operator that a program grants laws to, where a body may be split into it and elements in several ways.
//!
//! `acc * -b` is the operator `*` on `-b`, or one on `b` that is no product. A law that is granted holds for
//! one of them, so that `mdh-to-linalg` writes the digest of the operator's code, as raising finds it, on the
//! operation. Whatever has rewritten the body since then: where no split has that digest, nothing is granted.

use mdh_algebra::scalar::Scalar;
use mdh_dialect::code::arguments;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::structured::Structured;
use melior::ir::operation::OperationLike;
use melior::ir::{Region, RegionLike, RegionRef, ValueLike};

use super::accumulate::Body;
use super::combining::{accumulation, start};
use super::operators::{Operator, Own, as_operator, dependent, key, taken};
use super::selection::{self, digest};
use super::tried;
use crate::support::region;

/// Elements are tried in each order, if they are no more than these: some hundred orders.
const ORDERED: usize = 5;

impl<'c> Body<'_, 'c> {
    /// The operator of the split that is wanted, with the elements as `yields`, if there is one.
    pub fn as_told(&mut self) -> Option<Own<'c>> {
        let wanted = self.wanted?;
        let on = dependent(self.block, self.accumulators);
        let mut merging = ir::ops_of(self.block);
        merging.pop();
        merging.retain(|op| op.results().any(|r| on.contains(&key(ir::value(r)))));
        let met = taken(&merging, &on);
        let orders = orders(&met, self.accumulators).into_iter();
        let mut splits: Vec<_> = orders.map(|order| (merging.clone(), order)).collect();
        splits.extend(self.all());
        let (code, elements) = splits.into_iter().find_map(|(merging, elements)| {
            let code = as_operator(&merging, self.accumulators, &elements, &self.yields)?;
            wanted(&code, &elements).then_some((code, elements))
        })?;
        self.yields = elements;
        let (associative, commutative) = match selection::laws(&code, self.starts) {
            Some(chosen) if chosen.instead.is_none() => (chosen.associative, chosen.commutative),
            _ => tried::laws(&code),
        };
        Some(Own {
            code,
            name: "merge".into(),
            associative,
            commutative,
            from_neutral: false,
        })
    }
}

/// The orders of values in which each has the type of an accumulator, if they are as many.
fn orders<'c>(values: &[Val<'c>], accumulators: &[Val<'c>]) -> Vec<Vec<Val<'c>>> {
    if values.len() != accumulators.len() {
        return Vec::new();
    }
    let mut groups = vec![Vec::new()];
    for (n, accumulator) in accumulators.iter().enumerate() {
        let more = |order: Vec<Val<'c>>| {
            let next = values.iter().enumerate().filter(|(m, value)| {
                let is_free = !order.contains(value) && (*m == n || values.len() <= ORDERED);
                is_free && value.r#type() == accumulator.r#type()
            });
            let next: Vec<Val> = next.map(|(_, value)| *value).collect();
            let longer = move |value| [&order[..], &[value]].concat();
            next.into_iter().map(longer)
        };
        groups = groups.into_iter().flat_map(more).collect();
    }
    groups
}

/// The operator that raising finds in an operation of linalg that was made of one and elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// An operator that has its laws without a grant.
    Lawful,
    /// The same operator.
    Same,
}

/// Raises the body of an operation that is made of the elements in its body and of the operator with that digest,
/// to see what it is found to be: elements that are one value do not tell which of them an operator takes.
pub fn found<'c>(made: Op<'c>, elements: &[Val<'c>], operator: &str) -> Result<Found, String> {
    let structured = Structured::read(made)?;
    let body = region::copy(made, 0);
    let block = region::block(&body);
    // SAFETY: only lifetimes change, see `ir::Op`.
    let copy = unsafe { RegionRef::from_raw(body.to_raw()) };
    let (old, new) = (values(ir::region(made, 0)), values(copy));
    let place = |element: &Val<'c>| old.iter().position(|value| value == element);
    let values: Option<Vec<Val>> = elements.iter().map(|e| Some(new[place(e)?])).collect();
    let values = values.ok_or("an element is computed elsewhere")?;
    let starts: Vec<Option<Scalar>> = structured.outputs.iter().map(|o| start(made, o)).collect();
    let is_same = |code: &Region<'c>, elements: &[Val<'c>]| {
        elements == values && digest(code).as_deref() == Some(operator)
    };
    let mut yields = region::yields(block);
    let hidden = "its body as linalg does not show what the elements are that its operator combines: expected one \
                  value for each component, used as it is by the operator alone, or a computation before it that \
                  makes the elements";
    let accumulated = accumulation(
        &structured,
        block,
        &structured.outputs,
        (&starts, &mut yields),
        Some(&is_same),
    );
    let accumulated = accumulated.map_err(|_| hidden)?;
    let iterators = ir::array(made, "iterator_types");
    let reductions = iterators
        .iter()
        .filter(|i| i.to_string().contains("reduction"));
    let several = reductions.count() > 1;
    match accumulated {
        Operator::Builtin(_) => Ok(Found::Lawful),
        Operator::Own(accumulated) if is_same(&accumulated.code, &yields) => Ok(Found::Same),
        Operator::Own(accumulated)
            if accumulated.associative.holds() && (!several || accumulated.commutative.holds()) =>
        {
            Ok(Found::Lawful)
        }
        Operator::Own(_) => Err(hidden.into()),
    }
}

/// The values of a body: its arguments, and the results of all operations.
fn values<'c>(of: RegionRef<'c, 'c>) -> Vec<Val<'c>> {
    let block = region::block_of(of);
    let inside = region::operations_of(of).into_iter();
    let inside = inside.flat_map(|op| op.results().map(ir::value).collect::<Vec<_>>());
    arguments(block).into_iter().chain(inside).collect()
}
