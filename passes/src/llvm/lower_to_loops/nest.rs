//! The loop nest of one computation.

use mdh_algebra::computation::{Combine, Computation};
use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::parts::{BufferPart, CarryPart, Parts};
use mdh_dialect::types::{self, DYNAMIC};
use melior::ir::{Type, ValueLike};

use super::access::{load, read, store, write};
use super::carry;
use super::fold::{Fold, Partial};
use super::grid::Grid;
use crate::llvm::loop_annotations::keep_rolled;
use crate::support::borders;
use crate::support::buffers;
use crate::support::builder::{Builder, known};
use crate::support::conditions::{Conditions, Points};
use crate::support::inline::inline;
use crate::support::kernels;
use crate::support::region;

/// One computation's loop nest.
pub struct ComputationNest<'c, 'p> {
    op: Op<'c>,
    fold: Fold<'c, 'p>,
    parts: &'p Parts<'c>,
    /// Its inputs, as far as a version of the code has to ask for their padding.
    inputs: Vec<BufferPart<'c>>,
    computation: &'p Computation,
    grids: Vec<Grid<'c>>,
    cc: Vec<usize>,
    ps: Vec<usize>,
    pw: Vec<usize>,
    /// For each `ps` dimension but the innermost, a slice of the tuple's components; none where there are no
    /// points to combine.
    slices: Vec<Vec<Val<'c>>>,
    /// True if these are a thread's own.
    is_in_kernel: bool,
    conditions: Conditions,
}

impl<'c, 'p> ComputationNest<'c, 'p> {
    /// Prepares the nest before the operation.
    pub fn new(
        builder: &mut Builder<'c>,
        op: Op<'c>,
        parts: &'p Parts<'c>,
        computation: &'p Computation,
    ) -> Result<Self, Errors> {
        let grids = parts
            .dims
            .iter()
            .map(|dim| Grid::new(builder, dim))
            .collect();
        let dims_of = |wanted: fn(&Combine) -> bool| -> Vec<usize> {
            let dims = computation.dimensions.iter().enumerate();
            dims.filter(|(_, dim)| wanted(&dim.combine))
                .map(|(d, _)| d)
                .collect()
        };
        let mut nest = ComputationNest {
            op,
            fold: Fold { op, computation },
            parts,
            inputs: parts.inputs.clone(),
            computation,
            grids,
            cc: dims_of(|c| matches!(c, Combine::Cc)),
            ps: dims_of(|c| matches!(c, Combine::Ps(_))),
            pw: dims_of(|c| matches!(c, Combine::Pw(_))),
            slices: Vec::new(),
            is_in_kernel: false,
            conditions: Conditions::new(op),
        };
        nest.allocate_slices(builder)?;
        Ok(nest)
    }

    /// Memory for the results so far of all but the outermost prefix-sums. In a kernel, which can take
    /// none, it is the thread's own.
    fn allocate_slices(&mut self, builder: &mut Builder<'c>) -> Result<(), Errors> {
        let kernel = kernels::start_of_kernel(self.op);
        self.is_in_kernel = kernel.is_some();
        // Prefix-sums of nothing are nothing.
        let is_empty = |d: &usize| known(self.grids[*d].count) == Some(0);
        if self.pw.iter().any(is_empty) {
            return Ok(());
        }
        for level in 1..self.ps.len() {
            let counts: Vec<Val> = self.ps[level..]
                .iter()
                .map(|d| self.grids[*d].count)
                .collect();
            let shape: Vec<i64> = counts
                .iter()
                .map(|c| known(*c).unwrap_or(DYNAMIC))
                .collect();
            let dynamic: Vec<Val> = counts
                .iter()
                .copied()
                .filter(|c| known(*c).is_none())
                .collect();
            if kernel.is_some() && !dynamic.is_empty() {
                return Err(vec![
                    "has a schedule whose kernel has prefix-sums inside of each other, of a size that only a run \
                     knows: expected sizes that are known"
                        .into(),
                ]);
            }
            let components = self.computation.components.iter().map(|ty| {
                let element = types::mlir_type(builder.context, *ty);
                let ty = memref_type(builder.context, &shape, element);
                match kernel {
                    None => buffers::memory(builder, ops::memref::ALLOC, &dynamic, ty, &[]),
                    Some(first) => {
                        let mut start = Builder::before(first);
                        buffers::memory(&mut start, ops::memref::ALLOCA, &[], ty, &[])
                    }
                }
            });
            let slice = components.collect();
            self.slices.push(slice);
        }
        Ok(())
    }

