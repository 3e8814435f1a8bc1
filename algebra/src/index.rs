//! Index expressions: integers computed from indices and sizes.
//!
//! Everything a layout says ends as such an expression: the offset of an index, the index of an
//! offset, the mask of a padded tile. They are built by [`Expr`]'s operators or read from text
//! ([`parse`]), evaluated ([`IndexProgram`]), bounded ([`Facts`]), and printed.
//!
//! ```text
//! + - *        checked: what leaves 64 bits has no value
//! / %          floor division and its remainder; divisors are positive
//! < <= == !=   1 where it holds, 0 where not       > >= are written as < <=
//! & | ^        on the bits; of conditions, "and", "or" and "exclusive or"
//! min max      select(c, a, b): a where c is not 0; both a and b must have values
//! isqrt(a)     the largest integer whose square is at most a; a is not negative
//! t[a]         a table, given now or at run time
//! ```
//!
//! Why not [`crate::affine`]? Its expressions are MLIR's affine maps over *numbered* dimensions,
//! with bounds that views are checked by; they have no products of symbols, no conditions and no
//! bits, and their users want exactly that restriction. So neither is built on the other:
//! [`Expr::from_affine`] leads from the special to the general, and nothing leads back.
//!
//! An expression is a handle to a node that others may share. Algorithms never walk the tree
//! under it, which can be exponentially large, but the nodes of an [`IndexProgram`], each once.

pub mod bounds;
pub mod emit;
pub mod facts;
pub mod interval;
pub mod lex;
pub mod normal;
pub mod parse;
mod poly;
pub mod print;
pub mod program;
mod prove;
mod rules;
pub mod simplify;
mod write;

use std::fmt;
use std::ops;
use std::sync::Arc;

pub use facts::Facts;
pub use interval::Interval;
pub use program::{EvalError, IndexProgram};

use crate::affine;

/// The name of an index or a size.
pub type Name = Arc<str>;

/// A shared expression.
#[derive(Clone)]
pub struct Expr(Arc<Node<Expr>>);

/// One operation on operands of type `C`: expressions in an [`Expr`], numbers of earlier nodes
/// in an [`IndexProgram`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Node<C> {
    /// A constant.
    Const(i64),
    /// An index or a size.
    Symbol(Name),
    /// The integer square root.
    Sqrt([C; 1]),
    /// A binary operation.
    Binary(Op, [C; 2]),
    /// `select(condition, then, else)`.
    Select([C; 3]),
    /// An element of a table.
    Load(Arc<Table>, [C; 1]),
}

/// Binary operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Op {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Floor division by something positive.
    Div,
    /// Its remainder.
    Mod,
    /// The smaller one.
    Min,
    /// The larger one.
    Max,
    /// 1 if the first is smaller, else 0.
    Lt,
    /// 1 if the first is not larger, else 0.
    Le,
    /// 1 if both are equal, else 0.
    Eq,
    /// 1 if they differ, else 0.
    Ne,
    /// The bits that both have.
    And,
    /// The bits that one has.
    Or,
    /// The bits that exactly one has.
    Xor,
}

/// A table of integers.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Table {
    /// Its name in what is printed.
    pub name: Name,
    /// Its elements; `None` if they are given at run time.
    pub values: Option<Vec<i64>>,
}

/// Reasons for which an operation has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It leaves the 64-bit range.
    Overflow,
    /// It divides by 0 or something negative.
    Divisor,
}

impl Op {
    /// All of them.
    pub const ALL: [Op; 14] = [
        Op::Add,
        Op::Sub,
        Op::Mul,
        Op::Div,
        Op::Mod,
        Op::Min,
        Op::Max,
        Op::Lt,
        Op::Le,
        Op::Eq,
        Op::Ne,
        Op::And,
        Op::Or,
        Op::Xor,
    ];

    /// Its value.
    pub fn apply(self, a: i64, b: i64) -> Result<i64, Fault> {
        match self {
            Op::Add => a.checked_add(b).ok_or(Fault::Overflow),
            Op::Sub => a.checked_sub(b).ok_or(Fault::Overflow),
            Op::Mul => a.checked_mul(b).ok_or(Fault::Overflow),
            Op::Div | Op::Mod if b <= 0 => Err(Fault::Divisor),
            Op::Div => Ok(a.div_euclid(b)),
            Op::Mod => Ok(a.rem_euclid(b)),
            Op::Min => Ok(a.min(b)),
            Op::Max => Ok(a.max(b)),
            Op::Lt => Ok(i64::from(a < b)),
            Op::Le => Ok(i64::from(a <= b)),
            Op::Eq => Ok(i64::from(a == b)),
            Op::Ne => Ok(i64::from(a != b)),
            Op::And => Ok(a & b),
            Op::Or => Ok(a | b),
            Op::Xor => Ok(a ^ b),
        }
    }

