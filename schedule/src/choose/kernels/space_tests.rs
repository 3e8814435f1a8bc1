//! Configurations of the space of a GPU's schedules are schedules, and these mean their computation.

use proptest::prelude::*;

use super::*;
use crate::asm::CudaFacts;
use crate::choose::knobs::draw_at_random;
use crate::named_tests::matmul;
use crate::random_tests::agrees;
use crate::random_tests::any_computation;
use mdh_algebra::code::{Code, Op};
use mdh_algebra::computation::Combine;
use mdh_algebra::examples::{Builder, d, matvec};
use mdh_algebra::operator::{Builtin, Operator};
use mdh_algebra::random::Random;
use mdh_algebra::scalar::ScalarType::{self, F32, I64};

fn cuda() -> Asm {
    Asm::cuda(&CudaFacts::default())
}

/// A window that moves along both dimensions of an image.
fn convolution(ty: ScalarType, size: i64) -> Computation {
    let combine = [Combine::Cc, Combine::Cc, Combine::Pw(0), Combine::Pw(0)];
    let (mul, add) = match ty.is_float() {
        true => (Op::Mulf, Builtin::Addf),
        false => (Op::Muli, Builtin::Addi),
    };
    let add = vec![Operator::Builtin(vec![add])];
    let c = Builder::new(&[size, size + 2, 5, 3], &combine, add);
    let c = c.input(ty, &[size + 4, size + 4], &[d(0) + d(2), d(1) + d(3)]);
    let c = c.input(ty, &[5, 3], &[d(2), d(3)]);
    let c = c.scalar(Code::single(mul, ty));
    c.output(ty, &[size, size + 2], &[d(0), d(1)]).0
}

fn any_parts(random: &mut Random) -> SearchedParts {
    [SearchedParts::Model, SearchedParts::All][random.below(2) as usize]
}

/// The schedule of a configuration that is drawn, if it keeps all rules.
fn drawn(space: &KernelSpace, random: &mut Random) -> Option<Schedule> {
    let values = draw_at_random(space, Vec::new(), random)?;
    let schedule = space.schedule(&values);
    space.objections(&schedule).is_empty().then_some(schedule)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_configuration_gives_the_oracles_result(c in any_computation(), seed in any::<u64>()) {
        let mut random = Random::new(seed);
        let asm = cuda();
        let Some(space) = KernelSpace::new(&c, &asm, any_parts(&mut random)) else {
            return Ok(());
        };
        for _ in 0..4 {
            let Some(schedule) = drawn(&space, &mut random) else { continue };
            let resolved = check(&schedule, &c, &asm).unwrap();
            agrees(&c, &resolved, &mut random)
                .map_err(|e| TestCaseError::fail(format!("{e}\n{schedule}")))?;
        }
    }

    #[test]
    fn the_default_is_a_configuration(c in any_computation()) {
        let Some(space) = KernelSpace::new(&c, &cuda(), SearchedParts::Model) else {
            return Ok(());
        };
        let default = space.default().unwrap();
        let (values, chosen) = (default.values, default.schedule);
        for n in 1..=values.len() {
            prop_assert!(space.allows(&values[..n]), "{}", space.knobs()[n - 1].name);
        }
        prop_assert_eq!(space.schedule(&values), chosen);
    }
}

/// Checks: those that threads and shared memory have much of, too.
#[test]
fn large_blocks_give_the_oracles_result() {
    let mut random = Random::new(5);
    let cases = [
        matmul(I64, 17, 29, 11),
        matmul(I64, 12, 30, 18),
        matvec(I64, 20, 70),
        convolution(I64, 9),
    ];
    let both = [SearchedParts::Model, SearchedParts::All];
    for (c, parts) in cases.iter().flat_map(|c| both.map(|parts| (c, parts))) {
        let space = KernelSpace::new(c, &cuda(), parts).unwrap();
        let mut several = 0;
        for _ in 0..40 {
            let Some(schedule) = drawn(&space, &mut random) else {
                continue;
            };
            let resolved = check(&schedule, c, &cuda()).unwrap();
            let same = agrees(c, &resolved, &mut random);
            assert!(same.is_ok(), "{same:?}\n{schedule}");
            several += i32::from(schedule != space.chosen);
        }
        assert!(several >= 12, "{several} of 40");
    }
}

/// Checks: constraints leave little for the checks of all schedules to reject.
#[test]
fn few_configurations_are_rejected() {
    let cases = [
        matmul(F32, 1024, 1000, 512),
        matvec(F32, 4096, 4096),
        convolution(F32, 4096),
    ];
    let both = [SearchedParts::Model, SearchedParts::All];
    for (c, parts) in cases.iter().flat_map(|c| both.map(|parts| (c, parts))) {
        let space = KernelSpace::new(c, &cuda(), parts).unwrap();
        let mut random = Random::new(1);
        let mut why = Vec::new();
        for _ in 0..400 {
            let Some(values) = draw_at_random(&space, Vec::new(), &mut random) else {
                continue;
            };
            why.extend(space.objections(&space.schedule(&values)).first().cloned());
        }
        assert!(why.len() < 80, "{} of 400 rejected: {why:#?}", why.len());
    }
}
