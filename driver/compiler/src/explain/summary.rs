//! Summary of a computation under its schedule. It is made once; the table, the details, JSON and the page are printed
//! from it, so that an amount is the same wherever it stands.

use serde::Serialize;

use mdh_algebra::computation::Computation;
use mdh_dialect::location::SourceLocation;
use mdh_dialect::schedule;
use mdh_schedule::asm::Asm;
use mdh_schedule::gpu::Gpu;
use mdh_schedule::{ComputeAt, Resolved, Schedule};
use melior::ir::operation::OperationLike;

use super::computation::{Explained, Given};
use super::cost::Cost;
use super::device::Launch;
use super::inside::Inside;
use super::levels::{self, MemoryUse};
use super::loops::{Loop, loops};
use super::refusal::Refusal;
use super::updates::Updates;
use super::work::Work;

/// All that is explained of a function.
#[derive(Serialize)]
pub struct Explanation {
    /// The function.
    pub function: String,
    /// The machine: the name of its description, or the GPU.
    pub machine: String,
    /// A line about the versions that the program asks for, if it does.
    #[serde(skip)]
    pub version: Option<String>,
    /// The account of the program's statements, if it is in the tensor language.
    #[serde(skip)]
    pub statements: Option<String>,
    /// Its computations, in order.
    pub computations: Vec<Summary>,
}

/// Origin of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// The model has chosen it.
    Model,
    /// The program or a file gives it, or it was tuned.
    Given,
    /// There is none.
    None,
}

/// A computation under its schedule.
#[derive(Serialize)]
pub struct Summary {
    /// Its position in the program; none if the compiler has made it.
    pub position: Option<usize>,
    /// The key by which `--schedule` knows it: its position, or the name of what the compiler has made of several.
    pub key: Option<String>,
    /// Its name: that of its first output.
    pub name: String,
    /// Its place in the program: `FILE:LINE`.
    pub place: Option<String>,
    /// Its points, buffers, operations and bytes.
    #[serde(flatten)]
    pub work: Work,
    /// Its schedule.
    pub schedule: Option<Schedule>,
    /// The origin of that.
    pub origin: Origin,
    /// The same in words.
    pub by: String,
    /// The model's reasons, in its order.
    pub reasons: Vec<String>,
    /// Objections to the schedule.
    pub refusal: Option<Refusal>,
    /// The computation and the level in whose tiles it is computed. Their cost is one, and that of the consumer.
    pub within: Option<ComputeAt>,
    /// The computations in its tiles, whose operations and bytes its cost has.
    pub with: Vec<String>,
    /// Its loops.
    pub loops: Vec<Loop>,
    /// Contents and traffic of memories, where sizes are known.
    pub memories: Option<Vec<MemoryUse>>,
    /// Its time, where sizes and rates are known.
    pub cost: Option<Cost>,
    /// Operations and bytes of all that the cost is of: its own, and those of the computations in its tiles.
    pub costed: Option<(f64, f64)>,
    /// True if it is no longer what the program has at its position: a schedule of it is for another computation.
    #[serde(skip)]
    pub is_rewritten: bool,
    /// The others of its chain.
    #[serde(skip)]
    pub inside: Inside,
    /// Its kernel on a GPU.
    #[serde(skip)]
    pub launch: Option<Launch>,
    /// Its updates, if it is a histogram.
    #[serde(skip)]
    pub updates: Option<Updates>,
    /// The rates that its cost goes by, in words.
    #[serde(skip)]
    pub rates: String,
    /// Name of that which is not known before sizes are: `levels`, the `time` of a GPU, or the `bound` of a histogram.
    #[serde(skip)]
    pub sized: &'static str,
}

