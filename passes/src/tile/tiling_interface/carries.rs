//! Results that tiles of a dimension that combines carry out: the result so far, which is the
//! destination that a loop carries.
//!
//! With `f` the operator, `c` what is there and `t` the tile's own combination, a tile leaves
//! `f(c, t)`; the first one leaves `t`. A tile of a `ps` dimension finds in the result's slice
//! before its own what the tiles before it come to.

use mdh_algebra::affine::Expr;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::parts::{Bound, BufferPart, CarryPart, Parts};
use mdh_dialect::tiling::{IndexBox, Refusal, slice};
use mdh_dialect::types::{self, BufferKind};
use melior::ir::RegionLike;
use melior::ir::operation::OperationLike;

use super::boxes::{self, Spans, too_large, unit};
use super::{Tile, UntiledOp};
use crate::support::buffers::{as_bound, value};
use crate::support::builder::Builder;
use crate::support::draft::{self, is_kind};
use crate::support::extents::Sum;
use crate::support::tiles;

/// The dimensions that are cut and combine: by `pw`, and by `ps`.
fn cut(untiled: &UntiledOp, spans: &Spans) -> (Vec<usize>, Vec<usize>) {
    let dims = 0..untiled.parts.dims.len();
    let cut = dims.filter(|d| spans.is_cut(*d) && !untiled.is_cc(*d));
    cut.partition(|d| untiled.computation.dimensions[*d].combine.is_pw())
}

/// Refuses dimensions that cannot be cut, by name.
pub fn check(untiled: &UntiledOp, spans: &Spans) -> Result<(), Refusal> {
    let (sums, scans) = cut(untiled, spans);
    let Some(first) = sums.first().or(scans.first()) else {
        return Ok(());
    };
    let refuse = |why: &str| {
        let name = untiled.dim_name(*first);
        Err(format!("cannot be tiled in dimension '{name}': {why}"))
    };
    for d in sums.iter().chain(&scans) {
        if boxes::is_of_forall(spans.offset(*d)) {
            return Err(format!(
                "cannot be tiled in dimension '{}' by scf.forall: the tiles of a dimension that \
                 combines follow each other, and those of scf.forall run at once; expected \
                 scf.for, the size 0 there, or for 'pw' \
                 transform.structured.tile_reduction_using_forall",
                untiled.dim_name(*d)
            ));
        }
    }
    if sums
        .iter()
        .any(|d| draft::count(&untiled.parts.dims[*d]) == Some(0))
    {
        return refuse(
            "it has no points, and without a tile nothing is stored; expected the size 0 there",
        );
    }
    if let [d, other, ..] = scans[..] {
        return refuse(&format!(
            "dimension '{}' is scanned and cut too; expected the size 0 in all but one of '{}' \
             and '{}'",
            untiled.dim_name(other),
            untiled.dim_name(d),
            untiled.dim_name(other)
        ));
    }
    if let (Some(sum), Some(scan)) = (sums.first(), scans.first()) {
        return refuse(&format!(
            "'{}' is combined by pw, and '{}' by ps; expected the size 0 in one of them",
            untiled.dim_name(*sum),
            untiled.dim_name(*scan)
        ));
    }
    if let Err(why) = check_carries(untiled, !scans.is_empty()) {
        return refuse(why);
    }
    for n in 0..untiled.computation.components.len() {
        stored(untiled, n)?;
    }
    Ok(())
}

/// Refuses carries that tiles cannot have; returns why.
fn check_carries(untiled: &UntiledOp, is_scanned: bool) -> Result<(), &'static str> {
    let carries = &untiled.parts.carries;
    if carries.iter().any(|carry| !carry.outgoing.is_empty()) {
        return Err("it carries out a carry, which each of its tiles would; expected one without");
    }
    if is_scanned && !carries.is_empty() {
        return Err("it is scanned, and already receives a carry; expected one without");
    }
    let copied = carries.iter().filter(|carry| !is_in_place(untiled, carry));
    let is_other = copied.count() != 0 || carries.len() > 1;
    let is_scan = |c: &CarryPart| untiled.computation.dimensions[c.dim].combine.is_ps();
    if is_other || carries.iter().any(is_scan) {
        return Err(
            "it receives a carry that is not its own result so far; expected one that is: with a copy of \
             it as the destination, say",
        );
    }
    Ok(())
}

