//! The point that writes an element: index functions solved for the point.
//!
//! Linear axes with one unknown index are solved, `e floordiv c` with `e mod c` gives `e`; what
//! remains is tried, shortest dimension first.

use crate::affine::{Expr, Linear};
use crate::domain::Grid;

/// The point (indices of `varying`, others 0) at which `map` has the value `index`; the first in
/// lexicographic order of the search if there are several.
pub(super) fn solve(
    map: &[Expr],
    grids: &[Grid],
    varying: &[usize],
    index: &[i64],
) -> Option<Vec<i64>> {
    let rank = grids.len();
    let mut equations: Vec<(Linear, i64)> = Vec::new();
    for (a, &x) in map.iter().zip(index) {
        equations.extend(a.linear(rank).map(|l| (l, x)));
        for (b, &y) in map.iter().zip(index) {
            if let (Expr::FloorDiv(e, c), Expr::Mod(f, d)) = (a, b)
                && e == f
                && c == d
                && let Expr::Const(c) = **c
                && let Some(linear) = e.linear(rank)
            {
                equations.push((linear, c.checked_mul(x)?.checked_add(y)?));
            }
        }
    }
    let mut search = Search {
        map,
        index,
        grids,
        equations,
        point: vec![0; rank],
        known: (0..rank).map(|d| !varying.contains(&d)).collect(),
    };
    search.run().then_some(search.point)
}

struct Search<'a> {
    map: &'a [Expr],
    index: &'a [i64],
    grids: &'a [Grid],
    equations: Vec<(Linear, i64)>,
    point: Vec<i64>,
    known: Vec<bool>,
}

impl Search<'_> {
    fn run(&mut self) -> bool {
        let before = self.known.clone();
        if !self.propagate() {
            self.known = before;
            return false;
        }
        let open = (0..self.known.len()).filter(|d| !self.known[*d]);
        let Some(d) = open.min_by_key(|d| self.grids[*d].count()) else {
            let values = self.map.iter().map(|e| e.eval(&self.point));
            if values.eq(self.index.iter().map(|i| Some(*i))) {
                return true;
            }
            self.known = before;
            return false;
        };
        self.known[d] = true;
        let grid = self.grids[d];
        for value in grid.iter() {
            self.point[d] = value;
            if self.run() {
                return true;
            }
        }
        self.known = before;
        false
    }

    /// Solves equations with one unknown until there are none; false at a contradiction.
    fn propagate(&mut self) -> bool {
        loop {
            let mut progress = false;
            for (linear, value) in &self.equations {
                let mut rest = i128::from(*value) - i128::from(linear.constant);
                let mut unknown = None;
                let mut unknowns = 0;
                for (d, c) in linear.coefficients.iter().enumerate() {
                    if self.known[d] {
                        // Wrapping would need an index beyond 64 bits, which the rules refuse.
                        rest = rest.wrapping_sub(i128::from(*c) * i128::from(self.point[d]));
                    } else if *c != 0 {
                        unknowns += 1;
                        unknown = Some((d, i128::from(*c)));
                    }
                }
                match unknown {
                    None if rest != 0 => return false,
                    Some((d, c)) if unknowns == 1 => {
                        let solution = i64::try_from(rest / c).ok().filter(|_| rest % c == 0);
                        let Some(x) = solution.filter(|x| self.grids[d].number(*x).is_some())
                        else {
                            return false;
                        };
                        self.point[d] = x;
                        self.known[d] = true;
                        progress = true;
                    }
                    _ => {}
                }
            }
            if !progress {
                return true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::points;
    use proptest::prelude::*;

    fn d(k: usize) -> Expr {
        Expr::Dim(k)
    }

    #[test]
    fn large_domains_are_solved_not_searched() {
        let grids = [Grid::dense(1 << 40), Grid::new(0, 1 << 40, 4, 1).unwrap()];
        let find = |map: &[Expr], index: &[i64]| solve(map, &grids, &[0, 1], index);
        assert_eq!(find(&[d(1), d(0) * -1 + 9], &[8, 2]), Some(vec![7, 8]));
        assert_eq!(find(&[d(1), d(0)], &[9, 2]), None, "not on the grid");
        let split = [d(0).floor_div(8), d(1), d(0).modulo(8)];
        assert_eq!(find(&split, &[3, 4, 5]), Some(vec![29, 4]));
        let grids = [Grid::dense(1 << 40), Grid::dense(100)];
        let solution = solve(&[d(0) * 100 + d(1)], &grids, &[0, 1], &[1234567]);
        assert_eq!(solution, Some(vec![12345, 67]));
    }

    proptest! {
        /// It finds a point exactly if there is one.
        #[test]
        fn agrees_with_brute_force(
            c in proptest::collection::vec(-3i64..4, 6),
            shapes in proptest::collection::vec(0..5, 2),
            spans in proptest::collection::vec(0i64..6, 3),
            index in proptest::collection::vec(-4i64..8, 2),
        ) {
            let axis = |n: usize| {
                let e = d(0) * c[3 * n] + d(1) * c[3 * n + 1] + d(2) * c[3 * n + 2];
                match shapes[n] {
                    0 => e.floor_div(2),
                    1 => e.modulo(3),
                    _ => e,
                }
            };
            let map = [axis(0), axis(1)];
            let grids: Vec<_> = spans.iter().map(|s| Grid::new(-1, s - 1, 2, 1).unwrap()).collect();
            let value = |p: &[i64]| map.iter().map(|e| e.eval(p).unwrap()).collect::<Vec<_>>();
            let exists = points(&grids).any(|p| value(&p) == index);
            let solution = solve(&map, &grids, &[0, 1, 2], &index);
            prop_assert_eq!(solution.is_some(), exists);
            if let Some(p) = solution {
                prop_assert_eq!(value(&p), index);
                prop_assert!(p.iter().zip(&grids).all(|(x, g)| g.number(*x).is_some()));
            }
        }
    }
}
