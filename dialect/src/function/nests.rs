//! `linalg.generic` into the algebra's nests of loops.

use mdh_algebra::affine::Expr;
use mdh_algebra::nest::{Licence, Nest, NestAccess};
use mdh_algebra::program::{NestOperands, Statement, ValueId};
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, ValueLike};

use super::Translator;
use crate::code;
use crate::index_function;
use crate::ir::{self, Op, Val};
use crate::loop_index;
use crate::marks;
use crate::types::{self, BufferKind};

impl<'c> Translator<'c> {
    /// `linalg.generic`
    pub(super) fn generic(
        &mut self,
        op: Op<'c>,
        operands: &[Val<'c>],
    ) -> Result<Statement, String> {
        let counts = ir::integers(op, "operandSegmentSizes");
        let inputs = counts.first().map_or(0, |count| *count as usize);
        let maps = ir::array(op, "indexing_maps");
        if maps.len() != operands.len() || inputs > operands.len() {
            return Err(format!(
                "has {} indexing maps for {} operands: expected one each",
                maps.len(),
                operands.len()
            ));
        }
        let extents = loop_index::extents(&maps, operands).unwrap_or_default();
        let block = ir::only_block(ir::region(op, 0)).ok_or("has no body of one block")?;
        let extracted = loop_index::extractions(block, &extents);
        let elements = extracted.iter().filter_map(|own| ir::result(own.op, 0));
        let elements: Vec<Val> = elements.collect();
        let (mut code, captured) = code::nest(ir::region(op, 0), inputs, &elements, "the body")
            .map_err(|errors| format!("cannot be evaluated: {}", errors.join("; ")))?;
        let mut accesses = Vec::new();
        for (value, map) in operands.iter().zip(&maps) {
            accesses.push(access(*value, *map)?);
        }
        let outputs = accesses.split_off(inputs);
        for value in &captured {
            accesses.push(NestAccess::new(element(*value)?, Vec::new()));
        }
        for own in &extracted {
            let map = own.map.iter().map(inside).collect();
            accesses.push(NestAccess {
                may_be_outside: own.is_conditional,
                ..NestAccess::new(element(own.tensor)?, map)
            });
        }
        // Linalg yields of the types of the outputs' elements.
        code.results = outputs.iter().map(|o| o.element).collect();
        let mut inputs = self.ids(&operands[..inputs])?;
        let outs = self.ids(&operands[inputs.len()..])?;
        inputs.extend(self.ids(&captured)?);
        let tensors: Vec<Val> = extracted.iter().map(|own| own.tensor).collect();
        inputs.extend(self.ids(&tensors)?);
        let results = self.destinations(op, &operands[operands.len() - outs.len()..], &outs);
        Ok(Statement::Nest(Box::new(NestOperands {
            nest: Nest {
                dimensions: maps.first().map_or(0, |m| index_function::num_dims(*m)),
                inputs: accesses,
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

fn access(value: Val, map: Attribute) -> Result<NestAccess, String> {
    let element = element(value)?;
    let exprs = index_function::from_map(map).ok_or_else(|| {
        format!(
            "has the indexing map {map}, which the oracle does not read: expected one of dimensions \
             and constants only"
        )
    })?;
    Ok(NestAccess::new(element, exprs))
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