/// The output, and its access, that keeps a component as it is.
fn stored(untiled: &UntiledOp, component: usize) -> Result<(usize, usize), Refusal> {
    let ty = untiled.computation.components[component];
    tiles::stored(&untiled.parts.outputs, component, ty).ok_or_else(|| {
        format!(
            "cannot be tiled in a dimension that combines: no output keeps component \
             {component} as {}, and the tiles carry out what the outputs hold; expected an \
             output of that type for each component",
            types::mlir_type(ir::context_of(untiled.op), ty)
        )
    })
}

/// Returns a value at the start of the loops that upstream is building around the tile. Values that
/// other loops carry differ in each iteration.
pub fn start(value: Val) -> Val {
    let mut value = value;
    while let Some(first) = first(value) {
        value = first;
    }
    value
}

fn first(value: Val) -> Option<Val> {
    ir::operand(ir::block_argument(value)?.of, given(value)?)
}

/// The number of the operand that a value is in the first iteration of a loop that upstream is building.
pub fn given(value: Val) -> Option<usize> {
    let argument = ir::block_argument(value).filter(|a| is_unfinished(a.of))?;
    match ir::name_of(argument.of) {
        ops::scf::FOR => Some(argument.number.checked_sub(1)? + 3),
        ops::scf::FORALL => {
            // The outputs stand last, among the operands and among the arguments.
            let outputs = *ir::integers(argument.of, "operandSegmentSizes").last()?;
            let outputs = usize::try_from(outputs).ok()?;
            let rank = ir::integers(argument.of, "staticLowerBound").len();
            let first = argument.of.operand_count().checked_sub(outputs)?;
            Some(first + argument.number.checked_sub(rank)?)
        }
        _ => None,
    }
}

/// Returns whether a loop carries out nothing yet.
pub fn is_unfinished(of: Op) -> bool {
    let Some(body) = ir::region(of, 0).first_block() else {
        return true;
    };
    let Some(last) = ir::ops_of(body).last().copied() else {
        return true;
    };
    match ir::name_of(last) {
        ops::scf::FORALL_IN_PARALLEL => {
            let block = ir::only_block(ir::region(last, 0));
            block.is_none_or(|block| ir::ops_of(block).is_empty())
        }
        name => name != ops::scf::YIELD,
    }
}

/// Returns whether a carry is what the destination holds, where each component goes.
fn is_in_place(untiled: &UntiledOp, carry: &CarryPart) -> bool {
    let mut incoming = carry.incoming.iter().enumerate();
    incoming.all(|(n, incoming)| {
        stored(untiled, n).is_ok_and(|(output, access)| {
            let output = &untiled.parts.outputs[output];
            start(output.value) == start(incoming.value)
                && output.accesses[access] == incoming.accesses[0]
                && output.origin == incoming.origin
        })
    })
}

