//! Names, markers and shapes: what makes a text a program.

use std::collections::BTreeMap;

use mdh_algebra::index::lex::nearest;
use mdh_algebra::reuse::shape::{self, Violation};
use mdh_algebra::reuse::{Context, Expression, Id, Node, Shape, Statement, Variable};

use crate::diagnostic::Diagnostic;
use crate::parse::{Assignment, Declaration, Marker, Name, Span, Text, parse};

/// Bytes of an element.
pub const ELEMENT_BYTES: u64 = 8;

/// What a variable is to those who run a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Role {
    /// Its value comes from outside.
    pub is_input: bool,
    /// Its value is a result.
    pub is_output: bool,
}

/// A program that is well formed.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// The variables, in the order of their declarations.
    pub context: Context,
    /// What each of them is to others.
    pub roles: Vec<Role>,
    /// The statements, in order; at least one.
    pub statements: Vec<Statement>,
    /// Of each statement, the shape of every node.
    pub shapes: Vec<Vec<Shape>>,
    /// Of each statement, where the variable that is assigned stands.
    pub targets: Vec<Span>,
    /// Of each statement, where every node stands.
    pub spans: Vec<Vec<Span>>,
}

impl Program {
    /// Where a statement stands.
    pub fn span(&self, statement: usize) -> Span {
        let root = self.statements[statement].value.root();
        self.targets[statement].start..self.spans[statement][root].end
    }
}

/// Reads a program, or everything that is wrong with it.
pub fn check(text: &str) -> Result<Program, Vec<Diagnostic>> {
    let (parsed, mut wrong) = parse(text);
    if wrong.is_empty() && parsed.assignments.is_empty() {
        let message = "there is no statement: expected one at least, as in 'x = 2 * y'";
        wrong.push(Diagnostic::new(text.len()..text.len(), message));
    }
    let had_mistakes = !wrong.is_empty();
    let mut checker = Checker {
        known: BTreeMap::new(),
        text: &parsed,
        wrong,
        program: Program {
            context: Context::default(),
            roles: Vec::new(),
            statements: Vec::new(),
            shapes: Vec::new(),
            targets: Vec::new(),
            spans: Vec::new(),
        },
    };
    for declaration in &parsed.declarations {
        checker.declare(declaration);
    }
    for assignment in &parsed.assignments {
        checker.assign(assignment);
    }
    // Which values there are is known only where every statement was understood.
    if !had_mistakes {
        checker.follow();
    }
    let Checker { wrong, program, .. } = checker;
    match wrong.is_empty() {
        true => Ok(program),
        false => {
            let mut wrong = wrong;
            wrong.sort_by_key(|wrong| wrong.span.start);
            Err(wrong)
        }
    }
}

struct Checker<'t> {
    /// Declarations by name: their numbers.
    known: BTreeMap<&'t str, usize>,
    text: &'t Text,
    wrong: Vec<Diagnostic>,
    program: Program,
}

impl<'t> Checker<'t> {
    fn declare(&mut self, declaration: &'t Declaration) {
        let Declaration { name, sizes, .. } = declaration;
        if let Some(first) = self.known.get(name.text.as_str()) {
            let first = self.declaration(*first);
            let sizes = |d: &Declaration| Shape(d.sizes.clone());
            let message = format!(
                "'{}' is declared twice, with the shapes {} and {}",
                name.text,
                sizes(first),
                sizes(declaration)
            );
            let wrong = Diagnostic::new(name.span.clone(), message);
            let wrong = wrong.other(first.name.span.clone(), "declared here first");
            self.wrong.push(wrong);
            return;
        }
        let shape = Shape(sizes.clone());
        let bytes = shape.elements().and_then(|n| n.checked_mul(ELEMENT_BYTES));
        if bytes.is_none_or(|bytes| i64::try_from(bytes).is_err()) {
            let message = format!(
                "'{}' of shape {shape} has more bytes than 64 bits count",
                name.text
            );
            let wrong = Diagnostic::new(declaration.shape.clone(), message);
            self.wrong.push(wrong);
        }
        if shape.rank() > shape::MOST_DIMENSIONS {
            let rank = shape.rank();
            let wrong = Violation::TooManyDimensions { rank };
            let message = format!("'{}' {wrong}", name.text);
            let wrong = Diagnostic::new(declaration.shape.clone(), message);
            self.wrong.push(wrong);
        }
        let number = self.program.context.variables.len();
        self.known.insert(&name.text, number);
        self.program.context.variables.push(Variable {
            name: name.text.clone(),
            shape,
        });
        self.program.roles.push(Role::default());
    }