    /// Emits it: where inputs have padding, once more without it.
    pub fn emit(mut self) {
        let (op, parts, grids) = (self.op, self.parts, self.grids.clone());
        borders::versions(op, parts, &grids, None, &mut |builder, parts| {
            self.inputs = parts.inputs.clone();
            self.version(builder);
        });
    }

    fn version(&self, builder: &mut Builder<'c>) {
        let mut point = vec![self.grids[0].lower; self.grids.len()];
        self.cc_loops(builder, 0, &mut point);
        for carry in &self.parts.carries {
            carry::pass_on(builder, &self.fold, &self.grids, carry);
        }
        for slice in self.slices.iter().flatten().filter(|_| !self.is_in_kernel) {
            builder.op(ops::memref::DEALLOC, &[*slice], &[], &[]);
        }
    }

    fn cc_loops(&self, builder: &mut Builder<'c>, level: usize, point: &mut Vec<Val<'c>>) {
        let Some(&dim) = self.cc.get(level) else {
            if self.ps.is_empty() {
                let total = self.tile(builder, point);
                self.finish(builder, point, total);
            } else {
                self.ps_loops(builder, 0, point);
            }
            return;
        };
        self.grids[dim].each(builder, &[], |builder, index, _| {
            point[dim] = index;
            self.cc_loops(builder, level + 1, point);
            if level + 1 < self.cc.len() && self.is_copy() {
                ir::block_argument(index)
                    .into_iter()
                    .for_each(|i| keep_rolled(i.of));
            }
            Vec::new()
        });
    }

    /// Returns whether elements are only moved.
    fn is_copy(&self) -> bool {
        let scalar = ir::region(self.op, 0);
        !self.is_in_kernel
            && self.cc.len() == self.grids.len()
            && region::operations_of(scalar).len() == 1
    }

