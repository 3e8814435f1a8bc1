//! `mdh-to-linalg`: computations become operations of linalg, for other back ends.
//!
//! ```mlir
//! func.func @product(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>, %c: tensor<64x48xf32>)
//!     -> tensor<64x48xf32> {
//!   %d = mdh.compute (i = 64, j = 48, k = 32)
//!     out_view(d = %c[i, j] : tensor<64x48xf32>)
//!     md_hom(mulf, (cc, cc, pw(addf)))
//!     inp_view(a = %a[i, k] : tensor<64x32xf32>, b = %b[k, j] : tensor<32x48xf32>)
//!   return %d : tensor<64x48xf32>
//! }
//! // becomes
//! func.func @product(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>, %c: tensor<64x48xf32>)
//!     -> tensor<64x48xf32> {
//!   %zero = arith.constant 0.0 : f32
//!   %start = linalg.fill ins(%zero : f32) outs(%c : tensor<64x48xf32>) -> tensor<64x48xf32>
//!   %d = linalg.matmul ins(%a, %b : tensor<64x32xf32>, tensor<32x48xf32>)
//!                      outs(%start : tensor<64x48xf32>) -> tensor<64x48xf32>
//!   return %d : tensor<64x48xf32>
//! }
//! ```
//!
//! It undoes `mdh-raise-linalg`: in and out again is the same computation. Where an operation with a name
//! has the same loops, maps and body, that is what it becomes ([`named`]), what only combines elements
//! `linalg.reduce`, anything else `linalg.generic`; the option `generic` leaves all of them generic. A schedule
//! goes, since only this compiler reads it. Laws that linalg has no place for stand on the operation as
//! `mdh.associative` and `mdh.commutative`, with a digest of the operator that has them.
//!
//! Of computations that were operations of linalg it is known that sizes fit (`mdh.fits`), so that these come out on
//! the operands that they had; assertions of it, which raising makes, go. Others take slices, unless the sizes
//! are seen to be the same.
//!
//! An origin, a first point and a step become those of a slice, padding a padded tensor, and the extent of
//! a loop that no buffer has becomes that of an operand without elements, like the window of a pooling
//! ([`operands`]). What is carried in from elsewhere is copied to the destination before.
//!
//! A computation that linalg cannot say stays, with a remark: prefix-sums, several points in each step,
//! padding around memory, results that are carried out, operators without a neutral element to start
//! from, and those of which a body of linalg does not show what their elements are.

mod body;
mod candidates;
mod domain;
mod matching;
mod named;
mod operands;

use mdh_algebra::affine::Expr;
use mdh_algebra::operator::Builtin;
use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::parts::{
    Bound, BufferPart, CombinePart, Fold, Operators, Parts, Threads, combine_part,
};
use mdh_dialect::pass::{Options, Pass};
use mdh_dialect::types::{self, BufferKind};
use mdh_dialect::{index_function, marks, ops, read};
use melior::ir::attribute::{ArrayAttribute, DenseI32ArrayAttribute};
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, Region, Type, ValueLike};

use self::domain::Domain;
use self::operands::Operand;
use crate::form::form_compute::erase_operators;
use crate::raise::raise_linalg::extents::erase_assertions;
use crate::raise::raise_linalg::loops;
use crate::raise::raise_linalg::selection;
use crate::raise::raise_linalg::told::{self, Found};
use crate::support::buffers;
use crate::support::builder::Builder;
use crate::support::extents::{self, Extent};
use crate::support::region::{self, Marker};

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-to-linalg",
    description: "mdh.compute to named operations of linalg, linalg.reduce and linalg.generic",
    operation: ops::builtin::MODULE,
    options: &[(
        "generic",
        "make linalg.generic of all of them, and no operation with a name",
        "false",
    )],
    run,
};

/// The operations that a computation may become.
#[derive(Clone, Copy, PartialEq)]
enum Names {
    Known,
    None,
}

/// Takes out fills of tensors that nothing uses: what a destination was filled with is the start of its
/// computation, and often nobody else's.
fn erase_fills(module: Op) {
    let is_fill = |op: &Op| ir::name_of(*op) == ops::linalg::FILL;
    let mut unused = Vec::new();
    // From the last one: a fill of another comes before that.
    for fill in ir::find_all(module, &[ops::linalg::FILL]).into_iter().rev() {
        if ir::result(fill, 0).is_some_and(|filled| !ir::has_uses(filled)) {
            let operands = (0..2).filter_map(|n| ir::operand(fill, n));
            unused.extend(
                operands.filter(|value| !ir::defining_op(*value).is_some_and(|op| is_fill(&op))),
            );
            region::erase(fill);
        }
    }
    region::erase_unused(unused);
}

