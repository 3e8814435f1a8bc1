//! Builds operations at an insertion point: the few that lowerings are written in.

use mdh_algebra::affine::Expr;
use mdh_algebra::op::CmpfPredicate;
use mdh_algebra::scalar::{Scalar, ScalarType};
use mdh_dialect::ir::{self, Op, Val};
use mdh_dialect::marks::LEVEL;
use mdh_dialect::ops;
use mdh_dialect::tiling::At;
use mdh_dialect::types;
use melior::Context;
use melior::ir::attribute::{
    DenseI32ArrayAttribute, DenseI64ArrayAttribute, IntegerAttribute, StringAttribute,
};
use melior::ir::operation::{Operation, OperationBuilder, OperationLike};
use melior::ir::{
    Attribute, Block, BlockLike, BlockRef, Identifier, Location, Region, RegionLike, Type,
    ValueLike,
};
use mlir_sys::{mlirBlockInsertOwnedOperationBefore, mlirIntegerAttrGetValueInt};

use crate::support::parallel::{self, Core};

/// Inserts operations before one operation, or at the end of a block.
#[derive(Clone, Copy)]
pub struct Builder<'c> {
    /// The context of everything built.
    pub context: &'c Context,
    /// The location of everything built.
    pub location: Location<'c>,
    block: BlockRef<'c, 'c>,
    before: Option<Op<'c>>,
}

impl<'c> Builder<'c> {
    /// Inserts before an operation, with its location.
    pub fn before(op: Op<'c>) -> Self {
        let context = ir::context_of(op);
        let block = op
            .block()
            .unwrap_or_else(|| panic!("{} is in no block", ir::name_of(op)));
        Builder {
            context,
            location: op.location(),
            block: widen(block),
            before: Some(op),
        }
    }

    /// Inserts where upstream asks for it, with the location of an operation.
    pub fn at(at: At<'c>, of: Op<'c>) -> Self {
        Builder {
            context: ir::context_of(of),
            location: of.location(),
            block: at.block,
            before: at.before,
        }
    }

