//! Trees of valid configurations: one for each group of parameters that depend on each other.
//!
//! A level of a tree is a parameter, an edge a value that has a valid configuration below it. Two
//! places of a level at which all that later constraints depend on is equal have the same tree
//! below, which stands once. So a tree has as many nodes as there are different answers to
//! "what may follow", whatever the number of configurations is.

use std::collections::HashMap;

use super::constraint::Constraint;
use super::parameter::Parameter;
use super::value::Value;
use crate::error::{Error, Result};

/// The most nodes of a tree, and the most questions to constraints while it grows.
const MOST_NODES: usize = 1 << 22;
const MOST_QUESTIONS: u64 = 200_000_000;

/// End of a branch: all parameters have values.
const LEAF: u32 = u32::MAX;

/// All valid configurations of a group of parameters.
#[derive(Debug)]
pub(crate) struct Tree {
    /// Its parameters, as positions in the space, in order.
    pub(crate) parameters: Vec<usize>,
    /// The values of each that occur in a configuration, in order.
    pub(crate) values: Vec<Vec<Value>>,
    pub(super) nodes: Vec<Node>,
    root: u32,
}

/// The valid values of a parameter at one place, as ranks among those that occur anywhere.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Node {
    level: usize,
    ranks: Vec<u32>,
    children: Vec<u32>,
    /// The number of configurations below each child and those before it.
    ends: Vec<u128>,
}

/// A constraint and where its arguments come from: positions in the space.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) constraint: Constraint,
    pub(crate) arguments: Vec<usize>,
}

impl Asked {
    /// Tells whether the constraint holds. All of its parameters have values by then.
    pub(crate) fn holds(&self, values: &[Option<Value>]) -> bool {
        let given = self.arguments.iter();
        let given: Vec<&Value> = given.filter_map(|at| values[*at].as_ref()).collect();
        self.constraint.holds(&given)
    }
}

/// A parameter and its constraints, ready to be asked.
#[derive(Clone, Debug)]
pub(crate) struct Level {
    pub(crate) position: usize,
    pub(crate) name: String,
    pub(crate) values: Vec<Value>,
    pub(crate) constraints: Vec<Asked>,
    /// The earlier parameters that constraints of this level or later ones depend on.
    pub(crate) live: Vec<usize>,
}

/// The levels of a group of parameters. `place` gives the position of a name.
pub(crate) fn levels(
    group: &[usize],
    parameters: &[Parameter],
    place: impl Fn(&str) -> usize,
) -> Vec<Level> {
    let asked = |constraint: &Constraint| Asked {
        constraint: constraint.clone(),
        arguments: constraint
            .depends()
            .iter()
            .map(|name| place(name))
            .collect(),
    };
    let mut levels: Vec<Level> = group
        .iter()
        .map(|&position| {
            let parameter = &parameters[position];
            Level {
                position,
                name: parameter.name.clone(),
                values: parameter.values.clone(),
                constraints: parameter.constraints.iter().map(asked).collect(),
                live: Vec::new(),
            }
        })
        .collect();
    for level in 0..levels.len() {
        let earlier = &group[..level];
        let later = levels[level..].iter().flat_map(|own| &own.constraints);
        let mut live: Vec<usize> = later
            .flat_map(|asked| asked.arguments.iter().copied())
            .filter(|position| earlier.contains(position))
            .collect();
        live.sort_unstable();
        live.dedup();
        levels[level].live = live;
    }
    levels
}

/// The deepest place at which a tree stopped growing.
#[derive(Clone, Debug)]
pub(crate) struct DeadEnd {
    pub(crate) level: usize,
    /// The values of earlier parameters that matter there.
    pub(crate) given: String,
}

/// A tree that grows.
pub(crate) struct Growing<'l> {
    levels: &'l [Level],
    /// Constraints left out: (level, which).
    without: Option<(usize, usize)>,
    values: Vec<Option<Value>>,
    known: HashMap<(usize, Vec<Value>), Option<u32>>,
    nodes: Vec<Node>,
    shared: HashMap<Node, u32>,
    questions: u64,
    pub(crate) dead_end: Option<DeadEnd>,
}

impl<'l> Growing<'l> {
    /// A tree of these levels; `fixed` are the values of parameters that have only one.
    pub(crate) fn new(levels: &'l [Level], fixed: &[Option<Value>]) -> Growing<'l> {
        Growing {
            levels,
            without: None,
            values: fixed.to_vec(),
            known: HashMap::new(),
            nodes: Vec::new(),
            shared: HashMap::new(),
            questions: 0,
            dead_end: None,
        }
    }

    /// The same with one constraint left out.
    pub(crate) fn without(mut self, level: usize, constraint: usize) -> Growing<'l> {
        self.without = Some((level, constraint));
        self
    }

    /// Grows it; `None` if nothing is valid.
    pub(crate) fn grow(&mut self) -> Result<Option<Tree>> {
        let Some(root) = self.below(0)? else {
            return Ok(None);
        };
        Ok(Some(self.finish(root)))
    }

    fn below(&mut self, level: usize) -> Result<Option<u32>> {
        let Some(current) = self.levels.get(level) else {
            return Ok(Some(LEAF));
        };
        let live: Vec<Value> = current
            .live
            .iter()
            .filter_map(|&position| self.values[position].clone())
            .collect();
        let key = (level, live);
        if let Some(known) = self.known.get(&key) {
            return Ok(*known);
        }
        let mut node = Node {
            level,
            ranks: Vec::new(),
            children: Vec::new(),
            ends: Vec::new(),
        };
        let fixed = self.values[current.position].clone();
        for (rank, value) in (0u32..).zip(&current.values) {
            self.values[current.position] = Some(value.clone());
            if !self.is_valid(level)? {
                continue;
            }
            if let Some(child) = self.below(level + 1)? {
                let end = self
                    .count(child)
                    .checked_add(node.ends.last().copied().unwrap_or(0));
                node.ends.push(end.ok_or_else(|| too_many(current))?);
                node.ranks.push(rank);
                node.children.push(child);
            }
        }
        self.values[current.position] = fixed;
        let grown = self.keep(node, current)?;
        if grown.is_none() {
            self.note_dead_end(level);
        }
        self.known.insert(key, grown);
        Ok(grown)
    }

