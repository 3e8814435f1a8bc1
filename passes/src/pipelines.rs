//! The compiler on one page: every pipeline, and their order for every target, as data.
//!
//! [`STAGES`] is the order. Commands, tests and `mdh-lower` ask a [`Line`] of it, and none of them
//! spells an order of its own.

mod text;

use std::str::FromStr;

use mdh_dialect::pass::OptionText;

use crate::machine;
pub use text::Pipeline;

/// Passes that only make code faster: without them a program becomes machine code with the same
/// meaning. What a wrong one of them has done shows without the others.
pub const OPTIONAL: [&str; 16] = [
    "cse",
    "loop-invariant-code-motion",
    "mdh-copy-asynchronously",
    "mdh-hoist-buffers",
    "mdh-lower-histograms",
    "mdh-outline-parallel",
    "mdh-prefetch",
    "mdh-schedule",
    "mdh-separate-scans",
    "mdh-share-subexpressions",
    "mdh-split-functions",
    "mdh-split-phases",
    "mdh-tile",
    "mdh-reverse-dimensions",
    "mdh-vectorize",
    "mdh-warn",
];

/// Tensors become memrefs, in place wherever that is safe; results become arguments.
pub const BUFFERIZE: Pipeline = Pipeline {
    name: "mdh-bufferize",
    description: "tensors to memrefs; results of functions to arguments",
    passes: &[
        "mdh-save-overwritten",
        "mdh-separate-empties",
        "mdh-loop-buffers",
        "one-shot-bufferize{bufferize-function-boundaries \
         function-boundary-type-conversion=identity-layout-map}",
        "mdh-separate-results",
        "buffer-results-to-out-params{hoist-static-allocs hoist-dynamic-allocs \
         modify-public-functions}",
        "canonicalize",
        "cse",
        "mdh-deallocate",
    ],
};

/// Triples become computations.
pub const FORM: Pipeline = Pipeline {
    name: "mdh-form",
    description: "every out_view . hom . inp_view to an mdh.compute",
    passes: &["mdh-form-compute"],
};

/// Calls become what they call, as far as they do not recurse: what is called may have results
/// of any size, and the oracle can follow.
pub const INLINE: Pipeline = Pipeline {
    name: "mdh-inline",
    description: "calls of functions to their bodies",
    passes: &["inline{default-pipeline=}", "symbol-dce"],
};

/// Holds what only sizes at run time decide is asserted: before anything else changes the accesses.
pub const CHECKS: Pipeline = Pipeline {
    name: "mdh-checks",
    description: "assert at run time what is neither proved nor refuted",
    passes: &["mdh-insert-range-checks"],
};

/// Computations become simpler ones.
pub const SIMPLIFY: Pipeline = Pipeline {
    name: "mdh-simplify",
    description: "simpler computations with the same meaning",
    passes: &[
        "mdh-keep-loops",
        "mdh-preserve-truncation",
        "canonicalize",
        "mdh-layout-to-arith{affine=false}",
        "cse",
    ],
};

/// Holds what a program does with memrefs outside of computations is asserted too. For programs that
/// are run: upstream's assertions hold the text of the operation, which makes them long to read.
pub const ACCESSES: Pipeline = Pipeline {
    name: "mdh-accesses",
    description: "assert at run time that accesses stay within their memrefs",
    passes: &["generate-runtime-verification"],
};

/// Computations get schedules, where they have none; but histograms need none, prefix-sums of sums
/// are two computations, and what several evaluate may be one of its own.
pub const SCHEDULE: Pipeline = Pipeline {
    name: "mdh-default-schedules",
    description: "a schedule from the model for every mdh.compute without one",
    passes: &[
        "mdh-lower-histograms",
        "mdh-separate-scans",
        "mdh-reverse-dimensions",
        "mdh-share-subexpressions",
        "mdh-schedule",
        "mdh-warn",
    ],
};

/// Computations get schedules for a GPU, where they have none; those that are two are separated.
pub const SCHEDULE_KERNELS: Pipeline = Pipeline {
    name: "mdh-default-kernel-schedules",
    description: "a schedule of blocks and threads for every mdh.compute without one",
    passes: &[
        "mdh-separate-scans",
        "mdh-schedule{asm=cuda}",
        "mdh-warn{asm=cuda}",
    ],
};

