//! Programs of files as cases, and programs of other files that are measured beside them.

use std::collections::BTreeMap;
use std::path::Path;

use mdh_compiler::check::SAMPLES;
use mdh_compiler::cli::{Device, Size};
use mdh_compiler::entry::Entry;
use mdh_compiler::error::{Error, Result};
use mdh_compiler::formed::Formed;
use mdh_compiler::functions::{function_of, has_body};
use mdh_compiler::source::Source;
use mdh_compiler::{arguments, compile, diagnostics, execute, sizes};
use mdh_dialect::context;
use mdh_passes::pipelines::Raise;
use mdh_passes::support::extents;

use super::signature::{self, Signature};
use super::workloads::{self, Bound, Case, Devices, FileProgram, OwnProgram};
use crate::options::{BenchArguments, GivenProgram, SizeList};

/// Extensions of the files that programs stand in.
const EXTENSIONS: [&str; 3] = ["mlir", "mlirbc", "tdsl"];

/// Returns whether a word of a command line is a program's file, and no workload.
pub fn is_program(word: &str) -> bool {
    let path = Path::new(word);
    let extension = path.extension().and_then(|extension| extension.to_str());
    if extension.is_some_and(|extension| EXTENSIONS.contains(&extension)) {
        return true;
    }
    !workloads::is_workload(word) && (word.contains('/') || path.is_file())
}

/// The cases of the programs that a command is given: each at all of its sizes.
///
/// # Errors
/// If a file is no program, or one that is measured beside it has another signature: nothing is measured then.
pub fn cases(command: &BenchArguments, files: &[String]) -> Result<Vec<Case>> {
    if files.is_empty() {
        return match option(command) {
            None => Ok(Vec::new()),
            Some(option) => Err(Error::usage(format!(
                "{option} is for programs: expected a file (.mlir, .tdsl), since a workload has its own"
            ))),
        };
    }
    let sizes = expanded(&command.sizes)?;
    let mut cases = Vec::new();
    for (number, file) in files.iter().enumerate() {
        if files[..number].contains(file) {
            return Err(Error::usage(format!(
                "found '{file}' twice, expected it once"
            )));
        }
        for size in &sizes {
            cases.push(case(command, file, size)?);
        }
    }
    Ok(cases)
}

/// An option that only programs have, if one is given.
fn option(command: &BenchArguments) -> Option<&'static str> {
    let options = [
        ("--entry", command.entry.is_some()),
        ("--size", !command.sizes.is_empty()),
        ("--against", !command.against.is_empty()),
        ("--random", command.random.is_some()),
        ("--range", !command.ranges.is_empty()),
    ];
    let mut given = options.into_iter().filter(|(_, is_given)| *is_given);
    given.next().map(|(name, _)| name)
}

/// The sizes of the cases, each in the order in which dimensions are named: a dimension with one size has it in all
/// of them.
fn expanded(lists: &[SizeList]) -> Result<Vec<Vec<Size>>> {
    let longest = lists.iter().max_by_key(|list| list.sizes.len());
    let count = longest.map_or(1, |list| list.sizes.len());
    for (number, list) in lists.iter().enumerate() {
        let name = &list.dimension;
        if lists[..number].iter().any(|other| other.dimension == *name) {
            return Err(Error::usage(format!(
                "--size: found '{name}' twice, expected it once: {name}=64,128 is two sizes"
            )));
        }
        if let Some(longest) = longest.filter(|_| ![1, count].contains(&list.sizes.len())) {
            return Err(Error::usage(format!(
                "--size: found {} sizes of '{name}' and {count} of '{}': expected as many, or one",
                list.sizes.len(),
                longest.dimension
            )));
        }
    }
    let size = |list: &SizeList, n: usize| Size {
        dimension: list.dimension.clone(),
        size: *list.sizes.get(n).unwrap_or(&list.sizes[0]),
    };
    let at = |n: usize| lists.iter().map(|list| size(list, n)).collect();
    Ok((0..count).map(at).collect())
}

/// The case of a program at some sizes.
fn case(command: &BenchArguments, file: &str, sizes: &[Size]) -> Result<Case> {
    let wanted = Wanted::Named(command.entry.as_deref());
    let (program, signature) = read(file, &wanted, sizes, |entry| {
        arguments::check_ranges(entry, &command.ranges)?;
        expect_sizes(entry, sizes)
    })?;
    let beside = command.against.iter();
    let against = beside.map(|given| against(given, &program, &signature));
    let against = against.collect::<Result<_>>()?;
    let mut ports = signature.inputs.iter().chain(&signature.outputs);
    let dtype = ports.find(|port| port.dtype != "index");
    let dtype = dtype.map_or("index", |port| port.dtype.as_str());
    let dtype = dtype.to_string();
    let numbers: Vec<String> = sizes.iter().map(|size| size.size.to_string()).collect();
    let pairs = sizes.iter().map(|size| (size.dimension.clone(), size.size));
    let mut inputs = BTreeMap::new();
    let mut any = None;
    for range in &command.ranges {
        let ends = [range.low, range.high];
        match &range.name {
            Some(name) => drop(inputs.insert(name.clone(), ends)),
            None => any = Some(ends),
        }
    }
    Ok(Case {
        workload: file.to_string(),
        size: numbers.join("x"),
        dims: pairs.collect(),
        texts: BTreeMap::new(),
        dtype,
        inputs,
        range: any,
        bound: Bound::Any,
        samples: SAMPLES,
        on: Devices::Cpus,
        variants: Vec::new(),
        notes: Vec::new(),
        program: Some(OwnProgram {
            program,
            seed: command.random.unwrap_or(0),
            against,
        }),
    })
}

