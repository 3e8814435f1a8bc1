//! Runs: indices one after the other in a dimension whose offsets are one after the other, too. What
//! lies in a run is one vector of memory.

use super::Layout;
use super::answer::Answer;
use super::decide::Question;
use super::indices::list;
use crate::index::{Expr, Facts, Name, normal};

/// The indices of a dimension that are to be one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Run {
    /// All of them.
    Whole,
    /// Those of each block of so many, 1 or more; the last block may not be full.
    Blocks(i64),
}

impl Layout {
    /// Returns whether `apply(i + e) == apply(i) + 1` for all indices of whole dimensions `i` and `i + e` of
    /// a run of dimension `axis`, where `e` is 1 in this dimension and 0 in the others.
    ///
    /// # Panics
    /// If there is no such dimension.
    pub fn is_run(&self, axis: usize, run: Run) -> Answer {
        let names = self.names_of_whole();
        let sizes = self.sizes();
        let is_known = |n: i64| sizes[axis].as_constant() == Some(n);
        if is_known(1) || run == Run::Blocks(1) {
            return Answer::Proved;
        }
        if self.is_proved(&names, axis, run) {
            return Answer::Proved;
        }
        let index: Vec<Expr> = names.iter().map(|name| Expr::symbol(name)).collect();
        // What has no next one is asked for itself.
        let mut next = index.clone();
        next[axis] = (&index[axis] + 1).min(&sizes[axis] - 1);
        let facts = self.facts_of_whole(&names);
        let question = Question {
            holds: format!("neighbours in dimension {axis} are neighbours in memory"),
            names: &names,
            sizes: &sizes,
            compute: [index, next]
                .map(|index| self.apply(&self.components(&index)))
                .into(),
            facts: &facts,
        };
        question.decide(&|index, offsets| {
            let [offset, next] = [offsets[0], offsets[1]];
            let is_last = match run {
                Run::Whole => false,
                Run::Blocks(length) => (index[axis] + 1) % length == 0,
            };
            let is_next = next == offset + 1 || next == offset || is_last;
            (!is_next).then(|| {
                let index = list(index);
                format!("{index} is at {offset}, and the next one in dimension {axis} at {next}")
            })
        })
    }

