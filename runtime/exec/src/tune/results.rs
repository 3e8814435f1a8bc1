//! Results of measuring candidates, as `mdh tune --import` reads them.

use std::collections::BTreeMap;
use std::path::Path;

use mdh_cuda::Facts;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Error, Result};

/// The only format there is so far.
const FORMAT: u32 = 1;

/// Results of one call of `mdh-exec --tune`: written whole after each candidate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Results {
    /// The format, 1.
    pub format: u32,
    /// The GPU; none if no candidate came to be loaded.
    pub gpu: Option<TunedGpu>,
    /// The programs.
    pub programs: Vec<ProgramResults>,
}

/// A GPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TunedGpu {
    /// Its name.
    pub name: String,
    /// The compute capability of its chip, such as `sm_90`.
    pub chip: String,
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// Bytes of its memory.
    pub memory: u64,
    /// Bytes of its second-level cache.
    pub cache: u64,
}

impl TunedGpu {
    /// The one that a driver describes.
    pub fn new(facts: &Facts) -> TunedGpu {
        TunedGpu {
            name: facts.name.clone(),
            chip: facts.capability.to_string(),
            multiprocessors: facts.multiprocessors,
            memory: facts.memory,
            cache: facts.cache,
        }
    }
}

/// Results of a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramResults {
    /// Its name, for people.
    pub name: String,
    /// A digest of it without its sizes.
    pub program: String,
    /// Its sizes.
    pub sizes: BTreeMap<String, i64>,
    /// Operations of one run.
    pub flops: f64,
    /// Bytes of one run, each buffer counted once.
    pub bytes: f64,
    /// Measured candidates, in order.
    pub candidates: Vec<CandidateResult>,
    /// The number of candidates for which there was no time.
    pub left: usize,
}

/// Result of a candidate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CandidateResult {
    /// Its number in the package.
    pub number: usize,
    /// True for what the model chooses.
    pub is_default: bool,
    /// The configuration of the space of schedules.
    pub configuration: Value,
    /// The schedules.
    pub schedules: Value,
    /// Estimated milliseconds.
    pub estimate_ms: Option<f64>,
    /// Seconds since the call began.
    pub at_s: f64,
    /// Outcome of the measurement.
    pub outcome: Reply,
}

/// Outcome of measuring a candidate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Reply {
    /// Its result is right, and it took so long.
    Measured {
        /// Milliseconds of a run's kernels: means of several runs.
        samples_ms: Vec<f64>,
        /// False if the measurement ended since it could not win.
        is_complete: bool,
        /// Kernels of a run.
        launches: usize,
        /// True if each run finds its data in memory, not in the cache.
        is_cold: bool,
    },
    /// It does not work.
    Failed {
        /// The kind, by the tuner's name.
        kind: String,
        /// Text for a report.
        text: String,
    },
}

impl Reply {
    /// The median time in milliseconds.
    pub fn cost(&self) -> Option<f64> {
        match self {
            Reply::Measured { samples_ms, .. } if !samples_ms.is_empty() => {
                Some(crate::stats::Median::new(samples_ms).value)
            }
            _ => None,
        }
    }
}

impl ProgramResults {
    /// The candidate of least time.
    pub fn best(&self) -> Option<&CandidateResult> {
        let measured = self
            .candidates
            .iter()
            .filter(|one| one.outcome.cost().is_some());
        let cost = |one: &CandidateResult| one.outcome.cost().unwrap_or(f64::INFINITY);
        measured.min_by(|a, b| cost(a).total_cmp(&cost(b)))
    }

    /// The model's choice.
    pub fn default(&self) -> Option<&CandidateResult> {
        self.candidates.iter().find(|one| one.is_default)
    }
}

impl Default for Results {
    fn default() -> Results {
        Results {
            format: FORMAT,
            gpu: None,
            programs: Vec::new(),
        }
    }
}

impl Results {
    /// Reads a file's text.
    pub fn read(text: &str) -> Result<Results> {
        #[derive(Deserialize)]
        struct Version {
            format: u32,
        }
        let wrong = |error: serde_json::Error| {
            Error::input(format!(
                "the results are damaged, or are none: {error}; expected a file that `mdh-exec \
                 --tune --out` wrote"
            ))
        };
        let version: Version = serde_json::from_str(text).map_err(wrong)?;
        if version.format != FORMAT {
            return Err(Error::input(format!(
                "the results have format {}: expected {FORMAT}",
                version.format
            )));
        }
        serde_json::from_str(text).map_err(wrong)
    }

    /// Writes the file: all of it, or nothing.
    pub fn write(&self, path: &Path) -> Result<()> {
        let failed = |error: &dyn std::fmt::Display| {
            Error::input(format!("cannot write '{}': {error}", path.display()))
        };
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let mut file = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))
            .map_err(|error| failed(&error))?;
        serde_json::to_writer_pretty(&mut file, self).map_err(|error| failed(&error))?;
        file.persist(path).map_err(|error| failed(&error))?;
        Ok(())
    }
}
