//! One function of a program, whose computations are formed: where every command starts.
//!
//! ```text
//! file --parse--> module --form--> History::written --raise--> Formed::module --> schedules, versions, lowering
//! ```

use std::cell::OnceCell;
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
    /// Its earlier stage.
    pub history: History<'c>,
    /// The function's name.
    pub function: String,
    /// The names of its arguments and results in the program.
    pub names: Names,
}

/// The stage of a module before linalg was raised, and what is made of it when it is asked for.
pub struct History<'c> {
    context: &'c Context,
    /// The module whose computations were formed, with linalg as it is written; none where there was nothing to
    /// raise.
    written: Option<Module<'c>>,
    linalg: Raise,
    /// The module by which sizes are known; none where it is the module itself.
    sized: OnceCell<Option<Module<'c>>>,
}

impl<'c> History<'c> {
    /// Forms the computations of a module, and raises linalg or leaves it.
    pub fn form(
        context: &'c Context,
        module: &mut Module<'c>,
        linalg: Raise,
    ) -> Result<History<'c>> {
        compile::form_written(context, module)?;
        let written = raise::is_needed(compile::operation(module)).then(|| compile::copy(module));
        compile::raise(context, module, linalg)?;
        Ok(History {
            context,
            written,
            linalg,
            sized: OnceCell::new(),
        })
    }

    /// The module as it is written, which definitions are read from; none where it is the module itself.
    pub fn written(&self) -> Option<&Module<'c>> {
        self.written.as_ref()
    }

    /// A module to look at, by which sizes are known of one in which linalg stays: as much of it is raised as can be.
    /// None where no linalg stays.
    fn sized(&self, module: &Module<'c>) -> Option<&Module<'c>> {
        let written = self.written.as_ref()?;
        let make = || match (self.linalg, raise::is_needed(compile::operation(module))) {
            (_, false) => None,
            (Raise::On, true) => Some(compile::copy(module)),
            (Raise::Off, true) => raise::silently(self.context, written),
        };
        self.sized.get_or_init(make).as_ref()
    }
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
        linalg: Raise,
    ) -> Result<Formed<'c>> {
        let module = source.parse_wanted(context, wanted)?;
        Formed::of_module(context, module, source, wanted, linalg)
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
        let history = History::form(context, &mut module, linalg)?;
        if let Some(written) = history.written().filter(|_| linalg == Raise::On) {
            raise::report(compile::operation(written), compile::operation(&module));
        }
        Ok(Formed {
            module,
            history,
            names: names.remove(&function).unwrap_or_default(),
            function,
        })
    }

    /// One function of a module whose computations have been formed.
    pub fn of_history(
        module: Module<'c>,
        history: History<'c>,
        source: &Source,
        wanted: Option<&str>,
    ) -> Result<Formed<'c>> {
        let mut names = source.names(compile::operation(&module));
        let function = select(compile::operation(&module), wanted, source.stem())?;
        compile::keep_only(history.context, &module, &function);
        Ok(Formed {
            module,
            history,
            names: names.remove(&function).unwrap_or_default(),
            function,
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
        let written = self.history.written().map(compile::operation);
        let mut entry = entry::find(module, written, &self.function, &self.names)?;
        let sized = self.history.sized(&self.module).map(compile::operation);
        if let Some(sized) = sized.and_then(|sized| function_of(sized, &self.function)) {
            entry.take_roles(&entry::describe(sized, written, &self.names)?);
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
