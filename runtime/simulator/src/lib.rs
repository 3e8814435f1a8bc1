//! Kernels of a GPU, run on a CPU: each thread of a block is a coroutine, blocks run in parallel
//! on cores, and every access to memory is looked at.
//!
//! Owns what threads do at the same time: races, barriers, banks. It must not know LLVM or MLIR. Start with [`launch`].
//!
//! Compiled code calls these, with the thread that calls as the first argument and the place in
//! the program as the last one:
//!
//! | symbol | what it stands for | module |
//! |---|---|---|
//! | `mdh_sim_launch` | a kernel's launch | [`launch`] |
//! | `mdh_sim_barrier`, `mdh_sim_warp_barrier` | `bar.sync`, `bar.warp.sync` | [`calls`] |
//! | `mdh_sim_shuffle`, `mdh_sim_ballot` | `shfl.sync`, `vote.sync.ballot` | [`calls`] |
//! | `mdh_sim_multiply` | `mma.sync` | [`multiply`] |
//! | `mdh_sim_copy`, `mdh_sim_commit`, `mdh_sim_wait` | `cp.async` and its groups | [`calls`] |
//! | `mdh_sim_read`, `mdh_sim_write`, `mdh_sim_atomic` | before each access | [`calls`] |
//! | `mdh_sim_allocate`, `mdh_sim_free`, `mdh_sim_transfer` | device memory | [`device`] |
//!
//! What is found stands in a [`report::Report`]: data races, barriers that not all threads reach,
//! accesses outside of buffers or of what was never written, and how often accesses of a warp
//! share banks or need more memory transactions than they could.

pub mod block;
pub mod calls;
pub mod copies;
pub mod counters;
pub mod device;
pub mod flights;
pub mod launch;
pub mod multiply;
pub mod report;
pub mod shadow;
pub mod site;
pub mod thread;
pub mod warp;

use std::ffi::CStr;

/// Returns the functions that compiled code calls, by name.
pub fn symbols() -> Vec<(&'static CStr, u64)> {
    macro_rules! addresses {
        ($($name:literal $function:path),* $(,)?) => {
            vec![$(($name, $function as *const () as u64)),*]
        };
    }
    addresses![
        c"mdh_sim_launch" launch::mdh_sim_launch,
        c"mdh_sim_barrier" calls::mdh_sim_barrier,
        c"mdh_sim_warp_barrier" calls::mdh_sim_warp_barrier,
        c"mdh_sim_turn" calls::mdh_sim_turn,
        c"mdh_sim_shuffle" calls::mdh_sim_shuffle,
        c"mdh_sim_ballot" calls::mdh_sim_ballot,
        c"mdh_sim_multiply" multiply::mdh_sim_multiply,
        c"mdh_sim_copy" calls::mdh_sim_copy,
        c"mdh_sim_commit" calls::mdh_sim_commit,
        c"mdh_sim_wait" calls::mdh_sim_wait,
        c"mdh_sim_read" calls::mdh_sim_read,
        c"mdh_sim_write" calls::mdh_sim_write,
        c"mdh_sim_atomic" calls::mdh_sim_atomic,
        c"mdh_sim_allocate" device::mdh_sim_allocate,
        c"mdh_sim_free" device::mdh_sim_free,
        c"mdh_sim_transfer" device::mdh_sim_transfer,
    ]
}
