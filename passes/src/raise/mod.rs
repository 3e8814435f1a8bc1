//! From linalg to computations, and back.

pub mod decompose_linalg;
pub mod raise_copies;
pub mod raise_linalg;
pub mod to_linalg;
