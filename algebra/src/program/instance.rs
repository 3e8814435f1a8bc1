//! A program with the arguments of one run: all shapes known, all computations bound.

use std::collections::HashMap;
use std::sync::Arc;

use super::memory::View;
use super::plain;
use super::reference::Memo;
use super::slices::{Memory, Slice};
use super::{ArgumentType, Compute, Program, ProgramError, Statement, ValueId};
use crate::bind::{Binding, shape_text};
use crate::computation::{Computation, Extent, Place};
use crate::domain::total_elements;
use crate::oracle::Element;
use crate::oracle::nest::BoundNest;
use crate::rules::{self, Finding};
use crate::scalar::{Scalar, ScalarType};

/// The number of iterations from which on loops are taken for ones that never end.
const ITERATIONS: usize = 1 << 33;

/// Message about tensors that no memory can hold.
const TOO_LARGE: &str = "bytes: expected fewer than 2^63";

/// Message about values that are not certain.
const OPEN: &str = "of which the definition leaves open what it is";

/// An argument of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument<'a> {
    /// A scalar.
    Scalar(Scalar),
    /// A tensor whose elements are not needed (or not there): they count as never written.
    Shape(Vec<i64>),
    /// A tensor's elements in row-major order, each in
    /// [`ScalarType::byte_width`] bytes, lowest first.
    Data {
        /// Its shape.
        shape: Vec<i64>,
        /// Its elements.
        bytes: &'a [u8],
    },
}

/// Origin of the elements of a tensor.
#[derive(Clone, Debug)]
pub(super) enum Source<'a> {
    /// Never written.
    Undefined,
    Data(&'a [u8]),
    /// All elements are this one.
    Splat(Element),
    Literal(Arc<[Scalar]>),
    Elements(Arc<[Element]>),
    /// A node's elements in the same order.
    Reshape {
        of: usize,
    },
    /// A part of a node.
    Slice {
        of: usize,
        slice: Arc<Slice>,
    },
    /// A node with another one in a part of it.
    Insert {
        into: usize,
        part: usize,
        slice: Arc<Slice>,
    },
    /// A result of a computation, by its number.
    Result {
        compute: usize,
        place: Place,
    },
}

/// Contents of a value at some time: a tensor never changes, a memref moves on to the next node.
#[derive(Clone, Debug)]
pub(super) struct Node<'a> {
    pub(super) element: ScalarType,
    pub(super) shape: Vec<i64>,
    pub(super) source: Source<'a>,
    /// Says how many insertions it is after a node that is none.
    pub(super) depth: usize,
}

impl Node<'_> {
    pub(super) fn flat(&self, index: &[i64]) -> Option<usize> {
        let fits = index.len() == self.shape.len();
        let mut extents = index.iter().zip(&self.shape);
        if !fits || extents.clone().any(|(i, n)| *i < 0 || i >= n) {
            return None;
        }
        let flat = extents.try_fold(0i64, |f, (i, n)| f.checked_mul(*n)?.checked_add(*i))?;
        usize::try_from(flat).ok()
    }

    /// The index of the element of that number in row-major order.
    pub(super) fn index(&self, flat: usize) -> Vec<i64> {
        let mut rest = flat as i64;
        let mut index = vec![0; self.shape.len()];
        for (index, extent) in index.iter_mut().zip(&self.shape).rev() {
            let extent = (*extent).max(1);
            *index = rest % extent;
            rest /= extent;
        }
        index
    }
}

/// Names what is computed as a whole.
#[derive(Clone, Debug)]
pub(super) enum Work {
    Computation(Computation),
    Nest(BoundNest),
}

