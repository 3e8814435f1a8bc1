//! The commands, from words to an exit code: `mdh`, and `python -m mdh`.

use std::ffi::OsString;
use std::process::ExitCode;

use mdh_compiler::error::{self, Error, Result};
use mdh_compiler::host::Host;
use mdh_compiler::nesting::STACK_BYTES;
use mdh_compiler::{
    asm_command, check_command, compile_command, einsum_command, explain_command, interrupt,
    run_command, schedule_command,
};
use mdh_layouts::{layout_command, map_command, template};

use crate::cli::{self, Command};
use crate::pages;

pub use mdh_bench::start_by;

/// Runs the command that some words say, the program's name first. It is all that the process does: failures are told
/// on standard error, and a bug or an interrupt ends the process.
pub fn main(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    ExitCode::from(exit_code(words))
}

/// The same as a number.
pub fn exit_code(words: impl IntoIterator<Item = OsString>) -> u8 {
    error::run(|| {
        // First of all: an interrupt ends the process in the same way at any time.
        interrupt::watch()?;
        let cli = cli::parse(words)?;
        let work = std::thread::Builder::new()
            .name("mdh".to_string())
            .stack_size(STACK_BYTES);
        std::thread::scope(|scope| {
            let work = work.spawn_scoped(scope, || run(&cli.command));
            let thread = work.map_err(|_| Error::no_memory(STACK_BYTES))?;
            // A panic ends the process before it could arrive here.
            thread.join().unwrap_or_else(|_| Err(Error::bug("a panic")))
        })
    })
}

fn run(command: &Command) -> Result<()> {
    let host = || Host::with_tuned(&mdh_tuner::programs::tuned::FIND);
    match command {
        Command::Run(arguments) => run_command::run(&host()?, arguments),
        Command::Einsum(arguments) => einsum_command::run(&host()?, arguments),
        Command::Check(arguments) => check_command::run(arguments),
        Command::Compile(arguments) => compile_command::run(&host()?, arguments),
        Command::Schedule(arguments) => schedule_command::run(&host()?, arguments),
        Command::Layout(arguments) => layout_command::run(arguments),
        Command::Map(arguments) => map_command::run(arguments),
        Command::Template(arguments) => template::run(arguments),
        Command::Asm(arguments) => asm_command::run(arguments),
        Command::Explain(arguments) => explain_command::run(&host()?, arguments),
        Command::Bench(arguments) => mdh_bench::run(&host()?, arguments),
        Command::Tune(arguments) => mdh_tuner::programs::run(arguments),
        Command::Completions(arguments) => pages::complete(cli::command(), arguments),
        Command::Man(arguments) => pages::man(cli::command(), arguments),
    }
}
