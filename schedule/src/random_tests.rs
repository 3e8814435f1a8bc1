//! Random schedules of random computations: every accepted one gives the oracle's result, visits
//! every point once, and survives both spellings.

use std::collections::BTreeMap;

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::random_schedule::{machine, random_schedule};
use super::*;
use crate::asm::Asm;
use mdh_algebra::code::Op;
use mdh_algebra::computation::{Combine, Computation, Place};
use mdh_algebra::domain::{Grid, points};
use mdh_algebra::examples::{Builder, d, drawn, straight};
use mdh_algebra::oracle::arrays::Arrays;
use mdh_algebra::oracle::{Errors, Evaluator};
use mdh_algebra::random::Random;
use mdh_algebra::scalar::{Scalar, ScalarType::I64};

/// Random computations over integers.
pub(crate) fn any_computation() -> impl Strategy<Value = Computation> {
    let grid = (-3i64..4, 1i64..6, 1i64..4, 1i64..4);
    let dims = proptest::collection::vec((grid, 0..3), 1..4);
    let maps = proptest::collection::vec(proptest::collection::vec(-2i64..3, 4), 4);
    (dims, 0..6usize, maps).prop_map(|(dims, operator, maps)| drawn(dims, operator, maps))
}

/// An accepted schedule, or `None` if none is found soon.
fn accepted(random: &mut Random, c: &Computation, asm: &Asm) -> Option<(Schedule, Resolved)> {
    (0..40).find_map(|_| {
        let schedule = random_schedule(random, c, asm);
        let resolved = check(&schedule, c, asm).ok()?;
        Some((schedule, resolved))
    })
}

