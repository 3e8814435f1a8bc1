//! Loops, branches, calls, limits, and code that is not well formed.

use std::sync::Arc;

use super::*;
use crate::code::Sign;
use ScalarType::{F32, I1, I32, I64, Index};

fn apply(result: Register, op: Op, operands: &[Register], ty: ScalarType) -> Instruction {
    Instruction::Apply {
        result,
        op,
        operands: operands.to_vec(),
        ty,
    }
}

fn constant(result: Register, ty: ScalarType, v: i64) -> Instruction {
    let value = Scalar::from_i64(ty, v);
    Instruction::Constant { result, value }
}

fn block(instructions: Vec<Instruction>, yields: &[Register]) -> Block {
    Block {
        instructions,
        yields: yields.to_vec(),
    }
}

fn code(inputs: &[ScalarType], results: &[ScalarType], registers: usize, body: Block) -> Code {
    Code {
        inputs: inputs.to_vec(),
        results: results.to_vec(),
        registers,
        body,
    }
}

fn slt() -> Op {
    Op::from_mlir("arith.cmpi", Some(2)).unwrap()
}

/// Fibonacci: the iteration arguments swap places, which a copy one by one would get wrong.
fn fibonacci() -> Code {
    let body = block(vec![apply(8, Op::Addi, &[6, 7], I64)], &[7, 8]);
    let instructions = vec![
        constant(1, Index, 0),
        constant(2, Index, 1),
        constant(3, I64, 0),
        constant(4, I64, 1),
        Instruction::For {
            sign: Sign::Signed,
            lower: 1,
            upper: 0,
            step: 2,
            induction: 5,
            initial: vec![3, 4],
            arguments: vec![6, 7],
            body,
            results: vec![9, 10],
        },
    ];
    code(&[Index], &[I64], 11, block(instructions, &[9]))
}

#[test]
fn for_loops() {
    let f = fibonacci();
    for (n, expected) in [(0, 0), (1, 1), (2, 1), (10, 55), (-3, 0)] {
        let r = f.eval(&[Scalar::from_i64(Index, n)], &[]).unwrap();
        assert_eq!(r[0].as_i64(), expected);
    }
}

/// From 5 to 2^32 - 3 in steps of 2^30; as signed numbers there is no iteration.
#[test]
fn loops_without_a_sign() {
    let counted = |sign| {
        let body = block(vec![apply(8, Op::Addi, &[6, 3], I32)], &[8]);
        let instructions = vec![
            constant(0, I32, 5),
            constant(1, I32, -3),
            constant(2, I32, 1 << 30),
            constant(3, I32, 1),
            constant(4, I32, 0),
            Instruction::For {
                sign,
                lower: 0,
                upper: 1,
                step: 2,
                induction: 5,
                initial: vec![4],
                arguments: vec![6],
                body,
                results: vec![7],
            },
        ];
        let f = code(&[], &[I32], 9, block(instructions, &[7]));
        (f.eval(&[], &[]).unwrap()[0].as_i64(), f.flops())
    };
    assert_eq!(counted(Sign::Unsigned), (4, 4));
    assert_eq!(counted(Sign::Signed), (0, 0));
}

#[test]
fn broken_promises_are_errors() {
    let promise = Instruction::Promise {
        promise: crate::promise::Promise::NoSignedWrap,
        op: Op::Addi,
        operands: vec![0, 0],
        ty: I32,
    };
    let f = code(
        &[I32],
        &[I32],
        2,
        block(vec![promise, apply(1, Op::Addi, &[0, 0], I32)], &[1]),
    );
    let run = |x| f.eval(&[Scalar::from_i64(I32, x)], &[]);
    assert_eq!(run(-3).unwrap()[0].as_i64(), -6);
    assert!(matches!(run(1 << 30), Err(EvalError::Undefined(_))));
}

#[test]
fn while_loops_forward_their_values() {
    // while (x < 100) x = x * 2; returns x.
    let w = Instruction::While {
        initial: vec![0],
        before_arguments: vec![1],
        before: block(
            vec![constant(2, I32, 100), apply(3, slt(), &[1, 2], I1)],
            &[3, 1],
        ),
        after_arguments: vec![4],
        after: block(vec![apply(5, Op::Addi, &[4, 4], I32)], &[5]),
        results: vec![6],
    };
    let f = code(&[I32], &[I32], 7, block(vec![w], &[6]));
    let run = |x| f.eval(&[Scalar::from_i64(I32, x)], &[]);
    assert_eq!(run(3).unwrap()[0].as_i64(), 192);
    assert_eq!(run(300).unwrap()[0].as_i64(), 300);
    // 0 never grows: the limit ends it.
    let mut machine = Machine::with_step_limit(1000);
    let mut out = [EMPTY];
    let e = machine.run(&f, &[Scalar::from_i64(I32, 0)], &[], &mut out);
    assert_eq!(e, Err(EvalError::StepLimit { limit: 1000 }));
}

