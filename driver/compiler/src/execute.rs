//! Machine code of a function, and calls to it on arrays.

use std::cell::RefCell;
use std::num::NonZeroU32;
use std::time::Duration;

use melior::ir::Module;
use melior::ir::operation::OperationLike;

use mdh_arrays::call::{self, Slot};
use mdh_dialect::ir::{self, Op};
use mdh_dialect::schedule;
use mdh_dialect::types::{BufferKind, BufferType};
use mdh_jit::descriptor::byte_size;
use mdh_jit::{Arguments, Jit, Level, Times, faults, measure, memory, steady};
use mdh_passes::llvm::prefix_functions;

use crate::cli::{Device, Fallback};
use crate::compile;
use crate::diagnostics::error_at;
use crate::entry::{Entry, Parameter};
use crate::error::{Error, Result};
use crate::layout::Placed;
use crate::values::Tensor;

/// Advice for code without range checks that leaves its memory.
pub const UNCHECKED: &str = "help: range checks were switched off: run it again without --no-range-checks, which says \
     what is wrong\n";

/// A function that has been compiled, with results as further arguments.
pub struct Compiled {
    jit: Jit,
    name: String,
}

/// Machines whose schedules become code.
const TARGETS: [&str; 2] = ["cpu", "cuda"];

/// The way out of a program of which nothing is for the machine that is wanted.
const FALLBACK: &str = "or --fallback cpu, if the processor is to run it";

/// Fails for a computation with a schedule for a machine for which no code is made, unless the processor may run
/// it: results would be right, but say nothing of the schedule.
pub fn expect_code(of: Op, device: Device, fallback: Option<Fallback>) -> Result<()> {
    let expected = match device {
        Device::Cpu => "'cpu' or 'cuda'",
        Device::Sim | Device::Cuda => "'cuda'",
    };
    for op in schedule::computations(of) {
        let plan = schedule::read(op).ok().flatten();
        let asm = plan.and_then(|plan| schedule::machine_of(&plan));
        let asm = asm.filter(|asm| fallback.is_none() && !TARGETS.contains(&asm.as_str()));
        if let Some(asm) = asm {
            let message = format!(
                "the computation has a schedule for '{asm}', for which no code is made: expected a schedule for \
                 {expected}, {FALLBACK}"
            );
            return Err(error_at(op.location(), &message));
        }
    }
    Ok(())
}

/// Fails for a function of which a GPU would compute nothing, unless the processor may do it: results would be
/// right, but say nothing of the device. `lowered` is its module with kernels.
pub fn expect_kernels(lowered: Op, entry: &Entry, fallback: Option<Fallback>) -> Result<()> {
    if fallback.is_some() {
        return Ok(());
    }
    match ir::find_all(lowered, &["gpu.launch", "gpu.launch_func"]).is_empty() {
        false => Ok(()),
        true => {
            let message = format!(
                "nothing of '{}' is computed by kernels: expected a computation without a schedule \
                 or with one for 'cuda', {FALLBACK}",
                entry.name
            );
            Err(error_at(entry.op.location(), &message))
        }
    }
}

impl Compiled {
    /// Compiles a module in the llvm dialect, whose function `name` has a C interface.
    pub fn load(module: &Module, name: &str, level: Level) -> Result<Compiled> {
        let name = format!("{}{name}", prefix_functions::PREFIX);
        let mut llvm = compile::to_llvm(module)?;
        llvm.add_entry(&name)?;
        let jit = llvm.optimise(level)?.load()?;
        Ok(Compiled { jit, name })
    }

    /// Calls the function `repeat` times: each time from fresh destinations and poisoned results,
    /// outside the time that is measured.
    pub fn call(&self, call: &mut Call, repeat: NonZeroU32) -> Result<Times> {
        let function = self.jit.function(&self.name)?;
        let passed = RefCell::new(Arguments::new());
        let times = measure(
            repeat,
            || {
                call.restore();
                *passed.borrow_mut() = call.pass();
                Ok(())
            },
            || {
                // SAFETY: the arguments are those of the compiled function's signature, each
                // array as large as its type or the computed shape says.
                faults::running(|| unsafe { function.call_with(&mut passed.borrow_mut()) })
            },
        );
        let times = times.map_err(|error: mdh_jit::Error| Error::from(error))?;
        call.take(&passed.borrow());
        Ok(times)
    }

