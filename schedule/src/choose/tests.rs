//! Schedules that the model chooses are valid, mean their computation, and do not depend on names.

use proptest::prelude::*;

use super::super::named_tests::{copies, matmul, name};
use super::super::random_tests::agrees;
use super::assemble::LoopNest;
use super::block::Block;
use super::nest::Search;
use super::*;
use crate::asm::CpuFacts;
use crate::check;
use crate::numbers::Parts;
use crate::random_tests::any_computation;
use mdh_algebra::code::{Code, Instruction};
use mdh_algebra::computation::{Combine, Dimension};
use mdh_algebra::examples::{Builder, arg_max, d, first_last, matrix_product};
use mdh_algebra::op::Op;
use mdh_algebra::operator::{Builtin, Operator};
use mdh_algebra::random::Random;
use mdh_algebra::scalar::ScalarType::{F32, F64, I64};

/// A machine so small that small computations are cut, packed and shared, and how many points one
/// of its instructions combines.
pub(super) fn small(random: &mut Random) -> (Asm, Facts, i64) {
    let mut one_of = |all: &[u64]| all[random.below(all.len() as u64) as usize];
    let asm = Asm::cpu(&CpuFacts {
        cores: one_of(&[1, 2, 3]),
        vector: one_of(&[16, 32, 64]),
        registers: one_of(&[4, 16, 32]),
        l1: 256,
        l2: one_of(&[512, 4096]),
        l3: [None, Some(1 << 20)][one_of(&[0, 1]) as usize],
        ..CpuFacts::default()
    });
    let facts = Facts::new(&asm).unwrap();
    let vector = if one_of(&[0, 1, 2]) == 0 {
        1
    } else {
        facts.vector
    };
    let grain = one_of(&[1, 20, 1 << 20]) as i64;
    let group = one_of(&[1, 2, 4]) as i64;
    let facts = Facts {
        grain,
        vector,
        ..facts
    };
    (asm, facts, group)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn every_choice_gives_the_oracles_result(c in any_computation(), seed in any::<u64>()) {
        let mut random = Random::new(seed);
        let (asm, facts, group) = small(&mut random);
        let Some(choice) = choose_for(&c, &asm, facts, group) else {
            // No points at all, or tuples that fit no register.
            return Ok(());
        };
        means(&choice, &c, &asm, &mut random)?;
    }
}

/// A choice is valid, and gives what the oracle does.
pub(super) fn means(
    choice: &Choice,
    c: &Computation,
    asm: &Asm,
    random: &mut Random,
) -> Result<(), TestCaseError> {
    let printed = choice.schedule.to_string();
    let resolved = check(&choice.schedule, c, asm);
    let resolved = resolved.map_err(|e| TestCaseError::fail(format!("{e:?}\n{printed}")))?;
    agrees(c, &resolved, random).map_err(|e| TestCaseError::fail(format!("{e}\n{printed}")))
}

/// Checks: where parts of a dimension start is known for whole groups of points, and for parts of one.
#[test]
fn parts_of_groups_are_whole_groups_or_lie_in_one() {
    for (step, width) in [(9, 2), (9, 3), (9, 4), (100, 96)] {
        let mut dimension = Dimension::dense("i", Some(1000), Combine::Cc);
        (dimension.step, dimension.width) = (Some(step), Some(width));
        for most in 1..300 {
            let points = strided::aligned(&dimension, most);
            assert!((1..=most).contains(&points), "{points} of {most}");
            assert!(points % width == 0 || width % points == 0, "{points}");
        }
        dimension.width = dimension.step;
        assert_eq!(strided::aligned(&dimension, 7), 7);
    }
}

/// A width that is not known gives no schedule; bounds and steps may be unknown.
#[test]
fn groups_of_unknown_size_have_no_schedule() {
    let asm = Asm::cpu(&CpuFacts::default());
    let mut c = matmul(F32, 512, 512, 512);
    c.dimensions[0].step = Some(7);
    c.dimensions[0].width = Some(4);
    assert!(choose(&c, &asm).is_some());
    c.dimensions[0].upper = None;
    c.dimensions[0].step = None;
    assert!(choose(&c, &asm).is_some());
    c.dimensions[0].width = None;
    assert_eq!(choose(&c, &asm), None);
}