#[test]
fn branches_calls_and_indices() {
    let callee = Arc::new(fibonacci());
    let call = |operand, result| Instruction::Call {
        callee: callee.clone(),
        operands: vec![operand],
        results: vec![result],
    };
    let instructions = vec![
        Instruction::Index {
            result: 1,
            dimension: 1,
        },
        Instruction::If {
            condition: 0,
            then: block(vec![call(1, 2)], &[2]),
            otherwise: block(vec![constant(3, I64, -1)], &[3]),
            results: vec![4],
        },
    ];
    let f = code(&[I1], &[I64], 5, block(instructions, &[4]));
    let run = |b| f.eval(&[Scalar::from_bool(b)], &[3, 7]).unwrap()[0].as_i64();
    assert_eq!((run(true), run(false)), (13, -1));
    assert_eq!(f.dimensions().into_iter().collect::<Vec<_>>(), [1]);
    let outside = f.eval(&[Scalar::from_bool(true)], &[3]);
    assert!(matches!(outside, Err(EvalError::Malformed(_))));
}

#[test]
fn malformed_code_is_an_error() {
    let bad = [
        code(&[F32], &[F32], 1, block(vec![], &[5])),
        code(
            &[F32],
            &[F32],
            1,
            block(vec![apply(9, Op::Negf, &[0], F32)], &[0]),
        ),
        code(
            &[F32],
            &[F32],
            2,
            block(vec![apply(1, Op::Addf, &[0, 0, 0, 0], F32)], &[1]),
        ),
        code(&[F32], &[F32], 0, block(vec![], &[0])),
    ];
    for f in bad {
        let x = Scalar::zero(F32);
        assert!(matches!(f.eval(&[x], &[]), Err(EvalError::Malformed(_))));
    }
    let identity = Code::identity(&[F32]);
    assert!(matches!(
        identity.eval(&[], &[]),
        Err(EvalError::Malformed(_))
    ));
}

#[test]
fn undefined_operations_are_errors() {
    let f = Code::single(Op::Divsi, I32);
    let e = f.eval(&[Scalar::from_i64(I32, 1), Scalar::zero(I32)], &[]);
    assert!(matches!(e, Err(EvalError::Undefined(_))));
}

#[test]
fn bad_loop_steps_are_errors() {
    let mut f = fibonacci();
    f.body.instructions[1] = constant(2, Index, 0);
    let e = f.eval(&[Scalar::from_i64(Index, 3)], &[]);
    assert_eq!(e, Err(EvalError::LoopStep { step: 0 }));
}

#[test]
fn noise_moves_math_functions_only() {
    let x = Scalar::from_f64(F32, 0.7);
    let mut machine = Machine::new();
    let mut out = [EMPTY];
    let exp = Code::single(Op::Exp, F32);
    let exact = exp.eval(&[x], &[]).unwrap()[0].as_f64();
    let (mut up, mut down) = (0, 0);
    for seed in 0..100 {
        machine.set_noise(Some(Noise::Library(seed)));
        machine.run(&exp, &[x], &[], &mut out).unwrap();
        let off = (out[0].as_f64() - exact) / F32.ulp(exact);
        assert_eq!(off.abs(), MATH_ULPS);
        up += usize::from(off > 0.0);
        down += usize::from(off < 0.0);
        let first = out;
        machine.run(&exp, &[x], &[], &mut out).unwrap();
        assert_eq!(out, first, "always in the same way");
    }
    assert!(up > 20 && down > 20);
    let neg = Code::single(Op::Negf, F32);
    machine.run(&neg, &[x], &[], &mut out).unwrap();
    assert_eq!(out[0].as_f64(), -x.as_f64());
}

#[test]
fn flops_count_loops_and_branches() {
    let mut f = fibonacci();
    assert_eq!(f.flops(), 1, "unknown bound: one iteration");
    f.body.instructions.insert(0, constant(0, Index, 12));
    assert_eq!(f.flops(), 12);
    assert_eq!(Code::single(Op::Fma, F32).flops(), 2);
    assert_eq!(Code::identity(&[F32]).flops(), 0);
}
