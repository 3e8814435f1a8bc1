//! Numbers of a wider type that are ones of a narrower type: rounding them to it changes nothing.

use crate::scalar::{Scalar, ScalarType};

/// The way that a number comes about, as far as it matters to what it can be.
pub enum Made<V> {
    /// It is one of this type, extended.
    Extended(ScalarType),
    /// It is this one.
    Constant(Scalar),
    /// It is the opposite of another one.
    Negated(V),
    /// It is one of several.
    OneOf(Vec<V>),
    /// It is made in any other way.
    Otherwise,
}

/// Returns whether a number is one of a narrower type, as far as the code that makes it shows.
pub fn is_narrow<V>(number: V, ty: ScalarType, made: &impl Fn(V) -> Made<V>) -> bool {
    match made(number) {
        Made::Extended(own) => own == ty,
        Made::Constant(number) => number.is_one_of(ty),
        Made::Negated(of) => is_narrow(of, ty, made),
        Made::OneOf(all) => all.into_iter().all(|v| is_narrow(v, ty, made)),
        Made::Otherwise => false,
    }
}
