//! Checks can fail: of every workload and every example, results that are wrong are caught. A call's
//! results are changed after it, one way at a time, and held against the definition again; so are results in
//! integers, which stand for floats.

use std::path::{Path, PathBuf};

use mdh_algebra::scalar::{Scalar, ScalarType};
use mdh_exec::ArraySlot;

use mdh_bench::workloads::{self, Scale};
use mdh_compiler::check::Expectation;
use mdh_compiler::cli::{CheckHow, Range, RunArguments};
use mdh_compiler::execute::Call;
use mdh_compiler::host::Host;
use mdh_compiler::run_command::run_and;
use mdh_compiler::source::Source;
use mdh_compiler::values::Tensor;

fn tensor<'c>(call: &'c mut Call, place: &ArraySlot) -> &'c mut Tensor {
    match place {
        ArraySlot::Argument(n) => &mut call.arguments[*n],
        ArraySlot::Result(n) => &mut call.results[*n],
    }
}

/// Puts elements into an output, and says whether the check fails with them.
fn is_caught(
    expectation: &Expectation,
    call: &mut Call,
    place: &ArraySlot,
    changes: &[(usize, Scalar)],
) -> bool {
    let output = tensor(call, place);
    let before: Vec<Scalar> = changes.iter().map(|(at, _)| output.get(*at)).collect();
    changes
        .iter()
        .for_each(|(at, value)| output.set(*at, *value));
    let is_caught = expectation.hold(call).1.is_some();
    let output = tensor(call, place);
    let changed = changes.iter().zip(before);
    changed.for_each(|((at, _), value)| output.set(*at, value));
    is_caught
}

/// Another value, not far away.
fn other(value: Scalar) -> Scalar {
    let ty = value.ty;
    match (ty, value.as_f64()) {
        (ScalarType::I1, _) => Scalar::from_bool(!value.is_true()),
        _ if !ty.is_float() => Scalar::from_i64(ty, value.as_i64().wrapping_add(1)),
        (_, x) if x.is_finite() && x != 0.0 => Scalar::from_f64(ty, 1.5 * x),
        _ => Scalar::from_f64(ty, 1.0),
    }
}

/// Pairs of unequal elements: the smallest and the largest, and the first two neighbours.
fn unequal(values: &[Scalar]) -> Vec<[usize; 2]> {
    let order = |a: &usize, b: &usize| values[*a].as_f64().total_cmp(&values[*b].as_f64());
    let ends = (0..values.len())
        .min_by(order)
        .zip((0..values.len()).max_by(order));
    let differ = |[a, b]: &[usize; 2]| !values[*a].same_value(values[*b]);
    let neighbours = (1..values.len()).map(|at| [at - 1, at]).find(differ);
    let ends = ends.map(|(a, b)| [a, b]).filter(differ);
    ends.into_iter().chain(neighbours).collect()
}

/// Returns mistakes that pass unnoticed.
fn uncaught(expectation: &Expectation, call: &mut Call) -> Vec<String> {
    let mut passed = Vec::new();
    let places: Vec<ArraySlot> = expectation.outputs().map(|(place, _)| place).collect();
    for place in places {
        let output = tensor(call, &place);
        let values: Vec<Scalar> = (0..output.len()).map(|at| output.get(at)).collect();
        let zeros = values.iter().enumerate();
        let zeros: Vec<_> = zeros
            .map(|(at, value)| (at, Scalar::zero(value.ty)))
            .collect();
        // In integers, results may be zero, all of them.
        let is_change = zeros
            .iter()
            .any(|(at, zero)| !values[*at].same_value(*zero));
        if is_change && !is_caught(expectation, call, &place, &zeros) {
            passed.push(format!("zeros in {place:?}"));
        }
        for at in [0, values.len() / 2, values.len() - 1] {
            let wrong = other(values[at]);
            if !is_caught(expectation, call, &place, &[(at, wrong)]) {
                passed.push(format!("{wrong} for {} at {at} in {place:?}", values[at]));
            }
        }
        for [a, b] in unequal(&values) {
            if !is_caught(expectation, call, &place, &[(a, values[b]), (b, values[a])]) {
                let (x, y) = (values[a], values[b]);
                passed.push(format!("{x} at {a} and {y} at {b} exchanged in {place:?}"));
            }
        }
    }
    passed
}

/// Runs a program, as it is and in integers, and holds wrong results against its definition.
fn assert_caught(source: &Source, ranges: &[Range]) {
    for how in [CheckHow::All, CheckHow::Exact] {
        assert_caught_by(how, source, ranges.to_vec());
    }
}

fn assert_caught_by(how: CheckHow, source: &Source, ranges: Vec<Range>) {
    let command = RunArguments {
        ranges,
        check: Some(how),
        ..RunArguments::new(Path::new(source.name()))
    };
    let mut passed = None;
    let report = run_and(
        &Host::this().unwrap(),
        source,
        &command,
        |expectation, call| {
            passed = Some(uncaught(expectation, call));
        },
    );
    let check = report.unwrap().check.unwrap();
    let name = source.name();
    assert!(
        check.passed && check.compared == check.elements,
        "{name}: {check:?}"
    );
    // Zero is one integer of many, and no bound depends on it.
    if how == CheckHow::All {
        assert_eq!(check.weak, [""; 0], "{name}: {check:?}");
    }
    assert_eq!(passed.unwrap(), [""; 0], "{name}");
}

#[test]
fn of_every_workload() {
    for case in workloads::all(Scale::Quick).unwrap() {
        let source = Source::from_text(&case.name(), &case.program().unwrap());
        // Of those in the table, some are of other sizes' inputs.
        let mut ranges = case.ranges();
        let is_input = |name: &String| case.program().unwrap().contains(&format!("%{name}: "));
        ranges.retain(|range| range.name.as_ref().is_none_or(is_input));
        assert_caught(&source, &ranges);
    }
}

#[test]
fn of_every_example() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let mut files: Vec<PathBuf> = Vec::new();
    for folder in [examples.clone(), examples.join("tdsl")] {
        let entries = std::fs::read_dir(folder).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        files.extend(paths.filter(|path| {
            let extension = path.extension().and_then(|e| e.to_str());
            matches!(extension, Some("mlir" | "tdsl"))
        }));
    }
    files.sort();
    assert!(files.len() > 30, "{files:?}");
    for file in files {
        // Half of what a rectifier gives of random numbers around zero is zero.
        let ranges = match file.ends_with("layer.tdsl") {
            true => vec!["0.5..1.5".parse().unwrap()],
            false => Vec::new(),
        };
        assert_caught(&Source::read(&file).unwrap(), &ranges);
    }
}
