//! Formulas over parameters: constraints, filters, derived values and generators.
//!
//! A formula is a closure, or a text such as `1024 % tile == 0 and tile <= limit`, as Python has
//! them: `+ - * / // % **`, comparisons (also `1 < a < b`), `in`, `and`, `or`, `not`,
//! `x if c else y`, and the functions `min`, `max`, `abs`, `log2`, `ceil_div` and `gcd`.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, LazyLock};

use minijinja::{Environment, ErrorKind, Expression, UndefinedBehavior};

use super::value::Value;
use crate::error::did_you_mean;

/// The functions that a text may call.
const FUNCTIONS: [&str; 6] = ["min", "max", "abs", "log2", "ceil_div", "gcd"];

/// A text is interpreted, in a microsecond or so.
const PRICE_OF_TEXT: u64 = 20;

type Compute = dyn Fn(&[&Value]) -> Result<Value, String> + Send + Sync;

/// A function of some parameters, which it names.
#[derive(Clone)]
pub struct Formula {
    text: Arc<str>,
    depends: Arc<[String]>,
    compute: Arc<Compute>,
    /// Price of a question, in units of a closure's.
    price: u64,
}

impl Formula {
    /// A formula: its text for messages, the parameters that it depends on, and the closure, which
    /// gets their values in this order.
    pub fn new<'n, V: Into<Value>>(
        text: &str,
        depends: impl IntoIterator<Item = &'n str>,
        compute: impl Fn(&[&Value]) -> V + Send + Sync + 'static,
    ) -> Formula {
        Formula {
            text: text.into(),
            depends: depends.into_iter().map(str::to_string).collect(),
            compute: Arc::new(move |values| Ok(compute(values).into())),
            price: 1,
        }
    }

    /// Parses a text. `known` are the names that it may use.
    pub fn parse(text: &str, known: &[String]) -> Result<Formula, String> {
        let expression = ENVIRONMENT
            .compile_expression_owned(text.to_string())
            .map_err(|error| located(text, &error))?;
        let mut depends: Vec<String> = expression
            .undeclared_variables(false)
            .into_iter()
            .filter(|name| known.contains(name) || !FUNCTIONS.contains(&name.as_str()))
            .collect();
        // The order in which parameters stand in the space: the same in every run.
        depends.sort_by_key(|name| known.iter().position(|other| other == name));
        if let Some(name) = depends.iter().find(|name| !known.contains(name)) {
            return Err(unknown_name(text, name, known));
        }
        let names: Vec<String> = depends.clone();
        Ok(Formula {
            text: text.into(),
            depends: depends.into(),
            compute: Arc::new(move |values| evaluate(&expression, &names, values)),
            price: PRICE_OF_TEXT,
        })
    }

    /// Its text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The parameters that it depends on.
    pub fn depends(&self) -> &[String] {
        &self.depends
    }

    /// Price of a question, in units of a closure's.
    pub(crate) fn price(&self) -> u64 {
        self.price
    }

    /// Its value for those of `depends`.
    pub fn value(&self, values: &[&Value]) -> Result<Value, String> {
        (self.compute)(values).map_err(|why| {
            let given: Vec<String> = self
                .depends
                .iter()
                .zip(values)
                .map(|(name, value)| format!("{name} = {value}"))
                .collect();
            let given = match given.is_empty() {
                true => String::new(),
                false => format!(" for {}", given.join(", ")),
            };
            format!("`{}` has no value{given}: {why}", self.text)
        })
    }

    /// Tells whether it holds for those of `depends`.
    pub fn holds(&self, values: &[&Value]) -> Result<bool, String> {
        match self.value(values)? {
            Value::Boolean(holds) => Ok(holds),
            other => Err(format!(
                "`{}` is {other}, expected true or false: compare it with something",
                self.text
            )),
        }
    }
}

