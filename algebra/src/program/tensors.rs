//! Statements on whole tensors: each adds a node that says where the elements come from.

use std::sync::Arc;

use super::instance::{Instance, InstanceValue, Node, Source, fits};
use super::reference::Reference;
use super::slices::{Index, Shaping, Slice, SliceOperands};
use super::statement::{Statement, ValueId};
use crate::domain::total_elements;
use crate::oracle::{Element, Errors};
use crate::scalar::Scalar;

/// So many insertions may follow each other in a small tensor.
const LONGEST: usize = 256;

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
            Source::Elements(all) => all.get(flat).copied(),
            Source::Data(bytes) => {
                let start = flat * self.element.byte_width();
                let value = Scalar::from_bytes(self.element, bytes.get(start..).unwrap_or(&[]));
                value.map(Element::exact)
            }
            Source::Result { .. }
            | Source::Reshape { .. }
            | Source::Slice { .. }
            | Source::Insert { .. } => None,
        }
    }
}

/// Elements of a shape: one constant for all, or one for each.
fn literal<'a>(shape: &[i64], values: &Arc<[Scalar]>) -> Result<Source<'a>, String> {
    let count = total_elements(shape).unwrap_or(-1);
    match values[..] {
        [value] => Ok(Source::Splat(Element::exact(value))),
        _ if values.len() as i64 == count => Ok(Source::Literal(values.clone())),
        _ => {
            let given = values.len();
            Err(format!("bug: {given} constants fill a tensor of {count}"))
        }
    }
}

/// The extents of a shape, with sizes in the place of those that are not known.
pub(super) fn extents(shape: &[Option<i64>], sizes: Vec<i64>) -> Result<Vec<i64>, String> {
    let mut sizes = sizes.into_iter();
    let extents = shape.iter().map(|n| n.or_else(|| sizes.next()));
    let extents: Option<Vec<i64>> = extents.collect();
    extents.ok_or_else(|| "bug: a tensor has too few sizes".into())
}

