//! Combining tuples from left to right, with the error bounds of every kind of operator.

mod growth;
mod scan;

use super::element::{Element, Errors, distance};
use super::failure::Failure;
use super::partial::Partial;
use crate::laws::Observed;
use crate::machine::{EvalError, Machine, Noise};
use crate::operator::{Operator, UserOperator};
use crate::random::Random;
use crate::scalar::{Scalar, ScalarType};
use growth::Growth;

/// Random associations that a user's operator is evaluated in (spec: four times their spread).
const ASSOCIATIONS: usize = 16;
const SPREAD: f64 = 4.0;

/// The combination of some tuples.
#[derive(Clone, Debug)]
pub(super) enum State {
    /// Of none.
    Absent,
    /// Of one, where nothing is ever combined.
    Single(Vec<Element>),
    /// By built-in operators.
    Builtin(Vec<Partial>),
    /// By a user's operator.
    User(Box<UserState>),
}

#[derive(Clone, Debug)]
pub(super) struct UserState {
    value: Vec<Scalar>,
    /// The same in random associations: of each one a stack of partial tuples, laid end to end.
    shadows: Vec<Vec<Scalar>>,
    /// The same in associations that keep together what grows: of each one the combination of what
    /// it leaves out, if any, and the one that grows.
    grown: Vec<Vec<Scalar>>,
    /// Number of combined tuples.
    tuples: usize,
    /// Some element has no right value, or an association failed.
    uncertain: bool,
    /// Some element is so large that a few of them may overflow.
    huge: bool,
    /// All elements are finite.
    finite: bool,
    /// The last two tuples that were combined, of which the first may be a combination: as long as laws
    /// are tested.
    last: Option<Box<[Vec<Scalar>; 2]>>,
}

pub(super) struct Fold<'a> {
    operator: Option<&'a Operator>,
    types: &'a [ScalarType],
    errors: Errors,
    associations: usize,
    growths: Vec<Growth>,
    /// The operator's laws on what is combined; nothing where errors are ignored.
    laws: Option<Observed<'a>>,
    machine: Machine,
    noisy: Machine,
    random: Random,
    arguments: Vec<Scalar>,
    values: Vec<Scalar>,
    result: Vec<Scalar>,
}

impl<'a> Fold<'a> {
    pub(super) fn new(
        operator: Option<&'a Operator>,
        types: &'a [ScalarType],
        errors: Errors,
    ) -> Self {
        let user = matches!(operator, Some(Operator::User(_)));
        let floats = types.iter().any(|ty| ty.is_float());
        let (associations, growths) = if user && floats && errors != Errors::Ignored {
            (ASSOCIATIONS, Growth::all(operator, types))
        } else {
            (0, Vec::new())
        };
        Fold {
            operator,
            types,
            errors,
            associations,
            growths,
            laws: Observed::new(operator.filter(|_| errors != Errors::Ignored)),
            machine: Machine::new(),
            noisy: Machine::new(),
            random: Random::new(0),
            arguments: Vec::new(),
            values: Vec::new(),
            result: types.iter().copied().map(Scalar::zero).collect(),
        }
    }

