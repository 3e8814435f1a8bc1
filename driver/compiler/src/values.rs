//! The values a function is run on.

use mdh_algebra::scalar::{Scalar, ScalarType};
pub use mdh_arrays::tensor::{Tensor, type_text};

use crate::error::{Error, Result};

/// A scalar written on the command line (`--in n=5`): an integer in decimal, or hexadecimal
/// after `0x`, signed or unsigned, within the type's bits; a float (`1e-3`, `inf`, `nan`); or,
/// for `i1`, one of `0`, `1`, `false` and `true`.
pub fn parse_scalar(text: &str, ty: ScalarType) -> Result<Scalar> {
    let wrong = |expected: String| {
        Error::input(format!(
            "wrong value '{text}' for a scalar of type {ty}, expected {expected}"
        ))
    };
    if ty.is_float() {
        let number = || wrong("a number, such as 0.5, -1e-3, inf or nan".to_string());
        // A float of 32 bits is parsed as one: by way of 64 bits it would be rounded twice.
        return match ty {
            ScalarType::F32 => {
                let value: f32 = text.parse().map_err(|_| number())?;
                Ok(Scalar::from_bits(ty, u64::from(value.to_bits())))
            }
            _ => Ok(Scalar::from_f64(ty, text.parse().map_err(|_| number())?)),
        };
    }
    match (ty, text) {
        (ScalarType::I1, "true" | "1") => return Ok(Scalar::from_bits(ty, 1)),
        (ScalarType::I1, "false" | "0") => return Ok(Scalar::from_bits(ty, 0)),
        (ScalarType::I1, _) => return Err(wrong("0, 1, false or true".to_string())),
        _ => {}
    }
    let bits = ty.bit_width();
    let (low, high) = (-(1i128 << (bits - 1)), (1i128 << bits) - 1);
    let range = || wrong(format!("an integer between {low} and {high}"));
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text),
    };
    let (radix, digits) = match digits.strip_prefix("0x") {
        Some(digits) => (16, digits),
        None => (10, digits),
    };
    if !digits.starts_with(|c: char| c.is_digit(radix)) {
        return Err(range());
    }
    let value = sign * i128::from_str_radix(digits, radix).map_err(|_| range())?;
    match (low..=high).contains(&value) {
        true => Ok(Scalar::from_bits(ty, value as u64)),
        false => Err(range()),
    }
}

#[cfg(test)]
#[path = "values_tests.rs"]
mod tests;
