//! Scalar code of operations, and how it accumulates.

use std::fmt::Write as _;

use super::extracted::Extracted;
use super::generic::Operand;
use super::masks;
use super::types::{self, Special, cast, is_float, special};
use crate::choices::Choices;

/// Way in which a body makes the elements of its destinations.
pub enum BodyKind {
    /// Each element is made once.
    Each,
    /// One or several are accumulated, each by an operation of its own, alone.
    Sums(Vec<&'static str>),
    /// The best value with its place, by a comparison.
    Best(&'static str, bool),
    /// Two numbers as one of the Gaussian integers, with the licence to combine parts of the product.
    Product,
    /// An operator that is not associative.
    Horner,
    /// One or several are accumulated under conditions.
    Masked(Vec<&'static str>),
    /// One is accumulated in a wider type.
    Narrow,
    /// A boolean is accumulated by selections.
    Logical,
    /// The best value with its place, where many are alike.
    Tied,
    /// The logarithm of a sum of exponentials, with the licence to combine parts of it.
    LogSum,
}

const INTEGERS: [&str; 11] = [
    "addi", "muli", "maxsi", "minsi", "maxui", "minui", "andi", "ori", "xori", "subi", "select",
];
const FLOATS: [&str; 9] = [
    "addf", "mulf", "maximumf", "minimumf", "maxnumf", "minnumf", "subf", "fma", "select",
];
const LOGIC: [&str; 3] = ["andi", "ori", "xori"];

/// Comparisons of one number with another, of floats and of integers.
const ORDERS: [[&str; 8]; 2] = [
    ["ogt", "oge", "olt", "ole", "ugt", "uge", "ult", "ule"],
    ["sgt", "sge", "slt", "sle", "ugt", "uge", "ult", "ule"],
];

fn order(c: &mut Choices, element: &str) -> &'static str {
    c.pick("predicate", &ORDERS[usize::from(!is_float(element))])
}

/// The kind of a body for elements of a type.
pub fn kind(c: &mut Choices, element: &'static str) -> BodyKind {
    let operators: &[&str] = match element {
        _ if is_float(element) => &FLOATS,
        "i1" => &LOGIC,
        _ => &INTEGERS,
    };
    let several = |c: &mut Choices, weights: &[u64]| {
        let count = 1 + c.weighted("several", weights);
        let draw = |n| c.scope(format!("op{n}"), |c| c.pick("operator", operators));
        (0..count).map(draw).collect()
    };
    match c.weighted("kind", &[30, 34, 7, 3, 3, 4, 11, 4, 2, 2]) {
        1 => BodyKind::Sums(several(c, &[80, 15, 5])),
        2 if element != "i1" => BodyKind::Best(order(c, element), c.chance("turned", 50)),
        3 if element == "i32" => BodyKind::Product,
        4 if element != "i1" => BodyKind::Horner,
        5 if is_float(element) => BodyKind::LogSum,
        6..=9 if element == "i1" => BodyKind::Logical,
        6 | 8 => BodyKind::Masked(several(c, &[80, 20])),
        7 => BodyKind::Narrow,
        9 => BodyKind::Tied,
        _ => BodyKind::Each,
    }
}

impl BodyKind {
    /// The number of its destinations.
    pub fn destinations(&self) -> usize {
        match self {
            BodyKind::Sums(operators) | BodyKind::Masked(operators) => operators.len(),
            BodyKind::Best(..) | BodyKind::Tied | BodyKind::Product => 2,
            BodyKind::Each
            | BodyKind::Horner
            | BodyKind::LogSum
            | BodyKind::Narrow
            | BodyKind::Logical => 1,
        }
    }

    /// Says that destinations do not depend on each other.
    pub fn is_several(&self) -> bool {
        matches!(self, BodyKind::Sums(operators) | BodyKind::Masked(operators) if operators.len() > 1)
    }

    /// The type of the elements of a destination.
    pub fn element(&self, number: usize, element: &'static str) -> &'static str {
        match self {
            BodyKind::Best(..) | BodyKind::Tied if number == 1 => "i32",
            _ => element,
        }
    }

    /// Attributes of the operation.
    pub fn licence(&self) -> &'static str {
        match self {
            BodyKind::Product | BodyKind::LogSum => " attrs = {mdh.associative, mdh.commutative}",
            _ => "",
        }
    }

    /// The neutral element of a destination's operator.
    pub fn start(&self, number: usize, element: &str) -> Option<String> {
        let (BodyKind::Sums(operators) | BodyKind::Masked(operators)) = self else {
            return None;
        };
        let text = match *operators.get(number)? {
            "addf" | "subf" | "fma" => "0.0",
            "mulf" => "1.0",
            "maximumf" => special(element, Special::NegativeInfinity),
            "minimumf" => special(element, Special::Infinity),
            "addi" | "subi" | "ori" | "xori" if element != "i1" => "0",
            "ori" | "xori" => "false",
            "andi" if element == "i1" => "true",
            "muli" => "1",
            "maxsi" if element == "i32" => "-2147483648",
            "minsi" if element == "i32" => "2147483647",
            "andi" => "-1",
            _ => return None,
        };
        Some(text.to_owned())
    }
}

/// A body while it is made.
pub struct Code {
    lines: String,
    next: usize,
    /// The numbers of the inputs, and their type.
    numbers: Vec<String>,
    pub element: &'static str,
    /// The number of loops.
    pub rank: usize,
}

impl Code {
    /// Adds an operation; the name of what it makes.
    pub fn put(&mut self, text: &str) -> String {
        self.next += 1;
        let name = format!("%t{}", self.next);
        self.line(&format!("{name} = {text}"));
        name
    }

    /// Adds a line.
    pub fn line(&mut self, text: &str) {
        let _ = writeln!(self.lines, "    {text}");
    }

    /// Adds an operation on numbers.
    pub fn op(&mut self, name: &str, operands: &[&str]) -> String {
        self.put(&format!(
            "{name} {} : {}",
            operands.join(", "),
            self.element
        ))
    }

    /// Adds a comparison of numbers.
    pub fn compare(&mut self, predicate: &str, a: &str, b: &str) -> String {
        let compare = if is_float(self.element) { "f" } else { "i" };
        self.op(&format!("arith.cmp{compare} {predicate},"), &[a, b])
    }

    /// Adds a choice between numbers.
    pub fn select(&mut self, by: &str, a: &str, b: &str) -> String {
        self.op("arith.select", &[by, a, b])
    }

    /// Adds a constant.
    pub fn constant(&mut self, number: i64, element: &str) -> String {
        self.put(&format!(
            "arith.constant {}",
            types::number(number, element)
        ))
    }

    /// Adds the index of some loop.
    pub fn index(&mut self, c: &mut Choices, name: &str) -> String {
        let number = c.below(name, self.rank as u64);
        self.put(&format!("linalg.index {number} : index"))
    }

    /// The same as a number of type i32.
    fn place(&mut self, c: &mut Choices, name: &str) -> String {
        if self.rank == 0 {
            return self.constant(3, "i32");
        }
        let index = self.index(c, name);
        self.put(&format!("arith.index_cast {index} : index to i32"))
    }

    /// One of the numbers.
    pub fn any(&self, c: &mut Choices, name: &str) -> String {
        self.numbers[c.below(name, self.numbers.len() as u64) as usize].clone()
    }
}

/// A block with its arguments and what it yields.
pub fn text(
    c: &mut Choices,
    kind: &BodyKind,
    (inputs, outputs, extracted): (&[Operand], &[Operand], Option<&Extracted>),
    rank: usize,
) -> String {
    let element = outputs[0].element();
    let mut code = Code {
        lines: String::new(),
        next: 0,
        numbers: Vec::new(),
        element,
        rank,
    };
    let mut arguments = Vec::new();
    for (n, input) in inputs.iter().enumerate() {
        arguments.push(format!("%a{n}: {}", input.element()));
        let number = match input.element() {
            own if own == element => format!("%a{n}"),
            own => code.put(&convert(&format!("%a{n}"), own, element)),
        };
        code.numbers.push(number);
    }
    if let Some(extracted) = extracted {
        let number = extracted.put(&mut code);
        code.numbers.push(number);
    }
    for (n, output) in outputs.iter().enumerate() {
        arguments.push(format!("%o{n}: {}", output.element()));
    }
    let first = c.scope("e0", |c| number(c, &mut code));
    let yields = yields(c, kind, &mut code, first, inputs.len());
    let types: Vec<&str> = outputs.iter().map(Operand::element).collect();
    format!(
        "  ^bb0({}):\n{}    linalg.yield {} : {}\n",
        arguments.join(", "),
        code.lines,
        yields.join(", "),
        types.join(", ")
    )
}

/// The values that a body yields, made of a first number.
fn yields(
    c: &mut Choices,
    kind: &BodyKind,
    code: &mut Code,
    first: String,
    inputs: usize,
) -> Vec<String> {
    let e = first.as_str();
    match kind {
        BodyKind::Each => vec![match c.chance("before", 30) {
            true => binary(c, code, "%o0", e),
            false => first,
        }],
        BodyKind::Sums(operators) | BodyKind::Masked(operators) => {
            let accumulate = match kind {
                BodyKind::Masked(_) => masks::masked,
                _ => accumulate,
            };
            let numbered = operators.iter().enumerate();
            numbered
                .map(|(n, operator)| {
                    c.scope(format!("e{n}"), |c| {
                        let e = match n {
                            0 => first.clone(),
                            _ => number(c, code),
                        };
                        accumulate(c, code, (&format!("%o{n}"), &e), operator)
                    })
                })
                .collect()
        }
        BodyKind::Narrow => vec![masks::narrow(c, code, ("%o0", e))],
        BodyKind::Logical => vec![masks::logical(c, code, ("%o0", e))],
        BodyKind::Tied => {
            let place = code.place(c, "loop");
            masks::tied(c, code, (e, &place))
        }
        BodyKind::Best(predicate, is_swapped) => best(c, code, e, predicate, *is_swapped),
        BodyKind::Product => {
            // Elements are told apart by their places: others than the inputs in order stay loops.
            let factors = match inputs {
                2 => [code.numbers[0].clone(), code.numbers[1].clone()],
                _ => [first.clone(), first],
            };
            product(code, &factors)
        }
        BodyKind::LogSum => log_sum(code, e),
        BodyKind::Horner => {
            let ty = if is_float(code.element) { "f" } else { "i" };
            let twice = code.op(&format!("arith.mul{ty}"), &["%o0", e]);
            vec![code.op(&format!("arith.add{ty}"), &[&twice, e])]
        }
    }
}

/// The better of an element and what is there, with its place.
fn best(
    c: &mut Choices,
    code: &mut Code,
    e: &str,
    predicate: &str,
    is_swapped: bool,
) -> Vec<String> {
    let place = code.place(c, "loop");
    let [mut a, mut b] = [[e, "%o0"], [place.as_str(), "%o1"]];
    if is_swapped {
        a.reverse();
        b.reverse();
    }
    let better = code.compare(predicate, a[0], a[1]);
    let places = format!("arith.select {better}, {}, {} : i32", b[0], b[1]);
    vec![code.select(&better, a[0], a[1]), code.put(&places)]
}

/// The product of what is there and a Gaussian integer.
fn product(code: &mut Code, [real, imaginary]: &[String; 2]) -> Vec<String> {
    let pairs = [
        ("%o0", real),
        ("%o1", imaginary),
        ("%o0", imaginary),
        ("%o1", real),
    ];
    let [ac, bd, ad, bc] = pairs.map(|(a, b)| code.op("arith.muli", &[a, b]));
    let real = code.op("arith.subi", &[&ac, &bd]);
    vec![real, code.op("arith.addi", &[&ad, &bc])]
}

/// The logarithm of the sum of powers of what is there and an element.
fn log_sum(code: &mut Code, e: &str) -> Vec<String> {
    let largest = code.op("arith.maximumf", &["%o0", e]);
    let powers = ["%o0", e].map(|exponent| {
        let less = code.op("arith.subf", &[exponent, &largest]);
        code.op("math.exp", &[&less])
    });
    let sum = code.op("arith.addf", &[&powers[0], &powers[1]]);
    let log = code.op("math.log", &[&sum]);
    vec![code.op("arith.addf", &[&largest, &log])]
}

fn convert(name: &str, from: &str, to: &str) -> String {
    format!("arith.{} {name} : {from} to {to}", cast(from, to))
}

fn binary(c: &mut Choices, code: &mut Code, a: &str, b: &str) -> String {
    let operators: &[&str] = match code.element {
        element if is_float(element) => &["addf", "subf", "mulf", "maximumf"],
        "i1" => &LOGIC,
        _ => &["addi", "subi", "muli", "andi", "maxsi"],
    };
    code.op(&format!("arith.{}", c.pick("binary", operators)), &[a, b])
}

/// A number of the inputs: one of them, a product or sum of two, with an index at times.
fn number(c: &mut Choices, code: &mut Code) -> String {
    let (element, rank) = (code.element, code.rank);
    let mut number = code.any(c, "first");
    if c.chance("second", 50) {
        let other = code.any(c, "other");
        number = binary(c, code, &number, &other);
    }
    if rank > 0 && element != "i1" && c.chance("index", 15) {
        let mut place = code.place(c, "of");
        if element != "i32" {
            place = code.put(&convert(&place, "i32", element));
        }
        number = c.scope("with", |c| binary(c, code, &number, &place));
    }
    if rank > 0 && is_float(element) && c.chance("special", 6) {
        let index = code.index(c, "where");
        let place = code.constant(c.below("at", 3) as i64, "index");
        let is_there = code.put(&format!("arith.cmpi eq, {index}, {place} : index"));
        let number_there = match c.weighted("which", &[40, 20, 20, 20]) {
            0 => special(element, Special::Nan),
            1 => special(element, Special::NegativeInfinity),
            2 => special(element, Special::Infinity),
            _ => "-0.0",
        };
        let there = code.op("arith.constant", &[number_there]);
        number = code.select(&is_there, &there, &number);
    }
    if c.chance("chosen", 10) {
        let other = code.any(c, "third");
        let less = if is_float(element) { "olt" } else { "slt" };
        let is_less = code.compare(less, &number, &other);
        number = code.select(&is_less, &number, &other);
    }
    number
}

/// An accumulation by an operator.
pub fn accumulate(
    c: &mut Choices,
    code: &mut Code,
    (acc, e): (&str, &str),
    operator: &str,
) -> String {
    match operator {
        "fma" => code.op("math.fma", &[e, e, acc]),
        "subi" | "subf" => {
            let once = code.op(&format!("arith.{operator}"), &[acc, e]);
            match c.chance("twice", 40) {
                true => code.op(&operator.replace("sub", "arith.add"), &[&once, e]),
                false => once,
            }
        }
        "select" => {
            let predicate = order(c, code.element);
            let mut pair = [e, acc];
            if c.chance("turned", 50) {
                pair.reverse();
            }
            let by = code.compare(predicate, pair[0], pair[1]);
            if c.chance("other", 50) {
                pair.reverse();
            }
            code.select(&by, pair[0], pair[1])
        }
        _ => {
            let mut pair = [acc, e];
            if c.chance("turned", 50) {
                pair.reverse();
            }
            code.op(&format!("arith.{operator}"), &pair)
        }
    }
}
