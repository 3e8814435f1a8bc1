//! Kernels of NVIDIA's GPUs: from parallel loops of blocks and threads to functions of the device.

pub mod align;
pub mod asynchronous;
pub mod cores;
mod effects;
mod guard;
mod integer_powers;
pub mod intrinsics;
pub mod lanes;
mod launch;
pub mod launches;
pub mod map;
pub mod math;
pub mod matrix;
pub mod memory;
pub mod place;
pub mod remainder;
pub mod shared_memory;
mod split;
mod spmd;
mod warps;

pub use cores::{
    BLOCK, THREAD, WARP, core, is_cooperative, is_in_core, is_in_kernel, keep_cooperative,
    read_valid, start_of_kernel,
};
