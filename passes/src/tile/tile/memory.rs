//! Moves of computations that memory permits, and readers of their results.

use std::borrow::Cow;

use mdh_algebra::affine::Expr;
use mdh_algebra::computation::{Access, Combine, Computation};
use mdh_algebra::domain::Grid;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::memory::{is_view, root};
use mdh_dialect::parts::Parts;
use mdh_dialect::read;
use mdh_dialect::{marks, ops};
use melior::ir::operation::OperationLike;
use melior::ir::{TypeLike, ValueLike};
use mlir_sys::{mlirTypeIsAMemRef, mlirTypeIsAUnrankedMemRef};

use super::chain::Chains;
use crate::support::region;
use crate::support::scheduled::Scheduled;

/// Checks that a computation may move to `root`, with others that do: its inputs stay as they are
/// until then, and its outputs are neither read nor written but by these.
pub fn may_move<'c>(of: &Scheduled<'c>, root: Op<'c>, chains: &Chains<'c>) -> Result<(), String> {
    let group = chains.group(root);
    let written = written(&of.parts);
    let own_reads: Vec<Val> = reads(&of.parts);
    let mut next = of.op.next_in_block().map(|op| ir::op(&op));
    while let Some(other) = next {
        let is_root = other == root;
        let refuse = |what: &str| {
            Err(format!(
                "{what} before '{}' is computed: expected nothing in between that does",
                mdh_dialect::schedule::name(root)
            ))
        };
        if ir::name_of(other) == ops::mdh::COMPUTE {
            let parts_of_other = match chains.parts(other) {
                Some(parts) => Cow::Borrowed(parts),
                // One that is not asked about, between those of a chain.
                None => Cow::Owned(read::compute(other).map_err(|errors| errors.join("; "))?),
            };
            let stores = self::written(&parts_of_other);
            if overlap(&stores, &own_reads) {
                return match is_root {
                    true => Err("the consumer writes what it reads: expected other memory".into()),
                    false => refuse("what it reads is written"),
                };
            }
            if !is_root && overlap(&stores, &written) {
                return refuse("what it writes is written again");
            }
            // Those that are computed beside it read tiles of it.
            let is_beside = is_root || group.contains(&other);
            let reads_of_others: Vec<Val> = reads(&parts_of_other);
            let foreign = reads_of_others
                .iter()
                .filter(|v| !is_beside || !written.contains(*v));
            let foreign: Vec<Val> = foreign.copied().collect();
            if overlap(&foreign, &written) {
                return refuse("what it writes is read");
            }
        } else if !is_harmless(other) {
            let used = region::used_by(other);
            if overlap(&stored_by(other), &own_reads) || overlap(&used, &written) {
                let name = ir::name_of(other);
                return refuse(&format!("'{name}' uses what it reads or writes"));
            }
        }
        if is_root {
            return Ok(());
        }
        next = other.next_in_block().map(|op| ir::op(&op));
    }
    Err("expected its consumer in the same block".into())
}

/// Returns whether memory is as it was from before one operation until another one in the same
/// block, between which these are the computations.
pub fn stays<'c>(
    memory: &[Val<'c>],
    from: Op<'c>,
    until: Op<'c>,
    computations: &[(Op<'c>, Parts<'c>)],
) -> bool {
    let parts = |op| computations.iter().find(|(own, _)| *own == op);
    let mut next = Some(from);
    while let Some(op) = next {
        if op == until {
            return true;
        }
        let changed = match ir::name_of(op) {
            ops::mdh::COMPUTE => parts(op).map_or(Vec::new(), |(_, parts)| written(parts)),
            _ => stored_by(op),
        };
        if overlap(&changed, memory) {
            return false;
        }
        next = op.next_in_block().map(|op| ir::op(&op));
    }
    false
}

