//! Traffic of loops around a block between a core and the memories, in cycles of the core.
//!
//! A loop's tile is what the loops inside of it span. Each memory keeps the largest tile that
//! fits it: what such a tile reads comes from the memory around once for every time that it
//! changes; what a memory has room for as a whole is there from the start. Neighbours share a line,
//! and accesses with large strides need pages of their own.

use super::facts::{Facts, streaming_threshold};
use super::rates::RATES;
use crate::asm::facts::LINE;
use crate::reach::Reach;
use mdh_algebra::computation::{Access, Buffer, Computation};

/// Bytes of a page, the reach of the first and of the second TLB in pages, and
/// the cycles of asking once and in all tables.
const PAGE: f64 = 4096.0;
const PAGES: [f64; 2] = [64.0, 1536.0];
const PAGE_CYCLES: [f64; 2] = [2.0, 20.0];
/// The largest set-aliasing stride of a cache: lines this far from each other conflict.
const ALIASING: i64 = 1 << 17;
/// Number of streams that a core prefetches from the memories around L1, L2 and L3, those in the
/// same page counting once and the one in which they begin counting, too; and how much longer
/// others take.
const STREAMS: [f64; 3] = [33.0, 33.0, 17.0];
const ALONE: [f64; 3] = [1.0, 1.0, 2.5];

/// One loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loop {
    /// Its dimension.
    pub dimension: usize,
    /// Its trip count.
    pub trips: i64,
}

/// Accesses of one buffer that move alike, with their common reach.
pub struct Region {
    /// The buffer's number; outputs come after inputs.
    pub buffer: usize,
    /// True if it is written.
    pub is_output: bool,
    element: f64,
    /// True if each row of the buffer fills whole lines.
    fills_lines: bool,
    /// `None` where an index function is not linear.
    axes: Option<Vec<AccessAxis>>,
}

struct AccessAxis {
    coefficients: Vec<i64>,
    /// Distance between the accesses: their halo.
    halo: i64,
    /// The buffer's extent.
    whole: f64,
    /// Bytes from one index to the next.
    stride: f64,
}

/// Data that a tile takes of a region.
#[derive(Clone, Copy, Debug, Default)]
pub struct Taken {
    /// Elements.
    pub elements: f64,
    /// Bytes, in whole lines.
    pub bytes: f64,
    /// Bytes of a cache that it takes: what lies a power of two apart leaves the places in between
    /// to others.
    pub room: f64,
    /// Pages.
    pub pages: f64,
    /// Runs of neighbours.
    pub runs: f64,
}

impl Region {
    /// All regions of a computation.
    pub fn all(computation: &Computation) -> Vec<Region> {
        let buffers = computation.inputs.iter().map(|b| (b, false));
        let buffers = buffers.chain(computation.outputs.iter().map(|b| (b, true)));
        let rank = computation.dimensions.len();
        let mut regions = Vec::new();
        for (n, (buffer, is_output)) in buffers.enumerate() {
            let mut alike: Vec<Vec<&Access>> = Vec::new();
            for access in &buffer.accesses {
                let moves = |access: &Access| coefficients(access, rank);
                let same = alike
                    .iter_mut()
                    .find(|group| moves(group[0]) == moves(access));
                match same {
                    Some(group) => group.push(access),
                    None => alike.push(vec![access]),
                }
            }
            regions.extend(alike.iter().map(|group| Region {
                buffer: n,
                is_output,
                element: buffer.element.byte_width().max(1) as f64,
                fills_lines: buffer.fills_lines(LINE),
                axes: axes(buffer, group, rank),
            }));
        }
        regions
    }

    /// Bytes of each of its elements.
    pub fn bytes_of_an_element(&self) -> f64 {
        self.element
    }

    /// Returns whether it depends on a dimension.
    pub fn moves(&self, d: usize) -> bool {
        let Some(axes) = &self.axes else { return true };
        axes.iter().any(|axis| axis.coefficients[d] != 0)
    }

    /// Returns whether neighbours in a dimension need some of the same elements.
    pub fn overlaps(&self, d: usize) -> bool {
        let mut axes = self.axes.iter().flatten();
        axes.any(|axis| axis.coefficients[d] != 0 && axis.halo > 0)
    }

