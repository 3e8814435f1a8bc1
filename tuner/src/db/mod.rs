//! The database: every evaluation that was ever made, in one SQLite file of a folder.
//!
//! - A row is durable before the next evaluation is made: it is a transaction of its own, with a
//!   rollback journal (not a write-ahead log, which asks for shared memory and for the right to
//!   write of those who only read).
//! - Several processes may use it: who has to wait does so for up to a minute.
//! - A file that is damaged, of a newer version, or of another program is renamed, not overwritten.
//!   A lock on a second file makes sure that one process at a time decides so.
//! - What was there stays there, whatever fails.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rusqlite::{Connection, OpenFlags, params};

mod open;
mod query;

use crate::error::{Error, ErrorKind, Result};
use crate::measure::{Ended, Outcome};
use crate::tune::{Evaluation, Keep, StopReason};

pub use open::SetAside;
pub use query::Kept;

/// The file's name in its folder.
pub const FILE: &str = "tuner.db";
/// Time for which another process is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

/// A program with its sizes, on a machine: all that evaluations belong to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Task {
    /// The machine, as the caller names it.
    pub machine: String,
    /// The program, as the caller names it: a digest of what it computes, say.
    pub program: String,
    /// Its sizes.
    pub sizes: Sizes,
}

/// Sizes of a program: numbers with names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sizes(pub BTreeMap<String, i64>);

impl Sizes {
    /// Sizes of pairs.
    pub fn new<'n>(pairs: impl IntoIterator<Item = (&'n str, i64)>) -> Sizes {
        let pairs = pairs
            .into_iter()
            .map(|(name, size)| (name.to_string(), size));
        Sizes(pairs.collect())
    }

    /// The text by which they are kept.
    fn text(&self) -> String {
        serde_json::json!(self.0).to_string()
    }

    fn of_text(text: &str) -> Option<Sizes> {
        serde_json::from_str(text).ok().map(Sizes)
    }

    /// The distance to others: the sum of the logarithms of ratios. None if the names differ, or one of
    /// them leaves a size open (a negative number) that the other one has.
    pub fn distance(&self, other: &Sizes) -> Option<f64> {
        let log = |size: i64| (size.max(1) as f64).ln();
        let same = self.0.len() == other.0.len() && self.0.keys().eq(other.0.keys());
        let pairs = || self.0.values().zip(other.0.values());
        let is_far = pairs().any(|(a, b)| (*a < 0) != (*b < 0));
        (same && !is_far).then(|| pairs().map(|(a, b)| (log(*a) - log(*b)).abs()).sum())
    }

    /// Returns whether none of them is open.
    pub fn are_known(&self) -> bool {
        self.0.values().all(|size| *size >= 0)
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes: Vec<String> = self
            .0
            .iter()
            .map(|(name, n)| format!("{name}={n}"))
            .collect();
        f.write_str(&sizes.join(" "))
    }
}

/// An open database.
#[derive(Debug)]
pub struct Database {
    connection: Connection,
    path: PathBuf,
    set_aside: Option<SetAside>,
}

impl Database {
    /// Opens the database of a folder, or makes it, the folder too.
    pub fn open(folder: &Path) -> Result<Database> {
        open::for_writing(folder)
    }

    /// Opens the database of a folder for queries; none if there is none. Nothing is written or
    /// renamed: what cannot be read is an error.
    pub fn read(folder: &Path) -> Result<Option<Database>> {
        open::for_reading(folder)
    }

    /// The file that could not be used and was renamed, if there was one.
    pub fn set_aside(&self) -> Option<&SetAside> {
        self.set_aside.as_ref()
    }

    /// Begins a session of tuning.
    pub fn session(&mut self, task: &Task, technique: &str, seed: u64) -> Result<Session<'_>> {
        let inserted = self.connection.execute(
            "INSERT INTO session (machine, program, sizes, technique, seed, started) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![
                task.machine,
                task.program,
                task.sizes.text(),
                technique,
                seed as i64,
                seconds()
            ],
        );
        inserted.map_err(|error| failed(&self.path, error))?;
        Ok(Session {
            number: self.connection.last_insert_rowid(),
            database: self,
        })
    }
}

/// A session of tuning: a [`Keep`] for the evaluations of one task.
#[derive(Debug)]
pub struct Session<'d> {
    database: &'d mut Database,
    number: i64,
}

impl Session<'_> {
    /// Notes why it ends. A session without a note was killed.
    pub fn end(self, stop: &StopReason) -> Result<()> {
        let updated = self.database.connection.execute(
            "UPDATE session SET ended = ?1, stop = ?2 WHERE id = ?3",
            params![seconds(), stop.to_string(), self.number],
        );
        updated
            .map(|_| ())
            .map_err(|error| failed(&self.database.path, error))
    }
}

/// In the place of a technique's name, of the row that says what a session has chosen.
const CHOSEN: &str = "chosen";

impl Keep for Session<'_> {
    fn choose(&mut self, best: &Evaluation) -> Result<()> {
        self.keep(&Evaluation {
            technique: CHOSEN.to_string(),
            ..best.clone()
        })
    }

    fn keep(&mut self, evaluation: &Evaluation) -> Result<()> {
        let (mut cost, mut samples, mut is_complete) = (None, None, None);
        let (mut failure, mut message) = (None, None);
        match &evaluation.outcome {
            Outcome::Measured(measured) => {
                cost = Some(measured.value);
                samples = Some(serde_json::json!(measured.samples).to_string());
                is_complete = Some(measured.ended == Ended::Complete);
            }
            Outcome::Failed(failed) => {
                failure = Some(failed.kind.name());
                message = Some(failed.text.as_str());
            }
        }
        let inserted = self.database.connection.execute(
            "INSERT INTO evaluation (session, number, configuration, cost, samples, complete, \
             failure, message, technique, at, time) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            params![
                self.number,
                evaluation.number as i64,
                evaluation.configuration.key(),
                cost,
                samples,
                is_complete,
                failure,
                message,
                evaluation.technique,
                evaluation.at.as_secs_f64(),
                seconds()
            ],
        );
        inserted
            .map(|_| ())
            .map_err(|error| failed(&self.database.path, error))
    }
}

/// Seconds since 1970, for people who read the database.
fn seconds() -> f64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0.0, |since| since.as_secs_f64())
}

/// The tuner's error for one of SQLite.
fn failed(path: &Path, error: rusqlite::Error) -> Error {
    use rusqlite::ErrorCode;
    let at = path.display();
    let resources = |what: &str, help: &str| {
        Error::new(ErrorKind::Resources, format!("{what}: {at} ({error})")).help(help)
    };
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => resources(
            "there is no space left for the database",
            "all evaluations that were kept before are still there; make space and resume",
        ),
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            resources(
                "the database cannot be written",
                "give the right to write to the file and its folder, or another folder",
            )
        }
        Some(ErrorCode::SystemIoFailure) => resources(
            "the database cannot be read or written",
            "see whether its disk has space left and works",
        ),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => resources(
            &format!(
                "another process holds the database for more than {} s",
                PATIENCE.as_secs()
            ),
            "end the process that holds it, or give another folder",
        ),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => resources(
            "the database was damaged while it was open",
            "start again: the file is then renamed, and a new one is made",
        ),
        _ => Error::bug(format!("the database {at}: {error}")),
    }
}

#[cfg(test)]
mod tests;
