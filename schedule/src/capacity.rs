//! Contents of each memory region under a schedule, and whether they fit.
//!
//! A buffer's tiles are copied where, along the order, region or layout change; consecutive
//! levels with equal ones share a copy (appendix F, buffer elimination). A copy made before the
//! loop of position `q` holds the footprint of all levels from `q` on. In a region that some
//! cores have for themselves (the region's owners) the levels of these cores do not count, since
//! each holds its own; other cores that share the region, outside of `q`, each need a copy, unless
//! they copy inputs cooperatively ([`Asm::copies_cooperatively`]): then it is one copy of what all of them
//! need. What is copied asynchronously has a copy for each of its stages. Between nests that are not fused, the copies of all iterations exist at once.

use super::footprint::footprint;
use super::resolved::{Level, PerLevel, PhasePlan, Resolved};
use super::schedule_path::SchedulePath;
use super::staged_layout::StagedLayout;
use super::tiles::Tiles;
use super::violation::{Constraint, Violation, find};
use crate::asm::MemoryKind;
use mdh_algebra::computation::{Buffer, Combine, Computation, Place};

/// Memory that a schedule needs for one buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// The tile's buffer.
    pub place: Place,
    /// The phase in whose order `position` counts.
    pub phase: PhaseName,
    /// Before the loop of that position; one past the last is inside all loops.
    pub position: usize,
    /// The region, as the position of an ASM layer.
    pub region: usize,
    /// Layout of the tile.
    pub layout: StagedLayout,
    /// The levels that are fixed while it lives: there is one tile for each of their parts.
    pub fixed: Vec<Level>,
    /// The shape of the tile.
    pub shape: Vec<i64>,
    /// Tiles that exist at once in one instance of the region.
    pub copies: i64,
    /// Bytes of all of them.
    pub bytes: i64,
}

/// One of the three phases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhaseName {
    /// D.
    Decompose,
    /// S.
    Scalar,
    /// R.
    Recompose,
}

/// All copies that a schedule makes, with the sizes of `tiles`: inputs in the order of D1, then
/// results from the scalar function's outwards. `None` if a footprint is not known.
pub fn allocations(
    resolved: &Resolved,
    computation: &Computation,
    tiles: &Tiles,
) -> Option<Vec<Allocation>> {
    let mut allocations = Vec::new();
    let nests = resolved.nests();
    let deferred = resolved.deferred(computation);
    let results_stay = deferred.is_some();
    let context = Context {
        resolved,
        computation,
        tiles,
        deferred: deferred.unwrap_or_default(),
    };
    let inputs_stay = nests.iter().any(|nest| nest.decompose && nest.scalar);
    context.inputs(inputs_stay, &mut allocations)?;
    context.outputs(results_stay, &mut allocations)?;
    Some(allocations)
}

struct Context<'a> {
    resolved: &'a Resolved,
    computation: &'a Computation,
    tiles: &'a Tiles,
    /// Levels whose parts each have a partial result of their own.
    deferred: Vec<Level>,
}

struct Wanted<'a> {
    place: Place,
    buffer: &'a Buffer,
    bytes: i64,
    phase: (PhaseName, &'a PhasePlan),
    /// True if the copies of all iterations exist at once.
    kept: bool,
}

