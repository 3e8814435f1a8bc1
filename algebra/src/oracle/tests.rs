//! Closed forms, error bounds, empty and padded domains. Random computations are in
//! `random_tests`, tiles and carries in `carry_tests`.

use super::arrays::Arrays;
use super::element::distance;
use super::*;
use crate::affine::Expr;
use crate::code::{Code, Op};
use crate::computation::{Combine, Computation};
use crate::examples::{Builder, arg_max, d, first_last, log_sum_exp, matrix_product, matvec, user};
use crate::operator::{Builtin, Operator};
use crate::random::Random;
use crate::scalar::{Scalar, ScalarType};
use ScalarType::{F16, F32, I32, I64};

#[path = "bound_tests.rs"]
mod bound_tests;
#[path = "carry_tests.rs"]
mod carry_tests;
#[path = "random_tests.rs"]
mod random_tests;

pub(super) fn all_results(computation: &Computation, arrays: &mut Arrays) -> Vec<Vec<Element>> {
    let mut evaluator = Evaluator::new(computation, Errors::Bounded).unwrap();
    let results = evaluator.all_results(arrays).unwrap();
    // Every element alone and all at once agree with the whole.
    for (place, elements) in &results {
        let shape = &computation.buffer(*place).unwrap().shape;
        let grids: Vec<_> = shape
            .iter()
            .map(|n| crate::domain::Grid::dense(n.unwrap()))
            .collect();
        let indices: Vec<_> = crate::domain::points(&grids).collect();
        let some: Vec<_> = indices.iter().cloned().step_by(3).collect();
        for asked in [indices.clone(), some] {
            let alone = evaluator.elements(arrays, *place, &asked).unwrap();
            for (index, element) in asked.iter().zip(alone) {
                let n = indices.iter().position(|i| i == index).unwrap();
                // Sums in `f64` may be associated differently.
                let near = distance(element.value, elements[n].value) <= elements[n].error;
                assert!(near, "{place:?} {index:?}");
            }
        }
    }
    results.into_iter().map(|(_, elements)| elements).collect()
}

fn integers(elements: &[Element]) -> Vec<i64> {
    assert!(elements.iter().all(|e| e.error == 0.0));
    elements.iter().map(|e| e.value.as_i64()).collect()
}

fn floats(elements: &[Element]) -> Vec<f64> {
    elements.iter().map(|e| e.value.as_f64()).collect()
}

fn addi() -> Vec<Operator> {
    vec![Operator::Builtin(vec![Builtin::Addi])]
}

#[test]
fn dot_product() {
    let ops = vec![Operator::Builtin(vec![Builtin::Addf])];
    let c = Builder::new(&[100], &[Combine::Pw(0)], ops)
        .input(F32, &[100], &[d(0)])
        .input(F32, &[100], &[d(0)])
        .scalar(Code::single(Op::Mulf, F32))
        .output(F32, &[], &[])
        .0;
    let mut random = Random::new(1);
    let mut arrays = Arrays::new(&c, |_, _| Scalar::from_f64(F32, random.signed_unit()));
    let column = |n: usize| floats(&arrays.elements[n]);
    let products: Vec<f64> = (column(0).iter().zip(column(1)))
        .map(|(x, y)| f64::from((x * y) as f32))
        .collect();
    let exact: f64 = products.iter().sum();
    let size: f64 = products.iter().map(|p| p.abs()).sum();
    let result = all_results(&c, &mut arrays)[0][0];
    assert_eq!(result.value, Scalar::from_f64(F32, exact));
    let bound = 99.0 * F32.epsilon() * size;
    assert!((result.error - bound).abs() < 1e-12 * bound);
    // A sequential sum in f32 is within the bound.
    let sequential = products.iter().fold(0f32, |s, p| s + *p as f32);
    assert!((f64::from(sequential) - exact).abs() <= result.error);
}

#[test]
fn matrix_times_vector() {
    let c = matvec(I64, 4, 6);
    let mut arrays = Arrays::counting(&c);
    let m = integers(&arrays.elements[0]);
    let v = integers(&arrays.elements[1]);
    let expected: Vec<i64> = (0..4)
        .map(|i| (0..6).map(|k| m[i * 6 + k] * v[k]).sum())
        .collect();
    assert_eq!(integers(&all_results(&c, &mut arrays)[0]), expected);
}

