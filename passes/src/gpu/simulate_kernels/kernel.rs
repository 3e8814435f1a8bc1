//! Kernels: the context of a thread, and its calls of the simulator.

use mdh_algebra::scalar::{Scalar, ScalarType};
use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::types::{self, buffer_type};
use mdh_schedule::asm::facts::WARP;
use melior::ir::operation::OperationLike;
use melior::ir::{BlockRef, Region, RegionLike, Type, TypeLike, ValueLike};
use mlir_sys::mlirValueSetType;

use super::{copies, multiply, site};
use crate::support::buffers;
use crate::support::builder::Builder;
use crate::support::captured::{
    Captured, call_function, extract, known_function, memref, number, parse,
};
use crate::support::region;

/// The simulator's `ThreadContext`: thread, block, threads, blocks, shared memory.
const PLACE: &str =
    "!llvm.struct<(array<3 x i32>, array<3 x i32>, array<3 x i32>, array<3 x i32>, ptr, i64)>";
const THREAD: usize = 0;
const BLOCK: usize = 1;
const THREADS: usize = 2;
const BLOCKS: usize = 3;
const SHARED: usize = 4;
const BYTES: usize = 5;
/// Buffers in shared memory start at multiples of this.
const ALIGNMENT: i64 = 16;

/// The values that a kernel starts with.
pub struct Kernel<'c> {
    /// The thread.
    thread: Val<'c>,
    /// Its place: four times three numbers.
    place: [[Val<'c>; 3]; 4],
    /// Address of its block's shared memory.
    base: Val<'c>,
    /// Bytes of it.
    bytes: Val<'c>,
    /// Bytes of shared memory whose size is known.
    pub shared: i64,
}

impl<'c> Kernel<'c> {
    /// Makes a launch's body that of a function: of the context and the thread.
    pub fn receive(
        body: &Region<'c>,
        block: BlockRef<'c, 'c>,
        captured: &Captured<'c>,
        shared: usize,
    ) -> Result<Kernel<'c>, Errors> {
        let terminator = region::terminator(block);
        let (location, context) = (terminator.location(), ir::context_of(terminator));
        let old = mdh_dialect::code::arguments(block);
        let pointer = parse(context, "!llvm.ptr");
        let captures = region::add_argument(block, pointer, location);
        let thread = region::add_argument(block, pointer, location);
        let first = ir::ops_of(block).first().copied().unwrap_or(terminator);
        let mut builder = Builder::before(first);
        captured.receive(&mut builder, body, captures);
        let place = builder.op(ops::llvm::LOAD, &[thread], &[parse(context, PLACE)], &[])[0];
        let numbers = |builder: &mut Builder<'c>, field: usize| {
            let three = extract(
                builder,
                place,
                field,
                parse(context, "!llvm.array<3 x i32>"),
            );
            [0, 1, 2].map(|axis| {
                let number = extract(builder, three, axis, parse(context, "i32"));
                let index = builder.index_type();
                builder.op(ops::arith::INDEX_CASTUI, &[number], &[index], &[])[0]
            })
        };
        let mut kernel = Kernel {
            thread,
            place: [THREAD, BLOCK, THREADS, BLOCKS].map(|field| numbers(&mut builder, field)),
            base: extract(&mut builder, place, SHARED, pointer),
            bytes: extract(&mut builder, place, BYTES, parse(context, "i64")),
            shared: 0,
        };
        let order = [BLOCK, THREAD, BLOCKS, THREADS];
        let numbers = order.into_iter().flat_map(|field| kernel.place[field]);
        for (argument, number) in old.iter().zip(numbers.collect::<Vec<_>>()) {
            region::replace_all_uses(*argument, number);
        }
        for (n, argument) in old.iter().enumerate().skip(12) {
            let memory = match n < 12 + shared {
                true => kernel.shared_buffer(&mut builder, argument.r#type())?,
                false => private_buffer(&mut builder, argument.r#type()),
            };
            region::replace_all_uses(*argument, memory);
        }
        for number in (0..old.len()).rev() {
            // SAFETY: nothing uses the argument any more.
            unsafe { mlir_sys::mlirBlockEraseArgument(block.to_raw(), number as u32) }
        }
        Builder::before(terminator).op(ops::func::RETURN, &[], &[], &[]);
        region::erase(terminator);
        Ok(kernel)
    }

    fn shared_buffer(
        &mut self,
        builder: &mut Builder<'c>,
        ty: Type<'c>,
    ) -> Result<Val<'c>, Errors> {
        let buffer = buffer_type(ty);
        let sizes = buffer.and_then(|b| {
            let shape: Option<Vec<i64>> = b.shape.iter().copied().collect();
            Some((shape?, b.element.byte_width().max(1) as i64))
        });
        let Some((shape, width)) = sizes else {
            return Err(vec![format!(
                "has shared memory of type {ty}: expected sizes that are known"
            )]);
        };
        let address = self.place_of(builder, self.shared);
        let bytes = shape.iter().product::<i64>() * width;
        self.shared += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        let sizes: Vec<Val> = shape.iter().map(|n| number(builder, *n)).collect();
        Ok(memref(builder, address, &sizes, plain(ty)))
    }

    /// The address of a byte of shared memory.
    fn place_of(&self, builder: &mut Builder<'c>, byte: i64) -> Val<'c> {
        let i64 = parse(builder.context, "i64");
        let base = builder.op(ops::llvm::PTRTOINT, &[self.base], &[i64], &[])[0];
        let offset = number(builder, byte);
        let address = builder.op(ops::llvm::ADD, &[base, offset], &[i64], &[])[0];
        let pointer = parse(builder.context, "!llvm.ptr");
        builder.op(ops::llvm::INTTOPTR, &[address], &[pointer], &[])[0]
    }

    /// The thread's number in its block.
    fn number(&self, builder: &mut Builder<'c>) -> Val<'c> {
        let [x, y, z] = self.place[THREAD];
        let [width, height, _] = self.place[THREADS];
        let row = builder.binary(ops::arith::MULI, z, height);
        let row = builder.binary(ops::arith::ADDI, row, y);
        let before = builder.binary(ops::arith::MULI, row, width);
        builder.binary(ops::arith::ADDI, before, x)
    }
}

fn private_buffer<'c>(builder: &mut Builder<'c>, ty: Type<'c>) -> Val<'c> {
    buffers::memory(builder, ops::memref::ALLOCA, &[], plain(ty), &[])
}

/// A type without the address spaces of a GPU: a simulated one has only one.
fn plain<'c>(ty: Type<'c>) -> Type<'c> {
    let text = ty.to_string();
    let spaces = ["workgroup", "private", "global"];
    let spaces = spaces.map(|space| format!(", #gpu.address_space<{space}>"));
    let bare = spaces
        .iter()
        .fold(text.clone(), |text, space| text.replace(space, ""));
    // SAFETY: a type's context lives as long as it.
    let context = unsafe { ir::context(mlir_sys::mlirTypeGetContext(ty.to_raw())) };
    if bare == text {
        ty
    } else {
        parse(context, &bare)
    }
}

