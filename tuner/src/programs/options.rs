//! Command line of `mdh tune`.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::{Args, ValueEnum};
use mdh_compiler::cli::{Json, MachineOptions, Range, Size};
use mdh_compiler::devices::{self, NamedDevice};
use mdh_compiler::error::Result;
use mdh_cuda::Capability;
use mdh_schedule::SearchedParts;

use crate::abort_condition::duration;

/// Arguments that say nothing of what was measured before.
const NOT_OF_RESULTS: [&str; 10] = [
    "package",
    "html",
    "parts",
    "until",
    "time",
    "evaluations",
    "no_better_for",
    "technique",
    "seed",
    "json",
];

/// Arguments of `mdh tune`.
#[derive(Args, Debug)]
#[command(after_help = TUNE_EXAMPLES)]
pub struct TuneArguments {
    /// Programs (.mlir, .tdsl), and workloads of `mdh bench` at one size (matmul/1024x1024x1024).
    #[arg(value_name = "FILE|WORKLOAD", required_unless_present = "import")]
    pub subjects: Vec<String>,
    /// The machine that schedules are for: this machine's processor if none is named. A GPU's are estimated, and
    /// measured by `mdh-exec --tune`, which takes what --package writes.
    #[command(flatten)]
    pub machine: MachineOptions,
    /// Makes packages in a folder, instead of measuring. One (.mdhtune) has the best schedules of a program, with the
    /// default, and the name of the program, --entry and --size.
    #[arg(long, value_name = "DIR")]
    pub package: Option<PathBuf>,
    /// Number of schedules of a package, beside the default.
    #[arg(long, value_name = "N", default_value_t = 20, requires = "package")]
    pub best: usize,
    /// The chip that kernels are for: a compute capability (sm_80, sm_90a), or a GPU that has it (h100). It is
    /// that of packages; sm_90 if none is named.
    #[arg(long, value_name = "CHIP", requires = "package")]
    pub chip: Option<String>,
    /// Keeps what `mdh-exec --tune --out` has measured, of all programs or of those that are named;
    /// --out writes the best schedules of one.
    #[arg(long, value_name = "RESULTS.json", conflicts_with_all = NOT_OF_RESULTS)]
    pub import: Option<PathBuf>,
    /// The function that is meant. It is needed if the file has several.
    #[arg(long, value_name = "NAME")]
    pub entry: Option<String>,
    /// Sizes of dynamic dimensions ('?'), by the name of the dimension. The program is tuned for these alone.
    #[arg(long, value_name = "DIM=N", num_args = 1.., action = clap::ArgAction::Append, conflicts_with = "import")]
    pub size: Vec<Size>,
    /// Ranges of random numbers, from LOW to below HIGH, of one argument or of all that are not
    /// named; floats are in -1..1 otherwise. The program is checked and timed on these.
    #[arg(long = "range", value_name = "[NAME=]LOW..HIGH", num_args = 1.., action = clap::ArgAction::Append, allow_negative_numbers = true, conflicts_with = "import")]
    pub ranges: Vec<Range>,
    /// The parts of dimensions that are searched: those that the model would consider, or all others
    /// too, of which there are many more.
    #[arg(long, value_enum, default_value = "model")]
    pub parts: TuneParts,
    /// Time for each; 60s if no other condition is given.
    #[arg(long = "for", value_name = "TIME", value_parser = duration)]
    pub time: Option<Duration>,
    /// Number of evaluations for each.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub evaluations: Option<u64>,
    /// Ends when nothing better was found in so many evaluations.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub no_better_for: Option<u64>,
    /// Ends when this holds: 'time 60s', 'evaluations N', 'fraction 10%' (of the space), 'cost 1.5ms',
    /// 'speed-up 2', 'no-better-for N', joined by 'and', 'or' and parentheses. Beside --for,
    /// --evaluations and --no-better-for, what holds first.
    #[arg(long, value_name = "CONDITION")]
    pub until: Option<String>,
    /// The technique of search: auto, random, exhaustive, annealing, pattern, torczon, evolution,
    /// surrogate, bandit or round-robin. Several (random,pattern) share it: the AUC bandit
    /// says whose turn it is.
    #[arg(
        long,
        value_name = "NAME",
        default_value = "auto",
        value_delimiter = ','
    )]
    pub technique: Vec<String>,
    /// Seed of the search.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// The schedule of the function's computation, or of several: JSON, the attribute's text, or a
    /// transform script. It is tried right after the model's, and the search starts from the nearest one that it can
    /// write down itself. Of a script that leaves knobs open (transform.tune.knob), it searches these.
    #[arg(long, value_name = "S.json", conflicts_with_all = ["package", "import"])]
    pub schedule: Option<PathBuf>,
    /// Searches only where a parameter has this value, such as cores.i=2, or without a value (cores.i)
    /// the one of the start schedule; the names and values are those of the report.
    #[arg(long, value_name = "NAME[=VALUE]", conflicts_with = "import")]
    pub fix: Vec<Fix>,
    /// Keeps what is measured in the database of a folder, from which --tuned of other commands takes it; of the
    /// user's cache if none is named.
    #[arg(long, value_name = "DIR")]
    pub tuned: Option<PathBuf>,
    /// Writes a page to a file. It is about the search.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// The file to write. It has the best schedules, for --schedule of other commands; without one, these are only kept.
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Writes what failed to a folder, up to 20 of each kind: its schedules, for --schedule, and beside them
    /// why.
    #[arg(long, value_name = "DIR", conflicts_with = "import")]
    pub failures: Option<PathBuf>,
    /// A line of JSON for each program.
    #[command(flatten)]
    pub json: Json,
}

