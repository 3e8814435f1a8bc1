//! Operands of an operation of linalg: slices of buffers, and padding.
//!
//! linalg takes the size of a loop from an axis that it alone indexes, and an operand has all elements
//! that are read. So an origin, the first point of a dimension and its step are those of a slice, and what
//! is read outside is there in a padded tensor.

use mdh_algebra::affine::Expr;
use mdh_dialect::ir::Val;
use mdh_dialect::ops;
use mdh_dialect::parts::{Bound, BufferPart};
use mdh_dialect::types::{self, BufferKind, BufferType, DYNAMIC};
use melior::ir::{Attribute, Type, TypeLike, ValueLike};
use mlir_sys::mlirMemRefTypeGetMemorySpace;

use super::domain::{Domain, Index};
use crate::support::buffers::{self, SLICE};
use crate::support::builder::Builder;
use crate::support::extents::Sum;

/// A buffer, or a slice of it, with its indexing map.
#[derive(Clone)]
pub struct Operand<'c> {
    /// The tensor, memref or scalar that is indexed.
    pub value: Val<'c>,
    /// By loops.
    pub map: Vec<Expr>,
    /// The slice of the buffer that it is, if it is not the buffer.
    slice: Option<Slice<'c>>,
}

/// The part of a buffer that is seen.
#[derive(Clone)]
struct Slice<'c> {
    of: Val<'c>,
    axes: Vec<SlicedAxis<'c>>,
}

/// One axis of a slice.
#[derive(Clone)]
struct SlicedAxis<'c> {
    offset: Bound<'c>,
    size: Bound<'c>,
    stride: i64,
    /// The index function along it; none where it is one index that the slice has no axis for.
    index: Option<Expr>,
    /// All of the buffer's axis.
    is_whole: bool,
}

/// The operands that a buffer is, one for each of its accesses.
pub fn of_buffer<'c>(
    builder: &mut Builder<'c>,
    domain: &Domain<'c>,
    buffer: &BufferPart<'c>,
) -> Result<Vec<Operand<'c>>, String> {
    let in_it = |rule: String| format!("'{}': {rule}", buffer.name);
    let mut accesses = Vec::new();
    for access in &buffer.accesses {
        let axes = access.iter().zip(&buffer.origin);
        let indices = axes.map(|(expr, origin)| domain.index(expr, *origin));
        accesses.push(indices.collect::<Result<Vec<_>, _>>().map_err(in_it)?);
    }
    let mut value = buffer.value;
    if let Some(pad) = buffer.pad {
        value = padded(builder, domain, value, &mut accesses, pad).map_err(in_it)?;
    }
    let of_one = |indices: Vec<Index<'c>>| operand(builder, domain, value, indices);
    let operands = accesses.into_iter().map(of_one);
    operands.collect::<Result<_, _>>().map_err(in_it)
}

fn operand<'c>(
    builder: &mut Builder<'c>,
    domain: &Domain<'c>,
    value: Val<'c>,
    indices: Vec<Index<'c>>,
) -> Result<Operand<'c>, String> {
    let mut axes = Vec::new();
    for (n, index) in indices.into_iter().enumerate() {
        axes.push(axis(builder, domain, value, n, index)?);
    }
    if axes.iter().all(|axis| axis.is_whole) {
        let map = axes.into_iter().filter_map(|axis| axis.index).collect();
        return Ok(Operand {
            value,
            map,
            slice: None,
        });
    }
    // Which axis of one index a slice does without is seen only if no other one has one.
    let is_one = |axis: &SlicedAxis| axis.index.is_some() && axis.size == Bound::Static(1);
    if axes.iter().any(is_one) {
        for axis in &mut axes {
            axis.index = axis.index.take().or(Some(Expr::Const(0)));
        }
    }
    let map = axes.iter().filter_map(|axis| axis.index.clone()).collect();
    let slice = Slice { of: value, axes };
    Ok(Operand {
        value: slice.insert(builder)?,
        map,
        slice: Some(slice),
    })
}

/// Returns the part of an axis that an index function goes over.
fn axis<'c>(
    builder: &mut Builder<'c>,
    domain: &Domain<'c>,
    value: Val<'c>,
    number: usize,
    index: Index<'c>,
) -> Result<SlicedAxis<'c>, String> {
    let size = Sum::of_axis(value, number);
    let (coefficients, base) = match index {
        Index::Other(expr) => return Ok(SlicedAxis::whole(builder, &size, expr)),
        Index::Linear(coefficients, base) => (coefficients, base),
    };
    let terms = coefficients.into_iter().enumerate();
    let linear = LinearAxis {
        number,
        size,
        terms: terms.filter(|(_, c)| *c != 0).collect(),
        base,
    };
    match linear.terms[..] {
        [] => Ok(linear.at_one_index(builder)),
        [(n, stride)] if stride > 0 => Ok(linear.along_loop(builder, domain, n, stride)),
        _ => linear.along_several(builder),
    }
}

