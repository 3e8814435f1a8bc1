//! Conversions to bf16, by the names that LLVM calls them. (libgcc has them from version 13 on.)
//!
//! The calling convention returns a bf16 in the low half of a register that holds an f32.

use half::bf16;

/// f64 to bf16, rounded once.
#[unsafe(export_name = "__truncdfbf2")]
pub extern "C" fn truncate_f64(value: f64) -> f32 {
    f32::from_bits(u32::from(bf16::from_f32(to_odd(value)).to_bits()))
}

/// f32 to bf16, where the host has no instruction for it.
#[unsafe(export_name = "__truncsfbf2")]
pub extern "C" fn truncate_f32(value: f32) -> f32 {
    f32::from_bits(u32::from(bf16::from_f32(value).to_bits()))
}

/// The nearest f32 towards zero, odd if that is not exact: rounding it again to fewer bits is as
/// good as rounding `value` once.
pub(crate) fn to_odd(value: f64) -> f32 {
    let nearest = value as f32;
    if nearest.is_nan() || f64::from(nearest) == value {
        return nearest;
    }
    let is_further = f64::from(nearest).abs() > value.abs();
    f32::from_bits((nearest.to_bits() - u32::from(is_further)) | 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_double_is_rounded_to_bf16_once() {
        // Just above the middle between 1 and the next bf16: f32 would round it to the middle,
        // which then goes down to 1.
        let above = 1.0 + 2f64.powi(-8) + 2f64.powi(-40);
        let next = bf16::from_bits(bf16::ONE.to_bits() + 1);
        for (value, expected) in [
            (above, next),
            (-above, -next),
            (1.0 + 2f64.powi(-8), bf16::ONE), // the middle itself goes to the even one
            (1e300, bf16::INFINITY),
            (-0.0, bf16::NEG_ZERO),
            (1e-320, bf16::ZERO),
        ] {
            let bits = truncate_f64(value).to_bits();
            assert_eq!(bits, u32::from(expected.to_bits()), "{value}");
        }
        assert!(bf16::from_bits(truncate_f64(f64::NAN).to_bits() as u16).is_nan());
    }
}
