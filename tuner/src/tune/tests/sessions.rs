//! A search in several sessions of a database, each of which goes on where the one before has ended.

use super::*;
use crate::db::{Database, Sizes, Task};
use crate::report::{ReportTexts, html};

/// A session of a search of 32 configurations, and those that it has measured; those with an odd sum fail.
fn session(database: &mut Database, abort: Abort) -> (Tuned, Vec<String>) {
    let task = Task {
        machine: "m".to_string(),
        program: "p".to_string(),
        sizes: Sizes::new([("N", 8)]),
    };
    let space = space_of_32();
    let cost = |configuration: &Configuration| {
        let (a, b) = (number(configuration, "a"), number(configuration, "b"));
        match (a + b) % 2.0 == 0.0 {
            true => Outcome::of_cost((a - 5.0).powi(2) + b),
            false => Outcome::failed(FailureKind::Crash, "signal 11"),
        }
    };
    let known = database.evaluations(&task).unwrap();
    let setup = Setup {
        space,
        cost: &cost,
        abort,
        resumed: known.into_iter().map(Into::into).collect(),
        ..Setup::default()
    };
    let mut session = database.session(&task, "auto", 1).unwrap();
    let (tuned, measured) = setup.run_with(&mut session, &mut ()).unwrap();
    session.end(&tuned.stop).unwrap();
    let best = database.ranked(&task).unwrap().remove(0).configuration;
    let expected = &tuned.best().unwrap().configuration;
    assert_eq!(best.key(), expected.key());
    (tuned, measured)
}

fn space_of_32() -> Space {
    let parameter = |name, last| Parameter::set(name, 1..=last).unwrap();
    let builder = Space::builder().parameter(parameter("a", 8));
    builder.parameter(parameter("b", 4)).build().unwrap()
}

#[test]
fn a_second_session_measures_what_the_first_has_not() {
    let folder = tempfile::tempdir().unwrap();
    let mut database = Database::open(folder.path()).unwrap();
    let (first, measured) = session(&mut database, Abort::Evaluations(10));
    assert_eq!((first.evaluations.len(), measured.len()), (10, 10));
    let (second, measured) = session(&mut database, Abort::Or(Vec::new()));
    assert_eq!(
        (second.resumed, second.evaluations.len(), measured.len()),
        (10, 32, 22)
    );
    assert_eq!(second.stop, StopReason::Exhausted);
    // What was measured before is by who proposed it then.
    let techniques = |tuned: &Tuned| {
        tuned.evaluations[..10]
            .iter()
            .map(|e| e.technique.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(techniques(&second), techniques(&first));
    let best = second.best().unwrap();
    assert_eq!(
        (best.configuration.to_string(), best.outcome.cost()),
        ("a=5 b=1".to_string(), Some(1.0))
    );
    for _ in 0..2 {
        let (again, measured) = session(&mut database, Abort::Or(Vec::new()));
        assert_eq!((again.resumed, measured.len()), (32, 0));
    }
    assert_eq!(database.counts().unwrap(), (4, 32));
    let page = html(&space_of_32(), &second, &ReportTexts::default()).unwrap();
    assert!(
        page.contains("<td>crash</td><td class=\"number\">16</td>"),
        "{page}"
    );
}
