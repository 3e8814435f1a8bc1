//! `mdh-decompose-linalg`: what is linalg but has no loops of its own becomes what upstream says that
//! it is made of.
//!
//! ```mlir
//! // mdh-opt --mdh-decompose-linalg --canonicalize
//! func.func @tiles(%x: tensor<8x9xf32>, %y: tensor<4x3x2x3xf32>) -> tensor<4x3x2x3xf32> {
//!   %p = linalg.pack %x inner_dims_pos = [0, 1] inner_tiles = [2, 3] into %y
//!       : tensor<8x9xf32> -> tensor<4x3x2x3xf32>
//!   return %p : tensor<4x3x2x3xf32>
//! }
//! // becomes
//! func.func @tiles(%x: tensor<8x9xf32>, %y: tensor<4x3x2x3xf32>) -> tensor<4x3x2x3xf32> {
//!   %t = tensor.expand_shape %x [[0, 1], [2, 3]] output_shape [4, 2, 3, 3]
//!       : tensor<8x9xf32> into tensor<4x2x3x3xf32>
//!   %p = linalg.transpose ins(%t : tensor<4x2x3x3xf32>) outs(%y : tensor<4x3x2x3xf32>)
//!       permutation = [0, 2, 1, 3]
//!   return %p : tensor<4x3x2x3xf32>
//! }
//! ```
//!
//! Negative padding becomes padding of a slice, since upstream lowers no other.
//!
//! These are `linalg.softmax`, `pack` and `unpack`, and the transformations of Winograd's convolution.
//! Upstream's decompositions take tensors: memrefs are seen as such, and what is made of them is put
//! there. Only what stays linalg needs it: raised, the first three are computations.

use mdh_dialect::ir::{self, Errors, Op};
use mdh_dialect::ops;
use mdh_dialect::pass::{Options, Pass};
use mdh_dialect::upstream;
use melior::ir::operation::OperationLike;

use crate::support::plain_pads;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-decompose-linalg",
    description: "softmax, pack, unpack and Winograd's transformations to simpler operations of linalg",
    operation: ops::builtin::MODULE,
    options: &[],
    run,
};

fn run(module: Op, _: &Options) -> Result<(), Errors> {
    for op in ir::find_all(module, &[ops::tensor::PAD]) {
        plain_pads::plain(op);
    }
    for op in ir::find_all(module, &upstream::DECOMPOSED) {
        let (name, location) = (ir::name_of(op), op.location());
        if !upstream::decompose(op) {
            let text = format!(
                "'{name}' op stays as it is: upstream decomposes none with tiles or padding of unknown \
                 sizes; expected numbers"
            );
            ir::remark_in(location, &text);
        }
    }
    Ok(())
}
