//! `mdh-split-phases`: a computation whose schedule has separate loop nests for its phases
//! becomes one computation for each nest.
//!
//! ```mlir
//! func.func @sums(%x: memref<8x20xf32>, %y: memref<8xf32>) {
//!   mdh.compute (i = 8, k = 20)
//!     out_view(y = %y[i] : memref<8xf32>)
//!     md_hom(id, (cc, pw(addf)))
//!     inp_view(x = %x[i, k] : memref<8x20xf32>)
//!     schedule(#mdh.schedule<asm = cpu, layers = [L1 {i: *, k: *}],
//!       decompose = {order: [L1.k, L1.i]}, recompose = {order: [L1.i, L1.k]},
//!       outputs = {y: {scalar: L2}}>)
//!   return
//! }
//! // becomes
//! func.func @sums(%x: memref<8x20xf32>, %y: memref<8xf32>) {
//!   %values = memref.alloc() {alignment = 64 : i64} : memref<8x20xf32, #mdh.memory<"L2">>
//!   mdh.compute (i = 8, k = 20)
//!     out_view(value_0 = %values[i, k] : memref<8x20xf32, #mdh.memory<"L2">>)
//!     md_hom(id, (cc, cc))
//!     inp_view(x = %x[i, k] : memref<8x20xf32>)
//!     schedule(#mdh.schedule<asm = cpu, layers = [L1 {i: *, k: *}],
//!       decompose = {order: [L1.k, L1.i]}>)
//!   mdh.compute (i = 8, k = 20)
//!     out_view(y = %y[i] : memref<8xf32>)
//!     md_hom(id, (cc, pw(addf)))
//!     inp_view(value_0 = %values[i, k] : memref<8x20xf32, #mdh.memory<"L2">>)
//!     schedule(#mdh.schedule<asm = cpu, layers = [L1 {i: *, k: *}],
//!       decompose = {order: [L1.i, L1.k]}>)
//!   memref.dealloc %values : memref<8x20xf32, #mdh.memory<"L2">>
//!   return
//! }
//! ```
//!
//! What one nest leaves for the next is kept for all points at once: inputs where the last level
//! of the de-composition has them (D3, D4), what the scalar function gives where S5 and S6 say.
//! Where phases agree, or differ only in when parts are combined, nothing changes.

use mdh_dialect::ops;
use std::collections::BTreeMap;

use mdh_algebra::affine::Expr;
use mdh_algebra::scalar::ScalarType;
use mdh_dialect::ir::{Errors, Op, Val};
use mdh_dialect::parts::{BufferPart, Parts, Threads};
use mdh_dialect::pass::{self, Options, Pass};
use mdh_dialect::{schedule, types, write};
use mdh_schedule::asm::LANES;
use mdh_schedule::{Input, Level, Output, Phase, Schedule, StagedLayout};
use melior::ir::{Region, ValueLike};

use super::tile::code::{cc, component_types, identity};
use super::tile::layout::{MemoryAxis, axes, bricks, extents, is_blocked};
use crate::support::builder::Builder;
use crate::support::projection::Projection;
use crate::support::region;
use crate::support::scheduled::Scheduled;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-split-phases",
    description: "give each loop nest of a schedule a computation of its own",
    operation: "", // a script may lower one function
    options: &[],
    run,
};

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    pass::each(module, ops::mdh::COMPUTE, split)
}

/// A region, as the position of an ASM layer, and a layout.
type Home = (usize, StagedLayout);

/// A computation that is taken apart.
struct Phases<'c> {
    of: Scheduled<'c>,
    builder: Builder<'c>,
    /// The computation so far, on what it reads.
    parts: Parts<'c>,
    /// The schedule of the rest.
    rest: Schedule,
    buffers: Vec<Val<'c>>,
}

