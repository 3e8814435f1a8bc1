//! Tokens as declarations and statements.
//!
//! Expressions are read by precedence, with operators that wait on a stack of their own. After a mistake
//! the next declaration or statement is looked for, so that one run reports all of them.

use std::collections::BTreeMap;
use std::ops::Range;

use mdh_algebra::index::lex::nearest;
use mdh_algebra::reuse::{Expression, Function, Id, Node, Operator, Pair};

use crate::diagnostic::Diagnostic;
use crate::lex::{Token, tokens};

/// Bytes of a text.
pub type Span = Range<usize>;

/// What a declaration says of a variable's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marker {
    /// `var input`: they come from outside, and stay.
    Input,
    /// `var output`: they are results.
    Output,
}

/// A name where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Where.
    pub span: Span,
}

/// `var x : [300 400]`
#[derive(Clone, Debug, PartialEq)]
pub struct Declaration {
    /// `input` or `output`, if it says so.
    pub marker: Option<Marker>,
    /// The variable's name.
    pub name: Name,
    /// The sizes of its dimensions.
    pub sizes: Vec<u64>,
    /// Where the sizes stand.
    pub shape: Span,
}

/// `x = e`, in which variables are numbers of [`Text::names`].
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// The variable.
    pub target: Name,
    /// The expression.
    pub value: Expression,
    /// Where each of its nodes stands.
    pub spans: Vec<Span>,
}

/// A text, taken apart.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Text {
    /// The declarations, in order.
    pub declarations: Vec<Declaration>,
    /// The statements, in order.
    pub assignments: Vec<Assignment>,
    /// The names of all variables in expressions.
    pub names: Vec<String>,
}

/// Takes a text apart; what has no mistake in it comes back with all mistakes.
pub fn parse(text: &str) -> (Text, Vec<Diagnostic>) {
    let (tokens, wrong) = tokens(text);
    let mut parser = Parser {
        tokens,
        at: 0,
        text: Text::default(),
        numbers: BTreeMap::new(),
        wrong,
    };
    while *parser.peek() != Token::End {
        let before = parser.at;
        if let Err(mistake) = parser.item() {
            parser.wrong.push(mistake);
            parser.recover(before);
        }
    }
    parser.wrong.sort_by_key(|wrong| wrong.span.start);
    (parser.text, parser.wrong)
}

/// An operator, or a parenthesis, whose right side is being read.
enum Pending {
    Parenthesis(Span),
    Call(Function, Span),
    Product(Id),
    Elementwise(Operator, Id),
}

/// `.` and `^` stand between.
const SUFFIX: u8 = 3;

impl Pending {
    /// How tightly it binds; nothing is inside of it that binds less.
    fn strength(&self) -> u8 {
        match self {
            Pending::Parenthesis(_) | Pending::Call(..) => 0,
            Pending::Elementwise(Operator::Add | Operator::Subtract, _) => 1,
            Pending::Elementwise(Operator::Multiply | Operator::Divide, _) => 2,
            Pending::Product(_) => SUFFIX + 1,
        }
    }
}

/// An expression while it is read.
#[derive(Default)]
struct Building {
    value: Expression,
    spans: Vec<Span>,
    pending: Vec<Pending>,
}

impl Building {
    fn push(&mut self, node: Node, span: Span) -> Id {
        self.spans.push(span);
        self.value.push(node)
    }

    /// The operator that has been read last gets its right side.
    fn reduce(&mut self, right: Id) -> Id {
        let (left, node) = match self.pending.pop() {
            Some(Pending::Product(left)) => (left, Node::Product(left, right)),
            Some(Pending::Elementwise(op, left)) => (left, Node::Elementwise(op, left, right)),
            other => {
                self.pending.extend(other);
                return right;
            }
        };
        let span = self.spans[left].start..self.spans[right].end;
        self.push(node, span)
    }

    /// All operators that bind at least as tightly get theirs.
    fn reduce_all(&mut self, mut last: Id, strength: u8) -> Id {
        let waits = |own: &Self| own.pending.last().is_some_and(|p| p.strength() >= strength);
        while waits(self) {
            last = self.reduce(last);
        }
        last
    }
}

struct Parser<'s> {
    tokens: Vec<(Token<'s>, Span)>,
    at: usize,
    text: Text,
    numbers: BTreeMap<&'s str, usize>,
    wrong: Vec<Diagnostic>,
}

type Parsed<T> = Result<T, Diagnostic>;

