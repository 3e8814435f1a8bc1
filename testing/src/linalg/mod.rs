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
mod generic;
mod masks;
mod named;
mod shapes;
mod types;
mod views;
mod windows;

use std::fmt::Write as _;
use std::path::Path;

use mdh_compiler::cli::{CheckHow, RunArguments};
use mdh_compiler::error::Result;
use mdh_compiler::run_command;
use mdh_compiler::source::Source;

use crate::choices::Choices;
use crate::run::{Ending, ending};

/// A program and how it is run.
pub struct Program {
    /// The function `f`.
    pub text: String,
    /// The seed of its arguments.
    pub seed: u64,
    /// It runs by upstream's lowering too.
    is_compared: bool,
}

/// A tensor or memref of the function.
#[derive(Clone)]
struct Value {
    name: String,
    shape: Vec<i64>,
    element: &'static str,
    /// Axes whose sizes its type leaves open.
    open: bool,
    /// Offset and strides of a part of a memref.
    layout: Option<(i64, Vec<i64>)>,
}

/// A function while it is made.
struct Maker {
    memory: bool,
    /// The type of most elements.
    element: &'static str,
    arguments: Vec<String>,
    lines: String,
    values: Vec<Value>,
    next: usize,
    /// Functions that are called.
    functions: Vec<String>,
}

impl Maker {
    fn name(&mut self) -> String {
        self.next += 1;
        format!("%v{}", self.next)
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.lines, "  {text}");
    }

    fn ty(&self, value: &Value) -> String {
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

    fn constant(&mut self, number: i64, element: &'static str) -> String {
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
        arguments: Vec::new(),
        lines: String::new(),
        values: Vec::new(),
        next: 0,
        functions: Vec::new(),
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
    }
}

/// The function with all values that nothing takes further as results.
fn finish(mut maker: Maker) -> String {
    let mut results = Vec::new();
    if !maker.memory {
        for value in maker.values.clone() {
            let known = maker.known(&value);
            results.push((known.name.clone(), maker.ty(&known)));
        }
    }
    let names: Vec<&str> = results.iter().map(|(name, _)| name.as_str()).collect();
    let types: Vec<&str> = results.iter().map(|(_, ty)| ty.as_str()).collect();
    let arguments = maker.arguments.join(", ");
    let (arrow, tail) = match results.is_empty() {
        true => (String::new(), "return".to_owned()),
        false => (
            format!(" -> ({})", types.join(", ")),
            format!("return {} : {}", names.join(", "), types.join(", ")),
        ),
    };
    format!(
        "{}func.func @f({arguments}){arrow} {{\n{}  {tail}\n}}\n",
        maker.functions.concat(),
        maker.lines
    )
}

impl Program {
    /// Runs it, and by upstream's lowering too, if it is to be compared; as it is, or in integers.
    pub fn run(&self, check: CheckHow) -> Ending {
        let source = Source::from_text("f.mlir", &self.text);
        let run = |no_raise| {
            let arguments = RunArguments {
                entry: Some("f".into()),
                random: Some(self.seed),
                check: Some(check),
                no_raise,
                ..RunArguments::of("f.mlir".as_ref())
            };
            ending(run_command::run_source(&source, &arguments))
        };
        match run(false) {
            Ending::Right if self.is_compared => run(true),
            ended => ended,
        }
    }

    /// Writes it to a folder; returns the command that runs it.
    pub fn write(&self, check: CheckHow, folder: &Path) -> Result<String> {
        let file = folder.join("f.mlir");
        mdh_compiler::output::write(&file, self.text.as_bytes())?;
        let check = match check {
            CheckHow::Exact => "exact",
            CheckHow::All | CheckHow::Sample => "all",
        };
        Ok(format!(
            "mdh run {} --entry f --random {} --check={check}",
            file.display(),
            self.seed
        ))
    }
}
