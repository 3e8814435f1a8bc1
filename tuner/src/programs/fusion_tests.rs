//! Chains in the spaces of programs.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use mdh_bench::workloads::{self, Scale};
use mdh_compiler::compile;
use mdh_compiler::formed::Formed;
use mdh_compiler::select::function;
use mdh_compiler::source::Source;
use mdh_dialect::{context, schedule, types};
use mdh_passes::pipelines::Target;
use mdh_schedule::SearchedParts;
use melior::Context;
use melior::ir::{Module, ValueLike};
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

use super::*;
use crate::abort_condition::Abort;
use crate::measure::{Computed, Outcome};
use crate::programs::program::SearchedProgram;
use crate::space::Space;
use crate::technique::named;
use crate::tune::{Tuning, tune};

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

/// Sums of sums of sums, each of which a part of the next needs in parts.
const NESTED: &str = "\
func.func @nested(%x: tensor<512x256x8xf32>, %z: tensor<512x16xf32>) -> tensor<512x16xf32> {
  %a_init = tensor.empty() : tensor<512x256xf32>
  %b_init = tensor.empty() : tensor<512xf32>
  %c_init = tensor.empty() : tensor<512x16xf32>
  %a = mdh.compute (i = 512, j = 256, k = 8)
    out_view(a = %a_init[i, j] : tensor<512x256xf32>)
    md_hom(id, (cc, cc, pw(addf)))
    inp_view(x = %x[i, j, k] : tensor<512x256x8xf32>)
  %b = mdh.compute (i = 512, j = 256)
    out_view(b = %b_init[i] : tensor<512xf32>)
    md_hom(mulf, (cc, pw(addf)))
    inp_view(a = %a[i, j][i, j] : tensor<512x256xf32>)
  %c = mdh.compute (i = 512, m = 16)
    out_view(c = %c_init[i, m] : tensor<512x16xf32>)
    md_hom(mulf, (cc, cc))
    inp_view(b = %b[i] : tensor<512xf32>, z = %z[i, m] : tensor<512x16xf32>)
  return %c : tensor<512x16xf32>
}
";

/// A sum that is read behind its consumer, too, and is a result.
const KEPT: &str = "\
func.func @kept(%x: tensor<64x96xf32>) -> (tensor<64xf32>, tensor<64x96xf32>, tensor<64xf32>) {
  %s_init = tensor.empty() : tensor<64xf32>
  %y_init = tensor.empty() : tensor<64x96xf32>
  %z_init = tensor.empty() : tensor<64xf32>
  %s = mdh.compute (i = 64, j = 96)
    out_view(s = %s_init[i] : tensor<64xf32>)
    md_hom(id, (cc, pw(addf)))
    inp_view(x = %x[i, j] : tensor<64x96xf32>)
  %y = mdh.compute (i = 64, j = 96)
    out_view(y = %y_init[i, j] : tensor<64x96xf32>)
    md_hom(divf, (cc, cc))
    inp_view(x = %x[i, j] : tensor<64x96xf32>, s = %s[i] : tensor<64xf32>)
  %z = mdh.compute (i = 64, j = 96)
    out_view(z = %z_init[i] : tensor<64xf32>)
    md_hom(addf, (cc, pw(maximumf)))
    inp_view(s = %s[i] : tensor<64xf32>, y = %y[i, j] : tensor<64x96xf32>)
  return %s, %y, %z : tensor<64xf32>, tensor<64x96xf32>, tensor<64xf32>
}
";

fn program(text: &str) -> SearchedProgram {
    mdh_passes::register_all();
    let context = context::program_context();
    let source = Source::from_text("f.mlir", text);
    let asm = mdh_machine::this().unwrap();
    SearchedProgram::read(&context, &source, None, &asm, SearchedParts::Model).unwrap()
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

/// The value of a computation's parameter.
fn at(configuration: &Configuration, name: &str) -> String {
    let value = configuration.get(&format!("{name}/compute_at"));
    value.map_or(ALONE.into(), Value::to_string)
}

/// The values of one among configurations.
fn places(all: &[Configuration], name: &str) -> Vec<String> {
    let mut values: Vec<String> = all.iter().map(|own| at(own, name)).collect();
    values.sort();
    values.dedup();
    values
}

/// The loops of a program with the schedules of a configuration.
fn loops_of<'c>(
    formed: &Formed<'c>,
    context: &'c Context,
    program: &SearchedProgram,
    configuration: &Configuration,
) -> Option<Module<'c>> {
    let mut module = compile::copy(&formed.module);
    let func = function(compile::operation(&module), &formed.function).unwrap();
    let schedules = program.schedules(configuration).unwrap();
    for (n, op) in schedule::computations(func).into_iter().enumerate() {
        schedule::set(op, schedules.computations.get(&n.to_string()));
    }
    let passes = compile::line(Target::Cpu).between(compile::RAISED, "loops");
    compile::run_all(&mdh_machine::this().unwrap(), context, &mut module, &passes).ok()?;
    Some(module)
}

