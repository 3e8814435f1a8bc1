//! `mdh-form-compute`: every `out_view . hom . ... . inp_view` becomes an `mdh.compute`.
//!
//! ```mlir
//! func.func @matvec(%M: tensor<8x5xf32>, %v: tensor<5xf32>, %init: tensor<8xf32>) -> tensor<8xf32> {
//!   %mda = mdh.inp_view (i = 8, k = 5) (M = %M[i, k] : tensor<8x5xf32>, v = %v[k] : tensor<5xf32>)
//!        : !mdh.mda<8x5, f32, f32>
//!   %prod = mdh.hom(mulf, (cc, pw(addf))) %mda : !mdh.mda<8x5, f32, f32> -> !mdh.mda<8x1, f32>
//!   %w = mdh.out_view (i, k) %prod -> (w = %init[i] : tensor<8xf32>) : !mdh.mda<8x1, f32>
//!   return %w : tensor<8xf32>
//! }
//! // becomes
//! func.func @matvec(%M: tensor<8x5xf32>, %v: tensor<5xf32>, %init: tensor<8xf32>) -> tensor<8xf32> {
//!   %w = mdh.compute (i = 8, k = 5)
//!     out_view(w = %init[i] : tensor<8xf32>)
//!     md_hom(mulf, (cc, pw(addf)))
//!     inp_view(M = %M[i, k] : tensor<8x5xf32>, v = %v[k] : tensor<5xf32>)
//!   return %w : tensor<8xf32>
//! }
//! ```
//!
//! A chain of homs becomes one `mdh.compute` for each hom. Between two of them stands a buffer
//! for each component that the later one uses: it has an axis for each dimension that is still
//! there, and its origin is the dimension's lower bound, so that its index function is the
//! identity, whatever the domain's bounds, step and width. The buffers are tensors where the
//! triple works on tensors; among memrefs they are allocated before and freed after.
//!
//! A hom's schedule is that of its `mdh.compute`.
//!
//! An MDA is an alias: each `mdh.out_view` forms its own `mdh.compute`, which reads the inputs
//! where the `mdh.out_view` stood. What a scalar function uses from outside becomes an input
//! (constants are copied into it). An operator becomes a region; its `mdh.combine` goes if it is
//! private and nothing names it any more.

use mdh_dialect::ops;
use std::collections::HashSet;

use mdh_algebra::affine::Expr;
use mdh_dialect::code::arguments;
use mdh_dialect::ir::{self, Errors, Op};
use mdh_dialect::parts::{
    Bound, BufferPart, CombinePart, Dim, Laws, Operators, Parts, combine_part,
};
use mdh_dialect::pass::{Options, Pass};
use mdh_dialect::triple::{self, Triple};
use mdh_dialect::types::{self, BufferKind};
use mdh_dialect::{read, schedule, stage, write};
use melior::ir::attribute::StringAttribute;
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, Location, Region, Type, ValueLike};

use crate::checks::insert_range_checks::reshapes;
use crate::support::buffers;
use crate::support::builder::Builder;
use crate::support::draft::Rewriter;
use crate::support::index_arith;
use crate::support::names;
use crate::support::region;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-form-compute",
    description: "form an mdh.compute from every out_view . hom . inp_view",
    operation: ops::builtin::MODULE,
    options: &[],
    run,
};

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    reshapes::refuse(module)?;
    index_arith::replace(module);
    let mut failed = false;
    for out_view in ir::find_all(module, &[ops::mdh::OUT_VIEW]) {
        for error in form(out_view).err().unwrap_or_default() {
            ir::error_at(out_view, &error);
            failed = true;
        }
    }
    if failed {
        return Err(Vec::new());
    }
    let aliases = ir::find_all(module, &[ops::mdh::INP_VIEW, ops::mdh::HOM]);
    for alias in aliases.into_iter().rev() {
        if alias.results().all(|r| !ir::has_uses(ir::value(r))) {
            region::erase(alias);
        }
    }
    erase_operators(module, |op| {
        ir::attribute(op, "sym_visibility").and_then(ir::text) == Some("private")
    });
    Ok(())
}

