//! Transform scripts as a spelling of schedules: written, read without a program, and applied.
//!
//! A script is a module with a `transform.named_sequence @__transform_main`. Without a program,
//! what it does to schedules can be said if its edits stand in that sequence one after the other,
//! on handles of `transform.mdh.match`, or of `transform.structured.match` of all `mdh.compute`
//! and the parts that `transform.split_handle` makes of these. What else is in it is passed over.

#[cfg(test)]
mod tests;

use crate::ops;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use mdh_schedule::Schedule;
use mdh_schedule::edit;
use melior::ir::ValueLike;
use melior::ir::operation::OperationLike;
use mlir_sys::*;

use crate::ir::{self, Errors, Op, Val};
use crate::scalar_code::Finding;
use crate::transform;

/// The sequence where a script starts.
const MAIN: &str = "__transform_main";

/// The operation that holds a computation.
const COMPUTE: &str = ops::mdh::COMPUTE;

/// The schedules of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plans {
    /// Of its only computation.
    One(Box<Schedule>),
    /// Of computations by position, from 0, or by the name of their first output.
    Several(BTreeMap<String, Schedule>),
}

/// The sequence where a module's script starts, if it has one.
pub fn main(module: Op) -> Option<Op> {
    let ops = ir::ops_of(ir::only_block(ir::region(module, 0))?);
    let is_main = |op: &Op| {
        ir::name_of(*op) == ops::transform::NAMED_SEQUENCE
            && ir::attribute(*op, "sym_name").and_then(ir::text) == Some(MAIN)
    };
    ops.into_iter().find(is_main)
}

/// A script that gives a function these schedules.
pub fn write(plans: &Plans) -> String {
    let mut lines = Vec::new();
    match plans {
        Plans::One(plan) => {
            lines.push(format!(
                "%c = transform.structured.match ops{{[\"{COMPUTE}\"]}} in %root \
                 : (!transform.any_op) -> !transform.any_op"
            ));
            write_edits("%c", plan, &mut lines);
        }
        Plans::Several(plans) => {
            for (n, (key, plan)) in plans.iter().enumerate() {
                lines.push(format!(
                    "%c{n} = transform.mdh.match {} in %root \
                     : (!transform.any_op) -> !transform.any_op",
                    spelled(key)
                ));
                write_edits(&format!("%c{n}"), plan, &mut lines);
            }
        }
    }
    lines.push(ops::transform::YIELD.into());
    let lines: Vec<String> = lines.iter().map(|l| l.replace('\n', "\n    ")).collect();
    format!(
        "module attributes {{transform.with_named_sequence}} {{\n  \
           transform.named_sequence @{MAIN}(%root: !transform.any_op {{transform.readonly}}) {{\n    \
             {}\n  }}\n}}\n",
        lines.join("\n    ")
    )
}

/// A position, or a name.
fn spelled(key: &str) -> String {
    match key.parse::<usize>() {
        Ok(position) if position.to_string() == key => key.to_string(),
        _ => edit::name(key),
    }
}

fn write_edits(handle: &str, plan: &Schedule, lines: &mut Vec<String>) {
    let name = transform::PREFIX;
    for edit in edit::edits(plan) {
        let mnemonic = edit.name();
        lines.push(format!(
            "{name}{mnemonic} {handle} {edit} : !transform.any_op"
        ));
    }
    lines.push(format!("{name}lower {handle} : !transform.any_op"));
}

/// Meaning of a value of a script without a program.
#[derive(Clone, Debug, PartialEq)]
enum Meaning {
    /// The handle of all computations.
    All,
    /// The handle of one: its position or name.
    One(String),
    /// A number.
    Number(i64),
    /// A knob that has no value.
    Open,
}

/// A knob (`transform.tune.knob`) that has no value yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenKnob {
    /// Its name.
    pub name: String,
    /// The values that it may have, in the order of the script.
    pub options: Vec<i64>,
}

/// Values of open knobs, by name.
pub type KnobValues = BTreeMap<String, i64>;

/// The schedules that a script gives, whatever it is applied to.
pub fn read<'c>(sequence: Op<'c>) -> Result<Plans, Vec<Finding<'c>>> {
    read_with(sequence, &KnobValues::new())
}

