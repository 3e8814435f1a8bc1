//! Binding of values that are known at run time only.

use std::fmt;

use crate::computation::{Computation, Extent};

/// The run-time values of a computation's unknown sizes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Binding {
    /// A value for each unknown bound: dimension by dimension, of each `lower`, `upper`, `step`,
    /// `width`.
    pub bounds: Vec<i64>,
    /// The whole shape of every buffer, in the order of [`Computation::places`].
    pub shapes: Vec<Vec<i64>>,
    /// A value for each unknown origin: buffer by buffer in the order of
    /// [`Computation::places`], axis by axis.
    pub origins: Vec<i64>,
}

/// A binding that does not fit its computation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BindError {
    /// Found and expected.
    pub message: String,
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for BindError {}

fn error(message: String) -> BindError {
    BindError { message }
}

/// Hands out values to the extents that have none.
struct Fill<'a> {
    what: &'static str,
    values: &'a [i64],
    used: usize,
}

impl<'a> Fill<'a> {
    fn new(what: &'static str, values: &'a [i64]) -> Self {
        let used = 0;
        Fill { what, values, used }
    }

    fn fill(&mut self, extent: &mut Extent) {
        if extent.is_none() {
            *extent = self.values.get(self.used).copied();
            self.used += 1;
        }
    }

    fn finish(self) -> Result<(), BindError> {
        let (found, expected) = (self.values.len(), self.used);
        if found == expected {
            return Ok(());
        }
        let what = self.what;
        Err(error(format!(
            "{found} {what} were given, but {expected} are not known statically"
        )))
    }
}

impl Computation {
    /// The computation with all sizes known, so that [`crate::rules::check`] decides everything
    /// that does not depend on a carry's valid bit.
    ///
    /// Fails if the counts do not fit or a shape contradicts what is known statically.
    pub fn bind(&self, binding: &Binding) -> Result<Computation, BindError> {
        let mut bound = self.clone();
        let mut bounds = Fill::new("bounds", &binding.bounds);
        for dimension in &mut bound.dimensions {
            bounds.fill(&mut dimension.lower);
            bounds.fill(&mut dimension.upper);
            bounds.fill(&mut dimension.step);
            bounds.fill(&mut dimension.width);
        }
        bounds.finish()?;
        let places = self.places();
        if places.len() != binding.shapes.len() {
            return Err(error(format!(
                "{} shapes were given for {} buffers",
                binding.shapes.len(),
                places.len()
            )));
        }
        let mut origins = Fill::new("origins", &binding.origins);
        for (place, shape) in places.into_iter().zip(&binding.shapes) {
            let Some(buffer) = bound.buffer_mut(place) else {
                continue;
            };
            let fits = buffer.shape.len() == shape.len()
                && (buffer.shape.iter().zip(shape)).all(|(s, n)| s.is_none_or(|s| s == *n));
            if !fits {
                return Err(error(format!(
                    "buffer '{}' has shape {}, but {} was given",
                    buffer.name,
                    shape_text(&buffer.shape),
                    shape_text(&shape.iter().copied().map(Some).collect::<Vec<_>>())
                )));
            }
            buffer.shape = shape.iter().copied().map(Some).collect();
            for origin in &mut buffer.origin {
                origins.fill(origin);
            }
        }
        origins.finish()?;
        Ok(bound)
    }
}

/// `2x?x3`; `scalar` without dimensions.
pub fn shape_text(shape: &[Extent]) -> String {
    if shape.is_empty() {
        return "scalar".into();
    }
    let size = |n: &Extent| n.map_or("?".into(), |n| n.to_string());
    shape.iter().map(size).collect::<Vec<_>>().join("x")
}
