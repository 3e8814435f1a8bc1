//! Declarations and statements as they are written. After an error the next declaration or statement
//! is read, so that one run finds several.

use std::collections::HashMap;

use mdh_algebra::reuse::expression::Pair;
use mdh_algebra::reuse::{Expression, Shape};

use crate::Span;
use crate::diagnostic::Diagnostic;
use crate::expression;
use crate::lex::{Token, lex};

/// Marker of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marker {
    /// `var input`: its value is given, and it is not assigned.
    Input,
    /// `var output`: its value is a result.
    Output,
}

/// `var input u : [3 4]`
#[derive(Clone, Debug, PartialEq)]
pub struct Declaration {
    /// Its marker.
    pub marker: Option<Marker>,
    /// The variable, by its position in [`Syntax::names`].
    pub name: usize,
    /// Position of the name.
    pub span: Span,
    /// The sizes.
    pub shape: Shape,
    /// Position of the dimensions.
    pub shape_span: Span,
}

/// An expression, and where its nodes stand. Its variables are positions in [`Syntax::names`].
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ParsedExpression {
    /// The expression.
    pub expression: Expression,
    /// The whole text of each node.
    pub spans: Vec<Span>,
    /// Of each node, what makes it what it is: a name, an operator, the brackets behind `.` and `^`.
    pub marks: Vec<Span>,
}

/// `x = e`
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// The variable, by its position in [`Syntax::names`].
    pub target: usize,
    /// Its position.
    pub span: Span,
    /// The expression.
    pub value: ParsedExpression,
}

/// A program as it is written.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Syntax {
    /// All names of variables, in the order in which they first occur.
    pub names: Vec<String>,
    /// Numbers of the declarations that cannot be read.
    pub unread: Vec<usize>,
    /// Declarations in order.
    pub declarations: Vec<Declaration>,
    /// Statements in order.
    pub statements: Vec<Statement>,
}

/// Reads a text; what cannot be read is reported, and left out.
pub fn parse(text: &str) -> (Syntax, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let tokens = lex(text, &mut diagnostics);
    let mut parser = Parser {
        text,
        tokens,
        at: 0,
        numbers: HashMap::new(),
        syntax: Syntax::default(),
        diagnostics,
    };
    while parser.peek().is_some() {
        let before = parser.at;
        if parser.item().is_err() {
            parser.at = parser.at.max(before + 1);
            parser.recover();
        }
    }
    (parser.syntax, parser.diagnostics)
}

/// Proof that a mistake has been reported.
pub(crate) struct Reported;

/// The result of reading a part.
pub(crate) type Read<T> = Result<T, Reported>;

/// A text that is being read.
pub(crate) struct Parser<'t> {
    text: &'t str,
    tokens: Vec<(Token, Span)>,
    at: usize,
    numbers: HashMap<&'t str, usize>,
    syntax: Syntax,
    diagnostics: Vec<Diagnostic>,
}

impl<'t> Parser<'t> {
    fn item(&mut self) -> Read<()> {
        match self.peek() {
            Some(Token::Var) => self.declaration(),
            Some(Token::Name) => self.statement(),
            _ => self.expected("'var', or the name of a variable that is assigned"),
        }
    }

    fn declaration(&mut self) -> Read<()> {
        self.expect(Token::Var)?;
        let is_marked = self.peek_at(1) == Some(Token::Name);
        let marker = match self.peek_text() {
            "input" if is_marked => Some(Marker::Input),
            "output" if is_marked => Some(Marker::Output),
            _ if is_marked => return self.expected("'input', 'output' or a name and ':'"),
            _ => None,
        };
        self.at += usize::from(marker.is_some());
        let span = self.expect(Token::Name)?;
        let name = self.name(&span);
        self.syntax.unread.push(name);
        self.expect(Token::Colon)?;
        let (sizes, shape_span) = self.numbers("']' or a size")?;
        self.syntax.unread.pop();
        let shape = Shape(sizes);
        self.syntax.declarations.push(Declaration {
            marker,
            name,
            span,
            shape,
            shape_span,
        });
        Ok(())
    }

    fn statement(&mut self) -> Read<()> {
        let span = self.expect(Token::Name)?;
        let target = self.name(&span);
        self.expect(Token::Equals)?;
        let value = expression::parse(self)?;
        if !self.is_start() && self.peek().is_some() {
            return self.expected("an operator, or the next statement");
        }
        self.syntax.statements.push(Statement {
            target,
            span,
            value,
        });
        Ok(())
    }

    /// `[m n]`
    pub(crate) fn pair(&mut self) -> Read<(Pair, Span)> {
        let (numbers, span) = self.numbers("']' or a dimension")?;
        match numbers[..] {
            [m, n] => Ok(([m, n], span)),
            _ => {
                let given = match numbers.len() {
                    0 => "none".to_string(),
                    count => count.to_string(),
                };
                let message = format!("found {given} in brackets, expected two dimensions");
                let wrong = Diagnostic::new(message, span, "");
                self.fail(
                    wrong.help("dimensions are counted from 1, and separated by spaces: [2 3]"),
                )
            }
        }
    }

