//! Questions about all indices of a tile, decided by trying them: of swizzles, tables and curves, which
//! are no linear forms of the index.

use crate::index::{EvalError, Expr, Facts, IndexProgram, Name};

use super::answer::Answer;
use super::indices::list;

/// So many indices are tried at most.
const TRIED: i64 = 1 << 20;

/// Something that is to hold for every index.
pub(super) struct Question<'a> {
    pub(super) holds: String,
    pub(super) names: &'a [Name],
    pub(super) sizes: &'a [Expr],
    pub(super) compute: Vec<Expr>,
    pub(super) facts: &'a Facts,
}

/// Message about an index and the offset computed for it; `None` if they are right.
type Wrong<'a> = &'a dyn Fn(&[i64], &[i64]) -> Option<String>;

impl Question<'_> {
    /// Tries all indices: of numbers, of all values of symbols whose bounds leave few, or else of
    /// small ones.
    pub(super) fn decide(&self, wrong: Wrong) -> Answer {
        let mut symbols: Vec<Name> = Vec::new();
        for symbol in self.sizes.iter().flat_map(Expr::symbols) {
            if !symbols.contains(&symbol) {
                symbols.push(symbol);
            }
        }
        let program = IndexProgram::with_inputs(&[self.names, &symbols].concat(), &self.compute);
        if program.inputs().len() > self.names.len() + symbols.len() {
            return Answer::Open(vec![self.holds.clone()]);
        }
        let trials = self.facts.trials(&symbols);
        let (mut complete, mut left) = (trials.are_all, TRIED);
        for values in trials.values {
            match self.try_all(&program, &symbols, &values, wrong, &mut left) {
                Tried::Wrong(why) => return Answer::Refuted(why),
                Tried::All => {}
                Tried::Some => complete = false,
            }
        }
        match complete {
            true => Answer::Proved,
            false => Answer::Open(vec![self.holds.clone()]),
        }
    }

    fn try_all(
        &self,
        program: &IndexProgram,
        symbols: &[Name],
        values: &[i64],
        wrong: Wrong,
        left: &mut i64,
    ) -> Tried {
        let Ok(sizes) = IndexProgram::with_inputs(symbols, self.sizes).run(values) else {
            return Tried::Some;
        };
        if sizes.iter().any(|n| *n < 1) {
            return Tried::Some;
        }
        let bound = symbols.iter().zip(values);
        let bound: Vec<String> = bound.map(|(s, v)| format!("{s} = {v}")).collect();
        let with = match bound.is_empty() {
            true => String::new(),
            false => format!("with {}, ", bound.join(", ")),
        };
        let total = sizes.iter().try_fold(1_i64, |p, n| p.checked_mul(*n));
        let stop = total.map_or(*left, |total| total.min(*left));
        *left -= stop;
        let mut input = [vec![0; sizes.len()], values.to_vec()].concat();
        for _ in 0..stop {
            let mistake = match program.run(&input) {
                Ok(computed) => wrong(&input[..sizes.len()], &computed),
                Err(EvalError::Unknown(_)) => return Tried::Some,
                Err(error) => Some(format!("of {}: {error}", list(&input[..sizes.len()]))),
            };
            if let Some(mistake) = mistake {
                return Tried::Wrong(format!("{with}{mistake}"));
            }
            for (i, n) in input.iter_mut().zip(&sizes).rev() {
                *i = (*i + 1) % n;
                if *i != 0 {
                    break;
                }
            }
        }
        if Some(stop) == total {
            Tried::All
        } else {
            Tried::Some
        }
    }
}

enum Tried {
    Wrong(String),
    All,
    Some,
}
