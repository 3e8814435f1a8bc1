//! Values that the compiler computes once, in the spaces of programs.

use mdh_compiler::formed::Formed;
use mdh_compiler::schedules;
use mdh_compiler::select::function;
use mdh_schedule::{Schedules, SearchedParts};
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

use super::*;
use crate::programs::program::SearchedProgram;

const SOFTMAX: &str = include_str!("../../../examples/softmax.mlir");

/// The softmax of an example with other sizes: large enough for loops of its own, and for tiles.
fn softmax(rows: usize, columns: usize) -> String {
    let text = SOFTMAX.replace("6x", &format!("{rows}x"));
    let text = text.replace("i = 6", &format!("i = {rows}"));
    text.replace("20", &columns.to_string())
}

fn program(text: &str) -> SearchedProgram {
    mdh_passes::register_all();
    let context = context::program_context();
    let asm = mdh_machine::this().unwrap();
    let source = Source::from_text("f.mlir", text);
    SearchedProgram::read(
        &context,
        &source,
        Some("softmax"),
        &asm,
        SearchedParts::Model,
    )
    .unwrap()
}

/// The computations of a program with schedules of a set, in the order of a stage, each with its schedule there.
/// Only loops of caches have other names in the model's than in those of a search.
fn lowered(text: &str, given: &Schedules, stage: &str) -> Vec<String> {
    let context = context::program_context();
    let source = Source::from_text("f.mlir", text);
    let formed = Formed::new(&context, &source, Some("softmax")).unwrap();
    let mut module = compile::copy(&formed.module);
    let func = function(compile::operation(&module), &formed.function).unwrap();
    schedules::set(func, given).unwrap();
    let passes = compile::line(Target::Cpu).between(compile::RAISED, stage);
    compile::run_all(
        &mdh_machine::this().unwrap(),
        &context,
        &mut module,
        &passes,
    )
    .unwrap();
    let operations = all(&module).into_iter();
    operations
        .map(|op| {
            let written = schedule::read(op).unwrap();
            let written = written.unwrap_or_default().to_string();
            format!("{}: {}", schedule::name(op), written.replace("L2", "L3"))
        })
        .collect()
}

fn made(program: &SearchedProgram) -> Vec<&str> {
    program.made().map(|one| one.name.as_str()).collect()
}

/// Checks: what the model chooses can be said by schedules, whether it is computed in tiles or as a whole.
#[test]
fn the_models_choice_has_schedules() {
    for (rows, columns) in [(4096, 4096), (64, 80)] {
        let text = softmax(rows, columns);
        let program = program(&text);
        assert_eq!(made(&program), ["exp"], "{rows}");
        let default = program.default().unwrap();
        let schedules = program.schedules(&default).unwrap();
        let keys: Vec<&String> = schedules.computations.keys().collect();
        assert_eq!(keys, ["0", "1", "2", "exp"], "{rows}");
        assert_eq!(program.written(&default), Some(schedules.clone()));
        assert_eq!(program.model(), Some(schedules.clone()));
        let expected = lowered(&text, &Schedules::default(), "scheduled");
        assert_eq!(lowered(&text, &schedules, "scheduled"), expected);
        assert_eq!(expected.len(), 4);
    }
}

/// Checks: there is code for what the trees and filters let through, and it leads back to its values.
#[test]
fn schedules_of_what_is_made_have_code() {
    let text = softmax(64, 80);
    let program = program(&text);
    let space = program.space(&[]).unwrap();
    assert!(space.find(&program.default().unwrap()).is_some());
    let mut random = Pcg64Mcg::seed_from_u64(1);
    let mut count = 0;
    for _ in 0..40 {
        let configuration = space.configuration(&space.sample(&mut random));
        let Some(own) = program.fitting(&configuration) else {
            continue;
        };
        lowered(&text, &own, "loops");
        count += 1;
    }
    assert!(count > 20, "{count} of 40");
}

/// Checks: nothing changes where the model computes nothing of its own.
#[test]
fn others_are_as_they_were() {
    let program = program(SOFTMAX);
    assert!(made(&program).is_empty());
    let schedules = program.schedules(&program.default().unwrap()).unwrap();
    let keys: Vec<&String> = schedules.computations.keys().collect();
    assert_eq!(keys, ["0", "1", "2"]);
}

/// Checks: where schedules cannot say what the model chooses, it is left to it.
#[test]
fn what_cannot_be_said_is_left_to_the_model() {
    let mut program = program(SOFTMAX);
    program.formed = Some((program.searched.clone(), Vec::new()));
    let default = program.default().unwrap();
    assert_eq!(program.schedules(&default), None);
    assert_eq!(program.written(&default), Some(Schedules::default()));
    assert_eq!(program.model(), Some(Schedules::default()));
    assert!(
        program
            .schedules(&program.nearest_to_default().unwrap())
            .is_some_and(|own| own.computations.len() == 3)
    );
}

#[test]
fn keys_are_positions_and_names() {
    let words = |text: &str| -> Vec<String> { text.split(' ').map(str::to_string).collect() };
    let joined = |formed: &str, before: &str, after: &str| {
        keys(&words(formed), &words(before), &words(after)).map(|keys| keys.join(" "))
    };
    assert_eq!(
        joined("m s y", "m s y", "m exp s y").as_deref(),
        Some("0 exp 1 2")
    );
    // Those that are made for other reasons, and two of one name.
    assert_eq!(joined("m y", "m t y", "m exp t y"), None);
    assert_eq!(joined("m m", "m m", "m exp m"), None);
}
