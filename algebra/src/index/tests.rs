//! Expressions: what they mean, what they are not, and their values within their intervals.

use super::parse::{Scope, expression};
use super::*;
use proptest::prelude::*;

fn parse(text: &str) -> Expr {
    expression(text, &Scope::default()).unwrap_or_else(|e| panic!("{}", e.in_source(text)))
}

fn refused(text: &str, scope: &Scope) -> String {
    expression(text, scope).unwrap_err().in_source(text)
}

#[test]
fn division_rounds_down() {
    let program = IndexProgram::new(&[parse("a / b"), parse("a % b")]);
    for a in -9..=9 {
        for b in 1..=5 {
            let results = program.run(&[a, b]).unwrap();
            let quotient = (a as f64 / b as f64).floor() as i64;
            assert_eq!(results, [quotient, a - b * quotient], "{a} by {b}");
        }
    }
}

#[test]
fn what_has_no_value_says_why() {
    let fails = |text: &str, inputs: &[i64]| {
        let program = IndexProgram::new(&[parse(text)]);
        program.run(inputs).unwrap_err().to_string()
    };
    assert_eq!(
        fails("a * b", &[i64::MAX, 2]),
        "9223372036854775807 * 2 leaves the 64-bit range"
    );
    assert_eq!(
        fails("a % b", &[7, 0]),
        "found 7 % 0, expected a positive divisor"
    );
    assert_eq!(
        fails("a / b", &[i64::MIN, -1]),
        "found -9223372036854775808 / -1, expected a positive divisor"
    );
    assert_eq!(
        fails("isqrt(a)", &[-1]),
        "found isqrt(-1), expected an argument of 0 or more"
    );
    assert_eq!(
        fails("t[a]", &[0]),
        "the elements of 't' are only known at run time"
    );
    let values = Some(vec![5, 6]);
    let name = "t".into();
    let table = Arc::new(Table { name, values });
    let load = IndexProgram::new(&[Expr::symbol("i").load(&table)]);
    assert_eq!(load.run(&[1]), Ok(vec![6]));
    assert_eq!(
        load.run(&[2]).unwrap_err().to_string(),
        "found t[2], expected a position below 2"
    );
}

#[test]
fn text_means_what_it_says() {
    let cases = [
        ("1 + 2 * 3", 7),
        ("7 - 2 - 1", 4),
        ("100 / 7 / 2", 7),
        ("-7 / 2", -4),
        ("-(7) % 4", 1),
        ("(3 > 2) + (3 >= 3) + (2 < 2) + (2 <= 2)", 3),
        ("1 | 6 ^ 3 & 2", 5),
        ("1 + 1 == 2", 1),
        ("let a = 3 in let b = a * a in b - a", 6),
        ("select(1 != 1, 5, min(9, 8, 7))", 7),
        ("isqrt(24) + max(1, 2)", 6),
        ("17 // 5", 3),
    ];
    for (text, value) in cases {
        assert_eq!(parse(text).as_constant(), Some(value), "{text}");
    }
}

#[test]
fn text_that_is_no_expression_is_refused_with_its_place() {
    let scope = Scope::new(&["row".into(), "col".into()]);
    assert_eq!(
        refused("row + rw", &scope),
        "found 'rw', expected 'row' or 'col'; did you mean 'row'?\n  row + rw\n        ^^"
    );
    assert_eq!(
        refused("(row + 1", &scope),
        "found the end, expected ')'\n  (row + 1\n          ^"
    );
    assert_eq!(
        refused("sqrt(row)", &scope),
        "found no function 'sqrt', expected 'min', 'max', 'select' or 'isqrt'; did you mean \
         'isqrt'?\n  sqrt(row)\n  ^^^^"
    );
    assert_eq!(
        refused("select(row, 1)", &scope),
        "'select' has 2 operands, expected a condition and 2 values\n  select(row, 1)\n  ^^^^^^^^^^^^^^"
    );
    assert_eq!(
        refused("0 < row < 5", &scope),
        "comparisons do not chain, write '(a < b) & (b < c)'\n  0 < row < 5\n          ^"
    );
    assert_eq!(
        refused("row *", &scope),
        "found the end, expected an expression\n  row *\n       ^"
    );
    assert_eq!(
        refused("row $ 2", &scope),
        "found '$', which begins nothing here\n  row $ 2\n      ^"
    );
    assert_eq!(
        refused("99999999999999999999", &scope),
        "found 99999999999999999999, expected a number of at most 9223372036854775807\n  \
         99999999999999999999\n  ^^^^^^^^^^^^^^^^^^^^"
    );
    let deep = "(".repeat(1000) + "1" + &")".repeat(1000);
    assert!(refused(&deep, &scope).starts_with("this is nested more than 200 deep"));
    let deep = "-".repeat(100_000) + "1";
    assert!(refused(&deep, &scope).starts_with("this is nested more than 200 deep"));
}

/// Random expressions over `a` and `b`.
pub(crate) fn expressions() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![
        (-9_i64..=9).prop_map(Expr::constant),
        Just(Expr::symbol("a")),
        Just(Expr::symbol("b")),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let binary = (0..Op::ALL.len(), inner.clone(), inner.clone());
        prop_oneof![
            6 => binary.prop_map(|(op, a, b)| Expr::binary(Op::ALL[op], a, b)),
            1 => inner.clone().prop_map(|a| a.isqrt()),
            1 => (inner.clone(), inner.clone(), inner)
                .prop_map(|(c, a, b)| c.select(a, b)),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Checks: what is printed reads back as the same.
    #[test]
    fn printed_expressions_read_back(e in expressions()) {
        let text = e.to_string();
        prop_assert_eq!(parse(&text).to_string(), text);
    }

    /// Every value lies in the expression's interval, for all values of its symbols in theirs.
    #[test]
    fn values_lie_in_the_interval(
        e in expressions(),
        (a, b) in (-20_i64..20, -20_i64..20),
        (more_a, more_b) in (0_i64..6, 0_i64..6),
    ) {
        let mut facts = Facts::new();
        facts.within("a", Interval::new(a.into(), (a + more_a).into()));
        facts.within("b", Interval::new(b.into(), (b + more_b).into()));
        let range = facts.range(&e);
        let program = IndexProgram::with_inputs(&["a".into(), "b".into()], std::slice::from_ref(&e));
        for a in a..=a + more_a {
            for b in b..=b + more_b {
                if let Ok(value) = program.run(&[a, b]) {
                    prop_assert!(range.contains(value[0]), "{e} is {value:?} at {a}, {b}: {range:?}");
                }
            }
        }
    }
}

#[test]
fn shared_parts_are_evaluated_once() {
    let mut e = Expr::symbol("a");
    for _ in 0..60 {
        e = &e % &e.max(3) + &e.min(1_000_000);
    }
    let program = IndexProgram::new(&[e.clone(), e.clone()]);
    assert!(program.nodes().len() < 60 * 6);
    assert!(program.run(&[7]).is_ok());
    assert_eq!(e, e.substitute(&|_| None));
}

#[test]
fn affine_functions_are_expressions() {
    let (i, j) = (affine::Expr::dim(0), affine::Expr::dim(1));
    let function = (i * 4 + j.clone()).ceil_div(3) + j.modulo(2);
    let names = ["i", "j"].map(Expr::symbol);
    let program = IndexProgram::new(&[Expr::from_affine(&function, &names)]);
    for point in [[0, 0], [1, 2], [5, 3], [-2, 1]] {
        assert_eq!(
            program.run(&point).unwrap()[0],
            function.eval(&point).unwrap()
        );
    }
}
