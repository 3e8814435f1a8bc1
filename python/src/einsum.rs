//! Einsums as programs: `mdh_frontend::einsum` for Python.

use pyo3::prelude::*;

use mdh_compiler::einsum_command;
use mdh_frontend::einsum::{Element, Mistake, Operand, Request, accesses};

use crate::error;

/// An einsum as a program.
#[pyclass(frozen, get_all, module = "mdh._mdh")]
pub struct Einsum {
    /// MLIR: a function that takes the operands in order, complex ones with a last axis of 2.
    text: String,
    /// The shape of its result, without that axis.
    shape: Vec<u64>,
    /// The type of its elements, as numpy calls it.
    dtype: &'static str,
    /// The order of contraction, as opt_einsum has it.
    path: Vec<Vec<usize>>,
    /// The number of scalar operations, as opt_einsum counts them.
    flops: f64,
    /// The number of elements of the largest tensor that is stored.
    largest: f64,
}

/// Translates an einsum of operands with these shapes, types, and axes in the order in which they lie in memory.
/// Operators are names, or regions of MLIR with the laws that they keep.
#[pyfunction]
#[pyo3(signature = (spec, operands, combine, scalar, path=None))]
pub fn einsum(
    py: Python,
    spec: &str,
    operands: Vec<(Vec<u64>, String, Option<Vec<usize>>)>,
    combine: &str,
    scalar: &str,
    path: Option<Vec<Vec<usize>>>,
) -> PyResult<Einsum> {
    let operand = |(shape, dtype, order): (Vec<u64>, String, Option<Vec<usize>>)| {
        let element: Element = dtype
            .parse()
            .map_err(|wrong: String| error::element(py, &wrong))?;
        let operand = Operand::new(&shape, element);
        Ok(match order {
            Some(order) => operand.with_order(order),
            None => operand,
        })
    };
    let operands: PyResult<Vec<Operand>> = operands.into_iter().map(operand).collect();
    let translated = einsum_command::translated(spec, operands?, [combine, scalar], path);
    let translated = translated.map_err(|error| error::compiler(py, &error, ""))?;
    Ok(Einsum {
        text: translated.text,
        shape: translated.shape,
        dtype: translated.element.numpy_name(),
        path: translated.path,
        flops: translated.flops,
        largest: translated.largest,
    })
}

/// The names and the sizes of an einsum's indices, those of each operand's axes (None where one element stands for all), and
/// those of the result's axes.
type Accesses = (Vec<String>, Vec<u64>, Vec<Vec<Option<usize>>>, Vec<usize>);

/// Finds the indices of an einsum of operands with these shapes.
#[pyfunction]
pub fn einsum_indices(py: Python, spec: &str, shapes: Vec<Vec<u64>>) -> PyResult<Accesses> {
    let listed: Vec<&[u64]> = shapes.iter().map(Vec::as_slice).collect();
    let indices = accesses(spec, &listed);
    let refused = |mistakes: Vec<Mistake>| {
        einsum_command::refused(&mistakes, &Request::new(spec, Vec::new()))
    };
    let indices = indices.map_err(|wrong| error::compiler(py, &refused(wrong), ""))?;
    Ok((
        indices.names,
        indices.sizes,
        indices.operands,
        indices.result,
    ))
}
