//! Spaces in JSON:
//!
//! ```json
//! {"parameters": [
//!    {"name": "tile", "interval": [1, 1024], "constraint": "1024 % tile == 0"},
//!    {"name": "unroll", "interval": [0, 4], "generator": "2 ** i", "constraint": "tile % unroll == 0"},
//!    {"name": "area", "derived": "tile * unroll"},
//!    {"name": "flags", "set": ["-O2", "-O3"]}],
//!  "constraints": ["area <= 4096"],
//!  "filter": "not (flags == '-O3' and tile == 1)",
//!  "fix": {"unroll": 4},
//!  "start": {"tile": 64, "flags": "-O2"}}
//! ```
//!
//! A `step` may stand beside an interval, `constraints` in place of `constraint`; the generator's
//! number is `i`. A constraint at the top belongs to the last parameter that it names.

use serde_json::{Map, Value as Json, json};

use super::formula::Formula;
use super::parameter::{Parameter, ParameterRange};
use super::value::{Configuration, Value};
use super::{Builder, Space};
use crate::error::{Error, Result, did_you_mean};

/// Reads a space in JSON. What is wrong is said with its place.
pub fn read(text: &str) -> Result<Builder> {
    let json: Json = serde_json::from_str(text).map_err(|error| {
        Error::input(format!("the space is no JSON: {error}"))
            .help("expected {\"parameters\": [{\"name\": .., \"interval\": [1, 8]}, ..]}")
    })?;
    let known = [
        "parameters",
        "constraints",
        "filter",
        "filters",
        "fix",
        "start",
    ];
    let object = fields(&json, "the space", &known)?;
    let listed = match object.get("parameters") {
        Some(Json::Array(listed)) => listed,
        found => return Err(expected("parameters", found, "a list of parameters")),
    };
    let mut names: Vec<String> = Vec::new();
    let mut parameters: Vec<Parameter> = Vec::new();
    for (number, json) in listed.iter().enumerate() {
        parameters.push(parameter(
            json,
            &format!("parameters[{number}]"),
            &mut names,
        )?);
    }
    top_constraints(object, &names, &mut parameters)?;
    let mut builder = Space::builder();
    for parameter in parameters {
        builder = builder.parameter(parameter);
    }
    for (key, at) in [("filter", "filter"), ("filters", "filters")] {
        for text in texts(object, key, "")? {
            builder = builder.filter(formula(&text, &names, at)?);
        }
    }
    if let Some(fixed) = object.get("fix") {
        let fixed = configuration(fixed, "fix")?;
        for (name, value) in fixed.pairs() {
            builder = builder.fix(name, value.clone());
        }
    }
    if let Some(start) = object.get("start") {
        builder = builder.start(configuration(start, "start")?);
    }
    Ok(builder)
}

impl Space {
    /// Its parts: parameters with the values that they may have and their constraints, and filters. That of two texts which differ in their white space only is the same, and
    /// where a search starts does not matter.
    pub fn to_json(&self) -> Json {
        let texts = |formulas: &[Formula]| -> Json {
            let texts = formulas.iter().map(|formula| formula.text().into());
            Json::Array(texts.collect())
        };
        let parameter = |parameter: &Parameter| {
            let values = match &parameter.range {
                ParameterRange::Listed { values, .. } => {
                    values.iter().map(Value::to_json).collect()
                }
                ParameterRange::Derived(formula) => Json::from(formula.text()),
            };
            json!([parameter.name, values, texts(&parameter.constraints)])
        };
        let parameters: Vec<Json> = self.parameters.iter().map(parameter).collect();
        let filters = self.filters.iter().map(|filter| filter.formula.text());
        json!([parameters, filters.collect::<Vec<_>>()])
    }
}

/// Gives each constraint at the top to the last parameter that it names.
fn top_constraints(
    object: &Map<String, Json>,
    names: &[String],
    parameters: &mut [Parameter],
) -> Result<()> {
    for (number, text) in texts(object, "constraints", "")?.into_iter().enumerate() {
        let formula = formula(&text, names, &format!("constraints[{number}]"))?;
        let place = |name: &String| names.iter().position(|known| known == name);
        let last = formula
            .depends()
            .iter()
            .filter_map(place)
            .max()
            .ok_or_else(|| {
                Error::input(format!(
                    "constraints[{number}]: `{text}` names no parameter"
                ))
            })?;
        parameters[last].constraints.push(formula);
    }
    Ok(())
}

