//! Upstream's lowering of a program in linalg, as a peer: what `mdh run --no-raise` does with it.

use mdh_compiler::cli::RunArguments;
use mdh_compiler::compile::{self, RAISED};
use mdh_compiler::diagnostics;
use mdh_compiler::error::{ErrorKind, Result};
use mdh_compiler::execute::{Call, Compiled as Code};
use mdh_compiler::formed::Formed;
use mdh_compiler::source::Source;
use mdh_dialect::context;
use mdh_jit::Level;
use mdh_passes::pipelines::{Raise, Target};
use mdh_schedule::asm::Asm;

use super::ours::{given, next, run, say};
use super::protocol::{Answer, Array, Request};

/// Its name.
pub const UPSTREAM: &str = "upstream";

/// Answers requests from standard input until it ends.
pub fn serve(asm: &Asm) -> Result<()> {
    mdh_passes::register_all();
    while let Some(request) = next()? {
        match request {
            Request::Hello | Request::Drop => say(&Answer::Done {})?,
            Request::Load {
                program,
                entry,
                inputs,
                outputs,
                ..
            } => match case(asm, (&program, &entry), &inputs, &outputs) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::Resources => {
                    say(&Answer::No(error.message().to_string()))?;
                }
                Err(error) => say(&Answer::Failed(error.message().to_string()))?,
            },
            _ => say(&Answer::Failed("nothing is loaded".to_string()))?,
        }
    }
    Ok(())
}

/// Compiles a program whose linalg stays, and runs it on request, until it is dropped.
fn case(
    asm: &Asm,
    (program, entry): (&str, &str),
    inputs: &[Array],
    outputs: &[Array],
) -> Result<()> {
    let source = Source::from_text(UPSTREAM, program);
    let context = context::program_context();
    diagnostics::show(&context, &source);
    let formed = Formed::with(&context, &source, Some(entry), Raise::Off)?;
    if formed.history.written().is_none() {
        return say(&Answer::No("the program is not in linalg".to_string()));
    }
    let entry = formed.entry()?;
    let mut lowered = formed.copy(&context, &entry);
    let arguments = given(&entry, inputs, &RunArguments::new(UPSTREAM.as_ref()))?;
    let shapes: Vec<Vec<i64>> = outputs.iter().map(|array| array.shape.clone()).collect();
    let mut call = Call::new(&entry, arguments, &shapes)?;
    let steps = compile::line(Target::Cpu).after(RAISED);
    compile::run_all(asm, &context, &mut lowered, &steps)?;
    let code = Code::load(&lowered, &entry.name, Level::Full)?;
    say(&Answer::Done {})?;
    run(&entry, &code, &mut call)?;
    say(&Answer::Done {})
}
