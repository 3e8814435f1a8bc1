//! Which buffers of a computation may be one, and which tensors will be one buffer.

use std::ffi::c_void;

use melior::ir::ValueLike;

use crate::ffi;
use crate::ir::{Op, Val};
use crate::parts::{BufferPart, CombinePart, Parts, combine_part};
use crate::read;

/// Whether each point accesses the same single element of all these operands: then a result may
/// take the memory of an input or a carry, since a point reads there before it writes, and no
/// other point reads there.
///
/// Of inputs, that needs all dimensions to be concatenated: an element that is combined from
/// several points may be written while some of them are still to be read. A carry is read once for
/// each element.
pub fn is_elementwise(op: Op, operands: &[isize]) -> bool {
    let Ok(parts) = read::compute(op) else {
        return false;
    };
    let is_cc = |attribute| matches!(combine_part(attribute), Ok(CombinePart::Cc));
    let is_concatenated = parts.combine.iter().all(|combine| is_cc(*combine));
    let mut buffers = Vec::new();
    for operand in operands {
        match buffer(&parts, *operand) {
            Some((Kind::Read, _)) if !is_concatenated => return false,
            Some((_, buffer)) => buffers.push(buffer),
            None => return false,
        }
    }
    buffers.iter().all(|b| b.accesses.len() == 1)
        && buffers
            .windows(2)
            .all(|two| two[0].accesses == two[1].accesses && two[0].origin == two[1].origin)
}

/// When a buffer is accessed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// At every point.
    Read,
    /// Where an element of the result is complete.
    Finished,
}

/// The buffer that an operand is: inputs come first, then outputs, outgoing and incoming carries.
/// None for an outgoing carry, which is written before the next incoming one is read.
fn buffer<'p, 'c>(parts: &'p Parts<'c>, operand: isize) -> Option<(Kind, &'p BufferPart<'c>)> {
    let inputs = parts.inputs.iter().map(|b| Some((Kind::Read, b)));
    let outputs = parts.outputs.iter().map(|b| Some((Kind::Finished, b)));
    let outgoing = parts.carries.iter().flat_map(|c| &c.outgoing).map(|_| None);
    let incoming = parts.carries.iter().flat_map(|c| &c.incoming);
    let incoming = incoming.map(|b| Some((Kind::Finished, b)));
    let mut buffers = inputs.chain(outputs).chain(outgoing).chain(incoming);
    buffers.nth(usize::try_from(operand).ok()?).flatten()
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
