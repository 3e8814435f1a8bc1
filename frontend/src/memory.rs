//! Memory of a program, before it is compiled: the statements that may run in place and the rules
//! by which they may, and the temporaries of a compiler that does not ask. It is an account for `mdh check`: compiled
//! code asks `mdh_dialect::in_place`.

use mdh_algebra::reuse::evaluate::tuple;
use mdh_algebra::reuse::expression::Node;
use mdh_algebra::reuse::{Derivation, Statement};

use crate::check::{Assignment, CheckedProgram, ELEMENT_BYTES};
use crate::plan::StatementPlan;
use crate::report::LONGEST_STATEMENT;

/// Account of a statement's memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// The line of the variable that is assigned, from 1.
    pub line: usize,
    /// Its column, from 1, in bytes: that of the statement's computations.
    pub column: usize,
    /// `x : [30] = (x # u) . [2 3]`, or how that begins.
    pub text: String,
    /// The name of the variable that is assigned.
    pub target: String,
    /// True if that is read, too.
    pub is_read: bool,
    /// Verdict on running in place, with its reason.
    pub verdict: String,
    /// Bytes of temporaries if each of its steps has memory of its own. Only what is an output and
    /// nothing else is computed where it is wanted.
    pub apart: u64,
}

/// An account of each statement.
pub fn accounts(program: &CheckedProgram, text: &str) -> Vec<Account> {
    let statements = program.statements.iter().enumerate();
    statements
        .map(|(number, assignment)| account(program, number, assignment, text))
        .collect()
}

fn account(
    program: &CheckedProgram,
    number: usize,
    assignment: &Assignment,
    text: &str,
) -> Account {
    let (context, statement) = (&program.context, &assignment.statement);
    let root = statement.value.root();
    let before = &text[..assignment.target.start];
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let excerpt = statement.value.excerpt(context, root, LONGEST_STATEMENT);
    let target = context.name(statement.target).to_string();
    Account {
        line: 1 + before.matches('\n').count(),
        column: 1 + before.len() - start,
        text: format!("{target} : {} = {excerpt}", assignment.shapes[root]),
        verdict: verdict(assignment, &target),
        is_read: is_read(assignment),
        target,
        apart: step_bytes(program, number, assignment),
    }
}

/// Returns whether a statement may run in place, and the rules that say so, in the order in which they are
/// first needed from the statement to its variables.
fn verdict(assignment: &Assignment, target: &str) -> String {
    let statement = &assignment.statement;
    let derivation = Derivation::search(statement, &assignment.shapes);
    let goal = tuple(&derivation.judgements[statement.value.root()].index);
    if let Some((_, judgement)) = derivation.breaches().next() {
        let at = tuple(&judgement.index);
        return format!(
            "not compatible: '{target}' is read at {at} where it is assigned at {goal}"
        );
    }
    let mut rules = vec!["ok-c-stmt"];
    for judgement in derivation.judgements.iter().rev() {
        let name = judgement.rule.map_or("", |rule| rule.name());
        if !rules.contains(&name) {
            rules.push(name);
        }
    }
    let why = match is_read(assignment) {
        true => format!("'{target}' is read at {goal} only"),
        false => format!("'{target}' is not read"),
    };
    format!("compatible: {why}, by {}", rules.join(", "))
}

/// Returns whether a statement reads the variable that it assigns.
fn is_read(assignment: &Assignment) -> bool {
    let Statement { target, value } = &assignment.statement;
    let is_target = |node: &Node| matches!(node, Node::Variable(v) if v == target);
    value.nodes().iter().any(is_target)
}

fn step_bytes(program: &CheckedProgram, number: usize, assignment: &Assignment) -> u64 {
    let target = assignment.statement.target;
    let plan = StatementPlan::new(&assignment.statement, &assignment.shapes);
    let mut later = program.statements[number + 1..].iter();
    let is_last = later.all(|other| other.statement.target != target);
    let is_given = program.inputs.contains(&target);
    let is_result = is_last && !is_given && program.outputs.contains(&target);
    let temporaries = plan.steps.len() - usize::from(is_result);
    let bytes = plan.steps[..temporaries].iter().map(|step| {
        let elements = plan.shape(&step.kept).elements();
        elements.unwrap_or(u64::MAX).saturating_mul(ELEMENT_BYTES)
    });
    bytes.fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accounts_of(text: &str) -> Vec<Account> {
        accounts(&crate::read(text).unwrap(), text)
    }

    #[test]
    fn statements_in_place_and_others() {
        let text = "var x : [30] var u : [30 30]\nx = (x # u) . [2 3] x = (u # x) . [2 3]";
        insta::assert_debug_snapshot!(accounts_of(text));
    }

    #[test]
    fn steps_have_memory_of_their_own() {
        let bytes = |text| {
            accounts_of(text)
                .iter()
                .map(|a| a.apart)
                .collect::<Vec<_>>()
        };
        // The second of three steps of 7^3 elements; the third one gives the result.
        let interpolation =
            "var A : [7 7] var B : [7 7] var C : [7 7] var u : [7 7 7] var v : [7 7 7]
            v = (A # B # C # u) . [[2 9] [4 8] [6 7]]";
        assert_eq!(bytes(interpolation), [2 * 8 * 7 * 7 * 7]);
        // What is given too is computed apart and copied; of two values of a result, the last one.
        assert_eq!(bytes("var x : [5] x = x + x"), [40]);
        assert_eq!(
            bytes("var u : [5] var x : [5] x = u + u x = x + u"),
            [40, 0]
        );
        assert_eq!(
            bytes("var u : [5] var output y : [5] var x : [5] x = u y = x"),
            [40, 0]
        );
    }

    #[test]
    fn what_is_not_read_is_said() {
        let account = &accounts_of("var u : [4] var v : [4] v = exp(u)")[0];
        assert_eq!(
            account.verdict,
            "compatible: 'v' is not read, by ok-c-stmt, tc-fun, tc-var-xy"
        );
    }
}
