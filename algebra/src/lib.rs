//! The algebra of multi-dimensional homomorphisms: what a computation *is*, its rules, and the
//! oracle that evaluates its definition.
//!
//! Pure: this crate knows neither MLIR nor files nor threads. Everything that decides whether a
//! computation is well defined, and what its result must be, is here, so that every backend and
//! front end is held against the same definition (MDH paper, section 2 and appendix B).

pub mod affine;
pub mod arith;
pub mod bind;
pub mod code;
pub mod computation;
pub mod domain;
#[cfg(test)]
mod examples;
pub mod laws;
pub mod machine;
pub mod op;
pub mod operator;
pub mod oracle;
pub mod random;
pub mod rules;
pub mod scalar;