/// Holds what computations for a device use is in its memory.
pub const PLACE: Pipeline = Pipeline {
    name: "mdh-place",
    description: "what computations for a device use is copied to its memory and back",
    passes: &["mdh-place-on-device"],
};

/// Loops of blocks and threads become kernels.
pub const KERNELS: Pipeline = Pipeline {
    name: "mdh-kernels",
    description: "parallel loops of blocks and threads to kernels",
    passes: &[
        "loop-invariant-code-motion",
        "mdh-map-kernels",
        "canonicalize",
        "cse",
    ],
};

/// Scheduled computations become loops over tiles, one nest for each of their phases that has an
/// order of its own; the second time, the copies that these make, and what the model has chosen for parts
/// of a prefix-sum; the third time, the copies of those.
pub const TILES: Pipeline = Pipeline {
    name: "mdh-tiles",
    description: "scheduled computations to loops over tiles",
    passes: &[
        "mdh-split-phases",
        "mdh-tile",
        "mdh-tile",
        "mdh-tile",
        "cse",
        "canonicalize",
    ],
};

/// Memory spaces go, whose memory it is being settled; copies that are waited for later bypass registers;
/// innermost tiles become code on vectors; what the next tile reads is fetched while others compute.
pub const VECTORS: Pipeline = Pipeline {
    name: "mdh-vectors",
    description: "tiles that stay in registers to vectors",
    passes: &[
        "mdh-erase-memory-spaces",
        "mdh-copy-asynchronously",
        "mdh-vectorize",
        "cse",
        "mdh-prefetch",
    ],
};

/// Computations become loops.
pub const LOOPS: Pipeline = Pipeline {
    name: "mdh-loops",
    description: "mdh.compute and linalg on memrefs to scf loops",
    passes: &[
        "convert-linalg-to-loops",
        "mdh-lower-to-loops",
        "mdh-layout-to-arith{affine=false views=none}",
        "canonicalize",
        // Code that several blocks have is moved to one place before it is one.
        "loop-invariant-code-motion",
        "cse",
        "mdh-hoist-buffers",
    ],
};

/// Kernels become functions of a device, in a module of their own; what they access says where it
/// lies.
pub const TO_DEVICE: Pipeline = Pipeline {
    name: "mdh-to-device",
    description: "kernels to functions of a GPU, in a module of their own",
    passes: &[
        "mdh-expand-kernel-remainders",
        "mdh-lift-kernel-math",
        "mdh-expand-vector-math",
        "mdh-expand-math",
        "mdh-kernel-intrinsics",
        "canonicalize",
        "int-range-optimizations",
        "canonicalize",
        "cse",
        "mdh-align-accesses",
        "gpu-launch-sink-index-computations",
        "gpu-kernel-outlining",
        "mdh-align-shared-memory",
    ],
};

/// Functions of a device become the nvvm and llvm dialects.
pub const NVVM: Pipeline = Pipeline {
    name: "mdh-nvvm",
    description: "functions of a GPU to the nvvm and llvm dialects",
    passes: &[
        "gpu.module(convert-nvgpu-to-nvvm,convert-vector-to-scf,expand-strided-metadata,lower-affine,\
               convert-scf-to-cf,convert-math-to-llvm{approximate-log1p=false},\
               convert-arith-to-llvm,convert-gpu-to-nvvm,convert-vector-to-llvm,\
               convert-index-to-llvm,convert-ub-to-llvm,convert-nvvm-to-llvm,canonicalize,cse,\
               reconcile-unrealized-casts)",
    ],
};

/// Launches become calls of the library that drives a GPU.
pub const LAUNCH: Pipeline = Pipeline {
    name: "mdh-launch",
    description: "launches and memory of a device to calls of the library that drives it",
    passes: &["mdh-launch-kernels"],
};

/// Kernels become functions that the simulator of a GPU runs.
pub const SIMULATE: Pipeline = Pipeline {
    name: "mdh-simulate",
    description: "kernels to functions that the simulator of a GPU runs for each thread",
    passes: &["mdh-simulate-kernels"],
};

/// The simulator is told what kernels do to memory.
pub const WATCH: Pipeline = Pipeline {
    name: "mdh-watch",
    description: "accesses of kernels to memory are told to the simulator of a GPU",
    passes: &["mdh-watch-memory"],
};

