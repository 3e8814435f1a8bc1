//! Warp-level MMA: sums of products.
//!
//! ```mlir
//! // mdh-opt products.mlir --mdh-tile --canonicalize --mdh-map-kernels --canonicalize --mdh-vectorize --canonicalize --cse
//! // mma {i: 2, j: 2, k: 16} of the sum over k of extf(a[i, k]) * extf(b[k, j]), all f16; of lane
//! // 4 g + t, whose sums are those of rows i, i + 1 and columns j, j + 1
//! %a0 = vector.load %A[%i, %k_4t] : memref<16x16xf16>, vector<4xf16>
//! %a0_low = vector.extract_strided_slice %a0 {offsets = [0], sizes = [2], strides = [1]} ..
//! %a0_high = vector.extract_strided_slice %a0 {offsets = [2], sizes = [2], strides = [1]} ..
//! %i_1 = arith.addi %i, %c1 : index
//! %a1 = vector.load %A[%i_1, %k_4t] : memref<16x16xf16>, vector<4xf16>
//! ..
//! %b = vector.from_elements .. // 4 elements of column %j + 2 (g / 2 - t) + g mod 2
//! %d = nvvm.mma.sync A[%a0_low, %a1_low, %a0_high, %a1_high] B[%b_low, %b_high] C[%z0, %z1, %z2, %z3] ..
//! ```
//!
//! The instruction has rows `g` and `g + 8`, columns `2 t` and `2 t + 1` of the sums in a lane (PTX ISA,
//! 9.7.14). Which points these are is free, as long as the factors agree: here two neighbouring rows
//! are `g` and `g + 8`. So are the terms, of which a lane has four neighbours. Columns are in order, but
//! a lane gives the factor of one that may be another lane's: the second one of thread `g / 2` if `g` is
//! odd.
//!
//! All lanes come. What is not there is zero where it is a term of sums, and otherwise not stored.

use mdh_algebra::scalar::{Scalar, ScalarType};
use mdh_dialect::ir::{Errors, Val};
use mdh_dialect::ops;
use mdh_dialect::types;
use mdh_schedule::asm::facts::WARP;
use mdh_schedule::matrix::TERMS;
use melior::ir::attribute::DenseI64ArrayAttribute;
use melior::ir::{Attribute, Type};

use super::super::access::Vector;
use super::super::dot::{Factor, factors};
use super::super::lanes::{element, spread, vector_type};
use super::super::stream::Stores;
use super::points::Loaded;
use super::{Leaf, Limits, Offsets};
use crate::llvm::lower_to_loops::access::read;
use crate::support::builder::{Builder, known};
use crate::support::captured::{attribute, extract, parse};
use crate::support::kernels;
use crate::support::kernels::matrix::Dimensions;
use crate::support::scheduled::{RegisterTile, Scheduled};

/// Sums of a lane.
const SUMS: usize = 4;
/// Terms whose factors a lane gives.
const OWN: i64 = 4;

/// Tile of a warp-level MMA.
pub(super) struct Matrix<'c> {
    /// The factor of rows, and that of columns.
    factors: [Factor; 2],
    dimensions: Dimensions,
    /// The dimension of the terms.
    terms: usize,
    /// The first of a lane's terms.
    first: Val<'c>,
    /// The column whose factor a lane gives, in points from its own first one.
    column: Val<'c>,
    /// The column of the tile's ends: its number there, and the number of this thread's columns, if
    /// it is not known.
    ends: Option<(Val<'c>, Val<'c>)>,
}

/// Recognises a computation whose schedule has `mma`; `None` if it has not, or is in no kernel.
pub fn product(
    scheduled: &Scheduled,
    form: &RegisterTile,
) -> Result<Option<([Factor; 2], Dimensions)>, Errors> {
    if form.matrix.is_empty() || !kernels::is_in_kernel(scheduled.op) {
        return Ok(None);
    }
    let factors_of_product = factors(scheduled.op, &scheduled.parts, &scheduled.computation);
    let halves = [ScalarType::F16, ScalarType::BF16];
    let factors_of_product =
        factors_of_product.filter(|[a, b]| a.ty == b.ty && halves.contains(&a.ty));
    let Some([a, b]) = factors_of_product else {
        return Err(vec![
            "has a schedule with 'mma', but adds up something else than products of two numbers of \
             f16 or bf16 that are widened to f32, for which there is no instruction: expected \
             arith.mulf of two arith.extf"
                .into(),
        ]);
    };
    let Some(dimensions) = kernels::matrix::dimensions(&scheduled.parts) else {
        return Err(vec![
            "has a schedule with 'mma', but without the threads of a warp around it: expected \
             'thread' with 8 parts of one dimension and 4 of another"
                .into(),
        ]);
    };
    let map = &scheduled.parts.inputs[a.buffer].accesses[a.access];
    let is_of_rows = map.iter().any(|e| e.dims().contains(&dimensions.rows));
    let factors = if is_of_rows { [a, b] } else { [b, a] };
    Ok(Some((factors, dimensions)))
}

