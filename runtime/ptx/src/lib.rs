//! CUDA's driver for machines without a GPU: the part of its interface that [`driver`] lists, over
//! an interpreter of PTX.
//!
//! Owns what an instruction of PTX means. It must not know any other crate of this project. Start with [`machine`].
//!
//! ```text
//! text --parse--> Module (kernels, instructions) --machine--> threads that run, block by block
//! ```
//!
//! Who loads this library as `libcuda.so.1` finds one device. What its kernels compute is what
//! their PTX says, so that code for GPUs, and all that launches it, is tested where there is none;
//! what a device does at the same time is not shown, which the simulator is for. An access outside of
//! memory that was allocated fails as on a device.
//!
//! Environment variables make the device another one: see [`settings`].

pub mod address_space;
pub mod arithmetic;
pub mod convert;
pub mod copies;
pub mod decode;
pub mod driver;
pub mod float;
pub mod flow;
pub mod instruction;
pub mod machine;
pub mod matrix;
pub mod memory;
pub mod parse;
pub mod settings;
pub mod uniformity;
pub mod variables;
