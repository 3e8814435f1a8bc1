//! Configurations of the space of schedules are schedules, and these mean their computation.

use proptest::prelude::*;

use super::super::super::named_tests::matmul;
use super::super::super::random_tests::agrees;
use super::super::knobs::draw;
use super::super::tests::small;
use super::*;
use crate::examples::{Builder, d, matvec, summed_area};
use crate::oracle::tests::random_tests::any_computation;
use crate::random::Random;
use crate::scalar::ScalarType::{F32, F64};
use crate::schedule::check;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_configuration_gives_the_oracles_result(c in any_computation(), seed in any::<u64>()) {
        let mut random = Random::new(seed);
        let (asm, facts, group) = small(&mut random);
        let Some(space) = ScheduleSpace::of(&c, &asm, facts, group) else {
            return Ok(());
        };
        let Some(values) = draw(&space, Vec::new(), &mut random) else {
            return Err(TestCaseError::fail("a knob has no value that is allowed"));
        };
        prop_assert!(space.cycles(&values).is_none_or(|n| n.is_finite() && n > 0.0));
        let schedule = space.schedule(&values);
        if !space.objections(&schedule).is_empty() {
            return Ok(());
        }
        let resolved = check(&schedule, &c, &asm).unwrap();
        agrees(&c, &resolved, &mut random)
            .map_err(|e| TestCaseError::fail(format!("{e}\n{schedule}")))?;
    }

    #[test]
    fn the_default_is_a_configuration(c in any_computation(), seed in any::<u64>()) {
        let mut random = Random::new(seed);
        let (asm, facts, group) = small(&mut random);
        let Some(space) = ScheduleSpace::of(&c, &asm, facts, group) else {
            return Ok(());
        };
        let Some((values, _)) = space.default() else {
            return Ok(());
        };
        for n in 1..=values.len() {
            prop_assert!(space.allows(&values[..n]), "{}", space.knobs()[n - 1].name);
        }
    }
}

fn usual(c: &Computation) -> ScheduleSpace {
    let asm = Asm::builtin("cpu").unwrap();
    ScheduleSpace::of(c, &asm, Facts::of(&asm).unwrap(), 1).unwrap()
}

/// Checks: what the model chooses is in the space, up to names of layers.
#[test]
fn the_models_schedule_is_in_the_space() {
    for c in [
        matmul(F32, 1024, 1024, 1024),
        matvec(F32, 4096, 4096),
        matmul(F64, 500, 60, 70),
    ] {
        let space = usual(&c);
        let (values, chosen) = space.default().unwrap();
        let found = space.schedule(&values);
        assert!(space.objections(&found).is_empty(), "{found}");
        let parts = |schedule: &Schedule| -> Vec<String> {
            let order = schedule.decompose.order.iter().flatten();
            order.map(|level| level.dimension.clone()).collect()
        };
        assert_eq!(parts(&found), parts(&chosen), "{found}\n{chosen}");
        assert_eq!(
            found.inputs.keys().collect::<Vec<_>>(),
            chosen.inputs.keys().collect::<Vec<_>>()
        );
        let innermost = |schedule: &Schedule| -> Vec<_> {
            let layers = schedule.layers.iter();
            let kept = layers.filter(|l| ["core", "register", "simd"].contains(&&*l.name));
            kept.cloned().collect()
        };
        assert_eq!(innermost(&found), innermost(&chosen));
    }
}

/// Checks: of its own choice the model counts what it counted then, and hardly any other takes fewer.
#[test]
fn the_models_choice_takes_few_cycles() {
    for c in [
        matmul(F32, 1024, 1024, 1024),
        matvec(F32, 4096, 4096),
        matmul(F64, 500, 60, 70),
    ] {
        let space = usual(&c);
        let (values, _) = space.default().unwrap();
        let own = space.cycles(&values).unwrap();
        let decided = decide(&c, &space.asm, space.facts, space.group, &space.views);
        if let Some(counted) = decided.unwrap().1.cycles {
            assert!((own / counted - 1.0).abs() < 0.05, "{own} and {counted}");
        }
        let mut random = Random::new(1);
        let drawn = (0..300).filter_map(|_| draw(&space, Vec::new(), &mut random));
        let fewer = drawn.filter(|values| space.cycles(values).unwrap() < own);
        let fewer = fewer.count();
        assert!(fewer <= 6, "{fewer} of 300 take fewer than {own}");
    }
}

/// Checks: nothing is counted of prefix-sums, and something of what combines nothing.
#[test]
fn cycles_of_other_computations() {
    let of_first = |c: &Computation| {
        let space = usual(c);
        let (values, _) = space.default().unwrap();
        space.cycles(&values)
    };
    assert_eq!(of_first(&summed_area(64, 64)), None);
    let shape = [256, 512];
    let transposed = Builder::new(&shape, &[Combine::Cc; 2], Vec::new())
        .input(F32, &shape, &[d(0), d(1)])
        .id()
        .output(F32, &[512, 256], &[d(1), d(0)]);
    assert!(of_first(&transposed.0).unwrap() > 0.0);
}

/// Checks: constraints leave little for the checks of all schedules to reject.
#[test]
fn few_configurations_are_rejected() {
    for c in [
        matmul(F32, 1024, 1000, 512),
        matvec(F32, 4096, 4096),
        summed_area(64, 64),
    ] {
        let space = usual(&c);
        let mut random = Random::new(1);
        let mut why = Vec::new();
        for _ in 0..200 {
            let values = draw(&space, Vec::new(), &mut random).unwrap();
            why.extend(space.objections(&space.schedule(&values)).first().cloned());
        }
        assert!(
            why.len() < 40,
            "{} of 200 rejected: {:#?}",
            why.len(),
            &why[..5]
        );
    }
}
