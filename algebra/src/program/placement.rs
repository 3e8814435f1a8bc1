//! Layouts between computations: the offset of an index, and the index at an offset.

use super::instance::{Instance, InstanceValue};
use super::statement::Placement;
use crate::oracle::Element;
use crate::scalar::{Scalar, ScalarType};

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
