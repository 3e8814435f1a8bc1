//! `mdh-place-on-device`: operands of computations for a device are in its memory.
//!
//! ```mlir
//! func.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
//!   mdh.compute (i = 8)
//!     out_view(y = %y[i] : memref<8xf32>)
//!     md_hom(id, (cc))
//!     inp_view(x = %x[i] : memref<8xf32>)
//!     schedule(#mdh.schedule<asm = cuda, layers = [thread {i: *}]>)
//!   return
//! }
//! // becomes
//! %dy = gpu.alloc () : memref<8xf32>
//! gpu.memcpy %dy, %y : ..
//! %dx = gpu.alloc () : memref<8xf32>
//! gpu.memcpy %dx, %x : ..
//! mdh.compute (i = 8)
//!   out_view(y = %dy[i] : memref<8xf32>)
//!   md_hom(id, (cc))
//!   inp_view(x = %dx[i] : memref<8xf32>)
//!   ..
//! gpu.memcpy %y, %dy : ..
//! gpu.dealloc %dy : memref<8xf32>
//! gpu.dealloc %dx : memref<8xf32>
//! ```
//!
//! Computations that follow each other share what they have there: nothing is moved between them,
//! and memory that only they use stays on the device.
//!
//! On the device, elements lie row by row. Where they do not on the host, as in a slice of columns, they go by
//! way of memory of the host in which they do: they are copied into it if computations need what was there,
//! and back from it if they write.
//!
//! ```mlir
//! func.func @columns(%x: memref<8x8xf32, strided<[16, 1]>>) {
//!   mdh.compute (i = 8, j = 4)
//!     out_view(y = %x[i, j] : memref<8x8xf32, strided<[16, 1]>>)
//!     md_hom(id, (cc, cc))
//!     inp_view(x = %x[i, j + 4] : memref<8x8xf32, strided<[16, 1]>>)
//!     schedule(#mdh.schedule<asm = cuda, layers = [thread {i: *}]>)
//!   return
//! }
//! // becomes
//! %dx = gpu.alloc () : memref<8x8xf32>
//! %rows = memref.alloc() : memref<8x8xf32>
//! memref.copy %x, %rows : ..
//! gpu.memcpy %dx, %rows : ..
//! mdh.compute ..
//! gpu.memcpy %rows, %dx : ..
//! memref.copy %rows, %x : ..
//! memref.dealloc %rows : memref<8x8xf32>
//! gpu.dealloc %dx : memref<8x8xf32>
//! ```
//!
//! What is on the device stays there: memory that `gpu.alloc` makes is not copied, nor are the arguments of a
//! function that carries `mdh.device_memory`, and loops whose computations use only such memory keep their mapping,
//! so that what is printed at a later stage can be compiled again. A program's other loops stay the host's, whatever
//! they are mapped to: they are about its memory. What the host does with such arguments is refused: its processor
//! cannot reach them.

use std::cell::OnceCell;

use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::marks::DEVICE_MEMORY;
use mdh_dialect::memory::{self, root};
use mdh_dialect::ops;
use mdh_dialect::parts::Parts;
use mdh_dialect::pass::{Options, Pass, emit_all};
use mdh_dialect::types::{self, BufferKind, buffer_type};
use mdh_dialect::{read, schedule};
use mdh_schedule::asm::Asm;
use melior::ir::ValueLike;
use melior::ir::operation::OperationLike;