fn run(module: Op, options: &Options) -> Result<(), Errors> {
    let names = match options.flag("generic")? {
        true => Names::None,
        false => Names::Known,
    };
    for op in ir::find_all(module, &[ops::mdh::COMPUTE]) {
        let parts = read::compute(op)?;
        let first = Marker::before(op);
        match convert(op, &parts, names) {
            Ok(said) => {
                let mut unused = parts.dynamic_bounds();
                for made in first.since(op).iter().rev() {
                    unused.extend(made.results().map(ir::value));
                }
                said.into_iter().for_each(erase_assertions);
                region::erase(op);
                region::erase_unused(unused);
            }
            Err(rule) => {
                first.erase_since(op);
                ir::remark_at(op, &format!("stays a computation: {rule}"));
            }
        }
    }
    erase_fills(module);
    // A back end that does not know the dialect can read what is left.
    erase_operators(module, |_| true);
    Ok(())
}

/// The function of the dimensions that are combined.
enum Function {
    None,
    Builtin(Vec<Builtin>),
    Own,
}

/// Makes operations of linalg of a computation, which nothing uses then: one that says that sizes fit, if it does.
fn convert<'c>(op: Op<'c>, parts: &Parts<'c>, names: Names) -> Result<Option<Op<'c>>, String> {
    if parts.threads != Threads::default() {
        return Err("it is a part of a kernel: expected one that has not been tiled".into());
    }
    let function = function(parts)?;
    check_outputs(op, parts)?;
    check_carries(parts)?;
    let builder = &mut Builder::before(op);
    let domain = Domain::new(builder, op, parts)?;
    let mut inputs = Vec::new();
    for input in &parts.inputs {
        inputs.extend(operands::of_buffer(builder, &domain, input)?);
    }
    let mut outputs = Vec::new();
    for output in &parts.outputs {
        outputs.extend(operands::of_buffer(builder, &domain, output)?);
    }
    // One name for what is read and written: under two it would be seen as memory that is shared.
    for output in &mut outputs {
        if let Some(input) = inputs.iter().find(|input| input.is_same_part(output)) {
            output.value = input.value;
        }
    }
    if let Some(whole) = copied_whole(builder, (op, parts), &inputs, &outputs) {
        let old = ir::result(op, 0).unwrap_or_else(|| panic!("a tensor is a result"));
        region::replace_all_uses(old, whole);
        return Ok(None);
    }
    let window = window(builder, &domain, inputs.iter().chain(&outputs));
    let is_new = |window: &Val| is_memory(*window) && !ir::has_uses(*window);
    let allocated = window.as_ref().map(|w| w.value).filter(is_new);
    inputs.extend(window.clone());
    let wholes = outputs.clone();
    start(builder, parts, &function, &domain, &mut outputs)?;
    let (code, elements) = body::of_compute(op, parts, &function, &domain, window.is_some());
    let structured = Structured {
        inputs: &inputs,
        outputs: &outputs,
        rank: domain.rank,
        iterators: domain.loops().map(|own| own.combine).collect(),
    };
    let mut made = structured.insert(builder, code);
    if matches!(function, Function::Own) {
        set_laws(op, made, parts, &elements)?;
    }
    check_written(made)?;
    if names == Names::Known {
        let map = marks::MAP.is_on(op).then(|| named::map(made)).flatten();
        let is_plain = is_plain(op) && window.is_none();
        made = map.unwrap_or_else(|| named::specialize(made, is_plain));
    }
    for ((old, new), whole) in op.results().zip(made.results()).zip(&wholes) {
        let new = whole.merged(builder, ir::value(new));
        region::replace_all_uses(ir::value(old), new);
    }
    if let Some(window) = allocated {
        builder.op(ops::memref::DEALLOC, &[window], &[], &[]);
    }
    Ok(domain.fits.then_some(made))
}

/// Refuses an operation of which raising does not know that no two iterations write one element.
fn check_written(made: Op) -> Result<(), String> {
    let made = mdh_dialect::structured::Structured::read(made)?;
    let mut outputs = made.outputs.iter();
    outputs.try_for_each(|output| loops::check_written(&made, output))
}

