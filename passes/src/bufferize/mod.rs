//! Tensors in memory: before, around and behind upstream's one-shot bufferization.
//!
//! Whether a computation may write its result over an input is asked of `dialect/src/in_place.rs`, and proved in
//! `algebra/src/reuse/alias.rs`; whether a loop's result may be in the memory of its initial value, in `loop_buffers.rs`.

pub mod deallocate;
pub mod erase_memory_spaces;
pub mod hoist_buffers;
pub mod loop_buffers;
pub mod order_constants;
pub mod saturate_sizes;
pub mod save_overwritten;
pub mod separate_empties;
pub mod separate_results;
