//! `mdh-dispatch`: a function calls its version for the sizes that it is given, if there is one.
//!
//! ```mlir
//! func.func private @twice_8(%x: memref<8xf32>) attributes {mdh.sizes = "8"} {
//!   return
//! }
//! func.func @twice(%x: memref<?xf32>) attributes {mdh.versions = [@twice_8]} {
//!   return
//! }
//! // becomes
//! func.func private @twice_8(%x: memref<8xf32>) {
//!   return
//! }
//! func.func @twice(%x: memref<?xf32>) {
//!   %c0 = arith.constant 0 : index
//!   %n = memref.dim %x, %c0 : memref<?xf32>
//!   %c8 = arith.constant 8 : index
//!   %is = arith.cmpi eq, %n, %c8 : index
//!   scf.if %is {
//!     %own = memref.cast %x : memref<?xf32> to memref<8xf32>
//!     func.call @twice_8(%own) : (memref<8xf32>) -> ()
//!   } else {
//!     func.call @twice_any(%x) : (memref<?xf32>) -> ()
//!   }
//!   return
//! }
//! func.func private @twice_any(%x: memref<?xf32>) {
//!   return
//! }
//! ```
//!
//! All sizes that a version's types say are compared, those of results too, which are arguments by then: so
//! that nothing is taken for granted that a caller might break.

use mdh_algebra::scalar::Scalar;
use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::pass::{Options, Pass, each};
use mdh_dialect::types::{self, BufferKind};
use mdh_dialect::{marks, ops};
use melior::ir::attribute::StringAttribute;
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, Type, ValueLike};

use crate::support::builder::Builder;
use crate::support::captured::call_function;
use crate::support::names::fresh;
use crate::support::region;
use crate::support::versions::{self, Sizes, argument_types};

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-dispatch",
    description: "functions call the version for the sizes of their arguments",
    operation: ops::builtin::MODULE,
    options: &[],
    run,
};

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    each(module, ops::func::FUNC, |function| {
        if marks::VERSIONS.is_on(function) {
            let versions = versions_of(function).map_err(|why| vec![why])?;
            dispatch(function, &versions);
        }
        Ok(())
    })?;
    for function in ir::find_all(module, &[ops::func::FUNC]) {
        ir::remove_attribute(function, marks::SIZES.name);
    }
    Ok(())
}

/// The versions of a function, or what keeps it from calling them.
fn versions_of<'c>(function: Op<'c>) -> Result<Vec<Version<'c>>, String> {
    let wanted = ir::array(function, marks::VERSIONS.name).len();
    let versions = versions::list(function);
    if versions.len() < wanted {
        return Err(format!(
            "has {}, of which {} are there, with their sizes: expected functions with '{}'; run mdh-specialize",
            ir::count(wanted, "version"),
            versions.len(),
            marks::SIZES.name
        ));
    }
    let versions = versions.into_iter();
    let read = |(op, sizes): (Op<'c>, Sizes)| Version::new(function, op, &sizes);
    versions.map(read).collect()
}

fn name<'c>(function: Op<'c>) -> &'c str {
    let name = ir::attribute(function, "sym_name").and_then(ir::text);
    name.unwrap_or_default()
}

/// A version, and what must hold for it.
struct Version<'c> {
    name: String,
    types: Vec<Type<'c>>,
    /// For each argument: its extents that have to be so, or the value of a scalar.
    sizes: Vec<Vec<Option<i64>>>,
}

