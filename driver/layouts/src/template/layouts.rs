//! The file that gives the layouts of a template's names.
//!
//! ```toml
//! target = "triton"        # or "c", "cuda"
//! bits = 32                # the integers of offsets; 64 in C if it is not given
//! unproven = ["P"]         # layouts that are taken although a condition is open
//!
//! [sizes]                  # symbols of layouts: a number, or bounds
//! BM = 128
//! tiles = "1..512"
//!
//! [indices]                # variables of the template, and what they stay below
//! step = "tiles"
//!
//! [layouts]
//! A = "TileBy([tiles,4],[BM,8]).OrderBy(Row([tiles*BM,32]))"
//! ```

use std::collections::BTreeMap;
use std::ops::Range;
use std::str::FromStr;

use mdh_algebra::index::emit::{self, Host, Width};
use mdh_algebra::index::parse::{Scope, expression};
use mdh_algebra::index::{Expr, Facts, Interval, Name};
use mdh_algebra::layout::{Answer, Layout, parse};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::text::{Finding, expected, report};
use crate::cli::Assumed;
use mdh_compiler::error::Result;
use mdh_compiler::source::Source;

/// Layouts and symbols of a file.
#[derive(Debug)]
pub struct Layouts {
    /// The program's language and integers.
    pub host: Host,
    /// Sizes that are numbers.
    pub values: Vec<(Name, i64)>,
    /// Sizes that are symbols.
    pub symbols: Vec<Name>,
    /// Variables with a bound.
    pub indices: Vec<Name>,
    /// Facts about symbols and variables.
    pub facts: Facts,
    /// The layouts by name.
    pub layouts: BTreeMap<String, Layout>,
}

impl Layouts {
    /// An expression with numbers for the sizes that are some.
    pub fn bind(&self, e: &Expr) -> Expr {
        bind(&self.values, e)
    }

    /// Returns whether a name is a size or an index.
    pub fn knows(&self, name: &str) -> bool {
        let mut of_layouts = self.layouts.values().flat_map(Layout::symbols);
        let mut declared = self.symbols.iter().chain(&self.indices);
        declared.any(|n| &**n == name) || of_layouts.any(|n| &*n == name)
    }
}

fn bind(values: &[(Name, i64)], e: &Expr) -> Expr {
    e.substitute(&|name| {
        let (_, value) = values.iter().find(|(n, _)| &**n == name)?;
        Some(Expr::constant(*value))
    })
}

/// Reads the file. Everything that is wrong is shown with its place.
pub fn read(source: &Source) -> Result<Layouts> {
    let mut reader = Reader::new(source.text());
    let layouts = match DeTable::parse(source.text()) {
        Ok(table) => Some(reader.top_level(table.get_ref())),
        Err(error) => {
            let span = error.span().unwrap_or(0..0);
            reader.found(span, error.message().trim_end());
            None
        }
    };
    report(source, reader.findings)?;
    layouts.ok_or_else(|| mdh_compiler::error::Error::bug("a file without findings and layouts"))
}

type Entry<'a, 'i> = (&'a str, Range<usize>, &'a Spanned<DeValue<'i>>);

struct Reader<'a> {
    text: &'a str,
    findings: Vec<Finding>,
    /// Position of each name's definition.
    names: BTreeMap<String, Range<usize>>,
}