    /// The same, as far as the normal form of expressions proves it.
    fn is_proved(&self, names: &[Name], axis: usize, run: Run) -> bool {
        let size = &self.sizes()[axis];
        let mut facts = self.facts_of_whole(names);
        let mut index: Vec<Expr> = names.iter().map(|name| Expr::symbol(name)).collect();
        let fresh = |facts: &Facts, name: &str| {
            let mut name = name.to_string();
            while facts.knows(&name) {
                name.push('_');
            }
            name
        };
        let place = fresh(&facts, "at");
        index[axis] = match run {
            Run::Whole => {
                facts.index(&place, &(size - 1));
                Expr::symbol(&place)
            }
            Run::Blocks(length) => {
                facts.index(&place, &Expr::constant(length - 1));
                let block = fresh(&facts, "block");
                facts.index(&block, &((size + (length - 1)) / length));
                Expr::symbol(&block) * length + Expr::symbol(&place)
            }
        };
        let here = self.apply(&self.components(&index));
        index[axis] = &index[axis] + 1;
        let next = self.apply(&self.components(&index));
        normal::equal(&facts, &next, &(here + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::IndexProgram;
    use crate::layout::parse;

    fn layout(text: &str) -> Layout {
        parse::layout(text, &Facts::new()).unwrap()
    }

    /// The definition, for numbers.
    fn expected(layout: &Layout, axis: usize, run: Run) -> bool {
        let sizes: Vec<i64> = layout
            .sizes()
            .iter()
            .filter_map(Expr::as_constant)
            .collect();
        let names = layout.names_of_whole();
        let index: Vec<Expr> = names.iter().map(|name| Expr::symbol(name)).collect();
        let offset = layout.apply(&layout.components(&index));
        let program = IndexProgram::with_inputs(&names, &[offset]);
        let offset = |index: &[i64]| program.run(index).unwrap()[0];
        let total: i64 = sizes.iter().product();
        (0..total).all(|flat| {
            let mut rest = flat;
            let mut index: Vec<i64> = (sizes.iter().rev())
                .map(|n| {
                    let i = rest % n;
                    rest /= n;
                    i
                })
                .collect();
            index.reverse();
            let here = offset(&index);
            index[axis] += 1;
            let is_within = match run {
                Run::Whole => true,
                Run::Blocks(length) => index[axis] % length != 0,
            };
            index[axis] == sizes[axis] || !is_within || offset(&index) == here + 1
        })
    }

    #[test]
    fn as_defined() {
        let mut runs = 0;
        for text in [
            "Row([6,8])",
            "Col([6,8])",
            "Row([5,1])",
            "GenP([8,8],xor)",
            "GenP([6,8],reverse)",
            "GenP([8,8],morton)",
            "GenP([8,8],hilbert)",
            "GenP([8,8],antidiag)",
            "GenP([8,16],swizzle(1,3,3))",
            "GenP([4,16],swizzle(2,2,2))",
            "Bricks([12,16],[4,8])",
            "OrderBy(RegP([6,2,8],[2,1,3])).GroupBy([6,16])",
            "TileBy([2,5],[4,8]).OrderBy(Col([8,40]))",
            "TileBy([2,5],[4,8]).OrderBy(Row([8,40]))",
            "GenP([2,8],table([4,5,6,7,0,1,2,3,8,9,10,11,14,15,12,13]))",
            "GroupBy([3,4,6])",
            "OrderBy(RegP([3,4,6],[3,1,2])).GroupBy([3,4,6])",
            "Bricks([12,16],[4,8]).Within([11,13])",
            "OrderBy(RegP([2,9],[2,1])).GroupBy([18])",
        ] {
            let layout = layout(text);
            let blocks = (1..=9).map(Run::Blocks);
            for axis in 0..layout.sizes().len() {
                for run in blocks.clone().chain([Run::Whole]) {
                    let answer = layout.is_run(axis, run);
                    let expected = expected(&layout, axis, run);
                    runs += usize::from(expected);
                    let is_right = match &answer {
                        Answer::Proved => expected,
                        Answer::Refuted(_) => !expected,
                        Answer::Open(_) => false,
                    };
                    assert!(is_right, "{text}, axis {axis}, {run:?}: {answer:?}");
                }
            }
        }
        assert!(runs > 50, "{runs}");
    }

    /// Of sizes that nobody could try.
    #[test]
    fn proofs() {
        for (text, axis, run, is_proved) in [
            ("Row([m,n])", 1, Run::Whole, true),
            ("Row([m,n])", 0, Run::Whole, false),
            ("Col([m,n])", 0, Run::Whole, true),
            (
                "TileBy([m,n],[8,16]).OrderBy(Row([m*8,n*16]))",
                1,
                Run::Whole,
                true,
            ),
            (
                "OrderBy(RegP([m,8,n,16],[1,3,2,4])).GroupBy([m*8,n*16])",
                1,
                Run::Blocks(16),
                true,
            ),
            (
                "OrderBy(RegP([m,8,n,16],[1,3,2,4])).GroupBy([m*8,n*16])",
                1,
                Run::Blocks(4),
                true,
            ),
            (
                "OrderBy(RegP([m,8,n,16],[1,3,2,4])).GroupBy([m*8,n*16])",
                1,
                Run::Blocks(32),
                false,
            ),
            ("Bricks([4096,4096],[8,16])", 1, Run::Blocks(16), true),
            ("Bricks([4096,4096],[8,16])", 1, Run::Whole, false),
        ] {
            let answer = layout(text).is_run(axis, run);
            assert_eq!(
                answer == Answer::Proved,
                is_proved,
                "{text}, {run:?}: {answer:?}"
            );
        }
        let refuted = layout("Col([m,n])").is_run(1, Run::Blocks(2));
        let why = "with m = 2, n = 2, [0,0] is at 0, and the next one in dimension 1 at 2";
        assert_eq!(refuted, Answer::Refuted(why.into()));
    }
}
