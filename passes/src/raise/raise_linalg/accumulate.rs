//! The operator by which a body accumulates, and what it accumulates.
//!
//! `acc' = f(acc, e)` is found by the way from the accumulator to what is yielded for it. Where each
//! operation on it is one of the same family (sums and differences, products, minima ..), it leaves
//! the body, which then yields `e`. Where several accumulators depend on each other, all that
//! depends on them becomes the operator, on tuples, and what it takes from the rest of the body
//! becomes the elements.

use std::collections::HashSet;

use mdh_algebra::operator::Builtin;
use mdh_algebra::scalar::{Scalar, ScalarType};
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::types;
use melior::ir::operation::OperationLike;
use melior::ir::{BlockRef, Region, ValueLike};

use super::loops::Loops;
use super::operators::{
    Law, Operator, Own, Wanted, as_operator, constant, dependent, key, taken, tuples,
};
use super::steps::{Element, Family, Step};
use super::{selection, tried};
use crate::support::builder::Builder;
use crate::support::region;

/// A body in which accumulators are the last arguments.
pub struct Body<'a, 'c> {
    /// The body, which this changes.
    pub block: BlockRef<'c, 'c>,
    /// The accumulators that are combined.
    pub accumulators: &'a [Val<'c>],
    /// The numbers that they start from, where these are known.
    pub starts: &'a [Option<Scalar>],
    /// The value that is yielded for each.
    pub yields: Vec<Val<'c>>,
    /// The elements by position, where the inputs are as many as the accumulators.
    pub paired: Option<Vec<Val<'c>>>,
    /// The loops over which they accumulate, if these are several.
    pub loops: Option<&'a Loops<'c>>,
    /// The way of splitting it that a law is granted for, if one is.
    pub wanted: Option<&'a Wanted<'a, 'c>>,
}

