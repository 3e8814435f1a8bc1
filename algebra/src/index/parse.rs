//! Expressions from text.
//!
//! ```text
//! e ::= let NAME = e in e                  shares what it names
//!     | e OP e                             weakest first: < <= > >= == !=, then |, ^, &, + -, * / // %
//!     | -e | (e) | NUMBER | NAME
//!     | min(e, e, ..) | max(e, e, ..) | select(e, e, e) | isqrt(e)
//!     | NAME[e]                            an element of a table
//! ```
//!
//! `/` and `//` are both floor division. As in Python, `&` binds tighter than `<`, and comparisons
//! do not chain.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::lex::{Cursor, SyntaxError, Token, nearest};
use super::print::strength;
use super::{Expr, Name, Op, Table};

/// The names that an expression may use.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// The symbols; any if this is `None`.
    pub symbols: Option<Vec<Name>>,
    /// Values named by `let`, and names of tables, which stand for nothing else.
    bound: BTreeMap<String, Expr>,
    /// Tables with elements that are known; all others are given at run time.
    pub tables: BTreeMap<Name, Arc<Table>>,
}

impl Scope {
    /// These symbols only.
    pub fn new(symbols: &[Name]) -> Scope {
        let symbols = Some(symbols.to_vec());
        Scope {
            symbols,
            ..Scope::default()
        }
    }

    fn lookup(&self, name: &str) -> Result<Expr, String> {
        if let Some(e) = self.bound.get(name) {
            return Ok(e.clone());
        }
        let Some(symbols) = &self.symbols else {
            return Ok(Expr::symbol(name));
        };
        if symbols.iter().any(|s| &**s == name) {
            return Ok(Expr::symbol(name));
        }
        let known = symbols.iter().map(|s| &**s);
        let known: Vec<&str> = known.chain(self.bound.keys().map(String::as_str)).collect();
        let mean = match nearest(name, known.iter().copied()).first() {
            Some(near) => format!("; did you mean '{near}'?"),
            None => String::new(),
        };
        let names: Vec<String> = known.iter().map(|k| format!("'{k}'")).collect();
        Err(match names.is_empty() {
            true => format!("found '{name}', but there is no name to use here"),
            false => format!("found '{name}', expected {}{mean}", one_of(&names)),
        })
    }
}

fn one_of(names: &[String]) -> String {
    match names {
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
        [] => String::new(),
    }
}

/// Reads an expression, and nothing after it.
pub fn expression(source: &str, scope: &Scope) -> Result<Expr, SyntaxError> {
    let mut cursor = Cursor::new(source)?;
    let e = expr(&mut cursor, scope)?;
    cursor.end()?;
    Ok(e)
}

/// Reads an expression.
pub fn expr(cursor: &mut Cursor, scope: &Scope) -> Result<Expr, SyntaxError> {
    cursor.nested(|cursor| {
        if *cursor.peek() == Token::Name("let".into()) {
            return binding(cursor, scope);
        }
        operators(cursor, scope, 1)
    })
}

fn binding(cursor: &mut Cursor, scope: &Scope) -> Result<Expr, SyntaxError> {
    cursor.bump();
    let name = cursor.name("a name after 'let'")?;
    cursor.expect("=")?;
    let value = expr(cursor, scope)?;
    if *cursor.peek() != Token::Name("in".into()) {
        return Err(cursor.unexpected(&format!("'in' after what '{name}' stands for")));
    }
    cursor.bump();
    let mut inner = scope.clone();
    inner.bound.insert(name, value);
    expr(cursor, &inner)
}

/// Operators that bind at least that tightly.
fn operators(cursor: &mut Cursor, scope: &Scope, at_least: u8) -> Result<Expr, SyntaxError> {
    let mut left = unary(cursor, scope)?;
    let mut compared = false;
    loop {
        let Some((op, swapped)) = operator(cursor.peek()) else {
            return Ok(left);
        };
        let precedence = strength(op).unwrap_or(0);
        if precedence < at_least {
            return Ok(left);
        }
        if op.is_comparison() && std::mem::replace(&mut compared, true) {
            let message = "comparisons do not chain, write '(a < b) & (b < c)'";
            return Err(SyntaxError::new(cursor.span(), message));
        }
        cursor.bump();
        let right = cursor.nested(|cursor| operators(cursor, scope, precedence + 1))?;
        left = match swapped {
            Order::AsWritten => Expr::binary(op, left, right),
            Order::Swapped => Expr::binary(op, right, left),
        };
    }
}

