//! Operations with names in the place of `linalg.generic`.
//!
//! No pattern says what an operation with a name does: it is built as upstream defines it, with the same
//! operands in the same order, and stands where its maps and its body are the same. Rows of [`candidates`](super::candidates)
//! say only which ones are worth a try. What has no row, or differs in anything, stays generic.

use mdh_algebra::affine::Expr;
use mdh_algebra::scalar::ScalarType;
use mdh_dialect::code::arguments;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::structured::{Structured, maps};
use mdh_dialect::types::{self, BufferKind};
use mdh_dialect::{index_function, marks, ops};
use melior::ir::attribute::{ArrayAttribute, DenseI32ArrayAttribute, DenseI64ArrayAttribute};
use melior::ir::operation::{Operation, OperationBuilder, OperationLike};
use melior::ir::{Attribute, Identifier, Region, Type, ValueLike};
use mlir_sys::mlirLinalgFillBuiltinNamedOpRegion;

use super::candidates::{
    BOUNDS, CONVOLUTIONS, ELEMENTWISE, MATRICES, POOLINGS, PRODUCTS, UNSIGNED_COPIES,
};
use super::matching::{same_code, same_maps};
use crate::support::builder::Builder;
use crate::support::region;

/// An operation to try.
struct Candidate<'c> {
    name: String,
    attributes: Vec<(&'static str, Attribute<'c>)>,
}

/// Puts an operation with a name in the place of a generic one, if there is one that is the same.
/// `is_plain` says that the body does nothing but to combine elements.
pub fn specialize<'c>(generic: Op<'c>, is_plain: bool) -> Op<'c> {
    let Ok(of) = Structured::read(generic) else {
        return generic;
    };
    let made = match is_plain {
        true => reduction(&of),
        false => None,
    };
    let made = made.or_else(|| named(&of));
    let Some(made) = made else {
        return generic;
    };
    replaced(generic, made)
}

/// Puts `linalg.map` in the place of a generic operation whose loops are the indices of all operands.
pub fn map<'c>(generic: Op<'c>) -> Option<Op<'c>> {
    let structured = Structured::read(generic).ok()?;
    let is_whole = |map: &Vec<Expr>| map.iter().cloned().eq((0..structured.rank).map(Expr::Dim));
    let is_map = structured.outputs.len() == 1
        && structured.operands().all(|operand| is_whole(&operand.map));
    let is_map = is_map && has_sizes_of_one_kind(&structured);
    let made = is_map.then(|| {
        build(
            &structured,
            ops::linalg::MAP,
            &[],
            region::copy(structured.op, 0),
        )
    })?;
    Some(replaced(generic, made))
}

fn replaced<'c>(generic: Op<'c>, made: Operation<'c>) -> Op<'c> {
    let made = Builder::before(generic).insert(made);
    for mark in [&marks::ASSOCIATIVE, &marks::COMMUTATIVE] {
        let value = ir::attribute(generic, mark.name);
        value
            .into_iter()
            .for_each(|value| ir::set_attribute(made, mark.name, value));
    }
    for (old, new) in generic.results().zip(made.results()) {
        region::replace_all_uses(ir::value(old), ir::value(new));
    }
    region::erase(generic);
    made
}

/// A loop that an index is, in a map of different ones.
fn loops(map: &[Expr]) -> Option<Vec<usize>> {
    let is_first = |(n, expr): (usize, &Expr)| match expr {
        Expr::Dim(d) if !map[..n].contains(expr) => Some(*d),
        _ => None,
    };
    map.iter().enumerate().map(is_first).collect()
}

