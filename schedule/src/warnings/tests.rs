//! Code that is warned of, and code that is not.

use super::super::named_tests::matmul;
use super::*;
use crate::asm::CpuFacts;
use mdh_algebra::code::{Op, Register};
use mdh_algebra::computation::{Buffer, Combine, Dimension};
use mdh_algebra::examples::{d, straight};
use mdh_algebra::operator::{Builtin, Operator};
use mdh_algebra::scalar::ScalarType::F32;

fn avx2() -> Asm {
    Asm::cpu(&CpuFacts {
        registers: 16,
        vector: 32,
        ..CpuFacts::default()
    })
}

fn found(computation: &Computation, schedule: &str) -> Vec<(Cause, String)> {
    let schedule: Schedule = schedule.parse().unwrap();
    let warnings = warnings(computation, Some(&schedule), &avx2());
    warnings.into_iter().map(|w| (w.cause, w.message)).collect()
}

fn causes(computation: &Computation, schedule: &str) -> Vec<Cause> {
    found(computation, schedule)
        .into_iter()
        .map(|(cause, _)| cause)
        .collect()
}

#[test]
fn partial_results_that_exceed_the_registers() {
    let product = matmul(F32, 512, 512, 512);
    let schedule = |i: i64, j: i64| {
        format!(
            "asm = cpu, layers = [main {{i: *, j: *}}, L1 {{k: 512}}, register {{i: {i}, j: {j}}}, simd {{j: 8}}],
            decompose = {{order: [main.i, main.j, L1.k, register.i, register.j, simd.j]}},
            outputs = {{C: {{combine: {{L1.k: register}}}}}}"
        )
    };
    assert_eq!(causes(&product, &schedule(4, 3)), []);
    assert_eq!(causes(&product, &schedule(4, 4)), []);
    let [(Cause::Registers, message)] = &found(&product, &schedule(8, 8))[..] else {
        panic!("8 x 8 vectors are more than 16");
    };
    let start = "the computation of 'C' carries 512 partial results in 64 registers through its loop \
                 over 'k' (register.i: 8, register.j: 8, simd.j: 8), and the machine has 16: ";
    assert!(message.starts_with(start), "{message}");
}

#[test]
fn lanes_that_exceed_the_registers() {
    let product = matmul(F32, 512, 512, 512);
    let along = |dimension: &str, lanes: i64| {
        format!(
            "asm = cpu, layers = [main {{i: *, j: *, k: *}}, simd {{{dimension}: {lanes}}}],
            decompose = {{order: [main.i, main.j, main.k, simd.{dimension}]}}"
        )
    };
    for dimension in ["j", "k"] {
        assert_eq!(causes(&product, &along(dimension, 8)), []);
        assert_eq!(causes(&product, &along(dimension, 64)), []);
        let [(Cause::Registers, message)] = &found(&product, &along(dimension, 512))[..] else {
            panic!("two values of 64 vectors are more than 16");
        };
        let start = format!(
            "the computation of 'C' has 512 lanes (simd.{dimension}: 512): a value of 4 bytes takes 64 \
             vectors in them, and the machine has 16 registers: "
        );
        assert!(message.starts_with(&start), "{message}");
    }
}

#[test]
fn blocks_that_are_large() {
    let product = matmul(F32, 512, 512, 4096);
    let schedule = |k: i64| {
        format!(
            "asm = cpu, layers = [main {{i: *, j: *, k: *}}, register {{i: 2, k: {k}}}, simd {{j: 8}}],
            decompose = {{order: [main.i, main.j, main.k, register.i, register.k, simd.j]}}"
        )
    };
    assert_eq!(causes(&product, &schedule(16)), []);
    assert_eq!(causes(&product, &schedule(32)), [Cause::Registers]);
    let [(Cause::Unrolling, message)] = &found(&product, &schedule(512))[..] else {
        panic!("1024 products are many");
    };
    let start = "the computation of 'C' is unrolled 1024 times, to some 4096 operations (register.i: \
                 2, register.k: 512), expected at most 2000: ";
    assert!(message.starts_with(start), "{message}");
    // A loop that carries sums is no block.
    let loops = "asm = cpu, layers = [main {i: *, j: *}, register {k: 4096}, simd {j: 8}],
        decompose = {order: [main.i, main.j, register.k, simd.j]}";
    assert_eq!(causes(&product, loops), []);
}

