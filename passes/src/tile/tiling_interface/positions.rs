//! The part of a result that a tile computes, and the tile that computes a part of a result.

use mdh_dialect::carried;
use mdh_dialect::ir::{self, Op};
use mdh_dialect::ops;
use mdh_dialect::parts::{Bound, BufferPart};
use mdh_dialect::tiling::{At, IndexBox, Refusal};
use mdh_schedule::reach::Reach;

use super::boxes::{self, Spans, too_large, unit};
use super::{UntiledOp, carries, domain};
use crate::support::buffers::as_bound;
use crate::support::builder::Builder;
use crate::support::extents::Sum;

/// The part of a result that a tile computes.
pub fn result<'c>(
    op: Op<'c>,
    at: At<'c>,
    number: usize,
    part: &IndexBox<'c>,
) -> Result<IndexBox<'c>, Refusal> {
    let untiled = UntiledOp::new(op)?;
    let mut builder = Builder::at(at, op);
    let spans = Spans::new(&untiled.parts, part)?;
    let buffer = untiled.destination(number).ok_or("has no such result")?;
    are_apart(&untiled, &spans, buffer)?;
    let part = spans.part(&mut builder, buffer)?;
    Ok(part.unwrap_or_else(|| all_of(&mut builder, buffer)))
}

fn all_of<'c>(builder: &mut Builder<'c>, buffer: &BufferPart<'c>) -> IndexBox<'c> {
    let axes = 0..buffer.origin.len();
    IndexBox {
        offsets: axes.clone().map(|_| Bound::Static(0)).collect(),
        sizes: axes
            .map(|axis| as_bound(builder.dim(buffer.value, axis)))
            .collect(),
    }
}

/// Refuses tiles that run at once and whose boxes in an output overlap. Boxes are apart if an axis
/// follows each dimension that is cut, and no other one.
fn are_apart(untiled: &UntiledOp, spans: &Spans, buffer: &BufferPart) -> Result<(), Refusal> {
    let rank = untiled.parts.dims.len();
    let follows = |d: usize| {
        (0..buffer.origin.len()).any(|axis| {
            let exprs = buffer.accesses.iter().map(|access| &access[axis]);
            let reach = Reach::in_step(exprs, rank).filter(|reach| reach.low == reach.high);
            reach.is_some_and(|reach| reach.terms().map(|(d, _)| d).eq([d]))
        })
    };
    let cut = (0..rank).filter(|d| spans.is_cut(*d) && untiled.is_cc(*d));
    for d in cut.filter(|d| boxes::is_of_forall(spans.offset(*d))) {
        if !follows(d) {
            return Err(format!(
                "cannot be tiled in dimension '{}' by scf.forall: what its tiles write of output \
                 '{}' may overlap, as no axis follows '{}' alone; expected scf.for",
                untiled.dim_name(d),
                buffer.name,
                untiled.dim_name(d)
            ));
        }
    }
    Ok(())
}

/// The tile that computes a part of a result.
pub fn of_result<'c>(
    op: Op<'c>,
    at: At<'c>,
    number: usize,
    part: &IndexBox<'c>,
) -> Result<IndexBox<'c>, Refusal> {
    let untiled = UntiledOp::new(op)?;
    let buffer = untiled.destination(number).ok_or("has no such result")?;
    let mut tile = domain(op, at)?;
    let mut builder = Builder::at(at, op);
    is_computed_once(&untiled, buffer, builder.around(), part)?;
    let mut taken: Vec<usize> = Vec::new();
    for axis in 0..buffer.origin.len() {
        let (offset, size) = (part.offsets[axis], part.sizes[axis]);
        let extent = Sum::of_axis(buffer.value, axis);
        let is_zero = |a: Option<Sum>| a.and_then(|sum| sum.known()) == Some(0);
        let rest = Sum::of_bound(size).plus(&extent, -1);
        if Sum::of_bound(offset).known() == Some(0) && is_zero(rest) {
            continue;
        }
        let refuse = |why: String| refuse(&untiled, buffer, axis, &why);
        let (d, factor, count) = covering(&untiled, buffer, axis).map_err(refuse)?;
        if taken.contains(&d) {
            return Err(refuse("two axes follow one dimension".into()));
        }
        taken.push(d);
        tile.sizes[d] = size;
        tile.offsets[d] = offset;
        if factor < 0 {
            let start = count.plus(&Sum::of_bound(offset), -1);
            let start = start.and_then(|s| s.plus(&Sum::of_bound(size), -1));
            tile.offsets[d] = start.ok_or_else(too_large)?.bound(&mut builder);
        }
    }
    Ok(tile)
}

