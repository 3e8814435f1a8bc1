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

/// A number as constants have it.
pub fn number(number: i64, element: &str) -> String {
    match element {
        _ if is_float(element) => format!("{number}.0 : {element}"),
        "i1" => format!("{}", number % 2 != 0),
        _ => format!("{number} : {element}"),
    }
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

/// An infinity of a type, or a value that is no number, as constants have them.
pub fn special(element: &str, which: Special) -> &'static str {
    let values = match element {
        "f64" => [
            "0x7FF0000000000000",
            "0xFFF0000000000000",
            "0x7FF8000000000000",
        ],
        "f16" => ["0x7C00", "0xFC00", "0x7E00"],
        "bf16" => ["0x7F80", "0xFF80", "0x7FC0"],
        _ => ["0x7F800000", "0xFF800000", "0x7FC00000"],
    };
    values[which as usize]
}

/// A float that is no finite number.
#[derive(Clone, Copy)]
pub enum Special {
    Infinity,
    NegativeInfinity,
    Nan,
}
