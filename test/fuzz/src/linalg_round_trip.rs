//! Random programs of linalg, raised to computations, as linalg again, and raised again; and random computations, as
//! linalg and raised.
//!
//! What is raised twice is the same up to names; the linalg in between is run by upstream's own lowering
//! and held against the definition, which reads it as it is written. A computation of which a pass that
//! simplifies has changed the linalg may stay linalg, with the same results.

use std::collections::HashMap;
use std::path::Path;

use mdh_compiler::cli::{CheckHow, RunArguments};
use mdh_compiler::error::Result;
use mdh_compiler::report::Report;
use mdh_compiler::source::Source;
use mdh_compiler::{compile, diagnostics};
use mdh_dialect::context;
use mdh_passes::pipelines::{Pipeline, RAISE, TO_LINALG};

use crate::case::Case;
use crate::program;
use crate::run::{self, Ending, ended, ending};
use crate::text::{Checked, RunnableProgram};

/// A program at each step.
struct Trip {
    raised: String,
    /// As linalg again.
    out: String,
    /// Raised again.
    again: String,
}

/// Takes a program all the way.
fn trip(text: &str) -> Result<Trip> {
    let raised = through(text, &RAISE)?;
    let out = through(&raised, &TO_LINALG)?;
    let again = through(&out, &RAISE)?;
    Ok(Trip { raised, out, again })
}

/// The program behind a pipeline, made simple.
fn through(text: &str, pipeline: &Pipeline) -> Result<String> {
    mdh_passes::register_all();
    let source = Source::from_text("f.mlir", text);
    let context = context::program_context();
    // Threads cost more than they give.
    context.enable_multi_threading(false);
    diagnostics::show(&context, &source);
    let mut module = source.parse(&context)?;
    compile::form_written(&context, &mut module)?;
    compile::run_portable(&context, &mut module, pipeline)?;
    if pipeline.name == RAISE.name {
        compile::run_passes(&context, &mut module, &["canonicalize", "cse"])?;
    }
    Ok(module.as_operation().to_string())
}

impl Trip {
    /// Returns whether the way out and in again has changed nothing but names.
    fn is_same(&self) -> bool {
        renamed(&self.raised) == renamed(&self.again)
    }
}

/// Computations that go to linalg and back before they are compiled, held against their definition in integers.
pub struct Computations(pub program::RandomProgram);

/// The ways there and back: by upstream's own lowering, raised again, and raised when a host has made the linalg simpler.
const WAYS: [&[&str]; 3] = [
    &["mdh-to-linalg"],
    &["mdh-to-linalg", "mdh-raise-linalg{checks=true}"],
    &[
        "mdh-to-linalg",
        "canonicalize",
        "cse",
        "mdh-raise-linalg{checks=true}",
    ],
];

impl Case for Computations {
    fn text(&self) -> String {
        format!("{}{:?}", self.0, self.0.values)
    }

    fn run(&self, folder: &Path) -> Ending {
        let text = self.0.to_string();
        let source = Source::from_text("f.mlir", &text);
        let end = |passes: &&[&str]| {
            let arguments = run::arguments(&self.0, &source, folder);
            let report = arguments.and_then(|arguments| {
                let arguments = RunArguments {
                    check: Some(CheckHow::Exact),
                    between: passes.iter().map(|pass| (*pass).into()).collect(),
                    between_gap: Some(0),
                    ..arguments
                };
                run::run_source(&source, &arguments)
            });
            let end = ending(report);
            if end != Ending::Right {
                eprintln!("behind {}", passes.join(","));
            }
            end
        };
        let mut ends = WAYS.iter().map(end);
        if let Some(end) = ends.find(|end| *end != Ending::Right) {
            return end;
        }
        let again = through(&text, &TO_LINALG).and_then(|out| through(&out, &RAISE));
        again.map_or_else(
            |error| ended(&error),
            |again| match computations(&again).1 {
                0 => Ending::Right,
                _ => {
                    eprintln!("error: what went out as linalg has not come back\n{again}");
                    Ending::Wrong
                }
            },
        )
    }

