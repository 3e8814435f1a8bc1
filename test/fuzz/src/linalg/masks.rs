//! Accumulation under conditions, in wider types, and of the best of several that are alike.

use super::body::{Code, accumulate};
use super::types::{is_float, width};
use crate::choices::Choices;

/// One accumulation under a condition.
pub fn masked(c: &mut Choices, code: &mut Code, (acc, e): (&str, &str), operator: &str) -> String {
    let by = c.scope("by", |c| condition(c, code, acc));
    let form = c.weighted("form", &[24, 16, 12, 16, 8, 8, 8, 8]);
    if form == 3 || form == 7 {
        let inner = (form == 7).then(|| c.scope("inner", |c| condition(c, code, acc)));
        return branched(c, code, (acc, e, &by), operator, inner);
    }
    let step = c.scope("one", |c| accumulate(c, code, (acc, e), operator));
    let second = |c: &mut Choices, code: &mut Code, acc: &str| {
        let other = code.any(c, "another");
        c.scope("two", |c| accumulate(c, code, (acc, &other), operator))
    };
    match form {
        0 => code.select(&by, &step, acc),
        1 => code.select(&by, acc, &step),
        2 => {
            let second = second(c, code, acc);
            code.select(&by, &step, &second)
        }
        4 => {
            let inner = code.select(&by, &step, acc);
            let and = c.scope("and", |c| condition(c, code, acc));
            code.select(&and, &inner, acc)
        }
        5 => {
            let first = code.select(&by, &step, acc);
            second(c, code, &first)
        }
        _ => {
            let other = code.any(c, "another");
            let chosen = code.select(&by, e, &other);
            c.scope("two", |c| accumulate(c, code, (acc, &chosen), operator))
        }
    }
}

/// The same by `scf.if`, and by one in a branch of another one.
fn branched(
    c: &mut Choices,
    code: &mut Code,
    (acc, e, by): (&str, &str, &str),
    operator: &str,
    inner: Option<String>,
) -> String {
    let element = code.element;
    let result = code.put(&format!("scf.if {by} -> {element} {{"));
    let step = c.scope("one", |c| accumulate(c, code, (acc, e), operator));
    code.line(&format!("scf.yield {step} : {element}"));
    code.line("} else {");
    let other = match inner {
        Some(inner) => {
            let second = code.any(c, "another");
            c.scope("two", |c| {
                branched(c, code, (acc, &second, &inner), operator, None)
            })
        }
        None => acc.to_owned(),
    };
    code.line(&format!("scf.yield {other} : {element}"));
    code.line("}");
    result
}

/// A condition on indices or numbers, at times on the accumulator.
fn condition(c: &mut Choices, code: &mut Code, acc: &str) -> String {
    if code.rank > 0 && c.chance("index", 45) {
        let index = code.index(c, "of");
        let other = match c.chance("constant", 50) {
            true => code.constant(c.below("bound", 5) as i64, "index"),
            false => code.index(c, "other"),
        };
        let predicate = c.pick("predicate", &["slt", "sle", "sgt", "sge", "eq", "ne"]);
        return code.put(&format!("arith.cmpi {predicate}, {index}, {other} : index"));
    }
    let number = code.any(c, "another");
    if code.element == "i1" {
        return number;
    }
    let other = match c.weighted("with", &[50, 40, 10]) {
        0 => code.constant(c.below("bound", 3) as i64, code.element),
        1 => code.any(c, "second"),
        _ => acc.to_owned(),
    };
    let predicates: &[&str] = match is_float(code.element) {
        true => &["olt", "ole", "ogt", "oge", "ult", "une", "ord", "oeq"],
        false => &["slt", "sge", "ult", "eq", "ne"],
    };
    code.compare(c.pick("predicate", predicates), &number, &other)
}

/// A selection of booleans one of which is known, or an `and` or `or` of them.
pub fn logical(c: &mut Choices, code: &mut Code, (acc, e): (&str, &str)) -> String {
    let truth = code.constant(1, "i1");
    let lie = code.constant(0, "i1");
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
    code.select(by, a, b)
}

/// An accumulation in a wider type that is cut off again.
pub fn narrow(c: &mut Choices, code: &mut Code, (acc, e): (&str, &str)) -> String {
    let element = code.element;
    let (wide, extend, cut) = match element {
        "f16" | "bf16" => ("f32", "extf", "truncf"),
        "f32" | "f64" => ("f64", "extf", "truncf"),
        _ => (
            c.pick("wide", &["i64", "i32"]),
            c.pick("extend", &["extsi", "extui"]),
            "trunci",
        ),
    };
    let (all, mul): (&[&str], _) = match is_float(element) {
        true => (&["addf", "mulf", "maximumf"], "arith.mulf"),
        false => (
            &[
                "addi", "addi", "subi", "muli", "andi", "ori", "xori", "maxsi",
            ],
            "arith.muli",
        ),
    };
    // Nothing is wider than the widest.
    if width(wide) <= width(element) {
        return c.scope("same", |c| accumulate(c, code, (acc, e), all[0]));
    }
    let [before, mut number] =
        [acc, e].map(|of| code.put(&format!("arith.{extend} {of} : {element} to {wide}")));
    code.element = wide;
    if c.chance("product", 30) {
        number = code.op(mul, &[&number, &number]);
    }
    let operator = c.pick("wider", all);
    let mut pair = [&*before, &*number];
    if operator != "subi" && c.chance("turned", 40) {
        pair.reverse();
    }
    let mut sum = code.op(&format!("arith.{operator}"), &pair);
    code.element = element;
    if c.chance("masked", 30) {
        let by = c.scope("by", |c| condition(c, code, acc));
        sum = code.put(&format!("arith.select {by}, {sum}, {before} : {wide}"));
    }
    let cut = code.put(&format!("arith.{cut} {sum} : {wide} to {element}"));
    if c.chance("after", 20) {
        let by = c.scope("behind", |c| condition(c, code, acc));
        return code.select(&by, &cut, acc);
    }
    cut
}

/// The best value with its place, where many are alike: the first, the last, or any of these.
pub fn tied(c: &mut Choices, code: &mut Code, (e, place): (&str, &str)) -> Vec<String> {
    let is_float = is_float(code.element);
    let few = code.constant(if is_float { 0 } else { 3 }, code.element);
    let (cut, ordered, equal) = match is_float {
        true => ("arith.maximumf", "o", "oeq"),
        false => ("arith.andi", "s", "eq"),
    };
    let few = code.op(cut, &[e, &few]);
    let better = c.pick("better", &["gt", "lt"]);
    let better = code.compare(&format!("{ordered}{better}"), &few, "%o0");
    let equal = code.compare(equal, &few, "%o0");
    let order = c.pick("first", &["slt", "sgt", "sle", "ult"]);
    let before = code.put(&format!("arith.cmpi {order}, {place}, %o1 : i32"));
    let by = match c.weighted("ties", &[50, 25, 25]) {
        0 => {
            let both = code.put(&format!("arith.andi {equal}, {before} : i1"));
            code.put(&format!("arith.ori {better}, {both} : i1"))
        }
        1 => code.put(&format!("arith.select {equal}, {before}, {better} : i1")),
        _ => {
            let lie = code.constant(0, "i1");
            let both = code.put(&format!("arith.select {equal}, {before}, {lie} : i1"));
            code.put(&format!("arith.ori {both}, {better} : i1"))
        }
    };
    let places = format!("arith.select {by}, {place}, %o1 : i32");
    vec![code.select(&by, &few, "%o0"), code.put(&places)]
}
