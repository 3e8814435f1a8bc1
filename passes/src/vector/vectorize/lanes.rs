//! Scalar code on vectors: each lane computes a point of its own.

use mdh_dialect::ops;
use std::collections::HashMap;

use mdh_algebra::scalar::ScalarType;
use mdh_dialect::code::arguments;
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::types;
use melior::ir::attribute::IntegerAttribute;
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, RegionRef, Type, TypeLike, ValueLike};
use mlir_sys::*;

use crate::support::builder::Builder;
use crate::support::inline::key;
use crate::support::region;
use crate::vector::expand_vector_math;

/// `vector<lanes x ty>`.
pub fn vector_type<'c>(ty: Type<'c>, lanes: i64) -> Type<'c> {
    // SAFETY: the element type is a scalar's, and the number positive.
    unsafe { Type::from_raw(mlirVectorTypeGet(1, &lanes, ty.to_raw())) }
}

/// Returns whether a value holds one element for each lane.
pub fn is_vector(value: Val) -> bool {
    // SAFETY: the type is valid.
    unsafe { mlirTypeIsAVector(value.r#type().to_raw()) }
}

/// The type of a value, or of each of its lanes.
pub fn element<'c>(value: Val<'c>) -> Type<'c> {
    types::element(value.r#type())
}

/// The value in every lane.
pub fn spread<'c>(builder: &mut Builder<'c>, value: Val<'c>, lanes: i64) -> Val<'c> {
    if is_vector(value) {
        return value;
    }
    let ty = vector_type(value.r#type(), lanes);
    builder.op(ops::vector::BROADCAST, &[value], &[ty], &[])[0]
}

/// An operation on scalars, or on all lanes if one of its operands has several.
pub fn lifted<'c>(
    builder: &mut Builder<'c>,
    name: &str,
    operands: &[Val<'c>],
    results: &[Type<'c>],
    attributes: &[(&str, Attribute<'c>)],
    lanes: i64,
) -> Vec<Val<'c>> {
    if !operands.iter().any(|v| is_vector(*v)) {
        return builder.op(name, operands, results, attributes);
    }
    let operands: Vec<Val> = operands
        .iter()
        .map(|v| spread(builder, *v, lanes))
        .collect();
    let results: Vec<Type> = results.iter().map(|ty| vector_type(*ty, lanes)).collect();
    builder.op(name, &operands, &results, attributes)
}

/// `condition ? then : otherwise`, lane by lane if one of them has lanes.
pub fn select<'c>(
    builder: &mut Builder<'c>,
    condition: Val<'c>,
    then: Val<'c>,
    otherwise: Val<'c>,
    lanes: i64,
) -> Val<'c> {
    let operands = [condition, then, otherwise];
    let ty = element(then);
    lifted(builder, ops::arith::SELECT, &operands, &[ty], &[], lanes)[0]
}

/// A region's code at the points of all lanes.
pub struct Lanes<'c, 'a> {
    /// Number of lanes.
    pub count: i64,
    /// The index of each dimension: a scalar, or one for each lane.
    pub point: &'a [Val<'c>],
    /// Mask of the lanes with a point, if not all have one; only loops ask.
    pub present: Option<Val<'c>>,
    /// Fast-math flags of products that a sum follows.
    pub contract: bool,
}

/// Clones of the values of copied code.
pub type Copies<'c> = HashMap<usize, Val<'c>>;

impl<'c> Lanes<'c, '_> {
    /// Copies a region's only block and returns the operands of its terminator.
    pub fn inline(
        &self,
        builder: &mut Builder<'c>,
        region: RegionRef<'c, 'c>,
        inputs: &[Val<'c>],
    ) -> Vec<Val<'c>> {
        let block = ir::only_block(region)
            .unwrap_or_else(|| panic!("the verifier lets only regions of one block pass"));
        let mut copies = Copies::new();
        for (argument, input) in arguments(block).into_iter().zip(inputs) {
            copies.insert(key(argument), *input);
        }
        self.block(builder, region, &mut copies)
    }

    pub(super) fn block(
        &self,
        builder: &mut Builder<'c>,
        region: RegionRef<'c, 'c>,
        copies: &mut Copies<'c>,
    ) -> Vec<Val<'c>> {
        let block = ir::only_block(region)
            .unwrap_or_else(|| panic!("branches of scalar code have one block"));
        let ops = ir::ops_of(block);
        let Some((terminator, body)) = ops.split_last() else {
            panic!("the verifier lets no empty block pass");
        };
        let yielded: Vec<Val> = terminator.operands().map(ir::value).collect();
        for op in body {
            let results = match ir::name_of(*op) {
                ops::mdh::INDEX => vec![self.point[dimension(*op)]],
                ops::scf::IF => self.branch(builder, *op, copies),
                ops::scf::FOR => self.inside().for_loop(builder, *op, copies),
                ops::scf::WHILE => self.inside().while_loop(builder, *op, copies),
                _ => self.operation(builder, *op, copies, &yielded),
            };
            for (old, new) in op.results().zip(results) {
                copies.insert(key(ir::value(old)), new);
            }
        }
        yielded.iter().map(|v| look_up(copies, *v)).collect()
    }

    fn operation(
        &self,
        builder: &mut Builder<'c>,
        op: Op<'c>,
        copies: &Copies<'c>,
        yielded: &[Val<'c>],
    ) -> Vec<Val<'c>> {
        let operands: Vec<Val> = op
            .operands()
            .map(|v| look_up(copies, ir::value(v)))
            .collect();
        let results: Vec<Type> = op.results().map(|r| ir::value(r).r#type()).collect();
        let name = ir::name_of(op);
        let mut attributes: Vec<(&str, Attribute)> = region::attributes(op);
        // The product's rounding goes where the sum's does: `pw(addf)` licenses that.
        let is_summed = || {
            op.results()
                .any(|r| yielded.iter().any(|y| key(*y) == key(ir::value(r))))
        };
        if self.contract && name == ops::arith::MULF && is_summed() {
            attributes.retain(|(name, _)| *name != "fastmath");
            let contract = Attribute::parse(builder.context, "#arith.fastmath<contract>");
            attributes.extend(contract.map(|a| ("fastmath", a)));
        }
        lifted(builder, name, &operands, &results, &attributes, self.count)
    }

    /// The value in every lane; itself in code without lanes.
    pub(super) fn wide(&self, builder: &mut Builder<'c>, value: Val<'c>) -> Val<'c> {
        match self.count {
            1 => value,
            _ => spread(builder, value, self.count),
        }
    }

    /// For code in a loop: no sum follows its products.
    fn inside(&self) -> Self {
        Lanes {
            contract: false,
            ..*self
        }
    }

    /// For a branch with loops: the lanes that take it.
    fn those(&self, builder: &mut Builder<'c>, branch: Op<'c>, condition: Val<'c>) -> Self {
        let mut codes = (0..branch.region_count()).map(|r| ir::region(branch, r));
        if !codes.any(has_loops) {
            return Lanes { ..*self };
        }
        let condition = self.wide(builder, condition);
        let present = match self.present {
            None => condition,
            Some(present) => {
                let no = builder.boolean(false);
                select(builder, present, condition, no, self.count)
            }
        };
        Lanes {
            present: Some(present),
            ..*self
        }
    }

    /// Both branches are computed where lanes may take different ones.
    fn branch(
        &self,
        builder: &mut Builder<'c>,
        op: Op<'c>,
        copies: &mut Copies<'c>,
    ) -> Vec<Val<'c>> {
        let condition = op.operand(0).unwrap_or_else(|e| panic!("scf.if: {e}"));
        let condition = look_up(copies, ir::value(condition));
        let taken = self.those(builder, op, condition);
        let then = taken.block(builder, ir::region(op, 0), copies);
        let otherwise = match op.result_count() {
            0 => Vec::new(),
            _ => {
                let truth = builder.boolean(true);
                let ty = element(condition);
                let names = [condition, truth];
                let opposite = lifted(builder, ops::arith::XORI, &names, &[ty], &[], self.count)[0];
                let left = self.those(builder, op, opposite);
                left.block(builder, ir::region(op, 1), copies)
            }
        };
        let pairs = then.iter().zip(&otherwise);
        pairs
            .map(|(a, b)| select(builder, condition, *a, *b, self.count))
            .collect()
    }
}

