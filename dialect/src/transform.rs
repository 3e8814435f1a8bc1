//! Transform operations: effects of `transform.mdh.*` on the computations of their handles.
//!
//! Those that change a schedule are [`Edit`]s of `mdh_schedule`, read from an operation's
//! attributes by the names of the fields. The other two are `transform.mdh.match`, which finds a
//! computation, and `transform.mdh.lower`, which checks all of its constraints.

mod apply;
mod instead;

use mdh_schedule::SchedulePath;
use mdh_schedule::edit::Edit;
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, AttributeLike};
use mlir_sys::*;
use serde_json::Value;

use crate::ir::{self, Errors, Op, count};
use crate::schedule;

/// Prefix of the names of these operations.
pub const PREFIX: &str = "transform.mdh.";

/// Returns an operation's name behind [`PREFIX`], if it is one of these.
pub fn mnemonic<'c>(op: Op<'c>) -> Option<&'c str> {
    ir::name_of(op).strip_prefix(PREFIX)
}

/// The edit that an operation makes; `parameter` gives the values of its operands from 1 on, by
/// their numbers. `None` if it makes none: `match` and `lower`.
pub fn edit(
    op: Op,
    mut parameter: impl FnMut(usize) -> Result<i64, String>,
) -> Result<Option<Edit>, String> {
    let name = match mnemonic(op) {
        None | Some("match" | "lower") => return Ok(None),
        Some(name) => name,
    };
    let mut next = 0;
    let mut operand = || {
        next += 1;
        parameter(next).map(Value::from)
    };
    let mut fields = serde_json::Map::new();
    for (name, attribute) in inherent(op) {
        fields.insert(name.into(), value(attribute, &mut operand)?);
    }
    let operands = op.operand_count().saturating_sub(1);
    if next != operands {
        let (places, given) = (count(next, "place"), count(operands, "parameter"));
        return Err(format!("has {places} for parameters, but {given}"));
    }
    Edit::read(name, Value::Object(fields)).map(Some)
}

/// Finds the operation of a script that a place of the schedule comes from: the last one that
/// changes the closest there is to it.
pub fn culprit<'c>(ops: &[Op<'c>], place: &SchedulePath) -> Option<Op<'c>> {
    let mut closest: Option<(usize, Op)> = None;
    for op in ops {
        let Ok(Some(edit)) = edit(*op, |_| Ok(1)) else {
            continue;
        };
        let shared = edit.place().shared(place);
        let is_whole = matches!(edit, Edit::Schedule { .. });
        let is_closer = closest.is_none_or(|(best, _)| shared >= best);
        if (shared > 0 || is_whole) && is_closer {
            closest = Some((shared, *op));
        }
    }
    closest.map(|(_, op)| op)
}

/// The attributes of an operation's definition.
fn inherent<'c>(op: Op<'c>) -> Vec<(&'c str, Attribute<'c>)> {
    // SAFETY: the operation is valid, and the numbers are those of its attributes; names live as
    // long as the context.
    unsafe {
        let attributes = 0..mlirOperationGetNumAttributes(op.to_raw());
        let attributes = attributes.map(|i| mlirOperationGetAttribute(op.to_raw(), i));
        attributes
            .filter_map(|named| {
                let name = mlirIdentifierStr(named.name);
                let other = mlirOperationGetDiscardableAttributeByName(op.to_raw(), name);
                let attribute = Attribute::from_raw(named.attribute);
                other.ptr.is_null().then(|| (ir::string(name), attribute))
            })
            .collect()
    }
}

/// An attribute as the shim made it of a value of the schedule's notation.
fn value(
    attribute: Attribute,
    operand: &mut dyn FnMut() -> Result<Value, String>,
) -> Result<Value, String> {
    let raw = attribute.to_raw();
    if let Some(text) = ir::text(attribute) {
        return Ok(text.into());
    }
    if ir::is_unit(attribute) {
        return operand();
    }
    // SAFETY: the kind is checked before an attribute is read; names live as long as the context.
    unsafe {
        if mlirAttributeIsABool(raw) {
            return Ok(mlirBoolAttrGetValue(raw).into());
        }
        if let Some(number) = integer(attribute) {
            return Ok(number.into());
        }
        if mlirAttributeIsAArray(raw) {
            let items = ir::elements(attribute).into_iter();
            return items.map(|item| value(item, operand)).collect();
        }
        if mlirAttributeIsADictionary(raw) {
            let pairs = ir::pairs(attribute).into_iter();
            let pairs = pairs.map(|(name, own)| Ok((name.to_owned(), value(own, operand)?)));
            return pairs.collect::<Result<_, String>>().map(Value::Object);
        }
    }
    match schedule::of_attribute(attribute) {
        Ok(schedule) => serde_json::to_value(schedule).map_err(|error| error.to_string()),
        Err(_) => Err(format!(
            "has the attribute {attribute}: expected a number, a name, a list or pairs of them"
        )),
    }
}

/// A signless integer or an index.
fn integer(attribute: Attribute) -> Option<i64> {
    let raw = attribute.to_raw();
    // SAFETY: the kind is checked before the number is read.
    unsafe {
        if !mlirAttributeIsAInteger(raw) {
            return None;
        }
        let ty = mlirAttributeGetType(raw);
        let is_read = mlirTypeIsAIndex(ty)
            || mlirTypeIsAInteger(ty)
                && mlirIntegerTypeIsSignless(ty)
                && mlirIntegerTypeGetWidth(ty) <= 64;
        is_read.then(|| mlirIntegerAttrGetValueInt(raw))
    }
}

/// The number that a parameter's values are; else a description of these.
pub fn number(values: &[Attribute]) -> Result<i64, String> {
    match values {
        [value] => integer(*value).ok_or_else(|| {
            format!("has the parameter {value}: expected an integer, a number of parts")
        }),
        _ => Err(format!(
            "has a parameter of {}: expected one, a number of parts",
            count(values.len(), "value")
        )),
    }
}

/// Finds mistakes of an operation that do not depend on its payload.
pub(crate) fn errors(op: Op) -> Errors {
    edit(op, |_| Ok(1)).err().into_iter().collect()
}
