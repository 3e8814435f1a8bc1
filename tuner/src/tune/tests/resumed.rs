//! Tests of searches that go on where others were.

use super::*;

/// An evaluation of before, by the technique `random`.
pub(super) fn resumed(configuration: Configuration, outcome: Outcome) -> Resumed {
    Resumed {
        configuration,
        outcome,
        technique: "random".to_string(),
        failures: 0,
    }
}

#[test]
fn what_is_known_is_not_measured_again() {
    let (first, measured) = Setup::default().run().unwrap();
    let evaluations = first.evaluations.iter();
    let mut known: Vec<Resumed> = evaluations
        .map(|e| resumed(e.configuration.clone(), e.outcome.clone()))
        .collect();
    let other = Configuration::from_pairs([("other", 1.into())]);
    known.push(resumed(other, Outcome::of_cost(0.0)));
    let setup = Setup {
        resumed: known,
        abort: Abort::Or(Vec::new()),
        ..Setup::default()
    };
    let (second, more) = setup.run().unwrap();
    assert_eq!((second.resumed, more.len()), (40, 24));
    assert!(
        more.iter()
            .all(|configuration| !measured.contains(configuration))
    );
    assert_eq!(second.best().unwrap().outcome.cost(), Some(1.0));
    let before = second.evaluations[..40].iter();
    assert!(before.clone().all(|e| e.technique == "random"));
}

/// Checks: what hung or took too much memory in a search of before is tried once more, and may be the best
/// then; what failed twice so, crashed, or was wrong, is not.
#[test]
fn what_may_work_now_is_tried_once_more() {
    use FailureKind::{Compilation, Crash, Hang, Memory, WrongResult};
    let failed = |a, kind, failures| Resumed {
        failures,
        ..resumed(pair(a, 3), Outcome::failed(kind, "then"))
    };
    let known = vec![
        failed(6, Hang, 1),
        failed(5, Hang, 2),
        failed(4, WrongResult, 1),
        failed(3, Compilation, 0),
        failed(8, Crash, 0),
        failed(2, Memory, 1),
        failed(7, Hang, 1),
    ];
    let cost = |configuration: &Configuration| match *configuration == pair(7, 3) {
        true => Outcome::failed(Hang, "now"),
        false => measured(configuration),
    };
    let setup = |confirmations| Setup {
        cost: &cost,
        seeds: vec![Seed {
            role: Role::Default,
            configuration: pair(2, 3),
        }],
        resumed: known.clone(),
        abort: Abort::Or(Vec::new()),
        technique: "exhaustive",
        confirmations,
        ..Setup::default()
    };
    let (tuned, asked) = setup(0).run().unwrap();
    assert_eq!((tuned.resumed, tuned.searched()), (7, 60));
    assert_eq!(asked[0], "a=2 b=3");
    assert_eq!(tuned.default().unwrap().outcome.cost(), Some(17.0));
    for (a, times) in [(2, 1), (3, 0), (4, 0), (5, 0), (6, 1), (7, 1), (8, 0)] {
        let text = pair(a, 3).to_string();
        assert_eq!(
            asked.iter().filter(|other| **other == text).count(),
            times,
            "{text}"
        );
    }
    assert_eq!(tuned.best().unwrap().configuration, pair(6, 3));
    let (confirmed, _) = setup(3).run().unwrap();
    assert_eq!(confirmed.best().unwrap().configuration, pair(6, 3));
}

/// Checks: also the default that is none of the space's.
#[test]
fn a_default_beside_the_space_is_tried_once_more() {
    let beside = Configuration::from_pairs([("a", 9.into()), ("b", 3.into())]);
    let run = |failures| {
        let hang = Outcome::failed(FailureKind::Hang, "then");
        let known = Resumed {
            failures,
            ..resumed(beside.clone(), hang)
        };
        let setup = Setup {
            seeds: vec![Seed {
                role: Role::Outside,
                configuration: beside.clone(),
            }],
            resumed: vec![known],
            ..Setup::default()
        };
        let (tuned, asked) = setup.run().unwrap();
        let is_asked = asked[0] == beside.to_string();
        (is_asked, tuned.default().unwrap().outcome.cost())
    };
    assert_eq!(run(1), (true, Some(10.0)));
    assert_eq!(run(2), (false, None));
}

/// Checks: time is left to confirm a best and a default of before, as if they were of this search.
#[test]
fn what_is_known_is_confirmed_within_the_time() {
    for (seconds, searched, repeated) in [(20, 13, 7), (8, 3, 5), (1, 0, 1), (0, 0, 0)] {
        let known = [pair(8, 8), pair(6, 3)];
        let known = known.map(|own| resumed(own.clone(), measured(&own)));
        let setup = Setup {
            seeds: vec![Seed {
                role: Role::Default,
                configuration: pair(8, 8),
            }],
            resumed: known.to_vec(),
            abort: Abort::Duration(Duration::from_secs(seconds)),
            technique: "exhaustive",
            confirmations: 5,
            pace: Some(Duration::from_secs(3600)),
            ..Setup::default()
        };
        let (tuned, _) = setup.run().unwrap();
        assert_eq!(tuned.elapsed, Duration::from_secs(seconds), "{seconds}");
        assert_eq!(
            (tuned.searched(), tuned.repeated()),
            (searched, repeated),
            "{seconds}"
        );
        // Without any time, too.
        let costs = [tuned.default(), tuned.best()].map(|own| own.unwrap().outcome.cost());
        assert_eq!(costs, [Some(30.0), Some(1.0)], "{seconds}");
    }
}
