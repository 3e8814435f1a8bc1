//! Chains of mappings on a space.

use std::fmt;

use super::conditions::Conditions;
use super::space::Space;
use super::step::{Back, Step};
use crate::index::{Expr, Facts, Interval, Name};
use crate::layout::Answer;

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
