//! Arrays in memory as compiled code takes them, and calls that pass them.
//!
//! Owns elements and their memory. It must not know how code is compiled (LLVM, MLIR): what runs code that was compiled
//! elsewhere uses it as well. Start with [`Tensor`].
//!
//! ```text
//! Buffer (memory between guards) --Tensor (elements, shape)--> Descriptor --Arguments--> a call
//! ```

mod arguments;
pub mod buffer;
pub mod call;
pub mod descriptor;
mod error;
pub mod memory;
mod results;
pub mod tensor;
pub mod timing;

pub use arguments::Arguments;
pub use buffer::{Buffer, Placement};
pub use descriptor::Descriptor;
pub use error::{Error, Result};
pub use results::{Field, Results};
pub use tensor::Tensor;
pub use timing::{Times, measure, steady};
