//! Estimates follow from sizes, schedules and machines as they must.

use super::*;
use crate::choose_kernels;
use crate::named_tests::matmul;
use mdh_algebra::examples::matvec;
use mdh_algebra::scalar::ScalarType::{F32, F64};

fn estimated(computation: &Computation, gpu: &str) -> Estimate {
    let gpu = Gpu::named(gpu).unwrap();
    let asm = gpu.asm();
    let choice = choose_kernels(computation, &asm).unwrap();
    let resolved = Resolved::new(&choice.schedule, computation, &asm).unwrap();
    estimate(&resolved, computation, &gpu).unwrap()
}

#[test]
fn roofs_bound_what_they_must() {
    let product = estimated(&matmul(F32, 4096, 4096, 4096), "h200");
    assert!(
        ["computing", "shared memory"].contains(&product.bound().0),
        "{product:?}"
    );
    // No less than the operations at the peak.
    let peak = 132.0 * 128.0 * 2.0 * 1.98e9;
    assert!(product.time > 2.0 * 4096f64.powi(3) / peak);
    let rows = estimated(&matvec(F32, 16384, 16384), "h200");
    assert_eq!(rows.bound().0, "device memory");
    assert!(rows.time > 16384.0 * 16384.0 * 4.0 / 4.8e12);
    // Each element once, and the two vectors.
    assert_eq!(rows.device_bytes, (16384.0 * 16384.0 + 2.0 * 16384.0) * 4.0);
}

#[test]
fn better_machines_take_less_time() {
    let names = ["a100", "h100", "h200"];
    let times = |c: &Computation| names.map(|name| estimated(c, name).time);
    for c in [matmul(F32, 2048, 2048, 2048), matvec(F32, 8192, 8192)] {
        let times = times(&c);
        assert!(times.is_sorted_by(|a, b| a >= b), "{times:?}");
        assert!(times[0] > times[2], "{times:?}");
    }
}

#[test]
fn more_work_takes_more_time() {
    let mut last = 0.0;
    for n in [64, 256, 1024, 4096] {
        let time = estimated(&matmul(F32, n, n, n), "h200").time;
        assert!(time > last, "{n}: {time} after {last}");
        last = time;
    }
    let wide = estimated(&matmul(F64, 2048, 2048, 2048), "h200");
    let narrow = estimated(&matmul(F32, 2048, 2048, 2048), "h200");
    assert!(wide.time > narrow.time);
}

#[test]
fn a_grid_that_is_small_uses_a_part_of_the_machine() {
    let small = estimated(&matmul(F32, 64, 64, 2048), "h200");
    assert!(small.blocks < 132.0);
    // As many operations on more blocks take less time.
    let large = estimated(&matmul(F32, 512, 512, 32), "h200");
    assert!(small.blocks < large.blocks && small.roofs[0].1 > large.roofs[0].1);
    let few = estimated(&matvec(F32, 1, 100), "h200");
    assert!(few.reached < 0.01 && few.time < 1e-5, "{few:?}");
}

#[test]
fn nothing_is_estimated_of_unknown_sizes() {
    let mut open = matmul(F32, 64, 64, 64);
    open.dimensions[0].upper = None;
    let gpu = Gpu::named("h200").unwrap();
    let asm = gpu.asm();
    let choice = choose_kernels(&open, &asm).unwrap();
    let resolved = Resolved::new(&choice.schedule, &open, &asm).unwrap();
    assert_eq!(estimate(&resolved, &open, &gpu), None);
}
