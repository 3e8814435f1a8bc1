//! Running compiled code: from LLVM IR to a function that Rust can call on arrays
//! ([`mdh_arrays`]).
//!
//! Owns the way from LLVM IR to code of a processor or a GPU. It must not know operations of any MLIR dialect, and
//! reads and writes no file. Start with [`Module`].
//!
//! ```text
//! Module (LLVM IR) --optimise--> Optimised --emit--> .ll, .s, .o
//!                                    '------load---> Jit --function--> Function --call--> results
//!        kernels --into_ptx--> PTX
//! ```
//!
//! The host's target machine, the optimisation pipeline and the code that runs
//! are the same for every output, so what `emit` shows is what `load` executes. No floating-point
//! licence is added to the IR: only the flags that its instructions already carry count.
//!
//! What goes wrong is a value of [`Error`], with LLVM's own words where they exist. What cannot
//! be a value (compiled code that divides by zero or stops itself) ends the process with a
//! message and a stated exit code: [`faults`].

mod backend;
mod error;
pub mod exhaustion;
pub mod faults;
mod jit;
mod kernels;
mod library;
mod limit;
mod llvm;
mod module;
mod packed;
mod support;
mod target;

pub use error::{Error, Result};
pub use jit::{Function, Jit};
pub use library::about_symbol;
pub use limit::{Slow, on_slow};
pub use llvm::{on_fatal_error, version};
pub use mdh_arrays::{Arguments, Buffer, Descriptor, Field, Placement, Results, Times};
pub use mdh_arrays::{buffer, descriptor, measure, memory, steady, timing};
pub use mdhrt::{interface, pool};
pub use module::{Emit, Level, Module, Optimised};
pub use packed::{PackedType, Signature};
pub use support::is_known;
pub use target::{Processor, host};
