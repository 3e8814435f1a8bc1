//! Loops over scalars and elements of memory, run at once: on arrays instead of nodes, so that a
//! loop of a hundred million steps ends.
//!
//! A loop is plain if nothing in it computes, or makes a tensor of another one. What it writes is
//! laid out before it, and is a new node after it; what it only reads is read where it is.

mod part;
mod uses;

use std::collections::HashMap;

use super::body::{Body, For, Forall, If, While};
use super::instance::{Instance, InstanceValue, Source};
use super::memory::View;
use super::reference::Reference;
use super::slices::{Index, Memory, Slice, SliceOperands};
use super::statement::{Statement, ValueId};
use super::tensors::extents;
use crate::domain::{Grid, Odometer, total_elements};
use crate::op::Op;
use crate::oracle::{Element, Errors};
use crate::scalar::{Scalar, ScalarType};
use part::ArrayPart;

/// Names where it failed, and says why.
type Failed = (usize, String);

/// Says what a value is while plain loops run.
#[derive(Clone, Debug)]
enum Slot {
    Nothing,
    Scalar(Element),
    /// A node that nothing writes.
    Node(usize),
    Part(ArrayPart),
}

struct Array {
    element: ScalarType,
    elements: Vec<Element>,
}

struct Plain<'r, 'i> {
    slots: Vec<Slot>,
    arrays: Vec<Array>,
    reference: &'r mut Reference<'i>,
    iterations: usize,
    limit: usize,
}

impl Instance<'_> {
    /// Runs a loop if it is plain; whether it is.
    pub(super) fn run_plain(
        &mut self,
        statement: &Statement,
        number: usize,
    ) -> Result<bool, Failed> {
        let here = |message| (number, message);
        let is_scalar = |id: ValueId| self.scalar_element(id).is_ok();
        let Some(uses) = uses::uses(statement, &is_scalar) else {
            return Ok(false);
        };
        // What breaks a rule has no elements to go on with.
        if !self.findings().is_empty() {
            return Ok(false);
        }
        let mut roots: Vec<ValueId> = uses.written.iter().map(|id| self.root(*id)).collect();
        roots.sort_unstable();
        roots.dedup();
        let mut slots = vec![Slot::Nothing; uses.slots];
        let mut shown = Vec::new();
        for id in &uses.outer {
            slots[*id] = match self.scalar_element(*id) {
                Ok(element) => Slot::Scalar(element),
                Err(_) if roots.contains(&self.root(*id)) => {
                    shown.push(*id);
                    Slot::Nothing
                }
                Err(_) => Slot::Node(self.tensor(*id).map_err(here)?),
            };
        }
        let mut parts = HashMap::new();
        for (array, root) in roots.iter().enumerate() {
            let node = self.tensor(*root).map_err(here)?;
            let shape = self.nodes[node].shape.clone();
            parts.insert(*root, ArrayPart::whole(array, shape));
        }
        for id in shown {
            slots[id] = Slot::Part(self.shown(id, &parts).map_err(here)?);
        }
        let nodes: Result<Vec<usize>, String> =
            roots.iter().map(|root| self.tensor(*root)).collect();
        let nodes = nodes.map_err(here)?;
        let memos = std::mem::take(&mut self.memos);
        let mut reference = Reference::resumed(self, Errors::Bounded, memos);
        let ran = run(&mut reference, &nodes, slots, (statement, number));
        self.memos = reference.into_memos();
        let (iterations, done) = ran;
        self.iterations = iterations;
        let memrefs: Vec<(ValueId, &ArrayPart)> = roots.iter().map(|r| (*r, &parts[r])).collect();
        self.take(done?, &memrefs, uses::results(statement))
            .map_err(here)?;
        Ok(true)
    }

    /// Takes over what a loop has left: the elements of memrefs, each a whole array, and the scalar results.
    fn take(
        &mut self,
        done: Done,
        memrefs: &[(ValueId, &ArrayPart)],
        results: &[ValueId],
    ) -> Result<(), String> {
        for ((memref, whole), array) in memrefs.iter().zip(done.arrays) {
            let source = Source::Elements(array.elements.into());
            let node = self.add(array.element, whole.shape.clone(), source)?;
            self.assign(*memref, InstanceValue::Tensor(node))?;
        }
        for result in results {
            if let Some(Slot::Scalar(element)) = done.slots.get(*result) {
                self.assign(*result, InstanceValue::Scalar(*element))?;
            }
        }
        Ok(())
    }

    /// The part of an array that another name of its memref shows.
    fn shown(&self, id: ValueId, parts: &HashMap<ValueId, ArrayPart>) -> Result<ArrayPart, String> {
        let Some((memref, view)) = self.aliases.get(&id) else {
            let whole = parts.get(&id).cloned();
            return whole.ok_or_else(|| "bug: an array that is not laid out".into());
        };
        let whole = self.shown(*memref, parts)?;
        match view {
            View::Whole => Ok(whole),
            View::Part(slice) => Ok(whole.slice(slice)),
            View::Shape(shape) => whole.reshaped(shape.clone()),
        }
    }
}

