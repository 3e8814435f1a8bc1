//! `mdh-lower-to-loops`: an `mdh.compute` on memrefs becomes scf loops.
//!
//! ```mlir
//! mdh.compute (i = 8, k = 5)
//!   out_view(w = %w[i] : memref<8xf32>)
//!   md_hom(mulf, (cc, pw(addf)))
//!   inp_view(M = %M[i, k] : memref<8x5xf32>, v = %v[k] : memref<5xf32>)
//! // becomes
//! scf.for %i = %c0 to %c8 step %c1 {
//!   %sum = scf.for %k = %c0 to %c5 step %c1 iter_args(%acc = %zero) -> (f32) {
//!     %m = memref.load %M[%i, %k] : memref<8x5xf32>
//!     %x = memref.load %v[%k] : memref<5xf32>
//!     %p = arith.mulf %m, %x : f32
//!     %s = arith.addf %acc, %p fastmath<reassoc> : f32
//!     scf.yield %s : f32
//!   }
//!   memref.store %sum, %w[%i] : memref<8xf32>
//! }
//! ```
//!
//! The nest has the `cc` dimensions outermost, then `ps`, then `pw`; every combine operator's
//! function is commutative unless it combines in one dimension only, so any order of dimensions
//! gives the same result. Partial results stay in values; only several `ps` dimensions need
//! memory: for each but the innermost, one slice over the `ps` dimensions inside it, allocated
//! once before the nest.

use mdh_algebra::computation::{Combine, Computation};
use mdh_algebra::operator::{Builtin, Operator};
use mdh_algebra::scalar::{Scalar, ScalarType};
use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::parts::{Bound, BufferPart, CarryPart, Parts};
use mdh_dialect::pass::{Options, Pass, emit_all};
use mdh_dialect::read;
use mdh_dialect::translate::{self, Depth};
use mdh_dialect::types::{self, BufferKind, DYNAMIC};
use melior::ir::{Attribute, Type, ValueLike};
use mlir_sys::{mlirOperationDestroy, mlirOperationRemoveFromParent};

use crate::builder::{Builder, known};
use crate::inline::inline;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-lower-to-loops",
    description: "lower every mdh.compute on memrefs to scf loops",
    operation: "builtin.module",
    options: &[],
    run,
};

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    for op in ir::find_all(module, &["mdh.compute"]) {
        if let Err(errors) = lower(op) {
            return emit_all(op, errors);
        }
    }
    // Each computation held its operator itself; homs, if any are left, still need theirs.
    if ir::find_all(module, &["mdh.hom"]).is_empty() {
        for combine in ir::find_all(module, &["mdh.combine"]) {
            erase(combine);
        }
    }
    Ok(())
}

/// Erases an operation whose results nothing uses.
fn erase(op: Op) {
    // SAFETY: nothing refers to the operation, by contract.
    unsafe {
        mlirOperationRemoveFromParent(op.to_raw());
        mlirOperationDestroy(op.to_raw());
    }
}

fn lower(op: Op) -> Result<(), Errors> {
    let parts = read::compute(op)?;
    let is_tensor = |b: &BufferPart| {
        types::buffer_type(b.value.r#type()).is_some_and(|t| t.kind == BufferKind::Tensor)
    };
    if parts.buffers().any(is_tensor) {
        return Err(vec![
            "works on tensors: loops need memrefs; run one-shot-bufferize first".into(),
        ]);
    }
    let computation = translate::compute(op, Depth::Signatures)?;
    let mut builder = Builder::before(op);
    let nest = Nest::new(&mut builder, op, &parts, &computation);
    nest.emit(&mut builder);
    erase(op);
    Ok(())
}

/// The bounds of one dimension as values.
struct Grid<'c> {
    lower: Val<'c>,
    upper: Val<'c>,
    step: Val<'c>,
    width: Val<'c>,
    /// Number of points.
    count: Val<'c>,
}

/// A tuple that may be absent: nothing has been combined yet.
#[derive(Clone)]
struct Partial<'c> {
    values: Vec<Val<'c>>,
    /// `None` where it is always there.
    valid: Option<Val<'c>>,
}

