//! The algebra of multi-dimensional homomorphisms: a computation as data, its rules, and the oracle
//! that evaluates its definition.
//!
//! Owns everything that decides whether a computation is well defined, and what its result must be, so that every
//! back end and front end is held against the same definition (MDH paper, section 2 and appendix B). It must not know
//! MLIR, files or threads, nor machines and schedules, which are in the crate above (`mdh_schedule`). Start with
//! [`computation`], then [`rules`] and [`oracle`].
//!
//! | modules                            | what they hold                                        |
//! |------------------------------------|-------------------------------------------------------|
//! | [`scalar`], [`op`], [`arith`]      | values, and the operations on them as MLIR means them |
//! | [`code`], [`promise`], [`machine`] | scalar functions as data, and their interpreter       |
//! | [`exact`]                          | integers in the place of floats                       |
//! | [`affine`], [`domain`]             | index functions, grids                                |
//! | [`index`]                          | index expressions: text, values, ranges               |
//! | [`integer`]                        | linear systems over the integers                      |
//! | [`layout`]                         | bijections of indices and offsets, composed (LEGO)    |
//! | [`mapping`]                        | spaces of indices as blocks and threads of a GPU      |
//! | [`operator`], [`laws`]             | combine operators, and tests of their laws            |
//! | [`support`]                        | points at which a scalar function contributes something |
//! | [`choice`]                         | operators that only compare and choose: laws, decided |
//! | [`computation`], [`bind`]          | `out_view . md_hom . inp_view` as data                |
//! | [`rules`]                          | when it is well defined                               |
//! | [`nest`]                           | loops around scalar code, as `linalg.generic`         |
//! | [`oracle`]                         | what its result is, and how far a right one may be off |
//! | [`program`]                        | functions that hold several computations              |
//! | [`compare`]                        | results against the oracle's                          |
//! | [`reuse`]                          | tensor expressions; when a result may overwrite one   |
//! | [`stairs`]                         | tables of values as rounded quotients of an index     |
//! | [`amounts`]                        | bytes and counts in words                             |
//! | [`random`], [`examples`]           | reproducible random numbers and computations, for tests |

pub mod affine;
pub mod amounts;
pub mod arith;
pub mod bind;
pub mod choice;
pub mod code;
pub mod compare;
pub mod computation;
pub mod domain;
pub mod exact;
pub mod examples;
pub mod index;
pub mod integer;
pub mod laws;
pub mod layout;
pub mod machine;
pub mod mapping;
pub mod nest;
pub mod op;
pub mod operator;
pub mod oracle;
pub mod program;
pub mod promise;
pub mod random;
pub mod reuse;
pub mod rules;
pub mod scalar;
pub mod stairs;
pub mod support;
