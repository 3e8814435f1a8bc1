//! Tests of all techniques: valid, new and repeatable points, and fewer evaluations than random
//! search takes.

use std::collections::HashSet;

use super::*;
use crate::space::constraint::Constraint;
use crate::space::parameter::Parameter;
use crate::space::value::{Configuration, Value};
use crate::space::{Point, Space};
use mdh_exec::stats::geometric_mean;

/// A space like that of a tiled loop nest, with a cost that has its least value once.
fn tiles() -> Space {
    let powers = |name| Parameter::set(name, (0..=10).map(|n| 1i64 << n)).unwrap();
    let numbers = |name| Parameter::set(name, 1..=16).unwrap();
    let divides = |[a, b]: [i64; 2]| 1024 % (a * b) == 0;
    let divides = Constraint::of_integers("1024 % (a * b) == 0", ["a", "b"], divides);
    let ordered = Constraint::of_integers("d <= c", ["d", "c"], |[d, c]| d <= c);
    let builder = Space::builder()
        .parameter(powers("a"))
        .parameter(powers("b").constraint(divides))
        .parameter(numbers("c"))
        .parameter(numbers("d").constraint(ordered))
        .parameter(Parameter::set("kind", ["x", "y", "z"]).unwrap());
    builder.build().unwrap()
}

fn number(configuration: &Configuration, name: &str) -> f64 {
    configuration.get(name).unwrap().integer().unwrap() as f64
}

fn cost(configuration: &Configuration) -> f64 {
    let number = |name| number(configuration, name);
    let kind = match configuration.get("kind").unwrap().to_string().as_str() {
        "x" => 1.3,
        "y" => 1.0,
        _ => 1.8,
    };
    let far = |is: f64, best: f64| (is.log2() - best.log2()).powi(2);
    let sum = far(number("a"), 16.0) + 0.7 * far(number("b"), 8.0);
    kind * (1.0 + sum + 0.05 * (number("c") - 11.0).powi(2) + 0.03 * (number("d") - 6.0).powi(2))
}

/// Evaluates until something holds; the points, in order.
fn search(
    space: &Space,
    technique: &mut dyn Technique,
    batch: usize,
    evaluations: usize,
    cost: &dyn Fn(&Configuration) -> f64,
    model: Option<&CostModel<'_>>,
) -> Known {
    let mut known = Known::default();
    while known.len() < evaluations {
        let view = Search {
            space,
            known: &known,
            model,
        };
        let points = technique.propose(&view, batch);
        if points.is_empty() {
            break;
        }
        assert!(points.len() <= batch);
        let costs = points.iter().map(|point| cost(&space.configuration(point)));
        let results: Vec<(Point, f64)> = points.iter().cloned().zip(costs).collect();
        for (point, cost) in &results {
            assert!(space.contains(point), "{} left the space", technique.name());
            assert!(
                known.cost(point).is_none(),
                "{} repeats itself",
                technique.name()
            );
            known.add(point.clone(), *cost);
        }
        let view = Search {
            space,
            known: &known,
            model,
        };
        technique.learn(&view, &results);
    }
    known
}

#[test]
fn all_are_repeatable_and_propose_what_is_new() {
    let space = tiles();
    // Some fail.
    let cost = |configuration: &Configuration| match configuration.get("c").unwrap().integer() {
        Some(13) => f64::INFINITY,
        _ => cost(configuration),
    };
    for name in NAMES {
        for batch in [1, 4] {
            let run = |seed| {
                search(
                    &space,
                    &mut *named(name, seed).unwrap(),
                    batch,
                    120,
                    &cost,
                    None,
                )
            };
            let first = run(5);
            assert!(first.len() >= 120, "{name}");
            assert_eq!(first.points(), run(5).points(), "{name}");
            if name != "exhaustive" {
                assert_ne!(first.points(), run(6).points(), "{name}");
            }
        }
    }
}

