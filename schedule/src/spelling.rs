//! The two spellings that live here: text, as it stands in an attribute, and JSON. (The third,
//! transform operations, [edits](super::edit) the attribute.) Both are of the written form, and
//! nothing is lost between them.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::schedule_path::SchedulePath;
use crate::schedule::{Schedule, Schedules};
use crate::tree;

/// Reason for which a text is no schedule, and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// The offset in bytes, from 0.
    pub offset: usize,
    /// Found and expected.
    pub message: String,
}

impl ParseError {
    fn new(text: &str, error: tree::Located, start: usize) -> ParseError {
        let offset = error.at.unwrap_or(start).min(text.len());
        ParseError::at(text, offset, error.message)
    }

    fn at(text: &str, offset: usize, message: String) -> ParseError {
        let before = &text[..offset];
        let line = before.rfind('\n').map_or(0, |n| n + 1);
        ParseError {
            line: before.matches('\n').count() + 1,
            column: before[line..].chars().count() + 1,
            offset,
            message,
        }
    }
}

/// `3:14: found ..`.
impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for ParseError {}

const OPENING: &str = "#mdh.schedule<";

/// Order of entries where they are printed.
const ORDER: [&str; 11] = [
    "asm",
    "layers",
    "decompose",
    "scalar",
    "recompose",
    "tile_order",
    "inputs",
    "outputs",
    "tails",
    "compute_at",
    "deterministic",
];

/// Layouts that are written `permuted(2, 1)`.
const CALLS: [&str; 3] = ["permuted", "blocked", "padded"];

/// Longer lines are broken.
const WIDTH: usize = 96;

/// Reads `#mdh.schedule<..>`, after comments too, or only what stands inside.
impl FromStr for Schedule {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Schedule, ParseError> {
        let node = attribute(text)?;
        Schedule::deserialize(&node).map_err(|error| ParseError::new(text, error, node.at()))
    }
}

/// The entries that stand in the text of an attribute.
fn attribute(text: &str) -> Result<tree::Node, ParseError> {
    let blanks = tree::blanks(text);
    let is_opened = text[blanks..].starts_with(OPENING);
    let start = match is_opened {
        true => blanks + OPENING.len(),
        false => blanks,
    };
    tree::parse(text, start, is_opened).map_err(|error| ParseError::new(text, error, start))
}

/// `#mdh.schedule<..>`, an entry on each line.
impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Names, numbers, lists and maps always serialise.
        let value = serde_json::to_value(self).map_err(|_| fmt::Error)?;
        let Value::Object(entries) = value else {
            return Err(fmt::Error);
        };
        let mut entries: Vec<(String, Value)> = entries.into_iter().collect();
        entries.sort_by_key(|(name, _)| ORDER.iter().position(|n| n == name));
        let lines = entries.iter().map(|(name, value)| {
            let line = format!("  {name} = {}", inline(value));
            if line.len() < WIDTH {
                return line;
            }
            format!("  {name} = {}", broken(value))
        });
        let lines: Vec<String> = lines.collect();
        match lines.is_empty() {
            true => write!(f, "{OPENING}>"),
            false => write!(f, "{OPENING}\n{}>", lines.join(",\n")),
        }
    }
}

impl Schedule {
    /// Reads JSON (`docs/schedule.schema.json` describes it).
    pub fn from_json(text: &str) -> Result<Schedule, ParseError> {
        from_json(text)
    }

