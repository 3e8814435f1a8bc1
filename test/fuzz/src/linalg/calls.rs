//! Functions of their own that are called: with one memref twice, and with parts of one, too.

use super::{Maker, Value, generic, named};
use crate::choices::Choices;

/// Adds a function and a call of it.
pub fn add(c: &mut Choices, maker: &mut Maker) {
    let mut inner = Maker {
        memory: maker.memory,
        element: maker.element,
        arguments: Vec::new(),
        lines: String::new(),
        values: Vec::new(),
        next: 0,
        functions: Vec::new(),
    };
    let mut given = pass(c, maker, &mut inner);
    let count = given.len();
    let passed = inner.arguments.len();
    for n in 0..1 + c.below("operations", 2) {
        c.scope(format!("i{n}"), |c| match c.chance("named", 20) {
            true => named::add(c, &mut inner),
            false => generic::add(c, &mut inner),
        });
    }
    // What else it reads the caller has as arguments.
    for argument in &inner.arguments[passed..] {
        let Some((_, ty)) = argument.split_once(": ") else {
            continue;
        };
        let name = maker.name();
        maker.arguments.push(format!("{name}: {ty}"));
        given.push(name);
    }
    let results: Vec<Value> = match inner.memory {
        true => Vec::new(),
        // Upstream makes no argument of a result whose sizes are not known.
        false => {
            let made = inner.values[count..].to_vec();
            made.iter().map(|value| inner.known(value)).collect()
        }
    };
    let types: Vec<String> = results.iter().map(|value| inner.ty(value)).collect();
    let names: Vec<&str> = results.iter().map(|value| value.name.as_str()).collect();
    let tail = match results.is_empty() {
        true => "return".to_owned(),
        false => format!("return {} : {}", names.join(", "), types.join(", ")),
    };
    let number = maker.functions.len();
    maker.functions.push(format!(
        "func.func private @g{number}({}) -> ({}) attributes {{no_inline}} {{\n{}  {tail}\n}}\n",
        inner.arguments.join(", "),
        types.join(", "),
        inner.lines,
    ));
    call(c, maker, (&inner.arguments, &types), &given, results);
}

/// Gives a function some of the values that are there; their names.
fn pass(c: &mut Choices, maker: &Maker, inner: &mut Maker) -> Vec<String> {
    let mut given: Vec<String> = Vec::new();
    let count = 1 + c.weighted("given", &[20, 50, 30]);
    for n in 0..count {
        let number = c.scope(format!("g{n}"), |c| {
            c.below("of", maker.values.len() as u64)
        });
        let value = maker.values[number as usize].clone();
        let own = Value {
            name: inner.name(),
            ..value.clone()
        };
        inner
            .arguments
            .push(format!("{}: {}", own.name, inner.ty(&own)));
        inner.values.push(own);
        given.push(value.name);
    }
    given
}

fn call(
    c: &mut Choices,
    maker: &mut Maker,
    (arguments, types): (&[String], &[String]),
    given: &[String],
    results: Vec<Value>,
) {
    let parameters = arguments.iter().flat_map(|a| a.split_once(": "));
    let parameters: Vec<&str> = parameters.map(|(_, ty)| ty).collect();
    let (number, times) = (
        maker.functions.len() - 1,
        1 + c.weighted("times", &[80, 20]),
    );
    for _ in 0..times {
        let result = maker.name();
        let head = match types.len() {
            0 => String::new(),
            1 => format!("{result} = "),
            n => format!("{result}:{n} = "),
        };
        maker.line(&format!(
            "{head}func.call @g{number}({}) : ({}) -> ({})",
            given.join(", "),
            parameters.join(", "),
            types.join(", "),
        ));
        for (n, value) in results.iter().enumerate() {
            let name = match types.len() {
                1 => result.clone(),
                _ => format!("{result}#{n}"),
            };
            maker.values.push(Value {
                name,
                ..value.clone()
            });
        }
    }
}
