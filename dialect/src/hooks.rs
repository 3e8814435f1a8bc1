//! Hooks that the C++ shim calls: verification of operations and attributes, canonicalisation,
//! built-in names, schedules, layouts, mappings.

use std::ffi::c_void;
use std::sync::OnceLock;

use mdh_algebra::operator::Builtin;
use melior::ir::{Attribute, Type};
use mlir_sys::{MlirAttribute, MlirOperation, MlirRewriterBase, MlirStringRef, MlirType};

use crate::ffi::string_ref;
use crate::in_place;
use crate::ir::{self, Op};
use crate::layout;
use crate::mapping;
use crate::marks::{self, Host};
use crate::pass::guarded;
use crate::scalar_code::{self, Finding};
use crate::schedule;
use crate::verify;

/// A canonicalisation pattern on one operation.
pub struct Pattern {
    /// The name of the operation it starts from.
    pub root: &'static str,
    /// Rewrites and returns whether it did; on `false` nothing has changed.
    pub rewrite: fn(Op, MlirRewriterBase) -> bool,
}

static PATTERNS: OnceLock<&'static [Pattern]> = OnceLock::new();

/// Sets the patterns that `canonicalize` applies; the first call decides.
pub fn set_canonicalizations(patterns: &'static [Pattern]) {
    let _ = PATTERNS.set(patterns);
}

fn patterns() -> &'static [Pattern] {
    PATTERNS.get().copied().unwrap_or_default()
}

#[unsafe(no_mangle)]
extern "C" fn mdhRustVerify(op: MlirOperation) -> bool {
    verify(op, verify::errors)
}

#[unsafe(no_mangle)]
extern "C" fn mdhRustVerifyCalls(op: MlirOperation) -> bool {
    verify(op, scalar_code::calls)
}

/// Reports what a check finds; whether that is nothing.
fn verify(op: MlirOperation, check: fn(Op<'static>) -> Vec<Finding<'static>>) -> bool {
    // SAFETY: MLIR passes an operation of this dialect that it holds.
    let op = unsafe { ir::op_from_raw(op) };
    let findings = guarded(|| check(op));
    let findings = findings.unwrap_or_else(|message| vec![Finding { op, message }]);
    for finding in &findings {
        ir::error_at(finding.op, &finding.message);
    }
    findings.is_empty()
}

/// A discardable attribute of the dialect, on an operation (0), one of its arguments (1) or of its
/// results (2).
#[unsafe(no_mangle)]
extern "C" fn mdhRustVerifyMark(
    op: MlirOperation,
    host: i32,
    name: MlirStringRef,
    value: MlirAttribute,
) -> bool {
    // SAFETY: MLIR passes an operation that it holds, and an attribute of it.
    let (op, name, value) = unsafe {
        (
            ir::op_from_raw(op),
            ir::string(name),
            Attribute::from_raw(value),
        )
    };
    let host = match host {
        0 => Host::Operation,
        1 => Host::Argument,
        _ => Host::Result,
    };
    let wrong = guarded(|| marks::error(op, host, name, value)).unwrap_or_else(Some);
    if let Some(message) = &wrong {
        ir::error_at(op, message);
    }
    wrong.is_none()
}

#[unsafe(no_mangle)]
extern "C" fn mdhRustVerifyComponent(
    ty: MlirType,
    data: *mut c_void,
    each: extern "C" fn(*mut c_void, MlirStringRef),
) -> bool {
    // SAFETY: MLIR passes a type that it holds.
    let ty = unsafe { Type::from_raw(ty) };
    let wrong = guarded(|| verify::component(ty)).unwrap_or_else(Some);
    if let Some(message) = &wrong {
        each(data, string_ref(message));
    }
    wrong.is_none()
}

#[unsafe(no_mangle)]
extern "C" fn mdhRustIsIdentifier(name: MlirStringRef) -> bool {
    // SAFETY: MLIR passes a valid string.
    verify::is_identifier(unsafe { ir::string(name) })
}

#[unsafe(no_mangle)]
extern "C" fn mdhRustIsBuiltin(name: MlirStringRef) -> bool {
    // SAFETY: MLIR passes a valid string.
    Builtin::parse(unsafe { ir::string(name) }).is_some()
}

#[unsafe(no_mangle)]
extern "C" fn mdhRustIsElementwise(op: MlirOperation, operands: *const isize, n: isize) -> bool {
    // SAFETY: MLIR passes an operation that it holds, and as many numbers as it says.
    let (op, operands) = unsafe {
        let count = usize::try_from(n).unwrap_or(0);
        (
            ir::op_from_raw(op),
            std::slice::from_raw_parts(operands, count),
        )
    };
    guarded(|| in_place::is_elementwise(op, operands)).unwrap_or(false)
}

/// The canonical text, or what is wrong and where.
type Canonical = Result<String, (String, usize)>;
type Say = extern "C" fn(*mut c_void, MlirStringRef, isize);

#[unsafe(no_mangle)]
extern "C" fn mdhRustSchedule(text: MlirStringRef, data: *mut c_void, each: Say) -> bool {
    read(text, schedule::canonical, data, each)
}

#[unsafe(no_mangle)]
extern "C" fn mdhRustLayout(text: MlirStringRef, data: *mut c_void, each: Say) -> bool {
    read(text, layout::canonical, data, each)
}

#[unsafe(no_mangle)]
extern "C" fn mdhRustMapping(text: MlirStringRef, data: *mut c_void, each: Say) -> bool {
    read(text, mapping::canonical, data, each)
}

/// Gives the canonical text, or the mistake and its position; returns whether it was the former.
fn read(
    text: MlirStringRef,
    canonical: fn(&[u8]) -> Canonical,
    data: *mut c_void,
    each: Say,
) -> bool {
    // SAFETY: MLIR passes a part of a text that it holds.
    let text = unsafe { ir::bytes(text) };
    match guarded(|| canonical(text)).unwrap_or_else(|bug| Err((bug, 0))) {
        Ok(canonical) => {
            each(data, string_ref(&canonical), 0);
            true
        }
        Err((message, offset)) => {
            each(data, string_ref(&message), offset as isize);
            false
        }
    }
}

#[unsafe(no_mangle)]
extern "C" fn mdhRustNumCanonicalizations() -> isize {
    patterns().len() as isize
}

#[unsafe(no_mangle)]
extern "C" fn mdhRustCanonicalizationRoot(index: isize) -> MlirStringRef {
    string_ref(patterns().get(index as usize).map_or("", |p| p.root))
}

#[unsafe(no_mangle)]
extern "C" fn mdhRustCanonicalize(
    index: isize,
    op: MlirOperation,
    rewriter: MlirRewriterBase,
) -> bool {
    let Some(pattern) = patterns().get(index as usize) else {
        return false;
    };
    // SAFETY: MLIR passes an operation that it holds.
    let op = unsafe { ir::op_from_raw(op) };
    guarded(|| (pattern.rewrite)(op, rewriter)).unwrap_or_else(|bug| {
        ir::error_at(op, &bug);
        false
    })
}
