//! The workloads: a table of names, sizes and types, and a program for each, as a template.

use std::collections::BTreeMap;
use std::path::Path;

use mdh_algebra::index::lex::nearest;
use mdh_frontend::mlir::Results;
use mdh_machine::Caches;
use minijinja::{Environment, UndefinedBehavior};
use serde::Deserialize;

use super::extents::Extent;
use mdh_compiler::check::SAMPLES;
use mdh_compiler::cli;
use mdh_compiler::error::{Error, Result};
use mdh_compiler::{source, tensor};

/// The table; it says itself what its fields are.
const TABLE: &str = include_str!("../workloads.toml");

/// The workloads whose programs are in the tensor language.
const OF_TENSORS: [&str; 2] = ["inplace", "interpolation"];

/// The programs.
const PROGRAMS: [(&str, &str); 27] = [
    ("attention", include_str!("../workloads/attention.mlir")),
    ("bmatmul", include_str!("../workloads/bmatmul.mlir")),
    ("ccsdt", include_str!("../workloads/ccsdt.mlir")),
    ("conv2d", include_str!("../workloads/conv2d.mlir")),
    (
        "conv2d_padded",
        include_str!("../workloads/conv2d_padded.mlir"),
    ),
    ("depthwise", include_str!("../workloads/depthwise.mlir")),
    ("dot", include_str!("../workloads/dot.mlir")),
    ("histo", include_str!("../workloads/histo.mlir")),
    ("inplace", include_str!("../workloads/inplace.tdsl")),
    (
        "interpolation",
        include_str!("../workloads/interpolation.tdsl"),
    ),
    ("jacobi3d", include_str!("../workloads/jacobi3d.mlir")),
    ("matmul", include_str!("../workloads/matmul.mlir")),
    ("matmul_t", include_str!("../workloads/matmul_t.mlir")),
    ("matvec", include_str!("../workloads/matvec.mlir")),
    ("mbbs", include_str!("../workloads/mbbs.mlir")),
    ("mcc", include_str!("../workloads/mcc.mlir")),
    ("mcc_capsule", include_str!("../workloads/mcc_capsule.mlir")),
    ("mcc_padded", include_str!("../workloads/mcc_padded.mlir")),
    ("mlp", include_str!("../workloads/mlp.mlir")),
    ("prl", include_str!("../workloads/prl.mlir")),
    (
        "resnet_block",
        include_str!("../workloads/resnet_block.mlir"),
    ),
    ("scan", include_str!("../workloads/scan.mlir")),
    ("softmax", include_str!("../workloads/softmax.mlir")),
    ("stencil27", include_str!("../workloads/stencil27.mlir")),
    ("stencil9", include_str!("../workloads/stencil9.mlir")),
    ("transpose", include_str!("../workloads/transpose.mlir")),
    ("trmm", include_str!("../workloads/trmm.mlir")),
];

/// From which value on, and below which, random numbers of an input are.
pub type Range = [f64; 2];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    workload: Vec<Workload>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Workload {
    name: String,
    dims: Vec<String>,
    #[serde(default = "single", rename = "type")]
    dtype: String,
    sizes: Vec<Size>,
    quick: Quick,
    #[serde(default)]
    variants: Vec<Variant>,
    #[serde(default)]
    inputs: BTreeMap<String, Range>,
    range: Option<Range>,
    #[serde(default)]
    bound: Bound,
    #[serde(default = "samples")]
    samples: usize,
    #[serde(default)]
    on: Devices,
}

/// The devices on which something is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Devices {
    /// CPUs and GPUs.
    #[default]
    All,
    /// CPUs only.
    Cpus,
    /// GPUs only.
    Gpus,
}

fn samples() -> usize {
    SAMPLES
}

fn single() -> String {
    "f32".to_string()
}

/// Kind of bound of a workload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// Its operations or its bytes.
    #[default]
    Any,
    /// Its bytes alone: there is a way to compute it with far fewer operations than the
    /// definition has.
    Bytes,
}

