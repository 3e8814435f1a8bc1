//! Accumulation under a condition, or in a wider type, as accumulation by an operator alone.
//!
//! `m ? acc + x : acc` is `acc + (m ? x : neutral)` where `m` does not depend on what is accumulated;
//! `c ? true : acc` is `c or acc`; `trunc(ext(acc) + y)` is `acc + trunc(y)`, modulo a power of two. All
//! of these hold bit for bit: `maxnumf` passes over NaN, which it has in the place of what is left out.
//! Sums and products of floats under a condition stay: the definition has no bound for their order.

use std::collections::HashSet;

use mdh_algebra::operator::Builtin;
use mdh_algebra::scalar::{Scalar, ScalarType};
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::types;
use melior::ir::operation::OperationLike;
use melior::ir::{BlockRef, ValueLike};

use super::accumulators::constant;
use crate::builder::Builder;
use crate::region;

/// Rewrites a body so that conditions are on elements.
pub fn lift<'c>(block: BlockRef<'c, 'c>, accumulators: &[Val<'c>]) {
    let mut lifted = Lifted {
        dependent: accumulators.iter().copied().map(key).collect(),
    };
    lifted.visit(block);
    region::erase_dead(block);
}

fn key(value: Val) -> usize {
    value.to_raw().ptr as usize
}

/// One application of an operator: `base OP element`, or `base - element`.
struct Step<'c> {
    name: &'c str,
    base: Val<'c>,
    element: Val<'c>,
    /// The operand that is the base.
    number: usize,
}

struct Lifted {
    /// The values that depend on accumulators.
    dependent: HashSet<usize>,
}