impl<'c> SlicedAxis<'c> {
    /// All of an axis of this size, with an index function along it.
    fn whole(builder: &mut Builder<'c>, size: &Sum<'c>, index: Expr) -> SlicedAxis<'c> {
        SlicedAxis {
            offset: Bound::Static(0),
            size: size.bound(builder),
            stride: 1,
            index: Some(index),
            is_whole: true,
        }
    }
}

/// An axis of a buffer with a linear index function along it.
struct LinearAxis<'c> {
    /// The number of the axis.
    number: usize,
    /// The size of the axis.
    size: Sum<'c>,
    /// Loops with their coefficients, none of which is 0.
    terms: Vec<(usize, i64)>,
    /// The index where all loops are at 0.
    base: Sum<'c>,
}

impl<'c> LinearAxis<'c> {
    /// The part of one index, without an axis of its own.
    fn at_one_index(&self, builder: &mut Builder<'c>) -> SlicedAxis<'c> {
        match (self.base.known(), self.size.known()) {
            (Some(0), Some(1)) => SlicedAxis::whole(builder, &self.size, Expr::Const(0)),
            _ => self.part(builder, Bound::Static(1), 1, None),
        }
    }

    /// The part that one loop goes along in steps of some indices.
    fn along_loop(
        &self,
        builder: &mut Builder<'c>,
        domain: &Domain<'c>,
        number: usize,
        stride: i64,
    ) -> SlicedAxis<'c> {
        let extent = domain.loops().nth(number).map(|own| own.extent);
        let extent = extent.unwrap_or_else(|| panic!("loop {number} is one of the domain"));
        let rest = self.size.plus(&Sum::of_bound(extent), -1);
        let is_first = (stride, self.base.known()) == (1, Some(0));
        if is_first && (domain.fits || rest.is_some_and(|r| r.known() == Some(0))) {
            return SlicedAxis::whole(builder, &self.size, Expr::Dim(number));
        }
        self.part(builder, extent, stride, Some(Expr::Dim(number)))
    }

    /// The part from the first index on that several loops, or a loop from its end on, go along.
    fn along_several(&self, builder: &mut Builder<'c>) -> Result<SlicedAxis<'c>, String> {
        let is_backwards = self.terms.iter().any(|(_, c)| *c < 0);
        match self.base.known() {
            Some(constant) if constant == 0 || is_backwards => {
                let index = self.sum(constant);
                Ok(SlicedAxis::whole(builder, &self.size, index))
            }
            None if is_backwards => Err(format!(
                "axis {} is read backwards from an index that is known at run time only: expected \
                 a number",
                self.number
            )),
            _ => {
                let size = self.size.plus(&self.base, -1);
                let size = size.map(|rest| rest.bound(builder));
                let size = size.ok_or("a slice of it leaves the 64-bit range")?;
                Ok(self.part(builder, size, 1, Some(self.sum(0))))
            }
        }
    }

    /// The terms, and a constant.
    fn sum(&self, constant: i64) -> Expr {
        let terms = self.terms.iter().map(|(n, c)| Expr::Dim(*n) * *c);
        let sum = terms.reduce(|sum, term| sum + term);
        sum.map_or(Expr::Const(constant), |sum| match constant {
            0 => sum,
            _ => sum + constant,
        })
    }

    /// A part from the base on.
    fn part(
        &self,
        builder: &mut Builder<'c>,
        size: Bound<'c>,
        stride: i64,
        index: Option<Expr>,
    ) -> SlicedAxis<'c> {
        SlicedAxis {
            offset: self.base.bound(builder),
            size,
            stride,
            index,
            is_whole: false,
        }
    }
}

