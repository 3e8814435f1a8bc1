//! Verdicts on cases with schedules. One that is not followed is refused in words, as its legality says.

use super::Legality;
use crate::case::Verdict;
use crate::child::{Answer, End};
use crate::failure::{self, Failure};

/// Message about a schedule that is not valid; those of cases are.
const BROKEN: &str = "has a schedule that breaks";
/// Message about a defect of mdh's own.
const BUG: &str = "bug in mdh";
/// Messages about computations, loop nests or cores that do not go together, which the legality of
/// one schedule does not tell.
const SEVERAL: [&str; 3] = ["(compute-at)", "loop nest", "of its tiles"];
/// Messages about an operator that integers have no use for, and an operation of scalar code that a GPU has no code
/// for.
const OTHERS: [&str; 2] = [
    "whose laws do not hold in integers",
    "has no code on a device",
];

/// The verdict on a case with these features.
pub fn verdict(answer: &Answer, features: &str) -> Verdict {
    let said = failure::gist(&answer.errors);
    let says = |parts: &[&str]| parts.iter().any(|part| said.contains(part));
    // What is refused otherwise is a program that the generator or the lowering has made.
    let is_refused = answer.end == End::Answered("refused".into())
        && (says(&OTHERS) || says(&["has a schedule"]))
        && !says(&[BROKEN, BUG]);
    let is = |legality: Legality| features.split(',').any(|f| f == legality.feature());
    // None that is illegal is lowered, and none that is legal is refused, but for what is asked of several
    // computations together.
    let disagrees = |signature: String| {
        Some(Failure {
            signature,
            text: answer.errors.clone(),
        })
    };
    let failure = match Failure::from_answer(answer).filter(|_| !is_refused) {
        None if is(Legality::No) && !is_refused => {
            disagrees("lowered, although it is illegal".into())
        }
        None if is(Legality::Yes) && is_refused && !says(&SEVERAL) && !says(&OTHERS) => {
            disagrees(format!("refused, although it is legal: {said}"))
        }
        failure => failure,
    };
    match failure {
        None if is_refused => Verdict::Refused(said),
        None => Verdict::Right,
        Some(mut failure) => {
            // Wrong results have nothing in common but the workload.
            if failure.signature.starts_with("wrong") {
                let workload = features.split(',').next().unwrap_or_default();
                failure.signature = format!("{workload}: {}", failure.signature);
            }
            Verdict::Failed(failure)
        }
    }
}