/// Replaces operations that a CPU does not have in the body of a kernel.
pub fn lower<'c>(
    module: Op<'c>,
    launch: Op<'c>,
    kernel: &Kernel<'c>,
    body: &Region<'c>,
) -> Result<(), Errors> {
    for op in region::operations(body) {
        for r in 0..op.result_count() {
            if let Ok(result) = op.result(r) {
                without_spaces(ir::value(result));
            }
        }
        for r in 0..op.region_count() {
            let mut block = ir::region(op, r).first_block();
            while let Some(current) = block {
                let block_arguments = mdh_dialect::code::arguments(current);
                block_arguments.into_iter().for_each(without_spaces);
                block = melior::ir::BlockLike::next_in_region(&current);
            }
        }
        if ir::name_of(op) == ops::memref::MEMORY_SPACE_CAST {
            // There is one space.
            if let (Ok(from), Ok(to)) = (op.operand(0), op.result(0)) {
                region::replace_all_uses(ir::value(to), ir::value(from));
                region::erase(op);
            }
            continue;
        }
        let dialect = ir::name_of(op).split('.').next().unwrap_or_default();
        if ["gpu", "nvgpu", "nvvm"].contains(&dialect) {
            let mut builder = Builder::before(op);
            let lowering = Lowering {
                module,
                launch,
                kernel,
                op,
            }
            .lower(&mut builder)?;
            for (n, value) in lowering.into_iter().enumerate() {
                if let Ok(result) = op.result(n) {
                    region::replace_all_uses(ir::value(result), value);
                }
            }
            region::erase(op);
        }
    }
    Ok(())
}

