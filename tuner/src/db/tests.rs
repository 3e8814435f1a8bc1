//! Tests of the database: kills, damage, several processes, no space.

use std::fs;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::process::{Child, Command, Stdio};

use super::*;
use crate::measure::{Cost, FailureKind};
use crate::space::value::Configuration;

/// Set for children, with the folder.
const CHILD: &str = "MDH_TUNER_TEST_FOLDER";

fn task(size: i64) -> Task {
    Task {
        machine: "m".to_string(),
        program: "p".to_string(),
        sizes: Sizes::new([("I", size), ("K", 8)]),
    }
}

fn evaluation(number: usize, tile: i64, outcome: Outcome) -> Evaluation {
    Evaluation {
        number,
        configuration: Configuration::from_pairs([("tile", tile.into()), ("flags", "-O2".into())]),
        outcome,
        technique: "random".to_string(),
        at: Duration::from_secs(number as u64),
    }
}

fn keep(database: &mut Database, task: &Task, outcomes: &[(i64, Outcome)]) {
    let mut session = database.session(task, "auto", 1).unwrap();
    for (number, (tile, outcome)) in outcomes.iter().enumerate() {
        session
            .keep(&evaluation(number, *tile, outcome.clone()))
            .unwrap();
    }
    session.end(&StopReason::Interrupted).unwrap();
}

fn best_tile(database: &Database, task: &Task) -> Option<i64> {
    let ranked = database.ranked(task).unwrap();
    ranked.first()?.configuration.get("tile").unwrap().integer()
}

/// The reasons for which sessions ended, in order; none of those that were killed.
fn stops(database: &Database) -> Vec<Option<String>> {
    let query = "SELECT stop FROM session ORDER BY id";
    let mut statement = database.connection.prepare(query).unwrap();
    let stops = statement.query_map([], |row| row.get(0)).unwrap();
    stops.collect::<rusqlite::Result<_>>().unwrap()
}

/// Checks: what a session has chosen comes first, with the cost by which it was, until another one is.
#[test]
fn what_is_chosen_comes_first() {
    let folder = tempfile::tempdir().unwrap();
    let mut database = Database::open(folder.path()).unwrap();
    let task = task(64);
    let chosen = |database: &mut Database, tile: i64, cost: f64| {
        let mut session = database.session(&task, "auto", 1).unwrap();
        for (number, (tile, cost)) in [(4, 1.0), (8, 2.0), (16, 3.0)].into_iter().enumerate() {
            let outcome = Outcome::of_cost(cost);
            session.keep(&evaluation(number, tile, outcome)).unwrap();
        }
        let best = evaluation(1, tile, Outcome::of_cost(cost));
        session.choose(&best).unwrap();
        session.end(&StopReason::Exhausted).unwrap();
    };
    let ranked = |database: &Database| -> Vec<(i64, f64)> {
        let tile = |kept: &Kept| kept.configuration.get("tile").unwrap().integer().unwrap();
        let ranked = database.ranked(&task).unwrap();
        ranked
            .iter()
            .map(|kept| (tile(kept), kept.outcome.cost().unwrap()))
            .collect()
    };
    chosen(&mut database, 8, 2.5);
    assert_eq!(ranked(&database), [(8, 2.5), (4, 1.0), (16, 3.0)]);
    assert!(
        database
            .ranked(&task)
            .unwrap()
            .iter()
            .all(|kept| kept.technique == "random")
    );
    chosen(&mut database, 16, 3.5);
    assert_eq!(ranked(&database), [(16, 3.5), (4, 1.0), (8, 2.0)]);
}