/// `linalg.reduce`, which combines elements of tensors of one shape, and keeps the order of their axes.
fn reduction<'c>(of: &Structured<'c>) -> Option<Operation<'c>> {
    let order = loops(&of.inputs.first()?.map)?;
    let kept_dims = of.kept(of.outputs.first()?);
    let results: Vec<Expr> = order
        .iter()
        .filter(|d| kept_dims[**d])
        .map(|d| Expr::Dim(*d))
        .collect();
    let is_one = has_sizes_of_one_kind(of)
        && order.iter().copied().eq(0..of.rank)
        && results.len() < of.rank
        && of.inputs.len() == of.outputs.len()
        && of.inputs.iter().all(|input| input.map == of.inputs[0].map)
        && of.outputs.iter().all(|output| output.map == results);
    if !is_one {
        return None;
    }
    let gone = (0..of.rank as i64).filter(|axis| !kept_dims[order[*axis as usize]]);
    let gone: Vec<i64> = gone.collect();
    let dimensions = DenseI64ArrayAttribute::new(ir::context_of(of.op), &gone);
    let attributes = [("dimensions", dimensions.into())];
    Some(build(
        of,
        ops::linalg::REDUCE,
        &attributes,
        region::copy(of.op, 0),
    ))
}

fn named<'c>(of: &Structured<'c>) -> Option<Operation<'c>> {
    let [output] = &of.outputs[..] else {
        return None;
    };
    let yielded = *region::yields(ir::only_block(ir::region(of.op, 0))?).first()?;
    let root = ir::defining_op(yielded);
    let name = root.map_or("", ir::name_of);
    let types = of.operands().map(|o| o.value.r#type());
    let mut types = types.filter_map(types::buffer_type);
    if root.is_some() && !types.all(|ty| is_built_of(name, of.inputs.len(), ty.element)) {
        return None;
    }
    let candidates = match root {
        None => return moved(of, yielded),
        Some(constant) if name == ops::arith::CONSTANT => return filled(of, constant),
        Some(_) if of.kept(output).contains(&false) => accumulations(of, name),
        Some(_) => elementwise(of, name),
    };
    candidates
        .into_iter()
        .find_map(|candidate| candidate.tried(of, yielded))
}

/// Returns whether upstream builds bodies of operations that yield this, on so many inputs of a type. Of truth and of indices
/// it builds few, and crashes at others.
fn is_built_of(root: &str, inputs: usize, ty: ScalarType) -> bool {
    let is_choice = [ops::arith::SELECT, ops::arith::CONSTANT].contains(&root);
    // Sums and products of truth, as of a product of matrices.
    let is_logical = [ops::arith::ORI, ops::arith::ANDI].contains(&root);
    match ty {
        ScalarType::I1 => is_choice || BOUNDS.contains(&root) || (is_logical && inputs == 2),
        ScalarType::Index => is_choice,
        _ => !is_logical,
    }
}

