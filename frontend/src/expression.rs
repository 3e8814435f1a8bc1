//! Expressions, by the precedence of their operators: open ones are on a stack of its own, and so
//! depth costs memory and no calls.

use mdh_algebra::index::lex::nearest;
use mdh_algebra::reuse::expression::{Function, Id, Node, Operator};

use crate::Span;
use crate::diagnostic::Diagnostic;
use crate::lex::Token;
use crate::parse::{ParsedExpression, Parser, Read};

/// An operator between two operands.
#[derive(Clone, Copy)]
enum Binary {
    Product,
    Elementwise(Operator),
}

/// Precedence of `.` and `^`: looser than `#`, tighter than all others.
const SUFFIX: u8 = 2;

impl Binary {
    fn from_token(token: Token) -> Option<Binary> {
        Some(match token {
            Token::Hash => Binary::Product,
            Token::Plus => Binary::Elementwise(Operator::Add),
            Token::Minus => Binary::Elementwise(Operator::Subtract),
            Token::Star => Binary::Elementwise(Operator::Multiply),
            Token::Slash => Binary::Elementwise(Operator::Divide),
            _ => return None,
        })
    }

    /// Returns its precedence.
    fn level(self) -> u8 {
        match self {
            Binary::Elementwise(Operator::Add | Operator::Subtract) => 0,
            Binary::Elementwise(Operator::Multiply | Operator::Divide) => 1,
            Binary::Product => SUFFIX + 1,
        }
    }
}

/// An operator or parenthesis that waits for its end.
enum Open {
    /// An operator, for its right operand.
    Binary(Binary, Span),
    /// `(`, or `exp(`, for its `)`: the function, where the bracket stands, where the whole begins.
    Bracket(Option<Function>, Span, Span),
}

/// The part of an expression that has been read.
#[derive(Default)]
struct Stacks {
    value: ParsedExpression,
    operands: Vec<Id>,
    open: Vec<Open>,
}

/// Reads an expression, up to the first word that cannot continue it.
pub(crate) fn parse(parser: &mut Parser) -> Read<ParsedExpression> {
    let mut stacks = Stacks::default();
    loop {
        operand(parser, &mut stacks)?;
        if !suffixes(parser, &mut stacks)? {
            return Ok(stacks.value);
        }
    }
}

/// Reads an operand, with the brackets that open before it.
fn operand(parser: &mut Parser, stacks: &mut Stacks) -> Read<()> {
    loop {
        let is_call = parser.peek_at(1) == Some(Token::OpenParenthesis);
        match parser.peek() {
            Some(Token::OpenParenthesis) => {
                let open = parser.next_span();
                stacks.open.push(Open::Bracket(None, open.clone(), open));
            }
            Some(Token::Name) if is_call => {
                let name = parser.next_span();
                let Some(function) = Function::named(parser.text(&name)) else {
                    return parser.fail(no_function(parser.text(&name), name));
                };
                let open = parser.next_span();
                stacks.open.push(Open::Bracket(Some(function), open, name));
            }
            Some(Token::Name) if !parser.is_start() => {
                let span = parser.next_span();
                let variable = parser.name(&span);
                stacks.leaf(Node::Variable(variable), span);
                return Ok(());
            }
            Some(Token::Number) => {
                let span = parser.next_span();
                return constant(parser, stacks, span);
            }
            Some(Token::Minus) if parser.peek_at(1) == Some(Token::Number) => {
                let (minus, number) = (parser.next_span(), parser.next_span());
                return constant(parser, stacks, minus.start..number.end);
            }
            Some(Token::Minus) => {
                let span = parser.next_span();
                let wrong = Diagnostic::new("found '-', expected an expression", span, "");
                return parser.fail(wrong.help("only numbers have a sign: write -1 * x"));
            }
            _ => return parser.expected("an expression"),
        }
    }
}

fn no_function(name: &str, span: Span) -> Diagnostic {
    let known = Function::ALL.map(|(name, _)| name);
    let help = match nearest(name, known).first() {
        Some(near) => format!("did you mean '{near}'?"),
        None => format!("there are: {}", known.join(", ")),
    };
    Diagnostic::new(format!("there is no function '{name}'"), span, "").help(help)
}

