//! Accumulation under a condition, or in a wider type, as accumulation by an operator alone.
//!
//! `m ? acc + x : acc` is `acc + (m ? x : neutral)` where `m` does not depend on what is accumulated;
//! `trunc(ext(acc) + y)` is `acc + trunc(y)`, modulo a power of two. Both hold bit for bit: floats are summed
//! with -0.0 in the place of what is left out, since +0.0 would change an accumulator of -0.0. Floats that are
//! accumulated in a wider type: [`super::rounded`].

use std::collections::HashSet;

use mdh_algebra::scalar::ScalarType;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::types;
use melior::ir::operation::OperationLike;
use melior::ir::{BlockRef, ValueLike};

use super::masked_choices::Masked;
use super::steps::Step;
use crate::support::builder::Builder;
use crate::support::region;

/// Rewrites a body so that conditions are on elements.
pub fn lift<'c>(block: BlockRef<'c, 'c>, accumulators: &[Val<'c>]) {
    let mut lifted = Lifted {
        dependent: accumulators.iter().copied().map(key).collect(),
        masked: Vec::new(),
    };
    lifted.visit(block);
    region::erase_dead(block);
}

fn key(value: Val) -> usize {
    value.to_raw().ptr as usize
}

/// A body of which conditions are lifted.
pub struct Lifted<'c> {
    /// The values that depend on accumulators.
    dependent: HashSet<usize>,
    /// Comparisons that had a condition.
    pub masked: Vec<Masked<'c>>,
}

impl<'c> Lifted<'c> {
    fn visit(&mut self, block: BlockRef<'c, 'c>) {
        let ops = ir::ops_of(block);
        for (n, op) in ops.iter().enumerate() {
            let is_dependent = region::used_by(*op).into_iter().any(|v| self.depends(v));
            if ir::name_of(*op) == ops::scf::IF {
                for branch in branches(*op).into_iter().flatten() {
                    self.visit(branch);
                }
            }
            if !is_dependent {
                continue;
            }
            self.mark(*op);
            // The terminator is the last one.
            let Some(next) = ops.get(n + 1) else {
                continue;
            };
            let mut builder = Builder::before(*next);
            match ir::name_of(*op) {
                ops::arith::SELECT => self.select(&mut builder, *op),
                ops::arith::ANDI => self.both_hold(&mut builder, *op),
                ops::arith::TRUNCI => self.truncation(&mut builder, *op),
                ops::arith::TRUNCF => self.rounding(&mut builder, *op),
                ops::scf::IF => self.branched(&mut builder, *op),
                _ => {}
            }
        }
    }

    /// Returns whether a value depends on accumulators.
    pub fn depends(&self, value: Val) -> bool {
        self.dependent.contains(&key(value))
    }

    fn mark(&mut self, op: Op) {
        self.dependent
            .extend(op.results().map(|r| key(ir::value(r))));
    }

    /// Puts a value in the place of another one, which goes.
    pub fn replace(&mut self, old: Val<'c>, new: Val<'c>) {
        self.dependent.insert(key(new));
        region::replace_all_uses(old, new);
    }

    /// Takes an operation out; others may get its place in memory, by which values are known here.
    pub fn erase(&mut self, op: Op<'c>) {
        for result in ir::all(op).iter().flat_map(|op| op.results()) {
            let result = ir::value(result);
            self.dependent.remove(&key(result));
            self.masked.retain(|own| !own.has(result));
        }
        region::erase(op);
    }

    /// Takes an operation that makes a value out, and what it alone used, if nothing uses it.
    pub fn erase_unused(&mut self, value: Val<'c>) {
        let unused = |op: &Op<'c>| !op.results().any(|r| ir::has_uses(ir::value(r)));
        let Some(op) = ir::defining_op(value).filter(unused) else {
            return;
        };
        let mut operands: Vec<Val> = op.operands().map(ir::value).collect();
        operands.dedup();
        self.erase(op);
        operands.into_iter().for_each(|v| self.erase_unused(v));
    }

