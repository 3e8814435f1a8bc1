//! Laws of code of which nothing is known: numbers are tried, and may refute them.
//!
//! Who has written `acc + acc` is not told to declare it associative, but by which numbers it is not.
//! What no number refutes may still be wrong, so that it stays open.

use mdh_algebra::laws::{self, Values};
use mdh_algebra::operator::{Operator, UserOperator};
use melior::ir::Region;

use super::operators::{Broken, Law};
use super::selection::code_of;

/// Enough for small numbers and some of any size.
const TRIALS: usize = 200;

/// Associativity and commutativity of code on accumulators, then elements.
pub fn laws(operator: &Region) -> (Law, Law) {
    let Some(code) = code_of(operator) else {
        return (Law::Open, Law::Open);
    };
    let components = code.results.clone();
    let operator = Operator::User(UserOperator {
        name: String::new(),
        code,
        neutral: None,
        commutative: true,
        associative: true,
    });
    let violations = laws::check_laws(&operator, &components, Values::Finite, 0, TRIALS);
    let law = |law: laws::Law, rule: &str, expected: &str| {
        let refuted = violations.iter().find(|violation| violation.law == law);
        refuted.map_or(Law::Open, |violation| {
            Law::Broken(Broken {
                rule: format!("{rule}, {}", violation.example()),
                expected: expected.to_owned(),
            })
        })
    };
    let associative = law(
        laws::Law::Associative,
        "its body accumulates by an operator that is not associative",
        "expected one whose parts can be combined, such as a sum, a maximum or a product",
    );
    let commutative = law(
        laws::Law::Commutative,
        "its body accumulates over several loops by an operator that is not commutative",
        "expected one loop, or an operator that does not depend on the order",
    );
    (associative, commutative)
}
