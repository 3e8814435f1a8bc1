//! Asynchronous copies, and the groups in which kernels wait for them.
//!
//! ```mlir
//! // mdh-opt --mdh-simulate-kernels --cse
//! func.func @f(%x: memref<128xf32>, %n: index) {
//!   %c1 = arith.constant 1 : index
//!   %c32 = arith.constant 32 : index
//!   gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %c1, %gz = %c1)
//!       threads(%i, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1)
//!       workgroup(%to: memref<128xf32, #gpu.address_space<workgroup>>) {
//!     %t = nvgpu.device_async_copy %x[%i], %to[%i], 4
//!       : memref<128xf32> to memref<128xf32, #gpu.address_space<workgroup>>
//!     %g = nvgpu.device_async_create_group %t
//!     nvgpu.device_async_wait %g {numGroups = 1 : i32}
//!     gpu.terminator
//!   }
//!   return
//! }
//! // becomes
//! %sixteen = arith.index_cast %c16 : index to i64
//! call @mdh_sim_copy(%thread, %address_to, %address_from, %sixteen, %sixteen, %site) : ..
//! call @mdh_sim_commit(%thread) : (!llvm.ptr) -> ()
//! ..
//! call @mdh_sim_wait(%thread, %one) : ..
//! ```
//!
//! As on a GPU, groups are counted, and which tokens a group or a wait names says nothing: a group
//! has all copies since the last one.

use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::types::{self, buffer_type};
use melior::ir::ValueLike;
use melior::ir::operation::OperationLike;

use crate::support::buffers;
use crate::support::builder::Builder;
use crate::support::captured::{attribute, call_function, known_function, parse};

/// The operations that are lowered here.
pub const OPERATIONS: [&str; 5] = [
    ops::nvgpu::DEVICE_ASYNC_COPY,
    ops::nvgpu::DEVICE_ASYNC_CREATE_GROUP,
    ops::nvgpu::DEVICE_ASYNC_WAIT,
    ops::nvvm::CP_ASYNC_COMMIT_GROUP,
    ops::nvvm::CP_ASYNC_WAIT_GROUP,
];

/// Lowers one of them, of a thread, at a place; its result replaces the token.
pub fn lower<'c>(
    builder: &mut Builder<'c>,
    (module, op): (Op<'c>, Op<'c>),
    thread: Val<'c>,
    site: Val<'c>,
) -> Result<Vec<Val<'c>>, Errors> {
    check_tokens(op)?;
    let calls = Calls { module, thread };
    match ir::name_of(op) {
        ops::nvgpu::DEVICE_ASYNC_COPY => calls.copy(builder, op, site)?,
        ops::nvgpu::DEVICE_ASYNC_WAIT => calls.wait(builder, number_of(op, "numGroups")),
        ops::nvvm::CP_ASYNC_WAIT_GROUP => calls.wait(builder, number_of(op, "n")),
        _ => calls.commit(builder),
    }
    let tokens = (0..op.result_count()).map(|_| builder.index(0));
    Ok(tokens.collect())
}

/// Tokens that take other ways are none that a simulated kernel can have.
fn check_tokens(op: Op) -> Result<(), Errors> {
    let results = (0..op.result_count()).filter_map(|n| op.result(n).ok());
    let users = results.flat_map(|result| ir::users(ir::value(result)));
    for user in users {
        if !OPERATIONS.contains(&ir::name_of(user)) {
            return Err(vec![format!(
                "gives the token of a copy to '{}', which is not simulated: expected a group or a \
                 wait",
                ir::name_of(user)
            )]);
        }
    }
    Ok(())
}

/// The number in an attribute; without it, 0.
fn number_of(op: Op, name: &str) -> i64 {
    let number = ir::attribute(op, name).and_then(types::scalar);
    number.map_or(0, |number| number.as_i64())
}

/// Calls of a thread.
struct Calls<'c> {
    module: Op<'c>,
    thread: Val<'c>,
}

impl<'c> Calls<'c> {
    fn call(&self, builder: &mut Builder<'c>, name: &str, operands: &[Val<'c>]) {
        let arguments: Vec<Val> = [self.thread].iter().chain(operands).copied().collect();
        let types: Vec<String> = arguments.iter().map(|v| v.r#type().to_string()).collect();
        known_function(self.module, name, &format!("({}) -> ()", types.join(", ")));
        call_function(builder, name, &arguments, &[]);
    }

    fn commit(&self, builder: &mut Builder<'c>) {
        self.call(builder, "mdh_sim_commit", &[]);
    }

    fn wait(&self, builder: &mut Builder<'c>, left: i64) {
        let i32 = parse(builder.context, "i32");
        let left = attribute(builder.context, &format!("{left} : i32"));
        let left = builder.constant(left, i32);
        self.call(builder, "mdh_sim_wait", &[left]);
    }

    fn copy(&self, builder: &mut Builder<'c>, op: Op<'c>, site: Val<'c>) -> Result<(), Errors> {
        let operands: Vec<Val> = op.operands().map(ir::value).collect();
        let (to, rest) = element(builder, &operands)?;
        let (from, rest) = element(builder, rest)?;
        let count = builder.index(number_of(op, "dstElements"));
        let read = rest.first().copied().unwrap_or(count);
        let width = builder.index(to.width);
        let bytes = [count, read].map(|elements| builder.binary(ops::arith::MULI, elements, width));
        let [bytes, read] = bytes.map(|bytes| as_i64(builder, bytes));
        let operands = [to.address, from.address, bytes, read, site];
        self.call(builder, "mdh_sim_copy", &operands);
        Ok(())
    }
}

/// An element of a buffer.
struct Element<'c> {
    address: Val<'c>,
    /// Its bytes.
    width: i64,
}

/// The element that a buffer and its indices name, which come first; and the operands behind them.
fn element<'c, 'a>(
    builder: &mut Builder<'c>,
    operands: &'a [Val<'c>],
) -> Result<(Element<'c>, &'a [Val<'c>]), Errors> {
    let buffer = operands.first().map(|buffer| (*buffer, buffer.r#type()));
    let Some((buffer, ty)) = buffer else {
        return Err(vec!["bug: a copy without a buffer".into()]);
    };
    let Some(shaped) = buffer_type(ty) else {
        return Err(vec![format!(
            "copies to or from {ty}, which is not simulated: expected a memref of numbers"
        )]);
    };
    let (rank, width) = (shaped.shape.len(), shaped.element.byte_width() as i64);
    let indices = &operands[1..1 + rank];
    let index = builder.index_type();
    let parts = buffers::metadata(builder, buffer);
    let mut at = parts[1];
    for (number, stride) in indices.iter().zip(&parts[2 + rank..]) {
        let distance = builder.binary(ops::arith::MULI, *number, *stride);
        at = builder.binary(ops::arith::ADDI, at, distance);
    }
    let bytes = builder.index(width);
    let offset = builder.binary(ops::arith::MULI, at, bytes);
    let name = ops::memref::EXTRACT_ALIGNED_POINTER_AS_INDEX;
    let start = builder.op(name, &[buffer], &[index], &[])[0];
    let address = builder.binary(ops::arith::ADDI, start, offset);
    let address = as_i64(builder, address);
    Ok((Element { address, width }, &operands[1 + rank..]))
}

fn as_i64<'c>(builder: &mut Builder<'c>, value: Val<'c>) -> Val<'c> {
    let i64 = parse(builder.context, "i64");
    builder.op(ops::arith::INDEX_CAST, &[value], &[i64], &[])[0]
}
