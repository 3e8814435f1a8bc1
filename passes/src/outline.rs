//! `mdh-outline-parallel`: the body of a parallel loop becomes a function, which the run-time
//! library's threads call.
//!
//! ```mlir
//! scf.parallel (%i) = (%c0) to (%n) step (%c64) {
//!   "use"(%x, %i) : (memref<?xf32>, index) -> ()
//! }
//! // becomes
//! func.func private @f_parallel(%context: !llvm.ptr, %part: i64) {
//!   %x = .. // from the context
//!   %i = %part * 64
//!   "use"(%x, %i) : (memref<?xf32>, index) -> ()
//!   return
//! }
//! ..
//! call @mdh_parallel_for(%f_parallel, %context, %parts) : (!llvm.ptr, !llvm.ptr, i64) -> ()
//! ```
//!
//! What the body uses from outside travels in a structure on the caller's stack, which is
//! allocated once, where the calling function starts. Parallel loops inside of others stay loops:
//! the threads are busy already.

use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::pass::{Options, Pass};
use mdh_dialect::types::{self, BufferKind};
use melior::ir::attribute::{
    DenseI64ArrayAttribute, FlatSymbolRefAttribute, StringAttribute, TypeAttribute,
};
use melior::ir::operation::{OperationBuilder, OperationLike};
use melior::ir::{Attribute, BlockLike, BlockRef, Identifier, Region, RegionLike, Type, ValueLike};

use crate::builder::Builder;
use crate::names::fresh;
use crate::region;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-outline-parallel",
    description: "bodies of parallel loops to functions that the run-time library calls",
    operation: "builtin.module",
    options: &[],
    run,
};

/// What runs the parts of a loop; see the run-time library.
const PARALLEL_FOR: &str = "mdh_parallel_for";

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    // All that are outermost now: what is inside of them stays a loop in their functions.
    let all = ir::find_all(module, &["scf.parallel"]);
    let outermost: Vec<_> = all
        .into_iter()
        .filter_map(|op| Some((op, enclosing(op)?)))
        .collect();
    for (op, function) in outermost {
        if op.result_count() == 0 && op.operand_count() == 3 {
            outline(module, function, op);
        }
    }
    Ok(())
}

/// The function around a parallel loop that no other one encloses.
fn enclosing<'c>(op: Op<'c>) -> Option<Op<'c>> {
    let mut at = ir::parent(op)?;
    loop {
        match ir::name_of(at) {
            "scf.parallel" => return None,
            "func.func" => return Some(at),
            _ => at = ir::parent(at)?,
        }
    }
}

fn outline<'c>(module: Op<'c>, function: Op<'c>, op: Op<'c>) {
    let mut builder = Builder::before(op);
    let bounds: Vec<Val> = op.operands().map(ir::value).collect();
    let body = region::take(op, 0);
    let block = region::block(&body);
    constants_inside(&body, block);
    let mut used = region::captured(&body);
    for bound in [bounds[0], bounds[2]] {
        if !used.contains(&bound) {
            used.push(bound);
        }
    }
    let types: Vec<Type> = used
        .iter()
        .map(|v| stored(builder.context, v.r#type()))
        .collect();
    let context_type = structure(builder.context, &types);
    receive(&body, block, &used, &types, context_type, &bounds);
    let name = declare(function, body);
    let entry = ir::region(function, 0).first_block();
    let first = entry.and_then(|block| ir::ops_of(unsafe_widen(block)).first().copied());
    let mut start = Builder::before(first.unwrap_or(op));
    let context = allocate(&mut start, context_type);
    fill(&mut builder, context, context_type, &used, &types);
    let parts = part_count(&mut builder, &bounds);
    call(module, function, &mut builder, &name, context, parts);
    region::erase(op);
}

fn unsafe_widen<'c>(block: BlockRef<'c, '_>) -> BlockRef<'c, 'c> {
    // SAFETY: only lifetimes change, see `ir::Op`.
    unsafe { BlockRef::from_raw(block.to_raw()) }
}

/// Copies the constants that a body uses into it.
fn constants_inside<'c>(body: &Region<'c>, block: BlockRef<'c, 'c>) {
    for value in region::captured(body) {
        let is_constant = |op: &Op| ["arith.constant", "vector.step"].contains(&ir::name_of(*op));
        let constant = ir::defining_op(value).filter(is_constant);
        if let Some(constant) = constant {
            let copy = region::copy_into(block, constant);
            region::replace_inside(body, value, copy);
        }
    }
}