fn split(op: Op) -> Result<(), Errors> {
    let Some(of) = Scheduled::read(op)? else {
        return Ok(());
    };
    let stages_first = of.resolved.stages_apart();
    let combines_last = of.resolved.combines_apart(&of.computation);
    if !stages_first && !combines_last {
        return Ok(());
    }
    if let Some(at) = &of.schedule.compute_at {
        let why = "its phases are separate loop nests: expected one order";
        return Err(vec![super::tile::chain::refusal(at, why)]);
    }
    let mut phases = Phases {
        builder: Builder::before(op),
        parts: of.parts.clone(),
        rest: of.schedule.clone(),
        buffers: Vec::new(),
        of,
    };
    if stages_first {
        phases.stage()?;
    }
    let (mut scalar, combiner) = (region::copy(op, 0), region::copy(op, 1));
    if combines_last {
        phases.evaluate(scalar)?;
        let types = &phases.of.computation.components;
        scalar = identity(&phases.builder, &component_types(&phases.builder, types));
    }
    let parts = phases.parts.clone();
    phases.compute(parts, scalar, combiner, &phases.rest.clone())?;
    for memory in std::mem::take(&mut phases.buffers) {
        phases.builder.op(ops::memref::DEALLOC, &[memory], &[], &[]);
    }
    region::erase(op);
    Ok(())
}

impl<'c> Phases<'c> {
    fn compute(
        &mut self,
        mut parts: Parts<'c>,
        scalar: Region<'c>,
        combiner: Region<'c>,
        schedule: &Schedule,
    ) -> Result<(), Errors> {
        crate::support::names::make_unique(&mut parts);
        // A phase alone copies nothing that is waited for later, nor do threads have its results.
        parts.threads = Threads {
            cooperative: self.of.parts.threads.cooperative,
            ..Threads::default()
        };
        let (context, location) = (self.builder.context, self.builder.location);
        let new = write::compute(context, location, &parts, scalar, combiner);
        let new = self.builder.insert(new);
        schedule::set(new, Some(schedule));
        // What one computation has room for, several need not have: an input that is read at several
        // places is copied for each.
        let broken = schedule::broken(new).into_iter();
        let broken = broken.map(|found| match found.strip_prefix("has a schedule that breaks ") {
            None => found,
            Some(what) => format!(
                "has a schedule whose phases are loop nests of their own, one of which breaks {what}"
            ),
        });
        let broken: Errors = broken.collect();
        match broken.is_empty() {
            true => Ok(()),
            false => Err(broken),
        }
    }

    /// The nest of the de-composition: copies inputs to where its last level has them.
    fn stage(&mut self) -> Result<(), Errors> {
        let resolved = &self.of.resolved;
        let Some(last) = resolved.decompose.order.last().copied() else {
            return Ok(());
        };
        let row_major = StagedLayout::row_major();
        let homes = resolved.inputs.iter().map(|plan| {
            let layout = &plan.layout[last.layer][last.dimension];
            (plan.region[last.layer][last.dimension], layout.clone())
        });
        let homes: Vec<Home> = homes.collect();
        let scalars =
            (resolved.inputs.iter()).map(|plan| (plan.scalar, plan.scalar_layout.clone()));
        let scalars: Vec<Home> = scalars.collect();
        let is_moved = |home: &Home| *home != (0, row_major.clone());
        // A nest that stages nothing copies everything within main memory.
        let is_whole = !homes.iter().any(is_moved);
        let (mut inputs, mut plans) = (Vec::new(), Vec::new());
        let all_inputs = self.parts.inputs.clone().into_iter();
        for ((input, home), scalar) in all_inputs.zip(&homes).zip(&scalars) {
            let staged: Vec<BufferPart> = match !is_whole && !is_moved(home) {
                true => vec![input.clone()],
                false => (0..input.accesses.len())
                    .map(|access| self.copy(&input, access, home))
                    .collect::<Result<_, _>>()?,
            };
            for staged in staged {
                plans.push((scalar != home).then(|| self.read_in(&input, &staged, scalar)));
                inputs.push(staged);
            }
        }
        self.parts.inputs = inputs;
        // Their schedule names them.
        crate::support::names::make_unique(&mut self.parts);
        let resolved = &self.of.resolved;
        self.rest.decompose = resolved.written(&resolved.scalar);
        self.rest.scalar = Phase::default();
        self.rest.inputs.clear();
        for (input, plan) in self.parts.inputs.iter().zip(plans) {
            if let Some(plan) = plan {
                self.rest.inputs.insert(input.name.clone(), plan?);
            }
        }
        Ok(())
    }

