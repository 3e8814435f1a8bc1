//! Mutants of programs' texts: tokens deleted, repeated, swapped and replaced, numbers changed,
//! the end cut off, bits flipped.

use mdh_algebra::random::Random;

/// Replacements of numbers.
const NUMBERS: [&str; 16] = [
    "0",
    "1",
    "-1",
    "2",
    "3",
    "-7",
    "1000000007",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "18446744073709551616",
    "99999999999999999999999999",
    "0x7FF8000000000000",
    "1.5",
    "1e300",
];

/// A text as tokens; put together, they give the text again. White space is part of the token
/// behind it, and so are comments.
pub fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let blank = blank(rest);
        let length = blank + token(&rest[blank..]);
        tokens.push(&rest[..length]);
        rest = &rest[length..];
    }
    tokens
}

/// The length of white space and comments at the start.
fn blank(text: &str) -> usize {
    let mut length = 0;
    loop {
        let rest = &text[length..];
        let spaces = rest.len() - rest.trim_start().len();
        let comment = match rest[spaces..].starts_with("//") {
            true => rest[spaces..].find('\n').unwrap_or(rest.len() - spaces),
            false => 0,
        };
        if spaces + comment == 0 {
            return length;
        }
        length += spaces + comment;
    }
}

/// The length of the token at the start.
fn token(text: &str) -> usize {
    let mut characters = text.chars();
    let Some(first) = characters.next() else {
        return 0;
    };
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '$');
    let word = |start: usize| {
        let rest = &text[start..];
        start + rest.find(|c| !is_word(c)).unwrap_or(rest.len())
    };
    let second = characters.next().unwrap_or(' ');
    match first {
        '"' => text[1..].find('"').map_or(text.len(), |end| end + 2),
        '%' | '@' | '#' | '!' | '^' if is_word(second) => word(1),
        '-' if second.is_ascii_digit() => word(1),
        '-' if second == '>' => 2,
        c if is_word(c) => word(0),
        c => c.len_utf8(),
    }
}

/// A mutant of `text`; what is put in comes from `corpus`. It may be no UTF-8.
pub fn mutant(text: &str, corpus: &[String], random: &mut Random) -> Vec<u8> {
    let mut mutated: Vec<String> = tokens(text).into_iter().map(str::to_owned).collect();
    // Mostly one change: what is wrong in several places is found wrong in the first.
    let changes = 1 + [0, 0, 0, 1, 2][random.below(5) as usize];
    for _ in 0..changes {
        change(&mut mutated, corpus, random);
    }
    let mut bytes = mutated.concat().into_bytes();
    if random.below(20) == 0 && !bytes.is_empty() {
        let at = random.below(bytes.len() as u64) as usize;
        bytes[at] ^= 1 << random.below(8);
    }
    bytes
}

fn change(tokens: &mut Vec<String>, corpus: &[String], random: &mut Random) {
    if tokens.is_empty() {
        return;
    }
    let at = below(random, tokens.len());
    match random.below(16) {
        0 => {
            tokens.remove(at);
        }
        1 => tokens.insert(at, tokens[at].clone()),
        2 => {
            let other = below(random, tokens.len());
            tokens.swap(at, other);
        }
        3 if at + 1 < tokens.len() => tokens.swap(at, at + 1),
        4 | 5 => {
            // A token of the same kind makes a mutant that gets further.
            let text = self::tokens(&corpus[below(random, corpus.len())]);
            let alike = alike(&text, kind(tokens[at].trim_start()));
            if !alike.is_empty() {
                tokens[at] = text[alike[below(random, alike.len())]].to_string();
            }
        }
        6 => {
            let text = self::tokens(&corpus[below(random, corpus.len())]);
            tokens[at] = text[below(random, text.len())].to_string();
        }
        // What still parses gets further.
        7 | 8 | 11 | 12 => {
            let numbers = alike(tokens, TokenKind::Number);
            if !numbers.is_empty() {
                let number = NUMBERS[below(random, NUMBERS.len())];
                tokens[numbers[below(random, numbers.len())]] = format!(" {number}");
            }
        }
        9 => tokens.truncate(at),
        10 => move_part(tokens, at, random),
        _ => {
            // Another name that is there.
            let alike = alike(tokens, kind(tokens[at].trim_start()));
            tokens[at] = tokens[alike[below(random, alike.len())]].clone();
        }
    }
}

fn below(random: &mut Random, bound: usize) -> usize {
    random.below(bound as u64) as usize
}

/// The positions of tokens of a kind.
fn alike<T: AsRef<str>>(tokens: &[T], wanted: TokenKind) -> Vec<usize> {
    let is_alike = |t: &usize| kind(tokens[*t].as_ref().trim_start()) == wanted;
    (0..tokens.len()).filter(is_alike).collect()
}

/// Has a part go, or stand somewhere else too.
fn move_part(tokens: &mut Vec<String>, at: usize, random: &mut Random) {
    let end = (at + 1 + below(random, 12)).min(tokens.len());
    let part: Vec<String> = match random.below(2) {
        0 => tokens.drain(at..end).collect(),
        _ => tokens[at..end].to_vec(),
    };
    if random.below(2) == 0 {
        let place = below(random, tokens.len() + 1);
        tokens.splice(place..place, part);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TokenKind {
    Number,
    Word,
    /// `%a`, `@f`, `!t`, `#a`, `^b`, a string.
    Name(char),
    Sign,
}

fn kind(token: &str) -> TokenKind {
    match token.trim_start_matches('-').chars().next() {
        Some(c) if c.is_ascii_digit() => TokenKind::Number,
        Some(c) if c.is_alphabetic() || c == '_' => TokenKind::Word,
        Some(c @ ('%' | '@' | '!' | '#' | '^' | '"')) => TokenKind::Name(c),
        _ => TokenKind::Sign,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_give_the_text_again() {
        let text = "%a = mdh.hom(mulf, (cc, pw(@x))) // why\n  : !mdh.mda<8x?, f32> -> -1 \"s\"";
        let found = tokens(text);
        assert_eq!(found.concat(), text);
        let trimmed: Vec<&str> = found.iter().map(|t| t.trim_start()).collect();
        let start = [
            "%a", "=", "mdh.hom", "(", "mulf", ",", "(", "cc", ",", "pw", "(", "@x",
        ];
        assert_eq!(trimmed[..start.len()], start);
        assert!(trimmed.contains(&"->") && trimmed.contains(&"-1") && trimmed.contains(&"\"s\""));
    }

    #[test]
    fn the_same_seed_gives_the_same_mutant() {
        let text = "func.func @f(%x: tensor<8xf32>) { return }".to_string();
        let make = |seed| mutant(&text, std::slice::from_ref(&text), &mut Random::new(seed));
        let all: Vec<Vec<u8>> = (0..200).map(make).collect();
        assert_eq!(all, (0..200).map(make).collect::<Vec<_>>());
        let changed = all.iter().filter(|m| **m != text.as_bytes()).count();
        assert!(changed > 150, "{changed}");
    }
}
