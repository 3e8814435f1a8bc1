//! The schedule: every parameter of the MDH paper's table 1, over MDH levels, as data.
//!
//! Owns machines as layers ([`asm`]), and how a computation is cut over one: what a schedule means ([`Resolved`]), must
//! keep ([`check`]) and has code for ([`legality`]), which one is chosen ([`choose`]), and its execution by definition
//! ([`execute`]). It must not know MLIR, files or threads. Start with [`Schedule`], then `resolved.rs` and `choose.rs`.
//!
//! | files | what they hold |
//! |---|---|
//! | `asm` | machines, and the facts of each kind |
//! | `names`, `numbers`, `buffers`, `tails`, `staged_layout`, `tile_order`, `resolved` | a schedule as it is written, and with positions for names and defaults for what is left out |
//! | `check`, `machine_rules`, `capacity`, `violation` | what a schedule must keep |
//! | `legality`, `stages`, `matrix` | what the lowering has code for |
//! | `choose`, `gpu`, `warnings` | the model that chooses, what a schedule costs on a GPU, and what is slow |
//! | `tiles`, `footprint`, `reach`, `walk`, `depth`, `execute` | what a schedule does: sizes, contents, order, errors, results |
//! | `spelling`, `tree`, `edit`, `schedule_path` | text, JSON, edits, and places in them |
//!
//! # Why
//!
//! A computation says what each point gives and how points are combined; it does not say in which order, by which core
//! or from which memory. All of that is here, as data that can be printed, checked, searched and executed slowly, so
//! that the lowering has nothing left to decide.
//!
//! # Two ideas
//!
//! *One cut.* The iteration space is cut layer by layer of the machine, in every dimension, combined ones included. The
//! parts of a core layer run at the same time, those of a memory layer one after the other:
//!
//! ```text
//! C[i, j] = sum over k of A[i, k] * B[k, j], 64 x 64 x 64,   core {i: 4}, L1 {k: 8}, register {i: 16, j: 64, k: 8}
//!
//!          k ->                        j ->
//!     i  [ core 0 |0|1|2| .. |7| ]   [ 16 x 64 of C ]
//!     |  [ core 1 |0|1|2| .. |7| ]   [ 16 x 64 of C ]      each core goes through k in 8 parts of 8, the partial
//!     v  [ core 2 |0|1|2| .. |7| ]   [ 16 x 64 of C ]      result of one part being carried into the next one
//!        [ core 3 |0|1|2| .. |7| ]   [ 16 x 64 of C ]
//! ```
//!
//! *Three phases.* Going down, tiles of inputs are copied (de-composition, D); at the bottom the scalar function runs (S);
//! going up, partial results are combined (re-composition, R). Each has an order of its levels, and where the orders of
//! two phases agree they are one loop nest.
//!
//! # Objections
//!
//! *Why not loop transformations, as TVM and Halide have?* A list of transformations has to be applied before anything
//! can be asked of it, and two lists may mean the same. Here a schedule is a value: a search changes a number and asks.
//! Transform operations that edit one are in `dialect`.
//!
//! *What of combine operators that must not be reordered?* The cut keeps the order of points, and R1 that of the
//! combination; [`check`] refuses the rest.
//!
//! # What is written
//!
//! A schedule cuts the iteration space into parts, layer by layer and dimension by dimension.
//! An *MDH level* is a pair of a layer and a dimension, written `block.i`; a layer of the
//! schedule has the name of the ASM layer that it is assigned to unless D2, S2 or R2 say
//! otherwise. Dimensions and buffers go by their names.
//!
//! | No.        | parameter                | written                                              |
//! |------------|--------------------------|------------------------------------------------------|
//! | 0          | number of parts          | [`Schedule::layers`], outermost first                |
//! | D1, S1, R1 | order                    | [`Phase::order`] of the three phases, outermost first |
//! | D2, S2, R2 | assignment               | [`Phase::assign`]                                    |
//! | D3, D4     | regions, layouts, inputs | [`Input::stage`], [`Input::layout`], [`Input::stages`] |
//! | S3, S4     | the scalar function's    | [`Input::scalar`], [`Input::scalar_layout`]          |
//! | S5, S6     | the scalar function's    | [`Output::scalar`], [`Output::scalar_layout`]        |
//! | R3, R4     | regions, layouts, outputs | [`Output::combine`], [`Output::layout`]             |
//!
//! [`Schedule`] is the written form, in which everything is optional. With a computation and an
//! ASM it becomes a [`Resolved`], in which nothing is: [`Resolved::new`] fills in the defaults and
//! reports, as [`Violation`]s, all that contradicts them; [`check`] reports every violated
//! constraint of the algorithm and of the machine (appendix C.1).
//!
//! What the parameters mean, exactly:
//! - *Parts*: point number `n` of a dimension is `sum of p(l) * tile(l)` over the layers `l`,
//!   where `tile(l)` is the product of the part counts of the layers inside `l`. One count may
//!   be derived, `ceil(points / product of the others)`: that of the outermost layer if it is
//!   not written, or the one written as `*`. Counts that do not divide leave tails.
//! - *Orders* are loop nests, the outermost level first. R1 is one too: what is last in it is
//!   combined first. A parallel level that is outside the sequential ones is deferred and combined
//!   once, one that is inside them early and often.
//! - *Staging* (D3): from the level that is written on, tiles are read from that region. A tile
//!   is copied just before the loop of that level starts, and holds what the points of the
//!   loops not started yet read. In a region that each core has for itself, each core holds
//!   what its own points read.
//! - *Stages*: tiles that the threads of a block copy cooperatively can be copied
//!   asynchronously. With `n` buffers for the tile of an input, that of iteration `t` of the loop around the
//!   copy is asked for in iteration `t - n + 1`, and computed on while the others are in flight.
//! - *Combining* (R3): from the level that is written on, partial results are in that region.
//! - Nests are fused where order and assignment of neighbouring phases agree
//!   ([`Resolved::nests`]); between separate ones everything is kept in D3's or S5's region.

