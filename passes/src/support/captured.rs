//! Bodies of operations as functions: outlined, with a closure of captured values on the caller's stack.

use mdh_algebra::scalar::{Scalar, ScalarType};
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::types::{self, BufferKind};
use melior::ir::attribute::{
    DenseI64ArrayAttribute, FlatSymbolRefAttribute, StringAttribute, TypeAttribute,
};
use melior::ir::operation::{OperationBuilder, OperationLike};
use melior::ir::{Attribute, BlockLike, BlockRef, Identifier, Region, RegionLike, Type, ValueLike};

use crate::support::builder::Builder;
use crate::support::names::fresh;
use crate::support::region;

/// Values that a body captures from outside, except constants, which it has itself.
pub struct Captured<'c> {
    /// The values.
    pub values: Vec<Val<'c>>,
    /// Their types in memory.
    types: Vec<Type<'c>>,
    /// The structure's type.
    all: Type<'c>,
}

impl<'c> Captured<'c> {
    /// Of a body of one block, and some values more; copies the constants that it uses into it.
    pub fn new(builder: &Builder<'c>, body: &Region<'c>, more: &[Val<'c>]) -> Captured<'c> {
        constants_inside(body, region::block(body));
        let mut values = region::captured(body);
        for value in more {
            if !values.contains(value) {
                values.push(*value);
            }
        }
        let types = values.iter().map(|v| stored(builder.context, v.r#type()));
        let types: Vec<Type> = types.collect();
        let closure = structure(builder.context, &types);
        Captured {
            values,
            types,
            all: closure,
        }
    }

    /// Makes a body use the values in the structure at an address, and returns these.
    pub fn receive(
        &self,
        builder: &mut Builder<'c>,
        body: &Region<'c>,
        pointer: Val<'c>,
    ) -> Vec<Val<'c>> {
        let loaded = builder.op(ops::llvm::LOAD, &[pointer], &[self.all], &[])[0];
        let fields = self.values.iter().zip(&self.types).enumerate();
        let mut inside = Vec::new();
        for (n, (value, ty)) in fields {
            let field = extract(builder, loaded, n, *ty);
            let field_value = cast(builder, field, value.r#type());
            region::replace_inside(body, *value, field_value);
            inside.push(field_value);
        }
        inside
    }

    /// Puts the values into a structure, which is allocated once, where the calling function
    /// starts; returns its address.
    pub fn pass(&self, builder: &mut Builder<'c>, function: Op<'c>, before: Op<'c>) -> Val<'c> {
        let context = stack(function, before, self.all);
        let mut closure = builder.op(ops::llvm::MLIR_UNDEF, &[], &[self.all], &[])[0];
        for (n, (value, ty)) in self.values.iter().zip(&self.types).enumerate() {
            let field = cast(builder, *value, *ty);
            closure = insert(builder, closure, field, n);
        }
        builder.op(ops::llvm::STORE, &[closure, context], &[], &[]);
        context
    }
}

/// Memory on the stack, for a value of this type: allocated where a function starts.
pub fn stack<'c>(function: Op<'c>, or_before: Op<'c>, ty: Type<'c>) -> Val<'c> {
    let entry = ir::region(function, 0).first_block();
    let first = entry.and_then(|block| ir::ops_of(widened(block)).first().copied());
    let mut builder = Builder::before(first.unwrap_or(or_before));
    let (context, i64) = (builder.context, parse(builder.context, "i64"));
    let unit = attribute(context, "1 : i64");
    let count = builder.op(ops::llvm::MLIR_CONSTANT, &[], &[i64], &[("value", unit)])[0];
    let element = TypeAttribute::new(ty).into();
    let pointer = parse(context, "!llvm.ptr");
    builder.op(
        ops::llvm::ALLOCA,
        &[count],
        &[pointer],
        &[("elem_type", element)],
    )[0]
}

fn widened<'c>(block: BlockRef<'c, '_>) -> BlockRef<'c, 'c> {
    // SAFETY: only lifetimes change, see `ir::Op`.
    unsafe { BlockRef::from_raw(block.to_raw()) }
}

fn position<'c>(builder: &Builder<'c>, n: usize) -> [(&'static str, Attribute<'c>); 1] {
    let position = DenseI64ArrayAttribute::new(builder.context, &[n as i64]);
    [("position", position.into())]
}

/// A field of a structure.
pub fn extract<'c>(builder: &mut Builder<'c>, all: Val<'c>, n: usize, ty: Type<'c>) -> Val<'c> {
    let position = position(builder, n);
    builder.op(ops::llvm::EXTRACTVALUE, &[all], &[ty], &position)[0]
}

