//! Reports of what was written in linalg: what has become a computation, and what has not.

use std::collections::BTreeMap;

use melior::Context;
use melior::ir::operation::OperationLike;
use melior::ir::{Module, TypeLike, ValueLike};

use mdh_dialect::ir::{self, Op};
use mdh_dialect::ops;
use mdh_passes::pipelines::Raise;

use crate::error::{Result, say};
use crate::{compile, remarks};

/// Runs a pass that raises, whose remarks are warnings here: what stays as it is runs as plain
/// loops, on one core.
pub fn run(context: &Context, pass: impl FnOnce() -> Result<()>) -> Result<()> {
    let (done, remarks) = remarks::taken(context, pass);
    for (location, message) in remarks {
        ir::warning_in(location, &message);
    }
    done
}

/// Raises a copy to look at, about which nothing is said; `None` where that fails.
pub fn silently<'c>(context: &Context, written: &Module<'c>) -> Option<Module<'c>> {
    let mut copy = compile::copy(written);
    let handler = context.attach_diagnostic_handler(|_| true);
    let raised = compile::raise(context, &mut copy, Raise::On);
    context.detach_diagnostic_handler(handler);
    raised.ok().map(|()| copy)
}

/// Returns whether a module has something to raise.
pub fn is_needed(module: Op) -> bool {
    let is_elementwise = |op: &Op| {
        let name = ir::name_of(*op);
        let is_scalar_code = name.starts_with("arith.") || name.starts_with("math.");
        let mut results = op.results().map(|r| ir::value(r).r#type());
        is_scalar_code && name != ops::arith::CONSTANT && results.any(|ty| ty.is_ranked_tensor())
    };
    let ops = ir::all(module);
    ops.iter()
        .any(|op| ir::name_of(*op).starts_with("linalg.") || is_elementwise(op))
}

/// The number of operations of linalg of each name.
fn counts<'c>(module: Op<'c>) -> BTreeMap<&'c str, usize> {
    let mut counts = BTreeMap::new();
    for op in ir::all(module) {
        let name = ir::name_of(op);
        let is_inside = [ops::linalg::YIELD, ops::linalg::INDEX].contains(&name);
        if name.starts_with("linalg.") && !is_inside {
            *counts.entry(name).or_default() += 1;
        }
    }
    counts
}

/// Says which operations of linalg have become computations.
pub fn report(written: Op, raised: Op) {
    let after = counts(raised);
    let gone = counts(written).into_iter().filter_map(|(name, count)| {
        let left = after.get(name).copied().unwrap_or_default();
        let gone = count.saturating_sub(left);
        (gone > 0).then_some((name, gone))
    });
    let gone: Vec<(&str, usize)> = gone.collect();
    let total = gone.iter().map(|(_, count)| count).sum();
    let texts: Vec<String> = gone
        .iter()
        .map(|(name, count)| format!("{count} {name}"))
        .collect();
    if total > 0 {
        let what = ir::count(total, "operation of linalg");
        say(&format!(
            "note: {what} raised to computations: {}\n",
            texts.join(", ")
        ));
    }
}
