//! The compiler on one page: the order of stages for every target, the passes that may be left out, and the passes of
//! every pipeline. Commands, tests and `mdh-lower` ask a [`Line`] of it, and none of them spells an order of its own.

mod line;
mod stage;
mod text;

pub use line::{
    Arithmetic, LOWER_OPTIONS, Line, LineOptions, Raise, RangeChecks, Schedules, lower,
};
use stage::stage;
pub use stage::{Stage, Target};
pub use text::Pipeline;

const ALL_TARGETS: &[Target] = &Target::ALL;
const KERNEL_TARGETS: &[Target] = &[Target::Sim, Target::Cuda];

/// The order of the compiler for every target: all lowering goes along this list. `mdh compile --emit` names its rows.
#[rustfmt::skip]
pub const STAGES: &[Stage] = &[
    stage("formed", ALL_TARGETS, &[&FORM, &INLINE]),
    stage("raised", ALL_TARGETS, &[&RAISE]),
    stage("compute", ALL_TARGETS, &[&SPECIALIZE, &CHECKS, &SIMPLIFY]),
    stage("bufferized", ALL_TARGETS, &[&BUFFERIZE, &ACCESSES, &DISPATCH]),
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
    // A stop of its own, from which no other is reached.
    Stage { is_end: true, ..stage("nvvm", &[Target::Cuda], &[&NVVM]) },
    stage("parallel", &[Target::Cpu, Target::Sim], &[&PARALLEL, &RUN]),
    stage("parallel", &[Target::Cuda], &[&LAUNCH, &PARALLEL, &RUN]),
    stage("llvm-dialect", &[Target::Cpu, Target::Cuda], &[&LLVM]),
    stage("llvm-dialect", &[Target::Sim], &[&LLVM, &WATCH]),
];

/// Passes that only make code faster: without them a program becomes machine code with the same
/// meaning. What a wrong one of them has done shows without the others.
#[rustfmt::skip]
pub const OPTIONAL: &[&str] = &[
    "cse", "loop-invariant-code-motion", "mdh-copy-asynchronously", "mdh-hoist-buffers", "mdh-lower-histograms",
    "mdh-outline-parallel", "mdh-prefetch", "mdh-raise-copies", "mdh-schedule", "mdh-separate-scans",
    "mdh-share-subexpressions", "mdh-split-functions", "mdh-split-phases", "mdh-tile", "mdh-reverse-dimensions",
    "mdh-vectorize", "mdh-warn",
];

/// Rows `CONSTANT = "name", "what it does": ["pass{option=value}", ..];` in the order in which they run.
macro_rules! pipelines {
    ($($constant:ident = $name:literal, $description:literal: [$($pass:literal),* $(,)?];)*) => {
        $(
            #[doc = $description]
            pub const $constant: Pipeline = Pipeline {
                name: $name,
                description: $description,
                passes: &[$($pass),*],
            };
        )*

        /// All pipelines, in the order in which they run.
        pub const ALL: &[Pipeline] = &[$($constant),*];
    };
}