impl<'c> Tile<'c, '_> {
    /// Sets the carries that a tile receives; its outputs have been set.
    pub fn set_carries(&mut self, parts: &mut Parts<'c>) -> Result<(), Refusal> {
        let (sums, scans) = cut(self.untiled, &self.spans);
        // As it is before the loops get another start.
        let carries = self.untiled.parts.carries.iter();
        let in_place: Vec<bool> = carries.map(|c| is_in_place(self.untiled, c)).collect();
        self.store_nothing(&sums)?;
        if let [d] = scans[..] {
            let carry = self.scanned(d)?;
            parts.carries.push(carry);
            return Ok(());
        }
        for (carry, is_in_place) in parts.carries.iter_mut().zip(in_place) {
            carry.incoming = match is_in_place {
                true => so_far(self.untiled, &parts.outputs, &carry.incoming)?,
                false => {
                    let incoming = carry.incoming.iter();
                    incoming.map(|b| self.sliced(b)).collect::<Result<_, _>>()?
                }
            };
        }
        let Some(first) = sums.first() else {
            return Ok(());
        };
        let Some(is_later) = self.is_later(&sums) else {
            return Ok(());
        };
        if let Some(carry) = parts.carries.first_mut() {
            let valid = [carry.valid, is_later.value()];
            carry.valid = match valid {
                [Some(before), Some(later)] => {
                    Some(self.builder.binary(ops::arith::ORI, before, later))
                }
                _ => None,
            };
            return Ok(());
        }
        let incoming = so_far(self.untiled, &parts.outputs, &[])?;
        parts.carries.push(CarryPart {
            dim: *first,
            incoming,
            valid: is_later.value(),
            outgoing: vec![],
        });
        Ok(())
    }

    /// Returns whether a tile comes after another one in these dimensions; `None` if it never does.
    pub fn is_later(&mut self, dims: &[usize]) -> Option<Later<'c>> {
        let mut later: Option<Later> = None;
        for d in dims {
            let offset = match self.spans.offset(*d) {
                Bound::Static(0) => continue,
                Bound::Static(_) => return Some(Later::Always),
                Bound::Dynamic(offset) => offset,
            };
            let before = later.and_then(Later::value);
            later = Some(Later::If(tiles::after_first(
                &mut self.builder,
                offset,
                before,
            )));
        }
        later
    }

    /// Returns the carry that a tile of a prefix-sum receives: the slice of the result before its
    /// own.
    fn scanned(&mut self, d: usize) -> Result<CarryPart<'c>, Refusal> {
        let mut incoming = Vec::new();
        for component in 0..self.untiled.computation.components.len() {
            let (output, access) = stored(self.untiled, component)?;
            let output = &self.untiled.parts.outputs[output];
            let slice = self.before(output, access, d)?;
            incoming.push(slice);
        }
        let is_later = self.is_later(&[d]);
        let never = self.builder.boolean(false);
        Ok(CarryPart {
            dim: d,
            incoming,
            valid: is_later.map_or(Some(never), |later| later.value()),
            outgoing: vec![],
        })
    }

    /// An output's slice at the point before the tile in a dimension; at its start, where there is
    /// none and nothing is read, any.
    fn before(
        &mut self,
        output: &BufferPart<'c>,
        access: usize,
        d: usize,
    ) -> Result<BufferPart<'c>, Refusal> {
        let (axis, at) = self.last_index(output, access, d)?;
        let mut before = tiles::so_far(output, access, format!("{}_before", output.name));
        let builder = &mut self.builder;
        let at = at.bound(builder);
        let at = value(builder, at);
        let at = inside(builder, output.value, axis, at);
        before.accesses[0][axis] = Expr::Const(0);
        if !is_kind(output, BufferKind::Tensor) {
            // The index function's value there is 0, from which the origin is taken.
            let minus = Sum::number(0).plus(&Sum::of_bound(at), -1);
            before.origin[axis] = minus.ok_or_else(too_large)?.bound(builder);
            return Ok(before);
        }
        let whole = |builder: &mut Builder<'c>, axis: usize| {
            let extent = builder.dim(output.value, axis);
            (Bound::Static(0), as_bound(extent))
        };
        let part = self.spans.part(builder, output)?;
        let mut part = part.unwrap_or_else(|| {
            let axes = 0..output.accesses[access].len();
            let (offsets, sizes) = axes.map(|axis| whole(builder, axis)).unzip();
            IndexBox { offsets, sizes }
        });
        (part.offsets[axis], part.sizes[axis]) = (at, Bound::Static(1));
        for (n, (origin, offset)) in before.origin.iter_mut().zip(&part.offsets).enumerate() {
            if n == axis {
                *origin = Bound::Static(0);
                continue;
            }
            let sum = Sum::of_bound(*origin).plus(&Sum::of_bound(*offset), 1);
            *origin = sum.ok_or_else(too_large)?.bound(builder);
        }
        let slice = slice(self.at, self.untiled.op, output.value, &part);
        // Upstream is not told of the slice: what tiles have left is not what makes the destination.
        before.value = draft::results(slice)[0];
        Ok(before)
    }

    /// Returns the axis of an output that is scanned, and the last index there before the tile.
    fn last_index(
        &self,
        output: &BufferPart<'c>,
        access: usize,
        d: usize,
    ) -> Result<(usize, Sum<'c>), Refusal> {
        let refuse = |why: &str| {
            format!(
                "cannot be tiled in dimension '{}': it is scanned, and {why}",
                self.untiled.dim_name(d)
            )
        };
        let dims = &self.untiled.parts.dims;
        let step = boxes::step(&dims[d]).filter(|s| *s == 1 || dims[d].width.known() == Some(1));
        let step = step.ok_or_else(|| {
            refuse("its periods have several points; expected a width of 1 or the step")
        })?;
        let exprs = &output.accesses[access];
        let mut axes = exprs.iter().enumerate().filter(|(_, e)| e.uses(d));
        let (Some((axis, expr)), None) = (axes.next(), axes.next()) else {
            return Err(refuse("several axes of an output use it; expected one"));
        };
        let Some((_, factor, constant)) = unit(expr, dims.len()) else {
            return Err(refuse(&format!(
                "output '{}' is written at '{}'; expected '{}' and a constant there",
                output.name,
                expr.display(&self.untiled.parts.dim_names()),
                self.untiled.dim_name(d)
            )));
        };
        let at = || {
            let last = self.spans.first(d).plus(&Sum::number(step), -1)?;
            let at = Sum::number(constant).plus(&last, factor)?;
            at.plus(&Sum::of_bound(output.origin[axis]), -1)
        };
        Ok((axis, at().ok_or_else(too_large)?))
    }
}

