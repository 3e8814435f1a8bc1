//! Types of elements, as numpy writes them.

use mdh_compiler::library::arrays::{NumberKind, NumberType};

/// The kind of integers of a name, `int8` or `uint8`; none of other names.
pub fn sign_of(name: &str) -> Option<NumberKind> {
    match name {
        _ if name.starts_with("uint") => Some(NumberKind::Unsigned),
        _ if name.starts_with("int") => Some(NumberKind::Signed),
        _ => None,
    }
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