struct Done {
    arrays: Vec<Array>,
    slots: Vec<Slot>,
}

/// Lays out what is written, and runs the loop. Says how many iterations there were so far, too.
fn run<'i>(
    reference: &mut Reference<'i>,
    written: &[usize],
    slots: Vec<Slot>,
    (statement, number): (&Statement, usize),
) -> (usize, Result<Done, Failed>) {
    let (iterations, limit) = (reference.instance.iterations, reference.instance.limit);
    let mut arrays = Vec::new();
    for node in written {
        match reference.laid_out(*node) {
            Ok(elements) => arrays.push(Array {
                element: reference.instance.nodes[*node].element,
                elements,
            }),
            Err(failure) => return (iterations, Err((number, failure.to_string()))),
        }
    }
    let mut plain = Plain {
        slots,
        arrays,
        reference,
        iterations,
        limit,
    };
    let ran = plain.all(std::slice::from_ref(statement), number);
    let done = ran.map(|()| Done {
        arrays: plain.arrays,
        slots: plain.slots,
    });
    (plain.iterations, done)
}

/// Forgets how a number may be rounded that is compared with itself: the outcome is the same.
pub(super) fn settle(op: Op, operands: &[ValueId], elements: &mut [Element]) {
    let is_itself = matches!(op, Op::Cmpf(_)) && operands.iter().all(|o| *o == operands[0]);
    if is_itself && elements.iter().all(|e| e.error.is_finite()) {
        elements.iter_mut().for_each(|e| e.error = 0.0);
    }
}

impl Plain<'_, '_> {
    fn all(&mut self, statements: &[Statement], mut number: usize) -> Result<(), Failed> {
        for statement in statements {
            match statement {
                Statement::For(of) => self.run_for(of, number)?,
                Statement::Forall(of) => self.run_forall(of, number)?,
                Statement::While(of) => self.run_while(of, number)?,
                Statement::If(of) => self.run_if(of, number)?,
                simple => self.simple(simple).map_err(|message| (number, message))?,
            }
            // Only what holds statements is more than one.
            number += match statement.bodies().is_empty() {
                true => 1,
                false => statement.size(),
            };
        }
        Ok(())
    }

    fn simple(&mut self, statement: &Statement) -> Result<(), String> {
        match statement {
            Statement::Constant { result, value } => {
                self.slots[*result] = Slot::Scalar(Element::exact(*value));
            }
            Statement::Apply {
                result,
                op,
                operands,
                ty,
            } => self.slots[*result] = Slot::Scalar(self.apply(*op, operands, *ty)?),
            Statement::Load {
                result,
                tensor,
                indices,
            } => self.slots[*result] = Slot::Scalar(self.load(*tensor, indices)?),
            Statement::Store {
                value,
                tensor,
                indices,
                ..
            } => self.store(*value, *tensor, indices)?,
            Statement::Dim {
                result,
                tensor,
                axis,
            } => {
                let axis = self.known(*axis)?;
                let shape = self.shape(*tensor)?;
                let extent = usize::try_from(axis)
                    .ok()
                    .and_then(|a| shape.get(a).copied());
                let extent = extent.ok_or_else(|| {
                    format!("asks for axis {axis} of a tensor that has {}", shape.len())
                })?;
                let extent = Scalar::from_i64(ScalarType::Index, extent);
                self.slots[*result] = Slot::Scalar(Element::exact(extent));
            }
            Statement::Fill { value, tensor, .. } => self.fill(*value, *tensor)?,
            other => self.memory(other)?,
        }
        Ok(())
    }

