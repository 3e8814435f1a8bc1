//! Calls are found, numbered, and told apart by what stands beside them.

use super::*;

fn scanned(source: &str) -> Placeholders {
    scan(source).unwrap_or_else(|finding| panic!("{finding:?}"))
}

fn places(source: &str) -> Vec<CallPosition> {
    scanned(source).sites.into_iter().map(|s| s.place).collect()
}

#[test]
fn calls_are_numbered() {
    let placeholders = scanned("a[{{ A.apply(threadIdx.x, (i + 1) % n, :) }}] {{ A.dims }}");
    assert_eq!(
        placeholders.text,
        "a[{{ A.apply(0, threadIdx, i, n) }}] {{ A.dims }}"
    );
    let texts: Vec<&str> = placeholders.sites[0]
        .arguments
        .iter()
        .map(|(text, _)| text.as_str())
        .collect();
    assert_eq!(texts, ["threadIdx.x", "(i + 1) % n", ":"]);
    assert!(placeholders.words.contains("a") && !placeholders.words.contains("A"));
}

#[test]
fn places_lead_back_to_the_file() {
    let source = "{{ A.apply(i,\n j) }} {{ missing }}";
    let placeholders = scanned(source);
    assert_eq!(placeholders.text.matches('\n').count(), 1);
    let here = placeholders.text.find("missing").unwrap_or_default();
    let there = placeholders.in_file(here..here + 7);
    assert_eq!(&source[there], "missing");
}

#[test]
fn operators_beside_a_call_are_seen() {
    let alone = [
        "a[{{ A.apply(i) }}]",
        "f(x, {{ A.apply(i) }}, y)",
        "x = {{ A.apply(i) }};",
        "x = {{ A.apply(i) }}\ny = 1\n",
        "x += {{ A.apply(i) }}\n",
    ];
    for source in alone {
        assert_eq!(places(source), [CallPosition::Alone], "{source}");
    }
    let operands = [
        "a + {{ A.apply(i) }}",
        "a[{{ A.apply(i) }} + 1]",
        "x = {{ A.apply(i) }}\n  * 2;",
        "x == {{ A.apply(i) }};",
        "{{ A.apply(i) ~ ' ' }}",
        "a[{{ A.inv(i)[0] }}]",
    ];
    for source in operands {
        assert_eq!(places(source), [CallPosition::Operand], "{source}");
    }
}

#[test]
fn statements_have_names_and_a_line() {
    let place = CallPosition::Statements {
        targets: vec!["i".into(), "j".into()],
        indent: "  ".into(),
    };
    assert_eq!(places("{\n  {{ i, j = A.inv(p) }}\n}"), [place]);
    let finding = scan("x {{ i = A.inv(p) }}").map(drop).unwrap_err();
    assert_eq!(finding.span, 2..20);
    assert!(scan("{{ i = 3 }}").is_err());
}

#[test]
fn what_the_engine_does_not_read_is_left_alone() {
    let source = "{# A.apply(i) #}{% raw %}{{ A.apply(i) }}{% endraw %}{ { 1 } }";
    let placeholders = scanned(source);
    assert_eq!(
        (placeholders.text.as_str(), placeholders.sites.len()),
        (source, 0)
    );
}

#[test]
fn what_is_not_closed_is_said() {
    for source in ["x {{ A.apply(i)", "x {# y", "x {{ A.apply(i }}"] {
        assert!(scan(source).is_err(), "{source}");
    }
}
