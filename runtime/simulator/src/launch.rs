//! A kernel's launch: its blocks, in parallel over the cores.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mdhrt::failure::{self, Failure};

use crate::block::{self, Stacks};
use crate::device::{Buffer, Device};
use crate::thread::{Thread, Three};
use crate::warp::LANES;

/// A compiled kernel: what it captures, and the thread that runs it.
pub type Kernel = unsafe extern "C-unwind" fn(context: *mut c_void, thread: *mut Thread);

/// The most threads of a block.
pub const MOST_THREADS: u64 = 1024;
/// The most bytes of shared memory of a block (sm_90).
pub const MOST_SHARED: usize = 227 * 1024;
/// The most blocks in x, y and z.
pub const MOST_BLOCKS: [u64; 3] = [(1 << 31) - 1, 65535, 65535];

/// A launch of a kernel.
pub struct Launch {
    /// The code.
    pub kernel: Kernel,
    /// Its captured values.
    pub context: *mut c_void,
    /// Blocks of the grid.
    pub blocks: Three,
    /// Threads of a block.
    pub threads: Three,
    /// Bytes of shared memory of a block.
    pub shared: usize,
    /// The device's memory.
    pub buffers: Vec<Arc<Buffer>>,
}

// SAFETY: the context is read by all threads of the grid, as on a device.
unsafe impl Sync for Launch {}

impl Launch {
    /// Returns the number of a block's threads.
    pub fn threads_of_block(&self) -> u32 {
        self.threads.iter().product()
    }

    /// Returns the number of a block's warps.
    pub fn warps(&self) -> usize {
        (self.threads_of_block() as usize).div_ceil(LANES)
    }

    /// The block with a number.
    pub fn block(&self, number: u64) -> Three {
        let [x, y, _] = self.blocks.map(u64::from);
        let three = [number % x, number / x % y, number / x / y];
        three.map(|index| index as u32)
    }
}

/// Launches a kernel and waits for it: what it does wrong is in the device's report. Extents that
/// no device has end the program with both numbers, as the driver of a device would.
///
/// # Safety
/// `kernel` is a kernel that takes this context.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn mdh_sim_launch(
    kernel: Kernel,
    context: *mut c_void,
    blocks: *const [i64; 3],
    threads: *const [i64; 3],
    shared: i64,
) {
    // SAFETY: the caller's arrays.
    let (blocks, threads) = unsafe { (*blocks, *threads) };
    let shared = usize::try_from(shared).unwrap_or(usize::MAX);
    if let Err(why) = check(blocks, threads, shared) {
        failure::raise(Failure::new(why));
    }
    if blocks.contains(&0) || threads.contains(&0) {
        return;
    }
    let device = Device::own();
    let launch = Launch {
        kernel,
        context,
        blocks: blocks.map(|n| n as u32),
        threads: threads.map(|n| n as u32),
        shared,
        buffers: device.buffers(),
    };
    launch.buffers.iter().for_each(|b| b.shadow.forget());
    let count: u64 = launch.blocks.iter().map(|n| u64::from(*n)).product();
    device.report().launches += 1;
    let next = AtomicU64::new(0);
    let workers = (mdhrt::pool::thread_count() as u64).min(count) as i64;
    mdhrt::pool::parallel_for(workers, |_| {
        let mut stacks = Stacks::default();
        // Blocks start in their order, so that those before one are done or running.
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return;
            }
            let report = block::run(&launch, number, &mut stacks);
            device.report().join(report);
        }
    });
}

fn check(blocks: [i64; 3], threads: [i64; 3], shared: usize) -> Result<(), String> {
    let axes = ["x", "y", "z"].iter().zip(blocks).zip(MOST_BLOCKS);
    for ((axis, count), most) in axes {
        let fits = u64::try_from(count).is_ok_and(|count| count <= most);
        if !fits {
            return Err(format!(
                "a kernel is launched with {count} blocks in {axis}: expected 0 to {most}"
            ));
        }
    }
    let mut counts = threads.iter().map(|n| u64::try_from(*n).ok());
    let total = counts.try_fold(1_u64, |total, n| Some(total.saturating_mul(n?)));
    if total.is_none_or(|total| total > MOST_THREADS) {
        return Err(format!(
            "a kernel is launched with blocks of {threads:?} threads: expected {MOST_THREADS} \
             threads at most"
        ));
    }
    if shared > MOST_SHARED {
        return Err(format!(
            "a kernel is launched with {shared} bytes of shared memory: expected {MOST_SHARED} \
             at most"
        ));
    }
    Ok(())
}
