//! The ways in which cases are made, run and judged.

use mdh_compiler::cli::{CheckHow, Device};

use crate::case::{Case, Verdict};
use crate::child::Answer;
use crate::choices::Choices;
use crate::failure::Failure;
use crate::linalg::shapes;
use crate::mutate::{Mutant, is_known_crash};
use crate::run::{self, Depth};
use crate::schedules::{self, Machine, verdict};
use crate::tally::Tally;
use crate::{
    einsum, environment, generate, linalg, linalg_round_trip, loops, lower, scripts, sizes, text,
    tune,
};

/// With fewer cases, what they cover is left to chance.
const MANY: u64 = 1000;
/// So many programs go out to linalg in part, surely.
const SOME: u64 = 50;

/// Way of a case: the program that is made, and how it is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// A program is run.
    Run(run::Way),
    /// It is run on a GPU of that compute capability, by the interpreter of PTX.
    Interpret(run::Way, u8),
    /// It is lowered for the processor, of which caches and registers are few, and for a GPU.
    Lower,
    /// A program of linalg is run.
    Linalg(CheckHow),
    /// It is raised, as linalg again, and raised again.
    RoundTrip,
    /// Computations are taken to linalg and back.
    Computations,
    /// Loops over tensors are run.
    Loops,
    /// A script tiles a program before it is run.
    Script,
    /// An einsum is run.
    Einsum,
    /// Functions are called with sizes that make more bytes than can be addressed.
    Sizes,
    /// Schedules of a program are searched.
    Tune,
    /// A mutant of an example is read and lowered.
    Mutant,
    /// A program is run with random schedules; what is simulated, also on the interpreter, for some chip.
    Schedule(Machine, CheckHow, Option<u8>),
}

impl Way {
    /// A run, of the first programs one of which the results after each pass are checked, too.
    pub fn of_program(way: run::Way, number: u64, steps: u64) -> Way {
        let depth = match number < environment::number(&["MDH_RANDOM_STEPS"], steps) {
            true => Depth::EachStep,
            false => way.depth,
        };
        Way::Run(run::Way { depth, ..way })
    }

    /// By the interpreter, for one chip after the other.
    pub fn interpreted(way: run::Way, number: u64) -> Way {
        let way = run::Way {
            device: Device::Cuda,
            ..way
        };
        Way::Interpret(way, environment::chip(number))
    }

    /// With schedules for a GPU, of which every fourth also runs as PTX.
    pub fn of_kernels(check: CheckHow, number: u64) -> Way {
        let chip = environment::chip(number / 4);
        Way::Schedule(
            Machine::Gpu,
            check,
            number.is_multiple_of(4).then_some(chip),
        )
    }

    /// So many cases a child has before it is replaced, so that memory is not all used up.
    pub fn life(self) -> u64 {
        if self == Way::Mutant { 1000 } else { 25 }
    }

    /// The compute capability of the GPU that it needs.
    pub fn chip(self) -> Option<u8> {
        match self {
            Way::Interpret(_, chip) => Some(chip),
            Way::Schedule(.., chip) => chip,
            _ => None,
        }
    }

    /// The case of a seed's choices; why there is none otherwise.
    pub fn case(self, c: &mut Choices) -> Result<Box<dyn Case>, String> {
        Ok(match self {
            Way::Run(way) | Way::Interpret(way, _) => {
                let program = generate::program(c);
                Box::new(run::Case { program, way })
            }
            Way::Lower => Box::new(lower::case(c)),
            Way::Linalg(check) => Box::new(text::Checked(linalg::program(c), check)),
            Way::RoundTrip => Box::new(linalg_round_trip::RoundTrip(linalg::program(c))),
            Way::Computations => Box::new(linalg_round_trip::Computations(generate::tileable(c))),
            Way::Loops => Box::new(text::Checked(loops::program(c), CheckHow::All)),
            Way::Script => Box::new(scripts::case(c)),
            Way::Einsum => Box::new(einsum::case(c)),
            Way::Sizes => Box::new(sizes::case(c)),
            Way::Tune => Box::new(tune::case(c)),
            Way::Mutant => Box::new(Mutant::new(c)),
            Way::Schedule(machine, check, chip) => Box::new(schedules::Run {
                case: schedules::case(c, machine)?,
                check,
                is_interpreted: chip.is_some(),
            }),
        })
    }

    /// The verdict on a case with these features.
    pub fn verdict(self, answer: &Answer, features: &str) -> Verdict {
        match self {
            Way::Schedule(..) => verdict::verdict(answer, features),
            _ => match Failure::from_answer(answer) {
                None if features.contains(shapes::CONTRADICTORY) => Verdict::Failed(Failure {
                    signature: "a reshape that contradicts its type is not refused".into(),
                    text: String::new(),
                }),
                None => Verdict::Right,
                Some(failure)
                    if features.contains(shapes::CONTRADICTORY)
                        && shapes::is_refusal(&failure.text) =>
                {
                    Verdict::Refused(failure.signature)
                }
                Some(failure) if self.expects(&failure) => Verdict::Refused(failure.signature),
                Some(failure) if self == Way::Mutant && is_known_crash(&failure) => {
                    Verdict::Refused("a crash in upstream's code that is known".into())
                }
                Some(failure) => Verdict::Failed(failure),
            },
        }
    }

    /// Finds what many cases of its kind do not cover.
    pub fn lacking(self, tally: &Tally) -> Vec<String> {
        let (count, [right, refused, _]) = (tally.count(), tally.all);
        let mut lacking = Vec::new();
        let mut expect = |is_met: bool, what: String| lacking.extend((!is_met).then_some(what));
        match self {
            Way::RoundTrip => expect(
                refused <= count.max(150) / 50,
                format!("{refused} refused: expected at most one in fifty"),
            ),
            Way::Computations if count >= SOME => {
                let stay = tally.right_with(linalg_round_trip::NONE_OUT);
                expect(
                    stay * 3 <= right * 2,
                    format!(
                        "{stay} of {right} right stay as they are: expected at most two thirds"
                    ),
                );
            }
            Way::Schedule(machine, check, _) if count >= MANY => {
                let third = count / 3;
                expect(
                    right >= third,
                    format!("{right} right: expected at least {third}"),
                );
                if machine == Machine::Cpu && check != CheckHow::Exact {
                    lacking.extend(tally.lacking());
                }
            }
            _ => {}
        }
        lacking
    }

    /// Returns whether a refusal is right, by what it says.
    fn expects(self, failure: &Failure) -> bool {
        let text = &failure.text;
        let is_right = match self {
            // Two orders of a sum, which linalg does not choose between, take different branches.
            Way::Linalg(_) if text.contains("of which the definition leaves open what it is") => {
                true
            }
            // No argument reaches them, so that the compiler may do them in floats.
            Way::Run(way) | Way::Interpret(way, _) if way.check == CheckHow::Exact => {
                is_of_constants(text)
            }
            Way::Computations => is_of_constants(text),
            // Sums of logarithms associate in the reals only.
            Way::Linalg(CheckHow::Exact) => text.contains("whose laws do not hold in integers"),
            Way::Script => scripts::is_refusal(text),
            Way::Tune => tune::is_refusal(text),
            // Sizes behind casts of what stays linalg cannot always be followed, which is said in an error.
            Way::RoundTrip => true,
            Way::Mutant => true,
            _ => false,
        };
        is_right && failure.signature.starts_with("refused")
    }
}

/// Returns whether a program is refused in integers for computing what no argument reaches.
fn is_of_constants(text: &str) -> bool {
    text.contains("computes with constants alone") || text.contains("computed of constants alone")
}
