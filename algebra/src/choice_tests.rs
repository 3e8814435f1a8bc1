//! Choices as front ends write them, and random ones.

use super::*;
use crate::examples::straight;
use crate::laws::{Values, check_laws};
use crate::op::CmpfPredicate as F;
use crate::operator::{Operator, UserOperator};
use crate::random::Random;
use ScalarType::{F32, I1, I32};

type Row<'a> = (Op, &'a [Register], ScalarType);

const ALL: Given = Given {
    numbers: false,
    starts: &[],
};
const NUMBERS: Given = Given {
    numbers: true,
    starts: &[],
};

fn decided(components: &[ScalarType], rows: &[Row], yields: &[Register], given: Given) -> Decision {
    let code = straight(&[components, components].concat(), rows, yields, components);
    let choice = Choice::new(&code).expect("it only compares and chooses");
    choice.decide(given)
}

/// `y OP x ? y : x` on a value with its place.
fn best(predicate: F) -> [Row<'static>; 3] {
    [
        (Op::Cmpf(predicate), &[2, 0], I1),
        (Op::Select, &[4, 2, 0], F32),
        (Op::Select, &[4, 3, 1], I32),
    ]
}

/// As JAX writes an arg-max: what is no number is the best, ties go to the smaller place.
const JAX: [Row<'static>; 8] = [
    (Op::Cmpf(F::Ogt), &[0, 2], I1),
    (Op::Cmpf(F::Une), &[0, 0], I1),
    (Op::Ori, &[4, 5], I1),
    (Op::Cmpf(F::Oeq), &[0, 2], I1),
    (Op::Cmpi(CmpiPredicate::Slt), &[1, 3], I1),
    (Op::Andi, &[7, 8], I1),
    (Op::Ori, &[6, 9], I1),
    (Op::Select, &[6, 0, 2], F32),
];

#[test]
fn ways_to_write_a_maximum_are_the_same_between_numbers() {
    let inputs = [F32, F32, I1];
    let code = |rows: &[Row]| straight(&inputs, rows, &[2 + rows.len()], &[F32]);
    let greater = code(&[
        (Op::Cmpf(F::Ogt), &[1, 0], I1),
        (Op::Select, &[3, 1, 0], F32),
    ]);
    let less = code(&[
        (Op::Cmpf(F::Olt), &[0, 1], I1),
        (Op::Select, &[3, 1, 0], F32),
    ]);
    let other = code(&[
        (Op::Cmpf(F::Oge), &[0, 1], I1),
        (Op::Select, &[3, 0, 1], F32),
    ]);
    let least = code(&[
        (Op::Cmpf(F::Olt), &[1, 0], I1),
        (Op::Select, &[3, 1, 0], F32),
    ]);
    let sum = code(&[(Op::Addf, &[0, 1], F32), (Op::Addf, &[0, 1], F32)]);
    let classes = [0, 0, 0];
    assert!(are_same(&greater, &less, &classes, Among::All));
    assert!(!are_same(&greater, &other, &classes, Among::All));
    assert!(are_same(&greater, &other, &classes, Among::Numbers));
    assert!(!are_same(&greater, &least, &classes, Among::Numbers));
    assert!(!are_same(&sum, &sum, &classes, Among::Numbers));
}

#[test]
fn the_first_of_the_best_is_associative_between_numbers() {
    for predicate in [F::Ogt, F::Olt] {
        let law = decided(&[F32, I32], &best(predicate), &[5, 6], NUMBERS);
        assert_eq!((law.associative, law.instead), (None, None));
        assert!(law.commutative.is_some());
        let law = decided(&[F32, I32], &best(predicate), &[5, 6], ALL);
        let worst = if predicate == F::Ogt { -1.0 } else { 1.0 } * f64::INFINITY;
        assert_eq!((law.associative, law.instead), (None, Some((0, worst))));
    }
    // An infinity would be chosen among its equals.
    let law = decided(&[F32, I32], &best(F::Oge), &[5, 6], ALL);
    let example = law.associative.expect("it is not").example();
    assert!(example.contains("NaN"), "{example}");
}

