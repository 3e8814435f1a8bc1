//! The function that a command is about: its arguments and results, with names and roles.

use melior::Context;
use melior::ir::Module;
use melior::ir::operation::OperationLike;
use melior::ir::{Location, RegionLike, Type, ValueLike};
use mlir_sys::{
    mlirFunctionTypeGetNumResults, mlirFunctionTypeGetResult, mlirTypeAttrGetValue,
    mlirTypeIsAFunction, mlirValueGetLocation,
};

use mdh_dialect::code::arguments;
use mdh_dialect::ffi::{mlirFuncSetArgAttr, string_ref};
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::memory;
use mdh_dialect::ops;
use mdh_dialect::parts::Parts;
use mdh_dialect::read;
use mdh_dialect::types::{BufferKind, BufferType, buffer_type};
use mdh_jit::descriptor::byte_size;
use mdh_passes::linalg_destinations;
use mdh_passes::support::extents::Extent;
use mdh_passes::support::overwritten::{self, Written, is_all_written};
use mdh_passes::support::versions;

use crate::carried;
use crate::compile;
use crate::diagnostics::error_at;
use crate::error::{Error, Result};
use crate::functions::{function_of, functions_of, has_body, symbol_name};
use crate::layout::StridedLayout;
use crate::names::{self, Names};
use crate::sizes::{self, Sizes};

/// A parameter or a result, as the caller sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name: what the first view of it calls it, else its SSA name, else what views call what a
    /// loop makes of it, else `argN` or `resultN`.
    pub name: String,
    /// Name of the argument in the signature, where it is another one: a second name.
    pub alias: Option<String>,
    /// Its type.
    pub ty: BufferType,
    /// Strides of its elements, if it is a memref.
    pub layout: Option<StridedLayout>,
    /// Its role.
    pub role: Role,
}

impl Parameter {
    /// Returns whether a call leaves its result in this argument: a memref that is written.
    pub fn is_written(&self) -> bool {
        self.is_changed() && self.ty.kind == BufferKind::MemRef
    }

    /// Returns whether its contents before a call matter.
    pub fn is_read(&self) -> bool {
        self.role != Role::Destination
    }

    /// Returns whether a call may change it.
    pub fn is_changed(&self) -> bool {
        self.role != Role::Input
    }
}

/// Finds the parameter of a name: its own name, else its second one.
pub fn position(parameters: &[&Parameter], name: &str) -> Option<usize> {
    let first = parameters.iter().position(|p| p.name == name);
    let second = || {
        let mut aliases = parameters.iter().map(|p| p.alias.as_deref());
        aliases.position(|alias| alias == Some(name))
    };
    first.or_else(second)
}

/// All names of some parameters, for messages: `x (or arg), y`.
pub fn names(parameters: &[&Parameter]) -> String {
    let both = |p: &&Parameter| match &p.alias {
        Some(alias) => format!("{} (or {alias})", p.name),
        None => p.name.clone(),
    };
    let texts: Vec<String> = parameters.iter().map(both).collect();
    texts.join(", ")
}

/// Use of an argument by a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Read; also a tensor that a result starts from, of which some elements stay.
    Input,
    /// A tensor that results start from, or a memref that is written before anything reads it, of which no
    /// element stays as it is, as far as that is known.
    Destination,
    /// A memref that is read and then written, or of which some elements stay.
    Updated,
}

/// A function of a program.
pub struct Entry<'c> {
    /// Its operation.
    pub op: Op<'c>,
    /// The function as it is written, with linalg that `op` has as computations: its definition.
    pub definition: Op<'c>,
    /// The function as its sizes are known of it: with what stays linalg in `op` as computations, as far
    /// as these are.
    pub sized: Op<'c>,
    /// The loops of linalg that stays in `sized`.
    pub loops: Vec<(Op<'c>, Parts<'c>)>,
    /// Its name.
    pub name: String,
    /// Its arguments in order.
    pub arguments: Vec<Parameter>,
    /// Its results in order.
    pub results: Vec<Parameter>,
}

impl<'c> Entry<'c> {
    /// The views by which sizes are known, and the operation of each.
    pub fn views(&self) -> Vec<(Op<'c>, Parts<'c>)> {
        let computed = ir::find_all(self.sized, &[ops::mdh::COMPUTE]).into_iter();
        let computed = computed.filter_map(|op| Some((op, read::compute(op).ok()?)));
        computed.chain(self.loops.iter().cloned()).collect()
    }
}

