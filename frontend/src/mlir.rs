//! Programs as MLIR: one `mdh.compute` for each step of each statement.

use std::collections::BTreeSet;
use std::fmt::Write;

use mdh_algebra::reuse::{Function, Operator, Shape};

use crate::check::{Assignment, CheckedProgram, ELEMENT_BYTES, fits};
use crate::diagnostic::Diagnostic;
use crate::plan::{Code, Loop, Read, Source, StatementPlan, Step};

/// Destination of the results of statements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Results {
    /// The memory of the variable that is assigned, where a statement may run in place.
    #[default]
    InPlace,
    /// Memory of their own, always: inputs that are outputs too are copied back at the end. That is
    /// the code of a compiler that does not ask which statements are compatible.
    Copied,
}

/// Origin and options of a module.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'t> {
    /// The function's name.
    pub function: &'t str,
    /// The file's name, for locations.
    pub file: &'t str,
    /// The program's text.
    pub text: &'t str,
    /// Destination of the results of its statements.
    pub results: Results,
}

/// A module with one function, whose arguments are the inputs and whose results are the outputs, each in
/// the order of their declarations. What is both is one argument, a memref, which is updated; other
/// inputs are tensors, and an `f64` where they are scalars and never assigned.
///
/// Fails for intermediate results that no memory holds.
pub fn module(program: &CheckedProgram, origin: Origin) -> Result<String, Vec<Diagnostic>> {
    let mut writer = Writer::new(program, origin);
    let arguments: Vec<String> = program.inputs.iter().map(|v| writer.argument(*v)).collect();
    for (number, assignment) in program.statements.iter().enumerate() {
        writer.statement(number, assignment);
    }
    let (mut values, mut types) = (Vec::new(), Vec::new());
    for variable in &program.outputs {
        let Some(value) = writer.values[*variable].clone() else {
            continue;
        };
        match writer.memory[*variable].clone() {
            Some(memory) => {
                let location = writer.assigned_last(*variable);
                writer.line(&format!(
                    "bufferization.materialize_in_destination %{} in restrict writable %{} : ({}, {}) -> () {location}",
                    value.name, memory.name, value.ty, memory.ty
                ));
            }
            None => {
                values.push(format!("%{}", value.name));
                types.push(value.ty);
            }
        }
    }
    let (returned, types) = match values.is_empty() {
        true => (String::new(), String::new()),
        false => {
            let types = types.join(", ");
            (
                format!(" {} : {types}", values.join(", ")),
                format!(" -> ({types})"),
            )
        }
    };
    match writer.wrong.is_empty() {
        true => Ok(format!(
            "func.func @{}({}){types} {{\n{}  return{returned}\n}}\n",
            origin.function,
            arguments.join(", "),
            writer.text
        )),
        false => Err(writer.wrong),
    }
}

/// An SSA value.
#[derive(Clone, Debug)]
struct SsaValue {
    name: String,
    ty: String,
}

/// Destination of a step's result.
struct Target {
    result: SsaValue,
    /// Its name in the step.
    buffer: String,
    /// The value whose memory it may take.
    destination: Option<SsaValue>,
    location: String,
}

struct Writer<'p> {
    program: &'p CheckedProgram,
    origin: Origin<'p>,
    lines: Lines,
    /// The names of variables.
    variables: BTreeSet<&'p str>,
    /// The names of values.
    taken: BTreeSet<String>,
    /// The value that each variable has.
    values: Vec<Option<SsaValue>>,
    /// The memory of each variable that is an input and an output.
    memory: Vec<Option<SsaValue>>,
    /// Prefixes of the names of arguments and of other values in scalar code.
    prefixes: [String; 2],
    text: String,
    wrong: Vec<Diagnostic>,
}

