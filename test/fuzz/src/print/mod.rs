//! Programs as MLIR, as a person would write them.

pub mod code;

use std::fmt::{self, Write as _};

use mdh_algebra::code::{Code, Instruction};
use mdh_algebra::computation::Combine;
use mdh_algebra::op::Op;
use mdh_algebra::operator::{Builtin, Operator, UserOperator};
use mdh_algebra::scalar::ScalarType;
use mdh_dialect::types::BufferKind;

use crate::program::{
    Bound, Carry, DefinedValue, Definition, Dim, Hom, Notation, RandomProgram, Statement, Step,
    Type, ValueId, View,
};
use code::{attribute, list, literal};

/// The file: combine operators, functions that are called, the function `f`.
impl fmt::Display for RandomProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let printer = Printer { program: self };
        for (number, step) in steps(self).enumerate() {
            if step.form == Notation::Triple {
                for (hom, operator) in operators(step) {
                    let name = format!("@{}", operator_name(number, hom));
                    writeln!(
                        f,
                        "mdh.combine {name}{}",
                        printer.operator_body(operator, 0)
                    )?;
                }
            }
        }
        for (number, callee) in self.callees.iter().enumerate() {
            f.write_str(&code::function(
                &format!("f{number}"),
                callee,
                &self.callees,
            ))?;
        }
        f.write_str(&printer.function())
    }
}

fn steps(program: &RandomProgram) -> impl Iterator<Item = &Step> {
    program.body.iter().filter_map(|statement| match statement {
        Statement::Step(step) => Some(&**step),
        _ => None,
    })
}

/// The user's operators of a computation, with the numbers of their homs.
fn operators(step: &Step) -> impl Iterator<Item = (usize, &UserOperator)> {
    let homs = step.homs.iter().enumerate();
    homs.filter_map(|(n, hom)| match &hom.operator {
        Some(Operator::User(operator)) => Some((n, operator)),
        _ => None,
    })
}

fn operator_name(step: usize, hom: usize) -> String {
    format!("op{step}_{hom}")
}

/// The type as MLIR writes it.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.kind {
            BufferKind::Tensor => "tensor",
            BufferKind::MemRef => "memref",
            BufferKind::Scalar => return write!(f, "{}", self.element),
        };
        let extents = self.shape.iter().zip(&self.dynamic);
        let extents = extents.map(|(extent, dynamic)| match dynamic {
            true => "?x".to_string(),
            false => format!("{extent}x"),
        });
        write!(f, "{name}<{}{}>", extents.collect::<String>(), self.element)
    }
}

/// `!mdh.mda<8x?, f32>`.
fn mda(dims: &[Dim], components: &[ScalarType]) -> String {
    let sizes = dims.iter().map(|dim| match dim.is_fixed() {
        true => dim.grid.count().to_string(),
        false => "?".to_string(),
    });
    let sizes: Vec<String> = sizes.collect();
    let components = components.iter().map(|ty| format!(", {ty}"));
    format!(
        "!mdh.mda<{}{}>",
        sizes.join("x"),
        components.collect::<String>()
    )
}

/// The name by which a function is written without a region, if it has one.
fn short_name(code: &Code) -> Option<&'static str> {
    if *code == Code::identity(&code.inputs) {
        return Some("id");
    }
    let [Instruction::Apply { op, ty, .. }] = code.body.instructions[..] else {
        return None;
    };
    let name = Builtin::all().find(|b| b.op() == op).map(Builtin::name);
    let name = name.or(match op {
        Op::Subf => Some("subf"),
        Op::Subi => Some("subi"),
        _ => None,
    })?;
    (*code == Code::single(op, ty)).then_some(name)
}

struct Printer<'a> {
    program: &'a RandomProgram,
}

