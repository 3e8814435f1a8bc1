//! Searches that are interrupted: what was measured is kept and shown.

use std::os::unix::process::CommandExt;
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};

use crate::support::{MDH, Session, example};

/// More than a search needs on a slow machine to get as far as a test waits for.
const LONG: Duration = Duration::from_secs(400);

/// A number from the database `db`; none while it cannot be read.
fn number(session: &Session, query: &str) -> Option<i64> {
    let path = session.path("db").join("tuner.db");
    let database = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).ok()?;
    database.query_row(query, (), |row| row.get(0)).ok()
}

/// The number of evaluations in the database, without what was measured again and the note of what was chosen.
fn evaluations(session: &Session) -> i64 {
    let query =
        "SELECT count(*) FROM evaluation WHERE technique NOT IN ('chosen', 'pace', 'confirmed')";
    number(session, query).unwrap_or(0)
}

/// Starts a search without end in a group of its own, which is what a terminal interrupts, and waits for
/// some evaluations.
fn begun(session: &Session, arguments: &[&str]) -> Child {
    let mut command = session.command(MDH);
    command
        .arg("tune")
        .args(arguments)
        .args(["--for", "1h", "--tuned", "db", "--html", "page.html"])
        .process_group(0)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let start = Instant::now();
    while evaluations(session) < 3 && start.elapsed() < LONG {
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}

/// Interrupts a search after some evaluations.
fn interrupted(session: &Session, arguments: &[&str]) -> Output {
    let child = begun(session, arguments);
    // SAFETY: sends a signal to the group of our own child.
    unsafe { libc::kill(-child.id().cast_signed(), libc::SIGINT) };
    child.wait_with_output().unwrap()
}

/// Holds the end of an interrupted search against what there has to be, and goes on with it.
fn interrupts_and_resumes(session: &Session, arguments: &[&str]) -> String {
    let output = interrupted(session, arguments);
    let text = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{text}{errors}");
    assert_eq!(errors, "interrupted: ending; once more ends at once\n");
    assert!(text.contains("; ended: interrupted"), "{text}");
    assert!(text.contains("\n  best     "), "{text}");
    // A process that the interrupt has ended is no crash of its candidate.
    assert!(!text.contains("crash"), "{text}");
    assert!(session.names().contains(&"page.html".to_string()));
    let stopped = "SELECT count(*) FROM session WHERE stop = 'interrupted' AND ended IS NOT NULL";
    assert_eq!(number(session, stopped), Some(1));
    let evaluated = evaluations(session);
    let more = ["tune", "--tuned", "db", "--evaluations", "1", "--json"];
    let resumed = session.output(&[&more, arguments].concat());
    let line: serde_json::Value = serde_json::from_slice(&resumed.stdout).unwrap();
    assert_eq!(resumed.status.code(), Some(0), "{line}");
    assert_eq!(line["resumed"].as_i64(), Some(evaluated), "{line}");
    text
}

#[test]
fn an_interrupted_search_shows_what_it_has() {
    let session = Session::new();
    let program = example("matmul");
    let text = interrupts_and_resumes(&session, &[&program, "--out", "best.json"]);
    assert!(text.contains("\n  default  "), "{text}");
    assert!(session.names().contains(&"best.json".to_string()));
}

/// The processes that a process has started.
fn children(parent: &Child) -> Vec<i32> {
    let threads = std::fs::read_dir(format!("/proc/{}/task", parent.id())).into_iter();
    let lines = threads
        .flatten()
        .flatten()
        .filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    let lines: Vec<String> = lines.collect();
    let words = lines.iter().flat_map(|line| line.split_whitespace());
    words.filter_map(|number| number.parse().ok()).collect()
}

/// The most bytes of data of the processes that a process has started, as the system lists them.
fn limits(parent: &Child) -> Vec<u64> {
    let limit_of = |process: i32| {
        let limits_text = std::fs::read_to_string(format!("/proc/{process}/limits")).ok()?;
        let line = limits_text
            .lines()
            .find(|line| line.starts_with("Max data size"))?;
        line.split_whitespace().nth(3)?.parse().ok()
    };
    children(parent).into_iter().filter_map(limit_of).collect()
}

/// Waits until a search has made so many evaluations more.
fn wait_for_more(session: &Session, count: i64) {
    let (kept, start) = (evaluations(session), Instant::now());
    while evaluations(session) < kept + count && start.elapsed() < LONG {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(evaluations(session) >= kept + count);
}

/// Sends a signal to each process of a search, and waits until evaluations have failed so.
fn fails(session: &Session, child: &Child, signal: i32, kind: &str) {
    // Those that have come in the place of others are to be as far as these were.
    wait_for_more(session, 4);
    let failed = format!("SELECT count(*) FROM evaluation WHERE failure = '{kind}'");
    let start = Instant::now();
    for process in children(child) {
        // SAFETY: sends a signal to processes of our own child.
        unsafe { libc::kill(process, signal) };
    }
    while number(session, &failed) == Some(0) && start.elapsed() < LONG {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_ne!(number(session, &failed), Some(0), "no {kind}");
}

/// Checks: a candidate whose process dies, or does not answer, has failed; the search goes on with another
/// process, and ends with what works.
#[test]
fn processes_that_die_or_hang() {
    let session = Session::new();
    let child = begun(&session, &[&example("matmul")]);
    fails(&session, &child, libc::SIGSEGV, "crash");
    fails(&session, &child, libc::SIGSTOP, "hang");
    wait_for_more(&session, 4);
    // SAFETY: sends a signal to the group of our own child.
    unsafe { libc::kill(-child.id().cast_signed(), libc::SIGINT) };
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains(" crash: ") && text.contains(" hang: "),
        "{text}"
    );
    assert!(text.contains("\n  best     "), "{text}");
}

/// Checks: the machine's limits, which take seconds, are measured within the time of a search, and where it has
/// too little not at all; it confirms what was kept before.
#[test]
fn the_machines_limits_are_within_the_time() {
    let session = Session::new();
    let program = example("matmul");
    let mut outside = Vec::new();
    for (seconds, is_known) in [(8, false), (8, true), (20, true)] {
        let time = format!("{seconds}s");
        let more = ["tune", "--tuned", "db", "--for", &time, "--json"];
        let start = Instant::now();
        let output = session.output(&[&more[..], &[&program]].concat());
        let (took, errors) = (start.elapsed(), String::from_utf8_lossy(&output.stderr));
        let line: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let has_limit = seconds == 20;
        assert_eq!(line["stop"], format!("its {seconds} s are over"), "{line}");
        assert_eq!(line["resumed"].as_i64() > Some(0), is_known, "{line}");
        assert!(line["default"]["cost"].as_f64() > Some(0.0), "{line}");
        let made = ["evaluations", "repeated"].map(|name| line[name].as_i64().unwrap());
        assert!(made.iter().sum::<i64>() > 0, "{line}");
        assert_eq!(line["limit"].is_object(), has_limit, "{line}");
        assert_ne!(
            errors.contains("limits are not measured"),
            has_limit,
            "{errors}"
        );
        outside.push(took.as_secs_f64() - line["seconds"].as_f64().unwrap());
    }
    // Limits are measured for five seconds at least; what else is outside of a search, is so in each.
    assert!(outside[2] < outside[0].max(outside[1]) + 4.0, "{outside:?}");
}

/// Checks: a search gets its turns beside another one that has no end.
#[test]
fn two_searches_take_turns() {
    let session = Session::new();
    let program = example("matmul");
    let mut first = begun(&session, &[&program]);
    let more = ["tune", "--tuned", "other", "--evaluations", "4", "--json"];
    let output = session.output(&[&more[..], &[&program]].concat());
    let line: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    first.kill().unwrap();
    first.wait().unwrap();
    assert_eq!(line["evaluations"].as_i64(), Some(4), "{line}");
    assert!(line["failures"].as_object().unwrap().is_empty(), "{line}");
}

#[test]
fn the_memory_of_a_candidate_is_limited() {
    let session = Session::new();
    let mut child = begun(&session, &[&example("matmul")]);
    let limit = limits(&child);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!limit.is_empty());
    // Some for compiling, and not all that could be addressed.
    let is_right = |most: &u64| (1 << 28..1 << 40).contains(most);
    assert!(limit.iter().all(is_right), "{limit:?}");
}

#[test]
fn programs_of_the_tensor_language_are_tuned() {
    let session = Session::new();
    let file = example("tdsl/matvec").replace(".mlir", ".tdsl");
    std::fs::copy(file, session.path("matvec.tdsl")).unwrap();
    let line = "tune matvec.tdsl --evaluations 1 --range 0.5..1.5 --tuned=db --json";
    let output = session.output(&line.split(' ').collect::<Vec<_>>());
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{errors}");
}
