//! Report of a benchmark: a row for each case, as JSON and as lines of text.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::conduct::Entrant;
use super::limits::Limit;
use super::peers::PeerKind;
use super::workloads::{self, Case};
use mdh_compiler::tuned::Taken;
use mdh_exec::stats::geometric_mean;

/// One case: exactly an object of the array that `--json` writes. What could not be measured is
/// `null`.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The workload.
    pub workload: String,
    /// The name of its size.
    pub size: String,
    /// The element type.
    pub dtype: String,
    /// Device of the run.
    pub device: &'static str,
    /// The median time of a run.
    pub ours_ms: Option<f64>,
    /// The 99 % confidence interval of that median; none of few runs.
    pub ci: Option<[f64; 2]>,
    /// From the parsed program to loaded machine code.
    pub compile_ms: Option<f64>,
    /// Bound of a run, and the fraction of it that ours reaches.
    pub limit: Option<Reached>,
    /// Median times of peers, by name.
    pub peers: BTreeMap<String, f64>,
    /// The 99 % confidence intervals of those medians; left out if there are none.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub peers_ci: BTreeMap<String, [f64; 2]>,
    /// The fastest of them.
    pub best_peer: Option<String>,
    /// Its time divided by ours: above 1, ours is faster.
    pub ratio: Option<f64>,
    /// Times of ours with other schedules, as they were given; left out without any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub schedules: Vec<OtherTime>,
    /// The schedule that was tuned, or why there is none; left out if it was not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tuned: Option<Taken>,
    /// Times of other programs of ours for the same results; left out without any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub variants: Vec<OtherTime>,
    /// True if our result was compared with the definition.
    pub checked: bool,
    /// Reason for which there are no times, if there are none.
    pub failed: Option<String>,
    /// Notes.
    pub notes: Vec<String>,
    /// The functions of Python files that have no time: somebody has written them for this.
    #[serde(skip)]
    pub failed_functions: Vec<String>,
}

/// A limit, and what was reached of it.
#[derive(Clone, Debug, Serialize)]
pub struct Reached {
    /// The limiting unit: `FMA`, or the smallest memory that holds all arrays.
    pub kind: String,
    /// The time that the limit allows, divided by ours.
    pub fraction: f64,
}

/// The time of ours in another form: with another schedule, or as another program.
#[derive(Clone, Debug, Serialize)]
pub struct OtherTime {
    /// Its name.
    pub name: String,
    /// The file of its schedule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The median time of a run; none if it does not work.
    pub ms: Option<f64>,
    /// The 99 % confidence interval of that median; left out of few runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ci: Option<[f64; 2]>,
    /// That time divided by ours: above 1, ours is faster.
    pub ratio: Option<f64>,
    /// From the parsed program to loaded machine code.
    pub compile_ms: Option<f64>,
    /// Reason for which there is no time, if there is none.
    pub failed: Option<String>,
}

impl OtherTime {
    /// A row of this name, of which nothing is known yet.
    pub fn new(name: &str) -> OtherTime {
        OtherTime {
            name: name.to_string(),
            file: None,
            ms: None,
            ci: None,
            ratio: None,
            compile_ms: None,
            failed: None,
        }
    }
}

/// A peer's time.
pub struct PeerTime {
    /// Its name.
    pub name: String,
    /// The median.
    pub ms: f64,
    /// Its 99 % confidence interval; none of few runs.
    pub ci: Option<[f64; 2]>,
}

impl Row {
    /// A row without results.
    pub fn new(case: &Case) -> Row {
        Row {
            workload: case.workload.clone(),
            size: case.size.clone(),
            dtype: case.dtype.clone(),
            device: "cpu",
            ours_ms: None,
            ci: None,
            compile_ms: None,
            limit: None,
            peers: BTreeMap::new(),
            peers_ci: BTreeMap::new(),
            best_peer: None,
            ratio: None,
            schedules: Vec::new(),
            tuned: None,
            variants: Vec::new(),
            checked: false,
            failed: None,
            notes: Vec::new(),
            failed_functions: Vec::new(),
        }
    }

    /// `matmul/1024x1024x1024`.
    pub fn name(&self) -> String {
        workloads::named(&self.workload, &self.size)
    }

    /// It was not run.
    pub fn skipped(mut self, why: &str) -> Row {
        self.failed = Some(format!("skipped: {why}"));
        self
    }

    /// It does not work.
    pub fn failed(mut self, why: &str) -> Row {
        self.failed = Some(format!("failed: {why}"));
        self
    }