fn without_spaces(value: Val) {
    let ty = value.r#type();
    let bare = plain(ty);
    if bare != ty {
        // SAFETY: value and type are valid; what uses the value is changed in the same way.
        unsafe { mlirValueSetType(value.to_raw(), bare.to_raw()) }
    }
}

/// One operation of a kernel.
struct Lowering<'k, 'c> {
    module: Op<'c>,
    launch: Op<'c>,
    kernel: &'k Kernel<'c>,
    op: Op<'c>,
}

impl<'c> Lowering<'_, 'c> {
    fn lower(&self, builder: &mut Builder<'c>) -> Result<Vec<Val<'c>>, Errors> {
        let field = match ir::name_of(self.op) {
            ops::gpu::THREAD_ID => THREAD,
            ops::gpu::BLOCK_ID => BLOCK,
            ops::gpu::BLOCK_DIM => THREADS,
            ops::gpu::GRID_DIM => BLOCKS,
            ops::gpu::BARRIER => {
                self.call(builder, "mdh_sim_barrier", &[]);
                return Ok(vec![]);
            }
            ops::nvvm::BAR_WARP_SYNC => {
                self.call(builder, "mdh_sim_warp_barrier", &[]);
                return Ok(vec![]);
            }
            ops::gpu::SHUFFLE => return self.shuffle(builder),
            name if copies::OPERATIONS.contains(&name) => {
                let site = site(builder, self.module, self.op);
                return copies::lower(builder, (self.module, self.op), self.kernel.thread, site);
            }
            ops::nvvm::MMA_SYNC => {
                let site = site(builder, self.module, self.op);
                let known = (self.kernel.thread, site);
                return multiply::lower(builder, self.module, self.op, known);
            }
            ops::gpu::LANE_ID | ops::gpu::SUBGROUP_ID => {
                let number = self.kernel.number(builder);
                let lanes = builder.index(WARP);
                let name = match ir::name_of(self.op) {
                    ops::gpu::LANE_ID => ops::arith::REMUI,
                    _ => ops::arith::DIVUI,
                };
                return Ok(vec![builder.binary(name, number, lanes)]);
            }
            ops::gpu::SUBGROUP_SIZE => return Ok(vec![builder.index(WARP)]),
            ops::gpu::DYNAMIC_SHARED_MEMORY => return Ok(vec![self.dynamic(builder)]),
            other => {
                let inside = ir::name_of(self.launch);
                return Err(vec![format!(
                    "has '{other}' inside, which is not simulated: expected operations of a \
                     '{inside}' that are"
                )]);
            }
        };
        let dimension = ir::attribute(self.op, "dimension").map(|a| a.to_string());
        let axis = ["x", "y", "z"].into_iter().position(|axis| {
            let text = format!("#gpu<dim {axis}>");
            dimension.as_deref() == Some(text.as_str())
        });
        Ok(vec![self.kernel.place[field][axis.unwrap_or(0)]])
    }

    /// Calls the simulator, with the thread and the place.
    fn call(&self, builder: &mut Builder<'c>, name: &str, operands: &[Val<'c>]) {
        let site = site(builder, self.module, self.op);
        let thread = [self.kernel.thread];
        let operands: Vec<Val> = thread.into_iter().chain(operands.iter().copied()).collect();
        let types: Vec<String> = operands.iter().map(|v| v.r#type().to_string()).collect();
        let ty = format!("({}, !llvm.ptr) -> ()", types.join(", "));
        known_function(self.module, name, &ty);
        let arguments: Vec<Val> = operands.into_iter().chain([site]).collect();
        call_function(builder, name, &arguments, &[]);
    }

    /// Memory whose size the launch says.
    fn dynamic(&self, builder: &mut Builder<'c>) -> Val<'c> {
        let address = self.kernel.place_of(builder, self.kernel.shared);
        let fixed = number(builder, self.kernel.shared);
        let i64 = parse(builder.context, "i64");
        let size = builder.op(ops::llvm::SUB, &[self.kernel.bytes, fixed], &[i64], &[])[0];
        let ty = self.op.result(0).map(|r| plain(ir::value(r).r#type()));
        let ty = ty.unwrap_or_else(|error| panic!("{error}"));
        memref(builder, address, &[size], ty)
    }

    fn shuffle(&self, builder: &mut Builder<'c>) -> Result<Vec<Val<'c>>, Errors> {
        let operands: Vec<Val> = self.op.operands().map(ir::value).collect();
        let (value, i64) = (operands[0], parse(builder.context, "i64"));
        let ty = value.r#type();
        let element = types::scalar_type(ty).filter(|ty| *ty != ScalarType::I1);
        let Some(element) = element else {
            return Err(vec![format!("shuffles {ty}, which is not simulated")]);
        };
        let width = element.byte_width() * 8;
        let integer = parse(builder.context, &format!("i{width}"));
        let is_index = ty.to_string() == "index";
        let bits = match (element.is_float(), is_index) {
            (true, _) => builder.op(ops::arith::BITCAST, &[value], &[integer], &[])[0],
            (_, true) => builder.op(ops::arith::INDEX_CAST, &[value], &[integer], &[])[0],
            _ => value,
        };
        let wide = match width {
            64 => bits,
            _ => builder.op(ops::arith::EXTUI, &[bits], &[i64], &[])[0],
        };
        let mode = ir::attribute(self.op, "mode").map_or(String::new(), |a| a.to_string());
        let modes = ["xor", "up", "down", "idx"];
        let mode = modes
            .iter()
            .position(|name| mode.contains(name))
            .unwrap_or(0);
        let i32 = parse(builder.context, "i32");
        let mode = Scalar::from_i64(ScalarType::I32, mode as i64);
        let mode = types::attribute(builder.context, mode);
        let mode = builder.op(ops::llvm::MLIR_CONSTANT, &[], &[i32], &[("value", mode)])[0];
        let site = site(builder, self.module, self.op);
        let result = parse(builder.context, "!llvm.struct<(i64, i64)>");
        known_function(
            self.module,
            "mdh_sim_shuffle",
            "(!llvm.ptr, i32, i64, i32, i32, !llvm.ptr) -> !llvm.struct<(i64, i64)>",
        );
        let thread = self.kernel.thread;
        let arguments = [thread, mode, wide, operands[1], operands[2], site];
        let both = call_function(builder, "mdh_sim_shuffle", &arguments, &[result])[0];
        let result = extract(builder, both, 0, i64);
        let is_there = extract(builder, both, 1, i64);
        let i1 = parse(builder.context, "i1");
        let is_there = builder.op(ops::arith::TRUNCI, &[is_there], &[i1], &[])[0];
        let narrow = match width {
            64 => result,
            _ => builder.op(ops::arith::TRUNCI, &[result], &[integer], &[])[0],
        };
        let back = match (element.is_float(), is_index) {
            (true, _) => builder.op(ops::arith::BITCAST, &[narrow], &[ty], &[])[0],
            (_, true) => builder.op(ops::arith::INDEX_CAST, &[narrow], &[ty], &[])[0],
            _ => narrow,
        };
        Ok(vec![back, is_there])
    }
}
