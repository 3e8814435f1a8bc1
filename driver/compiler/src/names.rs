//! Names that a program's author gives the arguments and results of functions.
//!
//! To be asked before anything is rewritten: computations number their buffers' names where two
//! would be the same, and calls bring in other functions' names.

use std::collections::BTreeMap;

use melior::ir::operation::OperationLike;
use melior::ir::{RegionLike, Value, ValueLike};
use mlir_sys::{
    mlirIdentifierStr, mlirLocationIsAName, mlirLocationNameGetName, mlirOpResultGetResultNumber,
    mlirValueGetLocation,
};

use mdh_dialect::code::arguments;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::parts::Parts;
use mdh_dialect::read;

use crate::functions::functions_of;
use crate::functions::symbol_name;

/// The names of a function's arguments and results, where they have some.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Names {
    /// Of each argument, what the first view of it calls it, else its SSA name.
    pub arguments: Vec<Option<String>>,
    /// Of each argument, its SSA name.
    pub ssa: Vec<Option<String>>,
    /// Of each result, the output that it comes from.
    pub results: Vec<Option<String>>,
}

/// The names in each function of a module as it was parsed.
pub fn written(module: Op) -> BTreeMap<String, Names> {
    let functions = functions_of(module).into_iter();
    functions
        .map(|function| (symbol_name(function).to_owned(), of_function(function)))
        .collect()
}

fn of_function(function: Op) -> Names {
    let Some(block) = ir::region(function, 0).first_block() else {
        return Names::default();
    };
    let views = ir::find_all(function, &["mdh.inp_view", "mdh.out_view", "mdh.compute"]);
    let views: Vec<Parts> = views.into_iter().filter_map(parts).collect();
    let argument = |value| in_view(value, &views).or_else(|| ssa_name(value));
    Names {
        arguments: arguments(block).into_iter().map(argument).collect(),
        ssa: arguments(block).into_iter().map(ssa_name).collect(),
        results: returned(function).into_iter().map(of_output).collect(),
    }
}

fn parts(op: Op) -> Option<Parts> {
    match ir::name_of(op) {
        "mdh.inp_view" => read::inp_view(op).ok(),
        "mdh.out_view" => read::out_view(op).ok().map(|(_, parts)| parts),
        "mdh.compute" => read::compute(op).ok(),
        _ => None,
    }
}

/// Returns a value's name in the first of the views that have it.
pub fn in_view(value: Val, views: &[Parts]) -> Option<String> {
    let mut buffers = views.iter().flat_map(Parts::buffers);
    let buffer = buffers.find(|buffer| buffer.value == value)?;
    Some(buffer.name.clone())
}

/// The name of the output that a result comes from.
pub fn of_output(value: Val) -> Option<String> {
    let parts = parts(ir::defining_op(value)?)?;
    // SAFETY: the value is a result of the operation.
    let number = unsafe { mlirOpResultGetResultNumber(value.to_raw()) };
    let mut destinations = parts.destinations();
    let buffer = destinations.nth(usize::try_from(number).ok()?)?;
    Some(buffer.name.clone())
}

/// Returns the operands of a function's first return.
pub fn returned<'c>(function: Op<'c>) -> Vec<Val<'c>> {
    let returns = ir::find_all(function, &["func.return"]);
    returns.first().map_or(Vec::new(), |op| {
        op.operands().map(|v: Value| ir::value(v)).collect()
    })
}

/// The name that the text has for an argument, if it is a word and no number.
fn ssa_name(value: Val) -> Option<String> {
    // SAFETY: the value is valid; its location's kind is checked before the name is read.
    let name = unsafe {
        let location = mlirValueGetLocation(value.to_raw());
        if !mlirLocationIsAName(location) {
            return None;
        }
        ir::string(mlirIdentifierStr(mlirLocationNameGetName(location)))
    };
    let is_word = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    is_word.then(|| name.to_owned())
}