    /// Returns whether it is larger than the caches, and a tile writes whole lines of it: blocks of
    /// several rows do where rows are whole lines.
    fn goes_past(&self, facts: &Facts, points: &[i64], block: &[i64]) -> bool {
        let Some(axes) = &self.axes else { return false };
        let Some(row) = axes.iter().rposition(|axis| axis.whole != 1.0) else {
            return false;
        };
        let (outer, last) = (&axes[..row], &axes[row]);
        let is_row = outer.iter().all(|axis| axis.extent(block) <= 1.0);
        let extents = axes.iter().map(|axis| axis.whole);
        let bytes = extents.fold(self.element, |bytes, extent| bytes * extent);
        let is_whole =
            last.extent(points) * self.element >= LINE as f64 && (is_row || self.fills_lines);
        is_whole && bytes.is_finite() && bytes >= streaming_threshold(facts.l3) as f64
    }

    /// Returns the data of a tile with these numbers of points.
    pub fn taken(&self, points: &[i64]) -> Taken {
        let Some(axes) = &self.axes else {
            let elements: f64 = points.iter().map(|n| *n as f64).product();
            let bytes = elements * LINE as f64;
            let pages = elements;
            return Taken {
                elements,
                bytes,
                room: bytes,
                pages,
                runs: elements,
            };
        };
        let extents: Vec<f64> = axes.iter().map(|axis| axis.extent(points)).collect();
        let mut run = self.element;
        let mut rows = extents.len();
        for (axis, extent) in axes.iter().zip(&extents).rev() {
            run *= extent;
            rows -= 1;
            if *extent < axis.whole {
                break;
            }
        }
        let run = (run / LINE as f64).ceil() * LINE as f64;
        let outer = axes[..rows].iter().zip(&extents).rev();
        let room = outer.fold(run, |room, (axis, extent)| {
            extent
                * if *extent > 1.0 {
                    room.max(axis.stride_alignment())
                } else {
                    room
                }
        });
        let rows: f64 = extents[..rows].iter().product();
        let mut pages = 1.0;
        for (axis, extent) in axes.iter().zip(&extents) {
            if axis.stride < PAGE {
                pages *= 1.0 + extent * axis.stride / PAGE;
                break;
            }
            pages *= extent;
        }
        Taken {
            elements: extents.iter().product(),
            bytes: rows * run,
            room,
            pages,
            runs: rows,
        }
    }

    /// Returns the same of a copy whose tiles are contiguous.
    fn taken_of_copy(&self, points: &[i64]) -> Taken {
        let taken = self.taken(points);
        Taken {
            bytes: taken.elements * self.element,
            room: taken.elements * self.element,
            pages: 1.0 + taken.elements * self.element / PAGE,
            runs: 1.0,
            ..taken
        }
    }
}

impl AccessAxis {
    /// The largest power of two that divides the stride.
    fn stride_alignment(&self) -> f64 {
        match self.stride {
            stride if stride < 1e15 => {
                let bytes = stride as i64;
                (bytes & -bytes).min(ALIASING) as f64
            }
            _ => 0.0,
        }
    }

    fn extent(&self, points: &[i64]) -> f64 {
        let steps = self.coefficients.iter().zip(points);
        let reach: f64 = steps
            .map(|(c, n)| c.unsigned_abs() as f64 * (n - 1).max(0) as f64)
            .sum();
        (reach + 1.0 + self.halo as f64).min(self.whole.max(1.0))
    }
}

fn coefficients(access: &Access, rank: usize) -> Option<Vec<Vec<i64>>> {
    let forms = access.map.iter().map(|expr| expr.linear(rank));
    forms.map(|form| Some(form?.coefficients)).collect()
}

fn axes(buffer: &Buffer, group: &[&Access], rank: usize) -> Option<Vec<AccessAxis>> {
    let mut axes = Vec::new();
    let mut stride = buffer.element.byte_width().max(1) as f64;
    for n in (0..buffer.rank_without_units()).rev() {
        let reach = Reach::in_step(group.iter().map(|access| &access.map[n]), rank)?;
        let whole = buffer.shape[n].map_or(f64::INFINITY, |n| n as f64);
        axes.push(AccessAxis {
            halo: reach.high.saturating_sub(reach.low),
            coefficients: reach.coefficients,
            whole,
            stride,
        });
        stride *= whole;
    }
    axes.reverse();
    Some(axes)
}

/// The points that are left in each dimension for the loops from each one on, and for the block
/// inside of all of them.
pub fn tiles(loops: &[Loop], block: &[i64], points: &[i64]) -> Vec<Vec<i64>> {
    let mut tiles = vec![block.to_vec()];
    for each in loops.iter().rev() {
        let mut tile = tiles[tiles.len() - 1].clone();
        let n = &mut tile[each.dimension];
        *n = n
            .saturating_mul(each.trips)
            .min(points[each.dimension].max(*n));
        tiles.push(tile);
    }
    tiles.reverse();
    tiles
}

