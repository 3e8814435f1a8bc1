//! The explanation of a space that is empty.

use super::tree::{DeadEnd, Growing, Level};
use super::value::Value;
use crate::error::Error;

/// An error that names the constraint that leaves nothing of a group: without it there would be
/// configurations. If there is no such one, it names those at the deepest place that is reached.
pub(super) fn emptiness(
    levels: &[Level],
    fixed: &[Option<Value>],
    dead_end: Option<&DeadEnd>,
) -> Error {
    for (number, level) in levels.iter().enumerate().rev() {
        for (which, constraint) in level.constraints.iter().enumerate().rev() {
            let without = Growing::new(levels, fixed).without(number, which).grow();
            if matches!(without, Ok(Some(_))) {
                let message = format!(
                    "the space is empty: no value of '{}' satisfies `{}`{}",
                    level.name,
                    constraint.constraint.rule(),
                    given(levels, dead_end),
                );
                return Error::input(message).help(format!(
                    "give '{}' or a parameter before it other values",
                    level.name
                ));
            }
        }
    }
    let end = dead_end.map_or(0, |end| end.level);
    let texts: Vec<String> = levels[end]
        .constraints
        .iter()
        .map(|constraint| format!("`{}`", constraint.constraint.rule()))
        .collect();
    Error::input(format!(
        "the space is empty: no value of '{}' satisfies {}{}",
        levels[end].name,
        texts.join(" and "),
        given(levels, dead_end)
    ))
    .help("give several of its parameters other values")
}

/// The place that was reached, for messages.
fn given(levels: &[Level], dead_end: Option<&DeadEnd>) -> String {
    match dead_end {
        Some(end) if !end.given.is_empty() => {
            format!(", as for '{}' where {}", levels[end.level].name, end.given)
        }
        _ => String::new(),
    }
}
