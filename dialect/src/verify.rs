//! The verifiers: structure here, the rules of a computation in the algebra.
//!
//! | operation      | what is checked                                                          |
//! |----------------|--------------------------------------------------------------------------|
//! | `mdh.combine`  | its region maps two tuples to one; the neutral element fits; scalar code  |
//! | `mdh.inp_view` | counts, the domain, ranges read, the type of the result                   |
//! | `mdh.hom`      | one combine operator a dimension, the operators' rules, types, scalar code|
//! | `mdh.out_view` | the whole triple: injectivity, ranges written, stores, carries, memory    |
//! | `mdh.compute`  | counts, then every rule of [`mdh_algebra::rules`]; scalar code; threads   |
//! | `mdh.index`    | the dimension exists                                                     |
//! | `mdh.layout.*` | one component for each dimension, one value for each symbol of the layout |
//! | `mdh.layout.view` | memory and view have the same elements                               |
//!
//! A transform operation's attributes are the fields of an edit.
//! Work of threads keeps the rules of [`crate::threads`].
//! A schedule keeps every constraint of [`mdh_schedule`] with its `mdh.compute`.
//! Discardable attributes of the dialect are verified by [`crate::marks`].
//!
//! All findings are reported, none hides behind the first. What scalar code calls is looked at
//! where the whole module is ([`crate::scalar_code::calls`]).

use crate::ops;
use mdh_algebra::computation::Computation;
use mdh_algebra::operator::Operator;
use mdh_algebra::rules;
use mdh_algebra::scalar::ScalarType;
use melior::ir::attribute::IntegerAttribute;
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, BlockLike, Type, ValueLike};

use crate::in_place;
use crate::ir::{self, Errors, Op, count};
use crate::layout;
use crate::parts::{BufferPart, CombinePart, Operators, Parts, combine_part};
use crate::pass::bug;
use crate::read;
use crate::scalar_code::{self, Finding};
use crate::schedule;
use crate::stage;
use crate::threads;
use crate::transform;
use crate::translate::{self, Depth};
use crate::triple;
use crate::types::{self, BufferKind};

type Verifier = fn(Op) -> Result<(), Errors>;

/// The verifiers: one row for each operation, which a test compares with the dialect's definition.
const VERIFIERS: &[(&str, Verifier)] = &[
    (ops::mdh::COMBINE, combine),
    (ops::mdh::COMPUTE, compute),
    (ops::mdh::HOM, hom),
    (ops::mdh::INDEX, index),
    (ops::mdh::INP_VIEW, inp_view),
    (ops::mdh::LAYOUT_APPLY, layout::errors),
    (ops::mdh::LAYOUT_INV, layout::errors),
    (ops::mdh::LAYOUT_VIEW, layout::view_errors),
    (ops::mdh::OUT_VIEW, out_view),
    // Its place and types are those of the operation around it, which asks for them.
    (ops::mdh::YIELD, |_| Ok(())),
];

/// Finds mistakes of an operation of the dialect; none if it is well formed.
pub fn errors(op: Op) -> Vec<Finding> {
    let name = ir::name_of(op);
    let checked = match VERIFIERS.iter().find(|(known, _)| *known == name) {
        Some((_, verifier)) => verifier(op),
        // Those without an edit of their name are refused.
        None if name.starts_with(transform::PREFIX) => match transform::errors(op) {
            errors if errors.is_empty() => Ok(()),
            errors => Err(errors),
        },
        None => Err(vec![bug(&format!("nothing verifies {name}"))]),
    };
    let findings = checked.err().unwrap_or_default().into_iter();
    let findings = findings.map(|message| Finding { op, message });
    findings.chain(scalar_code::check(op)).collect()
}

fn report(computation: &Computation) -> Result<(), Errors> {
    let findings: Errors = rules::check(computation)
        .into_iter()
        .map(|finding| finding.message)
        .collect();
    if findings.is_empty() {
        Ok(())
    } else {
        Err(findings)
    }
}

fn combine(op: Op) -> Result<(), Errors> {
    let name = ir::attribute(op, "sym_name").and_then(ir::text);
    let name = name.unwrap_or_default();
    let what = format!("the operator '{name}'");
    let laws = read::laws(op);
    let region = ir::region(op, 0);
    let Operator::User(operator) =
        translate::user_operator(region, name, &laws, Depth::Signatures)?
    else {
        return Ok(());
    };
    let (inputs, results) = (&operator.code.inputs, &operator.code.results);
    let arity = results.len();
    let mut errors = Errors::new();
    if arity == 0 {
        errors.push(format!(
            "{what} yields nothing: expected the combined tuple"
        ));
    } else if inputs.len() != 2 * arity
        || inputs[..arity] != results[..]
        || inputs[arity..] != results[..]
    {
        errors.push(format!(
            "{what} maps ({}) to ({}): expected the left tuple, then the right one, of the types \
             that it yields",
            names(inputs),
            names(results)
        ));
    }
    if let Some(neutral) = &operator.neutral {
        let types: Vec<ScalarType> = neutral.iter().map(|v| v.ty).collect();
        if types != *results {
            errors.push(format!(
                "{what} has a neutral element of types ({}), but the tuple has ({})",
                names(&types),
                names(results)
            ));
        }
    }
    errors.is_empty().then_some(()).ok_or(errors)
}

