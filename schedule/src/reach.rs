//! Reach of a consumer's tile in its producers: the box of a producer's points whose results it
//! reads, halos included (`compute_at`).
//!
//! A box goes by the consumer's indices. Of `y[i] = t[i - 1] + t[i + 1]` a tile `i = p to q`
//! needs the points `p - 1 to q + 1` of the computation that writes `t[i]`. Of a chain, what the
//! last one's tile needs of the first one is what it needs itself and what the ones between need
//! for it.

use mdh_algebra::affine::{Expr, Linear};
use mdh_algebra::computation::{Buffer, Computation};
use mdh_algebra::domain::Grid;
use mdh_algebra::integer::terms;

/// The points of a producer's dimension that a tile of its consumer needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Need {
    /// All of them, whatever the tile.
    Whole,
    /// The points that the tile reaches.
    Part(Reach),
}

/// From the smallest to the largest `sum of coefficients[d] * index[d]` of a tile, from `low`
/// below to `high` above.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reach {
    /// One for each dimension of the consumer.
    pub coefficients: Vec<i64>,
    /// Added to the smallest.
    pub low: i64,
    /// Added to the largest.
    pub high: i64,
}

/// A buffer that a producer writes and a reader reads.
pub struct Link<'a> {
    /// As the producer writes it.
    pub written: &'a Buffer,
    /// As the reader reads it.
    pub read: &'a Buffer,
    /// The points of the reader that the consumer's tile needs; its own of the consumer itself.
    pub reader: &'a [Need],
}

/// A consumer's need of its own points.
pub fn own(rank: usize) -> Vec<Need> {
    let unit = |d: usize| {
        let mut coefficients = vec![0; rank];
        coefficients[d] = 1;
        Need::Part(Reach {
            coefficients,
            low: 0,
            high: 0,
        })
    };
    (0..rank).map(unit).collect()
}

/// Returns the needs of a tile of a consumer of that many dimensions, from a producer, through
/// these buffers.
/// Where an index function says no more, it needs all of a dimension; so it does of a prefix-sum, of which each
/// point builds on all before.
pub fn needs(producer: &Computation, links: &[Link], rank: usize) -> Vec<Need> {
    let dimensions = producer.dimensions.len();
    let mut joined: Vec<Option<Need>> = vec![None; dimensions];
    for link in links {
        for written in &link.written.accesses {
            let boxes = inverse(&written.map, link, dimensions, rank);
            for (total, part) in joined.iter_mut().zip(boxes) {
                *total = Some(match total.take() {
                    None => part,
                    Some(other) => union(other, part),
                });
            }
        }
    }
    let pairs = joined.into_iter().zip(&producer.dimensions);
    pairs
        .map(|(need, dimension)| match need {
            Some(Need::Part(reach)) if dimension.is_dense() && !dimension.combine.is_ps() => {
                Need::Part(reach)
            }
            _ => Need::Whole,
        })
        .collect()
}

/// The box of a producer's points whose results are read, of one access that writes.
fn inverse(written: &[Expr], link: &Link, dimensions: usize, rank: usize) -> Vec<Need> {
    let mut boxes = vec![Need::Whole; dimensions];
    for (axis, expr) in written.iter().enumerate() {
        let Some(form) = expr.linear(dimensions) else {
            continue;
        };
        let mut terms = form.terms();
        let (Some((d, sign)), None) = (terms.next(), terms.next()) else {
            continue;
        };
        let read = |expr: &Expr| reached(expr, link.reader, rank);
        let mut accesses = link.read.accesses.iter().map(|a| read(&a.map[axis]));
        let first = accesses.next().unwrap_or(Need::Whole);
        let (Need::Part(reach), 1 | -1) = (accesses.fold(first, union), sign) else {
            continue;
        };
        let ends = [reach.low, reach.high].map(|end| (end - form.constant) * sign);
        boxes[d] = Need::Part(Reach {
            coefficients: reach.coefficients.iter().map(|c| c * sign).collect(),
            low: ends[0].min(ends[1]),
            high: ends[0].max(ends[1]),
        });
    }
    boxes
}

/// The indices that an access of a reader reaches along an axis.
fn reached(expr: &Expr, reader: &[Need], rank: usize) -> Need {
    let Some(Linear {
        coefficients,
        constant,
    }) = expr.linear(reader.len())
    else {
        return Need::Whole;
    };
    let mut total = Reach {
        coefficients: vec![0; rank],
        low: constant,
        high: constant,
    };
    for (d, factor) in terms(&coefficients) {
        let Need::Part(part) = &reader[d] else {
            return Need::Whole;
        };
        for (sum, c) in total.coefficients.iter_mut().zip(&part.coefficients) {
            // Two dimensions of a box that move against each other reach further than their sum.
            if *sum * c * factor < 0 {
                return Need::Whole;
            }
            *sum += c * factor;
        }
        let ends = [part.low * factor, part.high * factor];
        total.low += ends[0].min(ends[1]);
        total.high += ends[0].max(ends[1]);
    }
    Need::Part(total)
}

