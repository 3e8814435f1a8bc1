//! A program with the arguments of one run: all shapes known, all computations bound.

use std::collections::HashMap;
use std::sync::Arc;

use super::memory::View;
use super::reference::Memo;
use super::slices::Slice;
use super::statement::ValueId;
use crate::bind::shape_text;
use crate::computation::{Computation, Extent, Place};
use crate::domain::total_elements;
use crate::oracle::Element;
use crate::oracle::nest::BoundNest;
use crate::rules::Finding;
use crate::scalar::{Scalar, ScalarType};

/// Message about tensors that no memory can hold.
pub(super) const TOO_LARGE: &str = "bytes: expected fewer than 2^63";

/// Message about values that are not certain.
pub(super) const OPEN: &str = "of which the definition leaves open what it is";

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
    pub(super) findings: Vec<(usize, Finding)>,
    /// Of all loops so far.
    pub(super) iterations: usize,
    /// So many they may have together.
    pub(super) limit: usize,
    /// So many names that no statement has are in use.
    pub(super) names: usize,
    /// Holds what statements that depend on elements have evaluated: the next ones need the same.
    pub(super) memos: Vec<Memo>,
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
}

/// Says that a value cannot decide anything.
pub(super) fn open(element: Element) -> String {
    format!(
        "depends on the value {}, {OPEN} (it comes from a sum that may be rounded differently, or was \
         never written): expected one that is certain",
        element.value
    )
}

pub(super) fn fits(shape: &[i64], expected: &[Extent]) -> Result<(), String> {
    let same = shape.len() == expected.len()
        && (shape.iter().zip(expected)).all(|(n, e)| e.is_none_or(|e| e == *n));
    if same {
        return Ok(());
    }
    let extents: Vec<Extent> = shape.iter().copied().map(Some).collect();
    let (found, expected) = (shape_text(&extents), shape_text(expected));
    Err(format!("has shape {found}: expected {expected}"))
}
