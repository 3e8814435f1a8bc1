//! Variables: memory with a name, and its contents.

use crate::address_space::WIDEST;
use crate::instruction::Type;

/// Constants of a module, which kernels only read.
#[derive(Clone, Debug, Default)]
pub struct Constants {
    /// Names, with their offsets.
    pub names: Vec<(String, usize)>,
    /// The bytes of all.
    pub bytes: Vec<u8>,
}

impl Constants {
    /// Those of the text outside of functions: `.global .align 4 .b8 table[8] = {0, 0, 96, 64};`
    pub fn new(text: &str) -> Result<Constants, String> {
        let mut constants = Constants::default();
        for statement in text.split(';').map(str::trim) {
            // Directives of the module, and heads of kernels, have no end of their own.
            let lines = statement.match_indices('\n').map(|(end, _)| end + 1);
            let mut starts = std::iter::once(0).chain(lines);
            let Some(start) = starts.find(|start| is_constant(&statement[*start..])) else {
                continue;
            };
            let Some((declared, values)) = statement[start..].split_once('=') else {
                return Err(format!("'{statement}': expected what is in it"));
            };
            let wrong = || format!("'{statement}': expected a variable, and numbers in it");
            let (name, bytes) = variable(declared.trim()).ok_or_else(wrong)?;
            let ty = width(declared).ok_or_else(wrong)?;
            let offset = constants.bytes.len().next_multiple_of(16);
            constants.bytes.resize(offset, 0);
            let values = values.split(['{', '}', ',']).map(str::trim);
            for value in values.filter(|value| !value.is_empty()) {
                let value = immediate(value).ok_or_else(wrong)?;
                constants.bytes.extend(&value.to_le_bytes()[..ty.bytes()]);
            }
            if constants.bytes.len() > offset + bytes {
                return Err(wrong());
            }
            constants.bytes.resize(offset + bytes, 0);
            constants.names.push((name, offset));
        }
        // A load may reach beyond the last one.
        constants
            .bytes
            .resize(constants.bytes.len().next_multiple_of(WIDEST), 0);
        Ok(constants)
    }
}

/// Returns whether a text begins with a variable that is no block's and no thread's.
fn is_constant(text: &str) -> bool {
    let is_linkage = |word: &&str| [".visible", ".extern", ".weak", ".common"].contains(word);
    let mut words = text.split_whitespace().skip_while(is_linkage);
    matches!(words.next(), Some(".global" | ".const"))
}

/// Returns the text outside of functions: memory of the whole module.
pub fn outside(text: &str) -> Result<String, String> {
    let (mut left, mut rest) = (String::new(), text);
    while let Some(open) = rest.find('{') {
        let close = open + matching(&rest[open..])?;
        // What a variable has is no function.
        let length = match rest[..open].trim_end().ends_with('=') {
            true => close + 1,
            false => open,
        };
        left.push_str(&rest[..length]);
        rest = &rest[close + 1..];
    }
    left.push_str(rest);
    Ok(left)
}

/// The place of the brace that closes the one at the start.
pub fn matching(text: &str) -> Result<usize, String> {
    let mut depth = 0;
    for (place, letter) in text.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => continue,
        }
        if depth == 0 {
            return Ok(place);
        }
    }
    Err("expected '}'".to_string())
}

/// The name of a variable and its bytes: `.. .b8 name[2][40]`, and none of `name[]`, which is as large
/// as a launch says.
pub fn variable(text: &str) -> Option<(String, usize)> {
    let mut words = text.split_whitespace();
    let ty = words
        .clone()
        .find_map(|word| Type::parse(word.strip_prefix('.')?))?;
    let mut parts = words.next_back()?.split('[');
    let name = parts.next().filter(|name| !name.is_empty())?;
    let mut bytes = ty.bytes();
    for extent in parts {
        bytes *= match extent.trim_end_matches(']') {
            "" => 0,
            number => number.parse::<usize>().ok()?,
        };
    }
    Some((name.to_string(), bytes))
}

/// The type of a variable's elements.
fn width(text: &str) -> Option<Type> {
    let mut words = text.split_whitespace();
    words.find_map(|word| Type::parse(word.strip_prefix('.')?))
}

/// A number; of a float, its bits.
pub fn immediate(text: &str) -> Option<u64> {
    let text = text.strip_suffix('U').unwrap_or(text);
    if let Some(bits) = text.strip_prefix("0f") {
        return u32::from_str_radix(bits, 16).ok().map(u64::from);
    }
    if let Some(bits) = text.strip_prefix("0d").or_else(|| text.strip_prefix("0x")) {
        return u64::from_str_radix(bits, 16).ok();
    }
    match text.strip_prefix('-') {
        Some(digits) => digits.parse().ok().map(u64::wrapping_neg),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_have_bytes() {
        let text = ".version 8.0\n.target sm_90\n.global .align 4 .b8 a[6] = {1, 2, 255};\n\
                    .visible .const .align 4 .b32 b = 7;\n";
        let constants = Constants::new(text).unwrap();
        assert_eq!(
            constants.names,
            [("a".to_string(), 0), ("b".to_string(), 16)]
        );
        assert_eq!(constants.bytes[..6], [1, 2, 255, 0, 0, 0]);
        assert_eq!(constants.bytes[16..20], [7, 0, 0, 0]);
        // Pointers to the device's memory are none.
        let head = ".entry f(\n.param .u64 .ptr .global .align 1 p\n)\n";
        assert!(Constants::new(head).unwrap().names.is_empty());
        assert!(Constants::new(".global .b8 a[2] = {1, 2, 3};").is_err());
        assert!(Constants::new(".global .b64 a[1] = {f};").is_err());
        assert!(Constants::new(".global .b64 a[1];").is_err());
    }

    #[test]
    fn functions_are_left_out() {
        let text = ".global .b8 a[2] = {1, 2};\n.entry f() { a; { b } }\n.extern .shared .b8 c[];";
        assert_eq!(
            outside(text).unwrap(),
            ".global .b8 a[2] = {1, 2};\n.entry f() \n.extern .shared .b8 c[];"
        );
    }
}
