//! Memory by several names: what is written by one is read by all that show it.
//!
//! A name stands for another one, or for a part of what that shows, down to one that stands for the
//! memory itself. Where values are carried, what a name stands for is kept under names that no
//! statement has: the next iteration of a loop may give its own names to other memory.

use std::sync::Arc;

use super::instance::{Instance, InstanceValue};
use super::slices::{Memory, Slice};
use super::statement::{Statement, ValueId};

/// The first of the names that no statement has.
const UNUSED: ValueId = usize::MAX / 2;

/// Describes what another name of a memref shows of it.
#[derive(Clone, Debug)]
pub(super) enum View {
    Whole,
    Part(Arc<Slice>),
    Shape(Vec<i64>),
}

impl Instance<'_> {
    /// A name that no statement has.
    fn unused(&mut self) -> ValueId {
        self.names += 1;
        UNUSED + self.names
    }

    /// Returns whether a name is one that no statement has.
    fn is_kept(&self, name: ValueId) -> bool {
        name >= UNUSED
    }

    /// Gives memory a second name, by which it is known when a statement gives the first one to other
    /// memory.
    fn rename(&mut self, memory: ValueId, name: ValueId) {
        if let Some(value) = self.values.get(&memory).copied() {
            self.values.insert(name, value);
        }
        self.aliases.insert(memory, (name, View::Whole));
    }

    pub(super) fn value(&mut self, value: ValueId) -> Result<InstanceValue, String> {
        let Some((memref, view)) = self.aliases.get(&value).cloned() else {
            let known = self.values.get(&value).copied();
            return known.ok_or_else(|| format!("bug: value {value} is not defined"));
        };
        match view {
            View::Whole => self.value(memref),
            View::Part(slice) => {
                let whole = self.tensor(memref)?;
                self.part(whole, slice).map(InstanceValue::Tensor)
            }
            View::Shape(shape) => {
                let whole = self.tensor(memref)?;
                self.reshaped(whole, shape).map(InstanceValue::Tensor)
            }
        }
    }

    /// Gives a value, or what it is another name of, what it holds from now on.
    pub(super) fn assign(&mut self, to: ValueId, value: InstanceValue) -> Result<(), String> {
        let Some((memref, view)) = self.aliases.get(&to).cloned() else {
            self.values.insert(to, value);
            return Ok(());
        };
        let whole = match (view, value) {
            (View::Part(slice), InstanceValue::Tensor(part)) => {
                let into = self.tensor(memref)?;
                InstanceValue::Tensor(self.inserted(into, part, slice)?)
            }
            (View::Shape(_), InstanceValue::Tensor(part)) => {
                let into = self.tensor(memref)?;
                let shape = self.nodes[into].shape.clone();
                InstanceValue::Tensor(self.reshaped(part, shape)?)
            }
            (_, value) => value,
        };
        self.assign(memref, whole)
    }

    /// The memref that a value is another name of.
    pub(super) fn root(&self, id: ValueId) -> ValueId {
        match self.aliases.get(&id) {
            Some((memref, _)) => self.root(*memref),
            None => id,
        }
    }

    /// A name of what a memref shows now that no statement gives to anything else.
    pub(super) fn kept(&mut self, name: ValueId) -> ValueId {
        if self.is_kept(name) {
            return name;
        }
        let known = self.aliases.get(&name).cloned();
        if let Some((memref, View::Whole)) = known {
            return self.kept(memref);
        }
        let fresh = self.unused();
        match known {
            Some((memref, view)) => {
                let memref = self.kept(memref);
                self.aliases.insert(fresh, (memref, view));
            }
            // From now on the memory itself has that name, too.
            None => self.rename(name, fresh),
        }
        fresh
    }

    /// Statements that give memory another name.
    pub(super) fn other_name(&mut self, statement: &Statement) -> Result<(), String> {
        match statement {
            Statement::Alias {
                result,
                memref,
                slice,
            } => {
                let node = self.tensor(*memref)?;
                let view = match slice {
                    Some(slice) => View::Part(self.slice(slice, node)?),
                    None => View::Whole,
                };
                self.aliases.insert(*result, (*memref, view));
            }
            Statement::Reshape {
                result,
                tensor,
                shaping,
                memory: Memory::Shared,
            } => {
                let node = self.tensor(*tensor)?;
                let shape = self.shape_of(shaping, node)?;
                self.aliases.insert(*result, (*tensor, View::Shape(shape)));
            }
            Statement::Reinterpret {
                result,
                memref,
                offset,
                sizes,
                strides,
            } => {
                let base = self.root(*memref);
                let node = self.tensor(base)?;
                let count = self.nodes[node].shape.iter().product();
                let number = |index| self.number(index);
                let slice = Slice::flat((*offset, sizes, strides), number, count)?;
                let flat = self.unused();
                self.aliases.insert(flat, (base, View::Shape(vec![count])));
                let view = View::Part(Arc::new(slice));
                self.aliases.insert(*result, (flat, view));
            }
            _ => return Err("bug: not another name of a memref".into()),
        }
        Ok(())
    }
}
