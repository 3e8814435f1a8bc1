//! Measuring: the trait that the tuner sees, and what it tells of a configuration.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub use mdh_exec::failure::FailureKind;
use mdh_exec::stats::Median;

use crate::error::Error;
use crate::space::value::Configuration;

/// Something that measures configurations: compiles and runs them, say.
pub trait Measure {
    /// Measures configurations, in any order, and tells each outcome as soon as it is there, by its
    /// position in the batch: what is told is kept, whatever happens after. Those that are not
    /// told when it returns were not measured, which is how it answers an interruption.
    fn measure(
        &mut self,
        batch: &[Configuration],
        race: &Race<'_>,
        tell: &mut dyn FnMut(usize, Outcome),
    );

    /// The number of configurations that it measures best at a time.
    fn batch(&self) -> usize {
        1
    }

    /// The reason for which nothing can be measured any more, whatever the configuration is: a search ends
    /// with it, and what was not told by then was not measured.
    fn broken(&self) -> Option<Error> {
        None
    }
}

/// Costs that a function computes, of one configuration after the other.
#[derive(Debug)]
pub struct Computed<F> {
    batch: usize,
    cost: F,
}

impl<F: FnMut(&Configuration) -> Outcome> Computed<F> {
    /// The costs by a function, of so many configurations at a time.
    pub fn new(batch: usize, cost: F) -> Self {
        Computed { batch, cost }
    }
}

impl<F: FnMut(&Configuration) -> Outcome> Measure for Computed<F> {
    fn measure(
        &mut self,
        batch: &[Configuration],
        race: &Race<'_>,
        tell: &mut dyn FnMut(usize, Outcome),
    ) {
        let numbered = batch.iter().enumerate();
        for (n, configuration) in numbered.take_while(|_| !race.is_interrupted()) {
            tell(n, (self.cost)(configuration));
        }
    }

    fn batch(&self) -> usize {
        self.batch
    }
}

/// The competition of a batch.
#[derive(Clone, Copy, Debug)]
pub struct Race<'r> {
    /// Samples of the best so far; none at the start.
    pub best: &'r [f64],
    /// Confidence with which a candidate must have lost before its measurement may stop, below 1.
    pub confidence: f64,
    /// Time left; none if there is no limit.
    pub left: Option<Duration>,
    /// Set when the user interrupts.
    pub interrupted: &'r AtomicBool,
}

impl Race<'_> {
    /// Tells whether the user has interrupted.
    pub fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }
}

/// Result of measuring a configuration.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It works.
    Measured(Cost),
    /// It does not.
    Failed(Failure),
}

impl Outcome {
    /// An outcome of one sample.
    pub fn of_cost(cost: f64) -> Outcome {
        Outcome::Measured(Cost::new(vec![cost]))
    }

    /// A failure.
    pub fn failed(kind: FailureKind, text: impl Into<String>) -> Outcome {
        Outcome::Failed(Failure {
            kind,
            text: text.into(),
        })
    }

    /// The cost, if there is one.
    pub fn cost(&self) -> Option<f64> {
        match self {
            Outcome::Measured(cost) => Some(cost.value),
            Outcome::Failed(_) => None,
        }
    }

    /// The kind of its failure, if it is one.
    pub fn failure(&self) -> Option<FailureKind> {
        match self {
            Outcome::Measured(_) => None,
            Outcome::Failed(failure) => Some(failure.kind),
        }
    }
}

/// The cost of a configuration: less is better.
#[derive(Clone, Debug, PartialEq)]
pub struct Cost {
    /// The median of its samples.
    pub value: f64,
    /// The samples: times, say, in one unit for all configurations.
    pub samples: Vec<f64>,
    /// Reason for which no more samples were taken.
    pub ended: Ended,
}

/// The end of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All samples were taken.
    Complete,
    /// It could not win any more.
    Lost,
}

impl Cost {
    /// The cost of samples, all of which were taken.
    pub fn new(samples: Vec<f64>) -> Cost {
        Cost {
            value: Median::new(&samples).value,
            samples,
            ended: Ended::Complete,
        }
    }

    /// The same of a candidate that could not win.
    pub fn of_lost(samples: Vec<f64>) -> Cost {
        Cost {
            ended: Ended::Lost,
            ..Cost::new(samples)
        }
    }
}

/// The failure of a configuration. It is never chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Kind of failure.
    pub kind: FailureKind,
    /// Text for a report.
    pub text: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.name(), self.text)
    }
}