    fn select(&mut self, builder: &mut Builder<'c>, op: Op<'c>) {
        let [by, then, other] = [0, 1, 2].map(|n| ir::operand(op, n));
        let (Some(by), Some(then), Some(other), Some(result)) =
            (by, then, other, ir::result(op, 0))
        else {
            return;
        };
        if self.depends(by) {
            return;
        }
        let Some((step, elements)) = self.common(builder, then, other) else {
            return self.selected_again(builder, op);
        };
        let element = builder.select(by, elements[0], elements[1]);
        let taken = builder.binary(&step.family.operation(), step.base, element);
        self.replace(result, taken);
        self.erase(op);
        [then, other].into_iter().for_each(|v| self.erase_unused(v));
    }

    /// The results of `scf.if` that accumulate in its branches, or in one of them.
    fn branched(&mut self, builder: &mut Builder<'c>, op: Op<'c>) {
        let Some(by) = ir::operand(op, 0) else {
            return;
        };
        let [Some(then), Some(other)] = branches(op) else {
            return;
        };
        let lifted = if self.depends(by) {
            0
        } else {
            op.result_count()
        };
        for n in 0..lifted {
            let Some(result) = ir::result(op, n) else {
                continue;
            };
            let [a, b] = [then, other].map(|block| region::yields(block)[n]);
            // Numbers are known before the branches.
            let mut before = Builder::before(op);
            let Some((step, elements)) = self.common(&mut before, a, b) else {
                continue;
            };
            let sides = [step.base, result];
            let name = step.family.operation();
            let taken = builder.op(&name, &sides, &[result.r#type()], &[])[0];
            self.replace(result, taken);
            if let Some(op) = ir::defining_op(taken) {
                region::set_operand(op, 1, result);
            }
            for (block, element) in [then, other].into_iter().zip(elements) {
                let mut yields = region::yields(block);
                yields[n] = element;
                region::set_yields(block, &yields);
            }
            [a, b].into_iter().for_each(|v| self.erase_unused(v));
        }
        if !self.hoist(op, [then, other]) {
            return;
        }
        // What has nothing to compute is a selection.
        for n in 0..op.result_count() {
            let [a, b] = [then, other].map(|block| region::yields(block)[n]);
            let mut before = Builder::before(op);
            let (Some(result), chosen) = (ir::result(op, n), before.select(by, a, b)) else {
                continue;
            };
            region::replace_all_uses(result, chosen);
            if let Some(select) = ir::defining_op(chosen)
                && [by, a, b].into_iter().any(|v| self.depends(v))
            {
                self.mark(select);
                self.select(&mut before, select);
            }
        }
        self.erase(op);
    }

    /// Takes out of branches what may as well be computed before them; returns whether that is all.
    fn hoist(&mut self, op: Op<'c>, branches: [BlockRef<'c, 'c>; 2]) -> bool {
        let inside = branches.into_iter().flat_map(|block| {
            let mut ops = ir::ops_of(block);
            ops.pop();
            ops
        });
        let inside: Vec<Op> = inside.collect();
        if !inside.iter().all(is_cheap) {
            return false;
        }
        for own in inside {
            let copy = region::copy_before(own, op);
            if region::used_by(copy).into_iter().any(|v| self.depends(v)) {
                self.mark(copy);
            }
            for (old, new) in own.results().zip(copy.results()) {
                region::replace_all_uses(ir::value(old), ir::value(new));
            }
            self.erase(own);
        }
        true
    }

    /// The step that two values take from one base, one of which may be the base itself, with the
    /// element of each.
    fn common(
        &self,
        builder: &mut Builder<'c>,
        a: Val<'c>,
        b: Val<'c>,
    ) -> Option<(Step<'c>, [Val<'c>; 2])> {
        let neutral = |builder: &mut Builder<'c>, step: &Step<'c>| {
            Some(builder.scalar(step.family.neutral(step.base)?))
        };
        match (self.step(a), self.step(b)) {
            (Some(step), Some(other)) if (step.family, step.base) == (other.family, other.base) => {
                Some((step, [step.element(), other.element()]))
            }
            (Some(step), _) if step.base == b => {
                let neutral = neutral(builder, &step)?;
                Some((step, [step.element(), neutral]))
            }
            (_, Some(step)) if step.base == a => {
                let neutral = neutral(builder, &step)?;
                Some((step, [neutral, step.element()]))
            }
            _ => None,
        }
    }

    /// The step whose result a value is, if nothing else uses it.
    pub fn step(&self, value: Val<'c>) -> Option<Step<'c>> {
        let op = ir::defining_op(value).filter(|_| ir::users(value).len() == 1)?;
        Step::new(op, |v| self.depends(v))
    }

    /// Computes in an accumulator's own type what is truncated to it afterwards.
    fn truncation(&mut self, builder: &mut Builder<'c>, op: Op<'c>) {
        let (Some(wide), Some(result)) = (ir::operand(op, 0), ir::result(op, 0)) else {
            return;
        };
        let Some(ty) = types::scalar_type(result.r#type()) else {
            return;
        };
        if self.is_narrow(wide, ty) {
            let narrow = self.narrowed(builder, wide, ty);
            self.replace(result, narrow);
            self.erase(op);
            self.erase_unused(wide);
        }
    }

    /// Returns whether what depends on accumulators is extended from a type, and only added,
    /// multiplied or taken bit by bit: the low bits of these depend on low bits alone.
    fn is_narrow(&self, value: Val<'c>, ty: ScalarType) -> bool {
        if !self.depends(value) {
            return true;
        }
        ir::defining_op(value).is_some_and(|op| match ir::name_of(op) {
            ops::arith::EXTSI | ops::arith::EXTUI => {
                let from = ir::operand(op, 0).and_then(|v| types::scalar_type(v.r#type()));
                from == Some(ty)
            }
            ops::arith::ADDI | ops::arith::SUBI | ops::arith::MULI => {
                both(op, |v| self.is_narrow(v, ty))
            }
            ops::arith::ANDI | ops::arith::ORI | ops::arith::XORI => {
                both(op, |v| self.is_narrow(v, ty))
            }
            _ => false,
        })
    }

    fn narrowed(&mut self, builder: &mut Builder<'c>, value: Val<'c>, ty: ScalarType) -> Val<'c> {
        let op = ir::defining_op(value).filter(|_| self.depends(value));
        let Some(op) = op else {
            return builder.convert(ops::arith::TRUNCI, value, ty);
        };
        let operands: Vec<Val> = op.operands().map(ir::value).collect();
        match operands[..] {
            [a, b] => {
                let [a, b] = [a, b].map(|v| self.narrowed(builder, v, ty));
                let combined = builder.op(ir::name_of(op), &[a, b], &[a.r#type()], &[])[0];
                self.dependent.insert(key(combined));
                combined
            }
            _ => operands[0],
        }
    }
}

fn both<'c>(op: Op<'c>, holds: impl Fn(Val<'c>) -> bool) -> bool {
    op.operands().map(ir::value).all(holds)
}

/// Returns whether an operation compares or chooses, so that a branch around it saves nothing.
fn is_cheap(op: &Op) -> bool {
    let names = [
        ops::arith::ANDI,
        ops::arith::CMPF,
        ops::arith::CMPI,
        ops::arith::CONSTANT,
        ops::arith::INDEX_CAST,
        ops::arith::ORI,
        ops::arith::SELECT,
        ops::arith::XORI,
    ];
    names.contains(&ir::name_of(*op))
}

/// The blocks of `scf.if`.
fn branches<'c>(op: Op<'c>) -> [Option<BlockRef<'c, 'c>>; 2] {
    [0, 1].map(|n| ir::only_block(ir::region(op, n)))
}
