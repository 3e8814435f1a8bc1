//! `mdh tune --import`: what `mdh-exec --tune` has measured becomes rows of the database.

use std::path::Path;
use std::time::Duration;

use mdh_compiler::error::{Error, Result};
use mdh_compiler::output;
use mdh_compiler::source::Source;
use mdh_cuda::Capability;
use mdh_exec::tune::results::{CandidateResult, ProgramResults, Reply, Results, TunedGpu};

use super::options::TuneArguments;
use crate::db::{self, Database, Sizes};
use crate::measure::{Cost, FailureKind, Outcome};
use crate::space::value::Configuration;
use crate::tune::{Evaluation, Keep, Role, StopReason};

/// In the place of a technique's name, of candidates that the estimate has ranked.
const ESTIMATE: &str = "estimate";

/// Reads results, and keeps them.
pub fn run(arguments: &TuneArguments, path: &Path) -> Result<()> {
    let source = Source::read(path)?;
    let in_file = |message: &str| Error::input(format!("{}: {message}", path.display()));
    let results = Results::read(source.text()).map_err(|error| in_file(&error.message))?;
    let Some(gpu) = &results.gpu else {
        return Err(in_file("nothing was measured: expected results of a GPU"));
    };
    let is_wanted = |program: &&ProgramResults| {
        let subjects = &arguments.subjects;
        subjects.is_empty() || subjects.contains(&program.name)
    };
    let programs: Vec<&ProgramResults> = results.programs.iter().filter(is_wanted).collect();
    if let Some(missing) = arguments
        .subjects
        .iter()
        .find(|subject| programs.iter().all(|program| program.name != **subject))
    {
        let names = results.programs.iter().map(|program| program.name.as_str());
        let names: Vec<&str> = names.collect();
        return Err(in_file(&format!(
            "found no '{missing}', expected one of {}",
            names.join(", ")
        )));
    }
    if arguments.out.is_some() && programs.len() != 1 {
        return Err(Error::usage(format!(
            "--out is a file for one program: found {}; name one of them",
            programs.len()
        )));
    }
    let mut database = super::search::database(arguments)?;
    for program in &programs {
        keep(&mut database, gpu, program).map_err(|error| in_file(error.message()))?;
        output::print(shown(gpu, program))?;
    }
    let best = programs.first().and_then(|program| program.best());
    match (&arguments.out, best) {
        (Some(out), Some(best)) => super::search::write_json(out, &best.schedules),
        (Some(_), None) => Err(in_file("no candidate works: there is no best schedule")),
        (None, _) => Ok(()),
    }
}

/// A GPU as evaluations are kept by.
pub fn machine(gpu: &TunedGpu) -> String {
    serde_json::json!({ "gpu": gpu.name, "chip": gpu.chip }).to_string()
}

/// The name and the chip of a GPU that evaluations are kept by; `None` if it is a processor.
pub fn gpu(machine: &str) -> Option<(String, Capability)> {
    let facts: serde_json::Value = serde_json::from_str(machine).ok()?;
    let text = |field: &str| facts.get(field)?.as_str();
    Some((text("gpu")?.to_string(), text("chip")?.parse().ok()?))
}

/// Keeps the results of a program as a session.
fn keep(database: &mut Database, gpu: &TunedGpu, program: &ProgramResults) -> Result<()> {
    let task = db::Task {
        machine: machine(gpu),
        program: program.program.clone(),
        sizes: Sizes(program.sizes.clone()),
    };
    let evaluations = program.candidates.iter().map(evaluation);
    let evaluations = evaluations.collect::<Result<Vec<_>>>()?;
    let mut session = database.session(&task, ESTIMATE, 0)?;
    for evaluation in &evaluations {
        session.keep(evaluation)?;
    }
    session.end(&StopReason::Exhausted)
}

fn evaluation(one: &CandidateResult) -> Result<Evaluation> {
    let configuration = Configuration::of_json(&one.configuration).map_err(Error::input)?;
    let outcome = match &one.outcome {
        Reply::Measured {
            samples_ms,
            is_complete,
            ..
        } => Outcome::Measured(match is_complete {
            true => Cost::new(samples_ms.clone()),
            false => Cost::of_lost(samples_ms.clone()),
        }),
        Reply::Failed { kind, text } => {
            let known = FailureKind::named(kind);
            let known = known.ok_or_else(|| {
                Error::input(format!("'{kind}' is no kind of failure of a candidate"))
            })?;
            Outcome::failed(known, text.clone())
        }
    };
    let technique = if one.is_default {
        Role::Default.name()
    } else {
        ESTIMATE
    };
    Ok(Evaluation {
        number: one.number,
        configuration,
        outcome,
        technique: technique.to_string(),
        at: Duration::try_from_secs_f64(one.at_s).unwrap_or_default(),
    })
}

fn shown(gpu: &TunedGpu, program: &ProgramResults) -> String {
    let cost = |of: Option<&CandidateResult>| of.and_then(|one| one.outcome.cost());
    let mut text = format!(
        "{} on {}: {} candidates kept\n",
        program.name,
        gpu.name,
        program.candidates.len()
    );
    let (default, best) = (cost(program.default()), cost(program.best()));
    if let Some(default) = default {
        text += &format!("  default  {default:.4} ms\n");
    }
    if let Some(best) = best {
        let ratio = default.map_or(String::new(), |default| {
            format!(", {:.2} times as fast", default / best)
        });
        text += &format!("  best     {best:.4} ms{ratio}\n");
    }
    text
}
