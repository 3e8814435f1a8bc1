//! `mdh._mdh`: what the Python package has of Rust.
//!
//! Owns the way between Python's objects and compiled code: arrays as words, results as arrays, failures as exceptions.
//! It must not know what a program computes: the package writes its text, and `mdh_compiler` compiles it. Start with
//! `function.rs`.
//!
//! | modules | what they hold |
//! |---------|----------------|
//! | `compile` | text to object code, which can be interrupted |
//! | `einsum` | einsums as programs |
//! | `function` | code as an object that is called with arrays |
//! | `array` | memory of numpy, and of all that speak DLPack, as `mdh_compiler::library` takes it |
//! | `results` | arrays that results go into |
//! | `element` | the types of elements as numpy writes them |
//! | `error` | the package's exceptions |

mod array;
mod compile;
mod einsum;
mod element;
mod error;
mod function;
mod results;

use std::ffi::OsString;

use pyo3::prelude::*;

/// The extension module.
#[pymodule]
mod _mdh {
    #[pymodule_export]
    use super::compile::{Code, compile, database, gpu, version};
    #[pymodule_export]
    use super::einsum::{Einsum, einsum, einsum_indices};
    #[pymodule_export]
    use super::function::Function;
    #[pymodule_export]
    use super::{main, set_threads, thread_count};
}

/// Runs a command of `mdh` (its words, without the program's name) and returns its exit code: for `python -m mdh`, a
/// process that does nothing else. `python` starts it again, for processes to measure in.
#[pyfunction]
fn main(py: Python, words: Vec<OsString>, python: OsString) -> u8 {
    mdh_driver::commands::start_by(python, ["-m".into(), "mdh".into()].into());
    let words = [OsString::from("mdh")].into_iter().chain(words);
    let words: Vec<OsString> = words.collect();
    py.detach(|| mdh_driver::commands::exit_code(words))
}

/// Sets how many threads computations use from now on, the caller's included (1 to 1024).
#[pyfunction]
fn set_threads(py: Python, threads: i64) -> PyResult<()> {
    let set = mdh_compiler::library::loaded::set_threads(threads);
    set.map_err(|error| error::compiler(py, &error.at("set_threads"), ""))
}

/// Returns how many threads computations use.
#[pyfunction]
fn thread_count() -> usize {
    mdhrt::pool::thread_count()
}
