//! Conversions of f16, by the names that LLVM calls them where the processor has no instruction. (libgcc has them from
//! version 12 on, and a program may not show it to code that it compiles.)
//!
//! The calling convention passes an f16 in the low half of a register that holds an f32.

use half::f16;

use crate::bf16::to_odd;

/// f64 to f16, rounded once.
#[unsafe(export_name = "__truncdfhf2")]
pub extern "C" fn truncate_f64(value: f64) -> f32 {
    truncate_f32(to_odd(value))
}

/// f32 to f16.
#[unsafe(export_name = "__truncsfhf2")]
pub extern "C" fn truncate_f32(value: f32) -> f32 {
    f32::from_bits(u32::from(f16::from_f32(value).to_bits()))
}

/// f16 to f32.
#[unsafe(export_name = "__extendhfsf2")]
pub extern "C" fn extend_f32(value: f32) -> f32 {
    f16::from_bits(value.to_bits() as u16).to_f32()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_double_is_rounded_to_f16_once() {
        // Just above the middle between 1 and the next f16: f32 would round it to the middle, which then goes down to 1.
        let above = 1.0 + 2f64.powi(-11) + 2f64.powi(-40);
        let next = f16::from_bits(f16::ONE.to_bits() + 1);
        for (value, expected) in [
            (above, next),
            (-above, -next),
            (1.0 + 2f64.powi(-11), f16::ONE), // the middle itself goes to the even one
            (65520.0, f16::INFINITY),
            (65519.9, f16::MAX),
            (-0.0, f16::NEG_ZERO),
            (2f64.powi(-24), f16::from_bits(1)),
            (2f64.powi(-25), f16::ZERO),
        ] {
            let bits = truncate_f64(value).to_bits();
            assert_eq!(bits, u32::from(expected.to_bits()), "{value}");
            if expected.is_finite() {
                let back = extend_f32(f32::from_bits(bits));
                assert_eq!(back, expected.to_f32(), "{value}");
            }
        }
        assert!(f16::from_bits(truncate_f64(f64::NAN).to_bits() as u16).is_nan());
    }
}
