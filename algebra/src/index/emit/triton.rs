//! Python, for Triton's kernels and for numpy.
//!
//! `//` and `%` round down in Python and to 0 in kernels. They agree where the dividend is not
//! negative; elsewhere the remainder is made from one that is right in both.

use super::function::{Argument, Checked, EmitError, Function, Width, checked};
use super::language::{
    ATOM, Language, Leaves, Piece, Truth, table_name, tables, write, write_with,
};
use crate::index::{Expr, Facts, IndexProgram, Interval, Name, Op, Table};

/// Statements, and the last line's value is a tuple of the results or the only result, named as
/// the function. `arguments` says for each of the function's inputs what stands for it; the k-th
/// slice of several varies along dimension k of the result. Tables are arrays of that name.
pub fn triton(
    function: &Function,
    arguments: &[Argument],
    width: Width,
) -> Result<String, EmitError> {
    let checked = checked(function, width)?;
    let mut language = Triton::new(function, arguments, &checked, width)?;
    let (statements, results) = write(&checked, &mut language);
    let results: Vec<String> = results.iter().map(|r| r.text.clone()).collect();
    let mut lines = String::new();
    for statement in statements {
        lines += &format!("{statement}\n");
    }
    lines += &format!("{} = {}\n", function.name, results.join(", "));
    Ok(lines)
}

/// Python as a language of expressions.
pub(super) struct Triton<'a> {
    arguments: Vec<(&'a Name, &'a Argument)>,
    slices: usize,
    tables: Vec<&'a Table>,
    facts: &'a Facts,
    width: Width,
    /// Conversion of parameters to the target's integers.
    pub leaves: Leaves,
}

impl<'a> Triton<'a> {
    pub fn new(
        function: &Function<'a>,
        arguments: &'a [Argument],
        checked: &'a Checked,
        width: Width,
    ) -> Result<Triton<'a>, EmitError> {
        let slices = arguments.iter().filter(|a| matches!(a, Argument::Slice(_)));
        let tables = tables(&checked.program);
        for table in &tables {
            if let Some(values) = &table.values {
                return Err(EmitError(format!(
                    "the table '{}' of {} entries cannot be written into a kernel, expected one \
                     that is given at run time",
                    table_name(&tables, table),
                    values.len()
                )));
            }
        }
        Ok(Triton {
            arguments: function.inputs.iter().zip(arguments).collect(),
            slices: slices.count(),
            tables,
            facts: function.facts,
            width,
            leaves: Leaves::AsTheyAre,
        })
    }

    /// A size in plain Python: what bounds a slice is known when a kernel is compiled.
    fn size(&self, size: &Expr) -> String {
        let program = IndexProgram::new(std::slice::from_ref(size));
        let checked = Checked {
            ranges: self.facts.ranges(&program),
            uses: vec![],
            program,
        };
        let mut language = Triton {
            arguments: vec![],
            slices: 0,
            tables: vec![],
            facts: self.facts,
            width: self.width,
            leaves: Leaves::AsTheyAre,
        };
        let (_, results) = write_with(&checked, &mut language, &mut std::iter::empty());
        results.iter().map(|r| r.text.as_str()).collect()
    }

    /// A parameter as one of the target's integers.
    fn leaf(&self, piece: Piece) -> Piece {
        match self.leaves {
            Leaves::AsTheyAre => piece,
            Leaves::Cast => {
                let (text, bits) = (piece.text, self.width.bits());
                Piece::atom(format!("tl.cast({text}, tl.int{bits})"))
            }
        }
    }

    /// `[:, None]`: where the slice varies among all slices.
    fn broadcast(&self, slice: usize) -> String {
        if self.slices < 2 {
            return String::new();
        }
        let marker = |k| if k == slice { ":" } else { "None" };
        let markers: Vec<&str> = (0..self.slices).map(marker).collect();
        format!("[{}]", markers.join(", "))
    }
}

/// The condition itself of a comparison, which is written as a choice of 1 and 0.
pub(super) fn test(text: &str) -> Option<&str> {
    let test = text.strip_prefix("tl.where(")?;
    test.strip_suffix(", 1, 0)")
}

/// Returns the precedence of Python's operators.
fn strength(op: Op) -> u8 {
    match op {
        Op::Mul | Op::Div | Op::Mod => 12,
        Op::Add | Op::Sub => 11,
        Op::And => 9,
        Op::Xor => 8,
        Op::Or => 7,
        _ => 5,
    }
}

impl Language for Triton<'_> {
    fn symbol(&mut self, name: &str) -> Piece {
        let mut slice = 0;
        for (input, argument) in &self.arguments {
            match argument {
                Argument::Name if &***input == name => break,
                Argument::Text(text) if &***input == name => {
                    return self.leaf(Piece::operand(text));
                }
                Argument::Slice(size) if &***input == name => {
                    let arange = Piece::atom(format!("tl.arange(0, {})", self.size(size)));
                    let (arange, place) = (self.leaf(arange).text, self.broadcast(slice));
                    return Piece::atom(format!("{arange}{place}"));
                }
                Argument::Slice(_) => slice += 1,
                _ => {}
            }
        }
        self.leaf(Piece::atom(name))
    }

    fn constant(&mut self, value: i64) -> Piece {
        let strength = if value < 0 { 13 } else { ATOM };
        let text = value.to_string();
        Piece { text, strength }
    }

    fn binary(&mut self, op: Op, [a, b]: [&Piece; 2], ranges: [Interval; 2]) -> Piece {
        let infix = |a: &Piece, op: &str, b: &Piece, own| Piece::infix(a, op, b, own);
        match op {
            Op::Div | Op::Mod if ranges[0].min < 0 => {
                let inner = Piece::infix(&infix(a, "%", b, 12), "+", b, 11);
                let rest = infix(&inner, "%", b, 12);
                match op {
                    Op::Mod => rest,
                    _ => infix(&infix(a, "-", &rest, 11), "//", b, 12),
                }
            }
            Op::Div => infix(a, "//", b, 12),
            Op::Min => Piece::call("tl.minimum", &[a, b]),
            Op::Max => Piece::call("tl.maximum", &[a, b]),
            Op::Lt | Op::Le | Op::Eq | Op::Ne => {
                // As an integer: conditions are added and multiplied, too.
                let [a, b] = [a, b].map(|p| Piece::atom(p.at_least(6)));
                let test = infix(&a, op.symbol(), &b, 5);
                let (one, zero) = (Piece::atom("1"), Piece::atom("0"));
                Piece::call("tl.where", &[&test, &one, &zero])
            }
            _ => infix(a, op.symbol(), b, strength(op)),
        }
    }

    fn sqrt(&mut self, a: &Piece) -> Piece {
        let ty = self.width.bits();
        let a = &a.text;
        Piece::atom(format!(
            "tl.cast(tl.sqrt(tl.cast({a}, tl.float64)), tl.int{ty})"
        ))
    }

    fn select(&mut self, [c, a, b]: [&Piece; 3], condition: Truth) -> Piece {
        let test = match (condition, test(&c.text)) {
            (Truth::Comparison, Some(test)) => Piece::atom(test),
            _ => Piece::atom(format!("{} != 0", c.at_least(6))),
        };
        Piece::call("tl.where", &[&test, a, b])
    }

    fn load(&mut self, table: &Table, index: &Piece) -> Piece {
        let name = Piece::atom(table_name(&self.tables, table));
        let place = Piece::infix(&name, "+", index, 11);
        Piece::call("tl.load", &[&place])
    }

    fn assign(&mut self, name: &str, value: &Piece) -> String {
        format!("{name} = {}", value.text)
    }
}