use crate::support::buffers;
use crate::support::builder::Builder;
use crate::support::kernels::is_in_kernel;
use crate::support::overwritten::{self, EqualSizes};
use crate::support::parallel::{self, FORALL};
use crate::support::region;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-place-on-device",
    description: "what computations for a device use is copied to its memory and back",
    operation: ops::builtin::MODULE,
    options: &[],
    run,
};

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    let mut placed: Vec<Op> = Vec::new();
    let nests = outermost_loops(module);
    let of_device = nests_of_device(&nests);
    for nest in nests {
        if of_device.contains(&nest) {
            placed.extend(ir::find_all(nest, &[ops::mdh::COMPUTE]));
            continue;
        }
        let loops = ir::find_all(nest, &[FORALL]);
        loops.into_iter().for_each(parallel::unmap);
    }
    for op in ir::find_all(module, &[ops::mdh::COMPUTE]) {
        if placed.contains(&op) || is_in_kernel(op) {
            continue;
        }
        let uses = used(op);
        if uses.iter().any(|(value, _)| is_given_on_device(*value)) && !schedule::has_schedule(op) {
            // The model has none for it: it is a kernel of its own.
            place(&[op]).or_else(|errors| emit_all(op, errors))?;
            placed.push(op);
            continue;
        }
        let has_all = !uses.is_empty() && uses.into_iter().all(|(value, _)| is_on_device(value));
        if has_all && (is_for_device(op) || !is_any_given(op)) {
            placed.push(op);
            continue;
        }
        if !is_for_device(op) {
            let text = "stays on the host: expected a schedule for a machine that runs kernels, such \
                        as 'cuda'";
            ir::remark_at(op, text);
            continue;
        }
        let run = consecutive(op);
        place(&run).or_else(|errors| emit_all(op, errors))?;
        placed.extend(run);
    }
    let of_device = [of_device, placed].concat();
    let marked = ir::find_all(module, &[ops::func::FUNC]).into_iter();
    marked
        .filter(|function| DEVICE_MEMORY.is_on(*function))
        .try_for_each(|function| refuse_host_uses(function, &of_device))
}

/// Fails for what the host does with arrays that it was given in the device's memory. `of_device` are the
/// computations and the nests of loops that are the device's.
fn refuse_host_uses(function: Op, of_device: &[Op]) -> Result<(), Errors> {
    // These use a memref's descriptor alone.
    const HARMLESS: [&str; 5] = [
        ops::memref::DIM,
        ops::memref::RANK,
        ops::memref::EXTRACT_STRIDED_METADATA,
        ops::memref::EXTRACT_ALIGNED_POINTER_AS_INDEX,
        ops::gpu::DEALLOC,
    ];
    for op in ir::all(function) {
        let name = ir::name_of(op);
        let is_fine = HARMLESS.contains(&name)
            || memory::is_view(name)
            || name == ops::gpu::MEMCPY
            || name == ops::func::CALL && is_call_of_marked(op)
            || is_in_kernel(op)
            || ir::ancestors(op).any(|op| of_device.contains(&op));
        let mut operands = op.operands().map(ir::value);
        if !is_fine && operands.any(is_given_on_device) {
            return emit_all(
                op,
                vec![
                    "is the host's, and uses an array in the device's memory: expected computations with schedules for \
                     'cuda' alone; pass arrays in the host's memory"
                        .into(),
                ],
            );
        }
    }
    Ok(())
}

/// Returns whether a call is of a function that takes its arrays in the device's memory, and gets them there.
fn is_call_of_marked(call: Op) -> bool {
    let symbol = ir::attribute(call, "callee").and_then(ir::symbol);
    let module = ir::ancestors(call).last();
    let functions = module.map_or(vec![], |root| ir::find_all(root, &[ops::func::FUNC]));
    let is_callee = |function: &Op| {
        let name = ir::attribute(*function, "sym_name").and_then(ir::text);
        name.is_some() && name == symbol && DEVICE_MEMORY.is_on(*function)
    };
    let is_elsewhere = |value: Val| {
        let kind = buffer_type(value.r#type()).map(|ty| ty.kind);
        kind == Some(BufferKind::MemRef) && !is_on_device(value)
    };
    functions.iter().any(is_callee) && !call.operands().map(ir::value).any(is_elsewhere)
}

fn is_any_given(op: Op) -> bool {
    used(op)
        .into_iter()
        .any(|(value, _)| is_given_on_device(value))
}

/// Code that a device executes already: nests of loops over blocks and threads on its memory, found when they are
/// asked for first.
#[derive(Default)]
pub struct Placed<'c>(OnceCell<Vec<Op<'c>>>);

impl<'c> Placed<'c> {
    /// Returns whether a computation is a part of a kernel, or of such loops.
    pub fn has(&self, op: Op<'c>) -> bool {
        let around = || ir::ancestors(op);
        let is_among = |nest: Op<'c>| {
            let module = around().last();
            let find = || module.map_or(vec![], |root| nests_of_device(&outermost_loops(root)));
            self.0.get_or_init(find).contains(&nest)
        };
        let nest = around().filter(|op| parallel::is_mapped(*op)).last();
        is_in_kernel(op) || nest.is_some_and(is_among)
    }
}

