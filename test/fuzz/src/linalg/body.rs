//! Scalar code of operations, and how it accumulates.

use std::fmt::Write as _;

use super::extracted::Extracted;
use super::generic::Operand;
use super::masks::{self, Numbers};
use super::types::{cast, infinite, is_float, nan};
use crate::choices::Choices;

/// Way in which a body makes the elements of its destinations.
pub enum Kind {
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

/// The kind of a body for elements of a type.
pub fn kind(c: &mut Choices, element: &'static str) -> Kind {
    let all: &[&str] = match element {
        _ if is_float(element) => &FLOATS,
        "i1" => &LOGIC,
        _ => &INTEGERS,
    };
    match c.weighted("kind", &[30, 34, 7, 3, 3, 4, 11, 4, 2, 2]) {
        1 => {
            let count = 1 + c.weighted("several", &[80, 15, 5]);
            let one = |n| c.scope(format!("op{n}"), |c| c.pick("operator", all));
            Kind::Sums((0..count).map(one).collect())
        }
        2 if element != "i1" => {
            let predicates: &[&str] = match element {
                _ if is_float(element) => &["ogt", "oge", "olt", "ole", "ugt", "uge", "ult", "ule"],
                _ => &["sgt", "sge", "slt", "sle", "ugt", "uge", "ult", "ule"],
            };
            let predicate = c.pick("predicate", predicates);
            Kind::Best(predicate, c.chance("turned", 50))
        }
        3 if element == "i32" => Kind::Product,
        4 if element != "i1" => Kind::Horner,
        5 if is_float(element) => Kind::LogSum,
        6..=9 if element == "i1" => Kind::Logical,
        6 | 8 => {
            let count = 1 + c.weighted("several", &[80, 20]);
            let one = |n| c.scope(format!("op{n}"), |c| c.pick("operator", all));
            Kind::Masked((0..count).map(one).collect())
        }
        7 => Kind::Narrow,
        9 => Kind::Tied,
        _ => Kind::Each,
    }
}

impl Kind {
    /// The number of its destinations.
    pub fn destinations(&self) -> usize {
        match self {
            Kind::Sums(operators) | Kind::Masked(operators) => operators.len(),
            Kind::Best(..) | Kind::Tied | Kind::Product => 2,
            Kind::Each | Kind::Horner | Kind::LogSum | Kind::Narrow | Kind::Logical => 1,
        }
    }

    /// Says that destinations do not depend on each other.
    pub fn is_several(&self) -> bool {
        matches!(self, Kind::Sums(operators) | Kind::Masked(operators) if operators.len() > 1)
    }

    /// The type of the elements of a destination.
    pub fn element(&self, number: usize, element: &'static str) -> &'static str {
        match self {
            Kind::Best(..) | Kind::Tied if number == 1 => "i32",
            _ => element,
        }
    }

    /// Attributes of the operation.
    pub fn licence(&self) -> &'static str {
        match self {
            Kind::Product | Kind::LogSum => " attrs = {mdh.associative, mdh.commutative}",
            _ => "",
        }
    }

