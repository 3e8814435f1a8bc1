//! A program of ours with many schedules, one after the other: its inputs are made, and its definition
//! is evaluated, once.

use melior::Context;
use melior::ir::Module;

use mdh_algebra::oracle::Errors;
use mdh_compiler::cli::RunArguments;
use mdh_compiler::compile;
use mdh_compiler::depth::Lowering;
use mdh_compiler::entry::Entry;
use mdh_compiler::error::{Error, Result};
use mdh_compiler::execute::Call;
use mdh_compiler::formed::Formed;
use mdh_compiler::rehearsal::Rehearsal;
use mdh_compiler::source::Source;
use mdh_dialect::context;
use mdh_passes::pipelines::{Pipeline, Target};
use mdh_schedule::asm::Asm;

use super::ours;
use super::protocol::{Answer, Compiled, Request, Task};

/// A program that is prepared.
struct Prepared<'p, 'c> {
    context: &'c Context,
    formed: &'p Formed<'c>,
    entry: &'p Entry<'c>,
    steps: &'p [&'static Pipeline],
    asm: &'p Asm,
    command: &'p RunArguments,
    samples: usize,
    /// Inputs and expected elements, with bounds that hold for every order of combining.
    rehearsal: Rehearsal<'p>,
    /// False if these bounds would let zeros pass: each candidate has those of its own order.
    is_strong: bool,
}

/// Prepares a program, and answers about its candidates until something else is asked for, which is
/// returned.
pub fn serve(asm: &Asm, task: &Task) -> Result<Option<Request>> {
    let source = Source::from_text(&task.name, &task.program);
    let context = context::program_context();
    let formed = ours::formed(&context, &source, task.entry.as_deref(), None)?;
    let entry = formed.entry()?;
    let command = ours::as_run(&task.name, &task.ranges);
    if task.samples == 0 {
        return Err(Error::bug("no element would be compared"));
    }
    ours::require_memory(&entry)?;
    ours::limit_memory(&entry)?;
    let any_order = |_: &[_], _: &[_]| Errors::Bounded;
    let mut rehearsal = Rehearsal::with(&entry, any_order, &command, task.samples)?;
    let inputs = std::mem::take(&mut rehearsal.inputs);
    let mut call = Call::new(&entry, inputs, &rehearsal.shapes)?;
    let steps = compile::line(Target::Cpu).after(compile::RAISED);
    let prepared = Prepared {
        context: &context,
        formed: &formed,
        entry: &entry,
        steps: &steps,
        asm,
        command: &command,
        samples: task.samples,
        is_strong: rehearsal.expectation.expect_strong().is_ok(),
        rehearsal,
    };
    ours::say(&Answer::Done {})?;
    while let Some(request) = ours::next()? {
        let answer = match request {
            Request::Schedule { schedules } => prepared
                .candidate(schedules.as_deref(), &mut call)
                .unwrap_or_else(|error| ours::refusal(&error)),
            Request::Drop => Answer::Done {},
            other => return Ok(Some(other)),
        };
        ours::say(&answer)?;
    }
    Ok(None)
}

impl Prepared<'_, '_> {
    /// Compiles the program with a schedule, checks its result, and runs it until it is dropped.
    fn candidate(&self, schedules: Option<&str>, call: &mut Call) -> Result<Answer> {
        let mut lowered = self.formed.copy(self.context, self.entry);
        let given = schedules.map(|text| Source::from_text("schedules.json", text));
        self.formed.apply_to(&lowered, given.as_ref())?;
        let own = (!self.is_strong)
            .then(|| self.of_order(&lowered))
            .transpose()?;
        let strength = own.as_ref().map(|own| own.expectation.expect_strong());
        if let Some(Err(weak)) = strength {
            return Ok(Answer::Unchecked(weak.message().to_string()));
        }
        let expectation = &own.as_ref().unwrap_or(&self.rehearsal).expectation;
        let (code, compile_ms) = ours::compiled(
            self.asm,
            self.context,
            &mut lowered,
            self.steps,
            &self.entry.name,
        )?;
        ours::hold(&code, call, expectation)?;
        ours::say(&Answer::Compiled(Compiled {
            inputs: Vec::new(),
            outputs: Vec::new(),
            work: ours::work(self.entry, call, self.rehearsal.flops),
            compile_ms,
            checked: true,
        }))?;
        ours::run(self.entry, &code, call)?;
        Ok(Answer::Done {})
    }

    /// The expected elements with the bounds of a candidate's own order.
    fn of_order(&self, module: &Module) -> Result<Rehearsal<'_>> {
        let lowering = Lowering {
            module,
            entry: self.entry,
            pipelines: self.steps,
            asm: self.asm,
        };
        Rehearsal::new(
            self.context,
            self.entry,
            &lowering,
            self.command,
            self.samples,
        )
    }
}
