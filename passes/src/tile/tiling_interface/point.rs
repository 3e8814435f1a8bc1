//! The code of one point, for `transform.structured.convert_to_loops`.

use mdh_dialect::ir::{self, Op};
use mdh_dialect::parts::{Bound, Dim};
use mdh_dialect::tiling::{At, IndexBox, Refusal};
use mdh_dialect::types::BufferKind;

use super::boxes::{self, Spans};
use super::{Tile, UntiledOp};
use crate::llvm::lower_to_loops::access::{read, write};
use crate::llvm::lower_to_loops::carry::carried;
use crate::llvm::lower_to_loops::fold::{Fold, Partial};
use crate::support::buffers::value;
use crate::support::builder::Builder;
use crate::support::draft::is_kind;
use crate::support::inline::inline;

/// Computes one point: a tile of one, of which the memory holds the result so far.
pub fn point<'c>(op: Op<'c>, at: At<'c>, point: &[Bound<'c>]) -> Result<(), Refusal> {
    let untiled = UntiledOp::new(op)?;
    check(&untiled).map_err(|why| format!("cannot become loops: {why}"))?;
    let mut builder = Builder::at(at, op);
    let part = IndexBox {
        offsets: point.to_vec(),
        sizes: vec![Bound::Static(1); point.len()],
    };
    let mut tile = Tile {
        builder,
        spans: Spans::new(&untiled.parts, &part)?,
        untiled: &untiled,
        at,
        slices: Vec::new(),
    };
    let parts = tile.parts()?;
    builder = tile.builder;
    let indices: Vec<_> = parts
        .dims
        .iter()
        .map(|d| value(&mut builder, d.lower))
        .collect();
    let mut inputs = Vec::new();
    for buffer in &parts.inputs {
        for access in 0..buffer.accesses.len() {
            inputs.push(read(&mut builder, buffer, access, &indices));
        }
    }
    let fold = Fold {
        op,
        computation: &untiled.computation,
    };
    let mut total = Partial {
        values: inline(&mut builder, ir::region(op, 0), &inputs, &indices),
        valid: None,
    };
    for carry in parts.carries.iter().rev() {
        total = carried(&mut builder, &fold, carry, &indices, &total);
    }
    for buffer in &parts.outputs {
        for (access, component) in buffer.components.iter().enumerate() {
            write(
                &mut builder,
                buffer,
                access,
                total.values[*component],
                &indices,
            );
        }
    }
    Ok(())
}

/// Refuses tensors, and periods of several points.
fn check(untiled: &UntiledOp) -> Result<(), String> {
    let mut buffers = untiled.parts.buffers();
    if buffers.any(|b| is_kind(b, BufferKind::Tensor)) {
        return Err("it works on tensors; expected memrefs, as after bufferization".into());
    }
    let is_one = |dim: &&Dim| boxes::step(dim) == Some(1) || dim.width.known() == Some(1);
    match untiled.parts.dims.iter().find(|dim| !is_one(dim)) {
        Some(dim) => Err(format!(
            "the periods of dimension '{}' have several points; expected a width of 1 or the step",
            dim.name
        )),
        None => Ok(()),
    }
}
