//! The machine that code is for, as the options of passes tell it.
//!
//! A pass that depends on the machine has the option `asm`, and one for each fact that it needs:
//!
//! ```text
//! mdh-schedule                    the machine that the program runs on
//! mdh-schedule{asm=other.json}    a machine in a file
//! mdh-schedule{asm=cpu cores=4}   a usual machine, but with four cores
//! ```
//!
//! Passes read no files and ask no processor: a program that runs pipelines tells each pass of a machine ([`told`]).
//! Where a user writes pipelines, in `mlir-opt`, options name machines: there [`crate::register`] sets the function
//! that finds them. Without one there are the built-in ones.

use std::sync::OnceLock;

use mdh_dialect::ir::Errors;
use mdh_dialect::pass::{OptionText, Options, Pass};
use mdh_schedule::asm::{Asm, CpuFacts};

/// A function that finds a machine by a name or a file's path, and by `""` the one that the program
/// runs on.
pub type Find = fn(&str) -> Result<Asm, String>;

static FIND: OnceLock<Find> = OnceLock::new();

/// The option that names the machine.
pub const ASM: OptionText = (
    "asm",
    "the machine: a file as `mdh asm --json` writes it, or one that comes with mdh: cpu, cuda; the \
     one that the program runs on if none is given",
    "",
);
/// The option for the cores.
pub const CORES: OptionText = ("cores", "cores, if not those of the machine", "");
/// The option for the width of vectors.
pub const VECTOR: OptionText = (
    "vector",
    "bytes of a vector, if not those of the machine",
    "",
);
/// The option for the number of registers.
pub const REGISTERS: OptionText = (
    "registers",
    "vector registers of a core, if not those of the machine",
    "",
);
/// The option for the first cache level.
pub const L1: OptionText = (
    "l1",
    "bytes of the first cache level of a core, if not those of the machine",
    "",
);
/// The option for the second cache level.
pub const L2: OptionText = (
    "l2",
    "bytes of the second cache level of a core, if not those of the machine",
    "",
);
/// The option for the third cache level.
pub const L3: OptionText = (
    "l3",
    "bytes of the third cache level, of all cores, if not those of the machine",
    "",
);
/// The option for instructions that not every machine has.
pub const FEATURES: OptionText = (
    "features",
    "instructions for sums of products, if not those of the machine: avx512_vnni, avx512_bf16, \
     separated by commas",
    "",
);

/// Sets how machines are found, once for the process.
pub(crate) fn find_by(find: Find) {
    FIND.get_or_init(|| find);
}

/// Returns a machine by its name or file, and by `""` the one that the program runs on.
pub fn find(name: &str) -> Result<Asm, String> {
    if let Some(find) = FIND.get() {
        return find(name);
    }
    let name = if name.is_empty() { "cpu" } else { name };
    let none = || format!("no machine '{name}' comes with mdh, and this program reads none");
    Asm::builtin(name).ok_or_else(none)
}

/// Returns the machine of a pass's options. Facts that neither the machine nor an option has are
/// usual ones.
pub fn from_options(options: &Options) -> Result<Asm, Errors> {
    let name = options.get(ASM.0);
    let wrong = |what: String| vec![format!("option 'asm' of {}: {what}", options.pass())];
    let asm = find(name).map_err(wrong)?;
    if asm.has_kernels() {
        // Schedules name machines, and what they name must be known where they are read.
        return match Asm::builtin(&asm.name).is_some() {
            true => Ok(asm),
            false => Err(wrong(format!(
                "'{name}' describes '{}': expected a machine with a name that schedules know, such \
                 as cuda",
                asm.name
            ))),
        };
    }
    if asm.layer("core").is_none() || asm.vector().is_none() {
        return Err(wrong(format!(
            "'{}' has neither cores with vector lanes nor blocks of threads: expected a machine \
             like cpu, cuda, multi_cuda or cluster_multi_cuda",
            asm.name
        )));
    }
    let facts = CpuOptions::new(&asm);
    let usual = CpuFacts::default();
    let number = |option: OptionText, fact: Option<u64>| -> Result<Option<u64>, Errors> {
        Ok(options.number(option.0)?.or(fact))
    };
    let features = options.get(FEATURES.0);
    let facts = CpuFacts {
        cores: number(CORES, facts.cores)?.unwrap_or(usual.cores),
        vector: number(VECTOR, facts.vector)?.unwrap_or(usual.vector),
        registers: number(REGISTERS, facts.registers)?.unwrap_or(usual.registers),
        l1: number(L1, facts.l1)?.unwrap_or(usual.l1),
        l2: number(L2, facts.l2)?.unwrap_or(usual.l2),
        l3: number(L3, facts.l3)?.or(usual.l3),
        features: match features {
            "" => facts.features,
            given => given.split(',').map(String::from).collect(),
        },
        main: None,
    };
    Ok(Asm::cpu(&facts))
}