/// Another program for the same results, which is measured beside that of the workload.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// Its name, which the template has as `variant`.
    pub name: String,
    /// Treatment of statements of the tensor language that may run in place.
    #[serde(default)]
    pub statements: Statements,
}

/// Treatment of statements of the tensor language that may run in place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Statements {
    /// They run in place.
    #[default]
    InPlace,
    /// Their results go into memory of their own, and are copied.
    Copied,
}

/// The sizes of a quick run.
#[derive(Deserialize)]
#[serde(untagged)]
enum Quick {
    One(Size),
    Several(Vec<Size>),
}

/// Numbers for the dimensions of a workload.
#[derive(Deserialize)]
#[serde(untagged)]
enum Size {
    Plain(Vec<i64>),
    #[serde(rename_all = "snake_case")]
    Named {
        name: String,
        at: Vec<Extent>,
        #[serde(rename = "type")]
        dtype: Option<String>,
        #[serde(default)]
        with: BTreeMap<String, String>,
        #[serde(default)]
        inputs: BTreeMap<String, Range>,
        on: Option<Devices>,
    },
}

/// A function of a program in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileProgram {
    /// The file's name, as it was given.
    pub file: String,
    /// The text of the file: MLIR, or the tensor language by the file's name.
    pub text: String,
    /// The function's name.
    pub entry: String,
    /// True if that name was given.
    pub is_named: bool,
}

impl FileProgram {
    /// Its name in results: the file's, with that of a function that was named.
    pub fn label(&self) -> String {
        match self.is_named {
            true => format!("{}:{}", self.file, self.entry),
            false => self.file.clone(),
        }
    }

    /// The program, in MLIR.
    fn mlir(&self) -> Result<String> {
        match tensor::is_program(Path::new(&self.file)) {
            true => Ok(tensor::translate(&self.file, &self.text, Results::InPlace)?.module),
            false => Ok(self.text.clone()),
        }
    }
}

/// A program that is no workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnProgram {
    /// The program.
    pub program: FileProgram,
    /// The seed of its random inputs.
    pub seed: u64,
    /// Programs that compute the same from the same arrays.
    pub against: Vec<FileProgram>,
}

/// A workload at one size, or a program of a file at sizes that it leaves open.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The workload's name, or the file's.
    pub workload: String,
    /// The name of its size; empty for a program that leaves none open.
    pub size: String,
    /// The numbers of the size, by the names of dimensions.
    pub dims: BTreeMap<String, i64>,
    /// Texts that belong to the size, such as a layout.
    pub texts: BTreeMap<String, String>,
    /// The element type.
    pub dtype: String,
    /// Ranges of random inputs, by name.
    pub inputs: BTreeMap<String, Range>,
    /// Range of the random floats that have no range of their own.
    pub range: Option<Range>,
    /// Its kind of bound.
    pub bound: Bound,
    /// So many elements of each result are held against the definition.
    pub samples: usize,
    /// The devices on which it is measured.
    pub on: Devices,
    /// Other programs for the same results.
    pub variants: Vec<Variant>,
    /// Notes about it.
    pub notes: Vec<String>,
    /// The program, if it is no workload.
    pub program: Option<OwnProgram>,
}

impl Case {
    /// `matmul/1024x1024x1024`.
    pub fn name(&self) -> String {
        named(&self.workload, &self.size)
    }

    /// The name of its function.
    pub fn entry(&self) -> &str {
        let program = self.program.as_ref();
        program.map_or(&self.workload, |program| &program.program.entry)
    }

    /// Returns the ranges of its random inputs.
    pub fn ranges(&self) -> Vec<cli::Range> {
        let named = self.inputs.iter().map(|(name, range)| (Some(name), range));
        let ranges = named.chain(self.range.iter().map(|range| (None, range)));
        ranges
            .map(|(name, [low, high])| cli::Range {
                name: name.cloned(),
                low: *low,
                high: *high,
            })
            .collect()
    }

    /// Its program, in MLIR.
    pub fn program(&self) -> Result<String> {
        match &self.program {
            Some(program) => program.program.mlir(),
            None => self.rendered("", Statements::InPlace),
        }
    }

