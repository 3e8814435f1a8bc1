//! Questions to the lowering about chains. It reads schedules from operations, which stay on one
//! thread, and whoever asks may be on any.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

use mdh_compiler::compile;
use mdh_compiler::source::Source;
use mdh_dialect::ir::{self, Op};
use mdh_dialect::{context, ops, schedule};
use mdh_passes::pipelines::Target;
use mdh_passes::tile;
use mdh_schedule::asm::Asm;
use mdh_schedule::{ComputeAt, Parts, Schedule};
use melior::Context;
use melior::ir::Module;

/// As much as a main thread has: passes go down into what is nested.
const STACK: usize = 8 << 20;

/// A program whose computations are formed.
#[derive(Clone)]
pub struct FormedText {
    /// Its module.
    pub text: String,
    /// The stage that it has come to.
    pub stage: &'static str,
    /// The machine that it is lowered for.
    pub asm: Asm,
    /// Some computations, by their positions in the module, with schedules of theirs.
    pub computations: Vec<(usize, Schedule)>,
}

/// Everything against schedules, or why nothing can be said of them, which is a bug.
type Objections = Result<Vec<String>, String>;

/// Schedules of the computations, and where everything against them goes.
type Question = (Vec<Schedule>, Sender<Objections>);

/// A thread that has the program on memrefs.
pub struct Lowering {
    questions: Option<Mutex<Sender<Question>>>,
    thread: Option<JoinHandle<()>>,
}

impl Lowering {
    /// Starts it.
    pub fn start(program: FormedText) -> Lowering {
        let (questions, asked) = channel();
        let answer = move || program.answer(&asked);
        Lowering {
            questions: Some(Mutex::new(questions)),
            thread: Builder::new().stack_size(STACK).spawn(answer).ok(),
        }
    }

    /// Everything against computing the computations where these schedules say.
    pub fn objections(&self, schedules: Vec<Schedule>) -> Objections {
        let (reply, told) = channel();
        if let Some(questions) = &self.questions {
            let questions = questions.lock().unwrap_or_else(PoisonError::into_inner);
            // Whoever is gone does not reply.
            let _ = questions.send((schedules, reply));
        }
        let gone = |_| Err("the lowering that chains are asked of has ended".to_string());
        told.recv().unwrap_or_else(gone)
    }
}

