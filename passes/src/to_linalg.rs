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
//! #a = affine_map<(i, j, k) -> (i, k)>
//! #b = affine_map<(i, j, k) -> (k, j)>
//! #d = affine_map<(i, j, k) -> (i, j)>
//! func.func @product(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>, %c: tensor<64x48xf32>)
//!     -> tensor<64x48xf32> {
//!   %zero = arith.constant 0.0 : f32
//!   %start = linalg.fill ins(%zero : f32) outs(%c : tensor<64x48xf32>) -> tensor<64x48xf32>
//!   %d = linalg.generic {indexing_maps = [#a, #b, #d],
//!                        iterator_types = ["parallel", "parallel", "reduction"]}
//!       ins(%a, %b : tensor<64x32xf32>, tensor<32x48xf32>) outs(%start : tensor<64x48xf32>) {
//!   ^bb0(%a_ik: f32, %b_kj: f32, %so_far: f32):
//!     %e = arith.mulf %a_ik, %b_kj : f32
//!     %sum = arith.addf %so_far, %e : f32
//!     linalg.yield %sum : f32
//!   } -> tensor<64x48xf32>
//!   return %d : tensor<64x48xf32>
//! }
//! ```
//!
//! It undoes `mdh-raise-linalg`. The pipeline `mdh-lower-to-linalg` goes on with upstream's
//! `linalg-specialize-generic-ops`, which makes named operations where there are such. A schedule
//! goes, since only this compiler reads it. Laws that linalg has no place for stand on the operation
//! as `mdh.associative` and `mdh.commutative`.
//!
//! A computation that linalg cannot say stays, with a remark: prefix-sums, padding, origins, strided
//! domains, sizes that are no operand's, and operators without a neutral element to start from.

use mdh_algebra::affine::Expr;
use mdh_algebra::operator::Builtin;
use mdh_dialect::code::arguments;
use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::parts::{
    Bound, BufferPart, CombinePart, Dim, Fold, Operators, Parts, Threads, combine_part,
};
use mdh_dialect::pass::{Options, Pass};
use mdh_dialect::{index_function, marks, ops, read, types};
use melior::ir::attribute::{ArrayAttribute, DenseI32ArrayAttribute};
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, Region, Type, TypeLike, ValueLike};

use crate::builder::Builder;
use crate::draft::{self, Rewriter};
use crate::form_compute::rename_index;
use crate::{extents, region};

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-to-linalg",
    description: "mdh.compute to linalg.generic",
    operation: ops::builtin::MODULE,
    options: &[],
    run,
};

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    for op in ir::find_all(module, &[ops::mdh::COMPUTE]) {
        if let Err(rule) = convert(op, &read::compute(op)?) {
            ir::remark_at(op, &format!("stays a computation: {rule}"));
        }
    }
    Ok(())
}

/// The function of the dimensions that are combined.
enum Function {
    None,
    Builtin(Vec<Builtin>),
    Own,
}

fn convert<'c>(op: Op<'c>, parts: &Parts<'c>) -> Result<(), String> {
    if parts.threads != Threads::default() {
        return Err("it is a part of a kernel: expected one that has not been tiled".into());
    }
    for dim in &parts.dims {
        check_dimension(dim)?;
    }
    let function = function(parts)?;
    for buffer in parts.buffers() {
        check_buffer(buffer)?;
    }
    check_outputs(op, parts)?;
    check_carries(parts)?;
    for d in 0..parts.dims.len() {
        check_size(parts, d)?;
    }
    let starts = starts(parts, &function)?;
    emit(op, parts, &function, &starts);
    Ok(())
}

fn check_dimension(dim: &Dim) -> Result<(), String> {
    let [lower, step, width] = [dim.lower, dim.step, dim.width].map(Bound::known);
    if lower != Some(0) || step != Some(1) || width != Some(1) {
        return Err(format!(
            "dimension '{}' has a domain of its own: expected one from 0 on, without a step",
            dim.name
        ));
    }
    Ok(())
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
                let all: Option<_> = names.iter().map(|name| Builtin::parse(name)).collect();
                function = Function::Builtin(all.ok_or("its operator is not known")?);
            }
            CombinePart::Fold(Fold::Pw, _) => function = Function::Own,
        }
    }
    Ok(function)
}

