//! The schedule of a computation: the attribute `schedule` of `mdh.compute`, and of the `mdh.hom`
//! that it is formed from. It holds the text of an [`mdh_schedule::Schedule`].

use std::collections::BTreeMap;

use crate::marks::SCHEDULES;
use crate::ops;
use mdh_algebra::computation::Computation;
pub use mdh_schedule::Schedule;
use mdh_schedule::asm::Asm;
use mdh_schedule::legality::{self, Refusal, Subject};
use mdh_schedule::{Constraint, Resolved, SchedulePath, Violation};
use melior::Context;
use melior::ir::{Attribute, AttributeLike};
use mlir_sys::{mlirOperationRemoveAttributeByName, mlirOperationSetAttributeByName};

use crate::ffi::string_ref;
use crate::ir::{self, Errors, Op};
use crate::read as parts;
use crate::translate::{self, Depth};

/// The attribute's name on an operation.
pub const NAME: &str = "schedule";

/// The attribute's class.
const CLASS: &str = "mdh.schedule";

/// Returns whether an operation has a schedule. What changes its dimensions, buffers or their names must
/// leave such an operation alone.
pub fn has_schedule(op: Op) -> bool {
    ir::attribute(op, NAME).is_some()
}

/// The schedule of an operation, if it has one.
pub fn read(op: Op) -> Result<Option<Schedule>, Errors> {
    ir::attribute(op, NAME).map(of_attribute).transpose()
}

pub(crate) fn of_attribute(attribute: Attribute) -> Result<Schedule, Errors> {
    let (class, parameters) = ir::class_of(attribute);
    let text = parameters.first().and_then(|text| ir::text(*text));
    match text.filter(|_| class == CLASS) {
        Some(text) => text
            .parse()
            .map_err(|error| vec![format!("has a schedule that cannot be read: {error}")]),
        None => Err(vec![format!(
            "has {attribute} as its schedule: expected #{CLASS}<...>"
        )]),
    }
}

/// The computations of a function in the order of their positions.
pub fn computations<'c>(function: Op<'c>) -> Vec<Op<'c>> {
    ir::find_all(function, &[ops::mdh::COMPUTE])
}

/// A computation's name: that of its first output.
pub fn name(compute: Op) -> String {
    let outputs = parts::compute(compute).map(|parts| parts.outputs);
    let first = outputs.unwrap_or_default().into_iter().next();
    first.map(|output| output.name).unwrap_or_default()
}

/// The only computation of a position, from 0, or a name.
pub fn find<'c>(computations: &[Op<'c>], key: &str) -> Result<Op<'c>, String> {
    let names: Vec<String> = computations.iter().map(|op| name(*op)).collect();
    let is = |n: usize| *key == n.to_string() || *key == names[n];
    let matching: Vec<usize> = (0..names.len()).filter(|n| is(*n)).collect();
    match matching[..] {
        [only] => Ok(computations[only]),
        _ => Err(format!(
            "found {} '{key}', expected one: a position from 0, or one of {}",
            ir::count(matching.len(), "computation"),
            names.join(", ")
        )),
    }
}

/// The only computation of a name.
pub fn find_by_name<'c>(computations: &[Op<'c>], wanted: &str) -> Result<Op<'c>, String> {
    let matching = computations.iter().filter(|op| name(**op) == wanted);
    match matching.collect::<Vec<_>>()[..] {
        [only] => Ok(*only),
        ref matching => Err(format!(
            "has a schedule by the name '{wanted}', which {} have: expected one",
            ir::count(matching.len(), "computation")
        )),
    }
}

/// An operation's schedule with its defaults, or what it does that its computation or its machine does
/// not allow; `None` if there is no schedule.
fn resolved(op: Op, computation: &Computation) -> Result<Option<(Schedule, Resolved)>, Errors> {
    let say = |violation: &Violation| {
        let constraint = violation.constraint.name();
        format!(
            "has a schedule that breaks '{constraint}': {}",
            violation.message
        )
    };
    let Some(schedule) = read(op)? else {
        return Ok(None);
    };
    match checked(&schedule, computation) {
        Ok(resolved) => Ok(Some((schedule, resolved))),
        Err(found) => Err(found.iter().map(say).collect()),
    }
}

