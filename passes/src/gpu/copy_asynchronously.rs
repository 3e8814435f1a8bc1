//! `mdh-copy-asynchronously`: tiles that are waited for later are copied asynchronously, bypassing registers.
//!
//! ```mlir
//! func.func @f(%n: index) {
//!   %c1 = arith.constant 1 : index
//!   %c8 = arith.constant 8 : index
//!   %x = gpu.alloc () : memref<1021x16xf32>
//!   gpu.launch blocks(%b, %by, %bz) in (%gx = %n, %gy = %c1, %gz = %c1)
//!       threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
//!     %tile = memref.alloca() {alignment = 64 : i64} : memref<8x16xf32>
//!     %row = arith.muli %b, %c8 : index
//!     %next = arith.addi %row, %c8 : index
//!     mdh.compute (i = %row to %next, j = 16)
//!       out_view(to = %tile[i, j] origin(%row, 0) : memref<8x16xf32>)
//!       md_hom(id, (cc, cc))
//!       inp_view(from = %x[i, j] pad(0.0 : f32) : memref<1021x16xf32>)
//!       threads(asynchronous)
//!     gpu.terminator
//!   }
//!   return
//! }
//! // becomes
//! scf.for %i = %row to %next step %c1 {
//!   ..
//!   scf.for %j = %c0 to %c16 step %c4 {
//!     .. // %read is 4, or 0 beyond the last row
//!     nvgpu.device_async_copy %x[%i_there, %j_there], %shared[%i_here, %j], 4, %read {bypassL1} : ..
//!   }
//! }
//! ```
//!
//! A copy has 16, 8 or 4 bytes: as many as both addresses are proved to be multiples of. What is
//! beyond the buffer is not read, and zero; a thread whose copies all lie inside asks once. Where there
//! are fewer, where the padding is no zero, and where a tile of unknown size is in the device's memory, a remark says
//! so, and the thread copies through its registers; that is waited for, too.

use mdh_algebra::affine::Expr;
use mdh_algebra::scalar::{Scalar, ScalarType};
use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::parts::{BufferPart, Parts};
use mdh_dialect::pass::{self, Options, Pass};
use mdh_dialect::{layout, read, types, write};
use melior::ir::ValueLike;
use melior::ir::attribute::Attribute;

use super::align_accesses::{factor, of_rows};
use super::place_on_device::is_on_device;
use crate::llvm::lower_to_loops::access::place;
use crate::llvm::lower_to_loops::grid::{Grid, bound};
use crate::support::borders::versions;
use crate::support::builder::{Builder, known};
use crate::support::captured::{attribute, parse};
use crate::support::kernels::is_in_kernel;
use crate::support::region;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-copy-asynchronously",
    description: "tiles that are waited for later are copied asynchronously, bypassing registers",
    operation: "", // a script may lower one function
    options: &[],
    run,
};

/// Commits the copies that a thread has asked for to the next group.
const COMMIT: &str = ops::nvvm::CP_ASYNC_COMMIT_GROUP;
/// A thread waits until all of its groups but the last few have arrived.
pub const WAIT: &str = ops::nvvm::CP_ASYNC_WAIT_GROUP;

/// Bytes of a copy.
const BYTES: [i64; 3] = [16, 8, 4];

/// Marks a copy of a tile that is waited for later.
pub fn mark(op: Op) {
    write::share(op, |threads| threads.asynchronous = true);
}

/// Returns whether a copy is waited for later.
pub fn is_marked(op: Op) -> bool {
    read::threads(op).is_ok_and(|threads| threads.asynchronous)
}

/// Commits the copies that a thread has asked for since the last group to a group.
pub fn commit(builder: &mut Builder) {
    builder.op(COMMIT, &[], &[], &[]);
}

/// Waits until all groups of a thread but the last `but` ones have arrived.
pub fn wait(builder: &mut Builder, but: i64) {
    let but = attribute(builder.context, &format!("{but} : i32"));
    builder.op(WAIT, &[], &[], &[("n", but)]);
}

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    // On a CPU, all is there at once.
    let groups = ir::find_all(module, &[COMMIT, WAIT]).into_iter();
    groups
        .filter(|op| !is_in_kernel(*op))
        .for_each(region::erase);
    pass::each(module, ops::mdh::COMPUTE, |op| {
        if !is_marked(op) || !is_in_kernel(op) {
            return Ok(());
        }
        copy(op, &read::compute(op)?);
        Ok(())
    })
}