    /// Adds a remark.
    pub fn note(&mut self, text: &str) {
        self.notes.push(text.to_string());
    }

    /// Sets how close our time is to a limit.
    pub fn set_limit(&mut self, limit: Option<Limit>) {
        let pair = limit.zip(self.ours_ms);
        self.limit = pair.map(|(limit, ours)| Reached {
            kind: limit.kind,
            fraction: limit.ms / ours,
        });
    }

    /// Adds a peer's time, after ours is known.
    pub fn add_peer(&mut self, peer: PeerTime) {
        let best = self
            .best_peer
            .as_ref()
            .and_then(|name| self.peers.get(name));
        if best.is_none_or(|best| peer.ms < *best) {
            self.best_peer = Some(peer.name.clone());
            self.ratio = self.ours_ms.map(|ours| peer.ms / ours);
        }
        if let Some(ci) = peer.ci {
            self.peers_ci.insert(peer.name.clone(), ci);
        }
        self.peers.insert(peer.name, peer.ms);
    }

    /// Adds the reason for which a peer has no time.
    pub fn fail_peer(&mut self, name: &str, kind: PeerKind, why: &str) {
        self.note(&format!("{name}: {why}"));
        if kind == PeerKind::Function {
            self.failed_functions.push(name.to_string());
        }
    }

    /// Adds the time of ours in another form.
    pub fn add_other(&mut self, form: &Entrant, time: OtherTime) {
        match form {
            Entrant::Own(_) => {}
            Entrant::Schedule(file) | Entrant::Tuned(file) => self.schedules.push(OtherTime {
                file: Some(file.clone()),
                ..time
            }),
            Entrant::Variant(_) | Entrant::Against(_) => self.variants.push(time),
        }
    }

    /// The schedules, variants and functions of Python files without a time, of a case that has one.
    pub fn failed_forms(&self) -> Vec<String> {
        let forms = self.schedules.iter().chain(&self.variants);
        let failed = forms.filter(|other| other.ms.is_none());
        let failed = failed.map(|other| &other.name);
        failed
            .chain(&self.failed_functions)
            .filter(|_| self.failed.is_none())
            .map(|name| format!("{} with '{name}'", self.name()))
            .collect()
    }
}

/// Half a confidence interval in percent of its median, in words; nothing if there is none.
fn spread(ms: Option<f64>, ci: Option<[f64; 2]>) -> String {
    let percent = ms.zip(ci);
    let percent = percent.map(|(ms, [low, high])| (high - low) / 2.0 / ms * 100.0);
    percent.map(|p| format!("{p:.1} %")).unwrap_or_default()
}

/// The rows as JSON: an array of objects, a line each.
pub fn json(rows: &[Row]) -> String {
    let lines: Vec<String> = rows
        .iter()
        .map(|row| serde_json::to_string(row).unwrap_or_default())
        .collect();
    format!("[\n{}\n]\n", lines.join(",\n"))
}

/// The line above the rows.
pub const HEADING: &str = "workload                           ours ms   99 %  compiled   of the limit  ratio  peers, fastest first, ms";

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<32}", self.name())?;
        if let Some(failed) = &self.failed {
            write!(f, "  {failed}")?;
        } else {
            let ms = self
                .ours_ms
                .map(|ms| Short(ms).to_string())
                .unwrap_or_default();
            let spread = spread(self.ours_ms, self.ci);
            let compiled = self
                .compile_ms
                .map(|ms| format!("{ms:.0} ms"))
                .unwrap_or_default();
            let limit = self.limit.as_ref();
            let limit = limit
                .map(|l| format!("{:.0} % {}", l.fraction * 100.0, l.kind))
                .unwrap_or_default();
            let ratio = self.ratio.map(|r| format!("{r:.2}x")).unwrap_or_default();
            write!(
                f,
                "  {ms:>8} {spread:>6} {compiled:>9}  {limit:>13} {ratio:>6}"
            )?;
            let mut peers: Vec<(&String, &f64)> = self.peers.iter().collect();
            peers.sort_by(|a, b| a.1.total_cmp(b.1));
            let peers: Vec<String> = peers
                .iter()
                .map(|(name, ms)| format!("{name} {}", Short(**ms)))
                .collect();
            write!(f, "  {}", peers.join(", "))?;
        }
        if !self.checked && self.failed.is_none() {
            f.write_str("  (not checked)")?;
        }
        for other in self.schedules.iter().chain(&self.variants) {
            write!(f, "\n    {other}")?;
        }
        for note in &self.notes {
            write!(f, "\n    {note}")?;
        }
        Ok(())
    }
}