#[test]
fn scan_and_reversed_scan() {
    for (map, reversed) in [(d(0), false), (d(0) * -1 + 8, true)] {
        let c = Builder::new(&[9], &[Combine::Ps(0)], addi())
            .input(I32, &[9], std::slice::from_ref(&map))
            .id()
            .output(I32, &[9], &[map])
            .0;
        let mut arrays = Arrays::counting(&c);
        let x = integers(&arrays.elements[0]);
        let sums = |range: std::ops::Range<usize>| x[range].iter().sum::<i64>();
        let expected: Vec<i64> = (0..9)
            .map(|i| if reversed { sums(i..9) } else { sums(0..i + 1) })
            .collect();
        assert_eq!(integers(&all_results(&c, &mut arrays)[0]), expected);
    }
}

#[test]
fn summed_area_table() {
    let c = crate::examples::summed_area(4, 5);
    let mut arrays = Arrays::counting(&c);
    let x = integers(&arrays.elements[0]);
    let expected: Vec<i64> = (0..20)
        .map(|n| {
            let (i, j) = (n / 5, n % 5);
            (0..=i)
                .map(|p| (0..=j).map(|q| x[p * 5 + q]).sum::<i64>())
                .sum()
        })
        .collect();
    assert_eq!(integers(&all_results(&c, &mut arrays)[0]), expected);
}

#[test]
fn ps_next_to_pw_and_cc() {
    // o[c, i] = sum over k and p <= i of x[c, k, p].
    let combine = [Combine::Cc, Combine::Pw(0), Combine::Ps(0)];
    let c = Builder::new(&[2, 3, 4], &combine, addi())
        .input(I64, &[2, 3, 4], &[d(0), d(1), d(2)])
        .id()
        .output(I64, &[4, 2], &[d(2), d(0)])
        .0;
    let mut arrays = Arrays::counting(&c);
    let x = integers(&arrays.elements[0]);
    let sum = |c: usize, i: usize| -> i64 {
        (0..3)
            .map(|k| (0..=i).map(|p| x[(c * 3 + k) * 4 + p]).sum::<i64>())
            .sum()
    };
    let expected: Vec<i64> = (0..8).map(|n| sum(n % 2, n / 2)).collect();
    assert_eq!(integers(&all_results(&c, &mut arrays)[0]), expected);
}

#[test]
fn histogram() {
    // h[b] = number of values equal to b.
    let rows: [(Op, &[usize], ScalarType); 3] = [
        (
            Op::Cmpi(crate::op::CmpiPredicate::Eq),
            &[0, 1],
            ScalarType::I1,
        ),
        (Op::Extui, &[2], I32),
        (Op::Addi, &[3, 3], I32),
    ];
    let code = crate::examples::straight(&[I32, I32], &rows, &[3], &[I32]);
    let c = Builder::new(&[11, 40], &[Combine::Cc, Combine::Pw(0)], addi())
        .input(I32, &[11], &[d(0)])
        .input(I32, &[40], &[d(1)])
        .scalar(code)
        .output(I32, &[11], &[d(0)])
        .0;
    let mut arrays = Arrays::counting(&c);
    for b in 0..11 {
        arrays.elements[0][b].value = Scalar::from_i64(I32, b as i64 - 5);
    }
    let values = integers(&arrays.elements[1]);
    let expected: Vec<i64> = (-5..6)
        .map(|b| values.iter().filter(|v| **v == b).count() as i64)
        .collect();
    assert_eq!(integers(&all_results(&c, &mut arrays)[0]), expected);
}

#[test]
fn order_of_one_non_commutative_dimension() {
    let ops = vec![Operator::User(first_last())];
    for combine in [Combine::Pw(0), Combine::Ps(0)] {
        let is_kept = combine.is_ps();
        let map = if is_kept { vec![d(0)] } else { vec![] };
        let shape = if is_kept { vec![7] } else { vec![] };
        let c = Builder::new(&[7], &[combine], ops.clone())
            .input(I64, &[7], &[d(0)])
            .input(I64, &[7], &[d(0)])
            .id()
            .output(I64, &shape, &map)
            .output(I64, &shape, &map)
            .0;
        let mut arrays = Arrays::new(&c, |_, n| Scalar::from_i64(I64, n as i64));
        let results = all_results(&c, &mut arrays);
        let expected: Vec<i64> = if is_kept { (0..7).collect() } else { vec![6] };
        assert_eq!(integers(&results[1]), expected);
        assert!(integers(&results[0]).iter().all(|first| *first == 0));
    }
}

