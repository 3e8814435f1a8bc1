//! The values that a function is called with: from files, from the command line, or random.

use std::collections::BTreeMap;
use std::path::Path;

use mdh_algebra::scalar::Scalar;
use mdh_dialect::types::BufferKind;
use mdh_jit::descriptor::byte_size;
use mdh_jit::memory;

use crate::cli::{Binding, Range, RunArguments};
use crate::entry::{self, Entry, Parameter};
use crate::error::{Error, Result};
use crate::npy::{Expected, Npy};
use crate::sizes::{self, Open, Sizes, explain};
use crate::values::{Tensor, parse_scalar};

/// A value for each argument of an entry.
pub fn gather(entry: &Entry, command: &RunArguments) -> Result<Vec<Tensor>> {
    let bindings = assign(entry, &command.inputs)?;
    let (known, mut files) = given(entry, &bindings)?;
    let open = match command.inputs.is_empty() {
        true => Open::Assumed,
        false => Open::Kept,
    };
    let sizes = sizes::infer(entry, &command.size, known, open)?;
    let is_random = command.inputs.is_empty() || command.random.is_some();
    let is_missing = |i: &usize| {
        !bindings.contains_key(i) && entry.is_read_at(*i, &sizes) && sizes.scalars[*i].is_none()
    };
    let missing: Vec<usize> = (0..entry.arguments.len()).filter(is_missing).collect();
    if !is_random && !missing.is_empty() {
        return Err(too_few(entry, command.inputs.len(), &missing));
    }
    check_memory(entry, &sizes)?;
    (0..entry.arguments.len())
        .map(|i| match bindings.get(&i) {
            Some(text) => {
                let element = entry.arguments[i].ty.element;
                match files.remove(&i) {
                    Some(file) => file.data(element),
                    None => Ok(Tensor::from_scalar(parse_scalar(text, element)?)?),
                }
            }
            None => make(entry, i, &sizes, command),
        })
        .collect()
}

/// A value for each argument of an entry of which those that are read are there, in order: destinations of results
/// have the sizes that follow from them.
///
/// # Errors
/// If no sizes follow from them.
pub fn complete(entry: &Entry, read: Vec<Tensor>, command: &RunArguments) -> Result<Vec<Tensor>> {
    let mut known = Sizes::declared(entry);
    let places = (0..entry.arguments.len()).filter(|i| entry.arguments[*i].is_read());
    let mut given: BTreeMap<usize, Tensor> = places.zip(read).collect();
    for (&i, tensor) in &given {
        known.shapes[i] = tensor.shape().iter().copied().map(Some).collect();
        let is_number = tensor.shape().is_empty() && !tensor.element().is_float();
        known.scalars[i] = is_number.then(|| tensor.get(0).as_i64());
    }
    let sizes = sizes::infer(entry, &[], known, Open::Kept)?;
    (0..entry.arguments.len())
        .map(|i| match given.remove(&i) {
            Some(tensor) => Ok(tensor),
            None => make(entry, i, &sizes, command),
        })
        .collect()
}

/// The error of a call that lacks some inputs.
fn too_few(entry: &Entry, found: usize, missing: &[usize]) -> Error {
    let required = missing.iter().copied();
    let required: Vec<usize> = required
        .filter(|i| !entry.arguments[*i].is_read())
        .collect();
    let why = match required.is_empty() {
        true => String::new(),
        false => format!(
            " (at these sizes some elements of {} are not written and stay)",
            listed(entry, &required)
        ),
    };
    let readable = (0..entry.arguments.len()).filter(|i| entry.may_be_read(*i));
    let order = match required.is_empty() {
        true => String::new(),
        false => format!(
            ", or all in the order {}",
            listed(entry, &readable.collect::<Vec<_>>())
        ),
    };
    Error::input(format!(
        "too few inputs for '{}': found {found}, missing {}{why}",
        entry.name,
        listed(entry, missing)
    ))
    .help(format!(
        "give each as --in NAME=FILE.npy{order}, or add --random SEED for the others"
    ))
}

/// Assigns bindings to arguments: by name, or in order for those without one.
fn assign<'b>(entry: &Entry, bindings: &'b [Binding]) -> Result<BTreeMap<usize, &'b str>> {
    let arguments: Vec<&Parameter> = entry.arguments.iter().collect();
    let names = || match arguments.is_empty() {
        true => format!("'{}' takes no arguments", entry.name),
        false => format!("'{}' takes: {}", entry.name, entry::names(&arguments)),
    };
    let mut assigned = BTreeMap::new();
    for binding in bindings {
        let Some(name) = &binding.name else { continue };
        let position = entry::position(&arguments, name)
            .ok_or_else(|| Error::input(format!("there is no argument '{name}'")).help(names()))?;
        if assigned.insert(position, binding.value.as_str()).is_some() {
            return Err(Error::input(format!(
                "the argument '{name}' is given twice"
            )));
        }
    }
    let unnamed = bindings.iter().filter(|binding| binding.name.is_none());
    let unnamed: Vec<&str> = unnamed.map(|binding| binding.value.as_str()).collect();
    let free = in_order(entry, unnamed.len(), |i| assigned.contains_key(&i));
    let free = free.map_err(|error| error.help(names()))?;
    assigned.extend(free.into_iter().zip(unnamed));
    Ok(assigned)
}

