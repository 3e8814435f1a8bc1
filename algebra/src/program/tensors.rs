//! Statements on whole tensors: each adds a node that says where the elements come from.

use std::sync::Arc;

use super::instance::{Instance, Node, Source, Value, fits};
use super::reference::Reference;
use super::slices::{Index, Slice, SliceOperands};
use super::{Statement, ValueId};
use crate::domain::total_elements;
use crate::oracle::{Element, Errors};
use crate::scalar::Scalar;

impl Node<'_> {
    /// Returns whether there is an element at an index.
    fn has(&self, index: &[i64]) -> bool {
        self.flat(index).is_some()
    }

    /// The element at an index, where none has to be computed for it.
    pub(super) fn held(&self, index: &[i64]) -> Option<Element> {
        self.held_flat(self.flat(index)?)
    }

    /// The same by its number in row-major order, which is that of one.
    pub(super) fn held_flat(&self, flat: usize) -> Option<Element> {
        match &self.source {
            Source::Undefined => Some(Element::undefined(self.element)),
            Source::Splat(element) => Some(*element),
            Source::Literal(values) => Some(Element::exact(values[flat])),
            Source::Data(bytes) => {
                let start = flat * self.element.byte_width();
                let value = Scalar::from_bytes(self.element, bytes.get(start..).unwrap_or(&[]));
                value.map(Element::exact)
            }
            Source::Result { .. } | Source::Slice { .. } | Source::Insert { .. } => None,
        }
    }
}

impl Instance<'_> {
    pub(super) fn tensor_statement(
        &mut self,
        statement: &Statement,
    ) -> Result<(ValueId, Value), String> {
        let (result, node) = match statement {
            Statement::Empty {
                result,
                element,
                shape,
                sizes,
            } => {
                let mut sizes = self.integers(sizes)?.into_iter();
                let extents = shape.iter().map(|n| n.or_else(|| sizes.next()));
                let shape: Option<Vec<i64>> = extents.collect();
                let shape = shape.ok_or("bug: a tensor has too few sizes")?;
                (*result, self.add(*element, shape, Source::Undefined)?)
            }
            Statement::Literal {
                result,
                element,
                shape,
                values,
            } => {
                let count = total_elements(shape).unwrap_or(-1);
                let source = match (&values[..], count) {
                    ([one], _) => Source::Splat(Element::exact(*one)),
                    (all, n) if all.len() as i64 == n => Source::Literal(values.clone()),
                    (all, n) => {
                        let found = all.len();
                        return Err(format!("bug: {found} constants fill a tensor of {n}"));
                    }
                };
                (*result, self.add(*element, shape.clone(), source)?)
            }
            Statement::Fill {
                result,
                value,
                tensor,
            } => {
                let value = self.scalar_element(*value)?;
                let node = self.tensor(*tensor)?;
                let (element, shape) = (self.nodes[node].element, self.nodes[node].shape.clone());
                if element != value.value.ty {
                    let found = value.value.ty;
                    return Err(format!(
                        "fills a tensor of {element} with a value of {found}"
                    ));
                }
                (*result, self.add(element, shape, Source::Splat(value))?)
            }
            Statement::Cast {
                result,
                tensor,
                shape,
            } => {
                let node = self.tensor(*tensor)?;
                fits(&self.nodes[node].shape, shape).map_err(|m| format!("the tensor {m}"))?;
                (*result, node)
            }
            Statement::Slice {
                result,
                tensor,
                slice,
            } => {
                let node = self.tensor(*tensor)?;
                let slice = self.slice(slice, node)?;
                (*result, self.part(node, slice)?)
            }
            Statement::Insert {
                result,
                part,
                tensor,
                slice,
            } => {
                let (part, node) = (self.tensor(*part)?, self.tensor(*tensor)?);
                let slice = self.slice(slice, node)?;
                (*result, self.inserted(node, part, slice)?)
            }
            Statement::Store {
                result,
                value,
                tensor,
                indices,
            } => {
                let (part, node) = (self.tensor(*value)?, self.tensor(*tensor)?);
                (*result, self.stored(node, part, indices)?)
            }
            _ => return Err("bug: not a statement on tensors".into()),
        };
        Ok((result, Value::Tensor(node)))
    }

    pub(super) fn part(&mut self, of: usize, slice: Arc<Slice>) -> Result<usize, String> {
        let (element, shape) = (self.nodes[of].element, slice.shape());
        self.add(element, shape, Source::Slice { of, slice })
    }

    pub(super) fn inserted(
        &mut self,
        into: usize,
        part: usize,
        slice: Arc<Slice>,
    ) -> Result<usize, String> {
        let (found, expected) = (&self.nodes[part].shape, slice.shape());
        if *found != expected {
            return Err(format!(
                "inserts a tensor of shape {found:?}: expected {expected:?}"
            ));
        }
        let (element, shape) = (self.nodes[into].element, self.nodes[into].shape.clone());
        self.add(element, shape, Source::Insert { into, part, slice })
    }

    pub(super) fn slice(&self, operands: &SliceOperands, of: usize) -> Result<Arc<Slice>, String> {
        let number = |index| match index {
            Index::Known(number) => Ok(number),
            Index::Value(value) => Ok(self.known_scalar(value)?.as_i64()),
        };
        Slice::new(operands, number, &self.nodes[of].shape).map(Arc::new)
    }

    /// A tensor with another element at one place.
    fn stored(&mut self, into: usize, part: usize, indices: &[ValueId]) -> Result<usize, String> {
        let indices = self.integers(indices)?;
        if !self.nodes[into].has(&indices) {
            let shape = &self.nodes[into].shape;
            return Err(format!(
                "writes at {indices:?}, but the tensor has the shape {shape:?}"
            ));
        }
        let ones = || vec![Index::Known(1); indices.len()];
        let place = SliceOperands {
            offsets: indices.iter().map(|i| Index::Known(*i)).collect(),
            sizes: ones(),
            strides: ones(),
            kept: Vec::new(),
        };
        let slice = self.slice(&place, into)?;
        self.inserted(into, part, slice)
    }

    /// The node that an element of a slice or after an insertion comes from, and its place there.
    pub(super) fn resolved(&self, node: usize, index: &[i64]) -> (usize, Vec<i64>) {
        let (mut node, mut index) = (node, index.to_vec());
        loop {
            match &self.nodes[node].source {
                Source::Slice { of, slice } => {
                    index = slice.source_index(&index);
                    node = *of;
                }
                Source::Insert { into, part, slice } => match slice.part(&index) {
                    Some(inside) => (node, index) = (*part, inside),
                    None => node = *into,
                },
                _ => return (node, index),
            }
        }
    }

    /// An element that stands in a tensor now.
    pub(super) fn load(&mut self, tensor: usize, indices: &[i64]) -> Result<Element, String> {
        if !self.nodes[tensor].has(indices) {
            let shape = &self.nodes[tensor].shape;
            return Err(format!(
                "reads at {indices:?}, but the tensor has the shape {shape:?}"
            ));
        }
        if let Some((_, finding)) = self.findings().first() {
            return Err(finding.message.clone());
        }
        let (node, index) = self.resolved(tensor, indices);
        if let Some(element) = self.nodes[node].held(&index) {
            return Ok(element);
        }
        let memos = std::mem::take(&mut self.memos);
        let mut reference = Reference::resumed(self, Errors::Bounded, memos);
        let element = reference.node_element(node, &index);
        self.memos = reference.into_memos();
        element.map_err(|failure| failure.to_string())
    }
}
