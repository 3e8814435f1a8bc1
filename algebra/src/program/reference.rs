//! Reference values of a program's results, evaluated when they are asked for.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::instance::{Instance, InstanceValue, Node, Source, Work};
use crate::computation::Place;
use crate::domain::{Grid, points};
use crate::oracle::nest::{Elements, NestEvaluator};
use crate::oracle::{Element, Environment, Errors, Evaluator, Failure};
use crate::scalar::ScalarType;

/// Computations of up to so many points are evaluated as a whole when one element is needed.
const SMALL: f64 = 65536.0;
/// So many computations may need each other in a chain of large ones.
const DEEPEST: usize = 200;

/// A result that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The value that the program returns at this position.
    Return(usize),
    /// The final contents of an argument: a memref may have changed.
    Argument(usize),
}

/// Elements of a node that are known so far.
#[derive(Clone, Debug, Default)]
pub(super) enum Memo {
    #[default]
    Nothing,
    Some(HashMap<usize, Element>),
    All(Vec<Element>),
}

/// Evaluator of an instance's results, which remembers evaluated elements.
pub struct Reference<'i> {
    pub(super) instance: &'i Instance<'i>,
    errors: Errors,
    pub(super) memos: Vec<Memo>,
    /// Of each computation; taken while it is at work.
    evaluators: Vec<Option<Evaluator<'i>>>,
    /// The same of nests.
    nests: Vec<Option<NestEvaluator<'i>>>,
    depth: usize,
    failed: Option<usize>,
}

impl<'i> Reference<'i> {
    /// Nothing is evaluated yet.
    pub fn new(instance: &'i Instance<'i>, errors: Errors) -> Self {
        Reference::resumed(instance, errors, Vec::new())
    }

    /// Continues with what was known when there were fewer nodes: a node never changes.
    pub(super) fn resumed(
        instance: &'i Instance<'i>,
        errors: Errors,
        mut memos: Vec<Memo>,
    ) -> Self {
        memos.resize_with(instance.nodes.len(), Memo::default);
        Reference {
            instance,
            errors,
            memos,
            evaluators: instance.computes.iter().map(|_| None).collect(),
            nests: instance.computes.iter().map(|_| None).collect(),
            depth: 0,
            failed: None,
        }
    }

    /// Gives up what is known now.
    pub(super) fn into_memos(self) -> Vec<Memo> {
        self.memos
    }

    /// The number of the statement whose computation failed first, if one has.
    pub fn failed(&self) -> Option<usize> {
        self.failed
    }

    /// The element type and shape of a result.
    pub fn shape(&self, target: Target) -> Result<(ScalarType, &[i64]), Failure> {
        Ok(match self.target(target)? {
            InstanceValue::Scalar(scalar) => (scalar.value.ty, &[]),
            InstanceValue::Tensor(node) => {
                let node = &self.instance.nodes[node];
                (node.element, &node.shape)
            }
        })
    }

    fn target(&self, target: Target) -> Result<InstanceValue, Failure> {
        let value = match target {
            Target::Return(n) => self.instance.returns.get(n),
            Target::Argument(n) => self.instance.arguments.get(n),
        };
        let missing = || Failure::NotReady(format!("there is no {target:?}"));
        value.copied().ok_or_else(missing)
    }

    /// Elements of a result at these indices. Those of one computation are evaluated together,
    /// so that a long scan is walked along once.
    pub fn elements(
        &mut self,
        target: Target,
        indices: &[Vec<i64>],
    ) -> Result<Vec<Element>, Failure> {
        let node = match self.target(target)? {
            InstanceValue::Scalar(scalar) => return Ok(vec![scalar; indices.len()]),
            InstanceValue::Tensor(node) => node,
        };
        let instance = self.instance;
        if let Source::Result { compute, place } = instance.nodes[node].source {
            self.prepare(compute)?;
            if !self.is_small(compute) {
                return self.batch(node, compute, place, indices);
            }
        } else {
            self.prepare_node(node)?;
        }
        indices
            .iter()
            .map(|index| self.element(node, index))
            .collect()
    }

