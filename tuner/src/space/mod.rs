//! Spaces of configurations: parameters, constraints over earlier ones, and their valid
//! configurations as a chain of trees.
//!
//! As ATF has them (Rasch, Schulze, Steuwer and Gorlatch, "Efficient auto-tuning of parallel
//! programs with interdependent tuning parameters via Auto-Tuning Framework (ATF)", 2021): each
//! group of parameters that depend on each other is a tree, and a configuration is one way down
//! through each. What a tree holds is valid by construction, is counted without being listed, and
//! has a number, so that drawing a number at random draws a configuration uniformly.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rand::{Rng, RngExt};

pub mod constraint;
mod explain;
mod moves;
pub mod parameter;
mod tree;
pub mod value;

use crate::error::{Error, Result, repeated};
use constraint::Constraint;
use parameter::{Order, Parameter};
use tree::{Asked, Growing, Level, Tree, levels};
use value::{Configuration, Value};

/// A configuration of a space: for each parameter the rank of its value among those that occur in
/// valid configurations.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Point(pub(crate) Box<[u32]>);

/// A parameter of a space that has been built.
#[derive(Clone, Debug)]
pub(crate) struct ParameterAxis {
    pub(crate) name: String,
    /// The values that occur in valid configurations, by rank.
    pub(crate) values: Vec<Value>,
    pub(crate) order: Order,
    tree: usize,
}

/// A space of configurations.
#[derive(Debug)]
pub struct Space {
    names: Arc<[String]>,
    axes: Vec<ParameterAxis>,
    trees: Vec<Tree>,
    filters: Vec<Asked>,
    asked: AtomicU64,
    rejected: AtomicU64,
}

/// Counts of what the filters of a space have rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rejections {
    /// The number of configurations that they were asked for.
    pub asked: u64,
    /// The number of those that they have rejected.
    pub rejected: u64,
}

impl Rejections {
    /// Returns whether nothing has passed.
    pub fn are_all(&self) -> bool {
        self.asked > 0 && self.rejected == self.asked
    }

    /// The share of those rejected.
    pub fn share(&self) -> f64 {
        self.rejected as f64 / self.asked.max(1) as f64
    }
}

/// A space in the making.
#[derive(Clone, Debug, Default)]
pub struct Builder {
    parameters: Vec<Parameter>,
    filters: Vec<Constraint>,
}

impl Builder {
    /// Adds a parameter, after those that its constraints depend on.
    pub fn parameter(mut self, parameter: Parameter) -> Builder {
        self.parameters.push(parameter);
        self
    }

    /// Adds a condition that the trees do not know: configurations are asked one by one.
    pub fn filter(mut self, filter: Constraint) -> Builder {
        self.filters.push(filter);
        self
    }

    /// Builds the space, or says which constraint leaves nothing of it.
    pub fn build(self) -> Result<Space> {
        self.check_names()?;
        let place = |name: &str| self.parameters.iter().position(|p| p.name == name);
        let only = self.parameters.iter().map(|p| p.only_value().cloned());
        let fixed: Vec<Option<Value>> = only.collect();
        let mut trees = Vec::new();
        for group in groups(&self.parameters, &fixed) {
            // Checked above: every name that a constraint depends on is there.
            let levels = levels(&group, &self.parameters, |name| place(name).unwrap_or(0));
            trees.push(grow(&levels, &fixed)?);
        }
        let asked = |filter: &Constraint| Asked {
            constraint: filter.clone(),
            arguments: filter
                .depends()
                .iter()
                .filter_map(|name| place(name))
                .collect(),
        };
        Ok(Space {
            names: self.parameters.iter().map(|p| p.name.clone()).collect(),
            axes: axes(&self.parameters, &trees),
            trees,
            filters: self.filters.iter().map(asked).collect(),
            asked: AtomicU64::new(0),
            rejected: AtomicU64::new(0),
        })
    }

    /// Checks that names are there, once, and that constraints look back only.
    fn check_names(&self) -> Result<()> {
        let names: Vec<&str> = self.parameters.iter().map(|p| p.name.as_str()).collect();
        if names.is_empty() {
            return Err(Error::input("found no parameter, expected at least one"));
        }
        if let Some(twice) = repeated(names.iter().copied()) {
            return Err(Error::input(format!(
                "found two parameters named '{twice}', expected one"
            )));
        }
        let looks_back = |constraint: &Constraint, known: &[&str]| {
            let ahead = constraint.depends().iter();
            let mut ahead = ahead.filter(|name| !known.contains(&name.as_str()));
            ahead.next().map_or(Ok(()), |name| {
                let rule = constraint.rule();
                Err(Error::bug(format!(
                    "`{rule}` depends on '{name}', expected earlier parameters only"
                )))
            })
        };
        for (position, parameter) in self.parameters.iter().enumerate() {
            for constraint in &parameter.constraints {
                looks_back(constraint, &names[..=position])?;
            }
        }
        let mut filters = self.filters.iter();
        filters.try_for_each(|filter| looks_back(filter, &names))
    }
}

