//! Accumulation under conditions, in wider types, and of the best of several that are alike.

use super::body::{self, Code};
use super::types::{is_float, width};
use crate::choices::Choices;

/// The numbers that a body has.
pub struct Numbers<'a> {
    /// Those of the inputs.
    pub of: &'a [String],
    /// Their type.
    pub element: &'static str,
    /// The number of loops.
    pub rank: usize,
}

/// One accumulation under a condition.
pub fn masked(
    c: &mut Choices,
    code: &mut Code,
    (acc, e): (&str, &str),
    operator: &str,
    numbers: &Numbers,
) -> String {
    let element = numbers.element;
    let by = c.scope("by", |c| condition(c, code, acc, numbers));
    let form = c.weighted("form", &[24, 16, 12, 16, 8, 8, 8, 8]);
    if form == 3 || form == 7 {
        return branched(c, code, (acc, e, &by), operator, numbers, form == 7);
    }
    let step = c.scope("one", |c| {
        body::accumulate(c, code, (acc, e), operator, element)
    });
    let select = |code: &mut Code, by: &str, a: &str, b: &str| {
        code.put(&format!("arith.select {by}, {a}, {b} : {element}"))
    };
    match form {
        0 => select(code, &by, &step, acc),
        1 => select(code, &by, acc, &step),
        2 => {
            let other = another(c, numbers);
            let second = c.scope("two", |c| {
                body::accumulate(c, code, (acc, &other), operator, element)
            });
            select(code, &by, &step, &second)
        }
        4 => {
            let inner = select(code, &by, &step, acc);
            let and = c.scope("and", |c| condition(c, code, acc, numbers));
            select(code, &and, &inner, acc)
        }
        5 => {
            let first = select(code, &by, &step, acc);
            let other = another(c, numbers);
            c.scope("two", |c| {
                body::accumulate(c, code, (&first, &other), operator, element)
            })
        }
        _ => {
            let other = another(c, numbers);
            let chosen = select(code, &by, e, &other);
            c.scope("two", |c| {
                body::accumulate(c, code, (acc, &chosen), operator, element)
            })
        }
    }
}

fn another(c: &mut Choices, numbers: &Numbers) -> String {
    numbers.of[c.below("another", numbers.of.len() as u64) as usize].clone()
}

/// The same by `scf.if`, and by one in a branch of another one.
fn branched(
    c: &mut Choices,
    code: &mut Code,
    (acc, e, by): (&str, &str, &str),
    operator: &str,
    numbers: &Numbers,
    is_nested: bool,
) -> String {
    let element = numbers.element;
    let inner = is_nested.then(|| c.scope("inner", |c| condition(c, code, acc, numbers)));
    let result = code.open(&format!("scf.if {by} -> {element}"));
    let step = c.scope("one", |c| {
        body::accumulate(c, code, (acc, e), operator, element)
    });
    code.line(&format!("scf.yield {step} : {element}"));
    code.line("} else {");
    let other = match inner {
        Some(inner) => {
            let second = another(c, numbers);
            let result = code.open(&format!("scf.if {inner} -> {element}"));
            let step = c.scope("two", |c| {
                body::accumulate(c, code, (acc, &second), operator, element)
            });
            code.line(&format!("scf.yield {step} : {element}"));
            code.line("} else {");
            code.line(&format!("scf.yield {acc} : {element}"));
            code.line("}");
            result
        }
        None => acc.to_owned(),
    };
    code.line(&format!("scf.yield {other} : {element}"));
    code.line("}");
    result
}

/// A condition on indices or numbers, at times on the accumulator.
fn condition(c: &mut Choices, code: &mut Code, acc: &str, numbers: &Numbers) -> String {
    let element = numbers.element;
    let by_index = numbers.rank > 0 && c.chance("index", 45);
    if by_index {
        let index = |c: &mut Choices, code: &mut Code, name: &str| {
            let number = c.below(name, numbers.rank as u64);
            code.put(&format!("linalg.index {number} : index"))
        };
        let of = index(c, code, "of");
        let other = match c.chance("constant", 50) {
            true => code.put(&format!("arith.constant {} : index", c.below("bound", 5))),
            false => index(c, code, "other"),
        };
        let predicate = c.pick("predicate", &["slt", "sle", "sgt", "sge", "eq", "ne"]);
        return code.put(&format!("arith.cmpi {predicate}, {of}, {other} : index"));
    }
    let of = another(c, numbers);
    if element == "i1" {
        return of;
    }
    let other = match c.weighted("with", &[50, 40, 10]) {
        0 => code.constant(c.below("bound", 3) as i64, element),
        1 => numbers.of[c.below("second", numbers.of.len() as u64) as usize].clone(),
        _ => acc.to_owned(),
    };
    let text = match is_float(element) {
        true => format!(
            "cmpf {}",
            c.pick(
                "predicate",
                &["olt", "ole", "ogt", "oge", "ult", "une", "ord", "oeq"]
            )
        ),
        false => format!(
            "cmpi {}",
            c.pick("predicate", &["slt", "sge", "ult", "eq", "ne"])
        ),
    };
    code.put(&format!("arith.{text}, {of}, {other} : {element}"))
}

