//! Every constraint, by a schedule that breaks it: the message names both numbers.

use super::named_tests::{block, matmul, name};
use super::*;
use crate::asm::{Asm, CpuFacts, CudaFacts};
use mdh_algebra::computation::{Combine, Computation, Place};
use mdh_algebra::examples::{Builder, d, first_last, matrix_product, summed_area};
use mdh_algebra::operator::Operator;
use mdh_algebra::oracle::arrays::Arrays;
use mdh_algebra::oracle::{Errors, Evaluator};
use mdh_algebra::scalar::Scalar;
use mdh_algebra::scalar::ScalarType::{F32, I8, I32, I64};

fn cuda() -> Asm {
    Asm::cuda(&CudaFacts::default())
}

fn refusals(text: &str, c: &Computation, asm: &Asm) -> Vec<String> {
    let schedule: Schedule = text.parse().unwrap();
    let violations = check(&schedule, c, asm).err().unwrap_or_default();
    violations.iter().map(Violation::to_string).collect()
}

fn refused(text: &str) -> Vec<String> {
    refusals(text, &matmul(F32, 64, 64, 256), &cuda())
}

#[test]
fn names_are_known() {
    let text = "asm = opencl, layers = [blok {i: 2}, block {m: 2}, block {}],
        decompose = {order: [block.q], assign: {thread.i: thread.t, warp.i: cu.x}},
        inputs = {a: {}, A: {stage: {thread.i: shard, thread.l: shared}}},
        outputs = {D: {}, C: {scalar: thread}}, tails = {n: mask}";
    assert_eq!(
        refused(text),
        [
            "asm: the schedule is made for ASM 'opencl', found ASM 'cuda'",
            "unknown-layer: found layer 'blok', expected one of device, block, shared, warp, \
             thread, register, mma ('cuda')",
            "duplicate-layer: layer 'block' stands twice, expected 1 entry for each layer",
            "unknown-dimension: layer 'block': found dimension 'm', expected one of i, j, k",
            "unknown-dimension: 'order' of decompose: found dimension 'q', expected one of i, j, k",
            "permutation: 'order' of decompose names 0 of 21 levels and lacks 'device.i', which \
             has more than 1 part: an order is a permutation of the levels",
            "permutation: 'order' of decompose names 0 of 21 levels and lacks 'device.j', which \
             has more than 1 part: an order is a permutation of the levels",
            "permutation: 'order' of decompose names 0 of 21 levels and lacks 'device.k', which \
             has more than 1 part: an order is a permutation of the levels",
            "unknown-dimension: 'assign' of decompose: found ASM dimension 't', expected one of \
             x, y, z",
            "unknown-layer: 'assign' of decompose: found ASM layer 'cu', expected one of device, \
             block, shared, warp, thread, register, mma",
            "unknown-buffer: found input 'a', expected one of A, B",
            "unknown-region: input 'A': found region 'shard', expected one of device, shared, \
             register",
            "unknown-dimension: input 'A': found dimension 'l', expected one of i, j, k",
            "unknown-buffer: found output 'D', expected one of C",
            "unknown-region: output 'C': found region 'thread', expected one of device, shared, \
             register",
            "unknown-dimension: tails: found dimension 'n', expected one of i, j, k",
        ]
    );
}

#[test]
fn parts_stay_within_indices() {
    assert_eq!(
        refused(
            "layers = [block {i: *}, thread {j: *}, register {i: 9223372036854775807, j: 4611686018427387904}]"
        ),
        [
            "parts: the parts of dimension 'i' cover 9223372036854775807 points or more, expected at \
             most 2305843009213693951, so that indices of 64 bits reach behind them",
            "parts: the parts of dimension 'j' cover 4611686018427387904 points or more, expected at \
             most 2305843009213693951, so that indices of 64 bits reach behind them",
        ]
    );
}

#[test]
fn parts_cover_the_space() {
    assert_eq!(
        refused("layers = [block {i: 2, j: *}, thread {i: 4, j: *}, register {k: 0}]"),
        [
            "parts: layer 'register' has 0 parts in 'k', expected 1 or more",
            "cover: dimension 'i' has 64 points, but its parts cover 8: leave the outermost count \
             out or write '*'",
            "parts: dimension 'j' has 2 derived part counts ('*'), expected at most 1",
        ]
    );
    let mut c = matmul(F32, 8, 8, 8);
    c.dimensions[1].upper = None;
    // What is known at run time only is checked then.
    let schedule = "layers = [block {j: 8}]";
    assert_eq!(refusals(schedule, &c, &cuda()), [""; 0]);
    c.dimensions[1].upper = Some(9);
    assert_eq!(
        refusals(schedule, &c, &cuda()),
        [
            "cover: dimension 'j' has 9 points, but its parts cover 8: leave the outermost count \
             out or write '*'"
        ]
    );
}

