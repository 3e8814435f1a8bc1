//! Expressions as the text of the language, with parentheses where precedence asks for them.

use super::expression::{Expression, Id, Node, Operator, Pair};
use super::statement::{Context, Statement};

/// Precedence, loosest first: `+ -`, then `* /`, then `.` and `^`, then `#`, then atoms.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Level {
    Sum,
    Term,
    Suffix,
    Product,
    Atom,
}

fn level(node: &Node) -> Level {
    match node {
        Node::Variable(_) | Node::Constant(_) | Node::Parenthesis(_) | Node::Apply(..) => {
            Level::Atom
        }
        Node::Product(..) => Level::Product,
        Node::Contraction(..) | Node::Transposition(..) => Level::Suffix,
        Node::Elementwise(Operator::Multiply | Operator::Divide, ..) => Level::Term,
        Node::Elementwise(Operator::Add | Operator::Subtract, ..) => Level::Sum,
    }
}

/// A piece that is still to be written.
enum Piece {
    /// A node that stands where something at least that tight is expected.
    Operand(Id, Level),
    Text(String),
}

impl Expression {
    /// The text of the expression under a node.
    pub fn text(&self, context: &Context, id: Id) -> String {
        self.begin(context, id, usize::MAX)
    }

    /// The beginning of that text, followed by `..` if it has more characters than these.
    pub fn excerpt(&self, context: &Context, id: Id, most: usize) -> String {
        let text = self.begin(context, id, most);
        match text.char_indices().nth(most) {
            Some((end, _)) => format!("{}..", &text[..end]),
            None => text,
        }
    }

    /// The text, or its beginning with more than so many characters, of 4 bytes at most.
    fn begin(&self, context: &Context, id: Id, enough: usize) -> String {
        let mut text = String::new();
        let mut pieces = vec![Piece::Operand(id, Level::Sum)];
        while let Some(piece) = pieces.pop()
            && text.len() / 4 <= enough
        {
            match piece {
                Piece::Text(piece) => text.push_str(&piece),
                Piece::Operand(id, least) if level(self.node(id)) < least => {
                    text.push('(');
                    pieces.push(Piece::Text(")".to_string()));
                    pieces.push(Piece::Operand(id, Level::Sum));
                }
                Piece::Operand(id, _) => pieces.extend(self.pieces(context, id).into_iter().rev()),
            }
        }
        text
    }

    fn pieces(&self, context: &Context, id: Id) -> Vec<Piece> {
        let operand = Piece::Operand;
        let text = |text: &str| Piece::Text(text.to_string());
        match self.node(id) {
            Node::Variable(variable) => vec![text(context.name(*variable))],
            Node::Constant(value) => vec![Piece::Text(constant(*value))],
            Node::Parenthesis(e) => vec![text("("), operand(*e, Level::Sum), text(")")],
            Node::Product(e, f) => vec![
                operand(*e, Level::Product),
                text(" # "),
                operand(*f, Level::Atom),
            ],
            Node::Contraction(e, pairs) => {
                vec![
                    operand(*e, Level::Suffix),
                    Piece::Text(format!(" . {}", group(pairs))),
                ]
            }
            Node::Transposition(e, pair) => {
                vec![
                    operand(*e, Level::Suffix),
                    Piece::Text(format!(" ^ {}", list(pair))),
                ]
            }
            Node::Elementwise(operator, e, f) => {
                let (left, right) = match level(self.node(id)) {
                    Level::Sum => (Level::Sum, Level::Term),
                    _ => (Level::Term, Level::Suffix),
                };
                let symbol = format!(" {} ", operator.symbol());
                vec![operand(*e, left), Piece::Text(symbol), operand(*f, right)]
            }
            Node::Apply(function, e) => {
                vec![
                    text(function.name()),
                    text("("),
                    operand(*e, Level::Sum),
                    text(")"),
                ]
            }
        }
    }
}

impl Statement {
    /// Its text.
    pub fn text(&self, context: &Context) -> String {
        let value = self.value.text(context, self.value.root());
        format!("{} = {value}", context.name(self.target))
    }
}

/// A number that reads back as the same.
fn constant(value: f64) -> String {
    let text = format!("{value:?}");
    text.strip_suffix(".0").unwrap_or(&text).to_string()
}

/// `[m n]` of one pair, `[[m n] [o p]]` of several.
pub(super) fn group(pairs: &[Pair]) -> String {
    match pairs {
        [pair] => list(pair),
        _ => {
            let pairs: Vec<String> = pairs.iter().map(|pair| list(pair)).collect();
            format!("[{}]", pairs.join(" "))
        }
    }
}

/// `[2 3]`.
pub(super) fn list(numbers: &[u64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
    format!("[{}]", numbers.join(" "))
}
