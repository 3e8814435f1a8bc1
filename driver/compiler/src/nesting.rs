//! Nesting of brackets in a program. MLIR's parser, and everything that walks a program, calls
//! itself once for each level; no program that a person or a compiler writes comes near the limit.

/// The deepest nesting that is read.
pub const DEEPEST: usize = 1000;

/// The stack of a thread that reads and compiles programs. Memory for it is only taken where it is used.
pub const STACK_BYTES: usize = 256 << 20;

/// Finds a bracket that is nested too deeply: line and column, from 1, in bytes.
pub fn too_deep(text: &[u8]) -> Option<(usize, usize)> {
    let (mut depth, mut line, mut line_start) = (0usize, 1, 0);
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b'\n' => (line, line_start) = (line + 1, at + 1),
            b'/' if text[at..].starts_with(b"//") => {
                at = end_of_line(text, at);
                continue;
            }
            b'"' => at = end_of_string(text, at),
            b'(' | b'[' | b'{' => depth += 1,
            // What is a comparison or an arrow is no bracket.
            b'<' if text.get(at + 1) != Some(&b'=') => depth += 1,
            b'>' if at > 0 && text[at - 1] == b'-' => {}
            b'>' if text.get(at + 1) == Some(&b'=') => {}
            b')' | b']' | b'}' | b'>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEPEST {
            return Some((line, at - line_start + 1));
        }
        at += 1;
    }
    None
}

fn end_of_line(text: &[u8], from: usize) -> usize {
    let length = text[from..].iter().position(|&byte| byte == b'\n');
    length.map_or(text.len(), |length| from + length)
}

/// The closing quote of the string that opens at `from`; strings do not span lines.
fn end_of_string(text: &[u8], from: usize) -> usize {
    let mut at = from + 1;
    while at < text.len() {
        match text[at] {
            b'"' => return at,
            b'\n' => return at - 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_of_every_kind_count() {
        for (open, close) in [("(", ")"), ("[", "]"), ("{", "}"), ("<", ">")] {
            let nested = |n| [open.repeat(n), close.repeat(n)].concat();
            assert_eq!(too_deep(nested(DEEPEST).repeat(3).as_bytes()), None);
            let place = too_deep(format!("ab\n{}", nested(DEEPEST + 1)).as_bytes());
            assert_eq!(place, Some((2, DEEPEST + 1)));
        }
    }

    #[test]
    fn what_only_looks_like_a_bracket_does_not() {
        let lines = [
            "// (((\n",
            "\"(\\\"(\"\n",
            "a <= b, c >= d, e -> f\n",
            "\"(\n",
        ];
        for line in lines {
            assert_eq!(
                too_deep(line.repeat(DEEPEST + 1).as_bytes()),
                None,
                "{line}"
            );
        }
        assert_eq!(too_deep(b"\"\\"), None);
    }

    #[test]
    fn what_is_closed_too_often_is_for_the_parser_to_say() {
        assert_eq!(too_deep(b")))]]}}>>"), None);
    }
}