#[test]
fn orders_and_assignments_are_bijections() {
    let text = "layers = [block {i: 2}, thread {i: 32}],
        scalar = {order: [block.i, block.i, block.j, block.k]}, recompose = {assign: {block.i: thread.x}}";
    assert_eq!(
        refused(text),
        [
            "permutation: 'order' of scalar names level 'block.i' 2 times, expected 1: an order is \
             a permutation of the levels",
            "permutation: 'order' of scalar names 3 of 21 levels and lacks 'thread.i', which has \
             more than 1 part: an order is a permutation of the levels",
            "bijection: 'assign' of recompose gives 2 levels, 'block.i' and 'thread.i', to ASM \
             level 'thread.x', expected 1: an assignment is a bijection, so give the others to \
             the ASM levels that are free",
        ]
    );
    // Swapped, they are one again.
    let swapped = "layers = [block {i: 2}, thread {i: 32}],
        decompose = {assign: {block.i: thread.x, thread.i: block.x}}";
    let resolved = check(
        &swapped.parse().unwrap(),
        &matmul(F32, 64, 64, 256),
        &cuda(),
    )
    .unwrap();
    assert_eq!(
        resolved.parts(&resolved.scalar, "block"),
        Some(32 * 64 * 256)
    );
}

#[test]
fn limits_of_the_machine() {
    assert_eq!(
        refused("layers = [block {}, warp {j: 2}, thread {i: 64, j: 16}]"),
        [
            "part-limit: 2048 threads per block (the parts of warp times thread), expected at \
             most 1024"
        ]
    );
    assert_eq!(
        refused(
            "layers = [block {}, thread {k: 128}], outputs = {C: {combine: {thread.k: shared}}}"
        ),
        ["extent: 128 parts in dimension 'z' of 'thread', expected at most 64"]
    );
    let cpu = Asm::cpu(&CpuFacts::default());
    assert_eq!(
        refusals(
            "layers = [main {}, simd {j: 32}]",
            &matmul(F32, 8, 64, 8),
            &cpu
        ),
        ["width: 32 parts of 4 bytes on 'simd', 128 bytes, expected at most 64"]
    );
    // Points of small types, which lanes of results combine at once; but not where another loop
    // nest combines what is kept of each point.
    let groups = "layers = [simd {j: 16, k: 4}], outputs = {C: {combine: {simd.k: register}}}";
    let apart = "layers = [simd {j: 16, k: 4}], outputs = {C: {combine: {simd.k: register}}},
        decompose = {order: [simd.k, simd.j]}, recompose = {order: [simd.j, simd.k]}";
    let mut narrow = matmul(I64, 1, 16, 4);
    narrow.components = vec![I32];
    (narrow.inputs.iter_mut()).for_each(|input| input.element = I8);
    assert_eq!(refusals(groups, &narrow, &cpu), [""; 0]);
    assert_eq!(
        refusals(apart, &narrow, &cpu),
        ["width: 64 parts of 4 bytes on 'simd', 256 bytes, expected at most 64"]
    );
}

#[test]
fn cores_combine_where_they_can() {
    assert_eq!(
        refused("layers = [device {}, block {k: 4}], outputs = {C: {combine: {device.i: shared}}}")
            [0],
        "combine-region: output 'C' combines the 4 parts of 'block.k' on 'block' in 'shared', \
         expected one of device (R3), or 1 part"
    );
    assert_eq!(
        refused(
            "layers = [device {}, thread {i: 2, k: 32}],
             outputs = {C: {combine: {thread.k: register}}}"
        ),
        [
            "combine-region: output 'C' combines the 32 parts of 'thread.k' on 'thread' in \
             'register' among 64 of them, expected at most 32 there"
        ]
    );
    let lanes =
        "layers = [device {}, thread {k: 32}], outputs = {C: {combine: {thread.k: register}}}";
    let resolved = check(&lanes.parse().unwrap(), &matmul(F32, 4, 4, 256), &cuda());
    assert!(resolved.is_ok(), "the lanes of a warp combine in registers");
    // `cc` dimensions are not combined.
    let cc_parts =
        "layers = [device {}, block {i: 4}], outputs = {C: {combine: {block.i: shared}}}";
    assert!(check(&cc_parts.parse().unwrap(), &matmul(F32, 16, 4, 4), &cuda()).is_ok());
}