    /// The schedule as JSON.
    pub fn to_json(&self) -> String {
        // Names, numbers, lists and maps always serialise.
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

impl Schedules {
    /// Reads JSON.
    pub fn from_json(text: &str) -> Result<Schedules, ParseError> {
        from_json(text)
    }

    /// The schedules as JSON.
    pub fn to_json(&self) -> String {
        // Names, numbers, lists and maps always serialise.
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

fn from_json<T: DeserializeOwned>(text: &str) -> Result<T, ParseError> {
    let node = json(text)?;
    T::deserialize(&node).map_err(|error| ParseError::new(text, error, node.at()))
}

/// Parses a text of JSON.
fn json(text: &str) -> Result<tree::Node, ParseError> {
    let wrong = |error: serde_json::Error| {
        let message = error.to_string();
        let end = message.rfind(" at line ").unwrap_or(message.len());
        ParseError::at(text, offset(text, &error), message[..end].to_string())
    };
    let _: Value = serde_json::from_str(text).map_err(wrong)?;
    tree::parse_json(text).map_err(|error| ParseError::new(text, error, 0))
}

/// Finds the position of an entry in a text that is a schedule, or holds some: the line and the
/// column, from 1.
pub fn locate(text: &str, place: &SchedulePath) -> Option<(usize, usize)> {
    let node = match is_json(text) {
        true => json(text).ok()?,
        false => attribute(text).ok()?,
    };
    let at = ParseError::at(text, node.locate(place), String::new());
    Some((at.line, at.column))
}

/// Returns whether a text is JSON, right or wrong, and not the text of an attribute.
pub fn is_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '[']) || serde_json::from_str::<Value>(text).is_ok()
}

/// Returns the offset of serde's error: it counts lines from 1, and the bytes of a line that it has
/// read.
fn offset(text: &str, error: &serde_json::Error) -> usize {
    let before = text.split_inclusive('\n').take(error.line().max(1) - 1);
    let line: usize = before.map(str::len).sum();
    let mut offset = (line + error.column().max(1) - 1).min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

/// A name with a control character: the two notations escape those differently.
pub(super) fn unprintable(value: &Value) -> Option<String> {
    let bad = |name: &String| name.contains(char::is_control).then(|| name.clone());
    match value {
        Value::String(name) => bad(name),
        Value::Array(items) => items.iter().find_map(unprintable),
        Value::Object(entries) => entries
            .iter()
            .find_map(|(name, value)| bad(name).or_else(|| unprintable(value))),
        _ => None,
    }
}

pub(super) fn control_character(name: &str) -> String {
    format!("found {name:?}, expected a name without control characters")
}

pub(super) fn word(name: &str) -> String {
    let mut chars = name.chars();
    let first = chars
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    let bare = first && chars.all(|c| c.is_ascii_alphanumeric() || "_$.".contains(c));
    match bare {
        true => name.into(),
        false => Value::from(name).to_string(),
    }
}

pub(super) fn inline(value: &Value) -> String {
    match value {
        Value::String(name) if name == "*" => name.clone(),
        Value::String(name) => word(name),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(item).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(entries) => {
            if let Some(call) = call(value) {
                return call;
            }
            let entries = entries
                .iter()
                .map(|(k, v)| format!("{}: {}", word(k), inline(v)));
            let entries: Vec<_> = entries.collect();
            format!("{{{}}}", entries.join(", "))
        }
        other => other.to_string(),
    }
}

/// `permuted(2, 1)`.
fn call(value: &Value) -> Option<String> {
    let entries = value.as_object().filter(|entries| entries.len() == 1)?;
    let (name, arguments) = entries.iter().next()?;
    let arguments = arguments
        .as_array()
        .filter(|_| CALLS.contains(&name.as_str()))?;
    let arguments: Vec<_> = arguments.iter().map(inline).collect();
    Some(format!("{name}({})", arguments.join(", ")))
}

/// An item of a list: a layer is written `block {i: 2}`.
fn item(value: &Value) -> String {
    let layer = value.as_object().filter(|entries| entries.len() == 1);
    match layer.and_then(|entries| entries.iter().next()) {
        Some((name, parts @ Value::Object(_))) => format!("{} {}", word(name), inline(parts)),
        _ => inline(value),
    }
}

/// On several lines, as far as there are several parts.
fn broken(value: &Value) -> String {
    let (open, parts, close) = match value {
        Value::Array(items) => ('[', items.iter().map(item).collect::<Vec<_>>(), ']'),
        Value::Object(entries) => {
            let pair = |(k, v): (&String, &Value)| format!("{}: {}", word(k), inline(v));
            ('{', entries.iter().map(pair).collect(), '}')
        }
        other => return inline(other),
    };
    let mut lines: Vec<String> = vec![String::new()];
    for (n, part) in parts.iter().enumerate() {
        let comma = if n + 1 < parts.len() { "," } else { "" };
        let line = &mut lines[0..];
        let last = line.len() - 1;
        if !line[last].is_empty() && line[last].len() + part.len() + 8 > WIDTH {
            lines.push(String::new());
        }
        let last = lines.len() - 1;
        let blank = if lines[last].is_empty() { "" } else { " " };
        lines[last] += &format!("{blank}{part}{comma}");
    }
    format!("{open}\n    {}{close}", lines.join("\n    "))
}
