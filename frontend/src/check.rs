//! Checks of names, shapes and roles of variables: from a text to a program that has a meaning.

use mdh_algebra::index::lex::nearest;
use mdh_algebra::reuse::expression::{Id, Node};
use mdh_algebra::reuse::shape::{self, Violation};
use mdh_algebra::reuse::{Context, Shape, Statement, Variable};

use crate::Span;
use crate::diagnostic::Diagnostic;
use crate::parse::{self, Declaration, Marker, ParsedExpression, Syntax};

/// The bytes of an element.
pub const ELEMENT_BYTES: u64 = 8;

/// `x = e`, which is right.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// The statement.
    pub statement: Statement,
    /// The shape of each node of its expression.
    pub shapes: Vec<Shape>,
    /// Position of the variable that is assigned.
    pub target: Span,
    /// Position of each node.
    pub spans: Vec<Span>,
}

/// A program that is right.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct CheckedProgram {
    /// The variables, in the order of their declarations.
    pub context: Context,
    /// Position of each variable's declaration.
    pub declared: Vec<Span>,
    /// The variables whose values are given, in order.
    pub inputs: Vec<usize>,
    /// The variables whose values are results, in order.
    pub outputs: Vec<usize>,
    /// The statements, in order.
    pub statements: Vec<Assignment>,
}

/// Checks a program, and adds what is wrong.
pub fn check(syntax: &Syntax, diagnostics: &mut Vec<Diagnostic>) -> CheckedProgram {
    if syntax.statements.is_empty() && diagnostics.is_empty() {
        let message = "there is no statement, expected at least one: x = 2 * y";
        diagnostics.push(Diagnostic::new(message, 0..0, ""));
    }
    let declarations = declarations(syntax, diagnostics);
    let mut program = CheckedProgram::default();
    // Names occur first where they are declared, if nothing is wrong.
    for (name, declaration) in syntax.names.iter().zip(&declarations) {
        program.context.variables.push(Variable {
            name: name.clone(),
            shape: declaration.map(|d| d.shape.clone()).unwrap_or_default(),
        });
        program
            .declared
            .push(declaration.map_or(0..0, |d| d.span.clone()));
    }
    let roles = Roles::new(syntax, &declarations);
    for statement in &syntax.statements {
        if is_declared(syntax, statement, &declarations, diagnostics) {
            roles.check(syntax, statement, diagnostics);
            program
                .statements
                .extend(assignment(&program, statement, diagnostics));
        }
    }
    roles.check_outputs(syntax, diagnostics);
    let variables = 0..syntax.names.len();
    program.inputs = variables.clone().filter(|v| roles.inputs[*v]).collect();
    program.outputs = variables.filter(|v| roles.outputs[*v]).collect();
    program
}

/// The declaration of each name.
fn declarations<'s>(
    syntax: &'s Syntax,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Option<&'s Declaration>> {
    let mut declared: Vec<Option<&Declaration>> = vec![None; syntax.names.len()];
    for declaration in &syntax.declarations {
        let name = &syntax.names[declaration.name];
        if let Some(first) = declared[declaration.name] {
            let message = format!("'{name}' is declared twice");
            let span = declaration.span.clone();
            let twice = Diagnostic::new(message, span, format!("of shape {}", declaration.shape));
            let before = format!("declared here, of shape {}", first.shape);
            diagnostics.push(twice.also(first.span.clone(), before));
            continue;
        }
        declared[declaration.name] = Some(declaration);
        if declaration.shape.rank() > shape::MOST_DIMENSIONS {
            let message = format!(
                "'{name}' has {} dimensions, expected at most {}",
                declaration.shape.rank(),
                shape::MOST_DIMENSIONS
            );
            diagnostics.push(Diagnostic::new(message, declaration.shape_span.clone(), ""));
        } else if !fits(&declaration.shape) {
            let message = format!(
                "'{name}' of shape {} has too many elements: expected fewer than 2^63 bytes, of \
                 {ELEMENT_BYTES} each",
                declaration.shape
            );
            diagnostics.push(Diagnostic::new(message, declaration.shape_span.clone(), ""));
        }
    }
    declared
}

