//! Expressions as code: C and CUDA, Python as Triton has it, MLIR, and text.
//!
//! Every printer takes a [`Function`] and keeps its meaning in the target's integers:
//!
//! | target | `/` `%`                                              | integers                      |
//! |--------|------------------------------------------------------|-------------------------------|
//! | C      | `/` `%` of what is proved to be 0 or more, else a helper | 64 or 32 bits             |
//! | Triton | the same; both round down in Python and to 0 in kernels  | 64 or 32 bits             |
//! | MLIR   | `divsi` `remsi` of the same, else `floordivsi`       | `index`, of 64 bits           |
//! | text   | as they are                                          | no limits                     |
//!
//! That no operation leaves the target's integers is proved from the ranges of the symbols; where
//! it cannot be, there is no code but an error that says which symbol needs a bound. What several
//! operations use is computed once, and has a name there.

mod c;
mod function;
mod inline;
mod language;
mod mlir;
mod text;
mod triton;

pub use c::{c, c_parts};
pub use function::{Argument, EmitError, Function, Width, proved};
pub use inline::{Host, Placed, Sharing, Target, Term, inline, prelude};
pub use mlir::{affine, mlir};
pub use text::text;
pub use triton::triton;

#[cfg(test)]
#[path = "emit/tests.rs"]
mod tests;
