//! Texts of all kinds: whatever is wrong with them is said, and nothing panics.

use mdh_algebra::reuse::compatible;
use proptest::prelude::*;

use crate::diagnostic::render_all;
use crate::read;

/// Words of the language, and some that are none.
const WORDS: [&str; 40] = [
    "var",
    "input",
    "output",
    "x",
    "y",
    "A",
    "exp",
    "relu",
    "f",
    "x",
    "A",
    "=",
    ":",
    "#",
    ".",
    "^",
    "+",
    "-",
    "*",
    "/",
    "(",
    ")",
    "[",
    "]",
    "[2]",
    "[2 2]",
    "[1 2]",
    "[2 3]",
    "[[1 2] [3 4]]",
    "0",
    "1",
    "2",
    "3",
    "2.5",
    "1e9",
    "// x\n",
    "\n",
    "ä",
    "$",
    "18446744073709551616",
];

const DECLARED: &str = "var x : [2]\nvar y : [2]\nvar A : [2 2]\n";

/// Reads a text, shows what is wrong, and derives what is right.
fn examine(text: &str) -> Result<(), TestCaseError> {
    match read(text) {
        Err(errors) => {
            prop_assert!(!errors.is_empty());
            let shown = render_all(&errors, "f.tdsl", text);
            prop_assert!(shown.contains("--> f.tdsl:"), "{shown}");
        }
        Ok(program) => {
            for assignment in &program.statements {
                let (context, statement) = (&program.context, &assignment.statement);
                let derivation = compatible(context, statement).map_err(|violations| {
                    TestCaseError::fail(format!("{violations:?} in what was checked"))
                })?;
                prop_assert_eq!(
                    derivation.is_complete(),
                    derivation.check(context, statement).is_ok()
                );
                prop_assert_eq!(
                    derivation.is_complete(),
                    derivation.breaches().next().is_none()
                );
            }
        }
    }
    Ok(())
}

/// An expression of shape `[2]`, as text.
fn vector() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![Just("x".to_string()), Just("y".to_string())];
    leaf.prop_recursive(6, 40, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone(), "[-+*/]").prop_map(|(e, f, o)| format!("{e} {o} ({f})")),
            inner.clone().prop_map(|e| format!("tanh({e})")),
            inner.clone().prop_map(|e| format!("(A # ({e})) . [2 3]")),
            inner
                .clone()
                .prop_map(|e| format!("(({e}) # A ^ [1 2]) . [2 3]")),
            inner.prop_map(|e| format!("(A . [1 2] * 0.5) * ({e})")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 27_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn words_in_any_order(words in prop::collection::vec(prop::sample::select(&WORDS[..]), 0..40)) {
        examine(&words.join(" "))?;
    }

    #[test]
    fn statements_of_words_in_any_order(words in prop::collection::vec(prop::sample::select(&WORDS[..]), 0..20)) {
        examine(&format!("{DECLARED}x = {}", words.join(" ")))?;
    }

    #[test]
    fn characters(text in "\\PC*", controls in "[\\x00-\\x7f]*") {
        examine(&text)?;
        examine(&controls)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn programs(value in vector()) {
        let text = format!("{DECLARED}x = {value}");
        prop_assert!(read(&text).is_ok(), "{}", text);
        examine(&text)?;
        let program = read(&text).unwrap();
        let statement = &program.statements[0].statement;
        let printed = statement.text(&program.context);
        let again = read(&format!("{DECLARED}{printed}"));
        prop_assert!(again.is_ok(), "{}", printed);
        prop_assert_eq!(again.unwrap().statements[0].statement.text(&program.context), printed);
    }

    #[test]
    fn programs_with_a_hole(value in vector(), from in 0usize..200, length in 0usize..5) {
        let mut text = format!("{DECLARED}x = {value}");
        let start = from % text.len();
        let end = (start + length).min(text.len());
        text.replace_range(start..end, "");
        examine(&text)?;
    }
}