/// Returns whether the bytes of a tensor can be counted in 64 bits with a sign.
pub fn fits(shape: &Shape) -> bool {
    let bytes = shape.elements().and_then(|n| n.checked_mul(ELEMENT_BYTES));
    bytes.is_some_and(|bytes| i64::try_from(bytes).is_ok())
}

/// Returns whether all variables of a statement are declared before it.
fn is_declared(
    syntax: &Syntax,
    statement: &parse::Statement,
    declarations: &[Option<&Declaration>],
    diagnostics: &mut Vec<Diagnostic>,
) -> bool {
    let read = variables(&statement.value)
        .map(|(id, variable)| (variable, statement.value.spans[id].clone()));
    let mut reported = syntax.unread.clone();
    let mut is_known = true;
    for (variable, span) in [(statement.target, statement.span.clone())]
        .into_iter()
        .chain(read)
    {
        let name = &syntax.names[variable];
        let wrong = match declarations[variable] {
            Some(declaration) if declaration.span.start < span.start => continue,
            _ if reported.contains(&variable) => {
                is_known = false;
                continue;
            }
            Some(declaration) => {
                Diagnostic::new(format!("'{name}' is used before it is declared"), span, "")
                    .also(declaration.span.clone(), "declared here")
            }
            None => {
                let declared = syntax.declarations.iter();
                let near = nearest(name, declared.map(|d| syntax.names[d.name].as_str()));
                let help = match near.first() {
                    Some(near) => format!("did you mean '{near}'?"),
                    None => format!("declare it, with its sizes: var {name} : [300 400]"),
                };
                Diagnostic::new(format!("'{name}' is not declared"), span, "").help(help)
            }
        };
        reported.push(variable);
        diagnostics.push(wrong);
        is_known = false;
    }
    is_known
}

/// The variables of an expression, in order.
fn variables(value: &ParsedExpression) -> impl Iterator<Item = (Id, usize)> {
    let nodes = value.expression.nodes().iter().enumerate();
    nodes.filter_map(|(id, node)| match node {
        Node::Variable(variable) => Some((id, *variable)),
        _ => None,
    })
}

