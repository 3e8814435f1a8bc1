//! Extents that have to fit: all axes that one loop indexes have the same number of indices.
//!
//! A computation has the extents of one of them. That the others fit is asserted, unless it is seen in
//! the program, as it is where operations are chained.

use mdh_algebra::affine::Expr;
use mdh_dialect::ir;

use super::structured::Structured;
use crate::builder::Builder;
use crate::extents;

/// Asserts before an operation what is not seen to fit.
pub fn assert_fit(of: &Structured) {
    let mut builder = Builder::before(of.op);
    for d in 0..of.rank {
        let mut axes = Vec::new();
        for (n, operand) in of.operands().enumerate() {
            let own = operand
                .map
                .iter()
                .enumerate()
                .filter(|(_, e)| **e == Expr::Dim(d));
            axes.extend(own.map(|(axis, _)| (n, operand.value, axis)));
        }
        let Some(&(first, whole, at)) = axes.first() else {
            continue;
        };
        for &(n, value, axis) in &axes[1..] {
            if extents::of_axis(value, axis) == extents::of_axis(whole, at) {
                continue;
            }
            let (own, other) = (builder.dim(whole, at), builder.dim(value, axis));
            let fits = builder.compare("eq", own, other);
            builder.assert(
                fits,
                &format!(
                    "'{}' op has operands of extents that do not fit: loop {d} runs over axis {at} of \
                     operand {first} and axis {axis} of operand {n}: expected the same number of indices",
                    ir::name_of(of.op)
                ),
            );
        }
    }
}
