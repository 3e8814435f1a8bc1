//! Mutants of programs' texts: tokens deleted, repeated, swapped and replaced, numbers changed,
//! the end cut off, bits flipped.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use mdh_compiler::error::Result;

use crate::case;
use crate::choices::Choices;
use crate::examine;
use crate::failure::Failure;
use crate::run::Ending;
use crate::stack;

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
fn tokens(text: &str) -> Vec<&str> {
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

/// A mutant of an example. It may be no UTF-8.
pub struct Mutant(Vec<u8>);

impl Mutant {
    /// The mutant of some choices.
    pub fn new(c: &mut Choices) -> Mutant {
        let corpus = corpus();
        let text = &corpus[index(c, "text", corpus.len())];
        Mutant(mutant(text, corpus, c))
    }
}

impl case::Case for Mutant {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }

    fn run(&self, folder: &Path) -> Ending {
        examine::examine(&self.0, folder)
    }

    fn write(&self, folder: &Path) -> Result<String> {
        let file = folder.join("mutant.mlir");
        mdh_compiler::output::write(&file, &self.0)?;
        Ok(format!("mdh compile {} --emit llvm", file.display()))
    }
}

/// All texts that mutants are made of.
fn corpus() -> &'static [String] {
    static CORPUS: OnceLock<Vec<String>> = OnceLock::new();
    CORPUS.get_or_init(|| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
        let files = std::fs::read_dir(&folder).expect("the examples are there");
        let mut files: Vec<PathBuf> = files.filter_map(|file| Some(file.ok()?.path())).collect();
        files.retain(|file| file.extension().is_some_and(|e| e == "mlir"));
        files.sort();
        let texts = files
            .iter()
            .map(|f| std::fs::read_to_string(f).expect("an example is text"));
        texts.flat_map(|text| examine::forms(&text)).collect()
    })
}

/// Crashes inside upstream's code that are known: the innermost functions of each.
fn known_upstream() -> Vec<Vec<&'static str>> {
    let text = include_str!("known_upstream.txt");
    let entries = text.split("\n\n").map(|entry| {
        let lines = entry.lines().filter(|line| !line.starts_with('#'));
        lines
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .collect()
    });
    entries
        .filter(|entry: &Vec<&str>| !entry.is_empty())
        .collect()
}

/// Returns whether a stack has a function of ours inside the call into upstream's parser or passes.
fn is_ours(frames: &[&str]) -> bool {
    const CALLS: [&str; 3] = ["mdhParseModule", "mlirOperationVerify", "mlirPassManager"];
    let is_call = |name: &&str| CALLS.iter().any(|call| name.contains(call));
    let inside = frames.iter().take_while(|name| !is_call(name));
    inside.into_iter().any(|name| name.contains("mdh"))
}

/// Returns whether a failure is a crash inside of upstream's code alone that is known.
pub fn is_known_crash(failure: &Failure) -> bool {
    let frames = stack::frames(&failure.text);
    !is_ours(&frames)
        && known_upstream().iter().any(|known| {
            let pairs = known.iter().zip(&frames);
            frames.len() >= known.len() && pairs.into_iter().all(|(k, f)| f.contains(k))
        })
}

/// A mutant of `text`; what is put in comes from `corpus`.
fn mutant(text: &str, corpus: &[String], c: &mut Choices) -> Vec<u8> {
    let mut mutated: Vec<String> = tokens(text).into_iter().map(str::to_owned).collect();
    // Mostly one change: what is wrong in several places is found wrong in the first.
    let changes = 1 + c.weighted("changes", &[3, 1, 1]);
    for n in 0..changes {
        c.scope(n, |c| {
            if c.keep() {
                change(&mut mutated, corpus, c);
            }
        });
    }
    let mut bytes = mutated.concat().into_bytes();
    if c.chance("flip", 5) && !bytes.is_empty() {
        let at = index(c, "byte", bytes.len());
        bytes[at] ^= 1 << c.below("bit", 8);
    }
    bytes
}

