//! Proofs and refutations of injectivity, against brute force.

use super::*;
use crate::computation::Combine;
use proptest::prelude::*;

fn dims(grids: &[Grid]) -> Vec<Dimension> {
    let dimension = |g: &Grid| Dimension {
        name: "i".into(),
        lower: Some(g.lower),
        upper: Some(g.upper),
        step: Some(g.step),
        width: Some(g.width),
        combine: Combine::Cc,
    };
    grids.iter().map(dimension).collect()
}

fn unknown(n: usize) -> Vec<Dimension> {
    (0..n)
        .map(|_| Dimension::dense("i", None, Combine::Cc))
        .collect()
}

fn all(n: usize) -> Vec<usize> {
    (0..n).collect()
}

/// The proof alone, without enumeration.
fn proves(maps: &[&[Expr]], dims: &[Dimension]) -> bool {
    let domain = domain(dims, &all(dims.len()));
    let is_injective = |m: &&[Expr]| alias::repeats(&domain, m) == Sharing::InPlace;
    let apart = |a: usize, b| disjoint([maps[a], maps[b]], &domain);
    maps.iter().all(is_injective) && (0..maps.len()).all(|a| (0..a).all(|b| apart(a, b)))
}

fn d(k: usize) -> Expr {
    Expr::Dim(k)
}

#[test]
fn proofs_without_enumeration() {
    let big = dims(&[Grid::dense(1 << 20), Grid::dense(1 << 20)]);
    assert!(proves(&[&[d(1), d(0)]], &big));
    assert!(proves(&[&[d(0) * -1 + 7, d(0) + d(1)]], &big));
    assert!(proves(&[&[d(0) + d(1), d(0) - d(1)]], &big), "by rank");
    assert!(proves(&[&[d(0).floor_div(4), d(1), d(0).modulo(4)]], &big));
    let split = [(d(0) + 1).floor_div(4), d(1), (d(0) + 5).modulo(4)];
    assert!(proves(&[&split], &big), "digits of shifted indices");
    let rounded = [(d(0) * 4 + 3).floor_div(2), (d(1) * 6 + 1).ceil_div(3)];
    assert!(proves(&[&rounded], &big), "a form but for its constant");
    let flat = dims(&[Grid::dense(1 << 20), Grid::dense(100)]);
    assert!(proves(&[&[d(0) * 100 + d(1)]], &flat), "mixed radix");
    assert!(!proves(&[&[d(0) * 99 + d(1)]], &flat));
    let strided = dims(&[Grid::new(0, 1000, 10, 1).unwrap(), Grid::dense(10)]);
    assert!(
        proves(&[&[d(0) + d(1)]], &strided),
        "the stride is the radix"
    );
    assert!(
        proves(
            &[&[d(0) * 2], &[d(0) * 2 + 1]],
            &dims(&[Grid::dense(1 << 20)])
        ),
        "residues"
    );
    assert!(
        proves(
            &[&[d(0)], &[d(0) + (1 << 20)]],
            &dims(&[Grid::dense(1 << 20)])
        ),
        "ranges"
    );
}

/// Long digits whose weights share no divisor: the larger ones are settled first.
#[test]
fn digits_of_any_weight_are_told_apart() {
    let digits = dims(&[1_000_000, 1_000_000, 2].map(Grid::dense));
    let sum = |weight: i64| d(0) * weight + d(1) * 3 + d(2);
    assert!(proves(&[&[sum(3_000_001)]], &digits));
    assert!(!proves(&[&[sum(2_999_998)]], &digits));
}

#[test]
fn accesses_are_apart_by_their_quotients() {
    let big = dims(&[Grid::dense(1 << 20)]);
    let even = || d(0).floor_div(2) * 2;
    let apart = |by: i64| disjoint([&[even()], &[even() + by]], &domain(&big, &[0]));
    assert!(apart(1) && !apart(2));
}

#[test]
fn unknown_sizes() {
    let n = unknown(2);
    let verdict = |map: &[Expr]| injective(&[map], &n, &[0, 1]);
    assert_eq!(verdict(&[d(1), d(0)]), Verdict::Proved);
    assert_eq!(verdict(&[d(0) * 8 + d(1)]), Verdict::Unknown);
    assert_eq!(
        verdict(&[d(0)]),
        Verdict::Unknown,
        "the other may have one point"
    );
    let mut half = unknown(2);
    half[1].upper = Some(8);
    assert_eq!(
        injective(&[&[d(0) * 8 + d(1)]], &half, &[0, 1]),
        Verdict::Proved
    );
    assert!(matches!(
        injective(&[&[d(0)]], &half, &[0, 1]),
        Verdict::Refuted(_)
    ));
}

#[test]
fn large_domains_are_refuted_in_a_corner() {
    let big = dims(&[Grid::dense(1 << 20), Grid::dense(1 << 20)]);
    let Verdict::Refuted(clash) = injective(&[&[d(0)]], &big, &[0, 1]) else {
        panic!("every column writes the same element");
    };
    assert_eq!(
        (clash.index, clash.first.1, clash.second.1),
        (vec![0], vec![0, 0], vec![0, 1])
    );
    assert!(matches!(
        injective(&[&[d(0) + d(1)]], &big, &[0, 1]),
        Verdict::Refuted(_)
    ));
}

