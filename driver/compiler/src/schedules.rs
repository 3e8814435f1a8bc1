//! Schedules as files: JSON, the text of the attribute, or a transform script.

use std::collections::BTreeMap;

use mdh_dialect::ir::{self, Op};
use mdh_dialect::scalar_code::Finding;
use mdh_dialect::script::{self, Plans};
use mdh_dialect::translate::{self, Depth};
use mdh_dialect::{schedule, transform, verify};
use mdh_passes::support::versions;
use mdh_schedule::asm::Asm;
use mdh_schedule::{
    self as plan, Constraint, ParseError, Schedule, SchedulePath, Schedules, Violation,
};
use melior::Context;
use melior::ir::operation::OperationLike;

use crate::cli::GivenSchedule;
use crate::diagnostics::{error_at, error_in};
use crate::error::{Error, ErrorKind, Result, say};
use crate::formed::Formed;
use crate::host::Host;
use crate::nearest::nearest;
use crate::select::function;
use crate::source::Source;
use crate::tuned::{Choice, Found, Machine, Taken, Wanted};
use crate::{compile, diagnostics, named, versions as tuned_versions};

/// Reads a file that is no script; `{` starts JSON, everything else is the attribute's text, or
/// that of several with names, as MLIR names attributes: `#name = #mdh.schedule<..>`.
pub fn read(source: &Source) -> Result<Plans> {
    let text = source.text();
    if source.name().ends_with(".mlir") && text.contains("func.func") {
        let help = "`mdh schedule FILE --emit attr` prints the schedules in a program";
        let what =
            "found a program, expected a schedule: JSON, #mdh.schedule<..> or a transform script";
        return Err(Error::input(format!("'{}': {what}", source.name())).help(help));
    }
    let located = |error: ParseError| error_in(source, error.line, error.column, &error.message);
    if !plan::is_json(text) {
        let aliases = aliases(text);
        if !aliases.is_empty() {
            return named(source, &aliases);
        }
        if is_blank(text) {
            return Err(error_in(source, 1, 1, &nothing()));
        }
        return text
            .parse()
            .map(|plan| Plans::One(Box::new(plan)))
            .map_err(located);
    }
    if has_computations(text) {
        let plans = Schedules::from_json(text).map_err(located)?;
        return Ok(Plans::Several(plans.computations));
    }
    let plan = Schedule::from_json(text).map_err(located)?;
    Ok(Plans::One(Box::new(plan)))
}

/// Returns whether a text has nothing but blanks and comments. That is no schedule without entries, which
/// would take the model's away: it is a file that was not written to the end.
fn is_blank(text: &str) -> bool {
    let code = |line: &str| {
        line.split("//")
            .next()
            .unwrap_or_default()
            .trim()
            .to_owned()
    };
    text.lines().map(code).all(|code| code.is_empty())
}

fn nothing() -> String {
    "found nothing, expected a schedule: JSON, #mdh.schedule<..> or a transform script; a schedule \
     without entries is {} or #mdh.schedule<>"
        .to_string()
}

/// Definition of a name for an attribute: the line, from 0, the name, and the bytes of the line
/// before `=`.
struct Alias {
    line: usize,
    name: String,
    end: usize,
}

fn aliases(text: &str) -> Vec<Alias> {
    let aliases = text.lines().enumerate().filter_map(|(n, line)| {
        let (name, end) = alias(line)?;
        Some(Alias { line: n, name, end })
    });
    aliases.collect()
}

/// The name of `#name = ..`, which is in quotes if it is no identifier, and where `=` is.
fn alias(line: &str) -> Option<(String, usize)> {
    let rest = line.strip_prefix('#')?;
    let (name, end) = if rest.starts_with('"') {
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<String>();
        let name = values.next()?.ok()?;
        (name, values.byte_offset())
    } else {
        let name = rest.split('=').next()?.trim_end();
        (name.to_string(), name.len())
    };
    let blanks = rest[end..].len() - rest[end..].trim_start().len();
    let is_named = rest.starts_with('"') || is_identifier(&name);
    (is_named && rest[end + blanks..].starts_with('=')).then_some((name, 1 + end + blanks))
}

fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    !name.is_empty() && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// A schedule as an attribute with a name.
pub fn with_name(name: &str, plan: &Schedule) -> String {
    match is_identifier(name) {
        true => format!("#{name} = {plan}\n"),
        false => format!("#{} = {plan}\n", serde_json::Value::from(name)),
    }
}