/// Parallel loops are handed to the run-time library's threads; long functions are taken apart.
pub const PARALLEL: Pipeline = Pipeline {
    name: "mdh-parallel",
    description: "bodies of parallel loops to functions for threads",
    passes: &["mdh-outline-parallel", "mdh-split-functions"],
};

/// Loops become the llvm dialect. What looks at one function only does so function by function: several
/// passes then find it in the caches.
pub const LLVM: Pipeline = Pipeline {
    name: "mdh-llvm",
    description: "scf, memref, arith and math to the llvm dialect",
    passes: &[
        "mdh-fence-stores",
        "any(expand-strided-metadata,lower-affine)",
        "mdh-expand-vector-math",
        "mdh-split-masks",
        "any(convert-vector-to-scf,convert-scf-to-cf)",
        "mdh-expand-math",
        // Integer powers; those of floats have an intrinsic.
        "convert-math-to-funcs{min-width-of-fpowi-exponent=33}",
        "convert-math-to-llvm{approximate-log1p=false}",
        "convert-math-to-libm",
        "convert-vector-to-llvm",
        "finalize-memref-to-llvm",
        "convert-func-to-llvm",
        // Before arith: what folds branches makes constants of it.
        "convert-cf-to-llvm",
        "any(convert-arith-to-llvm,convert-index-to-llvm,convert-ub-to-llvm,reconcile-unrealized-casts,\
             canonicalize,cse)",
    ],
};

/// Integer divisions are asserted to have a result: in the loops, of which scalar code is a part
/// by then.
pub const DIVISIONS: Pipeline = Pipeline {
    name: "mdh-divisions",
    description: "assert at run time that integer divisions have a result",
    passes: &["mdh-check-divisions"],
};

/// Holds what only a program that is run needs: names that no library has, assertions that say where
/// they are.
pub const RUN: Pipeline = Pipeline {
    name: "mdh-run",
    description: "names of functions that no library has, assertions that say where they are",
    passes: &["mdh-prefix-functions", "mdh-locate-assertions"],
};

/// Code says which line it comes from, to debuggers and profilers.
pub const DEBUG: Pipeline = Pipeline {
    name: "mdh-debug",
    description: "locations in the program for debuggers and profilers",
    passes: &["ensure-debug-info-scope-on-llvm-func{emission-kind=LineTablesOnly}"],
};

/// All pipelines, in the order in which they run.
pub const ALL: [Pipeline; 23] = [
    FORM,
    INLINE,
    CHECKS,
    SIMPLIFY,
    BUFFERIZE,
    ACCESSES,
    SCHEDULE,
    SCHEDULE_KERNELS,
    PLACE,
    TILES,
    KERNELS,
    VECTORS,
    LOOPS,
    DIVISIONS,
    TO_DEVICE,
    NVVM,
    LAUNCH,
    SIMULATE,
    PARALLEL,
    RUN,
    LLVM,
    WATCH,
    DEBUG,
];

/// Describes where code runs.
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
            let all = Target::ALL.map(Target::name).join(", ");
            format!("found target '{text}', expected one of: {all}")
        })
    }
}

/// Says whether accesses are held against the sizes of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RangeChecks {
    /// They are.
    On,
    /// They are trusted.
    Off,
}

/// Says whether computations without a schedule get one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedules {
    /// The model's.
    Default,
    /// Only those that are written.
    Written,
}

/// LineOptions that leave stages out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineOptions {
    /// Says whether there are checks at run time.
    pub ranges: RangeChecks,
    /// Says whether the model chooses schedules.
    pub schedules: Schedules,
}

impl LineOptions {
    /// A program that is run: with all checks and the model's schedules.
    pub const RUN: LineOptions = LineOptions {
        ranges: RangeChecks::On,
        schedules: Schedules::Default,
    };

    fn leave_out(self, pipeline: &Pipeline) -> bool {
        let is = |all: &[&Pipeline]| all.iter().any(|own| own.name == pipeline.name);
        let no_checks = self.ranges == RangeChecks::Off;
        let no_schedules = self.schedules == Schedules::Written;
        no_checks && is(&[&CHECKS, &ACCESSES, &DIVISIONS])
            || no_schedules && is(&[&SCHEDULE, &SCHEDULE_KERNELS])
    }
}

/// A state of the program between two stops of the compiler, and what leads to it from the one before.
#[derive(Clone, Copy)]
pub struct Stage {
    /// Its name: that of `mdh compile --emit` and of the pipeline `mdh-lower`.
    pub name: &'static str,
    /// The targets that have it.
    targets: &'static [Target],
    /// Its pipelines in order.
    pipelines: &'static [&'static Pipeline],
    /// Says whether it is a stop of its own, from which no other is reached.
    is_end: bool,
}

