//! Conditions on indices that narrow no loop.

use super::{Cause, Warning, name};
use mdh_algebra::computation::Computation;
use mdh_algebra::support::{Left, Support};

/// The warning of a condition on indices that loops visit all points for.
pub(super) fn warning(computation: &Computation) -> Option<Warning> {
    let operator = computation.operator()?;
    let left = Support::new(computation).left?;
    let neutral = operator.neutral(&computation.components);
    let advice = match (neutral.as_deref(), left) {
        (_, Left::Comparison) => {
            "only comparisons of sums of indices, each times a constant, bound them; \
             write it as such, `k <= 2 * i + 1` for `k / 2 <= i`"
                .to_string()
        }
        (None, _) => format!(
            "{operator} has no neutral element; give it one (`neutral`), and choose that where the \
             comparison excludes a point"
        ),
        (Some(neutral), _) => {
            let values: Vec<String> = neutral.iter().map(|v| v.to_string()).collect();
            format!(
                "where it excludes a point, the result is not known to be the neutral element of \
                 {operator} ({}); choose that as the last step of the scalar function",
                values.join(", ")
            )
        }
    };
    let message = format!(
        "the computation of '{}' chooses a constant by a comparison of indices, but its loops visit \
         all points: {advice}",
        name(computation)
    );
    let cause = Cause::Conditions;
    Some(Warning { cause, message })
}
