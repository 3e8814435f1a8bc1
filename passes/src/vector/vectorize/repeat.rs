//! Loops of scalar code on vectors: as long as any lane goes on.
//!
//! ```mlir
//! // mdh-opt --mdh-vectorize --canonicalize --cse
//! func.func @f(%x: memref<16xi32>, %y: memref<16xi32>) {
//!   mdh.compute (i = 16)
//!     out_view(y = %y[i] : memref<16xi32>)
//!     md_hom((%x_i: i32) {
//!       %zero = arith.constant 0 : i32
//!       %one = arith.constant 1 : i32
//!       %n = scf.while (%k = %zero) : (i32) -> i32 {
//!         %more = arith.cmpi slt, %k, %x_i : i32
//!         scf.condition(%more) %k : i32
//!       } do {
//!       ^bb0(%k: i32):
//!         %next = arith.addi %k, %one : i32
//!         scf.yield %next : i32
//!       }
//!       mdh.yield %n : i32
//!     }, (cc))
//!     inp_view(x = %x[i] : memref<16xi32>)
//!     schedule(#mdh.schedule<asm = cpu, layers = [simd {i: 16}]>)
//!   return
//! }
//! // becomes
//! %n:2 = scf.while (%k = %zeros) : (vector<16xi32>) -> (vector<16xi32>, vector<16xi1>) {
//!   %more = arith.cmpi slt, %k, %xs : vector<16xi32>
//!   %any = vector.reduction <or>, %more : vector<16xi1> into i1
//!   scf.condition(%any) %k, %more : vector<16xi32>, vector<16xi1>
//! } do {
//! ^bb0(%before: vector<16xi32>, %goes_on: vector<16xi1>):
//!   %next = arith.addi %before, %ones : vector<16xi32>
//!   %kept = arith.select %goes_on, %next, %before : vector<16xi1>, vector<16xi32>
//!   scf.yield %kept : vector<16xi32>
//! }
//! ```
//!
//! A lane that is done keeps its values, of which its condition is false again: its results are
//! those of the last time. Lanes without a point, or that do not take the branch that the loop is
//! in, never go on; what they hold might not end.

use mdh_dialect::code::arguments;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::ops;
use melior::ir::operation::OperationLike;
use melior::ir::{Type, ValueLike};

use super::lanes::{Copies, Lanes, is_vector, look_up, select};
use crate::support::builder::Builder;
use crate::support::inline::key;
use crate::vector::expand_vector_math::each;

/// Binds a block's arguments to values.
fn bind<'c>(op: Op<'c>, region: usize, values: &[Val<'c>], copies: &mut Copies<'c>) {
    let block = ir::only_block(ir::region(op, region));
    let block = block.unwrap_or_else(|| panic!("loops of scalar code have one block"));
    for (argument, value) in arguments(block).into_iter().zip(values) {
        copies.insert(key(argument), *value);
    }
}

/// Returns whether a loop counts in numbers without a sign.
fn is_unsigned(op: Op) -> bool {
    ir::attribute(op, "unsignedCmp").is_some()
}

