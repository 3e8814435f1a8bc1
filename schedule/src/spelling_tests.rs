//! Spellings: located errors, and the committed JSON Schema.

use std::collections::BTreeMap;

use serde_json::Value;

use super::named_tests::block;
use super::*;

fn error(text: &str) -> String {
    text.parse::<Schedule>().unwrap_err().to_string()
}

#[test]
fn errors_are_located() {
    assert_eq!(
        error("layers = [],\n  ordr = []"),
        "2:3: unknown field `ordr`, expected one of `asm`, `layers`, `decompose`, `scalar`, \
         `recompose`, `tile_order`, `inputs`, `outputs`, `tails`, `compute_at`, `deterministic`"
    );
    assert_eq!(
        error("layers = [block {i: x}]"),
        "1:21: invalid value: string \"x\", expected a number of parts or '*'"
    );
    assert_eq!(
        error("decompose = {order: [blocki]}"),
        "1:22: invalid value: string \"blocki\", expected a level, 'layer.dimension'"
    );
    assert_eq!(
        error("#mdh.schedule<\n  layers = [block {i 2}]>"),
        "2:22: found '2', expected ':'"
    );
    assert_eq!(
        error("layers = [block {i: 2}"),
        "1:23: found the end, expected ']'"
    );
    assert_eq!(
        error("asm = cpu>, x"),
        "1:11: found ',', expected ',' or the end"
    );
    assert_eq!(error("inputs = {A: {}, A: {}}"), "1:18: found \"A\" twice");
    assert_eq!(
        error("tails = {i: mak}"),
        "1:13: unknown variant `mak`, expected `peel` or `mask`"
    );
    assert_eq!(
        error("deterministic = maybe"),
        "1:17: invalid type: string \"maybe\", expected a boolean"
    );
    assert_eq!(
        error("layers = [block {i: 99999999999999999999}]"),
        "1:21: found '99999999999999999999', expected an integer"
    );
    let deep = "[".repeat(100);
    assert_eq!(
        error(&format!("layers = {deep}")),
        "1:42: found more than 32 nested values"
    );
    let json = Schedule::from_json("{\n  \"layer\": []\n}").unwrap_err();
    assert_eq!((json.line, json.column), (2, 3));
    assert!(
        json.message
            .starts_with("unknown field `layer`, expected one of `asm`, `layers`")
    );
    let twice = r#"{"tails": {"i": "mask", "i": "peel"}}"#;
    assert!(
        Schedule::from_json(twice)
            .unwrap_err()
            .message
            .contains("found \"i\" twice")
    );
}

