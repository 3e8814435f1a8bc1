//! Computations inside the loops of another one (`compute_at`), and the conditions for that.

use mdh_algebra::computation::{Buffer, Computation, Dimension};
use mdh_dialect::ir::{self, Errors, Op};
use mdh_dialect::parts::Parts;
use mdh_dialect::{ops, read, schedule};
use mdh_schedule::reach::{self, Need, Reach};
use mdh_schedule::{ComputeAt, check_compute_at};
use melior::ir::operation::OperationLike;

use super::nest::{Clip, Home, Producer};
use super::readers::{Reader, links, needs};
use super::{cyclic, memory};
use crate::support::scheduled::{Loop, Scheduled};

/// Returns the parts of a schedule that are not lowered: in its own loop nests, or because there is
/// no code for them.
pub fn refusals(of: &Scheduled) -> Errors {
    if of.resolved.is_apart(&of.computation) {
        return vec![
            "has a schedule whose phases are separate loop nests: run mdh-split-phases first"
                .into(),
        ];
    }
    of.refusals()
}

/// Mistakes of a computation that is to be computed at another one.
pub type Refusal<'c> = (Op<'c>, Errors);

/// The computations of a module, read once, and the chains of them.
pub struct Chains<'c> {
    computations: Vec<(Op<'c>, Found<'c>)>,
    /// Those that are computed at another one, with that one, in the order of the program.
    pairs: Vec<(Op<'c>, Op<'c>)>,
}