pub mod asm;
mod buffers;
mod capacity;
mod check;
mod choose;
mod depth;
pub mod edit;
mod execute;
mod footprint;
pub mod gpu;
pub mod legality;
mod machine_rules;
pub mod matrix;
mod names;
mod numbers;
pub mod random_schedule;
pub mod reach;
mod resolved;
mod schedule;
mod schedule_path;
mod spelling;
mod staged_layout;
mod stages;
mod tails;
mod tile_order;
mod tiles;
mod tree;
mod violation;
mod walk;
mod warnings;

pub use capacity::{Allocation, allocations};
pub use check::{check, check_compute_at};
pub use choose::{
    Chained, Choice, Facts, KernelSpace, Knob, Knobs, MIN_GRAIN, ModelChoice, ScheduleSpace,
    SearchedParts, TileLoop, choose, choose_for, choose_kernels, draw, fusion_gain, meaning, rates,
    separates_scans, streaming_threshold,
};
pub use depth::Leaves;
pub use execute::{Execution, execute};
pub use footprint::{Footprint, FootprintAxis, footprint};
pub use numbers::{Count, Parts};
pub use resolved::{
    InputPlan, Level, OutputPlan, PerLevel, PhaseNest, PhasePlan, Resolved, TilePlan,
};
pub use schedule::{
    ComputeAt, Input, Layer, LevelName, Output, Phase, Schedule, Schedules, TailCode, TileOrder,
};
pub use schedule_path::SchedulePath;
pub use spelling::{ParseError, is_json, locate};
pub use staged_layout::{StagedLayout, Step};
pub use tiles::{Span, Tail, Tiles};
pub use violation::{Constraint, Violation};
pub use walk::{Visit, walk};
pub use warnings::{Cause, Warning, warnings};

#[cfg(test)]
#[path = "check_tests.rs"]
mod check_tests;
#[cfg(test)]
#[path = "named_tests.rs"]
mod named_tests;
#[cfg(test)]
#[path = "random_tests.rs"]
mod random_tests;
#[cfg(test)]
#[path = "spelling_tests.rs"]
mod spelling_tests;