impl<'p> Writer<'p> {
    fn new(program: &'p CheckedProgram, origin: Origin<'p>) -> Writer<'p> {
        let variables = &program.context.variables;
        // Values outside of scalar code are called like variables, with something behind.
        let prefix = |letter: &str| {
            let mut prefix = letter.to_string();
            while variables.iter().any(|v| v.name.starts_with(&prefix)) {
                prefix.push('_');
            }
            prefix
        };
        Writer {
            program,
            origin,
            lines: Lines::new(origin.text),
            variables: variables.iter().map(|v| v.name.as_str()).collect(),
            prefixes: [prefix("a"), prefix("v")],
            taken: BTreeSet::new(),
            values: vec![None; variables.len()],
            memory: vec![None; variables.len()],
            text: String::new(),
            wrong: Vec::new(),
        }
    }

    /// Declares an argument, and gives its variable its value.
    fn argument(&mut self, variable: usize) -> String {
        let shape = self.program.context.shape(variable);
        let mut statements = self.program.statements.iter();
        let is_assigned = statements.any(|a| a.statement.target == variable);
        let ty = match shape.is_scalar() && !is_assigned {
            true => "f64".to_string(),
            false => tensor(shape),
        };
        let name = self.fresh(self.program.context.name(variable));
        let location = self.location(self.program.declared[variable].start);
        if !self.program.outputs.contains(&variable) {
            let text = format!("%{name}: {ty} {location}");
            self.values[variable] = Some(SsaValue { name, ty });
            return text;
        }
        let memory = SsaValue {
            ty: format!("memref<{}>", elements(shape)),
            name,
        };
        let name = self.fresh(&self.no_variable(&format!("{}_given", memory.name)));
        self.line(&format!(
            "%{name} = bufferization.to_tensor %{} restrict writable : {} to {ty}",
            memory.name, memory.ty
        ));
        let text = format!("%{}: {} {location}", memory.name, memory.ty);
        self.values[variable] = Some(SsaValue { name, ty });
        self.memory[variable] = Some(memory);
        text
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "  {text}");
    }

    /// A name that nothing has.
    fn fresh(&mut self, wanted: &str) -> String {
        let numbered = |n: usize| match n {
            1 => wanted.to_string(),
            _ => format!("{wanted}_{n}"),
        };
        // A variable's name is for its own values.
        let is_free = |name: &String| {
            !self.taken.contains(name) && (name == wanted || !self.is_variable(name))
        };
        let free = (1..).map(numbered).find(is_free);
        let name = free.unwrap_or_default();
        self.taken.insert(name.clone());
        name
    }

    fn is_variable(&self, name: &str) -> bool {
        self.variables.contains(name)
    }

    /// The location of the last statement that assigns a variable, or where it is declared.
    fn assigned_last(&self, variable: usize) -> String {
        let statements = self.program.statements.iter().rev();
        let mut assignments = statements.filter(|a| a.statement.target == variable);
        let declared = self.program.declared[variable].start;
        self.location(assignments.next().map_or(declared, |a| a.target.start))
    }

    /// `loc("f.tdsl":3:5)`
    fn location(&self, at: usize) -> String {
        let (line, column) = self.lines.position(at);
        format!("loc(\"{}\":{line}:{column})", escaped(self.origin.file))
    }

    fn statement(&mut self, number: usize, assignment: &Assignment) {
        let plan = StatementPlan::new(&assignment.statement, &assignment.shapes);
        let target = assignment.statement.target;
        let root = assignment.statement.value.root();
        let place = assignment.target.start..assignment.spans[root].end;
        let mut results: Vec<SsaValue> = Vec::new();
        for (n, step) in plan.steps.iter().enumerate() {
            let shape = plan.shape(&step.kept);
            if !fits(&shape) {
                let message = format!(
                    "an intermediate result of shape {shape} has too many elements: expected fewer \
                     than 2^63 bytes, of {ELEMENT_BYTES} each"
                );
                self.wrong.push(Diagnostic::new(message, place.clone(), ""));
                return;
            }
            let name = self.program.context.name(target);
            let is_last = n + 1 == plan.steps.len();
            let (result, buffer) = match is_last {
                true => (self.fresh(name), name.to_string()),
                false => {
                    let result = self.fresh(&self.no_variable(&format!("{name}_part")));
                    (result.clone(), result)
                }
            };
            let target = Target {
                result: SsaValue {
                    name: result,
                    ty: tensor(&shape),
                },
                destination: self.destination(number, &plan, n),
                location: self.location(place.start),
                buffer,
            };
            self.step(&plan, step, &results, &target);
            results.push(target.result);
        }
        self.values[target] = results.pop();
    }

    /// The value whose memory the result of a step may take, if it is nothing's after the step: that
    /// of the variable that is assigned, of which the step reads nothing, or only the element that it
    /// computes and sums nothing. A part of a sum may be stored while others are still computed.
    fn destination(&self, number: usize, plan: &StatementPlan, n: usize) -> Option<SsaValue> {
        let step = &plan.steps[n];
        let target = self.program.statements[number].statement.target;
        let is_last = n + 1 == plan.steps.len();
        if self.origin.results == Results::Copied || !is_last {
            return None;
        }
        let of_target = |read: &&Read| read.source == Source::Variable(target);
        let mut reads = step.reads.iter().filter(of_target);
        let is_in_place = reads.all(|read| step.sums.is_empty() && read.at == step.kept);
        let value = self.values[target]
            .clone()
            .filter(|value| value.ty != "f64");
        value.filter(|_| is_in_place)
    }

    /// Writes a step.
    fn step(&mut self, plan: &StatementPlan, step: &Step, results: &[SsaValue], target: &Target) {
        let (SsaValue { name, ty }, buffer) = (&target.result, &target.buffer);
        let location = &target.location;
        let names = self.dimensions(step);
        let indices = |loops: &[Loop]| -> String {
            let named = |l: &Loop| names.iter().find(|(named, _)| named == l);
            let names = loops.iter().filter_map(|l| Some(named(l)?.1.as_str()));
            names.collect::<Vec<_>>().join(", ")
        };
        let sizes = names
            .iter()
            .map(|(l, name)| format!("{name} = {}", plan.sizes[*l]));
        let mut domain: Vec<String> = sizes.collect();
        let concatenated = step.kept.iter().map(|_| "cc");
        let mut combine: Vec<&str> = concatenated
            .chain(step.sums.iter().map(|_| "pw(addf)"))
            .collect();
        if domain.is_empty() {
            // A domain has a dimension.
            domain.push(format!("{} = 1", self.unused("i1")));
            combine.push("cc");
        }
        let destination = target.destination.clone().unwrap_or_else(|| {
            let name = self.fresh(&self.no_variable(&format!("{buffer}_init")));
            let _ = writeln!(self.text, "  %{name} = tensor.empty() : {ty} {location}");
            let ty = ty.clone();
            SsaValue { name, ty }
        });
        let sources = step.reads.chunk_by(|a, b| a.source == b.source);
        let inputs = sources.map(|reads| {
            let (name, value) = self.input(reads[0].source, results, buffer);
            let accesses = reads.iter().map(|read| format!("[{}]", indices(&read.at)));
            let accesses: String = accesses.collect();
            format!("{name} = %{}{accesses} : {}", value.name, value.ty)
        });
        let inputs: Vec<String> = inputs.collect();
        let _ = write!(
            self.text,
            "  %{name} = mdh.compute ({})\n    out_view({buffer} = %{}[{}] : {ty})\n    \
             md_hom({}, ({}))\n    inp_view({}) {location}\n",
            domain.join(", "),
            destination.name,
            indices(&step.kept),
            scalar(&step.code, step.reads.len(), &self.prefixes),
            combine.join(", "),
            inputs.join(", "),
        );
    }

    /// Returns an operand, and its name in the step: the variable's, but for the old value of the
    /// variable that it computes.
    fn input(&self, source: Source, results: &[SsaValue], buffer: &str) -> (String, SsaValue) {
        match source {
            Source::Variable(variable) => {
                let value = self.values[variable].clone();
                let value = value.unwrap_or_else(|| panic!("what is read has a value"));
                let name = self.program.context.name(variable);
                let name = match name == buffer {
                    true => self.unused(&format!("{name}_before")),
                    false => name.to_string(),
                };
                (name, value)
            }
            Source::Step(step) => (results[step].name.clone(), results[step].clone()),
        }
    }

    /// The names of a step's dimensions: `i1`, `i2`, .. of the result's, `k1`, `k2`, .. of the others.
    fn dimensions(&self, step: &Step) -> Vec<(Loop, String)> {
        let named = |letter: char, loops: &[Loop]| -> Vec<(Loop, String)> {
            let numbered = loops.iter().zip(1..);
            let names = numbered.map(|(l, n)| (*l, self.unused(&format!("{letter}{n}"))));
            names.collect()
        };
        [named('i', &step.kept), named('k', &step.sums)].concat()
    }

    /// A name that no variable or value has, which may be used again.
    fn unused(&self, wanted: &str) -> String {
        let mut name = self.no_variable(wanted);
        while self.taken.contains(&name) {
            name = self.no_variable(&(name + "_"));
        }
        name
    }

    /// A name that no variable has.
    fn no_variable(&self, wanted: &str) -> String {
        let mut name = wanted.to_string();
        while self.is_variable(&name) {
            name.push('_');
        }
        name
    }
}

