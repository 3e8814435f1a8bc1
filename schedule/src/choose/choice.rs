//! A schedule that was chosen, and everything against one.

use mdh_algebra::computation::Computation;

use crate::asm::Asm;
use crate::check::check;
use crate::legality::{self, Refusal, Subject};
use crate::schedule::Schedule;

/// A schedule, and why it is the one.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The schedule.
    pub schedule: Schedule,
    /// True if blocks are transposed in registers.
    pub is_transposed: bool,
    /// Reasons for what was chosen and what was rejected, in whole sentences with their numbers.
    pub reasons: Vec<String>,
}

/// Everything against a schedule: constraints that it breaks on this machine or on that of its name
/// with usual facts, by which it is lowered, and parts of it that there is no code for.
pub(super) fn objections(schedule: &Schedule, computation: &Computation, asm: &Asm) -> Vec<String> {
    let usual = Asm::builtin(&asm.name).filter(|usual| usual != asm);
    for asm in [Some(asm), usual.as_ref()].into_iter().flatten() {
        let resolved = match check(schedule, computation, asm) {
            Ok(resolved) => resolved,
            Err(found) => return found.iter().map(|f| format!("breaks {f}")).collect(),
        };
        let subject = Subject {
            computation,
            schedule,
            resolved: &resolved,
        };
        if let Err(found) = legality::check(&subject) {
            let say = |f: &Refusal| format!("has no code in a schedule {f}");
            return found.iter().map(say).collect();
        }
    }
    Vec::new()
}
