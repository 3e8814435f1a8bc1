//! Passes written in Rust, with options, behind the shim's generic pass.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};

use mlir_sys::{
    MlirDialectHandle, MlirDialectRegistry, MlirOperation, MlirStringRef,
    mlirDialectHandleInsertDialect,
};

use crate::ffi::{self, PassOption, PassTable, PipelineTable, string_ref};
use crate::ir::{self, Errors, Op};

/// An option of a pass: its name, its description, and its default.
pub type OptionText = (&'static str, &'static str, &'static str);

/// A pass. Every row of the pass table is one of these.
pub struct Pass {
    /// The name on the command line and in pipelines.
    pub argument: &'static str,
    /// One line of help.
    pub description: &'static str,
    /// The operation it runs on; empty for any.
    pub operation: &'static str,
    /// Its options.
    pub options: &'static [OptionText],
    /// Runs it. Each error has been located, or is emitted at the operation.
    pub run: fn(Op, &Options) -> Result<(), Errors>,
}

/// The values of a pass's options.
pub struct Options<'a> {
    pass: &'static Pass,
    values: Vec<&'a str>,
}

impl Options<'_> {
    /// The name of the pass.
    pub fn pass(&self) -> &str {
        self.pass.argument
    }

    /// The text of an option.
    pub fn get(&self, name: &str) -> &str {
        let at = self
            .pass
            .options
            .iter()
            .position(|(option, _, _)| *option == name);
        at.and_then(|i| self.values.get(i))
            .copied()
            .unwrap_or_default()
    }

    /// The number that an option has; `None` where it has nothing.
    pub fn number(&self, name: &str) -> Result<Option<u64>, Errors> {
        let text = self.get(name);
        if text.is_empty() {
            return Ok(None);
        }
        let number = text.parse().ok().filter(|number: &u64| *number > 0);
        let wrong = || {
            vec![format!(
                "option '{name}' of {} is '{text}': expected a positive number",
                self.pass.argument
            )]
        };
        number.ok_or_else(wrong).map(Some)
    }

    /// A boolean option.
    pub fn flag(&self, name: &str) -> Result<bool, Errors> {
        match self.get(name) {
            "true" | "1" => Ok(true),
            "false" | "0" => Ok(false),
            other => Err(vec![format!(
                "option '{name}' of {} is '{other}': expected true or false",
                self.pass.argument
            )]),
        }
    }
}

/// The message for a defect of mdh's own.
pub fn bug(what: &str) -> String {
    format!(
        "this is a bug in mdh, not in your program: {what}; please report it with the input that \
         shows it and the output of `mdh --version`"
    )
}

/// Runs a body that must not unwind into C++, and turns a panic into an error of ours.
pub fn guarded<T>(body: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(body)).map_err(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
        bug(text.unwrap_or("a panic without a message"))
    })
}

extern "C" fn dependent_dialects(registry: MlirDialectRegistry) {
    for handle in upstream_dialects() {
        // SAFETY: the handle and the registry are valid.
        unsafe { mlirDialectHandleInsertDialect(handle, registry) }
    }
}

/// The dialects that our passes create operations of: one list for all of them.
fn upstream_dialects() -> Vec<MlirDialectHandle> {
    use mlir_sys::*;
    // SAFETY: handles are constants of the library.
    unsafe {
        vec![
            mlirGetDialectHandle__arith__(),
            mlirGetDialectHandle__cf__(),
            mlirGetDialectHandle__func__(),
            mlirGetDialectHandle__gpu__(),
            mlirGetDialectHandle__llvm__(),
            mlirGetDialectHandle__math__(),
            mlirGetDialectHandle__memref__(),
            mlirGetDialectHandle__nvgpu__(),
            mlirGetDialectHandle__nvvm__(),
            mlirGetDialectHandle__scf__(),
            mlirGetDialectHandle__tensor__(),
            mlirGetDialectHandle__vector__(),
        ]
    }
}

extern "C" fn run(
    table: *const PassTable,
    operation: MlirOperation,
    values: *const MlirStringRef,
) -> bool {
    // SAFETY: the table is the one that `table` built, and the operation is the pass's.
    let (pass, op) = unsafe { (&*(*table).pass.cast::<Pass>(), ir::op_from_raw(operation)) };
    // SAFETY: there is one value for each option.
    let values = (0..pass.options.len())
        .map(|i| unsafe { ir::string(*values.add(i)) })
        .collect();
    match guarded(|| (pass.run)(op, &Options { pass, values })) {
        Ok(Ok(())) => true,
        Ok(Err(errors)) => {
            for error in errors {
                ir::error_at(op, &error);
            }
            false
        }
        Err(bug) => {
            ir::error_at(op, &format!("in {}: {bug}", pass.argument));
            false
        }
    }
}