fn copy<'c>(op: Op<'c>, parts: &Parts<'c>) {
    let mut builder = Builder::before(op);
    let copy = match Copy::new(&mut builder, parts) {
        Ok(copy) => copy,
        Err(why) => {
            return ir::remark_at(op, &format!("is copied through registers: {why}"));
        }
    };
    let dims = parts.dims.iter();
    let grids: Vec<Grid> = dims.map(|dim| Grid::new(&mut builder, dim)).collect();
    if copy.is_one(&grids) {
        copy.nest(&mut builder, Vec::new());
        return region::erase(op);
    }
    versions(op, parts, &grids, None, &mut |builder, parts| {
        if let Ok(copy) = Copy::new(builder, parts) {
            copy.nest(builder, Vec::new());
        }
    });
}

/// A copy of some points.
struct Copy<'c, 'p> {
    from: &'p BufferPart<'c>,
    to: &'p BufferPart<'c>,
    /// The bounds of each dimension.
    bounds: Vec<[Val<'c>; 2]>,
    /// The dimension along which several elements are copied at once, and how many.
    group: Option<(usize, i64)>,
    /// Bytes of them.
    bytes: i64,
}

impl<'c, 'p> Copy<'c, 'p> {
    /// The copies that a computation is; or why it is none.
    fn new(builder: &mut Builder<'c>, parts: &'p Parts<'c>) -> Result<Self, String> {
        let ([from], [to]) = (&parts.inputs[..], &parts.outputs[..]) else {
            return Err("bug: it has several buffers".into());
        };
        let element = element(from, to)?;
        if !is_on_device(from.value) {
            return Err("it reads other memory than the device's".into());
        }
        if is_on_device(to.value) {
            return Err("it writes to the device's memory, expected memory of a block".into());
        }
        let is_laid_out =
            ir::defining_op(to.value).is_some_and(|op| ir::name_of(op) == layout::VIEW);
        if is_laid_out {
            return Err("it has a layout whose places are computed one by one".into());
        }
        let ty = to.value.r#type().to_string();
        if workgroup(to.value).is_none() && ty.contains(',') {
            return Err(format!(
                "it writes to {ty}: expected memory without a layout or space of its own"
            ));
        }
        let zero = Scalar::zero(element);
        let is_zero = |pad: &Attribute<'c>| types::scalar(*pad) == Some(zero);
        if from.pad.is_some_and(|pad| !is_zero(&pad)) {
            return Err("what is beyond the buffer is padded by another number than zero".into());
        }
        let mut bounds = Vec::new();
        for dim in &parts.dims {
            bounds.push([bound(builder, dim.lower), bound(builder, dim.upper)]);
        }
        let width = element.byte_width() as i64;
        let mut copy = Copy {
            from,
            to,
            bounds,
            group: None,
            bytes: width,
        };
        let contiguous = copy.contiguous(builder);
        for bytes in BYTES.into_iter().filter(|bytes| bytes % width == 0) {
            copy.bytes = bytes;
            let elements = bytes / width;
            match contiguous {
                _ if elements == 1 => return Ok(copy),
                Some((d, most)) if elements <= most => {
                    copy.group = Some((d, elements));
                    return Ok(copy);
                }
                _ => {}
            }
        }
        let (most, least) = (
            contiguous.map_or(1, |(_, most)| most),
            BYTES[BYTES.len() - 1],
        );
        Err(format!(
            "{most} elements of {width} bytes are known to lie together, expected {least} bytes"
        ))
    }

    /// The dimension that is contiguous on both sides, and how many of its elements at most start at
    /// multiples of their number everywhere.
    fn contiguous(&self, builder: &mut Builder<'c>) -> Option<(usize, i64)> {
        let d = (0..self.bounds.len()).find(|d| {
            let both = [self.from, self.to].into_iter();
            both.clone().all(|buffer| is_along_rows(buffer, *d))
        })?;
        let first: Vec<Val> = self.bounds.iter().map(|bounds| bounds[0]).collect();
        let mut most = self.bounds[d].iter().map(|bound| factor(*bound)).min()?;
        for buffer in [self.from, self.to] {
            let last = place(builder, buffer, 0, &first).last().copied()?;
            let memory = match workgroup(buffer.value) {
                Some(shared) => shared,
                None => buffer.value,
            };
            most = most.min(of_rows(memory, factor(last)));
        }
        Some((d, most))
    }

    /// Returns whether one copy is all.
    fn is_one(&self, grids: &[Grid]) -> bool {
        let width = |d: usize| {
            self.group
                .filter(|(own, _)| *own == d)
                .map_or(1, |(_, n)| n)
        };
        let mut numbered = grids.iter().enumerate();
        numbered.all(|(d, grid)| known(grid.count) == Some(width(d)))
    }

    /// Loops over the points of all dimensions, and copies inside of them.
    fn nest(&self, builder: &mut Builder<'c>, point: Vec<Val<'c>>) {
        let d = point.len();
        let Some([lower, upper]) = self.bounds.get(d).copied() else {
            return self.copy(builder, &point);
        };
        let step = self
            .group
            .filter(|(own, _)| *own == d)
            .map_or(1, |(_, n)| n);
        let step = builder.index(step);
        builder.for_loop([lower, upper, step], &[], |builder, index, _| {
            self.nest(builder, [&point[..], &[index]].concat());
            Vec::new()
        });
    }