/// A structure with another field.
pub fn insert<'c>(builder: &mut Builder<'c>, all: Val<'c>, field: Val<'c>, n: usize) -> Val<'c> {
    let position = position(builder, n);
    builder.op(
        ops::llvm::INSERTVALUE,
        &[all, field],
        &[all.r#type()],
        &position,
    )[0]
}

/// A number of 64 bits.
pub fn number<'c>(builder: &mut Builder<'c>, number: i64) -> Val<'c> {
    let i64 = parse(builder.context, "i64");
    let value = Scalar::from_i64(ScalarType::I64, number);
    let value = types::attribute(builder.context, value);
    builder.op(ops::llvm::MLIR_CONSTANT, &[], &[i64], &[("value", value)])[0]
}

/// A memref of memory, row by row.
pub fn memref<'c>(
    builder: &mut Builder<'c>,
    address: Val<'c>,
    sizes: &[Val<'c>],
    ty: Type<'c>,
) -> Val<'c> {
    let i64 = parse(builder.context, "i64");
    let descriptor = stored(builder.context, ty);
    let mut closure = builder.op(ops::llvm::MLIR_UNDEF, &[], &[descriptor], &[])[0];
    let zero = number(builder, 0);
    for (n, field) in [address, address, zero].into_iter().enumerate() {
        closure = insert(builder, closure, field, n);
    }
    if !sizes.is_empty() {
        let mut stride = number(builder, 1);
        let mut strides = vec![stride; sizes.len()];
        for (n, size) in sizes.iter().enumerate().rev() {
            strides[n] = stride;
            stride = builder.op(ops::llvm::MUL, &[stride, *size], &[i64], &[])[0];
        }
        let array = parse(
            builder.context,
            &format!("!llvm.array<{} x i64>", sizes.len()),
        );
        for (n, numbers) in [sizes, &strides].into_iter().enumerate() {
            let mut field = builder.op(ops::llvm::MLIR_UNDEF, &[], &[array], &[])[0];
            for (axis, value) in numbers.iter().enumerate() {
                field = insert(builder, field, *value, axis);
            }
            closure = insert(builder, closure, field, 3 + n);
        }
    }
    cast(builder, closure, ty)
}

/// Values in memory, each in the lowest bytes of a word; returns the address of the first one.
pub fn words<'c>(
    builder: &mut Builder<'c>,
    function: Op<'c>,
    before: Op<'c>,
    values: &[Val<'c>],
) -> Val<'c> {
    let ty = format!("!llvm.array<{} x i64>", values.len());
    let ty = parse(builder.context, &ty);
    let memory = stack(function, before, ty);
    let pointer = parse(builder.context, "!llvm.ptr");
    for (n, value) in values.iter().enumerate() {
        let ty = stored(builder.context, value.r#type());
        let value = cast(builder, *value, ty);
        let numbers = format!("array<i32: {n}>");
        let attributes = [
            ("rawConstantIndices", attribute(builder.context, &numbers)),
            (
                "elem_type",
                TypeAttribute::new(parse(builder.context, "i64")).into(),
            ),
        ];
        let place = builder.op(ops::llvm::GETELEMENTPTR, &[memory], &[pointer], &attributes)[0];
        builder.op(ops::llvm::STORE, &[value, place], &[], &[]);
    }
    memory
}

/// Copies the constants that a body uses into it.
pub fn constants_inside<'c>(body: &Region<'c>, block: BlockRef<'c, 'c>) {
    for value in region::captured(body) {
        let is_constant =
            |op: &Op| [ops::arith::CONSTANT, ops::vector::STEP].contains(&ir::name_of(*op));
        let constant = ir::defining_op(value).filter(is_constant);
        if let Some(constant) = constant {
            let copy = region::copy_into(block, constant);
            region::replace_inside(body, value, copy);
        }
    }
}

/// Puts a private function with that body before an operation of a module.
pub fn insert_function<'c>(before: Op<'c>, name: &str, ty: &str, body: Region<'c>) -> Op<'c> {
    let context = ir::context_of(before);
    let named = |name: &str, value: Attribute<'c>| (Identifier::new(context, name), value);
    let op = OperationBuilder::new(ops::func::FUNC, before.location())
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
    Builder::before(before).insert(op)
}