/// The parallel loops that stand in no others.
fn outermost_loops<'c>(root: Op<'c>) -> Vec<Op<'c>> {
    let mut foralls = ir::find_all(root, &[FORALL]);
    foralls.retain(|op| {
        let mut around = ir::ancestors(*op).skip(1);
        !around.any(|op| ir::name_of(op) == FORALL)
    });
    foralls
}

/// The nests of loops that are for a device: they have computations, and use memory of the device,
/// temporaries that only such loops use, and what they allocate.
fn nests_of_device<'c>(nests: &[Op<'c>]) -> Vec<Op<'c>> {
    let is_candidate = |nest: &&Op<'c>| {
        let computes = |op: &Op| ir::name_of(*op) == ops::mdh::COMPUTE;
        let ops = ir::all(**nest);
        ops.iter().any(computes) && ops.iter().any(|op| parallel::is_mapped(*op))
    };
    let candidates = nests.iter().filter(is_candidate);
    let mut left: Vec<(Op, Vec<Val>)> = candidates.map(|nest| (*nest, outside(*nest))).collect();
    loop {
        let nests: Vec<Op> = left.iter().map(|(nest, _)| *nest).collect();
        let is_there = |memory: &Val| is_on_device(*memory) || is_between(*memory, &nests);
        left.retain(|(_, memory)| memory.iter().all(is_there));
        if left.len() == nests.len() {
            return nests;
        }
    }
}

/// The memory outside of a nest that it accesses.
fn outside<'c>(nest: Op<'c>) -> Vec<Val<'c>> {
    let accesses = |op: &Op| ir::name_of(*op) != ops::memref::DIM;
    let accesses_inside = ir::all(nest).into_iter().filter(accesses);
    let operands = accesses_inside.flat_map(|op| op.operands().map(ir::value).collect::<Vec<_>>());
    let is_memory =
        |value: &Val| buffer_type(value.r#type()).is_some_and(|ty| ty.kind == BufferKind::MemRef);
    let is_outside = |value: &Val| {
        let op = ir::defining_op(*value);
        op.is_none_or(|op| !ir::ancestors(op).any(|op| op == nest))
    };
    operands
        .filter(is_memory)
        .map(root)
        .filter(is_outside)
        .collect()
}

/// Returns whether some memory is a temporary that only these nests use.
fn is_between(memory: Val, nests: &[Op]) -> bool {
    let is_allocated =
        ir::defining_op(memory).is_some_and(|op| ir::name_of(op) == ops::memref::ALLOC);
    let is_there = |user: &Op| {
        let is_inside = ir::ancestors(*user).any(|op| nests.contains(&op));
        is_inside || ir::name_of(*user) == ops::memref::DEALLOC
    };
    is_allocated && ir::users(memory).iter().all(is_there)
}

/// Returns whether a computation's schedule is for a machine that runs kernels.
fn is_for_device(op: Op) -> bool {
    let plan = schedule::read(op).ok().flatten();
    let asm = plan.and_then(|plan| Asm::builtin(plan.asm.as_deref()?));
    asm.is_some_and(|asm| asm.has_kernels())
}

/// A computation and those for a device that follow it in its block, with nothing between them
/// that has to do with memory.
fn consecutive<'c>(first: Op<'c>) -> Vec<Op<'c>> {
    let mut members = vec![first];
    if !has_roots(first) {
        return members;
    }
    let mut at = next(first);
    while let Some(op) = at {
        let is_arithmetic = ir::name_of(op).starts_with("arith.");
        match is_for_device_compute(op) && has_roots(op) {
            true => members.push(op),
            false if is_arithmetic => {}
            false => break,
        }
        at = next(op);
    }
    members
}

fn is_for_device_compute(op: Op) -> bool {
    ir::name_of(op) == ops::mdh::COMPUTE && is_for_device(op)
}

fn next<'c>(op: Op<'c>) -> Option<Op<'c>> {
    // SAFETY: the operation is in a block.
    let raw = unsafe { mlir_sys::mlirOperationGetNextInBlock(op.to_raw()) };
    // SAFETY: only lifetimes change, see `ir::Op`.
    (!raw.ptr.is_null()).then(|| unsafe { ir::op_from_raw(raw) })
}

