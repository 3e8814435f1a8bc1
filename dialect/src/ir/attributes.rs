//! Contents of attributes.

use melior::Context;
use melior::ir::attribute::{ArrayAttribute, IntegerAttribute};
use melior::ir::{Attribute, AttributeLike};
use mlir_sys::*;

use super::{Op, attribute, push, string};
use crate::ffi;

/// The elements of an array attribute; empty if there is none of that name.
pub fn array<'c>(op: Op<'c>, name: &str) -> Vec<Attribute<'c>> {
    attribute(op, name).map_or(Vec::new(), elements)
}

/// The axes that a reshape joins or splits, in groups.
pub fn axis_groups(op: Op) -> Vec<Vec<usize>> {
    let axis = |axis| Some(IntegerAttribute::try_from(axis).ok()?.value() as usize);
    let group = |group| elements(group).into_iter().filter_map(axis).collect();
    array(op, "reassociation").into_iter().map(group).collect()
}

/// The elements of an array attribute; empty if it is none.
pub fn elements(attribute: Attribute) -> Vec<Attribute> {
    let Ok(array) = ArrayAttribute::try_from(attribute) else {
        return Vec::new();
    };
    (0..array.len())
        .filter_map(|i| array.element(i).ok())
        .collect()
}

/// The pairs of a dictionary attribute, in the order of their names; empty if it is none.
pub fn pairs<'c>(attribute: Attribute<'c>) -> Vec<(&'c str, Attribute<'c>)> {
    let raw = attribute.to_raw();
    // SAFETY: the attribute is valid, and a dictionary where pairs are read; names live as long as the context.
    unsafe {
        if !mlirAttributeIsADictionary(raw) {
            return Vec::new();
        }
        let pairs = 0..mlirDictionaryAttrGetNumElements(raw);
        let pairs = pairs.map(|n| mlirDictionaryAttrGetElement(raw, n));
        let pair = |pair: MlirNamedAttribute| {
            let name = string(mlirIdentifierStr(pair.name));
            (name, Attribute::from_raw(pair.attribute))
        };
        pairs.map(pair).collect()
    }
}

/// A dictionary attribute of these pairs.
pub fn dictionary<'c>(context: &'c Context, pairs: &[(&str, Attribute<'c>)]) -> Attribute<'c> {
    // SAFETY: names are copied, and the attributes belong to the context.
    unsafe {
        let named = pairs.iter().map(|(name, value)| MlirNamedAttribute {
            name: mlirIdentifierGet(context.to_raw(), ffi::string_ref(name)),
            attribute: value.to_raw(),
        });
        let named: Vec<MlirNamedAttribute> = named.collect();
        let raw = mlirDictionaryAttrGet(context.to_raw(), named.len() as isize, named.as_ptr());
        Attribute::from_raw(raw)
    }
}

/// The text of a string attribute. (melior's own accessor does not survive an empty string, nor
/// one that is not UTF-8.)
pub fn text<'c>(attribute: Attribute<'c>) -> Option<&'c str> {
    let raw = attribute.to_raw();
    // SAFETY: the attribute is valid and a string, which lives as long as the context.
    unsafe { mlirAttributeIsAString(raw).then(|| string(mlirStringAttrGetValue(raw))) }
}

/// The symbol that an attribute names, if that is one at the level where it stands.
pub fn symbol<'c>(attribute: Attribute<'c>) -> Option<&'c str> {
    let raw = attribute.to_raw();
    // SAFETY: as in `text`.
    unsafe {
        mlirAttributeIsAFlatSymbolRef(raw).then(|| string(mlirFlatSymbolRefAttrGetValue(raw)))
    }
}

/// The strings of an array attribute.
pub fn strings(op: Op, name: &str) -> Vec<String> {
    let owned = |a| text(a).unwrap_or_default().to_owned();
    array(op, name).into_iter().map(owned).collect()
}

/// The numbers of a dense array attribute; empty if there is none of that name.
pub fn integers(op: Op, name: &str) -> Vec<i64> {
    attribute(op, name).map_or(Vec::new(), dense_integers)
}

/// An integer attribute of an operation.
pub fn integer(op: Op, name: &str) -> Option<i64> {
    let attribute = attribute(op, name)?;
    IntegerAttribute::try_from(attribute)
        .ok()
        .map(|number| number.value())
}

/// The numbers of a dense array attribute of i64 or i32.
pub fn dense_integers(attribute: Attribute) -> Vec<i64> {
    let raw = attribute.to_raw();
    // SAFETY: the kind is checked before its elements are read.
    unsafe {
        let count = if mlirAttributeIsADenseI64Array(raw) || mlirAttributeIsADenseI32Array(raw) {
            mlirDenseArrayGetNumElements(raw)
        } else {
            0
        };
        (0..count)
            .map(|i| {
                if mlirAttributeIsADenseI64Array(raw) {
                    mlirDenseI64ArrayGetElement(raw, i)
                } else {
                    i64::from(mlirDenseI32ArrayGetElement(raw, i))
                }
            })
            .collect()
    }
}

/// Returns whether the attribute is a unit.
pub fn is_unit(attribute: Attribute) -> bool {
    // SAFETY: the attribute is valid.
    unsafe { mlirAttributeIsAUnit(attribute.to_raw()) }
}

/// The class of a dialect's attribute (`mdh.pw`) and the attributes it holds.
pub fn class_of<'c>(attribute: Attribute<'c>) -> (&'c str, Vec<Attribute<'c>>) {
    let mut raw: Vec<MlirAttribute> = Vec::new();
    // SAFETY: the attribute is valid; `push` gets the vector it expects.
    unsafe {
        ffi::mdhAttributeParameters(attribute.to_raw(), (&raw mut raw).cast(), push);
        let parameters = raw.into_iter().map(|a| Attribute::from_raw(a)).collect();
        (
            string(ffi::mdhAttributeName(attribute.to_raw())),
            parameters,
        )
    }
}

/// Class of the attribute of a dimension that is kept (concatenated).
pub const CC: &str = "mdh.cc";
/// Class of the attribute of a dimension that is combined point-wise.
pub const PW: &str = "mdh.pw";
/// Class of the attribute of a dimension that is scanned (prefix-sums).
pub const PS: &str = "mdh.ps";

/// Returns whether a combine attribute keeps its dimension.
pub fn is_cc(combine: Attribute) -> bool {
    class_of(combine).0 == CC
}

/// Returns whether a combine attribute combines point-wise.
pub fn is_pw(combine: Attribute) -> bool {
    class_of(combine).0 == PW
}

/// Returns whether a combine attribute scans its dimension.
pub fn is_ps(combine: Attribute) -> bool {
    class_of(combine).0 == PS
}