#[test]
fn names_do_not_matter() {
    let asm = Asm::cpu(&CpuFacts::default());
    let c = matmul(F32, 512, 512, 512);
    let mut renamed = c.clone();
    name(
        &mut renamed,
        &["x", "y", "z"],
        &["left", "right"],
        &["product"],
    );
    let text = choose(&c, &asm).unwrap().schedule.to_string();
    let mut text = text
        .replace("i:", "x:")
        .replace("j:", "y:")
        .replace("k:", "z:");
    for (from, to) in [(".i", ".x"), (".j", ".y"), (".k", ".z")] {
        text = text.replace(from, to);
    }
    let buffers = [("A:", "left:"), ("B:", "right:"), ("C:", "product:")];
    let text = (buffers.into_iter()).fold(text, |text, (from, to)| text.replace(from, to));
    let expected: crate::Schedule = text.parse().unwrap();
    assert_eq!(choose(&renamed, &asm).unwrap().schedule, expected);
}

/// The partial results of a deferred reduction are those of the unrolled parts and lanes, however
/// long the loop around them is.
#[test]
fn loops_of_a_sum_keep_one_result() {
    let asm = Asm::cpu(&CpuFacts::default());
    let c = Builder::new(
        &[1 << 20],
        &[Combine::Pw(0)],
        vec![Operator::User(arg_max(F32))],
    )
    .input(F32, &[1 << 20], &[d(0)])
    .input(I64, &[1 << 20], &[d(0)])
    .id()
    .output(F32, &[], &[])
    .output(I64, &[], &[])
    .0;
    let choice = choose(&c, &asm).unwrap();
    let resolved = check(&choice.schedule, &c, &asm).unwrap();
    let copies = copies(&resolved, &c);
    let registers = copies.iter().filter(|(_, region, ..)| region == "register");
    let bytes: Vec<i64> = registers.map(|(.., bytes)| *bytes).collect();
    // Eight sums of eight lanes: of f32 and of i64.
    assert_eq!(bytes, [8 * 8 * 4, 8 * 8 * 8]);
}

/// An operator that is not commutative combines lanes in each iteration, in order.
#[test]
fn order_is_kept() {
    let mut builder = Builder::new(
        &[1000],
        &[Combine::Pw(0)],
        vec![Operator::User(matrix_product())],
    );
    for _ in 0..4 {
        builder = builder.input(I64, &[1000], &[d(0)]);
    }
    builder = builder.id();
    for _ in 0..4 {
        builder = builder.output(I64, &[], &[]);
    }
    let asm = Asm::cpu(&CpuFacts::default());
    let choice = choose(&builder.0, &asm).unwrap();
    let resolved = check(&choice.schedule, &builder.0, &asm).unwrap();
    assert_eq!(resolved.deferred(&builder.0), Some(vec![]));
    assert_eq!(choice.schedule.recompose, Default::default());
}

/// Built-in sums are commutative, and deferred.
#[test]
fn sums_are_combined_once() {
    let c = Builder::new(
        &[1 << 20],
        &[Combine::Pw(0)],
        vec![Operator::Builtin(vec![Builtin::Addf])],
    )
    .input(F32, &[1 << 20], &[d(0)])
    .id()
    .output(F32, &[], &[])
    .0;
    let asm = Asm::cpu(&CpuFacts {
        cores: 1,
        ..CpuFacts::default()
    });
    let choice = choose(&c, &asm).unwrap();
    let resolved = check(&choice.schedule, &c, &asm).unwrap();
    let deferred = resolved.deferred(&c).unwrap();
    let deferred: Vec<String> = deferred
        .iter()
        .map(|l| resolved.name(*l).to_string())
        .collect();
    assert_eq!(deferred, ["register.d0", "simd.d0"]);
}

