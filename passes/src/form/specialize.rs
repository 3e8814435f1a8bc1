//! `mdh-specialize`: a function gets versions of its own for sizes of its arguments.
//!
//! ```mlir
//! func.func @twice(%x: tensor<?xf32>, %n: index) -> tensor<?xf32>
//!     attributes {mdh.versions = ["8, 8"]} {
//!   %init = tensor.empty(%n) : tensor<?xf32>
//!   %y = mdh.compute (i = %n)
//!     out_view(y = %init[i] : tensor<?xf32>)
//!     md_hom(id, (cc))
//!     inp_view(x = %x[i] : tensor<?xf32>)
//!   return %y : tensor<?xf32>
//! }
//! // becomes
//! func.func private @twice_8_8(%x: tensor<8xf32>, %n: index) -> tensor<8xf32>
//!     attributes {mdh.sizes = "8, 8"} {
//!   %init = tensor.empty() : tensor<8xf32>
//!   %y = mdh.compute (i = 8)
//!     out_view(y = %init[i] : tensor<8xf32>)
//!     md_hom(id, (cc))
//!     inp_view(x = %x[i] : tensor<8xf32>)
//!   return %y : tensor<8xf32>
//! }
//! func.func @twice(%x: tensor<?xf32>, %n: index) -> tensor<?xf32>
//!     attributes {mdh.versions = [@twice_8_8]} {
//!   %init = tensor.empty(%n) : tensor<?xf32>
//!   %y = mdh.compute (i = %n)
//!     out_view(y = %init[i] : tensor<?xf32>)
//!     md_hom(id, (cc))
//!     inp_view(x = %x[i] : tensor<?xf32>)
//!   return %y : tensor<?xf32>
//! }
//! ```
//!
//! Only numbers and types become known in a version: its computations are those of the function, in the same
//! order, so that schedules that were found for the sizes are theirs. What takes a type as it is gets a cast.
//! `mdh-dispatch` has the function call them.

use mdh_algebra::op::Op as Operator;
use mdh_algebra::scalar::Scalar;
use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::pass::{Options, Pass, each};
use mdh_dialect::types::{self, BufferKind};
use mdh_dialect::{code, marks, ops, write};
use melior::ir::attribute::{FlatSymbolRefAttribute, StringAttribute, TypeAttribute};
use melior::ir::operation::OperationLike;
use melior::ir::r#type::FunctionType;
use melior::ir::{Attribute, RegionLike, Type, TypeLike, ValueLike};
use mlir_sys::mlirValueSetType;

use crate::simplify::canonicalize;
use crate::support::buffers;
use crate::support::builder::Builder;
use crate::support::draft::{self, Draft, Rewriter};
use crate::support::extents::{self, Extent};
use crate::support::names::fresh;
use crate::support::region;
use crate::support::versions::{self, Sizes, argument_types};

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-specialize",
    description: "versions of functions for the sizes that they are wanted for",
    operation: ops::builtin::MODULE,
    options: &[],
    run,
};

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    each(module, ops::func::FUNC, |function| {
        let wanted = ir::array(function, marks::VERSIONS.name);
        if wanted.iter().all(|version| ir::text(*version).is_none()) {
            return Ok(());
        }
        let versions: Result<Vec<_>, _> =
            wanted.into_iter().map(|v| version(function, v)).collect();
        let versions: Vec<Attribute> = versions?.into_iter().flatten().collect();
        versions::set(function, &versions);
        Ok(())
    })
}

