//! Names of what raised computations write: by these schedules tell computations of a block apart.

use std::collections::{HashMap, HashSet};

use mdh_dialect::ir::{self, Op};
use mdh_dialect::{ops, schedule, write};
use melior::ir::BlockLike;
use melior::ir::operation::OperationLike;

use crate::support::names::fresh;

/// Gives the first outputs of a block's computations names of their own, from the last one, whose result the
/// function mostly has. Those of `written`, which stood there before, keep theirs.
pub fn distinguish(module: Op, written: &[Op]) {
    let mut taken: HashMap<usize, HashSet<String>> = HashMap::new();
    let computations = ir::find_all(module, &[ops::mdh::COMPUTE]);
    for op in computations.into_iter().rev() {
        let Some(block) = op.block() else {
            continue;
        };
        let taken = taken.entry(block.to_raw().ptr as usize).or_default();
        let name = schedule::name(op);
        if written.contains(&op) || taken.insert(name.clone()) {
            taken.insert(name);
            continue;
        }
        let names = [ir::strings(op, "names"), ir::strings(op, "dims")].concat();
        let new = fresh(&name, |name| {
            taken.contains(name) || names.iter().any(|known| known == name)
        });
        write::name_output(op, &new);
        taken.insert(new);
    }
}
