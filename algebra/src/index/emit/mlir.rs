//! MLIR: a function on `index`, of `affine.apply` where a result is affine, else of arith.

use super::function::{Checked, EmitError, Function, Width, checked};
use super::language::{table_name, tables};
use crate::index::{Expr, IndexProgram, Name, Node, Op, Table};

/// A function of the module's top level. Tables that are given at run time are parameters behind
/// the others; those that are known are globals before the function.
pub fn mlir(function: &Function) -> Result<String, EmitError> {
    let checked = checked(function, Width::Bits64)?;
    let tables = tables(&checked.program);
    let mut body = Body {
        checked: &checked,
        tables: tables.clone(),
        lines: Vec::new(),
        values: Vec::new(),
        next: 0,
    };
    let inputs = checked.program.inputs();
    let affine: Option<Vec<String>> = function.outputs.iter().map(|e| affine(inputs, e)).collect();
    let results = match affine {
        Some(maps) => body.applied(inputs, &maps),
        None => body.operations(),
    };
    let mut parameters: Vec<String> = inputs.iter().map(|n| format!("%{n}: index")).collect();
    let mut text = String::new();
    for table in &tables {
        let name = table_name(&tables, table);
        match &table.values {
            Some(values) => {
                let (n, values) = (values.len(), format!("{values:?}"));
                text += &format!(
                    "memref.global \"private\" constant @{name} : memref<{n}xindex> = dense<{values}>\n"
                );
            }
            None => parameters.push(format!("%{name}: memref<?xindex>")),
        }
    }
    let types = vec!["index"; results.len()].join(", ");
    let (name, parameters) = (function.name, parameters.join(", "));
    text += &format!("func.func @{name}({parameters}) -> ({types}) {{\n");
    for line in &body.lines {
        text += &format!("  {line}\n");
    }
    text += &format!("  return {} : {types}\n}}\n", results.join(", "));
    Ok(text)
}

/// A result as an affine expression over the inputs `d0`, `d1`, ..; `None` if it is none.
pub fn affine(inputs: &[Name], e: &Expr) -> Option<String> {
    let program = IndexProgram::with_inputs(inputs, std::slice::from_ref(e));
    let mut written: Vec<String> = Vec::new();
    for node in program.nodes() {
        written.push(match node {
            Node::Const(c) => c.to_string(),
            Node::Symbol(name) => format!("d{}", inputs.iter().position(|n| n == name)?),
            Node::Binary(op, [a, b]) => {
                let constant = |c: &usize| matches!(program.nodes()[*c], Node::Const(_));
                let op = match op {
                    Op::Add => "+",
                    Op::Sub => "-",
                    Op::Mul if constant(a) || constant(b) => "*",
                    Op::Div if constant(b) => "floordiv",
                    Op::Mod if constant(b) => "mod",
                    _ => return None,
                };
                format!("({} {op} {})", written[*a], written[*b])
            }
            _ => return None,
        });
        // Affine maps are trees: what is shared would be written out each time.
        if written.last().is_some_and(|text| text.len() > 400) {
            return None;
        }
    }
    written.pop()
}

struct Body<'a> {
    checked: &'a Checked,
    tables: Vec<&'a Table>,
    lines: Vec<String>,
    values: Vec<EmittedValue>,
    next: usize,
}

/// The name of a value, and whether it is an `i1`.
#[derive(Clone)]
struct EmittedValue {
    name: String,
    ty: Type,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Type {
    Index,
    Bool,
}

impl Body<'_> {
    fn applied(&mut self, inputs: &[Name], maps: &[String]) -> Vec<String> {
        let dims: Vec<String> = (0..inputs.len()).map(|d| format!("d{d}")).collect();
        let operands: Vec<String> = inputs.iter().map(|n| format!("%{n}")).collect();
        let (dims, operands) = (dims.join(", "), operands.join(", "));
        let apply =
            |map: &String| format!("affine.apply affine_map<({dims}) -> ({map})>({operands})");
        maps.iter().map(|map| self.line(&apply(map))).collect()
    }

    fn operations(&mut self) -> Vec<String> {
        for node in self.checked.program.nodes() {
            let value = self.operation(node);
            self.values.push(value);
        }
        let roots = self.checked.program.roots().to_vec();
        roots.iter().map(|r| self.index(*r)).collect()
    }

