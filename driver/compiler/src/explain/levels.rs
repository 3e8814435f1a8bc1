//! Contents of each memory under a schedule, the traffic between them, and how long that takes.
//!
//! To compare computing with moving, each memory has the rate that the model counts with
//! ([`mdh_schedule::rates`]); `mdh bench` measures.

use serde::Serialize;

use mdh_algebra::amounts::{bytes, count};
use mdh_algebra::computation::{Access, Buffer, Computation, Place};
use mdh_schedule::asm::{Asm, LANES, Memory};
use mdh_schedule::rates::{OPERATIONS, RATES, Rate, SharingScope};
use mdh_schedule::{Level, MIN_GRAIN, Resolved, Span, Tiles, footprint};

use super::cost::{Cost, CostPart, Limits, Unit};
use super::inside::Inside;

/// The layer of the cores of a processor.
const CORES: &str = "core";

/// Use of a memory under a schedule.
#[derive(Clone, Debug, Serialize)]
pub struct MemoryUse {
    /// Its name.
    pub memory: String,
    /// The memory around it, from which all comes.
    pub around: String,
    /// The innermost loop that a tile of it stands in: `L3.j`; none if it has everything at once.
    pub behind: Option<String>,
    /// Its bytes, where they are known.
    pub capacity: Option<u64>,
    /// The buffers' parts of a tile.
    pub tiles: Vec<TileUse>,
    /// Bytes of a tile.
    pub bytes: f64,
    /// Bytes that come from the memory around it, for all tiles of all cores.
    pub moved: f64,
    /// Bytes that would come if each came once.
    pub once: f64,
}

/// A buffer's part of a tile.
#[derive(Clone, Debug, Serialize)]
pub struct TileUse {
    /// The buffer.
    pub buffer: String,
    /// Its extents.
    pub shape: Vec<i64>,
    /// Its bytes.
    pub bytes: f64,
    /// Bytes that come from the memory around, for all tiles of all cores.
    pub moved: f64,
    /// Bytes that would come if each came once.
    pub once: f64,
}

/// Schedule of a computation, with the others of its chain.
pub struct Subject<'a> {
    /// The computation.
    pub computation: &'a Computation,
    /// The others.
    pub inside: &'a Inside,
    /// Its schedule on a machine.
    pub resolved: &'a Resolved,
    /// Its sizes.
    pub tiles: &'a Tiles,
}

