//! Computations that the compiler makes of what several others evaluate, which are searched, too: the model
//! chooses for these, and none of the schedules of the others is as fast where that pays.

use std::collections::BTreeSet;

use mdh_algebra::asm::Asm;
use mdh_algebra::schedule::{Facts, MIN_GRAIN};
use mdh_compiler::compile;
use mdh_compiler::error::{Error, Result};
use mdh_compiler::source::Source;
use mdh_dialect::ir::{self, Op};
use mdh_dialect::{context, ops, schedule};
use mdh_passes::pipelines::{Pipeline, SCHEDULE, Target};
use mdh_passes::share;
use melior::ir::Module;

/// The stage from which the lowering of such a program goes on.
pub(crate) const STAGE: &str = "bufferized";

/// The computations that the model chooses schedules for.
pub(crate) enum Sharing {
    /// Those of the program.
    None,
    /// These.
    Known(Shared),
    /// Others, of which schedules cannot be given.
    Unknown,
}

/// A program on memrefs whose common subexpressions are computations of their own.
pub(crate) struct Shared {
    text: String,
    /// For each computation its key among schedules: its position in the program, or its name if the compiler
    /// made it.
    pub(crate) keys: Vec<String>,
}

impl Sharing {
    /// Finds the computations that the model makes of those that are formed, on a machine.
    pub(crate) fn of(computations: &[Op], asm: &Asm) -> Result<Sharing> {
        let mut open = computations.to_vec();
        open.retain(|op| !schedule::has_schedule(*op));
        let function = open.first().and_then(|first| {
            let mut around = ir::ancestors(*first);
            around.find(|op| ir::name_of(*op) == ops::func::FUNC)
        });
        let Some(function) = function.filter(|_| share::may_share(&open)) else {
            return Ok(Sharing::None);
        };
        let name = ir::attribute(function, "sym_name").and_then(ir::text);
        let module = ir::ancestors(function).last().unwrap_or(function);
        let text = module.to_string();
        let formed = names(computations);
        match Facts::of(asm) {
            Some(_) => Sharing::of_text(&text, name.unwrap_or_default(), &formed, asm),
            None => Ok(Sharing::None),
        }
    }

    fn of_text(text: &str, function: &str, formed: &[String], asm: &Asm) -> Result<Sharing> {
        let context = context::program_context();
        let mut module = Source::from_text("program", text).parse(&context)?;
        compile::keep_only(&context, &module, function);
        let passes = compile::line(Target::Cpu).between(compile::RAISED, STAGE);
        compile::run_all_for(asm, &context, &mut module, &passes)?;
        compile::run_all_for(asm, &context, &mut module, &[&before()])?;
        let before = names(&all(&module));
        let failed = |(_, errors): (Op, Vec<String>)| Error::bug(errors.join("; "));
        share::share(compile::operation(&module), asm, MIN_GRAIN).map_err(failed)?;
        let after = names(&all(&module));
        if before.len() == after.len() {
            return Ok(Sharing::None);
        }
        Ok(match keys(formed, &before, &after) {
            Some(keys) => Sharing::Known(Shared {
                text: compile::operation(&module).to_string(),
                keys,
            }),
            None => Sharing::Unknown,
        })
    }
}

/// The passes that run before common subexpressions become computations.
fn before() -> Pipeline {
    let all = SCHEDULE.passes;
    let count = all.iter().position(|pass| *pass == share::PASS.argument);
    Pipeline {
        passes: &all[..count.unwrap_or(0)],
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
    pub(crate) fn with<T>(&self, then: impl FnOnce(&[Op]) -> Result<T>) -> Result<T> {
        let context = context::program_context();
        let module = Source::from_text("program", &self.text).parse(&context)?;
        then(&all(&module))
    }
}

#[cfg(test)]
#[path = "shared_tests.rs"]
mod tests;