/// The arguments that so many inputs without a name are for, in order. Those that are read whatever the sizes
/// are; where there are more inputs, all that may be read at some sizes.
fn in_order(entry: &Entry, count: usize, is_named: impl Fn(usize) -> bool) -> Result<Vec<usize>> {
    let positions = 0..entry.arguments.len();
    let positions: Vec<usize> = positions
        .filter(|i| !is_named(*i) && entry.may_be_read(*i))
        .collect();
    let read = positions.iter().copied();
    let read: Vec<usize> = read.filter(|i| entry.arguments[*i].is_read()).collect();
    if count <= read.len() {
        return Ok(read);
    }
    if count == positions.len() {
        return Ok(positions);
    }
    let or_all = match positions.len() > read.len() {
        true => format!(
            ", or {} where what is written in part counts: {}",
            positions.len(),
            listed(entry, &positions)
        ),
        false => String::new(),
    };
    Err(Error::input(format!(
        "too many inputs: found {count} without a name, expected at most {}{or_all}",
        read.len()
    )))
}

/// The names of some arguments.
fn listed(entry: &Entry, some: &[usize]) -> String {
    let names = some.iter().map(|i| entry.arguments[*i].name.as_str());
    names.collect::<Vec<_>>().join(", ")
}

/// Reads the given files and numbers: the extents that they settle, and scalars that may be sizes.
/// Returns the files too, by argument: one that is a pipe can be opened once.
fn given(entry: &Entry, bindings: &BTreeMap<usize, &str>) -> Result<(Sizes, BTreeMap<usize, Npy>)> {
    let mut sizes = Sizes::declared(entry);
    let mut files = BTreeMap::new();
    for (&i, text) in bindings {
        let argument = &entry.arguments[i];
        if is_file(argument, text) {
            let expected = Expected {
                argument: &argument.name,
                element: argument.ty.element,
                shape: &sizes.shapes[i],
            };
            let file = Npy::open(Path::new(text))?.for_argument(&expected);
            file.check(&expected)?;
            sizes.shapes[i] = file.shape().iter().copied().map(Some).collect();
            files.insert(i, file);
        } else {
            let value = parse_scalar(text, argument.ty.element)?;
            sizes.scalars[i] = (!value.ty.is_float()).then(|| value.as_i64());
        }
    }
    Ok((sizes, files))
}

/// All arguments together must fit into memory, before the first of them is made.
fn check_memory(entry: &Entry, sizes: &Sizes) -> Result<()> {
    let mut bytes = 0u64;
    for (argument, shape) in entry.arguments.iter().zip(&sizes.shapes) {
        let shape: Option<Vec<i64>> = shape.iter().copied().collect();
        if let Some(shape) = shape {
            let size = byte_size(&shape, argument.ty.element.byte_width())? as u64;
            bytes = bytes.saturating_add(size);
        }
    }
    Ok(memory::require(bytes)?)
}

/// A plain scalar may be written as a number; everything else is a file.
fn is_file(argument: &Parameter, text: &str) -> bool {
    argument.ty.kind != BufferKind::Scalar
        || Path::new(text).extension().is_some_and(|e| e == "npy")
}

/// The range of random numbers that a command gives an argument, if it does.
pub fn range_of(ranges: &[Range], argument: &Parameter) -> Option<[f64; 2]> {
    let mut latest_first = ranges.iter().rev();
    let by_name = latest_first.find(|range| range.name.as_ref() == Some(&argument.name));
    // What has no name is for numbers like those of the definition: integers may be sizes.
    let any = || {
        let any = ranges.iter().rev().find(|range| range.name.is_none());
        any.filter(|_| argument.ty.element.is_float())
    };
    let range = by_name.or_else(any)?;
    Some([range.low, range.high])
}

/// Fails for a range of an argument that is not there.
pub fn check_ranges(entry: &Entry, ranges: &[Range]) -> Result<()> {
    let arguments: Vec<&Parameter> = entry.arguments.iter().collect();
    let names = ranges.iter().filter_map(|range| range.name.as_ref());
    for name in names {
        if !arguments.iter().any(|argument| argument.name == *name) {
            let what = format!("--range: there is no argument '{name}'");
            let help = format!("'{}' takes: {}", entry.name, entry::names(&arguments));
            return Err(Error::input(what).help(help));
        }
    }
    Ok(())
}

/// A random value, or the size that a scalar stands for; destinations that are written whole are poisoned.
fn make(entry: &Entry, i: usize, sizes: &Sizes, command: &RunArguments) -> Result<Tensor> {
    let argument = &entry.arguments[i];
    let element = argument.ty.element;
    if let Some(size) = sizes.scalars[i] {
        return Ok(Tensor::from_scalar(Scalar::from_i64(element, size))?);
    }
    let shape: Option<Vec<i64>> = sizes.shapes[i].iter().copied().collect();
    let Some(shape) = shape else {
        return Err(explain::unknown(entry, sizes, &command.size, i));
    };
    if !entry.is_read_at(i, sizes) {
        let mut tensor = Tensor::zeroed(element, &shape)?;
        tensor.poison();
        return Ok(tensor);
    }
    let (seed, stream) = (command.random.unwrap_or(0), i as u64);
    Ok(match range_of(&command.ranges, argument) {
        Some(range) => Tensor::uniform(element, &shape, range, (seed, stream))?,
        None => Tensor::random(element, &shape, seed, stream)?,
    })
}