/// Returns the clone of a value; itself if it is from outside.
pub fn look_up<'c>(copies: &Copies<'c>, value: Val<'c>) -> Val<'c> {
    copies.get(&key(value)).copied().unwrap_or(value)
}

fn dimension(op: Op) -> usize {
    ir::attribute(op, "dim")
        .and_then(|a| IntegerAttribute::try_from(a).ok())
        .map_or(0, |a| a.value() as usize)
}

/// Returns the reason for which scalar code cannot be computed for several points at once; `None`
/// if it can.
pub fn obstacle(code: RegionRef) -> Option<String> {
    let ops = region::operations_of(code);
    ops.into_iter().find_map(|op| {
        let name = ir::name_of(op);
        let is_plain = name.starts_with("arith.") || name.starts_with("math.");
        let is_known = [
            ops::mdh::INDEX,
            ops::mdh::YIELD,
            ops::scf::CONDITION,
            ops::scf::FOR,
            ops::scf::IF,
            ops::scf::WHILE,
            ops::scf::YIELD,
        ];
        if !is_plain && !is_known.contains(&name) && !ir::calls_nothing(op) {
            return Some(format!("'{name}' has no form on vectors"));
        }
        // A lane without a point, or that does not take a branch, must not divide there either.
        let divides = name.contains("div") || name.contains("rem");
        let is_integer = op
            .results()
            .any(|r| types::scalar_type(ir::value(r).r#type()).is_some_and(|t| !t.is_float()));
        let is_free = divides && is_integer && !divides_by_constant(op);
        is_free.then(|| format!("'{name}' is not defined for all divisors"))
    })
}

/// Returns whether an integer division has a result for every dividend.
fn divides_by_constant(op: Op) -> bool {
    let divisor = ir::operand(op, 1);
    let constant = divisor.and_then(ir::defining_op);
    let constant = constant.and_then(|op| types::scalar(ir::attribute(op, "value")?));
    let is_signed = !ir::name_of(op).ends_with("ui");
    constant.is_some_and(|c| c.bits != 0 && !(is_signed && c.as_i64() == -1))
}

/// Returns whether there are loops in scalar code.
pub fn has_loops(code: RegionRef) -> bool {
    let ops = region::operations_of(code);
    ops.into_iter()
        .any(|op| [ops::scf::FOR, ops::scf::WHILE].contains(&ir::name_of(op)))
}

/// Returns whether code calls a library's function, which takes one lane at a time.
pub fn is_called_by_lane(code: RegionRef) -> bool {
    let ops = region::operations_of(code);
    let mut math = ops
        .into_iter()
        .filter(|op| ir::name_of(*op).starts_with("math."));
    math.any(|op| !expand_vector_math::is_in_lanes(op))
}

/// The indices of consecutive points: `first, first + step, ..`.
pub fn consecutive<'c>(
    builder: &mut Builder<'c>,
    first: Val<'c>,
    step: Val<'c>,
    lanes: i64,
) -> Val<'c> {
    let ty = vector_type(types::mlir_type(builder.context, ScalarType::Index), lanes);
    let numbers = builder.op(ops::vector::STEP, &[], &[ty], &[])[0];
    let index = [builder.index_type()];
    let steps = lifted(
        builder,
        ops::arith::MULI,
        &[numbers, step],
        &index,
        &[],
        lanes,
    )[0];
    lifted(
        builder,
        ops::arith::ADDI,
        &[steps, first],
        &index,
        &[],
        lanes,
    )[0]
}
