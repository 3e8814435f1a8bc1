//! The function that a command is about: its arguments and results, with names and roles.

use melior::ir::{Type, Value, ValueLike};
use mlir_sys::{
    mlirFunctionTypeGetNumResults, mlirFunctionTypeGetResult, mlirTypeAttrGetValue,
    mlirTypeIsAFunction,
};

use mdh_dialect::code::arguments;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::parts::Parts;
use mdh_dialect::read;
use mdh_dialect::types::{BufferKind, BufferType, buffer_type};

use crate::compile::symbol_name;
use crate::error::{Error, Result};

/// What a caller passes, or gets.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name: what the first view of it calls it, else `argN` or `resultN`.
    pub name: String,
    /// Its type.
    pub ty: BufferType,
    /// What it is for.
    pub role: Role,
}

impl Parameter {
    /// Whether a call leaves its result in this argument: a memref that is written.
    pub fn is_written(&self) -> bool {
        self.role == Role::Destination && self.ty.kind == BufferKind::MemRef
    }
}

/// What a function does with an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Read.
    Input,
    /// A tensor that results start from, or a memref that is written.
    Destination,
}

/// A function of a program.
pub struct Entry<'c> {
    /// Its operation.
    pub op: Op<'c>,
    /// Its name.
    pub name: String,
    /// Its arguments in order.
    pub arguments: Vec<Parameter>,
    /// Its results in order.
    pub results: Vec<Parameter>,
}

/// Finds a function: the one asked for, else the only one, else the one named like the file.
///
/// `module` holds `mdh.compute` operations only, no triples.
pub fn find<'c>(module: Op<'c>, wanted: Option<&str>, stem: &str) -> Result<Entry<'c>> {
    let functions: Vec<Op> = ir::find_all(module, &["func.func"])
        .into_iter()
        .filter(|f| ir::only_block(ir::region(*f, 0)).is_some())
        .collect();
    let names: Vec<&str> = functions.iter().map(|f| symbol_name(*f)).collect();
    let there_are = || match names.is_empty() {
        true => "there is none with a body of one block".to_string(),
        false => format!("there are: {}", names.join(", ")),
    };
    let index = match wanted {
        Some(name) => names.iter().position(|n| *n == name).ok_or_else(|| {
            Error::input(format!("no function '{name}' to run")).help(there_are())
        })?,
        None if names.len() == 1 => 0,
        None => names.iter().position(|n| *n == stem).ok_or_else(|| {
            Error::input("which function is to run?")
                .help(format!("name it with --entry NAME; {}", there_are()))
        })?,
    };
    describe(functions[index])
}

fn describe(op: Op) -> Result<Entry> {
    let name = symbol_name(op).to_string();
    let Some(block) = ir::only_block(ir::region(op, 0)) else {
        return Err(Error::bug(format!(
            "'{name}' was taken for a function with a body"
        )));
    };
    let views: Vec<Parts> = ir::find_all(op, &["mdh.compute"])
        .into_iter()
        .filter_map(|compute| read::compute(compute).ok())
        .collect();
    let mut taken = Vec::new();
    let mut parameters = Vec::new();
    for (i, argument) in arguments(block).into_iter().enumerate() {
        let ty = parameter_type(&name, "argument", i, argument.r#type())?;
        let role = role(argument, &ty, &views);
        let preferred = view_name(argument, &views);
        let name = unique(preferred.unwrap_or_else(|| format!("arg{i}")), &mut taken);
        parameters.push(Parameter { name, ty, role });
    }
    let returned = returned(block);
    let mut results = Vec::new();
    for (i, ty) in result_types(op).into_iter().enumerate() {
        let ty = parameter_type(&name, "result", i, ty)?;
        let preferred = returned.get(i).and_then(|value| stored_name(*value));
        let fallback = || match i {
            0 => "result".to_string(),
            _ => format!("result{i}"),
        };
        let name = unique(preferred.unwrap_or_else(fallback), &mut taken);
        results.push(Parameter {
            name,
            ty,
            role: Role::Destination,
        });
    }
    Ok(Entry {
        op,
        name,
        arguments: parameters,
        results,
    })
}

fn parameter_type(function: &str, what: &str, number: usize, ty: Type) -> Result<BufferType> {
    buffer_type(ty).ok_or_else(|| {
        Error::input(format!(
            "{what} {number} of '{function}' has type {ty}: expected a ranked tensor or memref, \
             or a scalar, of i1, i8, i16, i32, i64, index, f16, bf16, f32 or f64"
        ))
    })
}

/// A memref that is written, or a tensor that is used as a destination only.
fn role(argument: Val, ty: &BufferType, views: &[Parts]) -> Role {
    let written = views
        .iter()
        .any(|parts| parts.destinations().any(|b| b.value == argument));
    let read = views.iter().any(|parts| {
        let incoming = parts.carries.iter().flat_map(|carry| &carry.incoming);
        parts
            .inputs
            .iter()
            .chain(incoming)
            .any(|b| b.value == argument)
    });
    match ty.kind {
        BufferKind::MemRef if written => Role::Destination,
        BufferKind::Tensor if written && !read => Role::Destination,
        _ => Role::Input,
    }
}

fn view_name(value: Val, views: &[Parts]) -> Option<String> {
    let buffers = views.iter().flat_map(Parts::buffers);
    buffers
        .into_iter()
        .find(|buffer| buffer.value == value)
        .map(|buffer| buffer.name.clone())
}

/// The name of the output that a result comes from.
fn stored_name(value: Val) -> Option<String> {
    let op = ir::defining_op(value).filter(|op| ir::name_of(*op) == "mdh.compute")?;
    let parts = read::compute(op).ok()?;
    // SAFETY: the value is a result of the operation.
    let number = unsafe { mlir_sys::mlirOpResultGetResultNumber(value.to_raw()) };
    let name = parts
        .destinations()
        .nth(usize::try_from(number).ok()?)
        .map(|b| b.name.clone());
    name
}

fn unique(name: String, taken: &mut Vec<String>) -> String {
    let mut candidate = name.clone();
    let mut number = 1;
    while taken.contains(&candidate) {
        candidate = format!("{name}_{number}");
        number += 1;
    }
    taken.push(candidate.clone());
    candidate
}

fn returned<'c>(block: melior::ir::BlockRef<'c, 'c>) -> Vec<Val<'c>> {
    use melior::ir::operation::OperationLike;
    let last = ir::ops_of(block).last().copied();
    last.map_or(Vec::new(), |op| {
        op.operands().map(|v: Value| ir::value(v)).collect()
    })
}

fn result_types(op: Op) -> Vec<Type> {
    use melior::ir::AttributeLike;
    let Some(attribute) = ir::attribute(op, "function_type") else {
        return Vec::new();
    };
    // SAFETY: a function's type attribute holds a function type.
    unsafe {
        let ty = mlirTypeAttrGetValue(attribute.to_raw());
        if !mlirTypeIsAFunction(ty) {
            return Vec::new();
        }
        (0..mlirFunctionTypeGetNumResults(ty))
            .map(|i| Type::from_raw(mlirFunctionTypeGetResult(ty, i)))
            .collect()
    }
}