impl Context<'_> {
    /// D3, D4, S3, S4; `fused` says whether de-composition and scalar phase are one nest.
    fn inputs(&self, fused: bool, all: &mut Vec<Allocation>) -> Option<()> {
        for (n, (plan, buffer)) in self
            .resolved
            .inputs
            .iter()
            .zip(&self.computation.inputs)
            .enumerate()
        {
            let bytes = buffer.element.byte_width() as i64;
            let wanted = Wanted {
                place: Place::Input(n),
                buffer,
                bytes,
                phase: (PhaseName::Decompose, &self.resolved.decompose),
                kept: !fused,
            };
            let (region, layout) = self.along(&wanted, &plan.region, &plan.layout, all)?;
            if (plan.scalar, &plan.scalar_layout) != (region, &layout) {
                let wanted = Wanted {
                    phase: (PhaseName::Scalar, &self.resolved.scalar),
                    kept: false,
                    ..wanted
                };
                let last = self.resolved.scalar.order.len();
                all.push(self.copy(&wanted, last, (plan.scalar, &plan.scalar_layout), &[])?);
            }
        }
        Some(())
    }

    /// R3, R4, S5, S6; `fused` says whether scalar phase and re-composition are one nest.
    fn outputs(&self, fused: bool, all: &mut Vec<Allocation>) -> Option<()> {
        for (n, (plan, buffer)) in self
            .resolved
            .outputs
            .iter()
            .zip(&self.computation.outputs)
            .enumerate()
        {
            let component = buffer.accesses.first().map_or(0, |a| a.component);
            let ty = self.computation.components.get(component).copied();
            let bytes = ty.unwrap_or(buffer.element).byte_width() as i64;
            let wanted = Wanted {
                place: Place::Output(n),
                buffer,
                bytes,
                phase: (PhaseName::Recompose, &self.resolved.recompose),
                kept: false,
            };
            let (region, layout) = self.along(&wanted, &plan.region, &plan.layout, all)?;
            if !fused || (plan.scalar, &plan.scalar_layout) != (region, &layout) {
                let wanted = Wanted {
                    phase: (PhaseName::Scalar, &self.resolved.scalar),
                    kept: !fused,
                    ..wanted
                };
                let last = self.resolved.scalar.order.len();
                all.push(self.copy(&wanted, last, (plan.scalar, &plan.scalar_layout), &[])?);
            }
        }
        Some(())
    }

    /// The copies along an order, and where the buffer is at its end.
    fn along(
        &self,
        wanted: &Wanted,
        regions: &PerLevel<usize>,
        layouts: &PerLevel<StagedLayout>,
        all: &mut Vec<Allocation>,
    ) -> Option<(usize, StagedLayout)> {
        let order = &wanted.phase.1.order;
        let at = |level: &Level| {
            let region = regions[level.layer][level.dimension];
            (region, layouts[level.layer][level.dimension].clone())
        };
        let mut current = (0, StagedLayout::row_major());
        for (q, level) in order.iter().enumerate() {
            let here = at(level);
            if here != current {
                let run = order[q..].iter().take_while(|l| at(l) == here);
                let run: Vec<Level> = run.copied().collect();
                all.push(self.copy(wanted, q, (here.0, &here.1), &run)?);
                current = here;
            }
        }
        Some(current)
    }

    fn copy(
        &self,
        wanted: &Wanted,
        position: usize,
        (region, layout): (usize, &StagedLayout),
        run: &[Level],
    ) -> Option<Allocation> {
        let (name, phase) = wanted.phase;
        let owned = |level: &Level| {
            let to = phase.assign[level.layer][level.dimension];
            to.layer < region && self.resolved.is_parallel(phase, *level)
        };
        let (outer, inner) = phase.order.split_at(position);
        let cooperative = match wanted.place {
            Place::Input(_) => self.cooperative(outer, region),
            _ => Vec::new(),
        };
        let outer: Vec<Level> = (outer.iter().copied())
            .filter(|level| !cooperative.contains(level))
            .collect();
        let free = inner.iter().filter(|l| !owned(l)).copied();
        let free: Vec<Level> = cooperative.into_iter().chain(free).collect();
        let mut fixed: Vec<Level> = outer.clone();
        fixed.extend(inner.iter().filter(|l| owned(l)));
        let spans = self.tiles.spans(free);
        let shape = footprint(self.computation, wanted.buffer, &spans)?.shape();
        let is_result = matches!(wanted.place, Place::Output(_));
        let at_once = |level: &Level| {
            self.resolved.is_parallel(phase, *level) || is_result && self.deferred.contains(level)
        };
        let mut copies = self.stages(wanted.place, region);
        for level in outer.iter().filter(|l| !owned(l)) {
            if wanted.kept || at_once(level) {
                copies = copies.saturating_mul(self.tiles.count(*level));
            }
        }
        // What is combined here is here in as many pieces as there are parts.
        for level in run.iter().filter(|l| is_result && !owned(l)) {
            let combine = self.computation.dimensions[level.dimension].combine;
            let is_group = self.resolved.is_group(phase, *level, self.computation);
            if combine != Combine::Cc && at_once(level) && !is_group {
                copies = copies.saturating_mul(self.tiles.count(*level));
            }
        }
        let elements = layout.elements(&shape);
        let bytes = elements.saturating_mul(wanted.bytes).saturating_mul(copies);
        Some(Allocation {
            place: wanted.place,
            phase: name,
            position,
            region,
            layout: layout.clone(),
            fixed,
            shape,
            copies,
            bytes,
        })
    }
}

