//! The rules of equality saturation, each with the condition under which it is sound.
//!
//! `/` and `%` are floor division by something positive: that a divisor is positive is a condition
//! of having a value, not of a rule. Conditions ask the intervals of what a rule's variables stand
//! for; conditions on symbols, such as `j < m`, are the normal form's ([`super::normal`]), which
//! is in the same e-graph. A rule's two sides are equal wherever its left side has a value; a test
//! enumerates that, and `scripts/prove-rules` proves it for all integers.

use super::Interval;

/// `left` may be written as `right` where the condition holds.
pub(super) struct Rule {
    pub(super) name: &'static str,
    pub(super) left: &'static str,
    pub(super) right: &'static str,
    pub(super) when: Option<Condition>,
}

/// Side condition of a rule.
pub(super) struct Condition {
    /// Variables of its left side.
    pub(super) of: &'static [&'static str],
    /// Predicate on their intervals.
    pub(super) holds: fn(&[Interval]) -> bool,
    /// Consequence for their values: all that the rule's soundness may rely on.
    pub(super) means: &'static str,
}

const fn rule(name: &'static str, left: &'static str, right: &'static str) -> Rule {
    Rule {
        name,
        left,
        right,
        when: None,
    }
}

const fn when(
    rule: Rule,
    of: &'static [&'static str],
    means: &'static str,
    holds: fn(&[Interval]) -> bool,
) -> Rule {
    Rule {
        when: Some(Condition { of, holds, means }),
        ..rule
    }
}

/// `0 <= x < a`.
fn remainder(of: &[Interval]) -> bool {
    of[0].min >= 0 && of[0].max < of[1].min
}

/// `a <= b`.
fn ordered(of: &[Interval]) -> bool {
    of[0].max <= of[1].min
}

fn nonzero(of: &[Interval]) -> bool {
    !of[0].contains(0)
}

/// Of a mask: all low bits and no other.
fn low_bits(of: &[Interval]) -> bool {
    let mask = of[0].constant().unwrap_or(0);
    mask > 0 && mask.checked_add(1).is_some_and(|n| n.count_ones() == 1)
}

