//! Operations between generics: other shapes, parts and named operations.

use super::types::is_float;
use super::{Maker, Value};
use crate::choices::Choices;

/// Adds an operation on a value that is there.
pub fn add(c: &mut Choices, maker: &mut Maker) {
    let number = c.below("of", maker.values.len() as u64) as usize;
    let value = maker.values[number].clone();
    let of = maker.known(&value);
    let made = match c.weighted("shape", &[15, 15, 10, 10, 15, 15, 10, 10]) {
        0 => pad(c, maker, &of),
        1 => slice(c, maker, &of),
        2 => collapse(maker, &of),
        3 => expand(maker, &of),
        4 => transpose(c, maker, &of),
        5 => broadcast(c, maker, &of),
        6 => reduce(c, maker, &of),
        _ => arithmetic(c, maker, &of),
    };
    maker.values.extend(made);
}

fn result(maker: &mut Maker, of: &Value, shape: Vec<i64>) -> Value {
    Value {
        name: maker.name(),
        shape,
        element: of.element,
        open: false,
        layout: None,
    }
}

/// A destination that holds nothing.
fn empty(maker: &mut Maker, like: &Value) -> Value {
    let empty = Value {
        name: maker.name(),
        ..like.clone()
    };
    let text = format!("{} = tensor.empty() : {}", empty.name, maker.ty(&empty));
    maker.line(&text);
    empty
}

