//! Rules over parameters: constraints, by which trees grow, and filters, which whole configurations are asked.

use std::fmt;
use std::sync::Arc;

use super::value::Value;

/// Tells whether values keep a rule.
type Holds = dyn Fn(&[&Value]) -> bool + Send + Sync;

/// A rule over some parameters, which it names.
#[derive(Clone)]
pub struct Constraint {
    rule: Arc<str>,
    depends: Arc<[String]>,
    holds: Arc<Holds>,
}

impl Constraint {
    /// A rule in words, for messages; the parameters that it depends on; and the closure that tells
    /// whether it holds, which gets their values in this order.
    pub fn new<'n>(
        rule: &str,
        depends: impl IntoIterator<Item = &'n str>,
        holds: impl Fn(&[&Value]) -> bool + Send + Sync + 'static,
    ) -> Constraint {
        Constraint {
            rule: rule.into(),
            depends: depends.into_iter().map(str::to_string).collect(),
            holds: Arc::new(holds),
        }
    }

    /// The rule in words.
    pub fn rule(&self) -> &str {
        &self.rule
    }

    /// The parameters that it depends on.
    pub fn depends(&self) -> &[String] {
        &self.depends
    }

    /// Tells whether it holds for values of those of `depends`.
    pub fn holds(&self, values: &[&Value]) -> bool {
        (self.holds)(values)
    }
}

impl fmt::Debug for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` of {:?}", self.rule, self.depends)
    }
}

#[cfg(test)]
impl Constraint {
    /// A rule over parameters of integers.
    pub(crate) fn of_integers<const N: usize>(
        rule: &str,
        depends: [&str; N],
        holds: impl Fn([i64; N]) -> bool + Send + Sync + 'static,
    ) -> Constraint {
        Constraint::new(rule, depends, move |values| {
            holds(std::array::from_fn(|n| values[n].integer().unwrap()))
        })
    }
}