/// A number below a length.
fn index(c: &mut Choices, name: &str, length: usize) -> usize {
    c.below(name, length as u64) as usize
}

fn change(tokens: &mut Vec<String>, corpus: &[String], c: &mut Choices) {
    if tokens.is_empty() {
        return;
    }
    let at = index(c, "at", tokens.len());
    let here = kind(tokens[at].trim_start());
    match c.below("kind", 16) {
        0 => {
            tokens.remove(at);
        }
        1 => tokens.insert(at, tokens[at].clone()),
        2 => {
            let other = index(c, "other", tokens.len());
            tokens.swap(at, other);
        }
        3 if at + 1 < tokens.len() => tokens.swap(at, at + 1),
        4 | 5 => {
            // A token of the same kind makes a mutant that gets further.
            let text = self::tokens(&corpus[index(c, "from", corpus.len())]);
            let alike = alike(&text, here);
            if !alike.is_empty() {
                tokens[at] = text[alike[index(c, "token", alike.len())]].to_string();
            }
        }
        6 => {
            let candidates = self::tokens(&corpus[index(c, "from", corpus.len())]);
            tokens[at] = candidates[index(c, "token", candidates.len())].to_string();
        }
        // What still parses gets further.
        7 | 8 | 11 | 12 => {
            let numbers = alike(tokens, TokenKind::Number);
            if !numbers.is_empty() {
                let place = numbers[index(c, "place", numbers.len())];
                tokens[place] = format!(" {}", c.pick("number", &NUMBERS));
            }
        }
        9 => tokens.truncate(at),
        10 => move_part(tokens, at, c),
        _ => {
            // Another name that is there.
            let places = alike(tokens, here);
            tokens[at] = tokens[places[index(c, "other", places.len())]].clone();
        }
    }
}

/// The places of tokens of a kind.
fn alike<T: AsRef<str>>(tokens: &[T], wanted: TokenKind) -> Vec<usize> {
    let is_alike = |t: &usize| kind(tokens[*t].as_ref().trim_start()) == wanted;
    (0..tokens.len()).filter(is_alike).collect()
}

/// Has a part go, or stand somewhere else too.
fn move_part(tokens: &mut Vec<String>, at: usize, c: &mut Choices) {
    let end = (at + 1 + index(c, "length", 12)).min(tokens.len());
    let part: Vec<String> = match c.chance("copied", 50) {
        false => tokens.drain(at..end).collect(),
        true => tokens[at..end].to_vec(),
    };
    if c.chance("inserted", 50) {
        let place = index(c, "place", tokens.len() + 1);
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
    use crate::choices::Overrides;

    #[test]
    fn tokens_give_the_text_again() {
        let text = "%a = mdh.hom(mulf, (cc, pw(@x))) // why\n  : !mdh.mda<8x?, f32> -> -1 \"s\"";
        let pieces = tokens(text);
        assert_eq!(pieces.concat(), text);
        let trimmed: Vec<&str> = pieces.iter().map(|t| t.trim_start()).collect();
        let start = [
            "%a", "=", "mdh.hom", "(", "mulf", ",", "(", "cc", ",", "pw", "(", "@x",
        ];
        assert_eq!(trimmed[..start.len()], start);
        assert!(trimmed.contains(&"->") && trimmed.contains(&"-1") && trimmed.contains(&"\"s\""));
    }

    #[test]
    fn the_same_seed_gives_the_same_mutant() {
        let text = "func.func @f(%x: tensor<8xf32>) { return }".to_string();
        let make = |seed| {
            let mut choices = Choices::new(seed, Overrides::default());
            mutant(&text, std::slice::from_ref(&text), &mut choices)
        };
        let mutants: Vec<Vec<u8>> = (0..200).map(make).collect();
        assert_eq!(mutants, (0..200).map(make).collect::<Vec<_>>());
        let changed = mutants.iter().filter(|m| **m != text.as_bytes()).count();
        assert!(changed > 150, "{changed}");
    }
}
