//! Requests of the conductor of a benchmark to those who take part ([`mdh_process`]), and answers.
//!
//! Everybody is a process of its own, so that the threads, the memory and the failures of
//! one are nobody else's. It is told to load a case, then to run it so many times, and answers
//! how long each run took by its own clock. Arrays travel through files in memory
//! ([`super::shared`]), in row-major order without a header.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::limits::{Limits, Work};
use super::workloads::Case;
use mdh_compiler::cli::Range;
use mdh_compiler::error::Result;

/// Request to one who takes part.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Request {
    /// Asks for a sign of readiness.
    Hello,
    /// To prepare a program of ours: compile it, make its inputs.
    Compile(Task),
    /// To prepare a program of ours for several schedules: make its inputs, evaluate its definition.
    Prepare(Task),
    /// To compile the program that is prepared.
    Schedule {
        /// Its schedules, in JSON; the model's, if there are none.
        schedules: Option<String>,
    },
    /// To prepare a case on given inputs.
    Load {
        /// The workload.
        workload: String,
        /// Its program.
        program: String,
        /// Its dimensions.
        dims: BTreeMap<String, i64>,
        /// Texts that belong to its size.
        texts: BTreeMap<String, String>,
        /// The inputs.
        inputs: Vec<Array>,
        /// Types and shapes of the results.
        outputs: Vec<Array>,
    },
    /// To run it.
    Run {
        /// So many times.
        calls: u32,
    },
    /// To write the results of a single run on the inputs as they were given.
    Output {
        /// A file for each.
        files: Vec<String>,
    },
    /// To measure what the machine can do.
    Limits,
    /// To forget the case; of a program that is prepared, its code.
    Drop,
}

/// A program of ours.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Task {
    /// The case, for messages.
    pub name: String,
    /// The program.
    pub program: String,
    /// Its function, if it has several.
    pub entry: Option<String>,
    /// Ranges of random inputs.
    pub ranges: Vec<Range>,
    /// So many elements of each result are held against the definition.
    pub samples: usize,
    /// A file with another schedule.
    pub schedule: Option<String>,
}

/// Answer of one who takes part.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// A program of ours is compiled and checked.
    Compiled(Compiled),
    /// The case is loaded, or something else is done.
    Done {},
    /// The case is none for this one, and why.
    No(String),
    /// Nanoseconds of each run.
    Times(Vec<f64>),
    /// The machine's limits.
    Limits(Limits),
    /// It went wrong.
    Failed(String),
    /// The result is not what the definition says.
    Wrong(String),
    /// The result may be so inaccurate that a wrong one could not be told from it.
    Unchecked(String),
}

/// A program of ours, ready to run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Compiled {
    /// Its inputs, with the files that hold them.
    pub inputs: Vec<Array>,
    /// Its results.
    pub outputs: Vec<Array>,
    /// The work of one run.
    pub work: Work,
    /// From the parsed program to loaded machine code.
    pub compile_ms: f64,
    /// True if the results were compared with the definition.
    pub checked: bool,
}

/// An array of a case.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Array {
    /// Its name.
    pub name: String,
    /// Its element type, by MLIR's name.
    pub dtype: String,
    /// Its extents.
    pub shape: Vec<i64>,
    /// Its bytes.
    pub bytes: u64,
    /// The file that holds it, if there is one. That of a result is the file of the input which it
    /// updates.
    pub file: Option<String>,
}

impl Request {
    /// Returns the request to a peer to load a case on the inputs of ours.
    pub fn load(case: &Case, ours: &Compiled) -> Result<Request> {
        Ok(Request::Load {
            workload: case.workload.clone(),
            program: case.program()?,
            dims: case.dims.clone(),
            texts: case.texts.clone(),
            inputs: ours.inputs.clone(),
            outputs: ours.outputs.clone(),
        })
    }
}