impl<'c> Version<'c> {
    /// Reads a version of a function, or says why it is none.
    fn new(function: Op<'c>, version: Op<'c>, sizes: &Sizes) -> Result<Version<'c>, String> {
        if function == version {
            return Err(format!(
                "names itself as its version: expected another function than '{}'",
                name(version)
            ));
        }
        let (own, types) = (argument_types(function), argument_types(version));
        let is_called = own.len() == types.len()
            && sizes.arguments.len() <= own.len()
            && results(function) == results(version)
            && own.iter().zip(&types).all(|(own, ty)| is_cast(*own, *ty));
        if !is_called {
            return Err(format!(
                "cannot call '{}' as its version: expected arguments that are the same but for sizes, and the \
                 same results, on memrefs",
                name(version)
            ));
        }
        let needed = own.iter().zip(&types).enumerate().map(|(n, (own, ty))| {
            let given = sizes.arguments.get(n).cloned().unwrap_or_default();
            match (types::buffer_type(*own), types::buffer_type(*ty)) {
                (Some(own), _) if own.kind == BufferKind::Scalar => given,
                (Some(own), Some(ty)) => {
                    let both = own.shape.iter().zip(ty.shape);
                    both.map(|(own, ty)| ty.filter(|_| own.is_none())).collect()
                }
                _ => Vec::new(),
            }
        });
        Ok(Version {
            name: name(version).to_string(),
            sizes: needed.collect(),
            types,
        })
    }

    /// Returns whether it is for these arguments.
    fn is_for(&self, builder: &mut Builder<'c>, arguments: &[Val<'c>]) -> Val<'c> {
        let mut holds: Option<Val> = None;
        for (argument, sizes) in arguments.iter().zip(&self.sizes) {
            for (axis, size) in sizes.iter().enumerate() {
                let Some(size) = size else {
                    continue;
                };
                let is = equals(builder, *argument, axis, *size);
                holds = Some(match holds {
                    Some(holds) => builder.binary(ops::arith::ANDI, holds, is),
                    None => is,
                });
            }
        }
        holds.unwrap_or_else(|| builder.boolean(true))
    }

    fn call(
        &self,
        builder: &mut Builder<'c>,
        arguments: &[Val<'c>],
        results: &[Type<'c>],
    ) -> Vec<Val<'c>> {
        let converted = arguments.iter().zip(&self.types).map(|(argument, ty)| {
            match argument.r#type() == *ty {
                true => *argument,
                false => builder.op(ops::memref::CAST, &[*argument], &[*ty], &[])[0],
            }
        });
        let converted: Vec<Val> = converted.collect();
        call_function(builder, &self.name, &converted, results)
    }
}

/// Returns whether an argument has that size, or that value.
fn equals<'c>(builder: &mut Builder<'c>, argument: Val<'c>, axis: usize, size: i64) -> Val<'c> {
    let scalar = types::scalar_type(argument.r#type());
    let (found, expected) = match scalar {
        Some(ty) => (argument, builder.scalar(Scalar::from_i64(ty, size))),
        None => (builder.dim(argument, axis), builder.index(size)),
    };
    builder.compare("eq", found, expected)
}

/// Returns whether an argument is given to one of another type as it is, or by a cast.
fn is_cast(own: Type, ty: Type) -> bool {
    let both = (types::buffer_type(own), types::buffer_type(ty));
    let (Some(before), Some(after)) = both else {
        return own == ty;
    };
    let is_memref = before.kind == BufferKind::MemRef && before.shape.len() == after.shape.len();
    own == ty || is_memref && types::with_extents(own, &after.shape) == ty
}

/// The types of what a function returns.
fn results<'c>(function: Op<'c>) -> Vec<Type<'c>> {
    let returned = ir::find_all(function, &[ops::func::RETURN]);
    let first = returned
        .first()
        .map(|op| op.operands().map(|v| ir::value(v).r#type()));
    first.map_or(Vec::new(), Iterator::collect)
}

/// Puts a function that picks one of the versions in the place of another one, which is then the one for all
/// other sizes.
fn dispatch<'c>(function: Op<'c>, versions: &[Version<'c>]) {
    let (context, own) = (ir::context_of(function), name(function).to_string());
    let any = fresh(&format!("{own}_any"), |name| {
        ir::lookup_symbol(function, name).is_some()
    });
    let types = argument_types(function);
    let body = region::with_arguments(&types, function.location());
    let block = region::block(&body);
    let arguments = mdh_dialect::code::arguments(block);
    let mut builder = Builder::before(function).at_end(block);
    let results = results(function);
    let picked = pick(&mut builder, versions, &arguments, &results, &any);
    region::end_with(block, function.location(), ops::func::RETURN, &picked);
    ir::remove_attribute(function, marks::VERSIONS.name);
    let attributes: Vec<(&str, Attribute)> = region::attributes(function);
    let mut before = Builder::before(function);
    before.build(ops::func::FUNC, &[], &[], &attributes, vec![body]);
    let texts = [("sym_name", &any[..]), ("sym_visibility", "private")];
    for (key, value) in texts {
        ir::set_attribute(function, key, StringAttribute::new(context, value).into());
    }
    ir::remove_attribute(function, "llvm.emit_c_interface");
}

/// Calls the first version that is for the arguments, else the function for any.
fn pick<'c>(
    builder: &mut Builder<'c>,
    versions: &[Version<'c>],
    arguments: &[Val<'c>],
    results: &[Type<'c>],
    any: &str,
) -> Vec<Val<'c>> {
    let Some((first, others)) = versions.split_first() else {
        return call_function(builder, any, arguments, results);
    };
    let is_it = first.is_for(builder, arguments);
    builder.if_else(
        is_it,
        results,
        |builder| first.call(builder, arguments, results),
        |builder| pick(builder, others, arguments, results, any),
    )
}