/// Points far from the corner that write one element, and coefficients between which the numbers
/// of points just leave room: too many points to enumerate.
#[test]
fn large_domains_are_decided_by_differences() {
    let clash = |map: &[Expr], grids: &[Grid]| {
        let dims = dims(grids);
        match injective(&[map], &dims, &all(dims.len())) {
            Verdict::Refuted(clash) => Some((clash.index, clash.first.1, clash.second.1)),
            Verdict::Proved => None,
            Verdict::Unknown => panic!("neither proved nor refuted"),
        }
    };
    let long = Grid::dense(10_000);
    assert_eq!(
        clash(&[d(0) * 997 + d(1)], &[long, Grid::dense(999)]),
        Some((vec![997], vec![0, 997], vec![1, 0]))
    );
    let three = [d(0) * 1000 + d(1) * 30 + d(2)];
    let box_of = |k| [long, Grid::dense(34), Grid::dense(k)];
    let example = clash(&three, &box_of(11)).unwrap();
    assert_eq!(example, (vec![1000], vec![0, 33, 10], vec![1, 0, 0]));
    assert_eq!(clash(&three, &box_of(10)), None);
    // Two axes, and points in periods of which the last one is cut off.
    let two = [d(0) * 3 + d(1) * 2, d(2)];
    let strided = |upper| Grid::new(5, upper, 1000, 3).unwrap();
    assert!(clash(&two, &[strided(2_000_000), Grid::dense(3), long]).is_none());
    assert!(clash(&two, &[strided(2_000_000), Grid::dense(4), long]).is_some());
    assert!(clash(&[d(0) * 3 + d(1) * 2], &[long, Grid::dense(3)]).is_none());
}

#[test]
fn nothing_is_written_twice_if_nothing_is_written() {
    let empty = dims(&[Grid::dense(0), Grid::dense(5)]);
    assert_eq!(
        injective(&[&[Expr::Const(0)]], &empty, &[0, 1]),
        Verdict::Proved
    );
    assert_eq!(
        injective(&[&[Expr::Const(0)]], &dims(&[]), &[]),
        Verdict::Proved
    );
}

fn any_map() -> impl Strategy<Value = Vec<Expr>> {
    let axis = (-2i64..5, -2i64..5, -2i64..5, -3i64..4, 0..6).prop_map(|(a, b, c, k, shape)| {
        let e = d(0) * a + d(1) * b + d(2) * c + k;
        match shape {
            0 => e.floor_div(3),
            1 => e.modulo(3),
            _ => e,
        }
    });
    proptest::collection::vec(axis, 1..4)
}

fn any_grid() -> impl Strategy<Value = Grid> {
    (-3i64..3, 1i64..7, 1i64..4).prop_flat_map(|(lower, span, step)| {
        (1..=step).prop_map(move |w| Grid::new(lower, lower + span, step, w).unwrap())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    /// Checks: what is proved is true, what is refuted is false, and small domains are always decided.
    #[test]
    fn verdicts_agree_with_brute_force(
        maps in proptest::collection::vec(any_map(), 1..3),
        grids in proptest::collection::vec(any_grid(), 3),
    ) {
        let axes = maps.iter().map(Vec::len).min().unwrap();
        let maps: Vec<&[Expr]> = maps.iter().map(|m| &m[..axes]).collect();
        let mut seen = std::collections::HashSet::new();
        let injects = points(&grids).all(|p| maps.iter().all(|m| {
            seen.insert(m.iter().map(|e| e.eval(&p).unwrap()).collect::<Vec<_>>())
        }));
        let dims = dims(&grids);
        if proves(&maps, &dims) {
            prop_assert!(injects);
        }
        match injective(&maps, &dims, &[0, 1, 2]) {
            Verdict::Proved => prop_assert!(injects),
            Verdict::Unknown => prop_assert!(false, "small, and not decided"),
            Verdict::Refuted(clash) => {
                prop_assert!(!injects);
                let at = |(access, point): &(usize, Vec<i64>)| {
                    maps[*access].iter().map(|e| e.eval(point).unwrap()).collect::<Vec<_>>()
                };
                prop_assert_eq!(at(&clash.first), clash.index.clone());
                prop_assert_eq!(at(&clash.second), clash.index);
                prop_assert_ne!(clash.first, clash.second);
            }
        }
    }

    /// With sizes unknown, a proof holds for all sizes.
    #[test]
    fn proofs_hold_for_all_sizes(map in any_map(), counts in proptest::collection::vec(0i64..6, 3)) {
        if injective(&[&map], &unknown(3), &[0, 1, 2]) == Verdict::Proved {
            let grids: Vec<_> = counts.iter().map(|c| Grid::dense(*c)).collect();
            let mut seen = std::collections::HashSet::new();
            let injects = points(&grids).all(|p| {
                seen.insert(map.iter().map(|e| e.eval(&p).unwrap()).collect::<Vec<_>>())
            });
            prop_assert!(injects);
        }
    }

    /// Checks: a proof of one access alone says what enumeration does, cut off periods included.
    #[test]
    fn repetitions_agree_with_brute_force(
        map in any_map(),
        grids in proptest::collection::vec(any_grid(), 3),
    ) {
        let dims = dims(&grids);
        let by_points = enumerate(&[&map], &grids.iter().copied().map(Some).collect::<Vec<_>>());
        match alias::repeats(&domain(&dims, &all(dims.len())), &map) {
            Sharing::InPlace => prop_assert_eq!(by_points, Verdict::Proved),
            Sharing::Conflict(conflict) => {
                prop_assert!(matches!(by_points, Verdict::Refuted(_)), "{:?}", conflict);
                let (first, second) = (conflict.read.1, conflict.written.1);
                prop_assert_ne!(&first, &second);
                for at in [first, second] {
                    let element = map.iter().map(|e| e.eval(&at).unwrap());
                    prop_assert_eq!(element.collect::<Vec<_>>(), conflict.element.clone());
                    prop_assert!(grids.iter().zip(&at).all(|(g, i)| g.number(*i).is_some()));
                }
            }
            found => {
                let is_linear = map.iter().all(|e| e.linear(3).is_some());
                prop_assert!(found == Sharing::Unknown && !is_linear, "{:?}", found);
            }
        }
    }
}
