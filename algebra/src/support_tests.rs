//! Supports against the definition: at each point outside, the value is the neutral element.

use super::*;
use crate::computation::Combine;
use crate::domain::points;
use crate::examples::{Builder, d};

const F32: ScalarType = ScalarType::F32;

fn apply(result: Register, op: Op, operands: &[Register], ty: ScalarType) -> Instruction {
    let operands = operands.to_vec();
    Instruction::Apply {
        result,
        op,
        operands,
        ty,
    }
}

fn number(result: Register, value: i64) -> Instruction {
    let value = Scalar::from_i64(ScalarType::Index, value);
    Instruction::Constant { result, value }
}

fn compare(result: Register, predicate: CmpiPredicate, operands: &[Register]) -> Instruction {
    apply(result, Op::Cmpi(predicate), operands, ScalarType::I1)
}

/// A sum over the second of two dimensions of code on an element (register 0), the indices (1 and 2), 0.0 (3)
/// and what else is given, which is yielded in the end.
fn sum(counts: [i64; 2], more: &[Instruction], yielded: Register) -> Computation {
    let value = Scalar::zero(F32);
    let mut instructions = vec![
        Instruction::Index {
            result: 1,
            dimension: 0,
        },
        Instruction::Index {
            result: 2,
            dimension: 1,
        },
        Instruction::Constant { result: 3, value },
    ];
    instructions.extend_from_slice(more);
    let code = Code {
        inputs: vec![F32],
        results: vec![F32],
        registers: 32,
        body: Block {
            instructions,
            yields: vec![yielded],
        },
    };
    let combines = [Combine::Cc, Combine::Pw(0)];
    let add = Operator::Builtin(vec![Builtin::Addf]);
    Builder::new(&counts, &combines, vec![add])
        .input(F32, &counts, &[d(0), d(1)])
        .scalar(code)
        .output(F32, &counts[..1], &[d(0)])
        .0
}

/// The points at which the value is not the neutral element lie in the support, and comparisons are
/// what it decides.
fn holds(of: &Computation) -> Support {
    let support = Support::new(of);
    let grids = of.grids().expect("they are known");
    for point in points(&grids) {
        let met = |c: &Condition| c.eval(&point).expect("it is small") >= 0;
        let inside = support.conditions.iter().all(met);
        let element = [Scalar::from_f64(F32, 7.0)];
        let value = of.scalar.eval(&element, &point).expect("it is code");
        assert!(inside || value[0].as_f64() == 0.0, "{point:?} {support:?}");
        if !inside {
            continue;
        }
        for (register, truth) in &support.decided {
            let mut code = of.scalar.clone();
            (code.body.yields, code.results) = (vec![*register], vec![ScalarType::I1]);
            let is = code.eval(&element, &point).expect("it is code")[0];
            assert_eq!(is.is_true(), *truth, "{point:?} {register}");
        }
    }
    support
}

fn form(i: i64, k: i64, constant: i64) -> Condition {
    Form {
        coefficients: vec![i, k],
        constant,
    }
}

#[test]
fn one_comparison_is_one_condition() {
    use CmpiPredicate::*;
    let cases = [
        (Sle, [2, 1], true, form(1, -1, 0)),
        (Sgt, [2, 1], true, form(-1, 1, -1)),
        (Slt, [1, 2], true, form(-1, 1, -1)),
        (Sgt, [2, 1], false, form(1, -1, 0)),
        (Sge, [1, 2], false, form(-1, 1, -1)),
    ];
    for (predicate, operands, truth, expected) in cases {
        let values = if truth { [4, 0, 3] } else { [4, 3, 0] };
        let more = [
            compare(4, predicate, &operands),
            apply(5, Op::Select, &values, F32),
        ];
        let support = holds(&sum([7, 5], &more, 5));
        assert_eq!(support.conditions, [expected], "{predicate:?}");
        assert_eq!(support.decided, [(4, truth)]);
        assert_eq!(support.left, None);
    }
}

