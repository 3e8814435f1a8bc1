//! Scalar code as MLIR.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use mdh_algebra::code::{Block, Code, Instruction, Op, Register, Sign};
use mdh_algebra::scalar::{Scalar, ScalarType};

/// Prints code, with names of its own for all registers.
pub struct CodePrinter<'a> {
    callees: &'a [Arc<Code>],
    names: HashMap<Register, String>,
    types: HashMap<Register, ScalarType>,
    text: String,
    indent: usize,
}

/// A scalar as an attribute without its type: `0.5`, `0x7FC00000`, `-3`, `true`.
pub fn literal(value: Scalar) -> String {
    if value.ty == ScalarType::I1 {
        return value.is_true().to_string();
    }
    if value.ty.is_integer() {
        return value.as_i64().to_string();
    }
    let text = format!("{:?}", value.as_f64());
    let is_plain = text.contains('.') && !text.contains('e');
    match is_plain {
        true => text,
        false => {
            let digits = value.ty.bit_width() as usize / 4;
            format!("0x{:0digits$X}", value.bits)
        }
    }
}

/// A scalar as an attribute: `0.5 : f32`, `true`.
pub fn attribute(value: Scalar) -> String {
    match value.ty {
        ScalarType::I1 => literal(value),
        ty => format!("{} : {ty}", literal(value)),
    }
}

/// `a, b`.
pub fn list<T: ToString>(items: impl IntoIterator<Item = T>) -> String {
    let items: Vec<String> = items.into_iter().map(|i| i.to_string()).collect();
    items.join(", ")
}

/// A region `(%a: f32, ...) { ...; mdh.yield ... }` whose lines are indented by `indent`;
/// `captured` are the names of the last inputs, which are no arguments.
pub fn region(code: &Code, captured: &[String], callees: &[Arc<Code>], indent: usize) -> String {
    let mut printer = CodePrinter::new(callees, indent + 2);
    let count = code.inputs.len() - captured.len();
    let arguments: Vec<String> = (0..count)
        .map(|r| format!("{}: {}", printer.define(r, code.inputs[r]), code.inputs[r]))
        .collect();
    for (position, name) in captured.iter().enumerate() {
        printer
            .types
            .insert(count + position, code.inputs[count + position]);
        printer.names.insert(count + position, format!("%{name}"));
    }
    printer.block(&code.body);
    let yields = printer.typed(&code.body.yields);
    printer.line(format!("mdh.yield {yields}").trim_end());
    let end = " ".repeat(indent);
    format!("({}) {{\n{}{end}}}", arguments.join(", "), printer.text)
}

/// A private function.
pub fn function(name: &str, code: &Code, callees: &[Arc<Code>]) -> String {
    let mut printer = CodePrinter::new(callees, 2);
    let argument = |r: usize| format!("{}: {}", printer.define(r, code.inputs[r]), code.inputs[r]);
    let arguments: Vec<String> = (0..code.inputs.len()).map(argument).collect();
    printer.block(&code.body);
    let yields = printer.typed(&code.body.yields);
    printer.line(&format!("return {yields}"));
    format!(
        "func.func private @{name}({}) -> ({}) {{\n{}}}\n",
        arguments.join(", "),
        list(&code.results),
        printer.text
    )
}

