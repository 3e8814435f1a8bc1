//! Types of elements.

/// The types of most elements of programs, the simplest first.
pub const ELEMENTS: [(&str, u64); 9] = [
    ("i32", 38),
    ("f32", 27),
    ("i1", 5),
    ("i8", 5),
    ("f64", 5),
    ("f16", 6),
    ("bf16", 4),
    ("i64", 6),
    ("i16", 4),
];

/// Returns whether elements are floats.
pub fn is_float(element: &str) -> bool {
    element.contains('f')
}

/// Types whose every value is one of this type.
pub fn narrower(element: &str) -> &'static [&'static str] {
    match element {
        "i64" => &["i8", "i32"],
        "i32" => &["i8", "i16"],
        "i16" => &["i8"],
        "f64" => &["f32", "f16"],
        "f32" => &["f16", "bf16"],
        "f16" => &["f16"],
        "bf16" => &["bf16"],
        "i8" => &["i8"],
        _ => &["i1"],
    }
}

/// The number of bits of a type.
pub fn width(element: &str) -> u32 {
    let digits = element.trim_start_matches(|c: char| !c.is_ascii_digit());
    digits.parse().unwrap_or(0)
}

/// The operation that makes one type of another.
pub fn cast(from: &str, to: &str) -> &'static str {
    match (is_float(from), is_float(to)) {
        (false, false) if width(from) < width(to) => "extsi",
        (false, false) => "trunci",
        (true, true) if width(from) < width(to) => "extf",
        (true, true) => "truncf",
        (true, false) => "fptosi",
        (false, true) => "sitofp",
    }
}

/// The infinities of a type, as constants have them.
pub fn infinite(element: &str, is_negative: bool) -> &'static str {
    match (element, is_negative) {
        ("f64", true) => "0xFFF0000000000000",
        ("f64", false) => "0x7FF0000000000000",
        ("f16", true) => "0xFC00",
        ("f16", false) => "0x7C00",
        ("bf16", true) => "0xFF80",
        ("bf16", false) => "0x7F80",
        (_, true) => "0xFF800000",
        (_, false) => "0x7F800000",
    }
}

/// A value of a type that is no number, as constants have it.
pub fn nan(element: &str) -> &'static str {
    match element {
        "f64" => "0x7FF8000000000000",
        "f16" => "0x7E00",
        "bf16" => "0x7FC0",
        _ => "0x7FC00000",
    }
}
