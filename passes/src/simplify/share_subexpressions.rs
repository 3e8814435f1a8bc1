//! `mdh-share-subexpressions`: common subexpressions of several computations at the same points
//! become a computation of their own, where the model then computes that tile by tile of theirs.
//!
//! ```mlir
//! func.func @f(%x: memref<4096x4096xf32>, %y: memref<4096x4096xf32>) {
//!   %s = memref.alloc() : memref<4096xf32>
//!   mdh.compute (i = 4096, j = 4096)
//!     out_view(s = %s[i] : memref<4096xf32>)
//!     md_hom((%x_ij: f32) {
//!       %e = math.exp %x_ij : f32
//!       mdh.yield %e : f32
//!     }, (cc, pw(addf)))
//!     inp_view(x = %x[i, j] : memref<4096x4096xf32>)
//!   mdh.compute (i = 4096, j = 4096)
//!     out_view(y = %y[i, j] : memref<4096x4096xf32>)
//!     md_hom((%x_ij: f32, %s_i: f32) {
//!       %e = math.exp %x_ij : f32
//!       %q = arith.divf %e, %s_i : f32
//!       mdh.yield %q : f32
//!     }, (cc, cc))
//!     inp_view(x = %x[i, j] : memref<4096x4096xf32>, s = %s[i] : memref<4096xf32>)
//!   memref.dealloc %s : memref<4096xf32>
//!   return
//! }
//! // becomes
//! func.func @f(%x: memref<4096x4096xf32>, %y: memref<4096x4096xf32>) {
//!   %s = memref.alloc() : memref<4096xf32>
//!   %e = memref.alloc() {alignment = 64 : i64} : memref<4096x4096xf32>
//!   mdh.compute (i = 4096, j = 4096)
//!     out_view(exp = %e[i, j] : memref<4096x4096xf32>)
//!     md_hom((%x_ij: f32) {
//!       %exp = math.exp %x_ij : f32
//!       mdh.yield %exp : f32
//!     }, (cc, cc))
//!     inp_view(x = %x[i, j] : memref<4096x4096xf32>)
//!   mdh.compute (i = 4096, j = 4096)
//!     out_view(s = %s[i] : memref<4096xf32>)
//!     md_hom(id, (cc, pw(addf)))
//!     inp_view(exp = %e[i, j] : memref<4096x4096xf32>)
//!   mdh.compute (i = 4096, j = 4096)
//!     out_view(y = %y[i, j] : memref<4096x4096xf32>)
//!     md_hom((%s_i: f32, %exp: f32) {
//!       %q = arith.divf %exp, %s_i : f32
//!       mdh.yield %q : f32
//!     }, (cc, cc))
//!     inp_view(s = %s[i] : memref<4096xf32>, exp = %e[i, j] : memref<4096x4096xf32>)
//!   memref.dealloc %e : memref<4096x4096xf32>
//!   memref.dealloc %s : memref<4096xf32>
//!   return
//! }
//! ```
//!
//! The law: for computations with scalar functions `f(h(p), ..)` and `g(h(p), ..)` over the same
//! domain, up to the order of its dimensions, these are functions of `e[p] = h(p)`. It pays where
//! `h` costs more than to store and load its result, and where no more of that than a tile is ever
//! in memory, or all of it stays in the caches: else it is evaluated again, and so is what
//! little arithmetic evaluates. Which it is, the model is asked, on a copy of the
//! function. A computation with a schedule stays what that goes by.
//!
//! Whoever has schedules for all of these computations gives them to the function, by name: `mdh.schedules`. What is
//! made has the name of the operation that it ends with, such as `exp`, and is made without a reason then.

mod equal;
mod named;
mod rewrite;

use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::pass::{Options, Pass, emit_all};
use mdh_dialect::{read, schedule, types};
use mdh_schedule::Facts;
use mdh_schedule::asm::Asm;
use melior::ir::ValueLike;
use melior::ir::operation::Operation;
use mlir_sys::mlirOperationClone;

use crate::support::builder::Builder;
use crate::support::machine;
use crate::support::names::fresh;
use crate::support::region;
use crate::tile;
use crate::tile::schedule::Chosen;
use equal::Subexpression;
pub(crate) use equal::cost;
pub use named::{may_be_common, may_share};

/// The fewest points that are worth loops of their own where nothing is fused.
const POINTS: i64 = 4096;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-share-subexpressions",
    description: "compute once what several mdh.compute evaluate at the same points",
    operation: ops::builtin::MODULE,
    options: tile::schedule::OPTIONS,
    run,
};

fn run(module: Op, options: &Options) -> Result<(), Errors> {
    let (asm, grain) = (
        machine::from_options(options)?,
        tile::schedule::grain(options)?,
    );
    self::share(module, &asm, grain).or_else(|(op, errors)| emit_all(op, errors))
}