/// Makes a loop's body that of a function: of the context and the number of the part.
fn receive<'c>(
    body: &Region<'c>,
    block: BlockRef<'c, 'c>,
    used: &[Val<'c>],
    types: &[Type<'c>],
    context_type: Type<'c>,
    bounds: &[Val<'c>],
) {
    let terminator = region::terminator(block);
    let location = terminator.location();
    let context = ir::context_of(terminator);
    let index = mdh_dialect::code::arguments(block)[0];
    let pointer = region::add_argument(block, parse(context, "!llvm.ptr"), location);
    let part = region::add_argument(block, parse(context, "i64"), location);
    let first = ir::ops_of(block).first().copied().unwrap_or(terminator);
    let mut builder = Builder::before(first);
    let loaded = builder.op("llvm.load", &[pointer], &[context_type], &[])[0];
    let mut inside = Vec::new();
    for (n, (value, ty)) in used.iter().zip(types).enumerate() {
        let position = DenseI64ArrayAttribute::new(context, &[n as i64]).into();
        let field = builder.op(
            "llvm.extractvalue",
            &[loaded],
            &[*ty],
            &[("position", position)],
        )[0];
        let own = cast(&mut builder, field, value.r#type());
        region::replace_inside(body, *value, own);
        inside.push(own);
    }
    let find = |value: Val<'c>| {
        let at = used.iter().position(|v| *v == value);
        inside[at.unwrap_or_else(|| panic!("a bound is in the context"))]
    };
    let (lower, step) = (find(bounds[0]), find(bounds[2]));
    let number = builder.op("arith.index_cast", &[part], &[builder.index_type()], &[])[0];
    let distance = builder.binary("arith.muli", number, step);
    let here = builder.binary("arith.addi", lower, distance);
    region::replace_all_uses(index, here);
    // SAFETY: nothing uses the argument any more.
    unsafe { mlir_sys::mlirBlockEraseArgument(block.to_raw(), 0) }
    let mut end = Builder::before(terminator);
    end.op("func.return", &[], &[], &[]);
    region::erase(terminator);
}

/// Puts a function with that body before another one, and returns its name.
fn declare<'c>(function: Op<'c>, body: Region<'c>) -> String {
    let base = ir::attribute(function, "sym_name")
        .and_then(ir::text)
        .unwrap_or("f");
    let is_taken = |name: &str| ir::lookup_symbol(function, name).is_some();
    let name = fresh(&format!("{base}_parallel"), is_taken);
    insert_function(function, &name, "(!llvm.ptr, i64) -> ()", body);
    name
}

fn insert_function<'c>(before: Op<'c>, name: &str, ty: &str, body: Region<'c>) {
    let context = ir::context_of(before);
    let named = |name: &str, value: Attribute<'c>| (Identifier::new(context, name), value);
    let op = OperationBuilder::new("func.func", before.location())
        .add_attributes(&[
            named("sym_name", StringAttribute::new(context, name).into()),
            named(
                "sym_visibility",
                StringAttribute::new(context, "private").into(),
            ),
            named(
                "function_type",
                TypeAttribute::new(parse(context, ty)).into(),
            ),
        ])
        .add_regions([body])
        .build()
        .unwrap_or_else(|error| panic!("cannot build func.func: {error}"));
    Builder::before(before).insert(op);
}

/// Memory for a context, on the stack.
fn allocate<'c>(builder: &mut Builder<'c>, context_type: Type<'c>) -> Val<'c> {
    let (context, i64) = (builder.context, parse(builder.context, "i64"));
    let one = attribute(context, "1 : i64");
    let one = builder.op("llvm.mlir.constant", &[], &[i64], &[("value", one)])[0];
    let element = TypeAttribute::new(context_type).into();
    let pointer = parse(context, "!llvm.ptr");
    builder.op("llvm.alloca", &[one], &[pointer], &[("elem_type", element)])[0]
}

