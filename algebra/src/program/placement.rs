//! Layouts between computations: the offset of an index, and the index at an offset.

use std::sync::Arc;

use super::ValueId;
use super::instance::{Instance, InstanceValue};
use crate::index::Name;
use crate::layout::Layout;
use crate::oracle::Element;
use crate::scalar::{Scalar, ScalarType};

/// A layout applied to an index or an offset.
#[derive(Clone, Debug, PartialEq)]
pub struct Placement {
    /// The layout.
    pub layout: Arc<Layout>,
    /// The question.
    pub asked: Asked,
    /// The components of the index, or the offset.
    pub operands: Vec<ValueId>,
    /// The layout's symbols.
    pub sizes: Vec<(Name, ValueId)>,
    /// The offset, or the components of the index.
    pub results: Vec<ValueId>,
}

/// A question to a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// The offset of an index.
    Apply,
    /// The index of an offset.
    Inv,
}

impl Asked {
    /// Returns the answer of a layout of numbers.
    ///
    /// # Errors
    /// If the index or the offset does not lie in it.
    pub fn answer(self, layout: &Layout, operands: &[i64]) -> Result<Vec<i64>, String> {
        match (self, operands) {
            (Asked::Inv, [offset]) => layout.inv_at(*offset),
            _ => Ok(vec![layout.apply_at(operands)?]),
        }
    }
}

impl Instance<'_> {
    pub(super) fn placement(&mut self, of: &Placement) -> Result<(), String> {
        let operands = self.integers(&of.operands)?;
        let numbers = self.integers(&of.sizes.iter().map(|(_, v)| *v).collect::<Vec<_>>())?;
        let names = of.sizes.iter().map(|(name, _)| name.clone());
        let bound = of
            .layout
            .of_sizes(&names.zip(numbers).collect::<Vec<_>>())?;
        let said = of.asked.answer(&bound, &operands)?;
        for (result, number) in of.results.iter().zip(said) {
            let number = Element::exact(Scalar::from_i64(ScalarType::Index, number));
            self.assign(*result, InstanceValue::Scalar(number))?;
        }
        Ok(())
    }
}
