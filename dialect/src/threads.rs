//! Rules of the work that a GPU's threads do of a computation, `threads(..)`.
//!
//! | work           | what is checked                                                             |
//! |----------------|-----------------------------------------------------------------------------|
//! | `asynchronous` | it is a copy: one input and one output, `id`, all dimensions kept           |
//! | `matrix(r, c)` | `r` and `c` are two dimensions that are kept, all others kept or summed up; |
//! |                | what is summed up is a product, of one factor along `r` and one along `c`   |
//! | `lanes(d = l)` | `d` combines, nothing is read along it, and `l` is an axis of `thread`      |
//!
//! Loops of threads are not looked at: they stand around the operation, and may be others elsewhere.

use mdh_algebra::computation::{Buffer, Combine, Computation, Dimension};
use mdh_algebra::mapping::axis_number;
use mdh_algebra::operator::{Builtin, Operator};
use mdh_schedule::asm::MATRIX;
use mdh_schedule::matrix;
use melior::ir::operation::OperationLike;

use crate::ir::{self, Errors, Op, Val};
use crate::ops;
use crate::parts::Parts;
use crate::schedule;

/// The layer whose axes lanes are of.
const THREAD: &str = "thread";

/// Finds what threads cannot do of a computation.
pub(crate) fn errors(op: Op, parts: &Parts, computation: Option<&Computation>) -> Errors {
    let mut errors = names(parts);
    let Some(computation) = computation.filter(|_| errors.is_empty()) else {
        return errors;
    };
    if parts.threads.asynchronous {
        errors.extend(copy(op, computation));
    }
    if let Some(pair) = &parts.threads.matrix {
        errors.extend(product(op, pair, computation));
    }
    if let Some([lanes, _]) = &parts.threads.lanes {
        errors.extend(combination(lanes, computation));
    }
    errors
}

/// Checks that dimensions and levels are there.
fn names(parts: &Parts) -> Errors {
    let mut errors = Errors::new();
    for name in parts.threads.dimensions() {
        if !parts.dim_names().contains(&name) {
            errors.push(format!(
                "is shared out to threads by the dimension '{name}', which it has not: expected one \
                 of {}",
                parts.dim_names().join(", ")
            ));
        }
    }
    match &parts.threads.matrix {
        Some([rows, columns]) if rows == columns => errors.push(format!(
            "has '{rows}' as the rows and the columns of a matrix: expected two dimensions"
        )),
        _ => {}
    }
    match &parts.threads.lanes {
        Some([_, level]) if !is_axis(level) => errors.push(format!(
            "combines what threads of the level '{level}' have: expected '{THREAD}' and its axis, such \
             as {THREAD}.x"
        )),
        _ => {}
    }
    errors
}

/// Returns whether a text is an axis of the threads of a warp, `thread.x`.
fn is_axis(text: &str) -> bool {
    let axis = text.rsplit_once('.');
    axis.is_some_and(|(layer, axis)| layer == THREAD && axis_number(axis).is_some())
}

fn find<'a>(computation: &'a Computation, name: &str) -> Option<&'a Dimension> {
    let mut dimensions = computation.dimensions.iter();
    dimensions.find(|dimension| dimension.name == name)
}

/// The word for how a dimension combines.
fn written(combine: Combine) -> &'static str {
    match combine {
        Combine::Cc => "cc",
        Combine::Pw(_) => "pw",
        Combine::Ps(_) => "ps",
    }
}

/// Checks that what is copied asynchronously arrives as it is.
fn copy(op: Op, computation: &Computation) -> Option<String> {
    let mut dimensions = computation.dimensions.iter();
    let combines = dimensions.find(|dimension| dimension.combine != Combine::Cc);
    let count = |buffers: &[Buffer]| buffers.iter().map(|b| b.accesses.len()).sum::<usize>();
    let moved = count(&computation.inputs).max(count(&computation.outputs));
    let what = if let Some(dimension) = combines {
        let combine = written(dimension.combine);
        format!(
            "combines by {combine} in the dimension '{}'",
            dimension.name
        )
    } else if !is_copy(op) {
        "computes what it stores".into()
    } else if moved != 1 {
        format!("moves {} of a point", ir::count(moved, "element"))
    } else {
        return None;
    };
    Some(format!(
        "is 'asynchronous', but {what}: expected a copy, md_hom(id, (cc, ..)) of one input to one \
         output, or no 'asynchronous'"
    ))
}

/// The values that a computation's function yields.
fn yielded<'c>(op: Op<'c>) -> Vec<Val<'c>> {
    let block = ir::only_block(ir::region(op, 0));
    let end = block.and_then(ir::last_of);
    end.map_or(Vec::new(), |end| end.operands().map(ir::value).collect())
}

fn is_read(value: Val) -> bool {
    ir::block_argument(value).is_some()
}