/// Puts the laws of an operator of one's own on the operation, where raising finds it again; where it finds
/// another one that has no such laws, there is no such operation.
fn set_laws<'c>(
    op: Op<'c>,
    made: Op<'c>,
    parts: &Parts<'c>,
    elements: &[Val<'c>],
) -> Result<(), String> {
    let digest = body::operator(op, parts).and_then(|operator| selection::digest(&operator));
    let digest = digest.ok_or("its operator has code that cannot be compared")?;
    if told::found(made, elements, &digest)? == Found::Lawful {
        return Ok(());
    }
    if parts.laws.associative {
        marks::ASSOCIATIVE.set_text(made, &digest);
    }
    if parts.laws.commutative {
        marks::COMMUTATIVE.set(made);
    }
    Ok(())
}

/// The result of a computation that copies all of a tensor, and nothing else: to a part of another one, in which
/// it is inserted, or where it is padded for that, and nothing stays of the destination.
fn copied_whole<'c>(
    builder: &mut Builder<'c>,
    (op, parts): (Op<'c>, &Parts<'c>),
    inputs: &[Operand<'c>],
    outputs: &[Operand<'c>],
) -> Option<Val<'c>> {
    let ([input], [output], [part]) = (inputs, outputs, &parts.inputs[..]) else {
        return None;
    };
    let is_copy = is_plain(op) && parts.combine.iter().all(|c| ir::is_cc(*c));
    let is_whole = input.is_all() && output.is_written_whole() && input.map == output.map;
    let is_new = part.value != input.value && extents::is_undefined(output.value);
    if !is_copy || !is_whole || is_memory(output.value) || (output.is_all() && !is_new) {
        return None;
    }
    let (value, ty) = (input.value, output.value.r#type());
    let value = match value.r#type() == ty {
        true => value,
        false => builder.op(ops::tensor::CAST, &[value], &[ty], &[])[0],
    };
    if let Some(slice) = ir::defining_op(output.value).filter(|_| !output.is_all()) {
        region::erase(slice);
    }
    Some(output.merged(builder, value))
}

/// Returns whether the scalar function is the identity.
fn is_plain(op: Op) -> bool {
    let block = region::block_of(ir::region(op, 0));
    ir::ops_of(block).len() == 1 && region::yields(block) == mdh_dialect::code::arguments(block)
}

fn function(parts: &Parts) -> Result<Function, String> {
    let mut function = Function::None;
    for (combine, dim) in parts.combine.iter().zip(&parts.dims) {
        let wrong = |errors: Errors| errors.join("; ");
        match combine_part(*combine).map_err(wrong)? {
            CombinePart::Cc => {}
            CombinePart::Fold(Fold::Ps, _) => {
                return Err(format!(
                    "dimension '{}' is a prefix-sum, which linalg has no iterator for",
                    dim.name
                ));
            }
            CombinePart::Fold(Fold::Pw, Operators::Builtin(names)) => {
                let operators: Option<_> = names.iter().map(|name| Builtin::parse(name)).collect();
                function = Function::Builtin(operators.ok_or("its operator is not known")?);
            }
            CombinePart::Fold(Fold::Pw, _) => function = Function::Own,
        }
    }
    Ok(function)
}

/// The outputs hold each component once, in its own type.
fn check_outputs(op: Op, parts: &Parts) -> Result<(), String> {
    let components = region::yields(region::block_of(ir::region(op, 0)));
    let stored: Vec<usize> = parts
        .outputs
        .iter()
        .flat_map(|o| o.components.clone())
        .collect();
    if stored.len() != components.len() || (0..components.len()).any(|n| !stored.contains(&n)) {
        return Err("it does not store each component once: expected an output for each".into());
    }
    for output in &parts.outputs {
        let [component] = output.components[..] else {
            return Err(format!(
                "output '{}' is written in several places",
                output.name
            ));
        };
        if element(output.value) != types::scalar_type(components[component].r#type()) {
            return Err(format!(
                "output '{}' is of another type than what it stores: expected the same",
                output.name
            ));
        }
    }
    Ok(())
}

