//! Sizes that a program leaves open, from `--size`: for the cost of a run with them. The model's
//! choice does not depend on them: a program is compiled once, for any size.

use std::collections::BTreeMap;

use mdh_algebra::computation::{Computation, Extent};
use mdh_dialect::ir;
use mdh_dialect::read;
use mdh_passes::support::extents;

use crate::cli::Size;
use crate::entry::Entry;
use crate::error::Result;
use crate::sizes::{self, Open, Sizes};

/// Sizes by name.
#[derive(Default)]
pub struct Given {
    /// One past the last index of a dimension; `None` where computations have several of that name.
    bounds: BTreeMap<String, Option<i64>>,
    /// The shapes of arguments.
    shapes: BTreeMap<String, Vec<Extent>>,
}

impl Given {
    /// Reads the sizes as those of a function's dimensions and arguments.
    pub fn new(entry: &Entry, given: &[Size]) -> Result<Given> {
        let known = sizes::infer(entry, given, Sizes::declared(entry), Open::Kept)?;
        let mut collected = Given::default();
        for op in ir::find_all(entry.op, &["mdh.compute"]) {
            for dim in read::compute(op).map_or(Vec::new(), |parts| parts.dims) {
                let bound = sizes::value(entry, &known, extents::of_bound(dim.upper));
                let before = collected.bounds.entry(dim.name).or_insert(bound);
                *before = before.filter(|first| Some(*first) == bound);
            }
        }
        let shapes = entry.arguments.iter().zip(known.shapes);
        collected.shapes = shapes
            .map(|(argument, shape)| (argument.name.clone(), shape))
            .collect();
        Ok(collected)
    }

    /// Fills in a computation's open sizes.
    pub fn fill(&self, computation: &mut Computation) {
        for dimension in &mut computation.dimensions {
            let bound = self.bounds.get(&dimension.name).copied().flatten();
            dimension.upper = dimension.upper.or(bound);
        }
        let buffers = computation.inputs.iter_mut();
        for buffer in buffers.chain(&mut computation.outputs) {
            let shape = self.shapes.get(&buffer.name);
            let shape = shape.filter(|shape| shape.len() == buffer.shape.len());
            for (own, extent) in buffer.shape.iter_mut().zip(shape.into_iter().flatten()) {
                *own = own.or(*extent);
            }
        }
    }
}
