//! `mdh compile --emit ptx`: kernels as the assembly of NVIDIA's virtual machine, for a chip.

use mdh_dialect::ir::{self, Op};
use mdh_passes::{pipelines, vector_math};
use melior::Context;
use melior::ir::Module;
use mlir_sys::mlirGPUObjectAttrGetObject;

use crate::cli::CompileArguments;
use crate::compile;
use crate::error::{Error, Result};

/// The chip that code is for, if nothing else is said.
const CHIP: &str = "sm_90";

/// Fails for what is no name of a chip.
pub fn check_chip(arguments: &CompileArguments) -> Result<()> {
    let Some(chip) = &arguments.chip else {
        return Ok(());
    };
    let number = chip.strip_prefix("sm_").unwrap_or_default();
    let number = number.strip_suffix(['a', 'f']).unwrap_or(number);
    let is_chip = (2..=3).contains(&number.len()) && number.bytes().all(|b| b.is_ascii_digit());
    match is_chip {
        true => Ok(()),
        false => Err(Error::usage(format!(
            "found --chip '{chip}': expected a compute capability, such as sm_80, sm_90a or sm_100"
        ))),
    }
}

/// The kernels of a module whose computations have been formed.
pub fn emit(
    context: &Context,
    module: &mut Module,
    arguments: &CompileArguments,
) -> Result<Vec<u8>> {
    let steps = [
        (!arguments.no_range_checks).then_some(&pipelines::CHECKS),
        Some(&pipelines::SIMPLIFY),
        Some(&pipelines::BUFFERIZE),
        (!arguments.no_schedules).then_some(&pipelines::SCHEDULE_KERNELS),
        Some(&pipelines::PLACE),
        Some(&pipelines::TILES),
        Some(&pipelines::KERNELS),
        Some(&pipelines::VECTORS),
        Some(&pipelines::LOOPS),
        Some(&pipelines::TO_DEVICE),
    ];
    for pipeline in steps.into_iter().flatten() {
        compile::run(context, module, pipeline)?;
    }
    if ir::find_all(compile::operation(module), &["gpu.func"]).is_empty() {
        return Err(Error::input(
            "there is no kernel: no computation has a schedule of blocks and threads, and the \
             model has none for those without a schedule",
        ));
    }
    let chip = arguments.chip.as_deref().unwrap_or(CHIP);
    let target = format!("nvvm-attach-target{{chip={chip} O=3}}");
    compile::run_passes(context, module, &[&target])?;
    compile::run(context, module, &pipelines::NVVM)?;
    compile::run_passes(context, module, &["gpu-module-to-binary{format=isa}"])?;
    let binaries = ir::find_all(compile::operation(module), &["gpu.binary"]);
    let texts: Vec<String> = binaries.into_iter().flat_map(objects).collect();
    let text = texts.join("\n");
    let known: Vec<&str> = vector_math::without_calls().collect();
    match undefined(&text) {
        None => Ok(text.into_bytes()),
        Some(name) => Err(Error::input(format!(
            "a kernel calls '{name}', which is no part of it: there is no code for this function \
             on a device; expected functions of math that mdh has arithmetic for: {}",
            known.join(", ")
        ))),
    }
}

/// The texts that a binary has.
fn objects(binary: Op) -> Vec<String> {
    let text = |object: melior::ir::Attribute| {
        use melior::ir::AttributeLike;
        // SAFETY: a binary's objects have this kind, and the text lives as long as the context.
        let bytes = unsafe {
            let text = mlirGPUObjectAttrGetObject(object.to_raw());
            std::slice::from_raw_parts(text.data.cast::<u8>(), text.length)
        };
        let text = String::from_utf8_lossy(bytes);
        text.trim_end_matches('\0').to_string()
    };
    let objects = ir::array(binary, "objects");
    objects.into_iter().map(text).collect()
}

/// A function that is declared, but has no code.
fn undefined(text: &str) -> Option<&str> {
    let mut lines = text.lines().map(str::trim);
    let declared = lines.find(|line| line.starts_with(".extern .func"))?;
    // `.extern .func  (.param .b32 func_retval0) __nv_atan2f`
    let rest = declared.rsplit_once(')').map_or(declared, |(_, rest)| rest);
    rest.split_whitespace().last()
}

#[cfg(test)]
#[path = "ptx_tests.rs"]
mod tests;