/// Schedules with names: each is on the lines up to the next name.
fn named(source: &Source, aliases: &[Alias]) -> Result<Plans> {
    let mut plans = BTreeMap::new();
    for (n, alias) in aliases.iter().enumerate() {
        let (line, name) = (alias.line, &alias.name);
        let text = text_of(source, aliases, n);
        if is_blank(&text) {
            let column = text.lines().next().map_or(0, |first| first.chars().count());
            return Err(error_in(source, line + 1, column + 1, &nothing()));
        }
        let plan: Schedule = text.parse().map_err(|error: ParseError| {
            error_in(source, line + error.line, error.column, &error.message)
        })?;
        if plans.insert(name.to_string(), plan).is_some() {
            let message = format!("found a second schedule for '{name}', expected one");
            return Err(error_in(source, line + 1, 1, &message));
        }
    }
    Ok(Plans::Several(plans))
}

/// The text of a schedule with a name. Blanks stand for the name, so that mistakes keep their columns.
fn text_of(source: &Source, aliases: &[Alias], n: usize) -> String {
    let lines: Vec<&str> = source.text().lines().collect();
    let alias = &aliases[n];
    let end = aliases.get(n + 1).map_or(lines.len(), |next| next.line);
    let (before, rest) = lines[alias.line].split_at(alias.end + 1);
    let first = " ".repeat(before.chars().count()) + rest;
    let lines = [&[first.as_str()], &lines[alias.line + 1..end]].concat();
    lines.join("\n")
}

/// The line and the column of a place of a file's schedule, of that of a name if there are several.
fn locate(source: &Source, key: Option<&str>, place: &SchedulePath) -> (usize, usize) {
    let text = source.text();
    let aliases = aliases(text);
    let named = aliases
        .iter()
        .position(|alias| Some(alias.name.as_str()) == key);
    let located = match (key, named) {
        _ if plan::is_json(text) => {
            let outer = key.map_or(SchedulePath::root(), |key| {
                SchedulePath::root().entry("computations").entry(key)
            });
            plan::locate(text, &place.inside(outer))
        }
        (_, Some(n)) => {
            let inside = plan::locate(&text_of(source, &aliases, n), place);
            inside.map(|(line, column)| (aliases[n].line + line, column))
        }
        _ => plan::locate(text, place),
    };
    located.unwrap_or((1, 1))
}

fn has_computations(text: &str) -> bool {
    let value: Option<serde_json::Value> = serde_json::from_str(text).ok();
    value.is_some_and(|value| value.get("computations").is_some())
}

/// Returns whether a file is a script, as far as its text shows: MLIR, in text or bytecode.
pub fn is_script(source: &Source) -> bool {
    let text = source.text();
    let is_json = text.trim_start().starts_with('{');
    source.is_bytecode() || !is_json && text.contains("transform.named_sequence")
}

/// Gives the computations of a function what a command was given. Says, and tells, what was taken of
/// schedules that were tuned, if these are wanted.
pub fn give(
    host: &Host,
    given: &GivenSchedule,
    machine: impl FnOnce() -> Result<Machine>,
    module: Op,
    name: &str,
) -> Result<Option<Taken>> {
    if let Some(path) = &given.schedule {
        apply(&Source::read(path)?, module, name)?;
    }
    let Some(wanted) = wanted(host, given, machine)? else {
        return Ok(None);
    };
    let function = function(module, name)?;
    take(function, wanted.nearest(function)?, &wanted).map(Some)
}

/// The schedules that a command wants of those that were tuned, if it does.
pub fn wanted(
    host: &Host,
    given: &GivenSchedule,
    machine: impl FnOnce() -> Result<Machine>,
) -> Result<Option<Wanted>> {
    let Some(folder) = given.tuned.clone() else {
        return Ok(None);
    };
    Wanted::new(host, folder, machine()?).map(Some)
}

/// Gives the computations of a program's function what a command was given, as [`give`] does, for sizes of its
/// arguments: where schedules that were tuned are for these, its version for them is in its place.
pub fn give_sized<'c>(
    context: &'c Context,
    formed: &mut Formed<'c>,
    sizes: &versions::Sizes,
    wanted: &Wanted,
) -> Result<Taken> {
    let tuned = tuned_versions::found(context, formed, sizes, wanted)?;
    let function = function(compile::operation(&formed.module), &formed.function)?;
    take(function, tuned, wanted)
}

/// Gives the computations of a function what was found for it, and says what that is.
pub fn take(function: Op, found: Found, wanted: &Wanted) -> Result<Taken> {
    wanted.note(&found.taken.note);
    // What the model chooses is left to it.
    if let Choice::Kept(plans) = found.choice {
        set(function, &plans)?;
    }
    Ok(found.taken)
}

/// Gives the computations of a function schedules that were tuned for it.
pub fn set(function: Op, plans: &Schedules) -> Result<()> {
    let wrong = |_: &str, _: &SchedulePath, message: &str| {
        Error::bug(format!("of what was tuned, {message}"))
    };
    give_all(function, &plans.computations, &wrong, Schedule::to_json)
}

