//! `mdh compile --emit ptx`: kernels as the assembly of NVIDIA's virtual machine, for a chip.

use mdh_cuda::Capability;
use mdh_dialect::ir::{self, Op};
use mdh_passes::pipelines::{self, Line, Target};
use mdh_passes::vector::expand_vector_math;
use mdh_schedule::asm::Asm;
use melior::Context;
use melior::ir::Module;

use crate::cli::CompileArguments;
use crate::error::{Error, Result};
use crate::{compile, progress};

/// The kernels of a module whose computations have been formed.
pub fn emit(
    asm: &Asm,
    context: &Context,
    module: &mut Module,
    arguments: &CompileArguments,
) -> Result<Vec<u8>> {
    let line = Line {
        target: Target::Cuda,
        options: arguments.line_options(),
    };
    compile::run_all(
        asm,
        context,
        module,
        &line.between(compile::RAISED, "device"),
    )?;
    match kernels_of(context, module, arguments.kernel_chip()?)? {
        Some(text) => Ok(text.into_bytes()),
        None => Err(Error::input(
            "there is no kernel: no computation has a schedule of blocks and threads, and the \
             model has none for those without a schedule",
        )),
    }
}

/// The PTX of the kernels that a module launches, which stays as it is; `None` if there are none.
pub fn kernels_of(context: &Context, module: &Module, chip: Capability) -> Result<Option<String>> {
    let mut module = compile::copy(module);
    if ir::find_all(compile::operation(&module), &["gpu.func"]).is_empty() {
        return Ok(None);
    }
    check_chip(compile::operation(&module), chip)?;
    compile::run_portable(context, &mut module, &pipelines::NVVM)?;
    let modules = ir::find_all(compile::operation(&module), &["gpu.module"]);
    let count = modules.len();
    let texts = modules.into_iter().enumerate().map(|(i, op)| {
        progress::part(&format!("PTX, module {} of {count}", i + 1));
        Ok(compile::translate(op)?.into_ptx(&chip.to_string())?)
    });
    let text = texts.collect::<Result<Vec<String>>>()?.join("\n");
    let known: Vec<&str> = expand_vector_math::without_calls().collect();
    match undefined(&text) {
        None => Ok(Some(text)),
        Some(name) => Err(Error::input(format!(
            "a kernel calls '{name}', which is no part of it: there is no code for this function \
             on a device; expected functions of math that mdh has arithmetic for: {}",
            known.join(", ")
        ))),
    }
}

/// Returns whether a chip has what kernels need: products of matrices, and asynchronous copies.
fn check_chip(module: Op, chip: Capability) -> Result<()> {
    const FIRST: Capability = Capability {
        major: 8,
        minor: 0,
        is_exact: false,
    };
    let is_later = |op: &Op| {
        let shape = ir::attribute(*op, "shape").map(|shape| shape.to_string());
        shape.as_deref() == Some("#nvvm.shape<m = 16, n = 8, k = 16>")
    };
    let products = ir::find_all(module, &["nvvm.mma.sync"]);
    let waits = ir::find_all(
        module,
        &["nvgpu.device_async_wait", "nvvm.cp.async.wait.group"],
    );
    let needed = [
        (
            products.iter().any(is_later),
            "products of matrices (mma.sync.m16n8k16)",
        ),
        (!waits.is_empty(), "asynchronous copies (cp.async)"),
    ];
    let missing = needed
        .into_iter()
        .find(|(is_needed, _)| *is_needed && !FIRST.runs_on(chip));
    match missing {
        None => Ok(()),
        Some((_, what)) => Err(Error::input(format!(
            "a kernel has {what}, which {chip} has not: expected {FIRST} or later"
        ))),
    }
}

/// A function that is declared, but has no code.
pub fn undefined(text: &str) -> Option<&str> {
    let mut lines = text.lines().map(str::trim);
    let declared = lines.find(|line| line.starts_with(".extern .func"))?;
    // `.extern .func  (.param .b32 func_retval0) __nv_atan2f`
    let rest = declared.rsplit_once(')').map_or(declared, |(_, rest)| rest);
    rest.split_whitespace().last()
}
