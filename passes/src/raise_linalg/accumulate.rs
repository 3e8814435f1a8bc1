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
use mdh_dialect::code::arguments;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::types;
use melior::ir::operation::OperationLike;
use melior::ir::{BlockRef, Location, Region, Type, ValueLike};

use super::selection::{self, Kind};
use crate::builder::Builder;
use crate::region;

/// The function by which accumulators are combined with elements.
pub enum Operator<'c> {
    /// A built-in one for each of them.
    Builtin(Vec<Builtin>),
    /// Code on accumulators, then elements.
    Own {
        /// The code.
        code: Region<'c>,
        /// A name for it.
        name: String,
        /// Known to commute.
        commutative: bool,
        /// Known to be associative.
        associative: bool,
        /// The rule by which it would be, where there is a known one.
        rule: Option<String>,
    },
}

/// The kind of operation that takes an accumulator further.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Family {
    Builtin(Builtin),
    /// An operation of two operands that is associative and commutative, but not built in.
    Named(&'static str),
}

/// A body in which accumulators are the last arguments.
pub struct Body<'a, 'c> {
    /// The body, which this changes.
    pub block: BlockRef<'c, 'c>,
    /// The accumulators that are combined.
    pub accumulators: &'a [Val<'c>],
    /// The value that is yielded for each.
    pub yields: Vec<Val<'c>>,
    /// The elements by position, where the inputs are as many as the accumulators.
    pub paired: Option<Vec<Val<'c>>>,
}

fn key(value: Val) -> usize {
    value.to_raw().ptr as usize
}

/// The operation whose result is the one use of an accumulator, with the family that it is of.
struct Link<'c> {
    family: Family,
    op: Op<'c>,
    /// Replaces the operation's result where it is the first one.
    element: Element<'c>,
}

