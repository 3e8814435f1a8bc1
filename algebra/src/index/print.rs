//! Expressions as text that [`super::parse`] reads back.

use std::fmt;

use super::{Expr, Node, Op};

/// Returns an operator's precedence; larger binds tighter.
pub(super) fn strength(op: Op) -> Option<u8> {
    match op {
        Op::Lt | Op::Le | Op::Eq | Op::Ne => Some(1),
        Op::Or => Some(2),
        Op::Xor => Some(3),
        Op::And => Some(4),
        Op::Add | Op::Sub => Some(5),
        Op::Mul | Op::Div | Op::Mod => Some(6),
        Op::Min | Op::Max => None,
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_at(f, self, 0)
    }
}

fn write_at(f: &mut fmt::Formatter<'_>, e: &Expr, outside: u8) -> fmt::Result {
    match e.node() {
        Node::Const(c) if *c < 0 && outside > 0 => write!(f, "({c})"),
        Node::Const(c) => write!(f, "{c}"),
        Node::Symbol(name) => f.write_str(name),
        Node::Sqrt([a]) => call(f, "isqrt", &[a]),
        Node::Select([c, a, b]) => call(f, "select", &[c, a, b]),
        Node::Load(table, [i]) => {
            write!(f, "{}[", table.name)?;
            write_at(f, i, 0)?;
            f.write_str("]")
        }
        Node::Binary(op, [a, b]) => match strength(*op) {
            None => call(f, op.symbol(), &[a, b]),
            Some(own) => {
                let parentheses = own < outside;
                f.write_str(if parentheses { "(" } else { "" })?;
                // Comparisons do not chain: `a < b < c` would not mean what it seems to.
                write_at(f, a, own + u8::from(op.is_comparison()))?;
                write!(f, " {} ", op.symbol())?;
                write_at(f, b, own + 1)?;
                f.write_str(if parentheses { ")" } else { "" })
            }
        },
    }
}

fn call(f: &mut fmt::Formatter<'_>, name: &str, operands: &[&Expr]) -> fmt::Result {
    write!(f, "{name}(")?;
    for (n, operand) in operands.iter().enumerate() {
        f.write_str(if n > 0 { ", " } else { "" })?;
        write_at(f, operand, 0)?;
    }
    f.write_str(")")
}