#[test]
fn products_of_matrices() {
    let mut builder = Builder::new(
        &[5],
        &[Combine::Pw(0)],
        vec![Operator::User(matrix_product())],
    );
    for _ in 0..4 {
        builder = builder.input(I64, &[5], &[d(0)]);
    }
    builder = builder.id();
    for _ in 0..4 {
        builder = builder.output(I64, &[], &[]);
    }
    let c = builder.0;
    // [[1, 1], [1, 0]]^5 holds Fibonacci numbers.
    let mut arrays = Arrays::new(&c, |place, _| {
        Scalar::from_i64(I64, i64::from(place != crate::computation::Place::Input(3)))
    });
    let result: Vec<i64> = all_results(&c, &mut arrays)
        .iter()
        .flat_map(|e| integers(e))
        .collect();
    assert_eq!(result, [8, 5, 5, 3]);
}

#[test]
fn arg_max_is_exact_and_ties_go_to_the_smaller_index() {
    let mut c = Builder::new(&[30], &[Combine::Pw(0)], vec![Operator::User(arg_max(F32))])
        .input(F32, &[30], &[d(0)])
        .input(I64, &[30], &[d(0)])
        .id()
        .output(F32, &[], &[])
        .output(I64, &[], &[])
        .0;
    c.inputs[1].accesses[0].map = vec![d(0)];
    let mut arrays = Arrays::counting(&c);
    for (n, e) in arrays.elements[1].iter_mut().enumerate() {
        e.value = Scalar::from_i64(I64, n as i64);
    }
    let x = floats(&arrays.elements[0]);
    let best = x.iter().cloned().fold(f64::MIN, f64::max);
    let at = x.iter().position(|v| *v == best).unwrap();
    let result = all_results(&c, &mut arrays);
    assert_eq!(result[0], [Element::exact(Scalar::from_f64(F32, best))]);
    assert_eq!(integers(&result[1]), [at as i64]);
    // Between values that may be equal there is no right index, but there is a right value.
    for e in &mut arrays.elements[0] {
        e.value = Scalar::from_f64(F32, 1.0);
        e.error = 1e-3;
    }
    let result = all_results(&c, &mut arrays);
    assert!(result[0][0].error >= 1e-3 && result[0][0].error < 1e-2);
    assert!(result[1][0].error.is_infinite());
}

#[test]
fn log_sum_exp_is_bounded_by_its_spread() {
    let c = Builder::new(
        &[200],
        &[Combine::Pw(0)],
        vec![Operator::User(log_sum_exp())],
    )
    .input(F32, &[200], &[d(0)])
    .input(F32, &[200], &[d(0)])
    .id()
    .output(F32, &[], &[])
    .output(F32, &[], &[])
    .0;
    let mut random = Random::new(5);
    let mut arrays = Arrays::new(&c, |place, _| {
        let first = place == crate::computation::Place::Input(0);
        let v = if first {
            3.0 * random.signed_unit()
        } else {
            1.0
        };
        Scalar::from_f64(F32, v)
    });
    let x = floats(&arrays.elements[0]);
    let max = x.iter().cloned().fold(f64::MIN, f64::max);
    let sum: f64 = x.iter().map(|v| (v - max).exp()).sum();
    let result = all_results(&c, &mut arrays);
    assert_eq!(result[0][0].value.as_f64(), max);
    let (found, error) = (result[1][0].value.as_f64(), result[1][0].error);
    assert!((found - sum).abs() <= error && error < 1e-3 * sum && error > 0.0);
}

