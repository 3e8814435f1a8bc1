//! The code of a block, as each of its threads runs it.
//!
//! A loop over threads becomes the part of the thread that runs the code. What stands outside of
//! the loops over some axes is done by the first thread of those; what is cooperative is
//! shared out over their numbers in the block, whatever their own loops are. Threads wait for each
//! other where one may need what another has done.

use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::ops;
use melior::ir::operation::OperationLike;
use mlir_sys::mlirOperationMoveBefore;

use super::cores::{is_block, is_cooperative, is_of_blocks, parts_of};
use super::effects::{Effects, depends_on, has_effects};
use super::{guard, lanes, matrix};
use crate::gpu::copy_asynchronously;
use crate::support::builder::Builder;
use crate::support::parallel::{self, Core, FORALL};
use crate::support::region;

/// Position of a thread in its block and grid.
pub struct ThreadPosition<'c> {
    /// Its block's index in each axis that loops use.
    pub blocks: Vec<(usize, Val<'c>)>,
    /// Its own index in each axis of threads and warps.
    pub threads: Vec<(Core, Val<'c>)>,
    /// The number of indices in each of these axes.
    pub extents: Vec<(Core, i64)>,
    /// Its number in its block.
    pub number: Val<'c>,
    /// Number of a block's threads.
    pub count: i64,
    /// Stride in lanes, and number, of the threads of each axis of a warp.
    pub strides: Vec<(Core, i64, i64)>,
    /// Values that differ from thread to thread.
    pub own: Vec<Val<'c>>,
}

/// The threads that run some code.
#[derive(Clone)]
struct Scope<'c> {
    /// Condition that this thread is among them; all are if there is none.
    is_there: Option<Val<'c>>,
    /// Conditions that it is among those of each loop around in which some may not be.
    parts: Vec<(Core, Val<'c>)>,
    /// The axes whose loops are further in.
    rest: Vec<(Core, Val<'c>)>,
}

/// The threads that access memory.
#[derive(Clone, Copy, PartialEq)]
enum AccessScope {
    /// Each thread accesses its own part.
    Each,
    /// Other threads than those that need it access it.
    Others,
}

/// The code of a block, on the way through it.
pub struct Walk<'p, 'c> {
    place: &'p ThreadPosition<'c>,
    /// Effects since the threads last waited for each other.
    since: Vec<(Effects<'c>, AccessScope)>,
}

/// Replaces the parallel loops of a block's code.
pub fn lower<'c>(code: Vec<Op<'c>>, place: &ThreadPosition<'c>) -> Result<(), Errors> {
    let scope = Scope {
        is_there: None,
        parts: Vec::new(),
        rest: place.threads.clone(),
    };
    let since = Vec::new();
    Walk { place, since }.walk(code, &scope)
}

impl<'c> Walk<'_, 'c> {
    fn walk(&mut self, code: Vec<Op<'c>>, scope: &Scope<'c>) -> Result<(), Errors> {
        for op in code {
            let name = ir::name_of(op);
            match Core::of(op) {
                Some(core) if is_block(&core) => self.block(op, core.axis, scope)?,
                Some(_) if is_cooperative(op) => self.cooperative(op)?,
                Some(core) => self.part(op, &core, scope)?,
                None if lanes::level(op).is_some() => self.exchange(op, scope)?,
                None if matrix::is_marked(op) => self.warp(op, scope)?,
                None if is_cooperative(op) => self.once(op),
                None if is_wait(op) => self.arrive(op),
                None if is_loop(op) && has_parts(op) => self.around(op, scope)?,
                None if name == ops::memref::ALLOC || name == ops::memref::DEALLOC => {
                    return Err(vec![format!(
                        "has '{name}' in it, of a size that is not known: expected tiles of known \
                         sizes inside of blocks"
                    )]);
                }
                None if has_effects(op) => self.alone(op, scope),
                None => {}
            }
        }
        Ok(())
    }

    /// A loop over blocks: each has its part.
    fn block(&mut self, op: Op<'c>, axis: usize, scope: &Scope<'c>) -> Result<(), Errors> {
        let number = index(&self.place.blocks, &axis)?;
        self.walk(parallel::inline(op, number), scope)
    }

    /// A loop over threads: each has its part, if there is one.
    fn part(&mut self, op: Op<'c>, core: &Core, scope: &Scope<'c>) -> Result<(), Errors> {
        let inner = self.enter(op, core, scope)?;
        if is_simple(op) {
            self.wait_before(op, Effects::new(op), AccessScope::Others);
            return self.simple(op, inner);
        }
        let inside = take_out(op);
        // What other threads did further out is not this one's.
        self.is_others();
        self.walk(inside, &inner)?;
        self.is_others();
        Ok(())
    }

    fn is_others(&mut self) {
        self.since
            .iter_mut()
            .for_each(|(_, who)| *who = AccessScope::Others);
    }

    /// The thread's part of a loop: its index, and whether there is one.
    fn enter(&self, op: Op<'c>, core: &Core, scope: &Scope<'c>) -> Result<Scope<'c>, Errors> {
        let number = index(&self.place.threads, core)?;
        let is_within = self.is_within(op, core, number);
        let condition = guard::open(op, number);
        let own = both(&mut Builder::before(op), is_within, condition);
        let mut parts = scope.parts.clone();
        parts.extend(own.map(|own| (core.clone(), own)));
        let is_there = both(&mut Builder::before(op), scope.is_there, own);
        let mut rest = scope.rest.clone();
        rest.retain(|(other, _)| other != core);
        Ok(Scope {
            is_there,
            parts,
            rest,
        })
    }

    /// The condition that an index is that of a part, where the launch has more indices than a loop has parts.
    fn is_within(&self, op: Op<'c>, core: &Core, number: Val<'c>) -> Option<Val<'c>> {
        let mut extents = self.place.extents.iter();
        let (_, extent) = extents.find(|(known, _)| known == core)?;
        let parts = parts_of(op).filter(|parts| parts < extent)?;
        let mut builder = Builder::before(op);
        let parts = builder.index(parts);
        Some(builder.compare("slt", number, parts))
    }

    /// A part in which nobody waits: all of it stands under the condition.
    fn simple(&mut self, op: Op<'c>, scope: Scope<'c>) -> Result<(), Errors> {
        let inner = loops_inside(op).into_iter().next();
        let mut builder = Builder::before(op);
        let condition = match inner {
            None => self.condition(&mut builder, &scope),
            Some(_) => scope.is_there,
        };
        under(&take_out(op), condition);
        let Some((inner, core)) = inner else {
            return Ok(());
        };
        if is_block(&core) {
            return Err(vec![
                "has blocks inside of threads: expected blocks outside".into(),
            ]);
        }
        let around = Scope {
            is_there: None,
            parts: scope.parts,
            rest: scope.rest,
        };
        let scope = self.enter(inner, &core, &around)?;
        self.simple(inner, scope)
    }

    /// Returns whether a thread does what stands in a scope: it is the first one of the other axes.
    fn condition(&self, builder: &mut Builder<'c>, scope: &Scope<'c>) -> Option<Val<'c>> {
        let mut is_there = scope.is_there;
        for (_, index) in &scope.rest {
            let zero = builder.index(0);
            let is_first = builder.compare("eq", *index, zero);
            is_there = both(builder, is_there, Some(is_first));
        }
        is_there
    }

    /// Code that all threads go through, with parts of them inside: the same iterations.
    fn around(&mut self, op: Op<'c>, scope: &Scope<'c>) -> Result<(), Errors> {
        if is_all_cooperative(op) && !shares_wait(op) {
            self.wait_before(op, Effects::new(op), AccessScope::Others);
            for (inner, _) in loops_inside(op) {
                self.share(inner)?;
            }
            for inner in ir::all(op) {
                if ir::name_of(inner) == ops::mdh::COMPUTE && is_cooperative(inner) {
                    self.by_first(inner);
                }
            }
            return Ok(());
        }
        if !has_waits(op) {
            return self.independent_loop(op, scope);
        }
        let differs = |value: Val<'c>| depends_on(value, &self.place.own);
        if op.operands().map(ir::value).any(differs) {
            let level = parallel::level(op).map_or(String::new(), |level| format!(" '{level}'"));
            return Err(vec![format!(
                "has a loop{level} in which threads wait for each other, but that not all of them go \
                 through equally: expected it outside of the loops over threads, or in a dimension \
                 that threads do not share"
            )]);
        }
        if is_pipeline(op) {
            return self.pipeline(op, scope);
        }
        self.wait(op);
        for n in 0..op.region_count() {
            let region = ir::region(op, n);
            if melior::ir::RegionLike::first_block(&region).is_none() {
                continue;
            }
            let inside = region::block_of(region);
            let end = region::terminator(inside);
            let ops = ir::ops_of(inside).into_iter().filter(|op| *op != end);
            self.walk(ops.collect(), scope)?;
            self.wait(end);
        }
        Ok(())
    }

    /// A loop whose iterations begin with a wait for what the threads have copied: there all of them
    /// wait for each other.
    fn pipeline(&mut self, op: Op<'c>, scope: &Scope<'c>) -> Result<(), Errors> {
        // There may be no iteration.
        let before = self.since.clone();
        let inside = region::block_of(ir::region(op, 0));
        let end = region::terminator(inside);
        let ops = ir::ops_of(inside).into_iter().filter(|op| *op != end);
        self.walk(ops.collect(), scope)?;
        self.since.extend(before);
        Ok(())
    }

    /// A loop in which no thread needs what another one does.
    fn independent_loop(&mut self, op: Op<'c>, scope: &Scope<'c>) -> Result<(), Errors> {
        self.wait_before(op, Effects::new(op), AccessScope::Others);
        let since = std::mem::take(&mut self.since);
        let inside = (0..op.region_count()).map(|n| ir::region(op, n));
        let inside = inside.filter(|region| !ir::is_empty(*region));
        let inside: Vec<_> = inside.map(region::block_of).collect();
        for block in inside {
            let end = region::terminator(block);
            let ops = ir::ops_of(block).into_iter().filter(|op| *op != end);
            self.walk(ops.collect(), scope)?;
        }
        self.since = since;
        Ok(())
    }

    /// Combines the values of the threads of a warp, for the first of them.
    fn exchange(&mut self, op: Op<'c>, scope: &Scope<'c>) -> Result<(), Errors> {
        let found = lanes::level(op).and_then(|level| {
            let own = self
                .place
                .strides
                .iter()
                .find(|(core, ..)| *core == level)?;
            let index = index(&self.place.threads, &level).ok()?;
            Some((own.clone(), index))
        });
        let Some(((core, stride, parts), number)) = found else {
            let level = lanes::level(op).map_or(String::new(), |level| level.to_string());
            return Err(vec![format!(
                "combines results of threads of '{level}', which it has not: found {}, expected one of \
                 them",
                lanes_of(self.place)
            )]);
        };
        let mut rest = scope.clone();
        rest.rest.retain(|(other, _)| *other != core);
        let group = lanes::Group {
            number,
            stride,
            parts,
            is_there: self.condition(&mut Builder::before(op), &rest),
        };
        let first = lanes::combine(op, &group)?;
        self.alone(first, scope);
        Ok(())
    }

    /// Code that the threads of a warp execute at once: those that are not there, too.
    fn warp(&mut self, op: Op<'c>, scope: &Scope<'c>) -> Result<(), Errors> {
        self.wait_before(op, Effects::new(op), AccessScope::Each);
        if let Some((core, _)) = scope.rest.first() {
            return Err(vec![format!(
                "computes a product of matrices outside of the loop over '{core}': expected it inside \
                 of all loops over warps and threads"
            )]);
        }
        matrix::lower(op, self.place, &scope.parts)
    }

    /// Code that all threads of the block share: each has the part of its number, the innermost
    /// loop's parts being neighbours.
    fn cooperative(&mut self, op: Op<'c>) -> Result<(), Errors> {
        self.wait_before(op, Effects::new(op), AccessScope::Others);
        self.share(op)
    }

    fn share(&self, op: Op<'c>) -> Result<(), Errors> {
        let parts = shape(op);
        let all: i64 = parts.iter().product();
        if all > self.place.count {
            return Err(vec![format!(
                "shares {all} parts of a cooperative loop out to {} threads: expected at most one for \
                 each",
                self.place.count
            )]);
        }
        let mut condition = None;
        if all < self.place.count {
            let mut builder = Builder::before(op);
            let count_value = builder.index(all);
            condition = Some(builder.compare("slt", self.place.number, count_value));
        }
        self.share_loop(op, condition)
    }

    fn share_loop(&self, op: Op<'c>, outer: Option<Val<'c>>) -> Result<(), Errors> {
        let shape = shape(op);
        let inside: i64 = shape.iter().skip(1).product();
        let mut builder = Builder::before(op);
        let mut number = self.place.number;
        if inside > 1 {
            let inside = builder.index(inside);
            number = builder.binary(ops::arith::DIVUI, number, inside);
        }
        if let Some(own) = shape.first() {
            let stride_value = builder.index(*own);
            number = builder.binary(ops::arith::REMUI, number, stride_value);
        }
        let guarded = guard::open(op, number);
        let is_there = both(&mut builder, outer, guarded);
        let inner = loops_inside(op);
        let body_ops = take_out(op);
        under(&body_ops, is_there);
        inner
            .into_iter()
            .try_for_each(|(inner, _)| self.share_loop(inner, None))
    }

    /// Rule: what is cooperative, but in one part.
    fn once(&mut self, op: Op<'c>) {
        self.wait_before(op, Effects::new(op), AccessScope::Others);
        self.by_first(op);
    }

    fn by_first(&self, op: Op<'c>) {
        let mut builder = Builder::before(op);
        let zero = builder.index(0);
        let is_first = builder.compare("eq", self.place.number, zero);
        under(&[op], Some(is_first));
    }

    /// Rule: what the threads of a scope do, each alone.
    fn alone(&mut self, op: Op<'c>, scope: &Scope<'c>) {
        let who = match scope.rest.is_empty() {
            true => AccessScope::Each,
            false => AccessScope::Others,
        };
        self.wait_before(op, Effects::new(op), who);
        let condition = self.condition(&mut Builder::before(op), scope);
        under(&[op], condition);
    }

    /// Threads wait before something that may need what others have done.
    fn wait_before(&mut self, op: Op<'c>, effects: Effects<'c>, who: AccessScope) {
        let needs = |(other, by): &(Effects<'c>, AccessScope)| {
            let is_same = *by == AccessScope::Each && who == AccessScope::Each;
            !is_same && other.conflict(&effects)
        };
        if self.since.iter().any(needs) {
            self.wait(op);
        }
        self.since.push((effects, who));
    }

    /// Behind the wait for what they have copied, threads wait for each other: all have all of it.
    fn arrive(&mut self, wait: Op<'c>) {
        let barrier = Builder::before(wait).build(ops::gpu::BARRIER, &[], &[], &[], vec![]);
        // SAFETY: both are in the module.
        unsafe { mlirOperationMoveBefore(wait.to_raw(), barrier.to_raw()) }
        self.since.clear();
    }

    /// Threads wait, if something has been done.
    fn wait(&mut self, before: Op<'c>) {
        if !self.since.is_empty() {
            Builder::before(before).op(ops::gpu::BARRIER, &[], &[], &[]);
        }
        self.since.clear();
    }
}

