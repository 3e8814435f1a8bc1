//! Tiles and carries: computing tile by tile, each receiving its neighbours' carries, gives what
//! computing at once gives.

use std::collections::HashMap;

use proptest::prelude::*;

use super::super::arrays::Arrays;
use super::super::{Element, Errors, Evaluator};
use super::{all_results, integers};
use crate::affine::Expr;
use crate::computation::{Buffer, Carry, Combine, Computation, Place};
use crate::examples::{Builder, d, first_last, matrix_product, summed_area};
use crate::operator::{Builtin, Operator};
use crate::random::Random;
use crate::scalar::{Scalar, ScalarType, ScalarType::I64};

/// Cuts of each dimension, from 0 to its size.
type Cuts = Vec<Vec<i64>>;

/// The tile's computation: bounds cut, a carry with a valid bit for every combined dimension.
/// Carries are indexed by the kept dimensions other than their own, from the tile's first point.
fn tile(c: &Computation, cuts: &Cuts, at: &[usize]) -> Computation {
    let mut tile = c.clone();
    for (n, dimension) in tile.dimensions.iter_mut().enumerate() {
        dimension.lower = Some(cuts[n][at[n]]);
        dimension.upper = Some(cuts[n][at[n] + 1]);
    }
    for (dimension, axis) in c.dimensions.iter().enumerate() {
        if axis.combine == Combine::Cc {
            continue;
        }
        let mut rest = c.kept();
        rest.retain(|k| *k != dimension);
        let map: Vec<_> = rest.iter().map(|k| d(*k)).collect();
        let shape: Vec<_> = (rest.iter())
            .map(|k| Some(cuts[*k][at[*k] + 1] - cuts[*k][at[*k]]))
            .collect();
        let buffers = |name: &str| -> Vec<Buffer> {
            (c.components.iter())
                .map(|ty| {
                    let mut buffer = Buffer::new(name, *ty, &shape).access(0, &map);
                    buffer.origin = rest.iter().map(|k| Some(cuts[*k][at[*k]])).collect();
                    buffer
                })
                .collect()
        };
        tile.carries.push(Carry {
            dimension,
            incoming: buffers("in"),
            has_valid_bit: true,
            outgoing: buffers("out"),
        });
    }
    tile
}

/// Runs all tiles in lexicographic order; outputs are updated in place.
fn tiled(c: &Computation, cuts: &Cuts, arrays: &Arrays) -> Vec<Vec<Element>> {
    let mut outputs: Vec<Vec<Element>> = arrays.elements[c.inputs.len()..].to_vec();
    let mut handed: HashMap<(usize, Vec<usize>), Vec<Vec<Element>>> = HashMap::new();
    let counts = cuts.iter().map(|c| c.len() as i64 - 1).collect();
    let mut odometer = crate::domain::Odometer::new(counts);
    while let Some(numbers) = odometer.current() {
        let at: Vec<usize> = numbers.iter().map(|n| *n as usize).collect();
        let part = tile(c, cuts, &at);
        assert_eq!(crate::rules::check(&part), []);
        let mut environment = Arrays::new(&part, |_, _| Scalar::zero(I64));
        let inputs = c.inputs.len();
        environment.elements[..inputs].clone_from_slice(&arrays.elements[..inputs]);
        let ends = inputs + c.outputs.len();
        environment.elements[inputs..ends].clone_from_slice(&outputs);
        let components = c.components.len();
        for (n, carry) in part.carries.iter().enumerate() {
            environment.valid[n] = at[carry.dimension] > 0;
            if !environment.valid[n] {
                continue;
            }
            let mut before = at.clone();
            before[carry.dimension] -= 1;
            let from = &handed[&(carry.dimension, before)];
            let start = ends + n * 2 * components;
            environment.elements[start..start + components].clone_from_slice(from);
        }
        let results = Evaluator::new(&part, Errors::Bounded).unwrap();
        let results = { results }.all_results(&mut environment).unwrap();
        for (place, elements) in results {
            match place {
                Place::Output(n) => outputs[n] = elements,
                Place::Outgoing { carry, .. } => {
                    let dimension = part.carries[carry].dimension;
                    handed
                        .entry((dimension, at.clone()))
                        .or_default()
                        .push(elements);
                }
                _ => unreachable!("only these are written"),
            }
        }
        odometer.advance();
    }
    outputs
}

#[test]
fn summed_area_of_ones_in_single_tiles_is_four() {
    let c = summed_area(2, 2);
    let arrays = Arrays::new(&c, |_, _| Scalar::from_i64(ScalarType::I32, 1));
    let cuts = vec![vec![0, 1, 2]; 2];
    assert_eq!(integers(&tiled(&c, &cuts, &arrays)[0]), [1, 2, 2, 4]);
}

