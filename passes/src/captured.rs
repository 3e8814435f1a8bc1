//! Bodies of operations as functions: what a body uses from outside travels in a structure on the
//! caller's stack.

use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::types::{self, BufferKind};
use melior::ir::attribute::{
    DenseI64ArrayAttribute, FlatSymbolRefAttribute, StringAttribute, TypeAttribute,
};
use melior::ir::operation::{OperationBuilder, OperationLike};
use melior::ir::{Attribute, BlockLike, BlockRef, Identifier, Region, RegionLike, Type, ValueLike};

use crate::builder::Builder;
use crate::region;

/// What a body uses from outside of it, but constants, which it has itself.
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
    pub fn of(builder: &Builder<'c>, body: &Region<'c>, more: &[Val<'c>]) -> Captured<'c> {
        constants_inside(body, region::block(body));
        let mut values = region::captured(body);
        for value in more {
            if !values.contains(value) {
                values.push(*value);
            }
        }
        let types = values.iter().map(|v| stored(builder.context, v.r#type()));
        let types: Vec<Type> = types.collect();
        let all = structure(builder.context, &types);
        Captured { values, types, all }
    }

    /// Makes a body use what is in the structure at an address, and returns that.
    pub fn receive(
        &self,
        builder: &mut Builder<'c>,
        body: &Region<'c>,
        pointer: Val<'c>,
    ) -> Vec<Val<'c>> {
        let loaded = builder.op("llvm.load", &[pointer], &[self.all], &[])[0];
        let each = self.values.iter().zip(&self.types).enumerate();
        let mut inside = Vec::new();
        for (n, (value, ty)) in each {
            let field = extract(builder, loaded, n, *ty);
            let own = cast(builder, field, value.r#type());
            region::replace_inside(body, *value, own);
            inside.push(own);
        }
        inside
    }

    /// Puts the values into a structure, which is allocated once, where the calling function
    /// starts; returns its address.
    pub fn pass(&self, builder: &mut Builder<'c>, function: Op<'c>, before: Op<'c>) -> Val<'c> {
        let context = stack(function, before, self.all);
        let mut all = builder.op("llvm.mlir.undef", &[], &[self.all], &[])[0];
        for (n, (value, ty)) in self.values.iter().zip(&self.types).enumerate() {
            let field = cast(builder, *value, *ty);
            all = insert(builder, all, field, n);
        }
        builder.op("llvm.store", &[all, context], &[], &[]);
        context
    }
}

/// Memory on the stack, for a value of this type: taken where a function starts.
pub fn stack<'c>(function: Op<'c>, or_before: Op<'c>, ty: Type<'c>) -> Val<'c> {
    let entry = ir::region(function, 0).first_block();
    let first = entry.and_then(|block| ir::ops_of(widened(block)).first().copied());
    let mut builder = Builder::before(first.unwrap_or(or_before));
    let (context, i64) = (builder.context, parse(builder.context, "i64"));
    let one = attribute(context, "1 : i64");
    let one = builder.op("llvm.mlir.constant", &[], &[i64], &[("value", one)])[0];
    let element = TypeAttribute::new(ty).into();
    let pointer = parse(context, "!llvm.ptr");
    builder.op("llvm.alloca", &[one], &[pointer], &[("elem_type", element)])[0]
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
    builder.op("llvm.extractvalue", &[all], &[ty], &position)[0]
}

/// A structure with another field.
pub fn insert<'c>(builder: &mut Builder<'c>, all: Val<'c>, field: Val<'c>, n: usize) -> Val<'c> {
    let position = position(builder, n);
    builder.op(
        "llvm.insertvalue",
        &[all, field],
        &[all.r#type()],
        &position,
    )[0]
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

/// Puts a private function with that body before an operation of a module.
pub fn insert_function<'c>(before: Op<'c>, name: &str, ty: &str, body: Region<'c>) -> Op<'c> {
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
    Builder::before(before).insert(op)
}

/// Declares a function of the run-time library, where that has not been done.
pub fn known_function<'c>(module: Op<'c>, name: &str, ty: &str) {
    let all = ir::only_block(ir::region(module, 0)).map(ir::ops_of);
    let first = all.unwrap_or_default().first().copied();
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
    let function = builder.op("func.constant", &[], &[ty], &value)[0];
    let pointer = parse(builder.context, "!llvm.ptr");
    cast(builder, function, pointer)
}

/// A call.
pub fn call_function<'c>(
    builder: &mut Builder<'c>,
    name: &str,
    operands: &[Val<'c>],
    results: &[Type<'c>],
) -> Vec<Val<'c>> {
    let callee = [("callee", symbol(builder, name))];
    builder.op("func.call", operands, results, &callee)
}

/// The same value in another type, once both are LLVM's.
pub fn cast<'c>(builder: &mut Builder<'c>, value: Val<'c>, ty: Type<'c>) -> Val<'c> {
    if value.r#type() == ty {
        return value;
    }
    builder.op("builtin.unrealized_conversion_cast", &[value], &[ty], &[])[0]
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
