//! The application of a transform operation, behind the shim's thunk.

use crate::ops;
use std::ffi::c_void;

use mdh_schedule::Violation;
use mdh_schedule::edit::Edit;
use melior::ir::Attribute;
use melior::ir::operation::OperationLike;
use mlir_sys::{MlirAttribute, MlirOperation};

use super::{culprit, edit, mnemonic, number};
use crate::ffi::{self, string_ref};
use crate::ir::{self, Op};
use crate::pass::guarded;
use crate::{schedule, verify};

/// An operation that lives as long as the application.
type Payload = Op<'static>;

/// The operations that have schedules.
const HOLDERS: [&str; 2] = [ops::mdh::COMPUTE, ops::mdh::HOM];

/// Reason for which an operation cannot be applied, and the operation of the payload it is about.
struct Failure {
    message: String,
    payload: Option<Payload>,
    /// The operation of the script that is to blame.
    cause: Option<Payload>,
}

impl From<String> for Failure {
    fn from(message: String) -> Failure {
        Failure {
            message,
            payload: None,
            cause: None,
        }
    }
}

impl Failure {
    fn at(payload: Payload, message: String) -> Failure {
        Failure {
            message,
            payload: Some(payload),
            cause: None,
        }
    }
}

/// One application of an operation; the shim's.
struct Application {
    op: Payload,
    raw: *mut c_void,
}

extern "C" fn push<T>(data: *mut c_void, item: T) {
    // SAFETY: `data` is the vector that the callers below passed.
    unsafe { &mut *data.cast::<Vec<T>>() }.push(item);
}

impl Application {
    fn payload(&self) -> Vec<Payload> {
        let mut raw: Vec<MlirOperation> = Vec::new();
        // SAFETY: the application is the shim's; `push` gets the vector it expects, and the
        // payload lives longer than this call.
        unsafe {
            ffi::mdhTransformPayload(self.raw, 0, (&raw mut raw).cast(), push);
            raw.into_iter().map(|op| ir::op_from_raw(op)).collect()
        }
    }

    fn parameter(&self, operand: usize) -> Result<i64, String> {
        let mut raw: Vec<MlirAttribute> = Vec::new();
        // SAFETY: as above.
        let values: Vec<Attribute> = unsafe {
            let data = (&raw mut raw).cast();
            ffi::mdhTransformParameters(self.raw, operand as isize, data, push);
            raw.into_iter().map(|a| Attribute::from_raw(a)).collect()
        };
        number(&values)
    }

    fn finish(&self, payloads: &[Payload]) {
        let payloads: Vec<MlirOperation> = payloads.iter().map(|op| op.to_raw()).collect();
        // SAFETY: as above; `match` has one result.
        unsafe { ffi::mdhTransformResult(self.raw, 0, payloads.as_ptr(), payloads.len() as isize) }
    }

    fn fail(&self, failure: &Failure) {
        let none = MlirOperation {
            ptr: std::ptr::null_mut(),
        };
        let raw = |op: Option<Payload>| op.map_or(none, |op| op.to_raw());
        let (payload, cause) = (raw(failure.payload), raw(failure.cause));
        // SAFETY: as above; the shim copies the text.
        unsafe { ffi::mdhTransformFail(self.raw, string_ref(&failure.message), payload, cause) }
    }
}

#[unsafe(no_mangle)]
extern "C" fn mdhRustTransform(op: MlirOperation, application: *mut c_void) -> bool {
    // SAFETY: MLIR passes an operation that it holds.
    let op = unsafe { ir::op_from_raw(op) };
    let application = Application {
        op,
        raw: application,
    };
    let done = guarded(|| apply(&application));
    let failures = match done.unwrap_or_else(|bug| Err(vec![bug.into()])) {
        Ok(()) => return true,
        Err(failures) => failures,
    };
    for failure in &failures {
        application.fail(failure);
    }
    false
}