/// The loops whose threads are lanes of a warp, in words.
fn lanes_of(place: &ThreadPosition) -> String {
    let texts: Vec<String> = place
        .strides
        .iter()
        .map(|(core, ..)| format!("'{core}'"))
        .collect();
    match texts.is_empty() {
        true => "no loops over threads".into(),
        false => format!("loops over {}", texts.join(" and ")),
    }
}

fn index<'c, A: PartialEq + std::fmt::Display>(
    all: &[(A, Val<'c>)],
    axis: &A,
) -> Result<Val<'c>, Errors> {
    let known_part = all.iter().find(|(known, _)| known == axis);
    known_part.map(|(_, index)| *index).ok_or_else(|| {
        vec![format!(
            "has blocks or threads of axis {axis} inside of loops: expected blocks outside of all else"
        )]
    })
}

/// Returns the conjunction of two conditions, if there are such.
fn both<'c>(builder: &mut Builder<'c>, a: Option<Val<'c>>, b: Option<Val<'c>>) -> Option<Val<'c>> {
    match (a, b) {
        (Some(a), Some(b)) => Some(builder.binary(ops::arith::ANDI, a, b)),
        (a, b) => a.or(b),
    }
}

/// Moves what is in a loop before it, which goes: its variable has a value.
fn take_out<'c>(op: Op<'c>) -> Vec<Op<'c>> {
    let body_ops = parallel::body(op);
    parallel::move_before(&body_ops, op);
    region::erase(op);
    body_ops
}

