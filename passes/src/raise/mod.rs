//! From linalg to computations, and back.

pub mod decompose_linalg;
pub mod raise_copies;
pub(crate) mod raise_linalg;
pub(crate) mod to_linalg;
