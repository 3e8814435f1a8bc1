//! Values carried by loops and branches: `scf.for`, `scf.forall`, `scf.while`, `scf.if`, `scf.index_switch`,
//! `scf.execute_region`.

use melior::ir::operation::OperationLike;

use crate::ir::{self, BlockArgument, Op, Val};
use crate::ops;

/// Values of an argument of a loop's region.
pub struct Given<'c> {
    /// By what comes before: the loop, or for the second region of an `scf.while` the first one.
    pub first: Val<'c>,
    /// By the iteration before, where that gives it.
    pub next: Option<Val<'c>>,
}

/// Returns the values of an argument of a loop's region; `None` for an index, and where there is no
/// loop.
pub fn argument(value: Val) -> Option<Given> {
    let BlockArgument { number, of, region } = ir::block_argument(value)?;
    Some(match (ir::name_of(of), region) {
        (ops::scf::FOR, _) => Given {
            first: operand(of, 3 + number.checked_sub(1)?)?,
            next: Some(yielded(of, 0, number - 1)?),
        },
        // Its threads write parts of one tensor, which keeps its size.
        (ops::scf::FORALL, _) => Given {
            first: shared(
                of,
                number.checked_sub(ir::integers(of, "staticStep").len())?,
            )?,
            next: None,
        },
        (ops::scf::WHILE, 0) => Given {
            first: operand(of, number)?,
            next: Some(yielded(of, 1, number)?),
        },
        (ops::scf::WHILE, _) => Given {
            first: yielded(of, 0, number + 1)?,
            next: None,
        },
        _ => return None,
    })
}

/// Returns the possible values of a loop's or branch's result; `None` for any other value.
pub fn result(value: Val) -> Option<Vec<Val>> {
    let (op, number) = (ir::defining_op(value)?, ir::result_number(value)?);
    Some(match ir::name_of(op) {
        ops::scf::FOR => vec![operand(op, 3 + number)?, yielded(op, 0, number)?],
        ops::scf::FORALL => vec![shared(op, number)?],
        ops::scf::WHILE => vec![yielded(op, 0, number + 1)?],
        ops::scf::EXECUTE_REGION => vec![yielded(op, 0, number)?],
        ops::scf::INDEX_SWITCH => {
            let regions = 0..op.region_count();
            regions
                .map(|region| yielded(op, region, number))
                .collect::<Option<_>>()?
        }
        ops::scf::IF => vec![yielded(op, 0, number)?, yielded(op, 1, number)?],
        _ => return None,
    })
}

/// The tensor that threads write parts of: these are the last operands.
fn shared(op: Op, number: usize) -> Option<Val> {
    let first = op.operand_count().checked_sub(op.result_count())?;
    operand(op, first + number)
}

fn yielded(op: Op, region: usize, number: usize) -> Option<Val> {
    let block = ir::only_block(ir::region(op, region))?;
    operand(*ir::ops_of(block).last()?, number)
}

fn operand(op: Op, number: usize) -> Option<Val> {
    ir::operand(op, number)
}