impl TuneArguments {
    /// Returns whether something is written that belongs to one program.
    pub fn is_of_one(&self) -> bool {
        self.html.is_some() || self.out.is_some() || self.failures.is_some()
    }

    /// Returns whether something is said of costs that are measured.
    pub fn is_measured(&self) -> bool {
        self.is_of_one() || self.json.is_wanted() || self.tuned.is_some()
    }

    /// The GPU that is named, if one is.
    pub fn gpu(&self) -> Option<NamedDevice> {
        self.machine.named().filter(|device| device.is_gpu())
    }

    /// The chip that packages are for.
    ///
    /// # Errors
    /// If there is no such chip, or the device has another one.
    pub fn kernel_chip(&self) -> Result<Capability> {
        devices::chip(self.gpu(), self.chip.as_deref())
    }

    /// The names of techniques, as they are given.
    pub fn techniques(&self) -> String {
        self.technique.join(",")
    }
}

#[cfg(test)]
impl TuneArguments {
    /// Those of a command line, of which the first word is the command.
    pub fn from_words<'w>(words: impl IntoIterator<Item = &'w str>) -> TuneArguments {
        #[derive(clap::Parser)]
        struct Line {
            #[command(flatten)]
            arguments: TuneArguments,
        }
        <Line as clap::Parser>::parse_from(words).arguments
    }
}

/// `NAME=VALUE`, or `NAME` alone: a parameter that is not searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// Its name.
    pub name: String,
    /// Its value; that of the start schedule if it is not given.
    pub value: Option<String>,
}

impl Fix {
    /// Returns whether a parameter may have a value where these are fixed.
    pub fn allow(fixed: &[Fix], name: &str, value: &str) -> bool {
        let mut matching = fixed.iter().filter(|fix| fix.name == name);
        matching.all(|fix| fix.value.as_deref() == Some(value))
    }
}

impl FromStr for Fix {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Fix, String> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value.to_string())),
            None => (text, None),
        };
        if name.is_empty() || value.as_deref() == Some("") {
            return Err("expected NAME=VALUE, such as cores.i=2, or NAME".to_string());
        }
        Ok(Fix {
            name: name.to_string(),
            value,
        })
    }
}

/// Parts of dimensions that are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TuneParts {
    /// Those that the model would consider.
    Model,
    /// All others, too.
    All,
}

impl TuneParts {
    /// The same of a space.
    pub fn searched(self) -> SearchedParts {
        match self {
            TuneParts::Model => SearchedParts::Model,
            TuneParts::All => SearchedParts::All,
        }
    }
}

const TUNE_EXAMPLES: &str = "\
Examples:
  mdh tune matmul/1024x1024x1024
  mdh tune program.mlir --for 2m --html page.html --out best.json
  mdh tune program.mlir --until 'time 60s or (speed-up 2 and no-better-for 50)'
  mdh tune matmul/1024x1024x1024 --device cuda --package tuned --best 20
  mdh-exec --tune tuned/*.mdhtune --out results.json
  mdh tune --import results.json

The first candidate is what the model chooses. Each is compared with the definition before it is
timed, and kept in the database at once: an interrupted search goes on where it was.";