impl Lifted {
    fn visit<'c>(&mut self, block: BlockRef<'c, 'c>) {
        let all = ir::ops_of(block);
        for (n, op) in all.iter().enumerate() {
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
            let Some(next) = all.get(n + 1) else {
                continue;
            };
            let mut builder = Builder::before(*next);
            match ir::name_of(*op) {
                ops::arith::SELECT => self.select(&mut builder, *op),
                ops::arith::TRUNCI => self.truncation(&mut builder, *op),
                ops::scf::IF => self.branched(&mut builder, *op),
                _ => {}
            }
        }
    }

    fn depends(&self, value: Val) -> bool {
        self.dependent.contains(&key(value))
    }

    fn mark(&mut self, op: Op) {
        self.dependent
            .extend(op.results().map(|r| key(ir::value(r))));
    }

    /// Puts a value in the place of another one, which goes.
    fn replace<'c>(&mut self, old: Val<'c>, new: Val<'c>) {
        self.dependent.insert(key(new));
        region::replace_all_uses(old, new);
    }

    /// Takes an operation out; others may get its place in memory, by which values are known here.
    fn erase<'c>(&mut self, op: Op<'c>) {
        for result in ir::all(op).iter().flat_map(|op| op.results()) {
            self.dependent.remove(&key(ir::value(result)));
        }
        region::erase(op);
    }

    /// Takes an operation that makes a value out, and what it alone used, if nothing uses it.
    fn erase_unused<'c>(&mut self, value: Val<'c>) {
        let unused = |op: &Op<'c>| !op.results().any(|r| ir::has_uses(ir::value(r)));
        let Some(op) = ir::defining_op(value).filter(unused) else {
            return;
        };
        let mut operands: Vec<Val> = op.operands().map(ir::value).collect();
        operands.dedup();
        self.erase(op);
        operands.into_iter().for_each(|v| self.erase_unused(v));
    }

    fn select<'c>(&mut self, builder: &mut Builder<'c>, op: Op<'c>) {
        let [by, then, other] = [0, 1, 2].map(|n| ir::operand(op, n));
        let (Some(by), Some(then), Some(other), Some(result)) =
            (by, then, other, ir::result(op, 0))
        else {
            return;
        };
        if let Some(logical) = self.logical(builder, (by, then, other)) {
            self.replace(result, logical);
            return self.erase(op);
        }
        if self.depends(by) {
            return;
        }
        let Some((step, elements)) = self.common(builder, then, other) else {
            return;
        };
        let element = builder.select(by, elements[0], elements[1]);
        let taken = self.further(builder, &step, element);
        self.replace(result, taken);
        self.erase(op);
        [then, other].into_iter().for_each(|v| self.erase_unused(v));
    }

    /// `or` and `and` for a selection of booleans one of which is known.
    fn logical<'c>(
        &self,
        builder: &mut Builder<'c>,
        (by, then, other): (Val<'c>, Val<'c>, Val<'c>),
    ) -> Option<Val<'c>> {
        if types::scalar_type(then.r#type()) != Some(ScalarType::I1) {
            return None;
        }
        let truth = |value: Val| constant(value).map(Scalar::is_true);
        let (name, is_negated, rest) = match (truth(then), truth(other)) {
            (Some(true), None) => (ops::arith::ORI, false, other),
            (None, Some(false)) => (ops::arith::ANDI, false, then),
            (Some(false), None) => (ops::arith::ANDI, true, other),
            (None, Some(true)) => (ops::arith::ORI, true, then),
            _ => return None,
        };
        // The opposite of an accumulator is no element.
        if is_negated && self.depends(by) {
            return None;
        }
        let mut by = by;
        if is_negated {
            let truth = builder.boolean(true);
            by = builder.binary(ops::arith::XORI, by, truth);
        }
        Some(builder.binary(name, by, rest))
    }

    /// The results of `scf.if` that accumulate in its branches, or in one of them.
    fn branched<'c>(&mut self, builder: &mut Builder<'c>, op: Op<'c>) {
        let Some(by) = ir::operand(op, 0).filter(|by| !self.depends(*by)) else {
            return;
        };
        let [Some(then), Some(other)] = branches(op) else {
            return;
        };
        for n in 0..op.result_count() {
            let Some(result) = ir::result(op, n) else {
                continue;
            };
            let [a, b] = [then, other].map(|block| region::yields(block)[n]);
            // Numbers are known before the branches.
            let mut before = Builder::before(op);
            let Some((step, elements)) = self.common(&mut before, a, b) else {
                continue;
            };
            let taken = self.further(builder, &step, step.base);
            self.replace(result, taken);
            if let Some(op) = ir::defining_op(taken) {
                region::set_operand(op, 1 - step.number, result);
            }
            for (block, element) in [then, other].into_iter().zip(elements) {
                let mut yields = region::yields(block);
                yields[n] = element;
                region::set_yields(block, &yields);
            }
            [a, b].into_iter().for_each(|v| self.erase_unused(v));
        }
        if [then, other].iter().any(|b| ir::ops_of(*b).len() > 1) {
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
                && (self.depends(a) || self.depends(b))
            {
                self.mark(select);
                self.select(&mut before, select);
            }
        }
        self.erase(op);
    }

    /// The step that two values take from one base, one of which may be the base itself, with the
    /// element of each.
    fn common<'c>(
        &self,
        builder: &mut Builder<'c>,
        a: Val<'c>,
        b: Val<'c>,
    ) -> Option<(Step<'c>, [Val<'c>; 2])> {
        match (self.step(a), self.step(b)) {
            (Some(step), Some(other)) if is_same(&step, &other) => {
                let elements = [step.element, other.element];
                Some((step, elements))
            }
            (Some(step), _) if step.base == b => {
                let neutral = builder.scalar(self.neutral(&step)?);
                let element = step.element;
                Some((step, [element, neutral]))
            }
            (_, Some(step)) if step.base == a => {
                let neutral = builder.scalar(self.neutral(&step)?);
                let element = step.element;
                Some((step, [neutral, element]))
            }
            _ => None,
        }
    }

    fn step<'c>(&self, value: Val<'c>) -> Option<Step<'c>> {
        let op = ir::defining_op(value).filter(|_| ir::users(value).len() == 1)?;
        let name = ir::name_of(op);
        let operands: Vec<Val> = op.operands().map(ir::value).collect();
        let [a, b] = operands[..] else {
            return None;
        };
        let number = match (self.depends(a), self.depends(b)) {
            (true, false) => 0,
            (false, true) if name != ops::arith::SUBI => 1,
            _ => return None,
        };
        let step = Step {
            name,
            base: operands[number],
            element: operands[1 - number],
            number,
        };
        self.neutral(&step).is_some().then_some(step)
    }

    /// The element that leaves the base of a step as it is, bit for bit.
    fn neutral(&self, step: &Step) -> Option<Scalar> {
        let ty = types::scalar_type(step.base.r#type())?;
        let builtin = match step.name {
            // The definition bounds what sums and products round in another order only where they
            // are under no condition.
            ops::arith::ADDF | ops::arith::MULF => return None,
            ops::arith::MAXNUMF | ops::arith::MINNUMF => {
                let nan = Scalar::from_f64(ty, f64::NAN);
                return (ty.is_float() && nan.is_nan()).then_some(nan);
            }
            ops::arith::SUBI => Builtin::Addi,
            name => Builtin::parse(name.strip_prefix("arith.")?)?,
        };
        let neutral = builtin.neutral(ty)?;
        let is_exact = !ty.is_float() || neutral.as_f64().is_infinite();
        is_exact.then_some(neutral)
    }

    /// The base of a step with another element.
    fn further<'c>(&self, builder: &mut Builder<'c>, step: &Step<'c>, element: Val<'c>) -> Val<'c> {
        let operands = match step.number {
            0 => [step.base, element],
            _ => [element, step.base],
        };
        builder.op(step.name, &operands, &[step.base.r#type()], &[])[0]
    }

    /// Computes in an accumulator's own type what is truncated to it afterwards.
    fn truncation<'c>(&mut self, builder: &mut Builder<'c>, op: Op<'c>) {
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
    fn is_narrow<'c>(&self, value: Val<'c>, ty: ScalarType) -> bool {
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

    fn narrowed<'c>(
        &mut self,
        builder: &mut Builder<'c>,
        value: Val<'c>,
        ty: ScalarType,
    ) -> Val<'c> {
        let op = ir::defining_op(value).filter(|_| self.depends(value));
        let Some(op) = op else {
            return builder.convert(ops::arith::TRUNCI, value, ty);
        };
        let operands: Vec<Val> = op.operands().map(ir::value).collect();
        match operands[..] {
            [a, b] => {
                let [a, b] = [a, b].map(|v| self.narrowed(builder, v, ty));
                let own = builder.op(ir::name_of(op), &[a, b], &[a.r#type()], &[])[0];
                self.dependent.insert(key(own));
                own
            }
            _ => operands[0],
        }
    }
}

fn both<'c>(op: Op<'c>, holds: impl Fn(Val<'c>) -> bool) -> bool {
    op.operands().map(ir::value).all(holds)
}

/// Returns whether two steps are of one operator and one base.
fn is_same(a: &Step, b: &Step) -> bool {
    a.name == b.name && a.base == b.base
}

/// The blocks of `scf.if`.
fn branches<'c>(op: Op<'c>) -> [Option<BlockRef<'c, 'c>>; 2] {
    [0, 1].map(|n| ir::only_block(ir::region(op, n)))
}