enum Element<'c> {
    Value(Val<'c>),
    Negated(Val<'c>),
    Product(Val<'c>, Val<'c>),
    /// A value, or one that is never chosen where it is no number.
    Number(Val<'c>, Kind),
}

impl<'a, 'c> Body<'a, 'c> {
    /// Finds the operator, and leaves the elements as `yields`.
    pub fn split(&mut self) -> Result<Operator<'c>, String> {
        match self.chains() {
            Some(chains) => Ok(self.separate(chains)),
            None => self.on_tuples(),
        }
    }

    /// The way of every accumulator to what is yielded for it, if each is one of a family.
    fn chains(&self) -> Option<Vec<Vec<Link<'c>>>> {
        let all = self.accumulators.iter().zip(&self.yields);
        all.map(|(from, to)| self.chain(*from, *to)).collect()
    }

    fn chain(&self, from: Val<'c>, to: Val<'c>) -> Option<Vec<Link<'c>>> {
        let mut chain: Vec<Link> = Vec::new();
        let mut at = from;
        while at != to {
            let link = link(at)?;
            if chain
                .first()
                .is_some_and(|first| first.family != link.family)
            {
                return None;
            }
            at = ir::result(link.op, 0)?;
            chain.push(link);
        }
        let is_alone = |link: &Link| {
            let others = match link.element {
                Element::Value(v) | Element::Negated(v) | Element::Number(v, _) => vec![v],
                Element::Product(a, b) => vec![a, b],
            };
            others.into_iter().all(|v| !self.depends(v))
        };
        let is_selected = |link: &Link| ir::name_of(link.op) == ops::arith::SELECT;
        let single = !chain.is_empty() && (chain.len() == 1 || !chain.iter().any(is_selected));
        // What is yielded is used nowhere else: another result would see the accumulator.
        let is_private =
            self.yields.iter().filter(|y| **y == to).count() == 1 && ir::users(to).len() == 1;
        (single && is_private && chain.iter().all(is_alone)).then_some(chain)
    }

    /// Returns whether a value depends on an accumulator.
    fn depends(&self, value: Val<'c>) -> bool {
        let dependent = dependent(self.block, self.accumulators);
        dependent.contains(&key(value))
    }

    /// Takes the accumulators out of their chains.
    fn separate(&mut self, chains: Vec<Vec<Link<'c>>>) -> Operator<'c> {
        let families: Vec<Family> = chains.iter().map(|chain| chain[0].family).collect();
        let builtin = |family: &Family| match family {
            Family::Builtin(operator) => Some(*operator),
            _ => None,
        };
        let operators: Option<Vec<Builtin>> = families.iter().map(builtin).collect();
        let operator = match operators {
            Some(operators) => Operator::Builtin(operators),
            None => Operator::Own {
                code: self.pieces(&chains),
                name: name_of(&families),
                commutative: true,
                associative: true,
                rule: None,
            },
        };
        for (chain, yielded) in chains.iter().zip(&mut self.yields) {
            let element = element(&chain[0]);
            let result = ir::result(chain[0].op, 0);
            if result == Some(*yielded) {
                *yielded = element;
                continue;
            }
            if let Some(result) = result {
                region::replace_all_uses(result, element);
            }
        }
        operator
    }

    /// One operation for each accumulator, as code on tuples.
    fn pieces(&self, chains: &[Vec<Link<'c>>]) -> Region<'c> {
        let count = chains.len();
        let (code, own) = tuples(self.accumulators);
        let block = region::block(&code);
        let mut results: Vec<Val> = Vec::new();
        for (n, chain) in chains.iter().enumerate() {
            let last = chain[chain.len() - 1].op;
            let (acc, element) = (own[n], own[count + n]);
            let before = chain
                .len()
                .checked_sub(2)
                .and_then(|n| ir::result(chain[n].op, 0));
            let before = before.unwrap_or(self.accumulators[n]);
            if let (Family::Builtin(operator), true) = (chain[0].family, is_rewritten(&chain[0])) {
                let mut builder = Builder::before(last).at_end(block);
                results.push(builder.binary(&format!("arith.{}", operator.name()), acc, element));
                continue;
            }
            let copy = region::append_copy(block, last);
            for i in 0..last.operand_count() {
                let is_before = ir::operand(last, i) == Some(before);
                region::set_operand(copy, i, if is_before { acc } else { element });
            }
            results.extend(ir::result(copy, 0));
        }
        region::yield_from(block, chains[0][0].op.location(), &results);
        code
    }

    /// All that depends on accumulators, as one operator on tuples.
    fn on_tuples(&mut self) -> Result<Operator<'c>, String> {
        let dependent = dependent(self.block, self.accumulators);
        let all = ir::ops_of(self.block);
        let merging: Vec<Op> = all[..all.len() - 1]
            .iter()
            .copied()
            .filter(|op| op.results().any(|r| dependent.contains(&key(ir::value(r)))))
            .collect();
        let (merging, elements) = match (self.elements(&merging, &dependent), self.all()) {
            (Ok(elements), _) => (merging, elements),
            (Err(_), Some(all)) => all,
            (Err(rule), None) => return Err(rule),
        };
        let chosen = selection::of_tuples(&merging, &self.yields, self.accumulators, &elements);
        let selects = chosen.is_some();
        let rule = (!selects)
            .then(|| selection::unordered(&merging, &self.yields, self.accumulators, &elements));
        let (code, own) = tuples(self.accumulators);
        let block = region::block(&code);
        let constants = all
            .iter()
            .copied()
            .filter(|op| ir::name_of(*op) == ops::arith::CONSTANT);
        let copied: Vec<Op> = constants.chain(merging.iter().copied()).collect();
        let mut copies: Vec<(Val, Val)> = Vec::new();
        let outside = self.accumulators.iter().chain(&elements).copied();
        copies.extend(outside.zip(own.iter().copied()));
        for op in &copied {
            let copy = region::append_copy(block, *op);
            let results = op.results().zip(copy.results());
            copies.extend(results.map(|(old, new)| (ir::value(old), ir::value(new))));
        }
        let find = |value: Val<'c>| {
            copies
                .iter()
                .find(|(old, _)| *old == value)
                .map(|(_, new)| *new)
        };
        let results: Option<Vec<Val>> = self.yields.iter().map(|y| find(*y)).collect();
        let results =
            results.ok_or("a result does not depend on what it is to be combined with")?;
        region::yield_from(block, all[all.len() - 1].location(), &results);
        for (old, new) in &copies {
            region::replace_inside(&code, *old, *new);
        }
        region::erase_dead(block);
        self.yields = elements;
        if let Some((n, kind @ (Kind::Least | Kind::Greatest))) = chosen {
            let mut builder = Builder::before(region::terminator(self.block));
            self.yields[n] = selection::number(&mut builder, self.yields[n], kind);
        }
        Ok(Operator::Own {
            code,
            name: if selects {
                "select".into()
            } else {
                "merge".into()
            },
            commutative: false,
            associative: selects,
            rule: rule.flatten(),
        })
    }

    /// All of a body as the operator, on inputs that are as many as the accumulators, and of their types.
    fn all(&self) -> Option<(Vec<Op<'c>>, Vec<Val<'c>>)> {
        let paired = self.paired.as_ref()?;
        let mut pairs = paired.iter().zip(self.accumulators);
        let all = ir::ops_of(self.block);
        let is_inside = |value: Val<'c>| {
            paired.contains(&value)
                || self.accumulators.contains(&value)
                || all.iter().any(|op| {
                    ir::defining_op(value) == Some(*op) || region::is_defined_in(value, *op)
                })
        };
        let fits = |op: &Op<'c>| {
            ir::find_all(*op, &[ops::linalg::INDEX]).is_empty()
                && region::used_by(*op).into_iter().all(is_inside)
        };
        if !pairs.all(|(p, a)| p.r#type() == a.r#type()) || !all.iter().all(fits) {
            return None;
        }
        let is_constant = |op: &Op| ir::name_of(*op) == ops::arith::CONSTANT;
        let merging = all[..all.len() - 1].iter().filter(|op| !is_constant(op));
        Some((merging.copied().collect(), paired.clone()))
    }

    /// The values that an operator on tuples takes from the rest of the body: one for each accumulator.
    fn elements(
        &self,
        merging: &[Op<'c>],
        dependent: &HashSet<usize>,
    ) -> Result<Vec<Val<'c>>, String> {
        let mut taken: Vec<Val> = Vec::new();
        for value in merging.iter().flat_map(|op| region::used_by(*op)) {
            let is_constant =
                ir::defining_op(value).is_some_and(|op| ir::name_of(op) == ops::arith::CONSTANT);
            let is_inside = merging.iter().any(|op| region::is_defined_in(value, *op));
            if !is_constant
                && !is_inside
                && !dependent.contains(&key(value))
                && !taken.contains(&value)
            {
                taken.push(value);
            }
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
        if taken.len() != self.accumulators.len() {
            return Err(self.refusal(merging, &taken));
        }
        let meets = |value: Val<'c>, accumulator: Val<'c>| {
            merging.iter().any(|op| {
                let used: Vec<Val> = op.operands().map(ir::value).collect();
                used.contains(&value) && used.contains(&accumulator)
            })
        };
        let mut elements = Vec::new();
        for accumulator in self.accumulators {
            let fits =
                |v: &&Val<'c>| v.r#type() == accumulator.r#type() && meets(**v, *accumulator);
            let mut found = taken.iter().filter(fits);
            match (found.next(), found.next()) {
                (Some(one), None) if !elements.contains(one) => elements.push(*one),
                _ => return Err(self.refusal(merging, &taken)),
            }
        }
        Ok(elements)
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

/// The values that depend on some arguments.
fn dependent<'c>(block: BlockRef<'c, 'c>, arguments: &[Val<'c>]) -> HashSet<usize> {
    let mut found: HashSet<usize> = arguments.iter().map(|a| key(*a)).collect();
    for op in ir::ops_of(block) {
        if region::used_by(op)
            .into_iter()
            .any(|v| found.contains(&key(v)))
        {
            found.extend(op.results().map(|r| key(ir::value(r))));
        }
    }
    found
}

