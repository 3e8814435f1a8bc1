//! Chains in the spaces of programs.

use mdh_bench::workloads::{self, Scale};
use mdh_compiler::compile;
use mdh_compiler::formed::Formed;
use mdh_compiler::select::function;
use mdh_compiler::source::Source;
use mdh_dialect::{context, schedule};
use mdh_passes::pipelines::Target;
use mdh_passes::register;
use mdh_tuner::space::Space;
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

use super::*;
use crate::program::Program;

/// Each row over its sum.
const ROWS: &str = "\
func.func @rows(%x: tensor<64x96xf32>) -> tensor<64x96xf32> {
  %s_init = tensor.empty() : tensor<64xf32>
  %y_init = tensor.empty() : tensor<64x96xf32>
  %s = mdh.compute (i = 64, j = 96)
    out_view(s = %s_init[i] : tensor<64xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, j] : tensor<64x96xf32>)
  %y = mdh.compute (i = 64, j = 96)
    out_view(y = %y_init[i, j] : tensor<64x96xf32>)
    md_hom(divf, (cc, cc))
    inp_view(x = %x[i, j] : tensor<64x96xf32>, s = %s[i] : tensor<64xf32>)
  return %y : tensor<64x96xf32>
}
";

fn program(text: &str) -> Program {
    register::all();
    let context = context::program_context();
    let source = Source::from_text("f.mlir", text);
    let asm = mdh_machine::this().unwrap();
    Program::read(&context, &source, None, &asm).unwrap()
}

fn workload(name: &str) -> String {
    let cases = workloads::all(Scale::Full).unwrap();
    let case = cases.iter().find(|case| case.name().starts_with(name));
    case.unwrap().program().unwrap()
}

fn drawn(space: &Space, count: usize) -> Vec<Configuration> {
    let mut random = Pcg64Mcg::seed_from_u64(1);
    let draw = |_| space.configuration(&space.sample(&mut random));
    (0..count).map(draw).collect()
}

fn is_fused(configuration: &Configuration) -> bool {
    let mut pairs = configuration.pairs();
    pairs.any(|(name, value)| name.ends_with("compute_at") && value.to_string() != ALONE)
}

/// Checks: there is code for what passes the filters, with these schedules on the program itself.
fn expect_code(text: &str, program: &Program, space: &Space, count: usize) {
    let context = context::program_context();
    let formed = Formed::of(&context, &Source::from_text("f.mlir", text), None).unwrap();
    let mut fused = 0;
    for configuration in drawn(space, count) {
        if !is_fused(&configuration) || !space.admits(&configuration).unwrap() {
            continue;
        }
        fused += 1;
        let mut module = compile::copy(&formed.module);
        let own = function(compile::operation(&module), &formed.function).unwrap();
        let schedules = program.fitting(&configuration).expect("it is admitted");
        for (n, op) in schedule::computations(own).into_iter().enumerate() {
            schedule::set(op, schedules.computations.get(&n.to_string()));
        }
        let passes = compile::line(Target::Cpu).between(compile::RAISED, "loops");
        let lowered = compile::run_all(&context, &mut module, &passes);
        assert!(lowered.is_ok(), "{configuration}");
        assert_eq!(
            program.nearest(&schedules).unwrap().pairs().count(),
            configuration.pairs().count()
        );
    }
    assert!(fused > 4, "{fused} of {count}");
}

#[test]
fn a_chain_has_the_loops_of_its_end() {
    let program = program(ROWS);
    let space = program.space(&[]).unwrap();
    let all = drawn(&space, 200);
    let value = |own: &Configuration| own.get("s/compute_at").unwrap().to_string();
    let mut values: Vec<String> = all.iter().map(value).collect();
    values.sort();
    values.dedup();
    let has = |text: &str| values.iter().any(|value| value == text);
    assert!(has("alone") && has("y/core.i"), "{values:?}");
    assert!(has("y/L3.i") || has("y/main.i"), "{values:?}");
    // A sum of a row is needed in all parts of `j`.
    assert!(
        !values.iter().any(|value| value.ends_with(".j")),
        "{values:?}"
    );
    assert!(all.iter().all(|own| own.get("y/compute_at").is_none()));
    // It leaves cores to what it is computed in.
    let fused = all.iter().filter(|own| is_fused(own));
    assert!(fused.clone().count() > 10);
    for own in fused {
        assert_eq!(own.get("s/cores.i"), Some(&1.into()), "{own}");
        assert_eq!(own.get("y/cores.j"), Some(&1.into()), "{own}");
    }
    expect_code(ROWS, &program, &space, 100);
}

