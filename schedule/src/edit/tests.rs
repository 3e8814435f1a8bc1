//! Edits against the schedules that they make.

use super::print::spelled;
use super::*;
use crate::random_schedule::{machine, random_schedule};
use mdh_algebra::examples::matvec;
use mdh_algebra::random::Random;
use mdh_algebra::scalar::ScalarType::F32;

fn read_back(edit: &Edit) -> Edit {
    let value = serde_json::to_value(edit).unwrap();
    Edit::read(edit.name(), value[edit.name()].clone()).unwrap()
}

/// `apply(edits(s), t) = s`, and each edit is read back from its fields.
#[test]
fn edits_make_the_schedule() {
    let mut random = Random::new(1);
    let c = matvec(F32, 5, 6);
    let mut last = Schedule::default();
    for _ in 0..2000 {
        let asm = machine(&mut random);
        let schedule = random_schedule(&mut random, &c, &asm);
        for edit in edits(&schedule) {
            assert_eq!(read_back(&edit), edit);
            edit.apply(&mut last).unwrap();
        }
        assert_eq!(last, schedule);
    }
}

/// Checks: what no edit but the whole can say.
#[test]
fn odd_schedules() {
    for text in [
        "layers = [core {i: 2}, core {j: 2}, core {}]",
        "layers = [core {\"\": 2}], tails = {\"\": mask, i: peel}",
        "inputs = {A: {}, B: {scalar: L1}}, outputs = {C: {}}",
    ] {
        let schedule: Schedule = text.parse().unwrap();
        let mut rebuilt: Schedule = "asm = cpu, inputs = {D: {}}".parse().unwrap();
        for edit in edits(&schedule) {
            edit.apply(&mut rebuilt).unwrap();
        }
        assert_eq!(rebuilt, schedule);
    }
}

#[test]
fn an_edit_leaves_the_rest() {
    let layers = |edits: &[(&str, &str, i64, Option<&str>)]| -> Result<String, String> {
        let mut schedule = Schedule::default();
        for (layer, dimension, count, outside) in edits {
            let edit = Edit::Parts {
                layer: (*layer).into(),
                counts: [((*dimension).into(), Parts::Fixed(*count))].into(),
                outside: outside.map(Into::into),
            };
            edit.apply(&mut schedule)?;
        }
        Ok(spelled(&schedule.layers))
    };
    let both = [("core", "i", 2, None), ("L2", "i", 3, None)];
    let more = |edit| layers(&[both[0], both[1], edit]);
    assert_eq!(
        more(("core", "j", 4, None)),
        Ok("[core {i: 2, j: 4}, L2 {i: 3}]".into())
    );
    assert_eq!(
        more(("main", "k", 5, Some("core"))),
        Ok("[main {k: 5}, core {i: 2}, L2 {i: 3}]".into())
    );
    assert_eq!(
        more(("L2", "i", 1, Some("core"))),
        Ok("[L2 {i: 1}, core {i: 2}]".into())
    );
    assert_eq!(
        more(("core", "i", 1, Some("core"))),
        Ok("[core {i: 1}, L2 {i: 3}]".into())
    );
    let message = "found no layer 'L3' to put 'main' outside of, expected one of core, L2";
    assert_eq!(more(("main", "k", 5, Some("L3"))), Err(message.into()));
    let mut schedule: Schedule = "inputs = {A: {scalar: L1}}".parse().unwrap();
    let fields = r#"{"role": "input", "buffer": "A", "layout": "row_major"}"#;
    let edit = Edit::read("scalar", serde_json::from_str(fields).unwrap()).unwrap();
    edit.apply(&mut schedule).unwrap();
    assert_eq!(schedule.inputs["A"].scalar.as_deref(), Some("L1"));
    assert_eq!(
        schedule.inputs["A"].scalar_layout,
        Some(StagedLayout::default())
    );
}

#[test]
fn wrong_fields_are_refused() {
    let refused = |name: &str, fields: &str| {
        Edit::read(name, serde_json::from_str(fields).unwrap()).unwrap_err()
    };
    assert_eq!(
        refused("stage", r#"{"input": "A", "at": "main.i"}"#),
        "found neither a region nor a layout, expected 'in' or 'layout'"
    );
    assert_eq!(
        refused("stage", r#"{"input": "A", "at": "main"}"#),
        "invalid value: string \"main\", expected a level, 'layer.dimension'"
    );
    assert_eq!(
        refused("asm", r#"{"machine": "a\tb"}"#),
        "found \"a\\tb\", expected a name without control characters"
    );
    assert_eq!(
        refused("order", r#"{"phase": "first", "levels": []}"#),
        "unknown variant `first`, expected one of `decompose`, `scalar`, `recompose`"
    );
}
