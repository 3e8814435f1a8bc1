//! From a function to the C function made of it: the one place that decides what C passes.

use melior::ir::{RegionLike, ValueLike};

use mdh_algebra::scalar::ScalarType;
use mdh_dialect::code::arguments;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::types::{BufferKind, BufferType, buffer_type};
use mdh_jit::interface::{
    Access, Buffer, BufferLayout, Element, Extent, Formula, Interface, Operation, Parameter,
    ParameterKind, Term,
};
use mdh_passes::support::extents;

use crate::carried;
use crate::entry::{self, Entry, Role};
use crate::error::{Error, Result};
use crate::layout;
use crate::names;

/// A size is followed back through at most so many operations.
const STEPS: usize = 8;

/// Words that C or C++ keeps for itself, and types that headers use.
const RESERVED: &str = " alignas alignof and asm auto bitand bitor bool break case catch char class compl \
    const constexpr continue default delete do double else enum explicit export extern false float \
    for friend goto if inline int int8_t int16_t int32_t int64_t long main mutable namespace new \
    noexcept not nullptr operator or private protected public register restrict return short \
    signed sizeof static struct switch template this throw true try typedef typeid typename uint16_t \
    union unsigned using virtual void volatile while xor ";

/// The C function of a function, or why there is none.
pub fn c_function(entry: &Entry) -> Result<Interface> {
    check_name(&entry.name)?;
    interface(entry)
}

/// The words that a call of a function takes, whatever its name, or why there are none.
pub fn interface(entry: &Entry) -> Result<Interface> {
    let mut parameters = Vec::new();
    for argument in &entry.arguments {
        let access = match (argument.role, argument.ty.kind) {
            (Role::Input, _) => Access::Read,
            (Role::Destination, BufferKind::MemRef) => Access::Written,
            _ => Access::Changed,
        };
        let extents = argument.ty.shape.iter().map(|extent| match extent {
            Some(n) => Extent::Fixed(*n as u64),
            None => Extent::Given(None),
        });
        parameters.push(parameter(
            argument,
            access,
            extents.collect(),
            ParameterKind::Value,
        ));
    }
    let returned = names::returned(entry.op);
    for (i, result) in entry.results.iter().enumerate() {
        let value = returned.get(i).copied();
        let mut extents = Vec::new();
        for (axis, extent) in result.ty.shape.iter().enumerate() {
            extents.push(match extent {
                Some(n) => Extent::Fixed(*n as u64),
                None => {
                    let formula = value.and_then(|value| of_axis(value, axis));
                    let formula = formula.ok_or_else(|| open_extent(entry, &result.name, axis))?;
                    Extent::Given(Some(formula))
                }
            });
        }
        parameters.push(parameter(
            result,
            Access::Written,
            extents,
            ParameterKind::Result,
        ));
    }
    let name = entry.name.clone();
    let results = entry.results.len();
    Ok(distinct(Interface {
        name,
        parameters,
        results,
    }))
}