impl CodePrinter<'_> {
    fn new(callees: &[Arc<Code>], indent: usize) -> CodePrinter<'_> {
        CodePrinter {
            callees,
            names: HashMap::new(),
            types: HashMap::new(),
            text: String::new(),
            indent,
        }
    }

    fn line(&mut self, line: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{}{line}", " ".repeat(self.indent));
    }

    fn define(&mut self, register: Register, ty: ScalarType) -> String {
        let name = format!("%v{register}");
        self.names.insert(register, name.clone());
        self.types.insert(register, ty);
        name
    }

    fn define_all(&mut self, registers: &[Register], types: &[ScalarType]) -> String {
        let pairs = registers.iter().zip(types);
        list(
            pairs
                .map(|(r, ty)| self.define(*r, *ty))
                .collect::<Vec<_>>(),
        )
    }

    fn name(&self, register: Register) -> &str {
        self.names
            .get(&register)
            .map_or("%undefined", String::as_str)
    }

    fn ty(&self, register: Register) -> ScalarType {
        self.types.get(&register).copied().unwrap_or(ScalarType::I1)
    }

    fn all(&self, registers: &[Register]) -> String {
        list(registers.iter().map(|r| self.name(*r)))
    }

    fn types_of(&self, registers: &[Register]) -> Vec<ScalarType> {
        registers.iter().map(|r| self.ty(*r)).collect()
    }

    /// `%a, %b : f32, i1`; nothing for no registers.
    fn typed(&self, registers: &[Register]) -> String {
        match registers.is_empty() {
            true => String::new(),
            false => format!(
                "{} : {}",
                self.all(registers),
                list(self.types_of(registers))
            ),
        }
    }

    /// `%a = %x, %b = %y`, defining the former.
    fn bind(&mut self, arguments: &[Register], initial: &[Register]) -> String {
        let types = self.types_of(initial);
        let pairs = arguments.iter().zip(initial).zip(types);
        let pairs: Vec<String> = pairs
            .map(|((argument, initial), ty)| {
                let initial = self.name(*initial).to_string();
                format!("{} = {initial}", self.define(*argument, ty))
            })
            .collect();
        pairs.join(", ")
    }

    fn block(&mut self, block: &Block) {
        for instruction in &block.instructions {
            self.instruction(instruction);
        }
    }

    fn nested(&mut self, block: &Block, terminator: &str) {
        self.indent += 2;
        self.block(block);
        let yields = self.typed(&block.yields);
        self.line(format!("{terminator} {yields}").trim_end());
        self.indent -= 2;
    }

    fn instruction(&mut self, instruction: &Instruction) {
        match instruction {
            Instruction::Constant { result, value } => {
                let name = self.define(*result, value.ty);
                self.line(&format!("{name} = arith.constant {}", attribute(*value)));
            }
            Instruction::Index { result, dimension } => {
                let name = self.define(*result, ScalarType::Index);
                self.line(&format!("{name} = mdh.index {dimension} : index"));
            }
            Instruction::Apply {
                result,
                op,
                operands,
                ty,
            } => self.apply(*result, *op, operands, *ty),
            // Generated code promises nothing.
            Instruction::Promise { .. } => {}
            Instruction::If {
                condition,
                then,
                otherwise,
                results,
            } => self.conditional(*condition, then, otherwise, results),
            Instruction::For { .. } => self.for_loop(instruction),
            Instruction::While { .. } => self.while_loop(instruction),
            Instruction::Call {
                callee,
                operands,
                results,
            } => {
                let number = self.callees.iter().position(|c| Arc::ptr_eq(c, callee));
                let (operands, types) = (self.all(operands), list(&callee.inputs));
                let names = self.define_all(results, &callee.results);
                self.line(&format!(
                    "{names} = func.call @f{}({operands}) : ({types}) -> ({})",
                    number.unwrap_or(usize::MAX),
                    list(&callee.results)
                ));
            }
        }
    }

    fn apply(&mut self, result: Register, op: Op, operands: &[Register], ty: ScalarType) {
        let types = self.types_of(operands);
        let names = self.all(operands);
        let from = types.first().copied().unwrap_or(ty);
        let types = match op {
            Op::Cmpf(_) | Op::Cmpi(_) => from.to_string(),
            Op::Fpowi | Op::Ipowi => list(&types),
            _ if op.is_conversion() => format!("{from} to {ty}"),
            _ if from != ty && op != Op::Select => from.to_string(),
            _ => ty.to_string(),
        };
        let text = op.to_string();
        let text = match text.split_once(' ') {
            Some((name, predicate)) => format!("{name} {predicate},"),
            None => text,
        };
        let result = self.define(result, ty);
        self.line(&format!("{result} = {text} {names} : {types}"));
    }

    fn conditional(
        &mut self,
        condition: Register,
        then: &Block,
        otherwise: &Block,
        results: &[Register],
    ) {
        // The results' types are those of what a branch yields, which is not printed yet.
        let start = self.text.len();
        self.nested(then, "scf.yield");
        let types = self.types_of(&then.yields);
        let then = self.text.split_off(start);
        let condition = self.name(condition).to_string();
        let names = self.define_all(results, &types);
        self.line(&format!(
            "{names} = scf.if {condition} -> ({}) {{",
            list(&types)
        ));
        self.text += &then;
        self.line("} else {");
        self.nested(otherwise, "scf.yield");
        self.line("}");
    }

    fn for_loop(&mut self, instruction: &Instruction) {
        let Instruction::For {
            sign,
            lower,
            upper,
            step,
            induction,
            initial,
            arguments,
            body,
            results,
        } = instruction
        else {
            return;
        };
        let types = self.types_of(initial);
        let bounds = [lower, upper, step].map(|r| self.name(*r).to_string());
        let counter = self.ty(*lower);
        let [lower, upper, step] = bounds;
        let induction = self.define(*induction, counter);
        let carried = self.bind(arguments, initial);
        let names = self.define_all(results, &types);
        let suffix = match counter {
            ScalarType::Index => String::new(),
            ty => format!(" : {ty}"),
        };
        let unsigned = match sign {
            Sign::Signed => "",
            Sign::Unsigned => " unsigned",
        };
        self.line(&format!(
            "{names} = scf.for{unsigned} {induction} = {lower} to {upper} step {step} \
             iter_args({carried}) -> ({}) {suffix} {{",
            list(&types)
        ));
        self.nested(body, "scf.yield");
        self.line("}");
    }

    fn while_loop(&mut self, instruction: &Instruction) {
        let Instruction::While {
            initial,
            before_arguments,
            before,
            after_arguments,
            after,
            results,
        } = instruction
        else {
            return;
        };
        let types = self.types_of(initial);
        let type_list = list(&types);
        let carried = self.bind(before_arguments, initial);
        let names = self.define_all(results, &types);
        self.line(&format!(
            "{names} = scf.while ({carried}) : ({type_list}) -> ({type_list}) {{"
        ));
        self.indent += 2;
        self.block(before);
        let (condition, forwarded) = before.yields.split_at(1);
        let (condition, forwarded) = (self.all(condition), self.typed(forwarded));
        self.line(&format!("scf.condition({condition}) {forwarded}"));
        self.indent -= 2;
        self.line("} do {");
        let pairs = after_arguments.iter().zip(&types);
        let arguments: Vec<String> = pairs
            .map(|(r, ty)| format!("{}: {ty}", self.define(*r, *ty)))
            .collect();
        self.line(&format!("^bb0({}):", arguments.join(", ")));
        self.nested(after, "scf.yield");
        self.line("}");
    }
}