/// `linalg.fill` with a number that a body yields whatever it is given.
fn filled<'c>(of: &Structured<'c>, constant: Op<'c>) -> Option<Operation<'c>> {
    let is_whole = loops(&of.outputs[0].map)?.len() == of.rank;
    if !of.inputs.is_empty() || !is_whole {
        return None;
    }
    let mut builder = Builder::before(of.op);
    let (number, ty) = (
        ir::attribute(constant, "value")?,
        ir::result(constant, 0)?.r#type(),
    );
    let number = builder.constant(number, ty);
    let sizes = DenseI32ArrayAttribute::new(builder.context, &[1, 1]).into();
    let results: Vec<Type> = of.op.results().map(|r| ir::value(r).r#type()).collect();
    let code = builder.region(&[ty, ty], ops::linalg::YIELD, |_, elements| {
        vec![elements[0]]
    });
    let name = Identifier::new(builder.context, "operandSegmentSizes");
    let operation = OperationBuilder::new(ops::linalg::FILL, of.op.location())
        .add_operands(&[number, of.outputs[0].value])
        .add_results(&results)
        .add_attributes(&[(name, sizes)])
        .add_regions([code])
        .build();
    operation.ok()
}

/// Returns whether types say the sizes of all axes that one loop indexes, or of none: these operations ask for it.
fn has_sizes_of_one_kind(of: &Structured) -> bool {
    let mut sizes = vec![None; of.rank];
    let axes = of.operands().flat_map(|operand| {
        let shape = types::buffer_type(operand.value.r#type()).map(|ty| ty.shape);
        let shape = shape.unwrap_or_default();
        operand.map.clone().into_iter().zip(shape)
    });
    for (expr, size) in axes {
        if let Expr::Dim(d) = expr
            && *sizes[d].get_or_insert(size) != size
        {
            return false;
        }
    }
    true
}

/// Copies of elements: `linalg.fill`, `copy`, `transpose` and `broadcast`.
fn moved<'c>(of: &Structured<'c>, yielded: Val<'c>) -> Option<Operation<'c>> {
    let ([input], [output]) = (&of.inputs[..], &of.outputs[..]) else {
        return None;
    };
    let (from, to) = (loops(&input.map)?, loops(&output.map)?);
    let is_first = ir::block_argument(yielded).is_some_and(|argument| argument.number == 0);
    if !is_first || !to.iter().copied().eq(0..of.rank) {
        return None;
    }
    let is_scalar = types::buffer_type(input.value.r#type())?.kind == BufferKind::Scalar;
    let place = |d: &usize| to.iter().position(|other| other == d);
    let axes: Vec<i64> = from
        .iter()
        .filter_map(place)
        .map(|axis| axis as i64)
        .collect();
    let list = |axes: &[i64]| DenseI64ArrayAttribute::new(ir::context_of(of.op), axes).into();
    let alone = |name, attributes: &[(&'static str, Attribute<'c>)]| {
        has_sizes_of_one_kind(of).then(|| build(of, name, attributes, region::copy(of.op, 0)))
    };
    let is_sorted = axes.is_sorted();
    if is_scalar || (is_sorted && axes.len() == of.rank) {
        let name = if is_scalar { "fill" } else { "copy" };
        return Candidate::new(name).tried(of, yielded);
    }
    if axes.len() == of.rank {
        let permutation = (0..axes.len() as i64).map(|axis| {
            let at = axes.iter().position(|own| *own == axis);
            at.map_or(0, |at| at as i64)
        });
        let permutation: Vec<i64> = permutation.collect();
        return alone(
            ops::linalg::TRANSPOSE,
            &[("permutation", list(&permutation))],
        );
    }
    let added: Vec<i64> = (0..of.rank as i64)
        .filter(|axis| !axes.contains(axis))
        .collect();
    match is_sorted {
        true => alone(ops::linalg::BROADCAST, &[("dimensions", list(&added))]),
        false => None,
    }
}

fn elementwise<'c>(of: &Structured<'c>, root: &str) -> Vec<Candidate<'c>> {
    let count = of.inputs.len();
    let elements = ir::only_block(ir::region(of.op, 0)).map(arguments);
    let elements = elements.unwrap_or_default().into_iter().take(count);
    let elements: Vec<Type> = elements.map(|element| element.r#type()).collect();
    // Upstream converts nothing here, but for copies: of other types it would say so to nobody, and crash.
    let numbers = elements.get(usize::from(root == ops::arith::SELECT)..);
    let result = of
        .outputs
        .first()
        .and_then(|output| types::buffer_type(output.value.r#type()));
    let result = result.map(|ty| types::mlir_type(ir::context_of(of.op), ty.element));
    let is_of_one = numbers.is_some_and(|all| all.iter().all(|own| Some(*own) == result));
    let rows = ELEMENTWISE.iter().filter(|row| {
        let fits = is_of_one || row.1 == "copy";
        row.0 == root && row.2 == count && fits
    });
    let mut candidates: Vec<_> = rows.map(|row| Candidate::new(row.1)).collect();
    if count == 1 && UNSIGNED_COPIES.contains(&root) {
        candidates.push(Candidate::new("copy").unsigned(of));
    }
    candidates
}

fn accumulations<'c>(of: &Structured<'c>, root: &str) -> Vec<Candidate<'c>> {
    let count = of.inputs.len();
    let mut candidates = Vec::new();
    let windows = windows(of);
    let in_windows = |name: &str| {
        let windows = windows
            .as_ref()
            .filter(|own| own.rank == spatial_rank(name))?;
        let mut candidate = Candidate::new(name);
        if name.contains("_n") {
            candidate.attributes = windows.attributes.clone();
        }
        Some(candidate)
    };
    let kind = match root {
        ops::arith::ADDF | ops::arith::ADDI | ops::arith::ORI => "sum",
        ops::arith::MAXIMUMF | ops::arith::MAXSI => "max",
        ops::arith::MINIMUMF | ops::arith::MINSI => "min",
        ops::arith::MAXUI => "max_unsigned",
        ops::arith::MINUI => "min_unsigned",
        _ => return candidates,
    };
    if kind == "sum" {
        let rows = PRODUCTS.iter().filter(|row| row.1 == count);
        candidates.extend(rows.map(|row| Candidate::new(row.0)));
        // Upstream builds a body with as many arguments as it has, whatever operands are there.
        let is_quantized = |row: &&&str| count == if row.ends_with("_q") { 4 } else { 2 };
        let rows = CONVOLUTIONS.iter().filter(is_quantized);
        candidates.extend(rows.filter_map(|row| in_windows(row)));
    }
    // The second input has the window's shape.
    let poolings = POOLINGS.iter().filter(|row| row.1 == kind && count == 2);
    candidates.extend(poolings.filter_map(|row| in_windows(&format!("pooling_{}_{kind}", row.0))));
    if kind == "sum" && count == 2 {
        candidates.extend(contractions(of));
    }
    candidates
}

/// Products of matrices, and any others: `linalg.contract`.
fn contractions<'c>(of: &Structured<'c>) -> Vec<Candidate<'c>> {
    let context = ir::context_of(of.op);
    let maps_of_operands: Vec<Vec<Expr>> =
        of.operands().map(|operand| operand.map.clone()).collect();
    let mut matching = Vec::new();
    let mut add = |name: &str| {
        let maps = maps_of_operands
            .iter()
            .map(|map| index_function::to_map(context, of.rank, map));
        let maps: Vec<Attribute> = maps.collect();
        let candidate = || Candidate {
            name: name.to_owned(),
            attributes: vec![("indexing_maps", ArrayAttribute::new(context, &maps).into())],
        };
        matching.extend([candidate(), candidate().unsigned(of)]);
    };
    let is_one = |map: &[Expr], list: &[usize]| {
        map.len() == list.len() && map.iter().zip(list).all(|(e, d)| *e == Expr::Dim(*d))
    };
    for product in MATRICES.iter().filter(|product| product.rank == of.rank) {
        let [left, right] = [(0, product.left), (1, product.right)]
            .map(|(n, lists)| lists.iter().any(|list| is_one(&maps_of_operands[n], list)));
        // Together the operands have all loops.
        let is_bound = (0..of.rank).all(|d| {
            maps_of_operands
                .iter()
                .flatten()
                .any(|e| *e == Expr::Dim(d))
        });
        if left && right && is_bound && is_one(&maps_of_operands[2], product.output) {
            add(product.name);
        }
    }
    if is_contraction(&maps_of_operands, of.rank) {
        add("contract");
    }
    matching
}