/// Erases operators that nothing names, of those that a rule takes for unused then: computations have copies of
/// what they hold.
pub fn erase_operators(module: Op, is_unused: fn(Op) -> bool) {
    let ops = ir::all(module);
    let named: HashSet<&str> = ops
        .iter()
        .flat_map(|op| ir::symbols_named_by(*op))
        .collect();
    let is_erased = |op: &Op| {
        let name = ir::attribute(*op, "sym_name").and_then(ir::text);
        let is_named = name.is_none_or(|name| named.contains(name));
        ir::name_of(*op) == ops::mdh::COMBINE && is_unused(*op) && !is_named
    };
    // All of them before the first one goes: what is in it goes with it, and is among the operations, too.
    let erased: Vec<Op> = ops.iter().copied().filter(is_erased).collect();
    erased.into_iter().for_each(region::erase);
}

/// One hom, with copies of its regions.
struct Stage<'c> {
    /// The hom; none where an `out_view` stands on an `inp_view`.
    hom: Option<Op<'c>>,
    scalar: Region<'c>,
    combiner: Region<'c>,
    combine: Vec<Attribute<'c>>,
    laws: Laws<'c>,
    /// The components it uses of the tuple that it takes.
    used: Vec<usize>,
}

fn form(out_view: Op) -> Result<(), Errors> {
    let chain = triple::triple(out_view)?;
    let view = read::inp_view(chain.inp_view)?;
    let (_, stores) = read::out_view(out_view)?;
    let kind = kind(&view, &stores)?;
    let stages = stages(&chain)?;
    // What stands before a hom that uses no component is not needed.
    let first = stages.iter().rposition(|s| s.used.is_empty()).unwrap_or(0);
    let used: Vec<Vec<usize>> = stages.iter().map(|s| s.used.clone()).collect();
    let mut inputs = if first == 0 { view.inputs } else { Vec::new() };
    let mut builder = Builder::before(out_view);
    let mut temporaries = Vec::new();
    for (number, stage) in stages.into_iter().enumerate().skip(first) {
        builder.location = location(&chain, number);
        if number > 0 {
            region::keep_arguments(region::block(&stage.scalar), &stage.used);
        }
        let dims = stage::domain(&chain, number)?;
        let (combine, laws) = (stage.combine, stage.laws);
        let mut parts = Parts {
            dims,
            combine,
            inputs,
            laws,
            ..Parts::default()
        };
        take_captured(&mut builder, &stage.scalar, &mut parts);
        if let Some(used) = used.get(number + 1) {
            let components = region::yields(region::block(&stage.scalar));
            let axes = axes(&mut builder, &chain, &parts, number);
            for component in used {
                let element = components[*component].r#type();
                let buffer = intermediate(&mut builder, kind, &axes, element);
                parts.outputs.push(BufferPart {
                    name: format!("hom{number}_{component}"),
                    components: vec![*component],
                    ..buffer
                });
            }
            let memrefs = parts.outputs.iter().map(|b| b.value);
            temporaries.extend(memrefs.filter(|_| kind == BufferKind::MemRef));
        } else {
            (parts.outputs, parts.carries) = (stores.outputs.clone(), stores.carries.clone());
        }
        names::make_unique(&mut parts);
        let regions = (stage.scalar, stage.combiner);
        let compute = insert(&mut builder, &parts, regions, stage.hom);
        if number + 1 == used.len() {
            finish(out_view, compute);
        }
        inputs = as_inputs(parts.outputs, compute);
    }
    for temporary in temporaries {
        builder.op(ops::memref::DEALLOC, &[temporary], &[], &[]);
    }
    region::erase(out_view);
    Ok(())
}

/// The location of a hom, or of the `out_view` of a chain that has none.
fn location<'c>(chain: &Triple<'c>, number: usize) -> Location<'c> {
    let hom = chain.homs.get(number).unwrap_or(&chain.out_view);
    hom.location()
}

fn insert<'c>(
    builder: &mut Builder<'c>,
    parts: &Parts<'c>,
    (scalar, combiner): (Region<'c>, Region<'c>),
    hom: Option<Op<'c>>,
) -> Op<'c> {
    let (context, location) = (builder.context, builder.location);
    let compute = write::compute(context, location, parts, scalar, combiner);
    if let Some(hom) = hom {
        schedule::copy(hom, ir::op(&compute));
    }
    builder.insert(compute)
}

