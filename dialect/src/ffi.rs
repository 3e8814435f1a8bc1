//! The shim's functions (`cpp/Rust.cpp`), each declared once.

use std::ffi::{c_char, c_int, c_void};

use mlir_sys::{
    MlirAttribute, MlirContext, MlirDialectRegistry, MlirLocation, MlirModule, MlirOperation,
    MlirPass, MlirStringRef, MlirType, MlirValue,
};

/// An option of a pass.
#[repr(C)]
pub struct PassOption {
    /// Its name in a pipeline.
    pub name: MlirStringRef,
    /// Its description.
    pub description: MlirStringRef,
    /// Its value when it is not given.
    pub fallback: MlirStringRef,
}

/// A pass whose body is Rust. Its address serves as the pass's type id: one for each pass, alive
/// as long as the process.
#[repr(C)]
pub struct PassTable {
    /// The first option.
    pub options: *const PassOption,
    /// Number of options.
    pub num_options: isize,
    /// The name on the command line.
    pub argument: MlirStringRef,
    /// One line of help.
    pub description: MlirStringRef,
    /// The operation it runs on; empty for any.
    pub operation: MlirStringRef,
    /// Adds the dialects of what it creates.
    pub dependent_dialects: extern "C" fn(MlirDialectRegistry),
    /// Runs it; the values of the options stand in their order.
    pub run: extern "C" fn(*const PassTable, MlirOperation, *const MlirStringRef) -> bool,
    /// The Rust pass behind the table.
    pub pass: *const c_void,
}

// SAFETY: a table is written once, before it is registered, and only read afterwards.
unsafe impl Sync for PassTable {}
// SAFETY: as above.
unsafe impl Send for PassTable {}

/// A pipeline, whose passes are told when it is asked for. Alive as long as the process.
#[repr(C)]
pub struct PipelineTable {
    /// The first option.
    pub options: *const PassOption,
    /// Number of options.
    pub num_options: isize,
    /// The name on the command line.
    pub name: MlirStringRef,
    /// One line of help.
    pub description: MlirStringRef,
    /// Hands the passes to `put` as MLIR parses them, or says why there are none, and returns
    /// which; the values of the options stand in their order.
    pub passes: extern "C" fn(
        *const PipelineTable,
        values: *const MlirStringRef,
        data: *mut c_void,
        put: extern "C" fn(*mut c_void, MlirStringRef),
    ) -> bool,
    /// The Rust pipeline behind the table.
    pub pipeline: *const c_void,
}

#[allow(
    missing_docs,
    reason = "documented where they are defined, in cpp/Rust.cpp and cpp/Transform.cpp"
)]
unsafe extern "C" {
    pub fn mdhRegisterPass(table: *const PassTable);
    pub fn mdhCreatePass(table: *const PassTable) -> MlirPass;
    pub fn mdhRegisterPipeline(table: *const PipelineTable);
    pub fn mdhIsPass(name: MlirStringRef) -> bool;
    pub fn mdhRegisterDialect(registry: MlirDialectRegistry);
    pub fn mdhRegisterAll(registry: MlirDialectRegistry);
    pub fn mdhOnBadAlloc(handler: extern "C" fn());
    pub fn mdhOptMain(argc: c_int, argv: *mut *mut c_char, registry: MlirDialectRegistry) -> c_int;
    pub fn mdhLspServerMain(
        argc: c_int,
        argv: *mut *mut c_char,
        registry: MlirDialectRegistry,
    ) -> c_int;
    // Of MLIR's own C API, but missing in mlir-sys.
    pub fn mlirFuncSetArgAttr(
        op: MlirOperation,
        position: isize,
        name: MlirStringRef,
        attribute: MlirAttribute,
    );
    pub fn mdhParseModule(
        context: MlirContext,
        source: MlirStringRef,
        name: MlirStringRef,
        verify: bool,
    ) -> MlirModule;
    pub fn mdhEmitWarning(location: MlirLocation, message: *const c_char);
    pub fn mdhEmitRemark(location: MlirLocation, message: *const c_char);
    pub fn mdhAttributeName(attribute: MlirAttribute) -> MlirStringRef;
    pub fn mdhMappingId(attribute: MlirAttribute) -> i64;
    pub fn mdhResourceData(attribute: MlirAttribute) -> MlirStringRef;
    pub fn mdhTypeName(ty: MlirType) -> MlirStringRef;
    pub fn mdhAttributeParameters(
        attribute: MlirAttribute,
        data: *mut c_void,
        each: extern "C" fn(*mut c_void, MlirAttribute),
    );
    pub fn mdhTypeParameters(
        ty: MlirType,
        data: *mut c_void,
        each: extern "C" fn(*mut c_void, MlirType),
    );
    pub fn mdhBuffersAnalyze(module: MlirOperation) -> *mut c_void;
    pub fn mdhBuffersDestroy(buffers: *mut c_void);
    pub fn mdhBuffersAreSame(buffers: *mut c_void, a: MlirValue, b: MlirValue) -> bool;
    pub fn mdhBuffersMayOverlap(buffers: *mut c_void, a: MlirValue, b: MlirValue) -> bool;
    pub fn mdhBuffersIsInPlace(buffers: *mut c_void, op: MlirOperation, operand: isize) -> bool;
    pub fn mdhBuffersIsWritten(buffers: *mut c_void, op: MlirOperation, operand: isize) -> bool;
    pub fn mdhTransformPayload(
        application: *mut c_void,
        operand: isize,
        data: *mut c_void,
        each: extern "C" fn(*mut c_void, MlirOperation),
    );
    pub fn mdhTransformParameters(
        application: *mut c_void,
        operand: isize,
        data: *mut c_void,
        each: extern "C" fn(*mut c_void, MlirAttribute),
    );
    pub fn mdhTransformResult(
        application: *mut c_void,
        result: isize,
        ops: *const MlirOperation,
        count: isize,
    );
    pub fn mdhTransformFail(
        application: *mut c_void,
        message: MlirStringRef,
        payload: MlirOperation,
        cause: MlirOperation,
    );
    pub fn mdhDecompose(op: MlirOperation) -> bool;
    pub fn mdhMdaShape(ty: MlirType, data: *mut c_void, each: extern "C" fn(*mut c_void, i64));
}

/// A string as MLIR's C API takes it; valid as long as `text`.
pub const fn string_ref(text: &str) -> MlirStringRef {
    MlirStringRef {
        data: text.as_ptr().cast::<c_char>(),
        length: text.len(),
    }
}
