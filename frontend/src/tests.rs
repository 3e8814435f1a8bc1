//! Meanings of expressions, and messages about programs that are wrong.

use insta::assert_snapshot;

use crate::check::CheckedProgram;
use crate::diagnostic::render_all;
use crate::read;
use crate::report::{Detail, report};

const DECLARED: &str = "var A : [3 3] var B : [3 3] var s : [] var u : [3] var v : [3]\n";

fn program(text: &str) -> CheckedProgram {
    match read(text) {
        Ok(program) => program,
        Err(errors) => panic!("{}", render_all(&errors, "f.tdsl", text)),
    }
}

fn errors(text: &str) -> String {
    match read(text) {
        Ok(_) => "no error".to_string(),
        Err(errors) => render_all(&errors, "f.tdsl", text),
    }
}

/// A statement as it was understood: all that precedence decides in parentheses.
fn grouped(value: &str, target: &str) -> String {
    use mdh_algebra::reuse::Node;
    let program = program(&format!("{DECLARED}{target} = {value}"));
    let expression = &program.statements[0].statement.value;
    let mut texts: Vec<String> = Vec::new();
    for node in expression.nodes() {
        let text = match node {
            Node::Variable(v) => program.context.name(*v).to_string(),
            Node::Constant(c) => c.to_string(),
            Node::Parenthesis(e) => texts[*e].clone(),
            Node::Product(e, f) => format!("({}#{})", texts[*e], texts[*f]),
            Node::Contraction(e, pairs) => format!("({}.{pairs:?})", texts[*e]),
            Node::Transposition(e, pair) => format!("({}^{pair:?})", texts[*e]),
            Node::Elementwise(o, e, f) => format!("({}{}{})", texts[*e], o.symbol(), texts[*f]),
            Node::Apply(f, e) => format!("{}({})", f.name(), texts[*e]),
        };
        texts.push(text);
    }
    texts.pop().unwrap()
}

#[test]
fn operators_bind_as_documented() {
    let cases = [
        ("u", "u - v - u", "((u-v)-u)"),
        ("u", "u - v * u / v", "(u-((v*u)/v))"),
        ("u", "u + A # v . [2 3]", "(u+((A#v).[[2, 3]]))"),
        (
            "A",
            "A ^ [1 2] * B # B # B . [[1 6] [2 3]]",
            "((A^[1, 2])*(((B#B)#B).[[1, 6], [2, 3]]))",
        ),
        ("u", "A . [1 2] # u", "((A.[[1, 2]])#u)"),
        (
            "u",
            "(A # u) ^ [1 2] . [2 3] * -2e-1",
            "((((A#u)^[1, 2]).[[2, 3]])*-0.2)",
        ),
        ("u", "exp(u - relu(v)) / s", "(exp((u-relu(v)))/s)"),
        ("u", "((2.5) * ((u)))", "(2.5*u)"),
        ("s", "1-2", "(1-2)"),
    ];
    for (target, text, expected) in cases {
        assert_eq!(grouped(text, target), expected, "{text}");
    }
}

#[test]
fn what_is_understood_reads_back_from_its_text() {
    let text = "A # u . [1 3] ^ [1 1]";
    assert!(errors(&format!("{DECLARED}u = {text}")).contains("dimension 1 is named twice"));
    for text in [
        "u + A # v . [2 3]",
        "u * (A . [1 2] # v)",
        "(A # u) ^ [1 2] . [2 3] * -2e-1",
        "tanh(u - (v - u)) / (s / 3)",
    ] {
        let first = program(&format!("{DECLARED}u = {text}"));
        let printed = first.statements[0].statement.text(&first.context);
        let second = program(&format!("{DECLARED}{printed}"));
        assert_eq!(
            second.statements[0].statement.text(&second.context),
            printed
        );
        assert_eq!(
            second.statements[0].shapes.last(),
            first.statements[0].shapes.last()
        );
    }
}

