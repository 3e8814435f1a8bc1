//! Upstream's transformations that refuse an `mdh.compute`, and what does the same here.
//!
//! They refuse one before they ask it anything, and some without saying whom: most are made for operations of linalg
//! alone. So C++ asks this table first (`cpp/Instead.cpp`).

use std::ffi::c_void;

use melior::ir::attribute::IntegerAttribute;
use melior::ir::operation::OperationLike;
use mlir_sys::{MlirOperation, MlirStringRef};

use crate::carried;
use crate::code::arguments;
use crate::ffi::string_ref;
use crate::ir::{self, Op, Val};
use crate::marks;
use crate::ops;
use crate::pass::guarded;
use crate::read;

/// A transformation of an operation.
struct Asked<'c> {
    transform: Op<'c>,
    payload: Op<'c>,
    /// The operation that it is fused into, if any.
    container: Option<Op<'c>>,
}

/// A kind of operation that a transformation refuses.
#[derive(Clone, Copy)]
enum Refused {
    All,
    OnTensors,
    OnMemrefs,
    /// Whatever makes a tensor of which the tiles of a parallel loop leave a part.
    Parts,
    /// Whatever makes a tensor that a sequential loop carries in.
    Carried,
    /// Partial results in dimensions that are kept.
    Kept,
}

impl Refused {
    /// Returns what was found and expected, where it is refused.
    fn found(self, asked: &Asked) -> Option<String> {
        let op = asked.payload;
        let is_computation = ir::name_of(op) == ops::mdh::COMPUTE;
        let (is_refused, found) = match self {
            Refused::All => (
                is_computation,
                "an mdh.compute, expected an operation of linalg",
            ),
            Refused::OnTensors => (
                is_computation && op.result_count() > 0,
                "an mdh.compute on tensors, expected one on memrefs",
            ),
            Refused::OnMemrefs => (
                is_computation && op.result_count() == 0,
                "an mdh.compute on memrefs, expected one on tensors",
            ),
            Refused::Parts => {
                let mut results = op.results().map(ir::value);
                (
                    results.any(|result| is_partly_written(result) || is_shared(op, result)),
                    "a result of which the tiles in the loop may leave a part, expected one of which each element is \
                     that of one tile",
                )
            }
            Refused::Carried => (
                asked
                    .container
                    .is_some_and(|container| is_carried(op, container)),
                "what makes the destination that the loop carries, expected what a tile in it reads by a slice",
            ),
            Refused::Kept => return cut_and_kept(asked),
        };
        is_refused.then(|| found.into())
    }
}

/// Returns the first dimension that is cut although it is kept.
fn cut_and_kept(asked: &Asked) -> Option<String> {
    if ir::name_of(asked.payload) != ops::mdh::COMPUTE {
        return None;
    }
    let parts = read::compute(asked.payload).ok()?;
    let attributes = [
        ("tile_sizes", "as the size of tiles"),
        ("num_threads", "threads"),
    ];
    attributes.into_iter().find_map(|(name, what)| {
        let sizes = numbers(asked.transform, name);
        let mut dims = parts.dims.iter().zip(&parts.combine).zip(sizes);
        let ((dim, _), size) =
            dims.find(|((_, combine), size)| *size != 0 && ir::is_cc(**combine))?;
        Some(format!(
            "{size} {what} in dimension '{}', which is kept, expected 0",
            dim.name
        ))
    })
}

/// The numbers of an attribute, which upstream keeps as an array or a dense one.
fn numbers(op: Op, name: &str) -> Vec<i64> {
    let number = |element| IntegerAttribute::try_from(element).map(|number| number.value());
    let listed = ir::array(op, name).into_iter().flat_map(number);
    ir::integers(op, name).into_iter().chain(listed).collect()
}

/// Returns whether a sequential loop carries in what an operation makes. Upstream fuses what is read inside, and of
/// loops that carry it `scf.forall` alone; a loop that carries it itself stops it after that.
fn is_carried(op: Op, container: Op) -> bool {
    let is_read = |user: Op| {
        let mut around = ir::ancestors(user).skip(1);
        user != container && around.any(|around| around == container)
    };
    let users: Vec<Op> = op.results().map(ir::value).flat_map(ir::users).collect();
    let is_ours = ir::name_of(op) == ops::mdh::COMPUTE
        || !ir::find_all(container, &[ops::mdh::COMPUTE]).is_empty();
    let mut starts = container.operands().map(ir::value);
    ir::name_of(container) == ops::scf::FOR
        && is_ours
        && (users.contains(&container) || !users.into_iter().any(is_read))
        && starts.any(|start| is_made_by(start, op))
}

