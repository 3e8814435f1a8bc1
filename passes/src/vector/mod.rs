//! Tiles that stay in registers become vectors, and what they compute arithmetic.

pub mod expand_math;
pub mod expand_vector_math;
pub mod limit_vectorizer;
pub mod prefetch;
pub mod split_masks;
pub mod vectorize;
