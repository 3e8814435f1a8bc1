//! Text that [`crate::index::parse`] reads: what is used several times is named by `let`.

use super::function::{Checked, Function};
use super::language::{ATOM, Language, Piece, Truth, write};
use crate::index::print::strength;
use crate::index::{IndexProgram, Interval, Node, Op, Table};

/// The results, one on a line.
pub fn text(function: &Function) -> String {
    let lines = function.outputs.iter().map(|output| {
        let program = IndexProgram::new(std::slice::from_ref(output));
        let mut uses = vec![0; program.nodes().len()];
        program
            .nodes()
            .iter()
            .flat_map(Node::children)
            .for_each(|c| uses[*c] += 1);
        let ranges = vec![Interval::ALL; uses.len()];
        let checked = Checked {
            program,
            ranges,
            uses,
        };
        let (names, results) = write(&checked, &mut Text);
        let result: Vec<&str> = results.iter().map(|r| r.text.as_str()).collect();
        format!("{}{}\n", names.concat(), result.concat())
    });
    lines.collect()
}

struct Text;

impl Language for Text {
    fn symbol(&mut self, name: &str) -> Piece {
        Piece::atom(name)
    }

    fn constant(&mut self, value: i64) -> Piece {
        let strength = if value < 0 { 7 } else { ATOM };
        let text = value.to_string();
        Piece { text, strength }
    }

    fn binary(&mut self, op: Op, [a, b]: [&Piece; 2], _: [Interval; 2]) -> Piece {
        match strength(op) {
            None => Piece::call(op.symbol(), &[a, b]),
            // Comparisons do not chain.
            Some(own) if op.is_comparison() => {
                let a = Piece::atom(a.at_least(own + 1));
                Piece::infix(&a, op.symbol(), b, own)
            }
            Some(own) => Piece::infix(a, op.symbol(), b, own),
        }
    }

    fn sqrt(&mut self, a: &Piece) -> Piece {
        Piece::call("isqrt", &[a])
    }

    fn select(&mut self, operands: [&Piece; 3], _: Truth) -> Piece {
        Piece::call("select", &operands)
    }

    fn load(&mut self, table: &Table, index: &Piece) -> Piece {
        Piece::atom(format!("{}[{}]", table.name, index.text))
    }

    fn assign(&mut self, name: &str, value: &Piece) -> String {
        format!("let {name} = {} in ", value.text)
    }
}
