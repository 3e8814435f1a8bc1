//! `--check-each-step`: the IR after every pass is executed and held against the definition.
//!
//! After a pass the module is executed twice, as far as it can be: by the oracle, which reads
//! what computations are left (so that a wrong rewrite is found at the pass that made it), and as
//! machine code of what the remaining passes make of it: those without which there would be none.
//! The others, of which one may be the wrong one, are left out, so that the first step whose result
//! is not right is the one that made it so.

use std::num::NonZeroU32;

use melior::Context;
use melior::ir::Module;

use mdh_algebra::program::{Program, Target};
use mdh_dialect::function;
use mdh_dialect::ir::find_all;
use mdh_dialect::translate::Depth;
use mdh_dialect::types::BufferKind;
use mdh_jit::Level;
use mdh_passes::pipelines::{EXACT, OPTIONAL, Pipeline};
use mdh_schedule::asm::Asm;

use crate::check::Expectation;
use crate::compile;
use crate::entry::{Entry, Parameter};
use crate::error::{Error, ErrorKind, Result};
use crate::execute::{Call, Compiled};
use crate::functions::symbol_name;
use crate::plan::call_arguments;
use crate::progress::{Progress, Reader};

/// The oracle looks at so many elements of a step's results at most.
const LOOKED_AT: usize = 4 << 20;
/// So many iterations of loops are followed at each step.
const ITERATIONS: usize = 100_000;

/// Runs and checks a function after each pass of the pipelines. Returns how many passes there
/// were, each with its name, and whether the oracle could read its result.
pub fn check(
    context: &Context,
    module: &Module,
    entry: &Entry,
    asm: &Asm,
    pipelines: &[&Pipeline],
    call: &mut Call,
    expectation: &Expectation,
) -> Result<Vec<Step>> {
    let passes = told(asm, pipelines);
    let progress = Progress::start(Reader::Program, "checking each step");
    let mut current = compile::copy(module);
    // Until the program is one of integers, a copy is made one before it is read.
    let exact = pipelines.iter().find(|own| own.name == EXACT.name);
    let first_exact = passes
        .iter()
        .position(|pass| EXACT.passes.last() == Some(&pass.name));
    let mut steps = Vec::new();
    for (i, pass) in passes.iter().enumerate() {
        progress.share(i as u64, passes.len() as u64, "passes");
        compile::run_passes(context, &mut current, &[&pass.text])?;
        let mut read = compile::copy(&current);
        if let Some(exact) = exact.filter(|_| Some(i) < first_exact) {
            compile::run_portable(context, &mut read, exact)?;
        }
        let is_read = check_by_oracle(&read, entry, call, expectation, pass.name)?;
        let mut rest = compile::copy(&current);
        compile::run_passes(context, &mut rest, &plain(&passes[i + 1..]))?;
        let compiled = Compiled::load(&rest, &entry.name, Level::Quick)?;
        compiled.call(call, NonZeroU32::MIN)?;
        call.check_bounds()?;
        report(pass.name, "run as machine code", expectation.hold(call).1)?;
        steps.push(Step {
            pass: pass.name.to_string(),
            is_read,
        });
    }
    Ok(steps)
}

/// A pass of a pipeline.
struct Told {
    /// Its name in the pipeline.
    name: &'static str,
    /// The same, told of the machine.
    text: String,
}

/// The passes of pipelines, told of a machine.
fn told(asm: &Asm, pipelines: &[&Pipeline]) -> Vec<Told> {
    let passes = pipelines.iter().flat_map(|pipeline| {
        let texts = compile::told(asm, pipeline).into_iter();
        pipeline.passes.iter().zip(texts)
    });
    passes.map(|(name, text)| Told { name, text }).collect()
}

/// Leaves out the passes that only make code faster.
fn plain(passes: &[Told]) -> Vec<&str> {
    let needed = passes.iter().filter(|pass| !OPTIONAL.contains(&pass.name));
    needed.map(|pass| pass.text.as_str()).collect()
}

