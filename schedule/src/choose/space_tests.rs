//! Configurations of the space of schedules are schedules, and these mean their computation.

use proptest::prelude::*;

use super::super::super::named_tests::matmul;
use super::super::super::random_tests::agrees;
use super::super::decide::decide;
use super::super::knobs::{TileLoop, draw_at_random};
use super::super::tests::small;
use super::*;
use crate::check::check;
use crate::legality::Subject;
use crate::random_tests::any_computation;
use crate::schedule::LevelName;
use mdh_algebra::examples::{Builder, d, matvec, summed_area};
use mdh_algebra::random::Random;
use mdh_algebra::scalar::ScalarType::{F32, F64};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_configuration_gives_the_oracles_result(c in any_computation(), seed in any::<u64>()) {
        let mut random = Random::new(seed);
        let (asm, facts, group) = small(&mut random);
        let parts = [SearchedParts::Model, SearchedParts::All][random.below(2) as usize];
        let Some(space) = ScheduleSpace::new(&c, &asm, facts, group, parts) else {
            return Ok(());
        };
        let Some(values) = draw_at_random(&space, Vec::new(), &mut random) else {
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
        let parts = [SearchedParts::Model, SearchedParts::All][random.below(2) as usize];
        let Some(space) = ScheduleSpace::new(&c, &asm, facts, group, parts) else {
            return Ok(());
        };
        let Some(ModelChoice { values, .. }) = space.default() else {
            return Ok(());
        };
        for n in 1..=values.len() {
            prop_assert!(space.allows(&values[..n]), "{}", space.knobs()[n - 1].name);
        }
    }
}

fn usual(c: &Computation) -> ScheduleSpace {
    with(c, SearchedParts::Model)
}

fn with(c: &Computation, parts: SearchedParts) -> ScheduleSpace {
    let asm = Asm::builtin("cpu").unwrap();
    ScheduleSpace::new(c, &asm, Facts::new(&asm).unwrap(), 1, parts).unwrap()
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
        let default = space.default().unwrap();
        let (values, chosen) = (default.values, default.schedule);
        assert!(default.is_exact, "{chosen}");
        let rebuilt = space.schedule(&values);
        assert!(space.objections(&rebuilt).is_empty(), "{rebuilt}");
        let parts = |schedule: &Schedule| -> Vec<String> {
            let order = schedule.decompose.order.iter().flatten();
            order.map(|level| level.dimension.clone()).collect()
        };
        assert_eq!(parts(&rebuilt), parts(&chosen), "{rebuilt}\n{chosen}");
        assert_eq!(
            rebuilt.inputs.keys().collect::<Vec<_>>(),
            chosen.inputs.keys().collect::<Vec<_>>()
        );
        let innermost = |schedule: &Schedule| -> Vec<_> {
            let layers = schedule.layers.iter();
            layers
                .filter(|l| ["core", "register", "simd"].contains(&&*l.name))
                .cloned()
                .collect()
        };
        assert_eq!(innermost(&rebuilt), innermost(&chosen));
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
        let values = space.default().unwrap().values;
        let cycles = space.cycles(&values).unwrap();
        let decided = decide(&c, &space.asm, space.facts, space.group, &space.views);
        if let Some(counted) = decided.unwrap().1.cycles {
            assert!(
                (cycles / counted - 1.0).abs() < 0.05,
                "{cycles} and {counted}"
            );
        }
        let mut random = Random::new(1);
        let drawn = (0..300).filter_map(|_| draw_at_random(&space, Vec::new(), &mut random));
        let fewer = drawn.filter(|values| space.cycles(values).unwrap() < cycles);
        let fewer = fewer.count();
        assert!(fewer <= 6, "{fewer} of 300 take fewer than {cycles}");
    }
}