    /// `state = f(state, tuple)`.
    ///
    /// `worlds` holds the tuple in each world, end to end, or nothing if it is always the same.
    pub(super) fn push(
        &mut self,
        state: &mut State,
        tuple: &[Element],
        worlds: &[Scalar],
    ) -> Result<(), Failure> {
        match (self.operator, &mut *state) {
            (None, _) => *state = State::Single(tuple.to_vec()),
            (Some(Operator::Builtin(ops)), State::Builtin(partials)) => {
                for ((partial, op), element) in partials.iter_mut().zip(ops).zip(tuple) {
                    partial.combine(*op, &Partial::leaf(*op, *element));
                }
            }
            (Some(Operator::Builtin(ops)), _) => {
                let leaves = ops.iter().zip(tuple).map(|(op, e)| Partial::leaf(*op, *e));
                *state = State::Builtin(leaves.collect());
            }
            (Some(Operator::User(user)), State::User(old)) => {
                let mut values = std::mem::take(&mut self.values);
                values.clear();
                values.extend(tuple.iter().map(|e| e.value));
                let tested = self.test(&mut old.last, &old.value, &values);
                let applied = tested.and_then(|()| self.apply(user, &mut old.value, &values));
                self.values = values;
                applied?;
                old.tuples += 1;
                old.uncertain |= self.is_uncertain(tuple);
                old.huge |= is_huge(tuple);
                old.finite &= is_finite(tuple.iter().map(|e| e.value));
                self.push_shadows(user, old, tuple, worlds);
            }
            (Some(Operator::User(_)), _) => *state = self.user_leaf(tuple, worlds),
        }
        Ok(())
    }

    fn user_leaf(&self, tuple: &[Element], worlds: &[Scalar]) -> State {
        let mut shadows = vec![Vec::new(); self.associations];
        for (world, shadow) in shadows.iter_mut().enumerate() {
            extend(shadow, tuple, worlds, world);
        }
        let mut grown = vec![Vec::new(); self.growths.len()];
        for (growth, stack) in grown.iter_mut().enumerate() {
            extend(stack, tuple, worlds, self.associations + growth);
        }
        State::User(Box::new(UserState {
            value: tuple.iter().map(|e| e.value).collect(),
            shadows,
            grown,
            tuples: 1,
            uncertain: self.is_uncertain(tuple),
            huge: is_huge(tuple),
            finite: is_finite(tuple.iter().map(|e| e.value)),
            last: None,
        }))
    }

    /// Tests the laws on the last two tuples and the next one, before `value` is combined with that.
    fn test(
        &mut self,
        last: &mut Option<Box<[Vec<Scalar>; 2]>>,
        value: &[Scalar],
        next: &[Scalar],
    ) -> Result<(), Failure> {
        let Some(laws) = self.laws.as_mut().filter(|laws| laws.is_open()) else {
            *last = None;
            return Ok(());
        };
        let broken = last
            .as_ref()
            .and_then(|last| laws.triple([&last[0], &last[1], next]));
        *last = Some(Box::new([value.to_vec(), next.to_vec()]));
        broken.map_or(Ok(()), |law| Err(Failure::Law(Box::new(law))))
    }

    /// Without shadows, errors of elements cannot be followed.
    fn is_uncertain(&self, tuple: &[Element]) -> bool {
        let lost = |e: &Element| e.is_arbitrary() || (e.error > 0.0 && self.associations == 0);
        tuple.iter().any(lost)
    }

    /// Returns the number of worlds in which tuples are needed.
    pub(super) fn worlds(&self) -> usize {
        self.associations + self.growths.len()
    }

    /// `left = f(left, right)` in the operator's own types.
    fn apply(
        &mut self,
        user: &UserOperator,
        left: &mut [Scalar],
        right: &[Scalar],
    ) -> Result<(), Failure> {
        let run = run_user(
            &mut self.machine,
            user,
            left,
            right,
            &mut self.result,
            &mut self.arguments,
        );
        run.map_err(|error| Failure::Code {
            place: format!("operator '{}'", user.name),
            error,
        })?;
        left.copy_from_slice(&self.result);
        Ok(())
    }

    /// Puts the tuple on each stack, then combines some of the topmost at random. Commutative
    /// operators also combine in random order.
    fn push_shadows(
        &mut self,
        user: &UserOperator,
        state: &mut UserState,
        tuple: &[Element],
        worlds: &[Scalar],
    ) {
        for shadow in 0..state.shadows.len() {
            extend(&mut state.shadows[shadow], tuple, worlds, shadow);
            // The first ones combine less often: their trees are bushier.
            let chance = 50 + 10 * (shadow as u64 % 6);
            while state.shadows[shadow].len() > tuple.len() && self.random.below(100) < chance {
                self.merge(user, state, shadow);
            }
        }
        for (growth, stack) in state.grown.iter_mut().enumerate() {
            extend(stack, tuple, worlds, self.associations + growth);
            state.uncertain |= self.grow(user, (growth, stack)).is_err();
        }
    }

