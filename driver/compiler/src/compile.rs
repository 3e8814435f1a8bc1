//! The stages of a compilation, from a parsed module to machine code.

use std::collections::BTreeSet;

use melior::Context;
use melior::ir::attribute::StringAttribute;
use melior::ir::{Attribute, Module};
use melior::pass::PassManager;
use melior::utility::parse_pass_pipeline;
use mlir_sys::{
    MlirOperation, mlirModuleFromOperation, mlirOperationClone, mlirOperationRemoveAttributeByName,
    mlirOperationSetAttributeByName, mlirTranslateModuleToLLVMIR,
};

use mdh_dialect::ffi::string_ref;
use mdh_dialect::ir::{self, Op};
use mdh_jit as runtime;
use mdh_passes::pipelines::{Line, LineOptions, Pipeline, RAISE, Raise, Target};
use mdh_passes::support::machine;
use mdh_passes::support::region;
use mdh_schedule::asm::Asm;

use crate::error::{Error, Result};
use crate::functions::symbol_name;
use crate::{progress, raise as linalg, remarks};

/// The module's operation, for as long as the module lives.
pub fn operation<'c>(module: &Module<'c>) -> Op<'c> {
    // SAFETY: only the lifetime is widened, as `ir::Op` explains; callers keep the module.
    unsafe { ir::op_from_raw(module.as_operation().to_raw()) }
}

/// A copy of a module.
pub fn copy<'c>(module: &Module<'c>) -> Module<'c> {
    // SAFETY: the clone of a module is a module, and ours.
    unsafe {
        let clone: MlirOperation = mlirOperationClone(module.as_operation().to_raw());
        Module::from_raw(mlirModuleFromOperation(clone))
    }
}

/// Runs a pipeline, whose passes that go by the machine are told of it, and verifies after each pass. What went wrong
/// has been shown as diagnostics.
pub fn run(asm: &Asm, context: &Context, module: &mut Module, pipeline: &Pipeline) -> Result<()> {
    let passes = told(asm, pipeline);
    let passes: Vec<&str> = passes.iter().map(String::as_str).collect();
    run_as(context, module, pipeline, &passes)
}

/// The passes of a pipeline, told of a machine.
pub fn told(asm: &Asm, pipeline: &Pipeline) -> Vec<String> {
    pipeline.passes_for(|pass| machine::told(pass, asm))
}

/// Runs pipelines in order, as [`run`] does each.
pub fn run_all(
    asm: &Asm,
    context: &Context,
    module: &mut Module,
    pipelines: &[&Pipeline],
) -> Result<()> {
    let mut pipelines = pipelines.iter();
    pipelines.try_for_each(|pipeline| run(asm, context, module, pipeline))
}

/// Runs a pipeline whose passes do not depend on the machine.
pub fn run_portable(context: &Context, module: &mut Module, pipeline: &Pipeline) -> Result<()> {
    run_as(context, module, pipeline, pipeline.passes)
}

/// Runs a pipeline's passes, which have their options.
fn run_as(
    context: &Context,
    module: &mut Module,
    pipeline: &Pipeline,
    passes: &[&str],
) -> Result<()> {
    for pass in passes {
        progress::part(&format!("{}, {}", pipeline.name, remarks::name(pass)));
        if pipeline.name == RAISE.name {
            linalg::run(context, || run_pass(context, module, pass))?;
        } else {
            remarks::of_pass(context, pass, || run_pass(context, module, pass))?;
        }
    }
    Ok(())
}

/// The line of a target for a program that is run.
pub fn line(target: Target) -> Line {
    let options = LineOptions::RUN;
    Line { target, options }
}

/// Forms the computations of a program, and raises linalg to such: the first stages of every target.
pub fn form(context: &Context, module: &mut Module) -> Result<()> {
    form_written(context, module)?;
    raise(context, module, Raise::On)
}

/// Raises what is written in linalg, in a program whose computations are formed.
pub fn raise(context: &Context, module: &mut Module, linalg: Raise) -> Result<()> {
    let options = LineOptions {
        raise: linalg,
        ..LineOptions::RUN
    };
    let target = Target::Cpu;
    let raised = Line { target, options }.between(FORMED, RAISED);
    let mut raised = raised.into_iter();
    raised.try_for_each(|pipeline| run_portable(context, module, pipeline))
}

/// Forms computations only: linalg is left as it is written.
pub fn form_written(context: &Context, module: &mut Module) -> Result<()> {
    let mut leading = line(Target::Cpu)
        .to(FORMED)
        .map_err(Error::bug)?
        .into_iter();
    leading.try_for_each(|pipeline| run_portable(context, module, pipeline))
}

/// The stage in which computations are formed, and linalg is as it is written.
const FORMED: &str = "formed";

/// The stage from which all lowering goes on: every computation is one operation.
pub const RAISED: &str = "raised";

/// Runs passes and verifies after each. What went wrong has been shown as diagnostics.
pub fn run_passes(context: &Context, module: &mut Module, passes: &[&str]) -> Result<()> {
    for pass in passes {
        progress::part(remarks::name(pass));
        remarks::of_pass(context, pass, || run_pass(context, module, pass))?;
    }
    Ok(())
}