/// A computation or nest of the program with all sizes known.
#[derive(Clone, Debug)]
pub(super) struct Bound {
    pub(super) statement: usize,
    pub(super) work: Work,
    /// The node of each of the computation's places: what is read, and what destinations hold.
    pub(super) nodes: HashMap<Place, usize>,
    /// The nodes of a nest's inputs, then of its outputs.
    pub(super) operands: Vec<usize>,
    /// The node of each result.
    pub(super) results: HashMap<Place, usize>,
    /// The valid bit of each carry.
    pub(super) valid: Vec<bool>,
    /// Nothing is evaluated for a computation that breaks a rule.
    pub(super) broken: bool,
}

/// A value of an instance: a scalar's number, or the number of a tensor's node.
#[derive(Clone, Copy, Debug)]
pub(super) enum InstanceValue {
    Scalar(Element),
    Tensor(usize),
}

/// A program whose shapes are known.
#[derive(Clone, Debug)]
pub struct Instance<'a> {
    pub(super) nodes: Vec<Node<'a>>,
    pub(super) computes: Vec<Bound>,
    pub(super) returns: Vec<InstanceValue>,
    pub(super) arguments: Vec<InstanceValue>,
    pub(super) values: HashMap<ValueId, InstanceValue>,
    /// Holds what other names of memrefs stand for.
    pub(super) aliases: HashMap<ValueId, (ValueId, View)>,
    findings: Vec<(usize, Finding)>,
    /// Of all loops so far.
    pub(super) iterations: usize,
    /// So many they may have together.
    pub(super) limit: usize,
    /// So many names that no statement has are in use.
    pub(super) names: usize,
    /// Holds what statements that depend on elements have evaluated: the next ones need the same.
    pub(super) memos: Vec<Memo>,
}

impl Program {
    /// Runs the scalars and shapes, and checks every computation.
    ///
    /// Broken rules are [`Instance::findings`]; an error is what keeps shapes from being known:
    /// a wrong argument, an undefined scalar operation, a negative extent.
    pub fn instantiate<'a>(
        &self,
        arguments: &[Argument<'a>],
    ) -> Result<Instance<'a>, ProgramError> {
        self.instantiate_within(arguments, ITERATIONS)
    }

    /// The same, if all loops together have no more than so many iterations.
    pub fn instantiate_within<'a>(
        &self,
        arguments: &[Argument<'a>],
        limit: usize,
    ) -> Result<Instance<'a>, ProgramError> {
        let mut instance = Instance {
            nodes: Vec::new(),
            computes: Vec::new(),
            returns: Vec::new(),
            arguments: Vec::new(),
            values: HashMap::new(),
            aliases: HashMap::new(),
            findings: Vec::new(),
            iterations: 0,
            limit,
            names: 0,
            memos: Vec::new(),
        };
        let outside = |message: String| ProgramError {
            statement: None,
            is_open: message.contains(OPEN),
            is_too_large: message.contains(TOO_LARGE),
            message,
            is_too_long: false,
        };
        if arguments.len() != self.arguments.len() {
            return Err(outside(format!(
                "{} arguments were given: expected {}",
                arguments.len(),
                self.arguments.len()
            )));
        }
        for (n, (argument, ty)) in arguments.iter().zip(&self.arguments).enumerate() {
            let value = instance.argument(argument, ty);
            let value = value.map_err(|m| outside(format!("argument {n} {m}")))?;
            instance.values.insert(n, value);
        }
        let run = instance.run_all(&self.statements, 0);
        run.map_err(|(number, message)| ProgramError {
            statement: Some(number),
            is_open: message.contains(OPEN),
            is_too_large: message.contains(TOO_LARGE),
            message,
            is_too_long: instance.iterations > limit,
        })?;
        for value in &self.returns {
            let value = instance.value(*value).map_err(outside)?;
            instance.returns.push(value);
        }
        for n in 0..self.arguments.len() {
            let value = instance.value(n).map_err(outside)?;
            instance.arguments.push(value);
        }
        Ok(instance)
    }
}

impl<'a> Instance<'a> {
    /// Returns the number of computations that run, those of each iteration of a loop included.
    pub fn computations(&self) -> usize {
        self.computes.len()
    }