    /// All elements of a result in row-major order.
    pub fn result_elements(&mut self, target: Target) -> Result<Vec<Element>, Failure> {
        let node = match self.target(target)? {
            InstanceValue::Scalar(scalar) => return Ok(vec![scalar]),
            InstanceValue::Tensor(node) => node,
        };
        let instance = self.instance;
        if let Source::Result { compute, .. } = instance.nodes[node].source {
            self.prepare(compute)?;
            self.evaluate_whole(compute)?;
        } else {
            self.prepare_node(node)?;
        }
        let shape = &instance.nodes[node].shape;
        let grids: Vec<Grid> = shape.iter().map(|n| Grid::dense(*n)).collect();
        points(&grids)
            .map(|index| self.element(node, &index))
            .collect()
    }

    /// One element of a node, with all that it needs.
    pub(super) fn node_element(&mut self, node: usize, index: &[i64]) -> Result<Element, Failure> {
        self.prepare_node(node)?;
        self.element(node, index)
    }

    /// Evaluates the small computations behind a node.
    pub(super) fn prepare_node(&mut self, node: usize) -> Result<(), Failure> {
        let behind = self.behind(node, &mut HashSet::new());
        behind.into_iter().try_for_each(|c| self.prepare(c))
    }

    /// The computations whose results a node shows, through slices and insertions.
    fn behind(&self, node: usize, seen: &mut HashSet<usize>) -> Vec<usize> {
        let (mut open, mut found) = (vec![node], Vec::new());
        while let Some(node) = open.pop() {
            if !seen.insert(node) {
                continue;
            }
            match &self.instance.nodes[node].source {
                Source::Result { compute, .. } => found.push(*compute),
                Source::Slice { of, .. } | Source::Reshape { of } => open.push(*of),
                Source::Insert { into, part, .. } => open.extend([*into, *part]),
                _ => {}
            }
        }
        found
    }

    fn batch(
        &mut self,
        node: usize,
        compute: usize,
        place: Place,
        indices: &[Vec<i64>],
    ) -> Result<Vec<Element>, Failure> {
        let whole = &self.instance.nodes[node];
        let known: Vec<Option<Element>> = (indices.iter())
            .map(|i| self.remembered(node, whole.flat(i)?))
            .collect();
        let mut open = Vec::new();
        for (index, known) in indices.iter().zip(&known) {
            whole.flat(index).ok_or_else(|| outside(whole, index))?;
            if known.is_none() {
                open.push(index.clone());
            }
        }
        if let Work::Nest(_) = self.instance.computes[compute].work {
            let elements = whole.shape.iter().product::<i64>() as usize;
            if 2 * open.len() >= elements {
                self.evaluate_whole(compute)?;
            }
            let elements = indices.iter().map(|index| self.element(node, index));
            return elements.collect();
        }
        let run = |e: &mut Evaluator, s: &mut Scope| e.elements(s, place, &open);
        let mut computed = self.with(compute, run)?.into_iter();
        let mut elements = Vec::with_capacity(indices.len());
        for (index, known) in indices.iter().zip(known) {
            let element = match known {
                Some(element) => element,
                None => computed.next().ok_or_else(|| outside(whole, index))?,
            };
            self.remember(node, index, element);
            elements.push(element);
        }
        Ok(elements)
    }

    fn is_small(&self, compute: usize) -> bool {
        let points: f64 = match &self.instance.computes[compute].work {
            Work::Computation(computation) => {
                let counts = computation.dimensions.iter().map(|d| d.count());
                counts.map(|c| c.unwrap_or(0) as f64).product()
            }
            // Nothing less than the whole can be evaluated.
            Work::Nest(nest) if !nest.has_single_elements() => return true,
            Work::Nest(nest) => nest.points(),
        };
        let written = self.instance.computes[compute].results.values();
        let elements = written.map(|n| {
            let shape = self.instance.nodes[*n].shape.iter();
            shape.map(|n| *n as f64).product::<f64>()
        });
        points + elements.sum::<f64>() <= SMALL
    }

    /// Evaluates all small computations that this one needs, first ones first: so that long
    /// chains of small ones do not recurse.
    fn prepare(&mut self, compute: usize) -> Result<(), Failure> {
        let mut needed = BTreeSet::new();
        let mut open = vec![compute];
        let mut seen = HashSet::new();
        while let Some(next) = open.pop() {
            if self.is_evaluated(next) || !needed.insert(next) {
                continue;
            }
            for node in self.instance.computes[next].nodes.values() {
                open.extend(self.behind(*node, &mut seen));
            }
        }
        for next in needed {
            if next != compute && self.is_small(next) {
                self.evaluate_whole(next)?;
            }
        }
        Ok(())
    }

