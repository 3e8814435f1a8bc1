//! One function of a program, whose computations are formed: where every command starts.

use std::path::Path;

use melior::Context;
use melior::ir::Module;

use mdh_passes::of_loops;
use mdh_passes::pipelines::Raise;

use crate::entry::{self, Entry};
use crate::error::Result;
use crate::functions::function_of;
use crate::names::Names;
use crate::select::select;
use crate::source::Source;
use crate::{compile, raise, schedules};

/// A module with one function that is wanted, of which every computation is one operation.
pub struct Formed<'c> {
    /// The module: the function, and what it needs.
    pub module: Module<'c>,
    /// The same before linalg was raised, which is what the definition is read from; none where
    /// there was nothing to raise.
    pub written: Option<Module<'c>>,
    /// A copy of which sizes are known: what stays linalg is there raised as far as it can be; none where
    /// nothing does.
    sized: Option<Module<'c>>,
    /// The function's name.
    pub function: String,
    /// The names of its arguments and results in the program.
    pub names: Names,
}

impl<'c> Formed<'c> {
    /// Reads a program and forms the computations of the function `wanted`, or of its only one.
    /// Errors in the program have been shown.
    pub fn new(context: &'c Context, source: &Source, wanted: Option<&str>) -> Result<Formed<'c>> {
        Formed::with(context, source, wanted, Raise::On)
    }

    /// The same; linalg is raised or stays.
    pub fn with(
        context: &'c Context,
        source: &Source,
        wanted: Option<&str>,
        raise: Raise,
    ) -> Result<Formed<'c>> {
        let module = source.parse_wanted(context, wanted)?;
        Formed::of_module(context, module, source, wanted, raise)
    }

    /// The same for a program that has been read.
    pub fn of_module(
        context: &'c Context,
        mut module: Module<'c>,
        source: &Source,
        wanted: Option<&str>,
        linalg: Raise,
    ) -> Result<Formed<'c>> {
        let mut names = source.names(compile::operation(&module));
        let function = select(compile::operation(&module), wanted, source.stem())?;
        compile::keep_only(context, &module, &function);
        let written = compile::form_with(context, &mut module, linalg)?;
        if let Some(written) = written.as_ref().filter(|_| linalg == Raise::On) {
            raise::report(compile::operation(written), compile::operation(&module));
        }
        let stays = raise::is_needed(compile::operation(&module));
        let sized = written.as_ref().filter(|_| stays);
        let sized = sized.and_then(|written| match linalg {
            Raise::On => Some(compile::copy(&module)),
            Raise::Off => raise::silently(context, written),
        });
        let names = names.remove(&function).unwrap_or_default();
        Ok(Formed {
            module,
            written,
            sized,
            function,
            names,
        })
    }

    /// Gives the function's computations the schedules of a file.
    pub fn apply(&self, schedules: Option<&Path>) -> Result<()> {
        let source = schedules.map(Source::read).transpose()?;
        self.apply_to(&self.module, source.as_ref())
    }

    /// The same for the function in a copy of the module.
    pub fn apply_to(&self, module: &Module, schedules: Option<&Source>) -> Result<()> {
        let operation = compile::operation(module);
        schedules.map_or(Ok(()), |source| {
            schedules::apply(source, operation, &self.function)
        })
    }

    /// The function's arguments and results.
    pub fn entry(&self) -> Result<Entry<'c>> {
        let module = compile::operation(&self.module);
        let written = self.written.as_ref().map(compile::operation);
        let mut entry = entry::find(module, written, &self.function, &self.names)?;
        let sized = self.sized.as_ref().map(compile::operation);
        if let Some(sized) = sized.and_then(|sized| function_of(sized, &self.function)) {
            let raised = entry::describe(sized, written, &self.names)?;
            entry.take_roles(&raised);
            entry.sized = sized;
            entry.loops = of_loops(sized);
        }
        Ok(entry)
    }

    /// A copy that may be lowered: callable from C, and leaving tensors alone that are only read.
    pub fn copy(&self, context: &Context, entry: &Entry) -> Module<'c> {
        let copy = compile::copy(&self.module);
        compile::expose(context, &copy, &entry.name);
        entry::protect_inputs(context, &copy, entry);
        copy
    }
}