/// From left to right the infinity stays; lanes multiply what is behind it first, to zero.
#[test]
fn a_running_product_behind_an_infinity_may_be_nan() {
    let values = [0.9956, f64::INFINITY, 0.115, -0.8658, -0.3754, -4.2e-45];
    let product = user("product", Code::single(Op::Mulf, F32));
    let c = Builder::new(&[6], &[Combine::Ps(0)], vec![Operator::User(product)])
        .input(F32, &[6], &[d(0)])
        .id()
        .output(F32, &[6], &[d(0)])
        .0;
    let mut arrays = Arrays::new(&c, |_, n| Scalar::from_f64(F32, values[n]));
    let last = all_results(&c, &mut arrays)[0][5];
    assert_eq!(last.value.as_f64(), f64::NEG_INFINITY);
    assert!(last.error.is_infinite());
}

/// With the 0 early on the product of all is 0, but that of the large ones is too large for `f16`:
/// few orders combine them first, or, where the order is kept, those that stand together.
#[test]
fn a_user_product_may_overflow_where_no_random_association_shows_it() {
    let run = |combine: Combine, commutative: bool, values: &[f64]| {
        let n = values.len() as i64;
        let mut product = user("product", Code::single(Op::Mulf, F16));
        product.commutative = commutative;
        let mut c =
            Builder::new(&[n], &[combine], vec![Operator::User(product)]).input(F16, &[n], &[d(0)]);
        c = match combine {
            Combine::Ps(_) => c.id().output(F16, &[n], &[d(0)]),
            _ => c.id().output(F16, &[], &[]),
        };
        let mut arrays = Arrays::new(&c.0, |_, n| Scalar::from_f64(F16, values[n]));
        let result = all_results(&c.0, &mut arrays);
        let last = result[0][result[0].len() - 1];
        assert_eq!(last.value.as_f64(), 0.0);
        last.error.is_infinite()
    };
    // 3^10 is less than 65504 and 3^11 more.
    let apart = |threes: usize| {
        let mut values = vec![0.0];
        (0..threes).for_each(|_| values.extend([3.0, 0.25]));
        values
    };
    let together = |threes: usize| [&[0.0, 0.25][..], &vec![3.0; threes], &[0.25; 9]].concat();
    for combine in [Combine::Pw(0), Combine::Ps(0)] {
        for (threes, overflows) in [(10, false), (11, true)] {
            assert_eq!(run(combine, true, &apart(threes)), overflows);
            assert_eq!(run(combine, true, &together(threes)), overflows);
            assert_eq!(run(combine, false, &together(threes)), overflows);
            assert!(!run(combine, false, &apart(threes)), "0.75^n is small");
        }
    }
}

/// All 16 associations of these five sums agree, yet another one does not.
#[test]
fn a_user_sum_may_round_where_no_association_shows_it() {
    let values = [-0.72481805, 0.4686913, 0.35078666, -0.17760065, -0.23274875];
    let sum = user("sum", Code::single(Op::Addf, F32));
    let c = Builder::new(&[5], &[Combine::Ps(0)], vec![Operator::User(sum)])
        .input(F32, &[5], &[d(0)])
        .id()
        .output(F32, &[5], &[d(0)])
        .0;
    let mut next = values.into_iter();
    let mut arrays = Arrays::new(&c, |place, _| {
        let value = match place {
            crate::computation::Place::Input(0) => next.next().unwrap_or(0.0),
            _ => 0.0,
        };
        Scalar::from_f64(F32, value)
    });
    let result = &all_results(&c, &mut arrays)[0];
    assert_eq!(result[1].error, 0.0, "two tuples are combined in one way");
    assert!(result[4].error >= F32.ulp(result[4].value.as_f64()));
}

#[test]
fn the_store_converts_and_its_rounding_counts() {
    let mut c = matvec(F32, 1, 50);
    c.outputs[0].element = F16;
    let mut random = Random::new(2);
    let mut arrays = Arrays::new(&c, |place, _| {
        let ty = c.buffer(place).unwrap().element;
        Scalar::from_f64(ty, random.signed_unit())
    });
    let result = all_results(&c, &mut arrays)[0][0];
    assert_eq!(result.value.ty, F16);
    assert!(result.error >= F16.ulp(result.value.as_f64()));
    let mut c = matvec(F32, 1, 1);
    c.outputs[0].element = F16;
    let mut arrays = Arrays::counting(&c);
    assert_eq!(
        all_results(&c, &mut arrays)[0][0].error,
        0.0,
        "nothing was reordered"
    );
}

