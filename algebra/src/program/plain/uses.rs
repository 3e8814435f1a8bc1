//! Finds what a loop uses and writes, and whether it is plain.

use std::collections::{BTreeSet, HashSet};

use super::super::body::Body;
use super::super::slices::{Index, Memory, SliceOperands};
use super::super::statement::{Statement, ValueId};

/// Says what a plain loop has to do with what is around it.
pub(super) struct Uses {
    /// Values from outside.
    pub(super) outer: BTreeSet<ValueId>,
    /// Of these, what elements are written to.
    pub(super) written: BTreeSet<ValueId>,
    /// So many values there may be.
    pub(super) slots: usize,
}

/// Returns what a loop uses; nothing if it is not plain. `is_scalar` knows the values around it.
pub(super) fn uses(statement: &Statement, is_scalar: &dyn Fn(ValueId) -> bool) -> Option<Uses> {
    let mut walk = Walk {
        scalars: HashSet::new(),
        memory: HashSet::new(),
        uses: Uses {
            outer: BTreeSet::new(),
            written: BTreeSet::new(),
            slots: 0,
        },
        is_scalar,
    };
    walk.statement(statement)?;
    Some(walk.uses)
}

/// The values that a loop leaves.
pub(super) fn results(statement: &Statement) -> &[ValueId] {
    match statement {
        Statement::For(of) => &of.results,
        Statement::While(of) => &of.results,
        Statement::If(of) => &of.results,
        _ => &[],
    }
}

struct Walk<'f> {
    /// Values that the loop makes.
    scalars: HashSet<ValueId>,
    /// Other names, and memory, that the loop makes.
    memory: HashSet<ValueId>,
    uses: Uses,
    is_scalar: &'f dyn Fn(ValueId) -> bool,
}

impl Walk<'_> {
    fn made(&mut self, scalars: &[ValueId]) {
        for id in scalars {
            self.uses.slots = self.uses.slots.max(id + 1);
            self.scalars.insert(*id);
        }
    }

    /// All of them are scalars.
    fn scalars(&mut self, ids: &[ValueId]) -> Option<()> {
        ids.iter().try_for_each(|id| {
            if self.scalars.contains(id) {
                return Some(());
            }
            self.used(*id);
            (self.is_scalar)(*id).then_some(())
        })
    }

    fn indices(&mut self, indices: &[Index]) -> Option<()> {
        indices.iter().try_for_each(|index| match index {
            Index::Known(_) => Some(()),
            Index::Value(id) => self.scalars(&[*id]),
        })
    }

    /// It is a tensor or memref.
    fn tensor(&mut self, id: ValueId) -> Option<()> {
        if self.memory.contains(&id) {
            return Some(());
        }
        self.used(id);
        (!self.scalars.contains(&id) && !(self.is_scalar)(id)).then_some(())
    }

    fn used(&mut self, id: ValueId) {
        self.uses.slots = self.uses.slots.max(id + 1);
        self.uses.outer.insert(id);
    }

    /// It is written, or may be by another name.
    fn written(&mut self, id: ValueId) -> Option<()> {
        self.tensor(id)?;
        if !self.memory.contains(&id) {
            self.uses.written.insert(id);
        }
        Some(())
    }

    fn memory(&mut self, id: ValueId) {
        self.uses.slots = self.uses.slots.max(id + 1);
        self.memory.insert(id);
    }

    fn slice(&mut self, slice: &SliceOperands) -> Option<()> {
        self.indices(&slice.offsets)?;
        self.indices(&slice.sizes)?;
        self.indices(&slice.strides)
    }

    fn body(&mut self, body: &Body) -> Option<()> {
        body.statements.iter().try_for_each(|s| self.statement(s))?;
        self.scalars(&body.yields)
    }

    fn statement(&mut self, statement: &Statement) -> Option<()> {
        match statement {
            Statement::Constant { result, .. } => self.made(&[*result]),
            Statement::Apply {
                result, operands, ..
            } => {
                self.scalars(operands)?;
                self.made(&[*result]);
            }
            Statement::Dim {
                result,
                tensor,
                axis,
            } => {
                self.tensor(*tensor)?;
                self.scalars(&[*axis])?;
                self.made(&[*result]);
            }
            Statement::Load {
                result,
                tensor,
                indices,
            } => {
                self.tensor(*tensor)?;
                self.scalars(indices)?;
                self.made(&[*result]);
            }
            // A tensor with another element is another tensor.
            Statement::Store {
                result,
                value,
                tensor,
                indices,
            } if result == tensor => {
                self.scalars(&[*value])?;
                self.scalars(indices)?;
                self.written(*tensor)?;
            }
            Statement::Fill {
                result,
                value,
                tensor,
            } if result == tensor => {
                self.scalars(&[*value])?;
                self.written(*tensor)?;
            }
            other => return self.memory_statement(other),
        }
        Some(())
    }

    /// Statements that make memory, or other names of some.
    fn memory_statement(&mut self, statement: &Statement) -> Option<()> {
        match statement {
            Statement::Empty { result, sizes, .. } => {
                self.scalars(sizes)?;
                self.memory(*result);
            }
            Statement::Alias {
                result,
                memref,
                slice,
            } => {
                self.written(*memref)?;
                slice.as_ref().map_or(Some(()), |slice| self.slice(slice))?;
                self.memory(*result);
            }
            Statement::Reinterpret {
                result,
                memref,
                offset,
                sizes,
                strides,
            } => {
                self.written(*memref)?;
                self.indices(&[*offset])?;
                self.indices(sizes)?;
                self.indices(strides)?;
                self.memory(*result);
            }
            Statement::Reshape {
                result,
                tensor,
                shaping,
                memory: Memory::Shared,
            } => {
                self.written(*tensor)?;
                self.indices(shaping.extents())?;
                self.memory(*result);
            }
            other => return self.control(other),
        }
        Some(())
    }

    fn control(&mut self, statement: &Statement) -> Option<()> {
        match statement {
            Statement::For(of) => {
                self.scalars(&[of.lower, of.upper, of.step])?;
                self.scalars(&of.initial)?;
                self.made(&[of.index]);
                self.made(&of.carried);
                self.body(&of.body)?;
                self.made(&of.results);
            }
            Statement::Forall(of) if of.shared.is_empty() => {
                self.indices(&of.lower)?;
                self.indices(&of.upper)?;
                self.indices(&of.steps)?;
                self.made(&of.indices);
                self.body(&of.body)?;
            }
            Statement::While(of) => {
                self.scalars(&of.initial)?;
                self.made(&of.before_carried);
                self.body(&of.before)?;
                self.made(&of.after_carried);
                self.body(&of.after)?;
                self.made(&of.results);
            }
            Statement::If(of) => {
                self.scalars(&[of.condition])?;
                of.branches
                    .iter()
                    .try_for_each(|branch| self.body(branch))?;
                self.made(&of.results);
            }
            _ => return None,
        }
        Some(())
    }
}