/// The same where open knobs have these values.
pub fn read_with<'c>(sequence: Op<'c>, values: &KnobValues) -> Result<Plans, Vec<Finding<'c>>> {
    let unresolved = open(sequence).filter(|op| !values.contains_key(&knob_name(*op)));
    let mut reader = Reader {
        values,
        meanings: HashMap::new(),
        all: None,
        named: BTreeMap::new(),
        findings: unresolved.map(is_open).collect(),
    };
    let body = ir::only_block(ir::region(sequence, 0));
    let top = body.map_or(Vec::new(), ir::ops_of);
    for op in &top {
        reader.op(*op);
    }
    for op in ir::all(sequence) {
        let is_nested = !top.iter().any(|t| t == &op);
        if is_nested && transform::mnemonic(op).is_some() {
            reader.refuse(
                op,
                "stands inside of another operation, which only a program decides: expected it \
                 in the sequence itself, or --schedule with a program",
            );
        }
    }
    reader.finish(sequence)
}

/// The knobs of a script that no value was selected for, as mistakes.
pub fn knobs<'c>(sequence: Op<'c>) -> Vec<Finding<'c>> {
    open(sequence).map(is_open).collect()
}

/// The same as what a search decides, in the order of the script. Knobs of one name are one; they are
/// numbers, of which there are options.
pub fn open_knobs<'c>(sequence: Op<'c>) -> Result<Vec<OpenKnob>, Vec<Finding<'c>>> {
    let mut knobs: Vec<OpenKnob> = Vec::new();
    let mut findings = Vec::new();
    let mut refuse = |op, message| findings.push(Finding { op, message });
    for op in open(sequence) {
        let knob = match options(op) {
            Ok(options) => OpenKnob {
                name: knob_name(op),
                options,
            },
            Err(message) => {
                refuse(op, message);
                continue;
            }
        };
        match knobs.iter().find(|other| other.name == knob.name) {
            None => knobs.push(knob),
            Some(same) if *same == knob => {}
            Some(other) => refuse(
                op,
                format!(
                    "has other options than the knob of the same name before it: found {:?} and \
                     {:?}, expected the same, or another name",
                    knob.options, other.options
                ),
            ),
        }
    }
    match findings.is_empty() {
        true => Ok(knobs),
        false => Err(findings),
    }
}

/// Operations of a script that do not change schedules: [`read`] passes over them.
pub fn others<'c>(sequence: Op<'c>) -> Vec<Op<'c>> {
    let is_read = |op: &Op| {
        let read = [
            ops::transform::STRUCTURED_MATCH,
            ops::transform::SPLIT_HANDLE,
            ops::transform::PARAM_CONSTANT,
            ops::transform::TUNE_KNOB,
            ops::transform::YIELD,
        ];
        transform::mnemonic(*op).is_some() || read.contains(&ir::name_of(*op))
    };
    let body = ir::only_block(ir::region(sequence, 0));
    let operations = body.map_or(Vec::new(), ir::ops_of).into_iter();
    operations.filter(|op| !is_read(op)).collect()
}

/// The knobs without a value.
fn open<'c>(sequence: Op<'c>) -> impl Iterator<Item = Op<'c>> {
    let operations = ir::find_all(sequence, &[ops::transform::TUNE_KNOB]).into_iter();
    operations.filter(|op| ir::attribute(*op, "selected").is_none())
}

/// A string's own text, or another attribute as it is written.
fn knob_name(op: Op) -> String {
    let name = ir::attribute(op, "name");
    let text = name.and_then(|name| ir::text(name).map(str::to_string));
    text.or(name.map(|name| name.to_string()))
        .unwrap_or_default()
}

/// The numbers that a knob may have.
fn options(op: Op) -> Result<Vec<i64>, String> {
    let attribute = ir::attribute(op, "options");
    let wrong = || {
        let text = attribute.map_or("none".into(), |attribute| attribute.to_string());
        format!("has the options {text}: expected an array of integers, each once")
    };
    let elements = attribute.map_or(Vec::new(), ir::elements).into_iter();
    let numbers: Result<Vec<i64>, _> = elements
        .map(|element| transform::number(&[element]))
        .collect();
    let numbers = numbers.map_err(|_| wrong())?;
    let distinct: BTreeSet<&i64> = numbers.iter().collect();
    match !numbers.is_empty() && distinct.len() == numbers.len() {
        true => Ok(numbers),
        false => Err(wrong()),
    }
}

