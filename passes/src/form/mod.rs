//! Programs as computations: triples become `mdh.compute`, and functions get versions for the sizes they are wanted for.

pub mod dispatch;
pub mod form_compute;
pub mod specialize;
pub(crate) mod to_triple;
