//! Programs as text: how they are run and written down.

use std::path::Path;

use mdh_compiler::cli::{Binding, CheckHow, Device, Fallback, RunArguments};
use mdh_compiler::error::Result;
use mdh_compiler::source::Source;

use crate::linalg::shapes::CONTRADICTORY;
use crate::run::{Ending, ending, run_source};

/// A program and how it is run.
#[derive(Clone, Default)]
pub struct RunnableProgram {
    /// The function `f`.
    pub text: String,
    /// The seed of its arguments.
    pub seed: u64,
    /// Arguments that are no random ones: their names and values.
    pub inputs: Vec<(String, u64)>,
    /// It runs by upstream's lowering too.
    pub is_compared: bool,
    /// It runs as kernels on the simulator.
    pub is_simulated: bool,
    /// A reshape in it contradicts its type, which has to be refused.
    pub is_contradictory: bool,
}

impl RunnableProgram {
    /// Runs it, and by upstream's lowering too, if it is to be compared; as it is, or in integers.
    fn run(&self, check: CheckHow) -> Ending {
        let source = Source::from_text("f.mlir", &self.text);
        let run = |no_raise| {
            let mut arguments = self.arguments(check);
            arguments.no_raise = no_raise;
            ending(run_source(&source, &arguments))
        };
        match run(false) {
            Ending::Right if self.is_compared => run(true),
            ended => ended,
        }
    }

    fn arguments(&self, check: CheckHow) -> RunArguments {
        let binding = |(name, value): &(String, u64)| Binding {
            name: Some(name.clone()),
            value: value.to_string(),
        };
        RunArguments {
            entry: Some("f".into()),
            inputs: self.inputs.iter().map(binding).collect(),
            random: Some(self.seed),
            check: Some(check),
            device: if self.is_simulated {
                Device::Sim
            } else {
                Device::Cpu
            },
            // A program without points has no kernel.
            fallback: self.is_simulated.then_some(Fallback::Cpu),
            ..RunArguments::new("f.mlir".as_ref())
        }
    }

    /// Writes it to a folder; returns the command that runs it.
    fn write(&self, check: CheckHow, folder: &Path) -> Result<String> {
        let file = folder.join("f.mlir");
        mdh_compiler::output::write(&file, self.text.as_bytes())?;
        Ok(format!("mdh run {} {}", file.display(), self.flags(check)))
    }

    /// The flags of the command.
    pub fn flags(&self, check: CheckHow) -> String {
        let check = match check {
            CheckHow::Exact => "exact",
            CheckHow::All | CheckHow::Sample => "all",
        };
        let mut flags = format!("--entry f --random {} --check={check}", self.seed);
        for (n, (name, value)) in self.inputs.iter().enumerate() {
            let flag = if n == 0 { " --in" } else { "" };
            flags += &format!("{flag} {name}={value}");
        }
        if self.is_simulated {
            flags += " --device sim --fallback cpu";
        }
        flags
    }
}

/// A program, and the check of its results.
pub struct Checked(pub RunnableProgram, pub CheckHow);

impl crate::case::Case for Checked {
    fn text(&self) -> String {
        self.0.text.clone()
    }

    fn run(&self, _: &Path) -> Ending {
        self.0.run(self.1)
    }

    fn write(&self, folder: &Path) -> Result<String> {
        self.0.write(self.1, folder)
    }

    fn features(&self) -> String {
        match self.0.is_contradictory {
            true => format!(",{CONTRADICTORY}"),
            false => String::new(),
        }
    }
}