/// Checks: there is code for what passes the filters, with these schedules on the program itself, and what
/// these are for leads back. The configurations that compute some in loops of others.
fn expect_code(
    text: &str,
    program: &SearchedProgram,
    space: &Space,
    count: usize,
) -> Vec<Configuration> {
    let context = context::program_context();
    let formed = Formed::new(&context, &Source::from_text("f.mlir", text), None).unwrap();
    let mut fused = Vec::new();
    for configuration in drawn(space, count) {
        if !is_fused(&configuration) || !space.admits(&configuration) {
            continue;
        }
        let lowered = loops_of(&formed, &context, program, &configuration);
        assert!(lowered.is_some(), "{configuration}");
        let schedules = program.schedules(&configuration).unwrap();
        let nearest = program.nearest(&schedules).unwrap();
        let is_place = |name: &str| name.ends_with("compute_at");
        for (name, value) in configuration.pairs().filter(|(name, _)| is_place(name)) {
            assert_eq!(nearest.get(name), Some(value), "{configuration}");
        }
        fused.push(configuration);
    }
    assert!(fused.len() > 4, "{} of {count}", fused.len());
    fused
}

#[test]
fn a_chain_has_the_loops_of_its_end() {
    let program = program(ROWS);
    let space = program.space(&[]).unwrap();
    let configs = drawn(&space, 200);
    let value = |config: &Configuration| config.get("s/compute_at").unwrap().to_string();
    let mut values: Vec<String> = configs.iter().map(value).collect();
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
    assert!(
        configs
            .iter()
            .all(|config| config.get("y/compute_at").is_none())
    );
    // It leaves cores to what it is computed in.
    let fused = configs.iter().filter(|config| is_fused(config));
    assert!(fused.clone().count() > 10);
    for config in fused {
        assert_eq!(config.get("s/cores.i"), Some(&1.into()), "{config}");
        assert_eq!(config.get("y/cores.j"), Some(&1.into()), "{config}");
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
        stage: compile::RAISED,
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
    mdh_passes::register_all();
    let context = context::program_context();
    let source = Source::from_text("f.mlir", ROWS);
    let formed = Formed::new(&context, &source, None).unwrap();
    let func = function(compile::operation(&formed.module), &formed.function).unwrap();
    let (computations, asm) = (schedule::computations(func), mdh_machine::this().unwrap());
    let parameters =
        |program: &SearchedProgram| program.nearest_to_default().unwrap().pairs().count();
    let alone = SearchedProgram::new(&computations, &asm, SearchedParts::Model).unwrap();
    let before = parameters(&alone);
    let chained = alone.with_chains(&computations, &asm).unwrap();
    assert_eq!(parameters(&chained), before + 1);
}

/// Checks: what is written down by hand, or was found before, leads back to its loop.
#[test]
fn schedules_of_chains_lead_back() {
    let program = program(ROWS);
    let space = program.space(&[]).unwrap();
    let mut candidates = drawn(&space, 40).into_iter();
    let is_good = |config: &Configuration| is_fused(config) && program.fitting(config).is_some();
    let config = candidates.find(is_good).unwrap();
    let schedules = program.schedules(&config).unwrap();
    assert!(schedules.computations["0"].compute_at.is_some());
    let nearest = program.nearest(&schedules).unwrap();
    assert_eq!(nearest.get("s/compute_at"), config.get("s/compute_at"));
    let alone = config.pairs().map(|(name, value)| match name {
        "s/compute_at" => (name, "y/core.q".into()),
        _ => (name, value.clone()),
    });
    assert_eq!(program.fitting(&Configuration::from_pairs(alone)), None);
}

/// Checks: the search begins with the loops that the model chooses; the trees know most of what there
/// is code for.
#[test]
fn chains_of_workloads() {
    for (name, fuses) in [("softmax/4096", true), ("mlp", false), ("attention", false)] {
        let text = workload(name);
        let program = program(&text);
        let space = program.space(&[]).unwrap();
        let default = program.nearest_to_default().unwrap();
        assert!(!fuses || is_fused(&default), "{default}");
        assert!(!fuses || space.find(&default).is_some(), "{default}");
        let mut random = Pcg64Mcg::seed_from_u64(2);
        let rejected = space.rejection_share(100, &mut random);
        let fused = drawn(&space, 100)
            .iter()
            .filter(|config| is_fused(config))
            .count();
        println!(
            "{name}: {:.0} % rejected, {fused} of 100 with chains",
            rejected * 100.0
        );
        assert!(rejected < 0.2, "{name}: {rejected}");
    }
}

/// Checks: what is computed in loops of a computation that is computed in loops of another one.
#[test]
fn chains_are_nested() {
    let program = program(NESTED);
    let space = program.space(&[]).unwrap();
    let configs = expect_code(NESTED, &program, &space, 100);
    let values = places(&configs, "a");
    // A sum that is cut has a loop, as have cores that share it.
    for place in ["b/L3.i", "b/L2.i", "b/main.j", "c/core.i", "c/L3.i"] {
        assert!(values.iter().any(|v| v == place), "{place}: {values:?}");
    }
    let is_nested =
        |config: &&Configuration| at(config, "a").starts_with("b/") && at(config, "b") != ALONE;
    let nested: Vec<_> = configs.iter().filter(is_nested).collect();
    assert!(nested.len() > 2, "{}", nested.len());
    for config in nested {
        let cores = |name: &str| config.get(&format!("{name}/cores.i")).cloned();
        assert_eq!(
            (cores("a"), cores("b")),
            (Some(1.into()), Some(1.into())),
            "{config}"
        );
        let of_root = program.fusion.as_ref().unwrap().cores(0, config);
        let shared = config
            .pairs()
            .filter(|(name, _)| name.starts_with("c/cores."));
        let shared: f64 = shared.map(|(_, n)| n.integer().unwrap() as f64).product();
        assert_eq!(of_root, Some(shared), "{config}");
    }
    // Where it is computed in one whose consumer is alone, that need not be in anything.
    let is_first =
        |config: &Configuration| at(config, "a").starts_with("b/") && at(config, "b") == ALONE;
    assert!(configs.iter().any(is_first));
}

/// Checks: what others read behind a consumer, too, is computed in its loops once, and in no loop of a loop.
#[test]
fn results_that_are_kept_have_consumers() {
    let program = program(KEPT);
    let space = program.space(&[]).unwrap();
    let configs = drawn(&space, 400);
    assert!(places(&configs, "s").iter().any(|v| v == "y/core.i"));
    assert!(places(&configs, "s").iter().any(|v| v == "z/core.i"));
    assert!(places(&configs, "y").iter().any(|v| v == "z/core.i"));
    for config in &configs {
        let (s, y) = (at(config, "s"), at(config, "y"));
        assert!(!s.starts_with("y/") || y == ALONE, "{config}");
        assert!(!s.starts_with("z/") || y.starts_with("z/"), "{config}");
    }
    expect_code(KEPT, &program, &space, 100);
    // Parts that overlap would compute some of it several times.
    let overlapping = KEPT.replace(
        "i = 64, j = 96)\n    out_view(y",
        "i = 63, j = 96)\n    out_view(y",
    );
    let overlapping = overlapping.replace(
        "s = %s[i] : tensor<64xf32>)\n  %z",
        "s = %s[i + 1] : tensor<64xf32>)\n  %z",
    );
    let space = self::program(&overlapping).space(&[]).unwrap();
    let configs = drawn(&space, 200);
    assert!(places(&configs, "s").iter().all(|v| !v.starts_with("y/")));
}

/// Checks: of the filters that ask the lowering, few reject anything.
#[test]
fn few_chains_are_rejected() {
    for (name, text) in [("rows", ROWS), ("nested", NESTED), ("kept", KEPT)] {
        let space = program(text).space(&[]).unwrap();
        let mut random = Pcg64Mcg::seed_from_u64(3);
        let share = space.rejection_share(300, &mut random);
        println!(
            "{name}: {:.0} % rejected of {} nodes",
            share * 100.0,
            space.nodes()
        );
        assert!(share < 0.2, "{name}: {share}");
    }
}

/// Checks: trees count as what they allow, which is less than all values of all knobs.
#[test]
fn chains_of_products_are_searched_as_a_whole() {
    let product = |out: &str, (left, right): (&str, &str)| {
        format!(
            "  %{out} = mdh.compute (i = 96, j = 96, k = 96)
    out_view({out} = %{out}_init[i, j] : tensor<96x96xf32>)
    md_hom(mulf, (cc, cc, pw(addf)))
    inp_view({left} = %{left}[i, k] : tensor<96x96xf32>, {right} = %{right}[k, j] : tensor<96x96xf32>)
"
        )
    };
    let chain = [("a", ("x", "u")), ("b", ("a", "v")), ("c", ("b", "w"))];
    let inits =
        chain.map(|(out, _)| format!("  %{out}_init = tensor.empty() : tensor<96x96xf32>\n"));
    let products = chain.map(|(out, of)| product(out, of));
    let arguments = ["x", "u", "v", "w"].map(|name| format!("%{name}: tensor<96x96xf32>"));
    let text = format!(
        "func.func @f({}) -> tensor<96x96xf32> {{\n{}{}  return %c : tensor<96x96xf32>\n}}\n",
        arguments.join(", "),
        inits.concat(),
        products.concat()
    );
    let program = program(&text);
    let most: f64 = program
        .searched
        .iter()
        .map(|one| {
            let values = one
                .space
                .knobs()
                .iter()
                .map(|knob| knob.values.len() as f64);
            values.map(f64::log2).sum::<f64>()
        })
        .sum();
    let known: f64 = program
        .searched
        .iter()
        .map(|one| one.alone().unwrap().size().log2())
        .sum();
    assert!(known < BITS && BITS < most, "{known} and {most}");
    let values = program.fusion.as_ref().unwrap().values(0);
    assert!(values.iter().any(|own| own == "c/L3.i"), "{values:?}");
    let space = program.space(&[]).unwrap();
    let share = space.rejection_share(100, &mut Pcg64Mcg::seed_from_u64(3));
    println!("{:.0} % rejected of {} nodes", share * 100.0, space.nodes());
    assert!(share < 0.2, "{share}");
}

/// Bytes of memory that loops allocate.
fn allocated(module: &Module) -> f64 {
    let allocations = ir::find_all(compile::operation(module), &[ops::memref::ALLOC]);
    let bytes = |op: Op| {
        let ty = types::buffer_type(ir::result(op, 0).unwrap().r#type()).unwrap();
        let extents = ty.shape.iter().map(|n| n.unwrap_or(1) as f64);
        extents.product::<f64>() * ty.element.byte_width() as f64
    };
    allocations.into_iter().map(bytes).sum()
}

/// Checks: a search finds a nested chain where that leaves the least to write and read again.
#[test]
fn a_search_nests_chains() {
    let program = program(NESTED);
    let context = context::program_context();
    let formed = Formed::new(&context, &Source::from_text("f.mlir", NESTED), None).unwrap();
    let space = program.space(&[]).unwrap();
    let cost = |config: &Configuration| {
        let lowered = loops_of(&formed, &context, &program, config);
        Outcome::of_cost(allocated(&lowered.expect("it is admitted")))
    };
    let tuned = tune(Tuning {
        space: &space,
        technique: &mut *named("auto", 1).unwrap(),
        measure: &mut Computed::new(1, cost),
        abort: &Abort::Evaluations(150),
        clock: &Instant::now(),
        interrupted: &AtomicBool::new(false),
        seeds: Vec::new(),
        resumed: Vec::new(),
        model: None,
        confidence: 0.95,
        confirmations: 0,
        pace: None,
        keep: &mut (),
        watch: &mut (),
    });
    let tuned = tuned.unwrap();
    let best = &tuned.best().unwrap().configuration;
    assert!(at(best, "a").starts_with("b/"), "{best}");
    assert!(at(best, "b").starts_with("c/"), "{best}");
    let least = |is_it: &dyn Fn(&Configuration) -> bool| {
        let matching = tuned.evaluations.iter().filter(|e| is_it(&e.configuration));
        matching
            .filter_map(|e| e.outcome.cost())
            .fold(f64::INFINITY, f64::min)
    };
    let nested = least(&|config| config == best);
    let alone = least(&|config| !is_fused(config));
    assert!(nested * 4.0 < alone, "{nested} and {alone} bytes");
}
