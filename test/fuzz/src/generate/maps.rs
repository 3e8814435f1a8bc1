//! Index functions, and the sizes of the buffers behind them.

use mdh_algebra::affine::Expr;
use mdh_algebra::domain::Grid;

use crate::choices::Choices;

/// So many elements a buffer has at most.
const ELEMENTS: i64 = 6000;

/// Global indices of a buffer's axis: the first one, and how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AxisRange {
    /// The origin.
    pub origin: i64,
    /// The extent.
    pub extent: i64,
}

/// The least and the largest value of an expression; both 0 where they are not known.
fn range(expr: &Expr, grids: &[Option<Grid>]) -> (i64, i64) {
    expr.range(grids).map_or((0, 0), |r| (r.min, r.max))
}

/// The index of one axis of an input, over some of the dimensions.
pub fn read(c: &mut Choices, over: &[usize]) -> Expr {
    let small = |c: &mut Choices, name: &str| c.below(name, 7) as i64 - 3;
    if over.is_empty() {
        return Expr::Const(c.below("constant", 3) as i64);
    }
    let d = Expr::Dim(c.pick("dim", over));
    match c.weighted("map", &[42, 7, 12, 10, 10, 9, 4, 3, 2, 1]) {
        0 => d,
        1 => Expr::Const(c.below("constant", 3) as i64),
        2 => d + small(c, "offset"),
        3 => d * (2 + c.below("stride", 2) as i64) + small(c, "offset"),
        4 => d * -(1 + c.below("stride", 2) as i64) + small(c, "offset"),
        5 => {
            let e = Expr::Dim(c.pick("other", over)) * (1 + c.below("dilation", 3) as i64);
            d * (1 + c.below("stride", 2) as i64) + e
        }
        6 => (d + small(c, "offset")).floor_div(2 + c.below("divisor", 3) as i64),
        7 => d.modulo(2 + c.below("divisor", 3) as i64),
        8 => (d * 3 + small(c, "offset")).ceil_div(2 + c.below("divisor", 3) as i64),
        _ => {
            let inner = (d + small(c, "offset")).floor_div(2);
            let other = Expr::Dim(c.pick("other", over)).modulo(3);
            inner * 2 + other
        }
    }
}

/// The same a little beside, for another access of a stencil.
pub fn beside(c: &mut Choices, map: &[Expr]) -> Vec<Expr> {
    let shifted = |(axis, expr): (usize, &Expr)| {
        let offset = c.scope(axis, |c| c.below("beside", 5) as i64 - 2);
        expr.clone() + offset
    };
    map.iter().enumerate().map(shifted).collect()
}

/// The axes of an input's buffer that holds all that these accesses reach, and sometimes more.
/// Index functions are changed where it would be too large otherwise.
pub fn fit(c: &mut Choices, accesses: &mut [Vec<Expr>], grids: &[Option<Grid>]) -> Vec<AxisRange> {
    fit_in(c, accesses, grids, ELEMENTS)
}

fn fit_in(
    c: &mut Choices,
    accesses: &mut [Vec<Expr>],
    grids: &[Option<Grid>],
    elements: i64,
) -> Vec<AxisRange> {
    let rank = accesses.first().map_or(0, Vec::len);
    let mut count = 1;
    let mut axes = Vec::new();
    for axis in 0..rank {
        let room = (elements / count).max(1);
        let fitted = c.scope(format!("axis{axis}"), |c| {
            fit_axis(c, accesses, axis, grids, room)
        });
        count *= fitted.extent.max(1);
        axes.push(fitted);
    }
    axes
}

fn hull(accesses: &[Vec<Expr>], axis: usize, grids: &[Option<Grid>]) -> (i64, i64) {
    let ranges = accesses.iter().map(|map| range(&map[axis], grids));
    let both = |a: (i64, i64), b: (i64, i64)| (a.0.min(b.0), a.1.max(b.1));
    ranges.reduce(both).unwrap_or((0, 0))
}

fn fit_axis(
    c: &mut Choices,
    accesses: &mut [Vec<Expr>],
    axis: usize,
    grids: &[Option<Grid>],
    room: i64,
) -> AxisRange {
    let (mut min, mut max) = hull(accesses, axis, grids);
    if max - min >= room {
        for map in accesses.iter_mut() {
            map[axis] = map[axis].clone().modulo(room.min(5));
        }
        (min, max) = hull(accesses, axis, grids);
    }
    let slack = c.chance("slack", 15);
    let (before, behind) = match slack {
        true => (c.below("before", 3) as i64, c.below("behind", 3) as i64),
        false => (0, 0),
    };
    let origin = match c.weighted("origin", &[70, 15, 15]) {
        0 if min >= 0 && max < room => 0,
        2 => {
            // Without an origin: the index functions move instead.
            let shift = before - min;
            for map in accesses.iter_mut() {
                map[axis] = map[axis].clone() + shift;
            }
            return AxisRange {
                origin: 0,
                extent: max + shift + 1 + behind,
            };
        }
        _ => min - before,
    };
    AxisRange {
        origin,
        extent: max - origin + 1 + behind,
    }
}