impl Drop for Lowering {
    fn drop(&mut self) {
        self.questions = None;
        // A thread that has panicked has nothing to say any more.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// The model's choice for the computations of a program.
#[derive(Default)]
pub struct ChosenSchedules {
    /// Those that it computes in others.
    pub places: Vec<ChosenPlace>,
    /// All schedules, by the names of their computations.
    pub all: Vec<(String, Schedule)>,
}

/// A computation that the model computes in another one, by their names.
pub struct ChosenPlace {
    /// It.
    pub name: String,
    /// The loop.
    pub at: ComputeAt,
    /// The parts of that.
    pub parts: Option<Parts>,
}

/// The places of names among others that are as many in the same order, or fewer; `None` if they are not.
fn places(names: &[&str], others: &[String]) -> Option<Vec<Option<usize>>> {
    let mut left = others.iter().enumerate().peekable();
    let place = |name: &&str| left.next_if(|(_, other)| other == name).map(|(n, _)| n);
    let places = names.iter().map(place).collect();
    left.peek().is_none().then_some(places)
}

/// A module on memrefs, and computations of it.
type Bufferized<'c> = (Module<'c>, Vec<Option<Op<'c>>>);

/// Everything against computations with these schedules.
fn objections(computations: &[Option<Op>], schedules: Vec<Schedule>) -> Vec<String> {
    for (op, mut own) in computations.iter().zip(schedules) {
        // Layouts keep the axes of what has them, which is simplified here: whether they fit is
        // known of each computation, and is nothing of chains.
        own.inputs
            .values_mut()
            .for_each(|input| input.layout.clear());
        op.iter().for_each(|op| schedule::set(*op, Some(&own)));
    }
    let computations: Vec<Op> = computations.iter().flatten().copied().collect();
    tile::schedule::chain_objections(&computations)
}

impl FormedText {
    /// A program that has come to a stage, without its text.
    pub fn without_computations(asm: &Asm, stage: &'static str) -> FormedText {
        FormedText {
            text: String::new(),
            stage,
            asm: asm.clone(),
            computations: Vec::new(),
        }
    }

    fn answer(&self, asked: &Receiver<Question>) {
        let context = context::program_context();
        let program = self.bufferized(&context);
        for (schedules, reply) in asked {
            let answer = program.as_ref().map_err(String::clone);
            let answer = answer.map(|(_, computations)| objections(computations, schedules));
            // Who does not wait any more needs no answer.
            let _ = reply.send(answer);
        }
    }

    /// The program on memrefs, with those of its computations that are searched; of those that are not needed,
    /// nothing. As in what is measured, passes leave them alone, since they have schedules.
    fn bufferized<'c>(&self, context: &'c Context) -> Result<Bufferized<'c>, String> {
        let failed = |what: &str| format!("the lowering that chains are asked of {what}");
        let mut module = self
            .parsed(context)
            .ok_or_else(|| failed("reads no program"))?;
        let formed = computations(&module);
        for (n, written) in &self.computations {
            let op = formed
                .get(*n)
                .ok_or_else(|| failed("finds too few computations"))?;
            schedule::set(*op, Some(written));
        }
        let is_searched = |n: usize| self.computations.iter().any(|(position, _)| *position == n);
        let before: Vec<(String, bool)> = (0..formed.len())
            .filter(|n| schedule::has_schedule(formed[*n]))
            .map(|n| (schedule::name(formed[n]), is_searched(n)))
            .collect();
        let lowered = self.lower(context, &mut module, "bufferized");
        lowered.ok_or_else(|| failed("gives no memrefs"))?;
        let mut after = computations(&module);
        after.retain(|op| schedule::has_schedule(*op));
        let names: Vec<String> = after.iter().map(|op| schedule::name(*op)).collect();
        let expected = before.iter().map(|(name, _)| name.as_str());
        let expected: Vec<&str> = expected.collect();
        let Some(places) = places(&expected, &names) else {
            return Err(failed(&format!(
                "has computations of {}, expected {}",
                names.join(", "),
                expected.join(", ")
            )));
        };
        let searched = places.into_iter().zip(&before);
        let searched = searched.filter(|(_, (_, is_searched))| *is_searched);
        let searched = searched.map(|(place, _)| place.map(|n| after[n]));
        let searched = searched.collect();
        Ok((module, searched))
    }

    /// The schedules that the model chooses, where nobody else has given any.
    pub fn chosen(&self) -> Option<ChosenSchedules> {
        let context = context::program_context();
        let mut module = self.parsed(&context)?;
        self.lower(&context, &mut module, "scheduled")?;
        let operations = computations(&module);
        let read = |op: &Op| schedule::read(*op).ok().flatten();
        let place = |(n, op): (usize, &Op)| {
            let at = read(op)?.compute_at?;
            let mut behind = operations[n + 1..].iter();
            let consumer = behind.find(|op| schedule::name(**op) == at.consumer)?;
            let layers = read(consumer)?.layers;
            let layer = layers.iter().find(|layer| layer.name == at.level.layer)?;
            Some(ChosenPlace {
                name: schedule::name(*op),
                parts: layer.parts.get(&at.level.dimension).copied(),
                at,
            })
        };
        let named = operations
            .iter()
            .filter_map(|op| Some((schedule::name(*op), read(op)?)));
        Some(ChosenSchedules {
            places: operations.iter().enumerate().filter_map(place).collect(),
            all: named.collect(),
        })
    }

    fn parsed<'c>(&self, context: &'c Context) -> Option<Module<'c>> {
        Source::from_text("program", &self.text).parse(context).ok()
    }

    fn lower(&self, context: &Context, module: &mut Module, stage: &str) -> Option<()> {
        let passes = compile::line(Target::Cpu).between(self.stage, stage);
        compile::run_all(&self.asm, context, module, &passes).ok()
    }
}

fn computations<'c>(module: &Module<'c>) -> Vec<Op<'c>> {
    ir::find_all(compile::operation(module), &[ops::mdh::COMPUTE])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computations_are_known_by_order_and_name() {
        let matched = |after: &[&str]| {
            let after: Vec<String> = after.iter().map(|name| name.to_string()).collect();
            places(&["s", "z", "y"], &after)
        };
        assert_eq!(
            matched(&["s", "z", "y"]),
            Some(vec![Some(0), Some(1), Some(2)])
        );
        assert_eq!(matched(&["s", "y"]), Some(vec![Some(0), None, Some(1)]));
        assert_eq!(matched(&["y", "s"]), None);
        assert_eq!(matched(&["s", "z", "y", "y"]), None);
    }
}
