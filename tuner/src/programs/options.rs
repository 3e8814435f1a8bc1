//! Command line of `mdh tune`.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::{Args, ValueEnum};
use mdh_compiler::cli::{Range, Size};
use mdh_schedule::SearchedParts;

use crate::abort_condition::duration;

/// Arguments that say nothing of what was measured before.
const NOT_OF_RESULTS: [&str; 10] = [
    "package",
    "report",
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
    /// The machine that schedules are for: a GPU's are estimated (cuda is an h100), and measured by
    /// `mdh-exec --tune`, which takes what --package writes.
    #[arg(long, value_enum, default_value = "cpu")]
    pub device: TuneDevice,
    /// Writes the best schedules of each, with the default, to a package (.mdhtune) of a folder, named
    /// by the program, --entry and --size.
    #[arg(long, value_name = "DIR")]
    pub package: Option<PathBuf>,
    /// Number of schedules of a package, beside the default.
    #[arg(long, value_name = "N", default_value_t = 20, requires = "package")]
    pub best: usize,
    /// The compute capability that packages are for; sm_90 if none is named.
    #[arg(long, value_name = "CHIP", requires = "package")]
    pub chip: Option<String>,
    /// Keeps what `mdh-exec --tune --out` has measured, of all programs or of those that are named;
    /// --out writes the best schedules of one.
    #[arg(long, value_name = "RESULTS.json", conflicts_with_all = NOT_OF_RESULTS)]
    pub import: Option<PathBuf>,
    /// The function of a program; needed if the file has several.
    #[arg(long, value_name = "NAME")]
    pub entry: Option<String>,
    /// Sizes of dimensions that a program leaves open ('?'), by the name of the dimension: it is tuned for
    /// these alone.
    #[arg(long, value_name = "DIM=N", num_args = 1.., action = clap::ArgAction::Append, conflicts_with = "import")]
    pub size: Vec<Size>,
    /// Ranges of the random numbers that a program is checked and timed on, from LOW to below HIGH, of one
    /// argument or of all that are not named; floats are in -1..1 otherwise.
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
    /// A schedule that is tried right after the model's: JSON, the attribute's text, or a transform
    /// script. The search starts from the nearest one that it can write down itself. Of a script that
    /// leaves knobs open (transform.tune.knob), it searches these.
    #[arg(long, value_name = "START.json", conflicts_with_all = ["package", "import"])]
    pub schedule: Option<PathBuf>,
    /// Searches only where a parameter has this value, such as cores.i=2, or without a value (cores.i)
    /// the one of the start schedule; the names and values are those of the report.
    #[arg(long, value_name = "NAME[=VALUE]", conflicts_with = "import")]
    pub fix: Vec<Fix>,
    /// Folder of the database; of the user's cache if none is named.
    #[arg(long, value_name = "DIR")]
    pub db: Option<PathBuf>,
    /// Writes a page about the search.
    #[arg(long, value_name = "OUT.html")]
    pub report: Option<PathBuf>,
    /// Writes the best schedules, for --schedule of other commands.
    #[arg(long, value_name = "OUT.json")]
    pub out: Option<PathBuf>,
    /// Writes what failed to a folder, up to 20 of each kind: its schedules, for --schedule, and beside them
    /// why.
    #[arg(long, value_name = "DIR", conflicts_with = "import")]
    pub failures: Option<PathBuf>,
    /// Prints a line of JSON for each.
    #[arg(long)]
    pub json: bool,
}

impl TuneArguments {
    /// Returns whether something is written that belongs to one program.
    pub fn is_of_one(&self) -> bool {
        self.report.is_some() || self.out.is_some() || self.failures.is_some()
    }

    /// Returns whether something is said of costs that are measured.
    pub fn is_measured(&self) -> bool {
        self.is_of_one() || self.json || self.db.is_some()
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

    fn from_str(text: &str) -> Result<Fix, String> {
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

/// The machine that schedules are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TuneDevice {
    /// This machine's processor.
    Cpu,
    /// An NVIDIA GPU: an H100.
    Cuda,
    /// An A100.
    A100,
    /// An H100.
    H100,
    /// An H200.
    H200,
    /// A B200.
    B200,
}

impl TuneDevice {
    /// The name of the GPU whose facts estimates are made of; empty for a processor.
    pub fn gpu(self) -> &'static str {
        match self {
            TuneDevice::Cpu => "",
            TuneDevice::A100 => "a100",
            TuneDevice::Cuda | TuneDevice::H100 => "h100",
            TuneDevice::H200 => "h200",
            TuneDevice::B200 => "b200",
        }
    }
}

const TUNE_EXAMPLES: &str = "\
Examples:
  mdh tune matmul/1024x1024x1024
  mdh tune program.mlir --for 2m --report report.html --out best.json
  mdh tune program.mlir --until 'time 60s or (speed-up 2 and no-better-for 50)'
  mdh tune matmul/1024x1024x1024 --device cuda --package tuned --best 20
  mdh-exec --tune tuned/*.mdhtune --out results.json
  mdh tune --import results.json

The first candidate is what the model chooses. Each is compared with the definition before it is
timed, and kept in the database at once: an interrupted search goes on where it was.";