/// Checks: what is read along one dimension and written along another one is transposed in registers: as
/// many rows as there are lanes, and where that are too many registers, fewer lanes.
#[test]
fn rows_become_lanes() {
    let asm = |vector| {
        Asm::cpu(&CpuFacts {
            vector,
            registers: vector / 2,
            ..CpuFacts::default()
        })
    };
    for (ty, vector, expected) in [
        (
            F32,
            64,
            "L2 {d0: 2, d1: 16}, register {d1: 16}, simd {d0: 16}",
        ),
        (
            F64,
            64,
            "L2 {d0: 2, d1: 16}, register {d1: 8}, simd {d0: 8}",
        ),
        (
            F32,
            32,
            "L2 {d0: 2, d1: 32}, L1 {d0: 2}, register {d1: 8}, simd {d0: 8}",
        ),
        (
            F64,
            32,
            "L2 {d0: 2, d1: 32}, L1 {d0: 2}, register {d1: 4}, simd {d0: 4}",
        ),
    ] {
        let c = Builder::new(&[1000, 3000], &[Combine::Cc, Combine::Cc], vec![])
            .input(ty, &[1000, 3000], &[d(0), d(1)])
            .id()
            .output(ty, &[3000, 1000], &[d(1), d(0)])
            .0;
        let choice = choose(&c, &asm(vector)).unwrap();
        let text = choice.schedule.to_string();
        let words: Vec<&str> = text.split_whitespace().collect();
        assert!(words.join(" ").contains(expected), "{text}");
    }
}

/// Checks: what is read once from memory is read a few whole rows at a time: in columns, nothing would be
/// prefetched.
#[test]
fn rows_are_read_in_turn() {
    let asm = Asm::cpu(&CpuFacts::default());
    let sum = || vec![Operator::Builtin(vec![Builtin::Addf])];
    let (rows, columns) = (20_000, 4096);
    let c = Builder::new(&[columns, rows], &[Combine::Cc, Combine::Pw(0)], sum())
        .input(F32, &[rows, columns], &[d(1), d(0)])
        .id()
        .output(F32, &[columns], &[d(0)])
        .0;
    let text = choose(&c, &asm).unwrap().schedule.to_string();
    let words: Vec<&str> = text.split_whitespace().collect();
    let expected = "main {d1: *}, L2 {d0: *}, L1 {d1: 16}, register {d0: 8}, simd {d0: 16}";
    assert!(words.join(" ").contains(expected), "{text}");
}

/// A contraction: its extents, whether each dimension is combined, and what its inputs and its
/// output are indexed by.
fn contraction(
    extents: &[i64],
    sums: usize,
    inputs: [&[mdh_algebra::affine::Expr]; 2],
    shapes: [&[i64]; 3],
    output: &[mdh_algebra::affine::Expr],
) -> mdh_algebra::computation::Computation {
    let cc_count = extents.len() - sums;
    let combine: Vec<Combine> = (0..extents.len())
        .map(|n| {
            if n < cc_count {
                Combine::Cc
            } else {
                Combine::Pw(0)
            }
        })
        .collect();
    let add = vec![Operator::Builtin(vec![Builtin::Addf])];
    Builder::new(extents, &combine, add)
        .input(F32, shapes[0], inputs[0])
        .input(F32, shapes[1], inputs[1])
        .scalar(mdh_algebra::code::Code::single(
            mdh_algebra::op::Op::Mulf,
            F32,
        ))
        .output(F32, shapes[2], output)
        .0
}

/// Returns the estimated share of loops around the block, beside computing with full vectors.
fn overhead(c: &mdh_algebra::computation::Computation) -> f64 {
    let facts = Facts::new(&Asm::cpu(&CpuFacts::default())).unwrap();
    let views = Views::new(c);
    let blocks = Block::candidates(&views, &facts, 1);
    let cycles = blocks
        .iter()
        .filter_map(|block| LoopNest::new(c, &facts, &views, block).cycles);
    let points: f64 = c
        .dimensions
        .iter()
        .map(|d| d.count().unwrap() as f64)
        .product();
    let computing = points / 16.0 / super::rates::OPERATIONS / facts.cores as f64;
    cycles.fold(f64::INFINITY, f64::min) / computing
}

