//! Explanations: of a space that is empty, and of a configuration that is not in a space.

use super::parameter::{listing, of_parameter};
use super::tree::{DeadEnd, Growing, Level};
use super::value::{Configuration, Value};
use super::{Point, Space};
use crate::error::{Error, Result, did_you_mean};

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
            // A constraint that guards another from a division by zero cannot be left out.
            if matches!(without, Ok(Some(_))) {
                let message = format!(
                    "the space is empty: no value of '{}' satisfies `{}`{}",
                    level.name,
                    constraint.formula.text(),
                    given(levels, dead_end),
                );
                return Error::input(message).help(format!(
                    "weaken this constraint (without it there are configurations), or give '{}' \
                     or a parameter before it other values",
                    level.name
                ));
            }
        }
    }
    let end = dead_end.map_or(0, |end| end.level);
    let texts: Vec<String> = levels[end]
        .constraints
        .iter()
        .map(|constraint| format!("`{}`", constraint.formula.text()))
        .collect();
    Error::input(format!(
        "the space is empty: no value of '{}' satisfies {}{}",
        levels[end].name,
        texts.join(" and "),
        given(levels, dead_end)
    ))
    .help("more than one constraint would have to be weakened")
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

impl Space {
    /// The point of a configuration, which may leave derived parameters out, or an error that says
    /// why it is none of this space's.
    pub fn find(&self, configuration: &Configuration) -> Result<Point> {
        let known = || self.axes.iter().map(|axis| axis.name.as_str());
        for (name, _) in configuration.pairs() {
            if !known().any(|other| other == name) {
                let error = Error::input(format!("found '{name}', which is no parameter"));
                return Err(did_you_mean(name, known())
                    .into_iter()
                    .fold(error, Error::help));
            }
        }
        let mut values: Vec<Option<Value>> = vec![None; self.axes.len()];
        for position in 0..self.axes.len() {
            let value = self.value_in(configuration, position, &values)?;
            values[position] = Some(value);
            self.check_constraints(position, &values)?;
        }
        let mut ranks = Vec::new();
        for (axis, value) in self.axes.iter().zip(values.iter().flatten()) {
            let rank = axis.values.iter().position(|known| known.means(value));
            ranks.push(rank.ok_or_else(|| no_way_on(&axis.name, value))? as u32);
        }
        let point = Point(ranks.into());
        match self.split(&point) {
            Some(_) => Ok(point),
            None => Err(Error::bug(format!(
                "{configuration} is valid, but in no tree"
            ))),
        }
    }

    /// The value that a configuration gives a parameter, as the space spells it.
    fn value_in(
        &self,
        configuration: &Configuration,
        position: usize,
        values: &[Option<Value>],
    ) -> Result<Value> {
        let parameter = &self.parameters[position];
        let wrong = |message: String| of_parameter(&parameter.name, Error::input(message));
        let given = configuration.get(&parameter.name);
        match (parameter.listed(), given) {
            (Some(listed), Some(given)) => {
                let known = listed.iter().find(|known| known.means(given)).cloned();
                known.ok_or_else(|| {
                    wrong(format!(
                        "found {given}, expected one of {}",
                        listing(listed)
                    ))
                })
            }
            (Some([only]), None) => Ok(only.clone()),
            (Some(_), None) => Err(wrong("found no value, expected one".to_string())),
            (None, given) => {
                let formula = parameter.formulas().next();
                let formula = formula.ok_or_else(|| wrong("has no formula".to_string()))?;
                let value = formula.value(&self.given(formula.depends(), values));
                let value = value.map_err(wrong)?;
                match given {
                    Some(given) if !given.means(&value) => Err(wrong(format!(
                        "found {given}, expected {value}, which is `{}`",
                        formula.text()
                    ))),
                    _ => Ok(value),
                }
            }
        }
    }

    fn check_constraints(&self, position: usize, values: &[Option<Value>]) -> Result<()> {
        let parameter = &self.parameters[position];
        for constraint in &parameter.constraints {
            let given = self.given(constraint.depends(), values);
            let wrong = |message: String| of_parameter(&parameter.name, Error::input(message));
            if constraint.holds(&given).map_err(wrong)? {
                continue;
            }
            let given: Vec<String> = constraint
                .depends()
                .iter()
                .zip(given)
                .map(|(name, value)| format!("{name} = {value}"))
                .collect();
            return Err(wrong(format!(
                "found {}, which does not satisfy `{}`",
                given.join(", "),
                constraint.text()
            )));
        }
        Ok(())
    }

    fn given<'v>(&self, names: &[String], values: &'v [Option<Value>]) -> Vec<&'v Value> {
        let place = |name: &String| self.names.iter().position(|known| known == name);
        names
            .iter()
            .filter_map(|name| values[place(name)?].as_ref())
            .collect()
    }
}

fn no_way_on(name: &str, value: &Value) -> Error {
    Error::bug(format!(
        "'{name}' = {value} satisfies all constraints, but is in no tree"
    ))
}
