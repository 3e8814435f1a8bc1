//! Digest of a program: the definition of when two programs are the same, so that what was measured of one
//! is taken for the other.
//!
//! It is that of a text: what a function does, in order, with computations as they are formed. In it stand
//!
//! - of a computation its dimensions with their names, first indices, steps and widths, as far as these are
//!   known; its views with the names of buffers, index functions and padding; scalar function, operators and
//!   declared laws; a schedule that it has; that it is in place. (Parameters of a search have the names of
//!   dimensions and buffers, and are no others' for that.)
//! - of a buffer whether it is a tensor, memory or a scalar; its element type, its rank, and the form of its
//!   layout: `rows`, or for each axis the stride, where a number above 1 is only said to be the smallest of
//!   these, the next one, and so on.
//! - of a value its number in the text: so it shows what reads which result, and which memory is one.
//! - everything else that is done there: loops around computations, operations that are none, what is returned;
//!   that arguments may overlap, and that results must not depend on the number of cores.
//!
//! In it does not stand what may differ between two programs that are the same:
//!
//! - names of files, functions and values, and places in files;
//! - sizes: upper bounds, extents, strides that are numbers above 1, offsets, and all integers that only
//!   numbers and sizes are computed into. (Bounds and strides are kept beside the digest, [`sizes`].)
//! - casts of buffers to other sizes, assertions, and what nobody uses.

use std::collections::HashMap;

use mdh_algebra::computation::Computation;
use mdh_algebra::operator::Operator;
use mdh_algebra::scalar::ScalarType;
use mdh_dialect::ir::{self, Errors, Op, Val};
use mdh_dialect::marks::MAY_ALIAS;
use mdh_dialect::parts::Parts;
use mdh_dialect::translate::{self, Depth};
use mdh_dialect::types::{self, BufferKind};
use mdh_dialect::{ops, schedule};
use mdh_passes::support::deterministic;
use mdh_passes::support::region;
use melior::ir::operation::OperationLike;
use melior::ir::{AttributeLike, BlockLike, RegionLike, Type, ValueLike};
use sha2::{Digest, Sha256};

/// So many operations are followed back to find that a number is computed from sizes.
const STEPS: usize = 8;

/// A computation of a function that is formed.
pub struct Formed<'c> {
    op: Op<'c>,
    parts: Parts<'c>,
    /// The same as data.
    pub computation: Computation,
}

impl<'c> Formed<'c> {
    /// Reads an `mdh.compute`.
    pub fn read(op: Op<'c>) -> Result<Formed<'c>, Errors> {
        let (parts, computation) = translate::both(op, Depth::Code)?;
        Ok(Formed {
            op,
            parts,
            computation,
        })
    }
}

/// The digest of the function that these are the computations of.
pub fn digest(computations: &[Formed]) -> String {
    format!("{:x}", Sha256::digest(text(computations)))
}

/// The sizes of a computation by name: the numbers of its dimensions' points, -1 where that is open, and
/// strides that are numbers above 1.
pub fn sizes(formed: &Formed) -> Vec<(String, i64)> {
    let dimensions = formed.computation.dimensions.iter();
    let counts =
        dimensions.map(|dimension| (dimension.name.clone(), dimension.count().unwrap_or(-1)));
    let strides = formed.parts.buffers().flat_map(|buffer| {
        let by_axis = own_strides(buffer.value.r#type()).map_or(Vec::new(), |(_, strides)| strides);
        let numbered = by_axis.into_iter().enumerate();
        numbered.filter_map(|(axis, stride)| {
            let stride = stride.filter(|stride| *stride > 1)?;
            Some((format!("{}.stride{axis}", buffer.name), stride))
        })
    });
    counts.chain(strides).collect()
}

/// The text.
fn text(computations: &[Formed]) -> String {
    let Some(first) = computations.first().map(|formed| formed.op) else {
        return String::new();
    };
    let function = ir::ancestors(first).find(|op| ir::name_of(*op) == ops::func::FUNC);
    let function = function.unwrap_or(first);
    let mut writer = Writer {
        computations,
        text: format!(
            "may alias: {}, deterministic: {}\n",
            MAY_ALIAS.is_on(function),
            deterministic::is_wanted(function)
        ),
        values: HashMap::new(),
    };
    writer.regions(function);
    writer.text
}

/// The text while it is written.
struct Writer<'w, 'c> {
    computations: &'w [Formed<'c>],
    text: String,
    /// The numbers of values.
    values: HashMap<usize, usize>,
}

impl<'c> Writer<'_, 'c> {
    fn regions(&mut self, op: Op<'c>) {
        for number in 0..op.region_count() {
            let mut block = ir::region(op, number).first_block();
            while let Some(current) = block {
                self.text.push_str("{\n");
                ir::ops_of(current)
                    .into_iter()
                    .for_each(|op| self.statement(op));
                self.text.push_str("}\n");
                block = current.next_in_region();
            }
        }
    }

    /// Writes an operation that does more than make values: these are written where something uses them.
    fn statement(&mut self, op: Op<'c>) {
        let name = ir::name_of(op);
        let does_more = op.result_count() == 0 || op.region_count() > 0 || name == ops::func::CALL;
        if does_more && name != ops::cf::ASSERT {
            self.operation(op);
        }
    }

