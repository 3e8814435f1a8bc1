//! Targets, and the states of a program between two stops of the compiler.

use std::str::FromStr;

use super::Pipeline;

/// Target of the generated code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A processor.
    Cpu,
    /// The simulator of a GPU, in the process of the program that launches kernels.
    Sim,
    /// NVIDIA's GPUs, by way of CUDA's driver.
    Cuda,
}

impl Target {
    /// All targets.
    pub const ALL: [Target; 3] = [Target::Cpu, Target::Sim, Target::Cuda];

    /// Its name in options.
    pub fn name(self) -> &'static str {
        match self {
            Target::Cpu => "cpu",
            Target::Sim => "sim",
            Target::Cuda => "cuda",
        }
    }
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Target, String> {
        let named = Target::ALL.into_iter().find(|target| target.name() == text);
        named.ok_or_else(|| {
            let targets = Target::ALL.map(Target::name).join(", ");
            format!("found target '{text}', expected one of: {targets}")
        })
    }
}

/// A state of the program between two stops of the compiler, with the pipelines that lead to it
/// from the one before.
#[derive(Clone, Copy)]
pub struct Stage {
    /// Its name: that of `mdh compile --emit` and of the pipeline `mdh-lower`.
    pub name: &'static str,
    /// The targets that have it.
    pub(super) targets: &'static [Target],
    /// Its pipelines in order.
    pub(super) pipelines: &'static [&'static Pipeline],
    /// True if it is a stop of its own, from which no other is reached.
    pub(super) is_end: bool,
}

/// A stage that leads on to others.
pub(super) const fn stage(
    name: &'static str,
    targets: &'static [Target],
    pipelines: &'static [&'static Pipeline],
) -> Stage {
    Stage {
        name,
        targets,
        pipelines,
        is_end: false,
    }
}