    /// Replaces the two topmost tuples of a stack by their combination.
    fn merge(&mut self, user: &UserOperator, state: &mut UserState, shadow: usize) {
        let n = self.types.len();
        let stack = &mut state.shadows[shadow];
        let depth = stack.len() / n;
        if user.commutative {
            let other = self.random.below(depth as u64) as usize;
            for k in 0..n {
                stack.swap((depth - 1) * n + k, other * n + k);
            }
        }
        let (below, right) = stack.split_at((depth - 1) * n);
        let left = &below[(depth - 2) * n..];
        self.noisy.set_noise(Some(Noise::Library(shadow as u64)));
        let run = run_user(
            &mut self.noisy,
            user,
            left,
            right,
            &mut self.result,
            &mut self.arguments,
        );
        state.uncertain |= run.is_err();
        stack.truncate((depth - 1) * n);
        stack[(depth - 2) * n..].copy_from_slice(&self.result);
    }

    /// Leaves one tuple on each stack.
    fn settle(&mut self, user: &UserOperator, state: &mut UserState) {
        for shadow in 0..state.shadows.len() {
            while state.shadows[shadow].len() > self.types.len() {
                self.merge(user, state, shadow);
            }
        }
    }

    /// `right = f(left, right)`; a side that does not exist is left out.
    pub(super) fn join(&mut self, left: &State, right: &mut State) -> Result<(), Failure> {
        match (self.operator, left, &mut *right) {
            (_, State::Absent, _) => {}
            (_, left, State::Absent) => *right = left.clone(),
            (Some(Operator::Builtin(ops)), State::Builtin(a), State::Builtin(b)) => {
                for ((b, a), op) in b.iter_mut().zip(a).zip(ops) {
                    let mut joined = *a;
                    joined.combine(*op, b);
                    *b = joined;
                }
            }
            (Some(Operator::User(user)), State::User(a), State::User(b)) => {
                let mut joined = a.clone();
                self.apply(user, &mut joined.value, &b.value)?;
                self.settle(user, &mut joined);
                self.settle(user, b);
                for (shadow, other) in joined.shadows.iter_mut().zip(&b.shadows) {
                    shadow.extend_from_slice(other);
                }
                for (growth, (stack, others)) in joined.grown.iter_mut().zip(&b.grown).enumerate() {
                    for tuple in others.chunks(self.types.len()) {
                        stack.extend_from_slice(tuple);
                        joined.uncertain |= self.grow(user, (growth, stack)).is_err();
                    }
                }
                joined.tuples += b.tuples;
                joined.uncertain |= b.uncertain;
                joined.huge |= b.huge;
                joined.finite &= b.finite;
                self.settle(user, &mut joined);
                **b = *joined;
            }
            _ => {}
        }
        Ok(())
    }

    /// `states[i] = f(states[0], .., states[i])`.
    pub(super) fn scan(&mut self, states: &mut [State]) -> Result<(), Failure> {
        // Where associations matter, each shadow is scanned in chunks of its own: the chunks by
        // themselves, then each combined with all that is before it.
        let chunks = self.chunked_shadows(states);
        let mut last = None;
        for n in 1..states.len() {
            let (before, rest) = states.split_at_mut(n);
            if let (State::User(value), State::User(next)) = (&before[n - 1], &rest[0]) {
                self.test(&mut last, &value.value, &next.value)?;
            }
            self.join(&before[n - 1], &mut rest[0])?;
        }
        for (n, shadows) in chunks.into_iter().enumerate() {
            if let State::User(state) = &mut states[n] {
                state.shadows = shadows;
            }
        }
        Ok(())
    }