/// The program of another file, which computes the same from the same arrays as far as types say.
fn against(given: &GivenProgram, ours: &FileProgram, signature: &Signature) -> Result<FileProgram> {
    let wanted = match &given.entry {
        Some(entry) => Wanted::Named(Some(entry)),
        None => Wanted::Like(&ours.entry),
    };
    let (program, theirs) = read(&given.file, &wanted, &[], |_| Ok(()))?;
    let inputs = signature::difference("input", &signature.inputs, &theirs.inputs);
    let outputs = || signature::difference("output", &signature.outputs, &theirs.outputs);
    match inputs.or_else(outputs) {
        None => Ok(program),
        Some(why) => Err(Error::input(format!(
            "--against: '{}' has another signature than '{}': {why}",
            given.file, ours.file
        ))),
    }
}

/// The function of a program that is meant.
enum Wanted<'w> {
    /// That of a name; its only one, if none is named.
    Named(Option<&'w str>),
    /// That of a name, if it has one; else its only one.
    Like(&'w str),
}

/// Reads a program, and forms its function, of which `check` may refuse what cannot be measured.
fn read(
    file: &str,
    wanted: &Wanted,
    sizes: &[Size],
    check: impl Fn(&Entry) -> Result<()>,
) -> Result<(FileProgram, Signature)> {
    let source = Source::read(Path::new(file))?;
    mdh_passes::register_all();
    let context = context::program_context();
    diagnostics::show(&context, &source);
    // Those who measure it show them.
    diagnostics::hide_warnings(&context);
    let of_file = |error: Error| match error.message().is_empty() {
        true => error,
        false => error.at(format!("'{file}'")),
    };
    let named = match wanted {
        Wanted::Named(name) => *name,
        Wanted::Like(_) => None,
    };
    let module = source.parse_wanted(&context, named).map_err(of_file)?;
    let function = match wanted {
        Wanted::Named(name) => *name,
        Wanted::Like(name) => function_of(compile::operation(&module), name)
            .filter(|op| has_body(*op))
            .map(|_| *name),
    };
    let text = match source.is_bytecode() {
        true => compile::operation(&module).to_string(),
        false => source.text().to_string(),
    };
    let formed = Formed::of_module(&context, module, &source, function, Raise::On);
    let formed = formed.map_err(of_file)?;
    let entry = formed.entry().map_err(of_file)?;
    execute::expect_code(entry.op, Device::Cpu, None)?;
    let signature = Signature::new(&entry, sizes).map_err(of_file)?;
    check(&entry).map_err(of_file)?;
    let program = FileProgram {
        file: source.name().to_string(),
        text,
        entry: formed.function.clone(),
        is_named: matches!(wanted, Wanted::Named(Some(_))),
    };
    Ok((program, signature))
}

/// Refuses sizes for which nothing is computed, and a function of which some sizes stay open: `mdh run` would assume
/// some, which are too small to say anything.
fn expect_sizes(entry: &Entry, given: &[Size]) -> Result<()> {
    if let Some(empty) = given.iter().find(|size| size.size == 0) {
        return Err(Error::input(format!(
            "--size: found {}=0, for which nothing is computed: expected at least 1",
            empty.dimension
        )));
    }
    let known = sizes::infer(
        entry,
        given,
        sizes::Sizes::declared(entry),
        sizes::Open::Kept,
    )?;
    let mut open: Vec<String> = Vec::new();
    for dim in entry.views().into_iter().flat_map(|(_, view)| view.dims) {
        let size = sizes::value(entry, &known, extents::of_bound(dim.upper));
        if size.is_none() && !open.contains(&dim.name) {
            open.push(dim.name);
        }
    }
    match open.is_empty() {
        true => Ok(()),
        false => Err(Error::input(format!(
            "the program leaves the size of {} open: expected --size {}",
            open.join(", "),
            open.iter()
                .map(|name| format!("{name}=N"))
                .collect::<Vec<_>>()
                .join(" ")
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_workloads_or_files() {
        for workload in ["matmul", "matmul/1024", "scan/16777216", "matmull"] {
            assert!(!is_program(workload), "{workload}");
        }
        for file in [
            "own.mlir",
            "a/own.tdsl",
            "a/b",
            "./matmul",
            "matmul/own.mlir",
            "/dev/null",
        ] {
            assert!(is_program(file), "{file}");
        }
    }

    fn lists(texts: &[&str]) -> Vec<SizeList> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn sizes_become_cases() {
        let sizes = |texts: &[&str]| {
            let cases = expanded(&lists(texts)).unwrap().into_iter();
            let text = |size: &Size| format!("{}={}", size.dimension, size.size);
            let texts = cases.map(|sizes| sizes.iter().map(text).collect::<Vec<_>>().join(" "));
            texts.collect::<Vec<_>>()
        };
        assert_eq!(sizes(&[]), [""]);
        assert_eq!(sizes(&["k=4", "i=64"]), ["k=4 i=64"]);
        assert_eq!(sizes(&["i=64,128", "k=4"]), ["i=64 k=4", "i=128 k=4"]);
        assert_eq!(sizes(&["i=1,2", "j=3,4"]), ["i=1 j=3", "i=2 j=4"]);
        let wrong = |texts: &[&str]| expanded(&lists(texts)).unwrap_err().to_string();
        let messages = [wrong(&["i=1", "i=2"]), wrong(&["i=1,2", "j=1,2,3", "k=5"])];
        insta::assert_snapshot!(messages.join("\n"), @r"
        error: --size: found 'i' twice, expected it once: i=64,128 is two sizes
        error: --size: found 2 sizes of 'i' and 3 of 'j': expected as many, or one
        ");
    }
}