/// A text as it stands in a string of MLIR.
fn escaped(text: &str) -> String {
    let escape = |c: char| match c {
        '"' | '\\' => format!("\\{:02X}", u32::from(c)),
        _ if c.is_ascii_control() => format!("\\{:02X}", u32::from(c)),
        _ => c.to_string(),
    };
    text.chars().map(escape).collect()
}

/// The MLIR type of a tensor.
fn tensor(shape: &Shape) -> String {
    format!("tensor<{}>", elements(shape))
}

/// `3x4xf64`
fn elements(shape: &Shape) -> String {
    let sizes: String = shape.0.iter().map(|size| format!("{size}x")).collect();
    sizes + "f64"
}

/// A scalar function of so many arguments, whose names and those of other values begin so.
fn scalar(code: &[Code], arguments: usize, [a, v]: &[String; 2]) -> String {
    match code {
        [Code::Read(0)] => return "id".to_string(),
        [
            Code::Read(0),
            Code::Read(1),
            Code::Elementwise(operator, 0, 1),
        ] => {
            return built_in(*operator).to_string();
        }
        _ => {}
    }
    let names: Vec<String> = (1..=arguments).map(|n| format!("%{a}{n}: f64")).collect();
    let mut text = format!("({}) {{\n", names.join(", "));
    // The SSA value of each node.
    let mut values: Vec<String> = Vec::new();
    for (node, n) in code.iter().zip(1..) {
        let name = format!("%{v}{n}");
        let operation = match node {
            Code::Read(read) => {
                values.push(format!("%{a}{}", read + 1));
                continue;
            }
            Code::Constant(number) => format!("arith.constant {}", literal(*number)),
            Code::Elementwise(operator, e, f) => {
                format!(
                    "arith.{} {}, {}",
                    built_in(*operator),
                    values[*e],
                    values[*f]
                )
            }
            Code::Apply(function, e) => apply(&mut text, *function, &name, &values[*e]),
        };
        let _ = writeln!(text, "      {name} = {operation} : f64");
        values.push(name);
    }
    let last = values.last().map_or("", |value| value);
    let _ = write!(text, "      mdh.yield {last} : f64\n    }}");
    text
}

