//! Expressions as code: C and CUDA, Python as Triton has it, MLIR, and text.
//!
//! Every printer takes a [`Function`] and keeps its meaning in the target's integers:
//!
//! | target | `/` `%`                                              | integers                      |
//! |--------|------------------------------------------------------|-------------------------------|
//! | C      | `/` `%` of what is proved to be 0 or more, else a helper | 64 or 32 bits             |
//! | Triton | the same; both round down in Python and to 0 in kernels  | 64 or 32 bits             |
//! | MLIR   | `divsi` `remsi` of the same, else `floordivsi`       | `index`, of 64 bits           |
//! | text   | as they are                                          | no limits                     |
//!
//! That no operation leaves the target's integers is proved from the ranges of the symbols; where
//! it cannot be, there is no code but an error that says which symbol needs a bound. What several
//! operations use is computed once, and has a name there.

mod c;
mod inline;
mod mlir;
mod text;
mod triton;

use std::fmt;

use super::interval::INFINITE;
use super::{Expr, Facts, IndexProgram, Interval, Name, Node, Op, Table, normal};
pub use c::{c, c_parts};
pub use inline::{Host, Placed, Sharing, Target, Term, inline, prelude};
pub use mlir::{affine, mlir};
pub use text::text;
pub use triton::triton;

/// A function to print.
#[derive(Clone, Copy, Debug)]
pub struct Function<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its parameters; further symbols become parameters behind them.
    pub inputs: &'a [Name],
    /// Its results.
    pub outputs: &'a [Expr],
    /// Facts about its parameters.
    pub facts: &'a Facts,
}

/// Stand-in for a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// The parameter itself.
    Name,
    /// Some expression of the target's.
    Text(String),
    /// All of `0..size`: `tl.arange(0, size)`, in a dimension of its own. Triton only.
    Slice(Expr),
}

/// The target's integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// 32 bits.
    Bits32,
    /// 64 bits.
    Bits64,
}

/// Reason for which there is no code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmitError(pub String);

impl fmt::Display for EmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for EmitError {}

impl Width {
    fn bits(self) -> u32 {
        match self {
            Width::Bits32 => 32,
            Width::Bits64 => 64,
        }
    }

    fn interval(self) -> Interval {
        let end = 1_i128 << (self.bits() - 1);
        Interval::new(-end, end - 1)
    }
}

/// The operations of a function that are proved to stay within the target's integers, and the
/// values of each: for code that is not text.
///
/// # Errors
/// If that is not proved, with the symbol that needs a bound.
pub fn proved(
    function: &Function,
    width: Width,
) -> Result<(IndexProgram, Vec<Interval>), EmitError> {
    checked(function, width).map(|checked| (checked.program, checked.ranges))
}

/// A program whose operations are proved to stay within the target's integers.
struct Checked {
    program: IndexProgram,
    ranges: Vec<Interval>,
    /// Number of uses of each operation.
    uses: Vec<usize>,
}

fn checked(function: &Function, width: Width) -> Result<Checked, EmitError> {
    let program = IndexProgram::with_inputs(function.inputs, function.outputs);
    let ranges = function.facts.ranges(&program);
    let within = width.interval();
    for (node, range) in program.nodes().iter().zip(&ranges) {
        if range.min < within.min || range.max > within.max {
            return Err(overflow(function, node, *range, width));
        }
        // Exact in doubles, in which C and MLIR have square roots.
        let Node::Sqrt([a]) = node else {
            continue;
        };
        let is_root =
            ranges[*a].min >= 0 || is_nonnegative(function.facts, &program.expressions()[*a]);
        if !is_root || ranges[*a].max >= 1 << 52 {
            let message = "the argument of 'isqrt' is not proved to be from 0 to 2^52, expected \
                           bounds for the symbols that say so";
            return Err(EmitError(message.into()));
        }
    }
    let mut uses = vec![0; program.nodes().len()];
    let operands = program.nodes().iter().flat_map(Node::children);
    for used in operands.chain(program.roots()) {
        uses[*used] += 1;
    }
    Ok(Checked {
        program,
        ranges,
        uses,
    })
}

/// Returns whether an expression is proved to be 0 or more, where its interval alone does not say so.
fn is_nonnegative(facts: &Facts, e: &Expr) -> bool {
    let both = |a: &Expr, b: &Expr| is_nonnegative(facts, a) && is_nonnegative(facts, b);
    match e.node() {
        Node::Select([_, a, b]) => both(a, b),
        Node::Binary(Op::Mul, [a, b]) => both(a, b),
        _ => normal::at_most(facts, &Expr::constant(0), e),
    }
}

fn overflow(function: &Function, node: &Node<usize>, range: Interval, width: Width) -> EmitError {
    let end = |v: i128| match v.abs() >= INFINITE {
        true => "no bound".to_string(),
        false => v.to_string(),
    };
    let what = match node {
        Node::Const(c) => format!("the constant {c}"),
        Node::Symbol(name) => format!("'{name}'"),
        Node::Binary(op, _) => format!("'{}'", op.symbol()),
        _ => "an operation".to_string(),
    };
    let program = IndexProgram::with_inputs(function.inputs, function.outputs);
    let symbols = program.inputs().iter();
    let free = symbols.filter(|s| function.facts.interval(s).max >= INFINITE);
    let free: Vec<String> = free.map(|s| format!("'{s}'")).collect();
    let advice = match free.is_empty() {
        true => "expected smaller sizes, or wider integers".to_string(),
        false => format!("expected an upper bound for {}", free.join(", ")),
    };
    EmitError(format!(
        "{what} in '{}' may leave {} bits (from {} to {}), {advice}",
        function.name,
        width.bits(),
        end(range.min),
        end(range.max),
    ))
}

