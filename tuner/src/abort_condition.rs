//! Conditions that end a search, and their combinations.

use std::fmt;
use std::ops::{BitAnd, BitOr};
use std::time::Duration;

mod until;

pub use until::{duration, parse};

/// A condition that ends a search.
#[derive(Clone, Debug, PartialEq)]
pub enum Abort {
    /// So much time has passed.
    Duration(Duration),
    /// So many configurations have been evaluated.
    Evaluations(u64),
    /// That fraction of the space has been evaluated.
    Fraction(f64),
    /// A cost of at most this has been found.
    Cost(f64),
    /// The best is so many times as fast as the start.
    Speedup(f64),
    /// Nothing better has been found in so many evaluations.
    NoBetter(u64),
    /// All of these; never, if there are none.
    And(Vec<Abort>),
    /// One of these.
    Or(Vec<Abort>),
}

/// State of a search, as conditions see it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchState {
    /// Time since the start.
    pub elapsed: Duration,
    /// Number of evaluations, failed ones included.
    pub evaluations: u64,
    /// Number of evaluations since a new best.
    pub since_better: u64,
    /// Number of configurations of the space.
    pub size: f64,
    /// The least cost.
    pub best: Option<f64>,
    /// The cost of the start.
    pub start: Option<f64>,
}

impl Abort {
    /// The part of the condition that holds, as the reason for the end; none if it does not hold.
    pub fn reached(&self, state: &SearchState) -> Option<Abort> {
        let holds = match self {
            Abort::Duration(limit) => state.elapsed >= *limit,
            Abort::Evaluations(limit) => state.evaluations >= *limit,
            Abort::Fraction(limit) => state.evaluations as f64 >= limit * state.size,
            Abort::Cost(limit) => state.best.is_some_and(|best| best <= *limit),
            Abort::Speedup(limit) => match (state.start, state.best) {
                (Some(start), Some(best)) => start >= limit * best,
                _ => false,
            },
            Abort::NoBetter(limit) => state.since_better >= *limit,
            Abort::And(all) => !all.is_empty() && all.iter().all(|a| a.reached(state).is_some()),
            Abort::Or(any) => return any.iter().find_map(|abort| abort.reached(state)),
        };
        holds.then(|| self.clone())
    }

    /// The time after which it ends at the latest, if it says so.
    pub fn latest(&self) -> Option<Duration> {
        self.last(&|one| match one {
            Abort::Duration(limit) => Some(*limit),
            _ => None,
        })
    }

    /// The number of evaluations after which it ends at the latest, if it says so.
    pub fn most_evaluations(&self) -> Option<u64> {
        self.last(&|one| match one {
            Abort::Evaluations(limit) => Some(*limit),
            _ => None,
        })
    }

    /// The limit that ends it at the latest, of those that `of` gives of single conditions.
    fn last<L: Ord>(&self, limit: &dyn Fn(&Abort) -> Option<L>) -> Option<L> {
        match self {
            Abort::And(parts) => {
                let limits: Option<Vec<L>> = parts.iter().map(|part| part.last(limit)).collect();
                limits.and_then(|limits| limits.into_iter().max())
            }
            Abort::Or(any) => any.iter().filter_map(|part| part.last(limit)).min(),
            part => limit(part),
        }
    }
}

impl BitAnd for Abort {
    type Output = Abort;

    fn bitand(self, other: Abort) -> Abort {
        match self {
            Abort::And(mut all) => {
                all.push(other);
                Abort::And(all)
            }
            one => Abort::And(vec![one, other]),
        }
    }
}

impl BitOr for Abort {
    type Output = Abort;

    fn bitor(self, other: Abort) -> Abort {
        match self {
            Abort::Or(mut any) => {
                any.push(other);
                Abort::Or(any)
            }
            one => Abort::Or(vec![one, other]),
        }
    }
}