#[test]
fn a_carry_applies_before_the_tile() {
    let ops = vec![Operator::User(first_last())];
    let c = Builder::new(&[3], &[Combine::Pw(0)], ops)
        .input(I64, &[3], &[d(0)])
        .input(I64, &[3], &[d(0)])
        .id()
        .output(I64, &[], &[])
        .output(I64, &[], &[])
        .0;
    let mut part = tile(&c, &vec![vec![0, 3]], &[0]);
    part.carries[0].has_valid_bit = false;
    let mut arrays = Arrays::new(&part, |place, n| {
        let carried = matches!(place, Place::Incoming { .. });
        Scalar::from_i64(I64, if carried { 77 } else { n as i64 })
    });
    let results = all_results(&part, &mut arrays);
    assert_eq!(
        (integers(&results[0]), integers(&results[1])),
        (vec![77], vec![2])
    );
    assert_eq!(
        (integers(&results[2]), integers(&results[3])),
        (vec![77], vec![2])
    );
}

/// Of an empty tile the carry remains, in results and in what is carried out.
#[test]
fn empty_tiles_pass_the_carry_on() {
    for combine in [Combine::Pw(0), Combine::Ps(0)] {
        let is_kept = combine.is_ps();
        let along = [d(0)];
        let (shape, map): (&[i64], &[Expr]) = if is_kept { (&[4], &along) } else { (&[], &[]) };
        let c = Builder::new(
            &[4],
            &[combine],
            vec![Operator::Builtin(vec![Builtin::Maxsi])],
        )
        .input(I64, &[4], &[d(0)])
        .id()
        .output(I64, shape, map)
        .0;
        let part = tile(&c, &vec![vec![2, 2]], &[0]);
        let mut arrays = Arrays::new(&part, |place, _| {
            let carried = matches!(place, Place::Incoming { .. });
            Scalar::from_i64(I64, if carried { 9 } else { 1 })
        });
        let results = all_results(&part, &mut arrays);
        assert_eq!(integers(&results[1]), [9]);
        assert_eq!(
            integers(&results[0]),
            if is_kept { vec![1; 4] } else { vec![9] }
        );
        arrays.valid[0] = false;
        let results = all_results(&part, &mut arrays);
        assert_eq!(integers(&results[1]), [i64::MIN], "the neutral element");
    }
}

fn any_case() -> impl Strategy<Value = (Computation, Cuts)> {
    let dims = proptest::collection::vec((1i64..6, 0..3), 1..4);
    let cut = proptest::collection::vec(0i64..6, 0..3);
    (dims, 0..3, proptest::collection::vec(cut, 3)).prop_map(|(dims, which, cuts)| {
        let (operator, arity) = match which {
            0 => (Operator::Builtin(vec![Builtin::Addi]), 1),
            1 => (Operator::User(matrix_product()), 4),
            _ => (Operator::User(first_last()), 2),
        };
        let mut combines: Vec<Combine> = Vec::new();
        for (_, kind) in &dims {
            let free = which == 0 || combines.iter().all(|c| *c == Combine::Cc);
            combines.push(match kind {
                1 if free => Combine::Pw(0),
                2 if free => Combine::Ps(0),
                _ => Combine::Cc,
            });
        }
        let counts: Vec<i64> = dims.iter().map(|(n, _)| *n).collect();
        let mut builder = Builder::new(&counts, &combines, vec![operator]);
        let identity: Vec<_> = (0..counts.len()).map(d).collect();
        for _ in 0..arity {
            builder = builder.input(I64, &counts, &identity);
        }
        builder = builder.id();
        let kept_dims = builder.0.kept();
        let shape: Vec<i64> = kept_dims.iter().map(|n| counts[*n]).collect();
        let map: Vec<_> = kept_dims.iter().map(|n| d(*n)).collect();
        for _ in 0..arity {
            builder = builder.output(I64, &shape, &map);
        }
        let cuts = cuts.into_iter().zip(&counts).map(|(mut inner, n)| {
            // Equal cuts make empty tiles.
            inner.iter_mut().for_each(|c| *c = (*c).min(*n));
            inner.extend([0, *n]);
            inner.sort_unstable();
            inner
        });
        (builder.0, cuts.collect())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn tiles_with_carries_give_the_whole((c, cuts) in any_case(), seed in any::<u64>()) {
        // Without neutral element, an empty first tile has nothing to carry out.
        let empty = |c: &Vec<i64>| c.windows(2).any(|w| w[0] == w[1]);
        let neutral = c.operator().is_none_or(|o| o.neutral(&c.components).is_some());
        prop_assume!(neutral || !cuts.iter().any(empty));
        let mut random = Random::new(seed);
        let mut arrays =
            Arrays::new(&c, |_, _| Scalar::from_i64(I64, random.below(9) as i64 - 4));
        let expected: Vec<_> = all_results(&c, &mut arrays).iter().map(|e| integers(e)).collect();
        let joined: Vec<_> = tiled(&c, &cuts, &arrays).iter().map(|e| integers(e)).collect();
        prop_assert_eq!(joined, expected);
    }
}