/// Finds and describes the function of that name, which has a body and is the module's only
/// purpose.
///
/// `module` holds `mdh.compute` operations only, no triples; `written` is what it was raised from, if it was, and
/// `names` are those that the program's author gave.
pub fn find<'c>(
    module: Op<'c>,
    written: Option<Op<'c>>,
    name: &str,
    names: &Names,
) -> Result<Entry<'c>> {
    let Some(function) = function_of(module, name) else {
        return Err(Error::bug(format!(
            "there is no function '{name}' any more"
        )));
    };
    check_declarations(module, &functions_of(module))?;
    describe(function, written, names)
}

/// Fails for a function that is called and exists nowhere: here it has no body, and this process
/// has no function of that name either.
fn check_declarations(module: Op, functions: &[Op]) -> Result<()> {
    let calls = ir::find_all(module, &["func.call", "func.constant"]);
    let called: Vec<&str> = calls
        .iter()
        .flat_map(|call| {
            [
                ir::attribute(*call, "callee"),
                ir::attribute(*call, "value"),
            ]
        })
        .filter_map(|name| ir::symbol(name?))
        .collect();
    for op in functions {
        let name = symbol_name(*op);
        if !has_body(*op) && called.contains(&name) && !mdh_jit::is_known(name) {
            let message = format!(
                "'{name}' is called and has no body: expected one here, or a function of the C \
                 library"
            );
            return Err(error_at(op.location(), &message));
        }
    }
    Ok(())
}

/// Returns the description of a function with a body, in a module that was raised from another one, if it was.
pub fn describe<'c>(op: Op<'c>, written: Option<Op<'c>>, names: &Names) -> Result<Entry<'c>> {
    let name = symbol_name(op).to_string();
    let definition = written.and_then(|written| function_of(written, &name));
    let Some(block) = ir::region(op, 0).first_block() else {
        return Err(Error::bug(format!(
            "'{name}' was taken for a function with a body"
        )));
    };
    let views = views(op);
    let mut taken = Vec::new();
    let mut parameters = Vec::new();
    for (i, argument) in arguments(block).into_iter().enumerate() {
        // SAFETY: the argument is a value.
        let location = unsafe { Location::from_raw(mlirValueGetLocation(argument.to_raw())) };
        let what = format!("argument {i} of '{name}'");
        let (ty, layout) = parameter_type(location, &what, argument.r#type())?;
        let role = role(argument, &ty, &views);
        let role = match role {
            Role::Destination if is_kept(op, argument, &number) => match ty.kind {
                BufferKind::MemRef => Role::Updated,
                // A tensor is a value: the result starts from a copy.
                _ => Role::Input,
            },
            role => role,
        };
        let written = names.arguments.get(i).cloned().flatten();
        let preferred = written.or_else(|| view_name(argument, &views));
        let name = unique(preferred.unwrap_or_else(|| format!("arg{i}")), &mut taken);
        let ssa = names.ssa.get(i).cloned().flatten();
        parameters.push(Parameter {
            alias: ssa.filter(|ssa| *ssa != name),
            name,
            ty,
            layout,
            role,
        });
    }
    let results = results(op, &parameters, names)?;
    let mut entry = Entry {
        op,
        definition: op,
        sized: op,
        loops: Vec::new(),
        name,
        arguments: parameters,
        results,
    };
    definition.into_iter().for_each(|own| entry.define(own));
    Ok(entry)
}

/// The results of a function, which has these parameters.
fn results(op: Op, parameters: &[Parameter], names: &Names) -> Result<Vec<Parameter>> {
    let function = symbol_name(op);
    let returned = names::returned(op);
    let mut results = Vec::new();
    // Inputs and outputs are named apart; a memref that is written is both.
    let written = parameters.iter().filter(|p| p.is_written());
    let mut taken: Vec<String> = written.map(|p| p.name.clone()).collect();
    for (i, ty) in result_types(op).into_iter().enumerate() {
        let what = format!("result {i} of '{function}'");
        let (ty, layout) = parameter_type(op.location(), &what, ty)?;
        let written = names.results.get(i).cloned().flatten();
        let preferred = written.or_else(|| names::of_output(*returned.get(i)?));
        let fallback = || match i {
            0 => "result".to_string(),
            _ => format!("result{i}"),
        };
        let name = unique(preferred.unwrap_or_else(fallback), &mut taken);
        results.push(Parameter {
            name,
            alias: None,
            ty,
            layout,
            role: Role::Destination,
        });
    }
    Ok(results)
}

fn parameter_type(
    location: Location,
    what: &str,
    ty: Type,
) -> Result<(BufferType, Option<StridedLayout>)> {
    let wrong = |expected: &str| error_at(location, &format!("{what} has type {ty}: {expected}"));
    let layout = StridedLayout::new(ty).map_err(wrong)?;
    let buffer = buffer_type(ty).ok_or_else(|| {
        wrong(
            "expected a ranked tensor or memref, or a scalar, of i1, i8, i16, i32, i64, index, \
             f16, bf16, f32 or f64",
        )
    })?;
    let extents: Option<Vec<i64>> = buffer.shape.iter().copied().collect();
    let size = extents.map(|extents| byte_size(&extents, buffer.element.byte_width()));
    if let Some(Err(error)) = size {
        return Err(error_at(
            location,
            &format!("{what} has type {ty}: {error}"),
        ));
    }
    Ok((buffer, layout))
}

/// The computations of a function, in their order.
fn views<'c>(op: Op<'c>) -> Vec<Parts<'c>> {
    let computes = ir::find_all(op, &["mdh.compute"]).into_iter();
    let parts = computes.filter_map(|compute| read::compute(compute).ok());
    parts.collect()
}

