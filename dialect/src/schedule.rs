//! The schedule of an operation.

use mdh_algebra::schedule::Schedule;

use crate::ir::{self, Errors, Op};

/// The schedule of an `mdh.compute`; `None` if it has none.
pub fn read(op: Op) -> Result<Option<Schedule>, Errors> {
    let Some(attribute) = ir::attribute(op, "schedule") else {
        return Ok(None);
    };
    let text = ir::text(attribute).unwrap_or_default();
    let schedule: Schedule = text.parse().map_err(|e: mdh_algebra::schedule::ParseError| vec![e.to_string()])?;
    Ok(Some(schedule))
}

/// Gives an operation a schedule.
pub fn set(op: Op, schedule: &Schedule) {
    let context = ir::context_of(op);
    let text = melior::ir::attribute::StringAttribute::new(context, &schedule.to_string());
    // SAFETY: operation and attribute are valid.
    unsafe {
        mlir_sys::mlirOperationSetAttributeByName(
            melior::ir::operation::OperationLike::to_raw(&op),
            crate::ffi::string_ref("schedule"),
            melior::ir::AttributeLike::to_raw(&melior::ir::Attribute::from(text)),
        );
    }
}
