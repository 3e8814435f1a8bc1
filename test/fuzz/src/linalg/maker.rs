//! A function of linalg in the making, and its tensors and memrefs.

use std::fmt::Write as _;

use super::types;
use crate::choices::Choices;
use crate::print::code::list;

/// A tensor or memref of the function.
#[derive(Clone, Default)]
pub(crate) struct ArrayValue {
    pub name: String,
    pub shape: Vec<i64>,
    pub element: &'static str,
    /// Axes whose sizes its type leaves open.
    pub open: bool,
    /// Offset and strides of a part of a memref.
    pub layout: Option<(i64, Vec<i64>)>,
}

/// A function while it is made.
#[derive(Default)]
pub(crate) struct Maker {
    pub memory: bool,
    /// The type of most elements.
    pub element: &'static str,
    pub arguments: Vec<String>,
    pub lines: String,
    pub values: Vec<ArrayValue>,
    pub next: usize,
    /// Functions that are called.
    pub functions: Vec<String>,
    /// Arguments that are no random ones.
    pub inputs: Vec<(String, u64)>,
    /// A reshape contradicts its type.
    pub is_contradictory: bool,
}

impl ArrayValue {
    /// The same with a name of its own.
    pub fn named(&self, name: String) -> ArrayValue {
        ArrayValue {
            name,
            ..self.clone()
        }
    }
}

impl Maker {
    pub fn name(&mut self) -> String {
        self.next += 1;
        format!("%v{}", self.next)
    }

    pub fn line(&mut self, text: &str) {
        let _ = writeln!(self.lines, "  {text}");
    }

    /// Adds an operation; the name of what it makes.
    pub fn put(&mut self, text: &str) -> String {
        let name = self.name();
        self.line(&format!("{name} = {text}"));
        name
    }

    /// The dialect of what programs are about, and the name of its types.
    pub fn dialect(&self) -> &'static str {
        if self.memory { "memref" } else { "tensor" }
    }

    pub fn ty(&self, value: &ArrayValue) -> String {
        let size = |size: &i64| match value.open {
            true => "?x".to_owned(),
            false => format!("{size}x"),
        };
        let sizes: String = value.shape.iter().map(size).collect();
        let layout = value.layout.as_ref().map(|(offset, strides)| {
            let strides = list(strides);
            format!(", strided<[{strides}], offset: {offset}>")
        });
        let layout = layout.unwrap_or_default();
        format!("{}<{sizes}{}{layout}>", self.dialect(), value.element)
    }

    /// A new argument.
    pub fn parameter(&mut self, value: &ArrayValue) -> ArrayValue {
        let value = value.named(self.name());
        let argument = format!("{}: {}", value.name, self.ty(&value));
        self.arguments.push(argument);
        value
    }

    /// An argument, whose sizes may be hidden behind a cast.
    pub(super) fn argument(
        &mut self,
        c: &mut Choices,
        shape: Vec<i64>,
        element: &'static str,
    ) -> ArrayValue {
        let value = self.parameter(&ArrayValue {
            shape,
            element,
            ..ArrayValue::default()
        });
        match !value.shape.is_empty() && c.chance("open", 20) {
            true => self.cast(
                &value,
                ArrayValue {
                    open: true,
                    ..value.clone()
                },
            ),
            false => value,
        }
    }

    pub(super) fn cast(&mut self, from: &ArrayValue, to: ArrayValue) -> ArrayValue {
        let types = [from, &to].map(|value| self.ty(value)).join(" to ");
        let dialect = self.dialect();
        to.named(self.put(&format!("{dialect}.cast {} : {types}", from.name)))
    }

    /// The value under a type that has its sizes.
    pub(super) fn known(&mut self, value: &ArrayValue) -> ArrayValue {
        match value.open {
            true => self.cast(
                value,
                ArrayValue {
                    open: false,
                    ..value.clone()
                },
            ),
            false => value.clone(),
        }
    }

    /// A function with these results.
    pub(super) fn function_of(
        &self,
        head: &str,
        attributes: &str,
        results: &[ArrayValue],
    ) -> String {
        let names = list(results.iter().map(|r| &r.name));
        let types = list(results.iter().map(|r| self.ty(r)));
        let arguments = list(&self.arguments);
        let tail = match results.is_empty() {
            true => "return".to_owned(),
            false => format!("return {names} : {types}"),
        };
        format!(
            "func.func {head}({arguments}) -> ({types}){attributes} {{\n{}  {tail}\n}}\n",
            self.lines
        )
    }

    /// The function with these results, and what it calls.
    pub fn function(&self, results: &[ArrayValue]) -> String {
        self.functions.concat() + &self.function_of("@f", "", results)
    }

    /// The types of an operation's results, behind it: on memory, there are none.
    pub fn arrow(&self, outputs: &[&ArrayValue]) -> String {
        let types = list(outputs.iter().map(|value| self.ty(value)));
        match outputs.len() {
            _ if self.memory => String::new(),
            1 => format!(" -> {types}"),
            _ => format!(" -> ({types})"),
        }
    }

    /// The result of an operation, or its results: an operation on memory has none.
    pub fn results(&mut self, count: usize) -> (String, Vec<String>) {
        let name = self.name();
        match count {
            0 => (String::new(), Vec::new()),
            1 => (format!("{name} = "), vec![name]),
            _ => (
                format!("{name}:{count} = "),
                (0..count).map(|n| format!("{name}#{n}")).collect(),
            ),
        }
    }

    /// An argument of that type and value.
    pub fn scalar_argument(&mut self, prefix: &str, ty: &str, number: u64) -> String {
        let name = format!("{prefix}{}", self.inputs.len());
        self.arguments.push(format!("%{name}: {ty}"));
        self.inputs.push((name.clone(), number));
        format!("%{name}")
    }

    pub fn constant(&mut self, number: i64, element: &str) -> String {
        let number = types::number(number, element);
        self.put(&format!("arith.constant {number}"))
    }
}