/// Index functions into a buffer of this shape: what does not fit goes round.
pub fn into(c: &mut Choices, shape: &[i64], over: &[usize], grids: &[Option<Grid>]) -> Vec<Expr> {
    let index = |(axis, extent): (usize, &i64)| {
        c.scope(format!("axis{axis}"), |c| {
            let fits = |e: &Expr| {
                let (min, max) = range(e, grids);
                min >= 0 && max < *extent
            };
            let whole: Vec<usize> = over
                .iter()
                .copied()
                .filter(|d| fits(&Expr::Dim(*d)))
                .collect();
            let expr = match whole.is_empty() || !c.chance("fits", 75) {
                true => read(c, over),
                false => {
                    let d = Expr::Dim(c.pick("dim", &whole));
                    match c.chance("reversed", 20) {
                        true => d * -1 + (extent - 1),
                        false => d,
                    }
                }
            };
            match fits(&expr) {
                true => expr,
                false => expr.modulo((*extent).max(1)),
            }
        })
    };
    shape.iter().enumerate().map(index).collect()
}

/// `accesses` injective maps into one buffer that never meet, over exactly these dimensions.
pub fn write(
    c: &mut Choices,
    over: &[usize],
    grids: &[Option<Grid>],
    accesses: usize,
) -> (Vec<Vec<Expr>>, Vec<AxisRange>) {
    let fancy = |c: &mut Choices| {
        let map = injective(c, over, grids);
        let mut maps = several(c, map, accesses);
        let axes = fit_in(c, &mut maps, grids, 1 << 50);
        (maps, axes)
    };
    let (maps, axes) = c.scope("fancy", fancy);
    let count = axes
        .iter()
        .try_fold(1i64, |n, axis| n.checked_mul(axis.extent));
    if count.is_some_and(|n| n <= 2 * ELEMENTS) {
        return (maps, axes);
    }
    let plain: Vec<Expr> = over.iter().map(|d| Expr::Dim(*d)).collect();
    let maps: Vec<Vec<Expr>> = (0..accesses as i64)
        .map(|a| [&[Expr::Const(a)], plain.as_slice()].concat())
        .collect();
    let axes = (0..maps[0].len()).map(|axis| {
        let (min, max) = hull(&maps, axis, grids);
        AxisRange {
            origin: min,
            extent: max - min + 1,
        }
    });
    let axes = axes.collect();
    (maps, axes)
}

/// An injective map: each dimension has an axis of its own, is split into two, or shares one
/// with another; axes may have others' indices added (a triangular matrix).
fn injective(c: &mut Choices, over: &[usize], grids: &[Option<Grid>]) -> Vec<Expr> {
    let order = permuted(c, over);
    let mut axes: Vec<Expr> = Vec::new();
    let mut n = 0;
    while n < order.len() {
        let d = order[n];
        n += 1;
        let part = c.scope(format!("dim{d}"), |c| {
            let e = Expr::Dim(d);
            let behind = &order[n..];
            match c.weighted("write", &[58, 14, 10, 6, 6, 6]) {
                1 => vec![e * (2 + c.below("stride", 2) as i64) + c.below("offset", 3) as i64],
                2 => vec![e * -(1 + c.below("stride", 2) as i64) + c.below("offset", 8) as i64],
                3 => {
                    let k = 2 + c.below("divisor", 3) as i64;
                    vec![e.clone().floor_div(k), e.modulo(k)]
                }
                4 if !behind.is_empty() => {
                    let other = Expr::Dim(behind[0]);
                    let (min, max) = range(&other, grids);
                    n += 1;
                    vec![e * (max - min + 1 + c.below("gap", 2) as i64) + other + -min]
                }
                5 if !behind.is_empty() => {
                    let other = Expr::Dim(c.pick("skewed", behind));
                    vec![e + other * (c.below("skew", 5) as i64 - 2)]
                }
                _ => vec![e],
            }
        });
        axes.extend(part);
    }
    if c.chance("constant axis", 8) {
        let place = c.below("place", axes.len() as u64 + 1) as usize;
        axes.insert(place, Expr::Const(c.below("constant", 2) as i64));
    }
    axes
}

fn permuted(c: &mut Choices, of: &[usize]) -> Vec<usize> {
    let mut order = of.to_vec();
    if c.chance("permuted", 30) {
        for n in (1..order.len()).rev() {
            let other = c.scope(n, |c| n - c.below("swap", n as u64 + 1) as usize);
            order.swap(n, other);
        }
    }
    order
}

/// Several accesses beside each other: interleaved in one axis, or each at its own index of
/// one more axis.
fn several(c: &mut Choices, map: Vec<Expr>, count: usize) -> Vec<Vec<Expr>> {
    if count == 1 {
        return vec![map];
    }
    let axis = c.below("interleaved", map.len() as u64 + 1) as usize;
    let access = |a: usize| {
        let mut map = map.clone();
        match map.get_mut(axis) {
            Some(expr) => *expr = expr.clone() * count as i64 + a as i64,
            None => map.push(Expr::Const(a as i64)),
        }
        map
    };
    (0..count).map(access).collect()
}
