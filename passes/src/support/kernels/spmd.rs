//! The code of a block, as each of its threads runs it.
//!
//! A loop over threads becomes its part of the thread that runs the code (*divergent* code, under a predicate). Code
//! outside of the loops over some axes is for the *elected* thread, the first one of those axes. What is *cooperative*
//! is distributed over the threads' numbers in the block, whatever their own loops are. Products of matrices and
//! reductions by shuffles are *convergent*: all threads of a warp execute them together. Loops and branches with a
//! *barrier* inside have to be *uniform*: all threads of the block go through the same iterations. A barrier stands
//! where a thread may need what another one has done.

use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::ops;
use melior::ir::operation::OperationLike;
use mlir_sys::mlirOperationMoveBefore;

use super::cores::{is_block, is_cooperative, is_of_blocks, parts_of};
use super::effects::{Effects, depends_on, has_effects};
use super::{guard, matrix, shuffles};
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
    pub divergent: Vec<Val<'c>>,
}

/// The threads that run some code.
#[derive(Clone)]
struct Scope<'c> {
    /// Condition that this thread is among them; all are if there is none.
    predicate: Option<Val<'c>>,
    /// Conditions that it is among those of each loop around in which some may not be.
    conditions: Vec<(Core, Val<'c>)>,
    /// The axes whose loops are further in.
    inner_axes: Vec<(Core, Val<'c>)>,
}

/// The threads that access memory.
#[derive(Clone, Copy, PartialEq)]
enum AccessScope {
    /// Each thread accesses its own part.
    OwnThread,
    /// Other threads than those that need it access it.
    OtherThreads,
}

/// Walk through the code of a block, which places barriers.
pub struct Walk<'p, 'c> {
    place: &'p ThreadPosition<'c>,
    /// Effects since the last barrier.
    since_barrier: Vec<(Effects<'c>, AccessScope)>,
}

/// Replaces the parallel loops of a block's code.
pub fn lower<'c>(code: Vec<Op<'c>>, place: &ThreadPosition<'c>) -> Result<(), Errors> {
    let scope = Scope {
        predicate: None,
        conditions: Vec::new(),
        inner_axes: place.threads.clone(),
    };
    let mut walk = Walk {
        place,
        since_barrier: Vec::new(),
    };
    walk.walk(code, &scope)
}

impl<'c> Walk<'_, 'c> {
    fn walk(&mut self, code: Vec<Op<'c>>, scope: &Scope<'c>) -> Result<(), Errors> {
        for op in code {
            let name = ir::name_of(op);
            match Core::read(op) {
                Some(core) if is_block(&core) => self.block_loop(op, core.axis, scope)?,
                Some(_) if is_cooperative(op) => self.cooperative_loop(op)?,
                Some(core) => self.thread_loop(op, &core, scope)?,
                None if shuffles::level(op).is_some() => self.warp_reduce(op, scope)?,
                None if matrix::is_marked(op) => self.convergent(op, scope)?,
                None if is_cooperative(op) => self.elect(op),
                None if is_copy_wait(op) => self.barrier_after_copies(op),
                None if is_loop(op) && has_thread_parts(op) => self.uniform(op, scope)?,
                None if name == ops::memref::ALLOC || name == ops::memref::DEALLOC => {
                    return Err(vec![format!(
                        "has '{name}' in it, of a size that is not known: expected tiles of known \
                         sizes inside of blocks"
                    )]);
                }
                None if has_effects(op) => self.divergent(op, scope),
                None => {}
            }
        }
        Ok(())
    }

    /// A loop over blocks: each has its part.
    fn block_loop(&mut self, op: Op<'c>, axis: usize, scope: &Scope<'c>) -> Result<(), Errors> {
        let number = index(&self.place.blocks, &axis)?;
        self.walk(parallel::inline(op, number), scope)
    }

    /// A loop over threads: each has its part, if there is one.
    fn thread_loop(&mut self, op: Op<'c>, core: &Core, scope: &Scope<'c>) -> Result<(), Errors> {
        let inner = self.enter_loop(op, core, scope)?;
        if is_barrier_free_part(op) {
            self.barrier_before(op, Effects::new(op), AccessScope::OtherThreads);
            return self.predicated_loop(op, inner);
        }
        let inside = inline_body(op);
        // Outside of the loop, another thread may have the same part.
        self.mark_as_foreign();
        self.walk(inside, &inner)?;
        self.mark_as_foreign();
        Ok(())
    }

    fn mark_as_foreign(&mut self) {
        self.since_barrier
            .iter_mut()
            .for_each(|(_, who)| *who = AccessScope::OtherThreads);
    }

    /// Enters a loop over threads: its variable becomes the thread's index, under the predicate that there is one.
    fn enter_loop(&self, op: Op<'c>, core: &Core, scope: &Scope<'c>) -> Result<Scope<'c>, Errors> {
        let number = index(&self.place.threads, core)?;
        let is_within = self.bound_check(op, core, number);
        let condition = guard::open(op, number);
        let is_active = conjunction(&mut Builder::before(op), is_within, condition);
        let mut conditions = scope.conditions.clone();
        conditions.extend(is_active.map(|is_active| (core.clone(), is_active)));
        let is_there = conjunction(&mut Builder::before(op), scope.predicate, is_active);
        let mut inner_axes = scope.inner_axes.clone();
        inner_axes.retain(|(other, _)| other != core);
        Ok(Scope {
            predicate: is_there,
            conditions,
            inner_axes,
        })
    }

    /// The bound check of a thread's index, where the launch has more threads in an axis than a loop has parts.
    fn bound_check(&self, op: Op<'c>, core: &Core, number: Val<'c>) -> Option<Val<'c>> {
        let mut extents = self.place.extents.iter();
        let (_, extent) = extents.find(|(known, _)| known == core)?;
        let parts = parts_of(op).filter(|parts| parts < extent)?;
        let mut builder = Builder::before(op);
        let parts = builder.index(parts);
        Some(builder.compare("slt", number, parts))
    }

    /// A part without barriers: all of it stands under the predicate.
    fn predicated_loop(&mut self, op: Op<'c>, scope: Scope<'c>) -> Result<(), Errors> {
        let inner = loops_inside(op).into_iter().next();
        let mut builder = Builder::before(op);
        let condition = match inner {
            None => self.is_elected(&mut builder, &scope),
            Some(_) => scope.predicate,
        };
        predicate(&inline_body(op), condition);
        let Some((inner, core)) = inner else {
            return Ok(());
        };
        if is_block(&core) {
            return Err(vec![
                "has blocks inside of threads: expected blocks outside".into(),
            ]);
        }
        let around = Scope {
            predicate: None,
            conditions: scope.conditions,
            inner_axes: scope.inner_axes,
        };
        let scope = self.enter_loop(inner, &core, &around)?;
        self.predicated_loop(inner, scope)
    }

    /// The condition that a thread is elected for a scope's code: the first one of the axes whose loops are further in.
    fn is_elected(&self, builder: &mut Builder<'c>, scope: &Scope<'c>) -> Option<Val<'c>> {
        let mut is_there = scope.predicate;
        for (_, index) in &scope.inner_axes {
            let zero = builder.index(0);
            let is_first = builder.compare("eq", *index, zero);
            is_there = conjunction(builder, is_there, Some(is_first));
        }
        is_there
    }

    /// A loop or branch with thread-dependent parts inside: uniform, if it has barriers.
    fn uniform(&mut self, op: Op<'c>, scope: &Scope<'c>) -> Result<(), Errors> {
        if is_all_cooperative(op) && !has_barriers_between_shares(op) {
            self.barrier_before(op, Effects::new(op), AccessScope::OtherThreads);
            for (inner, _) in loops_inside(op) {
                self.distribute(inner)?;
            }
            for inner in ir::all(op) {
                if ir::name_of(inner) == ops::mdh::COMPUTE && is_cooperative(inner) {
                    self.by_elected(inner);
                }
            }
            return Ok(());
        }
        if !has_barriers(op) {
            return self.barrier_free_loop(op, scope);
        }
        let differs = |value: Val<'c>| depends_on(value, &self.place.divergent);
        if op.operands().map(ir::value).any(differs) {
            let level = parallel::level(op).map_or(String::new(), |level| format!(" '{level}'"));
            return Err(vec![format!(
                "has a loop{level} in which threads wait for each other, but that not all of them go \
                 through equally: expected it outside of the loops over threads, or in a dimension \
                 that threads do not share"
            )]);
        }
        if is_pipelined(op) {
            return self.pipelined_loop(op, scope);
        }
        self.barrier(op);
        for n in 0..op.region_count() {
            let region = ir::region(op, n);
            if melior::ir::RegionLike::first_block(&region).is_none() {
                continue;
            }
            let inside = region::block_of(region);
            let end = region::terminator(inside);
            let ops = ir::ops_of(inside).into_iter().filter(|op| *op != end);
            self.walk(ops.collect(), scope)?;
            self.barrier(end);
        }
        Ok(())
    }

    /// A loop whose iterations begin with a wait for asynchronous copies: there is its barrier.
    fn pipelined_loop(&mut self, op: Op<'c>, scope: &Scope<'c>) -> Result<(), Errors> {
        // There may be no iteration.
        let before = self.since_barrier.clone();
        let inside = region::block_of(ir::region(op, 0));
        let end = region::terminator(inside);
        let ops = ir::ops_of(inside).into_iter().filter(|op| *op != end);
        self.walk(ops.collect(), scope)?;
        self.since_barrier.extend(before);
        Ok(())
    }

    /// A loop without barriers: no thread needs what another one does.
    fn barrier_free_loop(&mut self, op: Op<'c>, scope: &Scope<'c>) -> Result<(), Errors> {
        self.barrier_before(op, Effects::new(op), AccessScope::OtherThreads);
        let since = std::mem::take(&mut self.since_barrier);
        let inside = (0..op.region_count()).map(|n| ir::region(op, n));
        let inside = inside.filter(|region| !ir::is_empty(*region));
        let inside: Vec<_> = inside.map(region::block_of).collect();
        for block in inside {
            let end = region::terminator(block);
            let ops = ir::ops_of(block).into_iter().filter(|op| *op != end);
            self.walk(ops.collect(), scope)?;
        }
        self.since_barrier = since;
        Ok(())
    }

    /// Reduces values over lanes of a warp by shuffles, for the first lane.
    fn warp_reduce(&mut self, op: Op<'c>, scope: &Scope<'c>) -> Result<(), Errors> {
        let located = shuffles::level(op).and_then(|level| {
            let row = self
                .place
                .strides
                .iter()
                .find(|(core, ..)| *core == level)?;
            let index = index(&self.place.threads, &level).ok()?;
            Some((row.clone(), index))
        });
        let Some(((core, stride, parts), number)) = located else {
            let level = shuffles::level(op).map_or(String::new(), |level| level.to_string());
            return Err(vec![format!(
                "combines results of threads of '{level}', which it has not: found {}, expected one of \
                 them",
                lanes_of(self.place)
            )]);
        };
        let mut group_scope = scope.clone();
        group_scope.inner_axes.retain(|(other, _)| *other != core);
        let group = shuffles::Group {
            number,
            stride,
            parts,
            is_there: self.is_elected(&mut Builder::before(op), &group_scope),
        };
        let first = shuffles::combine(op, &group)?;
        self.divergent(first, scope);
        Ok(())
    }

    /// Convergent code: all threads of a warp execute it, those without a part, too.
    fn convergent(&mut self, op: Op<'c>, scope: &Scope<'c>) -> Result<(), Errors> {
        self.barrier_before(op, Effects::new(op), AccessScope::OwnThread);
        if let Some((core, _)) = scope.inner_axes.first() {
            return Err(vec![format!(
                "computes a product of matrices outside of the loop over '{core}': expected it inside \
                 of all loops over warps and threads"
            )]);
        }
        matrix::lower(op, self.place, &scope.conditions)
    }

    /// A loop that is distributed over all threads of the block, by their numbers: neighbours have neighbouring parts
    /// of the innermost loop.
    fn cooperative_loop(&mut self, op: Op<'c>) -> Result<(), Errors> {
        self.barrier_before(op, Effects::new(op), AccessScope::OtherThreads);
        self.distribute(op)
    }

    fn distribute(&self, op: Op<'c>) -> Result<(), Errors> {
        let parts = shape(op);
        let count: i64 = parts.iter().product();
        if count > self.place.count {
            return Err(vec![format!(
                "shares {count} parts of a cooperative loop out to {} threads: expected at most one for \
                 each",
                self.place.count
            )]);
        }
        let mut condition = None;
        if count < self.place.count {
            let mut builder = Builder::before(op);
            let count_value = builder.index(count);
            condition = Some(builder.compare("slt", self.place.number, count_value));
        }
        self.distribute_loop(op, condition)
    }

    fn distribute_loop(&self, op: Op<'c>, outer: Option<Val<'c>>) -> Result<(), Errors> {
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
        let is_there = conjunction(&mut builder, outer, guarded);
        let inner = loops_inside(op);
        let body_ops = inline_body(op);
        predicate(&body_ops, is_there);
        inner
            .into_iter()
            .try_for_each(|(inner, _)| self.distribute_loop(inner, None))
    }

    /// Cooperative code in one part: one thread of the block is elected.
    fn elect(&mut self, op: Op<'c>) {
        self.barrier_before(op, Effects::new(op), AccessScope::OtherThreads);
        self.by_elected(op);
    }

    fn by_elected(&self, op: Op<'c>) {
        let mut builder = Builder::before(op);
        let zero = builder.index(0);
        let is_first = builder.compare("eq", self.place.number, zero);
        predicate(&[op], Some(is_first));
    }

    /// Divergent code: each thread of a scope executes it for itself.
    fn divergent(&mut self, op: Op<'c>, scope: &Scope<'c>) {
        let who = match scope.inner_axes.is_empty() {
            true => AccessScope::OwnThread,
            false => AccessScope::OtherThreads,
        };
        self.barrier_before(op, Effects::new(op), who);
        let condition = self.is_elected(&mut Builder::before(op), scope);
        predicate(&[op], condition);
    }

    /// Puts a barrier before an operation that may need what other threads have done since the last one.
    fn barrier_before(&mut self, op: Op<'c>, effects: Effects<'c>, who: AccessScope) {
        let needs = |(other, by): &(Effects<'c>, AccessScope)| {
            let is_same = *by == AccessScope::OwnThread && who == AccessScope::OwnThread;
            !is_same && other.conflict(&effects)
        };
        if self.since_barrier.iter().any(needs) {
            self.barrier(op);
        }
        self.since_barrier.push((effects, who));
    }

    /// Puts a barrier behind a thread's wait for its own copies: then all copies have arrived.
    fn barrier_after_copies(&mut self, wait: Op<'c>) {
        let barrier = Builder::before(wait).build(ops::gpu::BARRIER, &[], &[], &[], vec![]);
        // SAFETY: both are in the module.
        unsafe { mlirOperationMoveBefore(wait.to_raw(), barrier.to_raw()) }
        self.since_barrier.clear();
    }

    /// Puts a barrier, if something has been done since the last one.
    fn barrier(&mut self, before: Op<'c>) {
        if !self.since_barrier.is_empty() {
            Builder::before(before).op(ops::gpu::BARRIER, &[], &[], &[]);
        }
        self.since_barrier.clear();
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
fn conjunction<'c>(
    builder: &mut Builder<'c>,
    a: Option<Val<'c>>,
    b: Option<Val<'c>>,
) -> Option<Val<'c>> {
    match (a, b) {
        (Some(a), Some(b)) => Some(builder.binary(ops::arith::ANDI, a, b)),
        (a, b) => a.or(b),
    }
}

