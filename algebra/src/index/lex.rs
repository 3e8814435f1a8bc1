//! Text as tokens with their places, for the languages of expressions and of layouts.

use std::fmt;
use std::ops::Range;

/// A mistake in a text, and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// The bytes that are meant.
    pub span: Range<usize>,
    /// Found and expected.
    pub message: String,
}

impl SyntaxError {
    /// An error at these bytes.
    pub fn new(span: Range<usize>, message: impl Into<String>) -> SyntaxError {
        let message = message.into();
        SyntaxError { span, message }
    }

    /// Line and column (in characters) of its beginning, both from 1.
    pub fn position(&self, source: &str) -> (usize, usize) {
        let before = &source[..self.span.start.min(source.len())];
        let line_start = before.rfind('\n').map_or(0, |n| n + 1);
        let line = before.matches('\n').count() + 1;
        (line, before[line_start..].chars().count() + 1)
    }

    /// The message, the line of the source, and a mark under what is meant.
    pub fn in_source(&self, source: &str) -> String {
        let (line, column) = self.position(source);
        let text = source.lines().nth(line - 1).unwrap_or("");
        let end = self.span.end.min(source.len());
        let meant = &source[self.span.start.min(end)..end];
        let here = meant.lines().next().unwrap_or("").chars().count().max(1);
        let (blanks, marks) = (" ".repeat(column - 1), "^".repeat(here));
        format!("{}\n  {text}\n  {blanks}{marks}", self.message)
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SyntaxError {}

/// A token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// A name.
    Name(String),
    /// A number.
    Number(i64),
    /// A mark of one or two characters.
    Mark(&'static str),
    /// Behind the last one.
    End,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Name(name) => write!(f, "'{name}'"),
            Token::Number(number) => write!(f, "'{number}'"),
            Token::Mark(mark) => write!(f, "'{mark}'"),
            Token::End => f.write_str("the end"),
        }
    }
}

/// Longer marks stand before those they begin with.
const MARKS: [&str; 25] = [
    "->", "//", "<=", ">=", "==", "!=", "(", ")", "[", "]", ",", ".", ":", ";", "=", "<", ">", "+",
    "-", "*", "/", "%", "&", "|", "^",
];

/// A place in a text, and the tokens from there on.
#[derive(Clone, Debug)]
pub struct Cursor {
    tokens: Vec<(Token, Range<usize>)>,
    at: usize,
    depth: usize,
}

/// Maximal depth of nested parentheses: the parsers recurse.
const DEPTH: usize = 200;

impl Cursor {
    /// The beginning of a text.
    pub fn new(source: &str) -> Result<Cursor, SyntaxError> {
        let mut tokens = Vec::new();
        let mut at = 0;
        while let Some(first) = source[at..].chars().next() {
            let rest = &source[at..];
            let name = |c: char| c.is_alphanumeric() || c == '_';
            let length = |all: &dyn Fn(char) -> bool| {
                let end = rest.find(|c| !all(c));
                end.unwrap_or(rest.len())
            };
            let (token, length) = if first.is_whitespace() {
                at += first.len_utf8();
                continue;
            } else if first.is_ascii_digit() {
                let length = length(&|c: char| c.is_ascii_digit());
                (number(&rest[..length], at)?, length)
            } else if first.is_alphabetic() || first == '_' {
                let length = length(&name);
                (Token::Name(rest[..length].to_string()), length)
            } else if let Some(mark) = MARKS.iter().find(|mark| rest.starts_with(**mark)) {
                (Token::Mark(mark), mark.len())
            } else {
                let span = at..at + first.len_utf8();
                let message = format!("found '{first}', which begins nothing here");
                return Err(SyntaxError::new(span, message));
            };
            tokens.push((token, at..at + length));
            at += length;
        }
        tokens.push((Token::End, source.len()..source.len()));
        let (at, depth) = (0, 0);
        Ok(Cursor { tokens, at, depth })
    }

    /// The next token.
    pub fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    /// The token after the next.
    pub fn peek_second(&self) -> &Token {
        let at = (self.at + 1).min(self.tokens.len() - 1);
        &self.tokens[at].0
    }

    /// Returns the position of the next token.
    pub fn span(&self) -> Range<usize> {
        self.tokens[self.at].1.clone()
    }

    /// From a place to the end of what was read last.
    pub fn span_from(&self, start: usize) -> Range<usize> {
        let end = self.tokens[self.at.saturating_sub(1)].1.end;
        start..end.max(start)
    }

    /// Takes the next token.
    pub fn bump(&mut self) -> Token {
        let token = self.peek().clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    /// Takes a mark if it is next.
    pub fn take(&mut self, mark: &str) -> bool {
        let next = matches!(self.peek(), Token::Mark(m) if *m == mark);
        if next {
            self.bump();
        }
        next
    }

    /// Takes a mark, or says that it is missing.
    pub fn expect(&mut self, mark: &str) -> Result<(), SyntaxError> {
        match self.take(mark) {
            true => Ok(()),
            false => Err(self.unexpected(&format!("'{mark}'"))),
        }
    }

    /// Takes a name.
    pub fn name(&mut self, expected: &str) -> Result<String, SyntaxError> {
        match self.peek() {
            Token::Name(name) => {
                let name = name.clone();
                self.bump();
                Ok(name)
            }
            _ => Err(self.unexpected(expected)),
        }
    }

    /// `open item, item, .. close`; there may be none.
    pub fn list<T>(
        &mut self,
        [open, close]: [&str; 2],
        mut item: impl FnMut(&mut Cursor) -> Result<T, SyntaxError>,
    ) -> Result<Vec<T>, SyntaxError> {
        self.expect(open)?;
        let mut items = Vec::new();
        if self.take(close) {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if self.take(close) {
                return Ok(items);
            }
            if !self.take(",") {
                return Err(self.unexpected(&format!("',' or '{close}'")));
            }
        }
    }

    /// The next token is not what was expected.
    pub fn unexpected(&self, expected: &str) -> SyntaxError {
        let message = format!("found {}, expected {expected}", self.peek());
        SyntaxError::new(self.span(), message)
    }

    /// That was all.
    pub fn end(&self) -> Result<(), SyntaxError> {
        match self.peek() {
            Token::End => Ok(()),
            _ => Err(self.unexpected("the end")),
        }
    }

    /// Parses something nested, unless that is too deep.
    pub fn nested<T>(
        &mut self,
        parse: impl FnOnce(&mut Cursor) -> Result<T, SyntaxError>,
    ) -> Result<T, SyntaxError> {
        if self.depth == DEPTH {
            let message = format!("this is nested more than {DEPTH} deep");
            return Err(SyntaxError::new(self.span(), message));
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }
}

fn number(digits: &str, at: usize) -> Result<Token, SyntaxError> {
    digits.parse().map(Token::Number).map_err(|_| {
        let message = format!("found {digits}, expected a number of at most {}", i64::MAX);
        SyntaxError::new(at..at + digits.len(), message)
    })
}

/// The names most like one, the likeliest first: for "did you mean".
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let name = name.to_lowercase();
    let mut near: Vec<(usize, &str)> = known
        .into_iter()
        .map(|k| (strsim::levenshtein(&name, &k.to_lowercase()), k))
        .filter(|(d, k)| *d <= 1 + k.chars().count() / 3 && *d < k.chars().count())
        .collect();
    near.sort();
    near.into_iter().map(|(_, k)| k).collect()
}
