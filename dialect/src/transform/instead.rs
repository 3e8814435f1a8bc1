//! Upstream's transformations that are made for operations of linalg alone, and what does the same here.
//!
//! They refuse an `mdh.compute` before they ask it anything, and some without saying whom. So C++ asks this
//! table first (`cpp/Instead.cpp`).

use melior::ir::operation::OperationLike;
use mlir_sys::{MlirOperation, MlirStringRef};

use crate::carried;
use crate::code::arguments;
use crate::ffi::string_ref;
use crate::ir::{self, Op, Val};
use crate::marks;
use crate::ops;

/// The computations that a transformation refuses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Refused {
    All,
    OnTensors,
    OnMemrefs,
    /// Whatever makes a tensor of which the tiles of a parallel loop leave a part.
    Parts,
}

impl Refused {
    fn contains(self, op: Op) -> bool {
        let is_computation = ir::name_of(op) == ops::mdh::COMPUTE;
        match self {
            Refused::All => is_computation,
            Refused::OnTensors => is_computation && op.result_count() > 0,
            Refused::OnMemrefs => is_computation && op.result_count() == 0,
            Refused::Parts => {
                let mut results = op.results().map(ir::value);
                results.any(|result| is_partly_written(result) || is_shared(op, result))
            }
        }
    }

    /// Found and expected.
    fn found(self) -> &'static str {
        match self {
            Refused::All => "an mdh.compute, expected an operation of linalg",
            Refused::OnTensors => "an mdh.compute on tensors, expected one on memrefs",
            Refused::OnMemrefs => "an mdh.compute on memrefs, expected one on tensors",
            Refused::Parts => {
                "a result of which the tiles in the loop may leave a part, expected one of which each \
                 element is that of one tile"
            }
        }
    }
}

/// Returns whether tiles in a parallel loop leave elements of a tensor that it carries as they were.
fn is_partly_written(tensor: Val) -> bool {
    let forall = |op: &Op| ir::name_of(*op) == ops::scf::FORALL;
    ir::users(tensor).into_iter().filter(forall).any(|op| {
        let block = ir::only_block(ir::region(op, 0));
        let arguments = block.map_or(Vec::new(), arguments);
        let own = arguments.into_iter().filter(|argument| {
            carried::argument(*argument).is_some_and(|given| given.first == tensor)
        });
        let slices = own
            .flat_map(ir::users)
            .filter_map(|slice| ir::result(slice, 0));
        let mut tiles = slices.flat_map(ir::users);
        tiles.any(|tile| marks::PARTLY_WRITTEN.is_on(tile))
    })
}

/// The one that fuses what tensors are made by.
const FUSE: &str = "transform.structured.fuse";
/// The one that fuses whatever makes a destination.
const FUSE_INTO: &str = "transform.structured.fuse_into_containing_op";

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

/// The one that works on computations, but on memory alone.
const CONVERT_TO_LOOPS: &str = "transform.structured.convert_to_loops";

const TAILS: &str = "rests of tiles are masked here and nothing is padded: use \
     'transform.mdh.tails %c {i: mask}'";
const PACK: &str = "a part of an operand is laid out anew where it is staged: use \
     'transform.mdh.stage %c B at L3.i in L3 layout blocked(512, 64)'";
const FORM: &str = "a computation has this one form, and needs no other: leave it out, or make operations of \
     linalg of it by the pass 'mdh-to-linalg' first";
const SIZES: &str = "a computation takes the sizes of its tiles, and what to do with rests, from a schedule: \
     use 'transform.mdh.parts %c main {i: 64}' and 'transform.mdh.tails %c {i: peel}'";

/// Operations, each with what is to be said.
const INSTEAD: [(&str, &str); 23] = [
    ("transform.structured.pad", TAILS),
    ("transform.structured.pad_tiling_interface", TAILS),
    (
        "transform.structured.vectorize",
        "vectors are a level of a schedule: use 'transform.mdh.parts %c simd {j: 16}'",
    ),
    (
        "transform.structured.interchange",
        "the order of loops is a part of a schedule: use 'transform.mdh.order %c decompose [..]', or \
         'interchange' of 'transform.structured.tile_using_for'",
    ),
    ("transform.structured.pack", PACK),
    ("transform.structured.pack_greedily", PACK),
    (
        "transform.structured.promote",
        "what is copied to nearer memory is a part of a schedule: use 'transform.mdh.stage %c B at L2.i in L2'",
    ),
    (
        "transform.structured.split_reduction",
        "partial results are cut by tiling: use 'transform.structured.tile_reduction_using_for' or \
         'transform.structured.tile_reduction_using_forall', or 'transform.mdh.parts %c core {k: 4}' with \
         'transform.mdh.combine'",
    ),
    (
        "transform.structured.split",
        "rests of tiles are loops of their own by a schedule: use 'transform.mdh.tails %c {i: peel}'",
    ),
    (
        "transform.structured.scalarize",
        "tiles of one point are as good: use 'transform.structured.tile_using_for' with sizes of 1",
    ),
    (
        CONVERT_TO_LOOPS,
        "its loops read and write memory: run the pass 'one-shot-bufferize' before, or use \
         'transform.bufferization.one_shot_bufferize'; loops on tensors are those of \
         'transform.structured.tile_using_for' with sizes of 1",
    ),
    ("transform.structured.multitile_sizes", SIZES),
    ("transform.structured.continuous_tile_sizes", SIZES),
    ("transform.structured.generalize", FORM),
    ("transform.structured.decompose", FORM),
    ("transform.structured.specialize", FORM),
    ("transform.structured.flatten_elementwise", FORM),
    (
        "transform.structured.rewrite_in_destination_passing_style",
        "a computation names its destinations: leave it out",
    ),
    ("transform.structured.transpose_matmul", PACK),
    ("transform.structured.transpose_conv2d", PACK),
    ("transform.structured.convert_conv2d_to_img2col", PACK),
    (
        FUSE,
        "what makes a tensor is fused: leave memrefs to 'transform.structured.tile_using_for', or fuse before \
         bufferization",
    ),
    (
        FUSE_INTO,
        "what no tile takes would be lost: leave what makes it before the loop, or fuse it by \
         'transform.structured.fuse', which leaves it there for others",
    ),
];

#[unsafe(no_mangle)]
extern "C" fn mdhRustNumInstead() -> isize {
    INSTEAD.len() as isize
}

#[unsafe(no_mangle)]
extern "C" fn mdhRustInsteadName(index: isize) -> MlirStringRef {
    string_ref(row(index).0)
}

#[unsafe(no_mangle)]
extern "C" fn mdhRustInstead(
    index: isize,
    op: MlirOperation,
    found: &mut MlirStringRef,
    instead: &mut MlirStringRef,
) -> bool {
    let (name, text) = row(index);
    let refused = match name {
        CONVERT_TO_LOOPS => Refused::OnTensors,
        FUSE => Refused::OnMemrefs,
        FUSE_INTO => Refused::Parts,
        _ => Refused::All,
    };
    *found = string_ref(refused.found());
    *instead = string_ref(text);
    // SAFETY: the operation is valid as long as the call lasts.
    refused.contains(unsafe { ir::op_from_raw(op) })
}

fn row(index: isize) -> (&'static str, &'static str) {
    let row = usize::try_from(index).ok().and_then(|row| INSTEAD.get(row));
    row.copied().unwrap_or_default()
}