/// Position of a block's points.
#[derive(Clone, Copy)]
struct At<'c, 'a> {
    matrix: &'a Matrix<'c>,
    base: &'a [Val<'c>],
    limits: &'a Limits<'c>,
}

impl<'c> Leaf<'c, '_> {
    /// Prepares what all lanes have to know.
    pub(super) fn matrix_of(
        &self,
        builder: &mut Builder<'c>,
        form: &RegisterTile,
        (factors, dimensions): ([Factor; 2], Dimensions),
    ) -> Option<Matrix<'c>> {
        let terms = form.matrix.iter().map(|l| l.level.dimension);
        let kept_dims = [dimensions.rows, dimensions.columns];
        let terms = terms.into_iter().find(|d| !kept_dims.contains(d))?;
        let index = builder.index_type();
        let lane = builder.op(ops::gpu::LANE_ID, &[], &[index], &[])[0];
        let [two, four] = [2, OWN].map(|n| builder.index(n));
        let row = builder.binary(ops::arith::DIVUI, lane, four);
        let in_row = builder.binary(ops::arith::REMUI, lane, four);
        let owner = builder.binary(ops::arith::DIVUI, row, two);
        let within = builder.binary(ops::arith::REMUI, row, two);
        let away = builder.binary(ops::arith::SUBI, owner, in_row);
        let extent = builder.index(self.extents[dimensions.columns]);
        let distance = builder.binary(ops::arith::MULI, away, extent);
        let count = self.grids[dimensions.columns].count;
        let is_full = known(count) == Some(self.extents[dimensions.columns]);
        Some(Matrix {
            factors,
            dimensions,
            terms,
            first: builder.binary(ops::arith::MULI, in_row, four),
            column: builder.binary(ops::arith::ADDI, distance, within),
            ends: (!is_full).then(|| (within, of_lane(builder, count, owner))),
        })
    }

    /// Adds the products of a block to its sums.
    pub(super) fn multiplied(
        &self,
        builder: &mut Builder<'c>,
        matrix: &Matrix<'c>,
        base: &[Val<'c>],
        limits: &Limits<'c>,
        sums: &[Val<'c>],
    ) -> Vec<Val<'c>> {
        let at = At {
            matrix,
            base,
            limits,
        };
        let mut sums = sums.to_vec();
        let mut loaded = Loaded::new();
        let tiles = self.positions.chunks(SUMS).zip(sums.chunks_mut(SUMS));
        for (positions, sums) in tiles {
            for first in (0..positions[0].len()).step_by(TERMS as usize) {
                let corners: Vec<&Offsets> = positions.iter().map(|all| &all[first]).collect();
                self.product(builder, at, &corners, sums, &mut loaded);
            }
        }
        sums
    }

    /// One instruction; `corners` are the first terms of a lane's sums.
    fn product(
        &self,
        builder: &mut Builder<'c>,
        at: At<'c, '_>,
        corners: &[&Offsets],
        sums: &mut [Val<'c>],
        loaded: &mut Loaded<'c>,
    ) {
        let Dimensions { rows, columns } = at.matrix.dimensions;
        // In the order of the instruction: row by row.
        let mut order: Vec<usize> = (0..corners.len()).collect();
        order.sort_by_key(|n| (corners[*n][rows], corners[*n][columns]));
        let [upper, lower] = [0, SUMS / 2].map(|n| corners[order[n]]);
        let [a, b] = at.matrix.factors;
        let [upper, lower] = [upper, lower].map(|row| self.fragment(builder, at, a, row, loaded));
        let column = self.fragment(builder, at, b, corners[order[0]], loaded);
        let start = order.iter().map(|n| sums[*n]);
        let operands = [upper[0], lower[0], upper[1], lower[1], column[0], column[1]];
        let operands: Vec<Val> = operands.into_iter().chain(start).collect();
        let products = multiply(builder, a.ty, &operands);
        for (n, place) in order.iter().enumerate() {
            let float = types::mlir_type(builder.context, ScalarType::F32);
            sums[*place] = extract(builder, products, n, float);
        }
    }

    /// The two registers of a lane with its four terms of a factor.
    fn fragment(
        &self,
        builder: &mut Builder<'c>,
        at: At<'c, '_>,
        factor: Factor,
        corner: &Offsets,
        loaded: &mut Loaded<'c>,
    ) -> [Val<'c>; 2] {
        let name = (factor.buffer, factor.access, self.moved(factor, corner));
        let fragments = match loaded.get(&name) {
            Some(fragment) => *fragment,
            None => {
                let fragment = self.terms(builder, at, factor, &name.2);
                loaded.insert(name, fragment);
                fragment
            }
        };
        [0, OWN / 2].map(|first| register(builder, fragments, first))
    }

    /// Four elements of a factor, as a vector.
    fn terms(
        &self,
        builder: &mut Builder<'c>,
        at: At<'c, '_>,
        factor: Factor,
        corner: &Offsets,
    ) -> Val<'c> {
        let element = types::mlir_type(builder.context, factor.ty);
        let (k, ty) = (at.matrix.terms, vector_type(element, OWN));
        let buffer = &self.of.parts.inputs[factor.buffer];
        let start = self.start(builder, at, factor, corner);
        let is_there = self.has_line(builder, at, factor, corner);
        let along = Vector {
            dim: k,
            count: OWN,
            step: self.steps[k],
            limit: None,
            stores: Stores::Cached,
        };
        let is_run = buffer.pad.is_none() && along.reads_neighbours(buffer, factor.access);
        if at.limits[k].is_none() && is_run {
            return or_zero(builder, is_there, (ty, factor.ty), |builder| {
                along.read(builder, buffer, factor.access, &start)
            });
        }
        let elements: Vec<Val> = (0..OWN)
            .map(|n| {
                let offset = builder.index(n);
                let distance = builder.binary(ops::arith::MULI, offset, self.steps[k]);
                let mut point = start.clone();
                point[k] = builder.binary(ops::arith::ADDI, start[k], distance);
                let is_term = at.limits[k].map(|limit| {
                    let before = builder.index(corner[k] + n);
                    let number = builder.binary(ops::arith::ADDI, at.matrix.first, before);
                    builder.compare("slt", number, limit)
                });
                let is_there = both(builder, is_there, is_term);
                or_zero(builder, is_there, (element, factor.ty), |builder| {
                    read(builder, buffer, factor.access, &point)
                })
            })
            .collect();
        builder.op(ops::vector::FROM_ELEMENTS, &elements, &[ty], &[])[0]
    }

    /// The indices of the first element that a lane gives of a factor.
    fn start(
        &self,
        builder: &mut Builder<'c>,
        at: At<'c, '_>,
        factor: Factor,
        corner: &Offsets,
    ) -> Vec<Val<'c>> {
        let columns = at.matrix.dimensions.columns;
        let mut point = at.base.to_vec();
        for d in 0..point.len() {
            let mut offset = builder.index(corner[d]);
            if d == at.matrix.terms {
                offset = builder.binary(ops::arith::ADDI, offset, at.matrix.first);
            }
            if d == columns && self.moves(factor, d) {
                offset = builder.binary(ops::arith::ADDI, offset, at.matrix.column);
            }
            let distance = builder.binary(ops::arith::MULI, offset, self.steps[d]);
            point[d] = builder.binary(ops::arith::ADDI, point[d], distance);
        }
        point
    }

    /// Returns whether the row or column of a factor is there; `None` if it always is.
    fn has_line(
        &self,
        builder: &mut Builder<'c>,
        at: At<'c, '_>,
        factor: Factor,
        corner: &Offsets,
    ) -> Option<Val<'c>> {
        let columns = at.matrix.dimensions.columns;
        let counts = |d: usize| d != at.matrix.terms && d != columns && self.moves(factor, d);
        let is_there = self.is_there(builder, at.limits, corner, counts);
        let ends = at.matrix.ends.filter(|_| self.moves(factor, columns));
        let is_column = ends.map(|(within, count)| {
            let before = builder.index(corner[columns]);
            let number = builder.binary(ops::arith::ADDI, within, before);
            builder.compare("slt", number, count)
        });
        both(builder, is_there, is_column)
    }

    /// Returns whether a factor moves along a dimension.
    pub(super) fn moves(&self, factor: Factor, d: usize) -> bool {
        let map = &self.of.parts.inputs[factor.buffer].accesses[factor.access];
        map.iter().any(|e| e.dims().contains(&d))
    }
}

