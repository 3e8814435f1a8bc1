//! `mdh-to-triple`: every `mdh.compute` becomes `out_view . hom . inp_view`. It is in no pipeline.
//!
//! ```mlir
//! func.func @product(%v: tensor<8xf32>, %init: tensor<f32>) -> tensor<f32> {
//!   %w = mdh.compute (k = 8)
//!     out_view(w = %init[] : tensor<f32>)
//!     md_hom(id, (pw(mul)))
//!     inp_view(v = %v[k] : tensor<8xf32>)
//!     combine mul associative (%a: f32, %b: f32) {
//!       %c = arith.mulf %a, %b : f32
//!       mdh.yield %c : f32
//!     }
//!   return %w : tensor<f32>
//! }
//! // becomes
//! mdh.combine private @mul associative (%a: f32, %b: f32) {
//!   %c = arith.mulf %a, %b : f32
//!   mdh.yield %c : f32
//! }
//! func.func @product(%v: tensor<8xf32>, %init: tensor<f32>) -> tensor<f32> {
//!   %mda = mdh.inp_view (k = 8) (v = %v[k] : tensor<8xf32>) : !mdh.mda<8, f32>
//!   %hom = mdh.hom(id, (pw(@mul))) %mda : !mdh.mda<8, f32> -> !mdh.mda<1, f32>
//!   %w = mdh.out_view (k) %hom -> (w = %init[] : tensor<f32>) : !mdh.mda<1, f32>
//!   return %w : tensor<f32>
//! }
//! ```
//!
//! It undoes `mdh-form-compute`: forming its result gives the same `mdh.compute`. An operator's
//! region becomes a private `mdh.combine` of the label's name next to the function; one that is there
//! already and says the same is used instead, and a name that is taken otherwise is numbered.

use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::parts::{CombinePart, Operators, Parts, Threads, combine_part};
use mdh_dialect::pass::{self, Options, Pass};
use mdh_dialect::{read, schedule, translate, types, write};
use melior::ir::attribute::{FlatSymbolRefAttribute, StringAttribute};
use melior::ir::operation::{Operation, OperationBuilder, OperationLike, OperationPrintingFlags};
use melior::ir::{Attribute, Identifier, Region, Type, ValueLike};
use mlir_sys::*;

use crate::support::builder::Builder;
use crate::support::names;
use crate::support::region;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-to-triple",
    description: "print every mdh.compute as out_view . hom . inp_view",
    operation: ops::builtin::MODULE,
    options: &[],
    run,
};

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    pass::each(module, ops::mdh::COMPUTE, rewrite)
}

fn rewrite(compute: Op) -> Result<(), Errors> {
    let parts = read::compute(compute)?;
    let wordless = match (parts.in_place, parts.threads != Threads::default()) {
        (_, true) => Some("what threads do of it"),
        (true, _) => Some("that it runs in place"),
        _ => None,
    };
    if let Some(what) = wordless {
        return Err(vec![format!(
            "says {what}, for which a triple has no words: expected a computation before mdh-tile"
        )]);
    }
    let mut builder = Builder::before(compute);
    let context = builder.context;
    let combine = combine(&mut builder, compute, &parts)?;

    let shape: Vec<i64> = parts.dims.iter().map(translate::point_count).collect();
    let mda = write::mda_type(context, &shape, &tuple(&parts, context));
    let view = builder.insert(write::inp_view(context, builder.location, &parts, mda));

    let scalar = region::take(compute, 0);
    let results: Vec<Type> = region::yields(region::block(&scalar))
        .iter()
        .map(|v| v.r#type())
        .collect();
    let is_pw = |d: usize| ir::is_pw(combine[d]);
    let shape: Vec<i64> = shape
        .into_iter()
        .enumerate()
        .map(|(d, s)| if is_pw(d) { 1 } else { s })
        .collect();
    let mda = write::mda_type(context, &shape, &results);
    let hom = hom(&mut builder, result(view), &combine, mda, scalar);

    schedule::copy(compute, hom);

    let stores = write::out_view(context, builder.location, &parts, result(hom));
    let stores = builder.insert(stores);
    region::copy_attributes(compute, stores);
    for (old, new) in compute.results().zip(stores.results()) {
        region::replace_all_uses(ir::value(old), ir::value(new));
    }
    region::erase(compute);
    Ok(())
}

fn result<'c>(op: Op<'c>) -> Val<'c> {
    let result = op
        .result(0)
        .unwrap_or_else(|error| panic!("an MDA: {error}"));
    ir::value(result)
}

/// The types of what the inputs' accesses read.
fn tuple<'c>(parts: &Parts<'c>, context: &'c melior::Context) -> Vec<Type<'c>> {
    let mut tuple = Vec::new();
    for buffer in &parts.inputs {
        let element = types::buffer_type(buffer.value.r#type()).map(|t| t.element);
        let element = element.map(|e| types::mlir_type(context, e));
        tuple.extend(buffer.accesses.iter().filter_map(|_| element));
    }
    tuple
}

fn hom<'c>(
    builder: &mut Builder<'c>,
    source: Val<'c>,
    combine: &[Attribute<'c>],
    result: Type<'c>,
    scalar: Region<'c>,
) -> Op<'c> {
    let array = melior::ir::attribute::ArrayAttribute::new(builder.context, combine);
    let hom = OperationBuilder::new(ops::mdh::HOM, builder.location)
        .add_operands(&[source])
        .add_attributes(&[(Identifier::new(builder.context, "combine"), array.into())])
        .add_results(&[result])
        .add_regions_vec(vec![scalar])
        .build();
    builder.insert(hom.unwrap_or_else(|error| panic!("mdh.hom: {error}")))
}

