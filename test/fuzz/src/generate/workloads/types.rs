//! Types of the numbers of workloads.

use mdh_algebra::scalar::ScalarType;

use crate::choices::Choices;

use ScalarType::{BF16, F16, F32, F64, I8, I16, I32, I64};

/// Returns the type that numbers are read as, and the one they are combined as: the same or wider.
pub(super) fn numbers(c: &mut Choices) -> (ScalarType, ScalarType) {
    let (all, wider): (&[ScalarType], fn(ScalarType) -> ScalarType) = match c.chance("integers", 30)
    {
        false => (&[F32, F32, F64, F16, BF16], |ty| match ty {
            F32 | F64 => F64,
            _ => F32,
        }),
        true => (&[I32, I64, I8, I16], |ty| match ty {
            I8 | I16 => I32,
            _ => I64,
        }),
    };
    let read = c.pick("read", all);
    let is_wider = c.chance("wider", 40);
    (read, if is_wider { wider(read) } else { read })
}

/// [`numbers`] of floats.
pub(super) fn floats(c: &mut Choices) -> (ScalarType, ScalarType) {
    let read = c.pick("read", &[F32, F32, F64, F16, BF16]);
    match c.chance("wider", 40) {
        true => (read, if read == F64 { F64 } else { F32 }),
        false => (read, read),
    }
}