/// A schedule as the file has it that it is meant for.
type Spelled = fn(&Schedule) -> String;

/// Gives the computations of a function the schedules of a file, and checks that they are theirs.
pub fn apply(source: &Source, module: Op, name: &str) -> Result<()> {
    if is_script(source) {
        return apply_script(source, module, name);
    }
    let function = function(module, name)?;
    let wrong = |key: Option<&str>, place: &SchedulePath, message: &str| {
        let (line, column) = locate(source, key, place);
        error_in(source, line, column, message)
    };
    let spelled: Spelled = match plan::is_json(source.text()) {
        true => Schedule::to_json,
        false => Schedule::to_string,
    };
    let plan = match read(source)? {
        Plans::One(plan) => plan,
        Plans::Several(plans) => {
            let of_key =
                |key: &str, place: &SchedulePath, message: &str| wrong(Some(key), place, message);
            return give_all(function, &plans, &of_key, spelled);
        }
    };
    let computations = schedule::computations(function);
    if let [only] = computations[..] {
        let wrong = |place: &SchedulePath, message: &str| wrong(None, place, message);
        return give_one(only, &plan, &wrong, spelled);
    }
    let names: Vec<String> = computations.iter().map(|op| schedule::name(*op)).collect();
    let message = format!(
        "found one schedule for {}, expected {{\"computations\": {{..}}}} with a schedule for each by \
         its position from 0, or by its first output: {}",
        ir::count(computations.len(), "computation"),
        names.join(", ")
    );
    Err(wrong(None, &SchedulePath::root(), &message))
}

/// Gives the computations of a function schedules by position or name. All mistakes are shown, each for its key,
/// and with its place in the schedule.
fn give_all(
    function: Op,
    plans: &BTreeMap<String, Schedule>,
    wrong: &dyn Fn(&str, &SchedulePath, &str) -> Error,
    spelled: Spelled,
) -> Result<()> {
    let at_name = SchedulePath::root().name();
    let named = named::give(function, plans);
    if named.map_err(|(key, why)| wrong(&key, &at_name, &why))? {
        return Ok(());
    }
    let computations = schedule::computations(function);
    let done = plans.iter().map(|(key, plan)| {
        let computation = schedule::find(&computations, key);
        let compute = computation.map_err(|why| wrong(key, &at_name, &why))?;
        let wrong = |place: &SchedulePath, message: &str| wrong(key, place, message);
        give_one(compute, plan, &wrong, spelled)
    });
    done.fold(Ok(()), Result::and)
}

/// Gives a computation a schedule.
fn give_one(
    compute: Op,
    plan: &Schedule,
    wrong: &dyn Fn(&SchedulePath, &str) -> Error,
    spelled: Spelled,
) -> Result<()> {
    schedule::set(compute, Some(plan));
    let mistakes = mistakes(compute).into_iter();
    let mistakes_shown = mistakes.map(|(place, message)| Err(wrong(&place, &message)));
    let shown = mistakes_shown.fold(Ok(()), Result::and);
    shown.map_err(|error| match error.kind() {
        ErrorKind::Input => with_nearest(error, compute, plan, spelled),
        _ => error,
    })?;
    check(compute)
}

/// Adds the nearest legal schedule of a computation to an error about one that is not, if there is one, and its names are
/// those that there are: what is meant by others, their messages ask.
fn with_nearest(error: Error, compute: Op, plan: &Schedule, spelled: Spelled) -> Error {
    let computation = translate::compute(compute, Depth::Signatures);
    let mut violations = schedule::violations(compute).into_iter();
    let (Ok(computation), false) = (computation, violations.any(|own| is_of_name(&own))) else {
        return error;
    };
    let near = nearest(plan, &computation.names(), &|changed| {
        schedule::set(compute, Some(changed));
        let mistakes = mistakes(compute).into_iter();
        mistakes.map(|(_, message)| message).collect()
    });
    schedule::set(compute, Some(plan));
    match near {
        None => error,
        Some(near) => error.help(format!(
            "the nearest schedule of '{}' that is legal:\n{}",
            schedule::name(compute),
            spelled(&near)
        )),
    }
}

/// Mistakes of a computation's schedule, each with its place in it: constraints that it breaks, or else
/// parts that there is no code for.
fn mistakes(compute: Op) -> Vec<(SchedulePath, String)> {
    let name = schedule::name(compute);
    let violations = schedule::violations(compute);
    let broken = violations.into_iter().map(|violation| {
        let (constraint, message) = (violation.constraint.name(), violation.message);
        let message = format!("the schedule of '{name}' breaks '{constraint}': {message}");
        (violation.place, message)
    });
    let refused = schedule::refusals(compute).into_iter().map(|refusal| {
        let message = format!("the computation of '{name}' has a schedule {refusal}");
        (refusal.reason.place(), message)
    });
    broken.chain(refused).collect()
}

