//! C, which is CUDA too.

use super::function::{Argument, Checked, EmitError, Function, Width, checked};
use super::language::{ATOM, Language, Leaves, Piece, Truth, table_name, tables, write};
use crate::index::{Interval, Name, Op, Table};

/// Static inline functions, whole: with what they include and what they call. With several
/// results, a function writes them to its last parameter. Tables that are given at run time are
/// parameters behind the others. In CUDA they are for host and device.
pub fn c(functions: &[Function], width: Width) -> Result<String, EmitError> {
    let (helpers, text) = c_parts(functions, width)?;
    Ok(format!("{}{text}", helpers.concat()))
}

/// The same in two parts: what stands before all functions of a file, once each, and the functions.
pub fn c_parts(functions: &[Function], width: Width) -> Result<(Vec<String>, String), EmitError> {
    let (mut helpers, mut text) = (vec![format!("{PRELUDE}\n")], String::new());
    for function in functions {
        text += &one(function, width, &mut helpers)?;
    }
    Ok((helpers, text))
}

fn one(function: &Function, width: Width, helpers: &mut Vec<String>) -> Result<String, EmitError> {
    let checked = checked(function, width)?;
    let tables = tables(&checked.program);
    let mut language = C {
        arguments: vec![],
        width,
        tables: tables.clone(),
        helpers,
        leaves: Leaves::AsTheyAre,
    };
    let ty = language.ty();
    let (statements, results) = write(&checked, &mut language);
    let inputs = checked.program.inputs().iter();
    let mut parameters: Vec<String> = inputs.map(|name| format!("{ty} {name}")).collect();
    let mut body = String::new();
    for table in &tables {
        let name = table_name(&tables, table);
        match &table.values {
            Some(values) => {
                let values: Vec<String> = values.iter().map(i64::to_string).collect();
                let (n, values) = (values.len(), values.join(", "));
                body += &format!("  const {ty} {name}[{n}] = {{{values}}};\n");
            }
            None => parameters.push(format!("const {ty} *{name}")),
        }
    }
    for statement in statements {
        body += &format!("  {statement}\n");
    }
    let returns = match &results[..] {
        [one] => {
            body += &format!("  return {};\n", one.text);
            ty
        }
        more => {
            parameters.push(format!("{ty} *result"));
            for (n, result) in more.iter().enumerate() {
                body += &format!("  result[{n}] = {};\n", result.text);
            }
            "void"
        }
    };
    if parameters.is_empty() {
        parameters.push("void".into());
    }
    let (name, parameters) = (function.name, parameters.join(", "));
    Ok(format!(
        "MDH_FUNCTION {returns} {name}({parameters}) {{\n{body}}}\n"
    ))
}

/// Text before functions and their helpers.
pub(super) const PRELUDE: &str = "\
#include <stdint.h>
#ifdef __CUDACC__
#define MDH_FUNCTION static __host__ __device__ inline
#else
#define MDH_FUNCTION static inline
#endif
";

/// C as a language of expressions.
pub(super) struct C<'a> {
    arguments: Vec<(&'a Name, &'a Argument)>,
    width: Width,
    tables: Vec<&'a Table>,
    /// Definitions that stand before what is printed.
    helpers: &'a mut Vec<String>,
    /// Conversion of parameters to the target's integers.
    pub leaves: Leaves,
}

impl<'a> C<'a> {
    /// For expressions in somebody else's functions.
    pub fn new(
        function: &Function<'a>,
        arguments: &'a [Argument],
        checked: &'a Checked,
        width: Width,
        helpers: &'a mut Vec<String>,
    ) -> Result<C<'a>, EmitError> {
        if arguments.iter().any(|a| matches!(a, Argument::Slice(_))) {
            let message = "found ':', which is for Triton, expected an index";
            return Err(EmitError(message.into()));
        }
        let tables = tables(&checked.program);
        if let Some(table) = tables.iter().find(|table| table.values.is_some()) {
            let name = table_name(&tables, table);
            return Err(EmitError(format!(
                "the entries of the table '{name}' have no place in an expression, expected the \
                 layout's functions, or a table that is given at run time"
            )));
        }
        Ok(C {
            arguments: function.inputs.iter().zip(arguments).collect(),
            width,
            tables,
            helpers,
            leaves: Leaves::AsTheyAre,
        })
    }

    fn ty(&self) -> &'static str {
        match self.width {
            Width::Bits32 => "int32_t",
            Width::Bits64 => "int64_t",
        }
    }

    /// A function that is defined before the one that is printed; `T` stands for the integers.
    fn helper(&mut self, name: &str, definition: &str) -> String {
        let name = format!("mdh_{name}{}", self.width.bits());
        let definition = definition.replace("NAME", &name).replace('T', self.ty());
        let definition = format!("MDH_FUNCTION {definition}\n");
        if !self.helpers.contains(&definition) {
            self.helpers.push(definition);
        }
        name
    }
}

