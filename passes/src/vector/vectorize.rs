//! `mdh-vectorize`: a computation whose schedule has only registers and lanes left becomes code
//! on vectors.
//!
//! ```mlir
//! func.func @weighted(%x: memref<20x32xf32>, %v: memref<20xf32>, %y: memref<32xf32>) {
//!   mdh.compute (i = 32, j = 20)
//!       out_view(y = %y[i] : memref<32xf32>)
//!       md_hom(mulf, (cc, pw(addf)))
//!       inp_view(x = %x[j, i] : memref<20x32xf32>, v = %v[j] : memref<20xf32>)
//!       schedule(#mdh.schedule<asm = cpu, layers = [register {i: 2, j: 20}, simd {i: 16}],
//!         decompose = {order: [register.j, register.i, simd.i]}>)
//!   return
//! }
//! // becomes
//! func.func @weighted(%x: memref<20x32xf32>, %v: memref<20xf32>, %y: memref<32xf32>) {
//!   %c0 = arith.constant 0 : index
//!   %zero = arith.constant 0.0 : f32
//!   %zeros = vector.broadcast %zero : f32 to vector<16xf32>
//!   %c20 = arith.constant 20 : index
//!   %c1 = arith.constant 1 : index
//!   %sums:2 = scf.for %j = %c0 to %c20 step %c1 iter_args(%sum0 = %zeros, %sum1 = %zeros)
//!       -> (vector<16xf32>, vector<16xf32>) {
//!     %x0 = vector.load %x[%j, %c0] : memref<20x32xf32>, vector<16xf32>
//!     %v_j = memref.load %v[%j] : memref<20xf32>
//!     %vs = vector.broadcast %v_j : f32 to vector<16xf32>
//!     %product0 = arith.mulf %x0, %vs fastmath<contract> : vector<16xf32>
//!     %next0 = arith.addf %sum0, %product0 fastmath<reassoc,contract> : vector<16xf32>
//!     %c16 = arith.constant 16 : index
//!     %x1 = vector.load %x[%j, %c16] : memref<20x32xf32>, vector<16xf32>
//!     %product1 = arith.mulf %x1, %vs fastmath<contract> : vector<16xf32>
//!     %next1 = arith.addf %sum1, %product1 fastmath<reassoc,contract> : vector<16xf32>
//!     scf.yield %next0, %next1 : vector<16xf32>, vector<16xf32>
//!   }
//!   vector.store %sums#0, %y[%c0] : memref<32xf32>, vector<16xf32>
//!   %c16 = arith.constant 16 : index
//!   vector.store %sums#1, %y[%c16] : memref<32xf32>, vector<16xf32>
//!   return
//! }
//! ```
//!
//! Partial results are in registers: they are what the loops carry. Dimensions that do not fill
//! their block are masked: lanes by vector masks, unrolled rows by reading a row that is there
//! and not storing. What has no form on vectors is left to `mdh-lower-to-loops`, with a remark.

mod access;
pub mod dot;
mod fold;
mod laid;
mod lanes;
mod leaf;
mod repeat;
pub(crate) mod stream;
mod strided;
mod truth;

use mdh_dialect::ir::{self, Errors, Op};
use mdh_dialect::ops;
use mdh_dialect::pass::{self, Options, Pass};

use crate::llvm::lower_to_loops::grid::Grid;
use crate::support::borders::versions;
use crate::support::builder::Builder;
use crate::support::machine;
use crate::support::scheduled::Scheduled;
use leaf::Leaf;

/// The pass's row.
pub const PASS: Pass = Pass {
    argument: "mdh-vectorize",
    description: "lower every mdh.compute whose schedule has only registers and lanes to vectors",
    operation: "", // a script may lower one function
    options: &[machine::ASM, machine::FEATURES],
    run,
};

fn run(module: Op, options: &Options) -> Result<(), Errors> {
    let asm = machine::from_options(options)?;
    let features = asm.lanes().map_or(&[][..], |lanes| &lanes.features);
    let features: Vec<&str> = features.iter().map(String::as_str).collect();
    pass::each(module, ops::mdh::COMPUTE, |op| lower(op, &features))
}

/// Returns the reason for which a computation's code has no form on vectors; `None` if it has one.
fn obstacle(op: Op) -> Option<String> {
    // What is not there is combined too, and selected away: a loop might not end with it.
    if ir::combiner(op).is_some_and(lanes::has_loops) {
        return Some("its combine operator has a loop".into());
    }
    let codes = [Some(ir::region(op, 0)), ir::combiner(op)];
    codes.into_iter().flatten().find_map(lanes::obstacle)
}

/// Returns whether lanes make a computation faster: none of its functions is called for each lane alone.
pub fn gains(op: Op) -> bool {
    let codes = [Some(ir::region(op, 0)), ir::combiner(op)];
    obstacle(op).is_none() && !codes.into_iter().flatten().any(lanes::is_called_by_lane)
}

fn lower<'c>(op: Op<'c>, features: &[&str]) -> Result<(), Errors> {
    let Some(scheduled) = Scheduled::read(op)? else {
        return Ok(());
    };
    let loops = scheduled.loops();
    let (start, form) = scheduled.leaf(&loops);
    if start > 0 {
        let level = scheduled.resolved.name(loops[0].level);
        return Err(vec![format!(
            "has a schedule with the level '{level}' outside of registers: expected registers and \
             lanes only; run mdh-tile first"
        )]);
    }
    if let Some(why) = obstacle(op) {
        ir::remark_at(op, &format!("stays scalar: {why}"));
        return Ok(());
    }
    let refused = scheduled.refusals();
    if !refused.is_empty() {
        return Err(refused);
    }
    let product = leaf::matrix::product(&scheduled, &form)?;
    let mut builder = Builder::before(op);
    let grids: Vec<Grid> = (scheduled.parts.dims.iter())
        .map(|dim| Grid::new(&mut builder, dim))
        .collect();
    if grids.iter().any(|grid| grid.stride(&mut builder).is_none()) {
        let why = "the points of a dimension do not lie at equal distances";
        ir::remark_at(op, &format!("stays scalar: {why}"));
        return Ok(());
    }
    let leaf = |builder: &mut Builder<'c>, of: &Scheduled<'c>| {
        if let Some(leaf) = Leaf::new(builder, of, &form, features, product) {
            leaf.emit(builder);
        }
    };
    let lanes = form.lanes.map(|lanes| lanes.level.dimension);
    versions(
        op,
        &scheduled.parts,
        &grids,
        lanes,
        &mut |builder, parts| {
            let mut copy = scheduled.clone();
            copy.parts = parts.clone();
            leaf(builder, &copy);
        },
    );
    Ok(())
}