fn both<'c>(builder: &mut Builder<'c>, a: Option<Val<'c>>, b: Option<Val<'c>>) -> Option<Val<'c>> {
    match (a, b) {
        (Some(a), Some(b)) => Some(builder.binary(ops::arith::ANDI, a, b)),
        (a, b) => a.or(b),
    }
}

/// Reads under a condition; zeros otherwise.
fn or_zero<'c>(
    builder: &mut Builder<'c>,
    condition: Option<Val<'c>>,
    (ty, element): (Type<'c>, ScalarType),
    read: impl FnOnce(&mut Builder<'c>) -> Val<'c>,
) -> Val<'c> {
    let Some(condition) = condition else {
        return read(builder);
    };
    let zero = |builder: &mut Builder<'c>| {
        let zero = builder.scalar(Scalar::zero(element));
        match ty == types::mlir_type(builder.context, element) {
            true => zero,
            false => spread(builder, zero, OWN),
        }
    };
    let read = |builder: &mut Builder<'c>| vec![read(builder)];
    builder.if_else(condition, &[ty], read, |builder| vec![zero(builder)])[0]
}

/// The number that another lane has.
fn of_lane<'c>(builder: &mut Builder<'c>, number: Val<'c>, lane: Val<'c>) -> Val<'c> {
    let (index, word) = (builder.index_type(), parse(builder.context, "i32"));
    let [number, lane] =
        [number, lane].map(|v| builder.op(ops::arith::INDEX_CAST, &[v], &[word], &[])[0]);
    let width = builder.scalar(Scalar::from_i64(ScalarType::I32, WARP));
    let mode = attribute(builder.context, "#gpu<shuffle_mode idx>");
    let bit = types::mlir_type(builder.context, ScalarType::I1);
    let operands = [number, lane, width];
    let exchanged = builder.op(
        ops::gpu::SHUFFLE,
        &operands,
        &[word, bit],
        &[("mode", mode)],
    )[0];
    builder.op(ops::arith::INDEX_CAST, &[exchanged], &[index], &[])[0]
}

