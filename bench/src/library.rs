//! A library that takes part: loaded when it is there, run on arrays of its own.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::num::NonZeroU32;

use mdh_algebra::scalar::ScalarType;

use super::blas;
use super::dnnl;
use super::ours::{next, say};
use super::protocol::{Answer, Array, Request};
use super::shared::{read_into, write_to};
use mdh_compiler::error::{Error, Result};
use mdh_compiler::values::Tensor;

/// Description of a case for a library.
pub struct Task<'t> {
    /// The workload.
    pub workload: &'t str,
    /// Its dimensions.
    pub dims: &'t BTreeMap<String, i64>,
    /// Texts that belong to its size.
    pub texts: &'t BTreeMap<String, String>,
    /// The element type of all arrays.
    pub element: ScalarType,
    /// The addresses of the inputs, in the order of the program, as if they were of `f32`.
    pub inputs: Vec<*const f32>,
    /// The addresses of the results.
    pub outputs: Vec<*mut f32>,
}

impl Task<'_> {
    /// The size of a dimension.
    pub fn dim(&self, name: &str) -> i64 {
        self.dims.get(name).copied().unwrap_or(1)
    }
}

/// A case, ready to be run any number of times.
pub type Runs<'l> = Box<dyn FnMut() + 'l>;

/// A library.
pub trait Library {
    /// Prepares a case on arrays that outlive the result; `None` if the library has nothing for
    /// it.
    ///
    /// # Safety
    /// The addresses of the task are those of arrays as large as the workload says.
    unsafe fn prepare(&self, task: &Task) -> Option<Runs<'_>>;
}

/// Answers requests with a library, until standard input ends.
pub fn serve(who: &str) -> Result<()> {
    let library: std::result::Result<Box<dyn Library>, String> = match who {
        "openblas" => blas::open(blas::OPENBLAS).map(|l| Box::new(l) as Box<dyn Library>),
        "mkl" => blas::open(blas::MKL).map(|l| Box::new(l) as Box<dyn Library>),
        "onednn" => dnnl::open().map(|l| Box::new(l) as Box<dyn Library>),
        _ => return Err(Error::usage(format!("there is no worker '{who}'"))),
    };
    while let Some(request) = next()? {
        let library = match &library {
            Ok(library) => library.as_ref(),
            Err(why) => {
                say(&Answer::No(why.clone()))?;
                continue;
            }
        };
        match request {
            Request::Hello | Request::Drop => say(&Answer::Done {})?,
            Request::Load { .. } => case(library, &request)?,
            _ => say(&Answer::Failed("nothing is loaded".to_string()))?,
        }
    }
    Ok(())
}

/// Prepares a case and runs it on request, until it is dropped.
fn case(library: &dyn Library, request: &Request) -> Result<()> {
    let Request::Load {
        workload,
        dims,
        texts,
        inputs,
        outputs,
        ..
    } = request
    else {
        return Ok(());
    };
    let mut arrays = inputs.iter().chain(outputs);
    let first = arrays.next().map(element).transpose()?;
    let mut others = arrays.map(element).collect::<Result<Vec<_>>>()?.into_iter();
    let Some(element) = first.filter(|first| others.all(|other| other == *first)) else {
        return say(&Answer::No("not on these types".to_string()));
    };
    let mut inputs = inputs.iter().map(filled).collect::<Result<Vec<_>>>()?;
    let mut outputs = outputs.iter().map(empty).collect::<Result<Vec<_>>>()?;
    let task = Task {
        workload,
        dims,
        texts,
        element,
        inputs: inputs
            .iter_mut()
            .map(|t| t.bytes_mut().as_ptr().cast())
            .collect(),
        outputs: outputs
            .iter_mut()
            .map(|t| t.bytes_mut().as_mut_ptr().cast())
            .collect(),
    };
    // SAFETY: the arrays have the shapes that the conductor says, and live until `runs` is gone.
    let Some(mut runs) = (unsafe { library.prepare(&task) }) else {
        return say(&Answer::No("not in this library".to_string()));
    };
    say(&Answer::Done {})?;
    while let Some(request) = next()? {
        match request {
            Request::Run { calls } => {
                let calls = NonZeroU32::new(calls).unwrap_or(NonZeroU32::MIN);
                let Ok(times) = mdh_jit::steady(calls, || {
                    runs();
                    Ok::<(), Infallible>(())
                });
                let times = times.iter().map(|time| time.as_nanos() as f64);
                say(&Answer::Times(times.collect()))?;
            }
            Request::Output { files } => {
                for (file, tensor) in files.iter().zip(&outputs) {
                    write_to(file, tensor.bytes())?;
                }
                say(&Answer::Done {})?;
            }
            Request::Drop => return say(&Answer::Done {}),
            _ => say(&Answer::Failed("a case is loaded".to_string()))?,
        }
    }
    Ok(())
}

/// The element type of an array.
fn element(array: &Array) -> Result<ScalarType> {
    let mut all = ScalarType::ALL.into_iter();
    let found = all.find(|ty| ty.name() == array.dtype);
    found.ok_or_else(|| Error::bug(format!("there is no type '{}'", array.dtype)))
}

/// An input, with its numbers.
pub fn filled(array: &Array) -> Result<Tensor> {
    let mut tensor = empty(array)?;
    if let Some(file) = &array.file {
        read_into(file, tensor.bytes_mut())?;
    }
    Ok(tensor)
}

/// A result, poisoned.
fn empty(array: &Array) -> Result<Tensor> {
    let mut tensor = Tensor::zeroed(element(array)?, &array.shape)?;
    tensor.poison();
    Ok(tensor)
}