/// Returns the values that a computation reads: inputs, and received carries.
fn reads<'c>(parts: &Parts<'c>) -> Vec<Val<'c>> {
    let incoming = parts.carries.iter().flat_map(|carry| &carry.incoming);
    parts
        .inputs
        .iter()
        .chain(incoming)
        .map(|b| b.value)
        .collect()
}

/// Returns the memory that an operation may write, and what is inside of it: loops over the tiles of a computation read
/// what the computation read. What is not known may write all that it uses.
fn stored_by<'c>(op: Op<'c>) -> Vec<Val<'c>> {
    let stores = |op: Op<'c>| -> Vec<Val<'c>> {
        let operands = || op.operands().map(ir::value).collect();
        match ir::name_of(op) {
            ops::mdh::COMPUTE => {
                read::compute(op).map_or_else(|_| operands(), |parts| written(&parts))
            }
            ops::memref::COPY | ops::memref::STORE => ir::operand(op, 1).into_iter().collect(),
            ops::memref::LOAD => Vec::new(),
            _ if is_harmless(op) => Vec::new(),
            _ => operands(),
        }
    };
    ir::all(op).into_iter().flat_map(stores).collect()
}

/// Returns whether an operation reads and writes no memory.
fn is_harmless(op: Op) -> bool {
    let name = ir::name_of(op);
    let is_pure = [
        "arith.",
        "math.",
        "index.",
        ops::affine::APPLY,
        ops::affine::MIN,
        ops::affine::MAX,
    ];
    is_pure.iter().any(|prefix| name.starts_with(prefix))
        || is_view(name)
        || matches!(name, ops::memref::ALLOC | ops::memref::DIM)
}

/// Returns whether some memory may be among other memory; values that are no memory are left out.
pub fn overlap(a: &[Val], b: &[Val]) -> bool {
    let a = a.iter().filter(|a| is_memory(**a));
    let is_in_b = |a: &Val| b.iter().any(|b| is_memory(*b) && may_alias(*a, *b));
    a.into_iter().any(is_in_b)
}

/// Returns whether a value is a buffer.
pub fn is_memory(value: Val) -> bool {
    let ty = value.r#type().to_raw();
    // SAFETY: the type is valid.
    unsafe { mlirTypeIsAMemRef(ty) || mlirTypeIsAUnrankedMemRef(ty) }
}

/// Returns whether two memrefs may have an element in common: memory of one's own, and arguments of a
/// function without `mdh.may_alias`, which callers keep apart, have none.
fn may_alias<'c>(a: Val<'c>, b: Val<'c>) -> bool {
    let (a, b) = (root(a), root(b));
    a == b || !(is_own(a) && is_own(b))
}

fn is_own(value: Val) -> bool {
    match ir::defining_op(value) {
        Some(op) => {
            let allocations = [ops::memref::ALLOC, ops::memref::ALLOCA, ops::gpu::ALLOC];
            allocations.contains(&ir::name_of(op))
        }
        None => ir::block_argument(value)
            .is_some_and(|a| ir::name_of(a.of) == ops::func::FUNC && !marks::MAY_ALIAS.is_on(a.of)),
    }
}

/// Returns whether an output in memory has no other users than the readers: it is memory for that
/// alone, or the last reader, the first of these, writes something else there.
pub fn is_free(producer: &Scheduled, output: usize, readers: &[&Scheduled]) -> bool {
    let value = producer.parts.outputs[output].value;
    is_temporary(producer, value, readers) || is_replaced(producer, output, readers)
}

fn is_temporary(producer: &Scheduled, value: Val, readers: &[&Scheduled]) -> bool {
    let is_allocated =
        ir::defining_op(value).is_some_and(|op| ir::name_of(op) == ops::memref::ALLOC);
    let is_known = |user: &Op| {
        let is_reader = readers.iter().any(|reader| {
            let stores = reader.parts.destinations().any(|b| b.value == value);
            reader.op == *user && !stores && !reads_a_carry(&reader.parts, value)
        });
        *user == producer.op || is_reader || ir::name_of(*user) == ops::memref::DEALLOC
    };
    is_allocated && ir::users(value).iter().all(is_known)
}

