//! A producer's scalar function moves into its consumer's.
//!
//! Nothing is computed twice, and nothing is read that was not read before: the consumer reads
//! each element at most once, and only elements that the producer writes. A producer that only
//! moves data has nothing to compute twice, so that any number of reads goes through it.
//!
//! The law: for a producer `y[w(p)] = f(a[g(p)])` and a consumer that reads `y[e(q)]`, the read is
//! `f(a[g(p)])` at the point `p = w^-1(e(q))`, which must be one of the producer's for all `q`.

mod points;

use mdh_algebra::affine::Expr;
use mdh_algebra::computation::{Combine, Dimension};
use mdh_algebra::rules::{Verdict, injective};
use mdh_dialect::code::arguments;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::ops;
use mdh_dialect::parts::{BufferPart, Parts};
use mdh_dialect::schedule::has_schedule;
use mdh_dialect::{translate, types};
use melior::ir::operation::OperationLike;
use melior::ir::{BlockLike, ValueLike};

use crate::llvm::lower_to_loops::access::convert;
use crate::support::builder::Builder;
use crate::support::draft::{self, Draft, Rewriter, element};
use crate::support::inline::inline;
use crate::support::region;

/// A producer that can move into a consumer.
pub struct Fusion<'c> {
    producer: Op<'c>,
    parts: Parts<'c>,
    /// The component of the producer's tuple that is read.
    component: usize,
    /// The number of the consumer's input.
    input: usize,
    /// For each of the input's accesses, the producer's point at the consumer's point.
    points: Vec<Vec<Expr>>,
}

/// The `mdh.compute` that writes an input.
pub fn producer<'c>(input: &BufferPart<'c>) -> Option<Op<'c>> {
    ir::defining_op(input.value).filter(|op| ir::name_of(*op) == ops::mdh::COMPUTE)
}

/// Plans the move of a producer into the consumer of its result; an error says why it cannot move.
pub fn plan<'c>(
    consumer: Op<'c>,
    parts: &Parts<'c>,
    input: usize,
    producer: Op<'c>,
) -> Result<Fusion<'c>, String> {
    let read = &parts.inputs[input];
    if has_schedule(consumer) || has_schedule(producer) {
        return Err("a schedule names the buffers and dimensions as they are".into());
    }
    let made = draft::parts(producer).ok_or("its producer is malformed")?;
    if let Some(d) = made.combine.iter().position(|c| !ir::is_cc(*c)) {
        return Err(format!(
            "its producer combines dimension '{}', and a combined value is there only once all \
             of its points are",
            made.dims[d].name
        ));
    }
    let number = draft::results(producer)
        .iter()
        .position(|r| *r == read.value);
    let output = number
        .and_then(|n| made.outputs.get(n))
        .ok_or("it is no output")?;
    let ([access], [component]) = (&output.accesses[..], &output.components[..]) else {
        return Err("its producer writes it by several accesses".into());
    };
    let points = read
        .accesses
        .iter()
        .map(|at| points::point(&made, output, access, parts, read, at))
        .collect::<Result<Vec<_>, _>>()?;
    let component = *component;
    if !is_view(producer, output, component) {
        is_read_once(consumer, parts, read, producer)?;
    }
    Ok(Fusion {
        producer,
        parts: made,
        component,
        input,
        points,
    })
}