/// Returns the precedence of C's operators.
fn strength(op: Op) -> u8 {
    match op {
        Op::Mul | Op::Div | Op::Mod => 12,
        Op::Add | Op::Sub => 11,
        Op::Lt | Op::Le => 9,
        Op::Eq | Op::Ne => 8,
        Op::And => 7,
        Op::Xor => 6,
        Op::Or => 5,
        Op::Min | Op::Max => 2,
    }
}

impl Language for C<'_> {
    fn symbol(&mut self, name: &str) -> Piece {
        let text = self.arguments.iter().find_map(|(input, argument)| {
            let Argument::Text(text) = argument else {
                return None;
            };
            (&***input == name).then_some(text.as_str())
        });
        let piece = Piece::operand(text.unwrap_or(name));
        match self.leaves {
            Leaves::AsTheyAre => piece,
            Leaves::Cast => Piece {
                text: format!("({}){}", self.ty(), piece.text),
                strength: 13,
            },
        }
    }

    fn constant(&mut self, value: i64) -> Piece {
        // The smallest number has no literal: it is the negation of one that is too large.
        let text = match (value, self.width) {
            (i64::MIN, _) => "INT64_MIN".to_string(),
            (value, Width::Bits64) if i32::try_from(value).is_err() => format!("INT64_C({value})"),
            (value, _) => value.to_string(),
        };
        let strength = if value < 0 { 13 } else { ATOM };
        Piece { text, strength }
    }

    fn binary(&mut self, op: Op, [a, b]: [&Piece; 2], ranges: [Interval; 2]) -> Piece {
        match op {
            Op::Div | Op::Mod if ranges[0].min < 0 => {
                let (name, text) = match op {
                    Op::Div => ("div", "T NAME(T a, T b) { return a / b - (a % b < 0); }\n"),
                    _ => (
                        "mod",
                        "T NAME(T a, T b) {\n  const T r = a % b;\n  return r < 0 ? r + b : r;\n}\n",
                    ),
                };
                let name = self.helper(name, text);
                Piece::call(&name, &[a, b])
            }
            Op::Min | Op::Max => {
                let (name, text) = match op {
                    Op::Min => ("min", "T NAME(T a, T b) { return a < b ? a : b; }\n"),
                    _ => ("max", "T NAME(T a, T b) { return a > b ? a : b; }\n"),
                };
                let name = self.helper(name, text);
                Piece::call(&name, &[a, b])
            }
            Op::And | Op::Or | Op::Xor | Op::Eq | Op::Ne | Op::Lt | Op::Le => {
                // Compilers warn where these meet without parentheses.
                let inner = if op.is_comparison() { 11 } else { 13 };
                let [a, b] = [a, b].map(|p| Piece::atom(p.at_least(inner)));
                Piece::infix(&a, op.symbol(), &b, strength(op))
            }
            _ => Piece::infix(a, op.symbol(), b, strength(op)),
        }
    }

    fn sqrt(&mut self, a: &Piece) -> Piece {
        // Bit by bit, so that nothing of the library is needed.
        let name = self.helper(
            "isqrt",
            "T NAME(T a) {\n  T root = 0, bit = (T)1 << (sizeof(T) * 8 - 2);\n  for (; bit != 0; \
             bit >>= 2) {\n    if (a >= root + bit) {\n      a -= root + bit;\n      root = (root \
             >> 1) + bit;\n    } else {\n      root >>= 1;\n    }\n  }\n  return root;\n}\n",
        );
        Piece::call(&name, &[a])
    }

    fn select(&mut self, [c, a, b]: [&Piece; 3], _: Truth) -> Piece {
        let (c, a, b) = (c.at_least(4), a.at_least(4), b.at_least(4));
        Piece {
            text: format!("{c} ? {a} : {b}"),
            strength: 3,
        }
    }

    fn load(&mut self, table: &Table, index: &Piece) -> Piece {
        let name = table_name(&self.tables, table);
        Piece::atom(format!("{name}[{}]", index.text))
    }

    fn assign(&mut self, name: &str, value: &Piece) -> String {
        format!("const {} {name} = {};", self.ty(), value.text)
    }
}
