//! An operation of linalg taken apart: its operands with their maps, and its domain.

use mdh_algebra::affine::Expr;
use mdh_algebra::scalar::Scalar;
use mdh_dialect::code::arguments;
use mdh_dialect::index_function;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::loop_index;
use mdh_dialect::ops;
use mdh_dialect::parts::{Bound, BufferPart, Dim};
use mdh_dialect::types::{self, BufferKind};
use melior::ir::ValueLike;
use melior::ir::attribute::Attribute;
use melior::ir::operation::OperationLike;
use mlir_sys::mlirLinalgGetIndexingMapsAttribute;

use crate::support::builder::Builder;
use crate::support::extents::{self, Extent};

/// An input or a destination.
#[derive(Clone)]
pub struct Operand<'c> {
    /// The tensor, memref or scalar.
    pub value: Val<'c>,
    /// Its indexing map.
    pub map: Vec<Expr>,
    /// The number of its argument in the body, if it has one.
    pub argument: Option<usize>,
    /// The value read where an index is outside, if one may be.
    pub outside: Option<Scalar>,
}

/// An operation with linalg's interface: named ones have the same parts as `linalg.generic`.
pub struct Structured<'c> {
    /// The operation.
    pub op: Op<'c>,
    /// Inputs.
    pub inputs: Vec<Operand<'c>>,
    /// Destinations.
    pub outputs: Vec<Operand<'c>>,
    /// The number of its loops.
    pub rank: usize,
}

/// The loops of an operation.
pub struct Loops<'c> {
    /// The number of iterations of each, where it is known.
    pub extents: Vec<Option<i64>>,
    /// The same as the program has it, of those that alone index an axis.
    pub sizes: Vec<Option<Extent<'c>>>,
    /// Says which keep their results apart; the body accumulates over the others.
    pub is_kept: Vec<bool>,
}

/// The indexing maps of an operation with linalg's interface.
pub fn maps<'c>(op: Op<'c>) -> Option<Vec<Attribute<'c>>> {
    // SAFETY: the operation is valid; what has no such interface has a null attribute.
    let raw = unsafe { mlirLinalgGetIndexingMapsAttribute(op.to_raw()) };
    if raw.ptr.is_null() {
        return None;
    }
    // SAFETY: the attribute is valid, and lives in the context.
    Some(ir::elements(unsafe { Attribute::from_raw(raw) }))
}

/// Returns whether an operation has linalg's interface.
pub fn is_structured(op: Op) -> bool {
    ir::name_of(op).starts_with("linalg.") && maps(op).is_some()
}

/// The number of iterations that an operation's loops make, if its sizes are known.
pub fn iterations(op: Op) -> Option<i64> {
    let sizes: Option<Vec<i64>> = sizes(op)?.into_iter().collect();
    Some(sizes?.into_iter().fold(1, i64::saturating_mul))
}

/// The number of iterations of each loop of an operation, where it is known.
fn sizes(op: Op) -> Option<Vec<Option<i64>>> {
    let operands: Vec<Val> = op.operands().map(ir::value).collect();
    loop_index::extents(&maps(op)?, &operands)
}

/// The number of destinations, which are the last operands.
fn destinations(op: Op) -> usize {
    if op.result_count() > 0 {
        return op.result_count();
    }
    match ir::integers(op, "operandSegmentSizes")[..] {
        [_, outputs] => usize::try_from(outputs).unwrap_or_default(),
        _ if ir::name_of(op) == ops::linalg::REDUCE => op.operand_count() / 2,
        _ => 1,
    }
}

impl<'c> Structured<'c> {
    /// Reads an operation; the rule that it does not follow, if it is none that can be raised.
    pub fn read(op: Op<'c>) -> Result<Self, String> {
        let maps = maps(op).ok_or_else(|| {
            format!(
                "'{}' has no indexing maps, so that it is no loop nest",
                ir::name_of(op)
            )
        })?;
        let block = ir::only_block(ir::region(op, 0));
        let block = block.ok_or("its body is not one block")?;
        let count = arguments(block).len();
        let values: Vec<Val> = op.operands().map(ir::value).collect();
        let rank = maps.first().map_or(0, |map| index_function::num_dims(*map));
        let mut operands = Vec::new();
        for (n, (value, map)) in values.iter().zip(&maps).enumerate() {
            let map = index_function::from_map(*map).ok_or_else(|| {
                format!("operand {n} is indexed by {map}: expected a map without symbols")
            })?;
            operands.push(Operand {
                value: *value,
                map,
                argument: (n < count).then_some(n),
                outside: None,
            });
        }
        let first = operands.len().checked_sub(destinations(op));
        let outputs = operands.split_off(first.ok_or("it has fewer operands than results")?);
        let structured = Structured {
            op,
            inputs: operands,
            outputs,
            rank,
        };
        structured.kind()?;
        Ok(structured)
    }

