//! Mappings: how an n-dimensional space of indices, with offsets and gaps, becomes the few bounded
//! dimensions of a GPU's blocks and threads (GPU index mapping, chapters 2 and 3).
//!
//! A *grid* `(L, U, T, W)` holds all `I` with `L <= I < U` and `(I - L) mod T < W` in each
//! dimension, `T >= 1`, `1 <= W <= T`. It is *normalised* when `L = 0`, and *dense* when also
//! `T = W`. It may have any number of dimensions: the space of none has one point, the empty index,
//! as conditions on no dimension hold. It is empty where `U <= L`.
//!
//! A mapping is a pair: the space goes right, an index comes back left, or is discarded.
//!
//! | mapping            | on         | space                                       | index                                |
//! |--------------------|------------|---------------------------------------------|--------------------------------------|
//! | `shift_lb`         | grid       | `(max(U-L,0), T, W)`                        | `I + L`                              |
//! | `compress_grid(C)` | normalised | where C: `(u/t)*w + min(u mod t, w)`, dense | `(i'/w)*t + i' mod w`                |
//! | `prune_grid`       | normalised | `U`                                         | `I'` if `I' mod T < W`, else discarded |
//! | `split_last(l)`    | dense      | last `u -> u/l, l`; l divides u             | `l*i_M + i_m`                        |
//! | `fold_last2`       | dense      | last two `-> u_M*u_m`                       | `i'/u_m, i' mod u_m`                 |
//! | `permute(P)`       | any        | dimension `d` is dimension `P[d]`           | permuted back                        |
//! | `pad_last(p)`      | any        | last `u -> ceil(u/p)*p`                     | `I'` if `I' < U`, else discarded     |
//!
//! A [`Mapping`] is a chain of these on a space, written first to last:
//! `[1 to n step 3 width 2].shift_lb.compress_grid([0]).pad_last(128).split_last(128)`. Bounds may
//! be expressions of symbols, so an index comes back as expressions ([`Mapping::back`]).
//!
//! **Right means mapping equivalence** (definition 2.7): the index map is a bijection from the
//! operative part of the mapped space, what is not discarded, onto the original space. Each mapping
//! above is one wherever its precondition holds (theorems 2.19 to 2.49), and a chain of bijections
//! is one; so [`Mapping::new`] asks the preconditions: what is refuted is an error, and what is not
//! proved, such as `n % 128 == 0`, is kept ([`Mapping::conditions`]) to be asked at run time. That
//! the theorems hold of this code is not believed: [`Mapping::decide`] asks the definition, point
//! by point, and the tests ask it of all small chains.
//!
//! **Discarding** has two modes ([`Discard`]): branching, which leaves at the first condition that
//! fails, and branchless, which carries one predicate along: the latter wherever a barrier follows,
//! which all threads of a block must reach.

pub mod bounded;
mod conditions;
mod device;
mod equivalence;
mod launch;
mod parse;
mod print;
mod space;
mod step;
mod strategy;
mod with_loop;

use std::fmt;

use crate::index::{Expr, Facts, Interval, Name};
use crate::layout::Answer;
use conditions::Conditions;

pub use device::{Device, axis_name, axis_number};
pub use equivalence::{Claim, equivalence};
pub use launch::{Barrier, Discard, Launch};
pub use parse::{chain, mapping, space};
pub use space::{GridAxis, Space, SpaceKind};
pub use step::{Back, Step};
pub use strategy::{Strategy, choose};
pub use with_loop::WithLoop;

/// A chain of mappings on a space.
#[derive(Clone, Debug)]
pub struct Mapping {
    /// The original space, then what each step makes of the one before it.
    spaces: Vec<Space>,
    chain: Vec<Step>,
    facts: Facts,
    conditions: Vec<Expr>,
}

/// Reason for which there is no such mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappingError {
    /// The step of the chain that is wrong; `None` if it is the space.
    pub step: Option<usize>,
    /// Found and expected.
    pub message: String,
}

impl fmt::Display for MappingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for MappingError {}

impl Mapping {
    /// These mappings, the first one first, on a space. Symbols of bounds are 0 or more, those of
    /// steps, widths and sizes 1 or more, unless `facts` says otherwise.
    ///
    /// # Errors
    /// If a precondition is refuted; the message has its mapping's name and both numbers.
    pub fn new(space: Space, chain: Vec<Step>, facts: &Facts) -> Result<Mapping, MappingError> {
        let mut facts = facts.clone();
        for symbol in positive(&space, &chain) {
            facts.size(&symbol);
        }
        for bound in space.axes.iter().flat_map(|a| [&a.lower, &a.upper]) {
            for symbol in bound.symbols() {
                if !facts.knows(&symbol) {
                    facts.within(&symbol, Interval::from(0));
                }
            }
        }
        let mut conditions = Conditions {
            facts: &facts,
            open: vec![],
        };
        let wrong = |step| move |message| MappingError { step, message };
        space.check(&mut conditions).map_err(wrong(None))?;
        let mut spaces = vec![space];
        for (n, step) in chain.iter().enumerate() {
            let mapped = step.space(&spaces[n], &mut conditions);
            let name = step.name();
            let mapped = mapped.map_err(|m| wrong(Some(n))(format!("{name}: {m}")))?;
            spaces.push(mapped);
        }
        let conditions = conditions.open;
        Ok(Mapping {
            spaces,
            chain,
            facts,
            conditions,
        })
    }

