//! Values of parameters, and configurations, which give each parameter one.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A value of a parameter. Integers come before texts.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Value {
    /// An integer.
    Integer(i64),
    /// A text.
    Text(Arc<str>),
}

impl Value {
    /// The integer that this is, if it is one.
    pub fn integer(&self) -> Option<i64> {
        match self {
            Value::Integer(integer) => Some(*integer),
            Value::Text(_) => None,
        }
    }

    /// Its JSON.
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            Value::Integer(integer) => (*integer).into(),
            Value::Text(text) => text.as_ref().into(),
        }
    }

    /// The value that JSON gives, if it is an integer or a text.
    pub fn of_json(json: &serde_json::Value) -> Option<Value> {
        let integer = json.as_i64().map(Value::from);
        integer.or_else(|| json.as_str().map(Value::from))
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Integer(integer) => integer.fmt(f),
            Value::Text(text) => text.fmt(f),
        }
    }
}

impl From<i64> for Value {
    fn from(integer: i64) -> Value {
        Value::Integer(integer)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.into())
    }
}

/// One value for each parameter of a space, in its order.
#[derive(Clone, Debug)]
pub struct Configuration {
    names: Arc<[String]>,
    values: Box<[Value]>,
}

impl Configuration {
    /// A configuration; there are as many names as values.
    pub fn new(names: Arc<[String]>, values: impl Into<Box<[Value]>>) -> Configuration {
        let values = values.into();
        debug_assert_eq!(names.len(), values.len());
        Configuration { names, values }
    }

    /// A configuration of pairs.
    pub fn from_pairs<'n>(pairs: impl IntoIterator<Item = (&'n str, Value)>) -> Configuration {
        let (names, values): (Vec<String>, Vec<Value>) = pairs
            .into_iter()
            .map(|(name, value)| (name.to_string(), value))
            .unzip();
        Configuration::new(names.into(), values)
    }

    /// The configuration that a JSON object gives, or what is wrong with it.
    pub fn of_json(json: &serde_json::Value) -> Result<Configuration, String> {
        let object = json.as_object().ok_or_else(|| {
            format!("found {json}, expected an object that gives each parameter a value")
        })?;
        let mut pairs = Vec::new();
        for (name, value) in object {
            let value = Value::of_json(value).ok_or_else(|| {
                format!("found {value} for '{name}', expected an integer or a text")
            })?;
            pairs.push((name.as_str(), value));
        }
        Ok(Configuration::from_pairs(pairs))
    }

    /// The value of a parameter.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.pairs()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| value)
    }

    /// Names and values, in order.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.names.iter().map(String::as_str).zip(&self.values)
    }

    /// The values, in order.
    pub fn values(&self) -> &[Value] {
        &self.values
    }

    /// A text that is the same for the same pairs, whatever their order: JSON with sorted names.
    pub fn key(&self) -> String {
        let mut pairs: Vec<(&str, &Value)> = self.pairs().collect();
        pairs.sort_by_key(|(name, _)| *name);
        let pairs: Vec<String> = pairs
            .into_iter()
            .map(|(name, value)| format!("{}:{}", serde_json::json!(name), value.to_json()))
            .collect();
        format!("{{{}}}", pairs.join(","))
    }

    /// Its JSON, an object.
    pub fn to_json(&self) -> serde_json::Value {
        let pairs = self
            .pairs()
            .map(|(name, value)| (name.to_string(), value.to_json()));
        serde_json::Value::Object(pairs.collect())
    }
}

impl PartialEq for Configuration {
    fn eq(&self, other: &Configuration) -> bool {
        self.values == other.values && self.names == other.names
    }
}

impl Eq for Configuration {}

impl Hash for Configuration {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.values.hash(state);
    }
}

impl fmt::Display for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, (name, value)) in self.pairs().enumerate() {
            let blank = if n > 0 { " " } else { "" };
            write!(f, "{blank}{name}={value}")?;
        }
        Ok(())
    }
}
