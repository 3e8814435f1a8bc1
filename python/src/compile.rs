//! Text to object code: on a thread of its own, so that the interpreter goes on and Ctrl-C is heard.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use mdh_compiler::error::{self as failures, Error};
use mdh_compiler::host::Host;
use mdh_compiler::library::callable::{self, Callable, Gpu, Request};
use mdh_compiler::source::Source;
use mdh_cuda::Visitor;
use mdh_driver::commands::STACK_BYTES;

use crate::error;

/// Object code of a function: what [`crate::function::Function`] is made of, and what a cache keeps.
#[pyclass(frozen, module = "mdh._mdh")]
pub struct Code {
    /// The function's name and its number of results, then a line for each parameter: what a call takes.
    #[pyo3(get)]
    pub interface: String,
    /// The symbol of the code.
    #[pyo3(get)]
    pub symbol: String,
    /// Warnings and notes.
    #[pyo3(get)]
    said: String,
    /// The PTX of the kernels that it launches; none of code for the processor, or without kernels.
    #[pyo3(get)]
    pub kernels: Option<String>,
    pub object: Vec<u8>,
}

#[pymethods]
impl Code {
    /// The parts of code that was kept.
    #[new]
    #[pyo3(signature = (interface, symbol, said, object, kernels=None))]
    fn new(
        interface: String,
        symbol: String,
        said: String,
        object: Vec<u8>,
        kernels: Option<String>,
    ) -> Code {
        Code {
            interface,
            symbol,
            said,
            kernels,
            object,
        }
    }

    /// The object file.
    fn object<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.object)
    }
}

/// The arguments of `compile`, for a thread.
struct Wanted {
    text: String,
    name: String,
    entry: Option<String>,
    schedule: Option<String>,
    is_tuned: bool,
    is_deterministic: bool,
    is_unchecked: bool,
    /// The number of the GPU that computes, and whether arrays are in its memory.
    gpu: Option<(u32, bool)>,
}

/// The compiler tells of one program at a time.
static COMPILING: Mutex<()> = Mutex::new(());

/// The process whose threads compile, and how many of them do: a child that is forked meanwhile has what they have
/// locked, and not them. Forks are made by Python, which holds the interpreter's lock, as who begins to compile does.
static PROCESS: AtomicU32 = AtomicU32::new(0);
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// Counts a thread that begins to compile; false in a child that cannot, since it was forked while one did.
fn begin() -> bool {
    let (process, before) = (std::process::id(), PROCESS.load(Ordering::SeqCst));
    if before != process {
        if before != 0 && THREADS.load(Ordering::SeqCst) > 0 {
            return false;
        }
        PROCESS.store(process, Ordering::SeqCst);
    }
    THREADS.fetch_add(1, Ordering::SeqCst);
    true
}

/// Counts a thread that has compiled.
fn end() {
    THREADS.fetch_sub(1, Ordering::SeqCst);
}

/// Time after which a thread that waits looks for Ctrl-C.
const PATIENCE: Duration = Duration::from_millis(20);