    /// This, and then more.
    ///
    /// # Errors
    /// As [`Mapping::new`].
    pub fn then(&self, more: &[Step]) -> Result<Mapping, MappingError> {
        let chain = [self.chain.as_slice(), more].concat();
        Mapping::new(self.original().clone(), chain, &self.facts)
    }

    /// The space that is mapped.
    pub fn original(&self) -> &Space {
        &self.spaces[0]
    }

    /// The mapped space.
    pub fn mapped(&self) -> &Space {
        &self.spaces[self.chain.len()]
    }

    /// The original space, and what it is after each step.
    pub fn spaces(&self) -> &[Space] {
        &self.spaces
    }

    /// The steps, the first one first.
    pub fn chain(&self) -> &[Step] {
        &self.chain
    }

    /// Returns the facts about symbols.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Returns the conditions that are not proved and must hold: they are checked before a launch.
    pub fn conditions(&self) -> &[Expr] {
        &self.conditions
    }

    /// Returns whether it is mapping equivalent: proved by its construction, or open.
    pub fn answer(&self) -> Answer {
        match self.conditions.is_empty() {
            true => Answer::Proved,
            false => Answer::Open(self.conditions.iter().map(Expr::to_string).collect()),
        }
    }

    /// Returns the index of the space that an index of the mapped space stands for.
    ///
    /// # Panics
    /// If it has another number of components than that space dimensions.
    pub fn back(&self, index: &[Expr]) -> Back {
        let rank = self.mapped().rank();
        assert_eq!(index.len(), rank, "one component for each dimension");
        let (mut index, mut exits) = (index.to_vec(), Vec::new());
        for (n, step) in self.chain.iter().enumerate().rev() {
            let spaces = [&self.spaces[n], &self.spaces[n + 1]];
            let back = step.back(spaces, &self.facts, &index);
            index = back.index;
            exits.extend(back.exits);
        }
        Back { index, exits }
    }

    /// The symbols of its space and its steps.
    pub fn symbols(&self) -> Vec<Name> {
        let axes = self.original().axes.iter();
        let bounds = axes.flat_map(|a| [&a.lower, &a.upper]);
        let bounds = bounds.flat_map(Expr::symbols);
        let mut symbols: Vec<Name> = Vec::new();
        for symbol in bounds.chain(positive(self.original(), &self.chain)) {
            if !symbols.contains(&symbol) {
                symbols.push(symbol);
            }
        }
        symbols
    }

    /// Returns the facts about symbols, and that these are an index of the mapped space.
    pub fn facts_of_index(&self, names: &[Name]) -> Facts {
        let mut facts = self.facts.clone();
        for (name, axis) in names.iter().zip(&self.mapped().axes) {
            if axis.lower.as_constant() == Some(0) {
                facts.index(name, &axis.upper);
                continue;
            }
            let (lower, upper) = (facts.range(&axis.lower), facts.range(&axis.upper));
            let last = (upper.max - 1).max(lower.min);
            facts.within(name, Interval::new(lower.min, last));
        }
        facts
    }

    /// The same with values for symbols.
    ///
    /// # Errors
    /// If a precondition does not hold of them.
    pub fn bind(&self, values: &[(Name, i64)]) -> Result<Mapping, MappingError> {
        let value = |name: &str| {
            let (_, value) = values.iter().find(|(n, _)| &**n == name)?;
            Some(Expr::constant(*value))
        };
        let step = |step: &Step| match step {
            Step::SplitLast(l) => Step::SplitLast(l.substitute(&value)),
            Step::PadLast(p) => Step::PadLast(p.substitute(&value)),
            other => other.clone(),
        };
        let chain = self.chain.iter().map(step).collect();
        Mapping::new(self.original().bound(&value), chain, &self.facts)
    }
}

/// Symbols of what is 1 or more.
fn positive(space: &Space, chain: &[Step]) -> Vec<Name> {
    let of_space = space.axes.iter().flat_map(|a| [&a.step, &a.width]);
    let of_chain = chain.iter().filter_map(|step| match step {
        Step::SplitLast(size) | Step::PadLast(size) => Some(size),
        _ => None,
    });
    of_space.chain(of_chain).flat_map(Expr::symbols).collect()
}

#[cfg(test)]
#[path = "mapping/tests.rs"]
mod tests;

#[cfg(test)]
#[path = "mapping/bijection_tests.rs"]
mod bijection_tests;