fn built_in(operator: Operator) -> &'static str {
    match operator {
        Operator::Add => "addf",
        Operator::Subtract => "subf",
        Operator::Multiply => "mulf",
        Operator::Divide => "divf",
    }
}

/// The operation that gives a function's value, after those that it needs.
fn apply(text: &mut String, function: Function, name: &str, e: &str) -> String {
    let mut line = |what: &str, operation: String| {
        let _ = writeln!(text, "      {name}_{what} = {operation} : f64");
        format!("{name}_{what}")
    };
    let math = match function {
        Function::Abs => "absf",
        Function::Cos => "cos",
        Function::Erf => "erf",
        Function::Exp => "exp",
        Function::Log => "log",
        Function::Sin => "sin",
        Function::Sqrt => "sqrt",
        Function::Tanh => "tanh",
        Function::Relu => {
            let zero = line("zero", format!("arith.constant {}", literal(0.0)));
            return format!("arith.maximumf {e}, {zero}");
        }
        Function::Sigmoid => {
            let unit = line("one", format!("arith.constant {}", literal(1.0)));
            let negated = line("negated", format!("arith.negf {e}"));
            let exponential = line("exp", format!("math.exp {negated}"));
            let sum = line("sum", format!("arith.addf {unit}, {exponential}"));
            return format!("arith.divf {unit}, {sum}");
        }
    };
    format!("math.{math} {e}")
}

/// A number, bit by bit.
fn literal(number: f64) -> String {
    format!("0x{:016X}", number.to_bits())
}

/// Starts of lines.
struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    fn new(text: &str) -> Lines {
        let ends = text.match_indices('\n').map(|(at, _)| at + 1);
        Lines {
            starts: [0].into_iter().chain(ends).collect(),
        }
    }

    /// Line and column of a byte, from 1; columns are in bytes, as MLIR's.
    fn position(&self, at: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|start| *start <= at);
        (line, at - self.starts[line - 1] + 1)
    }
}
