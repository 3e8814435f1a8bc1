//! Loops of a schedule, with the number of their parts, what a part has, and the buffers that are copied before them.

use serde::Serialize;

use mdh_algebra::computation::Computation;
use mdh_schedule::asm::{Asm, LANES, MATRIX};
use mdh_schedule::{Level, LevelName, Parts, Resolved, Schedule};

/// A loop: a layer of the schedule and a dimension.
#[derive(Clone, Debug, Serialize)]
pub struct Loop {
    /// The layer.
    pub layer: String,
    /// The dimension.
    pub dimension: String,
    /// Way through its parts.
    pub kind: LoopKind,
    /// The number of its parts; none where a size is not known, as with the next.
    pub parts: Option<i64>,
    /// Points of a part, in the dimension.
    pub points: Option<i64>,
    /// Copies before it starts, and results that it combines.
    pub buffers: Vec<Staged>,
}

/// Way through the parts of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LoopKind {
    /// One after the other.
    Loop,
    /// One after the other in code, unrolled, in registers.
    Register,
    /// At the same time, by cores, blocks or threads.
    Parallel,
    /// At the same time, by the lanes of a vector or an instruction for matrices.
    Lanes,
}

/// A buffer that a loop has in another memory than the loops around it.
#[derive(Clone, Debug, Serialize)]
pub struct Staged {
    /// The buffer.
    pub buffer: String,
    /// `staged` or `combined`.
    pub how: &'static str,
    /// The memory.
    pub memory: String,
    /// Its layout there, if it has one of its own.
    pub layout: Option<String>,
    /// Buffers for its tiles, if several are there: copies to them are asynchronous.
    pub stages: Option<i64>,
}

impl Staged {
    /// `B: staged in L3, blocked(512, 64)`.
    pub fn text(&self) -> String {
        let layout = self.layout.iter().map(|layout| format!(", {layout}"));
        let layout: String = layout.collect();
        let stages = self.stages.iter().map(|n| format!(", {n} buffers"));
        let stages: String = stages.collect();
        format!(
            "{}: {} in {}{layout}{stages}",
            self.buffer, self.how, self.memory
        )
    }
}

impl Loop {
    /// `L1.j`.
    pub fn name(&self) -> String {
        format!("{}.{}", self.layer, self.dimension)
    }

    /// The number of parts and what a part has: `8 parts of 64, at the same time`; `?` for what is not known.
    pub fn text(&self) -> String {
        let number = |n: Option<i64>| n.map_or("?".to_string(), |n| n.to_string());
        if self.kind == LoopKind::Lanes && self.points == Some(1) {
            return format!("{} lanes", number(self.parts));
        }
        let parts = match self.parts {
            Some(1) => "1 part".to_string(),
            parts => format!("{} parts", number(parts)),
        };
        let manner = match self.kind {
            LoopKind::Parallel => ", at the same time",
            LoopKind::Register => ", in registers",
            LoopKind::Loop | LoopKind::Lanes => "",
        };
        format!("{parts} of {}{manner}", number(self.points))
    }
}

/// The loops of a schedule, outermost first: those of more than one part, and those before which something is copied;
/// none of a schedule that the machine cannot read. Of a computation in the tiles of another one (`compute_at`), sizes
/// are those of a tile, which are not known.
pub fn loops(schedule: &Schedule, computation: &Computation, asm: &Asm) -> Vec<Loop> {
    let mut sized = computation.clone();
    if schedule.compute_at.is_some() {
        let dimensions = sized.dimensions.iter_mut();
        dimensions.for_each(|dimension| dimension.upper = None);
    }
    let Ok(resolved) = Resolved::new(schedule, &sized, asm) else {
        return Vec::new();
    };
    let order = resolved.decompose.order.iter();
    let every_loop = order.map(|level| Loop {
        layer: resolved.layers[level.layer].clone(),
        dimension: resolved.dimensions[level.dimension].clone(),
        kind: kind(
            asm,
            resolved.decompose.assign[level.layer][level.dimension].layer,
        ),
        parts: resolved.counts[level.layer][level.dimension].known(),
        points: size(&resolved, *level),
        buffers: buffers(schedule, computation, &name(&resolved, *level)),
    });
    let is_one = |each: &Loop| each.parts == Some(1) && each.buffers.is_empty();
    every_loop.filter(|each| !is_one(each)).collect()
}

fn name(resolved: &Resolved, level: Level) -> LevelName {
    LevelName::new(
        &resolved.layers[level.layer],
        &resolved.dimensions[level.dimension],
    )
}

/// The points of a part: the product of the part counts inside, which may be known where those around are not.
fn size(resolved: &Resolved, level: Level) -> Option<i64> {
    let inside = &resolved.counts[level.layer + 1..];
    let mut counts = inside.iter().map(|row| row[level.dimension].known());
    counts.try_fold(1i64, |product, count| Some(product.saturating_mul(count?)))
}

fn kind(asm: &Asm, layer: usize) -> LoopKind {
    let layer = &asm.layers[layer];
    match layer.name() {
        MATRIX | LANES => LoopKind::Lanes,
        "register" => LoopKind::Register,
        _ if layer.core().is_some() => LoopKind::Parallel,
        _ => LoopKind::Loop,
    }
}

/// The buffers that are staged or combined from a level on, in the order of the computation.
fn buffers(schedule: &Schedule, computation: &Computation, level: &LevelName) -> Vec<Staged> {
    let inputs = computation.inputs.iter().filter_map(|buffer| {
        let input = schedule.inputs.get(&buffer.name)?;
        let layout = input.layout.get(level);
        Some(Staged {
            buffer: buffer.name.clone(),
            how: "staged",
            memory: input.stage.get(level)?.clone(),
            layout: layout.map(ToString::to_string),
            stages: input.stages.filter(|n| *n > 1),
        })
    });
    let outputs = computation.outputs.iter().filter_map(|buffer| {
        let output = schedule.outputs.get(&buffer.name)?;
        let layout = output.layout.get(level);
        Some(Staged {
            buffer: buffer.name.clone(),
            how: "combined",
            memory: output.combine.get(level)?.clone(),
            layout: layout.map(ToString::to_string),
            stages: None,
        })
    });
    inputs.chain(outputs).collect()
}

/// The layers of a schedule in a line: `core {i: 2}, L1 {i: *, k: 64}, simd {j: 16}`.
pub fn line(schedule: &Schedule) -> String {
    let layers = schedule
        .layers
        .iter()
        .filter(|layer| !layer.parts.is_empty());
    let layers = layers.map(|layer| {
        let parts = layer.parts.iter();
        let parts = parts.map(|(d, parts)| match parts {
            Parts::Fixed(count) => format!("{d}: {count}"),
            Parts::Derived => format!("{d}: *"),
        });
        let parts: Vec<String> = parts.collect();
        format!("{} {{{}}}", layer.name, parts.join(", "))
    });
    let layers: Vec<String> = layers.collect();
    match layers.is_empty() {
        true => "plain loops".to_string(),
        false => layers.join(", "),
    }
}
