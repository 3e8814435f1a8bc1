//! Results of whole pipelines: memory of loops, innermost loops, functions of math, warnings,
//! kernels.

#[cfg(target_arch = "x86_64")]
mod inner_loops;
mod kernels;
mod loop_memory;
mod vector_math;
mod warnings;