#[test]
fn all_visit_all_of_a_small_space() {
    let a = Parameter::set("a", 1..=6).unwrap();
    let b = Parameter::set("b", ["x", "y"]).unwrap();
    let even = Constraint::new("a % 2 == 0 or b == 'x'", ["a", "b"], |v: &[&Value]| {
        v[0].integer().unwrap() % 2 == 0 || *v[1] == "x".into()
    });
    let space = Space::builder()
        .parameter(a)
        .parameter(b.constraint(even))
        .build()
        .unwrap();
    let single = Space::builder()
        .parameter(Parameter::set("a", [1]).unwrap())
        .build()
        .unwrap();
    for name in NAMES {
        let of_a = |configuration: &Configuration| number(configuration, "a");
        let known = search(&space, &mut *named(name, 1).unwrap(), 2, 1000, &of_a, None);
        let points: HashSet<&Point> = known.points().iter().map(|(point, _)| point).collect();
        assert_eq!(points.len(), 9, "{name}");
        let known = search(&single, &mut *named(name, 1).unwrap(), 2, 1000, &of_a, None);
        assert_eq!(known.len(), 1, "{name}");
    }
}

#[test]
fn nothing_but_failures_ends_no_technique() {
    let space = tiles();
    for name in NAMES {
        let known = search(
            &space,
            &mut *named(name, 1).unwrap(),
            3,
            60,
            &|_| f64::INFINITY,
            None,
        );
        assert!(known.len() >= 60, "{name}");
    }
}

/// Evaluations after which a technique is given up.
const LIMIT: usize = 600;

/// The number of evaluations until a cost within 5 % of the least is found, as a geometric mean.
fn evaluations_needed(space: &Space, name: &str, model: Option<&CostModel<'_>>) -> f64 {
    let least = 1.0;
    let needed = (0..8).map(|seed| {
        let known = search(
            space,
            &mut *named(name, seed).unwrap(),
            1,
            1500,
            &cost,
            model,
        );
        let first = known
            .points()
            .iter()
            .position(|(_, cost)| *cost <= 1.05 * least);
        first.map_or(LIMIT as f64, |first| first as f64 + 1.0)
    });
    geometric_mean(needed).unwrap()
}

#[test]
fn all_but_the_listing_need_fewer_evaluations_than_random_search() {
    let space = tiles();
    let random = evaluations_needed(&space, "random", None);
    for name in NAMES {
        if ["random", "exhaustive"].contains(&name) {
            continue;
        }
        let needed = evaluations_needed(&space, name, None);
        println!("{name}: {needed:.1} of {random:.1}");
        assert!(needed < random, "{name}: {needed} of {random}");
    }
    let auto = evaluations_needed(&space, "auto", None);
    assert!(4.0 * auto < random, "{auto} of {random}");
}

#[test]
fn a_model_saves_evaluations() {
    let space = tiles();
    // It knows of tiles, and nothing of the rest.
    let model = |configuration: &Configuration| {
        let number = |name| number(configuration, name);
        Some(1.0 + (number("a").log2() - 4.0).powi(2) + (number("b").log2() - 3.0).powi(2))
    };
    let without = evaluations_needed(&space, "surrogate", None);
    let with = evaluations_needed(&space, "surrogate", Some(&model));
    println!("{with:.1} of {without:.1}");
    assert!(with < without, "{with} of {without}");
}

#[test]
fn names_that_are_none_are_refused() {
    let error = named("anealing", 1).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("did you mean 'annealing'?"), "{error}");
}

/// Checks: several names are the bandit over these techniques and no others; an arm keeps its name.
#[test]
fn several_names_share_a_search() {
    let names = |text: &str| -> Vec<String> { text.split(',').map(str::to_string).collect() };
    let space = tiles();
    let mut several = of_names(&names("random,pattern,annealing"), 1).unwrap();
    let mut used = HashSet::new();
    let mut known = Known::default();
    for _ in 0..60 {
        let view = Search {
            space: &space,
            known: &known,
            model: None,
        };
        let points = several.propose(&view, 1);
        used.insert(several.chosen().to_string());
        let point = points[0].clone();
        let cost = cost(&space.configuration(&point));
        known.add(point.clone(), cost);
        let view = Search {
            space: &space,
            known: &known,
            model: None,
        };
        several.learn(&view, &[(point, cost)]);
    }
    let mut used: Vec<String> = used.into_iter().collect();
    used.sort();
    assert_eq!(used, ["annealing", "pattern", "random"]);
    assert_eq!(several.name(), "bandit");
    let single = of_names(&names("pattern"), 1).unwrap();
    assert_eq!(single.name(), "pattern");
    let wrong = |text: &str| {
        of_names(&names(text), 1)
            .map(|_| ())
            .unwrap_err()
            .to_string()
    };
    assert!(wrong("random,random").contains("'random' twice"));
    assert!(wrong("random,anealing").contains("did you mean 'annealing'?"));
}