impl<'c> Entry<'c> {
    /// Gives it the definition that it was raised from. An argument of which that keeps what is not written
    /// is read by both, unless the computations write all of it.
    fn define(&mut self, definition: Op<'c>) {
        self.definition = definition;
        let blocks = [self.op, definition].map(|of| ir::region(of, 0).first_block());
        let [Some(own), Some(written)] = blocks.map(|block| block.map(arguments)) else {
            return;
        };
        let views = views(definition);
        let both = own.into_iter().zip(written);
        for (parameter, (own, written)) in self.arguments.iter_mut().zip(both) {
            let is_free = parameter.is_read()
                || role(written, &parameter.ty, &views) == Role::Destination
                || is_all_written(self.op, own);
            if !is_free {
                parameter.role = match parameter.ty.kind {
                    BufferKind::MemRef => Role::Updated,
                    _ => Role::Input,
                };
            }
        }
    }

    /// Returns whether an argument's contents before a call of these sizes matter.
    pub fn is_read_at(&self, argument: usize, sizes: &Sizes) -> bool {
        let known = |extent| sizes::value(self, sizes, extent);
        self.arguments[argument].is_read() || self.is_written_as(argument, Written::Part, &known)
    }

    /// Returns whether there may be sizes for which an argument's contents before a call matter.
    pub fn may_be_read(&self, argument: usize) -> bool {
        self.arguments[argument].is_read() || !self.is_written_as(argument, Written::All, &number)
    }

