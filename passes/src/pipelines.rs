//! The compiler on one page: every pipeline, as data.

use mdh_dialect::pass::{self, OptionText, Pass};

use crate::machine;

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
    "mdh-turn-dimensions",
    "mdh-vectorize",
    "mdh-warn",
];

/// A named sequence of passes on a module.
pub struct Pipeline {
    /// Its name in `--pass-pipeline`.
    pub name: &'static str,
    /// One line of help.
    pub description: &'static str,
    /// The passes, in order.
    pub passes: &'static [&'static str],
}

impl Pipeline {
    /// The passes, of which those that go by the machine, and have none of their own, have the options
    /// that `told` gives.
    pub fn passes_for(&self, told: impl Fn(&Pass) -> String) -> Vec<String> {
        self.with_options(|pass, own| own.is_none().then(|| told(pass)))
    }

    /// The passes for a machine by its name or file, also those that have one of their own.
    fn passes_on(&self, asm: &str) -> Vec<String> {
        self.with_options(|_, _| (!asm.is_empty()).then(|| format!("asm=\"{asm}\"")))
    }

    /// The passes, with other options for those that go by the machine, where there are some; these
    /// are asked for with what stands here.
    fn with_options(&self, other: impl Fn(&Pass, Option<&str>) -> Option<String>) -> Vec<String> {
        let passes = self.passes.iter().map(|text| {
            let own = text.split_once('{').map(|(_, options)| options);
            let other = goes_by_machine(text).and_then(|pass| Some((pass, other(pass, own)?)));
            match other {
                Some((pass, options)) => format!("{}{{{options}}}", pass.argument),
                None => text.to_string(),
            }
        });
        passes.collect()
    }

    /// Its options: it has that of the machine if a pass has.
    pub fn options(&self) -> &'static [OptionText] {
        match self
            .passes
            .iter()
            .any(|text| goes_by_machine(text).is_some())
        {
            true => &[machine::ASM],
            false => &[],
        }
    }

    /// The passes as MLIR parses them, for a machine by its name or file, without the enclosing
    /// `builtin.module(..)`; or why they cannot be parsed.
    pub fn text(&self, asm: &str) -> Result<String, String> {
        let passes = self.passes_on(asm);
        let all = names(&passes);
        let missing: Vec<&str> = all
            .into_iter()
            .filter(|name| !pass::is_known(name))
            .collect();
        match missing.is_empty() {
            true => Ok(passes.join(",")),
            false => Err(format!(
                "the pipeline '{}' needs passes that this program has not registered: {}; call \
                 mlir::registerAllPasses(), or register these, before it asks for the pipeline",
                self.name,
                missing.join(", ")
            )),
        }
    }
}

/// The pass of a pipeline's entry, if it goes by the machine.
fn goes_by_machine(entry: &str) -> Option<&'static Pass> {
    machine::pass(entry.split('{').next().unwrap_or_default())
}

/// The names of the passes in entries, those for nested operations too, each once.
fn names(entries: &[String]) -> Vec<&str> {
    let mut found = Vec::new();
    for entry in entries {
        let (mut start, mut depth) = (0, 0);
        for (at, c) in entry.char_indices().chain([(entry.len(), ',')]) {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                '(' if depth == 0 => start = at + 1,
                ',' | ')' if depth == 0 => {
                    let name = entry[start..at]
                        .split('{')
                        .next()
                        .unwrap_or_default()
                        .trim();
                    if !name.is_empty() && !found.contains(&name) {
                        found.push(name);
                    }
                    start = at + 1;
                }
                _ => {}
            }
        }
    }
    found
}

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

/// What only sizes at run time decide is asserted: before anything else changes the accesses.
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
        "mdh-narrow-indices",
        "canonicalize",
        "mdh-layout-to-arith{affine=false}",
        "cse",
    ],
};

/// What a program does with memrefs outside of computations is asserted too. For programs that
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
        "mdh-turn-dimensions",
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

/// What computations for a device use is in its memory.
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
/// order of its own; the second time, the copies that these make.
pub const TILES: Pipeline = Pipeline {
    name: "mdh-tiles",
    description: "scheduled computations to loops over tiles",
    passes: &["mdh-split-phases", "mdh-tile", "mdh-tile", "cse"],
};

/// What is copied asynchronously is copied past the registers; innermost tiles become code on
/// vectors; what the next tile reads is fetched while others compute.
pub const VECTORS: Pipeline = Pipeline {
    name: "mdh-vectors",
    description: "tiles that stay in registers to vectors",
    passes: &[
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
        "cse",
        "loop-invariant-code-motion",
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

/// What only a program that is run needs: names that no library has, assertions that say where
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_options_and_nests() {
        let entries = ["a{b=c,d e={f}}", "gpu.module(g,h{i=j,k}, l)", "a"].map(String::from);
        assert_eq!(names(&entries), ["a", "g", "h", "l"]);
    }

    #[test]
    fn machines_stand_where_passes_go_by_them() {
        let told = |pipeline: &Pipeline| pipeline.passes_for(|_| "asm=m".to_string());
        assert_eq!(told(&SCHEDULE)[4], "mdh-schedule{asm=m}");
        assert_eq!(told(&SCHEDULE_KERNELS)[1], "mdh-schedule{asm=cuda}");
        assert_eq!(
            SCHEDULE_KERNELS.passes_on("m")[1],
            "mdh-schedule{asm=\"m\"}"
        );
        assert_eq!(SCHEDULE.passes_on("")[4], "mdh-schedule");
        assert_eq!(told(&FORM), ["mdh-form-compute"]);
        assert_eq!(SCHEDULE.options().len(), 1);
        assert_eq!(FORM.options().len(), 0);
    }
}
