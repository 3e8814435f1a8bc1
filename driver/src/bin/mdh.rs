//! `mdh`: runs, checks and compiles data-parallel programs.

use std::process::ExitCode;

use mdh_driver::cli::{self, Command};
use mdh_driver::{compile_command, error, interrupt, run_command};

fn main() -> ExitCode {
    error::run(|| {
        let cli = cli::parse();
        interrupt::watch()?;
        match cli.command {
            Command::Run(arguments) => run_command::run(&arguments),
            Command::Compile(arguments) => compile_command::run(&arguments),
        }
    })
}
