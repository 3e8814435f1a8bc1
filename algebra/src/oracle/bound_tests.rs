//! Error bounds hold: reductions in any order, in their own type, are accepted.

use proptest::prelude::*;

use super::super::arrays::Arrays;
use super::super::{Element, Errors, Evaluator};
use crate::code::Code;
use crate::compare::compare;
use crate::computation::{Combine, Computation, Place};
use crate::examples::{Builder, d, log_sum_exp, user};
use crate::machine::Machine;
use crate::op::Op;
use crate::operator::{Builtin, Operator};
use crate::random::Random;
use crate::scalar::{Scalar, ScalarType};

fn reduction(operator: Operator, components: &[ScalarType], n: i64) -> Computation {
    let mut builder = Builder::new(&[n], &[Combine::Pw(0)], vec![operator]);
    for ty in components {
        builder = builder.input(*ty, &[n], &[d(0)]);
    }
    builder = builder.scalar(Code::identity(components));
    for ty in components {
        builder = builder.output(*ty, &[], &[]);
    }
    builder.0
}

/// Combines neighbours in random order, and, in a random order of elements, any two.
fn in_random_order(
    c: &Computation,
    mut tuples: Vec<Vec<Scalar>>,
    random: &mut Random,
) -> Vec<Scalar> {
    let operator = c.operator().unwrap();
    let mut machine = Machine::new();
    while tuples.len() > 1 {
        let a = tuples.swap_remove(random.below(tuples.len() as u64) as usize);
        let other = random.below(tuples.len() as u64) as usize;
        let mut result = a.clone();
        operator
            .apply(
                &mut machine,
                &a,
                &tuples[other],
                &mut result,
                &mut Vec::new(),
            )
            .unwrap();
        tuples[other] = result;
    }
    tuples.remove(0)
}

fn results(c: &Computation, arrays: &mut Arrays) -> Vec<Element> {
    let mut evaluator = Evaluator::new(c, Errors::Bounded).unwrap();
    let stored = evaluator.all_results(arrays).unwrap();
    stored
        .into_iter()
        .map(|(_, elements)| elements[0])
        .collect()
}

fn column(arrays: &Arrays, c: &Computation, n: usize) -> Vec<Vec<Scalar>> {
    let tuple = |k: usize| (0..c.components.len()).map(move |i| (i, k));
    (0..n)
        .map(|k| tuple(k).map(|(i, k)| arrays.elements[i][k].value).collect())
        .collect()
}

