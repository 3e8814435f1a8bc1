//! Questions to the database.

use rusqlite::{Row, params};

use super::*;
use crate::measure::{Cost, FailureKind};
use crate::space::value::Configuration;
use crate::tune::Resumed;

/// An evaluation that was kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    /// The configuration.
    pub configuration: Configuration,
    /// Its outcome.
    pub outcome: Outcome,
    /// The technique that proposed it.
    pub technique: String,
    /// The day on which it was measured, as 2026-11-27.
    pub date: String,
    /// The number of times that it has hung, or taken too much memory.
    pub failures: usize,
}

impl From<Kept> for Resumed {
    fn from(kept: Kept) -> Resumed {
        Resumed {
            configuration: kept.configuration,
            outcome: kept.outcome,
            technique: kept.technique,
            failures: kept.failures,
        }
    }
}

/// The evaluations of a task, of each configuration the one that counts: the first by which it has
/// failed for a reason that stays, or else the last one.
fn of_task() -> String {
    let transient = FailureKind::ALL
        .into_iter()
        .filter(|kind| kind.is_transient());
    let transient: Vec<String> = transient.map(|kind| format!("'{}'", kind.name())).collect();
    let transient = transient.join(", ");
    format!(
        "SELECT own.configuration, own.cost, own.samples, own.complete, own.failure, \
         own.message, first.technique, date(own.time, 'unixepoch'), failures FROM \
         (SELECT min(id) AS first, \
         coalesce(min(CASE WHEN failure NOT IN ({transient}) THEN id END), max(id)) AS counts, \
         count(CASE WHEN failure IN ({transient}) THEN 1 END) AS failures \
         FROM evaluation WHERE session IN \
         (SELECT id FROM session WHERE program = ?1 AND machine = ?2 AND sizes = ?3) \
         GROUP BY configuration) AS kept JOIN evaluation AS own ON own.id = kept.counts \
         JOIN evaluation AS first ON first.id = kept.first"
    )
}

impl Database {
    /// The evaluations of a task, the best first: what its last session has chosen, with the cost by which
    /// that was, then the others by cost. A configuration that was measured more than once has
    /// its last cost. It is none of them if it has failed the last time, or ever for a reason that
    /// stays ([`FailureKind::is_transient`]).
    pub fn ranked(&self, task: &Task) -> Result<Vec<Kept>> {
        let query = format!(
            "{} WHERE own.cost IS NOT NULL ORDER BY own.id = (SELECT max(evaluation.id) FROM evaluation \
             JOIN session ON session = session.id WHERE evaluation.technique = '{CHOSEN}' \
             AND program = ?1 AND machine = ?2 AND sizes = ?3) DESC, own.cost, own.id",
            of_task()
        );
        self.rows(&query, task)
    }

    /// All evaluations of a task, in the order in which they were made, of each configuration the
    /// last one, or that by which it has failed for a reason that stays: what a search that is
    /// resumed knows.
    pub fn evaluations(&self, task: &Task) -> Result<Vec<Kept>> {
        let query = of_task() + " ORDER BY own.id";
        self.rows(&query, task)
    }

    /// The best evaluations of the same program on the same machine for other sizes, the nearest
    /// sizes first.
    pub fn nearest(&self, task: &Task, most: usize) -> Result<Vec<(Sizes, Kept)>> {
        let neighbours = self.ranked_nearest(task, most)?.into_iter();
        let best =
            neighbours.filter_map(|(sizes, ranked)| Some((sizes, ranked.into_iter().next()?)));
        Ok(best.collect())
    }

    /// The same with all evaluations of each sizes, the best first.
    pub fn ranked_nearest(&self, task: &Task, most: usize) -> Result<Vec<(Sizes, Vec<Kept>)>> {
        let known = self.sizes(&task.program, &task.machine)?.into_iter();
        let neighbours = known.filter(|sizes| *sizes != task.sizes);
        let mut neighbours: Vec<(f64, Sizes)> = neighbours
            .filter_map(|sizes| Some((task.sizes.distance(&sizes)?, sizes)))
            .collect();
        neighbours.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
        let mut nearest = Vec::new();
        for (_, sizes) in neighbours {
            let other = Task {
                sizes: sizes.clone(),
                ..task.clone()
            };
            let ranked = self.ranked(&other)?;
            if !ranked.is_empty() {
                nearest.push((sizes, ranked));
            }
            if nearest.len() == most {
                break;
            }
        }
        Ok(nearest)
    }

