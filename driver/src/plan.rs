//! What a run will do, before it does it.

use crate::entry::Entry;
use crate::error::{Error, Result};
use crate::values::Tensor;

/// Shapes of results, and the work.
pub struct Plan {
    /// The shape of each result.
    pub shapes: Vec<Vec<i64>>,
    /// Operations of one run.
    pub operations: f64,
    /// Bytes that one run moves.
    pub bytes: f64,
}

/// Plans a run.
pub fn plan(entry: &Entry, _arguments: &[Tensor]) -> Result<Plan> {
    let shapes = entry
        .results
        .iter()
        .map(|r| r.ty.shape.iter().copied().collect());
    let shapes: Option<Vec<Vec<i64>>> = shapes.collect();
    let shapes = shapes.ok_or_else(|| Error::input("dynamic results"))?;
    Ok(Plan {
        shapes,
        operations: 0.0,
        bytes: 0.0,
    })
}
