//! Compares techniques on recorded spaces:
//!
//! ```sh
//! cargo run --release --package mdh-tuner --example techniques -- EVALUATIONS SEEDS TABLE.tsv ..
//! ```
//!
//! Beside a table may lie `TABLE.pyatf.json`, the curves of pyATF's AUC bandit (`scripts/techniques`): for
//! each seed the numbers of evaluations after which it had found something better, and these costs. What is
//! printed are ratios to the least cost of a table, as geometric means over the seeds.

use std::path::Path;

use mdh_tuner::replay::{Comparison, Table, improvements};
use mdh_tuner::stats::geometric_mean;
use mdh_tuner::technique;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [evaluations, seeds, tables @ ..] = &arguments[..] else {
        return Err("expected EVALUATIONS SEEDS TABLE.tsv ..".into());
    };
    let (evaluations, seeds): (usize, u64) = (evaluations.parse()?, seeds.parse()?);
    let mut all: Vec<Comparison> = Vec::new();
    for path in tables {
        let of_file = |error: &dyn std::fmt::Display| format!("{path}: {error}");
        let text = std::fs::read_to_string(path).map_err(|error| of_file(&error))?;
        let table = Table::read(&text).map_err(|error| of_file(&error))?;
        let recorded = table.recorded()?;
        let mut rated = recorded.compare(&technique::NAMES, seeds, evaluations, None)?;
        let curves = Path::new(path).with_extension("pyatf.json");
        if curves.exists() {
            let curves = improvements(&std::fs::read_to_string(curves)?, evaluations)?;
            rated.push(recorded.rated("pyATF", &curves)?);
        }
        println!("{path}: {} configurations", table.space().size());
        rated.iter().for_each(print);
        all.extend(rated);
    }
    println!("all: geometric means");
    let mut names: Vec<String> = all.iter().map(|one| one.technique.clone()).collect();
    names.sort();
    names.dedup();
    for name in names {
        let own = || all.iter().filter(|one| one.technique == name);
        let mean = |of: fn(&Comparison) -> f64| geometric_mean(own().map(of)).unwrap_or(f64::NAN);
        println!(
            "  {name:12} end {:.3}  on the way {:.3}",
            mean(|c| c.regret),
            mean(|c| c.area)
        );
    }
    Ok(())
}

fn print(of: &Comparison) {
    println!(
        "  {:12} end {:.3}  on the way {:.3}  found {:.2}",
        of.technique, of.regret, of.area, of.found
    );
}
