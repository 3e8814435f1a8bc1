//! Every rule by enumeration, values before and after, and what is left of the paper's kernels.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::super::parse::{Scope, expression};
use super::super::tests::expressions;
use super::super::{Name, interval::INFINITE};
use super::*;
use crate::layout::{flatten, parse::layout, unflatten};

fn parse(text: &str) -> Expr {
    expression(text, &Scope::default()).unwrap_or_else(|e| panic!("{}", e.in_source(text)))
}

/// A side of a rule as an expression of its variables.
fn side(text: &str) -> Expr {
    let pattern: Side = text.parse().unwrap();
    let mut built: Vec<Expr> = Vec::new();
    for node in pattern.ast.as_ref() {
        built.push(match node {
            egg::ENodeOrVar::Var(v) => Expr::symbol(&v.to_string()[1..]),
            egg::ENodeOrVar::ENode(node) => Expr::new(node.map(|c| built[usize::from(*c)].clone())),
        });
    }
    built.pop().unwrap()
}

/// For all values from -5 to 8 of all variables: where the left side has a value and the
/// condition holds, of intervals around the values too, the right side has the same value.
#[test]
fn rules_are_sound() {
    for rule in &RULES {
        let (left, right) = (side(rule.left), side(rule.right));
        let pattern: Side = rule.left.parse().unwrap();
        let names = pattern
            .vars()
            .into_iter()
            .map(|v| v.to_string()[1..].into());
        let names: Vec<Name> = names.collect();
        let program = IndexProgram::with_inputs(&names, &[left]);
        let right = IndexProgram::with_inputs(&names, &[right]);
        assert_eq!(right.inputs().len(), names.len(), "{}", rule.name);
        let mut applied = 0;
        let mut values = vec![-5_i64; names.len()];
        'all: loop {
            let holds = |more: i128| {
                rule.when
                    .as_ref()
                    .is_none_or(|Condition { of, holds, .. }| {
                        let interval = |v: &&str| {
                            let at = names.iter().position(|n| **n == v[1..]).unwrap();
                            let value = i128::from(values[at]);
                            Interval::new(value, value + more)
                        };
                        holds(&of.iter().map(interval).collect::<Vec<_>>())
                    })
            };
            if let Ok(expected) = program.run(&values)
                && (holds(0) || holds(1) || holds(INFINITE))
            {
                applied += 1;
                let actual = right.run(&values);
                assert_eq!(
                    actual,
                    Ok(expected),
                    "{} of {names:?} = {values:?}",
                    rule.name
                );
            }
            for (n, value) in values.iter_mut().enumerate() {
                *value += 1;
                if *value <= 8 {
                    continue 'all;
                }
                *value = -5;
                if n + 1 == names.len() {
                    break 'all;
                }
            }
        }
        assert!(applied > 0, "{} was never applied", rule.name);
    }
}

