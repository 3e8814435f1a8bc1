//! Command line of `mdh map`.

use clap::{Args, ValueEnum};

use mdh_compiler::cli::{Json, MachineOptions, OutFile};

use super::layout::{Assumed, Bits};

/// Arguments of `mdh map`.
#[derive(Args, Debug)]
#[command(after_help = MAP_EXAMPLES)]
pub struct MapArguments {
    /// The index space, such as '[1 to n step 3 width 2, 64]'; with mappings behind it, such as
    /// '[n].pad_last(32).split_last(32)', these are taken, and none is chosen.
    pub space: String,
    /// The machine with blocks and threads: cuda if none is named.
    #[command(flatten)]
    pub machine: MachineOptions,
    /// Strategy that chooses mappings (cost).
    #[arg(long, value_enum)]
    pub strategy: Option<Choice>,
    /// Number of last dimensions that are threads, of given mappings (1).
    #[arg(long, value_name = "N", conflicts_with = "strategy")]
    pub threads: Option<usize>,
    /// Treatment of threads without an index.
    #[arg(long, value_enum, default_value = "branching")]
    pub discard: Mode,
    /// The form in which it is printed. It is code of a thread's index as functions.
    #[arg(long, value_name = "CODE", value_enum)]
    pub emit: Option<MapCode>,
    /// The integers of the code.
    #[arg(long, value_enum, default_value = "64")]
    pub bits: Bits,
    /// Checks that every index belongs to one thread; exit code 3 if that is not proven.
    #[arg(long)]
    pub check: bool,
    /// Sizes of symbols, or their bounds.
    #[arg(long, value_name = "DIM=N|DIM=LOW..HIGH", num_args = 1.., action = clap::ArgAction::Append)]
    pub size: Vec<Assumed>,
    /// The file that is written.
    #[command(flatten)]
    pub out: OutFile,
    /// The launch as one JSON object.
    #[command(flatten)]
    pub json: Json,
}

const MAP_EXAMPLES: &str = "\
Examples:
  mdh map '[6 step 3 width 2, 6 step 2]' --strategy sparse
  mdh map '[1 to n step 4, 64]' --size n=1..100000 --emit c
  mdh map '[6 step 3 width 2, 6 step 2].prune_grid.fold_last2.pad_last(32).split_last(32)' --check

The device is any of cuda, if neither --device nor --asm names one.";

/// Describes how mappings are chosen.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Fixed for each number of dimensions, 1 to 5; gaps are pruned.
    Table,
    /// The same, but dimensions of which at most half counts are compressed.
    Sparse,
    /// The cheapest of many, for any number of dimensions.
    Cost,
}

/// Treatment of threads without an index.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// They end at the first condition that fails.
    Branching,
    /// They go on, with a predicate: for kernels with barriers.
    Branchless,
}

/// Code that an index is printed as.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapCode {
    /// Functions on index.
    Mlir,
    /// C, which is CUDA too.
    C,
    /// Expressions that this program reads.
    Text,
}