    fn write(&self, folder: &Path) -> Result<String> {
        let command = run::write(&self.0, run::Way::EXACT, folder)?;
        let passes = WAYS[1].join(",");
        Ok(format!("{command} --between '{passes}' --between-gap 0"))
    }

    /// The share of its computations that go out as linalg.
    fn features(&self) -> String {
        let out = through(&self.0.to_string(), &TO_LINALG);
        let word = match out.map(|out| computations(&out)) {
            Ok((0, _)) => "all as linalg",
            Ok((_, 0)) | Err(_) => NONE_OUT,
            Ok(_) => "some as linalg",
        };
        format!(",{word}")
    }
}

/// The feature of programs that stay as they are.
pub const NONE_OUT: &str = "none as linalg";

/// The number of computations in a text, and that of such as linalg.
fn computations(text: &str) -> (usize, usize) {
    let count = |words: &[&str]| words.iter().map(|word| text.matches(word).count()).sum();
    let uncounted = ["linalg.fill", "linalg.yield", "linalg.index"];
    let total: usize = count(&[" linalg."]);
    let other: usize = uncounted.map(|word| count(&[word])).iter().sum();
    (count(&["mdh.compute"]), total.saturating_sub(other))
}

/// Runs a program by upstream's lowering.
fn run_lowered(text: &str, seed: u64) -> Result<Report> {
    let source = Source::from_text("f.mlir", text);
    let arguments = RunArguments {
        entry: Some("f".into()),
        random: Some(seed),
        check: Some(CheckHow::All),
        no_raise: true,
        ..RunArguments::new("f.mlir".as_ref())
    };
    run::run_source(&source, &arguments)
}

/// The fingerprints of what a run has left.
fn digests(report: &Report) -> Vec<String> {
    let outputs = report.outputs.iter();
    outputs.map(|value| value.digest.clone()).collect()
}

/// A program of linalg that goes all the way.
pub struct RoundTrip(pub RunnableProgram);

impl Case for RoundTrip {
    fn text(&self) -> String {
        self.0.text.clone()
    }

    fn run(&self, _: &Path) -> Ending {
        // There is no way for what is refused.
        if self.0.is_contradictory {
            return Ending::Right;
        }
        checked(&self.0).unwrap_or_else(|error| ended(&error))
    }

    fn write(&self, folder: &Path) -> Result<String> {
        Checked(self.0.clone(), CheckHow::All).write(folder)
    }
}

fn checked(program: &RunnableProgram) -> Result<Ending> {
    let trip = self::trip(&program.text)?;
    let report = run_lowered(&trip.out, program.seed)?;
    let expected = digests(&report);
    let end = ending(Ok(report));
    if end == Ending::Right && !is_settled(&self::trip(&opened(&program.text))?)? {
        return Ok(Ending::Wrong);
    }
    if end != Ending::Right || trip.is_same() {
        return Ok(end);
    }
    if !is_settled(&trip)? {
        return Ok(Ending::Wrong);
    }
    // Other orders give other floats; and memory that nothing reads any more holds something else before.
    let is_exact = !["f16", "f32", "f64", "memref"]
        .iter()
        .any(|word| program.text.contains(word));
    if is_exact && digests(&run_lowered(&program.text, program.seed)?) != expected {
        eprintln!("raised:\n{}\nas linalg:\n{}", trip.raised, trip.out);
        return Ok(Ending::Wrong);
    }
    Ok(Ending::Right)
}

/// Returns whether a program stays as it is, by and by; shows it where it does not.
///
/// What stood between operations is seen through only when it is raised again, and what that leaves to do when
/// it is raised once more (a product with a zero is a constant, which is filled in, in the order of the tensor's
/// axes; an index whose casts are folded is one of its loop): then it stays so, and integers say whether it is the
/// same.
fn is_settled(trip: &Trip) -> Result<bool> {
    let mut again = trip.again.clone();
    let mut is_same = trip.is_same();
    for _ in 0..3 {
        if is_same {
            return Ok(true);
        }
        let next = self::trip(&again)?;
        is_same = next.is_same();
        if !is_same {
            eprintln!("raised:\n{}\nraised again:\n{}", next.raised, next.again);
        }
        again = next.again;
    }
    Ok(is_same)
}

