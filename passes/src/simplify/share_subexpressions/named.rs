//! Schedules by name ([`mdh_dialect::marks::SCHEDULES`]): of a function's computations as they are once
//! those of common subexpressions are made, which need no reason then.

use std::collections::HashSet;

use mdh_dialect::ir::{self, Errors, Op};
use mdh_dialect::{ops, schedule};

use super::{names, rewrite, subexpressions};

/// Makes the computations that have a schedule by name and are not there, and gives all of them theirs.
pub fn give<'c>(function: Op<'c>) -> Result<(), (Op<'c>, Errors)> {
    let given = schedule::named(function).map_err(|errors| (function, errors))?;
    if given.is_empty() {
        return Ok(());
    }
    schedule::set_named(function, &Default::default());
    let wanted: Vec<&str> = given.iter().map(|(name, _)| name.as_str()).collect();
    let made = make(function, &wanted)?;
    let computations = schedule::computations(function);
    for (name, own) in &given {
        let op =
            schedule::find_by_name(&computations, name).map_err(|why| (function, vec![why]))?;
        schedule::set(op, Some(own));
        let mut errors = schedule::broken(op);
        let refused = schedule::refusals(op);
        errors.extend(refused.iter().map(schedule::refused));
        if !errors.is_empty() {
            let where_made = match made.is_empty() {
                true => String::new(),
                false => format!(", where '{}' is computed once", made.join("', '")),
            };
            let errors = errors.into_iter();
            let errors = errors.map(|error| format!("'{name}' {error}{where_made}"));
            return Err((op, errors.collect()));
        }
    }
    Ok(())
}

/// Makes computations of the subexpressions with these names, as far as there is none with the name
/// yet; returns the names of what it made.
fn make<'c>(function: Op<'c>, wanted: &[&str]) -> Result<Vec<String>, (Op<'c>, Errors)> {
    let mut made = Vec::new();
    loop {
        let known = own_names(function);
        let missing: Vec<&str> = wanted
            .iter()
            .copied()
            .filter(|name| !known.iter().any(|other| other == name))
            .collect();
        let Some(first) = missing.first() else {
            return Ok(made);
        };
        let shared = subexpressions(function)?;
        let names = names(function, &shared);
        let mut pairs = shared.iter().zip(&names);
        let Some((expression, name)) = pairs.find(|(_, name)| missing.contains(&name.as_str()))
        else {
            return Err((function, vec![unknown(first, &known, &names)]));
        };
        rewrite::share(expression, name).ok_or_else(|| {
            let text = format!("evaluates '{name}' in a way that is no computation of its own");
            (expression.uses[0].op, vec![text])
        })?;
        made.push(name.clone());
    }
}

/// The names of a function's computations.
pub fn own_names(function: Op) -> Vec<String> {
    let computations = schedule::computations(function).into_iter();
    computations.map(schedule::name).collect()
}

fn unknown(name: &str, own: &[String], others: &[String]) -> String {
    let common = match others.is_empty() {
        true => "; computations without schedules of their own have no costly expression in common"
            .to_owned(),
        false => format!(
            ", or of what several of them evaluate: {}",
            others.join(", ")
        ),
    };
    format!(
        "has a schedule by the name '{name}', which no computation has: expected one of {}{common}",
        own.join(", ")
    )
}

/// Returns whether several of these computations evaluate something that may get a name: the operation that
/// it is called by. Which they are, and whether the values are equal, shows on memrefs only.
pub fn may_be_common(computations: &[Op], name: &str) -> bool {
    let is_it = |op: &Op| {
        let short = short_name(*op);
        let rest = name.strip_prefix(short);
        rest.is_some_and(|rest| rest.is_empty() || is_number(rest))
    };
    let evaluates = |op: &&Op| {
        let block = ir::only_block(ir::region(**op, 0));
        block.is_some_and(|block| ir::ops_of(block).iter().any(is_it))
    };
    computations.iter().filter(evaluates).count() > 1
}

/// Returns whether a text is `_1`.
fn is_number(text: &str) -> bool {
    let number = text.strip_prefix('_').map(str::as_bytes);
    number.is_some_and(|own| !own.is_empty() && own.iter().all(u8::is_ascii_digit))
}

/// The name of an operation without its dialect.
pub fn short_name<'c>(op: Op<'c>) -> &'c str {
    let name = ir::name_of(op);
    name.split('.').next_back().unwrap_or(name)
}

/// Returns whether several computations that are formed may have common subexpressions: an operation
/// of arithmetic that both have.
pub fn may_share(computations: &[Op]) -> bool {
    let mut before = HashSet::new();
    computations.iter().any(|op| {
        let block = ir::only_block(ir::region(*op, 0));
        let code = block.map_or(Vec::new(), ir::ops_of).into_iter();
        let code = code.filter(|op| ir::name_of(*op) != ops::mdh::YIELD && super::cost(*op) > 0);
        let code: HashSet<&str> = code.map(ir::name_of).collect();
        let is_common = code.iter().any(|name| before.contains(name));
        before.extend(code);
        is_common
    })
}