    /// The computations with their sizes, each with the number of its statement.
    pub fn bound_computations(&self) -> impl Iterator<Item = (usize, &Computation)> {
        let computes = self.computes.iter();
        computes.filter_map(|bound| match &bound.work {
            Work::Computation(computation) => Some((bound.statement, computation)),
            Work::Nest(_) => None,
        })
    }

    /// Returns whether it has sums or products in nests, which may be reordered.
    pub fn has_reordered_nests(&self) -> bool {
        let mut computes = self.computes.iter();
        computes.any(|bound| matches!(&bound.work, Work::Nest(nest) if nest.may_reorder()))
    }

    /// The broken rules, each with the number of its statement. What needs a computation that
    /// breaks one cannot be evaluated.
    pub fn findings(&self) -> &[(usize, Finding)] {
        &self.findings
    }

    /// The shape of a tensor or memref at the end; empty for a scalar.
    pub fn shape(&self, value: ValueId) -> Option<&[i64]> {
        match self.values.get(&value)? {
            InstanceValue::Scalar(_) => Some(&[]),
            InstanceValue::Tensor(node) => Some(&self.nodes[*node].shape),
        }
    }

    /// The scalar that a value is, if it is one.
    pub fn scalar(&self, value: ValueId) -> Option<Scalar> {
        match self.values.get(&value)? {
            InstanceValue::Scalar(scalar) => Some(scalar.value),
            InstanceValue::Tensor(_) => None,
        }
    }

    pub(super) fn scalar_element(&self, value: ValueId) -> Result<Element, String> {
        match self.values.get(&value) {
            Some(InstanceValue::Scalar(scalar)) => Ok(*scalar),
            Some(InstanceValue::Tensor(_)) => Err(format!("bug: value {value} is not a scalar")),
            None => Err(format!("bug: value {value} is not defined")),
        }
    }

    /// A scalar that decides what is done: it must be certain.
    pub(super) fn known_scalar(&self, value: ValueId) -> Result<Scalar, String> {
        let element = self.scalar_element(value)?;
        match element.error > 0.0 {
            true => Err(open(element)),
            false => Ok(element.value),
        }
    }

    pub(super) fn integers(&self, values: &[ValueId]) -> Result<Vec<i64>, String> {
        let integer = |value: &ValueId| Ok(self.known_scalar(*value)?.as_i64());
        values.iter().map(integer).collect()
    }

    /// A tensor's node; a scalar becomes one without axes.
    pub(super) fn tensor(&mut self, value: ValueId) -> Result<usize, String> {
        match self.value(value)? {
            InstanceValue::Tensor(node) => Ok(node),
            InstanceValue::Scalar(of) => self.add(of.value.ty, Vec::new(), Source::Splat(of)),
        }
    }

    pub(super) fn add(
        &mut self,
        element: ScalarType,
        shape: Vec<i64>,
        source: Source<'a>,
    ) -> Result<usize, String> {
        if let Some(extent) = shape.iter().find(|n| **n < 0) {
            return Err(format!(
                "a tensor has the extent {extent}: expected at least 0"
            ));
        }
        let elements = total_elements(&shape);
        let bytes = elements.and_then(|n| n.checked_mul(element.byte_width() as i64));
        if bytes.is_none() {
            let known: Vec<Extent> = shape.iter().copied().map(Some).collect();
            let text = shape_text(&known);
            let bytes = shape
                .iter()
                .fold(element.byte_width() as u128, |all, extent| {
                    all.saturating_mul(*extent as u128)
                });
            return Err(format!(
                "a tensor of {text} {element} has {bytes} {TOO_LARGE}"
            ));
        }
        let depth = match &source {
            Source::Insert { into, .. } => self.nodes[*into].depth + 1,
            _ => 0,
        };
        self.nodes.push(Node {
            element,
            shape,
            source,
            depth,
        });
        Ok(self.nodes.len() - 1)
    }