/// A pass whose result was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The pass, with its options.
    pub pass: String,
    /// True if the oracle could read the IR after it.
    pub is_read: bool,
}

fn report(pass: &str, how: &str, wrong: Option<String>) -> Result<()> {
    match wrong {
        None => Ok(()),
        Some(wrong) => Err(Error::new(
            ErrorKind::Check,
            format!(
                "after the pass '{pass}', {how}, the result is not what the definition says: {wrong}"
            ),
        )),
    }
}

/// Evaluates what computations the module still has; `false` if it has none, or other operations.
fn check_by_oracle(
    module: &Module,
    entry: &Entry,
    call: &Call,
    expectation: &Expectation,
    pass: &str,
) -> Result<bool> {
    let functions = find_all(compile::operation(module), &["func.func"]);
    let Some(op) = functions
        .into_iter()
        .find(|f| symbol_name(*f) == entry.name)
    else {
        return Ok(false);
    };
    // What computations have become is for the machine code to show.
    if find_all(op, &["mdh.compute"]).is_empty() {
        return Ok(false);
    }
    let Ok(translated) = function::translate(op, Depth::Code) else {
        return Ok(false);
    };
    let arguments = call_arguments(entry, call, &translated.program);
    let instance = match translated
        .program
        .instantiate_within(&arguments, ITERATIONS)
    {
        Ok(instance) => instance,
        // Loops over elements, which lowerings make, soon have too many iterations.
        // What sums decide that may be rounded differently is for the machine code to show, too.
        Err(error) if error.is_too_long || error.is_open => return Ok(false),
        Err(error) => {
            return Err(Error::bug(format!(
                "after the pass '{pass}' the function cannot be evaluated: {error}"
            )));
        }
    };
    // Each computation of a tile is evaluated with all of the result that it is a part of.
    let elements: usize = expectation.elements().max(1);
    if instance.computations().saturating_mul(elements) > LOOKED_AT {
        return Ok(false);
    }
    let results = results(&translated.program, entry);
    let wrong = expectation.hold_reference(&instance, &results)?;
    report(pass, "evaluated by definition", wrong)?;
    Ok(true)
}

/// Finds the array of each result: returned, or, since bufferization, a further argument.
fn results(program: &Program, entry: &Entry) -> Vec<Target> {
    let mut arguments = entry.arguments.len()..program.arguments.len();
    let mut returned = 0..entry.results.len();
    let is_bufferized = !arguments.is_empty();
    let target = |result: &Parameter| match result.ty.kind {
        BufferKind::Tensor | BufferKind::MemRef if is_bufferized => {
            arguments.next().map(Target::Argument)
        }
        _ => returned.next().map(Target::Return),
    };
    entry.results.iter().filter_map(target).collect()
}

#[cfg(test)]
mod tests {
    use mdh_passes::pipelines::{self, Target};

    use super::*;

    /// A step is blamed for what its own IR means: nothing that chooses, tiles or vectorises after it
    /// has a part in its machine code.
    #[test]
    fn what_may_be_wrong_later_is_left_out() {
        let asm = Asm::cpu(&mdh_schedule::asm::CpuFacts::default());
        let lowering = told(&asm, &compile::line(Target::Cpu).after(compile::RAISED));
        let rest = plain(&lowering);
        let rest: Vec<&str> = rest
            .iter()
            .filter_map(|text| text.split('{').next())
            .collect();
        let faster = [&pipelines::SCHEDULE, &pipelines::TILES, &pipelines::VECTORS];
        let passes = faster.iter().flat_map(|pipeline| pipeline.passes);
        // Upstream's own simplifications belong to what lowers, too, and so does erasing memory spaces.
        for pass in
            passes.filter(|pass| !["canonicalize", "mdh-erase-memory-spaces"].contains(*pass))
        {
            assert!(!rest.contains(pass), "{pass}");
        }
        for pass in OPTIONAL {
            let is_known = lowering.iter().any(|own| own.name == *pass);
            assert!(is_known, "'{pass}' is no pass of the pipelines");
        }
        assert!(rest.contains(&"mdh-lower-to-loops"));
    }
}
