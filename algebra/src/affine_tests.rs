//! Printing, evaluation, linear forms and ranges, against brute force.

use super::*;
use crate::domain::points;
use proptest::prelude::*;

fn d(k: usize) -> Expr {
    Expr::Dim(k)
}

#[test]
fn prints_as_a_person_writes() {
    let names = ["p", "r"];
    let show = |e: Expr| e.display(&names).to_string();
    assert_eq!(show(d(0) * 2 + d(1)), "2 * p + r");
    assert_eq!(show(d(0) * -1 + 7), "7 - p");
    assert_eq!(show(d(0) * -1), "-p");
    assert_eq!(show(d(0) - d(1) * 3 + -1), "p - 3 * r - 1");
    assert_eq!(show((d(0) + 1).floor_div(2)), "(p + 1) floordiv 2");
    assert_eq!(show(d(0).modulo(4) + d(1)), "p mod 4 + r");
    assert_eq!(show(Expr::Const(-3)), "-3");
    assert_eq!(show(Expr::Const(6) - (d(0) + 1)), "6 - (p + 1)");
    assert_eq!((d(0) + d(2)).to_string(), "d0 + d2");
}

#[test]
fn evaluation_is_floor_and_checked() {
    assert_eq!(d(0).floor_div(4).eval(&[-1]), Some(-1));
    assert_eq!(d(0).ceil_div(4).eval(&[-1]), Some(0));
    assert_eq!(d(0).modulo(4).eval(&[-1]), Some(3));
    assert_eq!(d(0).floor_div(0).eval(&[1]), None);
    assert_eq!((d(0) * 4).eval(&[i64::MAX]), None);
    assert_eq!(d(3).eval(&[1]), None);
    assert_eq!(d(0).ceil_div(1).eval(&[i64::MAX]), Some(i64::MAX));
}

#[test]
fn linear_forms() {
    let form = (d(0) * 2 + d(1) - d(0) + 5).linear(2).unwrap();
    assert_eq!(
        (form.coefficients.as_slice(), form.constant),
        (&[1, 1][..], 5)
    );
    assert_eq!(form.to_expr().to_string(), "d0 + d1 + 5");
    assert_eq!(d(0).floor_div(2).linear(1), None);
    let exact = (d(0) * 4 + 2).floor_div(2).linear(1).unwrap();
    assert_eq!((exact.coefficients[0], exact.constant), (2, 1));
    let rounded = [d(0) * 4 + 3, d(0) * -4 + 3].map(|e| e.floor_div(2));
    assert_eq!(
        rounded[0].linear(1).unwrap().to_expr().to_string(),
        "2 * d0 + 1"
    );
    assert_eq!(
        rounded[1].linear(1).unwrap().to_expr().to_string(),
        "1 - 2 * d0"
    );
    let up = (d(0) * 4 + 3).ceil_div(2).linear(1).unwrap();
    assert_eq!(up.to_expr().to_string(), "2 * d0 + 2");
    assert_eq!((d(0) * 4 + 7).modulo(4).linear(1).unwrap().constant, 3);
    assert_eq!((d(0) * i64::MAX * 2).linear(1), None);
}

#[test]
fn substitution() {
    let e = (d(0) * 2 + d(1)).substitute(&[d(1) + 1, Expr::Const(3)]);
    assert_eq!(e.to_string(), "2 * (d1 + 1) + 3");
    assert!(e.uses(1) && !e.uses(0));
}

fn any_expr() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![
        (0usize..3).prop_map(Expr::Dim),
        (-5i64..6).prop_map(Expr::Const)
    ];
    leaf.prop_recursive(3, 12, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| a + b),
            (inner.clone(), -3i64..4).prop_map(|(a, c)| a * c),
            (inner.clone(), 1i64..5).prop_map(|(a, c)| a.floor_div(c)),
            (inner.clone(), 1i64..5).prop_map(|(a, c)| a.ceil_div(c)),
            (inner, 1i64..5).prop_map(|(a, c)| a.modulo(c)),
        ]
    })
}

pub(crate) fn any_grid() -> impl Strategy<Value = Grid> {
    (-4i64..5, 1i64..6, 1i64..4).prop_flat_map(|(lower, span, step)| {
        (1..=step).prop_map(move |width| Grid {
            lower,
            upper: lower + span,
            step,
            width,
        })
    })
}

proptest! {
    /// Every value lies in the range; the ends occur where that is claimed.
    #[test]
    fn ranges_hold(e in any_expr(), grids in proptest::collection::vec(any_grid(), 3)) {
        let domain: Vec<_> = grids.iter().copied().map(Some).collect();
        let range = e.range(&domain).unwrap();
        let values: Vec<i64> = points(&grids).map(|p| e.eval(&p).unwrap()).collect();
        let (min, max) = (*values.iter().min().unwrap(), *values.iter().max().unwrap());
        prop_assert!(range.min <= min && max <= range.max);
        if range.ends == Ends::Attained {
            prop_assert_eq!((range.min, range.max), (min, max));
        }
    }

    /// The linear form, and what it prints back to, have the expression's values.
    #[test]
    fn linear_forms_agree(e in any_expr(), p in proptest::collection::vec(-9i64..10, 3)) {
        if let Some(form) = e.linear(3) {
            prop_assert_eq!(form.eval(&p), e.eval(&p));
            prop_assert_eq!(form.to_expr().eval(&p), e.eval(&p));
        }
    }

    #[test]
    fn substitution_composes(e in any_expr(), by in proptest::collection::vec(any_expr(), 3),
                             p in proptest::collection::vec(-9i64..10, 3)) {
        let inner: Vec<i64> = by.iter().map(|e| e.eval(&p).unwrap()).collect();
        prop_assert_eq!(e.substitute(&by).eval(&p), e.eval(&inner));
    }
}
