//! A program in the making: its values so far, and what its purpose asks for.

use mdh_algebra::scalar::{Scalar, ScalarType};
use mdh_dialect::types::BufferKind;

use super::back::Written;
use super::types::{self, Contents};
use crate::choices::Choices;
use crate::program::{Bound, DefinedValue, Definition, RandomProgram, Statement, Type, ValueId};

/// Use of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// It is run as it is.
    Run,
    /// A script tiles it: computations are made by one operation each, destinations by others, and carries
    /// are what the destination holds.
    Tile,
}

impl Purpose {
    pub(super) fn pick<T>(self, run: T, tile: T) -> T {
        match self {
            Purpose::Run => run,
            Purpose::Tile => tile,
        }
    }
}

/// A program in the making.
pub(super) struct Generator {
    pub(super) program: RandomProgram,
    /// Tensors or memrefs.
    pub(super) kind: BufferKind,
    /// True if sizes may be left open.
    pub(super) is_open: bool,
    /// True if sizes may be left to `--size`.
    pub(super) sized: bool,
    /// True if a workload's domains may be shifted and strided.
    pub(super) odd_domains: bool,
    /// Contents of arguments; without them, those of `--random`.
    pub(super) contents: Option<Contents>,
    /// Number of arguments with contents so far.
    pub(super) arrays: u64,
    /// The results of all computations so far.
    pub(super) results: Vec<ValueId>,
    /// Values left for later ones to read: results, or memrefs that they wrote.
    pub(super) written: Vec<ValueId>,
    /// Values with elements that nobody has written, which no computation may read.
    pub(super) undefined: Vec<ValueId>,
    /// Index functions of results that can be read back.
    pub(super) maps: Vec<Written>,
    /// True if no computation follows the one that is made.
    pub(super) is_last: bool,
    /// Its use.
    pub(super) purpose: Purpose,
}

impl Generator {
    /// A name that no value has yet.
    pub(super) fn name(&self, prefix: &str) -> String {
        let count = self
            .program
            .values
            .iter()
            .filter(|v| v.name.starts_with(prefix))
            .count();
        format!("{prefix}{count}")
    }

    /// The extents of what was written last.
    pub(super) fn hints(&self) -> Vec<i64> {
        let last = self.written.last();
        last.map_or_else(Vec::new, |last| self.ty(*last).shape.clone())
    }

    pub(super) fn ty(&self, value: ValueId) -> &Type {
        &self.program.values[value].ty
    }

    pub(super) fn is_read(&self, value: ValueId) -> bool {
        let reads = |statement: &Statement| match statement {
            Statement::Step(step) => step.inputs.iter().any(|view| view.value == value),
            _ => false,
        };
        self.program.body.iter().any(reads)
    }

    /// A new argument, with contents if the program has them or sizes are open.
    pub(super) fn argument(&mut self, prefix: &str, ty: Type) -> ValueId {
        let is_open = ty.dynamic.contains(&true);
        let contents = self.contents.or(is_open.then_some(Contents::Plain));
        let contents = contents.map(|contents| {
            self.arrays += 1;
            let seed = self.program.seed + (self.arrays << 32);
            types::elements(ty.element, ty.count(), seed, contents)
        });
        let name = self.name(prefix);
        self.program.value(name, ty, Definition::Argument(contents))
    }

    /// An argument of type index with this value.
    fn index_argument(&mut self, number: i64) -> ValueId {
        let contents = vec![Scalar::from_i64(ScalarType::Index, number)];
        let ty = Type::scalar(ScalarType::Index);
        let name = self.name("n");
        self.program
            .value(name, ty, Definition::Argument(Some(contents)))
    }

    /// A value that stands for a number, if sizes may be open: an argument, a constant, or the
    /// extent of a buffer that is there.
    pub(super) fn bound(&mut self, c: &mut Choices, number: i64) -> Bound {
        if !self.is_open || !c.chance("open", 45) {
            return Bound::fixed(number);
        }
        let value = self.index(c, number);
        Bound {
            number,
            value: Some(value),
        }
    }

    /// A value of type index.
    pub(super) fn index(&mut self, c: &mut Choices, number: i64) -> ValueId {
        let index = Type::scalar(ScalarType::Index);
        let extents: Vec<(ValueId, usize)> = self.extents(number);
        let known: Vec<ValueId> = (0..self.program.values.len())
            .filter(|v| self.is_number(*v, number))
            .collect();
        match c.weighted("source", &[40, 15, 30, 15]) {
            1 => {
                let name = self.name("m");
                let number = Scalar::from_i64(ScalarType::Index, number);
                self.program
                    .define(name, index, Definition::Constant(number))
            }
            2 if !extents.is_empty() => {
                let (of, axis) = c.pick("extent", &extents);
                let name = self.name("d");
                self.program
                    .define(name, index, Definition::Dim { of, axis })
            }
            3 if !known.is_empty() => c.pick("known", &known),
            _ => self.index_argument(number),
        }
    }

    /// Axes of arguments and results of that size.
    fn extents(&self, size: i64) -> Vec<(ValueId, usize)> {
        let values = self.program.values.iter().enumerate();
        let buffers = values.filter(|(_, v)| v.ty.kind != BufferKind::Scalar);
        let axes = buffers.flat_map(|(n, v)| (0..v.ty.shape.len()).map(move |axis| (n, axis)));
        axes.filter(|(n, axis)| self.ty(*n).shape[*axis] == size)
            .collect()
    }

    fn is_number(&self, value: ValueId, number: i64) -> bool {
        let value = &self.program.values[value];
        let is = |scalar: &Scalar| scalar.as_i64() == number;
        let is_number = match &value.definition {
            Definition::Argument(Some(contents)) => contents.first().is_some_and(is),
            Definition::Constant(scalar) => is(scalar),
            _ => false,
        };
        value.ty == Type::scalar(ScalarType::Index) && is_number
    }
}

/// Returns results, and frees allocated memory.
pub(super) fn finish(c: &mut Choices, g: &mut Generator) {
    let last = g.results.last().copied();
    for result in g.results.clone() {
        let is_read = g.is_read(result);
        let is_dropped = c.scope(g.program.values[result].name.clone(), |c| {
            let is_dropped = !c.keep() || (is_read && c.chance("not returned", 80));
            is_dropped && Some(result) != last
        });
        if !is_dropped {
            g.program.returns.push(result);
        }
    }
    for value in 0..g.program.values.len() {
        let DefinedValue { ty, definition, .. } = &g.program.values[value];
        if ty.kind == BufferKind::MemRef && matches!(definition, Definition::Empty(_)) {
            g.program.body.push(Statement::Free(value));
        }
    }
}
