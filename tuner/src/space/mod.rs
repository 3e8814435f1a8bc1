//! Spaces of configurations: parameters, constraints over earlier ones, and their valid
//! configurations as a chain of trees.
//!
//! As ATF has them (Rasch, Schulze, Steuwer and Gorlatch, "Efficient auto-tuning of parallel
//! programs with interdependent tuning parameters via Auto-Tuning Framework (ATF)", 2021): each
//! group of parameters that depend on each other is a tree, and a configuration is one way down
//! through each. What a tree holds is valid by construction, is counted without being listed, and
//! has a number, so that drawing a number at random draws a configuration uniformly.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rand::{Rng, RngExt};

mod explain;
pub mod formula;
mod json;
mod moves;
pub mod parameter;
mod tree;
pub mod value;

use crate::error::{Error, Result, did_you_mean};
use formula::{Formula, repeated};
use parameter::{Order, Parameter, ParameterRange, of_parameter};
use tree::{Asked, Growing, Level, Tree, levels};
use value::{Configuration, Value};

pub use json::read;

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
    pub(crate) is_derived: bool,
    tree: usize,
}

/// A space of configurations.
#[derive(Debug)]
pub struct Space {
    names: Arc<[String]>,
    axes: Vec<ParameterAxis>,
    trees: Vec<Tree>,
    parameters: Vec<Parameter>,
    filters: Vec<Asked>,
    start: Option<Point>,
    asked: AtomicU64,
    /// The number of configurations that each filter has rejected.
    rejected: Vec<AtomicU64>,
}

/// Counts of what the filters of a space have rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejections {
    /// The number of configurations that they were asked for.
    pub asked: u64,
    /// The number of those that they have rejected.
    pub rejected: u64,
    /// The text of the filter that has rejected most.
    pub filter: String,
    /// The number of those that it has rejected.
    pub by_filter: u64,
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

impl fmt::Display for Rejections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (filter, by_filter, asked) = (&self.filter, self.by_filter, self.asked);
        write!(
            f,
            "the filter `{filter}` rejected {by_filter} of {asked} configurations"
        )?;
        match self.rejected - by_filter {
            0 => Ok(()),
            others => write!(f, ", and other filters {others}"),
        }
    }
}

/// A space in the making.
#[derive(Clone, Debug, Default)]
pub struct Builder {
    parameters: Vec<Parameter>,
    filters: Vec<Formula>,
    fixed: Vec<(String, Value)>,
    start: Option<Configuration>,
}

impl Builder {
    /// Adds a parameter, after those that its constraints depend on.
    pub fn parameter(mut self, parameter: Parameter) -> Builder {
        self.parameters.push(parameter);
        self
    }

    /// Adds a condition that the trees do not know: configurations are asked one by one.
    pub fn filter(mut self, filter: Formula) -> Builder {
        self.filters.push(filter);
        self
    }

    /// Leaves a parameter only one of its values.
    pub fn fix(mut self, name: &str, value: impl Into<Value>) -> Builder {
        self.fixed.push((name.to_string(), value.into()));
        self
    }

    /// Names the configuration that a search starts from.
    pub fn start(mut self, configuration: Configuration) -> Builder {
        self.start = Some(configuration);
        self
    }