    fn argument(
        &mut self,
        argument: &Argument<'a>,
        ty: &ArgumentType,
    ) -> Result<InstanceValue, String> {
        let (element, expected) = match (argument, ty) {
            (Argument::Scalar(scalar), ArgumentType::Scalar(ty)) if scalar.ty == *ty => {
                return Ok(InstanceValue::Scalar(Element::exact(*scalar)));
            }
            (Argument::Scalar(scalar), ArgumentType::Scalar(ty)) => {
                return Err(format!("has type {}: expected {ty}", scalar.ty));
            }
            (Argument::Scalar(_), _) => return Err("is a scalar: expected a tensor".into()),
            (_, ArgumentType::Scalar(_)) => return Err("is a tensor: expected a scalar".into()),
            (_, ArgumentType::Tensor { element, shape }) => (*element, shape),
        };
        let (shape, source) = match argument {
            Argument::Data { shape, bytes } => (shape, Source::Data(bytes)),
            Argument::Shape(shape) => (shape, Source::Undefined),
            Argument::Scalar(_) => return Err("is a scalar".into()),
        };
        fits(shape, expected)?;
        let node = self.add(element, shape.clone(), source)?;
        if let Argument::Data { bytes, shape } = argument {
            let count = total_elements(shape).unwrap_or(0);
            let (found, wanted) = (bytes.len(), count as usize * element.byte_width());
            if found != wanted {
                return Err(format!("has {found} bytes: expected {wanted}"));
            }
        }
        Ok(InstanceValue::Tensor(node))
    }

    pub(super) fn run(&mut self, number: usize, statement: &Statement) -> Result<(), String> {
        let (result, value) = match statement {
            Statement::Constant { result, value } => (*result, exact(*value)),
            Statement::Apply {
                result,
                op,
                operands,
                ty,
            } => {
                let elements: Result<Vec<_>, _> =
                    operands.iter().map(|o| self.scalar_element(*o)).collect();
                let mut elements = elements?;
                plain::settle(*op, operands, &mut elements);
                let is_exact = elements.iter().all(|e| e.error == 0.0);
                let value = match is_exact {
                    true => Element::of_operation(*op, &elements, *ty),
                    false => Element::rounded(*op, &elements, *ty),
                };
                (
                    *result,
                    InstanceValue::Scalar(value.map_err(|e| e.to_string())?),
                )
            }
            Statement::Dim {
                result,
                tensor,
                axis,
            } => {
                let (node, axis) = (self.tensor(*tensor)?, self.known_scalar(*axis)?.as_i64());
                let shape = &self.nodes[node].shape;
                let extent = usize::try_from(axis).ok().and_then(|a| shape.get(a));
                let extent = extent.ok_or_else(|| {
                    let rank = shape.len();
                    format!("asks for axis {axis} of a tensor that has {rank}")
                })?;
                let extent = Scalar::from_i64(ScalarType::Index, *extent);
                (*result, exact(extent))
            }
            Statement::Load {
                result,
                tensor,
                indices,
            } => {
                let (node, indices) = (self.tensor(*tensor)?, self.integers(indices)?);
                (*result, InstanceValue::Scalar(self.load(node, &indices)?))
            }
            Statement::Alias { .. }
            | Statement::Reinterpret { .. }
            | Statement::Reshape {
                memory: Memory::Shared,
                ..
            } => return self.other_name(statement),
            Statement::Layout(placement) => return self.placement(placement),
            Statement::Compute(compute) => return self.compute(number, compute),
            Statement::Nest(nest) => return self.nest(number, nest),
            Statement::Empty { result, .. } => {
                // What had the name before may be known by another one.
                self.aliases.remove(result);
                self.tensor_statement(statement)?
            }
            tensor => self.tensor_statement(tensor)?,
        };
        self.assign(result, value)
    }

