//! Schedules of kernels are valid, mean their computation, and depend on maps and machine alone.

use proptest::prelude::*;

use super::super::super::named_tests::{matmul, name};
use super::super::tests::means;
use super::*;
use crate::asm::{CudaFacts, facts};
use crate::random_tests::any_computation;
use crate::schedule::Schedule;
use mdh_algebra::computation::{Access, Combine};
use mdh_algebra::examples::{Builder, d, matvec, summed_area};
use mdh_algebra::random::Random;
use mdh_algebra::scalar::Scalar;
use mdh_algebra::scalar::ScalarType::F32;

fn cuda() -> Asm {
    Asm::cuda(&CudaFacts::default())
}

/// The name of the shape that was taken.
fn shape(c: &Computation, asm: &Asm) -> String {
    let choice = choose(c, asm).unwrap();
    let last = choice.reasons.last().unwrap();
    last.split(':').next().unwrap().to_string()
}

fn transpose() -> Computation {
    let combine = [Combine::Cc, Combine::Cc];
    let c = Builder::new(&[500, 700], &combine, vec![]).input(F32, &[500, 700], &[d(0), d(1)]);
    c.id().output(F32, &[700, 500], &[d(1), d(0)]).0
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn every_choice_gives_the_oracles_result(c in any_computation(), seed in any::<u64>()) {
        let mut random = Random::new(seed);
        let asm = Asm::cuda(&CudaFacts {
            threads_per_block: [32, 64, 1024][random.below(3) as usize],
            shared: [64, 4096, facts::SHARED][random.below(3) as usize],
            ..CudaFacts::default()
        });
        let Some(choice) = choose(&c, &asm) else {
            // No points at all.
            return Ok(());
        };
        means(&choice, &c, &asm, &mut random)?;
    }
}

#[test]
fn shapes_follow_from_the_maps() {
    let asm = cuda();
    assert_eq!(shape(&matmul(F32, 512, 512, 512), &asm), "tiles");
    // 16 blocks, each of which would go through all of a long sum.
    assert_eq!(shape(&matmul(F32, 16, 1000, 2048), &asm), "shared sums");
    assert_eq!(shape(&matmul(F32, 16, 1000, 64), &asm), "tiles");
    assert_eq!(shape(&transpose(), &asm), "transposed");
    assert_eq!(shape(&matvec(F32, 4096, 4096), &asm), "rows");
    assert_eq!(shape(&summed_area(100, 200), &asm), "one thread");
}

/// Tiles in shared memory hold what is beyond an input as they hold what is in it.
#[test]
fn padding_does_not_matter() {
    let asm = cuda();
    let combine = [Combine::Cc, Combine::Cc];
    let near = [[0, 0], [-1, 0], [1, 0], [0, -1], [0, 1]].map(|[a, b]| vec![d(0) + a, d(1) + b]);
    let c = Builder::new(&[512, 512], &combine, vec![]).input(F32, &[512, 512], &near[0]);
    let mut stencil = c.id().output(F32, &[512, 512], &[d(0), d(1)]).0;
    let accesses = near.map(|map| Access { map, component: 0 });
    stencil.inputs[0].accesses = accesses.to_vec();
    for (mut c, name) in [
        (stencil, "neighbours"),
        (transpose(), "transposed"),
        (matmul(F32, 512, 512, 512), "tiles"),
    ] {
        c.inputs[0].pad = Some(Scalar::zero(F32));
        assert_eq!(shape(&c, &asm), name);
        let schedule = choose(&c, &asm).unwrap().schedule;
        assert!(!schedule.inputs[&c.inputs[0].name].stage.is_empty());
    }
}

#[test]
fn names_do_not_matter() {
    let asm = cuda();
    let c = matmul(F32, 512, 512, 512);
    let mut renamed = c.clone();
    name(
        &mut renamed,
        &["p", "q", "r"],
        &["left", "right"],
        &["product"],
    );
    let mut text = choose(&c, &asm).unwrap().schedule.to_string();
    for (from, to) in [("i", "p"), ("j", "q"), ("k", "r")] {
        text = text.replace(&format!(" {from}:"), &format!(" {to}:"));
        text = text.replace(&format!("{{{from}:"), &format!("{{{to}:"));
        text = text.replace(&format!(".{from}"), &format!(".{to}"));
    }
    for (from, to) in [("A:", "left:"), ("B:", "right:"), ("C:", "product:")] {
        text = text.replace(from, to);
    }
    let expected: Schedule = text.parse().unwrap();
    assert_eq!(choose(&renamed, &asm).unwrap().schedule, expected);
}

/// An invented machine: fewer threads, and hardly any shared memory.
#[test]
fn the_machine_matters() {
    let c = matmul(F32, 512, 512, 512);
    let small = Asm::cuda(&CudaFacts {
        threads_per_block: 64,
        ..CudaFacts::default()
    });
    let threads = |asm: &Asm| -> i64 {
        let layers = choose(&c, asm).unwrap().schedule.layers;
        let parts = layers.iter().filter(|layer| layer.name == "thread");
        let parts = parts.flat_map(|layer| layer.parts.values());
        let number = |parts: &Parts| match parts {
            Parts::Fixed(number) => *number,
            Parts::Derived => 1,
        };
        parts.map(number).product()
    };
    assert_eq!(threads(&cuda()), 256);
    assert!(threads(&small) <= 64);
    let without = Asm::cuda(&CudaFacts {
        shared: 64,
        ..CudaFacts::default()
    });
    assert_eq!(
        shape(&c, &without),
        "points",
        "{:?}",
        choose(&c, &without).unwrap().reasons
    );
    assert!(choose(&c, &without).unwrap().reasons[0].starts_with("not tiles: breaks"));
}