/// The type of a buffer's elements.
fn element(value: Val) -> Option<mdh_algebra::scalar::ScalarType> {
    types::buffer_type(value.r#type()).map(|ty| ty.element)
}

fn is_memory(value: Val) -> bool {
    types::buffer_type(value.r#type()).is_some_and(|ty| ty.kind == BufferKind::MemRef)
}

/// Refuses a carry that may not be there, or is of another type than what it goes to, and results that are
/// carried out.
fn check_carries(parts: &Parts) -> Result<(), String> {
    let [carry] = &parts.carries[..] else {
        return match parts.carries.is_empty() {
            true => Ok(()),
            false => Err("it has several carries: expected one".into()),
        };
    };
    if !carry.outgoing.is_empty() || carry.valid.is_some() {
        return Err(
            "it carries out a result, or decides at run time whether it is given one: expected neither"
                .into(),
        );
    }
    for (n, incoming) in carry.incoming.iter().enumerate() {
        let output = parts.outputs.iter().find(|o| o.components == [n]);
        if element(incoming.value) != output.and_then(|o| element(o.value)) {
            return Err(format!(
                "carry '{}' is of another type than what it goes to: expected the same",
                incoming.name
            ));
        }
    }
    Ok(())
}

/// The elements that destinations start from, for each component; none where they start from what
/// they hold.
fn neutrals<'c>(parts: &Parts<'c>, function: &Function) -> Result<Vec<Attribute<'c>>, String> {
    if !parts.carries.is_empty() {
        return Ok(Vec::new());
    }
    let Some(first) = parts.outputs.first() else {
        return Err("it has no output".into());
    };
    let context = ir::context_of_value(first.value);
    match function {
        Function::None => Ok(Vec::new()),
        Function::Own => {
            let neutral = parts.laws.neutral.clone();
            neutral.ok_or_else(|| "its operator has no neutral element to start from".into())
        }
        Function::Builtin(operators) => {
            let mut starts = Vec::new();
            for (n, operator) in operators.iter().enumerate() {
                let output = parts.outputs.iter().find(|o| o.components == [n]);
                let neutral = output.and_then(|o| operator.neutral(element(o.value)?));
                let neutral = neutral.ok_or("its operator has no neutral element")?;
                starts.push(types::attribute(context, neutral));
            }
            Ok(starts)
        }
    }
}

/// Sees to it that destinations hold what is combined first.
fn start<'c>(
    builder: &mut Builder<'c>,
    parts: &Parts<'c>,
    function: &Function,
    domain: &Domain<'c>,
    outputs: &mut [Operand<'c>],
) -> Result<(), String> {
    let neutrals = neutrals(parts, function)?;
    for (output, operand) in parts.outputs.iter().zip(outputs) {
        let n = output.components[0];
        if let Some(neutral) = neutrals.get(n) {
            if !operand.is_written_whole() {
                return Err(format!(
                    "output '{}' starts from the neutral element, in some of its elements only: expected \
                     a dimension for each axis",
                    output.name
                ));
            }
            operand.value = body::fill(builder, operand.value, *neutral);
        }
        let carried = parts.carries.first().map(|carry| &carry.incoming[n]);
        let is_own = |incoming: &BufferPart| {
            let places = (&incoming.accesses, &incoming.origin);
            incoming.value == output.value && places == (&output.accesses, &output.origin)
        };
        if let Some(incoming) = carried.filter(|incoming| !is_own(incoming)) {
            let from = operands::of_buffer(builder, domain, incoming)?;
            let [from] = &from[..] else {
                return Err(format!(
                    "carry '{}' is read in several places",
                    incoming.name
                ));
            };
            let copied = copied(builder, domain, from, operand);
            operand.value = copied.map_err(|rule| format!("carry '{}': {rule}", incoming.name))?;
        }
    }
    Ok(())
}

/// A destination with what is carried in.
fn copied<'c>(
    builder: &mut Builder<'c>,
    domain: &Domain<'c>,
    from: &Operand<'c>,
    to: &Operand<'c>,
) -> Result<Val<'c>, String> {
    let is_same = from.map == to.map && from.value.r#type() == to.value.r#type();
    if is_same && to.is_written_whole() && !is_memory(to.value) {
        return Ok(from.value);
    }
    // The dimensions that are kept are all that it has.
    let combines: Vec<Attribute> = domain.loops().map(|dim| dim.combine).collect();
    let has_size = |d: &usize| {
        [from, to]
            .iter()
            .any(|operand| operand.map.contains(&Expr::Dim(*d)))
    };
    let mut kept_dims = (0..combines.len()).filter(|d| ir::is_cc(combines[*d]));
    if kept_dims.any(|d| !has_size(&d)) {
        return Err(
            "it is copied by a loop that has no axis to itself: expected one, of it or its destination".into(),
        );
    }
    let mut places = Vec::new();
    let mut rank = 0;
    for combine in &combines {
        places.push(Expr::Dim(rank));
        rank += usize::from(ir::is_cc(*combine));
    }
    let only_kept = |operand: &Operand<'c>| {
        let map = operand.map.iter().map(|e| e.substitute(&places));
        Operand::whole(operand.value, map.collect())
    };
    let structured = Structured {
        inputs: &[only_kept(from)],
        outputs: &[only_kept(to)],
        rank,
        iterators: combines
            .into_iter()
            .filter(|combine| ir::is_cc(*combine))
            .collect(),
    };
    let code = body::copy(builder, from.value);
    Ok(ir::result(structured.insert(builder, code), 0).unwrap_or(to.value))
}

