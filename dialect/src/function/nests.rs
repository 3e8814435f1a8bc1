//! `linalg.generic` into the algebra's nests of loops, or into loops where no nest says what it does.

use mdh_algebra::affine::Expr;
use mdh_algebra::nest::{Licence, Nest, NestAccess};
use mdh_algebra::program::{NestOperands, Statement, ValueId};
use melior::ir::ValueLike;
use melior::ir::operation::OperationLike;

use super::translator::{Translator, Unknown};
use crate::code;
use crate::ir::{self, Op, Val};
use crate::loop_index;
use crate::marks;
use crate::structured::{Operand, Structured};
use crate::types::{self, BufferKind};

impl<'c> Translator<'c> {
    /// `linalg.generic`
    pub(super) fn generic(
        &mut self,
        op: Op<'c>,
        statements: &mut Vec<Statement>,
    ) -> Result<(), Unknown<'c>> {
        let unknown = |message| Unknown { op, message };
        let structured = Structured::read(op);
        let structured = structured.map_err(|rule| unknown(format!("cannot be read: {rule}")))?;
        if self.is_spelled_out(&structured) {
            return self.spelled_out(&structured, statements);
        }
        let nest = self.nest(&structured).map_err(unknown)?;
        self.put(op, statements, nest);
        Ok(())
    }

    fn nest(&mut self, structured: &Structured<'c>) -> Result<Statement, String> {
        let op = structured.op;
        let extracted = loop_index::extractions(structured.body, &structured.extents());
        let elements = extracted.iter().filter_map(|own| ir::result(own.op, 0));
        let elements: Vec<Val> = elements.collect();
        let count = structured.inputs.len();
        let (mut code, captured) = code::nest(ir::region(op, 0), count, &elements, "the body")
            .map_err(|errors| format!("cannot be evaluated: {}", errors.join("; ")))?;
        let accesses = |operands: &[Operand<'c>]| {
            let access = |operand: &Operand<'c>| {
                Ok(NestAccess::new(
                    element(operand.value)?,
                    operand.map.clone(),
                ))
            };
            operands
                .iter()
                .map(access)
                .collect::<Result<Vec<_>, String>>()
        };
        let (mut reads, outputs) = (
            accesses(&structured.inputs)?,
            accesses(&structured.outputs)?,
        );
        for value in &captured {
            reads.push(NestAccess::new(element(*value)?, Vec::new()));
        }
        for own in &extracted {
            let map = own.map.iter().map(inside).collect();
            reads.push(NestAccess {
                may_be_outside: own.is_conditional,
                ..NestAccess::new(element(own.tensor)?, map)
            });
        }
        // Linalg yields of the types of the outputs' elements.
        code.results = outputs.iter().map(|o| o.element).collect();
        let values = structured.inputs.iter().map(|input| input.value);
        let tensors = extracted.iter().map(|own| own.tensor);
        let read: Vec<Val> = values.chain(captured).chain(tensors).collect();
        let inputs = self.ids(&read)?;
        let destinations: Vec<Val> = structured.outputs.iter().map(|o| o.value).collect();
        let outs = self.ids(&destinations)?;
        let results = self.destinations(op, &destinations, &outs);
        Ok(Statement::Nest(Box::new(NestOperands {
            nest: Nest {
                dimensions: structured.rank,
                inputs: reads,
                outputs,
                code,
                licence: licence(self.instead.unwrap_or(op)),
            },
            inputs,
            outputs: outs,
            results,
        })))
    }

    /// The values after an operation on destinations: results for tensors, memrefs themselves.
    fn destinations(
        &mut self,
        op: Op<'c>,
        destinations: &[Val<'c>],
        ids: &[ValueId],
    ) -> Vec<ValueId> {
        let mut results = op.results().map(ir::value);
        let pairs = destinations.iter().zip(ids);
        let values: Vec<(Option<Val<'c>>, ValueId)> = pairs
            .map(|(value, id)| {
                let is_tensor = types::buffer_type(value.r#type())
                    .is_some_and(|t| t.kind == BufferKind::Tensor);
                (is_tensor.then(|| results.next()).flatten(), *id)
            })
            .collect();
        let define = |(result, id): (Option<Val<'c>>, ValueId)| match result {
            Some(result) => self.define(result),
            None => id,
        };
        values.into_iter().map(define).collect()
    }
}

/// An index that says nothing of how long its loop is.
fn inside(index: &Expr) -> Expr {
    match index {
        Expr::Dim(_) => Expr::Add(Box::new(index.clone()), Box::new(Expr::constant(0))),
        _ => index.clone(),
    }
}

/// The laws that the program grants to the operator of an operation.
fn licence(op: Op) -> Licence {
    match (marks::ASSOCIATIVE.is_on(op), marks::COMMUTATIVE.is_on(op)) {
        (false, _) => Licence::None,
        (true, false) => Licence::Associative,
        (true, true) => Licence::Commutative,
    }
}

fn element(value: Val) -> Result<mdh_algebra::scalar::ScalarType, String> {
    let ty = types::buffer_type(value.r#type());
    ty.map(|ty| ty.element).ok_or_else(|| {
        format!(
            "has an operand of type {}: expected numbers, tensors or memrefs of them",
            value.r#type()
        )
    })
}