const fn stage(
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

const ALL_TARGETS: &[Target] = &Target::ALL;
const KERNEL_TARGETS: &[Target] = &[Target::Sim, Target::Cuda];

/// The order of the compiler for every target: who lowers a program goes along this list.
pub const STAGES: [Stage; 18] = [
    stage("formed", ALL_TARGETS, &[&FORM, &INLINE]),
    stage("compute", ALL_TARGETS, &[&CHECKS, &SIMPLIFY]),
    stage("bufferized", ALL_TARGETS, &[&BUFFERIZE, &ACCESSES]),
    stage("scheduled", &[Target::Cpu], &[&SCHEDULE]),
    stage("scheduled", KERNEL_TARGETS, &[&SCHEDULE_KERNELS]),
    stage("placed", KERNEL_TARGETS, &[&PLACE]),
    stage("tiles", ALL_TARGETS, &[&TILES]),
    stage("kernels", KERNEL_TARGETS, &[&KERNELS]),
    stage("vector", ALL_TARGETS, &[&VECTORS]),
    stage("loops", &[Target::Cpu, Target::Sim], &[&LOOPS, &DIVISIONS]),
    // Kernels on a GPU have nobody to tell of a division by zero.
    stage("loops", &[Target::Cuda], &[&LOOPS]),
    stage("device", &[Target::Sim], &[&SIMULATE]),
    stage("device", &[Target::Cuda], &[&TO_DEVICE]),
    Stage {
        is_end: true,
        ..stage("nvvm", &[Target::Cuda], &[&NVVM])
    },
    stage("parallel", &[Target::Cpu, Target::Sim], &[&PARALLEL, &RUN]),
    stage("parallel", &[Target::Cuda], &[&LAUNCH, &PARALLEL, &RUN]),
    stage("llvm-dialect", &[Target::Cpu, Target::Cuda], &[&LLVM]),
    stage("llvm-dialect", &[Target::Sim], &[&LLVM, &WATCH]),
];

/// The way of a program from its text to the llvm dialect, for a target.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// Says where the code runs.
    pub target: Target,
    /// Holds what is left out.
    pub options: LineOptions,
}

impl Line {
    /// The names of its stages, in order.
    pub fn stages(self) -> Vec<&'static str> {
        self.rows().map(|row| row.name).collect()
    }

    /// All of its pipelines, in order.
    pub fn all(self) -> Vec<&'static Pipeline> {
        self.through(self.rows().filter(|row| !row.is_end))
    }

    /// Returns what leads to a stage from the program as it is written; or why there is no such stage.
    pub fn to(self, stage: &str) -> Result<Vec<&'static Pipeline>, String> {
        if !self.rows().any(|row| row.name == stage) {
            return Err(format!(
                "found stage '{stage}', expected one that target '{}' has: {}",
                self.target.name(),
                self.stages().join(", ")
            ));
        }
        let mut is_before = true;
        let leading = self.rows().filter(|row| {
            let is_it = row.name == stage;
            let is_taken = is_it || is_before && !row.is_end;
            is_before &= !is_it;
            is_taken
        });
        Ok(self.through(leading))
    }

    /// Returns what leads on to the llvm dialect from a stage; everything if the target has no such stage.
    pub fn after(self, stage: &str) -> Vec<&'static Pipeline> {
        let rows: Vec<&Stage> = self.rows().collect();
        let at = rows.iter().position(|row| row.name == stage);
        let later = rows.into_iter().skip(at.map_or(0, |at| at + 1));
        self.through(later.filter(|row| !row.is_end))
    }

    /// Returns what leads from one stage to a later one.
    pub fn between(self, stage: &str, later: &str) -> Vec<&'static Pipeline> {
        let beyond = self.after(later).len();
        let mut all = self.after(stage);
        all.truncate(all.len() - beyond);
        all
    }

    fn rows(self) -> impl Iterator<Item = &'static Stage> {
        let is_own = move |row: &&Stage| row.targets.contains(&self.target);
        STAGES.iter().filter(is_own)
    }

    fn through(self, rows: impl Iterator<Item = &'static Stage>) -> Vec<&'static Pipeline> {
        let all = rows.flat_map(|row| row.pipelines).copied();
        all.filter(|pipeline| !self.options.leave_out(pipeline))
            .collect()
    }
}

