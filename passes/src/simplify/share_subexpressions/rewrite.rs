//! Rewrite of common subexpressions of several computations to a computation of their own.

use mdh_algebra::affine::Expr;
use mdh_dialect::code::arguments;
use mdh_dialect::ir::{self, Val};
use mdh_dialect::ops;
use mdh_dialect::parts::{BufferPart, Laws, Parts};
use mdh_dialect::write;
use melior::ir::operation::OperationLike;
use melior::ir::{BlockRef, Region, ValueLike};

use super::equal::{Subexpression, Use};
use crate::support::builder::Builder;
use crate::support::draft::{self, Draft, Rewriter};
use crate::support::names;
use crate::support::region;
use crate::tile::tile::code::cc;
use crate::tile::tile::layout::{self, axes};

/// Computes a subexpression before the first computation that evaluates it, into memory of that name that
/// all of them read; returns that memory. `None` where a rule would be broken.
pub fn share<'c>(of: &Subexpression<'c>, name: &str) -> Option<Val<'c>> {
    let (first, last) = (of.uses.first()?, of.uses.last()?);
    let builder = &mut Builder::before(first.op);
    let parts = &first.parts;
    let order: Vec<usize> = (0..parts.dims.len()).collect();
    let row_major = axes(&Default::default(), order.len()).ok()?;
    let ty = first.value.r#type();
    let memory = layout::memory(builder, name, &parts.dims, &order, &row_major, ty, None);
    let next = last.op.next_in_block().map(|op| ir::op(&op))?;
    Builder::before(next).op(ops::memref::DEALLOC, &[memory.value], &[], &[]);
    compute(builder, first, &memory)?;
    for one in &of.uses {
        read(one, &memory)?;
    }
    Some(memory.value)
}

/// The computation of the value at all points.
fn compute<'c>(builder: &mut Builder<'c>, of: &Use<'c>, memory: &BufferPart<'c>) -> Option<()> {
    let whole = of.parts.clone();
    let parts = Parts {
        combine: whole.dims.iter().map(|_| cc(builder)).collect(),
        outputs: vec![BufferPart {
            components: vec![0],
            ..memory.clone()
        }],
        laws: Laws::default(),
        ..whole
    };
    let mut draft = Draft::new(of.op, parts);
    let block = region::block(&draft.scalar);
    let value = copied(of, block)?;
    region::set_yields(block, &[value]);
    keep_what_is_used(&mut draft, None);
    names::make_unique(&mut draft.parts);
    let (context, location) = (builder.context, of.op.location());
    let new = write::compute(context, location, &draft.parts, draft.scalar, Region::new());
    builder.insert(new);
    Some(())
}

/// Reads the value where it was evaluated.
fn read<'c>(of: &Use<'c>, memory: &BufferPart<'c>) -> Option<()> {
    let mut draft = Draft::new(of.op, of.parts.clone());
    let block = region::block(&draft.scalar);
    let value = copied(of, block)?;
    let argument = region::add_argument(block, value.r#type(), of.op.location());
    region::replace_all_uses(value, argument);
    // The points of the first computation's dimension `n` are those of `dims[n]` here.
    let access = of.dims.iter().map(|d| Expr::Dim(*d)).collect();
    let input = BufferPart {
        accesses: vec![access],
        ..memory.clone()
    };
    keep_what_is_used(&mut draft, Some(input));
    draft.commit_same(Rewriter::Direct).then_some(())
}

/// The value in a copy of its scalar function.
fn copied<'c>(of: &Use<'c>, copy: BlockRef<'c, 'c>) -> Option<Val<'c>> {
    let op = ir::defining_op(of.value)?;
    let code = ir::ops_of(ir::only_block(ir::region(of.op, 0))?);
    let place = code.iter().position(|other| *other == op)?;
    let copy = ir::ops_of(copy)[place];
    let result = copy.result(ir::result_number(of.value)?).ok()?;
    Some(ir::value(result))
}

/// Takes code out that nothing uses, then arguments, then accesses; another input, for whose
/// access there is a last argument already, is put behind the others.
fn keep_what_is_used<'c>(draft: &mut Draft<'c>, more: Option<BufferPart<'c>>) {
    let block = region::block(&draft.scalar);
    let ops = ir::ops_of(block);
    for op in ops.iter().rev().skip(1) {
        if draft::results(*op).iter().all(|r| !ir::has_uses(*r)) {
            region::erase(*op);
        }
    }
    let mut used = arguments(block).into_iter().map(ir::has_uses);
    let mut targets = Vec::new();
    let mut inputs = Vec::new();
    let mut count = 0;
    for buffer in draft.parts.inputs.iter().chain(&more) {
        let mut original = buffer.clone();
        original.accesses.retain(|_| {
            let is_used = used.next().unwrap_or(false);
            targets.push(is_used.then_some(count));
            count += usize::from(is_used);
            is_used
        });
        if !original.accesses.is_empty() {
            inputs.push(original);
        }
    }
    draft.set_inputs(inputs, &targets);
}
