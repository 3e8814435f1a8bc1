//! Tools of their own for layouts, mappings of index spaces, and templates of kernels: `mdh layout`,
//! `mdh map`, `mdh template`.
//!
//! Owns these commands' options and output; what they compute is the algebra's (`layout`, `mapping`). It must not know
//! MLIR. Start with `layout_command.rs`.

#[allow(
    rustdoc::broken_intra_doc_links,
    reason = "comments of options are help texts, whose brackets are layouts"
)]
pub mod cli;
pub mod layout_access;
pub mod layout_command;
pub mod layout_picture;
pub mod layout_wrapper;
pub mod map_code;
pub mod map_command;
pub mod map_picture;
pub mod template;