fn fill<'c>(
    builder: &mut Builder<'c>,
    context: Val<'c>,
    context_type: Type<'c>,
    used: &[Val<'c>],
    types: &[Type<'c>],
) {
    let mut all = builder.op("llvm.mlir.undef", &[], &[context_type], &[])[0];
    for (n, (value, ty)) in used.iter().zip(types).enumerate() {
        let field = cast(builder, *value, *ty);
        let position = DenseI64ArrayAttribute::new(builder.context, &[n as i64]).into();
        all = builder.op(
            "llvm.insertvalue",
            &[all, field],
            &[context_type],
            &[("position", position)],
        )[0];
    }
    builder.op("llvm.store", &[all, context], &[], &[]);
}

fn part_count<'c>(builder: &mut Builder<'c>, bounds: &[Val<'c>]) -> Val<'c> {
    let distance = builder.binary("arith.subi", bounds[1], bounds[0]);
    let ty = builder.index_type();
    let count = builder.op("arith.ceildivsi", &[distance, bounds[2]], &[ty], &[])[0];
    let i64 = parse(builder.context, "i64");
    builder.op("arith.index_cast", &[count], &[i64], &[])[0]
}

fn call<'c>(
    module: Op<'c>,
    function: Op<'c>,
    builder: &mut Builder<'c>,
    name: &str,
    context: Val<'c>,
    parts: Val<'c>,
) {
    let mlir = builder.context;
    if ir::lookup_symbol(function, PARALLEL_FOR).is_none() {
        let first = ir::only_block(ir::region(module, 0))
            .map(ir::ops_of)
            .unwrap_or_default();
        if let Some(first) = first.first() {
            insert_function(
                *first,
                PARALLEL_FOR,
                "(!llvm.ptr, !llvm.ptr, i64) -> ()",
                Region::new(),
            );
        }
    }
    let symbol = |name: &str| FlatSymbolRefAttribute::new(mlir, name).into();
    let ty = parse(mlir, "(!llvm.ptr, i64) -> ()");
    let function = builder.op("func.constant", &[], &[ty], &[("value", symbol(name))])[0];
    let function = cast(builder, function, parse(mlir, "!llvm.ptr"));
    let callee = [("callee", symbol(PARALLEL_FOR))];
    builder.op("func.call", &[function, context, parts], &[], &callee);
}

fn cast<'c>(builder: &mut Builder<'c>, value: Val<'c>, ty: Type<'c>) -> Val<'c> {
    if value.r#type() == ty {
        return value;
    }
    builder.op("builtin.unrealized_conversion_cast", &[value], &[ty], &[])[0]
}

/// The type that LLVM code has for values of a type.
fn stored<'c>(context: &'c melior::Context, ty: Type<'c>) -> Type<'c> {
    let Some(buffer) = types::buffer_type(ty) else {
        // Lanes of indices are those of numbers.
        let is_index = types::element(ty).to_string() == "index";
        let number = parse(context, "i64");
        return if is_index {
            types::with_lanes_of(ty, number)
        } else {
            ty
        };
    };
    match (buffer.kind, buffer.shape.len()) {
        (BufferKind::MemRef, 0) => parse(context, "!llvm.struct<(ptr, ptr, i64)>"),
        (BufferKind::MemRef, rank) => parse(
            context,
            &format!("!llvm.struct<(ptr, ptr, i64, array<{rank} x i64>, array<{rank} x i64>)>"),
        ),
        _ if ty.to_string() == "index" => parse(context, "i64"),
        _ => ty,
    }
}

fn structure<'c>(context: &'c melior::Context, fields: &[Type<'c>]) -> Type<'c> {
    let fields: Vec<String> = fields.iter().map(|ty| ty.to_string()).collect();
    parse(context, &format!("!llvm.struct<({})>", fields.join(", ")))
}

fn parse<'c>(context: &'c melior::Context, text: &str) -> Type<'c> {
    Type::parse(context, text).unwrap_or_else(|| panic!("{text} is a type"))
}

fn attribute<'c>(context: &'c melior::Context, text: &str) -> Attribute<'c> {
    Attribute::parse(context, text).unwrap_or_else(|| panic!("{text} is an attribute"))
}