/// Returns whether a value is an element that is read, perhaps converted by one of these.
fn is_element(value: Val, conversions: &[&str]) -> bool {
    let conversion = ir::defining_op(value).filter(|op| conversions.contains(&ir::name_of(*op)));
    let converted = conversion.and_then(|op| ir::operand(op, 0));
    is_read(value) || converted.is_some_and(is_read)
}

/// Returns whether a computation's function gives what is read, which may be widened on the way.
fn is_copy(op: Op) -> bool {
    let widening = [ops::arith::EXTF, ops::arith::EXTSI, ops::arith::EXTUI];
    yielded(op)
        .iter()
        .all(|value| is_element(*value, &widening))
}

/// Returns whether a computation's function is the product of two elements, perhaps widened ones.
pub fn is_product(op: Op) -> bool {
    let values = yielded(op);
    let [value] = values[..] else {
        return false;
    };
    let is_factor = |value: Val| is_element(value, &[ops::arith::EXTF]);
    let multiply = ir::defining_op(value).filter(|op| ir::name_of(*op) == ops::arith::MULF);
    multiply.is_some_and(|op| (0..2).all(|n| ir::operand(op, n).is_some_and(is_factor)))
}

/// Checks that a warp can compute it as a product of matrices.
fn product(op: Op, [rows, columns]: &[String; 2], computation: &Computation) -> Errors {
    let mut errors = Errors::new();
    for (what, name) in [("rows", rows), ("columns", columns)] {
        let combine = find(computation, name).map(|dimension| dimension.combine);
        if let Some(combine) = combine.filter(|combine| *combine != Combine::Cc) {
            errors.push(format!(
                "has '{name}' as the {what} of a matrix, but combines by {} in it: expected a \
                 dimension that is kept (cc)",
                written(combine)
            ));
        }
    }
    let is_summed = |combine: Combine| match combine {
        Combine::Cc => true,
        Combine::Ps(_) => false,
        Combine::Pw(n) => {
            matches!(&computation.operators[n], Operator::Builtin(builtins) if builtins[..] == [Builtin::Addf])
        }
    };
    let mut dimensions = computation.dimensions.iter();
    if let Some(other) = dimensions.find(|dimension| !is_summed(dimension.combine)) {
        errors.push(format!(
            "is a product of matrices, but combines by {} of something else than addf in the \
             dimension '{}': expected pw(addf)",
            written(other.combine),
            other.name
        ));
    }
    if !is_product(op) {
        errors.push(
            "is a product of matrices, but its function is none of two elements: expected \
             arith.mulf of two that are read, or of an arith.extf of each"
                .into(),
        );
    }
    if !errors.is_empty() {
        return errors;
    }
    let number = |name: &String| {
        let mut dimensions = computation.dimensions.iter();
        dimensions.position(|dimension| dimension.name == *name)
    };
    if let (Some(r), Some(c)) = (number(rows), number(columns))
        && !matrix::is_product(computation, [r, c])
    {
        errors.push(format!(
            "has '{rows}' and '{columns}' as the rows and columns of a matrix: expected one input \
             that is read along the first of them only, and another along the second only"
        ));
    }
    errors.extend(fragment(op, [rows, columns]));
    errors
}

/// The schedule's instruction keeps the same two dimensions.
fn fragment(op: Op, matrix: [&String; 2]) -> Option<String> {
    let plan = schedule::read(op).ok().flatten()?;
    let layer = plan.layers.iter().find(|layer| layer.name == MATRIX)?;
    let missing = matrix
        .into_iter()
        .find(|name| !layer.parts.contains_key(*name))?;
    let parts: Vec<&str> = layer.parts.keys().map(String::as_str).collect();
    Some(format!(
        "has '{missing}' as the rows or columns of a matrix, of which '{MATRIX}' in its schedule has no \
         parts: expected two of {}",
        parts.join(", ")
    ))
}

/// Checks that what is combined is what threads have, one each.
fn combination(lanes: &str, computation: &Computation) -> Errors {
    let mut errors = Errors::new();
    let mut dimensions = computation.dimensions.iter();
    let Some(number) = dimensions.position(|dimension| dimension.name == lanes) else {
        return errors;
    };
    let combine = computation.dimensions[number].combine;
    if !combine.is_pw() {
        errors.push(format!(
            "has threads as the points of '{lanes}', in which it combines by {}: expected pw, of what \
             each of them has",
            written(combine)
        ));
    }
    let mut accesses = computation.inputs.iter().flat_map(|input| {
        input
            .accesses
            .iter()
            .map(move |access| (&input.name, &access.map))
    });
    let along = accesses.find(|(_, map)| map.iter().any(|e| e.dims().contains(&number)));
    if let Some((input, _)) = along {
        errors.push(format!(
            "has threads as the points of '{lanes}', but reads input '{input}' along it: expected \
             memory of each thread, which all of them read alike"
        ));
    }
    errors
}