impl Summary {
    /// Summarises a computation, one of all that its function has, for a machine.
    pub fn new(one: &Explained, all: &[Explained], given: &Given, asm: &Asm) -> Summary {
        let mut summary = Summary::without_schedule(&schedule::name(one.op), &one.known, asm);
        let name = &summary.name;
        let place = SourceLocation::from_location(one.op.location());
        let is_shared = one.position.is_none() && given.shared.contains(name);
        let key = one.position.map(|position| position.to_string());
        summary.key = key.or_else(|| is_shared.then(|| name.clone()));
        summary.is_rewritten = given.rewritten.contains(name);
        summary.position = one.position;
        summary.place = place.map(|place| format!("{}:{}", place.file, place.line));
        summary.sized = match (&given.gpu, given.is_updated(one.op)) {
            (Some(_), _) => "time",
            (None, true) => "bound",
            (None, false) => "levels",
        };
        summary.choose(one, given, asm);
        match &given.gpu {
            Some(gpu) => summary.launch_on(gpu, &one.known, asm),
            None => summary.run_on(asm, &one.known, one.inside(all)),
        }
        summary
    }

    /// Counts a computation.
    pub(super) fn without_schedule(name: &str, computation: &Computation, asm: &Asm) -> Summary {
        let work = Work::new(computation);
        Summary {
            position: None,
            key: None,
            name: name.to_string(),
            place: None,
            schedule: None,
            origin: Origin::None,
            by: String::new(),
            reasons: Vec::new(),
            refusal: None,
            within: None,
            with: Vec::new(),
            loops: Vec::new(),
            memories: None,
            cost: None,
            costed: work.operations.zip(work.bytes),
            is_rewritten: false,
            inside: Inside::default(),
            launch: None,
            updates: None,
            rates: levels::rates(computation, asm),
            sized: "levels",
            work,
        }
    }

    /// Finds its schedule, and the reasons for it.
    fn choose(&mut self, one: &Explained, given: &Given, asm: &Asm) {
        if let Some(own) = &one.own {
            self.origin = Origin::Given;
            self.by = format!("given {}", given.how(own));
            self.schedule = Some(own.clone());
        } else if given.is_updated(one.op) {
            self.by = "none, a histogram: the model has no choice of loops".to_string();
            self.updates = Updates::new(one.op, &one.known, asm);
            let updates = self.updates.iter();
            self.reasons = updates.flat_map(|own| own.reasons.clone()).collect();
            self.cost = self.updates.as_ref().and_then(|own| own.cost.clone());
        } else if let Some(choice) = &one.choice {
            self.origin = Origin::Model;
            self.by = format!("chosen by the model for '{}'", asm.name);
            self.reasons = choice.reasons.clone();
            self.schedule = Some(choice.schedule.clone());
        } else {
            self.by = format!(
                "none, plain loops: the model has nothing for dimensions without points or whose width is \
                 not known, nor for a machine without the layers of cpu ('{}')",
                asm.name
            );
        }
    }

    /// Finds what follows from its schedule on a GPU.
    fn launch_on(&mut self, gpu: &Gpu, computation: &Computation, asm: &Asm) {
        let Some(schedule) = &self.schedule else {
            return;
        };
        self.loops = loops(schedule, computation, asm);
        self.refusal = Refusal::new(schedule, computation, asm);
        let resolved = Resolved::new(schedule, computation, asm).ok();
        self.launch = resolved.and_then(|resolved| Launch::new(&resolved, computation, gpu));
        self.cost = self.launch.as_ref().map(|launch| launch.cost(computation));
    }

    /// Finds what follows from its schedule on a processor, with the others of its chain.
    pub(super) fn run_on(&mut self, asm: &Asm, computation: &Computation, inside: Inside) {
        let Some(schedule) = &self.schedule else {
            return;
        };
        self.loops = loops(schedule, computation, asm);
        if schedule.compute_at.is_some() {
            self.within = schedule.compute_at.clone();
            return;
        }
        self.refusal = Refusal::new(schedule, computation, asm);
        let resolved = Resolved::new(schedule, computation, asm).ok();
        let tiles = resolved.as_ref().and_then(|resolved| resolved.tiles(&[]));
        self.with = inside.names.clone();
        if let Some((resolved, tiles)) = resolved.zip(tiles) {
            let subject = levels::Subject {
                computation,
                inside: &inside,
                resolved: &resolved,
                tiles: &tiles,
            };
            self.memories = subject.uses();
            let memories = self.memories.as_ref();
            self.cost = memories.and_then(|memories| subject.cost(memories));
            let costed = |(operations, _)| (operations + inside.flops, inside.bytes(computation));
            self.costed = self.costed.map(costed);
        }
        self.inside = inside;
    }
}