/// A selection of booleans one of which is known, or an `and` or `or` of them.
pub fn logical(c: &mut Choices, code: &mut Code, (acc, e): (&str, &str)) -> String {
    let truth = code.put("arith.constant true");
    let lie = code.put("arith.constant false");
    let (truth, lie) = (truth.as_str(), lie.as_str());
    let forms = [
        (e, truth, acc),
        (e, acc, lie),
        (acc, truth, e),
        (acc, e, lie),
        (e, lie, acc),
        (e, acc, truth),
        (acc, lie, e),
        (acc, e, truth),
    ];
    let (by, a, b) = forms[c.weighted("logical", &[18, 18, 18, 18, 8, 8, 6, 6])];
    code.put(&format!("arith.select {by}, {a}, {b} : i1"))
}

/// An accumulation in a wider type that is cut off again.
pub fn narrow(
    c: &mut Choices,
    code: &mut Code,
    (acc, e): (&str, &str),
    numbers: &Numbers,
) -> String {
    let element = numbers.element;
    let (wide, extend, cut) = match element {
        "f16" | "bf16" => ("f32", "extf", "truncf"),
        "f32" | "f64" => ("f64", "extf", "truncf"),
        _ => (
            c.pick("wide", &["i64", "i32"]),
            c.pick("extend", &["extsi", "extui"]),
            "trunci",
        ),
    };
    // Nothing is wider than the widest.
    if width(wide) <= width(element) {
        return c.scope("same", |c| {
            body::accumulate(c, code, (acc, e), "add", element)
        });
    }
    let extended =
        |code: &mut Code, of: &str| code.put(&format!("arith.{extend} {of} : {element} to {wide}"));
    let (mut a, mut b) = (extended(code, acc), extended(code, e));
    if c.chance("product", 30) {
        let mul = if is_float(element) { "mulf" } else { "muli" };
        b = code.put(&format!("arith.{mul} {b}, {b} : {wide}"));
    }
    let all: &[&str] = match is_float(element) {
        true => &["addf", "mulf", "maximumf"],
        false => &[
            "addi", "addi", "subi", "muli", "andi", "ori", "xori", "maxsi",
        ],
    };
    let operator = c.pick("wider", all);
    let before = a.clone();
    if operator != "subi" && c.chance("turned", 40) {
        std::mem::swap(&mut a, &mut b);
    }
    let mut sum = code.put(&format!("arith.{operator} {a}, {b} : {wide}"));
    if c.chance("masked", 30) {
        let by = c.scope("by", |c| condition(c, code, acc, numbers));
        sum = code.put(&format!("arith.select {by}, {sum}, {before} : {wide}"));
    }
    let mut cut = code.put(&format!("arith.{cut} {sum} : {wide} to {element}"));
    if c.chance("after", 20) {
        let by = c.scope("behind", |c| condition(c, code, acc, numbers));
        cut = code.put(&format!("arith.select {by}, {cut}, {acc} : {element}"));
    }
    cut
}

/// The best value with its place, where many are alike: the first, the last, or any of these.
pub fn tied(
    c: &mut Choices,
    code: &mut Code,
    (e, place): (&str, &str),
    element: &'static str,
) -> Vec<String> {
    let few = code.constant(if is_float(element) { 0 } else { 3 }, element);
    let (compare, few) = match is_float(element) {
        true => (
            "cmpf o",
            code.put(&format!("arith.maximumf {e}, {few} : {element}")),
        ),
        false => (
            "cmpi s",
            code.put(&format!("arith.andi {e}, {few} : {element}")),
        ),
    };
    let better = c.pick("better", &["gt", "lt"]);
    let better = code.put(&format!("arith.{compare}{better}, {few}, %o0 : {element}"));
    let equal = match is_float(element) {
        true => "cmpf oeq",
        false => "cmpi eq",
    };
    let equal = code.put(&format!("arith.{equal}, {few}, %o0 : {element}"));
    let order = c.pick("first", &["slt", "sgt", "sle", "ult"]);
    let before = code.put(&format!("arith.cmpi {order}, {place}, %o1 : i32"));
    let by = match c.weighted("ties", &[50, 25, 25]) {
        0 => {
            let both = code.put(&format!("arith.andi {equal}, {before} : i1"));
            code.put(&format!("arith.ori {better}, {both} : i1"))
        }
        1 => code.put(&format!("arith.select {equal}, {before}, {better} : i1")),
        _ => {
            let lie = code.put("arith.constant false");
            let both = code.put(&format!("arith.select {equal}, {before}, {lie} : i1"));
            code.put(&format!("arith.ori {both}, {better} : i1"))
        }
    };
    let pairs = [(few.as_str(), "%o0", element), (place, "%o1", "i32")];
    pairs
        .map(|(a, b, ty)| code.put(&format!("arith.select {by}, {a}, {b} : {ty}")))
        .to_vec()
}