impl fmt::Display for OtherTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<28}", self.name)?;
        if let Some(failed) = &self.failed {
            return write!(f, "  {failed}");
        }
        let ms = self.ms.map(|ms| Short(ms).to_string()).unwrap_or_default();
        let compiled = self.compile_ms.map(|ms| format!("{ms:.0} ms"));
        let compiled = compiled.unwrap_or_default();
        let ratio = self.ratio.map(|r| format!("{r:.2}x")).unwrap_or_default();
        let spread = spread(self.ms, self.ci);
        write!(
            f,
            "  {ms:>8} {spread:>6} {compiled:>9}  {:>13} {ratio:>6}",
            ""
        )?;
        match &self.file {
            Some(file) => write!(f, "  schedule {file}"),
            None => f.write_str("  variant"),
        }
    }
}

/// The last line: how we compare with the best peers.
pub fn summary(rows: &[Row]) -> Option<String> {
    let ratios: Vec<f64> = rows.iter().filter_map(|row| row.ratio).collect();
    let faster = ratios.iter().filter(|ratio| **ratio >= 1.0).count();
    let mean = geometric_mean(ratios.iter().copied())?;
    Some(format!(
        "faster than the best peer in {faster} of {}; geometric mean of the ratios {mean:.2}x",
        ratios.len()
    ))
}

/// A number with three significant digits.
struct Short(f64);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = match self.0 {
            x if x >= 100.0 => 0,
            x if x >= 10.0 => 1,
            x if x >= 1.0 => 2,
            x if x >= 0.1 => 3,
            _ => 4,
        };
        write!(f, "{:.decimals$}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::{Scale, Statements, Variant, all};

    fn row(number: usize) -> Row {
        Row::new(&all(Scale::Full).unwrap()[number])
    }

    fn peer(name: &str, ms: f64) -> PeerTime {
        PeerTime {
            name: name.to_string(),
            ms,
            ci: None,
        }
    }

    fn rows() -> Vec<Row> {
        let mut full = row(5);
        full.ours_ms = Some(12.34);
        full.ci = Some([12.0, 12.5]);
        full.compile_ms = Some(81.2);
        full.checked = true;
        full.set_limit(Some(Limit {
            kind: "FMA".to_string(),
            ms: 9.3,
        }));
        full.add_peer(PeerTime {
            ci: Some([12.9, 13.2]),
            ..peer("torch", 13.0)
        });
        full.add_peer(peer("openblas", 10.4));
        full.add_peer(peer("jax", 11.0));
        let time = |name: &str| OtherTime {
            ms: Some(24.68),
            ci: Some([24.0, 25.0]),
            ratio: Some(2.0),
            compile_ms: Some(90.4),
            ..OtherTime::new(name)
        };
        let failed = |name: &str| OtherTime {
            failed: Some("it fails, as said above".to_string()),
            ..OtherTime::new(name)
        };
        let schedule = |name: &str| Entrant::Schedule(format!("{name}.json"));
        let variant = |name: &str| {
            Entrant::Variant(Variant {
                name: name.to_string(),
                statements: Statements::Copied,
            })
        };
        full.add_other(&schedule("swizzled"), time("swizzled"));
        full.add_other(&schedule("wrong"), failed("wrong"));
        full.add_other(&variant("with_copy"), time("with_copy"));
        full.note("numba: another result than ours in 'C': element 0 is 1, expected 2");
        let mut alone = row(0);
        alone.ours_ms = Some(0.01234);
        let memory = row(1).skipped("not enough memory: 2.0 TiB are needed, 1.0 GiB are available");
        vec![full, alone, memory, row(2).failed("no answer within 180 s")]
    }

    #[test]
    fn lines() {
        let lines: Vec<String> = rows().iter().map(Row::to_string).collect();
        insta::assert_snapshot!(format!("{HEADING}\n{}", lines.join("\n")));
        insta::assert_snapshot!(summary(&rows()).unwrap(), @"faster than the best peer in 0 of 1; geometric mean of the ratios 0.84x");
        assert_eq!(summary(&rows()[1..]), None);
        let mut full = rows().remove(0);
        full.fail_peer("numba", PeerKind::Package, "not in this package");
        full.fail_peer("numpy:own.py", PeerKind::Function, "it returns nothing");
        assert_eq!(
            full.failed_forms(),
            ["wrong", "numpy:own.py"].map(|name| format!("matmul/1024x1024x1024 with '{name}'"))
        );
    }

    #[test]
    fn as_json() {
        insta::assert_snapshot!(json(&rows()));
    }
}