    /// The neutral element of a destination's operator.
    pub fn start(&self, number: usize, element: &str) -> Option<String> {
        let (Kind::Sums(operators) | Kind::Masked(operators)) = self else {
            return None;
        };
        let text = match *operators.get(number)? {
            "addf" | "subf" | "fma" => "0.0",
            "mulf" => "1.0",
            "maximumf" => infinite(element, true),
            "minimumf" => infinite(element, false),
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

/// Lines of a body and names in it.
pub struct Code {
    lines: String,
    next: usize,
}

impl Code {
    /// Adds an operation; the name of what it makes.
    pub fn put(&mut self, text: &str) -> String {
        self.next += 1;
        let name = format!("%t{}", self.next);
        let _ = writeln!(self.lines, "    {name} = {text}");
        name
    }

    /// The same of one with a region, which is open then.
    pub fn open(&mut self, text: &str) -> String {
        self.put(&format!("{text} {{"))
    }

    /// Adds a line.
    pub fn line(&mut self, text: &str) {
        let _ = writeln!(self.lines, "    {text}");
    }

    /// Adds a constant.
    pub fn constant(&mut self, number: i64, element: &str) -> String {
        self.put(&match element {
            _ if is_float(element) => format!("arith.constant {number}.0 : {element}"),
            "i1" => format!("arith.constant {}", number % 2 != 0),
            _ => format!("arith.constant {number} : {element}"),
        })
    }
}

/// A block with its arguments and what it yields.
pub fn text(
    c: &mut Choices,
    kind: &Kind,
    (inputs, outputs, extracted): (&[Operand], &[Operand], Option<&Extracted>),
    rank: usize,
) -> String {
    let mut code = Code {
        lines: String::new(),
        next: 0,
    };
    let element = outputs[0].element();
    let mut arguments = Vec::new();
    let mut numbers = Vec::new();
    for (n, input) in inputs.iter().enumerate() {
        arguments.push(format!("%a{n}: {}", input.element()));
        let number = match input.element() {
            own if own == element => format!("%a{n}"),
            own => code.put(&convert(&format!("%a{n}"), own, element)),
        };
        numbers.push(number);
    }
    numbers.extend(extracted.map(|extracted| extracted.put(&mut code)));
    for (n, output) in outputs.iter().enumerate() {
        arguments.push(format!("%o{n}: {}", output.element()));
    }
    let first = c.scope("e0", |c| number(c, &mut code, &numbers, element, rank));
    let yields: Vec<String> = match kind {
        Kind::Each => {
            let used = c.chance("before", 30);
            vec![if used {
                code.put(&binary(c, "%o0", &first, element))
            } else {
                first
            }]
        }
        Kind::Sums(operators) => {
            let all = operators.iter().enumerate();
            all.map(|(n, operator)| {
                c.scope(format!("e{n}"), |c| {
                    let e = match n {
                        0 => first.clone(),
                        _ => number(c, &mut code, &numbers, element, rank),
                    };
                    accumulate(c, &mut code, (&format!("%o{n}"), &e), operator, element)
                })
            })
            .collect()
        }
        Kind::Masked(operators) => {
            let all = operators.iter().enumerate();
            all.map(|(n, operator)| {
                c.scope(format!("e{n}"), |c| {
                    let e = match n {
                        0 => first.clone(),
                        _ => number(c, &mut code, &numbers, element, rank),
                    };
                    let with = Numbers {
                        of: &numbers,
                        element,
                        rank,
                    };
                    let acc = format!("%o{n}");
                    masks::masked(c, &mut code, (&acc, &e), operator, &with)
                })
            })
            .collect()
        }
        Kind::Narrow => {
            let with = Numbers {
                of: &numbers,
                element,
                rank,
            };
            vec![masks::narrow(c, &mut code, ("%o0", &first), &with)]
        }
        Kind::Logical => vec![masks::logical(c, &mut code, ("%o0", &first))],
        Kind::Tied => {
            let place = place(c, &mut code, rank);
            masks::tied(c, &mut code, (&first, &place), element)
        }
        Kind::Best(predicate, is_swapped) => {
            let place = place(c, &mut code, rank);
            let compare = if is_float(element) { "cmpf" } else { "cmpi" };
            let (a, b) = if *is_swapped {
                ("%o0", first.as_str())
            } else {
                (first.as_str(), "%o0")
            };
            let better = code.put(&format!(
                "arith.{compare} {predicate}, {a}, {b} : {element}"
            ));
            let pairs = [
                (a, b, element),
                match is_swapped {
                    true => ("%o1", place.as_str(), "i32"),
                    false => (place.as_str(), "%o1", "i32"),
                },
            ];
            pairs
                .map(|(a, b, ty)| code.put(&format!("arith.select {better}, {a}, {b} : {ty}")))
                .to_vec()
        }
        Kind::Product => {
            // Elements are told apart by their places: others than the inputs in order stay loops.
            let (first, second) = match inputs.len() {
                2 => (numbers[0].clone(), numbers[1].clone()),
                _ => (first.clone(), first),
            };
            let [ac, bd, ad, bc] = [
                ("%o0", &first),
                ("%o1", &second),
                ("%o0", &second),
                ("%o1", &first),
            ]
            .map(|(a, b)| code.put(&format!("arith.muli {a}, {b} : {element}")));
            let real = code.put(&format!("arith.subi {ac}, {bd} : {element}"));
            let other = code.put(&format!("arith.addi {ad}, {bc} : {element}"));
            vec![real, other]
        }
        Kind::LogSum => {
            let largest = code.put(&format!("arith.maximumf %o0, {first} : {element}"));
            let powers = ["%o0", first.as_str()].map(|of| {
                let less = code.put(&format!("arith.subf {of}, {largest} : {element}"));
                code.put(&format!("math.exp {less} : {element}"))
            });
            let sum = code.put(&format!(
                "arith.addf {}, {} : {element}",
                powers[0], powers[1]
            ));
            let log = code.put(&format!("math.log {sum} : {element}"));
            vec![code.put(&format!("arith.addf {largest}, {log} : {element}"))]
        }
        Kind::Horner => {
            let (mul, add) = if is_float(element) {
                ("mulf", "addf")
            } else {
                ("muli", "addi")
            };
            let twice = code.put(&format!("arith.{mul} %o0, {first} : {element}"));
            vec![code.put(&format!("arith.{add} {twice}, {first} : {element}"))]
        }
    };
    let types: Vec<&str> = outputs.iter().map(Operand::element).collect();
    format!(
        "  ^bb0({}):\n{}    linalg.yield {} : {}\n",
        arguments.join(", "),
        code.lines,
        yields.join(", "),
        types.join(", ")
    )
}

/// An index as a number, if there is one.
fn place(c: &mut Choices, code: &mut Code, rank: usize) -> String {
    if rank == 0 {
        return code.put("arith.constant 3 : i32");
    }
    let index = code.put(&format!(
        "linalg.index {} : index",
        c.below("loop", rank as u64)
    ));
    code.put(&format!("arith.index_cast {index} : index to i32"))
}

fn convert(name: &str, from: &str, to: &str) -> String {
    format!("arith.{} {name} : {from} to {to}", cast(from, to))
}

fn binary(c: &mut Choices, a: &str, b: &str, element: &str) -> String {
    let all: &[&str] = match element {
        _ if is_float(element) => &["addf", "subf", "mulf", "maximumf"],
        "i1" => &LOGIC,
        _ => &["addi", "subi", "muli", "andi", "maxsi"],
    };
    format!("arith.{} {a}, {b} : {element}", c.pick("binary", all))
}

/// A number of the inputs: one of them, a product or sum of two, with an index at times.
fn number(c: &mut Choices, code: &mut Code, of: &[String], element: &str, rank: usize) -> String {
    let one = |c: &mut Choices, name: &str| of[c.below(name, of.len() as u64) as usize].clone();
    let mut number = one(c, "first");
    if c.chance("second", 50) {
        let other = one(c, "other");
        number = code.put(&binary(c, &number, &other, element));
    }
    if rank > 0 && element != "i1" && c.chance("index", 15) {
        let index = code.put(&format!(
            "linalg.index {} : index",
            c.below("of", rank as u64)
        ));
        let whole = code.put(&format!("arith.index_cast {index} : index to i32"));
        let own = match element {
            "i32" => whole,
            _ => code.put(&convert(&whole, "i32", element)),
        };
        number = code.put(&c.scope("with", |c| binary(c, &number, &own, element)));
    }
    if rank > 0 && is_float(element) && c.chance("special", 6) {
        let index = code.put(&format!(
            "linalg.index {} : index",
            c.below("where", rank as u64)
        ));
        let place = code.put(&format!("arith.constant {} : index", c.below("at", 3)));
        let is_there = code.put(&format!("arith.cmpi eq, {index}, {place} : index"));
        let special = match c.weighted("which", &[40, 20, 20, 20]) {
            0 => nan(element),
            1 => infinite(element, true),
            2 => infinite(element, false),
            _ => "-0.0",
        };
        let special = code.put(&format!("arith.constant {special} : {element}"));
        number = code.put(&format!(
            "arith.select {is_there}, {special}, {number} : {element}"
        ));
    }
    if c.chance("chosen", 10) {
        let other = one(c, "third");
        let compare = if is_float(element) {
            "cmpf olt"
        } else {
            "cmpi slt"
        };
        let is_less = code.put(&format!("arith.{compare}, {number}, {other} : {element}"));
        number = code.put(&format!(
            "arith.select {is_less}, {number}, {other} : {element}"
        ));
    }
    number
}

/// An accumulation by an operator.
pub fn accumulate(
    c: &mut Choices,
    code: &mut Code,
    (acc, e): (&str, &str),
    operator: &str,
    element: &str,
) -> String {
    match operator {
        "add" if is_float(element) => code.put(&format!("arith.addf {acc}, {e} : {element}")),
        "add" => code.put(&format!("arith.addi {acc}, {e} : {element}")),
        "fma" => code.put(&format!("math.fma {e}, {e}, {acc} : {element}")),
        "subi" | "subf" => {
            let once = code.put(&format!("arith.{operator} {acc}, {e} : {element}"));
            let add = if operator == "subi" { "addi" } else { "addf" };
            match c.chance("twice", 40) {
                true => code.put(&format!("arith.{add} {once}, {e} : {element}")),
                false => once,
            }
        }
        "select" => {
            let all: &[&str] = match is_float(element) {
                true => &["ogt", "oge", "olt", "ole", "ugt", "uge", "ult", "ule"],
                false => &["sgt", "sge", "slt", "sle", "ugt", "uge", "ult", "ule"],
            };
            let compare = if is_float(element) { "cmpf" } else { "cmpi" };
            let predicate = c.pick("predicate", all);
            let [mut a, mut b] = [e, acc];
            if c.chance("turned", 50) {
                (a, b) = (b, a);
            }
            let (x, y) = if c.chance("other", 50) {
                (b, a)
            } else {
                (a, b)
            };
            let by = code.put(&format!(
                "arith.{compare} {predicate}, {a}, {b} : {element}"
            ));
            code.put(&format!("arith.select {by}, {x}, {y} : {element}"))
        }
        _ => {
            let (a, b) = if c.chance("turned", 50) {
                (e, acc)
            } else {
                (acc, e)
            };
            code.put(&format!("arith.{operator} {a}, {b} : {element}"))
        }
    }
}
