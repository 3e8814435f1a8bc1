//! Packages: a program's kernels, the code that launches them, and what to check, in one file that
//! runs where nothing of MLIR and LLVM is.
//!
//! Owns the format of packages, and `mdh-exec`, which runs and measures them. It must not know LLVM or MLIR. Start with
//! [`Manifest`].
//!
//! A package (`.mdhpkg`) is a tar archive:
//!
//! | file | what it is |
//! |---|---|
//! | `digest` | the SHA-256 sums of the others, as `sha256sum --check` reads them |
//! | `manifest.json` | a [`Manifest`]: the function, its arrays, what results must be |
//! | `kernels.ptx` | the kernels, for one chip and later ones; empty if there are none |
//! | `host.so` | the code that launches them, for any x86-64 processor with AVX2 |

mod archive;
pub mod error;
pub mod failure;
mod package;
pub mod racing;
mod run;
pub mod stats;
pub mod tune;

pub use error::{Error, Result};
pub use package::{Array, ArraySlot, Expected, Fill, Manifest, Package};
pub use run::{Held, Outcome, Request, hold, run};