    /// Builds the space, or says which constraint leaves nothing of it.
    pub fn build(mut self) -> Result<Space> {
        self.check_names()?;
        for (name, value) in std::mem::take(&mut self.fixed) {
            let names = self.parameters.iter().map(|p| p.name.as_str());
            let help = did_you_mean(&name, names);
            let named = self.parameters.iter_mut().find(|p| p.name == name);
            let Some(parameter) = named else {
                let error = Error::input(format!(
                    "found a fixed value of '{name}', and there is no parameter of that name"
                ));
                return Err(help.into_iter().fold(error, Error::help));
            };
            parameter.fix(&value)?;
        }
        let place = |name: &str| self.parameters.iter().position(|p| p.name == name);
        let fixed: Vec<Option<Value>> = self.parameters.iter().map(only_value).collect();
        let mut trees = Vec::new();
        for group in groups(&self.parameters, &fixed) {
            // Checked above: every name that a formula depends on is there.
            let levels = levels(&group, &self.parameters, |name| place(name).unwrap_or(0));
            trees.push(grow(&levels, &fixed)?);
        }
        let filters: Vec<Asked> = self
            .filters
            .iter()
            .map(|filter| Asked {
                formula: filter.clone(),
                arguments: filter
                    .depends()
                    .iter()
                    .filter_map(|name| place(name))
                    .collect(),
            })
            .collect();
        let mut space = Space {
            names: self.parameters.iter().map(|p| p.name.clone()).collect(),
            axes: axes(&self.parameters, &trees),
            trees,
            rejected: filters.iter().map(|_| AtomicU64::new(0)).collect(),
            filters,
            parameters: self.parameters,
            start: None,
            asked: AtomicU64::new(0),
        };
        if let Some(start) = self.start {
            let found = space.find(&start);
            let point = found.map_err(|error| error.at("the start configuration"))?;
            space.start = Some(point);
        }
        Ok(space)
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
        let unknown = |text: &str, name: &str| {
            let error = Error::input(format!("`{text}` names '{name}', which is no parameter"));
            let help = did_you_mean(name, names.iter().copied());
            help.into_iter().fold(error, Error::help)
        };
        for (position, parameter) in self.parameters.iter().enumerate() {
            for (number, formula) in parameter.formulas().enumerate() {
                let derives = number == 0 && parameter.listed().is_none();
                for name in formula.depends() {
                    let Some(other) = names.iter().position(|known| known == name) else {
                        let error = unknown(formula.text(), name);
                        return Err(of_parameter(&parameter.name, error));
                    };
                    if other > position || derives && other == position {
                        let error = Error::input(format!(
                            "`{}` depends on '{name}', expected earlier parameters only",
                            formula.text()
                        ))
                        .help(format!("move it to '{name}', or '{name}' to the front"));
                        return Err(of_parameter(&parameter.name, error));
                    }
                }
            }
        }
        for filter in &self.filters {
            if let Some(name) = filter
                .depends()
                .iter()
                .find(|n| !names.contains(&n.as_str()))
            {
                return Err(unknown(filter.text(), name));
            }
        }
        Ok(())
    }
}

/// The value of a parameter that has only one.
fn only_value(parameter: &Parameter) -> Option<Value> {
    match parameter.listed() {
        Some([only]) => Some(only.clone()),
        _ => None,
    }
}

/// Groups of parameters that depend on each other, in the order of their first ones. What has one
/// value only joins nobody: all of its tree is known.
fn groups(parameters: &[Parameter], fixed: &[Option<Value>]) -> Vec<Vec<usize>> {
    let mut group_of: Vec<usize> = (0..parameters.len()).collect();
    for (position, parameter) in parameters.iter().enumerate() {
        for name in parameter.formulas().flat_map(|formula| formula.depends()) {
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
            order: match &parameter.range {
                ParameterRange::Listed { order, .. } => *order,
                ParameterRange::Derived(_) => Order::Categories,
            },
            is_derived: parameter.listed().is_none(),
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

    /// The names of those that are searched: what is derived, or has one value only, follows from the
    /// others.
    pub fn searched(&self) -> Vec<String> {
        let free = self.axes.iter();
        let free = free.filter(|axis| !axis.is_derived && axis.values.len() > 1);
        free.map(|axis| axis.name.clone()).collect()
    }

    /// The number of configurations that the trees hold, as far as a float has it.
    pub fn size(&self) -> f64 {
        self.trees.iter().map(|tree| tree.count() as f64).product()
    }

    /// The configuration that a search starts from, if one was named.
    pub fn start(&self) -> Option<&Point> {
        self.start.as_ref()
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

    /// Tells whether the filters let a configuration pass, and counts.
    pub fn admits(&self, configuration: &Configuration) -> Result<bool> {
        if self.filters.is_empty() {
            return Ok(true);
        }
        self.asked.fetch_add(1, Ordering::Relaxed);
        let values: Vec<Option<Value>> = configuration.values().iter().cloned().map(Some).collect();
        for (filter, rejected) in self.filters.iter().zip(&self.rejected) {
            if !filter.holds(&values).map_err(Error::input)? {
                rejected.fetch_add(1, Ordering::Relaxed);
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Counts of what the filters have rejected so far, if they were asked.
    pub fn rejections(&self) -> Option<Rejections> {
        let asked = self.asked.load(Ordering::Relaxed);
        let counts = self.rejected.iter();
        let counts: Vec<u64> = counts.map(|own| own.load(Ordering::Relaxed)).collect();
        let each = self.filters.iter().zip(&counts).rev();
        let (most, by_filter) = each.max_by_key(|(_, count)| **count)?;
        (asked > 0).then(|| Rejections {
            asked,
            rejected: counts.iter().sum(),
            filter: most.formula.text().to_string(),
            by_filter: *by_filter,
        })
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