impl Instance<'_> {
    pub(super) fn tensor_statement(
        &mut self,
        statement: &Statement,
    ) -> Result<(ValueId, InstanceValue), String> {
        let (result, node) = match statement {
            Statement::Empty {
                result,
                element,
                shape,
                sizes,
            } => {
                let shape = extents(shape, self.integers(sizes)?)?;
                (*result, self.add(*element, shape, Source::Undefined)?)
            }
            Statement::Literal {
                result,
                element,
                shape,
                values,
            } => {
                let source = literal(shape, values)?;
                (*result, self.add(*element, shape.clone(), source)?)
            }
            Statement::Fill {
                result,
                value,
                tensor,
            } => (*result, self.filled(*value, *tensor)?),
            Statement::Cast {
                result,
                tensor,
                shape,
            } => {
                let node = self.tensor(*tensor)?;
                fits(&self.nodes[node].shape, shape).map_err(|m| format!("the tensor {m}"))?;
                (*result, node)
            }
            other => self.tensor_part(other)?,
        };
        Ok((result, InstanceValue::Tensor(node)))
    }

    /// A tensor with a value everywhere.
    fn filled(&mut self, value: ValueId, tensor: ValueId) -> Result<usize, String> {
        let value = self.scalar_element(value)?;
        let node = self.tensor(tensor)?;
        let (element, shape) = (self.nodes[node].element, self.nodes[node].shape.clone());
        match value.value.ty {
            ty if ty == element => self.add(element, shape, Source::Splat(value)),
            found => Err(format!(
                "fills a tensor of {element} with a value of {found}"
            )),
        }
    }

    /// Statements that take a part of a tensor, or replace one.
    fn tensor_part(&mut self, statement: &Statement) -> Result<(ValueId, usize), String> {
        Ok(match statement {
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
            other => self.tensor_shaped(other)?,
        })
    }

    /// Statements that give elements another place.
    fn tensor_shaped(&mut self, statement: &Statement) -> Result<(ValueId, usize), String> {
        Ok(match statement {
            Statement::Reshape {
                result,
                tensor,
                shaping,
                ..
            } => {
                let node = self.tensor(*tensor)?;
                let shape = self.shape_of(shaping, node)?;
                (*result, self.reshaped(node, shape)?)
            }
            Statement::Pad {
                result,
                tensor,
                value,
                low,
                high,
            } => (*result, self.padded(*tensor, *value, [low, high])?),
            Statement::Concat {
                result,
                axis,
                parts,
            } => (*result, self.concatenated(*axis, parts)?),
            Statement::FromElements {
                result,
                element,
                shape,
                values,
            } => {
                let values = values.iter().map(|value| self.scalar_element(*value));
                let values = values.collect::<Result<Vec<Element>, String>>()?;
                if values.len() as i64 != total_elements(shape).unwrap_or(-1) {
                    return Err(format!("bug: {} elements of a tensor", values.len()));
                }
                let source = Source::Elements(values.into());
                (*result, self.add(*element, shape.clone(), source)?)
            }
            _ => return Err("bug: not a statement on tensors".into()),
        })
    }

    pub(super) fn number(&self, index: Index) -> Result<i64, String> {
        match index {
            Index::Known(number) => Ok(number),
            Index::Value(value) => Ok(self.known_scalar(value)?.as_i64()),
        }
    }

    pub(super) fn numbers(&self, all: &[Index]) -> Result<Vec<i64>, String> {
        all.iter().map(|index| self.number(*index)).collect()
    }

    /// The shape that a node's elements are to be seen under: one of as many.
    pub(super) fn shape_of(&self, shaping: &Shaping, node: usize) -> Result<Vec<i64>, String> {
        shaping.shape(&self.nodes[node].shape, |index| self.number(index))
    }

    pub(super) fn reshaped(&mut self, of: usize, shape: Vec<i64>) -> Result<usize, String> {
        self.add(self.nodes[of].element, shape, Source::Reshape { of })
    }

    fn padded(
        &mut self,
        tensor: ValueId,
        value: ValueId,
        [low, high]: [&[Index]; 2],
    ) -> Result<usize, String> {
        let (part, value) = (self.tensor(tensor)?, self.scalar_element(value)?);
        let (low, high) = (self.numbers(low)?, self.numbers(high)?);
        let sizes = self.nodes[part].shape.clone();
        let ends = low.iter().zip(&high);
        if sizes.len() != ends.len() {
            return Err("bug: an axis without padding".into());
        }
        // Padding below zero leaves elements out.
        let (mut shape, mut first, mut kept, mut at) = (vec![], vec![], vec![], vec![]);
        for (axis, (extent, (before, after))) in sizes.iter().zip(ends).enumerate() {
            let whole = extent
                .checked_add(*before)
                .and_then(|n| n.checked_add(*after));
            let whole = whole.ok_or("pads to more than 2^63 elements")?;
            if whole < 0 {
                return Err(format!(
                    "pads axis {axis} of {extent} by {before} and {after}: expected at least -{extent} \
                     in all"
                ));
            }
            let start = before.saturating_neg().clamp(0, *extent);
            let end = extent.saturating_add(*after).clamp(start, *extent);
            shape.push(whole);
            first.push(start);
            kept.push(end - start);
            at.push(before.clamp(&0, &whole).to_owned());
        }
        let part = match kept == sizes {
            true => part,
            false => {
                let slice = self.slice(&SliceOperands::at(&first, &kept), part)?;
                self.part(part, slice)?
            }
        };
        let into = self.add(self.nodes[part].element, shape, Source::Splat(value))?;
        let slice = self.slice(&SliceOperands::at(&at, &kept), into)?;
        self.inserted(into, part, slice)
    }

    fn concatenated(&mut self, axis: usize, parts: &[ValueId]) -> Result<usize, String> {
        let parts: Result<Vec<usize>, String> = parts.iter().map(|p| self.tensor(*p)).collect();
        let parts = parts?;
        let (Some(first), Some(_)) = (
            parts.first().map(|p| self.nodes[*p].clone()),
            parts.first().and_then(|p| self.nodes[*p].shape.get(axis)),
        ) else {
            return Err("has no tensors with that axis: expected at least one".into());
        };
        let mut shape = first.shape;
        shape[axis] = parts.iter().map(|p| self.nodes[*p].shape[axis]).sum();
        let mut whole = self.add(first.element, shape.clone(), Source::Undefined)?;
        let mut offsets = vec![0; shape.len()];
        for part in parts {
            let sizes = self.nodes[part].shape.clone();
            let slice = self.slice(&SliceOperands::at(&offsets, &sizes), whole)?;
            offsets[axis] += sizes[axis];
            whole = self.inserted(whole, part, slice)?;
        }
        Ok(whole)
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
        slice.check_written()?;
        let (element, shape) = (self.nodes[into].element, self.nodes[into].shape.clone());
        let into = self.shortened(into)?;
        self.add(element, shape, Source::Insert { into, part, slice })
    }

    /// The node itself, or, after many insertions, one that holds its elements: what looks for an
    /// element goes through all of them.
    fn shortened(&mut self, node: usize) -> Result<usize, String> {
        let whole = &self.nodes[node];
        let elements = total_elements(&whole.shape).unwrap_or(i64::MAX) as usize;
        // So that as many insertions as there are elements, and to read all of these, take about the same time.
        if whole.depth < LONGEST.max(elements.isqrt()) || !self.findings().is_empty() {
            return Ok(node);
        }
        let (element, shape) = (whole.element, whole.shape.clone());
        let memos = std::mem::take(&mut self.memos);
        let mut reference = Reference::resumed(self, Errors::Bounded, memos);
        let elements = reference.laid_out(node);
        self.memos = reference.into_memos();
        let elements = elements.map_err(|failure| failure.to_string())?;
        self.add(element, shape, Source::Elements(elements.into()))
    }

    pub(super) fn slice(&self, operands: &SliceOperands, of: usize) -> Result<Arc<Slice>, String> {
        let number = |index| self.number(index);
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
                Source::Reshape { of } => {
                    let flat = self.nodes[node].flat(&index).unwrap_or(0);
                    index = self.nodes[*of].index(flat);
                    node = *of;
                }
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
