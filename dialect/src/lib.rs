//! The mdh dialect: its operations as typed views, their rules, and their translation into the
//! algebra.
//!
//! Owns the form of operations and what they mean. It must not know passes, or how code is run. Start with
//! `td/MdhOps.td`, then [`parts`] and [`translate`].
//!
//! ODS (`td/`) and a C++ shim (`cpp/`) that no new pass or rule touches declare the dialect to
//! MLIR; every decision is here. A computation is read from an operation into [`parts::Parts`],
//! changed there and written back, so that no rewrite edits attributes by hand.

pub mod carried;
pub mod code;
pub mod context;
pub mod ffi;
pub mod function;
pub mod hooks;
pub mod in_place;
pub mod index_function;
pub mod ir;
pub mod layout;
pub mod location;
pub mod loop_index;
pub mod mapping;
pub mod marks;
pub mod memory;
pub mod ops;
pub mod packing;
pub mod partial;
pub mod parts;
pub mod pass;
pub mod read;
pub mod scalar_code;
pub mod schedule;
pub mod script;
pub mod space;
pub mod stage;
pub mod structured;
pub mod threads;
pub mod tiling;
pub mod tools;
pub mod transform;
pub mod translate;
pub mod triple;
pub mod types;
pub mod upstream;

pub mod verify;
pub mod write;