/// Refuses parts of what loops carry that these would compute again, over what tiles have left there; and parts of what
/// other threads write.
fn is_computed_once(
    untiled: &UntiledOp,
    buffer: &BufferPart,
    around: Option<Op>,
    part: &IndexBox,
) -> Result<(), Refusal> {
    let (mut value, mut inner) = (buffer.value, around);
    while let Some(argument) = ir::block_argument(value).filter(|a| Some(a.of) == inner)
        && let Some(given) = carried::argument(value)
    {
        let owner = argument.of;
        let refuse = |why: &str| {
            Err(format!(
                "cannot be fused into {}: {why}",
                ir::name_of(owner)
            ))
        };
        let indices = match ir::name_of(owner) {
            ops::scf::FORALL => ir::integers(owner, "staticStep").len(),
            _ => 1,
        };
        let moves = |index: usize| {
            let mut offsets = part.offsets.iter();
            offsets.any(|o| boxes::comes_from(*o, |a| a.of == owner && a.number == index))
        };
        if !(0..indices).all(moves) {
            return refuse(
                "the loop carries its result, and would compute the same part of it again, over what is \
                 there then; expected a loop that takes another part each time",
            );
        }
        if ir::name_of(owner) == ops::scf::FORALL {
            if untiled
                .parts
                .inputs
                .iter()
                .any(|input| input.value == value)
            {
                return refuse(
                    "it reads its destination, of which other threads write parts meanwhile; expected \
                     another destination",
                );
            }
            // Upstream gives the loop the first destination, whichever result it carries.
            let (own, first) = (ir::result_number(given.first), untiled.destination(0));
            if own.is_some_and(|own| own > 0) && first.is_some_and(|first| first.value != value) {
                return refuse("the loop carries another result than its first one");
            }
        }
        (value, inner) = (given.first, ir::parent(owner));
    }
    Ok(())
}

/// Returns whether each element of a destination is in the slice of one tile, and of no other one.
pub fn are_alone(untiled: &UntiledOp, spans: &Spans, buffer: &BufferPart) -> bool {
    let dims = 0..untiled.parts.dims.len();
    let cut: Vec<usize> = dims.filter(|d| spans.is_cut(*d)).collect();
    let mut taken = Vec::new();
    for axis in 0..buffer.origin.len() {
        let uses = |d: &usize| buffer.accesses.iter().any(|access| access[axis].uses(*d));
        if cut.iter().any(uses) {
            match covering(untiled, buffer, axis) {
                Ok((d, ..)) if !taken.contains(&d) => taken.push(d),
                _ => return false,
            }
        }
    }
    cut.iter().all(|d| taken.contains(d))
}

/// The dimension that has all of an axis, from one end to the other, its factor and its number of points; else the
/// reason for which none has.
fn covering<'c>(
    untiled: &UntiledOp<'c>,
    buffer: &BufferPart<'c>,
    axis: usize,
) -> Result<(usize, i64, Sum<'c>), String> {
    let (d, factor, constant) = followed(untiled, buffer, axis)?;
    let dim = &untiled.parts.dims[d];
    // The axis's index at the first or last point is 0.
    let covers = || {
        let count = boxes::span(dim)?;
        let mut least = Sum::number(constant).plus(&Sum::of_bound(buffer.origin[axis]), -1)?;
        least = least.plus(&Sum::of_bound(dim.lower), factor)?;
        if factor < 0 {
            least = least.plus(&count, -1)?.plus(&Sum::number(1), 1)?;
        }
        let rest = count.plus(&Sum::of_axis(carries::start(buffer.value), axis), -1)?;
        (least.known() == Some(0) && rest.known() == Some(0)).then_some(count)
    };
    let unknown = || {
        format!(
            "it is not known that dimension '{}' has all of the axis",
            dim.name
        )
    };
    let count = covers().ok_or_else(unknown)?;
    Ok((d, factor, count))
}

fn refuse(untiled: &UntiledOp, buffer: &BufferPart, axis: usize, why: &str) -> Refusal {
    let names = untiled.parts.dim_names();
    let exprs = buffer.accesses.iter();
    let exprs: Vec<String> = exprs.map(|a| a[axis].display(&names).to_string()).collect();
    format!(
        "cannot be fused: axis {axis} of '{}' is accessed at '{}', and {why}; expected tiles that \
         take all of this axis",
        buffer.name,
        exprs.join("' and '")
    )
}

/// The dimension that an axis follows point by point, its factor and the constant; else the reason
/// for which it follows none.
fn followed(
    untiled: &UntiledOp,
    buffer: &BufferPart,
    axis: usize,
) -> Result<(usize, i64, i64), String> {
    let rank = untiled.parts.dims.len();
    let mut exprs = buffer.accesses.iter().map(|access| &access[axis]);
    let first = exprs.next();
    let form = first.and_then(|expr| unit(expr, rank));
    let form = form.filter(|_| exprs.all(|e| Some(e) == first));
    let Some((d, factor, constant)) = form else {
        return Err("this is not one dimension and a constant".into());
    };
    if !untiled.is_cc(d) {
        return Err(format!(
            "dimension '{}' is combined over",
            untiled.dim_name(d)
        ));
    }
    if boxes::step(&untiled.parts.dims[d]) != Some(1) {
        return Err(format!("dimension '{}' has gaps", untiled.dim_name(d)));
    }
    Ok((d, factor, constant))
}