pipelines! {
    FORM = "mdh-form", "every out_view . hom . inp_view to an mdh.compute": ["mdh-form-compute"];
    // As far as calls do not recurse: a callee may have results of any size, and the oracle can follow.
    INLINE = "mdh-inline", "calls of functions to their bodies": ["inline{default-pipeline=}", "symbol-dce"];
    RAISE = "mdh-raise", "linalg, and arithmetic on tensors, to mdh.compute": [
        "convert-elementwise-to-linalg", "mdh-raise-linalg{checks=true}",
    ];
    // In the place of RAISE: linalg stays as it is, and runs by upstream's own lowering.
    ELEMENTWISE = "mdh-elementwise", "arithmetic on tensors to linalg, which stays": ["convert-elementwise-to-linalg"];
    // Before anything asks for sizes that are known then.
    SPECIALIZE = "mdh-versions", "versions of functions for the sizes that they are wanted for": ["mdh-specialize"];
    // Before anything else changes the accesses.
    CHECKS = "mdh-checks", "assert at run time what is neither proved nor refuted": ["mdh-insert-range-checks"];
    SIMPLIFY = "mdh-simplify", "simpler computations with the same meaning": [
        "mdh-keep-loops", "mdh-preserve-truncation", "canonicalize", "mdh-layout-to-arith{affine=false}", "cse",
    ];
    BUFFERIZE = "mdh-bufferize", "tensors to memrefs; results of functions to arguments": [
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
    ];
    // For programs that are run: upstream's assertions hold the text of the operation, which makes them long to read.
    ACCESSES = "mdh-accesses", "assert at run time that accesses stay within their memrefs": [
        "generate-runtime-verification",
    ];
    // Once results are arguments, so that nothing is copied; behind assertions, which are not asked of it.
    DISPATCH = "mdh-pick-versions", "functions call the version for the sizes of their arguments": ["mdh-dispatch"];
    // Histograms need no schedule, prefix-sums of sums are two computations, common subexpressions may be one of their
    // own, and large copies are some.
    SCHEDULE = "mdh-default-schedules", "a schedule from the model for every mdh.compute without one": [
        "mdh-lower-histograms", "mdh-separate-scans", "mdh-reverse-dimensions", "mdh-share-subexpressions",
        "mdh-schedule", "mdh-raise-copies", "mdh-warn",
    ];
    SCHEDULE_KERNELS = "mdh-default-kernel-schedules", "a schedule of blocks and threads for every mdh.compute without one": [
        "mdh-separate-scans", "mdh-raise-copies{asm=cuda}", "mdh-schedule{asm=cuda}", "mdh-warn{asm=cuda}",
    ];
    // Behind all that chooses and rewrites for floats. The definition is read from the program after the same passes.
    EXACT = "mdh-exact-arithmetic", "integers of the same width in the place of floats, for exact checks": [
        "convert-elementwise-to-linalg", "mdh-decompose-linalg", "linalg-generalize-named-ops", "sccp", "mdh-exact",
    ];
    PLACE = "mdh-place", "what computations for a device use is copied to its memory and back": [
        "mdh-place-on-device",
    ];
    // One nest for each phase that has an order of its own; the second time, the copies that these make, and what the
    // model has chosen for parts of a prefix-sum; the third time, the copies of those.
    TILES = "mdh-tiles", "scheduled computations to loops over tiles": [
        "mdh-split-phases", "mdh-tile", "mdh-tile", "mdh-tile", "cse", "canonicalize",
    ];
    KERNELS = "mdh-kernels", "parallel loops of blocks and threads to kernels": [
        "loop-invariant-code-motion", "mdh-map-kernels", "canonicalize", "cse",
    ];
    // Memory spaces go first: memory is settled by then.
    VECTORS = "mdh-vectors", "tiles that stay in registers to vectors": [
        "mdh-erase-memory-spaces", "mdh-copy-asynchronously", "mdh-vectorize", "cse", "mdh-prefetch",
    ];
    LOOPS = "mdh-loops", "mdh.compute and linalg on memrefs to scf loops": [
        "convert-linalg-to-loops",
        "mdh-lower-to-loops",
        "mdh-layout-to-arith{affine=false views=none}",
        "canonicalize",
        // Code that several blocks have is moved to one place before it is one.
        "loop-invariant-code-motion",
        "cse",
        "mdh-hoist-buffers",
        "mdh-saturate-sizes",
    ];
    // In the loops, of which scalar code is a part by then.
    DIVISIONS = "mdh-divisions", "assert at run time that integer divisions have a result": [
        "mdh-check-divisions", "cse",
    ];
    TO_DEVICE = "mdh-to-device", "kernels to functions of a GPU, in a module of their own": [
        "mdh-expand-kernel-remainders", "mdh-lift-kernel-math", "mdh-expand-vector-math", "mdh-expand-math",
        "mdh-kernel-intrinsics", "canonicalize", "int-range-optimizations", "canonicalize", "cse",
        "mdh-align-accesses", "gpu-launch-sink-index-computations", "gpu-kernel-outlining",
        "mdh-align-shared-memory",
    ];
    NVVM = "mdh-nvvm", "functions of a GPU to the nvvm and llvm dialects": [
        "gpu.module(convert-nvgpu-to-nvvm,convert-vector-to-scf,expand-strided-metadata,lower-affine,\
               convert-scf-to-cf,convert-math-to-llvm{approximate-log1p=false},\
               convert-arith-to-llvm,convert-gpu-to-nvvm,convert-vector-to-llvm,\
               convert-index-to-llvm,convert-ub-to-llvm,convert-nvvm-to-llvm,canonicalize,cse,\
               reconcile-unrealized-casts)",
    ];
    LAUNCH = "mdh-launch", "launches and memory of a device to calls of the library that drives it": [
        "mdh-launch-kernels",
    ];
    SIMULATE = "mdh-simulate", "kernels to functions that the simulator of a GPU runs for each thread": [
        "mdh-simulate-kernels",
    ];
    PARALLEL = "mdh-parallel", "bodies of parallel loops to functions for threads": [
        "mdh-outline-parallel", "mdh-split-functions",
    ];
    RUN = "mdh-run", "names of functions that no library has, assertions that say where they are": [
        "mdh-prefix-functions", "mdh-locate-assertions",
    ];
    // Passes that look at one function only run function by function: several passes then find it in the caches.
    LLVM = "mdh-llvm", "scf, memref, arith and math to the llvm dialect": [
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
    ];
    WATCH = "mdh-watch", "accesses of kernels to memory are told to the simulator of a GPU": ["mdh-watch-memory"];
    DEBUG = "mdh-debug", "locations in the program for debuggers and profilers": [
        "ensure-debug-info-scope-on-llvm-func{emission-kind=LineTablesOnly}",
    ];
    TO_LINALG = "mdh-lower-to-linalg", "mdh.compute to named operations of linalg and linalg.generic": [
        "mdh-to-linalg",
    ];
}