/// Runs one pass, so that its remarks and its time are known to be its own, and verifies.
fn run_pass(context: &Context, module: &mut Module, pass: &str) -> Result<()> {
    let manager = PassManager::new(context);
    manager.enable_verifier(true);
    let text = format!("builtin.module({pass})");
    parse_pass_pipeline(manager.as_operation_pass_manager(), &text)
        .map_err(|error| Error::bug(format!("the pipeline {text} is wrong: {error}")))?;
    manager.run(module).map_err(|_| Error::diagnosed())
}

/// Removes everything that a function does not need: mistakes and slow code elsewhere do not
/// matter. The module need not have been verified.
pub fn keep_only(context: &Context, module: &Module, function: &str) {
    use melior::ir::AttributeLike;
    let private: Attribute = StringAttribute::new(context, "private").into();
    let visibility = string_ref("sym_visibility");
    let ops = ir::only_block(ir::region(operation(module), 0)).map_or(Vec::new(), ir::ops_of);
    let reached = reached(&ops, function);
    for op in ops {
        let name = ir::attribute(op, "sym_name").and_then(ir::text);
        match (name, ir::name_of(op)) {
            // SAFETY: the operation is in the module.
            (Some(name), "func.func") if name == function => unsafe {
                mlirOperationRemoveAttributeByName(op.to_raw(), visibility);
            },
            // SAFETY: the same.
            (Some(name), "func.func") if reached.contains(name) => unsafe {
                mlirOperationSetAttributeByName(op.to_raw(), visibility, private.to_raw());
            },
            (Some(name), _) if reached.contains(name) => {}
            (Some(_), _) | (None, "builtin.module") => region::erase(op),
            (None, _) => {}
        }
    }
}

/// The names of a function, of what it refers to, of what that refers to, and so on.
fn reached<'n>(ops: &[Op<'n>], function: &'n str) -> BTreeSet<&'n str> {
    let (mut reached, mut open) = (BTreeSet::from([function]), vec![function]);
    while let Some(name) = open.pop() {
        let is_it = |op: &&Op| ir::attribute(**op, "sym_name").and_then(ir::text) == Some(name);
        let inside = ops.iter().filter(is_it).flat_map(|op| ir::all(*op));
        for symbol in inside.flat_map(ir::symbols_named_by) {
            if reached.insert(symbol) {
                open.push(symbol);
            }
        }
    }
    reached
}

/// Gives a function a C interface, which is how it is called from outside.
pub fn expose(context: &Context, module: &Module, function: &str) {
    for op in named(module, function) {
        expose_function(context, op);
    }
}

/// Gives a function of any module a C interface.
pub fn expose_function(context: &Context, function: Op) {
    ir::set_attribute(function, "llvm.emit_c_interface", Attribute::unit(context));
}

/// The functions of a name.
pub fn named<'c>(module: &Module<'c>, name: &str) -> impl Iterator<Item = Op<'c>> {
    let functions = ir::find_all(operation(module), &["func.func"]).into_iter();
    functions.filter(move |op| symbol_name(*op) == name)
}

/// Fails for operations that no pass knows: a program may have any that MLIR has.
fn check_lowered(module: &Module) -> Result<()> {
    let known = ["llvm.", "builtin."];
    let is_known = |op: &Op| {
        known
            .iter()
            .any(|dialect| ir::name_of(*op).starts_with(dialect))
    };
    let mut left = ir::all(operation(module));
    left.retain(|op| !is_known(op));
    for op in &left {
        ir::error_at(
            *op,
            "is left where machine code is expected: mdh has no lowering for it; write what it \
             does as a computation, or with linalg, scf, memref, arith or math",
        );
    }
    match left.is_empty() {
        true => Ok(()),
        false => Err(Error::diagnosed()),
    }
}

/// A module in the llvm dialect as LLVM IR.
pub fn to_llvm(module: &Module) -> Result<runtime::Module> {
    check_lowered(module)?;
    let llvm = translate(operation(module))?;
    // What is left is LLVM's work.
    progress::part(&format!(
        "LLVM, {}",
        ir::count(llvm.functions().len(), "function")
    ));
    Ok(llvm)
}

/// The LLVM IR of a module operation whose operations have a translation.
pub fn translate(module: Op) -> Result<runtime::Module> {
    // SAFETY: the translation's module is new and in the context that it is given.
    let translated = unsafe {
        runtime::Module::translate(|context| {
            mlirTranslateModuleToLLVMIR(module.to_raw(), context.cast()).cast()
        })
    };
    Ok(translated?)
}

#[cfg(test)]
mod tests {
    use mdh_passes::pipelines::{DEBUG, EXACT, NVVM, SPECIALIZE};

    use super::*;

    #[test]
    fn portable_pipelines_do_not_go_by_the_machine() {
        let asm = Asm::cpu(&mdh_schedule::asm::CpuFacts::default());
        let leading = line(Target::Cpu).to(RAISED).unwrap();
        for pipeline in leading
            .into_iter()
            .chain([&DEBUG, &EXACT, &NVVM, &SPECIALIZE])
        {
            assert_eq!(told(&asm, pipeline), pipeline.passes, "{}", pipeline.name);
        }
    }
}
