//! Random programs of linalg as text: what `mdh-raise-linalg` makes of them is run and held against
//! the definition, which reads them as they are written, and so is what upstream's own lowering makes.
//!
//! | module    | what is in it                                             |
//! |-----------|-----------------------------------------------------------|
//! | `generic` | operations with maps: operands, loops and destinations     |
//! | `body`    | their scalar code, and how it accumulates                  |
//! | `extracted` | elements that they take from tensors by themselves       |
//! | `shapes`  | what stands between them: slices, padding, other shapes    |
//! | `named`   | named operations: products, arithmetic, packing            |
//! | `windows` | convolutions and poolings                                  |
//! | `masks`   | accumulation under conditions and in wider types            |
//! | `calls`   | functions that are called                                  |
//! | `views`   | other names of memrefs, and of parts of them               |
//! | `types`   | types of elements                                          |

mod body;
mod calls;
mod extracted;
pub(crate) mod generic;
mod masks;
pub(crate) mod named;
pub(crate) mod shapes;
pub(crate) mod types;
mod views;
mod windows;

use std::fmt::Write as _;

use crate::choices::Choices;
use crate::text::Program;

/// A tensor or memref of the function.
#[derive(Clone, Default)]
pub(crate) struct Value {
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
    pub values: Vec<Value>,
    pub next: usize,
    /// Functions that are called.
    pub functions: Vec<String>,
}

impl Maker {
    pub fn name(&mut self) -> String {
        self.next += 1;
        format!("%v{}", self.next)
    }

    pub fn line(&mut self, text: &str) {
        let _ = writeln!(self.lines, "  {text}");
    }

    pub fn ty(&self, value: &Value) -> String {
        let sizes = value.shape.iter().map(|size| match value.open {
            true => "?x".to_owned(),
            false => format!("{size}x"),
        });
        let sizes: String = sizes.collect();
        let kind = if self.memory { "memref" } else { "tensor" };
        let layout = value.layout.as_ref().map(|(offset, strides)| {
            let strides = shapes::list(strides);
            format!(", strided<[{strides}], offset: {offset}>")
        });
        format!(
            "{kind}<{sizes}{}{}>",
            value.element,
            layout.unwrap_or_default()
        )
    }

    /// An argument, whose sizes may be hidden behind a cast.
    fn argument(&mut self, c: &mut Choices, shape: Vec<i64>, element: &'static str) -> Value {
        let mut value = Value {
            name: self.name(),
            shape,
            element,
            open: false,
            layout: None,
        };
        self.arguments
            .push(format!("{}: {}", value.name, self.ty(&value)));
        if !value.shape.is_empty() && c.chance("open", 20) {
            let (before, known) = (value.name.clone(), self.ty(&value));
            value.open = true;
            value.name = self.name();
            let dialect = if self.memory { "memref" } else { "tensor" };
            let text = format!(
                "{} = {dialect}.cast {before} : {known} to {}",
                value.name,
                self.ty(&value)
            );
            self.line(&text);
        }
        value
    }

    /// The value under a type that has its sizes.
    fn known(&mut self, value: &Value) -> Value {
        if !value.open {
            return value.clone();
        }
        let known = Value {
            name: self.name(),
            open: false,
            ..value.clone()
        };
        let dialect = if self.memory { "memref" } else { "tensor" };
        let types = (self.ty(value), self.ty(&known));
        let text = format!(
            "{} = {dialect}.cast {} : {} to {}",
            known.name, value.name, types.0, types.1
        );
        self.line(&text);
        known
    }

    /// The function with these results, and what it calls.
    pub fn function(&self, results: &[Value]) -> String {
        let names: Vec<&str> = results.iter().map(|r| r.name.as_str()).collect();
        let types: Vec<String> = results.iter().map(|r| self.ty(r)).collect();
        let arguments = self.arguments.join(", ");
        let (arrow, tail) = match results.is_empty() {
            true => (String::new(), "return".to_owned()),
            false => (
                format!(" -> ({})", types.join(", ")),
                format!("return {} : {}", names.join(", "), types.join(", ")),
            ),
        };
        format!(
            "{}func.func @f({arguments}){arrow} {{\n{}  {tail}\n}}\n",
            self.functions.concat(),
            self.lines
        )
    }

    pub fn constant(&mut self, number: i64, element: &'static str) -> String {
        let name = self.name();
        let text = match element {
            _ if types::is_float(element) => format!("{number}.0 : {element}"),
            "i1" => format!("{}", number % 2 != 0),
            _ => format!("{number} : {element}"),
        };
        self.line(&format!("{name} = arith.constant {text}"));
        name
    }
}

/// A program of choices.
pub fn program(c: &mut Choices) -> Program {
    let memory = c.chance("memory", 25);
    let weights = types::ELEMENTS.map(|(_, weight)| weight);
    let (element, _) = types::ELEMENTS[c.weighted("element", &weights)];
    let mut maker = Maker {
        memory,
        element,
        ..Maker::default()
    };
    let count = 1 + c.below("statements", 4);
    for n in 0..count {
        c.scope(format!("s{n}"), |c| {
            if !c.keep() && n > 0 {
                return;
            }
            match c.weighted("what", &[42, 27, 22, 9]) {
                1 if !maker.values.is_empty() => match memory {
                    true => views::add(c, &mut maker),
                    false => shapes::add(c, &mut maker),
                },
                2 => named::add(c, &mut maker),
                3 if !maker.values.is_empty() => calls::add(c, &mut maker),
                _ => generic::add(c, &mut maker),
            }
        });
    }
    let seed = c.below("seed", 1000);
    let is_compared = c.chance("compared", 30);
    Program {
        text: finish(maker),
        seed,
        is_compared,
        ..Program::default()
    }
}

/// The function with all values that nothing takes further as results.
fn finish(mut maker: Maker) -> String {
    let mut results = Vec::new();
    if !maker.memory {
        let values = maker.values.clone();
        results = values.iter().map(|value| maker.known(value)).collect();
    }
    maker.function(&results)
}