    /// The place where operations are inserted.
    pub fn here(&self) -> At<'c> {
        At {
            block: self.block,
            before: self.before,
        }
    }

    /// The operation in whose region everything is built, if there is one.
    pub fn around(&self) -> Option<Op<'c>> {
        ir::around(self.block)
    }

    /// Inserts at the end of a block.
    pub fn at_end(&self, block: BlockRef<'c, 'c>) -> Self {
        Builder {
            block,
            before: None,
            ..*self
        }
    }

    /// Inserts a finished operation.
    pub fn insert(&mut self, operation: Operation<'c>) -> Op<'c> {
        let raw = operation.into_raw();
        // SAFETY: the block takes the operation; the anchor is in this block or null.
        unsafe {
            let anchor = self.before.map_or(
                mlir_sys::MlirOperation {
                    ptr: std::ptr::null_mut(),
                },
                |op| op.to_raw(),
            );
            mlirBlockInsertOwnedOperationBefore(self.block.to_raw(), anchor, raw);
            ir::op_from_raw(raw)
        }
    }

    /// Inserts an operation without regions.
    pub fn op(
        &mut self,
        name: &str,
        operands: &[Val<'c>],
        results: &[Type<'c>],
        attributes: &[(&str, Attribute<'c>)],
    ) -> Vec<Val<'c>> {
        let op = self.build(name, operands, results, attributes, Vec::new());
        op.results().map(ir::value::<'c>).collect()
    }

    /// Inserts an operation with regions.
    pub fn build(
        &mut self,
        name: &str,
        operands: &[Val<'c>],
        results: &[Type<'c>],
        attributes: &[(&str, Attribute<'c>)],
        regions: Vec<Region<'c>>,
    ) -> Op<'c> {
        let attributes: Vec<_> = attributes
            .iter()
            .map(|(n, a)| (Identifier::new(self.context, n), *a))
            .collect();
        let operation = OperationBuilder::new(name, self.location)
            .add_operands(operands)
            .add_results(results)
            .add_attributes(&attributes)
            .add_regions_vec(regions)
            .build()
            .unwrap_or_else(|error| panic!("cannot build {name}: {error}"));
        self.insert(operation)
    }

    fn one(&mut self, name: &str, operands: &[Val<'c>], result: Type<'c>) -> Val<'c> {
        self.op(name, operands, &[result], &[])[0]
    }

    /// The type index.
    pub fn index_type(&self) -> Type<'c> {
        Type::index(self.context)
    }

    /// A constant.
    pub fn scalar(&mut self, value: Scalar) -> Val<'c> {
        let attribute = types::attribute(self.context, value);
        let ty = types::mlir_type(self.context, value.ty);
        self.op(ops::arith::CONSTANT, &[], &[ty], &[("value", attribute)])[0]
    }

    /// A constant from an attribute of the type it is to have.
    pub fn constant(&mut self, attribute: Attribute<'c>, ty: Type<'c>) -> Val<'c> {
        self.op(ops::arith::CONSTANT, &[], &[ty], &[("value", attribute)])[0]
    }

    /// A constant of type index.
    pub fn index(&mut self, number: i64) -> Val<'c> {
        self.scalar(Scalar::from_i64(ScalarType::Index, number))
    }

    /// A constant of type i1.
    pub fn boolean(&mut self, truth: bool) -> Val<'c> {
        self.scalar(Scalar::from_bool(truth))
    }

    /// A binary operation whose result has the type of its operands; folded where both numbers
    /// are known.
    pub fn binary(&mut self, name: &str, lhs: Val<'c>, rhs: Val<'c>) -> Val<'c> {
        if let Some(distance) = (name == ops::arith::SUBI)
            .then(|| beyond(lhs, rhs))
            .flatten()
        {
            return self.index(distance);
        }
        if name == ops::arith::SUBI {
            if let Some(opposite) = negated(rhs) {
                return self.binary(ops::arith::ADDI, lhs, opposite);
            }
            if let Some(rest) = self.without(lhs, rhs) {
                return rest;
            }
        }
        if let (Some(a), Some(b)) = (known(lhs), known(rhs)) {
            let folded = match name {
                ops::arith::ADDI => a.checked_add(b),
                ops::arith::SUBI => a.checked_sub(b),
                ops::arith::MULI => a.checked_mul(b),
                ops::arith::MAXSI => Some(a.max(b)),
                ops::arith::MINSI => Some(a.min(b)),
                ops::arith::DIVSI if a >= 0 && b > 0 => Some(a / b),
                ops::arith::REMSI if a >= 0 && b > 0 => Some(a % b),
                ops::arith::CEILDIVSI if b > 0 => {
                    Some(a.div_euclid(b) + i64::from(a.rem_euclid(b) != 0))
                }
                _ => None,
            };
            if let Some(number) = folded {
                return self.index(number);
            }
        }
        match (name, known(lhs), known(rhs)) {
            (ops::arith::ADDI | ops::arith::SUBI, _, Some(0))
            | (ops::arith::MULI | ops::arith::DIVSI | ops::arith::CEILDIVSI, _, Some(1)) => lhs,
            (ops::arith::ADDI, Some(0), _) | (ops::arith::MULI, Some(1), _) => rhs,
            (ops::arith::REMSI, _, Some(1)) => self.index(0),
            _ => self.one(name, &[lhs, rhs], lhs.r#type()),
        }
    }

    /// The rest of a sum of which a value is a part: `b` of `a + b` without `a`.
    fn without(&mut self, sum: Val<'c>, part: Val<'c>) -> Option<Val<'c>> {
        let op = ir::defining_op(sum).filter(|op| ir::name_of(*op) == ops::arith::ADDI)?;
        let [a, b] = [ir::operand(op, 0)?, ir::operand(op, 1)?];
        if a == part {
            return Some(b);
        }
        if b == part {
            return Some(a);
        }
        if let Some(rest) = self.without(a, part) {
            return Some(self.binary(ops::arith::ADDI, rest, b));
        }
        let rest = self.without(b, part)?;
        Some(self.binary(ops::arith::ADDI, a, rest))
    }

    /// An integer comparison by its predicate's name (`slt`, `sge`, `eq`, ...).
    pub fn compare(&mut self, predicate: &str, lhs: Val<'c>, rhs: Val<'c>) -> Val<'c> {
        const NAMES: [&str; 10] = [
            "eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge",
        ];
        let number = NAMES.iter().position(|n| *n == predicate);
        let number = number.unwrap_or_else(|| panic!("{predicate} is no predicate")) as i64;
        let i64_type = types::mlir_type(self.context, ScalarType::I64);
        let attribute = IntegerAttribute::new(i64_type, number).into();
        let i1 = types::mlir_type(self.context, ScalarType::I1);
        let i1 = types::with_lanes_of(lhs.r#type(), i1);
        self.op(
            ops::arith::CMPI,
            &[lhs, rhs],
            &[i1],
            &[("predicate", attribute)],
        )[0]
    }

    /// A comparison of floats.
    pub fn compare_floats(
        &mut self,
        predicate: CmpfPredicate,
        lhs: Val<'c>,
        rhs: Val<'c>,
    ) -> Val<'c> {
        let i64_type = types::mlir_type(self.context, ScalarType::I64);
        let number = IntegerAttribute::new(i64_type, predicate as i64).into();
        let i1 = types::mlir_type(self.context, ScalarType::I1);
        let i1 = types::with_lanes_of(lhs.r#type(), i1);
        let attributes = [("predicate", number)];
        self.op(ops::arith::CMPF, &[lhs, rhs], &[i1], &attributes)[0]
    }

    /// `condition ? then : otherwise`.
    pub fn select(&mut self, condition: Val<'c>, then: Val<'c>, otherwise: Val<'c>) -> Val<'c> {
        self.one(
            ops::arith::SELECT,
            &[condition, then, otherwise],
            then.r#type(),
        )
    }

    /// A unary operation (a conversion) to a type, of each lane if the operand has several.
    pub fn convert(&mut self, name: &str, operand: Val<'c>, ty: ScalarType) -> Val<'c> {
        let ty = types::mlir_type(self.context, ty);
        let ty = types::with_lanes_of(operand.r#type(), ty);
        self.one(name, &[operand], ty)
    }

    /// An index function at a point.
    pub fn affine(&mut self, expr: &Expr, point: &[Val<'c>]) -> Val<'c> {
        match expr {
            Expr::Dim(d) => point[*d],
            Expr::Const(number) => self.index(*number),
            Expr::Add(a, b) => self.affine_binary(ops::arith::ADDI, a, b, point),
            Expr::Mul(a, b) => self.affine_binary(ops::arith::MULI, a, b, point),
            Expr::FloorDiv(a, b) => self.affine_binary(ops::arith::FLOORDIVSI, a, b, point),
            Expr::CeilDiv(a, b) => self.affine_binary(ops::arith::CEILDIVSI, a, b, point),
            Expr::Mod(a, b) => {
                let (a, b) = (self.affine(a, point), self.affine(b, point));
                let quotient = self.binary(ops::arith::FLOORDIVSI, a, b);
                let product = self.binary(ops::arith::MULI, quotient, b);
                self.binary(ops::arith::SUBI, a, product)
            }
        }
    }

    fn affine_binary(&mut self, name: &str, a: &Expr, b: &Expr, point: &[Val<'c>]) -> Val<'c> {
        let (a, b) = (self.affine(a, point), self.affine(b, point));
        self.binary(name, a, b)
    }

    /// A region of one block, filled by `body`, which returns the operands of `terminator`.
    pub fn region(
        &self,
        arguments: &[Type<'c>],
        terminator: &str,
        body: impl FnOnce(&mut Builder<'c>, &[Val<'c>]) -> Vec<Val<'c>>,
    ) -> Region<'c> {
        let (region, block) = self.block(arguments);
        self.fill(block, terminator, body);
        region
    }

    /// A region with an empty block.
    fn block(&self, arguments: &[Type<'c>]) -> (Region<'c>, BlockRef<'c, 'c>) {
        let arguments: Vec<_> = arguments.iter().map(|ty| (*ty, self.location)).collect();
        let region = Region::new();
        let block = widen(region.append_block(Block::new(&arguments)));
        (region, block)
    }

    /// Fills an empty block.
    fn fill(
        &self,
        block: BlockRef<'c, 'c>,
        terminator: &str,
        body: impl FnOnce(&mut Builder<'c>, &[Val<'c>]) -> Vec<Val<'c>>,
    ) {
        let mut nested = self.at_end(block);
        let yields = body(&mut nested, &mdh_dialect::code::arguments(block));
        nested.op(terminator, &yields, &[], &[]);
    }

    /// `scf.for` over `lower..upper`; the body maps the index and the carried values to the next
    /// carried values. The loop is there before its body is filled, which can then ask what its
    /// index is. No loop is made for one iteration.
    pub fn for_loop(
        &mut self,
        bounds: [Val<'c>; 3],
        carried: &[Val<'c>],
        body: impl FnOnce(&mut Builder<'c>, Val<'c>, &[Val<'c>]) -> Vec<Val<'c>>,
    ) -> Vec<Val<'c>> {
        let [lower, upper, step] = bounds;
        let span = beyond(upper, lower).filter(|span| *span > 0);
        if known(step)
            .zip(span)
            .is_some_and(|(step, span)| span <= step)
        {
            return body(self, lower, carried);
        }
        let types: Vec<Type> = carried.iter().map(|v| v.r#type()).collect();
        let arguments: Vec<Type> = std::iter::once(self.index_type())
            .chain(types.iter().copied())
            .collect();
        let (region, block) = self.block(&arguments);
        let operands: Vec<Val> = bounds.iter().chain(carried).copied().collect();
        let op = self.build(ops::scf::FOR, &operands, &types, &[], vec![region]);
        self.fill(block, ops::scf::YIELD, |builder, arguments| {
            body(builder, arguments[0], &arguments[1..])
        });
        op.results().map(ir::value::<'c>).collect()
    }

    /// `scf.for` over `lower..upper` that carries nothing, named by the level that it is of.
    pub fn sequential(
        &mut self,
        bounds: [Val<'c>; 3],
        level: &str,
        body: impl FnOnce(&mut Builder<'c>, Val<'c>),
    ) {
        let level = StringAttribute::new(self.context, level).into();
        let (region, block) = self.block(&[self.index_type()]);
        self.build(
            ops::scf::FOR,
            &bounds,
            &[],
            &[(LEVEL.name, level)],
            vec![region],
        );
        self.fill(block, ops::scf::YIELD, |builder, arguments| {
            body(builder, arguments[0]);
            Vec::new()
        });
    }

    /// `scf.forall` over `lower..upper`, whose parts are given to a core, named by the level that it is
    /// of.
    pub fn forall(
        &mut self,
        bounds: [Val<'c>; 3],
        core: &Core,
        level: &str,
        body: impl FnOnce(&mut Builder<'c>, Val<'c>),
    ) -> Op<'c> {
        let dynamic = bounds.into_iter().filter(|bound| known(*bound).is_none());
        let dynamic: Vec<Val> = dynamic.collect();
        let [lower, upper, step] = bounds.map(|bound| {
            let number = known(bound).unwrap_or(parallel::DYNAMIC);
            DenseI64ArrayAttribute::new(self.context, &[number]).into()
        });
        let [a, b, c] = bounds.map(|bound| i32::from(known(bound).is_none()));
        let segments = DenseI32ArrayAttribute::new(self.context, &[a, b, c, 0]).into();
        let attributes = [
            ("operandSegmentSizes", segments),
            ("staticLowerBound", lower),
            ("staticUpperBound", upper),
            ("staticStep", step),
            ("mapping", core.mapping(self.context)),
            (LEVEL.name, StringAttribute::new(self.context, level).into()),
        ];
        let (region, block) = self.block(&[self.index_type()]);
        let op = self.build(parallel::FORALL, &dynamic, &[], &attributes, vec![region]);
        let mut nested = self.at_end(block);
        body(&mut nested, mdh_dialect::code::arguments(block)[0]);
        let (nothing, _) = self.block(&[]);
        nested.build(ops::scf::FORALL_IN_PARALLEL, &[], &[], &[], vec![nothing]);
        op
    }

    /// An operation without an effect, to insert before; it is to be erased.
    pub fn marker(&mut self) -> Op<'c> {
        let zero = types::attribute(self.context, Scalar::from_i64(ScalarType::Index, 0));
        let ty = self.index_type();
        self.build(
            ops::arith::CONSTANT,
            &[],
            &[ty],
            &[("value", zero)],
            Vec::new(),
        )
    }

    /// `scf.if` with both branches.
    pub fn if_else(
        &mut self,
        condition: Val<'c>,
        types: &[Type<'c>],
        then: impl FnOnce(&mut Builder<'c>) -> Vec<Val<'c>>,
        otherwise: impl FnOnce(&mut Builder<'c>) -> Vec<Val<'c>>,
    ) -> Vec<Val<'c>> {
        let then = self.region(&[], ops::scf::YIELD, |builder, _| then(builder));
        let otherwise = self.region(&[], ops::scf::YIELD, |builder, _| otherwise(builder));
        let op = self.build(
            ops::scf::IF,
            &[condition],
            types,
            &[],
            vec![then, otherwise],
        );
        op.results().map(ir::value::<'c>).collect()
    }

    /// `scf.if` without results and without an else.
    pub fn if_then(&mut self, condition: Val<'c>, then: impl FnOnce(&mut Builder<'c>)) {
        let then = self.region(&[], ops::scf::YIELD, |builder, _| {
            then(builder);
            Vec::new()
        });
        self.build(
            ops::scf::IF,
            &[condition],
            &[],
            &[],
            vec![then, Region::new()],
        );
    }

    /// A number of a shaped value's dimension; constant where the type says it.
    pub fn dim(&mut self, buffer: Val<'c>, dimension: usize) -> Val<'c> {
        let ty = types::buffer_type(buffer.r#type());
        let size = ty
            .as_ref()
            .and_then(|t| t.shape.get(dimension).copied().flatten());
        if let Some(size) = size {
            return self.index(size);
        }
        let is_tensor = ty.is_some_and(|t| t.kind == types::BufferKind::Tensor);
        let number = self.index(dimension as i64);
        let name = if is_tensor {
            ops::tensor::DIM
        } else {
            ops::memref::DIM
        };
        self.one(name, &[buffer, number], Type::index(self.context))
    }

    /// Aborts with a message unless the condition holds.
    pub fn assert(&mut self, condition: Val<'c>, message: &str) {
        let text = StringAttribute::new(self.context, message).into();
        self.op(ops::cf::ASSERT, &[condition], &[], &[("msg", text)]);
    }
}

fn widen<'c>(block: BlockRef<'_, '_>) -> BlockRef<'c, 'c> {
    // SAFETY: only lifetimes change, see `ir::Op`.
    unsafe { BlockRef::from_raw(block.to_raw()) }
}

/// The number of a constant of type index.
pub fn known(value: Val) -> Option<i64> {
    let op = ir::defining_op(value).filter(|op| ir::name_of(*op) == ops::arith::CONSTANT)?;
    if types::scalar_type(value.r#type()) != Some(ScalarType::Index) {
        return None;
    }
    let attribute = ir::attribute(op, "value")?;
    // SAFETY: a constant of type index holds an integer attribute.
    Some(unsafe { mlirIntegerAttrGetValueInt(melior::ir::AttributeLike::to_raw(&attribute)) })
}

/// Returns `x` of `0 - x`.
fn negated(value: Val) -> Option<Val> {
    let op = ir::defining_op(value).filter(|op| ir::name_of(*op) == ops::arith::SUBI)?;
    (known(ir::operand(op, 0)?) == Some(0)).then(|| ir::operand(op, 1))?
}

/// Returns the difference of two integers that are sums of the same value and constants.
fn beyond(sum: Val, other: Val) -> Option<i64> {
    let ((a, from), (b, to)) = (offset(sum), offset(other));
    let is_integer = types::scalar_type(sum.r#type()).is_some_and(|t| !t.is_float());
    let is_same = a.to_raw().ptr == b.to_raw().ptr && is_integer;
    is_same.then(|| from.checked_sub(to)).flatten()
}

/// A value as a sum of another one and a constant.
fn offset(mut value: Val) -> (Val, i64) {
    let mut offset: i64 = 0;
    while let Some(op) = ir::defining_op(value).filter(|op| ir::name_of(*op) == ops::arith::ADDI) {
        let mut operands = op.operands().map(ir::value::<'_>);
        let (Some(a), Some(b)) = (operands.next(), operands.next()) else {
            break;
        };
        let Some(sum) = known(b).and_then(|number| offset.checked_add(number)) else {
            break;
        };
        (value, offset) = (a, sum);
    }
    (value, offset)
}
