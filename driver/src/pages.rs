//! Completions of shells and man pages, made of the definition of the command line.

use std::path::PathBuf;

use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;

use mdh_compiler::error::{Error, Result};
use mdh_compiler::output;

/// The name of the command.
const NAME: &str = "mdh";

/// Arguments of `mdh completions`.
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  mdh completions bash > ~/.local/share/bash-completion/completions/mdh"
)]
pub struct CompletionsArguments {
    /// The shell.
    #[arg(value_enum)]
    pub shell: CompletedShell,
}

/// A shell that completions are made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum CompletedShell {
    /// Bash.
    Bash,
    /// Zsh.
    Zsh,
    /// Fish.
    Fish,
}

/// Arguments of `mdh man`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  mdh man | man -l -\n  mdh man ~/.local/share/man/man1")]
pub struct ManArguments {
    /// The folder for the pages of all commands (mdh.1, mdh-run.1, ..); without one, that of mdh is printed.
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
}

/// Prints completions.
///
/// # Errors
/// If they cannot be printed.
pub fn complete(mut command: Command, arguments: &CompletionsArguments) -> Result<()> {
    let shell = match arguments.shell {
        CompletedShell::Bash => Shell::Bash,
        CompletedShell::Zsh => Shell::Zsh,
        CompletedShell::Fish => Shell::Fish,
    };
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut command, NAME, &mut text);
    output::print(text)
}

/// Prints the man page, or writes all of them.
///
/// # Errors
/// If they cannot be printed or written.
pub fn man(mut command: Command, arguments: &ManArguments) -> Result<()> {
    command.build();
    let Some(folder) = &arguments.folder else {
        return output::print(page(command)?);
    };
    let made = std::fs::create_dir_all(folder);
    made.map_err(|error| Error::input(format!("cannot write to '{}': {error}", folder.display())))?;
    let commands = command
        .get_subcommands()
        .filter(|command| command.get_name() != "help");
    let mut commands: Vec<Command> = commands.cloned().collect();
    commands.push(command);
    for command in commands {
        let name = command.get_display_name().unwrap_or(NAME).to_string();
        let page = page(command)?;
        output::write(&folder.join(format!("{name}.1")), &page)?;
    }
    Ok(())
}

/// The page of a command, in roff.
fn page(command: Command) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    let made = Man::new(command).render(&mut page);
    made.map_err(|error| Error::bug(format!("a man page fails: {error}")))?;
    Ok(page)
}

#[cfg(test)]
mod tests {
    use crate::cli::command;

    use super::*;

    #[test]
    fn every_command_has_a_page() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().to_path_buf();
        man(
            command(),
            &ManArguments {
                folder: Some(folder.clone()),
            },
        )
        .unwrap();
        let mut names: Vec<String> = command()
            .get_subcommands()
            .map(|c| format!("mdh-{}.1", c.get_name()))
            .collect();
        names.push("mdh.1".to_string());
        for name in names {
            let page = std::fs::read_to_string(folder.join(&name))
                .unwrap_or_else(|_| panic!("{name} is missing"));
            assert!(
                page.contains(".SH NAME") && page.contains(".SH SYNOPSIS"),
                "{name}"
            );
        }
    }
}