#[test]
fn bands_squares_and_the_diagonal() {
    use CmpiPredicate::*;
    let band = [
        number(4, 2),
        apply(5, Op::Addi, &[1, 4], ScalarType::Index),
        apply(6, Op::Subi, &[1, 4], ScalarType::Index),
        compare(7, Sle, &[2, 5]),
        compare(8, Sge, &[2, 6]),
        apply(9, Op::Andi, &[7, 8], ScalarType::I1),
        apply(10, Op::Select, &[9, 0, 3], F32),
    ];
    let support = holds(&sum([9, 8], &band, 10));
    assert_eq!(support.conditions, [form(1, -1, 2), form(-1, 1, 2)]);
    let diagonal = [
        compare(4, Eq, &[1, 2]),
        apply(5, Op::Select, &[4, 0, 3], F32),
    ];
    assert_eq!(holds(&sum([6, 6], &diagonal, 5)).conditions.len(), 2);
    let unequal = [
        compare(4, Ne, &[1, 2]),
        apply(5, Op::Select, &[4, 3, 0], F32),
    ];
    assert_eq!(holds(&sum([6, 6], &unequal, 5)).conditions.len(), 2);
    let apart = [
        compare(4, Ne, &[1, 2]),
        apply(5, Op::Select, &[4, 0, 3], F32),
    ];
    let support = holds(&sum([6, 6], &apart, 5));
    assert!(support.is_everything());
    assert_eq!(support.left, Some(Left::Value));
    // 0 <= k - i < 3, as numbers without a sign have it.
    let unsigned = [
        number(4, 3),
        apply(5, Op::Subi, &[2, 1], ScalarType::Index),
        compare(6, Ult, &[5, 4]),
        apply(7, Op::Select, &[6, 0, 3], F32),
    ];
    assert_eq!(holds(&sum([6, 9], &unsigned, 7)).conditions.len(), 2);
}

#[test]
fn alternatives_have_in_common_what_both_imply() {
    use CmpiPredicate::*;
    let either = [
        number(4, 2),
        apply(5, Op::Addi, &[1, 4], ScalarType::Index),
        compare(6, Sle, &[2, 1]),
        compare(7, Sle, &[2, 5]),
        apply(8, Op::Ori, &[6, 7], ScalarType::I1),
        apply(9, Op::Select, &[8, 0, 3], F32),
    ];
    // k <= i or k <= i + 2.
    let support = holds(&sum([6, 9], &either, 9));
    assert_eq!(support.conditions, [form(1, -1, 2)]);
    assert_eq!(support.decided, [(7, true)]);
    let branches = Instruction::If {
        condition: 4,
        then: Block {
            instructions: vec![apply(5, Op::Negf, &[0], F32)],
            yields: vec![5],
        },
        otherwise: Block {
            instructions: vec![],
            yields: vec![3],
        },
        results: vec![6],
    };
    let more = [compare(4, Sle, &[2, 1]), branches];
    assert_eq!(holds(&sum([6, 9], &more, 6)).conditions, [form(1, -1, 0)]);
}

#[test]
fn other_values_and_sizes_say_nothing() {
    use CmpiPredicate::*;
    let unit = Instruction::Constant {
        result: 4,
        value: Scalar::from_f64(F32, 1.0),
    };
    let chosen = [
        unit,
        compare(5, Sle, &[2, 1]),
        apply(6, Op::Select, &[5, 0, 4], F32),
    ];
    let support = holds(&sum([6, 9], &chosen, 6));
    assert!(support.is_everything());
    assert_eq!(support.left, Some(Left::Value));
    // What holds for all points is no condition.
    let always = [
        number(4, 100),
        compare(5, Slt, &[2, 4]),
        apply(6, Op::Select, &[5, 0, 3], F32),
    ];
    assert!(holds(&sum([6, 9], &always, 6)).is_everything());
    // An index that is cut off is another number, unless it has room.
    let narrow = |count| {
        let more = [
            apply(4, Op::IndexCast, &[1], ScalarType::I8),
            apply(5, Op::IndexCast, &[2], ScalarType::I8),
            compare(6, Sle, &[5, 4]),
            apply(7, Op::Select, &[6, 0, 3], F32),
        ];
        holds(&sum([count, 5], &more, 7))
    };
    assert_eq!(narrow(100).conditions, [form(1, -1, 0)]);
    assert!(narrow(200).is_everything());
    // The same as the scheduled program has it.
    let cut_off = |ty, count| {
        let more = [
            apply(4, Op::IndexCast, &[1], ScalarType::I64),
            apply(5, Op::IndexCast, &[2], ScalarType::I64),
            apply(6, Op::Trunci, &[4], ty),
            apply(7, Op::Trunci, &[5], ty),
            compare(8, Sle, &[7, 6]),
            apply(9, Op::Select, &[8, 0, 3], F32),
        ];
        holds(&sum([count, 5], &more, 9))
    };
    assert_eq!(cut_off(ScalarType::I8, 100).conditions, [form(1, -1, 0)]);
    assert!(cut_off(ScalarType::I8, 200).is_everything());
    assert_eq!(cut_off(ScalarType::I16, 200).conditions, [form(1, -1, 0)]);
    let mut open = sum([6, 9], &[], 0);
    open.scalar = Code::single(Op::Negf, F32);
    open.scalar.body.yields.clear();
    assert!(Support::new(&open).is_everything(), "there is no code");
}

