//! From computations without schedules to plain loops, and from these to what upstream lowers to the llvm dialect.

pub mod check_lowered;
pub mod fence_stores;
pub mod locate_assertions;
pub mod loop_annotations;
pub mod lower_to_loops;
pub mod outline_parallel;
pub mod plain_subviews;
pub mod prefix_functions;
pub mod split_functions;