/// Options of the pipeline `mdh-lower`.
pub const LOWER_OPTIONS: [OptionText; 5] = [
    ("target", "where the code runs: cpu, sim or cuda", "cpu"),
    ("stage", "the last stage", "llvm-dialect"),
    machine::ASM,
    ("checks", "whether there are checks at run time", "true"),
    (
        "schedules",
        "whether the model chooses schedules for computations without",
        "true",
    ),
];

/// The passes of `mdh-lower` for the values of its options, as MLIR parses them.
pub fn lower(values: &[&str]) -> Result<String, String> {
    let &[target, stage, asm, checks, schedules] = values else {
        return Err(format!("found {} options, expected 5", values.len()));
    };
    let is_on = |name: &str, value: &str| match value {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(format!(
            "option '{name}' of mdh-lower is '{value}': expected true or false"
        )),
    };
    let options = LineOptions {
        ranges: match is_on("checks", checks)? {
            true => RangeChecks::On,
            false => RangeChecks::Off,
        },
        schedules: match is_on("schedules", schedules)? {
            true => Schedules::Default,
            false => Schedules::Written,
        },
    };
    let target = target.parse()?;
    let leading = Line { target, options }.to(stage)?;
    let is_gpu = !asm.is_empty() && machine::find(asm)?.has_kernels();
    let texts = leading.iter().map(|own| {
        let goes_by_gpu = own.name == SCHEDULE_KERNELS.name;
        own.text(if goes_by_gpu == is_gpu { asm } else { "" })
    });
    Ok(texts.collect::<Result<Vec<String>, String>>()?.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(target: Target) -> Line {
        let options = LineOptions::RUN;
        Line { target, options }
    }

    fn names(pipelines: &[&Pipeline]) -> Vec<&'static str> {
        pipelines.iter().map(|own| own.name).collect()
    }

    #[test]
    fn a_line_is_what_leads_to_a_stage_and_what_comes_after() {
        for target in Target::ALL {
            let line = line(target);
            for stage in line.stages() {
                let whole = [line.to(stage).unwrap(), line.after(stage)].concat();
                let side = ["nvvm"].contains(&stage);
                let all = names(&line.all());
                let found: Vec<_> = names(&whole);
                let found: Vec<_> = found
                    .into_iter()
                    .filter(|n| !side || *n != NVVM.name)
                    .collect();
                assert_eq!(found, all, "{stage} of {}", target.name());
            }
        }
    }

    #[test]
    fn every_pipeline_is_part_of_a_stage() {
        let staged = |own: &Pipeline| {
            STAGES
                .iter()
                .any(|s| s.pipelines.iter().any(|p| p.name == own.name))
        };
        let others: Vec<&str> = ALL
            .iter()
            .filter(|own| !staged(own))
            .map(|own| own.name)
            .collect();
        assert_eq!(others, [DEBUG.name]);
    }

    #[test]
    fn choices_leave_out_checks_and_schedules() {
        let options = LineOptions {
            ranges: RangeChecks::Off,
            schedules: Schedules::Written,
        };
        for target in Target::ALL {
            let less = names(&Line { target, options }.all());
            let all = names(&line(target).all());
            let gone: Vec<_> = all.into_iter().filter(|own| !less.contains(own)).collect();
            let expected: &[&str] = match target {
                Target::Cpu => &[
                    "mdh-checks",
                    "mdh-accesses",
                    "mdh-default-schedules",
                    "mdh-divisions",
                ],
                Target::Sim => &[
                    "mdh-checks",
                    "mdh-accesses",
                    "mdh-default-kernel-schedules",
                    "mdh-divisions",
                ],
                Target::Cuda => &["mdh-checks", "mdh-accesses", "mdh-default-kernel-schedules"],
            };
            assert_eq!(gone, expected);
        }
    }

    #[test]
    fn a_stage_that_is_none_is_refused_with_those_that_are() {
        let said = line(Target::Cpu).to("kernels").unwrap_err();
        assert!(
            said.contains("found stage 'kernels'") && said.contains("tiles"),
            "{said}"
        );
        assert!(
            "gpu"
                .parse::<Target>()
                .unwrap_err()
                .contains("cpu, sim, cuda")
        );
    }
}
