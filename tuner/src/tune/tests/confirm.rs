//! Tests of the end of a search: confirmation, rounds, the choice.

use std::cell::RefCell;
use std::collections::HashMap;

use super::*;

#[test]
fn whoever_was_lucky_is_not_the_best() {
    // The first time, (1, 1) and (1, 2) cost little by luck; (6, 3) costs what it costs.
    let times = RefCell::new(HashMap::new());
    let cost = |configuration: &Configuration| {
        let mut times = times.borrow_mut();
        let time = times.entry(configuration.to_string()).or_insert(0);
        *time += 1;
        match (configuration.to_string().as_str(), *time) {
            ("a=1 b=1", 1) => Outcome::of_cost(0.1),
            ("a=1 b=2", 1) => Outcome::of_cost(0.2),
            ("a=1 b=2", 2) => Outcome::failed(FailureKind::WrongResult, "element 0"),
            _ => measured(configuration),
        }
    };
    let run = |confirmations| {
        times.borrow_mut().clear();
        let setup = Setup {
            confirmations,
            ..Setup::of_every_point(&cost)
        };
        setup.run().unwrap().0
    };
    let confirmed = run(5);
    assert_eq!(confirmed.best().unwrap().configuration, pair(6, 3));
    let names: Vec<String> = confirmed.evaluations[64..]
        .iter()
        .map(|e| format!("{}: {}", e.technique, e.configuration))
        .collect();
    let expected = ["a=8 b=8", "a=1 b=1", "a=1 b=2", "a=6 b=3"];
    assert_eq!(
        names,
        expected.map(|configuration| format!("confirmed: {configuration}"))
    );
    assert_eq!(confirmed.default, Some(64));
    let best = confirmed.best().unwrap();
    assert_eq!(best.technique, "confirmed");
    assert_eq!(confirmed.proposed_by(best), "exhaustive");
    // With too few, the best of those confirmed: the default is one.
    assert_eq!(run(2).best().unwrap().configuration, pair(8, 8));
    assert_eq!(run(0).best().unwrap().configuration, pair(1, 1));
    let best = run(1).best().unwrap().outcome.cost();
    assert_eq!(best, Some(30.0));
}

/// Checks: what was confirmed is measured in turns where costs depend on when that is, so that the default is not
/// given up for what was measured in a better moment.
#[test]
fn the_best_is_the_best_of_most_rounds() {
    let calls = std::cell::Cell::new(0);
    let cost = |own: &Configuration| {
        calls.set(calls.get() + 1);
        // The machine is fast when another one is measured, and slow when the default is confirmed.
        let pace = match calls.get() {
            2 => 0.8,
            3 => 1.5,
            _ => 1.0,
        };
        let is_default = *own == pair(8, 8);
        Outcome::of_cost(pace * if is_default { 10.0 } else { 11.0 })
    };
    let setup = |pace| Setup {
        cost: &cost,
        seeds: vec![Seed {
            role: Role::Default,
            configuration: pair(8, 8),
        }],
        abort: Abort::Evaluations(2),
        technique: "exhaustive",
        confirmations: 1,
        pace,
        ..Setup::default()
    };
    let (tuned, asked) = setup(Some(Duration::from_secs(3600))).run().unwrap();
    assert_eq!(tuned.best().unwrap().configuration, pair(8, 8));
    assert_eq!(tuned.default().unwrap().outcome.cost(), Some(10.0));
    // Twice, confirmed, and two rounds.
    assert_eq!(asked.len(), 2 + 2 + 4);
    calls.set(0);
    let (tuned, asked) = setup(None).run().unwrap();
    assert_eq!(tuned.best().unwrap().outcome.cost(), Some(11.0));
    assert_eq!(asked.len(), 4);
}

/// Checks: the best is confirmed within the time of the search, which leaves as much as that takes, and at most
/// half; where that is not enough, with what was measured by then.
#[test]
fn the_confirmation_is_within_the_time() {
    let run = |seconds, pace: bool| {
        let setup = Setup {
            abort: Abort::Duration(Duration::from_secs(seconds)),
            technique: "exhaustive",
            seeds: vec![Seed {
                role: Role::Default,
                configuration: pair(8, 8),
            }],
            confirmations: 5,
            pace: pace.then_some(Duration::from_secs(3600)),
            ..Setup::default()
        };
        setup.run().unwrap().0
    };
    for (seconds, searched, all) in [(20, 14, 20), (4, 2, 4), (1, 1, 1)] {
        let tuned = run(seconds, true);
        assert_eq!(tuned.searched(), searched, "{seconds}");
        assert_eq!(tuned.evaluations.len(), all, "{seconds}");
        let confirmation = Duration::from_secs((all - searched) as u64);
        assert_eq!(tuned.confirmation, confirmation);
        assert_eq!(tuned.stop.to_string(), format!("its {seconds} s are over"));
    }
    // One round.
    assert_eq!(run(20, false).searched(), 18);
}

/// Checks: the one that is chosen is kept as such.
#[test]
fn what_is_chosen_is_kept() {
    #[derive(Default)]
    struct Chosen(Vec<Evaluation>);
    impl Keep for Chosen {
        fn keep(&mut self, _: &Evaluation) -> Result<()> {
            Ok(())
        }

        fn choose(&mut self, best: &Evaluation) -> Result<()> {
            self.0.push(best.clone());
            Ok(())
        }
    }
    let mut chosen = Chosen::default();
    let (tuned, _) = Setup::default().run_with(&mut chosen, &mut ()).unwrap();
    assert_eq!(chosen.0, [tuned.best().unwrap().clone()]);
}
