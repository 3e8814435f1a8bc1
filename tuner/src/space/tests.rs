//! Tests of spaces: against enumeration, on small random ones.

use std::collections::{HashMap, HashSet};

use proptest::prelude::*;
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

use super::*;

impl Space {
    /// Returns whether a point is one of its own.
    pub(crate) fn contains(&self, point: &Point) -> bool {
        self.split(point).is_some()
    }

    /// The number of nodes that its trees take.
    pub(crate) fn nodes(&self) -> usize {
        self.trees.iter().map(|tree| tree.nodes.len()).sum()
    }

    /// The share that the filters reject of configurations drawn at random.
    pub(crate) fn rejection_share(&self, samples: usize, random: &mut impl Rng) -> f64 {
        let drawn = (0..samples).map(|_| self.configuration(&self.sample(random)));
        let rejected = drawn.filter(|own| !self.admits(own).unwrap());
        rejected.count() as f64 / samples as f64
    }
}

/// A random space: parameters of integers, each with at most one constraint over earlier ones.
#[derive(Clone, Debug)]
struct Small {
    extents: Vec<i64>,
    /// (which earlier parameter, kind of constraint, a number), for each parameter.
    constraints: Vec<Option<(usize, u8, i64)>>,
}

fn small() -> impl Strategy<Value = Small> {
    let constraint = proptest::option::of((0usize..4, 0u8..4, 1i64..5));
    proptest::collection::vec((1i64..6, constraint), 1..5).prop_map(|parts| {
        let (extents, constraints) = parts.into_iter().unzip();
        Small {
            extents,
            constraints,
        }
    })
}

fn holds(kind: u8, here: i64, other: i64, number: i64) -> bool {
    match kind {
        0 => here % other == 0,
        1 => here * other <= 2 * number,
        2 => (here + other) % 2 == number % 2,
        _ => here <= other,
    }
}

impl Small {
    fn builder(&self) -> Builder {
        let mut builder = Space::builder();
        for (position, extent) in self.extents.iter().enumerate() {
            let name = format!("p{position}");
            let mut parameter = Parameter::interval(&name, 1, *extent, 1).unwrap();
            if let Some((other, kind, number)) = self.constraint(position) {
                let depends = [name.clone(), format!("p{other}")];
                let names = depends.iter().map(String::as_str);
                parameter = parameter.constraint(Formula::new("test", names, move |values| {
                    let value = |n: usize| values[n].integer().unwrap();
                    holds(kind, value(0), value(1), number)
                }));
            }
            builder = builder.parameter(parameter);
        }
        builder
    }

    fn constraint(&self, position: usize) -> Option<(usize, u8, i64)> {
        let (other, kind, number) = self.constraints[position]?;
        (position > 0).then(|| (other % position, kind, number))
    }

    /// All valid configurations, by trying all.
    fn enumerated(&self) -> Vec<Vec<i64>> {
        let mut found = vec![Vec::new()];
        for (position, extent) in self.extents.iter().enumerate() {
            found = found
                .iter()
                .flat_map(|before: &Vec<i64>| {
                    (1..=*extent).map(|value| [before.as_slice(), &[value]].concat())
                })
                .filter(|values| match self.constraint(position) {
                    Some((other, kind, number)) => {
                        holds(kind, values[position], values[other], number)
                    }
                    None => true,
                })
                .collect();
        }
        found
    }
}

fn integers(space: &Space, point: &Point) -> Vec<i64> {
    let configuration = space.configuration(point);
    configuration
        .values()
        .iter()
        .map(|v| v.integer().unwrap())
        .collect()
}

