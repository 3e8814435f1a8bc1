//! The textual notation under a schedule: words, numbers, lists and maps, each with its place in
//! the text, read by hand and handed to serde. Its tokens are MLIR's, so that the text can stand
//! inside an attribute.
//!
//! ```text
//! entries ::= name `=` value (`,` name `=` value)*
//! value   ::= number | `*` | name | name `(` values `)` | name `{` pairs `}`
//!           | `[` values `]` | `{` pairs `}`
//! pair    ::= name `:` value              name ::= bare-id | string
//! ```
//! `f(a, b)` is short for `{f: [a, b]}`, `f {a: b}` for `{f: {a: b}}`.

use std::fmt;

use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{self, DeserializeSeed, Deserializer, IntoDeserializer, Visitor};

/// A value and where it starts.
#[derive(Clone, Debug)]
pub(super) struct Node {
    at: usize,
    value: Value,
}

#[derive(Clone, Debug)]
enum Value {
    Word(String),
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

/// Reads entries, up to the end or to a `>` that only blanks follow.
pub(super) fn parse(text: &str, start: usize) -> Result<Node, Located> {
    let mut parser = Parser {
        text,
        at: start,
        depth: 0,
    };
    let entries = parser.pairs('=', &['>'])?;
    parser.blanks();
    if parser.rest().starts_with('>') {
        parser.at += 1;
        parser.blanks();
    }
    match parser.rest().chars().next() {
        None => Ok(Node {
            at: start,
            value: Value::Map(entries),
        }),
        Some(c) => Err(parser.found(Some(c), "',' or the end")),
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

/// Deeper nesting than any schedule has.
const DEPTH: usize = 32;

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn blanks(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            self.at += rest.len() - trimmed.len();
            if !trimmed.starts_with("//") {
                return;
            }
            self.at += trimmed.find('\n').unwrap_or(trimmed.len());
        }
    }

    fn peek(&mut self) -> Option<char> {
        self.blanks();
        self.rest().chars().next()
    }

    fn found(&self, c: Option<char>, expected: &str) -> Located {
        let found = c.map_or("the end".into(), |c| format!("'{c}'"));
        Located::new(self.at, format!("found {found}, expected {expected}"))
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
        let mut pairs = Vec::new();
        loop {
            match self.peek() {
                None => return Ok(pairs),
                Some(c) if ends.contains(&c) => return Ok(pairs),
                _ => {}
            }
            let key = self.name()?;
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
            value: Value::Word(word),
        })
    }

    fn string(&mut self) -> Result<String, Located> {
        let mut stream = serde_json::Deserializer::from_str(self.rest()).into_iter::<String>();
        match stream.next() {
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
        let digits = |c: char| c.is_ascii_digit() || c == '-';
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
                Value::Word("*".into())
            }
            Some(c) if c.is_ascii_digit() || c == '-' => Value::Number(self.number()?),
            Some('[') => {
                self.at += 1;
                Value::List(self.values(']')?)
            }
            Some('{') => self.map()?,
            _ => {
                let name = self.name()?;
                match self.peek() {
                    Some('(') => {
                        self.at += 1;
                        let at = self.at;
                        let value = Value::List(self.values(')')?);
                        Value::Map(vec![(name, Node { at, value })])
                    }
                    Some('{') => {
                        let at = self.at;
                        let value = self.map()?;
                        Value::Map(vec![(name, Node { at, value })])
                    }
                    _ => name.value,
                }
            }
        };
        self.depth -= 1;
        Ok(Node { at, value })
    }

    fn map(&mut self) -> Result<Value, Located> {
        self.eat('{')?;
        let pairs = self.pairs(':', &['}'])?;
        self.eat('}')?;
        Ok(Value::Map(pairs))
    }
}

struct Pairs<'a> {
    pairs: std::slice::Iter<'a, (Node, Node)>,
    value: Option<&'a Node>,
}

impl<'de> de::MapAccess<'de> for Pairs<'de> {
    type Error = Located;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Located> {
        let Some((key, value)) = self.pairs.next() else {
            return Ok(None);
        };
        self.value = Some(value);
        seed.deserialize(key).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Located> {
        match self.value.take() {
            Some(value) => seed.deserialize(value),
            None => Err(de::Error::custom("bug: a value without a name")),
        }
    }
}

struct Items<'a>(std::slice::Iter<'a, Node>);

impl<'de> de::SeqAccess<'de> for Items<'de> {
    type Error = Located;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Located> {
        self.0.next().map(|node| seed.deserialize(node)).transpose()
    }
}

impl<'de> Deserializer<'de> for &'de Node {
    type Error = Located;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Located> {
        let result = match &self.value {
            Value::Word(word) => visitor.visit_str(word),
            Value::Number(number) => visitor.visit_i64(*number),
            Value::List(items) => visitor.visit_seq(Items(items.iter())),
            Value::Map(pairs) => visitor.visit_map(Pairs {
                pairs: pairs.iter(),
                value: None,
            }),
        };
        result.map_err(|e| e.or_at(self.at))
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Located> {
        match &self.value {
            Value::Word(word) if word == "true" => visitor.visit_bool(true),
            Value::Word(word) if word == "false" => visitor.visit_bool(false),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Located> {
        visitor
            .visit_some(self)
            .map_err(|e: Located| e.or_at(self.at))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Located> {
        let result = match &self.value {
            Value::Map(pairs) => visitor.visit_enum(MapAccessDeserializer::new(Pairs {
                pairs: pairs.iter(),
                value: None,
            })),
            Value::Word(word) => {
                let word: StrDeserializer<Located> = word.as_str().into_deserializer();
                visitor.visit_enum(word)
            }
            _ => return self.deserialize_any(visitor),
        };
        result.map_err(|e| e.or_at(self.at))
    }

    serde::forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}
