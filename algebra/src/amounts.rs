//! Amounts in words, for people: three digits and a unit.

/// Bytes with three digits: `1.50 KiB`.
pub fn bytes(bytes: f64) -> String {
    scaled(bytes, 1024.0, &["bytes", "KiB", "MiB", "GiB", "TiB"])
}

/// A count with three digits: `2.15 billion`.
pub fn count(number: f64) -> String {
    scaled(
        number,
        1000.0,
        &["", "thousand", "million", "billion", "trillion"],
    )
    .trim_end()
    .to_string()
}

/// `1 dimension`, `2 dimensions`, `2 lists of names`: for messages.
pub fn counted(n: usize, what: &str) -> String {
    if n == 1 {
        return format!("1 {what}");
    }
    let (noun, rest) = what.find(" of ").map_or((what, ""), |at| what.split_at(at));
    match noun {
        "carry" => format!("{n} carries{rest}"),
        "access" => format!("{n} accesses{rest}"),
        _ => format!("{n} {noun}s{rest}"),
    }
}

fn scaled(number: f64, base: f64, units: &[&str]) -> String {
    let (mut number, mut unit) = (number, 0);
    while number >= base && unit + 1 < units.len() {
        number /= base;
        unit += 1;
    }
    let decimals = match number {
        _ if unit == 0 && number.fract() == 0.0 => 0,
        x if x >= 100.0 => 0,
        x if x >= 10.0 => 1,
        _ => 2,
    };
    format!(
        "{number:.decimals$} {}",
        units.get(unit).copied().unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits() {
        let sizes = [
            bytes(0.0),
            bytes(1023.0),
            bytes(1536.0),
            bytes(3e9),
            bytes(1e18),
        ];
        assert_eq!(
            sizes,
            [
                "0 bytes",
                "1023 bytes",
                "1.50 KiB",
                "2.79 GiB",
                "909495 TiB"
            ]
        );
        let counts = [count(7.0), count(0.25), count(2147.0), count(2.147e9)];
        assert_eq!(counts, ["7", "0.25", "2.15 thousand", "2.15 billion"]);
    }
}
