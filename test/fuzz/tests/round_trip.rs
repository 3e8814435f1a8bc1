//! Random programs of linalg become computations, linalg again, and the same computations again; computations of
//! coupled operators become linalg and computations with the same results.
//!
//! `MDH_RANDOM_CASES` says how many (150; of coupled operators 60), `MDH_RANDOM_SEED` (or `MDH_SEED`) where their
//! seeds start (1).

use mdh_fuzz::choices::{Choices, Overrides};
use mdh_fuzz::record::record;
use mdh_fuzz::run::Ending;
use mdh_fuzz::{environment, generate, linalg, linalg_round_trip};

#[test]
fn random_round_trips_give_what_the_definition_says() {
    let first = environment::number(&["MDH_RANDOM_SEED", "MDH_SEED"], 1);
    let count = environment::number(&["MDH_RANDOM_CASES"], 60);
    let seeds = first..first + count;
    let is_wrong = |seed: &u64| {
        let program = generate::coupled(&mut Choices::new(*seed, Overrides::default()));
        let text = program.to_string();
        let ending = linalg_round_trip::check_computations(&text, program.seed);
        if ending != Ending::Right {
            eprintln!("seed {seed}: {ending:?}\n{text}");
        }
        ending != Ending::Right
    };
    let failed: Vec<u64> = seeds.clone().filter(is_wrong).collect();
    let wrong = failed.len() as u64;
    let counts = [("right", count - wrong), ("failed", wrong)];
    record("round_trips", &seeds, &counts, failed.iter());
    assert!(failed.is_empty(), "failed: seeds {failed:?}");
}

#[test]
fn random_linalg_comes_back_as_it_went_out() {
    let first = environment::number(&["MDH_RANDOM_SEED", "MDH_SEED"], 1);
    let count = environment::number(&["MDH_RANDOM_CASES"], 150);
    let mut failed = Vec::new();
    let mut refused = Vec::new();
    for seed in first..first + count {
        let program = linalg::program(&mut Choices::new(seed, Overrides::default()));
        match linalg_round_trip::check(&program) {
            Ending::Right => {}
            Ending::Refused => refused.push(seed),
            ending => {
                eprintln!("seed {seed}: {ending:?}\n{}", program.text);
                failed.push(seed);
            }
        }
    }
    assert!(failed.is_empty(), "failed: seeds {failed:?}");
    // Sizes behind casts of what stays linalg cannot always be followed, which is said in an error.
    assert!(refused.len() <= 3, "refused: seeds {refused:?}");
}
