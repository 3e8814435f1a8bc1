//! Operators of an einsum: the one that multiplies, and the one that sums, each by name or as a region of MLIR.
//!
//! Sums may be taken of some factors before others are multiplied where the scalar operator distributes over the
//! combine operator, `a * (b + c) = a * b + a * c`, and both are associative and commutative: a semiring. Of two named
//! operators [`distributes`] knows that; a region says so itself.

use std::fmt;
use std::str::FromStr;

use super::element::{Element, NumberClass};
use super::region::{self, Region};
use crate::diagnostic::Diagnostic;

/// An operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operator {
    /// One that is known by its name.
    Named(Name),
    /// One of the user's.
    Region(Region),
}

/// Name of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Name {
    /// `a + b`; `or` of `bool`.
    Add,
    /// `a * b`; `and` of `bool`.
    Mul,
    /// `a - b`.
    Sub,
    /// `a / b`; of integers without the remainder, towards zero.
    Div,
    /// `a ** b`.
    Pow,
    /// The smaller one; NaN if one is.
    Min,
    /// The larger one; NaN if one is.
    Max,
    /// `a & b`, bit by bit.
    And,
    /// `a | b`, bit by bit.
    Or,
    /// `a ^ b`, bit by bit.
    Xor,
    /// `log(exp(a) + exp(b))`.
    Logaddexp,
    /// `a`.
    First,
}

use Name::{Add, And, Div, First, Logaddexp, Max, Min, Mul, Or, Pow, Sub, Xor};

/// Names as they are written.
const NAMES: [(Name, &str); 12] = [
    (Add, "add"),
    (Mul, "mul"),
    (Sub, "sub"),
    (Div, "div"),
    (Pow, "pow"),
    (Min, "min"),
    (Max, "max"),
    (And, "and"),
    (Or, "or"),
    (Xor, "xor"),
    (Logaddexp, "logaddexp"),
    (First, "first"),
];

/// Semirings: what sums, and what multiplies. Of integers, `min` and `max` are such with `add` as long as no sum
/// overflows. What is the same of `a` and `a` is one with itself where there is something to combine.
const SEMIRINGS: [(Name, Name); 13] = [
    (Add, Mul),
    (Min, Add),
    (Max, Add),
    (Or, And),
    (And, Or),
    (Xor, And),
    (Max, Min),
    (Min, Max),
    (Logaddexp, Add),
    (Min, Min),
    (Max, Max),
    (And, And),
    (Or, Or),
];