enum Order {
    AsWritten,
    Swapped,
}

fn operator(token: &Token) -> Option<(Op, Order)> {
    let Token::Mark(mark) = token else {
        return None;
    };
    let op = match *mark {
        ">" => return Some((Op::Lt, Order::Swapped)),
        ">=" => return Some((Op::Le, Order::Swapped)),
        "//" => Op::Div,
        mark => *Op::ALL.iter().find(|op| op.symbol() == mark)?,
    };
    Some((op, Order::AsWritten))
}

fn unary(cursor: &mut Cursor, scope: &Scope) -> Result<Expr, SyntaxError> {
    if !cursor.take("-") {
        return primary(cursor, scope);
    }
    let operand = cursor.nested(|cursor| unary(cursor, scope))?;
    Ok(Expr::constant(0) - operand)
}

fn primary(cursor: &mut Cursor, scope: &Scope) -> Result<Expr, SyntaxError> {
    let span = cursor.span();
    match cursor.peek().clone() {
        Token::Number(number) => {
            cursor.bump();
            Ok(Expr::constant(number))
        }
        Token::Mark("(") => {
            cursor.bump();
            let inner = expr(cursor, scope)?;
            cursor.expect(")")?;
            Ok(inner)
        }
        Token::Name(name) => {
            cursor.bump();
            match cursor.peek() {
                Token::Mark("(") => call(cursor, scope, &name, span.start),
                Token::Mark("[") => {
                    cursor.bump();
                    let position = expr(cursor, scope)?;
                    cursor.expect("]")?;
                    let known = scope.tables.get(name.as_str()).cloned();
                    let at_run_time = || {
                        let (name, values) = (name.as_str().into(), None);
                        Arc::new(Table { name, values })
                    };
                    Ok(position.load(&known.unwrap_or_else(at_run_time)))
                }
                _ => scope.lookup(&name).map_err(|m| SyntaxError::new(span, m)),
            }
        }
        _ => Err(cursor.unexpected("an expression")),
    }
}

const FUNCTIONS: [&str; 4] = ["min", "max", "select", "isqrt"];

fn call(cursor: &mut Cursor, scope: &Scope, name: &str, start: usize) -> Result<Expr, SyntaxError> {
    if !FUNCTIONS.contains(&name) {
        let near = nearest(name, FUNCTIONS);
        let mean = near.first().map(|n| format!("; did you mean '{n}'?"));
        let message = format!(
            "found no function '{name}', expected 'min', 'max', 'select' or 'isqrt'{}",
            mean.unwrap_or_default()
        );
        return Err(SyntaxError::new(cursor.span_from(start), message));
    }
    let operands = cursor.list(["(", ")"], |cursor| expr(cursor, scope))?;
    let wrong = |expected: &str| {
        let message = format!(
            "'{name}' has {} operands, expected {expected}",
            operands.len()
        );
        Err(SyntaxError::new(cursor.span_from(start), message))
    };
    match (name, operands.as_slice()) {
        ("min" | "max", [first, rest @ ..]) if !rest.is_empty() => {
            let op = if name == "min" { Op::Min } else { Op::Max };
            let folded = rest
                .iter()
                .fold(first.clone(), |e, x| Expr::binary(op, e, x));
            Ok(folded)
        }
        ("min" | "max", _) => wrong("2 or more"),
        ("select", [c, a, b]) => Ok(c.select(a, b)),
        ("select", _) => wrong("a condition and 2 values"),
        ("isqrt", [a]) => Ok(a.isqrt()),
        _ => wrong("1"),
    }
}