    /// Returns whether that is the part of an argument that is written.
    fn is_written_as(
        &self,
        argument: usize,
        part: Written,
        known: &dyn Fn(Extent<'c>) -> Option<i64>,
    ) -> bool {
        let block = ir::region(self.sized, 0).first_block();
        let value = block.and_then(|block| arguments(block).get(argument).copied());
        value.is_some_and(|value| overwritten::written(self.sized, value, known) == part)
    }

    /// Takes its arguments' roles from the same function with more of it as computations: what is only read,
    /// or written before it is read, does not depend on how that is compiled.
    pub fn take_roles(&mut self, of: &Entry) {
        let both = self.arguments.iter_mut().zip(&of.arguments);
        both.for_each(|(own, other)| own.role = other.role);
    }
}

/// An extent that is a number.
fn number(extent: Extent) -> Option<i64> {
    match extent {
        Extent::Number(number) => Some(number),
        _ => None,
    }
}

/// Returns whether some elements of a destination are known to stay as they are.
fn is_kept<'c>(
    function: Op<'c>,
    argument: Val<'c>,
    known: &dyn Fn(Extent<'c>) -> Option<i64>,
) -> bool {
    overwritten::written(function, argument, known) == Written::Part
}

/// Returns the role of an argument by the views of it, and by its other users.
fn role(argument: Val, ty: &BufferType, views: &[Parts]) -> Role {
    let read = |parts: &Parts| {
        let incoming = parts.carries.iter().flat_map(|carry| &carry.incoming);
        let mut read = parts.inputs.iter().chain(incoming);
        read.any(|b| b.value == argument)
    };
    let first_read = views.iter().position(read);
    let first_written = views.iter().position(|parts| writes(parts, argument));
    match (ty.kind, first_read, first_written) {
        (BufferKind::MemRef, _, _) if is_changed_elsewhere(argument, views) => Role::Updated,
        (BufferKind::MemRef, _, Some(_)) if is_read_by_linalg(argument) => Role::Updated,
        (BufferKind::MemRef, _, Some(_)) if is_loaded_first(argument) => Role::Updated,
        (BufferKind::MemRef, Some(read), Some(written)) if read <= written => Role::Updated,
        (BufferKind::MemRef, _, Some(_)) => Role::Destination,
        (BufferKind::Tensor, None, Some(_)) if !is_used_elsewhere(argument) => Role::Destination,
        _ => Role::Input,
    }
}

/// Returns whether anything but computations has a use for a tensor's elements.
fn is_used_elsewhere(tensor: Val) -> bool {
    // What nobody uses does nothing, as a filled tensor that computations know by its number.
    let is_dead = |user: &Op| {
        let is_used = user.results().map(ir::value).any(ir::has_uses);
        ir::name_of(*user).starts_with("linalg.") && user.result_count() > 0 && !is_used
    };
    let mut users = ir::users(tensor).into_iter().filter(|user| !is_dead(user));
    users.any(|user| !matches!(ir::name_of(user), "mdh.compute" | "tensor.dim"))
}

fn writes(parts: &Parts, value: Val) -> bool {
    parts.destinations().any(|buffer| buffer.value == value)
}

/// Returns whether anything but a computation on the memref itself may write it.
fn is_changed_elsewhere(memref: Val, views: &[Parts]) -> bool {
    ir::users(memref)
        .into_iter()
        .any(|user| match ir::name_of(user) {
            "mdh.compute" | "memref.dim" | "memref.load" | "func.return" => false,
            "memref.copy" => user
                .operand(1)
                .is_ok_and(|target| ir::value(target) == memref),
            _ if memory::is_view(ir::name_of(user)) => user.results().map(ir::value).any(|view| {
                views.iter().any(|parts| writes(parts, view)) || is_changed_elsewhere(view, views)
            }),
            _ => linalg_destinations(user).is_none_or(|written| written.contains(&memref)),
        })
}

/// Returns whether a memref's elements are loaded or copied before a computation writes it.
fn is_loaded_first(memref: Val) -> bool {
    let names = [ops::mdh::COMPUTE, ops::memref::LOAD, ops::memref::COPY];
    let accesses = ir::block_argument(memref).map(|argument| ir::find_all(argument.of, &names));
    let first = accesses
        .into_iter()
        .flatten()
        .find_map(|op| match ir::name_of(op) {
            ops::mdh::COMPUTE => {
                let parts = read::compute(op).ok()?;
                writes(&parts, memref).then_some(false)
            }
            _ => ir::operand(op, 0)
                .is_some_and(|of| memory::root(of) == memref)
                .then_some(true),
        });
    first == Some(true)
}

/// Returns whether linalg that is no computation reads a memref.
fn is_read_by_linalg(memref: Val) -> bool {
    ir::users(memref).into_iter().any(|user| {
        let mut views = user.results().map(ir::value);
        linalg_destinations(user).is_some()
            || memory::is_view(ir::name_of(user)) && views.any(is_read_by_linalg)
    })
}

/// Returns the name of a value in the first view of it, or of what computations and loops make of
/// it.
fn view_name(value: Val, views: &[Parts]) -> Option<String> {
    let in_loop = || {
        let mut buffers = views.iter().flat_map(Parts::buffers);
        let buffer = buffers.find(|buffer| carried::first(buffer.value) == value)?;
        Some(buffer.name.clone())
    };
    names::in_view(value, views).or_else(in_loop)
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

/// The types of a function's results.
pub fn result_types(op: Op) -> Vec<Type> {
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

/// Forbids bufferization to write tensors that are read in place: a caller's input is the same
/// before and after a call.
pub fn protect_inputs(context: &Context, module: &Module, entry: &Entry) {
    for op in compile::named(module, &entry.name) {
        protect_inputs_of(context, op, entry);
    }
}

/// The same for a function that an entry describes, and for its versions.
pub fn protect_inputs_of(context: &Context, function: Op, entry: &Entry) {
    for (version, _) in versions::list(function) {
        protect(context, version, entry);
    }
    protect(context, function, entry);
}

fn protect(context: &Context, function: Op, entry: &Entry) {
    use melior::ir::AttributeLike;
    let no = melior::ir::attribute::BoolAttribute::new(context, false);
    for (i, argument) in entry.arguments.iter().enumerate() {
        if argument.role == Role::Input && argument.ty.kind == BufferKind::Tensor {
            let name = string_ref("bufferization.writable");
            // SAFETY: the function has an argument of this number.
            unsafe { mlirFuncSetArgAttr(function.to_raw(), i as isize, name, no.to_raw()) }
        }
    }
}
