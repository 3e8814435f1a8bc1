//! Assertions of what is neither proved nor refuted before the program runs.

pub mod check_divisions;
pub mod insert_range_checks;
