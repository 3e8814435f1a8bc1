//! The evaluator against the definition, on random computations over integers.

use proptest::prelude::*;

use super::super::arrays::Arrays;
use super::super::definition::md_hom;
use super::{all_results, integers};
use crate::computation::{Computation, Place};
use crate::examples::drawn;
use crate::random::Random;
use crate::scalar::{Scalar, ScalarType::I64};

/// Random computations over integers.
fn any_computation() -> impl Strategy<Value = Computation> {
    let grid = (-3i64..4, 1i64..6, 1i64..4, 1i64..4);
    let dims = proptest::collection::vec((grid, 0..3), 1..4);
    let maps = proptest::collection::vec(proptest::collection::vec(-2i64..3, 4), 4);
    (dims, 0..6usize, maps).prop_map(|(dims, operator, maps)| drawn(dims, operator, maps))
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
        let results = all_results(&c, &mut arrays);
        let kept_dims = c.kept();
        for (n, output) in c.outputs.iter().enumerate() {
            let mut expected = integers(&before.elements[c.inputs.len() + n]);
            for (index, tuple) in &mda.values {
                let flat = kept_dims.iter().enumerate().fold(0, |flat, (axis, d)| {
                    let local = index[*d] - output.origin[axis].unwrap();
                    flat * output.shape[axis].unwrap() + local
                });
                expected[flat as usize] = tuple[n].as_i64();
            }
            prop_assert_eq!(integers(&results[n]), expected, "output {}", n);
        }
    }
}