    fn operation(&mut self, op: Op<'c>) {
        let formed = self.computations.iter().find(|formed| formed.op == op);
        let line = match formed {
            Some(formed) => self.computation(formed),
            None => self.other(op),
        };
        self.text.push_str(&line);
        for result in op.results().map(ir::value) {
            let number = self.values.len();
            self.values.insert(key(result), number);
            self.text
                .push_str(&format!(" -> %{number}: {}", form(result.r#type())));
        }
        self.text.push('\n');
        if formed.is_none() {
            self.regions(op);
        }
    }

    fn computation(&mut self, formed: &Formed<'c>) -> String {
        let buffers: Vec<String> = formed
            .parts
            .buffers()
            .map(|buffer| self.value(buffer.value))
            .collect();
        let schedule = ir::attribute(formed.op, schedule::NAME).map(|own| own.to_string());
        format!(
            "{:?} of {} in place: {}, threads: {:?}, schedule: {schedule:?}",
            without_sizes(&formed.computation),
            buffers.join(", "),
            formed.parts.in_place,
            formed.parts.threads,
        )
    }

    fn other(&mut self, op: Op<'c>) -> String {
        let operands = op.operands().map(ir::value);
        let operands: Vec<Val> = operands.filter(|value| !is_size(*value, STEPS)).collect();
        let operands: Vec<String> = operands.into_iter().map(|v| self.value(v)).collect();
        let attributes = region::attributes(op).into_iter();
        let attributes = attributes.filter(|(name, attribute)| {
            let names_or_sizes =
                attribute.is_elements() || attribute.is_type() || attribute.is_symbol_ref();
            let is_size =
                matches!(*name, "operandSegmentSizes" | "value") || name.starts_with("static");
            !names_or_sizes && !is_size
        });
        let attributes = attributes.map(|(name, attribute)| format!("{name} = {attribute}"));
        format!(
            "{} {} {{{}}}",
            ir::name_of(op),
            operands.join(", "),
            attributes.collect::<Vec<_>>().join(", ")
        )
    }

    /// A value's number and type. What makes it is written before, if it was not.
    fn value(&mut self, value: Val<'c>) -> String {
        let value = without_casts(value);
        if is_size(value, STEPS) {
            return "size".to_string();
        }
        if !self.values.contains_key(&key(value))
            && let Some(op) = ir::defining_op(value)
        {
            self.operation(op);
        }
        let next = self.values.len();
        let number = self.values.entry(key(value)).or_insert(next);
        format!("%{number}: {}", form(value.r#type()))
    }
}

fn key(value: Val) -> usize {
    value.to_raw().ptr as usize
}

/// The buffer that casts show with other sizes.
fn without_casts(value: Val<'_>) -> Val<'_> {
    let casts = [ops::tensor::CAST, ops::memref::CAST];
    let cast = ir::defining_op(value).filter(|op| casts.contains(&ir::name_of(*op)));
    let from = cast.and_then(|cast| ir::operand(cast, 0));
    from.map_or(value, without_casts)
}

/// Returns whether a value is a size, or an integer that is computed from numbers and sizes only.
fn is_size(value: Val, steps: usize) -> bool {
    match types::scalar_type(value.r#type()) {
        Some(ScalarType::Index) => true,
        Some(ty) if !ty.is_float() && steps > 0 => ir::defining_op(value).is_some_and(|op| {
            let mut operands = op.operands().map(ir::value);
            op.region_count() == 0 && operands.all(|operand| is_size(operand, steps - 1))
        }),
        _ => false,
    }
}

/// A computation, whatever the sizes of its dimensions and buffers are, and the names of its operators.
fn without_sizes(computation: &Computation) -> Computation {
    let mut open = computation.clone();
    for dimension in &mut open.dimensions {
        dimension.upper = None;
    }
    let carries = open.carries.iter_mut();
    let carried = carries.flat_map(|carry| carry.incoming.iter_mut().chain(&mut carry.outgoing));
    let buffers = open.inputs.iter_mut().chain(&mut open.outputs);
    for buffer in buffers.chain(carried) {
        buffer.shape.iter_mut().for_each(|extent| *extent = None);
    }
    for operator in &mut open.operators {
        if let Operator::User(user) = operator {
            user.name.clear();
        }
    }
    open
}

/// A type without sizes.
fn form(ty: Type) -> String {
    let Some(buffer) = types::buffer_type(ty) else {
        return ty.to_string();
    };
    let element = buffer.element.name();
    let rank = buffer.shape.len();
    match buffer.kind {
        BufferKind::Scalar => element.to_string(),
        BufferKind::Tensor => format!("tensor {rank} {element}"),
        BufferKind::MemRef => format!("memref {rank} {element} {}", layout(ty)),
    }
}

/// The form of a memref's layout.
fn layout(ty: Type) -> String {
    if ty == types::by_rows(ty) {
        return "rows".to_string();
    }
    let Some((offset, strides)) = own_strides(ty) else {
        return ty.to_string();
    };
    let below = |stride: i64| {
        let known = strides.iter().flatten();
        known
            .filter(|other| **other > 1 && **other < stride)
            .count()
    };
    let word = |stride: &Option<i64>| match stride {
        None => "?".to_string(),
        Some(stride) if *stride > 1 => format!("n{}", below(*stride)),
        Some(stride) => stride.to_string(),
    };
    let offset = match offset {
        Some(0) => "0",
        Some(_) => "n",
        None => "?",
    };
    let strides: Vec<String> = strides.iter().map(word).collect();
    format!("[{}] + {offset}", strides.join(", "))
}

/// The offset and the strides that a memref's type says, if its elements do not lie row by row.
fn own_strides(ty: Type) -> Option<(Option<i64>, Vec<Option<i64>>)> {
    types::strides(ty).filter(|_| ty != types::by_rows(ty))
}

#[cfg(test)]
#[path = "digest_tests.rs"]
mod tests;
