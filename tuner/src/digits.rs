//! The digits of a cost, the same wherever it is shown.

/// A cost of four significant digits, or all of those before the point, with its unit.
pub fn shown(cost: f64, unit: &str) -> String {
    let digits = match cost.abs() {
        0.0 => "0".to_string(),
        size @ 1e-6..1e15 => {
            let decimals = (3 - size.log10().floor() as i64).max(0);
            format!("{cost:.*}", decimals as usize)
        }
        _ => format!("{cost:.3e}"),
    };
    let blank = if unit.is_empty() { "" } else { " " };
    format!("{digits}{blank}{unit}")
}

/// The number that is shown of a cost.
pub fn rounded(cost: f64) -> f64 {
    shown(cost, "").parse().unwrap_or(cost)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_have_four_digits() {
        for (cost, expected) in [
            (0.0, "0"),
            (0.061_664, "0.06166"),
            (0.577_48, "0.5775"),
            (1.23456, "1.235"),
            (-2.5, "-2.500"),
            (12.0, "12.00"),
            (1234.56, "1235"),
            (12_345_678.0, "12345678"),
            (1.5e-7, "1.500e-7"),
            (2.5e20, "2.500e20"),
        ] {
            assert_eq!(shown(cost, ""), expected);
            assert_eq!(shown(rounded(cost), ""), expected);
            assert_eq!(Ok(rounded(cost)), expected.parse());
        }
        assert_eq!(shown(12.0, "ms"), "12.00 ms");
    }
}
