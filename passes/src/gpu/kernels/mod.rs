//! Kernels of NVIDIA's GPUs: from parallel loops of blocks and threads to functions of the device.

pub mod cores;
pub(crate) mod effects;
pub(crate) mod guard;
pub(crate) mod integer_powers;
pub mod lanes;
pub(crate) mod launch;
pub mod matrix;
pub mod memory;
pub(crate) mod split;
pub(crate) mod spmd;
pub(crate) mod warps;

pub use cores::{
    BLOCK, THREAD, WARP, core, is_cooperative, is_in_core, is_in_kernel, keep_cooperative,
    read_valid, start_of_kernel,
};