#[test]
fn what_is_kept_is_found() {
    let folder = tempfile::tempdir().unwrap();
    assert!(Database::read(folder.path()).unwrap().is_none());
    let mut database = Database::open(folder.path()).unwrap();
    let lost = Outcome::Measured(Cost::of_lost(vec![9.0, 8.5]));
    let outcomes = [
        (4, Outcome::of_cost(3.0)),
        (8, Outcome::of_cost(0.1 + 0.2)),
        (16, lost),
        (2, Outcome::failed(FailureKind::Hang, "after 3 s")),
        // Better, but wrong when it was looked at again; and one that has hung only once.
        (1, Outcome::of_cost(0.1)),
        (1, Outcome::failed(FailureKind::WrongResult, "element 3")),
        (32, Outcome::failed(FailureKind::Hang, "after 3 s")),
        (32, Outcome::of_cost(0.2)),
        // What was wrong once stays so, and what hangs in the end works no more.
        (64, Outcome::failed(FailureKind::WrongResult, "element 1")),
        (64, Outcome::of_cost(0.01)),
        (128, Outcome::of_cost(0.02)),
        (128, Outcome::failed(FailureKind::Memory, "killed")),
        (128, Outcome::failed(FailureKind::Hang, "after 3 s")),
    ];
    keep(&mut database, &task(64), &outcomes);
    drop(database);
    let database = Database::read(folder.path()).unwrap().unwrap();
    assert_eq!(best_tile(&database, &task(64)), Some(32));
    let ranked = database.ranked(&task(64)).unwrap();
    let tile = |kept: &Kept| kept.configuration.get("tile").unwrap().integer().unwrap();
    assert_eq!(ranked.iter().map(tile).collect::<Vec<_>>(), [32, 8, 4, 16]);
    let stored = database.evaluations(&task(64)).unwrap();
    let read_back: Vec<(i64, Outcome)> = stored
        .iter()
        .map(|stored| {
            (
                stored.configuration.get("tile").unwrap().integer().unwrap(),
                stored.outcome.clone(),
            )
        })
        .collect();
    let expected: Vec<(i64, Outcome)> = [0, 1, 2, 3, 5, 7, 8, 12]
        .iter()
        .map(|n| outcomes[*n].clone())
        .collect();
    assert_eq!(read_back, expected);
    let failures: Vec<usize> = stored.iter().map(|stored| stored.failures).collect();
    assert_eq!(failures, [0, 0, 0, 1, 0, 1, 0, 2]);
    assert_eq!(database.counts().unwrap(), (1, 13));
    assert_eq!(database.machines("p").unwrap(), ["m"]);
    assert!(database.machines("q").unwrap().is_empty());
    assert_eq!(stops(&database), [Some("interrupted".to_string())]);
}

#[test]
fn tasks_are_apart_and_the_nearest_sizes_come_first() {
    let folder = tempfile::tempdir().unwrap();
    let mut database = Database::open(folder.path()).unwrap();
    for (size, tile) in [(64, 1), (100, 2), (1024, 3), (4096, 4)] {
        keep(&mut database, &task(size), &[(tile, Outcome::of_cost(1.0))]);
    }
    let failed = Outcome::failed(FailureKind::Crash, "signal 11");
    keep(&mut database, &task(1000), &[(7, failed)]);
    for other in [
        Task {
            machine: "n".to_string(),
            ..task(64)
        },
        Task {
            program: "q".to_string(),
            ..task(64)
        },
        Task {
            sizes: Sizes::new([("J", 64)]),
            ..task(64)
        },
    ] {
        assert_eq!(best_tile(&database, &other), None);
        assert!(database.evaluations(&other).unwrap().is_empty());
    }
    let nearest = database.nearest(&task(1001), 3).unwrap();
    let sizes: Vec<String> = nearest.iter().map(|(sizes, _)| sizes.to_string()).collect();
    assert_eq!(sizes, ["I=1024 K=8", "I=4096 K=8", "I=100 K=8"]);
    assert!(
        database
            .nearest(
                &Task {
                    sizes: Sizes::new([("J", 1)]),
                    ..task(1)
                },
                3
            )
            .unwrap()
            .is_empty()
    );
}

/// Checks: a size that is left open is near to none that is known.
#[test]
fn open_sizes_are_not_near_to_known_ones() {
    let sizes = |i: i64, k: i64| Sizes::new([("I", i), ("K", k)]);
    assert_eq!(sizes(-1, 8).distance(&sizes(1, 8)), None);
    assert_eq!(sizes(1, 8).distance(&sizes(-1, 8)), None);
    assert_eq!(sizes(-1, 8).distance(&sizes(-1, 8)), Some(0.0));
    assert!(sizes(-1, 8).distance(&sizes(-1, 9)) > Some(0.0));
    assert!(sizes(0, 8).are_known() && !sizes(0, -1).are_known());
}

