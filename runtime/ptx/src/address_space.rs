//! Addresses at which each kind of memory begins, and the widest access to it.

/// First address of constant memory.
pub const CONSTANTS: u64 = 1 << 59;
/// First generic address of a block's shared memory.
pub(crate) const SHARED: u64 = 1 << 60;
/// First generic address of a thread's local memory.
pub(crate) const LOCAL: u64 = 1 << 61;
/// Bytes of the widest access. Memory goes on up to a multiple of them: a device gives blocks shared
/// memory in units of 128 bytes, and allocates in larger ones. LLVM relies on that for loads: of what
/// starts at such a multiple it loads 8 bytes to use 6.
pub const WIDEST: usize = 16;
