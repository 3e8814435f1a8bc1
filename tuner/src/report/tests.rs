//! Tests of the report: all parts are there, texts are escaped, nothing is loaded from elsewhere.

use std::time::Duration;

use super::*;
use crate::space::Rejections;
use crate::space::parameter::Parameter;
use crate::technique::NAMES;

fn space() -> Space {
    let a = Parameter::set("a", 1..=8).unwrap();
    let b = Parameter::set("b", ["<x>", "y"]).unwrap();
    Space::builder().parameter(a).parameter(b).build().unwrap()
}

fn tuned(outcome: impl Fn(usize) -> Outcome) -> Tuned {
    let evaluation = |number: usize| Evaluation {
        number,
        configuration: Configuration::from_pairs([
            ("a", (number as i64 % 8 + 1).into()),
            ("b", if number < 8 { "<x>" } else { "y" }.into()),
        ]),
        outcome: outcome(number),
        technique: ["default", "surrogate", "pattern"][number.min(1 + number % 2)].to_string(),
        at: Duration::from_secs(number as u64),
    };
    let evaluations: Vec<Evaluation> = (0..16).map(evaluation).collect();
    let cost = |number: &usize| evaluations[*number].outcome.cost();
    let measured = (0..16).filter(|number| cost(number).is_some());
    Tuned {
        best: measured.min_by(|a, b| cost(a).unwrap().total_cmp(&cost(b).unwrap())),
        default: Some(0),
        rejections: Some(Rejections {
            asked: 16,
            rejected: 2,
        }),
        elapsed: Duration::from_secs(16),
        ..Tuned::of_evaluations(evaluations)
    }
}

fn texts() -> ReportTexts {
    ReportTexts {
        title: "matmul <1024>".to_string(),
        facts: vec![("machine".to_string(), "zen4".to_string())],
        unit: "ms".to_string(),
        limit: Some("81 % of the machine's limit".to_string()),
        differences: vec!["tiles of 8 in place of 4".to_string()],
        nearest: None,
    }
}

fn outcome(number: usize) -> Outcome {
    match number % 5 {
        3 => Outcome::failed(FailureKind::Crash, "signal 11 & <core>"),
        _ => Outcome::of_cost(20.0 - number as f64),
    }
}

#[test]
fn all_parts_are_there() {
    let page = html(&space(), &tuned(outcome), &texts()).unwrap();
    for part in [
        "<title>matmul &lt;1024&gt;</title>",
        "5.000 ms, the default 20.00 ms: 4.00 times as fast",
        "81 % of the machine",
        "tiles of 8 in place of 4",
        "1 evaluation was made",
        "12.5 %",
        "<svg ",
        "evaluations</text>",
        "<td>surrogate</td>",
        "signal 11 &amp; &lt;core&gt;",
        "<td>crash</td><td class=\"number\">3</td>",
        "<code>y</code></td><td><code>&lt;x&gt;</code></td>",
    ] {
        let squeezed = page.replace("\n", "");
        assert!(
            squeezed.contains(part) || page.contains(part),
            "{part}\n{page}"
        );
    }
    for foreign in ["http://", "https://", "<script", "src=", "@import"] {
        let without_names = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!without_names.contains(foreign), "{foreign}");
    }
    assert!(page.trim_end().ends_with("</html>"));
}

#[test]
fn importance_is_shown_as_bars() {
    let page = html(&space(), &tuned(outcome), &texts()).unwrap();
    assert_eq!(page.matches("class=\"bar\"").count(), 2);
    assert!(
        page.contains("width: 100%") || page.contains("width: 100.0%"),
        "{page}"
    );
}

#[test]
fn a_search_without_success_has_a_page() {
    let page = html(
        &space(),
        &tuned(|_| Outcome::failed(FailureKind::Hang, "")),
        &texts(),
    )
    .unwrap();
    assert!(page.contains("no configuration works"), "{page}");
    assert!(page.contains("Too few configurations"), "{page}");
    let nothing = Tuned {
        evaluations: Vec::new(),
        best: None,
        default: None,
        ..tuned(outcome)
    };
    assert!(html(&space(), &nothing, &ReportTexts::default()).is_ok());
}

/// Checks: whoever proposes has a look of its own, however many there are; who does not is grey.
#[test]
fn techniques_are_told_apart() {
    let names = ["start", "model", "nearest sizes"].into_iter().chain(NAMES);
    let names: Vec<&str> = names.chain(["default", "pace", "confirmed"]).collect();
    let mut session = tuned(|number| Outcome::of_cost(20.0 - number as f64));
    session.evaluations.extend(session.evaluations.clone());
    for (number, evaluation) in session.evaluations.iter_mut().enumerate() {
        evaluation.number = number;
        evaluation.technique = names[number % names.len()].to_string();
    }
    let rows = techniques(&session, "ms");
    assert_eq!(rows.len(), names.len());
    let (proposing, neutral) = rows.split_at(NAMES.len() + 3);
    for (n, row) in proposing.iter().enumerate() {
        assert!(proposing[..n].iter().all(|other| other.look != row.look));
        assert_ne!(row.look, Look::NEUTRAL);
    }
    assert!(neutral.iter().all(|row| row.look == Look::NEUTRAL));
    let page = html(&space(), &session, &texts()).unwrap();
    let mark = format!(
        "<td style=\"color: {}\">\u{25cb}</td>",
        proposing[7].look.colour
    );
    assert!(page.contains(&mark), "{page}");
}

/// Checks: what is a new best is so at the pace of the machine, and so is the picture.
#[test]
fn bests_are_compared_at_one_pace() {
    let mut session = tuned(|number| Outcome::of_cost(20.0 - number as f64));
    let at_any = html(&space(), &session, &texts()).unwrap();
    assert!(!at_any.contains("at the pace"), "{at_any}");
    // The machine has become twice as fast: nothing after the first eight is a new best.
    session.paces = (0..16).map(|n| if n < 8 { 1.0 } else { 4.0 }).collect();
    let bests = |session: &Tuned| {
        techniques(session, "")
            .iter()
            .map(|row| row.bests)
            .sum::<usize>()
    };
    assert_eq!(bests(&session), 8);
    assert_eq!(session.compared(15), Some(20.0));
    let page = html(&space(), &session, &texts()).unwrap();
    assert!(page.contains("at the pace that the machine had"), "{page}");
}
