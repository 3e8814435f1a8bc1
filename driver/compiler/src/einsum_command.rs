//! `mdh einsum`: NumPy's notation of contractions, run and compiled as a program that is no file.

use std::path::Path;

use mdh_frontend::diagnostic::render_all;
use mdh_frontend::einsum::{
    self, Element, Mistake, Operand, Operator, Request, Subject, Translated,
};

use crate::cli::{EinsumArguments, Stage};
use crate::error::{Error, Result, say};
use crate::host::Host;
use crate::npy::{Npy, Written};
use crate::source::Source;
use crate::{compile_command, output, run_command};

/// The name of the program, in messages and of what is made of it.
const NAME: &str = "einsum";

/// Runs the command.
pub fn run(host: &Host, command: &EinsumArguments) -> Result<()> {
    let request = request(command)?;
    let translated = einsum::translate(&request).map_err(|wrong| {
        let shown = wrong.iter().map(|mistake| mistake.render(&request));
        say(&shown.collect::<String>());
        Error::diagnosed()
    })?;
    if command.plan {
        return output::print(plan(&translated));
    }
    let source = Source::from_text(NAME, &translated.text);
    let source = source.written_as(match translated.element {
        element if element.is_complex() => Written::Complex,
        element if element.is_unsigned() => Written::Unsigned,
        _ => Written::Same,
    });
    let file = Path::new(NAME);
    match command.emit {
        // As it is: its arguments have names.
        Some(Stage::Mdh) if command.given.option().is_none() => {
            command.out_file()?.write(&translated.text)
        }
        Some(stage) => {
            compile_command::run_with(host, &command.compile(file, stage)?, || Ok(source))
        }
        None => run_command::report(host, &source, &command.run(file)),
    }
}

/// Translates an einsum for a program that shows mistakes in a way of its own; `operators` are the one that sums and
/// the one that multiplies.
///
/// # Errors
/// All that is wrong with it, with its places.
pub fn translated(
    spec: &str,
    operands: Vec<Operand>,
    operators: [&str; 2],
    path: Option<einsum::Path>,
) -> Result<Translated> {
    let operator = |text: &str| -> Result<Operator> {
        let parsed = text.parse();
        parsed.map_err(|wrong| as_error(&render_all(&[wrong], "<operator>", text)))
    };
    let [combine, scalar] = operators.map(operator);
    let request = Request {
        combine: combine?,
        scalar: scalar?,
        path,
        ..Request::new(spec, operands)
    };
    einsum::translate(&request).map_err(|mistakes| refused(&mistakes, &request))
}

/// Mistakes of an einsum as an error.
pub fn refused(mistakes: &[Mistake], request: &Request) -> Error {
    let shown = mistakes.iter().map(|mistake| mistake.render(request));
    as_error(&shown.collect::<String>())
}

/// An error of mistakes that are rendered.
fn as_error(text: &str) -> Error {
    let text = text.trim_end();
    Error::input(text.strip_prefix("error: ").unwrap_or(text))
}

/// The einsum of the command line. What is wrong has been shown when an error comes back.
fn request(command: &EinsumArguments) -> Result<Request> {
    let spec = &command.spec;
    let wrong = |wrong: Vec<_>| {
        say(&render_all(&wrong, Subject::Spec.name(), spec));
        Error::diagnosed()
    };
    let count = einsum::operands(spec).map_err(wrong)?;
    let files = files(command, count)?;
    let dtypes = dtypes(command, count)?;
    let sizes: Vec<(String, u64)> = command
        .size
        .iter()
        .map(|size| (size.dimension.clone(), size.size.unsigned_abs()))
        .collect();
    let known: Vec<Option<Vec<u64>>> = files
        .iter()
        .map(|file| Some(shape(file.as_ref()?)))
        .collect();
    let shapes = einsum::shapes(spec, &known, &sizes).map_err(wrong)?;
    let operands = shapes.into_iter().zip(&files).zip(dtypes);
    let operands = operands.map(|((shape, file), dtype)| {
        let element = match file {
            Some(file) => element(file, dtype)?,
            None => dtype,
        };
        Ok(Operand::new(&shape, element))
    });
    let path = command.path.as_deref().map(|text| {
        let path = einsum::parse_path(text);
        path.map_err(|wrong| shown(wrong, Subject::Path, text))
    });
    Ok(Request {
        combine: operator(&command.combine, Subject::Combine)?,
        scalar: operator(&command.scalar, Subject::Scalar)?,
        path: path.transpose()?,
        ..Request::new(spec, operands.collect::<Result<Vec<Operand>>>()?)
    })
}