/// Products of matrices, also strange ones, are not bound by what their loops move.
#[test]
fn contractions_are_bound_by_computing() {
    for n in [512, 1024, 2048] {
        let over = overhead(&matmul(F32, n, n, n));
        assert!(over < 1.5, "matmul {n}: {over}");
    }
    // abcdef = gdab efgc
    let [a, b, cc, dd, e, f, g] = [24, 16, 16, 24, 16, 16, 24];
    let coupled = contraction(
        &[a, b, cc, dd, e, f, g],
        1,
        [&[d(6), d(3), d(0), d(1)], &[d(4), d(5), d(6), d(2)]],
        [&[g, dd, a, b], &[e, f, g, cc], &[a, b, cc, dd, e, f]],
        &[d(0), d(1), d(2), d(3), d(4), d(5)],
    );
    let over = overhead(&coupled);
    assert!(over < 4.2, "coupled cluster: {over}"); // what it writes takes longer
    // p q k, r s c: a convolution with more filters than pixels.
    let convolution = contraction(
        &[7, 7, 512, 3, 3, 512],
        3,
        [&[d(0) + d(3), d(1) + d(4), d(5)], &[d(2), d(3), d(4), d(5)]],
        [&[9, 9, 512], &[512, 3, 3, 512], &[7, 7, 512]],
        &[d(0), d(1), d(2)],
    );
    let over = overhead(&convolution);
    assert!(over < 2.6, "convolution: {over}");
    // p q k u v, r s c w: the same with a matrix at every point.
    let capsules = contraction(
        &[7, 7, 512, 4, 4, 3, 3, 512, 4],
        4,
        [
            &[d(0) + d(5), d(1) + d(6), d(7), d(3), d(8)],
            &[d(2), d(5), d(6), d(7), d(8), d(4)],
        ],
        [
            &[9, 9, 512, 4, 4],
            &[512, 3, 3, 512, 4, 4],
            &[7, 7, 512, 4, 4],
        ],
        &[d(0), d(1), d(2), d(3), d(4)],
    );
    let over = overhead(&capsules);
    assert!(over < 3.2, "capsules: {over}");
}

/// A buffer that holds two components of a result keeps no partial results: its sums are not cut.
#[test]
fn components_in_one_buffer_are_summed_at_once() {
    let asm = Asm::cpu(&CpuFacts::default());
    let sums = |shared: bool| {
        let mut c = Builder::new(
            &[1 << 20],
            &[Combine::Pw(0)],
            vec![Operator::User(arg_max(F32))],
        )
        .input(F32, &[1 << 20, 1 << 20], &[d(0), d(0)])
        .input(F32, &[1 << 20], &[d(0)])
        .id()
        .output(F32, &[2], &[mdh_algebra::affine::Expr::Const(0)])
        .output(F32, &[2], &[mdh_algebra::affine::Expr::Const(1)])
        .0;
        if shared {
            let mut second = c.outputs.remove(1);
            c.outputs[0].accesses.append(&mut second.accesses);
        }
        let facts = Facts::new(&asm).unwrap();
        let views = Views::new(&c);
        let block = Block::candidates(&views, &facts, 1).remove(0);
        Search::new(&c, &facts, &views, &block).best(&[]).1
    };
    assert!(
        sums(true) < sums(false),
        "cuts are tried only where there is room for parts"
    );
}

