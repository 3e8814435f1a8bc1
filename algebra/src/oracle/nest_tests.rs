//! Nests against loops that are written out, and bounds that hold in any order.

use super::*;
use crate::affine::Expr;
use crate::code::Code;
use crate::examples::{d, straight};
use crate::nest::{Licence, Nest, NestAccess};
use crate::op::Op;
use crate::scalar::ScalarType::{self, F32, I32, Index};

/// Row-major arrays of the operands.
struct Arrays(Vec<Vec<Element>>);

impl Elements for Arrays {
    fn read(&mut self, operand: usize, flat: usize) -> Result<Element, Failure> {
        let element = self.0[operand].get(flat).copied();
        element.ok_or_else(|| Failure::Environment(format!("no element {flat} of {operand}")))
    }

    fn tensor(&self, operand: usize) -> u64 {
        operand as u64
    }
}

fn nest(dimensions: usize, maps: &[&[Expr]], outputs: usize, code: Code) -> Nest {
    let access = |(map, element): (&&[Expr], &ScalarType)| NestAccess::new(*element, map.to_vec());
    let mut accesses: Vec<NestAccess> = maps.iter().zip(&code.inputs).map(access).collect();
    let outputs = accesses.split_off(maps.len() - outputs);
    Nest {
        dimensions,
        inputs: accesses,
        outputs,
        code,
        licence: Licence::None,
    }
}

fn floats(values: &[f64]) -> Vec<Element> {
    let element = |v: &f64| Element::exact(Scalar::from_f64(F32, *v));
    values.iter().map(element).collect()
}

fn integers(values: &[i64]) -> Vec<Element> {
    let element = |v: &i64| Element::exact(Scalar::from_i64(I32, *v));
    values.iter().map(element).collect()
}

fn all(bound: &BoundNest, arrays: &mut Arrays) -> Vec<Vec<Element>> {
    NestEvaluator::new(bound, Errors::Bounded)
        .all(arrays)
        .unwrap()
}

fn numbers(elements: &[Element]) -> Vec<f64> {
    elements.iter().map(|e| e.value.as_f64()).collect()
}

fn matmul() -> Nest {
    let rows: [(Op, &[usize], _); 2] = [(Op::Mulf, &[0, 1], F32), (Op::Addf, &[2, 3], F32)];
    let code = straight(&[F32; 3], &rows, &[4], &[F32]);
    nest(3, &[&[d(0), d(2)], &[d(2), d(1)], &[d(0), d(1)]], 1, code)
}

