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
        let rejected = drawn.filter(|own| !self.admits(own));
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
            let mut parameter = Parameter::set(&name, 1..=*extent).unwrap();
            if let Some((other, kind, number)) = self.constraint(position) {
                let depends = [&name, &format!("p{other}")[..]];
                let holds = move |[here, other]: [i64; 2]| holds(kind, here, other, number);
                parameter = parameter.constraint(Constraint::of_integers("test", depends, holds));
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
        let mut tuples = vec![Vec::new()];
        for (position, extent) in self.extents.iter().enumerate() {
            tuples = tuples
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
        tuples
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
    // them is bounded. That of the dimensions so far has a name, so that what follows depends on it alone.
    let mut builder = Space::builder();
    let mut before: Option<String> = None;
    for dimension in 0..7 {
        let [outer, inner, size] =
            ["outer", "inner", "size"].map(|name| format!("{name}{dimension}"));
        let set = |name: &str, extent| Parameter::set(name, powers(extent)).unwrap();
        let divides =
            Constraint::of_integers("8192 % (outer * inner) == 0", [&outer, &inner], |[a, b]| {
                8192 % (a * b) == 0
            });
        let product = match &before {
            None => Constraint::of_integers("size == inner", [&size, &inner], |[size, inner]| {
                size == inner
            }),
            Some(before) => Constraint::of_integers(
                "size == before * inner",
                [&size, before, &inner],
                |[size, before, inner]| size == before * inner,
            ),
        };
        builder = builder
            .parameter(set(&outer, 14))
            .parameter(set(&inner, 14).constraint(divides))
            .parameter(set(&size, 25).constraint(product));
        before = Some(size);
    }
    let space = builder.build().unwrap();
    assert!(space.size() > 1e12, "{}", space.size());
    assert!(space.nodes() < 6000, "{}", space.nodes());
    let mut random = Pcg64Mcg::seed_from_u64(3);
    for _ in 0..100 {
        let point = space.sample(&mut random);
        assert!(space.contains(&point));
        for other in space.neighbours(&point) {
            assert!(space.find(&space.configuration(&other)).is_some());
        }
    }
}

#[test]
fn chains_may_be_longer_than_any_integer() {
    let mut builder = Space::builder();
    for flag in 0..300 {
        let parameter = Parameter::set(&format!("f{flag}"), [0, 1]).unwrap();
        builder = builder.parameter(parameter);
    }
    let space = builder.build().unwrap();
    assert_eq!(space.size(), 2f64.powi(300));
    assert_eq!((space.trees.len(), space.nodes()), (300, 300));
    let point = space.sample(&mut Pcg64Mcg::seed_from_u64(1));
    assert!(space.contains(&point));
}

/// Tiles that divide 1024, unrolled by powers of two that divide them, with 4096 points at most; and flags.
fn tiles() -> Builder {
    let divides = rule("1024 % tile == 0", "tile", |tile| 1024 % tile == 0);
    let unrolls = Constraint::of_integers("tile % unroll == 0", ["tile", "unroll"], |[a, b]| {
        a % b == 0
    });
    let fits = Constraint::of_integers("tile * unroll <= 4096", ["tile", "unroll"], |[a, b]| {
        a * b <= 4096
    });
    let unroll = Parameter::set("unroll", powers(5)).unwrap();
    let tile = Parameter::set("tile", 1..=1024).unwrap();
    Space::builder()
        .parameter(tile.constraint(divides))
        .parameter(unroll.constraint(unrolls).constraint(fits))
        .parameter(Parameter::set("flags", ["-O2", "-O3"]).unwrap())
}

/// A rule over one parameter.
fn rule(text: &str, name: &str, holds: fn(i64) -> bool) -> Constraint {
    Constraint::of_integers(text, [name], move |[n]| holds(n))
}

fn tile(tile: i64, unroll: i64, flags: &str) -> Configuration {
    let pairs = [("unroll", unroll.into()), ("tile", tile.into())];
    Configuration::from_pairs(pairs.into_iter().chain([("flags", flags.into())]))
}

#[test]
fn trees_and_filters_are_counted() {
    let filter = Constraint::new("-O3 is for larger tiles", ["flags", "tile"], |values| {
        *values[0] != "-O3".into() || *values[1] != 1.into()
    });
    let space = tiles().filter(filter).build().unwrap();
    // 11 divisors; for each the powers up to 16 that divide it, while tile * unroll <= 4096.
    assert_eq!(space.size(), f64::from(2 * (1 + 2 + 3 + 4 + 5 * 5 + 4 + 3)));
    assert_eq!((space.trees.len(), space.dimensions()), (2, 3));
    let mut random = Pcg64Mcg::seed_from_u64(2);
    let share = space.rejection_share(4000, &mut random);
    assert!((share - 1.0 / 84.0).abs() < 0.01, "{share}");
    assert_eq!(space.rejections().unwrap().share(), share);
}

/// Checks: a configuration is counted as rejected once, whatever the number of filters that reject it.
#[test]
fn rejections_are_of_configurations() {
    let rejected = |filters: &[fn(i64) -> bool]| {
        let builder = Space::builder().parameter(Parameter::set("n", 1..=30).unwrap());
        let filter = |holds: &fn(i64) -> bool| rule("filter", "n", *holds);
        let space = filters.iter().map(filter).fold(builder, Builder::filter);
        let space = space.build().unwrap();
        let mut next = Some(space.first());
        while let Some(point) = next {
            space.admits(&space.configuration(&point));
            next = space.next(&point);
        }
        space.rejections()
    };
    let expected = |rejected| {
        Some(Rejections {
            asked: 30,
            rejected,
        })
    };
    assert_eq!(rejected(&[|n| n > 100]), expected(30));
    assert!(rejected(&[|n| n > 100]).unwrap().are_all());
    assert!(!rejected(&[|n| n > 15]).unwrap().are_all());
    assert_eq!(rejected(&[|n| n > 5, |n| n < 20]), expected(16));
    assert_eq!(rejected(&[|n| n > 20, |n| n > 15]), expected(20));
    assert_eq!(rejected(&[]), None);
}

#[test]
fn what_is_wrong_with_parameters_is_said() {
    let number = |name: &str| Parameter::set(name, [1]).unwrap();
    let with = |depends: [&str; 1]| {
        let parameter = number("a").constraint(Constraint::of_integers("later", depends, |_| true));
        Space::builder().parameter(parameter).parameter(number("b"))
    };
    let twice = Space::builder()
        .parameter(number("a"))
        .parameter(number("a"));
    let filter = Constraint::of_integers("unknown", ["c"], |_| true);
    for (builder, said) in [
        (
            Space::builder(),
            "found no parameter, expected at least one",
        ),
        (twice, "found two parameters named 'a', expected one"),
        (with(["b"]), "`later` depends on 'b', expected earlier"),
        (with(["a"]).filter(filter), "`unknown` depends on 'c'"),
    ] {
        let error = builder.build().unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn what_empties_a_space_is_named() {
    let set = |name, last| Parameter::set(name, 1..=last).unwrap();
    let divides = Constraint::of_integers("tile % threads == 0", ["tile", "threads"], |[a, b]| {
        a % b == 0
    });
    let tile = set("tile", 64).constraint(rule("64 % tile == 0", "tile", |n| 64 % n == 0));
    let threads = set("threads", 8).constraint(divides);
    let threads = threads.constraint(rule("threads % 7 == 0", "threads", |n| n % 7 == 0));
    let builder = Space::builder().parameter(tile).parameter(threads);
    let error = builder.build().unwrap_err().to_string();
    assert!(
        error.contains("the space is empty: no value of 'threads' satisfies `threads % 7 == 0`"),
        "{error}"
    );
    let a = set("a", 9).constraint(rule("a > 9", "a", |n| n > 9));
    let a = a.constraint(rule("a < 0", "a", |n| n < 0));
    let error = Space::builder()
        .parameter(a)
        .build()
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("'a' satisfies `a > 9` and `a < 0`"),
        "{error}"
    );
}

/// Checks: what breaks a constraint, has no value, another one, or a name more is none of the space.
#[test]
fn configurations_of_others_are_not_found() {
    let space = tiles().build().unwrap();
    let valid = tile(64, 4, "-O2");
    let point = space.find(&valid).unwrap();
    assert_eq!(space.configuration(&point).key(), valid.key());
    let more = valid.pairs().map(|(name, value)| (name, value.clone()));
    let more = Configuration::from_pairs(more.chain([("area", 256.into())]));
    let fewer = Configuration::from_pairs([("tile", 64.into()), ("unroll", 4.into())]);
    for other in [
        tile(3, 1, "-O2"),
        tile(2000, 1, "-O2"),
        tile(1024, 8, "-O2"),
        tile(4, 8, "-O2"),
        tile(64, 1, "-O4"),
        more,
        fewer,
    ] {
        assert_eq!(space.find(&other), None, "{other}");
    }
}

#[test]
fn neighbours_are_repaired_to_the_nearest() {
    let space = tiles().build().unwrap();
    let point = space.find(&tile(16, 16, "-O2")).unwrap();
    let neighbours = space.neighbours(&point);
    let shown = neighbours
        .iter()
        .map(|p| space.configuration(p).to_string());
    assert_eq!(
        shown.collect::<Vec<_>>(),
        [
            "tile=8 unroll=8 flags=-O2",
            "tile=32 unroll=16 flags=-O2",
            "tile=16 unroll=8 flags=-O2",
            "tile=16 unroll=16 flags=-O3",
        ]
    );
}

#[test]
fn what_is_none_of_a_space_has_a_nearest_point() {
    let nearest = |filter: fn([i64; 2]) -> bool| {
        let filter = Constraint::of_integers("filter", ["tile", "unroll"], filter);
        let space = tiles().filter(filter).build().unwrap();
        let point = space.nearest(&tile(40, 16, "-O3"));
        point.map(|point| space.configuration(&point).to_string())
    };
    let expected = "tile=32 unroll=16 flags=-O3";
    assert_eq!(nearest(|[tile, _]| tile > 1).as_deref(), Some(expected));
    let other = nearest(|[tile, unroll]| tile * unroll != 512).unwrap();
    assert!(other != expected && other.ends_with("-O3"), "{other}");
    assert_eq!(nearest(|[tile, _]| tile > 5000), None);
}