    /// Statements that make memory, or other names of some.
    fn memory(&mut self, statement: &Statement) -> Result<(), String> {
        let (result, slot) = match statement {
            Statement::Empty {
                result,
                element,
                shape,
                sizes,
            } => {
                let sizes = sizes.iter().map(|s| self.known(*s));
                let shape = extents(shape, sizes.collect::<Result<_, _>>()?)?;
                (*result, Slot::Part(self.allocate(*element, shape)?))
            }
            Statement::Alias {
                result,
                memref,
                slice: None,
            } => (*result, self.slots[*memref].clone()),
            Statement::Alias {
                result,
                memref,
                slice: Some(slice),
            } => (*result, Slot::Part(self.sliced(*memref, slice)?)),
            Statement::Reinterpret {
                result,
                memref,
                offset,
                sizes,
                strides,
            } => {
                let Slot::Part(ArrayPart { array, .. }) = self.slots[*memref] else {
                    return Err("bug: another part of what is not laid out".into());
                };
                let count = self.arrays[array].elements.len() as i64;
                let number = |index| self.number(index);
                let slice = Slice::flat((*offset, sizes, strides), number, count)?;
                (
                    *result,
                    Slot::Part(ArrayPart::whole(array, vec![count]).slice(&slice)),
                )
            }
            Statement::Reshape {
                result,
                tensor,
                shaping,
                memory: Memory::Shared,
            } => {
                let Slot::Part(of) = &self.slots[*tensor] else {
                    return Err("bug: another shape of what is not laid out".into());
                };
                let shape = shaping.shape(&of.shape, |index| self.number(index))?;
                (*result, Slot::Part(of.reshaped(shape)?))
            }
            _ => return Err("bug: not a statement of a plain loop".into()),
        };
        self.slots[result] = slot;
        Ok(())
    }

    /// A new array.
    fn allocate(&mut self, element: ScalarType, shape: Vec<i64>) -> Result<ArrayPart, String> {
        let count = total_elements(&shape).filter(|n| *n >= 0).ok_or_else(|| {
            format!("makes memory of shape {shape:?}: expected extents of at least 0")
        })?;
        self.arrays.push(Array {
            element,
            elements: vec![Element::undefined(element); count as usize],
        });
        Ok(ArrayPart::whole(self.arrays.len() - 1, shape))
    }

    fn sliced(&self, memref: ValueId, slice: &SliceOperands) -> Result<ArrayPart, String> {
        let Slot::Part(of) = &self.slots[memref] else {
            return Err("bug: a part of what is not laid out".into());
        };
        let number = |index| self.number(index);
        Ok(of.slice(&Slice::new(slice, number, &of.shape)?))
    }

    fn number(&self, index: Index) -> Result<i64, String> {
        match index {
            Index::Known(number) => Ok(number),
            Index::Value(value) => self.known(value),
        }
    }

    fn numbers(&self, all: &[Index]) -> Result<Vec<i64>, String> {
        all.iter().map(|index| self.number(*index)).collect()
    }

    #[inline]
    fn scalar(&self, id: ValueId) -> Result<Element, String> {
        match self.slots.get(id) {
            Some(Slot::Scalar(element)) => Ok(*element),
            _ => Err(format!("bug: value {id} is not a scalar")),
        }
    }

    /// An integer that decides what is done.
    #[inline]
    fn known(&self, id: ValueId) -> Result<i64, String> {
        Ok(self.certain(id)?.as_i64())
    }

    #[inline]
    fn certain(&self, id: ValueId) -> Result<Scalar, String> {
        let element = self.scalar(id)?;
        match element.error > 0.0 {
            false => Ok(element.value),
            true => Err(super::instance::open(element)),
        }
    }