/// Checks: a configuration that is measured again is still that of who proposed it.
#[test]
fn who_proposed_stays_known() {
    let folder = tempfile::tempdir().unwrap();
    let mut database = Database::open(folder.path()).unwrap();
    let mut session = database.session(&task(64), "auto", 1).unwrap();
    for (number, technique) in ["default", "confirmed"].into_iter().enumerate() {
        let technique = technique.to_string();
        let outcome = Outcome::of_cost(2.0 - number as f64);
        let base = evaluation(number, 4, outcome);
        session.keep(&Evaluation { technique, ..base }).unwrap();
    }
    session.end(&StopReason::Exhausted).unwrap();
    let best = database.ranked(&task(64)).unwrap().remove(0);
    assert_eq!(best.outcome.cost(), Some(1.0));
    assert_eq!(best.technique, "default");
    let digits = best.date.split('-').map(str::len);
    assert_eq!(digits.collect::<Vec<_>>(), [4, 2, 2], "{}", best.date);
}

/// Runs a test of this program as a child, with a folder.
fn child(test: &str, folder: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            &format!("db::tests::{test}"),
            "--nocapture",
            "--test-threads",
            "1",
        ])
        .env(CHILD, folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// The work of a child: keeps evaluations, and says of each that it is kept. Nothing of a test
/// that is run by itself.
#[test]
fn child_that_keeps_evaluations() {
    let Some(folder) = std::env::var_os(CHILD) else {
        return;
    };
    let mut database = Database::open(Path::new(&folder)).unwrap();
    println!("\nset aside: {}", database.set_aside().is_some());
    let mut session = database.session(&task(64), "auto", 1).unwrap();
    for number in 0..60 {
        let id = i64::from(std::process::id()) * 1000;
        let outcome = Outcome::of_cost(number as f64 + 1.0);
        session
            .keep(&evaluation(number, id + number as i64, outcome))
            .unwrap();
        println!("kept {number}");
        std::io::stdout().flush().unwrap();
    }
}

fn count_lines(child: &mut Child, start: &str, most: usize) -> usize {
    let lines = BufReader::new(child.stdout.take().unwrap())
        .lines()
        .map_while(|line| line.ok());
    lines
        .filter(|line| line.starts_with(start))
        .take(most)
        .count()
}

#[test]
fn what_was_kept_survives_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let mut said = 0;
    for kills in 1..=4 {
        let mut child = child("child_that_keeps_evaluations", folder.path());
        said += count_lines(&mut child, "kept", kills * 3);
        child.kill().unwrap();
        child.wait().unwrap();
        // Who only reads is the first to come, and takes back what was left half done.
        let database = Database::read(folder.path()).unwrap().unwrap();
        let stored = database.evaluations(&task(64)).unwrap().len();
        assert!(stored >= said, "{stored} of {said}");
        assert_eq!(stops(&database), vec![None; kills]);
        said = stored;
    }
}

#[test]
fn several_processes_keep_all_of_theirs() {
    let folder = tempfile::tempdir().unwrap();
    let mut children: Vec<Child> = (0..3)
        .map(|_| child("child_that_keeps_evaluations", folder.path()))
        .collect();
    let lines: usize = children
        .iter_mut()
        .map(|child| count_lines(child, "kept", 1000))
        .sum();
    for child in &mut children {
        assert!(child.wait().unwrap().success());
    }
    let database = Database::open(folder.path()).unwrap();
    assert_eq!((lines, database.counts().unwrap()), (180, (3, 180)));
    assert_eq!(database.evaluations(&task(64)).unwrap().len(), 180);
}

#[test]
fn of_several_processes_one_sets_a_damaged_file_aside() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(FILE), vec![7; 5000]).unwrap();
    let mut children: Vec<Child> = (0..3)
        .map(|_| child("child_that_keeps_evaluations", folder.path()))
        .collect();
    let aside: usize = children
        .iter_mut()
        .map(|child| count_lines(child, "set aside: true", 1000))
        .sum();
    for child in &mut children {
        child.wait().unwrap();
    }
    let database = Database::open(folder.path()).unwrap();
    assert_eq!((aside, database.counts().unwrap().0), (1, 3));
}