/// A NaN stays in a maximum, and leaves the place as it was.
#[test]
fn a_place_beside_a_maximum_is_one_of_numbers() {
    let pairs = [(F::Ogt, Op::Maximumf), (F::Olt, Op::Minimumf)];
    for (predicate, extremum) in pairs {
        let [compare, _, place] = best(predicate);
        let rows = [compare, (extremum, &[2, 0], F32), place];
        let law = decided(&[F32, I32], &rows, &[5, 6], NUMBERS);
        assert_eq!(law.associative, None);
        let law = decided(&[F32, I32], &rows, &[5, 6], ALL);
        assert_eq!(law.instead, None);
        let example = law.associative.expect("it is not").example();
        assert!(example.contains("z = (NaN, 0)"), "{example}");
    }
}

#[test]
fn ties_that_places_decide_commute() {
    let rows: Vec<Row> = [&JAX[..], &[(Op::Select, &[10, 1, 3], I32)]].concat();
    let law = decided(&[F32, I32], &rows, &[11, 12], NUMBERS);
    assert_eq!((law.associative, law.commutative), (None, None));
    // Of two that are no number it is the first one.
    let law = decided(&[F32, I32], &rows, &[11, 12], ALL);
    assert_eq!((law.associative, law.instead), (None, None));
    let violation = law.commutative.expect("it does not");
    assert_eq!(
        violation.example(),
        "for x = (NaN, 0), y = (NaN, 1), f(x, y) = (NaN, 0), but f(y, x) = (NaN, 1)"
    );
}

#[test]
fn neutral_elements_are_known() {
    let rows: Vec<Row> = [&JAX[..], &[(Op::Select, &[10, 1, 3], I32)]].concat();
    let code = straight(&[F32, I32, F32, I32], &rows, &[11, 12], &[F32, I32]);
    let choice = Choice::new(&code).expect("it only compares and chooses");
    let tuple = |x: f64, i: i64| [Scalar::from_f64(F32, x), Scalar::from_i64(I32, i)];
    let low = f64::NEG_INFINITY;
    assert!(choice.is_neutral(&tuple(low, i64::from(i32::MAX)), ALL));
    for other in [
        tuple(low, 0),
        tuple(0.0, i64::from(i32::MAX)),
        tuple(f64::NAN, 0),
    ] {
        assert!(!choice.is_neutral(&other, ALL));
    }
}

#[test]
fn single_choices_are_operations() {
    let named = |ty: ScalarType, rows: &[Row], given| {
        let code = straight(&[ty, ty], rows, &[1 + rows.len()], &[ty]);
        Choice::new(&code).and_then(|choice| choice.operation(given))
    };
    let single = |op, by: [Register; 2], chosen: [Register; 2], ty, given| {
        named(
            ty,
            &[(op, &by, I1), (Op::Select, &[2, chosen[0], chosen[1]], ty)],
            given,
        )
    };
    let low = Some(f64::NEG_INFINITY);
    let greater = Op::Cmpf(F::Ogt);
    assert_eq!(
        single(greater, [1, 0], [1, 0], F32, ALL),
        Some((Op::Maximumf, low))
    );
    assert_eq!(
        single(Op::Cmpf(F::Ule), [1, 0], [0, 1], F32, ALL),
        Some((Op::Maximumf, low))
    );
    assert_eq!(
        single(greater, [1, 0], [0, 1], F32, NUMBERS),
        Some((Op::Minimumf, None))
    );
    assert_eq!(single(greater, [0, 1], [0, 1], F32, ALL), None);
    let less = Op::Cmpi(CmpiPredicate::Ult);
    assert_eq!(
        single(less, [0, 1], [0, 1], I32, ALL),
        Some((Op::Minui, None))
    );
    // What is no number is passed over, wherever it is.
    let rows: [Row; 4] = [
        (greater, &[1, 0], I1),
        (Op::Cmpf(F::Une), &[0, 0], I1),
        (Op::Ori, &[2, 3], I1),
        (Op::Select, &[4, 1, 0], F32),
    ];
    assert_eq!(named(F32, &rows, ALL), Some((Op::Maxnumf, None)));
    assert_eq!(
        named(I1, &[(Op::Select, &[0, 1, 0], I1)], ALL),
        Some((Op::Andi, None))
    );
}