/// Returns whether all of a function's types have one in C, without a word where they have none.
pub fn has_c_types(function: Op) -> bool {
    let block = ir::region(function, 0).first_block();
    let arguments = block.map_or(Vec::new(), arguments);
    let arguments = arguments.into_iter().map(|argument| argument.r#type());
    arguments
        .chain(entry::result_types(function))
        .all(|ty| buffer_type(ty).is_some() && layout::StridedLayout::new(ty).is_ok())
}

fn check_name(name: &str) -> Result<()> {
    let refused = |why: &str| {
        let message = format!("'{name}' cannot be a C function: {why}");
        Error::input(message).help(
            "rename the function, or compile another one of the file with --entry NAME; functions \
             that are private are left out",
        )
    };
    if identifier(name) != name {
        let why =
            "its name is none in C, which has letters, digits, underscores and words of its own";
        return Err(refused(why));
    }
    if name.starts_with("mdh_") || name.starts_with("_mlir_") {
        return Err(refused("names that start like this are those of libmdhrt"));
    }
    match mdh_jit::is_known(name) {
        true => Err(refused("the C library has a function of that name")),
        false => Ok(()),
    }
}

fn open_extent(entry: &Entry, result: &str, axis: usize) -> Error {
    let message = format!(
        "'{}' cannot be a C function: the size of its result '{result}' along axis {axis} is not \
         known before a call",
        entry.name
    );
    Error::input(message).help("give the result a static type, or pass it as a memref argument")
}

fn parameter(
    described: &entry::Parameter,
    access: Access,
    extents: Vec<Extent>,
    scalar: ParameterKind,
) -> Parameter {
    let BufferType { element, kind, .. } = &described.ty;
    let layout = described.layout.as_ref();
    Parameter {
        name: identifier(&described.name),
        element: element_of(*element),
        kind: match kind {
            BufferKind::Scalar => scalar,
            BufferKind::Tensor | BufferKind::MemRef => ParameterKind::Buffer(Buffer {
                access,
                extents,
                layout: layout.map_or(BufferLayout::Rows, layout::StridedLayout::interface),
            }),
        },
    }
}

fn element_of(ty: ScalarType) -> Element {
    match ty {
        ScalarType::I1 => Element::I1,
        ScalarType::I8 => Element::I8,
        ScalarType::I16 => Element::I16,
        ScalarType::I32 => Element::I32,
        ScalarType::I64 | ScalarType::Index => Element::I64,
        ScalarType::F16 => Element::F16,
        ScalarType::BF16 => Element::BF16,
        ScalarType::F32 => Element::F32,
        ScalarType::F64 => Element::F64,
    }
}

/// A name that C takes, and the same if it does.
fn identifier(name: &str) -> String {
    let letter = |c: char| match c.is_ascii_alphanumeric() || c == '_' {
        true => c,
        false => '_',
    };
    let mut text: String = name.chars().map(letter).collect();
    if text.is_empty() || text.starts_with(|c: char| c.is_ascii_digit()) {
        text.insert(0, '_');
    }
    if RESERVED.contains(&format!(" {text} ")) {
        text.push('_');
    }
    text
}

/// No two arguments have one name: a parameter whose arguments are not the first of theirs gets
/// another one.
fn distinct(mut interface: Interface) -> Interface {
    loop {
        let arguments = interface.arguments();
        let is_taken = |i: &usize| {
            let before = &arguments[..*i];
            before.iter().any(|a| a.name == arguments[*i].name)
        };
        match (0..arguments.len()).find(is_taken) {
            Some(i) => interface.parameters[arguments[i].parameter].name.push('_'),
            None => return interface,
        }
    }
}

/// The size of a value along an axis, from those of a function's arguments.
fn of_axis(value: Val, axis: usize) -> Option<Formula> {
    let mut terms = Vec::new();
    let extent = extents::of_axis(value, axis);
    push(extent, STEPS, &mut terms)
        .or_else(|| {
            // One of several arguments of one shape: only if there is no other.
            terms.clear();
            let [parameter] = carried::shaped_like(value)?[..] else {
                return None;
            };
            terms.push(Term::Extent { parameter, axis });
            Some(())
        })
        .map(|()| Formula(terms))
}

fn push(extent: extents::Extent, steps: usize, terms: &mut Vec<Term>) -> Option<()> {
    match extent {
        extents::Extent::Number(n) => terms.push(Term::Number(n)),
        extents::Extent::Axis(of, axis) => terms.push(Term::Extent {
            parameter: carried::argument(of)?,
            axis,
        }),
        extents::Extent::Value(value) => push_value(value, steps, terms)?,
    }
    Some(())
}

/// A number that a program computes: `%last = arith.subi %n, %c1`.
fn push_value(value: Val, steps: usize, terms: &mut Vec<Term>) -> Option<()> {
    if let Some(parameter) = carried::argument(value) {
        terms.push(Term::Value(parameter));
        return Some(());
    }
    let op = ir::defining_op(value)?;
    let operation = match ir::name_of(op) {
        "arith.addi" => Operation::Add,
        "arith.subi" => Operation::Subtract,
        "arith.muli" => Operation::Multiply,
        "arith.floordivsi" => Operation::DivideDown,
        "arith.ceildivsi" => Operation::DivideUp,
        "arith.minsi" => Operation::Min,
        "arith.maxsi" => Operation::Max,
        "arith.index_cast" => {
            let operand = ir::operand(op, 0)?;
            return push(extents::of_value(operand), steps.checked_sub(1)?, terms);
        }
        _ => return None,
    };
    for i in 0..2 {
        let operand = ir::operand(op, i)?;
        push(extents::of_value(operand), steps.checked_sub(1)?, terms)?;
    }
    terms.push(Term::Operation(operation));
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_c_takes() {
        for (name, expected) in [
            ("x", "x"),
            ("x.1", "x_1"),
            ("0", "_0"),
            ("double", "double_"),
            ("int64_t", "int64_t_"),
            ("größe", "gr__e"),
            ("", "_"),
        ] {
            assert_eq!(identifier(name), expected);
        }
    }

    #[test]
    fn arguments_get_names_of_their_own() {
        let text = "f 0\nbuffer x f32 read ? rows\nvalue x_n0 i64\nvalue x i8";
        let interface = distinct(text.parse().unwrap());
        let names: Vec<String> = interface.arguments().into_iter().map(|a| a.name).collect();
        assert_eq!(names, ["x", "x_n0", "x_n0_", "x_"]);
    }

    #[test]
    fn names_that_are_refused() {
        for name in ["a b", "double", "exp", "mdh_f", "1"] {
            let error = check_name(name).unwrap_err().to_string();
            assert!(
                error.contains(&format!("'{name}' cannot be a C function")),
                "{error}"
            );
        }
        check_name("my_function").unwrap();
    }
}