pub(super) fn agrees(
    c: &Computation,
    resolved: &Resolved,
    random: &mut Random,
) -> Result<(), TestCaseError> {
    let mut arrays = Arrays::new(c, |_, _| Scalar::from_i64(I64, random.below(9) as i64 - 4));
    let run = execute(c, resolved, &mut arrays);
    let run = run.map_err(|e| TestCaseError::fail(e.to_string()))?;
    let mut oracle = Evaluator::new(c, Errors::Bounded).unwrap();
    let expected = oracle.all_results(&mut arrays).unwrap();
    for (place, elements) in expected {
        let Place::Output(n) = place else { continue };
        let shape = &c.outputs[n].shape;
        let grids: Vec<_> = shape.iter().map(|n| Grid::dense(n.unwrap())).collect();
        let before = &arrays.elements[c.inputs.len() + n];
        for ((index, expected), before) in points(&grids).zip(elements).zip(before) {
            let result = run.outputs[n].get(&index).unwrap_or(&before.value);
            prop_assert_eq!(
                result.bits,
                expected.value.bits,
                "output {} at {:?}",
                n,
                index
            );
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn accepted_schedules_give_the_oracles_result(c in any_computation(), seed in any::<u64>()) {
        let mut random = Random::new(seed);
        let asm = machine(&mut random);
        let Some((schedule, resolved)) = accepted(&mut random, &c, &asm) else {
            return Ok(());
        };
        let printed = schedule.to_string();
        agrees(&c, &resolved, &mut random)
            .map_err(|e| TestCaseError::fail(format!("{e}\n{printed}")))?;
        // Every point once.
        let tiles = resolved.tiles(&[]).unwrap();
        let visits = walk(&resolved, &tiles);
        let distinct: BTreeSet<_> = visits.iter().map(|v| v.numbers.clone()).collect();
        prop_assert_eq!(visits.len(), distinct.len());
        prop_assert_eq!(visits.len() as i64, tiles.points.iter().product::<i64>());
    }

    #[test]
    fn spellings_lose_nothing(c in any_computation(), seed in any::<u64>()) {
        let mut random = Random::new(seed);
        let asm = machine(&mut random);
        let schedule = random_schedule(&mut random, &c, &asm);
        let text = schedule.to_string();
        let read: Result<Schedule, _> = text.parse();
        prop_assert_eq!(read.as_ref(), Ok(&schedule), "{}", text);
        let json = schedule.to_json();
        let read = Schedule::from_json(&json);
        prop_assert_eq!(read.as_ref(), Ok(&schedule), "{}", json);
    }
}

/// Neighbours that several accesses share, and inputs that depend on some dimensions only.
#[test]
fn stencils_and_products_give_the_oracles_result() {
    let sum = [(Op::Addi, &[0, 1][..], I64), (Op::Addi, &[2, 3], I64)];
    let mut stencil = Builder::new(&[7, 5], &[Combine::Cc, Combine::Cc], vec![])
        .input(I64, &[9, 5], &[d(0), d(1)])
        .scalar(straight(&[I64; 3], &sum, &[4], &[I64]))
        .output(I64, &[7, 5], &[d(0), d(1)])
        .0;
    for halo in 1..3 {
        let access = stencil.inputs[0]
            .clone()
            .access(halo, &[d(0) + halo as i64, d(1)]);
        stencil.inputs[0] = access;
    }
    let product = super::named_tests::matmul(I64, 5, 3, 7);
    for seed in 0..150 {
        let mut random = Random::new(seed);
        let asm = machine(&mut random);
        for c in [&stencil, &product] {
            if let Some((schedule, resolved)) = accepted(&mut random, c, &asm) {
                let agrees = agrees(c, &resolved, &mut random);
                assert!(agrees.is_ok(), "{agrees:?}\n{schedule}");
            }
        }
    }
}

/// The parameters of table 1, each with true if it is away from its default.
fn differences(resolved: &Resolved, plain: &Resolved) -> Vec<(&'static str, bool)> {
    let input = |is_away: fn(&InputPlan, &InputPlan) -> bool| {
        let mut pairs = resolved.inputs.iter().zip(&plain.inputs);
        pairs.any(|(a, b)| is_away(a, b))
    };
    let output = |is_away: fn(&OutputPlan, &OutputPlan) -> bool| {
        let mut pairs = resolved.outputs.iter().zip(&plain.outputs);
        pairs.any(|(a, b)| is_away(a, b))
    };
    vec![
        ("0", resolved.counts != plain.counts),
        ("D1", resolved.decompose.order != plain.decompose.order),
        ("D2", resolved.decompose.assign != plain.decompose.assign),
        ("D3", input(|a, b| a.region != b.region)),
        ("D4", input(|a, b| a.layout != b.layout)),
        ("S1", resolved.scalar.order != resolved.decompose.order),
        ("S2", resolved.scalar.assign != resolved.decompose.assign),
        ("S3", input(|a, _| a.scalar != 0)),
        (
            "S4",
            input(|a, _| a.scalar_layout != StagedLayout::row_major()),
        ),
        ("S5", output(|a, _| a.scalar != 0)),
        (
            "S6",
            output(|a, _| a.scalar_layout != StagedLayout::row_major()),
        ),
        ("R1", resolved.recompose.order != resolved.scalar.order),
        ("R2", resolved.recompose.assign != resolved.scalar.assign),
        ("R3", output(|a, b| a.region != b.region)),
        ("R4", output(|a, b| a.layout != b.layout)),
        ("several nests", resolved.nests().len() > 1),
    ]
}

/// Every parameter of table 1 is away from its default often enough for the property above to
/// mean something.
#[test]
fn accepted_schedules_cover_table_1() {
    let mut random = Random::new(11);
    let c = mdh_algebra::examples::matvec(I64, 5, 7);
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut cases = 0;
    for _ in 0..400 {
        let asm = machine(&mut random);
        let Some((_, resolved)) = accepted(&mut random, &c, &asm) else {
            continue;
        };
        cases += 1;
        let plain = Resolved::new(&Schedule::default(), &c, &asm).unwrap();
        let tiles = resolved.tiles(&[]).unwrap();
        let copies = allocations(&resolved, &c, &tiles).unwrap();
        let copies = ("copies", !copies.is_empty());
        for (name, differs) in differences(&resolved, &plain).into_iter().chain([copies]) {
            *seen.entry(name).or_default() += usize::from(differs);
        }
    }
    assert!(cases > 300, "{cases}");
    for (name, times) in &seen {
        assert!(
            *times * 20 >= cases,
            "{name}: {times} of {cases} in {seen:?}"
        );
    }
}
