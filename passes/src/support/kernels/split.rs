//! Loops over blocks one after the other, where blocks would have to wait for each other.
//!
//! ```mlir
//! // mdh-opt --mdh-map-kernels --canonicalize
//! func.func @f(%m: index, %n: index) {
//!   %parts = gpu.alloc (%m, %n) : memref<?x?xf32>
//!   %sums = gpu.alloc (%m) : memref<?xf32>
//!   %one = arith.constant 1.0 : f32
//!   scf.forall (%i) in (%m) {
//!     scf.forall (%k) in (%n) {
//!       memref.store %one, %parts[%i, %k] : memref<?x?xf32>
//!     } {mapping = [#gpu.block<y>]}
//!     %c0 = arith.constant 0 : index
//!     %first = memref.load %parts[%i, %c0] : memref<?x?xf32> // needs the parts of all %k
//!     memref.store %first, %sums[%i] : memref<?xf32>
//!   } {mapping = [#gpu.block<x>]}
//!   return
//! }
//! // becomes
//! gpu.launch blocks(%i, %k, %z) in (%gx = %m, %gy = %n, %gz = %c1) ..
//!   memref.store %one, %parts[%i, %k] : memref<?x?xf32>
//!   ..
//! gpu.launch blocks(%j, %y, %w) in (%hx = %m, %hy = %c1, %hz = %c1) ..
//!   memref.store %first, %sums[%j] : memref<?xf32>
//! ```
//!
//! Blocks of one launch never wait for each other; those of the next one find all of it done. The
//! iterations of a parallel loop are independent, so that all of one part may come before any of
//! the next.

use mdh_dialect::ir::{self, Errors, Op};
use mdh_dialect::{memory, ops};
use melior::ir::ValueLike;
use melior::ir::operation::OperationLike;

use super::cores::is_of_blocks;
use super::effects::has_effects;
use super::guard;
use crate::support::region;

/// Splits the loops over blocks of a nest; returns its parts.
pub fn lower<'c>(nest: Op<'c>) -> Result<Vec<Op<'c>>, Errors> {
    // Innermost first: a split inside makes several parts of its surroundings.
    for op in guard::body(nest) {
        if is_of_blocks(op) {
            lower(op)?;
        }
    }
    let parts = parts(nest);
    if parts.len() < 2 {
        return Ok(vec![nest]);
    }
    for part in &parts {
        refuse_escaping_values(part)?;
    }
    for op in guard::body(nest) {
        let is_memory = ir::name_of(op).starts_with(ops::memref::ALLOC);
        let users = parts.iter().filter(|part| uses(part, op)).count();
        if is_memory && users > 1 {
            return Err(vec![
                "keeps memory of a block until other blocks are done: expected memory of the device"
                    .into(),
            ]);
        }
    }
    let mut copies = Vec::new();
    for n in 0..parts.len() {
        let copy = region::copy_before(nest, nest);
        // The same operations, as they stand in the copy.
        let parts_in_copy = parts_of_copy(&parts, nest, copy);
        for (other, part) in parts_in_copy.iter().enumerate().rev() {
            if other != n {
                part.iter().rev().for_each(|op| region::erase(*op));
            }
        }
        copies.push(copy);
    }
    region::erase(nest);
    Ok(copies)
}

/// Cuts a body where a loop over blocks starts or ends: each such loop is a part, and so is the
/// code between two of them. Pure computations belong to all.
fn parts<'c>(nest: Op<'c>) -> Vec<Vec<Op<'c>>> {
    let ops = guard::body(nest);
    if !ops.iter().any(|op| is_of_blocks(*op)) {
        return Vec::new();
    }
    let mut parts: Vec<Vec<Op>> = Vec::new();
    let mut is_open = false;
    for op in ops {
        let starts = is_of_blocks(op);
        if !starts && !has_effects(op) {
            continue;
        }
        match parts.last_mut() {
            Some(last) if is_open && !starts => last.push(op),
            _ => parts.push(vec![op]),
        }
        is_open = !starts;
    }
    parts
}

/// Fails if something else needs what a part gives beside memory, which the next launch has not.
fn refuse_escaping_values(part: &[Op]) -> Result<(), Errors> {
    let is_inside = |user: Op| ir::ancestors(user).any(|op| part.contains(&op));
    let results = part.iter().flat_map(|op| op.results());
    for value in results.map(ir::value) {
        if !ir::users(value).into_iter().all(is_inside) {
            return Err(vec![format!(
                "hands a value of type {} from one part of a block to what waits for other blocks: \
                 expected memory",
                value.r#type()
            )]);
        }
    }
    Ok(())
}

/// Returns whether a part uses what an operation gives, or what is seen of it.
fn uses(part: &[Op], op: Op) -> bool {
    let users = op.results().map(ir::value).flat_map(ir::users);
    users.into_iter().any(|user| {
        let is_inside = ir::ancestors(user).any(|op| part.contains(&op));
        is_inside || memory::is_view(ir::name_of(user)) && uses(part, user)
    })
}

/// The operations of a copy that stand where these do.
fn parts_of_copy<'c>(parts: &[Vec<Op<'c>>], of: Op<'c>, copy: Op<'c>) -> Vec<Vec<Op<'c>>> {
    let (old, new) = (guard::body(of), guard::body(copy));
    let find = |op: &Op<'c>| {
        let place = old.iter().position(|other| other == op);
        place.map_or_else(|| panic!("a copy has the same operations"), |n| new[n])
    };
    let parts = parts.iter();
    parts.map(|part| part.iter().map(find).collect()).collect()
}
