//! The evaluator against the definition, on random computations over integers.

use proptest::prelude::*;

use super::super::arrays::Arrays;
use super::super::definition::md_hom;
use super::{all_results, integers};
use crate::affine::Expr;
use crate::computation::{Combine, Computation, Dimension, Place};
use crate::examples::{Builder, arg_max, d, first_last, matrix_product};
use crate::operator::{Builtin, Operator};
use crate::random::Random;
use crate::scalar::{Scalar, ScalarType::I64};

fn operators() -> Vec<(Operator, usize)> {
    use Builtin::*;
    vec![
        (Operator::Builtin(vec![Addi]), 1),
        (Operator::Builtin(vec![Muli, Xori]), 2),
        (Operator::Builtin(vec![Maxsi, Minui, Addi]), 3),
        (Operator::User(arg_max(I64)), 2),
        (Operator::User(first_last()), 2),
        (Operator::User(matrix_product()), 4),
    ]
}

/// Up to three dimensions, strided and shifted; inputs read `c . p + k`, padded; outputs keep
/// `cc` and `ps` dimensions.
pub(crate) fn any_computation() -> impl Strategy<Value = Computation> {
    let grid = (-3i64..4, 1i64..6, 1i64..4, 1i64..4);
    let dims = proptest::collection::vec((grid, 0..3), 1..4);
    let maps = proptest::collection::vec(proptest::collection::vec(-2i64..3, 4), 4);
    (dims, 0..operators().len(), maps).prop_map(|(dims, operator, maps)| {
        let (operator, arity) = operators().swap_remove(operator);
        let mut combined = 0;
        let mut combines = Vec::new();
        for (_, kind) in &dims {
            let free = operator.is_commutative() || combined == 0;
            combines.push(match kind {
                1 if free => Combine::Pw(0),
                2 if free => Combine::Ps(0),
                _ => Combine::Cc,
            });
            combined += usize::from(combines[combines.len() - 1] != Combine::Cc);
        }
        let counts: Vec<i64> = dims.iter().map(|((_, span, ..), _)| *span).collect();
        let mut builder = Builder::new(&counts, &combines, vec![operator]);
        let kept = builder.0.kept();
        for map in maps.iter().take(arity) {
            let sum = (0..dims.len()).fold(Expr::Const(0), |e, n| e + d(n) * map[n]);
            builder = builder.input(I64, &[9], &[sum + map[3]]);
        }
        builder = builder.id();
        let shape: Vec<i64> = kept.iter().map(|n| counts[*n] + 1).collect();
        for _ in 0..arity {
            let map: Vec<_> = kept.iter().map(|n| d(*n)).collect();
            builder = builder.output(I64, &shape, &map);
        }
        let mut c = builder.0;
        for input in &mut c.inputs {
            input.pad = Some(Scalar::from_i64(I64, 3));
            input.origin = vec![Some(-4)];
        }
        for (n, ((lower, span, step, width), _)) in dims.into_iter().enumerate() {
            c.dimensions[n] = Dimension {
                lower: Some(lower),
                upper: Some(lower + span),
                step: Some(step),
                width: Some(width.min(step)),
                ..c.dimensions[n].clone()
            };
            if let Some(axis) = kept.iter().position(|k| *k == n) {
                for output in &mut c.outputs {
                    output.origin[axis] = Some(lower);
                }
            }
        }
        c
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn the_evaluator_agrees_with_the_definition(c in any_computation(), seed in any::<u64>()) {
        let mut random = Random::new(seed);
        let mut arrays =
            Arrays::new(&c, |_, _| Scalar::from_i64(I64, random.below(9) as i64 - 4));
        let before = arrays.clone();
        let mut read = |place: Place, index: &[i64]| {
            let Place::Input(n) = place else { panic!("reads inputs only") };
            before.elements[n][index[0] as usize].value
        };
        let mda = md_hom(&c, &mut read, &mut random).unwrap();
        let found = all_results(&c, &mut arrays);
        let kept = c.kept();
        for (n, output) in c.outputs.iter().enumerate() {
            let mut expected = integers(&before.elements[c.inputs.len() + n]);
            for (index, tuple) in &mda.values {
                let flat = kept.iter().enumerate().fold(0, |flat, (axis, d)| {
                    let local = index[*d] - output.origin[axis].unwrap();
                    flat * output.shape[axis].unwrap() + local
                });
                expected[flat as usize] = tuple[n].as_i64();
            }
            prop_assert_eq!(integers(&found[n]), expected, "output {}", n);
        }
    }
}
