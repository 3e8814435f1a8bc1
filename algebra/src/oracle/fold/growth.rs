//! Associations that combine growing values with each other.
//!
//! A partial combination may overflow though the whole is small: `300 * 300 * 0` is 0 or, in `f16`,
//! NaN. Only few orders may do so, which random ones seldom are. Of a product or sum, these ones do
//! if any does: with each tuple, the combination so far that is the largest (or the smallest, most
//! above or most below 0) takes it in, leaves it to the rest or gives way to it, whichever makes it
//! more so. Where the order matters, it leaves nothing out; this is then Kadane's algorithm
//! (Bentley, Programming Pearls, CACM 27(9), 1984).
//!
//! They are associations like all others: what overflows in none of them keeps its bound.

use super::{Fold, run_user};
use crate::machine::{EvalError, Noise};
use crate::operator::{Operator, UserOperator};
use crate::scalar::{Scalar, ScalarType};

/// A bound that is maximised: that of one component.
#[derive(Clone, Copy, Debug)]
pub(super) struct Growth {
    component: usize,
    measure: fn(f64) -> f64,
}

impl Growth {
    /// Bounds to maximise of an operator that rounds, and so may overflow.
    pub(super) fn all(operator: Option<&Operator>, types: &[ScalarType]) -> Vec<Growth> {
        let measures: [fn(f64) -> f64; 4] = [f64::abs, |x| -x.abs(), |x| x, |x| -x];
        let growths = |component| measures.map(|measure| Growth { component, measure });
        match operator {
            Some(Operator::User(user)) if user.code.rounds() => {
                let floats = (0..types.len()).filter(|n| types[*n].is_float());
                floats.flat_map(growths).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Nothing is larger than what is not a number any more.
    fn size(&self, tuple: &[Scalar]) -> f64 {
        let size = (self.measure)(tuple[self.component].as_f64());
        if size.is_nan() { f64::INFINITY } else { size }
    }
}

impl Fold<'_> {
    /// Combines the topmost tuple of a stack with those below it, the rest and the largest, of
    /// which there are two again then; fails where the operator does.
    pub(super) fn grow(
        &mut self,
        user: &UserOperator,
        (growth, stack): (usize, &mut Vec<Scalar>),
    ) -> Result<(), EvalError> {
        let n = self.types.len();
        let measured = self.growths[growth];
        let Some(at) = stack.len().checked_sub(2 * n) else {
            return Ok(());
        };
        let combined = self.combine(user, growth, &stack[at..]);
        if combined.is_err() {
            stack.truncate(at + n);
            return combined;
        }
        let (largest, next) = stack[at..].split_at(n);
        let [both, largest, next] = [&self.result[..], largest, next].map(|t| measured.size(t));
        if both >= next && (both >= largest || !user.commutative) {
            stack.truncate(at + n);
            stack[at..].copy_from_slice(&self.result);
            return Ok(());
        }
        if user.commutative && largest >= next {
            stack[at..].rotate_left(n);
        }
        if at > 0 {
            let combined = self.combine(user, growth, &stack[..2 * n]);
            stack.drain(..n);
            combined?;
            stack[..n].copy_from_slice(&self.result);
        }
        Ok(())
    }

    /// The whole combination, of which a stack holds the rest and the largest.
    pub(super) fn grown(
        &mut self,
        user: &UserOperator,
        (growth, stack): (usize, &[Scalar]),
    ) -> Result<Vec<Scalar>, EvalError> {
        if stack.len() > self.types.len() {
            self.combine(user, growth, stack)?;
            return Ok(self.result.clone());
        }
        Ok(stack.to_vec())
    }

    /// `result = f(left, right)` of both, end to end, in the world of a growth.
    fn combine(
        &mut self,
        user: &UserOperator,
        growth: usize,
        both: &[Scalar],
    ) -> Result<(), EvalError> {
        let world = self.associations + growth;
        self.noisy.set_noise(Some(Noise::Library(world as u64)));
        let (left, right) = both.split_at(self.types.len());
        run_user(
            &mut self.noisy,
            user,
            left,
            right,
            &mut self.result,
            &mut self.arguments,
        )
    }
}
