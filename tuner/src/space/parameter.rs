//! Parameters: a name, the values that it may have, and constraints over it and earlier ones.

use std::collections::HashSet;

use super::formula::Formula;
use super::value::Value;
use crate::error::{Error, Result};

/// The most values that one parameter may list.
const MOST_VALUES: usize = 1 << 20;

/// A parameter of a space.
#[derive(Clone, Debug)]
pub struct Parameter {
    pub(crate) name: String,
    pub(crate) range: ParameterRange,
    pub(crate) constraints: Vec<Formula>,
}

/// The values that a parameter may have before its constraints are asked.
#[derive(Clone, Debug)]
pub(crate) enum ParameterRange {
    /// These, in order; numbers are sorted.
    Listed { values: Vec<Value>, order: Order },
    /// The one that earlier parameters give.
    Derived(Formula),
}

/// Relation of a parameter's values to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Numbers: each is next to the one before and the one after.
    Sorted,
    /// Texts or booleans: each is next to all others.
    Categories,
}

impl Parameter {
    /// A parameter with the numbers from `first` to `last` (included) at distance `step`.
    /// They are integers if all three are.
    pub fn interval(
        name: &str,
        first: impl Into<Value>,
        last: impl Into<Value>,
        step: impl Into<Value>,
    ) -> Result<Parameter> {
        let values = numbers(&first.into(), &last.into(), &step.into())
            .map_err(|error| of_parameter(name, error))?;
        Parameter::set(name, values)
    }

    /// A parameter with the values that a generator makes of the numbers of an interval.
    pub fn generated(
        name: &str,
        (first, last, step): (Value, Value, Value),
        generator: &Formula,
    ) -> Result<Parameter> {
        let wrong = |why: String| of_parameter(name, Error::input(format!("the generator {why}")));
        let mut values = Vec::new();
        for number in numbers(&first, &last, &step).map_err(|error| of_parameter(name, error))? {
            let value = generator.value(&[&number]).map_err(wrong)?;
            if !values.contains(&value) {
                values.push(value);
            }
        }
        Parameter::set(name, values)
    }

    /// A parameter with these values. Numbers are sorted; others stay in their order.
    pub fn set<V: Into<Value>>(
        name: &str,
        values: impl IntoIterator<Item = V>,
    ) -> Result<Parameter> {
        let mut values: Vec<Value> = values.into_iter().map(Into::into).collect();
        let wrong = |message: String| of_parameter(name, Error::input(message));
        if values.is_empty() {
            return Err(wrong("found no value, expected at least one".to_string()));
        }
        check_count(values.len() as f64).map_err(|error| of_parameter(name, error))?;
        let mut seen = HashSet::new();
        if let Some(twice) = values.iter().find(|value| !seen.insert(*value)) {
            return Err(wrong(format!(
                "found the value {twice} twice, expected each once"
            )));
        }
        if let Some(number) = values
            .iter()
            .find(|v| v.number().is_some_and(|n| !n.is_finite()))
        {
            return Err(wrong(format!("found {number}, expected finite numbers")));
        }
        let order = match values.iter().all(|value| value.number().is_some()) {
            true => Order::Sorted,
            false => Order::Categories,
        };
        if order == Order::Sorted {
            values.sort_by(Value::order);
        }
        Ok(Parameter {
            name: name.to_string(),
            range: ParameterRange::Listed { values, order },
            constraints: Vec::new(),
        })
    }

    /// A value that follows from earlier ones. It has a name, so that constraints can use it in
    /// place of what it is made of: they then depend on less, and the trees share more.
    pub fn derived(name: &str, formula: Formula) -> Parameter {
        Parameter {
            name: name.to_string(),
            range: ParameterRange::Derived(formula),
            constraints: Vec::new(),
        }
    }

    /// Adds a constraint over this parameter and earlier ones.
    pub fn constraint(mut self, constraint: Formula) -> Parameter {
        self.constraints.push(constraint);
        self
    }

    /// Its formulas: what it is derived from, then its constraints.
    pub(crate) fn formulas(&self) -> impl Iterator<Item = &Formula> {
        let derived = match &self.range {
            ParameterRange::Derived(formula) => Some(formula),
            ParameterRange::Listed { .. } => None,
        };
        derived.into_iter().chain(&self.constraints)
    }

    /// Its values, if it lists them.
    pub(crate) fn listed(&self) -> Option<&[Value]> {
        match &self.range {
            ParameterRange::Listed { values, .. } => Some(values),
            ParameterRange::Derived(_) => None,
        }
    }