    /// Returns whether all elements of its results are known.
    fn is_evaluated(&self, compute: usize) -> bool {
        let mut results = self.instance.computes[compute].results.values();
        results.all(|n| matches!(self.memos[*n], Memo::All(_)))
    }

    pub(super) fn evaluate_whole(&mut self, compute: usize) -> Result<(), Failure> {
        if self.is_evaluated(compute) {
            return Ok(());
        }
        let results = &self.instance.computes[compute].results;
        let stored = match self.instance.computes[compute].work {
            Work::Computation(_) => self.with(compute, |e, s| e.all_results(s))?,
            Work::Nest(_) => {
                self.lay_out(compute)?;
                let outputs = self.with_nest(compute, |e, s| e.all(s))?;
                let places = (0..outputs.len()).map(Place::Output);
                places.zip(outputs).collect()
            }
        };
        for (place, elements) in stored {
            self.memos[results[&place]] = Memo::All(elements);
        }
        Ok(())
    }

    /// Runs a computation's evaluator on what the computation reads.
    fn with<T>(
        &mut self,
        compute: usize,
        run: impl FnOnce(&mut Evaluator<'i>, &mut Scope<'_, 'i>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let bound = &self.instance.computes[compute];
        let Work::Computation(computation) = &bound.work else {
            return Err(Failure::NotReady("bug: not a computation".into()));
        };
        if bound.broken {
            let statement = bound.statement;
            let message = format!("statement {statement} breaks a rule and has no result");
            return Err(Failure::NotReady(message));
        }
        let mut evaluator = match self.evaluators[compute].take() {
            Some(evaluator) => evaluator,
            None => Evaluator::new(computation, self.errors)?,
        };
        let result = self.within(compute, |scope| run(&mut evaluator, scope));
        self.evaluators[compute] = Some(evaluator);
        result
    }

    /// Runs a nest's evaluator on what the nest reads.
    fn with_nest<T>(
        &mut self,
        compute: usize,
        run: impl FnOnce(&mut NestEvaluator<'i>, &mut Scope<'_, 'i>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let Work::Nest(nest) = &self.instance.computes[compute].work else {
            return Err(Failure::NotReady("bug: not a nest".into()));
        };
        let evaluator = self.nests[compute].take();
        let mut evaluator = evaluator.unwrap_or_else(|| NestEvaluator::new(nest, self.errors));
        let result = self.within(compute, |scope| run(&mut evaluator, scope));
        self.nests[compute] = Some(evaluator);
        result
    }

    fn within<T>(
        &mut self,
        compute: usize,
        run: impl FnOnce(&mut Scope<'_, 'i>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        if self.depth >= DEEPEST {
            let message = format!("more than {DEEPEST} large computations need each other");
            return Err(Failure::NotReady(message));
        }
        self.depth += 1;
        let mut scope = Scope {
            reference: self,
            compute,
        };
        let result = run(&mut scope);
        // The innermost computation that fails is where the failure is.
        if result.is_err() && self.failed.is_none() {
            self.failed = Some(self.instance.computes[compute].statement);
        }
        self.depth -= 1;
        result
    }

    fn remembered(&self, node: usize, flat: usize) -> Option<Element> {
        match &self.memos[node] {
            Memo::Nothing => None,
            Memo::Some(some) => some.get(&flat).copied(),
            Memo::All(all) => all.get(flat).copied(),
        }
    }

    fn remember(&mut self, node: usize, index: &[i64], element: Element) {
        if let Some(flat) = self.instance.nodes[node].flat(index) {
            self.remember_flat(node, flat, element);
        }
    }

    fn remember_flat(&mut self, node: usize, flat: usize, element: Element) {
        match &mut self.memos[node] {
            Memo::All(_) => {}
            Memo::Some(some) => {
                some.insert(flat, element);
            }
            nothing => *nothing = Memo::Some(HashMap::from([(flat, element)])),
        }
    }

    /// Returns whether a quarter of a node's elements have been asked for, one at a time: then all
    /// of them together cost less than what was spent, since nothing is looked up in between.
    fn is_mostly_known(&self, node: usize) -> bool {
        let elements: i64 = self.instance.nodes[node].shape.iter().product();
        match &self.memos[node] {
            Memo::Some(some) => 4 * some.len() >= elements as usize,
            _ => false,
        }
    }

    /// One element of a node.
    pub(super) fn element(&mut self, node: usize, index: &[i64]) -> Result<Element, Failure> {
        let instance = self.instance;
        let Some(flat) = instance.nodes[node].flat(index) else {
            return Err(outside(&instance.nodes[node], index));
        };
        if let Memo::All(all) = &self.memos[node] {
            let element = all.get(flat).copied();
            return element.ok_or_else(|| outside(&instance.nodes[node], index));
        }
        let (node, index) = instance.resolved(node, index);
        let (of, index) = (&instance.nodes[node], index.as_slice());
        let Some(flat) = of.flat(index) else {
            return Err(outside(of, index));
        };
        if let Some(element) = of.held(index) {
            return Ok(element);
        }
        let Source::Result { compute, place } = of.source else {
            return Err(Failure::NotReady(
                "bug: an element comes from nowhere".into(),
            ));
        };
        if let Some(element) = self.remembered(node, flat) {
            return Ok(element);
        }
        if self.is_small(compute) || self.is_mostly_known(node) {
            self.evaluate_whole(compute)?;
        } else {
            self.evaluate_some(compute, place, index)?;
        }
        let element = self.remembered(node, flat);
        element.ok_or_else(|| Failure::NotReady("bug: an element was not evaluated".into()))
    }
}

impl Reference<'_> {
    /// Evaluates one element, and what is likely to be needed, too: the whole line of prefix-sums,
    /// and all components of the point.
    fn evaluate_some(
        &mut self,
        compute: usize,
        place: Place,
        index: &[i64],
    ) -> Result<(), Failure> {
        let bound = &self.instance.computes[compute];
        let (Work::Nest(_), Place::Output(output)) = (&bound.work, place) else {
            let line = self.with(compute, |e, s| e.line(s, place, index))?;
            for (place, index, element) in line {
                self.remember(bound.results[&place], &index, element);
            }
            return Ok(());
        };
        let point = self.with_nest(compute, |e, s| e.one(s, output, index))?;
        for (n, (flat, element)) in point.into_iter().enumerate() {
            self.remember_flat(bound.results[&Place::Output(n)], flat, element);
        }
        Ok(())
    }
}

fn outside(node: &Node, index: &[i64]) -> Failure {
    Failure::Outside {
        buffer: "a result".into(),
        index: Some(index.to_vec()),
        shape: node.shape.clone(),
    }
}

/// The environment of one computation: what it reads.
struct Scope<'r, 'i> {
    reference: &'r mut Reference<'i>,
    compute: usize,
}

impl Environment for Scope<'_, '_> {
    fn read(&mut self, place: Place, index: &[i64]) -> Result<Element, Failure> {
        let node = self.reference.instance.computes[self.compute].nodes[&place];
        self.reference.element(node, index)
    }

    fn valid(&mut self, carry: usize) -> Result<bool, Failure> {
        let valid = self.reference.instance.computes[self.compute]
            .valid
            .get(carry);
        Ok(valid.copied().unwrap_or(true))
    }
}

impl Elements for Scope<'_, '_> {
    fn read(&mut self, operand: usize, flat: usize) -> Result<Element, Failure> {
        let instance = self.reference.instance;
        let mut id = instance.computes[self.compute].operands[operand];
        // A reshaped tensor has the elements of the other in the same order.
        while let Source::Reshape { of } = instance.nodes[id].source {
            id = of;
        }
        let node = &instance.nodes[id];
        if let Some(element) = node.held_flat(flat) {
            return Ok(element);
        }
        match self.reference.remembered(id, flat) {
            Some(element) => Ok(element),
            None => self.reference.element(id, &node.index(flat)),
        }
    }

    fn tensor(&self, operand: usize) -> u64 {
        self.reference.instance.computes[self.compute].operands[operand] as u64
    }
}
