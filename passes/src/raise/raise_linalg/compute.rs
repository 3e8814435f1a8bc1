//! One operation with linalg's interface as computations.

use mdh_algebra::scalar::{Scalar, ScalarType};
use mdh_dialect::code::arguments;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::marks;
use mdh_dialect::ops;
use mdh_dialect::parts::{Bound, BufferPart, CarryPart, Parts};
use mdh_dialect::structured::{Operand, Structured};
use mdh_dialect::types::{self, BufferKind};
use mdh_dialect::{verify, write};
use melior::Context;
use melior::ir::attribute::IntegerAttribute;
use melior::ir::operation::{Operation, OperationLike};
use melior::ir::{Attribute, BlockRef, Region, ValueLike};

use super::accumulators::{filled_before, is_whole, uniform};
use super::combining::Combining;
use super::loops::{self, Loops, buffer};
use super::options::{Checks, Licence};
use super::relayout::{Buffer, identity};
use super::{body, extents, extracted, memory};
use crate::form::form_compute::{rename_index, take_captured};
use crate::support::buffers;
use crate::support::builder::Builder;
use crate::support::names;
use crate::support::region::{self, Marker};
use crate::support::tiles;

/// Makes computations of an operation: one for each group of destinations that keep the same loops.
/// Returns the operations that filled memory for it, which have gone too; says which rule it does
/// not follow, if it stays.
pub fn raise<'c>(op: Op<'c>, licence: Licence<'c>, checks: Checks) -> Result<Vec<Op<'c>>, String> {
    let structured = Structured::read(op)?;
    let kind = structured.kind()?;
    body::check_views(&structured)?;
    memory::check(&structured)?;
    let groups = match licence.digest {
        None => wanted(&structured, groups(&structured)),
        // What is granted of all destinations is not of some.
        Some(_) => groups(&structured),
    };
    if kind == BufferKind::MemRef && groups.len() > 1 {
        return Err(
            "its destinations keep different loops, and what one computation writes another \
                    one might read: expected tensors, or one operation for each of them"
                .into(),
        );
    }
    let mut drafts = Vec::new();
    for group in &groups {
        match draft(&structured, group, licence) {
            Ok(draft) => drafts.push(draft),
            Err(rule) => {
                drafts.into_iter().for_each(Draft::discard);
                return Err(rule);
            }
        }
    }
    let is_open = extents::are_open(&structured);
    if checks == Checks::On {
        extents::assert_fit(&structured);
    }
    let mut replaced = Vec::new();
    for (draft, group) in drafts.into_iter().zip(&groups) {
        for law in &draft.granted {
            let name = ir::name_of(op);
            ir::remark_at(op, &format!("'{name}' op is raised as {law}"));
        }
        let compute = Builder::before(op).insert(draft.compute);
        if is_open {
            marks::FITS.set(compute);
        }
        if ir::name_of(op) == ops::linalg::MAP {
            marks::MAP.set(compute);
        }
        if body::accumulates_fused(&structured, group) {
            marks::FMA.set(compute);
        }
        for (number, own) in group.iter().zip(compute.results()) {
            let old = ir::result(op, *number).unwrap_or_else(|| panic!("a result for each tensor"));
            region::replace_all_uses(old, ir::value(own));
        }
        replaced.extend(draft.replaced);
    }
    replaced.iter().copied().for_each(region::erase);
    region::erase(op);
    Ok(replaced)
}

/// The numbers of destinations that keep the same loops.
fn groups(of: &Structured) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (n, output) in of.outputs.iter().enumerate() {
        let kept_dims = of.kept(output);
        let same = |group: &&mut Vec<usize>| of.kept(&of.outputs[group[0]]) == kept_dims;
        match groups.iter_mut().find(same) {
            Some(group) => group.push(n),
            None => groups.push(vec![n]),
        }
    }
    groups
}

/// Leaves out destinations of which nobody uses the result, and without which the others of their group are
/// as they were: an arg-max whose place is not asked for is a maximum.
fn wanted(of: &Structured, groups: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
    let is_used = |n: &usize| ir::result(of.op, *n).is_none_or(ir::has_uses);
    if !groups.iter().flatten().any(is_used) {
        return groups;
    }
    let narrow = |group: Vec<usize>| {
        let used: Vec<usize> = group.iter().copied().filter(is_used).collect();
        match used.is_empty() || !depend_on_others(of, &used, &group) {
            true => used,
            false => group,
        }
    };
    let narrowed = groups.into_iter().map(narrow);
    narrowed.filter(|group| !group.is_empty()).collect()
}