/// Checks: where the intervals of variables keep a condition, all values in them do what it means.
#[test]
fn conditions_mean_what_they_say() {
    let bounds = [-9, -3, -1, 0, 1, 2, 3, 7, 8, 9];
    let intervals: Vec<Interval> = (bounds.iter())
        .flat_map(|min| bounds.iter().map(move |max| (*min, *max)))
        .filter(|(min, max)| min <= max)
        .map(|(min, max)| Interval::new(min, max))
        .collect();
    for rule in &RULES {
        let Some(Condition { of, holds, means }) = &rule.when else {
            continue;
        };
        let names: Vec<Name> = of.iter().map(|v| v[1..].into()).collect();
        let means = IndexProgram::with_inputs(&names, &[side(means)]);
        assert_eq!(means.inputs().len(), names.len(), "{}", rule.name);
        let (mut kept, count) = (0, intervals.len().pow(names.len() as u32));
        for number in 0..count {
            let chosen = (0..names.len() as u32).map(|n| number / intervals.len().pow(n));
            let chosen: Vec<Interval> = chosen.map(|n| intervals[n % intervals.len()]).collect();
            if !holds(&chosen) {
                continue;
            }
            kept += 1;
            let mut points: Vec<Vec<i64>> = vec![vec![]];
            for interval in &chosen {
                let values = interval.min as i64..=interval.max as i64;
                let longer = |some: &Vec<i64>| {
                    let some = some.clone();
                    let longer = move |value| [some.as_slice(), &[value]].concat();
                    values.clone().map(longer).collect::<Vec<_>>()
                };
                points = points.iter().flat_map(longer).collect();
            }
            for values in points {
                assert_ne!(
                    means.run(&values).unwrap(),
                    [0],
                    "{}: {values:?}",
                    rule.name
                );
            }
        }
        assert!(kept > 0, "{}", rule.name);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Checks: what is simplified has the same values, and is not dearer.
    #[test]
    fn values_stay(e in expressions(), low in -6_i64..6, size in 1_i64..6) {
        let mut facts = Facts::new();
        facts.within("a", Interval::new(low.into(), (low + size).into()));
        facts.index("b", &Expr::constant(size));
        let simple = simplify(&facts, std::slice::from_ref(&e)).remove(0);
        let inputs = ["a".into(), "b".into()];
        let program = IndexProgram::with_inputs(&inputs, std::slice::from_ref(&e));
        let simpler = IndexProgram::with_inputs(&inputs, std::slice::from_ref(&simple));
        prop_assert!(cost(&facts, &simpler) <= cost(&facts, &program), "{e} became {simple}");
        for a in low..=low + size {
            for b in 0..size {
                if let Ok(value) = program.run(&[a, b]) {
                    prop_assert_eq!(Ok(value), simpler.run(&[a, b]), "{} became {}", e, simple);
                }
            }
        }
    }
}

/// `b / b` where `b` is 0: classes of what has no value may be parts of themselves, whose bounds
/// would never be narrow enough.
#[test]
fn what_has_no_value_is_simplified_too() {
    let mut facts = Facts::new();
    facts.within("a", Interval::new(-5, -4));
    facts.index("b", &Expr::constant(1));
    let given = parse("b / b + (a | b)");
    let simpler = simplify(&facts, std::slice::from_ref(&given)).remove(0);
    let cost_of = |e: &Expr| cost(&facts, &IndexProgram::new(std::slice::from_ref(e)));
    assert!(cost_of(&simpler) <= cost_of(&given), "{simpler}");
}

#[test]
fn the_cheaper_form_is_taken() {
    let mut facts = Facts::new();
    for name in ["i", "j", "n", "m", "x"] {
        facts.within(name, Interval::from(0));
    }
    facts.within("r", Interval::new(0, 7));
    let cases = [
        ("i * n + i * m", "(n + m) * i"),
        ("(i + j) * 8 / 8", "i + j"),
        ("x - x / 8 * 8", "x % 8"),
        ("(x * 8 + r) / 8 + (x * 8 + r) % 8", "x + r"),
        ("x / 4 / 2", "x / 8"),
        ("x % 8 / 4", "x / 4 % 2"),
        ("min(r, 7) + max(r, 0)", "r * 2"),
        ("select(r < 8, x & 15, j)", "x % 16"),
    ];
    for (text, expected) in cases {
        let simpler = simplify(&facts, &[parse(text)]).remove(0);
        let (costs, expected) = (
            cost(&facts, &IndexProgram::new(std::slice::from_ref(&simpler))),
            cost(&facts, &IndexProgram::new(&[parse(expected)])),
        );
        assert!(costs <= expected, "{text} became {simpler}");
    }
}

/// Operations of a layout's `apply` and `inv`, as they are built and simplified.
fn kernel(name: &str, text: &str) -> String {
    let layout = layout(text, &Facts::new()).unwrap_or_else(|e| panic!("{}", e.in_source(text)));
    let line = |what: &str, facts: &Facts, exprs: Vec<Expr>| {
        let simple = simplify(facts, &exprs);
        let (before, after) = (Operations::new(&exprs), Operations::new(&simple));
        let texts: Vec<String> = match after.total() < 24 {
            true => simple.iter().map(|e| format!("\n    {e}")).collect(),
            false => vec![],
        };
        format!("  {what} {before}\n    -> {after}{}\n", texts.concat())
    };
    let names = layout.index_names();
    let index: Vec<Expr> = names.iter().map(|n| Expr::symbol(n)).collect();
    let apply = line(
        "apply",
        &layout.facts_of_index(&names),
        vec![layout.apply(&index)],
    );
    let x: Name = "x".into();
    let inv = line(
        "inv",
        &layout.facts_of_offset(&x),
        layout.inv(&Expr::symbol(&x)),
    );
    format!("{name}: {layout}\n{apply}{inv}")
}

#[test]
fn operations_of_the_papers_kernels() {
    let kernels = include_str!("kernels.txt").lines().map(|line| {
        let (name, layout) = line.split_once(" | ").expect("a name and a layout");
        kernel(name, layout)
    });
    let kernels: Vec<String> = kernels.collect();
    insta::assert_snapshot!(kernels.join("\n"));
}

/// An index taken apart and put together again, so many times over.
fn large(rounds: usize) -> (Facts, Expr) {
    let sizes = |text: &str| -> Vec<Expr> { text.split(' ').map(parse).collect() };
    let (view, tiles) = (sizes("a*n b*m c"), sizes("a n b m c"));
    let mut facts = Facts::new();
    for size in ["a", "b", "c", "m", "n"] {
        facts.size(size);
    }
    let mut index: Vec<Expr> = ["i", "j", "k"].map(Expr::symbol).to_vec();
    for (name, size) in ["i", "j", "k"].iter().zip(&view) {
        facts.index(name, size);
    }
    for _ in 0..rounds {
        let tile = unflatten(&tiles, &flatten(&view, &index));
        index = unflatten(&view, &flatten(&tiles, &tile));
    }
    (facts, flatten(&view, &index))
}

/// Checks: twice the rounds take some times as long, not the square of it. The fastest of several runs counts: the machine
/// may be busy with other tests.
#[test]
fn large_expressions_take_little_time() {
    let fastest = |rounds| {
        let (facts, expression) = large(rounds);
        let run = || {
            let start = Instant::now();
            let simple = simplify(&facts, std::slice::from_ref(&expression));
            (start.elapsed(), simple)
        };
        let runs: Vec<(Duration, Vec<Expr>)> = (0..5).map(|_| run()).collect();
        assert!(runs.windows(2).all(|two| two[0].1 == two[1].1));
        let before = Operations::new(&[expression]).total();
        let after = Operations::new(&runs[0].1).total();
        let least = 20 * rounds;
        assert!(
            before > least && after <= 8,
            "{before} operations became {after}"
        );
        runs.into_iter().map(|(time, _)| time).min().unwrap()
    };
    let (half, whole) = (fastest(2), fastest(4));
    assert!(whole < 10 * half, "{whole:?} after {half:?}");
}
