//! Stairs: values that go up or down with an index as a rounded quotient does.
//!
//! `f(i) = (p * i + q) floordiv r` holds at `i` exactly if `r * f(i) <= p * i + q < r * f(i) + r`. So for a
//! slope `p / r` each value leaves an interval of `q`, and a table of values is a stair of that slope if
//! these have a number in common. Slopes are tried in the order of `r`; only few `p` can take a stair from
//! the first value to the last.

use crate::affine::Expr;

/// Steps wider than this are not looked for.
const WIDEST: i128 = 256;

/// The quotient that is `values[i]` for each index `i` of a dimension, if there is one.
pub fn stair(values: &[i64], dimension: usize) -> Option<Expr> {
    let (first, last) = (*values.first()?, *values.last()?);
    let rise = i128::from(last) - i128::from(first);
    let steps = values.len() as i128 - 1;
    for r in 1..=WIDEST {
        // |p * steps / r - rise| < 1
        let (low, high) = match steps {
            0 => (0, 0),
            _ => (
                ((rise - 1) * r).div_euclid(steps),
                ((rise + 1) * r).div_euclid(steps) + 1,
            ),
        };
        for p in low..=high {
            if let Some(q) = offset(values, p, r) {
                let p = p.try_into().ok()?;
                let q: i64 = q.try_into().ok()?;
                let numerator = Expr::dim(dimension) * p + q;
                return Some(numerator.floor_div(r as i64));
            }
        }
    }
    None
}

/// The offset of a stair with the slope `p / r`: the one nearest to 0.
fn offset(values: &[i64], p: i128, r: i128) -> Option<i128> {
    let (mut least, mut most) = (i128::MIN, i128::MAX);
    for (i, value) in values.iter().enumerate() {
        let least_here = r * i128::from(*value) - p * i as i128;
        least = least.max(least_here);
        most = most.min(least_here + r - 1);
        if least > most {
            return None;
        }
    }
    Some(0.clamp(least, most))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(count: i64, of: impl Fn(i64) -> i64) -> Vec<i64> {
        (0..count).map(of).collect()
    }

    /// Checks: each stair is found again, as a function of the same values.
    #[test]
    fn stairs_are_found() {
        let check = |p: i64, q: i64, r: i64| {
            for count in [1, 2, 5, 40] {
                let steps = values(count, |i| (p * i + q).div_euclid(r));
                let expression = stair(&steps, 1).expect("it is one");
                assert_eq!(values(count, |i| expression.eval(&[9, i]).unwrap()), steps);
            }
        };
        for p in -4..=6 {
            for q in -5..=5 {
                [1, 2, 3, 7, 10].iter().for_each(|r| check(p, q, *r));
            }
        }
    }

    #[test]
    fn simple_ones_are_preferred() {
        let text =
            |of: &[i64]| stair(of, 0).map(|e| e.linear(1).map_or(e, |l| l.to_expr()).to_string());
        assert_eq!(text(&[7, 7, 7]).unwrap(), "7");
        assert_eq!(text(&[1, 3, 5, 7]).unwrap(), "2 * d0 + 1");
        assert_eq!(text(&[0, 0, 1, 1, 2, 2]).unwrap(), "d0 floordiv 2");
        assert_eq!(text(&[0, 1, 1, 2, 2, 3]).unwrap(), "(d0 + 1) floordiv 2");
        assert_eq!(
            text(&[-1, 0, 1, 1, 2, 2, 3, 3]).unwrap(),
            "(4 * d0 - 1) floordiv 7"
        );
    }

    #[test]
    fn others_are_none() {
        for other in [
            &[0, 1, 0, 1][..],
            &[0, 1, 4, 9, 16],
            &[0, 0, 0, 1, 2, 3],
            &[i64::MIN, i64::MAX, 0],
            &[],
        ] {
            assert_eq!(stair(other, 0), None);
        }
    }
}