impl Subject<'_> {
    /// Returns the use of each memory but the outermost, from the outside in; `None` where a size is not known.
    pub fn uses(&self) -> Option<Vec<MemoryUse>> {
        let memories = self.asm().layers.iter().filter_map(|layer| layer.memory());
        let memories: Vec<&Memory> = memories.collect();
        let pairs = memories.windows(2);
        pairs
            .map(|pair| self.of_memory(pair[1], &pair[0].name))
            .collect()
    }

    fn asm(&self) -> &Asm {
        &self.resolved.asm
    }

    /// Returns the contents of a memory: the points that the loops inside of the last one of the layers around it
    /// span.
    fn of_memory(&self, memory: &Memory, around: &str) -> Option<MemoryUse> {
        let layer = self.asm().position(&memory.name)?;
        let phase = &self.resolved.scalar;
        let is_outside = |level: &Level| phase.assign[level.layer][level.dimension].layer < layer;
        let loops = phase.order.iter().copied();
        let loops: Vec<Level> = loops.filter(|level| self.tiles.count(*level) > 1).collect();
        let last = loops.iter().rposition(is_outside);
        let (fixed, free) = loops.split_at(last.map_or(0, |last| last + 1));
        let spans = self.tiles.spans(free.iter().copied());
        // What is made in a tile is never more than a tile, and comes from nowhere else.
        let is_outside_tile = self.inside.is_outside(&memory.name, self.asm());
        let is_made =
            |place: Place| matches!(place, Place::Input(n) if self.inside.made.contains(&n));
        let mut tiles = Vec::new();
        for place in self.computation.places() {
            let (Some(buffer), Place::Input(_) | Place::Output(_)) =
                (self.computation.buffer(place), place)
            else {
                continue;
            };
            if is_outside_tile && is_made(place) {
                continue;
            }
            let (shape, size) = self.part(buffer, &spans)?;
            let (_, once) = self.part(buffer, &all_spans(self.tiles))?;
            tiles.push((buffer, shape, size, once));
        }
        let tile: f64 = tiles.iter().map(|tile| tile.2).sum();
        let fits = memory.capacity.is_none_or(|bytes| tile <= bytes as f64);
        let tiles = tiles.into_iter().map(|(buffer, shape, size, once)| {
            // What stays from one tile to the next is moved once, if a tile fits at all.
            let times = match fits {
                true => self.loads(buffer, fixed),
                false => self.every(fixed),
            };
            TileUse {
                buffer: buffer.name.clone(),
                shape,
                bytes: size,
                moved: (size * times).max(once),
                once,
            }
        });
        let tiles: Vec<TileUse> = tiles.collect();
        Some(MemoryUse {
            memory: memory.name.clone(),
            around: around.to_string(),
            behind: fixed.last().map(|level| self.name(*level)),
            capacity: memory.capacity,
            bytes: tile,
            moved: tiles.iter().map(|tile| tile.moved).sum(),
            once: tiles.iter().map(|tile| tile.once).sum(),
            tiles,
        })
    }

    fn name(&self, level: Level) -> String {
        let layer = &self.resolved.layers[level.layer];
        format!("{layer}.{}", self.resolved.dimensions[level.dimension])
    }

    /// The extents and bytes of a buffer's part that points span.
    fn part(&self, buffer: &Buffer, spans: &[Span]) -> Option<(Vec<i64>, f64)> {
        let shape = footprint(self.computation, buffer, spans)?.shape();
        let elements: f64 = shape.iter().map(|n| *n as f64).product();
        Some((shape, elements * buffer.element.byte_width() as f64))
    }

    /// Returns the number of tiles.
    fn every(&self, fixed: &[Level]) -> f64 {
        let counts = fixed.iter().map(|level| self.tiles.count(*level) as f64);
        counts.product()
    }

    /// Returns the number of times that a buffer's part of a tile changes: the innermost loops along which it does
    /// not move leave it where it is.
    fn loads(&self, buffer: &Buffer, fixed: &[Level]) -> f64 {
        let moves = |level: &Level| {
            let used = |access: &Access| access.map.iter().any(|expr| expr.uses(level.dimension));
            level.dimension < self.computation.dimensions.len() && buffer.accesses.iter().any(used)
        };
        let last = fixed.iter().rposition(moves);
        self.every(&fixed[..last.map_or(0, |last| last + 1)])
    }

    /// The parts that are assigned to a layer of the machine.
    fn parts_on(&self, layer: &str) -> f64 {
        let phase = &self.resolved.scalar;
        let position = self.asm().position(layer);
        let is_on =
            |level: &&Level| Some(phase.assign[level.layer][level.dimension].layer) == position;
        self.every(
            &phase
                .order
                .iter()
                .filter(is_on)
                .copied()
                .collect::<Vec<_>>(),
        )
    }

    /// Cycles of computing and of moving; none for a machine whose rates are not known.
    pub fn cost(&self, uses: &[MemoryUse]) -> Option<Cost> {
        if self.asm().has_kernels() || self.asm().layer(CORES).is_none() {
            return None;
        }
        let cores = Cores::new(self);
        let lanes = lanes(self.computation, self.asm());
        let used = self.parts_on(LANES).clamp(1.0, lanes);
        // A multiplication and an addition are two.
        let flops = self.computation.flops() + self.inside.flops;
        let per_lane = 2.0 * OPERATIONS;
        let mut changes: Vec<String> = cores.change().into_iter().collect();
        if used < lanes {
            changes.push(format!("vectors of {lanes:.0} elements, not of {used:.0}"));
        }
        let mut parts = vec![part(
            "computing".to_string(),
            flops / (per_lane * used * cores.used),
            flops / (per_lane * lanes * cores.worth),
            changes,
        )];
        for memory in uses {
            let Some(rate) = rate(&memory.around) else {
                continue;
            };
            let more = match self.inside.is_outside(&memory.memory, self.asm()) {
                true => self.inside.moved,
                false => 0.0,
            };
            let time = |bytes: f64, cores: f64| bytes / (rate.of_a_core(cores) * cores);
            let changes = memory.change().into_iter();
            let shared = cores
                .change()
                .filter(|_| rate.whose == SharingScope::EachCore);
            parts.push(part(
                format!("moving from {}", memory.around),
                time(memory.moved + more, cores.used),
                time(memory.once + more, cores.worth),
                changes.chain(shared).collect(),
            ));
        }
        let limits = Limits {
            operations: per_lane * lanes * cores.there,
            memories: memories(self.asm(), cores.there),
        };
        Some(Cost::new(Unit::Cycles, (0.0, ""), parts, limits))
    }
}

/// A part of a cost, whose best is never worse than what there is.
fn part(what: String, time: f64, least: f64, changes: Vec<String>) -> CostPart {
    let least = least.min(time);
    CostPart {
        what,
        time,
        least,
        change: (!changes.is_empty() && least < time).then(|| changes.join(" and ")),
    }
}

/// Cores of the machine, those that the schedule uses, and those that the points are worth.
struct Cores {
    there: f64,
    used: f64,
    worth: f64,
}

