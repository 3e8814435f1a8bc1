//! Objections to a schedule: constraints of a machine that it breaks, and parts of it that there is no code for.

use serde::Serialize;

use mdh_algebra::computation::Computation;
use mdh_schedule::asm::Asm;
use mdh_schedule::legality::{self, Subject};
use mdh_schedule::{Schedule, check};

/// Findings against a schedule.
#[derive(Clone, Debug, Serialize)]
pub struct Refusal {
    /// The machine that refuses it, or the lowering, in words.
    pub by: String,
    /// The findings, each by the name of its constraint.
    pub findings: Vec<String>,
}

impl Refusal {
    /// Checks a schedule; `None` if nothing is against it.
    pub fn new(schedule: &Schedule, computation: &Computation, asm: &Asm) -> Option<Refusal> {
        let resolved = match check(schedule, computation, asm) {
            Ok(resolved) => resolved,
            Err(violations) => {
                return Some(Refusal {
                    by: format!("the machine '{}' refuses it", asm.name),
                    findings: violations.iter().map(ToString::to_string).collect(),
                });
            }
        };
        let subject = Subject {
            computation,
            schedule,
            resolved: &resolved,
        };
        let refusals = legality::check(&subject).err()?;
        let finding =
            |refusal: &legality::Refusal| format!("{}: a schedule {refusal}", refusal.reason);
        Some(Refusal {
            by: "there is no code for it".to_string(),
            findings: refusals.iter().map(finding).collect(),
        })
    }

    /// The lines about it.
    pub fn text(&self) -> String {
        let findings = self.findings.iter();
        let findings: String = findings.map(|text| format!("    - {text}\n")).collect();
        format!("  {}:\n{findings}", self.by)
    }
}