/// `o[q, j] = sum over k of exp(s[q, k]) * v[k, j]`, or another function of the two.
fn attention(op: Op, operand: Register) -> Computation {
    let rows: [(Op, &[Register], _); 2] = match op.arity() {
        1 => [(op, &[operand], F32), (Op::Mulf, &[2, 1], F32)],
        _ => [(op, &[operand, operand], F32), (Op::Mulf, &[2, 1], F32)],
    };
    Computation {
        dimensions: vec![
            Dimension::dense("q", Some(512), Combine::Cc),
            Dimension::dense("j", Some(64), Combine::Cc),
            Dimension::dense("k", Some(512), Combine::Pw(0)),
        ],
        inputs: vec![
            Buffer::new("s", F32, &[Some(512), Some(512)]).access(0, &[d(0), d(2)]),
            Buffer::new("v", F32, &[Some(512), Some(64)]).access(1, &[d(2), d(1)]),
        ],
        scalar: straight(&[F32, F32], &rows, &[3], &[F32]),
        components: vec![F32],
        operators: vec![Operator::Builtin(vec![Builtin::Addf])],
        carries: vec![],
        outputs: vec![Buffer::new("o", F32, &[Some(512), Some(64)]).access(0, &[d(0), d(1)])],
    }
}

#[test]
fn expressions_that_are_evaluated_again() {
    let order = |order: &str| {
        format!(
            "asm = cpu, layers = [main {{q: 512, j: 64, k: 512}}], decompose = {{order: [{order}]}}"
        )
    };
    let inner = order("main.q, main.j, main.k");
    let exp = attention(Op::Exp, 0);
    let [(Cause::Repetition, message)] = &found(&exp, &inner)[..] else {
        panic!("the exponential does not depend on j");
    };
    assert_eq!(
        message,
        "the computation of 'o' evaluates 'math.exp' 64 times for the same operands: it depends on \
         'q' and 'k' and not on 'j', which is in a loop around; compute it before, over 'q' and 'k' \
         alone, and read the result here"
    );
    // Plain loops are in the order of the dimensions.
    let plain = warnings(&exp, None, &avx2());
    assert_eq!(plain.len(), 1);
    assert_eq!(plain[0].message, *message);
    // In the innermost loop it stays the same: compilers see that.
    assert_eq!(causes(&exp, &order("main.q, main.k, main.j")), []);
    // What is cheap, and what depends on all.
    assert_eq!(causes(&attention(Op::Mulf, 0), &inner), []);
    assert_eq!(causes(&attention(Op::Divf, 0), &inner), [Cause::Repetition]);
    let other = found(&attention(Op::Exp, 1), &inner);
    assert!(
        other[0].1.contains("512 times") && other[0].1.contains("not on 'q'"),
        "{other:?}"
    );
    // Lanes hold one value.
    let lanes = "asm = cpu, layers = [main {q: 512, k: 512}, register {j: 8}, simd {j: 8}],
        decompose = {order: [main.q, main.k, register.j, simd.j]}";
    let repeated = found(&exp, lanes);
    let part = "8 times for the same operands: it depends on 'q' and 'k' and not on 'j', which is in \
                the lanes of vectors;";
    assert!(
        repeated.len() == 1 && repeated[0].1.contains(part),
        "{repeated:?}"
    );
    // For many vectors, that is little.
    let long = "asm = cpu, layers = [main {q: 512, k: 512, j: 8}, simd {j: 8}],
        decompose = {order: [main.q, main.k, main.j, simd.j]}";
    let mut wide = exp.clone();
    wide.dimensions[1] = Dimension::dense("j", Some(640), Combine::Cc);
    assert_eq!(
        causes(&wide, &long.replace("j: 8}, simd", "j: 80}, simd")),
        []
    );
    assert_eq!(causes(&exp, long), [Cause::Repetition]);
}
