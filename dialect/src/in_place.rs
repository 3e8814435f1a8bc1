//! Which buffers of a computation may be one, and which tensors will be one buffer.

use std::ffi::c_void;

use mdh_algebra::affine::Expr;
use mdh_algebra::computation::Place;
use mdh_algebra::rules::Stored;
use melior::ir::{Attribute, ValueLike};

use crate::ffi;
use crate::ir::{Op, Val};
use crate::parts::{Bound, BufferPart, CombinePart, Parts, combine_part};
use crate::read;

/// The buffers of a computation as the algebra's rules about memory see them, with the operands'
/// values: inputs, outputs, outgoing and then incoming carries, in the operation's order.
///
/// `view` reads and `stores` writes; `combine` are the operators of all dimensions on the way.
pub fn stored<'p, 'c>(
    view: &'p Parts<'c>,
    stores: &'p Parts<'c>,
    combine: &[Attribute],
) -> Vec<(Val<'c>, Stored<'p>)> {
    let buffers = placed(view, stores);
    let is_cc = |attribute: &Attribute| matches!(combine_part(*attribute), Ok(CombinePart::Cc));
    let is_concatenated = combine.iter().all(is_cc);
    let memory = |part: &BufferPart| buffers.iter().position(|(_, b)| b.value == part.value);
    let mut known: Vec<(&[Expr], &[Bound])> = Vec::new();
    let mut element = |access: &'p [Expr], origin: &'p [Bound<'c>]| {
        let at = known.iter().position(|one| *one == (access, origin));
        at.unwrap_or_else(|| {
            known.push((access, origin));
            known.len() - 1
        })
    };
    let stored = buffers.iter().map(|(place, part)| {
        // Of an input, an element that is combined from several points reads several.
        let is_few = is_concatenated || !matches!(place, Place::Input(_));
        let accesses = part.accesses.iter().filter(|_| is_few);
        let stored = Stored {
            place: *place,
            name: &part.name,
            memory: memory(part).unwrap_or_default(),
            elements: accesses.map(|a| element(a, &part.origin)).collect(),
        };
        (part.value, stored)
    });
    stored.collect()
}

fn placed<'p, 'c>(view: &'p Parts<'c>, stores: &'p Parts<'c>) -> Vec<(Place, &'p BufferPart<'c>)> {
    let inputs = view.inputs.iter().enumerate();
    let outputs = stores.outputs.iter().enumerate();
    let carries = || stores.carries.iter().enumerate();
    let outgoing = carries().flat_map(|(carry, parts)| {
        let buffers = parts.outgoing.iter().enumerate();
        buffers.map(move |(component, b)| (Place::Outgoing { carry, component }, b))
    });
    let incoming = carries().flat_map(|(carry, parts)| {
        let buffers = parts.incoming.iter().enumerate();
        buffers.map(move |(component, b)| (Place::Incoming { carry, component }, b))
    });
    inputs
        .map(|(n, b)| (Place::Input(n), b))
        .chain(outputs.map(|(n, b)| (Place::Output(n), b)))
        .chain(outgoing)
        .chain(incoming)
        .collect()
}

/// Whether all of these operands of an `mdh.compute` may be in one memory: each element is read
/// only where it is replaced.
pub fn is_elementwise(op: Op, operands: &[isize]) -> bool {
    let Ok(parts) = read::compute(op) else {
        return false;
    };
    let stored = stored(&parts, &parts, &parts.combine);
    let wanted: Option<Vec<&Stored>> = operands
        .iter()
        .map(|operand| Some(&stored.get(usize::try_from(*operand).ok()?)?.1))
        .collect();
    let Some(wanted) = wanted else {
        return false;
    };
    let others = |n: usize| wanted[..n].iter();
    let mut all = wanted.iter().enumerate();
    all.all(|(n, one)| others(n).all(|other| one.may_share(other)))
}

/// What bufferization will make of the tensors of a module; of use until the module changes.
pub struct Buffers(*mut c_void);

impl Buffers {
    /// Asks upstream's analysis; `None` if it has no answer.
    pub fn analyze(module: Op) -> Option<Buffers> {
        // SAFETY: the operation is valid.
        let raw = unsafe { ffi::mdhBuffersAnalyze(module.to_raw()) };
        (!raw.is_null()).then_some(Buffers(raw))
    }

    /// Whether two tensors will be one buffer.
    pub fn are_same(&self, a: Val, b: Val) -> bool {
        // SAFETY: the analysis and the values are valid.
        unsafe { ffi::mdhBuffersAreSame(self.0, a.to_raw(), b.to_raw()) }
    }

    /// Whether the buffers of two tensors may have elements in common.
    pub fn may_overlap(&self, a: Val, b: Val) -> bool {
        // SAFETY: as above.
        unsafe { ffi::mdhBuffersMayOverlap(self.0, a.to_raw(), b.to_raw()) }
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: the analysis is ours, and destroyed once.
        unsafe { ffi::mdhBuffersDestroy(self.0) }
    }
}