/// Finds violations of an operation's schedule, of its computation's or its machine's constraints,
/// each with its place in the schedule; nothing where that cannot be said.
pub fn violations(op: Op) -> Vec<Violation> {
    let computation = translate::compute(op, Depth::Signatures);
    match (read(op), computation) {
        (Ok(Some(schedule)), Ok(computation)) => {
            checked(&schedule, &computation).err().unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

/// A schedule with its defaults, by the machine of its name with usual facts.
fn checked(schedule: &Schedule, computation: &Computation) -> Result<Resolved, Vec<Violation>> {
    let asm = match &schedule.asm {
        Some(name) => Asm::builtin(name),
        None => smallest(schedule),
    };
    let Some(asm) = asm else {
        let known: Vec<String> = Asm::builtins().into_iter().map(|asm| asm.name).collect();
        let name = schedule.asm.clone().unwrap_or_default();
        return Err(vec![Violation {
            constraint: Constraint::Asm,
            place: SchedulePath::root().entry("asm"),
            message: format!("found '{name}', expected one of {}", known.join(", ")),
        }]);
    };
    mdh_schedule::check(schedule, computation, &asm)
}

/// Returns the verifier's findings about an operation's schedule: constraints that it breaks, and
/// parts of it that there is no code for, whatever the sizes that are not known.
pub(crate) fn findings(op: Op, computation: &Computation) -> Errors {
    match resolved(op, computation) {
        Ok(Some((schedule, resolved))) => {
            let refusals = without_code(computation, &schedule, &resolved);
            refusals.iter().map(refused).collect()
        }
        Ok(None) => Errors::new(),
        Err(errors) => errors,
    }
}

/// Returns the parts of an operation's schedule that there is no code for, whatever the sizes that are not
/// known; nothing where the schedule is not sound.
pub fn refusals(op: Op) -> Vec<Refusal> {
    let computation = translate::compute(op, Depth::Signatures);
    match (read(op), computation) {
        (Ok(Some(schedule)), Ok(computation)) => match checked(&schedule, &computation) {
            Ok(resolved) => without_code(&computation, &schedule, &resolved),
            Err(_) => Vec::new(),
        },
        _ => Vec::new(),
    }
}

fn without_code(
    computation: &Computation,
    schedule: &Schedule,
    resolved: &Resolved,
) -> Vec<Refusal> {
    let subject = Subject {
        computation,
        schedule,
        resolved,
    };
    let mut refusals = legality::check(&subject).err().unwrap_or_default();
    refusals.retain(|refusal| !refusal.is_open);
    refusals
}

/// A refusal as it is said of an operation.
pub fn refused(refusal: &Refusal) -> String {
    format!("has a schedule {refusal}")
}

/// Describes the violations of an operation's schedule, of its computation's or its machine's
/// constraints.
pub fn broken(op: Op) -> Errors {
    let computation = translate::compute(op, Depth::Signatures);
    let checked = computation.and_then(|computation| resolved(op, &computation));
    checked.err().unwrap_or_default()
}

/// The name of the machine that a schedule is for, whether it names it or not.
pub fn machine_of(schedule: &Schedule) -> Option<String> {
    let derived = || smallest(schedule).map(|asm| asm.name);
    schedule.asm.clone().or_else(derived)
}

/// The first machine that has all layers of a schedule that names none; else the first.
fn smallest(schedule: &Schedule) -> Option<Asm> {
    let mut asms = Asm::builtins();
    let fits = |asm: &Asm| schedule.layers.iter().all(|l| asm.layer(&l.name).is_some());
    let position = asms.iter().position(fits).unwrap_or(0);
    Some(asms.swap_remove(position))
}

/// The attribute `#mdh.schedule<...>`.
pub fn attribute<'c>(context: &'c Context, schedule: &Schedule) -> Attribute<'c> {
    let text = schedule.to_string();
    Attribute::parse(context, &text).unwrap_or_else(|| panic!("{text} is read back"))
}

/// Gives an operation a schedule, or takes it away.
pub fn set(op: Op, schedule: Option<&Schedule>) {
    set_attribute(op, schedule.map(|s| attribute(ir::context_of(op), s)));
}

/// Gives an operation the schedule of another one, or none if that has none.
pub fn copy(from: Op, to: Op) {
    set_attribute(to, ir::attribute(from, NAME));
}

/// The schedules by name that a function's computations get once those of common subexpressions are made.
pub fn named(function: Op) -> Result<Vec<(String, Schedule)>, Errors> {
    let entries = ir::attribute(function, SCHEDULES.name).map_or(Vec::new(), ir::pairs);
    let entries = entries.into_iter();
    entries
        .map(|(name, written)| Ok((name.to_owned(), of_attribute(written)?)))
        .collect()
}

/// Gives a function's computations schedules by name, as they are once those of common subexpressions
/// are made, or takes these away if there are none.
pub fn set_named(function: Op, schedules: &BTreeMap<String, Schedule>) {
    if schedules.is_empty() {
        return ir::remove_attribute(function, SCHEDULES.name);
    }
    let context = ir::context_of(function);
    let entries = schedules.iter();
    let entries = entries.map(|(name, schedule)| (name.as_str(), attribute(context, schedule)));
    let entries = ir::dictionary(context, &entries.collect::<Vec<_>>());
    ir::set_attribute(function, SCHEDULES.name, entries);
}

fn set_attribute(op: Op, attribute: Option<Attribute>) {
    let name = string_ref(NAME);
    // SAFETY: operation and attribute are valid.
    unsafe {
        match attribute {
            Some(attribute) => {
                mlirOperationSetAttributeByName(op.to_raw(), name, attribute.to_raw());
            }
            None => {
                mlirOperationRemoveAttributeByName(op.to_raw(), name);
            }
        }
    }
}

/// The canonical text between `<` and `>`, or what is wrong with a text and the offset of it.
pub(crate) fn canonical(text: &[u8]) -> Result<String, (String, usize)> {
    let text = std::str::from_utf8(text).map_err(|error| {
        let message = "found bytes that are not UTF-8, expected a schedule";
        (message.to_owned(), error.valid_up_to())
    })?;
    let schedule: Schedule = text
        .parse()
        .map_err(|e: mdh_schedule::ParseError| (e.message, e.offset))?;
    let text = schedule.to_string();
    let inside = text
        .split_once('<')
        .and_then(|(_, rest)| rest.strip_suffix('>'));
    Ok(inside.unwrap_or_default().to_owned())
}
