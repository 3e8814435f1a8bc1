//! Random programs and schedules against the oracle.
//!
//! Programs without schedules, with those that the model makes, are run on the processor, on the simulator of a GPU
//! and, as PTX for several chips, on the interpreter, and lowered; programs of linalg are raised, run, also by
//! upstream's own lowering, and taken to linalg again; loops over tensors are run, and programs that random scripts of
//! upstream's transformations tile; schedules of some are searched, and functions are called with sizes of too many
//! bytes. A program that is refused is a failure as any other: nobody has written what is
//! refused, but for what a way expects. Of random schedules, for the processor and for a GPU, which is simulated and
//! interpreted, one that is not followed must be refused in words; that is counted, as is what they cover. Parser,
//! verifier and passes may refuse mutants of the examples, but nothing may crash, hang, or blame itself.
//!
//! `MDH_RANDOM_CASES`, `MDH_SCHEDULE_CASES`, `MDH_KERNEL_CASES` and `MDH_FUZZ_MUTANTS` say how many, in the place of the numbers below;
//! `MDH_RANDOM_SEED` and `MDH_SCHEDULE_SEED` (or `MDH_SEED`) where their seeds start (1), `MDH_RANDOM_STEPS` how many
//! programs are also checked after every pass (20, and 10 of those in integers), `MDH_FIRST_FAILURE` that the first
//! failure is the end. A failing case is made smaller, printed, and written to a folder with the command that shows it
//! again.

use std::path::Path;

use mdh_compiler::cli::CheckHow::{All, Exact, Sample};
use mdh_compiler::cli::Device;

use mdh_fuzz::hunt::{self, Suite};
use mdh_fuzz::run::Way as Run;
use mdh_fuzz::schedules::Machine;
use mdh_fuzz::way::Way;

const RANDOM: [&str; 2] = ["MDH_RANDOM_SEED", "MDH_RANDOM_CASES"];
const SCHEDULES: [&str; 2] = ["MDH_SCHEDULE_SEED", "MDH_SCHEDULE_CASES"];
const KERNELS: [&str; 2] = ["MDH_SCHEDULE_SEED", "MDH_KERNEL_CASES"];

const MUTANTS: [&str; 2] = ["MDH_FUZZ_SEED", "MDH_FUZZ_MUTANTS"];

const SIMULATED: Run = Run {
    device: Device::Sim,
    ..Run::PLAIN
};

/// A test for each suite: its name in records, its variables, the number of its cases, and the way of each.
macro_rules! suites {
    ($($test:ident: $name:literal, $variables:ident, $count:literal, $way:expr;)*) => {
        const SUITES: &[Suite] = &[$(Suite {
            name: $name,
            test: stringify!($test),
            variables: $variables,
            count: $count,
            way: $way,
        }),*];

        $(#[test]
        fn $test() {
            let suite = SUITES.iter().find(|suite| suite.name == $name);
            let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
            hunt::check(suite.expect("it is one of them"), folder);
        })*
    };
}

suites! {
    random_programs_give_what_the_definition_says:
        "programs", RANDOM, 90, |n| Way::of_program(Run::PLAIN, n, 20);
    random_programs_give_the_same_in_kernels:
        "programs in kernels", RANDOM, 25, |_| Way::Run(SIMULATED);
    random_exact_give_every_bit:
        "exact", RANDOM, 60, |n| Way::of_program(Run::EXACT, n, 10);
    random_exact_kernels_give_every_bit:
        "exact-kernels", RANDOM, 15, |n| Way::interpreted(Run::EXACT, n);
    random_exact_linalg_give_every_bit:
        "exact-linalg", RANDOM, 150, |_| Way::Linalg(Exact);
    random_programs_give_the_same_as_ptx:
        "programs as PTX", RANDOM, 40, |n| Way::interpreted(Run::PLAIN, n);
    random_programs_give_schedules_that_are_lowered:
        "programs to be lowered", RANDOM, 300, |_| Way::Lower;
    random_linalg_gives_what_it_says:
        "linalg", RANDOM, 350, |_| Way::Linalg(All);
    random_linalg_comes_back_as_it_went_out:
        "linalg and back", RANDOM, 150, |_| Way::RoundTrip;
    random_round_trips_give_what_the_definition_says:
        "round_trips", RANDOM, 60, |_| Way::Computations;
    random_scripts_give_what_programs_give_without_them:
        "scripts", RANDOM, 100, |_| Way::Script;
    random_loops_give_what_they_say:
        "loops", RANDOM, 60, |_| Way::Loops;
    random_einsum_give_what_their_indices_say:
        "einsum", RANDOM, 60, |_| Way::Einsum;
    random_sizes_give_sums_or_want_of_memory:
        "sizes", RANDOM, 4, |_| Way::Sizes;
    random_tune_gives_candidates_that_are_right:
        "tune", RANDOM, 2, |_| Way::Tune;
    random_schedules_give_what_the_definition_says:
        "schedules", SCHEDULES, 250, |_| Way::Schedule(Machine::Cpu, Sample, None);
    random_kernels_give_what_the_definition_says:
        "kernels", KERNELS, 130, |n| Way::of_kernels(Sample, n);
    random_exact_schedules_give_every_bit:
        "exact-schedules", SCHEDULES, 150, |_| Way::Schedule(Machine::Cpu, Exact, None);
    random_exact_gpu_schedules_give_every_bit:
        "exact-gpu-schedules", KERNELS, 70, |n| Way::of_kernels(Exact, n);
    fuzzed_examples_crash_nothing:
        "mutants of examples", MUTANTS, 3_000, |_| Way::Mutant;
}

/// Runs the cases of a test that runs in another process.
#[test]
fn child() {
    hunt::serve(SUITES);
}