    /// Returns its spelling: the name of a function, or an operator.
    pub fn symbol(self) -> &'static str {
        match self {
            Op::Add => "+",
            Op::Sub => "-",
            Op::Mul => "*",
            Op::Div => "/",
            Op::Mod => "%",
            Op::Min => "min",
            Op::Max => "max",
            Op::Lt => "<",
            Op::Le => "<=",
            Op::Eq => "==",
            Op::Ne => "!=",
            Op::And => "&",
            Op::Or => "|",
            Op::Xor => "^",
        }
    }

    /// Returns whether it is a comparison, whose value is 0 or 1.
    pub fn is_comparison(self) -> bool {
        matches!(self, Op::Lt | Op::Le | Op::Eq | Op::Ne)
    }
}

impl<C> Node<C> {
    /// The operands.
    pub fn children(&self) -> &[C] {
        match self {
            Node::Const(_) | Node::Symbol(_) => &[],
            Node::Sqrt(c) | Node::Load(_, c) => c,
            Node::Binary(_, c) => c,
            Node::Select(c) => c,
        }
    }

    /// The operands, to be changed.
    pub fn children_mut(&mut self) -> &mut [C] {
        match self {
            Node::Const(_) | Node::Symbol(_) => &mut [],
            Node::Sqrt(c) | Node::Load(_, c) => c,
            Node::Binary(_, c) => c,
            Node::Select(c) => c,
        }
    }

    /// The same operation on other operands.
    pub fn map<D>(&self, mut operand: impl FnMut(&C) -> D) -> Node<D> {
        match self {
            Node::Const(c) => Node::Const(*c),
            Node::Symbol(name) => Node::Symbol(name.clone()),
            Node::Sqrt(c) => Node::Sqrt(c.each_ref().map(operand)),
            Node::Binary(op, [a, b]) => {
                let a = operand(a);
                Node::Binary(*op, [a, operand(b)])
            }
            Node::Select(c) => Node::Select(c.each_ref().map(operand)),
            Node::Load(table, c) => Node::Load(table.clone(), c.each_ref().map(operand)),
        }
    }
}

impl Expr {
    /// An index or a size.
    pub fn symbol(name: &str) -> Expr {
        Expr(Arc::new(Node::Symbol(name.into())))
    }

    /// A constant.
    pub fn constant(value: i64) -> Expr {
        Expr(Arc::new(Node::Const(value)))
    }

    /// The operation at its root.
    pub fn node(&self) -> &Node<Expr> {
        &self.0
    }

    /// Its value, if it is a constant.
    pub fn as_constant(&self) -> Option<i64> {
        match self.node() {
            Node::Const(value) => Some(*value),
            _ => None,
        }
    }

    /// An operation, or its value where that is plain: of constants, and `x + 0`, `x * 1`,
    /// `x * 0`, `x / 1`, `x % 1`, `0 / x`, `0 % x`. It keeps what layouts of constants build
    /// small; all else is the simplifier's.
    pub fn new(node: Node<Expr>) -> Expr {
        match &node {
            Node::Binary(op, [a, b]) => {
                if let Some(folded) = fold(*op, a, b) {
                    return folded;
                }
            }
            Node::Sqrt([a]) => {
                if let Some(a) = a.as_constant().filter(|a| *a >= 0) {
                    return Expr::constant(a.isqrt());
                }
            }
            Node::Select([c, a, b]) => {
                if let Some(c) = c.as_constant() {
                    return if c != 0 { a.clone() } else { b.clone() };
                }
            }
            Node::Load(table, [i]) => {
                let values = table.values.as_ref();
                let index = i.as_constant().and_then(|i| usize::try_from(i).ok());
                if let Some(value) = index.and_then(|i| values?.get(i)) {
                    return Expr::constant(*value);
                }
            }
            Node::Const(_) | Node::Symbol(_) => {}
        }
        Expr(Arc::new(node))
    }

    /// A binary operation.
    pub fn binary(op: Op, a: impl Into<Expr>, b: impl Into<Expr>) -> Expr {
        Expr::new(Node::Binary(op, [a.into(), b.into()]))
    }

    /// The smaller one.
    pub fn min(&self, other: impl Into<Expr>) -> Expr {
        Expr::binary(Op::Min, self, other)
    }

    /// The larger one.
    pub fn max(&self, other: impl Into<Expr>) -> Expr {
        Expr::binary(Op::Max, self, other)
    }

    /// 1 where it is smaller, else 0.
    pub fn lt(&self, other: impl Into<Expr>) -> Expr {
        Expr::binary(Op::Lt, self, other)
    }

    /// 1 where it is not larger, else 0.
    pub fn le(&self, other: impl Into<Expr>) -> Expr {
        Expr::binary(Op::Le, self, other)
    }

    /// 1 where both are equal, else 0.
    pub fn equals(&self, other: impl Into<Expr>) -> Expr {
        Expr::binary(Op::Eq, self, other)
    }