/// Puts operations that follow each other under a condition.
fn under<'c>(all: &[Op<'c>], condition: Option<Val<'c>>) {
    let (Some(condition), Some(first)) = (condition, all.first()) else {
        return;
    };
    let here = Builder::before(*first).marker();
    Builder::before(here).if_then(condition, |inner| {
        let end = inner.marker();
        parallel::move_before(all, end);
        region::erase(end);
    });
    region::erase(here);
}

fn is_loop(op: Op) -> bool {
    matches!(ir::name_of(op), ops::scf::FOR | ops::scf::IF)
}

/// Returns whether a thread waits for its asynchronous copies.
pub fn is_wait(op: Op) -> bool {
    ir::name_of(op) == copy_asynchronously::WAIT
}

/// Returns whether a loop's iterations begin with a wait for what was copied before.
fn is_pipeline(op: Op) -> bool {
    let is_for = ir::name_of(op) == ops::scf::FOR;
    let first = || {
        ir::ops_of(region::block_of(ir::region(op, 0)))
            .first()
            .copied()
    };
    is_for && first().is_some_and(is_wait)
}

/// Returns whether threads have parts of what is in an operation.
fn has_parts(op: Op) -> bool {
    let is_part = |op: &Op| Core::of(*op).is_some() || is_cooperative(*op);
    ir::all(op).iter().any(is_part) || is_of_warps(op)
}

