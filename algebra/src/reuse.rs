//! Tensor expressions, and when an assignment may run in place: *compatible statements*
//! (Ullrich, Detection and exploitation of data-parallelism in assignments of multi-dimensional
//! tensors, TU Dresden 2018, chapters 3 to 5).
//!
//! A statement `x = e` is *compatible* if evaluating `e` at an index reads `x` at that index only
//! (definition 2). Then no element of `x` is needed after it was overwritten, in whatever order,
//! and `x` needs no second memory.
//!
//! ```
//! use mdh_algebra::reuse::{Context, Expression, Shape, Statement, compatible};
//!
//! let context = Context::new([("x", Shape::new(&[3])), ("u", Shape::new(&[3, 3]))]);
//! // x = (x # u) . [2 3]: x times the trace of u.
//! let mut e = Expression::new();
//! let (x, u) = (e.variable(0), e.variable(1));
//! let product = e.product(x, u);
//! let parentheses = e.parenthesis(product);
//! e.contraction(parentheses, &[[2, 3]]);
//! let statement = Statement { target: 0, value: e };
//! let derivation = compatible(&context, &statement).unwrap();
//! assert!(derivation.is_complete());
//! assert_eq!(
//!     derivation.display(&context, &statement).to_string(),
//!     "\
//! |- x = (x # u) . [2 3] ok    ok-c-stmt
//!   x; (i1) |- (x # u) . [2 3] : ([3], (i1))    tc-contr, k1 fresh
//!     x; (i1) |- (x # u) : ([3 3 3], (i1, k1, k1))    tc-paren
//!       x; (i1) |- x # u : ([3 3 3], (i1, k1, k1))    tc-prod
//!         x; (i1) |- x : ([3], (i1))    tc-var-xx
//!         x; (i1) |- u : ([3 3], (k1, k1))    tc-var-xy
//! "
//! );
//! ```
//!
//! | modules        | what they hold                                                          |
//! |----------------|-------------------------------------------------------------------------|
//! | [`expression`] | expressions as data, and their text                                     |
//! | `statement`    | assignments, and the variables that are declared                        |
//! | [`shape`]      | rules for shapes (figure 3), with violations as data                    |
//! | [`evaluate`]   | what is read where (figure 5): by names of indices, and by enumeration  |
//! | [`typing`]     | the type system (figure 6 with lemma 1's rules): derivations            |
//! | [`alias`]      | the same question for views of computations                             |
//!
//! Expressions may be nested as deep as memory holds: nothing here calls itself.

pub mod alias;
pub mod evaluate;
pub mod expression;
#[cfg(test)]
mod optimality_tests;
mod print;
pub mod shape;
mod statement;
#[cfg(test)]
mod tests;
pub mod typing;

pub use evaluate::{Index, Read};
pub use expression::{Expression, Function, Id, Node, Operator, Pair};
pub use shape::{Shape, Violation};
pub use statement::{Context, Statement, Variable};
pub use typing::{Derivation, compatible};
