//! [`sharing`] against its definition: orders of points and results, and pairs of them.

use std::collections::HashMap;

use super::*;
use crate::domain::{Grid, points};
use crate::random::Random;

const ROLES: [Role; 3] = [Role::Cc, Role::Ps, Role::Pw];

/// A domain and two views that were drawn.
#[derive(Debug)]
struct Case {
    domain: Vec<DomainAxis>,
    reads: Vec<Vec<Expr>>,
    writes: Vec<Vec<Expr>>,
    origins: [Vec<Amount>; 2],
}

fn grid(axis: &DomainAxis) -> Grid {
    let known = [axis.lower, axis.upper, axis.step, axis.width].map(|a| a.known().unwrap());
    let [lower, upper, step, width] = known;
    Grid::new(lower, upper, step, width).unwrap()
}

impl Case {
    fn read(&self) -> View<'_> {
        View {
            accesses: &self.reads,
            origin: &self.origins[0],
        }
    }

    fn written(&self) -> View<'_> {
        View {
            accesses: &self.writes,
            origin: &self.origins[1],
        }
    }

    fn points(&self) -> Vec<Vec<i64>> {
        let grids: Vec<Grid> = self.domain.iter().map(grid).collect();
        points(&grids).collect()
    }

    fn results(&self) -> Vec<Vec<i64>> {
        let result_grid = |axis: &DomainAxis| match axis.role {
            Role::Pw => Grid::dense(1),
            _ => grid(axis),
        };
        let grids: Vec<Grid> = self.domain.iter().map(result_grid).collect();
        points(&grids).collect()
    }

    fn elements(maps: &[Vec<Expr>], origin: &[Amount], at: &[i64]) -> Vec<Vec<i64>> {
        let element = |map: &Vec<Expr>| {
            let axes = map.iter().zip(origin);
            axes.map(|(e, o)| e.eval(at).unwrap() - o.known().unwrap())
                .collect()
        };
        maps.iter().map(element).collect()
    }

    fn read_at(&self, point: &[i64]) -> Vec<Vec<i64>> {
        Case::elements(&self.reads, &self.origins[0], point)
    }

    fn written_at(&self, result: &[i64]) -> Vec<Vec<i64>> {
        Case::elements(&self.writes, &self.origins[1], result)
    }

    fn combines(&self, result: &[i64], point: &[i64]) -> bool {
        let mut axes = self.domain.iter().zip(result.iter().zip(point));
        axes.all(|(axis, (r, p))| match axis.role {
            Role::Cc => p == r,
            Role::Ps => p <= r,
            Role::Pw | Role::Absent => true,
        })
    }

    /// Returns whether no element is written twice.
    fn is_injective(&self) -> bool {
        let results = self.results();
        let mut elements: Vec<_> = results.iter().flat_map(|r| self.written_at(r)).collect();
        let count = elements.len();
        elements.sort();
        elements.dedup();
        elements.len() == count
    }

    /// Pairs of a point that reads an element and a result that writes it: whether there are some,
    /// and some of which the result does not combine the point.
    fn pairs(&self) -> (bool, bool) {
        let mut writers: HashMap<Vec<i64>, Vec<Vec<i64>>> = HashMap::new();
        for result in self.results() {
            for element in self.written_at(&result) {
                writers.entry(element).or_default().push(result.clone());
            }
        }
        let (mut any, mut early) = (false, false);
        for point in self.points() {
            for element in self.read_at(&point) {
                for result in writers.get(&element).into_iter().flatten() {
                    any = true;
                    early |= !self.combines(result, &point);
                }
            }
        }
        (any, early)
    }

    /// Returns whether in some order of all reads and writes a point reads what was written.
    fn some_order_is_wrong(&self) -> bool {
        let (points, results) = (self.points(), self.results());
        let mut open: Vec<(u32, u32)> = vec![(0, 0)];
        let mut seen = open.clone();
        while let Some((read, written)) = open.pop() {
            let is_written = |element: &Vec<i64>| {
                let mut done = (0..results.len()).filter(|r| written >> r & 1 == 1);
                done.any(|r| self.written_at(&results[r]).contains(element))
            };
            let mut next = Vec::new();
            for (p, point) in points
                .iter()
                .enumerate()
                .filter(|(p, _)| read >> p & 1 == 0)
            {
                if self.read_at(point).iter().any(is_written) {
                    return true;
                }
                next.push((read | 1 << p, written));
            }
            for (r, result) in results.iter().enumerate() {
                let mut needed = points.iter().enumerate();
                let is_ready =
                    needed.all(|(p, point)| read >> p & 1 == 1 || !self.combines(result, point));
                if written >> r & 1 == 0 && is_ready {
                    next.push((read, written | 1 << r));
                }
            }
            for state in next {
                if !seen.contains(&state) {
                    seen.push(state);
                    open.push(state);
                }
            }
        }
        false
    }

    fn draw(random: &mut Random, largest: u64) -> Case {
        let rank = 1 + random.below(3) as usize;
        let mut domain: Vec<DomainAxis> = (0..rank).map(|_| draw_axis(random, largest)).collect();
        for (d, axis) in domain.iter_mut().enumerate() {
            axis.name = format!("d{d}");
        }
        let axes = 1 + random.below(2) as usize;
        let dims: Vec<usize> = (0..rank).collect();
        let is_kept = |d: &usize| domain[*d].role != Role::Pw;
        let kept_dims: Vec<usize> = dims.iter().copied().filter(is_kept).collect();
        let writes = draw_maps(random, &kept_dims, axes);
        let mut reads = draw_maps(random, &dims, axes);
        if random.below(4) == 0 {
            reads[0] = writes[0].clone();
        }
        let mut origin = || {
            (0..axes)
                .map(|_| Amount::Known(random.below(3) as i64 - 1))
                .collect()
        };
        let origins = [origin(), origin()];
        Case {
            domain,
            reads,
            writes,
            origins,
        }
    }
}