impl<'c> Lanes<'c, '_> {
    /// `scf.while`.
    pub(super) fn while_loop(
        &self,
        builder: &mut Builder<'c>,
        op: Op<'c>,
        copies: &mut Copies<'c>,
    ) -> Vec<Val<'c>> {
        let initial: Vec<Val> = op
            .operands()
            .map(|v| look_up(copies, ir::value(v)))
            .collect();
        self.repeat(
            builder,
            copies,
            &initial,
            |builder, copies, values| {
                bind(op, 0, values, copies);
                let mut yielded = self.block(builder, ir::region(op, 0), copies);
                (yielded.remove(0), yielded)
            },
            |builder, copies, values| {
                bind(op, 1, values, copies);
                self.block(builder, ir::region(op, 1), copies)
            },
        )
    }

    /// `scf.for`: one loop for all lanes if they agree on its bounds, and those have a sign.
    pub(super) fn for_loop(
        &self,
        builder: &mut Builder<'c>,
        op: Op<'c>,
        copies: &mut Copies<'c>,
    ) -> Vec<Val<'c>> {
        let operands: Vec<Val> = op
            .operands()
            .map(|v| look_up(copies, ir::value(v)))
            .collect();
        let (bounds, initial) = operands.split_at(3);
        let is_index = |v: &Val<'c>| v.r#type() == builder.index_type();
        let is_plain = bounds.iter().all(is_index) && !is_unsigned(op);
        if let ([from, to, by], true) = (bounds, is_plain) {
            let initial: Vec<Val> = initial.iter().map(|v| self.wide(builder, *v)).collect();
            return builder.for_loop([*from, *to, *by], &initial, |builder, index, carried| {
                let values: Vec<Val> = [index].into_iter().chain(carried.to_vec()).collect();
                bind(op, 0, &values, copies);
                let next = self.block(builder, ir::region(op, 0), copies);
                next.iter().map(|v| self.wide(builder, *v)).collect()
            });
        }
        self.for_each_lane(
            builder,
            op,
            copies,
            [bounds[0], bounds[1], bounds[2]],
            initial,
        )
    }

    /// With bounds of each lane's own. What is left is counted without a sign: the index may stand
    /// at the largest number.
    fn for_each_lane(
        &self,
        builder: &mut Builder<'c>,
        op: Op<'c>,
        copies: &mut Copies<'c>,
        bounds: [Val<'c>; 3],
        initial: &[Val<'c>],
    ) -> Vec<Val<'c>> {
        let [from, to, by] = bounds.map(|v| self.wide(builder, v));
        let predicate = if is_unsigned(op) { "ult" } else { "slt" };
        let goes_on = builder.compare(predicate, from, to);
        let left = builder.binary(ops::arith::SUBI, to, from);
        let state: Vec<Val> = [goes_on, left, from]
            .into_iter()
            .chain(initial.iter().copied())
            .collect();
        let results = self.repeat(
            builder,
            copies,
            &state,
            |_, _, values| (values[0], values[1..].to_vec()),
            |builder, copies, values| {
                let [left, index] = [values[0], values[1]];
                bind(op, 0, &values[1..], copies);
                let next = self.block(builder, ir::region(op, 0), copies);
                let goes_on = builder.compare("ugt", left, by);
                let left = builder.binary(ops::arith::SUBI, left, by);
                let index = builder.binary(ops::arith::ADDI, index, by);
                [goes_on, left, index].into_iter().chain(next).collect()
            },
        );
        results[2..].to_vec()
    }

    /// A loop whose `test` gives the condition and what goes on to `step`, which gives the next
    /// values.
    fn repeat(
        &self,
        builder: &mut Builder<'c>,
        copies: &mut Copies<'c>,
        initial: &[Val<'c>],
        test: impl FnOnce(&mut Builder<'c>, &mut Copies<'c>, &[Val<'c>]) -> (Val<'c>, Vec<Val<'c>>),
        step: impl FnOnce(&mut Builder<'c>, &mut Copies<'c>, &[Val<'c>]) -> Vec<Val<'c>>,
    ) -> Vec<Val<'c>> {
        let widened = |builder: &mut Builder<'c>, values: &[Val<'c>]| -> Vec<Val<'c>> {
            values.iter().map(|v| self.wide(builder, *v)).collect()
        };
        let initial = widened(builder, initial);
        let types: Vec<Type> = initial.iter().map(|v| v.r#type()).collect();
        let (mut forwarded, mut passed): (usize, Vec<Type>) = (0, Vec::new());
        let before = builder.region(&types, ops::scf::CONDITION, |builder, values| {
            let (condition, results) = test(builder, copies, values);
            let mut condition = self.wide(builder, condition);
            if let Some(present) = self.present {
                // Not a conjunction: what an absent lane computes may have no value.
                let no = builder.boolean(false);
                condition = select(builder, present, condition, no, self.count);
            }
            let any = match is_vector(condition) {
                true => each::any(builder, condition),
                false => condition,
            };
            let results = widened(builder, &results);
            forwarded = results.len();
            let on = results.into_iter().chain([condition]);
            let on: Vec<Val> = on.chain(values.to_vec()).collect();
            passed = on.iter().map(|v| v.r#type()).collect();
            [any].into_iter().chain(on).collect()
        });
        let after = builder.region(&passed, ops::scf::YIELD, |builder, values| {
            let (results, rest) = values.split_at(forwarded);
            let next = step(builder, copies, results);
            let pairs = next.into_iter().zip(&rest[1..]);
            let selected = pairs.map(|(new, old)| select(builder, rest[0], new, *old, self.count));
            selected.collect()
        });
        let op = builder.build(ops::scf::WHILE, &initial, &passed, &[], vec![before, after]);
        op.results().take(forwarded).map(ir::value::<'c>).collect()
    }
}