/// Code of a named operator on one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OperatorCode {
    /// An operation of `arith`, which is a built-in function of `md_hom` too.
    Arith(&'static str),
    /// An operation of `math`.
    Math(&'static str),
    /// See [`Name::Logaddexp`].
    Logaddexp,
    /// The left operand.
    First,
    /// A product of complex numbers.
    ComplexProduct,
    /// An operation on real and on imaginary parts.
    OnParts(&'static str),
}

impl Name {
    /// Returns the operators that may combine.
    pub fn combining() -> impl Iterator<Item = Name> {
        NAMES.iter().map(|row| row.0).filter(|name| name.combines())
    }

    /// Returns all operators.
    pub fn all() -> impl Iterator<Item = Name> {
        NAMES.iter().map(|row| row.0)
    }

    /// Returns whether it is associative and commutative.
    fn combines(self) -> bool {
        !matches!(self, Sub | Div | Pow | First)
    }

    /// Its code on elements of a type; none if there is none.
    pub(super) fn code(self, element: Element) -> Option<OperatorCode> {
        use NumberClass::{Bool, Complex, Float, Signed, Unsigned};
        let class = element.class();
        let arith = match (self.on(element), class) {
            (First, _) => return Some(OperatorCode::First),
            (Mul, Complex) => return Some(OperatorCode::ComplexProduct),
            (Add, Complex) => return Some(OperatorCode::OnParts("addf")),
            (Sub, Complex) => return Some(OperatorCode::OnParts("subf")),
            (_, Complex) => return None,
            (Logaddexp, Float) => return Some(OperatorCode::Logaddexp),
            (Pow, Float) => return Some(OperatorCode::Math("powf")),
            (Pow, Signed) => return Some(OperatorCode::Math("ipowi")),
            (And, Bool | Signed | Unsigned) => "andi",
            (Or, Bool | Signed | Unsigned) => "ori",
            (Xor, Bool | Signed | Unsigned) => "xori",
            (_, Bool) => return None,
            (Add, Float) => "addf",
            (Mul, Float) => "mulf",
            (Sub, Float) => "subf",
            (Div, Float) => "divf",
            (Min, Float) => "minimumf",
            (Max, Float) => "maximumf",
            (Add, _) => "addi",
            (Mul, _) => "muli",
            (Sub, _) => "subi",
            (Div, Signed) => "divsi",
            (Div, Unsigned) => "divui",
            (Min, Signed) => "minsi",
            (Max, Signed) => "maxsi",
            (Min, Unsigned) => "minui",
            (Max, Unsigned) => "maxui",
            _ => return None,
        };
        Some(OperatorCode::Arith(arith))
    }

    /// The operator that it is on a type: of `bool`, sums and products are `or` and `and`.
    fn on(self, element: Element) -> Name {
        match (element, self) {
            (Element::Bool, Add | Max) => Or,
            (Element::Bool, Mul | Min) => And,
            _ => self,
        }
    }
}

/// Returns whether sums may be taken of some factors first, if both operators are named.
fn distributes(combine: Name, scalar: Name, element: Element) -> bool {
    SEMIRINGS.contains(&(combine.on(element), scalar.on(element)))
}

impl Operator {
    /// The code of a named operator; none of a region.
    pub(super) fn code(&self, element: Element) -> Option<OperatorCode> {
        match self {
            Operator::Named(name) => name.code(element),
            Operator::Region(_) => None,
        }
    }

    /// Returns whether the order in which it is applied makes no difference.
    pub(super) fn is_commutative(&self) -> bool {
        match self {
            Operator::Named(name) => name.combines(),
            Operator::Region(region) => region.laws.commutative,
        }
    }

    fn is_associative(&self) -> bool {
        match self {
            Operator::Named(name) => name.combines(),
            Operator::Region(region) => region.laws.associative,
        }
    }

    fn is_said_to_distribute(&self) -> bool {
        matches!(self, Operator::Region(region) if region.laws.distributes)
    }

    /// Fails where it has no code for a type; `use_` is what it is for.
    pub(super) fn check(&self, use_: OperatorUse, element: Element) -> Result<(), Diagnostic> {
        let whole = 0..self.to_string().len();
        match self {
            Operator::Named(name) if use_ == OperatorUse::Combine && !name.combines() => {
                let message = format!(
                    "found '{name}', which is not associative and commutative: expected an operator that combines"
                );
                let names: Vec<String> = Name::combining().map(|n| n.to_string()).collect();
                Err(Diagnostic::new(message, whole, "")
                    .help(format!("one of: {}", names.join(", "))))
            }
            Operator::Named(name) => match name.code(element) {
                Some(_) => Ok(()),
                None => {
                    let names = Name::all().filter(|other| other.code(element).is_some());
                    let combines = |other: &Name| use_ == OperatorUse::Scalar || other.combines();
                    let names: Vec<String> =
                        names.filter(combines).map(|n| n.to_string()).collect();
                    let message = format!("'{name}' is not defined for {element}");
                    Err(Diagnostic::new(message, whole, "").help(format!(
                        "for this type there are: {}; or convert the operands",
                        names.join(", ")
                    )))
                }
            },
            Operator::Region(_) if element.is_complex() => {
                let message = format!("found a region for elements of {element}, expected a name");
                Err(Diagnostic::new(message, whole, "")
                    .help("for complex numbers there are: add, mul, sub, first"))
            }
            Operator::Region(region) if use_ == OperatorUse::Combine => region.check_combine(),
            Operator::Region(_) => Ok(()),
        }
    }
}

/// Use of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OperatorUse {
    Combine,
    Scalar,
}

/// Returns whether sums may be taken of some factors before others are multiplied.
pub(super) fn is_semiring(combine: &Operator, scalar: &Operator, element: Element) -> bool {
    if let (Operator::Named(combine), Operator::Named(scalar)) = (combine, scalar) {
        return distributes(*combine, *scalar, element);
    }
    let operators = [combine, scalar];
    let is_binary = !matches!(scalar, Operator::Region(region) if region.arity() != 2);
    is_binary
        && operators
            .iter()
            .all(|o| o.is_commutative() && o.is_associative())
        && operators.iter().any(|o| o.is_said_to_distribute())
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = NAMES.iter().find(|row| row.0 == *self);
        f.write_str(row.map_or("", |row| row.1))
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operator::Named(name) => name.fmt(f),
            Operator::Region(region) => f.write_str(&region.text),
        }
    }
}

/// By its name, or as a [`Region`].
impl FromStr for Operator {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Operator, Diagnostic> {
        let name = text.trim();
        if let Some((name, _)) = NAMES.iter().find(|row| row.1 == name) {
            return Ok(Operator::Named(*name));
        }
        if text.contains(['(', '{', '%']) {
            return region::parse(text).map(Operator::Region);
        }
        let names: Vec<&str> = NAMES.iter().map(|row| row.1).collect();
        let message = format!(
            "found '{}', expected one of: {}; or a region",
            name.escape_debug(),
            names.join(", ")
        );
        Err(Diagnostic::new(message, 0..text.len(), "").help(region::EXPECTED))
    }
}