/// Checks: nothing is counted of prefix-sums, and something of what combines nothing.
#[test]
fn cycles_of_other_computations() {
    let of_first = |c: &Computation| {
        let space = usual(c);
        let values = space.default().unwrap().values;
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
            let values = draw_at_random(&space, Vec::new(), &mut random).unwrap();
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

/// The positions of the loops outside of registers, by their names, in a configuration.
fn loops_of(space: &ScheduleSpace, c: &Computation, values: &[usize]) -> Option<Vec<LevelName>> {
    let schedule = space.schedule(values);
    if !space.objections(&schedule).is_empty() {
        return None;
    }
    let resolved = check(&schedule, c, &space.asm).unwrap();
    let subject = Subject {
        computation: c,
        schedule: &schedule,
        resolved: &resolved,
    };
    let loops = subject.loops();
    let (leaf, _) = subject.leaf(&loops);
    Some(
        loops[..leaf]
            .iter()
            .map(|l| resolved.name(l.level))
            .collect(),
    )
}

/// Checks: what keeps a loop for others has it, outside of registers, and around it loops only that move
/// what is computed there; each such loop is kept by some configuration.
#[test]
fn loops_for_others_are_there() {
    for c in [
        matmul(F32, 96, 40, 64),
        matvec(F32, 512, 512),
        summed_area(64, 64),
    ] {
        let space = usual(&c);
        let names = c.names();
        let mut random = Random::new(1);
        let drawn = (0..3000).filter_map(|_| draw_at_random(&space, Vec::new(), &mut random));
        let drawn: Vec<Vec<usize>> = drawn.collect();
        let subsets = (1..1 << names.len()).map(|bits: usize| -> Vec<usize> {
            (0..names.len()).filter(|d| bits >> d & 1 == 1).collect()
        });
        for moving in subsets {
            for level in space.levels(&moving) {
                let at = TileLoop {
                    level: level.clone(),
                    moving: moving.clone(),
                    inputs: Vec::new(),
                };
                let keeps = |values: &&Vec<usize>| {
                    let decided = (0..values.len()).filter(|n| space.decides(*n));
                    decided.into_iter().all(|n| space.keeps(&values[..=n], &at))
                };
                let nests = drawn.iter().filter(keeps);
                let nests: Vec<_> = nests
                    .filter_map(|values| loops_of(&space, &c, values))
                    .collect();
                for loops in &nests {
                    // A core may have one part of a dimension, which knobs of cores do not know.
                    let of_core = LevelName::new("core", &level.dimension);
                    let place = loops.iter().position(|name| *name == level);
                    if place.is_none() && loops.contains(&of_core) {
                        continue;
                    }
                    let place = place.unwrap_or_else(|| panic!("no {level} in {loops:?}"));
                    let moves =
                        |outer: &LevelName| moving.iter().any(|d| names[*d] == outer.dimension);
                    assert!(loops[..place].iter().all(moves), "{level} in {loops:?}");
                }
                assert!(!nests.is_empty(), "{level} where {moving:?} move");
            }
        }
    }
}

/// Checks: sums that are cut have loops for others, and so have cores that share a sum.
#[test]
fn loops_of_sums_are_for_others() {
    let space = usual(&matmul(F32, 96, 40, 64));
    let levels = space.levels(&[0, 2]);
    let levels: Vec<String> = levels.iter().map(LevelName::to_string).collect();
    let [.., last] = &levels[..] else {
        panic!("{levels:?}")
    };
    assert!(levels.contains(&"core.k".into()), "{levels:?}");
    assert!(levels.contains(&"main.k".into()), "{levels:?}");
    // A block may be as long as the 40 of `j`, so that no loop of that is around those in tiles.
    assert_eq!(last, "L2.i");
    let long = usual(&matmul(F32, 96, 4000, 64)).levels(&[0, 2]);
    assert!(long.iter().all(|level| level.layer != "L2"), "{long:?}");
}

/// Checks: of two loops, the outer one is outside.
#[test]
fn loops_for_others_are_nested() {
    let c = matmul(F32, 96, 40, 64);
    let space = usual(&c);
    let mut random = Random::new(1);
    let drawn = (0..500).filter_map(|_| draw_at_random(&space, Vec::new(), &mut random));
    let mut both = [0, 0];
    for values in drawn {
        let Some(loops) = loops_of(&space, &c, &values) else {
            continue;
        };
        for layer in ["L3", "L2"] {
            let [i, j] = ["i", "j"].map(|d| LevelName::new(layer, d));
            let place = |level: &LevelName| loops.iter().position(|own| own == level);
            let (Some(at_i), Some(at_j)) = (place(&i), place(&j)) else {
                continue;
            };
            let is_outside = (1..=values.len()).all(|n| space.is_outside(&values[..n], &i, &j));
            assert_eq!(is_outside, at_i < at_j, "{loops:?}");
            both[usize::from(is_outside)] += 1;
        }
    }
    assert!(both.iter().all(|n| *n > 20), "{both:?}");
}

/// The same values of another space; none where it has not all of them, or does not allow them.
fn values_in(other: &ScheduleSpace, space: &ScheduleSpace, values: &[usize]) -> Option<Vec<usize>> {
    let pairs = space.knobs().iter().zip(other.knobs()).zip(values);
    let at =
        pairs.map(|((source, knob), n)| knob.values.iter().position(|v| *v == source.values[*n]));
    let positions = at.collect::<Option<Vec<usize>>>()?;
    let is_allowed = (1..=positions.len()).all(|n| other.allows(&positions[..n]));
    is_allowed.then_some(positions)
}

/// Checks: with all parts, what the model would consider is there and means the same, and most of what is drawn is new.
#[test]
fn all_parts_are_more_than_those_of_the_model() {
    let c = matmul(F32, 1024, 1000, 512);
    let (few, all) = (usual(&c), with(&c, SearchedParts::All));
    let mut random = Random::new(1);
    let mut new = 0;
    for _ in 0..100 {
        let usual = draw_at_random(&few, Vec::new(), &mut random).unwrap();
        let same = values_in(&all, &few, &usual).unwrap();
        assert_eq!(all.schedule(&same), few.schedule(&usual));
        let drawn = draw_at_random(&all, Vec::new(), &mut random).unwrap();
        new += usize::from(values_in(&few, &all, &drawn).is_none());
    }
    assert!(new > 50, "{new} of 100 are new");
}
