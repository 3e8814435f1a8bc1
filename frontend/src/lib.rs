//! The tensor language (Rink, Modeling of languages for tensor manipulation, 2018; Ullrich's
//! thesis, chapter 2), as a front end: text becomes computations.
//!
//! ```
//! let text = "
//!     var u : [300]
//!     var v : [300 400]
//!     var w : [400]
//!     u = v # w . [2 3]
//! ";
//! let program = mdh_frontend::check(text).unwrap();
//! assert_eq!(program.context.name(program.statements[0].target), "u");
//! let module = mdh_frontend::mlir(&program, "matvec");
//! assert!(module.contains("md_hom") || module.contains("mdh.hom"));
//! ```
//!
//! ```text
//! program    ::= (declaration | statement)*
//! declaration ::= `var` (`input` | `output`)? NAME `:` `[` SIZE* `]`
//! statement  ::= NAME `=` e
//! e          ::= NAME | NUMBER | `(` e `)` | FUNCTION `(` e `)`
//!              | e `#` e                          the tensor product
//!              | e `.` `[` DIM DIM `]`            a contraction
//!              | e `.` `[` (`[` DIM DIM `]`)+ `]` a group of them, numbered before any is applied
//!              | e `^` `[` DIM DIM `]`            a transposition
//!              | e `*` e | e `/` e | e `+` e | e `-` e
//! ```
//!
//! From tightly to loosely: `#`, then `.` and `^`, then `*` and `/`, then `+` and `-`. Dimensions count
//! from 1. Elements are `f64`. `//` starts a comment.
//!
//! | modules        | what they hold                                                       |
//! |----------------|----------------------------------------------------------------------|
//! | [`lex`]        | text as tokens                                                       |
//! | [`parse`]      | tokens as declarations and statements, with their places             |
//! | [`mod@check`]  | names, markers, shapes                                               |
//! | [`diagnostic`] | what is wrong, and where, as people read it                          |
//! | [`plan`]       | statements as sums of products, in an order that costs least         |
//! | [`emit`]       | these as computations, in MLIR                                       |
//! | [`interpret`]  | statements as the language defines them, one element after the other |
//!
//! Nothing here calls itself: texts may be nested as deep as memory holds.

pub mod check;
pub mod diagnostic;
pub mod emit;
pub mod interpret;
pub mod lex;
pub mod parse;
pub mod plan;

pub use check::{Program, Role, check};
pub use diagnostic::Diagnostic;
pub use emit::mlir;