    fn compute(&mut self, number: usize, compute: &Compute) -> Result<(), String> {
        let computation = &compute.computation;
        let mut operands: Vec<ValueId> = compute.inputs.clone();
        operands.extend(&compute.outputs);
        let mut valid = Vec::new();
        for carry in &compute.carries {
            operands.extend(&carry.incoming);
            operands.extend(&carry.outgoing);
            valid.push(match carry.valid {
                Some(bit) => self.known_scalar(bit)?.is_true(),
                None => true,
            });
        }
        let places = computation.places();
        if places.len() != operands.len() || valid.len() != computation.carries.len() {
            let (found, expected) = (operands.len(), places.len());
            return Err(format!("bug: {found} operands for {expected} buffers"));
        }
        let mut nodes = HashMap::new();
        let mut shapes = Vec::new();
        for (place, operand) in places.into_iter().zip(operands) {
            let node = self.tensor(operand)?;
            let expected = computation.buffer(place).map(|b| b.element);
            if expected != Some(self.nodes[node].element) {
                let found = self.nodes[node].element;
                return Err(format!(
                    "bug: {place:?} is of {expected:?}, its operand of {found}"
                ));
            }
            shapes.push(self.nodes[node].shape.clone());
            nodes.insert(place, node);
        }
        let binding = Binding {
            bounds: self.integers(&compute.bounds)?,
            shapes,
            origins: self.integers(&compute.origins)?,
        };
        let bound = computation.bind(&binding).map_err(|e| e.message)?;
        let findings = rules::check(&bound);
        let broken = !findings.is_empty();
        let findings = findings.into_iter().map(|finding| (number, finding));
        self.findings.extend(findings);
        self.bound(number, compute, bound, nodes, valid, broken)
    }

    /// Adds a computation and its results.
    fn bound(
        &mut self,
        statement: usize,
        compute: &Compute,
        computation: Computation,
        nodes: HashMap<Place, usize>,
        valid: Vec<bool>,
        broken: bool,
    ) -> Result<(), String> {
        let number = self.computes.len();
        let written: Vec<Place> = (computation.places().into_iter())
            .filter(|p| matches!(p, Place::Output(_) | Place::Outgoing { .. }))
            .collect();
        if written.len() != compute.results.len() {
            let (found, expected) = (compute.results.len(), written.len());
            return Err(format!(
                "bug: {found} results for {expected} written buffers"
            ));
        }
        let mut results = HashMap::new();
        for (place, result) in written.into_iter().zip(&compute.results) {
            let destination = &self.nodes[nodes[&place]];
            let (element, shape) = (destination.element, destination.shape.clone());
            let compute = number;
            let node = self.add(element, shape, Source::Result { compute, place })?;
            results.insert(place, node);
            self.assign(*result, InstanceValue::Tensor(node))?;
        }
        self.computes.push(Bound {
            statement,
            work: Work::Computation(computation),
            nodes,
            operands: Vec::new(),
            results,
            valid,
            broken,
        });
        Ok(())
    }
}

/// Says that a value cannot decide anything.
pub(super) fn open(element: Element) -> String {
    format!(
        "depends on the value {}, {OPEN} (it comes from a sum that may be rounded differently, or was \
         never written): expected one that is certain",
        element.value
    )
}

fn exact(value: Scalar) -> InstanceValue {
    InstanceValue::Scalar(Element::exact(value))
}

pub(super) fn fits(shape: &[i64], expected: &[Extent]) -> Result<(), String> {
    let same = shape.len() == expected.len()
        && (shape.iter().zip(expected)).all(|(n, e)| e.is_none_or(|e| e == *n));
    if same {
        return Ok(());
    }
    let found: Vec<Extent> = shape.iter().copied().map(Some).collect();
    let (found, expected) = (shape_text(&found), shape_text(expected));
    Err(format!("has shape {found}: expected {expected}"))
}
