//! Plain arrays as the environment of one computation.

use super::element::{Element, Environment};
use super::failure::Failure;
use crate::computation::{Computation, Place};
use crate::domain::total_elements;
use crate::scalar::{Scalar, ScalarType};

/// Row-major arrays, one for each of [`Computation::places`], and valid bits.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrays {
    places: Vec<Place>,
    shapes: Vec<Vec<i64>>,
    /// Elements of each place.
    pub elements: Vec<Vec<Element>>,
    /// The valid bit of each carry.
    pub valid: Vec<bool>,
}

impl Arrays {
    /// Arrays of the computation's shapes, filled by `value(place, position)`. Unknown extents
    /// count as 0.
    pub fn new(computation: &Computation, mut value: impl FnMut(Place, usize) -> Scalar) -> Self {
        let places = computation.places();
        let mut shapes = Vec::new();
        let mut elements = Vec::new();
        for &place in &places {
            let shape = computation.buffer(place).map(|b| b.shape.as_slice());
            let shape: Vec<i64> = shape
                .unwrap_or(&[])
                .iter()
                .map(|n| n.unwrap_or(0))
                .collect();
            let count = total_elements(&shape).unwrap_or(0);
            let values = (0..count as usize).map(|n| Element::exact(value(place, n)));
            elements.push(values.collect());
            shapes.push(shape);
        }
        Arrays {
            places,
            shapes,
            elements,
            valid: vec![true; computation.carries.len()],
        }
    }

    /// The same filled with small integers that differ from one position to the next.
    pub fn counting(computation: &Computation) -> Self {
        Arrays::new(computation, |place, n| {
            let buffer = computation.buffer(place);
            let ty = buffer.map_or(ScalarType::F64, |b| b.element);
            Scalar::from_i64(ty, (n as i64 * 7 + 3) % 11 - 5)
        })
    }
}

impl Environment for Arrays {
    fn read(&mut self, place: Place, index: &[i64]) -> Result<Element, Failure> {
        let n = self.places.iter().position(|p| *p == place);
        let element = n.and_then(|n| {
            let extents = index.iter().zip(&self.shapes[n]);
            let flat = extents.fold(0, |flat, (i, size)| flat * size + i);
            self.elements[n].get(flat as usize)
        });
        let outside = || Failure::Environment(format!("no element {index:?} of {place:?}"));
        element.copied().ok_or_else(outside)
    }

    fn valid(&mut self, carry: usize) -> Result<bool, Failure> {
        let bit = self.valid.get(carry).copied();
        bit.ok_or_else(|| Failure::Environment(format!("no valid bit of carry {carry}")))
    }
}