/// The operation that takes an accumulator further, if it is of a family.
fn link(at: Val) -> Option<Link> {
    let users = ir::users(at);
    if let Some(select) = users
        .iter()
        .find(|op| ir::name_of(**op) == ops::arith::SELECT)
    {
        let (operator, kind, element) = selection::of_one(at, *select, &users)?;
        let element = match kind {
            Kind::Any => Element::Value(element),
            _ => Element::Number(element, kind),
        };
        return Some(Link {
            family: Family::Builtin(operator),
            op: *select,
            element,
        });
    }
    let [op] = users[..] else {
        return None;
    };
    let operands: Vec<Val> = op.operands().map(ir::value).collect();
    let name = ir::name_of(op);
    let sum = Family::Builtin(Builtin::Addf);
    let (family, element) = match (name, &operands[..]) {
        (ops::arith::SUBF, [a, e]) if *a == at => (sum, Element::Negated(*e)),
        (ops::arith::SUBI, [a, e]) if *a == at => {
            (Family::Builtin(Builtin::Addi), Element::Negated(*e))
        }
        (ops::math::FMA, [a, b, c]) if *c == at && *a != at && *b != at => {
            (sum, Element::Product(*a, *b))
        }
        (_, [a, b]) if (*a == at) != (*b == at) => {
            let element = Element::Value(if *a == at { *b } else { *a });
            let builtin = name.strip_prefix("arith.").and_then(Builtin::parse);
            let named = match name {
                ops::arith::MAXNUMF => Some(ops::arith::MAXNUMF),
                ops::arith::MINNUMF => Some(ops::arith::MINNUMF),
                _ => None,
            };
            let family = builtin.map(Family::Builtin).or(named.map(Family::Named));
            (family?, element)
        }
        _ => return None,
    };
    Some(Link {
        family,
        op,
        element,
    })
}