#[test]
fn regions_hold_their_tiles() {
    assert_eq!(
        refused(
            "layers = [block {i: 1}, register {i: 64, k: 256}], inputs = {A: {stage: {register.i: shared}}}"
        ),
        [
            "capacity: region 'shared' has to hold 65536 bytes ('A' 1 x [64, 256]: 65536), expected \
          at most 49152"
        ]
    );
    let text = "layers = [block {i: 1}, register {i: 64, k: 256}],
        inputs = {A: {stage: {register.i: shared}}}";
    assert_eq!(refused(text), [block("text", 2).trim()]);
    // Separate nests keep all tiles at once, and all results of the scalar function.
    assert_eq!(
        refused(
            "layers = [device {i: *, j: *}, register {k: 256}],
             inputs = {A: {stage: {register.k: shared}}},
             scalar = {order: [device.j, device.i, register.k]},
             recompose = {order: [device.i, device.j, register.k]}, outputs = {C: {scalar: shared}}"
        ),
        [
            "capacity: region 'shared' has to hold 8388608 bytes ('A' 4096 x [1, 256]: 4194304; \
             'C' 1048576 x [1, 1]: 4194304), expected at most 49152"
        ]
    );
}

#[test]
fn non_commutative_dimensions_keep_their_order() {
    let c = Builder::new(&[12], &[Combine::Pw(0)], vec![Operator::User(first_last())])
        .input(I64, &[12], &[d(0)])
        .input(I64, &[12], &[d(0)])
        .id()
        .output(I64, &[], &[])
        .output(I64, &[], &[])
        .0;
    let text = "layers = [device {d0: 3}, register {d0: 4}],
        decompose = {order: [register.d0, device.d0]}";
    assert_eq!(
        refusals(text, &c, &cuda()),
        [
            "order-kept: '@first_last' is not commutative, but re-composition has level \
             'register.d0' (layer 6) outside of 'device.d0' (layer 1): order them as the layers are"
        ]
    );
    // The order of the other phases is free.
    let text = format!("{text}, recompose = {{order: [device.d0, register.d0]}}");
    let resolved = check(&text.parse().unwrap(), &c, &cuda()).unwrap();
    assert_eq!(resolved.nests().len(), 2);
}

/// The evaluator does what a schedule says, also where that is wrong: what the constraint refuses
/// would give another result.
#[test]
fn an_order_that_is_not_kept_gives_something_else() {
    let mut builder = Builder::new(
        &[12],
        &[Combine::Pw(0)],
        vec![Operator::User(matrix_product())],
    );
    for _ in 0..4 {
        builder = builder.input(I64, &[12], &[d(0)]);
    }
    builder = builder.id();
    for _ in 0..4 {
        builder = builder.output(I64, &[], &[]);
    }
    let c = builder.0;
    let run = |order: &str| {
        let text = format!(
            "layers = [device {{d0: 3}}, register {{d0: 4}}], decompose = {{order: [{order}]}}"
        );
        let resolved = Resolved::new(&text.parse().unwrap(), &c, &cuda()).unwrap();
        let mut arrays = Arrays::new(&c, |place, n| {
            let Place::Input(k) = place else {
                return Scalar::zero(I64);
            };
            Scalar::from_i64(I64, (n * (k + 2) % 5) as i64 - 1)
        });
        let results = execute(&c, &resolved, &mut arrays).unwrap().outputs;
        let mut oracle = Evaluator::new(&c, Errors::Ignored).unwrap();
        let expected = oracle.all_results(&mut arrays).unwrap();
        let results: Vec<i64> = results.iter().map(|o| o[&vec![]].as_i64()).collect();
        let expected: Vec<i64> = expected.iter().map(|(_, e)| e[0].value.as_i64()).collect();
        results == expected
    };
    assert!(run("device.d0, register.d0"));
    assert!(!run("register.d0, device.d0"));
}

