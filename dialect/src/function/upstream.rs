//! Operations that upstream says the meaning of in simpler ones: named ones of linalg are generics,
//! affine loops are loops, arithmetic on tensors is a generic. The oracle reads what upstream's passes
//! make of a copy of the operation; the function stays as it is.

use std::collections::BTreeSet;

use melior::Context;
use melior::ir::attribute::{StringAttribute, TypeAttribute};
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationBuilder, OperationLike};
use melior::ir::r#type::FunctionType;
use melior::ir::{Block, Identifier, Location, Module, Region, RegionLike, Type, ValueLike};
use melior::pass::{self, PassManager};
use mlir_sys::*;

use super::translator::{Translator, Unknown, unknown};
use crate::code::{arguments, captured};
use crate::ir::{self, Op, Val};
use crate::ops;
use crate::types::{self, BufferKind};
use crate::upstream;
use mdh_algebra::program::Statement;

/// Operations of linalg that are read as they are.
const OWN: [&str; 5] = [
    ops::linalg::FILL,
    ops::linalg::GENERIC,
    ops::linalg::INDEX,
    ops::linalg::PACK,
    ops::linalg::UNPACK,
];

/// Returns whether upstream's passes are asked what an operation means.
pub(super) fn is_rewritten(op: Op) -> bool {
    let name = ir::name_of(op);
    let dialect = name.split('.').next().unwrap_or_default();
    match dialect {
        "linalg" => !OWN.contains(&name),
        "affine" => true,
        "arith" | "math" => {
            let is_tensor = |value: Val| {
                types::buffer_type(value.r#type()).is_some_and(|ty| ty.kind == BufferKind::Tensor)
            };
            name != ops::arith::CONSTANT && ir::result(op, 0).is_some_and(is_tensor)
        }
        _ => false,
    }
}

impl<'c> Translator<'c> {
    /// Puts the statements of what upstream makes of an operation.
    pub(super) fn rewritten(
        &mut self,
        op: Op<'c>,
        statements: &mut Vec<Statement>,
    ) -> Result<(), Unknown<'c>> {
        let here = |message: String| Unknown { op, message };
        let used = used(op);
        let copy = Copy::new(op, &used).ok_or_else(|| here(unknown()))?;
        let block = copy.block();
        for (argument, value) in arguments(block).into_iter().zip(&used) {
            let id = self.id(*value).map_err(here)?;
            self.name(argument, id);
        }
        let is_same = |inner: Op| ir::name_of(inner) == ir::name_of(op);
        if ir::ops_of(block).into_iter().any(is_same) {
            return Err(here(unknown()));
        }
        let outer = self.instead.replace(self.instead.unwrap_or(op));
        let body = self.block(block);
        self.instead = outer;
        let body = body.map_err(|inner| {
            let made = ir::name_of(inner.op);
            here(format!(
                "is '{made}' among others to the oracle, which {}",
                inner.message
            ))
        })?;
        self.copies.push(copy);
        statements.extend(body.statements);
        let results: Vec<Val<'c>> = op.results().map(ir::value).collect();
        for (result, id) in results.into_iter().zip(body.yields) {
            self.name(result, id);
        }
        Ok(())
    }
}

/// The operands of an operation, and what its regions use from outside, each once.
fn used<'c>(op: Op<'c>) -> Vec<Val<'c>> {
    let mut used: Vec<Val<'c>> = Vec::new();
    let regions = (0..op.region_count()).flat_map(|r| captured(ir::region(op, r)));
    for value in op.operands().map(ir::value).chain(regions) {
        if !used.contains(&value) {
            used.push(value);
        }
    }
    used
}

/// A function around a copy of one operation, rewritten.
pub(super) struct Copy<'c> {
    module: Module<'c>,
}