/// The combine operators with symbols for labels.
fn combine<'c>(
    builder: &mut Builder<'c>,
    compute: Op<'c>,
    parts: &Parts<'c>,
) -> Result<Vec<Attribute<'c>>, Errors> {
    let mut combine = parts.combine.clone();
    let mut symbol: Option<Attribute> = None;
    for attribute in &mut combine {
        let CombinePart::Fold(_, Operators::Label(label)) = combine_part(*attribute)? else {
            continue;
        };
        let symbol = *symbol.get_or_insert_with(|| {
            let name = operator(compute, &label, parts);
            FlatSymbolRefAttribute::new(builder.context, &name).into()
        });
        let text = format!("#{}<{symbol}>", ir::class_of(*attribute).0);
        *attribute = Attribute::parse(builder.context, &text)
            .unwrap_or_else(|| panic!("{text} is a combine operator"));
    }
    Ok(combine)
}

/// The symbol of an `mdh.combine` with the operator of an `mdh.compute`, made if there is none.
fn operator(compute: Op, label: &str, parts: &Parts) -> String {
    let operator = combine_op(compute, label, parts);
    // SAFETY: the operation is new.
    let operator = unsafe { ir::op_from_raw(operator.into_raw()) };
    let text = text(operator);
    // A name is fine where nothing has it, or what has it says the same.
    let name = names::fresh(label, |name| {
        ir::lookup_symbol(compute, name).is_some_and(|found| !says(found, label, &text))
    });
    let exists = ir::lookup_symbol(compute, &name).is_some();
    // SAFETY: the operation is in no block until it is inserted, before an operation of a table.
    unsafe {
        if exists {
            mlirOperationDestroy(operator.to_raw());
        } else {
            let attribute = StringAttribute::new(ir::context_of(compute), &name).into();
            ir::set_attribute(operator, "sym_name", attribute);
            let private = StringAttribute::new(ir::context_of(compute), "private").into();
            ir::set_attribute(operator, "sym_visibility", private);
            let before = child_of_table(compute);
            mlirBlockInsertOwnedOperationBefore(
                mlirOperationGetBlock(before.to_raw()),
                before.to_raw(),
                operator.to_raw(),
            );
        }
    }
    name
}

/// A new `mdh.combine`.
fn combine_op<'c>(compute: Op<'c>, name: &str, parts: &Parts<'c>) -> Operation<'c> {
    let context = ir::context_of(compute);
    let named = |name: &str, value: Attribute<'c>| (Identifier::new(context, name), value);
    let mut attributes = vec![named(
        "sym_name",
        StringAttribute::new(context, name).into(),
    )];
    let laws = &parts.laws;
    for (law, declared) in [
        ("commutative", laws.commutative),
        ("associative", laws.associative),
    ] {
        attributes.extend(declared.then(|| named(law, Attribute::unit(context))));
    }
    if let Some(neutral) = &laws.neutral {
        let values = melior::ir::attribute::ArrayAttribute::new(context, neutral);
        attributes.push(named("neutral", values.into()));
    }
    OperationBuilder::new(ops::mdh::COMBINE, compute.location())
        .add_attributes(&attributes)
        .add_regions_vec(vec![region::copy(compute, 1)])
        .build()
        .unwrap_or_else(|error| panic!("mdh.combine: {error}"))
}

/// Returns whether an operation is an `mdh.combine` that but for its name and visibility prints as this.
fn says(found: Op, name: &str, expected: &str) -> bool {
    if ir::name_of(found) != ops::mdh::COMBINE {
        return false;
    }
    // SAFETY: the clone is new and destroyed here.
    unsafe {
        let clone = ir::op_from_raw(mlirOperationClone(found.to_raw()));
        let attribute = StringAttribute::new(ir::context_of(found), name).into();
        ir::set_attribute(clone, "sym_name", attribute);
        mlirOperationRemoveAttributeByName(
            clone.to_raw(),
            mdh_dialect::ffi::string_ref("sym_visibility"),
        );
        let same = text(clone) == expected;
        mlirOperationDestroy(clone.to_raw());
        same
    }
}

fn text(op: Op) -> String {
    let flags = OperationPrintingFlags::new()
        .print_generic_operation_form()
        .use_local_scope();
    op.to_string_with_flags(flags).unwrap_or_default()
}

/// The ancestor that stands directly in the nearest symbol table.
fn child_of_table<'c>(op: Op<'c>) -> Op<'c> {
    let mut child = op;
    loop {
        // SAFETY: operations are valid; a table lives no longer than the question.
        unsafe {
            let parent = mlirOperationGetParentOperation(child.to_raw());
            if parent.ptr.is_null() {
                return child;
            }
            let table = mlirSymbolTableCreate(parent);
            if !table.ptr.is_null() {
                mlirSymbolTableDestroy(table);
                return child;
            }
            child = ir::op_from_raw(parent);
        }
    }
}