/// Returns whether an operation makes a value, which loops around carry, or computations put a start into.
fn is_made_by(value: Val, op: Op) -> bool {
    if let Some(given) = carried::argument(value) {
        return is_made_by(given.first, op);
    }
    let Some(maker) = ir::defining_op(value) else {
        return false;
    };
    let destination = match ir::name_of(maker) {
        _ if maker == op => return true,
        ops::tensor::EXTRACT_SLICE => ir::operand(maker, 0),
        ops::mdh::COMPUTE => destination(maker, value),
        _ => None,
    };
    destination.is_some_and(|destination| is_made_by(destination, op))
}

/// The destination of a computation's result.
fn destination<'c>(op: Op<'c>, result: Val<'c>) -> Option<Val<'c>> {
    let parts = read::compute(op).ok()?;
    let destination = parts.destinations().nth(ir::result_number(result)?)?;
    Some(destination.value)
}

/// Returns whether tiles in a parallel loop leave elements of a tensor that it carries as they were.
fn is_partly_written(tensor: Val) -> bool {
    let forall = |op: &Op| ir::name_of(*op) == ops::scf::FORALL;
    ir::users(tensor).into_iter().filter(forall).any(|op| {
        let block = ir::only_block(ir::region(op, 0));
        let arguments = block.map_or(Vec::new(), arguments);
        let shared = arguments.into_iter().filter(|argument| {
            carried::argument(*argument).is_some_and(|given| given.first == tensor)
        });
        let slices = shared
            .flat_map(ir::users)
            .filter_map(|slice| ir::result(slice, 0));
        let mut tiles = slices.flat_map(ir::users);
        tiles.any(|tile| marks::PARTLY_WRITTEN.is_on(tile))
    })
}

/// Returns whether a loop would have to give others a result of which it computes what tiles read: upstream has loops
/// return what `linalg.generic` makes there.
fn is_shared(op: Op, result: Val) -> bool {
    let is_of_tile = |user: &Op| {
        let is_in_loop = ir::ancestors(*user).any(|op| ir::name_of(op) == ops::scf::FORALL);
        let readers = ir::result(*user, 0).map_or(Vec::new(), ir::users);
        ir::name_of(*user) == ops::tensor::EXTRACT_SLICE
            && is_in_loop
            && readers
                .iter()
                .any(|op| ir::name_of(*op) == ops::mdh::COMPUTE)
    };
    let users = ir::users(result);
    let (own, others): (Vec<Op>, Vec<Op>) = users.into_iter().partition(is_of_tile);
    ir::name_of(op) == ops::linalg::GENERIC && !own.is_empty() && !others.is_empty()
}

/// The one that fuses whatever makes a tensor.
const FUSE_INTO: &str = "transform.structured.fuse_into_containing_op";

const TAILS: &str = "rests of tiles are masked here and nothing is padded: use \
     'transform.mdh.tails %c {i: mask}'";
const PACK: &str = "a part of an operand is laid out anew where it is staged: use \
     'transform.mdh.stage %c B at L3.i in L3 layout blocked(512, 64)'";
const FORM: &str = "a computation has this one form, and needs no other: leave it out, or make operations of \
     linalg of it by the pass 'mdh-to-linalg' first";
const SIZES: &str = "a computation takes the sizes of its tiles, and what to do with rests, from a schedule: \
     use 'transform.mdh.parts %c main {i: 64}' and 'transform.mdh.tails %c {i: peel}'";

const PARTS: &str = "partial results are those of dimensions that combine: cut what is kept by \
     'transform.structured.tile_using_for' or 'transform.structured.tile_using_forall' first";