/// Shares subexpressions where that pays on a machine on which points are worth a thread from
/// `grain` of them on.
pub fn share<'c>(module: Op<'c>, asm: &Asm, grain: i64) -> Result<(), (Op<'c>, Errors)> {
    for function in ir::find_all(module, &[ops::func::FUNC]) {
        named::give(function)?;
        let choices = |function| {
            let computations = ir::find_all(function, &[ops::mdh::COMPUTE]);
            tile::schedule::choices(&computations, asm, grain).unwrap_or_default()
        };
        let (mut number, mut before) = (0, None);
        loop {
            let all_subexpressions = subexpressions(function)?;
            let Some(found) = all_subexpressions.get(number) else {
                break;
            };
            let chosen = before.get_or_insert_with(|| choices(function));
            if pays(function, number, chosen, asm, grain) {
                rewrite::share(found, &names(function, &all_subexpressions)[number]);
                before = None;
                continue;
            }
            let (op, value) = (found.uses[0].op, found.name());
            let text = format!(
                "'{value}' is evaluated again in '{}': as a computation of its own it would stay \
                 neither in tiles of its readers nor in the caches",
                schedule::name(found.uses[1].op)
            );
            ir::remark_at(op, &text);
            number += 1;
        }
    }
    Ok(())
}

/// Finds the common subexpressions of a function's computations, in the order of the program.
fn subexpressions<'c>(function: Op<'c>) -> Result<Vec<Subexpression<'c>>, (Op<'c>, Errors)> {
    let computations = ir::find_all(function, &[ops::mdh::COMPUTE]).into_iter();
    let computations = computations.map(|op| {
        let parts = read::compute(op).map_err(|errors| (op, errors))?;
        Ok((op, parts))
    });
    Ok(equal::subexpressions(
        &computations.collect::<Result<Vec<_>, _>>()?,
    ))
}

/// The names of computations of these subexpressions, if each were one: of the operation that it ends with, as
/// no computation is called, none of its own dimensions and inputs, and none that is made before it.
fn names(function: Op, of: &[Subexpression]) -> Vec<String> {
    let mut taken = named::own_names(function);
    let name = |one: &Subexpression| {
        let parts = &one.uses[0].parts;
        let is_own = |name: &str| {
            let mut dims = parts.dims.iter().map(|dim| &dim.name);
            dims.any(|own| own == name) || parts.inputs.iter().any(|input| input.name == name)
        };
        let is_taken = |name: &str| is_own(name) || taken.iter().any(|own| own == name);
        let name = fresh(one.name(), is_taken);
        taken.push(name.clone());
        name
    };
    of.iter().map(name).collect()
}

/// Returns whether the subexpression with a number, as a computation of its own, is computed at a tile of
/// those that read it, or stays in the caches where nothing is; `before` is what the model chooses
/// without it.
fn pays(function: Op, number: usize, before: &[Chosen], asm: &Asm, grain: i64) -> bool {
    // SAFETY: the clone is new and goes to the builder.
    let clone = unsafe { Operation::from_raw(mlirOperationClone(function.to_raw())) };
    let clone = Builder::before(function).insert(clone);
    let pays = || {
        let expressions = subexpressions(clone).ok()?;
        let name = names(clone, &expressions).into_iter().nth(number)?;
        let shared = rewrite::share(expressions.get(number)?, &name)?;
        let computations = ir::find_all(clone, &[ops::mdh::COMPUTE]);
        let after = tile::schedule::choices(&computations, asm, grain).ok()?;
        let is_fused = |(_, choice): &Chosen| {
            let at = choice.as_ref().map(|choice| &choice.schedule.compute_at);
            at.is_some_and(|at| at.is_some())
        };
        Some(match before.iter().chain(&after).any(is_fused) {
            true => is_in_tiles(shared, &after),
            false => is_small(shared, Facts::new(asm)?.l2),
        })
    };
    let pays = pays().unwrap_or(false);
    region::erase(clone);
    pays
}

/// Returns whether memory stays in the second-level cache between its writer and its readers, and is large
/// enough to be worth its own loops.
fn is_small(memory: Val, l2: i64) -> bool {
    let Some(ty) = types::buffer_type(memory.r#type()) else {
        return false;
    };
    let elements = ty
        .shape
        .iter()
        .try_fold(1i64, |all, n| all.checked_mul((*n)?));
    let bytes = ty.element.byte_width() as i64;
    elements.is_some_and(|n| n >= POINTS && n.saturating_mul(bytes) <= l2 / 2)
}

/// Returns whether some memory is written and read in tiles of one computation only.
fn is_in_tiles<'c>(memory: Val<'c>, chosen: &[Chosen<'c>]) -> bool {
    let users = ir::users(memory);
    let consumers = chosen.iter().filter(|(op, _)| users.contains(op));
    let places = consumers.map(|(op, choice)| {
        let at = choice.as_ref()?.schedule.compute_at.clone();
        Some((schedule::name(*op), at.map(|at| at.consumer)))
    });
    let Some(places) = places.collect::<Option<Vec<_>>>() else {
        return false;
    };
    let Some((_, Some(consumer))) = places.first() else {
        return false;
    };
    let is_there = |(name, at): &(String, Option<String>)| {
        at.as_ref() == Some(consumer) || (at.is_none() && name == consumer)
    };
    places.iter().all(is_there)
}
