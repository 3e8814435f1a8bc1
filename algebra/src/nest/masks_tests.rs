//! Sums and products under conditions.

use crate::affine::Expr;
use crate::code::{Block, Code, Instruction, Register};
use crate::examples::d;
use crate::nest::{Accumulation, Licence, Nest, NestAccess};
use crate::op::{CmpfPredicate, Op};
use crate::operator::Builtin;
use crate::scalar::{Scalar, ScalarType};
use ScalarType::{BF16, F32, I1};

fn apply(op: Op, operands: &[Register], ty: ScalarType, result: Register) -> Instruction {
    Instruction::Apply {
        result,
        op,
        operands: operands.to_vec(),
        ty,
    }
}

/// A sum over the second of two loops by code on an element and what is accumulated.
fn nest(instructions: Vec<Instruction>, yielded: Register) -> Nest {
    let access = |map: &[Expr]| NestAccess::new(F32, map.to_vec());
    Nest {
        dimensions: 2,
        inputs: vec![access(&[d(0), d(1)])],
        outputs: vec![access(&[d(0)])],
        code: Code {
            inputs: vec![F32; 2],
            results: vec![F32],
            registers: 16,
            body: Block {
                instructions,
                yields: vec![yielded],
            },
        },
        licence: Licence::None,
    }
}

/// The operator, and the term of an element.
fn term(of: &Nest, element: f64) -> Option<(Builtin, Scalar)> {
    let Accumulation::Combined(chains, code) = of.accumulation() else {
        return None;
    };
    let operator = chains[0].as_ref()?.operator;
    let arguments = [element, 9.0].map(|x| Scalar::from_f64(F32, x));
    Some((operator, code.eval(&arguments, &[]).expect("it is code")[0]))
}

fn positive() -> [Instruction; 2] {
    let value = Scalar::zero(F32);
    let zero = Instruction::Constant { result: 2, value };
    [zero, apply(Op::Cmpf(CmpfPredicate::Ogt), &[0, 2], I1, 3)]
}

fn number(x: f64) -> Scalar {
    Scalar::from_f64(F32, x)
}

#[test]
fn what_is_left_out_of_a_sum_is_minus_zero() {
    for (operands, sign) in [([3, 4, 1], 1.0), ([3, 1, 4], -1.0)] {
        let mut code = positive().to_vec();
        code.push(apply(Op::Addf, &[1, 0], F32, 4));
        code.push(apply(Op::Select, &operands, F32, 5));
        let masked = nest(code, 5);
        assert_eq!(
            term(&masked, 2.0 * sign),
            Some((Builtin::Addf, number(2.0 * sign)))
        );
        assert_eq!(
            term(&masked, -2.0 * sign),
            Some((Builtin::Addf, number(-0.0)))
        );
    }
}

/// `x > 0 ? acc - x : fma(x, x, acc)`, and with branches.
#[test]
fn both_sides_may_go_further() {
    let sides = [
        apply(Op::Subf, &[1, 0], F32, 4),
        apply(Op::Fma, &[0, 0, 1], F32, 5),
    ];
    let mut chosen = positive().to_vec();
    chosen.extend(sides.clone());
    chosen.push(apply(Op::Select, &[3, 4, 5], F32, 6));
    let block = |instruction: &Instruction, yielded| Block {
        instructions: vec![instruction.clone()],
        yields: vec![yielded],
    };
    let mut branched = positive().to_vec();
    branched.push(Instruction::If {
        condition: 3,
        then: block(&sides[0], 4),
        otherwise: block(&sides[1], 5),
        results: vec![6],
    });
    for code in [chosen, branched] {
        let masked = nest(code, 6);
        assert_eq!(term(&masked, 2.0), Some((Builtin::Addf, number(-2.0))));
        assert_eq!(term(&masked, -3.0), Some((Builtin::Addf, number(9.0))));
    }
}