fn options(texts: &[OptionText]) -> &'static [PassOption] {
    let option = |(name, description, fallback): &OptionText| PassOption {
        name: string_ref(name),
        description: string_ref(description),
        fallback: string_ref(fallback),
    };
    Box::leak(texts.iter().map(option).collect::<Box<[_]>>())
}

fn table(pass: &'static Pass) -> &'static PassTable {
    let options = options(pass.options);
    Box::leak(Box::new(PassTable {
        options: options.as_ptr(),
        num_options: options.len() as isize,
        argument: string_ref(pass.argument),
        description: string_ref(pass.description),
        operation: string_ref(pass.operation),
        dependent_dialects,
        run,
        pass: std::ptr::from_ref(pass).cast::<c_void>(),
    }))
}

/// Makes passes known by name. Called once for each process.
pub fn register(passes: &'static [Pass]) {
    for pass in passes {
        // SAFETY: the table lives as long as the process.
        unsafe { ffi::mdhRegisterPass(table(pass)) }
    }
}

/// The passes of a pipeline for the values of its options, as MLIR parses them, or why there are
/// none.
pub type PassesOf = dyn Fn(&[&str]) -> Result<String, String> + Send + Sync;

/// Description of a pipeline for MLIR.
pub struct PipelineText {
    /// The name on the command line and in pipelines.
    pub name: &'static str,
    /// One line of help.
    pub description: &'static str,
    /// Its options.
    pub options: &'static [OptionText],
    /// Its passes.
    pub passes: Box<PassesOf>,
}

extern "C" fn passes(
    table: *const PipelineTable,
    values: *const MlirStringRef,
    data: *mut c_void,
    put: extern "C" fn(*mut c_void, MlirStringRef),
) -> bool {
    // SAFETY: the table is the one that `register_pipelines` built.
    let pipeline = unsafe { &*(*table).pipeline.cast::<PipelineText>() };
    // SAFETY: there is one value for each option.
    let value = |i: usize| unsafe { ir::string(*values.add(i)) };
    let values: Vec<&str> = (0..pipeline.options.len()).map(value).collect();
    let text = guarded(|| (pipeline.passes)(&values)).and_then(|text| text);
    let (is_done, text) = match &text {
        Ok(text) => (true, text),
        Err(why) => (false, why),
    };
    put(data, string_ref(text));
    is_done
}

/// Makes pipelines known by name. What their passes are is asked when a pipeline is: the passes
/// need not be known before.
pub fn register_pipelines(pipelines: &'static [PipelineText]) {
    for pipeline in pipelines {
        let options = options(pipeline.options);
        let table = Box::leak(Box::new(PipelineTable {
            options: options.as_ptr(),
            num_options: options.len() as isize,
            name: string_ref(pipeline.name),
            description: string_ref(pipeline.description),
            passes,
            pipeline: std::ptr::from_ref(pipeline).cast::<c_void>(),
        }));
        // SAFETY: the table lives as long as the process.
        unsafe { ffi::mdhRegisterPipeline(table) }
    }
}

/// Returns whether a pass or pipeline of that name is registered.
pub fn is_known(name: &str) -> bool {
    // SAFETY: the shim only reads the name.
    unsafe { ffi::mdhIsPass(string_ref(name)) }
}

/// A pass object for a pass manager, which takes it.
pub fn create(pass: &'static Pass) -> melior::pass::Pass {
    // SAFETY: the table lives as long as the process, and the pass is new.
    unsafe { melior::pass::Pass::from_raw(ffi::mdhCreatePass(table(pass))) }
}

/// Does something to each operation of a name, until one has errors, which are emitted at it.
pub fn each<'c>(
    module: Op<'c>,
    name: &str,
    mut rewrite: impl FnMut(Op<'c>) -> Result<(), Errors>,
) -> Result<(), Errors> {
    let mut operations = ir::find_all(module, &[name]).into_iter();
    operations.try_for_each(|op| rewrite(op).or_else(|errors| emit_all(op, errors)))
}

/// Emits errors at an operation; `Err` if there are any, with nothing left to emit.
pub fn emit_all(op: Op, errors: Errors) -> Result<(), Errors> {
    if errors.is_empty() {
        return Ok(());
    }
    for error in errors {
        ir::error_at(op, &error);
    }
    Err(Vec::new())
}