fn reads_a_carry(parts: &Parts, value: Val) -> bool {
    let mut incoming = parts.carries.iter().flat_map(|carry| &carry.incoming);
    incoming.any(|buffer| buffer.value == value)
}

/// Returns whether the consumer replaces all that a producer writes, and the readers read nothing else
/// there.
fn is_replaced(producer: &Scheduled, output: usize, readers: &[&Scheduled]) -> bool {
    let value = producer.parts.outputs[output].value;
    let Some(consumer) = readers.first() else {
        return false;
    };
    let written = &producer.computation.outputs[output].accesses;
    let Some(bounds) = bounds(&producer.computation, written) else {
        return false;
    };
    let stores = consumer.parts.outputs.iter().position(|b| b.value == value);
    let stored = stores.map(|n| &consumer.computation.outputs[n].accesses[..]);
    let is_stored = match stored {
        Some([one]) => {
            is_box(&consumer.computation, one)
                && self::bounds(&consumer.computation, std::slice::from_ref(one)).as_ref()
                    == Some(&bounds)
        }
        _ => false,
    };
    let reads_less = |reader: &&Scheduled| {
        let inputs = reader.parts.inputs.iter().zip(&reader.computation.inputs);
        let mut accesses = inputs.filter(|(part, _)| part.value == value);
        accesses.all(|(_, input)| {
            let read = self::bounds(&reader.computation, &input.accesses);
            read.is_some_and(|read| {
                read.iter()
                    .zip(&bounds)
                    .all(|(r, w)| w.0 <= r.0 && r.1 <= w.1)
            })
        })
    };
    is_stored && readers.iter().all(reads_less)
}

/// The first and the last index of each axis that accesses reach.
fn bounds(of: &Computation, accesses: &[Access]) -> Option<Vec<(i64, i64)>> {
    let domain: Vec<Option<Grid>> = of.dimensions.iter().map(|d| d.grid()).collect();
    if domain
        .iter()
        .any(|grid| grid.is_none_or(|grid| grid.is_empty()))
    {
        return None;
    }
    let axis = |n: usize| {
        let ends = accesses.iter().map(|access| access.map[n].range(&domain));
        let ends: Option<Vec<_>> = ends.collect();
        let ends = ends?;
        let first = ends.iter().map(|range| range.min).min()?;
        Some((first, ends.iter().map(|range| range.max).max()?))
    };
    (0..accesses.first()?.map.len()).map(axis).collect()
}

/// Returns whether an access stores to each index between the first and the last one.
fn is_box(of: &Computation, access: &Access) -> bool {
    let rank = of.dimensions.len();
    let mut used = Vec::new();
    access.map.iter().all(|expr: &Expr| {
        let Some(form) = expr.linear(rank) else {
            return false;
        };
        let terms: Vec<(usize, i64)> = form.terms().collect();
        match terms[..] {
            [] => true,
            [(d, c)] => {
                let dimension = &of.dimensions[d];
                let is_new = !used.contains(&d);
                used.push(d);
                is_new && dimension.is_dense() && dimension.combine == Combine::Cc && c.abs() == 1
            }
            _ => false,
        }
    })
}

/// Returns the values that a computation writes.
pub fn written<'c>(parts: &Parts<'c>) -> Vec<Val<'c>> {
    parts.destinations().map(|b| b.value).collect()
}

/// Removes memory that is only allocated and freed.
pub fn free_unused(value: Val) {
    let Some(alloc) = ir::defining_op(value).filter(|op| ir::name_of(*op) == ops::memref::ALLOC)
    else {
        return;
    };
    let users = ir::users(value);
    if users
        .iter()
        .all(|user| ir::name_of(*user) == ops::memref::DEALLOC)
    {
        users.into_iter().for_each(region::erase);
        region::erase(alloc);
    }
}