const KEYS: [&str; 6] = ["target", "bits", "unproven", "sizes", "indices", "layouts"];
const TARGETS: [&str; 3] = ["c", "cuda", "triton"];

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Reader<'a> {
        Reader {
            text,
            findings: vec![],
            names: BTreeMap::new(),
        }
    }

    fn found(&mut self, span: Range<usize>, message: impl Into<String>) {
        self.findings.push(Finding::new(span, message));
    }

    fn top_level(&mut self, table: &DeTable) -> Layouts {
        for key in table.keys() {
            if !KEYS.contains(&&**key.get_ref()) {
                let expected = expected(key.get_ref(), KEYS);
                self.found(
                    key.span(),
                    format!("unknown key '{}', {expected}", key.get_ref()),
                );
            }
        }
        let host = self.host(table);
        let mut layouts = Layouts {
            host,
            values: vec![],
            symbols: vec![],
            indices: vec![],
            facts: Facts::new(),
            layouts: BTreeMap::new(),
        };
        for entry in self.entries(table, "sizes") {
            self.size(entry, &mut layouts);
        }
        for entry in self.entries(table, "indices") {
            self.index(entry, &mut layouts);
        }
        let unproven = self.unproven(table);
        for entry in self.entries(table, "layouts") {
            self.layout(entry, &mut layouts, &unproven);
        }
        if !table.contains_key("layouts") {
            self.found(
                0..0,
                "found no table 'layouts', expected one with a layout for each name",
            );
        }
        for (name, span) in &unproven {
            if !self.names.contains_key(name) {
                let expected = expected(name, layouts.layouts.keys().map(String::as_str));
                self.found(span.clone(), format!("unknown layout '{name}', {expected}"));
            }
        }
        layouts
    }

    /// The language, which must be said, and the integers.
    fn host(&mut self, table: &DeTable) -> Host {
        let name = match table.get("target") {
            Some(value) => match value.get_ref().as_str().filter(|t| TARGETS.contains(t)) {
                Some(target) => target,
                None => {
                    let name = value.get_ref().as_str().unwrap_or_default();
                    let message = format!("unknown target, {}", expected(name, TARGETS));
                    self.found(value.span(), message);
                    "c"
                }
            },
            None => {
                self.found(0..0, "found no 'target', expected 'c', 'cuda' or 'triton'");
                "c"
            }
        };
        let bits = table.get("bits").map(|value| {
            let bits = value.get_ref().as_integer().map(|i| i.as_str().to_string());
            (bits, value.span())
        });
        let width = match bits.as_ref().map(|(bits, _)| bits.as_deref()) {
            Some(Some("32")) => Width::Bits32,
            Some(Some("64")) => Width::Bits64,
            None if name == "c" => Width::Bits64,
            None => Width::Bits32,
            Some(_) => {
                let span = bits.map_or(0..0, |(_, span)| span);
                self.found(span, "expected 'bits' to be 32 or 64");
                Width::Bits32
            }
        };
        let target = match name {
            "triton" => emit::Target::Triton,
            _ => emit::Target::C,
        };
        Host { target, width }
    }

    fn unproven(&mut self, table: &DeTable) -> Vec<(String, Range<usize>)> {
        let Some(value) = table.get("unproven") else {
            return vec![];
        };
        let names = value.get_ref().as_array().map(|array| {
            let name = |v: &Spanned<DeValue>| Some((v.get_ref().as_str()?.to_string(), v.span()));
            array.iter().map(name).collect::<Option<Vec<_>>>()
        });
        names.flatten().unwrap_or_else(|| {
            self.found(value.span(), "expected a list of names of layouts");
            vec![]
        })
    }

    /// The entries of a table in the order in which they stand, each with a name of its own.
    fn entries<'t, 'i>(&mut self, table: &'t DeTable<'i>, name: &str) -> Vec<Entry<'t, 'i>> {
        let Some(value) = table.get(name) else {
            return vec![];
        };
        let Some(inner) = value.get_ref().as_table() else {
            self.found(
                value.span(),
                format!("expected '{name}' to be a table, [{name}]"),
            );
            return vec![];
        };
        let mut entries = vec![];
        for (key, value) in inner.iter() {
            let is_name = key
                .get_ref()
                .starts_with(|c: char| c.is_alphabetic() || c == '_')
                && key
                    .get_ref()
                    .chars()
                    .all(|c| c.is_alphanumeric() || c == '_');
            if !is_name || RESERVED.contains(&&**key.get_ref()) {
                let message = format!(
                    "found '{}', expected a name that can stand in code",
                    key.get_ref()
                );
                self.found(key.span(), message);
            } else if self
                .names
                .insert(key.get_ref().to_string(), key.span())
                .is_some()
            {
                let message = format!("'{}' is named twice, expected one meaning", key.get_ref());
                self.found(key.span(), message);
            } else {
                entries.push((&**key.get_ref(), key.span(), value));
            }
        }
        entries.sort_by_key(|(_, span, _)| span.start);
        entries
    }

    fn size(&mut self, (name, _, value): Entry, layouts: &mut Layouts) {
        let assumed = match value.get_ref() {
            DeValue::Integer(number) => Assumed::from_str(&format!("{name}={}", number.as_str())),
            DeValue::String(text) => Assumed::from_str(&format!("{name}={text}")),
            _ => Err(String::new()),
        };
        let Ok(assumed) = assumed else {
            let message = format!(
                "found no size for '{name}', expected a number, or bounds: \"1..64\" or \"16..\""
            );
            self.found(value.span(), message);
            return;
        };
        let (min, max) = (i128::from(assumed.min), assumed.max.map(i128::from));
        let interval = Interval::new(min, max.unwrap_or(i128::MAX));
        match max == Some(min) {
            true => layouts.values.push((name.into(), assumed.min)),
            false => layouts.symbols.push(name.into()),
        }
        layouts.facts.within(name, interval);
    }

    fn index(&mut self, (name, _, value): Entry, layouts: &mut Layouts) {
        let text = match value.get_ref() {
            DeValue::Integer(number) => number.as_str(),
            DeValue::String(text) => text,
            _ => "",
        };
        let bound = match expression(text, &Scope::default()) {
            Ok(bound) => bind(&layouts.values, &bound),
            Err(error) => {
                let message = format!("expected what '{name}' stays below: {}", error.message);
                let span = self.within(value, text, error.span);
                self.found(span, message);
                return;
            }
        };
        for symbol in bound.symbols() {
            layouts.facts.size(&symbol);
        }
        layouts.indices.push(name.into());
        layouts.facts.index(name, &bound);
    }

    fn layout(
        &mut self,
        (name, _, value): Entry,
        layouts: &mut Layouts,
        unproven: &[(String, Range<usize>)],
    ) {
        let Some(text) = value.get_ref().as_str() else {
            let message = format!("expected '{name}' to be a layout, as a text");
            self.found(value.span(), message);
            return;
        };
        let layout = match parse::layout_of(text, &layouts.facts, &layouts.values) {
            Ok(layout) => layout,
            Err(error) => {
                let span = self.within(value, text, error.span);
                self.found(span, error.message);
                return;
            }
        };
        if let answer @ Answer::Open(_) = layout.answer()
            && !unproven.iter().any(|(n, _)| n == name)
        {
            let message = format!(
                "'{name}' is {answer}; expected sizes that are multiples of tiles (\"m*BM\"), or \
                 unproven = [\"{name}\"] if the conditions hold"
            );
            self.found(value.span(), message);
        }
        layouts.layouts.insert(name.to_string(), layout);
    }

    /// A place in a string's text, unless the file spells the text in another way.
    fn within(&self, value: &Spanned<DeValue>, text: &str, span: Range<usize>) -> Range<usize> {
        let whole = value.span();
        match self
            .text
            .get(whole.clone())
            .and_then(|written| written.find(text))
        {
            Some(at) if !text.is_empty() => {
                let start = whole.start + at;
                start + span.start..start + span.end
            }
            _ => whole,
        }
    }
}

/// Names that mean something in templates.
const RESERVED: [&str; 2] = ["prelude", "loop"];
