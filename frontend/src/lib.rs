//! The tensor language (Ullrich, Detection and exploitation of data-parallelism in assignments of
//! multi-dimensional tensors, TU Dresden 2018, chapter 2), and einsums, from text to computations.
//!
//! Owns the texts, their mistakes with their places, and the order of contractions. It must not know MLIR, which it
//! prints as text, or files. Start with the grammar, then `parse.rs` and `check.rs`; `einsum.rs` stands beside them.
//!
//! ```text
//! program     ::= (declaration | statement)*
//! declaration ::= `var` (`input` | `output`)? name `:` `[` size* `]`
//! statement   ::= name `=` sum
//! sum         ::= term ((`+` | `-`) term)*
//! term        ::= suffix ((`*` | `/`) suffix)*
//! suffix      ::= product (`.` pairs | `^` pair)*
//! product     ::= atom (`#` atom)*
//! atom        ::= name | `-`? number | `(` sum `)` | function `(` sum `)`
//! pairs       ::= pair | `[` pair+ `]`
//! pair        ::= `[` dimension dimension `]`
//! ```
//!
//! `#` is the tensor product; `.` contracts dimensions, all pairs of a group at once, which are
//! numbered before any is applied; `^` exchanges two. Dimensions are counted from 1. A name is a
//! letter, then letters, digits and `_`; what stands from `//` to the end of a line is a comment.
//! Where a `#` follows a suffix, what is before it is its left operand as a whole.
//!
//! ```
//! let text = "var u : [3 4]  var v : [4]  var w : [3]  w = (u # v) . [2 3]";
//! let program = mdh_frontend::read(text).unwrap();
//! assert_eq!(program.statements[0].shapes.last().unwrap().to_string(), "[3]");
//!
//! let errors = mdh_frontend::read("var u : [3 4]\nu = v + u . [1 2]").unwrap_err();
//! assert_eq!(errors[0].message, "'v' is not declared");
//! ```
//!
//! | modules        | what they hold                                                        |
//! |----------------|-----------------------------------------------------------------------|
//! | [`lex`]        | words of the text, with their places                                  |
//! | [`parse`]      | declarations and statements                                           |
//! | `expression`   | expressions, by the precedence of their operators                     |
//! | [`check`]      | names, shapes and roles of variables: a [`CheckedProgram`]            |
//! | [`diagnostic`] | what is wrong, where, and as text                                     |
//! | [`plan`]       | statements as loops, in the order that costs least                    |
//! | [`mlir`]       | these as computations                                                 |
//! | [`report`]     | roles, and which statements are compatible                            |
//! | [`memory`]     | which statements may run in place, and the temporaries of others      |
//! | [`einsum`]     | NumPy's notation of contractions, as computations                     |
//! | [`interpret`]  | statements by definition, one operation after the other               |
//!
//! Nothing here calls itself: text may be nested as deep as memory holds.

pub mod check;
pub mod diagnostic;
pub mod einsum;
mod expression;
#[cfg(test)]
mod fuzz_tests;
pub mod interpret;
pub mod lex;
pub mod memory;
pub mod mlir;
pub mod parse;
pub mod plan;
#[cfg(test)]
mod plan_tests;
pub mod report;
#[cfg(test)]
mod tests;

pub use check::{Assignment, CheckedProgram};
pub use diagnostic::Diagnostic;

/// A part of a text: its first byte, and the first one behind it.
pub type Span = std::ops::Range<usize>;

/// Reads a program; everything that is wrong with it, in the order of the text.
pub fn read(text: &str) -> Result<CheckedProgram, Vec<Diagnostic>> {
    let (syntax, mut diagnostics) = parse::parse(text);
    let program = check::check(&syntax, &mut diagnostics);
    match diagnostics.is_empty() {
        true => Ok(program),
        false => {
            diagnostics.sort_by_key(|diagnostic| diagnostic.place().start);
            Err(diagnostics)
        }
    }
}