/// Moves the body of a loop before it, and erases the loop, whose variable has a value.
fn inline_body<'c>(op: Op<'c>) -> Vec<Op<'c>> {
    let body_ops = parallel::body(op);
    parallel::move_before(&body_ops, op);
    region::erase(op);
    body_ops
}

/// Puts operations that follow each other under a predicate.
fn predicate<'c>(all: &[Op<'c>], condition: Option<Val<'c>>) {
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
pub fn is_copy_wait(op: Op) -> bool {
    ir::name_of(op) == copy_asynchronously::WAIT
}

/// Returns whether a loop's iterations begin with a wait for what was copied before.
fn is_pipelined(op: Op) -> bool {
    let is_for = ir::name_of(op) == ops::scf::FOR;
    let first = || {
        ir::ops_of(region::block_of(ir::region(op, 0)))
            .first()
            .copied()
    };
    is_for && first().is_some_and(is_copy_wait)
}

/// Returns whether threads have parts of what is in an operation, or elect one of them for it.
fn has_thread_parts(op: Op) -> bool {
    let is_part = |op: &Op| Core::read(*op).is_some() || is_cooperative(*op);
    ir::all(op).iter().any(is_part) || is_convergent(op)
}

/// Returns whether an operation holds convergent code.
fn is_convergent(op: Op) -> bool {
    shuffles::has_exchanges(op) || ir::all(op).into_iter().any(matrix::is_marked)
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

/// Returns whether an operation needs a barrier between things that are distributed: one needs what another one does,
/// of which other threads do other parts.
fn has_barriers_between_shares(op: Op) -> bool {
    let effects: Vec<Effects> = shares(op).into_iter().map(Effects::new).collect();
    let mut pairs = (0..effects.len()).flat_map(|n| (0..n).map(move |before| (before, n)));
    pairs.any(|(before, n)| effects[before].conflict(&effects[n]))
        || ir::all(op).into_iter().any(is_copy_wait)
}

/// The outermost loops and computations of an operation that are distributed.
fn shares(op: Op) -> Vec<Op> {
    let is_outermost = |inner: &Op| {
        let mut around = ir::ancestors(*inner).skip(1);
        around.find(|outer| *outer == op || is_cooperative(*outer)) == Some(op)
    };
    let ops = ir::all(op).into_iter().filter(|inner| *inner != op);
    ops.filter(|inner| is_cooperative(*inner) && is_outermost(inner))
        .collect()
}

/// Returns whether a loop needs a barrier: something is cooperative or convergent, or a thread needs what another one
/// does.
fn has_barriers(op: Op) -> bool {
    let effects = Effects::new(op);
    let is_cooperative = ir::all(op).into_iter().any(is_cooperative);
    is_cooperative || is_convergent(op) || effects.conflict(&effects)
}

/// Returns whether a part needs no barrier: nothing is cooperative, and nothing stands beside loops over other axes.
fn is_barrier_free_part(op: Op) -> bool {
    if ir::all(op).into_iter().any(is_cooperative) || is_convergent(op) {
        return false;
    }
    let inner = loops_inside(op);
    let [(inner, _)] = inner[..] else {
        return inner.is_empty();
    };
    let body = guard::body(op);
    let mut rest = body.iter().filter(|other| **other != inner);
    body.contains(&inner) && !rest.any(|op| has_effects(*op)) && is_barrier_free_part(inner)
}

/// The parallel loops in an operation, but those inside of others again.
fn loops_inside<'c>(op: Op<'c>) -> Vec<(Op<'c>, Core)> {
    let foralls = ir::find_all(op, &[FORALL]).into_iter();
    let directly = |inner: &Op<'c>| {
        let mut around = ir::ancestors(*inner).skip(1);
        around.find(|other| *other == op || Core::read(*other).is_some()) == Some(op)
    };
    let foralls = foralls.filter(|inner| *inner != op && directly(inner));
    foralls
        .filter_map(|inner| Some((inner, Core::read(inner)?)))
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
