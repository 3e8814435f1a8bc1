//! Combine operators: one for all combined dimensions, its laws, its types.

use super::finding::{Report, Rule, Subject, count};
use crate::code::Code;
use crate::computation::{Combine, Computation};
use crate::operator::{Builtin, Operator, UserOperator};
use crate::scalar::ScalarType;

pub(super) fn operators(computation: &Computation, report: &mut Report) {
    let combined: Vec<(usize, usize)> = (computation.dimensions.iter().enumerate())
        .filter_map(|(d, dimension)| Some((d, dimension.combine.operator()?)))
        .collect();
    for (d, operator) in &combined {
        if computation.operators.get(*operator).is_none() {
            let name = &computation.dimensions[*d].name;
            report.find(
                Rule::OneOperator,
                Subject::Dimension(*d),
                format!(
                    "bug: combines dimension '{name}' by operator {operator}, which it has not"
                ),
            );
        }
    }
    one_operator(computation, &combined, report);
    let mut used: Vec<usize> = combined.iter().map(|(_, operator)| *operator).collect();
    used.sort_unstable();
    used.dedup();
    for number in used {
        let Some(operator) = computation.operators.get(number) else {
            continue;
        };
        match operator {
            Operator::Builtin(ops) => builtin(number, ops, &computation.components, report),
            Operator::User(user) => user_operator(computation, number, user, report),
        }
        if operator.is_commutative() || combined.len() < 2 {
            continue;
        }
        let names = dimension_names(computation, combined.iter().map(|(d, _)| *d));
        report.find(
            Rule::Commutative,
            Subject::Operator(number),
            format!(
                "combines {names} by '{operator}', which is not declared commutative: several \
                 combined dimensions have no one order; declare it 'commutative' if it is, or \
                 combine only one dimension"
            ),
        );
    }
}

fn dimension_names(computation: &Computation, dims: impl Iterator<Item = usize>) -> String {
    let names: Vec<_> = dims
        .map(|d| format!("'{}'", computation.dimensions[d].name))
        .collect();
    format!("dimensions {}", names.join(", "))
}

fn spelled(computation: &Computation, d: usize) -> String {
    let operator = |n: usize| {
        let operator = computation.operators.get(n);
        operator.map_or("?".into(), |o| o.to_string())
    };
    match computation.dimensions[d].combine {
        Combine::Cc => "cc".into(),
        Combine::Pw(n) => format!("pw({})", operator(n)),
        Combine::Ps(n) => format!("ps({})", operator(n)),
    }
}

/// `pw(add)` with `pw(mul)`: the sum of products is not the product of sums.
fn one_operator(computation: &Computation, combined: &[(usize, usize)], report: &mut Report) {
    let Some(&(first, operator)) = combined.first() else {
        return;
    };
    let same = |other: usize| {
        other == operator
            || matches!((computation.operators.get(operator), computation.operators.get(other)),
                (Some(a), Some(b)) if a == b)
    };
    let Some(&(d, _)) = combined.iter().find(|(_, other)| !same(*other)) else {
        return;
    };
    let name = |d: usize| &computation.dimensions[d].name;
    report.find(
        Rule::OneOperator,
        Subject::Dimension(d),
        format!(
            "combines dimension '{}' by {} and '{}' by {}: expected one operator for all combined \
             dimensions, since with two the result depends on which is combined first; say so by \
             two 'hom's, one after the other",
            name(first),
            spelled(computation, first),
            name(d),
            spelled(computation, d),
        ),
    );
}

fn builtin(number: usize, ops: &[Builtin], components: &[ScalarType], report: &mut Report) {
    if ops.len() != components.len() {
        report.find(
            Rule::OperatorArity,
            Subject::Operator(number),
            format!(
                "combines a tuple of {} by {}: expected one for each component",
                count(components.len(), "component"),
                count(ops.len(), "built-in operator"),
            ),
        );
        return;
    }
    for (n, (op, ty)) in ops.iter().zip(components).enumerate() {
        if op.accepts(*ty) {
            continue;
        }
        let kind = if op.is_float() { "floats" } else { "integers" };
        let hint = match op.counterpart() {
            Some(other) => format!("did you mean '{other}'?"),
            None => "convert it in the scalar function".into(),
        };
        report.find(
            Rule::OperatorType,
            Subject::Operator(number),
            format!("combines component {n} of type {ty} by '{op}', which works on {kind}: {hint}"),
        );
    }
}

fn user_operator(
    computation: &Computation,
    number: usize,
    user: &UserOperator,
    report: &mut Report,
) {
    let components = &computation.components;
    let name = &user.name;
    let mut find = |rule, message| report.find(rule, Subject::Operator(number), message);
    if !user.associative {
        find(
            Rule::Associative,
            format!(
                "combines by '@{name}', which is not declared associative: the result must not \
                 depend on how the domain is split; declare it 'associative' if it is"
            ),
        );
    }
    let twice: Vec<ScalarType> = components.iter().chain(components).copied().collect();
    let Code {
        inputs, results, ..
    } = &user.code;
    if *inputs != twice || results != components {
        let rule = if inputs.len() != twice.len() || results.len() != components.len() {
            Rule::OperatorArity
        } else {
            Rule::OperatorType
        };
        find(
            rule,
            format!(
                "combines a tuple ({}) by '@{name}', which maps ({}) to ({}): expected ({}) to \
                 ({})",
                types_text(components),
                types_text(inputs),
                types_text(results),
                types_text(&twice),
                types_text(components),
            ),
        );
    }
    if let Some(neutral) = &user.neutral {
        let types: Vec<ScalarType> = neutral.iter().map(|v| v.ty).collect();
        if types != *components {
            find(
                Rule::Neutral,
                format!(
                    "has operator '@{name}' with a neutral element of types ({}): expected those \
                     of the tuple, ({})",
                    types_text(&types),
                    types_text(components),
                ),
            );
        }
    }
}

pub(super) fn types_text(types: &[ScalarType]) -> String {
    let names: Vec<_> = types.iter().map(|t| t.name()).collect();
    names.join(", ")
}
