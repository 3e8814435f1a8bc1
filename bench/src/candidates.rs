//! A program of ours with many schedules, one after the other: its inputs are made, and its definition
//! is evaluated, once.

use melior::Context;

use mdh_algebra::oracle::Errors;
use mdh_compiler::cli::RunArguments;
use mdh_compiler::compile;
use mdh_compiler::depth::Trees;
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
    let source = task.source()?;
    let context = context::program_context();
    let formed = ours::formed(&context, &source, task.entry.as_deref(), None)?;
    let entry = formed.entry()?;
    let command = ours::as_run(task);
    if task.samples == 0 {
        return Err(Error::bug("no element would be compared"));
    }
    ours::require_memory(&entry, &command)?;
    ours::limit_memory(&entry)?;
    let any_order = |_: &[_], _: &[_]| Errors::Bounded;
    let mut rehearsal = Rehearsal::new(&entry, any_order, &command, task.samples)?;
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
        let mut trees = match self.is_strong {
            true => Trees::unread(),
            false => Trees::new(&lowered, &self.entry.name),
        };
        let (asm, steps) = (self.asm, self.steps);
        let lowering = ours::lower(asm, self.context, &mut lowered, steps, &mut trees)?;
        let of_order = match self.is_strong {
            true => None,
            false => Some(self.of_order(&trees)?),
        };
        let expectation = match &of_order {
            Some(rehearsal) => &rehearsal.expectation,
            None => &self.rehearsal.expectation,
        };
        if of_order.is_some()
            && let Err(weak) = expectation.expect_strong()
        {
            return Ok(Answer::Unchecked(weak.message().to_string()));
        }
        let (code, compile_ms) = ours::compiled(&lowered, &self.entry.name, lowering)?;
        ours::hold(&code, call, expectation)?;
        ours::say(&Answer::Compiled(Compiled {
            inputs: Vec::new(),
            outputs: Vec::new(),
            work: ours::work(self.entry, call, self.rehearsal.flops),
            compile_ms,
            checked: true,
            note: None,
        }))?;
        ours::run(self.entry, &code, call)?;
        Ok(Answer::Done {})
    }

    /// The expected elements with the bounds of a candidate's own order.
    fn of_order(&self, trees: &Trees) -> Result<Rehearsal<'_>> {
        let errors = |inputs: &[_], shapes: &[Vec<i64>]| trees.errors(self.entry, inputs, shapes);
        Rehearsal::new(self.entry, errors, self.command, self.samples)
    }
}