/// Returns whether what is yielded for some destinations of a group depends on what others hold.
fn depend_on_others(of: &Structured, some: &[usize], group: &[usize]) -> bool {
    let scalar = region::copy(of.op, 0);
    let block = region::block(&scalar);
    keep_yields(block, some);
    let arguments = arguments(block);
    let mut rest = group.iter().filter(|n| !some.contains(n));
    rest.any(|n| {
        of.outputs[*n]
            .argument
            .is_some_and(|n| ir::has_uses(arguments[n]))
    })
}

/// Leaves in a body only what is yielded for some destinations, which this returns.
fn keep_yields<'c>(block: BlockRef<'c, 'c>, some: &[usize]) -> Vec<Val<'c>> {
    let yielded = region::yields(block);
    let yields: Vec<Val> = some.iter().map(|n| yielded[*n]).collect();
    region::set_yields(block, &yields);
    region::erase_dead(block);
    yields
}

/// A computation that is not in the program yet.
struct Draft<'c> {
    compute: Operation<'c>,
    /// Sizes that were computed for it.
    sizes: Vec<Op<'c>>,
    /// Operations that fill destinations, which it does without.
    replaced: Vec<Op<'c>>,
    /// Laws that it has only as the program grants them.
    granted: Vec<String>,
}

impl Draft<'_> {
    fn discard(self) {
        let sizes = self.sizes;
        drop(self.compute);
        sizes.into_iter().rev().for_each(region::erase);
    }
}

fn draft<'c>(
    of: &Structured<'c>,
    group: &[usize],
    licence: Licence<'c>,
) -> Result<Draft<'c>, String> {
    let outputs: Vec<Operand> = group.iter().map(|n| of.outputs[*n].clone()).collect();
    let is_kept = of.kept(&outputs[0]);
    check_iterators(of, &is_kept)?;
    outputs
        .iter()
        .try_for_each(|output| loops::check_written(of, output))?;
    let scalar = region::copy(of.op, 0);
    let block = region::block(&scalar);
    let extracted = extracted::take(block, &Loops::new(of, &outputs[0]));
    let mut yields = keep_yields(block, group);
    let combined = is_kept.iter().filter(|kept| !**kept).count();
    let combining = match combined {
        0 => Combining::nothing(),
        _ => Combining::new(of, block, &outputs, &mut yields, licence, combined > 1)?,
    };
    finish_code(block, &yields);
    body::check_others(of, group, block)?;
    let first = Marker::before(of.op);
    let function = Function { scalar, extracted };
    match written(of, &is_kept, &outputs, function, combining) {
        Ok(draft) => Ok(Draft {
            sizes: first.since(of.op),
            ..draft
        }),
        Err(rule) => {
            first.erase_since(of.op);
            Err(rule)
        }
    }
}

/// The scalar function of a computation, and the operands that it extracts elements from.
struct Function<'c> {
    scalar: Region<'c>,
    extracted: Vec<Operand<'c>>,
}

/// Writes a computation; the sizes that it needs are put into the program before it.
fn written<'c>(
    of: &Structured<'c>,
    is_kept: &[bool],
    outputs: &[Operand<'c>],
    Function { scalar, extracted }: Function<'c>,
    combining: Combining<'c>,
) -> Result<Draft<'c>, String> {
    let context = ir::context_of(of.op);
    let mut builder = Builder::before(of.op);
    let mut parts = Parts {
        dims: loops::domain(of, &mut builder, is_kept)?,
        combine: combine(context, is_kept, &combining.label),
        laws: combining.laws,
        ..Parts::default()
    };
    if parts.dims.is_empty() {
        parts.dims.push(loops::single());
        parts.combine = combine(context, &[true], "");
    }
    parts.inputs = inputs(of, &extracted, region::block(&scalar));
    let neutral = combining.neutral.as_deref();
    let replaced = set_outputs(&mut builder, of.op, &mut parts, outputs, neutral);
    take_outside(&mut builder, &scalar, &mut parts)?;
    names::make_unique(&mut parts);
    let location = of.op.location();
    let compute = write::compute(context, location, &parts, scalar, combining.code);
    Ok(Draft {
        compute: verified(compute)?,
        sizes: Vec::new(),
        replaced,
        granted: combining.granted,
    })
}

