//! Scalar types and values.

/// The element types of inputs, tuples and outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScalarType {
    /// One bit.
    I1,
    /// 8-bit integer, signless.
    I8,
    /// 16-bit integer, signless.
    I16,
    /// 32-bit integer, signless.
    I32,
    /// 64-bit integer, signless.
    I64,
    /// An index: 64 bits here.
    Index,
    /// IEEE half precision.
    F16,
    /// bfloat16.
    BF16,
    /// IEEE single precision.
    F32,
    /// IEEE double precision.
    F64,
}

/// A value of a scalar type, as its bit pattern (upper bits zero).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scalar {
    /// Its type.
    pub ty: ScalarType,
    /// Its bits.
    pub bits: u64,
}