/// A product of matrices onto what was there: exact for small numbers, with the bound of a sum, alike
/// as a whole and element by element.
#[test]
fn sums_have_the_bound_of_any_order() {
    let shapes = vec![vec![2, 3], vec![3, 2], vec![2, 2]];
    let bound = BoundNest::new(matmul(), shapes).unwrap();
    let a = floats(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let b = floats(&[1.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
    let mut arrays = Arrays(vec![a, b, floats(&[10.0, 20.0, 30.0, 40.0])]);
    let whole = all(&bound, &mut arrays);
    assert_eq!(numbers(&whole[0]), [14.0, 25.0, 40.0, 51.0]);
    // Three additions of numbers whose sizes add up to 14.
    assert_eq!(whole[0][0].error, 3.0 * F32.epsilon() * 14.0);
    for (flat, index) in [[0, 0], [0, 1], [1, 0], [1, 1]].iter().enumerate() {
        let mut evaluator = NestEvaluator::new(&bound, Errors::Bounded);
        let single = evaluator.one(&mut arrays, 0, index).unwrap();
        assert_eq!(single, [(flat, whole[0][flat])]);
    }
}

/// In each of many orders, in its own type, a sum is within its bound.
#[test]
fn a_sum_in_any_order_is_within_its_bound() {
    let n = 200;
    let code = straight(&[F32; 2], &[(Op::Addf, &[0, 1], F32)], &[2], &[F32]);
    let bound = BoundNest::new(nest(1, &[&[d(0)], &[]], 1, code), vec![vec![n], vec![]]);
    let bound = bound.unwrap();
    let mut random = crate::random::Random::new(7);
    let mut some = || random.below(1 << 20) as f64 / 1000.0 - 500.0;
    let values: Vec<f64> = (0..=n).map(|_| some()).collect();
    let (x, carried) = (floats(&values[1..]), floats(&values[..1]));
    let mut order: Vec<f32> = (x.iter().chain(&carried))
        .map(|e| e.value.as_f32())
        .collect();
    let expected = all(&bound, &mut Arrays(vec![x, carried]))[0][0];
    assert!(expected.error > 0.0 && expected.error < 10.0);
    let mut random = crate::random::Random::new(8);
    let mut is_elsewhere = false;
    for _ in 0..100 {
        for n in (1..order.len()).rev() {
            order.swap(n, random.below(n as u64 + 1) as usize);
        }
        let sum = f64::from(order.iter().sum::<f32>());
        let off = (sum - expected.value.as_f64()).abs();
        assert!(off <= expected.error, "{off}");
        is_elsewhere |= off > 0.0;
    }
    assert!(is_elsewhere);
}

/// Sums of several terms of one point, beside a maximum that nothing rounds: each order is within the
/// bound of the sum, and the maximum is exact.
#[test]
fn outputs_have_bounds_of_their_own() {
    let n = 100;
    let rows: [(Op, &[usize], _); 3] = [
        (Op::Subf, &[2, 0], F32),
        (Op::Addf, &[4, 1], F32),
        (Op::Maxnumf, &[0, 3], F32),
    ];
    let code = straight(&[F32; 4], &rows, &[5, 6], &[F32; 2]);
    let reduction = nest(1, &[&[d(0)], &[d(0)], &[], &[]], 2, code);
    let bound = BoundNest::new(reduction, vec![vec![n], vec![n], vec![], vec![]]).unwrap();
    let mut random = crate::random::Random::new(3);
    let mut some = || (random.below(1 << 20) as f64 / 1000.0 - 500.0) as f32;
    let [a, b]: [Vec<f32>; 2] = [(); 2].map(|()| (0..n).map(|_| some()).collect());
    let elements =
        |values: &[f32]| floats(&values.iter().map(|v| f64::from(*v)).collect::<Vec<_>>());
    let start = || elements(&[7.25]);
    let arrays = vec![elements(&a), elements(&b), start(), start()];
    let results = all(&bound, &mut Arrays(arrays));
    let [sum, largest] = [results[0][0], results[1][0]];
    let maximum = a.iter().copied().fold(7.25, f32::max);
    assert_eq!(
        largest,
        Element::exact(Scalar::from_f64(F32, maximum.into()))
    );
    // 200 terms and what was there.
    let size: f64 = a.iter().chain(&b).map(|v| f64::from(v.abs())).sum();
    assert_eq!(sum.error, 200.0 * F32.epsilon() * (size + 7.25));
    let backwards = (0..n as usize).rev().map(|i| b[i] - a[i]).sum::<f32>() + 7.25;
    let forwards = (0..n as usize).fold(7.25f32, |acc, i| acc - a[i] + b[i]);
    assert_ne!(backwards, forwards);
    for rounded in [backwards, forwards] {
        assert!((f64::from(rounded) - sum.value.as_f64()).abs() <= sum.error);
    }
}

/// `log(exp(acc) + exp(x))`, without what overflows.
fn log_sum_exp() -> Nest {
    let rows: [(Op, &[usize], _); 8] = [
        (Op::Maximumf, &[1, 0], F32),
        (Op::Subf, &[1, 2], F32),
        (Op::Subf, &[0, 2], F32),
        (Op::Exp, &[3], F32),
        (Op::Exp, &[4], F32),
        (Op::Addf, &[5, 6], F32),
        (Op::Log, &[7], F32),
        (Op::Addf, &[2, 8], F32),
    ];
    let code = straight(&[F32; 2], &rows, &[9], &[F32]);
    Nest {
        licence: Licence::Associative,
        ..nest(1, &[&[d(0)], &[]], 1, code)
    }
}

/// An operator that is only said to be associative: parts that are combined separately, in whatever
/// tree, are within the bound, and what leaves an element out, or takes one twice, is not.
#[test]
fn licensed_reductions_have_a_bound_that_catches_mistakes() {
    let n = 48usize;
    let bound = BoundNest::new(log_sum_exp(), vec![vec![n as i64], vec![]]).unwrap();
    let mut random = crate::random::Random::new(5);
    let mut some = || (random.below(1 << 16) as f64 / 16384.0 - 2.0) as f32;
    let x: Vec<f32> = (0..n).map(|_| some()).collect();
    let elements = floats(&x.iter().map(|v| f64::from(*v)).collect::<Vec<_>>());
    let arrays = || Arrays(vec![elements.clone(), floats(&[f64::NEG_INFINITY])]);
    let whole = all(&bound, &mut arrays())[0][0];
    assert!(whole.differs_from_zero(), "{whole:?}");
    let is_within = |value: f32| (f64::from(value) - whole.value.as_f64()).abs() <= whole.error;
    let both = |a: f32, b: f32| a.max(b) + ((a - a.max(b)).exp() + (b - a.max(b)).exp()).ln();
    fn tree(x: &[f32], at: &mut dyn FnMut(usize) -> usize, both: &dyn Fn(f32, f32) -> f32) -> f32 {
        match x {
            [one] => *one,
            _ => {
                let (left, right) = x.split_at(1 + at(x.len() - 1));
                both(tree(left, at, both), tree(right, at, both))
            }
        }
    }
    let mut random = crate::random::Random::new(6);
    let mut is_elsewhere = false;
    for _ in 0..100 {
        let value = tree(&x, &mut |n| random.below(n as u64) as usize, &both);
        assert!(is_within(value), "{value} {whole:?}");
        is_elsewhere |= f64::from(value) != whole.value.as_f64();
    }
    assert!(is_elsewhere);
    for wrong in 0..n {
        let in_order = |x: &[f32]| x.iter().copied().reduce(both).unwrap();
        let without = [&x[..wrong], &x[wrong + 1..]].concat();
        let twice = [&x[..], &x[wrong..=wrong]].concat();
        assert!(!is_within(in_order(&without)) && !is_within(in_order(&twice)));
    }
    // Without the licence the points go one after the other.
    let unlicensed = Nest {
        licence: Licence::None,
        ..log_sum_exp()
    };
    let bound = BoundNest::new(unlicensed, vec![vec![n as i64], vec![]]).unwrap();
    assert!(all(&bound, &mut arrays())[0][0].error < whole.error);
}

/// Checks: choices by values that may be alike have the bound of the associations that were tried.
#[test]
fn licensed_choices_have_a_bound() {
    let rows: [(Op, &[usize], _); 3] = [
        (
            Op::Cmpf(crate::op::CmpfPredicate::Ogt),
            &[0, 1],
            ScalarType::I1,
        ),
        (Op::Select, &[2, 0, 1], F32),
        (Op::Mulf, &[3, 1], F32),
    ];
    let code = straight(&[F32; 2], &rows, &[4], &[F32]);
    let choice = Nest {
        licence: Licence::Commutative,
        ..nest(1, &[&[d(0)], &[]], 1, code)
    };
    let bound = BoundNest::new(choice, vec![vec![3], vec![]]).unwrap();
    let mut x = floats(&[1.0, 1.0, 1.0]);
    x[1].error = 1e-6;
    let results = all(&bound, &mut Arrays(vec![x, floats(&[1.0])]));
    assert!(results[0][0].error > 0.0 && results[0][0].error < 1e-3);
}

/// `(best, at) = x > best ? (x, i) : (best, at)`: in order, exact, and with a bound that says when
/// the place is open.
#[test]
fn places_of_maxima_are_exact_unless_values_may_be_alike() {
    let mut code = straight(
        &[F32, F32, I32],
        &[
            (
                Op::Cmpf(crate::op::CmpfPredicate::Ogt),
                &[0, 1],
                ScalarType::I1,
            ),
            (Op::Select, &[3, 0, 1], F32),
            (Op::Select, &[3, 6, 2], I32),
        ],
        &[4, 5],
        &[F32, I32],
    );
    code.registers = 8;
    code.body.instructions.splice(
        2..2,
        [
            crate::code::Instruction::Index {
                result: 7,
                dimension: 1,
            },
            crate::code::Instruction::Apply {
                result: 6,
                op: Op::IndexCast,
                operands: vec![7],
                ty: I32,
            },
        ],
    );
    let reduction = nest(2, &[&[d(0), d(1)], &[d(0)], &[d(0)]], 2, code);
    assert_eq!(reduction.accumulation(), Accumulation::InOrder);
    let bound = BoundNest::new(reduction, vec![vec![2, 4], vec![2], vec![2]]).unwrap();
    let mut x = floats(&[1.0, 7.0, 7.0, 2.0, 9.0, 3.0, 8.0, 8.5]);
    let start = |x: Vec<Element>| {
        let low = floats(&[f64::NEG_INFINITY; 2]);
        Arrays(vec![x, low, integers(&[-1, -1])])
    };
    let whole = all(&bound, &mut start(x.clone()));
    assert_eq!(
        (numbers(&whole[0]), numbers(&whole[1])),
        (vec![7.0, 9.0], vec![1.0, 0.0])
    );
    assert!(whole.iter().flatten().all(|e| e.error == 0.0));
    // What may be 0.1 larger or smaller: the first row's maximum may be at either place.
    for element in &mut x {
        element.error = 0.1;
    }
    let whole = all(&bound, &mut start(x));
    assert!(whole[0].iter().all(|e| e.error >= 0.1 && e.error < 1.0));
    assert_eq!(whole[1][0].error, f64::INFINITY);
    assert_eq!(whole[1][1].error, 0.0);
}

/// `x < o ? o - x * x + x * x : o`: which of two neighbours comes out is up to the last digits of `x`, which
/// may be others than those at both ends of what it may be.
#[test]
fn what_rounds_by_the_last_digits_is_open() {
    let code = straight(
        &[F32, F32],
        &[
            (Op::Mulf, &[0, 0], F32),
            (Op::Subf, &[1, 2], F32),
            (Op::Addf, &[3, 2], F32),
            (
                Op::Cmpf(crate::op::CmpfPredicate::Olt),
                &[0, 1],
                ScalarType::I1,
            ),
            (Op::Select, &[5, 4, 1], F32),
        ],
        &[6],
        &[F32],
    );
    let reduction = nest(1, &[&[d(0)], &[]], 1, code);
    assert_eq!(reduction.accumulation(), Accumulation::InOrder);
    let bound = BoundNest::new(reduction, vec![vec![1], vec![]]).unwrap();
    let start = -0.267_313_f32;
    for n in 0..200u8 {
        let x = -1.32 - 0.0005 * f32::from(n);
        let mut inputs = floats(&[f64::from(x)]);
        inputs[0].error = 16.0 * f64::from(f32::EPSILON);
        let results = all(
            &bound,
            &mut Arrays(vec![inputs, floats(&[f64::from(start)])]),
        );
        let result = results[0][0];
        for off in -16i8..=16 {
            let moved = x + f32::from(off) * f32::EPSILON;
            let square = moved * moved;
            let other = f64::from(start - square + square);
            let distance = (other - result.value.as_f64()).abs();
            assert!(distance <= result.error, "{x} {off}: {other} {result:?}");
        }
    }
}

/// Points go in lexicographic order where several write one element, and what none writes stays.
#[test]
fn the_last_point_decides() {
    let code = Code::identity(&[I32]);
    let code = Code {
        inputs: vec![I32, I32],
        registers: 2,
        ..code
    };
    let maps: [&[Expr]; 2] = [&[d(0), d(1)], &[d(0) + d(1)]];
    let reduction = nest(2, &maps, 1, code.clone());
    let bound = BoundNest::new(reduction, vec![vec![2, 2], vec![4]]).unwrap();
    let arrays = || vec![integers(&[1, 2, 3, 4]), integers(&[9, 9, 9, 9])];
    assert!(!bound.has_single_elements());
    let results = all(&bound, &mut Arrays(arrays()));
    assert_eq!(numbers(&results[0]), [1.0, 3.0, 4.0, 9.0]);
    // The same with a loop that the output does not see.
    let reduction = nest(2, &[&[d(0), d(1)], &[d(0)]], 1, code.clone());
    let bound = BoundNest::new(reduction.clone(), vec![vec![2, 2], vec![2]]).unwrap();
    let results = all(&bound, &mut Arrays(arrays()));
    assert_eq!(numbers(&results[0]), [2.0, 4.0]);
    // Which runs never.
    let bound = BoundNest::new(reduction, vec![vec![2, 0], vec![2]]).unwrap();
    let results = all(&bound, &mut Arrays(vec![vec![], integers(&[5, 6])]));
    assert_eq!(numbers(&results[0]), [5.0, 6.0]);
}

/// A window that slides: `y[i] = sum_k x[2 i + k]`, and remainders.
#[test]
fn maps_may_be_sums_and_remainders() {
    let code = straight(&[I32; 3], &[(Op::Addi, &[0, 2], I32)], &[3], &[I32]);
    let window: [&[Expr]; 3] = [&[d(0) * 2 + d(1)], &[d(1)], &[d(0)]];
    let reduction = nest(2, &window, 1, code.clone());
    let bound = BoundNest::new(reduction.clone(), vec![vec![7], vec![3], vec![3]]).unwrap();
    let x = integers(&[1, 2, 3, 4, 5, 6, 7]);
    // The window itself holds nothing.
    let nothing = vec![Element::undefined(I32); 3];
    let mut arrays = Arrays(vec![x.clone(), nothing, integers(&[0; 3])]);
    let results = all(&bound, &mut arrays);
    assert_eq!(numbers(&results[0]), [6.0, 12.0, 18.0]);
    assert!(results[0].iter().all(|e| e.error == 0.0));
    let beyond = BoundNest::new(reduction, vec![vec![6], vec![3], vec![3]]).unwrap_err();
    assert!(beyond.contains("input 0 at 0..7 in axis 0"), "{beyond}");
    // x[(3 i) mod 4], inside and, at a point, outside.
    let code = straight(&[I32; 2], &[(Op::Subi, &[1, 0], I32)], &[2], &[I32]);
    let wrapped: [&[Expr]; 2] = [&[(d(0) * 3).modulo(4)], &[d(0)]];
    let reduction = nest(1, &wrapped, 1, code);
    let bound = BoundNest::new(reduction.clone(), vec![vec![4], vec![4]]).unwrap();
    let mut arrays = Arrays(vec![integers(&[1, 2, 3, 4]), integers(&[0; 4])]);
    assert_eq!(
        numbers(&all(&bound, &mut arrays)[0]),
        [-1.0, -4.0, -3.0, -2.0]
    );
    let bound = BoundNest::new(reduction, vec![vec![3], vec![4]]).unwrap();
    let mut arrays = Arrays(vec![integers(&[1, 2, 3]), integers(&[0; 4])]);
    let outside = NestEvaluator::new(&bound, Errors::Bounded).all(&mut arrays);
    let text = outside.unwrap_err().to_string();
    assert!(
        text.contains("'input 0' of shape [3] is accessed at [3]"),
        "{text}"
    );
}

#[test]
fn sizes_that_do_not_fit_are_refused() {
    let fit = |shapes: [Vec<i64>; 3]| BoundNest::new(matmul(), shapes.to_vec()).map(|_| ());
    assert_eq!(fit([vec![2, 3], vec![3, 2], vec![2, 2]]), Ok(()));
    let text = fit([vec![2, 3], vec![4, 2], vec![2, 2]]).unwrap_err();
    assert!(
        text.contains("loop 2 runs over 3 indices for operand 0, over 4 for operand 1"),
        "{text}"
    );
    let open = nest(1, &[&[], &[]], 1, Code::identity(&[Index]));
    let text = BoundNest::new(open, vec![vec![], vec![]]).unwrap_err();
    assert!(
        text.contains("of number 0, of which no operand says"),
        "{text}"
    );
}
