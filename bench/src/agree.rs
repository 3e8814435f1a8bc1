//! Agreement of two results: a peer sums in another order, but computes nothing else.

use half::{bf16, f16};

/// Outcome of a comparison.
#[derive(Debug, PartialEq, Eq)]
pub enum Agreement {
    /// Equal integers, and floats that are close.
    Close,
    /// Not so; the text says where and how.
    Far(String),
}

/// Compares arrays of an element type, by MLIR's name, that were computed from arrays of others.
/// Floats may differ by a fraction of the largest one in the array, of the least precise of these
/// types: ours was held against the definition before, so this only asks whether a peer computes
/// the same thing.
pub fn compare(dtype: &str, inputs: &[&str], ours: &[u8], found: &[u8]) -> Agreement {
    if ours.len() != found.len() {
        return Agreement::Far(format!("{} bytes, expected {}", found.len(), ours.len()));
    }
    let types = inputs.iter().chain([&dtype]);
    let tolerance = types.map(|ty| tolerance(ty)).fold(0.0, f64::max);
    match dtype {
        "f64" => floats::<8>(ours, found, tolerance, |b| f64::from_le_bytes(*b)),
        "f32" => floats::<4>(ours, found, tolerance, |b| {
            f64::from(f32::from_le_bytes(*b))
        }),
        "f16" => floats::<2>(ours, found, tolerance, |b| f16::from_le_bytes(*b).to_f64()),
        "bf16" => floats::<2>(ours, found, tolerance, |b| bf16::from_le_bytes(*b).to_f64()),
        _ => match ours.iter().zip(found).position(|(a, b)| a != b) {
            None => Agreement::Close,
            Some(at) => {
                Agreement::Far(format!("byte {at} is {}, expected {}", found[at], ours[at]))
            }
        },
    }
}

/// Part of the largest value, of an element type.
fn tolerance(dtype: &str) -> f64 {
    match dtype {
        "f64" => 1e-9,
        "f32" => 2e-3,
        "f16" => 2e-2,
        "bf16" => 5e-2,
        _ => 0.0,
    }
}

fn floats<const N: usize>(
    ours: &[u8],
    found: &[u8],
    tolerance: f64,
    value: impl Fn(&[u8; N]) -> f64,
) -> Agreement {
    let (ours, found) = (ours.as_chunks::<N>().0, found.as_chunks::<N>().0);
    let finite = ours.iter().map(&value).filter(|x| x.is_finite());
    let largest = finite.fold(0.0, |largest: f64, x| largest.max(x.abs()));
    for (at, (a, b)) in ours.iter().zip(found).enumerate() {
        let (a, b) = (value(a), value(b));
        let is_same = a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= tolerance * largest;
        if !is_same {
            return Agreement::Far(format!("element {at} is {b}, expected {a}"));
        }
    }
    Agreement::Close
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|v| v.to_le_bytes()).collect()
    }

    #[test]
    fn floats_may_be_rounded_otherwise() {
        let ours = bytes(&[100.0, 1.0, f32::NAN, f32::INFINITY]);
        let close = bytes(&[100.01, 0.9, f32::NAN, f32::INFINITY]);
        assert_eq!(compare("f32", &[], &ours, &close), Agreement::Close);
        let rounded = bytes(&[99.0, 1.0, f32::NAN, f32::INFINITY]);
        assert_eq!(compare("f32", &["bf16"], &ours, &rounded), Agreement::Close);
        for wrong in [
            [99.0, 1.0, f32::NAN, f32::INFINITY],
            [100.0, f32::NAN, f32::NAN, f32::INFINITY],
            [100.0, 1.0, 1.0, f32::INFINITY],
            [100.0, 1.0, f32::NAN, 1.0],
        ] {
            assert!(
                matches!(
                    compare("f32", &[], &ours, &bytes(&wrong)),
                    Agreement::Far(_)
                ),
                "{wrong:?}"
            );
        }
    }

    #[test]
    fn integers_are_equal() {
        assert_eq!(
            compare("i32", &[], &[1, 0, 0, 0], &[1, 0, 0, 0]),
            Agreement::Close
        );
        let far = Agreement::Far("byte 0 is 2, expected 1".to_string());
        assert_eq!(compare("i32", &[], &[1, 0, 0, 0], &[2, 0, 0, 0]), far);
        let short = Agreement::Far("2 bytes, expected 4".to_string());
        assert_eq!(compare("i32", &[], &[1, 0, 0, 0], &[2, 0]), short);
    }
}
