//! Kernels of NVIDIA's GPUs: from parallel loops of blocks and threads to functions of the device, or of the simulator.
//!
//! What a block and its threads run is decided in `support/kernels/`: barriers in `spmd.rs`, shuffles in `shuffles.rs`,
//! warps in `warps.rs`, the launch in `launch.rs`.

pub mod align_accesses;
pub mod align_shared_memory;
pub mod copy_asynchronously;
pub mod expand_kernel_remainders;
pub mod kernel_intrinsics;
pub mod launch_kernels;
pub mod lift_kernel_math;
pub mod map_kernels;
pub mod place_on_device;
pub mod simulate_kernels;
pub mod watch_memory;
