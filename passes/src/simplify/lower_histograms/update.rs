//! Updates of bins: one value at a time, or a few at once.
//!
//! Of those that are counted at once one branch tells whether all fall into bins, which is soon
//! foreseen where they do. A value that does not updates a spare one behind the last, so that nothing
//! branches on a single value; each has a spare one of its own, and takes the next row of bins, if
//! there are several: an update that follows one of the same place in memory waits for that. What
//! a branch of the scalar function computes, and an operator of the user's, are run for values
//! that count only.

use mdh_dialect::ops;
use std::collections::{HashMap, HashSet};

use mdh_algebra::operator::Operator;
use mdh_dialect::code::arguments;
use mdh_dialect::ir::{self, Op, Val};
use melior::ir::operation::OperationLike;

use super::form::{Amount, Histogram};
use super::{COPIES, LANES, Lowering};
use crate::llvm::lower_to_loops::access::{load, read, store};
use crate::llvm::lower_to_loops::fold::Fold;
use crate::support::builder::{Builder, known};
use crate::support::inline::{inline_some, key};
use crate::support::region;

/// A value that was read, and the bin that it falls into.
struct BinnedValue<'c> {
    point: Vec<Val<'c>>,
    /// Clones of the values of the scalar function, by their keys.
    copies: HashMap<usize, Val<'c>>,
    /// Its bin, from 0 on.
    bin: Val<'c>,
    /// True if that is one.
    counts: Val<'c>,
}

impl<'c> Lowering<'c, '_> {
    /// Updates a part's bins for each of its values.
    pub(super) fn count(
        &self,
        builder: &mut Builder<'c>,
        of: Option<Val<'c>>,
        part: Val<'c>,
        point: &[Val<'c>],
    ) {
        let Some((&innermost, outer)) = self.values.split_last() else {
            return self.update(builder, part, &[point.to_vec()]);
        };
        self.each_point(builder, outer, of, point, &|builder, point| {
            if self.lanes == 1 {
                return self.each_point(builder, &[innermost], of, point, &|builder, point| {
                    self.update(builder, part, &[point.to_vec()]);
                });
            }
            let is_shared = matches!(self.shared, super::Shared::Values(d) if d == innermost);
            let zero = builder.index(0);
            let [start, end] = match of.filter(|_| is_shared && known(self.parts) != Some(1)) {
                Some(part) => self.range(builder, innermost, part),
                None => [zero, self.grids[innermost].count],
            };
            self.count_lanes(builder, innermost, [start, end], part, point);
        });
    }

    /// Counts the values along a dimension, several at once, then the rest.
    fn count_lanes(
        &self,
        builder: &mut Builder<'c>,
        d: usize,
        [start, end]: [Val<'c>; 2],
        part: Val<'c>,
        point: &[Val<'c>],
    ) {
        let (one, lanes) = (builder.index(1), builder.index(LANES));
        let distance = builder.binary(ops::arith::SUBI, end, start);
        let times = builder.binary(ops::arith::DIVSI, distance, lanes);
        let whole = builder.binary(ops::arith::MULI, times, lanes);
        let middle = builder.binary(ops::arith::ADDI, start, whole);
        let count = |builder: &mut Builder<'c>, number: Val<'c>, lanes: i64| {
            let points = (0..lanes).map(|lane| {
                let lane = builder.index(lane);
                let number = builder.binary(ops::arith::ADDI, number, lane);
                let mut point = point.to_vec();
                point[d] = self.grids[d].point(builder, number);
                point
            });
            let points: Vec<_> = points.collect();
            self.update(builder, part, &points);
            Vec::new()
        };
        builder.for_loop([start, middle, lanes], &[], |builder, number, _| {
            count(builder, number, LANES)
        });
        builder.for_loop([middle, end, one], &[], |builder, number, _| {
            count(builder, number, 1)
        });
    }

    /// `bins[g] = f(bins[g], v)` for the values at some points, as far as there are such bins.
    fn update(&self, builder: &mut Builder<'c>, part: Val<'c>, points: &[Vec<Val<'c>>]) {
        let values: Vec<BinnedValue> = points.iter().map(|p| self.value(builder, p)).collect();
        let first = builder.binary(ops::arith::MULI, part, self.copies);
        if !self.of.is_plain() {
            for value in &values {
                builder.if_then(value.counts, |builder| {
                    self.add(builder, value, [first, value.bin]);
                });
            }
            return;
        }
        let some = |builder: &mut Builder<'c>| {
            for (lane, value) in values.iter().enumerate() {
                let count = self.grids[self.of.bins].count;
                let spare = builder.index(lane as i64);
                let spare = builder.binary(ops::arith::ADDI, count, spare);
                let bin = builder.select(value.counts, value.bin, spare);
                let row = self.row(builder, first, lane);
                self.add(builder, value, [row, bin]);
            }
            Vec::new()
        };
        if values.len() == 1 {
            some(builder);
            return;
        }
        let counts = values.iter().map(|value| value.counts);
        let total = counts.reduce(|all, counts| builder.binary(ops::arith::ANDI, all, counts));
        let total = total.unwrap_or_else(|| builder.boolean(true));
        let write_lane = |builder: &mut Builder<'c>| {
            for (lane, value) in values.iter().enumerate() {
                let row = self.row(builder, first, lane);
                self.add(builder, value, [row, value.bin]);
            }
            Vec::new()
        };
        builder.if_else(total, &[], write_lane, some);
    }

    /// The row of bins that a lane updates, of those from `first` on.
    fn row(&self, builder: &mut Builder<'c>, first: Val<'c>, lane: usize) -> Val<'c> {
        let (row, one) = (builder.index(lane as i64 % COPIES), builder.index(1));
        let last = builder.binary(ops::arith::SUBI, self.copies, one);
        let row = builder.binary(ops::arith::MINSI, row, last);
        builder.binary(ops::arith::ADDI, first, row)
    }

    /// Adds what a value adds to its bin, which is at a place.
    fn add(&self, builder: &mut Builder<'c>, value: &BinnedValue<'c>, place: [Val<'c>; 2]) {
        let fold = Fold {
            op: self.of.op,
            computation: &self.of.computation,
        };
        let amounts = self.amounts(builder, value);
        let before: Vec<Val> = (self.bins.iter().map(|b| load(builder, *b, &place))).collect();
        let after = fold.apply(builder, &before, &amounts);
        for (value, bins) in after.into_iter().zip(&self.bins) {
            store(builder, value, *bins, &place);
        }
    }

    /// Reads what is at a point, and where that counts.
    fn value(&self, builder: &mut Builder<'c>, point: &[Val<'c>]) -> BinnedValue<'c> {
        let form = self.of;
        let mut copies: HashMap<usize, Val<'c>> = HashMap::new();
        let block = region::block_of(ir::region(form.op, 0));
        let accesses = form.parts.inputs.iter().flat_map(|buffer| {
            let numbers = 0..buffer.accesses.len();
            numbers.map(move |access| (buffer, access))
        });
        for (argument, (buffer, access)) in arguments(block).into_iter().zip(accesses) {
            if self.arguments.contains(&key(argument)) {
                copies.insert(key(argument), read(builder, buffer, access, point));
            }
        }
        inline_some(builder, &self.code, &mut copies, point);
        let find = |value: Val<'c>| copies.get(&key(value)).copied().unwrap_or(value);
        let (bin, cast) = form.bin;
        let mut bin = find(bin);
        if let Some(cast) = cast {
            bin = builder.op(cast, &[bin], &[builder.index_type()], &[])[0];
        }
        let grid = &self.grids[form.bins];
        let bin = builder.binary(ops::arith::SUBI, bin, grid.lower);
        // Unsigned: what lies before the first bin is beyond the last one too.
        let mut counts = builder.compare("ult", bin, grid.count);
        for condition in &form.conditions {
            counts = builder.binary(ops::arith::ANDI, counts, find(*condition));
        }
        BinnedValue {
            point: point.to_vec(),
            copies,
            bin,
            counts,
        }
    }

    /// Returns the amounts that a value adds to each component of its bin.
    fn amounts(&self, builder: &mut Builder<'c>, value: &BinnedValue<'c>) -> Vec<Val<'c>> {
        let (copies, point) = (&value.copies, &value.point);
        let mut branches: HashMap<(usize, usize), Vec<Val<'c>>> = HashMap::new();
        let mut amounts = Vec::new();
        for amount in &self.of.amounts {
            amounts.push(match amount {
                Amount::Number(number) => builder.scalar(*number),
                Amount::Value(value) => copies.get(&key(*value)).copied().unwrap_or(*value),
                Amount::Branch { of, region, result } => {
                    let name = (of.to_raw().ptr as usize, *region);
                    let yielded = branches.entry(name).or_insert_with(|| {
                        let block = region::block_of(ir::region(*of, *region));
                        let mut copies = copies.clone();
                        let ops = ir::ops_of(block);
                        let body = &ops[..ops.len() - 1];
                        inline_some(builder, body, &mut copies, point);
                        let find = |v: &Val<'c>| copies.get(&key(*v)).copied().unwrap_or(*v);
                        region::yields(block).iter().map(find).collect()
                    });
                    yielded[*result]
                }
            });
        }
        amounts
    }
}

