//! A foreign command tuned in two sessions, the second of which resumes the first.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use crate::abort::Abort;
use crate::command::{Conditions, ForeignCommand};
use crate::db::{Database, Sizes, Task};
use crate::report::{ReportTexts, html};
use crate::space::{self, Space};
use crate::technique::named;
use crate::tune::{StopReason, Tuned, Tuning, tune};

/// 32 configurations; those with an odd sum fail.
const SPACE: &str = r#"{"parameters": [
    {"name": "a", "interval": [1, 8]}, {"name": "b", "interval": [1, 4]}]}"#;
const COMMAND: &str = "sh -c 'echo {a} {b} >> calls; test $(( ({a} + {b}) % 2 )) = 0 || exit 3; \
    echo cost $(( ({a} - 5) * ({a} - 5) + {b} ))'";

fn task() -> Task {
    Task {
        machine: "m".to_string(),
        program: "p".to_string(),
        sizes: Sizes::of([("N", 8)]),
    }
}

fn session(folder: &Path, space: &Space, abort: Abort) -> Tuned {
    let conditions = Conditions {
        timeout: Duration::from_secs(600),
        samples: 1,
        cost: ForeignCommand::cost_source("number").unwrap(),
        folder: Some(folder.to_path_buf()),
        ..Conditions::default()
    };
    let names = space.names();
    let mut command = ForeignCommand::new(None, COMMAND, names, names, conditions).unwrap();
    let mut database = Database::open(folder).unwrap();
    let kept = database.evaluations(&task()).unwrap();
    let mut session = database.session(&task(), "auto", 3).unwrap();
    let tuned = tune(Tuning {
        space,
        technique: &mut *named("auto", 3).unwrap(),
        measure: &mut command,
        abort: &abort,
        clock: &Instant::now(),
        interrupted: &AtomicBool::new(false),
        seeds: Vec::new(),
        resumed: kept.into_iter().map(Into::into).collect(),
        model: None,
        confidence: 0.95,
        confirmations: 0,
        pace: None,
        keep: &mut session,
        watch: &mut (),
    })
    .unwrap();
    session.end(&tuned.stop).unwrap();
    tuned
}

#[test]
fn a_second_session_measures_what_the_first_has_not() {
    let folder = tempfile::tempdir().unwrap();
    let space = space::read(SPACE).unwrap().build().unwrap();
    let calls = || {
        fs::read_to_string(folder.path().join("calls"))
            .unwrap()
            .lines()
            .count()
    };
    let first = session(folder.path(), &space, Abort::Evaluations(10));
    assert_eq!((first.evaluations.len(), calls()), (10, 10));
    let second = session(folder.path(), &space, Abort::Or(Vec::new()));
    assert_eq!(
        (second.resumed, second.evaluations.len(), calls()),
        (10, 32, 32)
    );
    assert_eq!(second.stop, StopReason::Exhausted);
    // What was measured before is by who proposed it then.
    let techniques = |tuned: &Tuned| {
        let own = tuned.evaluations[..10].iter();
        own.map(|e| e.technique.clone()).collect::<Vec<_>>()
    };
    assert_eq!(techniques(&second), techniques(&first));
    let best = second.best().unwrap();
    assert_eq!(
        (best.configuration.to_string(), best.outcome.cost()),
        ("a=5 b=1".to_string(), Some(1.0))
    );
    let third = session(folder.path(), &space, Abort::Or(Vec::new()));
    assert_eq!((third.resumed, calls()), (32, 32));
    let fourth = session(folder.path(), &space, Abort::Or(Vec::new()));
    assert_eq!((fourth.resumed, calls()), (32, 32));
    let database = Database::read(folder.path()).unwrap().unwrap();
    let kept = database.ranked(&task()).unwrap().remove(0);
    assert_eq!(
        space.find(&kept.configuration).unwrap(),
        space.find(&best.configuration).unwrap()
    );
    assert_eq!(database.counts().unwrap(), (4, 32));
    let page = html(&space, &fourth, &ReportTexts::default()).unwrap();
    assert!(
        page.contains("<td>crash</td><td class=\"number\">16</td>"),
        "{page}"
    );
}
