//! Nothing is warned of where the model chooses: neither in the examples nor in the workloads.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use mdh_dialect::context;
use mdh_passes::pipelines::Target;
use mdh_schedule::asm::{Asm, CpuFacts};
use melior::diagnostic::DiagnosticSeverity;

use mdh_bench::workloads::{self, Scale};
use mdh_compiler::compile::{line, run_all};
use mdh_compiler::source::Source;

/// The warnings about a program on a machine, with the model's schedules.
fn warnings(source: &Source, asm: &Asm, target: Target) -> Vec<String> {
    let context = context::program_context();
    let warnings = Arc::new(Mutex::new(Vec::new()));
    let said = Arc::clone(&warnings);
    context.attach_diagnostic_handler(move |diagnostic| {
        if matches!(diagnostic.severity(), DiagnosticSeverity::Warning) {
            said.lock().unwrap().push(diagnostic.to_string());
        }
        true
    });
    let mut module = source.parse(&context).unwrap();
    let steps = line(target).to("scheduled").unwrap();
    run_all(asm, &context, &mut module, &steps).unwrap();
    let warnings = warnings.lock().unwrap();
    warnings.clone()
}

/// The examples, and the workloads of both scales.
fn programs() -> Vec<Source> {
    let scales = [Scale::Quick, Scale::Full].map(|scale| workloads::all(scale).unwrap());
    let cases = scales.into_iter().flatten();
    let mut sources: Vec<Source> = cases
        .map(|case| Source::from_text(&case.name(), &case.program().unwrap()))
        .collect();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    for entry in fs::read_dir(examples).unwrap() {
        let path = entry.unwrap().path();
        if path
            .extension()
            .is_some_and(|extension| extension == "mlir")
        {
            sources.push(Source::read(&path).unwrap());
        }
    }
    assert!(sources.len() > 40, "{}", sources.len());
    sources
}

#[test]
fn the_models_schedules_are_warned_of_nowhere() {
    mdh_passes::register_all();
    let narrow = CpuFacts {
        vector: 32,
        registers: 16,
        ..CpuFacts::default()
    };
    let mut missing = Vec::new();
    for source in programs() {
        for (facts, target) in [
            (&narrow, Target::Cpu),
            (&CpuFacts::default(), Target::Cpu),
            (&narrow, Target::Sim),
        ] {
            let said = warnings(&source, &Asm::cpu(facts), target);
            missing.extend(said.iter().map(|text| format!("{}: {text}", source.name())));
        }
    }
    assert_eq!(missing, [""; 0]);
}
