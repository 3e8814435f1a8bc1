//! Types of elements, under the names of each library.
//!
//! Compiled code has integers without a sign: what a program means by one is in its operations, so that arrays of both
//! kinds are taken, unless who compiles says which it is. Truth values are bytes of 0 and 1.

use mdhrt::interface::Element;

/// Kind of numbers, by DLPack's codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberKind {
    /// Integers with a sign.
    Signed,
    /// Integers without.
    Unsigned,
    /// IEEE's floats.
    Float,
    /// bfloat16.
    Brain,
    /// Truth values.
    Truth,
    /// Something that compiled code does not take.
    Other,
}

impl NumberKind {
    /// The kind of integers of a name, `int8` or `uint8`; none of other names.
    pub fn sign_of(name: &str) -> Option<NumberKind> {
        match name {
            _ if name.starts_with("uint") => Some(NumberKind::Unsigned),
            _ if name.starts_with("int") => Some(NumberKind::Signed),
            _ => None,
        }
    }
}

/// A type of elements as an array says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberType {
    /// The kind.
    pub kind: NumberKind,
    /// The size, in bytes.
    pub bytes: usize,
}

impl NumberType {
    /// Elements that compiled code does not take.
    pub const OTHER: NumberType = NumberType {
        kind: NumberKind::Other,
        bytes: 0,
    };

    /// DLPack's type, of one lane.
    pub fn of_dlpack(code: u8, bits: u8, lanes: u16) -> NumberType {
        let kind = match (code, lanes) {
            (0, 1) => NumberKind::Signed,
            (1, 1) => NumberKind::Unsigned,
            (2, 1) => NumberKind::Float,
            (4, 1) => NumberKind::Brain,
            (6, 1) => NumberKind::Truth,
            _ => NumberKind::Other,
        };
        let bytes = usize::from(bits) / 8;
        NumberType { kind, bytes }
    }

    /// A type of numpy's array interface.
    pub fn of_numpy(kind: u8, bytes: usize) -> NumberType {
        let kind = match kind {
            b'i' => NumberKind::Signed,
            b'u' => NumberKind::Unsigned,
            b'f' => NumberKind::Float,
            b'b' => NumberKind::Truth,
            // The name of such a type decides, which is asked where elements of two bytes are wanted.
            b'V' => NumberKind::Brain,
            _ => NumberKind::Other,
        };
        NumberType { kind, bytes }
    }

    /// Returns whether compiled code that expects such elements can read these; integers are of one kind alone if it is
    /// given.
    pub fn is(self, element: Element, sign: Option<NumberKind>) -> bool {
        let kinds: &[NumberKind] = match element {
            Element::I1 => &[NumberKind::Truth],
            Element::I8 | Element::I16 | Element::I32 | Element::I64 => {
                &[NumberKind::Signed, NumberKind::Unsigned]
            }
            Element::F16 | Element::F32 | Element::F64 => &[NumberKind::Float],
            Element::BF16 => &[NumberKind::Brain],
        };
        let is_other = sign.is_some_and(|sign| sign != self.kind);
        kinds.contains(&self.kind) && !is_other && self.bytes == element.bytes()
    }
}

/// The name that numpy, torch and jax share.
pub fn name(element: Element) -> &'static str {
    match element {
        Element::I1 => "bool",
        Element::I8 => "int8",
        Element::I16 => "int16",
        Element::I32 => "int32",
        Element::I64 => "int64",
        Element::F16 => "float16",
        Element::BF16 => "bfloat16",
        Element::F32 => "float32",
        Element::F64 => "float64",
    }
}