/// The value that stands in the place of a chain's first operation.
fn element<'c>(link: &Link<'c>) -> Val<'c> {
    let mut builder = Builder::before(link.op);
    match link.element {
        Element::Value(value) => value,
        Element::Number(value, kind) => selection::number(&mut builder, value, kind),
        Element::Product(a, b) => builder.binary(ops::arith::MULF, a, b),
        Element::Negated(value) if ir::name_of(link.op) == ops::arith::SUBF => {
            builder.op(ops::arith::NEGF, &[value], &[value.r#type()], &[])[0]
        }
        Element::Negated(value) => {
            let ty = types::scalar_type(value.r#type()).unwrap_or(ScalarType::I64);
            let zero = builder.scalar(Scalar::zero(ty));
            builder.binary(ops::arith::SUBI, zero, value)
        }
    }
}

/// Returns whether an operator is written otherwise than the operation that it stands for.
fn is_rewritten(link: &Link) -> bool {
    ir::name_of(link.op) == ops::arith::SELECT
        || matches!(link.element, Element::Negated(_) | Element::Product(..))
}

fn name_of(families: &[Family]) -> String {
    let names = families.iter().map(|family| match family {
        Family::Builtin(operator) => operator.name(),
        Family::Named(name) => name.trim_start_matches("arith."),
    });
    // A label is none of the built-in names.
    let names: Vec<&str> = names.collect();
    format!("by_{}", names.join("_"))
}

/// A region whose block takes accumulators, then elements.
fn tuples<'c>(accumulators: &[Val<'c>]) -> (Region<'c>, Vec<Val<'c>>) {
    let types: Vec<Type> = accumulators.iter().map(|a| a.r#type()).collect();
    let location = Location::unknown(ir::context_of_value(accumulators[0]));
    let code = region::with_arguments(&[&types[..], &types[..]].concat(), location);
    let own = arguments(region::block(&code));
    (code, own)
}
