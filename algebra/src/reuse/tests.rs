//! The thesis's examples, shapes and their errors, and derivations that are wrong.

use insta::assert_snapshot;

use super::evaluate::{self, evaluate, is_compatible, is_compatible_by_enumeration};
use super::typing::Rule;
use super::*;

/// `x:[3], w:[3], u:[3 3], s:[]`
fn context() -> Context {
    Context::new([
        ("x", Shape::new(&[3])),
        ("w", Shape::new(&[3])),
        ("u", Shape::new(&[3, 3])),
        ("s", Shape::new(&[])),
    ])
}

const X: usize = 0;
const W: usize = 1;
const U: usize = 2;
const S: usize = 3;

fn statement(build: impl FnOnce(&mut Expression)) -> Statement {
    let mut value = Expression::new();
    build(&mut value);
    Statement { target: X, value }
}

/// Returns whether a statement is compatible: by its derivation, its reads, and an enumeration, which agree.
fn verdict(statement: &Statement) -> bool {
    let context = context();
    let derivation = compatible(&context, statement).unwrap();
    let shapes = shape::statement(&context, statement).unwrap();
    let verdict = derivation.is_complete();
    assert_eq!(is_compatible(statement, &shapes), verdict);
    let counted = is_compatible_by_enumeration(&context, statement, &shapes);
    assert_eq!(counted, verdict);
    assert_eq!(derivation.check(&context, statement).is_ok(), verdict);
    verdict
}

