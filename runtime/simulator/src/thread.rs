//! A thread of a block, as compiled code sees it and as a coroutine.

use corosensei::Yielder;

use crate::block::Block;
use crate::copies::Copies;

pub use crate::site::Site;

/// Three extents or indices: x, y, z.
pub type Three = [u32; 3];

/// Context of a thread, as compiled code reads it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ThreadContext {
    /// The thread's index in its block.
    pub thread: Three,
    /// The block's index in the grid.
    pub block: Three,
    /// Number of threads of a block, by axis.
    pub threads: Three,
    /// Number of blocks of the grid, by axis.
    pub blocks: Three,
    /// The block's shared memory.
    pub shared: *mut u8,
    /// Bytes of it.
    pub bytes: u64,
}

/// Reason for which a thread waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// A barrier: for all threads of the block.
    Barrier(Site),
    /// An exchange: for all lanes of its warp.
    Warp(Site),
    /// Others' turn.
    Turn,
}

/// A thread; compiled code has its address, and reads [`ThreadContext`] there.
#[repr(C)]
pub struct Thread {
    /// Its position.
    pub place: ThreadContext,
    /// Its number in the block.
    pub number: u32,
    /// Number of exchanges that its warp has had, as far as it knows.
    pub exchanges: u32,
    /// Copies that it has begun.
    pub copies: Copies,
    /// Its block.
    pub block: *mut Block<'static>,
    /// Coroutine's handle, by which it yields.
    pub yielder: *const Yielder<(), Wait>,
}

impl Thread {
    /// Its lane in its warp.
    pub fn lane(&self) -> usize {
        self.number as usize % crate::warp::LANES
    }

    /// The number of its warp in the block.
    pub fn warp(&self) -> usize {
        self.number as usize / crate::warp::LANES
    }

    /// Lets others run until what it waits for is there.
    ///
    /// # Safety
    /// The thread runs.
    pub unsafe fn wait(thread: *mut Thread, wait: Wait) {
        // SAFETY: it runs, so its coroutine has set the yielder.
        unsafe { (*(*thread).yielder).suspend(wait) }
    }

    /// `block 1,0,0 thread 5,0,0`.
    pub fn name(&self) -> String {
        let three = |[x, y, z]: Three| format!("{x},{y},{z}");
        format!(
            "block {} thread {}",
            three(self.place.block),
            three(self.place.thread)
        )
    }
}
