//! Parallel loops: `scf.forall`, whose mapping says which level of a machine has the parts.
//!
//! ```mlir
//! // mdh-opt --mdh-tile --canonicalize --cse
//! func.func @f(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) {
//!   mdh.compute (i = %n)
//!     out_view(y = %y[i] : memref<?xf32>)
//!     md_hom(id, (cc))
//!     inp_view(x = %x[i] : memref<?xf32>)
//!     schedule(#mdh.schedule<asm = cuda, layers = [block {i: *}, thread {i: 128}]>)
//!   return
//! }
//! // becomes
//! scf.forall (%b) in (%blocks) {
//!   ..
//!   scf.forall (%t) in (128) {
//!     %i = arith.addi %from, %t : index
//!     %is_there = arith.cmpi slt, %i, %end : index
//!     scf.if %is_there {
//!       ..
//!     }
//!   } {mapping = [#gpu.thread<x>], mdh.level = "thread.i"}
//! } {mapping = [#gpu.block<x>], mdh.level = "block.i"}
//! ```
//!
//! Upstream's passes keep a loop with a mapping, whatever its extent, and never merge two. Loops over
//! the cores of a CPU have as many iterations as there are parts. Those over blocks, warps and threads
//! go from 0 to the number of these; where there may be fewer parts, all of the body is under a
//! condition, the *guard*.

use mdh_algebra::mapping::{axis_name, axis_number};
use mdh_dialect::code::arguments;
use mdh_dialect::ffi::string_ref;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::marks::LEVEL;
use mdh_dialect::ops;
use mdh_dialect::parts::Bound;
use mdh_schedule::LevelName;
use melior::Context;
use melior::ir::Attribute;
use melior::ir::operation::OperationLike;
use mlir_sys::{mlirOperationMoveBefore, mlirOperationRemoveAttributeByName};

use crate::support::captured::attribute;
use crate::support::region;

/// The operation.
pub const FORALL: &str = ops::scf::FORALL;
/// Marker of a bound that is an operand, among constants.
pub const DYNAMIC: i64 = i64::MIN;
/// Layers that upstream has mappings for, and how many axes of each.
const UPSTREAM: [&str; 3] = ["block", "warp", "thread"];
const NAMED_AXES: usize = 3;
const AXES: usize = 10;

/// A level of a machine, whose cores have the parts of a loop: its layer, and the number of its axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Core {
    /// The name of the layer.
    pub layer: String,
    /// The axis.
    pub axis: usize,
}

impl Core {
    /// The one of these.
    pub fn new(layer: &str, axis: usize) -> Core {
        let layer = layer.into();
        Core { layer, axis }
    }

    /// The level of a loop.
    pub fn read(op: Op) -> Option<Core> {
        if ir::name_of(op) != FORALL {
            return None;
        }
        let [mapping] = ir::array(op, "mapping")[..] else {
            return None;
        };
        let id = ir::mapping_id(mapping)?;
        let (name, parameters) = ir::class_of(mapping);
        if name == "mdh.core" {
            return Some(Core::new(ir::text(*parameters.first()?)?, id));
        }
        let layer = name.strip_prefix("gpu.").filter(|l| UPSTREAM.contains(l))?;
        // Upstream counts linear axes behind the three that have names.
        let axis = if id < NAMED_AXES { id } else { id - NAMED_AXES };
        Some(Core::new(layer, axis))
    }

    /// The one of that name, `thread.x`.
    pub fn named(name: &str) -> Option<Core> {
        let (layer, dimension) = name.rsplit_once('.')?;
        Some(Core::new(layer, axis_number(dimension)?))
    }

    /// The mapping of a loop over its parts.
    pub fn mapping<'c>(&self, context: &'c Context) -> Attribute<'c> {
        let Core { layer, axis } = self;
        let is_upstream = UPSTREAM.contains(&layer.as_str()) && *axis < AXES;
        let level = match (is_upstream, *axis < NAMED_AXES) {
            (false, _) => format!("#mdh.core<{layer:?}, {axis}>"),
            (true, true) => format!("#gpu.{layer}<{}>", axis_name(*axis)),
            (true, false) => format!("#gpu.{layer}<linear_dim_{axis}>"),
        };
        attribute(context, &format!("[{level}]"))
    }
}

impl std::fmt::Display for Core {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let dimension = axis_name(self.axis);
        LevelName::new(&self.layer, &dimension).fmt(f)
    }
}

/// Returns whether a loop's iterations are given to a machine, be it to one level or, where it has
/// several variables, to several.
pub fn is_mapped(op: Op) -> bool {
    ir::name_of(op) == FORALL && !ir::array(op, "mapping").is_empty()
}

/// Removes a loop's mapping: its parts are nobody's in particular.
pub fn unmap(op: Op) {
    let name = string_ref("mapping");
    // SAFETY: the operation is valid.
    unsafe { mlirOperationRemoveAttributeByName(op.to_raw(), name) };
}

/// The level of a schedule that a loop is of, and the level that it is given to.
pub fn level<'c>(op: Op<'c>) -> Option<&'c str> {
    LEVEL.text(op)
}

/// The first index of a loop of one variable, one past the last one, and the step.
pub fn bounds<'c>(op: Op<'c>) -> Option<[Bound<'c>; 3]> {
    if ir::name_of(op) != FORALL {
        return None;
    }
    let mut dynamic = op.operands().map(ir::value::<'c>);
    let mut levels = Vec::new();
    for name in ["staticLowerBound", "staticUpperBound", "staticStep"] {
        let [number] = ir::integers(op, name)[..] else {
            return None;
        };
        levels.push(match number {
            DYNAMIC => Bound::Dynamic(dynamic.next()?),
            number => Bound::Static(number),
        });
    }
    levels.try_into().ok()
}

/// Returns the number of parts of a loop that goes from 0 by 1.
pub fn extent<'c>(op: Op<'c>) -> Option<Bound<'c>> {
    let [lower, extent, step] = bounds(op)?;
    let is_normal = [lower, step] == [0, 1].map(Bound::Static);
    is_normal.then_some(extent)
}

/// Returns the trip count of a loop, if it is known.
pub fn known_trips(op: Op) -> Option<i64> {
    let [lower, upper, step] = bounds(op)?.map(Bound::known);
    let (distance, step) = (upper?.checked_sub(lower?)?, step.filter(|step| *step > 0)?);
    Some(
        distance
            .max(0)
            .unsigned_abs()
            .div_ceil(step.unsigned_abs())
            .cast_signed(),
    )
}

/// The operations of a loop's body but its end.
pub fn body<'c>(op: Op<'c>) -> Vec<Op<'c>> {
    let inside = region::block_of(ir::region(op, 0));
    let end = region::terminator(inside);
    let ops = ir::ops_of(inside).into_iter();
    ops.filter(|op| *op != end).collect()
}

/// Gives a loop's variable a value, and moves what is in the loop before it.
pub fn inline<'c>(op: Op<'c>, index: Val<'c>) -> Vec<Op<'c>> {
    let inside = region::block_of(ir::region(op, 0));
    region::replace_all_uses(arguments(inside)[0], index);
    let body_ops = body(op);
    move_before(&body_ops, op);
    region::erase(op);
    body_ops
}

/// Moves operations before another one.
pub fn move_before(all: &[Op], before: Op) {
    for op in all {
        // SAFETY: both are in the module.
        unsafe { mlirOperationMoveBefore(op.to_raw(), before.to_raw()) }
    }
}