#[test]
fn x_times_a_trace_is_compatible_and_a_matrix_product_is_not() {
    // Figures 8 and 9.
    let product = |left: usize, right: usize| {
        statement(|e| {
            let (left, right) = (e.variable(left), e.variable(right));
            let product = e.product(left, right);
            let parentheses = e.parenthesis(product);
            e.contraction(parentheses, &[[2, 3]]);
        })
    };
    assert!(verdict(&product(X, U)));
    assert!(!verdict(&product(U, X)));
    let derivation = compatible(&context(), &product(U, X)).unwrap();
    assert_snapshot!(derivation.display(&context(), &product(U, X)), @r"
    |- x = (u # x) . [2 3] ok    cannot be derived
      x; (i1) |- (u # x) . [2 3] : ([3], (i1))    tc-contr, k1 fresh
        x; (i1) |- (u # x) : ([3 3 3], (i1, k1, k1))    tc-paren
          x; (i1) |- u # x : ([3 3 3], (i1, k1, k1))    tc-prod
            x; (i1) |- u : ([3 3], (i1, k1))    tc-var-xy
            x; (i1) |- x : ([3], (k1))    no rule: tc-var-xx allows (i1) only
    ");
}

#[test]
fn of_dimensions_of_size_1_the_definition_sees_names_alone() {
    // x = (u # x) . [2 3] reads x(k1): with one element that is x(i1) in numbers, and in no name.
    let context = Context::new([("x", Shape::new(&[1])), ("u", Shape::new(&[1, 1]))]);
    let mut value = Expression::new();
    let (u, x) = (value.variable(1), value.variable(0));
    let product = value.product(u, x);
    value.contraction(product, &[[2, 3]]);
    let statement = Statement { target: 0, value };
    let shapes = shape::statement(&context, &statement).unwrap();
    assert!(!Derivation::search(&statement, &shapes).is_complete());
    assert!(!is_compatible(&statement, &shapes));
    assert!(is_compatible_by_enumeration(&context, &statement, &shapes));
}

#[test]
fn sums_of_products_are_compatible() {
    // x = x + w * ((u # w) . [2 3] * x), of section 3.1 but for the parts that are vectors here.
    let sums = statement(|e| {
        let (x, w) = (e.variable(X), e.variable(W));
        let (u, v) = (e.variable(U), e.variable(W));
        let product = e.product(u, v);
        let uv = e.contraction(product, &[[2, 3]]);
        let again = e.variable(X);
        let scaled = e.elementwise(Operator::Multiply, uv, again);
        let parentheses = e.parenthesis(scaled);
        let weighted = e.elementwise(Operator::Multiply, w, parentheses);
        e.elementwise(Operator::Add, x, weighted);
    });
    assert_eq!(sums.text(&context()), "x = x + w * (u # w . [2 3] * x)");
    assert!(verdict(&sums));
}

#[test]
fn scalars_functions_and_groups_pass_indices_on() {
    let scaled = |scalar_first: bool, operator: Operator| {
        statement(|e| {
            let (s, x) = (e.variable(S), e.variable(X));
            let x = e.apply(Function::Tanh, x);
            let (left, right) = if scalar_first { (s, x) } else { (x, s) };
            e.elementwise(operator, left, right);
        })
    };
    assert!(verdict(&scaled(true, Operator::Multiply)));
    assert!(verdict(&scaled(false, Operator::Multiply)));
    assert!(verdict(&scaled(false, Operator::Divide)));
    // x = (u # x # u) . [[1 2] [4 5]]: x and two sums over u.
    let group = |pairs: [Pair; 2]| {
        statement(|e| {
            let (u, x, v) = (e.variable(U), e.variable(X), e.variable(U));
            let left = e.product(u, x);
            let product = e.product(left, v);
            e.contraction(product, &pairs);
        })
    };
    assert!(verdict(&group([[1, 2], [4, 5]])));
    assert!(verdict(&group([[5, 4], [2, 1]])));
    assert!(!verdict(&group([[1, 3], [4, 5]])));
    assert_eq!(
        group([[1, 2], [4, 5]]).text(&context()),
        "x = u # x # u . [[1 2] [4 5]]"
    );
}

#[test]
fn a_group_is_numbered_before_any_contraction_is_applied() {
    // (u # u # u) . [[1 6] [2 3]] is ((u # u # u) . [2 3]) . [1 4].
    let context = context();
    let build = |apply: &dyn Fn(&mut Expression, Id)| {
        let mut e = Expression::new();
        let (a, b, c) = (e.variable(U), e.variable(U), e.variable(U));
        let left = e.product(a, b);
        let product = e.product(left, c);
        apply(&mut e, product);
        let shapes = shape::shapes(&context, &e).unwrap();
        let reads = evaluate(&e, &shapes).reads(&e);
        reads.into_iter().map(|read| read.at).collect::<Vec<_>>()
    };
    let group = build(&|e, product| {
        e.contraction(product, &[[1, 6], [2, 3]]);
    });
    let steps = build(&|e, product| {
        let inner = e.contraction(product, &[[2, 3]]);
        e.contraction(inner, &[[1, 4]]);
    });
    assert_eq!(group, steps);
    let texts: Vec<String> = group.iter().map(|at| evaluate::tuple(at)).collect();
    assert_eq!(texts, ["(k1, k2)", "(k2, i1)", "(i2, k1)"]);
}

#[test]
fn everything_that_is_wrong_is_found() {
    let messages = |build: &dyn Fn(&mut Expression)| {
        let statement = statement(build);
        let violations = shape::statement(&context(), &statement).unwrap_err();
        let messages = violations.iter().map(|(id, v)| format!("{id}: {v}"));
        messages.collect::<Vec<_>>().join("\n")
    };
    let text = messages(&|e| {
        let (u, w) = (e.variable(U), e.variable(W));
        let beyond = e.contraction(u, &[[0, 3], [1, 1]]);
        let sum = e.elementwise(Operator::Subtract, beyond, w);
        let (s, v) = (e.variable(S), e.variable(U));
        let quotient = e.elementwise(Operator::Divide, s, v);
        let (x, t) = (e.variable(X), e.variable(U));
        let product = e.elementwise(Operator::Multiply, x, t);
        let outer = e.product(sum, quotient);
        let outer = e.product(outer, product);
        e.transposition(outer, [1, 1]);
    });
    assert_snapshot!(text, @r"
    2: there is no dimension 0: [3 3] has 1 to 2
    2: there is no dimension 3: [3 3] has 1 to 2
    2: dimension 1 is named twice
    6: a scalar, of shape [], is divided by a tensor of shape [3 3]
    9: the operands of '*' have the shapes [3] and [3 3]: expected equal ones, or a scalar
    ");
    let target = messages(&|e| {
        let u = e.variable(U);
        e.transposition(u, [1, 2]);
    });
    assert_snapshot!(target, @"1: a value of shape [3 3] is assigned to a variable of shape [3]");
    let context = Context::new([("x", Shape::new(&[2, 3]))]);
    let mut e = Expression::new();
    let x = e.variable(0);
    e.contraction(x, &[[1, 2]]);
    let violations = shape::shapes(&context, &e).unwrap_err();
    assert_snapshot!(violations[0].1, @"dimensions 1 and 2 of [2 3] are contracted, and have the sizes 2 and 3: expected equal ones");
    let mut e = Expression::new();
    let mut power = e.variable(0);
    for _ in 0..shape::MOST_DIMENSIONS / 2 {
        let x = e.variable(0);
        power = e.product(power, x);
    }
    let violations = shape::shapes(&context, &e).unwrap_err();
    assert_snapshot!(violations[0].1, @"has 66 dimensions: expected at most 64");
}

#[test]
fn derivations_that_are_wrong_are_refused() {
    let context = context();
    // x = ((x # u) . [2 3] + s * x) / s
    let statement = statement(|e| {
        let (x, u) = (e.variable(X), e.variable(U));
        let product = e.product(x, u);
        let trace = e.contraction(product, &[[2, 3]]);
        let (s, y) = (e.variable(S), e.variable(X));
        let scaled = e.elementwise(Operator::Multiply, s, y);
        let sum = e.elementwise(Operator::Add, trace, scaled);
        let sum = e.parenthesis(sum);
        let divisor = e.variable(S);
        e.elementwise(Operator::Divide, sum, divisor);
    });
    let right = compatible(&context, &statement).unwrap();
    assert_eq!(right.check(&context, &statement), Ok(()));
    for id in 0..right.judgements.len() {
        let mut wrong = right.clone();
        wrong.judgements[id].rule = None;
        assert!(
            wrong.check(&context, &statement).is_err(),
            "no rule at {id}"
        );
        wrong.judgements[id].rule = Some(match right.judgements[id].rule {
            Some(Rule::Elem) => Rule::Smul,
            _ => Rule::Elem,
        });
        assert!(
            wrong.check(&context, &statement).is_err(),
            "another rule at {id}"
        );
        let mut wrong = right.clone();
        wrong.judgements[id].shape.0.push(3);
        assert!(
            wrong.check(&context, &statement).is_err(),
            "a shape at {id}"
        );
        for index in 0..right.judgements[id].index.len() {
            let mut wrong = right.clone();
            wrong.judgements[id].index[index] = Index::Summed(7);
            assert!(
                wrong.check(&context, &statement).is_err(),
                "an index at {id}"
            );
        }
    }
    // An index is fresh only once, and never that of the element.
    let mut wrong = right.clone();
    for judgement in &mut wrong.judgements {
        for index in &mut judgement.index {
            *index = Index::Assigned(0);
        }
    }
    assert!(wrong.check(&context, &statement).is_err());
}

#[test]
fn text_has_parentheses_where_precedence_asks_for_them() {
    let context = context();
    let mut e = Expression::new();
    let (u, v, w) = (e.variable(U), e.variable(U), e.variable(U));
    let inner = e.transposition(v, [1, 2]);
    let product = e.product(u, inner);
    let longer = e.product(product, w);
    let sum = e.contraction(longer, &[[1, 2]]);
    let factor = e.constant(-1.5);
    let difference = e.elementwise(Operator::Subtract, factor, factor);
    let scaled = e.elementwise(Operator::Multiply, difference, sum);
    let whole = e.elementwise(Operator::Multiply, factor, scaled);
    assert_eq!(
        e.text(&context, whole),
        "-1.5 * ((-1.5 - -1.5) * u # (u ^ [1 2]) # u . [1 2])"
    );
    assert_eq!(e.excerpt(&context, whole, 7), "-1.5 * ..");
    assert_eq!(e.excerpt(&context, factor, 4), "-1.5");
}

#[test]
fn depth_is_no_matter() {
    const DEPTH: usize = 100_000;
    let context = context();
    let deep = statement(|e| {
        let mut x = e.variable(X);
        for _ in 0..DEPTH {
            x = e.parenthesis(x);
        }
    });
    let derivation = compatible(&context, &deep).unwrap();
    assert!(derivation.is_complete());
    assert_eq!(derivation.check(&context, &deep), Ok(()));
    assert_eq!(deep.text(&context).len(), "x = x".len() + 2 * DEPTH);
    let lines = derivation.display(&context, &deep).to_string();
    assert_eq!(lines.lines().count(), DEPTH + 2);
}