/// All rules.
pub(super) const RULES: [Rule; 40] = [
    // Sums and products.
    rule("a + b", "(+ ?a ?b)", "(+ ?b ?a)"),
    rule("a * b", "(* ?a ?b)", "(* ?b ?a)"),
    rule("(a + b) + c", "(+ (+ ?a ?b) ?c)", "(+ ?a (+ ?b ?c))"),
    rule("(a * b) * c", "(* (* ?a ?b) ?c)", "(* ?a (* ?b ?c))"),
    rule("a + (b - c)", "(+ ?a (- ?b ?c))", "(- (+ ?a ?b) ?c)"),
    rule("(a + b) - c", "(- (+ ?a ?b) ?c)", "(+ ?a (- ?b ?c))"),
    rule("(a - b) - c", "(- (- ?a ?b) ?c)", "(- ?a (+ ?b ?c))"),
    rule("a - (b - c)", "(- ?a (- ?b ?c))", "(- (+ ?a ?c) ?b)"),
    rule("a - a", "(- ?a ?a)", "0"),
    rule("a + 0", "(+ ?a 0)", "?a"),
    rule("a - 0", "(- ?a 0)", "?a"),
    rule("a * 1", "(* ?a 1)", "?a"),
    rule("a + a", "(+ ?a ?a)", "(* ?a 2)"),
    rule("a b + a c", "(+ (* ?a ?b) (* ?a ?c))", "(* ?a (+ ?b ?c))"),
    rule("a b - a c", "(- (* ?a ?b) (* ?a ?c))", "(* ?a (- ?b ?c))"),
    rule("a b + a", "(+ (* ?a ?b) ?a)", "(* ?a (+ ?b 1))"),
    rule("a (b + c)", "(* ?a (+ ?b ?c))", "(+ (* ?a ?b) (* ?a ?c))"),
    // Table 1 of the LEGO paper.
    rule("(d q + r) % d", "(% (+ (* ?d ?q) ?r) ?d)", "(% ?r ?d)"),
    rule("a (x / a) + x % a", "(+ (* ?a (/ ?x ?a)) (% ?x ?a))", "?x"),
    when(
        rule("x / a, x < a", "(/ ?x ?a)", "0"),
        &["?x", "?a"],
        "(& (<= 0 ?x) (< ?x ?a))",
        remainder,
    ),
    when(
        rule("x % a, x < a", "(% ?x ?a)", "?x"),
        &["?x", "?a"],
        "(& (<= 0 ?x) (< ?x ?a))",
        remainder,
    ),
    when(
        rule("(d q + r) / d, r < d", "(/ (+ (* ?d ?q) ?r) ?d)", "?q"),
        &["?r", "?d"],
        "(& (<= 0 ?r) (< ?r ?d))",
        remainder,
    ),
    // Quotients and remainders besides.
    rule("d q / d", "(/ (* ?d ?q) ?d)", "?q"),
    rule("d q % d", "(% (* ?d ?q) ?d)", "0"),
    rule("x / 1", "(/ ?x 1)", "?x"),
    rule("x % 1", "(% ?x 1)", "0"),
    rule("x / a / b", "(/ (/ ?x ?a) ?b)", "(/ ?x (* ?a ?b))"),
    when(
        rule("x / (a b)", "(/ ?x (* ?a ?b))", "(/ (/ ?x ?a) ?b)"),
        // Only where both factors are positive: the product of two negative ones is, too.
        &["?a", "?b"],
        "(& (< 0 ?a) (< 0 ?b))",
        |of| of[0].min > 0 && of[1].min > 0,
    ),
    rule("x - a (x / a)", "(- ?x (* ?a (/ ?x ?a)))", "(% ?x ?a)"),
    when(
        rule(
            "x % (a b) / a",
            "(/ (% ?x (* ?a ?b)) ?a)",
            "(% (/ ?x ?a) ?b)",
        ),
        &["?b"],
        "(< 0 ?b)",
        |of| of[0].min > 0,
    ),
    when(
        rule("x % (a b) % a", "(% (% ?x (* ?a ?b)) ?a)", "(% ?x ?a)"),
        &["?b"],
        "(< 0 ?b)",
        |of| of[0].min > 0,
    ),
    when(
        rule("x / a % b", "(% (/ ?x ?a) ?b)", "(/ (% ?x (* ?a ?b)) ?a)"),
        &["?a"],
        "(< 0 ?a)",
        |of| of[0].min > 0,
    ),
    // The rest.
    when(
        rule("min(a, b), a <= b", "(min ?a ?b)", "?a"),
        &["?a", "?b"],
        "(<= ?a ?b)",
        ordered,
    ),
    when(
        rule("min(b, a), a <= b", "(min ?b ?a)", "?a"),
        &["?a", "?b"],
        "(<= ?a ?b)",
        ordered,
    ),
    when(
        rule("max(a, b), a <= b", "(max ?a ?b)", "?b"),
        &["?a", "?b"],
        "(<= ?a ?b)",
        ordered,
    ),
    when(
        rule("max(b, a), a <= b", "(max ?b ?a)", "?b"),
        &["?a", "?b"],
        "(<= ?a ?b)",
        ordered,
    ),
    rule("select(c, a, a)", "(select ?c ?a ?a)", "?a"),
    rule("select(0, a, b)", "(select 0 ?a ?b)", "?b"),
    when(
        rule("select(c, a, b), c != 0", "(select ?c ?a ?b)", "?a"),
        &["?c"],
        "(!= ?c 0)",
        nonzero,
    ),
    when(
        rule("x & (2^k - 1)", "(& ?x ?m)", "(% ?x (+ ?m 1))"),
        &["?m"],
        "(& (< 0 ?m) (== (& ?m (+ ?m 1)) 0))",
        low_bits,
    ),
];
