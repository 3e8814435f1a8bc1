//! The index expressions of the LEGO paper's kernels as layouts give them, and how many operations
//! are left when they are simplified: one line each, with tabs between name, function, operations
//! before and after, and the expressions. `scripts/operations` compares them with SymPy.

use mdh_algebra::index::emit::{Function, text};
use mdh_algebra::index::simplify::{Operations, simplify};
use mdh_algebra::index::{Expr, Facts};
use mdh_algebra::layout::parse::layout;

fn main() {
    for line in include_str!("../src/index/kernels.txt").lines() {
        let (name, source) = line.split_once(" | ").unwrap_or((line, ""));
        let layout = match layout(source, &Facts::new()) {
            Ok(layout) => layout,
            Err(error) => panic!("{}", error.in_source(source)),
        };
        let names = layout.index_names();
        let index: Vec<Expr> = names.iter().map(|n| Expr::symbol(n)).collect();
        let facts = layout.facts_of_index(&names);
        show(name, "apply", &facts, &[layout.apply(&index)]);
        let x = layout.offset_name();
        let facts = layout.facts_of_offset(&x);
        show(name, "inv", &facts, &layout.inv(&Expr::symbol(&x)));
    }
}

fn show(name: &str, what: &str, facts: &Facts, exprs: &[Expr]) {
    let before = Operations::new(exprs).total();
    let after = Operations::new(&simplify(facts, exprs)).total();
    let lines = text(&Function {
        name: what,
        inputs: &[],
        outputs: exprs,
        facts,
    });
    let lines: Vec<&str> = lines.lines().collect();
    println!("{name}\t{what}\t{before}\t{after}\t{}", lines.join("\t"));
}