#[test]
fn what_computes_is_none() {
    let chooses = |components: &[ScalarType], rows: &[Row], yields: &[Register]| {
        let code = straight(&[components, components].concat(), rows, yields, components);
        Choice::new(&code).is_some()
    };
    assert!(!chooses(&[I32], &[(Op::Addi, &[0, 1], I32)], &[2]));
    assert!(!chooses(
        &[I32, I32],
        &[(Op::Cmpi(CmpiPredicate::Slt), &[0, 1], I1)],
        &[0, 1]
    ));
    // A component is made of its own values.
    assert!(!chooses(&[I32, I32], &[], &[1, 0]));
    assert!(chooses(&[I32, I32], &[], &[2, 1]));
}

/// Random choices on pairs, tested on random tuples: what is decided to hold has no counter-example.
#[test]
fn tests_find_nothing_against_what_is_decided() {
    let mut random = Random::new(7);
    let mut pick = |n: usize| random.below(n as u64) as usize;
    let mut held = [0, 0];
    for _ in 0..400 {
        let floats = [
            F::Ogt,
            F::Oge,
            F::Olt,
            F::Ugt,
            F::Ule,
            F::Oeq,
            F::Une,
            F::Ord,
        ];
        use CmpiPredicate as I;
        let integers = [I::Eq, I::Slt, I::Sle, I::Sgt, I::Ult, I::Uge];
        let side = [[0, 2], [2, 0], [0, 0], [2, 2]];
        let place = [[1, 3], [3, 1]];
        let logic = [Op::Andi, Op::Ori, Op::Xori];
        let sides = [side[pick(2)], side[pick(4)], place[pick(2)]];
        let last = 4 + pick(5);
        let by = [last, [last, 8][pick(2)]];
        let chosen = [side[pick(2)], place[pick(2)]];
        let selected = [by[0], chosen[0][0], chosen[0][1]];
        let other = [by[1], chosen[1][0], chosen[1][1]];
        let rows: [Row; 7] = [
            (Op::Cmpf(floats[pick(8)]), &sides[0], I1),
            (Op::Cmpf(floats[pick(8)]), &sides[1], I1),
            (Op::Cmpi(integers[pick(6)]), &sides[2], I1),
            (logic[pick(3)], &[4, 5], I1),
            (logic[pick(3)], &[6, 7], I1),
            (Op::Select, &selected, F32),
            (Op::Select, &other, I32),
        ];
        let code = straight(&[F32, I32, F32, I32], &rows, &[9, 10], &[F32, I32]);
        for (given, values) in [(ALL, Values::Special), (NUMBERS, Values::Finite)] {
            let law = Choice::new(&code).expect("it chooses").decide(given);
            let operator = Operator::User(UserOperator {
                name: "f".into(),
                code: code.clone(),
                neutral: None,
                commutative: law.commutative.is_none() && law.instead.is_none(),
                associative: law.associative.is_none() && law.instead.is_none(),
            });
            held[0] += usize::from(operator.is_associative());
            held[1] += usize::from(operator.is_commutative());
            assert_eq!(
                check_laws(&operator, &[F32, I32], values, 3, 400),
                [],
                "{rows:?}"
            );
        }
    }
    assert!(held.iter().all(|n| *n > 5), "{held:?}");
}