/// Returns whether the threads of a warp have to be there at once for something in an operation.
fn is_of_warps(op: Op) -> bool {
    lanes::has_exchanges(op) || ir::all(op).into_iter().any(matrix::is_marked)
}

/// Returns whether all that is done in a loop is cooperative, and none of it is a block's part.
fn is_all_cooperative(op: Op) -> bool {
    let is_alone = |inner: &Op| {
        let does = matches!(
            ir::name_of(*inner),
            ops::mdh::COMPUTE | ops::memref::STORE | ops::memref::COPY
        );
        let mut around = ir::ancestors(*inner).take_while(|outer| *outer != op);
        does && !around.any(is_cooperative)
    };
    let ops = ir::all(op);
    !ops.iter()
        .any(|inner| is_alone(inner) || is_of_blocks(*inner))
}

/// Returns whether threads wait for each other between things that they share out in an operation: one of these needs
/// what another one does, of which other threads do other parts.
fn shares_wait(op: Op) -> bool {
    let effects: Vec<Effects> = shares(op).into_iter().map(Effects::new).collect();
    let mut pairs = (0..effects.len()).flat_map(|n| (0..n).map(move |before| (before, n)));
    pairs.any(|(before, n)| effects[before].conflict(&effects[n]))
        || ir::all(op).into_iter().any(is_wait)
}