fn draw_axis(random: &mut Random, largest: u64) -> DomainAxis {
    let lower = random.below(5) as i64 - 2;
    let step = 1 + random.below(3) as i64;
    DomainAxis {
        name: String::new(),
        lower: Amount::Known(lower),
        upper: Amount::Known(lower + random.below(largest + 1) as i64),
        step: Amount::Known(step),
        width: Amount::Known(1 + random.below(step as u64) as i64),
        role: ROLES[random.below(3) as usize],
    }
}

fn draw_maps(random: &mut Random, dims: &[usize], axes: usize) -> Vec<Vec<Expr>> {
    let count = 1 + random.below(2);
    let map = |random: &mut Random| (0..axes).map(|_| draw_index(random, dims, 2)).collect();
    (0..count).map(|_| map(random)).collect()
}

fn draw_index(random: &mut Random, dims: &[usize], depth: u32) -> Expr {
    let constant = random.below(7) as i64 - 3;
    let divisor = 2 + random.below(3) as i64;
    let choice = random.below(if depth == 0 { 3 } else { 8 });
    let mut inner = || Box::new(draw_index(random, dims, depth - 1));
    match choice {
        0 => Expr::Const(constant),
        1 | 2 if dims.is_empty() => Expr::Const(constant),
        1 | 2 => Expr::dim(dims[random.below(dims.len() as u64) as usize]),
        3 | 4 => Expr::Add(inner(), inner()),
        5 => *inner() * constant,
        6 => match constant {
            0.. => inner().floor_div(divisor),
            _ => inner().ceil_div(divisor),
        },
        _ => inner().modulo(divisor),
    }
}

/// Holds an answer against the definition; whether it is one.
fn check(case: &Case) -> bool {
    let (any, early) = case.pairs();
    let answer = sharing(&case.domain, &case.read(), &case.written());
    // Of equal accesses nothing is asked, not even whether there are points.
    let is_same = case.reads.iter().any(|a| case.writes.contains(a));
    match &answer {
        Sharing::Disjoint => assert!(!any, "{case:?}"),
        Sharing::InPlace => assert!(!early && (any || is_same), "{case:?}"),
        Sharing::Conflict(conflict) => {
            let ((n, p), (m, r)) = (&conflict.read, &conflict.written);
            assert!(case.points().contains(p), "{case:?} {answer:?}");
            assert!(case.results().contains(r), "{case:?} {answer:?}");
            assert!(!case.combines(r, p), "{case:?} {answer:?}");
            assert_eq!(case.read_at(p)[*n], conflict.element, "{case:?} {answer:?}");
            assert_eq!(
                case.written_at(r)[*m],
                conflict.element,
                "{case:?} {answer:?}"
            );
        }
        Sharing::Unknown => return false,
    }
    true
}

/// A point that reads what a result writes which does not combine it is just what an order is that
/// goes wrong.
#[test]
fn pairs_decide_about_all_orders() {
    let mut random = Random::new(1);
    let mut wrong = [0; 2];
    for _ in 0..3000 {
        let case = Case::draw(&mut random, 4);
        if case.points().len() + case.results().len() <= 10 {
            let (_, early) = case.pairs();
            assert_eq!(case.some_order_is_wrong(), early, "{case:?}");
            wrong[usize::from(early)] += 1;
        }
    }
    assert!(wrong.iter().all(|n| *n > 200), "{wrong:?}");
}

/// Soundness and exactness: every answer is right, and there is one for every affine view.
#[test]
fn answers_are_those_of_the_definition() {
    let mut random = Random::new(2);
    let mut counts = [0; 3];
    for _ in 0..8_000 {
        let case = Case::draw(&mut random, 8);
        if !case.is_injective() {
            continue;
        }
        assert!(check(&case), "no answer for {case:?}");
        let (any, early) = case.pairs();
        counts[usize::from(any) + usize::from(early)] += 1;
    }
    assert!(counts.iter().all(|n| *n > 200), "{counts:?}");
}

