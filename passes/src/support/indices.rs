//! Index expressions as operations: `affine.apply` where they are affine, else arith.

use mdh_algebra::index::emit::{self, EmitError, Function, Width};
use mdh_algebra::index::{IndexProgram, Interval, Node, Op as Operator, Table};
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::ops;
use melior::ir::attribute::{StringAttribute, TypeAttribute};
use melior::ir::{Attribute, Type};

use crate::support::builder::Builder;

/// Dialect of the operations that expressions become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexDialect {
    /// `affine.apply`, if all of them are affine.
    Affine,
    /// Operations of arith.
    Arith,
}

/// The results of a function for these inputs, one value for each of its inputs; the function has
/// no other symbols. Tables become globals of the module.
///
/// # Errors
/// If it is not proved that no operation overflows.
pub fn build<'c>(
    builder: &mut Builder<'c>,
    module: Op<'c>,
    function: &Function,
    inputs: &[Val<'c>],
    dialect: IndexDialect,
) -> Result<Vec<Val<'c>>, EmitError> {
    let (program, ranges) = emit::proved(function, Width::Bits64)?;
    let outputs = function.outputs.iter();
    let maps = outputs.map(|e| emit::affine(function.inputs, e));
    let maps: Option<Vec<String>> = maps.collect();
    if let (IndexDialect::Affine, Some(maps)) = (dialect, maps) {
        let apply = |map: &String| affine(builder, map, inputs);
        return Ok(maps.iter().map(apply).collect());
    }
    let mut code = Code {
        builder,
        module,
        program: &program,
        ranges: &ranges,
        values: Vec::new(),
    };
    for node in program.nodes() {
        let value = match node {
            Node::Symbol(name) => {
                let at = program.inputs().iter().position(|n| n == name);
                let value = at.and_then(|at| inputs.get(at));
                *value.unwrap_or_else(|| panic!("'{name}' is no input"))
            }
            _ => code.operation(node),
        };
        code.values.push(value);
    }
    let roots = program.roots().iter();
    Ok(roots.map(|root| code.index(*root)).collect())
}

fn affine<'c>(builder: &mut Builder<'c>, map: &str, inputs: &[Val<'c>]) -> Val<'c> {
    let dims: Vec<String> = (0..inputs.len()).map(|d| format!("d{d}")).collect();
    if let Some(at) = dims.iter().position(|d| d == map) {
        return inputs[at];
    }
    if let Ok(number) = map.parse() {
        return builder.index(number);
    }
    let text = format!("affine_map<({}) -> ({map})>", dims.join(", "));
    let map = parse(builder, &text);
    let index = builder.index_type();
    builder.op(ops::affine::APPLY, inputs, &[index], &[("map", map)])[0]
}

fn parse<'c>(builder: &Builder<'c>, text: &str) -> Attribute<'c> {
    Attribute::parse(builder.context, text).unwrap_or_else(|| panic!("{text} is an attribute"))
}

struct Code<'a, 'c> {
    builder: &'a mut Builder<'c>,
    module: Op<'c>,
    program: &'a IndexProgram,
    ranges: &'a [Interval],
    /// One for each operation: an index, or of comparisons a truth value.
    values: Vec<Val<'c>>,
}