    #[inline]
    fn apply(&self, op: Op, operands: &[ValueId], ty: ScalarType) -> Result<Element, String> {
        let mut elements = [Element::exact(Scalar::zero(ty)); 3];
        let mut values = [Scalar::zero(ty); 3];
        let count = operands.len();
        if count > 3 {
            return Err("bug: an operation of more than three numbers".into());
        }
        let mut is_exact = !op.is_approximate();
        for (n, operand) in operands.iter().enumerate() {
            elements[n] = self.scalar(*operand)?;
            values[n] = elements[n].value;
            is_exact &= elements[n].error == 0.0;
        }
        if is_exact {
            let value = op.apply(&values[..count], ty);
            return value.map(Element::exact).map_err(|e| e.to_string());
        }
        settle(op, operands, &mut elements[..count]);
        Element::rounded(op, &elements[..count], ty).map_err(|e| e.to_string())
    }

    fn shape(&self, id: ValueId) -> Result<Vec<i64>, String> {
        match &self.slots[id] {
            Slot::Part(part) => Ok(part.shape.clone()),
            Slot::Node(node) => Ok(self.reference.instance.nodes[*node].shape.clone()),
            _ => Err(format!("bug: value {id} is no tensor")),
        }
    }

    fn load(&mut self, tensor: ValueId, indices: &[ValueId]) -> Result<Element, String> {
        let mut index = [0; 8];
        let index = match index.get_mut(..indices.len()) {
            Some(index) => index,
            None => &mut vec![0; indices.len()][..],
        };
        for (place, id) in index.iter_mut().zip(indices) {
            *place = self.known(*id)?;
        }
        let outside =
            |shape: &[i64]| format!("reads at {index:?}, but the tensor has the shape {shape:?}");
        match &self.slots[tensor] {
            Slot::Part(part) => match part.place(index.iter().copied()) {
                Some(place) => Ok(self.arrays[part.array].elements[place]),
                None => Err(outside(&part.shape)),
            },
            Slot::Node(node) => {
                let array = &self.reference.instance.nodes[*node];
                match array.flat(index) {
                    None => Err(outside(&array.shape)),
                    Some(flat) => match array.held_flat(flat) {
                        Some(element) => Ok(element),
                        None => {
                            let element = self.reference.node_element(*node, index);
                            element.map_err(|failure| failure.to_string())
                        }
                    },
                }
            }
            _ => Err(format!("bug: value {tensor} is no tensor")),
        }
    }

    fn store(
        &mut self,
        value: ValueId,
        tensor: ValueId,
        indices: &[ValueId],
    ) -> Result<(), String> {
        let value = self.scalar(value)?;
        let mut open = None;
        let Slot::Part(part) = &self.slots[tensor] else {
            return Err("bug: a store into what is not laid out".into());
        };
        let index = indices.iter().map(|id| match self.known(*id) {
            Ok(index) => index,
            Err(message) => {
                open = Some(message);
                -1
            }
        });
        match part.place(index) {
            Some(place) => {
                self.arrays[part.array].elements[place] = value;
                Ok(())
            }
            None => Err(open.unwrap_or_else(|| {
                let index: Vec<i64> = indices.iter().flat_map(|id| self.known(*id)).collect();
                let shape = &part.shape;
                format!("writes at {index:?}, but the tensor has the shape {shape:?}")
            })),
        }
    }

    fn fill(&mut self, value: ValueId, tensor: ValueId) -> Result<(), String> {
        let value = self.scalar(value)?;
        let Slot::Part(part) = self.slots[tensor].clone() else {
            return Err("bug: filling what is not laid out".into());
        };
        let mut odometer = Odometer::new(part.shape.clone());
        while let Some(index) = odometer.current() {
            if let Some(place) = part.place(index.iter().copied()) {
                self.arrays[part.array].elements[place] = value;
            }
            odometer.advance();
        }
        Ok(())
    }