/// Returns a need that contains both: of those that move in step, no more than needed.
fn union(a: Need, b: Need) -> Need {
    match (a, b) {
        (Need::Part(a), Need::Part(b)) if a.coefficients == b.coefficients => Need::Part(Reach {
            coefficients: a.coefficients,
            low: a.low.min(b.low),
            high: a.high.max(b.high),
        }),
        _ => Need::Whole,
    }
}

impl Reach {
    /// Returns the reach of a tile along an axis by these index functions; `None` if they do not
    /// move in step.
    pub fn in_step<'e>(exprs: impl IntoIterator<Item = &'e Expr>, rank: usize) -> Option<Reach> {
        let mut joined: Option<Reach> = None;
        for expr in exprs {
            let form = expr.linear(rank)?;
            let reach = joined.get_or_insert_with(|| Reach {
                coefficients: form.coefficients.clone(),
                low: form.constant,
                high: form.constant,
            });
            if reach.coefficients != form.coefficients {
                return None;
            }
            reach.low = reach.low.min(form.constant);
            reach.high = reach.high.max(form.constant);
        }
        joined
    }

    /// The same of one axis of a buffer.
    pub fn along(buffer: &Buffer, axis: usize, rank: usize) -> Option<Reach> {
        let exprs = buffer.accesses.iter().map(|a| a.map.get(axis));
        Reach::in_step(exprs.collect::<Option<Vec<_>>>()?, rank)
    }

    /// Returns the number of indices for a tile of one point.
    pub fn halo(&self) -> Option<i64> {
        self.high.checked_sub(self.low)?.checked_add(1)
    }

    /// The dimensions that it moves with, and how far.
    pub fn terms(&self) -> impl Iterator<Item = (usize, i64)> + '_ {
        terms(&self.coefficients)
    }

    /// Returns the number of indices for a tile of so many points, a stride apart, in each
    /// dimension.
    pub fn extent(&self, points: &[i64], strides: &[i64]) -> i64 {
        let terms = self.coefficients.iter().zip(points.iter().zip(strides));
        let moved =
            terms.map(|(c, (points, stride))| c.abs().saturating_mul((points - 1) * stride));
        moved.fold(self.high - self.low + 1, i64::saturating_add)
    }

    /// Returns whether it takes each index of a dimension of the consumer as it is, or shifted or transposed.
    pub fn follows(&self) -> Option<usize> {
        let mut terms = self.terms();
        let (d, c) = terms.next()?;
        (terms.next().is_none() && c.abs() == 1 && self.low == self.high).then_some(d)
    }

    /// The first and the last index for all points of a consumer, if they are known.
    pub fn ends(&self, domain: &[Option<Grid>]) -> Option<(i64, i64)> {
        let (mut first, mut last) = (self.low, self.high);
        for (d, c) in self.terms() {
            let grid = domain[d]?;
            let ends = [grid.lower, grid.last()?].map(|end| end.saturating_mul(c));
            first = first.saturating_add(ends[0].min(ends[1]));
            last = last.saturating_add(ends[0].max(ends[1]));
        }
        Some((first, last))
    }
}

/// Returns whether each point of a producer is computed once by all tiles of a consumer together: its
/// dimensions follow those of the consumer, each another one, over the same indices.
pub fn is_partition(producer: &Computation, needs: &[Need], consumer: &Computation) -> bool {
    let mut followed = Vec::new();
    let domain: Vec<Option<Grid>> = consumer.dimensions.iter().map(|d| d.grid()).collect();
    needs.iter().enumerate().all(|(d, need)| {
        let Need::Part(reach) = need else {
            return true;
        };
        let Some(consumed) = reach
            .follows()
            .filter(|consumed| !followed.contains(consumed))
        else {
            return false;
        };
        followed.push(consumed);
        let (dimension, other) = (&producer.dimensions[d], &consumer.dimensions[consumed]);
        let bounds = dimension.lower.zip(dimension.upper.map(|upper| upper - 1));
        other.is_dense() && bounds.is_some() && bounds == reach.ends(&domain)
    })
}