fn is_open(op: Op<'_>) -> Finding<'_> {
    let text = |name| ir::attribute(op, name).map_or(String::new(), |a| a.to_string());
    let message = format!(
        "{} is not resolved: select one of {}, as in `<{}> = value from options = ..`",
        text("name"),
        text("options"),
        text("name")
    );
    Finding { op, message }
}

struct Reader<'c, 'v> {
    values: &'v KnobValues,
    meanings: HashMap<usize, Meaning>,
    all: Option<Schedule>,
    named: BTreeMap<String, Schedule>,
    findings: Vec<Finding<'c>>,
}

fn key(value: Val) -> usize {
    value.to_raw().ptr as usize
}

impl<'c> Reader<'c, '_> {
    fn refuse(&mut self, op: Op<'c>, message: &str) {
        let message = message.to_owned();
        self.findings.push(Finding { op, message });
    }

    fn operand(&self, op: Op<'c>, n: usize) -> Option<&Meaning> {
        let value = op.operand(n).ok()?;
        self.meanings.get(&key(ir::value(value)))
    }

    fn define(&mut self, op: Op<'c>, n: usize, meaning: Meaning) {
        if let Ok(value) = op.result(n) {
            self.meanings.insert(key(ir::value(value)), meaning);
        }
    }

    fn op(&mut self, op: Op<'c>) {
        match ir::name_of(op) {
            ops::transform::STRUCTURED_MATCH if matches_all(op) => self.define(op, 0, Meaning::All),
            ops::transform::SPLIT_HANDLE if self.operand(op, 0) == Some(&Meaning::All) => {
                for n in 0..op.result_count() {
                    self.define(op, n, Meaning::One(n.to_string()));
                }
            }
            ops::transform::MDH_MATCH => {
                let name = ir::attribute(op, "computation").and_then(ir::text);
                self.define(op, 0, Meaning::One(name.unwrap_or_default().to_owned()));
            }
            ops::transform::PARAM_CONSTANT => self.number(op, "value"),
            ops::transform::TUNE_KNOB => match ir::attribute(op, "selected") {
                Some(_) => self.number(op, "selected"),
                None => {
                    let value = self.values.get(&knob_name(op));
                    let meaning = value.map_or(Meaning::Open, |n| Meaning::Number(*n));
                    self.define(op, 0, meaning);
                }
            },
            _ => self.edit(op),
        }
    }

    fn number(&mut self, op: Op<'c>, name: &str) {
        let value = ir::attribute(op, name);
        if let Some(Ok(number)) = value.map(|value| transform::number(&[value])) {
            self.define(op, 0, Meaning::Number(number));
        }
    }

    fn edit(&mut self, op: Op<'c>) {
        // What is open has been said.
        let parameter = |n: usize| match self.operand(op, n) {
            Some(Meaning::Number(number)) => Ok(*number),
            Some(Meaning::Open) => Ok(1),
            _ => Err(
                "has a parameter that only a program decides: expected one of \
                      transform.param.constant or transform.tune.knob"
                    .to_owned(),
            ),
        };
        let edit = match transform::edit(op, parameter) {
            Ok(Some(edit)) => edit,
            Ok(None) => return,
            Err(message) => return self.refuse(op, &message),
        };
        let changed = match self.operand(op, 0).cloned() {
            Some(Meaning::All) => edit.apply(self.all.get_or_insert_default()),
            Some(Meaning::One(name)) => edit.apply(self.named.entry(name).or_default()),
            _ => Err("changes what only a program decides: expected a handle of \
                      transform.mdh.match, or of transform.structured.match of mdh.compute"
                .to_owned()),
        };
        if let Err(message) = changed {
            self.refuse(op, &message);
        }
    }

    fn finish(mut self, sequence: Op<'c>) -> Result<Plans, Vec<Finding<'c>>> {
        if self.all.is_some() && !self.named.is_empty() {
            self.refuse(
                sequence,
                "changes the schedules of all computations and of single ones: expected one of \
                 the two",
            );
        }
        if !self.findings.is_empty() {
            return Err(self.findings);
        }
        Ok(match self.all {
            Some(plan) => Plans::One(Box::new(plan)),
            None => Plans::Several(self.named),
        })
    }
}

/// Returns whether an operation matches all computations, and nothing else.
fn matches_all(op: Op) -> bool {
    let names = ir::strings(op, "ops");
    let filters = [
        "interface",
        "op_attrs",
        "filter_result_type",
        "filter_operand_types",
    ];
    let is_filtered = filters.iter().any(|name| ir::attribute(op, name).is_some());
    names == [COMPUTE] && !is_filtered
}

/// Applies a script to a function. What went wrong has been said, with nothing left to emit.
pub fn apply(sequence: Op, script: Op, function: Op) -> Result<(), Errors> {
    // SAFETY: the operations are valid, and the sequence is the script's; options are ours.
    unsafe {
        let options = mlirTransformOptionsCreate();
        let done = mlirTransformApplyNamedSequence(
            function.to_raw(),
            sequence.to_raw(),
            script.to_raw(),
            options,
        );
        mlirTransformOptionsDestroy(options);
        match done.value {
            1 => Ok(()),
            _ => Err(Errors::new()),
        }
    }
}
