//! Report on a program without mistakes: its variables, and the statements that are compatible.

use std::fmt::Write;

use mdh_algebra::reuse::Derivation;
use mdh_algebra::reuse::evaluate::tuple;

use crate::check::{Assignment, CheckedProgram};
use crate::diagnostic::{Diagnostic, Severity, position};

/// Detail of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Verdicts, and the places that break them.
    Verdicts,
    /// Derivations too, or the attempts at them.
    Derivations,
}

/// Statements longer than so many characters are shown by their beginning.
pub(crate) const LONGEST_STATEMENT: usize = 72;

/// Of each variable a line with its shape and role; of each statement a line that ends in `compatible`
/// or `not compatible`, followed by the reads that break it.
pub fn report(program: &CheckedProgram, file: &str, text: &str, detail: Detail) -> String {
    let mut out = String::new();
    let context = &program.context;
    for (number, variable) in context.variables.iter().enumerate() {
        let roles = [("input", &program.inputs), ("output", &program.outputs)];
        let roles = roles.iter().filter(|(_, list)| list.contains(&number));
        let roles: Vec<&str> = roles.map(|(role, _)| *role).collect();
        let _ = write!(out, "{} : {}", variable.name, variable.shape);
        let _ = match roles.is_empty() {
            true => writeln!(out),
            false => writeln!(out, "  {}", roles.join(", ")),
        };
    }
    for assignment in &program.statements {
        out.push_str(&verdict(program, assignment, file, text, detail));
    }
    out
}

fn verdict(
    program: &CheckedProgram,
    assignment: &Assignment,
    file: &str,
    text: &str,
    detail: Detail,
) -> String {
    let (context, statement) = (&program.context, &assignment.statement);
    let derivation = Derivation::search(statement, &assignment.shapes);
    let root = statement.value.root();
    let (line, column) = position(text, assignment.target.start);
    let mut out = format!(
        "{file}:{line}:{column}: {} : {} = {}: {}\n",
        context.name(statement.target),
        assignment.shapes[root],
        statement.value.excerpt(context, root, LONGEST_STATEMENT),
        match derivation.is_complete() {
            true => "compatible",
            false => "not compatible",
        }
    );
    let goal = tuple(&derivation.judgements[root].index);
    for (id, judgement) in derivation.breaches() {
        let name = context.name(statement.target);
        let at = tuple(&judgement.index);
        let message = format!("'{name}' is read at {at} where it is assigned at {goal}");
        let place = Diagnostic::new(message, assignment.spans[id].clone(), format!("at {at}"))
            .also(assignment.target.clone(), format!("at {goal}"));
        out.push_str(&place.render(file, text, Severity::Note));
    }
    if detail == Detail::Derivations {
        out.push_str(&derivation.display(context, statement).to_string());
    }
    out
}