impl Context<'_> {
    /// Returns the number of tiles of a buffer that are in a region at once, where they are copied
    /// asynchronously.
    fn stages(&self, place: Place, region: usize) -> i64 {
        let stages = match place {
            Place::Input(n) => self.resolved.inputs[n].stages,
            _ => None,
        };
        let is_there = self.resolved.asm.copies_asynchronously(region);
        stages.filter(|_| is_there).unwrap_or(1).max(1)
    }

    /// The levels outside of a copy whose cores make it cooperatively: none if they do not come to it
    /// equally, since a loop further in goes through parts of what each of them has.
    fn cooperative(&self, outer: &[Level], region: usize) -> Vec<Level> {
        let (resolved, phase) = (self.resolved, &self.resolved.decompose);
        if !resolved.asm.copies_cooperatively(region) {
            return Vec::new();
        }
        let is_loop = |level: &&Level| !resolved.count(**level).is_one();
        let mut parallel: Vec<Level> = Vec::new();
        for level in outer.iter().filter(is_loop) {
            let to = phase.assign[level.layer][level.dimension];
            match resolved.is_parallel(phase, *level) {
                true if to.layer > region => parallel.push(*level),
                false if parallel.iter().any(|l| l.dimension == level.dimension) => {
                    return Vec::new();
                }
                _ => {}
            }
        }
        parallel
    }
}

/// The entry of a buffer.
fn buffer_place(computation: &Computation, place: Place) -> SchedulePath {
    let kind = match place {
        Place::Output(_) => "outputs",
        _ => "inputs",
    };
    let name = computation.buffer(place).map_or("", |b| b.name.as_str());
    SchedulePath::root().entry(kind).entry(name)
}

/// A layout of the algebra has a place for each element of the tiles that lie in it.
fn layouts_fit(
    resolved: &Resolved,
    computation: &Computation,
    all: &[Allocation],
    found: &mut Vec<Violation>,
) {
    for allocation in all {
        let Err(sizes) = allocation.layout.fits(&allocation.shape) else {
            continue;
        };
        let (kind, phase) = match (allocation.place, allocation.phase) {
            (Place::Output(_), PhaseName::Recompose) => ("output", &resolved.recompose),
            (Place::Output(_), _) => ("output", &resolved.scalar),
            (_, PhaseName::Scalar) => ("input", &resolved.scalar),
            _ => ("input", &resolved.decompose),
        };
        let name = computation
            .buffer(allocation.place)
            .map_or("", |b| b.name.as_str());
        let level = match phase.order.get(allocation.position) {
            Some(level) => format!("from '{}' on", resolved.name(*level)),
            None => "for the scalar function".into(),
        };
        let message = format!(
            "{kind} '{name}' has tiles of {:?} {level}, and the layout '{}' sizes of {sizes:?}: \
             expected as many or more",
            allocation.shape, allocation.layout
        );
        let place = buffer_place(computation, allocation.place).entry("layout");
        find(found, Constraint::Layout, place, message);
    }
}

/// Explicit regions hold all their copies.
pub(super) fn check(
    resolved: &Resolved,
    computation: &Computation,
    violations: &mut Vec<Violation>,
) {
    let held = resolved
        .tiles(&[])
        .and_then(|tiles| allocations(resolved, computation, &tiles));
    let Some(held) = held else { return };
    layouts_fit(resolved, computation, &held, violations);
    for (region, layer) in resolved.asm.layers.iter().enumerate() {
        let Some(memory) = layer.memory().filter(|m| m.kind == MemoryKind::Explicit) else {
            continue;
        };
        let Some(capacity) = memory.capacity else {
            continue;
        };
        let here: Vec<&Allocation> = held.iter().filter(|a| a.region == region).collect();
        let bytes = here.iter().fold(0i64, |sum, a| sum.saturating_add(a.bytes));
        if u64::try_from(bytes).is_ok_and(|bytes| bytes > capacity) {
            let texts = here.iter().map(|a| {
                let name = computation.buffer(a.place).map_or("", |b| b.name.as_str());
                let shape: Vec<_> = a.shape.iter().map(i64::to_string).collect();
                format!(
                    "'{name}' {} x [{}]: {}",
                    a.copies,
                    shape.join(", "),
                    a.bytes
                )
            });
            let texts: Vec<_> = texts.collect();
            let message = format!(
                "region '{}' has to hold {bytes} bytes ({}), expected at most {capacity}",
                memory.name,
                texts.join("; ")
            );
            let first = here.first();
            let place = first.map(|first| buffer_place(computation, first.place));
            find(
                violations,
                Constraint::Capacity,
                place.unwrap_or_default(),
                message,
            );
        }
    }
}