    /// The declaration of a variable.
    fn declaration(&self, variable: usize) -> &'t Declaration {
        let name = self.program.context.name(variable);
        let mut declarations = self.text.declarations.iter();
        let found = declarations.find(|d| d.name.text == name);
        found.unwrap_or_else(|| panic!("'{name}' has a declaration"))
    }

    fn variable(&mut self, name: &str, span: &Span) -> Option<usize> {
        if let Some(number) = self.known.get(name) {
            return Some(*number);
        }
        let wrong = Diagnostic::new(span.clone(), format!("'{name}' is not declared"));
        let near = nearest(name, self.known.keys().copied());
        self.wrong.push(match near.first() {
            Some(near) => wrong.help(format!("did you mean '{near}'?")),
            None => wrong.help(format!("declare it, as in 'var {name} : [3]'")),
        });
        None
    }

    fn assign(&mut self, assignment: &Assignment) {
        let Assignment {
            target,
            value,
            spans,
        } = assignment;
        let number = self.variable(&target.text, &target.span);
        let resolved = self.resolve(value, spans);
        let (Some(number), Some(value)) = (number, resolved) else {
            return;
        };
        self.assigned(number, target);
        let statement = Statement {
            target: number,
            value,
        };
        match shape::statement(&self.program.context, &statement) {
            Ok(shapes) => {
                self.program.shapes.push(shapes);
                self.program.statements.push(statement);
                self.program.targets.push(target.span.clone());
                self.program.spans.push(spans.clone());
            }
            Err(violations) => {
                for (id, violation) in violations {
                    let wrong = self.violation(&statement, spans, id, violation);
                    self.wrong.push(wrong);
                }
            }
        }
    }

    /// What is marked as an input stays.
    fn assigned(&mut self, number: usize, target: &Name) {
        let declaration = self.declaration(number);
        if declaration.marker == Some(Marker::Input) {
            let message = format!("'{}' is an input, and is assigned", target.text);
            let wrong = Diagnostic::new(target.span.clone(), message);
            let wrong = wrong.other(declaration.name.span.clone(), "marked here");
            self.wrong.push(wrong);
        }
    }

    /// The expression with numbers of declared variables.
    fn resolve(&mut self, value: &Expression, spans: &[Span]) -> Option<Expression> {
        let mut resolved = Some(Expression::new());
        for (node, span) in value.nodes().iter().zip(spans) {
            let node = match node {
                Node::Variable(number) => {
                    let name = &self.text.names[*number];
                    self.variable(name, span).map(Node::Variable)
                }
                node => Some(node.clone()),
            };
            match (&mut resolved, node) {
                (Some(resolved), Some(node)) => {
                    resolved.push(node);
                }
                _ => resolved = None,
            }
        }
        resolved
    }

    fn violation(
        &self,
        statement: &Statement,
        spans: &[Span],
        id: Id,
        violation: Violation,
    ) -> Diagnostic {
        let wrong = Diagnostic::new(spans[id].clone(), violation.to_string());
        if matches!(violation, Violation::Assignment { .. }) {
            let declaration = self.declaration(statement.target);
            return wrong.other(declaration.shape.clone(), "declared here");
        }
        wrong
    }

    /// Which values come from outside, which are results, and which are read though there are none.
    fn follow(&mut self) {
        let markers: Vec<Option<Marker>> = (0..self.program.roles.len())
            .map(|variable| self.declaration(variable).marker)
            .collect();
        let any = |marker| markers.contains(&Some(marker));
        let (has_inputs, has_outputs) = (any(Marker::Input), any(Marker::Output));
        let mut is_assigned = vec![false; markers.len()];
        let mut wrong = Vec::new();
        for (n, statement) in self.program.statements.iter().enumerate() {
            for (id, node) in statement.value.nodes().iter().enumerate() {
                let Node::Variable(variable) = *node else {
                    continue;
                };
                let may_come = match markers[variable] {
                    Some(Marker::Input) => true,
                    Some(Marker::Output) => false,
                    None => !has_inputs,
                };
                let role = &mut self.program.roles[variable];
                if !is_assigned[variable] && !may_come && !role.is_input {
                    let name = self.program.context.name(variable);
                    let message =
                        format!("'{name}' is read before it is assigned, and is no input");
                    let here = self.program.spans[n][id].clone();
                    wrong.push(Diagnostic::new(here, message));
                }
                role.is_input |= !is_assigned[variable];
            }
            is_assigned[statement.target] = true;
        }
        for (variable, marker) in markers.iter().enumerate() {
            let role = &mut self.program.roles[variable];
            role.is_output = match marker {
                Some(Marker::Output) => true,
                Some(Marker::Input) => false,
                None => is_assigned[variable] && !has_outputs,
            };
            if role.is_output && !is_assigned[variable] {
                let declaration = self.declaration(variable);
                let name = &declaration.name;
                let message = format!("'{}' is an output, and is never assigned", name.text);
                wrong.push(Diagnostic::new(name.span.clone(), message));
            }
        }
        // With mistakes in statements, some that assign are not there.
        if self.wrong.is_empty() {
            self.wrong = wrong;
        }
    }
}
