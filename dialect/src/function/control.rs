//! Loops and branches of a function into the algebra's.

use mdh_algebra::program::{Body, For, Forall, If, Index, Insertion, Statement, ValueId, While};
use mdh_algebra::scalar::{Scalar, ScalarType};
use melior::ir::operation::OperationLike;

use super::translator::{Translator, Unknown};
use crate::code::arguments;
use crate::ir::{self, Op, Val};
use crate::ops;

impl<'c> Translator<'c> {
    /// `scf.for`
    pub(super) fn for_loop(
        &mut self,
        op: Op<'c>,
        initial: Vec<ValueId>,
    ) -> Result<Statement, Unknown<'c>> {
        let here = |message: String| Unknown { op, message };
        let operands: Vec<Val<'c>> = op.operands().map(ir::value).collect();
        let block = ir::only_block(ir::region(op, 0));
        let (Some(block), [lower, upper, step, ..]) = (block, &operands[..]) else {
            return Err(here("has no body".into()));
        };
        if ir::attribute(op, "unsignedCmp").is_some() {
            return Err(here(
                "counts in unsigned numbers: expected signed ones".into(),
            ));
        }
        let [lower, upper, step] = [lower, upper, step].map(|bound| self.id(*bound).map_err(here));
        let (lower, upper, step) = (lower?, upper?, step?);
        let mut values = arguments(block).into_iter();
        let index = values.next().map(|index| self.define(index));
        let index = index.ok_or_else(|| here("has no index".into()))?;
        let carried = values.map(|value| self.carried(value)).collect();
        let body = self.body(op, 0)?;
        Ok(Statement::For(Box::new(For {
            lower,
            upper,
            step,
            index,
            initial,
            carried,
            body,
            results: self.results(op),
        })))
    }

    /// `scf.forall`
    pub(super) fn forall(&mut self, op: Op<'c>) -> Result<Statement, Unknown<'c>> {
        let here = |message: String| Unknown { op, message };
        let mut next = 0;
        let lower = self
            .numbers(op, "staticLowerBound", &mut next)
            .map_err(here)?;
        let upper = self
            .numbers(op, "staticUpperBound", &mut next)
            .map_err(here)?;
        let steps = self.numbers(op, "staticStep", &mut next).map_err(here)?;
        let shared: Vec<Val<'c>> = op.operands().skip(next).map(ir::value).collect();
        let shared = self.ids(&shared).map_err(here)?;
        let mut indices = self.block_arguments(op, 0);
        let arguments = indices.split_off(lower.len().min(indices.len()));
        let body = self.body(op, 0)?;
        let mut insertions = Vec::new();
        for inserted in ir::find_all(op, &[ops::tensor::PARALLEL_INSERT_SLICE]) {
            // Those of loops in the body are theirs.
            let is_own = ir::ancestors(inserted)
                .skip(1)
                .find(|o| ir::name_of(*o) == ops::scf::FORALL);
            if is_own.map(|o| o.to_raw().ptr) != Some(op.to_raw().ptr) {
                continue;
            }
            let there = |message: String| Unknown {
                op: inserted,
                message,
            };
            let values: Vec<Val<'c>> = inserted.operands().map(ir::value).collect();
            let (part, into) = match values[..] {
                [part, into, ..] => (part, into),
                _ => return Err(there("has too few operands".into())),
            };
            let slice = self.operands(inserted, into, part, 2).map_err(there)?;
            let into = self.id(into).map_err(there)?;
            let into = arguments.iter().position(|argument| *argument == into);
            insertions.push(Insertion {
                part: self.id(part).map_err(there)?,
                into: into.ok_or_else(|| there("inserts into what is not shared".into()))?,
                slice,
            });
        }
        Ok(Statement::Forall(Box::new(Forall {
            lower,
            upper,
            steps,
            indices,
            shared,
            arguments,
            body,
            insertions,
            results: self.results(op),
        })))
    }

    /// `scf.parallel`: in any order, but what reduces goes in the order in which upstream lowers it.
    pub(super) fn parallel(&mut self, op: Op<'c>) -> Result<Statement, Unknown<'c>> {
        let here = |message: String| Unknown { op, message };
        let operands: Vec<Val<'c>> = op.operands().map(ir::value).collect();
        let ids = self.ids(&operands).map_err(here)?;
        let indices = self.block_arguments(op, 0);
        let rank = indices.len();
        if op.result_count() > 0 {
            return self.reduction(op, &ids, &indices);
        }
        let bounds: Vec<Index> = ids.into_iter().map(Index::Value).collect();
        let mut bounds = bounds.chunks(rank.max(1)).map(<[Index]>::to_vec);
        let mut next = || bounds.next().unwrap_or_default();
        let (lower, upper, steps) = (next(), next(), next());
        Ok(Statement::Forall(Box::new(Forall {
            lower,
            upper,
            steps,
            indices,
            shared: Vec::new(),
            arguments: Vec::new(),
            body: self.body(op, 0)?,
            insertions: Vec::new(),
            results: Vec::new(),
        })))
    }

    /// `scf.parallel` that reduces: loops that carry what it does.
    fn reduction(
        &mut self,
        op: Op<'c>,
        ids: &[ValueId],
        indices: &[ValueId],
    ) -> Result<Statement, Unknown<'c>> {
        let here = |message: &str| Unknown {
            op,
            message: message.into(),
        };
        let (rank, count) = (indices.len(), op.result_count());
        let initial = ids.get(3 * rank..).filter(|own| own.len() == count);
        let initial = initial.ok_or_else(|| here("has other than one start for each result"))?;
        let inner = ir::only_block(ir::region(op, 0)).ok_or_else(|| here("has no body"))?;
        let last = ir::ops_of(inner).pop().ok_or_else(|| here("has no body"))?;
        // The first of the loops has its origin already, and the others stand before the body.
        for _ in 1..rank {
            self.origins.push(self.instead.unwrap_or(op));
        }
        let mut carried: Vec<Vec<ValueId>> = Vec::new();
        for _ in 0..rank {
            carried.push((0..count).map(|_| self.fresh()).collect());
        }
        let mut body = self.block(inner)?;
        for (n, before) in carried[rank - 1].iter().enumerate() {
            let block = ir::only_block(ir::region(last, n));
            let block = block.ok_or_else(|| here("reduces by no code"))?;
            let value = ir::operand(last, n).ok_or_else(|| here("reduces nothing"))?;
            let value = self.id(value).map_err(|message| here(&message))?;
            for (argument, id) in arguments(block).into_iter().zip([*before, value]) {
                self.name(argument, id);
            }
            let made = self.block(block)?;
            body.statements.extend(made.statements);
            body.yields.extend(made.yields);
        }
        let results = self.results(op);
        Ok(self.nested(ids, indices, (initial.to_vec(), carried, results), body))
    }

    /// Loops around a body, the outermost of which leaves the results.
    fn nested(
        &mut self,
        ids: &[ValueId],
        indices: &[ValueId],
        (initial, carried, results): (Vec<ValueId>, Vec<Vec<ValueId>>, Vec<ValueId>),
        mut body: Body,
    ) -> Statement {
        let rank = indices.len();
        let level = |n: usize, initial, body, results| {
            Statement::For(Box::new(For {
                lower: ids[n],
                upper: ids[rank + n],
                step: ids[2 * rank + n],
                index: indices[n],
                initial,
                carried: carried[n].clone(),
                body,
                results,
            }))
        };
        for n in (1..rank).rev() {
            let fresh: Vec<ValueId> = results.iter().map(|_| self.fresh()).collect();
            body = Body {
                statements: vec![level(n, carried[n - 1].clone(), body, fresh.clone())],
                yields: fresh,
            };
        }
        level(0, initial, body, results)
    }

    /// `scf.while`
    pub(super) fn while_loop(
        &mut self,
        op: Op<'c>,
        initial: Vec<ValueId>,
    ) -> Result<Statement, Unknown<'c>> {
        let before_carried = self.block_arguments(op, 0);
        let before = self.body(op, 0)?;
        let after_carried = self.block_arguments(op, 1);
        let after = self.body(op, 1)?;
        Ok(Statement::While(Box::new(While {
            initial,
            before_carried,
            before,
            after_carried,
            after,
            results: self.results(op),
        })))
    }

    fn block_arguments(&mut self, op: Op<'c>, region: usize) -> Vec<ValueId> {
        let block = ir::only_block(ir::region(op, region));
        let values = block.map_or(Vec::new(), arguments).into_iter();
        values.map(|value| self.carried(value)).collect()
    }

    /// `scf.if`
    pub(super) fn branch(&mut self, op: Op<'c>) -> Result<Statement, Unknown<'c>> {
        let here = |message: String| Unknown { op, message };
        let condition = op.operand(0).map_err(|_| here("has no condition".into()))?;
        let condition = self.id(ir::value(condition)).map_err(here)?;
        let branches = [self.body(op, 0)?, self.body(op, 1)?];
        Ok(Statement::If(Box::new(If {
            condition,
            branches,
            results: self.results(op),
        })))
    }

    /// `arith.select` of memory: a branch that yields one of two names.
    pub(super) fn selected(
        &mut self,
        op: Op<'c>,
        statements: &mut Vec<Statement>,
    ) -> Result<(), String> {
        let operands: Vec<Val<'c>> = op.operands().map(ir::value).collect();
        let [condition, choices @ ..] = &operands[..] else {
            return Err("has no condition".into());
        };
        let condition = self.id(*condition)?;
        let mut branches = [Body::default(), Body::default()];
        // A branch has its origin before those of what it holds.
        self.origins.push(self.instead.unwrap_or(op));
        for (body, memref) in branches.iter_mut().zip(choices) {
            body.yields = self.carrying(op, &[*memref], &mut body.statements)?;
        }
        statements.push(Statement::If(Box::new(If {
            condition,
            branches,
            results: self.results(op),
        })));
        Ok(())
    }

    /// `scf.index_switch`: branches, each in what the one before it does otherwise.
    pub(super) fn index_switch(
        &mut self,
        op: Op<'c>,
        statements: &mut Vec<Statement>,
    ) -> Result<(), Unknown<'c>> {
        let here = |message: String| Unknown { op, message };
        let flag = ir::operand(op, 0).ok_or_else(|| here("has no operand".into()))?;
        let flag = self.id(flag).map_err(here)?;
        let cases = ir::integers(op, "cases");
        let body = self.cases_from(op, flag, (&cases, 1))?;
        statements.extend(body.statements);
        let results: Vec<Val<'c>> = op.results().map(ir::value).collect();
        for (result, id) in results.into_iter().zip(body.yields) {
            self.name(result, id);
        }
        Ok(())
    }

    /// The cases from one on, the first of which has the region of that number; after all of them the first region.
    fn cases_from(
        &mut self,
        op: Op<'c>,
        flag: ValueId,
        (cases, region): (&[i64], usize),
    ) -> Result<Body, Unknown<'c>> {
        let [case, others @ ..] = cases else {
            return self.body(op, 0);
        };
        let mut body = Body::default();
        let case = Scalar::from_i64(ScalarType::Index, *case);
        let condition = self.is_case(op, (flag, case), &mut body.statements);
        self.origins.push(self.instead.unwrap_or(op));
        let branches = [
            self.body(op, region)?,
            self.cases_from(op, flag, (others, region + 1))?,
        ];
        let yields = branches[0].yields.clone();
        body.yields = yields.into_iter().map(|own| self.leaving(own)).collect();
        body.statements.push(Statement::If(Box::new(If {
            condition,
            branches,
            results: body.yields.clone(),
        })));
        Ok(body)
    }

    /// `scf.execute_region`
    pub(super) fn executed(
        &mut self,
        op: Op<'c>,
        statements: &mut Vec<Statement>,
    ) -> Result<(), Unknown<'c>> {
        let yields = self.blocks(op, ir::region(op, 0), statements)?;
        let results: Vec<Val<'c>> = op.results().map(ir::value).collect();
        for (result, id) in results.into_iter().zip(yields) {
            self.name(result, id);
        }
        Ok(())
    }

    /// A region of one block, or none.
    fn body(&mut self, op: Op<'c>, region: usize) -> Result<Body, Unknown<'c>> {
        match ir::only_block(ir::region(op, region)) {
            Some(block) => self.block(block),
            None => Ok(Body::default()),
        }
    }

    fn results(&mut self, op: Op<'c>) -> Vec<ValueId> {
        let results: Vec<Val<'c>> = op.results().map(ir::value).collect();
        results
            .into_iter()
            .map(|value| self.carried(value))
            .collect()
    }
}