#[test]
fn private_regions_stay_with_their_cores() {
    let messages = refused(
        "layers = [device {}, thread {i: 4}], inputs = {A: {stage: {thread.i: register}}},
         scalar = {assign: {thread.i: device.x, device.i: thread.x}}",
    );
    assert_eq!(
        messages[0],
        "hand-over: input 'A' is left in 'register', private to each 'thread', which has \
         thread.i in de-composition and device.i in the scalar phase"
    );
}

#[test]
fn layouts_fit_their_buffers() {
    assert_eq!(
        refused(
            "inputs = {A: {layout: {device.i: permuted(1)}}}, outputs = {C: {scalar_layout: permuted(1, 1)}}"
        ),
        [
            "layout: input 'A': 'permuted' has 1 entries, expected one for each of 2 axes",
            "layout: output 'C': 'permuted' lacks axis 2, expected each of 1 to 2 once",
        ]
    );
}

/// The levels of a tiled product of matrices.
const TILED: &str = "block.i, block.j, thread.i, thread.j, device.k, shared.k, register.k";

/// The schedule of a product of matrices with levels in this order, and inputs.
fn tiled(order: &str, inputs: &str) -> String {
    format!(
        "layers = [device {{k: *}}, block {{i: *, j: *}}, shared {{k: 4}},
          thread {{i: 8, j: 8}}, register {{k: 4}}],
         decompose = {{order: [{order}]}}, inputs = {{{inputs}}}"
    )
}

/// The input `A`, staged at a level with so many stages.
fn staged(level: &str, stages: i64) -> String {
    format!("A: {{stage: {{{level}: shared}}, stages: {stages}}}")
}

/// Checks: what is copied asynchronously, in `n` buffers.
#[test]
fn stages_are_so_many_buffers() {
    assert_eq!(refused(&tiled(TILED, &staged("shared.k", 3))), [""; 0]);
    assert_eq!(
        refused(&tiled(TILED, &staged("shared.k", 0))),
        ["stages: input 'A' has 0 stages, expected at least 1"]
    );
    let both = staged("shared.k", 3) + ", B: {stage: {shared.k: shared}, stages: 2}";
    assert_eq!(
        refused(&tiled(TILED, &both)),
        [
            "stages: inputs 'A' and 'B' are staged at 'shared.k' with 3 and 2 stages, expected the \
             same number"
        ]
    );
    // With other sizes, the loop would have several parts.
    let (text, small) = (tiled(TILED, &staged("shared.k", 3)), matmul(F32, 64, 64, 7));
    assert_eq!(refusals(&text, &small, &cuda()), [""; 0]);
    // Each of them has a tile of 8 x 16 elements.
    assert_eq!(
        refused(&tiled(TILED, &staged("shared.k", 100))),
        [
            "capacity: region 'shared' has to hold 51200 bytes ('A' 100 x [8, 16]: 51200), expected \
             at most 49152"
        ]
    );
}

#[test]
fn stages_are_those_of_a_loop() {
    assert_eq!(
        refused(&tiled(TILED, "A: {stages: 2}")),
        [
            "stages: input 'A' has 2 stages, but no tile of 'A' is copied from 'device' to \
             'shared': expected a level from which it is staged there"
        ]
    );
    assert_eq!(refused(&tiled(TILED, &staged("thread.i", 1))), [""; 0]);
    assert_eq!(
        refused(&tiled(TILED, &staged("thread.i", 2))),
        [
            "stages: input 'A' has 2 stages and is staged at 'thread.i', directly inside of \
             'block.j', which is parallel: expected a loop directly outside whose parts follow each \
             other, or 1 stage"
        ]
    );
    let order = "device.k, block.i, block.j, thread.i, thread.j, shared.k, register.k";
    assert_eq!(
        refused(&tiled(order, &staged("device.k", 2))),
        [
            "stages: input 'A' has 2 stages and is staged at 'device.k', outside of all loops: \
             expected a loop directly outside whose parts follow each other, or 1 stage"
        ]
    );
}