/// The name of a version: of one that is there, or that is made for these sizes. None where the
/// computations do not allow them.
fn version<'c>(function: Op<'c>, wanted: Attribute<'c>) -> Result<Option<Attribute<'c>>, Errors> {
    let Some(text) = ir::text(wanted) else {
        return Ok(Some(wanted));
    };
    let wrong = |why: &str| vec![format!("is wanted for the sizes '{text}': {why}")];
    let sizes = Sizes::of_text(text).ok_or_else(|| wrong("these are none"))?;
    if ir::region(function, 0).first_block().is_none() {
        return Err(wrong("it has no body"));
    }
    if let Some(why) = sizes.misfit(&argument_types(function)) {
        return Err(wrong(&why));
    }
    let context = ir::context_of(function);
    let symbol = ir::attribute(function, "sym_name").and_then(ir::text);
    let base = format!("{}_{}", symbol.unwrap_or_default(), sizes.suffix());
    let name = fresh(&base, |name| ir::lookup_symbol(function, name).is_some());
    let version = region::copy_before(function, function);
    let texts = [("sym_name", &name[..]), ("sym_visibility", "private")];
    for (key, value) in texts {
        ir::set_attribute(version, key, StringAttribute::new(context, value).into());
    }
    for gone in [marks::VERSIONS.name, "llvm.emit_c_interface"] {
        ir::remove_attribute(version, gone);
    }
    marks::SIZES.set_text(version, text);
    if !specialize(version, &sizes) {
        let text =
            format!("has no version for the sizes '{text}': its computations do not allow them");
        ir::remark_at(function, &text);
        region::erase(version);
        return Ok(None);
    }
    Ok(Some(FlatSymbolRefAttribute::new(context, &name).into()))
}

/// Makes sizes known in a function. Whether its computations allow them.
fn specialize(function: Op, sizes: &Sizes) -> bool {
    let Some(block) = ir::region(function, 0).first_block() else {
        return false;
    };
    let is_inside = |op: &Op| {
        let mut around = ir::ancestors(*op).skip(1);
        around.any(|op| ir::name_of(op) == ops::mdh::COMPUTE)
    };
    let mut ops = ir::all(function);
    ops.retain(|op| *op != function && !is_inside(op));
    for (argument, sizes) in code::arguments(block).into_iter().zip(&sizes.arguments) {
        let before = argument.r#type();
        let Some(ty) = types::buffer_type(before) else {
            continue;
        };
        match (ty.kind, sizes[..].first()) {
            (BufferKind::Scalar, Some(Some(number))) => {
                let number = Scalar::from_i64(ty.element, *number);
                let number = types::attribute(ir::context_of(function), number);
                let known = region::constant(block, number, before);
                region::replace_all_uses(argument, known);
            }
            (BufferKind::Tensor | BufferKind::MemRef, _) if !ty.shape.is_empty() => {
                let extents = ty.shape.iter().zip(sizes).map(|(own, size)| own.or(*size));
                let ty = types::with_extents(before, &extents.collect::<Vec<_>>());
                set_type(argument, ty);
                keep(function, argument, before);
            }
            _ => {}
        }
    }
    let is_allowed = ops.into_iter().all(|op| settle(function, op));
    set_function_type(function);
    is_allowed
}

fn set_type(value: Val, ty: Type) {
    // SAFETY: value and type are valid; what does not take the type gets a cast.
    unsafe { mlirValueSetType(value.to_raw(), ty.to_raw()) }
}

/// Makes known what an operation says of sizes. Whether sizes refute nothing of it.
fn settle(function: Op, op: Op) -> bool {
    match ir::name_of(op) {
        ops::mdh::COMPUTE => return settle_compute(function, op),
        ops::tensor::EMPTY => settle_empty(function, op),
        ops::tensor::DIM | ops::memref::DIM => {
            let value = ir::result(op, 0).map(extents::of_value);
            if let Some(Extent::Number(number)) = value {
                let known = Builder::before(op).index(number);
                Rewriter::Direct.replace(op, &[known]);
            }
        }
        _ => {
            if let Some(value) = folded(op) {
                let known = Builder::before(op).scalar(value);
                Rewriter::Direct.replace(op, &[known]);
            }
        }
    }
    true
}