proptest! {
    #[test]
    fn counts_and_numbers_are_those_of_an_enumeration(small in small()) {
        let expected = small.enumerated();
        let Ok(space) = small.builder().build() else {
            prop_assert!(expected.is_empty());
            return Ok(());
        };
        prop_assert_eq!(space.size(), expected.len() as f64);
        let mut point = Some(space.first());
        let mut seen = HashSet::new();
        for _ in 0..expected.len() {
            let here = point.expect("there are as many points as configurations");
            prop_assert_eq!(&space.join(&space.split(&here).unwrap()), &here);
            prop_assert_eq!(&space.find(&space.configuration(&here)).unwrap(), &here);
            prop_assert_eq!(&space.at(&space.coordinates(&here)), &here);
            seen.insert(integers(&space, &here));
            point = space.next(&here);
        }
        prop_assert_eq!(point, None);
        prop_assert_eq!(seen, expected.into_iter().collect());
    }

    #[test]
    fn moves_stay_in_the_space(small in small(), seed: u64, wanted in proptest::collection::vec(-0.5f64..1.5, 5)) {
        let Ok(space) = small.builder().build() else { return Ok(()) };
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let point = space.sample(&mut random);
        let neighbours = space.neighbours(&point);
        prop_assert_eq!(neighbours.iter().collect::<HashSet<_>>().len(), neighbours.len());
        for other in &neighbours {
            prop_assert!(space.contains(other));
            prop_assert_ne!(other, &point);
        }
        if let Some(other) = space.neighbour(&point, &mut random) {
            prop_assert!(space.contains(&other));
            prop_assert_ne!(&other, &point);
        } else {
            prop_assert!(neighbours.is_empty());
        }
        prop_assert!(space.contains(&space.at(&wanted)));
        for (parameter, other) in space.movable().into_iter().zip(&neighbours) {
            let rank = space.rank(other, parameter) as f64;
            let moved = space.moved(&point, parameter, rank);
            prop_assert!(moved.is_none_or(|moved| space.contains(&moved)));
        }
    }
}

fn powers(extent: i64) -> Vec<Value> {
    (0..extent).map(|n| Value::Integer(1 << n)).collect()
}

#[test]
fn sampling_is_uniform() {
    // p1 divides p0: 3 + 2 + 1 .. pairs, so that drawing level by level would not be uniform.
    let small = Small {
        extents: vec![4, 4],
        constraints: vec![None, Some((0, 3, 1))],
    };
    let space = small.builder().build().unwrap();
    let mut random = Pcg64Mcg::seed_from_u64(1);
    let (draws, mut times) = (20_000, HashMap::new());
    for _ in 0..draws {
        *times.entry(space.sample(&mut random)).or_insert(0u32) += 1;
    }
    let expected = f64::from(draws) / 10.0;
    assert_eq!(times.len(), 10);
    let squares: f64 = times
        .values()
        .map(|n| (f64::from(*n) - expected).powi(2))
        .sum();
    // Chi squared with 9 degrees of freedom: above 27.9 in one case of a thousand.
    assert!(squares / expected < 27.9, "{times:?}");
}

#[test]
fn many_configurations_take_few_nodes() {
    // Seven dimensions in parts of two levels, which divide their extent; the footprint of all of
    // them is bounded.
    let mut builder = Space::builder();
    let mut before = "1".to_string();
    for dimension in 0..7 {
        let [outer, inner, size] =
            ["outer", "inner", "size"].map(|name| format!("{name}{dimension}"));
        let names = [outer.clone(), inner.clone()];
        let set = |name: &str| Parameter::set(name, powers(14)).unwrap();
        let divides = format!("8192 % ({outer} * {inner}) == 0");
        builder = builder
            .parameter(set(&outer))
            .parameter(set(&inner).constraint(Formula::parse(&divides, &names).unwrap()));
        let known = [inner.clone(), before.clone(), size.clone()];
        let product = match dimension {
            0 => inner.clone(),
            _ => format!("{before} * {inner}"),
        };
        let bound = Formula::parse(&format!("{size} <= 2 ** 24"), &known).unwrap();
        let derived = Parameter::derived(&size, Formula::parse(&product, &known).unwrap());
        builder = builder.parameter(derived.constraint(bound));
        before = size;
    }
    let space = builder.build().unwrap();
    assert!(space.size() > 1e12, "{}", space.size());
    assert!(space.nodes() < 6000, "{}", space.nodes());
    let mut random = Pcg64Mcg::seed_from_u64(3);
    for _ in 0..100 {
        let point = space.sample(&mut random);
        assert!(space.contains(&point));
        for other in space.neighbours(&point) {
            assert!(space.find(&space.configuration(&other)).is_ok());
        }
    }
}

