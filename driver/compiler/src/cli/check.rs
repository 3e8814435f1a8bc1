//! Command line of `mdh check`.

use std::path::PathBuf;

use clap::Args;

use super::shared::{Json, OutFile};

/// Arguments of `mdh check`.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  mdh check examples/tdsl/matvec.tdsl --derivations")]
pub struct CheckArguments {
    /// The program, in the tensor language.
    pub file: PathBuf,
    /// Prints of each statement how it follows that it is compatible, or where that fails.
    #[arg(long)]
    pub derivations: bool,
    /// The file that is written.
    #[command(flatten)]
    pub out: OutFile,
    /// Variables and statements as one JSON object, without derivations.
    #[command(flatten)]
    pub json: Json,
}