/// Declares a function of the run-time library, unless it is declared already.
pub fn known_function<'c>(module: Op<'c>, name: &str, ty: &str) {
    let ops = ir::only_block(ir::region(module, 0)).map(ir::ops_of);
    let first = ops.unwrap_or_default().first().copied();
    if let Some(first) = first.filter(|first| ir::lookup_symbol(*first, name).is_none()) {
        insert_function(first, name, ty, Region::new());
    }
}

fn symbol<'c>(builder: &Builder<'c>, name: &str) -> Attribute<'c> {
    FlatSymbolRefAttribute::new(builder.context, name).into()
}

/// The address of a function of this type.
pub fn address<'c>(builder: &mut Builder<'c>, name: &str, ty: Type<'c>) -> Val<'c> {
    let value = [("value", symbol(builder, name))];
    let function = builder.op(ops::func::CONSTANT, &[], &[ty], &value)[0];
    let pointer = parse(builder.context, "!llvm.ptr");
    cast(builder, function, pointer)
}

/// The address of a text that ends with a zero: a constant of the module, called `name` or
/// something like it.
pub fn c_text<'c>(builder: &mut Builder<'c>, module: Op<'c>, name: &str, text: &str) -> Val<'c> {
    let context = builder.context;
    let text = format!("{text}\0");
    let value: Attribute = StringAttribute::new(context, &text).into();
    let globals = ir::only_block(ir::region(module, 0)).map_or(Vec::new(), ir::ops_of);
    let same = |global: &&Op| {
        ir::name_of(**global) == ops::llvm::MLIR_GLOBAL
            && ir::attribute(**global, "value") == Some(value)
    };
    let known = globals.iter().find(same);
    let known = known.and_then(|op| ir::attribute(*op, "sym_name").and_then(ir::text));
    let name = match known {
        Some(name) => name.to_string(),
        None => {
            let Some(first) = globals.first().copied() else {
                panic!("a module with a use of a text has an operation");
            };
            let taken = |name: &str| ir::lookup_symbol(first, name).is_some();
            let name = fresh(name, taken);
            let ty = parse(context, &format!("!llvm.array<{} x i8>", text.len()));
            Builder::before(first).build(
                ops::llvm::MLIR_GLOBAL,
                &[],
                &[],
                &[
                    ("global_type", TypeAttribute::new(ty).into()),
                    ("sym_name", StringAttribute::new(context, &name).into()),
                    ("linkage", attribute(context, "#llvm.linkage<internal>")),
                    ("constant", Attribute::unit(context)),
                    ("value", value),
                    ("addr_space", attribute(context, "0 : i32")),
                ],
                vec![Region::new()],
            );
            name
        }
    };
    let symbol = attribute(context, &format!("@{name}"));
    let pointer = parse(context, "!llvm.ptr");
    builder.op(
        ops::llvm::MLIR_ADDRESSOF,
        &[],
        &[pointer],
        &[("global_name", symbol)],
    )[0]
}

/// A call.
pub fn call_function<'c>(
    builder: &mut Builder<'c>,
    name: &str,
    operands: &[Val<'c>],
    results: &[Type<'c>],
) -> Vec<Val<'c>> {
    let callee = [("callee", symbol(builder, name))];
    builder.op(ops::func::CALL, operands, results, &callee)
}

/// The same value in another type, once both are LLVM's.
pub fn cast<'c>(builder: &mut Builder<'c>, value: Val<'c>, ty: Type<'c>) -> Val<'c> {
    if value.r#type() == ty {
        return value;
    }
    builder.op(
        ops::builtin::UNREALIZED_CONVERSION_CAST,
        &[value],
        &[ty],
        &[],
    )[0]
}

/// The type that LLVM code has for values of a type.
pub fn stored<'c>(context: &'c melior::Context, ty: Type<'c>) -> Type<'c> {
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

/// A structure's type.
pub fn structure<'c>(context: &'c melior::Context, fields: &[Type<'c>]) -> Type<'c> {
    let fields: Vec<String> = fields.iter().map(|ty| ty.to_string()).collect();
    parse(context, &format!("!llvm.struct<({})>", fields.join(", ")))
}

/// A type from its text.
pub fn parse<'c>(context: &'c melior::Context, text: &str) -> Type<'c> {
    Type::parse(context, text).unwrap_or_else(|| panic!("{text} is a type"))
}

/// An attribute from its text.
pub fn attribute<'c>(context: &'c melior::Context, text: &str) -> Attribute<'c> {
    Attribute::parse(context, text).unwrap_or_else(|| panic!("{text} is an attribute"))
}