#[test]
fn threads_of_one_process_take_turns() {
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let folder = folder.path();
            scope.spawn(move || {
                let mut database = Database::open(folder).unwrap();
                let outcomes: Vec<(i64, Outcome)> = (0..20)
                    .map(|n| (thread * 100 + n, Outcome::of_cost(1.0)))
                    .collect();
                keep(&mut database, &task(64), &outcomes);
            });
        }
    });
    let database = Database::open(folder.path()).unwrap();
    assert_eq!(database.counts().unwrap(), (4, 80));
}

/// Opens a database whose file is changed so; the file that was renamed, if it was.
fn changed(change: impl Fn(&Path)) -> (tempfile::TempDir, Option<SetAside>) {
    let folder = tempfile::tempdir().unwrap();
    let mut database = Database::open(folder.path()).unwrap();
    let outcomes: Vec<(i64, Outcome)> = (0..50).map(|n| (n, Outcome::of_cost(1.0))).collect();
    keep(&mut database, &task(64), &outcomes);
    drop(database);
    change(&folder.path().join(FILE));
    let before = fs::read(folder.path().join(FILE)).unwrap();
    if Database::read(folder.path()).is_ok_and(|found| found.is_some()) {
        return (folder, None);
    }
    let database = Database::open(folder.path()).unwrap();
    let set_aside = database.set_aside().cloned();
    assert_eq!(database.counts().unwrap(), (0, 0));
    // Nothing of the old file is lost.
    assert_eq!(fs::read(&set_aside.as_ref().unwrap().path).unwrap(), before);
    (folder, set_aside)
}

#[test]
fn what_cannot_be_used_is_set_aside() {
    let name = |set_aside: &Option<SetAside>| {
        let path = &set_aside.as_ref().expect("it is set aside").path;
        path.file_name().unwrap().to_str().unwrap().to_string()
    };
    let write = |at: u64, length: usize| {
        move |path: &Path| {
            let mut file = fs::File::options().write(true).open(path).unwrap();
            file.seek(SeekFrom::Start(at)).unwrap();
            file.write_all(&vec![0xa5; length]).unwrap();
        }
    };
    for (at, length) in [(0, 100), (0, 5000), (4096, 4096), (8192, 4096)] {
        let (_folder, set_aside) = changed(write(at, length));
        assert_eq!(name(&set_aside), "tuner.db.damaged-1", "{at} {length}");
    }
    let cut = |path: &Path| {
        fs::File::options()
            .write(true)
            .open(path)
            .unwrap()
            .set_len(5000)
            .unwrap()
    };
    assert_eq!(name(&changed(cut).1), "tuner.db.damaged-1");
    let pragma = |sql: &'static str| {
        move |path: &Path| Connection::open(path).unwrap().execute_batch(sql).unwrap()
    };
    let (folder, set_aside) = changed(pragma("PRAGMA user_version = 7"));
    assert_eq!(name(&set_aside), "tuner.db.version-7-1");
    let text = set_aside.unwrap().to_string();
    assert!(
        text.contains("found version 7, expected at most 1"),
        "{text}"
    );
    // Another one gets another name.
    fs::write(
        folder.path().join(FILE),
        "no database at all, but long enough",
    )
    .unwrap();
    let other = Database::open(folder.path()).unwrap();
    assert_eq!(name(&other.set_aside().cloned()), "tuner.db.damaged-1");
    drop(other);
    fs::write(
        folder.path().join(FILE),
        "no database at all, but long enough",
    )
    .unwrap();
    let other = Database::open(folder.path()).unwrap();
    assert_eq!(name(&other.set_aside().cloned()), "tuner.db.damaged-2");
    let (_folder, set_aside) = changed(pragma("PRAGMA application_id = 5"));
    assert_eq!(name(&set_aside), "tuner.db.foreign-1");
}