/// Machines, elements and phases for which there are no asynchronous copies.
#[test]
fn stages_are_refused_where_nothing_is_copied_asynchronously() {
    let c = matmul(F32, 64, 64, 256);
    let text = "layers = [main {i: *, k: 4}, L2 {k: *}],
        inputs = {A: {stage: {L2.k: L2}, stages: 2}}";
    assert_eq!(
        refusals(text, &c, &Asm::cpu(&CpuFacts::default())),
        ["stages: input 'A' has 2 stages, but ASM 'cpu' has no asynchronous copies: expected none"]
    );
    let tiled = |rest: &str| {
        format!(
            "layers = [device {{k: *}}, block {{i: *, j: *}}, shared {{k: 16}}],
             decompose = {{order: [block.i, block.j, device.k, shared.k]}}, {rest}"
        )
    };
    let transposed = tiled(
        "inputs = {A: {stage: {shared.k: shared}, layout: {shared.k: permuted(2, 1)}, stages: 2}}",
    );
    assert_eq!(refusals(&transposed, &c, &cuda()), [""; 0]);
    assert_eq!(
        refusals(&transposed, &matmul(I8, 64, 64, 256), &cuda()),
        [
            "stages: input 'A' lies permuted(2, 1) in 'shared', so that its elements of 1 bytes are \
             copied one by one: asynchronous copies have 4, 8 or 16 bytes, expected a layout that \
             keeps the last axis"
        ]
    );
    let apart = tiled(
        "scalar = {order: [block.j, block.i, device.k, shared.k]},
         inputs = {A: {stage: {shared.k: shared}, stages: 2}}",
    );
    let messages = refusals(&apart, &c, &cuda());
    assert_eq!(
        messages[0],
        "stages: input 'A' has 2 stages and is staged at 'shared.k', but the phases are 2 loop nests: \
         expected de-composition and the scalar phase in one"
    );
    // Each thread goes through its own part of `i`.
    let private_parts = "layers = [block {i: *, j: *}, thread {i: 8}, register {i: 4, k: *}],
        decompose = {order: [block.i, block.j, thread.i, register.i, register.k],
          assign: {register.i: shared.x, shared.i: register.x}},
        inputs = {A: {stage: {register.k: shared}, stages: 2}}";
    assert_eq!(
        refusals(private_parts, &c, &cuda()),
        [
            "stages: input 'A' has 2 stages and is staged at 'register.k', inside of 'register.i', \
             which each part of 'thread.i' goes through alone: expected loops that all threads go \
             through equally, or 1 stage"
        ]
    );
}

#[test]
fn consumers_have_the_level() {
    let c = summed_area(4, 4);
    let resolved = check(&Schedule::default(), &c, &cuda()).unwrap();
    let at = |consumer: &str, level: &str| ComputeAt {
        consumer: consumer.into(),
        level: LevelName::new("block", level),
    };
    let consumers = [("rows", &resolved)];
    assert_eq!(check_compute_at(&at("rows", "d1"), &consumers), Ok(()));
    let refused = |at: &ComputeAt| check_compute_at(at, &consumers).unwrap_err().to_string();
    assert_eq!(
        refused(&at("row", "d1")),
        "compute-at: found no computation 'row' to compute at, expected one of rows"
    );
    assert_eq!(
        refused(&at("rows", "k")),
        "compute-at: computation 'rows' has no level 'block.k': its layers are device, block, \
         shared, warp, thread, register, mma, its dimensions d0, d1"
    );
}

/// Stencils: neighbours count once; strides that nothing reads are left out.
#[test]
fn footprints_have_halos_and_no_holes() {
    let mut c = Builder::new(&[100, 50], &[Combine::Cc, Combine::Cc], vec![])
        .input(F32, &[102, 200], &[d(0), d(1) * 4 + 1])
        .id()
        .output(F32, &[100, 50], &[d(0), d(1)])
        .0;
    name(&mut c, &["i", "j"], &["x"], &["y"]);
    for halo in 1..3 {
        c.inputs[0] = c.inputs[0]
            .clone()
            .access(halo, &[d(0) + halo as i64, d(1) * 4 + 1]);
    }
    let tile = [7, 9].map(|reach| Span { reach, step: 1 });
    let region = footprint(&c, &c.inputs[0], &tile).unwrap();
    assert_eq!(region.shape(), [10, 10]);
    assert_eq!(
        region.axes[1],
        FootprintAxis {
            extent: 37,
            stride: 4
        }
    );
    assert_eq!(footprint(&c, &c.outputs[0], &tile).unwrap().elements(), 80);
    // Index functions with divisions count whole.
    c.inputs[0].accesses.truncate(1);
    c.inputs[0].accesses[0].map[0] = d(0).floor_div(2);
    assert_eq!(
        footprint(&c, &c.inputs[0], &tile).unwrap().shape(),
        [50, 10]
    );
}