impl<'c> Code<'_, 'c> {
    fn is_comparison(&self, number: usize) -> bool {
        let node = &self.program.nodes()[number];
        matches!(node, Node::Binary(op, _) if op.is_comparison())
    }

    /// An operand as an index.
    fn index(&mut self, number: usize) -> Val<'c> {
        let value = self.values[number];
        match self.is_comparison(number) {
            false => value,
            true => {
                let ty = self.builder.index_type();
                self.builder
                    .op(ops::arith::INDEX_CASTUI, &[value], &[ty], &[])[0]
            }
        }
    }

    /// Returns whether an operand is not 0.
    fn truth(&mut self, number: usize) -> Val<'c> {
        let value = self.values[number];
        if self.is_comparison(number) {
            return value;
        }
        let zero = self.builder.index(0);
        self.builder.compare("ne", value, zero)
    }

    fn operation(&mut self, node: &Node<usize>) -> Val<'c> {
        match node {
            Node::Const(number) => self.builder.index(*number),
            Node::Symbol(name) => panic!("'{name}' has a value"),
            Node::Sqrt([a]) => self.root(*a),
            Node::Binary(op, [a, b]) => self.binary(*op, *a, *b),
            Node::Select([c, a, b]) => {
                let condition = self.truth(*c);
                let (then, otherwise) = (self.index(*a), self.index(*b));
                self.builder.select(condition, then, otherwise)
            }
            Node::Load(table, [i]) => {
                let index = self.index(*i);
                self.load(table, index)
            }
        }
    }

    /// In doubles, in which the arguments that are proved are exact.
    fn root(&mut self, a: usize) -> Val<'c> {
        let ty = |text| Type::parse(self.builder.context, text);
        let [i64, f64] = ["i64", "f64"].map(|t| ty(t).unwrap_or_else(|| panic!("{t} is a type")));
        let index = self.builder.index_type();
        let mut value = self.index(a);
        for (name, ty) in [
            (ops::arith::INDEX_CAST, i64),
            (ops::arith::SITOFP, f64),
            (ops::math::SQRT, f64),
            (ops::arith::FPTOSI, i64),
            (ops::arith::INDEX_CAST, index),
        ] {
            value = self.builder.op(name, &[value], &[ty], &[])[0];
        }
        value
    }

    fn binary(&mut self, op: Operator, a: usize, b: usize) -> Val<'c> {
        let is_negative = self.ranges[a].min < 0;
        let (x, y) = (self.index(a), self.index(b));
        let name = match op {
            Operator::Add => "addi",
            Operator::Sub => "subi",
            Operator::Mul => "muli",
            Operator::Div if is_negative => "floordivsi",
            Operator::Div => "divsi",
            Operator::Mod if is_negative => {
                let quotient = self.builder.binary(ops::arith::FLOORDIVSI, x, y);
                let multiple = self.builder.binary(ops::arith::MULI, quotient, y);
                return self.builder.binary(ops::arith::SUBI, x, multiple);
            }
            Operator::Mod => "remsi",
            Operator::Min => "minsi",
            Operator::Max => "maxsi",
            Operator::And => "andi",
            Operator::Or => "ori",
            Operator::Xor => "xori",
            Operator::Lt => return self.builder.compare("slt", x, y),
            Operator::Le => return self.builder.compare("sle", x, y),
            Operator::Eq => return self.builder.compare("eq", x, y),
            Operator::Ne => return self.builder.compare("ne", x, y),
        };
        self.builder.binary(&format!("arith.{name}"), x, y)
    }

    fn load(&mut self, table: &Table, index: Val<'c>) -> Val<'c> {
        let values = table.values.as_ref();
        let values = values.unwrap_or_else(|| panic!("'{}' is known", table.name));
        let (name, ty) = global(self.builder, self.module, values);
        let symbol = parse(self.builder, &format!("@{name}"));
        let ty = Type::parse(self.builder.context, &ty).unwrap_or_else(|| panic!("{ty}"));
        let memref = self
            .builder
            .op(ops::memref::GET_GLOBAL, &[], &[ty], &[("name", symbol)])[0];
        let element = self.builder.index_type();
        self.builder
            .op(ops::memref::LOAD, &[memref, index], &[element], &[])[0]
    }
}

/// The name and the type of the module's global that holds a table; a new one if there is none.
fn global<'c>(builder: &Builder<'c>, module: Op<'c>, values: &[i64]) -> (String, String) {
    const PREFIX: &str = "mdh_table_";
    let ty = format!("memref<{}xindex>", values.len());
    let text = format!("dense<{values:?}> : tensor<{}xindex>", values.len());
    let value = parse(builder, &text);
    let body = ir::only_block(ir::region(module, 0));
    let ops = body.map(ir::ops_of).unwrap_or_default();
    let name_of = |op: &Op<'c>| ir::attribute(*op, "sym_name").and_then(ir::text);
    let is_it = |op: &&Op<'c>| {
        ir::name_of(**op) == ops::memref::GLOBAL
            && name_of(op).is_some_and(|name| name.starts_with(PREFIX))
            && ir::attribute(**op, "initial_value") == Some(value)
    };
    if let Some(name) = ops.iter().find(is_it).and_then(name_of) {
        return (name.to_owned(), ty);
    }
    let names: Vec<&str> = ops.iter().filter_map(name_of).collect();
    let mut free = (0..).map(|n| format!("{PREFIX}{n}"));
    let name = free.find(|name| !names.contains(&name.as_str()));
    let name = name.unwrap_or_default();
    if let Some(first) = ops.first() {
        let mut at_start = Builder::before(*first);
        let context = builder.context;
        let memref = Type::parse(context, &ty).unwrap_or_else(|| panic!("{ty} is a type"));
        let string = |text| Attribute::from(StringAttribute::new(context, text));
        let attributes = [
            ("sym_name", string(&name)),
            ("sym_visibility", string("private")),
            ("type", TypeAttribute::new(memref).into()),
            ("initial_value", value),
            ("constant", Attribute::unit(context)),
        ];
        at_start.op(ops::memref::GLOBAL, &[], &[], &attributes);
    }
    (name, ty)
}