    /// The program of a variant, in MLIR.
    pub fn variant(&self, variant: &Variant) -> Result<String> {
        self.rendered(&variant.name, variant.statements)
    }

    fn rendered(&self, variant: &str, statements: Statements) -> Result<String> {
        let wrong = |error: minijinja::Error| Error::bug(format!("{}: {error:#}", self.name()));
        let text = PROGRAMS.iter().find(|(name, _)| *name == self.workload);
        let Some((_, text)) = text else {
            return Err(Error::bug(format!("'{}' has no program", self.workload)));
        };
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.add_template("program", text).map_err(wrong)?;
        let mut values: BTreeMap<&str, minijinja::Value> = BTreeMap::new();
        values.extend(
            self.dims
                .iter()
                .map(|(name, n)| (name.as_str(), (*n).into())),
        );
        values.extend(
            self.texts
                .iter()
                .map(|(name, s)| (name.as_str(), s.as_str().into())),
        );
        values.insert("T", self.dtype.as_str().into());
        values.insert("variant", variant.into());
        let template = environment.get_template("program").map_err(wrong)?;
        let program = template.render(values).map_err(wrong)?;
        let results = match statements {
            Statements::InPlace => Results::InPlace,
            Statements::Copied => Results::Copied,
        };
        match OF_TENSORS.contains(&self.workload.as_str()) {
            true => Ok(tensor::translate(&self.workload, &program, results)?.module),
            false => Ok(program),
        }
    }
}

/// Sizes of the workloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// The sizes of the evaluation.
    Full,
    /// One small size each.
    Quick,
}

/// All workloads at all their sizes, in the order of the table, for this machine.
pub fn all(scale: Scale) -> Result<Vec<Case>> {
    all_for(scale, &mdh_machine::caches())
}

/// The same for a machine with these caches, which some sizes exceed.
pub fn all_for(scale: Scale, caches: &Caches) -> Result<Vec<Case>> {
    let table: Table = toml::from_str(TABLE)
        .map_err(|error| Error::bug(format!("the table of workloads is wrong: {error}")))?;
    let mut cases = Vec::new();
    for workload in &table.workload {
        match scale {
            Scale::Full => {
                for size in &workload.sizes {
                    cases.push(case(workload, size, caches)?);
                }
            }
            Scale::Quick => match &workload.quick {
                Quick::One(size) => cases.push(case(workload, size, caches)?),
                Quick::Several(sizes) => {
                    for size in sizes {
                        cases.push(case(workload, size, caches)?);
                    }
                }
            },
        }
    }
    Ok(cases)
}

fn case(workload: &Workload, size: &Size, caches: &Caches) -> Result<Case> {
    let mut inputs = workload.inputs.clone();
    let (mut dtype, mut on) = (&workload.dtype, workload.on);
    let (name, extents, texts): (_, Vec<Extent>, _) = match size {
        Size::Plain(numbers) => {
            let texts: Vec<String> = numbers.iter().map(i64::to_string).collect();
            let extents = numbers.iter().copied().map(Extent::Given).collect();
            (texts.join("x"), extents, BTreeMap::new())
        }
        Size::Named {
            name,
            at,
            dtype: own_type,
            with,
            inputs: own,
            on: only,
        } => {
            inputs.extend(own.clone());
            on = only.unwrap_or(on);
            dtype = own_type.as_ref().unwrap_or(dtype);
            (name.clone(), at.clone(), with.clone())
        }
    };
    if extents.len() != workload.dims.len() {
        return Err(Error::bug(format!(
            "{}/{name} has {} numbers, expected {}",
            workload.name,
            extents.len(),
            workload.dims.len()
        )));
    }
    let (mut dims, mut notes) = (BTreeMap::new(), Vec::new());
    for (dim, extent) in workload.dims.iter().zip(extents) {
        dims.insert(dim.clone(), extent.number(dtype, caches)?);
        notes.extend(extent.note(dim, dtype, caches)?);
    }
    Ok(Case {
        workload: workload.name.clone(),
        size: name,
        dims,
        texts,
        dtype: dtype.clone(),
        inputs,
        range: workload.range,
        variants: workload.variants.clone(),
        notes,
        bound: workload.bound,
        samples: workload.samples,
        on,
        program: None,
    })
}

