//! The rules of the simplifier of index expressions: one line each, with tabs between name, left
//! side, right side and condition. `scripts/prove-rules` proves them.

fn main() {
    for rule in mdh_algebra::index::simplify::rules() {
        println!("{}", rule.join("\t"));
    }
}