/// Text, and how tightly what it says binds: larger is tighter.
#[derive(Clone, Debug)]
struct Piece {
    text: String,
    strength: u8,
}

const ATOM: u8 = 20;

impl Piece {
    fn atom(text: impl Into<String>) -> Piece {
        Piece {
            text: text.into(),
            strength: ATOM,
        }
    }

    /// Somebody else's expression, of which nothing is known but its text.
    fn operand(text: &str) -> Piece {
        let plain = text
            .chars()
            .all(|c| c.is_alphanumeric() || "_.".contains(c));
        match plain {
            true => Piece::atom(text),
            false => Piece::atom(format!("({text})")),
        }
    }

    /// With parentheses if it binds less tightly than that.
    fn at_least(&self, strength: u8) -> String {
        match self.strength >= strength {
            true => self.text.clone(),
            false => format!("({})", self.text),
        }
    }

    /// `left op right`; a right operand of the same strength gets parentheses.
    fn infix(left: &Piece, op: &str, right: &Piece, strength: u8) -> Piece {
        let (left, right) = (left.at_least(strength), right.at_least(strength + 1));
        Piece {
            text: format!("{left} {op} {right}"),
            strength,
        }
    }

    fn call(name: &str, operands: &[&Piece]) -> Piece {
        let operands: Vec<&str> = operands.iter().map(|p| p.text.as_str()).collect();
        Piece::atom(format!("{name}({})", operands.join(", ")))
    }
}

/// Conversion of parameters where they are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leaves {
    /// None: they are the target's integers.
    AsTheyAre,
    /// They may have other types, and are cast.
    Cast,
}

/// Syntax of a language of expressions.
trait Language {
    fn symbol(&mut self, name: &str) -> Piece;
    fn constant(&mut self, value: i64) -> Piece;
    fn binary(&mut self, op: Op, operands: [&Piece; 2], ranges: [Interval; 2]) -> Piece;
    fn sqrt(&mut self, a: &Piece) -> Piece;
    fn select(&mut self, operands: [&Piece; 3], condition: Truth) -> Piece;
    fn load(&mut self, table: &Table, index: &Piece) -> Piece;
    fn assign(&mut self, name: &str, value: &Piece) -> String;
}

/// Type of an operand: the result of a comparison, or an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Truth {
    Comparison,
    Integer,
}

/// Statements that name what is used several times, and what the results are then.
fn write(checked: &Checked, language: &mut dyn Language) -> (Vec<String>, Vec<Piece>) {
    let taken = |name: &str| checked.program.inputs().iter().any(|n| &**n == name);
    let mut names = (0..).map(|n| format!("t{n}")).filter(|name| !taken(name));
    write_with(checked, language, &mut names)
}

/// The same with these names; what is used several times is written several times when there are
/// no more of them.
fn write_with(
    checked: &Checked,
    language: &mut dyn Language,
    names: &mut dyn Iterator<Item = String>,
) -> (Vec<String>, Vec<Piece>) {
    let (mut statements, mut pieces) = (Vec::new(), Vec::<Piece>::new());
    let mut named: Vec<bool> = Vec::new();
    for (n, node) in checked.program.nodes().iter().enumerate() {
        let range = |c: &usize| checked.ranges[*c];
        let piece = match node {
            Node::Const(c) => language.constant(*c),
            Node::Symbol(name) => language.symbol(name),
            Node::Sqrt([a]) => language.sqrt(&pieces[*a]),
            Node::Binary(op, [a, b]) => {
                language.binary(*op, [&pieces[*a], &pieces[*b]], [range(a), range(b)])
            }
            Node::Select([c, a, b]) => {
                let condition = match &checked.program.nodes()[*c] {
                    Node::Binary(op, _) if op.is_comparison() && !named[*c] => Truth::Comparison,
                    _ => Truth::Integer,
                };
                language.select([&pieces[*c], &pieces[*a], &pieces[*b]], condition)
            }
            Node::Load(table, [i]) => language.load(table, &pieces[*i]),
        };
        let leaf = node.children().is_empty();
        let several = checked.uses.get(n).is_some_and(|uses| *uses > 1) && !leaf;
        let name = several.then(|| names.next()).flatten();
        named.push(name.is_some());
        pieces.push(match name {
            Some(name) => {
                statements.push(language.assign(&name, &piece));
                Piece::atom(name)
            }
            None => piece,
        });
    }
    let results = checked.program.roots().iter();
    (statements, results.map(|r| pieces[*r].clone()).collect())
}

/// The tables of a program, those that are known first, with names that differ.
fn tables(program: &IndexProgram) -> Vec<&Table> {
    let mut tables: Vec<&Table> = Vec::new();
    for node in program.nodes() {
        if let Node::Load(table, _) = node
            && !tables.contains(&&**table)
        {
            tables.push(table);
        }
    }
    tables.sort_by_key(|table| table.values.is_none());
    tables
}

/// A table's name here: those of the same name are numbered.
fn table_name(tables: &[&Table], table: &Table) -> String {
    let at = tables.iter().position(|t| *t == table).unwrap_or(0);
    let before = tables[..at].iter().filter(|t| t.name == table.name).count();
    match before {
        0 => table.name.to_string(),
        n => format!("{}_{n}", table.name),
    }
}

#[cfg(test)]
#[path = "emit/tests.rs"]
mod tests;