/// Compiles a function of a program in MLIR for this machine's processor, or for a GPU (its number, and whether arrays are
/// in its memory); `name` stands for the program in messages.
#[pyfunction]
#[pyo3(signature = (text, name, entry=None, schedule=None, tuned=true, deterministic=false, checked=true, gpu=None))]
#[expect(
    clippy::too_many_arguments,
    reason = "they are the keywords of a function of Python's"
)]
pub fn compile(
    py: Python,
    text: String,
    name: String,
    entry: Option<String>,
    schedule: Option<String>,
    tuned: bool,
    deterministic: bool,
    checked: bool,
    gpu: Option<(u32, bool)>,
) -> PyResult<Code> {
    let wanted = Wanted {
        text,
        name,
        entry,
        schedule,
        is_tuned: tuned,
        is_deterministic: deterministic,
        is_unchecked: !checked,
        gpu,
    };
    let (sender, receiver) = mpsc::sync_channel(1);
    let thread = thread::Builder::new()
        .name("mdh-compile".to_string())
        .stack_size(STACK_BYTES);
    let work = move || {
        let compiled = compile_here(&wanted);
        end();
        let _ = sender.send(compiled);
    };
    if !begin() {
        let message = "found a process that was forked while another thread compiled a program, expected one that was \
                       forked while none did, or started by 'spawn': it has that thread's locks";
        return Err(error::program(py, message));
    }
    if thread.spawn(work).is_err() {
        end();
        let error = Error::no_memory(STACK_BYTES);
        return Err(error::compiler(py, &error, ""));
    }
    // `Receiver` is for one thread, which this is.
    let receiver = AssertUnwindSafe(Mutex::new(receiver));
    loop {
        let answer = py.detach(|| {
            let receiver = receiver.lock().unwrap_or_else(PoisonError::into_inner);
            receiver.recv_timeout(PATIENCE)
        });
        match answer {
            Ok((Ok(callable), said)) => return Ok(code(callable, said)),
            Ok((Err(error), said)) => return Err(error::compiler(py, &error, &said)),
            // An interrupt leaves the thread to its end: nothing waits for it.
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                let error = Error::bug("the compiler's thread has ended without an answer");
                return Err(error::compiler(py, &error, ""));
            }
        }
    }
}

fn code(callable: Callable, said: String) -> Code {
    Code {
        interface: callable.interface.to_string(),
        symbol: callable.symbol,
        said,
        kernels: callable.kernels,
        object: callable.object,
    }
}

/// Compiles, and returns what was said of it.
fn compile_here(wanted: &Wanted) -> (Result<Callable, Error>, String) {
    let _alone = COMPILING.lock().unwrap_or_else(PoisonError::into_inner);
    failures::collected(|| {
        let compiled = catch_unwind(AssertUnwindSafe(|| {
            let host = Host::with_tuned(&mdh_tuner::programs::tuned::FIND)?;
            let source = Source::from_user(&wanted.name, &wanted.text)?;
            let schedule = wanted.schedule.as_ref();
            let schedule = schedule.map(|text| Source::from_text("schedule", text));
            let gpu = wanted.gpu.map(|(number, has_arrays)| {
                let facts = Visitor::facts(number)?;
                Ok::<Gpu, Error>(Gpu {
                    name: facts.name,
                    chip: facts.capability,
                    has_arrays,
                })
            });
            let request = Request {
                gpu: gpu.transpose()?,
                entry: wanted.entry.as_deref(),
                schedule: schedule.as_ref(),
                is_tuned: wanted.is_tuned,
                is_deterministic: wanted.is_deterministic,
                is_unchecked: wanted.is_unchecked,
            };
            callable::compile(&host, &source, &request)
        }));
        compiled.unwrap_or_else(|panic| Err(Error::bug(failures::payload_text(&*panic))))
    })
}

/// Returns what compiled code depends on beside its program, as text: the versions of mdh and LLVM, and the machine. A
/// file that an environment variable names is part of the machine (`MDH_ASM`).
#[pyfunction]
pub fn version(py: Python) -> PyResult<String> {
    let machine = mdh_compiler::host::Host::this();
    let machine = machine.map_err(|error| error::compiler(py, &error, ""))?;
    Ok(format!(
        "mdh {} LLVM {}\n{}\n{}",
        env!("CARGO_PKG_VERSION"),
        mdh_jit::version(),
        mdh_jit::host(),
        machine.machine.to_json(),
    ))
}

/// Returns the path of the database of schedules that `mdh tune` keeps, which need not be there.
#[pyfunction]
pub fn database(py: Python) -> PyResult<PathBuf> {
    mdh_tuner::programs::tuned::database().map_err(|error| error::compiler(py, &error, ""))
}

/// Returns what kernels depend on beside their program: a GPU's name and the capability of its chip, as text.
#[pyfunction]
pub fn gpu(py: Python, number: u32) -> PyResult<String> {
    let facts = Visitor::facts(number);
    let facts = facts.map_err(|error| error::compiler(py, &error.into(), ""))?;
    Ok(format!("{} {}", facts.name, facts.capability))
}
