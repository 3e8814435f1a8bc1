//! Outputs that nothing uses go, and the components of the tuple that no output needs.
//!
//! ```mlir
//! func.func @largest(%v: tensor<8xf32>, %s: tensor<f32>, %m: tensor<f32>) -> tensor<f32> {
//!   %sum, %max = mdh.compute (k = 8)
//!     out_view(sum = %s[] : tensor<f32>, max = %m[] : tensor<f32>)
//!     md_hom((%x: f32) {
//!       mdh.yield %x, %x : f32, f32
//!     }, (pw(addf, maximumf)))
//!     inp_view(v = %v[k] : tensor<8xf32>)
//!   return %max : tensor<f32>
//! }
//! // becomes
//! func.func @largest(%v: tensor<8xf32>, %s: tensor<f32>, %m: tensor<f32>) -> tensor<f32> {
//!   %max = mdh.compute (k = 8)
//!     out_view(max = %m[] : tensor<f32>)
//!     md_hom(id, (pw(maximumf)))
//!     inp_view(v = %v[k] : tensor<8xf32>)
//!   return %max : tensor<f32>
//! }
//! ```
//!
//! A component goes only where the others do not depend on it: where nothing is combined, or by
//! built-in operators. A user's operator works on the whole tuple.

use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::parts::{CombinePart, Operators, Parts, combine_part};
use mdh_dialect::types::BufferKind;
use melior::ir::Attribute;
use mlir_sys::MlirRewriterBase;

use crate::support::draft::{self, Draft, Rewriter};
use crate::support::region;

/// Destinations whose results nothing uses.
pub fn drop_unused(op: Op, rewriter: MlirRewriterBase) -> bool {
    let Some(mut parts) = draft::parts(op) else {
        return false;
    };
    let results = draft::results(op);
    let numbers = draft::result_numbers(&parts);
    let is_used = |n: &Option<usize>| n.is_none_or(|n| ir::has_uses(results[n]));
    let used: Vec<bool> = numbers.iter().map(is_used).collect();
    let all_used = |range: std::ops::Range<usize>| used[range].iter().any(|u| *u);
    // An operation of which nothing is used goes as a whole.
    if !all_used(0..used.len()) {
        return false;
    }
    let (mut kept, mut next) = (Vec::new(), parts.outputs.len());
    kept.extend((0..next).filter(|d| used[*d]));
    parts.outputs = kept.iter().map(|d| parts.outputs[*d].clone()).collect();
    for carry in &mut parts.carries {
        let range = next..next + carry.outgoing.len();
        next = range.end;
        if all_used(range.clone()) {
            kept.extend(range);
        } else {
            carry.outgoing.clear();
        }
    }
    if kept.len() == used.len() {
        return false;
    }
    let old: Vec<usize> = kept.iter().filter_map(|d| numbers[*d]).collect();
    let gone = destinations(op);
    Draft::new(op, parts).commit(Rewriter::Pattern(rewriter), |new| {
        let mut values = gone;
        for (result, number) in draft::results(new).into_iter().zip(old) {
            values[number] = result;
        }
        values
    })
}

/// For each result the destination, which has its type.
fn destinations(op: Op) -> Vec<Val> {
    let parts = draft::parts(op);
    let parts = parts.iter().flat_map(Parts::destinations);
    parts
        .filter(|b| draft::is_kind(b, BufferKind::Tensor))
        .map(|b| b.value)
        .collect()
}

/// Components that no destination needs.
pub fn drop_components(op: Op, rewriter: MlirRewriterBase) -> bool {
    let (Some(mut parts), Some(block)) = (draft::parts(op), ir::only_block(ir::region(op, 0)))
    else {
        return false;
    };
    let components = region::yields(block).len();
    let stored = |c: &usize| parts.outputs.iter().any(|b| b.components.contains(c));
    let is_carried_out = parts.carries.iter().any(|c| !c.outgoing.is_empty());
    let used: Vec<usize> = (0..components).filter(stored).collect();
    if used.len() == components || used.is_empty() || is_carried_out {
        return false;
    }
    let combine = parts
        .combine
        .iter()
        .map(|c| without(op, *c, &used))
        .collect::<Option<_>>();
    let Some(combine) = combine else {
        return false;
    };
    parts.combine = combine;
    for component in parts.outputs.iter_mut().flat_map(|b| &mut b.components) {
        *component = used
            .iter()
            .position(|k| k == component)
            .unwrap_or(*component);
    }
    for carry in &mut parts.carries {
        carry.incoming = used.iter().map(|k| carry.incoming[*k].clone()).collect();
    }
    let draft = Draft::new(op, parts);
    let block = region::block(&draft.scalar);
    let values = region::yields(block);
    region::set_yields(block, &used.iter().map(|k| values[*k]).collect::<Vec<_>>());
    draft.commit_same(Rewriter::Pattern(rewriter))
}

/// A combine operator on the kept components; `None` where they depend on others.
fn without<'c>(op: Op<'c>, combine: Attribute<'c>, kept: &[usize]) -> Option<Attribute<'c>> {
    match combine_part(combine).ok()? {
        CombinePart::Cc => Some(combine),
        CombinePart::Fold(_, Operators::Builtin(names)) => {
            let names = kept.iter().map(|k| names.get(*k).map(String::as_str));
            let names = names.collect::<Option<Vec<&str>>>()?.join(", ");
            let text = format!("#{}<{names}>", ir::class_of(combine).0);
            Attribute::parse(ir::context_of(op), &text)
        }
        CombinePart::Fold(..) => None,
    }
}
