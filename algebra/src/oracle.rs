//! The oracle: the definition of `out_view . md_hom(f, (c_1..c_D)) . inp_view`, evaluated
//! naively on plain arrays.
//!
//! The result at a kept point `r` (the indices of `cc` and `ps` dimensions) combines the scalar
//! function's tuples of all points `p` with `p_d = r_d` in `cc`, `p_d <= r_d` in `ps` and any
//! `p_d` in `pw` dimensions. One operator combines all of them; if it is not commutative, there
//! is one combined dimension, whose order is kept. Carries then apply innermost first, each as
//! `f(carry, ..)`; what is carried out in a dimension is the last slice before outer carries.
//!
//! # What a result may differ by
//!
//! Each [`Element`] has a bound on how far a correct result may be from it (`partial.rs`; of math functions,
//! `machine.rs`).
//! - Integers: 0.
//! - The scalar function is computed in its own types, so it is exact, but for math functions,
//!   which may be off by 4 units in the last place.
//! - Built-in combinations of floats accumulate in `f64`. Where at most `d` combinations lie
//!   between an element and the result, a sum may differ by `d * eps * sum |x|` (each combination
//!   rounds once, by `eps / 2`; the other half is for the element, which a fused multiply-add does
//!   not round). `d` is `n - 1` for any order of `n` elements, and less where the combine tree is
//!   known ([`Errors::OfDepth`]); what the oracle itself rounds is added then. A product may differ
//!   by `(n - 1) * eps` relatively in any tree, extrema not at all; a sum or product that overflows
//!   in some order may be anything.
//! - A user's operator on floats is evaluated in its own types from left to right; the bound is
//!   four times the largest deviation of 16 random associations (and orders, if commutative), and
//!   of some that overflow where a sum or product does in any. What overflows from left to right,
//!   though no element is infinite, may be anything.
//! - An operator that linalg's body is, and that its program says is associative, has the same bound,
//!   and at least that of a running error analysis: what its operations round, as far as what follows
//!   passes that on.
//! - Errors of inputs (results of earlier computations) pass through the scalar function by
//!   finite differences `f(x +- e) - f(x)`, of each alone, summed up, or of all together, if that is more. Before a user's operator, each of these runs is a
//!   world of its own instead, in which every input element is at an end or within the bounds of what
//!   it may be, and a math function is off up or down, but always in the same way: equal
//!   arguments give equal values, so that true ties stay ties.
//! - An integer that differs in some of those runs (the index of an arg-max between reassociated
//!   sums that are as good as equal) has no right value: its bound is infinite, so that only the
//!   compared values are checked.
//!
//! ```
//! use mdh_algebra::affine::Expr;
//! use mdh_algebra::code::{Code, Op};
//! use mdh_algebra::computation::{Buffer, Combine, Computation, Dimension};
//! use mdh_algebra::operator::{Builtin, Operator};
//! use mdh_algebra::oracle::{Errors, Evaluator, arrays::Arrays};
//! use mdh_algebra::scalar::{Scalar, ScalarType::F32};
//!
//! // w[i] = sum_k M[i, k] * v[k]
//! let (i, k) = (Expr::dim(0), Expr::dim(1));
//! let matvec = Computation {
//!     dimensions: vec![
//!         Dimension::dense("i", Some(2), Combine::Cc),
//!         Dimension::dense("k", Some(3), Combine::Pw(0)),
//!     ],
//!     inputs: vec![
//!         Buffer::new("M", F32, &[Some(2), Some(3)]).access(0, &[i.clone(), k.clone()]),
//!         Buffer::new("v", F32, &[Some(3)]).access(1, &[k]),
//!     ],
//!     scalar: Code::single(Op::Mulf, F32),
//!     components: vec![F32],
//!     operators: vec![Operator::Builtin(vec![Builtin::Addf])],
//!     carries: vec![],
//!     outputs: vec![Buffer::new("w", F32, &[Some(2)]).access(0, &[i])],
//! };
//! // M = [[0, 1, 2], [3, 4, 5]], v = [0, 1, 2]
//! let mut arrays = Arrays::new(&matvec, |_, n| Scalar::from_f64(F32, n as f64));
//! let results = Evaluator::new(&matvec, Errors::Bounded)?.all_results(&mut arrays)?;
//! let (_, w) = &results[0];
//! assert_eq!((w[0].value.as_f64(), w[1].value.as_f64()), (5.0, 14.0));
//! // Two additions of numbers whose sizes add up to 14.
//! assert_eq!(w[1].error, 2.0 * F32.epsilon() * 14.0);
//! # Ok::<(), mdh_algebra::oracle::Failure>(())
//! ```
//!
//! [`definition`] holds a second evaluator that is the definition letter by letter; the two are
//! tested against each other.

pub mod arrays;
pub mod definition;
mod element;
mod failure;
mod fold;
mod group;
mod inverse;
pub(crate) mod nest;
mod partial;
mod running;
mod scalar_function;
mod view;

pub use element::{Element, Environment, Errors};
pub use failure::Failure;
pub use group::Evaluator;

#[cfg(test)]
#[path = "oracle/tests.rs"]
mod tests;
