//! `mdh`: runs, checks and compiles data-parallel programs.

use std::process::ExitCode;

use mdh_driver::cli::{self, Command};
use mdh_driver::error::{self, Result};
use mdh_driver::{
    asm_command, bench, check_command, compile_command, explain_command, interrupt, layout_command,
    map_command, run_command, schedule_command, template,
};

/// Programs are nested, and what walks them calls itself: [`mdh_driver::nesting`] says how often
/// at most. Memory for the stack is only taken where it is used.
const STACK_BYTES: usize = 256 << 20;

fn main() -> ExitCode {
    error::run(|| {
        // First of all: an interrupt ends the process in the same way at any time.
        interrupt::watch()?;
        let cli = cli::parse();
        let work = std::thread::Builder::new()
            .name("mdh".to_string())
            .stack_size(STACK_BYTES);
        std::thread::scope(
            |scope| match work.spawn_scoped(scope, || run(&cli.command)) {
                // A panic ends the process before it could arrive here.
                Ok(thread) => thread
                    .join()
                    .unwrap_or_else(|_| Err(error::Error::bug("a panic"))),
                Err(_) => run(&cli.command),
            },
        )
    })
}

fn run(command: &Command) -> Result<()> {
    match command {
        Command::Run(arguments) => run_command::run(arguments),
        Command::Check(arguments) => check_command::run(arguments),
        Command::Compile(arguments) => compile_command::run(arguments),
        Command::Schedule(arguments) => schedule_command::run(arguments),
        Command::Layout(arguments) => layout_command::run(arguments),
        Command::Map(arguments) => map_command::run(arguments),
        Command::Template(arguments) => template::run(arguments),
        Command::Asm(arguments) => asm_command::run(arguments),
        Command::Explain(arguments) => explain_command::run(arguments),
        Command::Bench(arguments) => bench::run(arguments),
    }
}