impl<'c> Partial<'c> {
    fn pack(&self) -> Vec<Val<'c>> {
        self.values.iter().copied().chain(self.valid).collect()
    }

    fn unpack(&self, packed: &[Val<'c>]) -> Partial<'c> {
        let (values, valid) = packed.split_at(self.values.len());
        Partial {
            values: values.to_vec(),
            valid: valid.first().copied(),
        }
    }
}

/// One computation's loop nest.
struct Nest<'c, 'p> {
    op: Op<'c>,
    parts: &'p Parts<'c>,
    computation: &'p Computation,
    grids: Vec<Grid<'c>>,
    cc: Vec<usize>,
    ps: Vec<usize>,
    pw: Vec<usize>,
    /// For each `ps` dimension but the innermost, a slice of the tuple's components.
    slices: Vec<Vec<Val<'c>>>,
}

impl<'c, 'p> Nest<'c, 'p> {
    fn new(
        builder: &mut Builder<'c>,
        op: Op<'c>,
        parts: &'p Parts<'c>,
        computation: &'p Computation,
    ) -> Self {
        let grids = parts
            .dims
            .iter()
            .map(|dim| {
                let [lower, upper, step, width] =
                    [dim.lower, dim.upper, dim.step, dim.width].map(|b| bound(builder, b));
                let count = count(builder, [lower, upper, step, width]);
                Grid {
                    lower,
                    upper,
                    step,
                    width,
                    count,
                }
            })
            .collect();
        let of = |wanted: fn(&Combine) -> bool| -> Vec<usize> {
            let dims = computation.dimensions.iter().enumerate();
            dims.filter(|(_, dim)| wanted(&dim.combine))
                .map(|(d, _)| d)
                .collect()
        };
        let mut nest = Nest {
            op,
            parts,
            computation,
            grids,
            cc: of(|c| matches!(c, Combine::Cc)),
            ps: of(|c| matches!(c, Combine::Ps(_))),
            pw: of(|c| matches!(c, Combine::Pw(_))),
            slices: Vec::new(),
        };
        nest.allocate_slices(builder);
        nest
    }

    fn allocate_slices(&mut self, builder: &mut Builder<'c>) {
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
            let segments = Attribute::parse(
                builder.context,
                &format!("array<i32: {}, 0>", dynamic.len()),
            );
            let components = self.computation.components.iter().map(|ty| {
                let element = types::mlir_type(builder.context, *ty);
                let ty = memref_type(builder.context, &shape, element);
                let segments = ("operandSegmentSizes", segments.expect("a valid attribute"));
                builder.op("memref.alloc", &dynamic, &[ty], &[segments])[0]
            });
            let slice = components.collect();
            self.slices.push(slice);
        }
    }

    fn emit(&self, builder: &mut Builder<'c>) {
        let mut point = vec![self.grids[0].lower; self.grids.len()];
        self.cc_loops(builder, 0, &mut point);
        for slice in self.slices.iter().flatten() {
            builder.op("memref.dealloc", &[*slice], &[], &[]);
        }
    }

    /// A loop over the points of a dimension.
    fn each(
        &self,
        builder: &mut Builder<'c>,
        dim: usize,
        carried: &[Val<'c>],
        body: impl FnOnce(&mut Builder<'c>, Val<'c>, &[Val<'c>]) -> Vec<Val<'c>>,
    ) -> Vec<Val<'c>> {
        let grid = &self.grids[dim];
        let one = builder.index(1);
        if self.is_dense(dim) {
            return builder.for_loop([grid.lower, grid.upper, one], carried, body);
        }
        if known(grid.width) == Some(1) {
            return builder.for_loop([grid.lower, grid.upper, grid.step], carried, body);
        }
        let zero = builder.index(0);
        builder.for_loop(
            [zero, grid.count, one],
            carried,
            |builder, number, carried| {
                let index = self.point(builder, dim, number);
                body(builder, index, carried)
            },
        )
    }

    fn is_dense(&self, dim: usize) -> bool {
        let grid = &self.grids[dim];
        known(grid.step).is_some() && known(grid.step) == known(grid.width)
    }

    /// The index of the point with a number: `lower + (n / width) * step + n mod width`.
    fn point(&self, builder: &mut Builder<'c>, dim: usize, number: Val<'c>) -> Val<'c> {
        let grid = &self.grids[dim];
        let period = builder.binary("arith.divsi", number, grid.width);
        let start = builder.binary("arith.muli", period, grid.step);
        let within = builder.binary("arith.remsi", number, grid.width);
        let offset = builder.binary("arith.addi", start, within);
        builder.binary("arith.addi", grid.lower, offset)
    }

    /// The number of the point with an index.
    fn number(&self, builder: &mut Builder<'c>, dim: usize, index: Val<'c>) -> Val<'c> {
        let grid = &self.grids[dim];
        let offset = builder.binary("arith.subi", index, grid.lower);
        if self.is_dense(dim) {
            return offset;
        }
        let period = builder.binary("arith.divsi", offset, grid.step);
        let start = builder.binary("arith.muli", period, grid.width);
        let within = builder.binary("arith.remsi", offset, grid.step);
        builder.binary("arith.addi", start, within)
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
        self.each(builder, dim, &[], |builder, index, _| {
            point[dim] = index;
            self.cc_loops(builder, level + 1, point);
            Vec::new()
        });
    }

    /// The combination over the `pw` dimensions at a point of the others.
    fn tile(&self, builder: &mut Builder<'c>, point: &mut Vec<Val<'c>>) -> Partial<'c> {
        if self.pw.is_empty() {
            return Partial {
                values: self.scalar(builder, point),
                valid: None,
            };
        }
        let nothing = self.nothing(builder);
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
        let results = self.each(builder, dim, &carried, |builder, index, carried| {
            point[dim] = index;
            self.pw_loops(builder, level + 1, point, sum.unpack(carried))
                .pack()
        });
        sum.unpack(&results)
    }

    fn ps_loops(&self, builder: &mut Builder<'c>, level: usize, point: &mut Vec<Val<'c>>) {
        let dim = self.ps[level];
        if level + 1 < self.ps.len() {
            self.each(builder, dim, &[], |builder, index, _| {
                point[dim] = index;
                self.ps_loops(builder, level + 1, point);
                Vec::new()
            });
            return;
        }
        let nothing = self.nothing(builder);
        self.each(builder, dim, &nothing.pack(), |builder, index, carried| {
            point[dim] = index;
            let before = nothing.unpack(carried);
            let tile = self.tile(builder, point);
            let prefix = self.combine(builder, &before, &tile);
            let mut total = prefix.clone();
            for outer in (0..level).rev() {
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
            .map(|d| self.number(builder, *d, point[*d]))
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
                self.apply(builder, &before, &inner.values)
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

    /// The tuple before anything has been combined: the neutral element where there is one.
    fn nothing(&self, builder: &mut Builder<'c>) -> Partial<'c> {
        let components = &self.computation.components;
        match self.computation.operators.first() {
            Some(Operator::Builtin(operators)) => {
                let pairs = operators.iter().zip(components);
                let neutral = |(op, ty): (&Builtin, &ScalarType)| {
                    op.neutral(*ty).unwrap_or_else(|| Scalar::zero(*ty))
                };
                let values = pairs.map(|pair| builder.scalar(neutral(pair))).collect();
                Partial {
                    values,
                    valid: None,
                }
            }
            Some(Operator::User(operator)) if operator.neutral.is_some() => {
                let neutral = operator.neutral.iter().flatten();
                Partial {
                    values: neutral.map(|v| builder.scalar(*v)).collect(),
                    valid: None,
                }
            }
            _ => {
                let values = components
                    .iter()
                    .map(|ty| builder.scalar(Scalar::zero(*ty)))
                    .collect();
                Partial {
                    values,
                    valid: Some(builder.boolean(false)),
                }
            }
        }
    }

    fn scalar(&self, builder: &mut Builder<'c>, point: &[Val<'c>]) -> Vec<Val<'c>> {
        let mut inputs = Vec::new();
        for buffer in &self.parts.inputs {
            for access in 0..buffer.accesses.len() {
                inputs.push(self.read(builder, buffer, access, point));
            }
        }
        inline(builder, ir::region(self.op, 0), &inputs, point)
    }

    /// `f(left, right)` on whole tuples.
    fn apply(
        &self,
        builder: &mut Builder<'c>,
        left: &[Val<'c>],
        right: &[Val<'c>],
    ) -> Vec<Val<'c>> {
        match self.computation.operators.first() {
            Some(Operator::Builtin(operators)) => {
                let pairs = left.iter().zip(right).zip(operators);
                pairs
                    .map(|((a, b), op)| builtin(builder, *op, *a, *b))
                    .collect()
            }
            _ => {
                let arguments: Vec<Val> = left.iter().chain(right).copied().collect();
                inline(builder, ir::region(self.op, 1), &arguments, &[])
            }
        }
    }

    /// `f(left, right)` where either may be absent.
    fn combine(
        &self,
        builder: &mut Builder<'c>,
        left: &Partial<'c>,
        right: &Partial<'c>,
    ) -> Partial<'c> {
        let types: Vec<Type> = right.values.iter().map(|v| v.r#type()).collect();
        let both = |builder: &mut Builder<'c>| self.apply(builder, &left.values, &right.values);
        let right_if_there = |builder: &mut Builder<'c>| match right.valid {
            None => both(builder),
            Some(valid) => builder.if_else(valid, &types, both, |_| left.values.clone()),
        };
        let values = match left.valid {
            None => right_if_there(builder),
            Some(valid) => builder.if_else(valid, &types, right_if_there, |_| right.values.clone()),
        };
        let valid = match (left.valid, right.valid) {
            (Some(a), Some(b)) => Some(builder.binary("arith.ori", a, b)),
            _ => None,
        };
        Partial { values, valid }
    }

    /// Applies the carries, innermost first, and stores the result.
    fn finish(&self, builder: &mut Builder<'c>, point: &[Val<'c>], tile: Partial<'c>) {
        let mut total = tile;
        for carry in self.parts.carries.iter().rev() {
            let read =
                |builder: &mut Builder<'c>, b: &BufferPart<'c>| self.read(builder, b, 0, point);
            let values = carry.incoming.iter().map(|b| read(builder, b)).collect();
            let incoming = Partial {
                values,
                valid: carry.valid,
            };
            total = self.combine(builder, &incoming, &total);
            self.hand_on(builder, carry, point, &total);
        }
        let write = |builder: &mut Builder<'c>| {
            for buffer in &self.parts.outputs {
                for (access, component) in buffer.components.iter().enumerate() {
                    self.write(builder, buffer, access, total.values[*component], point);
                }
            }
        };
        match total.valid {
            None => write(builder),
            Some(valid) => builder.if_then(valid, write),
        }
    }

    /// Stores the carry of the next tile: at the last point of a `ps` dimension.
    fn hand_on(
        &self,
        builder: &mut Builder<'c>,
        carry: &CarryPart<'c>,
        point: &[Val<'c>],
        total: &Partial<'c>,
    ) {
        if carry.outgoing.is_empty() {
            return;
        }
        let write = |builder: &mut Builder<'c>| {
            for (buffer, value) in carry.outgoing.iter().zip(&total.values) {
                self.write(builder, buffer, 0, *value, point);
            }
        };
        if !self.ps.contains(&carry.dim) {
            return write(builder);
        }
        let one = builder.index(1);
        let last = builder.binary("arith.subi", self.grids[carry.dim].count, one);
        let last = self.point(builder, carry.dim, last);
        let is_last = builder.compare("eq", point[carry.dim], last);
        builder.if_then(is_last, write);
    }

    /// Where in its buffer an access goes.
    fn place(
        &self,
        builder: &mut Builder<'c>,
        buffer: &BufferPart<'c>,
        access: usize,
        point: &[Val<'c>],
    ) -> Vec<Val<'c>> {
        let coordinates = buffer.accesses[access].iter().zip(&buffer.origin);
        coordinates
            .map(|(expr, origin)| {
                let index = builder.affine(expr, point);
                let origin = bound(builder, *origin);
                builder.binary("arith.subi", index, origin)
            })
            .collect()
    }

    fn read(
        &self,
        builder: &mut Builder<'c>,
        buffer: &BufferPart<'c>,
        access: usize,
        point: &[Val<'c>],
    ) -> Val<'c> {
        let ty = types::buffer_type(buffer.value.r#type());
        if ty.as_ref().is_some_and(|t| t.kind == BufferKind::Scalar) {
            return buffer.value;
        }
        let place = self.place(builder, buffer, access, point);
        let (Some(pad), Some(ty)) = (buffer.pad, ty) else {
            return load(builder, buffer.value, &place);
        };
        let mut inside = builder.boolean(true);
        for (d, coordinate) in place.iter().enumerate() {
            // Unsigned: a negative coordinate is beyond every extent too.
            let extent = builder.dim(buffer.value, d);
            let fits = builder.compare("ult", *coordinate, extent);
            inside = builder.binary("arith.andi", inside, fits);
        }
        let element = types::mlir_type(builder.context, ty.element);
        builder.if_else(
            inside,
            &[element],
            |builder| vec![load(builder, buffer.value, &place)],
            |builder| vec![builder.constant(pad, element)],
        )[0]
    }

    fn write(
        &self,
        builder: &mut Builder<'c>,
        buffer: &BufferPart<'c>,
        access: usize,
        value: Val<'c>,
        point: &[Val<'c>],
    ) {
        let place = self.place(builder, buffer, access, point);
        let element = types::buffer_type(buffer.value.r#type()).map(|t| t.element);
        let value = element.map_or(value, |element| convert(builder, value, element));
        store(builder, value, buffer.value, &place);
    }
}

impl<'c> Partial<'c> {
    /// The same tuple in the shape that a loop carries: with a valid bit if `like` has one.
    fn kept_valid(mut self, like: &Partial<'c>, builder: &mut Builder<'c>) -> Partial<'c> {
        if like.valid.is_some() && self.valid.is_none() {
            self.valid = Some(builder.boolean(true));
        }
        self
    }
}

fn bound<'c>(builder: &mut Builder<'c>, bound: Bound<'c>) -> Val<'c> {
    match bound {
        Bound::Static(number) => builder.index(number),
        Bound::Dynamic(value) => value,
    }
}

/// `(n / step) * width + min(n mod step, width)` with `n = max(upper - lower, 0)`.
fn count<'c>(builder: &mut Builder<'c>, [lower, upper, step, width]: [Val<'c>; 4]) -> Val<'c> {
    let zero = builder.index(0);
    let distance = builder.binary("arith.subi", upper, lower);
    let distance = builder.binary("arith.maxsi", distance, zero);
    if known(step).is_some() && known(step) == known(width) {
        return distance;
    }
    let periods = builder.binary("arith.divsi", distance, step);
    let whole = builder.binary("arith.muli", periods, width);
    let rest = builder.binary("arith.remsi", distance, step);
    let rest = builder.binary("arith.minsi", rest, width);
    builder.binary("arith.addi", whole, rest)
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

fn load<'c>(builder: &mut Builder<'c>, buffer: Val<'c>, place: &[Val<'c>]) -> Val<'c> {
    let operands: Vec<Val> = std::iter::once(buffer)
        .chain(place.iter().copied())
        .collect();
    let element = types::buffer_type(buffer.r#type()).map(|t| t.element);
    let element = element.unwrap_or_else(|| panic!("{} is a buffer", buffer.r#type()));
    let ty = types::mlir_type(builder.context, element);
    builder.op("memref.load", &operands, &[ty], &[])[0]
}

fn store<'c>(builder: &mut Builder<'c>, value: Val<'c>, buffer: Val<'c>, place: &[Val<'c>]) {
    let operands: Vec<Val> = [value, buffer]
        .into_iter()
        .chain(place.iter().copied())
        .collect();
    builder.op("memref.store", &operands, &[], &[]);
}

fn builtin<'c>(builder: &mut Builder<'c>, op: Builtin, a: Val<'c>, b: Val<'c>) -> Val<'c> {
    let name = format!("arith.{}", op.name());
    if !matches!(op, Builtin::Addf | Builtin::Mulf) {
        return builder.op(&name, &[a, b], &[a.r#type()], &[])[0];
    }
    // `pw(addf)` licenses any order of the sum; that is what the attribute says to LLVM.
    let reassociate = Attribute::parse(builder.context, "#arith.fastmath<reassoc>");
    let reassociate = reassociate.expect("arith is loaded: its operations are being built");
    builder.op(&name, &[a, b], &[a.r#type()], &[("fastmath", reassociate)])[0]
}

/// The conversion at a store: between floats, or between integers (i1 counts as 0 and 1).
fn convert<'c>(builder: &mut Builder<'c>, value: Val<'c>, to: ScalarType) -> Val<'c> {
    let Some(from) = types::scalar_type(value.r#type()) else {
        return value;
    };
    if from == to {
        return value;
    }
    if from.is_float() {
        let (wide, narrow) = (
            to.bit_width() > from.bit_width(),
            to.bit_width() < from.bit_width(),
        );
        return if wide {
            builder.convert("arith.extf", value, to)
        } else if narrow {
            builder.convert("arith.truncf", value, to)
        } else {
            let single = builder.convert("arith.extf", value, ScalarType::F32);
            builder.convert("arith.truncf", single, to)
        };
    }
    if from == ScalarType::I1 {
        let wide = if to == ScalarType::Index {
            ScalarType::I64
        } else {
            to
        };
        let extended = builder.convert("arith.extui", value, wide);
        return convert(builder, extended, to);
    }
    if from == ScalarType::Index || to == ScalarType::Index {
        return builder.convert("arith.index_cast", value, to);
    }
    let name = if to.bit_width() > from.bit_width() {
        "arith.extsi"
    } else {
        "arith.trunci"
    };
    builder.convert(name, value, to)
}