/// Returns whether needs depend on a dimension of the consumer.
pub fn moves(needs: &[Need], d: usize) -> bool {
    needs.iter().any(|need| match need {
        Need::Whole => false,
        Need::Part(reach) => reach.coefficients[d] != 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mdh_algebra::computation::{Combine, Dimension};
    use mdh_algebra::scalar::ScalarType::F32;

    fn part(coefficients: &[i64], low: i64, high: i64) -> Need {
        Need::Part(Reach {
            coefficients: coefficients.to_vec(),
            low,
            high,
        })
    }

    fn over(dims: &[(&str, Combine)]) -> Computation {
        let dimension =
            |(name, combine): &(&str, Combine)| Dimension::dense(name, Some(10), *combine);
        Computation {
            dimensions: dims.iter().map(dimension).collect(),
            ..mdh_algebra::examples::matvec(F32, 10, 10)
        }
    }

    fn d(n: usize) -> Expr {
        Expr::dim(n)
    }

    fn buffer(maps: &[&[Expr]]) -> Buffer {
        let rank = maps[0].len();
        let accesses = maps.iter().enumerate();
        let empty = Buffer::new("t", F32, &vec![None; rank]);
        accesses.fold(empty, |buffer, (n, map)| buffer.access(n, map))
    }

    /// Every point of the producer that a tile reads is in the box, for tiles of all places.
    #[test]
    fn boxes_hold_what_tiles_read() {
        let producer = over(&[("a", Combine::Cc), ("b", Combine::Cc)]);
        let written = buffer(&[&[d(0) * -1 + 9, d(1) + 2]]);
        let reads: [&[&[Expr]]; 3] = [
            &[&[d(0), d(1)]],
            &[&[d(0) + 1, d(1) * 2], &[d(0) + 3, d(1) * 2 + 1]],
            &[&[d(0) + d(1), d(1)]],
        ];
        for maps in reads {
            let read = buffer(maps);
            let reader = own(2);
            let links = [Link {
                written: &written,
                read: &read,
                reader: &reader,
            }];
            let needs = needs(&producer, &links, 2);
            for (p, q) in [(0, 0), (1, 2), (3, 1)] {
                let tile: Vec<[i64; 2]> = (p..p + 2)
                    .flat_map(|i| (q..q + 3).map(move |j| [i, j]))
                    .collect();
                for (n, need) in needs.iter().enumerate() {
                    let Need::Part(reach) = need else {
                        panic!("{need:?}")
                    };
                    let at =
                        |x: &[i64; 2]| reach.coefficients[0] * x[0] + reach.coefficients[1] * x[1];
                    let (first, last) = (
                        tile.iter().map(at).min().unwrap() + reach.low,
                        tile.iter().map(at).max().unwrap() + reach.high,
                    );
                    let points = maps
                        .iter()
                        .flat_map(|map| tile.iter().map(|x| map[n].eval(x).unwrap()));
                    let points: Vec<i64> =
                        points.map(|e| if n == 0 { 9 - e } else { e - 2 }).collect();
                    assert_eq!(points.iter().min(), Some(&first), "{n} of {maps:?}");
                    assert_eq!(points.iter().max(), Some(&last), "{n} of {maps:?}");
                    assert_eq!(reach.extent(&[2, 3], &[1, 1]), last - first + 1);
                }
            }
        }
    }

    #[test]
    fn chains_and_unions() {
        // y[i] reads t[i - 1] and t[i + 1]; t[i] reads s[2 - i].
        let line = over(&[("i", Combine::Cc)]);
        let plain = buffer(&[&[d(0)]]);
        let around = buffer(&[&[d(0) + -1], &[d(0) + 1]]);
        let reader = own(1);
        let t = needs(
            &line,
            &[Link {
                written: &plain,
                read: &around,
                reader: &reader,
            }],
            1,
        );
        assert_eq!(t, [part(&[1], -1, 1)]);
        let transposed = buffer(&[&[d(0) * -1 + 2]]);
        let through_t = Link {
            written: &plain,
            read: &transposed,
            reader: &t,
        };
        let s = needs(&line, &[through_t], 1);
        assert_eq!(s, [part(&[-1], 1, 3)]);
        // Read by y, too: not in step.
        let both = [
            Link {
                written: &plain,
                read: &transposed,
                reader: &t,
            },
            Link {
                written: &plain,
                read: &plain,
                reader: &reader,
            },
        ];
        assert_eq!(needs(&line, &both, 1), [Need::Whole]);
        assert!(moves(&t, 0) && !moves(&[Need::Whole], 0));
    }

    #[test]
    fn rows_are_a_partition_and_halos_are_not() {
        let rows = over(&[("i", Combine::Cc), ("j", Combine::Pw(0))]);
        let reader = own(2);
        let (written, read) = (buffer(&[&[d(0)]]), buffer(&[&[d(0)]]));
        let boxes = needs(
            &rows,
            &[Link {
                written: &written,
                read: &read,
                reader: &reader,
            }],
            2,
        );
        assert_eq!(boxes, [part(&[1, 0], 0, 0), Need::Whole]);
        assert!(is_partition(&rows, &boxes, &rows));
        assert!(!is_partition(
            &rows,
            &[part(&[1, 0], -1, 0), Need::Whole],
            &rows
        ));
        assert!(!is_partition(
            &rows,
            &[part(&[1, 0], 1, 1), Need::Whole],
            &rows
        ));
    }

    #[test]
    fn a_part_of_a_prefix_sum_needs_all_of_it() {
        // y[i] reads t[1, i], t[j, i] being sums along j.
        let sums = over(&[("j", Combine::Ps(0)), ("i", Combine::Cc)]);
        let (written, read) = (
            buffer(&[&[d(0), d(1)]]),
            buffer(&[&[Expr::constant(1), d(0)]]),
        );
        let link = Link {
            written: &written,
            read: &read,
            reader: &own(1),
        };
        assert_eq!(needs(&sums, &[link], 1), [Need::Whole, part(&[1], 0, 0)]);
    }
}
