//! Blocks that are transposed in registers: an input whose neighbours in memory lie along another
//! dimension than the lanes.
//!
//! ```mlir
//! // mdh-opt --mdh-vectorize --canonicalize --cse
//! func.func @f(%x: memref<4x4xf64>, %y: memref<4x4xf64>) {
//!   mdh.compute (i = 4, j = 4)
//!     out_view(y = %y[j, i] : memref<4x4xf64>)
//!     md_hom(id, (cc, cc))
//!     inp_view(x = %x[i, j] : memref<4x4xf64>)
//!     schedule(#mdh.schedule<asm = cpu, layers = [register {j: 4}, simd {i: 4}]>)
//!   return
//! }
//! // becomes not sixteen loads of one element, but
//! %r0 = vector.load %x[%c0, %c0] : memref<4x4xf64>, vector<4xf64>
//! %r1 = vector.load %x[%c1, %c0] : memref<4x4xf64>, vector<4xf64>
//! %r2 = vector.load %x[%c2, %c0] : memref<4x4xf64>, vector<4xf64>
//! %r3 = vector.load %x[%c3, %c0] : memref<4x4xf64>, vector<4xf64>
//! // in every 128 bits, the first and the second elements
//! %a = vector.shuffle %r0, %r1 [0, 4, 2, 6] : vector<4xf64>, vector<4xf64>
//! %b = vector.shuffle %r0, %r1 [1, 5, 3, 7] : vector<4xf64>, vector<4xf64>
//! %c = vector.shuffle %r2, %r3 [0, 4, 2, 6] : vector<4xf64>, vector<4xf64>
//! %d = vector.shuffle %r2, %r3 [1, 5, 3, 7] : vector<4xf64>, vector<4xf64>
//! // and 128 bits each of the first and the second half: x[0..3, 0], x[0..3, 1], and so on
//! %x0 = vector.shuffle %a, %c [0, 1, 4, 5] : vector<4xf64>, vector<4xf64>
//! %x1 = vector.shuffle %b, %d [0, 1, 4, 5] : vector<4xf64>, vector<4xf64>
//! %x2 = vector.shuffle %a, %c [2, 3, 6, 7] : vector<4xf64>, vector<4xf64>
//! %x3 = vector.shuffle %b, %d [2, 3, 6, 7] : vector<4xf64>, vector<4xf64>
//! ```
//!
//! Each shuffle is one instruction where vectors are made of 128 bits: it stays within these, or
//! moves them whole. `log2(n)` rounds of `n` of them transpose `n` rows of `n` lanes.

use mdh_dialect::ir::Val;
use mdh_dialect::ops;
use mdh_dialect::types;
use melior::ir::ValueLike;

use super::super::access::Vector;
use super::super::fold::shuffle;
use super::super::lanes::element;
use super::super::stream::Stores;
use super::super::truth;
use super::points::Loaded;
use super::{Leaf, Limits, Offsets};
use crate::support::builder::Builder;