#[test]
fn infinities_and_nan() {
    let c = matvec(F32, 1, 3);
    let run = |values: [f64; 3]| {
        let mut arrays = Arrays::new(&c, |_, _| Scalar::from_f64(F32, 1.0));
        for (e, v) in arrays.elements[0].iter_mut().zip(values) {
            e.value = Scalar::from_f64(F32, v);
        }
        all_results(&c, &mut arrays)[0][0]
    };
    let r = run([f64::INFINITY, 1.0, 2.0]);
    assert_eq!((r.value.as_f64(), r.error), (f64::INFINITY, 0.0));
    let r = run([f64::INFINITY, f64::NEG_INFINITY, 2.0]);
    assert!(r.value.is_nan() && r.error == 0.0);
    // In one order this overflows, in another it does not.
    let max = f64::from(f32::MAX);
    assert_eq!(run([max, max, -max]).error, f64::INFINITY);
}

#[test]
fn products_that_a_sum_takes_in_may_be_too_large_alone() {
    let c = Builder::new(
        &[2],
        &[Combine::Pw(0)],
        vec![Operator::Builtin(vec![Builtin::Addf])],
    )
    .input(F32, &[2], &[d(0)])
    .input(F32, &[2], &[d(0)])
    .scalar(Code::single(Op::Mulf, F32))
    .output(F32, &[], &[])
    .0;
    let run = |x: [f64; 2], y: [f64; 2]| {
        let mut arrays = Arrays::new(&c, |_, _| Scalar::from_f64(F32, 0.0));
        for (elements, values) in arrays.elements.iter_mut().zip([x, y]) {
            for (e, v) in elements.iter_mut().zip(values) {
                e.value = Scalar::from_f64(F32, v);
            }
        }
        all_results(&c, &mut arrays)[0][0].error
    };
    let max = f64::from(f32::MAX);
    assert_eq!(run([max, 1.0], [max, -max]), f64::INFINITY);
    assert_eq!(run([f64::INFINITY, 1.0], [2.0, 1.0]), 0.0);
}

#[test]
fn extrema_are_exact_and_products_relative() {
    for (op, relative) in [
        (Builtin::Maximumf, 0.0),
        (Builtin::Minimumf, 0.0),
        (Builtin::Mulf, 9.0 * F32.epsilon()),
    ] {
        let c = Builder::new(&[10], &[Combine::Pw(0)], vec![Operator::Builtin(vec![op])])
            .input(F32, &[10], &[d(0)])
            .id()
            .output(F32, &[], &[])
            .0;
        let mut arrays = Arrays::new(&c, |_, n| Scalar::from_f64(F32, 0.5 + n as f64 / 8.0));
        let r = all_results(&c, &mut arrays)[0][0];
        assert!(
            (r.error - relative * r.value.as_f64()).abs() <= 1e-12,
            "{op}"
        );
    }
}

#[test]
fn padding_origins_strides_and_untouched_elements() {
    // o[2 * i] = x[i - 1] + x[i] + x[i + 1], i = 10, 13, ..; x starts at 10.
    let mut c = Builder::new(&[8], &[Combine::Cc], vec![])
        .input(I32, &[6], &[d(0) + -1])
        .input(I32, &[6], &[d(0)])
        .id()
        .output(I32, &[40], &[d(0) * 2])
        .0;
    let dimension = &mut c.dimensions[0];
    (dimension.lower, dimension.upper) = (Some(10), Some(17));
    dimension.step = Some(3);
    for input in &mut c.inputs {
        input.origin = vec![Some(10)];
        input.pad = Some(Scalar::from_i64(I32, 100));
    }
    let rows: [(Op, &[usize], ScalarType); 1] = [(Op::Addi, &[0, 1], I32)];
    c.scalar = crate::examples::straight(&[I32, I32], &rows, &[2], &[I32]);
    c.components = vec![I32];
    let mut arrays = Arrays::new(&c, |place, n| {
        let output = matches!(place, crate::computation::Place::Output(_));
        Scalar::from_i64(I32, if output { -1 } else { n as i64 })
    });
    let mut expected = vec![-1; 40];
    expected[20] = 100; // x[9] is outside, x[10] is element 0
    expected[26] = 2 + 3;
    expected[32] = 5 + 100;
    assert_eq!(integers(&all_results(&c, &mut arrays)[0]), expected);
}