    fn noisy_apply(&mut self, user: &UserOperator, a: &[Scalar], b: &[Scalar]) -> Vec<Scalar> {
        // A failure was one of the exact evaluation, too, or shows as a spread.
        let _ = run_user(
            &mut self.noisy,
            user,
            a,
            b,
            &mut self.result,
            &mut self.arguments,
        );
        self.result.clone()
    }

    /// The combined tuple with its bounds; `None` if nothing was combined.
    pub(super) fn finish(&mut self, state: &State) -> Option<Vec<Element>> {
        match (self.operator, state) {
            (_, State::Absent) => None,
            (_, State::Single(tuple)) => Some(tuple.clone()),
            (Some(Operator::Builtin(ops)), State::Builtin(partials)) => {
                let parts = partials.iter().zip(ops).zip(self.types);
                let finished = parts.map(|((p, op), ty)| p.finish(*op, *ty, self.errors));
                Some(finished.collect())
            }
            (Some(Operator::User(user)), State::User(state)) => {
                let mut state = state.clone();
                self.settle(user, &mut state);
                for growth in 0..state.grown.len() {
                    match self.grown(user, (growth, &state.grown[growth])) {
                        Ok(whole) => state.shadows.push(whole),
                        Err(_) => state.uncertain = true,
                    }
                }
                Some(finish_user(user, &state))
            }
            _ => None,
        }
    }
}

/// Returns whether 16 numbers as large as one of the tuple are more than there is.
fn is_huge(tuple: &[Element]) -> bool {
    tuple.iter().any(|element| {
        let (ty, size) = (element.value.ty, element.value.as_f64().abs());
        ty.is_float() && size.is_finite() && size > ty.max_finite() / 16.0
    })
}

fn is_finite(mut tuple: impl Iterator<Item = Scalar>) -> bool {
    tuple.all(|value| value.as_f64().is_finite())
}

/// Appends the tuple as it is in a world.
fn extend(shadow: &mut Vec<Scalar>, tuple: &[Element], worlds: &[Scalar], world: usize) {
    let n = tuple.len();
    match worlds.get(world * n..(world + 1) * n) {
        Some(values) => shadow.extend_from_slice(values),
        None => shadow.extend(tuple.iter().map(|e| e.value)),
    }
}

fn finish_user(user: &UserOperator, state: &UserState) -> Vec<Element> {
    // Two tuples have one association. Of more than two, a few may agree by chance, equal tuples do
    // so often: each combination rounds by up to half a unit in the last place, and many that are
    // independent are off by the root of their number.
    let may_differ = !state.shadows.is_empty() && state.tuples > 2 && user.code.rounds();
    // What overflows in one association need not do so in those that were tried, nor the other
    // way round.
    let overflows = state.huge || (state.finite && !is_finite(state.value.iter().copied()));
    let bound = |n: usize, value: Scalar| {
        if state.uncertain || (may_differ && overflows) {
            return f64::INFINITY;
        }
        let least = match may_differ {
            // Not halved by itself: half of the smallest denormal is 0.
            true => value.ty.ulp(value.as_f64()) * ((state.tuples as f64).sqrt() / 2.0),
            false => 0.0,
        };
        let off = state.shadows.iter().map(|s| distance(s[n], value));
        SPREAD * off.fold(least, f64::max)
    };
    let values = state.value.iter().enumerate();
    values
        .map(|(n, &value)| Element {
            value,
            error: bound(n, value),
        })
        .collect()
}

fn run_user(
    machine: &mut Machine,
    user: &UserOperator,
    left: &[Scalar],
    right: &[Scalar],
    result: &mut [Scalar],
    arguments: &mut Vec<Scalar>,
) -> Result<(), EvalError> {
    arguments.clear();
    arguments.extend_from_slice(left);
    arguments.extend_from_slice(right);
    machine.run(&user.code, arguments, &[], result)
}