#[test]
fn numbers_without_a_sign_and_shifts_are_affine() {
    use CmpiPredicate::*;
    let widened = |from: i64| {
        let more = [
            number(4, from),
            apply(5, Op::Addi, &[2, 4], ScalarType::Index),
            apply(6, Op::IndexCast, &[5], ScalarType::I8),
            apply(7, Op::Extui, &[6], ScalarType::I32),
            apply(8, Op::IndexCastui, &[1], ScalarType::I32),
            compare(9, Sle, &[7, 8]),
            apply(10, Op::Select, &[9, 0, 3], F32),
        ];
        holds(&sum([6, 9], &more, 10))
    };
    assert_eq!(widened(0).conditions, [form(1, -1, 0)]);
    // -1 is 255.
    let below = widened(-1);
    assert!(below.is_everything());
    assert_eq!(below.left, Some(Left::Comparison));
    let shifted = [
        number(4, 1),
        apply(5, Op::Shli, &[2, 4], ScalarType::Index),
        compare(6, Sle, &[5, 1]),
        apply(7, Op::Select, &[6, 0, 3], F32),
    ];
    assert_eq!(
        holds(&sum([9, 6], &shifted, 7)).conditions,
        [form(1, -2, 0)]
    );
    let halved = [
        number(4, 2),
        apply(5, Op::Divui, &[2, 4], ScalarType::Index),
        compare(6, Sle, &[5, 1]),
        apply(7, Op::Select, &[6, 0, 3], F32),
    ];
    let support = holds(&sum([6, 9], &halved, 7));
    assert!(support.is_everything());
    assert_eq!(support.left, Some(Left::Comparison));
    // What is read is nothing that loops know.
    let read = [
        apply(4, Op::Fptosi, &[0], ScalarType::I64),
        apply(5, Op::IndexCast, &[1], ScalarType::I64),
        compare(6, Sle, &[4, 5]),
        apply(7, Op::Select, &[6, 0, 3], F32),
    ];
    assert_eq!(holds(&sum([6, 9], &read, 7)).left, None);
}

#[test]
fn a_condition_is_a_factor() {
    let mut counted = sum(
        [6, 9],
        &[
            compare(4, CmpiPredicate::Sle, &[2, 1]),
            apply(5, Op::Extui, &[4], ScalarType::I32),
            apply(6, Op::Muli, &[0, 5], ScalarType::I32),
        ],
        6,
    );
    let add = Operator::Builtin(vec![Builtin::Addi]);
    counted.operators = vec![add];
    counted.components = vec![ScalarType::I32];
    (counted.scalar.inputs, counted.scalar.results) =
        (vec![ScalarType::I32], vec![ScalarType::I32]);
    assert_eq!(Support::new(&counted).conditions, [form(1, -1, 0)]);
}

#[test]
fn shares_of_triangles_and_squares() {
    use CmpiPredicate::*;
    let lower = [
        compare(4, Sle, &[2, 1]),
        apply(5, Op::Select, &[4, 0, 3], F32),
    ];
    let triangle = sum([1000, 1000], &lower, 5);
    let support = Support::new(&triangle);
    assert!((contributing(&triangle) - 0.5).abs() < 0.03);
    let whole = [Grid::dense(1000), Grid::dense(1000)];
    assert!((support.share(&whole) - 0.5).abs() < 0.03);
    let upper = Grid {
        lower: 500,
        ..Grid::dense(1000)
    };
    assert!((support.share(&[upper, whole[1]]) - 0.75).abs() < 0.03);
}
