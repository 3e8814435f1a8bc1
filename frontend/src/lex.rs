//! The words of a text, with their places.

use std::fmt;

use logos::Logos;

use crate::Span;
use crate::diagnostic::Diagnostic;

/// A word.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(skip r"[ \t\r\n\f]+")]
#[logos(skip(r"//[^\n]*", allow_greedy = true))]
pub enum Token {
    /// `var`
    #[token("var")]
    Var,
    /// A name: of a variable, of a function, `input`, `output`.
    #[regex("[A-Za-z][A-Za-z0-9_]*")]
    Name,
    /// A number: `300`, `2.5`, `1e-3`.
    #[regex(r"[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")]
    Number,
    /// `:`
    #[token(":")]
    Colon,
    /// `=`
    #[token("=")]
    Equals,
    /// `[`
    #[token("[")]
    OpenBracket,
    /// `]`
    #[token("]")]
    CloseBracket,
    /// `(`
    #[token("(")]
    OpenParenthesis,
    /// `)`
    #[token(")")]
    CloseParenthesis,
    /// `#`
    #[token("#")]
    Hash,
    /// `.`
    #[token(".")]
    Dot,
    /// `^`
    #[token("^")]
    Caret,
    /// `+`
    #[token("+")]
    Plus,
    /// `-`
    #[token("-")]
    Minus,
    /// `*`
    #[token("*")]
    Star,
    /// `/`
    #[token("/")]
    Slash,
    /// Text that is no word, and has been reported.
    Unknown,
}

/// As it is named in messages.
impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Token::Var => "'var'",
            Token::Name => "a name",
            Token::Number => "a number",
            Token::Colon => "':'",
            Token::Equals => "'='",
            Token::OpenBracket => "'['",
            Token::CloseBracket => "']'",
            Token::OpenParenthesis => "'('",
            Token::CloseParenthesis => "')'",
            Token::Hash => "'#'",
            Token::Dot => "'.'",
            Token::Caret => "'^'",
            Token::Plus => "'+'",
            Token::Minus => "'-'",
            Token::Star => "'*'",
            Token::Slash => "'/'",
            Token::Unknown => "what is no word",
        })
    }
}

/// All words of a text; each run of characters that are none is reported, and one
/// [`Token::Unknown`].
pub fn lex(text: &str, diagnostics: &mut Vec<Diagnostic>) -> Vec<(Token, Span)> {
    let mut tokens: Vec<(Token, Span)> = Vec::new();
    for (token, span) in Token::lexer(text).spanned() {
        match (token, tokens.last_mut()) {
            (Ok(token), _) => tokens.push((token, span)),
            (Err(()), Some((Token::Unknown, run))) if run.end == span.start => run.end = span.end,
            (Err(()), _) => tokens.push((Token::Unknown, span)),
        }
    }
    let strange = tokens.iter().filter(|(token, _)| *token == Token::Unknown);
    diagnostics.extend(strange.map(|(_, run)| unknown(text, run.clone())));
    tokens
}

/// At most so many characters that are no word are quoted.
const LONGEST_QUOTE: usize = 20;

fn unknown(text: &str, run: Span) -> Diagnostic {
    let quoted: String = text[run.clone()]
        .escape_debug()
        .take(LONGEST_QUOTE)
        .collect();
    Diagnostic::new(
        format!("found '{quoted}', which is nothing of the language"),
        run,
        "",
    )
    .help("names are of ASCII letters, digits and '_'; a comment begins with '//'")
}