    /// Returns the memory in which the scalar function reads a copy of an input (S3, S4).
    fn read_in(
        &self,
        input: &BufferPart<'c>,
        copy: &BufferPart<'c>,
        (region, layout): &Home,
    ) -> Result<Input, Errors> {
        if *layout != StagedLayout::row_major() && copy.origin.len() != input.origin.len() {
            return Err(vec![format!(
                "has a schedule whose de-composition is a loop nest of its own and whose scalar \
                 function reads '{}' in the layout {layout} (S4): expected row_major, or an access \
                 that moves along one dimension in each axis",
                input.name
            )]);
        }
        Ok(Input {
            scalar: Some(self.of.resolved.asm.layers[*region].name().into()),
            scalar_layout: Some(layout.clone()),
            ..Input::default()
        })
    }

    /// Copies the elements that an access reads, at every point of the dimensions that it moves
    /// along.
    fn copy(
        &mut self,
        input: &BufferPart<'c>,
        access: usize,
        home: &Home,
    ) -> Result<BufferPart<'c>, Errors> {
        let exprs = &input.accesses[access];
        let mut dims: Vec<usize> = Vec::new();
        for d in exprs.iter().flat_map(|e| e.dims()) {
            if !dims.contains(&d) {
                dims.push(d);
            }
        }
        if dims.is_empty() {
            // One element, the same at all points.
            return Ok(BufferPart {
                accesses: vec![exprs.clone()],
                ..input.clone()
            });
        }
        one_axis_each(input, exprs, &dims, &home.1)?;
        let name = format!("{}_{access}", input.name);
        let element = types::buffer_type(input.value.r#type()).map(|t| t.element);
        let element = element.unwrap_or(ScalarType::F32);
        let staged = self.memory(&name, &dims, home, element)?;
        let from = BufferPart {
            accesses: vec![exprs.clone()],
            name: input.name.clone(),
            ..input.clone()
        };
        let to = BufferPart {
            components: vec![0],
            ..staged.clone()
        };
        let projection = Projection::new(&dims, self.parts.dims.len());
        let parts = Parts {
            dims: projection.dims(&self.parts.dims),
            combine: dims.iter().map(|_| cc(&self.builder)).collect(),
            inputs: vec![projection.buffer(&from)],
            outputs: vec![projection.buffer(&to)],
            ..Parts::default()
        };
        let types = component_types(&self.builder, &[element]);
        let scalar = identity(&self.builder, &types);
        let schedule = self.restricted(&dims, element)?;
        self.compute(parts, scalar, Region::new(), &schedule)?;
        Ok(staged)
    }

    /// The de-composition's part of the schedule, of some of the dimensions, to copy elements of a
    /// type.
    fn restricted(&self, dims: &[usize], element: ScalarType) -> Result<Schedule, Errors> {
        let resolved = &self.of.resolved;
        let names: Vec<&String> = dims.iter().map(|d| &resolved.dimensions[*d]).collect();
        let mut layers = self.rest.layers.clone();
        for layer in &mut layers {
            layer.parts.retain(|name, _| names.contains(&name));
        }
        let mut order = resolved.written(&resolved.decompose).order;
        if let Some(order) = &mut order {
            order.retain(|level| names.contains(&&level.dimension));
        }
        let mut assign = self.reassigned(dims);
        self.free_lanes(&mut assign, element)?;
        let name = |(level, to): (Level, Level)| (resolved.name(level), resolved.asm_name(to));
        let assign = assign.into_iter().filter(|(level, to)| {
            let position = dims.iter().position(|d| *d == level.dimension);
            (resolved.own(*level).layer, position) != (to.layer, Some(to.dimension))
        });
        Ok(Schedule {
            asm: self.rest.asm.clone(),
            layers,
            decompose: Phase {
                order,
                assign: assign.map(name).collect(),
            },
            ..Schedule::default()
        })
    }

