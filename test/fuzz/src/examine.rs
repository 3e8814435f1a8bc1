//! A mutant in this process: read, verified, formed, simplified and lowered to the llvm dialect.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

use melior::Context;
use melior::ir::Module;
use melior::ir::operation::{OperationLike, OperationPrintingFlags};

use mdh_compiler::compile;
use mdh_compiler::error::Result;
use mdh_compiler::host::Host;
use mdh_compiler::source::Source;
use mdh_dialect::context;
use mdh_passes::pipelines::Target;

use crate::run::Ending;

/// Reads a program and lowers it; `folder` is for texts that are no UTF-8. What is refused is right, too, if it is
/// said why; a defect is shown.
pub fn examine(text: &[u8], folder: &Path) -> Ending {
    mdh_passes::register_all();
    let context = context::program_context();
    // Threads cost more than they give.
    context.enable_multi_threading(false);
    let said = Rc::new(RefCell::new(Vec::new()));
    let sink = Rc::clone(&said);
    context.attach_diagnostic_handler(move |diagnostic| {
        sink.borrow_mut().push(diagnostic.to_string());
        true
    });
    // What is no text has been shown to be none.
    let Ok(source) = source(text, folder) else {
        return Ending::Refused;
    };
    let outcome = lower(&context, &source);
    let said = said.borrow();
    let is_bug = |text: &&String| text.contains("bug in mdh");
    let error = outcome.as_ref().err().map(ToString::to_string);
    let bug = said.iter().chain(&error).find(is_bug).cloned();
    let defect = match (bug, outcome) {
        (Some(bug), _) => bug,
        (None, Ok(Some(defect))) => defect.into(),
        (None, Ok(None)) => return Ending::Right,
        (None, Err(_)) if error.as_deref() != Some("error: ") || !said.is_empty() => {
            eprintln!("error: no program");
            return Ending::Refused;
        }
        (None, Err(_)) => "refused without a word".into(),
    };
    eprintln!("error: {}", defect.replace('\n', " "));
    Ending::Bug
}

/// Lowers a program; the defect that it has, if any.
fn lower(context: &Context, source: &Source) -> Result<Option<&'static str>> {
    let mut module = source.parse(context)?;
    let defect = read_back(context, &module);
    if defect.is_some() {
        return Ok(defect);
    }
    let asm = Host::this()?.machine;
    compile::run_all(
        &asm,
        context,
        &mut module,
        &compile::line(Target::Cpu).all(),
    )?;
    Ok(None)
}

fn source(text: &[u8], folder: &Path) -> Result<Source> {
    match std::str::from_utf8(text) {
        Ok(text) if !text.contains('\0') => Ok(Source::from_text("mutant.mlir", text)),
        _ => {
            let file = folder.join("mutant.mlir");
            mdh_compiler::output::write(&file, text)?;
            Source::read(&file)
        }
    }
}

/// Finds mistakes in a module's text, if it does not give the module again.
fn read_back(context: &Context, module: &Module) -> Option<&'static str> {
    let text = module.as_operation().to_string();
    let source = Source::from_text("printed.mlir", &text);
    match source.parse(context) {
        Ok(again) if again.as_operation().to_string() == text => None,
        Ok(_) => Some("is printed in another way when it has been printed and read"),
        Err(_) => Some("cannot be read again when it has been printed"),
    }
}

/// A program in the forms that mutants are made of: as it is, with one operation for each
/// computation, and both in MLIR's generic form.
pub fn forms(text: &str) -> Vec<String> {
    mdh_passes::register_all();
    let context = context::program_context();
    let source = Source::from_text("example.mlir", text);
    let mut forms = vec![text.to_string()];
    let Ok(mut module) = source.parse(&context) else {
        return forms;
    };
    let generic = |module: &Module| {
        let flags = OperationPrintingFlags::new().print_generic_operation_form();
        module.as_operation().to_string_with_flags(flags)
    };
    forms.extend(generic(&module));
    if compile::form(&context, &mut module).is_ok() {
        forms.push(module.as_operation().to_string());
        forms.extend(generic(&module));
    }
    forms
}
