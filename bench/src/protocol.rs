//! Requests of the conductor of a benchmark to those who take part ([`mdh_process`]), and answers.
//!
//! Everybody is a process of its own, so that the threads, the memory and the failures of
//! one are nobody else's. It is told to load a case, then to run it so many times, and answers
//! how long each run took by its own clock. Arrays travel through files in memory
//! ([`super::shared`]), in row-major order without a header.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::limits::{Limits, Work};
use super::workloads::{Case, FileProgram};
use mdh_compiler::cli::{Range, Size};
use mdh_compiler::error::Result;
use mdh_compiler::source::Source;
use mdh_compiler::{diagnostics, sized};
use mdh_dialect::context;

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
        /// Its program, in MLIR.
        program: String,
        /// The function of the program.
        entry: String,
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
    /// The program: in MLIR, or in the language of its file.
    pub program: String,
    /// The name of its file, if it stands in one.
    pub file: Option<String>,
    /// Its function, if it has several.
    pub entry: Option<String>,
    /// Sizes that the program leaves open, by the names of dimensions.
    pub sizes: BTreeMap<String, i64>,
    /// The inputs, where they are not random: all arrays that are read, in order.
    pub inputs: Option<Vec<Array>>,
    /// The seed of random inputs.
    pub seed: u64,
    /// Ranges of random inputs.
    pub ranges: Vec<Range>,
    /// So many elements of each result are held against the definition.
    pub samples: usize,
    /// True if that is a check even where it could not tell results from zeros.
    pub may_be_weak: bool,
    /// A file with another schedule.
    pub schedule: Option<String>,
}

impl Task {
    /// The program of a case.
    pub fn new(case: &Case) -> Result<Task> {
        let task = Task {
            name: case.name(),
            ranges: case.ranges(),
            samples: case.samples,
            ..Task::default()
        };
        Ok(match &case.program {
            Some(program) => Task {
                sizes: case.dims.clone(),
                seed: program.seed,
                ..task.with(&program.program)
            },
            None => Task {
                program: case.program()?,
                ..task
            },
        })
    }

    /// The same for another program, which has all of its arrays from the case.
    pub fn against(case: &Case, program: &FileProgram, inputs: &[Array]) -> Task {
        let task = Task {
            name: case.name(),
            samples: case.samples,
            inputs: Some(inputs.to_vec()),
            ..Task::default()
        };
        task.with(program)
    }

    /// The program of a case for its sizes alone, which schedules that were tuned are for.
    ///
    /// # Errors
    /// If it leaves sizes open that do not follow from them.
    pub fn closed(case: &Case) -> Result<Task> {
        let task = Task::new(case)?;
        if task.sizes.is_empty() {
            return Ok(task);
        }
        let source = task.source()?;
        let context = context::program_context();
        diagnostics::show(&context, &source);
        let sizes = task.sizes();
        Ok(Task {
            program: sized::program(&context, &source, task.entry.as_deref(), &sizes)?,
            file: None,
            sizes: BTreeMap::new(),
            ..task
        })
    }

    fn with(self, program: &FileProgram) -> Task {
        Task {
            program: program.text.clone(),
            file: Some(program.file.clone()),
            entry: Some(program.entry.clone()),
            may_be_weak: true,
            ..self
        }
    }

    /// Returns the program as it is parsed.
    ///
    /// # Errors
    /// If it is wrong in the language of its file; what is wrong has been shown.
    pub fn source(&self) -> Result<Source> {
        match &self.file {
            Some(file) => Source::from_user(file, self.program.clone().into_bytes()),
            None => Ok(Source::from_text(&self.name, &self.program)),
        }
    }

    /// Returns the sizes as options have them.
    pub fn sizes(&self) -> Vec<Size> {
        let sizes = self.sizes.iter();
        sizes
            .map(|(dimension, size)| Size {
                dimension: dimension.clone(),
                size: *size,
            })
            .collect()
    }
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
    /// A remark on that comparison.
    pub note: Option<String>,
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
            entry: case.entry().to_string(),
            dims: case.dims.clone(),
            texts: case.texts.clone(),
            inputs: ours.inputs.clone(),
            outputs: ours.outputs.clone(),
        })
    }
}
