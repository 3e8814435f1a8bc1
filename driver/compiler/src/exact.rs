//! `--check=exact`: a program with integers in the place of floats, held against its definition in integers.

use melior::Context;
use melior::ir::Module;
use melior::ir::operation::OperationLike;

use mdh_algebra::exact;
use mdh_algebra::laws::{Values, check_laws};
use mdh_algebra::operator::{Builtin, Operator};
use mdh_algebra::scalar::{Scalar, ScalarType};
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

/// A definition in integers.
pub struct Definition<'c> {
    module: Module<'c>,
    inputs: Inputs,
}

/// Integers that stand for elements of inputs which are not integral.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inputs {
    /// Any.
    Any,
    /// Odd ones: a product of many even ones is zero, modulo 2^n.
    Odd,
}

/// The inputs for a program. Fails for operators that have laws which integers do not have: any order of them would
/// be right, and give something else.
fn inputs(context: &Context, formed: &Formed) -> Result<Inputs> {
    let mut inputs = Inputs::Any;
    let mut module = compile::copy(&formed.module);
    compile::run_portable(context, &mut module, &EXACT)?;
    for op in ir::find_all(compile::operation(&module), &[ops::mdh::COMPUTE]) {
        let Ok(computation) = translate::compute(op, Depth::Code) else {
            continue;
        };
        let types = &computation.components;
        for operator in &computation.operators {
            if matches!(operator, Operator::Builtin(all) if all.contains(&Builtin::Muli)) {
                inputs = Inputs::Odd;
            }
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
    Ok(inputs)
}

/// The program as it is written, in integers.
pub fn definition<'c>(context: &'c Context, formed: &Formed<'c>) -> Result<Definition<'c>> {
    let written = formed.history.written().unwrap_or(&formed.module);
    let mut module = compile::copy(written);
    compile::run_portable(context, &mut module, &EXACT)?;
    let inputs = inputs(context, formed)?;
    Ok(Definition { module, inputs })
}

/// The function with parameters of integers and its definition in a module of such, and the arguments of a
/// call as such.
pub fn call<'c>(
    entry: Entry<'c>,
    of: &Definition<'c>,
    arguments: Vec<Tensor>,
) -> Result<(Entry<'c>, Vec<Tensor>)> {
    let module = compile::operation(&of.module);
    let definition = function_of(module, &entry.name)
        .ok_or_else(|| Error::bug(format!("'{}' is lost in integers", entry.name)))?;
    let arguments = arguments.iter().map(|one| integers(one, of.inputs));
    let arguments = arguments.collect::<Result<_>>()?;
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

/// Other arguments of the same shapes, of which no element is the same, but for indices, which are sizes: what a result
/// is for them, too, no argument decides.
pub fn others(arguments: &[Tensor]) -> Result<Vec<Tensor>> {
    let other = |tensor: &Tensor| {
        let mut other = tensor.try_clone()?;
        let changed = match tensor.element() {
            ScalarType::Index => 0,
            _ => tensor.len(),
        };
        for i in 0..changed {
            let value = other.get(i);
            other.set(i, Scalar::from_bits(value.ty, value.bits ^ 1));
        }
        Ok(other)
    };
    arguments.iter().map(other).collect()
}

/// The refusal of a program whose wrong elements no argument decides.
pub fn constants(wrong: &str) -> Error {
    Error::input(format!(
        "the result is not what the definition in integers says: {wrong}; but no argument decides it, and what is \
         computed of constants alone the compiler may do in floats, before there are integers: expected results that \
         differ from run to run, for '--check=exact', or '--check'"
    ))
}

/// The integers for the elements of an array.
fn integers(tensor: &Tensor, inputs: Inputs) -> Result<Tensor> {
    if !tensor.element().is_float() {
        return Ok(tensor.try_clone()?);
    }
    let mut integers = Tensor::zeroed(exact::integer(tensor.element()), tensor.shape())?;
    for i in 0..tensor.len() {
        let float = tensor.get(i);
        let number = exact::number(float);
        let value = float.as_f64();
        let is_mixed = value.is_finite() && value.fract() != 0.0;
        integers.set(
            i,
            match inputs {
                Inputs::Odd if is_mixed => Scalar::from_bits(number.ty, number.bits | 1),
                _ => number,
            },
        );
    }
    Ok(integers)
}
