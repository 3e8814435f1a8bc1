//! Operands of a compiled function: arguments and places for results, in the order of MLIR's C
//! interface.

use mdh_algebra::scalar::Scalar;

use crate::{Arguments, Descriptor, Field, Results, Tensor};

/// An argument or a result.
pub enum Slot<'a> {
    /// A scalar, or where one goes.
    Scalar(&'a mut Tensor),
    /// Memory.
    Memory(Descriptor),
}

/// Packs a function's operands: the place of several scalar results, the arguments, the results
/// that are arrays, and the place of a single scalar.
pub fn pass(arguments: &[Slot], results: &[Slot]) -> Arguments {
    let mut passed = Arguments::new();
    let scalars = scalars(results);
    if scalars.len() > 1 {
        passed.result_area(fields(results).words());
    }
    for argument in arguments {
        match argument {
            Slot::Scalar(tensor) => passed.scalar(tensor.get(0).bits),
            Slot::Memory(descriptor) => passed.memref(descriptor.clone()),
        };
    }
    for result in results {
        if let Slot::Memory(descriptor) = result {
            passed.memref(descriptor.clone());
        }
    }
    if scalars.len() == 1 {
        passed.result_slot();
    }
    passed
}

/// Takes the scalars that a call left elsewhere.
pub fn take(passed: &Arguments, results: &mut [Slot]) {
    let (scalars, fields) = (scalars(results), fields(results));
    for (field, &i) in scalars.iter().enumerate() {
        let Slot::Scalar(tensor) = &mut results[i] else {
            continue;
        };
        let element = tensor.element();
        let bits = match scalars.len() {
            1 => passed.result(element.byte_width()),
            _ => fields.scalar(passed.area(0), field).unwrap_or_default(),
        };
        tensor.set(0, Scalar::from_bits(element, bits));
    }
}

/// The results that are plain scalars, by number.
fn scalars(results: &[Slot]) -> Vec<usize> {
    let numbered = results.iter().enumerate();
    numbered
        .filter(|(_, slot)| matches!(slot, Slot::Scalar(_)))
        .map(|(i, _)| i)
        .collect()
}

/// Several scalar results as compiled code returns them.
fn fields(results: &[Slot]) -> Results {
    let fields = results.iter().filter_map(|slot| match slot {
        Slot::Scalar(tensor) => Some(Field::Scalar(tensor.element().byte_width())),
        Slot::Memory(_) => None,
    });
    Results::new(&fields.collect::<Vec<_>>())
}
