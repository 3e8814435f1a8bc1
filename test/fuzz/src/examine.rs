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

/// The step up to which a mutant got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It was refused as no program, with a message.
    Refused,
    /// It was accepted.
    Accepted,
    /// A defect: why.
    Defect(String),
}

/// Reads a program and lowers it; `folder` is for texts that are no UTF-8.
pub fn examine(text: &[u8], folder: &Path) -> Verdict {
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
        return Verdict::Refused;
    };
    let verdict = lower(&context, &source);
    let said = said.borrow();
    let bug = said.iter().find(|text| text.contains("bug in mdh"));
    match (verdict, bug) {
        (_, Some(bug)) => Verdict::Defect(bug.clone()),
        (Ok(verdict), _) => verdict,
        (Err(error), _) if error.to_string().contains("bug in mdh") => {
            Verdict::Defect(error.to_string())
        }
        (Err(error), _) if error.to_string() == "error: " && said.is_empty() => {
            Verdict::Defect("refused without a word".into())
        }
        (Err(_), _) => Verdict::Refused,
    }
}

fn lower(context: &Context, source: &Source) -> Result<Verdict> {
    let mut module = source.parse(context)?;
    if let Some(defect) = read_back(context, &module) {
        return Ok(Verdict::Defect(defect));
    }
    let asm = Host::this()?.machine;
    compile::run_all(
        &asm,
        context,
        &mut module,
        &compile::line(Target::Cpu).all(),
    )?;
    Ok(Verdict::Accepted)
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
fn read_back(context: &Context, module: &Module) -> Option<String> {
    let text = module.as_operation().to_string();
    let source = Source::from_text("printed.mlir", &text);
    match source.parse(context) {
        Ok(again) if again.as_operation().to_string() == text => None,
        Ok(_) => Some("is printed in another way when it has been printed and read".into()),
        Err(_) => Some("cannot be read again when it has been printed".into()),
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