/// The memrefs that a computation uses, and whether it writes them.
fn used<'c>(op: Op<'c>) -> Vec<(Val<'c>, bool)> {
    let Ok(parts) = read::compute(op) else {
        return Vec::new();
    };
    let carries = parts.carries.iter();
    let handed = carries.clone().flat_map(|c| &c.outgoing);
    let received = carries.flat_map(|c| &c.incoming);
    let written = parts.outputs.iter().chain(handed).map(|b| (b.value, true));
    let read = parts.inputs.iter().chain(received);
    let mut uses: Vec<(Val, bool)> = Vec::new();
    for (value, writes) in written.chain(read.map(|b| (b.value, false))) {
        let kind = buffer_type(value.r#type()).map(|ty| ty.kind);
        if kind != Some(BufferKind::MemRef) {
            continue;
        }
        match uses.iter_mut().find(|(known, _)| *known == value) {
            Some((_, known)) => *known |= writes,
            None => uses.push((value, writes)),
        }
    }
    uses
}

/// Returns whether what it uses is no part of something else.
fn has_roots(op: Op) -> bool {
    let is_root = |value: Val| {
        let is_made = |op: Op| {
            let name = ir::name_of(op);
            name.starts_with(ops::memref::ALLOC) || name == ops::gpu::ALLOC
        };
        ir::defining_op(value).is_none_or(is_made)
    };
    used(op).into_iter().all(|(value, _)| is_root(value))
}

/// Gives computations copies on the device.
fn place(run: &[Op]) -> Result<(), Errors> {
    let (Some(first), Some(last)) = (run.first(), run.last()) else {
        return Ok(());
    };
    let mut uses: Vec<(Val, bool)> = Vec::new();
    for (value, writes) in run.iter().flat_map(|op| used(*op)) {
        match uses.iter_mut().find(|(known, _)| *known == value) {
            Some((_, known)) => *known |= writes,
            None => uses.push((value, writes)),
        }
    }
    let mut before = Builder::before(*first);
    let mut after = match next(*last) {
        Some(next) => Builder::before(next),
        None => {
            return Err(vec![
                "stands last in its block: expected a terminator".into(),
            ]);
        }
    };
    for (host, writes) in uses {
        if is_on_device(host) {
            continue;
        }
        let device = like(&mut before, host, ops::gpu::ALLOC);
        if !is_temporary(host, run) {
            exchange([&mut before, &mut after], run, (host, writes), device)?;
        }
        for op in run {
            replace(*op, host, device);
        }
        after.op(ops::gpu::DEALLOC, &[device], &[], &[]);
    }
    Ok(())
}

/// Copies memory of the host to the device before computations, and back behind them if they write it.
fn exchange<'c>(
    [before, after]: [&mut Builder<'c>; 2],
    run: &[Op],
    (host, writes): (Val<'c>, bool),
    device: Val<'c>,
) -> Result<(), Errors> {
    let ty = host.r#type();
    if types::lie_by_rows(ty) {
        before.op(ops::gpu::MEMCPY, &[device, host], &[], &[]);
        if writes {
            after.op(ops::gpu::MEMCPY, &[host, device], &[], &[]);
        }
        return Ok(());
    }
    let needs = needs(run, host);
    match types::strides(ty) {
        None => {
            return Err(vec![format!(
                "uses {ty} on a device: expected elements that lie row by row, or by strides; copy them into \
                 other memory"
            )]);
        }
        // What has several indices would be written by the last of them, with what was there before.
        Some((_, strides)) if writes && needs && strides.contains(&Some(0)) => {
            return Err(vec![format!(
                "writes a part of {ty} on a device: found a stride of 0, expected memory with a place for each \
                 element"
            )]);
        }
        Some(_) => {}
    }
    let rows = like(before, host, ops::memref::ALLOC);
    if needs {
        before.op(ops::memref::COPY, &[host, rows], &[], &[]);
        before.op(ops::gpu::MEMCPY, &[device, rows], &[], &[]);
    }
    if writes {
        after.op(ops::gpu::MEMCPY, &[rows, device], &[], &[]);
        after.op(ops::memref::COPY, &[rows, host], &[], &[]);
    }
    after.op(ops::memref::DEALLOC, &[rows], &[], &[]);
    Ok(())
}

/// Returns whether computations need what memory holds before them: the first of them that uses it reads it, or
/// may leave some of it as it was.
fn needs(run: &[Op], host: Val) -> bool {
    let uses = |op: &&Op| used(**op).iter().any(|(value, _)| *value == host);
    let first = run.iter().find(uses);
    !first.is_some_and(|op| replaces(*op, host))
}

/// Returns whether a computation surely writes all of some memory, and does not read it.
fn replaces(op: Op, host: Val) -> bool {
    let function = ir::ancestors(op).find(|op| ir::name_of(*op) == ops::func::FUNC);
    let (Some(function), Ok(parts)) = (function, read::compute(op)) else {
        return false;
    };
    let received = parts.carries.iter().flat_map(|carry| &carry.incoming);
    let mut read = parts.inputs.iter().chain(received);
    let mut written = Parts::destinations(&parts).filter(|b| b.value == host);
    let is_written = match (written.next(), written.next()) {
        (Some(own), None) => overwritten::writes_all(&parts, own, &EqualSizes::new(function)),
        _ => false,
    };
    is_written && !read.any(|b| b.value == host)
}

/// Returns whether nothing but these computations uses some memory.
fn is_temporary(host: Val, run: &[Op]) -> bool {
    let is_own = ir::defining_op(host).is_some_and(|op| ir::name_of(op) == ops::memref::ALLOC);
    let users = ir::users(host);
    is_own
        && users
            .iter()
            .all(|user| run.contains(user) || ir::name_of(*user) == ops::memref::DEALLOC)
}

fn replace<'c>(op: Op<'c>, old: Val<'c>, new: Val<'c>) {
    for n in 0..op.operand_count() {
        if ir::operand(op, n) == Some(old) {
            // SAFETY: the number is that of an operand.
            unsafe { mlir_sys::mlirOperationSetOperand(op.to_raw(), n as isize, new.to_raw()) }
        }
    }
}

/// New memory, of the device or of the host as an operation says, for as many elements, which lie row by row.
fn like<'c>(builder: &mut Builder<'c>, host: Val<'c>, name: &str) -> Val<'c> {
    let shape = buffer_type(host.r#type()).map_or(Vec::new(), |ty| ty.shape);
    let open = (0..shape.len()).filter(|axis| shape[*axis].is_none());
    let sizes: Vec<Val> = open.map(|axis| builder.dim(host, axis)).collect();
    let ty = types::by_rows(host.r#type());
    buffers::memory(builder, name, &sizes, ty, &[])
}

/// Makes memory of the host, which kernels use, that of the device.
pub fn move_to_device(module: Op) {
    for op in ir::find_all(module, &[ops::memref::ALLOC]) {
        let Some(memory) = ir::result(op, 0) else {
            continue;
        };
        if !is_used_by_kernels(memory) {
            continue;
        }
        let mut builder = Builder::before(op);
        let sizes: Vec<Val> = op.operands().map(ir::value).collect();
        let ty = memory.r#type();
        let device = buffers::memory(&mut builder, ops::gpu::ALLOC, &sizes, ty, &[]);
        for user in ir::users(memory) {
            if ir::name_of(user) == ops::memref::DEALLOC {
                Builder::before(user).op(ops::gpu::DEALLOC, &[device], &[], &[]);
                region::erase(user);
            }
        }
        region::replace_all_uses(memory, device);
        region::erase(op);
    }
}

/// Returns whether a kernel uses memory, or what is seen of it.
fn is_used_by_kernels(memory: Val) -> bool {
    ir::users(memory).into_iter().any(|user| {
        let sees = memory::is_view(ir::name_of(user));
        is_in_kernel(user) || sees && user.results().any(|r| is_used_by_kernels(ir::value(r)))
    })
}

/// Returns whether memory is the device's.
pub fn is_on_device(memory: Val) -> bool {
    let is_allocated =
        ir::defining_op(root(memory)).is_some_and(|op| ir::name_of(op) == ops::gpu::ALLOC);
    is_allocated || is_given_on_device(memory)
}

/// Returns whether memory is the device's since a caller has given it there.
pub fn is_given_on_device(memory: Val) -> bool {
    let is_memref = buffer_type(memory.r#type()).is_some_and(|ty| ty.kind == BufferKind::MemRef);
    let given = ir::block_argument(root(memory)).filter(|_| is_memref);
    given.is_some_and(|given| DEVICE_MEMORY.is_on(given.of))
}

/// The computations on device memory that are in no kernel.
pub fn left_over<'c>(module: Op<'c>) -> Vec<Op<'c>> {
    let mut computations = ir::find_all(module, &[ops::mdh::COMPUTE]);
    computations.retain(|op| {
        !is_in_kernel(*op) && used(*op).into_iter().any(|(value, _)| is_on_device(value))
    });
    computations
}