fn operator(text: &str, subject: Subject) -> Result<Operator> {
    text.parse().map_err(|wrong| shown(wrong, subject, text))
}

fn shown(wrong: mdh_frontend::Diagnostic, subject: Subject, text: &str) -> Error {
    say(&render_all(&[wrong], subject.name(), text));
    Error::diagnosed()
}

/// The file of each operand. Too many, and a name that is given twice, `mdh run` refuses.
fn files(command: &EinsumArguments, count: usize) -> Result<Vec<Option<Npy>>> {
    let mut paths: Vec<Option<&str>> = vec![None; count];
    let named = command
        .inputs
        .iter()
        .filter(|binding| binding.name.is_some());
    for binding in named {
        let name = binding.name.as_deref().unwrap_or_default();
        let Some(n) = (0..count).find(|n| einsum::argument(*n) == name) else {
            let names: Vec<String> = (0..count).map(einsum::argument).collect();
            return Err(Error::input(format!("there is no operand '{name}'"))
                .help(format!("there are: {}", names.join(", "))));
        };
        paths[n] = Some(&binding.value);
    }
    let mut unnamed = command
        .inputs
        .iter()
        .filter(|binding| binding.name.is_none());
    for path in paths.iter_mut().filter(|path| path.is_none()) {
        *path = unnamed.next().map(|binding| binding.value.as_str());
    }
    let open = |path: Option<&str>| path.map(|path| Npy::open(Path::new(path))).transpose();
    paths.into_iter().map(open).collect()
}

/// The type of each operand that is no file.
fn dtypes(command: &EinsumArguments, count: usize) -> Result<Vec<Element>> {
    match &command.dtype[..] {
        [] => Ok(vec![Element::F32; count]),
        [dtype] => Ok(vec![*dtype; count]),
        dtypes if dtypes.len() == count => Ok(dtypes.to_vec()),
        dtypes => Err(Error::usage(format!(
            "--dtype: found {} types, expected one, or one for each of {count} operands",
            dtypes.len()
        ))),
    }
}

fn shape(file: &Npy) -> Vec<u64> {
    file.shape()
        .iter()
        .map(|extent| extent.unsigned_abs())
        .collect()
}

/// The type of a file's elements; `dtype` is the one that the command line names.
fn element(file: &Npy, dtype: Element) -> Result<Element> {
    let name = file.dtype();
    let name = name.strip_prefix("big-endian ").unwrap_or(&name);
    match (name, dtype) {
        ("uint16", Element::Bf16) => Ok(Element::Bf16),
        _ if name.starts_with("raw data") && file.element_bytes() == Some(2) => Ok(Element::Bf16),
        _ => name.parse().map_err(|_| {
            Error::input(format!(
                "'{}' has elements of {name}, expected numbers",
                file.path().display()
            ))
            .help("in Python, `a.astype('float32')` converts it")
        }),
    }
}

/// The order of contraction, and what it costs.
fn plan(translated: &Translated) -> String {
    let count = |number: f64| match number < 1e15 {
        true => format!("{number}"),
        false => format!("{number:.3e}"),
    };
    let shape: Vec<String> = translated.shape.iter().map(u64::to_string).collect();
    format!(
        "path        {}\noperations  {}\nlargest     {} elements\nresult      {} of {}\n",
        einsum::path_text(&translated.path),
        count(translated.flops),
        count(translated.largest),
        match shape.is_empty() {
            true => "()".to_string(),
            false => shape.join("x"),
        },
        translated.element,
    )
}
