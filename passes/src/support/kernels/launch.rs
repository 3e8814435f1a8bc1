//! The launch of a nest of loops.

use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::parts::Bound;
use mdh_dialect::space::{self, Space};
use melior::ir::operation::OperationLike;
use melior::ir::{BlockRef, ValueLike};
use mlir_sys::mlirOperationMoveBefore;

use super::cores::{BLOCK, is_of_blocks};
use super::warps::Threads;
use super::{guard, matrix, shuffles, spmd};
use crate::support::buffers::value;
use crate::support::builder::Builder;
use crate::support::captured::{attribute, parse};
use crate::support::parallel::{self, Core};
use crate::support::region;

/// Axes that a launch has.
pub const AXES: usize = 3;

/// Extents of the axes of a layer, as many as loops use.
#[derive(Default)]
pub struct Extents<'c>(Vec<(usize, Val<'c>)>);

impl<'c> Extents<'c> {
    /// Adds an axis.
    pub fn add(&mut self, axis: usize, extent: Val<'c>) -> Result<(), Errors> {
        if self.0.iter().any(|(known, _)| *known == axis) {
            return Err(vec![format!(
                "has two loops for axis {axis} of one layer, one inside of the other: expected one"
            )]);
        }
        self.0.push((axis, extent));
        self.0.sort_by_key(|(axis, _)| *axis);
        Ok(())
    }

    /// The extents of a launch: what is beyond its axes is folded into the last one.
    pub fn of_launch(&self, builder: &mut Builder<'c>) -> [Val<'c>; AXES] {
        let mut extents = [builder.index(1); AXES];
        for (axis, extent) in &self.0 {
            let place = (*axis).min(AXES - 1);
            extents[place] = builder.binary(ops::arith::MULI, extents[place], *extent);
        }
        extents
    }

    /// The index in each axis, from those of the launch.
    pub fn indices(&self, builder: &mut Builder<'c>, launch: &[Val<'c>]) -> Vec<(usize, Val<'c>)> {
        let folded = self.0.iter().filter(|(axis, _)| *axis + 1 >= AXES).count();
        let mut rest = launch[AXES - 1];
        let mut indices = Vec::new();
        for (axis, extent) in &self.0 {
            let index = match (axis + 1 >= AXES, folded) {
                (false, _) => launch[*axis],
                (true, 1) => rest,
                _ => {
                    let position = builder.binary(ops::arith::REMUI, rest, *extent);
                    rest = builder.binary(ops::arith::DIVUI, rest, *extent);
                    position
                }
            };
            indices.push((*axis, index));
        }
        indices
    }
}

/// Makes a kernel of a nest.
pub fn lower<'c>(nest: Op<'c>) -> Result<(), Errors> {
    let mut builder = Builder::before(nest);
    let mut blocks = Extents::default();
    for op in loops_of_blocks(nest) {
        let extent = before(&mut builder, nest, op)?;
        let core = Core::read(op);
        blocks.add(core.map_or(0, |core| core.axis), extent)?;
    }
    let threads = Threads::new(nest)?;
    let grid = blocks.of_launch(&mut builder);
    let block = threads.of_launch(&mut builder)?;
    let inside = launch(&mut builder, [grid, block], nest);
    let arguments = mdh_dialect::code::arguments(inside);
    let mut builder = Builder::before(nest);
    let place = spmd::ThreadPosition {
        blocks: blocks.indices(&mut builder, &arguments[..AXES]),
        threads: threads.indices(&mut builder, &arguments[AXES..2 * AXES])?,
        extents: threads.extents(),
        number: number(&mut builder, &arguments),
        count: threads.count(),
        strides: threads.strides(),
        divergent: arguments[AXES..2 * AXES].to_vec(),
    };
    spmd::lower(vec![nest], &place)?;
    place_memory(inside)
}