/// Ordinary numbers, and with `wild` also huge, tiny, infinite and NaN ones.
fn any_value(ty: ScalarType, wild: u64, random: &mut Random) -> Scalar {
    match random.below(20) {
        0 if wild > 0 => Scalar::from_f64(ty, ty.max_finite() * random.signed_unit()),
        1 if wild > 0 => Scalar::from_f64(ty, ty.min_denormal() * 9.0 * random.signed_unit()),
        2 if wild > 1 => Scalar::from_f64(ty, f64::INFINITY * random.signed_unit()),
        3 if wild > 2 => Scalar::from_f64(ty, f64::NAN),
        4 => Scalar::zero(ty),
        _ => Scalar::from_f64(ty, 4.0 * random.signed_unit()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]
    #[test]
    fn of_built_in_operators(
        which in 0usize..4,
        ty in 0usize..4,
        n in 1i64..200,
        wild in 0u64..4,
        seed in any::<u64>(),
    ) {
        use Builtin::*;
        use ScalarType::*;
        let (op, ty) = ([Addf, Mulf, Minimumf, Maximumf][which], [F16, BF16, F32, F64][ty]);
        let c = reduction(Operator::Builtin(vec![op]), &[ty], n);
        let mut random = Random::new(seed);
        let mut arrays = Arrays::new(&c, |_, _| any_value(ty, wild, &mut random));
        let expected = results(&c, &mut arrays)[0];
        let tuples = column(&arrays, &c, n as usize);
        for _ in 0..5 {
            let result = in_random_order(&c, tuples.clone(), &mut random)[0];
            let report = compare([(vec![], result, expected)]);
            prop_assert!(report.passed(), "{op} {ty}: {}", report.first.unwrap());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    /// Checks: what overflows in few orders only counts, and no more than that: the bound of the built-in
    /// operator knows whether any order may. (How far finite results are apart is an estimate.)
    #[test]
    fn of_products_and_sums_of_a_user(
        which in 0usize..2,
        ty in 0usize..2,
        n in 3i64..40,
        large in 1u64..40,
        seed in any::<u64>(),
    ) {
        use ScalarType::*;
        let ((builtin, op), ty) =
            ([(Builtin::Addf, Op::Addf), (Builtin::Mulf, Op::Mulf)][which], [F16, BF16][ty]);
        let mut operator = user("own", Code::single(op, ty));
        operator.commutative = true;
        let c = reduction(Operator::User(operator), &[ty], n);
        let mut random = Random::new(seed);
        let most = match builtin {
            Builtin::Addf => ty.max_finite() / 16.0,
            _ => large as f64,
        };
        let mut arrays = Arrays::new(&c, |_, _| match random.below(20) {
            0 => Scalar::zero(ty),
            _ => Scalar::from_f64(ty, most * random.signed_unit()),
        });
        let expected = results(&c, &mut arrays)[0];
        let tuples = column(&arrays, &c, n as usize);
        for _ in 0..20 {
            let result = in_random_order(&c, tuples.clone(), &mut random)[0];
            let both_finite = [result, expected.value].iter().all(|v| v.as_f64().is_finite());
            let report = compare([(vec![], result, expected)]);
            let passed = both_finite || report.passed();
            prop_assert!(passed, "{op:?} {ty}: {}", report.first.unwrap());
        }
        let c = reduction(Operator::Builtin(vec![builtin]), &[ty], n);
        if results(&c, &mut arrays)[0].error.is_finite() {
            prop_assert!(expected.error.is_finite());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    /// The spread of 16 associations is an estimate; four times it is on the safe side.
    #[test]
    fn of_user_operators(n in 2i64..150, seed in any::<u64>()) {
        let c = reduction(Operator::User(log_sum_exp()), &[ScalarType::F32; 2], n);
        let mut random = Random::new(seed);
        let mut arrays = Arrays::new(&c, |place, _| {
            let v = if place == Place::Input(0) { 5.0 * random.signed_unit() } else { 1.0 };
            Scalar::from_f64(ScalarType::F32, v)
        });
        let expected = results(&c, &mut arrays);
        let tuples = column(&arrays, &c, n as usize);
        for _ in 0..3 {
            let combined = in_random_order(&c, tuples.clone(), &mut random);
            let pairs = combined.into_iter().zip(&expected).map(|(f, e)| (vec![], f, *e));
            let report = compare(pairs);
            prop_assert!(report.passed(), "{}", report.first.unwrap());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]
    /// The bound of a tree's depth holds for balanced trees of runs that are combined in order, and
    /// is no larger than that of any order.
    #[test]
    fn of_trees_of_a_known_depth(
        which in 0usize..2,
        ty in 0usize..4,
        run in 1usize..9,
        runs in 1usize..40,
        same in any::<bool>(),
        seed in any::<u64>(),
    ) {
        use ScalarType::*;
        let (op, ty) = ([Builtin::Addf, Builtin::Mulf][which], [F16, BF16, F32, F64][ty]);
        let c = reduction(Operator::Builtin(vec![op]), &[ty], (run * runs) as i64);
        let mut random = Random::new(seed);
        // Equal elements round alike in all branches of a tree.
        let first = random.signed_unit();
        let mut arrays = Arrays::new(&c, |_, _| {
            let unit = if same { first } else { random.signed_unit() };
            Scalar::from_f64(ty, 1.0 + unit / 2.0)
        });
        let mut depth = run as u64 - 1;
        let mut machine = Machine::new();
        let mut combine = |tuples: &[Vec<Scalar>]| {
            let rest = tuples[1..].iter();
            rest.fold(tuples[0].clone(), |left, right| {
                let mut result = left.clone();
                let operator = c.operator().unwrap();
                let (machine, scratch) = (&mut machine, &mut Vec::new());
                operator.apply(machine, &left, right, &mut result, scratch).unwrap();
                result
            })
        };
        let mut tuples = column(&arrays, &c, run * runs);
        tuples = tuples.chunks(run).map(&mut combine).collect();
        while tuples.len() > 1 {
            tuples = tuples.chunks(2).map(&mut combine).collect();
            depth += 1;
        }
        let mut bounded = |errors| {
            let mut evaluator = Evaluator::new(&c, errors).unwrap();
            evaluator.all_results(&mut arrays).unwrap().remove(0).1[0]
        };
        let (known, any) = (bounded(Errors::OfDepth(depth)), bounded(Errors::Bounded));
        let report = compare([(vec![], tuples.remove(0)[0], known)]);
        prop_assert!(report.passed(), "{op} {ty}: {}", report.first.unwrap());
        prop_assert!(known.error <= any.error * 1.001, "{} > {}", known.error, any.error);
    }
}

/// Products of a user far below the smallest normal number: half a unit is nothing there, yet they round.
#[test]
fn of_a_users_denormal_products() {
    let multiply = user("multiply", Code::single(Op::Mulf, ScalarType::F64));
    let c = reduction(Operator::User(multiply), &[ScalarType::F64], 40);
    let mut random = Random::new(7);
    for _ in 0..20 {
        // About 1e-320, some two thousand times the smallest.
        let mut arrays = Arrays::new(&c, |_, _| {
            Scalar::from_f64(ScalarType::F64, 1e-8 * (1.0 + random.signed_unit() / 20.0))
        });
        let expected = results(&c, &mut arrays);
        assert!(expected[0].error > 0.0, "{:?}", expected[0]);
    }
}

#[test]
fn errors_of_chained_inputs_pass_through() {
    // exp(x) at x = 1 +- 0.01.
    let c = Builder::new(&[1], &[Combine::Cc], vec![])
        .input(ScalarType::F64, &[1], &[d(0)])
        .scalar(Code::single(Op::Exp, ScalarType::F64))
        .output(ScalarType::F64, &[1], &[d(0)])
        .0;
    let mut arrays = Arrays::new(&c, |_, _| Scalar::from_f64(ScalarType::F64, 1.0));
    let exact = results(&c, &mut arrays)[0];
    assert_eq!(exact.error, 4.0 * ScalarType::F64.ulp(1f64.exp()));
    arrays.elements[0][0].error = 0.01;
    let moved = results(&c, &mut arrays)[0];
    let expected = 1.01f64.exp() - 1f64.exp();
    assert!((moved.error - expected).abs() < 1e-9);
}

/// Checks: what two uncertain numbers change together counts where the rounding of the sum hides what each changes
/// alone.
#[test]
fn errors_of_several_inputs_add_up_behind_a_rounding() {
    let c = Builder::new(&[1], &[Combine::Cc], vec![])
        .input(ScalarType::F64, &[1], &[d(0)])
        .input(ScalarType::F64, &[1], &[d(0)])
        .scalar(Code::single(Op::Addf, ScalarType::F64))
        .output(ScalarType::F64, &[1], &[d(0)])
        .0;
    for value in [1.1442680491440647 / 2.0, 1.1442680491440649 / 2.0] {
        let mut arrays = Arrays::new(&c, |_, _| Scalar::from_f64(ScalarType::F64, value));
        for input in &mut arrays.elements {
            input[0].error = ScalarType::F64.ulp(value);
        }
        let sum = results(&c, &mut arrays)[0];
        assert!(
            sum.error >= 2.0 * ScalarType::F64.ulp(value),
            "{}",
            sum.error
        );
    }
}
