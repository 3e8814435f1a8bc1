//! `mdh-schedule`: every computation on memrefs without a schedule gets one from the model.
//!
//! ```mlir
//! // mdh-opt "--mdh-schedule=asm=cpu cores=2 vector=64 registers=32 l1=32768 l2=1048576 l3=33554432"
//! func.func @matvec(%x: memref<4096x4096xf32>, %v: memref<4096xf32>, %y: memref<4096xf32>) {
//!   mdh.compute (i = 4096, j = 4096)
//!     out_view(y = %y[i] : memref<4096xf32>)
//!     md_hom(mulf, (cc, pw(addf)))
//!     inp_view(x = %x[i, j] : memref<4096x4096xf32>, v = %v[j] : memref<4096xf32>)
//!   return
//! }
//! // becomes
//! mdh.compute (i = 4096, j = 4096)
//!   ..
//!   schedule(#mdh.schedule<
//!     asm = cpu,
//!     layers = [core {i: 2}, L1 {i: *, j: *}, register {i: 8}, simd {j: 16}],
//!     decompose = {order: [core.i, L1.i, L1.j, register.i, simd.j]},
//!     recompose = {order: [core.i, L1.i, simd.j, L1.j, register.i]},
//!     outputs = {y: {combine: {simd.j: register}}}>)
//! ```
//!
//! The options name the machine ([`crate::support::machine`]); where the module has the attribute `mdh.deterministic`,
//! cores share no combined dimension. See [`mdh_schedule::choose`] for the model.

use mdh_algebra::computation::Computation;
use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::parts::Parts;
use mdh_dialect::pass::{OptionText, Options, Pass, emit_all};
use mdh_dialect::schedule;
use mdh_dialect::translate::{self, Depth};
use mdh_dialect::types::{self, BufferKind};
use mdh_schedule::asm::Asm;
use mdh_schedule::{
    Choice, Facts, KernelSpace, Knobs, MIN_GRAIN, ScheduleSpace, SearchedParts, choose_for,
    choose_kernels,
};
use melior::ir::ValueLike;
use melior::ir::operation::OperationLike;

use crate::gpu::place_on_device::Placed;
use crate::support::deterministic;
use crate::support::machine;
pub use crate::tile::tile::chain::objections as chain_objections;
use crate::tile::tile::promote;
use crate::vector::vectorize::{self, dot};
pub use chains::Chosen;

mod chains;

/// A computation as it was read.
type Reading<'c> = (Parts<'c>, Computation);

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-schedule",
    description: "give every mdh.compute without a schedule one that the model chooses",
    operation: ops::builtin::MODULE,
    options: OPTIONS,
    run,
};

/// Options: the machine, and the minimal work of a thread.
pub const OPTIONS: &[OptionText] = &[
    machine::ASM,
    machine::CORES,
    machine::VECTOR,
    machine::REGISTERS,
    machine::L1,
    machine::L2,
    machine::L3,
    machine::FEATURES,
    (
        "grain",
        "the minimum parallel grain: the fewest points that are worth a thread",
        "32768",
    ),
];

fn run(module: Op, options: &Options) -> Result<(), Errors> {
    let (asm, grain) = (machine::from_options(options)?, grain(options)?);
    let computations = ir::find_all(module, &[ops::mdh::COMPUTE]);
    let is_left = |op: &&Op| works_on_tensors(**op) && !schedule::has_schedule(**op);
    for op in computations.iter().filter(is_left) {
        let text = "stays without a schedule: it works on tensors; run one-shot-bufferize first";
        ir::remark_at(*op, text);
    }
    let chosen = choices(&computations, &asm, grain);
    for (op, choice) in chosen.or_else(|(op, errors)| emit_all(op, errors).map(|()| Vec::new()))? {
        match choice {
            Some(choice) => schedule::set(op, Some(&choice.schedule)),
            None => ir::remark_at(
                op,
                "stays without a schedule: it has no points, or a dimension whose width is not known",
            ),
        }
    }
    Ok(())
}

/// Returns the minimum parallel grain: the fewest points that are worth a thread.
pub fn grain(options: &Options) -> Result<i64, Errors> {
    let grain = options.number("grain")?.unwrap_or(MIN_GRAIN as u64);
    Ok(i64::try_from(grain).unwrap_or(i64::MAX))
}

/// Returns the model's choices for those of these computations, in the order of the program, that
/// have no schedule and are not parts of others, chains of them fused.
pub fn choices<'c>(
    computations: &[Op<'c>],
    asm: &Asm,
    grain: i64,
) -> Result<Vec<Chosen<'c>>, (Op<'c>, Errors)> {
    let (mut chosen, mut read) = (Vec::new(), Vec::new());
    let placed = Placed::default();
    for op in computations {
        let in_op = |errors: Errors| (*op, errors);
        let computation = reading(*op).map_err(in_op)?;
        if is_open(*op, &computation.0, &placed) {
            chosen.push((*op, choice(*op, &computation, asm, grain)));
            read.push(computation);
        }
    }
    let result = chains::fuse(&mut chosen, &read, asm, grain);
    match (result, computations.first()) {
        (Err(errors), Some(first)) => Err((*first, errors)),
        _ => Ok(chosen),
    }
}