impl<'s> Parser<'s> {
    fn peek(&self) -> &Token<'s> {
        self.ahead(0)
    }

    fn ahead(&self, n: usize) -> &Token<'s> {
        let last = self.tokens.len() - 1;
        &self.tokens[(self.at + n).min(last)].0
    }

    fn span(&self) -> Span {
        self.tokens[self.at].1.clone()
    }

    fn next(&mut self) -> (Token<'s>, Span) {
        let next = self.tokens[self.at].clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        next
    }

    fn found(&self, expected: &str) -> Diagnostic {
        let found = self.peek();
        Diagnostic::new(self.span(), format!("found {found}, expected {expected}"))
    }

    fn expect(&mut self, token: Token, expected: &str) -> Parsed<Span> {
        match *self.peek() == token {
            true => Ok(self.next().1),
            false => Err(self.found(expected)),
        }
    }

    fn name(&mut self, expected: &str) -> Parsed<Name> {
        let Token::Name(text) = *self.peek() else {
            return Err(self.found(expected));
        };
        let text = text.to_string();
        let span = self.next().1;
        Ok(Name { text, span })
    }

    /// Goes on where a declaration or a statement seems to begin.
    fn recover(&mut self, before: usize) {
        if self.at == before {
            self.next();
        }
        while *self.peek() != Token::End && !self.is_start() {
            self.next();
        }
    }

    fn is_start(&self) -> bool {
        match (self.peek(), self.ahead(1)) {
            (Token::Name(_), Token::Equal) => true,
            (Token::Name("var"), Token::Name(_)) => true,
            _ => false,
        }
    }

    fn item(&mut self) -> Parsed<()> {
        match (self.peek(), self.ahead(1)) {
            (Token::Name("var"), next) if *next != Token::Equal => self.declaration(),
            _ => self.assignment(),
        }
    }

    fn declaration(&mut self) -> Parsed<()> {
        self.next();
        let marker = match (self.peek(), self.ahead(1)) {
            (Token::Name("input"), Token::Name(_)) => Some(Marker::Input),
            (Token::Name("output"), Token::Name(_)) => Some(Marker::Output),
            _ => None,
        };
        if marker.is_some() {
            self.next();
        }
        let name = self.name("the name of a variable, as in 'var x : [300 400]'")?;
        let text = &name.text;
        let example = format!("':' and sizes, as in 'var {text} : [300 400]'");
        self.expect(Token::Colon, &example)?;
        let example = format!("sizes in brackets, as in 'var {text} : [300 400]'");
        let open = self.expect(Token::OpenList, &example)?;
        let mut sizes = Vec::new();
        while matches!(self.peek(), Token::Integer(_)) {
            sizes.push(self.integer("a size")?);
        }
        let close = self.expect(Token::CloseList, "a size, or ']'")?;
        let shape = open.start..close.end;
        self.text.declarations.push(Declaration {
            marker,
            name,
            sizes,
            shape,
        });
        Ok(())
    }

    fn integer(&mut self, expected: &str) -> Parsed<u64> {
        let Token::Integer(digits) = *self.peek() else {
            return Err(self.found(expected));
        };
        let span = self.next().1;
        let too_large = |_| {
            let message = format!("{digits} is too large: expected at most {}", u64::MAX);
            Diagnostic::new(span, message)
        };
        digits.parse().map_err(too_large)
    }

    fn assignment(&mut self) -> Parsed<()> {
        let target = self.name("a declaration ('var x : [3]') or a statement ('x = e')")?;
        let example = format!("'=', as in '{} = e'", target.text);
        self.expect(Token::Equal, &example)?;
        let built = self.expression()?;
        self.text.assignments.push(Assignment {
            target,
            value: built.value,
            spans: built.spans,
        });
        Ok(())
    }

    fn expression(&mut self) -> Parsed<Building> {
        let mut building = Building::default();
        loop {
            let Some(operand) = self.operand(&mut building)? else {
                continue;
            };
            if self.rest(&mut building, operand)? {
                return Ok(building);
            }
        }
    }

    /// The next operand, or what opens one.
    fn operand(&mut self, building: &mut Building) -> Parsed<Option<Id>> {
        let start = self.span();
        match *self.peek() {
            Token::Open => {
                self.next();
                building.pending.push(Pending::Parenthesis(start));
                Ok(None)
            }
            Token::Name(name) if *self.ahead(1) == Token::Open => {
                let Some(function) = Function::named(name) else {
                    return Err(self.unknown_function(name));
                };
                (self.next(), self.next());
                building.pending.push(Pending::Call(function, start));
                Ok(None)
            }
            Token::Name(_) if *self.ahead(1) == Token::Equal => {
                Err(self.found("the rest of an expression before the next statement"))
            }
            Token::Name(name) => {
                self.next();
                let number = self.number_of(name);
                Ok(Some(building.push(Node::Variable(number), start)))
            }
            Token::Minus | Token::Integer(_) | Token::Float(_) => {
                let value = self.constant()?;
                let span = start.start..self.tokens[self.at - 1].1.end;
                Ok(Some(building.push(Node::Constant(value), span)))
            }
            _ => Err(self.found("a variable, a number, '(' or a function")),
        }
    }

    /// A number with its sign.
    fn constant(&mut self) -> Parsed<f64> {
        let is_negative = *self.peek() == Token::Minus;
        if is_negative {
            self.next();
        }
        let (Token::Integer(digits) | Token::Float(digits)) = *self.peek() else {
            let expected = "a number: a variable has no sign, '-1 * x' and '0 * x - x' have";
            return Err(self.found(expected));
        };
        let value: f64 = digits.parse().unwrap_or(f64::INFINITY);
        if value.is_infinite() {
            let message = format!("{digits} is too large for a number of type f64");
            return Err(Diagnostic::new(self.span(), message));
        }
        self.next();
        Ok(if is_negative { -value } else { value })
    }

    /// What follows an operand: what belongs to it, and an operator. Whether that was all.
    fn rest(&mut self, building: &mut Building, mut last: Id) -> Parsed<bool> {
        loop {
            let start = |building: &Building, id: Id| building.spans[id].start;
            match *self.peek() {
                Token::Dot | Token::Caret => {
                    last = building.reduce_all(last, SUFFIX + 1);
                    let is_contraction = self.next().0 == Token::Dot;
                    let node = match is_contraction {
                        true => Node::Contraction(last, self.group()?),
                        false => Node::Transposition(last, self.pair()?),
                    };
                    let end = self.tokens[self.at - 1].1.end;
                    let span = start(building, last)..end;
                    last = building.push(node, span);
                }
                Token::Close => {
                    last = building.reduce_all(last, 1);
                    let end = self.span().end;
                    let (node, open) = match building.pending.pop() {
                        Some(Pending::Parenthesis(open)) => (Node::Parenthesis(last), open),
                        Some(Pending::Call(function, open)) => (Node::Apply(function, last), open),
                        _ => return Err(self.found("an operator: no parenthesis is open")),
                    };
                    self.next();
                    last = building.push(node, open.start..end);
                }
                _ => break,
            }
        }
        let operator = match self.peek() {
            Token::Hash => Pending::Product(last),
            Token::Star => Pending::Elementwise(Operator::Multiply, last),
            Token::Slash => Pending::Elementwise(Operator::Divide, last),
            Token::Plus => Pending::Elementwise(Operator::Add, last),
            Token::Minus => Pending::Elementwise(Operator::Subtract, last),
            _ => {
                building.reduce_all(last, 1);
                return self.end(building);
            }
        };
        last = building.reduce_all(last, operator.strength());
        self.next();
        building.pending.push(match operator {
            Pending::Elementwise(operator, _) => Pending::Elementwise(operator, last),
            _ => Pending::Product(last),
        });
        Ok(false)
    }

    /// The end of an expression, where nothing may be open.
    fn end(&mut self, building: &Building) -> Parsed<bool> {
        match building.pending.last() {
            Some(Pending::Parenthesis(open) | Pending::Call(_, open)) => {
                let found = self.found("')' or an operator");
                Err(found.other(open.clone(), "opened here"))
            }
            _ if *self.peek() == Token::End || self.is_start() => Ok(true),
            _ => Err(self.found("an operator ('#', '.', '^', '*', '/', '+' or '-') or the next line")),
        }
    }

    /// `[m n]` or `[[m n] [o p]]`
    fn group(&mut self) -> Parsed<Vec<Pair>> {
        let example = "dimensions in brackets, as in '. [2 3]' or '. [[2 3] [4 5]]'";
        if (self.peek(), self.ahead(1)) != (&Token::OpenList, &Token::OpenList) {
            return Ok(vec![self.pair_as(example)?]);
        }
        self.next();
        let mut pairs = Vec::new();
        while *self.peek() == Token::OpenList {
            pairs.push(self.pair()?);
        }
        self.expect(Token::CloseList, "'[' of a pair of dimensions, or ']'")?;
        Ok(pairs)
    }

    /// `[m n]`
    fn pair(&mut self) -> Parsed<Pair> {
        self.pair_as("two dimensions in brackets, as in '[2 3]'")
    }

    fn pair_as(&mut self, expected: &str) -> Parsed<Pair> {
        self.expect(Token::OpenList, expected)?;
        let dimension = "a dimension: two of them, as in '[2 3]'";
        let pair = [self.integer(dimension)?, self.integer(dimension)?];
        self.expect(Token::CloseList, "']' behind two dimensions, as in '[2 3]'")?;
        Ok(pair)
    }

    fn number_of(&mut self, name: &'s str) -> usize {
        let names = &mut self.text.names;
        *self.numbers.entry(name).or_insert_with(|| {
            names.push(name.to_string());
            names.len() - 1
        })
    }

    fn unknown_function(&self, name: &str) -> Diagnostic {
        let known = Function::ALL.map(|(name, _)| name);
        let message = format!("there is no function '{name}'");
        let wrong = Diagnostic::new(self.span(), message);
        match nearest(name, known).first() {
            Some(near) => wrong.help(format!("did you mean '{near}'?")),
            None => wrong.help(format!("there are {}", known.join(", "))),
        }
    }
}
