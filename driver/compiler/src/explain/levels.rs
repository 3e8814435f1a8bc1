//! Contents of each memory under a schedule, the traffic between them, and which of it takes
//! longest.
//!
//! To compare computing with moving, each memory has the rate that the model counts with
//! ([`mdh_schedule::rates`]); `mdh bench` measures.

use mdh_algebra::amounts::{bytes, count};
use mdh_algebra::computation::{Buffer, Computation, Place};
use mdh_schedule::asm::{Asm, Memory};
use mdh_schedule::legality::{self, Subject};
use mdh_schedule::rates::{OPERATIONS, RATES, SharingScope};
use mdh_schedule::{Level, Resolved, Schedule, Span, Tiles, Violation, check, footprint};

use super::inside::Inside;
use super::work::wanted;

/// A memory of the machine under a schedule.
struct Held<'a> {
    memory: &'a Memory,
    /// Each buffer with the bytes of a tile.
    tiles: Vec<(&'a Buffer, Vec<i64>, f64)>,
    /// Bytes that come from the memory around it, for all tiles of all cores.
    moved: f64,
}

/// The lines about it; nothing more than that where sizes are not known.
pub fn text(schedule: &Schedule, computation: &Computation, inside: &Inside, asm: &Asm) -> String {
    let resolved = match Resolved::new(schedule, computation, asm) {
        Ok(resolved) => resolved,
        Err(found) => return refused(&found, asm),
    };
    let refusal = refusal(schedule, computation, asm);
    let Some(tiles) = resolved.tiles(&[]) else {
        return unknown(refusal, computation);
    };
    let memories = asm.layers.iter().filter_map(|layer| layer.memory());
    let held: Option<Vec<Held>> = memories
        .skip(1)
        .map(|memory| hold(memory, &resolved, &tiles, (computation, inside)))
        .collect();
    let Some(held) = held else {
        return unknown(refusal, computation);
    };
    let mut text = refusal
        + "  what a tile of each level reads and writes, and what comes from the memory around it:\n";
    for memory in &held {
        text += &line(memory);
    }
    text + &inside.text() + &bounds(&held, (computation, inside), asm)
}

/// The constraints of a machine that a schedule breaks, and the parts of it that there is no code for;
/// nothing if there are none.
pub fn refusal(schedule: &Schedule, computation: &Computation, asm: &Asm) -> String {
    let resolved = match check(schedule, computation, asm) {
        Ok(resolved) => resolved,
        Err(found) => return refused(&found, asm),
    };
    let subject = Subject {
        computation,
        schedule,
        resolved: &resolved,
    };
    let Err(found) = legality::check(&subject) else {
        return String::new();
    };
    let refusals = found.iter();
    let refusals = refusals.map(|own| format!("    - {}: a schedule {own}\n", own.reason));
    "  there is no code for it:\n".to_string() + &refusals.collect::<String>()
}

fn unknown(refusal: String, computation: &Computation) -> String {
    let wanted = wanted(computation);
    refusal + &format!("  levels: not known before the sizes are{wanted}\n")
}

/// The constraints that the machine would have broken, each by its name.
fn refused(found: &[Violation], asm: &Asm) -> String {
    let violations = found.iter().map(|violation| format!("    - {violation}\n"));
    format!("  the machine '{}' refuses it:\n", asm.name) + &violations.collect::<String>()
}

/// Returns the contents of a memory: the points that the loops inside of the last one of the layers
/// around it span.
fn hold<'a>(
    memory: &'a Memory,
    resolved: &Resolved,
    tiles: &Tiles,
    (computation, chain): (&'a Computation, &Inside),
) -> Option<Held<'a>> {
    let layer = resolved.asm.position(&memory.name)?;
    let phase = &resolved.scalar;
    let is_outside = |level: &Level| phase.assign[level.layer][level.dimension].layer < layer;
    let loops: Vec<Level> = phase
        .order
        .iter()
        .copied()
        .filter(|level| tiles.count(*level) > 1)
        .collect();
    let inside = loops
        .iter()
        .rposition(is_outside)
        .map_or(0, |last| last + 1);
    let (fixed, free) = loops.split_at(inside);
    let spans = tiles.spans(free.iter().copied());
    let capacity = memory.capacity.map_or(f64::INFINITY, |bytes| bytes as f64);
    let mut held = Held {
        memory,
        tiles: Vec::new(),
        moved: 0.0,
    };
    // What is made in a tile is never more than a tile, and comes from nowhere else.
    let is_outside_tile = chain.is_outside(&memory.name, &resolved.asm);
    let is_made = |place: Place| matches!(place, Place::Input(n) if chain.made.contains(&n));
    for place in computation.places() {
        let (Some(buffer), Place::Input(_) | Place::Output(_)) = (computation.buffer(place), place)
        else {
            continue;
        };
        if is_outside_tile && is_made(place) {
            continue;
        }
        let shape = footprint(computation, buffer, &spans)?.shape();
        let elements: f64 = shape.iter().map(|n| *n as f64).product();
        held.tiles
            .push((buffer, shape, elements * buffer.element.byte_width() as f64));
    }
    let tile: f64 = held.tiles.iter().map(|tile| tile.2).sum();
    for (buffer, _, size) in &held.tiles {
        let bytes = footprint(computation, buffer, &all_spans(tiles))?.elements() as f64;
        let bytes = bytes * buffer.element.byte_width() as f64;
        // What stays from one tile to the next is moved once, if a tile fits at all.
        let times = if tile <= capacity {
            loads(buffer, fixed, tiles, computation)
        } else {
            every(fixed, tiles)
        };
        held.moved += (size * times).max(bytes);
    }
    Some(held)
}

