//! Expressions as parts of a program that somebody else writes.

use super::c::{C, PRELUDE};
use super::function::{Argument, Checked, EmitError, Function, Width, checked};
use super::language::{ATOM, Leaves, Piece, write_with};
use super::triton::{Triton, test};
use crate::index::Node;

/// The program's language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// C and CUDA.
    C,
    /// Python, in Triton's kernels.
    Triton,
}

/// The program: its language and its integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Host {
    /// Its language.
    pub target: Target,
    /// Its integers.
    pub width: Width,
}

/// Treatment of operations with several uses.
pub enum Sharing<'a> {
    /// They are written several times: an expression has no place for names.
    Repeated,
    /// They are computed once, before, and have the next of these names.
    Named(&'a mut dyn Iterator<Item = String>),
}

/// Code for a place in a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Statements that stand before.
    pub statements: Vec<String>,
    /// The results.
    pub results: Vec<Term>,
    /// In C, definitions that stand before the function, the first of which defines how: empty if
    /// there are none.
    pub helpers: Vec<String>,
}

/// An expression of the target's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// Its text.
    pub text: String,
    /// True if it is an operand of any operator as it stands.
    pub is_operand: bool,
}

/// No expression has more operations than that when what is shared is repeated.
const REPEATED: u64 = 200;

/// The outputs of a function as expressions; `arguments` says for each of its inputs what stands
/// for it. Comparisons are conditions of the target's.
///
/// A kernel's variables have whatever types its author gave them. They are converted where 64
/// bits are asked for, and where an intermediate result is negative, which is none of an unsigned
/// one; elsewhere types of 32 bits or more, with a sign or without, give the same.
pub fn inline(
    function: &Function,
    arguments: &[Argument],
    host: Host,
    sharing: Sharing,
) -> Result<Placed, EmitError> {
    let width = host.width;
    let mut checked = checked(function, width)?;
    let mut none = std::iter::empty();
    let names: &mut dyn Iterator<Item = String> = match sharing {
        Sharing::Named(names) => names,
        Sharing::Repeated => {
            is_short(&checked, function.name)?;
            checked.uses.clear();
            &mut none
        }
    };
    let negative = checked.ranges.iter().any(|range| range.min < 0);
    let leaves = match width == Width::Bits64 || negative {
        true => Leaves::Cast,
        false => Leaves::AsTheyAre,
    };
    let mut helpers = vec![];
    let (statements, pieces) = match host.target {
        Target::C => {
            let mut language = C::new(function, arguments, &checked, width, &mut helpers)?;
            language.leaves = leaves;
            write_with(&checked, &mut language, names)
        }
        Target::Triton => {
            let mut language = Triton::new(function, arguments, &checked, width)?;
            language.leaves = leaves;
            write_with(&checked, &mut language, names)
        }
    };
    let results = checked.program.roots().iter().zip(pieces);
    let results = results.map(|(root, piece)| match &checked.program.nodes()[*root] {
        Node::Binary(op, _) if op.is_comparison() => condition(&piece),
        _ => Term::new(&piece),
    });
    let results = results.collect();
    if !helpers.is_empty() {
        helpers.insert(0, format!("{PRELUDE}\n"));
    }
    Ok(Placed {
        statements,
        results,
        helpers,
    })
}

impl Term {
    fn new(piece: &Piece) -> Term {
        Term {
            text: piece.text.clone(),
            is_operand: piece.strength == ATOM,
        }
    }
}

/// A comparison as a condition, where it is written as an integer.
fn condition(piece: &Piece) -> Term {
    match test(&piece.text) {
        Some(test) => Term {
            text: test.to_string(),
            is_operand: false,
        },
        None => Term::new(piece),
    }
}

/// Returns the text before helpers; without helpers, the one that defines the integers' names.
pub fn prelude() -> String {
    format!("{PRELUDE}\n")
}

/// Fails if an expression gets too long when its shared operations are repeated.
fn is_short(checked: &Checked, name: &str) -> Result<(), EmitError> {
    let mut written: Vec<u64> = Vec::with_capacity(checked.uses.len());
    for node in checked.program.nodes() {
        let operands = node.children().iter().map(|c| written[*c]);
        let itself = u64::from(!node.children().is_empty());
        written.push(operands.fold(itself, u64::saturating_add));
    }
    let roots = checked.program.roots().iter();
    let total = roots.fold(0, |sum: u64, root| sum.saturating_add(written[*root]));
    if total <= REPEATED {
        return Ok(());
    }
    Err(EmitError(format!(
        "'{name}' is an expression of {total} operations when what several use is repeated, \
         expected at most {REPEATED}"
    )))
}