impl Printer<'_> {
    fn value(&self, value: ValueId) -> &DefinedValue {
        &self.program.values[value]
    }

    fn name(&self, value: ValueId) -> String {
        format!("%{}", self.value(value).name)
    }

    fn names(&self, values: &[ValueId]) -> String {
        list(values.iter().map(|v| self.name(*v)))
    }

    fn types(&self, values: &[ValueId]) -> String {
        list(values.iter().map(|v| &self.value(*v).ty))
    }

    fn function(&self) -> String {
        let program = self.program;
        let arguments = program
            .arguments()
            .map(|v| format!("%{}: {}", v.name, v.ty));
        let results = match program.returns[..] {
            [] => String::new(),
            _ => format!(" -> ({})", self.types(&program.returns)),
        };
        let mut text = format!("func.func @f({}){results} {{\n", list(arguments));
        let mut step = 0;
        for statement in &program.body {
            text += &match statement {
                Statement::Define(value) => self.definition(*value),
                Statement::Free(value) => {
                    format!(
                        "  memref.dealloc {} : {}\n",
                        self.name(*value),
                        self.value(*value).ty
                    )
                }
                Statement::Step(s) => {
                    step += 1;
                    match s.form {
                        Notation::Triple => self.triple(s, step - 1),
                        Notation::Compute => self.compute(s),
                    }
                }
            };
        }
        let types = self.types(&program.returns);
        let returned = match program.returns[..] {
            [] => String::new(),
            _ => format!(" {} : {types}", self.names(&program.returns)),
        };
        format!("{text}  return{returned}\n}}\n")
    }

    fn definition(&self, value: ValueId) -> String {
        let (name, ty) = (self.name(value), &self.value(value).ty);
        match &self.value(value).definition {
            Definition::Argument(_) | Definition::Result => String::new(),
            Definition::Constant(scalar) if ty.kind == BufferKind::Scalar => {
                format!("  {name} = arith.constant {}\n", attribute(*scalar))
            }
            Definition::Constant(scalar) => {
                format!(
                    "  {name} = arith.constant dense<{}> : {ty}\n",
                    literal(*scalar)
                )
            }
            Definition::Dim { of, axis } => {
                let (of, buffer) = (self.name(*of), &self.value(*of).ty);
                let dialect = match buffer.kind {
                    BufferKind::MemRef => "memref",
                    _ => "tensor",
                };
                format!(
                    "  {name}_axis = arith.constant {axis} : index\n  \
                     {name} = {dialect}.dim {of}, {name}_axis : {buffer}\n"
                )
            }
            // Its name is that by which scripts find it.
            Definition::Filled { with, into } => {
                let (into, number) = (self.name(*into), attribute(*with));
                let label = &self.value(value).name;
                format!(
                    "  {name}_with = arith.constant {number}\n  {name} = linalg.fill \
                     {{name = \"{label}\"}} ins({name}_with : {}) outs({into} : {ty}) -> {ty}\n",
                    ty.element
                )
            }
            Definition::Empty(sizes) => {
                let op = match ty.kind {
                    BufferKind::MemRef => "memref.alloc",
                    _ => "tensor.empty",
                };
                format!("  {name} = {op}({}) : {ty}\n", self.names(sizes))
            }
        }
    }

    fn bound(&self, bound: Bound) -> String {
        bound
            .value
            .map_or(bound.number.to_string(), |v| self.name(v))
    }

    fn domain(&self, dims: &[Dim]) -> String {
        let dims = dims.iter().map(|dim| {
            let mut text = format!("{} = ", dim.name);
            let [lower, upper, step, width] = dim.bounds;
            if lower != Bound::fixed(0) {
                text += &format!("{} to ", self.bound(lower));
            }
            text += &self.bound(upper);
            for (what, bound) in [("step", step), ("width", width)] {
                if bound != Bound::fixed(1) {
                    text += &format!(" {what} {}", self.bound(bound));
                }
            }
            text
        });
        format!("({})", list(dims))
    }

    fn view(&self, view: &View, dims: &[Dim]) -> String {
        let names: Vec<&str> = dims.iter().map(|d| d.name.as_str()).collect();
        let value = self.value(view.value);
        let mut text = match view.name == value.name {
            true => String::new(),
            false => format!("{} = ", view.name),
        };
        text += &self.name(view.value);
        for map in &view.accesses {
            text += &format!("[{}]", list(map.iter().map(|e| e.display(&names))));
        }
        if view.origin.iter().any(|bound| *bound != Bound::fixed(0)) {
            text += &format!(
                " origin({})",
                list(view.origin.iter().map(|b| self.bound(*b)))
            );
        }
        if let Some(pad) = view.pad {
            text += &format!(" pad({})", attribute(pad));
        }
        format!("{text} : {}", value.ty)
    }

    fn views(&self, views: &[View], dims: &[Dim]) -> String {
        format!("({})", list(views.iter().map(|view| self.view(view, dims))))
    }

    /// Outputs, with a `_` for each component that none of them stores.
    fn outputs(&self, step: &Step) -> String {
        let mut entries = Vec::new();
        let mut next = 0;
        for view in &step.outputs {
            entries.extend((next..view.component).map(|_| "_".to_string()));
            entries.push(self.view(view, &step.dims));
            next = view.component + view.accesses.len();
        }
        let count = step.tuple(step.homs.len(), &self.program.values).len();
        entries.extend((next..count).map(|_| "_".to_string()));
        format!("({})", entries.join(", "))
    }

    fn carry(&self, carry: &Carry, dims: &[Dim]) -> String {
        let mut text = format!(
            "carry {} {}",
            dims[carry.dim].name,
            self.views(&carry.incoming, dims)
        );
        if let Some(valid) = carry.valid {
            text += &format!(" valid {}", self.name(valid));
        }
        if !carry.outgoing.is_empty() {
            text += &format!(" -> {}", self.views(&carry.outgoing, dims));
        }
        text
    }

    fn scalar(&self, hom: &Hom, indent: usize) -> String {
        if let (Some(name), true) = (short_name(&hom.scalar), hom.captured.is_empty()) {
            return name.to_string();
        }
        let captured: Vec<String> = hom
            .captured
            .iter()
            .map(|v| self.value(*v).name.clone())
            .collect();
        code::region(&hom.scalar, &captured, &self.program.callees, indent)
    }

    fn combine(&self, hom: &Hom, user: &str) -> String {
        let function = match &hom.operator {
            Some(Operator::Builtin(builtins)) => list(builtins),
            _ => user.to_string(),
        };
        let combine = hom.combine.iter().map(|combine| match combine {
            Combine::Cc => "cc".to_string(),
            Combine::Pw(_) => format!("pw({function})"),
            Combine::Ps(_) => format!("ps({function})"),
        });
        format!("({})", list(combine))
    }

    /// ` commutative associative neutral(...) (...) { ... }`
    fn operator_body(&self, operator: &UserOperator, indent: usize) -> String {
        let mut text = String::new();
        if operator.commutative {
            text += " commutative";
        }
        if operator.associative {
            text += " associative";
        }
        if let Some(neutral) = &operator.neutral {
            text += &format!(" neutral({})", list(neutral.iter().map(|v| attribute(*v))));
        }
        text + " " + &code::region(&operator.code, &[], &self.program.callees, indent)
    }

    fn results(&self, step: &Step) -> String {
        match step.results[..] {
            [] => String::new(),
            _ => format!("{} = ", self.names(&step.results)),
        }
    }

    fn triple(&self, step: &Step, number: usize) -> String {
        let values = &self.program.values;
        let mut ty = mda(&step.dims, &step.tuple(0, values));
        let mut mda_name = format!("%points{number}");
        let mut text = format!(
            "  {mda_name} = mdh.inp_view {} {} : {ty}\n",
            self.domain(&step.dims),
            self.views(&step.inputs, &step.dims)
        );
        for (n, hom) in step.homs.iter().enumerate() {
            let result = format!("%mda{number}_{n}");
            let left = mda(&step.domain(n + 1), hom.components());
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "  {result} = mdh.hom({}, {}) {mda_name} : {ty} -> {left}",
                self.scalar(hom, 2),
                self.combine(hom, &format!("@{}", operator_name(number, n))),
            );
            (mda_name, ty) = (result, left);
        }
        text += &format!(
            "  {}mdh.out_view ({}) {mda_name} -> {}",
            self.results(step),
            list(step.dims.iter().map(|d| &d.name)),
            self.outputs(step)
        );
        for carry in &step.carries {
            text += &format!("\n      {}", self.carry(carry, &step.dims));
        }
        format!("{text} : {ty}\n")
    }

    fn compute(&self, step: &Step) -> String {
        let mut text = format!(
            "  {}mdh.compute {}\n",
            self.results(step),
            self.domain(&step.dims)
        );
        text += &format!("    out_view{}\n", self.outputs(step));
        for hom in &step.homs {
            let (scalar, combine) = (self.scalar(hom, 4), self.combine(hom, "op"));
            text += &format!("    md_hom({scalar}, {combine})\n");
        }
        text += &format!("    inp_view{}\n", self.views(&step.inputs, &step.dims));
        for (_, operator) in operators(step) {
            text += &format!("    combine op{}\n", self.operator_body(operator, 4));
        }
        for carry in &step.carries {
            text += &format!("    {}\n", self.carry(carry, &step.dims));
        }
        text
    }
}
