//! Assertions for rules that are neither proved nor refuted at compile time.

pub mod check_divisions;
pub mod insert_range_checks;