    /// `[m n]` or `[[m n] [o p]]`
    pub(crate) fn pairs(&mut self) -> Read<(Vec<Pair>, Span)> {
        if self.peek() != Some(Token::OpenBracket) || self.peek_at(1) != Some(Token::OpenBracket) {
            let (pair, span) = self.pair()?;
            return Ok((vec![pair], span));
        }
        let open = self.expect(Token::OpenBracket)?;
        let mut pairs = Vec::new();
        while self.peek() == Some(Token::OpenBracket) {
            pairs.push(self.pair()?.0);
        }
        match self.peek() {
            Some(Token::CloseBracket) => {
                let close = self.next_span();
                Ok((pairs, open.start..close.end))
            }
            _ => self.expected("']' or another pair of dimensions"),
        }
    }

    /// Whole numbers in brackets.
    fn numbers(&mut self, expected: &str) -> Read<(Vec<u64>, Span)> {
        let open = self.expect(Token::OpenBracket)?;
        let mut numbers = Vec::new();
        loop {
            match self.peek() {
                Some(Token::CloseBracket) => {
                    let close = self.next_span();
                    return Ok((numbers, open.start..close.end));
                }
                Some(Token::Number) => {
                    let span = self.next_span();
                    numbers.push(self.whole_number(span)?);
                }
                _ => return self.expected(expected),
            }
        }
    }

    fn whole_number(&mut self, span: Span) -> Read<u64> {
        let digits = &self.text[span.clone()];
        let message = match digits.bytes().all(|byte| byte.is_ascii_digit()) {
            false => format!("found {digits}, expected a whole number"),
            true => match digits.parse::<i64>() {
                Ok(number) => return Ok(number as u64),
                Err(_) => format!("found {digits}, expected at most {}", i64::MAX),
            },
        };
        self.fail(Diagnostic::new(message, span, ""))
    }

    /// The number of a name, a new one if it is new.
    pub(crate) fn name(&mut self, span: &Span) -> usize {
        let (next, name) = (self.syntax.names.len(), &self.text[span.clone()]);
        let number = *self.numbers.entry(name).or_insert(next);
        if number == next {
            self.syntax.names.push(name.to_string());
        }
        number
    }

    /// The next word.
    pub(crate) fn peek(&self) -> Option<Token> {
        self.peek_at(0)
    }

    /// The word that is so many behind the next one.
    pub(crate) fn peek_at(&self, more: usize) -> Option<Token> {
        self.tokens.get(self.at + more).map(|(token, _)| *token)
    }

    /// The text of the next word.
    pub(crate) fn peek_text(&self) -> &'t str {
        &self.text[self.here()]
    }

    /// The text of a part.
    pub(crate) fn text(&self, span: &Span) -> &'t str {
        &self.text[span.clone()]
    }

    /// Returns the position of the next word; behind the last one at the end.
    pub(crate) fn here(&self) -> Span {
        match (self.tokens.get(self.at), self.tokens.last()) {
            (Some((_, span)), _) => span.clone(),
            (None, Some((_, last))) => last.end..last.end,
            (None, None) => self.text.len()..self.text.len(),
        }
    }

    /// Goes to the next word, and says where the last one stands.
    pub(crate) fn next_span(&mut self) -> Span {
        let span = self.here();
        self.at += 1;
        span
    }

    fn expect(&mut self, token: Token) -> Read<Span> {
        match self.peek() == Some(token) {
            true => Ok(self.next_span()),
            false => self.expected(&token.to_string()),
        }
    }

    /// Returns whether a declaration or statement begins here.
    pub(crate) fn is_start(&self) -> bool {
        match self.peek() {
            Some(Token::Var) => true,
            Some(Token::Name) => self.peek_at(1) == Some(Token::Equals),
            _ => false,
        }
    }

    /// Reports that something else was expected here.
    pub(crate) fn expected<T>(&mut self, what: &str) -> Read<T> {
        let wrong = self.unexpected(what);
        self.fail_here(wrong)
    }

    /// Something else was expected here.
    pub(crate) fn unexpected(&self, what: &str) -> Diagnostic {
        let token = match self.peek() {
            None => "the end".to_string(),
            Some(_) => format!("'{}'", self.peek_text()),
        };
        Diagnostic::new(format!("found {token}, expected {what}"), self.here(), "")
    }

    /// Reports an error about the next word, unless that is none, which has been reported.
    pub(crate) fn fail_here<T>(&mut self, diagnostic: Diagnostic) -> Read<T> {
        match self.peek() {
            Some(Token::Unknown) => Err(Reported),
            _ => self.fail(diagnostic),
        }
    }

    /// Reports an error.
    pub(crate) fn fail<T>(&mut self, diagnostic: Diagnostic) -> Read<T> {
        self.diagnostics.push(diagnostic);
        Err(Reported)
    }

    /// Goes on to the next declaration or statement.
    fn recover(&mut self) {
        while self.peek().is_some() && !self.is_start() {
            self.at += 1;
        }
    }
}