    /// The time of each of `calls` calls, one right after the other on the same arrays: nothing is
    /// poisoned in between, so that caches and threads are as the call before left them.
    pub fn time(&self, call: &mut Call, calls: NonZeroU32) -> Result<Vec<Duration>> {
        let function = self.jit.function(&self.name)?;
        call.restore();
        let mut passed = call.pass();
        let times = steady(calls, || {
            // SAFETY: as in `call`.
            faults::running(|| unsafe { function.call_with(&mut passed) })
        });
        let times = times.map_err(|error: mdh_jit::Error| Error::from(error))?;
        call.take(&passed);
        Ok(times)
    }
}

/// The arrays of a call.
pub struct Call {
    /// One for each argument.
    pub arguments: Vec<Tensor>,
    /// One for each result.
    pub results: Vec<Tensor>,
    kinds: Kinds,
    /// Contents before a call of the arguments that it may change.
    initial: Vec<Option<Tensor>>,
    /// Arguments, then results, whose memory has another layout.
    placed: Vec<Option<Placed>>,
}

struct Kinds {
    arguments: Vec<BufferKind>,
    results: Vec<BufferKind>,
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
            .map(|(ty, shape)| Tensor::zeroed(ty.element, shape))
            .collect::<mdh_arrays::Result<Vec<_>>>()?;
        let initial = entry.arguments.iter().zip(&arguments);
        let initial = initial.map(|(parameter, tensor)| {
            parameter
                .is_changed()
                .then(|| tensor.try_clone())
                .transpose()
        });
        let parameters = entry.arguments.iter().chain(&entry.results);
        let placed = parameters.zip(arguments.iter().chain(&results));
        let placed = placed.map(|(parameter, tensor)| match &parameter.layout {
            Some(layout) => Placed::new(&parameter.name, layout, tensor),
            None => Ok(None),
        });
        let kinds = |parameters: &[Parameter]| parameters.iter().map(|p| p.ty.kind).collect();
        Ok(Call {
            initial: initial.collect::<mdh_arrays::Result<_>>()?,
            placed: placed.collect::<Result<_>>()?,
            kinds: Kinds {
                arguments: kinds(&entry.arguments),
                results: kinds(&entry.results),
            },
            arguments,
            results,
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
        for (tensor, placed) in self.arrays() {
            if let Some(placed) = placed {
                placed.fill(tensor);
            }
        }
    }

    /// Every array, with its memory if that has another layout.
    fn arrays(&mut self) -> impl Iterator<Item = (&mut Tensor, &mut Option<Placed>)> {
        let tensors = self.arguments.iter_mut().chain(&mut self.results);
        tensors.zip(&mut self.placed)
    }

    /// The arguments and the results, as a compiled function takes them.
    fn slots(&mut self) -> (Vec<Slot<'_>>, Vec<Slot<'_>>) {
        let results_from = self.arguments.len();
        let kinds = [&self.kinds.arguments[..], &self.kinds.results].concat();
        let slots = self.arrays().zip(kinds);
        let mut arguments: Vec<Slot> = slots
            .map(|((tensor, placed), kind)| match (kind, placed) {
                (BufferKind::Scalar, _) => Slot::Scalar(tensor),
                (_, Some(placed)) => Slot::Memory(placed.descriptor(tensor.shape())),
                (_, None) => Slot::Memory(tensor.descriptor()),
            })
            .collect();
        let results = arguments.split_off(results_from);
        (arguments, results)
    }

    fn pass(&mut self) -> Arguments {
        let (arguments, results) = self.slots();
        call::pass(&arguments, &results)
    }

    /// Takes what a call left elsewhere: scalar results, arrays in other layouts.
    fn take(&mut self, passed: &Arguments) {
        let (_, mut results) = self.slots();
        call::take(passed, &mut results);
        for (tensor, placed) in self.arrays() {
            if let Some(placed) = placed {
                placed.take(tensor);
            }
        }
    }

    /// Returns whether nothing was written beyond the ends of the arrays.
    pub fn check_bounds(&mut self) -> Result<()> {
        for (tensor, placed) in self.arrays() {
            let is_intact = match placed {
                Some(placed) => placed.is_intact(tensor)?,
                None => true,
            };
            if !is_intact || !tensor.is_intact() {
                let what = "compiled code wrote beyond the end of an array";
                return Err(match faults::trusted() {
                    Some(help) => {
                        let help = help.trim_start_matches("help: ").trim_end();
                        Error::input(what).help(help)
                    }
                    None => Error::bug(what),
                });
            }
        }
        Ok(())
    }
}