/// A thread's number in its block: the first axis's neighbours are neighbours.
fn number<'c>(builder: &mut Builder<'c>, arguments: &[Val<'c>]) -> Val<'c> {
    let (index, extents) = (&arguments[AXES..2 * AXES], &arguments[3 * AXES..4 * AXES]);
    let outer = builder.binary(ops::arith::MULI, index[2], extents[1]);
    let outer = builder.binary(ops::arith::ADDI, index[1], outer);
    let outer = builder.binary(ops::arith::MULI, outer, extents[0]);
    builder.binary(ops::arith::ADDI, index[0], outer)
}

/// Memory of the block is the launch's, that of a thread is allocated where its code starts.
fn place_memory<'c>(code: BlockRef<'c, 'c>) -> Result<(), Errors> {
    let Some(launch) = ir::parent(region::terminator(code)) else {
        return Ok(());
    };
    let mut shared = 0;
    for op in ir::find_all(launch, &[ops::memref::ALLOCA]) {
        let Some(first) = ir::ops_of(code).first().copied() else {
            continue;
        };
        let memory = op.result(0).map(ir::value);
        let memory = memory.unwrap_or_else(|error| panic!("{error}"));
        let ty = memory.r#type();
        if Space::new(ty).and_then(|space| space.owner) != Some(BLOCK) {
            // SAFETY: both are in the module, and its sizes are known.
            unsafe { mlirOperationMoveBefore(op.to_raw(), first.to_raw()) }
            continue;
        }
        let text = space::within(ty, None).to_string();
        let text = text.trim_end_matches('>');
        let mut builder = Builder::before(first);
        let memref = parse(
            builder.context,
            &format!("{text}, #gpu.address_space<workgroup>>"),
        );
        let argument = region::add_argument(code, memref, op.location());
        let cast = builder.op(ops::memref::MEMORY_SPACE_CAST, &[argument], &[ty], &[])[0];
        region::replace_all_uses(memory, cast);
        region::erase(op);
        shared += 1;
    }
    if shared > 0 {
        let context = ir::context_of(launch);
        let count = attribute(context, &format!("{shared} : i64"));
        ir::set_attribute(launch, "workgroup_attributions", count);
    }
    Ok(())
}

/// Puts an operation into a launch of its own, and returns the code of that.
fn launch<'c>(
    builder: &mut Builder<'c>,
    extents: [[Val<'c>; AXES]; 2],
    op: Op<'c>,
) -> BlockRef<'c, 'c> {
    let index = builder.index_type();
    let body = builder.region(&[index; 12], ops::gpu::TERMINATOR, |_, _| Vec::new());
    let segments = "array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0>";
    let attributes = [("operandSegmentSizes", attribute(builder.context, segments))];
    let launch = builder.build(
        ops::gpu::LAUNCH,
        &extents.concat(),
        &[],
        &attributes,
        vec![body],
    );
    let inside: BlockRef = region::block_of(ir::region(launch, 0));
    let end = region::terminator(inside);
    // SAFETY: both are in the module, and what the operation uses stands before the launch.
    unsafe { mlirOperationMoveBefore(op.to_raw(), end.to_raw()) }
    inside
}

/// Makes a kernel of one thread.
///
/// # Errors
/// If a warp has to be there.
pub fn alone(op: Op) -> Result<(), Errors> {
    let work = if matrix::is_marked(op) {
        "computes a product of matrices"
    } else if shuffles::level(op).is_some() {
        "combines results of threads"
    } else {
        one_thread(op);
        return Ok(());
    };
    Err(vec![format!(
        "{work}, but has one thread: found it outside of all parallel loops of the device, expected it \
         inside of the loops over the threads of a warp, or no 'threads'"
    )])
}

fn one_thread(op: Op) {
    let mut builder = Builder::before(op);
    let units = [builder.index(1); AXES];
    launch(&mut builder, [units, units], op);
}

/// The loops over blocks: those inside of each other, with nothing but arithmetic between them.
fn loops_of_blocks<'c>(nest: Op<'c>) -> Vec<Op<'c>> {
    let of_blocks = |op: &Op<'c>| is_of_blocks(*op);
    let inner = |op: &Op<'c>| guard::body(*op).into_iter().find(of_blocks);
    std::iter::successors(Some(nest).filter(of_blocks), inner).collect()
}

/// Returns the number of blocks that a loop is for, before a nest: code of the nest that computes
/// it is moved there.
fn before<'c>(builder: &mut Builder<'c>, nest: Op<'c>, op: Op<'c>) -> Result<Val<'c>, Errors> {
    let extent = parallel::extent(op).filter(|extent| match extent {
        Bound::Static(_) => true,
        Bound::Dynamic(value) => move_out(nest, *value),
    });
    let Some(extent) = extent else {
        return Err(vec![format!(
            "has as many parts of '{}' as another level around it says: expected a number that is \
             known before all blocks start",
            Core::read(op).map_or(String::new(), |core| core.to_string()),
        )]);
    };
    Ok(value(builder, extent))
}

/// Moves what a value is computed of before an operation that it is in; `false` if that cannot be.
fn move_out<'c>(nest: Op<'c>, value: Val<'c>) -> bool {
    let owner = match ir::block_argument(value) {
        Some(argument) => return !ir::ancestors(argument.of).any(|op| op == nest),
        None => ir::defining_op(value),
    };
    let Some(op) = owner.filter(|op| ir::ancestors(*op).any(|op| op == nest)) else {
        return true;
    };
    let can_move = ir::name_of(op).starts_with("arith.") || ir::name_of(op) == ops::memref::DIM;
    let moves = can_move && op.operands().all(|value| move_out(nest, ir::value(value)));
    if moves {
        parallel::move_before(&[op], nest);
    }
    moves
}
