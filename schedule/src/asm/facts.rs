//! Facts that all machines of a kind have in common, so that no description tells them apart: those of
//! NVIDIA's GPUs (CUDA C++ Programming Guide, compute capabilities 5.0 to 10.0) and of CPUs. Whoever
//! needs one takes it from here; the run-time libraries, which stand below, have their own, which are
//! held against these where both are known.

/// Threads of a warp, which exchange what they have in registers.
pub const WARP: i64 = 32;
/// Bytes of a sector, which device memory reads and writes at once.
pub const SECTOR: i64 = 32;
/// Bytes of a line of the first-level cache of a multiprocessor.
pub const DEVICE_LINE: i64 = 128;
/// Banks of shared memory.
pub const BANKS: i64 = 32;
/// Bytes of a word, which a bank serves in a cycle.
pub const WORD: i64 = 4;
/// Bytes of shared memory that a block may have on every device.
pub const SHARED: u64 = 48 << 10;
/// Bytes of shared memory that a block may have on a device of compute capability 9.0, if it asks.
pub const MOST_SHARED: u64 = 227 << 10;
/// Threads of a block.
pub const BLOCK: u64 = 1024;
/// Registers of a thread, of four bytes each.
pub const REGISTERS: u64 = 255;

/// Bytes of a line of a CPU's caches: cores that write to one wait for each other.
pub const LINE: i64 = 64;