/// The spans of all points.
fn all_spans(tiles: &Tiles) -> Vec<Span> {
    let span = |points: &i64| Span {
        reach: (points - 1).max(0),
        step: 1,
    };
    tiles.points.iter().map(span).collect()
}

/// Returns the number of tiles.
fn every(fixed: &[Level], tiles: &Tiles) -> f64 {
    fixed
        .iter()
        .map(|level| tiles.count(*level) as f64)
        .product()
}

/// Returns the number of times that a buffer's part of a tile changes: the innermost loops along
/// which it does not move leave it where it is.
fn loads(buffer: &Buffer, fixed: &[Level], tiles: &Tiles, computation: &Computation) -> f64 {
    let moves = |level: &&Level| {
        let used = |access: &mdh_algebra::computation::Access| {
            access.map.iter().any(|expr| expr.uses(level.dimension))
        };
        level.dimension < computation.dimensions.len() && buffer.accesses.iter().any(used)
    };
    let last = fixed.iter().rposition(|level| moves(&level));
    every(&fixed[..last.map_or(0, |last| last + 1)], tiles)
}

fn line(held: &Held) -> String {
    let tile: f64 = held.tiles.iter().map(|tile| tile.2).sum();
    let shapes: Vec<String> = (held.tiles.iter())
        .map(|(buffer, shape, size)| {
            let extents: Vec<String> = shape.iter().map(i64::to_string).collect();
            let extents = if extents.is_empty() {
                "1".to_string()
            } else {
                extents.join("x")
            };
            format!("{} {extents} ({})", buffer.name, bytes(*size))
        })
        .collect();
    let capacity = match held.memory.capacity {
        Some(capacity) => {
            let share = tile / capacity as f64 * 100.0;
            let verdict = if share > 100.0 {
                ", not all of it at once"
            } else {
                ""
            };
            format!("{share:.0} % of {}{verdict}", bytes(capacity as f64))
        }
        None => "of a size that is not known".to_string(),
    };
    format!(
        "    {:<8}  {} = {}, {capacity}; {} moved\n",
        held.memory.name,
        shapes.join(" + "),
        bytes(tile),
        bytes(held.moved)
    )
}

/// Cycles of computing and of moving, and which is the most.
fn bounds(held: &[Held], (computation, inside): (&Computation, &Inside), asm: &Asm) -> String {
    let core = |name: &str| asm.layer(name).and_then(|layer| layer.core());
    let cores = core("core").and_then(|core| core.count).unwrap_or(1) as f64;
    let width = asm.vector().unwrap_or(8) as f64;
    let element = computation
        .components
        .iter()
        .map(|ty| ty.byte_width())
        .max()
        .unwrap_or(8) as f64;
    let lanes = (width / element).max(1.0);
    // A multiplication and an addition are two.
    let flops = computation.flops() + inside.flops;
    let compute = flops / (2.0 * OPERATIONS * lanes * cores);
    let mut times = vec![("computing".to_string(), compute)];
    let around = asm.memory_names();
    for memory in held {
        let outer = around
            .iter()
            .position(|name| *name == memory.memory.name)
            .and_then(|n| n.checked_sub(1));
        let Some(outer) = outer.and_then(|n| around.get(n)) else {
            continue;
        };
        let Some(rate) = RATES.iter().find(|rate| rate.memory == *outer) else {
            continue;
        };
        let more = match inside.is_outside(&memory.memory.name, asm) {
            true => inside.moved,
            false => 0.0,
        };
        times.push((
            format!("moving from {outer}"),
            (memory.moved + more) / (rate.of_a_core(cores) * cores),
        ));
    }
    let is_open = computation.scalar.has_open_loops();
    rated(&times, OPERATIONS * lanes, is_open)
}

/// The cycles of all, which of them are the most, and the rates that they go by. Of loops that are
/// open nobody knows how long they compute.
fn rated(times: &[(String, f64)], multiplied: f64, is_open: bool) -> String {
    let texts: Vec<String> = times
        .iter()
        .map(|(what, cycles)| format!("{what} {}", count(cycles.ceil())))
        .collect();
    let most = times
        .iter()
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(what, _)| what.clone());
    let most = most.map(|most| match is_open {
        true => format!("computing, if its loops take long, else by {most}"),
        false => most,
    });
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
        "  cycles: {}\n  bound by {} (at usual rates in a cycle: {multiplied:.0} multiply-adds a core, {})\n",
        texts.join(", "),
        most.as_deref().unwrap_or("nothing"),
        rates.join(", ")
    )
}
