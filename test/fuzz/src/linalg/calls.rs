//! Functions of their own that are called: with one memref twice, and with parts of one, too.

use super::maker::{ArrayValue, Maker};
use super::{generic, named};
use crate::choices::Choices;
use crate::print::code::list;

/// Adds a function and a call of it.
pub fn add(c: &mut Choices, maker: &mut Maker) {
    let mut inner = Maker {
        memory: maker.memory,
        element: maker.element,
        ..Maker::default()
    };
    let mut given = Vec::new();
    // Some of the values that are there.
    for n in 0..1 + c.weighted("given", &[20, 50, 30]) {
        let count = maker.values.len() as u64;
        let number = c.scope(format!("g{n}"), |c| c.below("of", count));
        let value = &maker.values[number as usize];
        let argument = inner.parameter(value);
        inner.values.push(argument);
        given.push(value.name.clone());
    }
    let passed = given.len();
    for n in 0..1 + c.below("operations", 2) {
        c.scope(format!("i{n}"), |c| match c.chance("named", 20) {
            true => named::add(c, &mut inner),
            false => generic::add(c, &mut inner),
        });
    }
    let mut types: Vec<&str> = Vec::new();
    // What else it reads the caller has as arguments.
    for (n, argument) in inner.arguments.iter().enumerate() {
        let (_, ty) = argument.split_once(": ").unwrap_or_default();
        types.push(ty);
        if n >= passed {
            let name = maker.name();
            maker.arguments.push(format!("{name}: {ty}"));
            given.push(name);
        }
    }
    let (given, types) = (list(&given), list(&types));
    let results = results(&mut inner, passed);
    let number = maker.functions.len();
    let head = format!("private @g{number}");
    let function = inner.function_of(&head, " attributes {no_inline}", &results);
    maker.functions.push(function);
    let left: Vec<String> = results.iter().map(|value| inner.ty(value)).collect();
    for _ in 0..1 + c.weighted("times", &[80, 20]) {
        let (head, names) = maker.results(results.len());
        let text = format!(
            "{head}func.call @g{number}({given}) : ({types}) -> ({})",
            list(&left)
        );
        maker.line(&text);
        let made = results.iter().zip(names);
        maker
            .values
            .extend(made.map(|(value, name)| value.named(name)));
    }
}

/// Results of a function: the values behind those that it was given.
fn results(inner: &mut Maker, given: usize) -> Vec<ArrayValue> {
    if inner.memory {
        return Vec::new();
    }
    // Upstream makes no argument of a result whose sizes are not known.
    let made = inner.values[given..].to_vec();
    made.iter().map(|value| inner.known(value)).collect()
}