fn assignment(
    program: &CheckedProgram,
    statement: &parse::Statement,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Assignment> {
    let value = &statement.value;
    let assigned = Statement {
        target: statement.target,
        value: value.expression.clone(),
    };
    match shape::statement(&program.context, &assigned) {
        Ok(shapes) => Some(Assignment {
            statement: assigned,
            shapes,
            target: statement.span.clone(),
            spans: value.spans.clone(),
        }),
        Err(mut violations) => {
            violations.dedup();
            let known = shape::known(&program.context, &value.expression);
            let shown = violations
                .into_iter()
                .map(|(id, violation)| explain(program, statement, &known, id, &violation));
            diagnostics.extend(shown);
            None
        }
    }
}

/// A violation with the shapes of what it is about.
fn explain(
    program: &CheckedProgram,
    statement: &parse::Statement,
    known: &[Option<Shape>],
    id: Id,
    violation: &Violation,
) -> Diagnostic {
    let value = &statement.value;
    let of_shape = |id: Id| {
        let shape = known[id].as_ref().map(Shape::to_string);
        format!("of shape {}", shape.unwrap_or_default())
    };
    let (span, mark) = (value.spans[id].clone(), value.marks[id].clone());
    if let Violation::Assignment { declared, found } = violation {
        let target = statement.span.clone();
        let place = program.declared[statement.target].clone();
        return Diagnostic::new(violation.to_string(), span, format!("of shape {found}"))
            .also(target, format!("of shape {declared}"))
            .also(place, "declared here");
    }
    let operands = value.expression.node(id).operands();
    let message = match violation {
        Violation::TooManyDimensions { .. } => format!("the product {violation}"),
        _ => violation.to_string(),
    };
    let diagnostic = Diagnostic::new(message, mark, "");
    operands.fold(diagnostic, |diagnostic, operand| {
        diagnostic.also(value.spans[operand].clone(), of_shape(operand))
    })
}

/// Variables that are given, and those that are results.
struct Roles {
    markers: Vec<Option<Marker>>,
    inputs: Vec<bool>,
    outputs: Vec<bool>,
    has_input_markers: bool,
    /// The statement that first assigns each variable.
    assigned: Vec<Option<usize>>,
    declared: Vec<Span>,
}

impl Roles {
    /// Marked variables have the role that they are marked with. Where no variable is marked as an
    /// input, those that are read before they are assigned are inputs; where none is marked as an
    /// output, all that are assigned are outputs.
    fn new(syntax: &Syntax, declarations: &[Option<&Declaration>]) -> Roles {
        let count = syntax.names.len();
        let markers: Vec<Option<Marker>> = declarations
            .iter()
            .map(|d| d.and_then(|d| d.marker))
            .collect();
        let marked = |marker: Marker| -> Vec<bool> {
            markers.iter().map(|found| *found == Some(marker)).collect()
        };
        let (mut inputs, mut outputs) = (marked(Marker::Input), marked(Marker::Output));
        let (has_inputs, has_outputs) = (inputs.contains(&true), outputs.contains(&true));
        let mut assigned = vec![None; count];
        for (number, statement) in syntax.statements.iter().enumerate() {
            for (_, variable) in variables(&statement.value) {
                if assigned[variable].is_none() && !has_inputs {
                    inputs[variable] = true;
                }
            }
            assigned[statement.target].get_or_insert(number);
        }
        if !has_outputs {
            outputs = assigned.iter().map(Option::is_some).collect();
        }
        Roles {
            markers,
            inputs,
            outputs,
            has_input_markers: has_inputs,
            assigned,
            declared: declarations
                .iter()
                .map(|d| d.map_or(0..0, |d| d.span.clone()))
                .collect(),
        }
    }

    /// Reports an input that is assigned, and what is read without a value.
    fn check(
        &self,
        syntax: &Syntax,
        statement: &parse::Statement,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        if self.markers[statement.target] == Some(Marker::Input) {
            let name = &syntax.names[statement.target];
            let message = format!("'{name}' is an input, and assigned");
            let wrong = Diagnostic::new(message, statement.span.clone(), "assigned here")
                .also(
                    self.declared[statement.target].clone(),
                    "marked as an input",
                )
                .help(format!(
                    "declare it as 'var {name}', or assign another variable"
                ));
            diagnostics.push(wrong);
        }
        let mut reported = Vec::new();
        for (id, variable) in variables(&statement.value) {
            let is_before =
                |number: usize| syntax.statements[number].span.start < statement.span.start;
            let has_value = self.inputs[variable] || self.assigned[variable].is_some_and(is_before);
            if has_value || reported.contains(&variable) || !self.has_input_markers {
                continue;
            }
            reported.push(variable);
            let name = &syntax.names[variable];
            let message = format!("'{name}' is read before it is assigned, and is no input");
            let span = statement.value.spans[id].clone();
            let wrong = Diagnostic::new(message, span, "read here")
                .also(self.declared[variable].clone(), "declared here")
                .help(format!("mark it ('var input {name}'), or assign it before"));
            diagnostics.push(wrong);
        }
    }

    /// Reports results that nothing assigns.
    fn check_outputs(&self, syntax: &Syntax, diagnostics: &mut Vec<Diagnostic>) {
        for (variable, is_output) in self.outputs.iter().enumerate() {
            if *is_output && self.assigned[variable].is_none() {
                let name = &syntax.names[variable];
                let message = format!("'{name}' is an output, and no statement assigns it");
                let span = self.declared[variable].clone();
                diagnostics.push(Diagnostic::new(message, span, "marked as an output"));
            }
        }
    }
}