impl<'a, 'c> Body<'a, 'c> {
    /// Finds the operator, and leaves the elements as `yields`.
    pub fn split(&mut self) -> Result<Operator<'c>, String> {
        match self.chains() {
            Some(chains) => Ok(self.separate(&chains)),
            None => self.coupled(),
        }
    }

    /// The operator that is found, if it is known to be associative, else the one that this is granted of.
    fn coupled(&mut self) -> Result<Operator<'c>, String> {
        let yields = self.yields.clone();
        // First: what is looked for below takes accumulators out of their chains.
        let told = self.as_told();
        let elements = std::mem::replace(&mut self.yields, yields);
        let undeclared = self.undeclared();
        let is_lawful = matches!(&undeclared, Ok(Operator::Own(own)) if own.associative.holds());
        match told {
            Some(own) if !is_lawful => {
                self.yields = elements;
                Ok(Operator::Own(own))
            }
            _ => undeclared,
        }
    }

    /// One operator on tuples, or several that have nothing to do with each other, of which more is known.
    fn undeclared(&mut self) -> Result<Operator<'c>, String> {
        if let Some(own) = self.of_a_known_form() {
            return Ok(Operator::Own(own));
        }
        let yields = self.yields.clone();
        let whole = self.on_tuples();
        if matches!(&whole, Ok(own) if own.associative.holds()) {
            return whole.map(Operator::Own);
        }
        let elements = std::mem::replace(&mut self.yields, yields);
        match self.in_parts() {
            Some(own) if whole.is_err() || own.associative.holds() => Ok(Operator::Own(own)),
            _ => {
                self.yields = elements;
                whole.map(Operator::Own)
            }
        }
    }

    /// The operator on parts of accumulators that meet fewer elements than they are.
    pub fn of_a_known_form(&mut self) -> Option<Own<'c>> {
        let known = self.rescaled().or_else(|| self.ranked());
        known.or_else(|| self.best_two())
    }

    /// The way of every accumulator to what is yielded for it, if each is of one operator.
    pub fn chains(&self) -> Option<Vec<Vec<Step<'c>>>> {
        let dependent = dependent(self.block, self.accumulators);
        let chains = (0..self.accumulators.len()).map(|n| self.chain(n, &dependent));
        chains.collect()
    }

    fn chain(&self, n: usize, dependent: &HashSet<usize>) -> Option<Vec<Step<'c>>> {
        let (mut at, to) = (self.accumulators[n], self.yields[n]);
        let mut chain: Vec<Step> = Vec::new();
        while at != to {
            let step = self.step(at, self.starts[n])?;
            let is_alone = step.used().iter().all(|v| !dependent.contains(&key(*v)));
            let is_same = chain.iter().all(|first| first.family == step.family);
            if !is_alone || !is_same {
                return None;
            }
            at = ir::result(step.op, 0)?;
            chain.push(step);
        }
        // What is yielded is used nowhere else: another result would see the accumulator.
        let is_private =
            self.yields.iter().filter(|y| **y == to).count() == 1 && ir::users(to).len() == 1;
        (is_private && !chain.is_empty()).then_some(chain)
    }

    /// The step that takes a value further: the operations that depend on it, up to the first one of
    /// which all others do.
    fn step(&self, at: Val<'c>, start: Option<Scalar>) -> Option<Step<'c>> {
        let mut open = HashSet::from([key(at)]);
        let (mut taking, mut is_last): (Vec<Op>, bool) = (Vec::new(), false);
        let ops = ir::ops_of(self.block);
        let uses = |op: &Op<'c>, open: &HashSet<usize>| {
            let used = region::used_by(*op);
            used.into_iter().any(|v| open.contains(&key(v)))
        };
        let inner = ops[..ops.len() - 1].iter().enumerate();
        for (n, op) in inner {
            if !uses(op, &open) {
                continue;
            }
            taking.push(*op);
            is_last = !ops[n + 1..].iter().any(|later| uses(later, &open));
            if is_last {
                break;
            }
            open.extend(op.results().map(|r| key(ir::value(r))));
        }
        let last = *taking.last().filter(|_| is_last)?;
        let result = ir::result(last, 0).filter(|_| last.result_count() == 1)?;
        let single = Some(last).filter(|_| taking.len() == 1);
        if let Some(step) = single.and_then(|op| Step::new(op, |v| v == at)) {
            return Some(step);
        }
        if taken(&taking, &open).len() > 1 {
            taking = self.with_conditions(&taking, &open);
        }
        let mut elements = taken(&taking, &open);
        if elements.is_empty() {
            // What meets it is a constant.
            let used = taking.iter().flat_map(|op| region::used_by(*op));
            elements = used.filter(|v| constant(*v).is_some()).collect();
            elements.dedup();
        }
        let [element] = elements[..] else {
            return None;
        };
        if [element, result].iter().any(|v| v.r#type() != at.r#type()) {
            return None;
        }
        let code = as_operator(&taking, &[at], &[element], &[result])?;
        let (family, instead) = selection::operation(&code, start)?;
        Some(Step {
            op: last,
            family,
            base: at,
            element: match instead {
                None => Element::Value(element),
                Some(number) => Element::Number(element, number),
            },
        })
    }

    /// Takes the accumulators out of their chains.
    pub fn separate(&mut self, chains: &[Vec<Step<'c>>]) -> Operator<'c> {
        let families: Vec<Family> = chains.iter().map(|chain| chain[0].family).collect();
        let builtin = |family: &Family| match family {
            Family::Builtin(operator) => Some(*operator),
            Family::Named(_) => None,
        };
        let operators: Option<Vec<Builtin>> = families.iter().map(builtin).collect();
        let operator = match operators {
            Some(operators) => Operator::Builtin(operators),
            None => Operator::Own(Own {
                code: self.pieces(&families),
                name: name_of(&families),
                associative: Law::Holds,
                commutative: Law::Holds,
                from_neutral: false,
            }),
        };
        for (chain, yielded) in chains.iter().zip(&mut self.yields) {
            let element = chain[0].element();
            let result = ir::result(chain[0].op, 0);
            if result == Some(*yielded) {
                *yielded = element;
            } else if let Some(result) = result {
                region::replace_all_uses(result, element);
            }
        }
        operator
    }

    /// One operation for each accumulator, as code on tuples.
    pub fn pieces(&self, families: &[Family]) -> Region<'c> {
        let (code, own) = tuples(self.accumulators);
        let (block, last) = (region::block(&code), region::terminator(self.block));
        let mut builder = Builder::before(last).at_end(block);
        let sides = own.iter().zip(&own[families.len()..]).zip(families);
        let results = sides.map(|((acc, e), family)| builder.binary(&family.operation(), *acc, *e));
        let results: Vec<Val> = results.collect();
        region::yield_from(block, last.location(), &results);
        code
    }

    /// All that depends on accumulators, as one operator on tuples.
    pub fn on_tuples(&mut self) -> Result<Own<'c>, String> {
        let dependent = dependent(self.block, self.accumulators);
        let ops = ir::ops_of(self.block);
        let merging: Vec<Op> = ops[..ops.len() - 1]
            .iter()
            .copied()
            .filter(|op| op.results().any(|r| dependent.contains(&key(ir::value(r)))))
            .collect();
        let (merging, elements) = match self.elements(&merging, &dependent) {
            Ok(elements) => (merging, elements),
            Err(rule) => {
                let more = self.with_conditions(&merging, &dependent);
                let elements = self.elements(&more, &dependent).ok();
                let merged = elements.map(|elements| (more, elements));
                merged.or_else(|| self.all()).ok_or(rule)?
            }
        };
        let code = as_operator(&merging, self.accumulators, &elements, &self.yields);
        let code = code.ok_or("a result does not depend on what it is to be combined with")?;
        self.yields = elements;
        let Some(chosen) = selection::laws(&code, self.starts) else {
            let (associative, commutative) = tried::laws(&code);
            return Ok(Own {
                code,
                name: "merge".into(),
                associative,
                commutative,
                from_neutral: false,
            });
        };
        let in_order = self.in_order(&code, &chosen);
        if let Some((n, number)) = chosen.instead {
            let mut builder = Builder::before(region::terminator(self.block));
            self.yields[n] = selection::number(&mut builder, self.yields[n], number);
        }
        Ok(Own {
            name: "select".into(),
            associative: chosen.associative,
            commutative: match in_order {
                None => chosen.commutative,
                Some(_) => Law::Holds,
            },
            from_neutral: chosen.from_neutral,
            code: in_order.unwrap_or(code),
        })
    }

    /// Operations with those that make truths for them of elements alone: what is no number, say.
    fn with_conditions(&self, merging: &[Op<'c>], dependent: &HashSet<usize>) -> Vec<Op<'c>> {
        let mut ops = ir::ops_of(self.block);
        let mut members = merging.to_vec();
        loop {
            let mut more = taken(&members, dependent);
            more.retain(|v| types::scalar_type(v.r#type()) == Some(ScalarType::I1));
            let definitions = more.into_iter().filter_map(ir::defining_op);
            let definitions: Vec<Op> = definitions.filter(|op| ops.contains(op)).collect();
            if definitions.is_empty() {
                ops.retain(|op| members.contains(op));
                return ops;
            }
            members.extend(definitions);
        }
    }

    /// All of a body as the operator, on inputs that are as many as the accumulators, and of their types.
    pub fn all(&self) -> Option<(Vec<Op<'c>>, Vec<Val<'c>>)> {
        let paired = self.paired.as_ref()?;
        let mut pairs = paired.iter().zip(self.accumulators);
        let ops = ir::ops_of(self.block);
        let is_inside = |value: Val<'c>| {
            paired.contains(&value)
                || constant(value).is_some()
                || self.accumulators.contains(&value)
                || ops.iter().any(|op| {
                    ir::defining_op(value) == Some(*op) || region::is_defined_in(value, *op)
                })
        };
        let fits = |op: &Op<'c>| {
            ir::find_all(*op, &[ops::linalg::INDEX]).is_empty()
                && region::used_by(*op).into_iter().all(is_inside)
        };
        if !pairs.all(|(p, a)| p.r#type() == a.r#type()) || !ops.iter().all(fits) {
            return None;
        }
        let is_constant = |op: &Op| ir::name_of(*op) == ops::arith::CONSTANT;
        let merging = ops[..ops.len() - 1].iter().filter(|op| !is_constant(op));
        Some((merging.copied().collect(), paired.clone()))
    }

    /// The values that an operator on tuples takes from the rest of the body: one for each accumulator.
    fn elements(
        &self,
        merging: &[Op<'c>],
        dependent: &HashSet<usize>,
    ) -> Result<Vec<Val<'c>>, String> {
        let taken = taken(merging, dependent);
        if let Some(met) = self.met(merging, &taken) {
            return Ok(met);
        }
        if let Some(paired) = &self.paired
            && taken.len() == paired.len()
            && taken.iter().all(|value| paired.contains(value))
            && paired
                .iter()
                .zip(self.accumulators)
                .all(|(p, a)| p.r#type() == a.r#type())
        {
            return Ok(paired.clone());
        }
        Err(self.refusal(merging, &taken))
    }

    /// The one value of its type that each accumulator meets in an operation, whatever order the inputs are in.
    fn met(&self, merging: &[Op<'c>], taken: &[Val<'c>]) -> Option<Vec<Val<'c>>> {
        let meets = |value: Val<'c>, accumulator: Val<'c>| {
            merging.iter().any(|op| {
                let used = region::used_by(*op);
                used.contains(&value) && used.contains(&accumulator)
            })
        };
        let mut elements = Vec::new();
        for accumulator in self.accumulators {
            let fits =
                |v: &&Val<'c>| v.r#type() == accumulator.r#type() && meets(**v, *accumulator);
            let mut fitting = taken.iter().filter(fits);
            match (fitting.next(), fitting.next()) {
                (Some(one), None) if !elements.contains(one) => elements.push(*one),
                _ => return None,
            }
        }
        (taken.len() == elements.len()).then_some(elements)
    }

    /// The rule that a body breaks which combines its accumulators with these values.
    fn refusal(&self, merging: &[Op<'c>], taken: &[Val<'c>]) -> String {
        let counts = [taken.len(), self.accumulators.len()];
        let cast = merging.iter().find_map(|op| {
            let is_cast = op.operand_count() == 1 && ir::name_of(*op).starts_with("arith.");
            let from = ir::operand(*op, 0).filter(|v| self.accumulators.contains(v))?;
            let to = ir::result(*op, 0).filter(|to| to.r#type() != from.r#type())?;
            is_cast.then(|| (ir::name_of(*op), from.r#type(), to.r#type()))
        });
        match cast {
            Some((name, from, to)) if counts[0] == counts[1] => format!(
                "its body accumulates in another type than it keeps: '{name}' takes what is \
                 accumulated from {from} to {to}, and each step rounds or cuts it to {from} again; \
                 expected a destination of {to}, which is cast when it is complete, or an element \
                 that is cast to {from} before it is combined"
            ),
            _ if counts[0] < counts[1] && counts[0] > 0 => format!(
                "its body says what one element makes of its accumulators, and not how two partial results are \
                 combined: they meet {}, and there are {}; expected an operator on two tuples, that is one value \
                 for each accumulator, of its type, combined with it as a partial result is, or 'mdh.compute' \
                 with such a 'combine'",
                ir::count(counts[0], "value"),
                ir::count(counts[1], "accumulator"),
            ),
            _ => {
                let are = if counts[1] == 1 { "is" } else { "are" };
                format!(
                    "its body does not combine accumulators with one element each: they meet {}, and \
                     there {are} {}; expected one value for each accumulator, of its type",
                    ir::count(counts[0], "value"),
                    ir::count(counts[1], "accumulator"),
                )
            }
        }
    }
}

fn name_of(families: &[Family]) -> String {
    let names = families.iter().map(|family| family.operation());
    let names: Vec<String> = names
        .map(|name| name.trim_start_matches("arith.").to_owned())
        .collect();
    // A label is none of the built-in names.
    format!("by_{}", names.join("_"))
}
