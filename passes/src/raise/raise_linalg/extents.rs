//! Extents that have to fit: all axes that one loop indexes have the same number of indices.
//!
//! A computation has the extents of one of them. That the others fit is asserted, unless it is seen in
//! the program, as it is where operations are chained.

use mdh_algebra::affine::Expr;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::structured::Structured;

use crate::support::builder::Builder;
use crate::support::extents::{self, Extent};
use crate::support::region;

/// The words by which an assertion of this file is known.
const WORDS: &str = "' op has operands of extents that do not fit: loop ";

/// An axis of an operand, by its number.
type IndexedAxis<'c> = (usize, Val<'c>, usize);

/// A loop with the first axis that it indexes, and another one that is not seen to be as long.
type OpenLoop<'c> = (usize, IndexedAxis<'c>, IndexedAxis<'c>);

/// The axes that loops alone index.
fn axes<'c>(of: &Structured<'c>, d: usize) -> Vec<IndexedAxis<'c>> {
    let mut axes = Vec::new();
    for (n, operand) in of.operands().enumerate() {
        let axes_of_dim = operand.map.iter().enumerate();
        let axes_of_dim = axes_of_dim.filter(|(_, e)| **e == Expr::Dim(d));
        axes.extend(axes_of_dim.map(|(axis, _)| (n, operand.value, axis)));
    }
    axes
}

fn extent<'c>((_, value, axis): IndexedAxis<'c>) -> Extent<'c> {
    extents::of_axis(value, axis)
}

/// Loops of which not all axes are seen to be as long.
fn open<'c>(of: &Structured<'c>) -> Vec<OpenLoop<'c>> {
    let mut extents = Vec::new();
    for d in 0..of.rank {
        let axes = axes(of, d);
        let Some(first) = axes.first().copied() else {
            continue;
        };
        let different = axes.into_iter().filter(|own| extent(*own) != extent(first));
        extents.extend(different.map(|other| (d, first, other)));
    }
    extents
}

/// Returns whether a computation does not say by itself that all extents fit.
pub fn are_open(of: &Structured) -> bool {
    !open(of).is_empty()
}

/// Loops over the axes of an operation's first operand and of its second one, where these are not seen to be
/// as long.
pub fn open_between<'c>(op: Op<'c>, rank: usize) -> Vec<OpenLoop<'c>> {
    let [Some(a), Some(b)] = [0, 1].map(|n| ir::operand(op, n)) else {
        return Vec::new();
    };
    let both = (0..rank).map(|d| (d, (0, a, d), (1, b, d)));
    both.filter(|(_, a, b)| extent(*a) != extent(*b)).collect()
}

/// Asserts before an operation what is not seen to fit.
pub fn assert_fit(of: &Structured) {
    assert_each(of.op, open(of));
}

/// Asserts before an operation that axes of its operands are as long as others.
pub fn assert_each<'c>(op: Op<'c>, open: Vec<OpenLoop<'c>>) {
    let mut builder = Builder::before(op);
    for (d, (first, whole, at), (n, value, axis)) in open {
        let (own, other) = (builder.dim(whole, at), builder.dim(value, axis));
        let fits = builder.compare("eq", own, other);
        builder.assert(
            fits,
            &format!(
                "'{}{WORDS}{d} runs over axis {at} of operand {first} and axis {axis} of operand {n}: \
                 expected the same number of indices",
                ir::name_of(op)
            ),
        );
    }
}

/// Takes out assertions before an operation that it says itself: they come back where it is raised.
pub fn erase_assertions(op: Op) {
    let Ok(of) = Structured::read(op) else {
        return;
    };
    let loops = (0..of.rank).map(|d| axes(&of, d).into_iter().map(extent));
    let loops: Vec<Vec<Extent>> = loops.map(Iterator::collect).collect();
    let before = std::iter::successors(ir::previous(op), |op| ir::previous(*op));
    let before: Vec<Op> = before.collect();
    let mut unused = Vec::new();
    for assertion in before {
        let text = ir::attribute(assertion, "msg").and_then(ir::text);
        if ir::name_of(assertion) != ops::cf::ASSERT || !text.is_some_and(|t| t.contains(WORDS)) {
            continue;
        }
        let compared = ir::operand(assertion, 0).and_then(ir::defining_op);
        let sides = compared.map(|by| [0, 1].map(|n| ir::operand(by, n)));
        let Some([Some(a), Some(b)]) = sides else {
            continue;
        };
        let both = [a, b].map(extents::of_value);
        if (loops.iter()).any(|own| both.iter().all(|side| own.contains(side))) {
            unused.extend(ir::operand(assertion, 0));
            region::erase(assertion);
        }
    }
    region::erase_unused(unused);
}
