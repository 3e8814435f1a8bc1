//! Times that a GPU took for schedules, beside the estimates.

use mdh_bench::workloads::{self, Case, Scale};
use mdh_compiler::source::Source;
use mdh_schedule::{Schedules, SearchedParts};
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use serde::Deserialize;

use super::*;
use crate::programs::options::Fix;

/// The most times of the best recorded schedule that the one with the least estimate may take: for all
/// programs, and for all but one of them.
const WORST: f64 = 1.6;
const ALMOST_ALL: f64 = 1.25;
/// The least rank correlation of estimates and times, on average of programs with more than a few schedules.
const CORRELATION: f64 = 0.6;
const FEW: usize = 5;
/// The same for schedules that the estimate was not fitted to, and the geometric mean.
const LATER_WORST: f64 = 1.75;
const LATER_MEAN: f64 = 1.35;

#[derive(Deserialize)]
struct Recorded {
    gpu: String,
    programs: Vec<Measured>,
}

#[derive(Deserialize)]
struct Measured {
    name: String,
    candidates: Vec<One>,
}

#[derive(Deserialize)]
struct One {
    ms: f64,
    #[serde(flatten)]
    schedules: Schedules,
}

/// Times and estimates of the recorded schedules of a program.
fn compared(measured: &Measured, gpu: &Gpu) -> Vec<(f64, f64)> {
    let arguments = TuneArguments::from_words(["tune", &measured.name]);
    let task = &crate::programs::tasks(&measured.name, &arguments).unwrap()[0];
    let context = context::program_context();
    let source = Source::from_text(&task.name, &task.program);
    let program =
        SearchedProgram::read(&context, &source, None, &gpu.asm(), SearchedParts::Model).unwrap();
    let estimate = |one: &One| {
        let seconds = program.estimate_of(&one.schedules, gpu);
        (one.ms, 1e3 * seconds.expect("an estimate"))
    };
    measured.candidates.iter().map(estimate).collect()
}

/// Spearman's rank correlation of pairs.
fn correlation(pairs: &[(f64, f64)]) -> f64 {
    let ranks = |of: &dyn Fn(usize) -> f64| {
        let mut order: Vec<usize> = (0..pairs.len()).collect();
        order.sort_by(|a, b| of(*a).total_cmp(&of(*b)));
        let mut ranks = vec![0.0; pairs.len()];
        for (rank, n) in order.into_iter().enumerate() {
            ranks[n] = rank as f64;
        }
        ranks
    };
    let (times, estimates) = (ranks(&|n| pairs[n].0), ranks(&|n| pairs[n].1));
    let squares = times.iter().zip(&estimates).map(|(a, b)| (a - b) * (a - b));
    let n = pairs.len() as f64;
    1.0 - 6.0 * squares.sum::<f64>() / (n * (n * n - 1.0))
}

/// For each program of a file, how many times of its best schedule the one with the least estimate takes, and
/// the rank correlation of estimates and times; and both in words.
fn first_choices(text: &str) -> (Vec<f64>, Vec<f64>, String) {
    let recorded: Recorded = serde_json::from_str(text).unwrap();
    assert_eq!(recorded.gpu, "NVIDIA H100 80GB HBM3");
    let gpu = Gpu::named("h100").unwrap();
    mdh_passes::register_all();
    let (mut ratios, mut correlations, mut said) = (Vec::new(), Vec::new(), String::new());
    for measured in &recorded.programs {
        let pairs = compared(measured, &gpu);
        let best = pairs.iter().map(|one| one.0).fold(f64::INFINITY, f64::min);
        let first = pairs.iter().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
        ratios.push(first.0 / best);
        if pairs.len() >= FEW {
            correlations.push(correlation(&pairs));
        }
        said += &format!(
            "{}: {:.2} of the best, correlation {:.2}\n",
            measured.name,
            first.0 / best,
            correlation(&pairs)
        );
    }
    ratios.sort_by(f64::total_cmp);
    (ratios, correlations, said)
}

#[test]
fn the_least_estimate_of_what_was_measured_is_good() {
    let (ratios, correlations, said) = first_choices(include_str!("../../measured/h100.json"));
    assert!(ratios[ratios.len() - 1] <= WORST, "{said}");
    assert!(ratios[ratios.len() - 2] <= ALMOST_ALL, "{said}");
    let mean = correlations.iter().sum::<f64>() / correlations.len() as f64;
    assert!(mean >= CORRELATION, "{mean:.2}:\n{said}");
}

/// Schedules that were measured after the estimate was fitted to the others: those that it likes best.
#[test]
fn the_least_estimate_of_others_is_no_bad_choice() {
    let (ratios, _, said) = first_choices(include_str!("../../measured/h100-later.json"));
    let mean = ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64;
    assert!(ratios[ratios.len() - 1] <= LATER_WORST, "{said}");
    assert!(mean.exp() <= LATER_MEAN, "{:.2}:\n{said}", mean.exp());
}

/// The program of a workload.
fn program_of(case: &Case, gpu: &Gpu) -> SearchedProgram {
    let context = context::program_context();
    let source = Source::from_text(&case.name(), &case.program().unwrap());
    SearchedProgram::read(&context, &source, None, &gpu.asm(), SearchedParts::Model).unwrap()
}

/// Checks: the trees know the rules, of every workload at one size, so that little of what is proposed is rejected,
/// of no shape.
#[test]
fn few_configurations_break_rules() {
    mdh_passes::register_all();
    let gpu = Gpu::named("h100").unwrap();
    let mut cases = workloads::all(Scale::Full).unwrap();
    cases.dedup_by_key(|case| case.workload.clone());
    for case in cases {
        let program = program_of(&case, &gpu);
        if program.nothing().is_some() {
            continue;
        }
        let space = program.space(&[]).unwrap();
        let mut random = Pcg64Mcg::seed_from_u64(1);
        let mut shares = vec![space.rejection_share(200, &mut random)];
        for value in ["points", "products", "rows"] {
            let shape = Fix {
                name: "shape".into(),
                value: Some(value.to_string()),
            };
            if let Ok(space) = program.space(&[shape]) {
                shares.push(space.rejection_share(200, &mut random));
            }
        }
        assert!(
            shares.iter().all(|share| *share < 0.2),
            "{}: {shares:.3?}",
            case.name()
        );
    }
}
