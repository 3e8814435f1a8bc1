//! The run-time library: functions that compiled code calls, in `mdh run`, in a C program or from
//! Python.
//!
//! Owns threads, memory and failures of compiled code while it runs. It must not know LLVM or MLIR, and depends on no
//! crate of this project. Start with [`pool`].
//!
//! It is a Rust crate for the command, and `libmdhrt.a` and `libmdhrt.so` for everybody else:
//! object files of `mdh compile --emit obj` are linked with one of the two, and a shared library of
//! `--emit shared` has the first inside. Compiled code calls these:
//!
//! | symbol | what it does | module |
//! |---|---|---|
//! | `mdh_parallel_for`, `mdh_thread_count` | run the parts of a loop on threads | [`pool`] |
//! | `mdh_copy` | copies between memrefs with strides | [`copy`] |
//! | `mdh_allocate`, `mdh_allocate_zeroed`, `mdh_release` | memory of one call | [`memory`] |
//! | `mdh_say`, `mdh_stop` | a check that fails | [`failure`] |
//! | `mdh_call` | what a C function does: checks arguments, calls, reports | [`call`] |
//! | `__truncsfbf2`, `__truncdfbf2` | conversions that processors and C libraries may lack | [`bf16`] |
//! | `__truncsfhf2`, `__truncdfhf2`, `__extendhfsf2` | likewise | [`mod@f16`] |
//!
//! and C programs these: `mdh_error`, `mdh_set_threads`, `mdh_thread_count`.
//!
//! Nothing here knows LLVM or MLIR, and nothing ends the process but what is stated in
//! [`failure`].

pub mod bf16;
pub mod call;
pub mod copy;
pub mod elements;
pub mod f16;
pub mod failure;
pub mod interface;
pub mod memory;
pub mod pool;