impl<'c> Copy<'c> {
    /// The copy, whose arguments are the values that the operation uses; nothing if upstream's passes
    /// fail on it.
    fn new(op: Op<'c>, used: &[Val<'c>]) -> Option<Copy<'c>> {
        let context = ir::context_of(op);
        let location = Location::unknown(context);
        let types: Vec<Type<'c>> = used.iter().map(|v| v.r#type()).collect();
        let results: Vec<Type<'c>> = op.results().map(|r| ir::value(r).r#type()).collect();
        let places: Vec<(Type<'c>, Location<'c>)> = types.iter().map(|t| (*t, location)).collect();
        let block = Block::new(&places);
        // SAFETY: the copy belongs to the block from here on; its operands are replaced below.
        let copy = unsafe {
            let raw = mlirOperationClone(op.to_raw());
            mlirBlockAppendOwnedOperation(block.to_raw(), raw);
            ir::op_from_raw(raw)
        };
        let copied: Vec<Val<'c>> = (0..used.len())
            .map(|n| block.argument(n).map(ir::value))
            .collect::<Result<_, _>>()
            .ok()?;
        for inner in ir::all(copy) {
            for n in 0..inner.operand_count() {
                let operand = ir::operand(inner, n)?;
                if let Some(at) = used.iter().position(|value| *value == operand) {
                    // SAFETY: the operand is there, and the block's argument is of its type.
                    unsafe {
                        mlirOperationSetOperand(inner.to_raw(), n as isize, copied[at].to_raw());
                    }
                }
            }
        }
        let left: Vec<Val<'c>> = copy.results().map(ir::value).collect();
        let end = OperationBuilder::new(ops::func::RETURN, location).add_operands(&left);
        block.append_operation(end.build().ok()?);
        let region = Region::new();
        region.append_block(block);
        let ty = FunctionType::new(context, &types, &results);
        let function = melior::dialect::func::func(
            context,
            StringAttribute::new(context, "copy"),
            TypeAttribute::new(ty.into()),
            region,
            &[],
            location,
        );
        let mut module = Module::new(location);
        module.body().append_operation(function);
        declare(op, &module);
        rewrite(context, &mut module).then_some(Copy { module })
    }

    /// The block of its function.
    fn block(&self) -> melior::ir::BlockRef<'c, 'c> {
        // SAFETY: the module has one function of one block, and lives as long as what is read of it.
        unsafe {
            let function = mlirBlockGetFirstOperation(self.module.body().to_raw());
            let region = mlirOperationGetRegion(function, 0);
            melior::ir::BlockRef::from_raw(mlirRegionGetFirstBlock(region))
        }
    }
}

/// Adds what an operation names to a module, so that it is verified: functions without what they do.
fn declare(op: Op, module: &Module) {
    let inside = ir::all(op).into_iter().flat_map(ir::symbols_named_by);
    let names: BTreeSet<&str> = inside.collect();
    for symbol in names
        .into_iter()
        .flat_map(|name| ir::lookup_symbol(op, name))
    {
        if ir::name_of(symbol) != ops::func::FUNC {
            // SAFETY: the copy belongs to the module from here on.
            unsafe {
                let copy = mlirOperationClone(symbol.to_raw());
                mlirBlockAppendOwnedOperation(module.body().to_raw(), copy);
            }
            continue;
        }
        let context = ir::context_of(symbol);
        let private = StringAttribute::new(context, "private").into();
        let mut parts = vec![(Identifier::new(context, "sym_visibility"), private)];
        for name in ["sym_name", "function_type"] {
            let part = ir::attribute(symbol, name).map(|a| (Identifier::new(context, name), a));
            parts.extend(part);
        }
        let declared = OperationBuilder::new(ops::func::FUNC, Location::unknown(context))
            .add_attributes(&parts)
            .add_regions([Region::new()]);
        if let Ok(declared) = declared.build() {
            module.body().append_operation(declared);
        }
    }
}

/// Runs upstream's passes; what they say is nobody's mistake.
fn rewrite(context: &Context, module: &mut Module) -> bool {
    let silence = context.attach_diagnostic_handler(|_| true);
    // SAFETY: the module lives here.
    let operations = ir::all(unsafe { ir::op_from_raw(module.as_operation().to_raw()) });
    let foreign = operations
        .into_iter()
        .filter(|op| !OWN.contains(&ir::name_of(*op)));
    foreign
        .filter(|op| upstream::DECOMPOSED.contains(&ir::name_of(*op)))
        .for_each(|op| {
            upstream::decompose(op);
        });
    let manager = PassManager::new(context);
    manager.add_pass(pass::linalg::create_convert_elementwise_to_linalg_pass());
    manager.add_pass(pass::linalg::create_linalg_generalize_named_ops_pass());
    manager.add_pass(pass::conversion::create_lower_affine());
    let ran = manager.run(module);
    context.detach_diagnostic_handler(silence);
    ran.is_ok()
}
