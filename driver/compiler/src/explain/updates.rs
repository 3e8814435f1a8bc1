//! Cost of a histogram: its values are read once, and each of them updates a bin.

use mdh_algebra::amounts::{bytes, count};
use mdh_algebra::computation::Computation;
use mdh_dialect::ir::Op;
use mdh_passes::simplify::lower_histograms::plan::{HistogramPlan, plan};
use mdh_schedule::MIN_GRAIN;
use mdh_schedule::asm::Asm;
use mdh_schedule::rates::RATES;

use super::cost::{Cost, CostPart, Limits, Unit};
use super::levels;

/// Updates of bins.
#[derive(Clone, Debug)]
pub struct Updates {
    /// The choices, and why.
    pub reasons: Vec<String>,
    /// The number of updates; none where a size is not known.
    pub updates: Option<f64>,
    /// Their cost, where sizes are known.
    pub cost: Option<Cost>,
}

impl Updates {
    /// Finds how a histogram is computed; `None` if it is none.
    pub fn new(op: Op, computation: &Computation, asm: &Asm) -> Option<Updates> {
        let cores = levels::cores(asm);
        let plan = plan(op, cores as i64, MIN_GRAIN)?;
        let dimensions = computation.dimensions.iter().enumerate();
        let counts = dimensions.filter(|(d, _)| *d != plan.bins);
        let updates: Option<f64> = counts.map(|(_, d)| Some(d.count()? as f64)).product();
        let updates = updates.filter(|_| computation.grids().is_some());
        let costs = |updates| cost(&plan, updates, computation, (asm, cores));
        Some(Updates {
            cost: updates.and_then(costs),
            updates,
            reasons: plan.reasons,
        })
    }

    /// The line about its bound.
    pub fn bound(&self, cost: &Cost, moved: f64) -> String {
        let updates = self.updates.unwrap_or_default();
        let main = cost.limits.memories.last().map_or(0.0, |main| main.1);
        format!(
            "  bound by {} (at usual rates in a cycle: {} updates, one a core and cycle; {} at {main:.0} \
             bytes from main for all cores)\n",
            cost.bound,
            count(updates),
            bytes(moved)
        )
    }
}

fn cost(
    plan: &HistogramPlan,
    updates: f64,
    computation: &Computation,
    (asm, cores): (&Asm, f64),
) -> Option<Cost> {
    let main = RATES.iter().find(|rate| rate.memory == "main")?;
    let used = plan.cores.map_or(cores, |n| n as f64);
    let worth = if updates >= MIN_GRAIN as f64 {
        cores
    } else {
        used
    };
    let moving = |cores: f64| computation.bytes() / (main.of_a_core(cores) * cores);
    let change = format!("all {worth:.0} cores, of which {used:.0} has work");
    let part = |what: &str, time: f64, least: f64| CostPart {
        what: what.to_string(),
        time,
        least: least.min(time),
        change: (least < time).then(|| change.clone()),
    };
    let parts = vec![
        part("updating bins", updates / used, updates / worth),
        part("moving from main", moving(used), moving(worth)),
    ];
    let limits = Limits {
        operations: cores,
        memories: levels::memories(asm, cores),
    };
    Some(Cost::new(Unit::Cycles, (0.0, ""), parts, limits))
}