#[test]
fn chains_may_be_longer_than_any_integer() {
    let mut builder = Space::builder();
    for flag in 0..300 {
        let parameter = Parameter::set(&format!("f{flag}"), [false, true]).unwrap();
        builder = builder.parameter(parameter);
    }
    let space = builder.build().unwrap();
    assert_eq!(space.size(), 2f64.powi(300));
    assert_eq!((space.trees.len(), space.nodes()), (300, 300));
    let point = space.sample(&mut Pcg64Mcg::seed_from_u64(1));
    assert!(space.contains(&point));
}

const SPACE: &str = r#"{"parameters": [
    {"name": "tile", "interval": [1, 1024], "constraint": "1024 % tile == 0"},
    {"name": "unroll", "interval": [0, 4], "generator": "2 ** i", "constraint": "tile % unroll == 0"},
    {"name": "area", "derived": "tile * unroll"},
    {"name": "flags", "set": ["-O2", "-O3"]}],
  "constraints": ["area <= 4096"],
  "filter": "not (flags == '-O3' and tile == 1)",
  "start": {"tile": 64, "unroll": 4, "flags": "-O2"}}"#;

#[test]
fn json_is_read() {
    let space = read(SPACE).unwrap().build().unwrap();
    // 11 divisors; for each the powers up to 16 that divide it, while tile * unroll <= 4096.
    assert_eq!(space.size(), f64::from(2 * (1 + 2 + 3 + 4 + 5 * 5 + 4 + 3)));
    assert_eq!((space.trees.len(), space.dimensions()), (2, 3));
    let start = space.configuration(space.start().unwrap());
    assert_eq!(start.to_string(), "tile=64 unroll=4 area=256 flags=-O2");
    let mut random = Pcg64Mcg::seed_from_u64(2);
    let share = space.rejection_share(4000, &mut random);
    assert!((share - 1.0 / 84.0).abs() < 0.01, "{share}");
    assert_eq!(space.rejections().unwrap().share(), share);
    let fixed = read(SPACE).unwrap().fix("tile", 8).build();
    assert!(
        fixed
            .unwrap_err()
            .message()
            .starts_with("the start configuration: parameter 'tile'")
    );
}

/// Checks: what follows from other parameters, or has one value, is not searched.
#[test]
fn what_is_derived_or_fixed_is_not_searched() {
    let space = read(SPACE).unwrap().build().unwrap();
    assert_eq!(space.searched(), ["tile", "unroll", "flags"]);
    let fixed = read(SPACE).unwrap().fix("unroll", 4).build().unwrap();
    assert_eq!(fixed.searched(), ["tile", "flags"]);
}