    /// Leaves only one of its values.
    pub(crate) fn fix(&mut self, value: &Value) -> Result<()> {
        let Some(values) = self.listed() else {
            return Err(of_parameter(
                &self.name,
                Error::input("found a fixed value, but it follows from other parameters"),
            ));
        };
        let Some(same) = values.iter().find(|known| known.means(value)).cloned() else {
            let error = Error::input(format!(
                "found the fixed value {value}, expected one of {}",
                listing(values)
            ));
            return Err(of_parameter(&self.name, error));
        };
        if let ParameterRange::Listed { values, .. } = &mut self.range {
            *values = vec![same];
        }
        Ok(())
    }
}

/// An error about a parameter.
pub(crate) fn of_parameter(name: &str, error: Error) -> Error {
    error.at(format_args!("parameter '{name}'"))
}

/// The first values of a list, for messages.
pub(crate) fn listing(values: &[Value]) -> String {
    const SHOWN: usize = 8;
    let shown: Vec<String> = values.iter().take(SHOWN).map(Value::to_string).collect();
    match values.len() > SHOWN {
        true => format!(
            "{}, .. ({} values to {})",
            shown.join(", "),
            values.len(),
            values[values.len() - 1]
        ),
        false => shown.join(", "),
    }
}

fn check_count(count: f64) -> Result<()> {
    match count <= MOST_VALUES as f64 {
        true => Ok(()),
        false => Err(Error::input(format!(
            "found {count} values, expected at most {MOST_VALUES}"
        ))
        .help("give a larger step, or a generator such as 2 ** i")),
    }
}

/// The numbers of an interval.
fn numbers(first: &Value, last: &Value, step: &Value) -> Result<Vec<Value>> {
    let number = |value: &Value| match value.number() {
        Some(number) if number.is_finite() => Ok(number),
        _ => Err(Error::input(format!("found {value}, expected a number"))),
    };
    let (low, high, distance) = (number(first)?, number(last)?, number(step)?);
    if distance <= 0.0 {
        let message = format!("found the step {step}, expected one above 0");
        return Err(Error::input(message));
    }
    if low > high {
        return Err(Error::input(format!(
            "found an interval from {first} to {last}, which has no numbers"
        )));
    }
    // Half a billionth of a step, so that 0.1 .. 0.3 at 0.1 has its last number.
    let count = ((high - low) / distance + 5e-10).floor() + 1.0;
    check_count(count)?;
    let value = |n: usize| match (first, step, last) {
        (Value::Integer(first), Value::Integer(step), Value::Integer(_)) => {
            Value::Integer(first + n as i64 * step)
        }
        _ => Value::Float(low + n as f64 * distance),
    };
    Ok((0..count as usize).map(value).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(parameter: &Parameter) -> String {
        listing(parameter.listed().unwrap())
    }

    #[test]
    fn intervals() {
        let of =
            |first: Value, last: Value, step: Value| Parameter::interval("p", first, last, step);
        let integers = of(1.into(), 10.into(), 4.into()).unwrap();
        assert_eq!(values(&integers), "1, 5, 9");
        let floats = of(0.0.into(), 0.3.into(), 0.1.into()).unwrap();
        assert_eq!(floats.listed().unwrap().len(), 4);
        for (first, last, step, said) in [
            (1, 10, 0, "step 0"),
            (2, 1, 1, "no numbers"),
            (0, 1 << 30, 1, "at most 1048576"),
        ] {
            let error = of(first.into(), last.into(), step.into()).unwrap_err();
            assert!(error.to_string().contains(said), "{error}");
            assert!(error.message().starts_with("parameter 'p':"), "{error}");
        }
        let generator = Formula::new("2 ** i", ["i"], |v| 1i64 << v[0].integer().unwrap());
        let powers = Parameter::generated("p", (0.into(), 5.into(), 1.into()), &generator);
        assert_eq!(values(&powers.unwrap()), "1, 2, 4, 8, 16, 32");
    }

    #[test]
    fn sets() {
        let numbers = Parameter::set("p", [3, 1, 2].map(Value::Integer)).unwrap();
        assert_eq!(values(&numbers), "1, 2, 3");
        let texts = Parameter::set("p", ["b", "a"]).unwrap();
        assert_eq!(values(&texts), "b, a");
        let twice = Parameter::set("p", ["b", "a", "b"]).unwrap_err();
        assert!(twice.to_string().contains("the value b twice"), "{twice}");
        assert!(Parameter::set("p", Vec::<i64>::new()).is_err());
        assert!(Parameter::set("p", [f64::NAN]).is_err());
    }

    #[test]
    fn fixed() {
        let mut p = Parameter::set("p", [1, 2, 3].map(Value::Integer)).unwrap();
        let error = p.fix(&Value::Integer(7)).unwrap_err().to_string();
        assert!(
            error.contains("found the fixed value 7, expected one of 1, 2, 3"),
            "{error}"
        );
        p.fix(&Value::Float(2.0)).unwrap();
        assert_eq!(values(&p), "2");
    }
}