/// Returns whether the model is to choose for a computation.
pub fn is_open<'c>(op: Op<'c>, parts: &Parts, placed: &Placed<'c>) -> bool {
    !schedule::has_schedule(op) && !works_on_tensors(op) && adds_up(parts) && !placed.has(op)
}

/// Returns whether a computation is not bufferized.
fn works_on_tensors(op: Op) -> bool {
    let is_tensor = |value: Val| {
        types::buffer_type(value.r#type()).is_some_and(|t| t.kind == BufferKind::Tensor)
    };
    op.operands().map(ir::value).any(is_tensor)
}

/// Returns whether a computation carries in no more than what it adds to. (Prefix-sums with carries
/// are not separated from sums.)
fn adds_up(parts: &Parts) -> bool {
    let has_scans = || parts.combine.iter().any(|c| ir::is_ps(*c));
    match &parts.carries[..] {
        [] => true,
        [carry] => carry.outgoing.is_empty() && carry.valid.is_none() && !has_scans(),
        _ => false,
    }
}

/// Returns the model's choice for a computation on a machine, with its reasons; work is handed to
/// other cores from `grain` points on. `None` for a machine that is neither like `cpu` nor like
/// `cuda`, where there are no points, and where a width is not known.
fn choice(op: Op, of: &Reading, asm: &Asm, grain: i64) -> Option<Choice> {
    match Facts::new(asm) {
        Some(facts) => choice_for(op, of, asm, facts, grain),
        None if asm.has_kernels() => choose_kernels(&of.1, asm),
        None => None,
    }
}

fn choice_for(op: Op, of: &Reading, asm: &Asm, facts: Facts, grain: i64) -> Option<Choice> {
    let of_all = facts.cores;
    let (computation, facts, group) = subject(op, of, asm, facts, grain);
    let mut choice = choose_for(&computation, asm, facts, group)?;
    if facts.cores < of_all {
        choice
            .reasons
            .push("no cores: it stands in a parallel loop, whose iterations have them".into());
    }
    Some(choice)
}

/// The space in which a tuner searches for a computation's schedule; `None` where there is none
/// ([`ScheduleSpace::new`], and [`KernelSpace::new`] for machines with kernels).
pub fn space(op: Op, asm: &Asm, grain: i64) -> Result<Option<Box<dyn Knobs>>, Errors> {
    space_with(op, asm, grain, SearchedParts::Model)
}

/// A computation with its code, in which conditions stand, where that can be read.
fn reading<'c>(op: Op<'c>) -> Result<Reading<'c>, Errors> {
    translate::both(op, Depth::Code).or_else(|_| translate::both(op, Depth::Signatures))
}

/// The same with these parts of dimensions.
pub fn space_with(
    op: Op,
    asm: &Asm,
    grain: i64,
    parts: SearchedParts,
) -> Result<Option<Box<dyn Knobs>>, Errors> {
    let read = reading(op)?;
    let Some(facts) = Facts::new(asm) else {
        let space = KernelSpace::new(&read.1, asm, parts);
        return Ok(space.map(|space| Box::new(space) as Box<dyn Knobs>));
    };
    let (computation, facts, group) = subject(op, &read, asm, facts, grain);
    let space = ScheduleSpace::new(&computation, asm, facts, group, parts);
    Ok(space.map(|space| Box::new(space) as Box<dyn Knobs>))
}

/// The model's subject: a computation as its code has it, the facts that hold for it, and the points
/// that one instruction combines.
fn subject(
    op: Op,
    (parts, computation): &Reading,
    asm: &Asm,
    facts: Facts,
    grain: i64,
) -> (Computation, Facts, i64) {
    let mut computation = computation.clone();
    let features = asm.lanes().map_or(&[][..], |lanes| &lanes.features);
    let features: Vec<&str> = features.iter().map(String::as_str).collect();
    let lanes = facts.vector / 4;
    let group = dot::points(op, parts, &computation, lanes, &features);
    if group == 1 {
        // What is promoted is staged so: tiles are as large as that.
        for (n, input) in computation.inputs.iter_mut().enumerate() {
            let widening = promote::on_read(op, parts, n);
            input.element = widening.map_or(input.element, |widening| widening.to);
        }
    }
    let facts = Facts {
        // Code that is called for each lane alone gains nothing from lanes.
        vector: if vectorize::gains(op) {
            facts.vector
        } else {
            1
        },
        grain,
        is_deterministic: deterministic::is_wanted(op),
        cores: if is_in_parallel(op) { 1 } else { facts.cores },
        ..facts
    };
    (computation, facts, group)
}

/// Returns whether a computation stands in a loop whose iterations run at once: these have the cores.
pub fn is_in_parallel(op: Op) -> bool {
    let is_parallel = |op: Op| {
        let name = ir::name_of(op);
        let parallel_loops = [ops::scf::FORALL, ops::scf::PARALLEL, ops::affine::PARALLEL];
        parallel_loops.contains(&name) || name.starts_with("omp.")
    };
    ir::ancestors(op).any(is_parallel)
}