/// Returns whether a violation is that of a name which stands for nothing.
fn is_of_name(violation: &Violation) -> bool {
    matches!(
        violation.constraint,
        Constraint::Asm
            | Constraint::UnknownLayer
            | Constraint::UnknownDimension
            | Constraint::UnknownBuffer
            | Constraint::UnknownRegion
    )
}

fn check(compute: Op) -> Result<()> {
    let findings = verify::errors(compute);
    let findings: Vec<&str> = findings.iter().map(|f| f.message.as_str()).collect();
    match findings.is_empty() {
        true => Ok(()),
        false => Err(error_at(
            compute.location(),
            &format!("the computation {}", findings.join("\n  ")),
        )),
    }
}

/// Notes which constraints of a machine the schedules of a function break. Those of any machine
/// of their kind hold when a schedule was applied; what breaks these is computed in narrower steps,
/// or from slower memory, and its result is the same.
pub fn note_limits(this: &Asm, module: Op, name: &str) -> Result<()> {
    for op in schedule::computations(function(module, name)?) {
        let of_this = |plan: &Schedule| plan.asm.as_deref().is_none_or(|asm| asm == this.name);
        let plan = schedule::read(op).ok().flatten().filter(of_this);
        let computation = translate::compute(op, Depth::Signatures);
        let (Some(plan), Ok(computation)) = (plan, computation) else {
            continue;
        };
        for violation in plan::check(&plan, &computation, this)
            .err()
            .unwrap_or_default()
        {
            let computation_name = schedule::name(op);
            let why = "its code is right, and slower than it could be";
            say(&format!(
                "note: the schedule of '{computation_name}' exceeds this machine: {violation}; {why}\n"
            ));
        }
    }
    Ok(())
}

/// The sequence of a script, or the error if there is none.
pub fn sequence<'c>(source: &Source, module: Op<'c>) -> Result<Op<'c>> {
    script::main(module).ok_or_else(|| {
        let name = source.name();
        let what = "found no transform.named_sequence @__transform_main, where scripts start";
        Error::input(format!("'{name}': {what}"))
            .help("`mdh schedule FILE --emit transform` prints scripts")
    })
}

/// Shows the mistakes of a script.
pub fn refused(findings: Vec<Finding>) -> Error {
    for finding in findings {
        ir::error_at(finding.op, &finding.message);
    }
    Error::diagnosed()
}

/// Runs a script on a function, as `mdh-opt --transform-interpreter` does. What else is in the
/// script may replace the function by another one.
fn apply_script(source: &Source, program: Op, name: &str) -> Result<()> {
    let context = ir::context_of(program);
    diagnostics::show_also(context, source);
    let module = source.parse(context)?;
    let script = compile::operation(&module);
    let sequence = sequence(source, script)?;
    let knobs = script::knobs(sequence);
    if !knobs.is_empty() {
        return Err(refused(knobs));
    }
    script::apply(sequence, script, function(program, name)?).map_err(|_| Error::diagnosed())?;
    let mut is_wrong = false;
    let computations = schedule::computations(function(program, name)?);
    for (n, compute) in computations.iter().enumerate() {
        // What the script made wrong is said where it did.
        let edits = edits(sequence, &computations, n);
        for (place, message) in mistakes(*compute) {
            let Some(edit) = transform::culprit(&edits, &place) else {
                continue;
            };
            ir::error_at(edit, &format!("is why {message}"));
            is_wrong = true;
        }
    }
    match is_wrong {
        true => Err(Error::diagnosed()),
        false => computations.into_iter().try_for_each(check),
    }
}

/// The operations of a script that may change the schedule of a computation: all but those of a
/// handle of another one.
fn edits<'c>(sequence: Op<'c>, computations: &[Op], n: usize) -> Vec<Op<'c>> {
    let mut edits = ir::all(sequence);
    edits.retain(|op| {
        let handle = op
            .operand(0)
            .ok()
            .and_then(|handle| ir::defining_op(ir::value(handle)));
        let matched = handle.filter(|handle| transform::mnemonic(*handle) == Some("match"));
        let key = matched.and_then(|matched| ir::attribute(matched, "computation"));
        let key = key.and_then(ir::text);
        transform::mnemonic(*op).is_some()
            && key.is_none_or(|key| schedule::find(computations, key) == Ok(computations[n]))
    });
    edits
}