/// Returns the options that tell a pass of a machine; empty for one that does not go by it.
pub fn told(pass: &Pass, asm: &Asm) -> String {
    if !goes_by_it(pass) {
        return String::new();
    }
    let facts = CpuOptions::new(asm);
    let features = facts.features.join(",");
    let number = |fact: Option<u64>| fact.map(|fact| fact.to_string());
    let options = [
        (ASM, Some("cpu".to_string())),
        (CORES, number(facts.cores)),
        (VECTOR, number(facts.vector)),
        (REGISTERS, number(facts.registers)),
        (L1, number(facts.l1)),
        (L2, number(facts.l2)),
        (L3, number(facts.l3)),
        (FEATURES, (!features.is_empty()).then_some(features)),
    ];
    let has = |name: &str| pass.options.iter().any(|(option, ..)| *option == name);
    let known = options.into_iter().filter(|(option, _)| has(option.0));
    let known = known.filter_map(|(option, fact)| Some(format!("{}={}", option.0, fact?)));
    known.collect::<Vec<_>>().join(" ")
}

/// Returns whether a pass depends on the machine.
pub fn goes_by_it(pass: &Pass) -> bool {
    pass.options.iter().any(|(option, ..)| *option == ASM.0)
}

/// Facts about a machine like `cpu`.
struct CpuOptions {
    cores: Option<u64>,
    vector: Option<u64>,
    registers: Option<u64>,
    l1: Option<u64>,
    l2: Option<u64>,
    l3: Option<u64>,
    features: Vec<String>,
}

impl CpuOptions {
    fn new(asm: &Asm) -> CpuOptions {
        let core = |name: &str| asm.layer(name)?.core();
        let bytes = |name: &str| asm.memory(name)?.capacity;
        let vector = asm.vector();
        CpuOptions {
            cores: core("core").and_then(|core| core.count),
            vector,
            registers: bytes("register").zip(vector).map(|(all, one)| all / one),
            l1: bytes("L1"),
            l2: bytes("L2"),
            l3: bytes("L3"),
            features: asm.lanes().map_or(vec![], |lanes| lanes.features.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table;

    fn texts(asm: &Asm) -> Vec<String> {
        let passes = table::PASSES.iter().filter(|pass| goes_by_it(pass));
        passes
            .map(|pass| format!("{}{{{}}}", pass.argument, told(pass, asm)))
            .collect()
    }

    #[test]
    fn passes_are_told_what_is_known() {
        let asm = Asm::cpu(&CpuFacts {
            cores: 8,
            vector: 32,
            registers: 16,
            l1: 49152,
            l2: 2 << 20,
            l3: Some(8 << 20),
            ..CpuFacts::default()
        });
        assert_eq!(
            texts(&asm),
            [
                "mdh-lower-histograms{asm=cpu cores=8}",
                "mdh-raise-copies{asm=cpu cores=8 vector=32 registers=16 l1=49152 l2=2097152 l3=8388608}",
                "mdh-schedule{asm=cpu cores=8 vector=32 registers=16 l1=49152 l2=2097152 l3=8388608}",
                "mdh-share-subexpressions{asm=cpu cores=8 vector=32 registers=16 l1=49152 l2=2097152 l3=8388608}",
                "mdh-split-masks{asm=cpu vector=32}",
                "mdh-vectorize{asm=cpu}",
                "mdh-warn{asm=cpu cores=8 vector=32 registers=16 l1=49152 l2=2097152 l3=8388608}"
            ]
        );
        let mut unknown = Asm::cpu(&CpuFacts::default());
        unknown
            .layers
            .retain(|layer| !["L1", "L2", "L3"].contains(&layer.name()));
        let schedule = "mdh-schedule{asm=cpu cores=2 vector=64 registers=32}";
        assert!(texts(&unknown).iter().any(|text| text == schedule));
    }
}
