//! The C header of compiled functions.

use mdh_jit::interface::{
    Access, Argument, Buffer, BufferLayout, Element, Extent, Interface, Parameter, ParameterKind,
    ParameterPart,
};

/// The part that all headers have in common: calls, with the declarations that several may share.
const RUNTIME: &str = include_str!("runtime.h");

/// The header of some functions; `name` is the program's.
pub fn text(name: &str, interfaces: &[Interface]) -> String {
    let guard: String = name
        .chars()
        .map(|c| match c.is_ascii_alphanumeric() {
            true => c.to_ascii_uppercase(),
            false => '_',
        })
        .collect();
    let functions: Vec<String> = interfaces.iter().map(function).collect();
    format!(
        "/* {name}, compiled by mdh {}. */\n\n#ifndef MDH_{guard}_H\n#define MDH_{guard}_H\n\n\
         {RUNTIME}\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n{}\n#ifdef __cplusplus\n}}\n\
         #endif\n\n#endif\n",
        env!("CARGO_PKG_VERSION"),
        functions.join("\n")
    )
}

/// A function's declaration, and what its arguments are.
fn function(interface: &Interface) -> String {
    let rows: Vec<[String; 3]> = (0..interface.parameters.len())
        .map(|number| row(interface, number))
        .collect();
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let (names, uses) = (width(0), width(1));
    let mut comment = format!("/* {}\n", interface.name);
    for [name, usage, what] in &rows {
        comment += &format!(" *   {name:names$}  {usage:uses$}  {what}\n");
    }
    comment += " */\n";
    let start = format!("int {}(", interface.name);
    let arguments = interface.arguments();
    let arguments = arguments.iter().map(|a| declared(interface, a));
    let mut arguments: Vec<String> = arguments.collect();
    if arguments.is_empty() {
        arguments.push("void".to_string());
    }
    format!("{comment}{}", wrapped(&start, &arguments))
}

/// A prototype in lines of at most 100 characters.
fn wrapped(start: &str, arguments: &[String]) -> String {
    const WIDTH: usize = 100;
    let (mut text, mut column) = (start.to_string(), start.len());
    for (i, argument) in arguments.iter().enumerate() {
        let end = if i + 1 == arguments.len() {
            ");\n"
        } else {
            ","
        };
        let space = usize::from(i > 0);
        if i > 0 && column + space + argument.len() + 2 > WIDTH {
            text += &format!("\n{}", " ".repeat(start.len()));
            column = start.len();
        } else if i > 0 {
            text.push(' ');
            column += 1;
        }
        text += argument;
        text += end;
        column += argument.len() + 1;
    }
    text
}

fn declared(interface: &Interface, argument: &Argument) -> String {
    let parameter = &interface.parameters[argument.parameter];
    let (ty, name) = (c_type(parameter.element), &argument.name);
    match (argument.part, &parameter.kind) {
        (ParameterPart::Value, _) => format!("{ty} {name}"),
        (ParameterPart::Extent(_) | ParameterPart::Stride(_), _) => format!("int64_t {name}"),
        (ParameterPart::Pointer, ParameterKind::Buffer(buffer))
            if buffer.access == Access::Read =>
        {
            format!("const {ty} *{name}")
        }
        (ParameterPart::Pointer, _) => format!("{ty} *MDH_RESTRICT {name}"),
    }
}

/// A line of the table above a function: name, use, type.
fn row(interface: &Interface, number: usize) -> [String; 3] {
    let parameter = &interface.parameters[number];
    let ty = c_type(parameter.element);
    let (usage, what) = match &parameter.kind {
        ParameterKind::Value => ("value", format!("{ty}{}", bits(parameter.element))),
        ParameterKind::Result => ("written", format!("{ty}{}", bits(parameter.element))),
        ParameterKind::Buffer(buffer) => {
            let usage = match buffer.access {
                Access::Read => "read",
                Access::Written => "written",
                Access::Changed => "changed",
            };
            (usage, elements(interface, number, parameter, buffer))
        }
    };
    [parameter.name.clone(), usage.to_string(), what]
}

/// `float[M_n0][8]`, and what is to be said of the extents and of where the elements are.
fn elements(
    interface: &Interface,
    number: usize,
    parameter: &Parameter,
    buffer: &Buffer,
) -> String {
    let axes = 0..buffer.extents.len();
    let extents = axes.map(|axis| format!("[{}]", interface.extent(number, axis)));
    let mut text = c_type(parameter.element).to_string();
    match extents.collect::<String>() {
        extents if extents.is_empty() => text += " (one)",
        extents => text += &extents,
    }
    text += bits(parameter.element);
    for (axis, extent) in buffer.extents.iter().enumerate() {
        if let Extent::Given(Some(formula)) = extent {
            let name = interface.name_of(number, ParameterPart::Extent(axis));
            text += &format!("; {name} = {}", interface.formula(formula));
        }
    }
    if let BufferLayout::Strided { offset, strides } = &buffer.layout {
        let place = place(interface, number, *offset, strides);
        text += &format!(
            "; element [{}] is {}[{place}]",
            indices(strides),
            parameter.name
        );
    }
    text
}

fn indices(strides: &[Option<i64>]) -> String {
    let names = (0..strides.len()).map(|axis| format!("i{axis}"));
    names.collect::<Vec<_>>().join("][")
}

/// The place of an element: `5 + 10*i0 + m_stride1*i1`.
fn place(interface: &Interface, number: usize, offset: i64, strides: &[Option<i64>]) -> String {
    let mut terms = Vec::new();
    if offset != 0 || strides.is_empty() {
        terms.push(offset.to_string());
    }
    for (axis, stride) in strides.iter().enumerate() {
        let stride = match stride {
            Some(stride) => stride.to_string(),
            None => interface.name_of(number, ParameterPart::Stride(axis)),
        };
        terms.push(format!("{stride}*i{axis}"));
    }
    terms.join(" + ")
}

/// Returns a comment on a type of C that does not tell its format.
fn bits(element: Element) -> &'static str {
    match element {
        Element::F16 => ", the bits of an IEEE half",
        Element::BF16 => ", the bits of a bfloat16",
        _ => "",
    }
}

fn c_type(element: Element) -> &'static str {
    match element {
        Element::I1 => "bool",
        Element::I8 => "int8_t",
        Element::I16 => "int16_t",
        Element::I32 => "int32_t",
        Element::I64 => "int64_t",
        Element::F16 => "mdh_f16",
        Element::BF16 => "mdh_bf16",
        Element::F32 => "float",
        Element::F64 => "double",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_a_header_says() {
        let matvec = "matvec 1\nbuffer M f32 read ? ? rows\nbuffer v f32 read ? rows\n\
                      buffer w f32 written ?=0.0 rows";
        let everything = "all 2\nvalue n i64\nvalue h f16\nbuffer flags i1 changed 4 rows\n\
                   buffer strided_input bf16 read 4 ? strides 5 ? 2\nbuffer total f64 written rows\n\
                   result first i8\nresult second f64";
        let interfaces = [matvec, everything, "nothing 0"].map(|text| text.parse().unwrap());
        insta::assert_snapshot!(text("some file.mlir", &interfaces));
    }
}
