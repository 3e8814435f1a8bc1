//! Functions that compiled kernels call.
//!
//! All of them take the thread that calls first; it runs, and its block lives.

use crate::block::Use;
use crate::copies::Copy;
use crate::site::Site;
use crate::thread::{Thread, Wait};
use crate::warp::{Given, LANES};

/// Waits for all threads of the block.
///
/// # Safety
/// The thread runs.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn mdh_sim_barrier(thread: *mut Thread, site: Site) {
    // SAFETY: the caller's promise.
    unsafe { Thread::wait(thread, Wait::Barrier(site)) }
}

/// Lets other threads run, while waiting for what they write.
///
/// # Safety
/// The thread runs.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn mdh_sim_turn(thread: *mut Thread) {
    // SAFETY: the caller's promise.
    unsafe { Thread::wait(thread, Wait::Turn) }
}

/// Gives a value to the other lanes, and waits until all have.
///
/// # Safety
/// The thread runs.
pub(crate) unsafe fn exchange(thread: *mut Thread, value: Given, site: Site) -> u32 {
    // SAFETY: the caller's promise; the borrow ends before others run.
    unsafe {
        let number = (*thread).exchanges;
        (*thread).exchanges = number.wrapping_add(1);
        let (warp, lane) = ((*thread).warp(), (*thread).lane());
        let block = &mut *(*thread).block;
        block.warps[warp].give(number, lane, value);
        Thread::wait(thread, Wait::Warp(site));
        number
    }
}

/// Waits for the lanes of the warp.
///
/// # Safety
/// The thread runs.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn mdh_sim_warp_barrier(thread: *mut Thread, site: Site) {
    // SAFETY: the caller's promise.
    unsafe { exchange(thread, Given::default(), site) };
}

/// Source lane of a shuffle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Shuffle {
    /// The own number, exclusive-or the operand.
    Xor,
    /// The own number minus the operand.
    Up,
    /// The own number plus the operand.
    Down,
    /// The operand.
    Index,
}

impl Shuffle {
    /// The lane that one reads, in groups of `width` lanes; `None` if it is none of the group.
    pub fn source(self, lane: usize, operand: u32, width: usize) -> Option<usize> {
        let operand = operand as usize;
        let first = lane - lane % width;
        let source = match self {
            Shuffle::Xor => lane ^ operand,
            Shuffle::Up => lane.checked_sub(operand)?,
            Shuffle::Down => lane + operand,
            Shuffle::Index => first + operand % width,
        };
        let group = match self {
            // Lanes of an earlier group may be read, of a later one not.
            Shuffle::Xor => 0..first + width,
            _ => first..first + width,
        };
        group.contains(&source).then_some(source)
    }
}

/// Result of a shuffle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Shuffled {
    /// The other lane's bits, or the own ones.
    pub bits: u64,
    /// 1 if there is such a lane.
    pub is_there: u64,
}

/// The bits that another lane has; the own ones if there is no such lane.
///
/// # Safety
/// The thread runs.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn mdh_sim_shuffle(
    thread: *mut Thread,
    mode: Shuffle,
    bits: u64,
    operand: u32,
    width: u32,
    site: Site,
) -> Shuffled {
    // SAFETY: the caller's promise.
    unsafe {
        let number = exchange(thread, [bits, 0, 0], site);
        let (warp, lane) = ((*thread).warp(), (*thread).lane());
        let width = (width as usize).clamp(1, LANES);
        let source = mode.source(lane, operand, width);
        let block = &mut *(*thread).block;
        let taken = source.and_then(|source| block.warps[warp].take(number, source));
        Shuffled {
            bits: taken.map_or(bits, |[taken, ..]| taken),
            is_there: u64::from(source.is_some()),
        }
    }
}

/// A bit for each lane that gives true.
///
/// # Safety
/// The thread runs.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn mdh_sim_ballot(thread: *mut Thread, vote: bool, site: Site) -> u32 {
    // SAFETY: the caller's promise.
    unsafe {
        let number = exchange(thread, [u64::from(vote), 0, 0], site);
        let block = &mut *(*thread).block;
        block.warps[(*thread).warp()].ballot(number)
    }
}

/// # Safety
/// The thread runs.
unsafe fn access(thread: *mut Thread, how: Use, address: usize, bytes: u64, site: Site) {
    // SAFETY: the caller's promise.
    unsafe {
        let block = &mut *(*thread).block;
        block.access(&*thread, how, (address, bytes as usize), site);
    }
}

/// Before bytes are read.
///
/// # Safety
/// The thread runs.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn mdh_sim_read(
    thread: *mut Thread,
    address: usize,
    bytes: u64,
    site: Site,
) {
    // SAFETY: the caller's promise.
    unsafe { access(thread, Use::Read, address, bytes, site) }
}

/// Before bytes are written.
///
/// # Safety
/// The thread runs.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn mdh_sim_write(
    thread: *mut Thread,
    address: usize,
    bytes: u64,
    site: Site,
) {
    // SAFETY: the caller's promise.
    unsafe { access(thread, Use::Write, address, bytes, site) }
}

/// Before bytes are read and written at once.
///
/// # Safety
/// The thread runs.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn mdh_sim_atomic(
    thread: *mut Thread,
    address: usize,
    bytes: u64,
    site: Site,
) {
    // SAFETY: the caller's promise.
    unsafe { access(thread, Use::Atomic, address, bytes, site) }
}

/// Begins a copy of `bytes` bytes into shared memory, of which `read` are read and the others
/// zero.
///
/// # Safety
/// The thread runs.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn mdh_sim_copy(
    thread: *mut Thread,
    target: usize,
    source: usize,
    bytes: u64,
    read: u64,
    site: Site,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let (bytes, read) = (bytes as usize, read as usize);
        let copy = Copy {
            target,
            source,
            bytes,
            read: read.min(bytes),
            site,
        };
        (*(*thread).block).begin_copy(&*thread, &copy);
        (*thread).copies.begin(copy);
    }
}

/// Makes a group of the copies since the last one.
///
/// # Safety
/// The thread runs.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn mdh_sim_commit(thread: *mut Thread) {
    // SAFETY: the caller's promise.
    unsafe { (*thread).copies.commit() }
}

/// Waits for all but the last groups.
///
/// # Safety
/// The thread runs.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn mdh_sim_wait(thread: *mut Thread, left: u32) {
    // SAFETY: the caller's promise; each access was checked when the copy began.
    unsafe {
        for copy in (*thread).copies.wait(left as usize) {
            (*(*thread).block).end_copy(&*thread, &copy);
            let target = copy.target as *mut u8;
            std::ptr::copy_nonoverlapping(copy.source as *const u8, target, copy.read);
            std::ptr::write_bytes(target.add(copy.read), 0, copy.bytes - copy.read);
        }
    }
}