/// Columns of a matrix whose rows lie a power of two apart take a line of each row, and share few
/// places of a cache; whole rows are one run.
#[test]
fn strides_take_lines_and_room() {
    let c = matmul(F32, 1024, 1024, 1024);
    let regions = traffic::Region::all(&c);
    let column = regions[1].taken(&[1, 4, 512]);
    assert_eq!(
        (column.elements, column.bytes, column.room),
        (2048.0, 512.0 * 64.0, 512.0 * 4096.0)
    );
    let rows = regions[1].taken(&[1, 1024, 4]);
    assert_eq!((rows.bytes, rows.room), (16384.0, 16384.0));
    // Twice as many points in a row as the buffer has: no more than all of it.
    assert_eq!(regions[0].taken(&[2048, 1, 1024]).elements, 1024.0 * 1024.0);
}

/// Checks: what is too large for the caches is written row by row in whole lines, and read once only.
#[test]
fn large_outputs_are_streamed() {
    let asm = Asm::cpu(&CpuFacts {
        vector: 32,
        ..CpuFacts::default()
    });
    let blocks = |rows: i64| {
        let shape = [rows, 4096];
        let c = Builder::new(&shape, &[Combine::Cc, Combine::Cc], vec![])
            .input(F32, &shape, &[d(0), d(1)])
            .id()
            .output(F32, &shape, &[d(0), d(1)])
            .0;
        let facts = Facts::new(&asm).unwrap();
        let choice = choose_for(&c, &asm, facts, 1).unwrap();
        let layer = choice.schedule.layers.iter().find(|l| l.name == "register");
        layer.map(|layer| layer.parts.clone())
    };
    let line = [("d1".to_string(), Parts::Fixed(2))].into_iter().collect();
    assert_eq!(
        blocks(8192),
        Some(line),
        "two vectors of 32 bytes are a line"
    );
    assert_eq!(
        blocks(8),
        None,
        "nothing is shared that would be worth unrolling"
    );
}

/// The sum of that many numbers.
pub(super) fn sum(count: usize) -> Code {
    let add = |n: usize| Instruction::Apply {
        result: count + n - 1,
        op: Op::Addf,
        operands: vec![if n == 1 { 0 } else { count + n - 2 }, n],
        ty: F32,
    };
    let mut code = Code::single(Op::Addf, F32);
    code.inputs = vec![F32; count];
    code.registers = 2 * count - 1;
    code.body.instructions = (1..count).map(add).collect();
    code.body.yields = vec![2 * count - 2];
    code
}

/// Checks: rows that need some of the same elements are computed together, though what they write is
/// streamed; where rows are no whole lines, if that saves many loads.
#[test]
fn streamed_rows_share_what_they_read() {
    let asm = Asm::cpu(&CpuFacts::default());
    let facts = Facts::new(&asm).unwrap();
    let rows = |[i, j]: [i64; 2], near: &[(i64, i64)]| {
        let access = |(a, b): &(i64, i64)| [d(0) + *a, d(1) + *b];
        let mut builder = Builder::new(&[i, j], &[Combine::Cc; 2], vec![]).input(
            F32,
            &[i + 2, j + 2],
            &access(&near[0]),
        );
        let mut input = builder.0.inputs.remove(0);
        for (n, at) in near.iter().enumerate().skip(1) {
            input = input.access(n, &access(at));
            builder.0.scalar.inputs.push(F32);
        }
        builder.0.inputs.push(input);
        let c = builder
            .scalar(sum(near.len()))
            .output(F32, &[i, j], &[d(0), d(1)])
            .0;
        let choice = choose_for(&c, &asm, facts, 1).unwrap();
        assert!(check(&choice.schedule, &c, &asm).is_ok());
        let layer = choice.schedule.layers.iter().find(|l| l.name == "register");
        layer.and_then(|layer| layer.parts.get("d0").cloned())
    };
    let square = [0, 1, 2].map(|a| [0, 1, 2].map(|b| (a, b))).concat();
    let cross = [(0, 1), (1, 0), (1, 1), (1, 2), (2, 1)];
    assert_eq!(rows([4096, 4096], &square), Some(Parts::Fixed(4)));
    assert_eq!(rows([4096, 4096], &cross), Some(Parts::Fixed(4)));
    assert_eq!(rows([4096, 4090], &square), Some(Parts::Fixed(4)));
    assert_eq!(rows([4096, 4090], &cross), Some(Parts::Fixed(4)));
    let few = [(0, 1), (1, 0), (1, 1), (1, 2)];
    assert_eq!(rows([4096, 4090], &few), None, "they share too little");
}