/// Returns whether each loop is combined and the index of both inputs, or kept and that of one.
fn is_contraction(maps: &[Vec<Expr>], rank: usize) -> bool {
    let Some(all) = maps
        .iter()
        .map(|map| loops(map))
        .collect::<Option<Vec<_>>>()
    else {
        return false;
    };
    let fits = |d: usize| {
        let inputs = all[..2].iter().filter(|map| map.contains(&d)).count();
        match all[2].contains(&d) {
            true => inputs > 0,
            false => inputs == 2,
        }
    };
    (0..rank).all(fits) && all[2].len() < rank
}

/// The axes of an input that windows go over.
struct Windows<'c> {
    rank: usize,
    attributes: Vec<(&'static str, Attribute<'c>)>,
}

fn windows<'c>(structured: &Structured<'c>) -> Option<Windows<'c>> {
    let kept_dims = structured.kept(&structured.outputs[0]);
    // The steps of a loop that is kept, and of one over the window.
    let steps = |expr: &Expr| {
        let form = expr.linear(structured.rank)?;
        let terms: Vec<(usize, i64)> = form.terms().collect();
        match terms[..] {
            [(a, x), (b, y)] if kept_dims[a] && !kept_dims[b] => Some((x, y)),
            [(a, x), (b, y)] if kept_dims[b] && !kept_dims[a] => Some((y, x)),
            _ => None,
        }
    };
    let by_input = structured.inputs.iter().map(|input| -> Vec<(i64, i64)> {
        let axes = input.map.iter();
        axes.filter_map(steps).collect()
    });
    let axes = by_input
        .max_by_key(Vec::len)
        .filter(|axes| !axes.is_empty())?;
    let (strides, dilations): (Vec<i64>, Vec<i64>) = axes.into_iter().unzip();
    let list = |numbers: &[i64]| {
        let text = format!("dense<{numbers:?}> : tensor<{}xi64>", numbers.len());
        let list = Attribute::parse(ir::context_of(structured.op), &text);
        list.unwrap_or_else(|| panic!("{text} is an attribute"))
    };
    Some(Windows {
        rank: strides.len(),
        attributes: vec![("strides", list(&strides)), ("dilations", list(&dilations))],
    })
}

