//! The textual notation under a schedule: words, numbers, lists and maps, each with its place in
//! the text, read by hand and handed to serde. Its tokens are MLIR's, so that the text can stand
//! inside an attribute. JSON is read by the same rules, for the places.
//!
//! ```text
//! entries ::= name `=` value (`,` name `=` value)*
//! value   ::= number | `*` | name | name `(` values `)` | name `{` pairs `}`
//!           | `[` values `]` | `{` pairs `}`
//! pair    ::= name `:` value              name ::= bare-id | string
//! ```
//! `f(a, b)` is short for `{f: [a, b]}`, `f {a: b}` for `{f: {a: b}}`.

mod deserializer;

use std::collections::HashSet;
use std::fmt;

use serde::de;

use super::schedule_path::{EntryPart, Key, SchedulePath};
use super::spelling::control_character;

/// A value and where it starts.
#[derive(Clone, Debug)]
pub(super) struct Node {
    at: usize,
    value: NodeValue,
}

#[derive(Clone, Debug)]
enum NodeValue {
    Word(String),
    /// A string of JSON, which is not a truth value as a word may be.
    Text(String),
    /// A truth value of JSON.
    Truth(bool),
    Number(i64),
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
}

/// An error, and the offset of what it is about if that is known.
#[derive(Debug)]
pub(super) struct Located {
    pub(super) at: Option<usize>,
    pub(super) message: String,
}

impl Located {
    fn new(at: usize, message: String) -> Located {
        Located {
            at: Some(at),
            message,
        }
    }

    fn or_at(mut self, at: usize) -> Located {
        self.at.get_or_insert(at);
        self
    }
}

impl fmt::Display for Located {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Located {}

impl de::Error for Located {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Located {
            at: None,
            message: message.to_string(),
        }
    }
}

impl Node {
    /// The offset of its first character.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// The offset of what a place names, as far as that is there.
    pub(super) fn locate(&self, place: &SchedulePath) -> usize {
        let mut node = self;
        for (n, key) in place.keys.iter().enumerate() {
            let entry = match (key, &node.value) {
                (Key::Name(name), NodeValue::Map(pairs)) => {
                    pairs.iter().find(|(key, _)| key.word() == Some(name))
                }
                (Key::Named(name), NodeValue::List(items)) => items.iter().find_map(|item| {
                    let NodeValue::Map(pairs) = &item.value else {
                        return None;
                    };
                    pairs.iter().find(|(key, _)| key.word() == Some(name))
                }),
                (Key::Item(item), NodeValue::List(items)) => {
                    let Some(element) = items.get(*item) else {
                        break;
                    };
                    node = element;
                    continue;
                }
                _ => None,
            };
            let Some((key, value)) = entry else {
                break;
            };
            if n + 1 == place.keys.len() && place.part == EntryPart::Name {
                return key.at;
            }
            node = value;
        }
        node.at
    }

    fn word(&self) -> Option<&String> {
        match &self.value {
            NodeValue::Word(word) | NodeValue::Text(word) => Some(word),
            _ => None,
        }
    }
}

/// Reads entries, up to the end or to a `>` that only blanks follow; to that one if something was
/// opened before.
pub(super) fn parse(text: &str, start: usize, is_opened: bool) -> Result<Node, Located> {
    let mut parser = Parser {
        text,
        at: start,
        depth: 0,
        is_json: false,
    };
    let entries = parser.pairs('=', &['>'])?;
    parser.blanks();
    if is_opened || parser.rest().starts_with('>') {
        parser.eat('>')?;
        parser.blanks();
    }
    match parser.rest().chars().next() {
        None => Ok(Node {
            at: start,
            value: NodeValue::Map(entries),
        }),
        Some(c) => Err(parser.found(Some(c), "',' or the end")),
    }
}

/// Reads JSON that is known to be well formed: an object.
pub(super) fn parse_json(text: &str) -> Result<Node, Located> {
    let mut parser = Parser {
        text,
        at: 0,
        depth: 0,
        is_json: true,
    };
    let first = parser.peek();
    let at = parser.at;
    if first != Some('{') {
        return Err(Located::new(
            at,
            format!("found {}, expected an object: {{..}}", parser.kind()),
        ));
    }
    let value = parser.map()?;
    Ok(Node { at, value })
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    is_json: bool,
}

/// Returns the length of the blanks and comments at the start of a text.
pub(super) fn blanks(text: &str) -> usize {
    let mut at = 0;
    loop {
        let trimmed = text[at..].trim_start();
        at = text.len() - trimmed.len();
        if !trimmed.starts_with("//") {
            return at;
        }
        at += trimmed.find('\n').unwrap_or(trimmed.len());
    }
}