/// Returns whether the component is an input as it is.
fn is_view(producer: Op, output: &BufferPart, component: usize) -> bool {
    let Some(block) = ir::only_block(ir::region(producer, 0)) else {
        return false;
    };
    let value = region::yields(block)[component];
    arguments(block).contains(&value) && types::scalar_type(value.r#type()) == element(output.value)
}

/// Nothing is computed twice.
fn is_read_once(
    consumer: Op,
    parts: &Parts,
    read: &BufferPart,
    producer: Op,
) -> Result<(), String> {
    let used = draft::results(producer);
    let mut used = used.into_iter().filter(|r| ir::has_uses(*r));
    let only = used.next().and_then(ir::only_user);
    if only.is_none() || used.next().is_some() {
        return Err("its producer's results have other uses: it would be computed twice".into());
    }
    let same_block = match (consumer.block(), producer.block()) {
        (Some(a), Some(b)) => a.to_raw().ptr == b.to_raw().ptr,
        _ => false,
    };
    if !same_block {
        return Err("its producer stands in another block, and may run less often".into());
    }
    let maps: Vec<&[Expr]> = read.accesses.iter().map(Vec::as_slice).collect();
    let dims: Vec<Dimension> = parts
        .dims
        .iter()
        .map(|d| translate::dimension(d, Combine::Cc))
        .collect();
    let order: Vec<usize> = (0..dims.len()).collect();
    match injective(&maps, &dims, &order) {
        Verdict::Proved => Ok(()),
        _ => Err("its elements are read more than once: they would be computed as often".into()),
    }
}

impl<'c> Fusion<'c> {
    /// Moves the producer into the consumer.
    pub fn apply(self, consumer: Op<'c>, parts: Parts<'c>, rewriter: Rewriter) -> bool {
        let mut draft = Draft::new(consumer, parts);
        self.merge(&mut draft);
        let producer = self.producer;
        let done = draft.commit_same(rewriter);
        let is_dead = || draft::results(producer).iter().all(|r| !ir::has_uses(*r));
        if done && matches!(rewriter, Rewriter::Direct) && is_dead() {
            region::erase(producer);
        }
        done
    }

    /// Moves the producer into the draft that is to replace the consumer.
    pub fn merge(&self, draft: &mut Draft<'c>) {
        let accesses =
            |buffers: &[BufferPart]| -> usize { buffers.iter().map(|b| b.accesses.len()).sum() };
        let start = accesses(&draft.parts.inputs[..self.input]);
        let end = start + self.points.len();
        let resolved = accesses(&draft.parts.inputs);

        let moved = self.moved_inputs();
        let count = accesses(&moved);
        let places = self.inline(draft, start, &moved);
        let mut inputs = std::mem::take(&mut draft.parts.inputs);
        inputs.splice(self.input..=self.input, moved);

        let mut targets: Vec<Option<usize>> = (0..resolved).map(Some).collect();
        targets[start..end].fill(None);
        for target in &mut targets[end..] {
            *target = target.map(|t| t - (end - start) + count);
        }
        targets.extend(places.into_iter().map(|p| Some(start + p)));
        draft.set_inputs(inputs, &targets);
    }

    /// The producer's inputs as the consumer reads them: for each of its accesses once.
    fn moved_inputs(&self) -> Vec<BufferPart<'c>> {
        let through = |buffer: &BufferPart<'c>| {
            let accesses = self.points.iter().flat_map(|point| {
                let at = move |access: &Vec<Expr>| {
                    access
                        .iter()
                        .map(|e| draft::substituted(e, point))
                        .collect::<Vec<_>>()
                };
                buffer.accesses.iter().map(at)
            });
            BufferPart {
                accesses: accesses.collect(),
                ..buffer.clone()
            }
        };
        self.parts.inputs.iter().map(through).collect()
    }

    /// Puts the producer's code before the consumer's, on arguments that stand behind the
    /// consumer's own; returns for each of them the number among the moved accesses.
    fn inline(&self, draft: &Draft<'c>, start: usize, moved: &[BufferPart<'c>]) -> Vec<usize> {
        let block = region::block(&draft.scalar);
        let block_arguments = arguments(block);
        let code = ir::region(self.producer, 0);
        let first = region::first(block);
        let mut builder = Builder::before(first);
        let target = element(draft.parts.inputs[self.input].value);
        let mut places = Vec::new();
        for (read, point) in self.points.iter().enumerate() {
            let mut inputs: Vec<Val> = Vec::new();
            let mut base = 0;
            for (buffer, block_arguments) in moved.iter().zip(&self.parts.inputs) {
                for access in 0..block_arguments.accesses.len() {
                    let ty = types::mlir_type(
                        builder.context,
                        element(buffer.value).unwrap_or_else(|| panic!("inputs have elements")),
                    );
                    inputs.push(region::add_argument(block, ty, builder.location));
                    places.push(base + read * block_arguments.accesses.len() + access);
                }
                base += buffer.accesses.len();
            }
            let indices = self.indices(&mut builder, point);
            let value = inline(&mut builder, code, &inputs, &indices)[self.component];
            let value = target.map_or(value, |ty| convert(&mut builder, value, ty));
            region::replace_all_uses(block_arguments[start + read], value);
        }
        places
    }

    /// The producer's indices, if its code asks for any.
    fn indices(&self, builder: &mut Builder<'c>, point: &[Expr]) -> Vec<Val<'c>> {
        let asks = !ir::find_all(self.producer, &[ops::mdh::INDEX]).is_empty();
        let point = if asks { point } else { &[] };
        point
            .iter()
            .map(|e| draft::index_value(builder, e))
            .collect()
    }
}
