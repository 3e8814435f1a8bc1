//! Random programs, random schedules and mutants of the examples, against the system and its
//! oracle.
//!
//! Owns generators, and the reduction of what fails. It must not know how a pass works: programs are run by the
//! command's own code. Start with `program.rs` and `generate/`.
//!
//! | module       | what is in it                                                        |
//! |--------------|----------------------------------------------------------------------|
//! | `hunt`       | suites of random cases: run by children, made smaller, counted        |
//! | `case`, `way` | random cases; the ways in which they are made, run and judged        |
//! | `choices`    | named random choices, which make reducing a failing case possible     |
//! | `program`    | a random program                                                      |
//! | `generate`   | programs from choices                                                 |
//! | `print`      | programs as MLIR                                                      |
//! | `lower`      | programs with the schedules that the model makes, on small machines    |
//! | `einsum`     | random einsums, by their definition                                  |
//! | `linalg`     | random programs of linalg                                            |
//! | `loops`      | random loops over tensors                                            |
//! | `text`       | programs as text, and how they are run                               |
//! | `linalg_round_trip` | these, raised, as linalg again and raised again; computations as linalg and raised |
//! | `schedules`  | random schedules of programs and workloads                            |
//! | `scripts`    | random scripts of upstream's transformations of programs              |
//! | `builder`    | scalar code, built operation by operation                             |
//! | `mutate`, `examine` | mutants of texts, and what the compiler says to them           |
//! | `run`, `child`, `stack` | programs through `mdh run`, in child processes, and their stacks after a signal |
//! | `failure`, `reduce` | failures, their equality, and smaller cases that fail alike     |
//! | `environment`, `record`, `tally` | settings of a test, and what becomes of its cases  |
//! | `sizes`      | random sizes, of more bytes than can be addressed, too                |
//! | `tune`       | searches for schedules of random programs                             |

pub mod builder;
pub mod case;
pub mod child;
pub mod choices;
pub mod einsum;
pub mod environment;
pub mod examine;
pub mod failure;
pub mod generate;
pub mod hunt;
pub mod linalg;
pub mod linalg_round_trip;
pub mod loops;
pub mod lower;
pub mod mutate;
pub mod print;
pub mod program;
pub mod record;
pub mod reduce;
pub mod run;
pub mod schedules;
pub mod scripts;
pub mod sizes;
pub mod stack;
pub mod tally;
pub mod text;
pub mod tune;
pub mod way;