/// Groups of parameters that depend on each other, in the order of their first ones. What has one
/// value only joins nobody: all of its tree is known.
fn groups(parameters: &[Parameter], fixed: &[Option<Value>]) -> Vec<Vec<usize>> {
    let mut group_of: Vec<usize> = (0..parameters.len()).collect();
    for (position, parameter) in parameters.iter().enumerate() {
        for name in parameter.constraints.iter().flat_map(Constraint::depends) {
            let Some(other) = parameters.iter().position(|p| p.name == *name) else {
                continue;
            };
            let (one, two) = (group_of[position], group_of[other]);
            if fixed[other].is_none() && one != two {
                let (first, second) = (one.min(two), one.max(two));
                for group in &mut group_of {
                    if *group == second {
                        *group = first;
                    }
                }
            }
        }
    }
    let mut groups: Vec<Vec<usize>> = vec![Vec::new(); parameters.len()];
    for (position, group) in group_of.into_iter().enumerate() {
        groups[group].push(position);
    }
    groups.retain(|group| !group.is_empty());
    groups
}

/// The tree of a group, or an error that names what empties it.
fn grow(levels: &[Level], fixed: &[Option<Value>]) -> Result<Tree> {
    let mut growing = Growing::new(levels, fixed);
    match growing.grow()? {
        Some(tree) => Ok(tree),
        None => Err(explain::emptiness(levels, fixed, growing.dead_end.as_ref())),
    }
}

fn axes(parameters: &[Parameter], trees: &[Tree]) -> Vec<ParameterAxis> {
    let mut axes: Vec<ParameterAxis> = parameters
        .iter()
        .map(|parameter| ParameterAxis {
            name: parameter.name.clone(),
            values: Vec::new(),
            order: parameter.order,
            tree: 0,
        })
        .collect();
    for (number, tree) in trees.iter().enumerate() {
        for (position, values) in tree.parameters.iter().zip(&tree.values) {
            axes[*position].values = values.clone();
            axes[*position].tree = number;
        }
    }
    axes
}

impl Space {
    /// A space in the making.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// The names of its parameters, in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The number of configurations that the trees hold, as far as a float has it.
    pub fn size(&self) -> f64 {
        self.trees.iter().map(|tree| tree.count() as f64).product()
    }

    /// The first point, from which `next` reaches all others.
    pub fn first(&self) -> Point {
        self.join(&vec![0; self.trees.len()])
    }

    /// The point after this one; none after the last.
    pub fn next(&self, point: &Point) -> Option<Point> {
        let mut numbers = self.split(point)?;
        for (digit, tree) in numbers.iter_mut().zip(&self.trees).rev() {
            *digit += 1;
            if *digit < tree.count() {
                return Some(self.join(&numbers));
            }
            *digit = 0;
        }
        None
    }

    /// Draws a point; each is as probable as every other.
    pub fn sample(&self, random: &mut impl Rng) -> Point {
        let numbers: Vec<u128> = self
            .trees
            .iter()
            .map(|tree| random.random_range(0..tree.count()))
            .collect();
        self.join(&numbers)
    }

    /// The configuration of a point.
    pub fn configuration(&self, point: &Point) -> Configuration {
        let values: Vec<Value> = self
            .axes
            .iter()
            .zip(&point.0)
            .map(|(axis, rank)| axis.values[*rank as usize].clone())
            .collect();
        Configuration::new(self.names.clone(), values)
    }

    /// The point of a configuration; none if it is none of this space's.
    pub fn find(&self, configuration: &Configuration) -> Option<Point> {
        let count = configuration.pairs().count();
        let rank = |axis: &ParameterAxis| {
            let given = configuration.get(&axis.name)?;
            axis.values.iter().position(|value| value == given)
        };
        let ranks = self
            .axes
            .iter()
            .map(|axis| rank(axis).map(|rank| rank as u32));
        let point = Point(ranks.collect::<Option<_>>()?);
        let is_own = count == self.axes.len() && self.split(&point).is_some();
        is_own.then_some(point)
    }

    /// Tells whether the filters let a configuration pass, and counts.
    pub fn admits(&self, configuration: &Configuration) -> bool {
        if self.filters.is_empty() {
            return true;
        }
        self.asked.fetch_add(1, Ordering::Relaxed);
        let values: Vec<Option<Value>> = configuration.values().iter().cloned().map(Some).collect();
        let passes = self.filters.iter().all(|filter| filter.holds(&values));
        self.rejected
            .fetch_add(u64::from(!passes), Ordering::Relaxed);
        passes
    }

    /// Counts of what the filters have rejected so far, if they were asked.
    pub fn rejections(&self) -> Option<Rejections> {
        let counts = Rejections {
            asked: self.asked.load(Ordering::Relaxed),
            rejected: self.rejected.load(Ordering::Relaxed),
        };
        (counts.asked > 0).then_some(counts)
    }

    /// The point that takes these numbers of each tree's.
    fn join(&self, numbers: &[u128]) -> Point {
        let mut ranks = vec![0; self.axes.len()].into_boxed_slice();
        for (tree, number) in self.trees.iter().zip(numbers) {
            for (position, rank) in tree.parameters.iter().zip(tree.ranks(*number)) {
                ranks[*position] = rank;
            }
        }
        Point(ranks)
    }

    /// The number of a point in each tree; none if it is none of this space's.
    fn split(&self, point: &Point) -> Option<Vec<u128>> {
        if point.0.len() != self.axes.len() {
            return None;
        }
        let number = |tree: &Tree| tree.number(tree.parameters.iter().map(|p| point.0[*p]));
        self.trees.iter().map(number).collect()
    }
}

#[cfg(test)]
mod tests;
