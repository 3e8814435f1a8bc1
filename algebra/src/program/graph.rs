//! Blocks that lead to each other, run one after the other.

use super::body::Graph;
use super::control::Handed;
use super::instance::Instance;

impl Instance<'_> {
    pub(super) fn run_graph(&mut self, of: &Graph, number: usize) -> Result<(), (usize, String)> {
        let here = |message: String| (number, message);
        let mut current = 0;
        loop {
            self.count_iteration().map_err(here)?;
            let Some(block) = of.blocks.get(current) else {
                return Err(here("bug: a block that is not there".into()));
            };
            self.run_all(&block.body.statements, number + 1 + of.before(current))?;
            let yields = &block.body.yields;
            let (next, handed) = match (&block.next[..], yields.split_first()) {
                ([], _) => {
                    let values = self.all(yields).map_err(here)?;
                    return self.assign_all(&of.results, &values).map_err(here);
                }
                ([next], _) => (*next, &yields[..]),
                ([yes, no], Some((condition, handed))) => {
                    let count = of.blocks.get(*yes).map_or(0, |b| b.arguments.len());
                    let (first, second) = handed.split_at(count.min(handed.len()));
                    match self.known_scalar(*condition).map_err(here)?.is_true() {
                        true => (*yes, first),
                        false => (*no, second),
                    }
                }
                _ => {
                    return Err(here(
                        "bug: a block with other than one or two after it".into(),
                    ));
                }
            };
            let values: Vec<Handed> = self.all(handed).map_err(here)?;
            let arguments = of.blocks.get(next).map_or(&[][..], |b| &b.arguments);
            self.assign_all(arguments, &values).map_err(here)?;
            current = next;
        }
    }
}