/// The value of integer arithmetic on numbers.
fn folded(op: Op) -> Option<Scalar> {
    if op.result_count() != 1 || op.region_count() > 0 || op.operand_count() == 0 {
        return None;
    }
    let operator = Operator::from_mlir(ir::name_of(op), ir::integer(op, "predicate"))?;
    let ty = types::scalar_type(ir::result(op, 0)?.r#type())?;
    let operands: Option<Vec<Scalar>> = op.operands().map(|v| number(ir::value(v))).collect();
    operator
        .apply(&operands?, ty)
        .ok()
        .filter(|_| !ty.is_float())
}

fn number(value: Val) -> Option<Scalar> {
    let constant = ir::defining_op(value).filter(|op| ir::name_of(*op) == ops::arith::CONSTANT)?;
    let number = types::scalar(ir::attribute(constant, "value")?)?;
    (!number.ty.is_float()).then_some(number)
}

/// Gives a new tensor the extents that are numbers now.
fn settle_empty(function: Op, op: Op) {
    let Some(result) = ir::result(op, 0) else {
        return;
    };
    let before = result.r#type();
    let shape = types::buffer_type(before).map_or(Vec::new(), |ty| ty.shape);
    let mut open = op.operands().map(|v| buffers::as_bound(ir::value(v)));
    let extents = shape.iter().map(|own| match own {
        Some(_) => *own,
        None => open.next().and_then(|bound| bound.known()),
    });
    let ty = types::with_extents(before, &extents.collect::<Vec<_>>());
    if ty == before {
        return;
    }
    let operands = op.operands().map(ir::value);
    let operands = operands.filter(|v| buffers::as_bound(*v).known().is_none());
    let operands: Vec<Val> = operands.collect();
    let new = Builder::before(op).op(ops::tensor::EMPTY, &operands, &[ty], &[])[0];
    Rewriter::Direct.replace(op, &[new]);
    keep(function, new, before);
}

/// Gives a computation the bounds that are numbers now, and its results the types of its destinations.
fn settle_compute(function: Op, op: Op) -> bool {
    let Some(mut parts) = draft::parts(op) else {
        return true;
    };
    let before: Vec<Type> = op.results().map(|r| ir::value(r).r#type()).collect();
    let is_changed = canonicalize::constants::fold(&mut parts);
    if !is_changed && write::result_types(&parts) == before {
        return true;
    }
    let mut new = Vec::new();
    let is_done = Draft::new(op, parts).commit_scheduled(Rewriter::Direct, |op| {
        new = draft::results(op);
        new.clone()
    });
    for (value, before) in new.into_iter().zip(before) {
        keep(function, value, before);
    }
    is_done
}

/// Operations that take a buffer whatever its sizes are.
const TAKE_ANY: [&str; 8] = [
    ops::mdh::COMPUTE,
    ops::memref::CAST,
    ops::memref::DIM,
    ops::memref::LOAD,
    ops::memref::STORE,
    ops::tensor::CAST,
    ops::tensor::DIM,
    ops::tensor::EXTRACT,
];

/// Has what a buffer of another type was given to take that still: by a cast where it has to.
fn keep<'c>(function: Op<'c>, value: Val<'c>, before: Type<'c>) {
    if value.r#type() == before {
        return;
    }
    let is_only_return = ir::find_all(function, &[ops::func::RETURN]).len() == 1;
    let is_taken = |user: &Op| match ir::name_of(*user) {
        ops::func::RETURN => is_only_return,
        name => TAKE_ANY.contains(&name),
    };
    let mut users = ir::users(value);
    users.retain(|user| !is_taken(user));
    if users.is_empty() {
        return;
    }
    let after = match ir::defining_op(value) {
        Some(op) => op.next_in_block().map(|op| ir::op(&op)),
        None => ir::region(function, 0).first_block().map(region::first),
    };
    let Some(after) = after else {
        return;
    };
    let is_tensor = types::buffer_type(before).is_some_and(|ty| ty.kind == BufferKind::Tensor);
    let name = if is_tensor {
        ops::tensor::CAST
    } else {
        ops::memref::CAST
    };
    let cast = Builder::before(after).op(name, &[value], &[before], &[])[0];
    for user in users {
        for n in (0..user.operand_count()).filter(|n| ir::operand(user, *n) == Some(value)) {
            region::set_operand(user, n, cast);
        }
    }
}

/// Gives a function the type of its arguments, and of what it returns.
fn set_function_type(function: Op) {
    let context = ir::context_of(function);
    let returned = ir::find_all(function, &[ops::func::RETURN]);
    let Some(returned) = returned.first() else {
        return;
    };
    let results: Vec<Type> = returned.operands().map(|v| ir::value(v).r#type()).collect();
    let ty = FunctionType::new(context, &argument_types(function), &results);
    let ty = TypeAttribute::new(ty.into()).into();
    ir::set_attribute(function, "function_type", ty);
}