/// Existence of a tile before a tile.
#[derive(Clone, Copy)]
pub enum Later<'c> {
    /// There is one.
    Always,
    /// There is one if this holds.
    If(Val<'c>),
}

impl<'c> Later<'c> {
    /// Returns the condition, if it is not known.
    pub fn value(self) -> Option<Val<'c>> {
        match self {
            Later::Always => None,
            Later::If(value) => Some(value),
        }
    }
}

/// Returns the contents of the outputs, one buffer for each component; under the names of an
/// earlier carry.
fn so_far<'c>(
    untiled: &UntiledOp<'c>,
    outputs: &[BufferPart<'c>],
    names: &[BufferPart<'c>],
) -> Result<Vec<BufferPart<'c>>, Refusal> {
    let components = 0..untiled.computation.components.len();
    let so_far = components.map(|n| {
        let (output, access) = stored(untiled, n)?;
        let output = &outputs[output];
        let name = names.get(n).map(|b| b.name.clone());
        let name = name.unwrap_or_else(|| format!("{}_before", output.name));
        Ok(tiles::so_far(output, access, name))
    });
    so_far.collect()
}

/// An index, moved into an axis where it is outside.
fn inside<'c>(
    builder: &mut Builder<'c>,
    buffer: Val<'c>,
    axis: usize,
    index: Val<'c>,
) -> Bound<'c> {
    let [zero, one] = [0, 1].map(|n| builder.index(n));
    let extent = builder.dim(buffer, axis);
    let last = builder.binary(ops::arith::SUBI, extent, one);
    let index = builder.binary(ops::arith::MINSI, index, last);
    as_bound(builder.binary(ops::arith::MAXSI, index, zero))
}