/// Transformations, each with what it refuses and what is to be said.
const INSTEAD: [(&str, Refused, &str); 26] = [
    ("transform.structured.pad", Refused::All, TAILS),
    (
        "transform.structured.pad_tiling_interface",
        Refused::All,
        TAILS,
    ),
    (
        "transform.structured.vectorize",
        Refused::All,
        "vectors are a level of a schedule: use 'transform.mdh.parts %c simd {j: 16}'",
    ),
    (
        "transform.structured.interchange",
        Refused::All,
        "the order of loops is a part of a schedule: use 'transform.mdh.order %c decompose [..]', or \
         'interchange' of 'transform.structured.tile_using_for'",
    ),
    ("transform.structured.pack", Refused::All, PACK),
    ("transform.structured.pack_greedily", Refused::All, PACK),
    (
        "transform.structured.promote",
        Refused::All,
        "what is copied to nearer memory is a part of a schedule: use 'transform.mdh.stage %c B at L2.i in L2'",
    ),
    (
        "transform.structured.split_reduction",
        Refused::All,
        "partial results are cut by tiling: use 'transform.structured.tile_reduction_using_for' or \
         'transform.structured.tile_reduction_using_forall', or 'transform.mdh.parts %c core {k: 4}' with \
         'transform.mdh.combine'",
    ),
    (
        "transform.structured.split",
        Refused::All,
        "rests of tiles are loops of their own by a schedule: use 'transform.mdh.tails %c {i: peel}'",
    ),
    (
        "transform.structured.scalarize",
        Refused::All,
        "tiles of one point are as good: use 'transform.structured.tile_using_for' with sizes of 1",
    ),
    (
        "transform.structured.convert_to_loops",
        Refused::OnTensors,
        "its loops read and write memory: run the pass 'one-shot-bufferize' before, or use \
         'transform.bufferization.one_shot_bufferize'; loops on tensors are those of \
         'transform.structured.tile_using_for' with sizes of 1",
    ),
    ("transform.structured.multitile_sizes", Refused::All, SIZES),
    (
        "transform.structured.continuous_tile_sizes",
        Refused::All,
        SIZES,
    ),
    ("transform.structured.generalize", Refused::All, FORM),
    ("transform.structured.decompose", Refused::All, FORM),
    ("transform.structured.specialize", Refused::All, FORM),
    (
        "transform.structured.flatten_elementwise",
        Refused::All,
        FORM,
    ),
    (
        "transform.structured.rewrite_in_destination_passing_style",
        Refused::All,
        "a computation names its destinations: leave it out",
    ),
    ("transform.structured.transpose_matmul", Refused::All, PACK),
    ("transform.structured.transpose_conv2d", Refused::All, PACK),
    (
        "transform.structured.convert_conv2d_to_img2col",
        Refused::All,
        PACK,
    ),
    (
        "transform.structured.fuse",
        Refused::OnMemrefs,
        "what makes a tensor is fused: leave memrefs to 'transform.structured.tile_using_for', or fuse before \
         bufferization",
    ),
    (
        FUSE_INTO,
        Refused::Parts,
        "what no tile takes would be lost: leave what makes it before the loop, or fuse it by \
         'transform.structured.fuse', which leaves it there for others",
    ),
    (
        FUSE_INTO,
        Refused::Carried,
        "leave it before the loop, fuse it by 'transform.structured.fuse', or cut dimensions that are kept by \
         'transform.structured.tile_using_forall' first and fuse it into that loop",
    ),
    (
        "transform.structured.tile_reduction_using_for",
        Refused::Kept,
        PARTS,
    ),
    (
        "transform.structured.tile_reduction_using_forall",
        Refused::Kept,
        PARTS,
    ),
];

#[unsafe(no_mangle)]
extern "C" fn mdhRustNumInstead() -> isize {
    INSTEAD.len() as isize
}

#[unsafe(no_mangle)]
extern "C" fn mdhRustInsteadName(index: isize) -> MlirStringRef {
    let row = usize::try_from(index).ok().and_then(|row| INSTEAD.get(row));
    string_ref(row.map_or("", |(name, ..)| name))
}

#[unsafe(no_mangle)]
extern "C" fn mdhRustInstead(
    transform: MlirOperation,
    payload: MlirOperation,
    container: MlirOperation,
    data: *mut c_void,
    each: extern "C" fn(*mut c_void, MlirStringRef),
) -> bool {
    // SAFETY: the operations are valid as long as the call lasts; a null one is none.
    let asked = unsafe {
        Asked {
            transform: ir::op_from_raw(transform),
            payload: ir::op_from_raw(payload),
            container: (!container.ptr.is_null()).then(|| ir::op_from_raw(container)),
        }
    };
    let refusal = guarded(|| refusal(&asked)).unwrap_or_else(Some);
    if let Some(message) = &refusal {
        each(data, string_ref(message));
    }
    refusal.is_some()
}

fn refusal(asked: &Asked) -> Option<String> {
    let name = ir::name_of(asked.transform);
    let mut rows = INSTEAD.iter().filter(|row| row.0 == name);
    rows.find_map(|(_, refused, instead)| {
        let culprit = refused.found(asked)?;
        Some(format!("{name} found {culprit}: {instead}"))
    })
}