/// A program whose arguments have the types that it casts them to, of sizes that nothing says.
fn opened(text: &str) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut casts = Vec::new();
    let start = lines.iter().position(|line| line.contains("func.func @f("));
    for (n, line) in lines.iter().enumerate().skip(start.unwrap_or_default()) {
        // Parts of one memref under several names may stay, where functions are called.
        let Some((new, rest)) = line.trim().split_once(" = tensor.cast ") else {
            continue;
        };
        let types = rest.split_once(" : ");
        let types = types.and_then(|(old, types)| Some((old, types.split_once(" to ")?)));
        if let Some((old, (from, to))) = types.filter(|(_, (_, to))| to.contains('?')) {
            casts.push((n, format!("{old}: {from}"), format!("{new}: {to}")));
        }
    }
    let mut gone = Vec::new();
    for (n, declared, instead) in casts {
        let signature = lines.iter_mut().find(|line| {
            let places: Vec<&str> = line.split(&declared).collect();
            line.contains("func.func @f(") && places.len() == 2 && places[1].starts_with([',', ')'])
        });
        if let Some(line) = signature {
            *line = line.replace(&declared, &instead);
            gone.push(n);
        }
    }
    let left = (0..lines.len()).filter(|n| !gone.contains(n));
    let left: Vec<&str> = left.map(|n| lines[n].as_str()).collect();
    left.join("\n")
}

/// Text in which values have numbers in the order in which they are met, and constants and indices, which
/// stand anywhere, are spelled out where they are used. Regions beside each other have values of the same names.
fn renamed(text: &str) -> String {
    let (mut constants, mut numbers) = (HashMap::new(), HashMap::new());
    let (mut dims, mut next) = (Vec::new(), 0);
    let mut out = String::new();
    for line in text.lines().map(str::trim) {
        let free = [" = arith.constant ", " = mdh.index "];
        if let Some((name, number)) = free.iter().find_map(|word| line.split_once(word)) {
            constants.insert(name.to_owned(), number);
            continue;
        }
        let line = numbered(line, &mut dims);
        let mut pieces = line.split('%');
        out += pieces.next().unwrap_or_default();
        for piece in pieces {
            let end = piece.find(|c| !is_name(c)).unwrap_or(piece.len());
            let (name, rest) = piece.split_at(end);
            // A buffer has a name too, which stands before it.
            if rest.starts_with('[') && out.ends_with(" = ") {
                let before = out.trim_end_matches(" = ").trim_end_matches(is_name);
                out.truncate(before.len());
            }
            let name = format!("%{name}");
            // It is defined where it starts a line.
            if out.is_empty() || out.ends_with('\n') {
                constants.remove(&name);
                numbers.remove(&name);
            }
            match constants.get(&name) {
                Some(number) => out += &format!("<{number}>"),
                None => {
                    let number = numbers.entry(name).or_insert_with(|| {
                        next += 1;
                        next
                    });
                    out += &format!("%{number}");
                }
            }
            out += rest;
        }
        out.push('\n');
    }
    out
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// A line of a computation in which dimensions have the numbers that they have in its domain.
fn numbered(line: &str, dims: &mut Vec<String>) -> String {
    if let Some((_, domain)) = line.split_once("mdh.compute (") {
        let names = domain.split(", ").filter_map(|dim| dim.split_once(" = "));
        *dims = names.map(|(name, _)| name.to_owned()).collect();
    }
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_%$".contains(c);
    let mut text = String::new();
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let end = match is_name(c) {
            true => rest.find(|c| !is_name(c)).unwrap_or(rest.len()),
            false => c.len_utf8(),
        };
        let (word, behind) = rest.split_at(end);
        match dims.iter().position(|dim| dim == word) {
            Some(number) => text += &format!("d{number}"),
            None => text += word,
        }
        rest = behind;
    }
    text
}