/// The outermost loops and computations of an operation that threads share out.
fn shares(op: Op) -> Vec<Op> {
    let is_outermost = |inner: &Op| {
        let mut around = ir::ancestors(*inner).skip(1);
        around.find(|outer| *outer == op || is_cooperative(*outer)) == Some(op)
    };
    let ops = ir::all(op).into_iter().filter(|inner| *inner != op);
    ops.filter(|inner| is_cooperative(*inner) && is_outermost(inner))
        .collect()
}

/// Returns whether threads wait for each other in a loop: where something is cooperative, or one needs what
/// another one does.
fn has_waits(op: Op) -> bool {
    let effects = Effects::new(op);
    let is_cooperative = ir::all(op).into_iter().any(is_cooperative);
    is_cooperative || is_of_warps(op) || effects.conflict(&effects)
}

/// Returns whether threads need not wait within a part: nothing is cooperative, and nothing beside
/// loops over other axes.
fn is_simple(op: Op) -> bool {
    if ir::all(op).into_iter().any(is_cooperative) || is_of_warps(op) {
        return false;
    }
    let inner = loops_inside(op);
    let [(inner, _)] = inner[..] else {
        return inner.is_empty();
    };
    let body = guard::body(op);
    let mut rest = body.iter().filter(|other| **other != inner);
    body.contains(&inner) && !rest.any(|op| has_effects(*op)) && is_simple(inner)
}

/// The parallel loops in an operation, but those inside of others again.
fn loops_inside<'c>(op: Op<'c>) -> Vec<(Op<'c>, Core)> {
    let foralls = ir::find_all(op, &[FORALL]).into_iter();
    let directly = |inner: &Op<'c>| {
        let mut around = ir::ancestors(*inner).skip(1);
        around.find(|other| *other == op || Core::of(*other).is_some()) == Some(op)
    };
    let foralls = foralls.filter(|inner| *inner != op && directly(inner));
    foralls
        .filter_map(|inner| Some((inner, Core::of(inner)?)))
        .collect()
}

/// The parts of nested loops, outermost first.
pub fn shape(op: Op) -> Vec<i64> {
    let mut counts = vec![parts_of(op).unwrap_or(1)];
    if let Some((inner, _)) = loops_inside(op).first() {
        counts.extend(shape(*inner));
    }
    counts
}