impl Cores {
    fn new(subject: &Subject) -> Cores {
        let there = cores(subject.asm());
        let parts = subject.parts_on(CORES);
        let points: f64 = subject.tiles.points.iter().map(|n| *n as f64).product();
        let is_worth = points + subject.inside.points >= MIN_GRAIN as f64;
        Cores {
            there,
            // Parts wait for their turn, and the last turn takes as long as the others.
            used: parts / (parts / there).ceil().max(1.0),
            worth: if is_worth { there } else { 1.0 },
        }
    }

    fn change(&self) -> Option<String> {
        let (worth, used) = (self.worth, self.used);
        (used < worth).then(|| format!("all {worth:.0} cores, of which {} has work", count(used)))
    }
}

impl MemoryUse {
    /// The change that makes the least come from the memory around: of the buffer that comes most often.
    fn change(&self) -> Option<String> {
        let again = |tile: &&TileUse| tile.moved > 1.01 * tile.once;
        let more = |tile: &&TileUse| tile.moved - tile.once;
        let tiles = self.tiles.iter().filter(again);
        let most = tiles.max_by(|a, b| more(a).total_cmp(&more(b)))?;
        let times = match most.moved / most.once.max(1.0) {
            times if times >= 10.0 => format!("{times:.0}"),
            times => format!("{times:.1}"),
        };
        let (name, memory) = (&most.buffer, &self.memory);
        Some(match self.capacity.filter(|own| self.bytes > *own as f64) {
            Some(capacity) => format!(
                "tiles that fit {memory}, of which they take {:.0} %: '{name}' comes {times} times",
                100.0 * self.bytes / capacity as f64
            ),
            None => format!(
                "tiles of {memory} that keep '{name}', which comes {times} times from {}",
                self.around
            ),
        })
    }

    /// The part of it that a tile takes.
    fn share(&self) -> String {
        let Some(capacity) = self.capacity else {
            return "of a size that is not known".to_string();
        };
        let share = self.bytes / capacity as f64 * 100.0;
        let verdict = match share > 100.0 {
            true => ", not all of it at once",
            false => "",
        };
        format!("{share:.0} % of {}{verdict}", bytes(capacity as f64))
    }

    /// Its name, and the part of it that a tile takes.
    pub fn heading(&self) -> String {
        format!("{}, {}", self.memory, self.share())
    }

    /// The line about it.
    pub fn text(&self) -> String {
        let parts: Vec<String> = self.tiles.iter().map(TileUse::text).collect();
        format!(
            "    {:<8}  {} = {}, {}; {} moved\n",
            self.memory,
            parts.join(" + "),
            bytes(self.bytes),
            self.share(),
            bytes(self.moved)
        )
    }
}

impl TileUse {
    /// `A 8x1024 (32.0 KiB)`.
    pub fn text(&self) -> String {
        let extents: Vec<String> = self.shape.iter().map(i64::to_string).collect();
        let extents = match extents.is_empty() {
            true => "1".to_string(),
            false => extents.join("x"),
        };
        format!("{} {extents} ({})", self.buffer, bytes(self.bytes))
    }
}

/// The spans of all points.
fn all_spans(tiles: &Tiles) -> Vec<Span> {
    let span = |points: &i64| Span {
        reach: (points - 1).max(0),
        step: 1,
    };
    tiles.points.iter().map(span).collect()
}

/// The number of a machine's cores, 1 if it has none.
pub fn cores(asm: &Asm) -> f64 {
    let core = asm.layer(CORES).and_then(|layer| layer.core());
    core.and_then(|core| core.count).unwrap_or(1) as f64
}

/// The elements of the computation that a vector of the machine has.
fn lanes(computation: &Computation, asm: &Asm) -> f64 {
    let width = asm.vector().unwrap_or(8) as f64;
    let elements = computation.components.iter().map(|ty| ty.byte_width());
    let element = elements.max().unwrap_or(8) as f64;
    (width / element).max(1.0)
}

fn rate(memory: &str) -> Option<&'static Rate> {
    RATES.iter().find(|rate| rate.memory == memory)
}

/// The bytes that come from each memory in a cycle if so many cores ask for them, innermost first.
pub fn memories(asm: &Asm, cores: f64) -> Vec<(String, f64)> {
    let names = asm.memory_names().into_iter().rev();
    let rates = names.filter_map(rate);
    let bytes = rates.map(|rate| (rate.memory.to_string(), rate.of_a_core(cores) * cores));
    bytes.collect()
}

/// The rates that cycles go by, in words.
pub fn rates(computation: &Computation, asm: &Asm) -> String {
    let multiplied = OPERATIONS * lanes(computation, asm);
    let rates: Vec<String> = (RATES.iter())
        .map(|rate| {
            let whose = match rate.whose {
                SharingScope::All => " for all cores",
                SharingScope::EachCore => "",
            };
            format!("{:.0} bytes from {}{whose}", rate.bytes, rate.memory)
        })
        .collect();
    format!(
        "at usual rates in a cycle: {multiplied:.0} multiply-adds a core, {}",
        rates.join(", ")
    )
}