/// Returns how often the first `inside` loops change the data of a region: those right around the
/// tile along which it does not move leave it where it is.
fn changes(region: &Region, loops: &[Loop], inside: usize) -> f64 {
    let last = (loops[..inside].iter()).rposition(|each| region.moves(each.dimension));
    trips(&loops[..last.map_or(0, |last| last + 1)])
}

/// Returns the number of iterations inside of loops.
pub fn trips(loops: &[Loop]) -> f64 {
    loops.iter().map(|each| each.trips as f64).product()
}

/// Bytes that the caches have room for: beyond the first, something else always needs some, too.
fn rooms(facts: &Facts) -> [f64; 3] {
    [
        facts.l1 as f64,
        facts.l2 as f64 * 0.75,
        facts.l3 as f64 * 0.75,
    ]
}

/// Cycles of a core for each byte that it reads or writes of an array of that many bytes that it
/// traverses repeatedly.
pub fn cycles_a_byte(facts: &Facts, size: f64) -> f64 {
    let within = rooms(facts).iter().position(|room| size <= *room);
    let memory = within.unwrap_or(RATES.len() - 1);
    1.0 / RATES[memory].of_a_core(facts.cores as f64)
}

/// Cycles that moving takes, from each of the memories around L1, L2 and L3, and for pages. The
/// loops from `around` on are those of a block's sums. `is_packed` says of which regions there are
/// copies whose tiles are contiguous.
pub fn moving(
    facts: &Facts,
    regions: &[Region],
    loops: &[Loop],
    around: usize,
    tiles: &[Vec<i64>],
    is_packed: &[bool],
) -> [f64; 4] {
    let taken: Vec<Vec<Taken>> = (tiles.iter())
        .map(|tile| {
            let footprints =
                regions
                    .iter()
                    .zip(is_packed)
                    .map(|(region, is_packed)| match is_packed {
                        false => region.taken(tile),
                        true => region.taken_of_copy(tile),
                    });
            footprints.collect()
        })
        .collect();
    // What is written between two sums; without any, the innermost loop goes on where a block ends.
    let written = &tiles[around.min(loops.len().saturating_sub(1))];
    let mut cycles = [0.0; 4];
    for (n, room) in rooms(facts).into_iter().enumerate() {
        let total_room = |taken: &Vec<Taken>| taken.iter().map(|t| t.room).sum::<f64>();
        let inside = (taken.iter()).position(|taken| total_room(taken) <= room);
        let inside = inside.unwrap_or(loops.len());
        // What fits with all that the other cores have is there before.
        let cores = if n == 2 { facts.cores as f64 } else { 1.0 };
        if total_room(&taken[0]) * cores <= room {
            continue;
        }
        let rate = RATES[n + 1].of_a_core(facts.cores as f64);
        for (r, region) in regions.iter().enumerate() {
            // What is written is read before, but for whole lines that are stored non-temporally.
            let is_past = n == 2 && region.goes_past(facts, written, &tiles[tiles.len() - 1]);
            let ways = if region.is_output && !is_past {
                2.0
            } else {
                1.0
            };
            let Taken { runs, pages, .. } = taken[around][r];
            let is_ahead = runs.min(pages) <= STREAMS[n];
            let slow = if is_ahead { 1.0 } else { ALONE[n] };
            let bytes = taken[inside][r].bytes * changes(region, loops, inside);
            cycles[n] += ways * slow * bytes / rate;
        }
    }
    cycles[3] = page_cycles(regions, loops, around, &taken);
    cycles
}

/// Cycles that looking up pages takes, given what each tile takes of each region.
fn page_cycles(regions: &[Region], loops: &[Loop], around: usize, taken: &[Vec<Taken>]) -> f64 {
    // Pages are looked up anew for every block if the loops around it pass too many of them; the
    // first time in all tables.
    let pages_of = |taken: &[Taken]| taken.iter().map(|t| t.pages).sum::<f64>();
    let (pages, first) = (pages_of(&taken[around]), pages_of(&taken[0]));
    let new = regions.iter().zip(&taken[around]);
    let new = new.map(|(region, taken)| taken.pages * changes(region, loops, around));
    let looked_up = match pages > PAGES[0] {
        true => pages * trips(&loops[..around]),
        false => new.sum(),
    };
    let again = (looked_up - first).max(0.0);
    first * PAGE_CYCLES[1] + again * PAGE_CYCLES[usize::from(pages > PAGES[1])]
}