impl fmt::Debug for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` of {:?}", self.text, self.depends)
    }
}

static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let least = |values: minijinja::value::Rest<minijinja::Value>| values.iter().min().cloned();
    environment.add_function("min", least);
    let most = |values: minijinja::value::Rest<minijinja::Value>| values.iter().max().cloned();
    environment.add_function("max", most);
    environment.add_function("log2", |x: f64| x.log2());
    environment.add_function("abs", |x: minijinja::Value| {
        match i64::try_from(x.clone()) {
            Ok(integer) if x.is_integer() => Ok(minijinja::Value::from(integer.abs())),
            _ => f64::try_from(x).map(|float| minijinja::Value::from(float.abs())),
        }
    });
    environment.add_function("ceil_div", |a: i64, b: i64| match b {
        1.. => Ok(a.div_euclid(b) + i64::from(a.rem_euclid(b) != 0)),
        _ => Err(minijinja::Error::new(
            ErrorKind::InvalidOperation,
            format!("ceil_div by {b}, expected a positive number"),
        )),
    });
    environment.add_function("gcd", |a: i64, b: i64| {
        let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    });
    environment
});

fn evaluate(
    expression: &Expression<'static, 'static>,
    names: &[String],
    values: &[&Value],
) -> Result<Value, String> {
    let given = names.iter().map(String::as_str);
    let given = minijinja::Value::from_pairs(given.zip(values.iter().map(|v| to_template(v))));
    let found = expression.eval(given).map_err(|error| reason(&error))?;
    of_template(&found)
        .ok_or_else(|| format!("found {found}, expected a number of 64 bits, a text or a boolean"))
}

fn to_template(value: &Value) -> minijinja::Value {
    match value {
        Value::Integer(integer) => (*integer).into(),
        Value::Float(float) => (*float).into(),
        Value::Text(text) => text.clone().into(),
        Value::Boolean(boolean) => (*boolean).into(),
    }
}

fn of_template(value: &minijinja::Value) -> Option<Value> {
    use minijinja::value::ValueKind;
    match value.kind() {
        ValueKind::Bool => Some(Value::Boolean(value.is_true())),
        ValueKind::Number if value.is_integer() => {
            i64::try_from(value.clone()).ok().map(Value::Integer)
        }
        ValueKind::Number => f64::try_from(value.clone()).ok().map(Value::Float),
        ValueKind::String => value.as_str().map(Value::from),
        _ => None,
    }
}

/// The reason that an error of the expression's evaluation or syntax gives, without its place.
fn reason(error: &minijinja::Error) -> String {
    match error.detail() {
        Some(detail) => detail.to_string(),
        None => error.kind().to_string(),
    }
}

/// The text of a syntax error, with its column and advice for what other languages write.
fn located(text: &str, error: &minijinja::Error) -> String {
    let column = error.range().map_or(0, |range| range.start);
    let before = text.get(..column).unwrap_or(text).chars().count();
    let mut message = format!(
        "{} at column {}:\n  {text}\n  {}^",
        reason(error),
        before + 1,
        " ".repeat(before)
    );
    let foreign = [
        ("&&", "and"),
        ("||", "or"),
        ("!", "not"),
        ("?", "'x if condition else y'"),
    ];
    let without = text.replace("!=", "");
    if let Some((found, expected)) = foreign.iter().find(|(found, _)| without.contains(found)) {
        message += &format!("\n  write {expected} for {found}");
    }
    message
}

/// The text of an error about a name that there is not.
fn unknown_name(text: &str, name: &str, known: &[String]) -> String {
    let column = word_start(text, name).map_or(0, |at| text[..at].chars().count());
    let names: Vec<&str> = known.iter().map(String::as_str).collect();
    let help = did_you_mean(name, names.iter().copied().chain(FUNCTIONS)).unwrap_or_else(|| {
        match names.is_empty() {
            true => "there is no parameter before this one".to_string(),
            false => format!("known here: {}", names.join(", ")),
        }
    });
    format!(
        "there is no parameter '{name}' at column {}:\n  {text}\n  {}^\n  {help}",
        column + 1,
        " ".repeat(column)
    )
}

/// The place of a whole word in a text.
fn word_start(text: &str, word: &str) -> Option<usize> {
    let is_letter = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(word).map(|(at, _)| at).find(|at| {
        !is_letter(text[..*at].chars().next_back())
            && !is_letter(text[at + word.len()..].chars().next())
    })
}

/// The names that occur twice.
pub(crate) fn repeated<'n>(names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let mut seen = HashSet::new();
    names.into_iter().find(|name| !seen.insert(*name))
}
