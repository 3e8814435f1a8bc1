//! Bound of a histogram: its values are read once, and each of them updates a bin.

use mdh_algebra::amounts::{bytes, count};
use mdh_algebra::computation::Computation;
use mdh_dialect::ir::Op;
use mdh_passes::simplify::lower_histograms::plan::{HistogramPlan, plan};
use mdh_schedule::MIN_GRAIN;
use mdh_schedule::asm::Asm;
use mdh_schedule::rates::RATES;

use super::work::wanted;

/// Describes the choice for it, and its bound.
pub fn text(op: Op, computation: &Computation, asm: &Asm) -> String {
    let core = asm.layer("core").and_then(|layer| layer.core());
    let cores = core.and_then(|core| core.count).unwrap_or(1);
    let Some(plan) = plan(op, i64::try_from(cores).unwrap_or(i64::MAX), MIN_GRAIN) else {
        return String::new();
    };
    let reasons: String = (plan.reasons.iter())
        .map(|reason| format!("    - {reason}\n"))
        .collect();
    let head = "  schedule: none, a histogram: the model has no choice of loops\n";
    head.to_string() + &reasons + &bound(&plan, cores, computation)
}

fn bound(plan: &HistogramPlan, cores: u64, computation: &Computation) -> String {
    let dimensions = computation.dimensions.iter().enumerate();
    let counts = dimensions.filter(|(d, _)| *d != plan.bins);
    let values: Option<Vec<f64>> = counts.map(|(_, d)| Some(d.count()? as f64)).collect();
    let values = values.filter(|_| computation.grids().is_some());
    let main = RATES.iter().find(|rate| rate.memory == "main");
    let (Some(values), Some(main)) = (values, main) else {
        return format!(
            "  bound: not known before the sizes are{}\n",
            wanted(computation)
        );
    };
    let updates: f64 = values.iter().product();
    let used = plan.cores.map_or(cores as f64, |n| n as f64);
    let (updating, moved) = (updates / used, computation.bytes());
    let moving = moved / (main.of_a_core(used) * used);
    let most = match updating > moving {
        true => "updating bins",
        false => "moving from main",
    };
    format!(
        "  cycles: updating bins {}, moving from main {}\n  bound by {most} (at usual rates in a \
         cycle: {} updates, one a core and cycle; {} at {:.0} bytes from main for all cores)\n",
        count(updating.ceil()),
        count(moving.ceil()),
        count(updates),
        bytes(moved),
        main.bytes
    )
}