/// Two neighbours of a vector as the instruction takes them: of f16 a vector, of bf16 their bits.
fn register<'c>(builder: &mut Builder<'c>, all: Val<'c>, first: i64) -> Val<'c> {
    let numbers = |numbers: &[i64]| {
        let text: Vec<String> = numbers.iter().map(|n| n.to_string()).collect();
        attribute(builder.context, &format!("[{}]", text.join(", ")))
    };
    let slice: [(&str, Attribute); 3] = [
        ("offsets", numbers(&[first])),
        ("sizes", numbers(&[2])),
        ("strides", numbers(&[1])),
    ];
    let element = element(all);
    let ty = vector_type(element, 2);
    let two = builder.op(ops::vector::EXTRACT_STRIDED_SLICE, &[all], &[ty], &slice)[0];
    if types::scalar_type(element) != Some(ScalarType::BF16) {
        return two;
    }
    let word = types::mlir_type(builder.context, ScalarType::I32);
    let bits = builder.op(ops::vector::BITCAST, &[two], &[vector_type(word, 1)], &[])[0];
    let place = DenseI64ArrayAttribute::new(builder.context, &[0]);
    let place = [("static_position", place.into())];
    builder.op(ops::vector::EXTRACT, &[bits], &[word], &place)[0]
}

/// The instruction, of four registers of rows, two of columns, and four sums.
fn multiply<'c>(builder: &mut Builder<'c>, ty: ScalarType, operands: &[Val<'c>]) -> Val<'c> {
    let factor = format!("#nvvm.mma_type<{ty}>");
    let attributes = [
        ("layoutA", "#nvvm.mma_layout<row>"),
        ("layoutB", "#nvvm.mma_layout<col>"),
        ("multiplicandAPtxType", &factor),
        ("multiplicandBPtxType", &factor),
        ("operandSegmentSizes", "array<i32: 4, 2, 4>"),
        ("shape", "#nvvm.shape<m = 16, n = 8, k = 16>"),
    ];
    let attributes = attributes.map(|(name, text)| (name, attribute(builder.context, text)));
    let result = parse(builder.context, "!llvm.struct<(f32, f32, f32, f32)>");
    builder.op(ops::nvvm::MMA_SYNC, operands, &[result], &attributes)[0]
}