/// A computation as it was read.
enum Found<'c> {
    Scheduled(Box<Scheduled<'c>>),
    Unscheduled(Box<Parts<'c>>),
}

impl<'c> Found<'c> {
    fn read(op: Op<'c>) -> Result<Self, Errors> {
        Ok(match Scheduled::read(op)? {
            Some(scheduled) => Found::Scheduled(Box::new(scheduled)),
            None => Found::Unscheduled(Box::new(read::compute(op)?)),
        })
    }
}

impl<'c> Chains<'c> {
    /// The chains of these computations.
    pub fn new(computations: &[Op<'c>]) -> Result<Self, Refusal<'c>> {
        let readings = computations.iter().map(|op| {
            let read = Found::read(*op).map_err(|errors| (*op, errors))?;
            Ok((*op, read))
        });
        let mut chains = Chains {
            computations: readings.collect::<Result<_, Refusal>>()?,
            pairs: Vec::new(),
        };
        for op in computations {
            let scheduled = chains.scheduled(*op);
            if let Some(at) = scheduled.and_then(|scheduled| scheduled.schedule.compute_at.as_ref())
            {
                let consumer = consumer(*op, &at.consumer);
                let consumer = consumer.map_err(|why| (*op, vec![refusal(at, &why)]))?;
                chains.pairs.push((*op, consumer));
            }
        }
        Ok(chains)
    }

    fn found(&self, op: Op<'c>) -> Option<&Found<'c>> {
        let entry = self.computations.iter().find(|(own, _)| *own == op);
        entry.map(|(_, entry)| entry)
    }

    /// Returns a computation with its schedule; `None` if it has none.
    pub fn scheduled(&self, op: Op<'c>) -> Option<&Scheduled<'c>> {
        match self.found(op)? {
            Found::Scheduled(scheduled) => Some(scheduled),
            Found::Unscheduled(_) => None,
        }
    }

    /// Returns the parts of a computation; `None` if it is none of these.
    pub fn parts(&self, op: Op<'c>) -> Option<&Parts<'c>> {
        Some(match self.found(op)? {
            Found::Scheduled(scheduled) => &scheduled.parts,
            Found::Unscheduled(parts) => parts,
        })
    }

    /// Returns whether a computation is computed at another one.
    pub fn is_producer(&self, op: Op<'c>) -> bool {
        self.pairs.iter().any(|(producer, _)| *producer == op)
    }

    /// Returns the computations that are computed at another one, in the order of the program.
    fn producers(&self, of: Op<'c>) -> Vec<Op<'c>> {
        let consumers = self.pairs.iter().filter(|(_, consumer)| *consumer == of);
        consumers.map(|(producer, _)| *producer).collect()
    }

    /// All computations at a computation, or at one of these, in the order of the program.
    pub fn group(&self, of: Op<'c>) -> Vec<Op<'c>> {
        let mut group = vec![of];
        // A consumer stands behind what it reads.
        for (producer, consumer) in self.pairs.iter().rev() {
            if group.contains(consumer) {
                group.push(*producer);
            }
        }
        group.reverse();
        group.pop();
        group
    }
}

/// A refusal, and where the schedule says it.
pub fn refusal(at: &ComputeAt, why: &str) -> String {
    format!(
        "has a schedule that computes it at '{}' of '{}' (compute-at): {why}",
        at.level, at.consumer
    )
}

/// The next computation in the same block whose first output has that name.
fn consumer<'c>(producer: Op<'c>, name: &str) -> Result<Op<'c>, String> {
    let mut names = Vec::new();
    let mut next = producer.next_in_block().map(|op| ir::op(&op));
    while let Some(op) = next {
        if ir::name_of(op) == ops::mdh::COMPUTE {
            let label = schedule::name(op);
            if label == name {
                return Ok(op);
            }
            names.push(format!("'{label}'"));
        }
        next = op.next_in_block().map(|op| ir::op(&op));
    }
    let known = match names.is_empty() {
        true => "there is none".to_string(),
        false => names.join(", "),
    };
    Err(format!(
        "found no computation '{name}' behind it, in its \
         block: {known}"
    ))
}

/// A consumer and its loops.
pub struct Consumer<'c, 'p> {
    /// The computation.
    pub of: &'p Scheduled<'c>,
    /// Its loops.
    pub loops: &'p [Loop],
    /// Position of its leaf.
    pub leaf: usize,
    /// The loop over cores around all of these, with its computation, if it is in one.
    pub core: Option<(&'p Scheduled<'c>, Loop)>,
}

impl<'c> Consumer<'c, '_> {
    /// Returns the computations inside its loops, in the order of the program; `root` is the
    /// computation that all of these end up in.
    pub fn producers(
        &self,
        chains: &Chains<'c>,
        root: Op<'c>,
    ) -> Result<Vec<Producer<'c>>, Refusal<'c>> {
        let mut producers: Vec<Producer<'c>> = Vec::new();
        for op in chains.producers(self.of.op).into_iter().rev() {
            let producer = self.producer(op, &producers, chains, root);
            producers.insert(
                0,
                producer.map_err(|(at, errors)| (at.unwrap_or(op), errors))?,
            );
        }
        Ok(producers)
    }

    fn producer(
        &self,
        op: Op<'c>,
        siblings: &[Producer<'c>],
        chains: &Chains<'c>,
        root: Op<'c>,
    ) -> Result<Producer<'c>, (Option<Op<'c>>, Errors)> {
        let in_consumer = |errors: Errors| (None, errors);
        let Some(whole) = chains.scheduled(op).cloned() else {
            panic!("what is computed at another has a schedule");
        };
        let Some(wanted) = whole.schedule.compute_at.clone() else {
            panic!("a producer is computed at a level");
        };
        let refuse = |why: String| (None, vec![refusal(&wanted, &why)]);
        self.expect_nested_parts().map_err(refuse)?;
        let at = self.level(&wanted, &whole).map_err(refuse)?;
        let readers = self.readers(&whole, siblings, at, chains);
        let readers = readers.map_err(refuse)?;
        let needs = needs(&whole, &readers, self.of.parts.dims.len()).map_err(refuse)?;
        self.repeats(&whole, &needs, at).map_err(refuse)?;
        memory::may_move(&whole, root, chains).map_err(refuse)?;
        let homes = self.homes(&whole, &needs, &readers, root).map_err(refuse)?;
        let clips = self.clips(&whole, &needs, root);
        let most = self.most(&whole, &needs, at);
        let computation = whole.computation.clone();
        let tiled = whole.for_tiles(&most).map_err(in_consumer)?;
        let loops = tiled.loops();
        let (leaf, _) = tiled.leaf(&loops);
        let reasons = refusals(&tiled);
        if !reasons.is_empty() {
            return Err(in_consumer(reasons));
        }
        let core = self.core(at);
        cores(core, &tiled, &loops[..leaf]).map_err(refuse)?;
        let deferred = tiled.deferred(&loops, leaf).map_err(in_consumer)?;
        let inner = Consumer {
            of: &tiled,
            loops: &loops,
            leaf,
            core,
        };
        let producers = inner.producers(chains, root);
        let producers = producers.map_err(|(at, errors)| (Some(at), errors))?;
        Ok(Producer {
            loops,
            leaf,
            deferred,
            at,
            needs,
            clips,
            homes,
            producers,
            of: tiled,
            whole: computation,
        })
    }

    /// Refuses cyclic parts.
    fn expect_nested_parts(&self) -> Result<(), String> {
        let mut dims = 0..self.of.parts.dims.len();
        let Some(d) = dims.find(|d| cyclic::is_in(self.loops, *d)) else {
            return Ok(());
        };
        let name = &self.of.resolved.dimensions[d];
        Err(format!(
            "parts of '{name}' are cyclic there: expected outer layers outside"
        ))
    }

    /// Returns the readers of a producer's results: the consumer, then others that are computed in
    /// it.
    fn readers<'r>(
        &'r self,
        producer: &Scheduled<'c>,
        siblings: &'r [Producer<'c>],
        at: usize,
        chains: &Chains<'c>,
    ) -> Result<Vec<Reader<'c, 'r>>, String> {
        for op in chains.group(self.of.op) {
            let is_sibling = siblings.iter().any(|sibling| sibling.of.op == op);
            let parts = chains.parts(op).filter(|_| !is_sibling);
            if parts.is_some_and(|parts| links(producer, parts).next().is_some()) {
                return Err(format!(
                    "'{}' reads it in a loop of what is computed in '{}': expected it in one of '{}' itself",
                    schedule::name(op),
                    schedule::name(self.of.op),
                    schedule::name(self.of.op)
                ));
            }
        }
        let mut readers = vec![Reader {
            of: self.of,
            needs: reach::own(self.of.parts.dims.len()),
        }];
        for sibling in siblings {
            if links(producer, &sibling.of.parts).next().is_some() && sibling.at < at {
                return Err(format!(
                    "'{}' reads it in '{}', outside of '{}': expected it there, or further out",
                    schedule::name(sibling.of.op),
                    self.name(sibling.at),
                    self.name(at)
                ));
            }
            readers.push(Reader {
                of: &sibling.of,
                needs: sibling.needs.clone(),
            });
        }
        Ok(readers)
    }

    /// Returns the memory of each output: what others need is written once.
    fn homes(
        &self,
        producer: &Scheduled<'c>,
        needs: &[Need],
        readers: &[Reader<'c, '_>],
        root: Op<'c>,
    ) -> Result<Vec<Home>, String> {
        let readers: Vec<&Scheduled> = readers.iter().map(|r| r.of).collect();
        let home = |output| match memory::is_free(producer, output, &readers) {
            true => Home::Tile,
            false => Home::Whole,
        };
        let homes: Vec<Home> = (0..producer.parts.outputs.len()).map(home).collect();
        for (output, home) in producer.computation.outputs.iter().zip(&homes) {
            if *home == Home::Tile && !is_box(output, &producer.computation) {
                return Err(format!(
                    "expected accesses to '{}' that differ by constants only, linear in dimensions \
                     whose points lie at equal distances",
                    output.name
                ));
            }
        }
        let is_partition = self.of.op == root
            && reach::is_partition(&producer.computation, needs, &self.of.computation);
        match homes.contains(&Home::Whole) && !is_partition {
            false => Ok(homes),
            true => Err(
                "its result is read by others too, or is one of the function: expected tiles that \
                 need each point of it once"
                    .into(),
            ),
        }
    }

    fn name(&self, at: usize) -> String {
        self.of.resolved.name(self.loops[at].level).to_string()
    }

    /// The position of the loop that a producer is computed in.
    fn level(&self, at: &ComputeAt, producer: &Scheduled) -> Result<usize, String> {
        let resolved = &self.of.resolved;
        check_compute_at(at, &[(&at.consumer, resolved)]).map_err(|f| f.message)?;
        if resolved.is_apart(&self.of.computation) {
            return Err(format!(
                "the phases of '{}' are separate loop nests: expected one order",
                at.consumer
            ));
        }
        if !producer.parts.carries.is_empty() {
            return Err("it has a carry: expected none".into());
        }
        let position = self
            .loops
            .iter()
            .position(|l| resolved.name(l.level) == at.level);
        let Some(position) = position else {
            return Err(format!(
                "'{}' of '{}' is no loop, since it has 1 part: expected one of {}",
                at.level,
                at.consumer,
                self.levels()
            ));
        };
        if position >= self.leaf {
            return Err(format!(
                "'{}' of '{}' stays in registers: expected one of {}",
                at.level,
                at.consumer,
                self.levels()
            ));
        }
        // What is computed between cores that are opened together, all tiles inside would write at once.
        let is_between = self.of.subject().is_between_tiles(self.loops, position + 1);
        if is_between && self.loops[position].is_parallel {
            return Err(format!(
                "'{}' of '{}' is one of the levels of 'tile_order', whose tiles do not follow each other there: \
                 expected the innermost one of them",
                at.level, at.consumer
            ));
        }
        self.staging(producer, position)?;
        Ok(position)
    }

    fn levels(&self) -> String {
        let names: Vec<String> = (0..self.leaf)
            .map(|at| format!("'{}'", self.name(at)))
            .collect();
        match names.is_empty() {
            true => "no level: all loops stay in registers".into(),
            false => names.join(", "),
        }
    }

    /// Checks that data which a consumer stages is there already.
    fn staging(&self, producer: &Scheduled, at: usize) -> Result<(), String> {
        for (n, input) in self.of.parts.inputs.iter().enumerate() {
            let written = &producer.parts.outputs;
            if !written.iter().any(|output| output.value == input.value) {
                continue;
            }
            let plan = &self.of.resolved.inputs[n];
            let stages = plan.stages.unwrap_or(1);
            let mut copies = self.of.resolved.copies(plan).into_iter();
            // The tile of a later iteration would be copied, in the prologue, before it is computed.
            if let Some(copy) = copies.find(|copy| stages > 1 && copy.position == at + 1) {
                return Err(format!(
                    "'{}' is staged at '{}' in {stages} stages, but what it reads there is computed in \
                     the same iteration: expected 1 stage",
                    input.name,
                    self.of.resolved.name(copy.level)
                ));
            }
            let is_staged = |l: &&Loop| {
                let (layer, d) = (l.level.layer, l.level.dimension);
                plan.region[layer][d] != 0 || !plan.layout[layer][d].steps.is_empty()
            };
            if let Some(staged) = self.loops[..=at].iter().find(is_staged) {
                return Err(format!(
                    "'{}' is staged from '{}' on, before it is computed in '{}': expected that \
                     inside of it",
                    input.name,
                    self.of.resolved.name(staged.level),
                    self.name(at)
                ));
            }
        }
        Ok(())
    }

    /// Refuses loops that would compute the same repeatedly.
    fn repeats(&self, producer: &Scheduled, needs: &[Need], at: usize) -> Result<(), String> {
        let outside = &self.loops[..=at];
        let repeated = outside
            .iter()
            .find(|l| !reach::moves(needs, l.level.dimension));
        match repeated {
            None => Ok(()),
            Some(repeated) => {
                let name = self.of.resolved.name(repeated.level);
                let parts = repeated.count.known();
                let parts = parts.map_or("each".to_string(), |n| format!("each of the {n}"));
                let dimensions = &producer.computation.dimensions;
                let scan = dimensions.iter().find(|d| d.combine.is_ps());
                let prefix_sums = scan.map_or(String::new(), |scan| {
                    format!(" (they need all of its prefix-sum along '{}')", scan.name)
                });
                Err(format!(
                    "it would be recomputed in {parts} parts of '{name}', on which what they \
                     need of it does not depend{prefix_sums}: expected a level outside of '{name}'"
                ))
            }
        }
    }

    /// The loop over cores around what is computed in a loop, with its computation.
    fn core(&self, at: usize) -> Option<(&Scheduled<'c>, Loop)> {
        let parallel = self.loops[..=at].iter().find(|l| l.is_parallel);
        self.core.or(parallel.map(|parallel| (self.of, *parallel)))
    }

    fn clips(&self, producer: &Scheduled, needs: &[Need], root: Op<'c>) -> Vec<Clip> {
        let is_nested = self.of.op != root;
        let dims = &self.of.computation.dimensions;
        let domain: Vec<_> = dims
            .iter()
            .map(|d| d.grid().filter(|_| !is_nested))
            .collect();
        let clip = |(d, need): (usize, &Need)| {
            let dimension = &producer.computation.dimensions[d];
            let is_inside = match need {
                Need::Whole => true,
                Need::Part(reach) => {
                    match (reach.ends(&domain), dimension.lower, dimension.upper) {
                        (Some((first, last)), Some(lower), Some(upper)) => {
                            first >= lower && last < upper
                        }
                        _ => self.is_same(producer, d, reach),
                    }
                }
            };
            if is_inside {
                Clip::Inside
            } else {
                Clip::AtEnds
            }
        };
        needs.iter().enumerate().map(clip).collect()
    }

    /// Returns whether a dimension is one of the consumer's: from the same bounds, known or not.
    fn is_same(&self, producer: &Scheduled, d: usize, reach: &reach::Reach) -> bool {
        let plain = reach.coefficients.iter().all(|c| *c >= 0) && reach.low == 0;
        let Some(of) = reach.follows().filter(|_| plain) else {
            return false;
        };
        let (own, other) = (&producer.parts.dims[d], &self.of.parts.dims[of]);
        own.lower == other.lower && own.upper == other.upper
    }

    /// The most points of each dimension of which a tile needs a part.
    fn most(&self, producer: &Scheduled, needs: &[Need], at: usize) -> Vec<Option<Option<i64>>> {
        let points: Option<Vec<i64>> = self.of.points_inside(self.loops, at).into_iter().collect();
        let dimensions = self.of.computation.dimensions.iter();
        let strides: Option<Vec<i64>> = dimensions.map(Dimension::stride).collect();
        let extents = needs.iter().enumerate().map(|(d, need)| match need {
            Need::Whole => None,
            Need::Part(reach) => Some(points.as_ref().zip(strides.as_ref()).map(|(p, s)| {
                let points = producer.computation.dimensions[d].count();
                let most = reach.extent(p, s);
                points.map_or(most, |points| points.min(most))
            })),
        });
        extents.collect()
    }
}

/// Cores inside of a core.
fn cores(
    core: Option<(&Scheduled, Loop)>,
    producer: &Scheduled,
    loops: &[Loop],
) -> Result<(), String> {
    let inner = loops.iter().find(|l| l.is_parallel);
    let (Some((of, outer)), Some(inner)) = (core, inner) else {
        return Ok(());
    };
    let count = |l: &Loop| l.count.known().map_or("?".to_string(), |n| n.to_string());
    Err(format!(
        "'{}' has {} parts that are computed at the same time, inside of the {} of '{}': \
         expected 1",
        producer.resolved.name(inner.level),
        count(inner),
        count(&outer),
        of.resolved.name(outer.level)
    ))
}

/// Returns whether the accesses to a buffer move in step, so that a tile of it is a box.
fn is_box(buffer: &Buffer, of: &Computation) -> bool {
    let rank = of.dimensions.len();
    (0..buffer.shape.len()).all(|axis| {
        let is_even = |d: usize| of.dimensions[d].stride().is_some();
        let reach = Reach::along(buffer, axis, rank);
        reach.is_some_and(|reach| reach.terms().all(|(d, _)| is_even(d)))
    })
}

/// Returns the computations at another one, as the schedules of these say; a refusal otherwise.
pub fn producers_of<'c>(
    root: Op<'c>,
    computations: &[Op<'c>],
) -> Result<(Scheduled<'c>, Vec<Loop>, Vec<Producer<'c>>), Refusal<'c>> {
    at_root(root, &Chains::new(computations)?)
}

/// Returns everything against computing these computations where their schedules say.
pub fn objections<'c>(computations: &[Op<'c>]) -> Errors {
    let check = |chains: Chains<'c>| {
        let is_root = |op: &&Op| !chains.is_producer(**op) && !chains.group(**op).is_empty();
        let mut roots = computations.iter().filter(is_root);
        roots.try_for_each(|root| at_root(*root, &chains).map(|_| ()))
    };
    let checked = Chains::new(computations).and_then(check);
    checked.err().map_or(Errors::new(), |(_, errors)| errors)
}

fn at_root<'c>(
    root: Op<'c>,
    chains: &Chains<'c>,
) -> Result<(Scheduled<'c>, Vec<Loop>, Vec<Producer<'c>>), Refusal<'c>> {
    let schedule = chains.scheduled(root).cloned();
    let schedule = schedule.ok_or_else(|| (root, vec!["has no schedule".into()]))?;
    let reasons = refusals(&schedule);
    if !reasons.is_empty() {
        return Err((root, reasons));
    }
    let loops = schedule.loops();
    let (leaf, _) = schedule.leaf(&loops);
    let consumer = Consumer {
        of: &schedule,
        loops: &loops,
        leaf,
        core: None,
    };
    let producers = consumer.producers(chains, root)?;
    Ok((schedule, loops, producers))
}