impl<'c> Leaf<'c, '_> {
    /// Loads what an access reads at a position, and at all that are transposed with it, where its
    /// lanes read elements that are no neighbours in memory.
    pub(super) fn transpose(
        &self,
        builder: &mut Builder<'c>,
        base: &[Val<'c>],
        limits: &Limits<'c>,
        loaded: &mut Loaded<'c>,
        name: &(usize, usize, Offsets),
    ) {
        let (input, access, at) = name;
        let Some((lanes, count)) = self.lanes.filter(|_| !loaded.contains_key(name)) else {
            return;
        };
        let Some(d) = self.transposed_dimension(lanes, count, (*input, *access)) else {
            return;
        };
        let mut start = at.clone();
        start[d] -= at[d] % count;
        for value in self.transposed(builder, base, limits, &start, (d, *input, *access)) {
            loaded.insert((*input, *access, start.clone()), value);
            start[d] += 1;
        }
    }

    /// The dimension along which an access reads neighbours in memory, if its lanes read elements
    /// that are none and the block has as many points there as there are lanes.
    fn transposed_dimension(&self, lanes: usize, count: i64, of: (usize, usize)) -> Option<usize> {
        let (buffer, access) = (&self.of.parts.inputs[of.0], of.1);
        let is_alone = self.row(lanes, count, None).reads_alone(buffer, access);
        if !is_alone || count & (count - 1) != 0 {
            return None;
        }
        let is_whole =
            |d: &usize| *d != lanes && self.extents[*d] >= count && self.extents[*d] % count == 0;
        let along = |d: &usize| self.row(*d, count, None).reads_neighbours(buffer, access);
        let dims = 0..self.extents.len();
        dims.filter(is_whole).find(along)
    }

    /// Reads through an access at the positions `offsets`, `offsets` + 1, .. of dimension `d`: a
    /// vector for each, as many as there are lanes.
    fn transposed(
        &self,
        builder: &mut Builder<'c>,
        base: &[Val<'c>],
        limits: &Limits<'c>,
        offsets: &[i64],
        (d, input, access): (usize, usize, usize),
    ) -> Vec<Val<'c>> {
        let Some((lanes, count)) = self.lanes else {
            return Vec::new();
        };
        let buffer = &self.of.parts.inputs[input];
        let limit = limits[d].map(|limit| {
            let offset = builder.index(offsets[d]);
            builder.binary(ops::arith::SUBI, limit, offset)
        });
        let row = self.row(d, count, limit);
        let mut rows = Vec::new();
        for lane in 0..count {
            let mut offsets = offsets.to_vec();
            offsets[lanes] += lane;
            let point = self.within(builder, base, limits, &offsets, Some(d));
            let loaded = row.read(builder, buffer, access, &point);
            // Processors shuffle bytes, not bits.
            rows.push(truth::to_memory(builder, loaded));
        }
        let bytes = types::scalar_type(element(rows[0])).map_or(1, |ty| ty.byte_width());
        let rows = network(rows, 16 / bytes, &mut |a, b, chosen| {
            shuffle(builder, *a, *b, chosen)
        });
        let ty = types::buffer_type(buffer.value.r#type()).map(|ty| ty.element);
        let values = rows.into_iter();
        let value = |value| ty.map_or(value, |ty| truth::from_memory(builder, value, ty));
        values.map(value).collect()
    }

    /// A vector along another dimension than that of the lanes.
    fn row(&self, d: usize, count: i64, limit: Option<Val<'c>>) -> Vector<'c> {
        Vector {
            dim: d,
            count,
            step: self.steps[d],
            limit,
            stores: Stores::Cached,
        }
    }
}

/// Transposes `n` rows of `n` lanes, `n` a power of two, of which `part` make up 128 bits.
///
/// With a row's number and a lane's both written as (part, place in it), the first step exchanges
/// the rows' places and the lanes' within each part, the second one the parts.
fn network<T>(rows: Vec<T>, part: usize, shuffle: &mut impl FnMut(&T, &T, &[i64]) -> T) -> Vec<T> {
    let n = rows.len();
    let part = part.clamp(1, n);
    let parts = n / part;
    // Of two rows, the lower or the upper halves of each part, in turns.
    let halves = |upper: usize| -> Vec<i64> {
        let places = (0..parts).flat_map(|p| (0..part / 2).map(move |e| p * part + e));
        let places = places.flat_map(|place| [place, place + n]);
        places
            .map(|place| (place + upper * part / 2) as i64)
            .collect()
    };
    // Of two rows one after the other, every second part.
    let seconds = |odd: usize| -> Vec<i64> {
        let numbers = (0..parts).map(|p| 2 * p + odd);
        let places = numbers.flat_map(|p| (0..part).map(move |e| p * part + e));
        places.map(|place| place as i64).collect()
    };
    let mut groups: Vec<Vec<T>> = Vec::new();
    let mut rows = rows.into_iter();
    for _ in 0..parts {
        let mut group: Vec<T> = rows.by_ref().take(part).collect();
        for _ in 0..part.ilog2() {
            let pairs = (0..part / 2).map(|k| (k, k + part / 2));
            let both = pairs.flat_map(|(a, b)| [(a, b, halves(0)), (a, b, halves(1))]);
            group = (both.map(|(a, b, chosen)| shuffle(&group[a], &group[b], &chosen))).collect();
        }
        groups.push(group);
    }
    for _ in 0..parts.ilog2() {
        let exchanged =
            |p: usize, odd: usize, shuffle: &mut dyn FnMut(&T, &T, &[i64]) -> T| -> Vec<T> {
                let places = 0..part;
                let (a, b) = (&groups[2 * p], &groups[2 * p + 1]);
                places
                    .map(|e| shuffle(&a[e], &b[e], &seconds(odd)))
                    .collect()
            };
        let order = (0..2).flat_map(|odd| (0..parts / 2).map(move |p| (p, odd)));
        groups = order.map(|(p, odd)| exchanged(p, odd, shuffle)).collect();
    }
    groups.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::network;

    /// The law: lane `l` of row `r` becomes lane `r` of row `l`.
    #[test]
    fn rows_become_lanes() {
        for n in [2usize, 4, 8, 16, 32, 64] {
            for part in [1, 2, 4, 8, 16] {
                let row = |r: usize| (0..n).map(|l| (r, l)).collect::<Vec<_>>();
                let rows: Vec<_> = (0..n).map(row).collect();
                let mut count = 0;
                let columns = network(rows, part, &mut |a, b, chosen| {
                    count += 1;
                    let both: Vec<_> = a.iter().chain(b).copied().collect();
                    chosen.iter().map(|place| both[*place as usize]).collect()
                });
                let expected = |l: usize| (0..n).map(|r| (r, l)).collect::<Vec<_>>();
                assert_eq!(
                    columns,
                    (0..n).map(expected).collect::<Vec<_>>(),
                    "{n} of {part}"
                );
                assert_eq!(count, n * n.ilog2() as usize);
            }
        }
    }
}
