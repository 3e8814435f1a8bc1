//! Functions to print, and the proof that their operations stay within the target's integers.

use std::fmt;

use crate::index::interval::INFINITE;
use crate::index::{Expr, Facts, IndexProgram, Interval, Name, Node, Op, normal};

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
    pub(super) fn bits(self) -> u32 {
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
pub(super) struct Checked {
    pub(super) program: IndexProgram,
    pub(super) ranges: Vec<Interval>,
    /// Number of uses of each operation.
    pub(super) uses: Vec<usize>,
}

pub(super) fn checked(function: &Function, width: Width) -> Result<Checked, EmitError> {
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
