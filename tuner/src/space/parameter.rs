//! Parameters: a name, the values that it may have, and constraints over it and earlier ones.

use super::constraint::Constraint;
use super::value::Value;
use crate::error::{Error, Result, repeated};

/// A parameter of a space.
#[derive(Clone, Debug)]
pub struct Parameter {
    pub(crate) name: String,
    /// The values that it may have before its constraints are asked, in order; integers are sorted.
    pub(crate) values: Vec<Value>,
    pub(crate) order: Order,
    pub(crate) constraints: Vec<Constraint>,
}

/// Relation of a parameter's values to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Integers: each is next to the one before and the one after.
    Sorted,
    /// Texts: each is next to all others.
    Categories,
}

impl Parameter {
    /// A parameter with these values, each of which stands once. Integers are sorted; others stay in their order.
    pub fn set<V: Into<Value>>(
        name: &str,
        values: impl IntoIterator<Item = V>,
    ) -> Result<Parameter> {
        let mut values: Vec<Value> = values.into_iter().map(Into::into).collect();
        let wrong = |message: String| Error::input(format!("parameter '{name}': {message}"));
        if values.is_empty() {
            return Err(wrong("found no value, expected at least one".to_string()));
        }
        if let Some(twice) = repeated(&values) {
            return Err(wrong(format!(
                "found the value {twice} twice, expected each once"
            )));
        }
        let order = match values.iter().all(|value| value.integer().is_some()) {
            true => Order::Sorted,
            false => Order::Categories,
        };
        if order == Order::Sorted {
            values.sort();
        }
        Ok(Parameter {
            name: name.to_string(),
            values,
            order,
            constraints: Vec::new(),
        })
    }

    /// Adds a constraint over this parameter and earlier ones.
    pub fn constraint(mut self, constraint: Constraint) -> Parameter {
        self.constraints.push(constraint);
        self
    }

    /// Its value, if it has only one.
    pub(crate) fn only_value(&self) -> Option<&Value> {
        match self.values.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets() {
        let values = |parameter: Parameter| {
            let texts: Vec<String> = parameter.values.iter().map(Value::to_string).collect();
            (texts.join(", "), parameter.order)
        };
        let numbers = Parameter::set("p", [3, 1, 2]).unwrap();
        assert_eq!(values(numbers), ("1, 2, 3".to_string(), Order::Sorted));
        let texts = Parameter::set("p", ["b", "a"]).unwrap();
        assert_eq!(values(texts), ("b, a".to_string(), Order::Categories));
        let twice = Parameter::set("p", ["b", "a", "b"]).unwrap_err();
        assert!(
            twice
                .message()
                .starts_with("parameter 'p': found the value b twice"),
            "{twice}"
        );
        assert!(Parameter::set("p", Vec::<i64>::new()).is_err());
    }
}
