//! Memory of the device, on the host's side: calls of the library that manages it.

use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::types::{self, buffer_type};
use melior::ir::attribute::TypeAttribute;
use melior::ir::operation::OperationLike;
use melior::ir::{Type, ValueLike};

use crate::support::builder::Builder;
use crate::support::captured::{
    attribute, call_function, cast, extract, known_function, memref, number, parse, stored,
};
use crate::support::region;

/// The operations on memory of the device.
pub const OPERATIONS: [&str; 3] = [ops::gpu::ALLOC, ops::gpu::DEALLOC, ops::gpu::MEMCPY];

/// Replaces an operation that allocates, frees or copies by calls of a library, whose functions'
/// names start with `library`.
pub fn lower<'c>(module: Op<'c>, op: Op<'c>, library: &str) -> Result<(), Errors> {
    let name = |what: &str| format!("{library}_{what}");
    let operands: Vec<Val> = op.operands().map(ir::value).collect();
    let segments = ir::integers(op, "operandSegmentSizes");
    let is_asynchronous = segments.first().is_some_and(|count| *count != 0)
        || op
            .results()
            .any(|r| ir::value(r).r#type().to_string() == "!gpu.async.token");
    if is_asynchronous {
        return Err(vec![
            "is asynchronous: expected an operation that is waited for".into(),
        ]);
    }
    let mut builder = Builder::before(op);
    match ir::name_of(op) {
        ops::gpu::ALLOC => {
            let result = op.result(0).map(ir::value);
            let result = result.unwrap_or_else(|error| panic!("{error}"));
            let new = allocate(
                module,
                &mut builder,
                &name("allocate"),
                result.r#type(),
                &operands,
            )?;
            region::replace_all_uses(result, new);
        }
        ops::gpu::DEALLOC => {
            let pointer = pointer(&mut builder, operands[0])?;
            known_function(module, &name("free"), "(!llvm.ptr) -> ()");
            call_function(&mut builder, &name("free"), &[pointer], &[]);
        }
        _ => {
            let bytes = bytes(&mut builder, operands[0])?;
            let [to, from] = [operands[0], operands[1]].map(|v| pointer(&mut builder, v));
            known_function(
                module,
                &name("transfer"),
                "(!llvm.ptr, !llvm.ptr, i64) -> ()",
            );
            let arguments = [to?, from?, bytes];
            call_function(&mut builder, &name("transfer"), &arguments, &[]);
        }
    }
    region::erase(op);
    Ok(())
}

fn refuse(ty: Type) -> Errors {
    vec![format!(
        "has memory of type {ty}: expected elements row by row"
    )]
}

/// The bytes of one element of a memref that lies row by row.
fn width(ty: Type) -> Result<i64, Errors> {
    let buffer = buffer_type(ty).filter(|_| types::lie_by_rows(ty));
    let buffer = buffer.ok_or_else(|| refuse(ty))?;
    Ok(buffer.element.byte_width().max(1) as i64)
}

fn allocate<'c>(
    module: Op<'c>,
    builder: &mut Builder<'c>,
    name: &str,
    ty: Type<'c>,
    dynamic: &[Val<'c>],
) -> Result<Val<'c>, Errors> {
    if ty != types::by_rows(ty) {
        return Err(refuse(ty));
    }
    let width = width(ty)?;
    let shape = buffer_type(ty).map_or(vec![], |b| b.shape);
    let i64 = parse(builder.context, "i64");
    let mut dynamic = dynamic.iter();
    let mut sizes = Vec::new();
    for extent in shape {
        let size = match extent {
            Some(extent) => builder.index(extent),
            None => *dynamic.next().ok_or_else(|| refuse(ty))?,
        };
        sizes.push(builder.op(ops::arith::INDEX_CAST, &[size], &[i64], &[])[0]);
    }
    let bytes = product(builder, &sizes, width);
    let pointer = parse(builder.context, "!llvm.ptr");
    known_function(module, name, "(i64) -> !llvm.ptr");
    let address = call_function(builder, name, &[bytes], &[pointer])[0];
    Ok(memref(builder, address, &sizes, ty))
}

fn product<'c>(builder: &mut Builder<'c>, sizes: &[Val<'c>], width: i64) -> Val<'c> {
    let i64 = parse(builder.context, "i64");
    let width = builder.index(width);
    let mut width_value = builder.op(ops::arith::INDEX_CAST, &[width], &[i64], &[])[0];
    for size in sizes {
        width_value = builder.op(ops::arith::MULI, &[width_value, *size], &[i64], &[])[0];
    }
    width_value
}

/// Returns the size of a memref in bytes.
fn bytes<'c>(builder: &mut Builder<'c>, value: Val<'c>) -> Result<Val<'c>, Errors> {
    let width = width(value.r#type())?;
    let rank = buffer_type(value.r#type()).map_or(0, |b| b.shape.len());
    let i64 = parse(builder.context, "i64");
    let mut sizes = Vec::new();
    for axis in 0..rank {
        let size = builder.dim(value, axis);
        sizes.push(builder.op(ops::arith::INDEX_CAST, &[size], &[i64], &[])[0]);
    }
    Ok(product(builder, &sizes, width))
}

/// Returns the address of a memref's first element.
fn pointer<'c>(builder: &mut Builder<'c>, value: Val<'c>) -> Result<Val<'c>, Errors> {
    let ty = value.r#type();
    let descriptor = stored(builder.context, ty);
    let descriptor_value = cast(builder, value, descriptor);
    let pointer = parse(builder.context, "!llvm.ptr");
    let start = extract(builder, descriptor_value, 1, pointer);
    if types::strides(ty).is_some_and(|(offset, _)| offset == Some(0)) {
        return Ok(start);
    }
    let [i64, byte] = ["i64", "i8"].map(|text| parse(builder.context, text));
    let offset = extract(builder, descriptor_value, 2, i64);
    let width = number(builder, width(ty)?);
    let offset = builder.op(ops::llvm::MUL, &[offset, width], &[i64], &[])[0];
    let given = format!("array<i32: {}>", i32::MIN);
    let attributes = [
        ("rawConstantIndices", attribute(builder.context, &given)),
        ("elem_type", TypeAttribute::new(byte).into()),
    ];
    let name = ops::llvm::GETELEMENTPTR;
    Ok(builder.op(name, &[start, offset], &[pointer], &attributes)[0])
}