/// Checks: of several filters the one that rejects most is named; of two that reject as many, the first.
#[test]
fn the_filter_that_rejects_most_is_named() {
    let rejected = |filters: &str| {
        let parameter = r#"{"name": "n", "interval": [1, 30]}"#;
        let text = format!(r#"{{"parameters": [{parameter}], "filters": [{filters}]}}"#);
        let space = read(&text).unwrap().build().unwrap();
        let mut next = Some(space.first());
        while let Some(point) = next {
            space.admits(&space.configuration(&point)).unwrap();
            next = space.next(&point);
        }
        space.rejections()
    };
    let one = rejected(r#""n > 100""#).unwrap();
    assert!(one.are_all());
    let said = "the filter `n > 100` rejected 30 of 30 configurations";
    assert_eq!(one.to_string(), said);
    let several = rejected(r#""n > 5", "n < 5", "n == 6""#).unwrap();
    let said = "the filter `n < 5` rejected 25 of 30 configurations, and other filters 5";
    assert_eq!(several.to_string(), said);
    let some = rejected(r#""n <= 15", "n > 100""#).unwrap();
    assert_eq!(some.filter, "n <= 15");
    assert!(!rejected(r#""n > 15""#).unwrap().are_all());
    assert_eq!(rejected(""), None);
}

/// Checks: a space is told from others by what it consists of, not by how it is written.
#[test]
fn a_space_has_one_json() {
    let of = |text: &str| read(text).unwrap().build().unwrap().to_json();
    assert_eq!(of(SPACE), of(&SPACE.replace(", ", ",\n\t")));
    let start = SPACE.replace(r#""tile": 64, "#, r#""tile": 32, "#);
    assert_eq!(of(SPACE), of(&start));
    for (was, is) in [
        ("-O3\"]", "-Os\"]"),
        ("tile % unroll == 0", "tile >= unroll"),
        ("area <= 4096", "area <= 2048"),
        ("tile == 1)", "tile == 2)"),
        ("tile * unroll", "unroll * tile"),
    ] {
        let other = SPACE.replacen(was, is, 1);
        assert_ne!(other, SPACE);
        assert_ne!(of(SPACE), of(&other), "{was}");
    }
}

/// A space of `a`, from 1 to 8, and another parameter.
fn with(parameter: &str) -> String {
    format!(r#"{{"parameters": [{{"name": "a", "interval": [1, 8]}}, {parameter}]}}"#)
}

/// A space of `a` and of `b`, which is a number and has a constraint.
fn with_constraint(number: i64, constraint: &str) -> String {
    with(&format!(
        r#"{{"name": "b", "set": [{number}], "constraint": "{constraint}"}}"#
    ))
}

fn assert_refused(cases: &[(String, &str)]) {
    for (text, said) in cases {
        let built = read(text).and_then(Builder::build).map(|_| ());
        let error = built.unwrap_err().to_string();
        assert!(error.contains(said), "{text}\n{error}\nexpected: {said}");
    }
}

#[test]
fn what_is_wrong_with_json_is_said_with_its_place() {
    let interval = "parameters[1]: parameter 'b': found an interval from 8 to 1";
    let none = "parameters[1] ('b'): found none of them, expected one of interval";
    assert_refused(&[
        ("{".to_string(), "the space is no JSON: EOF"),
        (
            r#"{"parameter": []}"#.to_string(),
            "did you mean 'parameters'?",
        ),
        (with(r#"{"name": "b"}"#), none),
        (
            with(r#"{"name": "1b"}"#),
            r#"parameters[1].name: found "1b", expected a name"#,
        ),
        (with(r#"{"name": "b", "interval": [8, 1]}"#), interval),
        (
            with(r#"{"name": "b", "set": [1, []]}"#),
            "('b').set: found [], expected",
        ),
        (
            with(r#"{"name": "b", "set": [1], "step": 2}"#),
            "found step beside set",
        ),
        (
            with(r#"{"name": "a", "set": [1]}"#),
            "two parameters named 'a'",
        ),
    ]);
}

#[test]
fn what_is_wrong_with_constraints_is_said_with_its_place() {
    assert_refused(&[
        (
            with_constraint(1, "b % aa == 0"),
            "no parameter 'aa' at column 5",
        ),
        (
            with_constraint(1, "b % a == 0 && a > 1"),
            "write and for &&",
        ),
        (
            with_constraint(1, "(b % a"),
            "parameters[1] ('b').constraint: ",
        ),
        (with_constraint(1, "a % b"), "expected true or false"),
        (
            with_constraint(0, "a % b == 0"),
            "has no value for a = 1, b = 0",
        ),
    ]);
}

#[test]
fn what_empties_a_space_is_named() {
    let text = r#"{"parameters": [
        {"name": "tile", "interval": [1, 64], "constraint": "64 % tile == 0"},
        {"name": "threads", "interval": [1, 8], "constraints": ["tile % threads == 0", "threads % 7 == 0"]}]}"#;
    let error = read(text).unwrap().build().unwrap_err().to_string();
    assert!(
        error.contains("the space is empty: no value of 'threads' satisfies `threads % 7 == 0`"),
        "{error}"
    );
    let text =
        r#"{"parameters": [{"name": "a", "interval": [1, 9], "constraints": ["a > 9", "a < 0"]}]}"#;
    let error = read(text).unwrap().build().unwrap_err().to_string();
    assert!(
        error.contains("'a' satisfies `a > 9` and `a < 0`"),
        "{error}"
    );
    let error = Space::builder().build().unwrap_err().to_string();
    assert!(error.contains("expected at least one"), "{error}");
}

#[test]
fn configurations_that_are_none_are_explained() {
    let space = read(SPACE).unwrap().build().unwrap();
    let cases = [
        (r#"{"tile": 64}"#, "parameter 'unroll': found no value"),
        (
            r#"{"tile": 3, "unroll": 1, "flags": "-O2"}"#,
            "found tile = 3, which does not satisfy `1024 % tile == 0`",
        ),
        (
            r#"{"tile": 2000, "unroll": 1, "flags": "-O2"}"#,
            "found 2000, expected one of 1, 2, 3",
        ),
        (
            r#"{"tile": 1024, "unroll": 8, "flags": "-O2"}"#,
            "found area = 8192, which does not satisfy `area <= 4096`",
        ),
        (
            r#"{"tile": 64, "unroll": 1, "flags": "-O2", "area": 1}"#,
            "found 1, expected 64, which is `tile * unroll`",
        ),
        (
            r#"{"tile": 64, "unroll": 1, "flag": "-O2"}"#,
            "did you mean 'flags'?",
        ),
    ];
    for (json, said) in cases {
        let configuration = Configuration::of_json(&serde_json::from_str(json).unwrap()).unwrap();
        let error = space.find(&configuration).unwrap_err().to_string();
        assert!(error.contains(said), "{json}\n{error}\nexpected: {said}");
    }
}

#[test]
fn neighbours_are_repaired_to_the_nearest() {
    let space = read(SPACE).unwrap().build().unwrap();
    let shown = |json: &str| -> Vec<String> {
        let configuration = Configuration::of_json(&serde_json::from_str(json).unwrap()).unwrap();
        let point = space.find(&configuration).unwrap();
        let neighbours = space.neighbours(&point);
        neighbours
            .iter()
            .map(|p| space.configuration(p).to_string())
            .collect()
    };
    assert_eq!(
        shown(r#"{"tile": 16, "unroll": 16, "flags": "-O2"}"#),
        [
            "tile=8 unroll=8 area=64 flags=-O2",
            "tile=32 unroll=16 area=512 flags=-O2",
            "tile=16 unroll=8 area=128 flags=-O2",
            "tile=16 unroll=16 area=256 flags=-O3",
        ]
    );
}

#[test]
fn what_is_none_of_a_space_has_a_nearest_point() {
    let nearest = |filter: &str, json: &str| {
        let text = SPACE.replace("not (flags == '-O3' and tile == 1)", filter);
        let space = read(&text).unwrap().build().unwrap();
        let configuration = Configuration::of_json(&serde_json::from_str(json).unwrap()).unwrap();
        let point = space.nearest(&configuration).unwrap();
        point.map(|point| space.configuration(&point).to_string())
    };
    let of = |text: &str| Some(text.to_string());
    let wanted = r#"{"tile": 40, "unroll": 16, "flags": "-O3"}"#;
    assert_eq!(
        nearest("tile > 1", wanted),
        of("tile=32 unroll=16 area=512 flags=-O3")
    );
    let found = nearest("tile * unroll != 512", wanted);
    assert!(found.is_some_and(|found| !found.contains("area=512")));
    assert_eq!(nearest("tile > 5000", wanted), None);
}
