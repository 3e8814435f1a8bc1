//! One program without schedules, lowered with those of the model.
//!
//! What the model makes is lowered, whatever the machine: a program that is one must not be refused.
//! So that small programs are cut, packed, shared among cores and kept in few registers as large ones
//! are, machines are small.

use std::path::Path;

use mdh_compiler::error::{Error, Result};
use mdh_compiler::source::Source;
use mdh_compiler::{compile, diagnostics, output};
use mdh_dialect::context;
use mdh_passes::pipelines::{Line, LineOptions, RangeChecks, Target};
use mdh_schedule::asm::{Asm, CpuFacts};

use crate::choices::Choices;
use crate::generate;
use crate::program::RandomProgram;
use crate::run::{self, Ending};

/// A program and the machine that the model makes schedules for.
pub struct Case {
    /// The program.
    pub program: RandomProgram,
    /// The machine; kernels are for the one that comes with mdh.
    pub asm: Asm,
}

/// The case of a seed's choices.
pub fn case(c: &mut Choices) -> Case {
    let program = c.scope("program", |c| match c.chance("workload", 40) {
        true => generate::workload(c).1,
        false => generate::program(c),
    });
    let asm = c.scope("machine", machine);
    Case { program, asm }
}

fn machine(c: &mut Choices) -> Asm {
    let usual = CpuFacts::default();
    if c.chance("usual", 25) {
        return Asm::cpu(&usual);
    }
    Asm::cpu(&CpuFacts {
        cores: c.pick("cores", &[1, 2, 3]),
        vector: c.pick("vector", &[16, 32, 64]),
        registers: c.pick("registers", &[4, 16, 32]),
        l1: c.pick("l1", &[256, 4096]),
        l2: c.pick("l2", &[512, 4096, 1 << 16]),
        l3: c.pick("l3", &[None, Some(1 << 12), Some(1 << 20)]),
        ..usual
    })
}

impl crate::case::Case for Case {
    /// Lowers it to the llvm dialect, for the machine and for a GPU; says why that failed.
    fn run(&self, _: &Path) -> Ending {
        let source = Source::from_text("f.mlir", &self.program.to_string());
        let mut targets = [Target::Cpu, Target::Sim].into_iter();
        let failed = targets.find_map(|target| self.lowered(&source, target).err());
        failed.map_or(Ending::Right, |error| run::ended(&error))
    }

    /// Writes program and machine to a folder; returns the command that comes closest: for the machine
    /// that it is on.
    fn write(&self, folder: &Path) -> Result<String> {
        let file = folder.join("f.mlir");
        output::write(&file, self.program.to_string().as_bytes())?;
        output::write(&folder.join("asm.json"), self.asm.to_json().as_bytes())?;
        Ok(format!("mdh compile {} --emit llvm", file.display()))
    }

    fn text(&self) -> String {
        format!("{}\n{}", self.program, self.asm.to_json())
    }
}

impl Case {
    fn lowered(&self, source: &Source, target: Target) -> Result<()> {
        mdh_passes::register_all();
        let context = context::program_context();
        // Threads cost more than they give.
        context.enable_multi_threading(false);
        diagnostics::show(&context, source);
        let mut module = source.parse(&context)?;
        let options = LineOptions {
            ranges: RangeChecks::Off,
            ..LineOptions::RUN
        };
        for pipeline in (Line { target, options }).all() {
            compile::run(&self.asm, &context, &mut module, pipeline)
                .map_err(|error| refused(error, pipeline.name))?;
        }
        Ok(())
    }
}

/// Errors that have been shown have no words of their own.
fn refused(error: Error, step: &str) -> Error {
    eprintln!("note: refused by {step}");
    error
}
