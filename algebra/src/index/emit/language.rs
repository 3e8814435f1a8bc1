//! Languages of expressions, and a checked program written in one of them.

use super::function::Checked;
use crate::index::{IndexProgram, Interval, Node, Op, Table};

/// Text, and how tightly what it says binds: larger is tighter.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) text: String,
    pub(super) strength: u8,
}

pub(super) const ATOM: u8 = 20;

impl Piece {
    pub(super) fn atom(text: impl Into<String>) -> Piece {
        Piece {
            text: text.into(),
            strength: ATOM,
        }
    }

    /// Somebody else's expression, of which nothing is known but its text.
    pub(super) fn operand(text: &str) -> Piece {
        let plain = text
            .chars()
            .all(|c| c.is_alphanumeric() || "_.".contains(c));
        match plain {
            true => Piece::atom(text),
            false => Piece::atom(format!("({text})")),
        }
    }

    /// With parentheses if it binds less tightly than that.
    pub(super) fn at_least(&self, strength: u8) -> String {
        match self.strength >= strength {
            true => self.text.clone(),
            false => format!("({})", self.text),
        }
    }

    /// `left op right`; a right operand of the same strength gets parentheses.
    pub(super) fn infix(left: &Piece, op: &str, right: &Piece, strength: u8) -> Piece {
        let (left, right) = (left.at_least(strength), right.at_least(strength + 1));
        Piece {
            text: format!("{left} {op} {right}"),
            strength,
        }
    }

    pub(super) fn call(name: &str, operands: &[&Piece]) -> Piece {
        let operands: Vec<&str> = operands.iter().map(|p| p.text.as_str()).collect();
        Piece::atom(format!("{name}({})", operands.join(", ")))
    }
}

/// Conversion of parameters where they are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leaves {
    /// None: they are the target's integers.
    AsTheyAre,
    /// They may have other types, and are cast.
    Cast,
}

/// Syntax of a language of expressions.
pub(super) trait Language {
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
pub(super) enum Truth {
    Comparison,
    Integer,
}

/// Statements that name what is used several times, and what the results are then.
pub(super) fn write(checked: &Checked, language: &mut dyn Language) -> (Vec<String>, Vec<Piece>) {
    let taken = |name: &str| checked.program.inputs().iter().any(|n| &**n == name);
    let mut names = (0..).map(|n| format!("t{n}")).filter(|name| !taken(name));
    write_with(checked, language, &mut names)
}

/// The same with these names; what is used several times is written several times when there are
/// no more of them.
pub(super) fn write_with(
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
pub(super) fn tables(program: &IndexProgram) -> Vec<&Table> {
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
pub(super) fn table_name(tables: &[&Table], table: &Table) -> String {
    let at = tables.iter().position(|t| *t == table).unwrap_or(0);
    let before = tables[..at].iter().filter(|t| t.name == table.name).count();
    match before {
        0 => table.name.to_string(),
        n => format!("{}_{n}", table.name),
    }
}
