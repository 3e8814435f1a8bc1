//! Layouts of numbers, or of the answers of the same layout, are folded.
//!
//! ```mlir
//! func.func @back(%p: index) -> (index, index) {
//!   %i:2 = mdh.layout.inv #mdh.layout<GenP([8,8],hilbert)>[%p] : index, index
//!   %q = mdh.layout.apply #mdh.layout<GenP([8,8],hilbert)>[%i#0, %i#1]
//!   %c9 = arith.constant 9 : index
//!   %j:2 = mdh.layout.inv #mdh.layout<GenP([8,8],reverse)>[%c9] : index, index
//!   return %q, %j#1 : index, index
//! }
//! // becomes
//! func.func @back(%p: index) -> (index, index) {
//!   %c6 = arith.constant 6 : index
//!   return %p, %c6 : index, index
//! }
//! ```
//!
//! ```text
//! apply(inv(p)) = p      inv(apply(i)) = i
//! ```

use mdh_algebra::index::Name;
use mdh_algebra::scalar::{Scalar, ScalarType};
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::layout::{self, Question};
use mdh_dialect::ops;
use mdh_dialect::types;
use melior::ir::operation::{OperationBuilder, OperationLike};
use melior::ir::{Identifier, Type, ValueLike};
use mlir_sys::MlirRewriterBase;

use crate::support::builder::known;
use crate::support::draft::Rewriter;

/// The pattern.
pub fn fold(op: Op, rewriter: MlirRewriterBase) -> bool {
    let Ok(question) = layout::read(op) else {
        return false;
    };
    let rewriter = Rewriter::Pattern(rewriter);
    if let Some(asked_before) = back(&question) {
        rewriter.replace(op, &asked_before);
        return true;
    }
    let Some(numbers) = numbers(&question) else {
        return false;
    };
    let numbers: Vec<Val> = numbers.iter().map(|n| constant(op, *n, rewriter)).collect();
    rewriter.replace(op, &numbers);
    true
}

/// Returns the operands of the same layout's inverse question that the operands are results of.
fn back<'c>(question: &Question<'c>) -> Option<Vec<Val<'c>>> {
    let before = ir::defining_op(*question.operands.first()?)?;
    if !layout::OPERATIONS.contains(&ir::name_of(before)) {
        return None;
    }
    let results: Vec<Val> = before.results().map(ir::value).collect();
    let asked = layout::read(before).ok()?;
    let is_all = same(&results, &question.operands);
    let value = |of: &Question<'c>, name: &Name| {
        let size = of.sizes.iter().find(|(n, _)| n == name);
        size.map(|(_, value)| *value)
    };
    let mut sizes = question.sizes.iter();
    let is_it = asked.asked != question.asked
        && asked.layout == question.layout
        && sizes.all(|(name, size)| value(&asked, name).is_some_and(|v| same(&[v], &[*size])));
    (is_all && is_it).then_some(asked.operands)
}

fn same(some: &[Val], others: &[Val]) -> bool {
    let raw = |values: &[Val]| -> Vec<*const std::ffi::c_void> {
        values.iter().map(|v| v.to_raw().ptr).collect()
    };
    raw(some) == raw(others)
}

/// The answer to a question of numbers. A question that has no answer keeps its place.
fn numbers(question: &Question) -> Option<Vec<i64>> {
    let operands = question.operands.iter().map(|v| known(*v));
    let operands: Vec<i64> = operands.collect::<Option<_>>()?;
    let sizes = question.sizes.iter();
    let sizes = sizes.map(|(name, value)| Some((name.clone(), known(*value)?)));
    let sizes: Vec<(Name, i64)> = sizes.collect::<Option<_>>()?;
    let bound = question.layout.of_sizes(&sizes).ok()?;
    question.asked.answer(&bound, &operands).ok()
}

fn constant<'c>(op: Op<'c>, number: i64, rewriter: Rewriter) -> Val<'c> {
    let context = ir::context_of(op);
    let value = types::attribute(context, Scalar::from_i64(ScalarType::Index, number));
    let constant = OperationBuilder::new(ops::arith::CONSTANT, op.location())
        .add_results(&[Type::index(context)])
        .add_attributes(&[(Identifier::new(context, "value"), value)])
        .build()
        .unwrap_or_else(|error| panic!("a constant is built: {error}"));
    let constant = rewriter.insert(constant, op);
    let result = constant.result(0);
    ir::value(result.unwrap_or_else(|error| panic!("a constant has a result: {error}")))
}