    /// The bits of exactly one.
    pub fn xor(&self, other: impl Into<Expr>) -> Expr {
        Expr::binary(Op::Xor, self, other)
    }

    /// The bits of both; of conditions, whether both hold.
    pub fn and(&self, other: impl Into<Expr>) -> Expr {
        Expr::binary(Op::And, self, other)
    }

    /// `then` where this is not 0, else `otherwise`.
    pub fn select(&self, then: impl Into<Expr>, otherwise: impl Into<Expr>) -> Expr {
        Expr::new(Node::Select([self.clone(), then.into(), otherwise.into()]))
    }

    /// The integer square root.
    pub fn isqrt(&self) -> Expr {
        Expr::new(Node::Sqrt([self.clone()]))
    }

    /// The element of a table at this position.
    pub fn load(&self, table: &Arc<Table>) -> Expr {
        Expr::new(Node::Load(table.clone(), [self.clone()]))
    }

    /// The product of several; 1 if there are none.
    pub fn product<'a>(factors: impl IntoIterator<Item = &'a Expr>) -> Expr {
        let unit = Expr::constant(1);
        factors.into_iter().fold(unit, |product, n| product * n)
    }

    /// An index function, with these expressions for its dimensions.
    ///
    /// # Panics
    /// If it uses a dimension that has no expression.
    pub fn from_affine(function: &affine::Expr, dims: &[Expr]) -> Expr {
        let convert = |e: &affine::Expr| Expr::from_affine(e, dims);
        match function {
            affine::Expr::Dim(d) => dims[*d].clone(),
            affine::Expr::Const(c) => Expr::constant(*c),
            affine::Expr::Add(a, b) => convert(a) + convert(b),
            affine::Expr::Mul(a, b) => convert(a) * convert(b),
            affine::Expr::FloorDiv(a, b) => convert(a) / convert(b),
            affine::Expr::CeilDiv(a, b) => (convert(a) + (convert(b) - 1)) / convert(b),
            affine::Expr::Mod(a, b) => convert(a) % convert(b),
        }
    }

    /// Replaces symbols: those of which `replacement` knows one.
    pub fn substitute(&self, replacement: &dyn Fn(&str) -> Option<Expr>) -> Expr {
        let program = IndexProgram::new(std::slice::from_ref(self));
        let mut built: Vec<Expr> = Vec::with_capacity(program.nodes().len());
        for node in program.nodes() {
            let known = match node {
                Node::Symbol(name) => replacement(name),
                _ => None,
            };
            built.push(known.unwrap_or_else(|| Expr::new(node.map(|c| built[*c].clone()))));
        }
        built.swap_remove(program.roots()[0])
    }

    /// The symbols that occur, in the order in which they do.
    pub fn symbols(&self) -> Vec<Name> {
        IndexProgram::new(std::slice::from_ref(self))
            .inputs()
            .to_vec()
    }
}

fn fold(op: Op, a: &Expr, b: &Expr) -> Option<Expr> {
    match (op, a.as_constant(), b.as_constant()) {
        (op, Some(a), Some(b)) => op.apply(a, b).ok().map(Expr::constant),
        (Op::Add | Op::Or | Op::Xor, Some(0), _) | (Op::Mul, Some(1), _) => Some(b.clone()),
        (Op::Add | Op::Sub | Op::Or | Op::Xor, _, Some(0)) | (Op::Mul | Op::Div, _, Some(1)) => {
            Some(a.clone())
        }
        (Op::Mul | Op::Div | Op::Mod | Op::And, Some(0), _)
        | (Op::Mul | Op::And, _, Some(0))
        | (Op::Mod, _, Some(1)) => Some(Expr::constant(0)),
        _ => None,
    }
}

/// As terms: the same operations on the same operands.
impl PartialEq for Expr {
    fn eq(&self, other: &Expr) -> bool {
        let both = IndexProgram::new(&[self.clone(), other.clone()]);
        both.roots()[0] == both.roots()[1]
    }
}

impl Eq for Expr {}

impl fmt::Debug for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<i64> for Expr {
    fn from(value: i64) -> Expr {
        Expr::constant(value)
    }
}

impl From<&Expr> for Expr {
    fn from(e: &Expr) -> Expr {
        e.clone()
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident $op:ident)*) => {$(
        impl<T: Into<Expr>> ops::$trait<T> for Expr {
            type Output = Expr;
            fn $method(self, other: T) -> Expr {
                Expr::binary(Op::$op, self, other)
            }
        }
        impl<T: Into<Expr>> ops::$trait<T> for &Expr {
            type Output = Expr;
            fn $method(self, other: T) -> Expr {
                Expr::binary(Op::$op, self, other)
            }
        }
    )*};
}

operators!(Add add Add Sub sub Sub Mul mul Mul Div div Div Rem rem Mod);

#[cfg(test)]
#[path = "index/tests.rs"]
mod tests;