fn check_buffer(buffer: &BufferPart) -> Result<(), String> {
    let name = &buffer.name;
    if buffer.pad.is_some() {
        return Err(format!(
            "input '{name}' is padded: expected all of it in memory"
        ));
    }
    if buffer.origin.iter().any(|origin| origin.known() != Some(0)) {
        return Err(format!(
            "buffer '{name}' has an origin: expected 0 in each axis"
        ));
    }
    Ok(())
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
        let element = types::buffer_type(output.value.r#type()).map(|ty| ty.element);
        if element != types::scalar_type(components[component].r#type()) {
            return Err(format!(
                "output '{}' is of another type than what it stores: expected the same",
                output.name
            ));
        }
    }
    Ok(())
}

/// Only what an output holds is carried in, to the dimension that is combined.
fn check_carries(parts: &Parts) -> Result<(), String> {
    let refuse = || Err("it carries something else than what its outputs hold".into());
    match &parts.carries[..] {
        [] => Ok(()),
        [carry] if carry.outgoing.is_empty() && carry.valid.is_none() => {
            let is_own = |(n, incoming): (usize, &BufferPart)| {
                let output = parts.outputs.iter().find(|o| o.components == [n]);
                output.is_some_and(|output| {
                    output.value == incoming.value && output.accesses == incoming.accesses
                })
            };
            match carry.incoming.iter().enumerate().all(is_own) {
                true => Ok(()),
                false => refuse(),
            }
        }
        _ => refuse(),
    }
}

/// linalg takes the size of a loop from an axis that it alone indexes.
fn check_size(parts: &Parts, d: usize) -> Result<(), String> {
    let upper = extents::of_bound(parts.dims[d].upper);
    let name = &parts.dims[d].name;
    let mut is_found = false;
    for buffer in parts.buffers() {
        for (axis, expr) in buffer.accesses.iter().flat_map(|a| a.iter().enumerate()) {
            if *expr != Expr::Dim(d) {
                continue;
            }
            if extents::of_axis(buffer.value, axis) != upper {
                return Err(format!(
                    "dimension '{name}' has another size than axis {axis} of '{}': expected all of \
                     the axis; take a slice of it",
                    buffer.name
                ));
            }
            is_found = true;
        }
    }
    match is_found {
        true => Ok(()),
        false => Err(format!(
            "dimension '{name}' alone is the index of no axis, from which linalg would know its size"
        )),
    }
}

/// The elements that destinations start from, for each component; none where they start from what
/// they hold.
fn starts<'c>(parts: &Parts<'c>, function: &Function) -> Result<Vec<Attribute<'c>>, String> {
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
                let element = output.and_then(|o| types::buffer_type(o.value.r#type()));
                let neutral = element.and_then(|ty| operator.neutral(ty.element));
                let neutral = neutral.ok_or("its operator has no neutral element")?;
                starts.push(types::attribute(context, neutral));
            }
            Ok(starts)
        }
    }
}

