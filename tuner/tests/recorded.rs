//! Techniques on spaces whose configurations were all measured (`scripts/techniques`): what `auto` finds, against
//! what pyATF's AUC bandit has found in the same spaces with as many evaluations.

use std::path::{Path, PathBuf};

use mdh_tuner::replay::{Comparison, Table, improvements};
use mdh_tuner::stats::geometric_mean;

const SEEDS: u64 = 20;
const EVALUATIONS: usize = 100;

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// `auto` and pyATF on a space.
fn compared(path: &Path) -> [Comparison; 2] {
    let table = Table::read(&text(path)).unwrap();
    let recorded = table.recorded().unwrap();
    let curves = improvements(&text(&path.with_extension("pyatf.json")), EVALUATIONS).unwrap();
    assert_eq!(curves.len() as u64, SEEDS);
    let auto = recorded
        .compare(&["auto"], SEEDS, EVALUATIONS, None)
        .unwrap();
    let pyatf = recorded.rated("pyATF", &curves).unwrap();
    [auto.into_iter().next().unwrap(), pyatf]
}

#[test]
fn auto_is_not_worse_than_pyatf_on_any_space_and_better_on_average() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("recorded");
    let all = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let tables: Vec<PathBuf> = all
        .filter(|path| path.extension().is_some_and(|e| e == "tsv"))
        .collect();
    assert!(tables.len() >= 5, "{tables:?}");
    let mut ratios = Vec::new();
    for path in tables {
        let [auto, pyatf] = compared(&path);
        let name = path.display();
        println!(
            "{name}: auto {:.3} {:.3}, pyATF {:.3} {:.3}",
            auto.regret, auto.area, pyatf.regret, pyatf.area
        );
        assert!(auto.regret <= pyatf.regret, "{name}: {auto:?} {pyatf:?}");
        assert!(auto.area <= pyatf.area, "{name}: {auto:?} {pyatf:?}");
        ratios.push(auto.regret / pyatf.regret);
    }
    let mean = geometric_mean(ratios).unwrap();
    assert!(mean < 1.0, "{mean}");
}