impl Histogram<'_> {
    /// Returns whether an update is so simple that it may be made for values that do not count too.
    pub(super) fn is_plain(&self) -> bool {
        let is_branch = |amount: &Amount| matches!(amount, Amount::Branch { .. });
        let is_builtin = matches!(self.computation.operator(), Some(Operator::Builtin(_)));
        is_builtin && !self.amounts.iter().any(is_branch)
    }
}

/// The operations of the scalar function that a value's bin, conditions and amounts are made of,
/// and the arguments that these need.
pub(super) fn needed<'c>(of: &Histogram<'c>) -> (Vec<Op<'c>>, HashSet<usize>) {
    let ops = ir::ops_of(region::block_of(ir::region(of.op, 0)));
    let mut used: HashSet<usize> = HashSet::new();
    used.extend([of.bin.0].iter().chain(&of.conditions).map(|v| key(*v)));
    for amount in &of.amounts {
        match amount {
            Amount::Value(value) => {
                used.insert(key(*value));
            }
            Amount::Branch { of, region, .. } => {
                let inside = region::operations_of(ir::region(*of, *region));
                used.extend(inside.iter().flat_map(|op| operands(*op)));
            }
            Amount::Number(_) => {}
        }
    }
    let mut needed = Vec::new();
    for op in ops.into_iter().rev() {
        if op.results().any(|r| used.contains(&key(ir::value(r)))) {
            used.extend(ir::all(op).into_iter().flat_map(operands));
            needed.push(op);
        }
    }
    needed.reverse();
    (needed, used)
}

fn operands(op: Op) -> Vec<usize> {
    op.operands().map(|v| key(ir::value(v))).collect()
}