    /// The de-composition's assignment of some of the dimensions. A machine's dimensions count
    /// those of the computation, so that they are others then; an assignment to one that is gone
    /// is gone, and with it those that make room for it.
    fn reassigned(&self, dims: &[usize]) -> BTreeMap<Level, Level> {
        let resolved = &self.of.resolved;
        let position_of = |dimension: usize| dims.iter().position(|kept| *kept == dimension);
        let moved_levels = |assigned: &dyn Fn(Level) -> Level| -> Option<BTreeMap<Level, Level>> {
            let layers = 0..resolved.layers.len();
            let levels = layers.flat_map(|layer| {
                let level = move |dimension: &usize| Level {
                    layer,
                    dimension: *dimension,
                };
                dims.iter().map(level)
            });
            let assigned = levels.map(|level| {
                let Level { layer, dimension } = assigned(level);
                let dimension = position_of(dimension)?;
                Some((level, Level { layer, dimension }))
            });
            assigned.collect()
        };
        let assign = &resolved.decompose.assign;
        moved_levels(&|level| assign[level.layer][level.dimension])
            .or_else(|| moved_levels(&|level| resolved.own(level)))
            .unwrap_or_default()
    }

    /// Exchanges levels of lanes with levels of one part, where lanes have not the width for
    /// elements of a type: loops then.
    fn free_lanes(
        &self,
        assign: &mut BTreeMap<Level, Level>,
        element: ScalarType,
    ) -> Result<(), Errors> {
        let resolved = &self.of.resolved;
        let is_loop = |level: &Level| !resolved.count(*level).is_one();
        let (of_lanes, register) = (
            resolved.asm.position(LANES),
            resolved.asm.position("register"),
        );
        let lanes: Vec<Level> = (assign.iter())
            .filter(|(level, to)| Some(to.layer) == of_lanes && is_loop(level))
            .map(|(level, _)| *level)
            .collect();
        let known = lanes
            .iter()
            .filter_map(|level| resolved.count(*level).known());
        let bytes = known.fold(element.byte_width() as i64, i64::saturating_mul);
        let width = resolved.asm.vector().unwrap_or(u64::MAX);
        if u64::try_from(bytes).is_ok_and(|bytes| bytes <= width) {
            return Ok(());
        }
        for lane in lanes {
            let is_free = |(level, to): &(&Level, &Level)| {
                let is_memory = resolved.asm.layers[to.layer].memory().is_some();
                !is_loop(level) && is_memory && Some(to.layer) != register
            };
            let Some((free, to)) = assign.iter().find(is_free).map(|(l, to)| (*l, *to)) else {
                return Err(vec![format!(
                    "has a schedule whose de-composition is a loop nest of its own and copies \
                     {bytes} bytes in the lanes of '{}': expected at most {width}, or a level of \
                     one part that a memory layer other than 'register' has",
                    resolved.name(lane)
                )]);
            };
            let lanes = assign.insert(lane, to);
            assign.extend(lanes.map(|lanes| (free, lanes)));
        }
        Ok(())
    }

