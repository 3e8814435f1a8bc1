//! Computations that the compiler makes of what several others evaluate, which are searched, too: the model
//! chooses for these, and none of the schedules of the others is as fast where that pays.

use std::collections::BTreeSet;

use mdh_compiler::compile;
use mdh_compiler::error::{Error, Result};
use mdh_compiler::source::Source;
use mdh_dialect::ir::{self, Op};
use mdh_dialect::{context, marks, ops, schedule};
use mdh_passes::pipelines::{Pipeline, SCHEDULE, Target};
use mdh_passes::simplify::share_subexpressions;
use mdh_schedule::asm::Asm;
use mdh_schedule::{Facts, MIN_GRAIN};
use melior::ir::Module;

use super::program::{SearchedProgram, searched};

/// The stage from which the lowering of such a program goes on.
const STAGE: &str = "bufferized";

/// The computations that the model chooses schedules for.
enum Sharing {
    /// Those of the program.
    None,
    /// These.
    Known(Shared),
    /// Others, of which schedules cannot be given.
    Unknown,
}

/// A program on memrefs whose common subexpressions are computations of their own.
struct Shared {
    text: String,
    /// For each computation its key among schedules: its position in the program, or its name if the compiler
    /// made it.
    keys: Vec<String>,
}

impl Sharing {
    /// Finds the computations that the model makes of those that are formed, on a machine.
    fn new(computations: &[Op], asm: &Asm) -> Sharing {
        let mut open = computations.to_vec();
        open.retain(|op| !schedule::has_schedule(*op));
        let function = open.first().and_then(|first| function_of(*first));
        let function = function
            .filter(|_| Facts::new(asm).is_some() && share_subexpressions::may_share(&open));
        let Some(function) = function else {
            return Sharing::None;
        };
        let name = ir::attribute(function, "sym_name").and_then(ir::text);
        let module = ir::ancestors(function).last().unwrap_or(function);
        let (text, formed) = (module.to_string(), names(computations));
        // What is wrong with the program is said where it is compiled.
        Sharing::of_text(&text, name.unwrap_or_default(), &formed, asm).unwrap_or(Sharing::Unknown)
    }

    fn of_text(text: &str, function: &str, formed: &[String], asm: &Asm) -> Option<Sharing> {
        let context = context::program_context();
        let mut module = Source::from_text("program", text).parse(&context).ok()?;
        compile::keep_only(&context, &module, function);
        let mut passes = compile::line(Target::Cpu).between(compile::RAISED, STAGE);
        let last = before();
        passes.push(&last);
        compile::run_all(asm, &context, &mut module, &passes).ok()?;
        let before = names(&all(&module));
        share_subexpressions::share(compile::operation(&module), asm, MIN_GRAIN).ok()?;
        let after = names(&all(&module));
        if before.len() == after.len() {
            return Some(Sharing::None);
        }
        let shared = keys(formed, &before, &after).map(|keys| Shared {
            text: compile::operation(&module).to_string(),
            keys,
        });
        Some(shared.map_or(Sharing::Unknown, Sharing::Known))
    }
}

/// The function that an operation is in.
fn function_of(op: Op<'_>) -> Option<Op<'_>> {
    ir::ancestors(op).find(|op| ir::name_of(*op) == ops::func::FUNC)
}

/// The passes that run before common subexpressions become computations.
fn before() -> Pipeline {
    let passes = SCHEDULE.passes;
    let count = passes
        .iter()
        .position(|pass| *pass == share_subexpressions::PASS.argument);
    Pipeline {
        passes: &passes[..count.unwrap_or(0)],
        ..SCHEDULE
    }
}

/// The keys of computations among schedules, if each of the program's is there once and all others are made of what
/// these have in common.
fn keys(formed: &[String], before: &[String], after: &[String]) -> Option<Vec<String>> {
    let unique: BTreeSet<&String> = after.iter().collect();
    let is_there = |name: &String| unique.contains(name);
    if before != formed || unique.len() != after.len() || !formed.iter().all(is_there) {
        return None;
    }
    let key = |name: &String| {
        let position = formed.iter().position(|own| own == name);
        position.map_or(name.clone(), |position| position.to_string())
    };
    Some(after.iter().map(key).collect())
}

fn names(computations: &[Op]) -> Vec<String> {
    computations.iter().map(|op| schedule::name(*op)).collect()
}

fn all<'c>(module: &Module<'c>) -> Vec<Op<'c>> {
    ir::find_all(compile::operation(module), &[ops::mdh::COMPUTE])
}

impl Shared {
    /// Does something with the computations.
    fn with<T>(&self, then: impl FnOnce(&[Op]) -> Result<T>) -> Result<T> {
        let context = context::program_context();
        let module = Source::from_text("program", &self.text).parse(&context)?;
        then(&all(&module))
    }
}

impl SearchedProgram {
    /// The same program with the computations that the compiler makes, and which may be computed in loops of
    /// others. (That needs its module as text.)
    pub fn with_chains(self, computations: &[Op], asm: &Asm) -> Result<SearchedProgram> {
        let function = computations.first().and_then(|first| function_of(*first));
        if function.is_some_and(|op| marks::SCHEDULES.is_on(op)) {
            return Err(Error::input(format!(
                "the function has schedules by name ('{}'): expected none where schedules are searched or were \
                 tuned; `mdh tune --schedule` starts from some",
                marks::SCHEDULES.name
            )));
        }
        match Sharing::new(computations, asm) {
            Sharing::None => self.chained(computations, asm, compile::RAISED),
            Sharing::Known(shared) => shared.with(|operations| {
                let (mut after, others) = searched(operations, asm, self.parts)?;
                for entry in &mut after {
                    entry.key.clone_from(&shared.keys[entry.position]);
                }
                let mut program = self;
                let formed = std::mem::replace(&mut program.searched, after);
                let formed_others = std::mem::replace(&mut program.others, others);
                program.formed = Some((formed, formed_others));
                program.chained(operations, asm, STAGE)
            }),
            Sharing::Unknown => {
                let mut program = self.chained(computations, asm, compile::RAISED)?;
                program.formed = Some((program.searched.clone(), program.others.clone()));
                Ok(program)
            }
        }
    }
}

#[cfg(test)]
#[path = "shared_tests.rs"]
mod tests;
