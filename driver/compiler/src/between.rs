//! `--between`: passes that change no meaning, between those of the compiler.
//!
//! What passes of the compiler tell each other is IR that every pass keeps: with upstream's passes
//! between any two of them the results are the same. Tests ask for that.

use std::cell::Cell;

use melior::Context;
use melior::ir::Module;

use mdh_dialect::pass;
use mdh_passes::pipelines::Pipeline;
use mdh_schedule::asm::Asm;

use crate::cli::RunArguments;
use crate::compile;
use crate::error::{Error, Result};

/// Passes that run before those of the compiler.
#[derive(Debug)]
pub struct Between<'a> {
    passes: &'a [String],
    /// The number of the only pass that they run before, if it is one.
    gap: Option<usize>,
    /// Number of the compiler's passes that have run.
    done: Cell<usize>,
}

impl<'a> Between<'a> {
    /// Reads the command's request, which runs these pipelines.
    pub fn new(command: &'a RunArguments, pipelines: &[&Pipeline]) -> Result<Between<'a>> {
        let is_known = |text: &String| text.split('{').next().is_some_and(pass::is_known);
        if let Some(unknown) = command.between.iter().find(|text| !is_known(text)) {
            return Err(Error::usage(format!(
                "--between: found '{unknown}', expected a pass that mdh-opt has"
            )));
        }
        let count: usize = pipelines.iter().map(|p| p.passes.len()).sum();
        match command.between_gap {
            Some(gap) if gap >= count => Err(Error::usage(format!(
                "--between-gap: found {gap}, expected the number of a pass, below {count}"
            ))),
            gap => Ok(Between {
                passes: &command.between,
                gap,
                done: Cell::new(0),
            }),
        }
    }

    /// Runs a pipeline, as [`compile::run`] does, and the requested passes before each of its own.
    pub fn run(
        &self,
        asm: &Asm,
        context: &Context,
        module: &mut Module,
        pipeline: &Pipeline,
    ) -> Result<()> {
        if self.passes.is_empty() {
            return compile::run(asm, context, module, pipeline);
        }
        for pass in compile::told(asm, pipeline) {
            let number = self.done.replace(self.done.get() + 1);
            let is_asked = self.gap.is_none_or(|gap| gap == number);
            let before = self.passes.iter().filter(|_| is_asked);
            let passes: Vec<&str> = before.chain([&pass]).map(String::as_str).collect();
            compile::run_passes(context, module, &passes)?;
        }
        Ok(())
    }
}
