//! Buffers of a computation that may be one, and tensors that will be one buffer.

use std::ffi::c_void;

use mdh_algebra::computation::Place;
use mdh_algebra::reuse::alias::{Amount, DomainAxis, Role, View};
use mdh_algebra::rules::{Domain, Stored};
use melior::ir::{Attribute, ValueLike};

use crate::ffi;
use crate::ir::{Op, Val};
use crate::parts::{Bound, BufferPart, CombinePart, Fold, Parts, combine_part};
use crate::read;

/// The buffers of a computation as the algebra's rules about memory see them.
pub struct Buffered<'p, 'c> {
    /// The domain.
    pub domain: Domain,
    placed: Vec<(Place, &'p BufferPart<'c>)>,
    origins: Vec<Vec<Amount>>,
}

impl<'p, 'c> Buffered<'p, 'c> {
    /// `view` reads and `stores` writes; `combine` are the operators of all dimensions on the way,
    /// those of one hom after those of another.
    pub fn new(view: &'p Parts<'c>, stores: &'p Parts<'c>, combine: &[Attribute]) -> Self {
        let placed = placed(view, stores);
        let mut symbols: Vec<Val<'c>> = Vec::new();
        let mut amount = |bound: &Bound<'c>| match bound {
            Bound::Static(number) => Amount::Known(*number),
            Bound::Dynamic(value) => {
                let known = symbols.iter().position(|symbol| symbol == value);
                Amount::Symbol(known.unwrap_or_else(|| {
                    symbols.push(*value);
                    symbols.len() - 1
                }))
            }
        };
        let axes = view.dims.iter().enumerate().map(|(d, dim)| DomainAxis {
            name: dim.name.clone(),
            lower: amount(&dim.lower),
            upper: amount(&dim.upper),
            step: amount(&dim.step),
            width: amount(&dim.width),
            role: role(combine.iter().skip(d).step_by(view.dims.len())),
        });
        let axes = axes.collect();
        let origin = |(_, part): &(Place, &BufferPart<'c>)| {
            part.origin.iter().map(&mut amount).collect::<Vec<_>>()
        };
        Buffered {
            origins: placed.iter().map(origin).collect(),
            domain: Domain {
                axes,
                carries: stores.carries.iter().map(|carry| carry.dim).collect(),
            },
            placed,
        }
    }

    /// The buffers with the operands' values: inputs, outputs, outgoing and then incoming carries,
    /// in the operation's order.
    pub fn stored(&self) -> Vec<(Val<'c>, Stored<'_>)> {
        let memory = |part: &BufferPart| {
            let mut values = self.placed.iter().map(|(_, b)| b.value);
            values.position(|value| value == part.value)
        };
        let stored = self.placed.iter().zip(&self.origins);
        let stored = stored.map(|((place, part), origin)| {
            let stored = Stored {
                place: *place,
                name: &part.name,
                memory: memory(part).unwrap_or_default(),
                view: View {
                    accesses: &part.accesses,
                    origin,
                },
            };
            (part.value, stored)
        });
        stored.collect()
    }
}

/// Returns the role of a dimension, from its operators, one for each hom: a result combines
/// whatever one of them combines.
fn role<'a>(combine: impl Iterator<Item = &'a Attribute<'a>>) -> Role {
    let mut role = Role::Cc;
    for attribute in combine {
        match combine_part(*attribute) {
            Ok(CombinePart::Cc) => {}
            Ok(CombinePart::Fold(Fold::Ps, _)) if role == Role::Cc => role = Role::Ps,
            Ok(CombinePart::Fold(Fold::Ps, _)) => {}
            _ => role = Role::Pw,
        }
    }
    role
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

/// Returns whether all of these operands of an `mdh.compute` may be in one memory: each element is read
/// only where it is replaced, or not replaced at all.
pub fn is_elementwise(op: Op, operands: &[isize]) -> bool {
    let Ok(parts) = read::compute(op) else {
        return false;
    };
    let buffers = Buffered::new(&parts, &parts, &parts.combine);
    let stored = buffers.stored();
    let wanted: Option<Vec<&Stored>> = operands
        .iter()
        .map(|operand| Some(&stored.get(usize::try_from(*operand).ok()?)?.1))
        .collect();
    let Some(wanted) = wanted else {
        return false;
    };
    // Two results of one tensor each keep what is theirs of it.
    let is_written = |b: &&&Stored| matches!(b.place, Place::Output(_) | Place::Outgoing { .. });
    if wanted.iter().filter(is_written).count() > 1 {
        return false;
    }
    let earlier = |n: usize| wanted[..n].iter();
    let mut numbered = wanted.iter().enumerate();
    numbered.all(|(n, buffer)| earlier(n).all(|other| buffer.may_share(other, &buffers.domain)))
}

/// Bufferization's decisions about the tensors of a module; valid until the module changes.
pub struct Buffers(*mut c_void);

impl Buffers {
    /// Asks upstream's analysis; `None` if it has no answer.
    pub fn analyze(module: Op) -> Option<Buffers> {
        // SAFETY: the operation is valid.
        let raw = unsafe { ffi::mdhBuffersAnalyze(module.to_raw()) };
        (!raw.is_null()).then_some(Buffers(raw))
    }

    /// Returns whether two tensors will be one buffer.
    pub fn are_same(&self, a: Val, b: Val) -> bool {
        // SAFETY: the analysis and the values are valid.
        unsafe { ffi::mdhBuffersAreSame(self.0, a.to_raw(), b.to_raw()) }
    }

    /// Returns whether the buffers of two tensors may have elements in common.
    pub fn may_overlap(&self, a: Val, b: Val) -> bool {
        // SAFETY: as above.
        unsafe { ffi::mdhBuffersMayOverlap(self.0, a.to_raw(), b.to_raw()) }
    }

    /// Returns whether an operation uses the buffer of a tensor that it takes, rather than a copy.
    pub fn is_in_place(&self, op: Op, operand: usize) -> bool {
        // SAFETY: the analysis is valid, and the operation has the operand, a tensor.
        unsafe { ffi::mdhBuffersIsInPlace(self.0, op.to_raw(), operand as isize) }
    }

    /// Returns whether an operation may write the buffer of a tensor that it takes, or what it gives
    /// instead, a copy.
    pub fn is_written(&self, op: Op, operand: usize) -> bool {
        // SAFETY: as above.
        unsafe { ffi::mdhBuffersIsWritten(self.0, op.to_raw(), operand as isize) }
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: the analysis is ours, and destroyed once.
        unsafe { ffi::mdhBuffersDestroy(self.0) }
    }
}
