//! Reductions of a nest by an operator that the program says is associative.
//!
//! The value is that of the points in order. The bound is that of a user's operator, four times what
//! random associations are apart, and at least what a running error analysis gives (Higham, Accuracy
//! and Stability of Numerical Algorithms, 2002, 3.3): each operation adds what it rounds, and passes on
//! what its operands are off, so that the result is off the real one by no more than the sum. In order
//! that is one bound; what is compiled combines parts, as a balanced tree does or less evenly, and is
//! off by no more than the larger of the two.

use super::super::element::{Element, Errors, distance, moved};
use super::super::failure::Failure;
use super::super::fold::{Fold, State};
use super::super::running::Running;
use crate::operator::Operator;
use crate::scalar::{Scalar, ScalarType};

/// Elements that are made in several worlds are off by so many times what these are apart.
const SPREAD: f64 = 4.0;

/// Holds what has come together so far.
pub(super) struct Licensed<'a> {
    operator: &'a Operator,
    errors: Errors,
    fold: Fold<'a>,
    state: State,
    running: Running,
    /// The points in order, with what they may be off; nothing where that cannot be followed.
    chain: Option<Vec<Element>>,
    /// Perfect trees of so many levels each, the largest first.
    trees: Vec<(u32, Option<Vec<Element>>)>,
    scattered: Vec<Scalar>,
}

impl<'a> Licensed<'a> {
    pub(super) fn new(operator: &'a Operator, types: &'a [ScalarType], errors: Errors) -> Self {
        Licensed {
            operator,
            errors,
            fold: Fold::new(Some(operator), types, errors),
            state: State::Absent,
            running: Running::default(),
            chain: None,
            trees: Vec::new(),
            scattered: Vec::new(),
        }
    }

    /// Returns the number of worlds in which tuples are needed.
    pub(super) fn worlds(&self) -> usize {
        self.fold.worlds()
    }

    /// Takes what the outputs hold before.
    pub(super) fn carry(&mut self, before: &[Element], keys: &[u64]) -> Result<(), Failure> {
        let mut worlds = std::mem::take(&mut self.scattered);
        worlds.clear();
        if before.iter().any(|element| element.error > 0.0) {
            for world in 0..self.worlds() as u64 {
                let elements = before.iter().zip(keys);
                worlds.extend(elements.map(|(element, key)| moved(*element, *key, world)));
            }
        }
        self.fold.push(&mut self.state, before, &worlds)?;
        self.follow(before.to_vec());
        self.scattered = worlds;
        Ok(())
    }

    /// Combines the tuple of a point, which is given in each world too, unless it is always the same.
    pub(super) fn push(&mut self, tuple: &[Element], worlds: &[Scalar]) -> Result<(), Failure> {
        self.fold.push(&mut self.state, tuple, worlds)?;
        let off = |n: usize, element: &Element| {
            let values = worlds.iter().skip(n).step_by(tuple.len());
            let off = values.map(|value| distance(*value, element.value));
            element.error + SPREAD * off.fold(0.0, f64::max)
        };
        let elements = tuple.iter().enumerate().map(|(n, element)| Element {
            value: element.value,
            error: off(n, element),
        });
        self.follow(elements.collect());
        Ok(())
    }

    /// Takes a tuple into the running analysis.
    fn follow(&mut self, tuple: Vec<Element>) {
        if self.errors == Errors::Ignored {
            return;
        }
        self.chain = match (self.trees.is_empty(), self.chain.take()) {
            (true, _) => Some(tuple.clone()),
            (false, Some(chain)) => self.both(&chain, &tuple),
            (false, None) => None,
        };
        let mut top = (0, Some(tuple));
        while let Some((level, left)) = self.trees.pop_if(|(level, _)| *level == top.0) {
            top = (level + 1, self.joined(left, top.1));
        }
        self.trees.push(top);
    }

    fn joined(
        &mut self,
        left: Option<Vec<Element>>,
        right: Option<Vec<Element>>,
    ) -> Option<Vec<Element>> {
        self.both(&left?, &right?)
    }

    /// The operator of two tuples, and what it may be off.
    fn both(&mut self, left: &[Element], right: &[Element]) -> Option<Vec<Element>> {
        let Operator::User(user) = self.operator else {
            return None;
        };
        self.running.run(&user.code, &[left, right].concat())
    }

    pub(super) fn finish(mut self) -> Vec<Element> {
        let mut elements = self.fold.finish(&self.state).unwrap_or_default();
        let mut tree: Option<Vec<Element>> = None;
        for (n, (_, own)) in std::mem::take(&mut self.trees)
            .into_iter()
            .rev()
            .enumerate()
        {
            tree = match n {
                0 => own,
                _ => self.joined(own, tree),
            };
        }
        let (Some(chain), Some(tree)) = (self.chain.take(), tree) else {
            return elements;
        };
        for ((element, chain), tree) in elements.iter_mut().zip(chain).zip(tree) {
            let bound = chain.error + chain.error.max(tree.error);
            // Where the analysis loses track, of a choice by a comparison that may go both ways, the
            // associations that were tried say more.
            if bound.is_finite() {
                element.error = element.error.max(bound);
            }
        }
        elements
    }
}