#[test]
fn odd_names_are_quoted() {
    let mut schedule = Schedule::default();
    assert_eq!(schedule.to_string(), "#mdh.schedule<>");
    for name in [
        "a b",
        "\"",
        "3",
        "",
        "ä",
        "true",
        "*",
        "x.y",
        "// no comment",
    ] {
        schedule.inputs.insert(name.into(), Input::default());
        let mut parts = BTreeMap::new();
        parts.insert(name.to_string(), Parts::Derived);
        schedule.layers.push(Layer {
            name: format!("l{name}"),
            parts,
        });
    }
    let text = schedule.to_string();
    assert_eq!(text.parse().as_ref(), Ok(&schedule), "{text}");
    // The notations escape control characters differently.
    let message = r#"found "a\n", expected a name without control characters"#;
    let text = r#"asm = "a\n""#.parse::<Schedule>().unwrap_err();
    assert_eq!((text.column, text.message.as_str()), (7, message));
    let json = Schedule::from_json(r#" {"asm": "a\n"}"#).unwrap_err();
    assert_eq!((json.column, json.message.as_str()), (10, message));
    // Comments and trailing commas are read.
    assert_eq!(
        "// parts\nasm = cpu, // here\n"
            .parse::<Schedule>()
            .unwrap()
            .asm,
        Some("cpu".into())
    );
}

/// Checks: what is read and printed again stays as it is.
#[test]
fn printing_is_stable() {
    for n in 0..3 {
        let schedule: Schedule = block("mlir", n).parse().unwrap();
        assert_eq!(format!("{schedule}\n"), block("mlir", n));
    }
}

/// Returns whether a value fits a schema: as much of JSON Schema as ours uses.
fn fits(value: &Value, schema: &Value, root: &Value) -> bool {
    if let Some(name) = schema["$ref"].as_str() {
        let target = name.strip_prefix('#').and_then(|path| root.pointer(path));
        return fits(
            value,
            target.expect("the schema's references lead somewhere"),
            root,
        );
    }
    if let Some(options) = schema["oneOf"].as_array() {
        return options.iter().filter(|o| fits(value, o, root)).count() == 1;
    }
    if let Some(options) = schema["enum"].as_array() {
        return options.contains(value);
    }
    let count = |n: usize, what: &str, default: u64| {
        schema[what].as_u64().unwrap_or(default).cmp(&(n as u64))
    };
    match (schema["type"].as_str(), value) {
        (Some("object"), Value::Object(entries)) => {
            let required = schema["required"].as_array();
            let has = |name: &Value| entries.contains_key(name.as_str().unwrap_or(""));
            let fits_schema = |(name, value): (&String, &Value)| match schema["properties"]
                .get(name)
            {
                Some(property) => fits(value, property, root),
                None if schema["additionalProperties"] == Value::Bool(false) => false,
                None => {
                    let names = &schema["propertyNames"];
                    let level = names.is_null() || fits(&Value::from(name.as_str()), names, root);
                    level && fits(value, &schema["additionalProperties"], root)
                }
            };
            count(entries.len(), "minProperties", 0).is_le()
                && count(entries.len(), "maxProperties", 99).is_ge()
                && required.is_none_or(|names| names.iter().all(has))
                && entries.iter().all(fits_schema)
        }
        (Some("array"), Value::Array(items)) => {
            items.iter().all(|item| fits(item, &schema["items"], root))
        }
        (Some("integer"), Value::Number(number)) => {
            let least = schema["minimum"].as_i64().unwrap_or(i64::MIN);
            number.as_i64().is_some_and(|n| n >= least)
        }
        (Some("string"), Value::String(text)) => match schema["pattern"].as_str() {
            // The only pattern is a level's.
            Some(_) => text
                .split_once('.')
                .is_some_and(|(l, d)| !l.is_empty() && !d.is_empty()),
            None => true,
        },
        (Some("boolean"), Value::Bool(_)) => true,
        _ => false,
    }
}

#[test]
fn the_schema_accepts_what_is_read_and_refuses_what_is_not() {
    let schema: Value =
        serde_json::from_str(include_str!("../../docs/schedule.schema.json")).unwrap();
    let accepted = |json: &str| fits(&serde_json::from_str(json).unwrap(), &schema, &schema);
    assert!(accepted(&block("json", 0)));
    for seed in 0..200 {
        let mut random = mdh_algebra::random::Random::new(seed);
        let c = mdh_algebra::examples::matvec(mdh_algebra::scalar::ScalarType::F32, 5, 6);
        let asm = crate::asm::Asm::cuda(&Default::default());
        let json = super::random_schedule::random_schedule(&mut random, &c, &asm).to_json();
        assert!(accepted(&json), "{json}");
    }
    // A file may hold the schedules of several computations.
    let several = format!(
        r#"{{"computations": {{"C": {}, "1": {{}}}}}}"#,
        block("json", 0)
    );
    assert!(accepted(&several), "{several}");
    assert_eq!(
        Schedules::from_json(&several).unwrap().computations.len(),
        2
    );
    for wrong in [
        r#"{"computations": {"C": {"layer": []}}}"#,
        r#"{"computations": {}, "asm": "cpu"}"#,
        r#"{"computations": []}"#,
    ] {
        assert!(!accepted(wrong), "{wrong}");
        assert!(Schedules::from_json(wrong).is_err(), "{wrong}");
    }
    for wrong in [
        r#"{"layer": []}"#,
        r#"{"layers": [{"block": {"i": 2}, "thread": {}}]}"#,
        r#"{"layers": [{"block": {"i": "2"}}]}"#,
        r#"{"decompose": {"order": ["i"]}}"#,
        r#"{"inputs": {"A": {"combine": {}}}}"#,
        r#"{"inputs": {"A": {"layout": {"block.i": "col_major"}}}}"#,
        r#"{"inputs": {"A": {"layout": {"block.i": {"permuted": [1], "blocked": [2]}}}}}"#,
        r#"{"tails": {"i": "pad"}}"#,
        r#"{"compute_at": {"consumer": "c"}}"#,
        r#"{"deterministic": "yes"}"#,
    ] {
        assert!(!accepted(wrong), "{wrong}");
        assert!(Schedule::from_json(wrong).is_err(), "{wrong}");
    }
    // Every field that is read is described.
    let unknown = Schedule::from_json(r#"{"?": 0}"#).unwrap_err().message;
    let described = &schema["$defs"]["schedule"]["properties"];
    for field in unknown.split('`').skip(3).step_by(2) {
        assert!(described.get(field).is_some(), "{field}");
    }
}

/// A list of steps may have one, or none.
#[test]
fn a_list_of_one_step_is_that_step() {
    let with = |layout: &str| {
        Schedule::from_json(&format!(
            r#"{{"inputs": {{"A": {{"scalar_layout": {layout}, "layout": {{"L1.i": {layout}}}}}}}}}"#
        ))
    };
    let single = with(r#"{"padded": [0, 1]}"#).unwrap();
    assert_eq!(with(r#"[{"padded": [0, 1]}]"#), Ok(single));
    assert_eq!(with("[]"), with(r#""row_major""#));
    let message = with(r#"[[{"padded": [0, 1]}]]"#).unwrap_err().message;
    assert!(message.starts_with("found no layout"), "{message}");
}

/// Checks: what the JSON Schema refuses, and serde would take.
#[test]
fn json_is_taken_as_it_is_described() {
    let error = |text: &str| {
        let error = Schedule::from_json(text).unwrap_err();
        (error.column, error.message)
    };
    let none = "found null, expected a value, or no entry of that name";
    assert_eq!(error(r#"{"asm": null}"#), (9, none.into()));
    let list = "found a list, expected an object: {..}";
    let levels = r#"{"decompose": [["core.i"], {}]}"#;
    assert_eq!(error(levels), (15, list.into()));
    assert_eq!(error(r#"{"compute_at": ["y", "L2.i"]}"#), (16, list.into()));
    let truth = r#"invalid type: string "true", expected a boolean"#;
    assert_eq!(error(r#"{"deterministic": "true"}"#), (19, truth.into()));
    assert_eq!(error(r#"{"asm": true}"#).0, 9);
    for (text, kind) in [
        ("null", "null"),
        (r#" "cpu""#, "a string"),
        ("[]", "a list"),
        ("3", "a number"),
        ("false", "a truth value"),
    ] {
        assert!(is_json(text), "{text}");
        let expected = format!("found {kind}, expected an object: {{..}}");
        assert_eq!(error(text).1, expected);
    }
    assert!(!is_json("asm = cpu") && !is_json("") && !is_json("#mdh.schedule<>"));
    assert!(Schedule::from_json(r#"{"compute_at": {"consumer": "y", "level": "L2.i"}}"#).is_ok());
}

#[test]
fn what_is_opened_is_closed() {
    let message = |text: &str| text.parse::<Schedule>().unwrap_err().message;
    assert_eq!(
        message("#mdh.schedule<asm = cpu"),
        "found the end, expected '>'"
    );
    assert!("asm = cpu".parse::<Schedule>().is_ok());
    assert!("asm = cpu>".parse::<Schedule>().is_ok());
}

/// A place is the same in both notations.
#[test]
fn places_are_found() {
    let json = "{\n  \"layers\": [{\"core\": {\"i\": 2}}, {\"main\": {\"i\": 0}}],\n  \"decompose\": {\"order\": \
                [\"core.i\", \"q.i\"]},\n  \"tails\": {\"k\": \"mask\"}\n}";
    let text = "#mdh.schedule<\n  layers = [core {i: 2}, main {i: 0}],\n  decompose = {order: \
                [core.i, q.i]},\n  tails = {k: mask}>";
    let path = |name: &str| SchedulePath::root().entry(name);
    for (place, in_json, in_text) in [
        (SchedulePath::layer("core").name(), (2, 15), (2, 13)),
        (SchedulePath::layer("main").entry("i"), (2, 49), (2, 35)),
        (
            SchedulePath::layer("main").entry("i").name(),
            (2, 44),
            (2, 32),
        ),
        (path("decompose").entry("order").item(1), (3, 37), (3, 32)),
        (path("tails").entry("k"), (4, 18), (4, 15)),
        (path("tails").entry("k").name(), (4, 13), (4, 12)),
        // As far as it is there.
        (path("tails").entry("j"), (4, 12), (4, 11)),
        (path("outputs").entry("y"), (1, 1), (1, 15)),
    ] {
        assert_eq!(locate(json, &place), Some(in_json), "{place:?}");
        assert_eq!(locate(text, &place), Some(in_text), "{place:?}");
    }
    assert_eq!(locate("{", &SchedulePath::root()), None);
}