/// Puts the last hom's computation in the place of its `out_view`.
fn finish(out_view: Op, compute: Op) {
    region::copy_attributes(out_view, compute);
    for (old, new) in out_view.results().zip(compute.results()) {
        region::replace_all_uses(ir::value(old), ir::value(new));
    }
}

/// Returns the outputs of an operation, as inputs of the next one.
fn as_inputs<'c>(outputs: Vec<BufferPart<'c>>, compute: Op<'c>) -> Vec<BufferPart<'c>> {
    let mut results = compute.results().map(ir::value::<'c>);
    let input = |output: BufferPart<'c>| BufferPart {
        value: results.next().unwrap_or(output.value),
        components: Vec::new(),
        ..output
    };
    outputs.into_iter().map(input).collect()
}

/// Returns whether the computation works on tensors or memrefs.
fn kind(view: &Parts, stores: &Parts) -> Result<BufferKind, Errors> {
    let is =
        |b: &BufferPart, kind| types::buffer_type(b.value.r#type()).is_some_and(|t| t.kind == kind);
    let find = |kind| view.buffers().chain(stores.buffers()).find(|b| is(b, kind));
    match (find(BufferKind::Tensor), find(BufferKind::MemRef)) {
        (Some(tensor), Some(memref)) => Err(vec![format!(
            "belongs to a computation on the tensor '{}' and the memref '{}': expected one kind \
             for all of its buffers; bufferize the tensors, or use bufferization.to_tensor on the \
             memrefs",
            tensor.name, memref.name
        )]),
        (_, None) => Ok(BufferKind::Tensor),
        (None, Some(_)) => Ok(BufferKind::MemRef),
    }
}

fn stages<'c>(chain: &Triple<'c>) -> Result<Vec<Stage<'c>>, Errors> {
    if chain.homs.is_empty() {
        return Ok(vec![identity(chain)]);
    }
    chain.homs.iter().map(|hom| stage(*hom)).collect()
}

fn stage<'c>(hom: Op<'c>) -> Result<Stage<'c>, Errors> {
    let scalar = region::copy(hom, 0);
    let arguments = arguments(region::block(&scalar)).into_iter().enumerate();
    let mut stage = Stage {
        hom: Some(hom),
        used: arguments
            .filter(|(_, a)| ir::has_uses(*a))
            .map(|(n, _)| n)
            .collect(),
        scalar,
        combiner: Region::new(),
        combine: ir::array(hom, "combine"),
        laws: Laws::default(),
    };
    for attribute in &mut stage.combine {
        let CombinePart::Fold(_, Operators::Symbol(name)) = combine_part(*attribute)? else {
            continue;
        };
        let operator = ir::lookup_symbol(hom, &name)
            .ok_or_else(|| vec![format!("combines with @{name}, which is not defined")])?;
        stage.combiner = region::copy(operator, 0);
        stage.laws = read::laws(operator);
        *attribute = labelled(hom, *attribute, &label(&name));
    }
    Ok(stage)
}

/// The attribute `#mdh.pw<...>` or `#mdh.ps<...>` with a label for its function.
fn labelled<'c>(hom: Op<'c>, attribute: Attribute<'c>, label: &str) -> Attribute<'c> {
    let context = ir::context_of(hom);
    let text = format!(
        "#{}<{}>",
        ir::class_of(attribute).0,
        StringAttribute::new(context, label)
    );
    Attribute::parse(context, &text).unwrap_or_else(|| panic!("{text} is a combine operator"))
}

/// The symbol's name, changed where it would not be read back as a label.
fn label(symbol: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$' || c == '.';
    let mut label: String = symbol
        .chars()
        .map(|c| if is_word(c) { c } else { '_' })
        .collect();
    let is_builtin = mdh_algebra::operator::Builtin::parse(&label).is_some();
    if is_builtin || !label.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        label.insert(0, '_');
    }
    label
}

