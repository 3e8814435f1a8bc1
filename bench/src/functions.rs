//! Functions of Python files, as peers: `numpy:SCRIPT.py[:FUNCTION]`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::peers::{ENVIRONMENT, environment};
use mdh_compiler::cli::is_name;
use mdh_compiler::error::{Error, Result};

/// The packages whose arrays functions take; Python itself has lists.
const PACKAGES: [&str; 4] = ["numpy", "torch", "jax", "python"];

/// The runner of peers, and the peer that is a function. They go with the command, wherever it stands.
const RUNNER: [(&str, &str); 2] = [
    ("runner.py", include_str!("../peers/runner.py")),
    (
        "function_peer.py",
        include_str!("../peers/function_peer.py"),
    ),
];

/// A function of a Python file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerFunction {
    /// Its name in results: what was given.
    pub name: String,
    package: &'static str,
    file: PathBuf,
    /// Its name in the file; without one, that of the program's function, or `run`.
    function: Option<String>,
}

impl PeerFunction {
    /// Parses `PACKAGE:SCRIPT.py[:FUNCTION]`; none for the name of another peer.
    ///
    /// # Errors
    /// If there is no such package, or the file cannot be read.
    pub fn parse(text: &str) -> Result<Option<PeerFunction>> {
        let Some((package, rest)) = text.split_once(':') else {
            return Ok(None);
        };
        let known = PACKAGES.into_iter().find(|known| *known == package);
        let package = known.ok_or_else(|| {
            Error::usage(format!(
                "--peers: found a function of '{package}', expected one of {}",
                PACKAGES.join(", ")
            ))
        })?;
        let (file, function) = match rest.rsplit_once(':') {
            Some((file, function)) if is_name(function) => (file, Some(function)),
            _ => (rest, None),
        };
        let unread = |error| Error::input(format!("--peers {text}: cannot read '{file}': {error}"));
        fs::read(file).map_err(unread)?;
        Ok(Some(PeerFunction {
            name: text.to_string(),
            package,
            file: file.into(),
            function: function.map(str::to_string),
        }))
    }

    /// The command that runs it, by the runner in a folder.
    pub fn command(&self, python: &Path, runner: &Path) -> Command {
        let mut command = Command::new(python);
        command.arg("-B").arg(runner.join("runner.py"));
        command.args(["function", self.package]).arg(&self.file);
        command.args(&self.function);
        command
    }
}

/// Puts the runner into a folder, which is there until this is dropped.
pub fn runner() -> Result<TempDir> {
    let failed = |error: std::io::Error| Error::of_system(format!("no temporary folder: {error}"));
    let folder = tempfile::Builder::new().prefix("mdh-").tempdir();
    let folder = folder.map_err(failed)?;
    for (name, text) in RUNNER {
        fs::write(folder.path().join(name), text).map_err(failed)?;
    }
    Ok(folder)
}

/// The Python of functions: that of the peers' environment, if there is one, else the usual one.
pub fn python() -> std::result::Result<PathBuf, String> {
    let python = environment().join("bin/python");
    let is_named = std::env::var_os(ENVIRONMENT).is_some_and(|path| !path.is_empty());
    match (python.exists(), is_named) {
        (true, _) => Ok(python),
        (false, true) => Err(format!("there is no '{}'", python.display())),
        (false, false) => Ok("python3".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_functions() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("own.py");
        fs::write(&file, "").unwrap();
        let file = file.display();
        let parsed = |text: &str| {
            let function = PeerFunction::parse(text).unwrap().unwrap();
            (
                function.package,
                function.file.display().to_string(),
                function.function,
            )
        };
        let text = format!("jax:{file}");
        assert_eq!(parsed(&text), ("jax", file.to_string(), None));
        let (text, function) = (format!("python:{file}:f"), Some("f".to_string()));
        assert_eq!(parsed(&text), ("python", file.to_string(), function));
        assert_eq!(PeerFunction::parse("numpy").unwrap(), None);
    }
}