    /// The combination over the `pw` dimensions at a point of the others.
    fn tile(&self, builder: &mut Builder<'c>, point: &mut Vec<Val<'c>>) -> Partial<'c> {
        if self.pw.is_empty() {
            return Partial {
                values: self.scalar(builder, point),
                valid: None,
            };
        }
        let nothing = self.fold.nothing(builder);
        self.pw_loops(builder, 0, point, nothing)
    }

    fn pw_loops(
        &self,
        builder: &mut Builder<'c>,
        level: usize,
        point: &mut Vec<Val<'c>>,
        sum: Partial<'c>,
    ) -> Partial<'c> {
        let Some(&dim) = self.pw.get(level) else {
            let values = self.scalar(builder, point);
            return self
                .fold
                .combine(
                    builder,
                    &sum,
                    &Partial {
                        values,
                        valid: None,
                    },
                )
                .kept_valid(&sum, builder);
        };
        let carried = sum.pack();
        let grid = self.narrowed(builder, level, point);
        let results = grid.each(builder, &carried, |builder, index, carried| {
            point[dim] = index;
            self.pw_loops(builder, level + 1, point, sum.unpack(carried))
                .pack()
        });
        sum.unpack(&results)
    }

    /// The points of a `pw` dimension that contribute something to a point of those outside of it.
    fn narrowed(&self, builder: &mut Builder<'c>, level: usize, point: &[Val<'c>]) -> Grid<'c> {
        let dim = self.pw[level];
        let grid = self.grids[dim];
        let stride = grid.stride(builder);
        let (Some(stride), false) = (stride, self.conditions.is_empty()) else {
            return grid;
        };
        if known(grid.count) == Some(1) {
            return grid;
        }
        let whole = [grid.lower, grid.upper];
        let inside = &self.pw[level + 1..];
        let ends = &mut |builder: &mut Builder<'c>, other: usize| match inside.contains(&other) {
            true => [self.grids[other].lower, self.grids[other].last(builder)],
            false => [point[other]; 2],
        };
        let [mut lower, upper] = (self.conditions).bounds(builder, dim, whole, Points::Any, ends);
        if lower != grid.lower {
            let distance = builder.binary(ops::arith::SUBI, lower, grid.lower);
            let points = builder.binary(ops::arith::CEILDIVSI, distance, stride);
            let distance = builder.binary(ops::arith::MULI, points, stride);
            lower = builder.binary(ops::arith::ADDI, grid.lower, distance);
        }
        Grid {
            lower,
            upper,
            ..grid
        }
    }

    fn ps_loops(&self, builder: &mut Builder<'c>, level: usize, point: &mut Vec<Val<'c>>) {
        let dim = self.ps[level];
        if level + 1 < self.ps.len() {
            self.grids[dim].each(builder, &[], |builder, index, _| {
                point[dim] = index;
                self.ps_loops(builder, level + 1, point);
                Vec::new()
            });
            return;
        }
        let nothing = self.fold.nothing(builder);
        self.grids[dim].each(builder, &nothing.pack(), |builder, index, carried| {
            point[dim] = index;
            let before = nothing.unpack(carried);
            let tile = self.tile(builder, point);
            let prefix = self.fold.combine(builder, &before, &tile);
            let mut total = prefix.clone();
            for outer in (0..self.slices.len()).rev() {
                total = self.add_slice(builder, outer, point, total);
            }
            self.finish(builder, point, total);
            prefix.kept_valid(&nothing, builder).pack()
        });
    }

    /// Combines a prefix over the `ps` dimensions inside `level` with what earlier indices of
    /// `level` left in its slice, and leaves the result there.
    fn add_slice(
        &self,
        builder: &mut Builder<'c>,
        level: usize,
        point: &[Val<'c>],
        inner: Partial<'c>,
    ) -> Partial<'c> {
        let (dim, slice) = (self.ps[level], &self.slices[level]);
        let at: Vec<Val> = self.ps[level + 1..]
            .iter()
            .map(|d| self.grids[*d].number(builder, point[*d]))
            .collect();
        let is_first = builder.compare("eq", point[dim], self.grids[dim].lower);
        let types: Vec<Type> = inner.values.iter().map(|v| v.r#type()).collect();
        let values = builder.if_else(
            is_first,
            &types,
            |_| inner.values.clone(),
            |builder| {
                let before = slice
                    .iter()
                    .map(|s| load(builder, *s, &at))
                    .collect::<Vec<_>>();
                self.fold.apply(builder, &before, &inner.values)
            },
        );
        for (value, component) in values.iter().zip(slice) {
            store(builder, *value, *component, &at);
        }
        Partial {
            values,
            valid: inner.valid,
        }
    }

    fn scalar(&self, builder: &mut Builder<'c>, point: &[Val<'c>]) -> Vec<Val<'c>> {
        let mut inputs = Vec::new();
        for buffer in &self.inputs {
            for access in 0..buffer.accesses.len() {
                inputs.push(read(builder, buffer, access, point));
            }
        }
        inline(builder, ir::region(self.op, 0), &inputs, point)
    }

    /// Applies the carries, innermost first, and stores the result.
    fn finish(&self, builder: &mut Builder<'c>, point: &[Val<'c>], tile: Partial<'c>) {
        let mut total = tile;
        for carry in self.parts.carries.iter().rev() {
            total = carry::carried(builder, &self.fold, carry, point, &total);
            self.carry_out(builder, carry, point, &total);
        }
        let write = |builder: &mut Builder<'c>| {
            for buffer in &self.parts.outputs {
                for (access, component) in buffer.components.iter().enumerate() {
                    write(builder, buffer, access, total.values[*component], point);
                }
            }
        };
        match total.valid {
            None => write(builder),
            Some(valid) => builder.if_then(valid, write),
        }
    }

    /// Stores the carry of the next tile: at the last point of a `ps` dimension.
    fn carry_out(
        &self,
        builder: &mut Builder<'c>,
        carry: &CarryPart<'c>,
        point: &[Val<'c>],
        total: &Partial<'c>,
    ) {
        if carry.outgoing.is_empty() {
            return;
        }
        let write =
            |builder: &mut Builder<'c>| carry::store_all(builder, &carry.outgoing, point, total);
        if !self.ps.contains(&carry.dim) {
            return write(builder);
        }
        let unit = builder.index(1);
        let last = builder.binary(ops::arith::SUBI, self.grids[carry.dim].count, unit);
        let last = self.grids[carry.dim].point(builder, last);
        let is_last = builder.compare("eq", point[carry.dim], last);
        builder.if_then(is_last, write);
    }
}

fn memref_type<'c>(context: &'c melior::Context, shape: &[i64], element: Type<'c>) -> Type<'c> {
    let sizes = shape.iter().map(|s| {
        if *s == DYNAMIC {
            "?x".into()
        } else {
            format!("{s}x")
        }
    });
    let text = format!("memref<{}{element}>", sizes.collect::<String>());
    Type::parse(context, &text).unwrap_or_else(|| panic!("{text} is a type"))
}
