//! The compiler on one page: every pipeline, and their order for every target, as data.
//!
//! [`STAGES`] is the order. Commands, tests and `mdh-lower` ask a [`Line`] of it, and none of them
//! spells an order of its own.

mod line;
mod text;

use std::str::FromStr;

pub use line::{
    Arithmetic, LOWER_OPTIONS, Line, LineOptions, Raise, RangeChecks, Schedules, lower,
};
pub use text::Pipeline;

/// Passes that only make code faster: without them a program becomes machine code with the same
/// meaning. What a wrong one of them has done shows without the others.
pub const OPTIONAL: [&str; 17] = [
    "cse",
    "loop-invariant-code-motion",
    "mdh-copy-asynchronously",
    "mdh-hoist-buffers",
    "mdh-lower-histograms",
    "mdh-outline-parallel",
    "mdh-prefetch",
    "mdh-raise-copies",
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
        "mdh-decompose-linalg",
        "mdh-save-overwritten",
        "mdh-separate-empties",
        "mdh-loop-buffers",
        "one-shot-bufferize{bufferize-function-boundaries \
         function-boundary-type-conversion=identity-layout-map}",
        "mdh-order-constants",
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

/// Inlines calls, as far as they do not recurse: a callee may have results of any size, and the
/// oracle can follow.
pub const INLINE: Pipeline = Pipeline {
    name: "mdh-inline",
    description: "calls of functions to their bodies",
    passes: &["inline{default-pipeline=}", "symbol-dce"],
};

/// Makes the versions that functions are wanted in: before anything asks for sizes that are known then.
pub const SPECIALIZE: Pipeline = Pipeline {
    name: "mdh-versions",
    description: "versions of functions for the sizes that they are wanted for",
    passes: &["mdh-specialize"],
};

/// Asserts the conditions that only sizes at run time decide, before anything else changes the
/// accesses.
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

/// Asserts a program's accesses to memrefs outside of computations, too. For programs that are run:
/// upstream's assertions hold the text of the operation, which makes them long to read.
pub const ACCESSES: Pipeline = Pipeline {
    name: "mdh-accesses",
    description: "assert at run time that accesses stay within their memrefs",
    passes: &["generate-runtime-verification"],
};

/// Has functions call their versions, once results are arguments: nothing is copied for it. Behind
/// assertions, which it is not asked for: it looks at sizes before it takes them for granted.
pub const DISPATCH: Pipeline = Pipeline {
    name: "mdh-pick-versions",
    description: "functions call the version for the sizes of their arguments",
    passes: &["mdh-dispatch"],
};

/// Raises linalg, and arithmetic on tensors, to computations.
pub const RAISE: Pipeline = Pipeline {
    name: "mdh-raise",
    description: "linalg, and arithmetic on tensors, to mdh.compute",
    passes: &[
        "convert-elementwise-to-linalg",
        "mdh-raise-linalg{checks=true}",
    ],
};

/// Hands computations to other back ends.
pub const TO_LINALG: Pipeline = Pipeline {
    name: "mdh-lower-to-linalg",
    description: "mdh.compute to named operations of linalg and linalg.generic",
    passes: &["mdh-to-linalg"],
};

/// Arithmetic on tensors becomes linalg, in the place of [`RAISE`]: linalg then stays as it is, and runs
/// by upstream's own lowering.
pub const ELEMENTWISE: Pipeline = Pipeline {
    name: "mdh-elementwise",
    description: "arithmetic on tensors to linalg, which stays",
    passes: &["convert-elementwise-to-linalg"],
};

/// Gives computations schedules, where they have none; but histograms need none, prefix-sums of
/// sums are two computations, common subexpressions may be one of its own, and large copies are some.
pub const SCHEDULE: Pipeline = Pipeline {
    name: "mdh-default-schedules",
    description: "a schedule from the model for every mdh.compute without one",
    passes: &[
        "mdh-lower-histograms",
        "mdh-separate-scans",
        "mdh-reverse-dimensions",
        "mdh-share-subexpressions",
        "mdh-schedule",
        "mdh-raise-copies",
        "mdh-warn",
    ],
};

/// Gives computations schedules for a GPU, where they have none; separates those that are two.
pub const SCHEDULE_KERNELS: Pipeline = Pipeline {
    name: "mdh-default-kernel-schedules",
    description: "a schedule of blocks and threads for every mdh.compute without one",
    passes: &[
        "mdh-separate-scans",
        "mdh-schedule{asm=cuda}",
        "mdh-warn{asm=cuda}",
    ],
};

/// Makes integers of floats, for exact checks: behind all that chooses and rewrites for floats. The definition
/// is read from the program after the same passes.
pub const EXACT: Pipeline = Pipeline {
    name: "mdh-exact-arithmetic",
    description: "integers of the same width in the place of floats, for exact checks",
    passes: &[
        "convert-elementwise-to-linalg",
        "mdh-decompose-linalg",
        "linalg-generalize-named-ops",
        "sccp",
        "mdh-exact",
    ],
};

/// Places the operands of computations for a device in its memory.
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

/// Erases memory spaces, whose memory it is being settled, makes asynchronous copies bypass registers,
/// vectorizes innermost tiles, and prefetches the next tile while others compute.
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
        "mdh-saturate-sizes",
    ],
};