/// An `out_view` directly on an `inp_view`: `id` at every point.
fn identity<'c>(chain: &Triple<'c>) -> Stage<'c> {
    let (op, context) = (chain.out_view, ir::context_of(chain.out_view));
    let mda = op
        .operand(0)
        .ok()
        .and_then(|v| ir::mda(ir::value(v).r#type()));
    let (shape, components) = mda.unwrap_or_default();
    let scalar = region::with_arguments(&components, op.location());
    let block = region::block(&scalar);
    region::yield_from(block, op.location(), &mdh_dialect::code::arguments(block));
    let cc = Attribute::parse(context, "#mdh.cc").unwrap_or_else(|| panic!("#mdh.cc parses"));
    Stage {
        hom: None,
        used: (0..components.len()).collect(),
        scalar,
        combiner: Region::new(),
        combine: vec![cc; shape.len()],
        laws: Laws::default(),
    }
}

/// Makes inputs of the scalars from outside that a scalar function uses; copies constants.
pub fn take_captured<'c>(builder: &mut Builder<'c>, scalar: &Region<'c>, parts: &mut Parts<'c>) {
    let block = region::block(scalar);
    for value in region::captured(scalar) {
        let constant = ir::defining_op(value).filter(|op| ir::name_of(*op) == ops::arith::CONSTANT);
        if let Some(constant) = constant {
            let copy = region::copy_into(block, constant);
            region::replace_inside(scalar, value, copy);
            continue;
        }
        let argument = region::add_argument(block, value.r#type(), builder.location);
        region::replace_inside(scalar, value, argument);
        parts.inputs.push(BufferPart::accessed(
            "scalar",
            value,
            Vec::new(),
            Vec::new(),
        ));
    }
}

/// Replaces the index of a loop by the same one under another operation's name: `mdh.index`, or
/// `linalg.index`.
pub fn rename_index(op: Op, name: &str) {
    let mut builder = Builder::before(op);
    let dim = ir::attribute(op, "dim").map(|dim| ("dim", dim));
    let attributes: Vec<_> = dim.into_iter().collect();
    let index = builder.index_type();
    let dim = builder.op(name, &[], &[index], &attributes);
    Rewriter::Direct.replace(op, &dim);
}

/// One axis of the buffers between two homs.
struct BufferAxis<'c> {
    dim: usize,
    origin: Bound<'c>,
    extent: Bound<'c>,
}

/// The axes of what a hom with a number leaves: no dimension that was combined point-wise.
fn axes<'c>(
    builder: &mut Builder<'c>,
    chain: &Triple<'c>,
    parts: &Parts<'c>,
    number: usize,
) -> Vec<BufferAxis<'c>> {
    let homs = &chain.homs[..=number];
    let combine: Vec<Vec<Attribute>> = homs.iter().map(|h| ir::array(*h, "combine")).collect();
    let is_left = |d: usize| combine.iter().all(|c| !ir::is_pw(c[d]));
    let mut axes = Vec::new();
    for (d, dim) in parts.dims.iter().enumerate().filter(|(d, _)| is_left(*d)) {
        axes.push(BufferAxis {
            dim: d,
            origin: dim.lower,
            extent: span(builder, dim),
        });
    }
    axes
}

/// `max(upper - lower, 0)`, which fits 64 bits where both are known: that is verified.
fn span<'c>(builder: &mut Builder<'c>, dim: &Dim<'c>) -> Bound<'c> {
    if let (Some(lower), Some(upper)) = (dim.lower.known(), dim.upper.known()) {
        return Bound::Static(upper.max(lower).saturating_sub(lower));
    }
    let [lower, upper] = [dim.lower, dim.upper].map(|b| buffers::value(builder, b));
    let distance = builder.binary(ops::arith::SUBI, upper, lower);
    let zero = builder.index(0);
    Bound::Dynamic(builder.binary(ops::arith::MAXSI, distance, zero))
}

/// A buffer with these axes, and the access that is the identity.
fn intermediate<'c>(
    builder: &mut Builder<'c>,
    kind: BufferKind,
    axes: &[BufferAxis<'c>],
    element: Type<'c>,
) -> BufferPart<'c> {
    let extents: Vec<Bound> = axes.iter().map(|a| a.extent).collect();
    let value = buffers::empty(builder, kind, &extents, element);
    let access = axes.iter().map(|a| Expr::Dim(a.dim)).collect();
    let origin = axes.iter().map(|a| a.origin).collect();
    BufferPart::accessed("", value, access, origin)
}
