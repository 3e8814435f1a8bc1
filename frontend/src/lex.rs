//! Text as tokens.

use std::fmt;
use std::ops::Range;

use logos::Logos;

use crate::diagnostic::Diagnostic;

/// A token.
#[derive(Logos, Clone, Copy, Debug, PartialEq)]
#[logos(skip r"[ \t\r\n\f]+")]
#[logos(skip(r"//[^\n]*", allow_greedy = true))]
pub enum Token<'s> {
    /// The name of a variable or function; `var`, `input` and `output` are names that have a meaning
    /// where they stand.
    #[regex("[A-Za-z_][A-Za-z0-9_]*")]
    Name(&'s str),
    /// Digits: a size, a dimension, or a constant.
    #[regex("[0-9]+")]
    Integer(&'s str),
    /// A number that is no integer.
    #[regex(r"[0-9]+(\.[0-9]+([eE][+-]?[0-9]+)?|[eE][+-]?[0-9]+)")]
    Float(&'s str),
    /// `(`
    #[token("(")]
    Open,
    /// `)`
    #[token(")")]
    Close,
    /// `[`
    #[token("[")]
    OpenList,
    /// `]`
    #[token("]")]
    CloseList,
    /// `:`
    #[token(":")]
    Colon,
    /// `=`
    #[token("=")]
    Equal,
    /// `.`
    #[token(".")]
    Dot,
    /// `^`
    #[token("^")]
    Caret,
    /// `#`
    #[token("#")]
    Hash,
    /// `*`
    #[token("*")]
    Star,
    /// `/`
    #[token("/")]
    Slash,
    /// `+`
    #[token("+")]
    Plus,
    /// `-`
    #[token("-")]
    Minus,
    /// Behind the last one.
    End,
}

impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Token::Name(text) | Token::Integer(text) | Token::Float(text) => text,
            Token::Open => "(",
            Token::Close => ")",
            Token::OpenList => "[",
            Token::CloseList => "]",
            Token::Colon => ":",
            Token::Equal => "=",
            Token::Dot => ".",
            Token::Caret => "^",
            Token::Hash => "#",
            Token::Star => "*",
            Token::Slash => "/",
            Token::Plus => "+",
            Token::Minus => "-",
            Token::End => return f.write_str("the end of the file"),
        };
        write!(f, "'{text}'")
    }
}

/// The tokens of a text with their places, the last one [`Token::End`]; what is none is left out and
/// reported.
pub fn tokens(text: &str) -> (Vec<(Token<'_>, Range<usize>)>, Vec<Diagnostic>) {
    let (mut tokens, mut wrong) = (Vec::new(), Vec::<Diagnostic>::new());
    for (token, span) in Token::lexer(text).spanned() {
        match token {
            Ok(token) => tokens.push((token, span)),
            // Neighbouring characters are one mistake.
            Err(()) => match wrong.last_mut().filter(|last| last.span.end == span.start) {
                Some(last) => last.span.end = span.end,
                None => wrong.push(Diagnostic::new(span, String::new())),
            },
        }
    }
    for found in &mut wrong {
        let what = text.get(found.span.clone()).unwrap_or_default();
        found.message = format!("{what:?} means nothing in this language");
    }
    tokens.push((Token::End, text.len()..text.len()));
    (tokens, wrong)
}