#[test]
fn empty_dimensions() {
    let mut c = matvec(I64, 3, 0);
    let mut arrays = Arrays::counting(&c);
    assert_eq!(integers(&all_results(&c, &mut arrays)[0]), [0, 0, 0]);
    c = matvec(I64, 0, 3);
    c.outputs[0].shape = vec![Some(2)];
    let mut arrays = Arrays::counting(&c);
    let before = integers(&arrays.elements[2]);
    assert_eq!(
        integers(&all_results(&c, &mut arrays)[0]),
        before,
        "untouched"
    );
    // As many sums as no memory holds, of none beside them.
    for beside in [Combine::Cc, Combine::Ps(0)] {
        let c = Builder::new(&[0, 1 << 61], &[beside, Combine::Ps(0)], addi())
            .input(I64, &[0, 1 << 61], &[d(0), d(1)])
            .id()
            .output(I64, &[0, 1 << 61], &[d(0), d(1)])
            .0;
        assert!(all_results(&c, &mut Arrays::counting(&c))[0].is_empty());
    }
    let c = Builder::new(&[0], &[Combine::Pw(0)], vec![Operator::User(arg_max(I64))])
        .input(I64, &[0], &[d(0)])
        .input(I64, &[0], &[d(0)])
        .id()
        .output(I64, &[], &[])
        .0;
    let mut evaluator = Evaluator::new(&c, Errors::Bounded).unwrap();
    let failure = evaluator
        .all_results(&mut Arrays::counting(&c))
        .unwrap_err();
    assert!(
        failure.to_string().starts_with("dimension 'd0' is empty"),
        "{failure}"
    );
}

#[test]
fn no_dimension_is_one_point() {
    let c = Builder::new(&[], &[], vec![])
        .input(I32, &[], &[])
        .id()
        .output(I32, &[], &[])
        .0;
    let mut arrays = Arrays::counting(&c);
    let expected = integers(&arrays.elements[0]);
    assert_eq!(integers(&all_results(&c, &mut arrays)[0]), expected);
}

#[test]
fn failures_say_where() {
    let c = Builder::new(&[3], &[Combine::Cc], vec![])
        .input(I32, &[3], &[d(0)])
        .input(I32, &[3], &[d(0)])
        .scalar(Code::single(Op::Divsi, I32))
        .output(I32, &[3], &[d(0)])
        .0;
    let mut arrays = Arrays::new(&c, |_, n| Scalar::from_i64(I32, 2 - n as i64));
    let mut evaluator = Evaluator::new(&c, Errors::Ignored).unwrap();
    let failure = evaluator.all_results(&mut arrays).unwrap_err();
    assert_eq!(
        failure.to_string(),
        "(d0 = 2): arith.divsi(0 : i32, 0 : i32) has no defined result: division by zero"
    );
    let mut wrong = c.clone();
    wrong.inputs[0].accesses[0].map = vec![d(0) + 1];
    let refused = Evaluator::new(&wrong, Errors::Ignored).err().unwrap();
    assert!(refused.to_string().contains("reads input 'in0' at 1..4"));
    let mut unknown = c;
    unknown.dimensions[0].upper = None;
    assert!(matches!(
        Evaluator::new(&unknown, Errors::Ignored),
        Err(Failure::NotReady(_))
    ));
}

#[test]
fn indices_are_global() {
    let rows: [(Op, &[usize], ScalarType); 0] = [];
    let mut code = crate::examples::straight(&[], &rows, &[0], &[ScalarType::Index]);
    code.registers = 1;
    code.body.instructions = vec![crate::code::Instruction::Index {
        result: 0,
        dimension: 0,
    }];
    let mut c = Builder::new(&[3], &[Combine::Cc], vec![])
        .scalar(code)
        .output(ScalarType::Index, &[3], &[d(0)])
        .0;
    (c.dimensions[0].lower, c.dimensions[0].upper) = (Some(5), Some(8));
    c.outputs[0].origin = vec![Some(5)];
    let mut arrays = Arrays::counting(&c);
    assert_eq!(integers(&all_results(&c, &mut arrays)[0]), [5, 6, 7]);
    assert_eq!(Expr::Dim(0).eval(&[5]), Some(5));
}