impl fmt::Display for Abort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let join = |f: &mut fmt::Formatter<'_>, parts: &[Abort], word: &str| {
            let parts: Vec<String> = parts.iter().map(Abort::to_string).collect();
            write!(f, "({})", parts.join(word))
        };
        match self {
            Abort::Duration(limit) => write!(f, "its {} s are over", limit.as_secs_f64()),
            Abort::Evaluations(1) => f.write_str("1 evaluation was made"),
            Abort::Evaluations(limit) => write!(f, "{limit} evaluations were made"),
            Abort::Fraction(limit) => write!(f, "{} % of the space was evaluated", limit * 100.0),
            Abort::Cost(limit) => write!(f, "a cost of {limit} was reached"),
            Abort::Speedup(limit) => write!(f, "a speed-up of {limit} was reached"),
            Abort::NoBetter(1) => f.write_str("1 evaluation found nothing better"),
            Abort::NoBetter(limit) => write!(f, "{limit} evaluations found nothing better"),
            Abort::And(all) => join(f, all, " and "),
            Abort::Or(any) => join(f, any, " or "),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn conditions() -> impl Strategy<Value = Abort> {
        let leaf = prop_oneof![
            (0u64..20).prop_map(|s| Abort::Duration(Duration::from_secs(s))),
            (0u64..20).prop_map(Abort::Evaluations),
            (0.0f64..1.0).prop_map(Abort::Fraction),
            (0.0f64..20.0).prop_map(Abort::Cost),
            (0.0f64..4.0).prop_map(Abort::Speedup),
            (0u64..20).prop_map(Abort::NoBetter),
        ];
        leaf.prop_recursive(3, 12, 3, |inner| {
            let parts = proptest::collection::vec(inner, 0..3);
            prop_oneof![
                parts.clone().prop_map(Abort::And),
                parts.prop_map(Abort::Or),
            ]
        })
    }

    fn states() -> impl Strategy<Value = SearchState> {
        let costs = || proptest::option::of(0.1f64..20.0);
        (0u64..20, 0u64..20, 0u64..20, costs(), costs()).prop_map(
            |(seconds, evaluations, since_better, best, start)| SearchState {
                elapsed: Duration::from_secs(seconds),
                evaluations,
                since_better,
                size: 20.0,
                best,
                start,
            },
        )
    }

    proptest! {
        #[test]
        fn conditions_combine_like_their_words(a in conditions(), b in conditions(), state in states()) {
            let (one, other) = (a.reached(&state).is_some(), b.reached(&state).is_some());
            // `and` of an empty list is a list of one more.
            let both = match &a { Abort::And(all) if all.is_empty() => other, _ => one && other };
            prop_assert_eq!((a.clone() & b.clone()).reached(&state).is_some(), both);
            prop_assert_eq!((a.clone() | b.clone()).reached(&state).is_some(), one || other);
            if let Some(reason) = a.reached(&state) {
                prop_assert!(reason.reached(&state).is_some());
            }
        }

        #[test]
        fn what_is_reached_stays_reached(a in conditions(), state in states()) {
            let later = SearchState {
                elapsed: state.elapsed + Duration::from_secs(5),
                evaluations: state.evaluations + 5,
                since_better: state.since_better + 5,
                ..state
            };
            prop_assert!(a.reached(&state).is_none() || a.reached(&later).is_some());
            if let Some(latest) = a.latest() {
                let then = SearchState { elapsed: latest, ..state };
                prop_assert!(a.reached(&then).is_some());
            }
            if let Some(evaluations) = a.most_evaluations() {
                let then = SearchState { evaluations, ..state };
                prop_assert!(a.reached(&then).is_some());
            }
        }
    }

    #[test]
    fn the_part_that_holds_is_the_reason() {
        let state = SearchState {
            elapsed: Duration::from_secs(3),
            evaluations: 10,
            since_better: 2,
            size: 100.0,
            best: Some(2.0),
            start: Some(8.0),
        };
        let reason = |abort: Abort| abort.reached(&state).map(|a| a.to_string());
        let any = Abort::Duration(Duration::from_secs(60)) | Abort::Speedup(4.0) | Abort::Cost(2.0);
        assert_eq!(reason(any).as_deref(), Some("a speed-up of 4 was reached"));
        let both = Abort::Fraction(0.1) & Abort::NoBetter(2);
        let text = "(10 % of the space was evaluated and 2 evaluations found nothing better)";
        assert_eq!(reason(both).as_deref(), Some(text));
        let singular = [
            Abort::Evaluations(1),
            Abort::Duration(Duration::from_secs(1)),
        ];
        let said = singular.map(|abort| abort.to_string());
        assert_eq!(said, ["1 evaluation was made", "its 1 s are over"]);
        assert_eq!(reason(Abort::And(Vec::new())), None);
        assert_eq!(reason(Abort::Or(Vec::new())), None);
    }
}