/// Refuses loops that are declared parallel and are no index of a destination.
fn check_iterators(of: &Structured, is_kept: &[bool]) -> Result<(), String> {
    let declared = ir::array(of.op, "iterator_types");
    for (d, (iterator, kept)) in declared.into_iter().zip(is_kept).enumerate() {
        if !kept && iterator.to_string().contains("parallel") {
            return Err(format!(
                "loop {d} is parallel, and no index of a destination: its iterations write the same \
                 elements; expected a reduction"
            ));
        }
    }
    Ok(())
}

/// The combine operator of each dimension: `function` in those that are not kept.
pub fn combine<'c>(context: &'c Context, is_kept: &[bool], function: &str) -> Vec<Attribute<'c>> {
    let parse = |text: &str| {
        let attribute = Attribute::parse(context, text);
        attribute.unwrap_or_else(|| panic!("{text} is a combine operator"))
    };
    let text = |kept: &bool| match kept {
        true => "#mdh.cc".to_owned(),
        false => format!("#mdh.pw<{function}>"),
    };
    is_kept.iter().map(|kept| parse(&text(kept))).collect()
}

/// A computation that the dialect accepts, or the rule that it does not follow.
pub fn verified(compute: Operation) -> Result<Operation, String> {
    match verify::errors(ir::op(&compute)).first() {
        None => Ok(compute),
        Some(finding) => Err(format!("as a computation, it {}", finding.message)),
    }
}

/// Makes a body yield these values, as the dialect's scalar code.
fn finish_code<'c>(block: BlockRef<'c, 'c>, yields: &[Val<'c>]) {
    let terminator = region::terminator(block);
    let mut builder = Builder::before(terminator);
    builder.op(ops::mdh::YIELD, yields, &[], &[]);
    region::erase(terminator);
    region::erase_dead(block);
    let ops = ir::ops_of(block).into_iter();
    for op in ops.flat_map(|op| ir::find_all(op, &[ops::linalg::INDEX])) {
        rename_index(op, ops::mdh::INDEX);
    }
}

/// The operands that a body uses, as inputs; its other arguments go.
fn inputs<'c>(
    of: &Structured<'c>,
    extracted: &[Operand<'c>],
    block: BlockRef<'c, 'c>,
) -> Vec<BufferPart<'c>> {
    let arguments = arguments(block);
    let read = of.inputs.iter().chain(extracted).map(|i| (i, "in"));
    let read = read.chain(of.outputs.iter().map(|o| (o, "before")));
    let read = read.filter_map(|(operand, name)| Some((operand.argument?, operand, name)));
    let mut used: Vec<(usize, &Operand, &str)> =
        read.filter(|(n, ..)| ir::has_uses(arguments[*n])).collect();
    used.sort_by_key(|(n, ..)| *n);
    let numbers: Vec<usize> = used.iter().map(|(n, ..)| *n).collect();
    region::keep_arguments(block, &numbers);
    used.into_iter()
        .map(|(_, operand, name)| buffer(operand, name))
        .collect()
}

/// Sets the outputs, and what they carry in; returns the operations that are not needed any more.
fn set_outputs<'c>(
    builder: &mut Builder<'c>,
    op: Op<'c>,
    parts: &mut Parts<'c>,
    outputs: &[Operand<'c>],
    neutral: Option<&[Scalar]>,
) -> Vec<Op<'c>> {
    for (n, output) in outputs.iter().enumerate() {
        parts.outputs.push(BufferPart {
            components: vec![n],
            ..buffer(output, "out")
        });
    }
    let first = parts.combine.iter().position(|c| ir::is_pw(*c));
    let Some(dim) = first else {
        return Vec::new();
    };
    let neutral = neutral.filter(|neutral| !is_one_term(parts, neutral));
    let Some(replaced) = neutral.and_then(|neutral| unfilled(op, outputs, neutral)) else {
        let so_far = parts.outputs.iter();
        let incoming = so_far.map(|o| tiles::so_far(o, 0, format!("{}_before", o.name)));
        parts.carries.push(CarryPart {
            dim,
            incoming: incoming.collect(),
            valid: None,
            outgoing: Vec::new(),
        });
        return Vec::new();
    };
    for output in &mut parts.outputs {
        if let Some(empty) = empty(builder, output) {
            output.value = empty;
        }
    }
    replaced
}

