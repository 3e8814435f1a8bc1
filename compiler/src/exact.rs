//! `--check=exact`: a program with integers in the place of floats, held against its definition in integers.

use melior::Context;
use melior::ir::Module;
use melior::ir::operation::OperationLike;

use mdh_algebra::exact;
use mdh_algebra::laws::{Values, check_laws};
use mdh_dialect::translate::{self, Depth};
use mdh_dialect::{ir, ops};
use mdh_passes::pipelines::EXACT;

use crate::compile;
use crate::diagnostics::error_at;
use crate::entry::{Entry, Parameter};
use crate::error::{Error, Result};
use crate::formed::Formed;
use crate::functions::function_of;
use crate::values::Tensor;

/// So many random tuples are tried for each law.
const TRIALS: usize = 200;

/// Fails for operators that have laws which integers do not have: any order of them would be right, and give
/// something else.
fn expect_laws(context: &Context, formed: &Formed) -> Result<()> {
    let mut module = compile::copy(&formed.module);
    compile::run(context, &mut module, &EXACT)?;
    for op in ir::find_all(compile::operation(&module), &[ops::mdh::COMPUTE]) {
        let Ok(computation) = translate::compute(op, Depth::Code) else {
            continue;
        };
        let types = &computation.components;
        for operator in &computation.operators {
            let broken = check_laws(operator, types, Values::Finite, 0, TRIALS);
            if let Some(broken) = broken.first() {
                let message = format!(
                    "has an operator whose laws do not hold in integers: {broken}; expected one of sums, \
                     products, maxima and exponentials, for '--check=exact', or '--check'"
                );
                return Err(error_at(op.location(), &message));
            }
        }
    }
    Ok(())
}

/// The program as it is written, in integers.
pub fn definition<'c>(context: &'c Context, formed: &Formed<'c>) -> Result<Module<'c>> {
    let written = formed.written.as_ref().unwrap_or(&formed.module);
    let mut module = compile::copy(written);
    compile::run(context, &mut module, &EXACT)?;
    expect_laws(context, formed)?;
    Ok(module)
}

/// The function with parameters of integers and its definition in a module of such, and the arguments of a
/// call as such.
pub fn call<'c>(
    entry: Entry<'c>,
    definition: &Module<'c>,
    arguments: Vec<Tensor>,
) -> Result<(Entry<'c>, Vec<Tensor>)> {
    let module = compile::operation(definition);
    let definition = function_of(module, &entry.name)
        .ok_or_else(|| Error::bug(format!("'{}' is lost in integers", entry.name)))?;
    let arguments = arguments.iter().map(integers).collect::<Result<_>>()?;
    let retyped = |mut parameter: Parameter| {
        parameter.ty.element = exact::integer(parameter.ty.element);
        parameter
    };
    let entry = Entry {
        definition,
        arguments: entry.arguments.into_iter().map(retyped).collect(),
        results: entry.results.into_iter().map(retyped).collect(),
        ..entry
    };
    Ok((entry, arguments))
}

/// The integers for the elements of an array.
fn integers(tensor: &Tensor) -> Result<Tensor> {
    if !tensor.element().is_float() {
        return Ok(tensor.try_clone()?);
    }
    let mut integers = Tensor::zeroed(exact::integer(tensor.element()), tensor.shape())?;
    for i in 0..tensor.len() {
        integers.set(i, exact::number(tensor.get(i)));
    }
    Ok(integers)
}