/// Planes that no L2 holds are cut into bands; others are not, nor is what does not overlap.
#[test]
fn stencils_are_computed_in_bands() {
    let asm = Asm::cpu(&CpuFacts::default());
    let facts = Facts::new(&asm).unwrap();
    let bands = |planes: [i64; 3], halo: i64| {
        let [i, j, k] = planes;
        let mut builder = Builder::new(&planes, &[Combine::Cc; 3], vec![]).input(
            F32,
            &[i + 2, j, k],
            &[d(0), d(1), d(2)],
        );
        let below = d(0) + halo;
        let input = builder.0.inputs.remove(0);
        builder.0.inputs.push(input.access(1, &[below, d(1), d(2)]));
        builder.0.scalar.inputs.push(F32);
        let code = Code::single(Op::Addf, F32);
        let c = builder
            .scalar(code)
            .output(F32, &planes, &[d(0), d(1), d(2)])
            .0;
        let choice = choose_for(&c, &asm, facts, 1).unwrap();
        assert!(check(&choice.schedule, &c, &asm).is_ok());
        let layer = choice.schedule.layers.iter().find(|l| l.name == "L2");
        layer.and_then(|layer| layer.parts.get("d1").cloned())
    };
    // Three planes of 1 MiB where 512 KiB have room: of 512 rows, 85 of three planes do, in seven
    // bands of 74 rows.
    assert_eq!(bands([512, 512, 512], 2), Some(Parts::Fixed(74)));
    assert_eq!(
        bands([512, 80, 512], 2),
        Some(Parts::Derived),
        "planes of 160 KiB"
    );
    assert_eq!(
        bands([512, 512, 512], 0),
        Some(Parts::Derived),
        "nothing overlaps"
    );
    assert_eq!(
        bands([64, 64, 65536], 2),
        Some(Parts::Derived),
        "rows of 256 KiB"
    );
}

/// Sums come before their prefix-sums where they are of many points, the order of what is combined
/// stays, and it is known what a sum of nothing is.
#[test]
fn prefix_sums_of_sums_are_separate() {
    let scan = |combine: &[Combine; 2], operator: Operator, columns: Option<i64>| {
        let pairs = matches!(operator, Operator::User(_));
        let mut builder = Builder::new(&[64, 100], combine, vec![operator]);
        let output_map: Vec<_> = (0..2).filter(|n| !combine[*n].is_pw()).map(d).collect();
        let shape = &[64, 100][..output_map.len()];
        for _ in 0..=usize::from(pairs) {
            builder = builder.input(I64, &[64, 100], &[d(0), d(1)]);
        }
        builder = builder.id();
        for _ in 0..=usize::from(pairs) {
            builder = builder.output(I64, shape, &output_map);
        }
        let mut c = builder.0;
        c.dimensions[1].upper = columns;
        separates_scans(&c)
    };
    let add = || Operator::Builtin(vec![Builtin::Addi]);
    let (ps, pw) = (Combine::Ps(0), Combine::Pw(0));
    assert!(scan(&[ps, pw], add(), Some(100)));
    assert!(scan(&[ps, pw], add(), None));
    assert!(!scan(&[ps, pw], add(), Some(7)), "a sum of few points");
    assert!(!scan(&[ps, Combine::Cc], add(), Some(100)), "no sum");
    assert!(!scan(&[Combine::Cc, pw], add(), Some(100)), "no prefix-sum");
    let first = || Operator::User(first_last());
    assert!(scan(&[ps, pw], first(), Some(100)), "sums are innermost");
    assert!(!scan(&[pw, ps], first(), Some(100)), "sums are outermost");
    assert!(!scan(&[ps, pw], first(), None), "a sum of nothing");
}