    /// The nest of the scalar phase: what the scalar function gives at every point, in memory.
    fn evaluate(&mut self, scalar: Region<'c>) -> Result<(), Errors> {
        let order: Vec<usize> = (0..self.parts.dims.len()).collect();
        let mut values = Vec::new();
        let components = self.of.computation.components.clone();
        for (n, element) in components.into_iter().enumerate() {
            let home = self.written_in(n)?;
            values.push(self.memory(&format!("value_{n}"), &order, &home, element)?);
        }
        let mut outputs = values.clone();
        for (n, output) in outputs.iter_mut().enumerate() {
            output.components = vec![n];
        }
        let parts = Parts {
            dims: self.parts.dims.clone(),
            combine: order.iter().map(|_| cc(&self.builder)).collect(),
            inputs: std::mem::replace(&mut self.parts.inputs, values),
            outputs,
            ..Parts::default()
        };
        let schedule = Schedule {
            outputs: Default::default(),
            recompose: Phase::default(),
            deterministic: None,
            ..self.rest.clone()
        };
        self.compute(parts, scalar, Region::new(), &schedule)?;
        let resolved = &self.of.resolved;
        self.rest.decompose = resolved.written(&resolved.recompose);
        self.rest.scalar = Phase::default();
        self.rest.recompose = Phase::default();
        self.rest.inputs.clear();
        for output in self.rest.outputs.values_mut() {
            output.scalar = None;
            output.scalar_layout = None;
        }
        self.rest
            .outputs
            .retain(|_, output| *output != Output::default());
        Ok(())
    }

    /// Returns the memory to which the scalar function writes a component (S5, S6): as for the
    /// first output that has it.
    fn written_in(&self, component: usize) -> Result<Home, Errors> {
        let tiled = &self.of;
        let mut outputs = tiled
            .computation
            .outputs
            .iter()
            .zip(&tiled.resolved.outputs);
        let output = outputs.find(|(b, _)| b.accesses.iter().any(|a| a.component == component));
        let Some((buffer, plan)) = output else {
            return Ok((0, StagedLayout::row_major()));
        };
        let layout = &plan.scalar_layout;
        if *layout != StagedLayout::row_major() && buffer.shape.len() != self.parts.dims.len() {
            return Err(vec![format!(
                "has a schedule whose re-composition is a loop nest of its own and gives what the \
                 scalar function writes the layout {layout} (S6): expected row_major, or an \
                 output with an axis for each dimension"
            )]);
        }
        Ok((plan.scalar, layout.clone()))
    }

    /// Memory with an element for each point of some dimensions.
    fn memory(
        &mut self,
        name: &str,
        dims: &[usize],
        (region, layout): &Home,
        element: ScalarType,
    ) -> Result<BufferPart<'c>, Errors> {
        let refuse = |why: String| {
            vec![format!(
                "has a schedule with separate loop nests that keeps '{name}' between them: {why}"
            )]
        };
        let ty = types::mlir_type(self.builder.context, element);
        let all_dims = &self.parts.dims;
        let layers = &self.of.resolved.asm.layers;
        let region = (*region != 0).then(|| layers[*region].name());
        let axes: Vec<MemoryAxis> = axes(layout, dims.len()).map_err(refuse)?;
        let layout = match is_blocked(&axes) {
            true => &bricks(&axes, &extents(all_dims, dims)).map_err(refuse)?,
            false => layout,
        };
        if layout.algebra().is_some() {
            let builder = &mut self.builder;
            let made =
                super::tile::layout::laid_out(builder, name, all_dims, dims, layout, ty, region);
            let (memory, view) = made.map_err(refuse)?;
            self.buffers.push(memory);
            return Ok(view);
        }
        let builder = &mut self.builder;
        let memory = super::tile::layout::memory(builder, name, all_dims, dims, &axes, ty, region);
        self.buffers.push(memory.value);
        Ok(memory)
    }
}

/// A layout that is not row-major needs an axis of memory for each of the buffer's.
fn one_axis_each(
    input: &BufferPart,
    exprs: &[Expr],
    own: &[usize],
    layout: &StagedLayout,
) -> Result<(), Errors> {
    let is_one = own.len() == exprs.len() && exprs.iter().all(|e| e.dims().len() == 1);
    if is_one || *layout == StagedLayout::row_major() {
        return Ok(());
    }
    Err(vec![format!(
        "has a schedule whose de-composition is a loop nest of its own and gives '{}' the layout \
         {layout}: expected row_major, or an access that moves along one dimension in each axis",
        input.name
    )])
}