#[test]
fn roles_follow_from_use_where_nothing_is_marked() {
    let names = |program: &CheckedProgram, variables: &[usize]| -> String {
        let names: Vec<&str> = variables.iter().map(|v| program.context.name(*v)).collect();
        names.join(" ")
    };
    let roles = |text: &str| {
        let program = program(text);
        let (inputs, outputs) = (&program.inputs, &program.outputs);
        format!(
            "{} -> {}",
            names(&program, inputs),
            names(&program, outputs)
        )
    };
    assert_eq!(
        roles("var t:[] var x:[2] var y:[2] t = 2 y = t * x x = y + x"),
        "x -> t x y"
    );
    assert_eq!(roles("var t:[] var output x:[2] t = 2 x = t * x"), "x -> x");
    assert_eq!(
        roles("var input x:[2] var y:[2] var z:[2] y = x z = y"),
        "x -> y z"
    );
    assert_eq!(
        roles("var input : [2] var output:[2] output = input"),
        "input -> output"
    );
    assert_snapshot!(errors("// nothing"));
}

#[test]
fn names_are_declared_once_before_they_are_used() {
    assert_snapshot!(errors(
        "var x : [2]\nvar x : [3 4]\nx = y + y * z\ny = x\nvar z : [2]"
    ));
}

#[test]
fn shapes_that_do_not_fit_are_shown() {
    assert_snapshot!(errors(
        "var A : [2 3]\nvar u : [3]\nu = A . [1 2]\nA = u # u\nu = u + A ^ [1 2]\nA = 2 / A"
    ));
    assert_snapshot!(errors(
        "var A : [2 3]\nvar u : [3]\nu = (A #\n u) . [[2 4] [0 2]]\nu = u ^ [1 1] - A . [3 3]"
    ));
}

#[test]
fn sizes_have_limits() {
    let long = format!("var x : [{}]", "1 ".repeat(65));
    assert_snapshot!(errors(&format!(
        "var a : [4294967296 4294967296]\nvar b : [99999999999999999999]\nvar c : [2.5]\nvar d : [1152921504606846976]\nvar e : [1152921504606846975]\n{long}"
    )));
    let product = ["x"; 65].join(" # ");
    assert_snapshot!(errors(&format!("var x : [1]\nx = {product}")));
}

#[test]
fn markers_are_kept() {
    assert_snapshot!(errors(
        "var input x : [2]\nvar output y : [2]\nvar z : [2]\nx = x + z\nz = x"
    ));
    assert_snapshot!(errors(
        "var inout x : [2] var matrix : [2] matrix = matric + tan(matrix)"
    ));
}

#[test]
fn what_cannot_be_read_is_found_everywhere() {
    let text = "\
var a : [2 3
var b [2]
b = a . [1 3]
var x : [2] var y : [2]
x = (x + (y)
y = x )
x = y . [1 2 3]
x = y . [[1 2] 3]
x = * 2
y = -x
y =
x = frob(x) + 1e999
x = 2 x
? ä = 3
x = x ^ [[1 2]]
= 3
x = x .";
    assert_snapshot!(errors(text));
}

#[test]
fn depth_costs_memory_only() {
    const DEPTH: usize = 100_000;
    let (open, close) = ("(".repeat(DEPTH), ")".repeat(DEPTH));
    let nested = |begin: &str, end: &str| {
        format!(
            "var u : [3]\nu = {}u{}",
            begin.repeat(DEPTH),
            end.repeat(DEPTH)
        )
    };
    for text in [
        nested("(", ")"),
        nested("exp(", ")"),
        nested("2 * (u - ", ")"),
        nested("u + ", ""),
    ] {
        assert_eq!(program(&text).statements.len(), 1);
    }
    for text in [
        open,
        close,
        format!("var u : [3]\nu = {}u", "(".repeat(DEPTH)),
    ] {
        let errors = errors(&text);
        assert!(
            errors.starts_with("error: ") && errors.len() < 2000,
            "{errors}"
        );
    }
}

#[test]
fn of_many_errors_the_first_are_shown() {
    let message = errors(&"x = y\n".repeat(1000));
    assert!(
        message.ends_with("error: f.tdsl has 1900 more errors\n"),
        "{message}"
    );
}

const VERDICTS: &str = "\
var x : [3] var u : [3 3] var s : []
x = (x # u) . [2 3]
x = (u # x) . [2 3] +
  s * x
s = tanh(s)
u = u ^ [1 2] * u
s = u . [1 2]
";

#[test]
fn statements_are_compatible_or_not_at_a_place() {
    let program = program(VERDICTS);
    assert_snapshot!(report(&program, "f.tdsl", VERDICTS, Detail::Verdicts));
    assert_snapshot!(report(&program, "f.tdsl", VERDICTS, Detail::Derivations));
}