/// Returns whether a sum of floats has one term, which is the sum then: -0.0, where 0.0 + -0.0 is 0.0. Sums of
/// more terms start from 0.0.
fn is_one_term(parts: &Parts, neutral: &[Scalar]) -> bool {
    let is_sum = neutral.iter().any(|n| n.ty.is_float() && n.as_f64() == 0.0);
    let mut reduced = (parts.dims.iter().zip(&parts.combine)).filter(|(_, c)| ir::is_pw(**c));
    is_sum && reduced.all(|(dim, _)| dim.upper == Bound::Static(1))
}

/// Returns whether all destinations hold the neutral element, everywhere: then the operations that
/// fill memory with it. That of sums is 0.0, with which they start: -0.0 is carried in.
fn unfilled<'c>(op: Op<'c>, outputs: &[Operand<'c>], neutral: &[Scalar]) -> Option<Vec<Op<'c>>> {
    let mut replaced = Vec::new();
    for (output, neutral) in outputs.iter().zip(neutral) {
        let is_tensor = op.result_count() > 0;
        let number = if is_tensor {
            uniform(output.value)
        } else {
            let operands = op.operands().map(ir::value);
            if operands.filter(|operand| *operand == output.value).count() > 1 {
                return None;
            }
            let (fill, number) = filled_before(op, output.value)?;
            replaced.push(fill);
            Some(number)
        };
        if !is_whole(output) || number != Some(*neutral) {
            return None;
        }
    }
    Some(replaced)
}

/// A destination that is not filled, in the place of one that is.
fn empty<'c>(builder: &mut Builder<'c>, output: &BufferPart<'c>) -> Option<Val<'c>> {
    let filled = |value| ir::defining_op(value).filter(|op| ir::name_of(*op) == ops::linalg::FILL);
    let mut before = output.value;
    while let Some(fill) = filled(before) {
        before = ir::operand(fill, 1)?;
    }
    if before != output.value {
        return Some(before);
    }
    let ty = types::buffer_type(output.value.r#type())?;
    let sizes: Option<Vec<i64>> = ty.shape.iter().copied().collect();
    let sizes: Vec<_> = sizes?.into_iter().map(Bound::Static).collect();
    let element = types::mlir_type(builder.context, ty.element);
    (ty.kind == BufferKind::Tensor)
        .then(|| buffers::empty(builder, BufferKind::Tensor, &sizes, element))
}

/// Makes inputs of what a body uses from outside.
fn take_outside<'c>(
    builder: &mut Builder<'c>,
    scalar: &Region<'c>,
    parts: &mut Parts<'c>,
) -> Result<(), String> {
    for value in region::captured(scalar) {
        if types::scalar_type(value.r#type()).is_none() {
            return Err(format!(
                "its body uses a value of type {} from outside: expected scalars",
                value.r#type()
            ));
        }
    }
    take_captured(builder, scalar, parts);
    Ok(())
}

/// The elements of a tensor, computed from their indices, which are the arguments of the code.
pub fn of_indices<'c>(
    builder: &mut Builder<'c>,
    dest: &Buffer<'c>,
    scalar: Region<'c>,
) -> Result<Op<'c>, String> {
    let block = region::block(&scalar);
    let indices = arguments(block);
    let mut first = Builder::before(region::first(block));
    let number = types::mlir_type(builder.context, ScalarType::I64);
    for (n, index) in indices.iter().enumerate() {
        let dim = IntegerAttribute::new(number, n as i64).into();
        let ty = builder.index_type();
        let here = first.op(ops::mdh::INDEX, &[], &[ty], &[("dim", dim)])[0];
        region::replace_all_uses(*index, here);
    }
    // One of the indices may be what is yielded.
    let yields = region::yields(block);
    region::keep_arguments(block, &[]);
    finish_code(block, &yields);
    let is_kept = vec![true; indices.len()];
    let mut parts = Parts {
        dims: dest.domain(builder, &is_kept),
        outputs: vec![BufferPart {
            components: vec![0],
            ..dest.access("out", identity(indices.len()))
        }],
        ..Parts::default()
    };
    take_outside(builder, &scalar, &mut parts)?;
    parts.combine = combine(builder.context, &is_kept, "");
    names::make_unique(&mut parts);
    let compute = write::compute(
        builder.context,
        builder.location,
        &parts,
        scalar,
        Region::new(),
    );
    Ok(builder.insert(verified(compute)?))
}