fn constant(parser: &mut Parser, stacks: &mut Stacks, span: Span) -> Read<()> {
    let text: String = parser.text(&span).split_whitespace().collect();
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => {
            stacks.leaf(Node::Constant(number), span);
            Ok(())
        }
        _ => {
            let message = format!("found {text}, expected a number of at most {:e}", f64::MAX);
            parser.fail(Diagnostic::new(message, span, ""))
        }
    }
}

/// Reads what follows an operand, and whether that asks for another operand.
fn suffixes(parser: &mut Parser, stacks: &mut Stacks) -> Read<bool> {
    loop {
        match parser.peek() {
            Some(Token::Dot) => {
                parser.next_span();
                stacks.close(SUFFIX);
                let (pairs, span) = parser.pairs()?;
                stacks.suffix(span, |e| Node::Contraction(e, pairs));
            }
            Some(Token::Caret) => {
                parser.next_span();
                stacks.close(SUFFIX);
                let (pair, span) = parser.pair()?;
                stacks.suffix(span, |e| Node::Transposition(e, pair));
            }
            Some(Token::CloseParenthesis) => {
                stacks.close(0);
                let end = parser.next_span();
                match stacks.open.pop() {
                    Some(Open::Bracket(function, _, start)) => stacks.bracket(function, start, end),
                    _ => {
                        let message = "found ')', but no '(' is open";
                        return parser.fail(Diagnostic::new(message, end, ""));
                    }
                }
            }
            token => match token.and_then(Binary::from_token) {
                Some(binary) => {
                    stacks.close(binary.level());
                    let span = parser.next_span();
                    stacks.open.push(Open::Binary(binary, span));
                    return Ok(true);
                }
                None => {
                    stacks.close(0);
                    return end(parser, stacks);
                }
            },
        }
    }
}

/// The end of an expression, where nothing may be open.
fn end(parser: &mut Parser, stacks: &mut Stacks) -> Read<bool> {
    let Some(Open::Bracket(_, open, _)) = stacks.open.pop() else {
        return Ok(false);
    };
    let wrong = parser.unexpected("an operator or ')'");
    parser.fail_here(wrong.also(open, "this is open"))
}

impl Stacks {
    fn push(&mut self, node: Node, span: Span, mark: Span) {
        let id = self.value.expression.push(node);
        self.value.spans.push(span);
        self.value.marks.push(mark);
        self.operands.push(id);
    }

    fn leaf(&mut self, node: Node, span: Span) {
        self.push(node, span.clone(), span);
    }

    /// The last operand; one has been read wherever one is taken.
    fn take(&mut self) -> Id {
        self.operands.pop().unwrap_or_default()
    }

    /// `e . [m n]`, `e ^ [m n]`
    fn suffix(&mut self, brackets: Span, node: impl FnOnce(Id) -> Node) {
        let e = self.take();
        let span = self.value.spans[e].start..brackets.end;
        self.push(node(e), span, brackets);
    }

    /// `(e)`, `exp(e)`
    fn bracket(&mut self, function: Option<Function>, start: Span, end: Span) {
        let e = self.take();
        let node = match function {
            Some(function) => Node::Apply(function, e),
            None => Node::Parenthesis(e),
        };
        self.push(node, start.start..end.end, start);
    }

    /// Gives the operators that bind at least as tightly as that, and have no bracket behind them,
    /// their right operand.
    fn close(&mut self, level: u8) {
        while let Some(Open::Binary(binary, _)) = self.open.last()
            && binary.level() >= level
        {
            let Some(Open::Binary(binary, mark)) = self.open.pop() else {
                return;
            };
            let (f, e) = (self.take(), self.take());
            let node = match binary {
                Binary::Product => Node::Product(e, f),
                Binary::Elementwise(operator) => Node::Elementwise(operator, e, f),
            };
            let span = self.value.spans[e].start..self.value.spans[f].end;
            self.push(node, span, mark);
        }
    }
}
