//! Machine code of a function, and calls to it on arrays.

use std::cell::RefCell;
use std::num::NonZeroU32;

use melior::Context;
use melior::ir::Module;

use mdh_dialect::types::{BufferKind, BufferType};
use mdh_passes::pipelines::{self, Pipeline};
use mdh_runtime::descriptor::byte_size;
use mdh_runtime::{Arguments, Jit, Level, Times, faults, measure, memory};

use crate::compile;
use crate::entry::{Entry, Role};
use crate::error::{Error, Result};
use crate::plan::RangeChecks;
use crate::values::Tensor;

/// A function that has been compiled, with results as further arguments.
pub struct Compiled {
    jit: Jit,
    name: String,
}

/// From computations to the llvm dialect: what remains after [`pipelines::FORM`].
pub fn to_llvm(ranges: RangeChecks) -> Vec<&'static Pipeline> {
    let checks = (ranges == RangeChecks::On).then_some(&pipelines::CHECKS);
    let lowering = [
        &pipelines::SIMPLIFY,
        &pipelines::BUFFERIZE,
        &pipelines::LOOPS,
        &pipelines::LLVM,
    ];
    checks.into_iter().chain(lowering).collect()
}

impl Compiled {
    /// Compiles a module in the llvm dialect whose function `name` has a C interface.
    pub fn load(module: &Module, name: &str, level: Level) -> Result<Compiled> {
        let mut llvm = compile::to_llvm(module)?;
        llvm.add_entry(name)?;
        Ok(Compiled {
            jit: llvm.optimise(level)?.load()?,
            name: name.to_string(),
        })
    }

    /// Calls the function `repeat` times: each time from fresh destinations and poisoned results,
    /// outside the time that is measured.
    pub fn call(&self, call: &mut Call, repeat: NonZeroU32) -> Result<Times> {
        let function = self.jit.function(&self.name)?;
        let call = RefCell::new(call);
        measure(
            repeat,
            || {
                call.borrow_mut().restore();
                Ok(())
            },
            || {
                let mut arguments = call.borrow_mut().pass();
                // SAFETY: the arguments are those of the compiled function's signature, each
                // array as large as its type or the computed shape says.
                faults::running(|| unsafe { function.call_with(&mut arguments) })?;
                Ok(())
            },
        )
    }
}

/// The arrays of a call.
pub struct Call {
    /// One for each argument.
    pub arguments: Vec<Tensor>,
    /// One for each result.
    pub results: Vec<Tensor>,
    kinds: Vec<BufferKind>,
    /// What the arguments that a call may change are before it.
    initial: Vec<Option<Tensor>>,
}

impl Call {
    /// Prepares results of the given shapes. Says so before anything starts if memory is short.
    pub fn new(entry: &Entry, arguments: Vec<Tensor>, shapes: &[Vec<i64>]) -> Result<Call> {
        let types: Vec<&BufferType> = entry.results.iter().map(|r| &r.ty).collect();
        let mut bytes = 0u64;
        for (ty, shape) in types.iter().zip(shapes) {
            bytes = bytes.saturating_add(byte_size(shape, ty.element.byte_width())? as u64);
        }
        memory::require(bytes)?;
        let results = types
            .iter()
            .zip(shapes)
            .map(|(ty, shape)| Tensor::zeroed(ty.element, shape));
        let initial = entry
            .arguments
            .iter()
            .zip(&arguments)
            .map(|(parameter, tensor)| {
                let is_changed = parameter.role == Role::Destination;
                is_changed.then(|| tensor.try_clone()).transpose()
            });
        Ok(Call {
            results: results.collect::<Result<_>>()?,
            kinds: entry.arguments.iter().map(|a| a.ty.kind).collect(),
            initial: initial.collect::<Result<_>>()?,
            arguments,
        })
    }

    /// An argument as it was before any call.
    pub fn initial(&self, argument: usize) -> &Tensor {
        self.initial[argument]
            .as_ref()
            .unwrap_or(&self.arguments[argument])
    }

    fn restore(&mut self) {
        for (tensor, initial) in self.arguments.iter_mut().zip(&self.initial) {
            if let Some(initial) = initial {
                tensor.bytes_mut().copy_from_slice(initial.bytes());
            }
        }
        self.results.iter_mut().for_each(Tensor::poison);
    }

    fn pass(&mut self) -> Arguments {
        let mut passed = Arguments::new();
        for (tensor, kind) in self.arguments.iter_mut().zip(&self.kinds) {
            match kind {
                BufferKind::Scalar => passed.scalar(tensor.get(0).bits),
                BufferKind::Tensor | BufferKind::MemRef => passed.memref(tensor.descriptor()),
            };
        }
        for tensor in &mut self.results {
            passed.memref(tensor.descriptor());
        }
        passed
    }

    /// Whether nothing was written beyond the ends of the arrays.
    pub fn check_bounds(&self) -> Result<()> {
        match self
            .arguments
            .iter()
            .chain(&self.results)
            .all(Tensor::is_intact)
        {
            true => Ok(()),
            false => Err(Error::bug("compiled code wrote beyond the end of an array")),
        }
    }
}

/// Runs pipelines on a module.
pub fn lower(context: &Context, module: &mut Module, pipelines: &[&Pipeline]) -> Result<()> {
    pipelines
        .iter()
        .try_for_each(|pipeline| compile::run(context, module, pipeline))
}