/// Checks: what lacks a part of the schema is damaged, and what has more is none the worse for it.
#[test]
fn what_lacks_a_table_or_a_column_is_set_aside() {
    let run = |sql: &'static str| {
        changed(move |path: &Path| Connection::open(path).unwrap().execute_batch(sql).unwrap()).1
    };
    for (sql, said) in [
        ("DROP TABLE evaluation", "it has no table 'evaluation'"),
        (
            "DROP TABLE evaluation; DROP TABLE session",
            "it has no table 'session'",
        ),
        (
            "ALTER TABLE evaluation DROP COLUMN message",
            "its table 'evaluation' has no column 'message'",
        ),
        (
            "ALTER TABLE session RENAME COLUMN sizes TO size",
            "its table 'session' has no column 'sizes'",
        ),
        (
            "ALTER TABLE session DROP COLUMN seed; ALTER TABLE session ADD COLUMN seed TEXT",
            "the column 'seed' of its table 'session' has the type TEXT, expected INTEGER",
        ),
    ] {
        let set_aside = run(sql).expect(sql);
        let file = set_aside.path.file_name().unwrap();
        assert_eq!(file, "tuner.db.damaged-1", "{sql}");
        let text = set_aside.to_string();
        assert!(text.contains(&format!("it is damaged: {said}")), "{text}");
    }
    assert_eq!(run("ALTER TABLE session ADD COLUMN note TEXT"), None);
    assert_eq!(run("CREATE TABLE notes (note TEXT)"), None);
}

#[test]
fn reading_renames_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE);
    fs::write(&path, vec![7; 5000]).unwrap();
    let error = Database::read(folder.path()).unwrap_err();
    assert!(
        error.message().contains("cannot be used: it is damaged"),
        "{error}"
    );
    assert!(path.exists());
}

#[test]
fn no_space_is_said_and_nothing_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let mut database = Database::open(folder.path()).unwrap();
    // As many pages as there are, and a few more: SQLite then answers as on a full disk.
    let pages: i64 = database
        .connection
        .pragma_query_value(None, "page_count", |row| row.get(0))
        .unwrap();
    database
        .connection
        .pragma_update(None, "max_page_count", pages + 2)
        .unwrap();
    let mut session = database.session(&task(64), "auto", 1).unwrap();
    let mut stored = 0;
    let error = loop {
        match session.keep(&evaluation(stored, stored as i64, Outcome::of_cost(1.0))) {
            Ok(()) => stored += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind(), ErrorKind::Resources);
    assert!(
        error
            .to_string()
            .contains("there is no space left for the database"),
        "{error}"
    );
    assert!(stored > 10, "{stored}");
    drop(database);
    let database = Database::open(folder.path()).unwrap();
    assert_eq!(database.evaluations(&task(64)).unwrap().len(), stored);
}

#[test]
fn what_cannot_be_written_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let error = Database::open(&file.join("folder")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Resources);
    assert!(
        error.to_string().contains("help: give another folder"),
        "{error}"
    );
    Database::open(folder.path()).unwrap();
    let mut database = Database::read(folder.path()).unwrap().unwrap();
    let error = database.session(&task(1), "auto", 1).unwrap_err();
    assert!(
        error.message().contains("the database cannot be written"),
        "{error}"
    );
    let mut bytes = Vec::new();
    fs::File::open(folder.path().join(FILE))
        .unwrap()
        .read_to_end(&mut bytes)
        .unwrap();
    assert!(!bytes.is_empty());
}

#[test]
fn sizes_are_those_of_one_program_on_one_machine_the_latest_first() {
    let folder = tempfile::tempdir().unwrap();
    let mut database = Database::open(folder.path()).unwrap();
    let other = Task {
        program: "q".to_string(),
        ..task(7)
    };
    keep(&mut database, &other, &[(4, Outcome::of_cost(1.0))]);
    keep(&mut database, &task(9), &[(4, Outcome::of_cost(1.0))]);
    keep(&mut database, &task(3), &[(4, Outcome::of_cost(2.0))]);
    keep(&mut database, &task(9), &[(8, Outcome::of_cost(3.0))]);
    let failed = Outcome::failed(FailureKind::Hang, "after 3 s");
    keep(&mut database, &task(5), &[(4, failed)]);
    let sizes = database.sizes("p", "m").unwrap();
    assert_eq!(sizes, [task(9).sizes, task(3).sizes]);
    assert_eq!(database.sizes("p", "n").unwrap(), []);
}