/// Deeper nesting than any schedule has.
const DEPTH: usize = 32;

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn blanks(&mut self) {
        self.at += blanks(self.rest());
    }

    fn peek(&mut self) -> Option<char> {
        self.blanks();
        self.rest().chars().next()
    }

    /// The kind of JSON value that comes next.
    fn kind(&self) -> &'static str {
        match self.rest().chars().next() {
            Some('"') => "a string",
            Some('[') => "a list",
            Some('{') => "an object",
            Some('n') => "null",
            Some('t' | 'f') => "a truth value",
            _ => "a number",
        }
    }

    fn found(&self, c: Option<char>, expected: &str) -> Located {
        let seen = c.map_or("the end".into(), |c| format!("'{c}'"));
        Located::new(self.at, format!("found {seen}, expected {expected}"))
    }

    fn eat(&mut self, c: char) -> Result<(), Located> {
        match self.peek() {
            Some(found) if found == c => {
                self.at += c.len_utf8();
                Ok(())
            }
            found => Err(self.found(found, &format!("'{c}'"))),
        }
    }

    /// `name separator value, ..` up to the end or one of `ends`, which stays.
    fn pairs(&mut self, separator: char, ends: &[char]) -> Result<Vec<(Node, Node)>, Located> {
        let (mut pairs, mut names) = (Vec::new(), HashSet::new());
        loop {
            match self.peek() {
                None => return Ok(pairs),
                Some(c) if ends.contains(&c) => return Ok(pairs),
                _ => {}
            }
            let key = self.name()?;
            if let Some(name) = key.word().filter(|name| !names.insert(name.to_string())) {
                return Err(Located::new(key.at, format!("found {name:?} twice")));
            }
            self.eat(separator)?;
            pairs.push((key, self.value()?));
            if self.peek() == Some(',') {
                self.at += 1;
            } else {
                return Ok(pairs);
            }
        }
    }

    fn values(&mut self, end: char) -> Result<Vec<Node>, Located> {
        let mut values = Vec::new();
        while self.peek() != Some(end) {
            values.push(self.value()?);
            if self.peek() != Some(',') {
                break;
            }
            self.at += 1;
        }
        self.eat(end)?;
        Ok(values)
    }

    fn name(&mut self) -> Result<Node, Located> {
        let first = self.peek();
        let at = self.at;
        let word = match first {
            Some('"') => self.string()?,
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let rest = self.rest();
                let part = |c: char| c.is_ascii_alphanumeric() || "_$.".contains(c);
                let length = rest.find(|c| !part(c)).unwrap_or(rest.len());
                self.at += length;
                rest[..length].to_string()
            }
            found => return Err(self.found(found, "a name")),
        };
        Ok(Node {
            at,
            value: NodeValue::Word(word),
        })
    }

    fn string(&mut self) -> Result<String, Located> {
        let mut stream = serde_json::Deserializer::from_str(self.rest()).into_iter::<String>();
        match stream.next() {
            Some(Ok(word)) if word.contains(char::is_control) => {
                Err(Located::new(self.at, control_character(&word)))
            }
            Some(Ok(word)) => {
                self.at += stream.byte_offset();
                Ok(word)
            }
            _ => Err(Located::new(
                self.at,
                "found a string that does not end well".into(),
            )),
        }
    }

    fn number(&mut self) -> Result<i64, Located> {
        let rest = self.rest();
        let digits = |c: char| c.is_ascii_digit() || "-+.eE".contains(c);
        let length = rest.find(|c| !digits(c)).unwrap_or(rest.len());
        let number = rest[..length].parse();
        let at = self.at;
        self.at += length;
        number.map_err(|_| {
            Located::new(
                at,
                format!("found '{}', expected an integer", &rest[..length]),
            )
        })
    }

    fn value(&mut self) -> Result<Node, Located> {
        self.depth += 1;
        let first = self.peek();
        let at = self.at;
        if self.depth > DEPTH {
            return Err(Located::new(
                at,
                format!("found more than {DEPTH} nested values"),
            ));
        }
        let value = match first {
            Some('*') => {
                self.at += 1;
                NodeValue::Word("*".into())
            }
            Some(c) if c.is_ascii_digit() || c == '-' => NodeValue::Number(self.number()?),
            Some('[') => {
                self.at += 1;
                NodeValue::List(self.values(']')?)
            }
            Some('{') => self.map()?,
            _ if self.is_json => self.json_word()?,
            _ => {
                let name = self.name()?;
                match self.peek() {
                    Some('(') => {
                        self.at += 1;
                        let at = self.at;
                        let value = NodeValue::List(self.values(')')?);
                        NodeValue::Map(vec![(name, Node { at, value })])
                    }
                    Some('{') => {
                        let at = self.at;
                        let value = self.map()?;
                        NodeValue::Map(vec![(name, Node { at, value })])
                    }
                    _ => name.value,
                }
            }
        };
        self.depth -= 1;
        Ok(Node { at, value })
    }

    /// A string, `true` or `false`.
    fn json_word(&mut self) -> Result<NodeValue, Located> {
        if self.rest().starts_with("null") {
            let message = "found null, expected a value, or no entry of that name";
            return Err(Located::new(self.at, message.into()));
        }
        if self.rest().starts_with('"') {
            return self.string().map(NodeValue::Text);
        }
        let is_true = self.rest().starts_with("true");
        self.at += if is_true { 4 } else { 5 };
        Ok(NodeValue::Truth(is_true))
    }

    fn map(&mut self) -> Result<NodeValue, Located> {
        self.eat('{')?;
        let pairs = self.pairs(':', &['}'])?;
        self.eat('}')?;
        Ok(NodeValue::Map(pairs))
    }
}
