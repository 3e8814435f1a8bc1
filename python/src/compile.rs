//! Text to object code, while the interpreter goes on and Ctrl-C is heard.

use std::path::PathBuf;
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use mdh_compiler::host::Host;
use mdh_compiler::library::background::Work;
use mdh_compiler::library::callable::{self, Callable, Gpu, Request};
use mdh_cuda::Visitor;
use mdh_tuner::programs::tuned;

use crate::error;

/// Object code of a function: what [`crate::function::Function`] is made of, and what a cache keeps.
#[pyclass(frozen, module = "mdh._mdh")]
pub struct Code {
    pub callable: Callable,
    /// Warnings and notes.
    #[pyo3(get)]
    said: String,
}

#[pymethods]
impl Code {
    /// The parts of code that was kept.
    #[new]
    #[pyo3(signature = (interface, symbol, said, object, kernels=None))]
    fn new(
        py: Python,
        interface: &str,
        symbol: String,
        said: String,
        object: Vec<u8>,
        kernels: Option<String>,
    ) -> PyResult<Code> {
        let interface = Callable::interface_of(interface);
        let callable = Callable {
            interface: interface.map_err(|error| error::compiler(py, &error, ""))?,
            symbol,
            object,
            kernels,
        };
        Ok(Code { callable, said })
    }

    /// The function's name and its number of results, then a line for each parameter: what a call takes.
    #[getter]
    fn interface(&self) -> String {
        self.callable.interface.to_string()
    }

    /// The symbol of the code.
    #[getter]
    fn symbol(&self) -> &str {
        &self.callable.symbol
    }

    /// The PTX of the kernels that it launches; none of code for the processor, or without kernels.
    #[getter]
    fn kernels(&self) -> Option<&str> {
        self.callable.kernels.as_deref()
    }

    /// The object file.
    fn object<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.callable.object)
    }
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
    let request = Request {
        name,
        program: text.into_bytes(),
        entry,
        schedule,
        sizes: Vec::new(),
        is_tuned: tuned,
        is_deterministic: deterministic,
        is_unchecked: !checked,
        gpu: gpu.map(|(number, has_arrays)| Gpu { number, has_arrays }),
    };
    let work = Work::begin(move || callable::compile(&tuned::host()?, &request));
    let work = work.map_err(|error| error::compiler(py, &error, ""))?;
    loop {
        match py.detach(|| work.wait(PATIENCE)) {
            Some((Ok(callable), said)) => return Ok(Code { callable, said }),
            Some((Err(error), said)) => return Err(error::compiler(py, &error, &said)),
            // An interrupt leaves the work to its end: nothing waits for it.
            None => py.check_signals()?,
        }
    }
}

/// Returns what compiled code depends on beside its program, as text: the versions of mdh and LLVM, and the machine. A
/// file that an environment variable names is part of the machine (`MDH_ASM`).
#[pyfunction]
pub fn version(py: Python) -> PyResult<String> {
    let machine = Host::this();
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
    tuned::database().map_err(|error| error::compiler(py, &error, ""))
}

/// Returns what kernels depend on beside their program: a GPU's name and the capability of its chip, as text.
#[pyfunction]
pub fn gpu(py: Python, number: u32) -> PyResult<String> {
    let facts = Visitor::facts(number);
    let facts = facts.map_err(|error| error::compiler(py, &error.into(), ""))?;
    Ok(format!("{} {}", facts.name, facts.capability))
}
