//! `mdh compile --emit llvm|asm|obj|header|shared`: functions for other programs to call.
//!
//! ```text
//! func.func @f --signature--> Interface --header--> f.h
//!      |                          |
//!      '--> code as `mdh run` has it, behind a C function --> f.o --link--> libf.so
//! ```
//!
//! Beside it stands what programs need that compile and call functions themselves (Python, the C interface):
//! [`callable`], [`background`], [`loaded`], [`arrays`], [`words`].

pub mod arrays;
pub mod background;
pub mod callable;
mod header;
pub mod link;
pub mod loaded;
pub mod signature;
pub mod words;

use std::collections::BTreeMap;

use melior::Context;
use melior::ir::Module;

use mdh_dialect::ir::Op;
use mdh_jit::interface::Interface;
use mdh_jit::{Emit, Level};
use mdh_passes::llvm::prefix_functions;
use mdh_passes::pipelines::{self, Line, Target};
use mdh_schedule::asm::Asm;

use crate::cli::{CompileArguments, Stage};
use crate::compile;
use crate::entry::{self, Entry};
use crate::error::{Error, Result};
use crate::formed::History;
use crate::functions::{functions_of, has_body, is_private, symbol_name};
use crate::names::Names;

/// Emits the files that a command asks for, of a module whose computations are formed; `entries` are its functions
/// that have a form in C.
pub fn emit(
    asm: &Asm,
    context: &Context,
    module: &mut Module,
    entries: Vec<Entry>,
    arguments: &CompileArguments,
    stem: &str,
) -> Result<Vec<u8>> {
    let is_linked = is_linked(arguments.emit);
    let interfaces: Result<Vec<Interface>> = entries.iter().map(signature::c_function).collect();
    let interfaces = match interfaces {
        Err(error) if is_linked => return Err(error),
        other => other.unwrap_or_default(),
    };
    if arguments.emit == Stage::Header {
        return Ok(header::text(stem, &interfaces).into_bytes());
    }
    expose(context, module, arguments.entry.as_deref());
    for entry in &entries {
        entry::protect_inputs_of(context, entry.op, entry);
    }
    let entries = drop_handles(entries);
    let code = code(asm, context, module, &entries, &interfaces, arguments)?;
    match arguments.emit {
        Stage::Shared => link::shared(&code, &interfaces, arguments),
        _ => Ok(code),
    }
}

/// Returns whether C functions are what is emitted.
pub fn is_linked(stage: Stage) -> bool {
    matches!(stage, Stage::Obj | Stage::Header | Stage::Shared)
}

/// The functions that are asked for, if all have a form in C; else none.
pub fn entries<'c>(
    module: &Module<'c>,
    history: &History<'c>,
    names: &BTreeMap<String, Names>,
    wanted: Option<&str>,
) -> Result<Vec<Entry<'c>>> {
    let functions = functions(module, wanted);
    let has_c = |function: &Op| signature::has_c_types(*function);
    match !functions.is_empty() && functions.iter().all(has_c) {
        true => described(module, history, names, wanted),
        false => Ok(Vec::new()),
    }
}

/// The functions that are asked for.
///
/// # Errors
/// If there are none, or one has no form in C.
pub fn described<'c>(
    module: &Module<'c>,
    history: &History<'c>,
    names: &BTreeMap<String, Names>,
    wanted: Option<&str>,
) -> Result<Vec<Entry<'c>>> {
    let functions = functions(module, wanted);
    if functions.is_empty() {
        return Err(Error::input(
            "there is no function to call: all are private or have no body",
        ));
    }
    let written = history.written().map(compile::operation);
    let entries = functions.into_iter().map(|function| {
        let names = names.get(symbol_name(function));
        let entry = entry::describe(function, written, &names.cloned().unwrap_or_default());
        entry.map_err(|error| error.help(OTHER_TYPES))
    });
    entries.collect()
}

/// Forbids bufferization to write tensors that the functions that are asked for only read.
pub fn protect<'c>(
    context: &Context,
    module: &Module<'c>,
    history: &History<'c>,
    names: &BTreeMap<String, Names>,
    wanted: Option<&str>,
) -> Result<()> {
    for entry in entries(module, history, names, wanted)? {
        entry::protect_inputs_of(context, entry.op, &entry);
    }
    Ok(())
}

/// Advice on a function whose types C does not have.
const OTHER_TYPES: &str = "only functions of such types can be called from C: change the type, make \
     the function private, or compile another one of the file with --entry NAME";

/// Gives the functions that are asked for a C interface.
pub fn expose(context: &Context, module: &Module, wanted: Option<&str>) {
    for function in functions(module, wanted) {
        compile::expose_function(context, function);
    }
}

/// The functions that are asked for: that of a name, or all that are not private.
pub fn functions<'c>(module: &Module<'c>, wanted: Option<&str>) -> Vec<Op<'c>> {
    let functions = functions_of(compile::operation(module)).into_iter();
    let functions = functions.filter(|function| has_body(*function));
    functions
        .filter(|function| match wanted {
            Some(name) => symbol_name(*function) == name,
            None => !is_private(*function),
        })
        .collect()
}

/// The names of functions that are about to be rewritten.
fn drop_handles(entries: Vec<Entry>) -> Vec<String> {
    entries.into_iter().map(|entry| entry.name).collect()
}

/// Lowers a module, adds its C functions and prints it as code.
fn code(
    asm: &Asm,
    context: &Context,
    module: &mut Module,
    entries: &[String],
    interfaces: &[Interface],
    arguments: &CompileArguments,
) -> Result<Vec<u8>> {
    let line = Line {
        target: arguments.target().map_or(Target::Cpu, Target::from),
        options: arguments.line_options(),
    };
    compile::run_all(asm, context, module, &line.after(compile::RAISED))?;
    if arguments.debug_info {
        compile::run_portable(context, module, &pipelines::DEBUG)?;
    }
    let mut llvm = compile::to_llvm(module)?;
    for (entry, interface) in entries.iter().zip(interfaces) {
        let compiled = format!("{}{entry}", prefix_functions::PREFIX);
        llvm.add_entry(&compiled)?;
        llvm.add_c_function(&compiled, interface)?;
    }
    let what = match arguments.emit {
        Stage::Llvm => Emit::LlvmIr,
        Stage::Asm => Emit::Assembly,
        _ => Emit::Object,
    };
    Ok(llvm.optimise(Level::Full)?.emit(what)?)
}