/// A tensor with all that the accesses read outside of one, to which these are moved.
fn padded<'c>(
    builder: &mut Builder<'c>,
    domain: &Domain<'c>,
    value: Val<'c>,
    accesses: &mut [Vec<Index<'c>>],
    pad: Attribute<'c>,
) -> Result<Val<'c>, String> {
    let ty = buffer(value);
    if ty.kind != BufferKind::Tensor {
        return Err("it is padded, and memory has nothing around it: expected a tensor".into());
    }
    let (mut low, mut high) = (Vec::new(), Vec::new());
    for axis in 0..ty.shape.len() {
        let size = Sum::of_axis(value, axis);
        let (mut before, mut behind) = (Vec::new(), Vec::new());
        for access in accesses.iter() {
            let Index::Linear(coefficients, base) = &access[axis] else {
                return Err(
                    "it is padded, and an index of it has a division: expected none".into(),
                );
            };
            let ends = ends(domain, coefficients, base);
            let (first, last) = ends.ok_or("an index of it leaves the 64-bit range")?;
            before.extend(Sum::number(0).plus(&first, -1));
            behind.extend(
                last.plus(&size, -1)
                    .and_then(|x| x.plus(&Sum::number(1), 1)),
            );
        }
        low.push(around(builder, domain, &before));
        high.push(around(builder, domain, &behind));
    }
    for access in accesses.iter_mut() {
        for (index, low) in access.iter_mut().zip(&low) {
            if let Index::Linear(_, base) = index {
                let moved = base.plus(&Sum::of_bound(*low), 1);
                *base = moved.ok_or("an index of it leaves the 64-bit range")?;
            }
        }
    }
    if low
        .iter()
        .chain(&high)
        .all(|bound| *bound == Bound::Static(0))
    {
        return Ok(value);
    }
    Ok(insert_pad(builder, value, &low, &high, pad))
}

/// The least and the greatest value of an index.
fn ends<'c>(
    domain: &Domain<'c>,
    coefficients: &[i64],
    base: &Sum<'c>,
) -> Option<(Sum<'c>, Sum<'c>)> {
    let (mut first, mut last) = (base.clone(), base.clone());
    for (own, factor) in domain.loops().zip(coefficients) {
        let way = Sum::of_bound(own.extent).plus(&Sum::number(1), -1)?;
        let end = if *factor < 0 { &mut first } else { &mut last };
        *end = end.plus(&way, *factor)?;
    }
    Some((first, last))
}

/// The number of elements around: there is no need for more than 0 where these are known to fit.
fn around<'c>(builder: &mut Builder<'c>, domain: &Domain<'c>, sums: &[Sum<'c>]) -> Bound<'c> {
    match sums {
        [sum] if domain.fits && sum.known().is_none() => sum.bound(builder),
        _ => most(builder, sums),
    }
}

/// The greatest of some numbers and 0.
fn most<'c>(builder: &mut Builder<'c>, sums: &[Sum<'c>]) -> Bound<'c> {
    let known: Option<Vec<i64>> = sums.iter().map(Sum::known).collect();
    if let Some(known) = known {
        return Bound::Static(known.into_iter().fold(0, i64::max));
    }
    let mut most = builder.index(0);
    for sum in sums {
        let bound = sum.bound(builder);
        let value = buffers::value(builder, bound);
        most = builder.binary(ops::arith::MAXSI, most, value);
    }
    Bound::Dynamic(most)
}

fn insert_pad<'c>(
    builder: &mut Builder<'c>,
    value: Val<'c>,
    low: &[Bound<'c>],
    high: &[Bound<'c>],
    pad: Attribute<'c>,
) -> Val<'c> {
    let ty = buffer(value);
    let element = types::mlir_type(builder.context, ty.element);
    let sizes = ty.shape.iter().zip(low.iter().zip(high));
    let size = |(size, (low, high)): (&Option<i64>, (&Bound, &Bound))| {
        let sum = (*size)?
            .checked_add(low.known()?)?
            .checked_add(high.known()?)?;
        Some(sum)
    };
    let shape: Vec<i64> = sizes.map(|all| size(all).unwrap_or(DYNAMIC)).collect();
    let result = buffers::shaped(BufferKind::Tensor, &shape, element);
    let number = builder.constant(pad, element);
    let index = vec![builder.index_type(); shape.len()];
    let code = builder.region(&index, ops::tensor::YIELD, |_, _| vec![number]);
    buffers::padded(builder, value, [low, high], result, code)
}

impl<'c> Operand<'c> {
    /// All of a buffer.
    pub fn whole(value: Val<'c>, map: Vec<Expr>) -> Self {
        Operand {
            value,
            map,
            slice: None,
        }
    }

    /// Returns whether it is all of a buffer.
    pub fn is_all(&self) -> bool {
        self.slice.is_none()
    }

    /// Returns whether two operands are the same part of a buffer.
    pub fn is_same_part(&self, other: &Operand<'c>) -> bool {
        let (Some(own), Some(other)) = (&self.slice, &other.slice) else {
            return false;
        };
        let part =
            |axis: &SlicedAxis<'c>| (axis.offset, axis.size, axis.stride, axis.index.is_some());
        own.of == other.of && own.axes.iter().map(part).eq(other.axes.iter().map(part))
    }

    /// All of the buffer with a result of the operation in the place of the slice.
    pub fn merged(&self, builder: &mut Builder<'c>, result: Val<'c>) -> Val<'c> {
        let Some(slice) = &self.slice else {
            return result;
        };
        let (operands, attributes) = slice.lists(builder, &[result, slice.of]);
        let ty = slice.of.r#type();
        builder.op(ops::tensor::INSERT_SLICE, &operands, &[ty], &attributes)[0]
    }

    /// Returns whether a loop is the index of every axis: then each element is one point's.
    pub fn is_written_whole(&self) -> bool {
        let shape = buffer(self.value).shape;
        let mut axes = self.map.iter().zip(shape).enumerate();
        axes.all(|(n, (expr, size))| match expr {
            Expr::Dim(_) => !self.map[..n].contains(expr),
            _ => size == Some(1),
        })
    }
}