fn names(types: &[ScalarType]) -> String {
    types
        .iter()
        .map(|t| t.name())
        .collect::<Vec<_>>()
        .join(", ")
}

fn compute(op: Op) -> Result<(), Errors> {
    let parts = read::compute(op)?;
    let mut errors = operand_kinds(&parts);
    errors.extend(identifiers(&parts, &parts.dim_names()));
    let mut view = parts.clone();
    if parts.in_place {
        view.inputs.clear();
    }
    errors.extend(proof_of_nothing(&parts));
    errors.extend(shared_memory(&view, &parts, &parts.combine));
    errors.extend(result_types(op, &parts));
    errors.extend(unused_region(op, &parts));
    let computation = translate::compute(op, Depth::Signatures);
    errors.extend(threads::errors(op, &parts, computation.as_ref().ok()));
    match computation {
        Ok(computation) => {
            errors.extend(report(&computation).err().unwrap_or_default());
            errors.extend(schedule::findings(op, &computation));
        }
        Err(refused) => errors.extend(refused),
    }
    errors.is_empty().then_some(()).ok_or(errors)
}

/// A computation that is proved to run in place reads memory that it writes.
fn proof_of_nothing(parts: &Parts) -> Option<String> {
    let is_empty = parts.in_place && !parts.reads_what_it_writes();
    is_empty.then(|| {
        "is 'in_place', but no input is an output too: expected memory that it reads and writes, \
         or no 'in_place'"
            .into()
    })
}

/// An operator's region is there because a dimension combines by it.
fn unused_region(op: Op, parts: &Parts) -> Errors {
    let has_region = ir::combiner(op).is_some();
    let is_label = |c: &Attribute| {
        matches!(
            combine_part(*c),
            Ok(CombinePart::Fold(_, Operators::Label(_)))
        )
    };
    if !has_region || parts.combine.iter().any(is_label) {
        return Errors::new();
    }
    vec![
        "has the region of an operator that no dimension combines by: remove it, or give its \
         label to pw(...) or ps(...)"
            .into(),
    ]
}