    /// Copies values to other names, all at once.
    fn copy(&mut self, from: &[ValueId], to: &[ValueId]) -> Result<(), String> {
        match (from, to) {
            ([], _) => Ok(()),
            ([from], [to]) => {
                self.slots[*to] = Slot::Scalar(self.scalar(*from)?);
                Ok(())
            }
            _ => {
                let values: Result<Vec<Element>, String> =
                    from.iter().map(|id| self.scalar(*id)).collect();
                for (to, element) in to.iter().zip(values?) {
                    self.slots[*to] = Slot::Scalar(element);
                }
                Ok(())
            }
        }
    }

    fn count(&mut self) -> Result<(), String> {
        self.iterations += 1;
        match self.iterations > self.limit {
            false => Ok(()),
            true => Err(super::control::too_long(self.limit)),
        }
    }

    fn run_for(&mut self, of: &For, number: usize) -> Result<(), Failed> {
        let here = |message| (number, message);
        let ty = self.scalar(of.lower).map_err(here)?.value.ty;
        let lower = self.known(of.lower).map_err(here)?;
        let upper = self.known(of.upper).map_err(here)?;
        let step = self.known(of.step).map_err(here)?;
        if step <= 0 {
            return Err(here(format!(
                "has the step {step}: expected a positive one"
            )));
        }
        self.copy(&of.initial, &of.carried).map_err(here)?;
        let mut next = Some(lower);
        while let Some(index) = next.filter(|index| *index < upper) {
            self.count().map_err(here)?;
            let scalar = Scalar::from_i64(ty, index);
            self.slots[of.index] = Slot::Scalar(Element::exact(scalar));
            self.all(&of.body.statements, number + 1)?;
            self.copy(&of.body.yields, &of.carried).map_err(here)?;
            next = index.checked_add(step);
        }
        self.copy(&of.carried, &of.results).map_err(here)
    }

    fn run_forall(&mut self, of: &Forall, number: usize) -> Result<(), Failed> {
        let here = |message| (number, message);
        let mut grids = Vec::new();
        let [lower, upper, steps] =
            [&of.lower, &of.upper, &of.steps].map(|bounds| self.numbers(bounds));
        let (lower, upper) = (lower.map_err(here)?, upper.map_err(here)?);
        for ((lower, upper), step) in lower.iter().zip(&upper).zip(steps.map_err(here)?) {
            let grid = Grid::new(*lower, *upper, step, 1);
            grids.push(
                grid.ok_or_else(|| here(format!("has the step {step}: expected a positive one")))?,
            );
        }
        let mut odometer = Odometer::new(grids.iter().map(Grid::count).collect());
        while let Some(numbers) = odometer.current() {
            for ((id, number), grid) in of.indices.iter().zip(numbers).zip(&grids) {
                let index = Scalar::from_i64(ScalarType::Index, grid.point(*number));
                self.slots[*id] = Slot::Scalar(Element::exact(index));
            }
            self.count().map_err(here)?;
            self.all(&of.body.statements, number + 1)?;
            odometer.advance();
        }
        Ok(())
    }

    fn run_while(&mut self, of: &While, number: usize) -> Result<(), Failed> {
        let here = |message| (number, message);
        self.copy(&of.initial, &of.before_carried).map_err(here)?;
        loop {
            self.count().map_err(here)?;
            self.all(&of.before.statements, number + 1)?;
            let Some((condition, handed)) = of.before.yields.split_first() else {
                return Err(here("bug: a loop without a condition".into()));
            };
            if !self.certain(*condition).map_err(here)?.is_true() {
                return self.copy(handed, &of.results).map_err(here);
            }
            self.copy(handed, &of.after_carried).map_err(here)?;
            self.all(&of.after.statements, number + 1 + size(&of.before))?;
            self.copy(&of.after.yields, &of.before_carried)
                .map_err(here)?;
        }
    }

    fn run_if(&mut self, of: &If, number: usize) -> Result<(), Failed> {
        let here = |message| (number, message);
        let [yes, no] = &of.branches;
        let (branch, first) = match self.certain(of.condition).map_err(here)?.is_true() {
            true => (yes, number + 1),
            false => (no, number + 1 + size(yes)),
        };
        self.all(&branch.statements, first)?;
        self.copy(&branch.yields, &of.results).map_err(here)
    }
}

fn size(body: &Body) -> usize {
    body.statements.iter().map(Statement::size).sum()
}