/// Checks: the lowering answers of the computations that are needed, and says it where it finds others than
/// those of the program: a bug.
#[test]
fn the_lowering_has_the_computations() {
    let text = ROWS.replacen(
        "  return",
        "  %z = mdh.compute (i = 64, j = 96)
    out_view(z = %y_init[i, j] : tensor<64x96xf32>)
    md_hom(divf, (cc, cc))
    inp_view(x = %x[i, j] : tensor<64x96xf32>, s = %s[i] : tensor<64xf32>)
  return",
        1,
    );
    let program = program(&text);
    program.expect_chains().unwrap();
    let schedule = Schedule::default();
    let formed = |computations: Vec<(usize, Schedule)>| FormedText {
        text: ROWS.into(),
        asm: mdh_machine::this().unwrap(),
        computations,
    };
    let ask = |text: FormedText| Lowering::start(text).objections(vec![schedule.clone()]);
    let wrong = ask(formed(vec![(7, schedule.clone())])).unwrap_err();
    assert!(wrong.contains("finds too few computations"), "{wrong}");
    let broken = FormedText {
        text: "func.func".into(),
        ..formed(vec![])
    };
    assert!(ask(broken).unwrap_err().contains("reads no program"));
}

/// Checks: who only looks for what was tuned does not pay for chains.
#[test]
fn chains_are_made_where_they_are_asked_for() {
    register::all();
    let context = context::program_context();
    let source = Source::from_text("f.mlir", ROWS);
    let formed = Formed::of(&context, &source, None).unwrap();
    let own = function(compile::operation(&formed.module), &formed.function).unwrap();
    let (computations, asm) = (schedule::computations(own), mdh_machine::this().unwrap());
    let parameters = |program: &Program| program.default().unwrap().pairs().count();
    let alone = Program::of(&computations, &asm).unwrap();
    let before = parameters(&alone);
    let chained = alone.with_chains(&computations, &asm).unwrap();
    assert_eq!(parameters(&chained), before + 1);
}

/// Checks: what is written down by hand, or was found before, leads back to its loop.
#[test]
fn schedules_of_chains_lead_back() {
    let program = program(ROWS);
    let space = program.space(&[]).unwrap();
    let mut found = drawn(&space, 40).into_iter();
    let is_good = |own: &Configuration| is_fused(own) && program.fitting(own).is_some();
    let own = found.find(is_good).unwrap();
    let schedules = program.schedules(&own).unwrap();
    assert!(schedules.computations["0"].compute_at.is_some());
    let nearest = program.nearest(&schedules).unwrap();
    assert_eq!(nearest.get("s/compute_at"), own.get("s/compute_at"));
    let alone = own.pairs().map(|(name, value)| match name {
        "s/compute_at" => (name, "y/core.q".into()),
        _ => (name, value.clone()),
    });
    assert_eq!(program.fitting(&Configuration::of(alone)), None);
}

/// Checks: the search begins with the loops that the model chooses; the trees know most of what there
/// is code for.
#[test]
fn chains_of_workloads() {
    for (name, fuses) in [("softmax/4096", true), ("mlp", false), ("attention", false)] {
        let text = workload(name);
        let program = program(&text);
        let space = program.space(&[]).unwrap();
        let default = program.default().unwrap();
        assert!(!fuses || is_fused(&default), "{default}");
        assert!(!fuses || space.find(&default).is_ok(), "{default}");
        let mut random = Pcg64Mcg::seed_from_u64(2);
        let all = space.rejection_share(100, &mut random).unwrap();
        let fused = drawn(&space, 100)
            .iter()
            .filter(|own| is_fused(own))
            .count();
        println!(
            "{name}: {:.0} % rejected, {fused} of 100 with chains",
            all * 100.0
        );
        assert!(all < 0.2, "{name}: {all}");
    }
}
