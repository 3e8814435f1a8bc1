//! Searches for schedules of random programs and workloads, of sizes that are left open, too: each candidate gives what
//! the definition says, and a program that cannot be tuned is refused in words.

use std::path::Path;
use std::process::Command;

use mdh_compiler::error::{Error, Result};
use mdh_compiler::output;

use crate::choices::Choices;
use crate::environment;
use crate::generate;
use crate::program::RandomProgram;
use crate::run::{self, Ending};

/// So many candidates are measured.
const EVALUATIONS: &str = "3";

/// A program that is tuned.
pub struct Case {
    program: RandomProgram,
    seed: u64,
}

/// The case of a seed's choices.
pub fn case(c: &mut Choices) -> Case {
    let program = c.scope("program", |c| match c.chance("random", 30) {
        true => generate::program(c),
        false => generate::workload(c).1,
    });
    let seed = c.below("search", 1000);
    Case { program, seed }
}

/// Returns whether a search is refused for what is no candidate's mistake.
pub fn is_refusal(text: &str) -> bool {
    let reasons = ["there is nothing to tune", "for which nothing is computed"];
    reasons.iter().any(|reason| text.contains(reason))
}

impl Case {
    fn arguments(&self, file: &Path, folder: &Path) -> Vec<String> {
        let words = [
            "tune",
            "FILE",
            "--entry",
            "f",
            "--json",
            "--evaluations",
            EVALUATIONS,
        ];
        let mut words: Vec<String> = words.map(str::to_owned).to_vec();
        words[1] = file.display().to_string();
        words.extend(["--seed".into(), self.seed.to_string()]);
        words.extend(["--tuned".into(), folder.join("db").display().to_string()]);
        if !self.program.sizes.is_empty() {
            let sizes = self.program.sizes.iter();
            words.push("--size".into());
            words.extend(sizes.map(|(dim, size)| format!("{dim}={size}")));
        }
        words
    }

    fn tuned(&self, folder: &Path) -> Result<Ending> {
        let file = folder.join("f.mlir");
        output::write(&file, self.program.to_string().as_bytes())?;
        // What was measured before is not measured again.
        let _ = std::fs::remove_dir_all(folder.join("db"));
        let mut command = Command::new(environment::mdh());
        command.args(self.arguments(&file, folder));
        let output = command.output();
        let output = output.map_err(|error| Error::bug(format!("no search has begun: {error}")))?;
        let (said, line) = [&output.stderr, &output.stdout]
            .map(|bytes| String::from_utf8_lossy(bytes))
            .into();
        eprint!("{said}");
        Ok(match output.status.code() {
            Some(0) if line.contains("\"failures\":{}") => Ending::Right,
            Some(0 | 3) => {
                eprintln!("error: candidates fail: {line}");
                Ending::Wrong
            }
            Some(1 | 2 | 4) => Ending::Refused,
            _ => {
                eprintln!("error: mdh tune has ended with {}", output.status);
                Ending::Bug
            }
        })
    }
}

impl crate::case::Case for Case {
    fn text(&self) -> String {
        format!("{}{:?}", self.program, self.program.sizes)
    }

    fn run(&self, folder: &Path) -> Ending {
        self.tuned(folder)
            .unwrap_or_else(|error| run::ended(&error))
    }

    fn write(&self, folder: &Path) -> Result<String> {
        let file = folder.join("f.mlir");
        output::write(&file, self.program.to_string().as_bytes())?;
        Ok(format!("mdh {}", self.arguments(&file, folder).join(" ")))
    }
}