/// `match` only reads; after `lower` a schedule is complete, and its handle is gone.
#[unsafe(no_mangle)]
extern "C" fn mdhRustTransformEffects(op: MlirOperation) -> i32 {
    const CONSUMES_HANDLE: i32 = 1;
    const CHANGES_PAYLOAD: i32 = 2;
    // SAFETY: MLIR passes an operation that it holds.
    match mnemonic(unsafe { ir::op_from_raw(op) }) {
        Some("match") => 0,
        Some("lower") => CONSUMES_HANDLE | CHANGES_PAYLOAD,
        _ => CHANGES_PAYLOAD,
    }
}

fn apply(application: &Application) -> Result<(), Vec<Failure>> {
    let op = application.op;
    let payload = application.payload();
    if payload.is_empty() {
        let name = ir::name_of(op);
        ir::remark_at(op, &format!("{name} does nothing: its handle is empty"));
    }
    match mnemonic(op) {
        Some("match") => {
            application.finish(&matched(op, &payload)?);
            Ok(())
        }
        Some("lower") => lower(op, &payload),
        _ => {
            let edit = edit(op, |n| application.parameter(n)).map_err(|e| vec![e.into()])?;
            edit.map_or(Ok(()), |edit| change(&edit, &payload))
        }
    }
}

/// All schedules are read and changed before the first one is written.
fn change(edit: &Edit, payload: &[Payload]) -> Result<(), Vec<Failure>> {
    let (mut changed, mut failures) = (Vec::new(), Vec::new());
    for op in payload {
        match changed_schedule(edit, *op) {
            Ok(schedule) => changed.push(schedule),
            Err(message) => failures.push(Failure::at(*op, message)),
        }
    }
    if !failures.is_empty() {
        return Err(failures);
    }
    for (op, changed) in payload.iter().zip(&changed) {
        schedule::set(*op, Some(changed));
    }
    Ok(())
}

fn changed_schedule(edit: &Edit, op: Payload) -> Result<schedule::Schedule, String> {
    if !HOLDERS.contains(&ir::name_of(op)) {
        return Err(format!(
            "changes schedules, which {} has not: expected a handle of {}",
            ir::name_of(op),
            HOLDERS.join(" or ")
        ));
    }
    let mut schedule = schedule::read(op).map_err(|errors| errors.join("; "))?;
    let schedule = schedule.get_or_insert_default();
    edit.apply(schedule)?;
    Ok(std::mem::take(schedule))
}

/// The computations of a name, one in each operation.
fn matched(op: Payload, payload: &[Payload]) -> Result<Vec<Payload>, Vec<Failure>> {
    let key = ir::attribute(op, "computation").and_then(ir::text);
    let key = key.unwrap_or_default();
    let computation = |root: &Payload| {
        let computations = schedule::computations(*root);
        schedule::find(&computations, key).map_err(|message| Failure::at(*root, message))
    };
    let (found, failures): (Vec<_>, Vec<_>) =
        payload.iter().map(computation).partition(Result::is_ok);
    match failures.is_empty() {
        true => Ok(found.into_iter().flatten().collect()),
        false => Err(failures.into_iter().filter_map(Result::err).collect()),
    }
}

/// Every constraint of every schedule.
fn lower(script: Op<'static>, payload: &[Payload]) -> Result<(), Vec<Failure>> {
    let mut failures = Vec::new();
    let handle = ir::operand(script, 0);
    let mut edits = handle.map_or(Vec::new(), ir::users);
    edits.reverse(); // the last use is the first of the list
    for op in payload {
        let violations = schedule::violations(*op);
        let cause = |message: &String| {
            let is_it = |v: &&Violation| message.ends_with(&v.message);
            let place = violations.iter().find(is_it).map(|v| &v.place)?;
            culprit(&edits, place)
        };
        let messages: Vec<String> = match (ir::name_of(*op), schedule::has_schedule(*op)) {
            (ops::mdh::COMPUTE, true) => {
                let findings = verify::errors(*op).into_iter();
                findings.map(|finding| finding.message).collect()
            }
            (ops::mdh::COMPUTE, false) => vec!["has no schedule".to_owned()],
            _ => vec!["is no mdh.compute".to_owned()],
        };
        failures.extend(messages.into_iter().map(|message| Failure {
            cause: cause(&message),
            message: format!("found that the computation {message}"),
            payload: Some(*op),
        }));
    }
    match failures.is_empty() {
        true => Ok(()),
        false => Err(failures),
    }
}
