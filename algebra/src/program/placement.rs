//! Layouts between computations: where an index stands, and what stands at an offset.

use std::sync::Arc;

use super::ValueId;
use super::instance::{Instance, Value};
use crate::index::Name;
use crate::layout::Layout;
use crate::oracle::Element;
use crate::scalar::{Scalar, ScalarType};

/// What a layout says of an index or an offset.
#[derive(Clone, Debug, PartialEq)]
pub struct Placement {
    /// The layout.
    pub layout: Arc<Layout>,
    /// What is asked.
    pub asked: Asked,
    /// The components of the index, or the offset.
    pub operands: Vec<ValueId>,
    /// The layout's symbols.
    pub sizes: Vec<(Name, ValueId)>,
    /// The offset, or the components of the index.
    pub results: Vec<ValueId>,
}

/// What is asked of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// The offset of an index.
    Apply,
    /// The index of an offset.
    Inv,
}

impl Instance<'_> {
    pub(super) fn placement(&mut self, of: &Placement) -> Result<(), String> {
        let operands = self.integers(&of.operands)?;
        let numbers = self.integers(&of.sizes.iter().map(|(_, v)| *v).collect::<Vec<_>>())?;
        let mut sizes: Vec<(Name, i64)> = Vec::new();
        for ((name, _), number) in of.sizes.iter().zip(numbers) {
            let range = of.layout.facts().interval(name);
            if !range.contains(number) {
                return Err(format!(
                    "takes {number} for '{name}', expected {} to {}",
                    range.min, range.max
                ));
            }
            sizes.push((name.clone(), number));
        }
        let bound = match sizes.is_empty() {
            true => Ok((*of.layout).clone()),
            false => of.layout.bind(&sizes).map_err(|e| e.message),
        }?;
        let said = match (of.asked, &operands[..]) {
            (Asked::Inv, [offset]) => bound.inv_at(*offset)?,
            _ => vec![bound.apply_at(&operands)?],
        };
        for (result, number) in of.results.iter().zip(said) {
            let number = Element::exact(Scalar::from_i64(ScalarType::Index, number));
            self.assign(*result, Value::Scalar(number))?;
        }
        Ok(())
    }
}
