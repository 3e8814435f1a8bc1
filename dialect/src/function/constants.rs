//! Constants, and their elements.

use std::sync::Arc;

use mdh_algebra::program::Statement;
use mdh_algebra::scalar::{Scalar, ScalarType};
use melior::ir::{Attribute, AttributeLike};
use mlir_sys::{
    mlirAttributeIsADenseElements, mlirDenseElementsAttrGetBoolValue,
    mlirDenseElementsAttrGetRawData, mlirElementsAttrGetNumElements,
};

use super::translator::{Translator, result_type};
use crate::ffi;
use crate::ir::{self, Op};
use crate::types;

impl<'c> Translator<'c> {
    /// `arith.constant`
    pub(super) fn constant(&mut self, op: Op<'c>) -> Result<Statement, String> {
        let attribute = ir::attribute(op, "value").ok_or("has no value")?;
        if let Some(value) = types::scalar(attribute) {
            return Ok(Statement::Constant {
                result: self.result(op)?,
                value,
            });
        }
        let ty = result_type(op)?;
        let shape: Option<Vec<i64>> = ty.shape.iter().copied().collect();
        let values = elements(attribute, ty.element)
            .ok_or_else(|| format!("is a constant that the oracle does not read: {attribute}"))?;
        Ok(Statement::Literal {
            result: self.result(op)?,
            element: ty.element,
            shape: shape.unwrap_or_default(),
            values: Arc::from(values),
        })
    }
}

/// The elements of a dense constant; one if all are the same.
pub fn elements(attribute: Attribute, element: ScalarType) -> Option<Vec<Scalar>> {
    if let Some(value) = types::splat(attribute) {
        return Some(vec![types::scalar(value)?]);
    }
    let raw = attribute.to_raw();
    // SAFETY: the kind is checked before the elements are read, of which the attribute has that many.
    unsafe {
        if !mlirAttributeIsADenseElements(raw) {
            return resource(attribute, element);
        }
        // i1 is packed in bits; everything else stands in as many bytes as in a tensor.
        let count = mlirElementsAttrGetNumElements(raw);
        let data = mlirDenseElementsAttrGetRawData(raw).cast::<u8>();
        let width = element.byte_width();
        (0..count as usize)
            .map(|i| {
                if element == ScalarType::I1 {
                    let bit = mlirDenseElementsAttrGetBoolValue(raw, i as isize);
                    return Some(Scalar::from_bool(bit));
                }
                let bytes = std::slice::from_raw_parts(data.add(i * width), width);
                Scalar::from_bytes(element, bytes)
            })
            .collect()
    }
}

/// The elements of a constant that the module holds as a resource.
fn resource(attribute: Attribute, element: ScalarType) -> Option<Vec<Scalar>> {
    // SAFETY: the bytes live as long as the context.
    let bytes = unsafe {
        let data = ffi::mdhResourceData(attribute.to_raw());
        match data.data.is_null() {
            true => return None,
            false => std::slice::from_raw_parts(data.data.cast::<u8>(), data.length),
        }
    };
    let width = element.byte_width().max(1);
    // SAFETY: a constant held as a resource has elements.
    let count = unsafe { mlirElementsAttrGetNumElements(attribute.to_raw()) };
    if bytes.len() != width * usize::try_from(count).ok()? {
        return None;
    }
    let scalar = |bytes: &[u8]| match element {
        ScalarType::I1 => Some(Scalar::from_bool(bytes[0] != 0)),
        _ => Scalar::from_bytes(element, bytes),
    };
    bytes.chunks_exact(width).map(scalar).collect()
}