    fn copy(&self, builder: &mut Builder<'c>, point: &[Val<'c>]) {
        let elements = self.group.map_or(1, |(_, elements)| elements);
        let from = place(builder, self.from, 0, point);
        let to = place(builder, self.to, 0, point);
        let read = (self.from.pad).map(|_| self.read(builder, &from, elements));
        let target = in_workgroup(builder, self.to.value);
        let segments = [1, to.len(), 1, from.len(), usize::from(read.is_some())];
        let segments = segments.map(|n| n.to_string()).join(", ");
        let mut attributes = vec![
            ("dstElements", format!("{elements} : index")),
            ("operandSegmentSizes", format!("array<i32: {segments}>")),
        ];
        if self.bytes == BYTES[0] {
            attributes.push(("bypassL1", "unit".into()));
        }
        let context = builder.context;
        let attributes = attributes
            .into_iter()
            .map(|(name, text)| (name, attribute(context, &text)));
        let attributes: Vec<(&str, Attribute)> = attributes.collect();
        let operands: Vec<Val> = [target]
            .into_iter()
            .chain(to)
            .chain([self.from.value])
            .chain(from)
            .chain(read)
            .collect();
        let token = parse(context, "!nvgpu.device.async.token");
        builder.op(
            ops::nvgpu::DEVICE_ASYNC_COPY,
            &operands,
            &[token],
            &attributes,
        );
    }

    /// Returns the number of a group's elements that lie in the buffer.
    fn read(&self, builder: &mut Builder<'c>, from: &[Val<'c>], elements: i64) -> Val<'c> {
        let mut is_inside = builder.boolean(true);
        let mut read = builder.index(elements);
        for (axis, index) in from.iter().enumerate() {
            if self.from.inside.contains(&axis) {
                continue;
            }
            let extent = builder.dim(self.from.value, axis);
            // Unsigned: a negative index is beyond every extent too.
            let fits = builder.compare("ult", *index, extent);
            is_inside = builder.binary(ops::arith::ANDI, is_inside, fits);
            if axis + 1 == from.len() && elements > 1 {
                let left = builder.binary(ops::arith::SUBI, extent, *index);
                read = builder.binary(ops::arith::MINSI, read, left);
            }
        }
        let none = builder.index(0);
        builder.select(is_inside, read, none)
    }
}

/// The type of the elements that are copied.
fn element(from: &BufferPart, to: &BufferPart) -> Result<ScalarType, String> {
    let element =
        |buffer: &BufferPart| types::buffer_type(buffer.value.r#type()).map(|ty| ty.element);
    let is_bytes = |ty: &ScalarType| *ty != ScalarType::Index && ty.bit_width().is_multiple_of(8);
    match (element(from), element(to)) {
        (Some(from), Some(to)) if from == to && is_bytes(&from) => Ok(from),
        (Some(from), Some(to)) if from == to => Err(format!(
            "its elements are {from}, expected whole bytes of known number"
        )),
        _ => Err("it converts its elements".into()),
    }
}

/// Returns whether neighbours of a dimension are neighbours in a row of a buffer, and move nothing else.
fn is_along_rows(buffer: &BufferPart, d: usize) -> bool {
    let [access] = &buffer.accesses[..] else {
        return false;
    };
    let Some((last, outer)) = access.split_last() else {
        return false;
    };
    let moves = |expr: &Expr| expr.dims().contains(&d);
    let form = last.linear(d + 1 + last.dims().into_iter().max().unwrap_or(0));
    form.is_some_and(|form| form.coefficients[d] == 1) && !outer.iter().any(moves)
}

/// Shared memory as the launch has it, of which some memory is the same from its start on.
fn workgroup(memory: Val<'_>) -> Option<Val<'_>> {
    let op = ir::defining_op(memory)?;
    let is_cast = ir::name_of(op) == ops::memref::MEMORY_SPACE_CAST;
    is_cast.then(|| ir::operand(op, 0)).flatten()
}

/// Memory in the type of shared memory.
fn in_workgroup<'c>(builder: &mut Builder<'c>, memory: Val<'c>) -> Val<'c> {
    if let Some(shared) = workgroup(memory) {
        return shared;
    }
    let text = memory.r#type().to_string();
    let text = text.trim_end_matches('>');
    let ty = format!("{text}, #gpu.address_space<workgroup>>");
    let ty = parse(builder.context, &ty);
    builder.op(ops::memref::MEMORY_SPACE_CAST, &[memory], &[ty], &[])[0]
}