/// Sizes that are not enumerated.
#[test]
fn large_sizes_are_decided_as_well() {
    let [i, j] = [0, 1].map(Expr::dim);
    let n = 1_000_000;
    let domain = [
        DomainAxis::dense("i", n, Role::Cc),
        DomainAxis::dense("j", n, Role::Cc),
    ];
    let origin = [Amount::Known(0); 2];
    let ask = |a: [Expr; 2], b: [Expr; 2]| {
        let (a, b) = ([a.to_vec()], [b.to_vec()]);
        let view = |accesses| View {
            accesses,
            origin: &origin,
        };
        sharing(&domain, &view(&a), &view(&b))
    };
    let at = [i.clone(), j.clone()];
    assert_eq!(
        ask([i.clone() + n, j.clone()], at.clone()),
        Sharing::Disjoint
    );
    let split = (j.clone().floor_div(16) * 16) + j.clone().modulo(16);
    assert_eq!(ask([i.clone(), split], at.clone()), Sharing::InPlace);
    let transposed = ask([j.clone(), i.clone()], at.clone());
    assert!(matches!(transposed, Sharing::Conflict(_)), "{transposed:?}");
    let halves = [i.clone() * 2 + 1, j.clone() * 3];
    assert_eq!(ask(halves, [i * 2, j]), Sharing::Disjoint);
}

/// Checks: what is not known until the program runs may be anything, but is the same wherever it occurs.
#[test]
fn symbols_are_the_same_wherever_they_occur() {
    let i = Expr::dim(0);
    let mut axis = DomainAxis::dense("i", 0, Role::Cc);
    let [n, o, s] = [0, 1, 2].map(Amount::Symbol);
    axis.upper = n;
    let ask = |axis: &DomainAxis, read: Expr, origins: [Amount; 2]| {
        let (read, written) = ([vec![read]], [vec![i.clone()]]);
        let [a, b] = &origins;
        sharing(
            std::slice::from_ref(axis),
            &View {
                accesses: &read,
                origin: std::slice::from_ref(a),
            },
            &View {
                accesses: &written,
                origin: std::slice::from_ref(b),
            },
        )
    };
    let zero = Amount::Known(0);
    assert_eq!(ask(&axis, i.clone(), [o, o]), Sharing::InPlace);
    assert_eq!(
        ask(&axis, i.clone() * 1 + 0, [zero, zero]),
        Sharing::InPlace
    );
    assert_eq!(
        ask(&axis, i.clone() * -1 - Expr::Const(1), [zero, zero]),
        Sharing::Disjoint
    );
    for other in [
        ask(&axis, i.clone(), [zero, o]),
        ask(&axis, i.clone() + 1, [o, o]),
    ] {
        assert!(matches!(other, Sharing::Conflict(_)), "{other:?}");
    }
    // Every other one, from a bound that is not known; but how far apart they are must be known.
    axis.lower = o;
    axis.step = Amount::Known(2);
    assert_eq!(ask(&axis, i.clone() + 1, [zero, zero]), Sharing::Disjoint);
    axis.step = s;
    assert_eq!(ask(&axis, i.clone() + 1, [zero, zero]), Sharing::Unknown);
    assert_eq!(ask(&axis, i.clone(), [zero, zero]), Sharing::InPlace);
}

#[test]
fn what_is_not_affine_is_not_known() {
    let i = Expr::dim(0);
    let square = Expr::Mul(Box::new(i.clone()), Box::new(i.clone()));
    let domain = [DomainAxis::dense("i", 4, Role::Cc)];
    let origin = [Amount::Known(0)];
    let ask = |read: Vec<Expr>| {
        let (read, written) = ([read], [vec![i.clone()]]);
        let view = |accesses| View {
            accesses,
            origin: &origin,
        };
        sharing(&domain, &view(&read), &view(&written))
    };
    let huge = i.clone() * i64::MAX * i64::MAX * i64::MAX;
    for read in [square, huge, i.clone().floor_div(0), Expr::dim(7)] {
        assert_eq!(ask(vec![read]), Sharing::Unknown);
    }
    assert_eq!(
        ask(vec![i.clone(), i.clone()]),
        Sharing::Unknown,
        "another rank"
    );
}

#[test]
fn views_that_overlap_need_not_be_in_place() {
    let i = Expr::dim(0);
    let domain = [DomainAxis::dense("i", 4, Role::Cc)];
    let origin = [Amount::Known(0)];
    let ask = |a: Expr, b: Expr| {
        let (a, b) = ([vec![a]], [vec![b]]);
        let view = |accesses| View {
            accesses,
            origin: &origin,
        };
        overlap(&domain, &view(&a), &view(&b))
    };
    assert_eq!(ask(i.clone() * 2, i.clone() * 2 + 1), Sharing::Disjoint);
    assert!(matches!(ask(i.clone(), i), Sharing::Conflict(_)));
}