impl<'c> Slice<'c> {
    fn insert(&self, builder: &mut Builder<'c>) -> Result<Val<'c>, String> {
        let (operands, attributes) = self.lists(builder, &[self.of]);
        let (name, ty) = match buffer(self.of).kind {
            BufferKind::MemRef => (ops::memref::SUBVIEW, self.memory(builder)?),
            _ => {
                let element = types::mlir_type(builder.context, buffer(self.of).element);
                let sliced = self.axes.iter().filter(|axis| axis.index.is_some());
                let shape: Vec<i64> = sliced.map(|a| a.size.known().unwrap_or(DYNAMIC)).collect();
                let ty = buffers::shaped(BufferKind::Tensor, &shape, element);
                (ops::tensor::EXTRACT_SLICE, ty)
            }
        };
        Ok(builder.op(name, &operands, &[ty], &attributes)[0])
    }

    /// The operands and attributes that say which part it is.
    fn lists(
        &self,
        builder: &Builder<'c>,
        first: &[Val<'c>],
    ) -> (Vec<Val<'c>>, Vec<(&'static str, Attribute<'c>)>) {
        let offsets: Vec<Bound> = self.axes.iter().map(|axis| axis.offset).collect();
        let sizes: Vec<Bound> = self.axes.iter().map(|axis| axis.size).collect();
        let strides = self.axes.iter().map(|axis| Bound::Static(axis.stride));
        let strides: Vec<Bound> = strides.collect();
        buffers::lists(builder, first, SLICE, [&offsets, &sizes, &strides])
    }

    /// The type of a part of a memref.
    fn memory(&self, builder: &Builder<'c>) -> Result<Type<'c>, String> {
        let ty = self.of.r#type();
        let (offset, strides) = types::strides(ty)
            .ok_or_else(|| format!("it is a {ty}: expected a memref with strides"))?;
        let mut offset = offset.unwrap_or(DYNAMIC);
        let mut layout = Vec::new();
        let mut shape = String::new();
        for (axis, stride) in self.axes.iter().zip(&strides) {
            let first = axis.offset.known().unwrap_or(DYNAMIC);
            let stride = stride.unwrap_or(DYNAMIC);
            let way = times(first, stride);
            offset = match (offset, way) {
                (DYNAMIC, _) | (_, DYNAMIC) => DYNAMIC,
                (a, b) => a.checked_add(b).unwrap_or(DYNAMIC),
            };
            if axis.index.is_some() {
                layout.push(number(times(axis.stride, stride)));
                shape += &format!("{}x", number(axis.size.known().unwrap_or(DYNAMIC)));
            }
        }
        // SAFETY: the type is a memref; a memory space may be null.
        let space = unsafe {
            let raw = mlirMemRefTypeGetMemorySpace(ty.to_raw());
            (!raw.ptr.is_null()).then(|| Attribute::from_raw(raw))
        };
        let space = space.map_or(String::new(), |space| format!(", {space}"));
        let offset = match offset {
            0 => String::new(),
            offset => format!(", offset: {}", number(offset)),
        };
        let element = types::mlir_type(builder.context, buffer(self.of).element);
        let layout = layout.join(", ");
        let text = format!("memref<{shape}{element}, strided<[{layout}]{offset}>{space}>");
        Ok(Type::parse(builder.context, &text).unwrap_or_else(|| panic!("{text} is a type")))
    }
}

/// The type of a buffer.
fn buffer(value: Val) -> BufferType {
    types::buffer_type(value.r#type()).unwrap_or_else(|| panic!("an operand is a buffer"))
}

/// A product of numbers of which each may be unknown.
fn times(a: i64, b: i64) -> i64 {
    match (a, b) {
        (0, _) | (_, 0) => 0,
        (DYNAMIC, _) | (_, DYNAMIC) => DYNAMIC,
        (a, b) => a.checked_mul(b).unwrap_or(DYNAMIC),
    }
}

fn number(size: i64) -> String {
    match size {
        DYNAMIC => "?".into(),
        size => size.to_string(),
    }
}