pub fn list(numbers: &[i64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(i64::to_string).collect();
    numbers.join(", ")
}

fn pad(c: &mut Choices, maker: &mut Maker, of: &Value) -> Option<Value> {
    let sides = |name: &str, c: &mut Choices| -> Vec<i64> {
        (0..of.shape.len())
            .map(|n| c.scope(format!("{name}{n}"), |c| c.below("by", 3) as i64))
            .collect()
    };
    let (low, high) = (sides("low", c), sides("high", c));
    let shape = of
        .shape
        .iter()
        .zip(&low)
        .zip(&high)
        .map(|((size, low), high)| size + low + high);
    let number = maker.constant(c.below("number", 3) as i64, of.element);
    let padded = result(maker, of, shape.collect());
    let arguments: Vec<String> = (0..of.shape.len())
        .map(|n| format!("%i{n}: index"))
        .collect();
    let block = if arguments.is_empty() {
        String::new()
    } else {
        format!("^bb0({}): ", arguments.join(", "))
    };
    // Upstream folds a padded tensor without elements to a slice out of bounds.
    if arguments.is_empty() || of.shape.contains(&0) {
        return None;
    }
    let text = format!(
        "{} = tensor.pad {} low[{}] high[{}] {{ {block}tensor.yield {number} : {} }} : {} to {}",
        padded.name,
        of.name,
        list(&low),
        list(&high),
        of.element,
        maker.ty(of),
        maker.ty(&padded),
    );
    maker.line(&text);
    Some(padded)
}

fn slice(c: &mut Choices, maker: &mut Maker, of: &Value) -> Option<Value> {
    // Upstream verifies an offset into no elements as out of bounds.
    if of.shape.contains(&0) {
        return None;
    }
    let (mut offsets, mut sizes, mut strides) = (Vec::new(), Vec::new(), Vec::new());
    for (n, size) in of.shape.iter().enumerate() {
        c.scope(format!("a{n}"), |c| {
            let stride = 1 + c.below("stride", 2) as i64;
            let offset = c.below("offset", (*size).max(1) as u64) as i64;
            let most = if *size == 0 {
                0
            } else {
                (size - offset - 1) / stride + 1
            };
            offsets.push(offset.min(*size));
            strides.push(stride);
            sizes.push(most - c.below("less", most.max(1) as u64) as i64);
        });
    }
    let part = result(maker, of, sizes.clone());
    let text = format!(
        "{} = tensor.extract_slice {}[{}] [{}] [{}] : {} to {}",
        part.name,
        of.name,
        list(&offsets),
        list(&sizes),
        list(&strides),
        maker.ty(of),
        maker.ty(&part),
    );
    maker.line(&text);
    Some(part)
}

fn collapse(maker: &mut Maker, of: &Value) -> Option<Value> {
    // What has one element may have no axis.
    if !of.shape.is_empty() && of.shape.iter().all(|size| *size == 1) {
        let none = result(maker, of, Vec::new());
        let types = (maker.ty(of), maker.ty(&none));
        let text = format!(
            "{} = tensor.collapse_shape {} [] : {} into {}",
            none.name, of.name, types.0, types.1
        );
        maker.line(&text);
        return Some(none);
    }
    if of.shape.len() < 2 {
        return None;
    }
    let first = of.shape[0] * of.shape[1];
    let flat = result(maker, of, [&[first], &of.shape[2..]].concat());
    let rest: String = (2..of.shape.len()).map(|n| format!(", [{n}]")).collect();
    let types = (maker.ty(of), maker.ty(&flat));
    let text = format!(
        "{} = tensor.collapse_shape {} [[0, 1]{rest}] : {} into {}",
        flat.name, of.name, types.0, types.1
    );
    maker.line(&text);
    Some(flat)
}

fn expand(maker: &mut Maker, of: &Value) -> Option<Value> {
    let Some(size) = of.shape.first().copied() else {
        let one = result(maker, of, vec![1, 1]);
        let types = (maker.ty(of), maker.ty(&one));
        let text = format!(
            "{} = tensor.expand_shape {} [] output_shape [1, 1] : {} into {}",
            one.name, of.name, types.0, types.1
        );
        maker.line(&text);
        return Some(one);
    };
    let inner = if size % 2 == 0 { 2 } else { 1 };
    let shape = [&[size / inner, inner], &of.shape[1..]].concat();
    let rest: String = (1..of.shape.len())
        .map(|n| format!(", [{}]", n + 1))
        .collect();
    let more = result(maker, of, shape.clone());
    let types = (maker.ty(of), maker.ty(&more));
    let text = format!(
        "{} = tensor.expand_shape {} [[0, 1]{rest}] output_shape [{}] : {} into {}",
        more.name,
        of.name,
        list(&shape),
        types.0,
        types.1
    );
    maker.line(&text);
    Some(more)
}

fn transpose(c: &mut Choices, maker: &mut Maker, of: &Value) -> Option<Value> {
    // Upstream's verifier has no map of a transposition without axes.
    if of.shape.is_empty() {
        return None;
    }
    let mut order: Vec<usize> = (0..of.shape.len()).collect();
    for n in (1..order.len()).rev() {
        let other = c.scope(format!("p{n}"), |c| c.below("swap", n as u64 + 1)) as usize;
        order.swap(n, n - other);
    }
    let transposed = result(maker, of, order.iter().map(|n| of.shape[*n]).collect());
    let order: Vec<i64> = order.into_iter().map(|n| n as i64).collect();
    named(
        maker,
        ("transpose", &format!("permutation = [{}]", list(&order))),
        of,
        transposed,
    )
}

fn broadcast(c: &mut Choices, maker: &mut Maker, of: &Value) -> Option<Value> {
    let axis = c.below("axis", of.shape.len() as u64 + 1) as usize;
    let mut shape = of.shape.clone();
    shape.insert(axis, 1 + c.below("size", 4) as i64);
    let wide = result(maker, of, shape);
    named(
        maker,
        ("broadcast", &format!("dimensions = [{axis}]")),
        of,
        wide,
    )
}

/// `linalg.NAME` of one input into memory that holds nothing.
fn named(
    maker: &mut Maker,
    (name, attributes): (&str, &str),
    of: &Value,
    result: Value,
) -> Option<Value> {
    let into = empty(maker, &result);
    let text = format!(
        "{} = linalg.{name} ins({} : {}) outs({} : {}) {attributes}",
        result.name,
        of.name,
        maker.ty(of),
        into.name,
        maker.ty(&into),
    );
    maker.line(&text);
    Some(result)
}

fn reduce(c: &mut Choices, maker: &mut Maker, of: &Value) -> Option<Value> {
    if of.shape.is_empty() {
        return None;
    }
    let axis = c.below("axis", of.shape.len() as u64) as usize;
    let mut shape = of.shape.clone();
    shape.remove(axis);
    let sums = result(maker, of, shape);
    let into = empty(maker, &sums);
    let number = maker.constant(c.below("number", 3) as i64, of.element);
    let start = Value {
        name: maker.name(),
        ..into.clone()
    };
    let ty = maker.ty(&into);
    let text = format!(
        "{} = linalg.fill ins({number} : {}) outs({} : {ty}) -> {ty}",
        start.name, of.element, into.name
    );
    maker.line(&text);
    let operator = match of.element {
        _ if is_float(of.element) => c.pick("operator", &["addf", "mulf", "maximumf"]),
        "i1" => c.pick("operator", &["andi", "ori"]),
        _ => c.pick("operator", &["addi", "muli", "maxsi", "minui"]),
    };
    let text = format!(
        "{} = linalg.reduce {{ arith.{operator} }} ins({} : {}) outs({} : {ty}) dimensions = [{axis}]",
        sums.name,
        of.name,
        maker.ty(of),
        start.name,
    );
    maker.line(&text);
    Some(sums)
}

/// Arithmetic on whole tensors.
fn arithmetic(c: &mut Choices, maker: &mut Maker, of: &Value) -> Option<Value> {
    let operator = match of.element {
        _ if is_float(of.element) => c.pick("operator", &["addf", "mulf", "subf"]),
        "i1" => c.pick("operator", &["andi", "xori"]),
        _ => c.pick("operator", &["addi", "muli", "subi"]),
    };
    let both = result(maker, of, of.shape.clone());
    let text = format!(
        "{} = arith.{operator} {2}, {2} : {1}",
        both.name,
        maker.ty(of),
        of.name
    );
    maker.line(&text);
    Some(both)
}