    fn is_valid(&mut self, level: usize) -> Result<bool> {
        let current = &self.levels[level];
        for (number, constraint) in current.constraints.iter().enumerate() {
            if self.without == Some((level, number)) {
                continue;
            }
            self.questions += 1;
            if !constraint.holds(&self.values) {
                return Ok(false);
            }
        }
        match self.questions > MOST_QUESTIONS {
            true => Err(too_large(current, "its constraints are asked too often")),
            false => Ok(true),
        }
    }

    fn keep(&mut self, node: Node, level: &Level) -> Result<Option<u32>> {
        if node.children.is_empty() {
            return Ok(None);
        }
        if let Some(same) = self.shared.get(&node) {
            return Ok(Some(*same));
        }
        if self.nodes.len() >= MOST_NODES {
            return Err(too_large(level, "there are too many different cases"));
        }
        let number = self.nodes.len() as u32;
        self.nodes.push(node.clone());
        self.shared.insert(node, number);
        Ok(Some(number))
    }

    fn count(&self, node: u32) -> u128 {
        count(&self.nodes, node)
    }

    fn note_dead_end(&mut self, level: usize) {
        if self
            .dead_end
            .as_ref()
            .is_some_and(|known| known.level >= level)
        {
            return;
        }
        let given: Vec<String> = self
            .levels
            .iter()
            .filter(|other| self.levels[level].live.contains(&other.position))
            .filter_map(|other| {
                let value = self.values[other.position].as_ref()?;
                Some(format!("{} = {value}", other.name))
            })
            .collect();
        self.dead_end = Some(DeadEnd {
            level,
            given: given.join(", "),
        });
    }

    /// Leaves out values that occur nowhere, so that neighbours in rank are neighbours.
    fn finish(&mut self, root: u32) -> Tree {
        let mut values = Vec::new();
        let mut ranks: Vec<HashMap<u32, u32>> = Vec::new();
        for (number, level) in self.levels.iter().enumerate() {
            let mut used: Vec<u32> = self
                .nodes
                .iter()
                .filter(|node| node.level == number)
                .flat_map(|node| node.ranks.iter().copied())
                .collect();
            used.sort_unstable();
            used.dedup();
            let occurring = used.iter().map(|&at| level.values[at as usize].clone());
            values.push(occurring.collect());
            ranks.push(used.into_iter().zip(0..).collect());
        }
        for node in &mut self.nodes {
            for rank in &mut node.ranks {
                *rank = ranks[node.level][rank];
            }
        }
        Tree {
            parameters: self.levels.iter().map(|level| level.position).collect(),
            values,
            nodes: std::mem::take(&mut self.nodes),
            root,
        }
    }
}

fn count(nodes: &[Node], node: u32) -> u128 {
    match node {
        LEAF => 1,
        _ => nodes[node as usize].ends.last().copied().unwrap_or(0),
    }
}

fn too_many(level: &Level) -> Error {
    Error::input(format!(
        "parameter '{}' and those that depend on it have more than 2^128 configurations",
        level.name
    ))
    .help("fix some of the parameters")
}

fn too_large(level: &Level, why: &str) -> Error {
    let message = format!("parameter '{}': {why}", level.name);
    Error::input(message).help("fix some of the parameters")
}

/// One step on the way down: valid ranks, and the way on by each.
pub(crate) struct Step<'t> {
    tree: &'t Tree,
    node: u32,
}

impl<'t> Step<'t> {
    /// The ranks that are valid here, ascending.
    pub(crate) fn ranks(&self) -> &'t [u32] {
        &self.tree.nodes[self.node as usize].ranks
    }

    /// The step after the child of that number; none behind the last level.
    pub(crate) fn child(&self, number: usize) -> Option<Step<'t>> {
        let node = self.tree.nodes[self.node as usize].children[number];
        (node != LEAF).then_some(Step {
            tree: self.tree,
            node,
        })
    }
}

impl Tree {
    /// The number of configurations.
    pub(crate) fn count(&self) -> u128 {
        count(&self.nodes, self.root)
    }

    /// The first step.
    pub(crate) fn start(&self) -> Step<'_> {
        Step {
            tree: self,
            node: self.root,
        }
    }

    /// The ranks of the configuration with that number, which is below the count.
    pub(crate) fn ranks(&self, mut number: u128) -> Vec<u32> {
        let mut ranks = Vec::with_capacity(self.parameters.len());
        let mut node = self.root;
        while node != LEAF {
            let here = &self.nodes[node as usize];
            let child = here.ends.partition_point(|end| *end <= number);
            number -= child.checked_sub(1).map_or(0, |before| here.ends[before]);
            ranks.push(here.ranks[child]);
            node = here.children[child];
        }
        ranks
    }

    /// The number of a configuration, given as ranks; none if it is not valid.
    pub(crate) fn number(&self, mut ranks: impl Iterator<Item = u32>) -> Option<u128> {
        let (mut node, mut number) = (self.root, 0);
        while node != LEAF {
            let here = &self.nodes[node as usize];
            let child = here.ranks.binary_search(&ranks.next()?).ok()?;
            number += child.checked_sub(1).map_or(0, |before| here.ends[before]);
            node = here.children[child];
        }
        Some(number)
    }
}
