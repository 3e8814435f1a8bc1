//! Types of elements: those of NumPy, how they are promoted, and their counterparts in MLIR.

use std::fmt;
use std::str::FromStr;

/// Type of the elements of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Element {
    /// NumPy's `bool`, an `i1`: sums are `or`, products `and`.
    Bool,
    /// A signed integer.
    I8,
    /// A signed integer.
    I16,
    /// A signed integer.
    I32,
    /// A signed integer.
    I64,
    /// An unsigned integer: in MLIR it has no sign, as a signed one.
    U8,
    /// An unsigned integer.
    U16,
    /// An unsigned integer.
    U32,
    /// An unsigned integer.
    U64,
    /// A float.
    F16,
    /// A float: `ml_dtypes.bfloat16`.
    Bf16,
    /// A float.
    F32,
    /// A float.
    F64,
    /// Two floats: an array of them is one of `f32` with a last axis of 2.
    Complex64,
    /// Two floats: an array of them is one of `f64` with a last axis of 2.
    Complex128,
}

/// Class of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberClass {
    Bool,
    Signed,
    Unsigned,
    Float,
    Complex,
}

/// Each type: its name in NumPy, in MLIR, its class, and its bits.
const ELEMENTS: [(Element, &str, &str, NumberClass, u32); 15] = [
    (Element::Bool, "bool", "i1", NumberClass::Bool, 8),
    (Element::I8, "int8", "i8", NumberClass::Signed, 8),
    (Element::I16, "int16", "i16", NumberClass::Signed, 16),
    (Element::I32, "int32", "i32", NumberClass::Signed, 32),
    (Element::I64, "int64", "i64", NumberClass::Signed, 64),
    (Element::U8, "uint8", "i8", NumberClass::Unsigned, 8),
    (Element::U16, "uint16", "i16", NumberClass::Unsigned, 16),
    (Element::U32, "uint32", "i32", NumberClass::Unsigned, 32),
    (Element::U64, "uint64", "i64", NumberClass::Unsigned, 64),
    (Element::F16, "float16", "f16", NumberClass::Float, 16),
    (Element::Bf16, "bfloat16", "bf16", NumberClass::Float, 16),
    (Element::F32, "float32", "f32", NumberClass::Float, 32),
    (Element::F64, "float64", "f64", NumberClass::Float, 64),
    (
        Element::Complex64,
        "complex64",
        "f32",
        NumberClass::Complex,
        64,
    ),
    (
        Element::Complex128,
        "complex128",
        "f64",
        NumberClass::Complex,
        128,
    ),
];

impl Element {
    /// Returns all types.
    pub fn all() -> impl Iterator<Item = Element> {
        ELEMENTS.iter().map(|row| row.0)
    }

    fn row(self) -> (&'static str, &'static str, NumberClass, u32) {
        let row = ELEMENTS.iter().find(|row| row.0 == self);
        row.map_or(("", "", NumberClass::Bool, 0), |row| {
            (row.1, row.2, row.3, row.4)
        })
    }

    /// Its name in NumPy: `float32`.
    pub fn numpy_name(self) -> &'static str {
        self.row().0
    }

    /// The type in MLIR, of one of its floats where it is complex.
    pub fn mlir(self) -> &'static str {
        self.row().1
    }

    pub(super) fn class(self) -> NumberClass {
        self.row().2
    }

    /// The number of its bytes in an array.
    pub fn bytes(self) -> u64 {
        u64::from(self.row().3 / 8)
    }

    /// Returns whether it is complex: an array has a last axis of 2 then, of real and imaginary parts.
    pub fn is_complex(self) -> bool {
        self.class() == NumberClass::Complex
    }

    /// Returns whether it is an integer without a sign: MLIR's type does not say so.
    pub fn is_unsigned(self) -> bool {
        self.class() == NumberClass::Unsigned
    }

    /// The smallest type that holds both, as `numpy.result_type` has it, and `ml_dtypes` for `bfloat16`.
    pub fn promoted(self, other: Element) -> Element {
        use NumberClass::{Bool, Complex, Float};
        if self == other {
            return self;
        }
        let (a, b) = match self.class() as usize <= other.class() as usize {
            true => (self, other),
            false => (other, self),
        };
        match (a.class(), b.class()) {
            (Bool, _) => b,
            (Complex, Complex) => Element::Complex128,
            (_, Complex) => match a.promoted(b.part()) {
                Element::F64 => Element::Complex128,
                _ => b,
            },
            (Float, Float) => match a.bytes() == b.bytes() {
                true => Element::F32, // f16 and bf16
                false => a.larger(b),
            },
            // Eight bits are exact in both floats of 16.
            (_, Float) if a.bytes() == 1 => b,
            (_, Float) => Element::of_integer(a).promoted(b),
            _ => integers(a, b),
        }
    }

    fn larger(self, other: Element) -> Element {
        match self.bytes() >= other.bytes() {
            true => self,
            false => other,
        }
    }

    /// The type of its real part.
    pub(super) fn part(self) -> Element {
        match self {
            Element::Complex64 => Element::F32,
            Element::Complex128 => Element::F64,
            _ => self,
        }
    }

    /// The float that holds an integer of more than 8 bits.
    fn of_integer(integer: Element) -> Element {
        match integer.bytes() {
            0..=2 => Element::F32,
            _ => Element::F64,
        }
    }
}

/// The integer that holds two others of different types, or the float where there is none.
fn integers(a: Element, b: Element) -> Element {
    if a.class() == b.class() {
        return a.larger(b);
    }
    let (signed, unsigned) = match a.is_unsigned() {
        true => (b, a),
        false => (a, b),
    };
    if signed.bytes() > unsigned.bytes() {
        return signed;
    }
    match unsigned {
        Element::U8 => Element::I16,
        Element::U16 => Element::I32,
        Element::U32 => Element::I64,
        _ => Element::F64,
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.numpy_name())
    }
}

/// By the name in NumPy or in MLIR: `float32`, `f32`, `uint8`, `u8`.
impl FromStr for Element {
    type Err = String;

    fn from_str(text: &str) -> Result<Element, String> {
        let short = |element: Element| match element.is_unsigned() {
            true => element.mlir().replace('i', "u"),
            false => element.mlir().to_string(),
        };
        let is_named = |element: &Element| {
            element.numpy_name() == text || !element.is_complex() && short(*element) == text
        };
        Element::all().find(is_named).ok_or_else(|| {
            let names: Vec<&str> = Element::all().map(Element::numpy_name).collect();
            format!("found '{text}', expected one of: {}", names.join(", "))
        })
    }
}
