//! Laws of the normal form, each by enumeration, and what it makes of the shapes layouts have.

use proptest::prelude::*;

use super::super::parse::{Scope, expression};
use super::super::tests::expressions;
use super::*;

fn parse(text: &str) -> Expr {
    expression(text, &Scope::default()).unwrap_or_else(|e| panic!("{}", e.in_source(text)))
}

/// Sizes n, m, k of 1 or more; indices i < n, j < m, l < k; x from 0 on; z is any integer.
fn facts() -> Facts {
    let mut facts = Facts::new();
    for (index, size) in [("i", "n"), ("j", "m"), ("l", "k")] {
        facts.size(size);
        facts.index(index, &Expr::symbol(size));
    }
    facts.within("x", Interval::from(0));
    facts
}

#[test]
fn quotients_and_remainders_of_symbolic_sizes() {
    let cases = [
        ("(i * m + j) / m", "i"),
        ("(i * m + j) % m", "j"),
        ("((i * m + j) * k + l) / (m * k)", "i"),
        ("((i * m + j) * k + l) / k % m", "j"),
        ("((i * m + j) * k + l) % (m * k)", "j * k + l"),
        ("(i * m * k + l) / (m * k)", "(i * m * k + l) / (m * k)"),
        ("(j * k + l) / (n * m * k)", "0"),
        ("x / n * n + x % n", "x"),
        ("(x / n) / m", "x / (n * m)"),
        ("x % (n * m) % m", "x % m"),
        ("x % (n * m) / m", "x / m % n"),
        ("x / (n * m) * n + x / m % n", "x / m"),
        ("(n * m - 1) / m", "n - 1"),
        ("min(i, n)", "i"),
        ("max(i * m + j, n * m)", "m * n"),
        ("i * m + j < n * m", "1"),
        ("select(i < n, x, z)", "x"),
        ("z & 7", "z % 8"),
        ("(4 * z + 6) / 8", "(z + 1) / 2"),
        ("(4 * z + 6) % 8", "(z + 1) % 2 * 4 + 2"),
        ("(z + 8) % 8 - z % 8", "0"),
    ];
    for (text, expected) in cases {
        let form = normal(&facts(), &parse(text));
        let same = equal(&facts(), &form, &parse(expected));
        assert!(same, "{text} became {form}, expected {expected}");
        assert!(
            IndexProgram::new(std::slice::from_ref(&form)).nodes().len()
                <= IndexProgram::new(&[parse(expected)]).nodes().len(),
            "{text} became {form}, expected {expected}"
        );
    }
}

#[test]
fn order_is_proved_of_products() {
    let (le, not) = (true, false);
    let cases = [
        ("i * m + j", "n * m - 1", le),
        ("i * m + j", "n * m - 2", not),
        ("n + m - 1", "n * m", le),
        ("n + m", "n * m", not),
        ("i", "n * m", le),
        ("x / n", "x", not),
        ("0", "x / n", le),
        ("l * n * m + i * m + j + 1", "n * m * k", le),
        ("i - i * i", "0", not),
        ("n", "n * n", le),
    ];
    for (a, b, expected) in cases {
        let proved = at_most(&facts(), &parse(a), &parse(b));
        assert_eq!(proved, expected, "{a} <= {b}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    /// The normal form has the expression's value wherever the expression has one.
    #[test]
    fn normal_forms_have_the_same_values(e in expressions(), low in -6_i64..6, a_size in 1_i64..6) {
        let mut facts = Facts::new();
        facts.within("a", Interval::new(low.into(), (low + a_size).into()));
        facts.index("b", &Expr::constant(a_size));
        let simple = normal(&facts, &e);
        let inputs = ["a".into(), "b".into()];
        let program = IndexProgram::with_inputs(&inputs, std::slice::from_ref(&e));
        let simpler = IndexProgram::with_inputs(&inputs, std::slice::from_ref(&simple));
        for a in low..=low + a_size {
            for b in 0..a_size {
                if let Ok(value) = program.run(&[a, b]) {
                    prop_assert_eq!(Ok(value), simpler.run(&[a, b]), "{} became {}", e, simple);
                }
            }
        }
    }
}
