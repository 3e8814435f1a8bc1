//! Kernels of NVIDIA's GPUs, as passes of gpu/, tile/, vector/ and llvm/ have them: what the blocks, warps and threads of a
//! launch run.

pub mod cores;
pub(crate) mod effects;
pub(crate) mod guard;
pub(crate) mod integer_powers;
pub(crate) mod launch;
pub mod matrix;
pub mod memory;
pub mod shuffles;
pub(crate) mod split;
pub(crate) mod spmd;
pub(crate) mod warps;

pub use cores::{
    BLOCK, THREAD, WARP, core, is_cooperative, is_in_core, is_in_kernel, keep_cooperative,
    read_valid, start_of_kernel,
};