#[test]
fn branches_within_branches_are_lifted() {
    let product = apply(Op::Mulf, &[1, 0], F32, 4);
    let inner = Instruction::If {
        condition: 3,
        then: Block {
            instructions: vec![product],
            yields: vec![4],
        },
        otherwise: Block {
            instructions: vec![],
            yields: vec![1],
        },
        results: vec![5],
    };
    let mut code = positive().to_vec();
    code.push(apply(Op::Cmpf(CmpfPredicate::Une), &[0, 2], I1, 7));
    code.push(Instruction::If {
        condition: 7,
        then: Block {
            instructions: vec![inner],
            yields: vec![5],
        },
        otherwise: Block {
            instructions: vec![],
            yields: vec![1],
        },
        results: vec![6],
    });
    let masked = nest(code, 6);
    assert_eq!(term(&masked, 2.0), Some((Builtin::Mulf, number(2.0))));
    for left_out in [-2.0, 0.0] {
        assert_eq!(term(&masked, left_out), Some((Builtin::Mulf, number(1.0))));
    }
}

#[test]
fn other_conditions_stay() {
    // On what is accumulated.
    let mut code = positive().to_vec();
    code[1] = apply(Op::Cmpf(CmpfPredicate::Ogt), &[1, 2], I1, 3);
    code.push(apply(Op::Addf, &[1, 0], F32, 4));
    code.push(apply(Op::Select, &[3, 4, 1], F32, 5));
    assert_eq!(term(&nest(code, 5), 2.0), None);
    // By two operators.
    let mut code = positive().to_vec();
    code.push(apply(Op::Addf, &[1, 0], F32, 4));
    code.push(apply(Op::Mulf, &[1, 0], F32, 5));
    code.push(apply(Op::Select, &[3, 4, 5], F32, 6));
    assert_eq!(term(&nest(code, 6), 2.0), None);
    // The sum is used elsewhere, too.
    let mut code = positive().to_vec();
    code.push(apply(Op::Addf, &[1, 0], F32, 4));
    code.push(apply(Op::Select, &[3, 4, 1], F32, 5));
    code.push(apply(Op::Mulf, &[4, 5], F32, 6));
    assert_eq!(term(&nest(code, 6), 2.0), None);
}

/// `truncf(extf(acc) + t)` for terms of the narrower type, and others.
#[test]
fn what_is_rounded_each_time_is_summed_in_its_own_type() {
    let summed = |term: Vec<Instruction>, sum: Op| {
        let mut code = vec![apply(Op::Extf, &[0], F32, 2), apply(Op::Extf, &[1], F32, 3)];
        code.extend(term);
        code.push(apply(sum, &[3, 4], F32, 5));
        code.push(apply(Op::Truncf, &[5], BF16, 6));
        let mut reduction = nest(code, 6);
        reduction.inputs[0].element = BF16;
        reduction.outputs[0].element = BF16;
        reduction.code.inputs = vec![BF16; 2];
        reduction.code.results = vec![BF16];
        let Accumulation::Combined(chains, code) = reduction.accumulation() else {
            return None;
        };
        let arguments = [1.0078125, 9.0].map(|x| Scalar::from_f64(BF16, x));
        let term = code.eval(&arguments, &[]).expect("it is code")[0];
        Some((chains[0].as_ref()?.operator, term))
    };
    let number = |x: f64| Scalar::from_f64(BF16, x);
    let constant = |x: f64| Instruction::Constant {
        result: 4,
        value: Scalar::from_f64(F32, x),
    };
    let negative = || vec![apply(Op::Negf, &[2], F32, 4)];
    let product = || vec![apply(Op::Mulf, &[2, 2], F32, 4)];
    assert_eq!(
        summed(negative(), Op::Addf),
        Some((Builtin::Addf, number(-1.0078125)))
    );
    assert_eq!(
        summed(negative(), Op::Subf),
        Some((Builtin::Addf, number(1.0078125)))
    );
    assert_eq!(
        summed(vec![constant(0.5)], Op::Mulf),
        Some((Builtin::Mulf, number(0.5)))
    );
    // 0.1 is no number of the narrower type, and a sum or a product of two of these may be none.
    assert_eq!(summed(product(), Op::Addf), None);
    assert_eq!(summed(product(), Op::Mulf), None);
    let sum = vec![apply(Op::Addf, &[2, 2], F32, 4)];
    assert_eq!(summed(sum, Op::Addf), None);
    assert_eq!(summed(vec![constant(0.1)], Op::Addf), None);
}