/// An operand without elements that are read, which has the extents of loops that nothing else has.
fn window<'a, 'c: 'a>(
    builder: &mut Builder<'c>,
    domain: &Domain<'c>,
    operands: impl Iterator<Item = &'a Operand<'c>>,
) -> Option<Operand<'c>> {
    let operands: Vec<&Operand> = operands.collect();
    let is_open = |d: &usize| {
        let dim = Expr::Dim(*d);
        !operands.iter().any(|operand| operand.map.contains(&dim))
    };
    let open: Vec<usize> = (0..domain.rank).filter(is_open).collect();
    let first = operands.first().filter(|_| !open.is_empty())?;
    let extents: Vec<Bound> = domain.loops().map(|own| own.extent).collect();
    let extents: Vec<Bound> = open.iter().map(|d| extents[*d]).collect();
    let kind = match operands.iter().any(|operand| is_memory(operand.value)) {
        true => BufferKind::MemRef,
        false => BufferKind::Tensor,
    };
    let element = element(first.value)?;
    let shape = shaped(&extents).filter(|value| {
        let ty = types::buffer_type(value.r#type());
        ty.is_some_and(|ty| (ty.kind, ty.element) == (kind, element))
    });
    let value = shape.unwrap_or_else(|| {
        let ty = types::mlir_type(builder.context, element);
        buffers::empty(builder, kind, &extents, ty)
    });
    let map = open.into_iter().map(Expr::Dim).collect();
    Some(Operand::whole(value, map))
}

/// The buffer that has these extents, if each is said to be the size of one's axis.
fn shaped<'c>(bounds: &[Bound<'c>]) -> Option<Val<'c>> {
    let mut tensor = None;
    for (n, extent) in bounds.iter().enumerate() {
        let Extent::Axis(value, axis) = extents::of_bound(*extent) else {
            return None;
        };
        if axis != n || tensor.is_some_and(|tensor| tensor != value) {
            return None;
        }
        tensor = Some(value);
    }
    let rank = types::buffer_type(tensor?.r#type())?.shape.len();
    tensor.filter(|_| rank == bounds.len())
}

/// An operation of linalg before it is there.
struct Structured<'a, 'c> {
    inputs: &'a [Operand<'c>],
    outputs: &'a [Operand<'c>],
    rank: usize,
    /// The combine operator of each loop.
    iterators: Vec<Attribute<'c>>,
}

impl<'c> Structured<'_, 'c> {
    fn insert(&self, builder: &mut Builder<'c>, code: Region<'c>) -> Op<'c> {
        let context = builder.context;
        let both = || self.inputs.iter().chain(self.outputs);
        let maps: Vec<Attribute> = both()
            .map(|operand| index_function::to_map(context, self.rank, &operand.map))
            .collect();
        let iterators = self.iterators.iter().map(|c| iterator(builder, *c));
        let iterators: Vec<Attribute> = iterators.collect();
        let segments = [self.inputs.len(), self.outputs.len()].map(|n| n as i32);
        let attributes = [
            ("indexing_maps", ArrayAttribute::new(context, &maps).into()),
            (
                "iterator_types",
                ArrayAttribute::new(context, &iterators).into(),
            ),
            (
                "operandSegmentSizes",
                DenseI32ArrayAttribute::new(context, &segments).into(),
            ),
        ];
        let operands: Vec<Val> = both().map(|operand| operand.value).collect();
        let outputs = self.outputs.iter().map(|output| output.value);
        let results = outputs.filter(|value| !is_memory(*value));
        let results: Vec<Type> = results.map(|value| value.r#type()).collect();
        builder.build(
            ops::linalg::GENERIC,
            &operands,
            &results,
            &attributes,
            vec![code],
        )
    }
}

fn iterator<'c>(builder: &Builder<'c>, combine: Attribute<'c>) -> Attribute<'c> {
    let name = match ir::is_cc(combine) {
        true => "parallel",
        false => "reduction",
    };
    let text = format!("#linalg.iterator_type<{name}>");
    Attribute::parse(builder.context, &text).unwrap_or_else(|| panic!("{text} is an attribute"))
}
