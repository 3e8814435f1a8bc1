//! Searches of a program, with costs that are computed.

use mdh_schedule::SearchedParts;
use mdh_schedule::gpu::Gpu;
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

use super::*;
use crate::measure::{Computed, Outcome};
use crate::space::value::Value;

const PROGRAM: &str = "\
func.func @f(%A: tensor<512x256xf32>, %B: tensor<256x384xf32>, %init: tensor<512x384xf32>) -> tensor<512x384xf32> {
  %C = mdh.compute (i = 512, j = 384, k = 256)
    out_view(C = %init[i, j] : tensor<512x384xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view(A = %A[i, k] : tensor<512x256xf32>, B = %B[k, j] : tensor<256x384xf32>)
  return %C : tensor<512x384xf32>
}
";

/// A program that is tuned in a folder of its own.
struct Setup {
    program: SearchedProgram,
    task: Task,
    asm: Asm,
    folder: tempfile::TempDir,
}

impl Setup {
    fn new() -> Setup {
        mdh_passes::register_all();
        let context = context::program_context();
        let source = Source::from_text("f.mlir", PROGRAM);
        let asm = mdh_machine::this().unwrap();
        Setup {
            program: SearchedProgram::read(&context, &source, None, &asm, SearchedParts::Model)
                .unwrap(),
            task: Task {
                name: "f.mlir".to_string(),
                ..Task::default()
            },
            asm,
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn arguments(&self, line: &str) -> TuneArguments {
        let folder = self.folder.path().display().to_string();
        let words = ["tune", "f.mlir", "--tuned", &folder].into_iter();
        TuneArguments::from_words(words.chain(line.split_whitespace()))
    }

    /// A search in which all configurations cost the same, and those that it measured, in order.
    fn run(&self, line: &str) -> (Tuned, Vec<Configuration>) {
        let arguments = self.arguments(line);
        let space = self.program.space(&arguments.fix).unwrap();
        let model = |configuration: &Configuration| self.program.cycles(configuration);
        let search = Search {
            of_model: of_model(&space, &self.program, &arguments.fix),
            ..Search::new(&self.task, &self.asm, &self.program, &model).unwrap()
        };
        let mut measured = Vec::new();
        let mut same = Computed::new(1, |configuration| {
            measured.push(configuration.clone());
            Outcome::of_cost(1.0)
        });
        let tuned = search.run(&arguments, &space, &mut same, &Interrupts::ask());
        (tuned.unwrap(), measured)
    }
}

/// Checks: what is measured before the search has learned anything takes few of the model's cycles.
#[test]
fn the_model_says_what_is_tried_first() {
    let setup = Setup::new();
    let (_, measured) = setup.run("--technique surrogate --evaluations 3");
    let cycles = |configuration: &Configuration| setup.program.cycles(configuration).unwrap();
    let space = setup.program.space(&[]).unwrap();
    let mut random = Pcg64Mcg::seed_from_u64(1);
    let drawn = (0..100).map(|_| cycles(&space.configuration(&space.sample(&mut random))));
    let mut drawn: Vec<f64> = drawn.collect();
    drawn.sort_by(f64::total_cmp);
    assert_eq!(measured[0], setup.program.default().unwrap());
    // Of the next two, one is drawn at random.
    let few = measured[1..3].iter().filter(|own| cycles(own) < drawn[5]);
    assert!(few.count() >= 1, "{measured:?}");
}

/// Checks: the model's choice is measured though it is left out, and the search begins next to it.
#[test]
fn what_is_fixed_begins_near_the_models_choice() {
    let setup = Setup::new();
    let (tuned, measured) = setup.run("--fix lanes=none --evaluations 3");
    let default = setup.program.default().unwrap();
    assert_eq!(measured[0], default);
    assert_eq!(tuned.default().unwrap().configuration, default);
    let near = &measured[1];
    let differ = near
        .pairs()
        .filter(|(name, own)| default.get(name) != Some(own));
    let differ: Vec<(&str, &Value)> = differ.collect();
    assert_eq!(differ, [("lanes", &Value::from("none"))]);
    assert_eq!(tuned.evaluations[1].technique, "model");
    let best = tuned.best().unwrap();
    assert_eq!(best.configuration.get("lanes"), Some(&Value::from("none")));
    // What was measured is not measured again, but for the default: the machine may have another pace.
    let (again, measured) = setup.run("--fix lanes=none --evaluations 1");
    assert_eq!(again.default().unwrap().configuration, default);
    assert_eq!(again.evaluations[again.resumed].technique, "pace");
    assert_eq!(measured[0], default);
    assert_ne!(measured[1], default);
}

/// Checks: the model's choice is a configuration, also where it has parts that no other choice would.
#[test]
fn the_models_choice_is_in_the_space() {
    let mut setup = Setup::new();
    let context = context::program_context();
    // A block of the model's has more parts than there are registers.
    let rows = "\
func.func @f(%x: tensor<4100x4100xf32>, %w: tensor<5x5xf32>, %init: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %y = mdh.compute (p = 4096, q = 4096, r = 5, s = 5)
    out_view(y = %init[p, q] : tensor<4096x4096xf32>)
    md_hom(mulf, (cc, cc, pw(addf), pw(addf)))
    inp_view(x = %x[p + r, q + s] : tensor<4100x4100xf32>, w = %w[r, s] : tensor<5x5xf32>)
  return %y : tensor<4096x4096xf32>
}
";
    let source = Source::from_text("f.mlir", rows);
    let asm = Asm::builtin("cpu").unwrap();
    setup.program =
        SearchedProgram::read(&context, &source, None, &asm, SearchedParts::Model).unwrap();
    let program = &setup.program;
    let default = program.default().unwrap();
    assert_eq!(Some(&default), program.nearest_to_default().as_ref());
    assert!(program.space(&[]).unwrap().find(&default).is_some());
    assert_eq!(program.written(&default), program.model());
}

/// Checks: trees know most rules of the workloads that the tuner is measured with.
#[test]
fn filters_reject_little() {
    mdh_passes::register_all();
    let context = context::program_context();
    let asm = Asm::builtin("cpu").unwrap();
    let names = [
        "matmul/1024x1024x1024",
        "matmul/16x1000x2048",
        "matvec/4096x4096",
        "conv2d/4096x4096x5x5",
        "mcc/resnet50-1",
        "ccsdt/gdab-efgc",
        "jacobi3d/256",
        "softmax/4096x4096",
        "prl/1024x32768",
        "scan/16777216",
    ];
    let names = names.map(str::to_string);
    let cases = workloads::select(workloads::all(Scale::Full).unwrap(), &names).unwrap();
    assert_eq!(cases.len(), names.len());
    for case in &cases {
        let source = Source::from_text("f.mlir", &case.program().unwrap());
        let program =
            SearchedProgram::read(&context, &source, None, &asm, SearchedParts::Model).unwrap();
        let mut random = Pcg64Mcg::seed_from_u64(1);
        let space = program.space(&[]).unwrap();
        let share = space.rejection_share(200, &mut random);
        println!("{}: {:.0} %", case.name(), share * 100.0);
        let why = |_| {
            let drawn = space.configuration(&space.sample(&mut random));
            program
                .fitting(&drawn)
                .is_none()
                .then(|| program.misfit(&drawn))
        };
        let why: Vec<String> = (0..100).filter_map(why).collect();
        assert!(share < 0.2, "{}: {share}: {why:#?}", case.name());
    }
}

/// Checks: what the model chooses for most workloads is a configuration, too.
#[test]
fn choices_for_workloads_are_in_their_spaces() {
    mdh_passes::register_all();
    let context = context::program_context();
    let asm = Asm::builtin("cpu").unwrap();
    let cases = workloads::all(Scale::Full).unwrap();
    let mut outside = Vec::new();
    for case in &cases {
        let source = Source::from_text("f.mlir", &case.program().unwrap());
        let program =
            SearchedProgram::read(&context, &source, None, &asm, SearchedParts::Model).unwrap();
        if program.default() != program.nearest_to_default() {
            outside.push(case.name());
        }
    }
    println!("{} of {}: {outside:?}", outside.len(), cases.len());
    assert!(5 * outside.len() <= cases.len(), "{outside:?}");
}

/// Checks: on processors and GPUs there are more configurations, most of which keep all rules; and the program is
/// the same.
#[test]
fn all_parts_are_more_configurations() {
    mdh_passes::register_all();
    let context = context::program_context();
    let text = include_str!("../../../examples/matmul.mlir");
    let source = Source::from_text("matmul.mlir", text);
    for asm in [
        Asm::builtin("cpu").unwrap(),
        Gpu::named("h100").unwrap().asm(),
    ] {
        let read = |parts| SearchedProgram::read(&context, &source, None, &asm, parts).unwrap();
        let (few, all) = (read(SearchedParts::Model), read(SearchedParts::All));
        assert_eq!(few.digest, all.digest);
        let (few, all) = (few.space(&[]).unwrap(), all.space(&[]).unwrap());
        assert!(
            all.size() > 4.0 * few.size(),
            "{} {}",
            all.size(),
            few.size()
        );
        let mut random = Pcg64Mcg::seed_from_u64(1);
        let share = all.rejection_share(300, &mut random);
        assert!(share < 0.2, "{share} of {} is rejected", asm.name);
    }
}