/// The cases that names mean: a workload is all of its sizes, and no name is everything.
pub fn select(cases: Vec<Case>, names: &[String]) -> Result<Vec<Case>> {
    for name in names {
        if !cases.iter().any(|case| is_meant(case, name)) {
            return Err(unknown(&cases, name));
        }
    }
    let is_wanted = |case: &Case| names.is_empty() || names.iter().any(|name| is_meant(case, name));
    Ok(cases.into_iter().filter(is_wanted).collect())
}

/// Returns whether a name is a workload's, or begins like one of a workload at one size.
pub fn is_workload(name: &str) -> bool {
    let first = name.split('/').next();
    PROGRAMS.iter().any(|(known, _)| Some(*known) == first)
}

/// `WORKLOAD/SIZE`, or `FILE` of a program that leaves no size open.
pub fn named(workload: &str, size: &str) -> String {
    match size.is_empty() {
        true => workload.to_string(),
        false => format!("{workload}/{size}"),
    }
}

/// Returns whether a name is that of the case, or of its workload.
pub fn is_meant(case: &Case, name: &str) -> bool {
    case.workload == name || case.name() == name
}

/// A name that is none, with those that are most like it.
fn unknown(cases: &[Case], name: &str) -> Error {
    if source::is_file_name(name)
        && let Err(error) = source::read_bytes(name.as_ref())
    {
        return error;
    }
    let mut known: Vec<String> = cases.iter().map(Case::name).collect();
    known.extend(cases.iter().map(|case| case.workload.clone()));
    known.sort();
    known.dedup();
    let near = nearest(name, known.iter().map(String::as_str));
    let near: Vec<String> = near
        .iter()
        .take(3)
        .map(|near| format!("'{near}'"))
        .collect();
    let near = match near.is_empty() {
        true => String::new(),
        false => format!("near it are {}; ", near.join(", ")),
    };
    Error::usage(format!("there is no workload '{name}'"))
        .help(format!("{near}`mdh bench --list` lists all"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_is_complete() {
        let mut cases = all(Scale::Full).unwrap();
        cases.extend(all(Scale::Quick).unwrap());
        for case in &cases {
            let program = case.program().unwrap();
            let marks = [["{", "{"].concat(), ["{", "%"].concat()];
            assert!(
                !marks.iter().any(|mark| program.contains(mark)),
                "{program}"
            );
            let head = format!("func.func @{}(", case.workload);
            assert!(program.contains(&head), "{program}");
            for variant in &case.variants {
                let other = case.variant(variant).unwrap();
                assert!(other.contains(&head) && other != program, "{other}");
            }
        }
        let tables: Vec<&str> = PROGRAMS.iter().map(|(name, _)| *name).collect();
        let mut used: Vec<&str> = cases.iter().map(|case| case.workload.as_str()).collect();
        used.sort_unstable();
        used.dedup();
        assert_eq!(tables, used);
    }

    #[test]
    fn names_are_those_of_one_case() {
        for scale in [Scale::Full, Scale::Quick] {
            let mut names: Vec<String> = all(scale).unwrap().iter().map(Case::name).collect();
            let count = names.len();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), count);
        }
    }

    #[test]
    fn names_select() {
        let cases = all(Scale::Full).unwrap();
        let selected = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
            select(cases.clone(), &names)
                .map(|cases| cases.iter().map(Case::name).collect::<Vec<_>>())
        };
        assert_eq!(
            selected(&["dot"]).unwrap(),
            ["dot/16777216", "dot/10000000"]
        );
        assert_eq!(selected(&["scan", "matvec/4096x4096"]).unwrap().len(), 2);
        assert_eq!(selected(&[]).unwrap().len(), cases.len());
        let error = selected(&["matmul/1024x1024"]).unwrap_err();
        insta::assert_snapshot!(error);
    }
}