/// Outlines kernels to functions of a device, in a module of their own; accesses get alignments.
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

/// Reports the kernels' accesses to memory to the simulator.
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

/// Lowers loops to the llvm dialect. Passes that look at one function only run function by
/// function: several passes then find it in the caches.
pub const LLVM: Pipeline = Pipeline {
    name: "mdh-llvm",
    description: "scf, memref, arith and math to the llvm dialect",
    passes: &[
        // Before upstream's conversions, which leave what they do not know and convert what is in it.
        "mdh-check-lowered",
        "mdh-fence-stores",
        "mdh-plain-subviews",
        "any(memref-expand,expand-strided-metadata,lower-affine)",
        "mdh-expand-vector-math",
        "mdh-split-masks",
        "mdh-limit-vectorizer",
        "any(convert-vector-to-scf)",
        // While loops have no blocks: it merges those that are alike, and each merge may double the operands of
        // branches.
        "convert-vector-to-llvm",
        "any(convert-scf-to-cf)",
        "mdh-expand-math",
        // Integer powers; those of floats have an intrinsic.
        "convert-math-to-funcs{min-width-of-fpowi-exponent=33}",
        "convert-math-to-llvm{approximate-log1p=false}",
        "convert-math-to-libm",
        "finalize-memref-to-llvm",
        "convert-func-to-llvm",
        // Before arith: what folds branches makes constants of it.
        "convert-cf-to-llvm",
        "mdh-loop-annotations",
        "any(convert-arith-to-llvm,convert-index-to-llvm,convert-ub-to-llvm,reconcile-unrealized-casts,\
             canonicalize,cse)",
    ],
};

/// Integer divisions are asserted to have a result: in the loops, of which scalar code is a part
/// by then.
pub const DIVISIONS: Pipeline = Pipeline {
    name: "mdh-divisions",
    description: "assert at run time that integer divisions have a result",
    passes: &["mdh-check-divisions", "cse"],
};

/// Passes for programs that are run: names that no library has, assertions with their locations.
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
pub const ALL: [Pipeline; 29] = [
    FORM,
    INLINE,
    RAISE,
    ELEMENTWISE,
    SPECIALIZE,
    CHECKS,
    SIMPLIFY,
    BUFFERIZE,
    ACCESSES,
    DISPATCH,
    SCHEDULE,
    SCHEDULE_KERNELS,
    EXACT,
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
    TO_LINALG,
];

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
            let all = Target::ALL.map(Target::name).join(", ");
            format!("found target '{text}', expected one of: {all}")
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
    targets: &'static [Target],
    /// Its pipelines in order.
    pipelines: &'static [&'static Pipeline],
    /// True if it is a stop of its own, from which no other is reached.
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

/// The order of the compiler for every target: all lowering goes along this list.
pub const STAGES: [Stage; 19] = [
    stage("formed", ALL_TARGETS, &[&FORM, &INLINE]),
    stage("raised", ALL_TARGETS, &[&RAISE]),
    stage("compute", ALL_TARGETS, &[&SPECIALIZE, &CHECKS, &SIMPLIFY]),
    stage(
        "bufferized",
        ALL_TARGETS,
        &[&BUFFERIZE, &ACCESSES, &DISPATCH],
    ),
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
