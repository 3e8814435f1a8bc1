//! `mdh-erase-memory-spaces`: memory spaces of schedules out of the types.
//!
//! ```mlir
//! func.func @f(%x: memref<8xf32>, %i: index) -> f32 {
//!   %tile = memref.alloca() : memref<8xf32, #mdh.memory<"shared", block>>
//!   %view = memref.subview %tile[4] [4] [1]
//!     : memref<8xf32, #mdh.memory<"shared", block>> to memref<4xf32, strided<[1], offset: 4>, #mdh.memory<"shared", block>>
//!   %e = memref.load %view[%i] : memref<4xf32, strided<[1], offset: 4>, #mdh.memory<"shared", block>>
//!   return %e : f32
//! }
//! // becomes
//! func.func @f(%x: memref<8xf32>, %i: index) -> f32 {
//!   %tile = memref.alloca() : memref<8xf32>
//!   %view = memref.subview %tile[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
//!   %e = memref.load %view[%i] : memref<4xf32, strided<[1], offset: 4>>
//!   return %e : f32
//! }
//! ```
//!
//! Who has memory, and where it stays, matters as long as blocks and threads are loops
//! (`mdh-map-kernels`). Then a block's memory is its launch's, each thread's is its own, and to code
//! that accesses memory of a processor all of it is one. Other memory spaces, layouts among them, stay.

use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::pass::{Options, Pass};
use mdh_dialect::space::{self, Space};
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, AttributeLike, BlockLike, RegionLike, Type, TypeLike, ValueLike};
use mlir_sys::{
    mlirAttributeIsAType, mlirFunctionTypeGet, mlirFunctionTypeGetInput,
    mlirFunctionTypeGetNumInputs, mlirFunctionTypeGetNumResults, mlirFunctionTypeGetResult,
    mlirTypeAttrGet, mlirTypeAttrGetValue, mlirTypeGetContext, mlirTypeIsAFunction,
    mlirValueSetType,
};

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-erase-memory-spaces",
    description: "memory spaces of schedules out of the types",
    operation: ops::builtin::MODULE,
    options: &[],
    run,
};

/// The attribute of a function that holds its type.
const FUNCTION: &str = "function_type";

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    for op in ir::all(module) {
        for n in 0..op.result_count() {
            ir::result(op, n).into_iter().for_each(erase);
        }
        for n in 0..op.region_count() {
            let mut block = ir::region(op, n).first_block();
            while let Some(current) = block {
                let arguments = mdh_dialect::code::arguments(current);
                arguments.into_iter().for_each(erase);
                block = current.next_in_region();
            }
        }
        let function = ir::attribute(op, FUNCTION).and_then(bare_function);
        if let Some(bare) = function {
            ir::set_attribute(op, FUNCTION, bare);
        }
    }
    Ok(())
}

fn erase(value: Val) {
    let ty = value.r#type();
    let without = bare(ty);
    if without != ty {
        // SAFETY: value and type are valid; what uses the value is changed in the same way.
        unsafe { mlirValueSetType(value.to_raw(), without.to_raw()) }
    }
}

/// A type without a memory space of the dialect.
fn bare(ty: Type) -> Type {
    match Space::new(ty) {
        Some(_) => space::within(ty, None),
        None => ty,
    }
}

/// The same of what a function takes and returns; `None` if an attribute holds no function's type.
fn bare_function(attribute: Attribute) -> Option<Attribute> {
    let raw = attribute.to_raw();
    // SAFETY: the attribute is valid, and so are all types that it holds.
    unsafe {
        if !mlirAttributeIsAType(raw) {
            return None;
        }
        let ty = mlirTypeAttrGetValue(raw);
        if !mlirTypeIsAFunction(ty) {
            return None;
        }
        let inputs = (0..mlirFunctionTypeGetNumInputs(ty)).map(|n| mlirFunctionTypeGetInput(ty, n));
        let results =
            (0..mlirFunctionTypeGetNumResults(ty)).map(|n| mlirFunctionTypeGetResult(ty, n));
        let inputs: Vec<_> = inputs.map(|t| bare(Type::from_raw(t)).to_raw()).collect();
        let results: Vec<_> = results.map(|t| bare(Type::from_raw(t)).to_raw()).collect();
        let new = mlirFunctionTypeGet(
            mlirTypeGetContext(ty),
            inputs.len() as isize,
            inputs.as_ptr(),
            results.len() as isize,
            results.as_ptr(),
        );
        Some(Attribute::from_raw(mlirTypeAttrGet(new)))
    }
}