fn emit<'c>(op: Op<'c>, parts: &Parts<'c>, function: &Function, starts: &[Attribute<'c>]) {
    let builder = &mut Builder::before(op);
    let mut operands = Vec::new();
    let mut maps = Vec::new();
    for input in &parts.inputs {
        for access in &input.accesses {
            operands.push(input.value);
            maps.push(access.clone());
        }
    }
    let inputs = operands.len();
    for output in &parts.outputs {
        let value = match starts.get(output.components[0]) {
            Some(start) => fill(builder, output.value, *start),
            None => output.value,
        };
        operands.push(value);
        maps.push(output.accesses[0].clone());
    }
    let context = builder.context;
    let rank = parts.dims.len();
    let maps: Vec<Attribute> = maps
        .iter()
        .map(|map| index_function::to_map(context, rank, map))
        .collect();
    let iterators: Vec<Attribute> = parts
        .combine
        .iter()
        .map(|c| iterator(builder, *c))
        .collect();
    let segments = [inputs, parts.outputs.len()].map(|n| n as i32);
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
    let results: Vec<Type> = op.results().map(|r| ir::value(r).r#type()).collect();
    let body = body(op, parts, function);
    let generic = builder.build(
        ops::linalg::GENERIC,
        &operands,
        &results,
        &attributes,
        vec![body],
    );
    if matches!(function, Function::Own) {
        for (mark, is_granted) in [
            (&marks::ASSOCIATIVE, parts.laws.associative),
            (&marks::COMMUTATIVE, parts.laws.commutative),
        ] {
            if is_granted {
                mark.set(generic);
            }
        }
    }
    Rewriter::Direct.replace(op, &draft::results(generic));
}

fn iterator<'c>(builder: &Builder<'c>, combine: Attribute<'c>) -> Attribute<'c> {
    let name = match ir::class_of(combine).0 {
        "mdh.cc" => "parallel",
        _ => "reduction",
    };
    let text = format!("#linalg.iterator_type<{name}>");
    Attribute::parse(builder.context, &text).unwrap_or_else(|| panic!("{text} is an attribute"))
}

/// A destination filled with one element.
fn fill<'c>(builder: &mut Builder<'c>, value: Val<'c>, start: Attribute<'c>) -> Val<'c> {
    let ty = types::buffer_type(value.r#type());
    let ty = ty.unwrap_or_else(|| panic!("an output is a buffer"));
    let element = types::mlir_type(builder.context, ty.element);
    let scalar = builder.constant(start, element);
    let segments = DenseI32ArrayAttribute::new(builder.context, &[1, 1]);
    let is_tensor = value.r#type().is_ranked_tensor();
    let results: Vec<Type> = is_tensor.then(|| value.r#type()).into_iter().collect();
    let code = region::with_arguments(&[element, element], builder.location);
    let arguments = arguments(region::block(&code));
    let block = region::block(&code);
    region::end_with(block, builder.location, ops::linalg::YIELD, &arguments[..1]);
    let filled = builder.build(
        ops::linalg::FILL,
        &[scalar, value],
        &results,
        &[("operandSegmentSizes", segments.into())],
        vec![code],
    );
    ir::result(filled, 0).unwrap_or(value)
}

/// The scalar function, and behind it the operator on what a destination holds.
fn body<'c>(op: Op<'c>, parts: &Parts<'c>, function: &Function) -> Region<'c> {
    let code = region::copy(op, 0);
    let block = region::block(&code);
    let terminator = region::terminator(block);
    let elements = region::yields(block);
    let location = op.location();
    let so_far: Vec<Val> = parts
        .outputs
        .iter()
        .map(|o| region::add_argument(block, elements[o.components[0]].r#type(), location))
        .collect();
    let mut by_component = elements.clone();
    for (output, value) in parts.outputs.iter().zip(&so_far) {
        by_component[output.components[0]] = *value;
    }
    let mut builder = Builder::before(terminator);
    let results = match function {
        Function::None => elements,
        Function::Builtin(operators) => operators
            .iter()
            .enumerate()
            .map(|(n, operator)| {
                let name = format!("arith.{operator}");
                builder.binary(&name, by_component[n], elements[n])
            })
            .collect(),
        Function::Own => combined(op, terminator, &by_component, &elements),
    };
    let yields: Vec<Val> = parts
        .outputs
        .iter()
        .map(|o| results[o.components[0]])
        .collect();
    builder.op(ops::linalg::YIELD, &yields, &[], &[]);
    region::erase(terminator);
    for index in region::operations(&code) {
        if ir::name_of(index) == ops::mdh::INDEX {
            rename_index(index, ops::linalg::INDEX);
        }
    }
    code
}

/// The operator's own code before an operation, on what there is and elements.
fn combined<'c>(
    op: Op<'c>,
    before: Op<'c>,
    so_far: &[Val<'c>],
    elements: &[Val<'c>],
) -> Vec<Val<'c>> {
    let own = region::copy(op, 1);
    let block = region::block(&own);
    let given = so_far.iter().chain(elements);
    for (argument, value) in arguments(block).into_iter().zip(given) {
        region::replace_all_uses(argument, *value);
    }
    let mut copies: Vec<(Val, Val)> = Vec::new();
    let yields = region::yields(block);
    let find = |copies: &[(Val<'c>, Val<'c>)], value: Val<'c>| {
        let copy = copies.iter().find(|(old, _)| *old == value);
        copy.map_or(value, |(_, new)| *new)
    };
    let all = ir::ops_of(block);
    for inner in &all[..all.len() - 1] {
        let copy = region::copy_before(*inner, before);
        for (old, new) in &copies {
            region::replace_in_op(copy, *old, *new);
        }
        let results = inner.results().zip(copy.results());
        copies.extend(results.map(|(old, new)| (ir::value(old), ir::value(new))));
    }
    yields
        .into_iter()
        .map(|value| find(&copies, value))
        .collect()
}
