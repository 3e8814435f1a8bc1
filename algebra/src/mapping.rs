//! Mappings: how an n-dimensional space of indices, with offsets and gaps, becomes the few bounded
//! dimensions of a GPU's blocks and threads (GPU index mapping, chapters 2 and 3).
//!
//! A *grid* `(L, U, T, W)` holds all `I` with `L <= I < U` and `(I - L) mod T < W` in each
//! dimension, `T >= 1`, `1 <= W <= T`. It is *normalised* when `L = 0`, and *dense* when also
//! `T = W`. It may have any number of dimensions: the space of none has one point, the empty index,
//! as conditions on no dimension hold. It is empty where `U <= L`.
//!
//! A mapping is a pair: the space goes right, an index comes back left, or is discarded.
//!
//! | mapping            | on         | space                                       | index                                |
//! |--------------------|------------|---------------------------------------------|--------------------------------------|
//! | `shift_lb`         | grid       | `(max(U-L,0), T, W)`                        | `I + L`                              |
//! | `compress_grid(C)` | normalised | where C: `(u/t)*w + min(u mod t, w)`, dense | `(i'/w)*t + i' mod w`                |
//! | `prune_grid`       | normalised | `U`                                         | `I'` if `I' mod T < W`, else discarded |
//! | `split_last(l)`    | dense      | last `u -> u/l, l`; l divides u             | `l*i_M + i_m`                        |
//! | `fold_last2`       | dense      | last two `-> u_M*u_m`                       | `i'/u_m, i' mod u_m`                 |
//! | `permute(P)`       | any        | dimension `d` is dimension `P[d]`           | permuted back                        |
//! | `pad_last(p)`      | any        | last `u -> ceil(u/p)*p`                     | `I'` if `I' < U`, else discarded     |
//!
//! A [`Mapping`] is a chain of these on a space, written first to last:
//! `[1 to n step 3 width 2].shift_lb.compress_grid([0]).pad_last(128).split_last(128)`. Bounds may
//! be expressions of symbols, so an index comes back as expressions ([`Mapping::back`]).
//!
//! **Right means mapping equivalence** (definition 2.7): the index map is a bijection from the
//! operative part of the mapped space, what is not discarded, onto the original space. Each mapping
//! above is one wherever its precondition holds (theorems 2.19 to 2.49), and a chain of bijections
//! is one; so [`Mapping::new`] asks the preconditions: what is refuted is an error, and what is not
//! proved, such as `n % 128 == 0`, is kept ([`Mapping::conditions`]) to be asked at run time. That
//! the theorems hold of this code is not believed: [`Mapping::decide`] asks the definition, point
//! by point, and the tests ask it of all small chains.
//!
//! **Discarding** has two modes ([`Discard`]): branching, which leaves at the first condition that
//! fails, and branchless, which carries one predicate along: the latter wherever a barrier follows,
//! which all threads of a block must reach.

pub mod bounded;
mod chain;
mod conditions;
mod device;
mod equivalence;
mod launch;
mod parse;
mod print;
mod space;
mod step;
mod strategy;
mod with_loop;

pub use chain::{Mapping, MappingError};
pub use device::{Device, axis_name, axis_number};
pub use equivalence::{Claim, equivalence};
pub use launch::{Barrier, Discard, Launch};
pub use parse::{chain, mapping, space};
pub use space::{GridAxis, Space, SpaceKind};
pub use step::{Back, Step};
pub use strategy::{Strategy, choose};
pub use with_loop::WithLoop;

#[cfg(test)]
#[path = "mapping/tests.rs"]
mod tests;

#[cfg(test)]
#[path = "mapping/bijection_tests.rs"]
mod bijection_tests;