/// The inputs and outputs of a triple are of one kind.
fn mixed_kinds(view: &Parts, stores: &Parts) -> Errors {
    let is =
        |b: &BufferPart, kind| types::buffer_type(b.value.r#type()).is_some_and(|t| t.kind == kind);
    let writes = |kind| stores.buffers().any(|b| is(b, kind));
    let (read, written) = if writes(BufferKind::MemRef) {
        (BufferKind::Tensor, "memrefs")
    } else if writes(BufferKind::Tensor) {
        (BufferKind::MemRef, "tensors")
    } else {
        return Errors::new();
    };
    let Some(input) = view.inputs.iter().find(|b| is(b, read)) else {
        return Errors::new();
    };
    vec![format!(
        "writes {written}, but its MDA reads '{}' of type {}: expected one kind for all buffers \
         of a computation; bufferize the tensors, or use bufferization.to_tensor on the memrefs",
        input.name,
        input.value.r#type()
    )]
}

/// Checks that memrefs that are written are neither read, but in place, nor written elsewhere, as
/// far as values show it.
fn shared_memory(view: &Parts, stores: &Parts, combine: &[Attribute]) -> Errors {
    let is_memref = |value: ir::Val| {
        types::buffer_type(value.r#type()).is_some_and(|t| t.kind == BufferKind::MemRef)
    };
    let buffers = in_place::Buffered::new(view, stores, combine);
    let stored = buffers.stored().into_iter();
    let stored: Vec<rules::Stored> = stored
        .filter(|(value, _)| is_memref(*value))
        .map(|(_, stored)| stored)
        .collect();
    let findings = rules::memory(&buffers.domain, &stored).into_iter();
    findings.map(|finding| finding.message).collect()
}

/// Destinations are buffers, and tensors and memrefs do not mix.
fn operand_kinds(parts: &Parts) -> Errors {
    let kind = |value: ir::Val| types::buffer_type(value.r#type()).map(|t| t.kind);
    let mut errors = Errors::new();
    for buffer in parts.destinations() {
        if kind(buffer.value) == Some(BufferKind::Scalar) {
            errors.push(format!(
                "output '{}' is a value of type {}: expected a tensor or memref to write into",
                buffer.name,
                buffer.value.r#type()
            ));
        }
    }
    let has = |k| parts.buffers().any(|b| kind(b.value) == Some(k));
    if has(BufferKind::Tensor) && has(BufferKind::MemRef) {
        errors.push(
            "mixes tensors and memrefs: expected one kind for all of its buffers; bufferize the \
             tensors, or use bufferization.to_tensor on the memrefs"
                .into(),
        );
    }
    errors
}

/// Checks that names are identifiers, and all differ.
fn identifiers(parts: &Parts, dims: &[&str]) -> Errors {
    let mut errors = Errors::new();
    let mut taken: Vec<&str> = Vec::new();
    let buffers = parts.buffers().map(|b| ("buffers", b.name.as_str()));
    for (what, name) in buffers.chain(dims.iter().map(|d| ("dimensions", *d))) {
        if taken.contains(&name) {
            errors.push(format!(
                "names two of its {what} '{name}': expected names that differ, since schedules \
                 and messages go by them"
            ));
        }
        taken.push(name);
        if !is_identifier(name) {
            errors.push(format!(
                "names one of its {what} '{name}': expected a letter or '_', then letters, \
                 digits, '_', '$' and '.', and none of the words '_', mod, floordiv, ceildiv and \
                 symbol"
            ));
        }
    }
    errors
}

/// Returns whether the custom assembly can write it and read it back.
pub fn is_identifier(name: &str) -> bool {
    let is_start = |c: char| c.is_ascii_alphabetic() || c == '_';
    let is_inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.');
    let is_taken = matches!(name, "_" | "mod" | "floordiv" | "ceildiv" | "symbol");
    name.starts_with(is_start) && name.chars().all(is_inside) && !is_taken
}

fn result_types(op: Op, parts: &Parts) -> Errors {
    let expected = crate::write::result_types(parts);
    let actual: Vec<Type> = op.results().map(|r| ir::value(r).r#type()).collect();
    if expected == actual {
        return Errors::new();
    }
    let text = |types: &[Type]| {
        types
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(", ")
    };
    vec![format!(
        "has results of types ({}): expected one for each tensor that it writes, ({})",
        text(&actual),
        text(&expected)
    )]
}

/// Checks the type of an MDA's component.
pub fn component(ty: Type) -> Option<String> {
    types::scalar_type(ty).is_none().then(|| {
        format!(
            "an !mdh.mda has a component of type {ty}: expected one of {}",
            ScalarType::names()
        )
    })
}

/// The index sets and components that an MDA's type must show.
fn mda_type(value: ir::Val, shape: &[i64], components: &[ScalarType]) -> Errors {
    let Some((sizes, types)) = ir::mda(value.r#type()) else {
        return vec![format!(
            "has type {} where an !mdh.mda is expected",
            value.r#type()
        )];
    };
    let types: Vec<_> = types.into_iter().map(types::scalar_type).collect();
    let expected: Vec<_> = components.iter().copied().map(Some).collect();
    if sizes == shape && types == expected {
        return Errors::new();
    }
    let context = ir::context_of_value(value);
    let components: Vec<_> = components
        .iter()
        .map(|t| types::mlir_type(context, *t))
        .collect();
    vec![format!(
        "has a result of type {}: expected {}",
        value.r#type(),
        crate::write::mda_type(context, shape, &components)
    )]
}

/// Only the triple's operations, in the same block, may use an MDA.
fn mda_uses(op: Op) -> Errors {
    let mut errors = Errors::new();
    for result in op.results() {
        for user in ir::users(ir::value(result)) {
            let near = match (user.block(), op.block()) {
                (Some(a), Some(b)) => a.to_raw().ptr == b.to_raw().ptr,
                _ => false,
            };
            if !near || !matches!(ir::name_of(user), ops::mdh::HOM | ops::mdh::OUT_VIEW) {
                errors.push(format!(
                    "has a result that '{}' uses: an MDA is an alias of buffers and is used by \
                     mdh.hom and mdh.out_view of the same block only; store it with mdh.out_view",
                    ir::name_of(user)
                ));
            }
        }
    }
    errors
}

fn inp_view(op: Op) -> Result<(), Errors> {
    let parts = read::inp_view(op)?;
    let computation = stage::of_inputs(&parts)?;
    let mut errors = report(&computation).err().unwrap_or_default();
    errors.extend(operand_kinds(&parts));
    errors.extend(identifiers(&parts, &parts.dim_names()));
    let shape: Vec<i64> = parts.dims.iter().map(translate::point_count).collect();
    errors.extend(mda_type(
        ir::value(op.result(0).map_err(missing)?),
        &shape,
        &computation.scalar.inputs,
    ));
    errors.extend(mda_uses(op));
    errors.is_empty().then_some(()).ok_or(errors)
}

fn missing(_: melior::Error) -> Errors {
    vec!["lacks an operand or result".into()]
}

fn hom(op: Op) -> Result<(), Errors> {
    let source = ir::value(op.operand(0).map_err(missing)?);
    triple::producer(op, source)?;
    let Some((shape, _)) = ir::mda(source.r#type()) else {
        return Err(vec![format!(
            "takes {}: expected an !mdh.mda",
            source.r#type()
        )]);
    };
    let combine = ir::array(op, "combine");
    if combine.len() != shape.len() {
        return Err(vec![format!(
            "has {} for an MDA of {}: expected one for each dimension",
            count(combine.len(), "combine operator"),
            count(shape.len(), "dimension")
        )]);
    }
    let computation = stage::of_hom(op, Depth::Signatures)?;
    let mut errors = report(&computation).err().unwrap_or_default();
    let result: Vec<i64> = computation
        .dimensions
        .iter()
        .zip(&shape)
        .map(|(dim, size)| if stage::is_pw(dim) { 1 } else { *size })
        .collect();
    let value = ir::value(op.result(0).map_err(missing)?);
    errors.extend(mda_type(value, &result, &computation.components));
    errors.extend(mda_uses(op));
    errors.is_empty().then_some(()).ok_or(errors)
}

fn out_view(op: Op) -> Result<(), Errors> {
    let chain = triple::triple(op)?;
    let (dims, parts) = read::out_view(op)?;
    let source = ir::value(op.operand(0).map_err(missing)?);
    let rank = ir::mda(source.r#type()).map_or(0, |(shape, _)| shape.len());
    if dims.len() != rank {
        return Err(vec![format!(
            "names {} of an MDA of {}: expected one name for each",
            count(dims.len(), "dimension"),
            count(rank, "dimension")
        )]);
    }
    let mut errors = operand_kinds(&parts);
    let dims: Vec<&str> = dims.iter().map(String::as_str).collect();
    errors.extend(identifiers(&parts, &dims));
    let view = read::inp_view(chain.inp_view)?;
    errors.extend(mixed_kinds(&view, &parts));
    let homs = chain.homs.iter();
    let combine: Vec<Attribute> = homs.flat_map(|hom| ir::array(*hom, "combine")).collect();
    errors.extend(shared_memory(&view, &parts, &combine));
    errors.extend(result_types(op, &parts));
    match stage::of_outputs(&chain, Depth::Signatures) {
        Ok(computation) => errors.extend(report(&computation).err().unwrap_or_default()),
        Err(refused) => errors.extend(refused),
    }
    errors.is_empty().then_some(()).ok_or(errors)
}

fn index(op: Op) -> Result<(), Errors> {
    let dim = ir::attribute(op, "dim")
        .and_then(|a| IntegerAttribute::try_from(a).ok())
        .map_or(-1, |a| a.value());
    let mut parent = op.parent_operation();
    while let Some(enclosing) = parent {
        let rank = match ir::name_of(enclosing) {
            ops::mdh::HOM | ops::mdh::COMPUTE => ir::array(enclosing, "combine").len() as i64,
            _ => {
                parent = enclosing.parent_operation();
                continue;
            }
        };
        if (0..rank).contains(&dim) {
            return Ok(());
        }
        return Err(vec![format!(
            "asks for the index in dimension {dim}, but the domain has {}: expected a number below",
            count(usize::try_from(rank).unwrap_or(0), "dimension")
        )]);
    }
    Err(vec![
        "stands outside of an mdh.hom and mdh.compute: only their scalar functions have a point"
            .into(),
    ])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const DEFINITION: &str = include_str!("../td/MdhOps.td");

    #[test]
    fn every_operation_has_a_name_and_a_verifier() {
        let defined = DEFINITION.split(": Mdh_Op<\"").skip(1);
        let defined = defined.map(|rest| rest.split('"').next().unwrap_or_default());
        let defined: BTreeSet<String> = defined.map(|name| format!("mdh.{name}")).collect();
        let owned = |names: &[&str]| names.iter().map(|name| name.to_string()).collect();
        let named: BTreeSet<String> = owned(ops::mdh::NAMES);
        assert_eq!(
            named, defined,
            "dialect/src/ops.rs has the definition's names"
        );
        let names: Vec<&str> = VERIFIERS.iter().map(|(name, _)| *name).collect();
        let verified: BTreeSet<String> = owned(&names);
        assert_eq!(verified, defined, "every operation has a row of VERIFIERS");
        assert_eq!(names.len(), defined.len(), "a row is there twice");
    }
}