    /// All operands, in their order.
    pub fn operands(&self) -> impl Iterator<Item = &Operand<'c>> {
        self.inputs.iter().chain(&self.outputs)
    }

    /// Tensors or memrefs.
    pub fn kind(&self) -> Result<BufferKind, String> {
        let mut reason = None;
        for operand in self.operands() {
            let ty = operand.value.r#type();
            let Some(buffer) = types::buffer_type(ty) else {
                return Err(format!(
                    "an operand has the type {ty}: expected a scalar, or a ranked tensor without encoding, or memref, of \
                     i1 to i64, index, f16, bf16, f32 or f64"
                ));
            };
            if buffer.kind == BufferKind::Scalar {
                continue;
            }
            if reason.is_some_and(|kind| kind != buffer.kind) {
                return Err("some operands are tensors and some memrefs: expected one kind".into());
            }
            reason = Some(buffer.kind);
        }
        reason.ok_or_else(|| "it has no tensor or memref".into())
    }

    /// The dimensions that an output's map uses.
    pub fn kept(&self, output: &Operand) -> Vec<bool> {
        let uses = |d| output.map.iter().any(|expr| expr.uses(d));
        (0..self.rank).map(uses).collect()
    }

    /// Its loops, of which a destination keeps some.
    pub fn loops(&self, output: &Operand) -> Loops<'c> {
        let size = |d: usize| {
            let extent_of = |operand: &Operand<'c>| {
                let axis = operand.map.iter().position(|own| *own == Expr::Dim(d))?;
                Some(extents::of_axis(operand.value, axis))
            };
            self.operands().find_map(extent_of)
        };
        Loops {
            sizes: (0..self.rank).map(size).collect(),
            extents: sizes(self.op).unwrap_or_else(|| vec![None; self.rank]),
            is_kept: self.kept(output),
        }
    }

    /// Refuses a destination of unknown sizes in which two iterations might write one element: with
    /// known ones that is proved or refuted.
    pub fn check_written(&self, output: &Operand) -> Result<(), String> {
        let shapes = self
            .operands()
            .map(|o| types::buffer_type(o.value.r#type()));
        if !shapes.flatten().any(|ty| ty.shape.contains(&None)) {
            return Ok(());
        }
        let of_one = |expr: &Expr| {
            let form = expr.linear(self.rank)?;
            let mut used = (0..self.rank).filter(|d| form.coefficients[*d] != 0);
            used.next().filter(|_| used.next().is_none())
        };
        let single: Vec<usize> = output.map.iter().filter_map(of_one).collect();
        let kept_dims = self.kept(output);
        let missed = (0..self.rank).find(|d| kept_dims[*d] && !single.contains(d));
        missed.map_or(Ok(()), |d| {
            Err(format!(
                "loop {d} has no axis of its destination to itself, so that iterations might write the \
                 same element, and sizes are known at run time only: expected such an axis, or known sizes"
            ))
        })
    }

    /// The domain: the size of each loop is that of an axis which it alone indexes.
    pub fn domain(
        &self,
        builder: &mut Builder<'c>,
        is_kept: &[bool],
    ) -> Result<Vec<Dim<'c>>, String> {
        let names = names(is_kept);
        let mut dims = Vec::new();
        for (d, name) in names.into_iter().enumerate() {
            dims.push(Dim::dense(name, self.size(builder, d)?));
        }
        Ok(dims)
    }

    fn size(&self, builder: &mut Builder<'c>, d: usize) -> Result<Bound<'c>, String> {
        let mut open = None;
        for operand in self.operands() {
            let shape = types::buffer_type(operand.value.r#type()).map(|ty| ty.shape);
            let axes = operand.map.iter().zip(shape.unwrap_or_default());
            for (axis, (expr, size)) in axes.enumerate() {
                match (expr, size) {
                    (Expr::Dim(own), Some(size)) if *own == d => return Ok(Bound::Static(size)),
                    (Expr::Dim(own), None) if *own == d => {
                        open = open.or(Some((operand.value, axis)));
                    }
                    _ => {}
                }
            }
        }
        let (value, axis) = open.ok_or_else(|| {
            format!(
                "no operand has an axis that loop {d} alone indexes, so that its size is unknown"
            )
        })?;
        Ok(extents::bound(builder, value, axis))
    }
}

/// The part of an operand that the points access.
pub fn buffer<'c>(operand: &Operand<'c>, name: &str) -> BufferPart<'c> {
    let origin = vec![Bound::Static(0); operand.map.len()];
    let mut part = BufferPart::accessed(name, operand.value, operand.map.clone(), origin);
    let context = ir::context_of_value(operand.value);
    part.pad = operand.outside.map(|pad| types::attribute(context, pad));
    part
}

/// The dimension of a computation without loops, of one point.
pub fn single<'c>() -> Dim<'c> {
    Dim::dense("i", Bound::Static(1))
}

/// Names of dimensions as one writes them: those that are kept from `i`, the others from `k`.
pub fn names(is_kept: &[bool]) -> Vec<String> {
    const KEPT: [&str; 8] = ["i", "j", "l", "m", "n", "o", "p", "q"];
    const COMBINED: [&str; 8] = ["k", "r", "s", "t", "u", "v", "w", "x"];
    let mut next = [0, 0];
    let mut names = Vec::new();
    for kept in is_kept {
        let (list, next) = match kept {
            true => (&KEPT, &mut next[0]),
            false => (&COMBINED, &mut next[1]),
        };
        let name = list.get(*next).map(|name| (*name).to_owned());
        names.push(name.unwrap_or_else(|| format!("{}{next}", list[0])));
        *next += 1;
    }
    names
}