/// The number of axes that windows of an operation go over, by its name.
fn spatial_rank(name: &str) -> usize {
    let digit = name.chars().find_map(|c| c.to_digit(10));
    let layout = || name.split('_').nth(1).unwrap_or_default();
    let axes = || layout().chars().filter(|c| "dhw".contains(*c)).count();
    digit.map_or_else(axes, |digit| digit as usize)
}

impl<'c> Candidate<'c> {
    fn new(name: &str) -> Self {
        Candidate {
            name: name.to_owned(),
            attributes: Vec::new(),
        }
    }

    /// It converts integers without a sign.
    fn unsigned(mut self, of: &Structured<'c>) -> Self {
        let text = "#linalg.type_fn<cast_unsigned>";
        let cast = Attribute::parse(ir::context_of(of.op), text);
        let cast = cast.unwrap_or_else(|| panic!("{text} is an attribute"));
        self.attributes.push(("cast", cast));
        self
    }

    /// The operation, if it is the same as a generic one that yields this.
    fn tried(&self, of: &Structured<'c>, yielded: Val<'c>) -> Option<Operation<'c>> {
        let name = format!("linalg.{}", self.name);
        let operation = build(of, &name, &self.attributes, Region::new());
        // SAFETY: the operation is valid, has an empty region, and a name of upstream's whose body is
        // built by a function.
        unsafe { mlirLinalgFillBuiltinNamedOpRegion(operation.to_raw()) };
        let op = ir::op(&operation);
        let maps_of_op = maps(op)?.into_iter().map(index_function::from_map);
        let maps_of_op = maps_of_op.collect::<Option<Vec<_>>>()?;
        let given: Vec<_> = of.operands().map(|operand| operand.map.clone()).collect();
        let block = ir::only_block(ir::region(op, 0))?;
        let result = *region::yields(block).first()?;
        let is_same = same_maps(&maps_of_op, &given, of.rank) && same_code(result, yielded);
        is_same.then_some(operation)
    }
}

/// An operation with the operands of another one.
fn build<'c>(
    of: &Structured<'c>,
    name: &str,
    attributes: &[(&str, Attribute<'c>)],
    code: Region<'c>,
) -> Operation<'c> {
    let context = ir::context_of(of.op);
    let operands: Vec<Val> = of.operands().map(|operand| operand.value).collect();
    let results: Vec<Type> = of.op.results().map(|r| ir::value(r).r#type()).collect();
    let sizes = [of.inputs.len(), of.outputs.len()].map(|n| n as i32);
    let segments = DenseI32ArrayAttribute::new(context, &sizes).into();
    let has_segments = ![
        ops::linalg::BROADCAST,
        ops::linalg::MAP,
        ops::linalg::REDUCE,
        ops::linalg::TRANSPOSE,
    ]
    .contains(&name);
    let segments = has_segments.then_some(("operandSegmentSizes", segments));
    let attributes: Vec<_> = attributes
        .iter()
        .copied()
        .chain(segments)
        .map(|(name, attribute)| (Identifier::new(context, name), attribute))
        .collect();
    let operation = OperationBuilder::new(name, of.op.location())
        .add_operands(&operands)
        .add_results(&results)
        .add_attributes(&attributes)
        .add_regions([code])
        .build();
    operation.unwrap_or_else(|error| panic!("cannot build {name}: {error}"))
}