fn parameter(json: &Json, at: &str, names: &mut Vec<String>) -> Result<Parameter> {
    let known = [
        "name",
        "interval",
        "step",
        "generator",
        "set",
        "derived",
        "constraint",
        "constraints",
    ];
    let object = fields(json, at, &known)?;
    let name = match object.get("name") {
        Some(Json::String(name)) if is_name(name) => name.clone(),
        found => {
            let wanted = "a name of letters, digits and _, which opens with no digit";
            return Err(expected(&format!("{at}.name"), found, wanted));
        }
    };
    let at = format!("{at} ('{name}')");
    let kinds = ["interval", "set", "derived"];
    let given: Vec<&str> = kinds
        .into_iter()
        .filter(|kind| object.contains_key(*kind))
        .collect();
    let [kind] = given.as_slice() else {
        let found = match given.is_empty() {
            true => "none of them".to_string(),
            false => given.join(" and "),
        };
        let message = format!("{at}: found {found}, expected one of interval, set and derived");
        return Err(Error::input(message));
    };
    if let Some(stray) = ["step", "generator"]
        .into_iter()
        .find(|key| *kind != "interval" && object.contains_key(*key))
    {
        let message = format!("{at}: found {stray} beside {kind}, expected it beside interval");
        return Err(Error::input(message));
    }
    let mut parameter = match *kind {
        "interval" => interval(object, &name, &at)?,
        "set" => Parameter::set(&name, values(&object["set"], &format!("{at}.set"))?)
            .map_err(|error| placed(&at, error))?,
        _ => {
            let [text] = &texts(object, "derived", &at)?[..] else {
                return Err(expected(&format!("{at}.derived"), None, "one expression"));
            };
            Parameter::derived(&name, formula(text, names, &format!("{at}.derived"))?)
        }
    };
    names.push(name);
    for key in ["constraint", "constraints"] {
        for text in texts(object, key, &at)? {
            let formula = formula(&text, names, &format!("{at}.{key}"))?;
            parameter = parameter.constraint(formula);
        }
    }
    Ok(parameter)
}

fn interval(object: &Map<String, Json>, name: &str, at: &str) -> Result<Parameter> {
    let [first, last] = &values(&object["interval"], &format!("{at}.interval"))?[..] else {
        let found = object.get("interval");
        return Err(expected(&format!("{at}.interval"), found, "[first, last]"));
    };
    let step = match object.get("step") {
        None => Value::Integer(1),
        Some(step) => Value::of_json(step)
            .ok_or_else(|| expected(&format!("{at}.step"), Some(step), "a number"))?,
    };
    let made = match object.get("generator") {
        None => Parameter::interval(name, first.clone(), last.clone(), step),
        Some(Json::String(text)) => {
            let generator = formula(text, &["i".to_string()], &format!("{at}.generator"))?;
            Parameter::generated(name, (first.clone(), last.clone(), step), &generator)
        }
        found => {
            return Err(expected(
                &format!("{at}.generator"),
                found,
                "an expression of i",
            ));
        }
    };
    made.map_err(|error| placed(at, error))
}

fn placed(at: &str, error: Error) -> Error {
    // The parameter's name stands in the message.
    error.at(at.split(" (").next().unwrap_or(at))
}

fn formula(text: &str, names: &[String], at: &str) -> Result<Formula> {
    Formula::parse(text, names).map_err(|why| Error::input(format!("{at}: {why}")))
}

fn is_name(name: &str) -> bool {
    let mut letters = name.chars();
    letters
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && letters.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn fields<'j>(json: &'j Json, at: &str, known: &[&str]) -> Result<&'j Map<String, Json>> {
    let object = json.as_object().ok_or_else(|| {
        expected(
            at,
            Some(json),
            &format!("an object with {}", known.join(", ")),
        )
    })?;
    match object.keys().find(|key| !known.contains(&key.as_str())) {
        None => Ok(object),
        Some(key) => {
            let error = Error::input(format!(
                "{at}: found '{key}', expected {}",
                known.join(", ")
            ));
            let help = did_you_mean(key, known.iter().copied());
            Err(help.into_iter().fold(error, Error::help))
        }
    }
}

/// A text, or a list of them, or nothing.
fn texts(object: &Map<String, Json>, key: &str, at: &str) -> Result<Vec<String>> {
    let dot = if at.is_empty() { "" } else { "." };
    let wrong = |json: &Json| expected(&format!("{at}{dot}{key}"), Some(json), "an expression");
    match object.get(key) {
        None => Ok(Vec::new()),
        Some(Json::String(text)) => Ok(vec![text.clone()]),
        Some(Json::Array(listed)) => listed
            .iter()
            .map(|json| json.as_str().map(str::to_string).ok_or_else(|| wrong(json)))
            .collect(),
        Some(other) => Err(wrong(other)),
    }
}

fn values(json: &Json, at: &str) -> Result<Vec<Value>> {
    let wanted = "a list of numbers, texts or booleans";
    let listed = json
        .as_array()
        .ok_or_else(|| expected(at, Some(json), wanted))?;
    listed
        .iter()
        .map(|json| Value::of_json(json).ok_or_else(|| expected(at, Some(json), wanted)))
        .collect()
}

fn configuration(json: &Json, at: &str) -> Result<Configuration> {
    Configuration::of_json(json).map_err(|why| Error::input(format!("{at}: {why}")))
}

fn expected(at: &str, found: Option<&Json>, wanted: &str) -> Error {
    let found = found.map_or("nothing".to_string(), Json::to_string);
    Error::input(format!("{at}: found {found}, expected {wanted}"))
}