    /// The sizes that a program was tuned for on a machine, the latest first.
    pub fn sizes(&self, program: &str, machine: &str) -> Result<Vec<Sizes>> {
        let wrong = |error| failed(&self.path, error);
        let query = "SELECT sizes FROM session JOIN evaluation ON session = session.id \
             WHERE program = ?1 AND machine = ?2 AND cost IS NOT NULL \
             GROUP BY sizes ORDER BY max(time) DESC, sizes";
        let mut statement = self.connection.prepare(query).map_err(wrong)?;
        let texts = statement
            .query_map(params![program, machine], |row| row.get::<_, String>(0))
            .and_then(Iterator::collect::<rusqlite::Result<Vec<String>>>)
            .map_err(wrong)?;
        Ok(texts
            .iter()
            .filter_map(|text| Sizes::of_text(text))
            .collect())
    }

    /// The machines on which a program was tuned, whatever its sizes.
    pub fn machines(&self, program: &str) -> Result<Vec<String>> {
        let wrong = |error| failed(&self.path, error);
        let query = "SELECT DISTINCT machine FROM session WHERE program = ?1 ORDER BY machine";
        let mut statement = self.connection.prepare(query).map_err(wrong)?;
        statement
            .query_map(params![program], |row| row.get(0))
            .and_then(Iterator::collect)
            .map_err(wrong)
    }

    /// The number of sessions and of evaluations in all.
    pub fn counts(&self) -> Result<(u64, u64)> {
        let query = "SELECT (SELECT count(*) FROM session), \
             (SELECT count(*) FROM evaluation WHERE technique <> ?1)";
        let read = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?));
        let counts = self.connection.query_row(query, [CHOSEN], read);
        let (sessions, evaluations) = counts.map_err(|error| failed(&self.path, error))?;
        Ok((sessions.unsigned_abs(), evaluations.unsigned_abs()))
    }

    fn rows(&self, query: &str, task: &Task) -> Result<Vec<Kept>> {
        let wrong = |error| failed(&self.path, error);
        let mut statement = self.connection.prepare(query).map_err(wrong)?;
        let task = params![task.program, task.machine, task.sizes.text()];
        let rows = statement.query_map(task, |row| Ok(kept(row)));
        let rows: Vec<Option<Kept>> = rows
            .and_then(|rows| rows.map(|row| row.and_then(|kept| kept)).collect())
            .map_err(wrong)?;
        // A row that says nothing was written by nobody of ours.
        Ok(rows.into_iter().flatten().collect())
    }
}

fn kept(row: &Row<'_>) -> rusqlite::Result<Option<Kept>> {
    let configuration: String = row.get(0)?;
    let cost: Option<f64> = row.get(1)?;
    let samples: Option<String> = row.get(2)?;
    let is_complete: Option<bool> = row.get(3)?;
    let failure: Option<String> = row.get(4)?;
    let message: Option<String> = row.get(5)?;
    let technique: String = row.get(6)?;
    let date: Option<String> = row.get(7)?;
    let failures: u32 = row.get(8)?;
    let configuration = serde_json::from_str(&configuration).ok();
    let configuration = configuration.and_then(|json| Configuration::of_json(&json).ok());
    let outcome = match (cost, failure) {
        (Some(value), _) => Some(Outcome::Measured(Cost {
            value,
            samples: samples
                .and_then(|text| serde_json::from_str(&text).ok())
                .unwrap_or_default(),
            ended: match is_complete {
                Some(false) => Ended::Lost,
                _ => Ended::Complete,
            },
        })),
        (None, Some(name)) => {
            FailureKind::named(&name).map(|kind| Outcome::failed(kind, message.unwrap_or_default()))
        }
        (None, None) => None,
    };
    Ok(configuration
        .zip(outcome)
        .map(|(configuration, outcome)| Kept {
            configuration,
            outcome,
            technique,
            date: date.unwrap_or_default(),
            failures: failures as usize,
        }))
}