    /// Writes `%n = operation`.
    fn line(&mut self, operation: &str) -> String {
        let taken = |name: &str| self.checked.program.inputs().iter().any(|n| &**n == name);
        let mut name = format!("t{}", self.next);
        while taken(&name) {
            self.next += 1;
            name = format!("t{}", self.next);
        }
        self.next += 1;
        self.lines.push(format!("%{name} = {operation}"));
        format!("%{name}")
    }

    /// A value as an `index`.
    fn index(&mut self, number: usize) -> String {
        let value = self.values[number].clone();
        match value.ty {
            Type::Index => value.name,
            Type::Bool => self.line(&format!("arith.index_castui {} : i1 to index", value.name)),
        }
    }

    /// A value as an `i1`: whether it is not 0.
    fn truth(&mut self, number: usize) -> String {
        let value = self.values[number].clone();
        match value.ty {
            Type::Bool => value.name,
            Type::Index => {
                let zero = self.line("arith.constant 0 : index");
                self.line(&format!("arith.cmpi ne, {}, {zero} : index", value.name))
            }
        }
    }

    fn operation(&mut self, node: &Node<usize>) -> EmittedValue {
        let name = match node {
            Node::Const(c) => self.line(&format!("arith.constant {c} : index")),
            Node::Symbol(name) => format!("%{name}"),
            Node::Sqrt([a]) => {
                let a = self.index(*a);
                let integer = self.line(&format!("arith.index_cast {a} : index to i64"));
                let double = self.line(&format!("arith.sitofp {integer} : i64 to f64"));
                let root = self.line(&format!("math.sqrt {double} : f64"));
                let integer = self.line(&format!("arith.fptosi {root} : f64 to i64"));
                self.line(&format!("arith.index_cast {integer} : i64 to index"))
            }
            Node::Binary(op, [a, b]) => return self.binary(*op, *a, *b),
            Node::Select([c, a, b]) => {
                let (c, a, b) = (self.truth(*c), self.index(*a), self.index(*b));
                self.line(&format!("arith.select {c}, {a}, {b} : index"))
            }
            Node::Load(table, [i]) => {
                let (i, name) = (self.index(*i), table_name(&self.tables, table));
                match &table.values {
                    None => self.line(&format!("memref.load %{name}[{i}] : memref<?xindex>")),
                    Some(values) => {
                        let ty = format!("memref<{}xindex>", values.len());
                        let global = self.line(&format!("memref.get_global @{name} : {ty}"));
                        self.line(&format!("memref.load {global}[{i}] : {ty}"))
                    }
                }
            }
        };
        let ty = Type::Index;
        EmittedValue { name, ty }
    }

    fn binary(&mut self, op: Op, a: usize, b: usize) -> EmittedValue {
        let negative = self.checked.ranges[a].min < 0;
        let (x, y) = (self.index(a), self.index(b));
        let mut arith = |name: &str| self.line(&format!("arith.{name} {x}, {y} : index"));
        let name = match op {
            Op::Add => arith("addi"),
            Op::Sub => arith("subi"),
            Op::Mul => arith("muli"),
            Op::Div if negative => arith("floordivsi"),
            Op::Div => arith("divsi"),
            Op::Mod if negative => {
                let quotient = arith("floordivsi");
                let multiple = self.line(&format!("arith.muli {quotient}, {y} : index"));
                self.line(&format!("arith.subi {x}, {multiple} : index"))
            }
            Op::Mod => arith("remsi"),
            Op::Min => arith("minsi"),
            Op::Max => arith("maxsi"),
            Op::And => arith("andi"),
            Op::Or => arith("ori"),
            Op::Xor => arith("xori"),
            Op::Lt | Op::Le | Op::Eq | Op::Ne => {
                let name = match op {
                    Op::Lt => arith("cmpi slt,"),
                    Op::Le => arith("cmpi sle,"),
                    Op::Eq => arith("cmpi eq,"),
                    _ => arith("cmpi ne,"),
                };
                let ty = Type::Bool;
                return EmittedValue { name, ty };
            }
        };
        let ty = Type::Index;
        EmittedValue { name, ty }
    }
}
